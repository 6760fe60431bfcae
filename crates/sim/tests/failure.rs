//! Links that fail during a run: what is lost is what was on them or sent there before that was
//! known, counted by hand, and everything goes on by other ways.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowId, FlowSpec, Instant, NodeId, PortIx};
use floodway_sim::failure::Failure;
use floodway_sim::host::transport::{self, rocev2::recovery, udp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::path;
use floodway_sim::{Outcome, Simulation, Spec};

/// A full packet of RoCEv2 at 100 Gb/s, with preamble and gap, and the delay of a link, in ps.
const FULL: u64 = (1_024 + 62 + 20) * 80;
const DELAY: u64 = 200_000;
/// What time it is over a link, at the switch before which packets leave back to back.
const PACKETS: u64 = 2_000;

fn failure(spec: &Spec, ends: [&str; 2], at: u64, until: u64, detection: u64) -> Failure {
    let node =
        |name: &str| NodeId(spec.graph.nodes.iter().position(|n| n.name == name).unwrap() as u32);
    let (node, peer) = (node(ends[0]), node(ends[1]));
    let port = spec.graph.node(node).ports.iter().position(|end| end.peer == peer).unwrap();
    Failure {
        node,
        port: PortIx(port as u16),
        at: Instant(at),
        until: Instant(until),
        detection: Duration(detection),
    }
}

/// One flow from leaf to leaf, and the spine that it takes.
fn two_ways(packets: u64) -> (Spec, String) {
    let spec = plain(clos(2, 2, 1), vec![flow(0, 1, packets * 1_024, 0)]);
    let leaf = spec.graph.switches().next().unwrap();
    let spine = spec.switch.path.by_flow(FlowId(0), 0, leaf, 2).unwrap();
    (spec, format!("spine {spine}"))
}

/// Packets that are on the link behind leaf 0 between the two times, of those that start there one
/// packet time after the other: the first when it has come over one link.
fn on_the_link(packets: u64, full: u64, down: u64, known: u64) -> u64 {
    let starts = |n: u64| (n + 1) * full + DELAY;
    let lost = |n: &u64| starts(*n) + full + DELAY > down && starts(*n) < known;
    (0..packets).filter(lost).count() as u64
}

#[test]
fn what_is_sent_until_the_failure_is_known_is_lost() {
    // Datagrams: nothing is sent again, and nothing comes back.
    let full = (1_024 + 46 + 20) * 80;
    for (at, detection) in [(20_000_000, 0), (20_000_000, 5_000_000), (33_333_333, 7_654_321)] {
        let (mut spec, spine) = two_ways(PACKETS);
        for profile in &mut spec.profiles {
            let payload = udp::Spec { payload: Bytes(1_024), ..Default::default() };
            profile.transport = transport::Spec::Udp(payload);
        }
        let failed = failure(&spec, ["leaf 0", &spine], at, u64::MAX, detection);
        spec.failures = vec![failed];
        spec.end = Duration::from_ms(1);
        let outcome = run(spec);
        let lost = on_the_link(PACKETS, full, at, at + detection);
        // Without a detection time those that the wire holds: 3 or 4 of them.
        assert!(detection > 0 || (3..=4).contains(&lost));
        assert_eq!(outcome.counter("lost_on_links"), lost);
        assert_eq!(drops(&outcome, "lost_on_link"), lost);
        assert_eq!(
            (outcome.counter("dropped_packets"), outcome.counter("reordered_packets")),
            (0, 0)
        );
        let flows = outcome.table("flows");
        assert_eq!(flows.u64s("lost_packets"), [lost]);
        assert_eq!(flows.u64s("delivered_bytes"), [(PACKETS - lost) * 1_024]);
    }
}

#[test]
fn the_flow_goes_on_by_the_other_way() {
    let (mut spec, spine) = two_ways(PACKETS);
    let at = 20_000_000;
    spec.failures = vec![failure(&spec, ["leaf 0", &spine], at, u64::MAX, 0)];
    rocev2(&mut spec, |rocev2| {
        rocev2.recovery = recovery::Spec::SelectiveRepeat(Default::default());
    });
    let outcome = run(spec);
    let lost = on_the_link(PACKETS, FULL, at, at);
    let flows = outcome.table("flows");
    assert_eq!(flows.u64s("lost_packets"), [lost]);
    assert_eq!(flows.u64s("retransmitted_packets"), [lost]);
    assert_eq!(outcome.counter("timeouts"), 0);
    // The host sends all the time, those that were lost once more.
    assert_eq!(fct_ps(&outcome), [(PACKETS + lost + 3) * FULL + 4 * DELAY]);
}

#[test]
fn what_is_over_before_it_is_known_changes_no_routes() {
    let (mut spec, spine) = two_ways(PACKETS);
    let (at, until) = (20_000_000, 25_000_000);
    spec.failures = vec![failure(&spec, ["leaf 0", &spine], at, until, 1_000_000_000)];
    rocev2(&mut spec, |rocev2| {
        rocev2.recovery = recovery::Spec::SelectiveRepeat(Default::default());
    });
    let outcome = run(spec);
    assert_eq!(
        outcome.table("flows").u64s("lost_packets"),
        [on_the_link(PACKETS, FULL, at, until)]
    );
    // Nothing has gone by the other spine.
    let links = outcome.table("links");
    let rows = links.texts("node").iter().zip(links.texts("peer")).zip(links.u64s("frames"));
    let to_other = |((node, peer), _): &((&String, &String), &u64)| {
        *node == "leaf 0" && peer.starts_with("spine") && **peer != spine
    };
    assert_eq!(rows.filter(to_other).map(|(_, frames)| *frames).sum::<u64>(), 0);
}

#[test]
fn when_it_works_again_it_is_used_again() {
    let (mut spec, spine) = two_ways(PACKETS);
    // Known at 30 us, and that it works again at 60 us.
    spec.failures = vec![failure(&spec, ["leaf 0", &spine], 20_000_000, 50_000_000, 10_000_000)];
    for profile in &mut spec.profiles {
        let payload = udp::Spec { payload: Bytes(1_024), ..Default::default() };
        profile.transport = transport::Spec::Udp(payload);
    }
    spec.end = Duration::from_ms(1);
    let outcome = run(spec);
    let full = (1_024 + 46 + 20) * 80;
    let starts = |n: u64| (n + 1) * full + DELAY;
    let other = (0..PACKETS).filter(|n| (30_000_000..60_000_000).contains(&starts(*n))).count();
    let links = outcome.table("links");
    let rows = links.texts("node").iter().zip(links.texts("peer")).zip(links.u64s("frames"));
    let uplinks: Vec<u64> = rows
        .filter(|((node, peer), _)| *node == "leaf 0" && peer.starts_with("spine"))
        .map(|((_, peer), frames)| if *peer == spine { PACKETS - frames } else { *frames })
        .collect();
    assert_eq!(uplinks, [other as u64; 2]);
}

/// Host 0 sends to host 1, whose link is down from 20 us on, which is known 5 us later.
fn cut_off(until: u64) -> Outcome {
    let mut spec = plain(star(2), vec![flow(0, 1, PACKETS * 1_024, 0)]);
    spec.failures = vec![failure(&spec, ["host 1", "switch"], 20_000_000, until, 5_000_000)];
    rocev2(&mut spec, |rocev2| {
        rocev2.recovery = recovery::Spec::SelectiveRepeat(Default::default());
    });
    spec.end = Duration::from_ms(5);
    run(spec)
}

#[test]
fn a_host_that_is_cut_off_waits() {
    let outcome = cut_off(u64::MAX);
    assert_eq!(outcome.counter("flows_unfinished"), 1);
    // What has come until 20 us.
    let arrived = |n: &u64| (n + 2) * FULL + 2 * DELAY <= 20_000_000;
    let arrived = (0..PACKETS).filter(arrived).count() as u64;
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [arrived * 1_024]);
    // What came to the switch later was dropped there, all but what was sent until 25 us.
    let sent = outcome.table("flows").u64s("packets_sent")[0];
    let lost = on_the_link(PACKETS, FULL, 20_000_000, 25_000_000);
    assert_eq!(drops(&outcome, "link_down"), sent - arrived - lost);
    assert!(outcome.counter("timeouts") > 10);

    // It works again from 1 ms on, which is known at 1.005 ms; the next timeout comes within 320 us,
    // and what is left takes 177 us.
    let outcome = cut_off(1_000_000_000);
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    let fct = fct_ps(&outcome)[0];
    assert!((1_005_000_000..1_005_000_000 + 320_000_000 + 200_000_000).contains(&fct), "{fct}");
}

