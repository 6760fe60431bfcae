//! Whether Congestion Isolation can act, and all of its settings can.

use floodway_model::Graph;
use floodway_model::graph::NodeKind;
use floodway_sim::switch::flow_control::congestion_isolation::{Signal, Spec, WhenFull};
use floodway_sim::switch::{classify, fabric};

use super::Findings;
use super::inert::inert;
use super::switch::{MOST_QUEUES, check_ramp, there_are};
use crate::document::Document;

const ISOLATION: &str = "switch.flow_control.congestion_isolation";

fn path(field: &str) -> String {
    format!("{ISOLATION}.{field}")
}

/// What is wrong with Congestion Isolation itself.
pub fn check(settings: &Document, spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    let count = settings.switch.queue.count;
    if spec.monitored == spec.congesting {
        findings.error(
            &[&path("congesting"), &path("monitored")],
            format!("queue {} is both the monitored and the congesting queue", spec.monitored),
            "congesting flows are moved to another queue: name two different ones",
        );
    }
    for (field, number) in [("monitored", spec.monitored), ("congesting", spec.congesting)] {
        if number >= count {
            findings.error(
                &[&path(field), "switch.queue.count"],
                format!("the {field} queue is {number}, but {}", there_are(count)),
                if number < MOST_QUEUES {
                    format!("raise `switch.queue.count` to {} or name another queue", number + 1)
                } else {
                    format!("at most {MOST_QUEUES} queues are possible: name another")
                },
            );
        }
    }
    check_ramp(&path("curve"), &spec.curve, findings);
    inert(&path("curve.at"), "isolation selects flows by packets that arrive", findings);
    if spec.max_entries == 0 {
        let help = "write how many flows a port can isolate, for example 4096";
        findings.error(&[&path("max_entries")], "the stream table has no entries", help);
    }
    if spec.max_cims == 0 && spec.signal != Signal::Off {
        findings.error(
            &[&path("max_cims")],
            "signalling is on and `max_cims` is 0, so no CIM is ever sent",
            "write at least 1, or signal = \"off\"",
        );
    }
    check_keys(settings, spec, findings);
    check_tiers(spec, graph, findings);
    check_table(spec, findings);
    check_messages(spec, graph, findings);
    check_beginnings(settings, spec, findings);
}

/// Whether flows begin in the monitored queue.
fn check_beginnings(settings: &Document, spec: &Spec, findings: &mut Findings<'_>) {
    match &settings.switch.classify {
        classify::Spec::Single(single) if single.queue != spec.monitored => findings.error(
            &["switch.classify.single.queue", &path("monitored")],
            format!(
                "all data goes to queue {}, but the monitored queue is {}",
                single.queue, spec.monitored
            ),
            "flows begin in the monitored queue: name the same queue in both",
        ),
        classify::Spec::Single(_) => {}
        classify::Spec::DestinationHash(_) => findings.warn(
            &["switch.classify"],
            "flows are spread over all queues, so some begin in the congesting queue",
            "choose [switch.classify.single] to let all begin in the monitored queue",
        ),
        classify::Spec::Ecn(_) => findings.error(
            &["switch.classify.ecn", "switch.flow_control.congestion_isolation"],
            "packets go to queues by their ECN field, and isolated flows by their congestion",
            "remove one of the two, or choose [switch.classify.single]",
        ),
        classify::Spec::MiceElephants(classify) => {
            const MICE: &str = "switch.classify.mice_elephants.mice";
            const ELEPHANTS: &str = "switch.classify.mice_elephants.elephants";
            let kinds =
                [("mice", MICE, Some(classify.mice)), ("elephants", ELEPHANTS, classify.elephants)];
            for (kind, field, queue) in kinds {
                if queue == Some(spec.congesting) {
                    findings.error(
                        &[field, &path("congesting")],
                        format!(
                            "the {kind} begin in queue {}, the congesting queue",
                            spec.congesting
                        ),
                        "only flows that were found congesting belong there: name another queue",
                    );
                }
            }
            match classify.elephants {
                None => findings.warn(
                    &[ELEPHANTS, "switch.classify"],
                    "elephants are spread over all queues but that of the mice, so some begin in \
                     the congesting queue",
                    format!("write elephants = {}, the monitored queue", spec.monitored),
                ),
                Some(queue) if ![queue, classify.mice].contains(&spec.monitored) => findings.error(
                    &[ELEPHANTS, &path("monitored")],
                    format!(
                        "mice begin in queue {} and elephants in queue {queue}, but the monitored \
                         queue is {}",
                        classify.mice, spec.monitored
                    ),
                    "no flow would ever be isolated: monitor the queue of the elephants",
                ),
                Some(_) => {}
            }
        }
    }
}

