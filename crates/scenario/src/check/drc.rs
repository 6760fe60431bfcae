//! Directional Rate Control: whether severities can rise and fall, rates recover, and stops come in
//! time.

use std::collections::BTreeMap;

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};
use floodway_sim::switch::buffer;
use floodway_sim::switch::flow_control::drc::{DIRECTIONS, Hop, Spec};

use super::aqm::arrivals_only;
use super::pools::{Largest, largest_queues, places};
use super::switch::there_are;
use super::{Findings, largest_frame};
use crate::document::Document;

const DRC: &str = "switch.flow_control.drc";
const THRESHOLDS: &str = "switch.flow_control.drc.thresholds";
const MEMORY: &str = "switch.flow_control.drc.memory";

/// The least rate factor that makes sense: a full frame in 12 ms at 1 Gb/s.
const LEAST_FACTOR: f64 = 0.001;

pub fn check(settings: &Document, spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    thresholds(settings, spec, findings);
    law(spec, findings);
    let count = settings.switch.queue.count;
    if let Some(index) = spec.classes.iter().position(|&class| class >= count) {
        findings.error(
            &[&format!("{DRC}.classes.{index}")],
            format!("class {} is to be controlled, but {}", spec.classes[index], there_are(count)),
            "name queues that there are, or none to control all",
        );
    }
    if settings.host.memory.is_none() && settings.switch.flow_control.bfc.is_none() {
        findings.error(
            &[DRC],
            "NICs have no buffer, so there is nothing that they could hold back by direction",
            "write how much they have, for example `host.memory` = \"64KB\"",
        );
    }
    goes_together(settings, findings);
    share_of_feedback(settings, spec, graph, findings);
    if spec.lossless {
        enough_memory(settings, spec, graph, findings);
    }
}

fn thresholds(settings: &Document, spec: &Spec, findings: &mut Findings<'_>) {
    let [first, second, third] = spec.thresholds;
    if !(0.0 < first && first < second && second < third && third <= 1.0) {
        findings.error(
            &[THRESHOLDS],
            format!("the thresholds {first}, {second} and {third} do not rise from above 0 to 1"),
            "they are fractions of a port's buffer, for example [0.25, 0.5, 0.75]",
        );
    }
    if !(0.0..first).contains(&spec.hysteresis) {
        findings.error(
            &[&format!("{DRC}.hysteresis"), THRESHOLDS],
            format!(
                "a hysteresis of {} is not below the first threshold, {first}",
                spec.hysteresis
            ),
            "severity 1 would never end: write a fraction of the buffer from 0, for example 0.05",
        );
    }
    let memory = spec.memory(settings.switch.queue.count, settings.switch.queue.size);
    let (frame, [_, slows, _]) = (largest_frame(settings), spec.rises(memory));
    let known =
        spec.memory.is_some() || matches!(settings.switch.buffer, buffer::Spec::PerQueue(_));
    if known && memory > Bytes(0) && second > 0.0 && slows <= u64::from(frame) {
        findings.warn(
            &[THRESHOLDS, MEMORY, DRC],
            format!(
                "one frame that waits ({}) reaches the second threshold ({})",
                Bytes(frame.into()),
                Bytes(slows)
            ),
            format!(
                "each one slows its direction down, to {} of the rate in the end: raise the \
                 thresholds, or `{MEMORY}`",
                spec.min_factor
            ),
        );
    }
    if spec.memory == Some(Bytes(0)) {
        findings.error(
            &[MEMORY],
            "ports without a buffer have nothing to observe",
            "write the bytes of which the thresholds are parts, or leave it out for those of the \
             queues",
        );
    }
    if spec.memory.is_none() && matches!(settings.switch.buffer, buffer::Spec::PerPort(_)) {
        findings.error(
            &[MEMORY, DRC],
            "queues share the buffer of a port, so that it is not the sum of theirs",
            format!("write of how many bytes the thresholds are parts, as `{MEMORY}`"),
        );
    }
    if spec.memory.is_none() && matches!(settings.switch.buffer, buffer::Spec::Shared(_)) {
        findings.error(
            &[MEMORY, DRC],
            "the buffer of the switch is shared, so no part of it belongs to a port",
            format!("write of how many bytes the thresholds are parts, as `{MEMORY}`"),
        );
    }
}

