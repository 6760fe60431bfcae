//! What the deck names without results: its future work, "bigger scale and higher RTT simulations", and
//! other transport protocols. Larger networks, long round trips between two buildings, TCP and UDP.

pub mod claims;
#[cfg(test)]
mod tests;

use crate::plan::{Experiment, Level};

use super::plan::BENEFITS;
use super::{LOSSY, NATIVE, PFC, PROXY};

pub const BUILDINGS: &str = "scenarios/sfc/buildings.toml";
pub const TRANSPORTS: &str = "scenarios/sfc/transports.toml";

/// The network of benefits.toml with different numbers of pods of 64 hosts: experiment, pods.
pub const SIZES: [(&str, u32); 3] = [("scale-128", 2), ("scale-320", 5), ("scale-1024", 16)];

/// Short, so that two runs of the largest network fit into 6 GB: two messages start every nanosecond.
const SIZES_TIMES: &[&str] = &["arrivals=1.2ms", "warmup=400us", "limit=30ms"];
const SIZES_QUICK: &[&str] = &["arrivals=500us", "warmup=100us", "limit=30ms"];

/// Two buildings, and how far they are from each other.
#[derive(Debug)]
pub struct Distance {
    /// Its experiment.
    pub name: &'static str,
    /// What it is.
    pub label: &'static str,
    /// Delay of a link between them, in nanoseconds.
    pub delay_ns: u64,
    /// Which numbers follow the round trip.
    pub reading: Reading,
}

/// Which of the deck's numbers follow the round trip. All of them are parts of it in the deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The window alone.
    Window,
    /// None.
    Fixed,
    /// The window, the thresholds and the suppression period.
    All,
}

const fn distance(
    name: &'static str,
    label: &'static str,
    delay_ns: u64,
    reading: Reading,
) -> Distance {
    Distance { name, label, delay_ns, reading }
}

/// In the order of the page.
pub const DISTANCES: [Distance; 8] = [
    distance("rtt-10", "RTT 10 µs (0.1 km)", 500, Reading::Window),
    distance("rtt-29", "RTT 29 µs (2 km)", 10_000, Reading::Window),
    distance("rtt-109", "RTT 109 µs (10 km)", 50_000, Reading::Window),
    distance("rtt-209", "RTT 209 µs (20 km)", 100_000, Reading::Window),
    distance("rtt-109-fixed", "RTT 109 µs, window 15 µs", 50_000, Reading::Fixed),
    distance("rtt-209-fixed", "RTT 209 µs, window 15 µs", 100_000, Reading::Fixed),
    distance("rtt-109-all", "RTT 109 µs, thresholds by RTT", 50_000, Reading::All),
    distance("rtt-209-all", "RTT 209 µs, thresholds by RTT", 100_000, Reading::All),
];

impl Distance {
    /// The round trip of the idle network between hosts of both buildings: 8.833 µs within them, and the
    /// link there and back.
    pub fn round_trip_ns(&self) -> u64 {
        8_833 + 2 * self.delay_ns
    }

    /// Settings: the links, PFC's headroom for them, and the numbers that follow the round trip.
    fn settings(&self) -> Vec<String> {
        let mut set: Vec<String> = (0..4)
            .map(|link| format!("topology.custom.links.{link}.delay={}ns", self.delay_ns))
            .collect();
        // XOFF 650 KB, 2 x delay x 400 Gb/s, and 100 KB for what is within the switches.
        let memory = 750_000 + 100 * self.delay_ns;
        set.push(format!("switch.queue.size={}B", memory.max(800_000)));
        let round_trip = self.round_trip_ns();
        // A number of thirds of the bandwidth-delay product at 100 Gb/s.
        let of_product = |thirds: u64| thirds * round_trip * 25 / 6;
        let window = if self.reading == Reading::Fixed { 15_000 } else { round_trip * 5 / 4 };
        set.push(format!("host.congestion.dcqcn.window={window}ns"));
        if self.reading == Reading::All {
            set.push(format!("switch.aqm.step.threshold={}B", of_product(1)));
            for variant in [PROXY, NATIVE] {
                let path = format!("variants.{variant}.switch.flow_control.source_flow_control");
                set.push(format!("{path}.trigger={}B", of_product(2)));
                set.push(format!("{path}.target={}B", of_product(1)));
                set.push(format!("{path}.suppression={}ns", round_trip / 2));
            }
        }
        set
    }

