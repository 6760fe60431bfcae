//! Jobs: how long their ranks compute and wait, and of those that did not finish who waits for whom.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::{ranks, trace_nodes, waits};

use crate::scalars::{Scalar, put};
use crate::statistics::mean;
use crate::summary::Summary;
use crate::throughput::Shown;
use crate::{sampling, words};

/// Ranks of a job that are shown.
const SHOWN: usize = 16;

/// Steps of a job that did not finish that are named.
const NAMED: usize = 4;

/// A rank of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// Workload, counted from 0.
    pub workload: u64,
    /// Its number in the job, and that of the node that is its host.
    pub rank: (u64, u64),
    /// When it finished, in ns; NaN if it did not.
    pub finish_ns: f64,
    /// Time during which it computed.
    pub compute_ns: f64,
    /// The rest of its time.
    pub exposed_ns: f64,
}

/// Of each job the ranks that finished last, those that did not before all others.
pub fn last(tables: &[Table]) -> Vec<Rank> {
    let Some(of) = ranks::View::of(tables) else { return Vec::new() };
    let rank = |row: usize| Rank {
        workload: of.workload[row],
        rank: (of.rank[row], of.node[row]),
        finish_ns: of.finish_ns[row],
        compute_ns: of.compute_ns[row],
        exposed_ns: of.exposed_ns[row],
    };
    let mut all: Vec<Rank> = (0..of.rows()).map(rank).collect();
    // NaN is above all numbers.
    all.sort_by(|a, b| {
        let key = |of: &Rank| (of.workload, of.rank);
        a.workload
            .cmp(&b.workload)
            .then(b.finish_ns.total_cmp(&a.finish_ns))
            .then(key(a).cmp(&key(b)))
    });
    let jobs = all.chunk_by(|a, b| a.workload == b.workload);
    jobs.flat_map(|ranks| ranks.iter().take(SHOWN).cloned()).collect()
}

/// Adds `workload_<n>_mean_compute_ns`, `workload_<n>_mean_exposed_ns`, `workload_<n>_max_exposed_ns` and
/// `workload_<n>_ranks_unfinished`, where there are jobs.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let Some(of) = ranks::View::of(tables) else { return };
    let mut jobs: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    (0..of.rows()).for_each(|row| jobs.entry(of.workload[row]).or_default().push(row));
    for (workload, rows) in jobs {
        let all = |column: &[f64]| rows.iter().map(|&row| column[row]).collect::<Vec<f64>>();
        let (compute, exposed) = (all(of.compute_ns), all(of.exposed_ns));
        let cut = sampling::cut(tables) == Some(workload);
        let unfinished = rows.iter().filter(|&&row| of.finish_ns[row].is_nan() && !cut).count();
        let most = exposed.iter().copied().fold(0.0, f64::max);
        let waited = "time in which a rank computed nothing because it waited for messages";
        for (name, value, unit, meaning) in [
            ("mean_compute_ns", mean(&compute), "ns", "mean time in which a rank computed,"),
            ("mean_exposed_ns", mean(&exposed), "ns", &*format!("mean {waited},")),
            ("max_exposed_ns", most, "ns", &*format!("largest {waited},")),
            ("ranks_unfinished", unfinished as f64, "", "ranks not finished when the run ended,"),
        ] {
            let meaning = format!("{meaning} of the job of workload {workload}");
            put(scalars, &format!("workload_{workload}_{name}"), value, unit, &meaning);
        }
    }
}

/// What some variant has of exposed communication and of computation, by workload in their order.
pub(crate) fn times_of(summary: &Summary) -> Vec<Shown> {
    let of = |name: &str, what: &'static str| {
        let shown = Shown::by_workload(summary, name).into_iter();
        shown.map(move |shown| Shown { label: format!("{}, {what}", shown.label), ..shown })
    };
    of("mean_exposed_ns", "exposed communication, mean")
        .chain(of("max_exposed_ns", "exposed communication, largest"))
        .chain(of("mean_compute_ns", "computation, mean"))
        .collect()
}

