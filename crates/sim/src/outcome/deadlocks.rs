//! The tables about ports that wait for each other in a circle, and about storms of pauses.

use floodway_model::table::Table;
use floodway_model::{Instant, NodeId};

use crate::Spec;
use crate::engine::Finished;
use crate::switch::flow_control::pfc::watchdog::Event;
use crate::switch::stopped::Stopped;

/// In order of the cycles, and within a cycle in the order in which its members wait.
pub fn table(spec: &Spec, finished: &Finished) -> Table {
    let cycles = finished.deadlocks.cycles.iter().enumerate();
    let rows: Vec<(u64, u64, NodeId, &Stopped)> = cycles
        .flat_map(|(cycle, found)| {
            let members = found.members.iter().enumerate();
            members.map(move |(place, (node, at))| (cycle as u64, place as u64, *node, at))
        })
        .collect();
    let name = |node: NodeId| spec.graph.node(node).name.clone();
    Table::new("deadlocks", "Ports that wait for each other in a circle when the run ends, so that none of them will ever send: one row per port and class. Empty without a deadlock; a pause that only lasts long is none.")
        .u64("cycle", "Number of the cycle.", rows.iter().map(|row| row.0).collect())
        .u64("place", "Place in the cycle: each waits for the next, the last for the first.", rows.iter().map(|row| row.1).collect())
        .text("node", "Name of the switch.", rows.iter().map(|row| name(row.2)).collect())
        .u64("port", "Egress port that is paused.", rows.iter().map(|row| row.3.port as u64).collect())
        .u64("class", "Traffic class; 0 with PAUSE, which stops all.", rows.iter().map(|row| row.3.class as u64).collect())
        .text("peer", "Name of the switch that pauses it.", rows.iter().map(|row| name(row.3.peer)).collect())
        .f64("paused_since_ns", "When its pause began.", rows.iter().map(|row| row.3.since.0 as f64 / 1e3).collect())
        .u64("backlog_bytes", "Bytes that wait in it.", rows.iter().map(|row| row.3.backlog).collect())
        .u64("flows", "Flows of these bytes.", rows.iter().map(|row| row.3.flows.len() as u64).collect())
}

/// In order of node and time.
pub fn storms(spec: &Spec, finished: &Finished) -> Table {
    let rows: Vec<(NodeId, &Event)> = finished
        .switches
        .iter()
        .flat_map(|switch| switch.storms().map(|event| (switch.id(), event)))
        .collect();
    let ns = |at: Instant| if at == Instant::NEVER { f64::NAN } else { at.0 as f64 / 1e3 };
    Table::new("watchdog_events", "Storms of pauses that the watchdog of PFC has found, one row per storm; empty without switch.flow_control.pfc.watchdog.")
        .text("node", "Name of the switch.", rows.iter().map(|row| spec.graph.node(row.0).name.clone()).collect())
        .u64("port", "Egress port.", rows.iter().map(|row| row.1.queue.port() as u64).collect())
        .u64("class", "Traffic class, the number of the queue.", rows.iter().map(|row| row.1.queue.class() as u64).collect())
        .f64("detected_ns", "When it was detected.", rows.iter().map(|row| ns(row.1.detected)).collect())
        .f64("restored_ns", "When it was over; empty if the run ended before.", rows.iter().map(|row| ns(row.1.restored)).collect())
        .u64("dropped_packets", "Packets dropped because of it.", rows.iter().map(|row| row.1.dropped).collect())
}

/// Numbers of the run, if there is a deadlock.
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
