//! Every command: exit status, standard output, standard error.

use std::fs;

use crate::common::{command, floodway, json, place, word};

#[test]
fn help_and_version_go_to_standard_output() {
    for words in [&["--help"][..], &["run", "--help"], &["help", "check"], &["--version"]] {
        let said = floodway(words);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{words:?}");
        assert!(said.out.contains("floodway"), "{}", said.out);
    }
    assert!(floodway(&["--help"]).out.contains(
        "Exit status:
  0    all went well
  1    a run failed or broke a rule that no sound run breaks, reading or writing failed, or a claim
       does not hold or cannot be judged (`--insist`)
  2    the command line, the scenario or the directory is refused; no results are written
  130  interrupted (Ctrl-C or SIGTERM); what was finished is kept. A second Ctrl-C kills
"
    ));
}

/// What the help says of 2: refused before anything is run, by every command, and nothing is written. What
/// the system refuses is 1.
#[test]
fn refusals_have_the_status_that_the_help_says() {
    let folder = place("refusals");
    let taken = folder.join("taken");
    fs::create_dir_all(&taken).unwrap();
    fs::write(taken.join("scenario.toml"), "mine").unwrap();
    fs::write(taken.join("floodway.1"), "mine").unwrap();
    let (out, file) = (word(&taken), taken.join("scenario.toml"));
    let config = "../../../../scenarios/peers/hpcc-case-b/config.txt";
    let below = file.join("below");
    let cases: [(&[&str], &str, i32); 13] = [
        (&["run", "tiny.toml", "--out", out], "is not empty and not a results directory", 2),
        (&["run", "tiny.toml", "--force", "--out", out], "is not empty", 2),
        (&["run", "tiny.toml", "--out", word(&file)], "is a file; choose a directory", 2),
        (&["run", "tiny.toml", "--resume", "--format", "csv"], "only tables in the format", 2),
        (&["sweep", "swept.toml", "--no-cache", "--out", out], "does not hold a sweep", 2),
        (&["study", "ci", "--quick", "--out", out], "does not hold the study", 2),
        (&["import", "hpcc", config, "--out", out], "is there already", 2),
        (&["new", "a", "--out", out], "is a directory; name a file", 2),
        (&["man", "--out", out], "is there already and no page", 2),
        (&["check", word(&file)], "this is not TOML", 2),
        (&["run", word(&file)], "this is not TOML", 2),
        (&["run", "tiny.toml", "--out", word(&below)], "a part of this path is a file", 1),
        (&["man", "--out", word(&below)], "cannot make the directory", 1),
    ];
    for (words, cause, code) in cases {
        let said = floodway(words);
        assert!(said.err.contains(cause), "{words:?}: {}", said.err);
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{words:?}");
    }
    assert_eq!(fs::read_dir(&taken).unwrap().count(), 2);
}

#[test]
fn wrong_words_are_usage_errors() {
    let cases: [(&[&str], &str); 13] = [
        (&[], "Usage: floodway <COMMAND>"),
        (&["chekc"], "some similar subcommands exist: 'schema', 'check'"),
        (&["stdy"], "a similar subcommand exists: 'study'"),
        (&["import", "hpc"], "some similar subcommands exist: 'pcap', 'hpcc'"),
        (&["run", "tiny.toml", "--quik"], "a similar argument exists: '--quick'"),
        (&["run", "tiny.toml", "--format", "parket"], "a similar value exists: 'parquet'"),
        (&["study", "shortrange"], "did you mean `short-range`?"),
        (&["new", "a", "--template", "fattree"], "a similar value exists: 'fat-tree'"),
        (&["completions", "bsh"], "a similar value exists: 'bash'"),
        (&["run"], "<FILE>"),
        (&["run", "tiny.toml", "--threads", "0"], "0 is not in 1..=65535"),
        (&["run", "tiny.toml", "--replications", "0"], "0 is not in 1..=4294967295"),
        (&["bench", "ci-1125"], "a similar value exists: 'ci-1152'"),
    ];
    for (words, expected) in cases {
        let said = floodway(words);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(said.err.contains(expected), "{words:?}: {}", said.err);
    }
}

