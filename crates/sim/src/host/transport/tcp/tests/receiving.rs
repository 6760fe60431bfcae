//! Tests of the receiver alone, segment by segment.

use floodway_model::{SackBlock, SegmentFlags};

use super::*;

/// A receiver that delays acknowledgements from the first segment on.
fn receiver(feedback: EcnFeedback) -> (Spec, Receiver) {
    let spec = Spec { quick_acks: 0, ..spec() };
    let mut receiver = Receiver::new(&spec, None);
    receiver.on_syn(feedback, at(0));
    (spec, receiver)
}

fn segment(psn: u32, marked: bool) -> Segment {
    let ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
    let flags = SegmentFlags::default();
    Segment { psn, flags, sent_at: at(psn.into()), ecn, payload: MSS as u16 }
}

/// Replies to a segment: acknowledged number and ECE of each.
fn come(spec: &Spec, receiver: &mut Receiver, segment: Segment, now: Instant) -> Vec<(u32, bool)> {
    let arrived = receiver.on_segment(spec, &segment, now);
    let acks = arrived.replies.into_iter().flatten();
    acks.map(|reply| {
        let ack = Acknowledgement::of(&reply.body).unwrap();
        (ack.ack, ack.flags.congestion())
    })
    .collect()
}

#[test]
fn every_second_segment_is_acknowledged_and_the_rest_after_a_while() {
    let (spec, mut receiver) = receiver(EcnFeedback::None);
    assert_eq!(come(&spec, &mut receiver, segment(0, false), at(0)), []);
    assert_eq!(receiver.deadline(), at(40));
    assert_eq!(come(&spec, &mut receiver, segment(1, false), at(10)), [(2, false)]);
    assert_eq!(receiver.deadline(), Instant::NEVER);
    assert_eq!(come(&spec, &mut receiver, segment(2, false), at(20)), []);
    assert_eq!(receiver.on_timer(at(59)), None);
    let reply = receiver.on_timer(at(60)).unwrap();
    assert_eq!(Acknowledgement::of(&reply.body).unwrap().ack, 3);
    assert_eq!(reply.bytes, 70);
    assert_eq!(receiver.on_timer(at(100)), None);
}

#[test]
fn short_segments_count_by_their_bytes() {
    let (spec, mut receiver) = receiver(EcnFeedback::None);
    let short = |psn| Segment { payload: 300, ..segment(psn, false) };
    for psn in 0..3 {
        assert_eq!(come(&spec, &mut receiver, short(psn), at(psn.into())), []);
    }
    assert_eq!(come(&spec, &mut receiver, short(3), at(4)), [(4, false)]);
}

#[test]
fn the_beginning_is_acknowledged_quickly() {
    let spec = Spec { quick_acks: 3, ..spec() };
    let mut receiver = Receiver::new(&spec, None);
    let acks: Vec<usize> =
        (0..7).map(|psn| come(&spec, &mut receiver, segment(psn, false), at(0)).len()).collect();
    assert_eq!(acks, [1, 1, 1, 0, 1, 0, 1]);
}

#[test]
fn the_end_is_acknowledged_at_once() {
    let spec = Spec { quick_acks: 0, ..spec() };
    let mut receiver = Receiver::new(&spec, Some(3));
    assert_eq!(come(&spec, &mut receiver, segment(0, false), at(0)), []);
    assert_eq!(come(&spec, &mut receiver, segment(2, false), at(1)), [(1, false)]);
    let arrived = receiver.on_segment(&spec, &segment(1, false), at(2));
    assert!(arrived.completes && arrived.replies[1].is_some());
    assert_eq!((receiver.finished, receiver.delivered()), (Some(at(2)), 3 * MSS));
}

fn block(from: u16, count: u16) -> SackBlock {
    SackBlock { from, count }
}

