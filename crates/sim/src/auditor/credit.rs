//! Credit: what receivers give and how fast, and what senders send in return.
//!
//! - With NDP (SIGCOMM 2017, section 3.2) a pull answers a packet or header that has arrived, the pulls of
//!   a host are at least as far apart as packets on its link, and after the initial window a flow sends no
//!   more packets than its receiver has requested.
//! - With RCCC (Ultra Ethernet) a receiver gives no more than its senders ask for, and in any time t at
//!   most a grant more than its link carries in t at the pace; a flow sends at most its first credit, what
//!   it was given, and a packet. With slow credit it gives at most so much more, and with a timeout of
//!   credit it repeats a total if nothing has come or gone for so long.

use floodway_model::packet::Entropy;
use floodway_model::{Body, Duration, FlowId, Instant, Packet};
use rustc_hash::FxHashMap;

use super::flows::profile;
use super::network::{Network, ROUNDING, serialization};
use super::{Log, time};
use crate::host::congestion::{self, ndp, rccc};
use crate::observe::Departure;

/// A congestion control with credit.
enum ByCredit<'a> {
    Ndp(&'a ndp::Spec),
    Rccc(&'a rccc::Spec),
}

fn by_credit(network: &Network, flow: FlowId) -> Option<ByCredit<'_>> {
    match &profile(network, &network.flow(flow)).congestion {
        congestion::Spec::Ndp(spec) => Some(ByCredit::Ndp(spec)),
        congestion::Spec::Rccc(spec) => Some(ByCredit::Rccc(spec)),
        _ => None,
    }
}

/// Length in bytes of a full packet of a flow on a link.
fn wire(network: &Network, flow: FlowId) -> u64 {
    let transport = &profile(network, &network.flow(flow)).transport;
    u64::from(transport.largest_frame()) + u64::from(network.spec.wire_overhead)
}

/// The total of which `low` are the lower bits, below `modulus`, that is closest to `total`.
fn closest(total: u64, low: u64, modulus: u64) -> u64 {
    let above = (low + modulus - total % modulus) % modulus;
    match above < modulus / 2 {
        true => total + above,
        false => (total + above).saturating_sub(modulus),
    }
}

/// Credit granted by a receiving host.
#[derive(Debug, Default)]
pub struct Grants {
    flows: FxHashMap<FlowId, Granted>,
    /// Earliest time of the next pull of NDP, and of the next credit of RCCC.
    next_pull: Instant,
    next_at: Instant,
}

/// Credit of one flow: in packets with NDP, in bytes with RCCC.
#[derive(Clone, Copy, Debug, Default)]
struct Granted {
    /// What has been asked for: packets and headers that have arrived, or the largest target of a packet
    /// or request.
    asked: u64,
    given: u64,
    /// Whether a request is to be answered.
    requested: bool,
    /// When something came of the flow, or credit was given to it.
    last: Instant,
}

impl Grants {
    /// Data, a header, or a request for credit has arrived.
    pub fn arrives(&mut self, network: &Network, packet: &Packet, now: Instant) {
        let flow = packet.flow;
        match by_credit(network, flow) {
            Some(ByCredit::Ndp(_)) => self.flows.entry(flow).or_default().asked += 1,
            Some(ByCredit::Rccc(_)) => {
                let of = self.flows.entry(flow).or_default();
                of.last = now;
                let target = match packet.body {
                    Body::Data { echo, .. } | Body::Trimmed { echo, .. } => {
                        let Some(target) = echo.entropy().and_then(|entropy| entropy.target) else {
                            return;
                        };
                        let wire = wire(network, flow);
                        closest(of.given / wire, target.into(), Entropy::TARGETS.into()) * wire
                    }
                    Body::Request { target } => {
                        of.requested = true;
                        closest(of.given, target.into(), 1 << 32)
                    }
                    _ => return,
                };
                of.asked = of.asked.max(target);
            }
            None => {}
        }
    }

    /// Credit has been given.
    pub fn grants(&mut self, network: &Network, credit: &Packet, log: &mut Log) {
        let Body::Credit { number } = credit.body else { return };
        match by_credit(network, credit.flow) {
            Some(ByCredit::Ndp(_)) => self.pulls(network, credit.flow, number, log),
            Some(ByCredit::Rccc(spec)) => self.gives(network, credit.flow, (spec, number), log),
            None => {
                log.flow(credit.flow, "it gets credit, which its congestion control does not know");
            }
        }
    }

