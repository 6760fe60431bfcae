//! Traffic classes of configurations of SONiC: the maps from DSCP to queue, and what queues have of their own. The
//! expected values are worked out by hand from `tests/sonic/classes/config_db.json`.

use std::fs;
use std::path::PathBuf;

use floodway_model::Bytes;
use floodway_scenario::import::sonic::patch::patches;
use floodway_scenario::import::sonic::{Fate, Options};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::switch::buffer::shared::OfQueues;
use floodway_sim::switch::{aqm, buffer, classify, scheduler};
use proptest::prelude::*;

use crate::sonic::{fixture, folder, imported, patched, refused};

/// Queue 6 has strict priority and is class 0; the queues 0 to 5 are the classes 1 to 6.
#[test]
fn classes_have_what_their_queues_have() {
    let (imported, settings) = imported(&[fixture("classes")]);
    let switch = &settings.switch;
    assert_eq!(switch.queue.count, 7);
    let scheduler::Spec::Drr(drr) = &switch.scheduler else { panic!("deficit round robin") };
    assert_eq!((drr.strict, drr.weights.as_slice()), (1, &[1, 14, 14, 14, 28, 28, 14][..]));
    let classify::Spec::Dscp(dscp) = &switch.classify else { panic!("classes by DSCP") };
    let queues: Vec<(u8, Vec<u8>)> = (dscp.queues.entries().iter())
        .map(|of| (of.queue, of.dscp.iter().map(|marking| marking.dscp().0).collect()))
        .collect();
    // DSCPs of no entry are in traffic class 0, like 8; 33 goes to queue 1 by traffic class 8. Two of three ports put 5
    // into queue 2.
    let expected = [
        (0, vec![48]),
        (2, vec![0, 1, 33]),
        (3, vec![5]),
        (4, vec![3]),
        (5, vec![4]),
        (6, vec![46]),
    ];
    assert_eq!((dscp.default, queues.as_slice()), (1, &expected[..]));

    let buffer::Spec::Shared(shared) = &switch.buffer else { panic!("a shared buffer") };
    let base = shared.ingress.as_ref().unwrap();
    // Of the lossless classes 3 and 4 as many groups have one as the other: the lower alpha and guarantee are for all.
    assert_eq!((base.alpha, base.guaranteed), (Some(0.25), Bytes(2_000)));
    let lossless_3 = OfQueues { queues: vec![4], ingress_alpha: Some(1.0), ..OfQueues::default() };
    let lossless_4 = OfQueues {
        queues: vec![5],
        ingress_guaranteed: Some(Bytes(3_000)),
        egress_alpha: Some(0.5),
        ..OfQueues::default()
    };
    // Queue 2 shares the lossy pool, and an entry has one set of shares: that of most queues of the pool.
    let lossy = OfQueues {
        queues: vec![0, 1, 2, 3, 6],
        ingress_alpha: Some(8.0),
        ingress_guaranteed: Some(Bytes(0)),
        egress_alpha: Some(8.0),
        egress_guaranteed: Some(Bytes(1_664)),
        egress_pool: Some(Bytes(9_000_000)),
    };
    assert_eq!(shared.by_queue, [lossy, lossless_3, lossless_4]);
    let egress = shared.egress.as_ref().unwrap();
    assert_eq!((egress.alpha, egress.guaranteed), (None, Bytes(1_518)));

    let aqm::Spec::Ramp(ramp) = &switch.aqm else { panic!("the curve of WRED") };
    assert_eq!(ramp.queues, [2, 4, 5]);
    assert_eq!((ramp.kmin, ramp.kmax, ramp.pmax), (Bytes(100_000), Bytes(400_000), 0.2));
    let own = aqm::ramp::OfQueues {
        queues: vec![2],
        kmin: Bytes(30_000),
        kmax: Bytes(30_000),
        pmax: 1.0,
    };
    assert_eq!(ramp.by_queue, [own]);
    let pfc = switch.flow_control.pfc.as_ref().unwrap();
    assert_eq!(pfc.queues, [4, 5]);

    assert_eq!(imported.fields, imported.accounted);
    let fate = |key: &str, value: &str| {
        let mut rows = imported.rows.iter();
        let found = rows.find(|row| row.key.starts_with(key) && row.value.starts_with(value));
        found.map(|row| (row.fate, row.meaning.as_str())).unwrap_or_else(|| panic!("{key} {value}"))
    };
    for (key, value, expected, meaning) in [
        (
            "BUFFER_PROFILE egress_background dynamic_th",
            "-2",
            Fate::Differs,
            "`switch.buffer.shared.by_queue.egress_alpha`, 2 to this power is another one for all ports: what most of \
             them have, or the largest need",
        ),
        (
            "BUFFER_PROFILE ingress_background static_th",
            "12000000",
            Fate::Differs,
            "`switch.buffer.shared.by_queue.ingress_alpha` is another one for all ports: what most of them have, or the \
             largest need",
        ),
        (
            "BUFFER_PROFILE pg_4 size",
            "3000",
            Fate::Kept,
            "`switch.buffer.shared.by_queue.ingress_guaranteed`",
        ),
        (
            "BUFFER_PROFILE egress_4 dynamic_th",
            "-1",
            Fate::Kept,
            "`switch.buffer.shared.by_queue.egress_alpha`, 2 to this power",
        ),
        (
            "DSCP_TO_TC_MAP UPLINK 5",
            "1",
            Fate::Differs,
            "most ports put it into another queue, and here all do: `switch.classify.dscp`",
        ),
        ("DSCP_TO_TC_MAP TUNNEL", "1", Fate::Nothing, "no port has this map"),
        ("TC_TO_QUEUE_MAP AZURE 7", "7", Fate::Nothing, "no DSCP leads to this traffic class"),
        (
            "TC_TO_PRIORITY_GROUP_MAP AZURE 3",
            "3",
            Fate::Kept,
            "the priority group of lossless queue 3",
        ),
        (
            "TC_TO_PRIORITY_GROUP_MAP AZURE 0",
            "0",
            Fate::Differs,
            "classes of one priority group share a threshold, and here each class has one",
        ),
        (
            "WRED_PROFILE LOSSY green_min_threshold",
            "30000",
            Fate::Kept,
            "`switch.aqm.ramp.by_queue.kmin`",
        ),
    ] {
        assert_eq!(fate(key, value), (expected, meaning), "{key}");
    }
}

