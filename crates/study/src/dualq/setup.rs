//! Claims about the set-up: whether the scenarios are what the deck describes.

use floodway_scenario::{Variant, topology};
use floodway_sim::host::transport;
use floodway_sim::switch::aqm;

use crate::claim::{Row, Rule, SET_UP};
use crate::evidence::Evidence;
use crate::measure::Measured;

use super::{DUALQ, GRID, IDLE, MANY_SEGMENTS, ONE_SEGMENT, RED, case};

const TESTBED: &str = "slide 7";
const GRID_OF_RED: &str = "slides 13 and 14";
const DETAILS: &str = "slides 24 and 29";

/// C1.
pub const NETWORK: &[Row] = &[
    Row {
        id: "C1",
        part: "rate",
        metric: "rate of the link of grid.toml",
        claimed: "BW = 40 Mbps (downstream)",
        source: TESTBED,
        rule: Rule::Exactly(40.0),
        expected: SET_UP,
        measure: &|e| e.of_variant(GRID, RED, "Mb/s", |of| link(of) / 1e6),
    },
    Row {
        id: "C1",
        part: "round trip",
        metric: "a full segment and its acknowledgement across the idle link, simulated",
        claimed: "RTT = 8 ms (unloaded)",
        source: TESTBED,
        rule: Rule::Between(7.9, 8.1),
        expected: SET_UP,
        measure: &|e| {
            round_trip_ms(e).map_or_else(Measured::default, |ms| Measured::exactly(ms, "ms"))
        },
    },
    Row {
        id: "C1",
        part: "frames",
        metric: "length of the frame of a full segment of grid.toml",
        claimed: "full sized packets, of 1500 bytes: 300 packets are 450 Kbytes",
        source: GRID_OF_RED,
        rule: Rule::Exactly(1_500.0),
        expected: SET_UP,
        measure: &|e| e.of_variant(GRID, RED, "bytes", frame),
    },
    Row {
        id: "C1",
        part: "BDP",
        metric: "rate times that round trip in such frames, rounded up",
        claimed: "BDP = 27 full sized packets",
        source: GRID_OF_RED,
        rule: Rule::Exactly(27.0),
        expected: SET_UP,
        measure: &|e| {
            let Some(ms) = round_trip_ms(e) else { return Measured::default() };
            let packets = |of: &Variant| libm::ceil(link(of) * ms / 1e3 / 8.0 / frame(of));
            e.of_variant(GRID, RED, "packets", packets)
        },
    },
    Row {
        id: "C1",
        part: "RED, weight",
        metric: "1/w, from the deck's line of tc as Linux works it out",
        claimed: "min 120000 max 360000 avpkt 1000 burst 220 bandwidth 40Mbit: w = 1/128",
        source: GRID_OF_RED,
        rule: Rule::Exactly(128.0),
        expected: SET_UP,
        measure: &|e| e.of_variant(GRID, RED, "", |of| f64::from(1_u32 << tc(of).wlog)),
    },
    Row {
        id: "C1",
        part: "RED, probability",
        metric: "the largest probability, likewise",
        claimed: "the default of tc, 0.02",
        source: GRID_OF_RED,
        rule: Rule::Between(0.019999, 0.020001),
        expected: SET_UP,
        measure: &|e| e.of_variant(GRID, RED, "", |of| f64::from(tc(of).max_p) / 4_294_967_296.0),
    },
    Row {
        id: "C1",
        part: "DualQ, threshold",
        metric: "T of grid.toml",
        claimed: "the 5 of the DCTCP threshold",
        source: "slides 8 and 29",
        rule: Rule::Exactly(5.0),
        expected: SET_UP,
        measure: &|e| e.of_variant(GRID, DUALQ, "packets", |of| f64::from(dualq(of).threshold)),
    },
    Row {
        id: "C1",
        part: "DualQ, coupling",
        metric: "2 to the power of S_d - S_r of grid.toml",
        claimed: "k = 8",
        source: DETAILS,
        rule: Rule::Exactly(8.0),
        expected: SET_UP,
        measure: &|e| e.of_variant(GRID, DUALQ, "", coupling),
    },
    Row {
        id: "C1",
        part: "DualQ, k of the round trips",
        metric: "1.63 (8 ms + 32 ms)/8 ms over the coupling of grid.toml",
        claimed: "1/5 = 8 ms/(8 + 32) ms: k = 8",
        source: "slide 23",
        rule: Rule::Between(0.98, 1.02),
        expected: SET_UP,
        measure: &|e| e.of_variant(GRID, DUALQ, "", |of| 1.63 * 5.0 / coupling(of)),
    },
];

fn link(variant: &Variant) -> f64 {
    let topology::Spec::Dumbbell(of) = &variant.settings.topology else {
        unreachable!("grid.toml is a dumbbell")
    };
    of.bottleneck_rate.0 as f64
}

fn frame(variant: &Variant) -> f64 {
    let transport::Spec::Tcp(tcp) = &variant.settings.host.transport else {
        unreachable!("grid.toml is about TCP")
    };
    f64::from(transport::tcp::segment_frame(tcp.mss.0 as u16))
}

fn tc(variant: &Variant) -> aqm::red::Tc {
    let aqm::Spec::Red(red) = &variant.settings.switch.aqm else {
        unreachable!("the variant has RED")
    };
    red.tc().expect("the scenario was checked")
}

fn dualq(variant: &Variant) -> &aqm::dualq::Spec {
    let aqm::Spec::DualQ(dualq) = &variant.settings.switch.aqm else {
        unreachable!("the variant has the DualQ")
    };
    dualq
}

fn coupling(variant: &Variant) -> f64 {
    let of = dualq(variant);
    f64::from(1_u32 << (of.slope_low_latency() - of.s_r))
}

/// The hundred round trips by which a message of 101 segments is longer than one of one segment, in
/// milliseconds.
fn round_trip_ms(evidence: &Evidence) -> Option<f64> {
    let time = |group| evidence.fct(case(IDLE, "base"), group).value;
    let both = time(MANY_SEGMENTS).zip(time(ONE_SEGMENT));
    both.map(|(many, one)| (many - one) / 100.0 / 1e6)
}
