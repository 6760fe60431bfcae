//! The flows of a capture, made from its packets.

use std::collections::HashMap;

use floodway_wire::capture::Frame;

use super::packets::{Key, Packet, Seen};
use super::{Account, Flow};

/// A flow that may go on.
struct Open {
    /// Its place in the list.
    place: usize,
    /// The interface at which it was seen first; elsewhere its frames are the same ones.
    interface: u32,
    /// The number that would be new, if its packets have one, counted without end.
    next: u64,
}

/// Flows by connection.
pub struct Table {
    /// Time without a frame after which a flow has ended, in nanoseconds.
    idle_ns: u64,
    open: HashMap<Key, Open>,
    /// When a connection was opened that has not sent anything, and at which interface.
    opened: HashMap<Key, (u64, u32)>,
    flows: Vec<Flow>,
    account: Account,
}

impl Table {
    /// An empty table.
    pub fn new(idle_ns: u64) -> Self {
        Self {
            idle_ns,
            open: HashMap::new(),
            opened: HashMap::new(),
            flows: Vec::new(),
            account: Account::default(),
        }
    }

    /// Adds a frame.
    pub fn add(&mut self, frame: &Frame<'_>, seen: Seen) {
        let account = &mut self.account;
        account.frames += 1;
        match seen {
            Seen::Packet(packet) if packet.key.source == packet.key.destination => {
                account.to_itself += 1;
            }
            Seen::Packet(packet) => self.packet(frame, &packet),
            Seen::Multicast => account.multicast += 1,
            Seen::Fragment => account.fragments += 1,
            Seen::OtherProtocol => account.other_protocols += 1,
            Seen::NoIp => account.without_ip += 1,
            Seen::Malformed => account.malformed += 1,
        }
    }

    fn packet(&mut self, frame: &Frame<'_>, packet: &Packet) {
        let (at, key) = (frame.at_ns, packet.key);
        if packet.opens {
            self.opened.entry(key).or_insert((at, frame.interface));
        }
        if packet.payload == 0 {
            self.account.without_payload += 1;
            return;
        }
        let idle = self.idle_ns;
        let goes_on =
            |open: &&mut Open, flows: &[Flow]| at.saturating_sub(flows[open.place].end_ns) <= idle;
        let flows = &mut self.flows;
        let Some(open) = self.open.get_mut(&key).filter(|open| goes_on(open, flows)) else {
            return self.begin(frame, packet);
        };
        if open.interface != frame.interface {
            self.account.seen_before += 1;
            return;
        }
        let flow = &mut flows[open.place];
        flow.end_ns = flow.end_ns.max(at);
        let bytes = match packet.number {
            None => packet.payload,
            Some((number, bits)) => open.new_bytes(number, bits, packet.payload),
        };
        match bytes {
            0 => self.account.repeated += 1,
            _ => self.account.of_flows += 1,
        }
        flow.bytes += bytes;
    }

    fn begin(&mut self, frame: &Frame<'_>, packet: &Packet) {
        let Key { source, destination, transport, .. } = packet.key;
        let at = frame.at_ns;
        // The handshake is part of it, but not one of long ago.
        let opened = self.opened.remove(&packet.key);
        let opened = opened.filter(|(opened, _)| at.saturating_sub(*opened) <= self.idle_ns);
        let start_ns = opened.map_or(at, |(opened, _)| opened.min(at));
        let next = packet
            .number
            .map_or(0, |(number, bits)| u64::from(number) + step(bits, packet.payload));
        let place = self.flows.len();
        let bytes = packet.payload;
        self.flows.push(Flow { source, destination, transport, bytes, start_ns, end_ns: at });
        self.open.insert(packet.key, Open { place, interface: frame.interface, next });
        self.account.of_flows += 1;
    }

    /// The flows in order of start, and what became of the frames.
    pub fn finish(mut self) -> (Vec<Flow>, Account) {
        self.flows.sort_by_key(|flow| (flow.start_ns, flow.source, flow.destination));
        (self.flows, self.account)
    }
}

/// By how much the number of a packet with this payload grows: of TCP by its octets, of RoCEv2 by one.
fn step(bits: u32, payload: u64) -> u64 {
    if bits == 32 { payload } else { 1 }
}

impl Open {
    /// How many octets of a packet are new. Numbers wrap around, and those of less than half of their range ahead are
    /// later ones.
    fn new_bytes(&mut self, number: u32, bits: u32, payload: u64) -> u64 {
        let range = 1_u64 << bits;
        let ahead = (u64::from(number) + range - self.next % range) % range;
        let from = match ahead < range / 2 {
            true => self.next + ahead,
            false => (self.next + ahead).saturating_sub(range),
        };
        let to = from + step(bits, payload);
        let new = to.saturating_sub(self.next.max(from));
        self.next = self.next.max(to);
        if bits == 32 { new } else { payload * new.min(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(next: u64) -> Open {
        Open { place: 0, interface: 0, next }
    }

    #[test]
    fn octets_count_once() {
        let mut tcp = open(1_001);
        assert_eq!(tcp.new_bytes(1_001, 32, 500), 500);
        assert_eq!(tcp.new_bytes(1_001, 32, 500), 0, "again");
        assert_eq!(tcp.new_bytes(1_301, 32, 500), 300, "half of it again");
        // What was lost on the way to the capture is not counted, and what comes late is.
        assert_eq!(tcp.new_bytes(2_801, 32, 100), 100);
        assert_eq!(tcp.next, 2_901);
    }

    #[test]
    fn numbers_wrap_around() {
        let mut tcp = open((1 << 32) - 10);
        assert_eq!(tcp.new_bytes(u32::MAX - 9, 32, 30), 30);
        assert_eq!(tcp.new_bytes(20, 32, 5), 5);
        assert_eq!(tcp.new_bytes(u32::MAX - 9, 32, 30), 0);
        let mut roce = open(0xff_ffff);
        assert_eq!(roce.new_bytes(0xff_ffff, 24, 1_024), 1_024);
        assert_eq!(roce.new_bytes(0, 24, 1_024), 1_024);
        assert_eq!(roce.new_bytes(0xff_ffff, 24, 1_024), 0);
    }
}
