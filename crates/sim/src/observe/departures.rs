//! Departures from the data queues of switches: histograms of the queue length and of the sojourn
//! time, and sojourn times over time. Each length has a bin of its own; times use the bins of [`sojourn_bin`].

use floodway_model::table::Table;
use floodway_model::tables::{departures, sojourn_series, sojourns};
use floodway_model::{Duration, Instant, NodeId};
use serde::{Deserialize, Serialize};

use super::{At, Fact, Kinds, Observer, Setup};
use crate::Spec;
use crate::metric::{fine_edge, sojourn_bin};
use crate::outcome::{name_of, tier_of};
use crate::session::reading::Waits;

/// Lengths up to this have a bin of their own; longer ones share one.
const LONGEST: u64 = 4_095;

/// The most intervals of a series.
const INTERVALS: usize = 400;

/// The departures of the measurement, by switch, port and queue.
#[derive(Debug, Serialize, Deserialize)]
pub struct Departures {
    /// Data queues per port.
    per_port: usize,
    /// When the measurement begins.
    from: Instant,
    /// The shortest interval of a series.
    interval: Duration,
    /// By node: of its ports and their queues; empty until a packet has left one.
    nodes: Vec<Vec<Queue>>,
}

/// What is known of one queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Queue {
    histograms: Histograms,
    series: Series,
}

/// Sojourn times over time, in intervals that double whenever there are too many.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Series {
    /// Length of the intervals; zero before the first departure.
    interval: Duration,
    intervals: Vec<Interval>,
}

/// Departures in an interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Interval {
    count: u64,
    /// Sum of the sojourn times, in ps.
    total: u128,
    max: Duration,
}

impl Interval {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.total += other.total;
        self.max = self.max.max(other.max);
    }
}

impl Series {
    /// Counts a packet that leaves after `sojourn`, so long after the measurement began.
    fn count(&mut self, shortest: Duration, after: Duration, sojourn: Duration) {
        if self.interval.0 == 0 {
            self.interval = Duration(shortest.0.max(1));
        }
        while after.0 / self.interval.0 >= INTERVALS as u64 {
            let pair = |pair: &[Interval]| {
                let mut sum = Interval::default();
                pair.iter().for_each(|one| sum.add(one));
                sum
            };
            self.intervals = self.intervals.chunks(2).map(pair).collect();
            self.interval = Duration(2 * self.interval.0);
        }
        let at = (after.0 / self.interval.0) as usize;
        if self.intervals.len() <= at {
            self.intervals.resize_with(at + 1, Interval::default);
        }
        self.intervals[at].add(&Interval { count: 1, total: sojourn.0.into(), max: sojourn });
    }
}

/// Histograms of one queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Histograms {
    /// By length in packets, up to the longest that occurred.
    lengths: Vec<u64>,
    /// By bin of the sojourn time.
    sojourns: Vec<u64>,
    /// Number of departures.
    count: u64,
    /// Sum of the sojourn times, in ps.
    total: u128,
    /// The longest sojourn time.
    max: Duration,
}

impl Histograms {
    /// Counts a packet that leaves after `sojourn`, at the head of a queue of `length` packets,
    /// itself included.
    fn count(&mut self, length: u64, sojourn: Duration) {
        count_in(&mut self.lengths, length.min(LONGEST + 1) as usize);
        count_in(&mut self.sojourns, sojourn_bin(sojourn));
        self.count += 1;
        self.total += u128::from(sojourn.0);
        self.max = self.max.max(sojourn);
    }

    fn mean_ns(&self) -> f64 {
        self.total as f64 / self.count as f64 / 1e3
    }

    /// The lengths that occurred: (packets, departures); `u64::MAX` stands for all above
    /// [`LONGEST`].
    fn lengths(&self) -> impl Iterator<Item = (u64, u64)> {
        let edge = |length| if length > LONGEST { u64::MAX } else { length };
        filled(&self.lengths).map(move |(length, count)| (edge(length as u64), count))
    }

    /// The sojourn times that occurred: (upper edge of the bin in ns, departures).
    fn sojourns(&self) -> impl Iterator<Item = (u64, u64)> {
        filled(&self.sojourns).map(|(bin, count)| (fine_edge(bin), count))
    }
}

fn count_in(bins: &mut Vec<u64>, bin: usize) {
    if bins.len() <= bin {
        bins.resize(bin + 1, 0);
    }
    bins[bin] += 1;
}

fn filled(bins: &[u64]) -> impl Iterator<Item = (usize, u64)> {
    bins.iter().copied().enumerate().filter(|(_, count)| *count > 0)
}

impl Observer for Departures {
    const WANTS: Kinds = Kinds::LEAVES;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let nodes = setup.spec.graph.nodes.len();
        setup.spec.departures.then(|| Self {
            per_port: setup.spec.switch.queue.count.into(),
            from: Instant::ZERO + setup.spec.warmup,
            interval: setup.spec.sample_interval,
            nodes: vec![Vec::new(); nodes],
        })
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        let Fact::Leaves { port, queue, length, since } = *fact else { return };
        if at.is_measured {
            let queues = &mut self.nodes[at.node.index()];
            let place = port * self.per_port + queue;
            if queues.len() <= place {
                queues.resize_with(place + 1, Queue::default);
            }
            let sojourn = at.now - since;
            queues[place].histograms.count(length, sojourn);
            queues[place].series.count(self.interval, at.now - self.from, sojourn);
        }
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.nodes.iter_mut().zip(other.nodes) {
            if !theirs.is_empty() {
                *mine = theirs;
            }
        }
    }
}

