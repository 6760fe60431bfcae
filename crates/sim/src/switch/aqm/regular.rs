//! Congestion at regular intervals, counted in packets: the reference for rate laws with evenly
//! spaced losses (Mathis et al., CCR 1997, for Reno; RFC 9438 section 5.1 for Cubic).
//!
//! Only packets with data count. If every packet is acknowledged, acknowledgements arrive in step
//! with data, and counting both could select the acknowledgement that carries the echo of the mark
//! each time.

use std::num::NonZeroU32;

use floodway_model::Packet;
use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// One in this many data packets that arrive for a queue is treated as congested, the last one
    /// of each group. Default 100 (assumed): a probability of 1 %.
    pub packets: NonZeroU32,
}

impl Default for Spec {
    fn default() -> Self {
        Self { packets: NonZeroU32::new(100).expect("it is not 0") }
    }
}

impl Check for Spec {}

/// By queue: data packets that have arrived since the last congested one.
#[derive(Debug)]
pub struct State {
    packets: u32,
    since: Box<[u32]>,
}

impl Aqm for State {
    type Spec = Spec;

    fn new(spec: &Spec, queues: usize) -> Self {
        Self { packets: spec.packets.get(), since: vec![0; queues].into() }
    }

    #[inline]
    fn on_arrival(&mut self, queue: usize, packet: &Packet, _: &mut View<'_>) -> Verdict {
        if !packet.is_data() {
            return Verdict::Pass;
        }
        let since = &mut self.since[queue];
        *since = (*since + 1) % self.packets;
        Verdict::congested(*since == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::stand::Stand;
    use floodway_model::{Body, Ecn};

    #[test]
    fn every_third_packet_of_each_queue() {
        let spec = Spec { packets: NonZeroU32::new(3).unwrap() };
        let (mut regular, mut stand) = (State::new(&spec, 2), Stand::new(2));
        let mut arrives = |queue| stand.arrives(&mut regular, queue, Ecn::Ect0);
        let verdicts = [0, 0, 1, 0, 1, 1, 0].map(&mut arrives);
        let congested = verdicts.map(|verdict| verdict == Verdict::Congested);
        assert_eq!(congested, [false, false, false, true, false, true, false]);
    }

    #[test]
    fn what_carries_no_data_does_not_count() {
        let spec = Spec { packets: NonZeroU32::new(2).unwrap() };
        let (mut regular, mut stand) = (State::new(&spec, 1), Stand::new(1));
        let ack = Packet { body: Body::Cnp, ..Stand::packet(Ecn::Ect0) };
        assert_eq!(stand.arrives(&mut regular, 0, Ecn::Ect0), Verdict::Pass);
        assert_eq!(regular.on_arrival(0, &ack, &mut stand.view()), Verdict::Pass);
        assert_eq!(stand.arrives(&mut regular, 0, Ecn::Ect0), Verdict::Congested);
    }

    #[test]
    fn every_packet() {
        let spec = Spec { packets: NonZeroU32::MIN };
        let (mut regular, mut stand) = (State::new(&spec, 1), Stand::new(1));
        let all = (0..5).all(|_| stand.arrives(&mut regular, 0, Ecn::NotEct) == Verdict::Congested);
        assert!(all);
    }
}
