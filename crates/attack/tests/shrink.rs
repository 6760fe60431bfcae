//! A scenario is made smaller from end to end, with a fault that is made up: it needs a flow over TCP
//! and two failures of links between switches.

use std::time::{Duration, Instant};

use floodway_attack::generate::parse;
use floodway_attack::shrink::{Patience, scenario};
use floodway_model::graph::NodeKind;
use floodway_sim::host::transport;

/// Of all this the fault needs little.
const LARGE: &str = r#"
name = "large"
question = "What fails?"
arrivals = "1ms"
limit = "20ms"
seed = 77
replications = 3

[topology.custom]
hosts = ["host 0-5"]
switches = ["left", "right"]
links = ["host 0-2 -- left", { ends = "left -- right", count = 3 }, "right -- host 3-5"]

[switch.queue]
count = 3
size = "2MB"

[switch.aqm.ramp]
kmin = "100KB"

[switch.flow_control.pfc]
xoff = "300KB"

[[failure]]
link = ["host 0", "left"]
at = "30us"

[[failure]]
link = ["right", "left"]
number = 2
at = "20us"
until = "4ms"
detection = "7us"

[[failure]]
link = ["left", "right"]
number = 1
at = "25us"
until = "3ms"

[[failure]]
link = ["left", "right"]
number = 0
at = "60us"
until = "3ms"

[[workload]]
name = "udp"
[workload.list]
[[workload.list.flow]]
src = 1
dst = 4
bytes = "3MB"

[[workload]]
name = "tcp"
transport.tcp.mss = "1000B"
congestion.cubic = {}
[workload.list]
[[workload.list.flow]]
src = 0
dst = 3
bytes = "3MB"
[[workload.list.flow]]
src = 2
dst = 5
bytes = "1MB"
start = "4us"

[variants.one]

[variants.other]
switch.queue.size = "1MB"
"#;

/// The fault: in the first variant a flow goes over TCP, and two links between switches fail.
fn fails(text: &str) -> bool {
    let Ok(scenario) = parse(text, "large.toml") else { return false };
    let spec = scenario.build(&scenario.variants()[0], 0);
    let is_tcp = |workload: u16| {
        matches!(spec.profiles[usize::from(workload)].transport, transport::Spec::Tcp(_))
    };
    let is_switch = |node| matches!(spec.graph.node(node).kind, NodeKind::Switch { .. });
    let between = spec.failures.iter().filter(|failure| {
        let end = &spec.graph.node(failure.node).ports[failure.port.index()];
        is_switch(failure.node) && is_switch(end.peer)
    });
    spec.flows.iter().any(|flow| is_tcp(flow.workload)) && between.count() >= 2
}

#[test]
fn a_large_scenario_that_fails_becomes_a_minimal_one() {
    assert!(fails(LARGE), "{:?}", parse(LARGE, "large.toml").map(|_| ()));
    let patience = Patience { until: Instant::now() + Duration::from_secs(120), tries: 20_000 };
    let small = scenario(LARGE, patience, &mut |text| fails(text));
    assert_eq!(small, MINIMAL);
}

/// By hand: a scenario needs a name, arrivals and a limit above them; the fault needs two links between
/// switches, so `count = 2`, and a failure of each; a flow needs two ends, and its transport a name.
/// Lists of names and what stands between quotes and is no quantity are not made shorter. One failure
/// without a number would be of both links, but not beside another of the same link, so no single step
/// leads there.
const MINIMAL: &str = r#"arrivals = "1ps"
limit = "2ps"
name = "large"

[[failure]]
at = "0s"
link = ["right", "left"]
number = 1

[[failure]]
at = "0s"
link = ["left", "right"]
number = 0

[topology.custom]
hosts = ["host 0-5"]
links = ["host 0-2 -- left", { count = 2, ends = "left -- right" }, "right -- host 3-5"]
switches = ["left", "right"]

[[workload]]

[[workload.list.flow]]
dst = 1
src = 0

[workload.transport.tcp]
"#;
