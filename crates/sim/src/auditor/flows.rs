//! Senders and receivers of flows: rate, window, order, notifications and deliveries.

use std::collections::BTreeMap;

use floodway_model::packet::length;
use floodway_model::{Body, Duration, Ecn, FlowId, FlowSpec, Instant};

use super::credit::Spending;
use super::network::{Network, ROUNDING};
use super::{Log, time};
use crate::host::Profile;
use crate::host::transport;
use crate::host::transport::rocev2::recovery;
use crate::observe::{Delivery, Departure};

/// The profile of a flow.
pub fn profile<'a>(network: &'a Network, flow: &FlowSpec) -> &'a Profile {
    let profiles = &network.spec.profiles;
    profiles.get(usize::from(flow.workload)).unwrap_or(&profiles[0])
}

/// The sending side of a flow.
#[derive(Debug, Default)]
pub struct Sender {
    /// Earliest time at which its rate permits the next packet.
    next_at: Instant,
    /// First unacknowledged packet, and first packet that has not been sent.
    acknowledged: u32,
    next: u32,
    /// TCP: after losses or retransmissions the data in flight is unknown until everything before this
    /// packet is acknowledged.
    unclear_until: u32,
    window: Option<u64>,
    probes: u64,
    /// Packets sent for credit.
    pub credit: Spending,
}

/// The first segment of a flow.
fn first(network: &Network, flow: FlowId) -> u32 {
    network.first_segments.get(&flow).copied().unwrap_or(0)
}

impl Sender {
    /// That of a flow that has sent nothing.
    pub fn of(network: &Network, flow: FlowId) -> Self {
        let first = first(network, flow);
        Self { acknowledged: first, next: first, ..Self::default() }
    }

    /// A reply of the receiver has arrived.
    pub fn hears(&mut self, body: &Body) {
        match *body {
            Body::Ack { psn, .. } | Body::Nak { psn, .. } => {
                self.acknowledged = self.acknowledged.max(psn);
            }
            Body::UetAck { ack, .. } => self.acknowledged = self.acknowledged.max(ack),
            Body::TcpAck { ack, sack, flags, .. } => {
                self.acknowledged = self.acknowledged.max(ack);
                if flags.duplicate() || sack.iter().any(|block| block.count > 0) {
                    self.unclear_until = self.next;
                }
            }
            _ => {}
        }
    }

    /// It has made a packet.
    pub fn departs(&mut self, network: &Network, departure: &Departure, log: &mut Log) {
        let Departure { packet, rate, window, probes, .. } = departure;
        let (flow, now) = (packet.flow, log.now);
        let spec = &network.flow(flow);
        if now + ROUNDING < self.next_at {
            let at = time(self.next_at);
            log.flow(flow, format!("a packet is sent before {at}, as soon as its rate allows"));
        }
        let bytes = u64::from(packet.bytes) + u64::from(network.spec.wire_overhead);
        if let Some(rate) = rate {
            self.next_at = now + Duration((bytes as f64 * 8e12 / rate) as u64);
        }
        self.credit.departs(network, departure, log);
        let probes_now = *probes > self.probes;
        self.probes = *probes;
        // The window at the last query still applies if no feedback has arrived since. Without
        // credit it is 0, which does not limit the data in flight.
        let window = window.map(|bytes| bytes.max(self.window.unwrap_or(0))).filter(|&max| max > 0);
        self.window = departure.window;
        let (Body::Data { psn, .. } | Body::Segment { psn, .. }) = packet.body else { return };
        let (in_flight, mut is_new) =
            (u64::from(psn) + 1 - u64::from(self.acknowledged.min(psn)), psn == self.next);
        if psn > self.next {
            let next = self.next;
            log.flow(flow, format!("packet {psn} is sent before packet {next}"));
        }
        let (unit, limit, size) = match &profile(network, spec).transport {
            transport::Spec::Rocev2(rocev2) => {
                let whole = |bytes: u64| bytes / rocev2.mtu.0;
                // Go-back-N retransmits everything, so this counts as a first transmission.
                is_new |= matches!(rocev2.recovery, recovery::Spec::GoBackN(_));
                let own = rocev2.in_flight.map(|bytes| whole(bytes.0));
                let control = window.map(|bytes| whole(bytes).max(1));
                let limit = own.into_iter().chain(control).min();
                (rocev2.mtu.0, limit.filter(|_| is_new), spec.bytes)
            }
            transport::Spec::Tcp(tcp) => {
                if psn < self.next {
                    self.unclear_until = self.next;
                }
                let clear = self.unclear_until <= self.acknowledged && !probes_now;
                let limit = window.map(|bytes| (bytes / tcp.mss.0).max(1));
                (tcp.mss.0, limit.filter(|_| clear && is_new), FlowSpec::PERSISTENT)
            }
            // What is in flight is known only by the counter of the receiver; the range of the
            // receiver counts from the first packet that is missing.
            transport::Spec::Uet(uet) => {
                (uet.mtu.0, Some(uet.psn_range.into()).filter(|_| is_new), spec.bytes)
            }
            transport::Spec::Udp(udp) => (udp.payload.0, None, spec.bytes),
            transport::Spec::Ethernet(ethernet) => (ethernet.payload.0, None, spec.bytes),
        };
        if let Some(limit) = limit.filter(|limit| in_flight > *limit) {
            let text = format!("{in_flight} packets are in flight, and its window is {limit}");
            log.flow(flow, text);
        }
        if u64::from(psn) >= size.div_ceil(unit) {
            log.flow(flow, format!("packet {psn} is sent, which its {size} bytes do not have"));
        }
        self.next = self.next.max(psn.saturating_add(1));
    }
}

