//! Proportional rate reduction (RFC 6937): how many segments an acknowledgement allows the sender
//! to send while the data in flight shrinks to the window after a congestion event.
//!
//! As in Linux, the proportion is that of the windows after and before. If the data in flight is
//! already too low, as much is sent as is delivered (CRB), plus one segment as long as the
//! acknowledgement advances and no further loss is found (SSRB).

/// One reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// The window before it.
    from: u32,
    delivered: u32,
    sent: u32,
}

impl Reduction {
    pub fn new(from: u32) -> Self {
        Self { from: from.max(1), delivered: 0, sent: 0 }
    }

    /// A segment is sent.
    #[inline]
    pub fn on_send(&mut self) {
        self.sent += 1;
    }

    /// An acknowledgement has arrived that newly reports `delivered` segments; `safe` if it
    /// advanced and revealed no loss. Returns the number of segments that may be in flight now, on
    /// the way to the window `to`; `None` if that does not change.
    pub fn on_ack(&mut self, to: u32, in_flight: u32, delivered: u32, safe: bool) -> Option<u32> {
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let (sent, all) = (i64::from(self.sent), i64::from(self.delivered));
        let room = i64::from(to) - i64::from(in_flight);
        let may = if room < 0 {
            let share = (u64::from(to) * u64::from(self.delivered)).div_ceil(self.from.into());
            share as i64 - sent
        } else {
            room.min((all - sent).max(delivered.into()) + i64::from(safe))
        };
        // The first retransmission is sent at once.
        let least = i64::from(self.sent == 0);
        Some(in_flight + may.max(least) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the first example of RFC 6937, section 4: 20 segments in flight, the first is lost, the
    /// window halves. The first two of the 19 others release two new segments, the third reveals the
    /// loss, and pipe is 22 - 3 - 1.
    #[test]
    fn one_loss() {
        let mut reduction = Reduction::new(20);
        let (mut in_flight, mut sent) = (18, Vec::new());
        for _ in 3..=19 {
            let may = reduction.on_ack(10, in_flight, 1, false).unwrap() - in_flight;
            (0..may).for_each(|_| reduction.on_send());
            sent.push(may);
            in_flight = in_flight + may - 1;
        }
        // ceil(d / 2) of the d segments delivered until then, as long as more than ten are in
        // flight.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]);
        assert_eq!(in_flight, 9);
    }

    /// As in its second example: 15 of 20 are lost, so that only five are delivered.
    #[test]
    fn a_burst_of_losses() {
        // All losses are found with the first acknowledgement: pipe is 4, below the target 10.
        let mut reduction = Reduction::new(20);
        let mut in_flight = 4;
        let mut sent = Vec::new();
        for _ in 0..5 {
            // The acknowledgement does not advance: by packet conservation, one segment is sent for
            // each that arrives.
            let may = reduction.on_ack(10, in_flight, 1, false).unwrap() - in_flight;
            (0..may).for_each(|_| reduction.on_send());
            sent.push(may);
            in_flight = in_flight + may - 1;
        }
        assert_eq!(sent, [1, 1, 1, 1, 1]);
        // As soon as it advances without another loss, two for each: slow start up to the target.
        let mut windows = Vec::new();
        for _ in 0..8 {
            let may = reduction.on_ack(10, in_flight, 1, true).unwrap() - in_flight;
            (0..may).for_each(|_| reduction.on_send());
            windows.push(in_flight + may);
            in_flight = in_flight + may - 1;
        }
        assert_eq!(windows, [6, 7, 8, 9, 10, 10, 10, 10]);
    }

    #[test]
    fn what_was_not_sent_when_it_could_be_is_made_up_for_in_time() {
        let mut reduction = Reduction::new(10);
        // The application had nothing to send for four acknowledgements.
        for _ in 0..4 {
            reduction.on_ack(5, 4, 1, false);
        }
        // Four segments may be sent in arrears and one more arrives, but the target has room for
        // only one.
        assert_eq!(reduction.on_ack(5, 4, 1, false), Some(5));
        assert_eq!(reduction.on_ack(9, 4, 1, false), Some(9));
    }

    #[test]
    fn nothing_new_changes_nothing_and_the_first_goes_at_once() {
        let mut reduction = Reduction::new(100);
        assert_eq!(reduction.on_ack(1, 90, 0, false), None);
        assert_eq!(reduction.on_ack(1, 90, 1, false), Some(91));
        reduction.on_send();
        assert_eq!(reduction.on_ack(1, 90, 1, false), Some(90));
    }
}
