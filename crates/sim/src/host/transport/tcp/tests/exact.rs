//! Times and numbers with closed forms. A round trip is 100 ms, segments are 10 us apart; the SYN
//! is sent at 0, the first segment at 100 ms.

use super::*;

/// Twenty segments with a constant window of ten: the first ten at 100.00 to 100.09 ms, and so on.
#[test]
fn without_loss_a_window_goes_each_round_trip() {
    let mut pair = Pair::message(20, HalvingSpec::default());
    pair.finish(20 * MSS);
    let log = &pair.log;
    let times: Vec<u64> = log.iter().map(|(at, ..)| at.0 / 1_000_000).collect();
    let first = (0..10).map(|n| 100_000 + 10 * n);
    // 17 acknowledgements are quick (16, and the first delayed one is due with the last segment).
    assert_eq!(times[..10], first.clone().collect::<Vec<_>>());
    assert_eq!(times[10..16], first.take(6).map(|time| time + 100_000).collect::<Vec<_>>());
    assert!(log.iter().map(|(_, psn, _)| *psn).eq(0..20));
    assert_eq!(pair.sender.sent, super::super::Sent { packets: 20, ..Default::default() });
    assert_eq!(pair.sender.mean_rtt(), Some(ms(100)));
    assert_eq!(pair.sender.min_rtt(), ms(100));
    assert!(pair.told().is_empty());
}

#[test]
fn a_lost_syn_goes_again_after_one_second_and_then_two() {
    let mut pair = Pair::message(1, HalvingSpec::default());
    let mut lost = 2;
    pair.forth = Box::new(move |_, body| match body {
        Body::Syn { .. } if lost > 0 => {
            lost -= 1;
            Fate::IsLost
        }
        _ => Fate::Arrives,
    });
    pair.finish(MSS);
    assert_eq!(pair.syns, [at(0), at(1_000), at(3_000)]);
    assert_eq!(pair.log[0].0, at(3_100));
    assert_eq!(pair.sender.sent.timeouts, 2);
    // It is unknown which SYN was answered: the first sample comes from the segment.
    assert_eq!(pair.sender.rtt_sum(), (u128::from(ms(100).0), 1));
}

/// Segment 2 of ten is lost: 0 and 1 are acknowledged, then three SACKs arrive, and the third ends
/// the reordering window (DupThresh). It arrives at 100.05 + 100 ms.
#[test]
fn the_third_sack_tells_a_loss_at_once() {
    let mut pair = Pair::message(10, HalvingSpec::default()).lose(|count| count == 2);
    pair.finish(10 * MSS);
    assert_eq!(pair.again(), [(200_050, 2)]);
    assert_eq!(pair.told(), [Told::Congestion(Signal::Loss), Told::Recovered]);
    assert_eq!(pair.sender.sent.loss_events, 1);
    let lost = pair.sender.control.lost[0];
    assert_eq!((lost.in_flight_at_send, lost.lost), (3, 1));
    assert_eq!(pair.receiver.finished, Some(at(250) + Duration::from_us(50)));
}

/// The second of four is lost: there are only two SACKs, so the reordering window is a quarter of a
/// round trip after the last of them: sent at 100.01, lost at 100.01 + 100 + 25.
#[test]
fn with_less_than_three_sacks_a_quarter_of_a_round_trip_is_waited() {
    let mut pair = Pair::message(4, HalvingSpec::default()).lose(|count| count == 1);
    pair.finish(4 * MSS);
    assert_eq!(pair.again(), [(225_010, 1)]);
}

/// The last of ten is lost. The acknowledgement of the ninth arrives at 100.08 + 100. The probe
/// follows after two round trips, plus 200 ms for the delayed acknowledgement of a single segment,
/// but not after the retransmission timer, which expires SRTT + 200 ms after that acknowledgement.
#[test]
fn a_single_lost_segment_is_probed_when_the_timeout_would_be() {
    let mut pair = Pair::message(10, HalvingSpec::default()).lose(|count| count == 9);
    pair.finish(10 * MSS);
    assert_eq!(pair.again(), [(500_080, 9)]);
    assert_eq!((pair.sender.sent.probes, pair.sender.sent.timeouts), (1, 0));
    assert!(pair.told().is_empty());
}

