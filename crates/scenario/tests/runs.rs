//! What a scenario builds, the simulator runs.

use floodway_scenario::{Overrides, Scenario};
use floodway_sim::Simulation;

const SAMPLE: &str = r#"
name = "sample"
arrivals = "0.2ms"
limit = "5ms"

[topology.clos]
leaves = 4
spines = 2
hosts_per_leaf = 3

[switch.queue]
count = 2

[switch.aqm.ramp]

[switch.flow_control.pfc]

[[workload]]
[workload.many_to_many]
sizes = "web_search"
max_size = "1MB"
clusters = 2
cluster_size = 4
load = 0.5

[[workload]]
[workload.incast]
senders = 3

[variants.hash.switch.classify.destination_hash]
[variants.isolated.switch.flow_control.congestion_isolation]
"#;

/// Three tiers, background and incasts on the same hosts, and a flow that stops.
const THREE_TIERS: &str = r#"
name = "three-tiers"
arrivals = "0.2ms"
limit = "5ms"
share_hosts = true

[topology.fat_tree]
k = 4
fabric_rate = "40Gbps"

[switch.queue]
count = 2

[switch.aqm.ramp]

[switch.flow_control.pfc]
xoff = "500KB"

[[workload]]
[workload.many_to_many]
sizes = "google_all_rpc"
clusters = 1
cluster_size = 16
load = 0.1

[[workload]]
[workload.incast_series]
hosts = 16
senders = 12
bytes = "64KB"
load = 0.1

[[workload]]
[[workload.list.flow]]
src = 0
dst = 15
stop = "0.15ms"

[variants.hash.switch.classify.destination_hash]
[variants.isolated.switch.flow_control.congestion_isolation]
"#;

#[test]
fn every_variant_runs_soundly() {
    runs_soundly(SAMPLE);
}

#[test]
fn three_tiers_run_soundly() {
    runs_soundly(THREE_TIERS);
}

fn runs_soundly(text: &str) {
    let scenario = Scenario::parse(text, "sample.toml", &Overrides::default())
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    for variant in scenario.variants() {
        let spec = scenario.build(variant, 0);
        let ending = spec.flows.iter().filter(|flow| !flow.is_persistent()).count();
        assert!(ending > 10);
        let outcome = Simulation::new(spec).run();
        assert_eq!(outcome.violations, Vec::<String>::new());
        let flows = outcome.tables.iter().find(|table| table.name == "flows").unwrap();
        let done = flows.f64s("fct_ns").iter().filter(|fct| fct.is_finite()).count();
        assert_eq!(done, ending, "{}", variant.name);
    }
}
