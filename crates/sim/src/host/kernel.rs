//! A host that is a kernel: its NIC and link are those of any host, and its frames come from a [`Backend`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use floodway_engine::Node;
use floodway_model::packet::length;
use floodway_model::{Body, Class, Ecn, FlowId, Instant, NodeId, Packet, PortIx};

use super::transport::{Receiver, Sent};
use super::{Host, Shared};
use crate::context::Context;
use crate::kernel::{Backend, Held, Kernel, LongFlow, Octets, Order, Outgoing};
use crate::observe::{Delivery, Fact, Kinds};

/// The frame check sequence, which octets of kernels do not have.
const FCS: u16 = 4;

/// A host with a kernel.
#[derive(Debug)]
pub struct KernelHost {
    host: Host,
    backend: Box<dyn Backend>,
    octets: Arc<Octets>,
    /// Time of the last event. The clock of the kernel has whole nanoseconds, so it may be behind.
    clock: Instant,
    /// What the kernel is asked to do, and when, in order of time.
    orders: VecDeque<(Instant, Order)>,
    /// Frames that the kernel has sent and the NIC does not have yet.
    leaving: VecDeque<Outgoing>,
    /// Used by each call of the backend.
    sent: Vec<Outgoing>,
    /// When the wire has, or will have, taken frames that the kernel still holds.
    taken: VecDeque<Instant>,
    /// Number of the next frame.
    number: u32,
    connections: Connections,
}

impl KernelHost {
    /// This host with a kernel and its backend.
    pub fn new(
        host: Host,
        kernel: &Kernel,
        backend: Box<dyn Backend>,
        octets: Arc<Octets>,
    ) -> Self {
        let connections = Connections::new(&host.outgoing, kernel.first_flows(), &host.shared);
        let begins = Instant(kernel.start.0);
        let orders = kernel.first_flows().iter().map(|flow| (begins, Order::Start(*flow)));
        Self {
            host,
            backend,
            octets,
            clock: Instant::ZERO,
            orders: orders.collect(),
            leaving: VecDeque::new(),
            sent: Vec::new(),
            taken: VecDeque::new(),
            number: 0,
            connections,
        }
    }

    /// Its node in the graph.
    pub fn id(&self) -> NodeId {
        self.host.id()
    }

    /// The host as simulated.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The same, to be changed before the run.
    pub fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Asks the kernel for something, at a time that has not been simulated. A flow that is started is that which was added
    /// last. One that is stopped before it starts is not started.
    pub fn order(&mut self, order: Order, at: Instant) {
        let starts = match order {
            Order::Start(flow) => {
                let place = self.host.outgoing.len() - 1;
                self.connections.add(flow, place);
                None
            }
            Order::Stop(flow) => Some(Order::Start(flow)),
        };
        let later =
            self.orders.iter().position(|(when, order)| *when > at && Some(*order) == starts);
        if let Some(later) = later {
            self.orders.remove(later);
            return;
        }
        let place = self.orders.partition_point(|(when, _)| *when <= at);
        self.orders.insert(place, (at, order));
    }

    /// A step of a session has ended.
    pub fn look(&mut self) {
        self.backend.look();
    }

    /// After a run: the host with the counters of all flows, and when each flow that has begun did.
    pub fn finish(mut self) -> (Host, Vec<(FlowId, Instant)>) {
        let mut begun = Vec::new();
        for (place, flow) in self.host.outgoing.iter().enumerate() {
            let of = &self.connections.flows[place];
            if of.began != Instant::NEVER {
                begun.push((*flow, of.began));
                self.host.ended.push(*flow, of.sent, 0);
            }
        }
        (self.host, begun)
    }

