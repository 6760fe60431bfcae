//! Switches: store and forward, with queues at the egress.

use std::collections::{BTreeSet, VecDeque};

use floodway_model::random::Stream;
use floodway_model::{Dscp, Ecn, FlowSpec, Instant, NodeId, random};
use floodway_sim::Spec;
use floodway_sim::switch::aqm::{self, ramp};
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::{self, buffer, classify};

use super::World;
use super::ecmp;
use super::frame::{Frame, Kind, after, bytes};
use super::heap::Event;
use super::pfc::{Change, Pfc, Place, Source};
use super::scheduler::Round;
use super::sending_end::SendingEnd;

/// The class of a flow's data, the same at every switch and NIC. `dscp` is that of its workload, if it has one.
pub fn class_of(spec: &switch::Spec, flow: &FlowSpec, dscp: Option<Dscp>) -> usize {
    let queues = u64::from(spec.queue.count);
    // The upper half of a hash is a fraction of one.
    let hashed = |queues: u64| {
        let hash = random::mix(u64::from(flow.dst.0) ^ u64::from_be_bytes(*b"classify"));
        ((hash >> 32) * queues / (1 << 32)) as usize
    };
    match &spec.classify {
        classify::Spec::Single(single) => single.queue.into(),
        classify::Spec::DestinationHash(_) => hashed(queues),
        classify::Spec::Dscp(map) => {
            let Dscp(dscp) = dscp.unwrap_or(Dscp(0));
            let has = |of: &&classify::dscp::Of| of.dscp.iter().any(|one| one.dscp().0 == dscp);
            map.queues.entries().iter().find(has).map_or(map.default, |of| of.queue).into()
        }
        classify::Spec::MiceElephants(_) if dscp.is_some() => {
            unreachable!("`known::check` refuses it")
        }
        classify::Spec::MiceElephants(spec) if flow.bytes < spec.below.0 => spec.mice.into(),
        classify::Spec::MiceElephants(spec) => match spec.elephants {
            Some(queue) => queue.into(),
            None => {
                let others = (0..queues as usize).filter(|&queue| queue != usize::from(spec.mice));
                others.collect::<Vec<_>>()[hashed(queues - 1)]
            }
        },
        classify::Spec::Ecn(_) => unreachable!("`known::check` refuses it"),
    }
}

struct Port {
    end: SendingEnd,
    /// Pauses for the neighbor, before everything else.
    pauses: VecDeque<Frame>,
    /// Acknowledgements, NAKs and CNPs before data, unless they are in a class of data.
    control: VecDeque<Frame>,
    queues: Vec<VecDeque<Frame>>,
    round: Round,
}

impl Port {
    fn is_empty(&self) -> bool {
        self.pauses.is_empty()
            && self.control.is_empty()
            && self.queues.iter().all(VecDeque::is_empty)
    }
}

pub struct Switch {
    id: NodeId,
    ports: Vec<Port>,
    pfc: Pfc,
    /// For the marks of a ramp.
    random: Stream,
}

impl Switch {
    pub fn new(spec: &Spec, id: NodeId) -> Self {
        let node = spec.graph.node(id);
        let port = |port| Port {
            end: SendingEnd::new(spec, id, port),
            pauses: VecDeque::new(),
            control: VecDeque::new(),
            queues: vec![VecDeque::new(); spec.switch.queue.count.into()],
            round: Round::default(),
        };
        Self {
            id,
            ports: (0..node.ports.len()).map(port).collect(),
            pfc: Pfc::default(),
            random: Stream::named(spec.seed, &node.name),
        }
    }

    pub fn on_event(&mut self, event: Event, now: Instant, world: &mut World) {
        match event {
            Event::Send(port) => self.send(port, now, world),
            Event::Refresh { port, class } => self.refresh((port, class), now, world),
            Event::Arrival { port, frame } => match frame.kind {
                Kind::Pause { class, quanta } => {
                    self.ports[port].end.pause(class, quanta, now, world);
                    self.send(port, now, world);
                }
                _ => self.forward(Frame { ingress: port, ..frame }, now, world),
            },
            Event::Start(_) | Event::Timeout { .. } | Event::Rate(..) => {
                unreachable!("switches have no flows")
            }
        }
    }

