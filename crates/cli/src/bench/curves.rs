//! `floodway bench --curves`: how the cost of a packet-hop grows. Every point is a case with some
//! settings, measured in a process of its own. Rounds go through all points one after another, so
//! that a disturbance hits all curves alike, and the shortest time of a point counts: what disturbs
//! a run can only make it longer.

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use floodway_report::study;
use serde::Serialize;

use super::cases::{self, Length};
use super::measure::{Calibration, Measurement};
use super::{Task, page};
use crate::failure::Failure;
use crate::options::BenchOptions;
use crate::output;

/// The file with the points.
const DATA: &str = "curves.json";

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// The hosts of the network.
    Hosts,
    /// The hosts of the network, beside a neighbor that walks through memory.
    HostsBesideNeighbor,
    /// The hosts of networks that are built and hardly run.
    SetUp,
    /// The load of the hosts' links.
    Load,
    /// The flows that every host has open.
    Flows,
    /// The threads, with 128 hosts.
    ThreadsSmall,
    /// The threads, with 1152 hosts.
    ThreadsLarge,
}

/// A place on a curve.
struct Place {
    curve: Curve,
    at: f64,
    case: &'static str,
    threads: u16,
    set: Vec<String>,
}

/// What was measured there.
#[derive(Debug, Serialize)]
pub struct Point {
    /// On which curve.
    pub curve: Curve,
    /// What is varied, as a number.
    pub at: f64,
    /// What measures it by itself.
    pub command: String,
    /// Threads.
    pub threads: u16,
    /// Packet-hops of a run.
    pub hops: u64,
    /// Nanoseconds for a packet-hop, set-up not counted: the least of all rounds.
    pub ns_per_hop: f64,
    /// The same in each round.
    pub rounds_ns_per_hop: Vec<f64>,
    /// How fast the machine was after each round.
    pub calibrations: Vec<Calibration>,
    /// Seconds from the scenario to a network that is ready to run, the least of all rounds.
    pub setup_s: f64,
    /// The most memory that the process held, in bytes, the least of all rounds.
    pub peak_rss_bytes: Option<u64>,
}

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct Curves {
    /// The version of the program.
    pub floodway: &'static str,
    /// What made this.
    pub command: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// The processor, if the system reports it.
    pub processor: Option<String>,
    /// How many threads it can run at a time.
    pub cores: usize,
    /// How often every point was measured.
    pub rounds: u32,
    /// Whether runs were shortened.
    pub quick: bool,
    /// The points, curve by curve.
    pub points: Vec<Point>,
}

/// Measures all curves and writes them.
pub fn curves(options: &BenchOptions) -> Result<(), Failure> {
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("results/curves"));
    // Before it takes minutes.
    study::may_hold_text(&out, DATA).map_err(Failure::Study)?;
    let rounds = options.rounds.unwrap_or(if options.quick { 2 } else { 5 });
    let cores = available_parallelism().map_or(1, std::num::NonZero::get);
    let places = places(options.quick, cores);
    let mut curves = Curves {
        floodway: env!("CARGO_PKG_VERSION"),
        command: command(options),
        started: floodway_report::manifest::now(),
        processor: processor(),
        cores,
        rounds,
        quick: options.quick,
        points: Vec::new(),
    };
    for round in 0..rounds {
        for (number, place) in places.iter().enumerate() {
            output::say(&format!(
                "round {} of {rounds}, point {} of {}: {:?} {}\n",
                round + 1,
                number + 1,
                places.len(),
                place.curve,
                place.at
            ));
            let measurement = place.task().apart()?;
            match curves.points.get_mut(number) {
                Some(point) => point.add(&measurement),
                None => curves.points.push(place.point(&measurement)),
            }
        }
    }
    write(&out, &curves)
}

fn write(out: &Path, curves: &Curves) -> Result<(), Failure> {
    study::write_text(out, &page::page(curves), (DATA, curves)).map_err(Failure::Study)?;
    output::print(&format!("the curves are in {}\n", output::path(&out.join("README.md"))))
}

/// The command without where its results go, which does not change them.
fn command(options: &BenchOptions) -> String {
    let mut words = vec!["floodway bench --curves".to_owned()];
    words.extend(options.quick.then(|| "--quick".to_owned()));
    words.extend(options.rounds.map(|rounds| format!("--rounds {rounds}")));
    words.join(" ")
}

/// What Linux calls the processor.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

impl Place {
    fn task(&self) -> Task<'_> {
        Task {
            case: cases::named(self.case),
            threads: self.threads,
            length: Length::Quick,
            set: &self.set,
            neighbor: self.curve == Curve::HostsBesideNeighbor,
        }
    }

    fn point(&self, measurement: &Measurement) -> Point {
        let mut point = Point {
            curve: self.curve,
            at: self.at,
            command: format!("floodway {}", self.task().words().join(" ")),
            threads: self.threads,
            hops: measurement.hops,
            ns_per_hop: f64::INFINITY,
            rounds_ns_per_hop: Vec::new(),
            calibrations: Vec::new(),
            setup_s: f64::INFINITY,
            peak_rss_bytes: measurement.peak_rss_bytes,
        };
        point.add(measurement);
        point
    }
}

