//! What neighbours were told, and when it has to be said again. Counted are the frames that tell it:
//! there are none while a link is known to be down, when nobody would hear them, but what holds is
//! known when it works again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant};

use super::{Order, Source};
use crate::link::Transmitter;

/// What the neighbours of one switch were told.
#[derive(Debug)]
pub struct Ledger {
    /// By source.
    sources: Vec<Paused>,
    refreshes: BinaryHeap<Reverse<(Instant, Source)>>,
}

/// What a pause is like on the link of a source.
#[derive(Clone, Copy, Debug)]
pub struct On {
    /// How long it lasts.
    pub lasts: Duration,
    /// Whether a frame is sent, because the link is not known to be down.
    pub open: bool,
}

impl On {
    /// A pause of so many quanta on the link of this sending end.
    pub fn link(tx: &Transmitter, quanta: u16) -> Self {
        Self { lasts: tx.lasts(quanta), open: !tx.is_closed() }
    }
}

/// What a source was told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paused {
    /// When the running pause must be refreshed; `None` if it is not paused.
    refresh_at: Option<Instant>,
    /// XOFF frames, without refreshes.
    pub xoffs: u64,
    /// Refreshes.
    pub refreshes: u64,
    /// XON frames.
    pub xons: u64,
}

impl Ledger {
    /// Nothing yet, to the neighbours at this many ports.
    pub fn new(ports: usize) -> Self {
        Self { sources: vec![Paused::default(); ports * CLASSES], refreshes: BinaryHeap::new() }
    }

    /// Books an order that is about to be carried out. Its refresh is due when half of the pause has
    /// passed.
    pub fn carry_out(&mut self, order: Order, now: Instant, on: On) {
        match order {
            Order::Pause(source) => {
                self.sources[source.index()].xoffs += u64::from(on.open);
                self.arm(source, now, on.lasts);
            }
            Order::Resume(source) => {
                let paused = &mut self.sources[source.index()];
                paused.refresh_at = None;
                paused.xons += u64::from(on.open);
            }
        }
    }

    /// Whether this source is paused now, as far as this mechanism goes.
    pub fn holds(&self, source: Source) -> bool {
        self.sources[source.index()].refresh_at.is_some()
    }

    fn arm(&mut self, source: Source, now: Instant, pause: Duration) {
        let at = now + Duration(pause.0 / 2);
        self.sources[source.index()].refresh_at = Some(at);
        self.refreshes.push(Reverse((at, source)));
    }

    /// When a pause must be refreshed next.
    pub fn next_refresh(&self) -> Instant {
        self.refreshes.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at)
    }

    /// A source whose pause must be refreshed now; `on` says what its link is like.
    pub fn refresh(&mut self, now: Instant, on: impl Fn(Source) -> On) -> Option<Source> {
        while self.next_refresh() <= now {
            let Reverse((at, source)) = self.refreshes.pop().expect("there is a next one");
            // Resumed since, or paused anew: then this timer is void.
            if self.sources[source.index()].refresh_at == Some(at) {
                let on = on(source);
                self.sources[source.index()].refreshes += u64::from(on.open);
                self.arm(source, now, on.lasts);
                return Some(source);
            }
        }
        None
    }

    /// The link to this source, which is to be paused, works again: it is stopped anew.
    pub fn repeat(&mut self, source: Source, now: Instant, on: On) {
        self.carry_out(Order::Pause(source), now, on);
    }

    /// What the class `class` at `port` was told.
    pub fn sent_pauses(&self, port: usize, class: usize) -> &Paused {
        &self.sources[Source::new(port, class).index()]
    }
}
