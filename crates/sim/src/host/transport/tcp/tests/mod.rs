//! Sender and receiver connected by a path that each test configures.

mod dup_acks;
mod exact;
mod feedback;
mod losses;
mod receiving;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::{Body, Duration, Ecn, EcnFeedback, Instant};

use super::{Acknowledgement, Out, Receiver, Reply, Rules, Segment, Sender, Spec, Supply};
use crate::host::congestion::{
    Ack, Congestion, Control, Lost, Needs, Path, Phase, Signal, Timeout,
};

const MSS: u64 = 1_000;

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + ms(milliseconds)
}

/// A control like Reno: doubles, halves, restarts with one segment.
#[derive(Clone, Debug, PartialEq)]
struct HalvingSpec {
    window: u32,
    /// Whether it grows.
    grows: bool,
    /// Whether congestion leaves it unchanged.
    constant: bool,
    feedback: EcnFeedback,
    owns_recovery: bool,
}

impl Default for HalvingSpec {
    fn default() -> Self {
        let feedback = EcnFeedback::None;
        Self { window: 10, grows: false, constant: false, feedback, owns_recovery: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Congestion(Signal),
    Timeout { again: bool },
    Recovered,
    Undone,
    Restart { halvings: u32 },
}

#[derive(Debug)]
struct Halving {
    window: u32,
    threshold: u32,
    before: (u32, u32),
    told: Vec<(Instant, Told)>,
    acks: Vec<Ack>,
    lost: Vec<Lost>,
}

impl Halving {
    fn new(spec: &HalvingSpec) -> Self {
        let (window, threshold) = (spec.window, u32::MAX);
        let before = (window, threshold);
        Self { window, threshold, before, told: vec![], acks: vec![], lost: vec![] }
    }
}

impl Control for Halving {
    type Spec = HalvingSpec;

    fn needs(_: &HalvingSpec) -> Needs {
        Needs::Acknowledgements
    }

    fn window(&mut self, _: &HalvingSpec, _: Instant) -> Option<u64> {
        Some(u64::from(self.window) * MSS)
    }

    fn feedback(spec: &HalvingSpec) -> EcnFeedback {
        spec.feedback
    }

    fn owns_recovery(&mut self, spec: &HalvingSpec) -> bool {
        spec.owns_recovery
    }

    fn in_slow_start(&mut self, _: &HalvingSpec) -> bool {
        self.window < self.threshold
    }

    fn on_ack(&mut self, spec: &HalvingSpec, ack: &Ack) {
        let slow_start = self.window < self.threshold;
        let grows = spec.grows || ack.phase == Phase::Loss;
        if slow_start && grows && ack.phase.may_grow() && ack.window_limited {
            self.window += ack.acked;
        }
        self.acks.push(*ack);
    }

    fn on_lost(&mut self, _: &HalvingSpec, lost: &Lost) {
        self.lost.push(*lost);
    }

    fn on_congestion(&mut self, spec: &HalvingSpec, congestion: &Congestion) {
        self.before = (self.window, self.threshold);
        self.window = if spec.constant { self.window } else { (self.window / 2).max(2) };
        self.threshold = self.window;
        self.told.push((congestion.now, Told::Congestion(congestion.signal)));
    }

    fn on_timeout(&mut self, _: &HalvingSpec, timeout: &Timeout) {
        if !timeout.again {
            self.before = (self.window, self.threshold);
            self.threshold = (self.window / 2).max(2);
        }
        self.window = 1;
        self.told.push((timeout.now, Told::Timeout { again: timeout.again }));
    }

    fn on_recovered(&mut self, _: &HalvingSpec, now: Instant) {
        self.told.push((now, Told::Recovered));
    }

    fn on_undo(&mut self, _: &HalvingSpec, now: Instant) {
        (self.window, self.threshold) = self.before;
        self.told.push((now, Told::Undone));
    }

    fn on_restart(&mut self, _: &HalvingSpec, now: Instant, halvings: u32) {
        self.told.push((now, Told::Restart { halvings }));
    }
}

/// Fate of a frame on the path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Arrives,
    IsLost,
    IsLate(Duration),
    IsDoubled(Duration),
    IsMarked,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Data(Out),
    Back(Reply),
    Write(u64),
    Close,
}

type Fates = Box<dyn FnMut(usize, &Body) -> Fate>;

/// A sender, a receiver, and a path with the same delay in both directions and unlimited buffers.
struct Pair {
    tcp: Spec,
    control: HalvingSpec,
    sender: Sender<Halving>,
    receiver: Receiver,
    one_way: Duration,
    /// Interval between segments.
    gap: Duration,
    now: Instant,
    free_at: Instant,
    events: BinaryHeap<Reverse<(Instant, u64)>>,
    bodies: Vec<Event>,
    /// Fates by the index of the segment sent, and by the index of the frame back.
    forth: Fates,
    back: Fates,
    /// Transmissions: time, number, and whether it is a retransmission.
    log: Vec<(Instant, u32, bool)>,
    frames: Vec<Out>,
    replies: Vec<(Instant, Reply)>,
    syns: Vec<Instant>,
}

impl Pair {
    fn new(tcp: Spec, control: HalvingSpec, supply: Supply, one_way: Duration) -> Self {
        let path = Path {
            line_rate: floodway_model::Rate::from_gbps(1),
            payload: MSS,
            wire: MSS + 70,
            initial_window: tcp.initial_window,
            base_rtt: Duration::ZERO,
            hops: 0,
            trims: false,
            seed: 1,
        };
        let rules = Rules { tcp: &tcp, congestion: &control };
        let sender = Sender::new(rules, Halving::new(&control), &path, supply, Instant::ZERO);
        let total = match supply {
            Supply::Message(bytes) => Some(tcp.segments(bytes)),
            _ => None,
        };
        let mut receiver = Receiver::new(&tcp, total);
        receiver.keep_pushes();
        Self {
            sender,
            receiver,
            one_way,
            gap: Duration::from_us(10),
            now: Instant::ZERO,
            free_at: Instant::ZERO,
            events: BinaryHeap::new(),
            bodies: Vec::new(),
            forth: Box::new(|_, _| Fate::Arrives),
            back: Box::new(|_, _| Fate::Arrives),
            log: Vec::new(),
            frames: Vec::new(),
            replies: Vec::new(),
            syns: Vec::new(),
            tcp,
            control,
        }
    }

