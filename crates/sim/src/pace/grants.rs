//! Slots that are granted on request, as in the upstream of DOCSIS: time is divided into MAP intervals, the modem asks for what
//! it has queued, and sends it in an interval for which the other end has granted it.
//!
//! - A request goes at the start of every interval, with data that is sent there (piggybacked) or else in a contention slot.
//!   Requests do not collide. This is how the DOCSIS module of ns-3 has them (CableLabs, `docsis-ns3`, model overview), except
//!   that contention slots are at random places of the interval there.
//! - The grant is for the first interval that begins no sooner than a fixed time after the request. It begins with that
//!   interval, is as long as what was requested, and goes on in the next ones if one is too short. Frames follow each other
//!   in it without a gap, and need not end with an interval (continuous concatenation and fragmentation, DOCSIS 3.0 and later).
//! - With proactive grants (proactive grant service, DOCSIS 3.1), the first part of every interval is granted without a
//!   request. It is lost if there is nothing to send. What was requested and leaves sooner in such a part is granted in vain.
//!
//! A frame is taken from its queue when it is requested: so early that its grant may follow the frame before it without a gap,
//! and no sooner. For frames that leave in the order of their arrival, their times are then those of a modem that keeps them
//! queued until the slot; what the queue itself holds, and how long packets wait in it, is less by the time between request
//! and slot.

use floodway_model::{Duration, Instant};
use serde::Serialize;

/// When slots are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Grants {
    /// The MAP interval.
    pub interval: Duration,
    /// From a request to the earliest start of the interval for which it is granted.
    pub delay: Duration,
    /// Granted without a request at the start of every interval, at most all of it.
    pub proactive: Duration,
}

impl Grants {
    /// When the slot begins that is granted to a frame taken from its queue at this time.
    fn granted(&self, taken: Instant) -> Instant {
        let next_from = |at: u64| at.next_multiple_of(self.interval.0);
        Instant(next_from(next_from(taken.0) + self.delay.0))
    }

    /// The longest time from taking a frame to its slot, if nothing is ahead of it: up to an interval until the request, and
    /// whole intervals until the grant.
    pub fn ahead(&self) -> Duration {
        Duration(self.interval.0 + self.delay.0.next_multiple_of(self.interval.0))
    }

    /// When the last bit of a frame leaves that is taken at `taken` and needs `time` on the wire, behind another that leaves at
    /// `last`.
    pub fn leaves(&self, taken: Instant, last: Instant, time: Duration) -> Instant {
        let (from, granted) = (taken.max(last), self.granted(taken));
        if from >= granted {
            return from + time;
        }
        let before = self.until(from);
        let without = self.until(granted) - before;
        match without >= time.0 {
            true => self.reached(before + time.0),
            false => granted + Duration(time.0 - without),
        }
    }

    /// Time granted without a request up to this one.
    fn until(&self, at: Instant) -> u64 {
        let (intervals, rest) = (at.0 / self.interval.0, at.0 % self.interval.0);
        intervals * self.proactive.0 + rest.min(self.proactive.0)
    }

