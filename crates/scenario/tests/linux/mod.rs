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
mod windows;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use distance::{Distance, Reasons};
use traces::Situation;

/// The files of traces, and of distances.
const FILES: [&str; 2] = ["linux-6.12.csv", "linux-7.2.csv"];

/// Runs of each situation here, with the seeds of other replications.
const REPLICATIONS: u32 = 2;

fn distances(file: &str, wanted: impl Fn(&Situation) -> bool) -> Vec<Distance> {
    let situations = traces::load(file);
    let wanted: Vec<_> = situations.iter().filter(|(situation, _)| wanted(situation)).collect();
    assert!(!wanted.is_empty(), "{file} has none of these situations");
    // Situations are shared out among threads, and stay in the order of the file.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((situation, linux)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let here = measure::measure(situation, REPLICATIONS);
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

/// That distances are those of the list, and that those beyond the tolerance have a reason.
fn check(file: &str, found: &[Distance]) {
    let path = traces::folder().join("distances").join(file);
    let listed = distance::load(&path);
    let reasons = Reasons::load();
    for distance in found {
        assert!(listed.contains(&distance.row()), "{} is not what {file} lists", distance.row());
        assert!(
            distance.is_near() || reasons.of(distance).is_some(),
            "{} is beyond the tolerance, and reasons.csv has no reason",
            distance.row()
        );
    }
}

/// One flow on the slowest link: every congestion control with every queue, in seconds.
#[test]
fn one_flow() {
    check(FILES[0], &distances(FILES[0], |situation| situation.set == "one"));
}

/// Reno and Cubic that answer marks instead of drops.
#[test]
fn marks_instead_of_drops() {
    check(FILES[0], &distances(FILES[0], |situation| situation.set == "ecn"));
}

/// FQ-CoDel and CAKE with two flows of different kinds.
#[test]
fn flow_queues() {
    let wanted = |situation: &Situation| {
        situation.set == "mix"
            && ["fq_codel", "cake"].contains(&&*situation.qdisc)
            && situation.bulk.iter().all(|flows| flows.control != "bbr")
    };
    check(FILES[0], &distances(FILES[0], wanted));
}

/// All situations of a file; with `BLESS`, the list is written.
fn every_situation(file: &str) {
    let found = distances(file, |_| true);
    if std::env::var_os("BLESS").is_some() {
        fs::write(traces::folder().join("distances").join(file), distance::save(&found)).unwrap();
    }
    check(file, &found);
}

#[test]
#[ignore = "takes minutes; other tests have a part of it"]
fn every_situation_of_linux_6_12() {
    every_situation(FILES[0]);
}

#[test]
#[ignore = "takes a minute; another test has a part of it"]
fn every_situation_of_linux_7_2() {
    every_situation(FILES[1]);
}

/// DualPI2 of Linux 7.2, with one flow of each kind.
#[test]
fn two_queues() {
    check(
        FILES[1],
        &distances(FILES[1], |situation| situation.bulk.iter().all(|flows| flows.count == 1)),
    );
}

/// All distances that are listed.
fn listed() -> Vec<Distance> {
    FILES
        .iter()
        .flat_map(|file| distance::parse(&traces::folder().join("distances").join(file)))
        .collect()
}

#[test]
fn every_reason_is_that_of_a_distance() {
    let listed = listed();
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