/// A few sentences for each job that had not finished when the run ended.
pub fn sentences(tables: &[Table], simulated_ns: f64) -> Vec<String> {
    let Some(of) = ranks::View::of(tables) else { return Vec::new() };
    let mut jobs: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for row in 0..of.rows() {
        let (ranks, left) = jobs.entry(of.workload[row]).or_default();
        *ranks += 1;
        *left += usize::from(of.finish_ns[row].is_nan());
    }
    // Of which only some rounds were simulated.
    let cut = sampling::cut(tables);
    let unfinished = jobs.into_iter().filter(|(job, (_, left))| *left > 0 && cut != Some(*job));
    unfinished
        .map(|(workload, (ranks, left))| {
            let nodes = Nodes::of(tables);
            let steps =
                waits::View::of(tables).map_or_else(Vec::new, |of| named(&of, &nodes, workload));
            format!(
                "The job of workload {workload} was not finished when the run ended at {}: {left} of \
                 {ranks} ranks had steps left.{}",
                words::time(simulated_ns),
                steps.concat()
            )
        })
        .collect()
}

/// The steps for which a job waits: first those that depend on nothing but the network and the time, then
/// those that wait for another rank to send.
fn named(of: &waits::View<'_>, nodes: &Nodes, workload: u64) -> Vec<String> {
    let is_send = |row: usize| of.kind[row] == "send";
    let received: Vec<f64> =
        (0..of.rows()).filter(|&row| of.kind[row] == "receive").map(|row| of.flow[row]).collect();
    // A message that waits at both ends is named once.
    let own = |row: &usize| {
        of.workload[*row] == workload && !(is_send(*row) && received.contains(&of.flow[*row]))
    };
    let mut rows: Vec<usize> = (0..of.rows()).filter(own).collect();
    let waits_for_rank = |row: usize| of.kind[row] == "receive" && of.sent[row] == 0;
    rows.sort_by_key(|&row| waits_for_rank(row));
    let mut sentences: Vec<String> = Vec::new();
    let mut more = 0u64;
    for row in rows {
        let sentence = sentence(of, nodes, row);
        // A collective may wait for several messages of which the same is to be said.
        if sentences.contains(&sentence) {
            continue;
        }
        match sentences.len() < NAMED {
            true => sentences.push(sentence),
            false => more += 1,
        }
    }
    if more > 0 {
        sentences.push(format!(" The table waits has {more} more."));
    }
    sentences
}

/// Nodes of traces, by workload, rank and first step: number of steps, identifier and name.
struct Nodes(BTreeMap<(u64, u64, u64), (u64, String)>);

impl Nodes {
    fn of(tables: &[Table]) -> Self {
        let Some(of) = trace_nodes::View::of(tables) else { return Self(BTreeMap::new()) };
        let node = |row: usize| {
            let (id, name) = (of.id[row], &of.name[row]);
            let text = match &**name {
                "" => format!("trace node {id}"),
                name => format!("trace node {id}, {name}"),
            };
            ((of.workload[row], of.rank[row], of.first_step[row]), (of.steps[row], text))
        };
        Self((0..of.rows()).map(node).collect())
    }

    /// What the node of a step is called, if it is of a trace.
    fn name(&self, workload: u64, rank: u64, step: f64) -> Option<String> {
        let step = step as u64;
        let (key, (steps, text)) = self.0.range(..=(workload, rank, step)).next_back()?;
        let is_in = (key.0, key.1) == (workload, rank) && step < key.2 + steps;
        is_in.then(|| text.clone())
    }
}