    /// A message of `segments` segments over a path with a round trip of 100 ms.
    fn message(segments: u64, control: HalvingSpec) -> Self {
        Self::new(spec(), control, Supply::Message(segments * MSS), ms(50))
    }

    fn lose(mut self, lost: impl Fn(usize) -> bool + 'static) -> Self {
        self.forth =
            Box::new(move |count, _| if lost(count) { Fate::IsLost } else { Fate::Arrives });
        self
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.push(Reverse((at, self.bodies.len() as u64)));
        self.bodies.push(event);
    }

    fn travel(&mut self, fate: Fate, at: Instant, event: Event) {
        let arrives = at + self.one_way;
        match fate {
            Fate::Arrives => self.schedule(arrives, event),
            Fate::IsLost => {}
            Fate::IsLate(late) => self.schedule(arrives + late, event),
            Fate::IsDoubled(late) => {
                self.schedule(arrives, event);
                self.schedule(arrives + late, event);
            }
            Fate::IsMarked => {
                let Event::Data(mut out) = event else { unreachable!("segments are marked") };
                if out.ecn.is_capable() {
                    out.ecn = Ecn::Ce;
                }
                self.schedule(arrives, Event::Data(out));
            }
        }
    }

    fn send(&mut self) {
        let rules = Rules { tcp: &self.tcp, congestion: &self.control };
        if self.free_at > self.now || !self.sender.has_more() {
            return;
        }
        let (in_flight, may) = (self.sender.board.in_flight(), self.sender.window);
        let probes = self.sender.sent.probes;
        let Some(out) = self.sender.next(rules, self.now) else { return };
        let count = if let Body::Segment { psn, .. } = out.body {
            // Only a probe may exceed the window.
            if self.sender.sent.probes == probes {
                assert!(in_flight < may.max(self.sender.window), "{in_flight} of {may}");
            }
            self.log.push((self.now, psn, out.retransmission));
            self.frames.push(out);
            self.free_at = self.now + self.gap;
            self.frames.len() - 1
        } else {
            self.syns.push(self.now);
            usize::MAX
        };
        let fate = (self.forth)(count, &out.body);
        self.travel(fate, self.now, Event::Data(out));
        self.check();
    }

