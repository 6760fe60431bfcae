//! The controller of PI2 and DualPI2: a base probability that grows with the difference between the
//! queue delay and a target (integral part), and with the change of the delay (proportional part).
//! The probability is applied linearly to scalable congestion controls and squared to classic ones.

use floodway_model::Duration;
use floodway_model::check::Findings;
use floodway_model::units::PS_PER_S;

/// Parameters of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    /// Target queue delay.
    pub target: Duration,
    /// Integral gain: growth of the probability per update, per second of delay above the target
    /// (Hz).
    pub alpha: f64,
    /// Proportional gain: growth of the probability per update, per second of change of the delay
    /// (Hz).
    pub beta: f64,
}

/// With shorter intervals the updates between two packets only cost time.
const SHORTEST_UPDATE: Duration = Duration::from_us(1);

/// Checks the fields that hold its parameters.
pub fn check(
    (alpha, beta): (f64, f64),
    update_interval: Duration,
    coupling: f64,
    findings: &mut Findings<'_>,
) {
    const WHY: &str = "with less, a longer queue would lower the probability";
    findings.range("alpha", alpha, 0.0.., WHY);
    findings.range("beta", beta, 0.0.., WHY);
    findings.range("update_interval", update_interval, SHORTEST_UPDATE.., "16ms is usual");
    findings.range("coupling", coupling, 1.0.., "2 is usual");
}

/// State of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pi {
    probability: f64,
    delay: Duration,
}

impl Pi {
    /// The base probability, 0 to 1.
    #[inline]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// One update with the current delay; limits the probability to `most`. Returns whether it
    /// changed anything: if not, another update with the same delay will not either.
    pub fn update(&mut self, gains: &Gains, delay: Duration, most: f64) -> bool {
        let before = *self;
        let growth = gains.alpha * seconds_beyond(delay, gains.target)
            + gains.beta * seconds_beyond(delay, self.delay);
        self.probability = (self.probability + growth).clamp(0.0, most);
        self.delay = delay;
        *self != before
    }
}

/// Difference of two times, in seconds.
fn seconds_beyond(time: Duration, other: Duration) -> f64 {
    (time.0 as f64 - other.0 as f64) / PS_PER_S as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: Gains =
        Gains { target: Duration::from_ms(15), alpha: 41.0 / 256.0, beta: 819.0 / 256.0 };

    #[test]
    fn constant_delay_has_a_closed_form() {
        // 25 ms from the first update on: beta counts once for the whole delay, alpha k times for
        // the 10 ms above the target.
        let mut pi = Pi::default();
        for k in 1..=100 {
            pi.update(&LINUX, Duration::from_ms(25), 1.0);
            let expected = 0.025 * 819.0 / 256.0 + f64::from(k) * 0.010 * 41.0 / 256.0;
            assert!((pi.probability() - expected).abs() < 1e-12, "{k}");
        }
        // And back to the target: only the fall of the delay counts.
        pi.update(&LINUX, Duration::from_ms(15), 1.0);
        let expected = 0.015 * 819.0 / 256.0 + 100.0 * 0.010 * 41.0 / 256.0;
        assert!((pi.probability() - expected).abs() < 1e-12);
    }

    #[test]
    fn it_stays_between_nothing_and_the_most() {
        let mut pi = Pi::default();
        assert!(pi.update(&LINUX, Duration::from_ms(10_000), 0.5));
        assert_eq!(pi.probability(), 0.5);
        assert!(pi.update(&LINUX, Duration::ZERO, 0.5));
        assert_eq!(pi.probability(), 0.0);
        assert!(!pi.update(&LINUX, Duration::ZERO, 0.5));
    }
}
