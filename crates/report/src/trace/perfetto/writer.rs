//! Packets of a trace, one after the other.

use std::io::{self, Write};

use prost::Message;

use super::message::{Annotation, Counter, Event, Kind, Packet, Track};

/// How a trace marks that a packet follows: field 1 of Perfetto's `Trace`, with a length.
const PACKET: u8 = 1 << 3 | 2;

/// Writes packets. Tracks must be declared before anything happens on them.
pub struct Writer<'a> {
    out: &'a mut (dyn Write + Send),
    buffer: Vec<u8>,
    tracks: u64,
}

/// A track that was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackId(u64);

/// Numbers of arrows, from 1. Each belongs to two slices, and leads from the one that begins first to the other; of
/// two that begin at once, from the one that is written first.
pub type Links<'a> = &'a [u64];

impl<'a> Writer<'a> {
    /// Nothing yet.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out, buffer: Vec::new(), tracks: 0 }
    }

    /// Declares a group of tracks, or a track for slices: `rank` is its place in its group.
    pub fn group(
        &mut self,
        parent: Option<TrackId>,
        rank: usize,
        name: &str,
        description: &str,
    ) -> io::Result<TrackId> {
        let track = Track {
            name: name.to_owned(),
            description: (!description.is_empty()).then(|| description.to_owned()),
            child_ordering: Some(3),
            ..Track::default()
        };
        self.declare(parent, rank, track)
    }

    /// Declares a counter.
    pub fn counter(
        &mut self,
        parent: TrackId,
        rank: usize,
        name: &str,
        counter: Counter,
    ) -> io::Result<TrackId> {
        let track = Track { name: name.to_owned(), counter: Some(counter), ..Track::default() };
        self.declare(Some(parent), rank, track)
    }

    fn declare(
        &mut self,
        parent: Option<TrackId>,
        rank: usize,
        track: Track,
    ) -> io::Result<TrackId> {
        self.tracks += 1;
        let track = Track {
            uuid: self.tracks,
            parent_uuid: parent.map(|parent| parent.0),
            sibling_order_rank: Some(rank as i32),
            ..track
        };
        let first = (self.tracks == 1).then_some(1);
        self.packet(&Packet {
            sequence_flags: first,
            track_descriptor: Some(track),
            ..Packet::default()
        })?;
        Ok(TrackId(self.tracks))
    }

    /// A slice from one time to another, with the numbers of its arrows.
    pub fn slice(
        &mut self,
        track: TrackId,
        (from_ns, until_ns): (f64, f64),
        (category, name): (&str, &str),
        facts: Vec<Annotation>,
        links: Links<'_>,
    ) -> io::Result<()> {
        let begin = Event {
            kind: Kind::Begin.into(),
            name: Some(name.to_owned()),
            categories: vec![category.to_owned()],
            debug_annotations: facts,
            flow_ids: links.to_vec(),
            ..Event::default()
        };
        self.event(track, from_ns, begin)?;
        self.event(track, until_ns, Event { kind: Kind::End.into(), ..Event::default() })
    }

    /// A counter of whole numbers has this value from here on.
    pub fn whole(&mut self, track: TrackId, at_ns: f64, value: u64) -> io::Result<()> {
        let value = Some(value as i64);
        let event = Event { kind: Kind::Value.into(), counter_value: value, ..Event::default() };
        self.event(track, at_ns, event)
    }

    /// A counter of real numbers has this value from here on.
    pub fn real(&mut self, track: TrackId, at_ns: f64, value: f64) -> io::Result<()> {
        let event = Event {
            kind: Kind::Value.into(),
            double_counter_value: Some(value),
            ..Event::default()
        };
        self.event(track, at_ns, event)
    }

    fn event(&mut self, track: TrackId, at_ns: f64, event: Event) -> io::Result<()> {
        self.packet(&Packet {
            timestamp: Some(at_ns.round() as u64),
            track_event: Some(Event { track_uuid: track.0, ..event }),
            ..Packet::default()
        })
    }

    fn packet(&mut self, packet: &Packet) -> io::Result<()> {
        let packet = Packet { trusted_packet_sequence_id: 1, ..packet.clone() };
        self.buffer.clear();
        self.buffer.push(PACKET);
        packet.encode_length_delimited(&mut self.buffer).expect("a vector grows");
        self.out.write_all(&self.buffer)
    }
}
