//! What the decks leave open, and the readings that are run: each has a choice for every factor.

use crate::evidence::{Evidence, Facts};
use crate::flows::FlowGroup;
use crate::measure::Logs;
use crate::plan::Level;
use crate::readings::closest::{Closest, Number};
use crate::readings::{Choice, Factor, Network, Readings};

use super::plan::FRESH;
use super::{ALL, ALL_VARIANTS, CI, ELEPHANTS, LOCAL, MICE, WITHOUT, case};

const fn choice(name: &'static str, source: &'static str, set: &'static [&'static str]) -> Choice {
    Choice { name, source, set }
}

/// Every open factor with its choices; the first is that of `scenarios/ci/lossless.toml`.
pub static FACTORS: &[Factor] = &[
    Factor {
        name: "ECN",
        choices: &[
            choice("at most 1 % marked", "decks: \"Max Probability 1%\", taken literally", &[]),
            choice(
                "all marked above 300 KB",
                "RED; figure 5 of the DCQCN paper; the decks' three numbers",
                &["variants.*.switch.aqm.ramp.above_kmax=step"],
            ),
            choice(
                "all marked above 300 KB, on departure",
                "the same, where switches mark (decision 48)",
                &[
                    "variants.*.switch.aqm.ramp.above_kmax=step",
                    "variants.*.switch.aqm.ramp.at=departure",
                ],
            ),
            choice(
                "5 to 200 KB, on departure",
                "DCQCN paper, figure 5 and section 5",
                &[
                    "variants.*.switch.aqm.ramp.kmin=5KB",
                    "variants.*.switch.aqm.ramp.kmax=200KB",
                    "variants.*.switch.aqm.ramp.above_kmax=step",
                    "variants.*.switch.aqm.ramp.at=departure",
                ],
            ),
        ],
    },
    Factor {
        name: "marks of isolated packets",
        choices: &[
            choice(
                "by the switch that found the flow, no AQM",
                "decks: \"ECN is marked once a packet is isolated\" (decision 10)",
                &[],
            ),
            choice(
                "the same, beside the AQM",
                "IETF 101: \"ECN + PFC + CI\"; 802.1Qcz keeps the local AQM",
                &["variants.ci.switch.aqm=ramp", "variants.ci-local.switch.aqm=ramp"],
            ),
            choice(
                "by the AQM only",
                "IETF 101: to \"work in conjunction with higher-layer\" control; adds no marks",
                &[
                    "variants.ci.switch.aqm=ramp",
                    "variants.ci-local.switch.aqm=ramp",
                    "variants.ci.switch.flow_control.congestion_isolation.mark=aqm",
                    "variants.ci-local.switch.flow_control.congestion_isolation.mark=aqm",
                ],
            ),
            choice(
                "all of them, no AQM",
                "decks: \"ECN is marked once a packet is isolated\", taken literally",
                &[
                    "variants.ci.switch.flow_control.congestion_isolation.mark=all",
                    "variants.ci-local.switch.flow_control.congestion_isolation.mark=all",
                ],
            ),
        ],
    },
    Factor {
        name: "isolation above 300 KB",
        choices: &[
            choice("of every packet's flow", "claim D9: the queue never passes XOFF", &[]),
            choice(
                "with at most 1 %",
                "decks: \"Max Probability 1%\", taken literally",
                &[
                    "variants.ci.switch.flow_control.congestion_isolation.curve.above_kmax=cap",
                    "variants.ci-local.switch.flow_control.congestion_isolation.curve.above_kmax=cap",
                ],
            ),
        ],
    },
    Factor {
        name: "DCQCN",
        choices: &[
            choice("timers of a NIC, increases of the paper", "assumed: a mix of two sources", &[]),
            choice(
                "paper",
                "DCQCN paper (preset `paper`)",
                &[
                    "host.congestion.dcqcn.variant=paper",
                    "host.congestion.dcqcn.cnp_interval=50us",
                    "host.congestion.dcqcn.alpha_timer=55us",
                    "host.congestion.dcqcn.byte_counter=10MB",
                ],
            ),
            choice(
                "nvidia",
                "documented defaults of ConnectX adapters (preset `nvidia`)",
                &[
                    "host.congestion.dcqcn.variant=periodic",
                    "host.congestion.dcqcn.g=0.0048828125",
                    "host.congestion.dcqcn.increase_timer=300us",
                    "host.congestion.dcqcn.byte_counter=2097088B",
                    "host.congestion.dcqcn.fast_recovery=1",
                    "host.congestion.dcqcn.additive_increase=5Mbps",
                    "host.congestion.dcqcn.hyper_increase=50Mbps",
                    "host.congestion.dcqcn.min_rate=1Mbps",
                    "host.congestion.dcqcn.initial_alpha=0.9990234375",
                ],
            ),
            choice(
                "hpcc_simulator",
                "simulator of the HPCC authors (preset `hpcc_simulator`)",
                &[
                    "host.congestion.dcqcn.variant=periodic",
                    "host.congestion.dcqcn.notification=ack",
                    "host.congestion.dcqcn.cnp_interval=0us",
                    "host.congestion.dcqcn.increase_timer=300us",
                    "host.congestion.dcqcn.fast_recovery=1",
                    "host.congestion.dcqcn.additive_increase=5Mbps",
                    "host.congestion.dcqcn.hyper_increase=50Mbps",
                    "host.congestion.dcqcn.reference_rate=25Gbps",
                    "host.congestion.dcqcn.min_rate=1Gbps",
                ],
            ),
        ],
    },
    Factor {
        name: "PFC counts",
        choices: &[
            choice("egress queues", "the decks plot egress queues against XOFF", &[]),
            choice(
                "by ingress port",
                "IEEE 802.1Q clause 36, and products",
                &["switch.flow_control.pfc.measured_on=ingress"],
            ),
        ],
    },
    Factor {
        name: "load",
        choices: &[
            choice("0.5", "assumed", &[]),
            choice("0.3", "assumed", &["workload.0.many_to_many.load=0.3"]),
        ],
    },
    Factor {
        name: "largest flow",
        choices: &[
            choice("30 MB", "assumed: ends in a run", &[]),
            choice(
                "100 MB",
                "assumed: more of the tail of pFabric's table",
                &["workload.0.many_to_many.max_size=100MB"],
            ),
        ],
    },
    Factor {
        name: "measured",
        choices: &[
            choice("once incasts have settled", "assumed: from 6 ms on", &[]),
            choice(
                "from 1 ms on",
                "assumed: the decks name no warm-up",
                &["warmup=1ms", "arrivals=4ms"],
            ),
        ],
    },
    Factor {
        name: "in flight",
        choices: &[
            choice("no limit", "RoCEv2", &[]),
            choice(
                "at most 25 KB",
                "IRN, section 3.2: the bandwidth-delay product",
                &["host.transport.rocev2.in_flight=25KB"],
            ),
        ],
    },
    Factor {
        name: "scheduler",
        choices: &[
            choice("deficit round robin", "assumed", &[]),
            choice(
                "congested queue last",
                "IETF 101: \"low priority queue\"",
                &["switch.scheduler=strict"],
            ),
        ],
    },
    Factor {
        name: "entries of messages live",
        choices: &[
            choice("1 s", "802.1Qcz: ci-max-flow-life", &[]),
            choice(
                "1 ms",
                "assumed: some hundred round trips",
                &["variants.ci.switch.flow_control.congestion_isolation.cim_entry_life=1ms"],
            ),
        ],
    },
    Factor {
        name: "path",
        choices: &[
            choice("of a flow, by hash", "ECMP", &[]),
            choice("of a flowlet, at random", "LetFlow", &["switch.path=flowlet"]),
        ],
    },
    Factor {
        name: "feedback waits",
        choices: &[
            choice("above all data", "assumed: the best case for every mechanism", &[]),
            choice(
                "with data that is not congested",
                "ACKs as in the HPCC authors' simulator",
                &[
                    "switch.feedback.ack=0",
                    "switch.feedback.cnp=0",
                    "variants.ci.switch.feedback.cim=0",
                ],
            ),
        ],
    },
];

