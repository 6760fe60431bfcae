//! Egress queues and the buffer of a switch: queued packets, and whether a packet fits.

use std::collections::VecDeque;

use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant, NodeId, Packet};

use super::network::{Network, is_same};
use crate::switch;
use crate::switch::buffer::{self, shared};
use crate::switch::flow_control::{self, pause, pfc};
use crate::switch::port::DropReason;

/// The queues of a switch.
#[derive(Debug)]
pub struct Queues {
    id: NodeId,
    /// By port and queue; the last queue of a port is the control queue.
    pub ports: Vec<Vec<Queue>>,
    /// Data bytes by ingress port and class.
    held: Vec<u64>,
    /// Of these, in the headroom of a shared buffer.
    headroom: Vec<u64>,
    /// The buffer of this switch.
    buffer: buffer::Spec,
    /// Bytes of a cell.
    cell: u64,
}

/// One queue.
#[derive(Debug, Default)]
pub struct Queue {
    /// Queued packets as they arrived, numbered among all packets that joined queues of the switch.
    pub packets: VecDeque<(u64, Packet)>,
    /// When they joined.
    joined: VecDeque<Instant>,
    /// Bytes of the cells that are in use.
    pub bytes: u64,
    /// Time since which it is not empty.
    pub since: Instant,
}

/// The bytes of the cells that a packet takes.
pub fn occupied(packet: &Packet, cell: u64) -> u64 {
    u64::from(packet.bytes).div_ceil(cell) * cell
}

/// Index of an ingress port and class within the switch.
pub fn source(packet: &Packet) -> usize {
    packet.ingress.index() * CLASSES + packet.class.index()
}

impl Queues {
    /// The queues of an empty switch.
    pub fn new(id: NodeId, network: &Network) -> Self {
        let ports = network.spec.graph.node(id).ports.len();
        let queues = usize::from(network.spec.switch.queue.count) + 1;
        let port = |_| (0..queues).map(|_| Queue::default()).collect();
        let buffer = &network.spec.switch.buffer;
        let own = buffer.at(&network.spec.graph.node(id).name);
        Self {
            id,
            ports: (0..ports).map(port).collect(),
            held: vec![0; ports * CLASSES],
            headroom: vec![0; ports * CLASSES],
            buffer: own.unwrap_or_else(|| buffer.clone()),
            cell: network.spec.switch.cell.bytes(),
        }
    }

    /// Data queues of a port.
    pub fn data(&self, port: usize) -> &[Queue] {
        let queues = &self.ports[port];
        &queues[..queues.len() - 1]
    }

    /// Bytes of an ingress port and class, given by its index.
    pub fn held(&self, source: usize) -> u64 {
        self.held[source]
    }

    fn held_of_port(&self, port: usize) -> u64 {
        self.held[port * CLASSES..(port + 1) * CLASSES].iter().sum()
    }

    /// Position of a packet in a queue.
    pub fn find(&self, (port, queue): (usize, usize), packet: &Packet) -> Option<usize> {
        self.ports[port][queue].packets.iter().position(|(_, waits)| is_same(waits, packet))
    }

    /// How long a packet has been in a queue; no time if it is not there.
    pub fn waited(&self, place: (usize, usize), packet: &Packet, now: Instant) -> Duration {
        let found = self.find(place, packet);
        let joined = found.and_then(|found| self.ports[place.0][place.1].joined.get(found));
        joined.map_or(Duration::ZERO, |joined| now.since(*joined))
    }

