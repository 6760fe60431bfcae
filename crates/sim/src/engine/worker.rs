//! A share of a run's nodes, and how they go through a window.

use std::sync::atomic::Ordering;

use floodway_model::Instant;

use super::meeting::{Mail, Telling, lock};
use super::order::Order;
use super::windows::Windows;
use super::wire::Arrival;
use super::{Context, Limits, Node};
use crate::host::Host;
use crate::metric::Tally;
use crate::switch::Switch;

/// Nodes that one thread runs at a time. The place of a node is its number here: switches first, then
/// hosts.
pub struct Worker {
    pub switches: Vec<Switch>,
    pub hosts: Vec<Host>,
    /// By place: when the node wants to wake. Looked through in every window: with a few thousand
    /// nodes, most of them busy, that is cheaper than any order among them.
    wakes: Vec<Instant>,
    order: Order,
    pub context: Context,
    /// Its number, of so many workers.
    number: usize,
    workers: usize,
    /// All flows that end have arrived.
    draining: bool,
}

impl Worker {
    /// The worker of this number, of so many, with these nodes, of a network of so many, where no
    /// switch has more than so many ports.
    pub fn new(
        (number, workers): (usize, usize),
        (switches, hosts): (Vec<Switch>, Vec<Host>),
        (nodes, ports): (usize, usize),
        windows: Windows,
        context: Context,
    ) -> Self {
        let mut places = vec![u32::MAX; nodes];
        let ids = switches.iter().map(Switch::id).chain(hosts.iter().map(Host::id));
        (0..).zip(ids).for_each(|(place, id)| places[id.index()] = place);
        let switch_wakes = switches.iter().map(Node::next_wake);
        Self {
            wakes: switch_wakes.chain(hosts.iter().map(Node::next_wake)).collect(),
            order: Order::new(places, ports, windows),
            switches,
            hosts,
            context,
            number,
            workers,
            draining: false,
        }
    }

    /// Tells the others what is next, and what has been counted.
    pub fn tell(&mut self, windows: Windows, tellings: &[Telling]) {
        let next = self.context.wire.next_window();
        let next = next.min(self.next_alarm(windows));
        let telling = &tellings[self.number];
        telling.next_window.store(next, Ordering::Relaxed);
        telling.hops.store(self.context.metrics.hops(), Ordering::Relaxed);
        telling.flows_done.store(self.context.metrics.flows_done(), Ordering::Relaxed);
        telling.awaited_done.store(self.context.metrics.awaited_done(), Ordering::Relaxed);
        if self.draining {
            let open = self.hosts.iter().map(Host::open_senders).sum();
            telling.open.store(open, Ordering::Relaxed);
        }
    }

    /// Takes in what the others sent.
    pub fn take_in(&mut self, mail: &Mail) {
        let to_here = mail.iter().skip(self.number).step_by(self.workers);
        for parcels in to_here {
            lock(parcels).drain(..).for_each(|parcel| self.context.wire.accept(parcel));
        }
    }

    /// Hands over what goes to others.
    pub fn hand_over(&mut self, mail: &Mail) {
        let from = self.number * self.workers;
        self.context.wire.hand_over(|to, parcel| lock(&mail[from + usize::from(to)]).push(parcel));
    }

    /// Takes the tallies at the edges of the measured interval that the window touches which begins at
    /// `start`, after one that ended at `simulated`, and when so many awaited flows have ended.
    pub fn measure(&mut self, limits: &Limits, start: Instant, simulated: Instant, awaited: u64) {
        if self.context.metrics.sampling().measured_until == Instant::NEVER
            && awaited >= limits.awaited
        {
            self.context.metrics.end_measurement(simulated.max(limits.measurement[1]));
        }
        let until = self.context.metrics.sampling().measured_until;
        for (number, mark) in [limits.measurement[0], until].into_iter().enumerate() {
            if start >= mark && self.context.metrics.tallies[number].is_none() {
                self.context.metrics.tallies[number] = Some(self.tally(mark));
            }
        }
    }

    /// All flows that end have arrived, before the window that begins at `start`: what follows is not
    /// measured, and senders are watched. In the warm-up nothing is measured at all.
    pub fn drain(&mut self, limits: &Limits, start: Instant) {
        let until = self.context.metrics.sampling().measured_until;
        let end = start.min(limits.end).max(limits.measurement[0]);
        self.context.metrics.end_measurement(until.min(end));
        self.draining = true;
    }

    /// Runs the nodes that have something to do in this window, each to its end.
    pub fn run_window(&mut self, window: u64, (start, end): (Instant, Instant), past_end: bool) {
        self.context.wire.advance(window);
        let mut arrivals = self.context.wire.take();
        self.order.arrange(&arrivals);
        let ringing = self.wakes.iter().enumerate().filter(|(_, wake)| **wake < end);
        ringing.for_each(|(place, _)| self.order.add(place));
        let mut window = Window {
            start,
            end,
            arrivals: &mut arrivals,
            order: &mut self.order,
            wakes: &mut self.wakes,
        };
        // All switches, then all hosts: the same code runs again and again.
        window.run(&mut self.switches, 0, &mut self.context);
        window.run(&mut self.hosts, self.switches.len(), &mut self.context);
        self.order.clear();
        if past_end {
            // What arrives after the end stays on the wire.
            arrivals.retain(|arrival| after(start, arrival) >= end);
        } else {
            arrivals.clear();
        }
        self.context.wire.restore(arrivals);
    }

    /// What all nodes here have counted.
    pub fn tally(&self, now: Instant) -> Tally {
        let mut tally = Tally::default();
        self.switches.iter().for_each(|switch| switch.tally(now, &mut tally));
        self.hosts.iter().for_each(|host| host.tally(now, &mut tally));
        tally
    }

    fn next_alarm(&self, windows: Windows) -> u64 {
        match self.wakes.iter().min() {
            None | Some(&Instant::NEVER) => u64::MAX,
            Some(&at) => windows.index(at),
        }
    }
}

/// A window in which nodes are run.
struct Window<'a> {
    start: Instant,
    end: Instant,
    arrivals: &'a mut [Arrival],
    order: &'a mut Order,
    wakes: &'a mut [Instant],
}

impl Window<'_> {
    /// Runs those of these nodes, whose places begin at `first`, that have something to do.
    fn run<N: Node>(&mut self, nodes: &mut [N], first: usize, context: &mut Context) {
        let mut next = self.order.next_due(first);
        while let Some(place) = next
            && let Some(here) = place.checked_sub(first)
            && here < nodes.len()
        {
            for index in self.order.take(place) {
                let arrival = &mut self.arrivals[index];
                let at = after(self.start, arrival);
                if at >= self.end {
                    break;
                }
                let node = &mut nodes[here];
                // What a node does by itself comes before what arrives at the same moment.
                while node.next_wake() <= at {
                    node.wake(node.next_wake(), context);
                }
                node.arrive(&mut arrival.packet, at, context);
            }
            let node = &mut nodes[here];
            while node.next_wake() < self.end {
                node.wake(node.next_wake(), context);
            }
            self.wakes[place] = node.next_wake();
            next = self.order.next_due(place + 1);
        }
    }
}

/// When a frame arrives in the window that begins at `start`.
#[inline]
fn after(start: Instant, arrival: &Arrival) -> Instant {
    Instant(start.0 + u64::from(arrival.after))
}
