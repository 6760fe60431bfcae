//! BLUE in a network: datagrams that do not respond, at 12.5 Gb/s into a link of 10 Gb/s. A frame of 1518 bytes takes
//! 1.2304 us there, so that 1016 come in a millisecond and 813 can leave. 65 find room, which are there after 0.32 ms.

use crate::common::overload::datagrams;
use crate::common::timeline::star_to;
use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec, Instant, Rate};
use floodway_sim::Spec;
use floodway_sim::host::congestion::{self, constant_rate};
use floodway_sim::host::transport::udp;
use floodway_sim::switch::aqm::{self, blue};

/// Packets that come in a millisecond.
const COME: f64 = 1_015.9;

/// Two hosts send for so many milliseconds to the last one; the flows that are given too, of workload 1, which is
/// ECN-capable. Changes are at least a millisecond apart.
fn overload(stop_us: u64, more: Vec<FlowSpec>, end_us: u64) -> Spec {
    let stop = Instant(stop_us * 1_000_000);
    let flows = [0, 1].map(|src| FlowSpec { stop, ..flow(src, 3, FlowSpec::PERSISTENT, 0) });
    let all = flows.into_iter().chain(more).collect();
    let mut spec = plain(star_to(4, Rate::from_gbps(10)), all);
    datagrams(&mut spec, 0, udp::Field::NotEct);
    datagrams(&mut spec, 1, udp::Field::Ect0);
    let rate = Rate::from_mbps(6_250);
    spec.profiles[0].congestion = congestion::Spec::ConstantRate(constant_rate::Spec { rate });
    spec.switch.queue.size = Bytes(100_000);
    let freeze_time = Duration::from_ms(1);
    spec.switch.aqm = aqm::Spec::Blue(blue::Spec { freeze_time, ..Default::default() });
    spec.end = Duration::from_us(end_us);
    spec
}

/// The first packet that is lost after each millisecond adds 0.02: k times that after k milliseconds. After 9.5 ms
/// 1016 packets have met each of 0.02 to 0.16, and those of 0.4 ms (it takes 5 to 50 us until a packet is lost) 0.18: 731 and 73
/// drops, and ten more for what comes while a loss is waited for. Their standard deviation is 27: five of them.
#[test]
fn losses_raise_the_probability_in_even_steps() {
    let outcome = run(overload(9_500, Vec::new(), 9_500));
    let expected: f64 =
        (1..=8).map(|k| 0.02 * f64::from(k) * COME).sum::<f64>() + 0.18 * 0.4 * COME;
    let dropped = drops(&outcome, "aqm") as f64;
    assert!((dropped - expected - 10.0).abs() < 135.0, "{dropped}, {expected} expected");
}

/// The memory is large enough, and more than 1 MB in the queue counts as a loss. 659 packets are that, which wait after 3.24 ms,
/// because 203 more come in a millisecond than leave. From then on a millisecond adds 0.02: after 9.5 ms 1016 packets have met each
/// of 0.02 to 0.12, and those of 0.26 ms 0.14. That makes 464 drops with a standard deviation of 22: five of them.
#[test]
fn a_long_queue_raises_the_probability_in_even_steps() {
    let mut spec = overload(9_500, Vec::new(), 9_500);
    spec.switch.queue.size = Bytes(10_000_000);
    let above = Some(Bytes(1_000_000));
    let freeze_time = Duration::from_ms(1);
    spec.switch.aqm = aqm::Spec::Blue(blue::Spec { freeze_time, above, ..Default::default() });
    let outcome = run(spec);
    assert_eq!(drops(&outcome, "queue_full"), 0);
    let expected: f64 =
        (1..=6).map(|k| 0.02 * f64::from(k) * COME).sum::<f64>() + 0.14 * 0.26 * COME;
    let dropped = drops(&outcome, "aqm") as f64;
    assert!((dropped - expected).abs() < 110.0, "{dropped}, {expected} expected");
}

/// It settles where a fifth of the packets is dropped, so that as many are left as can leave, and not a step of 0.02
/// above that. Until then, for ten milliseconds, 203 - 20.3 k packets per millisecond find no room: 1118. A loss after that
/// raises the probability by so much that the queue needs ten idle times to fill again.
#[test]
fn it_settles_where_what_is_left_fits_the_link() {
    let outcome = run(overload(200_000, Vec::new(), 200_000));
    let sent = outcome.counter("data_packets_sent") as f64;
    let [dropped, lost] = ["aqm", "queue_full"].map(|reason| drops(&outcome, reason) as f64);
    let share = (dropped + lost) / sent;
    assert!((0.199..0.222).contains(&share), "{share}");
    assert!((1_000.0..2_000.0).contains(&lost), "{lost} of {sent}");
}

/// Five steps up, to 0.1, in 5.5 ms. Every 2 ms then four bursts of 60 packets come, which the queue holds, 0.1 ms apart:
/// after each the link is idle, and once in 2 ms that takes 0.002. The first burst of group g meets 0.1 - 0.002 g, the others
/// 0.002 less: 60 * 2.55 + 180 * 2.45 = 594 marks in 50 groups, with a standard deviation of 24.
#[test]
fn an_idle_link_lowers_the_probability_in_even_steps() {
    let burst = |number: u64| {
        let at = 7_000_000 + number / 4 * 2_000_000 + number % 4 * 100_000;
        FlowSpec { workload: 1, ..flow(2, 3, 60 * 1_472, at) }
    };
    let outcome = run(overload(5_500, (0..200).map(burst).collect(), 110_000));
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    let marked = outcome.counter("marked_packets") as f64;
    assert!((marked - 594.0).abs() < 120.0, "{marked}");
}
