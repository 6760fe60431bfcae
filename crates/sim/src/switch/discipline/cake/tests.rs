use super::*;
use crate::link::Link;
use crate::switch::discipline::stand::{self, flows, packet};
use crate::switch::mechanism::SitePort;
use floodway_model::{Dscp, Ecn, NodeId, Tos};

fn cake(spec: &Spec) -> Cake {
    let link = Link { rate: Rate::from_mbps(100), largest_frame: 1_518, ..Link::PLAIN };
    let ports = [SitePort { link, ..SitePort::HOST }];
    spec.build(&Site::with_ports("s", 1, &ports), 0, 0)
}

/// A packet between two hosts with a DSCP.
fn between(flow: u32, [src, dst]: [u32; 2], dscp: u8, bytes: u16) -> Queued {
    let mut queued = packet(flow, 0, bytes);
    (queued.packet.src, queued.packet.dst) = (NodeId(src), NodeId(dst));
    queued.packet.tos = Tos::new(Dscp(dscp), Ecn::NotEct);
    queued
}

fn push(cake: &mut Cake, queued: Queued, now: Instant) {
    cake.push(queued, now, &mut Stream::named(1, "none"));
    assert!(cake.is_consistent());
}

/// When packets leave, in nanoseconds, and their flows, if the link is always free and the AQM is not asked.
fn leave(cake: &mut Cake, count: usize) -> Vec<(u64, u32)> {
    let mut now = Instant::ZERO;
    let mut left = Vec::new();
    while left.len() < count {
        let next = cake.settle(now);
        let Some(head) = cake.head().copied() else {
            assert!(next > now, "it does not say when to ask again");
            now = next;
            continue;
        };
        assert_eq!(cake.pop().unwrap().packet.flow, head.packet.flow);
        cake.on_sent(&head.packet, &Transmitter::new(SitePort::HOST.link), now);
        assert!(cake.is_consistent());
        left.push((now.0 / 1_000, head.packet.flow.0));
    }
    left
}

/// By hand. At 10 Mb/s, a full frame on a VDSL2 line with PPPoE is 1554 bytes long and takes 1,243,200 ns; on ADSL with
/// PPPoE and LLC/SNAP it is 33 cells, 1749 bytes and 1,399,200 ns; the smallest frame, 64 bytes, is 84 on Ethernet and takes
/// 67,200 ns.
#[test]
fn the_shaper_is_exact_to_the_byte() {
    for (line, bytes, ns) in [
        (Line::PppoePtm, 1_518, 1_243_200),
        (Line::PppoeLlcsnap, 1_518, 1_399_200),
        (Line::Ethernet, 64, 67_200),
        (Line::Raw, 1_518, 1_211_200),
    ] {
        let mut cake = cake(&Spec { rate: Some(Rate::from_mbps(10)), line, ..Spec::default() });
        (0..4).for_each(|_| push(&mut cake, packet(1, 0, bytes), Instant::ZERO));
        let times: Vec<u64> = leave(&mut cake, 4).into_iter().map(|(ns, _)| ns).collect();
        assert_eq!(times, [0, ns, 2 * ns, 3 * ns], "{line:?}");
    }
}

