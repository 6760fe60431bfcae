//! Claims about the set-up: whether the scenarios are what the deck describes, and the form of the
//! feedback frame.

use floodway_report::statistics::Scale;
use floodway_scenario::Variant;
use floodway_wire::Mac;
use floodway_wire::ethernet::{FCS, SHORTEST};
use floodway_wire::mac_control::{Drc, MacControl};

use crate::claim::{GIVEN, Row, Rule, SET_UP};
use crate::evidence::Evidence;
use crate::library::Value;
use crate::measure::Measured;

use super::measures::{carried, off};
use super::{
    BACKPLANE, DRC, ENTRIES_FILE, L2CI, MIXED, MULTISTAGE, NO_CONTROL, PEAK_BACKPLANE,
    PEAK_MULTISTAGE, RED, case,
};

/// What the deck gives in numbers.
const DECK: [Value; 10] = [
    (BACKPLANE, NO_CONTROL, "/workload/0/saturated/sizes", "exponential(8000B, 46B, 64KB)"),
    (BACKPLANE, NO_CONTROL, "/topology/star/rate", "10Gbps"),
    (MULTISTAGE, NO_CONTROL, "/topology/clos/fabric_rate", "10Gbps"),
    (ENTRIES_FILE, L2CI, "/topology/custom/rate", "10Gbps"),
    (ENTRIES_FILE, L2CI, "/switch/buffer/shared/egress/pool", "150KB"),
    (ENTRIES_FILE, L2CI, "/workload/0/application/entries/mean", "8KB"),
    (ENTRIES_FILE, L2CI, "/workload/0/application/entries/most", "85KB"),
    (MIXED, RED, "/topology/custom/rate", "10Gbps"),
    (MIXED, RED, "/host/transport/tcp/receive_window", "64KB"),
    (MIXED, RED, "/switch/queue/size", "64KB"),
];

/// Whether the networks are those of the deck: B1, B3 and what stands beside.
pub const NETWORKS: &[Row] = &[
    Row {
        id: "B1",
        part: "nodes",
        metric: "hosts of backplane.toml",
        claimed: "155.64 Gb/s at 9.7275 Gb/s per node",
        source: "slide 7",
        rule: Rule::Exactly(16.0),
        expected: SET_UP,
        measure: &|e| hosts(e, BACKPLANE, NO_CONTROL),
    },
    Row {
        id: "B3",
        part: "nodes",
        metric: "hosts of multistage.toml",
        claimed: "116.73 Gb/s at the same rate per node",
        source: "slide 9",
        rule: Rule::Exactly(12.0),
        expected: SET_UP,
        measure: &|e| hosts(e, MULTISTAGE, NO_CONTROL),
    },
    Row {
        id: "B1",
        part: "parameters",
        metric: "values of the deck that the scenarios have",
        claimed: "10 values of slides 7, 9, 13, 16 and 17",
        source: "slides 7 to 17",
        rule: Rule::Exactly(DECK.len() as f64),
        expected: SET_UP,
        measure: &|e| e.values_as_in(&DECK),
    },
    Row {
        id: "B1",
        part: "peak",
        metric: "difference of the throughput above L2 from 155.64 Gb/s, if no two nodes send to the same one",
        claimed: "Peak Throughput = 155.64 Gbs above L2",
        source: "slide 7",
        rule: Rule::Between(-0.1, 0.1),
        expected: GIVEN,
        measure: &|e| {
            e.on_scale(case(PEAK_BACKPLANE, NO_CONTROL), Scale::REAL, "%", |f| {
                off(carried(f), 155.64)
            })
        },
    },
    Row {
        id: "B3",
        part: "peak",
        metric: "difference of the throughput above L2 from 116.73 Gb/s in the network of several stages, likewise",
        claimed: "Peak Throughput = 116.73 Gbs above L2",
        source: "slide 9",
        rule: Rule::Between(-0.1, 0.1),
        expected: GIVEN,
        measure: &|e| {
            e.on_scale(case(PEAK_MULTISTAGE, NO_CONTROL), Scale::REAL, "%", |f| {
                off(carried(f), 116.73)
            })
        },
    },
];

