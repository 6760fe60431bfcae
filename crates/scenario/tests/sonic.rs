//! Configurations of switches with SONiC become scenarios that are valid and mean the same. The expected
//! values are worked out by hand from the files in `tests/sonic`, which are ours, in the form of CONFIG_DB.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::device::shipped;
use floodway_scenario::import::sonic::patch::patches;
use floodway_scenario::import::sonic::{Fate, Imported, Options, import};
use floodway_scenario::topology::Spec as Topology;
use floodway_scenario::{Document, Overrides, Scenario};
use floodway_sim::switch::flow_control::pfc::watchdog::Action;
use floodway_sim::switch::{aqm, buffer, classify, scheduler};

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sonic").join(name)
}

pub fn imported(paths: &[PathBuf]) -> (Imported, Document) {
    let imported = import(paths, "fabric", Options::default());
    let imported = imported.unwrap_or_else(|error| panic!("{}", error.plain()));
    let scenario = Scenario::parse(&imported.scenario, "scenario.toml", &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
    let settings = scenario.variants()[0].settings.clone();
    (imported, settings)
}

/// A folder with these files.
pub fn folder(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sonic").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

pub fn refused(test: &str, files: &[(&str, &str)]) -> String {
    let folder = folder(test, files);
    let error = import(&[folder], "fabric", Options::default()).expect_err(test);
    error.plain()
}

/// 208 bytes and 450 ns are those of the profile; all else is as without it.
#[test]
fn a_profile_has_what_config_db_lacks() {
    let profile = shipped().iter().find(|profile| profile.name == "arista-7260cx3");
    let options = Options { profile, ..Options::default() };
    let known = import(&[fixture("fabric")], "fabric", options).unwrap();
    for comment in ["# arista-7260cx3: vendor table", "# arista-7260cx3: assumed"] {
        assert!(known.scenario.contains(comment), "{}", known.scenario);
    }
    let parse = |text: &str| {
        let scenario = Scenario::parse(text, "scenario.toml", &Overrides::default()).unwrap();
        scenario.variants()[0].settings.clone()
    };
    let (mut known, plain) = (parse(&known.scenario), imported(&[fixture("fabric")]).1);
    assert_eq!((known.switch.cell.bytes(), known.switch.latency), (208, Duration::from_ns(450)));
    // A frame of 1518 bytes takes eight cells, and a guarantee of 1518 does not hold it.
    let guaranteed = |settings: &Document| {
        let buffer::Spec::Shared(shared) = &settings.switch.buffer else {
            panic!("a shared buffer")
        };
        shared.egress.as_ref().unwrap().guaranteed
    };
    assert_eq!((guaranteed(&known), guaranteed(&plain)), (Bytes(0), Bytes(1_518)));
    known.switch.buffer = plain.switch.buffer.clone();
    known.switch.cell = plain.switch.cell;
    known.switch.latency = plain.switch.latency;
    assert_eq!(known, plain);
}

#[test]
fn two_switches_become_a_fabric() {
    let (imported, settings) = imported(&[fixture("fabric")]);
    let Topology::Custom(network) = &settings.topology else { panic!("a network by name") };
    // Ethernet0 and Ethernet4 of the leaf and Ethernet4 of the spine lead to no switch; Ethernet12 is down.
    assert_eq!(network.hosts, ["gpu-1", "leaf-1 Ethernet4", "spine-1 Ethernet4"]);
    assert_eq!(network.switches, ["leaf-1", "spine-1"]);
    let gbps = Rate::from_gbps;
    let of = |ends: &str| {
        let link = network.links.iter().find(|link| link.ends == ends).expect(ends);
        (link.rate.unwrap_or(network.rate), link.delay.unwrap_or(network.delay))
    };
    assert_eq!(network.links.len(), 4);
    // 5 m are 25 ns, 40 m 200 ns.
    assert_eq!(of("gpu-1 -- leaf-1"), (gbps(25), Duration::from_ns(25)));
    assert_eq!(of("leaf-1 -- spine-1"), (gbps(100), Duration::from_ns(200)));
    assert_eq!(of("spine-1 Ethernet4 -- spine-1"), (gbps(100), Duration::from_ns(200)));

    let switch = &settings.switch;
    // Queues 0, 1, 3, 4 and 6, of which 6 has strict priority and is class 0.
    assert_eq!(switch.queue.count, 5);
    let scheduler::Spec::Drr(drr) = &switch.scheduler else { panic!("deficit round robin") };
    assert_eq!((drr.strict, drr.weights.as_slice()), (1, &[1, 10, 10, 40, 40][..]));
    // No entry has the DSCPs that are in no map and so in traffic class 0; 8 is in it too. DSCP 0 is in class 1.
    let classify::Spec::Dscp(dscp) = &switch.classify else { panic!("classes by DSCP") };
    let queues: Vec<(u8, Vec<u8>)> = (dscp.queues.entries().iter())
        .map(|of| (of.queue, of.dscp.iter().map(|marking| marking.dscp().0).collect()))
        .collect();
    let expected = [(0, vec![48]), (2, vec![0]), (3, vec![3]), (4, vec![4])];
    assert_eq!((dscp.default, queues.as_slice()), (1, &expected[..]));
    let workloads: Vec<_> = (settings.workload.iter())
        .map(|of| (of.name.as_deref().unwrap(), of.dscp.unwrap().dscp().0))
        .collect();
    assert_eq!(workloads, [("lossless", 3), ("lossy", 0)]);

    let buffer::Spec::Shared(shared) = &switch.buffer else { panic!("a shared buffer") };
    let ingress = shared.ingress.as_ref().unwrap();
    assert_eq!((ingress.pool, ingress.guaranteed), (Bytes(12_000_000), Bytes(2_000)));
    let egress = shared.egress.as_ref().unwrap();
    assert_eq!(
        (egress.pool, egress.guaranteed, egress.alpha),
        (Bytes(15_000_000), Bytes(1_518), None)
    );
    let rates: Vec<_> =
        shared.by_rate.iter().map(|of| (of.rate, of.alpha, of.headroom.0)).collect();
    // At 100 Gb/s the leaf has its table's 150,000 at two classes of one port, with alpha 1 because no default
    // is written, and the spine 160,000 at one class of two ports.
    assert_eq!(rates, [(gbps(25), 0.5, 90_000), (gbps(100), 1.0, 160_000)]);
    // Queues 6, 0 and 1 share the pool of 9 MB; alpha is 8 at both sides, and nothing is guaranteed at the ingress.
    let [lossy] = &shared.by_queue[..] else { panic!("one entry for lossy classes") };
    let expected = buffer::shared::OfQueues {
        queues: vec![0, 1, 2],
        ingress_alpha: Some(8.0),
        ingress_guaranteed: Some(Bytes(0)),
        egress_alpha: Some(8.0),
        egress_guaranteed: None,
        egress_pool: Some(Bytes(9_000_000)),
    };
    assert_eq!(lossy, &expected);
    let own = &shared.by_switch[0];
    assert_eq!((own.switches[0].as_str(), own.ingress_pool), ("spine-1", Some(Bytes(24_000_000))));
    assert_eq!((shared.by_switch.len(), own.egress_pool), (1, None));
    // The spine has no pool of headroom: each group has its headroom to itself.
    let pools = (shared.headroom_pool, own.headroom_pool);
    assert_eq!(pools, (Some(Bytes(2_000_000)), Some(Bytes(1_000_000_000))));

    let pfc = switch.flow_control.pfc.as_ref().unwrap();
    assert_eq!((pfc.queues.as_slice(), pfc.xon_offset), (&[3, 4][..], Bytes(4_000)));
    let dog = pfc.watchdog.as_ref().unwrap();
    assert_eq!(
        (dog.detection, dog.restoration, dog.action),
        (Duration::from_ms(60), Duration::from_ms(90), Action::Forward)
    );
    let aqm::Spec::Ramp(ramp) = &switch.aqm else { panic!("the curve of WRED") };
    assert_eq!((ramp.kmin, ramp.kmax, ramp.pmax), (Bytes(100_000), Bytes(400_000), 0.2));
    assert_eq!((ramp.queues.as_slice(), ramp.by_queue.len()), (&[3, 4][..], 0));
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
}

/// Every field is in a row, with the fate that the format gives it.
#[test]
fn every_field_is_accounted_for() {
    let (imported, _) = imported(&[fixture("fabric")]);
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(fixture(name)).unwrap()).unwrap()
    };
    // Counted without the importer: a key without fields counts once.
    let fields = |file: serde_json::Value| -> usize {
        let tables = file.as_object().unwrap().values();
        let keys = tables.flat_map(|table| table.as_object().unwrap().values());
        keys.map(|fields| fields.as_object().unwrap().len().max(1)).sum()
    };
    let all =
        fields(json("fabric/leaf/config_db.json")) + fields(json("fabric/spine/config_db.json"));
    assert_eq!((imported.fields, imported.accounted), (all, all));
    let fate = |key: &str, value: &str| {
        let mut rows = imported.rows.iter();
        let found = rows.find(|row| row.key.starts_with(key) && row.value.starts_with(value));
        found.map(|row| (row.fate, row.meaning.as_str())).unwrap_or_else(|| panic!("{key} {value}"))
    };
    for (key, value, expected, meaning) in [
        ("PORT Ethernet0 speed", "25000", Fate::Kept, "`rate` of the link"),
        ("PORT Ethernet12 speed", "100000", Fate::Nothing, "the port is left out: it is down"),
        ("PORT Ethernet0 lanes", "1", Fate::Nothing, "it says nothing of speed, buffers or queues"),
        (
            "BUFFER_POOL ingress_lossless_pool xoff",
            "2000000",
            Fate::Kept,
            "`switch.buffer.shared.headroom_pool`",
        ),
        (
            "BUFFER_PROFILE pg_lossless_25000_5m_profile xoff",
            "90000",
            Fate::Kept,
            "`switch.buffer.shared.headroom`",
        ),
        (
            "BUFFER_PROFILE ingress_lossy_profile dynamic_th",
            "3",
            Fate::Kept,
            "`switch.buffer.shared.by_queue.ingress_alpha`, 2 to this power",
        ),
        (
            "BUFFER_POOL egress_lossy_pool size",
            "9000000",
            Fate::Kept,
            "`switch.buffer.shared.by_queue.egress_pool`",
        ),
        (
            "PORT_QOS_MAP Ethernet0,Ethernet4 pfc_enable",
            "3",
            Fate::Differs,
            "`switch.flow_control.pfc.queues` is for 3, 4 for all ports: what most of them have, or the largest need",
        ),
        (
            "DSCP_TO_TC_MAP AZURE 3",
            "3",
            Fate::Kept,
            "`switch.classify.dscp`, queue 3 of the switches",
        ),
        (
            "TC_TO_QUEUE_MAP AZURE 6",
            "6",
            Fate::Kept,
            "`switch.classify.dscp`, queue 6 of the switches",
        ),
        (
            "DSCP_TO_TC_MAP",
            "(none)",
            Fate::Differs,
            "2 of 5 ports have no map of DSCPs, and here all have one",
        ),
        ("NTP_SERVER 10.0.0.1", "", Fate::Nothing, "it has no fields"),
        (
            "WRED_PROFILE LOSSLESS red_min_threshold",
            "100000",
            Fate::Nothing,
            "all packets are green: no meter colors them",
        ),
        (
            "QUEUE wred_profile",
            "(none)",
            Fate::Differs,
            "queue 3 does not mark at 2 of 5 ports, and here it marks at all",
        ),
    ] {
        assert_eq!(fate(key, value), (expected, meaning), "{key}");
    }
}

