//! What shells, manuals and editors get, and colors.

use std::fs;

use crate::common::{command, floodway, json, place, said, word};

const COMMANDS: [&str; 19] = [
    "bench",
    "chart",
    "check",
    "compare",
    "completions",
    "emulate",
    "export",
    "headroom",
    "import",
    "list",
    "live",
    "man",
    "new",
    "profile",
    "run",
    "schema",
    "study",
    "sweep",
    "why",
];

#[test]
fn completions_know_commands_options_and_names() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = floodway(&["completions", shell]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{shell}");
        // Some scripts cannot complete what has no option before it, some no values.
        let words = ["replications", "variant", "fat-tree", "parquet", "short-range", "ci-1152"];
        let words = match shell {
            "bash" | "zsh" => &words[..],
            "fish" => &words[..4],
            _ => &words[..2],
        };
        for expected in COMMANDS.iter().chain(words) {
            assert!(said.out.contains(expected), "{shell}: {expected}");
        }
        // A reader that goes away at once is no error.
        assert!(said.out.len() > 2_000);
    }
    let said = floodway(&["completions", "bsh"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("a similar value exists: 'bash'"), "{}", said.err);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = place("man1");
    let said = floodway(&["man", "--out", word(&folder)]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_eq!(said.out, format!("29 pages in {}\n", folder.display()));
    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    let mut expected: Vec<_> = COMMANDS.map(|name| format!("floodway-{name}.1")).to_vec();
    expected.push("floodway.1".to_owned());
    expected.push("floodway-new-algorithm.1".to_owned());
    expected.push("floodway-compare-results.1".to_owned());
    expected.push("floodway-import-pcap.1".to_owned());
    expected.extend(["export", "import"].map(|name| format!("floodway-{name}-sonic.1")));
    expected.push("floodway-export-flent.1".to_owned());
    expected.extend(["compare", "export", "import"].map(|name| format!("floodway-{name}-hpcc.1")));
    expected.sort();
    assert_eq!(names, expected.iter().map(Into::into).collect::<Vec<std::ffi::OsString>>());
    let version = env!("CARGO_PKG_VERSION");
    for name in &expected {
        let page = fs::read_to_string(folder.join(name)).unwrap();
        let title = name.trim_end_matches(".1");
        assert!(page.contains(&format!(".TH {title} 1  \"floodway {version}\"")), "{page}");
        let sections = page.lines().filter_map(|line| line.strip_prefix(".SH "));
        let sections: Vec<_> = sections.map(|name| name.trim_matches('"')).collect();
        assert_eq!(sections[..3], ["NAME", "SYNOPSIS", "DESCRIPTION"]);
        assert_eq!(sections.last(), Some(&"EXIT STATUS"));
        assert!(page.contains(".TP\n\\fB130\\fR\ninterrupted (Ctrl\\-C"), "{page}");
    }
    // Without a directory it is the program's page.
    let page = fs::read_to_string(folder.join("floodway.1")).unwrap();
    assert_eq!(floodway(&["man"]).out, page);
    assert!(page.contains("floodway\\-new(1)") && !page.contains("reference(1)"), "{page}");
}

#[test]
fn the_schema_is_json_with_what_a_file_can_say() {
    let schema = json(&["schema"]);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    for name in ["Scenario", "Extension", "Variant", "Quick"] {
        assert!(schema["$defs"][name]["properties"]["switch"].is_object(), "{name}");
    }
}

/// What a command says with variables of the environment, on both streams.
fn with(words: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = command(words);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let said = said(command.output().unwrap());
    said.out + &said.err
}

#[test]
fn colors_follow_the_usual_variables() {
    let results = place("colors");
    let run = ["run", "tiny.toml", "--quick", "--force", "--out", word(&results)];
    let all: [&[&str]; 6] = [
        &["--help"],
        &["chekc"],
        &["list", "switch.aqn"],
        &["check", "tinny.toml"],
        &["check", "lossy.toml"],
        &run,
    ];
    for words in all {
        // These go to a pipe, so there are none unless somebody insists.
        assert!(!with(words, &[]).contains('\x1b'), "{words:?}");
        assert!(!with(words, &[("CLICOLOR_FORCE", "")]).contains('\x1b'), "{words:?}");
        let forced = with(words, &[("CLICOLOR_FORCE", "1")]);
        assert!(forced.contains('\x1b'), "{words:?}: {forced}");
        let minded = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
        assert!(!with(words, &minded).contains('\x1b'), "{words:?}");
        // An empty value says nothing.
        let empty = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")];
        assert!(with(words, &empty).contains('\x1b'), "{words:?}");
    }
}
