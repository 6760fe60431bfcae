//! Packet trimming in a network, with what can be computed by hand. A full packet of RoCEv2 has 1086 bytes, 1106 with
//! preamble and gap, and a header 64 and 84.

use crate::common::timeline::{star_to, traced};
use crate::common::*;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Instant, NodeId, Rate};
use floodway_sim::Sent;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::switch::overflow::{self, trim};
use floodway_sim::switch::scheduler::{self, wrr};
use floodway_sim::{Outcome, Spec};

const FRAME: u64 = 1_086;
/// On a wire of 100 Gb/s, in picoseconds.
const FULL: u64 = 1_106 * 80;

fn selective_repeat(spec: &mut Spec) {
    rocev2(spec, |rocev2| {
        rocev2.recovery = recovery::Spec::SelectiveRepeat(Default::default());
    });
}

/// Flows at line rate with selective repeat, through queues of so many full packets, which trim.
fn trimming(graph: floodway_model::Graph, flows: Vec<FlowSpec>, packets: u64) -> Spec {
    let mut spec = plain(graph, flows);
    selective_repeat(&mut spec);
    spec.switch.queue.size = Bytes(packets * FRAME);
    spec.switch.overflow = overflow::Spec::Trim(Default::default());
    spec
}

/// Changes how packets are trimmed.
fn trim(spec: &mut Spec, change: impl Fn(&mut trim::Spec)) {
    if let overflow::Spec::Trim(trim) = &mut spec.switch.overflow {
        change(trim);
    }
}

/// So many hosts send so many packets each to the last one, all at once.
fn incast(senders: u32, packets: u64) -> Vec<FlowSpec> {
    (0..senders).map(|src| flow(src, senders, packets * 1_024, 0)).collect()
}

fn when(sent: &[Sent], is: impl Fn(&Sent) -> bool) -> Vec<u64> {
    sent.iter().filter(|frame| is(frame)).map(|frame| frame.at.0).collect()
}

/// Everything that was trimmed arrived as a header and was sent again once, and nothing else was lost or repeated.
fn repeats_what_was_trimmed(outcome: &Outcome) -> u64 {
    let trimmed = outcome.counter("trimmed_packets");
    assert!(trimmed > 0);
    let names = ["retransmitted_packets", "headers_received"];
    assert_eq!(names.map(|name| outcome.counter(name)), [trimmed; 2]);
    let none = ["timeouts", "dropped_packets", "headers_dropped", "flows_unfinished"];
    assert_eq!(none.map(|name| outcome.counter(name)), [0; 4]);
    assert_eq!(outcome.table("trims").u64s("packets").iter().sum::<u64>(), trimmed);
    trimmed
}

