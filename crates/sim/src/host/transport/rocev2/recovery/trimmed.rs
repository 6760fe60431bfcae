//! What a sender knows of packets that switches have trimmed. Headers overtake data, so a negative acknowledgement
//! usually comes before the acknowledgements of earlier packets, and what comes behind a trimmed packet does not say that it
//! is lost. Each transmission that is trimmed is repeated once: an answer about a transmission that has been repeated
//! already, because it came late or because time ran out, is ignored.

use std::collections::VecDeque;

use floodway_model::Instant;

use crate::host::transport::numbers::Numbers;

/// Trimmed packets above the cumulative acknowledgement.
#[derive(Debug, Default)]
pub(super) struct Trimmed {
    /// Packets whose last known transmission was trimmed: to be sent again, or sent again since.
    known: Numbers,
    /// Of these, the ones that are still to be sent again.
    wanted: Numbers,
    /// Packets that have been sent again, for whatever reason, ascending, and when last.
    repeated: VecDeque<(u32, Instant)>,
}

impl Trimmed {
    /// The transmission of `psn` that began at `sent_at` was trimmed.
    pub fn add(&mut self, psn: u32, sent_at: Instant) {
        let stale = match self.place(psn) {
            Ok(place) => sent_at < self.repeated[place].1,
            Err(_) => false,
        };
        if !stale {
            self.known.insert(psn);
            self.wanted.insert(psn);
        }
    }

    /// Everything below `psn` has arrived.
    pub fn forget_below(&mut self, psn: u32) {
        self.known.forget_below(psn);
        self.wanted.forget_below(psn);
        while self.repeated.front().is_some_and(|&(first, _)| first < psn) {
            self.repeated.pop_front();
        }
    }

    /// A transmission of `psn` has arrived.
    pub fn on_arrived(&mut self, psn: u32) {
        self.wanted.remove(psn);
    }

    /// What has been sent again counts as lost.
    pub fn on_timeout(&mut self) {
        self.known = self.wanted.clone();
    }

    /// `psn` is sent again now.
    pub fn on_repeated(&mut self, psn: u32, now: Instant) {
        self.wanted.remove(psn);
        match self.place(psn) {
            Ok(place) => self.repeated[place].1 = now,
            Err(place) => self.repeated.insert(place, (psn, now)),
        }
    }

    fn place(&self, psn: u32) -> Result<usize, usize> {
        self.repeated.binary_search_by_key(&psn, |&(other, _)| other)
    }

    /// The first packet from `from` on that is not known to be trimmed.
    pub fn next_unknown(&self, from: u32) -> u32 {
        self.known.next_absent(from)
    }

    /// Whether a packet is to be sent again.
    pub fn wants(&self, psn: u32) -> bool {
        self.wanted.contains(psn)
    }

    /// Whether any is.
    pub fn wants_any(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The next packet to send again.
    pub fn next(&self) -> Option<u32> {
        self.wanted.first()
    }
}

#[cfg(test)]
mod tests {
    use super::super::selective_repeat::{Spec, State};
    use floodway_model::Instant;

    /// Of ten packets, sent one per nanosecond from 0 on; switches may trim.
    fn state() -> State {
        let mut state = State::new(&Spec::default());
        state.expect_headers();
        state
    }

    fn at(ns: u64) -> Instant {
        Instant(ns * 1_000)
    }

    fn lost(state: &mut State, ns: u64) -> Vec<u32> {
        let mut lost = Vec::new();
        while state.has_lost() {
            lost.extend(state.next_lost(at(ns)));
        }
        assert_eq!(state.next_lost(at(ns)), None);
        lost
    }

    #[test]
    fn what_comes_behind_a_trimmed_packet_does_not_lose_it() {
        let mut state = state();
        state.on_trimmed(3, at(3));
        assert_eq!(lost(&mut state, 20), [3]);
        // 0 to 2 arrive, then 4 and 6: only 5 is lost.
        state.on_ack(3);
        state.on_arrived(4, at(21));
        assert_eq!(lost(&mut state, 21), [0; 0]);
        state.on_arrived(6, at(22));
        assert_eq!(lost(&mut state, 22), [5]);
    }

    #[test]
    fn each_trimmed_transmission_is_repeated_once() {
        let mut state = state();
        // Before it is known to be trimmed, 3 is the only one missing and taken for lost and repeated: its header was late.
        state.on_ack(3);
        state.on_arrived(4, at(20));
        assert_eq!(lost(&mut state, 20), [3]);
        state.on_trimmed(3, at(3));
        assert_eq!(lost(&mut state, 21), [0; 0]);
        // The repetition is trimmed too, and so is the one after it.
        state.on_trimmed(3, at(20));
        assert_eq!(lost(&mut state, 22), [3]);
        state.on_trimmed(3, at(22));
        state.on_trimmed(3, at(22));
        assert_eq!(lost(&mut state, 23), [3]);
        // It arrives before an answer about another transmission.
        state.on_arrived(3, at(24));
        state.on_trimmed(3, at(23));
        assert_eq!(lost(&mut state, 25), [0; 0]);
    }

    #[test]
    fn a_timeout_repeats_what_was_repeated_and_not_what_waits() {
        let mut state = state();
        [1, 2].iter().for_each(|&psn| state.on_trimmed(psn, at(psn.into())));
        assert_eq!(state.next_lost(at(20)), Some(1));
        state.on_arrived(5, at(21));
        // 1 may have been lost again, 2 is still to be repeated, 0, 3 and 4 are missing, and 9 is the probe.
        state.on_timeout(0, 9);
        assert_eq!(lost(&mut state, 30), [2, 0, 1, 3, 4, 9]);
    }
}
