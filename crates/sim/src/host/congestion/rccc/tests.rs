//! RCCC, with credit that is computed by hand. A full packet has 1500 bytes on the wire; a round trip at
//! 100 Gb/s and 12 us is 100 packets, and the first credit is 150 packets, 225,000 bytes.

use super::super::answers::tests::answer;
use super::super::{Answer, Arrival, Control, Credit, Demand, Path, Receiving, Request, Trimmed};
use super::*;
use floodway_model::Instant;

const PACKET: u64 = 1_500;
const MAX: u64 = 225_000;

fn flow(spec: &Spec) -> State {
    let path = Path {
        payload: 1_400,
        wire: PACKET,
        base_rtt: Duration::from_us(12),
        trims: true,
        ..Path::at(Rate::from_gbps(100))
    };
    State::new(spec, &path)
}

fn with_nscc() -> Spec {
    Spec { nscc: Some(Default::default()), ..Default::default() }
}

/// Number of packets that may be sent before credit ends, at most so many.
fn sends(spec: &Spec, flow: &mut State, most: u64) -> u64 {
    let mut count = 0;
    while count < most && flow.window(spec, Instant::ZERO) > Some(0) {
        flow.on_send(spec, Instant::ZERO, PACKET);
        count += 1;
    }
    count
}

/// What a packet states that is sent now, or a request; `backlog` packets follow.
fn target(flow: &mut State, backlog: u64, sends: bool) -> u64 {
    let spec = Spec::default();
    let target = flow.credit_target(&spec, Demand { backlog, contexts: 1, sends });
    assert_eq!(u64::from(target.bytes) / PACKET % 1_024, u64::from(target.packets));
    target.bytes.into()
}

fn acknowledged(spec: &Spec, flow: &mut State) {
    flow.on_answer(spec, &Answer { rtt: Some(Duration::from_us(12)), ..answer(1, 1, 2) });
}

#[test]
fn the_first_credit_is_one_and_a_half_round_trips() {
    let spec = Spec::default();
    assert_eq!(sends(&spec, &mut flow(&spec), 1_000), 150);
    let twice = Spec { max_window: 3.0, ..spec.clone() };
    assert_eq!(sends(&twice, &mut flow(&twice), 1_000), 300);
    let longer = Spec { base_rtt: Some(Duration::from_us(24)), ..spec };
    assert_eq!(sends(&longer, &mut flow(&longer), 1_000), 300);
}

/// Of 10,000 packets, each asks for what it uses up. Of 5, the first credit is enough for all, but a packet is asked for
/// as long as there is more to send.
#[test]
fn packets_ask_for_what_will_be_missing() {
    let spec = Spec::default();
    let mut long = flow(&spec);
    for sent in 1..=10 {
        assert_eq!(target(&mut long, 10_000 - sent, true), sent * PACKET);
        assert_eq!(sends(&spec, &mut long, 1), 1);
    }
    // The first credit of 150 packets has 140 left, which are thrown away: 150 packets more are asked for.
    acknowledged(&spec, &mut long);
    assert_eq!(long.window(&spec, Instant::ZERO), Some(0));
    assert_eq!(target(&mut long, 9_990, false), MAX);
    assert_eq!(target(&mut long, 3, false), 3 * PACKET);

    let mut short = flow(&spec);
    for sent in 1..=5 {
        let expected = if sent < 5 { PACKET } else { 0 };
        assert_eq!(target(&mut short, 5 - sent, true), expected);
        assert_eq!(sends(&spec, &mut short, 1), 1);
    }
    assert!(short.awaits_credit(&spec));
}

/// Credit of 16,384 bytes is eleven packets, the last of which takes 116 bytes more than there are.
#[test]
fn the_last_packet_may_overdraw() {
    let spec = Spec::default();
    let mut flow = flow(&spec);
    sends(&spec, &mut flow, 20);
    flow.on_credit(&spec, Instant::ZERO, 16_384);
    assert_eq!(sends(&spec, &mut flow, 100), 11);
    // 116 bytes pay the debt, the 117th permits a packet.
    flow.on_credit(&spec, Instant::ZERO, 16_384 + 116);
    assert_eq!(sends(&spec, &mut flow, 100), 0);
    flow.on_credit(&spec, Instant::ZERO, 16_384 + 117);
    assert_eq!(sends(&spec, &mut flow, 100), 1);
    // What is asked for includes the debt of 1499 bytes: 16,501 + 10 · 1500 + 1499 is 22 packets.
    assert_eq!(target(&mut flow, 10, false), 22 * PACKET);
}

