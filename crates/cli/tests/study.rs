//! `floodway study`, at a size that says nothing about networks but everything about the command.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{self, floodway, json, place, tiny_study, word};
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
        assert!((1..=32).contains(&all), "{readings}");
        let share = (judged > 0).then(|| count(readings, "holds") as f64 / judged as f64);
        assert_eq!(readings["share"].as_f64(), share);
        for part in claim["parts"].as_array().unwrap() {
            assert_eq!(part["id"], claim["id"]);
            check(part, &comparisons);
        }
    }
    // 24 of what the decks show, 8 of what they aim at.
    assert_eq!(ids.len(), 32);
    let checks = first["checks"].as_array().unwrap();
    checks.iter().for_each(|part| check(part, &comparisons));
    // Same traffic, more memory: not one flow may differ, at any size.
    let memory = checks.iter().find(|check| check["id"] == "D4").unwrap();
    assert_eq!((&memory["measured"], &memory["verdict"]), (&0.0.into(), &"reproduced".into()));
    assert_eq!(first["provenance"]["reused"], 0);
    assert!(first["caveats"][0].as_str().unwrap().starts_with("This is the quick version"));
    assert!(first["caveats"][1].as_str().unwrap().contains("limit=300us"));

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
    for name in ["report.html", "text/README.md", "text/sample.json", "study.json"] {
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
    // Nor did it write a sample.
    std::fs::remove_file(out.join("text/sample.json")).unwrap();
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
                 --variant ci --set seed=4 --set replications=6 --set arrivals=12ms --set warmup=8ms \
                 --set limit=40ms --set switch.latency=1us --out results/two-queues\n";
    assert!(said.out.starts_with(first), "{}", said.out);
    assert!(said.out.lines().all(|line| line.starts_with("floodway run scenarios/ci/")));
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let said = floodway(&["study", "drc"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains(
            "there is no study `drc`; the studies are: ci, sfc, dualq, short-range, interplay, access, or name a folder",
        ),
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

/// What the program says about published results, with its exit status.
fn verified(study: &str, folder: &Path) -> (Option<i32>, String, String) {
    let said = floodway(&["study", study, "--verify", word(folder)]);
    (said.code, said.out, said.err)
}

#[test]
fn published_results_of_another_version_are_found() {
    let out = place("study-published");
    assert_eq!(floodway(&tiny(&out, &["-q"])).code, Some(0));
    let folder = out.join("text");
    let shown = folder.display();
    let path = folder.join("sample.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let sample: Value = serde_json::from_str(&text).unwrap();
    let runs = sample["runs"].as_array().unwrap();
    let experiments: BTreeSet<_> =
        runs.iter().map(|run| run["experiment"].as_str().unwrap()).collect();
    assert_eq!((runs.len(), experiments.len()), (12, 12));
    // Each is a run of an experiment, as its manifest has it.
    for run in runs {
        let manifest = common::manifest(&out.join(run["experiment"].as_str().unwrap())).unwrap();
        let kept = manifest["runs"].as_array().unwrap().iter();
        let mut kept = kept.filter(|kept| {
            kept["variant"] == run["variant"] && kept["replication"] == run["replication"]
        });
        let kept = kept.next().unwrap();
        assert_eq!(kept["hops"], run["packet_hops"]);
        assert_eq!(kept["fingerprint"], run["fingerprint"]);
    }

    let (code, said, problem) = verified("ci", &folder);
    assert_eq!((code, problem.as_str()), (Some(0), ""));
    let begin = format!("{shown}: 12 runs are as published, ");
    assert!(said.starts_with(&begin) && said.ends_with(" packet-hops\n"), "{said}");

    let settings = sample["settings"].as_array().unwrap().iter();
    let settings = settings.map(|setting| format!(" --set {}", setting.as_str().unwrap()));
    let version = env!("CARGO_PKG_VERSION");
    let remedy = format!(
        "The results in `{shown}` were published by floodway {version}, and this build of floodway {version} \
         does not reproduce them: run `floodway study ci --quick{}` and replace them with the files that it \
         writes into `text`\n",
        settings.collect::<String>()
    );
    let field = |name: &str| runs[5][name].to_string().replace('"', "");
    let (fingerprint, hops) = (field("fingerprint"), field("packet_hops"));
    let run = format!(
        "experiment `{}`, variant `{}`, replication {}",
        field("experiment"),
        field("variant"),
        field("replication")
    );

    // The file with another line for a run.
    let altered = |at: usize, from: &str, to: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let of_runs = lines.iter_mut().filter(|line| line.contains("packet_hops"));
        let line = of_runs.into_iter().nth(at).unwrap();
        assert!(line.contains(from), "{line}");
        *line = line.replacen(from, to, 1);
        std::fs::write(&path, lines.join("\n")).unwrap();
    };

    // Another fingerprint, another count.
    let other = "0123456789abcdef";
    altered(5, &fingerprint, other);
    let error = format!(
        "error: `{}`: {run} was published with fingerprint `{other}` ({hops} packet-hops), and now has \
         `{fingerprint}` ({hops} packet-hops). {remedy}",
        path.display()
    );
    assert_eq!(verified("ci", &folder), (Some(1), String::new(), error));
    let count = format!("\"packet_hops\":{hops},");
    altered(5, &count, "\"packet_hops\":1,");
    let error = format!(
        "error: `{}`: {run} was published with fingerprint `{fingerprint}` (1 packet-hops), and now has \
         `{fingerprint}` ({hops} packet-hops). {remedy}",
        path.display()
    );
    assert_eq!(verified("ci", &folder), (Some(1), String::new(), error));

    // A run that cannot be repeated.
    let last = runs.iter().rposition(|run| run["replication"] == 1).unwrap();
    altered(last, "\"replication\":1,", "\"replication\":2,");
    let error = format!(
        "error: `{}` lists a run that the study no longer has: experiment {}, variant {}, replication 2. \
         {remedy}",
        path.display(),
        runs[last]["experiment"].to_string().replace('"', "`"),
        runs[last]["variant"].to_string().replace('"', "`")
    );
    assert_eq!(verified("ci", &folder), (Some(1), String::new(), error));

    // A text of other runs.
    let whole = sample["fingerprint"].as_str().unwrap();
    std::fs::write(&path, text.replacen(whole, other, 1)).unwrap();
    let error = format!(
        "error: `{}` does not have the fingerprint of the sample, `{other}`. {remedy}",
        folder.join("README.md").display()
    );
    assert_eq!(verified("ci", &folder), (Some(1), String::new(), error));
}

#[test]
fn a_sample_that_cannot_be_used_is_named_with_cause_and_remedy() {
    let folder = place("study-sample");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("sample.json");
    let error = format!(
        "error: there is no `sample.json` in `{}`, so no run can be compared; give the folder of \
         published results, or publish the study again: `floodway study` writes the file into `text`\n",
        folder.display()
    );
    assert_eq!(verified("ci", &folder), (Some(2), String::new(), error));
    let sample = |study: &str, level: &str, runs: &str| {
        format!(
            "{{\"study\":\"{study}\",\"level\":\"{level}\",\"settings\":[],\"floodway\":\"0.1.0\",\
             \"fingerprint\":\"0123456789abcdef\",\"runs\":[{runs}]}}"
        )
    };
    let run = "{\"experiment\":\"two-queues\",\"variant\":\"ci\",\"replication\":0,\
               \"packet_hops\":1,\"fingerprint\":\"0123456789abcdef\"}";
    let restore = "restore the file that was published, or publish the study again\n";
    for (text, cause) in [
        ("{".to_owned(), "EOF while parsing an object at line 1 column 1"),
        ("{}".to_owned(), "missing field `study` at line 1 column 2"),
        (sample("ci", "quick", ""), "it lists no run"),
        (
            sample("ci", "whole", run),
            "the level is `whole`, and must be `quick`, `standard` or `full`",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = format!("error: cannot read `{}`: {cause}; {restore}", path.display());
        assert_eq!(verified("ci", &folder), (Some(2), String::new(), error));
    }
    std::fs::write(&path, sample("sfc", "quick", run)).unwrap();
    let error = format!(
        "error: `{}` is of the study `sfc`, not of `ci`; name that study, or another folder\n",
        path.display()
    );
    assert_eq!(verified("ci", &folder), (Some(2), String::new(), error));
    std::fs::write(&path, sample("ci", "quick", run)).unwrap();
    let error = format!(
        "error: cannot read `{}`: No such file or directory (os error 2); {restore}",
        folder.join("README.md").display()
    );
    assert_eq!(verified("ci", &folder), (Some(2), String::new(), error));
    let said = floodway(&["study", "ci", "--verify", word(&folder), "--quick"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("the argument '--verify <DIR>' cannot be used with '--quick'"));
}