fn sentence(of: &waits::View<'_>, nodes: &Nodes, row: usize) -> String {
    let (rank, node, peer) = (of.rank[row], of.node[row], of.peer[row]);
    let step =
        |rank: u64, step: f64, line: u64| match (line, nodes.name(of.workload[row], rank, step)) {
            (0, Some(name)) => name,
            (0, None) => format!("step {step}"),
            (line, _) => format!("line {line}"),
        };
    let here = step(rank, of.step[row] as f64, of.line[row]);
    let there = step(peer as u64, of.peer_step[row], of.peer_line[row]);
    let who = format!("Rank {rank} on node {node} ({here})");
    let since = words::time(of.since_ns[row]);
    let size = words::bytes(of.bytes[row] as f64);
    match &*of.kind[row] {
        "compute" => format!(" {who} computes since {since}."),
        "delay" => format!(" {who} has not ended, which began at {since}."),
        "send" => format!(" {who} sends {size} to rank {peer} since {since}."),
        _ if of.sent[row] == 0 => format!(
            " {who} waits since {since} for {size} that rank {peer} has not begun to send ({there})."
        ),
        _ => format!(
            " {who} waits since {since} for {size} that rank {peer} sends ({there}), of which {} have \
             arrived.",
            words::bytes(of.delivered_bytes[row] as f64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// Three ranks, of which the first has finished.
    fn ranks() -> Table {
        complete(
            Table::new("ranks", "")
                .u64("workload", "", vec![2; 3])
                .u64("rank", "", vec![0, 1, 2])
                .u64("node", "", vec![5, 6, 7])
                .f64("finish_ns", "", vec![900.0, f64::NAN, f64::NAN])
                .f64("compute_ns", "", vec![100.0, 200.0, 600.0])
                .f64("exposed_ns", "", vec![800.0, 1_800.0, 1_400.0]),
        )
    }

    #[test]
    fn times_by_hand() {
        let mut scalars = BTreeMap::new();
        add(&[ranks()], &mut scalars);
        let value = |name: &str| scalars[&format!("workload_2_{name}")].value;
        assert_eq!((value("mean_compute_ns"), value("ranks_unfinished")), (300.0, 2.0));
        assert_eq!((value("mean_exposed_ns"), value("max_exposed_ns")), (4_000.0 / 3.0, 1_800.0));
        let order: Vec<u64> = last(&[ranks()]).iter().map(|rank| rank.rank.0).collect();
        assert_eq!(order, [1, 2, 0]);
        assert!(last(&[]).is_empty() && sentences(&[], 0.0).is_empty());
    }

    #[test]
    fn a_job_that_is_not_finished_says_who_waits_for_whom() {
        // Rank 2 waits for two equal messages of rank 1, which waits for a message of rank 0, which is acknowledged to it.
        let waits = complete(
            Table::new("waits", "")
                .u64("workload", "", vec![2; 4])
                .u64("rank", "", vec![2, 2, 0, 1])
                .u64("node", "", vec![7, 7, 5, 6])
                .u64("step", "", vec![3, 5, 0, 1])
                .u64("line", "", vec![31, 31, 11, 0])
                .text("kind", "", texts(&["receive", "receive", "send", "receive"]))
                .f64("since_ns", "", vec![250.0, 250.0, 100.0, 500.0])
                .f64("peer", "", vec![1.0, 1.0, 1.0, 0.0])
                .f64("peer_step", "", vec![4.0, 6.0, 1.0, 0.0])
                .u64("peer_line", "", vec![24, 24, 0, 11])
                .f64("flow", "", vec![9.0, 10.0, 8.0, 8.0])
                .u64("bytes", "", vec![64, 64, 2_000, 2_000])
                .u64("delivered_bytes", "", vec![0, 0, 1_000, 1_000])
                .u64("sent", "", vec![0, 0, 1, 1]),
        );
        let nodes = complete(
            Table::new("trace_nodes", "")
                .u64("workload", "", vec![2; 3])
                .u64("rank", "", vec![1, 1, 2])
                .u64("id", "", vec![40, 41, 9])
                .text("name", "", texts(&["", "gradients", "loss"]))
                .u64("first_step", "", vec![0, 1, 0])
                .u64("steps", "", vec![1, 2, 1]),
        );
        let with_nodes = sentences(&[ranks(), waits.clone(), nodes], 2_000.0).concat();
        assert!(
            with_nodes.contains("Rank 1 on node 6 (trace node 41, gradients) waits"),
            "{with_nodes}"
        );
        // Lines are named where there are some.
        assert!(with_nodes.contains("Rank 2 on node 7 (line 31) waits"), "{with_nodes}");
        assert_eq!(
            sentences(&[ranks(), waits], 2_000.0),
            [
                "The job of workload 2 was not finished when the run ended at 2.00 µs: 2 of 3 ranks had steps left. \
             Rank 1 on node 6 (step 1) waits since 500 ns for 2.00 KB that rank 0 sends (line 11), of which 1.00 KB \
             have arrived. Rank 2 on node 7 (line 31) waits since 250 ns for 64.0 B that rank 1 has not begun to \
             send (line 24)."
            ]
        );
    }
}
