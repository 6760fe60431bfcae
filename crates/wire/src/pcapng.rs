//! Writes captures in the pcapng format (IETF draft-ietf-opsawg-pcapng): one section, in which times are in
//! nanoseconds and numbers are little-endian.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use crate::ethernet::Mac;

/// Link type Ethernet (LINKTYPE_ETHERNET).
const ETHERNET: u16 = 1;

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    interfaces: u32,
}

/// An interface, at which frames are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is, in words.
    pub description: &'a str,
    /// Its address, if it has one.
    pub mac: Option<Mac>,
    /// Its rate in bits per second, if it has one.
    pub rate: Option<u64>,
    /// The most octets that are kept of a frame.
    pub most: u32,
}

/// Which way a frame goes at an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It arrives.
    Inbound,
    /// It is sent.
    Outbound,
    /// It does neither.
    Unknown,
}

/// A captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured<'a> {
    /// The number of the interface.
    pub interface: u32,
    /// Time in nanoseconds.
    pub at_ns: u64,
    /// The octets that are kept.
    pub octets: &'a [u8],
    /// Number of octets of the frame.
    pub length: u32,
    /// Which way it goes.
    pub direction: Direction,
    /// The queue.
    pub queue: Option<u32>,
    /// What is to be said of it; empty for nothing.
    pub comment: &'a str,
}

/// The options of a block.
#[derive(Default)]
struct Options(Vec<u8>);

impl Options {
    /// Adds an option, padded to four octets. An option has at most 65,535: of a longer text the beginning is kept.
    fn add(&mut self, code: u16, value: &[u8]) {
        let length = value.len().min(u16::MAX.into());
        self.0.extend(code.to_le_bytes());
        self.0.extend((length as u16).to_le_bytes());
        self.0.extend(&value[..length]);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn end(mut self) -> Vec<u8> {
        if !self.0.is_empty() {
            self.0.extend([0; 4]);
        }
        self.0
    }
}

impl<W: Write> Writer<W> {
    /// Begins a capture that this program has made, which is about this.
    pub fn new(out: W, program: &str, about: &str) -> io::Result<Self> {
        let mut writer = Self { out, interfaces: 0 };
        let mut options = Options::default();
        options.add(1, about.as_bytes());
        options.add(4, program.as_bytes());
        let mut body = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
        // Version 1.0, and a section of unknown length.
        body.extend([1, 0, 0, 0]);
        body.extend([0xff; 8]);
        writer.block(0x0a0d_0d0a, &[&body, &options.end()])?;
        Ok(writer)
    }

    /// Adds an interface. Returns its number.
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<u32> {
        let mut options = Options::default();
        options.add(2, interface.name.as_bytes());
        options.add(3, interface.description.as_bytes());
        if let Some(mac) = interface.mac {
            options.add(6, &mac.0);
        }
        if let Some(rate) = interface.rate {
            options.add(8, &rate.to_le_bytes());
        }
        // Times are in units of 10^-9 s; frames end with an FCS of four octets.
        options.add(9, &[9]);
        options.add(13, &[4]);
        let mut body = ETHERNET.to_le_bytes().to_vec();
        body.extend([0; 2]);
        body.extend(interface.most.to_le_bytes());
        self.block(1, &[&body, &options.end()])?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Says which names addresses have. Comes after an interface, because Wireshark does not write files again (`editcap`)
    /// that begin with names.
    pub fn names(&mut self, names: &[(Ipv4Addr, &str)]) -> io::Result<()> {
        debug_assert!(self.interfaces > 0, "names come after an interface");
        let mut body = Vec::new();
        for (address, name) in names {
            body.extend(1_u16.to_le_bytes());
            body.extend((name.len() as u16 + 5).to_le_bytes());
            body.extend(address.octets());
            body.extend(name.as_bytes());
            body.push(0);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        body.extend([0; 4]);
        self.block(4, &[&body])
    }

    /// Adds a frame. Panics if more octets are kept than it has.
    pub fn frame(&mut self, frame: &Captured<'_>) -> io::Result<()> {
        let kept = frame.octets.len() as u32;
        assert!(kept <= frame.length, "{kept} octets are kept of {}", frame.length);
        let mut options = Options::default();
        if !frame.comment.is_empty() {
            options.add(1, frame.comment.as_bytes());
        }
        match frame.direction {
            Direction::Inbound => options.add(2, &1_u32.to_le_bytes()),
            Direction::Outbound => options.add(2, &2_u32.to_le_bytes()),
            Direction::Unknown => {}
        }
        if let Some(queue) = frame.queue {
            options.add(6, &queue.to_le_bytes());
        }
        let header =
            [frame.interface, (frame.at_ns >> 32) as u32, frame.at_ns as u32, kept, frame.length];
        let header: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
        let padding = &[0; 3][..frame.octets.len().next_multiple_of(4) - frame.octets.len()];
        self.block(6, &[&header, frame.octets, padding, &options.end()])
    }

    /// Says how many frames passed an interface until this time, and how many of them are not in the capture.
    pub fn statistics(
        &mut self,
        interface: u32,
        at_ns: u64,
        (passed, left_out): (u64, u64),
    ) -> io::Result<()> {
        let mut options = Options::default();
        options.add(4, &passed.to_le_bytes());
        options.add(5, &left_out.to_le_bytes());
        let header = [interface, (at_ns >> 32) as u32, at_ns as u32];
        let header: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
        self.block(5, &[&header, &options.end()])
    }

    /// Writes a block of parts that together have a multiple of four octets.
    fn block(&mut self, kind: u32, parts: &[&[u8]]) -> io::Result<()> {
        let length = 12 + parts.iter().map(|part| part.len()).sum::<usize>() as u32;
        debug_assert!(length.is_multiple_of(4));
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        parts.iter().try_for_each(|part| self.out.write_all(part))?;
        self.out.write_all(&length.to_le_bytes())
    }
}
