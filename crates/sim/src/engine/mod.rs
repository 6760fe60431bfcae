//! The engine: nodes, the windows in which they are independent, and the threads that share them.
//!
//! Every node is a logical process that owns its state. No frame crosses a link in less than a
//! window, so within a window each node can be run by itself, from its sorted arrivals and its own
//! alarms; threads share out the nodes and meet at a barrier per window. With one thread the same
//! code runs, and since the order of a node's events depends on nothing but their times, kinds and
//! ports, results are the same to the bit for any number of threads.

mod alarms;
mod barrier;
mod windows;
mod wire;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use floodway_model::{Class, Duration, Instant, NodeId, Packet, PortIx};

pub use alarms::Alarms;
pub use windows::Windows;
pub use wire::MAX_PORTS;

use crate::deadlock::Deadlocks;
use crate::host::Host;
use crate::metric::{Metrics, Tally};
use crate::switch::Switch;
use barrier::Barrier;
use wire::{Arrival, Order, Parcel, Wire};

/// What benches may see and nobody else.
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench {
    pub use super::wire::{Order, Wire};
}

/// What a node can reach besides itself.
#[derive(Debug)]
pub struct Context {
    wire: Wire,
    /// Where facts are counted.
    pub metrics: Metrics,
}

impl Context {
    /// Puts a frame on the wire to a port of a node, where it arrives at `at`, sent in this class.
    #[inline]
    pub fn send(&mut self, to: (NodeId, PortIx), at: Instant, packet: &Packet, class: Class) {
        self.wire.send(to, at, packet, class);
    }
}

/// A logical process.
pub trait Node {
    /// A frame has arrived.
    fn arrive(&mut self, packet: &mut Packet, now: Instant, context: &mut Context);

    /// When the node has something to do by itself; [`Instant::NEVER`] if it has not.
    fn next_wake(&self) -> Instant;

    /// That moment has come.
    fn wake(&mut self, now: Instant, context: &mut Context);

    /// Adds what the node has counted until `now`, for which it need not have been woken.
    fn tally(&self, now: Instant, tally: &mut Tally);
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// When it ends at the latest.
    pub end: Instant,
    /// Packet-hops so far.
    pub hops: u64,
    /// Flows that have ended, and all that will.
    pub flows: (u64, u64),
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All flows that end have ended.
    FlowsDone,
    /// The time limit was reached.
    TimeLimit,
    /// Somebody asked for it.
    Interrupted,
}

/// Everything that is simulated, before it is shared out.
pub(crate) struct Nodes {
    /// In order of their identifiers.
    pub switches: Vec<Switch>,
    /// In order of their identifiers.
    pub hosts: Vec<Host>,
    /// Nodes that belong on one thread, such as a leaf and its hosts.
    pub groups: Vec<Vec<NodeId>>,
}

/// When to stop and whom to tell.
pub(crate) struct Limits<'a> {
    pub windows: Windows,
    /// The longest time from sending to arrival: for so long there are lists of arrivals.
    pub longest_hop: Duration,
    pub end: Instant,
    /// Flows that end.
    pub flows: u64,
    /// When the measurement begins and ends: a tally is taken before the first window that
    /// touches the time after it.
    pub measurement: [Instant; 2],
    pub stop: &'a AtomicBool,
    pub watch: &'a (dyn Fn(Progress) + Sync),
}

/// What is left after a run, the nodes in order of their identifiers.
pub(crate) struct Finished {
    pub switches: Vec<Switch>,
    pub hosts: Vec<Host>,
    pub in_flight: Vec<Packet>,
    pub metrics: Metrics,
    pub deadlocks: Deadlocks,
    pub stop: Stop,
    pub now: Instant,
}

