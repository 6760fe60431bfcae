//! Packets fit where they are stored, and what is packed into words comes back.

use super::*;

#[test]
fn a_packet_is_forty_bytes() {
    assert_eq!(size_of::<Packet>(), 40);
}

#[test]
fn an_echo_has_a_record_and_a_mark() {
    for number in [1, 2, 255, 256, Echo::MOST] {
        let sent = Echo::of(number, false);
        assert_eq!((sent.record(), sent.marked()), (Some(number), false));
        let back = sent.answering(Ecn::Ce);
        assert_eq!((back.record(), back.marked()), (Some(number), true));
        assert_eq!(sent.answering(Ecn::Ect0), sent);
    }
    assert_eq!(Echo::default().record(), None);
    assert!(Echo::default().answering(Ecn::Ce).marked());
}

#[test]
fn an_echo_has_entropy_or_a_record() {
    for bits in 0..8 {
        let targets = [Some(0), Some(1), Some(255), Some(256), Some(Entropy::TARGETS - 1)];
        let with_target = [0, 1, 63, 255].into_iter().flat_map(|at| targets.map(|to| (at, to)));
        let without = [0, 1, 63, 256, u16::MAX].map(|value| (value, None));
        for (value, target) in without.into_iter().chain(with_target) {
            let [wants_ack, repeated, last_hop] = [1, 2, 4].map(|bit| bits & bit != 0);
            let entropy = Entropy { value, wants_ack, repeated, last_hop, target };
            let sent = Echo::of_entropy(entropy);
            let back = sent.answering(Ecn::Ce);
            assert_eq!((sent.entropy(), sent.record()), (Some(entropy), None));
            assert_eq!((back.entropy(), back.marked()), (Some(entropy), true));
        }
    }
    assert_eq!(Echo::of(Echo::MOST, true).entropy(), None);
}

#[test]
fn dscp_and_ecn_share_a_byte() {
    // RFC 3168, figure 1: ECT(1) is 01, ECT(0) is 10, CE is 11, below six bits of DSCP.
    assert_eq!(Tos::new(Dscp::LOW_LATENCY, Ecn::Ect0), Tos(0b0100_1010));
    for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
        for dscp in (0..64).map(Dscp) {
            let tos = Tos::new(dscp, ecn);
            assert_eq!((tos.dscp(), tos.ecn()), (dscp, ecn));
        }
    }
    assert_eq!(Tos::default(), Tos::new(Dscp::DEFAULT, Ecn::NotEct));
}