/// Queue 2 is lossless at one port of three. There it has the share of a lossless queue, and so at all ports here.
#[test]
fn a_queue_that_is_lossless_somewhere_has_what_it_has_there() {
    let mut text = fs::read_to_string(fixture("classes").join("config_db.json")).unwrap();
    for (old, new) in [
        (
            r#""Ethernet0,Ethernet4,Ethernet8|2": {"profile": "ingress_background"}"#,
            r#""Ethernet0,Ethernet4|2": {"profile": "ingress_background"}, "Ethernet8|2": {"profile": "pg_3"}"#,
        ),
        (
            r#""Ethernet8|2": {"profile": "egress_background"}"#,
            r#""Ethernet8|2": {"profile": "egress_3"}"#,
        ),
        ("\"pfc_enable\": \"3,4\"\n    }\n  },", "\"pfc_enable\": \"2,3,4\"\n    }\n  },"),
        (r#"{"AZURE": {"3": "3", "4": "4"}}"#, r#"{"AZURE": {"2": "2", "3": "3", "4": "4"}}"#),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let root = folder("lossless_somewhere", &[("config_db.json", &text)]);
    let (imported, settings) = imported(std::slice::from_ref(&root));
    assert_eq!(settings.switch.flow_control.pfc.unwrap().queues, [3, 4, 5]);
    let shared = settings.switch.buffer.pools().unwrap().for_queue(3);
    let egress = shared.egress.unwrap();
    assert_eq!((egress.pool, egress.alpha), (Bytes(15_000_000), None));
    assert_eq!(shared.ingress.unwrap().alpha, Some(1.0));
    let said = "queue 2 is lossless at other ports, and has here what it has there";
    let mut rows = imported.rows.iter().filter(|row| row.meaning == said);
    let row = rows.next().expect("two ports differ");
    assert_eq!(
        (row.fate, row.key.as_str()),
        (Fate::Differs, "BUFFER_QUEUE Ethernet0|2 profile (and 1 more)")
    );
    // What lossy queues get is not written to the profile of these two ports.
    let config = root.join("config_db.json");
    let set = ["switch.buffer.shared.by_queue.0.egress_alpha=4"];
    let (again, wanted, patch) = patched(&root, &[config], &imported.scenario, &set);
    assert_eq!(again.switch, wanted.switch, "{patch}");
    let only =
        r#"{"op":"replace","path":"/BUFFER_PROFILE/egress_lossy_profile/dynamic_th","value":"2"}"#;
    assert_eq!(patch, format!("tor-1 [{only}]\n"));
}

/// Without a map of DSCPs all flows are in one class, and the account says so.
#[test]
fn without_a_map_there_is_one_class() {
    let text = fs::read_to_string(fixture("classes").join("config_db.json")).unwrap();
    let text = text.replace("\"dscp_to_tc_map\": \"AZURE\", ", "");
    let text = text.replace("\"dscp_to_tc_map\": \"UPLINK\", ", "");
    let text = text.replace("{\"dscp_to_tc_map\": \"AZURE\"}", "{}");
    let folder = folder("no_dscps", &[("config_db.json", &text)]);
    let (imported, settings) = imported(&[folder]);
    let classify::Spec::Single(single) = &settings.switch.classify else { panic!("one class") };
    assert_eq!((single.queue, settings.workload.len()), (4, 1));
    let said = "no port has a map of DSCPs: all flows are in queue 3 of the switches";
    assert!(imported.rows.iter().any(|row| row.fate == Fate::Differs && row.meaning == said));
}

#[test]
fn maps_that_are_wrong_are_shown_at_their_places() {
    let qos = |maps: &str| {
        format!(
            "{{\"PORT_QOS_MAP\": {{\"Ethernet0,Ethernet4\": {{\"pfc_enable\": \"3\", \"dscp_to_tc_map\": \"A\",\n\
             \"tc_to_queue_map\": \"A\", \"pfc_to_queue_map\": \"A\"}}}},\n{maps}}}"
        )
    };
    let dscp = |dscp: &str, class: &str| {
        format!("\"DSCP_TO_TC_MAP\": {{\"A\": {{\"3\": \"3\", \"{dscp}\": \"{class}\"}}}}")
    };
    let queue = "\"TC_TO_QUEUE_MAP\": {\"A\": {\"0\": \"0\", \"3\": \"3\"}}";
    let pfc = "\"MAP_PFC_PRIORITY_TO_QUEUE\": {\"A\": {\"3\": \"3\"}}";
    let case = |test: &str, maps: &[&str], expected: &str, help: &str| {
        let said = refused(test, &[("qos.json", &qos(&maps.join(",\n")))]);
        assert!(said.contains(expected), "{test}: {said}");
        assert!(said.contains("qos.json:") && said.contains(help), "{test}: {said}");
    };
    case(
        "no_dscp_map",
        &[queue, pfc],
        "there is no `DSCP_TO_TC_MAP|A`",
        "give the file with the table `DSCP_TO_TC_MAP` too",
    );
    case(
        "no_queue_map",
        &[&dscp("0", "0"), "\"TC_TO_QUEUE_MAP\": {\"AZ\": {}}", pfc],
        "there is no `TC_TO_QUEUE_MAP|A`",
        "did you mean `AZ`?",
    );
    case(
        "large_dscp",
        &[&dscp("64", "0"), queue, pfc],
        "`DSCP_TO_TC_MAP|A` has \"64\", which is no DSCP",
        "write numbers from 0 to 63",
    );
    case(
        "large_class",
        &[&dscp("5", "16"), queue, pfc],
        "`5` of `DSCP_TO_TC_MAP|A` is 16, above 15",
        "write a number from 0 to 15",
    );
    case(
        "class_without_queue",
        &[&dscp("5", "9"), queue, pfc],
        "DSCP 5 is in traffic class 9, and `TC_TO_QUEUE_MAP|A` has no queue for it",
        "write its queue there, like \"9\": \"0\", or another traffic class here",
    );
    case(
        "large_queue",
        &[&dscp("0", "0"), "\"TC_TO_QUEUE_MAP\": {\"A\": {\"0\": \"8\", \"3\": \"3\"}}", pfc],
        "`0` of `TC_TO_QUEUE_MAP|A` is 8, above 7",
        "write a number from 0 to 7",
    );
    case(
        "priority_without_queue",
        &[&dscp("0", "0"), queue, "\"MAP_PFC_PRIORITY_TO_QUEUE\": {\"A\": {\"4\": \"4\"}}"],
        "priority 3 of Ethernet0 is lossless, and `MAP_PFC_PRIORITY_TO_QUEUE|A` does not have it",
        "add \"3\" to that map, or leave it out of `pfc_enable`",
    );
    let bare = "{\"PORT_QOS_MAP\": {\"Ethernet0,Ethernet4\": {\"dscp_to_tc_map\": \"A\"}},\n\
                \"DSCP_TO_TC_MAP\": {\"A\": {\"3\": \"8\"}}}";
    let said = refused("class_alone", &[("qos.json", bare)]);
    let expected = "DSCP 3 is in traffic class 8, and Ethernet0 has no `tc_to_queue_map`";
    assert!(
        said.contains(expected) && said.contains("write a traffic class from 0 to 7"),
        "{said}"
    );
}

/// A copy of the configuration, to be patched, and its scenario.
fn copied(test: &str) -> (PathBuf, PathBuf, String) {
    let text = fs::read_to_string(fixture("classes").join("config_db.json")).unwrap();
    let root = folder(test, &[("config_db.json", &text)]);
    let (imported, _) = imported(std::slice::from_ref(&root));
    (root.clone(), root.join("config_db.json"), imported.scenario)
}

#[test]
fn a_patch_of_classes_gives_the_scenario() {
    let (root, config, scenario) = copied("patched_classes");
    let (again, wanted, text) = patched(&root, &[config], &scenario, &[]);
    assert_eq!((again.switch, text.as_str()), (wanted.switch, "tor-1 []\n"));
    let (root, config, scenario) = copied("patched_classes");
    let set = [
        "switch.buffer.shared.by_queue.0.egress_alpha=4",
        "switch.buffer.shared.by_queue.0.egress_pool=8MB",
        "switch.buffer.shared.by_queue.0.ingress_alpha=2",
        "switch.buffer.shared.by_queue.1.ingress_alpha=2",
        "switch.buffer.shared.by_queue.2.egress_guaranteed=3KB",
        "switch.aqm.ramp.by_queue.0.kmin=20KB",
        "switch.aqm.ramp.kmax=500KB",
        "switch.classify.dscp.queues.3.dscp=[3, 26]",
        "switch.scheduler.drr.weights=[1, 14, 14, 14, 30, 30, 14]",
    ];
    let (again, wanted, text) = patched(&root, &[config], &scenario, &set);
    assert_eq!(again.switch, wanted.switch, "{text}");
    for expected in [
        r#"{"op":"replace","path":"/BUFFER_POOL/egress_lossy_pool/size","value":"8000000"}"#,
        r#"{"op":"replace","path":"/BUFFER_PROFILE/egress_lossy_profile/dynamic_th","value":"2"}"#,
        r#"{"op":"replace","path":"/BUFFER_PROFILE/egress_background/dynamic_th","value":"2"}"#,
        r#"{"op":"replace","path":"/BUFFER_PROFILE/ingress_lossy_profile/dynamic_th","value":"1"}"#,
        r#"{"op":"remove","path":"/BUFFER_PROFILE/ingress_background/static_th"}"#,
        r#"{"op":"add","path":"/BUFFER_PROFILE/ingress_background/dynamic_th","value":"1"}"#,
        r#"{"op":"replace","path":"/BUFFER_PROFILE/pg_3/dynamic_th","value":"1"}"#,
        r#"{"op":"replace","path":"/BUFFER_PROFILE/egress_4/size","value":"3000"}"#,
        r#"{"op":"replace","path":"/WRED_PROFILE/LOSSY/green_min_threshold","value":"20000"}"#,
        r#"{"op":"replace","path":"/WRED_PROFILE/LOSSLESS/green_max_threshold","value":"500000"}"#,
        r#"{"op":"add","path":"/DSCP_TO_TC_MAP/AZURE/26","value":"3"}"#,
        r#"{"op":"add","path":"/DSCP_TO_TC_MAP/UPLINK/26","value":"3"}"#,
        r#"{"op":"replace","path":"/SCHEDULER/scheduler.1/weight","value":"30"}"#,
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert_eq!(text.matches("\"op\"").count(), 13, "{text}");
}

/// The queues 3 and 4 have one WRED profile. If only 4 is to have another curve, it gets a copy.
#[test]
fn a_class_that_differs_gets_a_profile_of_its_own() {
    let (root, config, scenario) = copied("copied_profile");
    let more = "\n[[switch.aqm.ramp.by_queue]]\nqueues = [5]\nkmin = \"50KB\"\nkmax = \"200KB\"\npmax = 0.1\n";
    let (again, wanted, text) = patched(&root, &[config], &(scenario + more), &[]);
    assert_eq!(again.switch, wanted.switch, "{text}");
    let copy = r#""path":"/WRED_PROFILE/LOSSLESS_floodway_4","value":{"ecn":"ecn_all","#;
    let named = r#"{"op":"replace","path":"/QUEUE/Ethernet0,Ethernet4,Ethernet8|4/wred_profile","value":"LOSSLESS_floodway_4"}"#;
    assert!(text.contains(copy) && text.contains(named), "{text}");
    assert_eq!(text.matches("\"op\"").count(), 2, "{text}");
}

#[test]
fn the_account_says_what_is_wrong_with_a_key() {
    let text = fs::read_to_string(fixture("classes").join("config_db.json")).unwrap();
    let text =
        text.replace("\"Ethernet0,Ethernet4,Ethernet8|5\": {\"sch", "\"Ethernet0|5-99\": {\"sch");
    let (imported, _) = imported(&[folder("numbers", &[("config_db.json", &text)])]);
    let row = imported.rows.iter().find(|row| row.key.starts_with("QUEUE Ethernet0|5-99")).unwrap();
    let meaning = "`Ethernet0|5-99` of `QUEUE` ends with \"5-99\", which is neither a number from 0 to 7 nor a range of \
                   them";
    assert_eq!((row.fate, row.meaning.as_str()), (Fate::Nothing, meaning));
}

/// Cables of 5 m and of 300 m need different headroom, and one entry has the groups of both. The switch gives each its
/// own, which a profile of the entry would not.
#[test]
fn an_entry_of_different_cables_is_patched_only_if_it_changes() {
    let text = fs::read_to_string(fixture("classes").join("config_db.json")).unwrap();
    let text = text.replace("|3\": {\"profile\": \"pg_3\"}", "|3\": {}");
    let text = text.replace("\"Ethernet8\": \"5m\"", "\"Ethernet8\": \"300m\"");
    let root = folder("different_cables", &[("config_db.json", &text)]);
    let (imported, _) = imported(std::slice::from_ref(&root));
    let config = root.join("config_db.json");
    let scenario = imported.scenario.clone();
    let (_, _, patch) = patched(&root, std::slice::from_ref(&config), &scenario, &[]);
    assert_eq!(patch, "tor-1 []\n");
    fs::write(&config, &text).unwrap();
    let changed = Overrides {
        set: vec!["switch.buffer.shared.ingress.guaranteed=9KB".to_owned()],
        ..Overrides::default()
    };
    let scenario = Scenario::parse(&scenario, "scenario.toml", &changed);
    let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
    let settings = &scenario.variants()[0].settings;
    let said = patches(settings, &[root], Options::default()).unwrap_err().plain();
    let key = "Ethernet0,Ethernet4,Ethernet8|3";
    let expected = format!("the groups of `BUFFER_PG|{key}` would have several profiles");
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("help: write an entry for each group and port"), "{said}");
    // The entry itself, not the field of another one.
    let line = 1 + text.lines().position(|line| line.contains("|3\": {}")).unwrap();
    assert!(said.contains(&format!("config_db.json:{line}:5")), "{said}");
}

#[test]
fn classes_that_cannot_be_written_are_refused_or_listed() {
    let (root, _, scenario) = copied("refused_classes");
    let of = |scenario: &str, set: &str| {
        let set = if set.is_empty() { Vec::new() } else { vec![set.to_owned()] };
        let overrides = Overrides { set, ..Overrides::default() };
        let scenario = Scenario::parse(scenario, "scenario.toml", &overrides);
        let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
        patches(&scenario.variants()[0].settings, std::slice::from_ref(&root), Options::default())
    };
    let unsaid = |scenario: &str, set: &str| {
        let found = of(scenario, set).unwrap_or_else(|error| panic!("{}", error.plain()));
        assert!(found.switches.iter().all(|(_, operations)| operations.is_empty()), "{set}");
        found.unsaid
    };
    let shared = scenario.replace("egress_pool = \"9000000B\"", "");
    assert_eq!(unsaid(&shared, ""), ["switch.buffer.shared.by_queue.egress_pool"]);
    assert_eq!(
        unsaid(&scenario, "switch.aqm.ramp.queues=[1, 2, 4, 5]"),
        ["switch.aqm.ramp.queues"]
    );
    let lossless = "switch.flow_control.pfc.queues=[4]";
    assert_eq!(unsaid(&scenario, lossless), ["switch.flow_control.pfc.queues"]);
    for (text, set, expected, help) in [
        (
            // Queue 5 would leave the lossy pool with another alpha, and is in one entry with queue 6.
            scenario.replace("queues = [0, 1, 2, 3, 6] ", "queues = [0, 1, 2, 3] ")
                + "\n[[switch.buffer.shared.by_queue]]\nqueues = [6]\ningress_alpha = 8\n\
                   ingress_guaranteed = \"0B\"\negress_alpha = 4\n",
            "",
            "`BUFFER_QUEUE|Ethernet0|5-6` has one profile, and its classes would have several",
            "write an entry for each queue and port",
        ),
        (
            // Queue 5 would have nothing of its own, and its priority group is that of 0, 1 and 6.
            scenario.replace("queues = [0, 1, 2, 3, 6] ", "queues = [0, 1, 2, 3] "),
            "",
            "`BUFFER_PG|Ethernet0,Ethernet4,Ethernet8|0` has one profile, and its classes would have several",
            "classes of one priority group have one share",
        ),
        (
            scenario.clone(),
            "switch.buffer.shared.by_queue.0.egress_alpha=3",
            "`switch.buffer.shared.egress.alpha` is 3, and switches have powers of two",
            "write 2 or 4",
        ),
        (
            scenario.clone(),
            "switch.aqm.ramp.by_queue.0.pmax=0.123",
            "`pmax` is 0.123, and CONFIG_DB has whole percent",
            "write 0.12 or 0.13",
        ),
    ] {
        let said = of(&text, set).unwrap_err().plain();
        assert!(said.contains(expected) && said.contains(help), "{said}");
    }
}

/// A map of queues without a class for a queue that is to get a DSCP.
#[test]
fn a_queue_that_no_class_leads_to_gets_no_dscp() {
    let text = fs::read_to_string(fixture("classes").join("config_db.json")).unwrap();
    let text = text.replace(" \"2\": \"2\",", "").replace("\"5\": \"2\", ", "");
    let root = folder("no_class", &[("config_db.json", &text)]);
    let (imported, _) = imported(std::slice::from_ref(&root));
    let list = "queues = [\n";
    let changed =
        imported.scenario.replacen(list, &format!("{list}  {{ queue = 3, dscp = [5] }},\n"), 1);
    let scenario = Scenario::parse(&changed, "scenario.toml", &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
    let settings = &scenario.variants()[0].settings;
    let said = patches(settings, &[root], Options::default()).unwrap_err().plain();
    let expected = "DSCP 5 would be in queue 2, and no traffic class of Ethernet0 leads there";
    assert!(said.contains(expected) && said.contains("add a class for it to"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever values classes get, the patched configuration gives them.
    #[test]
    fn patches_of_classes_are_read_back(
        exponents in prop::array::uniform4(-7i32..=6),
        bytes in prop::array::uniform3(1_700u64..90_000),
        kmin in 1_000u64..200_000,
        width in 1u64..200_000,
        percent in 0u32..=100,
        weights in prop::array::uniform3(1u32..=100),
        dscp in 9u8..33,
    ) {
        let alpha = |index: usize| f64::from(exponents[index]).exp2();
        let by_queue = "switch.buffer.shared.by_queue";
        let [lossy, lossless, background] = weights;
        let set = [
            format!("{by_queue}.0.egress_alpha={}", alpha(0)),
            format!("{by_queue}.0.egress_guaranteed={}B", bytes[0]),
            format!("{by_queue}.0.egress_pool={}B", bytes[0] * 1_000),
            format!("{by_queue}.1.ingress_alpha={}", alpha(1)),
            format!("{by_queue}.2.egress_alpha={}", alpha(2)),
            format!("{by_queue}.2.ingress_guaranteed={}B", bytes[1]),
            format!("switch.buffer.shared.ingress.alpha={}", alpha(3)),
            format!("switch.buffer.shared.ingress.guaranteed={}B", bytes[2]),
            format!("switch.aqm.ramp.by_queue.0.kmin={kmin}B"),
            format!("switch.aqm.ramp.by_queue.0.kmax={}B", kmin + width),
            format!("switch.aqm.ramp.by_queue.0.pmax={}", f64::from(percent) / 100.0),
            format!("switch.scheduler.drr.weights=[1, {lossy}, {lossy}, {background}, {lossless}, {lossless}, {lossy}]"),
            format!("switch.classify.dscp.queues.2.dscp=[5, {dscp}]"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let (root, config, scenario) = copied("any_classes");
        let (again, wanted, text) = patched(&root, &[config], &scenario, &set);
        // Which values are in entries and which are those of all may differ; what classes have does not.
        prop_assert_eq!(&again.switch.classify, &wanted.switch.classify, "{}", &text);
        prop_assert_eq!(&again.switch.scheduler, &wanted.switch.scheduler, "{}", &text);
        for class in 0..7 {
            let shares = [&again, &wanted].map(|of| {
                let shared = of.switch.buffer.pools().unwrap();
                shared.for_queue(class)
            });
            prop_assert_eq!(&shares[0], &shares[1], "queue {}: {}", class, &text);
            let curves = [&again, &wanted].map(|of| {
                let aqm::Spec::Ramp(ramp) = &of.switch.aqm else { panic!("the curve of WRED") };
                ramp.for_queue(class)
            });
            prop_assert_eq!(&curves[0], &curves[1], "queue {}: {}", class, &text);
        }
    }
}
