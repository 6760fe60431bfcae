//! Telemetry records: every packet that ends gives its record back, whatever happens to it. The audit
//! of every run compares those that are taken with the packets that carry one.

use crate::common::*;
use floodway_model::{Bytes, Duration};
use floodway_sim::switch::flow_control::pfc;

#[test]
fn packets_give_their_records_back() {
    for (lossless, ack_every) in [(true, 1), (true, 7), (false, 1), (false, 7)] {
        let mut spec = plain(clos(4, 2, 8), busy_flows());
        rocev2(&mut spec, |rocev2| {
            rocev2.telemetry = true;
            rocev2.ack_every = ack_every;
        });
        spec.switch.queue.size = Bytes(if lossless { 1_000_000 } else { 40_000 });
        spec.switch.flow_control.pfc = lossless.then(|| pfc::Spec {
            xoff: Bytes(700_000),
            xon: Bytes(600_000),
            ..prompt_pfc()
        });
        spec.end = Duration::from_ms(3);
        let outcome = run(spec);
        assert_eq!(outcome.table("drops").rows() == 0, lossless);
    }
}

#[test]
fn packets_with_tags_do_too() {
    for ack_every in [1, 7] {
        let mut spec = plain(clos(4, 2, 8), busy_flows());
        rocev2(&mut spec, |rocev2| {
            rocev2.csig = Some(Default::default());
            rocev2.ack_every = ack_every;
        });
        spec.switch.queue.size = Bytes(40_000);
        spec.end = Duration::from_ms(3);
        let outcome = run(spec);
        assert!(outcome.table("drops").rows() > 0);
    }
}
