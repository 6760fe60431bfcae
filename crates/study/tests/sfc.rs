//! The study of Source Flow Control: what its long round trips and their expectations rest on.

use floodway_model::Bytes;
use floodway_scenario::Scenario;
use floodway_study::{Experiment, Level, Study, named};
use serde_json::Value;

fn study() -> &'static Study {
    named("sfc").unwrap().unwrap()
}

fn scenario(experiment: &Experiment) -> Scenario {
    let scenario = experiment.scenario(&study().library, &[]);
    scenario.unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// Two buildings: an experiment, and the delay of the links between them in nanoseconds.
struct Distance {
    experiment: Experiment,
    delay_ns: u64,
}

/// In the order of the page.
fn distances() -> Vec<Distance> {
    let plan = (study().plan)(Level::Standard).into_iter();
    let of = plan.filter(|of| of.name.starts_with("rtt-")).map(|experiment| {
        let delay = "topology.custom.links.0.delay=";
        let delay =
            experiment.set.iter().find_map(|set| set.strip_prefix(delay)?.strip_suffix("ns"));
        Distance { delay_ns: delay.unwrap().parse().unwrap(), experiment }
    });
    of.collect()
}

impl Distance {
    /// The round trip of the idle network between hosts of both buildings: 8.833 µs within them, and the link there and
    /// back.
    fn round_trip_ns(&self) -> u64 {
        8_833 + 2 * self.delay_ns
    }
}

#[test]
fn no_experiment_has_a_warning() {
    for level in [Level::Quick, Level::Standard] {
        let plan = (study().plan)(level).into_iter();
        let next = ["scale-", "rtt-", "dctcp", "cubic", "udp-"];
        for experiment in plan.filter(|of| next.iter().any(|next| of.name.starts_with(next))) {
            let scenario = scenario(&experiment);
            let warnings: Vec<String> = scenario.warnings().iter().map(|of| of.plain()).collect();
            assert_eq!(warnings, Vec::<String>::new(), "{}", experiment.name);
        }
    }
}

#[test]
fn round_trips_are_those_of_the_idle_network() {
    for of in &distances() {
        let derived = scenario(&of.experiment).derived();
        let idle = derived.variants[0].unloaded_rtt.as_ns();
        assert!((idle - of.round_trip_ns() as f64).abs() < 1.0, "{} {idle}", of.experiment.name);
        // 12 bytes and a half a nanosecond.
        let product = of.round_trip_ns() * 25 / 2;
        assert!(derived.variants[0].bdp.0.abs_diff(product) < 15, "{}", of.experiment.name);
    }
}

/// What a link still brings after its other end was asked to stop: 2 x delay, two frames of 1106 bytes and
/// a pause of 84 at 400 Gb/s, 45.92 ns, and 571.392 ns in the switch, at 50 bytes a nanosecond of which
/// 1086 of 1106 are counted; and the frame that passes XOFF.
#[test]
fn pfc_has_room_for_what_is_on_a_long_link() {
    for of in &distances()[1..] {
        let time_ns = 2.0 * of.delay_ns as f64 + 45.92 + 571.392;
        let by_hand = time_ns * 50.0 * 1086.0 / 1106.0 + 1086.0;
        let derived = scenario(&of.experiment).derived();
        let headroom = derived.variants[0].headroom.expect("the first variant has PFC");
        assert!(
            (headroom.one_link.0 as f64 - by_hand).abs() < 1086.0,
            "{} {by_hand}",
            of.experiment.name
        );
        let available = headroom.available.expect("memory is limited");
        assert_eq!(available, Bytes(100_000 + 100 * of.delay_ns), "{}", of.experiment.name);
        assert!(available > headroom.one_link, "{}", of.experiment.name);
    }
}

/// The numbers by which the expectations of N2c are reasoned.
#[test]
fn what_waits_by_the_first_reaction() {
    let number = |text: &Value| {
        let text = text.as_str().expect("a size is text");
        text.parse::<Bytes>().expect("it is a size").0 as f64
    };
    let by_round_trip: Vec<(f64, f64)> = distances()[..4]
        .iter()
        .map(|of| {
            let scenario = scenario(&of.experiment);
            let native = scenario.variant("sfc-native").expect("it is there");
            let settings = serde_json::to_value(&native.settings).expect("settings are text");
            let incast = &settings["workload"][1]["incast"];
            let senders = incast["senders"].as_f64().expect("a number");
            let bytes = number(&incast["bytes"]);
            let egress = &settings["switch"]["buffer"]["shared"]["egress"];
            let alpha = egress["alpha"].as_f64().expect("a number");
            let pool = number(&egress["pool"]);
            let most = number(&egress["guaranteed"]) + pool * alpha / (1.0 + alpha);
            // Bytes that count, at 100 Gb/s in a nanosecond.
            let rate = 12.5 * 1086.0 / 1106.0;
            let messages = senders * bytes * 1086.0 / 1024.0;
            let trigger_ns = 0.5e3;
            let reaction_ns = of.round_trip_ns() as f64 - 1e3 + trigger_ns;
            let sent = (senders * rate * reaction_ns).min(messages);
            ((sent - sent / senders) / 1e6, most / 1e6)
        })
        .collect();
    let near = |value: f64, wanted: f64| (value - wanted).abs() < 0.1;
    for ((waits, most), wanted) in by_round_trip.into_iter().zip([1.7, 5.2, 19.9, 31.8]) {
        assert!(near(waits, wanted) && near(most, 8.05), "{waits} {most}, not {wanted}");
    }
}
