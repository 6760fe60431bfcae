//! PAUSE (IEEE 802.3 annex 31B, formerly 802.3x): when too many bytes are queued here, the neighbor
//! is paused entirely, data and feedback of every class. Only MAC control frames, including pause
//! frames, are still sent.

mod in_switch;
mod spec;

use floodway_model::Packet;

use super::pausing::{Held, Ledger, Order, Source, place, source};
use crate::switch::mechanism::{Site, View};
use crate::switch::queue::Queue;

pub use spec::{MeasuredOn, Spec};

/// PAUSE state of one switch. PAUSE has no classes: it pauses a whole port, represented as class 0
/// in the accounting of pauses.
#[derive(Debug)]
pub struct Pause {
    spec: Spec,
    meter: Meter,
    /// Pauses sent to neighbors.
    ledger: Ledger,
    orders: Vec<Order>,
}

#[derive(Debug)]
enum Meter {
    Ingress(source::Meter),
    EgressPort(place::Meter),
    /// The switch as a single place.
    Memory(place::Meter),
}

/// Ingress ports of the bytes queued at an egress port.
fn at_egress(view: &View<'_>, egress: usize) -> impl Iterator<Item = Source> {
    let queues = &view.ports[egress].queues;
    let data = queues[..queues.len() - 1].iter().flat_map(Queue::sources);
    data.map(|source| neighbor(source.port()))
}

/// Ingress ports of the bytes queued anywhere in the switch.
fn in_memory(view: &View<'_>) -> impl Iterator<Item = Source> {
    let holds = |&port: &usize| view.buffer.held_of_port(port) > 0;
    (0..view.ports.len()).filter(holds).map(neighbor)
}

/// The source that stands for everything that arrives by `port`.
fn neighbor(port: usize) -> Source {
    Source::new(port, 0)
}

impl Pause {
    /// Initial state for a switch.
    fn new(spec: &Spec, site: &Site<'_>) -> Self {
        let ports = site.ports.len();
        let meter = match spec.measured_on {
            MeasuredOn::Ingress => Meter::Ingress(source::Meter::new(ports)),
            MeasuredOn::EgressPort => Meter::EgressPort(place::Meter::new(ports, ports)),
            MeasuredOn::Memory => Meter::Memory(place::Meter::new(ports, 1)),
        };
        let (spec, ledger) = (spec.clone(), Ledger::new(ports));
        Self { spec, meter, ledger, orders: Vec::new() }
    }

    /// A packet has joined a queue.
    fn on_enqueue(&mut self, egress: usize, packet: &Packet, view: &View<'_>) {
        let (spec, orders) = (&self.spec, &mut self.orders);
        let (thresholds, port) = (spec.thresholds(), packet.ingress.index());
        let source = neighbor(port);
        match &mut self.meter {
            Meter::Ingress(meter) => {
                let held = view.buffer.held_of_port(port);
                meter.on_enqueue(thresholds, source, held, orders);
            }
            Meter::EgressPort(meter) => {
                let at = (egress, view.ports[egress].occupancy.bytes());
                meter.on_enqueue(thresholds, at, Some(source), || at_egress(view, egress), orders);
            }
            Meter::Memory(meter) => {
                let at = (0, view.occupancy.bytes());
                meter.on_enqueue(thresholds, at, Some(source), || in_memory(view), orders);
            }
        }
    }

    /// What must leave before `source`, which is paused, is resumed.
    fn holds_until(&self, source: Source) -> Held {
        let spec = &self.spec;
        match &self.meter {
            Meter::Ingress(_) => Held::ByItsBytes(spec.xon.0),
            Meter::EgressPort(meter) => Held::ByPlaces(meter.holding(source), spec.xon.0),
            Meter::Memory(_) => Held::ByMemory(spec.xon.0),
        }
    }

    /// A packet has left a queue.
    fn on_dequeue(&mut self, egress: usize, packet: &Packet, view: &View<'_>) {
        let (spec, orders) = (&self.spec, &mut self.orders);
        let (thresholds, port) = (spec.thresholds(), packet.ingress.index());
        match &mut self.meter {
            Meter::Ingress(meter) => {
                let held = view.buffer.held_of_port(port);
                meter.on_dequeue(thresholds, neighbor(port), held, orders);
            }
            Meter::EgressPort(meter) => {
                let at = (egress, view.ports[egress].occupancy.bytes());
                meter.on_dequeue(thresholds, at, orders);
            }
            Meter::Memory(meter) => {
                meter.on_dequeue(thresholds, (0, view.occupancy.bytes()), orders)
            }
        }
    }
}
