//! A worker runs one part of the nodes through each window.

use std::sync::atomic::Ordering;

use floodway_model::Instant;

use crate::frame::Frame;
use crate::layout::Layout;
use crate::meeting::{Mail, Report, lock};
use crate::order::Order;
use crate::ranks::Abroad;
use crate::schedule::Stretch;
use crate::windows::Windows;
use crate::wire::{Arrival, Parcel};
use crate::{Node, Part};

/// The nodes that one thread runs at a time, and the times of their events.
pub struct Worker<P: Part> {
    pub part: P,
    /// Its blocks, side by side.
    blocks: Vec<Block>,
    /// Whether the state of a block is not in the caches when it is run.
    looks_ahead: bool,
    /// For the largest block.
    order: Order,
    /// Number of its part, and of the first of its blocks among all blocks.
    number: u16,
    first_block: usize,
    /// Its place among the workers of this process, and their number.
    slot: usize,
    workers: usize,
    /// Whether all finite flows have completed.
    draining: bool,
    /// Empty; reused by every handover.
    parcels: Vec<(u16, Parcel<P::Frame>)>,
}

/// Nodes that run a stretch of windows while their state is in the caches.
struct Block {
    side: usize,
    /// Time of the next own event of each node, by place. It is scanned in every window: with a few
    /// thousand nodes, most of them busy, that is cheaper than a priority queue.
    wakes: Vec<Instant>,
}

impl<P: Part> Worker<P> {
    /// The worker in place `slot` of those of this process, which runs the nodes of `part`, whose number is `number`.
    /// `places` gives the place of each node of the network in its block.
    pub fn new(
        (slot, workers): (usize, usize),
        number: usize,
        mut part: P,
        layout: &Layout,
        places: &[u32],
    ) -> Self {
        part.wire().set_places(places);
        let wakes = part.wakes();
        let blocks: Vec<Block> =
            layout.sides(number).zip(wakes).map(|(side, wakes)| Block { side, wakes }).collect();
        let largest = blocks.iter().map(|block| block.wakes.len()).max().unwrap_or(0);
        Self {
            order: Order::new(largest, layout.ports(), layout.windows()),
            blocks,
            looks_ahead: layout.looks_ahead(),
            part,
            number: number as u16,
            first_block: layout.blocks_of(number).start,
            slot,
            workers,
            draining: false,
            parcels: Vec::new(),
        }
    }

    /// Reads the times of the nodes' own events, which were changed from outside.
    pub fn read_wakes(&mut self) {
        let wakes = self.part.wakes().into_iter();
        self.blocks.iter_mut().zip(wakes).for_each(|(block, wakes)| block.wakes = wakes);
    }

    /// Publishes what is due next and the totals so far. The nodes of each side have run the windows before
    /// that in `at`.
    pub fn report(&mut self, windows: Windows, at: [u64; 2], reports: &[Report]) {
        let sides = self.blocks.iter().map(|block| at[block.side]);
        let near = self.part.wire().next_near((self.first_block..).zip(sides));
        let next = near.min(self.part.wire().next_far()).min(self.next_wake(windows));
        let done = self.part.done();
        let report = &reports[self.slot];
        report.next_window.store(next, Ordering::Relaxed);
        report.hops.store(done.hops, Ordering::Relaxed);
        report.flows_done.store(done.flows, Ordering::Relaxed);
        report.awaited_done.store(done.awaited, Ordering::Relaxed);
        if self.draining {
            report.unacknowledged.store(self.part.unacknowledged(), Ordering::Relaxed);
        }
    }

    /// Takes in the frames that other workers sent.
    pub fn take_in(&mut self, mail: &Mail<P>, abroad: Option<&Abroad<'_, P>>) {
        let to_here = mail.iter().skip(self.slot).step_by(self.workers);
        for parcels in to_here {
            for (mut parcel, attached) in lock(parcels).drain(..) {
                self.part.attach(&mut parcel, attached);
                self.part.wire().accept(parcel);
            }
        }
        if let Some(abroad) = abroad {
            let part = &mut self.part;
            abroad.collect(self.number, |mut parcel, attached| {
                part.attach(&mut parcel, attached);
                part.wire().accept(parcel);
            });
        }
    }

