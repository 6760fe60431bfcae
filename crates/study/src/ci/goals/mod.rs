//! Goals that the deck for IETF 101 names without results: "Improve performance of TCP and UDP based
//! flows" and "Reduce pressure on switch buffer growth".

pub mod claims;

use crate::plan::{Experiment, Level, name};

use super::plan::{SERVERS_288, SERVERS_512};
use super::{CI, WITHOUT};

pub const TCP_UDP: &str = "scenarios/ci/tcp-udp.toml";
const LOSSLESS: &str = "scenarios/ci/lossless.toml";
const LOSSY: &str = "scenarios/ci/lossy.toml";

const NO_PFC: &str = "switch.flow_control.pfc=false";
/// DCTCP with an ECN threshold in all queues, with isolation and without: isolation marks nothing.
const DCTCP: [&str; 6] = [
    "host.congestion=dctcp",
    "switch.aqm=step",
    "switch.aqm.step.threshold=100KB",
    "variants.ci.switch.aqm=step",
    "variants.ci.switch.aqm.step.threshold=100KB",
    "variants.ci.switch.flow_control.congestion_isolation.mark=aqm",
];

/// TCP beside UDP that does not respond: experiment, what it is, settings.
pub const MIXES: [(&str, &str, &[&str]); 4] = [
    ("tcp-cubic", "Cubic, no PFC", &[NO_PFC]),
    (
        "tcp-dctcp",
        "DCTCP, no PFC",
        &[NO_PFC, DCTCP[0], DCTCP[1], DCTCP[2], DCTCP[3], DCTCP[4], DCTCP[5]],
    ),
    ("tcp-cubic-pfc", "Cubic, PFC", &[]),
    ("tcp-dctcp-pfc", "DCTCP, PFC", &DCTCP),
];

/// The number of the workload of UDP flows that do not cause congestion.
pub const UDP: u64 = 2;

/// Queue sizes in kilobytes: that of the decks, and smaller ones.
pub const QUEUES: [u32; 4] = [1_000, 500, 250, 125];
/// The size that claims are about, a quarter of the decks'; larger networks are run with these two only.
pub const QUARTER: u32 = QUEUES[2];

/// A network, with PFC or without, that is run with several queue sizes.
#[derive(Debug)]
pub struct Network {
    /// The end of the names of its experiments.
    pub name: &'static str,
    /// What it is.
    pub label: &'static str,
    file: &'static str,
    set: &'static [&'static str],
    /// The least thorough level at which it is run.
    from: Level,
    /// Its queue sizes in kilobytes.
    pub queues: &'static [u32],
}

/// The other reading of ECN, without isolation: everything above the high threshold is marked.
const STEP: &[&str] = &["variants.without-ci.switch.aqm.ramp.above_kmax=step"];

const BOTH_ENDS: &[u32] = &[QUEUES[0], QUARTER];

const fn network(
    name: &'static str,
    label: &'static str,
    file: &'static str,
    set: &'static [&'static str],
    from: Level,
    queues: &'static [u32],
) -> Network {
    Network { name, label, file, set, from, queues }
}

/// In the order of the page.
pub const NETWORKS: [Network; 8] = [
    network("128-pfc", "128 servers, PFC", LOSSLESS, &[], Level::Quick, &QUEUES),
    network("288-pfc", "288 servers, PFC", LOSSLESS, SERVERS_288, Level::Standard, BOTH_ENDS),
    network("512-pfc", "512 servers, PFC", LOSSLESS, SERVERS_512, Level::Full, BOTH_ENDS),
    network(
        "128-pfc-step",
        "128 servers, PFC, ECN as a step",
        LOSSLESS,
        STEP,
        Level::Standard,
        BOTH_ENDS,
    ),
    network("128-lossy", "128 servers, no PFC", LOSSY, &[], Level::Standard, &QUEUES),
    network("288-lossy", "288 servers, no PFC", LOSSY, SERVERS_288, Level::Standard, BOTH_ENDS),
    network("512-lossy", "512 servers, no PFC", LOSSY, SERVERS_512, Level::Full, BOTH_ENDS),
    network(
        "128-lossy-step",
        "128 servers, no PFC, ECN as a step",
        LOSSY,
        STEP,
        Level::Standard,
        BOTH_ENDS,
    ),
];

