//! The tables of deadlocks, which are ports blocked on each other in a cycle, and of pause storms.

use floodway_model::table::Table;
use floodway_model::tables::{deadlock_flows, deadlocks, watchdog_events};
use floodway_model::{FlowId, Instant, NodeId};

use super::{name_of, nanoseconds};
use crate::Spec;
use crate::run::Finished;
use crate::switch::Switch;
use crate::switch::flow_control::pfc::watchdog::Event;
use crate::switch::stopped::Stopped;

/// Rows in order of cycle, and within a cycle in the order of its members.
pub fn table(spec: &Spec, finished: &Finished) -> Table {
    let row = |cycle: usize, place: usize, node: NodeId, stopped: &Stopped| deadlocks::Row {
        cycle: cycle as u64,
        place: place as u64,
        node: name_of(spec, node),
        port: stopped.port as u64,
        class: stopped.class as u64,
        peer: name_of(spec, stopped.peer),
        paused_since_ns: nanoseconds(stopped.since),
        backlog_bytes: stopped.backlog,
        flows: stopped.flows.len() as u64,
    };
    let cycles = finished.deadlocks.cycles.iter().enumerate();
    cycles
        .flat_map(|(cycle, found)| {
            let members = found.members.iter().enumerate();
            members.map(move |(place, (node, stopped))| row(cycle, place, *node, stopped))
        })
        .collect()
}

/// Rows in the same order, by flow.
pub fn flows(finished: &Finished) -> Table {
    let cycles = finished.deadlocks.cycles.iter().zip(0..);
    let members = cycles.flat_map(|(found, cycle)| {
        found.members.iter().zip(0..).map(move |((_, stopped), place)| (cycle, place, stopped))
    });
    members
        .flat_map(|(cycle, place, stopped)| {
            let row = move |(flow, bytes): (&FlowId, &u64)| {
                let flow = flow.0.into();
                deadlock_flows::Row { cycle, place, flow, bytes: *bytes }
            };
            stopped.flows.iter().map(row)
        })
        .collect()
}

/// Rows in order of node and time.
pub fn storms(spec: &Spec, finished: &Finished) -> Table {
    let row = |switch: &Switch, event: &Event| watchdog_events::Row {
        node: name_of(spec, switch.id()),
        port: event.queue.port() as u64,
        class: event.queue.class() as u64,
        detected_ns: nanoseconds(event.detected),
        restored_ns: match event.restored {
            Instant::NEVER => f64::NAN,
            at => nanoseconds(at),
        },
        dropped_packets: event.dropped,
    };
    let switches = finished.switches.iter();
    switches.flat_map(|switch| switch.storms().map(move |event| row(switch, event))).collect()
}

/// Counters of the run, if there is a deadlock.
pub fn counters(finished: &Finished, rows: &mut Vec<(&str, u64, &str)>) {
    let found = &finished.deadlocks;
    if found.cycles.is_empty() {
        return;
    }
    let ports = found.cycles.iter().map(|cycle| cycle.members.len() as u64).sum();
    let flows = found.cycles.iter().map(|cycle| cycle.flows() as u64).sum();
    rows.extend([
        (
            "deadlocks",
            found.cycles.len() as u64,
            "Circles of ports that wait for each other when the run ends.",
        ),
        ("deadlocked_ports", ports, "Ports and classes of switches in such circles."),
        ("deadlocked_flows", flows, "Flows with packets in such a circle, once per circle."),
        (
            "ports_behind_deadlocks",
            found.behind,
            "Ports and classes of switches that wait for one in such a circle.",
        ),
        (
            "last_moved_ns",
            found.last_moved.0 / 1_000,
            "When the last frame was sent that came out of a queue, anywhere.",
        ),
    ]);
}
