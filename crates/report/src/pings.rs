//! Latency under load: how long pings take while long-lived flows send, and before they do.
//!
//! The load lasts from the start of the first long-lived flow to the end of the last one. A ping is *idle* if its echo
//! is back before the load begins, or if there is no load at all, and *loaded* if its request is sent during the load
//! and within the measured interval. All others, such as those of the warm-up, count for neither.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::Table;
use floodway_model::tables::{counters, deliveries, flows, pings};

use crate::scalars::{Scalar, put};
use crate::shapes::{POINTS, Sketch, deliveries as delivered};
use crate::statistics::quantile;
use crate::summary::Summary;
use crate::throughput::{Shown, numbers, rate};
use crate::{video, voice, web};

/// What is measured of a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// From the request to the echo.
    RoundTrip,
    /// The request alone: from the client to the server.
    Up,
    /// The echo alone.
    Down,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::RoundTrip, Self::Up, Self::Down];

    /// What it is called in names of metrics.
    pub const fn key(self) -> &'static str {
        match self {
            Self::RoundTrip => "rtt",
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// What it is called by people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::RoundTrip => "round trip",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// The direction of a long-lived flow, as seen by the hosts that send pings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To such a host.
    Download,
    /// From such a host.
    Upload,
}

impl Direction {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Download, Self::Upload];

    /// What it is called, also in names of metrics.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Upload => "upload",
        }
    }
}

/// One ping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ping {
    /// Workload of the scenario.
    pub workload: u64,
    /// When it was sent, in nanoseconds.
    pub sent_ns: f64,
    /// How long its parts took, in the order of [`Part::ALL`]; NaN of one that did not arrive.
    times: [f64; 3],
}

impl Ping {
    /// How long a part of it took in nanoseconds; NaN if it did not arrive.
    pub fn time(&self, part: Part) -> f64 {
        self.times[part as usize]
    }
}

/// The pings of a run and the load beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pings {
    /// The pings, in order of workload and number.
    pub all: Vec<Ping>,
    /// Start of the first long-lived flow and end of the last one, in nanoseconds; infinite if it has none, and no load
    /// if both are.
    pub load: (f64, f64),
    /// By number: workload and direction of the long-lived flows that begin or end at a host that sends pings.
    pub flows: BTreeMap<u64, (u64, Direction)>,
}

impl Pings {
    /// Those of a run; `None` if it has no pings.
    pub fn of(tables: &[Table]) -> Option<Self> {
        let pings = pings::View::of(tables).filter(|pings| pings.rows() > 0)?;
        let ping = |row: usize| Ping {
            workload: pings.workload[row],
            sent_ns: pings.sent_ns[row],
            times: [pings.rtt_ns[row], pings.up_ns[row], pings.down_ns[row]],
        };
        let clients: BTreeSet<u64> = pings.client.iter().copied().collect();
        let mut found = Self {
            all: (0..pings.rows()).map(ping).collect(),
            load: (f64::INFINITY, f64::NEG_INFINITY),
            flows: BTreeMap::new(),
        };
        if let Some(flows) = flows::View::of(tables) {
            for row in (0..flows.rows()).filter(|&row| flows.bytes.at(row) == 0) {
                let stop = flows.stop_ns.at(row);
                let stop = if stop.is_nan() { f64::INFINITY } else { stop };
                found.load = (found.load.0.min(flows.start_ns.at(row)), found.load.1.max(stop));
                let direction = match [flows.src.at(row), flows.dst.at(row)] {
                    [src, _] if clients.contains(&src) => Direction::Upload,
                    [_, dst] if clients.contains(&dst) => Direction::Download,
                    _ => continue,
                };
                found.flows.insert(flows.flow.at(row), (flows.workload.at(row), direction));
            }
        }
        Some(found)
    }

    /// Those that are back before the load begins.
    pub fn idle(&self) -> impl Iterator<Item = &Ping> {
        let before = |ping: &&Ping| ping.sent_ns + ping.time(Part::RoundTrip) <= self.load.0;
        self.all.iter().filter(before)
    }

    /// Those that are sent during the load, within an interval in nanoseconds.
    pub fn loaded(&self, (from, to): (f64, f64)) -> impl Iterator<Item = &Ping> {
        let (from, to) = (from.max(self.load.0), to.min(self.load.1));
        self.all.iter().filter(move |ping| (from..to).contains(&ping.sent_ns))
    }
}