const QOS: &str = r#"{"PORT_QOS_MAP": {"Ethernet0,Ethernet4": {"pfc_enable": "3"}},
"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m", "Ethernet4": "40m"}}}"#;

/// Files without a table in common are one switch. Groups without a profile have the line of the headroom
/// table, as SONiC's buffer manager takes it; without a table, the sum of `floodway headroom`.
#[test]
fn headroom_comes_from_the_table_or_is_computed() {
    let pool = r#"{"BUFFER_POOL": {"ingress_lossless_pool": {"size": "9000000", "xoff": "1"}}}"#;
    let table = "100000 40m 49152 19456 160000 0 0\n100000 5m 1 0 50000 0\n";
    let with =
        folder("table", &[("a.json", QOS), ("b.json", pool), ("pg_profile_lookup.ini", table)]);
    let headroom = |paths: &[PathBuf]| {
        let (_, settings) = imported(paths);
        let buffer::Spec::Shared(shared) = settings.switch.buffer else {
            panic!("a shared buffer")
        };
        (shared.headroom, shared.ingress.unwrap().guaranteed)
    };
    // 49152 is less than XON and headroom together: it is all below XOFF.
    assert_eq!(headroom(&[with]), (Bytes(160_000), Bytes(49_152)));
    let without = folder("computed", &[("a.json", QOS), ("b.json", pool)]);
    // 100 Gb/s, frames of 9216: 9236 ahead, 84 of pause, 2 * 2500 of cable, 25,216 of response (394 quanta),
    // and 9236 of the last frame are 48,772 on the wire, which carry 5 * 9216 + 2572 bytes of frames (five
    // take 46,180, and 2592 have a frame of 2572); with the frame that crosses XOFF 57,868.
    assert_eq!(headroom(&[without]), (Bytes(6 * 9_216 + 2_572), Bytes(0)));
    // With lossless frames of 1024: 9236 of another class ahead, 84, 5000 and 25,216 as before, and 1044 of the last
    // frame are 40,580 on the wire. 38 frames take 39,672, and 908 have a frame of 888; and one crosses XOFF.
    let pattern = r#"{"LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024"}}}"#;
    let pool = pool.replace("\"xoff\": \"1\"", "\"xoff\": \"900000\"");
    let with = folder("pattern", &[("a.json", QOS), ("b.json", &pool), ("c.json", pattern)]);
    assert_eq!(headroom(std::slice::from_ref(&with)), (Bytes(39 * 1_024 + 888), Bytes(0)));
    // It is enough for the frames of the scenario, which are those of Ethernet, and the account says what it is for.
    let (imported, settings) = imported(&[with]);
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    assert!(settings.switch.flow_control.pfc.unwrap().lossless);
    let mtu = |key: &str| key.starts_with("LOSSLESS_TRAFFIC_PATTERN AZURE mtu");
    let row = imported.rows.iter().find(|row| mtu(&row.key)).unwrap();
    let meaning = "the longest lossless frame of the headroom that is computed here; a pause waits for a frame of 9216 \
                   bytes of any class";
    assert_eq!(row.meaning, meaning);
}

