//! `floodway chart`: charts of results as files.

use std::fs;
use std::path::PathBuf;

use crate::common::{floodway, place, word};

const SCENARIO: &str = r#"
name = "charts"
arrivals = "100us"
limit = "2ms"
[topology.star]
hosts = 9
[switch.flow_control.pfc]
xoff = "100KB"
[[workload]]
[workload.incast]
senders = 8
bytes = "60KB"
[variants.plain]
[variants.marks.switch.aqm.step]
"#;

fn results(name: &str, more: &[&str]) -> (PathBuf, PathBuf) {
    let folder = place(name);
    fs::create_dir_all(&folder).unwrap();
    let (file, out) = (folder.join("charts.toml"), folder.join("results"));
    fs::write(&file, SCENARIO).unwrap();
    let run = ["run", word(&file), "--quiet", "--out", word(&out)];
    let said = floodway(&[&run[..], more].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    (folder, out)
}

fn refused(words: &[&str], text: &str) {
    let said = floodway(words);
    assert_eq!(said.code, Some(2), "{words:?}: {}", said.err);
    let err = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(err.contains(text), "{words:?}: {err}");
}

#[test]
fn charts_are_listed_and_written() {
    let (folder, out) = results("chart", &["--why"]);
    let said = floodway(&["chart", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for line in ["mean-fct  ", "fct-cdf  ", "queue-depths  ", "delays  "] {
        assert!(said.out.lines().any(|of| of.starts_with(line)), "{line}: {}", said.out);
    }
    assert!(said.out.contains("parts: <100 KB, all flows"), "{}", said.out);
    let files = folder.join("files");
    let write = |more: &[&str]| {
        let chart = ["chart", word(&out), "--out", word(&files)];
        let said = floodway(&[&chart[..], more].concat());
        assert_eq!(said.code, Some(0), "{}", said.err);
        said
    };
    let read = |name: &str| fs::read_to_string(files.join(name)).unwrap();
    let said = write(&["fct-cdf", "delays", "--width", "180", "--font", "Times"]);
    assert!(said.err.contains("fct-cdf.svg is written"), "{}", said.err);
    let svg = read("fct-cdf.svg");
    assert!(svg.contains("width=\"180.00mm\"") && svg.contains("font-family: Times;"), "{svg}");
    assert!(read("delays.svg").contains("behind other flows"));
    write(&["delays", "--page"]);
    assert!(read("delays.svg").contains("class=\"card\""));
    write(&["fct-cdf", "--only", "all flows", "--format", "csv"]);
    let rows = read("fct-cdf-all-flows.csv");
    assert_eq!(rows.lines().next(), Some("series,FCT [ns],flows finished [share]"));
    // Eight flows, each a step, after a beginning at none; of two variants.
    assert_eq!(rows.lines().count(), 1 + 2 * 9, "{rows}");
    // The same numbers as the page has.
    write(&["mean-fct", "--format", "vega"]);
    let spec: serde_json::Value = serde_json::from_str(&read("mean-fct.vl.json")).unwrap();
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let values = spec["data"]["values"].as_array().unwrap();
    let marks = values.iter().find(|row| row["series"] == "marks").unwrap();
    // No counters of mechanisms that are not there, and of those that are also what is 0.
    let counters = summary["variants"]["marks"]["counters"].as_object().unwrap();
    for begin in ["bfc_", "cnms_", "sfc_", "drc_", "indicat", "isolations", "watchdog_"] {
        assert!(!counters.keys().any(|name| name.starts_with(begin)), "{begin}");
    }
    assert!(counters.contains_key("dropped_packets") && counters.contains_key("xoff_frames"));
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let differs = &manifest["variants"][1]["differs"];
    assert_eq!(*differs, serde_json::json!(["switch.aqm.step instead of drop_tail"]));
    assert_eq!(manifest["scenario"]["facts"][0][0], "network");
    assert_eq!(
        marks["value"],
        summary["variants"]["marks"]["fct"]["under_100KB"]["mean_ns"]["mean"]
    );
}

#[test]
fn what_is_not_there_is_refused() {
    let (folder, out) = results("chart-refused", &[]);
    let chart = ["chart", word(&out)];
    let with = |more: &[&'static str]| -> Vec<String> {
        chart.iter().chain(more).map(|word| word.to_string()).collect()
    };
    let refused_with = |more: &[&'static str], text: &str| {
        let words = with(more);
        refused(&words.iter().map(String::as_str).collect::<Vec<_>>(), text);
    };
    refused_with(&["fct"], "has no chart `fct`; it has `");
    refused_with(
        &["fct-cdf", "--only", "mice"],
        "has no part `mice`; it has `<100 KB`, `all flows`",
    );
    refused_with(&["mean-fct", "--only", "mice"], "it has one part, so leave out --only");
    refused_with(&["mean-fct", "--width", "5"], "give a number of millimeters from 20 to 1000");
    refused(&["chart", word(&folder.join("charts.toml"))], "is a file: give the results directory");
    assert!(!folder.join("fct-cdf.svg").exists());
}

#[test]
fn tables_as_text_cannot_be_drawn_again() {
    let (_, out) = results("chart-text", &["--format", "csv"]);
    refused(
        &["chart", word(&out)],
        "has no tables as Parquet, which alone can be read back: run the scenario again",
    );
}
