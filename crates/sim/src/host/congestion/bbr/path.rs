//! A path model for tests: flows share a queue of one rate, and every packet is acknowledged
//! individually after a fixed delay. The controls get the same information as from a TCP sender,
//! with delivery rates as in draft-cheng-iccrg-delivery-rate-estimation.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floodway_model::{Duration, Instant, Rate};

use super::super::{
    Ack, Congestion, Lost, Path as Known, Phase, RateSample, Signal, Spec, State, Timeout,
};

/// Bits of a packet on the wire.
pub const WIRE: f64 = 1_518.0 * 8.0;

/// A packet that is neither acknowledged nor considered lost.
struct Sent {
    number: u64,
    at: Instant,
    in_flight: u32,
    delivered: u64,
    delivered_at: Instant,
    first_at: Instant,
    lost: u64,
    marked: u64,
}

pub struct Flow {
    pub spec: Spec,
    pub state: State,
    sent: VecDeque<Sent>,
    next: u64,
    may_send_at: Instant,
    asked: bool,
    pub delivered: u64,
    pub lost: u64,
    marked: u64,
    delivered_at: Instant,
    first_at: Instant,
    round_end: u64,
    phase: Phase,
    recovers_until: u64,
    limited: bool,
    rtt: [Duration; 2],
    /// Hook that inspects the state at each acknowledgement and may record times.
    pub on_ack: Option<fn(&State, Instant, &mut Vec<Instant>)>,
    pub seen: Vec<Instant>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Depart,
    Ack { flow: usize, number: u64, marked: bool },
    Send { flow: usize },
    Timer { flow: usize, delivered: u64 },
}

pub struct Path {
    pub now: Instant,
    /// Link rate in bit/s on the wire.
    pub rate: f64,
    /// Delay from the queue to the receiver and back to the sender and its queue.
    pub delay: Duration,
    /// Capacity of the queue in packets.
    pub buffer: usize,
    /// Queue length in packets at which arriving packets are marked.
    pub mark_from: usize,
    pub flows: Vec<Flow>,
    queue: VecDeque<(usize, u64, bool)>,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    count: u64,
    /// Queue length in packets found by each arrival.
    pub found: Vec<(Instant, usize)>,
}

pub fn ms(ms: u64) -> Instant {
    Instant(ms * 1_000_000_000)
}

impl Path {
    pub fn new(rate: f64, delay: Duration, buffer: usize, specs: &[Spec]) -> Self {
        let mut path = Self {
            now: Instant::ZERO,
            rate,
            delay,
            buffer,
            mark_from: usize::MAX,
            flows: Vec::new(),
            queue: VecDeque::new(),
            events: BinaryHeap::new(),
            count: 0,
            found: Vec::new(),
        };
        for (flow, spec) in specs.iter().enumerate() {
            let known = Known { seed: flow as u64, ..Known::at(Rate::from_gbps(100)) };
            path.flows.push(Flow {
                spec: spec.clone(),
                state: State::new(spec, &known),
                sent: VecDeque::new(),
                next: 0,
                may_send_at: Instant::ZERO,
                asked: false,
                delivered: 0,
                lost: 0,
                marked: 0,
                delivered_at: Instant::ZERO,
                first_at: Instant::ZERO,
                round_end: 0,
                phase: Phase::Open,
                recovers_until: 0,
                limited: false,
                rtt: [Duration::ZERO; 2],
                on_ack: None,
                seen: Vec::new(),
            });
            // Flow starts are a few round trips apart.
            path.at(delay.0 * 7 * flow as u64, Event::Send { flow });
        }
        path
    }

    fn at(&mut self, after: u64, event: Event) {
        self.count += 1;
        self.events.push(Reverse((self.now + Duration(after), self.count, event)));
    }

    fn service(&self) -> u64 {
        (WIRE / self.rate * 1e12) as u64
    }

    /// Bandwidth-delay product in packets.
    pub fn bdp(&self) -> f64 {
        self.rate * self.delay.as_secs() / WIRE
    }

