//! An import never writes over what it reads.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, command, floodway, place, said, word};

const CONFIG: &str = "\
TOPOLOGY_FILE scenario.toml
FLOW_FILE flow.txt
SIMULATOR_STOP_TIME 2.4
CC_MODE 3
RATE_AI 50Mb/s
L2_ACK_INTERVAL 1
KMAX_MAP 1 100000000000 1600
KMIN_MAP 1 100000000000 400
PMAX_MAP 1 100000000000 0.2
";

const TOPOLOGY: &str = "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n";

/// The second flow starts after the stop, so that the file that is written says something else.
const FLOWS: &str = "2\n0 1 3 100 5000 2\n0 1 3 100 5000 2.5\n";

/// A folder with a configuration and what it names.
fn inputs(test: &str) -> PathBuf {
    let folder = place(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("config.txt", CONFIG), ("scenario.toml", TOPOLOGY), ("flow.txt", FLOWS)] {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

/// Imports the configuration with `--force` into a folder; what is refused.
fn refused(folder: &Path, out: &Path) -> String {
    let config = folder.join("config.txt");
    let said = floodway(&["import", "hpcc", word(&config), "--force", "--out", word(out)]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
    for (name, text) in [("config.txt", CONFIG), ("scenario.toml", TOPOLOGY), ("flow.txt", FLOWS)] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text, "{name}");
    }
    said.err
}

#[test]
fn inputs_are_never_written_over() {
    let folder = inputs("import-over-inputs");
    // Another name of the same folder.
    for out in [folder.clone(), folder.join("../import-over-inputs")] {
        let error = format!(
            "error: {} is read by this import, and would be written over; name another directory \
             with --out\n",
            out.join("scenario.toml").display()
        );
        assert_eq!(refused(&folder, &out), error);
    }
}

#[test]
fn flows_that_are_left_out_stay_in_the_file_that_was_read() {
    let folder = inputs("import-over-flows");
    let config = CONFIG.replace("scenario.toml", "topology.txt");
    fs::write(folder.join("topology.txt"), TOPOLOGY).unwrap();
    fs::write(folder.join("other.txt"), config).unwrap();
    fs::remove_file(folder.join("scenario.toml")).unwrap();
    let other = folder.join("other.txt");
    let words = ["import", "hpcc", word(&other), "--force", "--out", word(&folder)];
    let said = floodway(&words);
    let error = format!(
        "error: {} is read by this import, and would be written over; name another directory with \
         --out\n",
        folder.join("flow.txt").display()
    );
    assert_eq!((said.code, said.err), (Some(2), error));
    assert_eq!(fs::read_to_string(folder.join("flow.txt")).unwrap(), FLOWS);
    assert!(!folder.join("scenario.toml").exists());
}

#[test]
fn an_input_with_the_name_of_the_scenario_gets_another() {
    let folder = inputs("import-names");
    // Scenarios have names that do not begin with a point.
    let out = folder.join(".out");
    let config = folder.join("config.txt");
    let said = floodway(&["import", "hpcc", word(&config), "--out", word(&out)]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_eq!(fs::read_to_string(out.join("topology-scenario.toml")).unwrap(), TOPOLOGY);
    let scenario = fs::read_to_string(out.join("scenario.toml")).unwrap();
    assert!(scenario.contains("\nname = \"out\"\n"), "{scenario}");
    assert!(scenario.contains("\npath = \"topology-scenario.toml\" "), "{scenario}");
}

/// A scenario without the files that it needs would look whole.
#[test]
#[cfg(unix)]
fn the_scenario_is_written_last() {
    let folder = inputs("import-cut");
    let config = CONFIG.replace("scenario.toml", "topology.txt");
    fs::write(folder.join("config.txt"), config).unwrap();
    // It has 40 kB, and the scenario and the flows have less than 8 kB.
    let topology = TOPOLOGY.replacen('\n', &format!("\n{}", " ".repeat(40_000)), 1);
    fs::write(folder.join("topology.txt"), &topology).unwrap();
    let out = folder.join("out");
    // Units of 512 or 1024 bytes, by the shell.
    let limited = "trap '' XFSZ; ulimit -f 20; exec \"$@\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", limited, "sh"]).arg(command(&[]).get_program());
    shell.args(["import", "hpcc", word(&folder.join("config.txt")), "--out", word(&out)]);
    let said = said(shell.output().unwrap());
    let begin = format!("error: cannot write the scenario at `{}", out.display());
    assert!(said.code == Some(1) && said.err.contains(&begin), "{}", said.err);
    assert!(!out.join("scenario.toml").exists());
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);

    // In the place of an earlier import: all of it stays.
    fs::write(folder.join("topology.txt"), TOPOLOGY).unwrap();
    let config = folder.join("config.txt");
    let words = ["import", "hpcc", word(&config), "--force", "--out", word(&out)];
    assert_eq!(floodway(&words).code, Some(0));
    let texts = || {
        let names = ["scenario.toml", "flow.txt", "topology.txt"];
        names.map(|name| fs::read_to_string(out.join(name)).unwrap())
    };
    let before = texts();
    fs::write(folder.join("topology.txt"), &topology).unwrap();
    fs::write(folder.join("flow.txt"), FLOWS.replace("5000 2\n", "6000 2\n")).unwrap();
    fs::write(&config, fs::read_to_string(&config).unwrap().replace("0.2\n", "0.3\n")).unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", limited, "sh"]).arg(command(&[]).get_program()).args(words);
    assert_eq!(common::said(shell.output().unwrap()).code, Some(1));
    assert_eq!(texts(), before);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3);
    // With nothing in the way all of it is new.
    assert_eq!(floodway(&words).code, Some(0));
    assert!(texts().iter().zip(&before).all(|(new, old)| new != old));
}

