//! Device profiles: those that are part of the program are complete and valid, the scenario wins over them, and
//! what an answer leans on is counted.

use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::device::{Device, Evidence, shipped};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::host::congestion;
use floodway_sim::switch::buffer;

const STAR: &str =
    "name = \"star\"\narrivals = \"1ms\"\nlimit = \"20ms\"\n[topology.star]\nhosts = 9\n";
const INCAST: &str = "[[workload]]\n[workload.incast]\nsenders = 8\nbytes = \"100KB\"\n";

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse(text, "star.toml", &Overrides::default());
    scenario.unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn with(profiles: &str, more: &str) -> Scenario {
    parse(&format!("profile = {profiles}\n{STAR}{INCAST}{more}"))
}

#[test]
fn every_profile_runs_in_a_star_at_each_of_its_rates() {
    assert!(shipped().len() >= 12, "{}", shipped().len());
    for profile in shipped() {
        assert!(!profile.values.is_empty(), "{}", profile.name);
        for rate in &profile.rates {
            // DCQCN acts on marks.
            let marks = if profile.device == Device::Nic { "[switch.aqm.ramp]\n" } else { "" };
            let head = format!("profile = [\"{}\"]\n{STAR}rate = \"{rate}\"\n", profile.name);
            let text = format!("{head}{INCAST}{marks}");
            let scenario = parse(&text);
            // All that lossless classes may hold may be bound for one port: that is so in these switches.
            let known = |text: &String| !text.contains("one egress queue at most");
            let warnings = scenario.warnings().iter().map(|warning| warning.plain());
            let warnings: Vec<String> = warnings.filter(known).collect();
            assert!(warnings.is_empty(), "{} at {rate}: {}", profile.name, warnings.join("\n"));
            let basis = scenario.variants()[0].basis.as_ref().unwrap();
            assert_eq!((basis.values.len(), basis.replaced.len()), (profile.values.len(), 0));
        }
    }
}

#[test]
fn every_value_has_evidence_and_a_source() {
    for profile in shipped() {
        for value in &profile.values {
            assert!(value.source.len() > 20, "{}: {}", profile.name, value.path);
            // What is only known from memory is said to be assumed.
            let from_memory = value.source.contains("general knowledge");
            assert!(!from_memory || value.evidence == Evidence::Assumed, "{}", value.path);
        }
        for fact in &profile.facts {
            let from_memory = fact.source.contains("general knowledge");
            assert!(!from_memory || fact.evidence == Evidence::Assumed, "{}", fact.name);
        }
        // Nobody publishes the latency of a switch's pipeline in a table that comes with it.
        let latency = profile.values.iter().find(|value| value.path == "switch.latency");
        assert_eq!(latency.is_some(), profile.device == Device::Switch, "{}", profile.name);
        assert!(latency.is_none_or(|latency| latency.range.is_some()), "{}", profile.name);
    }
}

/// The pool, threshold and headroom of the 7260CX3 as its tables have them: 33,329,088 bytes, 2^-3, and 59,696
/// bytes at 100 Gb/s and 40 m.
#[test]
fn values_are_those_of_the_tables() {
    let scenario = with("[\"arista-7260cx3\", \"connectx-6-dx\"]", "");
    let settings = &scenario.variants()[0].settings;
    let buffer::Spec::Shared(memory) = &settings.switch.buffer else { panic!("a shared buffer") };
    let ingress = memory.ingress.as_ref().unwrap();
    assert_eq!((ingress.pool, ingress.alpha), (Bytes(33_329_088), Some(0.125)));
    assert_eq!(memory.headroom_at(Rate::from_gbps(100)), Bytes(59_696));
    assert_eq!(memory.headroom_at(Rate::from_gbps(40)), Bytes(31_616));
    let Some(congestion::Spec::Dcqcn(dcqcn)) = &settings.host.congestion else { panic!("DCQCN") };
    assert_eq!(dcqcn.increase_timer, Duration::from_us(300));
}

