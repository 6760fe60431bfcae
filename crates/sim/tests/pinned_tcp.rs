//! Parameters of TCP, of its congestion controls and of what writes into it, each by a network in which
//! its effect can be computed by hand.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, Rate};
use floodway_sim::host::application::{self, entries, interactive};
use floodway_sim::host::congestion::{self, bbr, bbr3, cubic, dctcp, reno};
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::switch::aqm;
use floodway_sim::{Outcome, Spec};

const MSS: u64 = 1_448;
/// A SYN, a full segment and an acknowledgement at 100 Gb/s, with preamble and gap.
const SYN: u64 = (78 + 20) * 80;
const FULL: u64 = (1_518 + 20) * 80;
const ACK: u64 = (70 + 20) * 80;
/// The delay of every link, and a round trip of a segment and its acknowledgement.
const FAR: u64 = 1_000_000_000;
const ROUND_TRIP: u64 = 2 * (FULL + FAR) + 2 * (ACK + FAR);
const HANDSHAKE: u64 = 4 * (SYN + FAR);

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

/// Two hosts and a switch; the link to host 1 has this rate, the other one 100 Gb/s.
fn far(rate: Rate) -> Graph {
    let mut graph = Graph::default();
    let hosts = [0, 1].map(|host| graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    graph.link(hosts[0], switch, GBPS_100, Duration(FAR));
    graph.link(hosts[1], switch, rate, Duration(FAR));
    graph
}

/// One flow from host 0 to host 1.
fn one(rate: Rate, flow: FlowSpec, congestion: congestion::Spec, end: Duration) -> Spec {
    let mut spec = plain(far(rate), vec![flow]);
    spec.profiles[0].transport = transport::Spec::Tcp(tcp::Spec::default());
    spec.profiles[0].congestion = congestion;
    (spec.end, spec.measured_until) = (end, end);
    (spec.sample_interval, spec.flow_samples) = (ms(1_000), Some(ms(10)));
    spec
}

fn tcp(spec: &mut Spec) -> &mut tcp::Spec {
    let transport::Spec::Tcp(tcp) = &mut spec.profiles[0].transport else { unreachable!() };
    tcp
}

fn endless() -> FlowSpec {
    flow(0, 1, FlowSpec::PERSISTENT, 0)
}

/// Segments that have arrived, by sample of 10 ms.
fn arrived(outcome: &Outcome) -> Vec<f64> {
    let bytes = outcome.table("deliveries").u64s("delivered_bytes");
    bytes.iter().map(|&bytes| bytes as f64 / MSS as f64).collect()
}

#[track_caller]
fn assert_near(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() < part, "{value}, {expected} on paper");
}

/// BBR spreads its initial window of 10 over the round trip of the handshake, with the gain of the
/// startup and a margin: segments are R / (10 gain (1 - margin)) apart.
#[test]
fn bbr_paces_its_first_window() {
    let bbr = |gain, margin| {
        congestion::Spec::Bbr(bbr::Spec {
            startup_gain: gain,
            pacing_margin: margin,
            ..Default::default()
        })
    };
    let bbr3 = |gain, margin| {
        congestion::Spec::Bbr3(bbr3::Spec {
            startup_pacing_gain: gain,
            pacing_margin: margin,
            ..Default::default()
        })
    };
    let controls = [
        (bbr(2.885, 0.01), 2.885 * 0.99),
        (bbr(2.0, 0.2), 2.0 * 0.8),
        (bbr3(2.77, 0.01), 2.77 * 0.99),
        (bbr3(2.0, 0.2), 2.0 * 0.8),
    ];
    for (control, gain) in controls {
        let outcome = run(one(GBPS_100, flow(0, 1, 10 * MSS, 0), control, ms(1_000)));
        let gaps = fct_ps(&outcome)[0] - HANDSHAKE - 2 * (FULL + FAR);
        assert_near(gaps as f64, 9.0 * HANDSHAKE as f64 / (10.0 * gain), 1e-4);
    }
}

