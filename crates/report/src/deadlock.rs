//! Deadlocks in words: which ports wait for each other, since when, and what became of the rest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::{counters, deadlock_flows, deadlocks};

use crate::words;

/// One sentence or two for each cycle of ports in a run; `simulated_ns` is when it ended.
pub fn sentences(tables: &[Table], simulated_ns: f64) -> Vec<String> {
    let Some(found) = deadlocks::View::of(tables).filter(|found| found.rows() > 0) else {
        return Vec::new();
    };
    let (nodes, cycles) = (found.node, found.cycle);
    let (since, backlogs) = (found.paused_since_ns, found.backlog_bytes);
    let classes = found.class;
    let mut sentences: Vec<String> = cycles
        .chunk_by(|a, b| a == b)
        .scan(0, |first, rows| {
            let rows = *first..*first + rows.len();
            *first = rows.end;
            Some(rows)
        })
        .map(|rows| {
            let closed = since[rows.clone()].iter().copied().fold(0.0, f64::max);
            let bytes: u64 = backlogs[rows.clone()].iter().sum();
            let mut class: Vec<u64> = classes[rows.clone()].to_vec();
            class.sort_unstable();
            class.dedup();
            let class: Vec<String> = class.iter().map(u64::to_string).collect();
            let way: Vec<&str> = nodes[rows.clone()].iter().map(String::as_str).collect();
            let began = since[rows.clone()].iter().copied().fold(f64::INFINITY, f64::min);
            let last = rows.clone().find(|row| since[*row] >= closed).expect("one is the last");
            let formed = match began < closed {
                true => format!(
                    " The first of these pauses began at {}; that of {} closed the cycle.",
                    words::time(began),
                    nodes[last]
                ),
                false => String::new(),
            };
            let filled = filled(tables, cycles[rows.start]);
            format!(
                "Deadlock: {} ports wait for each other since {}: {} → {} (class {}; {} wait there{filled}).{formed}",
                rows.len(),
                words::time(closed),
                way.join(" → "),
                way[0],
                class.join(", "),
                words::bytes(bytes as f64),
            )
        })
        .collect();
    let number = |name: &str| number(tables, name);
    let last = sentences.last_mut().expect("there is a cycle");
    if let Some(behind) = number("ports_behind_deadlocks").filter(|&behind| behind > 0.0) {
        *last += &format!(" Behind them wait {} more.", words::count(behind));
    }
    if let Some(moved) = number("last_moved_ns").filter(|&moved| moved < simulated_ns) {
        *last += &format!(
            " Nothing has moved anywhere since {}; the run ended at {}.",
            words::time(moved),
            words::time(simulated_ns)
        );
    }
    sentences
}

/// A port of a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The number of the cycle.
    pub cycle: u64,
    /// The switch and the one that pauses it, by name.
    pub ends: (String, String),
    /// The class.
    pub class: u64,
    /// When its pause began, in ns.
    pub since_ns: f64,
    /// Bytes that wait in it.
    pub bytes: u64,
    /// The flows of these bytes, the one with most first.
    pub flows: Vec<(u64, u64)>,
}

/// The ports of all cycles, each cycle in the order in which its ports were paused.
pub fn members(tables: &[Table]) -> Vec<Member> {
    let Some(found) = deadlocks::View::of(tables) else { return Vec::new() };
    let filled = deadlock_flows::View::of(tables);
    let flows = |cycle: u64, place: u64| {
        let Some(filled) = &filled else { return Vec::new() };
        let rows = (0..filled.rows())
            .filter(|row| (filled.cycle[*row], filled.place[*row]) == (cycle, place));
        let mut flows: Vec<(u64, u64)> =
            rows.map(|row| (filled.flow[row], filled.bytes[row])).collect();
        flows.sort_by_key(|(flow, bytes)| (Reverse(*bytes), *flow));
        flows
    };
    let member = |row: usize| Member {
        cycle: found.cycle[row],
        ends: (found.node[row].clone(), found.peer[row].clone()),
        class: found.class[row],
        since_ns: found.paused_since_ns[row],
        bytes: found.backlog_bytes[row],
        flows: flows(found.cycle[row], found.place[row]),
    };
    let mut members: Vec<Member> = (0..found.rows()).map(member).collect();
    members.sort_by(|a, b| a.cycle.cmp(&b.cycle).then(a.since_ns.total_cmp(&b.since_ns)));
    members
}

