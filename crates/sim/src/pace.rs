//! Ports that send at less than the rate of their link: at the times of a trace, through a shaper, or in granted slots.
//!
//! A trace has *delivery opportunities*, as the link emulator of Mahimahi has them (Netravali et al., USENIX ATC 2015): at
//! each of its times a number of bytes may leave. A frame that needs more than an opportunity has left takes the rest from
//! the following ones. What remains of an opportunity serves the frames that follow without a gap; otherwise it is lost. When
//! the trace ends, it begins again. The last bit of a frame leaves when its last byte has an opportunity, but no sooner than
//! the rate of the link allows.
//!
//! A shaper lets the next frame begin when all frames before it would have left at its rate, or earlier by the time that
//! its burst takes at that rate: the generic cell rate algorithm (ITU-T I.371, Annex A) with frames of different lengths.
//! Each frame itself leaves at the rate of the link.
//!
//! Granted slots are in [`grants`].

pub mod grants;

use floodway_model::line::{Counting, Framing};
use floodway_model::units::ByteTime;
use floodway_model::{Bytes, Duration, Instant, NodeId, PortIx, Rate};
use serde::Serialize;

use crate::Spec;
use grants::Grants;

/// Bytes of an opportunity: an IP packet of 1500 and four that Mahimahi adds to it (its `PACKET_SIZE`).
pub const OPPORTUNITY: u64 = 1_504;

/// How Mahimahi counts the bytes of a packet.
const AS_IN_A_TRACE: Counting = Counting { overhead: Some(4), mpu: 0, framing: Framing::None };

/// What one direction of a link is held to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pace {
    /// The node that sends.
    pub node: NodeId,
    /// The port there.
    pub port: PortIx,
    /// By what.
    pub by: By,
}

/// What decides when frames leave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum By {
    /// A trace.
    Trace(Trace),
    /// A shaper.
    Shaper {
        /// Its rate, of all bytes on the wire.
        rate: Rate,
        /// Bytes by which frames may be ahead of it.
        burst: Bytes,
    },
    /// Grants on request.
    Grants(Grants),
}

/// The delivery opportunities of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// Times, each later than the one before, with the number of opportunities then. The last time is the period: it is
    /// the time 0 of the next round.
    opportunities: Vec<(Duration, u64)>,
}

impl Trace {
    /// From times that do not decrease, of which the last is above zero; `None` if they are not like that.
    pub fn new(times: impl IntoIterator<Item = Duration>) -> Option<Self> {
        let mut opportunities: Vec<(Duration, u64)> = Vec::new();
        for time in times {
            match opportunities.last_mut() {
                Some((last, _)) if time < *last => return None,
                Some((last, count)) if time == *last => *count += 1,
                _ => opportunities.push((time, 1)),
            }
        }
        let last = opportunities.last()?.0;
        (last > Duration::ZERO).then_some(Self { opportunities })
    }

    /// Bytes of all opportunities up to a time, included.
    pub fn bytes_until(&self, time: Instant) -> u64 {
        let count = |within: Duration| -> u64 {
            let due = self.opportunities.iter().take_while(|(time, _)| *time <= within);
            due.map(|(_, count)| count).sum()
        };
        let (rounds, rest) = (time.0 / self.period().0, time.0 % self.period().0);
        (rounds * count(self.period()) + count(Duration(rest))) * OPPORTUNITY
    }

    /// After which time it begins again.
    pub fn period(&self) -> Duration {
        self.opportunities.last().map_or(Duration::ZERO, |(last, _)| *last)
    }

    /// Its mean rate, in bit/s of packets as it counts them.
    pub fn mean_rate(&self) -> f64 {
        let count: u64 = self.opportunities.iter().map(|(_, count)| count).sum();
        (count * OPPORTUNITY * 8) as f64 / self.period().as_secs()
    }
}

/// The state of one direction.
#[derive(Debug)]
pub enum Pacing {
    /// Of a trace.
    Trace {
        /// The trace.
        trace: Trace,
        /// When the current round began.
        round: Instant,
        /// The next opportunity with bytes left, and these.
        next: usize,
        /// Bytes that it has left.
        left: u64,
        /// End of the last frame.
        last: Instant,
    },
    /// Of a shaper.
    Shaper {
        /// Time of a byte at its rate.
        byte_time: ByteTime,
        /// Time of the burst at its rate.
        early: Duration,
        /// When all frames until now have left at its rate.
        sent_by: Instant,
    },
    /// Of grants.
    Grants {
        /// When they come.
        grants: Grants,
        /// End of the last frame.
        last: Instant,
    },
}

