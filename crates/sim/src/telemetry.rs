//! In-band network telemetry (INT): data that the switches on the path write into a packet (HPCC,
//! SIGCOMM 2019, section 4.1).
//!
//! Packets are moved by value and would be twice as large with this data, so a packet carries the
//! number of a record instead ([`Echo`]). Records belong to the host that sends the data. The host
//! takes a free record for each packet, switches write to it, the receiver returns it with the
//! acknowledgement, and the node at which the packet ends frees it. A record is only accessed by
//! the node that holds its packet, and the handover of packets between threads is synchronized, so
//! relaxed atomics are sufficient. Results do not depend on which record a packet has.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use floodway_model::{Body, Echo, Instant, NodeId, Packet, Rate};

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

/// One record: the number of hops written, and two words for each.
#[derive(Debug)]
struct Record {
    hops: AtomicU64,
    words: [AtomicU64; 2 * HOPS],
}

/// Stored instead of the number of hops if the record is free.
const FREE: u64 = u64::MAX;

impl Record {
    fn new() -> Self {
        Self { hops: AtomicU64::new(FREE), words: [const { AtomicU64::new(0) }; 2 * HOPS] }
    }
}

/// The records of all hosts.
#[derive(Debug)]
pub struct Telemetry {
    /// The records, by host.
    pools: Vec<Pool>,
}

/// The records of one host, in pieces that double in length, so that records never move.
#[derive(Debug, Default)]
struct Pool {
    pieces: [OnceLock<Box<[Record]>>; PIECES],
}

const PIECES: usize = 18;
/// Number of records in the first piece. All pieces together have about 2^23, as many as an
/// [`Echo`] can address.
const FIRST: usize = 32;

impl Pool {
    /// The piece that contains a record, and the index in it. Records are numbered from 1.
    fn place(number: u32) -> (usize, usize) {
        let index = (number as usize - 1) / FIRST + 1;
        let piece = index.ilog2() as usize;
        (piece, number as usize - 1 - ((1 << piece) - 1) * FIRST)
    }

    fn record(&self, number: u32) -> &Record {
        let (piece, place) = Self::place(number);
        &self.pieces[piece].get().expect("it was taken before")[place]
    }
}

/// Where a host resumes the search for a free record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    last: u32,
    all: u32,
}

impl Telemetry {
    /// An empty store, for a network whose hosts have the numbers below `hosts`.
    pub fn new(hosts: usize) -> Self {
        Self { pools: (0..hosts).map(|_| Pool::default()).collect() }
    }

    /// Takes a record for a packet that `host` is about to send. Panics if eight million are in
    /// flight.
    pub fn take(&self, host: NodeId, cursor: &mut Cursor) -> u32 {
        let pool = &self.pools[host.index()];
        // Records are freed in approximately the order in which they were taken.
        for _ in 0..cursor.all.min(TRIES) {
            cursor.last = cursor.last % cursor.all + 1;
            let record = pool.record(cursor.last);
            if record.hops.load(Ordering::Acquire) == FREE {
                record.hops.store(0, Ordering::Relaxed);
                return cursor.last;
            }
        }
        let piece = cursor.all as usize / FIRST + 1;
        let piece = piece.ilog2() as usize;
        assert!(piece < PIECES, "host {} has eight million packets in flight", host.0);
        let records = (0..FIRST << piece).map(|_| Record::new()).collect();
        pool.pieces[piece].set(records).expect("only its host makes pieces");
        cursor.last = cursor.all + 1;
        cursor.all += (FIRST << piece) as u32;
        pool.record(cursor.last).hops.store(0, Ordering::Relaxed);
        cursor.last
    }

    /// Adds an entry to a record of `host`, whose packet the calling switch sends.
    pub fn write(&self, (host, number): (NodeId, u32), hop: Hop) {
        let record = self.pools[host.index()].record(number);
        let count = record.hops.load(Ordering::Relaxed) as usize;
        if count < HOPS {
            let words = record.words[2 * count..].iter();
            for (word, value) in words.zip(hop.pack()) {
                word.store(value, Ordering::Relaxed);
            }
            record.hops.store(count as u64 + 1, Ordering::Relaxed);
        }
    }

    /// Reads the record of an answer to `host`; returns the number of hops.
    pub fn read(&self, host: NodeId, echo: Echo, hops: &mut [Hop; HOPS]) -> usize {
        let Some(number) = echo.record() else { return 0 };
        let record = self.pools[host.index()].record(number);
        let count = record.hops.load(Ordering::Relaxed) as usize;
        for (hop, words) in hops.iter_mut().zip(record.words.chunks_exact(2)).take(count) {
            *hop = Hop::unpack([0, 1].map(|word| words[word].load(Ordering::Relaxed)));
        }
        count
    }

