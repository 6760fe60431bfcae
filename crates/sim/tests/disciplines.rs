//! Queue disciplines in whole networks: shares, losses and mean completion times that can be computed.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::congestion::{self, constant_rate};
use floodway_sim::host::transport::{self, udp};
use floodway_sim::switch::discipline::{self, cake, fq, fq_codel};
use floodway_sim::{Outcome, Spec};

const FQ: discipline::Spec = discipline::Spec::Fq(fq::Spec { quantum: Bytes(1_514), queues: None });

fn srpt() -> discipline::Spec {
    discipline::Spec::Srpt(discipline::srpt::Spec::default())
}

fn fq_codel() -> discipline::Spec {
    discipline::Spec::FqCodel(fq_codel::Spec::default())
}

/// All flows have the same destination, which triple isolation would count.
fn cake() -> discipline::Spec {
    discipline::Spec::Cake(cake::Spec { isolation: cake::Isolation::Flows, ..Default::default() })
}

/// Host 0 behind a link of 10 Gb/s, others with 100 Gb/s.
fn bottleneck(senders: u32) -> Graph {
    let mut graph = Graph::default();
    (0..=senders).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    let rate = |host| if host == 0 { Rate::from_gbps(10) } else { GBPS_100 };
    (0..=senders).for_each(|host| graph.link(NodeId(host), switch, rate(host), NS_200));
    graph
}

/// Datagrams at so many Mb/s from three hosts, over 10 Gb/s and a buffer of 100 KB: for each, how many packets were
/// sent and how many lost.
fn unresponsive(discipline: discipline::Spec, mbps: [u64; 3]) -> Vec<(f64, f64)> {
    let flows = (1..4).map(|src| FlowSpec {
        workload: src as u16 - 1,
        stop: Instant(Duration::from_ms(20).0),
        ..flow(src, 0, FlowSpec::PERSISTENT, 0)
    });
    let mut spec = plain(bottleneck(3), flows.collect());
    spec.profiles = vec![spec.profiles[0].clone(); 3];
    for (profile, mbps) in spec.profiles.iter_mut().zip(mbps) {
        profile.transport = transport::Spec::Udp(udp::Spec::default());
        let rate = Rate::from_mbps(mbps);
        profile.congestion = congestion::Spec::ConstantRate(constant_rate::Spec { rate });
    }
    spec.switch.queue.size = Bytes(100_000);
    spec.switch.queue.discipline = discipline;
    spec.end = Duration::from_ms(20);
    let outcome = run(spec);
    let table = outcome.table("flows");
    let (sent, lost) = (table.u64s("packets_sent"), table.u64s("lost_packets"));
    sent.iter().zip(lost).map(|(&sent, &lost)| (sent as f64, lost as f64)).collect()
}

/// Flows of 1.9, 6.1 and 11.7 Gb/s share 10 Gb/s as max-min fairness has it: 1.9, 4.05 and 4.05. What the first
/// sends all arrives; of the others what is above their shares is lost.
#[test]
fn flow_queueing_is_max_min_fair_to_flows_that_do_not_respond() {
    for discipline in [FQ, fq_codel(), cake()] {
        let found = unresponsive(discipline, [1_900, 6_100, 11_700]);
        assert_eq!(found[0].1, 0.0);
        for (flow, share) in [(1, 1.0 - 4.05 / 6.1), (2, 1.0 - 4.05 / 11.7)] {
            let lost = found[flow].1 / found[flow].0;
            assert!((lost - share).abs() < 0.01, "{flow}: {lost}");
        }
    }
    // First in, first out knows no flows.
    let found = unresponsive(discipline::Spec::default(), [1_900, 6_100, 11_700]);
    assert!(found[0].1 / found[0].0 > 0.3, "{found:?}");
}

/// Twenty packets pass a buffer for ten that two other flows keep full: each finds room, because a packet
/// of theirs, of which more is left, is dropped for it, and waits for at most one packet on the wire.
#[test]
fn a_short_flow_pushes_out_packets_of_long_ones() {
    let long = |src| flow(src, 0, 50_000_000, 0);
    let short = FlowSpec { workload: 1, ..flow(3, 0, 20 * 1_024, 50_000) };
    let mut spec = plain(star(4), vec![long(1), long(2), short]);
    rocev2(&mut spec, |rocev2| rocev2.mtu = Bytes(1_024));
    spec.switch.queue.size = Bytes(10 * 1_086);
    spec.switch.queue.discipline = srpt();
    spec.end = Duration::from_us(200);
    let outcome = run(spec);
    let table = outcome.table("flows");
    assert_eq!(table.u64s("lost_packets")[2], 0);
    assert!(table.u64s("lost_packets").iter().sum::<u64>() > 1_000);
    let waited = table.f64s("fct_ns")[2] - table.f64s("ideal_fct_ns")[2];
    // The preamble, the gap and 1086 bytes at 100 Gb/s.
    assert!((0.0..=88.48).contains(&waited), "{waited}");
}