/// Headroom below the worst case is a warning, and losses are counted.
#[test]
fn too_little_headroom_is_a_warning() {
    let pool = r#"{"BUFFER_POOL": {"ingress_lossless_pool": {"size": "9000000", "xoff": "1"}}}"#;
    let table = "100000 40m 19456 19456 20000 0\n";
    let small =
        folder("small", &[("a.json", QOS), ("b.json", pool), ("pg_profile_lookup.ini", table)]);
    let (imported, settings) = imported(&[small]);
    assert!(!settings.switch.flow_control.pfc.unwrap().lossless);
    let [warning] = imported.warnings.as_slice() else { panic!("{:?}", imported.warnings) };
    let expected =
        "the switches may lose lossless traffic: the headroom of a port and class is 20KB, but ";
    assert!(warning.message.starts_with(expected), "{}", warning.message);
}

#[test]
fn a_lossy_switch_has_no_pfc() {
    let lossy = r#"{
        "BUFFER_POOL": {"in": {"size": "8000000", "type": "ingress"}, "out": {"size": "4000000", "type": "egress"}},
        "BUFFER_PROFILE": {"i": {"pool": "in", "size": "0", "dynamic_th": "1"},
                           "e": {"pool": "out", "size": "0", "static_th": "1000000"}},
        "BUFFER_PG": {"Ethernet0,Ethernet4|0": {"profile": "i"}},
        "BUFFER_QUEUE": {"Ethernet0,Ethernet4|0": {"profile": "e"}}}"#;
    let (_, settings) = imported(&[folder("lossy", &[("a.json", lossy)])]);
    assert!(settings.switch.flow_control.pfc.is_none());
    let buffer::Spec::Shared(shared) = &settings.switch.buffer else { panic!("a shared buffer") };
    assert_eq!(shared.ingress.as_ref().unwrap().alpha, Some(2.0));
    // One queue alone may hold alpha / (1 + alpha) of the pool: a quarter with alpha 1/3.
    assert_eq!(shared.egress.as_ref().unwrap().alpha, Some(1.0 / 3.0));
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    let port = |more: &str| {
        format!(
            "{{\"PORT\": {{\"Ethernet0\": {{\"speed\": \"1000\"}}, \"Ethernet4\": {{\"speed\": \"1000\"}}}},\n{more}}}"
        )
    };
    let case = |test: &str, more: &str, expected: &str| {
        let said = refused(test, &[("db.json", &port(more))]);
        assert!(said.contains(expected), "{test}: {said}");
        assert!(said.contains("db.json") && said.contains("help: "), "{test}: {said}");
    };
    case(
        "no_profile",
        "\"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"p\"}}",
        "there is no `BUFFER_PROFILE|p`",
    );
    case(
        "slip",
        "\"SCHEDULER\": {\"lossy\": {}}, \"QUEUE\": {\"Ethernet0|3\": {\"scheduler\": \"losy\"}}",
        "did you mean `lossy`?",
    );
    case(
        "priority",
        "\"PORT_QOS_MAP\": {\"Ethernet0\": {\"pfc_enable\": \"3,9\"}}",
        "PFC of Ethernet0 is for \"9\"",
    );
    case(
        "cable",
        "\"CABLE_LENGTH\": {\"A\": {\"Ethernet0\": \"5\"}}",
        "the cable of Ethernet0 is \"5\"",
    );
    case(
        "itself",
        "\"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"a\"}}, \"DEVICE_NEIGHBOR\": {\"Ethernet0\": {\"name\": \"a\", \"port\": \"Ethernet4\"}}",
        "the cable of Ethernet0 leads back to a",
    );
    case(
        "exponent",
        "\"BUFFER_PROFILE\": {\"p\": {\"dynamic_th\": \"99\"}}, \"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"p\"}}",
        "`dynamic_th` of `BUFFER_PROFILE|p` is \"99\"",
    );
    let apart = refused("apart", &[("a.json", &port("\"A\": {}")), ("b.json", &port("\"A\": {}"))]);
    assert!(
        apart.contains("no path leads from a to b: `DEVICE_NEIGHBOR`, minigraphs and LLDP join them by no cable"),
        "{apart}"
    );
    let none = refused("none", &[("a.json", "{\"NTP_SERVER\": {}}")]);
    assert!(
        none.contains("the configuration of none names no port that carries traffic"),
        "{none}"
    );
    let alone = folder("ini", &[("pg_profile_lookup.ini", "100000 5m 1 0 2 0\n")]);
    let file = alone.join("pg_profile_lookup.ini");
    for (path, expected) in [
        (file, "there is no configuration among these files"),
        (alone, "the directory has no configuration: no file that ends in .json"),
    ] {
        let said = import(&[path], "x", Options::default()).unwrap_err().plain();
        assert!(said.contains(expected), "{said}");
    }
}

