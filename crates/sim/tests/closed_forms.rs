//! Closed forms of queueing theory and of laws of rates, in whole simulations.
//!
//! Random quantities have to be within five standard deviations of the formula, and these have to be small.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::Spec;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::switch::aqm::{self, bernoulli, pi2};
use floodway_sim::switch::classify::ecn::Scalable;

/// Hosts that send to host 0.
const SENDERS: u64 = 400;
/// Of a link of 100 Gb/s.
const PS_PER_BYTE: u64 = 80;

/// Messages of one packet from 400 hosts to one, as a Poisson process of this load of the wire: the mean wait at
/// the switch, its standard deviation, and that of Pollaczek and Khinchine, λ E[S²] / 2 (1 − ρ), in
/// nanoseconds.
fn single_server(load: f64, packets: usize, mut size: impl FnMut(&mut Stream) -> u64) -> [f64; 3] {
    let mut spec = plain(star(SENDERS as u32 + 1), Vec::new());
    rocev2(&mut spec, |rocev2| rocev2.mtu = Bytes(8_900));
    let frame = |bytes| u64::from(spec.profiles[0].transport.frame(bytes).max(64)) + 20;
    let mut rng = Stream::named(11, "sizes and sources");
    let sizes: Vec<u64> = (0..packets).map(|_| size(&mut rng)).collect();
    let service: Vec<f64> =
        sizes.iter().map(|&size| (frame(size) * PS_PER_BYTE) as f64 / 1e3).collect();
    let mean = service.iter().sum::<f64>() / packets as f64;
    let square = service.iter().map(|time| time * time).sum::<f64>() / packets as f64;
    let mut at = 0.0;
    let arrival = |&bytes: &u64| {
        at += rng.exponential(mean * 1e3 / load);
        let src = 1 + rng.below(SENDERS) as u32;
        FlowSpec { start: Instant(at as u64), ..flow(src, 0, bytes, 0) }
    };
    spec.flows = sizes.iter().map(arrival).collect::<Vec<_>>().into();
    let outcome = run(spec);
    let table = outcome.table("flows");
    let times = table.f64s("fct_ns").iter().zip(table.f64s("ideal_fct_ns"));
    let waits: Vec<f64> = times.map(|(fct, ideal)| fct - ideal).collect();
    // Means of forty parts, the first of which is left out.
    let parts: Vec<f64> = waits
        .chunks(packets / 40)
        .skip(1)
        .map(|part| part.iter().sum::<f64>() / part.len() as f64)
        .collect();
    let [measured, deviation] = mean_of(&parts);
    [measured, deviation, load * square / mean / (2.0 * (1.0 - load))]
}

/// The mean, and its standard deviation.
fn mean_of(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt()]
}

fn assert_theory([measured, deviation, theory]: [f64; 3], most: f64, what: &str) {
    println!("{what}: {measured:.1} ± {deviation:.1}, {theory:.1} in theory");
    assert!(deviation < most * theory, "{what}: {deviation}");
    assert!((measured - theory).abs() < 5.0 * deviation, "{what}: {measured}, {theory} in theory");
}

/// M/D/1, packets of 1024 bytes, 88.48 ns each: ρ S / 2 (1 − ρ) is 44.24, 176.96 and 840.56 ns.
#[test]
fn packets_of_one_length_wait_as_long_as_in_m_d_1() {
    for (load, packets, most, wait) in
        [(0.5, 60_000, 0.02, 44.24), (0.8, 120_000, 0.03, 176.96), (0.95, 200_000, 0.08, 840.56)]
    {
        let found = single_server(load, packets, |_| 1_024);
        assert!((found[2] - wait).abs() < 0.01, "{found:?}");
        assert_theory(found, most, &format!("M/D/1, load {load}"));
    }
}

/// M/G/1 with exponential lengths of 1500 bytes in the mean, cut at 8900.
#[test]
fn packets_of_exponential_length_wait_as_long_as_in_m_g_1() {
    for (load, packets, most) in [(0.5, 60_000, 0.02), (0.8, 120_000, 0.04), (0.9, 160_000, 0.06)] {
        let size = |rng: &mut Stream| (rng.exponential(1_500.0) as u64).clamp(1, 8_900);
        assert_theory(
            single_server(load, packets, size),
            most,
            &format!("M/G/1, exponential, load {load}"),
        );
    }
}

