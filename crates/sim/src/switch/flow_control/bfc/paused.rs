//! The physical queues of a class that the next hop has paused; used in switches and NICs.

use floodway_model::{Duration, Instant};

use super::bits::Bits;

/// The paused physical queues of one class at one transmitter.
#[derive(Debug, Default)]
pub struct Paused {
    queues: Bits,
    since: Vec<Instant>,
    /// Total duration of the pauses that have ended.
    total: Duration,
}

impl Paused {
    /// Whether a physical queue is paused.
    #[inline]
    pub fn has(&self, queue: u8) -> bool {
        self.queues.has(queue)
    }

    /// All paused physical queues.
    #[inline]
    pub fn queues(&self) -> &Bits {
        &self.queues
    }

    /// The next hop has paused or resumed a physical queue.
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

    /// Total time paused until `now`, summed over the physical queues.
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