/// 1 MB, and 10 KB that come when a tenth of it has left: they wait for at most one packet, 884.8 ns at 10 Gb/s.
#[test]
fn a_short_flow_overtakes_a_long_one() {
    let flows = vec![flow(1, 0, 1_000_000, 0), flow(2, 0, 10_240, 100_000)];
    for (discipline, most) in [(srpt(), 884.8), (FQ, 10.0 * 884.8), (Default::default(), 900_000.0)]
    {
        let mut spec = plain(bottleneck(2), flows.clone());
        spec.switch.queue.discipline = discipline;
        let outcome = run(spec);
        let table = outcome.table("flows");
        let waited = table.f64s("fct_ns")[1] - table.f64s("ideal_fct_ns")[1];
        assert!((0.0..=most).contains(&waited), "{waited} of {most}");
    }
}

/// Four packets beside a flow that always has some, with a quantum of two packets. Two go first and use up their turn. If
/// the long flow has a packet left of its own, that is next; if not, it is given a new turn and goes to the end of the
/// list (RFC 8290, section 4.2), and the other two do not wait for it either.
#[test]
fn a_quantum_is_what_a_new_flow_sends_first() {
    let packet = 884_800;
    let waited = |later: u64| {
        let short = FlowSpec { start: Instant(100_000_000 + later), ..flow(2, 0, 4 * 1_024, 0) };
        let mut spec = plain(bottleneck(2), vec![flow(1, 0, 1_000_000, 0), short]);
        rocev2(&mut spec, |rocev2| rocev2.mtu = Bytes(1_024));
        let quantum = Bytes(2 * 1_086);
        spec.switch.queue.discipline = discipline::Spec::Fq(fq::Spec { quantum, queues: None });
        let outcome = run(spec);
        let table = outcome.table("flows");
        ((table.f64s("fct_ns")[1] - table.f64s("ideal_fct_ns")[1]) * 1e3).round() as u64
    };
    let [even, odd] = [waited(0), waited(packet)];
    assert!(even < packet, "{even}: longer than the packet on the wire takes");
    assert_eq!(odd, even + packet);
    assert_eq!(waited(2 * packet), even);
}

/// With one queue for all of them flows wait for each other as without flow queueing.
#[test]
fn flows_in_one_queue_are_first_in_first_out() {
    let short = (2..10).map(|src| flow(src, 0, 1_024, 100_000));
    let flows: Vec<_> = std::iter::once(flow(1, 0, 1_000_000, 0)).chain(short).collect();
    let times = |discipline| {
        let mut spec = plain(bottleneck(9), flows.clone());
        spec.switch.queue.discipline = discipline;
        fct_ps(&run(spec))
    };
    let fifo = times(discipline::Spec::default());
    let quantum = Bytes(1_514);
    assert_eq!(times(discipline::Spec::Fq(fq::Spec { quantum, queues: Some(1) })), fifo);
    assert!(times(FQ)[1..].iter().all(|&time| time < fifo[1] / 10));
}

/// Packets that go straight to the wire have their part of a turn as those that join the queue: that departures are
/// recorded makes all packets join it.
#[test]
fn a_packet_that_need_not_wait_counts_like_others() {
    let mut rng = Stream::named(3, "flows");
    let mut at = 0.0;
    let mut flow = |_| {
        at += rng.exponential(9_000.0);
        let (src, bytes) = (1 + rng.below(20) as u32, 1 + rng.below(20_000));
        FlowSpec { start: Instant(at as u64 * 1_000), ..flow(src, 0, bytes, 0) }
    };
    let flows: Vec<_> = (0..2_000).map(&mut flow).collect();
    for discipline in [FQ, fq_codel(), cake(), srpt()] {
        let times = |departures| {
            let mut spec = plain(bottleneck(20), flows.clone());
            spec.switch.queue.discipline = discipline.clone();
            spec.departures = departures;
            fct_ps(&run(spec))
        };
        assert_eq!(times(true), times(false));
    }
}

