//! Credit-based flow control in networks, with frames that take 100 ns on links of 100 Gb/s: every frame at the time that
//! arithmetic gives.
//!
//! A frame that a host sends at S is at the switch at S + 100 ns + delay and leaves it at once. The credit frame of 64 bytes takes 6.72
//! ns with preamble and gap, and the delay back. So credit that was used at S is there again at S + L, where the credit loop
//! L = 106.72 ns + twice the delay: 506.72 ns with 200 ns. With credit for k frames, frame i + k is sent L after frame i.

use std::collections::BTreeSet;

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Graph, NodeId};
use floodway_sim::Spec;
use floodway_sim::switch::aqm::{self, bernoulli};
use floodway_sim::switch::classify;
use floodway_sim::switch::flow_control::cbfc;

/// Credit for so many full frames, sent whenever a frame has left.
fn credit(frames: u64) -> cbfc::Spec {
    let buffer = Bytes(frames * FRAME);
    cbfc::Spec { buffer, threshold: Bytes(1), period: None, ..Default::default() }
}

/// Host 0 sends to host 1 without end, by one switch, node 2.
fn one_switch(cbfc: cbfc::Spec) -> Spec {
    let mut spec = full_frames(star(2), vec![flow(0, 1, FlowSpec::PERSISTENT, 0)]);
    spec.switch.flow_control.cbfc = Some(cbfc);
    spec.end = Duration::from_us(50);
    spec
}

/// When frames are sent to a node, in picoseconds.
fn times(spec: Spec, to: u32) -> Vec<u64> {
    let (_, sent) = traced(spec);
    data_to(&sent, to, 0).map(begun).collect()
}

/// Times from `first` on with `k` frames in each loop, the frames of a loop 100 ns apart, before the end of the run.
fn on_paper(first: u64, k: u64, period: u64, end: u64) -> Vec<u64> {
    let of = |i: u64| first + i / k * period + i % k * ns(100);
    (0..).map(of).take_while(|&at| at < end).collect()
}

/// The throughput is the credit over the loop: k frames in 506.72 ns, to the frame and to the picosecond. With a credit frame
/// of 128 bytes the loop is 5.12 ns longer, and with one of 8 bytes 4.48 ns shorter. Six frames take longer than the loop, so that the host never stops.
#[test]
fn throughput_is_credit_over_loop_delay() {
    let end = ns(50_000);
    for k in 1..=5 {
        assert_eq!(times(one_switch(credit(k)), 2), on_paper(0, k, 506_720, end), "{k}");
        let long = cbfc::Spec { frame: Bytes(128), ..credit(k) };
        assert_eq!(times(one_switch(long), 2), on_paper(0, k, 511_840, end), "{k}");
        let short = cbfc::Spec { frame: Bytes(8), ..credit(k) };
        assert_eq!(times(one_switch(short), 2), on_paper(0, k, 502_240, end), "{k}");
    }
    assert_eq!(times(one_switch(credit(6)), 2), on_paper(0, 1, ns(100), end));
}

/// Frames in the transmit buffer of a NIC need credit too, when they leave it.
#[test]
fn a_nic_with_a_buffer_waits_for_credit_too() {
    let mut spec = one_switch(credit(3));
    spec.host.buffer = Some(Bytes(20 * FRAME));
    assert_eq!(times(spec, 2), on_paper(0, 3, 506_720, ns(50_000)));
}

/// Less than a frame more than credit for three is credit for three.
#[test]
fn a_frame_needs_credit_as_a_whole() {
    let cbfc = cbfc::Spec { buffer: Bytes(4 * FRAME - 1), ..credit(3) };
    assert_eq!(times(one_switch(cbfc), 2), on_paper(0, 3, 506_720, ns(50_000)));
}

/// Credit for four frames, sent when two have left: that of frames 0 and 1 when frame 1 leaves, 100 ns later than that of
/// frame 0 alone, and that of frames 2 and 3 when frame 3 does. Every frame comes 606.72 ns after the fourth before it.
#[test]
fn credit_is_sent_when_the_threshold_is_reached() {
    let cbfc = cbfc::Spec { threshold: Bytes(2 * FRAME), ..credit(4) };
    assert_eq!(times(one_switch(cbfc), 2), on_paper(0, 4, 606_720, ns(50_000)));
}

/// The threshold is never reached. The first of four frames leaves the switch at 300 ns, and 1 us later credit is sent for all
/// four, which left up to 600 ns: the loop is 1 us longer.
#[test]
fn credit_is_sent_at_the_end_of_its_period() {
    let period = Some(Duration::from_us(1));
    let cbfc = cbfc::Spec { threshold: Bytes(100 * FRAME), period, ..credit(4) };
    assert_eq!(times(one_switch(cbfc), 2), on_paper(0, 4, 1_506_720, ns(50_000)));
}

