//! Swift against its fixed point: all flows have the same window, and the round-trip time is at the target
//! of that window.

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec, Rate};
use floodway_sim::Spec;
use floodway_sim::host::congestion::{self, swift};

/// A packet of 1000 bytes of payload takes 1062 bytes and 20 of preamble and gap.
const WIRE: f64 = 1_082.0;
/// Its time on a wire of 100 Gb/s, and that of an acknowledgement of 66 bytes, in microseconds.
const PACKET_US: f64 = WIRE * 8.0 / 100e3;
const ACK_US: f64 = 86.0 * 8.0 / 100e3;
/// Two links of 200 ns there and back, and store and forward at the switch.
const BASE_US: f64 = 4.0 * 0.2 + 2.0 * PACKET_US + 2.0 * ACK_US;

/// So many hosts send to one, on links of 100 Gb/s.
fn incast(senders: u32, swift: &swift::Spec) -> Spec {
    let flows = (0..senders).map(|src| flow(src, senders, FlowSpec::PERSISTENT, 0)).collect();
    let mut spec = plain(star(senders + 1), flows);
    rocev2(&mut spec, |rocev2| rocev2.mtu = Bytes(1_000));
    control(&mut spec, congestion::Spec::Swift(swift.clone()));
    spec.sample_interval = Duration::from_us(1);
    spec
}

/// Where they rest by theory: the window of each, in packets, and the round-trip time in microseconds.
/// All packets but those on the empty way wait, n w packets take a round trip to leave.
fn rest(senders: u32, swift: &swift::Spec) -> (f64, f64) {
    let (mut low, mut high) = (1e-4_f64, 1e4_f64);
    for _ in 0..100 {
        let window = (low * high).sqrt();
        let takes = f64::from(senders) * window * PACKET_US;
        if takes < swift.target(1, window) / 1e6 { low = window } else { high = window }
    }
    (low, f64::from(senders) * low * PACKET_US)
}

/// The mean of the queue in bytes, throughput as part of the line rate, and Jain's index.
pub fn settled(mut spec: Spec) -> (f64, f64, f64) {
    let receiver = u64::from(spec.flows[0].dst.0);
    let flows = spec.flows.len();
    spec.warmup = Duration::from_ms(5);
    spec.end = Duration::from_ms(15);
    spec.measured_until = spec.end;
    spec.flow_samples = Some(spec.warmup);
    let outcome = run(spec);
    assert_eq!(outcome.counter("dropped_packets"), 0);
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("queue"));
    let row = rows.into_iter().position(|row| row == (&receiver, &0)).unwrap();
    let bytes = outcome.table("deliveries").u64s("delivered_bytes");
    let (first, last) = (&bytes[..flows], &bytes[bytes.len() - flows..]);
    let rates: Vec<f64> = first.iter().zip(last).map(|(a, b)| (b - a) as f64 / 10e-3).collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let part = sum * 8.0 / (Rate::from_gbps(100).0 as f64 * 1_000.0 / WIRE);
    (queues.f64s("mean_backlog_bytes")[row], part, sum * sum / (flows as f64 * squares))
}

#[test]
fn windows_and_queues_come_to_rest_at_the_target() {
    let short = swift::Spec {
        base_target: Duration::from_us(4),
        hop: Duration::from_us(1),
        fs_range: Duration::from_us(10),
        ..Default::default()
    };
    // Windows between 4 and 16 packets make much of the target.
    let scaled = swift::Spec {
        fs_range: Duration::from_us(20),
        fs_min_cwnd: 4.0,
        fs_max_cwnd: 16.0,
        ..short.clone()
    };
    // With 100 flows there is less than a packet for each in a round trip: they are paced.
    let rows = [(swift::Spec::default(), 10), (short.clone(), 10), (scaled, 10), (short, 100)];
    for (swift, senders) in rows {
        let (window, rtt) = rest(senders, &swift);
        assert_eq!(window < 1.0, senders == 100, "{window}");
        let (queue, part, fairness) = settled(incast(senders, &swift));
        // Backlogs count frames without preamble and gap. Sawteeth and whole packets are within a
        // tenth.
        let expected = (rtt - BASE_US) * 100e3 / 8.0 * 1_062.0 / WIRE;
        assert!((queue / expected - 1.0).abs() < 0.1, "{senders}: {queue} and not {expected}");
        assert!((part - 1.0).abs() < 1e-3, "{senders}: {part}");
        assert!(fairness > 0.99, "{senders}: {fairness}");
    }
}

#[test]
fn what_is_lost_halves_the_window_and_silence_takes_it_to_the_least() {
    // The queue holds 50 packets, and ten flows begin with a full way each.
    let mut spec = incast(10, &swift::Spec::default());
    spec.switch.queue.size = Bytes(50 * 1_062);
    spec.end = Duration::from_ms(10);
    let outcome = run(spec.clone());
    assert!(outcome.counter("dropped_packets") > 0 && outcome.counter("naks_sent") > 0);
    // All goes on, with the loss of a sawtooth against a queue that is smaller than the target.
    let delivered = outcome.counter("data_bytes_delivered") as f64;
    assert!(delivered > 0.5 * 100e9 / 8.0 * 10e-3 * 1_000.0 / WIRE, "{delivered}");
    // A host that nothing comes back from: it repeats one packet in a thousand round trips at most,
    // where the timer alone would repeat a whole window each time.
    let silent = |threshold| {
        let mut spec =
            incast(1, &swift::Spec { retx_reset_threshold: threshold, ..Default::default() });
        spec.switch.queue.size = Bytes(500);
        spec.end = Duration::from_ms(100);
        let outcome = run(spec);
        assert_eq!(outcome.counter("data_bytes_delivered"), 0);
        (outcome.counter("timeouts"), outcome.counter("retransmitted_packets"))
    };
    let ((few, early), (many, late)) = (silent(1), silent(u32::MAX));
    assert!(few > 2 && many > 2 && early <= few && late > early, "{few} {early} {many} {late}");
}
