//! Rates of congestion controls for RDMA: the gap behind a packet is its time at the rate.

use crate::common::sending::*;
use crate::common::*;
use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::Spec;
use floodway_sim::host::congestion::{self, dcqcn, hpcc, indicated_rate, qcn as reaction, timely};
use floodway_sim::host::transport;
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::switch::congestion_indication::Spec as Indication;
use floodway_sim::switch::flow_control::qcn as point;

const FAR: Duration = Duration::from_us(2);

/// The rate in Gb/s behind each packet, of 1106 bytes with preamble and gap, and for how many packets it was that.
fn rates(spec: &Spec) -> Vec<(f64, u32)> {
    let (_, trace) = traced(spec);
    let mut rates: Vec<(f64, u32)> = Vec::new();
    for gap in gaps(&sent(&trace)) {
        let rate = 1_106.0 * 8_000.0 / gap as f64;
        match rates.last_mut() {
            Some((last, count)) if (*last / rate - 1.0).abs() < 1e-4 => *count += 1,
            _ => rates.push((rate, 1)),
        }
    }
    rates
}

/// Marked from 3 us on for some time. Alpha stays 1, so that a cut halves.
fn dcqcn(change: impl Fn(&mut dcqcn::Spec), until_us: u64, end_us: u64) -> Vec<(f64, u32)> {
    let never = Duration::from_ms(1_000);
    let mut spec = dcqcn::Spec { alpha_timer: never, increase_timer: never, ..quick_dcqcn() };
    change(&mut spec);
    let mut spec = rdma(GBPS_100, FAR, congestion::Spec::Dcqcn(spec));
    spec.end = Duration::from_us(end_us);
    crowd(&mut spec, 3_000_000, until_us * 1_000_000);
    rates(&spec)
}

/// Cuts without an increase between them keep the target, the 100 Gb/s before the first: the first increase goes half
/// of the way back to that.
#[test]
fn dcqcn_keeps_its_target_over_several_cuts() {
    let timer = Duration::from_us(50);
    let rates = dcqcn(|spec| spec.increase_timer = timer, 10, 100);
    let rising = rates.windows(2).position(|two| two[1].0 > two[0].0).unwrap();
    assert!(rising >= 2, "{rates:?}");
    let lowest = 100.0 / f64::powi(2.0, rising as i32);
    assert_near(rates[rising].0, lowest, 1e-4);
    assert_near(rates[rising + 1].0, (lowest + 100.0) / 2.0, 1e-4);
}

/// A byte counter of one and a half packets expires twice in three packets, as what is beyond it counts for the next:
/// rates on the way back hold for one packet and for two in turns.
#[test]
fn dcqcn_carries_its_byte_counter() {
    let rates = dcqcn(|spec| spec.byte_counter = Bytes(1_106 * 3 / 2), 10, 20);
    let cut = rates.iter().position(|rate| (rate.0 - 50.0).abs() < 1e-3).unwrap();
    for two in rates[cut + 1..cut + 9].windows(2) {
        assert_eq!(two[0].1 + two[1].1, 3, "{rates:?}");
    }
}

/// A cut every 4 us leaves the least rate, before timer or byte counter have expired, and lowers the target to it. When
/// both are past fast recovery every increase adds 5 Gb/s to the target: each step of the rate is the mean of the
/// one before and that.
#[test]
fn dcqcn_increases_faster_past_both() {
    let rates = dcqcn(
        |spec| {
            spec.byte_counter = Bytes(1_106 * 50);
            (spec.min_rate, spec.clamp_target) = (Rate::from_gbps(10), true);
            spec.increase_timer = Duration::from_us(5);
            spec.fast_recovery = 1;
            spec.additive_increase = Rate::from_gbps(1);
            spec.hyper_increase = Rate::from_gbps(5);
        },
        40,
        200,
    );
    let least = rates.iter().rposition(|rate| (rate.0 - 10.0).abs() < 1e-3).unwrap();
    let rising = rates[least..].iter().map(|rate| rate.0).filter(|rate| *rate < 80.0);
    let rising: Vec<f64> = rising.collect();
    let steps: Vec<f64> = rising.windows(2).map(|two| two[1] - two[0]).collect();
    for two in steps[steps.len() - 6..].windows(2) {
        assert_near(two[1], (two[0] + 5.0) / 2.0, 0.01);
    }
}

/// When copies of a packet were sent.
fn copies(spec: &Spec, psn: u32) -> Vec<u64> {
    let (_, trace) = traced(spec);
    sent(&trace).iter().filter(|sent| sent.1 == psn).map(|sent| sent.0).collect()
}