    /// Frees the record of a packet that has ended.
    pub fn free(&self, packet: &Packet) {
        let (owner, echo) = match packet.body {
            Body::Data { echo, .. } => (packet.src, echo),
            Body::Ack { echo, .. } | Body::Nak { echo, .. } => (packet.dst, echo),
            _ => return,
        };
        if let Some(number) = echo.record() {
            self.pools[owner.index()].record(number).hops.store(FREE, Ordering::Release);
        }
    }

    /// Number of records in use.
    pub fn taken(&self) -> u64 {
        let pieces = self.pools.iter().flat_map(|pool| &pool.pieces);
        let records = pieces.filter_map(OnceLock::get).flatten();
        records.filter(|record| record.hops.load(Ordering::Relaxed) != FREE).count() as u64
    }
}

/// Number of records examined before new ones are allocated.
const TRIES: u32 = 8;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use super::*;
    use floodway_model::packet::Tos;
    use floodway_model::{Class, FlowId, PortIx};

    fn packet(echo: Echo, body: fn(Echo) -> Body) -> Packet {
        let (host, peer) = (NodeId(0), NodeId(1));
        let answers = !matches!(body(echo), Body::Data { .. });
        Packet {
            flow: FlowId(0),
            connection: 0,
            src: if answers { peer } else { host },
            dst: if answers { host } else { peer },
            bytes: 1_000,
            ingress: PortIx(0),
            class: Class(0),
            lane: 0,
            tos: Tos::default(),
            indicated: false,
            body: body(echo),
        }
    }

    fn data(echo: Echo) -> Body {
        Body::Data { echo, psn: 0, sent_at: Instant::ZERO }
    }

    fn ack(echo: Echo) -> Body {
        Body::Ack { echo, psn: 1, sent_at: Instant::ZERO }
    }

    fn hop(number: u64) -> Hop {
        let at = Instant(number * 1_000_000);
        Hop { rate: Rate::from_gbps(400), tx_bytes: number << 32, backlog: 7 * number, at }
    }

    #[test]
    fn what_switches_write_is_what_the_sender_reads() {
        let telemetry = Telemetry::new(2);
        let mut cursor = Cursor::default();
        let record = telemetry.take(NodeId(0), &mut cursor);
        let echo = Echo::of(record, false);
        // There is no room for a ninth hop.
        (0..9).for_each(|number| telemetry.write((NodeId(0), record), hop(number)));
        let mut hops = [Hop::default(); HOPS];
        assert_eq!(telemetry.read(NodeId(0), echo, &mut hops), HOPS);
        assert_eq!(hops, [0, 1, 2, 3, 4, 5, 6, 7].map(hop));
        assert_eq!(telemetry.taken(), 1);
        telemetry.free(&packet(echo, ack));
        assert_eq!(telemetry.taken(), 0);
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
    fn a_record_has_one_packet_at_a_time() {
        let telemetry = Telemetry::new(1);
        let mut cursor = Cursor::default();
        let take = |cursor: &mut Cursor| telemetry.take(NodeId(0), cursor);
        let mut taken: VecDeque<u32> = (0..10_000).map(|_| take(&mut cursor)).collect();
        let different: BTreeSet<u32> = taken.iter().copied().collect();
        assert_eq!((different.len(), telemetry.taken()), (10_000, 10_000));
        // Freed in the order in which they were taken: no more records are needed.
        let all = cursor.all;
        for _ in 0..50_000 {
            let first = taken.pop_front().unwrap();
            telemetry.free(&packet(Echo::of(first, true), data));
            taken.push_back(take(&mut cursor));
        }
        let different: BTreeSet<u32> = taken.iter().copied().collect();
        assert_eq!((different.len(), telemetry.taken()), (10_000, 10_000));
        assert_eq!(cursor.all, all);
    }

    #[test]
    fn places_follow_each_other() {
        let first = [1, 32, 33, 96, 97].map(Pool::place);
        assert_eq!(first, [(0, 0), (0, 31), (1, 0), (1, 63), (2, 0)]);
        // All pieces together: 32 (2^18 - 1) records, fewer than an echo can address.
        assert_eq!(Pool::place(32 * ((1 << 18) - 1)), (17, (32 << 17) - 1));
        const { assert!(32 * ((1 << 18) - 1) <= Echo::MOST) };
    }
}
