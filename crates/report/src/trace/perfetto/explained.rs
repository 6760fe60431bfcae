//! Explained flows: what each spends its time on, hop by hop, with arrows from the pauses that stop it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use floodway_model::tables::{pause_causes, pause_intervals};
use floodway_model::{Delay, Table};

use super::PARTS;
use super::message::Annotation;
use super::writer::{Links, TrackId, Writer};
use crate::metrics::SizeClasses;
use crate::why::{Explanation, Flow, Part, Port};
use crate::words;

/// The explained flows of a run, ready to be written.
#[derive(Default)]
pub struct Told {
    flows: Vec<Flow>,
    left_out: usize,
    /// The arrow that leads to a part, by the places of its flow and of the part.
    arrows: BTreeMap<(usize, usize), u64>,
    /// Arrows from and to pauses, by rows of the table pause_intervals.
    pauses: BTreeMap<usize, Vec<u64>>,
}

impl Told {
    /// From the tables of a run. Empty if its delays were not explained.
    pub fn of(tables: &[Table]) -> Self {
        let classes = SizeClasses::default();
        let Some(explanation) = Explanation::of(tables, &[], &classes) else {
            return Self::default();
        };
        let mut told = Self::default();
        let mut parts = 0;
        for flow in explanation.slowest().iter().filter_map(|number| explanation.flow(*number)) {
            match parts + flow.parts.len() <= PARTS {
                true => told.flows.push(flow.clone()),
                false => told.left_out += 1,
            }
            parts += flow.parts.len();
        }
        told.draw(tables);
        told
    }

    /// The arrows from and to a pause.
    pub fn of_pause(&self, row: usize) -> &[u64] {
        self.pauses.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Finds the pause of every part that is paused, and the pauses from there to the root.
    fn draw(&mut self, tables: &[Table]) {
        let (Some(causes), Some(drawn)) =
            (pause_causes::View::of(tables), pause_intervals::View::of(tables))
        else {
            return;
        };
        let causes_at = Intervals::of((0..causes.rows()).map(|row| {
            let span = (causes.from_ps[row], causes.until_ps[row]);
            ((&*causes.node[row], causes.port[row]), causes.class[row], span)
        }));
        let ps = |ns: f64| (ns * 1e3).round() as u64;
        let drawn_at = Intervals::of((0..drawn.rows()).map(|row| {
            let span = (ps(drawn.from_ns[row]), ps(drawn.until_ns[row]));
            ((&*drawn.node[row], drawn.port[row]), drawn.class[row], span)
        }));
        let slice_of = |row: usize, time| {
            drawn_at.at((&causes.node[row], causes.port[row]), causes.class[row], time)
        };
        let mut arrows = 0;
        let mut followed = BTreeSet::new();
        for (at, flow) in self.flows.iter().enumerate() {
            let paused = |part: &&Part| part.delay == Delay::Paused && part.root.is_some();
            let parts = flow.parts.iter().enumerate().filter(|(_, part)| paused(part));
            for (number, part) in parts {
                let place = (&*part.port.node, part.port.port);
                let found = causes_at.all(place, part.from).find(|row| {
                    let root = (&causes.root[*row], causes.root_port[*row]);
                    part.root.as_ref().is_some_and(|port| root == (&port.node, port.port))
                });
                let Some(mut row) = found else { continue };
                let Some(mut slice) = slice_of(row, part.from) else { continue };
                arrows += 1;
                self.arrows.insert((at, number), arrows);
                self.pauses.entry(slice).or_default().push(arrows);
                while causes.depth[row] > 1 && followed.insert(slice) {
                    let time = causes.from_ps[row];
                    let behind = causes_at
                        .all((&causes.peer[row], causes.cause_port[row]), time)
                        .find(|behind| causes.depth[*behind] + 1 == causes.depth[row])
                        .and_then(|behind| Some((behind, slice_of(behind, time)?)));
                    let Some((behind, its)) = behind else { break };
                    arrows += 1;
                    self.pauses.entry(its).or_default().push(arrows);
                    self.pauses.entry(slice).or_default().push(arrows);
                    (row, slice) = (behind, its);
                }
            }
        }
    }

    /// Writes the flows. Arrows lead from what was written before, so pauses must have been.
    pub fn write(&self, writer: &mut Writer) -> io::Result<()> {
        if self.flows.is_empty() {
            return Ok(());
        }
        let description = match self.left_out {
            0 => String::new(),
            left_out => format!(
                "Those with the largest slowdown, with at most {PARTS} parts; {left_out} are left out."
            ),
        };
        let group = writer.group(None, 0, "explained flows", &description)?;
        for (at, flow) in self.flows.iter().enumerate() {
            let name = format!(
                "flow {}: {} from {} to {}, {:.2} times the ideal",
                flow.number,
                words::bytes(flow.bytes as f64),
                flow.ends.0,
                flow.ends.1,
                flow.slowdown
            );
            let group = writer.group(Some(group), at, &name, "")?;
            let mut hops: BTreeMap<&Port, TrackId> = BTreeMap::new();
            for (number, part) in flow.parts.iter().enumerate() {
                let hop = match hops.get(&part.port) {
                    Some(hop) => *hop,
                    None => {
                        let name = part.port.to_string();
                        let hop = writer.group(Some(group), hops.len(), &name, "")?;
                        *hops.entry(&part.port).or_insert(hop)
                    }
                };
                let span = (part.from as f64 / 1e3, part.to as f64 / 1e3);
                let links: Links = self.arrows.get(&(at, number)).map_or(&[], std::slice::from_ref);
                writer.slice(hop, span, ("delay", &name_of(part)), facts(flow, part), links)?;
            }
        }
        Ok(())
    }
}

/// What a slice is called. The viewer colors slices by their names without digits, so those of one delay look
/// alike.
fn name_of(part: &Part) -> String {
    let mut name = part.delay.name().replace('_', " ");
    match (&part.root, part.cause) {
        (Some(root), _) => name += &format!(": {root}"),
        (None, Some(cause)) => name += &format!(": flow {cause}"),
        (None, None) => {}
    }
    if part.in_window {
        name += ", while the window is full";
    }
    name
}

/// Annotations of a part.
fn facts(flow: &Flow, part: &Part) -> Vec<Annotation> {
    let mut facts = vec![
        Annotation::whole("flow", flow.number),
        Annotation::text("due_to", part.delay.words()),
        Annotation::text("at", &part.port.to_string()),
        Annotation::whole("time_ps", part.to - part.from),
    ];
    if let Some(cause) = part.cause {
        facts.push(Annotation::whole("cause", cause));
    }
    if let Some(root) = &part.root {
        facts.push(Annotation::text("root", &root.to_string()));
    }
    facts
}

/// A port: its node's name and its number.
type Place<'a> = (&'a str, u64);

