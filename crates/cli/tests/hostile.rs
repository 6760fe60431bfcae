//! Text of others reaches the terminal without control characters, whichever command prints it and
//! wherever it is from; and what has no end is not read.

use std::fs;
use std::path::PathBuf;

use crate::common::{Said, command, floodway, manifest, place, said, word};

/// Sets the title, clears the screen (with ESC and with the CSI of C1), reverses the direction of
/// reading, colors and conceals.
const HOSTILE: &str = "a\x1b]0;PWNED\x07\u{9b}2J\u{202e}\u{2066}\x7f\r\x1b[35m\x1b[8mb";

/// The same as TOML and JSON can say it.
const ESCAPED: &str = r"a\u001b]0;PWNED\u0007\u009b2J\u202e\u2066\u007f\r\u001b[35m\u001b[8mb";

const SCENARIO: &str = r#"
name = "hostile"
question = "QUESTION"
arrivals = "20us"
limit = "2ms"
[topology.star]
hosts = 4
[[workload]]
name = "WORKLOAD"
[workload.incast]
senders = 2
bytes = "20KB"
[host.congestion.line_rate]
[variants.VARIANT]
"#;

/// A folder with a scenario in which some words are replaced.
fn scenario(name: &str, words: [&str; 3]) -> (PathBuf, PathBuf) {
    let folder = place(name);
    fs::create_dir_all(&folder).unwrap();
    let [question, workload, variant] = words;
    let text = SCENARIO.replace("QUESTION", question).replace("WORKLOAD", workload);
    let text = text.replace("VARIANT", variant);
    let file = folder.join("s.toml");
    fs::write(&file, text).unwrap();
    (folder, file)
}

/// No control character but line feeds and tabs, and in color nothing but the program's own.
fn assert_printable(said: &Said, is_colored: bool, what: &[&str]) {
    for text in [&said.out, &said.err] {
        let mut text = text.clone();
        if is_colored {
            for code in ["0", "1", "2", "31", "32", "33", "1;31", "1;33", "1;36"] {
                text = text.replace(&format!("\x1b[{code}m"), "");
            }
        }
        let is_foreign = |c: char| {
            let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            reorders || c.is_control() && c != '\n' && c != '\t'
        };
        assert!(!text.contains(is_foreign), "{what:?}: {text:?}");
    }
}

/// Runs a command without and with colors.
fn is_printable(words: &[&str]) -> Said {
    let colored = said(command(words).env("CLICOLOR_FORCE", "1").output().unwrap());
    assert_printable(&colored, true, words);
    let plain = floodway(words);
    assert_printable(&plain, false, words);
    plain
}

