//! The facts of a scenario: all its switches have the same settings, except for what depends on the rate of a port and
//! for the sizes of pools.

use std::collections::BTreeMap;

use floodway_model::graph::{Attachment, NodeKind};
use floodway_model::{Bytes, Graph, NodeId};
use floodway_sim::host::congestion::Needs;
use floodway_sim::switch::aqm;
use floodway_sim::switch::buffer::shared;

use super::facts::{Buffer, Class, Curve, Facts, Marks, Name, Port, Switch, Xoff};
use super::{Finding, cycles, rules};
use crate::check::Pausing;
use crate::check::pausing::Measured;
use crate::check::pools::alone_at;
use crate::document::Document;
use crate::scenario::Variant;
use crate::text::{Item, Place};

/// All findings of a variant.
pub fn find(variant: &Variant, document: &Item) -> Vec<Finding> {
    let Variant { settings, graph, .. } = variant;
    let place = |paths: &[&str]| placed(document, paths);
    let mut found = Vec::new();
    if let Some(pausing) = Pausing::of(settings) {
        let facts = facts(settings, &pausing, graph);
        let places =
            |name: Name, _: usize, _: usize, _: u8| place(&paths(name, settings, &pausing));
        found = rules::find(&facts, &places);
    }
    if pauses_hop_by_hop(settings) {
        found.extend(cycles::find(graph, settings, place(&["failure", "topology"])));
    }
    found
}

/// Whether switches stop each other: PFC, PAUSE, or credit.
pub fn pauses_hop_by_hop(settings: &Document) -> bool {
    let control = &settings.switch.flow_control;
    control.pfc.is_some() || control.pause.is_some() || control.cbfc.is_some()
}

/// The first of these that is written, or the place of the last.
fn placed(document: &Item, paths: &[&str]) -> Place {
    let written = paths.iter().find_map(|path| document.written(path));
    written.unwrap_or_else(|| document.locate(paths.last().copied().unwrap_or_default()))
}

/// Where a kind of finding is written.
fn paths(name: Name, settings: &Document, pausing: &Pausing) -> Vec<&'static str> {
    let shared = settings.switch.buffer.pools().is_some();
    let mut paths = match name {
        Name::HeadroomBelowNeed if shared => vec!["switch.buffer.shared.headroom"],
        Name::PausesBeforeMarks => vec!["switch.aqm.ramp.kmin", "switch.aqm.step.threshold"],
        Name::PausesBeforeFullMarks => vec!["switch.aqm.ramp.kmax"],
        Name::ThresholdsDiffer => vec!["switch.buffer.shared.by_switch"],
        Name::HeadroomPoolOvercommitted => vec!["switch.buffer.shared.headroom_pool"],
        Name::WatchdogTooShort => {
            vec!["switch.flow_control.pfc.watchdog.detection", "switch.flow_control.pfc.watchdog"]
        }
        _ => Vec::new(),
    };
    paths.push(pausing.table);
    paths
}

fn facts(settings: &Document, pausing: &Pausing, graph: &Graph) -> Facts {
    let control = &settings.switch.flow_control;
    let number = match &control.pfc {
        Some(pfc) => (0..settings.switch.queue.count).find(|&class| pfc.covers(class)),
        None => Some(0),
    };
    let watchdog = control.pfc.as_ref().and_then(|pfc| pfc.watchdog.as_ref());
    let numbers: BTreeMap<NodeId, usize> = graph.switches().zip(0..).collect();
    let mut needs = BTreeMap::new();
    let switch = |id: NodeId| {
        let node = graph.node(id);
        let pools = settings.switch.buffer.pools().map(|memory| {
            let memory = memory.at(&node.name);
            number.map_or_else(|| memory.clone(), |class| memory.for_queue(class))
        });
        let mut port = |end: &Attachment| {
            let peer = graph.node(end.peer);
            let rate = graph.rate_to(end);
            let needed = *needs
                .entry((rate, end.delay))
                .or_insert_with(|| pausing.headroom(settings, rate, end.delay));
            let (xoff, headroom) = threshold(settings, pausing, pools.as_ref(), end);
            let class = number.map(|number| Class {
                number,
                xoff,
                xon: pausing.xon,
                headroom,
                needed,
                marks: marks(settings, end, number),
            });
            Port {
                name: format!("the port to {}", peer.name),
                rate: end.rate,
                peer: (peer.kind != NodeKind::Host)
                    .then(|| (numbers[&end.peer], end.peer_port.index())),
                watchdog: watchdog.map(|watchdog| watchdog.detection),
                classes: class.into_iter().collect(),
            }
        };
        let ports = node.ports.iter().map(&mut port).collect();
        let buffer = pools.as_ref().and_then(|memory| buffer(memory, pausing, &node.ports));
        Switch { name: node.name.clone(), ports, buffer }
    };
    Facts { switches: graph.switches().map(switch).collect() }
}