/// RFC 2018, section 4: the block with the most recent segment first, then the one before.
#[test]
fn blocks_are_told_the_last_first() {
    let (spec, mut receiver) = receiver(EcnFeedback::None);
    let mut come = |psn| {
        let arrived = receiver.on_segment(&spec, &segment(psn, false), at(0));
        let reply = arrived.replies[1].expect("out of order is acknowledged at once");
        (Acknowledgement::of(&reply.body).unwrap(), reply.bytes)
    };
    let none = block(0, 0);
    assert_eq!(come(2), (ack(0, [block(2, 1), none]), 82));
    assert_eq!(come(3), (ack(0, [block(2, 2), none]), 82));
    assert_eq!(come(6), (ack(0, [block(6, 1), block(2, 2)]), 90));
    assert_eq!(come(9), (ack(0, [block(9, 1), block(6, 1)]), 90));
    assert_eq!(come(4), (ack(0, [block(2, 3), block(9, 1)]), 90));
    // The gap between two blocks closes.
    assert_eq!(come(5), (ack(0, [block(2, 5), block(9, 1)]), 90));
    // A duplicate is reported in place of a block.
    let duplicate = Acknowledgement {
        flags: floodway_model::AckFlags::new(false, true),
        ..ack(0, [block(2, 5), none])
    };
    assert_eq!(come(3), (duplicate, 90));
    assert_eq!(come(0), (ack(1, [block(1, 5), block(8, 1)]), 90));
    assert_eq!(come(1), (ack(7, [block(2, 1), none]), 82));
}

fn ack(ack: u32, sack: [SackBlock; 2]) -> Acknowledgement {
    Acknowledgement { ack, sack, ..Default::default() }
}

/// RFC 8257, section 3.2, figure 1: at a change, the segments before it are acknowledged with their
/// own mark.
#[test]
fn with_dctcp_every_change_is_told() {
    let (spec, mut receiver) = receiver(EcnFeedback::Dctcp);
    let marks = [false, false, false, true, true, true, false, false, true, false];
    let told: Vec<_> = (0..)
        .zip(marks)
        .map(|(psn, mark)| come(&spec, &mut receiver, segment(psn, mark), at(0)))
        .collect();
    let expected: [&[(u32, bool)]; 10] = [
        &[],
        &[(2, false)],
        &[],
        // The third segment was delayed: it is reported without ECE, the fourth with ECE.
        &[(3, false), (4, true)],
        &[],
        &[(6, true)],
        &[(7, false)],
        &[],
        &[(8, false), (9, true)],
        &[(10, false)],
    ];
    assert_eq!(told, expected);
}

/// RFC 3168: ECE from a mark to CWR, and further if the segment with CWR is marked itself.
#[test]
fn classic_echo_goes_on_until_it_is_answered() {
    let (spec, mut receiver) = receiver(EcnFeedback::Classic);
    let steps = [
        (segment(0, false), vec![]),
        // Two quick acknowledgements after the first mark.
        (segment(1, true), vec![(2, true)]),
        (segment(2, false), vec![(3, true)]),
        (segment(3, false), vec![]),
        (segment(4, true), vec![(5, true)]),
        (reduced(5, false), vec![(6, false)]),
        (segment(6, false), vec![]),
        (reduced(7, true), vec![(8, true)]),
    ];
    for (segment, told) in steps {
        assert_eq!(come(&spec, &mut receiver, segment, at(0)), told, "{segment:?}");
    }
}

fn reduced(psn: u32, mark: bool) -> Segment {
    let flags = SegmentFlags { window_reduced: true, push: false };
    Segment { flags, ..segment(psn, mark) }
}

/// By RFC 8257 a segment with CWR is delayed like any other; Linux acknowledges it at once, with
/// those before it.
#[test]
fn a_reduction_is_acknowledged_at_once_if_that_is_asked_for() {
    let told = |ack_reductions| {
        let (spec, mut receiver) = receiver(EcnFeedback::Dctcp);
        let spec = Spec { ack_reductions, ..spec };
        // With a change of marks it is acknowledged at once in any case, and once.
        let segments = [reduced(0, false), segment(1, false), reduced(2, true), segment(3, true)];
        segments.map(|segment| come(&spec, &mut receiver, segment, at(0)))
    };
    assert_eq!(told(false), [vec![], vec![(2, false)], vec![(3, true)], vec![]]);
    assert_eq!(told(true), [vec![(1, false)], vec![], vec![(2, false), (3, true)], vec![]]);
    // Without ECN nobody sends CWR, and without DCTCP's feedback nothing changes.
    let (spec, mut receiver) = receiver(EcnFeedback::Accurate);
    let spec = Spec { ack_reductions: true, ..spec };
    assert_eq!(come(&spec, &mut receiver, reduced(0, false), at(0)), []);
}

