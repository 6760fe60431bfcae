//! RoCEv2 reliable connections (InfiniBand architecture, annex 17, on the wire as UDP port 4791):
//! a message is cut into packets of the path MTU, acknowledged cumulatively, and sent again from
//! the first missing packet (go-back-N) on a NAK or after a timeout.

use floodway_model::packet::length;
use floodway_model::{Body, Bytes, Class, Duration, Ecn, FlowId, FlowSpec, Instant};
use floodway_model::{NodeId, Packet, PortIx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::congestion;
use crate::link::Link;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full packet (the path MTU). Default 1024B.
    pub mtu: Bytes,
    /// Packets per acknowledgement; the last packet of a message is always acknowledged. Default 1.
    pub ack_every: u32,
    /// Time without progress after which everything unacknowledged is sent again. Default
    /// 16.777216ms (4.096 us times 2^12, InfiniBand local ACK timeout 12).
    pub retransmit_timeout: Duration,
    /// The least time between two NAKs for the same missing packet. Default 500us (HPCC authors'
    /// simulator); the first is sent at once.
    pub nak_interval: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            mtu: Bytes(1_024),
            ack_every: 1,
            retransmit_timeout: Duration(16_777_216_000),
            nak_interval: Duration::from_us(500),
        }
    }
}

impl Spec {
    /// Packets of a message; the most there can be for one that never ends.
    pub fn packets(&self, flow: &FlowSpec) -> u32 {
        if flow.is_persistent() {
            return u32::MAX;
        }
        flow.bytes.div_ceil(self.mtu.0) as u32
    }

    /// Frame length of the packet that carries `payload` bytes.
    pub fn frame(payload: u64) -> u16 {
        (payload as u16 + length::ROCE_OVERHEAD).max(length::SHORTEST_FRAME)
    }

    /// Payload of a packet of a message of `bytes` in `packets` packets.
    fn payload(&self, psn: u32, bytes: u64, packets: u32) -> u64 {
        if psn + 1 < packets { self.mtu.0 } else { bytes - self.mtu.0 * u64::from(packets - 1) }
    }
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Data packets put on the wire, repetitions included.
    pub packets: u64,
    /// Of these, repetitions.
    pub retransmitted: u64,
    /// Timeouts.
    pub timeouts: u64,
}

/// The sending side of one message.
#[derive(Debug)]
pub struct Sender {
    /// Which flow.
    pub flow: FlowId,
    /// The class in which it sends.
    pub class: Class,
    /// The class that it returns to when it is no longer isolated, and when that is.
    home: (Class, Instant),
    /// How fast it may send.
    pub control: congestion::State,
    /// Whether the NIC has it among those that send or will.
    pub in_nic: bool,
    /// When its rate lets it send its next packet.
    pub eligible_at: Instant,
    /// What it has sent.
    pub sent: Sent,
    src: NodeId,
    dst: NodeId,
    connection: u32,
    bytes: u64,
    packets: u32,
    /// The next packet to send, the first that is not acknowledged, and the first never sent.
    next: u32,
    unacknowledged: u32,
    fresh: u32,
    last_progress: Instant,
}

impl Sender {
    /// The sender of `flow`, which it makes ready at once, towards a connection of the receiver.
    pub fn new(
        flow: FlowId,
        spec: &FlowSpec,
        connection: u32,
        class: Class,
        control: congestion::State,
        transport: &Spec,
        now: Instant,
    ) -> Self {
        Self {
            flow,
            class,
            home: (class, Instant::NEVER),
            control,
            in_nic: true,
            eligible_at: now,
            sent: Sent::default(),
            src: spec.src,
            dst: spec.dst,
            connection,
            bytes: spec.bytes,
            packets: transport.packets(spec),
            next: 0,
            unacknowledged: 0,
            fresh: 0,
            last_progress: now,
        }
    }

    /// Whether everything is acknowledged.
    pub fn is_done(&self) -> bool {
        self.unacknowledged == self.packets
    }

    /// Whether there is a packet to send, now or when the rate allows.
    pub fn has_more(&self) -> bool {
        self.next < self.packets
    }

    /// The next packet; `None` if all are sent.
    #[inline]
    pub fn next_packet(&mut self, transport: &Spec, now: Instant) -> Option<Packet> {
        if !self.has_more() {
            return None;
        }
        if self.next == self.unacknowledged {
            self.last_progress = now;
        }
        let psn = self.next;
        self.next += 1;
        self.sent.packets += 1;
        if psn < self.fresh {
            self.sent.retransmitted += 1;
        } else {
            self.fresh = self.next;
        }
        Some(Packet {
            flow: self.flow,
            connection: self.connection,
            src: self.src,
            dst: self.dst,
            bytes: Spec::frame(transport.payload(psn, self.bytes, self.packets)),
            ingress: PortIx(0),
            class: self.class,
            ecn: Ecn::Ect0,
            body: Body::Data { psn, sent_at: now },
        })
    }

