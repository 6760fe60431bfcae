//! The window of congestion control: how much is in flight, to the packet and the picosecond.

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec};
use floodway_sim::host::congestion::{self, dcqcn};
use floodway_sim::{Outcome, Spec};

/// Full packets and acknowledgements on the wire at 100 Gb/s, 80 ps a byte, and a cable.
const FULL: u64 = (1024 + 62 + 20) * 80;
const ACK: u64 = (66 + 20) * 80;
const CABLE: u64 = 200_000;

/// From the start of a packet to the arrival of its acknowledgement, over one switch.
const ROUND_TRIP: u64 = 2 * (FULL + ACK + 2 * CABLE);

/// A window that holds this many packets of 1024 bytes at 100 Gb/s, and half a packet more.
fn window(packets: u64) -> Option<Duration> {
    Some(Duration((packets * 1024 + 512) * 80))
}

fn with(dcqcn: dcqcn::Spec, flows: Vec<FlowSpec>) -> Spec {
    let mut spec = plain(star(2), flows);
    control(&mut spec, congestion::Spec::Dcqcn(dcqcn));
    spec
}

fn windowed(packets: u64, flows: Vec<FlowSpec>) -> Spec {
    with(dcqcn::Spec { window: window(packets), ..quick_dcqcn() }, flows)
}

fn packets_sent(outcome: &Outcome) -> u64 {
    outcome.table("flows").u64s("packets_sent")[0]
}

#[test]
fn a_window_leaves_before_the_first_acknowledgement() {
    let before = |mut spec: Spec| {
        spec.end = Duration(ROUND_TRIP);
        packets_sent(&run(spec))
    };
    let flow = || vec![flow(0, 1, FlowSpec::PERSISTENT, 0)];
    // 990.72 ns are 11.2 packets of 88.48 ns: without a window the twelfth is on its way.
    assert_eq!(before(with(Default::default(), flow())), 12);
    for packets in 1..=11 {
        assert_eq!(before(windowed(packets, flow())), packets);
    }
    assert_eq!(before(windowed(0, flow())), 1, "a packet is always allowed");
    // The transport has a limit of its own: the lower one holds.
    for (of_transport, of_control, lower) in [(3, 7, 3), (7, 3, 3)] {
        let mut spec = windowed(of_control, flow());
        rocev2(&mut spec, |rocev2| rocev2.in_flight = Some(Bytes(of_transport * 1024)));
        assert_eq!(before(spec), lower);
    }
}

#[test]
fn throughput_is_the_window_over_the_round_trip() {
    // Each acknowledgement lets one packet go: every round trip sends the same n packets.
    for (packets, rounds) in [(1, 40), (3, 25), (11, 10)] {
        let spec = windowed(packets, vec![flow(0, 1, packets * rounds * 1024, 0)]);
        let last_leaves = (rounds - 1) * ROUND_TRIP + (packets - 1) * FULL;
        let expected = last_leaves + 2 * (FULL + CABLE);
        assert_eq!(fct_ps(&run(spec)), [expected], "{packets} packets");
    }
}

#[test]
fn a_window_that_is_never_full_changes_nothing() {
    // Twelve packets fill the round trip.
    let flows = || vec![flow(0, 1, 1_000_000, 0)];
    let without = run(with(Default::default(), flows()));
    let with = run(windowed(12, flows()));
    assert_eq!(fct_ps(&with), fct_ps(&without));
    assert_eq!(with.fingerprint, without.fingerprint);
}

/// An incast with marks, and a window that follows the rate down to the lowest one.
fn incast(follows: bool) -> Spec {
    let flows = (1..16).map(|src| flow(src, 0, 300_000, 0)).collect();
    let mut spec = plain(star(16), flows);
    spec.switch = isolating();
    let dcqcn = dcqcn::Spec {
        window: Some(Duration::from_us(1)),
        window_follows_rate: follows,
        ..quick_dcqcn()
    };
    control(&mut spec, congestion::Spec::Dcqcn(dcqcn));
    spec
}

#[test]
fn a_window_that_follows_the_rate_never_stops_a_flow() {
    let largest = |outcome: &Outcome| {
        *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap()
    };
    let [fixed, follows] = [false, true].map(|follows| run(incast(follows)));
    for outcome in [&fixed, &follows] {
        assert_eq!(outcome.counter("flows_unfinished"), 0);
        assert_eq!(outcome.counter("timeouts"), 0);
        assert!(outcome.counter("cnps_sent") > 0);
        // 1 us at 100 Gb/s are 12.2 packets: 15 senders have at most 12 of them in the queue.
        assert!(largest(outcome) <= 15 * 12 * 1086, "{}", largest(outcome));
        assert!(largest(outcome) > 14 * 11 * 1086, "{}", largest(outcome));
    }
    assert_ne!(fixed.fingerprint, follows.fingerprint);
}
