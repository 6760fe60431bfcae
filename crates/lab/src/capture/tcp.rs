//! TCP segments. The simulated TCP numbers segments and not octets, so sequence numbers follow from the MSS.

use std::collections::BTreeMap;

use floodway_model::{Body, Ecn, EcnFeedback, FlowId, Packet, Reuse, SackBlock};
use floodway_sim::Spec;
use floodway_sim::host::first_segments;
use floodway_sim::host::transport::{self, tcp};
use floodway_wire::ip::Ip;
use floodway_wire::tcp::{Flags, Segment, TcpOption};

use super::addresses;
use super::octets::note;

/// Length of the headers without options: IPv4 20, TCP 20.
const HEADERS: usize = 40;
/// The most octets that options have.
const MOST_OPTIONS: usize = 40;
/// Window of every segment, and its scale: about 1 GB, more than the simulated receive window, which it does not tell.
const WINDOW: u16 = u16::MAX;
const WINDOW_SCALE: u8 = 14;
/// What the option of accurate ECN takes in the simulation.
const ACCURATE: usize = 12;
/// ACE before any mark (RFC 9768 section 3.2.2.1).
const INITIAL_ACE: u8 = 5;
/// ACE of a SYN/ACK, and of what acknowledges one, if the other side's was not ECN-capable (the same section).
const NOT_ECT: u8 = 2;

/// By flow that goes on with the connection of others: the segments and the octets before its own in its direction.
pub type Before = BTreeMap<FlowId, (u32, u64)>;

/// What is before the flows of a simulation.
pub fn before(spec: &Spec) -> Before {
    let mut before = Before::new();
    let segments = first_segments(spec);
    for Reuse { flow, of } in &spec.reuses {
        if let Some(segments) = segments.get(flow) {
            let octets = before.get(of).map_or(0, |(_, octets)| *octets);
            before.insert(*flow, (*segments, octets + spec.flows[of.index()].bytes));
        }
    }
    before
}

/// The datagram of a segment; `room` is what its frame has for it.
pub fn datagram(
    (spec, tcp, before): (&Spec, &tcp::Spec, &Before),
    packet: &Packet,
    ip: &Ip,
    room: usize,
    comment: &mut String,
) -> Vec<u8> {
    let flow = &spec.flows[packet.flow.index()];
    // The first octet of a connection has number 1, after the SYN. Long flows wrap around.
    let (first, octets) = before.get(&packet.flow).copied().unwrap_or_default();
    let number = |segments: u64| {
        let own = segments.saturating_sub(first.into());
        1 + octets + u64::min(own * tcp.mss.0, flow.bytes)
    };
    let sequence = |segments: u64| number(segments) as u32;
    let (ports, back) = match packet.dst == flow.dst {
        true => (ports(packet), false),
        false => ((ports(packet).1, ports(packet).0), true),
    };
    let mut segment = Segment {
        source_port: ports.0,
        destination_port: ports.1,
        sequence: 1,
        acknowledgment: u32::from(!back),
        flags: Flags { ack: true, ..Flags::default() },
        window: WINDOW,
        options: vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamps(0, 0)],
    };
    let mut payload = room.saturating_sub(HEADERS + 12);
    match packet.body {
        Body::Syn { feedback } | Body::SynAck { feedback } => {
            payload = 0;
            handshake(&mut segment, feedback, back, tcp);
        }
        Body::Segment { flags, psn, sent_at } => {
            segment.sequence = sequence(psn.into());
            segment.options[2] = TcpOption::Timestamps((sent_at.0 / 1_000_000) as u32, 0);
            (segment.flags.push, segment.flags.cwr) = (flags.push, flags.window_reduced);
            if accurate(spec, packet) {
                let ace = if psn == 0 { NOT_ECT } else { INITIAL_ACE };
                segment.flags = segment.flags.with_ace(ace);
            }
        }
        Body::TcpAck { flags, marked, ack, sack } => {
            segment.acknowledgment = sequence(ack.into());
            segment.flags.ece = flags.congestion();
            let edge = |n: u32| sequence(u64::from(ack) + u64::from(n));
            let told = |block: &&SackBlock| block.count > 0;
            let block =
                |b: &SackBlock| (edge(b.from.into()), edge(u32::from(b.from) + u32::from(b.count)));
            let mut blocks: Vec<_> = sack.iter().filter(told).map(block).collect();
            if flags.duplicate() {
                // Of the duplicate the simulation knows that it was one: the last segment stands for it.
                blocks.insert(
                    0,
                    (sequence(u64::from(ack).saturating_sub(1)), segment.acknowledgment),
                );
            }
            if !blocks.is_empty() {
                segment.options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(blocks)]);
            }
            // What the options of the simulated segment take, which may be more than options can.
            let mut taken = length(&segment.options);
            if accurate(spec, packet) {
                let ce = u64::from(marked) * tcp.mss.0;
                let other = number(ack.into()).saturating_sub(ce);
                segment.options.push(counters(spec, packet, other, ce));
                let ace = (u64::from(INITIAL_ACE) + u64::from(marked)) & 7;
                segment.flags = segment.flags.with_ace(ace as u8);
                taken += ACCURATE;
                let padding = taken.min(MOST_OPTIONS) - length(&segment.options);
                segment.options.extend(vec![TcpOption::Nop; padding]);
            }
            // An application answers in acknowledgements.
            payload = room.saturating_sub(HEADERS + taken);
        }
        body => note(comment, &format!("a frame that its transport does not have: {body:?}")),
    }
    segment.datagram(ip, &vec![0; payload])
}

