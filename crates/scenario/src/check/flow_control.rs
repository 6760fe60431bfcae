//! Whether lossless means lossless, and whether isolation can act.

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph};
use floodway_sim::switch::buffer;
use floodway_sim::switch::classify;
use floodway_sim::switch::flow_control::bfc;
use floodway_sim::switch::flow_control::congestion_isolation::{self, Signal};
use floodway_sim::switch::flow_control::pfc::{self, MeasuredOn};

use super::buffer::{check_pfc as check_shared, no_pool};
use super::switch::{MOST_QUEUES, check_ramp, there_are};
use super::{Findings, drc, headroom, links_to_switches};
use crate::document::Document;

const PFC: &str = "switch.flow_control.pfc";
const XOFF: &str = "switch.flow_control.pfc.xoff";
const XON: &str = "switch.flow_control.pfc.xon";
const SIZE: &str = "switch.queue.size";

/// Checks every mechanism that is there.
pub fn check(settings: &Document, graph: &Graph, largest_frame: u16, findings: &mut Findings<'_>) {
    let flow_control = &settings.switch.flow_control;
    if let Some(spec) = &flow_control.pfc {
        check_pfc(settings, spec, graph, largest_frame, findings);
    }
    if let Some(spec) = &flow_control.bfc {
        check_bfc(settings, spec, findings);
    }
    if let Some(spec) = &flow_control.drc {
        drc::check(settings, spec, graph, findings);
    }
    if let Some(spec) = &flow_control.congestion_isolation {
        check_isolation(settings, spec, findings);
    }
}

fn check_pfc(
    settings: &Document,
    spec: &pfc::Spec,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let queue = &settings.switch.queue;
    if spec.xon >= spec.xoff && spec.measured_on != MeasuredOn::IngressPool {
        findings.error(
            &[XON, XOFF],
            format!("XON ({}) is not below XOFF ({})", spec.xon, spec.xoff),
            "a paused neighbour resumes when the occupancy has fallen to XON: set it below XOFF",
        );
    }
    if spec.quanta == 0 {
        findings.error(
            &["switch.flow_control.pfc.quanta"],
            "a pause of 0 quanta is a resumption",
            "write 1 to 65535; 65535 is what switches send",
        );
    }
    if spec.quanta > 0 {
        check_refresh(settings, spec, graph, largest_frame, findings);
    }
    if let Some(index) = spec.queues.iter().position(|&number| number >= queue.count) {
        findings.error(
            &[&format!("{PFC}.queues.{index}")],
            format!(
                "queue {} is to be lossless, but {}",
                spec.queues[index],
                there_are(queue.count)
            ),
            "name queues that there are, or none to make all lossless",
        );
    }
    match &settings.switch.buffer {
        buffer::Spec::Shared(memory) => {
            check_shared(settings, spec, memory, graph, largest_frame, findings);
        }
        buffer::Spec::PerQueue(_) if spec.measured_on == MeasuredOn::IngressPool => {
            no_pool(findings);
        }
        buffer::Spec::PerQueue(_) => {
            check_per_queue(settings, spec, graph, largest_frame, findings);
        }
    }
}

/// Whether there is room above XOFF where each queue, or port and class, has its own.
fn check_per_queue(
    settings: &Document,
    spec: &pfc::Spec,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let queue = &settings.switch.queue;
    if spec.xoff > queue.size {
        findings.error(
            &[XOFF, SIZE],
            format!("XOFF ({}) is above the queue's size ({})", spec.xoff, queue.size),
            "the queue would be full before the pause is sent: lower XOFF or raise \
             `switch.queue.size`",
        );
        return;
    }
    let available = queue.size - spec.xoff;
    for ((rate, delay), between) in links_to_switches(graph) {
        let needed = headroom(settings, spec, rate, delay);
        if available < needed {
            findings.error(
                &[XOFF, SIZE],
                format!(
                    "the headroom above XOFF is {available}, but a link of {rate} and {delay} \
                     ({between}) needs {needed}"
                ),
                format!(
                    "lower XOFF to at most {} or raise `switch.queue.size` to at least {} (frames \
                     have up to {largest_frame} bytes)",
                    Bytes(queue.size.0.saturating_sub(needed.0)),
                    sum(spec.xoff, needed)
                ),
            );
            return;
        }
    }
    if spec.measured_on == MeasuredOn::EgressQueue {
        let (needed, ports, name) = headroom_of_all_ports(settings, spec, graph);
        if available < needed {
            findings.warn(
                &[XOFF, SIZE],
                format!(
                    "the headroom above XOFF is {available}, but if all {ports} other ports of \
                     {name} send to one egress queue it takes {needed}"
                ),
                format!(
                    "frames may be lost: lower XOFF to at most {}, raise `switch.queue.size` to \
                     at least {}, or measure on the ingress",
                    Bytes(queue.size.0.saturating_sub(needed.0)),
                    sum(spec.xoff, needed)
                ),
            );
        }
    }
}

