//! COBALT, the AQM of CAKE (Høiland-Jørgensen, Täht, Morton, "Piece of CAKE", LANMAN 2018, section III.D): CoDel, which
//! reduces its rate of signals step by step when the delay is below the target, and BLUE, which drops packets of flows that
//! overflow the queue although CoDel has signalled. Behavior that the paper leaves open is that of Linux 6.12.

use floodway_model::random::Stream;
use floodway_model::{Duration, Instant};

use crate::switch::aqm::Verdict;

/// What BLUE adds to the probability of a drop at an overflow, in 1/4096: 1/256.
const INCREASE: u16 = 16;
/// What it takes off when the flow queue is empty, in 1/4096.
const DECREASE: u16 = 1;
const CERTAIN: u16 = 4_096;

/// Parameters of a tin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// Acceptable standing queue delay.
    pub target: Duration,
    /// How long it may be exceeded before the first signal.
    pub interval: Duration,
    /// Time of a full packet at the rate of the tin; zero without a shaper.
    pub mtu_time: Duration,
}

impl Params {
    /// In ingress mode, with so many bulk flows: the delay may also be two packets of each (Linux; the paper has four packets in
    /// all).
    pub fn with_flows(self, flows: u64) -> Self {
        Self { mtu_time: Duration(self.mtu_time.0 * flows.max(2) / 2), ..self }
    }

    /// `interval / sqrt(count)` after `from`.
    fn control(&self, from: Instant, count: u32) -> Instant {
        let divisor = f64::from(count.max(1)).sqrt();
        from + Duration((self.interval.0 as f64 / divisor).round() as u64)
    }
}

/// State of a flow queue.
#[derive(Clone, Debug, Default)]
pub struct Cobalt {
    /// Signals that determine the distance to the next.
    count: u32,
    /// When the next signal is due; at rest, until when the flow is remembered.
    drop_next: Instant,
    /// Whether the delay is above the target.
    dropping: bool,
    /// Probability with which BLUE drops, in 1/4096.
    p_drop: u16,
    /// When that last changed.
    blue_timer: Instant,
}