/// The readings: every two factors take all combinations of their choices equally often
/// ([`design`](crate::readings::design::design) says what is mixed up with what).
pub static READINGS: Readings = Readings {
    factors: FACTORS,
    networks: &[
        Network {
            stands_for: "two-queues",
            file: "scenarios/ci/lossless.toml",
            variants: ALL_VARIANTS,
            having: &[("switch.aqm.ramp", &[WITHOUT])],
            without: &[],
            from: Level::Quick,
        },
        Network {
            stands_for: "lossy",
            file: "scenarios/ci/lossy.toml",
            variants: &[WITHOUT, CI],
            having: &[("switch.aqm.ramp", &[WITHOUT])],
            without: &["switch.flow_control.pfc."],
            from: Level::Full,
        },
        Network {
            stands_for: "three-queues",
            file: "scenarios/ci/three-queues.toml",
            variants: &[WITHOUT, CI],
            having: &[("switch.aqm.ramp", &[WITHOUT])],
            without: &[],
            from: Level::Full,
        },
        Network {
            stands_for: "memory-xoff",
            file: "scenarios/ci/memory-xoff.toml",
            variants: &[WITHOUT, CI],
            having: &[("switch.aqm.ramp", &[WITHOUT])],
            without: &[],
            from: Level::Full,
        },
        Network {
            stands_for: "memory-high",
            file: "scenarios/ci/memory-high.toml",
            variants: &[CI],
            having: &[],
            without: &[],
            from: Level::Full,
        },
        Network {
            stands_for: "latency",
            file: "scenarios/ci/latency.toml",
            variants: &[WITHOUT, CI],
            having: &[("switch.aqm.ramp", &[WITHOUT])],
            without: &[],
            from: Level::Full,
        },
    ],
    common: &common,
};

