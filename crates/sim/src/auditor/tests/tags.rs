//! Tags of CSIG, in units of 20 ns.

use super::*;
use crate::csig::{self, Tag};
use crate::telemetry::Record;

fn tag(place: Option<(NodeId, u16)>, waited: u64) -> Tag {
    let unit = Some(Duration::from_ns(20));
    let mut tag = csig::Spec { unit, ..Default::default() }.tag();
    if let Some((node, port)) = place {
        tag.pass((node, PortIx(port)), Duration(waited));
    }
    tag
}

/// Packet 0 of host 1 is sent at once, that of host 2 after it: it waits for 88.48 ns, 4 units.
fn second_leaves_with(tag: Tag) -> Vec<String> {
    let mut stand = stand(|_| {});
    let (first, second) = (packet(1, 0), packet(2, 0));
    stand.comes(&first, T);
    stand.leaves(0, 0, &first, T);
    stand.waits(0, &second, T);
    let record = Record::Tag(tag);
    let until = Instant(T + 2 * FRAME);
    let fact = Fact::Sent {
        port: 0,
        to: (NodeId(0), PortIx(0)),
        packet: &second,
        class: Class(0),
        begins: Instant(T + FRAME),
        until,
        handled_at: until + Duration::from_ns(200),
        lost: None,
        telemetry: Some(&record),
    };
    stand.states(SWITCH, &fact, T + FRAME);
    stand.found()
}

#[test]
fn a_tag_has_at_least_what_a_packet_has_waited() {
    // As this port writes it, and a worse one of another switch.
    assert_eq!(second_leaves_with(tag(Some((SWITCH, 0)), FRAME)), [""; 0]);
    assert_eq!(second_leaves_with(tag(Some((NodeId(9), 0)), 5 * FRAME)), [""; 0]);
    let wrong = |value| {
        vec![format!(
            "switch at 1088.480ns: port 0, queue 0: a tag has the value {value} after a delay of 4 \
             units"
        )]
    };
    // Not written at all; a smaller one of another switch; and one that this port has made up.
    for (tag, value) in [
        (tag(None, 0), 0),
        (tag(Some((NodeId(9), 0)), 60_000), 3),
        (tag(Some((SWITCH, 0)), 100_000), 5),
    ] {
        assert_eq!(second_leaves_with(tag), wrong(value));
    }
}
