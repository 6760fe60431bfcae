//! Frames.

use floodway_model::{Ecn, Instant};

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The flow it belongs to; `u32::MAX` of a pause frame.
    pub flow: u32,
    /// The destination host; meaningless for a pause frame.
    pub dst: u32,
    /// Length in bytes, destination address to FCS.
    pub bytes: u16,
    pub ecn: Ecn,
    /// The class in which it was sent on the link by which it came or goes.
    pub class: u8,
    /// The port by which it came into the node that has it.
    pub ingress: usize,
    pub kind: Kind,
}

/// What a frame carries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Data {
        psn: u32,
    },
    /// Everything below `psn` has arrived; `marked`: the packet that it answers had CE.
    Ack {
        psn: u32,
        marked: bool,
    },
    /// `psn` is missing.
    Nak {
        psn: u32,
        marked: bool,
    },
    Cnp,
    Pause {
        class: usize,
        quanta: u16,
    },
}

impl Frame {
    pub fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Data { .. })
    }

    /// A PFC frame: 64 bytes, the shortest Ethernet frame (IEEE 802.3 annex 31A).
    pub fn pause(class: usize, quanta: u16, control: u8) -> Self {
        let kind = Kind::Pause { class, quanta };
        Self {
            flow: u32::MAX,
            dst: 0,
            bytes: 64,
            ecn: Ecn::NotEct,
            class: control,
            ingress: 0,
            kind,
        }
    }
}

/// The bytes of these frames.
pub fn bytes<'a>(frames: impl IntoIterator<Item = &'a Frame>) -> u64 {
    frames.into_iter().map(|frame| u64::from(frame.bytes)).sum()
}

/// Later by so many picoseconds.
pub fn after(at: Instant, ps: u64) -> Instant {
    Instant(at.0.saturating_add(ps))
}