/// The mean completion time over that of a flow that is alone, of flows with exponential sizes of 50 KB in the mean
/// and this load, and its standard deviation.
fn mean_response(discipline: discipline::Spec, load: f64, count: usize) -> [f64; 2] {
    let mut rng = Stream::named(7, "sizes and sources");
    let sizes: Vec<u64> =
        (0..count).map(|_| (rng.exponential(50_000.0) as u64).clamp(1, 1_000_000)).collect();
    // 82 bytes of headers, preamble and gap for each packet of 1024, at 10 Gb/s.
    let wire = |bytes: &u64| (bytes + bytes.div_ceil(1_024) * 82) * 800;
    let mean = sizes.iter().map(wire).sum::<u64>() as f64 / count as f64;
    let mut at = 0.0;
    let arrival = |&bytes: &u64| {
        at += rng.exponential(mean / load);
        let src = 1 + rng.below(200) as u32;
        FlowSpec { start: Instant(at as u64), ..flow(src, 0, bytes, 0) }
    };
    let flows = sizes.iter().map(arrival).collect();
    let mut spec: Spec = plain(bottleneck(200), flows);
    spec.switch.queue.discipline = discipline;
    spec.end = Duration::from_ms(100_000);
    spec.measured_until = Duration::from_ms(100_000);
    let outcome: Outcome = run(spec);
    let table = outcome.table("flows");
    let times = table.f64s("fct_ns").iter().zip(table.f64s("ideal_fct_ns"));
    let times: Vec<(f64, f64)> = times.map(|(&fct, &ideal)| (fct, ideal)).collect();
    let ratio = |part: &[(f64, f64)]| {
        let sum = part.iter().fold((0.0, 0.0), |sum, time| (sum.0 + time.0, sum.1 + time.1));
        sum.0 / sum.1
    };
    let parts: Vec<f64> = times.chunks(count / 20).skip(1).map(ratio).collect();
    let n = parts.len() as f64;
    let mean = parts.iter().sum::<f64>() / n;
    let variance = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [ratio(&times), (variance / n).sqrt()]
}

/// Processor sharing: 1 / (1 - load), whatever the sizes are.
#[test]
fn flow_queueing_shares_a_link_as_in_m_g_1_ps() {
    for (load, count) in [(0.5, 8_000), (0.8, 32_000)] {
        let [measured, deviation] = mean_response(FQ, load, count);
        let theory = 1.0 / (1.0 - load);
        println!(
            "fq, M/G/1-PS, load {load}: {measured:.3} ± {deviation:.3}, {theory:.3} in theory"
        );
        assert!(deviation < 0.08 * theory, "{deviation}");
        // A new flow goes before all others for a packet of 49, and turns are whole packets.
        assert!((measured - theory).abs() < 5.0 * deviation + 0.03 * theory, "{measured} {theory}");
    }
}

/// Shortest remaining processing time, exponential sizes of mean 1 (Schrage and Miller, 1966): a flow of size x
/// takes, in the mean, λ (m₂(x) + x² e^-x) / 2 (1 - ρ(x))² and the integral of dt / (1 - ρ(t)) up to x, where
/// ρ(x) = λ (1 - e^-x (1 + x)) and m₂(x) = 2 - e^-x (x² + 2x + 2).
fn schrage_miller(load: f64) -> f64 {
    let rho = |x: f64| load * (1.0 - (-x).exp() * (1.0 + x));
    let (step, mut residence, mut mean): (f64, f64, f64) = (1e-4, 0.0, 0.0);
    let mut x: f64 = step / 2.0;
    while x < 40.0 {
        let tail = (-x).exp();
        let second = 2.0 - tail * (x * x + 2.0 * x + 2.0);
        residence += step / (1.0 - rho(x));
        let waiting = load * (second + x * x * tail) / (2.0 * (1.0 - rho(x)).powi(2));
        mean += tail * (waiting + residence) * step;
        x += step;
    }
    mean
}

/// At a load of 0.8, known from tables, 2.35 against 5 of processor sharing.
#[test]
fn the_least_left_first_takes_as_long_as_in_m_g_1_srpt() {
    for (load, count) in [(0.5, 8_000), (0.8, 24_000)] {
        let [measured, deviation] = mean_response(srpt(), load, count);
        let theory = schrage_miller(load);
        println!("srpt, load {load}: {measured:.3} ± {deviation:.3}, {theory:.3} in theory");
        assert!(deviation < 0.06 * theory, "{deviation}");
        // A packet on the wire is not interrupted, and a flow waits here only once it has come.
        assert!((measured - theory).abs() < 5.0 * deviation + 0.03 * theory, "{measured} {theory}");
    }
}
