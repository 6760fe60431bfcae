//! What of a headroom table does not depend on the cable, beside the terms that are known: which part of it they explain.

use floodway_model::{Bytes, Duration};
use floodway_sim::switch::flow_control::pausing::Link;
use serde::Serialize;

use super::reading::{Cells, Rest};
use super::{Sum, phy};

/// What a headroom of a table has at a speed in addition to the cable, in parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The speed, and what the table has for it.
    #[serde(flatten)]
    pub rest: Rest,
    /// The same in bytes of the buffer.
    pub bytes: Bytes,
    /// The sum of frames, pause frames and the neighbor's response.
    pub computed: Bytes,
    /// The bound of the delays of MAC and PHY at this end; none if it is not known at this speed.
    pub phy: Option<Bytes>,
    /// What the table has in addition to both; negative if it has less.
    pub remains: i64,
    /// The same as a time: how long frames of 64 bytes take to fill it.
    pub remains_ns: f64,
}

/// The rests of a reading in parts. `link` is a link of the speed without cable, and `response` the neighbor's.
pub fn explain(cells: &Cells, of: impl Fn(&Rest) -> (Link, Duration)) -> Vec<Explained> {
    let one = |rest: &Rest| {
        let (link, response) = of(rest);
        let computed = Sum::of(&link, response).total;
        let delays = phy::standard(link.rate).ok();
        let whole = delays.as_ref().map(|delays| Sum::with(&link, response, delays).total);
        let bytes = Bytes((rest.cells * cells.cell as f64) as u64);
        let remains = bytes.0 as i64 - whole.unwrap_or(computed).0 as i64;
        // A cell for every shortest frame, with preamble and gap.
        let wire = remains as f64 / cells.cell as f64 * super::reading::SMALLEST_ON_WIRE as f64;
        Explained {
            rest: rest.clone(),
            bytes,
            computed,
            phy: whole.map(|whole| Bytes(whole.0 - computed.0)),
            remains,
            remains_ns: wire * 8e9 / link.rate.0 as f64,
        }
    };
    cells.rests.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Rate;
    use floodway_sim::switch::cell::Cell;
    use floodway_sim::switch::flow_control::pausing::standard_response;

    /// Cells of 420 bytes at 400 Gb/s: 9,236 ahead, two pause frames of 84 and 57,920 of response are 67,324 bytes, or
    /// 801 frames of 84, and 44 cells of long frames. With 57,920 for this end there are 1,491. So of 1,600 cells
    /// 845 are computed, 690 are this end, and 65 remain, which take 65 * 84 bytes: 109.2 ns.
    #[test]
    fn a_rest_in_parts_by_hand() {
        let rate = Rate::from_gbps(400);
        let rests = vec![Rest { rate, computed_for: rate, cells: 1_600.0 }];
        let cells = Cells { cell: 420, meter: Duration::from_ns(5), rests };
        let explained = explain(&cells, |rest| {
            let link = Link {
                rate: rest.computed_for,
                delay: Duration::ZERO,
                lossless_classes: 2,
                smallest_frame: 64,
                largest_frame: 9_216,
                wire_overhead: 20,
                latency: Duration::ZERO,
                cell: Cell::of(420),
            };
            (link, standard_response(rest.computed_for))
        });
        let one = &explained[0];
        assert_eq!((one.computed, one.phy), (Bytes(845 * 420), Some(Bytes(690 * 420))));
        assert_eq!((one.bytes, one.remains), (Bytes(1_600 * 420), 65 * 420));
        assert!((one.remains_ns - 109.2).abs() < 1e-9, "{}", one.remains_ns);
    }
}