#[test]
fn a_directory_that_cannot_be_made_is_named_with_a_remedy() {
    let folder = inputs("import-no-directory");
    let config = folder.join("config.txt");
    let out = folder.join("flow.txt/out");
    let error = format!(
        "error: cannot make the directory at `{}`: a part of this path is a file, not a directory; \
         rename that file, or use another directory: `--out DIR`\n",
        out.display()
    );
    let file = out.join("a.toml");
    for words in [
        vec!["import", "hpcc", word(&config), "--out", word(&out)],
        vec!["man", "--out", word(&out)],
        vec!["new", "a", "--out", word(&file)],
    ] {
        let said = floodway(&words);
        assert_eq!((said.code, said.err.as_str()), (Some(1), error.as_str()), "{words:?}");
    }
}

/// A fabric is imported, a value is changed, and the patch says so; without changes there is none.
#[test]
fn switches_there_and_back() {
    let fabric = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario/tests/sonic/fabric");
    let folder = place("sonic");
    let _ = fs::remove_dir_all(&folder);
    let (out, patches) = (folder.join("imported"), folder.join("patches"));
    let said = floodway(&["import", "sonic", word(&fabric), "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for line in [
        "Taken over\n",
        "Differs\n",
        "Has no counterpart, or no effect\n",
        "117 fields were read\n",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    let scenario = out.join("scenario.toml");
    let export = ["export", "sonic", word(&scenario), word(&fabric), "--out", word(&patches)];
    let said = floodway(&export);
    let nothing = "leaf-1: 0 changes\nspine-1: 0 changes\n";
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), nothing, ""));
    assert!(!patches.exists());
    let text = fs::read_to_string(&scenario).unwrap();
    fs::write(&scenario, text.replace("kmin = \"100000B\"", "kmin = \"150000B\"")).unwrap();
    let said = floodway(&export);
    let file = patches.join("leaf-1.patch.json");
    let expected = format!(
        "leaf-1: 1 change\n  replace  /WRED_PROFILE/LOSSLESS/green_min_threshold  100000 -> 150000\n\
         spine-1: 0 changes\n{}: apply it with `config apply-patch`\n",
        file.display()
    );
    assert_eq!((said.code, said.out), (Some(0), expected));
    let patch: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let operation = serde_json::json!([{
        "op": "replace",
        "path": "/WRED_PROFILE/LOSSLESS/green_min_threshold",
        "value": "150000",
    }]);
    assert_eq!(patch, operation);
    let said = floodway(&export);
    assert!(said.code == Some(2) && said.err.contains("is there already"), "{}", said.err);
}

/// A forgotten switch is named, and the rest is checked; a directory without anything says what is expected.
#[test]
fn what_is_missing_among_configurations_is_told() {
    let fabric = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario/tests/sonic/fabric");
    let folder = place("sonic-missing");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("leaf")).unwrap();
    let config = folder.join("leaf/config_db.json");
    fs::copy(fabric.join("leaf/config_db.json"), &config).unwrap();
    let note = format!(
        "note: the configuration of spine-1 is missing (Ethernet8 of leaf-1 leads there: {}:11); lint compares both ends \
         of a link only where both are read, and hosts stand in their place: add it\n",
        config.display()
    );
    let said = floodway(&["check", word(&folder)]);
    assert!(said.code == Some(0) && said.err.contains(&note), "{}", said.err);
    let found = common::json(&["check", word(&folder), "--json"]);
    assert_eq!(found["notes"].as_array().unwrap().len(), 1);
    let imported = folder.join("imported");
    let said = floodway(&["import", "sonic", word(&folder), "--out", word(&imported)]);
    assert!(said.code == Some(0) && said.err.contains(&note), "{}", said.err);

    let rate = ["import", "sonic", word(&folder), "--out", word(&imported), "--rate", "0Gbps"];
    let said = floodway(&rate);
    let error = "error: ports without a speed in `PORT` would have 0bps, and send nothing\n--> --rate\n = help: write a \
                 rate above zero, like --rate 100Gbps\n";
    assert_eq!((said.code, said.err.as_str()), (Some(2), error));

    let empty = folder.join("empty");
    fs::create_dir_all(&empty).unwrap();
    let said = floodway(&["check", word(&empty)]);
    let error = format!(
        "error: {} has neither scenarios nor configurations of switches; name a scenario file, which ends in .toml, or a \
         directory with config_db.json or with a directory for each switch\n",
        empty.display()
    );
    assert_eq!((said.code, said.err), (Some(2), error));
}