/// The deficit is not lost if a packet comes late, and an idle shaper does not save time for a burst: 1514 bytes at 10 Mb/s
/// take 1,211,200 ns.
#[test]
fn an_idle_shaper_saves_nothing() {
    let mut cake = cake(&Spec { rate: Some(Rate::from_mbps(10)), ..Spec::default() });
    push(&mut cake, packet(1, 0, 1_518), Instant::ZERO);
    assert_eq!(leave(&mut cake, 1), [(0, 1)]);
    // The shaper lets nothing go until 1,211,200 ns, although the queue was empty in between.
    let at = |ns: u64| Instant(ns * 1_000);
    push(&mut cake, packet(1, 0, 1_518), at(1_000_000));
    assert_eq!(cake.settle(at(1_000_000)), at(1_211_200));
    assert!(cake.head().is_none());
    assert_eq!(cake.settle(at(1_211_200)), Instant::NEVER);
    let left = cake.pop().unwrap().packet;
    cake.on_sent(&left, &Transmitter::new(SitePort::HOST.link), at(1_211_200));
    // After 100 ms, two packets are as far apart as ever.
    (0..2).for_each(|_| push(&mut cake, packet(1, 0, 1_518), at(100_000_000)));
    cake.settle(at(100_000_000));
    let left = cake.pop().unwrap().packet;
    cake.on_sent(&left, &Transmitter::new(SitePort::HOST.link), at(100_000_000));
    assert_eq!(cake.settle(at(100_000_000)), at(101_211_200));
}

#[test]
fn a_share_is_of_the_rate_of_the_link() {
    let cake = cake(&Spec { share: Some(0.95), ..Spec::default() });
    assert_eq!(cake.rate, Some(Rate::from_mbps(95)));
}

/// By hand, from tc-cake(8) and the paper. At 10 Mb/s a packet of 1514 bytes takes 1.2112 ms, and one and a half 1.8168 ms:
/// the target stays 5 ms. In the bulk tin, with a sixteenth, they take 29.0688 ms, which is the target, and the interval is
/// as much longer: 124.0688 ms. At 100 kb/s, they take 181.68 ms, and the interval is twice that.
#[test]
fn slow_tins_have_longer_targets() {
    let of = |rate: Rate, tin: usize| {
        let cake = cake(&Spec { rate: Some(rate), ..Spec::default() });
        let Params { target, interval, .. } = cake.tins[tin].params;
        [target, interval].map(|time| time.0 / 1_000)
    };
    assert_eq!(of(Rate::from_mbps(10), 0), [5_000_000, 100_000_000]);
    assert_eq!(of(Rate::from_mbps(10), 1), [29_068_800, 124_068_800]);
    assert_eq!(of(Rate(100_000), 0), [181_680_000, 363_360_000]);
}

/// Two flows of host 1 and one of host 2, to the same host, at a quantum of 1514 bytes with frames of 757 + FCS: with
/// isolation of sources, the flows of host 1 have half a quantum each, so that in a round each sends one packet and the flow
/// of host 2 sends two.
#[test]
fn hosts_share_equally_whatever_their_flows() {
    let shares = |isolation| {
        let spec = Spec { isolation, diffserv: Diffserv::Besteffort, ..Spec::default() };
        let mut cake = cake(&spec);
        for _ in 0..400 {
            push(&mut cake, between(1, [1, 9], 0, 761), Instant::ZERO);
            push(&mut cake, between(2, [1, 9], 0, 761), Instant::ZERO);
            push(&mut cake, between(3, [2, 9], 0, 761), Instant::ZERO);
        }
        // The first round is that of new flows.
        leave(&mut cake, 6);
        let left = leave(&mut cake, 400);
        [1, 2, 3].map(|flow| left.iter().filter(|(_, of)| *of == flow).count())
    };
    for isolation in [Isolation::DualSrchost, Isolation::TripleIsolate] {
        let [one, two, three] = shares(isolation);
        // To triple isolation the destination has three flows: a third of a quantum each.
        let expected = if isolation == Isolation::DualSrchost { [100, 100, 200] } else { [133; 3] };
        for (found, expected) in [one, two, three].into_iter().zip(expected) {
            assert!(found.abs_diff(expected) <= 4, "{isolation:?}: {found} of {expected}");
        }
    }
    let [one, two, three] = shares(Isolation::Flows);
    assert!([one, two, three].iter().all(|found| found.abs_diff(133) <= 2), "{one} {two} {three}");
    // One flow queue for each source: those of host 1 share theirs.
    let [one, two, three] = shares(Isolation::Srchost);
    assert!([one + two, three].iter().all(|found| found.abs_diff(200) <= 2), "{one} {two} {three}");
}

