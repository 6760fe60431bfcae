//! What the charts need of a run, thinned so that many runs fit in memory.

use floodway_model::Table;
use floodway_model::tables::{deliveries, depths, flows, occupancy, switches, timeline};
use std::collections::BTreeMap;

use crate::deadlock::{self, Member};
use crate::entries::{Window, windows, workloads_of};
use crate::host_ports;
use crate::jobs;
use crate::links::{Direction, directions};
use crate::metrics::{FlowTimes, SizeClasses};
use crate::pings::PingShapes;
use crate::recording::{Fabric, Recording};
use crate::throughput;
use crate::web;
use crate::why::{Digest, Explanation};

/// How many points a thinned distribution or time series has at most.
pub const POINTS: usize = 500;

/// A distribution by its steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// Values in ascending order, each with how many values it stands for: those above the value
    /// before it, up to itself. So the distribution function is exact at each of them.
    pub steps: Vec<(f64, u64)>,
    /// How many flows have no value, because they did not finish.
    pub unfinished: u64,
}

impl Sketch {
    /// Of these values; NaN is unfinished.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut unfinished = 0;
        let known = |value: &f64| {
            unfinished += u64::from(value.is_nan());
            !value.is_nan()
        };
        let values = values.filter(known).collect();
        Self::of_known(values, unfinished)
    }

    /// Of these values, of which none is NaN.
    fn of_known(mut values: Vec<f64>, unfinished: u64) -> Self {
        // Equal values are the same bits, so that their order does not matter.
        values.sort_unstable_by(f64::total_cmp);
        let (finished, few) = (values.len() as u64, values.len() <= POINTS);
        let steps = values.into_iter().map(|value| (value, 1));
        let steps = if few { steps.collect() } else { thinned(steps, finished) };
        Self { steps, unfinished }
    }

    /// All these as one.
    pub fn pooled<'a>(sketches: impl Iterator<Item = &'a Self>) -> Self {
        let mut pool = Self::default();
        for sketch in sketches {
            pool.steps.extend(&sketch.steps);
            pool.unfinished += sketch.unfinished;
        }
        pool.steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        if pool.steps.len() > POINTS {
            let finished = pool.finished();
            pool.steps = thinned(pool.steps.into_iter(), finished);
        }
        pool
    }

    /// The least value that a share `p` of the values does not exceed; NaN of nothing.
    pub fn quantile(&self, p: f64) -> f64 {
        let rank = p * self.finished() as f64;
        let mut seen = 0;
        let reaches = |step: &&(f64, u64)| {
            seen += step.1;
            seen as f64 >= rank
        };
        self.steps.iter().find(reaches).map_or(f64::NAN, |step| step.0)
    }

    /// How many values, the missing ones included.
    pub fn count(&self) -> u64 {
        self.finished() + self.unfinished
    }

    /// How many values there are.
    pub fn finished(&self) -> u64 {
        self.steps.iter().map(|step| step.1).sum()
    }
}

/// At most [`POINTS`] of these steps, which stand for so many values: most of them evenly spread, and the last fifth
/// ever closer together towards the largest value, so that the tail keeps its shape.
fn thinned(all: impl Iterator<Item = (f64, u64)>, values: u64) -> Vec<(f64, u64)> {
    let total = values as f64;
    let (even, tail) = (POINTS * 4 / 5, POINTS / 5);
    let mut marks: Vec<f64> = (1..even).map(|at| total * at as f64 / even as f64).collect();
    let last = total / even as f64;
    let shrink = |at: usize| libm::pow(last, 1.0 - at as f64 / (tail - 1) as f64);
    marks.extend((1..tail).map(|at| total - shrink(at)));
    marks.push(total);
    let mut marks = marks.into_iter().peekable();
    let (mut steps, mut held, mut seen) = (Vec::with_capacity(POINTS), 0, 0);
    for (value, many) in all {
        held += many;
        seen += many;
        if marks.peek().is_some_and(|mark| seen as f64 >= *mark) {
            while marks.next_if(|mark| seen as f64 >= *mark).is_some() {}
            steps.push((value, held));
            held = 0;
        }
    }
    steps
}

