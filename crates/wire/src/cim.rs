//! The congestion isolation message (IEEE 802.1Q clause 49, as amended by 802.1Qcz), on layer 2 and in UDP over IPv4
//! or IPv6. The fields are those of the managed objects of its YANG module; their order and widths are assumed, not
//! checked against the standard. The standard names no UDP port: a peer advertises its own with LLDP.

use crate::Invalid;
use crate::ethernet::{Frame, Header, Mac, SHORTEST, ethertype, frame};
use crate::ip::{Ip, Ip6};
use crate::layout::layout;

layout! {
    /// The PDU without the octets of the congesting frame, which follow.
    Pdu[18] "congestion isolation message" {
        /// Destination of the congesting frame.
        destination: Mac = (2, 0, 48),
        /// Source of the congesting frame.
        source: Mac = (8, 0, 48),
        /// VLAN of the congesting frame; 0 if it has none.
        vlan: u16 = (14, 4, 12),
        /// Number of octets of the congesting frame that follow, from the beginning of its MSDU.
        octets: u16 = (16, 0, 16),
        fixed "version" = (0, 0, 4) is 0_u8,
    }
}

/// The octets of a congesting frame that a message has by default (managed object `min-header-octets`).
pub const USUAL_OCTETS: usize = 48;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cim {
    /// The PDU.
    pub pdu: Pdu,
    /// The first octets of the congesting frame's MSDU. `pdu.octets` is their number.
    pub msdu: Vec<u8>,
}

impl Cim {
    /// The octets of the PDU. Panics if `pdu.octets` is not the number of octets of the MSDU.
    pub fn octets(&self) -> Vec<u8> {
        assert_eq!(usize::from(self.pdu.octets), self.msdu.len());
        [self.pdu.octets().as_slice(), &self.msdu].concat()
    }

    /// Reads a PDU; what follows it is padding.
    ///
    /// # Errors
    ///
    /// If it is of another version, or shorter than it says.
    pub fn parse_pdu(octets: &[u8]) -> Result<Self, Invalid> {
        let pdu = Pdu::parse(octets)?;
        let (stated, left) = (usize::from(pdu.octets), &octets[Pdu::LEN..]);
        match left.get(..stated) {
            Some(msdu) => Ok(Self { pdu, msdu: msdu.to_vec() }),
            None => {
                let format = "congestion isolation message";
                Err(Invalid::Length { format, stated, found: left.len() })
            }
        }
    }

    /// The frame of layer 2, from a port to its peer.
    pub fn frame(&self, destination: Mac, source: Mac) -> Vec<u8> {
        let header = Header { destination, source, ethertype: ethertype::CIM };
        frame(header, &[], &self.octets(), SHORTEST)
    }

    /// Reads a frame of layer 2.
    ///
    /// # Errors
    ///
    /// If it is damaged or not such a message.
    pub fn parse(octets: &[u8]) -> Result<Self, Invalid> {
        let frame = Frame::parse(octets)?;
        Self::parse_pdu(frame.content_of("congestion isolation message", ethertype::CIM)?)
    }

    /// The datagram of the IPv4 form, to the UDP port that the peer has advertised.
    pub fn datagram(&self, ip: &Ip, port: u16) -> Vec<u8> {
        ip.udp((port, port), &self.octets())
    }

    /// The datagram of the IPv6 form.
    pub fn datagram6(&self, ip: &Ip6, port: u16) -> Vec<u8> {
        ip.udp((port, port), &self.octets())
    }
}