/// How rates fall and recover.
fn law(spec: &Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("{DRC}.{field}");
    findings.positive(&path("interval"), spec.interval);
    for (field, time) in [
        ("interval", spec.interval),
        ("min_gap", spec.min_gap),
        ("cut_interval", spec.cut_interval),
    ] {
        findings.latency(&path(field), time);
    }
    if !(spec.decrease > 0.0 && spec.decrease <= 1.0) {
        findings.error(
            &[&path("decrease")],
            format!("a decrease multiplies the rate factor by {}", super::number(spec.decrease)),
            "write a number above 0 and at most 1, for example 0.5",
        );
    }
    if !(spec.increase >= 1.0 && spec.increase.is_finite()) {
        findings.error(
            &[&path("increase")],
            format!("an increase multiplies the rate factor by {}", super::number(spec.increase)),
            "write a number from 1, for example 1.25",
        );
    }
    if !(0.0..=1.0).contains(&spec.increment) {
        findings.error(
            &[&path("increment")],
            format!("an increase adds {} to the rate factor", spec.increment),
            "write a part of the whole rate from 0 to 1, for example 0.01",
        );
    }
    if spec.increase == 1.0 && spec.increment == 0.0 && spec.decrease < 1.0 {
        findings.error(
            &[&path("increment"), &path("increase")],
            "an increase changes nothing, so rates never recover from a decrease",
            "raise `increase` above 1 or `increment` above 0",
        );
    }
    if !(LEAST_FACTOR..=1.0).contains(&spec.min_factor) {
        findings.error(
            &[&path("min_factor")],
            format!("the least rate factor is {}", super::number(spec.min_factor)),
            format!("write a part of the whole rate from {LEAST_FACTOR} to 1, for example 0.01"),
        );
    }
}

/// Whether queues by direction are possible.
fn goes_together(settings: &Document, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    if switch.flow_control.bfc.is_some() {
        findings.error(
            &[DRC],
            "Directional Rate Control and Backpressure Flow Control are both on",
            "each divides the queues of a port differently: remove one of the two, for example \
             with `switch.flow_control.bfc = false`",
        );
    }
    if switch.flow_control.congestion_isolation.is_some() {
        findings.error(
            &[DRC],
            "Directional Rate Control and Congestion Isolation are both on",
            "packets leave by direction, and Congestion Isolation counts on those in the queue to \
             leave in their order: remove one of the two, for example with \
             `switch.flow_control.congestion_isolation = false`",
        );
    }
    let no_times = "with Directional Rate Control packets leave by direction and no times are kept";
    let aqm = &switch.aqm;
    if aqm.judges_departures() || aqm.needs_times() {
        let path = format!("switch.aqm.{}", aqm.name());
        findings.error(
            &[DRC, &path],
            format!("`{path}` asks for packets that leave or for times, and {no_times}"),
            arrivals_only(
                aqm,
                "choose an AQM that judges arrivals by what waits, for example [switch.aqm.red]",
            ),
        );
    }
    if switch.scheduler.needs_times() {
        let path = format!("switch.scheduler.{}", switch.scheduler.name());
        findings.error(
            &[DRC, &path],
            format!("`{path}` asks how long heads have waited, and {no_times}"),
            "choose another scheduler, for example [switch.scheduler.drr]",
        );
    }
    if settings.departures {
        findings.error(
            &["departures", DRC],
            format!("departures are recorded with times, and {no_times}"),
            "remove `departures` or [switch.flow_control.drc]",
        );
    }
}

/// The most of a link that repeated feedback may take, and from how much on it is worth a word.
const MOST_FEEDBACK: f64 = 0.5;
const MUCH_FEEDBACK: f64 = 0.1;

/// Whether links carry anything beside feedback, which goes before everything else.
fn share_of_feedback(settings: &Document, spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    let bytes = Bytes(u64::from(length::SHORTEST_FRAME) + settings.wire_overhead.0);
    let ends = graph.switches().flat_map(|switch| {
        let node = graph.node(switch);
        let groups = node.ports.len().div_ceil(DIRECTIONS) as u64;
        node.ports.iter().map(move |end| (end.rate, groups, &node.name, end.peer))
    });
    let share = |rate: Rate, groups: u64| {
        let one = rate.time_for(bytes);
        let apart = (spec.interval.0 as f64 / groups as f64).max(spec.min_gap.0 as f64);
        (one, one.0 as f64 / apart)
    };
    let most = ends.max_by(|a, b| share(a.0, a.1).1.total_cmp(&share(b.0, b.1).1));
    let Some((rate, groups, switch, peer)) = most.filter(|_| spec.interval.0 > 0) else { return };
    let (one, share) = share(rate, groups);
    if share <= MUCH_FEEDBACK {
        return;
    }
    let path = format!("{DRC}.interval");
    let frames = match groups {
        1 => format!("one frame of {one}"),
        _ => format!("{groups} frames of {one} each"),
    };
    let taken = if share < 1.0 { format!("takes {share:.2}") } else { "leaves nothing".to_owned() };
    let message = format!(
        "feedback of {frames} every {} {taken} of the link of {rate} from {switch} to {}",
        spec.interval,
        graph.node(peer).name
    );
    // Up to the tenth part.
    let enough = Duration(one.0 * groups * 10);
    let help = format!("raise `interval` to {enough} or more");
    if share > MOST_FEEDBACK {
        findings.error(&[&path, DRC], message, help);
    } else {
        findings.warn(&[&path, DRC], message, help);
    }
}

