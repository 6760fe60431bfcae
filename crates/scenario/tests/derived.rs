//! The numbers that `floodway check` shows.

use std::path::Path;

use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::{Overrides, Scenario, catalogue, json_schema};
use floodway_sim::host::congestion;

fn shipped(name: &str) -> Scenario {
    shipped_with(name, &[])
}

fn shipped_with(name: &str, set: &[&str]) -> Scenario {
    let path = Path::new("../../scenarios").join(name);
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    let overrides = Overrides { quick: false, set };
    Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{}", error.plain()))
}

#[test]
fn a_star_by_hand() {
    let text = r#"
name = "star"
arrivals = "1ms"
limit = "5ms"
[topology.star]
hosts = 4
[switch]
latency = "100ns"
[switch.aqm.ramp]
[switch.flow_control.pfc]
measured_on = "egress_queue"
response = "0ns"
[[workload]]
[workload.many_to_many]
sizes = "64KB"
clusters = 2
cluster_size = 2
load = 0.3
"#;
    let scenario = Scenario::parse(text, "star.toml", &Overrides::default()).unwrap();
    let derived = &scenario.derived().variants[0];
    // Two links each way: 1106 and 86 bytes at 80 ps, 200 ns; the switch once each way.
    assert_eq!(derived.unloaded_rtt, Duration(2 * (88_480 + 6_880 + 400_000) + 200_000));
    assert_eq!(derived.bdp, Bytes(14_884));
    assert_eq!((derived.hosts, derived.switches, derived.links), (4, 1, 4));
    assert_eq!(derived.oversubscription, None);
    assert_eq!(derived.fabric_wire_load, None);
    assert!((derived.host_load - 0.3).abs() < 1e-12);
    assert!((derived.host_wire_load - 0.3 * 1106.0 / 1024.0).abs() < 1e-12);
    // 4 hosts at 30 Gb/s of 64 KB for 1 ms.
    assert!((derived.expected_flows - 4.0 * 0.3 * 100e9 * 1e-3 / (8.0 * 64e3)).abs() < 1e-9);
    let headroom = derived.headroom.unwrap();
    assert_eq!(headroom.available, Some(Bytes(250_000)));
    // 88.48 + 6.72 + 200 + 88.48 + 200 + 100 ns are 8546 bytes: seven times 1106, and 804, in which
    // a frame of 784 fits; and one more.
    assert_eq!(headroom.one_link, Bytes(8 * 1086 + 784));
    assert_eq!(headroom.all_ports, Bytes(3 * (8 * 1086 + 784)));
}

#[test]
fn pause_has_headroom_as_pfc_has() {
    let text = r#"
name = "short"
arrivals = "1ms"
limit = "5ms"
[topology.star]
hosts = 4
rate = "10Gbps"
[switch.queue]
count = 3
size = "64KB"
[switch.aqm.ramp]
[switch.flow_control.pause]
response = "1us"
[[workload]]
[workload.many_to_many]
sizes = "64KB"
clusters = 2
cluster_size = 2
load = 0.3
"#;
    let scenario = Scenario::parse(text, "short.toml", &Overrides::default()).unwrap();
    let headroom = scenario.derived().variants[0].headroom.unwrap();
    assert_eq!(headroom.available, Some(Bytes(16_000)));
    // 884.8 + 67.2 + 200 + 1000 + 884.8 + 200 ns are 4046 bytes: three times 1106, and 728, in which
    // a frame of 708 fits; and one more. One pause frame is enough for all three classes.
    assert_eq!(headroom.one_link, Bytes(4 * 1086 + 708));
    assert_eq!(headroom.all_ports, Bytes(3 * (4 * 1086 + 708)));
}

#[test]
fn the_headroom_of_directions_by_hand() {
    let text = r#"
name = "star"
arrivals = "1ms"
limit = "5ms"
[topology.star]
hosts = 4
[host]
buffer = "64KB"
[switch]
latency = "100ns"
[switch.flow_control.drc]
min_gap = "300ns"
[[workload]]
[workload.many_to_many]
sizes = "64KB"
clusters = 2
cluster_size = 2
load = 0.3
"#;
    let scenario = Scenario::parse(text, "star.toml", &Overrides::default()).unwrap();
    let headroom = scenario.derived().variants[0].headroom.unwrap();
    // A quarter of the queue of 1 MB.
    assert_eq!(headroom.available, Some(Bytes(250_000)));
    // 300 + 88.48 + 6.72 + 200 + 88.48 + 200 + 100 ns are 12296 bytes: eleven times 1106, and 130,
    // in which a frame of 110 fits; and one more.
    assert_eq!(headroom.one_link, Bytes(12 * 1086 + 110));
    assert_eq!(headroom.all_ports, Bytes(3 * (12 * 1086 + 110)));
}