/// The measured interval.
fn measured(value: impl Fn(&str) -> Option<f64>) -> (f64, f64) {
    let from = value("warmup_ns").unwrap_or(0.0);
    (from, value("measured_ns").map_or(f64::INFINITY, |length| from + length))
}

const QUANTILES: [(&str, f64, &str); 3] =
    [("p50", 0.5, "median"), ("p95", 0.95, "95th percentile"), ("p99", 0.99, "99th percentile")];

/// Where there are pings, adds `ping_<idle|loaded>_<p50|p95|p99>_<rtt|up|down>_ns`, of several workloads with pings also
/// `workload_<n>_ping_…_rtt_ns`, `pings_loaded` and `pings_lost`, and where `flow_samples` was written
/// `download_goodput_bps` and `upload_goodput_bps`.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let Some(pings) = Pings::of(tables) else { return };
    let within = measured(|name| scalars.get(name).map(|scalar| scalar.value));
    let idle: Vec<&Ping> = pings.idle().collect();
    let loaded: Vec<&Ping> = pings.loaded(within).collect();
    let meaning = "pings that were sent under load, in the measured interval";
    put(scalars, "pings_loaded", loaded.len() as f64, "", meaning);
    let lost = loaded.iter().filter(|ping| ping.time(Part::RoundTrip).is_nan()).count();
    put(scalars, "pings_lost", lost as f64, "", "of these without an echo when the run ended");
    let workloads: BTreeSet<u64> = pings.all.iter().map(|ping| ping.workload).collect();
    for (state, those, when) in
        [("idle", &idle, "before the load begins"), ("loaded", &loaded, "under load")]
    {
        for part in Part::ALL {
            let times = those.iter().map(|ping| ping.time(part));
            quantiles("", state, part, times, &format!("of all pings {when}"), scalars);
        }
        for workload in workloads.iter().filter(|_| workloads.len() > 1) {
            let of_workload = those.iter().filter(|ping| ping.workload == *workload);
            let times = of_workload.map(|ping| ping.time(Part::RoundTrip));
            let (key, of) = (
                format!("workload_{workload}_"),
                format!("of pings of workload {workload} {when}"),
            );
            quantiles(&key, state, Part::RoundTrip, times, &of, scalars);
        }
    }
    for (direction, bps) in goodputs(&pings, tables, within) {
        let meaning = format!(
            "goodput of all flows without a size that {} a host with pings, in sum",
            if direction == Direction::Upload { "come from" } else { "go to" }
        );
        let name = format!("{}_goodput_bps", direction.key());
        put(scalars, &name, bps, "b/s", &meaning);
    }
}

fn quantiles(
    key: &str,
    state: &str,
    part: Part,
    times: impl Iterator<Item = f64>,
    of: &str,
    scalars: &mut BTreeMap<String, Scalar>,
) {
    let mut times: Vec<f64> = times.filter(|time| !time.is_nan()).collect();
    if times.is_empty() {
        return;
    }
    times.sort_by(f64::total_cmp);
    for (name, p, label) in QUANTILES {
        let meaning = format!("{label} of the time {of}, {}", part.label());
        let name = format!("{key}ping_{state}_{name}_{}_ns", part.key());
        put(scalars, &name, quantile(&times, p), "ns", &meaning);
    }
}

fn goodputs(pings: &Pings, tables: &[Table], (from, to): (f64, f64)) -> BTreeMap<Direction, f64> {
    let mut sums = BTreeMap::new();
    let Some(samples) = deliveries::View::of(tables) else { return sums };
    for (flow, bytes) in delivered(samples) {
        let Some((_, direction)) = pings.flows.get(&flow) else { continue };
        if let Some(bps) = rate(&bytes, from, to) {
            *sums.entry(*direction).or_default() += bps;
        }
    }
    sums
}

/// What charts need of the pings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PingShapes {
    /// Times under load by workload and part.
    pub loaded: BTreeMap<(u64, Part), Sketch>,
    /// Times before the load.
    pub idle: BTreeMap<(u64, Part), Sketch>,
    /// Round-trip times over time, by workload: when the ping was sent, and how long it took, in nanoseconds.
    pub over_time: BTreeMap<u64, Vec<(f64, f64)>>,
    /// Goodput over time in sum, by direction: the time in nanoseconds, and bits per second.
    pub goodput: BTreeMap<Direction, Vec<(f64, f64)>>,
    /// The direction of every workload with long-lived flows.
    pub directions: BTreeMap<u64, Direction>,
}