/// A burst at 100 Gb/s into a link of 10 Gb/s whose queue has room for four packets. The first packet arrives at
/// 288.48 ns and is on the wire until 1173.28 ns, four wait, and of n packets the last n - 5 are trimmed: the tenth comes
/// before 1173.28 ns. The headers go first then, 67.2 ns each, and arrive 200 ns later.
///
/// The receiver has sent the acknowledgement of the first packet, of 68.8 ns, at 1373.28 ns; the first header comes at
/// 1440.48 ns, so its NACK goes at 1442.08 ns, is at the switch 268.8 ns later, and at the sender after 206.88 ns
/// more, at 1917.76 ns. The sender, which is idle, sends the packet at that time.
#[test]
fn a_burst_into_known_room() {
    for (packets, threshold) in (6..=10).flat_map(|packets| [(packets, false), (packets, true)]) {
        let graph = star_to(2, Rate::from_gbps(10));
        let mut spec = trimming(graph, vec![flow(0, 1, packets * 1_024, 0)], 4);
        if threshold {
            // The same with a threshold of four packets and any amount of buffer.
            spec.switch.queue.size = Bytes(1 << 40);
            trim(&mut spec, |trim| trim.threshold = Some(Bytes(4 * FRAME)));
        }
        let (outcome, sent) = traced(spec);
        let (sender, receiver, switch) = (NodeId(0), NodeId(1), NodeId(2));
        let is_header = |frame: &Sent| matches!(frame.packet.body, Body::Trimmed { sent_at, .. } if sent_at.0 < 10 * FULL);
        let headers = when(&sent, is_header);
        let expected: Vec<u64> = (0..packets - 5).map(|n| 1_173_280 + n * 67_200).collect();
        assert_eq!(headers, expected, "{packets} packets");
        let lengths = sent.iter().filter(|frame| is_header(frame)).map(|frame| frame.packet.bytes);
        assert!(lengths.into_iter().all(|bytes| bytes == 64));
        let is_nack = |frame: &Sent| matches!(frame.packet.body, Body::TrimNak { psn: 5, .. });
        let nacks = when(&sent, is_nack);
        assert_eq!(nacks[..2], [1_442_080, 1_442_080 + 268_800]);
        assert!(
            sent.iter().filter(|frame| is_nack(frame)).all(|frame| frame.packet.src == receiver)
        );
        let again = when(&sent, |frame| {
            let of = matches!(frame.packet.body, Body::Data { psn: 5, .. });
            of && frame.packet.src == sender && frame.to.0 == switch
        });
        assert_eq!(again[..2], [5 * FULL, 1_917_760]);
        repeats_what_was_trimmed(&outcome);
    }
}

/// The same burst of ten packets, where each that finds no room takes the place of the last one: 0 is on the wire, 1 to 4 wait,
/// and 5 to 9 replace 4 to 8 one after the other. So 0, 1, 2, 3 and 9 arrive whole the first time.
#[test]
fn the_last_of_the_queue_is_trimmed_for_one_that_comes() {
    let mut spec = trimming(star_to(2, Rate::from_gbps(10)), vec![flow(0, 1, 10 * 1_024, 0)], 4);
    trim(&mut spec, |trim| trim.last = 1.0);
    let (outcome, sent) = traced(spec);
    let to_receiver = |frame: &&Sent| frame.to.0 == NodeId(1);
    let first = |sent_at: Instant| sent_at.0 < 10 * FULL;
    let (mut whole, mut headers) = (Vec::new(), Vec::new());
    for frame in sent.iter().filter(to_receiver) {
        match frame.packet.body {
            Body::Data { psn, sent_at, .. } if first(sent_at) => whole.push(psn),
            Body::Trimmed { psn, sent_at, .. } if first(sent_at) => headers.push(psn),
            _ => {}
        }
    }
    assert_eq!((whole, headers), (vec![0, 1, 2, 3, 9], vec![4, 5, 6, 7, 8]));
    repeats_what_was_trimmed(&outcome);
}

/// Ten hosts send 64 packets each at once at line rate, with and without congestion control, through one switch and
/// through two tiers, with each parameter: the packets that are sent again are those that were trimmed.
#[test]
fn what_is_trimmed_is_sent_again_once() {
    let one = || trimming(star(11), incast(10, 64), 8);
    let mut dcqcn = one();
    control(&mut dcqcn, congestion::Spec::Dcqcn(quick_dcqcn()));
    let mut hpcc = one();
    control(&mut hpcc, congestion::Spec::Hpcc(Default::default()));
    rocev2(&mut hpcc, |rocev2| rocev2.telemetry = true);
    let mut swift = one();
    control(&mut swift, congestion::Spec::Swift(Default::default()));
    let mut coin = one();
    trim(&mut coin, |trim| trim.last = 0.5);
    let mut threshold = one();
    threshold.switch.queue.size = Bytes(1 << 40);
    trim(&mut threshold, |trim| trim.threshold = Some(Bytes(8 * FRAME)));
    let tiers = trimming(clos(4, 2, 3), incast(10, 64), 8);
    let mut among_data = one();
    (among_data.switch.queue.count, among_data.switch.feedback.trimmed) = (2, Some(1));
    among_data.switch.queue.size = Bytes(100_000);
    for (what, spec) in [
        ("line rate", one()),
        ("DCQCN", dcqcn),
        ("HPCC, with telemetry", hpcc),
        ("Swift", swift),
        ("last packet", coin),
        ("threshold", threshold),
        ("two tiers", tiers),
        ("headers among data", among_data),
    ] {
        let trimmed = repeats_what_was_trimmed(&run(spec));
        println!("{what}: {trimmed} packets were trimmed, of {}", 10 * 64);
    }
}

