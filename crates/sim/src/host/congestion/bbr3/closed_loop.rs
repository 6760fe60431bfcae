//! BBRv3 on a path with a queue: 20 Mb/s and 40 ms, a bandwidth-delay product (BDP) of 66 packets.

use floodway_model::Duration;

use super::super::bbr::path::{Path, ms};
use super::super::{Spec as Family, bbr};
use super::Spec;

const RATE: f64 = 20e6;
const DELAY: Duration = Duration::from_ms(40);

fn one(buffer: usize) -> Path {
    Path::new(RATE, DELAY, buffer, &[Family::Bbr3(Spec::default())])
}

#[test]
fn one_flow_fills_the_pipe_and_leaves_the_queue_empty() {
    let mut path = one(700);
    path.run(ms(5_000));
    let (used, lost) = path.run(ms(25_000));
    let (queued, _) = path.queue(ms(5_000), ms(25_000));
    // 0.99 of the rate, and half of it for 0.2 of 5 seconds: 0.97.
    assert!(used > 0.95 && used <= 1.0, "{used}");
    assert_eq!(lost, 0.0);
    assert!(queued < 0.25 * path.bdp(), "{queued}");
}

#[test]
fn a_shallow_buffer_loses_less_than_two_percent() {
    for share in [0.1, 0.25, 0.5] {
        let buffer = (share * 66.0) as usize;
        let mut path = one(buffer);
        path.run(ms(5_000));
        // A probe with more than 2 % loss lowers the bound and ends. Probes are at least two
        // seconds apart, so the overall loss rate is much lower.
        let (used, lost) = path.run(ms(45_000));
        assert!(lost < 0.02, "{share}: {lost}");
        assert!(used > 0.85, "{share}: {used}");
    }
}

#[test]
fn version_1_loses_more_in_a_shallow_buffer() {
    let loss = |spec: Family| {
        let mut path = Path::new(RATE, DELAY, 16, &[spec.clone(), spec]);
        path.run(ms(5_000));
        path.run(ms(35_000)).1
    };
    let first = loss(Family::Bbr(bbr::Spec::default()));
    let third = loss(Family::Bbr3(Spec::default()));
    // Two flows of BBRv1 keep twice the BDP in flight, where 1.25 BDP fit.
    assert!(first > 0.05 && third < 0.02, "{first} {third}");
}

#[test]
fn another_bandwidth_is_found() {
    let mut path = one(700);
    path.run(ms(6_000));
    path.rate *= 2.0;
    // The next probe begins after at most three seconds plus ProbeRTT, and continues while the
    // bandwidth grows by a quarter per round.
    path.run(ms(10_500));
    let (used, _) = path.run(ms(14_500));
    assert!(used > 0.93, "{used}");
    path.rate /= 2.0;
    // Twice the old BDP was in flight; this is now four times the BDP. ProbeRTT with half of the
    // estimated BDP still drains the queue; it takes two cycles, with a probe each, until the old
    // estimate expires.
    path.run(ms(30_000));
    let (used, _) = path.run(ms(36_000));
    assert!(used > 0.93, "{used}");
    let (queued, _) = path.queue(ms(30_000), ms(36_000));
    assert!(queued < 0.25 * path.bdp(), "{queued}");
}

#[test]
fn losses_tell_that_there_is_less_bandwidth() {
    let mut path = one(66);
    path.run(ms(6_000));
    path.rate /= 4.0;
    // Each round trip with losses cuts to 0.7, but not below the delivery rate: ln(1/4) / ln(0.7)
    // is four round trips. A round trip takes (66 + 16) packets at 2.4 ms, 0.2 s.
    path.run(ms(8_000));
    let (used, lost) = path.run(ms(18_000));
    assert!(used > 0.9 && lost < 0.02, "{used} {lost}");
}

#[test]
fn marks_keep_the_queue_at_the_threshold() {
    let spec = Family::Bbr3(Spec { ecn: true, ..Spec::default() });
    // 1 Gb/s and 1 ms: 82 packets; marking begins at 20.
    let run = |mark_from| {
        let mut path = Path::new(1e9, Duration::from_ms(1), 1_000, &[spec.clone(), spec.clone()]);
        path.mark_from = mark_from;
        path.run(ms(500));
        let (used, lost) = path.run(ms(2_500));
        (used, lost, path.queue(ms(500), ms(2_500)).0)
    };
    let (used, lost, queued) = run(20);
    let (_, _, without) = run(usize::MAX);
    assert!(used > 0.85 && lost == 0.0, "{used} {lost}");
    assert!(queued < 25.0 && queued < without, "{queued} {without}");
}
