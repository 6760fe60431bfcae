//! Lint of directories of configurations: `sonic/right` has no finding, and each rule finds its trouble, and nothing
//! else, after one edit. The numbers of the messages are worked out by hand.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::import::sonic::{Imported, Options, import};
use floodway_scenario::lint::{Finding, Name};

/// In the configuration of this switch, or of all without a name: what stands there, and what takes its place.
type Edit = (&'static str, &'static str, &'static str);

/// A new directory of this name.
fn empty(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A copy of `sonic/right` with these edits.
fn edited(test: &str, edits: &[Edit]) -> PathBuf {
    let folder = empty(test);
    let right = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sonic/right");
    for switch in ["leaf", "spine"] {
        let mut text = fs::read_to_string(right.join(switch).join("config_db.json")).unwrap();
        for (_, from, to) in edits.iter().filter(|(of, ..)| of.is_empty() || *of == switch) {
            assert!(text.contains(from), "{test}: {from}");
            text = text.replace(from, to);
        }
        fs::create_dir_all(folder.join(switch)).unwrap();
        fs::write(folder.join(switch).join("config_db.json"), text).unwrap();
    }
    folder
}

fn imported(folder: &Path) -> Imported {
    let imported = import(&[folder.to_owned()], "fabric", Options::default());
    imported.unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// Where a finding is, and what it says.
fn told(finding: &Finding) -> String {
    let place = &finding.problem.place;
    let file = Path::new(place.source.name());
    let switch = file.parent().and_then(Path::file_name).unwrap().to_string_lossy();
    let line = place.position().map_or(0, |at| at.line);
    format!("{switch}:{line}: {}", finding.problem.message)
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let imported = imported(&edited("right", &[]));
    assert!(imported.findings.is_empty(), "{:?}", imported.findings);
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
}

/// For each rule an edit after which it, and no other rule, finds something, and all that it says.
#[test]
fn each_rule_finds_its_trouble() {
    let cases: [(Name, &[Edit], &[&str]); 9] = [
        (
            // 57,868 bytes at 40 m are worked out in `sonic.rs`. At 5 m the cable has 4,375 bytes less, so 44,397 bytes
            // are on the wire: four frames of 9,216 and one of 7,433, with the frame that crosses XOFF 53,513.
            Name::HeadroomBelowNeed,
            &[("leaf", "\"xoff\": \"80000\"", "\"xoff\": \"50000\"")],
            &[
                "leaf:19: Ethernet0 of leaf-1 and one more port: the headroom is 50KB, and the link may need 53.513KB",
                "leaf:19: Ethernet8 of leaf-1: the headroom is 50KB, and the link may need 57.868KB",
            ],
        ),
        (
            // Three ports with one class of 80 KB.
            Name::HeadroomPoolOvercommitted,
            &[("spine", "\"xoff\": \"500000\"", "\"xoff\": \"200000\"")],
            &[
                "spine:13: spine-1: the headroom of all ports and lossless classes is 240KB, and they share 200KB \
               (1.2 : 1)",
            ],
        ),
        (
            // Of 9 MB, 80 KB are headroom; three times 8.92 MB are 26.76 MB. The pool and its headroom are 24.5 MB.
            Name::PoolOvercommitted,
            &[("spine", "\"size\": \"2000\"", "\"size\": \"9000000\"")],
            &[
                "spine:13: spine-1: guarantees (26.76MB) and headroom (240KB) of all ports are 27MB, and the buffer has \
               24.5MB",
            ],
        ),
        (
            Name::LosslessWithoutEcn,
            &[("leaf", "{\"wred_profile\": \"LOSSLESS\"}", "{}")],
            &["leaf:32: Ethernet0 of leaf-1 and 2 more ports: nothing marks in lossless class 3"],
        ),
        (
            // alpha is 1/256: alone 2,000 + 24 MB / 257, with three ports 2,000 + 24 MB / 259.
            Name::PausesBeforeMarks,
            &[("", "\"dynamic_th\": \"0\"", "\"dynamic_th\": \"-8\"")],
            &[
                "leaf:32: Ethernet0 of leaf-1 and 4 more ports: ECN marks begin at 100KB of the queue, and XOFF is \
                 95.4 KB if no other port is congested, and less if others are",
            ],
        ),
        (
            // alpha is 1/64: alone 2,000 + 24 MB / 65 = 371,231, below `kmax`. The probability there is
            // 20 % * 271,231 / 300,000.
            Name::PausesBeforeFullMarks,
            &[("", "\"dynamic_th\": \"0\"", "\"dynamic_th\": \"-6\"")],
            &[
                "leaf:32: Ethernet0 of leaf-1 and 4 more ports: the probability of ECN marks is 18.08 % when the port \
                 reaches XOFF (371 KB), and grows until 400KB of the queue",
            ],
        ),
        (
            // Alone 2,000 + 24 MB / 3 and 2,000 + 24 MB / 2: less than a factor of two, and set in another way.
            Name::ThresholdsDiffer,
            &[("leaf", "\"dynamic_th\": \"0\"", "\"dynamic_th\": \"-1\"")],
            &[
                "leaf:20: Ethernet8 of leaf-1: one port alone may hold 8.00 MB (alpha 0.5 of 24MB) before it is paused, \
               and at spine-1, the other end of the link, 12.0 MB (alpha 1 of 24MB)",
            ],
        ),
        (
            Name::LosslessClassesDiffer,
            &[("spine", "\"pfc_enable\": \"3\"", "\"pfc_enable\": \"3,4\"")],
            &[
                "leaf:33: Ethernet8 of leaf-1: the lossless classes are 3, and at Ethernet0 of spine-1, the other end of \
               the cable, 3, 4",
            ],
        ),
        (
            // The slowest port of the spine has 10 Gb/s. Two others send to it: each holds 2,000 + 24 MB / 3 and
            // 57,868 above, so 16.1 MB leave at 10 Gb/s, in 12.9 ms.
            Name::WatchdogTooShort,
            &[("leaf", "\"detection_time\": \"200\"", "\"detection_time\": \"10\"")],
            &[
                "leaf:34: Ethernet8 of leaf-1: the watchdog acts after 10ms, and a pause behind an incast at spine-1 may \
               last 12.9 ms: 16.1 MB at 10Gbps",
            ],
        ),
    ];
    let mut failed = Vec::new();
    for (name, edits, expected) in cases {
        let found = imported(&edited(name.text(), edits)).findings;
        let messages: Vec<String> = found.iter().map(told).collect();
        if messages != expected || found.iter().any(|finding| finding.name != name) {
            let names: Vec<Name> = found.iter().map(|finding| finding.name).collect();
            failed.push(format!("{name}: {names:?} {messages:#?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Switches in a ring, or in a row, each with a host. In a ring of four, packets between opposite switches go both ways
/// round; in a row each link leads away from the other.
fn joined(test: &str, is_ring: bool) -> PathBuf {
    let folder = empty(test);
    for at in 0..4 {
        let next =
            format!("\"Ethernet4\": {{\"name\": \"s{}\", \"port\": \"Ethernet8\"}}", (at + 1) % 4);
        let neighbors = if at == 3 && !is_ring { String::new() } else { next };
        let text = format!(
            "{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hostname\": \"s{at}\"}}}},\n\
             \"PORT\": {{\"Ethernet0\": {{\"speed\": \"100000\"}}, \"Ethernet4\": {{\"speed\": \"100000\"}}, \
             \"Ethernet8\": {{\"speed\": \"100000\"}}}},\n\
             \"DEVICE_NEIGHBOR\": {{{neighbors}}},\n\
             \"PORT_QOS_MAP\": {{\"Ethernet0,Ethernet4,Ethernet8\": {{\"pfc_enable\": \"3\"}}}}}}"
        );
        fs::write(folder.join(format!("s{at}.json")), text).unwrap();
    }
    folder
}

#[test]
fn a_ring_of_switches_has_a_cycle_and_a_row_has_none() {
    let found = |test: &str, is_ring: bool| -> Vec<String> {
        let findings = imported(&joined(test, is_ring)).findings;
        let cycles = findings.iter().filter(|finding| finding.name == Name::PauseCycle);
        cycles.map(|finding| finding.problem.message.clone()).collect()
    };
    let ring = "the routes let 4 links between switches wait for each other in a cycle: s0, s1, s2, s3, s0";
    assert_eq!(found("ring", true), [ring]);
    assert_eq!(found("row", false), Vec::<String>::new());
}
