//! Pulls of NDP: host 0 receives from hosts 1 and 2.

use super::*;
use crate::host::congestion::{self, ndp, rccc};
use floodway_model::packet::Entropy;

/// The initial window has two packets.
fn pulling() -> Stand {
    stand(|spec| {
        let ndp = ndp::Spec { initial_window: Some(2) };
        spec.profiles[0].congestion = congestion::Spec::Ndp(ndp);
    })
}

fn pull(src: u32, number: u32) -> Packet {
    let (bytes, body) = (length::ROCE_CREDIT, Body::Credit { number });
    Packet { src: NodeId(0), dst: NodeId(src), bytes, class: Class(1), body, ..packet(src, 0) }
}

impl Stand {
    /// A packet arrives at host 0.
    fn arrives_at_host(&mut self, packet: &Packet, at: u64) {
        self.comes(packet, at - HOP);
        self.leaves(0, 0, packet, at - HOP);
        self.0.arrives(NodeId(0), &Packet { ingress: PortIx(0), ..*packet }, Instant(at));
    }

    fn pulls(&mut self, src: u32, number: u32, at: u64) {
        self.states(NodeId(0), &Fact::Granted { credit: &pull(src, number) }, at);
    }

    /// Host 1 makes a packet, after `probes` timeouts.
    fn departs(&mut self, psn: u32, probes: u64, at: u64) {
        let packet = packet(1, psn);
        let departure = Departure {
            packet,
            home: Class(0),
            rate: None,
            window: Some(0),
            probes,
            began: Instant::ZERO,
            ready_at: Instant::ZERO,
            eligible_at: Instant::ZERO,
        };
        self.states(NodeId(1), &Fact::Departed(&departure), at);
    }
}

#[test]
fn a_pull_for_each_arrival_and_a_packet_time_apart() {
    let mut stand = pulling();
    stand.arrives_at_host(&packet(1, 0), T);
    stand.arrives_at_host(&packet(2, 0), T + FRAME);
    stand.pulls(1, 1, T + FRAME);
    stand.pulls(2, 1, T + 2 * FRAME);
    stand.finds(&[]);
    stand.pulls(2, 2, T + 3 * FRAME - 10_000);
    stand.finds(&[
        "host 0 at 1255.440ns: flow 1: a pull is sent before 1265.440ns, faster than packets can arrive",
        "host 0 at 1255.440ns: flow 1: its receiver pulls 2 packets, and 1 have arrived",
    ]);
}

#[test]
fn pulls_are_counted_without_a_gap() {
    let mut stand = pulling();
    (0..2).for_each(|psn| stand.arrives_at_host(&packet(1, psn), T + u64::from(psn) * FRAME));
    stand.pulls(1, 2, 2 * T);
    stand.finds(&["host 0 at 2000.000ns: flow 0: pull 2 follows pull 0"]);
}

#[test]
fn only_ndp_pulls() {
    let mut stand = stand(|_| {});
    stand.pulls(1, 1, T);
    stand.finds(&[
        "host 0 at 1000.000ns: flow 0: it gets credit, which its congestion control does not know",
    ]);
}

#[test]
fn no_packet_without_credit() {
    let mut stand = pulling();
    (0..2).for_each(|psn| stand.departs(psn, 0, u64::from(psn) * FRAME));
    let arrives = |stand: &mut Stand, number| {
        let wire = 86 * 80 + 200_000;
        let (pull, to) = (pull(1, number), (NodeId(1), PortIx(0)));
        stand.sent(to, &pull, Class(1), Instant(T), Some(Instant(T + wire)));
        let pull = Packet { ingress: PortIx(0), ..pull };
        stand.0.arrives(NodeId(1), &pull, Instant(T + wire));
    };
    // Pull 1 is lost, and pull 2 requests two packets in total; a timeout permits one.
    arrives(&mut stand, 2);
    (2..4).for_each(|psn| stand.departs(psn, 0, 2 * T + u64::from(psn) * FRAME));
    stand.departs(4, 1, 3 * T);
    stand.finds(&[]);
    stand.departs(5, 1, 4 * T);
    stand.finds(&["host 1 at 4000.000ns: flow 0: 6 packets are sent: 2 in the first window, 2 for pulls, and 1 for \
                   timeouts are allowed"]);
}

/// RCCC over Ultra Ethernet: a full packet has 4180 bytes with preamble and gap, and the first credit is one packet.
fn giving() -> Stand {
    giving_with(|_| ())
}

fn giving_with(change: impl Fn(&mut rccc::Spec)) -> Stand {
    stand(|spec| {
        spec.profiles[0].transport = transport::Spec::Uet(Default::default());
        let base_rtt = Some(floodway_model::Duration(1));
        let mut rccc = rccc::Spec { base_rtt, ..Default::default() };
        change(&mut rccc);
        spec.profiles[0].congestion = congestion::Spec::Rccc(rccc);
    })
}

/// Packet `psn` of host 1 or 2, which asks for so many packets of credit.
fn asking(src: u32, psn: u32, target: u16) -> Packet {
    let entropy = Entropy { target: Some(target), ..Default::default() };
    let body = Body::Data { echo: Echo::of_entropy(entropy), psn, sent_at: Instant::ZERO };
    Packet { bytes: 4_160, body, ..packet(src, psn) }
}