impl PingShapes {
    /// Of a run's tables; empty without pings.
    pub fn of(tables: &[Table]) -> Self {
        let Some(pings) = Pings::of(tables) else { return Self::default() };
        let counters = counters::View::of(tables);
        let value = |name: &str| {
            let counters = counters.as_ref()?;
            let row = counters.name.iter().position(|other| other == name)?;
            Some(counters.value[row] as f64)
        };
        let mut shapes = Self {
            idle: sketches(pings.idle()),
            loaded: sketches(pings.loaded(measured(value))),
            ..Self::default()
        };
        for ping in &pings.all {
            let time = ping.time(Part::RoundTrip);
            if !time.is_nan() {
                shapes.over_time.entry(ping.workload).or_default().push((ping.sent_ns, time));
            }
        }
        shapes.over_time.values_mut().for_each(|points| *points = largest(points));
        shapes.directions = pings.flows.values().copied().collect();
        let mut sums: BTreeMap<Direction, BTreeMap<u64, u64>> = BTreeMap::new();
        for (flow, bytes) in deliveries::View::of(tables).map(delivered).unwrap_or_default() {
            let Some((_, direction)) = pings.flows.get(&flow) else { continue };
            let sum = sums.entry(*direction).or_default();
            bytes.iter().for_each(|(time, bytes)| *sum.entry(*time as u64).or_default() += bytes);
        }
        for (direction, sum) in sums {
            let samples: Vec<(f64, u64)> =
                sum.into_iter().map(|(time, bytes)| (time as f64, bytes)).collect();
            let every = samples.len().div_ceil(POINTS).max(1);
            let samples: Vec<&(f64, u64)> = samples.iter().step_by(every).collect();
            let rate = |pair: &[&(f64, u64)]| {
                let [(from, before), (to, after)] = [pair[0], pair[1]];
                // A flow that begins later has no samples before.
                (*to, after.saturating_sub(*before) as f64 * 8e9 / (to - from))
            };
            shapes.goodput.insert(direction, samples.windows(2).map(rate).collect());
        }
        shapes
    }

    /// Lets go of what only one replication of a variant keeps.
    pub fn drop_series(&mut self) {
        self.over_time.clear();
        self.goodput.clear();
    }
}

fn sketches<'a>(pings: impl Iterator<Item = &'a Ping>) -> BTreeMap<(u64, Part), Sketch> {
    let mut times: BTreeMap<(u64, Part), Vec<f64>> = BTreeMap::new();
    for ping in pings {
        for part in Part::ALL {
            times.entry((ping.workload, part)).or_default().push(ping.time(part));
        }
    }
    times.into_iter().map(|(key, times)| (key, Sketch::of(times.into_iter()))).collect()
}

/// At most [`POINTS`] points: the largest of as many neighbors as it takes, so that no peak is lost.
fn largest(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(POINTS).max(1);
    let of = |points: &[(f64, f64)]| points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(every).filter_map(of).collect()
}

/// A number of pings that some variant has.
fn shown(summary: &Summary, key: String, label: String) -> Option<Shown> {
    let has = summary.variants.values().any(|of| of.counters.contains_key(&key));
    has.then_some(Shown { key, label })
}

/// The numbers of an answer about latency under load: the round-trip time of all pings, the score of calls, page load
/// times, the bitrate of videos, and the goodput in both directions.
pub(crate) fn headlines(summary: &Summary) -> Vec<Shown> {
    let rtt = [("p50", "median"), ("p99", "99th percentile")].map(|(name, label)| {
        shown(summary, format!("ping_loaded_{name}_rtt_ns"), format!("ping under load, {label}"))
    });
    let goodput = Direction::ALL.map(|direction| {
        shown(summary, format!("{}_goodput_bps", direction.key()), direction.key().to_owned())
    });
    let users = [voice::headline(summary), web::headline(summary), video::headline(summary)];
    rtt.into_iter().chain(users).chain(goodput).flatten().collect()
}

