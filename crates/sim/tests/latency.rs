//! How long packets take from memory to memory, against arithmetic.

use crate::common::*;
use floodway_model::{Duration, Graph, Rate};
use floodway_sim::host::transport::{self, Spec as Transport};
use floodway_sim::{Outcome, Spec};

fn recording(mut spec: Spec) -> Spec {
    spec.latencies = true;
    spec
}

/// Of a workload: how many packets, and the sum of their latencies in picoseconds.
fn of(outcome: &Outcome, workload: u64) -> (u64, u64) {
    let table = outcome.table("latencies");
    let rows = (0..table.rows()).filter(|row| table.u64s("workload")[*row] == workload);
    let (packets, totals) = (table.u64s("packets"), table.f64s("total_ns"));
    let sum = rows.fold((0, 0.0), |sum, row| (sum.0 + packets[row], sum.1 + totals[row]));
    (sum.0, (sum.1 * 1e3).round() as u64)
}

/// Two hosts and a switch, at 100 and at 40 Gb/s, 300 and 500 ns from it.
fn uneven() -> Graph {
    let mut graph = Graph::default();
    use floodway_model::graph::NodeKind;
    let [one, two] = ["host 0", "host 1"].map(|name| graph.add(name, NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    graph.link(one, switch, GBPS_100, Duration::from_ns(300));
    graph.link(two, switch, Rate::from_gbps(40), Duration::from_ns(500));
    graph
}

#[test]
fn on_an_idle_network_it_is_the_sum_of_serializations_and_delays() {
    let transports = [
        (Transport::Ethernet(Default::default()), 18),
        (Transport::Udp(Default::default()), 46),
        (Transport::Rocev2(Default::default()), 62),
        (Transport::Tcp(Default::default()), 70),
    ];
    for (transport, overhead) in transports {
        for bytes in [1, 46, 1_000] {
            let mut spec = recording(plain(uneven(), vec![flow(0, 1, bytes, 0)]));
            spec.profiles[0].transport = transport.clone();
            spec.switch.latency = Duration::from_ns(40);
            let outcome = run(spec);
            let wire = (bytes + overhead).max(64) + 20;
            let latency = wire * (80 + 200) + 840_000;
            assert_eq!(of(&outcome, 0), (1, latency), "{} {bytes}", transport.name());
            // In its bin: at most a 64th above.
            let edge = outcome.table("latencies").u64s("up_to_ns")[0] * 1_000;
            assert!(edge >= latency && edge <= latency * 65 / 64 + 1_000, "{edge} {latency}");
        }
    }
}

#[test]
fn the_second_of_two_packets_waits_where_the_way_is_narrower() {
    let mut spec = recording(plain(uneven(), vec![flow(0, 1, 3_000, 0)]));
    spec.profiles[0].transport = Transport::Ethernet(Default::default());
    // It leaves when the first has been sent, and is at the switch in time to follow it there.
    let first = 1_538 * (80 + 200) + 800_000;
    let second = first + 1_538 * 200 - 1_538 * 80;
    assert_eq!(of(&run(spec), 0), (2, first + second));
}

#[test]
fn workloads_are_told_apart_and_only_the_measurement_counts() {
    let mut late = flow(2, 3, 100, 50_000);
    late.workload = 1;
    let flows = vec![flow(0, 1, 100, 0), flow(0, 1, 100, 20_000), late];
    let mut spec = recording(plain(star(4), flows));
    spec.profiles.iter_mut().for_each(|p| p.transport = Transport::Udp(Default::default()));
    let latency = (100 + 46 + 20) * 160 + 400_000;
    let all = run(spec.clone());
    assert_eq!([of(&all, 0), of(&all, 1)], [(2, 2 * latency), (1, latency)]);
    // From the arrival of the second to before that of the third.
    (spec.warmup, spec.measured_until) =
        (Duration(20_000_000 + latency), Duration(50_000_000 + latency));
    let measured = run(spec);
    assert_eq!([of(&measured, 0), of(&measured, 1)], [(1, latency), (0, 0)]);
}

#[test]
fn recording_changes_nothing() {
    let tcp = Transport::Tcp(transport::tcp::Spec::default());
    for transport in [Transport::default(), tcp] {
        let mut spec = plain(clos(8, 4, 4), busy_flows());
        spec.end = Duration::from_ms(2);
        spec.profiles.iter_mut().for_each(|profile| profile.transport = transport.clone());
        let (with, without) = (run(recording(spec.clone())), run(spec));
        assert_eq!(fct_ps(&with), fct_ps(&without));
        assert_eq!(without.table("latencies").rows(), 0);
        // All that have arrived are in it, repetitions included.
        let (packets, _) = of(&with, 1);
        let flows = with.table("flows");
        let short = (0..flows.rows()).filter(|row| flows.u64s("workload")[*row] == 1);
        let done = short.filter(|row| !flows.f64s("fct_ns")[*row].is_nan());
        let sent: u64 = done.map(|row| flows.u64s("packets_sent")[row]).sum();
        assert!(packets >= sent && packets > 10_000, "{packets} {sent}");
    }
}