fn ports(packet: &Packet) -> (u16, u16) {
    (addresses::source_port(packet.flow), addresses::destination_port(packet.flow))
}

fn handshake(segment: &mut Segment, feedback: EcnFeedback, back: bool, tcp: &tcp::Spec) {
    segment.sequence = 0;
    segment.acknowledgment = back.into();
    let none = Flags { syn: true, ack: back, ..Flags::default() };
    segment.flags = match (feedback, back) {
        (EcnFeedback::None, _) => none,
        // RFC 3168 section 6.1.1, for the feedback of DCTCP too (RFC 8257 section 3).
        (EcnFeedback::Classic | EcnFeedback::Dctcp, false) => {
            Flags { ece: true, cwr: true, ..none }
        }
        (EcnFeedback::Classic | EcnFeedback::Dctcp, true) => Flags { ece: true, ..none },
        (EcnFeedback::Accurate, false) => none.with_ace(7),
        (EcnFeedback::Accurate, true) => none.with_ace(NOT_ECT),
    };
    segment.options = vec![
        TcpOption::Mss(tcp.mss.0.min(u16::MAX.into()) as u16),
        TcpOption::SackPermitted,
        TcpOption::Timestamps(0, 0),
        TcpOption::Nop,
        TcpOption::WindowScale(WINDOW_SCALE),
    ];
}

/// Whether a flow has accurate ECN feedback.
fn accurate(spec: &Spec, packet: &Packet) -> bool {
    feedback(spec, packet).is_some_and(|(feedback, _)| feedback == EcnFeedback::Accurate)
}

/// The feedback of a flow of TCP, and the ECN field of its segments.
fn feedback(spec: &Spec, packet: &Packet) -> Option<(EcnFeedback, Ecn)> {
    let workload = spec.flows[packet.flow.index()].workload;
    let profile = &spec.profiles[usize::from(workload)];
    let transport::Spec::Tcp(tcp) = &profile.transport else { return None };
    let wanted = profile.congestion.feedback();
    Some((tcp.feedback(wanted), tcp.ecn_field(wanted)))
}

/// The option of accurate ECN with its first two counters, in octets of whole segments.
fn counters(spec: &Spec, packet: &Packet, other: u64, ce: u64) -> TcpOption {
    let counters = [other, ce].map(|octets| (octets & 0xff_ffff) as u32).to_vec();
    match feedback(spec, packet) {
        Some((_, Ecn::Ect1)) => TcpOption::Accurate1(counters),
        _ => TcpOption::Accurate0(counters),
    }
}

/// Number of octets of options.
fn length(options: &[TcpOption]) -> usize {
    let of = |option: &TcpOption| match option {
        TcpOption::Nop => 1,
        TcpOption::Mss(_) => 4,
        TcpOption::WindowScale(_) => 3,
        TcpOption::SackPermitted => 2,
        TcpOption::Sack(blocks) => 2 + 8 * blocks.len(),
        TcpOption::Timestamps(..) => 10,
        TcpOption::Accurate0(counters) | TcpOption::Accurate1(counters) => 2 + 3 * counters.len(),
        TcpOption::Other(_, content) => 2 + content.len(),
    };
    options.iter().map(of).sum()
}