/// The switch drops every packet. What has been dropped needs no room, so credit is sent at once.
#[test]
fn dropped_packets_return_their_credit() {
    let mut spec = one_switch(credit(2));
    spec.switch.aqm = aqm::Spec::Bernoulli(bernoulli::Spec { probability: 1.0 });
    assert_eq!(times(spec, 2), on_paper(0, 2, 506_720, ns(50_000)));
}

/// Two switches with a link of 1 us between them, whose credit loop is 2106.72 ns. The first frame leaves switch a at 300 ns. What
/// host 0 gets credit for waits in switch a before it is needed there.
#[test]
fn a_long_link_between_switches_has_its_own_loop() {
    for k in [1, 3, 8] {
        let mut graph = Graph::default();
        (0..2).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
        let [a, b] = ["a", "b"].map(|name| graph.add(name, NodeKind::Switch { tier: 0 }));
        graph.link(NodeId(0), a, GBPS_100, NS_200);
        graph.link(NodeId(1), b, GBPS_100, NS_200);
        graph.link(a, b, GBPS_100, Duration::from_us(1));
        let mut spec = full_frames(graph, vec![flow(0, 1, FlowSpec::PERSISTENT, 0)]);
        spec.switch.flow_control.cbfc = Some(credit(k));
        spec.end = Duration::from_us(50);
        assert_eq!(times(spec, b.0), on_paper(ns(300), k, 2_106_720, ns(50_000)), "{k}");
    }
}

/// An incast of 15 hosts by two tiers, with room for a single frame in each ingress port and class, in one class and in
/// two, for credit by the frame and by the period: nothing is lost, everything arrives, and every byte is there at the end. (The
/// auditor checks that no buffer holds more than a frame.)
#[test]
fn nothing_is_lost_with_room_for_one_frame() {
    for (classes, threshold, period) in [(1, 1, None), (2, 1, None), (1, 9_000, Some(for_ns(700)))]
    {
        let senders = (0..16).filter(|&src| src != 5);
        let flows = senders.map(|src| flow(src, 5, 40 * PAYLOAD, u64::from(src) * 10));
        let mut spec = full_frames(clos(4, 2, 4), flows.collect());
        spec.switch.queue.count = classes;
        if classes == 2 {
            spec.switch.classify = classify::Spec::DestinationHash(Default::default());
        }
        let threshold = Bytes(threshold);
        spec.switch.flow_control.cbfc = Some(cbfc::Spec { threshold, period, ..credit(1) });
        spec.switch.queue.size = Bytes(FRAME);
        let (outcome, _) = traced(spec);
        assert_eq!(outcome.table("drops").rows(), 0);
        assert_eq!(outcome.counter("data_bytes_delivered"), 15 * 40 * PAYLOAD);
        assert!(outcome.counter("link_credits_sent") > 0 && outcome.counter("paused_ns") > 0);
    }
}

/// With room for everything, and credit only for more than is sent, no credit frame is sent and no class stops: every flow
/// completes when it does without flow control, congested or not.
#[test]
fn ample_credit_changes_nothing() {
    let flows = busy_flows().into_iter().filter(|flow| !flow.is_persistent()).collect();
    let mut spec = plain(clos(4, 2, 8), flows);
    spec.end = Duration::from_ms(20);
    let without = run(spec.clone());
    let ample = Bytes(1 << 39);
    spec.switch.flow_control.cbfc =
        Some(cbfc::Spec { buffer: ample, threshold: ample, period: None, ..Default::default() });
    let with = run(spec);
    assert_eq!(fct_ps(&with), fct_ps(&without));
    assert_eq!((with.counter("link_credits_sent"), with.counter("paused_ns")), (0, 0));
    // There was congestion.
    assert!(*without.table("queues").u64s("max_backlog_bytes").iter().max().unwrap() > 100_000);
}

/// With credit by the frame, frames on the way back meet credit frames, but forward nothing changes for flows that do not
/// share a link: datagrams of hosts 0 and 2 to hosts 1 and 3, with more credit than a loop needs.
#[test]
fn enough_credit_for_the_loop_changes_nothing_without_congestion() {
    let flows = vec![flow(0, 1, 500 * PAYLOAD, 0), flow(2, 3, 300 * PAYLOAD, 1_000)];
    let mut spec = full_frames(star(4), flows);
    spec.end = Duration::from_us(100);
    let without = run(spec.clone());
    spec.switch.flow_control.cbfc = Some(credit(6));
    let (with, sent) = traced(spec);
    assert_eq!(fct_ps(&with), fct_ps(&without));
    let credits = sent.iter().filter(|frame| matches!(frame.packet.body, Body::LinkCredit { .. }));
    let ports: BTreeSet<u32> = credits.clone().map(|frame| frame.to.0.0).collect();
    assert_eq!((credits.count(), ports), (800, [0, 2].into()));
    assert_eq!(with.counter("link_credits_sent"), 800);
}
