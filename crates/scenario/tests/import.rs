//! Configurations of the HPCC authors' simulator become scenarios that are valid and say the same.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::import::hpcc::{Fate, Imported, import};
use floodway_scenario::{Document, Overrides, Scenario};
use floodway_sim::host::congestion::{self, dcqcn};
use floodway_sim::switch::{aqm, buffer};

/// Two hosts at each of two switches; the link between these is twice as fast.
const TOPOLOGY: &str = "\
6 2 5
4 5
0 4 100Gbps 1000ns 0
1 4 100Gbps 1000ns 0
2 5 100Gbps 1000ns 0
3 5 100Gbps 1000ns 0
4 5 200Gbps 1000ns 0
";

const FLOWS: &str = "\
3
0 2 3 100 5000 2
1 3 3 100 100 2.0000005
0 3 3 100 1000 2.5
";

/// Of the simulator's example, with the thresholds that its script writes at 100 Gb/s.
const CONFIG: &str = "\
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1

PACKET_PAYLOAD_SIZE 1000

TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
TRACE_FILE mix/trace.txt
TRACE_OUTPUT_FILE mix/mix.tr
FCT_OUTPUT_FILE mix/fct.txt
PFC_OUTPUT_FILE mix/pfc.txt

SIMULATOR_STOP_TIME 2.40

CC_MODE 3
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 900 
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
DCTCP_RATE_AI 1000Mb/s

ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1 {number of packets between ACK generation, 1 means per packet}
L2_BACK_TO_ZERO 0

HAS_WIN 1
GLOBAL_T 1
VAR_WIN 1
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 1
MULTI_RATE 1
SAMPLE_FEEDBACK 0

RATE_BOUND 1

ACK_HIGH_PRIO 0

LINK_DOWN 0 0 0

ENABLE_TRACE 1

KMAX_MAP 2 100000000000 1600 200000000000 3200
KMIN_MAP 2 100000000000 400 200000000000 800
PMAX_MAP 2 100000000000 0.2 200000000000 0.2
BUFFER_SIZE 32
QLEN_MON_FILE mix/qlen.txt
QLEN_MON_START 2000000000
QLEN_MON_END 2010000000
";

/// A folder of the simulator with this configuration in it, and where that is.
fn folder(test: &str, config: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("import").join(test);
    fs::create_dir_all(folder.join("mix")).unwrap();
    for (name, text) in [("topology.txt", TOPOLOGY), ("flow.txt", FLOWS), ("config.txt", config)] {
        fs::write(folder.join("mix").join(name), text).unwrap();
    }
    folder.join("mix/config.txt")
}

/// The example with some lines changed: by the key, or added.
fn changed(lines: &[&str]) -> String {
    let key = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let kept = CONFIG.lines().filter(|line| !lines.iter().any(|new| key(new) == key(line)));
    kept.chain(lines.iter().copied()).map(|line| format!("{line}\n")).collect()
}

fn imported(test: &str, lines: &[&str]) -> (Imported, Document) {
    let path = folder(test, &changed(lines));
    let imported = import(&path, test).unwrap_or_else(|error| panic!("{}", error.plain()));
    let settings = loaded(&path, &imported).variants()[0].settings.clone();
    (imported, settings)
}

