//! The crossbar of one switch, with its input queues.
//!
//! At every slot boundary, a matching is computed from the requests just before it. Boundaries at
//! which nothing can change are skipped.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floodway_model::{Duration, Instant, Packet};

use super::clock::Clock;
use super::islip::{Free, Islip};
use super::requests::{Requests, has, insert};
use super::{CongestionAt, Inputs, Spec};
use crate::link::Link;
use crate::switch::port::Port;
use crate::switch::queue::Queued;

/// A frame at an input.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet, and its entry for the egress queue.
    pub queued: Queued,
    /// When it arrived.
    pub since: Instant,
    /// Its egress port.
    pub egress: u16,
    /// Its queue there.
    pub queue: u8,
}

/// Slots are counted from the start of the simulation; this number stands for no slot.
const NEVER: u64 = u64::MAX;

/// One ingress port.
#[derive(Debug, Default)]
pub struct Input {
    /// The frame that is crossing; `None` also if it has been dropped meanwhile.
    crossing: Option<Waiting>,
    /// Number of other frames.
    waiting: u64,
    /// Bytes of all frames at this input.
    bytes: u64,
    /// Maximum of these bytes so far.
    pub max: u64,
    /// Sum of the sampled bytes.
    pub sampled: u64,
    /// Frames that have arrived.
    pub packets: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Since when frames are queued while none is crossing; `None` if that is not the case.
    blocked_since: Option<Instant>,
    blocked: Duration,
}