/// The receiving side of a flow.
#[derive(Debug, Default)]
pub struct Receiver {
    /// First packet that has not arrived, and later ones that have, with their bytes.
    pub next: u32,
    above: BTreeMap<u32, u64>,
    /// Bytes that have arrived, and those of them before that packet.
    bytes: u64,
    in_order: u64,
    complete: bool,
    notified: Option<Instant>,
}

impl Receiver {
    /// That of a flow of which nothing has arrived.
    pub fn of(network: &Network, flow: FlowId) -> Self {
        Self { next: first(network, flow), ..Self::default() }
    }

    /// A packet arrives, possibly a duplicate.
    fn take(&mut self, psn: u32, bytes: u64) {
        if psn < self.next || self.above.contains_key(&psn) {
            return;
        }
        self.bytes += bytes;
        self.above.insert(psn, bytes);
        while let Some(bytes) = self.above.remove(&self.next) {
            self.in_order += bytes;
            self.next += 1;
        }
    }

    /// The receiver has accepted a packet.
    pub fn delivers(&mut self, network: &Network, delivery: &Delivery, log: &mut Log) {
        let Delivery { packet, .. } = delivery;
        let spec = &network.flow(packet.flow);
        let profile = profile(network, spec);
        if let Body::Octets { .. } = packet.body {
            // How much payload it has is known outside.
            self.bytes = delivery.delivered;
            return;
        }
        self.check_notification(profile, delivery, log);
        let (Body::Data { psn, .. } | Body::Segment { psn, .. }) = packet.body else {
            // A header delivers nothing.
            if delivery.completes || delivery.delivered != self.bytes {
                log.flow(packet.flow, "a trimmed packet counts as delivered");
            }
            return;
        };
        let (unit, discards) = match &profile.transport {
            transport::Spec::Rocev2(rocev2) => {
                // Go-back-N accepts packets in order only.
                let in_order = matches!(rocev2.recovery, recovery::Spec::GoBackN(_));
                (rocev2.mtu.0, in_order && psn != self.next)
            }
            transport::Spec::Tcp(tcp) => (tcp.mss.0, false),
            transport::Spec::Uet(uet) => (uet.mtu.0, false),
            transport::Spec::Udp(udp) => (udp.payload.0, false),
            transport::Spec::Ethernet(ethernet) => (ethernet.payload.0, false),
        };
        let is_tcp = matches!(profile.transport, transport::Spec::Tcp(_));
        if !discards {
            let payload = match is_tcp {
                true => u64::from(packet.bytes - length::TCP_OVERHEAD),
                false => (spec.bytes - u64::from(psn) * unit).min(unit),
            };
            self.take(psn, payload);
        }
        // TCP delivers in order.
        let found = if is_tcp { self.in_order } else { self.bytes };
        let counted = delivery.delivered;
        if found != counted {
            let text = format!("{counted} bytes count as delivered, and {found} have arrived");
            log.flow(packet.flow, text);
        }
        self.check_answer(packet.flow, delivery.answered, log);
        let complete = !spec.is_persistent() && found == spec.bytes;
        if delivery.completes != (complete && !self.complete) {
            let size = spec.bytes;
            log.flow(
                packet.flow,
                match delivery.completes {
                    true => format!("it is complete with {found} of {size} bytes, or again"),
                    false => format!("it is not complete although all {size} bytes have arrived"),
                },
            );
        }
        self.complete |= complete;
    }

    /// Checks that nothing is acknowledged that has not arrived.
    pub fn check_answer(&self, flow: FlowId, answered: Option<u32>, log: &mut Log) {
        if let Some(psn) = answered.filter(|psn| *psn > self.next) {
            let next = self.next;
            let text = format!("packets before {psn} are acknowledged, and {next} is missing");
            log.flow(flow, text);
        }
    }

    /// Checks CNPs: a packet with CE must cause a CNP if the interval since the last one has passed,
    /// and must not otherwise.
    fn check_notification(&mut self, profile: &Profile, delivery: &Delivery, log: &mut Log) {
        let interval = profile.congestion.cnp_interval();
        let is_rocev2 = matches!(profile.transport, transport::Spec::Rocev2(_));
        let interval = interval.filter(|_| is_rocev2 && delivery.packet.ecn() == Ecn::Ce);
        let rested = |interval| self.notified.is_none_or(|last| log.now.since(last) >= interval);
        let due = interval.is_some_and(rested);
        if delivery.notified != due {
            let last = self.notified.map_or("never".to_owned(), time);
            let what = if due { "not answered by a CNP" } else { "answered by a CNP" };
            let text = format!("a packet is {what}; the last CNP was sent {last}");
            log.flow(delivery.packet.flow, text);
        }
        if delivery.notified {
            self.notified = Some(log.now);
        }
    }
}