    /// A frame of the kernel joins its NIC.
    fn send(&mut self, Outgoing { octets, header, .. }: Outgoing, now: Instant) {
        let number = self.number;
        self.number = self.number.wrapping_add(1);
        let (src, dst) = (self.host.id, header.dst);
        let (place, flow) = self.connections.flow(dst, header.connection, &self.host.outgoing);
        self.connections.flows[place].count(header.end, now);
        let switch = &self.host.shared.switch;
        let (dscp, ecn) = (header.tos.dscp(), header.tos.ecn());
        let class = Class(switch.classify.queue(dscp, ecn, dst, switch.queue.count));
        let bytes = (octets.len() as u16).saturating_add(FCS).max(length::SHORTEST_FRAME);
        self.octets.put(src, number, Held { octets: octets.into(), payload: header.payload });
        self.host.emitted += 1;
        self.host.nic.push_data(Packet {
            flow,
            connection: self.host.shared.places.at(flow.index()).1,
            src,
            dst,
            bytes,
            ingress: PortIx(0),
            class,
            physical_queue: 0,
            tos: header.tos,
            indicated: false,
            body: Body::Octets { number, sent_at: now },
        });
    }

    /// A frame has arrived for the kernel.
    fn deliver(&mut self, packet: &Packet, sent_at: Instant, now: Instant, context: &mut Context) {
        let host = &mut self.host;
        host.consumed += 1;
        context.arrived(host.id, packet, now);
        let Some(held) = self.octets.take(packet) else {
            unreachable!("octets are kept until they arrive or are dropped");
        };
        let receiver = host.receivers.at(packet.connection, &host.shared);
        receiver.count(packet, sent_at);
        if let Receiver::Ethernet(frames) = &mut receiver.transport {
            frames.take(held.payload.into());
        }
        if context.wants_of(Kinds::DELIVERED, packet.flow) {
            let (sent_at, delivered) = (Some(sent_at), receiver.delivered());
            let (notified, answered, completes) = (false, None, false);
            let delivery = Delivery { packet, sent_at, notified, answered, completes, delivered };
            context.state(Kinds::DELIVERED, host.id, now, || Fact::Delivered(&delivery));
        }
        self.backend.receive(&held.octets, packet.ecn() == Ecn::Ce, now);
    }

    /// The NIC does what is due, and what it sends will have left at the end of its time on the wire.
    fn nic(&mut self, act: impl FnOnce(&mut Host)) {
        let before = self.host.nic.tx.frames;
        act(&mut self.host);
        let tx = &self.host.nic.tx;
        for _ in before..tx.frames {
            self.taken.push_back(tx.busy_until);
        }
    }

    /// Time of the next event of the NIC, or of what the kernel has sent.
    fn next_outside(&self) -> Instant {
        let leaving = self.leaving.front().map_or(Instant::NEVER, |frame| frame.at);
        let taken = self.taken.front().copied().unwrap_or(Instant::NEVER);
        let ordered = self.orders.front().map_or(Instant::NEVER, |(at, _)| *at);
        leaving.min(taken).min(ordered).min(self.host.next_wake())
    }
}

impl Node<Context> for KernelHost {
    type Frame = Packet;

    fn arrive(&mut self, packet: &mut Packet, now: Instant, context: &mut Context) {
        self.clock = now;
        match packet.body {
            Body::Octets { sent_at, .. } => self.deliver(packet, sent_at, now, context),
            _ => self.nic(|host| host.arrive(packet, now, context)),
        }
    }

    fn next_wake(&self) -> Instant {
        self.next_outside().min(self.backend.next()).max(self.clock)
    }

    fn wake(&mut self, now: Instant, context: &mut Context) {
        self.wake_until(now, now, context);
    }