/// Flows of one host share its link of 10 Gb/s packet by packet, which is nearly processor sharing: M/G/1-PS has
/// E[T] / E[S] = 1 / (1 − ρ) whatever the sizes are. A flow of 49 packets is not infinitely divisible: each flow waits
/// for whole packets, and its last one for nobody after it, which costs or saves up to a packet of 49 for each flow
/// in the system: 2 %.
#[test]
fn flows_of_one_sender_share_its_link_as_in_m_g_1_ps() {
    for exponential in [false, true] {
        for (load, flows) in [(0.5, 8_000), (0.8, 24_000)] {
            let mut graph = Graph::default();
            (0..2).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
            let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
            (0..2).for_each(|host| graph.link(NodeId(host), switch, Rate::from_gbps(10), NS_100));
            let mut rng = Stream::named(5, "sharing");
            let size = |rng: &mut Stream| match exponential {
                true => (rng.exponential(50_000.0) as u64).clamp(1, 1_000_000),
                false => 50_000,
            };
            let sizes: Vec<u64> = (0..flows).map(|_| size(&mut rng)).collect();
            // 82 bytes of headers, preamble and gap for each packet of 1024.
            let wire = |bytes: &u64| (bytes + bytes.div_ceil(1_024) * 82) * 800;
            let mean = sizes.iter().map(wire).sum::<u64>() as f64 / f64::from(flows);
            let mut at = 0.0;
            let arrival = |&bytes: &u64| {
                at += rng.exponential(mean / load);
                FlowSpec { start: Instant(at as u64), ..flow(1, 0, bytes, 0) }
            };
            let mut spec = plain(graph, sizes.iter().map(arrival).collect());
            spec.end = Duration::from_ms(10_000);
            let outcome = run(spec);
            let table = outcome.table("flows");
            let times = table.f64s("fct_ns").iter().zip(table.f64s("ideal_fct_ns"));
            let times: Vec<(f64, f64)> = times.map(|(&fct, &ideal)| (fct, ideal)).collect();
            let ratio = |part: &[(f64, f64)]| {
                let [fct, ideal] =
                    part.iter().fold([0.0, 0.0], |[a, b], (fct, ideal)| [a + fct, b + ideal]);
                fct / ideal
            };
            let parts: Vec<f64> = times.chunks(times.len() / 20).skip(1).map(ratio).collect();
            let [_, deviation] = mean_of(&parts);
            let (measured, theory) = (ratio(&times), 1.0 / (1.0 - load));
            println!(
                "M/G/1-PS, load {load}, exponential {exponential}: {measured:.3} ± {deviation:.3}, \
                 {theory:.3} in theory"
            );
            assert!(deviation < 0.05 * theory, "{deviation}");
            let packets = 0.02 * theory;
            assert!((measured - theory).abs() < 5.0 * deviation + packets, "{measured} {theory}");
        }
    }
}

const NS_100: Duration = Duration::from_ns(100);