/// Of what arrives at 100 Mb/s in samples of 10 ms, 81 segments if the link is full: how many samples are from
/// one nearly empty interval to the next, how many are in one, and how much arrives in one of those.
fn pauses(control: congestion::Spec) -> [f64; 3] {
    let arrived = arrived(&run(one(Rate::from_mbps(100), endless(), control, ms(12_000))));
    let samples: Vec<f64> = arrived.windows(2).skip(50).map(|two| two[1] - two[0]).collect();
    let empty = |sample: f64| sample < 60.0;
    let begins: Vec<usize> =
        (1..samples.len()).filter(|&n| empty(samples[n]) && !empty(samples[n - 1])).collect();
    // The last may not have ended.
    let (first, last) = (begins[0], begins[begins.len() - 1]);
    let within: Vec<f64> = samples[first..last].iter().copied().filter(|n| empty(*n)).collect();
    let count = (begins.len() - 1) as f64;
    let segments = within.iter().sum::<f64>() / within.len() as f64;
    [(last - first) as f64 / count, within.len() as f64 / count, segments]
}

/// With a shortest round trip of 4.14 ms that is forgotten after 800 ms, BBR has four segments in flight for
/// 200 ms, again and again: 20 of 100 samples, with 4 segments in 4.14 ms, 9.7 in each. It takes some round
/// trips, at most two samples, until there are few in flight, and many again.
#[test]
fn bbr_probes_the_round_trip() {
    let spec = |window, time, least| {
        congestion::Spec::Bbr(bbr::Spec {
            min_rtt_window: ms(window),
            probe_rtt_time: ms(time),
            min_window: least,
            ..Default::default()
        })
    };
    for (window, time, least) in [(800, 200, 4), (1_600, 400, 8)] {
        let [period, lasts, segments] = pauses(spec(window, time, least));
        assert!((0.0..3.0).contains(&(period - (window + time) as f64 / 10.0)), "{period}");
        assert!((-1.0..2.5).contains(&(lasts - time as f64 / 10.0)), "{lasts}");
        assert_near(segments, f64::from(least) * 10.0 / 4.14, 0.2);
    }
}

/// The same of version 3, which keeps a part of what the path holds: 100 Mb/s are 33 segments in 4.14 ms.
#[test]
fn bbr3_probes_the_round_trip() {
    let spec = |interval, time, part| {
        congestion::Spec::Bbr3(bbr3::Spec {
            probe_rtt_interval: ms(interval),
            probe_rtt_time: ms(time),
            probe_rtt_cwnd_gain: part,
            ..Default::default()
        })
    };
    for (interval, time, part) in [(800, 200, 0.5), (1_600, 400, 0.25)] {
        let [period, lasts, segments] = pauses(spec(interval, time, part));
        assert!((0.0..3.0).contains(&(period - (interval + time) as f64 / 10.0)), "{period}");
        assert!((-1.0..2.5).contains(&(lasts - time as f64 / 10.0)), "{lasts}");
        assert_near(segments, 81.0 * part, 0.2);
    }
}

/// Where every segment that finds another is marked, the window is the least there is. At 10 Mb/s a segment
/// takes 1.2304 ms, and a round trip of one alone 5.303 ms: four links, the segment, and 0.072 ms for its
/// acknowledgement. Of a window of ten, which takes 12.304 ms, the rest is spent in the queue.
#[test]
fn windows_have_a_least_size() {
    let least = 10;
    let controls = [
        congestion::Spec::Reno(reno::Spec { minimum_window: least, ..Default::default() }),
        congestion::Spec::Cubic(cubic::Spec { minimum_window: least, ..Default::default() }),
        congestion::Spec::Dctcp(dctcp::Spec { minimum_window: least, ..Default::default() }),
    ];
    for control in controls {
        let name = control.name();
        let classic = matches!(control, congestion::Spec::Reno(_) | congestion::Spec::Cubic(_));
        let mut spec = one(Rate::from_mbps(10), endless(), control, ms(4_000));
        spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(0) });
        (spec.departures, spec.warmup) = (true, ms(2_000));
        tcp(&mut spec).ack_every = 1;
        if classic {
            tcp(&mut spec).ecn = Some(tcp::Feedback::Classic);
        }
        let outcome = run(spec);
        let sojourns = outcome.table("sojourns");
        let place = sojourns.u64s("port").iter().position(|port| *port == 1).unwrap();
        let waited = sojourns.f64s("mean_sojourn_ns")[place];
        let window = (waited / 1e6 + 5.303) / 1.2304;
        // Before the next mark is known there may be a segment more.
        assert!((9.5..11.5).contains(&window), "{name}: {window}");
    }
}