#[test]
fn arguments_of_every_command() {
    let (folder, file) = scenario("hostile-arguments", ["-", "w", "v"]);
    let (file, out) = (word(&file), folder.join(HOSTILE));
    let set = format!("{HOSTILE}={HOSTILE}");
    let value = format!("switch.queue.size={HOSTILE}");
    for command in ["check", "run", "sweep"] {
        is_printable(&[command, HOSTILE]);
        is_printable(&[command, file, HOSTILE]);
        is_printable(&[command, file, &format!("--{HOSTILE}")]);
        is_printable(&[command, file, "--set", &set]);
        is_printable(&[command, file, "--set", &value]);
        is_printable(&[command, file, "--variant", HOSTILE]);
    }
    let seen = is_printable(&["run", file, "--out", word(&out), "--force"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    assert!(seen.out.contains(r"a\u{1b}]0;PWNED\u{7}\u{9b}2J\u{202e}"), "{}", seen.out);
    is_printable(&["run", file, "--threads", HOSTILE]);
    is_printable(&["run", file, "--format", HOSTILE]);
    is_printable(&["run", file, "--trace", HOSTILE]);
    let vary = "switch.queue.size=1MB,2MB";
    is_printable(&["sweep", file, "--vary", HOSTILE]);
    is_printable(&["sweep", file, "--vary", &set]);
    let sweep_out = folder.join(format!("{HOSTILE}-sweep"));
    let sweep = ["sweep", file, "--vary", vary, "--no-cache", "--out", word(&sweep_out)];
    is_printable(&[&sweep[..], &["--until", HOSTILE]].concat());
    is_printable(&[&sweep[..], &["--reference", &set]].concat());
    is_printable(&[&sweep[..], &["--metric", HOSTILE]].concat());
    is_printable(&["sweep", file, "--vary", vary, "--plan", "--set", "seed=3"]);
    is_printable(&["study", HOSTILE]);
    is_printable(&["study", "ci", "--quick", "--set", &set, "--out", word(&out)]);
    is_printable(&["study", "ci", "--quick", "--plan", "--set", &set]);
    is_printable(&["list", HOSTILE]);
    is_printable(&["new", HOSTILE]);
    is_printable(&["new", "a", "--out", word(&out)]);
    is_printable(&["new", "a", "--template", HOSTILE]);
    is_printable(&["import", HOSTILE]);
    is_printable(&["import", "hpcc", HOSTILE]);
    is_printable(&["bench", HOSTILE]);
    is_printable(&["completions", HOSTILE]);
    is_printable(&["man", "--out", file]);
    is_printable(&[HOSTILE]);
}

/// A line feed in a path does not begin a line of its own, in which anything could be said.
#[test]
#[cfg(unix)]
fn paths_with_line_feeds_forge_no_lines() {
    let (folder, file) = scenario("hostile-lines", ["-", "w", "v"]);
    let (file, lines) = (word(&file), "a\nerror: forged\x1b[2J\nforged");
    let place = |name: &str| folder.join(name).join(lines);
    let shown = r"a\u{a}error: forged\u{1b}[2J\u{a}forged";
    let is_one_line = |words: &[&str], code: i32| {
        let seen = is_printable(words);
        assert_eq!(seen.code, Some(code), "{words:?}: {}", seen.err);
        let both = seen.out + &seen.err;
        assert!(both.contains(shown), "{words:?}: {both}");
        let forged = |line: &str| line.starts_with("error: forged") || line.starts_with("forged");
        assert!(!both.lines().any(forged), "{words:?}: {both}");
    };
    let out = place("run");
    let run = ["run", file, "--out", word(&out), "--trace", "perfetto", "--force"];
    is_one_line(&run, 0);
    is_one_line(&["run", file, "--out", word(&out)], 2);
    let [sweep, cache] = ["sweep", "cache"].map(place);
    let words = ["sweep", file, "--vary", "switch.queue.size=1MB,2MB", "--cache", word(&cache)];
    let words = [&words[..], &["--out", word(&sweep)]].concat();
    is_one_line(&words, 0);
    let copy = place("hostile-file").with_extension("toml");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::copy(file, &copy).unwrap();
    let plan = ["sweep", word(&copy), "--vary", "switch.queue.size=1MB,2MB", "--plan"];
    is_one_line(&plan, 0);
    let occupied = place("hostile-occupied");
    fs::create_dir_all(&occupied).unwrap();
    fs::write(occupied.join("thesis.txt"), "mine").unwrap();
    for words in [
        &["run", file][..],
        &["sweep", file, "--vary", "switch.queue.size=1MB,2MB", "--no-cache"],
        &["study", "ci", "--quick"],
        &["new", "a"],
    ] {
        is_one_line(&[words, &["--out", word(&occupied)]].concat(), 2);
    }
    let new = place("new");
    is_one_line(&["new", "a", "--force", "--out", word(&new)], 0);
    is_one_line(&["new", "a", "--out", word(&new)], 2);
    let man = place("man");
    is_one_line(&["man", "--out", word(&man)], 0);
    let config = "../../../../scenarios/peers/hpcc-case-b/config.txt";
    let import = place("import");
    is_one_line(&["import", "hpcc", config, "--out", word(&import)], 0);
    fs::write(import.join("scenario.toml"), "mine").unwrap();
    is_one_line(&["import", "hpcc", config, "--out", word(&import)], 2);
}

#[test]
fn texts_of_files() {
    for (number, words) in
        [[HOSTILE, "w", "v"], ["-", HOSTILE, "v"], ["-", "w", HOSTILE]].into_iter().enumerate()
    {
        let (_, file) = scenario(&format!("hostile-raw-{number}"), words);
        for command in ["check", "run", "sweep"] {
            let seen = is_printable(&[command, word(&file)]);
            assert_eq!(seen.code, Some(2), "{}", seen.err);
        }
    }
    let quoted = format!("\"{ESCAPED}\"");
    for (number, words) in [["-", ESCAPED, "v"], ["-", "w", &*quoted]].into_iter().enumerate() {
        let (_, file) = scenario(&format!("hostile-name-{number}"), words);
        let seen = is_printable(&["check", word(&file)]);
        assert_eq!(seen.code, Some(2), "{}", seen.err);
    }
    let (folder, file) = scenario("hostile-question", [ESCAPED, "w", "v"]);
    let out = folder.join("out");
    let run = ["run", word(&file), "--out", word(&out), "--force"];
    assert_eq!(is_printable(&run).code, Some(0));
    let seen = is_printable(&[&run[..], &["--json"]].concat());
    let summary: serde_json::Value = serde_json::from_str(&seen.out).unwrap();
    // JSON says what it is, with escapes of its own.
    assert_eq!(summary["question"], HOSTILE);
    let hostile = folder.join(format!("{HOSTILE}.toml"));
    fs::copy(&file, &hostile).unwrap();
    is_printable(&["check", word(&hostile), "--set", "arrivals=3"]);
    is_printable(&["check", word(&folder.join(format!("{HOSTILE}.tom")))]);
    is_printable(&["check", word(&folder)]);
}

#[test]
fn violations_of_a_manifest() {
    let (folder, file) = scenario("hostile-manifest", ["-", "w", "v"]);
    let out = folder.join("out");
    let run = ["run", word(&file), "--out", word(&out)];
    assert_eq!(floodway(&run).code, Some(0));
    let mut forged = manifest(&out).unwrap();
    forged["runs"][0]["violations"] = [format!("{HOSTILE}\nresults are sound")].as_slice().into();
    fs::write(out.join("manifest.json"), forged.to_string()).unwrap();
    let seen = is_printable(&[&run[..], &["--resume"]].concat());
    assert_eq!(seen.code, Some(1), "{}", seen.out);
    // Nor can it forge a line.
    assert!(seen.err.contains(r"PWNED\u{7}"), "{}", seen.err);
    assert!(!seen.err.contains("\nresults are sound"), "{}", seen.err);
}

#[test]
#[cfg(unix)]
fn what_is_no_regular_file_is_not_read() {
    let (folder, file) = scenario("endless-files", ["-", "w", "v"]);
    let refused = |words: &[&str]| {
        let seen = floodway(words);
        assert_eq!(seen.code, Some(2), "{}", seen.err);
        seen.err
    };
    assert_eq!(
        refused(&["check", "/dev/zero"]),
        "error: the file cannot be read: it is a device, not a regular file\n--> /dev/zero\n = help: \
         write the scenario to a file, and name that\n"
    );
    let extends = folder.join("extends.toml");
    fs::write(&extends, "name = \"e\"\nextends = \"/dev/zero\"\n").unwrap();
    assert!(refused(&["run", word(&extends)]).contains(
        "`/dev/zero` cannot be extended: the file cannot be read: it is a device, not a regular file"
    ));
    let text = fs::read_to_string(&file).unwrap();
    let list = "[workload.file]\npath = \"/dev/zero\"\nformat = \"hpcc\"\n";
    let text = text.replace("[workload.incast]\nsenders = 2\nbytes = \"20KB\"\n", list);
    fs::write(&file, text).unwrap();
    let said = refused(&["check", word(&file)]);
    assert!(
        said.contains("`/dev/zero` cannot be read: it is a device, not a regular file"),
        "{said}"
    );
    assert!(said.contains("help: copy it to a file, and name that"), "{said}");

    // A manifest without an end is none of floodway's.
    let out = folder.join("out");
    fs::create_dir_all(&out).unwrap();
    std::os::unix::fs::symlink("/dev/zero", out.join("manifest.json")).unwrap();
    let tiny = ["run", "tiny.toml", "--out", word(&out)];
    let seen = floodway(&[&tiny[..], &["--resume"]].concat());
    assert_eq!(seen.code, Some(2), "{}", seen.err);
}

#[test]
fn a_scenario_is_not_larger_than_its_limit() {
    let folder = place("large-file");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("large.toml");
    // Without its bytes: a file may have holes.
    fs::File::create(&file).unwrap().set_len(64_000_001).unwrap();
    let seen = floodway(&["check", word(&file)]);
    assert_eq!(
        (seen.code, seen.err),
        (
            Some(2),
            format!(
                "error: the file cannot be read: it is larger than what is read of such a file: at \
                 least 64.0 MB of at most 64.0 MB\n--> {}\n = help: keep long lists of flows in a file \
                 of their own: `[workload.file]`\n",
                file.display()
            )
        )
    );
}
