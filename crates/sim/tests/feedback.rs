//! Feedback in a class of data: it waits behind data, counts with it, is paused and may be dropped.

use std::collections::BTreeSet;

use crate::common::timeline::{self, datagrams_of, star_to, traced};
use crate::common::{clos, fct_ps, flow, isolating, plain, run, star};
use floodway_model::{Body, Bytes, Duration, Ecn, FlowSpec, Instant, Rate};
use floodway_sim::Sent;
use floodway_sim::Spec;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::udp;
use floodway_sim::switch::aqm::{self, ramp, regular, step};
use floodway_sim::switch::congestion_indication::Spec as Indication;
use floodway_sim::switch::flow_control::source_flow_control::{Mode, Spec as Sfc};
use floodway_sim::switch::flow_control::{congestion_isolation, pfc, qcn};
use floodway_sim::switch::{buffer, feedback};

/// Host 0 sends one packet to host 1. The way back to host 0 is busy: hosts 2 and 3 each send it ten
/// packets. A packet of 1024 bytes is 1106 on the wire, 88.48 ns; an ACK 86, 6.88 ns.
fn busy_way_back(ack: Option<u8>) -> Spec {
    let packets = 10 * 1_024;
    let flows = vec![flow(0, 1, 1_024, 0), flow(2, 0, packets, 0), flow(3, 0, packets, 0)];
    let mut spec = plain(star(4), flows);
    spec.switch.feedback.ack = ack;
    spec
}

fn is_ack(frame: &Sent) -> bool {
    matches!(frame.packet.body, Body::Ack { .. })
}

/// When the switch begins to send the first ACK of flow 0, and in which class.
fn ack_leaves(sent: &[Sent]) -> (Instant, u8) {
    let mut acks = sent.iter().filter(|frame| is_ack(frame) && frame.packet.flow.0 == 0);
    let frame = acks.find(|frame| frame.to.0.0 == 0).expect("it is sent to host 0");
    (frame.at, frame.class.0)
}

/// The data of flow 0 is at the switch at 288.48 ns and at host 1 at 576.96. The ACK is at the switch at
/// 576.96 + 6.88 + 200 = 783.84. There frame j of the others begins at 288.48 + 88.48 j: number 5 is on
/// the wire until 819.36. By then six of each, 12, have arrived (the seventh at 819.36).
#[test]
fn an_ack_waits_behind_the_data_of_its_class() {
    let (_, sent) = traced(busy_way_back(None));
    assert_eq!(ack_leaves(&sent), (Instant(819_360), 1));
    // Behind all that had arrived: 288.48 + 12 * 88.48.
    let (_, sent) = traced(busy_way_back(Some(0)));
    assert_eq!(ack_leaves(&sent), (Instant(1_350_240), 0));
}

/// Completion at the sender: on an idle way back the ACK leaves the switch at 783.84 and is at host 0 6.88 +
/// 200 ns later, at 990.72; above or behind the data, 206.88 ns after it leaves. The last byte is at host 1
/// at 576.96 in all cases. Forty packets from host 2 to host 3 take 3.5 us, so the run goes on. Datagrams are not acknowledged.
#[test]
fn completion_at_the_sender_is_the_last_acknowledgement() {
    let of = |spec: Spec| {
        let outcome = run(spec);
        let ns = ["fct_ns", "acked_fct_ns"].map(|name| outcome.table("flows").f64s(name)[0]);
        ns.map(|ns| (ns * 1e3).round())
    };
    let mut idle = busy_way_back(None);
    // A run ends with the last byte: elsewhere something goes on.
    idle.flows = vec![flow(0, 1, 1_024, 0), flow(2, 3, 40 * 1_024, 0)].into();
    assert_eq!(of(idle.clone()), [576_960.0, 990_720.0]);
    assert_eq!(of(busy_way_back(None)), [576_960.0, 1_026_240.0]);
    assert_eq!(of(busy_way_back(Some(0))), [576_960.0, 1_557_120.0]);
    idle.profiles = vec![datagrams_of(1_024, udp::Field::NotEct)];
    assert!(of(idle)[1].is_nan());
}

