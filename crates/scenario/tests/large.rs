//! Networks of more hosts than others try: that they are built and run at all, in the time of a test.

use floodway_scenario::{Overrides, Scenario};
use floodway_sim::Simulation;

/// 36 pods of 18 edge switches with 18 hosts each: 11664 hosts and 1620 switches, with everything that
/// the scenario of Congestion Isolation has.
const TREE: &str = r#"
name = "tree"
arrivals = "1us"
limit = "30us"
sample_interval = "10us"

[topology.fat_tree]
k = 36
host_delay = "200ns"
fabric_delay = "200ns"

[switch.queue]
count = 2
size = "1MB"
[switch.classify.single]
[switch.aqm.drop_tail]
[switch.flow_control.pfc]
[switch.flow_control.congestion_isolation]
[host.congestion.dcqcn]

[[workload]]
[workload.poisson]
sizes = "1000B"
from = "all"
to = "all"
flows_per_second = 2e10
"#;

#[test]
fn ten_thousand_hosts_from_text_to_tables() {
    let scenario = Scenario::parse(TREE, "tree.toml", &Overrides::default())
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let spec = scenario.build(&scenario.variants()[0], 0);
    assert_eq!((spec.graph.hosts().count(), spec.graph.switches().count()), (11_664, 1_620));
    // 20000 expected; five standard deviations are 707.
    assert!(spec.flows.len().abs_diff(20_000) < 707, "{}", spec.flows.len());

    let outcome = Simulation::new(spec).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let flows = outcome.table("flows");
    let (src, dst) = (flows.u64s("src"), flows.u64s("dst"));
    let mut hops_seen = [0; 7];
    for ((&src, &dst), &ideal) in src.iter().zip(dst).zip(flows.f64s("ideal_fct_ns")) {
        // 18 hosts at an edge switch, 18 of these in a pod.
        let hops = match (src / 18 == dst / 18, src / 324 == dst / 324) {
            (true, _) => 2,
            (_, true) => 4,
            _ => 6,
        };
        hops_seen[hops] += 1;
        // 1000 bytes of payload, 62 of headers, 20 of preamble and gap at 100 Gb/s, and 200 ns.
        let expected = hops as f64 * (1_082.0 * 8.0 / 100.0 + 200.0);
        assert!((ideal - expected).abs() < 1e-6, "{src} {dst} {ideal} {expected}");
    }
    assert!(hops_seen[2] > 0 && hops_seen[4] > 0 && hops_seen[6] > 0, "{hops_seen:?}");
    assert!(flows.f64s("fct_ns").iter().all(|fct| fct.is_finite()));
}