    /// Hands over the frames for other workers that were sent in windows from `begin` on.
    pub fn hand_over(&mut self, begin: u64, mail: &Mail<P>, abroad: Option<&Abroad<'_, P>>) {
        let from = self.slot * self.workers;
        // Number of the first part of this process.
        let first = usize::from(self.number) - self.slot;
        self.part.wire().hand_over(begin, &mut self.parcels);
        for (to, mut parcel) in self.parcels.drain(..) {
            let attached = self.part.detach(&mut parcel);
            match abroad {
                Some(abroad) if abroad.is_abroad(to) => {
                    abroad.post(self.slot, to, &parcel, &attached);
                    self.part.wire().recycle(parcel);
                }
                _ => lock(&mail[from + usize::from(to) - first]).push((parcel, attached)),
            }
        }
    }

    /// All finite flows have completed before the window that begins at `start`; from now on reports
    /// include the number of flows that are not acknowledged.
    pub fn drain(&mut self, start: Instant) {
        self.part.drain(start);
        self.draining = true;
    }

    /// Runs the nodes of a side, or all, through these windows, but not beyond the end of the run.
    pub fn run(&mut self, stretch: &Stretch, windows: Windows, end: Instant) {
        let Stretch { side, windows: numbers } = stretch;
        self.part.wire().advance(numbers.start);
        for block in 0..self.blocks.len() {
            if side.is_none_or(|side| side == self.blocks[block].side) {
                for window in numbers.clone() {
                    let times = (windows.start(window), windows.start(window + 1).min(end));
                    self.run_window(block, window, times, times.1 == end);
                }
            }
        }
        self.part.wire().set_current(numbers.end - 1);
    }

    /// Runs the nodes of a block that have something to do in this window, each to the end of the window.
    fn run_window(
        &mut self,
        number: usize,
        window: u64,
        (start, end): (Instant, Instant),
        past_end: bool,
    ) {
        let wire = self.part.wire();
        wire.set_current(window);
        let mut arrivals = wire.take(self.first_block + number);
        self.order.arrange(&arrivals);
        let block = &mut self.blocks[number];
        let waking = block.wakes.iter().enumerate().filter(|(_, wake)| **wake < end);
        waking.for_each(|(place, _)| self.order.add(place));
        // Most windows of a stretch may be empty.
        if self.order.next_due(0).is_none() {
            return self.part.wire().restore(self.first_block + number, arrivals);
        }
        let mut run = Window {
            start,
            end,
            arrivals: &mut arrivals,
            order: &mut self.order,
            wakes: &mut block.wakes,
            first: 0,
            ahead: self.looks_ahead.then(Ahead::default),
        };
        self.part.run(number, &mut run);
        self.order.clear();
        if past_end {
            // Arrivals after the end of the run stay in flight.
            arrivals.retain(|arrival| after(start, arrival) >= end);
        } else {
            arrivals.clear();
        }
        self.part.wire().restore(self.first_block + number, arrivals);
    }

    fn next_wake(&self, windows: Windows) -> u64 {
        match self.blocks.iter().flat_map(|block| &block.wakes).min() {
            None | Some(&Instant::NEVER) => u64::MAX,
            Some(&at) => windows.index(at),
        }
    }
}

/// The window in which nodes are being run.
pub struct Window<'a, F> {
    start: Instant,
    end: Instant,
    arrivals: &'a mut [Arrival<F>],
    order: &'a mut Order,
    wakes: &'a mut [Instant],
    /// Place of the first node of the next call.
    first: usize,
    /// `None` if the state of nodes is in the caches.
    ahead: Option<Ahead>,
}

/// Number of calls of [`Node::look_ahead`] for a frame.
pub const STEPS: usize = 4;

/// So many frames before a frame is handled it is asked for, and then what it needs, step by step.
const DISTANCES: [usize; 1 + STEPS] = [40, 32, 24, 16, 8];

/// Frames for which something was found and not used yet, at most.
const FOUND: usize = 32;

/// How far memory has been asked for.
#[derive(Default)]
struct Ahead {
    /// Position in the order of the next frame for each step.
    asked: [usize; 1 + STEPS],
    /// What the last step has found, by position.
    found: [u32; FOUND],
}