impl Input {
    /// Bytes of all frames at this input.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Total time until `now` in which frames were queued here while none was crossing.
    pub fn blocked_at(&self, now: Instant) -> Duration {
        self.blocked + self.blocked_since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

/// The crossbar of one switch.
#[derive(Debug)]
pub struct Crossbar {
    clock: Clock,
    cell: u64,
    ports: usize,
    queues: usize,
    /// By port.
    pub inputs: Vec<Input>,
    waiting: Box<dyn Inputs>,
    requests: Requests,
    islip: Islip,
    iterations: u32,
    free: Free,
    /// By output and data queue: bytes in the egress queue, or crossing to it.
    occupied: Vec<u64>,
    /// Maximum number of occupied bytes at which the longest frame may begin to cross.
    full_above: u64,
    /// By input and output: the next data queue in round robin.
    turns: Vec<u8>,
    /// The slots at which transfers end, with their inputs and outputs.
    ends: BinaryHeap<Reverse<(u64, u16, u16)>>,
    /// The slot of the next matching; [`NEVER`] if nothing would change.
    match_at: u64,
    /// The slot of the last matching.
    matched_at: u64,
    pairs: Vec<(usize, usize)>,
    /// Whether frames at the inputs do not count as congestion.
    pub hides: bool,
}

impl Crossbar {
    /// The crossbar of a switch with these links and this number of data queues per port, with strict
    /// priority for lower numbers if `strict`. `None` if the fabric is not a crossbar.
    pub fn new(spec: &Spec, links: &[Link], queues: usize, strict: bool) -> Option<Self> {
        let lines = spec.lines()?;
        let ports = links.len();
        let fastest = links.iter().map(|link| link.rate.max(link.rate_back).0).max().unwrap_or(1);
        let largest = links.iter().map(|link| link.largest_frame).max().unwrap_or(0);
        let rate = floodway_model::Rate((fastest as f64 * lines.speedup).round() as u64);
        Some(Self {
            clock: Clock::new(lines.cell, rate),
            cell: lines.cell.0,
            ports,
            queues,
            inputs: (0..ports).map(|_| Input::default()).collect(),
            waiting: spec.inputs(ports, queues)?,
            requests: Requests::new(ports, queues, strict),
            islip: Islip::new(ports),
            iterations: spec.iterations(),
            free: Free::new(ports),
            occupied: vec![0; ports * queues],
            full_above: lines.egress_queue(largest).0.saturating_sub(largest.into()),
            turns: vec![0; ports * ports],
            ends: BinaryHeap::new(),
            match_at: NEVER,
            matched_at: NEVER,
            pairs: Vec::new(),
            hides: lines.congestion_at == CongestionAt::Egress,
        })
    }

    /// Time of the next matching or end of a transfer.
    pub fn next(&self) -> Instant {
        let end = self.ends.peek().map_or(NEVER, |Reverse((slot, ..))| *slot);
        match self.match_at.min(end) {
            NEVER => Instant::NEVER,
            slot => self.clock.at(slot),
        }
    }

    /// A frame has arrived. It takes part in matchings from the next boundary on.
    pub fn arrive(&mut self, frame: Waiting, now: Instant) {
        let (number, output) = (frame.queued.packet.ingress.index(), usize::from(frame.egress));
        let bytes = u64::from(frame.queued.packet.bytes);
        let input = &mut self.inputs[number];
        input.waiting += 1;
        input.packets += 1;
        input.bytes_in += bytes;
        input.bytes += bytes;
        input.max = input.max.max(input.bytes);
        if has(&self.free.inputs, number) {
            input.blocked_since.get_or_insert(now);
        }
        let head = self.waiting.push(number, frame, &mut self.requests);
        let room = self.requests.rooms(output) >> frame.queue & 1 != 0;
        let free = has(&self.free.inputs, number) && has(&self.free.outputs, output);
        if head && room && free {
            self.match_at = self.match_at.min(self.clock.slot(now) + 1);
        }
    }

    /// The next frame whose transfer has ended by now.
    pub fn finish(&mut self, now: Instant) -> Option<Waiting> {
        loop {
            let &Reverse((slot, number, output)) = self.ends.peek()?;
            if self.clock.at(slot) > now {
                return None;
            }
            self.ends.pop();
            insert(&mut self.free.inputs, number.into());
            insert(&mut self.free.outputs, output.into());
            let input = &mut self.inputs[usize::from(number)];
            if input.waiting > 0 {
                input.blocked_since = Some(now);
            }
            if let Some(frame) = input.crossing.take() {
                input.bytes -= u64::from(frame.queued.packet.bytes);
                return Some(frame);
            }
        }
    }

    /// Removes all frames at the inputs that are bound for a queue, those of each input in order. A
    /// transfer in progress still occupies its input and output until its end.
    #[cold]
    pub fn take_bound(&mut self, output: usize, queue: usize, now: Instant) -> Vec<Waiting> {
        let is_bound = |frame: &Waiting| {
            (usize::from(frame.egress), usize::from(frame.queue)) == (output, queue)
        };
        let mut taken = Vec::new();
        for (number, input) in self.inputs.iter_mut().enumerate() {
            if let Some(frame) = input.crossing.take_if(|frame| is_bound(frame)) {
                let bytes = u64::from(frame.queued.packet.bytes);
                self.occupied[output * self.queues + queue] -= bytes;
                input.bytes -= bytes;
                taken.push(frame);
            }
            let waited = taken.len();
            let pair = (number, output);
            self.waiting.take_bound(pair, queue, &mut self.requests, &mut taken);
            for frame in &taken[waited..] {
                input.waiting -= 1;
                input.bytes -= u64::from(frame.queued.packet.bytes);
            }
            if input.waiting == 0 {
                input.blocked = input.blocked_at(now);
                input.blocked_since = None;
            }
        }
        // There may be new heads of queues, and new room at the output.
        let occupied = self.occupied[output * self.queues + queue];
        self.requests.set_room(output, queue, occupied <= self.full_above);
        self.match_from(now);
        taken
    }

    /// A matching may find new pairs from the next boundary on.
    fn match_from(&mut self, now: Instant) {
        let slot = self.clock.from(now);
        // One matching per slot.
        let slot = if slot == self.matched_at { slot + 1 } else { slot };
        self.match_at = self.match_at.min(slot);
    }

    /// A slot begins, after all transfers that end now have been finished: starts new transfers.
    pub fn connect(&mut self, now: Instant) {
        let slot = self.clock.slot(now);
        let mut pairs = std::mem::take(&mut self.pairs);
        let done = self.islip.run(&self.requests, &mut self.free, self.iterations, &mut pairs);
        for (input, output) in pairs.drain(..) {
            self.begin(input, output, slot, now);
        }
        self.pairs = pairs;
        self.matched_at = slot;
        self.match_at = if done { NEVER } else { slot + 1 };
    }

    /// Starts the transfer of a frame.
    fn begin(&mut self, number: usize, output: usize, slot: u64, now: Instant) {
        let queue = self.take_turn(number, output);
        let frame = self.waiting.take((number, output), queue, &mut self.requests);
        let bytes = u64::from(frame.queued.packet.bytes);
        let end = slot + bytes.div_ceil(self.cell);
        self.ends.push(Reverse((end, number as u16, output as u16)));
        let input = &mut self.inputs[number];
        input.blocked = input.blocked_at(now);
        input.blocked_since = None;
        input.waiting -= 1;
        input.crossing = Some(frame);
        let occupied = &mut self.occupied[output * self.queues + queue];
        *occupied += bytes;
        if *occupied > self.full_above {
            self.requests.set_room(output, queue, false);
        }
    }

    /// Selects the data queue from which the next frame of an input to an output is taken.
    fn take_turn(&mut self, input: usize, output: usize) -> usize {
        let queues = self.requests.between(input, output);
        let turn = &mut self.turns[input * self.ports + output];
        let later = queues & !0 << *turn;
        let queue = if later != 0 { later } else { queues }.trailing_zeros();
        if !self.requests.strict {
            *turn = (queue + 1) as u8 & 7;
        }
        queue as usize
    }

    /// A frame has left an egress queue, which may have room again.
    pub fn depart(&mut self, output: usize, queue: usize, bytes: u16, now: Instant) {
        let occupied = &mut self.occupied[output * self.queues + queue];
        *occupied -= u64::from(bytes);
        if *occupied > self.full_above {
            return;
        }
        self.requests.set_room(output, queue, true);
        if has(&self.free.outputs, output) && self.requests.any(output, queue, &self.free.inputs) {
            self.match_from(now);
        }
    }

    /// Whether the longest frame may begin to cross to a queue.
    pub fn has_room(&self, output: usize, queue: usize) -> bool {
        self.requests.rooms(output) >> queue & 1 != 0
    }

    /// The input queues, each in the order in which its frames cross.
    pub fn rows(&self) -> impl Iterator<Item = &VecDeque<Waiting>> {
        self.waiting.rows().iter()
    }

    /// The frames that are crossing.
    pub fn crossing(&self) -> impl Iterator<Item = &Waiting> {
        self.inputs.iter().filter_map(|input| input.crossing.as_ref())
    }

    /// The frames at the inputs, including those that are crossing.
    pub fn frames(&self) -> impl Iterator<Item = &Waiting> {
        self.rows().flatten().chain(self.crossing())
    }

    /// The packets of these frames.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.frames().map(|frame| &frame.queued.packet)
    }

    /// By output and data queue: number of frames at the inputs that are bound for it, and their bytes.
    pub fn bound(&self) -> Vec<(u64, u64)> {
        let mut bound = vec![(0, 0); self.ports * self.queues];
        for frame in self.frames() {
            let place = usize::from(frame.egress) * self.queues + usize::from(frame.queue);
            bound[place].0 += 1;
            bound[place].1 += u64::from(frame.queued.packet.bytes);
        }
        bound
    }

    /// Errors of the accounting of the inputs and of the egress queues, one sentence each.
    pub fn audit(&self, ports: &[Port]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut bytes = vec![0; self.ports];
        for frame in self.frames() {
            let packet = &frame.queued.packet;
            bytes[packet.ingress.index()] += u64::from(packet.bytes);
        }
        if !self.inputs.iter().map(|input| input.bytes).eq(bytes) {
            wrong.push(
                "the accounting of the inputs differs from the frames stored there".to_owned(),
            );
        }
        let mut occupied = vec![0; self.occupied.len()];
        for (port, of) in ports.iter().enumerate() {
            for (queue, of) in of.queues[..self.queues].iter().enumerate() {
                let bytes = of.iter().map(|packet| u64::from(packet.bytes)).sum::<u64>();
                occupied[port * self.queues + queue] += bytes;
            }
        }
        for frame in self.crossing() {
            let place = usize::from(frame.egress) * self.queues + usize::from(frame.queue);
            occupied[place] += u64::from(frame.queued.packet.bytes);
        }
        if occupied != self.occupied {
            wrong.push("the accounting of the crossbar differs from the egress queues".to_owned());
        }
        // If a frame could begin to cross, a matching is scheduled.
        let idle = |output: usize| has(&self.free.outputs, output);
        let could = (0..self.ports).filter(|&output| idle(output)).any(|output| {
            let rooms = self.requests.rooms(output);
            let open = (0..self.queues).filter(|queue| rooms >> queue & 1 != 0);
            open.into_iter().any(|queue| self.requests.any(output, queue, &self.free.inputs))
        });
        if could && self.match_at == NEVER {
            wrong.push("a frame could cross and nobody sees it".to_owned());
        }
        wrong
    }
}