/// Rows of a table by the port and the class that they are of, in order of their start. Those of one class do
/// not overlap. Times are in ps.
struct Intervals<'a>(BTreeMap<Place<'a>, Vec<OfClass>>);

/// A class with its intervals: start, end and row.
type OfClass = (u64, Vec<(u64, u64, usize)>);

impl<'a> Intervals<'a> {
    fn of(rows: impl Iterator<Item = (Place<'a>, u64, (u64, u64))>) -> Self {
        let mut ports: BTreeMap<Place, Vec<OfClass>> = BTreeMap::new();
        for (row, (place, class, (from, until))) in rows.enumerate() {
            let classes = ports.entry(place).or_default();
            let known = classes.iter().position(|(number, _)| *number == class);
            let known = known.unwrap_or_else(|| {
                classes.push((class, Vec::new()));
                classes.len() - 1
            });
            classes[known].1.push((from, until, row));
        }
        ports.values_mut().flatten().for_each(|(_, rows)| rows.sort_unstable());
        Self(ports)
    }

    /// The rows that cover a time, one per class at most.
    fn all(&self, place: Place<'a>, time: u64) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let classes = self.0.get(&place).map_or(&[][..], Vec::as_slice);
        classes.iter().filter_map(move |(_, rows)| covering(rows, time))
    }

    /// The row that covers a time.
    fn at(&self, place: Place<'_>, class: u64, time: u64) -> Option<usize> {
        let classes = self.0.get(&place)?;
        let (_, rows) = classes.iter().find(|(number, _)| *number == class)?;
        covering(rows, time)
    }
}

fn covering(rows: &[(u64, u64, usize)], time: u64) -> Option<usize> {
    let begun = rows.partition_point(|(from, _, _)| *from <= time);
    let (_, until, row) = *rows.get(begun.checked_sub(1)?)?;
    (time < until).then_some(row)
}