/// PI2 drops the packets of Reno with the square of p and marks those of DCTCP with k p. With Reno's 1.22 / sqrt(p²)
/// packets in flight and DCTCP's 2 / (k p), both in the same queue, a flow of Reno has 1.22 k / 2 times the rate
/// of one of DCTCP; 1.31 k / 2 if losses are random (Ott, Kemperman and Mathis, 1996).
#[test]
fn the_coupling_of_pi2_sets_the_ratio_of_rates() {
    for coupling in [1.0, 2.0, 4.0] {
        let rate = Rate::from_mbps(40);
        let mut graph = Graph::default();
        (0..11).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
        let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
        let delay = Duration::from_ms(2);
        graph.link(NodeId(0), switch, rate, delay);
        (1..11).for_each(|host| graph.link(NodeId(host), switch, Rate(rate.0 * 25), delay));
        let flows = (1..11).map(|src| FlowSpec {
            workload: u16::from(src > 5),
            ..flow(src, 0, FlowSpec::PERSISTENT, u64::from(src) * 1_000)
        });
        let mut spec = plain(graph, flows.collect());
        for (profile, control) in spec.profiles.iter_mut().zip([
            congestion::Spec::Reno(Default::default()),
            congestion::Spec::Dctcp(Default::default()),
        ]) {
            let tcp = tcp::Spec { mss: Bytes(1_430), ..Default::default() };
            profile.transport = transport::Spec::Tcp(tcp);
            profile.congestion = control;
        }
        spec.wire_overhead = 0;
        let scalable = Scalable::EcnCapable;
        spec.switch.aqm = aqm::Spec::Pi2(pi2::Spec { coupling, scalable, ..Default::default() });
        let delivered = |seconds: u64| {
            let end = Duration::from_ms(seconds * 1_000);
            run(Spec { end, ..spec.clone() }).table("flows").u64s("delivered_bytes").to_vec()
        };
        let (early, late) = (delivered(20), delivered(120));
        let bytes: Vec<f64> = late.iter().zip(early).map(|(b, a)| (b - a) as f64).collect();
        let ratio = bytes[..5].iter().sum::<f64>() / bytes[5..].iter().sum::<f64>();
        let [even, random] = [1.22, 1.31].map(|constant| constant * coupling / 2.0);
        println!("k = {coupling}: {ratio:.3}, {even:.3} to {random:.3} in theory");
        // What the laws themselves are good for: 10 %.
        assert!((even * 0.9..random * 1.1).contains(&ratio), "k = {coupling}: {ratio}");
    }
}

/// HPCC in a parking lot: rates of the long flow and of the mean of the short ones, by the law of the paper once
/// in each round trip. R becomes R η / U + a, U is the load of the busiest link with an error of the standard
/// deviation `noise`, and a is `increase`; all in Gb/s on the wire.
fn parking_lot(links: usize, noise: f64, increase: f64) -> [f64; 2] {
    const ETA: f64 = 0.95;
    let mut rng = Stream::named(3, "errors");
    // The sum of twelve uniform numbers has the variance 1.
    let mut normal = || {
        let uniform = |_| rng.below(1 << 30) as f64 / f64::from(1 << 30);
        (0..12).map(uniform).sum::<f64>() - 6.0
    };
    let (mut long, mut short) = (10.0, vec![10.0; links]);
    let (mut sums, mut count) = ([0.0, 0.0], 0.0);
    for step in 0..400_000 {
        let loads: Vec<f64> =
            short.iter().map(|short| (long + short) / 100.0 * (1.0 + noise * normal())).collect();
        long = long * ETA / loads.iter().copied().fold(0.0, f64::max) + increase;
        for (short, load) in short.iter_mut().zip(&loads) {
            *short = *short * ETA / load + increase;
        }
        if step >= 100_000 {
            sums = [sums[0] + long, sums[1] + short.iter().sum::<f64>() / links as f64];
            count += 1.0;
        }
    }
    sums.map(|sum| sum / count)
}

/// The law alone is max-min fair, and an error of 0.1 % in U is enough for what is measured: the largest of three
/// errors is 0.846 s above their mean, and 1 / R_long = 1 / R_short + b / a.
#[test]
fn small_errors_make_hpcc_unfair_to_long_paths() {
    let [long, short] = parking_lot(3, 0.0, 0.04);
    assert!((long / short - 1.0).abs() < 1e-3, "{long} {short}");
    let [long, short] = parking_lot(3, 0.001, 0.04);
    println!("with errors of 0.1 %: long {long:.1}, short {short:.1} Gb/s");
    assert!((long - 24.5).abs() < 1.0 && (short - 70.5).abs() < 1.0, "{long} {short}");
    // The loads themselves vary from link to link too, which adds to the largest of the errors.
    let bias = 0.04 * (1.0 / long - 1.0 / short);
    assert!((0.000_846..0.001_2).contains(&bias), "{bias}");
    // A larger increase brings shares closer, as the formula says.
    let [long_16, short_16] = parking_lot(3, 0.001, 0.64);
    assert!(long_16 / short_16 > 2.0 * long / short, "{long_16} {short_16}");
    // Over one link there is no largest of several.
    let [long, short] = parking_lot(1, 0.001, 0.04);
    assert!((long / short - 1.0).abs() < 0.05, "{long} {short}");
}

