//! Values that follow from others.

use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::headroom::Sum;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::flow_control::pausing::Link;

const STAR: &str = r#"
name = "star"
arrivals = "1ms"
limit = "10 * arrivals"

[topology.star]
hosts = 4
rate = "100Gbps"
delay = "500ns"

[switch.queue]
size = "1MB"

[switch.flow_control.pfc]
xoff = "300KB"
xon = "xoff - 20KB"
response = "0ns"

[switch.aqm.ramp]
kmin = "50KB"
kmax = "4 * kmin"
pmax = 0.1

[host.congestion.dcqcn]

[[workload]]
[workload.list]
flow = [{ src = 1, dst = 0, bytes = "5KB", start = "0us" }]
"#;

fn read(text: &str, set: &[&str]) -> Result<Scenario, String> {
    let set = set.iter().map(|set| (*set).to_owned()).collect();
    let overrides = Overrides { quick: false, set };
    Scenario::parse(text, "star.toml", &overrides).map_err(|error| error.plain())
}

/// XOFF and XON of PFC.
fn thresholds(text: &str, set: &[&str]) -> (u64, u64) {
    let scenario = read(text, set).unwrap_or_else(|error| panic!("{error}"));
    let settings = &scenario.variants()[0].settings;
    let pfc = settings.switch.flow_control.pfc.as_ref().unwrap();
    (pfc.xoff.0, pfc.xon.0)
}

fn refused(from: &str, to: &str) -> String {
    assert!(STAR.contains(from), "{from}");
    read(&STAR.replace(from, to), &[]).expect_err(to)
}

#[test]
fn values_follow_from_others_after_all_settings() {
    let scenario = read(STAR, &[]).unwrap();
    assert_eq!(scenario.variants()[0].settings.limit, Duration(10_000_000_000));
    assert_eq!(thresholds(STAR, &[]), (300_000, 280_000));
    assert_eq!(thresholds(STAR, &["switch.flow_control.pfc.xoff=500KB"]), (500_000, 480_000));
    assert_eq!(thresholds(STAR, &["switch.flow_control.pfc.xon=xoff*0.8"]), (300_000, 240_000));
    assert_eq!(thresholds(STAR, &["switch.flow_control.pfc.xon=xoff / 7"]), (300_000, 42_857));
    // A path from the top of the file, and what a link carries in a time: 100 Gb/s in 10 us are 125 KB.
    let set = "switch.flow_control.pfc.xoff=(switch.queue.size - 100KB) / 2";
    assert_eq!(thresholds(STAR, &[set]), (450_000, 430_000));
    let set = "switch.flow_control.pfc.xon=topology.star.rate * 10us + 1KB";
    assert_eq!(thresholds(STAR, &[set]), (300_000, 126_000));
    let other = STAR.to_owned() + "[variants.a]\n[variants.b]\nswitch.aqm.ramp.kmin = \"20KB\"\n";
    let scenario = read(&other, &[]).unwrap();
    let settings = serde_json::to_value(&scenario.variants()[1].settings).unwrap();
    assert_eq!(settings["switch"]["aqm"]["ramp"]["kmax"], "80KB");
}

/// The headroom of a link of 100 Gb/s and 500 ns that obeys at once is what `check` names when there is too little; XOFF is as
/// much below the size of the buffer.
#[test]
fn xoff_is_as_high_as_its_headroom_allows() {
    let text = refused("xoff = \"300KB\"", "xoff = \"999KB\"");
    let most = text.split("lower XOFF to at most ").nth(1).unwrap().split(' ').next().unwrap();
    let most: Bytes = most.parse().unwrap();
    let auto = STAR.replace("xoff = \"300KB\"", "xoff = \"auto\"");
    assert_eq!(thresholds(&auto, &[]), (most.0, most.0 - 20_000));
    let larger = thresholds(&auto, &["switch.queue.size=2MB"]);
    assert_eq!(larger.0, most.0 + 1_000_000);
    // In half the rate half the bytes are under way.
    let slower = thresholds(&auto, &["topology.star.rate=50Gbps"]);
    assert!(slower.0 > most.0, "{slower:?}");
    // It may follow from an expression itself.
    let set = ["switch.queue.size=topology.star.hosts * 250KB"];
    assert_eq!(thresholds(&auto, &set).0, most.0);
}

