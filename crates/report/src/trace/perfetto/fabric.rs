//! Queues, links and pauses, by node and port.

use std::collections::{BTreeMap, HashMap};
use std::io;

use floodway_model::Table;

use super::message::Counter;
use super::writer::{TrackId, Writer};
use crate::metrics::table;
use crate::scalars::tier_label;

/// The table of what ports did from moment to moment.
pub const MOMENTS: &str = "moments";
/// The table of what waited in queues.
const BACKLOGS: &str = "backlogs";
/// The table of pauses.
const STRETCHES: &str = "stretches";

/// A port: its node's name and its number.
type Place<'a> = (&'a str, u64);

/// What was recorded of a port, by rows of the tables.
#[derive(Default)]
struct Port {
    moments: Vec<usize>,
    backlogs: BTreeMap<u64, Vec<usize>>,
    stretches: BTreeMap<u64, Vec<usize>>,
}

/// Writes what was recorded, ports that did nothing left out.
pub fn write(tables: &[Table], writer: &mut Writer) -> io::Result<()> {
    let (Some(links), Some(pauses)) = (table(tables, "links"), table(tables, "pauses")) else {
        return Ok(());
    };
    let mut recorded: HashMap<Place, Port> = HashMap::new();
    let moments = table(tables, MOMENTS);
    for (row, place) in places(moments) {
        recorded.entry(place).or_default().moments.push(row);
    }
    let backlogs = table(tables, BACKLOGS);
    for (row, place) in places(backlogs) {
        let queue = backlogs.map_or(0, |backlogs| backlogs.u64s("queue")[row]);
        recorded.entry(place).or_default().backlogs.entry(queue).or_default().push(row);
    }
    let stretches = table(tables, STRETCHES);
    for (row, place) in places(stretches) {
        let class = stretches.map_or(0, |stretches| stretches.u64s("class")[row]);
        recorded.entry(place).or_default().stretches.entry(class).or_default().push(row);
    }

    let tiers: HashMap<&str, u64> = pauses
        .texts("node")
        .iter()
        .map(String::as_str)
        .zip(pauses.u64s("tier").iter().copied())
        .collect();
    let mut groups: BTreeMap<u64, TrackId> = BTreeMap::new();
    let mut nodes: HashMap<&str, TrackId> = HashMap::new();
    for (row, place) in places(Some(links)) {
        let Some(port) = recorded.get(&place) else { continue };
        let tier = tiers.get(place.0).copied().unwrap_or_default();
        let group = match groups.get(&tier) {
            Some(group) => *group,
            None => {
                let rank = 1 + tier as usize;
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
        let name = format!("port {} → {}", place.1, links.texts("peer")[row]);
        let track = writer.group(Some(node), place.1 as usize, &name, "")?;
        if let Some(moments) = moments {
            busy(writer, track, moments, &port.moments)?;
        }
        for (&queue, rows) in &port.backlogs {
            let backlogs = backlogs.expect("rows are of a table");
            waiting(writer, track, queue, backlogs, rows)?;
        }
        for (&class, rows) in &port.stretches {
            let stretches = stretches.expect("rows are of a table");
            paused(writer, track, class, stretches, rows)?;
        }
    }
    Ok(())
}

/// The rows of a table with the ports that they are of.
fn places(table: Option<&Table>) -> impl Iterator<Item = (usize, Place<'_>)> {
    let named = table.map(|table| table.texts("node").iter().zip(table.u64s("port")));
    named.into_iter().flatten().map(|(node, &port)| (node.as_str(), port)).enumerate()
}

/// How busy the port's wire was between one moment and the next, in percent.
fn busy(writer: &mut Writer, port: TrackId, table: &Table, rows: &[usize]) -> io::Result<()> {
    let (times, spans) = (table.f64s("time_ns"), table.f64s("interval_ns"));
    let busy = table.f64s("busy_ns");
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
    // The moment at which a run begins has no time before it.
    for &row in rows.iter().filter(|row| spans[**row] > 0.0) {
        let from = times[row] - spans[row];
        // Of moments at which the port did nothing there are no rows.
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
    table: &Table,
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
        let backlog = table.u64s("backlog_bytes")[row];
        writer.whole(track, table.f64s("time_ns")[row], backlog)?;
    }
    Ok(())
}

/// When the port was not allowed to send a class.
fn paused(
    writer: &mut Writer,
    port: TrackId,
    class: u64,
    table: &Table,
    rows: &[usize],
) -> io::Result<()> {
    let name = format!("paused {class}");
    let track = writer.group(Some(port), 100 + class as usize, &name, "")?;
    for &row in rows {
        let span = (table.f64s("from_ns")[row], table.f64s("until_ns")[row]);
        writer.slice(track, span, ("pause", &name), Vec::new())?;
    }
    Ok(())
}
