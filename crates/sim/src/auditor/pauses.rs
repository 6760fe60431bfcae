//! From when to when the classes of a port are paused, by the pause frames that have arrived there.

use std::collections::VecDeque;

use floodway_model::Instant;
use floodway_model::id::CLASSES;

/// The pauses of one sending port.
#[derive(Debug, Default)]
pub struct Pauses {
    /// By class: the last times in which it was paused, disjoint and ascending.
    spans: [VecDeque<(Instant, Instant)>; CLASSES],
}

/// How many of a class are kept: more than a port can sit out with a packet waiting.
const KEPT: usize = 16;

impl Pauses {
    /// A pause frame arrives at `now`: these classes may not send before `until`, or may go on if that
    /// is `now`. `closed` is when the link is known to be down, which ends all pauses.
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

    /// Ends what runs when the link is known to be down.
    pub fn end(&mut self, now: Instant, closed: &[(Instant, Instant)]) {
        for &(from, _) in closed.iter().filter(|(from, _)| *from <= now) {
            let spans = self.spans.iter_mut().filter_map(VecDeque::back_mut);
            spans.filter(|(since, _)| *since < from).for_each(|(_, end)| *end = from.min(*end));
        }
    }

    /// Until when a class is paused, if it is at `now`.
    pub fn until(&self, class: usize, now: Instant) -> Option<Instant> {
        let span = self.spans[class].iter().find(|(from, until)| *from <= now && now < *until);
        span.map(|(_, until)| *until)
    }

    /// The first time from `at` on at which a class is not paused.
    pub fn free_from(&self, class: usize, mut at: Instant) -> Instant {
        while let Some(until) = self.until(class, at) {
            at = until;
        }
        at
    }
}