    fn pulls(&mut self, network: &Network, flow: FlowId, number: u32, log: &mut Log) {
        let Granted { asked, given, .. } = self.flows.entry(flow).or_default();
        let number = u64::from(number);
        if number != *given + 1 {
            log.flow(flow, format!("pull {number} follows pull {given}"));
        }
        *given = number;
        if *given > *asked {
            let text = format!("its receiver pulls {given} packets, and {asked} have arrived");
            log.flow(flow, text);
        }
        if log.now + ROUNDING < self.next_pull {
            let at = time(self.next_pull);
            log.flow(flow, format!("a pull is sent before {at}, faster than packets can arrive"));
        }
        let rate = network.rate_to(log.node, 0);
        self.next_pull = log.now + serialization(wire(network, flow), rate);
    }

    fn gives(
        &mut self,
        network: &Network,
        flow: FlowId,
        (spec, number): (&rccc::Spec, u32),
        log: &mut Log,
    ) {
        let of = self.flows.entry(flow).or_default();
        let grant = u64::from(number.wrapping_sub(of.given as u32));
        of.given += grant;
        let Granted { asked, given, requested, last } = *of;
        (of.requested, of.last) = (false, log.now);
        if given > asked + spec.slow_credit.0 {
            log.flow(
                flow,
                format!("its receiver gives {given} bytes of credit, and {asked} are asked for"),
            );
        }
        let is_repeated = spec.credit_timeout.is_some_and(|timeout| last + timeout <= log.now);
        if grant == 0 && !requested && !is_repeated {
            log.flow(flow, "credit adds nothing, and answers no request");
        }
        if grant > spec.grant.0 {
            log.flow(
                flow,
                format!(
                    "credit of {grant} bytes is given at once, and {} is the maximum",
                    spec.grant.0
                ),
            );
        }
        if log.now + ROUNDING < self.next_at {
            let at = time(self.next_at);
            log.flow(flow, format!("credit is given before {at}, faster than its pace"));
        }
        let rate = network.rate_to(log.node, 0).0 as f64 * spec.pace;
        self.next_at = log.now + Duration((grant as f64 * 8e12 / rate) as u64);
    }
}

/// What a sender has sent, and its limit.
#[derive(Debug, Default)]
pub struct Spending {
    /// Packets with NDP, bytes with RCCC.
    sent: u64,
    /// What its receiver has requested or given.
    given: u64,
}

impl Spending {
    /// Credit has arrived.
    pub fn hears(&mut self, network: &Network, flow: FlowId, number: u32) {
        let given = match by_credit(network, flow) {
            Some(ByCredit::Rccc(_)) => closest(self.given, number.into(), 1 << 32),
            _ => number.into(),
        };
        self.given = self.given.max(given);
    }

    /// A packet has been made.
    pub fn departs(&mut self, network: &Network, departure: &Departure, log: &mut Log) {
        let flow = departure.packet.flow;
        match by_credit(network, flow) {
            Some(ByCredit::Ndp(spec)) => self.spends_pulls(network, departure, spec, log),
            Some(ByCredit::Rccc(spec)) => self.spends_credit(network, departure, spec, log),
            None => {}
        }
    }

    fn spends_pulls(
        &mut self,
        network: &Network,
        departure: &Departure,
        spec: &ndp::Spec,
        log: &mut Log,
    ) {
        let flow = departure.packet.flow;
        self.sent += 1;
        let first = spec.initial_window.map_or_else(
            || {
                let bits = u128::from(network.rate(log.node, 0).0) * u128::from(network.base_rtt.0);
                let packet = 8_000_000_000_000 * u128::from(wire(network, flow));
                u64::try_from(bits.div_ceil(packet)).unwrap_or(u64::MAX - 1) + 1
            },
            u64::from,
        );
        let Spending { sent, given } = *self;
        let timeouts = departure.probes;
        if sent > first.saturating_add(given).saturating_add(timeouts) {
            let text = format!(
                "{sent} packets are sent: {first} in the first window, {given} for pulls, and {timeouts} for timeouts are allowed"
            );
            log.flow(flow, text);
        }
    }

    fn spends_credit(
        &mut self,
        network: &Network,
        departure: &Departure,
        spec: &rccc::Spec,
        log: &mut Log,
    ) {
        let flow = departure.packet.flow;
        self.sent += u64::from(departure.packet.bytes) + u64::from(network.spec.wire_overhead);
        let packet = wire(network, flow);
        let base_rtt = spec.base_rtt.unwrap_or(network.base_rtt).as_secs();
        let rate = network.rate(log.node, 0).0 as f64 / 8.0;
        let first = ((spec.max_window * rate * base_rtt) as u64).max(packet);
        let Spending { sent, given } = *self;
        if sent > first + given + packet {
            let text = format!(
                "{sent} bytes are sent: a first credit of {first}, {given} of later credit, and a packet of {packet} are allowed"
            );
            log.flow(flow, text);
        }
    }
}
