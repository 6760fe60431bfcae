//! Permitted changes to a packet within a switch: an ECN-capable packet may get CE from an AQM that
//! marks, and with layer 2 congestion indication any packet may get that indication.

use floodway_model::graph::NodeKind;
use floodway_model::{Dscp, Ecn, Packet};

use super::Log;
use super::network::Network;
use crate::switch::flow_control::congestion_isolation::Mark;
use crate::switch::{Spec, aqm};

/// Checks the change from `before` to `after` in a switch with these parameters.
pub fn check(
    network: &Network,
    spec: &Spec,
    place: (usize, usize),
    (before, after): (&Packet, &Packet),
    log: &mut Log,
) {
    let (port, queue) = place;
    let washed = spec.queue.discipline.washes() && after.dscp() == Dscp::DEFAULT;
    if before.dscp() != after.dscp() && !washed {
        log.queue(port, queue, "the DSCP of a packet has changed");
    }
    let indication = spec.congestion_indication.as_ref();
    match (before.ecn(), after.ecn()) {
        (old, new) if old == new => {}
        (Ecn::NotEct, _) => log.queue(port, queue, "a packet is marked that is not ECN-capable"),
        (Ecn::Ect0 | Ecn::Ect1, Ecn::Ce) => {
            let isolation = spec.flow_control.congestion_isolation.as_ref();
            let isolation = isolation.filter(|isolation| {
                let tier = match network.spec.graph.node(log.node).kind {
                    NodeKind::Switch { tier } => tier,
                    NodeKind::Host => 0,
                };
                usize::from(isolation.congesting) == queue && isolation.is_at(tier)
            });
            let to = network.spec.graph.node(log.node).ports[port].peer;
            let to_host = network.spec.graph.node(to).kind == NodeKind::Host;
            let marks = match isolation.map(|spec| spec.mark) {
                Some(Mark::None) => false,
                Some(Mark::Detected | Mark::All) => true,
                Some(Mark::Aqm) | None => spec.has_aqm() && (spec.marks_to_hosts || !to_host),
            };
            if indication.is_some() || !marks {
                log.queue(port, queue, "a packet is marked, and nothing here marks");
            }
        }
        (old, new) => {
            log.queue(port, queue, format!("the ECN field has become {new:?}, not {old:?}"))
        }
    }
    match (before.indicated, after.indicated) {
        (false, true) if !indication.is_some_and(|spec| spec.forward) => {
            log.queue(port, queue, "a packet has an indication, and nothing here indicates");
        }
        (true, false) => log.queue(port, queue, "an indication has been removed"),
        _ => {}
    }
}

/// Whether the AQM of a switch with these parameters may drop a packet.
pub fn may_drop(spec: &Spec, packet: &Packet) -> bool {
    let tells = packet.ecn().is_capable() || spec.congestion_indication.is_some();
    match spec.aqm {
        aqm::Spec::DropTail(_) => spec.has_aqm(),
        // They only mark, so ECN-capable packets are not dropped.
        aqm::Spec::Ramp(_) | aqm::Spec::Step(_) | aqm::Spec::Blue(_) | aqm::Spec::Avq(_) => !tells,
        _ => true,
    }
}