    pub fn delivered(&self) -> u64 {
        self.flows.iter().map(|flow| flow.delivered).sum()
    }

    /// Runs until this time; returns the utilization of the link and the fraction of packets that
    /// were lost.
    pub fn run(&mut self, until: Instant) -> (f64, f64) {
        let lost = |path: &Self| path.flows.iter().map(|flow| flow.lost).sum::<u64>();
        let (from, delivered, lost_before) = (self.now, self.delivered(), lost(self));
        while self.events.peek().is_some_and(|Reverse((at, ..))| *at <= until) {
            let Reverse((at, _, event)) = self.events.pop().unwrap();
            self.now = at;
            match event {
                Event::Depart => self.depart(),
                Event::Ack { flow, number, marked } => self.acknowledge(flow, number, marked),
                Event::Send { flow } => {
                    self.flows[flow].asked = false;
                    self.send(flow);
                }
                Event::Timer { flow, delivered } => self.ring(flow, delivered),
            }
        }
        self.now = until;
        let (delivered, lost) = (self.delivered() - delivered, lost(self) - lost_before);
        let used = delivered as f64 * WIRE / (until - from).as_secs() / self.rate;
        (used, lost as f64 / (lost + delivered).max(1) as f64)
    }

    /// Mean and minimum of the queue length in packets found by arrivals.
    pub fn queue(&self, from: Instant, until: Instant) -> (f64, usize) {
        let found = self.found.iter().filter(|(at, _)| (from..until).contains(at));
        let found: Vec<usize> = found.map(|(_, packets)| *packets).collect();
        let mean = found.iter().sum::<usize>() as f64 / found.len() as f64;
        (mean, *found.iter().min().unwrap())
    }

    fn send(&mut self, index: usize) {
        let now = self.now;
        loop {
            let flow = &mut self.flows[index];
            let in_flight = flow.sent.len() as u64;
            let window = flow.state.window(&flow.spec, now).unwrap();
            if (in_flight + 1) * 1_448 > window {
                flow.limited = true;
                return;
            }
            if now < flow.may_send_at {
                if !std::mem::replace(&mut flow.asked, true) {
                    let wait = flow.may_send_at - now;
                    self.at(wait.0, Event::Send { flow: index });
                }
                return;
            }
            if in_flight == 0 {
                (flow.first_at, flow.delivered_at) = (now, now);
            }
            flow.sent.push_back(Sent {
                number: flow.next,
                at: now,
                in_flight: in_flight as u32 + 1,
                delivered: flow.delivered,
                delivered_at: flow.delivered_at,
                first_at: flow.first_at,
                lost: flow.lost,
                marked: flow.marked,
            });
            flow.state.on_send(&flow.spec, now, 1_518);
            let rate = flow.state.rate(&flow.spec, now).unwrap();
            flow.may_send_at = now + Duration((WIRE / rate * 1e12) as u64);
            let (number, delivered) = (flow.next, flow.delivered);
            flow.next += 1;
            if in_flight == 0 {
                self.at(Duration::from_ms(1_000).0, Event::Timer { flow: index, delivered });
            }
            self.arrive(index, number);
        }
    }

    fn arrive(&mut self, flow: usize, number: u64) {
        let found = self.queue.len();
        self.found.push((self.now, found));
        if found < self.buffer {
            self.queue.push_back((flow, number, found >= self.mark_from));
            if found == 0 {
                self.at(self.service(), Event::Depart);
            }
        }
    }

    fn depart(&mut self) {
        let (flow, number, marked) = self.queue.pop_front().unwrap();
        self.at(self.delay.0, Event::Ack { flow, number, marked });
        if !self.queue.is_empty() {
            self.at(self.service(), Event::Depart);
        }
    }

