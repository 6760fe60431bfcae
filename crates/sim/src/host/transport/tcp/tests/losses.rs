//! Property: whatever is lost, late or duplicated, everything arrives once and the connection ends.

use floodway_model::{AckFlags, SackBlock};
use proptest::prelude::*;

use super::*;
use crate::host::transport::tcp::LossDetection;

/// All subsets of the first twelve transmissions of a message of six segments, including
/// retransmissions.
#[test]
fn every_loss_pattern_of_a_small_message_ends_well() {
    for lost in 0u32..1 << 12 {
        let mut pair = Pair::message(6, HalvingSpec::default());
        pair = pair.lose(move |count| count < 12 && lost >> count & 1 != 0);
        pair.finish(6 * MSS);
        assert_eq!(pair.receiver.segments, pair.receiver.duplicates + 6, "{lost:b}");
    }
}

/// All subsets of the first ten acknowledgements, SYN/ACK included.
#[test]
fn every_pattern_of_lost_acknowledgements_ends_well() {
    for lost in 0u32..1 << 10 {
        let mut pair = Pair::message(9, HalvingSpec::default());
        let fate = move |count: usize, _: &Body| {
            if count < 10 && lost >> count & 1 != 0 { Fate::IsLost } else { Fate::Arrives }
        };
        pair.back = Box::new(fate);
        pair.finish(9 * MSS);
    }
}

/// If enough segments follow a loss, no timeout is needed.
#[test]
fn single_losses_need_no_timeout() {
    for lost in 0..100 {
        let control = HalvingSpec { grows: true, ..Default::default() };
        let mut pair = Pair::message(100, control).lose(move |count| count == lost);
        pair.finish(100 * MSS);
        assert_eq!((pair.sender.sent.timeouts, pair.sender.sent.retransmitted), (0, 1), "{lost}");
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Arrives),
        3 => Just(Fate::IsLost),
        2 => (1u64..400).prop_map(|late| Fate::IsLate(ms(late))),
        1 => (1u64..300).prop_map(|late| Fate::IsDoubled(ms(late))),
        2 => Just(Fate::IsMarked),
    ]
}

fn fate_back() -> impl Strategy<Value = Fate> {
    fate().prop_map(|fate| if fate == Fate::IsMarked { Fate::Arrives } else { fate })
}

