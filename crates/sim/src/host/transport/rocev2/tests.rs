//! Sender and receiver connected by a wire with configurable losses.

use std::collections::{BTreeMap, VecDeque};

use floodway_model::{Body, Bytes, Duration, Echo, FlowSpec, Instant, NodeId, Rate};
use proptest::prelude::*;

use super::recovery::{self, go_back_n, selective_repeat};
use super::{Receiver, Sender, Spec};
use crate::host::congestion;
use crate::host::transport::Arrived;
use crate::host::transport::Frame;

fn pair(bytes: u64, spec: &Spec) -> (Sender, Receiver) {
    pair_with(&congestion::Spec::default(), Instant::NEVER, bytes, spec)
}

fn pair_until(stop: Instant, bytes: u64, spec: &Spec) -> (Sender, Receiver) {
    pair_with(&congestion::Spec::default(), stop, bytes, spec)
}

fn pair_with(
    congestion: &congestion::Spec,
    stop: Instant,
    bytes: u64,
    spec: &Spec,
) -> (Sender, Receiver) {
    let (src, dst) = (NodeId(0), NodeId(1));
    let flow =
        FlowSpec { src, dst, bytes, start: Instant::ZERO, stop, workload: 0, in_turn: false };
    let control = congestion::State::new(congestion, &congestion::Path::at(Rate::from_gbps(100)));
    let sender = Sender::new(&flow, control, spec, Instant::ZERO);
    (sender, Receiver::new(&flow, spec))
}

fn go_back_n() -> Spec {
    Spec::default()
}

fn selective_repeat() -> Spec {
    Spec { recovery: recovery::Spec::SelectiveRepeat(Default::default()), ..Spec::default() }
}

/// Passes a packet to the receiver a microsecond after it was sent.
fn give(receiver: &mut Receiver, spec: &Spec, packet: &Frame) -> Arrived {
    let Body::Data { psn, sent_at, .. } = packet.body else { panic!("not data") };
    receiver.on_data(spec, psn, sent_at + Duration::from_us(1))
}

fn psn(packet: &Frame) -> u32 {
    let Body::Data { psn, .. } = packet.body else { panic!("not data") };
    psn
}

/// Results of a transfer.
#[derive(Debug, Default)]
struct Story {
    /// Packets in the order in which they were sent, with the time in ns.
    sent: Vec<(u32, u64)>,
    lost: u64,
    naks: u64,
    retransmitted: u64,
    timeouts: u32,
    /// Arrival time of the last packet.
    finished: u64,
}

impl Story {
    /// Packets sent after the first `new` ones.
    fn after(&self, new: usize) -> Vec<u32> {
        self.sent[new..].iter().map(|(psn, _)| *psn).collect()
    }
}

const TICK: u64 = 100;
const DELAY: u64 = 1_000;

/// Transfers a message of `packets` over a wire with a packet per 100 ns and a delay of 1 us in
/// each direction. `lose` decides about every data packet and every reply; it gets whether it is a
/// reply, and its number among its kind.
fn transfer(packets: u32, spec: &Spec, lose: impl FnMut(bool, usize) -> bool) -> Story {
    transfer_by_ways(packets, spec, lose, |_| 0)
}

