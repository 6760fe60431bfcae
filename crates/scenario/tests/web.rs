//! Web pages on a line of 50 Mb/s down and 10 up, against arithmetic.

use floodway_sim::Outcome;

use crate::home;

/// Pages of a home.
const WORKLOADS: &str = r#"
[[workload]]
name = "pages"

[workload.web]
exponential = false
parsing = "0ms"
think = "1s"
pages = 3
tls_round_trips = 0
"#;

fn run(set: &[&str]) -> Outcome {
    home::run(&home::scenario(WORKLOADS, set))
}

/// Bits on the wire of a segment: payload, 70 bytes of TCP, IP and Ethernet, 20 of preamble and gap.
const fn bits(payload: u64) -> u64 {
    (payload + 70 + 20) * 8
}

/// A SYN or SYN/ACK on the wire: 78 and 20 bytes.
const SYN: u64 = 98 * 8;
/// An acknowledgement.
const ACK: u64 = bits(0);
/// A full segment.
const FULL: u64 = bits(1_448);
/// Propagation in one direction.
const PROPAGATION: u64 = 10_000_000;

/// Time of a frame up: links of 1 Gb/s, 10 Mb/s and 1 Gb/s, in nanoseconds.
const fn up(bits: u64) -> u64 {
    PROPAGATION + 102 * bits
}

/// Time of so many full segments in a row down: links of 1 Gb/s, 50 Mb/s and 1 Gb/s.
const fn down(segments: u64) -> u64 {
    PROPAGATION + 2 * FULL + 20 * FULL * segments
}

/// The same after the acknowledgement of the request, which the server sends first. The line is busy with it for 20 times as
/// long as the link before, so the first segment waits for the difference.
const fn answer(segments: u64) -> u64 {
    down(segments) + 21 * ACK - FULL
}

/// A request right after the acknowledgement of an object, for which it waits likewise.
const fn again(bits: u64) -> u64 {
    PROPAGATION + 101 * ACK + 101 * bits
}

/// SYN, SYN/ACK and a request of 350 bytes.
const REQUESTED: u64 = up(SYN) + PROPAGATION + 22 * SYN + up(bits(350));

fn loads(outcome: &Outcome) -> Vec<f64> {
    outcome.table("pages").f64s("load_ns").to_vec()
}

/// Sets objects by level, in full segments.
fn levels(segments: &[&[u64]]) -> String {
    let size = |many: &u64| format!("{}B", many * 1_448);
    let bytes: Vec<Vec<String>> =
        segments.iter().map(|level| level.iter().map(size).collect()).collect();
    format!("workload.pages.web.levels={bytes:?}")
}

/// Ten segments are the first window: one round trip for the handshake, and one for the request and the document.
#[test]
fn a_page_of_one_window() {
    let outcome = run(&[&levels(&[&[10]])]);
    assert_eq!(loads(&outcome), [(REQUESTED + answer(10)) as f64; 3]);
    let pages = outcome.table("pages");
    assert_eq!(pages.u64s("bytes"), [14_480; 3]);
    assert_eq!((pages.u64s("objects"), pages.u64s("connections")), (&[1; 3][..], &[1; 3][..]));
    // The next navigation is a second after the last byte.
    let starts = pages.f64s("start_ns");
    assert_eq!(starts[1], 1e9 + loads(&outcome)[0]);
    // Pages are neither measured flows nor operations.
    assert!(outcome.table("flows").u64s("measured").iter().all(|&measured| measured == 0));
    assert_eq!(outcome.table("operations").rows(), 0);
}

/// Of 30 segments 20 wait for acknowledgements. Each of the first ten is acknowledged at once, and lets two more go. They
/// come to the line twice as fast as it sends them, so they leave it in a row, from the first acknowledgement on.
#[test]
fn a_page_in_slow_start() {
    let second = answer(1) + up(ACK) + down(20);
    assert_eq!(loads(&run(&[&levels(&[&[30]])])), [(REQUESTED + second) as f64; 3]);
}

/// The objects of the second level are requested when the document is there, with two requests in a segment, and come as
/// one: the connection needs no second handshake.
#[test]
fn a_level_more_is_a_round_trip_more() {
    let two = answer(4) + 5_000_000 + up(bits(700)) + answer(10);
    let outcome = run(&[&levels(&[&[4], &[7, 3]]), "workload.pages.web.parsing=5ms"]);
    assert_eq!(loads(&outcome), [(REQUESTED + two) as f64; 3]);
    assert_eq!(outcome.table("pages").u64s("objects"), [3; 3]);
}

/// The window grows with the connection: after 10 segments it is 20, so that 20 more come without a pause.
#[test]
fn a_connection_keeps_its_window() {
    let two = answer(10) + again(bits(350)) + answer(20);
    assert_eq!(loads(&run(&[&levels(&[&[10], &[20]])])), [(REQUESTED + two) as f64; 3]);
}

