//! HyStart++ (RFC 9406): the initial slow start ends when round-trip times rise, before packets are
//! lost. A rise leads to five round trips of conservative slow start, which grows a quarter as fast;
//! if the round-trip time falls again, the rise was spurious and slow start resumes.

use floodway_model::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ack;
use super::window::Window;

/// How the initial slow start ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlowStart {
    /// On a loss or a mark only (RFC 5681 section 3.1).
    #[default]
    Standard,
    /// Also when round-trip times rise (HyStart++, RFC 9406).
    HystartPp,
}

/// The constants of RFC 9406, section 4.3.
const MIN_RTT_THRESH: Duration = Duration::from_ms(4);
const MAX_RTT_THRESH: Duration = Duration::from_ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
/// Maximum growth of the window per acknowledgement without pacing, in packets.
const L: u32 = 8;

/// State of a flow's initial slow start.
#[derive(Clone, Debug, Default)]
pub struct Hystart {
    /// Minimum round-trip times of the previous round and of this one.
    last: Option<Duration>,
    current: Option<Duration>,
    /// Number of samples in this round.
    samples: u32,
    /// State of conservative slow start, if active.
    conservative: Option<Conservative>,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// Minimum round-trip time of the round in which it began.
    baseline: Duration,
    /// Number of rounds that have begun since.
    rounds: u32,
}

impl Hystart {
    /// Processes an acknowledgement in slow start, which may grow the window by up to `acked`
    /// packets. Returns the packets that are left for congestion avoidance.
    pub fn slow_start(
        &mut self,
        which: SlowStart,
        window: &mut Window,
        ack: &Ack,
        acked: u32,
    ) -> u32 {
        if which == SlowStart::Standard || !window.in_first_slow_start() {
            return window.slow_start(acked);
        }
        if ack.round_begins {
            self.begin_round(window);
            if !window.in_slow_start() {
                return acked;
            }
        }
        let acked = acked.min(L);
        if self.conservative.is_some() {
            window.grow(acked, CSS_GROWTH_DIVISOR);
        } else {
            window.slow_start(acked);
        }
        if let Some(rtt) = ack.rtt {
            self.current = Some(self.current.map_or(rtt, |current| current.min(rtt)));
            self.samples += 1;
            self.decide();
        }
        0
    }

    fn begin_round(&mut self, window: &mut Window) {
        self.last = self.current.take();
        self.samples = 0;
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
            // The round in which it began counts, however little of it was left.
            if conservative.rounds == CSS_ROUNDS {
                window.leave_slow_start();
            }
        }
    }

    fn decide(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= N_RTT_SAMPLE) else { return };
        match self.conservative {
            Some(conservative) if current < conservative.baseline => self.conservative = None,
            Some(_) => {}
            None => {
                let Some(last) = self.last else { return };
                let threshold = Duration(last.0 / MIN_RTT_DIVISOR);
                let threshold = threshold.clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if current >= last + threshold {
                    self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Path, conformance};
    use super::*;
    use floodway_model::{Instant, Rate};

    /// A round trip of ten packets, one acknowledgement each, that takes this long.
    fn round(hystart: &mut Hystart, window: &mut Window, ms: u64) -> u32 {
        let rtt = Duration::from_ms(ms);
        let before = window.packets();
        for n in 0..10 {
            let ack = Ack { round_begins: n == 0, ..conformance::ack(Instant(0), rtt) };
            hystart.slow_start(SlowStart::HystartPp, window, &ack, 1);
        }
        window.packets() - before
    }

    fn begun() -> (Hystart, Window) {
        (Hystart::default(), Window::new(&Path::at(Rate::from_gbps(1)), 2))
    }

    #[test]
    fn an_eighth_more_slows_down_and_five_rounds_later_it_ends() {
        let (mut hystart, mut window) = begun();
        // 80 ms plus an eighth is 90 ms.
        assert_eq!(round(&mut hystart, &mut window, 80), 10);
        assert_eq!(round(&mut hystart, &mut window, 89), 10);
        assert_eq!(round(&mut hystart, &mut window, 80), 10);
        // The eighth sample decides: growth by eight packets, then a quarter of each of the other
        // two.
        assert_eq!(round(&mut hystart, &mut window, 90), 8);
        assert!(hystart.conservative.is_some());
        // 42 packets in four rounds of ten, including the previous two: growth by ten and a half in
        // total.
        let grown: u32 = (0..4).map(|_| round(&mut hystart, &mut window, 95)).sum();
        assert_eq!(grown, 10);
        assert!(window.in_slow_start());
        // The fifth round to begin is one too many.
        let before = window.packets();
        let ack = conformance::ack(Instant(0), Duration::from_ms(95));
        let ack = Ack { round_begins: true, ..ack };
        assert_eq!(hystart.slow_start(SlowStart::HystartPp, &mut window, &ack, 1), 1);
        assert_eq!((window.threshold(), window.packets()), (before, before));
    }

    #[test]
    fn a_false_alarm_is_taken_back() {
        let (mut hystart, mut window) = begun();
        round(&mut hystart, &mut window, 20);
        // The threshold is at least 4 ms.
        round(&mut hystart, &mut window, 23);
        assert!(hystart.conservative.is_none());
        round(&mut hystart, &mut window, 27);
        assert!(hystart.conservative.is_some());
        round(&mut hystart, &mut window, 26);
        assert!(hystart.conservative.is_none());
        assert!(window.in_slow_start());
        assert_eq!(round(&mut hystart, &mut window, 26), 10);
    }

    #[test]
    fn round_trips_count_while_the_window_is_not_used() {
        let (mut hystart, mut window) = begun();
        for (n, ms) in (0..16).map(|n| (n, if n < 8 { 20 } else { 24 })) {
            let ack = conformance::ack(Instant(0), Duration::from_ms(ms));
            let ack = Ack { round_begins: n % 8 == 0, ..ack };
            assert_eq!(hystart.slow_start(SlowStart::HystartPp, &mut window, &ack, 0), 0);
        }
        assert!(hystart.conservative.is_some());
        assert_eq!(window.packets(), 10);
    }

    #[test]
    fn later_slow_starts_are_the_standard_one() {
        let (mut hystart, mut window) = begun();
        window.reduce(8);
        window.collapse(8);
        let ack = conformance::ack(Instant(0), Duration::from_ms(1));
        let rest = hystart.slow_start(SlowStart::HystartPp, &mut window, &ack, 10);
        assert_eq!((window.packets(), rest), (8, 3));
    }
}