#[test]
fn what_the_scenario_writes_wins() {
    let more =
        "[switch]\nlatency = \"1us\"\n[variants.profile]\n[variants.own.switch]\ncell = \"1B\"\n";
    let scenario = with("[\"arista-7260cx3\"]", more);
    let [profile, own] = scenario.variants() else { panic!("two variants") };
    let of = |variant: &floodway_scenario::Variant| variant.settings.switch.latency;
    assert_eq!((of(profile), of(own)), (Duration::from_us(1), Duration::from_us(1)));
    assert_eq!(profile.settings.switch.cell.bytes(), 208);
    assert_eq!(own.settings.switch.cell.bytes(), 1);
    let basis = own.basis.as_ref().unwrap();
    assert_eq!(basis.replaced, ["switch.cell", "switch.latency"]);
    // The scenario writes the latency, and the variant the cell.
    assert_eq!(basis.own, 2);
    assert_eq!(profile.basis.as_ref().unwrap().own, 1);
    assert!(own.differs_from(profile).iter().any(|text| text.contains("switch.cell")));
}

#[test]
fn a_variant_may_be_another_device() {
    let more =
        "[variants.a]\n[variants.b]\nprofile = [\"dell-z9332f\"]\n[variants.none]\nprofile = []\n";
    let scenario = with("[\"arista-7260cx3\"]", more);
    let cells: Vec<u64> =
        scenario.variants().iter().map(|of| of.settings.switch.cell.bytes()).collect();
    assert_eq!(cells, [208, 254, 1]);
    assert!(scenario.variants()[2].basis.is_none());
}

/// A profile stands below presets, because the scenario names these.
#[test]
fn a_preset_wins_over_a_profile() {
    let more = "[host.congestion.dcqcn]\npreset = \"paper\"\n";
    let scenario = with("[\"connectx-6-dx\"]", more);
    let settings = &scenario.variants()[0].settings;
    let Some(congestion::Spec::Dcqcn(dcqcn)) = &settings.host.congestion else { panic!("DCQCN") };
    assert_eq!(dcqcn.increase_timer, Duration::from_us(55));
}

#[test]
fn another_choice_replaces_what_a_profile_chooses() {
    // Another transport takes the congestion control of the NIC away, another control only that.
    let scenario = with("[\"connectx-6-dx\"]", "[host.transport.tcp]\n");
    let host = &scenario.variants()[0].settings.host;
    assert!(matches!(host.congestion, Some(congestion::Spec::Cubic(_))), "{host:?}");
    let scenario = with("[\"connectx-6-dx\"]", "[host.congestion.timely]\n");
    let host = &scenario.variants()[0].settings.host;
    assert!(matches!(host.congestion, Some(congestion::Spec::Timely(_))), "{host:?}");
    let scenario = with("[\"arista-7260cx3\"]", "[switch.flow_control]\npfc = false\n");
    assert!(scenario.variants()[0].settings.switch.flow_control.pfc.is_none());
}

/// A profile with three values, one of which is assumed, and a scenario with one setting of its own.
#[test]
fn evidence_is_counted() {
    let scenario = with("[\"tests/device/small.toml\"]", "[switch]\nlatency = \"1us\"\n");
    let variant = &scenario.variants()[0];
    let basis = variant.basis.as_ref().unwrap();
    assert_eq!(
        basis.classes(),
        [(Evidence::Measured, 1), (Evidence::Standard, 1), (Evidence::Assumed, 1)]
    );
    assert_eq!((basis.own, basis.replaced.len()), (1, 0));
    let evidence = basis.evidence();
    let total = 3 + 1 + basis.defaults;
    assert_eq!(
        evidence,
        format!(
            "of {total} settings of switches and hosts 3 are from profiles (1 measured, 1 standard, 1 assumed), \
             1 are the scenario's own and {} are defaults of floodway",
            basis.defaults
        )
    );
    let assumed = "33 % of the values from profiles: switch.queue.size = 2MB";
    assert_eq!(basis.assumptions(), assumed);
    // It is among the files on which results depend, and among the facts of a report.
    assert!(scenario.files[0].path.ends_with("small.toml"), "{:?}", scenario.files);
    let facts = variant.facts(1);
    assert!(facts.contains(&("evidence".to_owned(), evidence.clone())));
    let text = scenario.derived().to_string();
    assert!(text.ends_with(&format!("\nevidence: {evidence}\nassumed: {assumed}\n")), "{text}");
}
