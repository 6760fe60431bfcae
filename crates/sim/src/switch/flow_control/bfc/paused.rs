//! Which physical queues of a class the next hop has paused, the same in switches and NICs.

use floodway_model::{Duration, Instant};

use super::bits::Bits;

/// The paused physical queues of one class at one sending end.
#[derive(Debug, Default)]
pub struct Paused {
    queues: Bits,
    since: Vec<Instant>,
    /// Time paused, of the pauses that have ended.
    total: Duration,
}

impl Paused {
    /// Whether it may not send.
    #[inline]
    pub fn has(&self, queue: u8) -> bool {
        self.queues.has(queue)
    }

    /// All that may not send.
    #[inline]
    pub fn queues(&self) -> &Bits {
        &self.queues
    }

    /// The next hop has said that this one must stop, or may go on.
    pub fn set(&mut self, queue: u8, stop: bool, now: Instant) {
        if stop == self.has(queue) {
            return;
        }
        let at = usize::from(queue);
        if stop {
            self.queues.insert(queue);
            if self.since.len() <= at {
                self.since.resize(at + 1, Instant::ZERO);
            }
            self.since[at] = now;
        } else {
            self.queues.remove(queue);
            self.total += now.since(self.since[at]);
        }
    }

    /// Time paused until `now`, summed over the queues.
    pub fn total_at(&self, now: Instant) -> Duration {
        let running = self.queues.iter().map(|queue| now.since(self.since[usize::from(queue)]));
        running.fold(self.total, |total, time| total + time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_once_for_each_queue() {
        let mut paused = Paused::default();
        paused.set(3, true, Instant(100));
        paused.set(3, true, Instant(120));
        paused.set(200, true, Instant(150));
        assert_eq!(paused.total_at(Instant(160)), Duration(60 + 10));
        paused.set(3, false, Instant(170));
        paused.set(3, false, Instant(180));
        assert_eq!(paused.total_at(Instant(190)), Duration(70 + 40));
        assert!(paused.has(200) && !paused.has(3));
    }
}