fn hosts(evidence: &Evidence, file: &str, variant: &str) -> Measured {
    let count = |of: &Variant| of.graph().hosts().count() as f64;
    evidence.of_variant(file, variant, "", count)
}

/// Claim B10: the form of the feedback frame, counted on frames that the model makes.
pub const FORMAT: &[Row] = &[
    Row {
        id: "B10",
        part: "directions",
        metric: "bits of the frame that change with the severity of one direction",
        claimed: "2 bits per direction",
        source: "slide 21",
        rule: Rule::Exactly(2.0),
        expected: SET_UP,
        measure: &|e| {
            of_frames(e, &|all| {
                bits(
                    all,
                    |frame, severity| {
                        let shift = 64 - 2 * (7 + 1);
                        frame.drc.statuses = u64::from(severity) << shift;
                    },
                    4,
                )
            })
        },
    },
    Row {
        id: "B10",
        part: "priorities",
        metric: "bits that change with the control of one priority",
        claimed: "1 bit per priority",
        source: "slide 21",
        rule: Rule::Exactly(1.0),
        expected: SET_UP,
        measure: &|e| of_frames(e, &|all| bits(all, |frame, on| frame.drc.mask = on << 5, 2)),
    },
    Row {
        id: "B10",
        part: "order of the fields",
        metric: "fields that begin before the one that the deck has before them",
        claimed: "MAC Ctrl Addr, Source Addr, DRC Type, Direction Statuses, Priority Mask, Padding, FCS",
        source: "slide 21",
        rule: Rule::Exactly(0.0),
        expected: SET_UP,
        measure: &|e| {
            of_frames(e, &|empty| {
                let source = first_octet(empty, |frame| frame.source = Mac([0xff; 6]));
                let statuses = first_octet(empty, |frame| frame.drc.statuses = u64::MAX);
                let mask = first_octet(empty, |frame| frame.drc.mask = u8::MAX);
                // Whatever changes, the FCS behind it all does.
                let group = first_octet(empty, |frame| frame.drc.group = u16::MAX);
                let fields = [source, statuses, mask, group, SHORTEST - FCS];
                fields.windows(2).filter(|pair| pair[1] <= pair[0]).count() as f64
            })
        },
    },
];

/// A feedback frame.
#[derive(Clone, Copy)]
struct Feedback {
    source: Mac,
    drc: Drc,
}

/// A number about feedback frames, for a study that has a variant which sends them.
fn of_frames(evidence: &Evidence, number: &dyn Fn(&Feedback) -> f64) -> Measured {
    let drc = Drc { statuses: 0, mask: 0, group: 0 };
    let empty = Feedback { source: Mac::default(), drc };
    evidence.of_variant(BACKPLANE, DRC, "", |_| number(&empty))
}

/// The octets of a frame before its FCS.
fn octets(of: &Feedback) -> Vec<u8> {
    MacControl::Drc(of.drc).frame(of.source)[..SHORTEST - FCS].to_vec()
}

/// How many bits differ among the frames that a change makes with the numbers below `values`.
fn bits(empty: &Feedback, change: impl Fn(&mut Feedback, u8), values: u8) -> f64 {
    let plain = octets(empty);
    let mut differing = vec![0; plain.len()];
    for value in 0..values {
        let mut frame = *empty;
        change(&mut frame, value);
        for (bits, (octet, old)) in differing.iter_mut().zip(octets(&frame).iter().zip(&plain)) {
            *bits |= octet ^ old;
        }
    }
    f64::from(differing.iter().map(|octet: &u8| octet.count_ones()).sum::<u32>())
}

/// The first octet that a change changes.
fn first_octet(empty: &Feedback, change: impl Fn(&mut Feedback)) -> usize {
    let mut frame = *empty;
    change(&mut frame);
    let pairs = octets(&frame).into_iter().zip(octets(empty));
    pairs.take_while(|(octet, old)| octet == old).count()
}
