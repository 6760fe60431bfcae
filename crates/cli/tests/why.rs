//! `floodway why`: what it prints, what it exports, and what it refuses.

use std::fs;
use std::path::PathBuf;

use crate::common::{floodway, json, place, word};

/// Two large messages and a small one to the same host. PFC pauses the hosts, and the small message is
/// paused with them.
const INCAST: &str = r#"
name = "incast"
arrivals = "50us"
limit = "400us"
replications = 1

[topology.star]
hosts = 4
rate = "100Gbps"
delay = "200ns"

[switch.flow_control.pfc]
xoff = "20KB"
xon = "10KB"

[host.congestion.line_rate]

[[workload]]
name = "incast"
[workload.list]
flow = [
    { src = 1, dst = 0, bytes = "200KB", start = "0us" },
    { src = 2, dst = 0, bytes = "200KB", start = "0us" },
    { src = 2, dst = 3, bytes = "5KB", start = "10us" },
]
"#;

fn results(test: &str) -> (PathBuf, PathBuf) {
    let folder = place(test);
    fs::create_dir_all(&folder).unwrap();
    let (file, out) = (folder.join("incast.toml"), folder.join("results"));
    fs::write(&file, INCAST).unwrap();
    let said = floodway(&["run", word(&file), "--quiet", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    (file, out)
}

#[test]
fn parts_add_up_to_the_completion_time() {
    let (_, out) = results("why-json");
    let value = json(&["why", word(&out), "--flow", "2", "--flow", "0", "--json"]);
    let flows = value["flows"].as_array().unwrap();
    let numbers: Vec<u64> = flows.iter().map(|flow| flow["flow"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 0]);
    for flow in flows {
        let mut now = flow["start_ps"].as_u64().unwrap();
        let end = now + flow["fct_ps"].as_u64().unwrap();
        for part in flow["parts"].as_array().unwrap() {
            assert_eq!(part["from_ps"], now);
            now = part["to_ps"].as_u64().unwrap();
        }
        assert_eq!(now, end);
    }
    // The third message goes to an idle host, and is paused because of the port to host 0.
    let paused = flows[0]["parts"].as_array().unwrap().iter().find(|part| part["kind"] == "paused");
    let pause = &paused.expect("it is paused")["pause"];
    assert!(pause["root"].as_str().unwrap().ends_with("to host 0"), "{pause}");
    let group = &value["groups"][0];
    assert_eq!((&group["workload"], &group["flows"]), (&"incast".into(), &1.into()));
}

#[test]
fn the_text_names_causes_and_places() {
    let (_, out) = results("why-text");
    let said = floodway(&["why", word(&out), "--slowest", "1"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for words in [
        "replication 0: 3 measured flows",
        "incast, <100 KB: 1 flow takes ",
        "Share of the completion time",
        "ideal: serialization and propagation",
        "Roots of pauses",
        "to host 0",
        "Flow 2 (incast): host 2 to host 3, 5.00 KB, started at 10.0 µs, took ",
    ] {
        assert!(said.out.contains(words), "{words}:\n{}", said.out);
    }
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let (file, out) = results("why-refused");
    let refused = |words: &[&str], text: &str| {
        let said = floodway(words);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        assert!(said.err.contains(text), "{}", said.err);
    };
    refused(&["why", word(&out), "--flow", "3"], "there is no flow 3: the run has flows 0 to 2");
    refused(
        &["why", word(&out), "--variant", "other"],
        "choose one with --variant and --replication",
    );
    refused(&["why", word(&file)], "incast.toml` is a file: give the results directory that");
    // Other traffic under the same name.
    fs::write(&file, INCAST.replace("5KB", "6KB")).unwrap();
    refused(&["why", word(&out)], "is not what it was when");
}
