//! In-band network telemetry (INT): data that the switches on the path write into a packet (HPCC,
//! SIGCOMM 2019, section 4.1).
//!
//! Packets are moved by value and would be four times as large with this data, so a packet carries
//! the number of a record instead ([`Echo`]). The host takes a free record for
//! each packet, switches write to it, the receiver returns it with the acknowledgement, and the node
//! at which the packet ends frees it. A record may instead have the [tag](Tag) of CSIG, which does not
//! grow.
//!
//! Every thread has the [`Records`] of the packets at its nodes and on its wire, and no other thread
//! accesses them. Packets for nodes of another thread take their records with them, and get numbers
//! there. Results do not depend on which record a packet has.

use floodway_model::{Echo, Instant, Packet, Rate};
use serde::{Deserialize, Serialize};

use crate::csig::{self, Tag};

/// Maximum number of hops in a record; later hops are not recorded.
pub const HOPS: usize = 8;

/// The entry that one switch wrote as the packet left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Rate of the link by which the packet left, rounded up to a multiple of 1 Mb/s.
    pub rate: Rate,
    /// Bytes sent so far by this port, with preamble and interframe gap, without this packet;
    /// modulo 2^40.
    pub tx_bytes: u64,
    /// Data bytes queued behind the packet, in all queues of the port.
    pub backlog: u64,
    /// Departure time, rounded down to nanoseconds, modulo 2^32 ns.
    pub at: Instant,
}

impl Hop {
    /// Bytes sent since an earlier packet left this port.
    pub fn bytes_since(&self, earlier: &Self) -> u64 {
        self.tx_bytes.wrapping_sub(earlier.tx_bytes) & TX_MASK
    }

    /// Nanoseconds since an earlier packet left this port.
    pub fn ns_since(&self, earlier: &Self) -> u64 {
        (self.at.0 / 1_000).wrapping_sub(earlier.at.0 / 1_000) & u64::from(u32::MAX)
    }

    fn pack(self) -> [u64; 2] {
        // If the rate were rounded down, a busy link would appear to exceed it.
        let mbps = self.rate.0.div_ceil(1_000_000).min((1 << 24) - 1);
        let backlog = self.backlog.min(u32::MAX.into());
        let ns = (self.at.0 / 1_000) & u64::from(u32::MAX);
        [mbps << TX_BITS | self.tx_bytes & TX_MASK, backlog << 32 | ns]
    }

    fn unpack([first, second]: [u64; 2]) -> Self {
        Self {
            rate: Rate((first >> TX_BITS) * 1_000_000),
            tx_bytes: first & TX_MASK,
            backlog: second >> 32,
            at: Instant((second & u64::from(u32::MAX)) * 1_000),
        }
    }
}

const TX_BITS: u32 = 40;
const TX_MASK: u64 = (1 << TX_BITS) - 1;

/// What packets of a transport collect from switches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// An entry of every switch (INT).
    Hops,
    /// The worst signal of all switches (CSIG).
    Tag(&'a csig::Spec),
}

/// The telemetry of one packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Record {
    /// INT.
    Hops {
        /// Number of hops written.
        count: u8,
        /// Their entries, packed.
        hops: [[u64; 2]; HOPS],
    },
    /// CSIG.
    Tag(Tag),
}

impl Record {
    /// The record of a packet that is about to be sent.
    pub fn new(kind: Kind<'_>) -> Self {
        match kind {
            Kind::Hops => Self::Hops { count: 0, hops: Default::default() },
            Kind::Tag(spec) => Self::Tag(spec.tag()),
        }
    }

    /// Reads its entries; returns their number. A tag has none.
    pub fn read(&self, into: &mut [Hop; HOPS]) -> usize {
        let Self::Hops { count, hops } = self else { return 0 };
        let written = &hops[..usize::from(*count)];
        for (hop, words) in into.iter_mut().zip(written) {
            *hop = Hop::unpack(*words);
        }
        written.len()
    }

    /// Its tag; `None` for entries of switches.
    pub const fn tag(&self) -> Option<&Tag> {
        match self {
            Self::Hops { .. } => None,
            Self::Tag(tag) => Some(tag),
        }
    }
}

/// The records of one thread.
#[derive(Debug, Default)]
pub struct Records {
    /// Record n has index n - 1.
    all: Vec<Record>,
    /// The numbers of those that no packet has. The last one that was freed is the next one that is
    /// taken, because it is in the cache.
    free: Vec<u32>,
}

