//! Egress queues behind a crossbar. The accounting of such a queue includes the packets at the inputs
//! that are bound for it (its virtual output queues). Packets of one ingress port stay in order;
//! those of different ingress ports cross in the order in which they are matched.

use std::collections::VecDeque;

use floodway_model::id::CLASSES;
use floodway_model::{FlowId, Packet};

use crate::switch::flow_control::pausing::{Source, source_of};

/// One egress queue behind a crossbar.
#[derive(Debug)]
pub struct Egress {
    /// By [`Source`]: number of packets, including those at the input.
    by_source: Vec<u32>,
    /// By ingress port: its packets, including those at the input; `None` if order is not recorded.
    sequences: Option<Vec<Sequence>>,
}

/// The packets of one ingress port that are bound for one egress queue.
#[derive(Clone, Debug, Default)]
struct Sequence {
    /// Their flows, in order.
    flows: VecDeque<FlowId>,
    /// Number of earlier packets, which have left.
    departed: u64,
}

/// Position of the port in the number of a packet.
const PORT_SHIFT: u32 = 48;

impl Egress {
    /// An empty queue of a switch with this many ports. If `ordered`, it records the order of
    /// packets, so that it is known when the packets of a flow have left.
    pub fn new(ports: usize, ordered: bool) -> Self {
        Self {
            by_source: vec![0; ports * CLASSES],
            sequences: ordered.then(|| vec![Sequence::default(); ports]),
        }
    }

    /// A packet that is bound for this queue has arrived at an input.
    pub fn expect(&mut self, packet: &Packet) {
        self.by_source[source_of(packet).index()] += 1;
        if let Some(sequences) = &mut self.sequences {
            sequences[packet.ingress.index()].flows.push_back(packet.flow);
        }
    }

    /// The first packet of its ingress port has left the queue, or was dropped at its input.
    pub fn forget(&mut self, packet: &Packet) {
        self.by_source[source_of(packet).index()] -= 1;
        if let Some(sequences) = &mut self.sequences {
            let sequence = &mut sequences[packet.ingress.index()];
            sequence.flows.pop_front();
            sequence.departed += 1;
        }
    }

    /// The sources that have packets here or at their input.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let all = self.by_source.iter().enumerate().filter(|(_, packets)| **packets > 0);
        all.map(|(index, _)| Source::new(index / CLASSES, index % CLASSES))
    }

    /// The number of the last packet of these flows, which all have the same ingress port, for
    /// [`Egress::has_let_go`]; 0 if there is none.
    pub fn last_of(&self, flows: impl Fn(FlowId) -> bool) -> u64 {
        let sequences = self.sequences.iter().flatten().enumerate();
        let find = |(port, sequence): (usize, &Sequence)| {
            let place = sequence.flows.iter().rposition(|other| flows(*other))?;
            Some((port as u64) << PORT_SHIFT | (sequence.departed + place as u64 + 1))
        };
        sequences.filter_map(find).last().unwrap_or(0)
    }

    /// Whether the packet with this number has left.
    pub fn has_let_go(&self, packet: u64) -> bool {
        let (port, count) = (packet >> PORT_SHIFT, packet & ((1 << PORT_SHIFT) - 1));
        let sequences = self.sequences.as_ref().expect("the last packet was requested before");
        sequences[port as usize].departed >= count
    }

    /// Whether the accounting agrees with this number of packets, here and at the inputs.
    pub fn is_consistent(&self, packets: u64) -> bool {
        let by_source: u64 = self.by_source.iter().copied().map(u64::from).sum();
        let in_sequence = |sequences: &Vec<Sequence>| {
            sequences.iter().map(|sequence| sequence.flows.len() as u64).sum::<u64>() == packets
        };
        by_source == packets && self.sequences.as_ref().is_none_or(in_sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Body, Class, Dscp, Echo, Ecn, Instant, NodeId, PortIx, Tos};

    fn packet(flow: u32, port: u16, class: u8) -> Packet {
        Packet {
            flow: FlowId(flow),
            connection: 0,
            src: NodeId(1),
            dst: NodeId(9),
            bytes: 1_086,
            ingress: PortIx(port),
            class: Class(class),
            physical_queue: 0,
            tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
            indicated: false,
            body: Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
        }
    }

    #[test]
    fn a_flow_has_left_when_its_last_packet_has_whatever_others_do() {
        let mut egress = Egress::new(3, true);
        for (flow, port) in [(5, 1), (6, 1), (5, 1), (7, 1), (8, 2)] {
            egress.expect(&packet(flow, port, 0));
        }
        assert_eq!(egress.last_of(|flow| flow == FlowId(9)), 0);
        let last = egress.last_of(|flow| flow == FlowId(5));
        // Port 2 overtakes, and many more of it do.
        for _ in 0..10 {
            egress.expect(&packet(8, 2, 0));
            egress.forget(&packet(8, 2, 0));
        }
        for (flow, gone) in [(5, false), (6, false), (5, true)] {
            assert!(!egress.has_let_go(last));
            egress.forget(&packet(flow, 1, 0));
            assert_eq!(egress.has_let_go(last), gone);
        }
        // Of 15 packets 13 have left.
        assert!(egress.is_consistent(2) && !egress.is_consistent(3));
    }

    #[test]
    fn sources_are_those_at_inputs_too() {
        let mut egress = Egress::new(3, false);
        for (port, class) in [(2, 1), (0, 0), (2, 1)] {
            egress.expect(&packet(1, port, class));
        }
        let sources = |egress: &Egress| egress.sources().collect::<Vec<_>>();
        let both = [Source::new(0, 0), Source::new(2, 1)];
        assert_eq!(sources(&egress), both);
        egress.forget(&packet(1, 2, 1));
        assert_eq!(sources(&egress), both);
        egress.forget(&packet(1, 2, 1));
        assert_eq!(sources(&egress), both[..1]);
    }
}