    /// When as much time, which is above zero, has been granted without a request.
    fn reached(&self, sum: u64) -> Instant {
        let intervals = (sum - 1) / self.proactive.0;
        Instant(intervals * self.interval.0 + sum - intervals * self.proactive.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::{By, Pacing};

    const MS: u64 = 1_000_000_000;

    /// Intervals of 2 ms, a grant 1.5 ms after the request or later, in tenths of a millisecond of proactive grants.
    fn grants(proactive: u64) -> Grants {
        Grants {
            interval: Duration(2 * MS),
            delay: Duration(MS * 3 / 2),
            proactive: Duration(proactive * MS / 10),
        }
    }

    /// Frames of half a millisecond that arrive at these times, in tenths of a millisecond, and wait in a queue until the pace
    /// takes them: when each one leaves, in the same unit.
    fn leave(grants: Grants, arrivals: &[u64]) -> Vec<u64> {
        let mut pacing = Pacing::new(&By::Grants(grants));
        let mut free = Instant::ZERO;
        let time = Duration(MS / 2);
        let one = |&arrival: &u64| {
            let now = free.max(Instant(arrival * MS / 10));
            let (left, next) = pacing.send(1_000, 1_020, now, now + time);
            free = next;
            assert_eq!(left.0 % (MS / 10), 0);
            left.0 / (MS / 10)
        };
        arrivals.iter().map(one).collect()
    }

    /// By hand: a request at a multiple of 2 ms is granted 2 ms later. A packet waits for the request up to 2 ms, and takes 0.5
    /// ms on the wire: from 2.5 ms, if it comes just in time for a request, to 4.5 ms, if it just misses one.
    #[test]
    fn a_packet_waits_for_its_request_and_for_its_grant() {
        for (arrival, leaves) in [(0, 25), (1, 45), (10, 45), (20, 45), (21, 65), (1_000, 1_025)] {
            assert_eq!(leave(grants(0), &[arrival]), [leaves], "{arrival}");
        }
        // A grant that takes more than an interval comes with the one after.
        let slow = Grants { delay: Duration(MS * 5 / 2), ..grants(0) };
        assert_eq!(leave(slow, &[0]), [45]);
        let exact = Grants { delay: Duration(2 * MS), ..grants(0) };
        assert_eq!(leave(exact, &[0]), [25]);
    }

    /// By hand: arrivals that are uniform in an interval wait for half of it on average, 1 ms, and for the grant 2 ms.
    #[test]
    fn the_mean_delay_is_that_of_half_an_interval_and_of_the_grant() {
        let delays = (0..2_000).map(|number| {
            let arrival = Instant(40 * MS + MS / 1_000 * number + MS / 2_000);
            grants(0).leaves(arrival, Instant::ZERO, Duration(MS)).since(arrival).0 - MS
        });
        let (mut sum, mut longest) = (0, 0);
        delays.for_each(|delay| (sum, longest) = (sum + delay, longest.max(delay)));
        assert_eq!(sum / 2_000, 3 * MS);
        assert!(longest > 4 * MS - MS / 1_000 && longest < 4 * MS, "{longest}");
    }

    /// By hand: six packets at once are requested together and follow each other from 2 ms on, also from one interval to the
    /// next. One that comes at 1 ms is requested at 2 ms, for 4 ms, and follows them. A last one comes when it is idle again.
    #[test]
    fn a_burst_leaves_without_gaps() {
        let arrivals = [0, 0, 0, 0, 0, 0, 10, 95];
        assert_eq!(leave(grants(0), &arrivals), [25, 30, 35, 40, 45, 50, 55, 125]);
        // Two at 0 and one at 0.1 ms: those of the first request have left at 3 ms, and the third has its slot at 4 ms.
        assert_eq!(leave(grants(0), &[0, 0, 1]), [25, 30, 45]);
    }

    /// A saturated line sends at its rate: 1000 packets of 0.5 ms, after the first 2 ms. Taken early or not, each one leaves
    /// when a modem would send it that keeps it queued until the slot.
    #[test]
    fn a_saturated_line_has_its_rate() {
        let left = leave(grants(0), &[0; 1_000]);
        assert!(left.iter().zip(1..).all(|(left, count)| *left == 20 + 5 * count));
        // The same as a recursion over arrivals, for arrivals at irregular times.
        let arrivals: Vec<u64> = (0..500)
            .scan(0, |at, n: u64| {
                Some({
                    *at += n * n % 13;
                    *at
                })
            })
            .collect();
        let (mut last, mut expected) = (0, Vec::new());
        for arrival in &arrivals {
            let request = arrival.div_ceil(20) * 20;
            last = last.max(request + 20) + 5;
            expected.push(last);
        }
        assert_eq!(leave(grants(0), &arrivals), expected);
    }

    /// By hand, with 0.8 ms of each interval granted without a request. A packet at 0.1 ms has 0.5 of the 0.7 ms that are left
    /// of it. One at 0.6 ms has 0.2 ms there and the rest at 2 ms, when no request could have been granted. Four at 0.1 ms
    /// leave at 0.6, 2.3, 2.8 and 4.5: the third ends with the slot at 2 ms, and the fourth has the grant for the request at 2
    /// ms.
    #[test]
    fn proactive_grants_need_no_request() {
        assert_eq!(leave(grants(8), &[1]), [6]);
        assert_eq!(leave(grants(8), &[6]), [23]);
        assert_eq!(leave(grants(8), &[10]), [25]);
        assert_eq!(leave(grants(8), &[1, 1, 1, 1]), [6, 23, 28, 45]);
        // Requested at 0: from 2 ms on, everything is theirs.
        assert_eq!(leave(grants(8), &[0, 0, 0, 0]), [5, 22, 27, 32]);
        // All of it: as a link without grants.
        assert_eq!(leave(grants(20), &[1, 3, 30]), [6, 11, 35]);
    }
}