/// Whose bytes fill a cycle.
fn filled(tables: &[Table], cycle: u64) -> String {
    let Some(found) = deadlock_flows::View::of(tables) else { return String::new() };
    let mut flows: BTreeMap<u64, u64> = BTreeMap::new();
    for row in (0..found.rows()).filter(|row| found.cycle[*row] == cycle) {
        let bytes = flows.entry(found.flow[row]).or_default();
        *bytes = found.bytes[row].saturating_add(*bytes);
    }
    match flows.len() {
        0 => String::new(),
        1 => format!(", of flow {}", flows.keys().next().expect("there is one")),
        many => {
            let all = flows.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
            let most = flows.iter().max_by_key(|(flow, bytes)| (**bytes, Reverse(**flow)));
            let (flow, bytes) = most.expect("there are some");
            let share = 100.0 * *bytes as f64 / all.max(1) as f64;
            let most = match share > 50.0 {
                true => format!(", most of them of flow {flow} ({share:.0} %)"),
                false => String::new(),
            };
            format!(", of {many} flows{most}")
        }
    }
}

/// When the last cycle of a run closed, in ns; `None` without a deadlock.
pub fn closed_ns(tables: &[Table]) -> Option<f64> {
    let found = deadlocks::View::of(tables).filter(|found| found.rows() > 0)?;
    Some(found.paused_since_ns.iter().copied().fold(0.0, f64::max))
}

/// When the last frame that came out of a queue was sent, in ns, if the run ended in a deadlock.
pub fn last_moved_ns(tables: &[Table]) -> Option<f64> {
    closed_ns(tables)?;
    number(tables, "last_moved_ns")
}

fn number(tables: &[Table], name: &str) -> Option<f64> {
    let counters = counters::View::of(tables)?;
    let at = counters.name.iter().position(|other| other == name)?;
    Some(counters.value[at] as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    fn tables(cycles: &[u64], behind: u64, moved: u64) -> Vec<Table> {
        let rows = cycles.len();
        let place =
            |row: usize| cycles[..row].iter().filter(|cycle| **cycle == cycles[row]).count() as u64;
        let nodes = (0..rows).map(|row| format!("leaf {row}")).collect();
        let names = ["ports_behind_deadlocks", "last_moved_ns"].map(str::to_owned).to_vec();
        let found = complete(
            Table::new("deadlocks", "")
                .u64("cycle", "", cycles.to_vec())
                .u64("place", "", (0..rows).map(place).collect())
                .text("node", "", nodes)
                .u64("class", "", vec![1; rows])
                .f64("paused_since_ns", "", (0..rows).map(|row| 1e6 + 1e5 * row as f64).collect())
                .u64("backlog_bytes", "", vec![2_000; rows]),
        );
        let counters = Table::new("counters", "").text("name", "", names);
        vec![found, complete(counters.u64("value", "", vec![behind, moved]))]
    }

    #[test]
    fn each_circle_is_a_sentence_and_the_last_tells_of_the_rest() {
        let first = "Deadlock: 3 ports wait for each other since 1.20 ms: leaf 0 → leaf 1 → leaf 2 → \
                     leaf 0 (class 1; 6.00 KB wait there). The first of these pauses began at 1.00 ms; that of \
                     leaf 2 closed the cycle.";
        let second = "Deadlock: 2 ports wait for each other since 1.40 ms: leaf 3 → leaf 4 → leaf 3 \
                      (class 1; 4.00 KB wait there). The first of these pauses began at 1.30 ms; that of leaf 4 \
                      closed the cycle.";
        let both = sentences(&tables(&[0, 0, 0, 1, 1], 0, 5_000_000), 5e6);
        assert_eq!(both, [first, second]);
        let rest = " Behind them wait 7 more. Nothing has moved anywhere since 1.50 ms; the run \
                    ended at 5.00 ms.";
        assert_eq!(sentences(&tables(&[0, 0, 0], 7, 1_500_000), 5e6), [format!("{first}{rest}")]);
    }

    #[test]
    fn those_that_fill_it_are_named() {
        let mut found = tables(&[0, 0, 1, 1], 0, 5_000_000);
        found.push(
            Table::new("deadlock_flows", "")
                .u64("cycle", "", vec![0, 0, 0, 1])
                .u64("place", "", vec![0, 1, 1, 0])
                .u64("flow", "", vec![7, 7, 8, 9])
                .u64("bytes", "", vec![2_000, 1_000, 1_000, 4_000]),
        );
        let said = sentences(&found, 5e6);
        assert!(
            said[0].contains("4.00 KB wait there, of 2 flows, most of them of flow 7 (75 %))."),
            "{said:?}"
        );
        assert!(said[1].contains("4.00 KB wait there, of flow 9)."), "{said:?}");
        let members = members(&found);
        let of = |member: &Member| (member.cycle, member.ends.0.clone(), member.flows.clone());
        assert_eq!(of(&members[1]), (0, "leaf 1".to_owned(), vec![(7, 1_000), (8, 1_000)]));
        assert_eq!((members.len(), members[3].since_ns), (4, 1.3e6));
        assert_eq!((closed_ns(&found), last_moved_ns(&found)), (Some(1.3e6), Some(5e6)));
    }

    #[test]
    fn nothing_is_said_of_none() {
        assert_eq!(sentences(&tables(&[], 0, 0), 5e6), Vec::<String>::new());
        assert_eq!(sentences(&[], 5e6), Vec::<String>::new());
    }
}