#[test]
fn wrong_scenarios_are_told_with_place_cause_and_remedy() {
    let cases: [(&[&str], &str); 10] = [
        (
            &["check", "../scenaros/tiny.tml"],
            "\
error: there is no such file
--> ../scenaros/tiny.tml
 = help: did you mean `../scenarios/tiny.toml`?
",
        ),
        (
            &["check", "nothing.toml"],
            "\
error: there is no such file
--> nothing.toml
 = help: check the path
",
        ),
        (
            &["import", "hpcc", "../../../../scenarios/peers/hpcc-case-b/confg.txt"],
            "\
error: there is no such file
--> ../../../../scenarios/peers/hpcc-case-b/confg.txt
 = help: did you mean `../../../../scenarios/peers/hpcc-case-b/config.txt`?
",
        ),
        (
            &["run", "tiny.toml", "--set", "switch.aqm=rmp"],
            "\
error: `switch.aqm` has no member `rmp`
 --> --set:1:12
  |
1 | switch.aqm=rmp
  |            ^^^
  = help: did you mean `ramp`? The members are: drop_tail, ramp, step, red, codel, pie, bernoulli, regular, blue, coupled, pi2, dualq, curvy_red, dualpi2, avq
",
        ),
        (
            &["run", "tiny.toml", "--set", "switch.queue.size=2mb"],
            "\
error: `switch.queue.size`: unknown unit \"mb\" in \"2mb\": a size takes B, KB, MB, GB, TB, KiB, MiB, GiB
 --> --set:1:19
  |
1 | switch.queue.size=2mb
  |                   ^^^
  = help: did you mean the unit `MB`?
",
        ),
        (
            &["run", "tiny.toml", "--set", "variants.cii.limit=1ms"],
            "\
error: the scenario has no variant `cii`
 --> --set:1:10
  |
1 | variants.cii.limit=1ms
  |          ^^^
  = help: did you mean `ci`? The variants are: without-ci, ci
",
        ),
        (
            &["check", "tinny.toml"],
            "\
error: there is no such file
--> tinny.toml
 = help: did you mean `tiny.toml`?
",
        ),
        (
            &["run", "tiny.toml", "--set", "switch.queue.sice=2MB"],
            "\
error: `switch.queue` has no field `sice`
 --> --set:1:14
  |
1 | switch.queue.sice=2MB
  |              ^^^^
  = help: did you mean `size`? The fields are: count, size, control_size, discipline
",
        ),
        (
            &["run", "tiny.toml", "--variant", "cii"],
            "\
error: the scenario `tiny` has no variant `cii`
 --> --variant:1:1
  |
1 | cii
  | ^^^
  = help: did you mean `ci`? The variants are: without-ci, ci
",
        ),
        (
            &["run", "."],
            "\
error: this is a directory, not a scenario file
--> .
 = help: name a file in it, for example `./endless.toml`
",
        ),
    ];
    for (words, expected) in cases {
        let said = floodway(words);
        assert_eq!(said.err, expected);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{words:?}");
    }
}

#[test]
fn check_shows_what_follows_from_the_scenario() {
    let said = floodway(&["check", "tiny.toml", "--set", "workload.0.many_to_many.load=0.4"]);
    assert_eq!(said.code, Some(0));
    // PFC pauses at 200 KB, and marks have their largest probability from 300 KB on: this is as in the deck.
    let found: Vec<&str> = said.err.lines().filter(|line| line.starts_with("warning")).collect();
    assert_eq!(found.len(), 1, "{}", said.err);
    assert!(found[0].starts_with("warning: [pauses-before-full-marks] the port to host 0"));
    let row = |label: &str| said.out.lines().find(|line| line.starts_with(label)).unwrap();
    assert_eq!(said.out.lines().next(), Some("tiny: 2 variants x 2 replications = 4 runs"));
    assert_eq!(row("hosts").split_whitespace().collect::<Vec<_>>(), ["hosts", "8", "8"]);
    assert_eq!(row("host load, payload").matches("40.0 %").count(), 2, "{}", said.out);
}

#[test]
fn check_as_json_has_numbers_and_warnings() {
    let value = json(&["check", "tiny.toml", "--variant", "ci", "--quick", "--json"]);
    assert_eq!(value["scenario"], "tiny");
    assert_eq!(value["replications"], 1);
    assert_eq!(value["variants"].as_array().map(Vec::len), Some(1));
    assert_eq!(value["variants"][0]["name"], "ci");
    assert_eq!(value["variants"][0]["hosts"], 8);
    assert_eq!(value["warnings"], serde_json::json!([]));

    let value = json(&["check", "lossy.toml", "--json"]);
    let warnings = value["warnings"].as_array().unwrap();
    let headroom = warnings.iter().find(|warning| {
        warning["message"].as_str().unwrap().starts_with("the headroom above XOFF is 10KB")
    });
    let headroom = headroom.unwrap_or_else(|| panic!("{value:#}"));
    assert_eq!((&headroom["source"], &headroom["line"]), (&"lossy.toml".into(), &14.into()));
}