impl Pacing {
    /// What holds back the port; `None` if nothing does.
    pub fn at(spec: &Spec, (node, port): (NodeId, PortIx)) -> Option<Self> {
        let pace = spec.paces.iter().find(|pace| (pace.node, pace.port) == (node, port))?;
        Some(Self::new(&pace.by))
    }

    /// At the start of a simulation.
    pub fn new(by: &By) -> Self {
        match by {
            By::Trace(trace) => Self::Trace {
                left: trace.opportunities[0].1 * OPPORTUNITY,
                trace: trace.clone(),
                round: Instant::ZERO,
                next: 0,
                last: Instant::ZERO,
            },
            By::Shaper { rate, burst } => {
                let byte_time = ByteTime::at(*rate);
                let early = byte_time.of(burst.0);
                Self::Shaper { byte_time, early, sent_by: Instant::ZERO }
            }
            By::Grants(grants) => Self::Grants { grants: *grants, last: Instant::ZERO },
        }
    }

    /// A frame of `bytes` begins at `now`; at the rate of the link, its `on_wire` bytes would have left at `ends`.
    /// Returns when they have left, and when the next frame may be taken from its queue. With grants, that may be before this
    /// one has left, because the next one is requested then.
    pub fn send(
        &mut self,
        bytes: u16,
        on_wire: u64,
        now: Instant,
        ends: Instant,
    ) -> (Instant, Instant) {
        match self {
            Self::Trace { trace, round, next, left, last } => {
                if now != *last {
                    (*round, *next) = trace.first_from(now);
                    *left = trace.opportunities[*next].1 * OPPORTUNITY;
                }
                let mut needed = AS_IN_A_TRACE.bytes(bytes);
                loop {
                    let taken = needed.min(*left);
                    needed -= taken;
                    *left -= taken;
                    if needed == 0 {
                        break;
                    }
                    *next += 1;
                    if *next == trace.opportunities.len() {
                        (*round, *next) = (*round + trace.period(), 0);
                    }
                    *left = trace.opportunities[*next].1 * OPPORTUNITY;
                }
                *last = ends.max(*round + trace.opportunities[*next].0);
                (*last, *last)
            }
            Self::Shaper { byte_time, early, sent_by } => {
                *sent_by = now.max(*sent_by) + byte_time.of(on_wire);
                (ends, ends.max(Instant(sent_by.0.saturating_sub(early.0))))
            }
            Self::Grants { grants, last } => {
                *last = grants.leaves(now, *last, ends.since(now));
                (*last, now.max(Instant(last.0.saturating_sub(grants.ahead().0))))
            }
        }
    }
}

