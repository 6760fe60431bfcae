//! Workloads whose flows are sent otherwise than those of others.

use floodway_model::Bytes;
use floodway_scenario::workload::CATALOGUE;
use floodway_scenario::{Document, Overrides, Scenario, json_schema};
use floodway_sim::host::{Profile, congestion, transport};

const BASE: &str = r#"
name = "sample"
arrivals = "1ms"
limit = "5ms"

[topology.star]
hosts = 8

[switch.aqm.ramp]

[host.congestion.dcqcn]
g = 0.5

[host.transport.rocev2]
mtu = "512B"

[[workload]]
[workload.incast]
senders = 3
[workload.congestion.dcqcn]
min_rate = "1Gbps"
[workload.transport.rocev2]
mtu = "4096B"

[[workload]]
incast = { senders = 3 }
"#;

fn profiles(more: &str, set: &[&str]) -> Vec<Profile> {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    let scenario =
        Scenario::parse(&format!("{BASE}{more}"), "s.toml", &Overrides { quick: false, set })
            .unwrap_or_else(|error| panic!("{}", error.plain()));
    scenario.build(scenario.variants().last().unwrap(), 0).profiles
}

fn mtus(profiles: &[Profile]) -> Vec<u64> {
    profiles.iter().map(|profile| profile.transport.payload()).collect()
}

fn dcqcn(profile: &Profile) -> congestion::dcqcn::Spec {
    let congestion::Spec::Dcqcn(spec) = &profile.congestion else { panic!("not DCQCN") };
    spec.clone()
}

#[test]
fn what_a_workload_has_replaces_what_hosts_have() {
    let profiles = profiles("", &[]);
    assert_eq!(mtus(&profiles), [4096, 512]);
    // As a whole: `g` is the default again, not that of the hosts.
    let first = congestion::dcqcn::Spec {
        min_rate: floodway_model::Rate::from_gbps(1),
        ..Default::default()
    };
    assert_eq!(dcqcn(&profiles[0]), first);
    assert_eq!(dcqcn(&profiles[1]).g, 0.5);
    let rocev2 = transport::rocev2::Spec { mtu: Bytes(4096), ..Default::default() };
    assert_eq!(profiles[0].transport, transport::Spec::Rocev2(rocev2));
}

/// A scenario in which only transports are chosen, if anything.
fn controls(hosts: &str, of_workloads: [&str; 2]) -> (Vec<&'static str>, serde_json::Value) {
    let [first, second] = of_workloads;
    let text = format!(
        "name = \"sample\"\narrivals = \"1s\"\nlimit = \"5s\"\n{hosts}\n\
         [topology.dumbbell]\nleft = 2\nright = 2\n[switch.aqm.step]\n\
         [[workload]]\n[workload.long_flows]\ncount = 1\n{first}\n\
         [[workload]]\n[workload.long_flows]\ncount = 1\n{second}\n"
    );
    let scenario = Scenario::parse(&text, "s.toml", &Overrides::default())
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let variant = &scenario.variants()[0];
    let profiles = scenario.build(variant, 0).profiles;
    let names = profiles.iter().map(|profile| profile.congestion.name()).collect();
    (names, serde_json::to_value(&variant.settings).unwrap())
}

#[test]
fn where_no_control_is_chosen_the_transport_has_its_usual_one() {
    let (names, settings) = controls("", ["", "[workload.transport.tcp]"]);
    assert_eq!(names, ["dcqcn", "cubic"]);
    // The settings say what is used.
    assert!(settings["host"]["congestion"]["dcqcn"].is_object());
    assert!(settings["workload"][0].get("congestion").is_none());
    assert!(settings["workload"][1]["congestion"]["cubic"].is_object());
    let (names, settings) = controls("host.transport = \"tcp\"", ["", "[workload.transport.udp]"]);
    assert_eq!(names, ["cubic", "constant_rate"]);
    assert!(settings["host"]["congestion"]["cubic"].is_object());
    // What was chosen for all hosts holds for workloads with a transport of their own too.
    let hosts = "[host]\ntransport = \"tcp\"\ncongestion = \"reno\"";
    let own = "[workload.transport.tcp]\npacing = true";
    assert_eq!(controls(hosts, ["[workload.congestion.bbr]", own]).0, ["bbr", "reno"]);
}