#[test]
fn list_shows_families_and_their_members() {
    let said = floodway(&["list", "switch.aqm"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_eq!(said.out.lines().next(), Some("switch.aqm"));
    assert!(said.out.contains("\n  drop_tail     Takes everything until the queue is full.\n"));

    let all = json(&["list", "--json"]);
    let all = all.as_array().unwrap();
    for entry in all {
        let keys: Vec<_> = entry.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["family", "name", "summary"]);
    }
    let names = |family| all.iter().filter(move |entry| entry["family"] == family).count();
    assert!(names("topology") >= 2 && names("switch.flow_control") >= 2 && names("format") == 2);
    let part = json(&["list", "host", "--json"]);
    let of_hosts = [
        "host.transport",
        "host.transport.rocev2.recovery",
        "host.congestion",
        "host.congestion.dcqcn.preset",
        "host.transport.tcp.preset",
    ];
    assert_eq!(part.as_array().unwrap().len(), of_hosts.map(names).iter().sum::<usize>());
}

#[test]
fn an_unknown_family_gets_a_suggestion() {
    for wrong in ["aqm", "switch.aqn"] {
        let said = floodway(&["list", wrong]);
        assert_eq!(
            said.err,
            format!("error: there is no family `{wrong}`; did you mean `switch.aqm`?\n")
        );
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    }
    for (wrong, remedy) in [
        ("swich", "did you mean `switch`?"),
        ("topologies", "did you mean `topology`?"),
        ("flow_contrl", "did you mean `switch.flow_control`?"),
        ("pfc", "`pfc` is a member of `switch.flow_control`: floodway list switch.flow_control"),
        (
            "dcqn",
            "did you mean `dcqcn`? `dcqcn` is a member of `host.congestion`: floodway list \
             host.congestion",
        ),
    ] {
        let said = floodway(&["list", wrong]);
        assert_eq!(said.err, format!("error: there is no family `{wrong}`; {remedy}\n"));
    }
    let said = floodway(&["list", "zzz"]);
    assert!(said.err.starts_with("error: there is no family `zzz`; the families are topology, "));
}

#[test]
fn bench_prints_what_it_measured() {
    let words = ["bench", "incast", "--quick", "--json", "--threads", "1", "--threads", "2"];
    let value = json(&words);
    let rows = value.as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (row, threads) in rows.iter().zip([1, 2]) {
        assert_eq!((&row["case"], &row["threads"]), (&"incast".into(), &threads.into()));
        assert!(row["hops"].as_u64().unwrap() > 1_000_000);
        assert!(row["hops_per_second"].as_f64().unwrap() > 0.0);
        let calibration = &row["calibration"];
        assert!(calibration["multiply_add_ns"].as_f64().unwrap() > 0.0);
        let sizes = calibration["loads"]
            .as_array()
            .unwrap()
            .iter()
            .map(|load| load["bytes"].as_u64().unwrap());
        assert_eq!(sizes.collect::<Vec<_>>(), [32 << 10, 512 << 10, 4 << 20, 64 << 20]);
        if cfg!(target_os = "linux") {
            assert!(row["peak_rss_bytes"].as_u64().unwrap() > 1_000_000);
        }
    }
    assert_eq!(rows[0]["fingerprint"], rows[1]["fingerprint"]);

    let said = floodway(&["bench", "incast", "--quick", "--threads", "1"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let lines: Vec<_> = said.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", said.out);
    assert!(lines[3].starts_with("Beside these runs, a multiply-add took "), "{}", said.out);

    // Where instructions are counted, none are spent on it.
    let words = ["bench", "incast", "--brief", "--json", "--threads", "1"];
    assert!(json(&words)[0]["calibration"].is_null());
}

/// What takes minutes does not begin.
#[test]
fn bench_measures_no_curves_that_cannot_be_written() {
    let folder = place("curves");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    let said = floodway(&["bench", "--curves", "--quick", "--out", word(&file.join("below"))]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.starts_with("error: cannot make the folder of the text"), "{}", said.err);
}

#[test]
fn bench_measures_beside_a_neighbor() {
    let words = ["bench", "incast", "--quick", "--json", "--threads", "1", "--neighbor"];
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() < 2) {
        assert!(floodway(&words).err.contains("the only core that this machine has"));
        return;
    }
    let (beside, alone) = (json(&words), json(&words[..6]));
    assert_eq!((&beside[0]["neighbor"], &alone[0]["neighbor"]), (&true.into(), &false.into()));
    assert_eq!(beside[0]["fingerprint"], alone[0]["fingerprint"]);
    assert!(beside[0]["calibration"]["multiply_add_ns"].as_f64().unwrap() > 0.0);
}

#[test]
fn processes_of_a_measurement_end_with_what_started_them() {
    // Their standard input has ended. The measurement would take half a minute.
    let measurement = ["bench", "ci-1152", "--threads", "1", "--json", "--until-input-ends"];
    for words in [&["bench", "--be-neighbor"][..], &measurement] {
        let output = command(words).stdin(std::process::Stdio::null()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]));
    }
}

#[test]
fn the_reference_has_its_three_parts() {
    let said = floodway(&["reference"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for part in [
        "\n### floodway run\n",
        "\n#### `switch.aqm.ramp`\n",
        "\n### flows\n",
        "| `xoff` | size | XOFF threshold: occupancy in bytes above which the neighbor is paused; not used with `ingress_pool`. Default 750KB ",
        "| `leaves` | whole number | Leaf switches. **Required.** |",
    ] {
        assert!(said.out.contains(part), "{part}");
    }
}

#[test]
fn a_case_can_be_changed() {
    let hops = |limit| {
        let words = ["bench", "plain-128", "--brief", "--json", "--threads", "1", "--set", limit];
        json(&words)[0]["hops"].as_u64().unwrap() as f64
    };
    // Pairs at a constant rate: half the time is half the work, but for the first packets' way.
    let (half, whole) = (hops("limit=60us"), hops("limit=120us"));
    assert!((half / whole - 0.5).abs() < 0.01, "{half} of {whole}");
}