/// Like [`transfer`], with data packets on paths of different delay: `late` returns the additional
/// delay of a packet, in packet times.
fn transfer_by_ways(
    packets: u32,
    spec: &Spec,
    mut lose: impl FnMut(bool, usize) -> bool,
    late: impl Fn(u32) -> u64,
) -> Story {
    let bytes = u64::from(packets) * spec.mtu.0;
    let (mut sender, mut receiver) = pair(bytes, spec);
    let mut there = BTreeMap::<(u64, usize), Frame>::new();
    let mut back = VecDeque::new();
    let mut story = Story::default();
    let (mut answers, mut delivered) = (0, 0);
    for tick in 0.. {
        let ns = tick * TICK;
        let now = Instant(ns * 1_000);
        assert!(ns < 1_000_000_000, "it never ends: {story:?}");
        while let Some(&(at, answer)) = back.front().filter(|(at, _)| *at <= ns) {
            back.pop_front();
            assert_eq!(at, ns);
            match answer {
                Body::Ack { psn, .. } => sender.on_ack(psn, now),
                Body::Nak { psn, arrived, .. } => sender.on_nak(psn, arrived, now),
                other => panic!("{other:?}"),
            }
        }
        if sender.is_done() {
            break;
        }
        if sender.deadline(spec) <= now {
            sender.on_timer(now, spec);
        }
        while let Some(entry) = there.first_entry().filter(|entry| entry.key().0 <= ns) {
            let packet = entry.remove();
            let Body::Data { psn, .. } = packet.body else { panic!("not data") };
            let arrived = receiver.on_data(spec, psn, now);
            assert!(receiver.delivered() >= delivered, "taken back");
            delivered = receiver.delivered();
            assert_eq!(arrived.completes, arrived.completes && story.finished == 0, "twice");
            if arrived.completes {
                story.finished = ns;
            }
            let echo = Echo::default();
            let nak = arrived.missing.map(|missing| Body::Nak { echo, psn: missing, arrived: psn });
            let ack = arrived.acknowledge.map(|psn| Body::Ack { echo, psn, sent_at: now });
            story.naks += u64::from(nak.is_some());
            if let Some(answer) = ack.or(nak) {
                if !lose(true, answers) {
                    back.push_back((ns + DELAY, answer));
                }
                answers += 1;
            }
        }
        if let Some(packet) = sender.next_frame(spec, now) {
            if lose(false, story.sent.len()) {
                story.lost += 1;
            } else {
                let number = story.sent.len();
                there.insert((ns + DELAY + TICK * late(psn(&packet)), number), packet);
            }
            story.sent.push((psn(&packet), ns));
        }
    }
    assert_eq!(receiver.delivered(), bytes);
    assert!(story.finished > 0 && !sender.has_more());
    (story.retransmitted, story.timeouts) = (sender.sent.retransmitted, sender.sent.timeouts);
    story
}

/// Loses these transmissions of data and no replies.
fn data(lost: &[usize]) -> impl FnMut(bool, usize) -> bool {
    move |answer, number| !answer && lost.contains(&number)
}

#[test]
fn a_message_is_cut_and_put_together() {
    for spec in [go_back_n(), selective_repeat()] {
        let (mut sender, mut receiver) = pair(2_500, &spec);
        let mut frames = Vec::new();
        for n in 0.. {
            let Some(packet) = sender.next_frame(&spec, Instant(n)) else { break };
            frames.push(packet.bytes);
            let arrived = give(&mut receiver, &spec, &packet);
            sender.on_ack(arrived.acknowledge.unwrap(), Instant(n));
        }
        // 1024 + 1024 + 452 bytes of payload, 62 of headers each.
        assert_eq!(frames, [1086, 1086, 514]);
        assert!(sender.is_done());
        assert_eq!(receiver.delivered(), 2_500);
    }
}

/// One packet per 100 ns until 1 us.
fn until_one_microsecond(spec: &Spec) -> (Sender, Receiver, Vec<Frame>) {
    let (mut sender, receiver) = pair_until(Instant(1_000_000), FlowSpec::PERSISTENT, spec);
    let at = |n| Instant(n * TICK * 1_000);
    let packets = (0..20).filter_map(|n| sender.next_frame(spec, at(n))).collect();
    (sender, receiver, packets)
}

