//! A run that its caller takes forward in steps, and whose nodes it may change between them.

use std::time::Duration;

use floodway_model::Instant;

use crate::governor::Governor;
use crate::threads::{Position, Threads};
use crate::windows::Windows;
use crate::worker::Worker;
use crate::{Layout, Limits, Part, Stop, places};

/// A run that stands between two windows. Results do not depend on where it stopped in between: it runs the same
/// windows with the same nodes as [`run`](crate::run).
pub struct Steps<P: Part> {
    workers: Vec<Worker<P>>,
    windows: Windows,
    position: Position,
    /// Time for which a step has one thread.
    alone: Duration,
}

/// Starting a thread takes some tens of microseconds, and many steps take less.
const ALONE: Duration = Duration::from_micros(200);

impl<P: Part> Steps<P> {
    /// A run of these parts, which are those of the layout in order, before its first window. The layout has no
    /// blocks: what happens in a window is known after it.
    pub fn new(parts: Vec<P>, layout: &Layout) -> Self {
        assert!(!layout.has_sides(), "between two steps all nodes have run the same windows");
        let (places, slots) = (places(parts.iter().map(Part::nodes), layout), parts.len());
        let workers = parts.into_iter().enumerate();
        let workers = workers
            .map(|(slot, part)| Worker::new((slot, slots), slot, part, layout, &places))
            .collect();
        let position = Position::start(layout.schedule());
        Self { workers, windows: layout.windows(), position, alone: ALONE }
    }

    /// Starts the other threads when a step has taken so long, instead of 200 us. Results do not depend on it.
    pub fn alone_for(&mut self, alone: Duration) {
        self.alone = alone;
    }

    /// End of the last window that was run. What happens from here on is not decided yet.
    pub fn simulated(&self) -> Instant {
        self.position.simulated
    }

    /// The end of the window that contains this time.
    pub fn window_end(&self, at: Instant) -> Instant {
        self.windows.start(self.windows.index(at) + 1)
    }

    /// The parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &P> {
        self.workers.iter().map(|worker| &worker.part)
    }

    /// The parts, in order, to be changed. No event may be added before [`Self::simulated`].
    pub fn parts_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.workers.iter_mut().map(|worker| &mut worker.part)
    }

    /// Reads the times of the nodes' own events again, after they were changed.
    pub fn wakes_have_changed(&mut self) {
        self.workers.iter_mut().for_each(Worker::read_wakes);
    }

    /// Runs windows as [`run`](crate::run) does, until the limits are reached; returns which, and the time. The
    /// end must be that of a window ([`Self::window_end`]), unless it is the end of the whole run, after which there are no
    /// more steps with a later end.
    pub fn advance(&mut self, limits: &Limits<'_>) -> (Stop, Instant) {
        self.position.past_end &= limits.end <= self.position.simulated;
        let workers = std::mem::take(&mut self.workers);
        let (all, alone) = (workers.len(), self.alone);
        let mut governor = Governor::new(all);
        let mut running = Threads::new(workers, self.windows, limits, None, self.position);
        let mut is_alone = all > 1 && alone > Duration::ZERO;
        if is_alone {
            running = running.alone();
        }
        let ended = running.run(|now| {
            if !is_alone {
                return governor.look(now);
            }
            is_alone = now.wall < alone;
            (!is_alone).then_some(all)
        });
        self.position = running.position();
        self.workers = running.into_workers().collect();
        ended
    }

    /// The parts in their final state.
    pub fn finish(self) -> Vec<P> {
        self.workers.into_iter().map(|worker| worker.part).collect()
    }
}
