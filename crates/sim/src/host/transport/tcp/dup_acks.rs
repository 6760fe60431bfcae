//! Loss detection by duplicate acknowledgements: a segment is lost if three that were sent after it
//! are selectively acknowledged (RFC 6675, `IsLost` with DupThresh 3; RFC 3517 before it). That the
//! first two release new segments (RFC 3042) follows from the count of packets in flight. Lost
//! retransmissions and lost tails are detected only by the retransmission timer.

use super::scoreboard::Scoreboard;

/// Number of selectively acknowledged segments above a lost one.
const DUP_THRESHOLD: usize = 3;

/// The state of a connection.
#[derive(Debug, Default)]
pub(super) struct DupAcks {
    /// The highest selectively acknowledged sequence numbers, in descending order. Those that have
    /// been cumulatively acknowledged since are below every segment that can be lost.
    highest: [Option<u32>; DUP_THRESHOLD],
}

impl DupAcks {
    /// A segment is selectively acknowledged for the first time.
    #[inline]
    pub fn on_sacked(&mut self, psn: u32) {
        let place = self.highest.iter().position(|&other| other < Some(psn));
        if let Some(place) = place {
            self.highest[place..].rotate_right(1);
            self.highest[place] = Some(psn);
        }
    }

    /// The next lost segment.
    #[inline]
    pub fn next_lost(&self, board: &mut Scoreboard) -> Option<u32> {
        let third = self.highest[DUP_THRESHOLD - 1]?;
        board.first_original().map(|(psn, _)| psn).filter(|&psn| psn < third)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_highest_counts_in_any_order() {
        let mut dup_acks = DupAcks::default();
        for (psn, third) in
            [(7, None), (3, None), (9, Some(3)), (5, Some(5)), (4, Some(5)), (12, Some(7))]
        {
            dup_acks.on_sacked(psn);
            assert_eq!(dup_acks.highest[2], third, "{psn}");
        }
    }
}
