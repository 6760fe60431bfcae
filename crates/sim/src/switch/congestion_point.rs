//! Congestion points: a frame that joins a queue may be sampled, and its source told. Kept out of line,
//! so that switches without QCN are not slower.

use floodway_model::id::CLASSES;
use floodway_model::{Instant, Packet};

use super::Switch;
use crate::engine::Context;

impl Switch {
    /// A frame has joined a data queue.
    #[inline(never)]
    pub(super) fn sample_frame(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(spec) = &self.spec.flow_control.qcn else { return };
        let Some(qcn) = self.qcn.as_mut().filter(|_| spec.covers(queue)) else { return };
        let q = self.ports[egress].queues[queue].congestion();
        let message = qcn.on_join(spec, egress * CLASSES + queue, q, packet.bytes);
        // What TCP sends without data has no reaction point where it comes from.
        let Some(body) = message.filter(|_| packet.is_data()) else { return };
        let frame = self.to_source(packet, spec.message_bytes(packet.bytes), body);
        // By the port that the packet leaves by only if a link has failed since it came.
        let Some(back) = self.forward(&frame, now).filter(|&back| back != egress) else { return };
        if let Some(qcn) = &mut self.qcn {
            qcn.sent += 1;
        }
        self.emitted += 1;
        self.enqueue_control(back, &frame, now, context);
    }
}
