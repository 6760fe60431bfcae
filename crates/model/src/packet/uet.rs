//! What packets and acknowledgements of Ultra Ethernet carry.

/// What a packet of Ultra Ethernet carries for switches and for its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entropy {
    /// Entropy value, over which switches hash in addition to the flow; 0 for the path of the flow. On
    /// the wire it is the UDP source port.
    pub value: u16,
    /// Whether an acknowledgement is requested at once.
    pub wants_ack: bool,
    /// Whether it is a retransmission.
    pub repeated: bool,
    /// Of a trimmed packet: whether it was trimmed at the port of its destination.
    pub last_hop: bool,
    /// Total credit that the sender asks its receiver for, in full packets modulo
    /// [`Entropy::TARGETS`]; `None` without receiver credit. Ultra Ethernet has 24 bits for it. There is
    /// room for it if the value is below [`Entropy::VALUES_WITH_TARGET`].
    pub target: Option<u16>,
}

impl Entropy {
    /// Number of credit targets that can be distinguished.
    pub const TARGETS: u16 = 1 << 10;

    /// Number of entropy values of packets with a credit target.
    pub const VALUES_WITH_TARGET: u32 = 1 << 8;

    /// In 22 bits: the value, or the lower 8 bits of value and target, then flags, the rest of the
    /// target, and whether there is one.
    pub(super) const fn bits(self) -> u32 {
        let Self { value, wants_ack, repeated, last_hop, target } = self;
        let flags = (wants_ack as u32) << 16 | (repeated as u32) << 17 | (last_hop as u32) << 18;
        match target {
            None => value as u32 | flags,
            Some(target) => {
                let (low, high) = ((target & 0xff) as u32, (target >> 8 & 3) as u32);
                (value & 0xff) as u32 | low << 8 | flags | high << 19 | 1 << 21
            }
        }
    }

    /// From [`Entropy::bits`].
    pub(super) const fn from_bits(bits: u32) -> Self {
        let has_target = bits >> 21 & 1 != 0;
        let target = (bits >> 8 & 0xff | bits >> 11 & 0x300) as u16;
        Self {
            value: if has_target { (bits & 0xff) as u16 } else { bits as u16 },
            wants_ack: bits >> 16 & 1 != 0,
            repeated: bits >> 17 & 1 != 0,
            last_hop: bits >> 18 & 1 != 0,
            target: if has_target { Some(target) } else { None },
        }
    }
}

/// The packet that an acknowledgement of Ultra Ethernet answers, relative to the cumulative
/// acknowledgement, with two flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered(pub(super) u16);

impl Answered {
    /// Largest distance between the answered packet and the cumulative acknowledgement.
    pub const FARTHEST: u32 = (1 << 13) - 1;
    const MARKED: u16 = 1;
    const REPEATED: u16 = 2;

    /// No packet.
    pub const NONE: Self = Self(((-(Self::FARTHEST as i16) - 1) << 2) as u16);

    /// Packet `psn` is answered when `ack` is acknowledged cumulatively.
    pub const fn new(psn: u32, ack: u32, marked: bool, repeated: bool) -> Self {
        let far = -(Self::FARTHEST as i64) - 1;
        let distance = psn as i64 - ack as i64;
        let known = distance > far && distance <= Self::FARTHEST as i64;
        let distance = if known { distance } else { far };
        let flags = marked as u16 * Self::MARKED + repeated as u16 * Self::REPEATED;
        Self((distance as u16) << 2 | flags)
    }

    /// The answered packet; `None` if it is too far away to be named.
    pub const fn psn(self, ack: u32) -> Option<u32> {
        let distance = (self.0 as i16 >> 2) as i64;
        let psn = ack as i64 + distance;
        if distance < -(Self::FARTHEST as i64) || psn < 0 { None } else { Some(psn as u32) }
    }

    /// Whether it arrived with CE.
    pub const fn marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }

    /// Whether it was a retransmission.
    pub const fn repeated(self) -> bool {
        self.0 & Self::REPEATED != 0
    }
}

/// The packet that the first bit of the bitmap of an acknowledgement stands for: 63 packets before the
/// answered one, but not what is acknowledged cumulatively or is the next one expected (the base offset
/// of the bitmap is on the wire; here it follows from the rest).
pub const fn bitmap_base(about: Answered, ack: u32) -> u32 {
    let first = match about.psn(ack) {
        Some(psn) => psn.saturating_sub(63),
        None => 0,
    };
    if first > ack { first } else { ack.saturating_add(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answered_packet_is_near_what_is_acknowledged() {
        let far = Answered::FARTHEST;
        for (psn, ack) in [(0, 0), (0, 1), (9, 3), (0, far), (far, 0), (90_000, 90_000 + far)] {
            for (marked, repeated) in [(false, false), (true, false), (false, true), (true, true)] {
                let about = Answered::new(psn, ack, marked, repeated);
                assert_eq!(about.psn(ack), Some(psn), "{psn} {ack}");
                assert_eq!((about.marked(), about.repeated()), (marked, repeated));
            }
        }
        assert_eq!([0, 5, u32::MAX].map(|ack| Answered::NONE.psn(ack)), [None; 3]);
        assert!(!Answered::NONE.marked() && !Answered::NONE.repeated());
        for (psn, ack) in [(0, far + 1), (far + 1, 0), (0, u32::MAX), (u32::MAX, 0)] {
            assert_eq!(Answered::new(psn, ack, true, false).psn(ack), None, "{psn} {ack}");
        }
        // The answered packet is the last of the bitmap, or the bitmap begins behind the next one expected.
        let base = |psn, ack| bitmap_base(Answered::new(psn, ack, false, false), ack);
        assert_eq!([base(100, 10), base(73, 10), base(74, 10)], [37, 11, 11]);
        assert_eq!([base(75, 10), base(9, 10), base(0, far + 9)], [12, 11, far + 10]);
    }
}
