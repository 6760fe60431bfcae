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
    let root = &paused.expect("it is paused")["root"];
    assert!(root.as_str().unwrap().ends_with("to host 0"), "{root}");
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
        "because of the queue of switch to host 0, which 2 flows of incast fill.",
        "Roots of pauses",
        "to host 0",
        "Flow 2 (incast): host 2 to host 3, 5.00 KB, started at 10.0 µs, took ",
    ] {
        assert!(said.out.contains(words), "{words}:\n{}", said.out);
    }
}

/// Each of the five packets is explained from its generation to its arrival, and the text shows them.
#[test]
fn packets_are_explained_one_by_one() {
    let (_, out) = results("why-packets");
    let value = json(&["why", word(&out), "--flow", "2", "--packets", "--json"]);
    let flow = &value["flows"][0];
    let end = flow["start_ps"].as_u64().unwrap() + flow["fct_ps"].as_u64().unwrap();
    let packets = flow["packets"].as_array().unwrap();
    let numbers: Vec<u64> = packets.iter().map(|of| of["packet"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    for packet in packets {
        let parts = packet["parts"].as_array().unwrap();
        let ends = |part: &serde_json::Value| (part["from_ps"].as_u64(), part["to_ps"].as_u64());
        assert!(parts.is_sorted_by(|a, b| ends(a).1 == ends(b).0), "{parts:?}");
        assert!(parts.iter().any(|part| part["kind"] == "serialization"));
    }
    assert_eq!(packets[4]["parts"].as_array().unwrap().last().unwrap()["to_ps"], end);
    let text = floodway(&["why", word(&out), "--flow", "2", "--packets"]).out;
    assert!(text.contains("  Of 5 packets that arrived, those that were delayed most:"), "{text}");
    // Without the option there are none.
    let value = json(&["why", word(&out), "--flow", "2", "--json"]);
    assert_eq!(value["flows"][0].get("packets"), None);
}

/// Marks of the port to host 0 lower the rates of the two large messages, and the text says when and from what to what.
#[test]
fn what_lowered_a_rate_is_named() {
    let folder = place("why-cuts");
    fs::create_dir_all(&folder).unwrap();
    let (file, out) = (folder.join("incast.toml"), folder.join("results"));
    let scenario = INCAST
        .replace(
            "[switch.flow_control.pfc]\nxoff = \"20KB\"\nxon = \"10KB\"",
            "[switch.aqm.step]\nthreshold = \"20KB\"",
        )
        .replace("line_rate", "dcqcn");
    fs::write(&file, scenario).unwrap();
    let said = floodway(&["run", word(&file), "--quiet", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let told = floodway(&["why", word(&out), "--flow", "0"]).out;
    let words = "  rate reduced once because of marks at switch to host 0, at ";
    let line =
        told.lines().find(|line| line.starts_with(words)).unwrap_or_else(|| panic!("{told}"));
    assert!(line.contains(": from 100 Gb/s down to "), "{line}");
    let value = json(&["why", word(&out), "--flow", "0", "--json"]);
    let cut = &value["flows"][0]["cuts"][0];
    assert_eq!((&cut["limit"], &cut["reason"]), (&"rate".into(), &"mark".into()));
    assert_eq!((&cut["before"], &cut["after"]), (&1e11.into(), &5e10.into()));
    assert_eq!(cut["place"], "switch to host 0");
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
    refused(
        &["why", word(&out), "--against", "other"],
        "has no run of the variant `other` and replication 0: it has `base` 0",
    );
    refused(
        &["why", word(&out), "--against", "base"],
        "`base` cannot be compared with itself: choose another variant with --variant",
    );
    refused(
        &["why", word(&out), "--root", "switch to host 9"],
        "`switch to host 9` is not the root of a pause; these are: `",
    );
    for (cause, text) in [
        ("flow:3", "there is no flow `3`: the run has flows 0 to 2"),
        ("workload:outcast", "there is no flow of a workload `outcast`"),
        ("root:nowhere", "`nowhere` is not the root of a pause in this run"),
        ("weather", "`weather` is no cause: write flow:NUMBER, workload:NAME or root:PORT"),
    ] {
        refused(&["why", word(&out), "--without", cause], text);
    }
    refused(&["why", word(&file)], "incast.toml` is a file: give the results directory that");
    // Other traffic under the same name.
    fs::write(&file, INCAST.replace("5KB", "6KB")).unwrap();
    refused(&["why", word(&out)], "is not what it was when");
}

/// The small message is paused because of the two large ones: without them it takes the ideal time, and that
/// is what the explanation predicts, but for its wait behind the frame on the wire.
#[test]
fn what_is_saved_without_a_cause_is_compared() {
    let (_, out) = results("why-without");
    let without = ["--without", "flow:0", "--without", "flow:1"];
    let value = json(&[&["why", word(&out)], &without[..], &["--json"]].concat());
    assert_eq!(value["without"], serde_json::json!([0, 1]));
    let flow = &value["flows"][0];
    let number = |key: &str| flow[key].as_i64().unwrap();
    assert_eq!(number("flow"), 2);
    assert!(number("observed_ps") > number("fct_ps") / 2);
    let error = number("observed_ps") - number("predicted_ps");
    assert!(error.abs() < number("fct_ps") / 50, "{flow}");
    let said = floodway(&[&["why", word(&out)], &without[..]].concat());
    for words in [
        "with flow 0 (incast), flow 1 (incast) reduced to one byte: 1 other flow is compared",
        "flows that the explanation says they delay: 1, which take ",
        "observed minus predicted, of the completion time: median ",
    ] {
        assert!(said.out.contains(words), "{words}:\n{}", said.out);
    }
}

#[test]
fn a_root_has_victims() {
    let (_, out) = results("why-root");
    let root =
        json(&["why", word(&out), "--json"])["roots"][0]["port"].as_str().unwrap().to_owned();
    let said = floodway(&["why", word(&out), "--root", &root]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for words in [
        "have their root there",
        "Flows of the sample that are delayed:",
        "flow 2 (incast)  host 2",
    ] {
        assert!(said.out.contains(words), "{words}:\n{}", said.out);
    }
}

/// A ring of four hosts: each message begins when the one before has arrived, so the path to the last one is all of
/// them, and as long as all together.
#[test]
fn the_path_of_a_collective_is_explained() {
    let folder = place("why-path");
    fs::create_dir_all(&folder).unwrap();
    let (file, out) = (folder.join("ring.toml"), folder.join("results"));
    let begin = INCAST.find("[[workload]]").unwrap();
    let ring = "[[workload]]\nname = \"ring\"\n[workload.all_reduce]\nbytes = \"64KB\"\n";
    fs::write(&file, format!("{}{ring}", &INCAST[..begin])).unwrap();
    let said = floodway(&["run", word(&file), "--quiet", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let said = floodway(&["why", word(&out), "--path"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for words in [
        "Critical path to flow ",
        " (ring): 6 flows, ",
        "holds up the next for",
        "Share of the critical path",
    ] {
        assert!(said.out.contains(words), "{words}:\n{}", said.out);
    }
    // The first steps wait for no other flow.
    let said = floodway(&["why", word(&out), "--path", "0"]);
    assert_eq!(said.code, Some(2), "{}", said.out);
    assert!(
        said.err.contains("flow 0 (ring) waited for no other flow; --path explains"),
        "{}",
        said.err
    );
}

/// `--why` keeps explanations as tables, shows them on the page and as a chart, and changes no result.
#[test]
fn a_run_explains_itself() {
    let (file, out) = results("why-run");
    let explained = out.with_file_name("explained");
    let said = floodway(&["run", word(&file), "--why", "--quiet", "--out", word(&explained)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let fingerprint = |out: &PathBuf| {
        let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        manifest["runs"][0]["fingerprint"].clone()
    };
    assert_eq!(fingerprint(&out), fingerprint(&explained));
    let manifest = fs::read_to_string(explained.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let listed = manifest["runs"][0]["tables"].as_array().unwrap();
    for name in floodway_model::table::EXPLAINED {
        let table = listed.iter().find(|table| table["name"] == name).expect(name);
        // A table without rows has no file.
        let file = explained.join(format!("runs/base/0/{name}.parquet"));
        assert_eq!(file.is_file(), table.get("checksum").is_some(), "{name}");
    }
    let page = fs::read_to_string(explained.join("report.html")).unwrap();
    for words in ["Where the time goes", "Roots of pauses", "base: all 3 measured flows"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!fs::read_to_string(out.join("report.html")).unwrap().contains("Where the time goes"));
    // What was explained already can be explained again.
    let said = floodway(&["why", word(&explained), "--flow", "2"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
}

/// With thresholds that are never reached the small message is not paused, and the parts of what it saves add up.
#[test]
fn a_variant_is_compared_with_another() {
    let folder = place("why-against");
    fs::create_dir_all(&folder).unwrap();
    let (file, out) = (folder.join("pauses.toml"), folder.join("results"));
    let text = INCAST.replace("replications = 1", "replications = 2")
        + r#"
[variants.pfc]
[variants.high]
switch.flow_control.pfc = { xoff = "900KB", xon = "800KB" }
"#;
    fs::write(&file, text).unwrap();
    let said = floodway(&["run", word(&file), "--quiet", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let why = ["why", word(&out), "--variant", "high", "--against", "pfc"];
    let value = json(&[&why[..], &["--json"]].concat());
    assert_eq!(value["replications"], serde_json::json!([0, 1]));
    // Messages of 5 KB: without pauses the small one waits for nobody but its NIC.
    let parts = value["groups"][0]["parts"].as_array().unwrap();
    let of = |name: &str, field: &str| {
        let part = parts.iter().find(|part| part["part"] == name && part["root"].is_null());
        part.map_or(0.0, |part| part[field].as_f64().unwrap())
    };
    assert!(of("paused", "baseline_ns") > 0.0 && of("paused", "variant_ns") == 0.0);
    assert_eq!(of("ideal", "difference_ns"), 0.0);
    let sum: f64 = parts[1..]
        .iter()
        .filter(|part| part["root"].is_null())
        .map(|part| part["difference_ns"].as_f64().unwrap())
        .sum();
    assert!((sum - of("completion", "difference_ns")).abs() < 1e-6, "{sum}");
    let said = floodway(&why);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for words in [
        "high against pfc, replications 0 and 1",
        "because of switch to host 0",
        "In brackets: 95 %",
    ] {
        assert!(said.out.contains(words), "{words}:\n{}", said.out);
    }
}