#[test]
fn what_waits_at_the_port_is_dropped() {
    // Two hosts send at full rate to a third: after 20 us half of what they sent waits.
    let flows = vec![flow(0, 2, PACKETS * 1_024, 0), flow(1, 2, PACKETS * 1_024, 0)];
    let mut spec = plain(star(3), flows);
    for profile in &mut spec.profiles {
        let payload = udp::Spec { payload: Bytes(1_024), ..Default::default() };
        profile.transport = transport::Spec::Udp(payload);
    }
    spec.failures = vec![failure(&spec, ["host 2", "switch"], 20_000_000, u64::MAX, 0)];
    spec.end = Duration::from_ms(1);
    let outcome = run(spec);
    let full = (1_024 + 46 + 20) * 80;
    // They come two by two from the first packet's end on and go one by one.
    let went = |n: u64| (n + 2) * full + 2 * DELAY;
    let arrived = (0..PACKETS).filter(|n| went(*n) <= 20_000_000).count() as u64;
    let lost = on_the_link(PACKETS, full, 20_000_000, 20_000_000);
    assert_eq!(outcome.table("flows").u64s("delivered_bytes").iter().sum::<u64>(), arrived * 1_024);
    assert_eq!(outcome.counter("lost_on_links"), lost);
    assert_eq!(drops(&outcome, "link_down"), 2 * PACKETS - arrived - lost);
}