/// The last three of ten are lost. The acknowledgement of the seventh arrives at 200.06. Two round
/// trips later the last segment is retransmitted, and its SACK at 500.06 reveals the loss of the
/// other two; one is sent for each that arrives.
#[test]
fn a_lost_tail_is_found_by_a_probe_after_two_round_trips() {
    let mut pair = Pair::message(10, HalvingSpec::default()).lose(|count| (7..10).contains(&count));
    pair.finish(10 * MSS);
    assert_eq!(pair.again(), [(400_060, 9), (500_060, 7), (600_060, 8)]);
    assert_eq!((pair.sender.sent.probes, pair.sender.sent.timeouts), (1, 0));
    assert_eq!(pair.told(), [Told::Congestion(Signal::Loss), Told::Recovered]);
}

/// All of the first window is lost. No acknowledgement has arrived since the SYN/ACK: the probe is
/// sent 200 ms after the last segment, and its SACK reveals the other losses.
#[test]
fn a_lost_first_window_is_found_by_a_probe() {
    let mut pair = Pair::message(10, HalvingSpec::default()).lose(|count| count < 10);
    pair.finish(10 * MSS);
    let again = pair.again();
    assert_eq!(again[0], (300_090, 9));
    assert_eq!(again[1], (400_090, 0));
    assert_eq!(pair.sender.sent.timeouts, 0);
}

/// If the probe is lost too, the timer expires at 300.09 + 100 + 200 ms, and doubles.
#[test]
fn the_timeout_follows_the_probe() {
    let mut pair = Pair::message(10, HalvingSpec::default()).lose(|count| count < 12);
    pair.finish(10 * MSS);
    let again = pair.again();
    assert_eq!(again[..3], [(300_090, 9), (600_090, 0), (1_200_090, 0)]);
    assert_eq!(pair.sender.sent.timeouts, 2);
    let told = pair.told();
    assert_eq!(told[..2], [Told::Timeout { again: false }, Told::Timeout { again: true }]);
    assert_eq!(told[2..], [Told::Recovered]);
    // From one segment on, in order: 1, 2, 4, …
    let numbers: Vec<u32> = again[2..].iter().map(|(_, psn)| *psn).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(again[3].0, 1_300_090);
    assert_eq!(again[5].0, 1_400_090);
}

/// A lost retransmission is detected by a segment that was sent after it, without a timeout. It is
/// the 25th transmission: the acknowledgements of 0, 1, 3 and 4 release four new segments before
/// it.
#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_later() {
    let mut pair = Pair::message(40, HalvingSpec { window: 20, ..Default::default() })
        .lose(|count| count == 2 || count == 24);
    pair.finish(40 * MSS);
    let again = pair.again();
    assert_eq!((again[0].1, again[1].1, again.len()), (2, 2, 2));
    assert!(again[1].0 < again[0].0 + 150_000);
    assert_eq!(pair.sender.sent.timeouts, 0);
    assert_eq!(pair.sender.sent.loss_events, 1);
}

/// A segment that is late by less than a quarter of the round trip, and is overtaken by two others,
/// is not retransmitted; one that is overtaken by more is.
#[test]
fn little_reordering_is_forgiven() {
    let late = |late: Duration, segments: u64| {
        let mut pair = Pair::message(segments, HalvingSpec::default());
        let fate = move |count, _: &Body| match count {
            1 => Fate::IsLate(late),
            _ => Fate::Arrives,
        };
        pair.forth = Box::new(fate);
        pair.finish(segments * MSS);
        pair.again().len()
    };
    assert_eq!(late(ms(24), 4), 0);
    assert_eq!(late(ms(26), 4), 1);
    assert_eq!(late(ms(1), 10), 1);
}

/// After reordering has been observed, the reordering window applies however many segments
/// overtake.
#[test]
fn reordering_once_seen_is_waited_for() {
    let mut pair = Pair::message(40, HalvingSpec::default());
    pair.forth = Box::new(|count, _| match count {
        1 => Fate::IsLate(Duration::from_us(15)),
        11 => Fate::IsLate(ms(20)),
        _ => Fate::Arrives,
    });
    pair.finish(40 * MSS);
    assert_eq!(pair.again(), []);
    assert!(pair.receiver.reordered >= 2);
}