#[test]
fn overlays_reach_it() {
    let names = |set: &[&str]| {
        let profiles = profiles("", set);
        profiles.iter().map(|profile| profile.congestion.name()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["workload.1.congestion=line_rate"]), ["dcqcn", "line_rate"]);
    assert_eq!(names(&["workload.0.congestion.line_rate={}"]), ["line_rate", "dcqcn"]);
    assert_eq!(names(&["host.congestion=line_rate"]), ["dcqcn", "line_rate"]);
    // The same member keeps its parameters; without it hosts' hold again.
    let merged = profiles("", &["workload.0.congestion.dcqcn.g=0.25"]);
    assert_eq!(dcqcn(&merged[0]).min_rate, floodway_model::Rate::from_gbps(1));
    assert_eq!(dcqcn(&merged[0]).g, 0.25);
    assert_eq!(dcqcn(&profiles("", &["workload.0.congestion=false"])[0]).g, 0.5);
    let variant = "[variants.a.workload.0.congestion.line_rate]\n";
    assert_eq!(profiles(variant, &[])[0].congestion.name(), "line_rate");
    let deep = "workload.0.transport.rocev2.recovery=selective_repeat";
    let transport::Spec::Rocev2(rocev2) = &profiles("", &[deep])[0].transport else { panic!() };
    assert_eq!((rocev2.recovery.name(), rocev2.mtu), ("selective_repeat", Bytes(4096)));
}

#[test]
fn it_stays_when_the_traffic_is_replaced() {
    let set = [
        "workload.0.many_to_many={sizes=\"1KB\", clusters=1, cluster_size=2, load=0.1}",
        "workload.0.many_to_many.load=0.2",
    ];
    assert_eq!(mtus(&profiles("", &set)), [4096, 512]);
}

#[test]
fn settings_read_back_as_they_are() {
    let scenario = Scenario::parse(BASE, "s.toml", &Overrides::default()).unwrap();
    let settings = &scenario.variants()[0].settings;
    let value = serde_json::to_value(settings).unwrap();
    assert_eq!(value["workload"][0]["incast"]["senders"], 3);
    assert_eq!(value["workload"][0]["transport"]["rocev2"]["mtu"], "4.096KB");
    assert!(value["workload"][1].get("transport").is_none());
    let back: Document = serde_json::from_value(value).unwrap();
    assert_eq!(back, *settings);
}

#[test]
fn the_frames_of_every_workload_count() {
    let scenario = Scenario::parse(BASE, "s.toml", &Overrides::default()).unwrap();
    // A round trip of the larger: 4096 + 82 bytes there and 86 back, over two links at 80 ps a
    // byte and 200 ns each, and no latency in the switch.
    let expected = 2 * (4178 + 86) * 80 + 4 * 200_000;
    assert_eq!(scenario.derived().variants[0].unloaded_rtt.0, expected);
}

#[test]
fn the_schema_of_a_workload_has_members_and_what_stands_beside_them() {
    let schema = json_schema();
    let workload = &schema["$defs"]["Entry"];
    assert!(workload["properties"]["congestion"].is_object());
    let members = workload["oneOf"].as_array().unwrap();
    assert_eq!(members.len(), CATALOGUE.len());
    assert!(members.iter().all(|member| member["type"] == "object"));
    assert_eq!(workload["unevaluatedProperties"], false);
}

/// TCP of all hosts, of a scenario with `of_host` in its table and `of_workload` in a workload.
fn tcp_of(
    of_host: &str,
    of_workload: &str,
    set: &[&str],
) -> Vec<(transport::tcp::Spec, &'static str)> {
    let text = format!(
        "name = \"sample\"\narrivals = \"1s\"\nlimit = \"5s\"\n\
         [topology.dumbbell]\nleft = 2\nright = 2\n\
         [host.transport.tcp]\n{of_host}\n\
         [[workload]]\n[workload.long_flows]\ncount = 1\n{of_workload}\n\
         [[workload]]\n[workload.long_flows]\ncount = 1\n"
    );
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    let scenario = Scenario::parse(&text, "s.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let of = |profile: &Profile| match &profile.transport {
        transport::Spec::Tcp(tcp) => (tcp.clone(), profile.congestion.name()),
        other => panic!("{}", other.name()),
    };
    scenario.build(&scenario.variants()[0], 0).profiles.iter().map(of).collect()
}