#[test]
fn only_differences_of_totals_matter() {
    let spec = Spec::default();
    let mut flow = flow(&spec);
    acknowledged(&spec, &mut flow);
    // The first one is lost, and the second comes after the third.
    flow.on_credit(&spec, Instant::ZERO, 4_500);
    flow.on_credit(&spec, Instant::ZERO, 3_000);
    assert_eq!(sends(&spec, &mut flow, 100), 3);
    // The counter has 32 bits: 2^32 bytes are credited in parts of a gigabyte, of which the maximum counts.
    let mut total = 4_500_u32;
    for _ in 0..4 {
        total = total.wrapping_add(1 << 30);
        flow.on_credit(&spec, Instant::ZERO, total);
        assert_eq!(sends(&spec, &mut flow, 1_000), MAX / PACKET);
    }
    assert_eq!(total, 4_500);
    flow.on_credit(&spec, Instant::ZERO, total + 1_500);
    assert_eq!(sends(&spec, &mut flow, 1_000), 1);
}

/// Three flows wait for the NIC: each asks for a third.
#[test]
fn flows_of_a_nic_share_what_they_ask_for() {
    let spec = Spec::default();
    let mut flow = flow(&spec);
    acknowledged(&spec, &mut flow);
    let asked = flow.credit_target(&spec, Demand { backlog: 1_000, contexts: 3, sends: false });
    assert_eq!(asked.bytes, MAX as u32 / 3);
}

/// A target has ten bits. With a first credit of 800 packets 511 are asked for.
#[test]
fn no_more_is_asked_for_than_can_be_distinguished() {
    let spec = Spec { max_window: 8.0, ..Default::default() };
    let mut flow = flow(&spec);
    acknowledged(&spec, &mut flow);
    assert_eq!(target(&mut flow, 10_000, false), 511 * PACKET);
}

#[test]
fn a_window_limits_what_is_sent_and_asked_for() {
    let spec = with_nscc();
    let mut flow = flow(&spec);
    let window = |flow: &mut State| flow.window(&spec, Instant::ZERO);
    assert_eq!(window(&mut flow), Some(150 * 1_400));
    let trimmed = |flow: &mut State, at: Trimmed| {
        let nack = Answer { nak: true, trimmed: Some(at), acked: 0, ..answer(1, 1, 2) };
        flow.on_answer(&spec, &nack);
        flow.on_credit(&spec, Instant::ZERO, MAX as u32);
    };
    // At the last hop it is credit that counts, in the fabric the window.
    trimmed(&mut flow, Trimmed::AtLastHop);
    assert_eq!(window(&mut flow), Some(150 * 1_400));
    (0..50).for_each(|_| trimmed(&mut flow, Trimmed::InFabric));
    assert_eq!(window(&mut flow), Some(100 * 1_400));
    flow.on_retransmit_timeout(&spec, Instant::ZERO);
    assert_eq!(window(&mut flow), Some(99 * 1_400));
    // Without credit, 99 packets of the window and one more are asked for, after 150.
    assert_eq!(sends(&spec, &mut flow, 1_000), 150);
    assert_eq!(window(&mut flow), Some(0));
    assert_eq!(target(&mut flow, 1_000, false), (150 + 100) * PACKET);
}

fn asks(pacer: &mut Pacer, spec: &Spec, place: u32, (number, target): (u32, u64)) {
    let target = Some((target % 1_024) as u16);
    let entropy = Some(Entropy { target, ..Default::default() });
    pacer.on_arrival(spec, &Arrival { number, entropy, ..Arrival::of(place) });
}

