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
            // Another connection between the same ports: its numbers begin anew.
            self.open.remove(&key);
            self.opened.entry(key).or_insert((at, frame.interface));
        }
        if packet.payload == 0 {
            self.account.without_payload += 1;
            return;
        }
        let Some(open) = self.open.get_mut(&key) else {
            let next = packet
                .number
                .map_or(0, |(number, bits)| u64::from(number) + step(bits, packet.payload));
            return self.begin(frame, packet, (packet.payload, next));
        };
        if open.interface != frame.interface {
            self.account.seen_before += 1;
            return;
        }
        let flow = &mut self.flows[open.place];
        let is_idle = at.saturating_sub(flow.end_ns) > self.idle_ns;
        let bytes = match packet.number {
            None => packet.payload,
            Some((number, bits)) if is_idle && open.is_of_another(number, bits) => {
                open.next = u64::from(number) + step(bits, packet.payload);
                packet.payload
            }
            Some((number, bits)) => open.new_bytes(number, bits, packet.payload),
        };
        // What is sent again after a pause, such as a keepalive, begins no flow.
        if bytes == 0 {
            self.account.repeated += 1;
            return;
        }
        if is_idle {
            let next = open.next;
            return self.begin(frame, packet, (bytes, next));
        }
        flow.end_ns = flow.end_ns.max(at);
        self.account.of_flows += 1;
        flow.bytes += bytes;
    }

    /// Begins a flow with a packet of which so many octets are new; then the number that would be new.
    fn begin(&mut self, frame: &Frame<'_>, packet: &Packet, (bytes, next): (u64, u64)) {
        let Key { source, destination, transport, .. } = packet.key;
        let at = frame.at_ns;
        // The handshake is part of it, but not one of long ago.
        let opened = self.opened.remove(&packet.key);
        let opened = opened.filter(|(opened, _)| at.saturating_sub(*opened) <= self.idle_ns);
        let start_ns = opened.map_or(at, |(opened, _)| opened.min(at));
        let place = self.flows.len();
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
    /// Whether a number after a pause is that of another connection whose beginning is not in the capture: it is far from
    /// the last one, by 16 MiB of TCP or 32,768 packets of RoCEv2 in either direction.
    fn is_of_another(&self, number: u32, bits: u32) -> bool {
        let (range, far) = (1_u64 << bits, 1_u64 << if bits == 32 { 24 } else { 15 });
        let ahead = (u64::from(number) + range - self.next % range) % range;
        (far..range - far).contains(&ahead)
    }

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
    use crate::import::pcap::Transport;

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

    /// A table of frames at these times in ms and interfaces, of payload with these numbers.
    fn flows(frames: &[(u64, u32, u32, u64, bool)]) -> (Vec<Flow>, Account) {
        let mut table = Table::new(1_000_000_000);
        for (place, &(ms, interface, number, payload, opens)) in frames.iter().enumerate() {
            let [source, destination] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Into::into);
            let key = Key { source, destination, transport: Transport::Tcp, ends: (1, 2) };
            let frame = Frame {
                number: place as u64 + 1,
                interface,
                at_ns: ms * 1_000_000,
                link: 1,
                octets: &[],
                length: 0,
            };
            let packet = Packet { key, payload, number: Some((number, 32)), opens };
            table.add(&frame, Seen::Packet(packet));
        }
        table.finish()
    }

    #[test]
    fn what_is_sent_again_after_a_pause_begins_no_flow() {
        let (found, account) = flows(&[
            (0, 0, 1, 1_000, false),
            (3_000, 0, 1, 1_000, false),
            // A keepalive has the octet before the next one.
            (9_000, 0, 1_000, 1, false),
            // A second flow, half of whose first packet is new; the last frame is seen at another interface.
            (20_000, 0, 501, 1_000, false),
            (20_000, 1, 501, 1_000, false),
        ]);
        assert_eq!(found.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [1_000, 500]);
        assert_eq!((account.of_flows, account.repeated, account.seen_before), (2, 2, 1));
    }

    #[test]
    fn another_connection_between_the_same_ports_counts_anew() {
        // With its SYN, and after a pause without it.
        let begun = (0, 0, 1, 1_000, false);
        let (found, _) = flows(&[begun, (10, 0, 1, 0, true), (20, 0, 1, 700, false)]);
        assert_eq!(found.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [1_000, 700]);
        let (found, _) = flows(&[begun, (5_000, 0, 3_000_000_000, 700, false)]);
        assert_eq!(found.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [1_000, 700]);
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
