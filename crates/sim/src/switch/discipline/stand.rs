//! Common code for tests of disciplines.

use floodway_model::{Body, Class, Echo, FlowId, Instant, NodeId, Packet, PortIx, Tos};

use super::Discipline;
use crate::link::Transmitter;
use crate::switch::mechanism::SitePort;
use crate::switch::queue::Queued;

/// A data packet.
pub fn packet(flow: u32, psn: u32, bytes: u16) -> Queued {
    let packet = Packet {
        flow: FlowId(flow),
        connection: 0,
        src: NodeId(0),
        dst: NodeId(1),
        bytes,
        ingress: PortIx(0),
        class: Class(0),
        physical_queue: 0,
        tos: Tos::default(),
        indicated: false,
        body: Body::Data { echo: Echo::default(), psn, sent_at: Instant::ZERO },
    };
    Queued { packet, not_before: 0 }
}

/// The packet sequence number of a packet.
pub fn psn(packet: &Packet) -> u32 {
    let Body::Data { psn, .. } = packet.body else { panic!("it is data") };
    psn
}

/// The flows of the packets that leave next.
pub fn flows(discipline: &mut dyn Discipline, count: usize) -> Vec<u32> {
    let tx = Transmitter::new(SitePort::HOST.link);
    let leave = |_| {
        discipline.settle(Instant::ZERO);
        let head = discipline.head().expect("something waits").packet;
        let popped = discipline.pop().expect("as above").packet;
        assert_eq!((head.flow, head.body), (popped.flow, popped.body));
        discipline.on_sent(&popped, &tx, Instant::ZERO);
        popped.flow.0
    };
    (0..count).map(leave).collect()
}
