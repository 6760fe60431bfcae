//! What receivers of TCP have in Linux and not in the RFCs, by timelines to the picosecond.

use crate::common::sending::*;
use crate::common::*;
use floodway_model::{Body, Duration, NodeId};
use floodway_sim::Sent;
use floodway_sim::host::congestion::{self, dctcp, reno};

const FAR: Duration = Duration::from_ms(1);

/// The acknowledgements of host 1: when each is sent, what it acknowledges, and the segments behind a gap.
fn acks(trace: &[Sent]) -> Vec<(u64, u32, u16)> {
    let mine = trace.iter().filter(|sent| sent.to.0 == RIGHT && sent.packet.src == NodeId(1));
    let ack = |sent: &Sent| match sent.packet.body {
        Body::TcpAck { ack, sack, .. } => Some((sent.at.0, ack, sack[0].count)),
        _ => None,
    };
    mine.filter_map(ack).collect()
}

/// Twelve segments, of which number 1 is lost. The first three behind the gap are acknowledged at once, and after that
/// one acknowledgement says that all others have arrived: `sack_delay` after number 5, but no more than a twentieth of the
/// time from SYN/ACK to the first segment, which is 2.0004 ms.
#[test]
fn selective_acknowledgements_are_compressed() {
    let handshake = round_trip(FAR, FULL, SYN);
    assert_eq!(handshake, 2_000_432_640);
    let after = |sack_delay: Option<Duration>| {
        let control = congestion::Spec::Reno(reno::Spec::default());
        let mut spec = tcp_alone(GBPS_100, FAR, control);
        let tcp = tcp_of(&mut spec);
        (tcp.quick_acks, tcp.initial_window, tcp.sack_delay) = (0, 12, sack_delay);
        lose(&mut spec, 5_000_000_000, [1]);
        spec.end = Duration::from_ms(5);
        let (_, trace) = traced(&spec);
        // From the acknowledgement of number 0.
        let acks = acks(&trace);
        let first = acks[0].0;
        acks.into_iter().map(|(at, ack, held)| (at - first, ack, held)).collect::<Vec<_>>()
    };
    let at_once = |number: u64| (number * FULL, 1, number as u16 - 1);
    let reports: Vec<_> = (2..5).map(at_once).collect();
    let later = (5..12).map(at_once);
    let rfc = after(None);
    assert_eq!(rfc[0], (0, 1, 0));
    assert_eq!(rfc[1..11], [reports.clone(), later.collect()].concat());
    for (asked, delay) in [(1_000, handshake / 20), (50, 50_000_000)] {
        let linux = after(Some(Duration::from_us(asked)));
        assert_eq!(linux[1..4], reports, "{asked}");
        assert_eq!(linux[4], (5 * FULL + delay, 1, 10), "{asked}");
    }
}

/// A window of one segment, of which each is marked: the first changes the mark and is acknowledged at once, and from the
/// second on each has CWR and no change, so that it waits 40 ms unless reductions are acknowledged at once.
#[test]
fn a_window_of_one_waits_unless_reductions_are_acknowledged() {
    for (ack_reductions, waits) in [(false, 40_000_000_000), (true, 0)] {
        let dctcp = dctcp::Spec { minimum_window: 1, ..Default::default() };
        let mut spec = tcp_alone(GBPS_100, FAR, congestion::Spec::Dctcp(dctcp));
        let tcp = tcp_of(&mut spec);
        (tcp.quick_acks, tcp.ack_every, tcp.initial_window) = (0, 2, 1);
        tcp.ack_reductions = ack_reductions;
        spec.end = Duration::from_ms(100);
        crowd(&mut spec, round_trip(FAR, SYN, SYN), 100_000_000_000);
        let (_, trace) = traced(&spec);
        let gaps = gaps(&sent(&trace));
        let round_trip = round_trip(FAR, FULL, ACK);
        // The crowd delays a segment by some packets of 2.4 us.
        let near = |gap: u64, expected: u64| (expected..expected + 20_000_000).contains(&gap);
        assert!(near(gaps[0], round_trip), "{ack_reductions} {}", gaps[0]);
        for gap in &gaps[1..3] {
            assert!(near(*gap, round_trip + waits), "{ack_reductions} {gap}");
        }
    }
}