    fn check(&self) {
        let board = &self.sender.board;
        let (in_flight, waiting) = board.recount();
        assert_eq!(board.in_flight(), in_flight);
        assert_eq!(board.next_lost().is_some(), waiting > 0);
        if board.outstanding() > 0 {
            assert_ne!(self.sender.deadline(), Instant::NEVER, "somebody must wake the sender");
        }
    }

    /// Time of the next event.
    fn next_time(&self) -> Instant {
        let mut next = self.sender.deadline().min(self.receiver.deadline());
        if self.sender.has_more() {
            next = next.min(self.free_at.max(self.now));
        }
        self.events.peek().map_or(next, |Reverse((at, _))| next.min(*at))
    }

    fn reply(&mut self, reply: Reply) {
        let count = self.replies.len();
        self.replies.push((self.now, reply));
        let fate = (self.back)(count, &reply.body);
        self.travel(fate, self.now, Event::Back(reply));
    }

    /// Runs until `end`, or until there are no more events.
    fn run_until(&mut self, end: Instant) {
        loop {
            let next = self.next_time();
            if next > end || next == Instant::NEVER {
                break;
            }
            self.now = next;
            while let Some(&Reverse((at, id))) = self.events.peek()
                && at <= self.now
            {
                self.events.pop();
                self.happen(self.bodies[id as usize]);
            }
            let rules = Rules { tcp: &self.tcp, congestion: &self.control };
            if self.sender.deadline() <= self.now {
                self.sender.on_timer(rules, self.now);
                self.check();
            }
            if let Some(reply) = self.receiver.on_timer(self.now) {
                self.reply(reply);
            }
            self.send();
        }
        self.now = self.now.max(end);
    }

    fn happen(&mut self, event: Event) {
        let rules = Rules { tcp: &self.tcp, congestion: &self.control };
        match event {
            Event::Data(out) => match out.body {
                Body::Syn { feedback } => {
                    let reply = self.receiver.on_syn(feedback, self.now);
                    self.reply(reply);
                }
                Body::Segment { flags, psn, sent_at } => {
                    let payload = out.bytes - 70;
                    let segment = Segment { psn, flags, sent_at, ecn: out.ecn, payload };
                    let arrived = self.receiver.on_segment(&self.tcp, &segment, self.now);
                    arrived.replies.into_iter().flatten().for_each(|reply| self.reply(reply));
                }
                _ => unreachable!("a sender sends nothing else"),
            },
            Event::Back(reply) => {
                match reply.body {
                    Body::SynAck { feedback } => {
                        self.sender.on_syn_ack(rules, feedback, self.now);
                    }
                    body => {
                        let ack = Acknowledgement::of(&body).expect("it is one");
                        self.sender.on_ack(rules, &ack, self.now);
                    }
                }
                self.check();
            }
            Event::Write(bytes) => {
                self.sender.write(bytes);
            }
            Event::Close => self.sender.close(),
        }
    }

    /// Runs until everything is acknowledged, which it must be within an hour.
    fn finish(&mut self, bytes: u64) {
        self.run_until(at(3_600_000));
        assert!(self.sender.is_done(), "it is not done: {:?}", self.sender.board.una());
        assert_eq!(self.receiver.delivered(), bytes);
        assert_eq!(self.sender.in_flight(), 0);
        assert_eq!(self.sender.deadline(), Instant::NEVER);
    }

    /// Numbers of the retransmissions, with the time in microseconds.
    fn again(&self) -> Vec<(u64, u32)> {
        let again = self.log.iter().filter(|(_, _, again)| *again);
        again.map(|(at, psn, _)| (at.0 / 1_000_000, *psn)).collect()
    }

    fn told(&self) -> Vec<Told> {
        self.sender.control.told.iter().map(|(_, told)| *told).collect()
    }
}

fn spec() -> Spec {
    Spec { mss: floodway_model::Bytes(MSS), ..Spec::default() }
}