#[test]
fn a_flow_that_stops_is_done_when_all_that_was_sent_is_acknowledged() {
    for spec in [go_back_n(), selective_repeat()] {
        let (mut sender, mut receiver, packets) = until_one_microsecond(&spec);
        // Packets at 0, 100, ..., 900 ns; none at 1000 ns.
        assert_eq!(packets.iter().map(psn).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        assert!(packets.iter().all(|packet| packet.bytes == 1086));
        for packet in &packets {
            assert!(!sender.is_done());
            let arrived = give(&mut receiver, &spec, packet);
            assert!(!arrived.completes);
            sender.on_ack(arrived.acknowledge.unwrap(), Instant(3_000_000));
        }
        assert!(sender.is_done() && !sender.has_more());
        assert_eq!(receiver.delivered(), 10 * 1024);
    }
}

#[test]
fn a_flow_that_has_stopped_repeats_what_was_lost() {
    for (spec, repeated) in [(go_back_n(), 7), (selective_repeat(), 1)] {
        let (mut sender, mut receiver, mut packets) = until_one_microsecond(&spec);
        packets.remove(3);
        for packet in &packets {
            let arrived = give(&mut receiver, &spec, packet);
            let now = Instant(3_000_000);
            let Body::Data { psn, .. } = packet.body else { panic!("not data") };
            arrived.acknowledge.into_iter().for_each(|psn| sender.on_ack(psn, now));
            arrived.missing.into_iter().for_each(|missing| sender.on_nak(missing, psn, now));
        }
        let mut now = Instant(4_000_000);
        while let Some(packet) = sender.next_frame(&spec, now) {
            assert_eq!(packet.bytes, 1086);
            let arrived = give(&mut receiver, &spec, &packet);
            arrived.acknowledge.into_iter().for_each(|psn| sender.on_ack(psn, now));
            now += Duration::from_ns(TICK);
        }
        assert!(sender.is_done());
        assert_eq!((sender.sent.packets, sender.sent.retransmitted), (10 + repeated, repeated));
        assert_eq!(receiver.delivered(), 10 * 1024);
    }
}

#[test]
fn a_flow_that_may_not_send_before_it_stops_is_done_with_nothing() {
    let spec = go_back_n();
    let (mut sender, _) = pair_until(Instant(1_000), FlowSpec::PERSISTENT, &spec);
    assert!(sender.next_frame(&spec, Instant(1_000)).is_none());
    assert!(sender.is_done() && !sender.has_more());
}

#[test]
fn one_byte_is_a_shortest_frame() {
    let (mut sender, _) = pair(1, &go_back_n());
    let packet = sender.next_frame(&go_back_n(), Instant::ZERO).unwrap();
    assert_eq!(packet.bytes, 64);
}

#[test]
fn going_back() {
    let spec = go_back_n();
    let (mut sender, mut receiver) = pair(5 * 1024, &spec);
    let mut packets: Vec<Frame> =
        (0..4).map(|n| sender.next_frame(&spec, Instant(n)).unwrap()).collect();
    packets.remove(1);
    let answers: Vec<Arrived> =
        packets.iter().map(|packet| give(&mut receiver, &spec, packet)).collect();
    // A single NAK for packet 1, however many packets follow it.
    assert_eq!(answers[1].missing, Some(1));
    assert_eq!(answers[2], Arrived::default());
    sender.on_nak(1, 2, Instant(10));
    assert_eq!(psn(&sender.next_frame(&spec, Instant(11)).unwrap()), 1);
    assert_eq!(sender.sent.retransmitted, 1);
}

#[test]
fn a_stale_nak_does_nothing() {
    for spec in [go_back_n(), selective_repeat()] {
        let (mut sender, _) = pair(5 * 1024, &spec);
        (0..5).for_each(|n| assert!(sender.next_frame(&spec, Instant(n)).is_some()));
        sender.on_ack(4, Instant(10));
        sender.on_nak(2, 3, Instant(11));
        assert!(!sender.has_more());
    }
}

#[test]
fn the_timer_waits_for_silence() {
    let recovery = go_back_n::Spec { retransmit_timeout: Duration(1_000), ..Default::default() };
    let spec = Spec { recovery: recovery::Spec::GoBackN(recovery), ..Spec::default() };
    let (mut sender, _) = pair(5 * 1024, &spec);
    (0..3).for_each(|n| assert!(sender.next_frame(&spec, Instant(n)).is_some()));
    sender.on_ack(1, Instant(600));
    sender.on_ack(1, Instant(1_000));
    assert_eq!((sender.deadline(&spec), sender.sent.timeouts), (Instant(1_600), 0));
    sender.on_timer(Instant(1_600), &spec);
    assert_eq!((sender.deadline(&spec), sender.sent.timeouts), (Instant(2_600), 1));
    assert_eq!(psn(&sender.next_frame(&spec, Instant(1_700)).unwrap()), 1);
}

#[test]
fn acknowledgements_can_be_coalesced() {
    for spec in [go_back_n(), selective_repeat()] {
        let spec = Spec { ack_every: 2, ..spec };
        let (mut sender, mut receiver) = pair(5 * 1024, &spec);
        let acks: Vec<Option<u32>> = (0..5)
            .map(|n| sender.next_frame(&spec, Instant(n)).unwrap())
            .map(|packet| give(&mut receiver, &spec, &packet).acknowledge)
            .collect();
        assert_eq!(acks, [None, Some(2), None, Some(4), Some(5)]);
    }
}

#[test]
fn one_loss_costs_one_packet_or_all_that_were_in_flight() {
    let story = transfer(100, &selective_repeat(), data(&[10]));
    assert_eq!((story.retransmitted, story.timeouts), (1, 0));
    // Packet 10 is sent at 1.0 us. The arrival of packet 11 at 2.1 us reveals that 10 is missing,
    // which the sender learns at 3.1 us: after packets 0 to 30 it is the 32nd transmission.
    assert_eq!(story.sent[31], (10, 3_100));
    assert_eq!(story.sent[32], (31, 3_200));
    // It arrives at 4.1 us, after packets 11 to 30, each of which is answered by a NAK.
    assert_eq!(story.naks, 20);
    // Go-back-N retransmits 10 to 30.
    let story = transfer(100, &go_back_n(), data(&[10]));
    assert_eq!((story.retransmitted, story.naks), (21, 1));
    assert_eq!(story.sent[31], (10, 3_100));
    assert_eq!(story.sent[32], (11, 3_200));
}

#[test]
fn the_lost_end_comes_after_the_low_timeout() {
    let story = transfer(20, &selective_repeat(), data(&[19]));
    assert_eq!((story.retransmitted, story.timeouts, story.naks), (1, 1, 0));
    // The last progress is at 3.8 us, the acknowledgement of packet 18, which was sent at 1.8 us.
    assert_eq!(story.sent[20], (19, 3_800 + 100_000));
    assert_eq!(story.finished, 103_800 + DELAY);
    // A message of one packet: the timer runs from its transmission.
    let story = transfer(1, &selective_repeat(), data(&[0]));
    assert_eq!(story.sent[1], (0, 100_000));
}

#[test]
fn of_a_lost_end_of_many_packets_the_probe_tells() {
    let story = transfer(20, &selective_repeat(), data(&[15, 16, 17, 18, 19]));
    assert_eq!((story.retransmitted, story.timeouts, story.naks), (5, 1, 1));
    // The acknowledgement of packet 14 arrives at 3.4 us; five packets in flight are not few.
    // Packet 15 and the probe are sent at 323.4 us, and the NAK for the probe arrives two
    // microseconds later.
    assert_eq!(
        story.sent[20..],
        [(15, 323_400), (19, 323_500), (16, 325_500), (17, 325_600), (18, 325_700)]
    );
}

#[test]
fn a_lost_repetition_waits_for_the_timeout() {
    // The retransmission of packet 10 is the 32nd transmission.
    let story = transfer(100, &selective_repeat(), data(&[10, 31]));
    assert_eq!((story.retransmitted, story.timeouts), (2, 1));
    // All other packets have arrived: only packet 10 is sent, 320 us after its retransmission.
    assert_eq!(story.sent[101], (10, 3_100 + 320_000));
}

#[test]
fn a_burst_of_losses_is_repeated_in_order_and_before_new_packets() {
    let story = transfer(100, &selective_repeat(), data(&[10, 11, 12, 14]));
    assert_eq!((story.retransmitted, story.timeouts), (4, 0));
    // The NAK for packet 13 arrives at 3.3 us and reveals the loss of 10 to 12, the one for packet
    // 15 that of 14.
    assert_eq!(story.after(33)[..5], [10, 11, 12, 14, 33]);
}

#[test]
fn a_repetition_is_not_repeated_while_new_packets_are_lost() {
    // Packet 33 (the 35th transmission) is retransmitted after 30 and before the retransmission of
    // 30 is acknowledged. With that, everything that was in flight when recovery began is
    // acknowledged, and NAKs for packets between the two retransmissions follow: they must not
    // cause another retransmission of 33.
    let story = transfer(200, &selective_repeat(), data(&[10, 30, 34]));
    assert_eq!((story.lost, story.retransmitted, story.timeouts), (3, 3, 0));
}

#[test]
fn filling_a_gap_is_acknowledged_at_once() {
    let spec = Spec { ack_every: 8, ..selective_repeat() };
    let story = transfer(6, &spec, data(&[1]));
    // The retransmission of packet 1 is acknowledged together with all packets behind it, although
    // 8 packets are not complete; the last packet had arrived before.
    assert_eq!((story.retransmitted, story.timeouts), (1, 0));
    assert_eq!(story.after(6), [1]);
}

#[test]
fn lost_naks_cost_repetitions_but_nothing_else() {
    // The replies for packets 11 and 12 are lost; the one for 13 reveals that 10 is missing and
    // that 13 has arrived, but 11 and 12 are retransmitted unnecessarily.
    let lose = |answer, number| if answer { [10, 11].contains(&number) } else { number == 10 };
    let story = transfer(100, &selective_repeat(), lose);
    assert_eq!((story.retransmitted, story.timeouts), (3, 0));
    assert_eq!(story.after(33)[..4], [10, 11, 12, 33]);
}

/// Selective repeat with a reordering window of this many packet times.
fn tolerant(packet_times: u64) -> Spec {
    let reordering = Duration::from_ns(packet_times * TICK);
    let recovery = selective_repeat::Spec { reordering, ..Default::default() };
    Spec { recovery: recovery::Spec::SelectiveRepeat(recovery), ..Spec::default() }
}

#[test]
fn what_is_overtaken_by_less_than_the_window_is_not_repeated() {
    // Every third packet is five packet times late.
    let late = |psn: u32| if psn % 3 == 1 { 5 } else { 0 };
    let story = transfer_by_ways(100, &tolerant(6), data(&[]), late);
    assert_eq!((story.retransmitted, story.timeouts), (0, 0));
    // Packet 1 is sent at 0.1 us and arrives at 1.6 us; 2, 3, 5 and 6 have arrived before it, as
    // have two or three others before each late packet.
    assert!(story.naks > 60, "{story:?}");
    // The reply to packet 2 arrives at 2.2 us, the one to packet 1 at 2.6 us: not within 0.2 us.
    let story = transfer_by_ways(100, &tolerant(2), data(&[]), late);
    assert_eq!((story.retransmitted, story.timeouts), (33, 0));
    assert_eq!(story.sent.iter().find(|sent| sent.1 == 2_400), Some(&(1, 2_400)));
    // Without a reordering window it is retransmitted when that reply arrives.
    let story = transfer_by_ways(100, &selective_repeat(), data(&[]), late);
    assert!(story.retransmitted >= 33);
    assert_eq!(story.sent[22], (1, 2_200));
}

#[test]
fn what_is_lost_is_repeated_after_the_window() {
    let story = transfer(100, &tolerant(6), data(&[10]));
    assert_eq!((story.retransmitted, story.timeouts), (1, 0));
    // The reply to packet 11 arrives at 3.1 us; six packet times later packet 10 is retransmitted.
    assert_eq!(story.sent[37], (10, 3_700));
    // At the end of a message too, where no others follow; all missing packets are retransmitted
    // one by one.
    let story = transfer(20, &tolerant(6), data(&[17, 18]));
    assert_eq!((story.retransmitted, story.timeouts), (2, 0));
    // The reply to packet 19 arrives at 3.9 us.
    assert_eq!(story.sent[20..], [(17, 4_500), (18, 4_600)]);
    let story = transfer(30, &tolerant(6), data(&[10, 14]));
    assert_eq!(story.sent[30..], [(10, 3_700), (14, 4_100)]);
}

fn recoveries() -> impl Strategy<Value = recovery::Spec> {
    let (timeout, low) = (Duration::from_us(20), Duration::from_us(8));
    let go_back_n = go_back_n::Spec { retransmit_timeout: timeout, nak_interval: low };
    let selective_repeat = selective_repeat::Spec {
        retransmit_timeout: timeout,
        retransmit_timeout_low: low,
        low_timeout_packets: 3,
        reordering: Duration::ZERO,
    };
    prop_oneof![
        Just(recovery::Spec::GoBackN(go_back_n)),
        Just(recovery::Spec::SelectiveRepeat(selective_repeat)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// [`transfer`] checks that every packet arrives, none is delivered twice, and none out of
    /// order.
    #[test]
    fn every_message_arrives_whatever_is_lost(
        packets in 1u32..150,
        ack_every in 1u32..6,
        window in prop::option::of(0u64..20),
        recovery in recoveries(),
        data in prop::collection::vec(prop::bool::weighted(0.3), 0..300),
        answers in prop::collection::vec(prop::bool::weighted(0.3), 0..300),
    ) {
        let in_flight = window.map(|packets| Bytes(1_024 * (packets + u64::from(ack_every))));
        let spec = Spec { ack_every, in_flight, recovery, ..Spec::default() };
        let story = transfer(packets, &spec, |answer, number| {
            let lost = if answer { &answers } else { &data };
            lost.get(number).copied().unwrap_or(false)
        });
        prop_assert_eq!(story.sent.len() as u64, u64::from(packets) + story.retransmitted);
        prop_assert!(story.retransmitted >= story.lost);
    }

    /// With a reordering window as long as the maximum difference in path delay, only lost packets
    /// are retransmitted, in any order of arrival.
    #[test]
    fn a_window_tells_late_from_lost(
        packets in 1u32..200,
        late in prop::collection::vec(0u64..12, 400),
        data in prop::collection::vec(prop::bool::weighted(0.1), 0..200),
    ) {
        let lose = |answer: bool, number: usize| !answer && data.get(number).copied().unwrap_or(false);
        let story = transfer_by_ways(packets, &tolerant(12), lose, |psn| late[psn as usize % 400]);
        if story.timeouts == 0 {
            prop_assert_eq!(story.retransmitted, story.lost);
        }
    }

    /// Only lost packets are retransmitted, if no reply is lost and there is no timeout.
    #[test]
    fn selective_repeat_repeats_what_is_lost(
        packets in 1u32..300,
        data in prop::collection::vec(prop::bool::weighted(0.1), 0..200),
    ) {
        let story = transfer(packets, &selective_repeat(), |answer, number| {
            !answer && data.get(number).copied().unwrap_or(false)
        });
        if story.timeouts == 0 {
            prop_assert_eq!(story.retransmitted, story.lost);
        }
    }
}

#[test]
fn no_more_than_the_window_is_in_flight() {
    for spec in [go_back_n(), selective_repeat()] {
        // 2 packets of 100 ns in each round trip of 2 us: the third waits for an acknowledgement.
        let spec = Spec { in_flight: Some(Bytes(2 * 1024 + 1023)), ..spec };
        assert_eq!(spec.window(), 2);
        let story = transfer(6, &spec, |_, _| false);
        let expected = [(0, 0), (1, 100), (2, 2_000), (3, 2_100), (4, 4_000), (5, 4_100)];
        assert_eq!(story.sent, expected);
    }
    assert_eq!(go_back_n().window(), u32::MAX);
}

#[test]
fn a_window_that_follows_the_rate_is_cut_with_it() {
    let congestion = congestion::Spec::Dcqcn(congestion::dcqcn::Spec {
        // Ten packets at 100 Gb/s.
        window: Some(Duration(10 * 1_024 * 80)),
        window_follows_rate: true,
        ..Default::default()
    });
    for spec in [go_back_n(), selective_repeat()] {
        let (mut sender, _) = pair_with(&congestion, Instant::NEVER, 100 * 1_024, &spec);
        let sends = |sender: &mut Sender, ns: u64| {
            let mut sent = Vec::new();
            while let Some(packet) = sender.next_frame(&spec, Instant(ns * 1_000)) {
                sent.push(psn(&packet));
            }
            sent
        };
        let (at_first, cut) = (Instant::ZERO, Instant(1_000_000));
        let window = sender.control.window(&congestion, at_first);
        sender.limit(window, &spec);
        assert_eq!(sends(&mut sender, 0), (0..10).collect::<Vec<_>>());
        // A CNP halves rate and window: nothing is sent until fewer than five packets are in
        // flight.
        sender.control.on_cnp(&congestion, cut);
        let window = sender.control.window(&congestion, cut);
        sender.limit(window, &spec);
        sender.on_ack(5, cut);
        assert!(!sender.has_more());
        sender.on_ack(7, cut);
        assert_eq!(sends(&mut sender, 1_000), [10, 11]);
        // 55 us later the rate is at three quarters, and so is the window: the next acknowledgement
        // releases three packets.
        let later = Instant(56_000_000);
        sender.on_ack(8, later);
        let window = sender.control.window(&congestion, later);
        sender.limit(window, &spec);
        assert_eq!(sends(&mut sender, 56_000), [12, 13, 14]);
    }
}

#[test]
fn a_gap_is_filled_although_the_window_is_full() {
    let spec = Spec { in_flight: Some(Bytes(4 * 1024)), ..selective_repeat() };
    // The first of four is lost: the reply to the second, at 2100 ns, requests it.
    let story = transfer(6, &spec, data(&[0]));
    assert_eq!(story.after(4)[0], 0);
    assert_eq!(story.sent[4], (0, 2_100));
    assert_eq!((story.retransmitted, story.timeouts), (1, 0));
}

#[test]
fn what_is_held_has_arrived() {
    let spec = selective_repeat();
    let (mut sender, mut receiver) = pair(3 * 1024 + 10, &spec);
    let packets: Vec<Frame> =
        (0..4).map(|n| sender.next_frame(&spec, Instant(n)).unwrap()).collect();
    give(&mut receiver, &spec, &packets[2]);
    assert_eq!(receiver.delivered(), 1024);
    give(&mut receiver, &spec, &packets[3]);
    assert_eq!(receiver.delivered(), 1024 + 10);
    give(&mut receiver, &spec, &packets[0]);
    assert_eq!(receiver.delivered(), 2 * 1024 + 10);
    assert!(give(&mut receiver, &spec, &packets[1]).completes);
    assert_eq!(receiver.delivered(), 3 * 1024 + 10);
}

#[test]
fn telemetry_takes_room_in_data_and_answers() {
    use crate::host::transport::Transport;
    let spec = Spec { telemetry: true, ..Spec::default() };
    // 1024 + 62 + 2 + 5 * 8, 66 + 2 + 5 * 8.
    assert_eq!((spec.frame(1_024), spec.answer_frame()), (1_128, 108));
    assert_eq!((Spec::default().frame(1_024), Spec::default().answer_frame()), (1_086, 66));
}