/// The scenario, read from a folder beside the configuration.
fn loaded(config: &Path, imported: &Imported) -> Scenario {
    let out = config.with_file_name("out");
    fs::create_dir_all(&out).unwrap();
    for (name, text) in &imported.files {
        fs::write(out.join(name), text).unwrap();
    }
    let path = out.join("scenario.toml");
    fs::write(&path, &imported.scenario).unwrap();
    let scenario = Scenario::load(&path, &Overrides::default());
    scenario.unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// What is refused, in plain text without the folder.
fn refused(test: &str, lines: &[&str]) -> String {
    let path = folder(test, &changed(lines));
    let error = import(&path, test).expect_err("it is refused");
    error.plain().replace(&format!("{}/", path.parent().unwrap().display()), "")
}

fn fate(imported: &Imported, key: &str) -> Option<Fate> {
    imported.rows.iter().find(|row| row.key == key).map(|row| row.fate)
}

#[test]
fn hpcc_of_the_example() {
    let (imported, settings) = imported("hpcc", &[]);
    let Some(congestion::Spec::Hpcc(hpcc)) = &settings.host.congestion else { panic!("HPCC") };
    // Host, switch, switch, host: 3 us there and back each, and 1000 bytes at 100, 200 and 100 Gb/s.
    assert_eq!(hpcc.base_rtt, Some(Duration::from_ns(6_000 + 80 + 40 + 80)));
    assert_eq!((hpcc.eta, hpcc.max_stage, hpcc.fast_react), (0.95, 0, true));
    assert_eq!(hpcc.additive_increase, Rate::from_mbps(50));
    // 1000 and 48 with 42 of telemetry, and 46 with it.
    let transport = &settings.profiles()[0].transport;
    assert_eq!((transport.largest_frame(), transport.answer_frame()), (1_090, 88));
    assert_eq!((settings.limit, settings.wire_overhead), (Duration::from_ms(400), Bytes(0)));
    // The third flow starts after the stop.
    assert_eq!(imported.files[1].1.lines().next(), Some("2"));
    assert_eq!(fate(&imported, "MULTI_RATE"), Some(Fate::Differs));
    assert_eq!(fate(&imported, "ACK_HIGH_PRIO"), Some(Fate::Kept));
    // With the data in switches, and stopped with it in NICs.
    assert_eq!((settings.switch.feedback.ack, settings.host.pause_feedback), (Some(0), true));
    assert_eq!(fate(&imported, "RP_TIMER"), Some(Fate::Nothing));
    // Every key has one row, and nothing is doubtful.
    for key in CONFIG.lines().filter_map(|line| line.split_whitespace().next()) {
        assert_eq!(imported.rows.iter().filter(|row| row.key == key).count(), 1, "{key}");
    }
    assert_eq!(imported.warnings, []);
}

#[test]
fn switches_of_the_example() {
    let (_, settings) = imported("switches", &[]);
    let (slow, fast) = (Rate::from_gbps(100), Rate::from_gbps(200));
    let aqm::Spec::Ramp(ramp) = &settings.switch.aqm else { panic!("a ramp") };
    assert_eq!(ramp.at, aqm::ramp::At::Departure);
    for (rate, low, high) in [(slow, 400_000, 1_600_000), (fast, 800_000, 3_200_000)] {
        let curve = ramp.for_rate(rate);
        assert_eq!((curve.kmin, curve.kmax, curve.pmax), (Bytes(low), Bytes(high), 0.2));
    }
    let buffer::Spec::Shared(memory) = &settings.switch.buffer else { panic!("a shared memory") };
    // 3 us of each link, a reserve of 4 KiB, and of the rest an eighth or a quarter of what is free.
    assert_eq!((memory.alpha_at(slow), memory.headroom_at(slow)), (Some(0.125), Bytes(37_500)));
    assert_eq!((memory.alpha_at(fast), memory.headroom_at(fast)), (Some(0.25), Bytes(75_000)));
    let pool = &memory.ingress.as_ref().unwrap().pool;
    assert_eq!(*pool, Bytes(32 * 1_048_576 - 2 * 37_500 - 75_000 - 3 * 4_096));
    // 1 us there and back and two frames are less than 3 us.
    assert!(settings.switch.flow_control.pfc.as_ref().unwrap().lossless);
}

#[test]
fn dcqcn_with_and_without_a_window() {
    let lines = ["CC_MODE 1", "HAS_WIN 0", "ACK_HIGH_PRIO 1"];
    let (imported_without, settings) = imported("dcqcn", &lines);
    let Some(congestion::Spec::Dcqcn(spec)) = &settings.host.congestion else { panic!("DCQCN") };
    let expected = dcqcn::Spec {
        variant: dcqcn::Variant::Periodic,
        notification: dcqcn::Notification::Ack,
        alpha_timer: Duration::from_us(1),
        increase_timer: Duration::from_us(900),
        byte_counter: Bytes(0),
        fast_recovery: 1,
        additive_increase: Rate::from_mbps(50),
        hyper_increase: Rate::from_mbps(100),
        ..dcqcn::Spec::default()
    };
    assert_eq!(*spec, expected);
    assert_eq!(fate(&imported_without, "ACK_HIGH_PRIO"), Some(Fate::Kept));
    // In switches with the data all the same; only NICs send them through pauses.
    assert_eq!((settings.switch.feedback.ack, settings.host.pause_feedback), (Some(0), false));
    let transport = &settings.profiles()[0].transport;
    assert_eq!((transport.largest_frame(), transport.answer_frame()), (1_048, 60));

    let (_, settings) = imported("dcqcn-window", &["CC_MODE 1"]);
    let Some(congestion::Spec::Dcqcn(spec)) = &settings.host.congestion else { panic!("DCQCN") };
    let window = Some(Duration::from_ns(6_200));
    assert_eq!(*spec, dcqcn::Spec { window, window_follows_rate: true, ..expected });
}

#[test]
fn timely_and_dctcp() {
    let (_, settings) = imported("timely", &["CC_MODE 7", "RATE_HAI 500Mbps", "HAS_WIN 0"]);
    let Some(congestion::Spec::Timely(timely)) = &settings.host.congestion else {
        panic!("TIMELY")
    };
    assert_eq!((timely.hyper_increase, timely.window), (Rate::from_mbps(500), None));
    let transport = &settings.profiles()[0].transport;
    assert_eq!((transport.largest_frame(), transport.answer_frame()), (1_056, 60));

    let (_, settings) =
        imported("dctcp", &["CC_MODE 8", "EWMA_GAIN 0.0625", "DCTCP_RATE_AI 615Mb/s"]);
    let Some(congestion::Spec::RdmaDctcp(dctcp)) = &settings.host.congestion else {
        panic!("DCTCP")
    };
    assert_eq!((dctcp.g, dctcp.additive_increase), (0.0625, Some(Rate::from_mbps(615))));
}

#[test]
fn a_link_goes_down_after_two_seconds() {
    let (_, settings) = imported("link", &["LINK_DOWN 150 5 4"]);
    assert_eq!(settings.failure[0].link, ["switch 5", "switch 4"]);
    let of = (settings.failure[0].at, settings.failure[0].detection);
    assert_eq!(of, (Duration::from_us(150), Duration::ZERO));
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(
        refused("pint", &["CC_MODE 10"]),
        "\
error: `CC_MODE` 10 is HPCC with PINT, which floodway does not have
  --> config.txt:56:9
   |
56 | CC_MODE 10
   |         ^^
   = help: PINT compresses the telemetry of HPCC at random; write 3 for HPCC with all of it
"
    );
    for (test, line, message) in [
        ("mode", "CC_MODE 2", "`CC_MODE` is 2, which the simulator does not know"),
        ("loss", "ERROR_RATE_PER_LINK 0.001", "links of floodway lose nothing at random"),
        ("acks", "L2_ACK_INTERVAL 0", "`L2_ACK_INTERVAL` is 0: nothing would be acknowledged"),
        ("rate", "RATE_AI 50", "`RATE_AI`: \"50\" has no unit"),
        ("curve", "KMAX_MAP 1 100000000000 1600", "`KMAX_MAP` says nothing of 200Gbps"),
        ("pairs", "KMAX_MAP 2 100000000000 1600", "`KMAX_MAP` has 3 of 5 values"),
        ("window", "HAS_WIN 0", "HPCC has no window, by which the simulator divides"),
        ("file", "FLOW_FILE mix/flows.txt", "there is no file `mix/flows.txt`"),
        ("memory", "BUFFER_SIZE 0", "headroom and reserves of ports take all of 0 MiB"),
        (
            "stop",
            "SIMULATOR_STOP_TIME 2",
            "the run would stop (2s) before the first flow starts (2s)",
        ),
        ("node", "LINK_DOWN 10 4 17", "there is no such node"),
    ] {
        let said = refused(test, &[line]);
        assert!(said.starts_with(&format!("error: {message}")), "{said}");
        assert!(said.contains("--> config.txt:56"), "{said}");
    }
    let misspelled = refused("near", &["FLOW_FILE mix/flwo.txt"]);
    assert!(misspelled.ends_with("= help: did you mean `mix/flow.txt`?\n"), "{misspelled}");
    let missing = CONFIG.replace("RATE_AI 50Mb/s\n", "");
    let error = import(&folder("missing", &missing), "missing").unwrap_err().plain();
    assert!(error.contains("`RATE_AI` is missing"), "{error}");
    let topology = import(&folder("topology", TOPOLOGY), "topology").unwrap_err().plain();
    assert!(
        topology
            .starts_with("error: this is no configuration: it has none of the simulator's keys\n")
            && topology.contains("A topology or a flow file by itself is read by [topology.file]"),
        "{topology}"
    );
}

#[test]
fn what_is_not_known_is_told() {
    let lines = ["RATE_IA 10Mb/s", "BUFFER_SIZE 32 64", "MIN_RATE 1Gb/s", "L2_BACK_TO_ZERO 1"];
    let (imported, _) = imported("unknown", &lines);
    let warnings: Vec<_> = imported.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(
        warnings,
        ["there is no key `RATE_IA`", "`BUFFER_SIZE` has more values than it takes"]
    );
    assert!(imported.warnings[0].help.starts_with("did you mean `RATE_AI`?"));
    assert_eq!(fate(&imported, "RATE_IA"), Some(Fate::Nothing));
    assert_eq!(fate(&imported, "L2_BACK_TO_ZERO"), Some(Fate::Differs));
}

/// What the simulator takes and no scenario can say is refused before anything is written, where it was
/// read.
#[test]
fn what_would_not_be_valid_is_refused() {
    let text = refused("unlikely", &["PMAX_MAP 2 100000000000 1.2 200000000000 0.2"]);
    assert_eq!(
        text,
        "\
error: at 100Gbps the probability of marking is 1.2
  --> config.txt:56:25
   |
56 | PMAX_MAP 2 100000000000 1.2 200000000000 0.2
   |                         ^^^
   = help: write a number from 0 to 1, like 0.2
"
    );
    assert_eq!(
        refused("aim", &["U_TARGET 1.5"]),
        "\
error: `host.congestion.hpcc.eta` is 1.5
  --> config.txt:56:10
   |
56 | U_TARGET 1.5
   |          ^^^
   = help: write a number above 0 and at most 1; the paper has 0.95 (`U_TARGET` becomes `eta = 1.5` in the scenario)
"
    );
    assert_eq!(
        refused("no-link", &["LINK_DOWN 5 0 1"]),
        "\
error: there is no link between `host 0` and `host 1`
  --> config.txt:56:11
   |
56 | LINK_DOWN 5 0 1
   |           ^^^^^
   = help: `host 0` has links to: switch 4 (`LINK_DOWN` becomes `link = [\"host 0\", \"host 1\"]` in the scenario)
"
    );
    assert_eq!(
        refused("jumbo", &["PACKET_PAYLOAD_SIZE 9000"]),
        "\
error: frames would have 9048 bytes, and a port reserves 4096, which cannot hold one
  --> config.txt:56:21
   |
56 | PACKET_PAYLOAD_SIZE 9000
   |                     ^^^^
   = help: write at most 4048
"
    );
    let text = refused("payload", &["PACKET_PAYLOAD_SIZE 9223372036854775808"]);
    assert_eq!(
        text.lines().next().unwrap(),
        "error: `PACKET_PAYLOAD_SIZE` is 9223372036854775808, and a frame has at most 65535 bytes"
    );
    let text =
        refused("threshold", &["KMAX_MAP 2 100000000000 1600 200000000000 9223372036854775807"]);
    assert_eq!(
        text.lines().next().unwrap(),
        "error: a threshold of 9223372036854775807 KB is too large"
    );
}

/// Switch 5 has another host behind 100 Gb/s and 1 us: 37500 bytes of headroom and 4096 of reserve less to
/// share. Switch 4 has 32 MiB less two of these and one of 75000 and 4096, as in the example.
#[test]
fn switches_have_the_memory_that_they_have_there() {
    let path = folder("memory", CONFIG);
    let topology = TOPOLOGY.replace("6 2 5", "7 2 6") + "6 5 100Gbps 1000ns 0\n";
    fs::write(path.with_file_name("topology.txt"), topology).unwrap();
    let imported = import(&path, "memory").unwrap_or_else(|error| panic!("{}", error.plain()));
    let scenario = loaded(&path, &imported);
    let buffer::Spec::Shared(memory) = &scenario.variants()[0].settings.switch.buffer else {
        panic!("shared")
    };
    let of_4 = 32 * 1_048_576 - 2 * 37_500 - 75_000 - 3 * 4_096;
    let [other] = memory.by_switch.as_slice() else { panic!("one more: {:?}", memory.by_switch) };
    assert_eq!(memory.ingress.as_ref().unwrap().pool, Bytes(of_4 - 37_500 - 4_096));
    assert_eq!(
        (&other.switches[..], other.ingress_pool),
        (&["switch 4".to_owned()][..], Some(Bytes(of_4)))
    );
    assert_eq!(fate(&imported, "BUFFER_SIZE"), Some(Fate::Kept));
}

/// Two flows start at once, that of the higher source first in the file: it has number 0.
#[test]
fn flows_are_numbered_as_in_the_file() {
    let path = folder("order", CONFIG);
    fs::write(path.with_file_name("flow.txt"), "2\n1 3 3 100 100 2\n0 2 3 100 5000 2\n").unwrap();
    let mut imported = import(&path, "order").unwrap_or_else(|error| panic!("{}", error.plain()));
    let sources = |imported: &Imported| {
        let scenario = loaded(&path, imported);
        let flows = scenario.build(&scenario.variants()[0], 0).flows;
        flows.iter().map(|flow| flow.src.0).collect::<Vec<_>>()
    };
    assert_eq!(sources(&imported), [1, 0]);
    imported.scenario = imported.scenario.replace("keep_order = true", "keep_order = false");
    assert_eq!(sources(&imported), [0, 1]);
}

/// What is refused with other files, in plain text without the folder.
fn refused_with(test: &str, files: &[(&str, &str)]) -> String {
    let path = folder(test, CONFIG);
    for (name, text) in files {
        fs::write(path.with_file_name(name), text).unwrap();
    }
    let error = import(&path, test).expect_err("it is refused");
    error.plain().replace(&format!("{}/", path.parent().unwrap().display()), "")
}

#[test]
fn what_is_wrong_with_flows_is_shown_there() {
    let text = refused_with("many", &[("flow.txt", "1\n\n0 1 3 100 18446744073709551615 2\n")]);
    assert_eq!(
        text,
        "\
error: the flow has 18446744073709552 packets
 --> ../mix/flow.txt:3:11
  |
3 | 0 1 3 100 18446744073709551615 2
  |           ^^^^^^^^^^^^^^^^^^^^
  = help: fewer than 4294967295 can be numbered: make it smaller
"
    );
    let text = refused_with("mark", &[("topology.txt", "\u{feff}6 2 5\n")]);
    assert_eq!(
        text,
        "\
error: the number of nodes is `\\u{feff}6`, not a whole number
 --> ../mix/topology.txt:1:1
  |
1 | \\u{feff}6 2 5
  | ^^^^^^^^^
  = help: a byte order mark stands before it: save the file without one
"
    );
}

#[test]
fn a_byte_order_mark_hides_the_first_key() {
    let path = folder("mark-of-config", &format!("\u{feff}{CONFIG}"));
    let imported = import(&path, "mark").unwrap_or_else(|error| panic!("{}", error.plain()));
    let [warning] = imported.warnings.as_slice() else { panic!("one: {:?}", imported.warnings) };
    assert_eq!(
        warning.help,
        "the simulator ignores this line, because a byte order mark stands before the key: save the \
         file without one"
    );
}

/// Lines may end as on Windows.
#[test]
fn carriage_returns_change_nothing() {
    let path = folder("crlf", &CONFIG.replace('\n', "\r\n"));
    for (name, text) in [("topology.txt", TOPOLOGY), ("flow.txt", FLOWS)] {
        fs::write(path.with_file_name(name), text.replace('\n', "\r\n")).unwrap();
    }
    let with = import(&path, "crlf").unwrap_or_else(|error| panic!("{}", error.plain()));
    let without = import(&folder("lf", CONFIG), "crlf").unwrap();
    assert_eq!((with.scenario, with.rows), (without.scenario, without.rows));
}

/// `rate2kmax[rate] = k` in its `third.cc`: of one rate the last value counts, and every line adds.
#[test]
fn of_a_rate_that_is_there_twice_the_last_value_counts() {
    let line = "KMAX_MAP 3 100000000000 1500 100000000000 1600 200000000000 3200";
    let (twice, settings) = imported("twice", &[line]);
    let high = |settings: &Document, gbps| {
        let aqm::Spec::Ramp(ramp) = &settings.switch.aqm else { panic!("a ramp") };
        ramp.for_rate(Rate::from_gbps(gbps)).kmax
    };
    assert_eq!(high(&settings, 100), Bytes(1_600_000));
    let [warning] = twice.warnings.as_slice() else { panic!("one: {:?}", twice.warnings) };
    let text = warning.plain();
    assert!(
        text.starts_with("warning: `KMAX_MAP` has two values for 100Gbps: 1500 and 1600\n"),
        "{text}"
    );
    assert!(text.contains("config.txt:56:30\n"), "{text}");
    assert!(
        text.ends_with(
            "= help: the last one, 1600, counts, as for the simulator: remove the other pair\n"
        ),
        "{text}"
    );

    let lines = ["PMAX_MAP 1 100000000000 0.2", "PMAX_MAP 1 200000000000 0.4"];
    let (twice, settings) = imported("two-maps", &lines);
    let aqm::Spec::Ramp(ramp) = &settings.switch.aqm else { panic!("a ramp") };
    let most = [100, 200].map(|gbps| ramp.for_rate(Rate::from_gbps(gbps)).pmax);
    assert_eq!(most, [0.2, 0.4]);
    let warnings: Vec<_> = twice.warnings.iter().map(|w| (&*w.message, &*w.help)).collect();
    assert_eq!(
        warnings,
        [(
            "`PMAX_MAP` is there more than once",
            "the pairs of all of them count, as for the simulator: write them in one"
        )]
    );
    let row = twice.rows.iter().find(|row| row.key == "PMAX_MAP").unwrap();
    assert_eq!(row.value, "2 100000000000 0.2 200000000000 0.4");
}

#[test]
fn megabytes_of_one_word_are_shown_in_part() {
    let long = "9".repeat(2_000_000);
    for (test, line) in [
        ("long-rate", format!("RATE_AI {long}")),
        ("long-number", format!("MI_THRESH {long}")),
        ("long-real", format!("U_TARGET {long}x")),
        ("long-path", format!("FLOW_FILE {long}")),
        ("long-map", format!("KMAX_MAP 2 {long} 1600 200000000000 3200")),
    ] {
        let said = refused(test, &[&line]);
        assert!(said.len() < 1_500 && said.contains("9… ("), "{test}: {} bytes", said.len());
        assert!(said.contains("--> config.txt:56"), "{test}: {said}");
    }
    let (imported, _) = imported("long-key", &[&format!("{long} {long}")]);
    let said = imported.warnings[0].plain();
    let message = format!("warning: there is no key `{}… (2000000 characters)`\n", "9".repeat(80));
    assert!(said.starts_with(&message) && said.len() < 1_000, "{} bytes", said.len());
    let row = imported.rows.last().unwrap();
    assert!(row.key.len() + row.value.len() < 250);
}

/// Its base RTT has neither headers nor acknowledgements, which no window of ours is to be warned of.
#[test]
fn a_window_that_was_imported_is_not_too_short() {
    for (test, mode) in [("warn-1", 1), ("warn-3", 3), ("warn-7", 7), ("warn-8", 8)] {
        let path = folder(test, &changed(&[&format!("CC_MODE {mode}"), "HAS_WIN 1"]));
        let imported = import(&path, test).unwrap_or_else(|error| panic!("{}", error.plain()));
        let scenario = loaded(&path, &imported);
        assert_eq!(scenario.warnings(), [], "CC_MODE {mode}");
    }
}

/// Beside the scenario every file has a name of its own.
#[test]
fn names_are_distinct() {
    let lines = ["TOPOLOGY_FILE a/Scenario.toml", "FLOW_FILE b/scenario.toml"];
    let path = folder("names", &changed(&lines));
    for (folder, name, text) in [("a", "Scenario.toml", TOPOLOGY), ("b", "scenario.toml", FLOWS)] {
        let folder = path.with_file_name(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }
    let both = import(&path, "names").unwrap_or_else(|error| panic!("{}", error.plain()));
    let names: Vec<_> = both.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["topology-Scenario.toml", "flows-scenario.toml"]);
    loaded(&path, &both);
    fs::copy(path.with_file_name("b/scenario.toml"), path.with_file_name("b/Net.txt")).unwrap();
    fs::copy(path.with_file_name("a/Scenario.toml"), path.with_file_name("a/net.txt")).unwrap();
    fs::write(&path, changed(&["TOPOLOGY_FILE a/net.txt", "FLOW_FILE b/Net.txt"])).unwrap();
    let both = import(&path, "names").unwrap_or_else(|error| panic!("{}", error.plain()));
    let names: Vec<_> = both.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["net.txt", "flows-Net.txt"]);
}

/// What is written becomes comments and texts of TOML, which take no control characters.
#[test]
fn control_characters_are_escaped() {
    let lines = ["TRACE_FILE a\0\u{7}b", "FLOW_FILE mix/f\u{1}\"low.txt"];
    let path = folder("control", &changed(&lines));
    fs::write(path.with_file_name("f\u{1}\"low.txt"), FLOWS).unwrap();
    let imported = import(&path, "control").unwrap_or_else(|error| panic!("{}", error.plain()));
    loaded(&path, &imported);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_said() {
    assert_eq!(
        refused("device", &["FLOW_FILE /dev/zero"]),
        "\
error: `/dev/zero` cannot be read: it is a device, not a regular file
  --> config.txt:56:11
   |
56 | FLOW_FILE /dev/zero
   |           ^^^^^^^^^
   = help: name a text file, and one that fits into memory
"
    );
    let said = refused("folder", &["FLOW_FILE ../mix"]);
    assert!(said.contains("mix` cannot be read: it is a directory, not a regular file"), "{said}");
}
