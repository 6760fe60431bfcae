//! `floodway study`, at a size that says nothing about networks but everything about the command.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{floodway, json, place, tiny_study, word};
use serde_json::Value;

fn tiny<'a>(out: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&tiny_study(out), more].concat()
}

#[test]
fn a_study_judges_every_claim_and_is_not_done_twice() {
    let out = place("study");
    let first = json(&tiny(&out, &["--json"]));
    assert_eq!((&first["study"], &first["level"]), (&"ci".into(), &"quick".into()));
    let claims = first["claims"].as_array().unwrap();
    let verdicts = ["holds", "holds if", "does not hold", "cannot be judged"];
    let comparisons = ["reproduced", "same direction", "not reproduced", "cannot judge"];
    let mut ids = BTreeSet::new();
    let count = |readings: &Value, name: &str| readings[name].as_u64().unwrap();
    for claim in claims {
        ids.insert(claim["id"].as_str().unwrap());
        assert!(verdicts.contains(&claim["verdict"].as_str().unwrap()), "{claim}");
        for text in ["quotation", "source", "result", "condition"] {
            assert!(claim[text].is_string(), "{claim}");
        }
        let readings = &claim["readings"];
        let judged = count(readings, "holds") + count(readings, "does_not");
        let all = judged + count(readings, "cannot_be_judged");
        assert!([1, 32].contains(&all), "{readings}");
        let share = (judged > 0).then(|| count(readings, "holds") as f64 / judged as f64);
        assert_eq!(readings["share"].as_f64(), share);
        for part in claim["parts"].as_array().unwrap() {
            assert_eq!(part["id"], claim["id"]);
            check(part, &comparisons);
        }
    }
    assert_eq!(ids.len(), 24);
    let checks = first["checks"].as_array().unwrap();
    checks.iter().for_each(|part| check(part, &comparisons));
    // Same traffic, more memory: not one flow may differ, at any size.
    let memory = checks.iter().find(|check| check["id"] == "D4").unwrap();
    assert_eq!((&memory["measured"], &memory["verdict"]), (&0.0.into(), &"reproduced".into()));
    assert_eq!(first["provenance"]["reused"], 0);
    assert!(first["caveats"][0].as_str().unwrap().starts_with("This is the quick version"));
    assert!(first["caveats"][1].as_str().unwrap().contains("limit=1ms"));

    // What is kept is what was said, and everything that it refers to is there.
    let mut kept: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("study.json")).unwrap()).unwrap();
    let files = kept.as_object_mut().unwrap().remove("files").unwrap();
    assert_eq!(kept, first);
    assert_eq!(files["."], serde_json::json!(["report.html"]));
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(link.starts_with('#') || out.join(link).is_file(), "{link}");
    }
    let text = std::fs::read_to_string(out.join("text/README.md")).unwrap();
    let charts: Vec<_> =
        text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(charts.iter().filter(|name| name.ends_with(".svg")).count() > 8);
    let listed = files["text"].as_array().unwrap();
    assert_eq!(std::fs::read_dir(out.join("text")).unwrap().count(), listed.len());
    for chart in charts.iter().filter(|name| name.ends_with(".svg")) {
        assert!(out.join("text").join(chart).is_file(), "{chart}");
    }

    // Again, after losing one experiment: only that one is simulated, with the same results.
    std::fs::remove_dir_all(out.join("latency")).unwrap();
    let second = json(&tiny(&out, &["--json"]));
    let runs = first["provenance"]["runs"].as_u64().unwrap();
    assert_eq!(second["provenance"]["reused"].as_u64().unwrap(), runs - 4);
    assert_eq!(second["claims"], first["claims"]);
    assert_eq!(second["provenance"]["fingerprint"], first["provenance"]["fingerprint"]);

    // Other settings would replace all of it: refused, unless that is meant.
    let said = floodway(&tiny(&out, &["-q", "--set", "switch.latency=1us"]));
    assert_eq!(said.code, Some(2));
    let text = format!(
        "error: `{}` holds the quick study `ci` with other settings; its runs would be replaced. Give \
         the same settings to go on with it, choose another directory with `--out DIR`, or replace it \
         with `--force`\n",
        out.display()
    );
    assert_eq!(said.err, text);
    assert!(std::fs::read_to_string(out.join("study.json")).unwrap().contains("\"reused\""));

    // A study whose own file is lost is still known by its experiments, but nothing says any more that
    // the page and the text are floodway's.
    std::fs::write(out.join("study.json"), "{").unwrap();
    for name in ["report.html", "text/README.md", "study.json"] {
        let said = floodway(&tiny(&out, &["-q"]));
        let text = format!(
            "error: `{}` is in the way: floodway did not write it and does not replace it; move it \
             elsewhere, or choose another directory: `--out DIR`\n",
            out.join(name).display()
        );
        assert_eq!((said.code, said.err), (Some(2), text));
        std::fs::remove_file(out.join(name)).unwrap();
    }
    std::fs::remove_dir_all(out.join("text")).unwrap();
    let third = json(&tiny(&out, &["--json"]));
    assert_eq!(third["provenance"]["reused"].as_u64().unwrap(), runs);

    // Of a version that did not list its files those are known that it wrote.
    let kept = std::fs::read_to_string(out.join("study.json")).unwrap();
    let (before, _) = kept.split_once(",\n  \"files\"").unwrap();
    std::fs::write(out.join("study.json"), format!("{before}}}")).unwrap();
    std::fs::write(out.join("text/own.svg"), "mine").unwrap();
    let words = tiny(&out, &["-q", "--force", "--set", "switch.latency=1us"]);
    assert_eq!(floodway(&words).code, Some(0));
    let fourth: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("study.json")).unwrap()).unwrap();
    assert_eq!(fourth["files"], files);
    assert_eq!(std::fs::read_to_string(out.join("text/own.svg")).unwrap(), "mine");
}

