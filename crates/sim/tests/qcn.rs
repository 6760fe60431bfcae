//! QCN against arithmetic: when congestion points send which messages, what reaction points make of
//! them, and where queues and rates come to rest.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::host::congestion::{self, qcn as reaction};
use floodway_sim::host::transport::{self, udp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::{pfc, qcn};
use floodway_sim::{Outcome, Simulation, Spec};

/// A frame of 1500 bytes, and 20 of preamble and gap, at 10 Gb/s, in picoseconds.
const T: u64 = 1_216_000;
/// A message of 64 bytes on the same wire.
const CNM: u64 = 67_200;
const DELAY: u64 = 1_000_000;

/// Hosts on one switch: all at 10 Gb/s but the last, which is at `rate`.
fn star_to(senders: u32, rate: Rate) -> Graph {
    let mut graph = Graph::default();
    let hosts: Vec<NodeId> =
        (0..=senders).map(|host| graph.add(format!("host {host}"), NodeKind::Host)).collect();
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    for (number, &host) in hosts.iter().enumerate() {
        let rate = if number == senders as usize { rate } else { Rate::from_gbps(10) };
        graph.link(host, switch, rate, Duration(DELAY));
    }
    graph
}

fn persistent(src: u32, dst: u32) -> FlowSpec {
    flow(src, dst, FlowSpec::PERSISTENT, 0)
}

/// Datagrams in frames of 1500 bytes, with reaction points, from each of so many hosts to one.
fn spec(senders: u32, rate: Rate) -> Spec {
    let flows = (0..senders).map(|src| persistent(src, senders)).collect();
    let mut spec = plain(star_to(senders, rate), flows);
    let datagrams = udp::Spec { payload: Bytes(1_454), ..Default::default() };
    spec.profiles[0].transport = transport::Spec::Udp(datagrams);
    control(&mut spec, congestion::Spec::Qcn(Default::default()));
    spec.switch.flow_control.qcn = Some(qcn::Spec::default());
    spec
}

/// Without jitter, up to and including `end` picoseconds: messages sent and received, and frames that host 0 has sent.
fn until(mut spec: Spec, end: u64) -> (u64, u64, u64) {
    let points = qcn::Spec { jitter: 0.0, ..Default::default() };
    spec.switch.flow_control.qcn = Some(points);
    control(&mut spec, congestion::Spec::Qcn(reaction::Spec { jitter: 0.0, ..Default::default() }));
    // What happens at the end itself does not happen any more.
    spec.end = Duration(end + 1);
    let outcome = run(spec);
    let links = outcome.table("links");
    let row = links.texts("node").iter().position(|node| node == "host 0").unwrap();
    let frames = links.u64s("frames")[row];
    (outcome.counter("cnms_sent"), outcome.counter("cnms_received"), frames)
}

#[test]
fn messages_come_to_the_picosecond() {
    // One host at 10 Gb/s sends to one at 1 Gb/s. Frame n, counted from 1, joins at n T + DELAY. 150,000
    // bytes are 100 frames: the 101st is sampled, when 10 have begun on the slow wire, at 0, 10 and
    // so on to 90 T after the first; the eleventh does so at the same moment as the 101st comes, and
    // timers are first. 90 frames wait with it: 135,000 - 26,000 + 2 · 135,000 > 130,000, so the
    // feedback is 63.
    let first = 101 * T + DELAY;
    let at = |end| until(spec(1, Rate::from_gbps(1)), end);
    assert_eq!([first - 1, first].map(|end| at(end).0), [0, 1]);
    // The host has it after its time on the wire and the way.
    let heard = first + CNM + DELAY;
    assert_eq!([heard - 1, heard].map(|end| at(end).1), [0, 1]);
    // Frame n begins at (n - 1) T, so 103 are begun then. The next follows at line rate still, and
    // from it on the rate is 65/128: a frame in T · 128/65, parts of a picosecond left away.
    let gap = T * 128 / 65;
    let begins = |n| 103 * T + (n - 104) * gap;
    assert_eq!((heard / T, gap), (102, 2_394_584));
    for (end, frames) in [
        (heard, 103),
        (103 * T, 104),
        (begins(105) - 1, 104),
        (begins(105), 105),
        (begins(110), 110),
    ] {
        assert_eq!(at(end).2, frames, "{end}");
    }
    // 18,500 bytes are 12 frames and a bit: the 13th after the first sample is the second. It comes
    // 103 T + 10 gap - T after the first frame, so 13 frames have left: 101 wait, 11 more than before.
    // 151,500 - 26,000 + 2 · 16,500 is above 130,000 too, and the feedback is 63 again.
    let second = begins(114) + T + DELAY;
    assert_eq!([second - 1, second].map(|end| at(end).0), [1, 2]);
    // Less than 150,000 bytes later: the rate is 65/128 of that.
    let heard = second + CNM + DELAY;
    let last = 104 + (heard - 103 * T) / gap;
    // T · (128/65)².
    let gap = T * 128 * 128 / (65 * 65);
    let begins = |n| begins(last + 1) + (n - last - 1) * gap;
    assert_eq!((at(heard).1, at(heard).2, gap), (2, last, 4_715_489));
    let n = last + 5;
    assert_eq!([begins(n) - 1, begins(n)].map(|end| at(end).2), [n - 1, n]);
}

/// Jain's index.
fn fairness(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(s, q), r| (s + r, q + r * r));
    sum * sum / (rates.len() as f64 * squares)
}

