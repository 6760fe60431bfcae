//! Priority-based flow control: lossless exactly as long as the headroom is there.

use crate::common::*;
use floodway_model::{Bytes, Dscp, Duration, Ecn, FlowSpec, Instant, NodeId, Rate};
use floodway_sim::host::PauseScope;
use floodway_sim::switch::buffer;
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::classify;
use floodway_sim::switch::fabric;
use floodway_sim::switch::flow_control::pausing::Link;
use floodway_sim::switch::flow_control::pfc::{MeasuredOn, Spec as Pfc};
use floodway_sim::{Simulation, Spec};

const SENDERS: u32 = 200;
/// The length of every data frame here.
const FRAME: u64 = 1_086;

/// Hosts 1 to 200 send to host 0 as fast as they can; hosts 201 to 400 keep the wires back to them
/// busy, so that a pause frame may find a full frame in its way.
fn incast(headroom: Bytes) -> Spec {
    let persistent = |src, dst| flow(src, dst, FlowSpec::PERSISTENT, 0);
    let to_one = (1..=SENDERS).map(|src| persistent(src, 0));
    let back = (1..=SENDERS).map(|dst| persistent(SENDERS + dst, dst));
    let mut spec = plain(star(2 * SENDERS + 1), to_one.chain(back).collect());
    let pfc = pfc();
    spec.switch.queue.size = pfc.xoff + headroom;
    spec.switch.flow_control.pfc = Some(pfc);
    spec.end = Duration::from_us(300);
    spec
}

fn pfc() -> Pfc {
    Pfc {
        xoff: Bytes(20_000),
        xon: Bytes(10_000),
        measured_on: MeasuredOn::Ingress,
        response: Some(Duration::from_ns(100)),
        ..prompt_pfc()
    }
}

fn headroom() -> Bytes {
    let link = Link {
        rate: Rate::from_gbps(100),
        delay: Duration::from_ns(200),
        lossless_classes: 1,
        smallest_frame: 64,
        largest_frame: 1086,
        wire_overhead: 20,
        latency: Duration::ZERO,
        cell: Cell::default(),
    };
    link.headroom(pfc().response.unwrap())
}

/// What frames of one length can need of it: the one that crosses XOFF and, in 683.68 ns, 8546
/// bytes, seven of 1106. The rest, 804 bytes, has room for a shorter frame only.
fn of_whole_frames() -> Bytes {
    assert_eq!(headroom(), Bytes(8 * FRAME + 784));
    Bytes(8 * FRAME)
}

#[test]
fn nothing_is_lost_with_the_computed_headroom() {
    for headroom in [headroom(), of_whole_frames()] {
        let outcome = run(incast(headroom));
        assert!(outcome.counter("xoff_frames") >= u64::from(SENDERS));
        assert!(outcome.counter("xon_frames") > 0);
        assert_eq!(outcome.counter("dropped_packets"), 0);
    }
}

#[test]
fn one_frame_less_loses() {
    loses(incast(of_whole_frames() - Bytes(FRAME)));
}

fn loses(spec: Spec) {
    let outcome = Simulation::new(spec).run();
    let lost = outcome.counter("dropped_packets");
    assert!(lost > 0);
    // And floodway says so.
    assert_eq!(
        outcome.violations,
        [format!("switch: {lost} packets of lossless classes were dropped")]
    );
}

#[test]
fn queues_at_the_inputs_of_a_crossbar_need_the_same_headroom() {
    // What came by a port is counted when it comes, wherever it waits then. Frames back to the senders
    // begin at different times, so that some pause finds one in its way that has just begun.
    for fabric in
        [fabric::Spec::InputFifo(Default::default()), fabric::Spec::Voq(Default::default())]
    {
        let behind = |headroom| {
            let mut spec = incast(headroom);
            spec.switch.fabric = fabric.clone();
            let back = spec.flows.iter_mut().filter(|flow| flow.dst != NodeId(0));
            back.zip(0..).for_each(|(flow, number)| flow.start = Instant(number % 90 * 1_000));
            spec.flows.sort_by_key(|flow| flow.start);
            // Every sender is paused within 4 us.
            spec.end = Duration::from_us(40);
            spec
        };
        let outcome = run(behind(of_whole_frames()));
        assert!(outcome.counter("xoff_frames") >= u64::from(SENDERS));
        assert_eq!(outcome.counter("dropped_packets"), 0);
        loses(behind(of_whole_frames() - Bytes(FRAME)));
    }
}

#[test]
fn a_port_with_memory_of_its_own_needs_the_same_headroom() {
    let divided = |headroom| {
        let mut spec = incast(headroom);
        let size = std::mem::replace(&mut spec.switch.queue.size, Bytes(0));
        spec.switch.buffer = buffer::Spec::PerPort(buffer::per_port::Spec { size });
        spec
    };
    assert_eq!(run(divided(of_whole_frames())).counter("dropped_packets"), 0);
    loses(divided(of_whole_frames() - Bytes(FRAME)));
}

