//! Flows that begin after one another, against arithmetic.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use floodway_sim::host::transport::{self, Spec as Transport};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec, Stop};

/// Flows of these sizes from host 0 to host 1, one after another from `start_ns` on.
fn in_turn(sizes: &[u64], start_ns: u64) -> Vec<FlowSpec> {
    let flow = |&bytes: &u64| FlowSpec { in_turn: true, ..flow(0, 1, bytes, start_ns) };
    sizes.iter().map(flow).collect()
}

/// On a star, every host with this transport.
fn over(transport: Transport, hosts: u32, flows: Vec<FlowSpec>) -> Spec {
    let mut spec = plain(star(hosts), flows);
    spec.profiles.iter_mut().for_each(|profile| profile.transport = transport.clone());
    spec
}

fn ethernet() -> Transport {
    Transport::Ethernet(Default::default())
}

/// In picoseconds.
fn starts(outcome: &Outcome) -> Vec<u64> {
    outcome.table("flows").f64s("start_ns").iter().map(|ns| (ns * 1e3).round() as u64).collect()
}

/// A frame of this length at 100 Gb/s, preamble and gap included.
fn wire(frame: u64) -> u64 {
    (frame + 20) * 80
}

#[test]
fn a_flow_begins_when_the_last_packet_of_the_one_before_leaves() {
    let sizes = [3_000, 100, 1_501, 1, 64_000, 1_500];
    let rocev2 =
        Transport::Rocev2(transport::rocev2::Spec { mtu: Bytes(1_500), ..Default::default() });
    for (transport, overhead) in [(ethernet(), 18), (rocev2, 62)] {
        let outcome = run(over(transport, 2, in_turn(&sizes, 5)));
        let frame = |payload: u64| wire((payload + overhead).max(64));
        // The wire is never idle: `free` is when it has sent everything before.
        let (mut begun, mut fct) = (Vec::new(), Vec::new());
        let (mut free, mut start) = (5_000, 5_000);
        for bytes in sizes {
            begun.push(start);
            let full = bytes.div_ceil(1_500) - 1;
            // The last packet leaves after the full ones before it.
            start = free + full * frame(1_500);
            let last = frame(bytes - full * 1_500);
            free = start + last;
            // It may wait at the switch for the one before it, which is longer.
            let before = if full > 0 { frame(1_500) } else { 0 };
            fct.push(free + before.max(last) + 400_000 - begun[begun.len() - 1]);
        }
        assert_eq!(starts(&outcome), begun, "{overhead}");
        // A short flow may wait for the flow before it too.
        let measured = fct_ps(&outcome);
        assert_eq!([0, 2, 4, 5].map(|flow| measured[flow]), [0, 2, 4, 5].map(|flow| fct[flow]));
        assert_eq!(outcome.counter("flows_not_begun"), 0);
    }
}

#[test]
fn over_tcp_it_begins_with_the_last_segment_too() {
    let tcp = transport::tcp::Spec::default();
    let segment = tcp.mss.0;
    // Within the first window, so that nothing is waited for but the handshake.
    let outcome = run(over(Transport::Tcp(tcp), 2, in_turn(&[3 * segment, segment], 0)));
    let handshake = 4 * (wire(u64::from(transport::tcp::SYN_FRAME)) + 200_000);
    assert_eq!(starts(&outcome), [0, handshake + 2 * wire(segment + 70)]);
}

#[test]
fn with_memory_a_flow_begins_when_there_is_room() {
    // The memory has room for two frames.
    let mut spec = over(ethernet(), 2, in_turn(&[1_500; 6], 0));
    spec.host.buffer = Some(Bytes(2 * 1_518));
    (spec.latencies, spec.measured_until) = (true, Duration::from_ms(1));
    let outcome = run(spec);
    // Two go in at once, and a third when the first is being sent: then the fourth begins.
    let frame = wire(1_518);
    assert_eq!(starts(&outcome), [0, 0, 0, 0, frame, 2 * frame]);
    // The first is on the wire at once, the second waits for one frame, all others for two.
    let latency = |waits: u64| (waits + 2) * frame + 400_000;
    let total = [0, 1, 2, 2, 2, 2].map(latency).iter().sum::<u64>();
    assert_eq!(outcome.table("latencies").f64s("total_ns").iter().sum::<f64>(), total as f64 / 1e3);
}

