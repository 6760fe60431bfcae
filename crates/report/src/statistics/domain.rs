//! The values that a quantity can take, and the scale on which its interval is formed.

/// The values that a quantity can take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Domain {
    /// Any number: a difference.
    Real,
    /// Zero or more: a time, a number of bytes, a rate, a count.
    #[default]
    NonNegative,
    /// One or more: a slowdown.
    AtLeastOne,
    /// From one to 4.5: an opinion score (ITU-T G.107, Annex B).
    Score,
    /// From zero to one: a share.
    Share,
}

/// The scale of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// The values that it can take.
    pub domain: Domain,
    /// The width of the histogram bin from which it was read, relative to the bin's upper edge,
    /// which is the value; 0 of an exact value.
    pub resolution: f64,
}

impl Domain {
    /// The domain of quantities in this unit of results: slowdowns, scores of calls and shares have their own, all
    /// others are zero or more.
    pub fn of_unit(unit: &str) -> Self {
        match unit {
            "x" => Self::AtLeastOne,
            "MOS" => Self::Score,
            "share" => Self::Share,
            _ => Self::NonNegative,
        }
    }

    /// The least value.
    pub(super) fn floor(self) -> f64 {
        match self {
            Self::Real => f64::NEG_INFINITY,
            Self::NonNegative | Self::Share => 0.0,
            Self::AtLeastOne | Self::Score => 1.0,
        }
    }

    /// The largest value.
    pub(super) fn ceiling(self) -> f64 {
        match self {
            Self::Real | Self::NonNegative | Self::AtLeastOne => f64::INFINITY,
            Self::Share => 1.0,
            Self::Score => 4.5,
        }
    }
}

impl Scale {
    /// Of an exact quantity in this unit.
    pub fn of_unit(unit: &str) -> Self {
        Self { domain: Domain::of_unit(unit), resolution: 0.0 }
    }

    /// Of a difference.
    pub const REAL: Self = Self { domain: Domain::Real, resolution: 0.0 };
    /// Of a time, a number of bytes, a rate or a count.
    pub const NON_NEGATIVE: Self = Self { domain: Domain::NonNegative, resolution: 0.0 };
    /// Of an opinion score.
    pub const SCORE: Self = Self { domain: Domain::Score, resolution: 0.0 };
    /// Of a share.
    pub const SHARE: Self = Self { domain: Domain::Share, resolution: 0.0 };
}