fn feedback() -> impl Strategy<Value = EcnFeedback> {
    prop_oneof![
        Just(EcnFeedback::None),
        Just(EcnFeedback::Classic),
        Just(EcnFeedback::Dctcp),
        Just(EcnFeedback::Accurate),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn everything_arrives_once(
        forth in prop::collection::vec(fate(), 1..120),
        back in prop::collection::vec(fate_back(), 1..80),
        segments in 1u64..60,
        window in 1u32..30,
        (grows, owns_recovery) in (any::<bool>(), any::<bool>()),
        feedback in feedback(),
        short in 0u64..MSS,
    ) {
        let control = HalvingSpec { window, grows, constant: false, feedback, owns_recovery };
        let bytes = segments * MSS - short;
        let mut pair = Pair::new(spec(), control, Supply::Message(bytes), ms(50));
        pair.forth = Box::new(move |n, _| forth.get(n).copied().unwrap_or(Fate::Arrives));
        pair.back = Box::new(move |n, _| back.get(n).copied().unwrap_or(Fate::Arrives));
        pair.finish(bytes);
        prop_assert!(pair.receiver.finished.is_some());
        prop_assert_eq!(pair.receiver.segments, pair.receiver.duplicates + segments);
        prop_assert_eq!(pair.receiver.pushes().len(), 1);
        let sent = pair.sender.sent;
        prop_assert_eq!(sent.packets, segments + sent.retransmitted);
        // The totals reported match what was delivered.
        let acks = &pair.sender.control.acks;
        prop_assert_eq!(acks.iter().map(|ack| u64::from(ack.acked)).sum::<u64>(), segments);
        prop_assert_eq!(acks.iter().map(|ack| u64::from(ack.delivered)).sum::<u64>(), segments);
        prop_assert_eq!(acks.last().unwrap().in_flight, 0);
    }

    /// Without loss, for any delay: nothing is delivered twice to the application, and reordering
    /// by less than a quarter of the minimum round-trip time is not taken for loss once it has been
    /// observed.
    #[test]
    fn small_delays_cost_no_repetition(late in prop::collection::vec(0u64..20, 60)) {
        let mut pair = Pair::message(60, HalvingSpec::default());
        pair.forth = Box::new(move |n, _| match n {
            // Reordering is observed first.
            0 => Fate::IsLate(Duration::from_us(15)),
            1..10 => Fate::Arrives,
            _ => Fate::IsLate(ms(late.get(n).copied().unwrap_or(0))),
        });
        pair.finish(60 * MSS);
        prop_assert_eq!(pair.sender.sent.retransmitted, 0);
    }
}

/// About every hundredth transmission is lost, at irregular positions: each is retransmitted once
/// and no other, without a timeout.
#[test]
fn what_is_lost_is_sent_again_and_nothing_else() {
    for window in [20, 200] {
        let constant = HalvingSpec { window, constant: true, ..Default::default() };
        let lost = |n: usize| (n as u32).wrapping_mul(2_654_435_761) < u32::MAX / 100;
        let mut pair = Pair::message(20_000, constant).lose(lost);
        pair.finish(20_000 * MSS);
        let count = (0..pair.frames.len()).filter(|n| lost(*n)).count() as u64;
        assert!(count > 150);
        let sent = pair.sender.sent;
        assert_eq!((sent.retransmitted, sent.timeouts, sent.spurious), (count, 0, 0));
        assert_eq!(pair.receiver.duplicates, 0);
    }
}

/// F-RTO sends new segments once the retransmission after the timeout has arrived (RFC 5682, section
/// 3.1, step 2). An acknowledgement that arrives before anything was retransmitted does not show
/// that, if it is for a segment that had been sent twice before: the first segment is still the next
/// one.
#[test]
fn after_a_timeout_new_segments_go_only_when_one_was_repeated() {
    let tcp = Spec { loss_detection: LossDetection::DupAcks, ..spec() };
    let control = HalvingSpec { window: 3, constant: true, ..Default::default() };
    // All but the SYN.
    let mut pair =
        Pair::new(tcp, control, Supply::Message(10 * MSS), ms(50)).lose(|n| n < usize::MAX);
    pair.run_until(at(110));
    let (rules, sender) = (Rules { tcp: &pair.tcp, congestion: &pair.control }, &mut pair.sender);
    let mut now = pair.now;
    let mut times_out = |sender: &mut Sender<_>| {
        now = sender.deadline();
        sender.on_timer(rules, now);
        now
    };
    let acknowledge = |sender: &mut Sender<_>, ack, now| {
        let none = Body::TcpAck {
            flags: AckFlags::default(),
            marked: 0,
            ack,
            sack: [SackBlock::default(); 2],
        };
        sender.on_ack(rules, &Acknowledgement::of(&none).unwrap(), now);
    };
    let sends = |sender: &mut Sender<_>, now| match sender.next(rules, now)?.body {
        Body::Segment { psn, .. } => Some(psn),
        _ => None,
    };
    // 0, 1 and 2 are in flight. 0 is retransmitted and arrives: 3 is new. 1 is retransmitted when
    // an acknowledgement reports nothing new.
    let now = times_out(sender);
    assert_eq!(sends(sender, now), Some(0));
    acknowledge(sender, 1, now);
    assert_eq!(sends(sender, now), Some(3));
    acknowledge(sender, 1, now);
    assert_eq!(sends(sender, now), Some(1));
    // After the next timeout that retransmission arrives, before anything else is retransmitted.
    let now = times_out(sender);
    acknowledge(sender, 2, now);
    assert_eq!(sends(sender, now), Some(2));
    acknowledge(sender, 3, now);
    assert_eq!(sends(sender, now), Some(4));
}
