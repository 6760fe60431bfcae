//! Adaptive video on an idle line, against arithmetic.

use floodway_sim::Outcome;

use crate::home;

/// A viewer on a line with other rates, 6 ms there and back, whose queue holds a segment.
const WORKLOADS: &str = r#"
[host.congestion.cubic]

[[workload]]
name = "viewer"
long_flows = { count = 1, stop = "60s" }
[workload.application.video]
"#;

fn run(set: &[&str]) -> Outcome {
    let line = [
        "arrivals=60s",
        "limit=70s",
        "topology.dumbbell.bottleneck_rate=5Mbps",
        "topology.dumbbell.bottleneck_rate_back=10Mbps",
        "topology.dumbbell.bottleneck_delay=1ms",
        "switch.queue.size=4MB",
    ];
    home::run(&home::scenario(WORKLOADS, &[&line[..], set].concat()))
}

/// Bits on the wire of a packet: payload, 70 bytes of TCP, IP and Ethernet, 20 of preamble and gap.
const fn bits(payload: u64) -> u64 {
    (payload + 70 + 20) * 8
}

/// A SYN or SYN/ACK on the wire: 78 and 20 bytes.
const SYN: u64 = 98 * 8;
/// A full packet.
const FULL: u64 = bits(1_448);
/// Propagation in one direction.
const PROPAGATION: u64 = 3_000_000;

/// Time of a frame up: links of 1 Gb/s, 10 Mb/s and 1 Gb/s, in nanoseconds.
const fn up(bits: u64) -> u64 {
    PROPAGATION + 102 * bits
}

/// Time of so many full packets in a row down, on a line with so many nanoseconds a bit. Ten packets, the first window, take
/// longer than a round trip, so the line is busy until the last one.
const fn down(packets: u64, bit: u64) -> u64 {
    PROPAGATION + (2 + bit * packets) * FULL
}

/// From the arrival of a segment to that of the next: its request, with the acknowledgement, and its packets.
const fn cycle(packets: u64, bit: u64) -> u64 {
    up(bits(350)) + down(packets, bit)
}

fn bitrates(outcome: &Outcome) -> Vec<u64> {
    let rates = outcome.table("video_segments").f64s("bitrate_bps");
    rates.iter().map(|rate| *rate as u64).collect()
}

