//! Against arithmetic: what a person can work out by hand comes out to the picosecond.

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec, Instant};

/// Frames of the default transport at 100 Gb/s: 80 ps a byte, 62 bytes of headers, 20 of preamble
/// and gap.
const FULL: u64 = (1024 + 62 + 20) * 80;

fn wire(payload: u64) -> u64 {
    ((payload + 62).max(64) + 20) * 80
}

/// n packets over equal hops: all at the first hop, the last at each further one; but the one
/// before it is longer, so it waits for that at every hop, and arrives its own time after it.
fn unloaded(bytes: u64, hops: u64) -> u64 {
    let packets = bytes.div_ceil(1024);
    let last = wire(bytes - (packets - 1) * 1024);
    let delays = hops * 200_000;
    if packets == 1 { hops * last + delays } else { (packets - 2 + hops) * FULL + last + delays }
}

const SIZES: [u64; 8] = [1, 2, 1_024, 1_025, 65_536, 99_999, 1_000_000, 12_345_678];

#[test]
fn one_hop_each_way_of_a_switch() {
    for bytes in SIZES {
        let outcome = run(plain(star(2), vec![flow(0, 1, bytes, 7)]));
        assert_eq!(fct_ps(&outcome), [unloaded(bytes, 2)], "{bytes} bytes");
        assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0]);
    }
}

#[test]
fn four_hops_through_a_spine() {
    for bytes in SIZES {
        let outcome = run(plain(clos(2, 2, 1), vec![flow(0, 1, bytes, 0)]));
        assert_eq!(fct_ps(&outcome), [unloaded(bytes, 4)], "{bytes} bytes");
        assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0]);
    }
}

#[test]
fn switch_latency_is_added_once_per_switch() {
    let mut spec = plain(clos(2, 2, 1), vec![flow(0, 1, 100_000, 0)]);
    spec.switch.latency = Duration::from_ns(400);
    assert_eq!(fct_ps(&run(spec)), [unloaded(100_000, 4) + 3 * 400_000]);
}

#[test]
fn two_flows_into_one_port_take_turns() {
    // Both send 10 full packets at once to host 2: the switch sends 20 back to back, starting
    // when the first has arrived, and the flows end with the last two.
    let flows = vec![flow(0, 2, 10_240, 0), flow(1, 2, 10_240, 0)];
    let mut fct = fct_ps(&run(plain(star(3), flows)));
    fct.sort_unstable();
    let first_arrives = FULL + 200_000;
    assert_eq!(fct, [19, 20].map(|packets| first_arrives + packets * FULL + 200_000));
}

#[test]
fn every_frame_is_one_hop_per_link() {
    let outcome = run(plain(clos(2, 2, 1), vec![flow(0, 1, 10 * 1024, 0)]));
    // Ten data packets over four links; the run ends when the last arrives, when all but the
    // last few acknowledgements are on their way.
    let frames: u64 = outcome.table("links").u64s("frames").iter().sum();
    assert_eq!(outcome.hops, frames);
    assert!(outcome.hops >= 40 && outcome.hops <= 80);
}

#[test]
fn a_flow_that_stops_sends_until_then_and_no_longer() {
    // A packet every 88.48 ns from 10 us to 1 ms: 990,000 / 88.48 = 11188.97, so 11189 of them.
    const PACKETS: u64 = 11_189;
    let stopping = FlowSpec {
        stop: Instant(Duration::from_ms(1).0),
        ..flow(0, 1, FlowSpec::PERSISTENT, 10_000)
    };
    for ack_every in [1, 4] {
        let mut spec = plain(star(2), vec![stopping.clone()]);
        spec.end = Duration::from_ms(50);
        rocev2(&mut spec, |rocev2| rocev2.ack_every = ack_every);
        let outcome = run(spec);
        let flows = outcome.table("flows");
        assert_eq!(flows.u64s("delivered_bytes"), [PACKETS * 1024]);
        assert!(flows.f64s("fct_ns")[0].is_nan());
        // 11189 = 4 x 2797 + 1: the last packet of every fourth is acknowledged, the very last
        // only when the timer has repeated it, once, after 16.8 ms.
        let again = if ack_every == 4 { 1 } else { 0 };
        assert_eq!(flows.u64s("packets_sent"), [PACKETS + again]);
        assert_eq!(outcome.counter("timeouts"), again);
    }
}

#[test]
fn a_full_queue_drops_the_rest_and_go_back_n_repairs_it() {
    let flows = vec![flow(0, 2, 1_000_000, 0), flow(1, 2, 1_000_000, 0)];
    let mut spec = plain(star(3), flows);
    spec.switch.queue.size = Bytes(50_000);
    let outcome = run(spec);
    assert!(outcome.counter("dropped_packets") > 0);
    assert!(outcome.counter("retransmitted_packets") >= outcome.counter("dropped_packets"));
    assert_eq!(outcome.counter("flows_unfinished"), 0);
}