/// Runs all nodes to the end on this many threads. `metrics` is what each thread starts from.
// Not inlined: what counts instructions (bench/guard.py) knows it by its name.
#[inline(never)]
pub(crate) fn run(nodes: Nodes, threads: usize, limits: &Limits, metrics: &Metrics) -> Finished {
    let threads = threads.clamp(1, nodes.groups.len().max(1));
    let owner = share_out(&nodes, threads);
    let ahead = limits.windows.index(Instant(limits.longest_hop.0)) + 2;
    let ring = ahead.next_power_of_two().min(64);

    let ports = nodes.switches.iter().map(Switch::ports).max().unwrap_or(1);

    let mut workers: Vec<Worker> = (0..threads)
        .map(|thread| Worker {
            switches: Vec::new(),
            hosts: Vec::new(),
            local: vec![u32::MAX; owner.len()],
            wakes: Vec::new(),
            order: Order::new(owner.len(), ports, limits.windows),
            context: Context {
                wire: Wire::new(
                    limits.windows,
                    ring,
                    owner.clone(),
                    (thread as u16, threads as u16),
                ),
                metrics: metrics.clone(),
            },
            thread,
        })
        .collect();
    for switch in nodes.switches {
        workers[usize::from(owner[switch.id().index()])].switches.push(switch);
    }
    for host in nodes.hosts {
        workers[usize::from(owner[host.id().index()])].hosts.push(host);
    }

    let meeting = Meeting::new(threads);
    let (first, rest) = workers.split_first_mut().expect("there is a thread");
    let (stop, now) = std::thread::scope(|scope| {
        for worker in rest {
            scope.spawn(|| worker.run(&meeting, limits));
        }
        first.run(&meeting, limits)
    });

    let mut finished = Finished {
        switches: Vec::new(),
        hosts: Vec::new(),
        in_flight: Vec::new(),
        metrics: metrics.clone(),
        deadlocks: Deadlocks::default(),
        stop,
        now,
    };
    for mut worker in workers {
        for number in 0..limits.measurement.len() {
            if worker.context.metrics.tallies[number].is_none() {
                worker.context.metrics.tallies[number] = Some(worker.tally(now));
            }
        }
        finished.switches.extend(worker.switches);
        finished.hosts.extend(worker.hosts);
        finished.in_flight.extend(worker.context.wire.in_flight());
        finished.metrics.merge(&worker.context.metrics);
    }
    finished.switches.sort_by_key(Switch::id);
    finished.hosts.sort_by_key(Host::id);
    finished
}

/// The thread of each node: groups stay together, the heaviest first to the least loaded thread.
fn share_out(nodes: &Nodes, threads: usize) -> Vec<u16> {
    let mut owner = vec![0; nodes.switches.len() + nodes.hosts.len()];
    let mut weight = vec![1; owner.len()];
    for switch in &nodes.switches {
        weight[switch.id().index()] = switch.ports();
    }
    let weight_of = |group: &[NodeId]| group.iter().map(|node| weight[node.index()]).sum::<usize>();
    let mut groups: Vec<(usize, &Vec<NodeId>)> =
        nodes.groups.iter().map(|group| (weight_of(group), group)).collect();
    groups.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut load = vec![0; threads];
    for (weight, group) in groups {
        let thread = (0..threads).min_by_key(|&thread| load[thread]).expect("there is a thread");
        load[thread] += weight;
        for node in group {
            owner[node.index()] = thread as u16;
        }
    }
    owner
}

/// What threads tell each other at the barrier. Two of each, used in turn, so that a fast thread
/// can write for the next window while a slow one still reads for this one.
struct Meeting {
    barrier: Barrier,
    tellings: [Vec<Telling>; 2],
    /// `mail[turn][from * threads + to]`.
    mail: [Vec<Mutex<Vec<Parcel>>>; 2],
}

#[derive(Default)]
struct Telling {
    next_window: AtomicU64,
    hops: AtomicU64,
    flows_done: AtomicU64,
    interrupted: AtomicBool,
}