/// An interval of the time series of one queue index over the whole fabric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// When, in nanoseconds: the middle of the interval.
    pub time_ns: f64,
    /// Mean backlog over ports and the interval.
    pub mean_backlog_bytes: f64,
    /// Largest backlog in the interval.
    pub max_backlog_bytes: u64,
    /// Largest number of paused ports in the interval.
    pub paused_ports: u64,
}

/// An interval of the time series of what data takes of all switches' memory together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InUse {
    /// When, in nanoseconds: the middle of the interval.
    pub time_ns: f64,
    /// Mean over the interval.
    pub mean_bytes: f64,
    /// The most in the interval.
    pub max_bytes: f64,
}

/// How many samples had a backlog of at most so many bytes, by the upper edge of the bin.
pub type Depths = BTreeMap<u64, u64>;

/// What a flow had delivered at each sample: when, in nanoseconds, and how many bytes until then.
pub type Deliveries = Vec<(f64, u64)>;

/// How many flows a chart of rates has at most.
pub const MOST_RATES: usize = 16;

/// What the charts need of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// Completion times by size class.
    pub fct: Vec<Sketch>,
    /// Slowdowns by flow size, in bins of a factor of two, by the power of two below.
    pub slowdowns: BTreeMap<u32, SizeBin>,
    /// How long packets waited, by queue, at the port at which they waited most in all.
    pub waits: BTreeMap<u64, Depths>,
    /// Queueing delay over time, by queue, at that port: the time and the mean, in ns.
    pub delays: BTreeMap<u64, Vec<(f64, f64)>>,
    /// Time series by queue.
    pub timeline: BTreeMap<u64, Vec<Point>>,
    /// Time series of the memory in use; none if the tables do not have the number of ports.
    pub memory: Vec<InUse>,
    /// How busy and how paused links were.
    pub links: Vec<Direction>,
    /// The network; `None` of one that is too large to be drawn.
    pub fabric: Option<Fabric>,
    /// The fabric over time, if it was recorded.
    pub recording: Option<Recording>,
    /// Distribution of backlogs by queue, over all tiers and ports.
    pub depths: BTreeMap<u64, Depths>,
    /// Distribution of what data takes of the memory of a `port` and of a `switch`, over all tiers.
    pub occupancy: BTreeMap<String, Depths>,
    /// Rates over time of the flows that have no size, by flow, as [`rates`] gives them; none if
    /// there are more than [`MOST_RATES`].
    pub rates: BTreeMap<u64, Vec<(f64, f64)>>,
    /// The workloads of these flows.
    pub workloads: BTreeMap<u64, u64>,
    /// What its flows spent their time on, if that was explained.
    pub why: Option<Digest>,
    /// The ports of the deadlocks that it ends in.
    pub deadlock: Vec<Member>,
    /// The ranks of its jobs that finished last.
    pub ranks: Vec<jobs::Rank>,
    /// What the ports of its hosts carried, if some have several.
    pub host_ports: Vec<host_ports::Ports>,
    /// Database entries over time, by workload.
    pub responses: BTreeMap<u64, Vec<Window>>,
    /// What pings measured.
    pub pings: PingShapes,
    /// Page load times by workload.
    pub pages: BTreeMap<u64, Sketch>,
}

