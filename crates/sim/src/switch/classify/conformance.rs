//! Properties of every classifier, whatever its parameters.

use floodway_model::{Dscp, Ecn, FlowSpec, Instant, NodeId};
use proptest::prelude::*;

use super::Spec;

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)]
}

proptest! {
    /// Every packet is assigned to a queue that exists. If the classifier preserves order, the
    /// queue is the same for all packets of a flow, whatever a switch has written into the ECN
    /// field.
    #[test]
    fn every_packet_has_a_queue(
        bytes in 1u64..10_000_000,
        dst in 0u32..1_000,
        queues in 2u8..8,
        fields in [ecn(), ecn()],
    ) {
        let dst = NodeId(dst);
        let flow = FlowSpec {
            src: NodeId(1_000),
            dst,
            bytes,
            start: Instant::ZERO,
            stop: Instant::NEVER,
            workload: 0,
            in_turn: false,
        };
        for spec in Spec::all() {
            let dscp: Dscp = spec.dscp(&flow);
            let [one, other] = fields.map(|ecn| spec.queue(dscp, ecn, dst, queues));
            prop_assert!(one < queues && other < queues, "{}: {one} {other}", spec.name());
            prop_assert!(!spec.keeps_order() || one == other, "{}", spec.name());
        }
    }
}