impl Point {
    /// Takes a further round.
    fn add(&mut self, measurement: &Measurement) {
        let ns = 1e9 / measurement.hops_per_second;
        self.rounds_ns_per_hop.push(ns);
        self.calibrations.extend(measurement.calibration.clone());
        self.ns_per_hop = self.ns_per_hop.min(ns);
        self.setup_s = self.setup_s.min(measurement.setup_s);
        self.peak_rss_bytes = self.peak_rss_bytes.min(measurement.peak_rss_bytes);
    }
}

/// All points. Those of a curve are alike but for what is varied; runs are as long as they have to
/// be for some millions of packet-hops, those of networks of all sizes equally long.
fn places(quick: bool, cores: usize) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |curve, at: f64, case, threads, set: &[String]| {
        places.push(Place { curve, at, case, threads, set: set.to_vec() });
    };
    let span = if quick { span(9, 10) } else { span(990, 1_000) };
    let leaves: &[u64] = if quick { &[16, 32, 48] } else { &[16, 32, 48, 64, 96, 128, 180] };
    for leaves in leaves {
        let (hosts, network) = clos(*leaves);
        let set = [network, span.clone()].concat();
        add(Curve::Hosts, hosts as f64, "ci-128", 1, &set);
        // Directly after the point that it is compared with.
        if cores > 1 {
            add(Curve::HostsBesideNeighbor, hosts as f64, "ci-128", 1, &set);
        }
    }
    if !quick {
        for leaves in [16, 48, 180, 448] {
            let (hosts, network) = clos(leaves);
            add(Curve::SetUp, hosts as f64, "ci-128", 1, &[network, self::span(1, 2)].concat());
        }
    }
    let span = if quick { self::span(90, 100) } else { self::span(1_990, 2_000) };
    for tenths in 2..=9 {
        let load = f64::from(tenths) / 10.0;
        let set = [format!("workload.0.many_to_many.load={load}")];
        add(Curve::Load, load, "ci-128", 1, &[span.clone(), set.to_vec()].concat());
    }
    let span = if quick { self::span(20, 50) } else { self::span(20, 500) };
    for flows in [1, 4, 16, 64, 256, 1_024] {
        let set = [format!("workload.0.long_flows.count={}", 128 * flows)];
        let set = [span.clone(), set.to_vec()].concat();
        add(Curve::Flows, f64::from(flows), "flows-128", 1, &set);
    }
    let doubled = std::iter::successors(Some(1u16), |threads| threads.checked_mul(2));
    let threads: Vec<u16> = doubled.take_while(|threads| usize::from(*threads) <= cores).collect();
    let span = |full| if quick { self::span(20, 30) } else { self::span(full - 10, full) };
    for (curve, case, us) in
        [(Curve::ThreadsSmall, "ci-128", 2_000), (Curve::ThreadsLarge, "ci-1152", 400)]
    {
        for &threads in &threads {
            add(curve, threads.into(), case, threads, &span(us));
        }
    }
    places
}

/// Flows start until the first time, and the run ends at the second, in microseconds.
fn span(arrivals: u64, limit: u64) -> Vec<String> {
    vec![format!("arrivals={arrivals}us"), format!("limit={limit}us")]
}

/// The network of the decks with so many leaves: half as many spines, and half as many hosts at each
/// leaf. Its hosts, and the settings; of groups of 21 hosts, 4 in 54 are incasts, as in the decks'
/// largest.
fn clos(leaves: u64) -> (u64, Vec<String>) {
    let hosts = leaves * leaves / 2;
    let groups = hosts / 21;
    let incasts = (groups * 4 / 54).max(1);
    let settings = vec![
        format!("topology.clos.leaves={leaves}"),
        format!("topology.clos.spines={}", leaves / 2),
        format!("topology.clos.hosts_per_leaf={}", leaves / 2),
        format!("workload.0.many_to_many.clusters={}", groups - incasts),
        format!("workload.1.incast.sets={incasts}"),
    ];
    (hosts, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_valid() {
        for place in places(true, 4).iter().chain(&places(false, 2)) {
            let Task { case, length, set, .. } = place.task();
            let scenario = case.scenario(length, set);
            let scenario = scenario.unwrap_or_else(|failure| panic!("{failure:?}"));
            scenario.variant(case.variant).unwrap();
        }
    }

    #[test]
    fn networks_are_those_of_the_decks() {
        // 128 servers with 5 clusters and 1 incast, 1152 with 50 and 4.
        for (leaves, hosts, clusters, incasts) in [(16, 128, 5, 1), (48, 1_152, 50, 4)] {
            let (found, set) = clos(leaves);
            assert_eq!(found, hosts);
            assert_eq!(set[3], format!("workload.0.many_to_many.clusters={clusters}"));
            assert_eq!(set[4], format!("workload.1.incast.sets={incasts}"));
        }
    }

    #[test]
    fn the_best_round_counts() {
        let places = places(true, 1);
        let measured = |ns: f64, setup_s, peak| Measurement {
            case: "ci-128".to_owned(),
            threads: 1,
            hops: 1_000,
            hops_per_second: 1e9 / ns,
            peak_rss_bytes: Some(peak),
            wall_s: ns * 1e-6,
            setup_s,
            simulated_ns: 1.0,
            fingerprint: String::new(),
            neighbor: false,
            calibration: None,
        };
        let mut point = places[0].point(&measured(80.0, 0.2, 500));
        point.add(&measured(64.0, 0.3, 400));
        assert_eq!(point.rounds_ns_per_hop, [80.0, 64.0]);
        assert_eq!((point.ns_per_hop, point.setup_s, point.peak_rss_bytes), (64.0, 0.2, Some(400)));
    }
}