#[test]
fn without_any_way_packets_are_dropped_where_they_come_in() {
    let (mut spec, _) = two_ways(PACKETS);
    let down = |spine: &str| failure(&spec, ["leaf 1", spine], 20_000_000, u64::MAX, 0);
    spec.failures = vec![down("spine 0"), down("spine 1")];
    spec.end = Duration::from_ms(1);
    let outcome = run(spec);
    assert_eq!(outcome.counter("flows_unfinished"), 1);
    assert!(drops(&outcome, "no_route") > 0);
    let table = outcome.table("drops");
    let row = table.texts("reason").iter().position(|reason| reason == "no_route").unwrap();
    assert_eq!((&*table.texts("node")[row], table.u64s("port")[row]), ("leaf 0", 0));
}

#[test]
fn a_pause_ends_with_the_link_that_it_came_by() {
    // Host 0 is stopped by the switch for a pause of 335 us, as host 1 is by itself; then its link
    // is down for a moment.
    let mut spec = plain(star(3), vec![flow(0, 2, 200_000, 0), flow(1, 2, 200_000, 0)]);
    let limits = pfc::Spec { xoff: Bytes(20_000), xon: Bytes(2_000), ..prompt_pfc() };
    spec.switch.flow_control.pfc = Some(limits);
    let of_host = |outcome: &Outcome| {
        let table = outcome.table("pauses");
        let row = table.texts("node").iter().position(|node| node == "host 0").unwrap();
        table.f64s("paused_ns")[row]
    };
    let before = of_host(&run(spec.clone()));
    assert!(before > 1_000.0, "{before}");
    // From before the first pause on until all is over.
    spec.failures = vec![failure(&spec, ["host 0", "switch"], 100_000, 900_000_000, 0)];
    assert_eq!(of_host(&run(spec)), 0.0);
}