/// Voice has priority up to a quarter of the rate, and bulk up to a sixteenth. At 10 Mb/s for 16 packets of 1514 bytes: one
/// is bulk, four are voice, and eleven are best effort. With the first of each tin at once, the order is not the same in each
/// round.
#[test]
fn tins_have_priority_up_to_their_thresholds() {
    let mut cake = cake(&Spec { rate: Some(Rate::from_mbps(10)), ..Spec::default() });
    for _ in 0..400 {
        for (flow, dscp) in [(1, 0), (2, 8), (3, 46)] {
            push(&mut cake, between(flow, [1, 9], dscp, 1_518), Instant::ZERO);
        }
    }
    let left = leave(&mut cake, 320);
    assert_eq!(left[0].1, 3);
    let count = |flow| left.iter().filter(|(_, of)| *of == flow).count();
    for (flow, expected) in [(1, 220), (2, 20), (3, 80)] {
        assert!(count(flow).abs_diff(expected) <= 2, "{flow}: {}", count(flow));
    }
}

/// Without a shaper, tins share by weights: 1024, 64 and 256 bytes a round.
#[test]
fn tins_without_a_shaper_share_by_weights() {
    let mut cake = cake(&Spec::default());
    for _ in 0..1_000 {
        for (flow, dscp) in [(1, 0), (2, 8), (3, 46)] {
            push(&mut cake, between(flow, [1, 9], dscp, 1_004), Instant::ZERO);
        }
    }
    let left = leave(&mut cake, 840);
    let count = |flow| left.iter().filter(|(_, of)| *of == flow).count();
    // 1344 parts in all: 840 packets are 640, 40 and 160.
    for (flow, expected) in [(1, 640), (2, 40), (3, 160)] {
        assert!(count(flow).abs_diff(expected) <= 4, "{flow}: {}", count(flow));
    }
}

/// A flow that sends a packet now and then is never behind more than the packet on the wire.
#[test]
fn a_sparse_flow_goes_first() {
    let mut cake = cake(&Spec::default());
    (0..10).for_each(|_| push(&mut cake, packet(1, 0, 1_518), Instant::ZERO));
    assert_eq!(flows(&mut cake, 2), [1, 1]);
    push(&mut cake, packet(2, 0, 200), Instant::ZERO);
    assert_eq!(flows(&mut cake, 2), [2, 1]);
    push(&mut cake, packet(3, 0, 200), Instant::ZERO);
    assert_eq!(flows(&mut cake, 2), [3, 1]);
}

/// The longest flow queue loses the packet at its head, whatever its tin.
#[test]
fn the_longest_queue_loses_its_first_packet() {
    let mut cake = cake(&Spec::default());
    for (flow, dscp, bytes) in [(1, 0, 500), (2, 46, 400), (2, 46, 400), (3, 8, 700)] {
        push(&mut cake, between(flow, [1, 9], dscp, bytes), Instant::ZERO);
    }
    let mut out = |flow, bytes| {
        let out = cake.push_out(&packet(flow, 0, bytes).packet, Instant::ZERO);
        assert!(cake.is_consistent());
        out.map(|queued| (queued.packet.flow.0, queued.packet.bytes))
    };
    assert_eq!(out(4, 100), Some((2, 400)));
    assert_eq!(out(1, 100), Some((3, 700)));
    assert_eq!(out(1, 100), Some((1, 500)));
    assert_eq!(out(9, 1_500), None);
}

