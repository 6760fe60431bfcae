//! Pause intervals of the classes of a port, derived from the pause frames that have arrived there.

use std::collections::VecDeque;

use floodway_model::Instant;
use floodway_model::id::CLASSES;

/// The pauses of one sending port.
#[derive(Debug, Default)]
pub struct Pauses {
    /// The most recent pause intervals by class, disjoint and ascending.
    spans: [VecDeque<(Instant, Instant)>; CLASSES],
}

/// Number of intervals kept per class: more than a packet can be queued through.
const KEPT: usize = 16;

impl Pauses {
    /// A pause frame arrives at `now`: these classes may not send before `until`, or may resume if
    /// that equals `now`. `closed` has the intervals in which the link is known to be down, which end
    /// all pauses.
    pub fn set(
        &mut self,
        classes: u8,
        now: Instant,
        until: Instant,
        closed: &[(Instant, Instant)],
    ) {
        if closed.iter().any(|&(from, up)| from <= now && now < up) {
            return;
        }
        self.end(now, closed);
        for (_, spans) in
            self.spans.iter_mut().enumerate().filter(|(class, _)| classes >> class & 1 != 0)
        {
            match spans.back_mut() {
                Some((_, end)) if *end >= now => *end = until,
                _ if until > now => spans.push_back((now, until)),
                _ => {}
            }
            if spans.len() > KEPT {
                spans.pop_front();
            }
        }
    }

    /// Ends current pauses when the link is known to be down.
    pub fn end(&mut self, now: Instant, closed: &[(Instant, Instant)]) {
        for &(from, _) in closed.iter().filter(|(from, _)| *from <= now) {
            let spans = self.spans.iter_mut().filter_map(VecDeque::back_mut);
            spans.filter(|(since, _)| *since < from).for_each(|(_, end)| *end = from.min(*end));
        }
    }

    /// End of the pause of a class that is paused at `now`.
    pub fn until(&self, class: usize, now: Instant) -> Option<Instant> {
        let span = self.spans[class].iter().find(|(from, until)| *from <= now && now < *until);
        span.map(|(_, until)| *until)
    }

    /// First time at or after `at` at which a class is not paused.
    pub fn free_from(&self, class: usize, mut at: Instant) -> Instant {
        while let Some(until) = self.until(class, at) {
            at = until;
        }
        at
    }
}
