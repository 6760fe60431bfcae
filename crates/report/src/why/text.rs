//! Explanations for the terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use floodway_model::Delay;

use super::{Cut, Explanation, Flow, Group, Packet, Port, Root};
use crate::words;

/// Lines of a flow, and of the list of roots.
const LINES: usize = 12;
const ROOTS: usize = 5;

/// The explanation of the sample, and of these flows one by one.
pub fn text(of: &Explanation, flows: &[u64]) -> String {
    let groups = of.groups();
    let mut text = match of.sample.len() {
        0 => String::new(),
        all if all == of.measured => format!("{all} measured flows\n\n"),
        some => format!("a sample of {some} of {} measured flows\n\n", of.measured),
    };
    for ((workload, class), group) in &groups {
        text += &sentence(of, (*workload, *class), group);
    }
    if !groups.is_empty() {
        text += &table(of, &groups);
    }
    text += &roots(of);
    for flow in flows.iter().filter_map(|flow| of.flow(*flow)) {
        text += &of_flow(of, flow);
    }
    text
}

pub(super) fn time(ps: u64) -> String {
    words::time(ps as f64 / 1e3)
}

pub(super) fn percent(part: u64, of: u64) -> String {
    if of == 0 {
        return "0 %".to_owned();
    }
    let percent = 100.0 * part as f64 / of as f64;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn name(of: &Explanation, (workload, class): (usize, usize)) -> String {
    format!("{}, {}", of.workload(workload), of.classes.label(class))
}

/// The answer for a group: where most of the time beyond the ideal goes.
fn sentence(of: &Explanation, which: (usize, usize), group: &Group) -> String {
    let mean = time(group.mean(group.total) as u64);
    let excess = group.total.saturating_sub(group.ideal());
    let delays = group.by_delay.iter().filter(|(delay, _)| !delay.is_ideal());
    let mut text = match group.flows {
        1 => format!("{}: 1 flow takes {mean}", name(of, which)),
        flows => format!("{}: {flows} flows take {mean} on average", name(of, which)),
    };
    match delays.max_by_key(|(_, time)| **time).filter(|_| excess > 0) {
        Some((delay, time)) => {
            text += &format!(
                ", of which {} is delay; {} of the delay is due to {}",
                percent(excess, group.total),
                percent(*time, excess),
                delay.words()
            );
            let paused = group.by_root.values().fold(0, |sum: u64, time| sum.saturating_add(*time));
            let root = group.by_root.iter().max_by_key(|(_, time)| **time);
            if let Some((port, time)) = root.filter(|_| *delay == Delay::Paused) {
                let share = percent(*time, paused);
                text += &format!(", {share} of them because of the queue of {port}");
                let flows = of.filled_by(port);
                if !flows.is_empty() {
                    text += &format!(", which {flows} fill");
                }
            }
            text += ".\n";
        }
        None => text += ", and nothing delays them.\n",
    }
    text
}

/// Shares of the completion time, by group and kind.
fn table(of: &Explanation, groups: &BTreeMap<(usize, usize), Group>) -> String {
    let mut rows = vec![vec!["Share of the completion time".to_owned()]];
    rows[0].extend(groups.keys().map(|which| name(of, *which)));
    let mut row = |label: &str, time: &dyn Fn(&Group) -> u64| {
        let cells = groups.values().map(|group| percent(time(group), group.total));
        rows.push(std::iter::once(label.to_owned()).chain(cells).collect());
    };
    row("ideal: serialization and propagation", &Group::ideal);
    for delay in Delay::ALL.into_iter().filter(|delay| !delay.is_ideal()) {
        if groups.values().any(|group| group.by_delay.contains_key(&delay)) {
            row(delay.words(), &|group| group.by_delay.get(&delay).copied().unwrap_or(0));
        }
    }
    columns(&rows)
}

pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    // Numbers end together, with their units and intervals; names and sentences begin together. The first row may be a
    // heading.
    let is_number = |cell: &String| {
        let digit_first =
            cell.trim_start_matches(['-', '+', '≥']).starts_with(|c: char| c.is_ascii_digit());
        cell.is_empty() || digit_first && (cell.split(' ').count() <= 2 || cell.contains('['))
    };
    let of_numbers = |column: usize| {
        let body = if rows.len() > 1 { &rows[1..] } else { rows };
        body.iter().filter_map(|row| row.get(column)).all(is_number)
    };
    let ends: Vec<bool> = (0..count).map(of_numbers).collect();
    let mut text = "\n".to_owned();
    for row in rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (column, cell) in row.iter().enumerate().skip(1) {
            let width = widths[column];
            match ends[column] {
                true => line += &format!("  {cell:>width$}"),
                false => line += &format!("  {cell:<width$}"),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The queues because of which others are paused.
fn roots(of: &Explanation) -> String {
    let roots = of.roots();
    if roots.is_empty() {
        return String::new();
    }
    let head = [
        "Roots of pauses",
        "pauses",
        "paused for",
        "longest chain",
        "flows delayed",
        "their time lost",
        "filled by",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for root in roots.iter().take(ROOTS) {
        rows.push(vec![
            root.port.to_string(),
            root.pauses.to_string(),
            time(root.total),
            root.depth.to_string(),
            root.victims.len().to_string(),
            time(root.lost),
            of.filled_by(&root.port),
        ]);
    }
    let mut text = columns(&rows);
    if roots.len() > ROOTS {
        let _ = writeln!(text, "and {} more", roots.len() - ROOTS);
    }
    text
}

/// The victims of a root, those that lost most first.
pub fn victims(of: &Explanation, root: &Root) -> String {
    let mut text = match root.pauses {
        0 => format!("{}: packets are held back because of it, without pauses.\n", root.port),
        pauses => format!(
            "{}: {pauses} pauses from {} to {} have their root there, {} in all; the longest chain has {}.\n",
            root.port,
            time(root.first),
            time(root.last),
            time(root.total),
            match root.depth {
                1 => "1 pause".to_owned(),
                more => format!("{more} pauses"),
            }
        ),
    };
    let all = root.flows.iter().fold(0, |sum: u64, (_, time)| time.saturating_add(sum));
    if !root.flows.is_empty() {
        let mut rows = vec![["  Flow that fills it", "share"].map(str::to_owned).to_vec()];
        for (flow, time) in root.flows.iter().take(LINES) {
            rows.push(vec![format!("  {}", of.name_of(*flow)), percent(*time, all)]);
        }
        text += columns(&rows).trim_start_matches('\n');
        if let more @ 1.. = root.flows.len().saturating_sub(LINES) {
            let _ = writeln!(text, "  and {more} more");
        }
    }
    text += "Flows of the sample that are delayed:\n";
    let mut rows = vec![
        ["  Flow", "from", "to", "size", "time lost", "of its time"].map(str::to_owned).to_vec(),
    ];
    for (number, lost) in &root.victims {
        let Some(flow) = of.flow(*number) else { continue };
        rows.push(vec![
            format!("  {}", of.name_of(*number)),
            flow.ends.0.clone(),
            flow.ends.1.clone(),
            words::bytes(flow.bytes as f64),
            time(*lost),
            percent(*lost, flow.fct),
        ]);
    }
    match rows.len() {
        1 => text + "  none\n",
        _ => text + columns(&rows).trim_start_matches('\n'),
    }
}

/// What lowered the rate and the window of a flow, a line for each reason.
fn cuts(flow: &Flow) -> String {
    let mut reasons: Vec<(&Cut, Vec<&Cut>)> = Vec::new();
    for cut in &flow.cuts {
        let same =
            |of: &Cut| (&of.limit, &of.reason, &of.place) == (&cut.limit, &cut.reason, &cut.place);
        match reasons.iter_mut().find(|(of, _)| same(of)) {
            Some((_, cuts)) => cuts.push(cut),
            None => reasons.push((cut, vec![cut])),
        }
    }
    let mut text = String::new();
    for (first, cuts) in reasons.iter().take(LINES) {
        let last = cuts.last().expect("it has the first one");
        let lowest = cuts.iter().map(|cut| cut.after).fold(f64::INFINITY, f64::min);
        let quantity = |value: f64| match &*first.limit {
            "rate" => words::quantity(value, "b/s"),
            _ => words::bytes(value),
        };
        let why = match (&*first.reason, &first.place) {
            ("mark", Some(place)) => format!("marks at {place}"),
            ("notification", Some(place)) => format!("notifications of {place}"),
            ("loss", _) => "losses".to_owned(),
            _ => "what the sender measured".to_owned(),
        };
        let (times, when) = match cuts.len() {
            1 => ("once".to_owned(), format!("at {}", time(first.at))),
            many => {
                (format!("{many} times"), format!("from {} to {}", time(first.at), time(last.at)))
            }
        };
        let _ = writeln!(
            text,
            "  {} reduced {times} because of {why}, {when}: from {} down to {}",
            first.limit,
            quantity(first.before),
            quantity(lowest)
        );
    }
    text
}

/// The delays of a flow by place, in the order in which it met them.
fn of_flow(of: &Explanation, flow: &Flow) -> String {
    let ideal = flow.totals.iter().filter(|total| total.delay.is_ideal());
    let ideal = ideal.fold(0, |sum: u64, total| sum.saturating_add(total.time));
    let mut text = format!(
        "\nFlow {} ({}): {} to {}, {}, started at {}, took {}, {:.2} times the ideal\n",
        flow.number,
        of.workload(flow.workload),
        flow.ends.0,
        flow.ends.1,
        words::bytes(flow.bytes as f64),
        time(flow.start),
        time(flow.fct),
        flow.slowdown,
    );
    if let Some(after) = flow.after {
        let _ = writeln!(text, "  It waited for {} before it began.", of.name_of(after));
    }
    let delays = || flow.totals.iter().filter(|total| !total.delay.is_ideal());
    let mut largest: Vec<u64> = delays().map(|total| total.time).collect();
    largest.sort_unstable_by_key(|time| std::cmp::Reverse(*time));
    let least = largest.get(LINES - 1).copied().unwrap_or(0);
    let mut rows = vec![vec!["  ideal".to_owned(), time(ideal), percent(ideal, flow.fct)]];
    let mut left = 0;
    for total in delays() {
        if total.time < least {
            left = total.time.saturating_add(left);
            continue;
        }
        let mut what = format!("  {}: {}", total.port, total.delay.words());
        if let Some(root) = &total.root {
            what += &format!(" because of {root}");
        }
        if total.in_window {
            what += ", while the window is full";
        }
        let cause = total.most.map_or(String::new(), |(cause, _)| match total.causes {
            1 => of.name_of(cause),
            more => format!("mostly {}, of {more} flows", of.name_of(cause)),
        });
        rows.push(vec![what, time(total.time), percent(total.time, flow.fct), cause]);
    }
    if left > 0 {
        rows.push(vec!["  elsewhere".to_owned(), time(left), percent(left, flow.fct)]);
    }
    text += columns(&rows).trim_start_matches('\n');
    for (packet, node, reason) in flow.losses.iter().take(LINES) {
        let _ = writeln!(text, "  packet {packet} was dropped at {node}: {reason}");
    }
    if !flow.marks.is_empty() {
        let place = |(port, packets): &(Port, u64)| format!("{packets} at {port}");
        let places: Vec<String> = flow.marks.iter().map(place).collect();
        let _ = writeln!(text, "  packets marked: {}", places.join(", "));
    }
    text + &cuts(flow) + &packets(of, flow)
}

/// The packets of a flow that were delayed most.
fn packets(of: &Explanation, flow: &Flow) -> String {
    if flow.packets.is_empty() {
        return String::new();
    }
    let delay = |packet: &Packet| {
        let delays = packet.parts.iter().filter(|part| !part.delay.is_ideal());
        delays.fold(0, |sum: u64, part| part.time().saturating_add(sum))
    };
    let mut slowest: Vec<&Packet> = flow.packets.iter().collect();
    slowest.sort_by_key(|packet| std::cmp::Reverse(delay(packet)));
    slowest.truncate(LINES);
    let mut rows = vec![
        ["  Packet", "generated", "took", "delayed", "most of it"].map(str::to_owned).to_vec(),
    ];
    for packet in slowest {
        let (Some(first), Some(last)) = (packet.parts.first(), packet.parts.last()) else {
            continue;
        };
        // By place and cause, as a packet may wait behind many others.
        type Place<'a> = (&'a Port, Delay, Option<&'a Port>);
        let mut places: BTreeMap<Place<'_>, (u64, BTreeMap<u64, u64>)> = BTreeMap::new();
        for part in packet.parts.iter().filter(|part| !part.delay.is_ideal()) {
            let place = (&part.port, part.delay, part.root.as_ref());
            let (sum, flows) = places.entry(place).or_default();
            *sum = part.time().saturating_add(*sum);
            if let Some(flow) = part.cause {
                let by = flows.entry(flow).or_default();
                *by = part.time().saturating_add(*by);
            }
        }
        let largest = places.iter().max_by_key(|(_, (time, _))| *time);
        let largest = largest.map_or(String::new(), |((port, delay, root), (sum, flows))| {
            let cause = match (root, flows.len()) {
                (Some(root), _) => format!(" because of {root}"),
                (None, 1) => flows.keys().map(|flow| format!(", {}", of.name_of(*flow))).collect(),
                (None, 0) => String::new(),
                (None, many) => format!(", {many} flows"),
            };
            format!("{port}: {}{cause} ({})", delay.words(), time(*sum))
        });
        rows.push(vec![
            format!("  {}", packet.number),
            time(first.from),
            time(last.to.saturating_sub(first.from)),
            time(delay(packet)),
            largest,
        ]);
    }
    let arrived = words::count(flow.packets.len() as f64);
    format!("  Of {arrived} packets that arrived, those that were delayed most:\n")
        + columns(&rows).trim_start_matches('\n')
}
