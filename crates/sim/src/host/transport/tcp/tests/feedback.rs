//! ECN feedback end to end.

use super::*;

fn pair(feedback: EcnFeedback, segments: u64) -> Pair {
    Pair::message(segments, HalvingSpec { feedback, ..Default::default() })
}

fn mark(mut pair: Pair, marked: impl Fn(usize) -> bool + 'static) -> Pair {
    pair.forth = Box::new(move |n, body| match body {
        Body::Segment { .. } if marked(n) => Fate::IsMarked,
        _ => Fate::Arrives,
    });
    pair
}

fn flags(pair: &Pair) -> Vec<bool> {
    let reduced = |out: &Out| match out.body {
        Body::Segment { flags, .. } => flags.window_reduced,
        _ => unreachable!("only segments"),
    };
    pair.frames.iter().map(reduced).collect()
}

#[test]
fn code_points_are_those_of_the_feedback() {
    let field = |feedback, tcp: Spec, again: bool| {
        let control = HalvingSpec { feedback, ..Default::default() };
        let mut pair = Pair::new(tcp, control, Supply::Message(10 * MSS), ms(50));
        pair = pair.lose(|count| count == 0);
        pair.finish(10 * MSS);
        pair.frames.iter().find(|out| out.retransmission == again).unwrap().ecn
    };
    assert_eq!(field(EcnFeedback::None, spec(), false), Ecn::NotEct);
    assert_eq!(field(EcnFeedback::Classic, spec(), false), Ecn::Ect0);
    assert_eq!(field(EcnFeedback::Classic, spec(), true), Ecn::NotEct);
    assert_eq!(field(EcnFeedback::Dctcp, spec(), false), Ecn::Ect0);
    assert_eq!(field(EcnFeedback::Dctcp, spec(), true), Ecn::Ect0);
    assert_eq!(field(EcnFeedback::Accurate, spec(), false), Ecn::Ect1);
    assert_eq!(field(EcnFeedback::Accurate, spec(), true), Ecn::Ect1);
    let off = Spec { ecn: Some(crate::host::transport::tcp::Feedback::Off), ..spec() };
    assert_eq!(field(EcnFeedback::Accurate, off, false), Ecn::NotEct);
    let swapped = Spec {
        ecn: Some(crate::host::transport::tcp::Feedback::Dctcp),
        codepoint: Some(crate::host::transport::tcp::Codepoint::Ect1),
        ..spec()
    };
    assert_eq!(field(EcnFeedback::None, swapped, false), Ecn::Ect1);
}

/// RFC 3168: ECE on every acknowledgement until CWR arrives, which the first new segment after the
/// reduction carries; one reduction for all marks of a window.
#[test]
fn classic_feedback_is_latched() {
    let mut pair = mark(pair(EcnFeedback::Classic, 60), |count| count == 3 || count == 5);
    pair.finish(60 * MSS);
    assert_eq!(pair.told(), [Told::Congestion(Signal::Mark), Told::Recovered]);
    let cwr: Vec<usize> = (0..).zip(flags(&pair)).filter(|(_, set)| *set).map(|(n, _)| n).collect();
    assert_eq!(cwr.len(), 1);
    // At the beginning acknowledgement n is for segment n: ECE is on those from segment 3 to the
    // last before the segment with CWR.
    let acks: Vec<Acknowledgement> =
        pair.replies.iter().filter_map(|(_, reply)| Acknowledgement::of(&reply.body)).collect();
    let told: Vec<u32> = acks.iter().filter(|a| a.flags.congestion()).map(|a| a.ack).collect();
    assert_eq!(told.first(), Some(&4));
    assert_eq!(told.last(), Some(&(cwr[0] as u32)));
    assert_eq!(pair.receiver.marked, 2);
    assert_eq!(pair.sender.sent.mark_events, 1);
    assert_eq!(pair.sender.sent.marked, 0);
}

/// RFC 8257, section 3.3: CWR is set as with classic feedback, once for a reduction. Every segment is
/// marked, so there is a reduction in every round trip.
#[test]
fn with_dctcp_a_reduction_is_told_by_cwr() {
    let mut pair = mark(pair(EcnFeedback::Dctcp, 100), |_| true);
    pair.finish(100 * MSS);
    let cwr = flags(&pair).into_iter().filter(|set| *set).count() as u64;
    let reductions = pair.sender.sent.mark_events;
    // The last reduction may come after the last segment was sent.
    assert!(reductions > 5 && (reductions - 1..=reductions).contains(&cwr), "{cwr} {reductions}");
}