impl Shapes {
    /// Of a run's tables and its measured flows, with the names of the workloads.
    pub fn of(
        tables: &[Table],
        measured: &FlowTimes,
        classes: &SizeClasses,
        workloads: &[String],
        simulated_ns: f64,
    ) -> Self {
        let fct = classes.each(measured, |member| {
            let members = measured.iter().filter(|flow| member(flow));
            Sketch::of(members.map(|flow| if flow.finished { flow.fct_ns } else { f64::NAN }))
        });
        let delivered = deliveries::View::of(tables).map(deliveries).unwrap_or_default();
        let few = delivered.len() <= MOST_RATES;
        let rates = delivered.iter().filter(|_| few).map(|(flow, of)| (*flow, rates(of, POINTS)));
        let rates: BTreeMap<u64, _> = rates.collect();
        let with_rates = |flows| workloads_of(flows, rates.keys().copied().collect());
        Self {
            workloads: flows::View::of(tables).map(with_rates).unwrap_or_default(),
            rates,
            responses: windows(tables),
            pings: PingShapes::of(tables),
            pages: web::sketches(tables),
            deadlock: deadlock::members(tables),
            ranks: jobs::last(tables),
            host_ports: host_ports::ports(tables),
            why: Explanation::of(tables, workloads, classes).map(|why| Digest::of(&why)),
            fct,
            slowdowns: slowdowns(measured),
            waits: throughput::waits_at_busiest(tables),
            delays: throughput::delays_at_busiest(tables),
            timeline: timeline::View::of(tables).map(timeline).unwrap_or_default(),
            memory: in_use(&memory(tables)),
            links: directions(tables, simulated_ns),
            fabric: Fabric::of(tables).map(|(fabric, _)| fabric),
            recording: Recording::of(tables),
            depths: depths::View::of(tables).map(depths).unwrap_or_default(),
            occupancy: occupancy::View::of(tables).map(occupancy).unwrap_or_default(),
        }
    }

    /// Lets go of what only one replication of a variant keeps.
    pub fn drop_timeline(&mut self) {
        self.timeline.clear();
        self.delays.clear();
        self.memory.clear();
        self.links.clear();
        self.fabric = None;
        self.recording = None;
        self.rates.clear();
        self.responses.clear();
        self.pings.drop_series();
        self.why = None;
    }
}

/// The flows of some sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeBin {
    /// The sum of their sizes.
    pub bytes: f64,
    /// Their slowdowns, of a flow that had not completed by the time that it had taken.
    pub slowdowns: Sketch,
}

impl SizeBin {
    /// All these as one, with the mean size.
    pub fn pooled<'a>(bins: impl Iterator<Item = &'a Self>) -> (f64, Sketch) {
        let bins: Vec<&Self> = bins.collect();
        let bytes: f64 = bins.iter().map(|bin| bin.bytes).sum();
        let pool = Sketch::pooled(bins.iter().map(|bin| &bin.slowdowns));
        (bytes / pool.count().max(1) as f64, pool)
    }
}

fn slowdowns(flows: &FlowTimes) -> BTreeMap<u32, SizeBin> {
    let mut bins: BTreeMap<u32, (f64, Vec<f64>)> = BTreeMap::new();
    for flow in flows.iter().filter(|flow| flow.slowdown.is_finite()) {
        let (bytes, slowdowns) = bins.entry(flow.bytes.max(1).ilog2()).or_default();
        *bytes += flow.bytes as f64;
        slowdowns.push(flow.slowdown);
    }
    let bin = |(bytes, slowdowns)| SizeBin { bytes, slowdowns: Sketch::of_known(slowdowns, 0) };
    bins.into_iter().map(|(power, flows)| (power, bin(flows))).collect()
}

fn timeline(table: timeline::View<'_>) -> BTreeMap<u64, Vec<Point>> {
    let (times, queues) = (table.time_ns, table.queue);
    let (means, maxima) = (table.mean_backlog_bytes, table.max_backlog_bytes);
    let paused = table.paused_ports;
    let mut series: BTreeMap<u64, Vec<Point>> = BTreeMap::new();
    for at in 0..table.rows() {
        series.entry(queues[at]).or_default().push(Point {
            time_ns: times[at],
            mean_backlog_bytes: means[at],
            max_backlog_bytes: maxima[at],
            paused_ports: paused[at],
        });
    }
    for points in series.values_mut() {
        points.sort_by(|a, b| a.time_ns.total_cmp(&b.time_ns));
        let interval = points.len().div_ceil(POINTS).max(1);
        *points = points.chunks(interval).map(one).collect();
    }
    series
}