const UET_HOP: u64 = 4_180 * 80 + 200_000;

impl Stand {
    /// A packet that asks for credit arrives at host 0.
    fn asks(&mut self, src: u32, psn: u32, target: u16, at: u64) {
        let packet = asking(src, psn, target);
        let (to, ingress) = ((SWITCH, packet.ingress), Packet { ingress: PortIx(0), ..packet });
        let (begun, there) = (Instant(at - 2 * UET_HOP), Instant(at - UET_HOP));
        self.sent(to, &packet, packet.class, begun, Some(there));
        self.0.arrives(SWITCH, &packet, there);
        self.leaves(0, 0, &packet, at - UET_HOP);
        self.0.arrives(NodeId(0), &ingress, Instant(at));
    }

    fn departs_with(&mut self, packet: Packet, at: u64) {
        let departure = Departure {
            packet,
            home: Class(0),
            rate: None,
            window: Some(0),
            probes: 0,
            began: Instant::ZERO,
            ready_at: Instant::ZERO,
            eligible_at: Instant::ZERO,
        };
        self.states(NodeId(1), &Fact::Departed(&departure), at);
    }
}

/// 4180 bytes at 0.99 of 100 Gb/s take 337.777 ns.
#[test]
fn credit_is_what_was_asked_for_at_its_pace() {
    let start = 4 * UET_HOP;
    let mut stand = giving();
    stand.asks(1, 0, 2, start);
    stand.asks(2, 0, 1, start + FRAME * 5);
    stand.pulls(1, 4_180, start + FRAME * 5);
    let next = start + FRAME * 5 + 337_778;
    stand.pulls(1, 8_360, next);
    stand.pulls(2, 4_180, next + 337_778);
    stand.finds(&[]);
    stand.pulls(2, 4_181, next + 2 * 337_778 - 10_000);
    stand.pulls(2, 4_181, next + 3 * 337_778);
    let time = |at: u64| format!("{}.{:03}ns", at / 1_000, at % 1_000);
    let early = time(next + 2 * 337_778 - 10_000);
    let (ready, late) = (time(next + 2 * 337_778 - 1), time(next + 3 * 337_778));
    stand.finds(&[
        &format!("host 0 at {early}: flow 1: credit is given before {ready}, faster than its pace"),
        &format!("host 0 at {early}: flow 1: its receiver gives 4181 bytes of credit, and 4180 are asked for"),
        &format!("host 0 at {late}: flow 1: credit adds nothing, and answers no request"),
        &format!("host 0 at {late}: flow 1: its receiver gives 4181 bytes of credit, and 4180 are asked for"),
    ]);
}

/// With slow credit of a packet, a packet more than was asked for is given; with a timeout of 20 us, a total is repeated 20 us
/// after the last that came or went, and not before.
#[test]
fn slow_and_repeated_credit_have_bounds() {
    let start = 4 * UET_HOP;
    let mut stand = giving_with(|rccc| {
        rccc.slow_credit = floodway_model::Bytes(4_180);
        rccc.credit_timeout = Some(Duration(20 * T));
    });
    stand.asks(1, 0, 1, start);
    stand.pulls(1, 4_180, start);
    stand.pulls(1, 8_360, start + 337_778);
    let repeated = start + 337_778 + 20 * T;
    stand.pulls(1, 8_360, repeated);
    stand.finds(&[]);
    stand.pulls(1, 8_360, repeated + 19 * T);
    stand.pulls(1, 8_361, repeated + 40 * T);
    let time = |at: u64| format!("{}.{:03}ns", at / 1_000, at % 1_000);
    let (early, more) = (time(repeated + 19 * T), time(repeated + 40 * T));
    stand.finds(&[
        &format!("host 0 at {early}: flow 0: credit adds nothing, and answers no request"),
        &format!(
            "host 0 at {more}: flow 0: its receiver gives 8361 bytes of credit, and 4180 are asked for"
        ),
    ]);
}

#[test]
fn credit_at_once_has_a_maximum() {
    let start = 4 * UET_HOP;
    let mut stand = giving();
    stand.asks(1, 0, 9, start);
    stand.pulls(1, 16_385, start);
    let at = format!("{}.{:03}ns", start / 1_000, start % 1_000);
    stand.finds(&[&format!(
        "host 0 at {at}: flow 0: credit of 16385 bytes is given at once, and 16384 is the maximum"
    )]);
}

/// The first credit is one packet, and the last one may overdraw: two without credit, three with credit for one.
#[test]
fn no_bytes_without_credit() {
    let mut stand = giving();
    let at = |n: u64| T + n * 400_000;
    (0..2).for_each(|psn| stand.departs_with(asking(1, psn, 1), at(psn.into())));
    stand.finds(&[]);
    stand.departs_with(asking(1, 2, 1), at(2));
    stand.finds(&[
        "host 1 at 1800.000ns: flow 0: 12540 bytes are sent: a first credit of 4180, 0 of later credit, and a packet of \
         4180 are allowed",
    ]);
}
