//! Properties of every buffer, for all parameters.

use floodway_model::{Bytes, Class, Ecn, Instant, Packet, PortIx, Rate};
use proptest::prelude::*;

use super::{Buffer, Holder, Spec, shared};
use crate::link::{Link, Transmitter};
use crate::switch::aqm::stand::Stand;
use crate::switch::cell::Cell;
use crate::switch::flow_control::pausing::source_of;
use crate::switch::port::Port;
use crate::switch::queue::{Queue, Queued};
use crate::switch::{self, QueueSpec, aqm, scheduler};

const PORTS: u16 = 4;
const QUEUES: u8 = 2;
const SIZE: Bytes = Bytes(20_000);

/// Every member, small enough that it fills.
fn all() -> Vec<switch::Spec> {
    let pool = || Some(shared::Pool { pool: SIZE, guaranteed: Bytes(2_000), alpha: Some(0.5) });
    let pools = shared::Spec { ingress: pool(), egress: pool(), ..Default::default() };
    let buffers = Spec::all().into_iter().chain([Spec::Shared(pools)]);
    let queue = QueueSpec { count: QUEUES, size: SIZE, ..Default::default() };
    let switch = |buffer| switch::Spec { buffer, queue: queue.clone(), ..Default::default() };
    buffers.map(switch).collect()
}

/// A switch that counts as its own data path does.
struct Stock {
    buffer: Buffer,
    ports: Vec<Port>,
}

/// A frame: its ingress port, class, egress port, queue and length.
type Frame = (u16, u8, usize, usize, u16);

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let queues = 0..usize::from(QUEUES);
    let frame = (0..PORTS, 0..QUEUES, 0..usize::from(PORTS), queues, 64u16..2_000);
    prop::collection::vec(frame, 1..300)
}

impl Stock {
    fn new(spec: &switch::Spec) -> Self {
        let port = |_| {
            let scheduler = scheduler::State::new(&scheduler::Spec::default(), &Link::PLAIN);
            let aqm = aqm::State::new(&aqm::Spec::default(), 1);
            let queues: Vec<Queue> = (0..QUEUES).map(|_| Queue::default()).collect();
            Port::new(Transmitter::new(Link::PLAIN), queues, aqm, scheduler)
        };
        let buffer = Buffer::new(spec, &[Rate::from_gbps(100); PORTS as usize]);
        Self { buffer, ports: (0..PORTS).map(port).collect() }
    }

    fn packet((ingress, class, _, _, bytes): Frame) -> Packet {
        let (ingress, class) = (PortIx(ingress), Class(class));
        Packet { ingress, class, bytes, ..Stand::packet(Ecn::NotEct) }
    }

    fn has_room(&self, frame: Frame) -> bool {
        let (.., port, queue, bytes) = frame;
        let source = source_of(&Self::packet(frame));
        self.buffer.admit(source, &self.ports[port], queue, bytes).is_ok()
    }

    /// A frame joins its queue if it has room.
    fn join(&mut self, frame: Frame) -> bool {
        let has_room = self.has_room(frame);
        if has_room {
            let (.., at, queue, bytes) = frame;
            let (packet, port) = (Self::packet(frame), &mut self.ports[at]);
            port.occupancy.join(bytes);
            self.buffer.join(source_of(&packet), queue, &port.queues[queue], bytes);
            port.queues[queue].push(&Queued { packet, not_before: 0 }, Instant::ZERO);
        }
        has_room
    }

    /// The head of a queue leaves, if there is one.
    fn leave(&mut self, at: usize, queue: usize) {
        let port = &mut self.ports[at];
        let Some(packet) = port.queues[queue].pop() else { return };
        port.occupancy.leave(packet.bytes);
        self.buffer.leave(source_of(&packet), queue, &port.queues[queue], packet.bytes);
    }

    fn wrong(&self) -> Vec<String> {
        self.buffer.audit(&self.ports, QUEUES.into(), [].iter(), Cell::default())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Its accounts agree with what waits, and nothing waits beyond its limit.
    #[test]
    fn accounts_and_limits_hold(frames in frames(), departures in 1usize..4) {
        for spec in all() {
            let (mut stock, name) = (Stock::new(&spec), spec.buffer.name());
            for (number, &frame) in frames.iter().enumerate() {
                stock.join(frame);
                if number % departures == 0 {
                    stock.leave(frame.2, frame.3);
                }
                let wrong = stock.wrong();
                prop_assert!(wrong.is_empty(), "{}: {:?}", name, wrong);
                let limit = spec.buffer.limit(&spec.queue);
                let port = &stock.ports[frame.2];
                let held = match limit.of {
                    Holder::Queue => port.queues[frame.3].backlog(),
                    Holder::Port | Holder::Switch => port.occupancy.bytes(),
                };
                prop_assert!(limit.bytes.is_none_or(|most| held <= most.0), "{}: {}", name, held);
            }
        }
    }

    /// Where a frame finds no room, a longer one finds none either.
    #[test]
    fn a_longer_frame_needs_more(frames in frames()) {
        for spec in all() {
            let mut stock = Stock::new(&spec);
            for &frame in &frames {
                let longer = (frame.0, frame.1, frame.2, frame.3, frame.4 + 500);
                prop_assert!(!stock.has_room(longer) || stock.has_room(frame), "{}", spec.buffer.name());
                stock.join(frame);
            }
        }
    }

    /// When all has left, it takes the same frames as when it was new.
    #[test]
    fn it_forgets_what_has_left(first in frames(), then in frames()) {
        for spec in all() {
            let (mut used, mut new) = (Stock::new(&spec), Stock::new(&spec));
            for &frame in &first {
                used.join(frame);
            }
            for (port, queue) in first.iter().map(|frame| (frame.2, frame.3)) {
                used.leave(port, queue);
            }
            for &frame in &then {
                prop_assert_eq!(used.join(frame), new.join(frame), "{}", spec.buffer.name());
            }
        }
    }
}
