//! Whatever is written, the answer is a scenario or an error, never a panic.

use std::path::Path;

use floodway_scenario::{Overrides, Scenario};
use serde_json::Value;

/// Every topology and workload that the main scenario has not.
const OTHERS: &str = r#"
name = "others"
arrivals = "1ms"
limit = "5ms"
share_hosts = true

[topology.fat_tree]
k = 4
pods = 4
edges_per_pod = 2
aggregations_per_pod = 2
cores = 4
hosts_per_edge = 2

[host]
buffer = "64KB"

[switch.flow_control.drc]

[[workload]]
[workload.incast_series]
hosts = 8
senders = 7
bytes = "64KB"
load = 0.1

[[workload]]
[[workload.list.flow]]
src = 0
dst = 15
start = "0.1ms"
stop = "0.5ms"

[[workload.list.flow]]
src = 0
dst = 15
bytes = "1MB"
"#;

/// A dumbbell, workloads that name their hosts, and workloads with profiles of their own.
const NAMED: &str = r#"
name = "named"
arrivals = "10s"
limit = "20s"

[topology.dumbbell]
left = 4
right = 4
left_delays = ["1ms", "17ms"]

[switch.aqm.ramp]

[host.transport.rocev2.recovery.go_back_n]
retransmit_timeout = "1s"

[[workload]]
[workload.long_flows]
count = 3
from = "0-2"
to = "4, 6-7"
start = "1s"
jitter = "1s"
stop = "9s"
[workload.congestion.dcqcn]
min_rate = "1Mbps"
[workload.transport.rocev2]
recovery.go_back_n.retransmit_timeout = "1s"

[[workload]]
[workload.poisson]
sizes = "64KB"
max_size = "1MB"
load = 0.1
of = "40Mbps"
from = "left"
to = "right"

[[workload]]
[workload.poisson]
sizes = "64KB"
flows_per_second = 2.5
"#;

/// A dual queue, every parameter of TCP, and an application.
const TCP: &str = r#"
name = "tcp"
arrivals = "10s"
limit = "20s"
departures = true

[topology.dumbbell]
left = 4
right = 4

[switch.queue]
count = 2
[switch.classify.ecn]
[switch.scheduler.wrr]
[switch.aqm.dualpi2]

[host.transport.tcp]
receive_window = "1MB"
ecn = "accurate"
codepoint = "ect1"

[[workload]]
[workload.long_flows]
count = 3
[workload.congestion.prague]
[workload.application.interactive]

[[workload]]
[workload.long_flows]
count = 1
pairs = "all"
[workload.application.entries]
outstanding = 2
think = "1ms"

[[workload]]
[workload.long_flows]
count = 1
[workload.congestion.bbr3]

[[workload]]
[workload.long_flows]
count = 1
[workload.transport.udp]
"#;

fn main_scenario() -> String {
    std::fs::read_to_string(Path::new("../../scenarios/ci/lossless.toml")).unwrap()
}

/// The paths of all values.
fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    let under = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match value {
        Value::Object(fields) => {
            found.extend((!at.is_empty()).then(|| at.to_owned()));
            fields.iter().for_each(|(key, value)| paths(value, &under(key), found));
        }
        Value::Array(items) => {
            found.push(at.to_owned());
            let numbered = items.iter().enumerate();
            numbered.for_each(|(index, item)| paths(item, &under(&index.to_string()), found));
        }
        _ => found.push(at.to_owned()),
    }
}

const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "255",
    "65535",
    "4294967295",
    "18446744073709551615",
    "1e308",
    "-0.5",
    "nan",
    "inf",
    "0x7f",
    "true",
    "false",
    "[]",
    "[1]",
    "{}",
    "{a=1}",
    "2020-01-01",
    "",
    "\"\"",
    "0ns",
    "1ps",
    "18446744073709551.615ns",
    "0B",
    "1B",
    "18446744TB",
    "0bps",
    "1bps",
    "100Tbps",
    "18446744Tbps",
    "word",
    "\u{e9}\u{1f980}",
    "step",
    "both",
];

#[test]
fn every_field_takes_every_value() {
    let (valid, refused) = try_everything(&main_scenario(), 70);
    assert!(valid > 100 && refused > 1000, "{valid} {refused}");
    for others in [OTHERS, NAMED, TCP] {
        let (valid, refused) = try_everything(others, 50);
        assert!(valid > 100 && refused > 1000, "{valid} {refused}");
    }
}

/// How many of the settings are valid and how many are refused, of a scenario with more than
/// `fields` fields.
fn try_everything(text: &str, fields: usize) -> (u32, u32) {
    let parse =
        |set: Vec<String>| Scenario::parse(text, "scenario.toml", &Overrides { quick: false, set });
    let scenario = parse(Vec::new()).unwrap();
    let mut all = Vec::new();
    for variant in scenario.variants() {
        paths(&serde_json::to_value(&variant.settings).unwrap(), "", &mut all);
    }
    all.sort();
    all.dedup();
    assert!(all.len() > fields, "{all:?}");
    let (mut valid, mut refused) = (0, 0);
    for path in &all {
        for value in VALUES {
            match parse(vec![format!("{path}={value}")]) {
                Ok(scenario) => {
                    valid += 1;
                    assert!(!scenario.derived().to_string().is_empty());
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.plain().contains("help: "));
                }
            }
        }
    }
    (valid, refused)
}

#[test]
fn a_file_may_end_anywhere() {
    let text = main_scenario();
    for end in (0..=text.len()).filter(|&end| text.is_char_boundary(end)).step_by(3) {
        let _ = Scenario::parse(&text[..end], "cut.toml", &Overrides::default());
    }
}

#[test]
fn a_line_may_be_missing_or_doubled() {
    let text = main_scenario();
    let lines: Vec<_> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        for middle in [vec![], vec![*line, *line]] {
            let all = [&lines[..index], &middle, &lines[index + 1..]].concat().join("\n");
            let parsed = Scenario::parse(&all, "edited.toml", &Overrides::default());
            if let Err(error) = parsed {
                assert!(error.problems().iter().all(|problem| !problem.help.is_empty()));
            }
        }
    }
}
