//! `floodway compare results`: results directories side by side.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{floodway, json, place, word};

const SCENARIO: &str = r#"
name = "compared"
arrivals = "100us"
limit = "5ms"
replications = 2
[topology.star]
hosts = 9
[switch.flow_control.pfc]
xoff = "100KB"
[[workload]]
[workload.incast]
senders = 8
bytes = "60KB"
"#;

/// Results of the scenario with some settings changed.
fn results(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let (file, out) = (folder.join("compared.toml"), folder.join(name));
    fs::write(&file, SCENARIO).unwrap();
    let run = ["run", word(&file), "--quiet", "--out", word(&out)];
    let said = floodway(&[&run[..], more].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    out
}

/// What two directories of one variant each say is what one directory of two variants says.
#[test]
fn directories_are_compared_like_variants() {
    let folder = place("compare-pairs");
    let plain = results(&folder, "plain", &[]);
    let marks = results(&folder, "marks", &["--set", "switch.aqm=step"]);
    let file = folder.join("both.toml");
    let variants = "[variants.plain]\n[variants.marks.switch.aqm.step]\n";
    fs::write(&file, format!("{SCENARIO}{variants}")).unwrap();
    let out = folder.join("both");
    let said = floodway(&["run", word(&file), "--quiet", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let both = fs::read_to_string(out.join("summary.json")).unwrap();
    let both: serde_json::Value = serde_json::from_str(&both).unwrap();
    let page = folder.join("compared.html");
    let compare = ["compare", "results", word(&plain), word(&marks)];
    let found = json(&[&compare[..], &["--json", "--page", word(&page)]].concat());
    assert_eq!(found["order"], serde_json::json!(["plain", "marks"]));
    for variant in ["plain", "marks"] {
        for part in ["fct", "counters", "interval"] {
            assert_eq!(
                found["variants"][variant][part], both["variants"][variant][part],
                "{variant}"
            );
        }
    }
    assert!(found["variants"]["marks"]["fct"]["all"]["mean_ns"]["change"]["percent"].is_number());
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("How do plain and marks compare?"));
    let said = floodway(&compare);
    assert!(said.out.starts_with("marks vs. plain: mean completion time"), "{}", said.out);
}

/// Points of a paper are laid over a chart of the comparison and of one directory, under the name of their file.
#[test]
fn points_of_others_are_laid_over_charts() {
    let folder = place("compare-overlay");
    let one = results(&folder, "one", &[]);
    let other = results(&folder, "other", &["--set", "switch.aqm=step"]);
    let points = folder.join("figure 5.csv");
    fs::write(&points, "# read from figure 5\nfct_ns,flows\n3e4,0.25\n5e4,0.75\n").unwrap();
    let page = folder.join("page.html");
    let overlay = format!("fct-cdf/all flows={}", word(&points));
    let compare = ["compare", "results", word(&one), word(&other), "--page", word(&page)];
    let said = floodway(&[&compare[..], &["--overlay", &overlay]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let html = fs::read_to_string(&page).unwrap();
    let figure = html.split("<figure ").find(|of| of.contains("data-name=\"fct-cdf\"")).unwrap();
    assert!(figure.contains("figure 5</span>"), "the legend names them");
    assert_eq!(html.matches("figure 5</span>").count(), 1, "one chart has them");

    let chart = ["chart", word(&one), "fct-cdf", "--format", "csv", "--out", word(&folder)];
    let said = floodway(&[&chart[..], &["--overlay", &overlay]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let csv = fs::read_to_string(folder.join("fct-cdf.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().filter(|line| line.contains("figure 5")).collect();
    assert_eq!(rows, ["all flows,figure 5,30000,0.25", "all flows,figure 5,50000,0.75"]);

    let refused = |overlay: &str| {
        let said = floodway(&[&chart[..], &["--overlay", overlay]].concat());
        assert_ne!(said.code, Some(0));
        said.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let file = word(&points);
    assert!(refused(&format!("fct={file}")).contains("there is no chart `fct`; there are `"));
    let unknown = refused(&format!("fct-cdf/mice={file}"));
    assert!(unknown.contains("the chart `fct-cdf` has no part `mice`; it has `"), "{unknown}");
    let rows = refused(&format!("mean-fct={file}"));
    assert!(rows.contains("points cannot be laid over the chart `mean-fct`"), "{rows}");
    assert!(refused("fct-cdf").contains("write CHART=FILE or CHART/PART=FILE"));
    assert!(refused("fct-cdf=no.csv").contains("no.csv cannot be read"));
    fs::write(&points, "fct_ns,flows\n3e4;0.25\n").unwrap();
    let wrong = refused(&overlay);
    assert!(wrong.contains(":2: `3e4;0.25` is not two numbers"), "{wrong}");
}

#[test]
fn other_traffic_is_not_paired() {
    let folder = place("compare-apart");
    let one = results(&folder, "one", &[]);
    let seed = results(&folder, "seed", &["--seed", "2"]);
    let found = json(&["compare", "results", word(&one), word(&seed), "--json"]);
    let caveat = found["caveats"][0].as_str().unwrap();
    assert!(caveat.starts_with("seed: not the seeds and flows of one"), "{caveat}");
    let mean = &found["variants"]["seed"]["fct"]["all"]["mean_ns"];
    assert!(mean["mean"].is_number() && mean["change"].is_null(), "{mean}");
    let sizes = ["--set", "workload.0.incast.bytes=70KB"];
    let other = results(&folder, "other", &sizes);
    let found = json(&["compare", "results", word(&one), word(&other), "--json"]);
    assert!(found["variants"]["other"]["fct"]["all"]["mean_ns"]["change"].is_null());
}

#[test]
fn the_same_twice_is_refused() {
    let out = results(&place("compare-twice"), "one", &[]);
    let said = floodway(&["compare", "results", word(&out), word(&out)]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains("is there twice: name different results directories"),
        "{}",
        said.err
    );
    let said = floodway(&["compare", "results", word(&out)]);
    assert_eq!(said.code, Some(2), "two are needed: {}", said.err);
}