    fn forward(&mut self, mut frame: Frame, now: Instant, world: &mut World) {
        let spec = world.spec;
        let control = usize::from(spec.switch.queue.count);
        let egress = ecmp::egress(spec, self.id, NodeId(frame.dst), frame.flow);
        let among_data = match frame.kind {
            Kind::Ack { .. } | Kind::Nak { .. } => spec.switch.feedback.ack,
            Kind::Cnp => spec.switch.feedback.cnp,
            Kind::Data { .. } | Kind::Pause { .. } => None,
        };
        if !frame.is_data() && among_data.is_none() {
            let port = &mut self.ports[egress];
            if bytes(&port.control) + u64::from(frame.bytes) > spec.switch.queue.control_size.0 {
                return self.drop(egress, control, "queue_full", world);
            }
            port.control.push_back(frame);
            return self.send(egress, now, world);
        }
        let of_data = || {
            let flow = &spec.flows[frame.flow as usize];
            class_of(&spec.switch, flow, world.profile(frame.flow).dscp)
        };
        let queue = among_data.map_or_else(of_data, usize::from);
        // Queue management comes before admission (decision 3).
        let marked = self.is_marked(spec, egress, queue);
        if marked && frame.ecn == Ecn::NotEct {
            return self.drop(egress, queue, "aqm", world);
        }
        if let Some(reason) = self.refuses(&spec.switch, &frame, egress, queue) {
            return self.drop(egress, queue, reason, world);
        }
        if marked {
            frame.ecn = Ecn::Ce;
            *world.seen.marks.entry((self.id.0, egress, queue)).or_default() += 1;
        }
        let port = &mut self.ports[egress];
        let idle = port.end.is_free(now) && port.is_empty() && !port.end.is_paused(queue, now);
        if idle && !spec.departures {
            // It does not wait: neither the scheduler nor PFC sees it (decision 2).
            return port.end.transmit(frame, queue, now, world);
        }
        let source = (frame.ingress, frame.class.into());
        port.queues[queue].push_back(frame);
        let change = self.change(source, (egress, queue));
        self.flow_control(now, world, |pfc, spec| pfc.on_arrival(spec, &change));
        self.send(egress, now, world);
    }

    /// Whether a packet that would join this queue is marked, by what it finds there.
    fn is_marked(&mut self, spec: &Spec, egress: usize, queue: usize) -> bool {
        let backlog = bytes(&self.ports[egress].queues[queue]);
        match &spec.switch.aqm {
            aqm::Spec::DropTail(_) => false,
            aqm::Spec::Step(step) => backlog > step.threshold.0,
            aqm::Spec::Ramp(ramp) => {
                let (kmin, kmax) = (ramp.kmin.0, ramp.kmax.0);
                if backlog <= kmin {
                    return false;
                }
                let probability = if backlog >= kmax && ramp.above_kmax == ramp::AboveKmax::Step {
                    1.0
                } else {
                    let part = (backlog.min(kmax) - kmin) as f64 / (kmax - kmin) as f64;
                    ramp.pmax * part
                };
                self.random.unit() < probability
            }
            _ => unreachable!("`known::check` refuses it"),
        }
    }