    /// Whether a packet fits into a queue: in the headroom, or without it; otherwise the reason why
    /// not.
    pub fn room(
        &self,
        network: &Network,
        (port, queue): (usize, usize),
        packet: &Packet,
    ) -> Result<bool, DropReason> {
        let spec = &network.spec.switch;
        let (backlog, bytes) = (self.ports[port][queue].bytes, occupied(packet, self.cell));
        let within = |held: u64, limit: u64, reason| match held + bytes <= limit {
            true => Ok(false),
            false => Err(reason),
        };
        if queue == usize::from(spec.queue.count) {
            return within(backlog, spec.queue.control_size.0, DropReason::QueueFull);
        }
        let (came, limited) = (packet.ingress.index(), Limited::of(&spec.flow_control));
        match (&self.buffer, limited) {
            (buffer::Spec::Shared(shared), _) => {
                self.room_in_shared(network, shared, (queue, backlog), packet)
            }
            (buffer::Spec::PerPort(port), Limited::Port | Limited::Class) => {
                within(self.held_of_port(came), port.size.0, DropReason::HeadroomExceeded)
            }
            (buffer::Spec::PerPort(size), Limited::Queue) => {
                let waits = self.data(port).iter().map(|queue| queue.bytes).sum();
                within(waits, size.size.0, DropReason::QueueFull)
            }
            (buffer::Spec::PerQueue(_), Limited::Port) => {
                within(self.held_of_port(came), spec.queue.size.0, DropReason::HeadroomExceeded)
            }
            (buffer::Spec::PerQueue(_), Limited::Class) if is_lossless(spec, packet) => {
                let held = self.held[source(packet)];
                within(held, spec.queue.size.0, DropReason::HeadroomExceeded)
            }
            (buffer::Spec::PerQueue(_), _) => {
                within(backlog, spec.queue.size.0, DropReason::QueueFull)
            }
        }
    }

    fn room_in_shared(
        &self,
        network: &Network,
        spec: &shared::Spec,
        (queue, backlog): (usize, u64),
        packet: &Packet,
    ) -> Result<bool, DropReason> {
        let bytes = occupied(packet, self.cell);
        if let Some(pool) = &spec.egress {
            // Queues with a pool of their own count in no other.
            let apart = |queue: usize| {
                spec.by_queue
                    .iter()
                    .position(|of| of.egress_pool.is_some() && of.queues.contains(&(queue as u8)))
            };
            let of_queue = |queue: usize| {
                let of = spec.by_queue.iter().find(|of| of.queues.contains(&(queue as u8)));
                shared::Pool {
                    pool: of.and_then(|of| of.egress_pool).unwrap_or(pool.pool),
                    guaranteed: of.and_then(|of| of.egress_guaranteed).unwrap_or(pool.guaranteed),
                    alpha: of.and_then(|of| of.egress_alpha).or(pool.alpha),
                }
            };
            let backlogs =
                (0..self.ports.len()).flat_map(|port| self.data(port).iter().enumerate());
            let here = backlogs.filter(|(other, _)| apart(*other) == apart(queue));
            let used = here.map(|(other, of)| taken(&of_queue(other), of.bytes)).sum();
            let own = of_queue(queue);
            if !accepts(&own, own.alpha, used, backlog, bytes) {
                return Err(DropReason::EgressThreshold);
            }
        }
        let Some(pool) = &spec.ingress else { return Ok(false) };
        let rate = network.rate(self.id, packet.ingress.index());
        let of_rate = spec.by_rate.iter().find(|of| of.rate == rate);
        let (alpha, headroom) =
            of_rate.map_or((pool.alpha, spec.headroom.0), |of| (Some(of.alpha), of.headroom.0));
        let of_class = |class: usize| {
            let of = spec.by_queue.iter().find(|of| of.queues.contains(&(class as u8)));
            let guaranteed = of.and_then(|of| of.ingress_guaranteed).unwrap_or(pool.guaranteed);
            let alpha = of.and_then(|of| of.ingress_alpha).or(alpha);
            shared::Pool { guaranteed, alpha, pool: pool.pool }
        };
        let beside = self.held.iter().zip(&self.headroom).map(|(held, headroom)| held - headroom);
        let of_sources = beside.enumerate().map(|(at, held)| taken(&of_class(at % CLASSES), held));
        let (source, used) = (source(packet), of_sources.sum());
        let pool = &of_class(source % CLASSES);
        let alpha = pool.alpha;
        let in_headroom = self.headroom[source];
        if accepts(pool, alpha, used, self.held[source] - in_headroom, bytes) {
            Ok(false)
        } else if !is_lossless(&network.spec.switch, packet) {
            Err(DropReason::IngressThreshold)
        } else if in_headroom + bytes <= headroom
            && spec
                .headroom_pool
                .is_none_or(|pool| self.headroom.iter().sum::<u64>() + bytes <= pool.0)
        {
            Ok(true)
        } else {
            Err(DropReason::HeadroomExceeded)
        }
    }

