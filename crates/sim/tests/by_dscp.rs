//! Traffic classes by DSCP: what hosts write into their packets decides about queue, share and pauses. Frames
//! take 100 ns at 100 Gb/s.

use floodway_model::random::Stream;
use floodway_model::{Bytes, Dscp, Duration, FlowSpec, Marking, Rate};
use floodway_sim::host::transport::udp;
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::scheduler::{self, drr};
use floodway_sim::switch::{aqm, classify};
use floodway_sim::{Outcome, Spec};

use crate::common::timeline::{FRAME, PAYLOAD, datagrams_of, star_to};
use crate::common::*;

const EF: Dscp = Dscp(46);

/// EF is in queue 0, and everything else in queue 1.
fn ef_first() -> classify::Spec {
    let of = classify::dscp::Of { queue: 0, dscp: Marking::new(EF.0).into_iter().collect() };
    classify::Spec::Dscp(classify::dscp::Spec { default: 1, queues: vec![of].into() })
}

/// For a millisecond: flow 0 with EF, flow 1 without a DSCP, both as fast as the link.
fn two_classes(hosts: [(u32, u32); 2], last: Rate) -> Spec {
    let [(src, dst), other] = hosts;
    let ef = flow(src, dst, FlowSpec::PERSISTENT, 0);
    let rest = FlowSpec { workload: 1, ..flow(other.0, other.1, FlowSpec::PERSISTENT, 0) };
    let mut spec = plain(star_to(3, last), vec![ef, rest]);
    spec.profiles = vec![datagrams_of(PAYLOAD, udp::Field::NotEct); 2];
    spec.profiles[0].dscp = Some(EF);
    spec.switch.queue.count = 2;
    spec.switch.classify = ef_first();
    spec.end = Duration::from_ms(1);
    spec
}

/// Two DSCPs have a queue each, perhaps the same, and what has neither is in the last queue.
pub fn at_random(rng: &mut Stream, spec: &mut Spec) {
    let count = spec.switch.queue.count;
    let numbers = [46, 3];
    let of = |number| classify::dscp::Of {
        queue: rng.below(u64::from(count)) as u8,
        dscp: Marking::new(number).into_iter().collect(),
    };
    let queues = numbers.map(of).to_vec().into();
    spec.switch.classify =
        classify::Spec::Dscp(classify::dscp::Spec { default: count - 1, queues });
    for profile in &mut spec.profiles {
        let markings = [None, Some(Dscp(numbers[0])), Some(Dscp(numbers[1]))];
        profile.dscp = markings[rng.below(3) as usize];
    }
}

/// Delivered frames of each flow.
fn delivered(outcome: &Outcome) -> [u64; 2] {
    let flows = outcome.table("flows");
    let bytes = flows.u64s("delivered_bytes");
    [bytes[0] / PAYLOAD, bytes[1] / PAYLOAD]
}

fn weighted(weights: [u32; 2]) -> scheduler::Spec {
    let quantum = Bytes(FRAME + 20);
    scheduler::Spec::Drr(drr::Spec { quantum, weights: weights.to_vec(), strict: 0 })
}

/// Two hosts want all of a link that takes 10,000 frames a millisecond: with weights 3 to 2, six of ten frames are
/// of the first. At the end a round is not complete, and the first frames come 500 ns late.
#[test]
fn classes_share_a_link_by_their_weights() {
    let mut spec = two_classes([(0, 2), (1, 2)], GBPS_100);
    spec.switch.scheduler = weighted([3, 2]);
    let [ef, rest] = delivered(&run(spec.clone()));
    assert!(ef + rest > 10_000 - 12, "{ef} {rest}");
    assert!((2 * ef).abs_diff(3 * rest) <= 12, "{ef} {rest}");
    // What has the same DSCP shares a queue, by arrival: half each.
    spec.profiles[1].dscp = Some(EF);
    let [one, other] = delivered(&run(spec.clone()));
    assert!(one.abs_diff(other) <= 2, "{one} {other}");
    // The default queue has what no entry has.
    spec.profiles[0].dscp = Some(Dscp(45));
    let [rest, ef] = delivered(&run(spec.clone()));
    assert!((2 * ef).abs_diff(3 * rest) <= 12, "{ef} {rest}");
    // Strict priority leaves nothing to the other class, but for what it sent before.
    spec.switch.scheduler = scheduler::Spec::Strict(Default::default());
    let [rest, ef] = delivered(&run(spec));
    assert!(ef > 10_000 - 12 && rest <= 1, "{ef} {rest}");
}

/// Host 0 sends EF to a host behind 10 Gb/s, and the rest to one behind 100 Gb/s. EF is lossless and paused nine
/// tenths of the time, in which the rest has the link of the host alone: 1000 and 9000 frames a millisecond. With one
/// class a pause stops both, and as the host sends them alternately, both have 1000.
#[test]
fn a_paused_class_does_not_stop_the_other() {
    let frames = |count: u64| Bytes(count * FRAME);
    let mut spec = two_classes([(0, 2), (0, 1)], Rate::from_gbps(10));
    spec.switch.flow_control.pfc = Some(pfc::Spec {
        measured_on: pfc::MeasuredOn::Ingress,
        xoff: frames(20),
        xon: frames(10),
        queues: vec![0],
        ..prompt_pfc()
    });
    let outcome = run(spec.clone());
    let [ef, rest] = delivered(&outcome);
    // XOFF and what is under way in a round trip are in the switch at the end.
    assert!((1_000 - 12..=1_000).contains(&ef), "{ef}");
    assert!((9_000 - 40..=9_012).contains(&rest), "{rest}");
    assert_eq!(outcome.table("drops").u64s("packets").iter().sum::<u64>(), 0);

    spec.switch.classify = classify::Spec::Single(Default::default());
    let [ef, rest] = delivered(&run(spec));
    assert!((1_000 - 12..=1_000).contains(&ef), "{ef}");
    assert!((1_000 - 12..=1_000 + 40).contains(&rest), "{rest}");
}

/// A step at 10 frames marks one class in its own queue: a class whose queue is shorter has no marks, although
/// more waits in the port.
#[test]
fn each_class_is_marked_by_its_own_queue() {
    let mut spec = two_classes([(0, 2), (1, 2)], GBPS_100);
    for (number, field) in [(0, udp::Field::Ect0), (1, udp::Field::Ect0)] {
        let dscp = spec.profiles[number].dscp;
        spec.profiles[number] = datagrams_of(PAYLOAD, field);
        spec.profiles[number].dscp = dscp;
    }
    spec.switch.scheduler = scheduler::Spec::Strict(Default::default());
    spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(10 * FRAME) });
    let outcome = run(spec);
    let queues = outcome.table("queues");
    let marks = |queue: u64| -> u64 {
        let rows = queues.u64s("queue").iter().zip(queues.u64s("marked_packets"));
        rows.filter(|(of, _)| **of == queue).map(|(_, marked)| marked).sum()
    };
    // EF comes as fast as it leaves. The other queue grows by a frame every 100 ns, and the first eleven come
    // before ten wait.
    assert_eq!(marks(0), 0);
    assert!(marks(1) > 10_000 - 30, "{}", marks(1));
}