/// Applies a patch as RFC 6902 says, for the operations and places that patches here have.
fn apply(document: &mut serde_json::Value, patch: &serde_json::Value) {
    for operation in patch.as_array().unwrap() {
        let path = operation["path"].as_str().unwrap();
        let (parent, last) = path.rsplit_once('/').unwrap();
        let last = last.replace("~1", "/").replace("~0", "~");
        let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
        let parent = parent.as_object_mut().unwrap();
        let is_there = parent.contains_key(&last);
        match operation["op"].as_str().unwrap() {
            "remove" => drop(parent.remove(&last).expect("it is there")),
            "replace" => {
                assert!(is_there, "{path}");
                parent.insert(last, operation["value"].clone());
            }
            "add" => drop(parent.insert(last, operation["value"].clone())),
            other => panic!("{other}"),
        }
    }
}

/// A folder with a fabric of ours, to be patched.
fn copied(test: &str) -> (PathBuf, Vec<PathBuf>) {
    let root = folder(test, &[]);
    let mut configs = Vec::new();
    for switch in ["leaf", "spine"] {
        fs::create_dir_all(root.join(switch)).unwrap();
        let files = fs::read_dir(fixture("fabric").join(switch)).unwrap();
        for file in files.map(|file| file.unwrap().path()) {
            let to = root.join(switch).join(file.file_name().unwrap());
            fs::copy(&file, &to).unwrap();
        }
        configs.push(root.join(switch).join("config_db.json"));
    }
    (root, configs)
}

