//! What every classifier does, whatever its parameters.

use floodway_model::{Dscp, Ecn, FlowSpec, Instant, NodeId};
use proptest::prelude::*;

use super::Spec;

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)]
}

proptest! {
    /// Every packet has a queue that there is; and where order is kept, it is that of its flow,
    /// whatever a switch has written into the ECN field.
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
