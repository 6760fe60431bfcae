//! Links that are no Ethernet, that lose frames at random, or that send at a rate of their own, as a scenario writes them.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::line::{Counting, Framing, Line};
use floodway_model::{Bytes, Duration, Graph, NodeId, PortIx, Rate};
use floodway_sim::loss::Loss;
use floodway_sim::pace::{By, Pace, Trace, grants};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::ports_of;

/// A line of an access network: what it adds to frames and what it loses, in both directions, and what holds back what is
/// sent. The rates are those of the topology, and count everything that is on the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessLine {
    /// The names of the nodes at both ends, for example ["left switch", "right switch"].
    pub link: [String; 2],
    /// Which of several links between the two, from 0 in the order of their ports. Default all of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Kind of line, with the overhead, the smallest size and the framing that tc-cake(8) has for it. Default Ethernet with
    /// `wire_overhead`, or the kind `ethernet` if a field below is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Line>,
    /// Bytes that the line adds to an IP packet, in place of those of its kind: 40 with PPPoE and LLC/SNAP on ADSL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// Smallest size on the line, before framing, in place of that of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpu: Option<Bytes>,
    /// How the line divides packets, in place of what its kind does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Probability that a frame is lost, independently of others; outside of bursts, if there are any. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loss: f64,
    /// Bursts of losses. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// A file with the times at which packets may leave the first node of `link` for the second, its path relative to the
    /// scenario file: a trace of Mahimahi. Each line is a time in whole milliseconds, not before that of the line above,
    /// at which 1504 bytes may leave, IP packets with 4 bytes for each. After the last time it begins again. Default
    /// none: the rate of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The same for the other direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_back: Option<String>,
    /// A shaper at the first node of `link`, for what it sends to the second. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Shaper>,
    /// The same at the second node, for the other direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper_back: Option<Shaper>,
    /// The first node of `link` only sends what the second one has granted on request, as a cable modem does. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
    /// The same at the second node, for the other direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants_back: Option<Grants>,
    /// What the files of both directions say.
    #[serde(skip)]
    pub(crate) traces: [Option<Arc<Trace>>; 2],
}

/// A port that sends at less than the rate of its link. Each frame leaves at the rate of the link; the next one begins when
/// all before it would have left at the rate of the shaper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shaper {
    /// Its rate, of all bytes on the line, at most that of the link.
    pub rate: Rate,
    /// Bytes that may leave ahead of that, one after the other, beyond one frame. Default 0B.
    #[serde(default)]
    pub burst: Bytes,
}

/// A port that sends in slots that the other end grants on request, as in the upstream of DOCSIS. Requests go at the start of
/// every interval, with data or without, and do not collide. Slots have the rate of the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// Interval of requests and of grants: the MAP interval of DOCSIS, and the cycle of EPON and GPON. Default 2ms (CableLabs,
    /// DOCSIS module of ns-3: `MapInterval`).
    pub interval: Duration,
    /// From a request to the earliest start of the interval for which it is granted: propagation, processing at both ends, and
    /// the time by which grants are ahead. Default 1.5ms, the sum of these times in the DOCSIS module of ns-3 with its default
    /// parameters.
    pub request_to_grant: Duration,
    /// Rate that is granted without a request, at the start of every interval (guaranteed grant rate of the proactive grant
    /// service of DOCSIS 3.1, with the interval as its guaranteed grant interval). Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proactive: Option<Rate>,
}

impl Default for Grants {
    fn default() -> Self {
        Self {
            interval: Duration::from_ms(2),
            request_to_grant: Duration::from_us(1_500),
            proactive: None,
        }
    }
}

impl Grants {
    /// At a port of this rate.
    fn at(&self, rate: Rate) -> By {
        let share = |of: Rate| {
            let time = u128::from(self.interval.0) * u128::from(of.0) / u128::from(rate.0.max(1));
            Duration(u64::try_from(time).unwrap_or(u64::MAX).min(self.interval.0))
        };
        By::Grants(grants::Grants {
            interval: self.interval,
            delay: self.request_to_grant,
            proactive: self.proactive.map_or(Duration::ZERO, share),
        })
    }
}