#[test]
fn only_pause_frames_that_are_sent_are_counted() {
    // Three hosts send to a fourth. Until 900 ns seven frames of each have come, every 88.48 ns from
    // 288.48 ns on, and as many have left: 14 wait. Then the link of host 0 is down, and two come for
    // one that leaves: five slots later 19 frames are more than 20 KB, and there still are some of
    // host 0 among them, which is to be stopped like the others. Going on takes until 1 frame is left,
    // at 100 Gb/s well after 2 us.
    let counted = |until: Option<u64>| {
        let flows = [0, 1, 2].map(|src| flow(src, 3, 200_000, 0)).to_vec();
        let mut spec = plain(star(4), flows);
        let limits = pfc::Spec { xoff: Bytes(20_000), xon: Bytes(2_000), ..prompt_pfc() };
        spec.switch.flow_control.pfc = Some(limits);
        let failure = |until| failure(&spec, ["host 0", "switch"], 900_000, until, 0);
        spec.failures = until.map(failure).into_iter().collect();
        spec.end = Duration::from_us(2);
        let outcome = run(spec);
        let table = outcome.table("pauses");
        let of_switch = (0..table.rows()).filter(|&row| table.texts("node")[row] == "switch");
        let frames = ["xoff_frames", "refresh_frames", "xon_frames"].map(|name| table.u64s(name));
        of_switch.map(|row| frames.map(|frames| frames[row])).collect::<Vec<_>>()
    };
    let (none, xoff) = ([0, 0, 0], [1, 0, 0]);
    assert_eq!(counted(None), [xoff, xoff, xoff, none]);
    // No node receives it.
    assert_eq!(counted(Some(900_000_000)), [none, xoff, xoff, none]);
    // It is stopped when its link works again.
    assert_eq!(counted(Some(1_500_000)), [xoff, xoff, xoff, none]);
}

/// Hosts that send to each other through spines while links to all spines fail and come back.
fn failing(seed: u64) -> Spec {
    let flows: Vec<FlowSpec> =
        busy_flows().into_iter().filter(|flow| flow.bytes < 1 << 40).collect();
    let mut spec = plain(clos(4, 3, 8), flows);
    let pfc = pfc::Spec { xoff: Bytes(40_000), xon: Bytes(20_000), ..prompt_pfc() };
    spec.switch.flow_control.pfc = Some(pfc);
    spec.switch.path = [
        path::Spec::default(),
        path::Spec::Flowlet(path::flowlet::Spec { gap: Duration::from_us(5), entries: 64 }),
        path::Spec::Spray(path::spray::Spec { order: path::spray::Order::RoundRobin }),
        path::Spec::LeastLoaded(Default::default()),
        path::Spec::DModK(Default::default()),
    ][seed as usize % 5]
        .clone();
    let tolerant = recovery::selective_repeat::Spec {
        reordering: Duration::from_us(50),
        ..Default::default()
    };
    rocev2(&mut spec, |rocev2| {
        rocev2.recovery = recovery::Spec::SelectiveRepeat(tolerant.clone());
        // What switches write into packets is freed where these end.
        rocev2.telemetry = seed == 1;
    });
    let us = |us: u64| us * 1_000_000;
    spec.failures = vec![
        failure(&spec, ["leaf 0", "spine 1"], us(100), us(400), us(20)),
        failure(&spec, ["leaf 1", "spine 1"], us(200), us(300), us(150)),
        failure(&spec, ["spine 0", "leaf 2"], us(150), us(700), 0),
        failure(&spec, ["leaf 0", "spine 1"], us(420), us(500), us(5)),
        failure(&spec, ["host 3", "leaf 0"], us(250), us(600), us(10)),
    ];
    (spec.end, spec.seed) = (Duration::from_ms(20), seed);
    spec
}

#[test]
fn everything_arrives_and_threads_do_not_matter() {
    for seed in 0..5 {
        let spec = failing(seed);
        let on = |threads| {
            let stop = AtomicBool::new(false);
            Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
        };
        let one = on(1);
        assert_eq!(one.violations, Vec::<String>::new(), "{seed}");
        assert_eq!(one.counter("flows_unfinished"), 0, "{seed}");
        assert!(one.counter("lost_on_links") > 100 && drops(&one, "link_down") > 0, "{seed}");
        for threads in 2..=4 {
            assert_eq!(one.fingerprint, on(threads).fingerprint, "{seed} on {threads}");
        }
    }
}

#[test]
fn a_failure_after_the_end_changes_nothing() {
    let spec = |seed| Spec { failures: Vec::new(), ..failing(seed) };
    for seed in 0..5 {
        let last = Instant(Duration::from_ms(19).0);
        let host = spec(seed).graph.nodes.iter().position(|n| n.kind == NodeKind::Host).unwrap();
        let never = Failure {
            node: NodeId(host as u32),
            port: PortIx(0),
            at: last,
            until: Instant::NEVER,
            detection: Duration::ZERO,
        };
        let with = Spec { failures: vec![never], ..spec(seed) };
        assert_eq!(run(with).fingerprint, run(spec(seed)).fingerprint, "{seed}");
    }
}