/// Several points as one.
fn one(points: &[Point]) -> Point {
    let many = points.len() as f64;
    Point {
        time_ns: points.iter().map(|point| point.time_ns).sum::<f64>() / many,
        mean_backlog_bytes: points.iter().map(|point| point.mean_backlog_bytes).sum::<f64>() / many,
        max_backlog_bytes: points.iter().map(|point| point.max_backlog_bytes).max().unwrap_or(0),
        paused_ports: points.iter().map(|point| point.paused_ports).max().unwrap_or(0),
    }
}

/// What data takes of the memory of all switches together at each sample: when, in nanoseconds, and
/// how many bytes (tables `timeline` and `switches`). All data queues, without those of feedback,
/// which are the last of each port. Of a network with one switch it is that switch's memory.
pub fn memory(tables: &[Table]) -> Vec<(f64, f64)> {
    let both = timeline::View::of(tables).zip(switches::View::of(tables));
    let Some((timeline, switches)) = both else { return Vec::new() };
    let ports: u64 = switches.ports.iter().sum();
    let queues = timeline.queue;
    let feedback = queues.iter().max();
    let rows = timeline.time_ns.iter().zip(timeline.mean_backlog_bytes);
    // In order of time, which is above zero, so that its bits are in the same order.
    let mut samples: BTreeMap<u64, f64> = BTreeMap::new();
    for ((time, mean), _) in rows.zip(queues).filter(|(_, queue)| Some(*queue) != feedback) {
        *samples.entry(time.to_bits()).or_default() += mean * ports as f64;
    }
    // Means of whole bytes: the sums are whole too.
    samples.into_iter().map(|(time, bytes)| (f64::from_bits(time), libm::round(bytes))).collect()
}

/// The samples in at most [`POINTS`] intervals.
fn in_use(samples: &[(f64, f64)]) -> Vec<InUse> {
    let interval = |samples: &[(f64, f64)]| {
        let mean =
            |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / samples.len() as f64;
        InUse {
            time_ns: mean(|sample| sample.0),
            mean_bytes: mean(|sample| sample.1),
            max_bytes: samples.iter().map(|sample| sample.1).fold(0.0, f64::max),
        }
    };
    samples.chunks(samples.len().div_ceil(POINTS).max(1)).map(interval).collect()
}

/// How often the queues of each number had which backlog, over all tiers (table `depths`).
pub fn depths(table: depths::View<'_>) -> BTreeMap<u64, Depths> {
    let (queues, edges) = (table.queue, table.up_to_bytes);
    let mut depths: BTreeMap<u64, Depths> = BTreeMap::new();
    for (at, samples) in table.samples.iter().enumerate() {
        *depths.entry(queues[at]).or_default().entry(edges[at]).or_default() += samples;
    }
    depths
}

/// How often data took how much of the memory of a `port` and of a `switch`, over all tiers (table
/// `occupancy`).
pub fn occupancy(table: occupancy::View<'_>) -> BTreeMap<String, Depths> {
    let (scopes, edges) = (table.scope, table.up_to_bytes);
    let mut occupancy: BTreeMap<String, Depths> = BTreeMap::new();
    for (at, samples) in table.samples.iter().enumerate() {
        let of_scope = occupancy.entry(scopes[at].to_string()).or_default();
        *of_scope.entry(edges[at]).or_default() += samples;
    }
    occupancy
}

/// What the flows that have no size had delivered over time, by flow (table `deliveries`).
pub fn deliveries(table: deliveries::View<'_>) -> BTreeMap<u64, Deliveries> {
    let (times, bytes) = (table.time_ns, table.delivered_bytes);
    let mut deliveries: BTreeMap<u64, Deliveries> = BTreeMap::new();
    for (at, flow) in table.flow.iter().enumerate() {
        deliveries.entry(*flow).or_default().push((times[at], bytes[at]));
    }
    deliveries
}

