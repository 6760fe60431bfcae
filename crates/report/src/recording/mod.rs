//! The record of a run as the page plays it back: the fabric at a bounded number of samples, each
//! port in four bytes.

mod cell;
pub mod fabric;

use std::collections::HashMap;

use floodway_model::Table;
use floodway_model::tables::{links, record, samples};

use crate::deadlock;

pub use cell::{Cell, LEVELS_PER_DOUBLING, ROOT, SMALLEST};
pub use fabric::{End, Fabric, Node};

/// The most samples that are played back.
pub const MOST_SAMPLES: usize = 200;
/// The most ports at samples, so that a page stays small: fewer samples of a large fabric.
const MOST_CELLS: usize = 600_000;
/// Of samples before everything stands still, one in so many is shown afterwards.
const STILL: usize = 10;

/// The record of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Where things lie.
    pub fabric: Fabric,
    /// The first sample, ns. Its times count from the beginning of the run.
    pub first_ns: f64,
    /// Time from each sample to the next, ns.
    pub interval_ns: f64,
    /// How many samples there are.
    pub samples: usize,
    /// Each of so many samples of the record is one.
    pub every: usize,
    /// When the cycle of ports closed in which the run ends, in ns; `None` without a deadlock.
    pub deadlock_ns: Option<f64>,
    /// What ports were like: those of the first sample in the order of [`Fabric::ends`], then those of
    /// the next.
    pub cells: Vec<Cell>,
    /// All of them together at each sample.
    pub totals: Vec<Total>,
}

/// The whole fabric at a sample. Every link counts, also where several are drawn as one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Ports that were paused at some time since the sample before.
    pub paused: u32,
    /// Ports from which pauses spread.
    pub roots: u32,
    /// What waits in all ports, bytes.
    pub backlog: u64,
    /// Time paused, in shares of the interval, summed over ports.
    pub paused_shares: f64,
}

/// A port between two samples, and at the second.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    busy_ns: f64,
    paused_ns: f64,
    backlog: u64,
    held: u64,
}

/// Whether a run was recorded and its network is too large to be drawn.
pub fn too_large(tables: &[Table]) -> bool {
    record::View::of(tables).is_some()
        && links::View::of(tables).is_some_and(|links| links.rows() > fabric::MOST_ENDS)
}

impl Recording {
    /// From the tables of a run; `None` if it was not recorded or is too large to be drawn.
    pub fn of(tables: &[Table]) -> Option<Self> {
        let record = record::View::of(tables)?;
        let (first_ns, step_ns) = (record.first_ns[0], record.interval_ns[0]);
        let recorded = *record.recorded_samples.first()? as usize;
        // After a deadlock in which nothing moves any more, every sample is like the one before.
        let moving = deadlock::last_moved_ns(tables).map_or(recorded, |moved| {
            let until = ((moved - first_ns) / step_ns).ceil().max(0.0) as usize;
            until + (until / STILL).max(1) + 1
        });
        let recorded = recorded.min(moving);
        let (fabric, of_row) = Fabric::of(tables)?;
        let links = links::View::of(tables)?;
        let most = (MOST_CELLS / fabric.ends.len()).clamp(1, MOST_SAMPLES);
        let every = recorded.div_ceil(most).max(1);
        let samples = recorded.div_ceil(every);
        if samples == 0 {
            return None;
        }
        let sums = sums(tables, links, (first_ns, step_ns), (every, samples))?;
        let mut recording = Self {
            first_ns,
            interval_ns: step_ns * every as f64,
            samples,
            every,
            deadlock_ns: deadlock::closed_ns(tables),
            cells: Vec::with_capacity(samples * fabric.ends.len()),
            totals: Vec::with_capacity(samples),
            fabric,
        };
        // By row of the table: the switch that sends, and the one that receives.
        let nodes = |row: usize| {
            let end = &recording.fabric.ends[of_row[row]];
            (end.node, end.peer)
        };
        let nodes: Vec<(usize, usize)> = (0..of_row.len()).map(nodes).collect();
        for (sample, ports) in sums.chunks(of_row.len()).enumerate() {
            let interval = if sample == 0 { first_ns } else { recording.interval_ns };
            let roots = roots(&recording.fabric, &nodes, ports);
            recording.add(interval, ports, &roots, &of_row);
        }
        Some(recording)
    }

