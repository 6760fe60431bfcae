//! Parameters of DCTCP (RFC 8257) and of DCTCP for RDMA, by timelines of what they send.

use crate::common::sending::*;
use crate::common::*;
use floodway_model::{Duration, Rate};
use floodway_sim::host::congestion::{self, dctcp, rdma_dctcp};

/// Every segment is marked, so that alpha goes from its first value to 1: it is 1 - (1 - a0) (1 - g)^n at
/// the n-th reduction, n = 0, 1, ..., which takes floor(W alpha / 2) from the window W (section 3.3).
#[test]
fn alpha_is_the_closed_form() {
    // 100 * 0.25 = 25, 75 * 0.3125 = 23.4, 52 * 0.359375 = 18.7, 34 * 0.394531 = 13.4, 21 * 0.420898 = 8.8.
    let slow = (0.25, 0.5, [100, 75, 52, 34, 21, 13]);
    // 100 * 0.5, 50 * 0.5, 25 * 0.5 = 12.5, 13 * 0.5 = 6.5, 7 * 0.5 = 3.5, whatever g is.
    let from_one = (0.25, 1.0, [100, 50, 25, 13, 7, 4]);
    // 100 * 0.125 = 12.5, 88 * 0.3125 = 27.5, 61 * 0.40625 = 24.8, 37 * 0.453125 = 16.8, 21 * 0.476563 = 10.01.
    let fast = (0.5, 0.25, [100, 88, 61, 37, 21, 11]);
    let far = Duration::from_ms(1);
    for (g, initial_alpha, windows) in [slow, from_one, fast] {
        let dctcp = dctcp::Spec { g, initial_alpha, ..Default::default() };
        let mut spec = tcp_alone(GBPS_100, far, congestion::Spec::Dctcp(dctcp));
        tcp_of(&mut spec).initial_window = 100;
        spec.end = Duration::from_ms(15);
        crowd(&mut spec, round_trip(far, SYN, SYN), 15_000_000_000);
        let (_, trace) = traced(&spec);
        assert_eq!(bursts(&sent(&trace), far)[..6], windows);
    }
}

/// Marks in the beginning take the rate down to 10 Gb/s, and every round trip without a mark adds 2 Gb/s
/// and takes a sixteenth from alpha, which was 1. After n of them a mark leaves 1 - alpha / 2 with alpha =
/// (15/16)^n. The round trips at the ends of this time have both: n is good to one more or less.
#[test]
fn rdma_dctcp_adds_and_forgets_by_the_round_trip() {
    for (g, gbps) in [(1.0 / 16.0, 2), (1.0 / 8.0, 3)] {
        let control = congestion::Spec::RdmaDctcp(rdma_dctcp::Spec {
            g,
            additive_increase: Some(Rate::from_gbps(gbps)),
            min_rate: Rate::from_gbps(10),
            // The window is no limit.
            base_rtt: Some(Duration::from_us(100)),
        });
        let mut spec = rdma(GBPS_100, Duration::from_us(2), control);
        spec.end = Duration::from_us(150);
        crowd(&mut spec, 3_000_000, 30_000_000);
        crowd(&mut spec, 120_000_000, 130_000_000);
        let (_, trace) = traced(&spec);
        // A full packet with preamble and gap is 1106 bytes.
        let rate = |gap: &u64| 1_106.0 * 8_000.0 / *gap as f64;
        let mut rates: Vec<f64> = gaps(&sent(&trace)).iter().map(rate).collect();
        rates.dedup_by(|one, other| (*one - *other).abs() < 1e-3);
        let least = rates.iter().position(|rate| (*rate - 10.0).abs() < 1e-3).expect("the least");
        let rising = rates[least..].windows(2).take_while(|two| two[1] > two[0]).count();
        for (number, rate) in rates[least..=least + rising].iter().enumerate() {
            assert_near(*rate, 10.0 + (number as u64 * gbps) as f64, 1e-4);
        }
        assert!(rising >= 8, "{rates:?}");
        let left = rates[least + rising + 1] / rates[least + rising];
        let leaves = |round_trips: usize| 1.0 - 0.5 * (1.0_f64 - g).powi(round_trips as i32);
        assert!((leaves(rising - 1)..leaves(rising + 1)).contains(&left), "{left}, {rising}");
    }
}
