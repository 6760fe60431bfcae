//! Flows of different workloads are sent in different ways.

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec};
use floodway_sim::host::congestion;
use floodway_sim::host::transport;

#[test]
fn packets_are_as_large_as_their_workload_says() {
    // Eight packets of 1024 bytes and two of 4096, each over two equal hops: one packet more than
    // there are, at 80 ps a byte with 82 bytes of headers and gap, and 200 ns each.
    let mut flows = vec![flow(0, 1, 8_192, 0), flow(2, 3, 8_192, 0)];
    flows[1].workload = 1;
    let mut spec = plain(star(4), flows);
    let transport::Spec::Rocev2(rocev2) = &mut spec.profiles[1].transport else { panic!() };
    rocev2.mtu = Bytes(4_096);
    let outcome = run(spec);
    let expected = [9 * (1_024 + 82) * 80 + 400_000, 3 * (4_096 + 82) * 80 + 400_000];
    assert_eq!(fct_ps(&outcome), expected);
    assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0, 1.0]);
}

#[test]
fn one_bottleneck_two_congestion_controls() {
    // Both NICs are at line rate, and everything is marked: who listens gives way.
    let mut flows = [1, 2].map(|src| flow(src, 0, FlowSpec::PERSISTENT, 0)).to_vec();
    flows[1].workload = 1;
    let delivered = |listening: &[usize]| {
        let mut spec = plain(star(3), flows.clone());
        spec.end = Duration::from_ms(2);
        spec.switch.aqm = floodway_sim::switch::aqm::Spec::Step(Default::default());
        for &workload in listening {
            let dcqcn = congestion::Spec::Dcqcn(quick_dcqcn());
            spec.profiles[workload].congestion = dcqcn;
        }
        run(spec).table("flows").u64s("delivered_bytes").to_vec()
    };
    let (neither, first, second) = (delivered(&[]), delivered(&[0]), delivered(&[1]));
    // Round robin of two equal inputs: half each, but for a packet.
    assert!(neither[0].abs_diff(neither[1]) <= 1_024, "{neither:?}");
    assert!(first[0] * 4 < first[1], "{first:?}");
    assert!(second[1] * 4 < second[0], "{second:?}");
}