    /// A packet joins a queue.
    pub fn add(
        &mut self,
        (port, queue): (usize, usize),
        number: u64,
        packet: &Packet,
        in_headroom: bool,
        now: Instant,
    ) {
        let (last, bytes) = (self.ports[port].len() - 1, occupied(packet, self.cell));
        let of = &mut self.ports[port][queue];
        if of.packets.is_empty() {
            of.since = now;
        }
        of.packets.push_back((number, *packet));
        of.joined.push_back(now);
        of.bytes += bytes;
        if queue < last {
            self.held[source(packet)] += bytes;
            self.headroom[source(packet)] += if in_headroom { bytes } else { 0 };
        }
    }

    /// A packet leaves a queue. Its buffer space is released from the headroom first.
    pub fn remove(&mut self, (port, queue): (usize, usize), place: usize) -> Packet {
        let last = self.ports[port].len() - 1;
        let of = &mut self.ports[port][queue];
        let (_, packet) = of.packets.remove(place).expect("the place was found here");
        of.joined.remove(place);
        let bytes = occupied(&packet, self.cell);
        of.bytes -= bytes;
        if queue < last {
            let headroom = &mut self.headroom[source(&packet)];
            *headroom -= bytes.min(*headroom);
            self.held[source(&packet)] -= bytes;
        }
        packet
    }
}

/// What `switch.queue.size` limits, if that depends on flow control.
enum Limited {
    Queue,
    /// Bytes received on a port, and in a class if that is lossless.
    Class,
    /// Bytes received on a port.
    Port,
}

impl Limited {
    fn of(spec: &flow_control::Spec) -> Self {
        let pause = spec.pause.as_ref().map(|pause| pause.measured_on);
        let pfc = spec.pfc.as_ref().map(|pfc| pfc.measured_on);
        match (pause, pfc) {
            (Some(pause::MeasuredOn::Ingress), _) => Self::Port,
            (_, Some(pfc::MeasuredOn::Ingress)) => Self::Class,
            _ if spec.cbfc.is_some() => Self::Class,
            _ => Self::Queue,
        }
    }
}

/// Whether flow control stops the class in which a packet arrived before its buffer is full.
pub fn is_lossless(switch: &switch::Spec, packet: &Packet) -> bool {
    let spec = &switch.flow_control;
    // Packets generated by the switch itself did not arrive in a data class.
    let data = packet.class.0 < switch.queue.count;
    let covers = |pfc: &pfc::Spec| pfc.queues.is_empty() || pfc.queues.contains(&packet.class.0);
    spec.pause.is_some() || data && (spec.cbfc.is_some() || spec.pfc.as_ref().is_some_and(covers))
}

/// Bytes of a pool that a holder of `held` bytes uses.
fn taken(pool: &shared::Pool, held: u64) -> u64 {
    held.saturating_sub(pool.guaranteed.0)
}

/// Whether a holder with `held` bytes may use `bytes` more: within its guarantee; or within `alpha`
/// times the free bytes of the pool, and within the free bytes.
fn accepts(pool: &shared::Pool, alpha: Option<f64>, used: u64, held: u64, bytes: u64) -> bool {
    let guaranteed = pool.guaranteed.0;
    if held + bytes <= guaranteed {
        return true;
    }
    let free = pool.pool.0.saturating_sub(used);
    let taken = held.saturating_sub(guaranteed);
    let more = held + bytes - guaranteed - taken;
    more <= free && alpha.is_none_or(|alpha| (taken + bytes) as f64 <= alpha * free as f64)
}