#[test]
fn an_egress_queue_counts_what_waits_for_it_at_inputs() {
    // Three senders, 20 KB above XOFF for each: 4 x 20 KB hold what they may send before they stop,
    // although only two frames ever wait at the egress.
    for fabric in
        [fabric::Spec::InputFifo(Default::default()), fabric::Spec::Voq(Default::default())]
    {
        let flows = (1..4).map(|src| flow(src, 0, FlowSpec::PERSISTENT, 0)).collect();
        let mut spec = plain(star(4), flows);
        spec.switch.fabric = fabric;
        spec.switch.queue.size = Bytes(80_000);
        let measured_on = MeasuredOn::EgressQueue;
        spec.switch.flow_control.pfc = Some(Pfc { measured_on, ..pfc() });
        spec.end = Duration::from_us(300);
        let outcome = run(spec);
        let sent = outcome.table("pauses").u64s("xoff_frames").to_vec();
        // Rows of hosts 0 to 3, who send none, and of ports 0 to 3.
        assert_eq!(sent[..5], [0; 5]);
        assert!(sent[5..].iter().all(|&frames| frames > 5), "{sent:?}");
        assert_eq!(outcome.counter("dropped_packets"), 0);
    }
}

#[test]
fn pauses_expire_and_are_refreshed() {
    // 100 quanta are 512 ns at 100 Gb/s: far shorter than the wait for XON, so pauses only last
    // because they are refreshed.
    let mut spec = incast(headroom());
    let pfc = spec.switch.flow_control.pfc.as_mut().unwrap();
    pfc.quanta = 100;
    let outcome = run(spec);
    let refreshes: u64 = outcome.table("pauses").u64s("refresh_frames").iter().sum();
    let xoffs = outcome.counter("xoff_frames");
    assert!(refreshes > 10 * xoffs, "{refreshes} refreshes of {xoffs} pauses");
    assert_eq!(outcome.counter("pause_frames"), refreshes + xoffs);
    let longest =
        outcome.table("pauses").f64s("longest_pause_ns").iter().copied().fold(0.0, f64::max);
    assert!(longest > 10.0 * 512.0, "{longest}");
}

/// Pauses of one quantum, 5.12 ns, that are never refreshed: they last until a frame ends them, as long as those
/// of the test above, and nothing is lost.
#[test]
fn without_refreshes_a_pause_lasts_until_a_frame_ends_it() {
    let mut spec = incast(headroom());
    spec.switch.flow_control.pfc = Some(Pfc { quanta: 1, refresh: false, ..pfc() });
    let outcome = run(spec);
    let pauses = outcome.table("pauses");
    assert_eq!(pauses.u64s("refresh_frames").iter().sum::<u64>(), 0);
    let xoffs = outcome.counter("xoff_frames");
    assert!(xoffs > 0 && outcome.counter("pause_frames") == xoffs);
    let longest = pauses.f64s("longest_pause_ns").iter().copied().fold(0.0, f64::max);
    assert!(longest > 10.0 * 512.0, "{longest}");
}

#[test]
fn a_pause_holds_back_its_class_only() {
    // Host 2 sends to host 0, which host 1 congests, and to a host that is free and hashes to the
    // other class.
    let classify = classify::Spec::DestinationHash(Default::default());
    let class = |dst| classify.queue(Dscp::DEFAULT, Ecn::Ect0, NodeId(dst), 2);
    let free = (3..8).find(|&dst| class(dst) != class(0)).expect("both classes are used");
    let delivered_to_free = |pause_scope| {
        let pairs = [(1, 0), (2, 0), (2, free)];
        let flows = pairs.map(|(src, dst)| flow(src, dst, FlowSpec::PERSISTENT, 0)).to_vec();
        let mut spec = plain(star(8), flows);
        spec.switch = isolating();
        spec.switch.flow_control.congestion_isolation = None;
        spec.switch.classify = classify.clone();
        spec.host.pause_scope = pause_scope;
        spec.end = Duration::from_ms(2);
        let outcome = run(spec);
        assert!(outcome.counter("pause_frames") > 0);
        outcome.table("flows").u64s("delivered_bytes")[2]
    };
    // The free flow has half of the NIC while the other class may send and all of it while it may
    // not: well over half of the 25 MB that 100 Gb/s carry in 2 ms. A NIC that stops altogether
    // has nothing to give it while it is paused.
    let by_class = delivered_to_free(PauseScope::Class);
    let by_nic = delivered_to_free(PauseScope::Nic);
    assert!(by_class > 13_000_000, "{by_class}");
    assert!(by_nic < by_class * 9 / 10, "{by_nic} against {by_class}");
}

#[test]
fn pause_frames_that_wait_are_replaced_not_piled_up() {
    // Two quanta are 10 ns: the refreshes, every 5 ns, would leave the wire to nothing else.
    let mut spec = incast(headroom());
    spec.switch.flow_control.pfc.as_mut().unwrap().quanta = 2;
    spec.end = Duration::from_us(20);
    let outcome = Simulation::new(spec).run();
    let delivered: u64 = outcome.table("flows").u64s("delivered_bytes").iter().sum();
    // The incast alone can deliver 0.22 MB in 20 us.
    assert!(delivered > 190_000, "{delivered}");
}

#[test]
fn a_lossy_class_beside_a_lossless_one() {
    // Only class 1 is lossless: class 0 overflows, which is no violation, and is never paused.
    let pairs = [(1, 0), (2, 0), (3, 0)];
    let flows = pairs.map(|(src, dst)| flow(src, dst, FlowSpec::PERSISTENT, 0)).to_vec();
    let mut spec = plain(star(4), flows);
    spec.switch = isolating();
    spec.switch.flow_control.congestion_isolation = None;
    spec.switch.flow_control.pfc.as_mut().unwrap().queues = vec![1];
    spec.end = Duration::from_ms(1);
    let outcome = run(spec);
    assert!(outcome.counter("dropped_packets") > 0);
    assert_eq!(outcome.counter("pause_frames"), 0);
}