/// An unnecessary retransmission is reported as a duplicate, and the window is restored.
#[test]
fn a_duplicate_undoes_a_recovery() {
    let mut pair = Pair::message(30, HalvingSpec::default());
    pair.forth = Box::new(|count, _| match count {
        1 => Fate::IsLate(ms(30)),
        _ => Fate::Arrives,
    });
    pair.finish(30 * MSS);
    assert_eq!(pair.again().len(), 1);
    assert_eq!(pair.told(), [Told::Congestion(Signal::Loss), Told::Recovered, Told::Undone]);
    assert_eq!((pair.sender.sent.spurious, pair.receiver.duplicates), (1, 1));
    assert_eq!(pair.sender.window(), Some(10 * MSS));
}

/// The path is blocked until 1200 ms: the probe (a new segment) is not acknowledged and the timer
/// expires at 700.09 ms. Then everything arrives, in order. The acknowledgement of 10 releases two
/// new segments. That of 11 shows that 11 has arrived although it was sent only once, before the
/// timer expired: nothing had been lost.
#[test]
fn an_early_timeout_is_undone() {
    let mut pair = Pair::message(60, HalvingSpec::default());
    pair.forth = Box::new(|_, body| standstill(body));
    pair.finish(60 * MSS);
    assert_eq!(pair.sender.control.told[0], (at(700) + Duration::from_us(90), TIMEOUT));
    assert_eq!(pair.sender.control.told[1], (at(1_250) + Duration::from_ns(10), Told::Undone));
    assert_eq!(pair.told().len(), 2);
    assert_eq!((pair.sender.sent.timeouts, pair.sender.sent.spurious), (1, 1));
    assert_eq!(pair.again(), [(700_090, 10)]);
}

/// Blocked until 1200 ms; then everything arrives, in order.
fn standstill(body: &Body) -> Fate {
    match *body {
        Body::Segment { sent_at, .. } if sent_at >= at(200) && sent_at < at(1_150) => {
            let sent = sent_at.since(at(200));
            Fate::IsLate(Duration(ms(950).0 - sent.0 + sent.0 / 1_000))
        }
        _ => Fate::Arrives,
    }
}

/// The same with 15 lost: the loss is detected again without another timeout.
#[test]
fn what_was_lost_before_an_early_timeout_is_found_after_it() {
    let mut pair = Pair::message(60, HalvingSpec::default());
    pair.forth = Box::new(|n, body| if n == 15 { Fate::IsLost } else { standstill(body) });
    pair.finish(60 * MSS);
    assert_eq!((pair.sender.sent.timeouts, pair.sender.sent.spurious), (1, 1));
    let again: Vec<u32> = pair.again().iter().map(|(_, psn)| *psn).collect();
    assert_eq!(again, [10, 15]);
}

/// 1 and 3 are lost, and so is the acknowledgement that reports 2: the next one reports 4 and 2
/// together, in that order. This is not reordering, so the third SACK counts.
#[test]
fn the_order_of_blocks_is_not_reordering() {
    let mut pair = Pair::message(10, HalvingSpec::default()).lose(|count| count == 1 || count == 3);
    // The SYN/ACK is the first frame back.
    pair.back = Box::new(|count, _| if count == 2 { Fate::IsLost } else { Fate::Arrives });
    pair.finish(10 * MSS);
    assert_eq!(pair.again()[0], (200_050, 1));
}

const TIMEOUT: Told = Told::Timeout { again: false };

/// Halving a window of 20 after one loss: one segment for every two that are delivered, and ten in
/// flight at the end.
#[test]
fn a_reduction_is_spread_over_a_round_trip() {
    let control = HalvingSpec { window: 20, ..Default::default() };
    let mut pair = Pair::message(100, control).lose(|count| count == 0);
    pair.run_until(at(249));
    let log = pair.log.clone();
    // SACKs arrive from 200.01 to 200.19. The first two release new segments, the third reveals the
    // loss: ceil(d / 2) of the d segments delivered from then on are sent, until ten are in flight.
    let sent: Vec<u32> = log[20..].iter().map(|(_, psn, _)| *psn).collect();
    assert_eq!(sent, [20, 21, 0, 22, 23, 24, 25, 26, 27, 28]);
    let times: Vec<u64> = log[20..].iter().map(|(at, ..)| at.0 / 1_000_000 - 200_000).collect();
    assert_eq!(times, [10, 20, 30, 50, 70, 90, 110, 130, 150, 170]);
    assert_eq!(pair.sender.in_flight(), 10);
    pair.finish(100 * MSS);
    assert_eq!(pair.sender.sent.retransmitted, 1);
}

