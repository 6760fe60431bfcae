//! Deadlocks in words: which ports wait for each other, since when, and what became of the rest.

use floodway_model::Table;
use floodway_model::tables::{counters, deadlocks};

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
            format!(
                "Deadlock: {} ports wait for each other since {}: {} → {} (class {}; {} wait there).",
                rows.len(),
                words::time(closed),
                way.join(" → "),
                way[0],
                class.join(", "),
                words::bytes(bytes as f64),
            )
        })
        .collect();
    let counters = counters::View::of(tables);
    let number = |name: &str| {
        let at = counters?.name.iter().position(|other| other == name)?;
        Some(counters?.value[at] as f64)
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    fn tables(cycles: &[u64], behind: u64, moved: u64) -> Vec<Table> {
        let rows = cycles.len();
        let nodes = (0..rows).map(|row| format!("leaf {row}")).collect();
        let names = ["ports_behind_deadlocks", "last_moved_ns"].map(str::to_owned).to_vec();
        let found = complete(
            Table::new("deadlocks", "")
                .u64("cycle", "", cycles.to_vec())
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
                     leaf 0 (class 1; 6.00 KB wait there).";
        let second = "Deadlock: 2 ports wait for each other since 1.40 ms: leaf 3 → leaf 4 → leaf 3 \
                      (class 1; 4.00 KB wait there).";
        let both = sentences(&tables(&[0, 0, 0, 1, 1], 0, 5_000_000), 5e6);
        assert_eq!(both, [first, second]);
        let rest = " Behind them wait 7 more. Nothing has moved anywhere since 1.50 ms; the run \
                    ended at 5.00 ms.";
        assert_eq!(sentences(&tables(&[0, 0, 0], 7, 1_500_000), 5e6), [format!("{first}{rest}")]);
    }

    #[test]
    fn nothing_is_said_of_none() {
        assert_eq!(sentences(&tables(&[], 0, 0), 5e6), Vec::<String>::new());
        assert_eq!(sentences(&[], 5e6), Vec::<String>::new());
    }
}