/// Nothing but the handshake arrives. The timeout is the round trip of the handshake and 100 ms, twice
/// that, and from then on half a second: at 104, 312, 812, 1312 ms, ... after the handshake.
#[test]
fn timeouts_double_up_to_the_most() {
    let mut spec =
        one(GBPS_100, flow(0, 1, MSS, 0), congestion::Spec::Reno(Default::default()), ms(10_000));
    spec.switch.queue.size = Bytes(1_000);
    (tcp(&mut spec).min_rto, tcp(&mut spec).max_rto) = (ms(100), ms(500));
    let outcome = run(spec);
    // The first repetition is a probe, without a timeout of its own, and goes when the timer would.
    // 20 more until 10 s, of which 19 are timeouts or 20.
    let timeouts = outcome.counter("timeouts");
    assert!((19..=21).contains(&timeouts), "{timeouts}");
}

/// A video on an idle network. It begins with 2 Mb/s, a frame every 20 ms, and each frame is a tenth larger
/// than the one before, up to 8 Mb/s: 5000 bytes, 5500, 6050, ... and 20000 from the sixteenth on.
#[test]
fn a_video_grows_to_its_most() {
    let video = |change: &dyn Fn(&mut interactive::Spec)| {
        let mut video = interactive::Spec {
            frame_interval: ms(20),
            start_rate: Rate::from_mbps(2),
            max_rate: Rate::from_mbps(8),
            growth: 0.1,
            ..Default::default()
        };
        change(&mut video);
        let stop = Instant(ms(1_000).0);
        let flow = FlowSpec { stop, ..endless() };
        let control = congestion::Spec::Reno(Default::default());
        let mut spec = one(GBPS_100, flow, control, ms(1_200));
        tcp(&mut spec).ack_every = 1;
        spec.profiles[0].application = Some(application::Spec::Interactive(video));
        let outcome = run(spec);
        outcome.table("flows").u64s("delivered_bytes")[0] as f64
    };
    let frames = |count: i32, growth: f64, first: f64, most: f64| -> f64 {
        (0..count).map(|n| (first * growth.powi(n)).min(most)).sum()
    };
    // Fifty frames, the first of which has not grown yet: it is made before the connection is there.
    let all = video(&|_| {});
    assert_near(all, frames(50, 1.1, 5_000.0, 20_000.0), 0.025);
    // One that may use next to nothing of what its connection carries makes the least, 1 Mb/s, but for the
    // first frame.
    let least = video(&|video| {
        (video.utilization, video.min_rate) = (1e-9, Rate::from_mbps(1));
    });
    assert_near(least, 5_000.0 + 49.0 * 2_500.0, 0.03);
    // Ten segments in a round trip are 29 Mb/s, of which a tenth is used when growth is no limit.
    let share = video(&|video| {
        (video.utilization, video.growth, video.max_rate) = (0.1, 100.0, GBPS_100);
    });
    let frame = 0.1 * (10 * MSS) as f64 / (ROUND_TRIP as f64 / 1e12) * 0.02;
    assert_near(share, 5_000.0 + 49.0 * frame, 0.03);
}

/// Sizes are exponential with a mean of 8000 bytes, cut at 85000, which is more than ten times that and
/// takes next to nothing from the mean. Of some 2000 entries it is good to 2.2 %, five times that here.
#[test]
fn entries_have_their_mean_size() {
    let entries = entries::Spec { think: Some(Duration::from_us(100)), ..Default::default() };
    let flow = FlowSpec { stop: Instant(ms(10_000).0), ..endless() };
    let control = congestion::Spec::Reno(Default::default());
    let mut spec = one(GBPS_100, flow, control, ms(10_100));
    tcp(&mut spec).initial_window = 100;
    spec.profiles[0].application = Some(application::Spec::Entries(entries));
    let outcome = run(spec);
    let bytes = outcome.table("entries").u64s("bytes");
    assert!(bytes.len() > 1_500, "{}", bytes.len());
    assert_near(bytes.iter().sum::<u64>() as f64 / bytes.len() as f64, 8_000.0, 0.11);
    // 1 - 1/e of them are below the mean, good to five times sqrt(0.632 * 0.368 / 2000), 0.054.
    let below = bytes.iter().filter(|bytes| **bytes < 8_000).count() as f64 / bytes.len() as f64;
    assert!((below - 0.632).abs() < 0.06, "{below}");
}
