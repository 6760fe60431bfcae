//! TCP segments (RFC 9293) with the options that the simulated TCP has: MSS (RFC 9293 section 3.7.1), window scale and
//! timestamps (RFC 7323), selective acknowledgement (RFC 2018) and accurate ECN (RFC 9768). Headers and checksums are
//! those of the library `etherparse`, which lacks the last option.

use etherparse::{IpNumber, TcpHeader, TcpSlice};

use crate::Invalid;
use crate::ip::Ip;

/// Flags of a segment that the simulated TCP uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// SYN.
    pub syn: bool,
    /// ACK: the acknowledgement number is valid.
    pub ack: bool,
    /// PSH.
    pub push: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub reset: bool,
    /// AE, the first bit of ACE (RFC 9768 section 3.1).
    pub ae: bool,
    /// CWR.
    pub cwr: bool,
    /// ECE.
    pub ece: bool,
}

impl Flags {
    /// With these three bits in AE, CWR and ECE, the field ACE (RFC 9768 section 3.2.2).
    #[must_use]
    pub const fn with_ace(self, ace: u8) -> Self {
        Self { ae: ace & 4 != 0, cwr: ace & 2 != 0, ece: ace & 1 != 0, ..self }
    }
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// Kind 1: no operation.
    Nop,
    /// Kind 2: maximum segment size.
    Mss(u16),
    /// Kind 3: window scale.
    WindowScale(u8),
    /// Kind 4: selective acknowledgement is permitted.
    SackPermitted,
    /// Kind 5: blocks that have arrived, each from its first octet to the one behind its last.
    Sack(Vec<(u32, u32)>),
    /// Kind 8: the sender's time, and the time that is echoed.
    Timestamps(u32, u32),
    /// Kind 172, AccECN0: octets received with ECT(0), CE and ECT(1), each modulo 2^24. Later ones may be left out.
    Accurate0(Vec<u32>),
    /// Kind 174, AccECN1: the same in the order ECT(1), CE and ECT(0).
    Accurate1(Vec<u32>),
    /// Another kind, with its content.
    Other(u8, Vec<u8>),
}

impl TcpOption {
    fn emit(&self, out: &mut Vec<u8>) {
        let mut put = |kind: u8, content: &[u8]| {
            out.extend([kind, 2 + content.len() as u8]);
            out.extend(content);
        };
        match self {
            Self::Nop => out.push(1),
            Self::Mss(mss) => put(2, &mss.to_be_bytes()),
            Self::WindowScale(shift) => put(3, &[*shift]),
            Self::SackPermitted => put(4, &[]),
            Self::Sack(blocks) => {
                let edges = blocks.iter().flat_map(|&(from, to)| [from, to]);
                put(5, &edges.flat_map(u32::to_be_bytes).collect::<Vec<u8>>());
            }
            Self::Timestamps(value, echo) => {
                put(8, &[value.to_be_bytes(), echo.to_be_bytes()].concat());
            }
            Self::Accurate0(counters) => put(172, &of_24_bits(counters)),
            Self::Accurate1(counters) => put(174, &of_24_bits(counters)),
            Self::Other(kind, content) => put(*kind, content),
        }
    }

    /// Reads the option at the beginning. Returns it with its length; `None` for the end of the list.
    fn parse(octets: &[u8]) -> Result<Option<(Self, usize)>, Invalid> {
        let invalid = Invalid::Header("TCP options");
        let (kind, length) = match *octets {
            [] | [0, ..] => return Ok(None),
            [1, ..] => return Ok(Some((Self::Nop, 1))),
            [kind, length, ..] => (kind, usize::from(length)),
            [_] => return Err(invalid),
        };
        let content = octets.get(2..length).ok_or(invalid)?;
        let word = |at: &[u8]| at.iter().fold(0_u32, |all, &one| all << 8 | u32::from(one));
        let option = match (kind, content.len()) {
            (2, 2) => Self::Mss(word(content) as u16),
            (3, 1) => Self::WindowScale(content[0]),
            (4, 0) => Self::SackPermitted,
            (5, 8 | 16 | 24 | 32) => {
                Self::Sack(content.chunks(8).map(|c| (word(&c[..4]), word(&c[4..]))).collect())
            }
            (8, 8) => Self::Timestamps(word(&content[..4]), word(&content[4..])),
            (172, 0 | 3 | 6 | 9) => Self::Accurate0(content.chunks(3).map(word).collect()),
            (174, 0 | 3 | 6 | 9) => Self::Accurate1(content.chunks(3).map(word).collect()),
            (2 | 3 | 4 | 5 | 8 | 172 | 174, _) => return Err(invalid),
            _ => Self::Other(kind, content.to_vec()),
        };
        Ok(Some((option, length)))
    }
}