/// Credit until there is no more, with the time of each.
fn all(pacer: &mut Pacer, mut now: u64) -> Vec<(u64, u32, u32)> {
    let mut given = Vec::new();
    loop {
        while let Some(Credit { place, number }) = pacer.next_credit(Instant(now)) {
            given.push((now, place, number));
        }
        match pacer.next_wake() {
            Instant::NEVER => return given,
            next => now = now.max(next.0),
        }
    }
}

/// Two senders ask for 3 and 5 packets, credit has two at most: 2 of each, the last one of the first, and 2 and 1 of the
/// second. 3000 bytes at 99 Gb/s take 242,424.2 ps, 1500 bytes 121,212.1.
#[test]
fn two_senders_get_credit_in_turn() {
    let spec = Spec { grant: Bytes(3_000), ..Default::default() };
    let mut pacer = Pacer::new(2);
    assert_eq!((pacer.next_wake(), pacer.next_credit(Instant::ZERO)), (Instant::NEVER, None));
    asks(&mut pacer, &spec, 0, (0, 3));
    asks(&mut pacer, &spec, 1, (0, 5));
    let times = [0, 242_425, 242_425, 121_213, 242_425];
    let mut now = 1_000;
    let at = times.map(|time| {
        now += time;
        now
    });
    let expected = [(0, 3_000), (1, 3_000), (0, 4_500), (1, 6_000), (1, 7_500)];
    let expected: Vec<_> =
        at.into_iter().zip(expected).map(|(at, (to, sum))| (at, to, sum)).collect();
    assert_eq!(all(&mut pacer, 1_000), expected);
    // The last one still takes its time.
    asks(&mut pacer, &spec, 0, (1, 4));
    let next = at[4] + 121_213;
    assert_eq!(all(&mut pacer, at[4]), [(next, 0, 6_000)]);
}

/// At the default pace of 16,384 bytes, ten senders that ask for 100 packets each get all of it, and over any time t at
/// most what the link carries in t at 99 %, and a grant.
#[test]
fn credit_is_no_faster_than_its_pace() {
    let spec = Spec::default();
    let mut pacer = Pacer::new(10);
    (0..10).for_each(|place| asks(&mut pacer, &spec, place, (0, 100)));
    let given = all(&mut pacer, 0);
    let mut totals = [0; 10];
    let grants: Vec<(u64, u64)> = given
        .iter()
        .map(|&(at, place, total)| {
            let before = std::mem::replace(&mut totals[place as usize], u64::from(total));
            (at, u64::from(total) - before)
        })
        .collect();
    assert_eq!(totals, [100 * PACKET; 10]);
    for (first, &(from, _)) in grants.iter().enumerate() {
        let mut sum = 0;
        for &(at, grant) in &grants[first..] {
            sum += grant;
            let most = (at - from) as f64 * 0.99 / 80.0 + 16_384.0;
            assert!(sum as f64 <= most + 1e-6, "{sum} bytes in {} ps", at - from);
        }
    }
    // And no slower: 1,000 packets take 121,212.1 ps each.
    let last = grants[grants.len() - 1];
    let until = last.0 as f64 + last.1 as f64 * 80.0 / 0.99;
    assert!((until - 1_000.0 * 121_212.12).abs() < 200.0, "{until}");
}

/// Packets that arrive late ask for less, also where the ten bits of the target begin again.
#[test]
fn late_packets_ask_for_nothing() {
    let spec = Spec { grant: Bytes(100 * PACKET), ..Default::default() };
    let mut pacer = Pacer::new(1);
    let mut total = 0;
    for number in 0..30 {
        total += 100;
        asks(&mut pacer, &spec, 0, (number, total));
        assert_eq!(all(&mut pacer, 0).len(), 1, "{total}");
        if number > 0 {
            // Everything before, the oldest of which are more than 1024 packets of credit old.
            (0..number).for_each(|old| asks(&mut pacer, &spec, 0, (old, u64::from(old + 1) * 100)));
            assert_eq!(pacer.next_wake(), Instant::NEVER);
        }
    }
    // Retransmissions have old numbers and new targets.
    let target = Some(((total + 1) % 1_024) as u16);
    let entropy = Some(Entropy { target, repeated: true, ..Default::default() });
    pacer.on_arrival(&spec, &Arrival { number: 3, entropy, ..Arrival::of(0) });
    assert_eq!(all(&mut pacer, 0).last().map(|credit| credit.2), Some(3_001 * PACKET as u32));
}