impl Trace {
    /// The first opportunity at or after a time: the start of its round, and its place there.
    fn first_from(&self, now: Instant) -> (Instant, usize) {
        // A round has opportunities up to its period, included.
        let rounds = (now.0.saturating_sub(1)) / self.period().0;
        let round = Instant(rounds * self.period().0);
        let place = self.opportunities.partition_point(|&(time, _)| round + time < now);
        (round, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn trace(times: &[u64]) -> Pacing {
        let times = times.iter().map(|ms| Duration(ms * MS));
        Pacing::new(&By::Trace(Trace::new(times).unwrap()))
    }

    /// A frame with an IP packet of `ip` bytes begins; the link takes no time. When it has left, in milliseconds.
    fn leaves(pacing: &mut Pacing, ip: u16, ms: u64) -> u64 {
        let now = Instant(ms * MS);
        let (ends, free) = pacing.send(ip + 18, u64::from(ip) + 38, now, now);
        assert_eq!(ends, free);
        assert_eq!(ends.0 % MS, 0);
        ends.0 / MS
    }

    /// By hand: packets of 1500 bytes fill an opportunity. There are three in a round of 10 ms, two of them at once.
    #[test]
    fn full_packets_leave_at_the_times_of_the_trace() {
        let mut pacing = trace(&[2, 5, 5, 10]);
        assert_eq!(leaves(&mut pacing, 1_500, 0), 2);
        assert_eq!(leaves(&mut pacing, 1_500, 2), 5);
        assert_eq!(leaves(&mut pacing, 1_500, 5), 5);
        assert_eq!(leaves(&mut pacing, 1_500, 5), 10);
        assert_eq!(leaves(&mut pacing, 1_500, 10), 12);
        // Nothing waits at 15: both opportunities are lost. A frame at 20 leaves at once.
        assert_eq!(leaves(&mut pacing, 1_500, 20), 20);
        assert_eq!(leaves(&mut pacing, 1_500, 21), 22);
        // Many rounds later.
        assert_eq!(leaves(&mut pacing, 1_500, 1_003), 1_005);
        assert_eq!(leaves(&mut pacing, 1_500, 1_010), 1_010);
    }

    /// By hand: a packet of 500 bytes counts as 504, so two fit into 1504 and leave 496; a third takes 8 bytes of the next
    /// opportunity, which has 1496 left.
    #[test]
    fn packets_share_opportunities_and_span_several() {
        let mut pacing = trace(&[1, 4]);
        assert_eq!(leaves(&mut pacing, 500, 0), 1);
        assert_eq!(leaves(&mut pacing, 500, 1), 1);
        assert_eq!(leaves(&mut pacing, 500, 1), 4);
        assert_eq!(leaves(&mut pacing, 1_492, 4), 4);
        assert_eq!(leaves(&mut pacing, 46, 4), 5);
        // What is left of the opportunity at 5 is lost in a gap; a jumbo packet of 9000 bytes counts as 9004 and takes six
        // opportunities: at 8, 9, 12, 13, 16 and 17.
        assert_eq!(leaves(&mut pacing, 9_000, 6), 17);
    }

    /// In a round of which the time 0 has an opportunity, it comes with the last one of the round before.
    #[test]
    fn a_round_may_begin_at_once() {
        let mut pacing = trace(&[0, 3]);
        assert_eq!(leaves(&mut pacing, 1_500, 0), 0);
        assert_eq!(leaves(&mut pacing, 1_500, 0), 3);
        assert_eq!(leaves(&mut pacing, 1_500, 3), 3);
        assert_eq!(leaves(&mut pacing, 1_500, 3), 6);
    }

    /// The link is the limit where it is slower: three frames that each take 2 ms on it.
    #[test]
    fn no_frame_leaves_faster_than_the_link() {
        let mut pacing = trace(&[1, 1, 1, 20]);
        let mut now = Instant::ZERO;
        let ends: Vec<u64> = (0..3)
            .map(|_| {
                let ends = now + Duration(2 * MS);
                now = pacing.send(1_518, 1_538, now, ends).0;
                now.0 / MS
            })
            .collect();
        assert_eq!(ends, [2, 4, 6]);
    }

    /// Against a loop that goes through milliseconds and bytes one by one, as the emulator does.
    #[test]
    fn backlogged_packets_leave_as_in_a_loop_over_milliseconds() {
        let times = [1, 1, 2, 7, 7, 7, 8, 13];
        let lengths: Vec<u16> = (0..400).map(|n: u16| 46 + n.wrapping_mul(7_919) % 1_455).collect();
        let mut expected = Vec::new();
        let mut remaining = u64::from(lengths[0]) + 4;
        'all: for ms in 1.. {
            let phase = (ms - 1) % 13 + 1;
            for _ in times.iter().filter(|&&time| time == phase) {
                for _ in 0..OPPORTUNITY {
                    remaining -= 1;
                    if remaining == 0 {
                        expected.push(ms);
                        let Some(next) = lengths.get(expected.len()) else { break 'all };
                        remaining = u64::from(*next) + 4;
                    }
                }
            }
        }
        let mut pacing = trace(&times);
        let mut now = 0;
        let left = lengths.iter().map(|&ip| {
            now = leaves(&mut pacing, ip, now);
            now
        });
        assert_eq!(left.collect::<Vec<_>>(), expected);
    }

    /// By hand: 8 opportunities of 1504 bytes in 13 ms are 7.4 Mb/s.
    #[test]
    fn the_mean_rate_counts_every_opportunity() {
        let times = [1, 1, 2, 7, 7, 7, 8, 13].map(|ms| Duration(ms * MS));
        let rate = Trace::new(times).unwrap().mean_rate();
        assert!((rate - 8.0 * 1_504.0 * 8.0 / 0.013).abs() < 1e-6, "{rate}");
        assert_eq!(Trace::new([]), None);
        assert_eq!(Trace::new([Duration(0)]), None);
        assert_eq!(Trace::new([Duration(2), Duration(1)]), None);
    }

    /// By hand: 1000 bytes take 1 ms at 8 Mb/s and 0.1 ms on the link. With a burst of 2000 bytes three frames follow each
    /// other at once: the third one begins when 2000 bytes are ahead.
    #[test]
    fn a_shaper_spaces_frames_beyond_its_burst() {
        let starts = |burst: u64| {
            let by = By::Shaper { rate: Rate::from_mbps(8), burst: Bytes(burst) };
            let mut pacing = Pacing::new(&by);
            let mut now = Instant::ZERO;
            let mut starts = Vec::new();
            for _ in 0..5 {
                starts.push(now.0 / (MS / 10));
                now = pacing.send(980, 1_000, now, now + Duration(MS / 10)).1;
            }
            starts
        };
        assert_eq!(starts(0), [0, 10, 20, 30, 40]);
        assert_eq!(starts(2_000), [0, 1, 2, 10, 20]);
    }
}
