//! Reads captures, in the formats pcap and pcapng, by the library `pcap-parser`.

use std::fmt;
use std::io::Read;

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, PcapBlockOwned, PcapError, PcapHeader, create_reader};

/// A frame of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its number in the file, from 1.
    pub number: u64,
    /// The number of the interface, among all in the file.
    pub interface: u32,
    /// Time in nanoseconds since 1970.
    pub at_ns: u64,
    /// The link type of its interface: see [`link`].
    pub link: i32,
    /// The octets that were kept.
    pub octets: &'a [u8],
    /// How many it had.
    pub length: u32,
}

/// Link types (registry of pcap.org).
pub mod link {
    /// Ethernet without FCS, or with it.
    pub const ETHERNET: i32 = 1;
    /// IPv4 or IPv6 with nothing below.
    pub const RAW: i32 = 101;
    /// The same, with the number that it has in files of BSD.
    pub const RAW_BSD: i32 = 12;
    /// The same in files of OpenBSD.
    pub const RAW_OPENBSD: i32 = 14;
    /// IPv4 with nothing below.
    pub const IPV4: i32 = 228;
    /// IPv6 with nothing below.
    pub const IPV6: i32 = 229;
    /// Loopback of BSD.
    pub const NULL: i32 = 0;
    /// Loopback of OpenBSD.
    pub const LOOP: i32 = 108;
    /// Linux, all interfaces at once.
    pub const LINUX_SLL: i32 = 113;
    /// The same, version 2.
    pub const LINUX_SLL2: i32 = 276;
}

/// Why a capture cannot be read. Frames before the fault have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file is neither pcap nor pcapng.
    Format,
    /// The file ends within a block or frame, after this many frames.
    Cut(u64),
    /// A block after this many frames is malformed.
    Malformed(u64),
    /// A block after this many frames is longer than 16 MiB.
    Long(u64),
    /// A frame has an interface that the file does not describe before.
    Interface {
        /// The number of the frame.
        frame: u64,
        /// The number of the interface.
        interface: u32,
    },
    /// The time of this frame is before 1970, or so late that it does not fit into 64 bits of nanoseconds.
    Time(u64),
    /// The unit of time of an interface cannot be a clock's.
    Unit(u32),
    /// The system cannot read the file.
    Read,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format => f.write_str("it is neither pcap nor pcapng"),
            Self::Cut(after) => write!(f, "it ends in the middle of a block, after frame {after}"),
            Self::Malformed(after) => write!(f, "what follows frame {after} is malformed"),
            Self::Long(after) => write!(f, "what follows frame {after} is longer than 16 MiB"),
            Self::Interface { frame, interface } => {
                write!(f, "frame {frame} is of interface {interface}, which it does not describe")
            }
            Self::Time(frame) => {
                write!(f, "the time of frame {frame} is before 1970, or after 2554")
            }
            Self::Unit(interface) => {
                write!(f, "the unit of time of interface {interface} is not one of a clock")
            }
            Self::Read => f.write_str("it cannot be read"),
        }
    }
}

impl std::error::Error for Fault {}

/// The most octets of a block, and of the buffer for it.
const MOST: usize = 16 << 20;
/// The size of the buffer at first.
const FIRST: usize = 1 << 16;

/// The clock and the link of an interface.
#[derive(Clone, Copy)]
struct Interface {
    link: i32,
    /// Units per second.
    units: u64,
    /// Seconds to add.
    offset: i64,
    /// The most octets of a frame; 0 for no limit.
    most: u32,
}

/// What is known so far.
#[derive(Default)]
struct Reading {
    /// Those of the current section.
    interfaces: Vec<Interface>,
    /// How many there were in sections before.
    before: u32,
    frames: u64,
}

