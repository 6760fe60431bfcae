//! Sending and receiving side shared by transports without feedback, which send the packets of a
//! message one after the other.

use floodway_model::packet::length;
use floodway_model::{Body, Echo, Ecn, FlowSpec, Instant, Packet};

use super::{Allowance, Arrived, Frame, ReceivingSide, SendingSide, Sent};
use crate::host::Profile;
use crate::host::congestion::{self, Path};

/// Segmentation of a message into packets.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Payload of a full packet, in bytes.
    pub payload: u64,
    /// Overhead of a frame beyond its payload, in bytes.
    pub overhead: u16,
    /// The ECN field of its packets.
    pub ecn: Ecn,
}

impl Cut {
    /// Frame length of a packet with this payload.
    pub fn frame(&self, payload: u64) -> u16 {
        (payload as u16 + self.overhead).max(length::SHORTEST_FRAME)
    }

    /// Number of packets of a message; the maximum for a message that never ends.
    fn packets(&self, flow: &FlowSpec) -> u32 {
        if flow.is_persistent() {
            return u32::MAX;
        }
        flow.bytes.div_ceil(self.payload) as u32
    }

    /// Payload of packet `psn` of a message of `bytes`.
    fn payload_of(&self, psn: u32, bytes: u64) -> u64 {
        (bytes - u64::from(psn) * self.payload).min(self.payload)
    }
}

/// Parameters of a transport that only segments messages.
pub trait Segmenting {
    /// Segmentation of a message into packets.
    fn cut(&self) -> Cut;
}

/// The sending side.
#[derive(Debug)]
pub struct Sender {
    /// Congestion control of the flow.
    pub control: congestion::State,
    /// Counters.
    pub sent: Sent,
    cut: Cut,
    bytes: u64,
    packets: u32,
    next: u32,
    stop: Instant,
}

impl Sender {
    /// The sender of `flow`.
    pub fn new(cut: Cut, flow: &FlowSpec, control: congestion::State) -> Self {
        Self {
            control,
            sent: Sent::default(),
            cut,
            bytes: flow.bytes,
            packets: cut.packets(flow),
            next: 0,
            stop: flow.sends_until(),
        }
    }

    /// The ECN field of its packets.
    pub fn ecn(&self) -> Ecn {
        self.cut.ecn
    }

    /// It makes no new packets from this time on, unless it has ended already.
    pub fn stop_at(&mut self, at: Instant) {
        self.stop = at;
    }

    /// Whether all packets are sent.
    pub fn is_done(&self) -> bool {
        self.next == self.packets
    }

    /// The next packet; `None` if there is none.
    pub fn next_frame(&mut self, now: Instant) -> Option<Frame> {
        if now >= self.stop {
            self.packets = self.next;
        }
        if self.is_done() {
            return None;
        }
        let psn = self.next;
        self.next += 1;
        self.sent.packets += 1;
        let bytes = self.cut.frame(self.cut.payload_of(psn, self.bytes));
        Some(Frame {
            body: Body::Data { echo: Echo::default(), psn, sent_at: now },
            bytes,
            ecn: self.cut.ecn,
        })
    }
}

impl SendingSide for Sender {
    type Parameters = dyn Segmenting;

    fn new(
        parameters: &dyn Segmenting,
        flow: &FlowSpec,
        _: &Profile,
        control: congestion::State,
        _: &Path,
        _: Instant,
    ) -> Self {
        Self::new(parameters.cut(), flow, control)
    }

    #[inline]
    fn control(&mut self) -> &mut congestion::State {
        &mut self.control
    }

    fn ecn(&self) -> Ecn {
        self.ecn()
    }

    fn sent(&self) -> Sent {
        self.sent
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn stop_at(&mut self, at: Instant) {
        self.stop_at(at);
    }

    #[inline]
    fn next_frame(&mut self, _: &Profile, now: Instant) -> Option<Frame> {
        self.next_frame(now)
    }

    #[inline]
    fn on_sent(&mut self, profile: &Profile, bytes: u64, now: Instant) -> Option<f64> {
        self.control.after_send(&profile.congestion, now, bytes).0
    }

    fn allowance(&mut self, profile: &Profile, now: Instant) -> Allowance {
        let rate = self.control.rate(&profile.congestion, now);
        Allowance { rate, window: None, probes: 0 }
    }
}

/// The receiving side.
#[derive(Clone, Debug)]
pub struct Receiver {
    cut: Cut,
    bytes: u64,
    packets: u32,
    arrived: u32,
    delivered: u64,
}

impl Receiver {
    /// The receiver of `flow`.
    pub fn new(cut: Cut, flow: &FlowSpec) -> Self {
        let packets = cut.packets(flow);
        Self { cut, bytes: flow.bytes, packets, arrived: 0, delivered: 0 }
    }