/// The same with marks above 3 packets: six wait when the ACK comes. The data of its flow is ECN-capable
/// with DCQCN, so the ACK is marked. It is the same packet otherwise, and the flow does not slow down.
#[test]
fn an_ack_is_ecn_capable_like_its_data() {
    let mut spec = busy_way_back(Some(0));
    spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(3 * 1_086) });
    let (_, sent) = traced(spec.clone());
    let acks = || sent.iter().filter(|frame| is_ack(frame) && frame.packet.flow.0 == 0);
    let fields: Vec<Ecn> = acks().map(|frame| frame.packet.ecn()).collect();
    assert_eq!(fields, [Ecn::Ect0, Ecn::Ce]);
    // In the control class it is not examined.
    spec.switch.feedback = feedback::Spec::default();
    let (_, sent) = traced(spec);
    let fields = sent.iter().filter(|frame| is_ack(frame)).map(|frame| frame.packet.ecn());
    assert!(fields.into_iter().all(|ecn| ecn == Ecn::NotEct));
}

/// A queue of six packets of 1086 bytes has no room for an ACK of 66 behind six of them, and one of 66
/// bytes more has.
#[test]
fn an_ack_may_find_no_room() {
    let dropped = |size: u64| {
        let mut spec = busy_way_back(Some(0));
        spec.flows[0].bytes = 1_024;
        spec.switch.queue.size = Bytes(size);
        let (_, sent) = traced(spec);
        !sent.iter().any(|frame| is_ack(frame) && frame.packet.flow.0 == 0 && frame.to.0.0 == 0)
            || ack_leaves(&sent).0 > Instant(40_000_000)
    };
    assert!(dropped(6 * 1_086 + 65));
    assert!(!dropped(6 * 1_086 + 66));
}

/// PFC by ingress: host 1 answers in class 0, and its ACKs alone pass an XOFF of one ACK, so that host 1 is
/// paused, which stops its ACKs and nothing else.
#[test]
fn acks_count_in_pfc_and_are_paused() {
    let pauses = |ack: Option<u8>| {
        // Sixty packets to host 1 from host 0, whose way back is full of data of hosts 2 and 3.
        let flows = vec![flow(0, 1, 60 * 1_024, 0), flow(2, 0, 400_000, 0), flow(3, 0, 400_000, 0)];
        let mut spec = plain(star(4), flows);
        spec.switch.feedback.ack = ack;
        let measured_on = pfc::MeasuredOn::Ingress;
        let (xoff, xon) = (Bytes(66), Bytes(66));
        let pfc = pfc::Spec { xoff, xon, measured_on, ..Default::default() };
        spec.switch.flow_control.pfc = Some(pfc);
        let (outcome, sent) = traced(spec);
        let is_pause = |frame: &&Sent| {
            frame.to.0.0 == 1 && matches!(frame.packet.body, Body::Pfc { quanta: 1.., .. })
        };
        assert!(fct_ps(&outcome).iter().all(|&fct| fct > 0));
        sent.iter().filter(is_pause).count()
    };
    assert_eq!(pauses(None), 0);
    assert!(pauses(Some(0)) > 0);
}

/// Messages that switches make themselves: they come in no class of data, so they pause no neighbor and have
/// no headroom. The auditor follows every frame.
#[test]
fn messages_of_switches_wait_among_the_data() {
    let mut flows: Vec<FlowSpec> = (4..16).map(|src| flow(src, 0, 400_000, 0)).collect();
    flows.extend((17..24).map(|src| flow(src, src - 16, 200_000, 2_000)));
    let mut spec = plain(clos(8, 2, 4), flows);
    spec.switch = isolating();
    spec.profiles.iter_mut().for_each(|profile| profile.congestion = Default::default());
    let cims = |spec: &Spec| {
        let outcome = run(spec.clone());
        let counters = outcome.table("counters");
        let row = counters.texts("name").iter().position(|name| name == "cims_received");
        counters.u64s("value")[row.expect("it is counted")]
    };
    assert!(cims(&spec) > 0);
    use pfc::MeasuredOn::{EgressQueue, Ingress};
    let of_port = buffer::Spec::PerPort(buffer::per_port::Spec { size: Bytes(2_000_000) });
    for (measured_on, memory) in [
        (EgressQueue, buffer::Spec::default()),
        (Ingress, buffer::Spec::default()),
        (EgressQueue, of_port),
    ] {
        spec.switch.buffer = memory;
        let pfc = spec.switch.flow_control.pfc.as_mut().expect("it isolates with PFC");
        pfc.measured_on = measured_on;
        for queue in [0, 1] {
            let all = Some(queue);
            spec.switch.feedback = feedback::Spec {
                ack: all,
                trimmed: None,
                credit: None,
                cnp: all,
                cim: all,
                sfc: all,
                cnm: all,
                indication: all,
            };
            assert!(cims(&spec) > 0);
        }
    }
}

