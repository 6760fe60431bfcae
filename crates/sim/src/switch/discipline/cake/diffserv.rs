//! The tins of CAKE: which DSCPs belong to which, and their thresholds, as tc-cake(8) has them.

use floodway_model::{Dscp, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Into how many tins traffic is divided by its DSCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Diffserv {
    /// One tin.
    Besteffort,
    /// Bulk (CS1, LE; threshold 1/16), best effort, voice (CS7, CS6, EF, VA, TOS4; 1/4).
    #[default]
    Diffserv3,
    /// Bulk (CS1, LE; threshold 1/16), best effort, video (AF4x, AF3x, CS3, AF2x, CS2, TOS4, TOS1; 1/2), voice (CS7, CS6,
    /// EF, VA, CS5, CS4; 1/4).
    Diffserv4,
    /// Eight tins, ascending, each with 7/8 of the threshold of the one before: background (LE), high throughput (CS1, AF1x,
    /// TOS2), best effort, video (AF4x, AF3x, CS3), transactions (AF2x, TOS4), interactive (CS2), minimum latency (EF, VA,
    /// CS5, CS4), network control (CS7, CS6).
    Diffserv8,
    /// Eight tins by the three upper bits of the DSCP, the IP precedence of RFC 791, with the thresholds of `diffserv8`.
    Precedence,
}

/// A tin as a share of the shaper's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its threshold is the rate divided by this number,
    pub divisor: u64,
    /// and then reduced by an eighth so often.
    pub eighths: u32,
    /// What it may send per round without a shaper, in bytes.
    pub quantum: i64,
}

impl Share {
    const fn of(divisor: u64, quantum: i64) -> Self {
        Self { divisor, eighths: 0, quantum }
    }

    const fn of_eight(eighths: u32, quantum: i64) -> Self {
        Self { divisor: 1, eighths, quantum }
    }

    /// Its threshold at this rate of the shaper.
    pub fn threshold(&self, rate: Rate) -> Rate {
        let bps =
            (0..self.eighths).fold(rate.0 / self.divisor, |bps, _| bps / 8 * 7 + bps % 8 * 7 / 8);
        Rate(bps.max(1))
    }
}

const ALL: Share = Share::of(1, 1_024);
const BULK: Share = Share::of(16, 64);
const VIDEO: Share = Share::of(2, 512);
const VOICE: Share = Share::of(4, 256);
/// Quanta are reduced by an eighth as thresholds are, rounded down.
const EIGHT: [Share; 8] = [
    Share::of_eight(0, 256),
    Share::of_eight(1, 224),
    Share::of_eight(2, 196),
    Share::of_eight(3, 171),
    Share::of_eight(4, 149),
    Share::of_eight(5, 130),
    Share::of_eight(6, 113),
    Share::of_eight(7, 98),
];

const CS1: u8 = 8;
const LE: u8 = 1;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const VA: u8 = 44;
const EF: u8 = 46;
const CS6: u8 = 48;
const CS7: u8 = 56;
/// The ToS value of RFC 1349 for low delay, as a DSCP. That for low cost, TOS1, is the same number as LE.
const TOS4: u8 = 4;
/// That for high throughput.
const TOS2: u8 = 2;
/// AF21 to AF23, AF31 to AF33, AF41 to AF43.
const AF: [u8; 9] = [18, 20, 22, 26, 28, 30, 34, 36, 38];