/// The rate of a flow in Gb/s from each sample to the next, at the middle between them; as many
/// samples are taken together as it needs to have at most `most` intervals. The run begins with
/// nothing delivered.
pub fn rates(deliveries: &Deliveries, most: usize) -> Vec<(f64, f64)> {
    let together = deliveries.len().div_ceil(most).max(1);
    let (mut since, mut before) = (0.0, 0);
    let interval = |samples: &[(f64, u64)]| {
        let (time, bytes) = samples[samples.len() - 1];
        let rate = (bytes - before) as f64 * 8.0 / (time - since);
        let middle = (since + time) / 2.0;
        (since, before) = (time, bytes);
        (middle, rate)
    };
    deliveries.chunks(together).map(interval).collect()
}

/// The least upper edge of a bin that a share `p` of the samples does not exceed; 0 of nothing.
pub fn quantile(depths: &Depths, p: f64) -> u64 {
    let rank = p * depths.values().sum::<u64>() as f64;
    let mut seen = 0;
    let reaches = |(_, samples): &(&u64, &u64)| {
        seen += **samples;
        seen as f64 >= rank
    };
    depths.iter().find(reaches).map_or(0, |(edge, _)| *edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    #[test]
    fn a_small_distribution_is_kept_as_it_is() {
        let sketch = Sketch::of([3.0, 1.0, f64::NAN, 2.0].into_iter());
        assert_eq!(sketch.steps, [(1.0, 1), (2.0, 1), (3.0, 1)]);
        assert_eq!((sketch.unfinished, sketch.finished(), sketch.count()), (1, 3, 4));
    }

    #[test]
    fn memory_in_use_is_the_sum_over_data_queues_and_ports() {
        // Two switches of 3 and 4 ports, two data queues and one of feedback.
        let backlogs = [[700, 14, 66], [0, 0, 0], [35, 7, 132]];
        let rows = || (0..9).map(|row| (row / 3, row % 3));
        let mean = |(sample, queue): (usize, usize)| f64::from(backlogs[sample][queue]) / 7.0;
        let timeline = complete(
            Table::new("timeline", "")
                .f64("time_ns", "", rows().map(|row| row.0 as f64 * 500.0).collect())
                .u64("queue", "", rows().map(|row| row.1 as u64).collect())
                .f64("mean_backlog_bytes", "", rows().map(mean).collect()),
        );
        let switches = complete(Table::new("switches", "").u64("ports", "", vec![3, 4]));
        let samples = memory(&[timeline.clone(), switches]);
        assert_eq!(samples, [(0.0, 714.0), (500.0, 0.0), (1_000.0, 42.0)]);
        assert_eq!(memory(&[timeline]), []);
        // More samples than points: means and maxima of as many as it takes.
        let many: Vec<_> = (0..2 * POINTS).map(|at| (at as f64, (at % 2) as f64 * 10.0)).collect();
        let intervals = in_use(&many);
        assert_eq!(intervals.len(), POINTS);
        let first = InUse { time_ns: 0.5, mean_bytes: 5.0, max_bytes: 10.0 };
        assert_eq!(intervals[0], first);
    }

    #[test]
    fn a_large_one_keeps_its_mass_its_ends_and_its_tail() {
        let many = 100_000;
        let sketch = Sketch::of((1..=many).map(f64::from));
        assert!(sketch.steps.len() <= POINTS && sketch.steps.len() > 400);
        assert_eq!(sketch.finished(), many as u64);
        assert_eq!(sketch.steps.last().unwrap().0, f64::from(many));
        assert_eq!(sketch.quantile(0.5), 50_000.0);
        assert_eq!(sketch.quantile(1.0), f64::from(many));
        // Exact at each step, because the values are their own ranks.
        let mut seen = 0;
        for (value, mass) in &sketch.steps {
            seen += mass;
            assert_eq!(*value, seen as f64);
        }
        let beyond = sketch.steps.iter().filter(|step| step.0 > 0.999 * f64::from(many)).count();
        assert!(beyond > 20, "only {beyond} steps beyond p99.9");
    }

    #[test]
    fn pooling_does_not_depend_on_what_was_thinned() {
        let halves = [
            Sketch::of((0..4_000).map(|at| f64::from(at) * 2.0)),
            Sketch::of((0..4_000).map(|at| f64::from(at) * 2.0 + 1.0)),
        ];
        let pool = Sketch::pooled(halves.iter());
        assert_eq!(pool.finished(), 8_000);
        assert!(pool.steps.len() <= POINTS);
        let mut seen = 0;
        for (value, mass) in &pool.steps {
            seen += mass;
            assert!((value - seen as f64).abs() < 45.0, "{value} at rank {seen}");
        }
    }

    #[test]
    fn occupancy_is_summed_over_tiers() {
        let table = complete(
            Table::new("occupancy", "")
                .u64("tier", "", vec![0, 0, 0, 1, 1])
                .text(
                    "scope",
                    "",
                    ["port", "port", "switch", "port", "switch"].map(String::from).into(),
                )
                .u64("up_to_bytes", "", vec![0, 1_000, 2_000, 1_000, u64::MAX])
                .u64("samples", "", vec![90, 6, 5, 4, 1]),
        );
        let occupancy = occupancy(occupancy::View::of_table(&table).unwrap());
        assert_eq!(occupancy["port"], Depths::from([(0, 90), (1_000, 10)]));
        assert_eq!(occupancy["switch"], Depths::from([(2_000, 5), (u64::MAX, 1)]));
        // Of a hundred samples ninety are empty.
        assert_eq!(
            [0.5, 0.9, 0.901, 1.0].map(|p| quantile(&occupancy["port"], p)),
            [0, 0, 1_000, 1_000]
        );
        assert_eq!(quantile(&occupancy["switch"], 0.999), u64::MAX);
        assert_eq!(quantile(&Depths::new(), 0.5), 0);
    }

    #[test]
    fn rates_are_of_intervals() {
        // Two flows: 1250 bytes in each 100 ns are 100 Gb/s.
        let table = complete(
            Table::new("deliveries", "")
                .f64("time_ns", "", vec![100.0, 100.0, 200.0, 200.0, 300.0, 300.0])
                .u64("flow", "", vec![2, 7, 2, 7, 2, 7])
                .u64("delivered_bytes", "", vec![1_250, 0, 1_875, 1_250, 3_125, 1_250]),
        );
        let deliveries = deliveries(deliveries::View::of_table(&table).unwrap());
        assert_eq!(rates(&deliveries[&2], 10), [(50.0, 100.0), (150.0, 50.0), (250.0, 100.0)]);
        assert_eq!(rates(&deliveries[&7], 10), [(50.0, 0.0), (150.0, 100.0), (250.0, 0.0)]);
        // The first two samples together, and the last by itself.
        assert_eq!(rates(&deliveries[&2], 2), [(100.0, 75.0), (250.0, 100.0)]);
        assert_eq!(rates(&Vec::new(), 2), []);
    }

    #[test]
    fn a_long_series_is_thinned_and_keeps_its_peaks() {
        let rows = 5_000;
        let table = complete(
            Table::new("timeline", "")
                .f64("time_ns", "", (0..rows).map(f64::from).collect())
                .u64("queue", "", vec![1; rows as usize])
                .f64("mean_backlog_bytes", "", vec![10.0; rows as usize])
                .u64("max_backlog_bytes", "", (0..rows as u64).map(|at| at % 1_000).collect())
                .u64("paused_ports", "", (0..rows as u64).map(|at| u64::from(at == 777)).collect()),
        );
        let series = &timeline(timeline::View::of_table(&table).unwrap())[&1];
        assert!(series.len() <= POINTS);
        assert_eq!(series.iter().map(|point| point.max_backlog_bytes).max(), Some(999));
        assert_eq!(series.iter().map(|point| point.paused_ports).sum::<u64>(), 1);
        assert!(series.iter().all(|point| point.mean_backlog_bytes == 10.0));
    }
}