/// Of several flows of a host, and of several hosts to several, too.
#[test]
fn several_flows_at_once() {
    let mut flows: Vec<FlowSpec> = Vec::new();
    for round in 0..3 {
        flows.extend((0..12).map(|src| flow(src, (src + 1 + round) % 12, 100_000, 0)));
        flows.extend((0..6).map(|src| flow(src, 12, 50_000, 5_000)));
    }
    flows.sort_by_key(|flow| (flow.start, flow.src));
    repeats_what_was_trimmed(&run(trimming(star(13), flows, 8)));
}

/// n hosts send p packets each at once. Every packet in flight is at most one header, so 64 n p bytes of control queue
/// are always enough: no packet is lost, whatever n is.
///
/// The burst lasts p S / C, in which n p packets come and at most p S / H headers leave, S and H being 1106 and 84
/// bytes. With n = 64 and p = 32, 2048 come and at most 421 leave: 1600 headers must wait, and a control queue with room
/// for 800 loses some. They are counted, and repaired by timeouts.
#[test]
fn no_packet_is_lost_while_headers_have_room() {
    for senders in [8, 64, 200] {
        let mut spec = trimming(star(senders + 1), incast(senders, 32), 8);
        spec.switch.queue.control_size = Bytes(64 * u64::from(senders) * 32);
        repeats_what_was_trimmed(&run(spec));
    }
    let mut spec = trimming(star(65), incast(64, 32), 8);
    spec.switch.queue.control_size = Bytes(64 * 800);
    let outcome = run(spec);
    assert!(outcome.counter("headers_dropped") >= 700);
    assert!(outcome.counter("timeouts") > 0);
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    let [trimmed, arrived, dropped] = ["trimmed_packets", "headers_received", "headers_dropped"]
        .map(|name| outcome.counter(name));
    assert_eq!(trimmed, arrived + dropped);
}

/// n hosts that never stop send n times what the link carries. A share x of the packets has a full slot of S bytes, the
/// others one of a header's H, and the link is full: n (x S + (1 - x) H) = S. So data has n x = (S - n H) / (S - H) of the
/// link: 0.918 for two hosts, 0.753 for four, 0.425 for eight; from 13.2 on nothing is left. Delivered payload is 1024
/// of 1106 bytes. The queue and the first packets' way, 10 us of 2 ms, make less than 0.5 %.
#[test]
fn headers_have_their_share_of_an_overloaded_link() {
    for senders in [2, 4, 8] {
        let flows = (0..senders).map(|src| flow(src, senders, FlowSpec::PERSISTENT, 0)).collect();
        let mut spec = trimming(star(senders + 1), flows, 8);
        (spec.end, spec.measured_until) = (Duration::from_ms(2), Duration::from_ms(2));
        let outcome = run(spec);
        let (full, header) = (1_106.0, 84.0);
        let data = (full - f64::from(senders) * header) / (full - header);
        let payload = 100e9 / 8.0 * 2e-3 * data * 1_024.0 / full;
        let delivered = outcome.counter("data_bytes_delivered") as f64;
        println!(
            "{senders} senders: data has {data:.3} of the link, {:.3} here",
            delivered / payload * data
        );
        assert!((delivered / payload - 1.0).abs() < 0.005, "{senders}: {delivered}, not {payload}");
        assert_eq!(outcome.counter("dropped_packets"), 0);
    }
}