/// A mark in every round trip causes one reduction per round trip, not more.
#[test]
fn marks_reduce_once_a_round_trip() {
    for feedback in [EcnFeedback::Classic, EcnFeedback::Dctcp, EcnFeedback::Accurate] {
        let mut pair = mark(pair(feedback, 100), |_| true);
        pair.finish(100 * MSS);
        let times: Vec<Instant> = (pair.sender.control.told.iter())
            .filter(|(_, told)| *told == Told::Congestion(Signal::Mark))
            .map(|(at, _)| *at)
            .collect();
        assert!(times.len() > 5, "{feedback:?}");
        assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) >= ms(100)), "{feedback:?}");
        assert_eq!(pair.sender.sent.retransmitted, 0);
    }
}

/// Exact feedback: the sender learns of each mark once, with DCTCP's and with accurate feedback.
#[test]
fn exact_feedback_tells_every_mark() {
    for feedback in [EcnFeedback::Dctcp, EcnFeedback::Accurate] {
        for seed in 0..20usize {
            let marked = move |count: usize| (count * 7 + seed) % 5 < 2;
            let mut pair = mark(pair(feedback, 90), marked);
            pair.finish(90 * MSS);
            let count = (0..90).filter(|count| marked(*count)).count() as u64;
            assert_eq!(pair.receiver.marked, count);
            assert_eq!(pair.sender.sent.marked, count, "{feedback:?} {seed}");
            let told: u32 = pair.sender.control.acks.iter().map(|ack| ack.marked).sum();
            assert_eq!(u64::from(told), count);
        }
    }
}

/// A loss while the window is being reduced for a mark: recovery, but no second reduction.
#[test]
fn a_loss_after_a_mark_reduces_no_further() {
    let mut pair = pair(EcnFeedback::Dctcp, 60);
    pair.forth = Box::new(|count, _| match count {
        0 => Fate::IsMarked,
        3 => Fate::IsLost,
        _ => Fate::Arrives,
    });
    pair.finish(60 * MSS);
    assert_eq!(pair.told(), [Told::Congestion(Signal::Mark), Told::Recovered]);
    assert_eq!(pair.again().len(), 1);
    let phases: Vec<Phase> = pair.sender.control.acks.iter().map(|ack| ack.phase).collect();
    assert!(phases.contains(&Phase::Recovery) && phases.contains(&Phase::Reducing));
    assert_eq!(phases.last(), Some(&Phase::Open));
}

/// A switch signals the sender directly, every 10 ms from 115 ms on: one reduction per round trip
/// of 100 ms, the first at once, with any agreed feedback; CWR only where the receiver waits for
/// it.
#[test]
fn indications_reduce_at_once_and_once_a_round_trip() {
    for feedback in [EcnFeedback::None, EcnFeedback::Classic, EcnFeedback::Accurate] {
        let mut pair = pair(feedback, 100);
        for time in (115..400).step_by(10) {
            pair.run_until(at(time));
            let rules = Rules { tcp: &pair.tcp, congestion: &pair.control };
            pair.sender.on_indication(rules, at(time));
            pair.check();
        }
        pair.finish(100 * MSS);
        let marks: Vec<Instant> = (pair.sender.control.told.iter())
            .filter(|(_, told)| *told == Told::Congestion(Signal::Mark))
            .map(|(at, _)| *at)
            .collect();
        // The first window is sent at 100 ms. A reduction ends with the acknowledgement of data
        // sent after it: at 200 ms there is room to send, and at 300 ms it is acknowledged.
        assert_eq!(marks, [at(115), at(305)], "{feedback:?}");
        assert_eq!(pair.sender.sent.mark_events, 2);
        assert_eq!(pair.sender.sent.retransmitted, 0);
        let cwr = flags(&pair).into_iter().filter(|set| *set).count();
        assert_eq!(cwr, if feedback == EcnFeedback::Classic { 2 } else { 0 }, "{feedback:?}");
    }
}

/// Before the connection is established there can be no congestion.
#[test]
fn an_indication_before_the_handshake_is_none() {
    let mut pair = pair(EcnFeedback::None, 20);
    pair.run_until(at(50));
    let rules = Rules { tcp: &pair.tcp, congestion: &pair.control };
    pair.sender.on_indication(rules, at(50));
    pair.finish(20 * MSS);
    assert_eq!(pair.told(), []);
}
