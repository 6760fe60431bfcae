//! Queues, links and pauses, by node and port.

use std::collections::{BTreeMap, HashMap};
use std::io;

use floodway_model::Table;
use floodway_model::tables::{backlogs, links, pause_intervals, pauses, samples};

use super::explained::Told;
use super::message::Counter;
use super::writer::{TrackId, Writer};
use crate::scalars::tier_label;

/// A port: its node's name and its number.
type Place<'a> = (&'a str, u64);

/// What was recorded of a port, by rows of the tables.
#[derive(Default)]
struct Port {
    samples: Vec<usize>,
    backlogs: BTreeMap<u64, Vec<usize>>,
    pause_intervals: BTreeMap<u64, Vec<usize>>,
}

/// Writes what was recorded, ports that did nothing left out. Arrows lead from pauses to explained flows.
pub fn write(tables: &[Table], told: &Told, writer: &mut Writer) -> io::Result<()> {
    let (Some(links), Some(pauses)) = (links::View::of(tables), pauses::View::of(tables)) else {
        return Ok(());
    };
    let mut recorded: HashMap<Place, Port> = HashMap::new();
    let samples = samples::View::of(tables);
    if let Some(samples) = &samples {
        for (row, place) in places(samples.node, samples.port) {
            recorded.entry(place).or_default().samples.push(row);
        }
    }
    let backlogs = backlogs::View::of(tables);
    if let Some(backlogs) = &backlogs {
        for (row, place) in places(backlogs.node, backlogs.port) {
            let queues = &mut recorded.entry(place).or_default().backlogs;
            queues.entry(backlogs.queue[row]).or_default().push(row);
        }
    }
    let pause_intervals = pause_intervals::View::of(tables);
    if let Some(pause_intervals) = &pause_intervals {
        for (row, place) in places(pause_intervals.node, pause_intervals.port) {
            let classes = &mut recorded.entry(place).or_default().pause_intervals;
            classes.entry(pause_intervals.class[row]).or_default().push(row);
        }
    }

    let tiers: HashMap<&str, u64> =
        pauses.node.iter().map(String::as_str).zip(pauses.tier.iter().copied()).collect();
    let mut groups: BTreeMap<u64, TrackId> = BTreeMap::new();
    let mut nodes: HashMap<&str, TrackId> = HashMap::new();
    for (row, place) in places(links.node, links.port) {
        let Some(port) = recorded.get(&place) else { continue };
        let tier = tiers.get(place.0).copied().unwrap_or_default();
        let group = match groups.get(&tier) {
            Some(group) => *group,
            None => {
                let rank = 2 + tier as usize;
                let group = writer.group(None, rank, &tier_label(tier), "")?;
                *groups.entry(tier).or_insert(group)
            }
        };
        let node = match nodes.get(place.0) {
            Some(node) => *node,
            None => {
                let node = writer.group(Some(group), row, place.0, "")?;
                *nodes.entry(place.0).or_insert(node)
            }
        };
        let name = format!("port {} → {}", place.1, links.peer[row]);
        let track = writer.group(Some(node), place.1 as usize, &name, "")?;
        if let Some(samples) = &samples {
            busy(writer, track, samples, &port.samples)?;
        }
        for (&queue, rows) in &port.backlogs {
            let backlogs = backlogs.as_ref().expect("rows are of a table");
            waiting(writer, track, queue, backlogs, rows)?;
        }
        for (&class, rows) in &port.pause_intervals {
            let pause_intervals = pause_intervals.as_ref().expect("rows are of a table");
            paused(writer, track, class, (pause_intervals, rows), told)?;
        }
    }
    Ok(())
}

/// The rows of a table with the ports that they are of.
fn places<'a>(nodes: &'a [String], ports: &'a [u64]) -> impl Iterator<Item = (usize, Place<'a>)> {
    nodes.iter().zip(ports).map(|(node, &port)| (node.as_str(), port)).enumerate()
}

/// How busy the port's wire was between one sample and the next, in percent.
fn busy(
    writer: &mut Writer,
    port: TrackId,
    table: &samples::View<'_>,
    rows: &[usize],
) -> io::Result<()> {
    let (times, spans) = (table.time_ns, table.interval_ns);
    let busy = table.busy_ns;
    if rows.iter().all(|row| busy[*row] == 0.0) {
        return Ok(());
    }
    let counter = Counter {
        unit_name: Some("%".to_owned()),
        y_axis_share_key: Some("busy".to_owned()),
        ..Counter::default()
    };
    let track = writer.counter(port, 0, "busy", counter)?;
    let mut known_until = 0.0;
    // The sample at which a run begins has no time before it.
    for &row in rows.iter().filter(|row| spans[**row] > 0.0) {
        let from = times[row] - spans[row];
        // Of samples at which the port did nothing there are no rows.
        if from > known_until {
            writer.real(track, known_until, 0.0)?;
        }
        writer.real(track, from, busy[row] / spans[row] * 100.0)?;
        known_until = times[row];
    }
    writer.real(track, known_until, 0.0)
}

/// What waited in a queue.
fn waiting(
    writer: &mut Writer,
    port: TrackId,
    queue: u64,
    table: &backlogs::View<'_>,
    rows: &[usize],
) -> io::Result<()> {
    let counter = Counter {
        unit: Some(3),
        y_axis_share_key: Some("waiting".to_owned()),
        ..Counter::default()
    };
    let rank = 1 + queue as usize;
    let track = writer.counter(port, rank, &format!("queue {queue}"), counter)?;
    for &row in rows {
        let backlog = table.backlog_bytes[row];
        writer.whole(track, table.time_ns[row], backlog)?;
    }
    Ok(())
}

/// When the port was not allowed to send a class.
fn paused(
    writer: &mut Writer,
    port: TrackId,
    class: u64,
    (table, rows): (&pause_intervals::View<'_>, &[usize]),
    told: &Told,
) -> io::Result<()> {
    let name = format!("paused {class}");
    let track = writer.group(Some(port), 100 + class as usize, &name, "")?;
    for &row in rows {
        let span = (table.from_ns[row], table.until_ns[row]);
        writer.slice(track, span, ("pause", &name), Vec::new(), told.of_pause(row))?;
    }
    Ok(())
}
