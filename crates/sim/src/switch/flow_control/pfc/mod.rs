//! Priority-based flow control (IEEE 802.1Q clause 36, once 802.1Qbb): when too many bytes that
//! came in by a port in a class wait here, the neighbour at that port is told to stop sending that
//! class.
//!
//! A class is charged as the neighbour sent it, even if the packet waits in another queue here:
//! otherwise the pause would stop a queue that does not send what overflows.

mod egress_queue;
mod ingress;
mod ingress_pool;
mod spec;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant, Packet};

use crate::switch::buffer::Buffer;
use crate::switch::queue::Queue;
pub use spec::{Link, MeasuredOn, Spec};

/// A port and class, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source(u32);

impl Source {
    /// The class `class` at `port`.
    #[inline]
    pub fn new(port: usize, class: usize) -> Self {
        Self((port * CLASSES + class) as u32)
    }

    /// The port by which it comes.
    pub fn port(self) -> usize {
        self.0 as usize / CLASSES
    }

    /// The class.
    pub fn class(self) -> usize {
        self.0 as usize % CLASSES
    }

    /// As an index into a vector with one entry per source.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a neighbour is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stop sending this class.
    Pause(Source),
    /// Go on.
    Resume(Source),
}

/// Where a packet is charged.
#[derive(Clone, Copy, Debug)]
pub struct Charge {
    /// As the neighbour sent it.
    pub source: Source,
    /// The queue in which it waits here: port and queue number.
    pub egress: (usize, usize),
}

/// The source of a packet that waits.
#[inline]
pub fn source_of(packet: &Packet) -> Source {
    Source::new(packet.ingress.index(), packet.class.index())
}

/// The PFC of one switch.
#[derive(Debug)]
pub struct Pfc {
    meter: Meter,
    /// By source.
    sources: Vec<Paused>,
    refreshes: BinaryHeap<Reverse<(Instant, Source)>>,
}

#[derive(Debug)]
enum Meter {
    Ingress(ingress::Meter),
    IngressPool(ingress_pool::Meter),
    EgressQueue(egress_queue::Meter),
}

/// What a source was told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paused {
    /// When the running pause must be refreshed; `None` if it is not paused.
    refresh_at: Option<Instant>,
    /// XOFF frames, without refreshes.
    pub xoffs: u64,
    /// Refreshes.
    pub refreshes: u64,
    /// XON frames.
    pub xons: u64,
}

impl Pfc {
    /// For a switch with this many ports and data queues per port.
    pub fn new(spec: &Spec, ports: usize, queues: usize) -> Self {
        let meter = match spec.measured_on {
            MeasuredOn::Ingress => Meter::Ingress(ingress::Meter::new(ports)),
            MeasuredOn::IngressPool => Meter::IngressPool(ingress_pool::Meter::new(ports)),
            MeasuredOn::EgressQueue => Meter::EgressQueue(egress_queue::Meter::new(ports, queues)),
        };
        let sources = vec![Paused::default(); ports * CLASSES];
        Self { meter, sources, refreshes: BinaryHeap::new() }
    }

    /// A packet has joined `queue` and is in the books.
    #[inline]
    pub fn on_enqueue(
        &mut self,
        spec: &Spec,
        charge: Charge,
        queue: &Queue,
        buffer: &Buffer,
        orders: &mut Vec<Order>,
    ) {
        let source = charge.source;
        match &mut self.meter {
            Meter::Ingress(meter) => meter.on_enqueue(spec, source, buffer.held(source), orders),
            Meter::IngressPool(meter) => {
                meter.on_enqueue(spec, source, buffer.share(source), orders);
            }
            Meter::EgressQueue(meter) => meter.on_enqueue(spec, &charge, queue, orders),
        }
    }

    /// A packet has left `queue` and the books.
    #[inline]
    pub fn on_dequeue(
        &mut self,
        spec: &Spec,
        charge: Charge,
        queue: &Queue,
        buffer: &Buffer,
        orders: &mut Vec<Order>,
    ) {
        let source = charge.source;
        match &mut self.meter {
            Meter::Ingress(meter) => meter.on_dequeue(spec, source, buffer.held(source), orders),
            Meter::IngressPool(meter) => {
                meter.on_dequeue(spec, source, buffer.share(source), orders);
            }
            Meter::EgressQueue(meter) => meter.on_dequeue(spec, &charge, queue, orders),
        }
    }

    /// Books an order that is about to be carried out; `pause` is how long a pause lasts on that
    /// link. Its refresh is due when half of it has passed.
    pub fn carry_out(&mut self, order: Order, now: Instant, pause: Duration) {
        match order {
            Order::Pause(source) => {
                let paused = &mut self.sources[source.index()];
                paused.xoffs += 1;
                self.arm(source, now, pause);
            }
            Order::Resume(source) => {
                let paused = &mut self.sources[source.index()];
                paused.refresh_at = None;
                paused.xons += 1;
            }
        }
    }

    /// Whether this source is paused now, as far as PFC goes.
    pub fn holds(&self, source: Source) -> bool {
        self.sources[source.index()].refresh_at.is_some()
    }

    fn arm(&mut self, source: Source, now: Instant, pause: Duration) {
        let at = now + Duration(pause.0 / 2);
        self.sources[source.index()].refresh_at = Some(at);
        self.refreshes.push(Reverse((at, source)));
    }

    /// When a pause must be refreshed next.
    pub fn next_refresh(&self) -> Instant {
        self.refreshes.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at)
    }

    /// A source whose pause must be refreshed now; `pause` as above gives how long it then lasts.
    pub fn refresh(&mut self, now: Instant, pause: impl Fn(Source) -> Duration) -> Option<Source> {
        while self.next_refresh() <= now {
            let Reverse((at, source)) = self.refreshes.pop().expect("there is a next one");
            // Resumed since, or paused anew: then this alarm is void.
            if self.sources[source.index()].refresh_at == Some(at) {
                self.sources[source.index()].refreshes += 1;
                self.arm(source, now, pause(source));
                return Some(source);
            }
        }
        None
    }

    /// What the class `class` at `port` was told.
    pub fn told(&self, port: usize, class: usize) -> &Paused {
        &self.sources[Source::new(port, class).index()]
    }
}