/// A request is answered although all that it asks for has been given: that may have been lost. The answer counts as 1024
/// bytes, 82,747.5 ps.
#[test]
fn requests_are_answered() {
    let spec = Spec::default();
    let mut pacer = Pacer::new(2);
    asks(&mut pacer, &spec, 0, (0, 2));
    assert_eq!(all(&mut pacer, 0), [(0, 0, 3_000)]);
    let request = |pacer: &mut Pacer, place, target| {
        pacer.on_request(&spec, &Arrival::of(place), Request { target });
    };
    request(&mut pacer, 0, 3_000);
    request(&mut pacer, 0, 2_000);
    request(&mut pacer, 1, 1_500);
    let start = 1_000_000;
    assert_eq!(all(&mut pacer, start), [(start, 0, 3_000), (start + 82_748, 1, 1_500)]);
    // A complete flow gets nothing.
    request(&mut pacer, 1, 6_000);
    pacer.on_end(&spec, 1, Instant::ZERO);
    assert_eq!(all(&mut pacer, 2 * start), []);
}

/// Slow credit of two packets: when the three that flow 0 asks for are given, two more follow at the same pace. Flow 1,
/// which asks for one then, gets that before the rest of the slow credit. A complete flow gets none.
#[test]
fn slow_credit_comes_when_no_flow_waits() {
    let spec = Spec { grant: Bytes(PACKET), slow_credit: Bytes(2 * PACKET), ..Default::default() };
    let mut pacer = Pacer::new(2);
    asks(&mut pacer, &spec, 0, (0, 3));
    let paced = 121_213;
    let given = |n: u64, total: u64| (n * paced, 0, total as u32 * PACKET as u32);
    for (n, total) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
        assert_eq!(pacer.next_wake().0, n * paced);
        let Credit { place, number } = pacer.next_credit(Instant(n * paced)).unwrap();
        assert_eq!((n * paced, place, number), given(n, total));
    }
    asks(&mut pacer, &spec, 1, (0, 1));
    pacer.on_end(&spec, 1, Instant(3 * paced));
    let mut other = Pacer::new(2);
    std::mem::swap(&mut pacer, &mut other);
    assert_eq!(all(&mut other, 3 * paced), [given(4, 5)]);
    // Both ask: the slow credit of each comes after that.
    asks(&mut pacer, &spec, 0, (0, 1));
    asks(&mut pacer, &spec, 1, (0, 1));
    let order: Vec<_> = all(&mut pacer, 0).into_iter().map(|(_, place, _)| place).collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1]);
}

/// With a timeout of 20 us, the total is repeated 20 us after the last that came of a flow or went to it, and every 20 us
/// until something comes; not to a complete flow.
#[test]
fn credit_is_repeated_after_its_timeout() {
    let us = 1_000_000;
    let spec = Spec { credit_timeout: Some(Duration(20 * us)), ..Default::default() };
    let mut pacer = Pacer::new(2);
    asks(&mut pacer, &spec, 0, (0, 2));
    asks(&mut pacer, &spec, 1, (0, 2));
    let mut given = Vec::new();
    let mut now = 0;
    while now < 90 * us {
        while let Some(Credit { place, number }) = pacer.next_credit(Instant(now)) {
            given.push((now, place, number));
        }
        if now == 40 * us {
            pacer.on_end(&spec, 1, Instant(now));
        }
        if now == 50 * us {
            let target = Some(2);
            let entropy = Some(Entropy { target, ..Default::default() });
            let arrival = Arrival { number: 1, entropy, now: Instant(now), ..Arrival::of(0) };
            pacer.on_arrival(&spec, &arrival);
        }
        now += us / 2;
    }
    // 3000 bytes take 0.24 us, so that the second is given at 0.5 us here.
    let times: Vec<_> = given.iter().map(|&(at, place, _)| (at * 2 / us, place)).collect();
    assert_eq!(times, [(0, 0), (1, 1), (40, 0), (41, 1), (80, 0), (140, 0)]);
    assert!(given.iter().all(|&(.., total)| total == 2 * PACKET as u32));
}
