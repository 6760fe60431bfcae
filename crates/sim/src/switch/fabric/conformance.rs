//! Properties of every crossbar, for all parameters.

use floodway_model::{Class, Ecn, Instant, Packet, PortIx};
use proptest::prelude::*;

use super::{Crossbar, Spec, Waiting};
use crate::link::Link;
use crate::switch::aqm::stand::Stand;
use crate::switch::queue::Queued;

const PORTS: usize = 4;
const QUEUES: usize = 2;

/// A frame: its input, output, data queue and length, and the interval in nanoseconds after the
/// previous frame.
type Frame = (u16, u16, u8, u16, u64);

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let ports = 0..PORTS as u16;
    let frame = (ports.clone(), ports, 0..QUEUES as u8, 64u16..1_500, 0u64..200);
    prop::collection::vec(frame, 1..100)
}

fn waiting((input, egress, queue, bytes, _): Frame, number: usize, since: Instant) -> Waiting {
    let (ingress, class) = (PortIx(input), Class(queue));
    let connection = number as u32;
    let packet = Packet { ingress, class, bytes, connection, ..Stand::packet(Ecn::NotEct) };
    Waiting { queued: Queued { packet, not_before: 0 }, since, egress, queue }
}

/// A crossbar whose outputs are empty at once.
struct Bench {
    crossbar: Crossbar,
    crossed: Vec<Waiting>,
}

impl Bench {
    fn new(spec: &Spec, strict: bool) -> Option<Self> {
        let links = [Link { largest_frame: 1_500, ..Link::PLAIN }; PORTS];
        let crossbar = Crossbar::new(spec, &links, QUEUES, strict)?;
        Some(Self { crossbar, crossed: Vec::new() })
    }

    /// Does what is due until a time.
    fn until(&mut self, end: Instant) {
        while self.crossbar.next() <= end && self.crossbar.next() != Instant::NEVER {
            let now = self.crossbar.next();
            while let Some(frame) = self.crossbar.finish(now) {
                let bytes = frame.queued.packet.bytes;
                self.crossbar.depart(frame.egress.into(), frame.queue.into(), bytes, now);
                self.crossed.push(frame);
            }
            self.crossbar.connect(now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every frame crosses once, and frames from an input to a queue of an output stay in order.
    #[test]
    fn every_frame_crosses_in_order(frames in frames(), strict: bool) {
        for spec in Spec::all() {
            prop_assert_eq!(spec.lines().is_some(), spec.inputs(PORTS, QUEUES).is_some());
            let Some(mut bench) = Bench::new(&spec, strict) else { continue };
            let mut now = Instant::ZERO;
            for (number, &frame) in frames.iter().enumerate() {
                now.0 += 1_000 * frame.4;
                bench.until(now);
                bench.crossbar.arrive(waiting(frame, number, now), now);
                let (here, crossed) = (bench.crossbar.frames().count(), bench.crossed.len());
                prop_assert_eq!(here + crossed, number + 1, "{}", spec.name());
            }
            bench.until(Instant(u64::MAX - 1));
            prop_assert_eq!(bench.crossed.len(), frames.len(), "{}", spec.name());
            let mut last = std::collections::BTreeMap::new();
            for frame in &bench.crossed {
                let packet = &frame.queued.packet;
                let line = (packet.ingress, frame.egress, frame.queue);
                let before = last.insert(line, packet.connection);
                prop_assert!(before.is_none_or(|before| before < packet.connection), "{}", spec.name());
            }
        }
    }

    /// Removed frames do not cross, and all others do.
    #[test]
    fn what_is_taken_out_is_gone(frames in frames(), output in 0..PORTS, queue in 0..QUEUES) {
        for spec in Spec::all() {
            let Some(mut bench) = Bench::new(&spec, false) else { continue };
            for (number, &frame) in frames.iter().enumerate() {
                bench.crossbar.arrive(waiting(frame, number, Instant::ZERO), Instant::ZERO);
            }
            let taken = bench.crossbar.take_bound(output, queue, Instant::ZERO);
            let bound = |frame: &&Frame| (usize::from(frame.1), usize::from(frame.2)) == (output, queue);
            prop_assert_eq!(taken.len(), frames.iter().filter(bound).count(), "{}", spec.name());
            bench.until(Instant(u64::MAX - 1));
            prop_assert_eq!(taken.len() + bench.crossed.len(), frames.len(), "{}", spec.name());
        }
    }
}