    /// Why there is no room for the frame, if there is none.
    fn refuses(
        &self,
        spec: &switch::Spec,
        frame: &Frame,
        egress: usize,
        queue: usize,
    ) -> Option<&'static str> {
        let covered = |pfc: &pfc::Spec| {
            pfc.measured_on == pfc::MeasuredOn::Ingress
                && (pfc.queues.is_empty() || pfc.queues.contains(&frame.class))
        };
        let pfc = spec.flow_control.pfc.as_ref();
        let data = || self.ports.iter().flat_map(|port| &port.queues).flatten();
        let (held, size, reason) = match &spec.buffer {
            buffer::Spec::PerQueue(_) if pfc.is_some_and(covered) => {
                let same =
                    |other: &&Frame| (other.ingress, other.class) == (frame.ingress, frame.class);
                (bytes(data().filter(same)), spec.queue.size, "headroom_exceeded")
            }
            buffer::Spec::PerQueue(_) => {
                (bytes(&self.ports[egress].queues[queue]), spec.queue.size, "queue_full")
            }
            buffer::Spec::PerPort(port)
                if pfc.is_some_and(|pfc| pfc.measured_on == pfc::MeasuredOn::Ingress) =>
            {
                let same = |other: &&Frame| other.ingress == frame.ingress;
                (bytes(data().filter(same)), port.size, "headroom_exceeded")
            }
            buffer::Spec::PerPort(port) => {
                (bytes(self.ports[egress].queues.iter().flatten()), port.size, "queue_full")
            }
            buffer::Spec::Shared(_) => unreachable!("`known::check` refuses it"),
        };
        (held + u64::from(frame.bytes) > size.0).then_some(reason)
    }

    fn drop(&self, egress: usize, queue: usize, reason: &'static str, world: &mut World) {
        *world.seen.drops.entry((self.id.0, egress, queue, reason)).or_default() += 1;
    }

    /// Sends the next frame of a port, if its wire is free.
    fn send(&mut self, index: usize, now: Instant, world: &mut World) {
        let control = usize::from(world.spec.switch.queue.count);
        let port = &mut self.ports[index];
        if !port.end.is_free(now) {
            return;
        }
        if let Some(frame) = port.pauses.pop_front().or_else(|| port.control.pop_front()) {
            return port.end.transmit(frame, control, now, world);
        }
        let head = |(class, queue): (usize, &VecDeque<Frame>)| {
            let head = queue.front().filter(|_| !port.end.is_paused(class, now))?;
            Some(port.end.on_wire(head.bytes))
        };
        let heads: Vec<Option<u64>> = port.queues.iter().enumerate().map(head).collect();
        if heads.iter().all(Option::is_none) {
            return;
        }
        let queue = port.round.select(&world.spec.switch.scheduler, &heads);
        let frame = port.queues[queue].pop_front().expect("it has a head");
        let source = (frame.ingress, frame.class.into());
        port.end.transmit(frame, queue, now, world);
        let change = self.change(source, (index, queue));
        self.flow_control(now, world, |pfc, spec| pfc.on_departure(spec, &change));
    }

    /// What PFC looks at when a frame of `source` has come to or gone from `place`.
    fn change(&self, source: Source, place: Place) -> Change {
        let of = |frame: &Frame| (frame.ingress, usize::from(frame.class));
        let data = self.ports.iter().flat_map(|port| &port.queues).flatten();
        let queue = &self.ports[place.0].queues[place.1];
        Change {
            source,
            held: bytes(data.filter(|frame| of(frame) == source)),
            place,
            backlog: bytes(queue),
            waiting: queue.iter().map(of).collect(),
        }
    }

    /// Asks PFC, and notifies those neighbors for which something has changed.
    fn flow_control(
        &mut self,
        now: Instant,
        world: &mut World,
        ask: impl Fn(&mut Pfc, &pfc::Spec),
    ) {
        let Some(spec) = &world.spec.switch.flow_control.pfc else { return };
        let before = self.pfc.paused();
        ask(&mut self.pfc, spec);
        let paused: BTreeSet<Source> = self.pfc.paused();
        for &source in before.symmetric_difference(&paused) {
            let stops = paused.contains(&source);
            let counted = if stops { 0 } else { 2 };
            self.say(source, if stops { spec.quanta } else { 0 }, counted, now, world);
        }
    }

    /// Sends a pause frame, in place of one for the same class that waits for the wire.
    fn say(
        &mut self,
        source: Source,
        quanta: u16,
        counted: usize,
        now: Instant,
        world: &mut World,
    ) {
        let (port, class) = source;
        world.seen.pauses.entry((self.id.0, port, class)).or_default()[counted] += 1;
        let refreshes = world.spec.switch.flow_control.pfc.as_ref().is_some_and(|pfc| pfc.refresh);
        if quanta > 0 && refreshes {
            // Half of the pause later it is said again.
            let at = after(now, self.ports[port].end.pause_there(quanta) / 2);
            self.pfc.refresh_at.insert(source, at);
            world.heap.push(at, self.id, Event::Refresh { port, class });
        } else {
            self.pfc.refresh_at.remove(&source);
        }
        let frame = Frame::pause(class, quanta, world.spec.switch.queue.count);
        let waiting = &mut self.ports[port].pauses;
        let old = waiting
            .iter_mut()
            .find(|old| matches!(old.kind, Kind::Pause { class: other, .. } if other == class));
        match old {
            Some(old) => *old = frame,
            None => waiting.push_back(frame),
        }
        self.send(port, now, world);
    }

    fn refresh(&mut self, source: Source, now: Instant, world: &mut World) {
        if self.pfc.refresh_at.get(&source) == Some(&now) {
            let quanta = world.spec.switch.flow_control.pfc.as_ref().map_or(0, |pfc| pfc.quanta);
            self.say(source, quanta, 1, now, world);
        }
    }
}