    fn experiment(&self) -> Experiment {
        let mut experiment = Experiment::new(self.name, BUILDINGS);
        experiment.set = self.settings();
        experiment
    }
}

/// Queues without ECN, for Cubic; RoCEv2 has a window then and no DCQCN.
const CUBIC: [&str; 2] = ["host.congestion=cubic", "switch.aqm=drop_tail"];
/// Incasts over TCP too.
const ALL_TCP: [&str; 2] = ["workload.1.transport=false", "workload.1.congestion=false"];

/// What is sent over which transport: experiment, what it is, settings.
pub const MIXES: [(&str, &str, &[&str]); 5] = [
    ("dctcp-rocev2", "DCTCP, incasts over RoCEv2", &[]),
    (
        "cubic-rocev2",
        "Cubic, incasts over RoCEv2",
        &[
            CUBIC[0],
            CUBIC[1],
            "workload.1.congestion=line_rate",
            "workload.1.transport.rocev2.in_flight=187.5KB",
        ],
    ),
    ("dctcp", "DCTCP, incasts too", &ALL_TCP),
    ("cubic", "Cubic, incasts too", &[CUBIC[0], CUBIC[1], ALL_TCP[0], ALL_TCP[1]]),
    (
        OVERLOAD,
        "DCTCP, no incasts but 16 UDP flows to one host",
        &[
            ALL_TCP[0],
            ALL_TCP[1],
            "workload.1.incast_series.load=0.0001",
            "workload.2.long_flows.count=16",
            "workload.2.long_flows.from=0-15",
            "workload.2.long_flows.to=127",
        ],
    ),
];

/// The experiment with more UDP than the receiver's link carries.
pub const OVERLOAD: &str = "udp-overload";

/// The number of the workload of UDP flows.
pub const UDP: u64 = 2;

/// All experiments of a level.
pub fn experiments(level: Level) -> Vec<Experiment> {
    const ALL: &[&str] = &[PFC, PROXY, NATIVE];
    const QUICK: &[&str] = &[PFC, NATIVE];
    let size = |(name, pods): &(&'static str, u32)| {
        let hosts = 64 * pods;
        Experiment::new(name, BENEFITS).set(&[
            &format!("topology.fat_tree.pods={pods}"),
            &format!("workload.0.many_to_many.cluster_size={hosts}"),
            &format!("workload.1.incast_series.hosts={hosts}"),
        ])
    };
    let mix =
        |(name, _, set): &(&'static str, &str, &[&str])| Experiment::new(name, TRANSPORTS).set(set);
    if level == Level::Quick {
        let short = ["arrivals=600us", "warmup=300us", "workload.2.long_flows.stop=600us"];
        let mut plan: Vec<Experiment> =
            SIZES[..2].iter().map(|of| size(of).set(SIZES_QUICK)).collect();
        plan.push(DISTANCES[2].experiment().set(&["workload.0.many_to_many.load=0.1"]));
        plan.push(mix(&MIXES[0]).set(&short));
        return plan.into_iter().map(|of| of.variants(QUICK).replications(2)).collect();
    }
    let sizes = SIZES.iter().map(|of| size(of).set(SIZES_TIMES).variants(ALL));
    let distances = DISTANCES.iter().map(|of| of.experiment().variants(ALL));
    let mixes = MIXES.iter().map(|of| match of.0 {
        OVERLOAD => mix(of).variants(&[PFC, PROXY, NATIVE, LOSSY]),
        _ => mix(of).variants(ALL),
    });
    sizes.chain(distances).chain(mixes).map(|of| of.replications(3)).collect()
}
