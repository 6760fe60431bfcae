use super::*;

const INTERVAL: u64 = 100;

/// Times of hits in milliseconds, when a packet leaves every `step` microseconds until `until` with
/// this sojourn time. A dropped packet is followed by the next at once.
fn hits(
    queue: &mut Queue,
    spec: &Spec,
    marks: bool,
    (from, until, step): (u64, u64, u64),
    sojourn: impl Fn(u64) -> Duration,
) -> Vec<f64> {
    let mut hits = Vec::new();
    let mut us = from;
    while us < until {
        let head = Head { sojourn: sojourn(us), backlogged: true, now: Instant(us * 1_000_000) };
        while queue.hits(spec, &head, marks) {
            hits.push(us as f64 / 1_000.0);
            if marks {
                break;
            }
        }
        us += step;
    }
    hits
}

/// Drop times by the formula: one interval after the sojourn time exceeded the target, and then
/// after interval / sqrt(n), n = 1, 2, ...; rounded up to the next departure.
fn formula(first: f64, count: u32, step: f64) -> Vec<f64> {
    let mut due = first;
    let mut times = vec![first];
    for n in 1..count {
        due += INTERVAL as f64 / f64::from(n).sqrt();
        times.push((due / step).ceil() * step);
    }
    times
}

#[test]
fn drops_follow_the_square_root() {
    let (spec, mut queue) = (Spec::default(), Queue::default());
    let above = |_| Duration::from_ms(6);
    let times = hits(&mut queue, &spec, false, (0, 1_000_000, 1_000), above);
    // 100, then 200, 270.7, 328.4, 378.4, 423.2, ...: by hand.
    assert_eq!(times[..6], [100.0, 200.0, 271.0, 329.0, 379.0, 424.0]);
    assert_eq!(times, formula(100.0, times.len() as u32, 1.0));
    // In the 900 ms after the first drop: the sum of 1/sqrt(n) up to 26 is 8.84, up to 27 it is
    // 9.03.
    assert_eq!(times.len(), 27);
    // Marks occur at the same times.
    let mut queue = Queue::default();
    assert_eq!(hits(&mut queue, &spec, true, (0, 1_000_000, 1_000), above), times);
}

#[test]
fn one_packet_below_the_target_ends_it() {
    let spec = Spec::default();
    let sojourn = |us| Duration::from_ms(if us == 150_000 { 4 } else { 6 });
    let times = hits(&mut Queue::default(), &spec, false, (0, 400_000, 1_000), sojourn);
    // Above again from 151 on: the interval starts anew, and the count, 1, has not grown.
    assert_eq!(times, [100.0, 251.0, 351.0]);
}

#[test]
fn the_target_itself_is_too_long_and_the_last_packets_never_are() {
    let spec = Spec::default();
    let at_target = |_| Duration::from_ms(5);
    let times = hits(&mut Queue::default(), &spec, false, (0, 150_000, 1_000), at_target);
    assert_eq!(times, [100.0]);
    let mut queue = Queue::default();
    for ms in 0..1_000 {
        let now = Instant(ms * 1_000_000_000);
        let head = Head { sojourn: Duration::from_ms(500), backlogged: false, now };
        assert!(!queue.hits(&spec, &head, false));
    }
}

#[test]
fn what_worked_before_is_where_it_begins() {
    let spec = Spec::default();
    let mut queue = Queue::default();
    // Above the target for 0.7 s: drops at 100, 200, 271, 329, 379, 424, 465, 503, 538, 571, 603,
    // 633, 662, 690.
    let first = hits(&mut queue, &spec, false, (0, 700_000, 1_000), |_| Duration::from_ms(6));
    assert_eq!((first.len(), queue.count, queue.lastcount), (14, 14, 1));
    // Below for 50 ms, then above again: after an interval the count is 14 - 1 = 13.
    assert!(
        hits(&mut queue, &spec, false, (700_000, 750_000, 1_000), |_| Duration::ZERO).is_empty()
    );
    let again = hits(&mut queue, &spec, false, (750_000, 910_000, 1_000), |_| Duration::from_ms(6));
    // 850, then after 100/sqrt(13) = 27.7: 877.7, then after 100/sqrt(14) = 26.7: 904.5.
    assert_eq!(again, [850.0, 878.0, 905.0]);
    // More than 16 intervals later it starts with 1.
    hits(&mut queue, &spec, false, (910_000, 911_000, 1_000), |_| Duration::ZERO);
    let bad = |_| Duration::from_ms(6);
    let late = hits(&mut queue, &spec, false, (3_000_000, 3_250_000, 1_000), bad);
    assert_eq!(late, [3_100.0, 3_200.0]);
}

#[test]
fn drops_that_are_overdue_come_together() {
    let (spec, mut queue) = (Spec::default(), Queue::default());
    // A packet every 150 ms: at 150 an interval has passed since 0; the next drop is due at 250 and
    // the one after at 320.7, which are past at 300 and 450.
    let times = hits(&mut queue, &spec, false, (0, 600_000, 150_000), |_| Duration::from_ms(6));
    // At 450: 320.7, 378.4, 428.4.
    assert_eq!(times, [150.0, 300.0, 450.0, 450.0, 450.0]);
}