/// The settings of switches after the patches for a changed scenario are applied and the configurations read
/// again, the settings that it has, and the patches as text.
fn there_and_back(test: &str, set: &[&str]) -> (Document, Document, String) {
    let (root, configs) = copied(test);
    let (original, _) = imported(std::slice::from_ref(&root));
    patched(&root, &configs, &original.scenario, set)
}

/// The same for any configurations, and for a scenario of them as text.
pub fn patched(
    root: &Path,
    configs: &[PathBuf],
    scenario: &str,
    set: &[&str],
) -> (Document, Document, String) {
    let root = root.to_owned();
    let overrides = Overrides {
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    let scenario = Scenario::parse(scenario, "scenario.toml", &overrides);
    let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
    let wanted = scenario.variants()[0].settings.clone();
    let found = patches(&wanted, std::slice::from_ref(&root), Options::default());
    let found = found.unwrap_or_else(|error| panic!("{}", error.plain()));
    assert_eq!(found.unsaid, Vec::<String>::new());
    let mut text = String::new();
    for (config, (name, operations)) in configs.iter().zip(&found.switches) {
        let patch = serde_json::to_value(operations).unwrap();
        text += &format!("{name} {patch}\n");
        let mut document = serde_json::from_str(&fs::read_to_string(config).unwrap()).unwrap();
        apply(&mut document, &patch);
        fs::write(config, document.to_string()).unwrap();
    }
    let (_, again) = imported(&[root]);
    (again, wanted, text)
}

#[test]
fn what_is_not_changed_is_not_patched() {
    let (again, wanted, text) = there_and_back("unchanged", &[]);
    assert_eq!(again.switch, wanted.switch);
    assert_eq!(text, "leaf-1 []\nspine-1 []\n");
}

#[test]
fn a_patch_that_is_applied_gives_the_scenario() {
    let (again, wanted, text) = there_and_back(
        "patched",
        &[
            "switch.aqm.ramp.kmin=150KB",
            "switch.aqm.ramp.pmax=0.07",
            "switch.scheduler.drr.weights=[1, 12, 12, 50, 50]",
            "switch.buffer.shared.ingress.pool=11MB",
            "switch.buffer.shared.headroom_pool=1500000B",
            "switch.buffer.shared.ingress.guaranteed=3000B",
            "switch.buffer.shared.by_rate.0.headroom=95000B",
            "switch.buffer.shared.by_rate.1.alpha=0.25",
            "switch.buffer.shared.by_rate.1.headroom=170000B",
            "switch.buffer.shared.egress.alpha=4",
            "switch.flow_control.pfc.xon_offset=5000B",
            "switch.flow_control.pfc.watchdog.detection=80ms",
        ],
    );
    assert_eq!(again.switch, wanted.switch, "{text}");
    for expected in [
        r#"{"op":"replace","path":"/WRED_PROFILE/LOSSLESS/green_min_threshold","value":"150000"}"#,
        r#"{"op":"replace","path":"/WRED_PROFILE/LOSSLESS/green_drop_probability","value":"7"}"#,
        r#"{"op":"replace","path":"/BUFFER_PROFILE/pg_lossless_25000_5m_profile/xoff","value":"95000"}"#,
        r#""path":"/BUFFER_PG/Ethernet8|3","value":{"profile":"pg_lossless_100000_40m_floodway"}"#,
        r#"{"op":"remove","path":"/BUFFER_PROFILE/egress_lossless_profile/static_th"}"#,
        r#"{"op":"replace","path":"/BUFFER_PROFILE/lossless/dynamic_th","value":"-2"}"#,
        r#"{"op":"replace","path":"/BUFFER_POOL/ingress_lossless_pool/size","value":"11000000"}"#,
        r#"{"op":"replace","path":"/BUFFER_POOL/ingress_lossless_pool/xoff","value":"1500000"}"#,
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn what_switches_cannot_have_is_refused() {
    let (root, _) = copied("refused");
    let (original, settings) = imported(std::slice::from_ref(&root));
    let refused = |set: &str| {
        let overrides = Overrides { set: vec![set.to_owned()], ..Overrides::default() };
        let scenario = Scenario::parse(&original.scenario, "scenario.toml", &overrides).unwrap();
        patches(&scenario.variants()[0].settings, std::slice::from_ref(&root), Options::default())
    };
    for (set, expected, help) in [
        (
            "switch.buffer.shared.by_rate.0.alpha=3",
            "`switch.buffer.shared.ingress.alpha` is 3, and switches have powers of two",
            "write 2 or 4",
        ),
        (
            "switch.aqm.ramp.pmax=0.015",
            "`pmax` is 0.015, and CONFIG_DB has whole percent",
            "write 0.01 or 0.02",
        ),
        (
            "switch.flow_control.pfc.watchdog.detection=60.5ms",
            "`detection_time` would be 60.5ms, and CONFIG_DB has whole milliseconds",
            "at least one",
        ),
        (
            "switch.scheduler.drr.weights=[1, 10, 10, 600, 600]",
            "a weight is 600, and SONiC takes 1 to 100",
            "divide all weights by the same number",
        ),
    ] {
        let said = refused(set).unwrap_err().plain();
        assert!(said.contains(expected) && said.contains(help), "{said}");
    }
    // A scenario of other switches.
    let other = Scenario::parse(
        &original.scenario.replace("spine-1", "spine-2"),
        "scenario.toml",
        &Overrides::default(),
    );
    let other = other.unwrap().variants()[0].settings.clone();
    let said = patches(&other, std::slice::from_ref(&root), Options::default()).unwrap_err();
    let said = said.plain();
    assert!(said.contains(r#"it has the switches ["leaf-1", "spine-2"]"#), "{said}");
    assert!(said.contains("name all configurations from which"), "{said}");
    // What CONFIG_DB does not have is listed.
    let found = refused("switch.latency=500ns").unwrap();
    assert_eq!(found.unsaid, ["switch.latency"]);
    assert!(found.switches.iter().all(|(_, operations)| operations.is_empty()));
    assert_eq!(settings.switch.latency, Duration::ZERO);
}