/// Idle and loaded round-trip times of each workload with pings, in their order; of a single one those of all pings.
pub(crate) fn round_trips(summary: &Summary) -> Vec<Shown> {
    let mut all = Vec::new();
    let workloads = numbers(summary, "workload_", "_ping_loaded_p50_rtt_ns");
    let each = workloads.iter().map(|of| (format!("workload_{of}_"), summary.workload_name(*of)));
    let pooled = workloads.is_empty().then(|| (String::new(), "all pings".to_owned()));
    for (key, name) in each.chain(pooled) {
        for (state, names) in [("idle", &QUANTILES[..1]), ("loaded", &QUANTILES[..])] {
            all.extend(names.iter().filter_map(|(quantile, _, label)| {
                let key = format!("{key}ping_{state}_{quantile}_rtt_ns");
                shown(summary, key, format!("{name}, {state}, {label}"))
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    /// Node 7 sends pings every 100 ns. A download from 250 ns on and an upload from 300 to 800 ns are the load. Of the
    /// three pings before it the third is back only after the load has begun; the last one is sent after the load.
    fn tables() -> Vec<Table> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect();
        let sent: Vec<f64> = (0..9).map(|at| 100.0 * f64::from(at)).collect();
        let up = vec![10.0, 10.0, 30.0, 40.0, 50.0, 60.0, f64::NAN, 80.0, 10.0];
        let down: Vec<f64> = up.iter().map(|up| up * 2.0).collect();
        let rtt = up.iter().zip(&down).map(|(up, down)| up + down).collect();
        vec![
            complete(
                Table::new("counters", "")
                    .text("name", "", texts(&["warmup_ns", "measured_ns"]))
                    .u64("value", "", vec![300, 600])
                    .text("meaning", "", texts(&["", ""])),
            ),
            complete(
                Table::new("flows", "")
                    .u64("flow", "", vec![0, 1, 2])
                    .u64("workload", "", vec![0, 1, 2])
                    .u64("src", "", vec![3, 7, 7])
                    .u64("dst", "", vec![7, 3, 3])
                    .u64("bytes", "", vec![0, 0, 56])
                    .f64("start_ns", "", vec![250.0, 300.0, 0.0])
                    .f64("stop_ns", "", vec![800.0, 800.0, f64::NAN]),
            ),
            complete(
                Table::new("deliveries", "")
                    .f64("time_ns", "", [300.0, 900.0].repeat(2))
                    .u64("flow", "", vec![0, 0, 1, 1])
                    .u64("delivered_bytes", "", vec![100, 700, 0, 60]),
            ),
            complete(
                Table::new("pings", "")
                    .u64("workload", "", vec![2; 9])
                    .u64("ping", "", (0..9).collect())
                    .u64("client", "", vec![7; 9])
                    .u64("server", "", vec![3; 9])
                    .f64("sent_ns", "", sent)
                    .f64("up_ns", "", up)
                    .f64("down_ns", "", down)
                    .f64("rtt_ns", "", rtt),
            ),
        ]
    }

    #[test]
    fn idle_and_loaded_by_hand() {
        let scalars = scalars(&tables());
        let value = |name: &str| scalars[name].value;
        // Two of 10 + 20 ns.
        assert_eq!(value("ping_idle_p99_rtt_ns"), 30.0);
        // Sent at 300, 400, 500 and 700 ns: 40, 50, 60 and 80 ns up; that of 600 ns is lost.
        assert_eq!((value("pings_loaded"), value("pings_lost")), (5.0, 1.0));
        assert_eq!(
            (value("ping_loaded_p50_up_ns"), value("ping_loaded_p50_down_ns")),
            (55.0, 110.0)
        );
        assert_eq!(value("ping_loaded_p50_rtt_ns"), 165.0);
        assert_eq!(value("ping_loaded_p95_up_ns"), 77.0);
        // 600 and 60 bytes in 600 ns.
        assert_eq!((value("download_goodput_bps"), value("upload_goodput_bps")), (8e9, 8e8));
        assert!(!scalars.contains_key("workload_2_ping_loaded_p50_rtt_ns"));
    }

    #[test]
    fn without_load_all_pings_are_idle() {
        let mut tables = tables();
        tables.remove(1);
        let scalars = scalars(&tables);
        assert!(!scalars.contains_key("ping_loaded_p50_rtt_ns"));
        assert_eq!(
            (scalars["pings_loaded"].value, scalars["ping_idle_p50_up_ns"].value),
            (0.0, 35.0)
        );
    }

    #[test]
    fn a_run_without_pings_has_no_such_numbers() {
        assert_eq!(Pings::of(&[]), None);
        let names: Vec<String> = scalars(&tables()[..3]).into_keys().collect();
        assert!(!names.iter().any(|name| name.contains("ping") || name == "download_goodput_bps"));
    }

    #[test]
    fn a_thinned_series_keeps_its_peaks() {
        let mut points: Vec<(f64, f64)> = (0..2_000).map(|at| (f64::from(at), 1.0)).collect();
        points[1_234].1 = 9.0;
        let thinned = largest(&points);
        assert_eq!(thinned.len(), POINTS);
        assert!(thinned.contains(&(1_234.0, 9.0)));
    }
}