/// Of three classes of data, the one in which each message of a switch leaves it: two hosts send to a third
/// with a link of 1 Gb/s.
#[test]
fn each_message_of_switches_has_the_class_that_is_set() {
    use congestion::Spec as Control;
    let base = || {
        let flows = (0..2).map(|src| flow(src, 2, 2_000_000, 0)).collect();
        let mut spec = plain(star_to(3, Rate::from_gbps(1)), flows);
        spec.profiles = vec![datagrams_of(1_024, udp::Field::NotEct); 2];
        spec.switch.queue.count = 3;
        spec.end = Duration::from_ms(2);
        spec
    };
    let classes = |spec: Spec, is_it: fn(&Body) -> bool| {
        let (_, sent) = traced(spec);
        let mine = sent.iter().filter(|frame| is_it(&frame.packet.body));
        mine.map(|frame| frame.class.0).collect::<BTreeSet<u8>>()
    };
    // The control class is number 3.
    for (class, expected) in [(None, 3), (Some(0), 0), (Some(1), 1), (Some(2), 2)] {
        let mut spec = base();
        spec.profiles.iter_mut().for_each(|of| of.congestion = Control::Qcn(Default::default()));
        spec.switch.flow_control.qcn = Some(Default::default());
        spec.switch.feedback.cnm = class;
        let found = classes(spec, |body| matches!(body, Body::Cnm { .. }));
        assert_eq!(found, [expected].into(), "CNM");

        let mut spec = base();
        let control = Control::IndicatedRate(Default::default());
        spec.profiles.iter_mut().for_each(|of| of.congestion = control.clone());
        spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(20_000) });
        spec.switch.congestion_indication =
            Some(Indication { forward: false, backward: true, ..Default::default() });
        spec.switch.feedback.indication = class;
        let found = classes(spec, |body| matches!(body, Body::Indication { .. }));
        assert_eq!(found, [expected].into(), "indication");

        let mut spec = base();
        spec.switch.flow_control.source_flow_control =
            Some(Sfc { mode: Mode::Native, ..Default::default() });
        spec.switch.feedback.sfc = class;
        let found = classes(spec, |body| matches!(body, Body::Sfc { .. }));
        assert_eq!(found, [expected].into(), "SFC message");
    }
}

/// When the switch begins to send host 0 the first message of a mechanism, with its class of data and without.
///
/// Full frames take 100 ns. Those of host 0 to host 3, behind a link of 10 Gb/s, come to the switch at 1050 ns and
/// every 100 ns after that: number k, from 0 on, finds k - 1 that wait, as number 0 is on the wire until 2050
/// ns. So number 9, at 1950 ns, is the first that finds 8, and with it 9 wait: whether a threshold is 7.5 frames before
/// or 8.5 with the frame, the message is made then. Hosts 1 and 2 each send seven frames to host 0, which
/// come from 1500 ns on, two every 100 ns. Those that have come leave one by one; at most 8 wait.
fn message(set: impl Fn(&mut Spec, Option<u8>), is_it: fn(&Body) -> bool) -> [u64; 2] {
    [None, Some(0)].map(|class| {
        let flows = vec![
            timeline::burst(0, 3, 20, 1_050),
            timeline::burst(1, 0, 7, 1_500),
            timeline::burst(2, 0, 7, 1_500),
        ];
        let mut spec = timeline::full_frames(timeline::slow_star(4), flows);
        spec.profiles = vec![datagrams_of(timeline::PAYLOAD, udp::Field::NotEct)];
        spec.end = Duration::from_us(100);
        set(&mut spec, class);
        let (_, sent) = traced(spec);
        let of = |frame: &&Sent| frame.to.0.0 == 0 && is_it(&frame.packet.body);
        sent.iter().find(of).expect("there is a message").at.0
    })
}

