//! Explanations from tables.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use floodway_model::tables::{
    delay_cuts, delay_losses, delay_marks, delay_parts, delays, explained, flows, packet_parts,
    pause_causes, root_flows,
};
use floodway_model::{Delay, Table};

use super::{Cut, Explanation, Flow, Packet, Part, Pause, Port, Total};
use crate::metrics::SizeClasses;

/// From the tables of a run.
pub fn explanation(
    tables: &[Table],
    workloads: &[String],
    classes: &SizeClasses,
) -> Option<Explanation> {
    let explained = explained::View::of(tables)?;
    let all = flows::View::of(tables)?;
    let asked: BTreeSet<u64> = explained.flow.iter().copied().collect();
    let places = all.flow.iter().enumerate().filter(|(_, flow)| asked.contains(flow));
    let places: BTreeMap<u64, usize> = places.map(|(row, flow)| (flow, row)).collect();
    let mut found: BTreeMap<u64, Flow> = BTreeMap::new();
    for row in 0..explained.rows() {
        let number = explained.flow[row];
        let at = *places.get(&number)?;
        found.insert(
            number,
            Flow {
                number,
                workload: all.workload.at(at) as usize,
                bytes: all.bytes.at(at),
                ends: (explained.src[row].clone(), explained.dst[row].clone()),
                start: explained.start_ps[row],
                fct: explained.fct_ps[row],
                slowdown: all.slowdown.at(at),
                after: (explained.depends[row] == 1).then(|| explained.after[row]),
                totals: Vec::new(),
                parts: Vec::new(),
                losses: Vec::new(),
                marks: Vec::new(),
                cuts: Vec::new(),
                packets: Vec::new(),
                stands_for: Some(explained.stands_for[row])
                    .filter(|of| *of > 0.0 && of.is_finite())?,
            },
        );
    }
    totals(tables, &mut found)?;
    parts(tables, &mut found)?;
    if let Some(losses) = delay_losses::View::of(tables) {
        for row in 0..losses.rows() {
            let loss = (losses.packet[row], losses.node[row].clone(), losses.reason[row].clone());
            found.get_mut(&losses.flow[row])?.losses.push(loss);
        }
    }
    if let Some(marks) = delay_marks::View::of(tables) {
        for row in 0..marks.rows() {
            let port = port(&marks.node[row], marks.port[row], &marks.peer[row]);
            found.get_mut(&marks.flow[row])?.marks.push((port, marks.packets[row]));
        }
    }
    if let Some(cuts) = delay_cuts::View::of(tables) {
        for row in 0..cuts.rows() {
            found.get_mut(&cuts.flow[row])?.cuts.push(Cut {
                at: cuts.time_ps[row],
                limit: cuts.limit[row].clone(),
                before: cuts.before[row],
                after: cuts.after[row],
                reason: cuts.reason[row].clone(),
                place: root(&cuts.node[row], cuts.port[row], &cuts.peer[row]),
            });
        }
    }
    packets(tables, &mut found)?;
    let complete = |row: &usize| all.measured.at(*row) != 0 && all.fct_ns.at(*row).is_finite();
    let workload_of = all.flow.iter().zip(all.workload.iter().map(|of| of as usize));
    Some(Explanation {
        measured: (0..all.rows()).filter(complete).count(),
        workload_of: workload_of.collect(),
        workloads: workloads.to_vec(),
        classes: classes.clone(),
        sample: found.keys().copied().collect(),
        flows: found.into_values().collect(),
        pauses: pause_causes::View::of(tables).map_or_else(Vec::new, |view| pauses(&view)),
        fillers: root_flows::View::of(tables).map_or_else(BTreeMap::new, |view| fillers(&view)),
    })
}