    /// One event: of those at the same time, the kernel first hears that frames have left, then what it is asked to do, then
    /// what it has sent joins the NIC, then the NIC sends, then the kernel runs.
    fn wake_until(&mut self, now: Instant, limit: Instant, context: &mut Context) {
        self.clock = now;
        if self.taken.front().is_some_and(|at| *at <= now) {
            self.taken.pop_front();
            return self.backend.transmitted(now);
        }
        if self.orders.front().is_some_and(|(at, _)| *at <= now)
            && let Some((_, order)) = self.orders.pop_front()
        {
            return self.backend.order(order, now);
        }
        if self.leaving.front().is_some_and(|frame| frame.at <= now)
            && let Some(frame) = self.leaving.pop_front()
        {
            self.send(frame, now);
            return self.nic(|host| host.act(now, context));
        }
        if self.host.next_wake() <= now {
            return self.nic(|host| host.wake(now, context));
        }
        let limit = limit.min(self.next_outside());
        self.backend.run(limit, &mut self.sent);
        self.leaving.extend(self.sent.drain(..));
    }
}

/// The flows that stand for connections of the kernel.
#[derive(Debug)]
struct Connections {
    /// By destination: places among the outgoing flows, and how many connections there were.
    to: BTreeMap<NodeId, (Vec<usize>, usize)>,
    /// The place of each connection that there was.
    known: BTreeMap<(NodeId, u64), usize>,
    /// By place.
    flows: Vec<Counts>,
}

/// Counters of a flow.
#[derive(Clone, Debug)]
struct Counts {
    began: Instant,
    sent: Sent,
    /// TCP: the highest sequence number after a payload.
    end: Option<u32>,
}

impl Connections {
    /// Long-lived flows have the last flows to their destination, other connections those before.
    fn new(outgoing: &[FlowId], long_flows: &[LongFlow], shared: &Shared) -> Self {
        let mut to: BTreeMap<NodeId, (Vec<usize>, usize)> = BTreeMap::new();
        for (place, flow) in outgoing.iter().enumerate() {
            to.entry(shared.flows.at(flow.index()).dst).or_default().0.push(place);
        }
        let mut known = BTreeMap::new();
        for flow in long_flows.iter().rev() {
            if let Some(place) = to.get_mut(&flow.to).and_then(|(places, _)| places.pop()) {
                known.insert((flow.to, flow.connection()), place);
            }
        }
        Self { to, known, flows: vec![Counts::none(); outgoing.len()] }
    }

    /// Adds the flow of a connection that there will be, at the last place.
    fn add(&mut self, flow: LongFlow, place: usize) {
        self.flows.resize(place + 1, Counts::none());
        self.known.insert((flow.to, flow.connection()), place);
    }

    /// The flow of a connection, in order of their first frames; when there are more connections than flows, several
    /// connections share one.
    fn flow(&mut self, dst: NodeId, connection: u64, outgoing: &[FlowId]) -> (usize, FlowId) {
        let (places, count) = self.to.get_mut(&dst).expect("a kernel sends to kernels");
        let place = *self.known.entry((dst, connection)).or_insert_with(|| {
            *count += 1;
            places[(*count - 1) % places.len()]
        });
        (place, outgoing[place])
    }
}

impl Counts {
    fn none() -> Self {
        Self { began: Instant::NEVER, sent: Sent::default(), end: None }
    }

    /// A frame is sent, with this sequence number after its payload.
    fn count(&mut self, end: Option<u32>, now: Instant) {
        self.began = self.began.min(now);
        self.sent.packets += 1;
        let Some(end) = end else { return };
        // Sequence numbers wrap: what is less than half of them ahead is later.
        let is_new = self.end.is_none_or(|before| end.wrapping_sub(before) as i32 > 0);
        if is_new {
            self.end = Some(end);
        } else {
            self.sent.retransmitted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_beyond_the_highest_sequence_number_was_sent_before() {
        let mut counts = Counts::none();
        for end in [Some(u32::MAX - 10), None, Some(1_000), Some(2_000), Some(1_000), Some(2_000)] {
            counts.count(end, Instant(5));
        }
        assert_eq!((counts.sent.packets, counts.sent.retransmitted), (6, 2));
        assert_eq!(counts.began, Instant(5));
    }
}
