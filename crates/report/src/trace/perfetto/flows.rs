//! Flows as slices, by the host that sends them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io;

use floodway_model::tables::{flows, nodes, samples};
use floodway_model::{Numbers, Table};

use super::FLOWS;
use super::message::Annotation;
use super::writer::{TrackId, Writer};
use crate::words;

/// Writes all flows that began; one that had not ended ends with the record.
pub fn write(tables: &[Table], writer: &mut Writer) -> io::Result<()> {
    let Some(flows) = flows::View::of(tables).filter(|flows| flows.rows() > 0) else {
        return Ok(());
    };
    let names = Names::of(tables);
    let (starts, times) = (flows.start_ns, flows.fct_ns);
    let mut order: Vec<usize> = (0..flows.rows()).collect();
    order.sort_by(|a, b| starts.at(*a).total_cmp(&starts.at(*b)));
    let left_out = order.len().saturating_sub(FLOWS);
    order.truncate(FLOWS);
    let end = end(tables, starts, times);

    let description = match left_out {
        0 => String::new(),
        _ => format!("The first {FLOWS}; {left_out} that began later are left out."),
    };
    let group = writer.group(None, 1, "flows", &description)?;
    let mut hosts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for row in order {
        hosts.entry(flows.src.at(row)).or_default().push(row);
    }
    for (rank, (host, rows)) in hosts.into_iter().enumerate() {
        let host = writer.group(Some(group), rank, &names.of_node(host), "")?;
        let mut lanes = Lanes::default();
        for row in rows {
            let until = if times.at(row).is_nan() { end } else { starts.at(row) + times.at(row) };
            let lane = lanes.take(writer, (host, 0, "flows"), (starts.at(row), until))?;
            let receiver = names.of_node(flows.dst.at(row));
            let size = match flows.bytes.at(row) {
                0 => "no size".to_owned(),
                bytes => words::bytes(bytes as f64),
            };
            let name = format!("{size} → {receiver}");
            writer.slice(
                lane,
                (starts.at(row), until),
                ("flow", &name),
                facts(&flows, row),
                &[],
            )?;
        }
    }
    Ok(())
}

/// Annotations of a flow.
fn facts(flows: &flows::View<'_>, row: usize) -> Vec<Annotation> {
    let mut facts: Vec<_> = [
        ("flow", flows.flow),
        ("workload", flows.workload),
        ("src", flows.src),
        ("dst", flows.dst),
        ("bytes", flows.bytes),
        ("delivered_bytes", flows.delivered_bytes),
        ("retransmitted_packets", flows.retransmitted_packets),
        ("lost_packets", flows.lost_packets),
        ("marked_packets", flows.marked_packets),
    ]
    .map(|(name, values)| Annotation::whole(name, values.at(row)))
    .into();
    let slowdown = flows.slowdown.at(row);
    facts.push(match slowdown.is_nan() {
        true => Annotation::text("slowdown", "did not end"),
        false => Annotation::real("slowdown", slowdown),
    });
    facts
}

/// When the trace ends: with the last thing that is known to have happened.
pub(super) fn end(tables: &[Table], starts: &Numbers<f64>, times: &Numbers<f64>) -> f64 {
    let samples = samples::View::of(tables);
    let last = samples.map_or(&[][..], |samples| samples.time_ns).iter().copied();
    let ends = starts.iter().zip(times.iter()).map(|(start, time)| start + time);
    // NaN, of a flow that did not end, is less than everything for `max`.
    last.chain(ends).chain(starts.iter()).fold(0.0, f64::max)
}

/// The names of nodes by their numbers.
pub(super) struct Names(HashMap<u64, String>);

impl Names {
    pub(super) fn of(tables: &[Table]) -> Self {
        let nodes = nodes::View::of(tables);
        let named = nodes.map(|nodes| nodes.number.iter().copied().zip(nodes.node));
        Self(named.into_iter().flatten().map(|(number, name)| (number, name.clone())).collect())
    }

    pub(super) fn of_node(&self, number: u64) -> String {
        self.0.get(&number).cloned().unwrap_or_else(|| format!("node {number}"))
    }
}

/// Tracks of one name in a group. Slices of a track must not overlap, so flows that are under way together have
/// tracks of their own; the viewer shows tracks of one name as one.
#[derive(Default)]
pub(super) struct Lanes {
    /// When each track is free again, and which it is: the soonest first.
    free: BinaryHeap<Reverse<(u64, usize)>>,
    tracks: Vec<TrackId>,
}

impl Lanes {
    /// A track that is free for this time, of this place and name in a group; flows come in order of their starts.
    pub(super) fn take(
        &mut self,
        writer: &mut Writer,
        (group, place, name): (TrackId, usize, &str),
        (from, until): (f64, f64),
    ) -> io::Result<TrackId> {
        let (from, until) = (from.round() as u64, until.round() as u64);
        let lane = match self.free.peek() {
            Some(&Reverse((free, lane))) if free <= from => {
                self.free.pop();
                lane
            }
            _ => {
                self.tracks.push(writer.group(Some(group), place, name, "")?);
                self.tracks.len() - 1
            }
        };
        self.free.push(Reverse((until, lane)));
        Ok(self.tracks[lane])
    }
}
