//! IP datagrams with their checksums, by the library `etherparse`.

use std::net::{Ipv4Addr, Ipv6Addr};

use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv4Slice, Ipv6Header, UdpHeader, UdpSlice};

use crate::Invalid;

/// What the IPv4 header of a datagram says beside its length and protocol (RFC 791, RFC 2474, RFC 3168). Datagrams
/// are not fragmented and not numbered (RFC 6864 section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// DSCP, six bits.
    pub dscp: u8,
    /// ECN field, two bits.
    pub ecn: u8,
    /// Time to live.
    pub ttl: u8,
}

impl Ip {
    /// The datagram with this payload. Panics if it is longer than 65,535 octets, or DSCP or ECN field do not fit.
    pub fn datagram(&self, protocol: IpNumber, payload: &[u8]) -> Vec<u8> {
        let (source, destination) = (self.source.octets(), self.destination.octets());
        let length = u16::try_from(payload.len()).expect("a payload that fits into a datagram");
        let header = Ipv4Header::new(length, self.ttl, protocol, source, destination);
        let mut header = header.expect("a payload that fits into a datagram");
        header.dscp = IpDscp::try_new(self.dscp).expect("a DSCP of six bits");
        header.ecn = IpEcn::try_new(self.ecn).expect("an ECN field of two bits");
        header.dont_fragment = true;
        header.header_checksum = header.calc_header_checksum();
        let mut datagram = header.to_bytes().to_vec();
        datagram.extend(payload);
        datagram
    }

    /// A UDP datagram with these source and destination ports (RFC 768).
    pub fn udp(&self, ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
        let mut header = udp_header(ports, payload);
        let (source, destination) = (self.source.octets(), self.destination.octets());
        let sum = header.calc_checksum_ipv4_raw(source, destination, payload);
        header.checksum = sum.expect("a payload that fits into a datagram");
        self.datagram(IpNumber::UDP, &[header.to_bytes().as_slice(), payload].concat())
    }

    /// The same without a checksum, as RoCEv2 sends it: its own covers more.
    pub fn udp_unchecked(&self, ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
        let header = udp_header(ports, payload);
        self.datagram(IpNumber::UDP, &[header.to_bytes().as_slice(), payload].concat())
    }

    /// Reads the header of a datagram. Returns it with the protocol and the payload; octets behind the datagram are
    /// padding.
    ///
    /// # Errors
    ///
    /// If the header is malformed, its checksum is wrong, or the datagram is shorter than it says.
    pub fn parse(octets: &[u8]) -> Result<(Self, IpNumber, &[u8]), Invalid> {
        let invalid = Invalid::Header("IPv4");
        let slice = Ipv4Slice::from_slice(octets).map_err(|_| invalid)?;
        let header = slice.header().to_header();
        if header.header_checksum != header.calc_header_checksum() {
            return Err(invalid);
        }
        let ip = Self {
            source: header.source.into(),
            destination: header.destination.into(),
            dscp: header.dscp.value(),
            ecn: header.ecn.value(),
            ttl: header.time_to_live,
        };
        Ok((ip, header.protocol, slice.payload().payload))
    }
}

/// Sets CE in a frame without FCS, as a switch does that marks it, and changes the checksum of the header accordingly (RFC 1624
/// equation 3). Frames that have no IPv4 header without a VLAN tag before it stay as they are.
pub fn mark(frame: &mut [u8]) {
    const TYPE: usize = 12;
    const VERSION: usize = 14;
    const SUM: usize = VERSION + 10;
    if frame.len() < VERSION + 20 || frame[TYPE..TYPE + 2] != [0x08, 0x00] {
        return;
    }
    let word = |frame: &[u8], at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let (before, sum) = (word(frame, VERSION), word(frame, SUM));
    frame[VERSION + 1] |= 3;
    let mut sum = (!sum & 0xffff) + (!before & 0xffff) + word(frame, VERSION);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    frame[SUM..SUM + 2].copy_from_slice(&(!sum as u16).to_be_bytes());
}

/// A header without a checksum.
fn udp_header(ports: (u16, u16), payload: &[u8]) -> UdpHeader {
    let header = UdpHeader::without_ipv4_checksum(ports.0, ports.1, payload.len());
    header.expect("a payload that fits into a datagram")
}

/// The same of IPv6 (RFC 8200).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip6 {
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
    /// Traffic class: DSCP and ECN field.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
}

impl Ip6 {
    /// A UDP datagram with these source and destination ports. Panics if it is too long.
    pub fn udp(&self, ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
        let mut header = Ipv6Header {
            traffic_class: self.traffic_class,
            next_header: IpNumber::UDP,
            hop_limit: self.hop_limit,
            source: self.source.octets(),
            destination: self.destination.octets(),
            ..Default::default()
        };
        let udp = UdpHeader::with_ipv6_checksum(ports.0, ports.1, &header, payload);
        let udp = udp.expect("a payload that fits into a datagram").to_bytes();
        header.set_payload_length(udp.len() + payload.len()).expect("the UDP length fits too");
        [header.to_bytes().as_slice(), &udp, payload].concat()
    }
}

/// A UDP datagram that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp<'a> {
    /// Its IPv4 header.
    pub ip: Ip,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Udp<'a> {
    /// Reads a datagram of UDP over IPv4.
    ///
    /// # Errors
    ///
    /// If a header is malformed, a checksum is wrong, or it is not UDP.
    pub fn parse(octets: &'a [u8]) -> Result<Self, Invalid> {
        let (ip, protocol, rest) = Ip::parse(octets)?;
        Invalid::unless("IPv4", "protocol", protocol.0, IpNumber::UDP.0)?;
        let invalid = Invalid::Header("UDP");
        let udp = UdpSlice::from_slice(rest).map_err(|_| invalid)?;
        let addresses = (ip.source.octets(), ip.destination.octets());
        let sum = udp.to_header().calc_checksum_ipv4_raw(addresses.0, addresses.1, udp.payload());
        if udp.checksum() != 0 && sum != Ok(udp.checksum()) {
            return Err(invalid);
        }
        let (source_port, destination_port) = (udp.source_port(), udp.destination_port());
        Ok(Self { ip, source_port, destination_port, payload: udp.payload() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ethernet::{Header, ethertype, frame};

    #[test]
    fn a_mark_keeps_the_checksum_good() {
        for (dscp, ecn, last) in [(0, 2, 1), (46, 1, 200), (0, 0, 77), (63, 3, 3)] {
            let ip = Ip {
                source: [10, 0, 0, last].into(),
                destination: [10, 9, 8, 7].into(),
                dscp,
                ecn,
                ttl: 64,
            };
            let (destination, source) = (crate::Mac::default(), crate::Mac::default());
            let header = Header { destination, source, ethertype: ethertype::IPV4 };
            let mut octets = frame(header, &[], &ip.udp((1, 2), &[last; 50]), 0);
            mark(&mut octets);
            let (marked, ..) = Ip::parse(&octets[14..octets.len() - 4]).unwrap();
            assert_eq!(marked, Ip { ecn: 3, ..ip });
        }
    }

    #[test]
    fn what_is_not_ipv4_stays_as_it_is() {
        for length in [0, 13, 33, 60] {
            let mut octets = vec![6; length];
            mark(&mut octets);
            assert_eq!(octets, vec![6; length]);
        }
    }
}
