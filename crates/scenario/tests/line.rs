//! Lines of an access network, from the scenario to the run.

use floodway_model::line::{Counting, Framing, Line};
use floodway_model::{Duration, Rate};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Simulation, Spec};

const ADSL: &str = r#"
name = "adsl"
arrivals = "1ms"
limit = "100ms"

[topology.dumbbell]
left = 1
right = 1
bottleneck_rate = "8Mbps"
bottleneck_rate_back = "1Mbps"

[[line]]
link = ["left switch", "right switch"]
kind = "pppoe_llcsnap"

[workload.transport.ethernet]

[[workload.list.flow]]
src = 0
dst = 1
bytes = "1500B"
"#;

fn scenario(set: &[&str]) -> Scenario {
    let set = set.iter().map(|&set| set.to_owned()).collect();
    let text = ADSL.replace("[workload.transport", "[[workload]]\n[workload.transport");
    Scenario::parse(&text, "tests/traces/adsl.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn spec(set: &[&str]) -> Spec {
    let scenario = scenario(set);
    scenario.build(&scenario.variants()[0], 0)
}

fn line(set: &[&str]) -> Option<Counting> {
    let spec = spec(set);
    let switch = spec.graph.switches().next().unwrap();
    let end = spec.graph.node(switch).ports[1];
    let back = spec.graph.node(end.peer).ports[end.peer_port.index()];
    assert_eq!(end.line, back.line);
    assert_eq!([end.rate, back.rate], [Rate::from_mbps(8), Rate::from_mbps(1)]);
    end.line
}

#[test]
fn fields_replace_those_of_the_kind() {
    assert_eq!(line(&[]), Some(Line::PppoeLlcsnap.counting()));
    let with = line(&["line.0.overhead=\"10B\"", "line.0.mpu=\"96B\"", "line.0.framing=\"ptm\""]);
    let expected = Counting { overhead: Some(10), mpu: 96, framing: Framing::Ptm };
    assert_eq!(with, Some(expected));
}

/// A frame of 1518 bytes: as 1538 bytes over two links of 1 Gb/s, and as 33 cells over the line of 8 Mb/s; delays of 4 ms.
#[test]
fn an_ip_packet_of_1500_bytes_takes_33_cells() {
    let outcome = Simulation::new(spec(&[])).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let expected = Duration(1_538 * 2 * 8_000 + 33 * 53 * 1_000_000) + Duration::from_ms(4);
    let latency = spec(&[]).switch.latency * 2;
    assert_eq!(outcome.table("flows").f64s("fct_ns"), [(expected + latency).as_ns()]);
}

#[test]
fn loss_is_that_of_both_directions() {
    assert!(spec(&[]).losses.is_empty());
    let losses = spec(&["line.0.loss=0.01", "line.0.bursts={ p = 0.02, r = 0.25 }"]).losses;
    assert_eq!(losses.len(), 2);
    for loss in &losses {
        assert_eq!((loss.good, loss.bad, loss.enters, loss.leaves), (0.01, 1.0, 0.02, 0.25));
    }
    assert_ne!(losses[0].node, losses[1].node);
}

/// Three packets at once through a shaper of 4 Mb/s: 1749 bytes take 3498 us at its rate and 1749 us on the line. The third
/// one begins after two times 3498 us, minus the time of the burst (1000 bytes: 2000 us), and not before two others are on
/// the line, 3498 us.
#[test]
fn a_shaper_spaces_what_the_line_sends() {
    let of = |shaper: &str, third_begins: u64| {
        let set = [shaper, "workload.0.list.flow.0.bytes=4500B"];
        let outcome = Simulation::new(spec(&set)).run();
        assert_eq!(outcome.violations, Vec::<String>::new());
        let line = 33 * 53 * 1_000_000;
        let expected = Duration(1_538 * 2 * 8_000 + line)
            + Duration::from_us(third_begins)
            + Duration::from_ms(4);
        let latency = spec(&[]).switch.latency * 2;
        assert_eq!(outcome.table("flows").f64s("fct_ns"), [(expected + latency).as_ns()]);
    };
    of("line.0.shaper={ rate = \"4Mbps\" }", 6_996);
    of("line.0.shaper={ rate = \"4Mbps\", burst = \"3498B\" }", 3_498);
    of("line.0.shaper={ rate = \"4Mbps\", burst = \"1749B\" }", 3_498);
    of("line.0.shaper={ rate = \"4Mbps\", burst = \"1000B\" }", 4_996);
    of("line.0.shaper_back={ rate = \"1Mbps\" }", 3_498);
}

/// Four packets at once, with opportunities at 2, 5, 5 and 10 ms: the last one leaves at 10 ms, and then takes the rest of
/// the way. With 1 Gb/s the line itself takes no part in that.
#[test]
fn packets_leave_at_the_times_of_a_trace() {
    let set = [
        "topology.dumbbell.bottleneck_rate=1Gbps",
        "line.0.kind=ethernet",
        "line.0.trace=four.trace",
        "workload.0.list.flow.0.bytes=6000B",
    ];
    let spec = spec(&set);
    let outcome = Simulation::new(spec.clone()).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let end = spec.graph.node(spec.graph.switches().next().unwrap()).ports[1];
    let last = spec.graph.node(end.peer).ports[0];
    let expected = Duration::from_ms(10)
        + end.delay
        + spec.switch.latency
        + Duration(1_538 * 8_000)
        + last.delay;
    assert_eq!(outcome.table("flows").f64s("fct_ns"), [expected.as_ns()]);
    assert_eq!(spec.paces.len(), 1);
}

/// Three packets at once in slots on request; on the line each takes 1749 us. The first one reaches the switch before it after
/// 1.012 ms and its latency. All are requested at 2 ms and have their slot from 4 ms on. With 4 of the 8 Mb/s granted without
/// a request, they have 1 ms from 2 ms on and are done 1 ms sooner.
#[test]
fn packets_leave_in_granted_slots() {
    let of = |grants: &str, starts: Duration| {
        let spec = spec(&[grants, "workload.0.list.flow.0.bytes=4500B"]);
        let outcome = Simulation::new(spec.clone()).run();
        assert_eq!(outcome.violations, Vec::<String>::new());
        let line = Duration(33 * 53 * 1_000_000 * 3);
        let rest = Duration::from_ms(3) + spec.switch.latency + Duration(1_538 * 8_000);
        assert_eq!(outcome.table("flows").f64s("fct_ns"), [(starts + line + rest).as_ns()]);
        assert_eq!(spec.paces.len(), 1);
    };
    of("line.0.grants={}", Duration::from_ms(4));
    of("line.0.grants={ proactive = \"4Mbps\" }", Duration::from_ms(3));
    // Every 0.5 ms: requested at 1.5 ms, and granted as much later.
    of("line.0.grants={ interval = \"500us\" }", Duration::from_ms(3));
    of("line.0.grants={ interval = \"1ms\", request_to_grant = \"0ms\" }", Duration::from_ms(2));
}

#[test]
fn facts_say_what_is_special_about_a_line() {
    let fact = |set: &[&str]| {
        let facts = scenario(set).variants()[0].facts(0);
        facts.into_iter().find(|(noun, _)| noun == "lines").unwrap().1
    };
    assert_eq!(fact(&[]), "left switch to right switch: 40 B per packet in ATM cells");
    let set = [
        "line.0.kind=docsis",
        "line.0.loss=0.01",
        "line.0.trace=four.trace",
        "line.0.shaper_back={ rate = \"900Kbps\" }",
    ];
    assert_eq!(
        fact(&set),
        "left switch to right switch: 18 B per packet, loses 0.01 of frames, trace four.trace of 4.81 Mb/s on average \
         at left switch, shaper of 900Kbps at right switch"
    );
    let set = ["line.0.grants={}", "line.0.grants_back={ proactive = \"500Kbps\" }"];
    assert_eq!(
        fact(&set),
        "left switch to right switch: 40 B per packet in ATM cells, grants every 2ms at left switch, grants every 2ms \
         (500Kbps of them proactive) at right switch"
    );
}
