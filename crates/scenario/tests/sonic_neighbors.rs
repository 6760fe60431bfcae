//! Minigraphs and LLDP tables say the same as `DEVICE_NEIGHBOR`: with each of them in its place, the two switches of
//! `sonic/right` become the same scenario. The files in `sonic/neighbors` are ours, in the forms that SONiC and lldpd
//! have.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::import::sonic::{Fate, Imported, Options, import, patch};
use floodway_scenario::{Document, Overrides, Scenario};

/// Where the files are.
fn fixture(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sonic").join(name);
    fs::read_to_string(file).unwrap()
}

/// `sonic/right` in a new directory, without `DEVICE_NEIGHBOR` if that is wanted, and with these files.
fn fabric(test: &str, is_bare: bool, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("neighbors").join(test);
    let _ = fs::remove_dir_all(&folder);
    for switch in ["leaf", "spine"] {
        let mut text = fixture(&format!("right/{switch}/config_db.json"));
        if is_bare {
            text = text.replace("DEVICE_NEIGHBOR", "NOT_READ");
        }
        fs::create_dir_all(folder.join(switch)).unwrap();
        fs::write(folder.join(switch).join("config_db.json"), text).unwrap();
    }
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn imported(folder: &Path) -> Imported {
    let imported = import(&[folder.to_owned()], "fabric", Options::default());
    imported.unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn settings(imported: &Imported) -> Document {
    let scenario = Scenario::parse(&imported.scenario, "scenario.toml", &Overrides::default());
    scenario.unwrap_or_else(|error| panic!("{}", error.plain())).variants()[0].settings.clone()
}

fn refused(folder: &Path) -> String {
    import(&[folder.to_owned()], "fabric", Options::default()).expect_err("it is refused").plain()
}

/// What a message says below the directory of the test, whose path differs between machines.
fn below(text: &str, folder: &Path) -> String {
    text.replace(&format!("{}/", folder.display()), "")
}

#[test]
fn every_source_gives_the_same_network() {
    let declared = imported(&fabric("declared", false, &[]));
    let expected = settings(&declared);
    let (graph, leaf) = (fixture("neighbors/minigraph.xml"), fixture("neighbors/leaf.json"));
    let (spine, table) = (fixture("neighbors/spine.json0.json"), fixture("neighbors/leaf.txt"));
    let one_line = graph.replace('\n', " ");
    let cases: [(&str, &[(&str, &str)]); 6] = [
        ("minigraph", &[("leaf/minigraph.xml", &graph)]),
        ("one-line", &[("minigraph.xml", &one_line)]),
        ("json", &[("leaf/lldp.json", &leaf)]),
        ("both", &[("leaf/lldp.json", &leaf), ("spine/neighbors.json", &spine)]),
        ("table", &[("leaf/lldp.txt", &table)]),
        ("by-name", &[("leaf-1.lldp.json", &leaf), ("lldp-spine-1.json", &spine)]),
    ];
    for (test, files) in cases {
        let imported = imported(&fabric(test, true, files));
        assert_eq!(settings(&imported), expected, "{test}");
        assert!(imported.warnings.is_empty(), "{test}: {:?}", imported.warnings);
        assert_eq!(imported.fields, imported.accounted, "{test}");
        assert_eq!(imported.notes, Vec::<String>::new(), "{test}");
        // All together agree, too.
        let imported = self::imported(&fabric(test, false, files));
        assert_eq!(settings(&imported), expected, "{test}");
        assert!(imported.warnings.is_empty(), "{test}: {:?}", imported.warnings);
    }
    // One by one they are apart.
    let apart = refused(&fabric("apart", true, &[]));
    assert!(apart.contains("no path leads from leaf-1 to spine-1"), "{apart}");
    assert!(
        apart.contains("or give minigraph.xml or the output of `lldpctl -f json` too"),
        "{apart}"
    );
}

/// What became of every field of a minigraph and of an LLDP table.
#[test]
fn every_field_is_accounted_for() {
    let (graph, table) = (fixture("neighbors/minigraph.xml"), fixture("neighbors/leaf.txt"));
    let plain = imported(&fabric("plain", false, &[]));
    let folder =
        fabric("fields", false, &[("leaf/minigraph.xml", &graph), ("leaf/lldp.txt", &table)]);
    let imported = imported(&folder);
    // By hand. The minigraph: CpgDec, DpgDec and Hostname; links of 6, 7, 5 and 5 fields; devices of 2, 2 and 1. The
    // table: rows of 4, 2, 4 and 3 beside the local port, because an empty name or description is no field.
    assert_eq!(imported.fields - plain.fields, 3 + (6 + 7 + 5 + 5) + (2 + 2 + 1) + (4 + 2 + 4 + 3));
    assert_eq!(imported.fields, imported.accounted);
    let fate = |key: &str| {
        let found = imported.rows.iter().find(|row| row.key.starts_with(key));
        found.map(|row| (row.fate, row.meaning.as_str())).unwrap_or_else(|| panic!("{key}"))
    };
    for (key, expected, meaning) in [
        (
            "minigraph CpgDec",
            Fate::Nothing,
            "floodway reads the links and devices of a minigraph only",
        ),
        ("minigraph link spine-1:etp1 EndPort", Fate::Kept, "a link between two switches"),
        ("minigraph link spine-1:etp1 Bandwidth", Fate::Kept, "`rate` of the link"),
        ("minigraph link leaf-1:etp1 StartPort", Fate::Kept, "a link to a host"),
        ("minigraph link leaf-1:etp1 Bandwidth", Fate::Nothing, "it is empty"),
        ("minigraph link leaf-1:etp1 Validate", Fate::Nothing, "floodway does not read this field"),
        (
            "minigraph link leaf-8:etp1 EndPort",
            Fate::Nothing,
            "neither end is a switch of this import",
        ),
        (
            "minigraph DeviceMgmtLink StartPort",
            Fate::Nothing,
            "no data goes on such a link: management, console, or no cable",
        ),
        (
            "minigraph Device leaf-1 Hostname",
            Fate::Kept,
            "which neighbors are switches, for what is missing here",
        ),
        ("LLDP leaf-1 Ethernet0 name", Fate::Kept, "what the port leads to"),
        ("LLDP leaf-1 eth0 name", Fate::Nothing, "it is no port of `PORT`: no data goes there"),
        ("LLDP leaf-1 Ethernet0 Capability", Fate::Nothing, "floodway does not read this field"),
    ] {
        assert_eq!(fate(key), (expected, meaning), "{key}");
    }
    // The way back reads the same files.
    let found = patch::patches(&settings(&imported), &[folder], Options::default()).unwrap();
    assert!(found.switches.iter().all(|(_, operations)| operations.is_empty()));
}

/// Speeds and cables that a configuration lacks.
#[test]
fn speeds_and_cables_come_from_links() {
    let graph = fixture("neighbors/minigraph.xml").replacen(
        "<Bandwidth>100000</Bandwidth>",
        "<Bandwidth>40000</Bandwidth><CableLength>100m</CableLength>",
        1,
    );
    let folder = fabric("speeds", true, &[("leaf/minigraph.xml", &graph)]);
    for (switch, port) in [("leaf", "Ethernet8"), ("spine", "Ethernet0")] {
        let file = folder.join(switch).join("config_db.json");
        let text = fs::read_to_string(&file).unwrap();
        let text = text
            .replace(&format!("\"{port}\": {{\"speed\": \"100000\", "), &format!("\"{port}\": {{"));
        let text = text.replace(&format!("\"{port}\": \"40m\""), "\"x\": \"40m\"");
        fs::write(file, text).unwrap();
    }
    let imported = imported(&folder);
    // 100 m of 5 ns are 500 ns.
    let link = "{ ends = \"leaf-1 -- spine-1\", rate = \"40Gbps\", delay = \"500ns\" }";
    assert!(imported.scenario.contains(link), "{}", imported.scenario);
}

#[test]
fn what_lldp_sees_is_taken_and_the_rest_is_told() {
    // The cable is in Ethernet4 of the spine.
    let leaf = fixture("neighbors/leaf.json")
        .replace("etp1", "etp2")
        .replace("\"Ethernet0\", \"ttl\"", "\"Ethernet4\", \"ttl\"");
    let graph = fixture("neighbors/minigraph.xml");
    let folder = fabric("moved", false, &[("leaf/lldp.json", &leaf), ("minigraph.xml", &graph)]);
    let imported = imported(&folder);
    let warnings: Vec<String> =
        imported.warnings.iter().map(|warning| below(&warning.message, &folder)).collect();
    let expected = [
        "LLDP sees Ethernet4 of spine-1 at Ethernet8 of leaf-1, and `DEVICE_NEIGHBOR` (leaf/config_db.json:10) has \
         Ethernet0 of spine-1 there",
        "LLDP sees Ethernet4 of spine-1 at Ethernet8 of leaf-1, and the minigraph (minigraph.xml:16) has Ethernet0 of \
         spine-1 there",
        "`DEVICE_NEIGHBOR` has Ethernet8 of leaf-1 at Ethernet0 of spine-1, and LLDP sees Ethernet4 of spine-1 at \
         Ethernet8 of leaf-1 (leaf/lldp.json:24)",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(imported.fields, imported.accounted);
    for (key, value) in [
        ("DEVICE_NEIGHBOR Ethernet8 name", "spine-1"),
        ("minigraph link spine-1:etp1 EndPort", "etp3"),
    ] {
        let row = imported.rows.iter().find(|row| row.key.starts_with(key)).expect(key);
        assert_eq!((row.fate, row.value.split(' ').next()), (Fate::Differs, Some(value)), "{key}");
    }
    assert!(imported.scenario.contains("\"leaf-1 -- spine-1\""), "{}", imported.scenario);
    assert!(
        imported.scenario.contains("\"spine-1 Ethernet0 -- spine-1\""),
        "{}",
        imported.scenario
    );
    // The only cable leads elsewhere.
    let table = fixture("neighbors/leaf.txt").replace("spine-1", "spine-2");
    let folder = fabric("elsewhere", false, &[("leaf/lldp.txt", &table)]);
    let said = below(&refused(&folder), &folder);
    for expected in [
        "no path leads from leaf-1 to spine-1: LLDP sees etp1 of spine-2 at Ethernet8 of leaf-1, and `DEVICE_NEIGHBOR` \
         (leaf/config_db.json:10) has Ethernet0 of spine-1 there",
        "leaf/lldp.txt:6",
        "help: LLDP overrules what is declared: correct the cable, write the LLDP table again, or leave it out",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    // Only the other end declares it.
    let leaf = fixture("right/leaf/config_db.json");
    let leaf = leaf.replace("\"spine-1\"", "\"spine-2\"");
    fs::write(folder.join("leaf/config_db.json"), leaf).unwrap();
    let said = below(&refused(&folder), &folder);
    for expected in [
        "no path leads from leaf-1 to spine-1: `DEVICE_NEIGHBOR` has Ethernet8 of leaf-1 at Ethernet0 of spine-1, and \
         LLDP sees Ethernet0 of spine-2 at Ethernet8 of leaf-1 (leaf/lldp.txt:6)",
        "spine/config_db.json:9",
        "help: LLDP overrules what is declared",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    // A table that sees nobody where the other end sees it.
    let none = "{\"lldp\": {}}";
    let leaf = fixture("neighbors/leaf.json");
    let folder = fabric("one-sided", true, &[("leaf/lldp.json", &leaf), ("spine/lldp.json", none)]);
    let warnings = self::imported(&folder).warnings;
    let expected = "LLDP of Ethernet8 of leaf-1 sees Ethernet0 of spine-1, and LLDP of spine-1 sees nobody there";
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].message, expected);
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    let graph = fixture("neighbors/minigraph.xml");
    let leaf = fixture("neighbors/leaf.json");
    let table = fixture("neighbors/leaf.txt");
    let link = |start: &str, from: &str, end: &str, to: &str| {
        format!(
            "<DeviceInterfaceLinks><DeviceLinkBase><ElementType>DeviceInterfaceLink</ElementType>\n\
             <StartDevice>{start}</StartDevice><StartPort>{from}</StartPort>\n\
             <EndDevice>{end}</EndDevice><EndPort>{to}</EndPort></DeviceLinkBase>"
        )
    };
    let with = |link: String| graph.replacen("<DeviceInterfaceLinks>", &link, 1);
    let cases: [(&str, &str, String, &[&str]); 21] = [
        (
            "cut",
            "leaf/minigraph.xml",
            graph[..graph.len() / 2].to_owned(),
            &["this is not valid XML", "leaf/minigraph.xml:", "it may have been cut"],
        ),
        (
            "entities",
            "minigraph.xml",
            "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>".to_owned(),
            &[
                "the file has a document type declaration (<!DOCTYPE>), which is not read",
                "minigraph.xml:1:1",
                "remove it: a minigraph has none",
            ],
        ),
        (
            "cut-json",
            "leaf/neighbors.json",
            leaf[..leaf.len() / 2].to_owned(),
            &[
                "this is not valid JSON: EOF while parsing",
                "leaf/neighbors.json:",
                "help: write it again with `show lldp table` or `lldpctl -f json`",
            ],
        ),
        (
            "empty-json",
            "leaf/lldp.json",
            String::new(),
            &["this is not valid JSON: EOF while parsing", "help: write it again with `show lldp table`"],
        ),
        (
            "other-xml",
            "minigraph.xml",
            "<a/>".to_owned(),
            &["the file has <a>, not <DeviceMiniGraph>", "minigraph.xml:1:1", "give the minigraph.xml of a switch"],
        ),
        (
            "unknown-port",
            "minigraph.xml",
            graph.replace("<EndPort>etp3<", "<EndPort>etp33<"),
            &["leaf-1 has no port \"etp33\"", "minigraph.xml:16:9", "did you mean `etp3`?"],
        ),
        (
            "twice",
            "minigraph.xml",
            with(link("leaf-1", "etp3", "spine-1", "etp2")),
            &[
                "the minigraph has Ethernet4 of spine-1 at Ethernet8 of leaf-1, and the minigraph (minigraph.xml:18) has \
                 Ethernet0 of spine-1",
                "keep one of the two links",
            ],
        ),
        (
            "itself",
            "minigraph.xml",
            with(link("leaf-1", "etp2", "leaf-1", "etp2")),
            &["a link leads from Ethernet4 of leaf-1 back to leaf-1", "minigraph.xml:13:30"],
        ),
        (
            "half",
            "minigraph.xml",
            with(link("leaf-1", "", "spine-1", "etp2")),
            &["a link has no <StartPort>", "write both ends"],
        ),
        (
            "speed",
            "minigraph.xml",
            graph.replace(">100000<", ">40000<"),
            &[
                "the link at Ethernet0 of spine-1 has 40Gbps, and `PORT` (spine/config_db.json:4) has 100Gbps",
                "minigraph.xml:14:9",
                "correct the speed in one of the two files",
            ],
        ),
        (
            "speed-of-words",
            "minigraph.xml",
            graph.replace(">100000<", ">100G<"),
            &["the speed of a link is \"100G\"", "write it in Mb/s"],
        ),
        (
            "length",
            "minigraph.xml",
            graph.replace("<Bandwidth>100000", "<CableLength>5</CableLength><Bandwidth>100000"),
            &["the cable of a link is \"5\"", "write it like 40m"],
        ),
        (
            "declared-otherwise",
            "minigraph.xml",
            graph.replace("<StartPort>etp1</StartPort>\n      </DeviceLinkBase>\n      <DeviceLinkBase i:type=\"DeviceInterfaceLink\">\n        <ElementType>DeviceInterfaceLink</ElementType>\n        <Bandwidth i", "<StartPort>etp2</StartPort>\n      </DeviceLinkBase>\n      <DeviceLinkBase i:type=\"DeviceInterfaceLink\">\n        <ElementType>DeviceInterfaceLink</ElementType>\n        <Bandwidth i"),
            &[
                "the minigraph has Ethernet4 of spine-1 at Ethernet8 of leaf-1, and `DEVICE_NEIGHBOR` \
                 (leaf/config_db.json:10) has Ethernet0 of spine-1",
                "make both agree, or give what LLDP sees there",
            ],
        ),
        (
            "contradiction",
            "spine/lldp.json",
            fixture("neighbors/spine.json0.json").replace("etp3", "etp2").replace("Ethernet8", "Ethernet4"),
            &["LLDP has Ethernet4 of leaf-1 at Ethernet0 of spine-1, and LLDP (leaf/lldp.json:24) has Ethernet8 of leaf-1"],
        ),
        (
            "no-owner",
            "lldp-7.json",
            leaf.clone(),
            &["of which switch are these LLDP neighbors?", "leaf-1.lldp.json"],
        ),
        (
            "other-switch",
            "leaf/lldp-2.json",
            leaf.replace("\"Ethernet8\": {", "\"Ethernet88\": {"),
            &["leaf-1 has no port \"Ethernet88\"", "did you mean `Ethernet8`?"],
        ),
        (
            "no-chassis",
            "leaf/lldp-2.json",
            "{\"lldp\": {\"interface\": {\"Ethernet0\": {\"port\": {}}}}}".to_owned(),
            &["the neighbor at Ethernet0 has no `chassis` or no `port`", "lldp-2.json:1:25"],
        ),
        (
            "lldp-itself",
            "leaf/lldp-2.json",
            leaf.replace("spine-1", "leaf-1"),
            &["LLDP of leaf-1 sees itself at Ethernet8"],
        ),
        (
            "cut-table",
            "leaf/lldp-2.txt",
            table.lines().take(5).collect::<Vec<_>>().join("\n"),
            &["the table is cut: it does not end with the number of its entries"],
        ),
        (
            "short-table",
            "leaf/lldp-2.txt",
            table.replace("displayed:  4", "displayed:  33"),
            &["the table has 4 neighbors, and says  33", "lldp-2.txt:9"],
        ),
        (
            "no-table",
            "leaf/lldp-2.txt",
            "Interface: Ethernet0, via: LLDP\n".to_owned(),
            &["no line begins with LocalPort", "write it again with `show lldp table`"],
        ),
    ];
    let mut failed = String::new();
    for (test, name, text, expected) in cases {
        let mut files = vec![(name, text.as_str())];
        if test == "contradiction" {
            files.push(("leaf/lldp.json", leaf.as_str()));
        }
        let folder = fabric(test, false, &files);
        let said = below(&refused(&folder), &folder);
        for part in expected.iter().chain(&["help: "]).filter(|part| !said.contains(**part)) {
            failed += &format!("{test}: {part}\n{said}\n");
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// A forgotten configuration: lint has nothing to compare with, and says so.
#[test]
fn a_missing_configuration_is_told() {
    let whole = fabric("whole", false, &[]);
    assert_eq!(imported(&whole).notes, Vec::<String>::new());
    fs::remove_dir_all(whole.join("spine")).unwrap();
    let expected = "the configuration of spine-1 is missing (Ethernet8 of leaf-1 leads there: leaf/config_db.json:10); lint \
                    compares both ends of a link only where both are read, and hosts stand in their place: add it";
    assert_eq!(
        imported(&whole).notes.iter().map(|note| below(note, &whole)).collect::<Vec<_>>(),
        [expected]
    );
    // A minigraph knows kinds, whatever the ports are called.
    let graph = fixture("neighbors/minigraph.xml")
        .replace("gpu-1", "tor-9")
        .replace("\"Server\"", "\"ToRRouter\"");
    let folder = fabric("kinds", true, &[("minigraph.xml", &graph)]);
    fs::remove_dir_all(folder.join("spine")).unwrap();
    let notes = imported(&folder).notes;
    let expected = "the configurations of spine-1, tor-9 are missing (Ethernet8 of leaf-1 leads there: \
                    minigraph.xml:16, and one more link); lint";
    assert!(below(&notes[0], &folder).starts_with(expected), "{notes:?}");
}
