//! Explanations for the terminal.

use std::collections::BTreeMap;

use floodway_model::{Duration, FlowId, NodeId};
use floodway_report::words;
use floodway_sim::delays::{Kind, Part, Story};

use super::explained::{Explanation, Flow, Group};

/// The kinds of delay, and what they are due to.
const KINDS: [(&str, &str); 11] = [
    ("paused", "pauses"),
    ("other_flows", "queueing behind other flows"),
    ("other_classes", "queueing while other classes are sent"),
    ("own_flow", "queueing behind packets of the same flow"),
    ("rate", "the rate that congestion control allows"),
    ("window", "a full window or missing credit"),
    ("handshake", "the handshake"),
    ("recovery", "loss recovery"),
    ("answer", "acknowledgements not yet sent"),
    ("held", "the scheduler or a mechanism, with an idle port"),
    ("mac_control", "queueing behind MAC control frames"),
];
/// Lines of a flow, and of the list of roots.
const LINES: usize = 12;
const ROOTS: usize = 5;

/// The explanation as text.
pub fn text(of: &Explanation) -> String {
    let groups = of.groups();
    let mut text = format!("{}, replication {}", of.run.0, of.run.1);
    let measured = of.flows.iter().filter(|flow| flow.measured).count();
    match of.sample.len() {
        0 => text += "\n",
        all if all == measured => text += &format!(": {all} measured flows\n\n"),
        some => text += &format!(": a sample of {some} of {measured} measured flows\n\n"),
    }
    for ((workload, class), group) in &groups {
        text += &sentence(of, (*workload, *class), group);
    }
    if !groups.is_empty() {
        text += &table(of, &groups);
    }
    text += &roots(of);
    for (flow, story) in of.stories() {
        text += &of_flow(of, flow, story);
    }
    text
}

fn ideal(group: &Group) -> Duration {
    ["serialization", "propagation"]
        .iter()
        .filter_map(|kind| group.by_kind.get(kind))
        .copied()
        .sum()
}

