//! Accounts of credit, compared with values computed by hand.

use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, Instant};

use super::*;
use crate::link::Link;
use crate::switch::flow_control::pausing::Source;
use crate::switch::mechanism::{Mechanism, Site, SitePort};

fn accounts(threshold: u64, period: Option<Duration>) -> Cbfc {
    let port = SitePort { link: Link::PLAIN, peer: NodeKind::Host };
    let spec =
        Spec { buffer: Bytes(10_000), threshold: Bytes(threshold), period, ..Spec::default() };
    Cbfc::build(&spec, &Site::with_ports("switch", 1, &[port, port])).unwrap()
}

const NOW: Instant = Instant(1_000_000);

#[test]
fn the_limit_is_what_has_arrived_and_what_is_free() {
    let (mut cbfc, source) = (accounts(1, None), Source::new(1, 0));
    for _ in 0..3 {
        cbfc.arrive(source, 1_500);
    }
    // Nothing has left yet, and then one packet of three.
    assert_eq!(cbfc.settle(source, 4_500, NOW), None);
    assert_eq!(cbfc.settle(source, 3_000, NOW), Some(4_500 + 10_000 - 3_000));
    // The same again frees nothing.
    assert_eq!(cbfc.settle(source, 3_000, NOW), None);
    assert_eq!(cbfc.settle(source, 0, NOW), Some(14_500));
    // Another source has its own counter.
    cbfc.arrive(Source::new(0, 0), 700);
    assert_eq!(cbfc.settle(Source::new(0, 0), 0, NOW), Some(10_700));
    assert_eq!(cbfc.frames_sent, 3);
}

#[test]
fn little_credit_waits_for_more_or_for_the_end_of_its_period() {
    let (mut cbfc, source) = (accounts(3_000, Some(Duration::from_us(2))), Source::new(0, 0));
    for _ in 0..4 {
        cbfc.arrive(source, 1_500);
    }
    assert_eq!(
        (cbfc.settle(source, 4_500, NOW), cbfc.next_wake()),
        (None, NOW + Duration::from_us(2))
    );
    // 3000 bytes: at once. The period of the first 1500 has no effect any more.
    assert_eq!(cbfc.settle(source, 3_000, NOW), Some(13_000));
    assert_eq!(cbfc.next_due(NOW + Duration::from_us(2)), None);
    assert_eq!(cbfc.next_wake(), Instant::NEVER);
    // The next 1500 bytes have a period of their own.
    let later = NOW + Duration::from_us(3);
    assert_eq!(cbfc.settle(source, 1_500, later), None);
    assert_eq!(cbfc.next_due(later + Duration(1_999_999)), None);
    assert_eq!(cbfc.next_due(later + Duration::from_us(2)), Some(source));
    // Without a period they wait for more.
    let mut cbfc = accounts(3_000, None);
    cbfc.arrive(source, 1_500);
    assert_eq!((cbfc.settle(source, 0, NOW), cbfc.next_wake()), (None, Instant::NEVER));
}