impl Meeting {
    fn new(threads: usize) -> Self {
        let tellings = [(); 2].map(|()| (0..threads).map(|_| Telling::default()).collect());
        let mail = [(); 2].map(|()| (0..threads * threads).map(|_| Mutex::default()).collect());
        Self { barrier: Barrier::new(threads), tellings, mail }
    }

    /// The sum over threads of what they told.
    fn sum(&self, turn: usize, of: impl Fn(&Telling) -> &AtomicU64) -> u64 {
        self.tellings[turn].iter().map(|telling| of(telling).load(Ordering::Relaxed)).sum()
    }
}

/// One thread and its nodes.
struct Worker {
    switches: Vec<Switch>,
    hosts: Vec<Host>,
    /// Place of a node here: switches first, then hosts.
    local: Vec<u32>,
    /// By place: when the node wants to wake. Looked through in every window: with a few thousand
    /// nodes, most of them busy, that is cheaper than any order among them.
    wakes: Vec<Instant>,
    order: Order,
    context: Context,
    thread: usize,
}

impl Worker {
    fn run(&mut self, meeting: &Meeting, limits: &Limits) -> (Stop, Instant) {
        let _guard = meeting.barrier.guard();
        self.settle();
        let windows = limits.windows;
        let mut parcels: Vec<Parcel> = Vec::new();
        // The active nodes of a window, by their places here; whether a place is already listed.
        let mut active: Vec<u32> = Vec::new();
        let mut listed = vec![false; self.switches.len() + self.hosts.len()];

        let mut past_end = false;
        for round in 0u64.. {
            // Tell the others what is next, and read the same from all of them.
            let turn = (round & 1) as usize;
            let next = self.context.wire.next_window();
            let next = next.min(self.next_alarm(windows));
            let telling = &meeting.tellings[turn][self.thread];
            telling.next_window.store(next, Ordering::Relaxed);
            telling.hops.store(self.context.metrics.hops(), Ordering::Relaxed);
            telling.flows_done.store(self.context.metrics.flows_done(), Ordering::Relaxed);
            if self.thread == 0 {
                let interrupted = limits.stop.load(Ordering::Relaxed);
                telling.interrupted.store(interrupted, Ordering::Relaxed);
            }
            meeting.barrier.wait();
            // Take in what the others sent in the window before.
            let threads = meeting.tellings[turn].len();
            for from in 0..threads {
                parcels.append(&mut lock(&meeting.mail[turn][from * threads + self.thread]));
                parcels.drain(..).for_each(|parcel| self.context.wire.accept(parcel));
            }

            let all = &meeting.tellings[turn];
            let earliest = |telling: &Telling| telling.next_window.load(Ordering::Relaxed);
            let window = all.iter().map(earliest).min().expect("there is a thread");
            let flows_done = meeting.sum(turn, |telling| &telling.flows_done);
            let start = windows.start(window);
            for (number, mark) in limits.measurement.into_iter().enumerate() {
                if start >= mark && self.context.metrics.tallies[number].is_none() {
                    self.context.metrics.tallies[number] = Some(self.tally(mark));
                }
            }
            if all[0].interrupted.load(Ordering::Relaxed) {
                return (Stop::Interrupted, start.min(limits.end));
            }
            if flows_done >= limits.flows && limits.flows > 0 {
                return (Stop::FlowsDone, start.min(limits.end));
            }
            if start >= limits.end || past_end {
                return (Stop::TimeLimit, limits.end);
            }
            if self.thread == 0 && round % ROUNDS_PER_PROGRESS == 0 {
                (limits.watch)(Progress {
                    now: start,
                    end: limits.end,
                    hops: meeting.sum(turn, |telling| &telling.hops),
                    flows: (flows_done, limits.flows),
                });
            }

            self.context.wire.advance(window);

            // Run the nodes that have something to do, each to the window's end.
            let end = windows.start(window + 1).min(limits.end);
            // What is left of the last window is not simulated.
            past_end = end == limits.end;
            let mut arrivals = self.context.wire.take();
            self.order.arrange(&arrivals);
            let local = &self.local;
            let ringing = self.wakes.iter().enumerate().filter(|(_, wake)| **wake < end);
            let ringing = ringing.map(|(place, _)| place as u32);
            let places =
                self.order.receivers.drain(..).map(|node| local[node as usize]).chain(ringing);
            for place in places {
                if !std::mem::replace(&mut listed[place as usize], true) {
                    active.push(place);
                }
            }
            // All switches, then all hosts: the same code runs again and again.
            let switches = self.switches.len() as u32;
            for &place in active.iter().filter(|&&place| place < switches) {
                let node = &mut self.switches[place as usize];
                let id = node.id();
                let order = self.order.of(id);
                run_node(node, (&mut arrivals, order), start, end, &mut self.context);
                self.wakes[place as usize] = node.next_wake();
            }
            for &place in active.iter().filter(|&&place| place >= switches) {
                let node = &mut self.hosts[(place - switches) as usize];
                let id = node.id();
                let order = self.order.of(id);
                run_node(node, (&mut arrivals, order), start, end, &mut self.context);
                self.wakes[place as usize] = node.next_wake();
            }
            for place in active.drain(..) {
                listed[place as usize] = false;
            }
            if past_end {
                // What arrives after the end stays on the wire.
                arrivals.retain(|arrival| after(start, arrival) >= end);
            } else {
                arrivals.clear();
            }
            self.context.wire.restore(arrivals);

            // Hand over what goes to other threads; they read it after the next barrier.
            let mail = &meeting.mail[1 - turn];
            let from = self.thread * threads;
            self.context
                .wire
                .hand_over(|to, parcel| lock(&mail[from + usize::from(to)]).push(parcel));
        }
        unreachable!("rounds are counted in 64 bits")
    }