    /// A frame of `bytes` that takes `wire` is being sent: the time until the next may follow.
    #[inline]
    pub fn pace(
        &mut self,
        spec: &congestion::Spec,
        now: Instant,
        bytes: u16,
        wire: Duration,
        link: &Link,
    ) -> Duration {
        let bytes = u64::from(bytes) + u64::from(link.wire_overhead);
        self.control.on_send(spec, now, bytes);
        match self.control.rate(spec, now) {
            None => wire,
            Some(rate) => Duration((bytes as f64 * 8e12 / rate) as u64).max(wire),
        }
    }

    /// It sends in this class from now on, and until `until`.
    pub fn isolate(&mut self, class: Class, until: Instant) {
        self.class = class;
        self.home.1 = until;
    }

    /// Whether its isolation is over, so that it sends in another class than before.
    #[inline]
    pub fn returns(&mut self, now: Instant) -> bool {
        if now < self.home.1 {
            return false;
        }
        self.home.1 = Instant::NEVER;
        let changes = self.class != self.home.0;
        self.class = self.home.0;
        changes
    }

    /// Everything before `psn` has arrived.
    pub fn on_ack(&mut self, psn: u32, now: Instant) {
        if psn > self.unacknowledged {
            self.unacknowledged = psn;
            self.next = self.next.max(psn);
            self.last_progress = now;
        }
    }

    /// Everything before `psn` has arrived, and `psn` has not although later ones have.
    pub fn on_nak(&mut self, psn: u32, now: Instant) {
        self.on_ack(psn, now);
        if psn == self.unacknowledged {
            self.next = psn;
            self.last_progress = now;
        }
    }

    /// Its timer rings: if it has waited too long, it starts again from the first packet that is
    /// not acknowledged. Returns when the timer must ring next.
    pub fn on_timer(&mut self, now: Instant, timeout: Duration) -> Instant {
        if self.next == self.unacknowledged {
            self.last_progress = now;
        } else if now.since(self.last_progress) >= timeout {
            self.next = self.unacknowledged;
            self.last_progress = now;
            self.sent.timeouts += 1;
        }
        self.last_progress + timeout
    }
}

/// The receiving side of one message.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The connection of the sender, for feedback.
    pub back: u32,
    expected: u32,
    packets: u32,
    bytes: u64,
    mtu: u64,
    unacknowledged: u32,
    /// `sent_at` of the last packet that came.
    last_sent_at: Option<Instant>,
    last_cnp: Option<Instant>,
    /// The packet last asked for again, and when.
    asked: Option<(u32, Instant)>,
    /// When the last packet came.
    pub finished: Option<Instant>,
    /// Packets with CE.
    pub marked: u64,
    /// Packets that came after one that was sent later.
    pub reordered: u64,
}

/// What follows from the arrival of a data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// The message is complete with it.
    pub completes: bool,
    /// Acknowledge everything before this packet.
    pub acknowledge: Option<u32>,
    /// Ask for this packet again.
    pub missing: Option<u32>,
}

impl Receiver {
    /// The receiver of a flow whose sender is reached by the connection `back`.
    pub fn new(flow: &FlowSpec, back: u32, transport: &Spec) -> Self {
        Self {
            back,
            expected: 0,
            packets: transport.packets(flow),
            bytes: flow.bytes,
            mtu: transport.mtu.0,
            unacknowledged: 0,
            last_sent_at: None,
            last_cnp: None,
            asked: None,
            finished: None,
            marked: 0,
            reordered: 0,
        }
    }

    /// A packet has come.
    #[inline]
    pub fn on_data(
        &mut self,
        transport: &Spec,
        psn: u32,
        sent_at: Instant,
        packet: &Packet,
        now: Instant,
    ) -> Arrived {
        if self.last_sent_at.is_some_and(|last| sent_at <= last) {
            self.reordered += 1;
        }
        self.last_sent_at = Some(sent_at);
        self.marked += u64::from(packet.ecn == Ecn::Ce);
        let mut arrived = Arrived::default();
        if psn == self.expected {
            self.expected += 1;
            self.unacknowledged += 1;
            if self.expected == self.packets {
                self.finished = Some(now);
                arrived.completes = true;
            }
            if self.unacknowledged >= transport.ack_every || arrived.completes {
                self.unacknowledged = 0;
                arrived.acknowledge = Some(self.expected);
            }
        } else if psn < self.expected {
            // Repeated although it had come: the acknowledgement was lost.
            arrived.acknowledge = Some(self.expected);
        } else {
            let again = self.asked.is_none_or(|(asked, at)| {
                asked != self.expected || now.since(at) >= transport.nak_interval
            });
            if again {
                self.asked = Some((self.expected, now));
                arrived.missing = Some(self.expected);
            }
        }
        arrived
    }

    /// Whether a CNP may be sent now, at most one per `interval`; counts it.
    pub fn may_notify(&mut self, interval: Option<Duration>, now: Instant) -> bool {
        let Some(interval) = interval else { return false };
        let rested = self.last_cnp.is_none_or(|last| now.since(last) >= interval);
        if rested {
            self.last_cnp = Some(now);
        }
        rested
    }