/// Throughput of each flow from `warmup` to the end, in Gb/s of payload.
fn rates(spec: &Spec, outcome: &Outcome) -> Vec<f64> {
    let deliveries = outcome.table("deliveries");
    let bytes = deliveries.u64s("delivered_bytes");
    let flows = spec.flows.len();
    let (first, last) = (&bytes[..flows], &bytes[bytes.len() - flows..]);
    let seconds = (spec.end.0 - spec.warmup.0) as f64 / 1e12;
    first.iter().zip(last).map(|(a, b)| (b - a) as f64 * 8.0 / seconds / 1e9).collect()
}

/// From the end of the warm-up on.
fn settled(mut spec: Spec, warmup_ms: u64, end_ms: u64) -> (Vec<f64>, f64, Outcome) {
    spec.warmup = Duration::from_ms(warmup_ms);
    spec.end = Duration::from_ms(end_ms);
    spec.measured_until = spec.end;
    spec.flow_samples = Some(spec.warmup);
    assert_eq!(end_ms % warmup_ms, 0);
    let outcome = run(spec.clone());
    let last = spec.flows[0].dst.0;
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("queue"));
    let row = rows.into_iter().position(|row| row == (&u64::from(last), &0)).unwrap();
    (rates(&spec, &outcome), queues.f64s("mean_backlog_bytes")[row], outcome)
}

#[test]
fn the_queue_rests_near_q_eq_and_flows_share_the_link() {
    // At rest a congestion point has as much reason to send as not to: q is near Q_eq. With more
    // flows each is heard less often, but all of the link is used.
    for senders in [2, 8] {
        let (rates, mean, outcome) = settled(spec(senders, Rate::from_gbps(10)), 200, 1_000);
        assert!((0.8..1.2).contains(&(mean / 26e3)), "{senders}: {mean}");
        let total: f64 = rates.iter().sum();
        // Payload 1454 of 1520.
        assert!((0.97..1.0).contains(&(total / (10.0 * 1_454.0 / 1_520.0))), "{senders}: {total}");
        assert!(fairness(&rates) > 0.95, "{senders}: {rates:?}");
        let cnms = outcome.counter("cnms_sent");
        assert!(cnms.abs_diff(outcome.counter("cnms_received")) <= 2 && cnms > 100, "{cnms}");
        // Twice as long a queue is held as well.
        let mut longer = spec(senders, Rate::from_gbps(10));
        longer.switch.flow_control.qcn =
            Some(qcn::Spec { q_eq: Bytes(52_000), ..Default::default() });
        let (_, mean, _) = settled(longer, 200, 1_000);
        assert!((0.8..1.2).contains(&(mean / 52e3)), "{senders}: {mean}");
    }
}