impl Records {
    /// Takes an empty record for a packet that is about to be sent, and returns its number. Panics
    /// if packets of this thread have eight million already.
    pub fn take(&mut self, kind: Kind<'_>) -> u32 {
        self.add(Record::new(kind))
    }

    fn add(&mut self, record: Record) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[place(number)] = record;
            return number;
        }
        self.all.push(record);
        assert!(self.all.len() <= Echo::MOST as usize, "four million packets have telemetry");
        self.all.len() as u32
    }

    /// Writes into the record of a packet that a port sends: an entry, or its tag if the port is the
    /// worst one so far. `hop` makes the entry, `pass` updates the tag.
    pub fn write(&mut self, number: u32, hop: impl FnOnce() -> Hop, pass: impl FnOnce(&mut Tag)) {
        match &mut self.all[place(number)] {
            Record::Hops { count, hops } => {
                if let Some(entry) = hops.get_mut(usize::from(*count)) {
                    *entry = hop().pack();
                    *count += 1;
                }
            }
            Record::Tag(tag) => pass(tag),
        }
    }

    /// The record of an answer; `None` if it has none.
    pub fn of_answer(&self, echo: Echo) -> Option<&Record> {
        echo.record().map(|number| &self.all[place(number)])
    }

    /// The record of a packet; `None` if it has none.
    pub fn of(&self, packet: &Packet) -> Option<Record> {
        packet.record().map(|number| self.all[place(number)])
    }

    /// Frees the record of a packet that has ended.
    #[cold]
    pub fn free(&mut self, packet: &Packet) {
        self.free.extend(packet.record());
    }

    /// Removes the records of packets that another thread takes over, in their order.
    pub fn detach<'a>(&mut self, packets: impl Iterator<Item = &'a mut Packet>) -> Vec<Record> {
        let numbers = packets.filter_map(|packet| packet.record());
        let detach = |number| {
            self.free.push(number);
            self.all[place(number)]
        };
        numbers.map(detach).collect()
    }

    /// Adds the records of packets that come from another thread, which has detached them.
    pub fn attach<'a>(
        &mut self,
        packets: impl Iterator<Item = &'a mut Packet>,
        records: Vec<Record>,
    ) {
        let packets = packets.filter(|packet| packet.record().is_some());
        for (packet, record) in packets.zip(records) {
            packet.set_record(self.add(record));
        }
    }

    /// Number of records that packets have.
    pub fn taken(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64
    }
}

