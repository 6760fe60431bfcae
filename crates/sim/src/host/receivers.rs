//! The receivers of a host. A receiver is made when its first packet arrives; when all of a RoCEv2 message has arrived,
//! what is kept of it is a third as large if the host has many, because only retransmissions can still arrive.

use floodway_model::{FlowId, Instant, Progressions};

use super::ended::reserve;
use super::receiver::{Receiver, Rest};
use super::{Shared, transport};

/// The receivers of a host, by index among the incoming flows.
#[derive(Debug)]
pub struct Receivers {
    /// By index: the place in `open`; the place in `complete`, with [`COMPLETE`] added; or [`NONE`].
    states: Vec<u32>,
    open: Vec<Receiver>,
    others: Box<Others>,
}

/// What is used once for a flow, and not once for a packet.
#[derive(Debug)]
struct Others {
    complete: Vec<Rest>,
    /// Sum of the sizes of the flows in `complete`, in bytes.
    bytes: u64,
    incoming: Progressions<FlowId>,
}

/// No packet has arrived.
const NONE: u32 = u32::MAX;

/// The message is complete, and its receiver has been put away.
const COMPLETE: u32 = 1 << 31;

/// Receivers that a host has before it puts any away: few take little memory, and that takes time.
const FEW: usize = 64;

/// What a receiver knows at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// When the message was complete; [`Instant::NEVER`] if it is not.
    pub finished: Instant,
    /// Payload bytes that have arrived, each counted once.
    pub delivered: u64,
    /// Packets that arrived with CE.
    pub marked: u32,
}

impl Receivers {
    /// For these flows.
    pub fn new(incoming: Progressions<FlowId>) -> Self {
        let (states, open) = (vec![NONE; incoming.len()], Vec::new());
        Self { states, open, others: Box::new(Others { complete: Vec::new(), bytes: 0, incoming }) }
    }

    /// Number of incoming flows.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// One more flow will come.
    pub fn add(&mut self, flow: FlowId) {
        self.states.push(NONE);
        self.others.incoming.push(flow);
    }

    /// Bytes of memory that all of it takes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        let Others { complete, incoming, .. } = &*self.others;
        self.states.capacity() * 4
            + self.open.capacity() * size_of::<Receiver>()
            + complete.capacity() * size_of::<Rest>()
            + incoming.bytes()
    }

    /// The flow with this index.
    pub fn flow(&self, place: u32) -> FlowId {
        self.others.incoming.at(place as usize)
    }

    /// Asks for where the receiver with this index is, and in the third step for it.
    #[inline]
    pub fn look(&self, place: u32, step: usize) {
        match (step, self.states.get(place as usize)) {
            (1, Some(state)) => floodway_prefetch::ask_for(state),
            (3, Some(&open)) => {
                let receiver = self.open.get(open as usize).into_iter();
                receiver.for_each(|receiver| floodway_prefetch::ask_for_lines(receiver, 3));
            }
            _ => {}
        }
    }

    /// The receiver with this index.
    #[inline]
    pub fn at(&mut self, place: u32, shared: &Shared) -> &mut Receiver {
        // All other states are larger than any place.
        let open = self.states[place as usize] as usize;
        if open >= self.open.len() {
            return self.make(place, shared);
        }
        &mut self.open[open]
    }

    /// The place in `complete` of the receiver with this index, if it has been put away.
    fn put_away_at(&self, place: u32) -> Option<usize> {
        let state = Some(self.states[place as usize]).filter(|state| *state != NONE)?;
        state.checked_sub(COMPLETE).map(|place| place as usize)
    }

    /// Makes the receiver with this index, as it was if it has been put away.
    #[inline(never)]
    fn make(&mut self, place: u32, shared: &Shared) -> &mut Receiver {
        let flow = self.flow(place);
        let (back, spec) = (shared.places.at(flow.index()).0, shared.flows.at(flow.index()));
        let mut receiver = Receiver::new(flow, &spec, back, shared.profile(flow));
        if let Some(rest) = self.put_away_at(place) {
            let rest = std::mem::take(&mut self.others.complete[rest]);
            self.others.bytes -= spec.bytes;
            receiver.restore(rest);
        }
        let last = self.open.len();
        self.open.push(receiver);
        self.states[place as usize] = last as u32;
        &mut self.open[last]
    }

    /// The message with this index is complete: keeps the rest of its receiver, if that is enough and there are many.
    #[inline]
    pub fn put_away(&mut self, place: u32, shared: &Shared) {
        if self.open.len() > FEW {
            self.keep_rest(place, shared);
        }
    }

    #[inline(never)]
    fn keep_rest(&mut self, place: u32, shared: &Shared) {
        let open = self.states[place as usize];
        let Some(rest) = self.open.get(open as usize).and_then(Receiver::rest) else { return };
        let receiver = self.open.swap_remove(open as usize);
        if let Some(moved) = self.open.get(open as usize) {
            self.states[shared.places.at(moved.flow.index()).1 as usize] = open;
        }
        reserve(&mut self.others.complete, self.states.len());
        self.others.bytes += receiver.delivered();
        self.others.complete.push(rest);
        self.states[place as usize] = COMPLETE + (self.others.complete.len() - 1) as u32;
    }

    /// What the receiver with this index knows.
    pub fn arrived(&self, place: u32, shared: &Shared) -> Arrived {
        if let Some(rest) = self.put_away_at(place) {
            let rest = &self.others.complete[rest];
            let delivered = shared.flows.at(self.flow(place).index()).bytes;
            return Arrived { finished: rest.finished_at, delivered, marked: rest.marked };
        }
        let none = Arrived { finished: Instant::NEVER, delivered: 0, marked: 0 };
        self.open.get(self.states[place as usize] as usize).map_or(none, Receiver::arrived)
    }

    /// For each unit of data of an application that the receiver with this index has: see
    /// [`Receiver::pushed`].
    pub fn pushed(&self, place: u32) -> &[(u32, Instant)] {
        self.open.get(self.states[place as usize] as usize).map_or(&[], Receiver::pushed)
    }

    /// The transport of the receiver with this index, if that has been made and not been put away.
    pub fn transport(&self, place: u32) -> Option<&transport::Receiver> {
        Some(&self.open.get(self.states[place as usize] as usize)?.transport)
    }

    /// Packets of all flows that arrived after one of the same flow that was sent later.
    pub fn reordered(&self) -> u64 {
        let open: u64 = self.open.iter().map(Receiver::reordered).sum();
        open + self.others.complete.iter().map(|rest| u64::from(rest.reordered)).sum::<u64>()
    }

    /// Payload bytes of all flows that have arrived, each counted once; and those of long-lived flows.
    pub fn delivered(&self) -> (u64, u64) {
        let open: u64 = self.open.iter().map(Receiver::delivered).sum();
        let persistent = self.open.iter().map(Receiver::delivered_of_persistent).sum();
        (open + self.others.bytes, persistent)
    }
}
