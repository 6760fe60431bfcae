//! The examples of lines to a home that come with the program, in their smaller form, against arithmetic.

use std::path::Path;

use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation};

/// A variant of an example, once.
fn run(example: &str, variant: &str) -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox");
    let overrides = Overrides { quick: true, set: Vec::new() };
    let scenario = Scenario::load(&folder.join(example), &overrides)
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let variant = scenario.variants().iter().find(|of| of.name == variant).expect("there is one");
    let outcome = Simulation::new(scenario.build(variant, 0)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

/// The mean round trip of pings before the upload begins at 10 s, in milliseconds.
fn idle(outcome: &Outcome) -> f64 {
    let pings = outcome.table("pings");
    let times = pings.f64s("sent_ns").iter().zip(pings.f64s("rtt_ns"));
    let times: Vec<f64> = times.filter(|(sent, _)| **sent < 9.9e9).map(|(_, rtt)| *rtt).collect();
    assert!(times.len() > 150);
    times.iter().sum::<f64>() / times.len() as f64 / 1e6
}

/// With MAP intervals of 2 ms a request waits for half of one on average until the next interval begins, and its grant is for
/// the first interval that begins 1.5 ms after that, which is a whole interval later: 3 ms. With intervals of 1 ms it is half
/// of one and two of them: 2.5 ms.
#[test]
fn grants_of_a_cable_modem_delay_an_idle_ping() {
    let any_time = idle(&run("cable-upstream.toml", "any_time"));
    let over = |variant| idle(&run("cable-upstream.toml", variant)) - any_time;
    assert!((over("grants") - 3.0).abs() < 0.1, "{}", over("grants"));
    assert!((over("short") - 2.5).abs() < 0.1, "{}", over("short"));
}

/// The shaper up has 0.95 Mb/s, and an acknowledgement 90 bytes on the wire with preamble and gap: 1319 of them in a second
/// acknowledge two segments each, so that without a filter the download gets 30.6 Mb/s, and more where the AQM drops some.
/// The filter removes those that newer ones make superfluous, and the download is limited by the shaper down alone: 95 Mb/s
/// of frames of 1538 bytes with 1448 of payload.
#[test]
fn an_ack_filter_lets_a_download_fill_its_line() {
    let goodput = |outcome: &Outcome| {
        let delivered = outcome.table("deliveries");
        let rows = delivered.f64s("time_ns").iter().zip(delivered.u64s("delivered_bytes"));
        let at = |wanted: f64| {
            rows.clone().filter(|(time, _)| **time <= wanted).map(|(_, of)| *of).max()
        };
        let (first, last) = (at(1e9).unwrap(), at(4e9).unwrap());
        (last - first) as f64 * 8.0 / 3e9
    };
    let acks = |rate: f64| rate / (90.0 * 8.0) * 2.0 * 1_448.0 * 8.0;
    let full = 95e6 * 1_448.0 / 1_538.0;
    let off = run("ack-filter.toml", "off");
    let without = goodput(&off) * 1e9;
    assert!(without > 0.95 * acks(0.95e6) && without < 0.55 * full, "{without}");
    for filter in ["conservative", "aggressive"] {
        let outcome = run("ack-filter.toml", filter);
        assert!(outcome.counter("acks_filtered") > 5_000);
        let with = goodput(&outcome) * 1e9;
        assert!(with > 0.9 * full && with <= full, "{filter}: {with} of {full}");
    }
}