#[test]
fn a_dumbbell_by_hand() {
    let derived = |more: &str| {
        let text = format!(
            "name = \"d\"\narrivals = \"1s\"\nlimit = \"5s\"\n[switch.aqm.ramp]\n\
             [host.transport.rocev2.recovery.go_back_n]\nretransmit_timeout = \"1s\"\n\
             [topology.dumbbell]\nleft = 3\nright = 2\n{more}\n\
             [[workload]]\n[[workload.list.flow]]\nsrc = 0\ndst = 3\n"
        );
        let scenario = Scenario::parse(&text, "d.toml", &Overrides::default())
            .unwrap_or_else(|error| panic!("{}", error.plain()));
        assert_eq!(scenario.warnings(), []);
        scenario.derived().variants[0].clone()
    };
    // 8 ms of light, and 1106 and 86 bytes: twice at 8 ns a byte, once at 200 ns a byte.
    let of_frames = 2 * (1_106 + 86) * 8_000 + (1_106 + 86) * 200_000;
    let ps = 8_000_000_000 + of_frames;
    assert_eq!(derived("").unloaded_rtt, Duration(ps));
    // What the bottleneck carries then, 5 bytes in a microsecond; 27 packets of 1500 bytes are it.
    assert_eq!(derived("").bdp, Bytes(ps * 5 / 1_000_000));
    assert_eq!(derived("").bdp.0 / 1_500, 27);
    // The host that is farthest away counts, wherever it is on its side.
    for delays in [r#"["1ms", "17ms"]"#, r#"["17ms", "1ms"]"#] {
        let longer = derived(&format!("left_delays = {delays}"));
        assert_eq!(longer.unloaded_rtt, Duration(ps + 2 * 16_000_000_000));
    }
    assert_eq!((derived("").hosts, derived("").switches, derived("").links), (5, 2, 6));
}

#[test]
fn tcp_over_a_dumbbell_by_hand() {
    let derived = |tcp: &str| {
        let text = format!(
            "name = \"d\"\narrivals = \"1s\"\nlimit = \"5s\"\n[host.transport.tcp]\n{tcp}\n\
             [topology.dumbbell]\nleft = 3\nright = 2\n\
             [[workload]]\n[workload.long_flows]\ncount = 2\n"
        );
        Scenario::parse(&text, "d.toml", &Overrides::default())
            .unwrap_or_else(|error| panic!("{}", error.plain()))
            .derived()
    };
    let base = derived("").variants[0].clone();
    // 8 ms of light, and 1538 bytes there and 90 of the acknowledgement back on the wire.
    let of_frames = 2 * (1_538 + 90) * 8_000 + (1_538 + 90) * 200_000;
    assert_eq!(base.unloaded_rtt, Duration(8_000_000_000 + of_frames));
    assert_eq!(base.link_rates, (Rate::from_mbps(40), Rate::from_gbps(1)));
    // Ten segments, or what the receiver has room for.
    assert_eq!(base.congestion_window, Some(Bytes(14_480)));
    let window = |tcp| derived(tcp).variants[0].congestion_window;
    assert_eq!(window("receive_window = \"4KB\""), Some(Bytes(2 * 1_448)));
    let text = derived("").to_string();
    assert!(text.contains("link rates               40Mbps to 1Gbps\n"), "{text}");
    assert!(text.contains("initial window                   14.5 KB\n"), "{text}");
    // There is no PFC, and a dumbbell has no tiers.
    assert!(!text.contains("headroom") && !text.contains("oversubscription"), "{text}");
}

/// Half of the time is warm-up. Pings, calls and pages are measured by themselves, and completion times are those of the two
/// flows of the list alone.
#[test]
fn flows_of_pings_calls_and_pages_are_not_measured_as_flows() {
    let text = "name = \"d\"\narrivals = \"10s\"\nlimit = \"15s\"\nwarmup = \"5s\"\n[host.transport.tcp]\n\
                [topology.dumbbell]\nleft = 1\nright = 1\n\
                [[workload]]\nping = { interval = \"1s\" }\n[[workload]]\nvoice = {}\n[[workload]]\nweb = {}\n\
                [[workload]]\n[[workload.list.flow]]\nsrc = 0\ndst = 1\nbytes = \"1KB\"\n\
                [[workload.list.flow]]\nsrc = 1\ndst = 0\nbytes = \"1KB\"\n";
    let scenario = Scenario::parse(text, "d.toml", &Overrides::default())
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let derived = &scenario.derived().variants[0];
    assert!(derived.expected_flows > 2.0 + 2.0 + 20.0);
    assert_eq!(derived.expected_measured_flows, 1.0);
}