/// 1.448 Mb/s for 4 s are 500 full packets, and a line of 1 Mb/s needs 6.17 s for them. Playback begins with the first
/// segment, and each of the next ones comes a cycle later, after 4 s of playback and a stall for the rest.
#[test]
fn a_line_below_the_lowest_bitrate_stalls() {
    let set = [
        "topology.dumbbell.bottleneck_rate=1Mbps",
        "workload.viewer.application.video.ladder=[\"1448Kbps\"]",
    ];
    let outcome = run(&set);
    let segments = outcome.table("video_segments");
    let (bit, played) = (1_000, 4_000_000_000);
    // SYN down, SYN/ACK up, and the first segment.
    let first = PROPAGATION + (2 + bit) * SYN + up(SYN) + down(500, bit);
    let cycle = cycle(500, bit);
    let arrived: Vec<f64> = (0..9).map(|segment| (first + segment * cycle) as f64).collect();
    assert_eq!(segments.f64s("arrived_ns")[..9], arrived);
    assert_eq!(segments.f64s("startup_ns")[0], first as f64);
    assert!(segments.f64s("startup_ns")[1..].iter().all(|time| time.is_nan()));
    assert_eq!(segments.u64s("bytes"), [724_000; 10]);
    // The tenth segment does not arrive before the video stops after 60 s: its stall ends there.
    let rest = 60_000_000_000 - (first + 8 * cycle) - played;
    let mut stalled = vec![(cycle - played) as f64; 10];
    (stalled[0], stalled[9]) = (0.0, rest as f64);
    assert_eq!(segments.f64s("stalled_ns"), stalled);
    assert_eq!(segments.u64s("stalls"), [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(segments.f64s("buffer_ns")[..9], [played as f64; 9]);
    assert!(segments.f64s("buffer_ns")[9].is_nan());
}

/// Bitrates of 250, 500 and 1000 full packets in 4 s on a line of 5 Mb/s, on which they take 0.622, 1.237 and 2.467 s.
/// BBA-0 maps 8 s to the lowest bitrate and 20 s to the highest one, so 12 s to the middle one. After the first segment the
/// buffer has 4 s, and then
///
/// - 7.38, 10.76 and 14.13 s: the lowest bitrate up to 12 s,
/// - 16.90, 19.66 and 22.42 s: the middle one up to 20 s,
/// - 23.96 s, 25.49 s: the highest one. There is room for one more at 24 s, for which the client waits from now on.
#[test]
fn bba_0_climbs_by_its_map_and_waits_for_room() {
    let outcome = run(&[
        "workload.viewer.application.video.ladder=[\"724Kbps\", \"1448Kbps\", \"2896Kbps\"]",
        "workload.viewer.application.video.buffer=28s",
        "workload.viewer.application.video.abr.buffer.reservoir=8s",
        "workload.viewer.application.video.abr.buffer.cushion=12s",
    ]);
    let segments = outcome.table("video_segments");
    let rates = bitrates(&outcome);
    assert_eq!(rates[..4], [724_000; 4]);
    assert_eq!(rates[4..7], [1_448_000; 3]);
    assert!(rates.len() > 15 && rates[7..].iter().all(|rate| *rate == 2_896_000), "{rates:?}");
    let [low, middle, high] = [250, 500, 1_000].map(|packets| cycle(packets, 200));
    let gains = [low, low, low, middle, middle, middle, high, high];
    let mut buffer: u64 = 4_000_000_000;
    let mut expected = vec![buffer as f64];
    for gain in gains {
        buffer += 4_000_000_000 - gain;
        expected.push(buffer as f64);
    }
    // Requested at 24 s, and a segment more when it has arrived.
    expected.resize(15, (28_000_000_000 - high) as f64);
    assert_eq!(segments.f64s("buffer_ns")[..15], expected);
    // From then on a request every 4 s.
    let requested = segments.f64s("requested_ns");
    let between: Vec<f64> = requested.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(between[9..14], [4e9; 5]);
    assert!(segments.u64s("stalls").iter().all(|stalls| *stalls == 0));
}

/// A line of 5 Mb/s carries 1448 of 1538 bytes: 4.71 Mb/s, of which 85 % are 4.00, and the next rung below has 3 Mb/s.
/// Likewise 1.60 and 1.05 Mb/s of 2 Mb/s, 3.20 and 3 of 4, and 6.40 and 5.8 of 8.
#[test]
fn throughput_takes_the_highest_bitrate_below_its_share() {
    for (line, rung) in [("2", 1_050), ("4", 3_000), ("5", 3_000), ("8", 5_800)] {
        let outcome = run(&[
            &format!("topology.dumbbell.bottleneck_rate={line}Mbps"),
            "workload.viewer.application.video.buffer=12s",
            "workload.viewer.application.video.abr.throughput.samples=5",
        ]);
        let rates = bitrates(&outcome);
        // The first one is the lowest; its own window and those of the next ones still grow.
        assert_eq!(rates[0], 235_000);
        assert!(rates.len() > 12, "{line}: {rates:?}");
        assert!(rates[6..].iter().all(|rate| *rate == 1_000 * rung), "{line}: {rates:?}");
    }
}

/// Nothing is requested after the flow has stopped, and what was requested before arrives.
#[test]
fn a_video_ends_with_its_flow() {
    let outcome = run(&[
        "workload.viewer.long_flows.stop=10s",
        "workload.viewer.application.video.ladder=[\"724Kbps\"]",
        "workload.viewer.application.video.buffer=12s",
    ]);
    let segments = outcome.table("video_segments");
    // Three of 0.62 s each in a row, the first of which starts playback, and then one every 4 s: after 4.6 s and 8.6 s.
    assert_eq!(segments.rows(), 5);
    assert!(segments.f64s("requested_ns").iter().all(|at| *at < 10e9));
    assert!(segments.f64s("arrived_ns").iter().all(|at| *at < 10e9));
    let delivered = outcome.table("flows").u64s("delivered_bytes")[0];
    assert_eq!(delivered, segments.u64s("bytes").iter().sum::<u64>());
}
