//! The receiving side of RCCC: the credit of a host for all its senders.

use std::collections::{BTreeSet, VecDeque};

use floodway_model::packet::Entropy;
use floodway_model::{Duration, Instant};

use super::Spec;
use crate::host::congestion::{Arrival, Credit, Receiving, Request};

/// What a credit that adds nothing counts for: uet-htsim paces it like a kilobyte.
const EMPTY: u64 = 1_024;

/// Credit of all flows of a host.
#[derive(Debug)]
pub struct Pacer {
    /// By index among the incoming flows.
    flows: Vec<Granted>,
    /// Flows that ask for credit, in order of service; may include flows that have completed since.
    queue: VecDeque<u32>,
    /// Flows that ask for none and may be given slow credit, likewise.
    idle: VecDeque<u32>,
    /// Flows to which credit is to be repeated if nothing comes of them, at this time or later.
    watched: BTreeSet<(Instant, u32)>,
    /// Earliest time of the next credit: what the last one permits occupies the link until then.
    next_at: Instant,
}

/// Credit of one flow, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Granted {
    /// Total that was given, and total that the sender has asked for.
    granted: u64,
    target: u64,
    /// Maximum at once, and time that a byte takes at the pace of the link, in picoseconds.
    grant: u64,
    byte_time: f64,
    /// The packet after the last one that was sent for the first time and has arrived.
    newest: u32,
    /// Whether it is in the queue, and whether the next credit answers a request.
    is_queued: bool,
    answers: bool,
    /// What may be given beyond the target, and whether it waits for that.
    slow: u64,
    is_idle: bool,
    /// Time after which credit is repeated, when that is, and whether it is watched for that.
    timeout: Option<Duration>,
    repeat_at: Instant,
    is_watched: bool,
    has_ended: bool,
}

impl Granted {
    fn wants(&self) -> bool {
        self.answers || self.target > self.granted
    }

    /// What may be given to it while no flow wants any.
    fn slow(&self) -> u64 {
        match self.has_ended {
            true => 0,
            false => (self.target + self.slow).saturating_sub(self.granted),
        }
    }
}

impl Pacer {
    /// The flow at `place`, of which something has arrived.
    fn flow(&mut self, spec: &Spec, arrival: &Arrival) -> &mut Granted {
        let flow = &mut self.flows[arrival.place as usize];
        flow.grant = spec.grant.0;
        flow.slow = spec.slow_credit.0;
        flow.timeout = spec.credit_timeout;
        flow.byte_time = 8e12 / (arrival.rate.0.max(1) as f64 * spec.pace);
        flow
    }

    fn enqueue(&mut self, place: u32) {
        let flow = &mut self.flows[place as usize];
        if flow.wants() && !flow.is_queued {
            flow.is_queued = true;
            self.queue.push_back(place);
        }
        if flow.slow > 0 && flow.slow() > 0 && !flow.is_idle {
            flow.is_idle = true;
            self.idle.push_back(place);
        }
    }

    /// Something has come of a flow, or it was given credit: its timeout begins anew.
    fn watch(&mut self, place: u32, now: Instant) {
        let flow = &mut self.flows[place as usize];
        let Some(timeout) = flow.timeout else { return };
        flow.repeat_at = now + timeout;
        if !flow.is_watched {
            flow.is_watched = true;
            self.watched.insert((flow.repeat_at, place));
        }
    }

    /// Queues the flows whose credit is to be repeated.
    fn expire(&mut self, now: Instant) {
        while let Some(&(at, place)) = self.watched.first()
            && at <= now
        {
            self.watched.pop_first();
            let flow = &mut self.flows[place as usize];
            flow.is_watched = false;
            // One that waits for credit is watched again when it gets that.
            if flow.has_ended || flow.is_queued {
                continue;
            }
            if flow.repeat_at > now {
                flow.is_watched = true;
                self.watched.insert((flow.repeat_at, place));
                continue;
            }
            flow.answers = true;
            self.enqueue(place);
        }
    }

    /// Gives credit to a flow, at most so much.
    fn give(&mut self, place: u32, most: u64, now: Instant) -> Credit {
        let flow = &mut self.flows[place as usize];
        let grant = most.min(flow.grant);
        flow.granted += grant;
        flow.answers = false;
        let bytes = if grant == 0 { EMPTY } else { grant };
        self.next_at = now + Duration((bytes as f64 * flow.byte_time).ceil() as u64);
        let number = flow.granted as u32;
        self.enqueue(place);
        self.watch(place, now);
        Credit { place, number }
    }
}

impl Receiving for Pacer {
    type Spec = Spec;

    fn new(flows: usize) -> Self {
        let flows = vec![Granted::default(); flows];
        let (queue, idle) = (VecDeque::new(), VecDeque::new());
        Self { flows, queue, idle, watched: BTreeSet::new(), next_at: Instant::ZERO }
    }

    fn add_flow(&mut self) {
        self.flows.push(Granted::default());
    }

    fn on_arrival(&mut self, spec: &Spec, arrival: &Arrival) {
        let Some(Entropy { target: Some(target), repeated, .. }) = arrival.entropy else { return };
        self.watch(arrival.place, arrival.now);
        let flow = self.flow(spec, arrival);
        // A packet that others have overtaken asks for less, and modulo 1024 it might be taken for more.
        if !repeated && arrival.number < flow.newest {
            return;
        }
        if !repeated {
            flow.newest = arrival.number.saturating_add(1);
        }
        let packet = arrival.wire.0.max(1);
        let base = flow.granted / packet;
        let ahead = i64::from(target) - (base % u64::from(Entropy::TARGETS)) as i64;
        let half = i64::from(Entropy::TARGETS) / 2;
        let ahead = (ahead + half).rem_euclid(2 * half) - half;
        let target = base.saturating_add_signed(ahead) * packet;
        flow.target = flow.target.max(target);
        self.enqueue(arrival.place);
    }

    fn on_request(&mut self, spec: &Spec, arrival: &Arrival, Request { target }: Request) {
        self.watch(arrival.place, arrival.now);
        let flow = self.flow(spec, arrival);
        let ahead = target.wrapping_sub(flow.granted as u32) as i32;
        flow.target = flow.target.max(flow.granted.saturating_add_signed(ahead.into()));
        flow.answers = true;
        self.enqueue(arrival.place);
    }

    fn on_end(&mut self, _: &Spec, place: u32, _: Instant) {
        let flow = &mut self.flows[place as usize];
        (flow.target, flow.answers, flow.has_ended) = (flow.granted, false, true);
    }

    fn next_wake(&self) -> Instant {
        let is_empty = self.queue.is_empty() && self.idle.is_empty();
        let next = if is_empty { Instant::NEVER } else { self.next_at };
        self.watched.first().map_or(next, |(at, _)| next.min(*at))
    }

    fn next_credit(&mut self, now: Instant) -> Option<Credit> {
        self.expire(now);
        if now < self.next_at {
            return None;
        }
        while let Some(place) = self.queue.pop_front() {
            let flow = &mut self.flows[place as usize];
            flow.is_queued = false;
            if !flow.wants() {
                continue;
            }
            let most = flow.target.saturating_sub(flow.granted);
            return Some(self.give(place, most, now));
        }
        while let Some(place) = self.idle.pop_front() {
            let flow = &mut self.flows[place as usize];
            flow.is_idle = false;
            let most = flow.slow();
            if most > 0 {
                return Some(self.give(place, most, now));
            }
        }
        None
    }
}