/// The pool of headroom that the ports of a switch share, and what they may take of it.
fn buffer(memory: &shared::Spec, pausing: &Pausing, ports: &[Attachment]) -> Option<Buffer> {
    let pool = memory.headroom_pool.filter(|_| memory.ingress.is_some())?;
    let classes = pausing.lossless_classes.into();
    let own = ports.iter().map(|end| memory.headroom_at(end.rate).0.saturating_mul(classes));
    let headroom = Bytes(own.fold(0, u64::saturating_add));
    Some(Buffer { size: None, guaranteed: Bytes(0), headroom, headroom_pool: Some(pool) })
}

/// When a port pauses its neighbor, and the room above that.
fn threshold(
    settings: &Document,
    pausing: &Pausing,
    pools: Option<&shared::Spec>,
    end: &Attachment,
) -> (Xoff, Option<Bytes>) {
    let buffer = &settings.switch.buffer;
    let above = |limit: Bytes| Bytes(limit.0.saturating_sub(pausing.xoff.0));
    let own = || buffer.limit(&settings.switch.queue).bytes.map(above);
    let ingress = pools.and_then(|memory| memory.ingress.as_ref());
    let egress = pools.and_then(|memory| memory.egress.as_ref());
    match (pausing.measured, pools) {
        (Measured::Ingress, Some(memory)) => {
            let room = ingress.map(|pool| above(alone_at(memory, pool, end.rate)));
            (Xoff::Ingress(pausing.xoff), room)
        }
        (Measured::Ingress, None) => (Xoff::Ingress(pausing.xoff), own()),
        (Measured::IngressPool, memory) => match memory.zip(ingress) {
            Some((memory, pool)) => {
                let (pool, guaranteed) = (pool.pool, pool.guaranteed);
                let alpha = memory.alpha_at(end.rate);
                (Xoff::Dynamic { alpha, pool, guaranteed }, Some(memory.headroom_at(end.rate)))
            }
            None => (Xoff::Other, None),
        },
        (Measured::EgressQueue, Some(_)) => {
            (Xoff::EgressQueue(pausing.xoff), egress.map(|pool| above(pool.fair(1))))
        }
        (Measured::EgressQueue, None) => (Xoff::EgressQueue(pausing.xoff), own()),
        (Measured::EgressPort | Measured::Memory, _) => (Xoff::Other, None),
    }
}

/// What marks in the queue of a class at a port.
fn marks(settings: &Document, end: &Attachment, class: u8) -> Marks {
    let switch = &settings.switch;
    if switch.no_marks().is_some() {
        let unheard =
            |needs| matches!(needs, Needs::Nothing | Needs::Notifications | Needs::Indications);
        let isolation = switch.flow_control.congestion_isolation.is_some();
        let source = switch.flow_control.source_flow_control.is_some();
        let others = isolation || source;
        let profiles = settings.profiles();
        let slows = |profile: &floodway_sim::host::Profile| !unheard(profile.congestion.needs());
        return match !others && profiles.iter().any(|profile| !slows(profile)) {
            true => Marks::Nothing,
            false => Marks::Other,
        };
    }
    match &switch.aqm {
        aqm::Spec::Ramp(ramp) if !switch.queue.discipline.has_aqm() => {
            // A curve of some queues is at ports of all rates.
            let ramp = ramp.for_rate(end.rate).for_queue(class);
            ramp.map_or(Marks::Nothing, |ramp| {
                Marks::Curve(Curve { kmin: ramp.kmin, kmax: ramp.kmax, pmax: ramp.pmax })
            })
        }
        aqm::Spec::Step(step) if !switch.queue.discipline.has_aqm() => {
            Marks::Curve(Curve { kmin: step.threshold, kmax: step.threshold, pmax: 1.0 })
        }
        _ => Marks::Other,
    }
}