/// A direction is stopped when the last threshold is reached; what still comes must find room.
fn enough_memory(settings: &Document, spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    if !spec.stop {
        return;
    }
    for largest in largest_queues(settings, graph) {
        let available = above_stop(settings, spec, largest.bytes);
        let needed = headroom_of_directions(settings, spec, graph, largest.switches.into_iter());
        if available < needed.all_ports {
            let raised = match &settings.switch.buffer {
                buffer::Spec::Shared(_) => "switch.buffer.shared.egress.pool",
                buffer::Spec::PerPort(_) => "switch.buffer.per_port.size",
                buffer::Spec::PerQueue(_) => "switch.queue.size",
            };
            let raised = largest.own.as_deref().unwrap_or(raised);
            findings.warn(
                &places(&largest.own, &[THRESHOLDS, MEMORY, DRC]),
                format!(
                    "the buffer above the last threshold is {available}, but if all {} other ports \
                     of {} send to one queue it takes {}",
                    needed.others, needed.switch, needed.all_ports
                ),
                format!("frames may be lost: lower the thresholds or raise `{raised}`"),
            );
        }
    }
}

/// What a queue that may hold so much still takes when the last threshold of its port is reached.
fn above_stop(settings: &Document, spec: &Spec, largest: Bytes) -> Bytes {
    let queue = &settings.switch.queue;
    let [.., stop] = spec.rises(spec.memory(queue.count, queue.size));
    Bytes(largest.0.saturating_sub(stop))
}

/// What a queue still takes when the last threshold of its port is reached, if it has a limit; what one
/// link may need of that, and all ports of a switch: of the switches that have least beyond their need.
pub fn headroom_above_stop(
    settings: &Document,
    spec: &Spec,
    graph: &Graph,
) -> (Option<Bytes>, Bytes, Bytes) {
    let of = |largest: Largest| {
        let needed = headroom_of_directions(settings, spec, graph, largest.switches.into_iter());
        (above_stop(settings, spec, largest.bytes), needed.one_link, needed.all_ports)
    };
    let spare = |&(available, _, needed): &(Bytes, Bytes, Bytes)| {
        i128::from(available.0) - i128::from(needed.0)
    };
    match largest_queues(settings, graph).into_iter().map(of).min_by_key(spare) {
        Some((available, one_link, all_ports)) => (Some(available), one_link, all_ports),
        None => {
            let needed = headroom_of_directions(settings, spec, graph, graph.switches());
            (None, needed.one_link, needed.all_ports)
        }
    }
}

/// What is needed above the last threshold.
struct Needed<'a> {
    /// On the link that needs most.
    one_link: Bytes,
    /// If all other ports of a switch send to the same port, of the switch where that is most.
    all_ports: Bytes,
    /// That switch.
    switch: &'a str,
    /// How many other ports it has.
    others: usize,
}

/// The headroom of Directional Rate Control in some switches.
fn headroom_of_directions<'a>(
    settings: &Document,
    spec: &Spec,
    graph: &'a Graph,
    switches: impl Iterator<Item = NodeId>,
) -> Needed<'a> {
    let mut kinds = BTreeMap::new();
    let mut most = Needed { one_link: Bytes(0), all_ports: Bytes(0), switch: "", others: 0 };
    for switch in switches {
        let node = graph.node(switch);
        let ports = node.ports.len();
        let need = |&(rate, delay, ports): &_| {
            spec.headroom(&Hop {
                rate,
                delay,
                largest_frame: largest_frame(settings),
                wire_overhead: settings.wire_overhead.0 as u16,
                ports,
                latency: settings.switch.latency,
            })
        };
        let (mut total, mut least) = (Bytes(0), Bytes(u64::MAX));
        for end in &node.ports {
            let kind = (end.rate, end.delay, ports);
            let need = *kinds.entry(kind).or_insert_with_key(need);
            most.one_link = most.one_link.max(need);
            (total, least) = (Bytes(total.0.saturating_add(need.0)), least.min(need));
        }
        // The port that they send to does not send to itself.
        if ports > 0 && total - least > most.all_ports {
            most.all_ports = total - least;
            (most.switch, most.others) = (&node.name, ports - 1);
        }
    }
    most
}
