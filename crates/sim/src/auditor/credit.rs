//! Credit: what receivers request and how fast, and what senders send in return. With NDP (SIGCOMM 2017, section
//! 3.2) a pull answers a packet or header that has arrived, the pulls of a host are at least as far apart as packets
//! on its link, and after the initial window a flow sends no more packets than its receiver has requested.

use floodway_model::{Body, FlowId, Instant, Packet};
use rustc_hash::FxHashMap;

use super::flows::profile;
use super::network::{Network, ROUNDING, serialization};
use super::{Log, time};
use crate::host::congestion::{self, ndp};
use crate::observe::Departure;

fn ndp(network: &Network, flow: FlowId) -> Option<&ndp::Spec> {
    match &profile(network, &network.flow(flow)).congestion {
        congestion::Spec::Ndp(spec) => Some(spec),
        _ => None,
    }
}

/// Length in bytes of a full packet of a flow on a link.
fn wire(network: &Network, flow: FlowId) -> u64 {
    let transport = &profile(network, &network.flow(flow)).transport;
    u64::from(transport.largest_frame()) + u64::from(network.spec.wire_overhead)
}

/// Credit granted by a receiving host.
#[derive(Debug, Default)]
pub struct Grants {
    /// By flow: packets and headers that have arrived, and packets requested.
    flows: FxHashMap<FlowId, (u32, u32)>,
    /// Earliest time of the next pull.
    next_at: Instant,
}

impl Grants {
    /// Data or a header has arrived.
    pub fn arrives(&mut self, network: &Network, packet: &Packet) {
        if ndp(network, packet.flow).is_some() {
            self.flows.entry(packet.flow).or_default().0 += 1;
        }
    }

    /// A pull has been made.
    pub fn grants(&mut self, network: &Network, credit: &Packet, log: &mut Log) {
        let Body::Credit { number } = credit.body else { return };
        let flow = credit.flow;
        if ndp(network, flow).is_none() {
            return log.flow(flow, "it gets credit, which its congestion control does not know");
        }
        let (arrived, asked) = self.flows.entry(flow).or_default();
        if number != *asked + 1 {
            log.flow(flow, format!("pull {number} follows pull {asked}"));
        }
        *asked = number;
        if *asked > *arrived {
            let text = format!("its receiver pulls {asked} packets, and {arrived} have arrived");
            log.flow(flow, text);
        }
        if log.now + ROUNDING < self.next_at {
            let at = time(self.next_at);
            log.flow(flow, format!("a pull is sent before {at}, faster than packets can arrive"));
        }
        let rate = network.rate_to(log.node, 0);
        self.next_at = log.now + serialization(wire(network, flow), rate);
    }
}

/// Packets sent by a sender, and its limit.
#[derive(Debug, Default)]
pub struct Spending {
    sent: u64,
    /// Packets that its receiver has requested.
    asked: u32,
}

impl Spending {
    /// A pull has arrived.
    pub fn hears(&mut self, number: u32) {
        self.asked = self.asked.max(number);
    }

    /// A packet has been made.
    pub fn departs(&mut self, network: &Network, departure: &Departure, log: &mut Log) {
        let flow = departure.packet.flow;
        let Some(spec) = ndp(network, flow) else { return };
        self.sent += 1;
        let first = spec.initial_window.map_or_else(
            || {
                let bits = u128::from(network.rate(log.node, 0).0) * u128::from(network.base_rtt.0);
                let packet = 8_000_000_000_000 * u128::from(wire(network, flow));
                u64::try_from(bits.div_ceil(packet)).unwrap_or(u64::MAX - 1) + 1
            },
            u64::from,
        );
        let Spending { sent, asked } = *self;
        let timeouts = departure.probes;
        if sent > first.saturating_add(asked.into()).saturating_add(timeouts) {
            let text = format!(
                "{sent} packets are sent: {first} in the first window, {asked} for pulls, and {timeouts} for timeouts are allowed"
            );
            log.flow(flow, text);
        }
    }
}