/// At line rate, and packet 100 is lost so often.
fn losing(recovery: recovery::Spec, times: usize) -> Spec {
    let mut spec = rdma(GBPS_100, FAR, congestion::Spec::LineRate(Default::default()));
    if let transport::Spec::Rocev2(rocev2) = &mut spec.profiles[0].transport {
        rocev2.recovery = recovery;
    }
    spec.end = Duration::from_us(250);
    lose(&mut spec, 30_000_000, std::iter::repeat_n(100, times));
    spec
}

/// A packet with preamble and gap, and an answer of the least length.
const PACKET: u64 = 1_106 * 80;
const ANSWER: u64 = 84 * 80;

/// A packet is lost, and lost again when everything is repeated. The second NAK comes with the first packet that
/// is at least the interval after the first: the third copy is the interval after the second, up to two packets.
#[test]
fn a_second_nak_comes_after_its_interval() {
    let go_back_n = recovery::go_back_n::Spec {
        nak_interval: Duration::from_us(100),
        retransmit_timeout: Duration::from_ms(100),
    };
    let copies = copies(&losing(recovery::Spec::GoBackN(go_back_n), 2), 100);
    let apart: Vec<u64> = copies.windows(2).map(|two| two[1] - two[0]).collect();
    let round_trip = round_trip(FAR, PACKET, ANSWER);
    assert!((round_trip + PACKET..round_trip + 4 * PACKET).contains(&apart[0]), "{apart:?}");
    assert!((100_000_000..100_000_000 + 2 * PACKET).contains(&apart[1]), "{apart:?}");
}

/// A missing packet is sent again when the answer to the next one is as old as reordering may last.
#[test]
fn selective_repeat_waits_for_reordering() {
    for us in [0, 50] {
        let selective_repeat = recovery::selective_repeat::Spec {
            reordering: Duration::from_us(us),
            retransmit_timeout: Duration::from_ms(100),
            ..Default::default()
        };
        let copies = copies(&losing(recovery::Spec::SelectiveRepeat(selective_repeat), 1), 100);
        let late = copies[1] - copies[0] - us * 1_000_000;
        let round_trip = round_trip(FAR, PACKET, ANSWER);
        assert!((round_trip + PACKET..round_trip + 4 * PACKET).contains(&late), "{us}: {late}");
    }
}

/// A round trip R is above t_high = 1 us, so that each update leaves 1 - beta (1 - 1 us / R) of the rate. There is
/// one for every eight packets that are acknowledged, but for the first eight.
#[test]
fn timely_updates_by_segments() {
    let beta = 0.01;
    let control = congestion::Spec::Timely(timely::Spec {
        segment: Some(Bytes(8 * 1_024)),
        t_low: Duration::from_ns(500),
        t_high: Duration::from_us(1),
        beta: Some(beta),
        ..Default::default()
    });
    let mut spec = rdma(GBPS_100, FAR, control);
    spec.end = Duration::from_us(40);
    let round_trip = round_trip(FAR, PACKET, ANSWER);
    let (_, trace) = traced(&spec);
    let acknowledged = sent(&trace).iter().filter(|row| row.0 + round_trip < spec.end.0).count();
    let rates = rates(&spec);
    let leaves = 1.0 - beta * (1.0 - 1e6 / round_trip as f64);
    for (number, rate) in rates.iter().enumerate() {
        assert_near(rate.0, 100.0 * leaves.powi(number as i32), 1e-3);
    }
    // The rate of the last update may not have been used.
    let updates = acknowledged / 8 - 1;
    assert!((updates - 1..=updates).contains(&(rates.len() - 1)), "{updates} {rates:?}");
}

/// Datagrams meet a congestion point before a link of 10 Gb/s.
fn qcn(reaction: reaction::Spec, us: u64) -> Vec<(f64, u32)> {
    let control = congestion::Spec::Qcn(reaction::Spec { jitter: 0.0, ..reaction });
    let mut spec = rdma(Rate::from_gbps(10), FAR, control);
    spec.profiles[0].transport = transport::Spec::Udp(Default::default());
    spec.switch.flow_control.qcn = Some(point::Spec { jitter: 0.0, ..Default::default() });
    spec.end = Duration::from_us(us);
    rates(&spec)
}

/// The strongest feedback takes nearly half, but no more than to the least factor.
#[test]
fn a_message_of_qcn_leaves_the_least_factor() {
    let rates = qcn(reaction::Spec { min_dec_fac: 0.8, ..Default::default() }, 100);
    assert_near(rates[1].0 / rates[0].0, 0.8, 1e-3);
}

