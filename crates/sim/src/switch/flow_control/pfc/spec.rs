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
    /// Occupancy above which the neighbour is paused; without meaning on `ingress_pool`. Default 750KB (Congestion Isolation decks).
    pub xoff: Bytes,
    /// Occupancy at or below which it may go on; without meaning on `ingress_pool`. Default 4KB
    /// (same decks).
    pub xon: Bytes,
    /// On `ingress_pool`, how far below the dynamic threshold the occupancy must be for the neighbour
    /// to go on. Default 3072B (the HPCC authors' simulator, `resume_offset`).
    pub xon_offset: Bytes,
    /// XON as a part of XOFF, above 0 and below 1, in place of `xon`: a change of XOFF then moves both.
    /// Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon_of_xoff: Option<f64>,
    /// Which of the two books is compared with the thresholds, and which one `switch.queue.size`
    /// limits where the memory is not shared. Default `ingress`.
    pub measured_on: MeasuredOn,
    /// Length of a pause in quanta of 512 bit times, 1 to 65535. A pause that must last is
    /// refreshed when half of it has passed. Default 65535.
    pub quanta: u16,
    /// Whether pauses last for `quanta` and are refreshed. Default true (IEEE 802.1Q). With false a pause
    /// lasts until a frame ends it, as in the HPCC authors' simulator.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub refresh: bool,
    /// Whether one frame tells a neighbour about several classes, as IEEE 802.1Q allows with its eight
    /// timers: those that one event pauses or lets go on, and those of a frame that still waits for the wire.
    /// Default false: a frame for each class.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub combine_classes: bool,
    /// How long a port goes on as before after a pause frame has arrived, to stop or to go on. Default
    /// none: the most that IEEE 802.3 clause 31B.3.7 allows at the rate of the link, 394 quanta or 2.0us
    /// at 100 Gb/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Duration>,
    /// Lossless classes, by which the neighbour sends, counted from 0; empty means all. Default
    /// all.
    pub queues: Vec<u8>,
    /// Whether what it protects must not be lost, so that a loss is a fault that the run reports and
    /// too little headroom one that `check` does. Default true; false for memory that is known to be
    /// too small.
    pub lossless: bool,
    /// A watchdog over queues that are paused for long; on if its table is there. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<watchdog::Spec>,
}

/// Where occupancy is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredOn {
    /// Bytes that came in by one port in one class, wherever they wait: what 802.1Q describes.
    /// Each (port, class) has `switch.queue.size` of memory and egress queues have no limit, or
    /// what `switch.buffer.shared` gives them.
    #[default]
    Ingress,
    /// The same bytes, with the dynamic threshold of `switch.buffer.shared.ingress` for XOFF: a
    /// port and class is paused when it holds more than the memory would now let it, or has
    /// headroom in use. Its headroom is `switch.buffer.shared.headroom`.
    IngressPool,
    /// Bytes in one egress queue. Above XOFF every port and class that has bytes in it is paused,
    /// until it falls to XON: the reading of the Congestion Isolation decks, which plot egress queues
    /// against XOFF. No product is known to do so.
    EgressQueue,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            xoff: Bytes(750_000),
            xon: Bytes(4_000),
            xon_offset: Bytes(3 * 1_024),
            xon_of_xoff: None,
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
            ["xoff", "xon", "xon_of_xoff"].into_iter().for_each(|field| findings.idle(field, why));
        } else {
            if self.xon_of_xoff.is_some() {
                findings.idle("xon", "with `xon_of_xoff` XON is a part of XOFF");
            } else {
                findings.below(("xon", self.xon), ("xoff", self.xoff), XON_BELOW);
            }
            let why =
                "only with `measured_on = \"ingress_pool\"` is there a threshold that it is below";
            findings.idle("xon_offset", why);
        }
        let why = "0.5 lets the neighbour go on at half of XOFF";
        findings.between_0_and_1("xon_of_xoff", self.xon_of_xoff, why);
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
                "storms end while the neighbour still pauses: write refresh = true, or remove the watchdog",
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
        // A neighbour that goes on pausing says so again when half a pause has passed.
        let Some(slowest) = graph.links().map(|(_, _, end)| end.rate).min() else { return };
        let again = Duration(pause_time(self.quanta, slowest).0 / 2);
        if watchdog.restoration <= again {
            findings.warn(
                ["watchdog.restoration", "watchdog"],
                format!(
                    "a storm is over when no pause has come for {}, and a pause of {} quanta is said \
                     again only every {again} at {slowest}",
                    watchdog.restoration, self.quanta
                ),
                "storms end while the neighbour still pauses: raise `restoration`, or lower \
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

    /// How long a port of this rate goes on as before after a pause frame has arrived.
    pub fn response_at(&self, rate: Rate) -> Duration {
        self.response.unwrap_or_else(|| standard_response(rate))
    }

    /// Between which occupancies the neighbour is paused.
    #[inline]
    pub fn thresholds(&self) -> Thresholds {
        Thresholds { xoff: self.xoff, xon: self.xon() }
    }

    /// The occupancy at or below which the neighbour may go on: `xon`, or its part of XOFF in whole bytes.
    #[inline]
    pub fn xon(&self) -> Bytes {
        let part = |part: f64| Bytes((part * self.xoff.0 as f64) as u64);
        self.xon_of_xoff.map_or(self.xon, part)
    }
}