impl Cobalt {
    /// Whether it has forgotten all congestion.
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// A packet of the flow was dropped for lack of room.
    pub fn on_overflow(&mut self, params: &Params, now: Instant) {
        if now.since(self.blue_timer.min(now)) > params.target {
            self.p_drop = (self.p_drop + INCREASE).min(CERTAIN);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The flow queue was served and is empty.
    pub fn on_empty(&mut self, params: &Params, now: Instant) {
        if self.p_drop > 0 && now.since(self.blue_timer.min(now)) > params.target {
            self.p_drop -= DECREASE;
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.relax(params);
        }
    }

    fn relax(&mut self, params: &Params) {
        self.count -= 1;
        self.drop_next = params.control(self.drop_next, self.count);
    }

    /// Verdict on a packet that is about to leave. `can_mark`: CoDel may mark it; BLUE always drops. `is_last`: it leaves
    /// the flow queue empty and is not dropped.
    pub fn decide(
        &mut self,
        params: &Params,
        (sojourn, now): (Duration, Instant),
        (can_mark, is_last): (bool, bool),
        rng: &mut Stream,
    ) -> Verdict {
        let signals = self.signals(params, sojourn, now);
        let blue = self.p_drop > 0 && rng.below(CERTAIN.into()) < u64::from(self.p_drop);
        let drops = blue || signals && !can_mark;
        if self.count == 0 {
            self.drop_next = now + params.interval;
        } else if now > self.drop_next && !drops {
            self.drop_next = now;
        }
        match () {
            () if drops && !is_last => Verdict::Drop,
            () if signals && can_mark => Verdict::Congested,
            () => Verdict::Pass,
        }
    }

    /// Whether CoDel signals congestion.
    fn signals(&mut self, params: &Params, sojourn: Duration, now: Instant) -> bool {
        let above = sojourn > params.target && sojourn.0 > 4 * params.mtu_time.0;
        let mut is_due = self.count > 0 && now >= self.drop_next;
        if above && !self.dropping {
            self.drop_next = params.control(now, self.count);
        }
        if above {
            self.count = self.count.max(1);
        }
        self.dropping = above;
        if is_due && above {
            self.count = self.count.saturating_add(1);
            self.drop_next = params.control(self.drop_next, self.count);
            return true;
        }
        while is_due {
            self.relax(params);
            is_due = self.count > 0 && now >= self.drop_next;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params {
        target: Duration::from_ms(5),
        interval: Duration::from_ms(100),
        mtu_time: Duration::ZERO,
    };

    fn ms(ms: u64) -> Instant {
        Instant(ms * 1_000_000_000)
    }

    /// When it signals, in milliseconds, with a packet every millisecond that has waited for so many.
    fn signals(cobalt: &mut Cobalt, (from, until): (u64, u64), waited: u64) -> Vec<u64> {
        let mut rng = Stream::named(1, "none");
        let times = (from..until).filter(|&now| {
            let at = (Duration::from_ms(waited), ms(now));
            cobalt.decide(&PARAMS, at, (true, false), &mut rng) == Verdict::Congested
        });
        times.collect()
    }

    /// By hand. At 1000 the delay is above the target: the first signal is due 100 ms later. The second is due after 100 /
    /// sqrt(2) = 70.7 ms, at 1170.7, and then after 57.7, 50 and 44.7 ms: 1228.4, 1278.4, 1323.2. (CoDel has 100 ms
    /// between the first and the second.)
    #[test]
    fn signals_follow_the_square_root() {
        let mut cobalt = Cobalt::default();
        assert_eq!(signals(&mut cobalt, (1_000, 1_330), 10), [1_100, 1_171, 1_229, 1_279, 1_324]);
        assert_eq!(cobalt.count, 6);
        // Below the target it becomes one less whenever a signal would be due, from 1364.0 on: after 44.7 ms at count 5, then
        // 50, 57.7, 70.7, 100 ms: 1408.7, 1458.7, 1516.4, 1587.1, 1687.1.
        for (now, count) in [(1_363, 6), (1_364, 5), (1_409, 4), (1_459, 3), (1_517, 2), (1_588, 1)]
        {
            assert_eq!(signals(&mut cobalt, (now, now + 1), 1), [0; 0]);
            assert_eq!(cobalt.count, count, "{now}");
        }
        assert!(!cobalt.is_at_rest(ms(1_600)));
        signals(&mut cobalt, (1_688, 1_689), 1);
        assert_eq!(cobalt.count, 0);
        // It is remembered for one more interval.
        assert!(!cobalt.is_at_rest(ms(1_787)));
        assert!(cobalt.is_at_rest(ms(1_788)));
    }

    /// A packet that CoDel drops has the same times as one that it marks, except that the last packet is kept.
    #[test]
    fn the_last_packet_is_marked_and_not_dropped() {
        let mut rng = Stream::named(1, "none");
        for (can_mark, is_last, expected) in [
            (false, false, Verdict::Drop),
            (false, true, Verdict::Pass),
            (true, false, Verdict::Congested),
            (true, true, Verdict::Congested),
        ] {
            let mut cobalt = Cobalt::default();
            let mut decide = |now| {
                let at = (Duration::from_ms(10), ms(now));
                cobalt.decide(&PARAMS, at, (can_mark, is_last), &mut rng)
            };
            assert_eq!(decide(1_000), Verdict::Pass);
            assert_eq!(decide(1_100), expected);
        }
    }

    /// 64 overflows, more than a target apart, make a probability of 64 / 256. In 10,000 packets, with a standard deviation
    /// of 43, 2,500 are dropped although they could be marked. An empty queue takes off 1 / 4096, at most every target.
    #[test]
    fn blue_drops_at_random_and_forgets_slowly() {
        let mut cobalt = Cobalt::default();
        for n in 0..64 {
            cobalt.on_overflow(&PARAMS, ms(1_000 + 6 * n));
            // Sooner than a target after the last one it does not count.
            cobalt.on_overflow(&PARAMS, ms(1_002 + 6 * n));
        }
        assert_eq!(cobalt.p_drop, 64 * 16);
        let mut rng = Stream::named(1, "blue");
        let mut drops = 0;
        for n in 0..10_000 {
            let at = (Duration::ZERO, ms(2_000 + n));
            let verdict = cobalt.decide(&PARAMS, at, (true, false), &mut rng);
            drops += u32::from(verdict == Verdict::Drop);
        }
        assert!((2_285..=2_715).contains(&drops), "{drops}");
        (0..30).for_each(|n| cobalt.on_empty(&PARAMS, ms(20_000 + 2 * n)));
        // Every third of them.
        assert_eq!(cobalt.p_drop, 64 * 16 - 10);
    }

    /// Four packet times are longer than the target on a slow line.
    #[test]
    fn four_packets_may_always_wait() {
        let slow = Params { mtu_time: Duration::from_ms(12), ..PARAMS };
        let mut rng = Stream::named(1, "none");
        for (waited, expected) in [(48, Verdict::Pass), (49, Verdict::Congested)] {
            let mut cobalt = Cobalt::default();
            let mut decide = |now| {
                cobalt.decide(&slow, (Duration::from_ms(waited), ms(now)), (true, false), &mut rng)
            };
            decide(1_000);
            assert_eq!(decide(1_100), expected);
        }
    }
}
