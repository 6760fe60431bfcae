//! Pauses sent to neighbors, and when to refresh them. The counters count frames actually sent:
//! none while a link is known to be down, because they would be lost. The pause state is kept
//! meanwhile and is sent when the link works again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant};

use super::{Order, Source};
use crate::link::Transmitter;

/// Pause state that one switch has sent to its neighbors.
#[derive(Debug)]
pub struct Ledger {
    /// By source.
    sources: Vec<Paused>,
    refreshes: BinaryHeap<Reverse<(Instant, Source)>>,
}

/// Properties of a pause on the link of a source.
#[derive(Clone, Copy, Debug)]
pub struct On {
    /// Duration of the pause.
    pub lasts: Duration,
    /// Whether a frame is sent, because the link is not known to be down.
    pub open: bool,
}

impl On {
    /// A pause of this many quanta on the link of this transmitter.
    pub fn link(tx: &Transmitter, quanta: u16) -> Self {
        Self { lasts: tx.lasts(quanta), open: !tx.is_closed() }
    }
}

/// Pause state sent to a source, with counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paused {
    /// When the current pause must be refreshed; `None` if the source is not paused.
    refresh_at: Option<Instant>,
    /// XOFF frames, without refreshes.
    pub xoffs: u64,
    /// Refreshes.
    pub refreshes: u64,
    /// XON frames.
    pub xons: u64,
}

impl Ledger {
    /// Initial state for this many ports: nothing is paused.
    pub fn new(ports: usize) -> Self {
        Self { sources: vec![Paused::default(); ports * CLASSES], refreshes: BinaryHeap::new() }
    }

    /// Records an order that is about to be executed. Its refresh is due after half of the pause
    /// time.
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

    /// Whether this mechanism keeps this source paused.
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

    /// A source whose pause must be refreshed now, if any; `on` gives the properties of its link.
    pub fn refresh(&mut self, now: Instant, on: impl Fn(Source) -> On) -> Option<Source> {
        while self.next_refresh() <= now {
            let Reverse((at, source)) = self.refreshes.pop().expect("there is a next one");
            // This entry is obsolete if the source was resumed, or paused again, in the meantime.
            if self.sources[source.index()].refresh_at == Some(at) {
                let on = on(source);
                self.sources[source.index()].refreshes += u64::from(on.open);
                self.arm(source, now, on.lasts);
                return Some(source);
            }
        }
        None
    }

    /// The link to this source, which is paused, works again: the pause is sent again.
    pub fn repeat(&mut self, source: Source, now: Instant, on: On) {
        self.carry_out(Order::Pause(source), now, on);
    }

    /// The pause state sent to class `class` at `port`.
    pub fn sent_pauses(&self, port: usize, class: usize) -> &Paused {
        &self.sources[Source::new(port, class).index()]
    }
}
