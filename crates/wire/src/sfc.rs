//! The message of source flow control (project P802.1Qdw), in UDP over IPv4 from a congested switch to a source. The
//! text of the project is not public: the content is that of the published descriptions (arXiv 2305.00538), the
//! layout and the port are floodway's own.

use std::net::Ipv4Addr;

use crate::Invalid;
use crate::ip::{Ip, Udp};
use crate::layout::layout;

layout! {
    /// The payload of the datagram.
    Sfc[28] "source flow control message" {
        /// DSCP of the data packet.
        dscp: u8 = (1, 0, 6),
        /// Protocol of the data packet.
        protocol: u8 = (2, 0, 8),
        /// The class of traffic that has to pause.
        class: u8 = (3, 0, 3),
        /// Source of the data packet: the host that has to pause.
        source: Ipv4Addr = (4, 0, 32),
        /// Destination of the data packet: the host to which traffic pauses.
        destination: Ipv4Addr = (8, 0, 32),
        /// Source port of the data packet.
        source_port: u16 = (12, 0, 16),
        /// Destination port of the data packet.
        destination_port: u16 = (14, 0, 16),
        /// Pause time in nanoseconds from the arrival.
        pause_ns: u32 = (16, 0, 32),
        fixed "version" = (0, 0, 4) is 1_u8,
    }
}

/// The UDP port, one of those for private use.
pub const PORT: u16 = 0xc5fc;

impl Sfc {
    /// The datagram.
    pub fn datagram(&self, ip: &Ip) -> Vec<u8> {
        ip.udp((PORT, PORT), &self.octets())
    }

    /// Reads a datagram.
    ///
    /// # Errors
    ///
    /// If it is not such a message.
    pub fn parse_datagram(datagram: &[u8]) -> Result<Self, Invalid> {
        let udp = Udp::parse(datagram)?;
        Invalid::unless(
            "source flow control message",
            "destination port",
            udp.destination_port,
            PORT,
        )?;
        Self::parse(udp.payload)
    }
}
