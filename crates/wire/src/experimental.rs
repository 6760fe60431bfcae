//! Frames that have no published format: messages of Backpressure Flow Control and of credit-based flow control,
//! backward indications of layer 2, and data with nothing above Ethernet. They are floodway's own, and have the
//! first local experimental EtherType of IEEE 802; the first octet says which one it is.

use crate::Invalid;
use crate::ethernet::{Frame, Header, Mac, SHORTEST, ethertype, frame};
use crate::layout::layout;

layout! {
    /// Backpressure Flow Control (Goyal et al., NSDI 2022): stops or resumes one physical queue of the neighbor.
    Backpressure[4] "backpressure" {
        /// The class that the physical queue belongs to.
        class: u8 = (1, 0, 8),
        /// Its number within the class.
        physical_queue: u8 = (2, 0, 8),
        /// Whether the queue must stop; otherwise it may resume.
        stop: bool = (3, 0, 1),
        fixed "kind" = (0, 0, 8) is 1_u8,
    }
}

layout! {
    /// Credit of a link: how much of a class the neighbor may send. Ultra Ethernet sends such limits in control
    /// ordered sets, which a capture has no place for.
    Credit[10] "link credit" {
        /// The class.
        class: u8 = (1, 0, 8),
        /// The most octets of the class that may be sent, counted from the start of the run.
        limit: u64 = (2, 0, 64),
        fixed "kind" = (0, 0, 8) is 2_u8,
    }
}

layout! {
    /// Layer 2 congestion indication, backward (US patent 7,474,616): from a congested switch to the source of a
    /// packet.
    Indication[8] "congestion indication" {
        /// Occupancy of the buffer: n stands for n/256 to (n + 1)/256.
        severity: u8 = (1, 0, 8),
        /// The flow of the packet.
        flow: u32 = (4, 0, 32),
        fixed "kind" = (0, 0, 8) is 3_u8,
    }
}

layout! {
    /// What begins the payload of a data frame of the transport `ethernet`, which has nothing above: it would otherwise
    /// not say which packet it is.
    Data[9] "data frame" {
        /// The flow.
        flow: u32 = (1, 0, 32),
        /// The number of the packet within the flow.
        psn: u32 = (5, 0, 32),
        fixed "kind" = (0, 0, 8) is 4_u8,
    }
}

/// One of these messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experimental {
    /// Backpressure Flow Control.
    Backpressure(Backpressure),
    /// Credit of a link.
    Credit(Credit),
    /// Layer 2 congestion indication.
    Indication(Indication),
    /// Data.
    Data(Data),
}

impl Experimental {
    /// The frame, of at least this length.
    pub fn frame(&self, destination: Mac, source: Mac, least: usize) -> Vec<u8> {
        let header = Header { destination, source, ethertype: ethertype::EXPERIMENTAL };
        let content = match self {
            Self::Backpressure(message) => message.octets().to_vec(),
            Self::Credit(message) => message.octets().to_vec(),
            Self::Indication(message) => message.octets().to_vec(),
            Self::Data(message) => message.octets().to_vec(),
        };
        frame(header, &[], &content, least.max(SHORTEST))
    }

    /// Reads a frame, by the kind of its message.
    ///
    /// # Errors
    ///
    /// If it is damaged, is of another EtherType or has a kind that is none of these.
    pub fn parse(octets: &[u8]) -> Result<Self, Invalid> {
        let frame = Frame::parse(octets)?;
        let content = frame.content_of("message of floodway's own", ethertype::EXPERIMENTAL)?;
        match content.first() {
            Some(1) => Backpressure::parse(content).map(Self::Backpressure),
            Some(2) => Credit::parse(content).map(Self::Credit),
            Some(4) => Data::parse(content).map(Self::Data),
            _ => Indication::parse(content).map(Self::Indication),
        }
    }
}