/// 1,000 flows in 1,024 flow queues. A set of eight has no room for a flow only if eight others chose it before: by
/// simulation of balls and bins, 130 of the flows share a queue, with a standard deviation of 10. With a plain hash it would
/// be 1,000 - 1,024 (1 - exp(-1000 / 1024)) = 362.
#[test]
fn eight_ways_avoid_collisions() {
    let mut cake = cake(&Spec::default());
    (0..1_000).for_each(|flow| push(&mut cake, packet(flow, 0, 100), Instant::ZERO));
    let queues = cake.tins[0].used();
    assert!((870 - 50..=870 + 50).contains(&queues), "{queues}");
    // Up to eight flows of a set never collide.
    let mut few = self::cake(&Spec::default());
    (0..8).for_each(|flow| push(&mut few, packet(flow, 0, 100), Instant::ZERO));
    assert_eq!(few.tins[0].used(), 8);
}

/// At 10 Mb/s a packet takes 1,211,200 ns. In ingress mode, a packet that is dropped for lack of room has taken its time of the
/// shaper, as it has crossed the line: the next one leaves as much later.
#[test]
fn in_ingress_mode_the_shaper_counts_what_is_dropped() {
    let times = |ingress| {
        let spec = Spec { rate: Some(Rate::from_mbps(10)), ingress, ..Spec::default() };
        let mut cake = cake(&spec);
        (0..3).for_each(|_| push(&mut cake, packet(1, 0, 1_518), Instant::ZERO));
        assert!(cake.push_out(&packet(1, 0, 1_518).packet, Instant::ZERO).is_some());
        leave(&mut cake, 2).into_iter().map(|(ns, _)| ns).collect::<Vec<_>>()
    };
    assert_eq!(times(false), [0, 1_211_200]);
    assert_eq!(times(true), [1_211_200, 2_422_400]);
}

/// A packet that COBALT drops counts too, and another one goes in its place at once. The delay is above the target at 10 ms,
/// and a packet is dropped 100 ms later. Then the shaper has counted three packets since it was set: the one that left at 10
/// ms is before that.
#[test]
fn in_ingress_mode_the_shaper_counts_what_cobalt_drops() {
    let waits_until = |ingress| {
        let spec = Spec { rate: Some(Rate::from_mbps(10)), ingress, ..Spec::default() };
        let mut cake = cake(&spec);
        (0..200).for_each(|_| push(&mut cake, packet(1, 0, 1_518), Instant::ZERO));
        let mut rng = Stream::named(1, "none");
        let mut ask = |cake: &mut Cake, now: Instant| {
            assert_eq!(cake.settle(now), Instant::NEVER);
            let rng = &mut rng;
            let mut leaving = Leaving { now, indicates: false, largest_frame: 1_518, rng };
            let verdict = cake.on_departure(&mut leaving);
            let packet = cake.pop().unwrap().packet;
            if verdict != Verdict::Drop {
                cake.on_sent(&packet, &Transmitter::new(SitePort::HOST.link), now);
            }
            verdict
        };
        let early = Instant::ZERO + Duration::from_ms(10);
        assert_eq!(ask(&mut cake, early), Verdict::Pass);
        let now = Instant::ZERO + Duration::from_ms(111);
        cake.next = now;
        assert_eq!(ask(&mut cake, now), Verdict::Drop);
        assert_eq!(ask(&mut cake, now), Verdict::Pass);
        cake.settle(now).since(now).0 / 1_000
    };
    assert_eq!(waits_until(false), 1_211_200);
    assert_eq!(waits_until(true), 2 * 1_211_200);
}

/// Four packets may always wait, in ingress mode two of every bulk flow: with ten flows 20 packets.
#[test]
fn in_ingress_mode_two_packets_of_every_flow_may_wait() {
    let params = Params { mtu_time: Duration(1_000), ..Params::default() };
    for (flows, packets) in [(0, 4), (1, 4), (2, 4), (3, 6), (10, 20)] {
        assert_eq!(4 * params.with_flows(flows).mtu_time.0, packets * 1_000, "{flows}");
    }
}

