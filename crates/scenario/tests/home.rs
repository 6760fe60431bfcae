//! What tests of workloads for homes have in common: a line without other traffic, and a run that is sound.

use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation};

/// A server on the left and a home on the right: 50 Mb/s down, 10 Mb/s up, 20 ms there and back, and 12 s of arrivals.
const LINE: &str = r#"
name = "line"
arrivals = "12s"
limit = "13s"

[topology.dumbbell]
left = 1
right = 1
host_rate = "1Gbps"
host_delay = "1ms"
bottleneck_rate = "50Mbps"
bottleneck_rate_back = "10Mbps"
bottleneck_delay = "8ms"

[switch.queue]
size = "303600B"

[host.transport.tcp]
"#;

/// The line with these workloads and settings.
pub fn scenario(workloads: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    Scenario::parse(&format!("{LINE}{workloads}"), "line.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// Its first variant, once.
pub fn run(scenario: &Scenario) -> Outcome {
    let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}