    /// Retransmission timer: everything is lost if nothing has been delivered since the timer was
    /// set.
    fn ring(&mut self, index: usize, delivered: u64) {
        let now = self.now;
        let flow = &mut self.flows[index];
        if flow.sent.is_empty() {
            return;
        }
        if flow.delivered == delivered {
            let in_flight = flow.sent.len() as u32;
            flow.recovers_until = flow.next;
            flow.phase = Phase::Loss;
            while let Some(packet) = flow.sent.pop_front() {
                flow.lose(now, &packet);
            }
            let timeout = Timeout { now, in_flight, again: false };
            flow.state.on_timeout(&flow.spec, &timeout);
            return self.send(index);
        }
        let delivered = flow.delivered;
        self.at(Duration::from_ms(1_000).0, Event::Timer { flow: index, delivered });
    }

    fn acknowledge(&mut self, index: usize, number: u64, marked: bool) {
        let now = self.now;
        let flow = &mut self.flows[index];
        let Ok(place) = flow.sent.binary_search_by_key(&number, |packet| packet.number) else {
            return;
        };
        let prior_in_flight = flow.sent.len() as u32;
        let packet = flow.sent.remove(place).unwrap();
        let lost_before = flow.lost;
        // A packet is lost when a packet sent three or more positions later is acknowledged.
        while flow.sent.front().is_some_and(|sent| sent.number + 3 <= number) {
            let sent = flow.sent.pop_front().unwrap();
            flow.lose(now, &sent);
        }
        let lost = (flow.lost - lost_before) as u32;
        flow.delivered += 1;
        flow.marked += u64::from(marked);
        flow.delivered_at = now;
        flow.first_at = packet.at;
        if flow.phase != Phase::Open && number >= flow.recovers_until {
            flow.phase = Phase::Open;
            flow.state.on_recovered(&flow.spec, now);
        }
        let begins = match flow.phase {
            Phase::Open | Phase::Reducing if lost > 0 => Some((Phase::Recovery, Signal::Loss)),
            Phase::Open if marked => Some((Phase::Reducing, Signal::Mark)),
            _ => None,
        };
        if let Some((phase, signal)) = begins {
            (flow.phase, flow.recovers_until) = (phase, flow.next);
            let congestion = Congestion { now, signal, in_flight: prior_in_flight };
            flow.state.on_congestion(&flow.spec, &congestion);
        }
        let rtt = now - packet.at;
        let [smoothed, min] = flow.rtt;
        flow.rtt = if smoothed == Duration::ZERO {
            [rtt; 2]
        } else {
            [Duration((smoothed.0 * 7 + rtt.0) / 8), min.min(rtt)]
        };
        let interval = (packet.at - packet.first_at).max(now - packet.delivered_at);
        let round_begins = packet.delivered >= flow.round_end;
        if round_begins {
            flow.round_end = flow.delivered;
        }
        let ack = Ack {
            now,
            acked: 1,
            delivered: 1,
            marked: u32::from(marked),
            rtt: Some(rtt),
            smoothed_rtt: flow.rtt[0],
            min_rtt: flow.rtt[1],
            prior_in_flight,
            in_flight: flow.sent.len() as u32,
            lost,
            phase: flow.phase,
            window_limited: flow.limited,
            round_begins,
            rate: (interval >= flow.rtt[1]).then_some(RateSample {
                delivered: (flow.delivered - packet.delivered) as u32,
                marked: (flow.marked - packet.marked) as u32,
                lost: (flow.lost - packet.lost) as u32,
                interval,
                prior_delivered: packet.delivered,
                in_flight_at_send: packet.in_flight,
                app_limited: false,
            }),
        };
        flow.limited &= !round_begins;
        flow.state.on_ack(&flow.spec, &ack);
        if let Some(look) = flow.on_ack {
            look(&flow.state, now, &mut flow.seen);
        }
        self.send(index);
    }
}

impl Flow {
    fn lose(&mut self, now: Instant, packet: &Sent) {
        self.lost += 1;
        let lost = Lost {
            now,
            in_flight_at_send: packet.in_flight,
            lost: (self.lost - packet.lost) as u32,
            app_limited: false,
        };
        self.state.on_lost(&self.spec, &lost);
    }
}