impl Departures {
    /// The sojourn times of a queue so far; `None` if nothing has left it on this thread.
    pub fn waits(&self, node: NodeId, port: usize, queue: usize) -> Option<Waits> {
        let of = &self.nodes[node.index()].get(port * self.per_port + queue)?.histograms;
        Some(Waits::new(of.count, of.total, &of.sojourns))
    }

    /// The queues that packets have left: (node, port, queue), and what is known of them.
    fn queues(&self) -> impl Iterator<Item = ((NodeId, usize, usize), &Queue)> {
        (0..).zip(&self.nodes).flat_map(move |(node, queues)| {
            let used = queues.iter().enumerate().filter(|(_, of)| of.histograms.count > 0);
            used.map(move |(place, of)| {
                ((NodeId(node), place / self.per_port, place % self.per_port), of)
            })
        })
    }
}

/// One row per queue that had departures.
pub fn sojourns(spec: &Spec, departures: Option<&Departures>) -> Table {
    let queues = departures.into_iter().flat_map(Departures::queues);
    let row = |((node, port, queue), of): (_, &Queue)| sojourns::Row {
        node: name_of(spec, node),
        tier: tier_of(spec, node),
        port: port as u64,
        queue: queue as u64,
        departures: of.histograms.count,
        mean_sojourn_ns: of.histograms.mean_ns(),
        max_sojourn_ns: of.histograms.max.as_ns(),
    };
    queues.map(row).collect()
}

/// One row per queue and interval that had departures.
pub fn series(spec: &Spec, departures: Option<&Departures>) -> Table {
    let rows = departures.into_iter().flat_map(|departures| {
        departures.queues().flat_map(move |((node, port, queue), of)| {
            let series = &of.series;
            let used = series.intervals.iter().enumerate().filter(|(_, of)| of.count > 0);
            used.map(move |(at, of)| sojourn_series::Row {
                node: name_of(spec, node),
                port: port as u64,
                queue: queue as u64,
                time_ns: (departures.from + series.interval * (at as u64 + 1)).0 as f64 / 1e3,
                interval_ns: series.interval.as_ns(),
                departures: of.count,
                mean_sojourn_ns: of.total as f64 / of.count as f64 / 1e3,
                max_sojourn_ns: of.max.as_ns(),
            })
        })
    });
    rows.collect()
}

/// One row per bin that occurred, in order of queue, kind and bin.
pub fn table(spec: &Spec, departures: Option<&Departures>) -> Table {
    let queues = departures.into_iter().flat_map(Departures::queues);
    let rows = |((node, port, queue), of): (_, &Queue)| {
        let row = |kind: &str, (up_to, departures): (u64, u64)| departures::Row {
            node: name_of(spec, node),
            tier: tier_of(spec, node),
            port: port as u64,
            queue: queue as u64,
            kind: kind.to_owned(),
            up_to,
            departures,
        };
        let of = &of.histograms;
        let lengths = of.lengths().map(|bin| row("packets", bin));
        lengths.chain(of.sojourns().map(|bin| row("sojourn_ns", bin))).collect::<Vec<_>>()
    };
    queues.flat_map(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_of_lengths_and_times() {
        let mut of = Histograms::default();
        for (length, us) in [(1, 0), (1, 3), (4_095, 6), (4_096, 1_000), (70_000, 11)] {
            of.count(length, Duration::from_us(us));
        }
        let lengths: Vec<_> = of.lengths().collect();
        assert_eq!(lengths, [(1, 2), (4_095, 1), (u64::MAX, 2)]);
        let times: Vec<_> = of.sojourns().map(|(_, count)| count).collect();
        assert_eq!(times, [1, 1, 1, 1, 1]);
        assert_eq!((of.count, of.max), (5, Duration::from_ms(1)));
        assert_eq!(of.mean_ns(), 204_000.0);
    }

    /// Five departures in intervals of 1 us; the one after 500 us doubles them to 2 us.
    #[test]
    fn intervals_double_when_there_are_too_many() {
        let mut of = Series::default();
        let us = Duration::from_us;
        for (after, sojourn) in [(0, 1), (0, 3), (1, 2), (3, 5)] {
            of.count(us(1), us(after), us(sojourn));
        }
        let known = |of: &Series| -> Vec<(u64, u128, u64)> {
            let some = of.intervals.iter().map(|of| (of.count, of.total / 1_000_000, of.max.0));
            some.map(|(count, total, max)| (count, total, max / 1_000_000)).collect()
        };
        assert_eq!(known(&of), [(2, 4, 3), (1, 2, 2), (0, 0, 0), (1, 5, 5)]);
        of.count(us(1), us(500), us(7));
        assert_eq!((of.interval, of.intervals.len()), (us(2), 251));
        assert_eq!(known(&of)[..2], [(3, 6, 3), (1, 5, 5)]);
        assert_eq!(known(&of)[250], (1, 7, 7));
    }
}
