//! How often the intervals of sampled rounds contain the numbers of all rounds, for processes whose sums are known.

use floodway_model::random::Stream;
use floodway_report::statistics::{Critical, Rounds};

/// Jobs per process: the standard error of a coverage of 95 % is 0.5 %.
const JOBS: usize = 2_000;

/// Rounds of a job.
const ALL: usize = 200;

/// Of jobs whose rounds are drawn by `draw`, the share whose interval from `n` rounds after a warm-up of one contains the
/// mean of all, among those that have an interval, and the share that have one.
fn coverage(name: &str, n: usize, mut draw: impl FnMut(&mut Stream) -> Vec<f64>) -> [f64; 2] {
    let mut stream = Stream::named(7, name);
    let (mut given, mut hits) = (0, 0);
    for _ in 0..JOBS {
        let all = draw(&mut stream);
        let (before, steady) = (&all[..1], &all[1..=n]);
        let critical = Critical::of(&[], (1, n));
        let rounds = Rounds { before, steady, of: ALL, critical };
        let exact = all.iter().sum::<f64>() / ALL as f64;
        if let Ok([low, high]) = rounds.mean().expect("there are rounds").interval {
            given += 1;
            hits += usize::from((low..=high).contains(&exact));
        }
    }
    [f64::from(hits as u32) / f64::from(given as u32), f64::from(given as u32) / JOBS as f64]
}

/// Rounds of an AR(1) process with mean 1, this standard deviation and this autocorrelation. The variance of the mean of
/// many is (1 + r)/(1 - r) times that of independent ones.
fn autoregressive(deviation: f64, r: f64) -> impl FnMut(&mut Stream) -> Vec<f64> {
    move |stream| {
        let mut state = stream.normal();
        let step = |_| {
            state = r * state + (1.0 - r * r).sqrt() * stream.normal();
            1.0 + deviation * state
        };
        (0..ALL).map(step).collect()
    }
}

#[test]
fn independent_rounds_are_covered() {
    for n in [3, 5, 11, 40] {
        // Log-normal with coefficients of variation of 3 % and 50 %.
        for sigma in [0.03, 0.472_38] {
            let name = format!("log-normal {sigma} {n}");
            let draw =
                |stream: &mut Stream| (0..ALL).map(|_| (sigma * stream.normal()).exp()).collect();
            let [covered, given] = coverage(&name, n, draw);
            // Five standard errors below the 93.5 % of few values. Independent rounds are sometimes taken for correlated ones.
            assert!(covered > 0.91 && given > 0.85, "{name}: {covered} of {given}");
        }
    }
}

#[test]
fn correlated_rounds_are_covered_or_refused() {
    for (r, n, least) in [(0.3, 15, 0.89), (0.6, 40, 0.91), (0.8, 80, 0.92)] {
        let [covered, given] = coverage(&format!("AR(1) {r} {n}"), n, autoregressive(0.1, r));
        assert!(covered > least && given > 0.5, "r = {r}, {n} rounds: {covered} of {given}");
    }
}

/// Loads of other traffic that decide what rounds take: then intervals are as wide as it needs.
fn coverage_by_loads(n: usize, loads: impl Fn(&mut Stream) -> Vec<f64>) -> [f64; 2] {
    let mut stream = Stream::named(11, "loads");
    let (mut given, mut hits) = (0, 0);
    for _ in 0..JOBS {
        let loads = loads(&mut stream);
        let all: Vec<f64> = loads.iter().map(|load| 1.0 + load + 0.01 * stream.normal()).collect();
        let critical = Critical::of(&loads, (1, n));
        let rounds = Rounds { before: &all[..1], steady: &all[1..=n], of: ALL, critical };
        let exact = all.iter().sum::<f64>() / ALL as f64;
        if let Ok([low, high]) = rounds.mean().expect("there are rounds").interval {
            given += 1;
            hits += usize::from((low..=high).contains(&exact));
        }
    }
    [f64::from(hits as u32) / f64::from(given as u32), f64::from(given as u32) / JOBS as f64]
}

#[test]
fn bursts_are_covered_or_refused() {
    for (probability, n, least_given) in
        [(0.5, 3, 0.0), (0.1, 3, 0.0), (0.1, 40, 0.9), (0.02, 11, 0.0)]
    {
        let draw = |stream: &mut Stream| {
            (0..ALL).map(|_| f64::from(u8::from(stream.bernoulli(probability)))).collect()
        };
        let [covered, given] = coverage_by_loads(n, draw);
        let fine = covered > 0.93 || given < 0.02;
        assert!(fine && given >= least_given, "{probability}, {n} rounds: {covered} of {given}");
    }
}
