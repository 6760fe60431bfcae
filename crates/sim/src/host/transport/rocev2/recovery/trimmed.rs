//! State of a sender about packets that switches have trimmed. Headers overtake data, so a negative acknowledgement
//! usually arrives before the acknowledgements of earlier packets, and arrivals of later packets do not indicate that a
//! trimmed packet is lost. Each trimmed transmission is repeated once. A reply about a transmission that has been
//! repeated already, because it arrived late or because of a timeout, is ignored.

use std::collections::VecDeque;

use floodway_model::Instant;

use crate::host::transport::numbers::Numbers;

/// Trimmed packets above the cumulative acknowledgement.
#[derive(Debug, Default)]
pub(super) struct Trimmed {
    /// Packets whose last known transmission was trimmed, whether retransmitted since or not.
    known: Numbers,
    /// Of these, packets that have not been retransmitted yet.
    wanted: Numbers,
    /// Packets that have been retransmitted for any reason, ascending, with the time of the last
    /// retransmission.
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

    /// A timeout: retransmitted packets are considered lost.
    pub fn on_timeout(&mut self) {
        self.known = self.wanted.clone();
    }

    /// `psn` is retransmitted now.
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

    /// Whether a packet must be retransmitted.
    pub fn wants(&self, psn: u32) -> bool {
        self.wanted.contains(psn)
    }

    /// Whether any packet must be retransmitted.
    pub fn wants_any(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The next packet to retransmit.
    pub fn next(&self) -> Option<u32> {
        self.wanted.first()
    }
}

#[cfg(test)]
mod tests {
    use super::super::selective_repeat::{Spec, State};
    use floodway_model::Instant;

    /// State after sending ten packets, one per nanosecond from 0 on; switches may trim.
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
        // Before its header, which was late, arrives, 3 is the only packet missing, is considered lost and is
        // retransmitted.
        state.on_ack(3);
        state.on_arrived(4, at(20));
        assert_eq!(lost(&mut state, 20), [3]);
        state.on_trimmed(3, at(3));
        assert_eq!(lost(&mut state, 21), [0; 0]);
        // The retransmission is trimmed too, and so is the next one.
        state.on_trimmed(3, at(20));
        assert_eq!(lost(&mut state, 22), [3]);
        state.on_trimmed(3, at(22));
        state.on_trimmed(3, at(22));
        assert_eq!(lost(&mut state, 23), [3]);
        // It arrives before a reply about another transmission.
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
        // 1 may have been lost again, 2 has not been retransmitted yet, 0, 3 and 4 are missing, and 9 is the
        // probe.
        state.on_timeout(0, 9);
        assert_eq!(lost(&mut state, 30), [2, 0, 1, 3, 4, 9]);
    }
}