/// By hand: three packets of 1518 bytes are more than 4000, and the first one of the longest flow is dropped; so is the next one
/// of that flow when a short packet of another flow joins.
#[test]
fn beyond_its_limit_the_longest_flow_loses_packets() {
    let mut cake = cake(&Spec { memlimit: Some(Bytes(4_000)), ..Spec::default() });
    let mut out = Vec::new();
    for (flow, number, bytes) in
        [(1, 0, 1_518), (1, 1, 1_518), (1, 2, 1_518), (2, 0, 964), (2, 1, 64)]
    {
        push(&mut cake, packet(flow, number, bytes), Instant::ZERO);
        let dropped = std::iter::from_fn(|| cake.push_out_more());
        out.extend(dropped.map(|queued| (queued.packet.flow.0, stand::psn(&queued.packet))));
    }
    assert_eq!(out, [(1, 0), (1, 1)]);
    assert_eq!(cake.iter().count(), 3);
}

/// A packet of EF is in the tin of voice and leaves with the DSCP 0 and its ECN field.
#[test]
fn packets_are_washed_after_their_tin_is_chosen() {
    let mut cake = cake(&Spec { wash: true, ..Spec::default() });
    let mut queued = packet(1, 0, 500);
    queued.packet.tos = Tos::new(Dscp(46), Ecn::Ect1);
    push(&mut cake, queued, Instant::ZERO);
    assert_eq!(cake.tins[2].used(), 1);
    cake.settle(Instant::ZERO);
    let left = cake.pop().unwrap().packet;
    assert_eq!((left.dscp(), left.ecn()), (Dscp::DEFAULT, Ecn::Ect1));
}

/// Ten acknowledgements in a row: eight or nine are dropped, counted and accounted, and do not count for the shaper.
#[test]
fn superfluous_acknowledgements_are_dropped() {
    use floodway_model::{AckFlags, Body};
    for (ack_filter, remain) in [(AckFilter::Conservative, 2), (AckFilter::Aggressive, 1)] {
        let spec = Spec { ack_filter, rate: Some(Rate::from_mbps(10)), ..Spec::default() };
        let mut cake = cake(&spec);
        for ack in 1..=10 {
            let mut queued = packet(1, 0, 70);
            let flags = AckFlags::new(false, false);
            queued.packet.body = Body::TcpAck { flags, marked: 0, ack, sack: Default::default() };
            push(&mut cake, queued, Instant::ZERO);
        }
        assert_eq!(std::iter::from_fn(|| cake.push_out_more()).count(), 10 - remain);
        assert_eq!(cake.tins[0].bytes, 70 * remain as u64);
        let mut tally = Tally::default();
        cake.count(Instant::ZERO, &mut tally);
        assert_eq!(tally.acks_filtered, 10 - remain as u64);
        assert_eq!(leave(&mut cake, 1), [(0, 1)]);
    }
}

/// Bursts of ten packets of 1514 bytes, as in `estimate.rs`: 11.355 Mb/s, of which the tin of voice has a quarter and that of
/// bulk a sixteenth. Before the first estimate there is no shaper.
#[test]
fn the_shaper_follows_what_arrives() {
    let mut cake = cake(&Spec { autorate_ingress: true, ..Spec::default() });
    assert_eq!(cake.rate, None);
    for burst in 1..=300 {
        for number in 0..10 {
            let now = Instant::ZERO + Duration::from_ms(10 * burst) + Duration::from_us(number);
            cake.push(packet(1, 0, 1_514), now, &mut Stream::named(1, "none"));
        }
        while cake.pop().is_some() {}
    }
    let close =
        |rate: Option<Rate>, of: u64| rate.is_some_and(|rate| (of - 100..=of).contains(&rate.0));
    assert!(close(cake.rate, 11_355_000), "{:?}", cake.rate);
    let [_, bulk, voice] = [0, 1, 2].map(|tin| cake.tins[tin].rate);
    assert!(close(bulk, 709_687) && close(voice, 2_838_750), "{bulk:?} {voice:?}");
}
