//! The critical path of flows that depend on each other: which flow held which up, and by what.

use std::collections::BTreeMap;
use std::fmt::Write;

use floodway_model::Delay;

use super::text::{columns, percent, time};
use super::{Explanation, Flow};

/// A flow on the critical path. Times are in ps.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The flow.
    pub flow: u64,
    /// Its start.
    pub from: u64,
    /// When the next one began; of the last one, its completion.
    pub to: u64,
    /// What it spent that time on, as long as it had not completed.
    pub by_delay: BTreeMap<Delay, u64>,
    /// The time after its completion in which the next one did not begin yet.
    pub idle: u64,
}

impl Explanation {
    /// The flows on which one depends, as far as they are explained, the first one first: each is the last one that
    /// the next waited for.
    pub fn path(&self, last: u64) -> Vec<u64> {
        let before = |number: &u64| {
            let before = self.flow(*number)?.after?;
            self.flow(before).map(|flow| flow.number)
        };
        let mut flows: Vec<u64> = std::iter::successors(Some(last), before).collect();
        flows.reverse();
        flows
    }

    /// What these flows spent the time on until the next one began. `None` if one of them is not detailed.
    pub fn chain(&self, last: u64) -> Option<Vec<Link>> {
        let flows = self.path(last);
        let next = |place: usize| flows.get(place + 1).and_then(|next| self.flow(*next));
        let links = flows
            .iter()
            .enumerate()
            .map(|(place, number)| link(self.flow(*number)?, next(place).map(|next| next.start)));
        links.collect()
    }
}

fn link(flow: &Flow, to: Option<u64>) -> Option<Link> {
    let completed = flow.end();
    let to = to.unwrap_or(completed);
    let mut by_delay: BTreeMap<Delay, u64> = BTreeMap::new();
    if flow.parts.is_empty() {
        return None;
    }
    for part in flow.parts.iter().filter(|part| part.from < to) {
        let time = by_delay.entry(part.delay).or_default();
        *time = time.saturating_add(part.to.min(to).saturating_sub(part.from));
    }
    let idle = to.saturating_sub(completed);
    Some(Link { flow: flow.number, from: flow.start, to, by_delay, idle })
}

/// Lines of the list of flows.
const LINES: usize = 40;

/// A critical path as text.
pub fn chain(of: &Explanation, links: &[Link]) -> String {
    let (Some(first), Some(last)) = (links.first(), links.last()) else { return String::new() };
    let total = last.to.saturating_sub(first.from);
    let mut text = format!(
        "Critical path to {}: {} flows, {} from {} to {}\n",
        of.name_of(last.flow),
        links.len(),
        time(total),
        time(first.from),
        time(last.to)
    );
    let mut rows = vec![
        ["  Flow", "from", "to", "holds up the next for", "of it ideal", "largest delay"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut sums: BTreeMap<Delay, u64> = BTreeMap::new();
    let mut idle = 0;
    for (place, link) in links.iter().enumerate() {
        idle = link.idle.saturating_add(idle);
        for (delay, time) in &link.by_delay {
            let sum = sums.entry(*delay).or_default();
            *sum = time.saturating_add(*sum);
        }
        let Some(flow) = of.flow(link.flow).filter(|_| place < LINES) else { continue };
        let took = link.to.saturating_sub(link.from);
        let ideal = ideal(&link.by_delay);
        let delays = link.by_delay.iter().filter(|(delay, _)| !delay.is_ideal());
        let largest = delays
            .max_by_key(|(_, time)| **time)
            .map_or(String::new(), |(delay, most)| format!("{} ({})", delay.words(), time(*most)));
        rows.push(vec![
            format!("  {}", of.name_of(link.flow)),
            flow.ends.0.clone(),
            flow.ends.1.clone(),
            time(took),
            percent(ideal, took),
            largest,
        ]);
    }
    text += columns(&rows).trim_start_matches('\n');
    if links.len() > LINES {
        let _ = writeln!(text, "  and {} more", links.len() - LINES);
    }
    let mut rows =
        vec![vec!["Share of the critical path".to_owned(), String::new(), String::new()]];
    let mut row = |label: &str, part: u64| {
        if part > 0 {
            rows.push(vec![label.to_owned(), percent(part, total), time(part)]);
        }
    };
    row("ideal: serialization and propagation", ideal(&sums));
    for (delay, part) in sums.iter().filter(|(delay, _)| !delay.is_ideal()) {
        row(delay.words(), *part);
    }
    row("between the end of a flow and the start of the next", idle);
    text + &columns(&rows)
}

fn ideal(by_delay: &BTreeMap<Delay, u64>) -> u64 {
    by_delay.iter().filter(|(delay, _)| delay.is_ideal()).map(|(_, time)| time).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{Part, Port};
    use super::*;

    fn flow(number: u64, after: Option<u64>, start: u64, parts: &[(Delay, u64)]) -> Flow {
        let port = Port { node: "host 1".to_owned(), port: 0, peer: "leaf 0".to_owned() };
        let mut at = start;
        let part = |(delay, length): &(Delay, u64)| {
            let from = at;
            at += length;
            let port = port.clone();
            Part { from, to: at, delay: *delay, port, in_window: false, cause: None, root: None }
        };
        let parts: Vec<Part> = parts.iter().map(part).collect();
        Flow {
            number,
            workload: 0,
            bytes: 1,
            ends: ("host 1".to_owned(), "host 2".to_owned()),
            start,
            fct: at - start,
            slowdown: 1.0,
            after,
            totals: Vec::new(),
            parts,
            losses: Vec::new(),
            marks: Vec::new(),
            cuts: Vec::new(),
            packets: Vec::new(),
            stands_for: 1.0,
        }
    }

    /// The first flow holds up the second before it has completed, the third begins some time after the second
    /// has; a fourth one has nothing to do with them.
    #[test]
    fn the_path_has_no_gap() {
        use Delay::{Paused, Rate, Serialization};
        let flows = vec![
            flow(0, None, 1_000, &[(Serialization, 300), (Paused, 500), (Serialization, 200)]),
            flow(1, Some(0), 1_600, &[(Serialization, 400)]),
            flow(2, Some(1), 2_250, &[(Rate, 50), (Serialization, 100)]),
            flow(3, None, 0, &[(Serialization, 9_000)]),
        ];
        let of = Explanation {
            measured: 4,
            workload_of: (0..4).map(|flow| (flow, 0)).collect(),
            workloads: vec!["ring".to_owned()],
            classes: Default::default(),
            sample: vec![0, 1, 2, 3],
            flows,
            pauses: Vec::new(),
            fillers: BTreeMap::new(),
        };
        let links = of.chain(2).unwrap();
        let found: Vec<(u64, u64, u64, u64)> =
            links.iter().map(|link| (link.flow, link.from, link.to, link.idle)).collect();
        assert_eq!(found, [(0, 1_000, 1_600, 0), (1, 1_600, 2_250, 250), (2, 2_250, 2_400, 0)]);
        assert_eq!(links[0].by_delay, BTreeMap::from([(Serialization, 300), (Paused, 300)]));
        for link in &links {
            let parts: u64 = link.by_delay.values().sum();
            assert_eq!(parts + link.idle, link.to - link.from);
        }
        let text = chain(&of, &links);
        for words in [
            "Critical path to flow 2 (ring): 3 flows, 1.40 ns",
            "pauses (0.300 ns)",
            "between the end of a flow and the start of the next",
        ] {
            assert!(text.contains(words), "{words}:\n{text}");
        }
    }
}