/// A pause must last until its refresh arrives, which is sent when half of it has passed and may
/// find a frame in its way.
fn check_refresh(
    settings: &Document,
    spec: &pfc::Spec,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let overhead = settings.wire_overhead.0;
    let in_the_way = Bytes(u64::from(largest_frame) + overhead);
    let refresh = Bytes(u64::from(length::SHORTEST_FRAME) + overhead);
    for ((rate, _), between) in links_to_switches(graph) {
        let half = Duration(pfc::Spec::pause_time(spec.quanta, rate).0 / 2);
        let needed = rate.time_for(in_the_way) + rate.time_for(refresh);
        if half < needed {
            let least = needed.0.saturating_mul(2).div_ceil(pfc::Spec::pause_time(1, rate).0);
            findings.error(
                &["switch.flow_control.pfc.quanta"],
                format!(
                    "a pause of {} quanta lasts {} at {rate} ({between}), too short to be \
                     refreshed in time",
                    spec.quanta,
                    pfc::Spec::pause_time(spec.quanta, rate)
                ),
                format!(
                    "the refresh is sent after half of it and may wait for a frame: write at \
                     least {least}; 65535 is what switches send"
                ),
            );
            return;
        }
    }
}

/// A sum for a remedy, which need not be possible.
fn sum(a: Bytes, b: Bytes) -> Bytes {
    Bytes(a.0.saturating_add(b.0))
}

/// The headroom if all other ports of a switch send to the same egress queue: of the switch where
/// it is most, with the number of these ports and the switch's name.
pub fn headroom_of_all_ports<'a>(
    settings: &Document,
    spec: &pfc::Spec,
    graph: &'a Graph,
) -> (Bytes, usize, &'a str) {
    let mut kinds = std::collections::BTreeMap::new();
    let mut most = (Bytes(0), 0, "");
    for switch in graph.switches() {
        let node = graph.node(switch);
        let mut needs: Vec<Bytes> = Vec::with_capacity(node.ports.len());
        for end in &node.ports {
            let need = kinds
                .entry((end.rate, end.delay))
                .or_insert_with(|| headroom(settings, spec, end.rate, end.delay));
            needs.push(*need);
        }
        let total: Bytes = needs.iter().copied().sum();
        let least = needs.iter().copied().min().unwrap_or(Bytes(0));
        if total - least > most.0 {
            most = (total - least, node.ports.len() - 1, &node.name);
        }
    }
    most
}

/// The most entries of a flow table for each physical queue: every port has such a table.
const LARGEST_TABLE: u16 = 10_000;

fn check_bfc(settings: &Document, spec: &bfc::Spec, findings: &mut Findings<'_>) {
    const BFC: &str = "switch.flow_control.bfc";
    const TABLE: &str = "switch.flow_control.bfc.table";
    const TAU: &str = "switch.flow_control.bfc.tau";
    const HOP_RTT: &str = "switch.flow_control.bfc.hop_rtt";
    if spec.queues == 0 {
        findings.error(
            &["switch.flow_control.bfc.queues"],
            "there are no physical queues to put packets into",
            "write 1 to 255; the paper has 32",
        );
    }
    if !(1..=LARGEST_TABLE).contains(&spec.table) {
        findings.error(
            &[TABLE],
            format!("a flow table has {} entries for each physical queue", spec.table),
            format!("write 1 to {LARGEST_TABLE}; the paper has 100"),
        );
    }
    findings.positive(TAU, spec.tau);
    findings.latency(TAU, spec.tau);
    if let Some(hop_rtt) = spec.hop_rtt {
        findings.positive(HOP_RTT, hop_rtt);
        findings.latency(HOP_RTT, hop_rtt);
    }
    if settings.switch.flow_control.congestion_isolation.is_some() {
        findings.error(
            &[BFC],
            "Backpressure Flow Control and Congestion Isolation are both on",
            "each decides in which queue a flow waits: remove one of the two, for example with \
             `switch.flow_control.congestion_isolation = false`",
        );
    }
}

fn check_isolation(
    settings: &Document,
    spec: &congestion_isolation::Spec,
    findings: &mut Findings<'_>,
) {
    let path = |field: &str| format!("switch.flow_control.congestion_isolation.{field}");
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
    check_beginnings(settings, spec, findings);
}

/// Whether flows begin in the monitored queue.
fn check_beginnings(
    settings: &Document,
    spec: &congestion_isolation::Spec,
    findings: &mut Findings<'_>,
) {
    let path = |field: &str| format!("switch.flow_control.congestion_isolation.{field}");
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