impl Diffserv {
    /// Its tins: best effort, then bulk and those of higher priority, ascending. Bulk is above best effort only while it is
    /// below its threshold. The eight tins of others are ascending without exception.
    pub const fn tins(self) -> &'static [Share] {
        match self {
            Self::Besteffort => &[ALL],
            Self::Diffserv3 => &[ALL, BULK, VOICE],
            Self::Diffserv4 => &[ALL, BULK, VIDEO, VOICE],
            Self::Diffserv8 | Self::Precedence => &EIGHT,
        }
    }

    /// The tin of a DSCP. LE and the ToS value for low cost are the same; it is bulk.
    pub fn tin(self, Dscp(dscp): Dscp) -> usize {
        match (self, dscp) {
            (Self::Besteffort, _) => 0,
            (Self::Precedence, dscp) => usize::from(dscp >> 3),
            (Self::Diffserv8, LE) => 0,
            (Self::Diffserv8, CS1 | TOS2 | 10 | 12 | 14) => 1,
            (Self::Diffserv8, CS3 | 26 | 28 | 30 | 34 | 36 | 38) => 3,
            (Self::Diffserv8, TOS4 | 18 | 20 | 22) => 4,
            (Self::Diffserv8, CS2) => 5,
            (Self::Diffserv8, EF | VA | CS5 | CS4) => 6,
            (Self::Diffserv8, CS7 | CS6) => 7,
            (Self::Diffserv8, _) => 2,
            (_, CS1 | LE) => 1,
            (Self::Diffserv3, CS7 | CS6 | EF | VA | TOS4) => 2,
            (Self::Diffserv4, CS7 | CS6 | EF | VA | CS5 | CS4) => 3,
            (Self::Diffserv4, CS3 | CS2 | TOS4) => 2,
            (Self::Diffserv4, dscp) if AF.contains(&dscp) => 2,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists of tc-cake(8).
    #[test]
    fn code_points_are_in_the_tins_of_the_manual() {
        let of = |mode: Diffserv, tin| {
            (0..64).filter(|&dscp| mode.tin(Dscp(dscp)) == tin).collect::<Vec<_>>()
        };
        assert_eq!(of(Diffserv::Besteffort, 0).len(), 64);
        assert_eq!(of(Diffserv::Diffserv3, 1), [LE, CS1]);
        assert_eq!(of(Diffserv::Diffserv3, 2), [TOS4, VA, EF, CS6, CS7]);
        assert_eq!(of(Diffserv::Diffserv4, 1), [LE, CS1]);
        assert_eq!(of(Diffserv::Diffserv4, 3), [CS4, CS5, VA, EF, CS6, CS7]);
        let video = [TOS4, CS2, 18, 20, 22, CS3, 26, 28, 30, 34, 36, 38];
        assert_eq!(of(Diffserv::Diffserv4, 2), video);
    }

    /// By hand. In eight tins: AF11 to AF13 are 10, 12, 14, and so on by eight. The IP precedence of EF (46) is 5.
    #[test]
    fn eight_tins_have_their_code_points() {
        let of = |tin| {
            (0..64).filter(|&dscp| Diffserv::Diffserv8.tin(Dscp(dscp)) == tin).collect::<Vec<_>>()
        };
        assert_eq!(of(0), [LE]);
        assert_eq!(of(1), [TOS2, CS1, 10, 12, 14]);
        assert_eq!(of(3), [CS3, 26, 28, 30, 34, 36, 38]);
        assert_eq!(of(4), [TOS4, 18, 20, 22]);
        assert_eq!(of(5), [CS2]);
        assert_eq!(of(6), [CS4, CS5, VA, EF]);
        assert_eq!(of(7), [CS6, CS7]);
        assert_eq!(of(2).len(), 64 - 24);
        let precedence = |dscp| Diffserv::Precedence.tin(Dscp(dscp));
        assert_eq!([0, 7, 8, EF, CS7, 63].map(precedence), [0, 0, 1, 5, 7, 7]);
    }

    /// By hand: 10 Mb/s, 8.75, 7.65625, ... down to 10 (7/8)^7 = 3.927 Mb/s; the quanta are 256 (7/8)^n, rounded down each time.
    #[test]
    fn eight_tins_have_thresholds_by_eighths() {
        let tins = Diffserv::Diffserv8.tins();
        let rates = tins.iter().map(|tin| tin.threshold(Rate::from_mbps(10)).0 / 1_000);
        assert_eq!(
            rates.collect::<Vec<_>>(),
            [10_000, 8_750, 7_656, 6_699, 5_861, 5_129, 4_487, 3_926]
        );
        let mut quantum = 256;
        for tin in tins {
            assert_eq!(tin.quantum, quantum);
            quantum = quantum * 7 / 8;
        }
        assert_eq!(VOICE.threshold(Rate::from_mbps(10)), Rate(2_500_000));
    }
}