/// Whether the stream table can know flows as it is to.
fn check_keys(settings: &Document, spec: &Spec, findings: &mut Findings<'_>) {
    if !(1..=32).contains(&spec.key_bits) {
        findings.error(
            &[&path("key_bits")],
            format!("the hash of a flow has {} bits", spec.key_bits),
            "write 1 to 32; with 32 no two flows have the same",
        );
    }
    if matches!(settings.switch.fabric, fabric::Spec::OutputQueued(_)) {
        return;
    }
    let fabric = format!("switch.fabric.{}", settings.switch.fabric.name());
    let several = [
        ("key_bits", spec.key_bits < 32, "flows that share an entry may come from several ports"),
        (
            "when_full",
            spec.when_full == WhenFull::Oldest,
            "a flow that makes room may have packets at the inputs",
        ),
    ];
    for (field, _, why) in several.into_iter().filter(|(_, is_set, _)| *is_set) {
        findings.error(
            &[&path(field), &fabric],
            format!("{why} of a crossbar, and would be reordered"),
            format!("remove `{field}`, or choose [switch.fabric.output_queued]"),
        );
    }
}

/// Whether the tiers are there.
fn check_tiers(spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    let tier_of = |node| match graph.node(node).kind {
        NodeKind::Switch { tier } => Some(tier),
        NodeKind::Host => None,
    };
    let Some(highest) = graph.switches().filter_map(tier_of).max() else { return };
    for (index, tier) in spec.tiers.iter().enumerate().filter(|(_, tier)| **tier > highest) {
        findings.error(
            &[&path(&format!("tiers.{index}")), &path("tiers")],
            format!("no switch is at tier {tier}: the highest is {highest}"),
            "tiers are counted from the hosts, and leaves are 0",
        );
    }
}

/// What happens in a full table, of one that cannot be full.
fn check_table(spec: &Spec, findings: &mut Findings<'_>) {
    let keys = 1_u64.checked_shl(spec.key_bits.into()).unwrap_or(u64::MAX);
    if keys <= spec.max_entries.into() {
        inert(&path("when_full"), "the table has an entry for every key (`key_bits`)", findings);
    }
}

/// Settings of messages that are never sent.
fn check_messages(spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    const SENT: [&str; 4] = ["max_cims", "cim_interval", "cim_entry_life", "signal_depth"];
    const CLASS: &str = "switch.feedback.cim";
    const HOSTS: &str = "hosts";
    let (among_switches, to_hosts) = neighbours(spec, graph);
    if spec.signal == Signal::Off {
        let why = "with `signal = \"off\"` no CIM is sent";
        for field in SENT.into_iter().chain([HOSTS]) {
            inert(&path(field), why, findings);
        }
        return inert(CLASS, why, findings);
    }
    let somebody_takes_part = among_switches || to_hosts && spec.hosts;
    if !somebody_takes_part {
        let why = "no neighbour of a switch that isolates takes part, so no CIM is sent";
        for field in SENT.into_iter().chain(["signal"]) {
            inert(&path(field), why, findings);
        }
        inert(CLASS, why, findings);
    } else if spec.signal == Signal::Isolation {
        let why = "with `signal = \"isolation\"` the depth of the congesting queue sends no CIM";
        inert(&path("signal_depth"), why, findings);
    }
    if !to_hosts {
        inert(&path(HOSTS), "no switch that isolates is connected to a host", findings);
    }
}

/// Whether a switch that isolates is connected to another one, and to a host.
fn neighbours(spec: &Spec, graph: &Graph) -> (bool, bool) {
    let tier = |node| match graph.node(node).kind {
        NodeKind::Switch { tier } => Some(tier),
        NodeKind::Host => None,
    };
    let isolates = |node| tier(node).is_some_and(|tier| spec.is_at(tier));
    // A link is there once, from the node with the lower number, which may be a host.
    let ends = graph.links().flat_map(|(from, _, end)| [(from, end.peer), (end.peer, from)]);
    let peers = ends.filter(|(node, _)| isolates(*node)).map(|(_, peer)| peer);
    peers.fold((false, false), |(switch, host), peer| {
        (switch || isolates(peer), host || tier(peer).is_none())
    })
}