/// The window of a control that manages its own recovery applies at once.
#[test]
fn a_control_may_manage_recovery_itself() {
    let control = HalvingSpec { window: 20, owns_recovery: true, ..Default::default() };
    let mut pair = Pair::message(100, control).lose(|count| count == 0);
    pair.run_until(at(249));
    let log = pair.log.clone();
    // 22 - 3 - 1 are in flight when the loss is detected: below ten after nine more.
    assert_eq!(log[22].0.0 / 1_000_000 - 200_000, 120);
    assert_eq!(pair.sender.in_flight(), 10);
}

/// The receive window limits the unacknowledged data: 4 segments per round trip.
#[test]
fn the_receive_window_is_kept() {
    let tcp = Spec { receive_window: Some(floodway_model::Bytes(4_999)), ..spec() };
    let mut pair = Pair::new(tcp, HalvingSpec::default(), Supply::Message(12 * MSS), ms(50));
    pair.finish(12 * MSS);
    let times: Vec<u64> = pair.log.iter().map(|(at, ..)| at.0 / 1_000_000).collect();
    assert_eq!(times[3..5], [100_030, 200_000]);
    assert_eq!(times[7..9], [200_030, 300_000]);
    // The congestion window was not the limit.
    assert!(pair.sender.control.acks.iter().skip(4).all(|ack| !ack.window_limited));
}

/// Delivery rate: one window per round trip, for any pattern of acknowledgements.
#[test]
fn the_delivery_rate_is_the_window_over_the_round_trip() {
    let mut pair = Pair::message(60, HalvingSpec::default());
    pair.finish(60 * MSS);
    let acks = &pair.sender.control.acks;
    // The first window: each sample begins with the first segment, sent at 100 ms.
    let first = acks[0].rate.unwrap();
    assert_eq!((first.delivered, first.interval, first.prior_delivered), (1, ms(100), 0));
    let last = acks[9].rate.unwrap();
    assert_eq!((last.delivered, last.in_flight_at_send), (10, 10));
    assert_eq!(last.interval, ms(100) + Duration::from_us(90));
    // From then on one window per round trip.
    let steady = acks[12].rate.unwrap();
    assert_eq!((steady.delivered, steady.interval, steady.prior_delivered), (10, ms(100), 3));
    assert_eq!(steady.per_second(), 100.0);
    // A round begins with the first acknowledgement and then with each that is for a segment sent
    // after the previous one; from the 17th on they are for two segments.
    let rounds: Vec<u64> =
        acks.iter().filter(|a| a.round_begins).map(|a| a.now.0 / 1_000_000).collect();
    assert_eq!(rounds[..3], [200_000, 300_000, 400_010]);
    assert!(acks.iter().all(|ack| ack.rate.is_some_and(|rate| !rate.app_limited)));
}

#[test]
fn what_is_written_bit_by_bit_goes_when_it_is_there_and_its_end_is_told() {
    let control = HalvingSpec { grows: true, ..Default::default() };
    let mut pair = Pair::new(spec(), control, Supply::Written, ms(50));
    for frame in 0..5 {
        pair.schedule(at(1_000 + 110 * frame), Event::Write(2_300));
    }
    pair.schedule(at(2_000), Event::Write(100));
    pair.schedule(at(2_000), Event::Close);
    pair.finish(5 * 2_300 + 100);
    let pushes: Vec<(u32, u64)> =
        pair.receiver.pushes().iter().map(|(psn, at)| (*psn, at.0 / 1_000_000)).collect();
    let frame = |n: u64| (3 * n as u32 + 2, 1_050_020 + 110_000 * n);
    let mut expected: Vec<_> = (0..5).map(frame).collect();
    expected.push((15, 2_050_000));
    assert_eq!(pushes, expected);
    // More than a timeout without anything to send.
    assert_eq!(pair.told(), [Told::Restart { halvings: 1 }]);
    let samples = pair.sender.control.acks.iter().skip(2).filter_map(|ack| ack.rate);
    assert!(samples.clone().count() > 3 && samples.clone().all(|rate| rate.app_limited));
    // Less than half of the window of ten was used.
    assert_eq!(pair.sender.control.window, 10);
}

