//! Loss detection by duplicate acknowledgements; [`exact`](super::exact) has the same cases with
//! RACK.

use super::super::{IdleRestart, LossDetection};
use super::*;

fn pair(segments: u64) -> Pair {
    let tcp = Spec { loss_detection: LossDetection::DupAcks, ..spec() };
    Pair::new(tcp, HalvingSpec::default(), Supply::Message(segments * MSS), ms(50))
}

/// Segment 1 of `segments` is lost. Those after it are sent from 100.02 ms on at intervals of 10 us,
/// and their SACKs arrive a round trip later.
#[test]
fn the_third_sack_tells_a_loss_and_not_the_second() {
    for segments in 5..9 {
        let mut pair = pair(segments).lose(|count| count == 1);
        pair.finish(segments * MSS);
        assert_eq!(pair.again(), [(200_040, 1)], "{segments}");
        assert_eq!(pair.told(), [Told::Congestion(Signal::Loss), Told::Recovered]);
        assert_eq!((pair.sender.sent.loss_events, pair.sender.sent.timeouts), (1, 0));
    }
    // With two SACKs only the timer remains: SRTT + 200 ms after the acknowledgement of segment 0.
    let mut pair = pair(4).lose(|count| count == 1);
    pair.finish(4 * MSS);
    assert_eq!(pair.again(), [(500_000, 1)]);
    assert_eq!(pair.told(), [Told::Timeout { again: false }, Told::Recovered]);
}

/// A segment overtaken by two others is not considered lost, one overtaken by three is: segments
/// are 10 us apart.
#[test]
fn a_segment_may_be_overtaken_by_two() {
    for (overtaken, again) in [(2, 0), (3, 1)] {
        let mut pair = pair(10);
        let late = Duration::from_us(10 * overtaken + 5);
        pair.forth = Box::new(move |count, _| match count {
            3 => Fate::IsLate(late),
            _ => Fate::Arrives,
        });
        pair.finish(10 * MSS);
        assert_eq!(pair.again().len(), again, "{overtaken}");
    }
}

/// All segments below the third highest that has arrived are lost at once, in one recovery.
#[test]
fn several_losses_are_one_recovery() {
    let mut pair = pair(10).lose(|count| [1, 2, 4].contains(&count));
    pair.finish(10 * MSS);
    // 3, 5 and 6 have arrived. 1 and 2 are considered lost when the SACK of 6 arrives, and 4 as
    // well when that of 7 arrives at 200.07.
    let again = pair.again();
    assert_eq!(again.iter().map(|(_, psn)| *psn).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(again[0].0, 200_060);
    assert_eq!(pair.told(), [Told::Congestion(Signal::Loss), Told::Recovered]);
}

/// There is no probe: a lost tail, and a lost retransmission, wait for the timer.
#[test]
fn what_nothing_follows_waits_for_the_timer() {
    let mut tail = pair(10).lose(|count| count == 9);
    tail.finish(10 * MSS);
    // 300 ms after the acknowledgement of the ninth.
    assert_eq!(tail.again(), [(500_080, 9)]);
    assert_eq!((tail.sender.sent.probes, tail.sender.sent.timeouts), (0, 1));
    let mut twice = pair(10).lose(|count| count == 2 || count == 10);
    twice.finish(10 * MSS);
    // 300 ms after segment 2 was retransmitted, which restarts the timer.
    assert_eq!(twice.again(), [(200_050, 2), (500_050, 2)]);
    assert_eq!((twice.sender.sent.probes, twice.sender.sent.timeouts), (0, 1));
}

/// A segment at 0 and one after two seconds. The timeout is SRTT + 200 ms = 300 ms, so the window
/// is halved six times, or reduced at once, or kept. The first segment is sent at 100 ms.
#[test]
fn after_idle_time_the_window_begins_anew_as_it_is_told_to() {
    for (idle_restart, told) in [
        (IdleRestart::Halve, vec![Told::Restart { halvings: 6 }]),
        (IdleRestart::Initial, vec![Told::Restart { halvings: u32::MAX }]),
        (IdleRestart::Keep, vec![]),
    ] {
        let tcp = Spec { idle_restart, ..spec() };
        let mut pair = Pair::new(tcp, HalvingSpec::default(), Supply::Written, ms(50));
        pair.schedule(at(0), Event::Write(100));
        pair.schedule(at(2_000), Event::Write(100));
        pair.schedule(at(2_000), Event::Close);
        pair.finish(200);
        assert_eq!(pair.told(), told);
    }
}