    /// [`Receiver::delivered`] of a flow that never ends; 0 of any other.
    pub fn delivered_of_persistent(&self) -> u64 {
        if self.bytes == FlowSpec::PERSISTENT { self.delivered() } else { 0 }
    }

    /// Payload bytes that have arrived in order.
    pub fn delivered(&self) -> u64 {
        (u64::from(self.expected) * self.mtu).min(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Rate;

    fn flow(bytes: u64) -> FlowSpec {
        let (src, dst) = (NodeId(0), NodeId(1));
        FlowSpec { src, dst, bytes, start: Instant::ZERO, workload: 0 }
    }

    fn pair(bytes: u64) -> (Sender, Receiver, Spec) {
        let spec = Spec::default();
        let control = congestion::State::new(&congestion::Spec::default(), Rate::from_gbps(100));
        let flow = flow(bytes);
        let sender = Sender::new(FlowId(0), &flow, 0, Class(0), control, &spec, Instant::ZERO);
        (sender, Receiver::new(&flow, 0, &spec), spec)
    }

    /// Gives a packet to the receiver a microsecond after it was sent.
    fn give(receiver: &mut Receiver, spec: &Spec, packet: &Packet) -> Arrived {
        let Body::Data { psn, sent_at } = packet.body else { panic!("not data") };
        receiver.on_data(spec, psn, sent_at, packet, sent_at + Duration::from_us(1))
    }

    #[test]
    fn a_message_is_cut_and_put_together() {
        let (mut sender, mut receiver, spec) = pair(2_500);
        let mut frames = Vec::new();
        for n in 0.. {
            let Some(packet) = sender.next_packet(&spec, Instant(n)) else { break };
            frames.push(packet.bytes);
            let arrived = give(&mut receiver, &spec, &packet);
            sender.on_ack(arrived.acknowledge.unwrap(), Instant(n));
        }
        // 1024 + 1024 + 452 bytes of payload, 62 of headers each.
        assert_eq!(frames, [1086, 1086, 514]);
        assert!(sender.is_done() && receiver.finished.is_some());
        assert_eq!(receiver.delivered(), 2_500);
    }

    #[test]
    fn one_byte_is_a_shortest_frame() {
        let (mut sender, ..) = pair(1);
        let packet = sender.next_packet(&Spec::default(), Instant::ZERO).unwrap();
        assert_eq!(packet.bytes, 64);
    }

    #[test]
    fn go_back_n() {
        let (mut sender, mut receiver, spec) = pair(5 * 1024);
        let mut packets: Vec<Packet> =
            (0..4).map(|n| sender.next_packet(&spec, Instant(n)).unwrap()).collect();
        packets.remove(1);
        let answers: Vec<Arrived> =
            packets.iter().map(|packet| give(&mut receiver, &spec, packet)).collect();
        // One NAK for packet 1, however many come after it.
        assert_eq!(answers[1].missing, Some(1));
        assert_eq!(answers[2], Arrived::default());
        sender.on_nak(1, Instant(10));
        let again = sender.next_packet(&spec, Instant(11)).unwrap();
        assert!(matches!(again.body, Body::Data { psn: 1, .. }));
        assert_eq!(sender.sent.retransmitted, 1);
        assert_eq!(receiver.reordered, 0);
    }

    #[test]
    fn a_stale_nak_does_nothing() {
        let (mut sender, ..) = pair(5 * 1024);
        (0..5).for_each(|n| assert!(sender.next_packet(&Spec::default(), Instant(n)).is_some()));
        sender.on_ack(4, Instant(10));
        sender.on_nak(2, Instant(11));
        assert!(!sender.has_more());
    }

    #[test]
    fn the_timer_waits_for_silence() {
        let (mut sender, _, spec) = pair(5 * 1024);
        let timeout = Duration(1_000);
        (0..3).for_each(|n| assert!(sender.next_packet(&spec, Instant(n)).is_some()));
        sender.on_ack(1, Instant(600));
        assert_eq!(sender.on_timer(Instant(1_000), timeout), Instant(1_600));
        assert_eq!(sender.on_timer(Instant(1_600), timeout), Instant(2_600));
        assert_eq!(sender.sent.timeouts, 1);
        assert!(matches!(
            sender.next_packet(&spec, Instant(1_700)).unwrap().body,
            Body::Data { psn: 1, .. }
        ));
    }

    #[test]
    fn acknowledgements_can_be_coalesced() {
        let (mut sender, mut receiver, spec) = pair(5 * 1024);
        let spec = Spec { ack_every: 2, ..spec };
        let acks: Vec<Option<u32>> = (0..5)
            .map(|n| sender.next_packet(&spec, Instant(n)).unwrap())
            .map(|packet| give(&mut receiver, &spec, &packet).acknowledge)
            .collect();
        assert_eq!(acks, [None, Some(2), None, Some(4), Some(5)]);
    }
}