/// Above all data a message leaves when the frame on the wire has, at 2000 ns. In the class of the data it leaves
/// behind the 10 frames that had come by 1950 ns, of which the first began at 1500 ns: at 2500 ns.
#[test]
fn messages_of_every_mechanism_wait_behind_the_data_of_their_class() {
    use congestion::Spec as Control;
    let frames = |number: f64| Bytes((number * timeline::FRAME as f64) as u64);
    let expected = [2_000_000, 2_500_000];
    let source_flow_control = message(
        |spec, class| {
            let (mode, trigger, target) = (Mode::Native, frames(8.5), frames(4.0));
            spec.switch.flow_control.source_flow_control =
                Some(Sfc { mode, trigger, target, ..Default::default() });
            spec.switch.feedback.sfc = class;
        },
        |body| matches!(body, Body::Sfc { .. }),
    );
    assert_eq!(source_flow_control, expected, "SFC message");
    let indication = message(
        |spec, class| {
            spec.profiles[0].congestion = Control::IndicatedRate(Default::default());
            spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: frames(7.5) });
            spec.switch.congestion_indication =
                Some(Indication { forward: false, backward: true, ..Default::default() });
            spec.switch.feedback.indication = class;
        },
        |body| matches!(body, Body::Indication { .. }),
    );
    assert_eq!(indication, expected, "indication");
    // Every frame is sampled; the growth since the last sample has hardly any weight.
    let notification = message(
        |spec, class| {
            spec.profiles[0].congestion = Control::Qcn(Default::default());
            spec.switch.flow_control.qcn = Some(qcn::Spec {
                q_eq: frames(8.5),
                w: 1.0 / 1024.0,
                sample_base: Bytes(1),
                jitter: 0.0,
                ..Default::default()
            });
            spec.switch.feedback.cnm = class;
        },
        |body| matches!(body, Body::Cnm { .. }),
    );
    assert_eq!(notification, expected, "CNM");
    let isolation = message(
        |spec, class| {
            spec.switch.queue.count = 2;
            let curve = ramp::Spec {
                kmin: frames(7.4),
                kmax: frames(7.5),
                pmax: 1.0,
                ..Default::default()
            };
            spec.switch.flow_control.congestion_isolation =
                Some(congestion_isolation::Spec { curve, ..Default::default() });
            spec.switch.feedback.cim = class;
        },
        |body| matches!(body, Body::Cim),
    );
    assert_eq!(isolation, expected, "CIM");
}

/// The network of the ACK above, with two packets of flow 0: each port marks every second packet that is
/// ECN-capable. The second one is at host 1 at 288.48 + 88.48 + 288.48 = 665.44 ns, and its CNP, shorter than 100
/// bytes, at the switch before 874 ns. The ACK of the first packet left the switch at 819.36 ns, so that a
/// frame of the others is on the wire from 826.24 to 914.72 ns. The CNP leaves then, or behind all 14 that have
/// come by then and both ACKs: at 288.48 + 14 · 88.48 + 2 · 6.88 ns.
#[test]
fn a_cnp_waits_behind_the_data_of_its_class() {
    let leaves = |cnp: Option<u8>| {
        let packets = 10 * 1_024;
        let flows = vec![flow(0, 1, 2_048, 0), flow(2, 0, packets, 0), flow(3, 0, packets, 0)];
        let mut spec = plain(star(4), flows);
        spec.profiles.iter_mut().for_each(|of| of.congestion = Default::default());
        let packets = std::num::NonZeroU32::new(2).unwrap();
        spec.switch.aqm = aqm::Spec::Regular(regular::Spec { packets });
        spec.switch.feedback.cnp = cnp;
        let (_, sent) = traced(spec);
        let of = |frame: &&Sent| frame.to.0.0 == 0 && matches!(frame.packet.body, Body::Cnp);
        sent.iter().find(of).map(|frame| frame.at.0)
    };
    assert_eq!(leaves(None), Some(914_720));
    assert_eq!(leaves(Some(0)), Some(288_480 + 14 * 88_480 + 2 * 6_880));
}