#[test]
fn fabric_load_by_hand() {
    // Two leaves with two hosts each, one spine; clusters of two neighbors stay on their leaf,
    // one cluster of four sends 2/3 of its traffic across.
    let text = |clusters, size| {
        format!(
            "name = \"s\"\narrivals = \"1ms\"\nlimit = \"5ms\"\nplacement = \"consecutive\"\n\
             [topology.clos]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
             [[workload]]\n[workload.many_to_many]\nsizes = \"64KB\"\n\
             clusters = {clusters}\ncluster_size = {size}\nload = 0.3\n"
        )
    };
    let load = |clusters, size| {
        let text = text(clusters, size);
        let scenario = Scenario::parse(&text, "s.toml", &Overrides::default()).unwrap();
        scenario.derived().variants[0].fabric_wire_load.unwrap()
    };
    assert_eq!(load(2, 2).max, 0.0);
    let expected = 2.0 * 0.3 * 2.0 / 3.0 * 1106.0 / 1024.0;
    assert!((load(1, 4).mean - expected).abs() < 1e-12);
    assert!((load(1, 4).max - expected).abs() < 1e-12);
}

#[test]
fn the_parameters_of_the_source_flow_control_deck() {
    // As the deck has them; its increases of 0.0125 and 0.025 as bytes per nanosecond.
    let text = r#"
name = "sfc"
arrivals = "1ms"
limit = "5ms"
[topology.star]
hosts = 4
[switch.aqm.ramp]
[host.congestion.dcqcn]
fast_recovery = 1
g = 0.0009813
byte_counter = "2097152B"
increase_timer = "4us"
alpha_timer = "5us"
additive_increase = "100Mbps"
hyper_increase = "200Mbps"
cnp_interval = "4us"
window = "15us"
[[workload]]
[workload.many_to_many]
sizes = "64KB"
clusters = 1
cluster_size = 4
load = 0.3
"#;
    let scenario = Scenario::parse(text, "sfc.toml", &Overrides::default()).unwrap();
    let Some(congestion::Spec::Dcqcn(spec)) = &scenario.variants()[0].settings.host.congestion
    else {
        panic!("not DCQCN")
    };
    assert_eq!((spec.fast_recovery, spec.g, spec.byte_counter), (1, 0.0009813, Bytes(1 << 21)));
    assert_eq!(
        (spec.increase_timer, spec.alpha_timer),
        (Duration::from_us(4), Duration::from_us(5))
    );
    // 0.0125 and 0.025 bytes, of 8 bits, per ns.
    assert_eq!((spec.additive_increase.0, spec.hyper_increase.0), (100_000_000, 200_000_000));
    assert_eq!(
        (spec.cnp_interval, spec.window),
        (Duration::from_us(4), Some(Duration::from_us(15)))
    );
    let derived = scenario.derived();
    assert_eq!(derived.variants[0].congestion_window, Some(Bytes(187_500)));
    let text = derived.to_string();
    assert!(text.contains("initial window       187.5 KB\n"), "{text}");
}

#[test]
fn the_main_scenario() {
    assert_eq!(shipped("ci/lossless.toml").warnings(), []);
    // The arithmetic below is for these, whatever the file's own values are tuned to.
    let scenario = shipped_with(
        "ci/lossless.toml",
        &["arrivals=6ms", "warmup=1ms", "limit=60ms", "workload.0.many_to_many.load=0.3"],
    );
    let names: Vec<_> = scenario.variants().iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["without-ci", "ci-local", "ci"]);
    let derived = scenario.derived();
    let first = &derived.variants[0];
    assert_eq!((first.hosts, first.switches, first.links), (128, 24, 256));
    assert_eq!(first.oversubscription, Some(1.0));
    assert_eq!(first.persistent_flows, 20);
    // Data mining cut at 30 MB has a mean of 1,454,887 bytes (piece by piece: 730 + 219 + 365 +
    // 730 + 20,002 + 86,651 + 1,046,190 + 300,000); 105 hosts at 30 Gb/s for 6 ms.
    let flows = 105.0 * 30e9 * 6e-3 / (8.0 * 1_454_887.0);
    assert!((first.expected_flows - flows).abs() < 0.01, "{}", first.expected_flows);
    assert!((first.host_load - 0.3).abs() < 1e-12);
    let text = derived.to_string();
    assert!(text.starts_with("ci-lossless: 3 variants x 10 replications = 30 runs\n"), "{text}");
    assert!(text.contains("unloaded round trip"), "{text}");
    let json = serde_json::to_value(&derived).unwrap();
    assert_eq!(json["variants"][2]["name"], "ci");
}