#[test]
fn a_preset_stands_below_what_is_written() {
    use floodway_model::Duration;
    use transport::tcp::{IdleRestart, LossDetection, Spec};
    let preset = Spec {
        mss: Bytes(1_448),
        initial_window: 3,
        receive_window: Some(Bytes(65_535)),
        min_rto: Duration::from_ms(200),
        max_rto: Duration::from_ms(120_000),
        initial_rto: Duration::from_ms(3_000),
        delayed_ack: Duration::from_ms(40),
        ack_every: 2,
        quick_acks: 16,
        pacing: false,
        idle_restart: IdleRestart::Halve,
        loss_detection: LossDetection::DupAcks,
        ecn: None,
        codepoint: None,
        sack_delay: None,
        ack_reductions: false,
    };
    // RFC 3390: at most 4380 bytes, in full segments.
    assert_eq!(u64::from(preset.initial_window), 4_380 / preset.mss.0);
    // For all hosts, also from the command line, where a year needs no quotes.
    let reno = (preset.clone(), "reno");
    assert_eq!(tcp_of("preset = \"2004\"", "", &[]), [reno.clone(), reno.clone()]);
    assert_eq!(tcp_of("", "", &["host.transport.tcp.preset=2004"]), [reno.clone(), reno.clone()]);
    // What is written wins, wherever it is written.
    let own = (Spec { initial_window: 10, mss: Bytes(1_000), ..preset.clone() }, "reno");
    let set = ["host.transport.tcp.mss=1000B"];
    assert_eq!(tcp_of("initial_window = 10\npreset = \"2004\"", "", &set)[0], own);
    // A limit that the preset sets is removed like any other.
    let open = (Spec { receive_window: None, ..preset.clone() }, "reno");
    assert_eq!(tcp_of("receive_window = false\npreset = \"2004\"", "", &[])[0], open);
    let cubic = ["host.congestion=cubic"];
    assert_eq!(tcp_of("preset = \"2004\"", "", &cubic)[1], (preset.clone(), "cubic"));
    // Of one workload, and not of the others.
    let workload = "[workload.transport.tcp]\npreset = \"2004\"";
    assert_eq!(tcp_of("", workload, &[]), [reno.clone(), (Spec::default(), "cubic")]);
    // A transport of its own has nothing of the preset of the hosts.
    let plain = "[workload.transport.tcp]";
    assert_eq!(tcp_of("preset = \"2004\"", plain, &[]), [(Spec::default(), "cubic"), reno]);
    // Removed again.
    let none = ["host.transport.tcp.preset=false"];
    assert_eq!(tcp_of("preset = \"2004\"", "", &none)[0], (Spec::default(), "cubic"));
}

/// Every value of every preset is one that its table takes, and every field is in it.
#[test]
fn presets_are_in_the_schema() {
    use floodway_scenario::presets::CATALOGUE;
    let text = json_schema().to_string();
    assert!(text.contains("[false,\"2004\"]"), "{text}");
    let of_dcqcn = CATALOGUE.iter().filter(|preset| preset.table() == "host.congestion.dcqcn");
    let names: Vec<_> = of_dcqcn.map(|preset| format!("\"{}\"", preset.entry.name)).collect();
    assert!(text.contains(&format!("[false,{}]", names.join(","))), "{text}");
}

/// DCQCN of all hosts with this in its table.
fn dcqcn_of(table: &str, set: &[&str]) -> congestion::dcqcn::Spec {
    let text = BASE.replace("g = 0.5", table);
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    let scenario = Scenario::parse(&text, "s.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let spec = scenario.build(&scenario.variants()[0], 0);
    match &spec.profiles[1].congestion {
        congestion::Spec::Dcqcn(dcqcn) => dcqcn.clone(),
        other => panic!("{}", other.name()),
    }
}

/// Presets of DCQCN, as `crates/sim/tests/dcqcn_presets.rs` has them.
#[test]
fn dcqcn_as_published_and_shipped() {
    use congestion::dcqcn::{Notification, Spec, Variant};
    use floodway_model::{Duration, Rate};
    let us = Duration::from_us;
    // The paper's numbers are the defaults.
    assert_eq!(dcqcn_of("preset = \"paper\"", &[]), Spec::default());
    let nvidia = Spec {
        variant: Variant::Periodic,
        notification: Notification::Cnp,
        cnp_interval: us(4),
        g: 5.0 / 1_024.0,
        alpha_timer: us(1),
        cut_interval: us(4),
        increase_timer: us(300),
        byte_counter: Bytes(32_767 * 64),
        fast_recovery: 1,
        additive_increase: Rate::from_mbps(5),
        hyper_increase: Rate::from_mbps(50),
        reference_rate: None,
        min_rate: Rate::from_mbps(1),
        initial_alpha: 1_023.0 / 1_024.0,
        min_decrease_factor: 0.5,
        clamp_target: false,
        window: None,
        window_follows_rate: false,
    };
    assert_eq!(dcqcn_of("preset = \"nvidia\"", &[]), nvidia);
    let hpcc = Spec {
        notification: Notification::Ack,
        cnp_interval: us(0),
        g: 1.0 / 256.0,
        byte_counter: Bytes(0),
        reference_rate: Some(Rate::from_gbps(25)),
        min_rate: Rate::from_gbps(1),
        initial_alpha: 1.0,
        ..nvidia.clone()
    };
    assert_eq!(dcqcn_of("preset = \"hpcc_simulator\"", &[]), hpcc);
    let timers = (us(50), us(50), us(55));
    let (alpha_timer, cut_interval, increase_timer) = timers;
    let paper = Spec { alpha_timer, cut_interval, increase_timer, ..hpcc.clone() };
    assert_eq!(dcqcn_of("preset = \"hpcc_simulator_paper\"", &[]), paper);
    // What is written wins, and the command line chooses another.
    let window = Spec { window: Some(us(9)), window_follows_rate: true, ..hpcc };
    let table = "preset = \"hpcc_simulator\"\nwindow = \"9us\"\nwindow_follows_rate = true";
    assert_eq!(dcqcn_of(table, &[]), window);
    let set = ["host.congestion.dcqcn.preset=nvidia"];
    assert_eq!(dcqcn_of("preset = \"paper\"", &set), nvidia);
}