/// Four switches in a row; hosts 2 n and 2 n + 1 are at switch n.
fn row_of_switches(rate: Rate, delay: Duration) -> Graph {
    let mut graph = Graph::default();
    (0..8).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switches: Vec<NodeId> = (0..4)
        .map(|number| graph.add(format!("switch {number}"), NodeKind::Switch { tier: 0 }))
        .collect();
    (0..8).for_each(|host| graph.link(NodeId(host), switches[host as usize / 2], rate, delay));
    switches.windows(2).for_each(|pair| graph.link(pair[0], pair[1], rate, delay));
    graph
}

/// A flow over the three links between the switches, and one beside it on each.
fn long_and_short() -> Vec<FlowSpec> {
    let pairs = [(0, 6), (1, 2), (3, 4), (5, 7)];
    pairs.map(|(src, dst)| flow(src, dst, FlowSpec::PERSISTENT, 0)).to_vec()
}

/// Reno in a parking lot: every port of a switch drops one packet in 2,000. The long flow passes four of them
/// and 10 ms, a short one two and 6 ms, so by 1.31 / (RTT sqrt(p)) the long one has
/// 6/10 sqrt(2/4) = 0.424 of the rate of a short one.
#[test]
fn a_long_flow_of_reno_has_the_share_of_its_law() {
    let mut spec =
        plain(row_of_switches(Rate::from_gbps(1), Duration::from_ms(1)), long_and_short());
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Tcp(Default::default());
        profile.congestion = congestion::Spec::Reno(Default::default());
    }
    spec.switch.aqm = aqm::Spec::Bernoulli(bernoulli::Spec { probability: 0.0005 });
    spec.end = Duration::from_ms(80_000);
    let outcome = run(spec);
    let bytes = outcome.table("flows").u64s("delivered_bytes").to_vec();
    let shares: Vec<f64> = bytes[1..].iter().map(|short| bytes[0] as f64 / *short as f64).collect();
    let [share, deviation] = mean_of(&shares);
    println!("Reno in a parking lot: {share:.3} ± {deviation:.3}, 0.424 in theory");
    // Some 200 losses in the long flow: its rate is good to 3 %, and the law to 5 %.
    assert!((share / 0.424 - 1.0).abs() < 0.08, "{share}");
}

/// HPCC in the same network: the long flow crosses three links of 100 Gb/s, each shared with a short one.
/// Max-min shares would be equal. All links are full, and the long flow has about a third of a short one.
#[test]
fn a_long_flow_of_hpcc_has_a_third_of_a_short_one() {
    let graph = row_of_switches(Rate::from_gbps(100), Duration::from_us(1));
    let mut spec = plain(graph, long_and_short());
    control(&mut spec, congestion::Spec::Hpcc(Default::default()));
    rocev2(&mut spec, |rocev2| rocev2.telemetry = true);
    let delivered = |ms: u64| {
        let end = Duration::from_ms(ms);
        run(Spec { end, ..spec.clone() }).table("flows").u64s("delivered_bytes").to_vec()
    };
    let (early, late) = (delivered(4), delivered(12));
    let gbps: Vec<f64> = late.iter().zip(early).map(|(b, a)| (b - a) as f64 * 8.0 / 8e6).collect();
    println!(
        "long {:.1}, short {:.1} {:.1} {:.1} Gb/s of payload",
        gbps[0], gbps[1], gbps[2], gbps[3]
    );
    let short = gbps[1..].iter().sum::<f64>() / 3.0;
    assert!((0.25..0.45).contains(&(gbps[0] / short)), "{gbps:?}");
    // 95 % of a link, of which 1024 bytes of 1148 are payload.
    let full = 95.0 * 1_024.0 / 1_148.0;
    assert!(((gbps[0] + short) / full - 1.0).abs() < 0.02, "{gbps:?} {full}");
}