/// A number of a claim or of a check.
fn check(part: &Value, comparisons: &[&str]) {
    assert!(part["claimed"].is_string() && part["unit"].is_string());
    for number in ["measured", "low", "high"] {
        assert!(part[number].is_number() || part[number].is_null(), "{part}");
    }
    assert!(comparisons.contains(&part["verdict"].as_str().unwrap()), "{part}");
}

#[test]
fn the_plan_is_a_list_of_commands() {
    let said = floodway(&["study", "ci", "--quick", "--plan", "--set", "switch.latency=1us"]);
    assert_eq!(said.code, Some(0));
    let first = "floodway run scenarios/ci/lossless.toml --variant without-ci --variant ci-local \
                 --variant ci --set replications=6 --set arrivals=12ms --set warmup=8ms --set \
                 limit=40ms --set seed=3 --set switch.latency=1us --out results/two-queues\n";
    assert!(said.out.starts_with(first), "{}", said.out);
    assert!(said.out.lines().all(|line| line.starts_with("floodway run scenarios/ci/")));
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let said = floodway(&["study", "drc"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains("[possible values: ci, sfc, dualq, short-range, interplay]"),
        "{}",
        said.err
    );

    let said = floodway(&["study", "sfc", "--quick", "--closest"]);
    let text = "error: `--closest` needs numbers to come near to, and the sources of the study `sfc` give \
                too few; leave it out, or take `ci`\n";
    assert_eq!((said.code, said.err.as_str()), (Some(2), text));

    let out = place("study-setting");
    let words = ["study", "ci", "--quick", "--out", word(&out), "--set", "switch.queu.size=1MB"];
    let said = floodway(&words);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("`switch` has no field `queu`"), "{}", said.err);
    assert!(!out.exists());

    let out = place("study-file");
    std::fs::write(&out, "a file").unwrap();
    let said = floodway(&["study", "ci", "--quick", "--out", word(&out)]);
    assert_eq!(said.code, Some(2));
    let text = format!("error: `{}` is a file; choose a directory: `--out DIR`\n", out.display());
    assert_eq!(said.err, text);
    std::fs::remove_file(&out).unwrap();

    let out = place("study-foreign");
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("diary.txt"), "mine").unwrap();
    let said = floodway(&["study", "ci", "--quick", "--out", word(&out)]);
    assert_eq!(said.code, Some(2));
    let text = format!(
        "error: `{}` is not empty and does not hold the study `ci`, so nothing is written there; \
         choose another directory: `--out DIR`\n",
        out.display()
    );
    assert_eq!(said.err, text);
}