/// Counters of 24 bits. Panics if one does not fit.
fn of_24_bits(counters: &[u32]) -> Vec<u8> {
    let octets = counters.iter().flat_map(|counter| {
        let [high, low @ ..] = counter.to_be_bytes();
        assert_eq!(high, 0, "a counter of 24 bits");
        low
    });
    octets.collect()
}

/// A segment without its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgment: u32,
    /// Flags.
    pub flags: Flags,
    /// Window, not scaled.
    pub window: u16,
    /// Options, of at most 40 octets; padded with zeros to a multiple of four.
    pub options: Vec<TcpOption>,
}

impl Segment {
    /// The datagram with this payload. Panics if the options have more than 40 octets, or a number in them does not
    /// fit.
    pub fn datagram(&self, ip: &Ip, payload: &[u8]) -> Vec<u8> {
        let mut header =
            TcpHeader::new(self.source_port, self.destination_port, self.sequence, self.window);
        header.acknowledgment_number = self.acknowledgment;
        let Flags { syn, ack, push, fin, reset, ae, cwr, ece } = self.flags;
        (header.syn, header.ack, header.psh, header.fin) = (syn, ack, push, fin);
        (header.rst, header.ns, header.cwr, header.ece) = (reset, ae, cwr, ece);
        let mut options = Vec::new();
        self.options.iter().for_each(|option| option.emit(&mut options));
        header.set_options_raw(&options).expect("options of at most 40 octets");
        let sum =
            header.calc_checksum_ipv4_raw(ip.source.octets(), ip.destination.octets(), payload);
        header.checksum = sum.expect("a payload that fits into a datagram");
        ip.datagram(IpNumber::TCP, &[header.to_bytes().as_slice(), payload].concat())
    }

    /// Reads a datagram. Returns the segment, its IPv4 header and its payload; octets behind the datagram are padding.
    ///
    /// # Errors
    ///
    /// If a header or an option is malformed, a checksum is wrong, or it is not TCP.
    pub fn parse(octets: &[u8]) -> Result<(Self, Ip, &[u8]), Invalid> {
        let (ip, protocol, rest) = Ip::parse(octets)?;
        Invalid::unless("IPv4", "protocol", protocol.0, IpNumber::TCP.0)?;
        let invalid = Invalid::Header("TCP");
        let slice = TcpSlice::from_slice(rest).map_err(|_| invalid)?;
        let header = slice.to_header();
        let addresses = (ip.source.octets(), ip.destination.octets());
        let sum = header.calc_checksum_ipv4_raw(addresses.0, addresses.1, slice.payload());
        if sum != Ok(header.checksum) {
            return Err(invalid);
        }
        let mut options = Vec::new();
        let mut left = slice.options();
        while let Some((option, length)) = TcpOption::parse(left)? {
            options.push(option);
            left = &left[length..];
        }
        let flags = Flags {
            syn: header.syn,
            ack: header.ack,
            push: header.psh,
            fin: header.fin,
            reset: header.rst,
            ae: header.ns,
            cwr: header.cwr,
            ece: header.ece,
        };
        let segment = Self {
            source_port: header.source_port,
            destination_port: header.destination_port,
            sequence: header.sequence_number,
            acknowledgment: header.acknowledgment_number,
            flags,
            window: header.window_size,
            options,
        };
        Ok((segment, ip, slice.payload()))
    }
}
