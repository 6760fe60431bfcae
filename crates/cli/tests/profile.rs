//! `floodway profile`, and what scenarios with device profiles say of their evidence.

use std::fs;
use std::path::Path;

use crate::common::pages::blocks;
use crate::common::{floodway, json, manifest, place, word};

#[test]
fn profiles_are_listed_shown_and_saved() {
    let list = floodway(&["profile"]).out;
    for name in ["arista-7260cx3", "mellanox-sn2700", "connectx-6-dx"] {
        let line = list.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        assert!(line.contains("assumed"), "{line}");
    }
    let all = json(&["profile", "--json"]);
    assert_eq!(all.as_array().unwrap().len() + 3, list.lines().count());

    let shown = floodway(&["profile", "arista-7260cx3"]).out;
    let cell = "  switch.cell = 208B\n      vendor table: sonic-net/sonic-mgmt, ";
    assert!(shown.contains(cell), "{shown}");
    assert!(shown.contains("  switch.latency = 450ns\n      assumed: "), "{shown}");
    let value = &json(&["profile", "arista-7260cx3", "--json"])["values"][1];
    assert_eq!(value["path"], "switch.latency");
    assert_eq!((&value["evidence"], &value["range"][1]), (&"assumed".into(), &"800ns".into()));

    // A copy is a profile, too, and is not replaced by accident.
    let folder = place("profiles");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mine.toml");
    let save = ["profile", "arista-7260cx3", "--save", word(&file)];
    let said = floodway(&save);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_eq!(floodway(&["profile", word(&file)]).out, shown);
    let unnamed = floodway(&["profile", "arista-7260cx3", "--save", "mine"]);
    assert_eq!(unnamed.code, Some(2));
    assert!(unnamed.err.contains("ends in .toml; write --save mine.toml"), "{}", unnamed.err);
    let again = floodway(&save);
    assert_eq!(again.code, Some(2));
    assert!(
        again.err.contains("is there already") && again.err.contains("--force"),
        "{}",
        again.err
    );
    assert_eq!(floodway(&[&save[..], &["--force"]].concat()).code, Some(0));

    let unknown = floodway(&["profile", "arista-7260"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("did you mean `arista-7260cx3`?"), "{}", unknown.err);
    let unknown = floodway(&["import", "sonic", "nowhere", "--profile", "connectx-7"]);
    assert!(
        unknown.err.contains("there is no profile of a switch `connectx-7`"),
        "{}",
        unknown.err
    );
}

/// A profile of one's own is checked as a scenario would check it.
#[test]
fn values_that_no_scenario_takes_are_refused() {
    let folder = place("profiles-refused");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("own.toml");
    let text = "model = \"X\"\nsummary = \"a switch\"\nrates = [\"100Gbps\"]\n[[value]]\npath = \"switch.latency\"\n\
                value = \"450 parsecs\"\nevidence = \"assumed\"\nsource = \"x\"\n";
    fs::write(&file, text).unwrap();
    let said = floodway(&["profile", word(&file)]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    let help =
        "help: add what it describes, a switch or a NIC: device = \"switch\" or device = \"nic\"";
    assert!(
        said.err.contains("a profile needs the field `device`") && said.err.contains(help),
        "{}",
        said.err
    );
    fs::write(&file, format!("device = \"switch\"\n{text}")).unwrap();
    let said = floodway(&["profile", word(&file)]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    let place = format!("--> {}:7:9\n", file.display());
    assert!(
        said.err.contains("unknown unit \"parsecs\"") && said.err.contains(&place),
        "{}",
        said.err
    );
    fs::write(&file, format!("device = \"switch\"\n{}", text.replace(" parsecs", "ns"))).unwrap();
    let said = floodway(&["profile", word(&file)]);
    assert!(said.code == Some(0) && said.out.contains("switch.latency = 450ns"), "{}", said.err);
}

/// The examples of the page: a scenario, variants to add to it, and a profile.
#[test]
fn the_page_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/profiles.md")).unwrap();
    let [scenario, variants, profile] = blocks(&page, "toml")[..] else { panic!("three examples") };
    let folder = place("profiles-page");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("rack.toml");
    fs::write(&file, format!("{scenario}\n{variants}")).unwrap();
    let said = floodway(&["check", word(&file)]).out;
    assert!(said.contains("of tomahawk-2:\n") && said.contains("of tomahawk-3:\n"), "{said}");
    // The text of the page, whose lines are wrapped and whose list is cut.
    fs::write(&file, scenario).unwrap();
    let said = floodway(&["check", word(&file)]).out;
    let shown = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let shown = shown.replace("\n  ", " ");
    for line in shown.lines() {
        assert!(said.contains(line.trim_end_matches('…')), "{line}\n{said}");
    }
    let own = folder.join("my-switch.toml");
    fs::write(&own, profile).unwrap();
    let scenario = scenario.replace("arista-7260cx3", "my-switch.toml");
    fs::write(&file, scenario).unwrap();
    let checked = json(&["check", word(&file), "--json"]);
    let values = checked["variants"][0]["basis"]["values"].as_array().unwrap();
    assert_eq!(values[0]["evidence"], "measured");
}

#[test]
fn results_say_what_is_assumed() {
    let folder = place("profiles-run");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("rack.toml");
    let text = "name = \"rack\"\nprofile = [\"arista-7260cx3\", \"connectx-6-dx\"]\narrivals = \"1us\"\n\
                limit = \"10ms\"\n[topology.star]\nhosts = 3\nrate = \"25Gbps\"\n[[workload]]\n\
                [workload.incast]\nsenders = 2\nbytes = \"10KB\"\n";
    fs::write(&file, text).unwrap();
    let out = folder.join("results");
    let said = floodway(&["run", word(&file), "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    assert!(
        words.join(" ").contains("6 of 39 values of device profiles are assumed"),
        "{}",
        said.out
    );
    // The switch has no ports of 25 Gb/s, the NIC has.
    let warning = "a switch has links of 25Gbps, and arista-7260cx3 has ports of 40Gbps, 100Gbps";
    assert!(said.err.contains(warning) && !said.err.contains("a host has links"), "{}", said.err);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("id=\"device-profiles\"") && page.contains("qos_params.th2.yaml"));
    let manifest = manifest(&out).unwrap();
    assert_eq!(manifest["scenario"]["profile_values"].as_array().unwrap().len(), 39);
}