/// A receiver that compresses, with the given longest delay; the handshake takes `round_trip` ms, and
/// segment 0 has arrived with its end.
fn compressing(longest: u64, round_trip: u64) -> (Spec, Receiver) {
    let spec = Spec { quick_acks: 0, ack_every: 1, sack_delay: Some(ms(longest)), ..spec() };
    let mut receiver = Receiver::new(&spec, None);
    receiver.on_syn(EcnFeedback::None, at(0));
    assert_eq!(come(&spec, &mut receiver, segment(0, false), at(round_trip)), [(1, false)]);
    (spec, receiver)
}

/// Segment 1 is missing. Three segments behind it are acknowledged at once; then an acknowledgement
/// comes 4 ms after the first segment that waits for it, for all that have come.
#[test]
fn after_three_reports_of_a_gap_acknowledgements_are_compressed() {
    let (spec, mut receiver) = compressing(4, 100);
    for psn in 2..5 {
        assert_eq!(come(&spec, &mut receiver, segment(psn, false), at(200)), [(1, false)]);
    }
    assert_eq!(come(&spec, &mut receiver, segment(5, false), at(200)), []);
    assert_eq!(receiver.deadline(), at(204));
    assert_eq!(come(&spec, &mut receiver, segment(6, false), at(203)), []);
    assert_eq!(receiver.on_timer(at(203)), None);
    let reply = receiver.on_timer(at(204)).unwrap();
    assert_eq!(Acknowledgement::of(&reply.body), Some(ack(1, [block(1, 5), block(0, 0)])));
    assert_eq!(receiver.deadline(), Instant::NEVER);
    // The gap is known: the next one waits at once. A duplicate does not, and takes it along.
    assert_eq!(come(&spec, &mut receiver, segment(7, false), at(206)), []);
    assert_eq!(receiver.deadline(), at(210));
    assert_eq!(come(&spec, &mut receiver, segment(6, false), at(207)), [(1, false)]);
    assert_eq!(receiver.deadline(), Instant::NEVER);
    // What fills the gap is acknowledged at once, and another gap is reported three times again.
    assert_eq!(come(&spec, &mut receiver, segment(8, false), at(208)), []);
    assert_eq!(come(&spec, &mut receiver, segment(1, false), at(209)), [(9, false)]);
    for psn in 10..13 {
        assert_eq!(come(&spec, &mut receiver, segment(psn, false), at(210)), [(9, false)]);
    }
    assert_eq!(come(&spec, &mut receiver, segment(13, false), at(210)), []);
}

/// An acknowledgement has room for two blocks. What is held back is sent before a third one would take the place of a
/// block that was not reported (Linux: `tcp_sack_new_ofo_skb`).
#[test]
fn every_block_is_reported_although_acknowledgements_are_compressed() {
    let (spec, mut receiver) = compressing(4, 100);
    let mut come = |psn| {
        let replies = receiver.on_segment(&spec, &segment(psn, false), at(200)).replies;
        replies.map(|reply| Acknowledgement::of(&reply?.body))
    };
    for psn in 2..5 {
        assert_eq!(come(psn), [None, Some(ack(1, [block(1, psn as u16 - 1), block(0, 0)]))]);
    }
    // The second block has room, and so has what extends it or the first.
    for psn in [6, 7, 5, 9] {
        assert_eq!(come(psn), [None, None], "{psn}");
    }
    let before = |held| [Some(ack(1, held)), None];
    assert_eq!(come(11), before([block(8, 1), block(1, 6)]));
    assert_eq!(come(8), [None, None]);
    assert_eq!(come(13), before([block(1, 8), block(10, 1)]));
    assert_eq!(come(15), before([block(12, 1), block(1, 8)]));
    // The third and the fourth block become one, which then comes first.
    assert_eq!(come(10), before([block(14, 1), block(12, 1)]));
    let reply = receiver.on_timer(at(204)).unwrap();
    assert_eq!(Acknowledgement::of(&reply.body), Some(ack(1, [block(1, 10), block(14, 1)])));
}

