//! Formats of floodway's own, and the telemetry of HPCC.

use floodway_wire::Mac;
use floodway_wire::experimental::{Backpressure, Credit, Data, Experimental, Indication};
use floodway_wire::telemetry::{self, Hop};

use crate::{octets, sealed};

#[test]
fn messages_say_which_they_are() {
    for (own, content) in [
        (
            Experimental::Backpressure(Backpressure { class: 2, physical_queue: 31, stop: true }),
            "01 02 1f 80",
        ),
        (Experimental::Credit(Credit { class: 1, limit: 1 << 40 }), "02 01 0000010000000000"),
        (Experimental::Indication(Indication { severity: 200, flow: 7 }), "03 c8 0000 00000007"),
        (Experimental::Data(Data { flow: 7, psn: 9 }), "04 00000007 00000009"),
    ] {
        let written = sealed(&format!("020000000003 020000000001 88b5 {content}"), 64);
        let frame = own.frame(Mac([2, 0, 0, 0, 0, 3]), Mac([2, 0, 0, 0, 0, 1]), 0);
        assert_eq!(frame, written, "{own:?}");
        assert_eq!(Experimental::parse(&written), Ok(own));
    }
    let unknown = sealed("020000000003 020000000001 88b5 09", 64);
    assert_eq!(
        Experimental::parse(&unknown).unwrap_err().to_string(),
        "congestion indication: kind is 0x9 and not 0x3"
    );
}

#[test]
fn telemetry_of_two_hops() {
    let hops = [
        Hop { rate: 4, time: 0x12_3456, sent: 0x7_8901, queue: 0xbeef },
        Hop { rate: 15, time: 1, sent: 2, queue: 3 },
    ];
    let mut written = octets("2000 4123456 78901 beef f000001 00002 0003");
    written.resize(42, 0);
    assert_eq!(telemetry::octets(&hops)[..], written);
    assert_eq!(telemetry::parse(&written), Ok(hops.to_vec()));
    written[0] = 0x60;
    assert_eq!(
        telemetry::parse(&written).unwrap_err().to_string(),
        "telemetry: its length is 6, and there are 5 octets"
    );
    assert_eq!([100_000_000_000, 25_000_000_000, 7].map(telemetry::rate_code), [4, 1, 15]);
}