/// The four numbers of the early results with PFC (A1, A2), which may be of either variant.
pub static CLOSEST: Closest = Closest {
    readings: &READINGS,
    variants: &[CI, LOCAL],
    numbers: &[
        Number { name: "mice", claimed: -63.0, logs: &|e, variant| fct(e, variant, MICE) },
        Number { name: ">10 MB", claimed: -23.0, logs: &|e, variant| fct(e, variant, ELEPHANTS) },
        Number { name: "all flows", claimed: -38.0, logs: &|e, variant| fct(e, variant, ALL) },
        Number { name: "pause frames", claimed: -84.0, logs: &pauses },
    ],
    most: 100,
};

/// Of the mean completion time of a group, without isolation to a variant with it.
pub fn fct(evidence: &Evidence, variant: &'static str, group: FlowGroup) -> Logs {
    evidence.fct_logs(case("two-queues", WITHOUT), case("two-queues", variant), group)
}

/// Of pause frames, likewise; with half a frame more in both, because some readings have none.
pub fn pauses(evidence: &Evidence, variant: &'static str) -> Logs {
    let number = |facts: &Facts| facts.number("pause_frames") + 0.5;
    evidence.logs(case("two-queues", WITHOUT), case("two-queues", variant), number)
}

/// Shorter than the experiments of the main reading, of which there is one and not 32.
fn common(level: Level) -> Vec<String> {
    let replications = match level {
        Level::Quick => "replications=3",
        Level::Standard | Level::Full => "replications=5",
    };
    let all = [replications, "arrivals=9ms", "warmup=6ms", "limit=25ms", FRESH];
    all.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_scenario::{Overrides, Scenario};

    /// The choices of DCQCN but the first are the presets, field by field.
    #[test]
    fn the_choices_of_dcqcn_are_the_presets() {
        let settings = |set: Vec<String>| {
            let overrides = Overrides { quick: false, set };
            let library = &super::super::STUDY.library;
            let scenario = library.scenario("scenarios/ci/lossless.toml", &overrides);
            let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
            serde_json::to_value(&scenario.variants()[0].settings).unwrap()["host"]["congestion"]
                .clone()
        };
        let factor = FACTORS.iter().find(|factor| factor.name == "DCQCN").unwrap();
        for choice in &factor.choices[1..] {
            let chosen = settings(choice.set.iter().map(|set| (*set).to_owned()).collect());
            let wanted = preset(choice.name);
            for (field, value) in wanted.as_object().unwrap() {
                // What has no effect in the variant may differ.
                let dead = match choice.name {
                    "paper" => ["cut_interval", "clamp_target"].as_slice(),
                    _ => &[],
                };
                if !dead.contains(&field.as_str()) && field != "preset" {
                    assert_eq!(chosen["dcqcn"][field], *value, "{} {field}", choice.name);
                }
            }
        }
    }

    /// What a scenario has that names the preset and nothing else.
    fn preset(name: &str) -> serde_json::Value {
        let text = format!(
            "name = \"preset\"\narrivals = \"1ms\"\nwarmup = \"0ms\"\nlimit = \"2ms\"\n\
             [topology.star]\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
             [switch.queue]\nsize = \"1MB\"\n[switch.aqm.ramp]\n[host.transport.rocev2]\n\
             [host.congestion.dcqcn]\npreset = \"{name}\"\n\
             [[workload]]\n[workload.incast]\nsets = 1\nsenders = 2\n"
        );
        let files: &[(&str, &str)] = &[("preset.toml", Box::leak(text.into_boxed_str()))];
        let scenario = Scenario::of_library(files, "preset.toml", &Overrides::default());
        let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
        serde_json::to_value(&scenario.variants()[0].settings).unwrap()["host"]["congestion"]
            ["dcqcn"]
            .clone()
    }

    /// ECN and who marks isolated packets decide most claims: no effect of one may hide in the other.
    #[test]
    fn every_ecn_is_read_with_every_way_to_mark() {
        let all = READINGS.all();
        let factor = |name| FACTORS.iter().position(|factor| factor.name == name).unwrap();
        let (ecn, marks) = (factor("ECN"), factor("marks of isolated packets"));
        let pairs: std::collections::BTreeSet<_> =
            all.iter().map(|reading| (reading.choices[ecn], reading.choices[marks])).collect();
        assert_eq!((all.len(), pairs.len()), (32, 16));
    }
}