/// The acknowledgement of a segment after which another is missing is the first of three reports of that gap; it is
/// not if it acknowledges more, because Linux acknowledges every second segment first.
#[test]
fn a_gap_that_moves_is_reported() {
    for (held, fills, reports) in [([3, 4, 5, 6], 2, 2), ([2, 4, 5, 6], 3, 3)] {
        let (spec, mut receiver) = compressing(4, 100);
        let told = held.map(|psn| come(&spec, &mut receiver, segment(psn, false), at(200)).len());
        assert_eq!(told, [1, 1, 1, 0]);
        assert_eq!(come(&spec, &mut receiver, segment(1, false), at(201)), [(fills, false)]);
        let told = (7..12)
            .filter(|psn| !come(&spec, &mut receiver, segment(*psn, false), at(202)).is_empty());
        assert_eq!(told.count(), reports, "{held:?}");
    }
}

/// A twentieth of the round trip of the handshake, if that is less: 1 ms of 20. A message that needs
/// no handshake has none.
#[test]
fn a_compressed_acknowledgement_waits_for_a_twentieth_of_a_round_trip() {
    let delay = |mut receiver: Receiver, spec: Spec| {
        (2..6).for_each(|psn| {
            come(&spec, &mut receiver, segment(psn, false), at(300));
        });
        receiver.deadline().since(at(300))
    };
    for (round_trip, expected) in [(20, 1), (60, 3), (80, 4), (200, 4)] {
        let (spec, receiver) = compressing(4, round_trip);
        assert_eq!(delay(receiver, spec), ms(expected), "{round_trip}");
    }
    let spec = Spec { quick_acks: 0, sack_delay: Some(ms(4)), ..spec() };
    let mut receiver = Receiver::new(&spec, None);
    receiver.establish(EcnFeedback::None);
    come(&spec, &mut receiver, segment(0, false), at(1));
    assert_eq!(delay(receiver, spec), ms(4));
}

/// Of 44 segments in a row the acknowledgement is held back, and not of the next one.
#[test]
fn no_more_than_44_are_compressed() {
    let (spec, mut receiver) = compressing(500, 10_000);
    let told: Vec<usize> = (2..2 + 3 + 44 + 1 + 44 + 1)
        .map(|psn| come(&spec, &mut receiver, segment(psn, false), at(20_000)).len())
        .collect();
    let held_back = [0; 44];
    assert_eq!(told, [&[1; 3][..], &held_back, &[1], &held_back, &[1]].concat());
}

