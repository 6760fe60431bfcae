//! The delays of MAC and PHY at one end of a link: the time that a frame takes from MAC Control to the medium and
//! back, as IEEE 802.3 bounds it by sublayer.
//!
//! The standard counts the response of a neighbor at its MDI, so the delays of the neighbor's MAC and PHY are part of
//! the response. Those of the switch itself are not: they come on top.

use floodway_model::{Duration, Rate};
use floodway_sim::link::pause_time;
use floodway_sim::switch::flow_control::pausing::standard_response;
use serde::Serialize;

use crate::device::Evidence;

/// A delay at this end, sending and receiving together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delay {
    /// What it is.
    pub part: &'static str,
    /// How long it is at most.
    pub time: Duration,
    /// How this is known.
    pub evidence: Evidence,
    /// And from where.
    pub source: String,
}

/// The bounds of a speed, in quanta of 512 bit times.
struct Bounds {
    mbps: u64,
    /// MAC Control, MAC and reconciliation sublayer.
    mac: u16,
    /// PCS, with the FEC that is a sublayer of its own if there is one.
    pcs: u16,
    /// PMA and PMD.
    pma: u16,
    clause: &'static str,
}

/// Delay constraints, recalled: at the text of the standard they have not been checked. What supports them
/// is their sum, which up to 400 Gb/s is the response that clause 31B.3.7 allows (a test adds them up).
const BOUNDS: [Bounds; 6] = [
    // RS-FEC 48; PMA 8, PMD 1.
    Bounds { mbps: 25_000, mac: 16, pcs: 7 + 48, pma: 8 + 1, clause: "105.5" },
    // BASE-R FEC 48; PMA 8, PMD 8.
    Bounds { mbps: 40_000, mac: 32, pcs: 22 + 48, pma: 8 + 8, clause: "80.4" },
    // BASE-R FEC 240; PMA 18, PMD 19.
    Bounds { mbps: 100_000, mac: 48, pcs: 69 + 240, pma: 18 + 19, clause: "80.4" },
    Bounds { mbps: 200_000, mac: 96, pcs: 313, pma: 36 + 8, clause: "116.4" },
    Bounds { mbps: 400_000, mac: 192, pcs: 625, pma: 72 + 16, clause: "116.4" },
    Bounds { mbps: 800_000, mac: 384, pcs: 1_250, pma: 144 + 32, clause: "169.4" },
];

/// The speeds of which the sum is known and its parts are not.
const NOT_SPLIT: [u64; 2] = [10_000, 50_000];

/// The bounds of IEEE 802.3 for the MAC and PHY of one end at a speed. Fails with the reason if they are not known.
pub fn standard(rate: Rate) -> Result<Vec<Delay>, String> {
    if NOT_SPLIT.iter().any(|&mbps| rate == Rate::from_mbps(mbps)) {
        let source = "the quanta of IEEE 802.3 clause 31B.3.7 as SONiC's headroom formula lists them, \
                      taken for this end too; not split by sublayer";
        return Ok(vec![Delay {
            part: "MAC and PHY of this end",
            time: standard_response(rate),
            evidence: Evidence::Assumed,
            source: source.to_owned(),
        }]);
    }
    let known = BOUNDS.iter().find(|of| rate == Rate::from_mbps(of.mbps));
    let Some(of) = known else {
        let mut speeds: Vec<u64> =
            BOUNDS.iter().map(|of| of.mbps).chain(NOT_SPLIT).map(|mbps| mbps / 1_000).collect();
        speeds.sort_unstable();
        let speeds: Vec<String> = speeds.iter().map(u64::to_string).collect();
        return Err(format!(
            "the delays of MAC and PHY are known at {} Gb/s, and not at {rate}",
            speeds.join(", ")
        ));
    };
    let delay = |part, quanta| Delay {
        part,
        time: pause_time(quanta, rate),
        evidence: Evidence::Assumed,
        source: format!(
            "delay constraints of IEEE 802.3 clause {}, {quanta} quanta, recalled",
            of.clause
        ),
    };
    Ok(vec![
        delay("MAC and MAC Control of this end", of.mac),
        delay("PCS and FEC of this end", of.pcs),
        delay("PMA and PMD of this end", of.pma),
    ])
}

/// A delay that the user gives.
pub fn given(part: &'static str, time: Duration) -> Delay {
    Delay { part, time, evidence: Evidence::Assumed, source: "given by an option".to_owned() }
}

/// All of them together.
pub fn together(delays: &[Delay]) -> Duration {
    delays.iter().map(|delay| delay.time).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 + 55 + 9 = 80, 32 + 70 + 16 = 118, 48 + 309 + 37 = 394, 96 + 313 + 44 = 453 and 192 + 625 + 88 = 905
    /// quanta: the response of clause 31B.3.7 at these speeds, which SONiC lists.
    #[test]
    fn sublayers_add_up_to_the_response_of_the_standard() {
        for (gbps, quanta) in [(25, 80), (40, 118), (100, 394), (200, 453), (400, 905)] {
            let rate = Rate::from_gbps(gbps);
            let mine = BOUNDS.iter().find(|of| of.mbps == gbps * 1_000).unwrap();
            assert_eq!(mine.mac + mine.pcs + mine.pma, quanta, "{gbps}");
            let delays = standard(rate).unwrap();
            let (sum, whole) = (together(&delays), pause_time(quanta, rate));
            // Each is rounded up to picoseconds.
            assert!(sum >= whole && sum.0 <= whole.0 + 2, "{gbps}: {sum} and {whole}");
        }
        // 1,810 quanta at 800 Gb/s take as long as 905 at 400 Gb/s.
        let long = standard(Rate::from_gbps(800)).unwrap();
        assert_eq!(together(&long), Duration(1_158_400));
    }

    #[test]
    fn speeds_without_a_split_have_one_term_and_others_an_error() {
        let fifty = standard(Rate::from_gbps(50)).unwrap();
        // 147 quanta of 64 bytes at 6.25 bytes each ns.
        assert_eq!((fifty.len(), fifty[0].time), (1, Duration(1_505_280)));
        assert_eq!(
            standard(Rate::from_gbps(30)).unwrap_err(),
            "the delays of MAC and PHY are known at 10, 25, 40, 50, 100, 200, 400, 800 Gb/s, and not at 30Gbps"
        );
    }
}
