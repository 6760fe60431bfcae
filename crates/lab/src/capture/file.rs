//! The capture of a run as a file.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use floodway_model::{Instant, NodeId, PortIx};
use floodway_sim::Spec;
use floodway_sim::capture::{Frame, Port, Seen};
use floodway_sim::switch::port::DropReason;
use floodway_wire::pcapng::{Captured, Direction, Interface, Writer};

use super::octets::{Emitted, Emitter, note};

/// An interface of a capture: what a port has sent and received, or what was dropped in front of it.
struct Side<'a> {
    port: (NodeId, PortIx),
    frames: &'a [Frame],
    count: u64,
    drops: bool,
}

/// Writes what these ports have seen until `end`, of each frame at most `octets` octets. `about` says which run it is.
pub fn write(
    out: &mut (dyn Write + Send),
    (spec, about): (&Spec, &str),
    (ports, seen): (&[(NodeId, PortIx)], &[Port]),
    (octets, end): (u32, Instant),
) -> io::Result<()> {
    let program = concat!("floodway ", env!("CARGO_PKG_VERSION"));
    let mut writer = Writer::new(out, program, &format!("{about}; {TIMES}"))?;
    let emitter = Emitter::new(spec);
    let name = |node: NodeId| spec.graph.node(node).name.as_str();
    let sides = sides(ports, seen);
    for side in &sides {
        describe(&mut writer, &emitter, side, octets)?;
    }
    let names: Vec<(Ipv4Addr, &str)> =
        spec.graph.ids().map(|node| (emitter.addresses.ip(node), name(node))).collect();
    writer.names(&names)?;
    let mut order: Vec<(Instant, usize, usize)> = Vec::new();
    for (number, side) in sides.iter().enumerate() {
        order.extend(side.frames.iter().enumerate().map(|(place, f)| (f.at, number, place)));
    }
    order.sort_unstable();
    for (at, number, place) in order {
        let (side, frame) = (&sides[number], &sides[number].frames[place]);
        let Emitted { octets: all, mut comment } = match &frame.octets {
            Some(octets) => Emitted::of_kernel(octets, &frame.packet),
            None => emitter.frame(
                sender(spec, side.port, frame.seen),
                &frame.packet,
                frame.telemetry.as_deref(),
            ),
        };
        remark(&mut comment, frame.seen);
        writer.frame(&Captured {
            interface: number as u32,
            at_ns: at.0 / 1_000,
            octets: &all[..all.len().min(octets as usize)],
            length: all.len() as u32,
            direction: match frame.seen {
                Seen::Sent { .. } => Direction::Outbound,
                Seen::Arrived => Direction::Inbound,
                Seen::Dropped { .. } => Direction::Unknown,
            },
            queue: Some(frame.class.0.into()),
            comment: &comment,
        })?;
    }
    for (number, side) in sides.iter().enumerate() {
        let left_out = side.count - side.frames.len() as u64;
        writer.statistics(number as u32, end.0 / 1_000, (side.count, left_out))?;
    }
    Ok(())
}

/// What a reader of the file should know.
const TIMES: &str = "times are simulated and begin with the run; addresses, ports and queue pairs follow from the \
                     numbers of nodes and flows";

fn sides<'a>(ports: &[(NodeId, PortIx)], seen: &'a [Port]) -> Vec<Side<'a>> {
    let side = |port, drops, frames: &'a floodway_sim::capture::Frames| Side {
        port,
        frames: &frames.kept,
        count: frames.count,
        drops,
    };
    let of = |(&port, seen): (&(NodeId, PortIx), &'a Port)| {
        let drops = (seen.dropped.count > 0).then(|| side(port, true, &seen.dropped));
        std::iter::once(side(port, false, &seen.on_wire)).chain(drops)
    };
    ports.iter().zip(seen).flat_map(of).collect()
}

/// The node and port that has sent a frame, or would have.
fn sender(spec: &Spec, (node, port): (NodeId, PortIx), seen: Seen) -> (NodeId, PortIx) {
    let end = spec.graph.node(node).ports[port.index()];
    match seen {
        Seen::Sent { .. } | Seen::Dropped { .. } => (node, port),
        Seen::Arrived => (end.peer, end.peer_port),
    }
}

fn describe<W: Write>(
    writer: &mut Writer<W>,
    emitter: &Emitter<'_>,
    side: &Side<'_>,
    most: u32,
) -> io::Result<u32> {
    let (node, port) = side.port;
    let here = emitter.spec.graph.node(node);
    let end = here.ports[port.index()];
    let peer = &emitter.spec.graph.node(end.peer).name;
    let name = format!("{}:{}", here.name, port.0);
    let (name, description) = match side.drops {
        true => (format!("{name} drops"), format!("dropped instead of sent to {peer}")),
        false => (name, format!("to {peer}, port {}", end.peer_port.0)),
    };
    writer.interface(&Interface {
        name: &name,
        description: &description,
        mac: Some(emitter.addresses.port(node, port)),
        rate: Some(end.rate.0),
        most,
    })
}

/// What became of a frame.
fn remark(comment: &mut String, seen: Seen) {
    match seen {
        Seen::Sent { lost: Some(DropReason::Corrupted) } => {
            note(comment, "lost on the link: bit error");
        }
        Seen::Sent { lost: Some(_) } => note(comment, "lost on the link"),
        Seen::Dropped { queue, reason } => {
            note(comment, &format!("dropped: {}, queue {queue}", reason.name()));
        }
        Seen::Sent { lost: None } | Seen::Arrived => {}
    }
}