#[test]
fn headroom_is_what_the_neediest_link_takes() {
    let shared = STAR
        .replace("[switch.queue]\nsize = \"1MB\"\n", "[switch.buffer.shared]\nheadroom = \"auto\"\n[switch.buffer.shared.ingress]\npool = \"16MB\"\n")
        .replace("xoff = \"300KB\"\nxon = \"xoff - 20KB\"", "measured_on = \"ingress_pool\"");
    let scenario = read(&shared, &[]).unwrap_or_else(|error| panic!("{error}"));
    let settings = serde_json::to_value(&scenario.variants()[0].settings).unwrap();
    let headroom: Bytes =
        serde_json::from_value(settings["switch"]["buffer"]["shared"]["headroom"].clone()).unwrap();
    let auto = STAR.replace("xoff = \"300KB\"", "xoff = \"auto\"");
    assert_eq!(headroom.0, 1_000_000 - thresholds(&auto, &[]).0);
    // A byte less is too little.
    let less = shared.replace("\"auto\"", &format!("\"{}B\"", headroom.0 - 1));
    assert!(read(&less, &[]).unwrap_err().contains("needs"), "{less}");
}

#[test]
fn what_cannot_be_computed_is_an_error_at_its_place() {
    for (to, message) in [
        ("xon = \"xof - 20KB + xoff\"", "there is no value `xof` that this could follow from"),
        ("xon = \"xoff - 20us\"", "a size and a duration cannot be added or subtracted"),
        ("xon = \"xoff * xoff\"", "a size cannot be multiplied with a size"),
        ("xon = \"xoff - 2MB\"", "comes to less than zero"),
        ("xon = \"xoff - (20KB\"", "a bracket is not closed"),
        ("xon = \"xoff - \"", "the expression ends too early"),
        ("xon = \"xoff / 0\"", "divides by zero"),
        ("xon = \"xon + xoff\"", "`switch.flow_control.pfc.xon` follows from itself"),
        ("xon = \"xoff + 20KB\"", "XON"),
    ] {
        let text = refused("xon = \"xoff - 20KB\"", to);
        assert!(text.contains(message), "{to}:\n{text}");
        assert!(text.contains("star.toml:16:") && text.contains("= help: "), "{text}");
    }
    let auto = STAR.replace("xoff = \"300KB\"", "xoff = \"auto\"");
    let text = read(&auto, &["switch.queue.size=10KB"]).unwrap_err();
    assert!(text.contains("is \"auto\", and the headroom above it would take"), "{text}");
    // Text that only looks like an expression stays what it is.
    let named = STAR.replace("[[workload]]", "[[workload]]\nname = \"kmin-kmax\"");
    assert_eq!(read(&named, &[]).unwrap().variants()[0].workload_names(), ["kmin-kmax"]);
}

/// The simulator knows the delays of a link, so `headroom = "auto"` is the headroom that a measurement of the round trip
/// without error gives: 500 ns to the neighbor, 300 ns until it obeys, and 500 ns back.
#[test]
fn headroom_auto_is_what_a_measured_round_trip_gives() {
    let text = STAR
        .replace("xoff = \"300KB\"\nxon = \"xoff - 20KB\"\n", "measured_on = \"ingress_pool\"\n")
        .replace("response = \"0ns\"", "response = \"300ns\"")
        + "[switch.buffer.shared]\nheadroom = \"auto\"\n[switch.buffer.shared.ingress]\n";
    let text = text.replace("[switch.queue]\nsize = \"1MB\"\n", "[switch]\ncell = \"208B\"\n");
    let scenario = read(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let settings = &scenario.variants()[0].settings;
    let headroom = settings.switch.buffer.pools().unwrap().headroom;
    // Frames of RoCEv2 have up to 1086 bytes. On the wire, 1106 are ahead of the pause frame of 84, and 1.3 us carry 16,250:
    // 17,440 bytes, in which 207 frames of 84 end, each in a cell of 208; the longest takes 6, twice.
    assert_eq!(headroom, Bytes((207 + 12) * 208));
    let link = Link {
        rate: Rate::from_gbps(100),
        delay: Duration::ZERO,
        lossless_classes: 1,
        smallest_frame: 64,
        largest_frame: 1_086,
        wire_overhead: 20,
        latency: Duration::ZERO,
        cell: Cell::of(208),
    };
    assert_eq!(Sum::measured(&link, Duration::from_ns(1_300)).total, headroom);
}

/// `start` and `unit` stand beside the path of a trace, which is no division and takes no value from them.
#[test]
fn nothing_follows_in_the_path_of_a_file() {
    for path in ["traces/start", "start/2", "start", "traces/unit"] {
        let named =
            format!("\n[workload.chakra]\npath = \"{path}\"\nstart = \"1us\"\nunit = \"1us\"\n");
        let head = &STAR[..STAR.find("\n[workload.list]").unwrap()];
        let error = read(&format!("{head}{named}"), &[]).unwrap_err();
        assert!(error.contains(&format!("there is no trace `{path}.0.et`")), "{error}");
    }
}