    /// What all nodes here have counted.
    fn tally(&self, now: Instant) -> Tally {
        let mut tally = Tally::default();
        self.switches.iter().for_each(|switch| switch.tally(now, &mut tally));
        self.hosts.iter().for_each(|host| host.tally(now, &mut tally));
        tally
    }

    /// Gives every node its place and its first alarm.
    fn settle(&mut self) {
        let switches = self.switches.iter().map(|node| (node.id(), node.next_wake()));
        let hosts = self.hosts.iter().map(|node| (node.id(), node.next_wake()));
        for (place, (id, wake)) in switches.chain(hosts).enumerate() {
            self.local[id.index()] = place as u32;
            self.wakes.push(wake);
        }
    }

    fn next_alarm(&self, windows: Windows) -> u64 {
        match self.wakes.iter().min() {
            None | Some(&Instant::NEVER) => u64::MAX,
            Some(&at) => windows.index(at),
        }
    }
}

/// Runs one node through a window, with these of the arrivals in this order.
#[inline]
fn run_node<N: Node>(
    node: &mut N,
    (arrivals, order): (&mut [Arrival], impl Iterator<Item = usize>),
    start: Instant,
    end: Instant,
    context: &mut Context,
) {
    for index in order {
        let arrival = &mut arrivals[index];
        let at = after(start, arrival);
        if at >= end {
            break;
        }
        // What a node does by itself comes before what arrives at the same moment.
        while node.next_wake() <= at {
            node.wake(node.next_wake(), context);
        }
        node.arrive(&mut arrival.packet, at, context);
    }
    while node.next_wake() < end {
        node.wake(node.next_wake(), context);
    }
}

/// When a frame arrives in the window that begins at `start`.
#[inline]
fn after(start: Instant, arrival: &Arrival) -> Instant {
    Instant(start.0 + u64::from(arrival.after))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no thread panicked while it held this")
}

/// Windows between two calls of the watcher.
const ROUNDS_PER_PROGRESS: u64 = 1_000;
