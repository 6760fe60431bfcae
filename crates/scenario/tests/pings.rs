//! Pings on a line of 50 Mb/s down and 10 up, idle and under load, against arithmetic.

use floodway_model::Dscp;
use floodway_sim::Outcome;

use crate::home;

/// Pings, and an upload from 2 s on.
const WORKLOADS: &str = r#"
[[workload]]
name = "ping"
dscp = "EF"
ping = { interval = "50ms" }

[[workload]]
name = "upload"
long_flows = { count = 1, from = "right", to = "left", start = "2s" }
"#;

fn run(set: &[&str]) -> Outcome {
    home::run(&home::scenario(WORKLOADS, set))
}

/// A frame on the wire: 56 bytes of payload, 46 of UDP, IP and Ethernet, 20 of preamble and gap.
const PING_BITS: u64 = (56 + 46 + 20) * 8;
/// A full segment on the wire: an IP packet of 1500 bytes, 18 of Ethernet, 20 of preamble and gap.
const SEGMENT_BITS: f64 = (1_500.0 + 18.0 + 20.0) * 8.0;
/// Propagation in one direction.
const PROPAGATION_NS: u64 = 10_000_000;
/// The request over links of 1 Gb/s, 10 Mb/s and 1 Gb/s.
const UP_NS: u64 = PROPAGATION_NS + 2 * PING_BITS + 100 * PING_BITS;
/// The echo over links of 1 Gb/s, 50 Mb/s and 1 Gb/s.
const DOWN_NS: u64 = PROPAGATION_NS + 2 * PING_BITS + 20 * PING_BITS;

/// A column of the pings that were sent within these seconds.
fn column(outcome: &Outcome, name: &str, from: f64, to: f64) -> Vec<f64> {
    let pings = outcome.table("pings");
    let within = |sent: f64| (from * 1e9..to * 1e9).contains(&sent);
    let both = pings.f64s("sent_ns").iter().zip(pings.f64s(name));
    both.filter(|(sent, _)| within(**sent)).map(|(_, value)| *value).collect()
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Before the load, every ping takes what light and the three links take in either direction.
#[test]
fn an_idle_ping_takes_propagation_and_transmission() {
    let outcome = run(&[]);
    let of = |name| column(&outcome, name, 0.0, 1.9);
    assert_eq!(of("up_ns"), [UP_NS as f64; 38]);
    assert_eq!(of("down_ns"), [DOWN_NS as f64; 38]);
    assert_eq!(of("rtt_ns"), [(UP_NS + DOWN_NS) as f64; 38]);
    // 20.120 ms, as a person would compute it.
    assert_eq!(UP_NS + DOWN_NS, 20_121_024);
    // One ping every 50 ms for 12 s, of the home and to the server, whose numbers as nodes are 1 and 0.
    let pings = outcome.table("pings");
    assert_eq!(pings.rows(), 240);
    assert!(pings.u64s("client").iter().all(|&node| node == 1));
    assert!(pings.u64s("server").iter().all(|&node| node == 0));
    assert!(pings.u64s("ping").iter().copied().eq(0..240));
    // Pings are neither measured flows nor operations.
    assert!(outcome.table("flows").u64s("measured").iter().all(|&measured| measured == 0));
    assert_eq!(outcome.table("operations").rows(), 0);
}

/// A queue of 303600 bytes holds 200 full frames of 1518 bytes, which take 200 x 1.2304 ms. A ping waits for at most as
/// many and the rest of the frame on the wire, and Cubic, which lowers its window to 0.7 of it at a loss, keeps the queue
/// above half of that: with the 20 ms of the line in its window it falls to 0.7 x (246 + 20) - 20 = 166 ms.
#[test]
fn under_load_a_fifo_delays_by_its_buffer() {
    let outcome = run(&[]);
    let frame_ns = SEGMENT_BITS * 100.0;
    let full = 200.0 * frame_ns;
    let up = sorted(column(&outcome, "up_ns", 6.0, 12.0));
    let most = UP_NS as f64 + full + frame_ns;
    let arrived: Vec<f64> = up.iter().copied().filter(|time| !time.is_nan()).collect();
    assert!(arrived.iter().all(|time| *time <= most), "{:?} above {most}", arrived.last());
    let [median, last] = [arrived[arrived.len() / 2], arrived[arrived.len() - 1]];
    assert!(median > 0.6 * full && last > 0.9 * full, "{median} and {last} of {full}");
    // The other direction has nothing but acknowledgements.
    let down = sorted(column(&outcome, "down_ns", 6.0, 12.0));
    let arrived: Vec<&f64> = down.iter().filter(|time| !time.is_nan()).collect();
    assert!(**arrived.last().unwrap() < DOWN_NS as f64 + 1e6);
}

/// With a queue of its own, a ping waits for the rest of the frame on the wire, and for no more than one frame in
/// addition, if the scheduler serves a flow that has just become new at the same time.
#[test]
fn under_load_fq_codel_delays_by_a_packet_or_two() {
    let outcome = run(&["switch.queue.discipline=fq_codel"]);
    let frame_ns = SEGMENT_BITS * 100.0;
    let up = sorted(column(&outcome, "up_ns", 3.0, 12.0));
    let p99 = up[up.len() * 99 / 100];
    assert!(p99 <= UP_NS as f64 + 2.0 * frame_ns, "{p99}");
    assert!(up[0] >= UP_NS as f64);
}

/// A lost request has no times, and the next one is sent all the same.
#[test]
fn lost_pings_have_no_time() {
    let outcome = run(&["switch.queue.size=3100B"]);
    let pings = outcome.table("pings");
    assert_eq!(pings.rows(), 240);
    let lost = pings.f64s("rtt_ns").iter().filter(|time| time.is_nan()).count();
    let flows = outcome.table("flows");
    let of_pings = flows.u64s("workload").iter().zip(flows.u64s("lost_packets"));
    let dropped: u64 = of_pings.filter(|(of, _)| **of == 0).map(|(_, lost)| lost).sum();
    assert!(dropped > 0);
    assert_eq!(lost as u64, dropped);
}

/// The DSCP of a workload is written into both directions: the voice tin of CAKE has the pings, the tin for best effort
/// the upload, whatever the classifier would have written.
#[test]
fn a_workload_has_a_dscp_of_its_own() {
    let scenario = home::scenario(WORKLOADS, &[]);
    let profiles = scenario.variants()[0].settings.profiles();
    let of = profiles.iter().map(|profile| profile.dscp).collect::<Vec<_>>();
    assert_eq!(of, [Some(Dscp(46)), None]);
    assert_eq!(profiles[0].transport.name(), "udp");
    assert_eq!(profiles[1].transport.name(), "tcp");
    // In CAKE, the tin of a priority above that of the upload has the pings at once, although no flow is isolated.
    let flowblind = [
        "switch.queue.discipline=cake",
        "switch.queue.discipline.cake.share=0.95",
        "switch.queue.discipline.cake.isolation=flowblind",
    ];
    let median = |set: &[&str]| {
        let up = sorted(column(&run(set), "up_ns", 3.0, 12.0));
        up[up.len() / 2]
    };
    let marked = median(&flowblind);
    let unmarked = median(&[&flowblind[..], &["workload.ping.dscp=BE"]].concat());
    assert!(marked < UP_NS as f64 + 3.0 * SEGMENT_BITS * 100.0, "{marked}");
    assert!(unmarked > marked + 2e6, "{unmarked} and {marked}");
}