    /// A packet has arrived. Returns whether the message is complete.
    pub fn on_data(&mut self, psn: u32) -> bool {
        self.arrived += 1;
        self.delivered += self.cut.payload_of(psn, self.bytes);
        self.arrived == self.packets
    }

    /// Payload has arrived in a frame that is in octets.
    pub fn take(&mut self, payload: u64) {
        self.delivered += payload;
    }

    /// Payload bytes that have arrived, without padding.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

impl ReceivingSide for Receiver {
    type Parameters = dyn Segmenting;

    fn new(parameters: &dyn Segmenting, flow: &FlowSpec, _: &Profile) -> Self {
        Self::new(parameters.cut(), flow)
    }

    #[inline]
    fn on_data(&mut self, _: &Packet, psn: u32, _: &Profile, _: Instant) -> Arrived {
        Arrived { completes: self.on_data(psn), ..Arrived::default() }
    }

    fn delivered(&self) -> u64 {
        self.delivered()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::transport::{ethernet, udp};
    use floodway_model::{NodeId, Rate};

    fn message(bytes: u64, stop: Instant) -> FlowSpec {
        let (src, dst, start) = (NodeId(0), NodeId(1), Instant::ZERO);
        FlowSpec { src, dst, bytes, start, stop, workload: 0, in_turn: false }
    }

    fn sender(cut: Cut, flow: &FlowSpec) -> Sender {
        let congestion = congestion::Spec::LineRate(Default::default());
        let control = congestion::State::new(&congestion, &Path::at(Rate::from_gbps(1)));
        Sender::new(cut, flow, control)
    }

    /// Frame lengths of a message, all of which arrive.
    fn frames(cut: Cut, bytes: u64) -> Vec<u16> {
        let flow = message(bytes, Instant::NEVER);
        let (mut sender, mut receiver) = (sender(cut, &flow), Receiver::new(cut, &flow));
        let mut frames = Vec::new();
        while let Some(frame) = sender.next_frame(Instant::ZERO) {
            let Body::Data { psn, .. } = frame.body else { panic!("no data") };
            assert_eq!((frame.ecn, receiver.on_data(psn)), (cut.ecn, sender.is_done()));
            frames.push(frame.bytes);
        }
        assert!(sender.is_done());
        assert_eq!((receiver.delivered(), sender.sent.packets), (bytes, frames.len() as u64));
        frames
    }

    #[test]
    fn a_message_is_cut_and_counted() {
        // 1472 + 1472 + 56 bytes, plus 14 + 20 + 8 + 4 of headers; no frame is below 64.
        let udp = udp::Spec { ecn: udp::Field::Ect1, ..Default::default() }.cut();
        assert_eq!(udp.ecn, Ecn::Ect1);
        assert_eq!(frames(udp, 3_000), [1_518, 1_518, 102]);
    }

    #[test]
    fn an_ethernet_frame_has_eighteen_bytes_beside_its_payload_and_is_padded() {
        let ethernet = ethernet::Spec::default().cut();
        assert_eq!(ethernet.ecn, Ecn::NotEct);
        assert_eq!(frames(ethernet, 3_000), [1_518, 1_518]);
        assert_eq!(frames(ethernet, 3_001), [1_518, 1_518, 64]);
        assert_eq!([45, 46, 47].map(|bytes| frames(ethernet, bytes)[0]), [64, 64, 65]);
    }

    #[test]
    fn it_ends_when_it_is_stopped() {
        let flow = message(FlowSpec::PERSISTENT, Instant(20));
        let mut sender = sender(udp::Spec::default().cut(), &flow);
        assert!(sender.next_frame(Instant(19)).is_some() && !sender.is_done());
        assert!(sender.next_frame(Instant(20)).is_none() && sender.is_done());
    }
}
