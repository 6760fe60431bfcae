use floodway_model::check::{Check, Findings};
use floodway_model::id::CLASSES;
use floodway_model::{Bytes, Duration, Graph, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::watchdog;
use crate::link::pause_time;
use crate::switch::check::{CheckBeside, Facts};
use crate::switch::flow_control::pausing::{NO_PAUSE, Thresholds, XON_BELOW, standard_response};
use crate::switch::flow_control::source_flow_control::Mode;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// XOFF threshold: occupancy in bytes above which the neighbor is paused; not used with
    /// `ingress_pool`. Default 750KB (Congestion Isolation decks).
    pub xoff: Bytes,
    /// XON threshold: occupancy in bytes at or below which the neighbor is resumed; not used with
    /// `ingress_pool`. Default 4KB (same decks).
    pub xon: Bytes,
    /// With `ingress_pool`: how far below the dynamic threshold the occupancy must fall for the
    /// neighbor to be resumed. Default 3072B (the HPCC authors' simulator, `resume_offset`).
    pub xon_offset: Bytes,
    /// The occupancy that is compared with the thresholds, which is also the one that
    /// `switch.queue.size` limits if the buffer is not shared. Default `ingress`.
    pub measured_on: MeasuredOn,
    /// Pause time in quanta of 512 bit times, 1 to 65535. A pause that must last longer is
    /// refreshed after half of it. Default 65535.
    pub quanta: u16,
    /// Whether pauses expire after `quanta` and are refreshed. Default true (IEEE 802.1Q). If
    /// false, a pause lasts until a frame ends it, as in the HPCC authors' simulator.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub refresh: bool,
    /// Whether one frame may pause or resume several classes, as IEEE 802.1Q allows with its eight
    /// timers: the classes that one event pauses or resumes, and those in a frame that is still
    /// queued for the wire. Default false: a separate frame for each class.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub combine_classes: bool,
    /// Response time: how long after the arrival of a pause frame a port takes to stop or to
    /// resume. Default none: the maximum of IEEE 802.3 clause 31B.3.7 for the link rate, 394 quanta
    /// or 2.0us at 100 Gb/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Duration>,
    /// Lossless classes, as used by the neighbor, counted from 0; empty means all. Default all.
    pub queues: Vec<u8>,
    /// Whether a loss in these classes is an error that the run reports, and too little headroom an
    /// error that `check` reports. Default true; set to false for a buffer that is known to be too
    /// small.
    pub lossless: bool,
    /// Watchdog for queues that are paused for too long. Enabled by the presence of its table.
    /// Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<watchdog::Spec>,
}

/// Where occupancy is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredOn {
    /// Bytes that arrived by one port in one class, wherever they are queued: what 802.1Q
    /// describes. Each (port, class) has a buffer of `switch.queue.size` and egress queues have no
    /// limit, or the limits of `switch.buffer.shared` apply.
    #[default]
    Ingress,
    /// The same bytes, with the dynamic threshold of `switch.buffer.shared.ingress` as XOFF: a port
    /// and class is paused when it holds more than the buffer would currently admit, or uses
    /// headroom. Its headroom is `switch.buffer.shared.headroom`.
    IngressPool,
    /// Bytes in one egress queue. Above XOFF every port and class that has bytes in it is paused,
    /// until it falls to XON. This is how the Congestion Isolation decks read: they plot egress
    /// queues together with XOFF. No product is known to work this way.
    EgressQueue,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            xoff: Bytes(750_000),
            xon: Bytes(4_000),
            xon_offset: Bytes(3 * 1_024),
            measured_on: MeasuredOn::Ingress,
            quanta: u16::MAX,
            refresh: true,
            combine_classes: false,
            response: None,
            queues: Vec::new(),
            lossless: true,
            watchdog: None,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let in_pool = self.measured_on == MeasuredOn::IngressPool;
        if in_pool {
            let why = "with `measured_on = \"ingress_pool\"` the pool's threshold pauses";
            ["xoff", "xon"].into_iter().for_each(|field| findings.idle(field, why));
        } else {
            findings.below(("xon", self.xon), ("xoff", self.xoff), XON_BELOW);
            let why =
                "only with `measured_on = \"ingress_pool\"` is there a threshold that it is below";
            findings.idle("xon_offset", why);
        }
        findings.range("quanta", self.quanta, 1..=u16::MAX, NO_PAUSE);
        if !self.refresh && self.quanta > 0 {
            findings.idle("quanta", "with `refresh = false` a pause lasts until a frame ends it");
        }
        findings.latency("response", self.response);
        let Some(watchdog) = &self.watchdog else { return };
        watchdog.check(&mut findings.within("watchdog"));
        if !self.refresh {
            findings.warn(
                ["watchdog.restoration", "watchdog"],
                format!(
                    "a storm is over when no pause has come for {}, and with `refresh = false` a pause is \
                     sent only once",
                    watchdog.restoration
                ),
                "storms end while the neighbor still pauses: write refresh = true, or remove the watchdog",
            );
        }
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queues("queues", &self.queues, findings);
        let sfc = facts.switch.flow_control.source_flow_control.as_ref();
        if !self.refresh && sfc.is_some_and(|sfc| sfc.mode == Mode::Proxy) {
            findings.error(
                "refresh",
                "pauses last until a frame ends them, but proxies of source flow control send pauses that \
                 end by themselves",
                "remove `refresh`, or write mode = \"native\" in source flow control",
            );
        }
        if let Some(watchdog) = &self.watchdog {
            watchdog.check_beside(facts, &mut findings.within("watchdog"));
        }
    }

    fn check_on(&self, _: &Facts<'_>, graph: &Graph, findings: &mut Findings<'_>) {
        let Some(watchdog) = self.watchdog.as_ref().filter(|_| self.refresh) else { return };
        // A neighbor that keeps a queue paused repeats the pause after half of the pause time.
        let Some(slowest) = graph.ends().map(|end| end.rate).min() else { return };
        let again = Duration(pause_time(self.quanta, slowest).0 / 2);
        if watchdog.restoration <= again {
            findings.warn(
                ["watchdog.restoration", "watchdog"],
                format!(
                    "a storm is over when no pause has come for {}, and a pause of {} quanta is said \
                     again only every {again} at {slowest}",
                    watchdog.restoration, self.quanta
                ),
                "storms end while the neighbor still pauses: raise `restoration`, or lower \
                 `switch.flow_control.pfc.quanta`",
            );
        }
    }
}

impl Spec {
    /// Whether `class` is lossless.
    #[inline]
    pub fn covers(&self, class: u8) -> bool {
        self.queues.is_empty() || self.queues.contains(&class)
    }

    /// Bit c: class c is lossless.
    pub fn classes(&self) -> u8 {
        (0..CLASSES as u8).filter(|&class| self.covers(class)).fold(0, |set, c| set | 1 << c)
    }

    /// Response time of a port of this rate to a pause frame.
    pub fn response_at(&self, rate: Rate) -> Duration {
        self.response.unwrap_or_else(|| standard_response(rate))
    }

    /// The occupancy thresholds for pausing and resuming a neighbor.
    #[inline]
    pub fn thresholds(&self) -> Thresholds {
        Thresholds { xoff: self.xoff, xon: self.xon }
    }
}
