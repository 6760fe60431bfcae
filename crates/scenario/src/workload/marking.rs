//! Names of DSCPs, with which hosts mark the packets of a workload.

use floodway_model::Dscp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A DSCP by its name in the registry of RFC 2474.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Marking {
    /// Best effort, the default (RFC 2474, section 4.1).
    Be,
    /// Lower effort (RFC 8622).
    Le,
    /// Class selector 1 (RFC 2474, section 4.2.2). RRUL calls it BK: background.
    Cs1,
    /// Class selector 2 (RFC 2474, section 4.2.2).
    Cs2,
    /// Class selector 3 (RFC 2474, section 4.2.2).
    Cs3,
    /// Class selector 4 (RFC 2474, section 4.2.2).
    Cs4,
    /// Class selector 5 (RFC 2474, section 4.2.2).
    Cs5,
    /// Class selector 6 (RFC 2474, section 4.2.2).
    Cs6,
    /// Class selector 7 (RFC 2474, section 4.2.2).
    Cs7,
    /// Assured forwarding, class 1, drop precedence 1 (RFC 2597, section 6).
    Af11,
    /// Assured forwarding, class 1, drop precedence 2 (RFC 2597, section 6).
    Af12,
    /// Assured forwarding, class 1, drop precedence 3 (RFC 2597, section 6).
    Af13,
    /// Assured forwarding, class 2, drop precedence 1 (RFC 2597, section 6).
    Af21,
    /// Assured forwarding, class 2, drop precedence 2 (RFC 2597, section 6).
    Af22,
    /// Assured forwarding, class 2, drop precedence 3 (RFC 2597, section 6).
    Af23,
    /// Assured forwarding, class 3, drop precedence 1 (RFC 2597, section 6).
    Af31,
    /// Assured forwarding, class 3, drop precedence 2 (RFC 2597, section 6).
    Af32,
    /// Assured forwarding, class 3, drop precedence 3 (RFC 2597, section 6).
    Af33,
    /// Assured forwarding, class 4, drop precedence 1 (RFC 2597, section 6).
    Af41,
    /// Assured forwarding, class 4, drop precedence 2 (RFC 2597, section 6).
    Af42,
    /// Assured forwarding, class 4, drop precedence 3 (RFC 2597, section 6).
    Af43,
    /// Voice-admit (RFC 5865).
    Va,
    /// Expedited forwarding (RFC 3246).
    Ef,
}

impl Marking {
    /// The DSCP as a number.
    pub const fn dscp(self) -> Dscp {
        Dscp(match self {
            Self::Be => 0,
            Self::Le => 1,
            Self::Cs1 => 8,
            Self::Cs2 => 16,
            Self::Cs3 => 24,
            Self::Cs4 => 32,
            Self::Cs5 => 40,
            Self::Cs6 => 48,
            Self::Cs7 => 56,
            Self::Af11 => 10,
            Self::Af12 => 12,
            Self::Af13 => 14,
            Self::Af21 => 18,
            Self::Af22 => 20,
            Self::Af23 => 22,
            Self::Af31 => 26,
            Self::Af32 => 28,
            Self::Af33 => 30,
            Self::Af41 => 34,
            Self::Af42 => 36,
            Self::Af43 => 38,
            Self::Va => 44,
            Self::Ef => 46,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class selector n is 8 n; AFxy is 8 x + 2 y (RFC 2597, section 6); EF is 101110 in binary (RFC 3246, section 2.7).
    #[test]
    fn names_have_the_numbers_of_the_registry() {
        let of = |name: &str| {
            let marking: Marking = serde_json::from_str(&format!("\"{name}\"")).unwrap();
            assert_eq!(serde_json::to_string(&marking).unwrap(), format!("\"{name}\""));
            marking.dscp().0
        };
        for class in 1..=7 {
            assert_eq!(of(&format!("CS{class}")), 8 * class);
        }
        for class in 1..=4 {
            for drop in 1..=3 {
                assert_eq!(of(&format!("AF{class}{drop}")), 8 * class + 2 * drop);
            }
        }
        assert_eq!(["BE", "LE", "VA", "EF"].map(of), [0, 1, 0b10_1100, 0b10_1110]);
    }
}
