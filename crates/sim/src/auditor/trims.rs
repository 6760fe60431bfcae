//! Trimmed packets: which packets may lose their payload, and what must remain of them.

use floodway_model::{Body, Ecn, Packet};

use super::Log;
use super::flows::profile;
use super::network::Network;
use super::queues::occupied;
use crate::host::transport;
use crate::host::transport::rocev2::recovery;
use crate::switch::overflow::{self, trim};

fn spec(network: &Network) -> Option<&trim::Spec> {
    match &network.spec.switch.overflow {
        overflow::Spec::Trim(spec) => Some(spec),
        overflow::Spec::Drop(_) => None,
    }
}

/// Whether a packet fits into the space for trimmable packets in a queue with `backlog` bytes.
pub fn fits(network: &Network, backlog: u64, packet: &Packet) -> bool {
    let threshold = spec(network).and_then(|spec| spec.threshold);
    let bytes = occupied(packet, network.spec.switch.cell.bytes());
    threshold.is_none_or(|threshold| backlog + bytes <= threshold.0)
}

/// Checks that `packet` may become `header`; `waited`: it was the last packet of its queue.
pub fn check(
    network: &Network,
    (port, queue): (usize, usize),
    (packet, header, waited): (&Packet, &Packet, bool),
    log: &mut Log,
) {
    let mut wrong = |text: &str| log.queue(port, queue, text);
    let Some(spec) = spec(network) else {
        return wrong("a packet is trimmed, and nothing here trims");
    };
    let (Body::Data { psn, sent_at, .. }, Body::Trimmed { psn: named, sent_at: then, .. }) =
        (packet.body, header.body)
    else {
        return wrong("something is trimmed that is no packet with data, or is trimmed twice");
    };
    if (psn, sent_at, packet.flow) != (named, then, header.flow) {
        wrong("a header names another packet than the one that was trimmed");
    }
    if u64::from(header.bytes) != spec.size.0 || header.bytes >= packet.bytes {
        wrong(
            "a header has not the length that trimming leaves, or is not shorter than its packet",
        );
    }
    let flow = &network.flow(packet.flow);
    let understands = match &profile(network, flow).transport {
        transport::Spec::Rocev2(rocev2) => {
            matches!(rocev2.recovery, recovery::Spec::SelectiveRepeat(_))
        }
        transport::Spec::Uet(_) => true,
        _ => false,
    };
    if !understands {
        wrong("a packet is trimmed whose transport does not understand it");
    }
    let flow_control = &network.spec.switch.flow_control;
    if flow_control.must_not_lose() >> packet.class.0 & 1 != 0 {
        wrong("a packet of a class that must not lose any is trimmed");
    }
    if waited && spec.last == 0.0 {
        wrong("a packet that has waited is trimmed, and only those that arrive may be");
    }
    let marks = spec.mark || network.spec.switch.has_aqm();
    match (packet.ecn(), header.ecn()) {
        (old, new) if old == new => {}
        (Ecn::Ect0 | Ecn::Ect1, Ecn::Ce) if marks => {}
        _ => wrong("the ECN field of a trimmed packet has changed"),
    }
    if packet.entropy() != header.entropy() {
        wrong("the entropy of a trimmed packet has changed");
    }
    if packet.dscp() != header.dscp() {
        wrong("the DSCP of a trimmed packet has changed");
    }
}
