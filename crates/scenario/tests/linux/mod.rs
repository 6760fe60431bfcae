//! The distance to Linux: the same link, queue and flows in a real kernel and here. What was measured in the kernel is in
//! `oracle/traces`, the distances are in `oracle/distances`, and why some are larger than they should be in
//! `oracle/reasons.csv`. `docs/linux.md` has the tables.
//!
//! `BLESS=1 cargo test -p floodway-scenario linux -- --include-ignored` writes the distances and the tables again.

mod describe;
mod distance;
mod measure;
mod page;
mod traces;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use describe::RECEIVERS;
use distance::{Distance, Reasons};
use traces::Situation;

/// What is compared: a file of traces, a file of distances, and more parameters of TCP here.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    traces: &'static str,
    distances: &'static str,
    tcp: &'static str,
}

const LINUX_6_12: Comparison =
    Comparison { traces: "linux-6.12.csv", distances: "linux-6.12.csv", tcp: "" };
const LINUX_7_2: Comparison =
    Comparison { traces: "linux-7.2.csv", distances: "linux-7.2.csv", tcp: "" };

/// The same with receivers as Linux has them.
const LIKE_LINUX_6_12: Comparison =
    Comparison { distances: "receivers-6.12.csv", tcp: RECEIVERS, ..LINUX_6_12 };
const LIKE_LINUX_7_2: Comparison =
    Comparison { distances: "receivers-7.2.csv", tcp: RECEIVERS, ..LINUX_7_2 };

/// Runs of each situation here, with the seeds of other replications.
const REPLICATIONS: u32 = 2;

fn distances(of: Comparison, wanted: impl Fn(&Situation) -> bool) -> Vec<Distance> {
    let situations = traces::load(of.traces);
    let wanted: Vec<_> = situations.iter().filter(|(situation, _)| wanted(situation)).collect();
    assert!(!wanted.is_empty(), "{of:?} has none of these situations");
    // Situations are shared out among threads, and stay in the order of the file.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((situation, linux)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let here = measure::measure(situation, of.tcp, REPLICATIONS);
            done.push((situation.place, distance::of(situation, linux, &here)));
        }
        done
    };
    let mut all: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().flat_map(|(_, distances)| distances).collect()
}

/// That distances are those of the list.
fn check(of: Comparison, found: &[Distance]) {
    let file = of.distances;
    let listed = distance::load(&traces::folder().join("distances").join(file));
    for distance in found {
        assert!(listed.contains(&distance.row()), "{} is not what {file} lists", distance.row());
    }
}

/// Compares some situations with the list.
fn compare(of: Comparison, wanted: impl Fn(&Situation) -> bool) {
    check(of, &distances(of, wanted));
}

/// One flow on the slowest link: every congestion control with every queue, in seconds.
#[test]
fn one_flow() {
    compare(LINUX_6_12, |situation| situation.set == "one");
}

/// Reno and Cubic that answer marks instead of drops.
#[test]
fn marks_instead_of_drops() {
    compare(LINUX_6_12, |situation| situation.set == "ecn");
}

/// FQ-CoDel and CAKE with two flows of different kinds.
#[test]
fn flow_queues() {
    let wanted = |situation: &Situation| {
        situation.set == "mix"
            && ["fq_codel", "cake"].contains(&&*situation.qdisc)
            && situation.bulk.iter().all(|flows| flows.control != "bbr")
    };
    compare(LINUX_6_12, wanted);
}

/// Receivers as Linux has them, where they matter on the slowest link, and in two queues.
#[test]
fn receivers_as_in_linux() {
    let lossy = |situation: &Situation| {
        situation.set == "one" && ["codel", "pie"].contains(&&*situation.qdisc)
    };
    compare(LIKE_LINUX_6_12, lossy);
    compare(LIKE_LINUX_7_2, |situation| situation.bulk.iter().all(|flows| flows.count == 1));
}

/// All situations of a file; with `BLESS`, the list is written.
fn every_situation(of: Comparison) {
    let found = distances(of, |_| true);
    if std::env::var_os("BLESS").is_some() {
        let path = traces::folder().join("distances").join(of.distances);
        fs::write(path, distance::save(&found)).unwrap();
    }
    check(of, &found);
}

#[test]
#[ignore = "takes minutes; other tests have a part of it"]
fn every_situation_of_linux_6_12() {
    every_situation(LINUX_6_12);
}

#[test]
#[ignore = "takes minutes; another test has a part of it"]
fn every_situation_with_receivers_as_in_linux() {
    every_situation(LIKE_LINUX_6_12);
    every_situation(LIKE_LINUX_7_2);
}

#[test]
#[ignore = "takes a minute; another test has a part of it"]
fn every_situation_of_linux_7_2() {
    every_situation(LINUX_7_2);
}

/// DualPI2 of Linux 7.2, with one flow of each kind.
#[test]
fn two_queues() {
    compare(LINUX_7_2, |situation| situation.bulk.iter().all(|flows| flows.count == 1));
}

/// All distances that are listed.
fn listed(of: [Comparison; 2]) -> Vec<Distance> {
    let folder = traces::folder().join("distances");
    of.iter().flat_map(|of| distance::parse(&folder.join(of.distances))).collect()
}

#[test]
fn every_reason_is_that_of_a_distance() {
    let listed = listed([LINUX_6_12, LINUX_7_2]);
    let reasons = Reasons::load();
    assert_eq!(reasons.unused(&listed), Vec::<String>::new());
    let without =
        listed.iter().filter(|distance| !distance.is_near() && reasons.of(distance).is_none());
    let without: Vec<String> = without.map(Distance::row).collect();
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn the_page_has_the_tables() {
    page::check();
}