#[test]
fn the_full_scenario_is_the_decks() {
    let scenario = shipped("ci/full.toml");
    let derived = scenario.variants()[0].derived(1);
    assert_eq!((derived.hosts, derived.switches), (1152, 72));
    assert_eq!(derived.persistent_flows, 80);
}

#[test]
fn the_schema_knows_every_field_and_every_algorithm() {
    let schema = json_schema();
    let text = schema.to_string();
    for entry in catalogue() {
        assert!(text.contains(&format!("\"{}\"", entry.name)), "{}", entry.name);
    }
    for field in ["arrivals", "topology", "workload", "variants", "quick", "wire_overhead"] {
        let field = &schema["properties"][field];
        assert!(field.is_object() || field.is_boolean(), "{field}");
    }
    assert_eq!(schema["additionalProperties"], false);
    // Shorthands: `aqm = "drop_tail"`, `pfc = false`.
    assert!(text.contains(r#"{"enum":["strict","drr","wrr","time_shifted"]}"#));
    assert!(text.contains(r#"{"const":false,"type":"boolean"}"#));
}

#[test]
fn the_catalogue_has_no_two_of_one_name() {
    let mut names: Vec<_> = catalogue().map(|entry| (entry.family, entry.name)).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.contains(&("topology", "clos")) && names.contains(&("workload", "incast")));
}

#[test]
fn a_record_takes_memory_of_every_port_and_sample() {
    // 5 ms of samples every 10 us are 500; a star of 12 hosts has 24 ports.
    let memory = |record: u32| {
        let text = format!(
            "name = \"r\"\narrivals = \"1ms\"\nlimit = \"5ms\"\nsample_interval = \"10us\"\n\
             record = {record}\n[topology.star]\nhosts = 12\n\
             [[workload]]\n[workload.incast]\nsenders = 4\n"
        );
        let scenario = Scenario::parse(&text, "r.toml", &Overrides::default()).unwrap();
        scenario.derived().variants[0].memory.0
    };
    assert_eq!(memory(100) - memory(0), 100 * 24 * 200);
    assert_eq!(memory(1_000) - memory(0), 500 * 24 * 200);
}

#[test]
fn the_first_replication_is_recorded() {
    let text = "name = \"r\"\narrivals = \"1ms\"\nlimit = \"5ms\"\nreplications = 2\n\
                [topology.star]\nhosts = 4\n[[workload]]\n[workload.incast]\nsenders = 3\n\
                [variants.without]\n[variants.with]\nrecord = 7\n";
    let scenario = Scenario::parse(text, "r.toml", &Overrides::default()).unwrap();
    let [without, with] = scenario.variants() else { panic!("there are two") };
    let recorded = |variant| [0, 1].map(|replication| scenario.build(variant, replication).record);
    assert_eq!((recorded(without), recorded(with)), ([None, None], [Some(7), None]));
    assert_eq!(with.build(1).record, None);
}

#[test]
fn virtual_output_queues_take_memory() {
    let memory = |fabric: &str| {
        let text = format!(
            "name = \"c\"\narrivals = \"1ms\"\nlimit = \"5ms\"\n[topology.clos]\nleaves = 8\n\
             [switch]\nfabric = \"{fabric}\"\n[switch.queue]\ncount = 2\n\
             [[workload]]\n[[workload.list.flow]]\nsrc = 0\ndst = 1\nbytes = \"1KB\"\n"
        );
        let scenario = Scenario::parse(&text, "c.toml", &Overrides::default())
            .unwrap_or_else(|error| panic!("{}", error.plain()));
        scenario.derived().variants[0].memory.0
    };
    // 8 leaves and 4 spines with 8 ports each: 2 x 64 queues of 32 bytes in every one.
    assert_eq!(memory("voq") - memory("output_queued"), 12 * 2 * 64 * 32);
    assert_eq!(memory("input_fifo"), memory("output_queued"));
}