/// Reads a capture and hands over its frames in the order of the file.
///
/// # Errors
///
/// If it is no capture, or is damaged. Frames before the damage are handed over.
pub fn read<'r>(from: impl Read + Send + 'r, mut each: impl FnMut(Frame<'_>)) -> Result<(), Fault> {
    let mut reading = Reading::default();
    let mut reader = create_reader(FIRST, from).map_err(|error| fault(&error, 0))?;
    let mut capacity = FIRST;
    // What was asked for when the buffer did not have it; twice the same is an end within a block.
    let mut lacked = None;
    loop {
        match reader.next() {
            Ok((taken, block)) => {
                reading.block(&block, &mut each)?;
                drop(block);
                reader.consume(taken);
                lacked = None;
            }
            Err(PcapError::Eof) => return Ok(()),
            Err(PcapError::Incomplete(_)) => {
                let here = (reader.position(), reader.data().len());
                if lacked == Some(here) {
                    return Err(Fault::Cut(reading.frames));
                }
                lacked = Some(here);
                reader.refill().map_err(|error| fault(&error, reading.frames))?;
            }
            Err(PcapError::BufferTooSmall) if capacity < MOST => {
                capacity *= 2;
                if !reader.grow(capacity) {
                    return Err(Fault::Long(reading.frames));
                }
                reader.refill().map_err(|error| fault(&error, reading.frames))?;
            }
            Err(error) => return Err(fault(&error, reading.frames)),
        }
    }
}

fn fault<I>(error: &PcapError<I>, frames: u64) -> Fault {
    match error {
        PcapError::HeaderNotRecognized => Fault::Format,
        // Too short for the header of either format.
        PcapError::Eof | PcapError::Incomplete(_) if frames == 0 => Fault::Format,
        PcapError::Eof | PcapError::Incomplete(_) | PcapError::UnexpectedEof => Fault::Cut(frames),
        PcapError::BufferTooSmall => Fault::Long(frames),
        PcapError::ReadError => Fault::Read,
        PcapError::NomError(..) | PcapError::OwnedNomError(..) => Fault::Malformed(frames),
    }
}

impl Reading {
    fn block(
        &mut self,
        block: &PcapBlockOwned<'_>,
        each: &mut impl FnMut(Frame<'_>),
    ) -> Result<(), Fault> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.interfaces.push(legacy(header)),
            PcapBlockOwned::Legacy(packet) => {
                let at = u64::from(packet.ts_sec).checked_mul(self.interfaces[0].units);
                let at = at.and_then(|at| at.checked_add(packet.ts_usec.into()));
                let kept = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                self.frame(0, at, (kept, packet.origlen), each)?;
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                self.before += self.interfaces.len() as u32;
                self.interfaces.clear();
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(one)) => {
                let number = self.before + self.interfaces.len() as u32;
                let units = one.ts_resolution().filter(|units| *units > 0);
                self.interfaces.push(Interface {
                    link: one.linktype.0,
                    units: units.ok_or(Fault::Unit(number))?,
                    offset: one.if_tsoffset,
                    most: one.snaplen,
                });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let at = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let frame = (packet.packet_data(), packet.origlen);
                self.frame(packet.if_id, Some(at), frame, each)?;
            }
            // It has no time; the kept octets are as many as fit, without padding.
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                let most = self.interfaces.first().map_or(0, |one| one.most);
                let kept = if most == 0 { packet.origlen } else { packet.origlen.min(most) };
                let kept = packet.data.get(..kept as usize).unwrap_or(packet.data);
                self.frame(0, Some(0), (kept, packet.origlen), each)?;
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(())
    }

    /// Hands over a frame with its time in units of its interface.
    fn frame(
        &mut self,
        interface: u32,
        at: Option<u64>,
        (octets, length): (&[u8], u32),
        each: &mut impl FnMut(Frame<'_>),
    ) -> Result<(), Fault> {
        let number = self.frames + 1;
        let Some(of) = self.interfaces.get(interface as usize) else {
            return Err(Fault::Interface { frame: number, interface });
        };
        let at_ns = at.and_then(|at| nanoseconds(at, of)).ok_or(Fault::Time(number))?;
        self.frames = number;
        let (interface, link) = (self.before + interface, of.link);
        each(Frame { number, interface, at_ns, link, octets, length });
        Ok(())
    }
}

/// A time since 1970, if it has one that fits.
fn nanoseconds(at: u64, of: &Interface) -> Option<u64> {
    const SECOND: i128 = 1_000_000_000;
    let since = i128::from(at) * SECOND / i128::from(of.units) + i128::from(of.offset) * SECOND;
    u64::try_from(since).ok()
}

fn legacy(header: &PcapHeader) -> Interface {
    let units = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
    Interface { link: header.network.0, units, offset: 0, most: header.snaplen }
}