impl<F: Frame> Window<'_, F> {
    /// Runs those of these nodes that have something to do. Their places follow those of the nodes of
    /// the previous call. All nodes of a call are of one kind, so the same code stays in the instruction
    /// cache.
    pub fn run<C, N: Node<C, Frame = F>>(&mut self, nodes: &mut [N], context: &mut C) {
        match self.ahead.take() {
            None => self.run_nodes(nodes, context),
            Some(mut ahead) => {
                self.run_looking_ahead(nodes, &mut ahead, context);
                self.ahead = Some(ahead);
            }
        }
    }

    fn run_nodes<C, N: Node<C, Frame = F>>(&mut self, nodes: &mut [N], context: &mut C) {
        let first = self.first;
        self.first += nodes.len();
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
                arrive(&mut nodes[here], arrival, at, context);
            }
            self.wakes[place] = run_wakes(&mut nodes[here], self.end, context);
            next = self.order.next_due(place + 1);
        }
    }

    /// The same for nodes whose state is not in the caches.
    #[inline(never)]
    fn run_looking_ahead<C, N: Node<C, Frame = F>>(
        &mut self,
        nodes: &mut [N],
        ahead: &mut Ahead,
        context: &mut C,
    ) {
        let first = self.first;
        self.first += nodes.len();
        let mut next = self.order.next_due(first);
        if let Some(node) = next.and_then(|next| nodes.get(next - first)) {
            node.look_at_wakes(self.end);
        }
        while let Some(place) = next
            && let Some(here) = place.checked_sub(first)
            && here < nodes.len()
        {
            next = self.order.next_due(place + 1);
            if let Some(node) = next.and_then(|next| nodes.get(next - first)) {
                node.look_at_wakes(self.end);
            }
            for position in self.order.take_positions(place) {
                self.look_ahead(nodes, first, position, ahead);
                let Some(index) = self.order.index_at(position) else { break };
                let arrival = &mut self.arrivals[index];
                let at = after(self.start, arrival);
                if at >= self.end {
                    break;
                }
                arrive(&mut nodes[here], arrival, at, context);
            }
            self.wakes[place] = run_wakes(&mut nodes[here], self.end, context);
        }
    }

    /// Takes all steps for which it is time when the frame at this position is handled.
    #[inline]
    fn look_ahead<C, N: Node<C, Frame = F>>(
        &self,
        nodes: &[N],
        first: usize,
        position: usize,
        ahead: &mut Ahead,
    ) {
        for (step, distance) in DISTANCES.into_iter().enumerate() {
            while ahead.asked[step] <= position + distance
                && let Some(index) = self.order.index_at(ahead.asked[step])
            {
                let (arrival, number) = (&self.arrivals[index], ahead.asked[step]);
                if step == 0 {
                    floodway_prefetch::ask_for(arrival);
                } else {
                    // Nodes of another kind are looked at when they are run.
                    let node = (arrival.place as usize).checked_sub(first);
                    let Some(node) = node.and_then(|node| nodes.get(node)) else { break };
                    let found = &mut ahead.found[number % FOUND];
                    let before = if step == 1 { 0 } else { *found };
                    *found = node.look_ahead(&arrival.frame, step - 1, before);
                }
                ahead.asked[step] += 1;
            }
        }
    }
}

/// A frame arrives at a node.
#[inline(always)]
fn arrive<C, N: Node<C>>(
    node: &mut N,
    arrival: &mut Arrival<N::Frame>,
    at: Instant,
    context: &mut C,
) {
    // A node's own events come before arrivals at the same time.
    while node.next_wake() <= at {
        node.wake_until(node.next_wake(), at, context);
    }
    node.arrive(&mut arrival.frame, at, context);
}

/// The node's own events before `end`; returns the time of the next one.
#[inline(always)]
fn run_wakes<C, N: Node<C>>(node: &mut N, end: Instant, context: &mut C) -> Instant {
    while node.next_wake() < end {
        node.wake_until(node.next_wake(), end, context);
    }
    node.next_wake()
}

/// Arrival time of a frame that arrives in the window that begins at `start`.
#[inline]
fn after<F>(start: Instant, arrival: &Arrival<F>) -> Instant {
    Instant(start.0 + u64::from(arrival.after))
}
