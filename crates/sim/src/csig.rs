//! Congestion signaling (CSIG, draft-ravi-ippm-csig): a tag of fixed length in which every switch replaces
//! the signal by its own, if its own is worse. The receiver returns the tag of a packet with the
//! acknowledgement.
//!
//! The signal here is the maximum of the delays of a packet in the switches on its path, with the place
//! of the largest. The tag is in the packet's telemetry [record](crate::telemetry), but no switch adds to
//! its length. Lengths of formats and values are from knowledge of the draft, whose text was not at hand.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, NodeId, PortIx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tag for congestion signals (CSIG). Every data packet has it, and every acknowledgement returns that of
/// the packet that it acknowledges, in as many bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Length of the tag, and the range of its value. Default `compact`.
    pub format: Format,
    /// Unit of delays: a value n stands for n to n + 1 units, and the largest for all that is longer.
    /// Default 2us for `compact`, so that the largest value stands for 62us or more, and 1ns for `wide`
    /// (assumed: the draft leaves the quantization to operators).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Duration>,
}

/// Format of the tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// 4 bytes, with a value of 5 bits.
    #[default]
    Compact,
    /// 8 bytes, with a value of 20 bits.
    Wide,
}

impl Format {
    /// Length of the tag in bytes.
    pub const fn bytes(self) -> u16 {
        match self {
            Self::Compact => 4,
            Self::Wide => 8,
        }
    }

    /// Number of bits of the value.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Compact => 5,
            Self::Wide => 20,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("unit", self.unit, "remove it for 2us, or 1ns with `wide`");
    }
}

impl Spec {
    /// Unit of delays.
    pub fn unit(&self) -> Duration {
        self.unit.unwrap_or(match self.format {
            Format::Compact => Duration::from_us(2),
            Format::Wide => Duration::from_ns(1),
        })
    }

    /// Largest delay that can be distinguished from longer ones.
    pub fn longest(&self) -> Duration {
        Duration(self.unit().0.saturating_mul(u64::from(self.most())))
    }

    /// Largest value.
    const fn most(&self) -> u32 {
        (1 << self.format.bits()) - 1
    }

    /// The tag as the sender fills it in.
    pub fn tag(&self) -> Tag {
        Tag { unit: self.unit(), most: self.most(), value: 0, place: None }
    }
}

/// The tag of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    unit: Duration,
    most: u32,
    value: u32,
    place: Option<(NodeId, PortIx)>,
}

impl Tag {
    /// Compare and replace: the packet leaves this port, after this delay in its switch. The first of
    /// several ports with the same value remains the place.
    pub fn pass(&mut self, place: (NodeId, PortIx), delay: Duration) {
        let value = self.value_of(delay);
        if value > self.value {
            (self.value, self.place) = (value, Some(place));
        }
    }

    /// The value that stands for a delay.
    pub fn value_of(&self, delay: Duration) -> u32 {
        (delay.0 / self.unit.0.max(1)).min(self.most.into()) as u32
    }

    /// The value, in units.
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// The delay that the value stands for at least.
    pub fn delay(&self) -> Duration {
        Duration(self.unit.0 * u64::from(self.value))
    }

    /// The switch and port with the largest delay; `None` if all delays were less than a unit.
    pub const fn place(&self) -> Option<(NodeId, PortIx)> {
        self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: (NodeId, PortIx) = (NodeId(4), PortIx(0));
    const SECOND: (NodeId, PortIx) = (NodeId(5), PortIx(3));

    /// What is left of these delays in nanoseconds, each in the switch of this place.
    fn passed(spec: &Spec, delays: &[((NodeId, PortIx), u64)]) -> Tag {
        let mut tag = spec.tag();
        delays.iter().for_each(|(place, ns)| tag.pass(*place, Duration::from_ns(*ns)));
        tag
    }

    #[test]
    fn the_worst_hop_is_left_whatever_the_order() {
        let spec = Spec::default();
        // 9 us are 4 units of 2 us and a rest.
        for delays in [[(FIRST, 9_000), (SECOND, 7_999)], [(SECOND, 7_999), (FIRST, 9_000)]] {
            let tag = passed(&spec, &delays);
            assert_eq!((tag.value(), tag.place()), (4, Some(FIRST)));
            assert_eq!(tag.delay(), Duration::from_us(8));
        }
        // 8 and 9 us have the same value: the first hop remains.
        let tag = passed(&spec, &[(SECOND, 8_000), (FIRST, 9_999)]);
        assert_eq!((tag.value(), tag.place()), (4, Some(SECOND)));
    }

    #[test]
    fn values_have_the_range_of_their_bits() {
        // 31 units of 2 us, and 1,048,575 units of 1 ns.
        for (format, longest, bytes) in [(Format::Compact, 62_000, 4), (Format::Wide, 1_048_575, 8)]
        {
            let spec = Spec { format, unit: None };
            assert_eq!((spec.longest(), format.bytes()), (Duration::from_ns(longest), bytes));
            let long = passed(&spec, &[(FIRST, 5_000_000)]);
            assert_eq!(long.delay(), spec.longest());
            let unit = spec.unit().0 / 1_000;
            assert_eq!(passed(&spec, &[(FIRST, unit)]).delay(), spec.unit());
        }
        let spec = Spec { unit: Some(Duration::from_us(1)), ..Spec::default() };
        assert_eq!(passed(&spec, &[(FIRST, 999)]), spec.tag());
        assert_eq!(passed(&spec, &[(FIRST, 31_999)]).value(), 31);
    }
}