fn fillers(view: &root_flows::View<'_>) -> BTreeMap<Port, Vec<(u64, u64)>> {
    let mut fillers: BTreeMap<Port, BTreeMap<u64, u64>> = BTreeMap::new();
    for row in 0..view.rows() {
        let root = port(&view.root[row], view.root_port[row], &view.root_peer[row]);
        let time = fillers.entry(root).or_default().entry(view.flow[row]).or_default();
        *time = view.paused_ps[row].saturating_add(*time);
    }
    let sorted = fillers.into_iter().map(|(root, flows)| {
        let mut flows: Vec<(u64, u64)> = flows.into_iter().collect();
        flows.sort_by_key(|(flow, time)| (Reverse(*time), *flow));
        (root, flows)
    });
    sorted.collect()
}

fn port(node: &str, port: u64, peer: &str) -> Port {
    Port { node: node.to_owned(), port, peer: peer.to_owned() }
}

/// A root has a name, if there is one.
fn root(node: &str, number: u64, peer: &str) -> Option<Port> {
    (!node.is_empty()).then(|| port(node, number, peer))
}

fn totals(tables: &[Table], found: &mut BTreeMap<u64, Flow>) -> Option<()> {
    let view = delays::View::of(tables)?;
    for row in 0..view.rows() {
        let total = Total {
            delay: Delay::named(&view.part[row])?,
            port: port(&view.node[row], view.port[row], &view.peer[row]),
            in_window: view.in_window[row] != 0,
            root: root(&view.root[row], view.root_port[row], &view.root_peer[row]),
            time: view.time_ps[row],
            causes: view.causes[row],
            most: (view.causes[row] > 0).then(|| (view.cause[row], view.cause_ps[row])),
        };
        found.get_mut(&view.flow[row])?.totals.push(total);
    }
    Some(())
}

fn parts(tables: &[Table], found: &mut BTreeMap<u64, Flow>) -> Option<()> {
    let view = delay_parts::View::of(tables)?;
    for row in 0..view.rows() {
        let part = Part {
            from: view.from_ps[row],
            to: view.to_ps[row],
            delay: Delay::named(&view.part[row])?,
            port: port(&view.node[row], view.port[row], &view.peer[row]),
            in_window: view.in_window[row] != 0,
            cause: (view.has_cause[row] != 0).then(|| view.cause[row]),
            root: root(&view.root[row], view.root_port[row], &view.root_peer[row]),
        };
        found.get_mut(&view.flow[row])?.parts.push(part);
    }
    Some(())
}

fn packets(tables: &[Table], found: &mut BTreeMap<u64, Flow>) -> Option<()> {
    let Some(view) = packet_parts::View::of(tables) else { return Some(()) };
    for row in 0..view.rows() {
        let packets = &mut found.get_mut(&view.flow[row])?.packets;
        let number = view.packet[row];
        // The parts of a packet follow each other without a gap.
        let goes_on = packets.last().is_some_and(|last| {
            last.number == number
                && last.parts.last().is_some_and(|part| part.to == view.from_ps[row])
        });
        if !goes_on {
            packets.push(Packet { number, parts: Vec::new() });
        }
        packets.last_mut()?.parts.push(Part {
            from: view.from_ps[row],
            to: view.to_ps[row],
            delay: Delay::named(&view.part[row])?,
            port: port(&view.node[row], view.port[row], &view.peer[row]),
            in_window: false,
            cause: (view.has_cause[row] != 0).then(|| view.cause[row]),
            root: root(&view.root[row], view.root_port[row], &view.root_peer[row]),
        });
    }
    Some(())
}

fn pauses(view: &pause_causes::View<'_>) -> Vec<Pause> {
    let pause = |row: usize| {
        let root = root(&view.root[row], view.root_port[row], &view.root_peer[row]);
        Pause {
            port: port(&view.node[row], view.port[row], &view.peer[row]),
            class: view.class[row],
            from: view.from_ps[row],
            to: view.until_ps[row],
            root: root.map(|port| (port, view.root_class[row], view.root_flow[row])),
            depth: view.depth[row],
        }
    };
    (0..view.rows()).map(pause).collect()
}
