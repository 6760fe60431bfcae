//! Calls on a line of 50 Mb/s down and 10 up, idle and under load, against arithmetic.

use floodway_sim::Outcome;

use crate::home;

/// A call, and an upload from 3 s on. What is measured begins with it.
const WORKLOADS: &str = r#"
[[workload]]
name = "call"
voice = { jitter = "0ms" }

[[workload]]
name = "upload"
long_flows = { count = 1, from = "right", to = "left", start = "3s" }
"#;

/// Without the upload.
const IDLE: &str = "workload.upload.long_flows.count=0";

fn run(set: &[&str]) -> Outcome {
    let line = ["warmup=3s", "measure_until=12s"];
    home::run(&home::scenario(WORKLOADS, &[&line[..], set].concat()))
}

/// A packet of G.711 on the wire: 160 bytes of speech, 12 of RTP, 46 of UDP, IP and Ethernet, 20 of preamble and gap.
const PACKET_BITS: u64 = (160 + 12 + 46 + 20) * 8;
/// Propagation, and links of 1 Gb/s, 10 Mb/s and 1 Gb/s.
const UP_NS: f64 = (10_000_000 + 2 * PACKET_BITS + 100 * PACKET_BITS) as f64;
/// The same with 50 Mb/s.
const DOWN_NS: f64 = (10_000_000 + 2 * PACKET_BITS + 20 * PACKET_BITS) as f64;

/// A column of the rows up and down of the only call.
fn of_call(outcome: &Outcome, name: &str) -> [f64; 2] {
    let calls = outcome.table("voice");
    assert_eq!(calls.rows(), 2);
    let values = calls.f64s(name);
    [values[0], values[1]]
}

fn counts(outcome: &Outcome, name: &str) -> [u64; 2] {
    let values = outcome.table("voice").u64s(name);
    [values[0], values[1]]
}

/// Packets every 20 ms with the delay of an idle line. From mouth to ear there are 20 ms of codec and 60 ms of jitter
/// buffer in addition: 90.19 ms up, of which echo takes 2.49 of R (emodel.rs has the formula), so R = 93.36 - 2.49.
#[test]
fn an_idle_call_has_the_delay_of_the_line() {
    let outcome = run(&[IDLE]);
    let packets = outcome.table("voice_packets");
    // 50 packets a second for 12 s in both directions.
    assert_eq!(packets.rows(), 1_200);
    let due = |number: u64| number as f64 * 20e6;
    let sent = packets.f64s("sent_ns").iter().zip(packets.u64s("packet"));
    assert!(sent.into_iter().all(|(sent, number)| *sent == due(*number)));
    let (up, down) = packets.f64s("delay_ns").split_at(600);
    assert!(up.iter().all(|delay| *delay == UP_NS) && down.iter().all(|delay| *delay == DOWN_NS));
    // Of the measured interval, from 3 to 12 s.
    assert_eq!(counts(&outcome, "packets"), [450, 450]);
    assert_eq!((counts(&outcome, "lost"), counts(&outcome, "late")), ([0, 0], [0, 0]));
    assert_eq!(of_call(&outcome, "mouth_to_ear_ns"), [UP_NS + 80e6, DOWN_NS + 80e6]);
    let [up, down] = of_call(&outcome, "rating");
    assert!((up - 90.866).abs() < 0.001 && (down - 90.869).abs() < 0.001, "{up} {down}");
    let [up, down] = of_call(&outcome, "mos");
    assert!((up - 4.360).abs() < 0.001 && (down - 4.360).abs() < 0.001, "{up} {down}");
    // Calls are neither measured flows nor operations.
    assert!(outcome.table("flows").u64s("measured").iter().all(|&measured| measured == 0));
    assert_eq!(outcome.table("operations").rows(), 0);
}

/// Opus has 80 bytes in a packet, and 6.5 ms of look-ahead.
#[test]
fn another_codec_has_other_packets() {
    let outcome = run(&[IDLE, "workload.call.voice.codec=opus"]);
    let less = (80 * 8 * 102) as f64;
    assert_eq!(of_call(&outcome, "mean_delay_ns")[0], UP_NS - less);
    assert_eq!(of_call(&outcome, "mouth_to_ear_ns")[0], UP_NS - less + 86.5e6);
}

/// Lost packets are those that links lose, and cost 95 p / (p + 25.1) of R each way if they are as random as they
/// should be.
#[test]
fn lost_packets_are_those_of_the_line() {
    let lossy = "line=[{link=[\"left switch\", \"right switch\"], loss=0.02}]";
    let outcome = run(&[IDLE, lossy, "warmup=0s"]);
    let lost = counts(&outcome, "lost");
    // The server is the first node, so the flow down is the first one.
    let of_flows = outcome.table("flows").u64s("lost_packets");
    assert_eq!(lost, [of_flows[1], of_flows[0]]);
    // 2 % of 600, with a standard deviation of 3.4; five of them.
    assert!(lost.iter().all(|&lost| (1..=29).contains(&lost)), "{lost:?}");
    let ratings = of_call(&outcome, "rating");
    for (direction, idle) in [90.866, 90.869].into_iter().enumerate() {
        let percent = lost[direction] as f64 / 6.0;
        let burst_ratio = of_call(&outcome, "burst_ratio")[direction];
        let expected = idle - 95.0 * percent / (percent / burst_ratio + 25.1);
        assert!((ratings[direction] - expected).abs() < 0.002, "{ratings:?}");
        assert!((1.0..1.5).contains(&burst_ratio), "{burst_ratio}");
    }
}

/// The queue of 303600 bytes holds 246 ms, and Cubic keeps it above 166 ms (pings.rs). With 90 ms without a queue a
/// direction is heard after 250 ms and more: talker and listener echo take 5.2 of R there, and delay itself 9 at least, so
/// R is below 80 even if nothing is late. With a queue of its own a call waits for a packet or two of the upload, 2.5 ms,
/// and is as good as on an idle line.
#[test]
fn a_fifo_spoils_a_call_and_flow_queueing_does_not() {
    let fifo = run(&[]);
    let [up, down] = of_call(&fifo, "rating");
    assert!(up < 80.0 && down > 90.0, "{up} {down}");
    assert!(of_call(&fifo, "mouth_to_ear_ns")[0] > 250e6);
    let flows = run(&["switch.queue.discipline=fq_codel"]);
    let [up, down] = of_call(&flows, "rating");
    assert!(up > 90.5 && down > 90.5, "{up} {down}");
    assert_eq!((counts(&flows, "lost"), counts(&flows, "late")), ([0, 0], [0, 0]));
}

/// Several calls start at times of their own, and have the same flows on any number of threads.
#[test]
fn calls_are_not_in_step() {
    let set = [IDLE, "workload.call.voice.jitter=20ms", "workload.call.voice.count=3"];
    let outcome = run(&set);
    let starts = outcome.table("flows").f64s("start_ns");
    let mut different = starts.to_vec();
    different.dedup();
    assert_eq!((starts.len(), different.len()), (6, 6));
    assert!(starts.iter().all(|start| (0.0..=20e6).contains(start)));
    assert_eq!(outcome.table("voice").rows(), 6);
    assert_eq!(outcome.fingerprint, run(&set).fingerprint);
}