    /// Adds a sample of the table's rows.
    fn add(&mut self, interval: f64, ports: &[Sum], roots: &[bool], of_row: &[usize]) {
        let mut cells = vec![cell::Members::default(); self.fabric.ends.len()];
        let mut total = Total::default();
        for ((port, &root), &end) in ports.iter().zip(roots).zip(of_row) {
            let share = |ns: f64| if interval > 0.0 { (ns / interval).min(1.0) } else { 0.0 };
            let paused = share(port.paused_ns);
            cells[end].add(share(port.busy_ns), paused, (port.backlog, port.held), root);
            total.paused += u32::from(paused > 0.0);
            total.roots += u32::from(root);
            total.backlog += port.backlog;
            total.paused_shares += paused;
        }
        self.cells.extend(cells.iter().map(cell::Members::cell));
        self.totals.push(total);
    }

    /// A port, by its end, at a sample.
    pub fn cell(&self, sample: usize, end: usize) -> Cell {
        self.cells[sample * self.fabric.ends.len() + end]
    }

    /// When a sample is, ns.
    pub fn time_ns(&self, sample: usize) -> f64 {
        self.first_ns + self.interval_ns * sample as f64
    }

    /// The sample that shows most: where most was paused, or else where most waits. And how much that
    /// is, to compare with that of other runs.
    pub fn worst(&self) -> (usize, (f64, u64)) {
        let much = |total: &Total| (total.paused_shares, total.backlog);
        // Of samples alike the first: the last of the greatest, from the end.
        let samples = self.totals.iter().map(much).enumerate().rev();
        let worst = samples.max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        worst.unwrap_or_default()
    }

    /// Whether something is held back at any port and sample.
    pub fn holds(&self) -> bool {
        self.cells.iter().any(|cell| cell.held > 0)
    }

    /// The four bytes of every port at every sample, kind by kind and port by port, so that what is
    /// alike stands together: how busy, how deep, how long paused, how much held back.
    pub fn bytes(&self) -> Vec<u8> {
        let ends = self.fabric.ends.len();
        let kinds: [fn(&Cell) -> u8; 4] =
            [|cell| cell.busy, |cell| cell.depth, |cell| cell.paused, |cell| cell.held];
        let mut bytes = Vec::with_capacity(kinds.len() * self.cells.len());
        for kind in kinds {
            for end in 0..ends {
                bytes.extend(self.cells.iter().skip(end).step_by(ends).map(kind));
            }
        }
        bytes
    }
}

/// The ports of the table `links` at those of the record's samples that are played back, sample by
/// sample: what they did is summed over the samples between, what waits is that of the sample.
fn sums(
    tables: &[Table],
    links: links::View<'_>,
    (first_ns, step_ns): (f64, f64),
    (every, samples): (usize, usize),
) -> Option<Vec<Sum>> {
    let ports = links.node.iter().map(String::as_str).zip(links.port.iter());
    let row_of: HashMap<(&str, u64), usize> =
        ports.enumerate().map(|(row, (node, &port))| ((node, port), row)).collect();
    let rows = samples::View::of(tables)?;
    let mut sums = vec![Sum::default(); links.rows() * samples];
    let (times, nodes, ports) = (rows.time_ns, rows.node, rows.port);
    let (busy, paused) = (rows.busy_ns, rows.paused_ns);
    let backlogs = rows.backlog_bytes;
    for row in 0..rows.rows() {
        let number = libm::round((times[row] - first_ns) / step_ns.max(1e-3)) as usize;
        let sample = number.div_ceil(every);
        let Some(&port) = row_of.get(&(nodes[row].as_str(), ports[row])) else { continue };
        // What comes after the last that is played back.
        let Some(sum) = sums.get_mut(sample * links.rows() + port) else { continue };
        sum.busy_ns += busy[row];
        sum.paused_ns += paused[row];
        if number.is_multiple_of(every) {
            sum.backlog = backlogs[row];
            sum.held = rows.held[row];
        }
    }
    Some(sums)
}

/// Where pauses come from: of a switch that pauses others the ports that may send and where the most
/// waits, or half as much. A switch whose deepest queue is that of a port that is paused itself only
/// hands pauses on.
fn roots(fabric: &Fabric, nodes: &[(usize, usize)], ports: &[Sum]) -> Vec<bool> {
    let mut pauses = vec![false; fabric.nodes.len()];
    let mut deepest = vec![0; fabric.nodes.len()];
    for (&(node, peer), port) in nodes.iter().zip(ports) {
        pauses[peer] |= port.paused_ns > 0.0 && fabric.nodes[peer].hosts == 0;
        deepest[node] = port.backlog.max(deepest[node]);
    }
    let root = |(&(node, _), port): (&(usize, usize), &Sum)| {
        pauses[node]
            && port.paused_ns == 0.0
            && port.backlog > 0
            && 2 * port.backlog >= deepest[node]
    };
    nodes.iter().zip(ports).map(root).collect()
}

#[cfg(test)]
mod tests;