#[test]
fn endless_stops_at_its_time_and_repeats_what_was_lost() {
    let supply = Supply::Endless(at(250));
    let mut pair = Pair::new(spec(), HalvingSpec::default(), supply, ms(50));
    pair = pair.lose(|count| count == 19);
    pair.run_until(at(10_000));
    assert!(pair.sender.is_done());
    assert_eq!(pair.receiver.delivered(), 20 * MSS);
}

#[test]
fn pacing_spreads_the_window() {
    let tcp = Spec { pacing: true, ..spec() };
    let mut pair = Pair::new(tcp, HalvingSpec::default(), Supply::Message(50 * MSS), ms(50));
    let rules = Rules { tcp: &pair.tcp, congestion: &pair.control };
    assert_eq!(pair.sender.rate(rules, at(0)), None);
    pair.run_until(at(120));
    let rules = Rules { tcp: &pair.tcp, congestion: &pair.control };
    // Slow start: 200 % of ten frames of 1070 bytes in 100 ms.
    assert_eq!(pair.sender.rate(rules, pair.now), Some(1_712_000.0));
    pair.sender.control.threshold = 5;
    assert!((pair.sender.rate(rules, pair.now).unwrap() - 1_027_200.0).abs() < 1e-6);
}

/// RFC 8985, section 3.4, first illustration: of P0 to P3 the last three are lost. Two round trips
/// after the acknowledgement of P0, P3 is retransmitted, and its SACK reveals the loss of P1 and
/// P2.
#[test]
fn the_illustration_of_rack_tlp() {
    let mut pair = Pair::message(4, HalvingSpec::default()).lose(|count| (1..4).contains(&count));
    pair.finish(4 * MSS);
    assert_eq!(pair.again(), [(400_000, 3), (500_000, 1), (600_000, 2)]);
    assert_eq!(pair.sender.sent.timeouts, 0);
}

/// Only the acknowledgement of the end is lost: the probe is reported as a duplicate, so nothing
/// was lost and nothing is reduced.
#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    let mut pair = Pair::message(5, HalvingSpec::default());
    // The SYN/ACK is the first frame back.
    pair.back =
        Box::new(|count, _| if (4..=5).contains(&count) { Fate::IsLost } else { Fate::Arrives });
    pair.finish(5 * MSS);
    assert_eq!(pair.again(), [(400_020, 4)]);
    assert_eq!(pair.receiver.duplicates, 1);
    assert!(pair.told().is_empty());
    assert_eq!(pair.sender.sent.spurious, 0);
}

/// A probe that repaired a loss: the window is reduced when the following data is acknowledged
/// (section 7.4.2).
#[test]
fn a_loss_that_a_probe_repaired_counts() {
    let mut pair = Pair::new(spec(), HalvingSpec::default(), Supply::Written, ms(50));
    pair = pair.lose(|count| count == 2);
    pair.schedule(at(0), Event::Write(3 * MSS));
    pair.schedule(at(1_000), Event::Write(MSS));
    pair.schedule(at(1_000), Event::Close);
    pair.finish(4 * MSS);
    assert_eq!((pair.again().len(), pair.sender.sent.probes), (1, 1));
    assert_eq!(
        pair.told(),
        [Told::Restart { halvings: 1 }, Told::Congestion(Signal::Loss), Told::Recovered]
    );
    assert_eq!(pair.sender.control.told[1].0, at(1_100));
}

/// A path of 100 segments per second whose acknowledgements arrive in groups of five: no sample
/// exceeds the path's rate, because the sending time counts where it is longer.
#[test]
fn compressed_acknowledgements_do_not_look_like_a_faster_path() {
    let mut pair = Pair::message(200, HalvingSpec { window: 20, ..Default::default() });
    pair.gap = ms(10);
    pair.back = Box::new(|count, _| Fate::IsLate(ms(10) * (4 - count as u64 % 5)));
    pair.finish(200 * MSS);
    let rates: Vec<_> = pair.sender.control.acks.iter().filter_map(|ack| ack.rate).collect();
    assert!(rates.len() > 50);
    let most = rates.iter().map(|rate| rate.per_second()).fold(0.0, f64::max);
    assert!((90.0..100.000_001).contains(&most), "{most}");
}
