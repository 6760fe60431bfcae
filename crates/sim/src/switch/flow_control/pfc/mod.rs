//! Priority-based flow control (IEEE 802.1Q clause 36, once 802.1Qbb): when too many bytes that
//! came in by a port in a class wait here, the neighbour at that port is told to stop sending that
//! class.
//!
//! A class is charged as the neighbour sent it, even if the packet waits in another queue here:
//! otherwise the pause would stop a queue that does not send what overflows.

mod in_switch;
mod ingress_pool;
mod spec;
pub mod watchdog;

use super::pausing::{Held, Ledger, Order, Source, place, source};
use crate::switch::buffer::Buffer;
use crate::switch::mechanism::Site;
use crate::switch::queue::Queue;
use watchdog::Watchdog;

pub use spec::{MeasuredOn, Spec};

/// Where a packet is charged.
#[derive(Clone, Copy, Debug)]
struct Charge {
    /// As the neighbour sent it.
    source: Source,
    /// The queue in which it waits here: port and queue number.
    egress: (usize, usize),
}

/// The PFC of one switch.
#[derive(Debug)]
pub struct Pfc {
    spec: Spec,
    meter: Meter,
    /// Data queues per port.
    queues: usize,
    /// What neighbours were told.
    ledger: Ledger,
    orders: Vec<Order>,
    /// What watches the pauses of neighbours, if anything does.
    watchdog: Option<Box<Watchdog>>,
}

#[derive(Debug)]
enum Meter {
    Ingress(source::Meter),
    IngressPool(ingress_pool::Meter),
    EgressQueue(place::Meter),
}

impl Pfc {
    /// For a switch.
    fn new(spec: &Spec, site: &Site<'_>) -> Self {
        let (ports, queues) = (site.ports.len(), site.queues);
        let watchdog = spec.watchdog.as_ref().map(|of| Box::new(Watchdog::new(of, ports)));
        let meter = match spec.measured_on {
            MeasuredOn::Ingress => Meter::Ingress(source::Meter::new(ports)),
            MeasuredOn::IngressPool => Meter::IngressPool(ingress_pool::Meter::new(ports)),
            MeasuredOn::EgressQueue => Meter::EgressQueue(place::Meter::new(ports, ports * queues)),
        };
        let (spec, ledger) = (spec.clone(), Ledger::new(ports));
        Self { spec, meter, queues, ledger, orders: Vec::new(), watchdog }
    }

    /// A packet has joined `queue` and is in the books.
    #[inline]
    fn on_enqueue(&mut self, charge: Charge, queue: &Queue, buffer: &Buffer) {
        let (spec, orders) = (&self.spec, &mut self.orders);
        let source = charge.source;
        // What a switch makes itself has come in no class of data, and pauses nobody.
        let queues = self.queues;
        let may_pause =
            |source: &Source| source.class() < queues && spec.covers(source.class() as u8);
        match &mut self.meter {
            Meter::Ingress(_) | Meter::IngressPool(_) if !may_pause(&source) => {}
            Meter::Ingress(meter) => {
                meter.on_enqueue(spec.thresholds(), source, buffer.held(source), orders);
            }
            Meter::IngressPool(meter) => {
                meter.on_enqueue(source, buffer.share(source), orders);
            }
            Meter::EgressQueue(meter) => {
                let place = charge.egress.0 * self.queues + charge.egress.1;
                let waiting = || queue.sources().filter(may_pause);
                let (at, source) = ((place, queue.backlog()), Some(source).filter(may_pause));
                meter.on_enqueue(spec.thresholds(), at, source, waiting, orders);
            }
        }
    }

    /// What must go before `source`, which is paused, may go on. On the pool of the ingress the
    /// threshold may rise, but it is looked at only when something of the source leaves.
    fn holds_until(&self, source: Source, buffer: &Buffer) -> Held {
        let spec = &self.spec;
        match &self.meter {
            Meter::Ingress(_) => Held::ByItsBytes(spec.xon().0),
            Meter::IngressPool(_) => Held::ByItsBytes(buffer.held(source).saturating_sub(1)),
            Meter::EgressQueue(meter) => Held::ByPlaces(meter.holding(source), spec.xon().0),
        }
    }

    /// A packet has left `queue` and the books.
    #[inline]
    fn on_dequeue(&mut self, charge: Charge, queue: &Queue, buffer: &Buffer) {
        let (spec, orders) = (&self.spec, &mut self.orders);
        let source = charge.source;
        match &mut self.meter {
            Meter::Ingress(meter) => {
                meter.on_dequeue(spec.thresholds(), source, buffer.held(source), orders);
            }
            Meter::IngressPool(meter) => {
                meter.on_dequeue(spec, source, buffer.share(source), orders);
            }
            Meter::EgressQueue(meter) => {
                let place = charge.egress.0 * self.queues + charge.egress.1;
                meter.on_dequeue(spec.thresholds(), (place, queue.backlog()), orders);
            }
        }
    }
}
