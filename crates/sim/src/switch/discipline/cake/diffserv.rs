//! The tins of CAKE: which DSCPs belong to which, and their thresholds, as tc-cake(8) has them.

use floodway_model::Dscp;
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
}

/// A tin as a share of the shaper's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its threshold is the rate divided by this number.
    pub divisor: u64,
    /// What it may send per round without a shaper, in bytes.
    pub quantum: i64,
}

const ALL: Share = Share { divisor: 1, quantum: 1_024 };
const BULK: Share = Share { divisor: 16, quantum: 64 };
const VIDEO: Share = Share { divisor: 2, quantum: 512 };
const VOICE: Share = Share { divisor: 4, quantum: 256 };

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
/// AF21 to AF23, AF31 to AF33, AF41 to AF43.
const AF: [u8; 9] = [18, 20, 22, 26, 28, 30, 34, 36, 38];

impl Diffserv {
    /// Its tins: best effort, then bulk and those of higher priority, ascending. Bulk is above best effort only while it is
    /// below its threshold.
    pub const fn tins(self) -> &'static [Share] {
        match self {
            Self::Besteffort => &[ALL],
            Self::Diffserv3 => &[ALL, BULK, VOICE],
            Self::Diffserv4 => &[ALL, BULK, VIDEO, VOICE],
        }
    }

    /// The tin of a DSCP. LE and the ToS value for low cost are the same; it is bulk.
    pub fn tin(self, Dscp(dscp): Dscp) -> usize {
        match (self, dscp) {
            (Self::Besteffort, _) => 0,
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
}