/// At the beginning of a connection nothing is compressed.
#[test]
fn quick_acknowledgements_are_not_compressed() {
    let spec = Spec { quick_acks: 5, sack_delay: Some(ms(1)), ..spec() };
    let mut receiver = Receiver::new(&spec, None);
    receiver.on_syn(EcnFeedback::None, at(0));
    let told: Vec<usize> =
        (1..11).map(|psn| come(&spec, &mut receiver, segment(psn, false), at(100)).len()).collect();
    // Five quick ones, then three reports.
    assert_eq!(told, [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
}

/// RFC 9768: a mark after none is reported at once, and every second one.
#[test]
fn accurate_feedback_counts() {
    let (spec, mut receiver) = receiver(EcnFeedback::Accurate);
    let marks = [false, true, true, true, true, false, false, true];
    let mut told = Vec::new();
    for (psn, mark) in (0..).zip(marks) {
        let arrived = receiver.on_segment(&spec, &segment(psn, mark), at(0));
        let reply = arrived.replies[1];
        told.push(reply.map(|r| Acknowledgement::of(&r.body).unwrap().marked));
        assert!(reply.is_none_or(|reply| reply.bytes == 82));
    }
    let none = None;
    assert_eq!(told, [none, Some(1), none, Some(3), none, Some(4), none, Some(5)]);
}

#[test]
fn what_ends_with_push_has_come_when_everything_before_has() {
    let (spec, mut receiver) = receiver(EcnFeedback::None);
    receiver.keep_pushes();
    let flags = SegmentFlags { window_reduced: false, push: true };
    let end = |psn| Segment { flags, payload: 200, ..segment(psn, false) };
    receiver.on_segment(&spec, &end(1), at(1));
    receiver.on_segment(&spec, &end(3), at(3));
    assert_eq!((receiver.pushes(), receiver.delivered()), (&[][..], 0));
    receiver.on_segment(&spec, &segment(0, false), at(5));
    assert_eq!((receiver.pushes(), receiver.delivered()), (&[(1, at(5))][..], 1_200));
    receiver.on_segment(&spec, &segment(2, false), at(6));
    assert_eq!(receiver.pushes(), [(1, at(5)), (3, at(6))]);
    assert_eq!(receiver.delivered(), 2_400);
}

fn pushed(psn: u32) -> Segment {
    let flags = SegmentFlags { push: true, ..SegmentFlags::default() };
    Segment { flags, payload: 10, ..segment(psn, false) }
}

/// Acknowledged number, and frame length beyond that of the acknowledgement alone.
fn answers(spec: &Spec, receiver: &mut Receiver, segment: Segment) -> Vec<(u32, u16)> {
    let arrived = receiver.on_segment(spec, &segment, at(0));
    let mut replies: Vec<Reply> = arrived.replies.into_iter().flatten().collect();
    assert_eq!(arrived.more, receiver.clone().next_answer().is_some());
    replies.extend(std::iter::from_fn(|| receiver.next_answer()));
    let answer = |reply: &Reply| {
        let ack = Acknowledgement::of(&reply.body).unwrap();
        let blocks = ack.sack.iter().filter(|block| **block != SackBlock::default()).count()
            + usize::from(ack.flags.duplicate());
        let options = if blocks == 0 { 0 } else { 4 + 8 * blocks as u16 };
        (ack.ack, reply.bytes - 70 - options)
    };
    replies.iter().map(answer).collect()
}

/// The acknowledgement of data ending with PSH is never delayed, and carries the answer; that of
/// other data is delayed as usual.
#[test]
fn an_answer_goes_with_the_acknowledgement_at_once() {
    for bytes in [0, 64] {
        let (spec, mut receiver) = receiver(EcnFeedback::None);
        receiver.answer_pushes(bytes);
        let mut come = |segment| answers(&spec, &mut receiver, segment);
        assert_eq!(come(segment(0, false)), []);
        assert_eq!(come(pushed(1)), [(2, bytes as u16)]);
        assert_eq!(come(pushed(2)), [(3, bytes as u16)]);
        assert_eq!(come(segment(3, false)), []);
        assert_eq!(come(segment(4, false)), [(5, 0)]);
        // A duplicate: what was answered is acknowledged, and not answered again.
        assert_eq!(come(pushed(2)), [(5, 0)]);
    }
    // Without answers the acknowledgement is delayed.
    let (spec, mut receiver) = receiver(EcnFeedback::None);
    assert_eq!(answers(&spec, &mut receiver, pushed(0)), []);
}

/// Nothing is answered before all of it has arrived; several answers share a frame as far as they
/// fit into that of a full segment.
#[test]
fn answers_wait_for_what_is_missing_and_fill_frames() {
    let (spec, mut receiver) = receiver(EcnFeedback::None);
    receiver.answer_pushes(400);
    assert_eq!(answers(&spec, &mut receiver, pushed(1)), [(0, 0)]);
    assert_eq!(answers(&spec, &mut receiver, pushed(2)), [(0, 0)]);
    assert_eq!(answers(&spec, &mut receiver, pushed(0)), [(3, MSS as u16), (3, 200)]);
    assert_eq!(answers(&spec, &mut receiver, pushed(3)), [(4, 400)]);
}