#[test]
fn workloads_and_senders_do_not_wait_for_each_other() {
    // Both begin at once and take turns packet by packet; another host is not concerned.
    let mut flows = in_turn(&[3_000, 1_500], 0);
    flows.extend(
        in_turn(&[3_000, 1_500], 0).into_iter().map(|flow| FlowSpec { workload: 1, ..flow }),
    );
    let other = flows[0].clone();
    flows.push(FlowSpec { src: floodway_model::NodeId(2), ..other });
    let outcome = run(over(ethernet(), 3, flows));
    let frame = wire(1_518);
    // Sent are packets of workload 0, 1, 0 and 1, the third of which is the last of a flow.
    assert_eq!(starts(&outcome), [0, 2 * frame, 0, 3 * frame, 0]);
}

#[test]
fn none_begins_before_its_start() {
    let mut flows = in_turn(&[1_500, 1_500, 1_500], 0);
    flows[1].start = Instant(Duration::from_us(7).0);
    flows[2].start = flows[1].start;
    flows.insert(1, flow(0, 1, 1_500, 3_000));
    flows[1].workload = 1;
    let outcome = run(over(ethernet(), 2, flows));
    assert_eq!(starts(&outcome), [0, 3_000_000, 7_000_000, 7_000_000]);
}

#[test]
fn those_that_are_too_late_never_begin_and_nobody_waits_for_them() {
    let frame = wire(1_518);
    for (stop, begin) in [(2 * frame + 1, 4), (2 * frame, 3)] {
        let mut flows = in_turn(&[1_500; 9], 0);
        flows.iter_mut().for_each(|flow| flow.stop = Instant(stop));
        let mut spec = over(ethernet(), 2, flows);
        spec.end = Duration::from_ms(100);
        let outcome = run(spec);
        // The first two both begin at 0, and then one with each frame.
        assert_eq!(
            starts(&outcome),
            (0..begin).map(|n: u64| n.saturating_sub(1) * frame).collect::<Vec<_>>()
        );
        let flows = outcome.table("flows");
        assert_eq!(flows.u64s("flow"), (0..begin).collect::<Vec<_>>());
        assert!(flows.f64s("stop_ns").iter().all(|stop| stop.is_nan()));
        assert!(flows.f64s("fct_ns").iter().all(|fct| *fct > 0.0));
        assert_eq!(outcome.counter("flows_not_begun"), 9 - begin);
        assert_eq!((outcome.counter("flows"), outcome.counter("flows_unfinished")), (begin, 0));
        assert_eq!(outcome.stop, Stop::FlowsDone);
    }
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    // Every host sends to every other, one flow after another, over a network that loses packets.
    let mut flows = Vec::new();
    for src in 0..16 {
        for n in 0..300 {
            let dst = (src + 1 + n * 7 % 15) % 16;
            let turn = flow(src, dst, u64::from(50 + n * 997 % 9_000), 0);
            flows.push(FlowSpec { in_turn: true, stop: Instant(100_000_000), ..turn });
        }
    }
    for memory in [None, Some(Bytes(16_000))] {
        let mut spec = over(ethernet(), 2, flows.clone());
        (spec.graph, spec.host.buffer, spec.latencies) = (clos(4, 2, 4), memory, true);
        (spec.end, spec.switch.queue.size) = (Duration::from_ms(1), Bytes(30_000));
        let on = |threads| {
            let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
            Simulation::new(spec.clone()).run_with(&run)
        };
        let [one, two, three] = [1, 2, 3].map(on);
        assert_eq!(one.violations, Vec::<String>::new());
        assert!(one.counter("dropped_packets") > 0 && one.counter("flows_not_begun") > 0);
        assert_eq!([two.fingerprint, three.fingerprint], [one.fingerprint; 2]);
    }
}