/// The name of the experiment with this queue size.
pub fn queues(kilobytes: u32, network: &str) -> &'static str {
    name(&format!("queues-{kilobytes}-{network}"))
}

impl Network {
    /// The experiment with this queue size, and every threshold in proportion to it.
    fn experiment(&self, kilobytes: u32) -> Experiment {
        let part =
            |path: &str, of_a_thousand: u32| format!("{path}={}B", of_a_thousand * kilobytes);
        let ci = "variants.ci.switch.flow_control.congestion_isolation";
        // Not for all variants: those with isolation have no ramp.
        let ramp = "variants.without-ci.switch.aqm.ramp";
        let mut set = vec![
            part("switch.queue.size", 1_000),
            part(&format!("{ramp}.kmin"), 10),
            part(&format!("{ramp}.kmax"), 300),
            part(&format!("{ci}.curve.kmin"), 10),
            part(&format!("{ci}.curve.kmax"), 300),
            part(&format!("{ci}.signal_depth"), 300),
        ];
        if self.file == LOSSLESS {
            set.push(part("switch.flow_control.pfc.xoff", 750));
            set.push(part("switch.flow_control.pfc.xon", 4));
            // In the smallest queues the headroom above XOFF is too small for all neighbors at once.
            set.push("switch.flow_control.pfc.lossless=false".to_owned());
        }
        let mut experiment = Experiment::new(queues(kilobytes, self.name), self.file).set(self.set);
        experiment.set.extend(set);
        experiment.variants(&[WITHOUT, CI])
    }
}

/// All experiments of a level.
pub fn experiments(level: Level) -> Vec<Experiment> {
    const SHORT: &[&str] = &["arrivals=9ms", "warmup=6ms", "limit=25ms"];
    const QUICK: &[&str] = &["arrivals=6ms", "warmup=4ms", "limit=20ms"];
    let mix = |(name, _, set): &(&'static str, &str, &[&str])| {
        Experiment::new(name, TCP_UDP).variants(&[WITHOUT, CI]).set(set)
    };
    if level == Level::Quick {
        let of = &NETWORKS[0];
        let mut plan: Vec<Experiment> =
            BOTH_ENDS.iter().map(|size| of.experiment(*size).set(QUICK)).collect();
        let stop = ["workload.2.permutation.stop=6ms"];
        plan.extend(MIXES[..2].iter().map(|of| mix(of).set(QUICK).set(&stop)));
        return plan.into_iter().map(|of| of.replications(2)).collect();
    }
    let networks = NETWORKS.iter().filter(|of| level >= of.from);
    let sizes =
        networks.flat_map(|of| of.queues.iter().map(|size| of.experiment(*size).set(SHORT)));
    let runs = if level == Level::Full { 5 } else { 3 };
    let sizes = sizes.map(|of| of.replications(runs));
    let runs = if level == Level::Full { 10 } else { 5 };
    MIXES.iter().map(|of| mix(of).replications(runs)).chain(sizes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::STUDY;

    #[test]
    fn no_experiment_has_a_warning() {
        for level in [Level::Quick, Level::Full] {
            for experiment in experiments(level) {
                let scenario = experiment.scenario(&STUDY.library, &[]);
                let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
                let warnings: Vec<String> =
                    scenario.warnings().iter().map(|of| of.plain()).collect();
                assert_eq!(warnings, Vec::<String>::new(), "{}", experiment.name);
            }
        }
    }

    /// With a queue of 1 MB all settings are those of the decks.
    #[test]
    fn the_whole_queue_is_the_decks() {
        let settings = |experiment: Experiment| {
            let scenario = experiment.set(&["replications=1"]).scenario(&STUDY.library, &[]);
            let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
            let both = [WITHOUT, CI].map(|name| scenario.variant(name).expect("it is there"));
            let of = both.iter().map(|variant| {
                let mut settings = serde_json::to_value(&variant.settings).unwrap();
                if let Some(pfc) = settings.pointer_mut("/switch/flow_control/pfc/lossless") {
                    *pfc = true.into();
                }
                settings
            });
            of.collect::<Vec<_>>()
        };
        let plain = ["128-pfc", "128-lossy"];
        for network in NETWORKS.iter().filter(|of| plain.contains(&of.name)) {
            let plain = Experiment::new("plain", network.file);
            assert_eq!(settings(network.experiment(1_000)), settings(plain));
        }
    }
}
