//! Pulls of NDP: host 0 receives from hosts 1 and 2.

use super::*;
use crate::host::congestion::{self, ndp};

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
