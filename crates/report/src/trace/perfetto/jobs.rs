//! Ranks of jobs as groups of tracks: what each computed, sent, received and exchanged when.

use std::collections::BTreeMap;
use std::io;

use floodway_model::tables::{ranks, steps, trace_nodes};
use floodway_model::{Numbers, Table};

use super::message::Annotation;
use super::writer::{TrackId, Writer};
use super::{STEPS, flows};
use crate::words;

/// Something that a rank did.
struct Done {
    workload: u64,
    rank: u64,
    span: (f64, f64),
    kind: String,
    /// The track, in a group of tracks of one name.
    track: (usize, String),
    name: String,
    facts: Vec<Annotation>,
}

/// Writes what the ranks of all jobs did: the nodes of traces, and of other jobs the steps. What had not finished ends with the
/// record.
pub fn write(tables: &[Table], writer: &mut Writer) -> io::Result<()> {
    let Some(ranks) = ranks::View::of(tables).filter(|ranks| ranks.rows() > 0) else {
        return Ok(());
    };
    let mut all = nodes(tables);
    let of_traces: Vec<u64> = all.iter().map(|done| done.workload).collect();
    all.extend(operations(tables, &of_traces));
    // What had not begun has no time.
    all.retain(|done| !done.span.0.is_nan());
    all.sort_by(|a, b| a.span.0.total_cmp(&b.span.0));
    let left_out = all.len().saturating_sub(STEPS);
    all.truncate(STEPS);
    let starts: Numbers<f64> = all.iter().map(|done| done.span.0).collect();
    let times: Numbers<f64> = all.iter().map(|done| done.span.1 - done.span.0).collect();
    let end = flows::end(tables, &starts, &times);

    let description = match left_out {
        0 => String::new(),
        _ => format!("The first {STEPS} steps; {left_out} that began later are left out."),
    };
    let group = writer.group(None, 0, "jobs", &description)?;
    let names = flows::Names::of(tables);
    let several = ranks.workload.iter().any(|&workload| workload != ranks.workload[0]);
    let mut groups: BTreeMap<(u64, u64), TrackId> = BTreeMap::new();
    for row in 0..ranks.rows() {
        let (workload, rank) = (ranks.workload[row], ranks.rank[row]);
        let host = names.of_node(ranks.node[row]);
        let name = match several {
            true => format!("workload {workload}, rank {rank} on {host}"),
            false => format!("rank {rank} on {host}"),
        };
        groups.insert((workload, rank), writer.group(Some(group), row, &name, "")?);
    }
    let mut lanes: BTreeMap<(u64, u64, usize), flows::Lanes> = BTreeMap::new();
    for done in all {
        let Some(&rank) = groups.get(&(done.workload, done.rank)) else { continue };
        let (place, track) = &done.track;
        let until = if done.span.1.is_nan() { end } else { done.span.1 };
        let lanes = lanes.entry((done.workload, done.rank, *place)).or_default();
        let lane = lanes.take(writer, (rank, *place, track), (done.span.0, until))?;
        let (category, name) = (done.kind.as_str(), done.name.as_str());
        writer.slice(lane, (done.span.0, until), (category, name), done.facts, &[])?;
    }
    Ok(())
}

/// The track of a kind of node or step.
fn track(kind: &str) -> (usize, String) {
    let (place, name) = match kind {
        "compute" => (0, "computation"),
        "send" => (2, "sends"),
        "receive" => (3, "receives"),
        "memory" | "delay" => (4, "memory and delays"),
        _ => (1, "collectives"),
    };
    (place, name.to_owned())
}

/// Nodes of traces that take time.
fn nodes(tables: &[Table]) -> Vec<Done> {
    let Some(of) = trace_nodes::View::of(tables) else { return Vec::new() };
    let rows = (0..of.rows()).filter(|&row| of.kind[row] != "metadata");
    let node = |row: usize| Done {
        workload: of.workload[row],
        rank: of.rank[row],
        span: (of.start_ns[row], of.finish_ns[row]),
        kind: of.kind[row].clone(),
        track: track(&of.kind[row]),
        name: match &*of.name[row] {
            "" => format!("{} {}", of.kind[row], of.id[row]),
            name => name.to_owned(),
        },
        facts: vec![
            Annotation::text("kind", &of.kind[row]),
            Annotation::whole("node", of.id[row]),
            Annotation::whole("first_step", of.first_step[row]),
            Annotation::whole("steps", of.steps[row]),
        ],
    };
    rows.map(node).collect()
}

/// Steps of jobs that are not of traces, each stream with a track for what it computes.
fn operations(tables: &[Table], of_traces: &[u64]) -> Vec<Done> {
    let Some(of) = steps::View::of(tables) else { return Vec::new() };
    let rows = (0..of.rows()).filter(|&row| !of_traces.contains(&of.workload[row]));
    let step = |row: usize| {
        let kind = of.kind[row].clone();
        let peer = of.peer[row];
        let size = words::bytes(of.bytes[row] as f64);
        let (track, name) = match &*kind {
            "compute" => {
                let stream = of.stream[row];
                ((5 + stream as usize, format!("cpu {stream}")), "calc".to_owned())
            }
            "send" => (track(&kind), format!("{size} → rank {peer}")),
            "receive" => (track(&kind), format!("{size} ← rank {peer}")),
            _ => (track("delay"), kind.clone()),
        };
        let mut facts = vec![Annotation::whole("step", of.step[row])];
        if of.line[row] > 0 {
            facts.push(Annotation::whole("line", of.line[row]));
        }
        if !of.flow[row].is_nan() {
            facts.push(Annotation::whole("flow", of.flow[row] as u64));
        }
        let span = (of.start_ns[row], of.finish_ns[row]);
        Done { workload: of.workload[row], rank: of.rank[row], span, kind, track, name, facts }
    };
    rows.map(step).collect()
}
