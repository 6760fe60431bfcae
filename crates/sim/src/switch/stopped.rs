//! What of a switch is stopped by its neighbours, and what its neighbours wait for here: the two
//! halves of the graph in which deadlocks are sought.

use std::collections::BTreeSet;

use floodway_model::{FlowId, Instant, NodeId};

use super::Switch;
use super::flow_control::pausing::{Held, Source, source_of};
use super::queue::Queue;

/// A port and class that has packets and may not send them. PAUSE stops a port as a whole, which
/// stands here as its class 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Egress port.
    pub port: usize,
    /// Class.
    pub class: usize,
    /// The node that has stopped it.
    pub peer: NodeId,
    /// What it is to that node.
    pub source: Source,
    /// When this pause began.
    pub since: Instant,
    /// Bytes that wait.
    pub backlog: u64,
    /// The flows of these bytes.
    pub flows: BTreeSet<FlowId>,
}

/// What a source that is paused waits for in this switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Egress ports and classes that hold it up, with the bytes by which they do.
    pub behind: Vec<((usize, usize), u64)>,
    /// It may go on when at most so many of these bytes are left.
    pub goes_on_at: u64,
}

impl Switch {
    /// What of it is stopped.
    pub fn stopped(&self, now: Instant) -> Vec<Stopped> {
        let mut stopped = Vec::new();
        for (number, port) in self.ports.iter().enumerate() {
            let link = port.tx.link();
            for class in 0..self.pausable() {
                let queues = self.queues_of(number, class);
                let backlog: u64 = queues.iter().map(Queue::backlog).sum();
                let pause = &port.tx.pauses[class];
                if backlog > 0 && pause.until > now {
                    let packets = queues.iter().flat_map(Queue::iter);
                    stopped.push(Stopped {
                        port: number,
                        class,
                        peer: link.peer,
                        source: Source::new(link.peer_port.index(), class),
                        since: pause.since(),
                        backlog,
                        flows: packets.map(|queued| queued.packet.flow).collect(),
                    });
                }
            }
        }
        stopped
    }

    /// What the neighbour waits for that is `source` here; `None` if it has not been stopped, or has
    /// been let go on by a frame that may still be on its way.
    pub fn holds_up(&self, source: Source) -> Option<Waits> {
        let held = match (&self.pfc, &self.pause) {
            (Some(pfc), _) => {
                let spec = self.spec.flow_control.pfc.as_ref()?;
                pfc.ledger.holds(source).then(|| pfc.held(spec, source, &self.buffer))
            }
            (None, Some(pause)) => {
                let spec = self.spec.flow_control.pause.as_ref()?;
                pause.ledger.holds(source).then(|| pause.held(spec, source))
            }
            (None, None) => None,
        }?;
        let places = (0..self.ports.len())
            .flat_map(|port| (0..self.pausable()).map(move |class| (port, class)));
        let bytes_of = |place: (usize, usize)| -> u64 {
            let packets = self.queues_of(place.0, place.1).iter().flat_map(Queue::iter);
            let own = packets.filter(|queued| self.is_of(source, source_of(&queued.packet)));
            own.map(|queued| u64::from(queued.packet.bytes)).sum()
        };
        let all_of = |(port, class)| self.queues_of(port, class).iter().map(Queue::backlog).sum();
        let some = |(place, bytes)| (bytes > 0).then_some((place, bytes));
        Some(match held {
            Held::ByItsBytes(goes_on_at) => {
                let behind = places.map(|place| (place, bytes_of(place))).filter_map(some);
                Waits { behind: behind.collect(), goes_on_at }
            }
            Held::ByMemory(goes_on_at) => {
                let behind = places.map(|place| (place, all_of(place))).filter_map(some);
                Waits { behind: behind.collect(), goes_on_at }
            }
            Held::ByPlaces(numbers) => {
                let behind = numbers.into_iter().map(|number| {
                    let place = (number / self.pausable(), number % self.pausable());
                    (place, all_of(place))
                });
                Waits { behind: behind.filter_map(some).collect(), goes_on_at: 0 }
            }
        })
    }

    /// What of a port can be stopped by itself: its classes, or with PAUSE the whole.
    fn pausable(&self) -> usize {
        if self.pause.is_some() { 1 } else { self.control_queue() }
    }

    fn queues_of(&self, port: usize, class: usize) -> &[Queue] {
        let data = &self.ports[port].queues[..self.control_queue()];
        if self.pause.is_some() { data } else { &data[class..=class] }
    }

    /// Whether a packet that came as `of` is charged to `source`.
    fn is_of(&self, source: Source, of: Source) -> bool {
        source.port() == of.port() && (self.pause.is_some() || source.class() == of.class())
    }
}