fn place(number: u32) -> usize {
    number as usize - 1
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use floodway_model::packet::Tos;
    use floodway_model::{Body, Class, FlowId, NodeId, PortIx};

    fn packet(body: Body) -> Packet {
        Packet {
            flow: FlowId(0),
            connection: 0,
            src: NodeId(0),
            dst: NodeId(1),
            bytes: 1_000,
            ingress: PortIx(0),
            class: Class(0),
            physical_queue: 0,
            tos: Tos::default(),
            indicated: false,
            body,
        }
    }

    fn data(record: u32) -> Packet {
        let echo = Echo::of(record, false);
        packet(Body::Data { echo, psn: 0, sent_at: Instant::ZERO })
    }

    fn ack(record: u32) -> Packet {
        let echo = Echo::of(record, true);
        packet(Body::Ack { echo, psn: 1, sent_at: Instant::ZERO })
    }

    fn hop(number: u64) -> Hop {
        let at = Instant(number * 1_000_000);
        Hop { rate: Rate::from_gbps(400), tx_bytes: number << 32, backlog: 7 * number, at }
    }

    fn read(records: &Records, packet: &Packet) -> Vec<Hop> {
        let (Body::Data { echo, .. } | Body::Ack { echo, .. }) = packet.body else {
            panic!("no telemetry")
        };
        let mut hops = [Hop::default(); HOPS];
        let count = records.of_answer(echo).map_or(0, |record| record.read(&mut hops));
        hops[..count].to_vec()
    }

    fn write(records: &mut Records, number: u32, entry: u64) {
        records.write(number, || hop(entry), |_| panic!("it has entries"));
    }

    #[test]
    fn a_tag_goes_with_its_packet_too() {
        let (mut here, mut there) = (Records::default(), Records::default());
        let spec = csig::Spec::default();
        let number = here.take(Kind::Tag(&spec));
        let place = (NodeId(7), PortIx(2));
        let pass = |tag: &mut Tag| tag.pass(place, floodway_model::Duration::from_us(5));
        here.write(number, || panic!("it has a tag"), pass);
        let mut packets = [ack(number)];
        let records = here.detach(packets.iter_mut());
        there.attach(packets.iter_mut(), records);
        let record = there.of(&packets[0]).unwrap();
        let tag = record.tag().unwrap();
        assert_eq!((tag.value(), tag.place()), (2, Some(place)));
        assert_eq!(read(&there, &packets[0]), []);
        assert_eq!((here.taken(), there.taken()), (0, 1));
    }

    #[test]
    fn what_switches_write_is_what_the_sender_reads() {
        let mut records = Records::default();
        let number = records.take(Kind::Hops);
        // There is no room for a ninth hop.
        (0..9).for_each(|hops| write(&mut records, number, hops));
        assert_eq!(read(&records, &ack(number)), [0, 1, 2, 3, 4, 5, 6, 7].map(hop));
        assert_eq!(records.taken(), 1);
        records.free(&ack(number));
        assert_eq!(records.taken(), 0);
        // The next packet finds nothing of the previous one.
        assert_eq!(records.take(Kind::Hops), number);
        assert_eq!(read(&records, &data(number)), []);
    }

    #[test]
    fn records_go_with_their_packets_to_another_thread() {
        let (mut here, mut there) = (Records::default(), Records::default());
        let (first, second, stays) =
            (here.take(Kind::Hops), here.take(Kind::Hops), here.take(Kind::Hops));
        write(&mut here, first, 1);
        write(&mut here, second, 2);
        write(&mut here, second, 3);
        // There, the numbers are in use.
        let others: BTreeSet<u32> = (0..3).map(|_| there.take(Kind::Hops)).collect();
        let cnp = packet(Body::Cnp);
        let mut packets = [ack(second), cnp, data(0), data(first)];
        let records = here.detach(packets.iter_mut());
        assert_eq!((records.len(), here.taken()), (2, 1));
        there.attach(packets.iter_mut(), records);
        assert_eq!(there.taken(), 5);
        assert_eq!(read(&there, &packets[0]), [hop(2), hop(3)]);
        assert_eq!(packets[2].record(), None);
        assert_eq!(read(&there, &packets[3]), [hop(1)]);
        assert!(packets.iter().filter_map(Packet::record).all(|number| !others.contains(&number)));
        // The mark of an acknowledgement stays.
        assert!(matches!(packets[0].body, Body::Ack { echo, .. } if echo.marked()));
        here.free(&data(stays));
        assert_eq!(here.taken(), 0);
    }

    #[test]
    fn differences_hold_across_the_wrap() {
        let earlier = Hop::unpack(Hop { tx_bytes: TX_MASK - 99, ..hop(0) }.pack());
        let now = Hop::unpack(Hop { tx_bytes: TX_MASK + 401, ..hop(1) }.pack());
        assert_eq!(now.bytes_since(&earlier), 500);
        // 2^32 ns are 4.29 s.
        let late = |ns: u64| Hop::unpack(Hop { at: Instant(ns * 1_000), ..hop(0) }.pack());
        assert_eq!(late((1 << 32) + 50).ns_since(&late((1 << 32) - 50)), 100);
    }

    #[test]
    fn no_link_is_faster_than_its_record_says() {
        let told = |rate| Hop::unpack(Hop { rate: Rate(rate), ..hop(0) }.pack()).rate;
        assert_eq!(told(1_234_500_000), Rate::from_mbps(1_235));
        assert_eq!(told(100_000_000_000), Rate::from_gbps(100));
        assert_eq!(told(1), Rate::from_mbps(1));
    }

    #[test]
    fn freed_records_are_taken_first() {
        let mut records = Records::default();
        let numbers: BTreeSet<u32> = (0..10_000).map(|_| records.take(Kind::Hops)).collect();
        assert_eq!((numbers.len(), records.taken()), (10_000, 10_000));
        for number in numbers {
            records.free(&data(number));
            assert_eq!(records.take(Kind::Hops), number);
        }
        assert_eq!(records.all.len(), 10_000);
    }
}
