//! What neighbours were told, and when it has to be said again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant};

use super::{Order, Source};

/// What the neighbours of one switch were told.
#[derive(Debug)]
pub struct Ledger {
    /// By source.
    sources: Vec<Paused>,
    refreshes: BinaryHeap<Reverse<(Instant, Source)>>,
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

    /// Books an order that is about to be carried out; `pause` is how long a pause lasts on that
    /// link. Its refresh is due when half of it has passed.
    pub fn carry_out(&mut self, order: Order, now: Instant, pause: Duration) {
        match order {
            Order::Pause(source) => {
                let paused = &mut self.sources[source.index()];
                paused.xoffs += 1;
                self.arm(source, now, pause);
            }
            Order::Resume(source) => {
                let paused = &mut self.sources[source.index()];
                paused.refresh_at = None;
                paused.xons += 1;
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

    /// A source whose pause must be refreshed now; `pause` as above gives how long it then lasts.
    pub fn refresh(&mut self, now: Instant, pause: impl Fn(Source) -> Duration) -> Option<Source> {
        while self.next_refresh() <= now {
            let Reverse((at, source)) = self.refreshes.pop().expect("there is a next one");
            // Resumed since, or paused anew: then this alarm is void.
            if self.sources[source.index()].refresh_at == Some(at) {
                self.sources[source.index()].refreshes += 1;
                self.arm(source, now, pause(source));
                return Some(source);
            }
        }
        None
    }

    /// This source, which is paused, is told so again at once; `pause` as above.
    pub fn repeat(&mut self, source: Source, now: Instant, pause: Duration) {
        self.sources[source.index()].refreshes += 1;
        self.arm(source, now, pause);
    }

    /// What the class `class` at `port` was told.
    pub fn told(&self, port: usize, class: usize) -> &Paused {
        &self.sources[Source::new(port, class).index()]
    }
}
