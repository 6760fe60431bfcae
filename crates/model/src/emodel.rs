//! The E-model (ITU-T G.107, 06/2015): how a call is rated, from its delay and its loss.
//!
//! R = Ro - Is - Id - Ie,eff, without an advantage factor. All parameters of telephones and circuits have the default
//! values of the recommendation, so Ro and Is are constants, and R is 93.2 without delay and loss. Everybody hears as
//! long after the talker as the other, so the round trip of an echo takes twice the delay.

use crate::Duration;

/// Basic signal-to-noise ratio Ro with default values: 15 - 1.5 (SLR + No).
const RO: f64 = 94.768_82;

/// Simultaneous impairments Is with default values.
const IS: f64 = 1.413_57;

/// Sum of all noise No with default values, in dBm0p.
const NO: f64 = -61.179_21;

/// Receive loudness rating RLR, in dB.
const RLR: f64 = 2.0;

/// Talker echo loudness rating TELR, in dB.
const TELR: f64 = 65.0;

/// Weighted echo path loss WEPL, in dB.
const WEPL: f64 = 110.0;

/// The rating factor R, from 0 to 100 (G.107, section 7.1).
///
/// `delay` is from mouth to ear. `loss` is the share of packets that are not played. `burst_ratio` is the mean length of
/// a loss divided by that of random losses of the same share. `impairment` and `robustness` are Ie and Bpl of the codec.
pub fn rating(
    delay: Duration,
    loss: f64,
    burst_ratio: f64,
    impairment: f64,
    robustness: f64,
) -> f64 {
    let lost = effective_impairment(loss * 100.0, burst_ratio, impairment, robustness);
    (RO - IS - delay_impairment(delay.as_secs() * 1e3) - lost).clamp(0.0, 100.0)
}

/// The mean opinion score of a conversation for a rating (G.107, Annex B): from 1, bad, to 4.5.
pub fn mos(rating: f64) -> f64 {
    let r = rating.clamp(0.0, 100.0);
    // Below R = 6.5 the polynomial would be below 1.
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).clamp(1.0, 4.5)
}

/// Id (G.107, section 7.4): of talker echo, of listener echo, and of delay itself; `t` in milliseconds.
fn delay_impairment(t: f64) -> f64 {
    let terv =
        TELR - 40.0 * ((1.0 + t / 10.0) / (1.0 + t / 150.0)).log10() + 6.0 * (-0.3 * t * t).exp();
    let (roe, re) = (-1.5 * (NO - RLR), 80.0 + 2.5 * (terv - 14.0));
    let half = (roe - re) / 2.0;
    let talker = (half + half.hypot(10.0) - 1.0) * (1.0 - (-t).exp());
    let rle = 10.5 * (WEPL + 7.0) * (2.0 * t + 1.0).powf(-0.25);
    let half = (RO - rle) / 2.0;
    let listener = half + half.hypot(13.0);
    talker + listener + absolute_delay_impairment(t)
}

/// Idd: what delay without echo impairs, from 100 ms on.
fn absolute_delay_impairment(t: f64) -> f64 {
    if t <= 100.0 {
        return 0.0;
    }
    let x = (t / 100.0).log2();
    let root = |x: f64| (1.0 + x.powi(6)).powf(1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Ie,eff (G.107, section 7.5); `ppl` in percent.
fn effective_impairment(ppl: f64, burst_ratio: f64, ie: f64, bpl: f64) -> f64 {
    ie + (95.0 - ie) * ppl / (ppl / burst_ratio + bpl)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value}, not {expected}");
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    /// G.711 with packet loss concealment, of random loss: Ie = 0 and Bpl = 25.1 (G.113, Appendix I).
    fn g711(delay: u64, loss: f64) -> f64 {
        rating(ms(delay), loss, 1.0, 0.0, 25.1)
    }

    /// 100 ms and 1 %, by hand. TERV = 65 - 40 log(11 / 1.6667) = 32.22, Re = 80 + 2.5 x 18.22 = 125.54, Roe = 1.5 x 63.179 =
    /// 94.77, so talker echo takes -15.39 + sqrt(15.39^2 + 100) - 1 = 1.96. Rle = 1228.5 x 201^-0.25 = 326.3, so listener
    /// echo takes -115.75 + sqrt(115.75^2 + 169) = 0.73. Delay as such takes nothing. Loss takes 95 / 26.1 = 3.64.
    /// R = 93.36 - 1.96 - 0.73 - 3.64 = 87.02, and 1 + 0.035 R + R (R - 60) (100 - R) 7e-6 = 1 + 3.046 + 0.214 = 4.26.
    #[test]
    fn a_tenth_of_a_second_and_a_percent() {
        about(g711(100, 0.01), 87.02, 0.01);
        about(mos(g711(100, 0.01)), 4.26, 0.005);
    }

    /// Without delay and loss R is 93.2, and the score 4.41 (G.107, section 7.7 and Annex B).
    #[test]
    fn defaults_of_the_recommendation() {
        about(g711(0, 0.0), 93.206_2, 1e-4);
        about(mos(93.2), 4.41, 0.005);
        assert_eq!((mos(0.0), mos(-1.0), mos(100.0), mos(5.0)), (1.0, 1.0, 4.5, 1.0));
    }

    /// The fit of Cole and Rosenbluth (SIGCOMM CCR 31, 2001) to the delays of this model: R falls by 0.024 per millisecond,
    /// and by 0.11 more from 177.3 ms on. They give it for the range of usual calls.
    #[test]
    fn delays_as_cole_and_rosenbluth_fitted_them() {
        for delay in [20, 50, 100, 150, 200, 250, 300] {
            let t = delay as f64;
            let fit = 93.2 - 0.024 * t - 0.11 * (t - 177.3).max(0.0);
            about(g711(delay, 0.0), fit, 0.5);
        }
    }

    /// Half of all packets: 95 x 50 / (50 + 25.1) = 63.25 at random. In losses that are twice as long as random ones
    /// 95 x 50 / (25 + 25.1) = 94.81.
    #[test]
    fn bursts_are_worse_than_random_loss() {
        about(93.206_2 - g711(0, 0.5), 63.25, 0.01);
        about(93.206_2 - rating(ms(0), 0.25, 2.0, 0.0, 25.1), 95.0 * 25.0 / 37.6, 0.01);
        assert_eq!(rating(ms(0), 0.5, 2.0, 0.0, 25.1), 0.0);
        // Another codec, without loss.
        about(93.206_2 - rating(ms(0), 0.0, 1.0, 11.0, 19.0), 11.0, 1e-3);
    }
}