/// Bursts of losses by the model of Gilbert and Elliott: a bad state of the line, which begins and ends with these
/// probabilities after each frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Probability that a burst begins, after each frame outside of one (p).
    pub p: f64,
    /// Probability that it ends, after each frame in it (r): it lasts for 1 / r frames on average.
    pub r: f64,
    /// Probability that a frame is lost in it. Default 1.
    #[serde(default = "one")]
    pub loss: f64,
}

/// The smallest probability with which a burst begins or ends: once in a million frames.
const RAREST: f64 = 1e-6;

/// The shortest and the longest interval of grants.
const SHORTEST: Duration = Duration::from_us(10);
const LONGEST: Duration = Duration::from_ms(1_000);

fn one() -> f64 {
    1.0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl Check for AccessLine {
    fn check(&self, findings: &mut Findings<'_>) {
        const OVERHEAD: &str = "ADSL with PPPoE and LLC/SNAP has 40B";
        findings.range("overhead", self.overhead, Bytes(0)..=Bytes(256), OVERHEAD);
        findings.range("mpu", self.mpu, Bytes(0)..=Bytes(256), "Ethernet has 84B");
        findings.range("loss", self.loss, 0.0..1.0, "0.001 loses one frame in a thousand");
        if let Some(bursts) = &self.bursts {
            let findings = &mut findings.within("bursts");
            const OFTEN: &str = "0.001 begins a burst after every thousandth frame";
            findings.range("p", bursts.p, RAREST..=1.0, OFTEN);
            findings.range("r", bursts.r, RAREST..=1.0, "0.25 makes bursts of 4 frames");
            findings.range("loss", bursts.loss, 0.0..=1.0, "1 loses all frames of a burst");
        }
        for (field, shaper) in self.shapers() {
            let findings = &mut findings.within(field);
            findings.positive("rate", shaper.rate, "remove the shaper for the rate of the link");
        }
        for (field, grants) in self.grants() {
            let findings = &mut findings.within(field);
            let often = "DOCSIS has 2ms, and GPON 125us";
            findings.range("interval", grants.interval, SHORTEST..=LONGEST, often);
            let late = "1.5ms is usual for DOCSIS 3.1";
            findings.range(
                "request_to_grant",
                grants.request_to_grant,
                Duration::ZERO..=LONGEST,
                late,
            );
            findings.positive(
                "proactive",
                grants.proactive,
                "leave it out for grants on request only",
            );
        }
    }
}

impl AccessLine {
    /// What it adds to frames; `None` if it is Ethernet as other links are.
    pub fn counting(&self) -> Option<Counting> {
        let written = self.kind.is_some()
            || self.overhead.is_some()
            || self.mpu.is_some()
            || self.framing.is_some();
        let kind = self.kind.unwrap_or(Line::Ethernet);
        let overhead = self.overhead.and_then(|overhead| i64::try_from(overhead.0).ok());
        written.then(|| kind.counting().with(overhead, self.mpu, self.framing))
    }

    /// Whether it loses anything.
    pub const fn loses(&self) -> bool {
        self.loss > 0.0 || self.bursts.is_some()
    }

    /// The shapers that are written, by their fields.
    pub fn shapers(&self) -> impl Iterator<Item = (&'static str, &Shaper)> {
        let both = [("shaper", &self.shaper), ("shaper_back", &self.shaper_back)];
        both.into_iter().filter_map(|(field, shaper)| Some((field, shaper.as_ref()?)))
    }

    /// The grants that are written, by their fields.
    pub fn grants(&self) -> impl Iterator<Item = (&'static str, &Grants)> {
        let both = [("grants", &self.grants), ("grants_back", &self.grants_back)];
        both.into_iter().filter_map(|(field, grants)| Some((field, grants.as_ref()?)))
    }

    /// The files that are written, by their fields.
    pub fn files(&self) -> [(&'static str, Option<&String>); 2] {
        [("trace", self.trace.as_ref()), ("trace_back", self.trace_back.as_ref())]
    }

    /// Whether it holds back what is sent.
    pub fn holds(&self) -> bool {
        self.shapers().next().is_some()
            || self.grants().next().is_some()
            || self.files().iter().any(|(_, file)| file.is_some())
    }

    /// What ports are held to, by the field that says so.
    pub fn paces(&self, graph: &Graph) -> Vec<(&'static str, Pace)> {
        let mut paces = Vec::new();
        for (node, port) in ports_of(&self.link, self.number, graph) {
            let end = &graph.node(node).ports[port.index()];
            let ends = [(node, port), (end.peer, end.peer_port)];
            let shapers = [("shaper", &self.shaper), ("shaper_back", &self.shaper_back)];
            for (direction, (node, port)) in ends.into_iter().enumerate() {
                let (field, _) = self.files()[direction];
                let trace = self.traces[direction].as_ref();
                paces.extend(
                    trace.map(|trace| {
                        (field, Pace { node, port, by: By::Trace((**trace).clone()) })
                    }),
                );
                let (field, shaper) = shapers[direction];
                paces.extend(shaper.as_ref().map(|&Shaper { rate, burst }| {
                    (field, Pace { node, port, by: By::Shaper { rate, burst } })
                }));
                let fields = [("grants", &self.grants), ("grants_back", &self.grants_back)];
                let (field, grants) = fields[direction];
                let rate = graph.node(node).ports[port.index()].rate;
                paces.extend(
                    grants.as_ref().map(|grants| (field, Pace { node, port, by: grants.at(rate) })),
                );
            }
        }
        paces
    }

    /// What it is, for readers: its ends, and what is special about it.
    pub fn phrase(&self) -> String {
        let [from, to] = &self.link;
        let mut parts = Vec::new();
        if let Some(Counting { framing, overhead, .. }) = self.counting() {
            let overhead = overhead.map_or(String::new(), |bytes| format!("{bytes} B per packet"));
            parts.push(match framing {
                Framing::None => overhead,
                Framing::Atm => format!("{overhead} in ATM cells"),
                Framing::Ptm => format!("{overhead} in PTM"),
            });
        }
        if self.loss > 0.0 {
            parts.push(format!("loses {} of frames", self.loss));
        }
        if let Some(Bursts { p, r, .. }) = self.bursts {
            parts.push(format!("loses frames in bursts (p {p}, r {r})"));
        }
        for (end, direction) in [(from, 0), (to, 1)] {
            let of = |what: String| format!("{what} at {end}");
            if let (Some(file), Some(trace)) = (self.files()[direction].1, &self.traces[direction])
            {
                let mean = trace.mean_rate() / 1e6;
                parts.push(of(format!("trace {file} of {mean:.2} Mb/s on average")));
            }
            if let Some(shaper) = [&self.shaper, &self.shaper_back][direction] {
                parts.push(of(format!("shaper of {}", shaper.rate)));
            }
            if let Some(grants) = [&self.grants, &self.grants_back][direction] {
                let proactive = grants
                    .proactive
                    .map_or(String::new(), |rate| format!(" ({rate} of them proactive)"));
                parts.push(of(format!("grants every {}{proactive}", grants.interval)));
            }
        }
        parts.retain(|part| !part.is_empty());
        format!("{from} to {to}: {}", parts.join(", "))
    }

    /// Gives the links their framing.
    pub fn frame(&self, graph: &mut Graph) {
        let Some(counting) = self.counting() else { return };
        for end in ports_of(&self.link, self.number, graph) {
            graph.frame(end, counting);
        }
    }

    /// What the links lose, for both directions.
    pub fn losses(&self, graph: &Graph) -> Vec<Loss> {
        if !self.loses() {
            return Vec::new();
        }
        let (bad, enters, leaves) =
            self.bursts.as_ref().map_or((0.0, 0.0, 0.0), |of| (of.loss, of.p, of.r));
        let loss = |(node, port): (NodeId, PortIx)| Loss {
            node,
            port,
            good: self.loss,
            bad,
            enters,
            leaves,
        };
        let ends = ports_of(&self.link, self.number, graph).into_iter().flat_map(|(node, port)| {
            let end = &graph.node(node).ports[port.index()];
            [(node, port), (end.peer, end.peer_port)]
        });
        ends.map(loss).collect()
    }
}
