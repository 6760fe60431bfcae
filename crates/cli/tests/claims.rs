//! The claims of a scenario: judged after its runs, shown everywhere, and without any effect on them.

use std::fs;

use serde_json::Value;

use crate::common::{floodway, json, manifest, place, scenarios, word};

/// A scenario like `judged.toml` in which a part is replaced, in the folder of the test scenarios.
fn changed(name: &str, from: &str, to: &str) -> std::path::PathBuf {
    let text = fs::read_to_string(scenarios().join("judged.toml")).unwrap();
    assert!(text.contains(from), "{from}");
    let tiny = scenarios().join("tiny.toml");
    let text = text.replacen(from, to, 1).replace("tiny.toml", word(&tiny));
    let folder = place(name);
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("judged.toml");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn claims_are_judged_and_shown() {
    let out = place("claims-run");
    let said = floodway(&["run", "judged.toml", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for line in [
        "C1 ● holds\n    \"Switches with isolation send messages upstream.\" (IEEE 802.1Qcz)\n    messages, with isolation: ",
        "; claimed: some; reproduced\n",
        "    bytes: bytes of all flows, with isolation vs. without: 0.0 %; claimed: the same; reproduced",
        "    mice: mean completion time of mice, with isolation vs. without: ",
        "; shown, not",
        "C3 × does not hold\n",
        "; claimed: at most 1 KB; not reproduced\n",
    ] {
        assert!(said.out.contains(line), "{line}\n{}", said.out);
    }
    // They are the last thing but where the results are.
    let last = said.out.find("C3 ×").unwrap();
    assert!(said.out[last..].contains("\nresults in "), "{}", said.out);

    let summary: Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    let verdicts: Vec<&str> = summary["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| claim["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["holds", "holds", "does not hold"]);
    assert_eq!(summary["claims"][1]["parts"][0]["measured"], 0.0);

    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let contents = page.find("href=\"#claims\"").expect("the contents have it");
    let section = page.find("<section id=\"claims\">").expect("it has a section");
    let main = page.find("<main>").unwrap();
    let first = main + page[main..].find("<section id=").unwrap();
    assert!(contents < section && section == first, "it comes right after the answer");
    assert!(page.contains("All messages are tiny."));
    assert!(page.contains("id=\"claim-C3\""));
}

/// The same runs, to their keys and their fingerprints; those without claims have no section.
#[test]
fn runs_do_not_depend_on_claims() {
    let (with, without) = (place("claims-with"), place("claims-without"));
    for (file, out) in [("judged.toml", &with), ("tiny.toml", &without)] {
        assert_eq!(floodway(&["run", file, "--quiet", "--out", word(out)]).code, Some(0));
    }
    let runs = |of: &std::path::Path| -> Vec<[Value; 3]> {
        let manifest = manifest(of).unwrap();
        let run = |run: &Value| ["key", "fingerprint", "hops"].map(|name| run[name].clone());
        manifest["runs"].as_array().unwrap().iter().map(run).collect()
    };
    assert_eq!(runs(&with), runs(&without));
    assert_eq!(runs(&with).len(), 4);
    let page = fs::read_to_string(without.join("report.html")).unwrap();
    assert!(!page.contains("id=\"claims\""));
    // Of runs that are there already they are judged again.
    let again = json(&["run", "judged.toml", "--resume", "--json", "--out", word(&with)]);
    assert_eq!(again["claims"][2]["verdict"], "does not hold");
}

#[test]
fn what_was_not_run_is_not_judged() {
    let out = place("claims-variant");
    let said = floodway(&["run", "judged.toml", "--variant", "without-ci", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("C1 ○ cannot be judged\n"), "{}", said.out);
    assert!(said.out.contains("C2 ○ cannot be judged\n"), "{}", said.out);
    let why = "with isolation: –; claimed: some; not judged: variant `ci` was not run\n";
    assert!(said.out.contains(why), "{}", said.out);
    // A claim about the variant that was run is judged.
    assert!(said.out.contains("C3 × does not hold\n"), "{}", said.out);
}

#[test]
fn who_insists_gets_a_status() {
    let out = place("claims-insist");
    let said = floodway(&["run", "judged.toml", "--insist", "--quiet", "--out", word(&out)]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{}", said.err);
    let lines: Vec<&str> = said.err.lines().collect();
    assert_eq!(lines.len(), 1, "{}", said.err);
    assert!(
        lines[0].starts_with("error: claim C3 does not hold: Largest message: "),
        "{}",
        said.err
    );
    assert!(out.join("report.html").is_file());

    let file = changed("claims-insist-held", "at_most = 1000", "at_most = 1e9");
    let out = place("claims-insist-held-out");
    let said = floodway(&["run", word(&file), "--insist", "--quiet", "--out", word(&out)]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));

    let said = floodway(&["run", "tiny.toml", "--insist"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("tiny.toml claims nothing; add a [[claim]]"), "{}", said.err);
}

#[test]
fn wrong_claims_are_refused_before_anything_runs() {
    let cases = [
        (
            "max(bytes)",
            "max(byte)",
            "error: this SQL cannot be asked: no such column: byte\n",
            ":44:19\n",
            "tables and columns are in the reference",
        ),
        (
            "of = \"ci\"",
            "of = \"cii\"",
            "error: the scenario has no variant `cii`\n",
            ":17:41\n",
            "did you mean `ci`?",
        ),
        (
            "rule = { none = 1 }",
            "rule = { non = 1 }",
            "error: `claim.1.number.0.rule` has no member `non`\n",
            ":28:10\n",
            "did you mean `none`? The members are: effect, less,",
        ),
        (
            "flows = \"mice\"",
            "flows = \"mouse\"",
            "error: there is no group of flows `mouse`\n",
            ":34:35\n",
            "mice",
        ),
        (
            "id = \"C2\"",
            "id = \"C1\"",
            "error: there are two claims `C1`\n",
            ":20:6\n",
            "each claim has a name of its own",
        ),
        (
            ", from = \"without-ci\", to = \"ci\" }",
            ", from = \"without-ci\" }",
            "error: a measure is `of` one case, or leads `from` one `to` another\n",
            ":29:11\n",
            "write of = \"variant\", or both from and to",
        ),
    ];
    for (case, (from, to, cause, at, remedy)) in cases.into_iter().enumerate() {
        let file = changed(&format!("claims-wrong-{case}"), from, to);
        let out = file.with_file_name("out");
        for words in [&["check", word(&file)][..], &["run", word(&file), "--out", word(&out)]] {
            let said = floodway(words);
            assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{to}: {}", said.err);
            assert!(said.err.contains(cause) && said.err.contains(at), "{to}:\n{}", said.err);
            assert!(said.err.contains(remedy), "{to}:\n{}", said.err);
        }
        assert!(!out.exists());
    }
    let said = floodway(&["check", "judged.toml"]);
    assert!(said.out.contains("judged after the runs: C1, C2, C3\n"), "{}", said.out);
    let checked = json(&["check", "judged.toml", "--json"]);
    assert_eq!(checked["claims"], serde_json::json!(["C1", "C2", "C3"]));
}

#[test]
fn a_sweep_says_that_it_judges_no_claims() {
    let out = place("claims-sweep");
    let words = ["sweep", "judged.toml", "--vary", "seed=1,2", "--no-cache", "--out", word(&out)];
    let said = floodway(&words);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let note = "the claims of the scenario are not judged in a sweep; `floodway run` does that";
    assert!(said.err.contains(note), "{}", said.err);
}