/// A target is twice the rate less the rate before. When both timer and counter are past fast recovery it grows by
/// R_HAI times the stages that the slower one is past it: once, twice, and so on (802.1Qau, 32.11).
#[test]
fn hyperactive_increases_of_qcn_grow() {
    let spec = reaction::Spec {
        gd: 1.0 / 128.0,
        threshold: 1,
        byte_reset: Bytes(15_000),
        time_reset: Duration::from_us(40),
        ai_rate: Rate::from_mbps(10),
        hai_rate: Rate::from_mbps(100),
        min_rate: Rate::from_gbps(2),
        ..Default::default()
    };
    let rates = qcn(spec, 1_500);
    let rates: Vec<f64> = rates.iter().map(|rate| rate.0 * 1_538.0 / 1_106.0 * 1e3).collect();
    let targets = |two: &[f64]| 2.0 * two[1] - two[0];
    let growths: Vec<f64> =
        rates.windows(3).map(|three| targets(&three[1..]) - targets(&three[..2])).collect();
    let near = |growth: f64, mbps: f64| (growth - mbps).abs() < 0.5;
    assert!(growths.windows(3).any(|g| near(g[0], 10.0) && near(g[1], 100.0) && near(g[2], 100.0)));
}

/// Between its thresholds TIMELY follows the smoothed gradient. The round trip becomes longer by 4 us and the time of
/// a packet and its answer on another link, a fifth of min_rtt: with alpha = 0.1 the gradient is a tenth of that,
/// and 0.9 of the last in each round trip from there. A decrease takes it times beta = 0.8.
#[test]
fn timely_smooths_its_gradient() {
    let control = congestion::Spec::Timely(timely::Spec {
        t_low: Duration::from_us(1),
        t_high: Duration::from_us(100),
        alpha: 0.1,
        ..Default::default()
    });
    let mut spec = rdma(GBPS_100, FAR, control);
    spec.end = Duration::from_us(120);
    detour(&mut spec, GBPS_100, FAR, 20_000_000);
    let rates = rates(&spec);
    let gradient = 0.1 * (2 * FAR.0 + PACKET + ANSWER) as f64 / 20e6;
    for (round, two) in rates[..6].windows(2).enumerate() {
        assert_near(two[1].0 / two[0].0, 1.0 - 0.8 * gradient * f64::powi(0.9, round as i32), 1e-4);
    }
}

/// Beside the full link at least two packets of the crowd wait, 60 KB: of the 125 KB that the link sends in the base
/// round trip of 10 us that is 0.48. Each round trip leaves 0.95 / 1.48 of the rate or less; without the queue it
/// would be 0.95. There are four and more in 60 us, and the smoothing of the first may cost one.
#[test]
fn hpcc_counts_what_waits() {
    let control = congestion::Spec::Hpcc(hpcc::Spec {
        base_rtt: Some(Duration::from_us(10)),
        additive_increase: Rate::from_mbps(10),
        ..Default::default()
    });
    let mut spec = rdma(GBPS_100, FAR, control);
    spec.end = Duration::from_us(65);
    crowd(&mut spec, 3_000_000, 65_000_000);
    let rates = rates(&spec);
    let last = rates[rates.len() - 1].0;
    assert!(last < 100.0 * f64::powi(0.95 / 1.48, 3), "{rates:?}");
}

/// Indications follow each other every microsecond, but decreases wait for the hold.
#[test]
fn decreases_by_indications_wait() {
    let hold = Duration::from_us(25);
    let control = congestion::Spec::IndicatedRate(indicated_rate::Spec {
        hold,
        // There is no increase.
        period: Duration::from_ms(100),
        ..Default::default()
    });
    let mut spec = rdma(GBPS_100, FAR, control);
    spec.end = Duration::from_us(120);
    crowd(&mut spec, 3_000_000, 110_000_000);
    spec.switch.congestion_indication =
        Some(Indication { forward: false, backward: true, gap: Duration::from_us(1) });
    let (_, trace) = traced(&spec);
    let sent = sent(&trace);
    let rates = gaps(&sent);
    let cut = |n: &usize| rates[*n] > rates[*n - 1] + 10;
    let cuts: Vec<u64> = (1..rates.len()).filter(cut).map(|n| sent[n].0).collect();
    assert!(cuts.len() >= 4, "{cuts:?}");
    // A rate is used from the next packet on.
    let longest = rates.iter().max().unwrap();
    for two in cuts.windows(2) {
        assert!(two[1] - two[0] + longest >= hold.0, "{cuts:?}");
    }
}