/// Eight hosts send RoCEv2 to a ninth, with PFC.
fn lossless(qcn: bool) -> Spec {
    let mut spec = spec(8, Rate::from_gbps(10));
    spec.profiles[0].transport = transport::Spec::Rocev2(Default::default());
    spec.switch.flow_control.pfc = Some(pfc::Spec {
        xoff: Bytes(200_000),
        xon: Bytes(150_000),
        queues: vec![0],
        ..prompt_pfc()
    });
    spec.switch.queue.size = Bytes(300_000);
    if !qcn {
        spec.switch.flow_control.qcn = None;
    }
    spec
}

#[test]
fn with_pfc_it_takes_the_pauses_away() {
    // PFC alone stops and starts the hosts for ever, between 150 and 200 KB. With QCN it does so
    // until the rates have come down, and then the queue rests near Q_eq.
    let (alone, ..) = settled(lossless(false), 100, 300);
    let outcome = |qcn| settled(lossless(qcn), 100, 300).2;
    let (with, without) = (outcome(true), outcome(false));
    assert!(with.counter("xoff_frames") == 0 && without.counter("xoff_frames") > 1_000);
    assert!(fairness(&alone) > 0.99);
    for outcome in [&with, &without] {
        assert_eq!(outcome.counter("dropped_packets"), 0);
    }
    let (rates, mean, _) = settled(lossless(true), 100, 300);
    assert!((0.8..1.2).contains(&(mean / 26e3)), "{mean}");
    // 1024 of 1106 bytes are payload.
    assert!(rates.iter().sum::<f64>() > 0.97 * 10.0 * 1_024.0 / 1_106.0, "{rates:?}");
}

#[test]
fn who_has_no_reaction_point_goes_on() {
    // Both flows are notified, and one reacts: it ends at what the other leaves.
    let mut spec = spec(2, Rate::from_gbps(10));
    spec.flows[1].workload = 1;
    spec.profiles[1] = spec.profiles[0].clone();
    let half = congestion::constant_rate::Spec { rate: Rate::from_gbps(6) };
    spec.profiles[1].congestion = congestion::Spec::ConstantRate(half);
    let (rates, mean, outcome) = settled(spec, 200, 600);
    let payload = 1_454.0 / 1_520.0;
    assert!((rates[1] - 6.0 * payload).abs() < 0.01, "{rates:?}");
    assert!((3.8..4.0).contains(&(rates[0] / payload)), "{rates:?}");
    assert!((0.7..1.3).contains(&(mean / 26e3)), "{mean}");
    assert!(outcome.counter("cnms_received") > 100);
}

#[test]
fn queues_that_are_no_congestion_points_are_not_sampled() {
    let mut spec = spec(4, Rate::from_gbps(10));
    spec.switch.queue.count = 2;
    spec.switch.flow_control.qcn = Some(qcn::Spec { queues: vec![1], ..Default::default() });
    spec.end = Duration::from_ms(5);
    assert_eq!(run(spec).counter("cnms_sent"), 0);
}

#[test]
fn across_switches_and_for_any_number_of_threads() {
    // Messages go back over three switches.
    let flows = busy_flows();
    let mut spec = plain(clos(4, 2, 8), flows);
    control(&mut spec, congestion::Spec::Qcn(Default::default()));
    spec.switch.flow_control.qcn = Some(qcn::Spec { header_octets: 64, ..Default::default() });
    spec.end = Duration::from_ms(3);
    let stop = AtomicBool::new(false);
    let on = |threads| {
        Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
    };
    let one = on(1);
    assert_eq!(one.violations, Vec::<String>::new());
    assert!(one.counter("cnms_received") > 100);
    for threads in [2, 3, 8] {
        assert_eq!(on(threads).fingerprint, one.fingerprint, "{threads}");
    }
}
