//! PAUSE (IEEE 802.3 annex 31B, once 802.3x): when too many bytes wait here, the neighbour is told to
//! stop sending altogether, data and feedback of every class. Only MAC control frames, pause frames
//! among them, go on.

mod spec;

use floodway_model::Packet;

use super::pausing::{Held, Ledger, Order, Source, place, source};
use crate::switch::buffer::Buffer;
use crate::switch::port::Port;
use crate::switch::queue::Queue;

pub use spec::{MeasuredOn, Spec};

/// The PAUSE of one switch. It knows no classes: who is paused is a whole port, which stands in the
/// books of pauses as its class 0.
#[derive(Debug)]
pub struct Pause {
    meter: Meter,
    /// What neighbours were told.
    pub ledger: Ledger,
}

#[derive(Debug)]
enum Meter {
    Ingress(source::Meter),
    EgressPort(place::Meter),
    /// One place.
    Memory(place::Meter),
}

/// A switch when a data packet has joined or left a queue, and its books are settled.
pub struct View<'a> {
    /// All ports.
    pub ports: &'a [Port],
    /// The egress port of the packet.
    pub egress: usize,
    /// Data bytes in the switch.
    pub memory: u64,
    /// The ingress book.
    pub buffer: &'a Buffer,
}

impl View<'_> {
    /// Whose bytes wait in the queues of the egress port.
    fn at_egress(&self) -> impl Iterator<Item = Source> {
        let queues = &self.ports[self.egress].queues;
        let data = queues[..queues.len() - 1].iter().flat_map(Queue::sources);
        data.map(|source| neighbour(source.port()))
    }

    /// Whose bytes wait anywhere.
    fn in_memory(&self) -> impl Iterator<Item = Source> {
        let holds = |&port: &usize| self.buffer.held_of_port(port) > 0;
        (0..self.ports.len()).filter(holds).map(neighbour)
    }
}

/// Whatever comes by `port`.
fn neighbour(port: usize) -> Source {
    Source::new(port, 0)
}

impl Pause {
    /// For a switch with this many ports.
    pub fn new(spec: &Spec, ports: usize) -> Self {
        let meter = match spec.measured_on {
            MeasuredOn::Ingress => Meter::Ingress(source::Meter::new(ports)),
            MeasuredOn::EgressPort => Meter::EgressPort(place::Meter::new(ports, ports)),
            MeasuredOn::Memory => Meter::Memory(place::Meter::new(ports, 1)),
        };
        Self { meter, ledger: Ledger::new(ports) }
    }

    /// A packet has joined a queue.
    pub fn on_enqueue(
        &mut self,
        spec: &Spec,
        packet: &Packet,
        view: &View<'_>,
        orders: &mut Vec<Order>,
    ) {
        let (thresholds, port) = (spec.thresholds(), packet.ingress.index());
        let source = neighbour(port);
        match &mut self.meter {
            Meter::Ingress(meter) => {
                let held = view.buffer.held_of_port(port);
                meter.on_enqueue(thresholds, source, held, orders);
            }
            Meter::EgressPort(meter) => {
                let at = (view.egress, view.ports[view.egress].occupancy.bytes());
                meter.on_enqueue(thresholds, at, Some(source), || view.at_egress(), orders);
            }
            Meter::Memory(meter) => {
                let at = (0, view.memory);
                meter.on_enqueue(thresholds, at, Some(source), || view.in_memory(), orders);
            }
        }
    }

    /// What must go before `source`, which is paused, may go on.
    pub fn held(&self, spec: &Spec, source: Source) -> Held {
        match &self.meter {
            Meter::Ingress(_) => Held::ByItsBytes(spec.xon.0),
            Meter::EgressPort(meter) => Held::ByPlaces(meter.holding(source), spec.xon.0),
            Meter::Memory(_) => Held::ByMemory(spec.xon.0),
        }
    }

    /// A packet has left a queue.
    pub fn on_dequeue(
        &mut self,
        spec: &Spec,
        packet: &Packet,
        view: &View<'_>,
        orders: &mut Vec<Order>,
    ) {
        let (thresholds, port) = (spec.thresholds(), packet.ingress.index());
        match &mut self.meter {
            Meter::Ingress(meter) => {
                let held = view.buffer.held_of_port(port);
                meter.on_dequeue(thresholds, neighbour(port), held, orders);
            }
            Meter::EgressPort(meter) => {
                let at = (view.egress, view.ports[view.egress].occupancy.bytes());
                meter.on_dequeue(thresholds, at, orders);
            }
            Meter::Memory(meter) => meter.on_dequeue(thresholds, (0, view.memory), orders),
        }
    }
}