fn percent(part: Duration, of: Duration) -> String {
    if of == Duration::ZERO {
        return "0 %".to_owned();
    }
    let percent = 100.0 * part.0 as f64 / of.0 as f64;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn name(of: &Explanation, (workload, class): (usize, usize)) -> String {
    format!("{}, {}", of.workload(workload), of.classes.label(class))
}

/// The answer for a group: where most of the time beyond the ideal goes.
fn sentence(of: &Explanation, which: (usize, usize), group: &Group) -> String {
    let mean = words::time(group.total.as_ns() / group.flows as f64);
    let excess = Duration(group.total.0 - ideal(group).0);
    let most = KINDS.iter().filter_map(|(kind, words)| Some((*group.by_kind.get(kind)?, *words)));
    let mut text = match group.flows {
        1 => format!("{}: 1 flow takes {mean}", name(of, which)),
        flows => format!("{}: {flows} flows take {mean} on average", name(of, which)),
    };
    match most.max_by_key(|(time, _)| *time) {
        Some((time, words)) if excess > Duration::ZERO => {
            text += &format!(
                ", of which {} is delay; {} of the delay is due to {words}",
                percent(excess, group.total),
                percent(time, excess)
            );
            let paused: Duration = group.by_root.values().copied().sum();
            let root = group.by_root.iter().max_by_key(|(_, time)| **time);
            if let Some(((node, port), time)) = root.filter(|_| words == "pauses") {
                text += &format!(
                    ", {} of them because of the queue of {}",
                    percent(*time, paused),
                    of.port(*node, *port)
                );
            }
            text += ".\n";
        }
        _ => text += ", and nothing delays them.\n",
    }
    text
}

/// Shares of the completion time, by group and kind.
fn table(of: &Explanation, groups: &BTreeMap<(usize, usize), Group>) -> String {
    let used: Vec<&(&str, &str)> = KINDS
        .iter()
        .filter(|(kind, _)| groups.values().any(|group| group.by_kind.contains_key(kind)))
        .collect();
    let mut rows = vec![vec!["Share of the completion time".to_owned()]];
    let names = groups.keys().map(|which| name(of, *which));
    rows[0].extend(names);
    let mut row = |label: &str, time: &dyn Fn(&Group) -> Duration| {
        let cells = groups.values().map(|group| percent(time(group), group.total));
        rows.push(std::iter::once(label.to_owned()).chain(cells).collect());
    };
    row("ideal: serialization and propagation", &ideal);
    for (kind, words) in used {
        row(words, &|group| group.by_kind.get(kind).copied().unwrap_or_default());
    }
    columns(&rows)
}

fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = "\n".to_owned();
    for row in rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row[1..].iter().zip(&widths[1..]) {
            // Numbers end together, names begin together.
            let is_number = cell.starts_with(|first: char| first.is_ascii_digit());
            match is_number || row[0] == rows[0][0] {
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
        "most bytes in the queue",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for root in roots.iter().take(ROOTS) {
        rows.push(vec![
            of.port(root.queue.node, root.queue.port),
            root.pauses.to_string(),
            words::time(root.total.as_ns()),
            root.depth.to_string(),
            root.victims.to_string(),
            words::time(root.lost.as_ns()),
            of.name_of(root.queue.flow),
        ]);
    }
    let mut text = columns(&rows);
    if roots.len() > ROOTS {
        text += &format!("and {} more\n", roots.len() - ROOTS);
    }
    text
}

/// What a line of a flow is about.
type Line = (bool, NodeId, usize, &'static str, Option<(NodeId, usize)>);

/// The story of a flow: its delays by place, in the order in which it met them.
fn of_flow(of: &Explanation, flow: &Flow, story: &Story) -> String {
    let total = story.completed.since(story.began);
    let ideal = story.time(|part| part.kind.is_ideal());
    let mut text = format!(
        "\nFlow {} ({}): {} to {}, {}, started at {}, took {}, {:.2} times the ideal\n",
        flow.number,
        of.workload(flow.workload),
        of.node(story.src),
        of.node(story.dst),
        words::bytes(flow.bytes as f64),
        words::time(story.began.0 as f64 / 1e3),
        words::time(total.as_ns()),
        flow.slowdown,
    );
    let line = |part: &Part| -> Line {
        let root = of.root(part).map(|root| (root.node, root.port));
        (part.in_window, part.node, part.port, part.kind.name(), root)
    };
    let mut order: Vec<Line> = Vec::new();
    let mut times: BTreeMap<Line, (Duration, BTreeMap<FlowId, Duration>)> = BTreeMap::new();
    for part in story.parts.iter().filter(|part| !part.kind.is_ideal()) {
        let key = line(part);
        if !times.contains_key(&key) {
            order.push(key);
        }
        let time = part.to.since(part.from);
        let (sum, by) = times.entry(key).or_default();
        *sum += time;
        let cause = match part.kind {
            Kind::OtherFlow(flow) | Kind::OtherClass(flow) => Some(flow),
            Kind::Paused(number) => of.explained.pauses[number].root.map(|root| root.flow),
            _ => None,
        };
        if let Some(cause) = cause {
            *by.entry(cause).or_default() += time;
        }
    }
    let mut largest: Vec<Duration> = times.values().map(|(time, _)| *time).collect();
    largest.sort_unstable_by_key(|time| std::cmp::Reverse(*time));
    let least = largest.get(LINES - 1).copied().unwrap_or(Duration::ZERO);
    let mut rows =
        vec![vec!["  ideal".to_owned(), words::time(ideal.as_ns()), percent(ideal, total)]];
    let mut left = Duration::ZERO;
    for key in order {
        let (time, by) = &times[&key];
        if *time < least {
            left += *time;
            continue;
        }
        let (in_window, node, port, kind, root) = key;
        let words = KINDS.iter().find(|(name, _)| *name == kind).map_or(kind, |(_, words)| words);
        let mut what = format!("  {}: {words}", of.port(node, port));
        if let Some((node, port)) = root {
            what += &format!(" because of {}", of.port(node, port));
        }
        if in_window {
            what += ", while the window is full";
        }
        let most = by.iter().max_by_key(|(flow, time)| (**time, std::cmp::Reverse(**flow)));
        let cause = most.map_or(String::new(), |(flow, _)| match by.len() {
            1 => of.name_of(*flow),
            more => format!("mostly {}, of {more} flows", of.name_of(*flow)),
        });
        rows.push(vec![what, words::time(time.as_ns()), percent(*time, total), cause]);
    }
    if left > Duration::ZERO {
        rows.push(vec!["  elsewhere".to_owned(), words::time(left.as_ns()), percent(left, total)]);
    }
    text += columns(&rows).trim_start_matches('\n');
    for (packet, node, reason) in story.losses.iter().take(LINES) {
        text +=
            &format!("  packet {packet} was dropped at {}: {}\n", of.node(*node), reason.name());
    }
    text
}