/// A round trip of TLS is a message of 517 bytes up and one of 4000 bytes down: two full segments and one of 1104.
#[test]
fn tls_adds_round_trips() {
    let hello = PROPAGATION + 21 * ACK + 40 * FULL + 21 * bits(1_104);
    for trips in [1, 2] {
        let set = format!("workload.pages.web.tls_round_trips={trips}");
        let outcome = run(&[&levels(&[&[10]]), &set]);
        let hellos = up(bits(517)) + (trips - 1) * again(bits(517)) + trips * hello;
        let expected = up(SYN) + PROPAGATION + 22 * SYN + hellos + again(bits(350)) + answer(10);
        assert_eq!(loads(&outcome), [expected as f64; 3]);
    }
}

/// Six objects of a segment each over six connections. The first one is open, and its request goes before the five SYNs;
/// its object is acknowledged before the five requests go up, which leave the line in a row, because each is ready before
/// the one before it has left (352 us each, and SYN/ACKs come within 150 us). The object of the last one does not wait.
#[test]
fn six_connections_have_five_handshakes_more() {
    let request = bits(350);
    let first = again(request) + answer(1);
    let last_request = PROPAGATION + 101 * ACK + 500 * request + request;
    let expected = REQUESTED + answer(1) + first + last_request + answer(1);
    let set = [&levels(&[&[1], &[1; 6]])[..], "workload.pages.web.protocol=http1"];
    let outcome = run(&set);
    assert_eq!(loads(&outcome), [expected as f64; 3]);
    assert_eq!(outcome.table("pages").u64s("connections"), [6; 3]);
    // Over one connection each object takes a round trip.
    let one = REQUESTED + answer(1) + 6 * (again(request) + answer(1));
    let outcome = run(&[set[0], set[1], "workload.pages.web.connections=1"]);
    assert_eq!(loads(&outcome), [one as f64; 3]);
}

/// The server needs time for each object.
#[test]
fn a_server_takes_its_time() {
    let set = [&levels(&[&[10], &[1]])[..], "workload.pages.web.service=7ms"];
    let two = down(10) + again(bits(350)) + down(1) + 14_000_000;
    assert_eq!(loads(&run(&set)), [(REQUESTED + two) as f64; 3]);
}

/// A page that the end of the run cuts off is in the table without a time, and later ones are not there.
#[test]
fn a_page_may_be_incomplete() {
    let outcome = run(&[&levels(&[&[10]]), "arrivals=1.02s", "limit=1.1s", "warmup=1s"]);
    let (loads, pages) = (loads(&outcome), outcome.table("pages"));
    // The second one would begin 1.043 s after the first: the arrivals are over.
    assert_eq!((loads.len(), pages.u64s("measured")), (1, &[0][..]));
    let outcome = run(&[&levels(&[&[10]]), "arrivals=1.05s", "limit=1.06s", "warmup=1s"]);
    assert_eq!(outcome.table("pages").u64s("measured"), [0, 1]);
    let second = outcome.table("pages").f64s("load_ns")[1];
    assert!(second.is_nan());
}

/// Over a line that loses every tenth frame all pages arrive, whatever the congestion control and the feedback: also where
/// the last acknowledgement of a message is lost and the next message acknowledges it.
#[test]
fn lossy_lines_load_pages_too() {
    let lossy = "line=[{link=[\"left switch\", \"right switch\"], loss=0.1}]";
    for control in ["cubic", "bbr", "bbr3", "prague", "reno", "dctcp"] {
        let set = [
            lossy,
            &levels(&[&[3], &[9, 1, 4, 2, 2, 2, 2, 30]]),
            "workload.pages.web.protocol=http1",
            "workload.pages.web.tls_round_trips=1",
            "workload.pages.web.think=10ms",
            "workload.pages.web.pages=20",
            "workload.pages.web.connections=3",
            "arrivals=200s",
            "limit=400s",
            "switch.aqm.step.threshold=3000B",
            &format!("host.congestion={control}"),
        ];
        let outcome = run(&set);
        let loads = loads(&outcome);
        assert_eq!(loads.len(), 20, "{control}");
        assert!(loads.iter().all(|load| *load > 60e6), "{control}: {loads:?}");
    }
}

/// Pages of the model are the same in all variants and on any number of threads.
#[test]
fn pages_of_the_model_do_not_depend_on_the_network() {
    let model = ["workload.pages.web.exponential=true", "workload.pages.web.tls_round_trips=1"];
    let outcome = run(&model);
    assert_eq!(outcome.fingerprint, run(&model).fingerprint);
    let faster = run(&[&model[..], &["topology.dumbbell.bottleneck_rate=1Gbps"]].concat());
    let bytes = |outcome: &Outcome| outcome.table("pages").u64s("bytes").to_vec();
    assert_eq!(bytes(&outcome), bytes(&faster));
    assert!(loads(&outcome).iter().zip(loads(&faster)).all(|(slow, fast)| *slow > fast));
}