/// Headers have a data queue with 43 % of the link, as in NDP, which serves 10 headers of H bytes for a packet of S:
/// 840 of 1946 bytes. With both queues always backlogged data has 57 %, however many send. With the headers first it
/// would have nothing, because 32 is more than S / H = 13.2. What is too much for the queue of headers is dropped.
#[test]
fn a_weighted_queue_of_headers_leaves_a_share_to_data() {
    let flows = (0..32).map(|src| flow(src, 32, FlowSpec::PERSISTENT, 0)).collect();
    let mut spec = trimming(star(33), flows, 8);
    (spec.end, spec.measured_until) = (Duration::from_ms(1), Duration::from_ms(1));
    (spec.switch.queue.count, spec.switch.feedback.trimmed) = (2, Some(1));
    spec.switch.scheduler = scheduler::Spec::Wrr(wrr::Spec { classic_weight: 43 });
    let outcome = run(spec);
    let payload = 100e9 / 8.0 * 1e-3 * 0.57 * 1_024.0 / 1_106.0;
    let delivered = outcome.counter("data_bytes_delivered") as f64;
    assert!((delivered / payload - 1.0).abs() < 0.01, "{delivered}, not {payload}");
    assert!(outcome.counter("headers_dropped") > 0);
}

/// 32 hosts send 64 packets each with DCQCN, which the link carries in 181 us. Without trimming packets are lost, and the
/// last flow ends by timeouts, after 7.4 ms; with it there are none, and it ends after 0.34 ms.
#[test]
fn without_it_an_incast_ends_by_timeouts() {
    let spec = || {
        let mut spec = trimming(star(33), incast(32, 64), 16);
        control(&mut spec, congestion::Spec::Dcqcn(Default::default()));
        spec
    };
    let mut dropping = spec();
    dropping.switch.overflow = overflow::Spec::default();
    let [dropping, trimmed] = [dropping, spec()].map(run);
    let last = |outcome: &Outcome| fct_ps(outcome).into_iter().max().unwrap_or(0) / 1_000_000;
    println!("the last flow ends after {} us, {} us with it", last(&dropping), last(&trimmed));
    assert!(dropping.counter("timeouts") > 0);
    assert_eq!(trimmed.counter("timeouts"), 0);
    assert!(last(&trimmed) < last(&dropping));
}

/// What is not understood is dropped as without trimming.
#[test]
fn datagrams_and_go_back_n_are_dropped() {
    let mut spec = trimming(star(5), incast(4, 64), 8);
    rocev2(&mut spec, |rocev2| rocev2.recovery = recovery::Spec::default());
    let mut dropping = spec.clone();
    dropping.switch.overflow = overflow::Spec::default();
    let [trimmed, dropped] = [spec, dropping].map(run);
    assert_eq!(trimmed.counter("trimmed_packets"), 0);
    assert!(trimmed.counter("dropped_packets") > 0);
    assert_eq!(fct_ps(&trimmed), fct_ps(&dropped));
}

/// The busy network of 32 hosts, in queues that overflow.
fn busy() -> Spec {
    let mut spec = plain(clos(4, 2, 8), busy_flows());
    spec.switch.queue.size = Bytes(30_000);
    spec.end = Duration::from_ms(2);
    spec.measured_until = spec.end;
    spec
}

/// Results without trimming are those from before there was any.
#[test]
fn without_trimming_nothing_has_changed() {
    let go_back_n = busy();
    let mut selective = busy();
    selective_repeat(&mut selective);
    control(&mut selective, congestion::Spec::Dcqcn(Default::default()));
    let found = [go_back_n, selective].map(|spec| run(spec).fingerprint);
    assert_eq!(found, [13448844540029430094, 7187642091274046233]);
}
