//! Priority-based flow control (PFC, IEEE 802.1Q clause 36, formerly 802.1Qbb): when too many
//! queued bytes arrived by one port in one class, the neighbor at that port must pause that
//! class.
//!
//! A packet is charged to the class in which the neighbor sent it, even if it is queued in another
//! class here: otherwise the pause would stop a queue that does not cause the overflow.

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

/// Where a packet is accounted for.
#[derive(Clone, Copy, Debug)]
struct Charge {
    /// Ingress port, and the class in which the neighbor sent it.
    source: Source,
    /// Egress port and queue in which it is queued here.
    egress: (usize, usize),
}

/// PFC state of one switch.
#[derive(Debug)]
pub struct Pfc {
    spec: Spec,
    meter: Meter,
    /// Data queues per port.
    queues: usize,
    /// Pauses sent to neighbors.
    ledger: Ledger,
    orders: Vec<Order>,
    /// The watchdog for pauses from neighbors, if enabled.
    watchdog: Option<Box<Watchdog>>,
}

#[derive(Debug)]
enum Meter {
    Ingress(source::Meter),
    IngressPool(ingress_pool::Meter),
    EgressQueue(place::Meter),
}

impl Pfc {
    /// Initial state for a switch.
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

    /// Whether a packet that has joined or left `queue` may pause or resume a neighbor.
    #[inline(always)]
    fn meter_minds(&self, charge: Charge, joined: bool, queue: &Queue, buffer: &Buffer) -> bool {
        let thresholds = self.spec.thresholds();
        let (is_over, bytes) = match &self.meter {
            Meter::Ingress(meter) => (meter.is_paused(charge.source), buffer.held(charge.source)),
            Meter::IngressPool(_) => return true,
            Meter::EgressQueue(meter) => {
                let place = charge.egress.0 * self.queues + charge.egress.1;
                (meter.is_over(place), queue.backlog())
            }
        };
        match joined {
            // A source that comes to a place that is over is paused too.
            true => is_over || bytes > thresholds.xoff.0,
            false => is_over && bytes <= thresholds.xon.0,
        }
    }

    /// A packet has joined `queue` and is counted.
    #[inline]
    fn on_enqueue(&mut self, charge: Charge, queue: &Queue, buffer: &Buffer) {
        let (spec, orders) = (&self.spec, &mut self.orders);
        let source = charge.source;
        // Frames that originate at the switch did not arrive in a data class, and pause no
        // neighbor.
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

    /// What must leave before `source`, which is paused, is resumed. With an ingress pool the
    /// threshold may rise, but it is compared only when a packet of the source leaves.
    fn holds_until(&self, source: Source, buffer: &Buffer) -> Held {
        let spec = &self.spec;
        match &self.meter {
            Meter::Ingress(_) => Held::ByItsBytes(spec.xon.0),
            Meter::IngressPool(_) => Held::ByItsBytes(buffer.held(source).saturating_sub(1)),
            Meter::EgressQueue(meter) => Held::ByPlaces(meter.holding(source), spec.xon.0),
        }
    }

    /// A packet has left `queue` and is no longer counted.
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
