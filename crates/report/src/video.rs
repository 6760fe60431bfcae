//! Adaptive video: what is played, and how well.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::video_segments;

use crate::scalars::{Scalar, put};
use crate::statistics::mean;
use crate::summary::Summary;
use crate::throughput::{Shown, numbers};

/// Ends of names of metrics, with what they are.
const BITRATE: &str = "video_bitrate_bps";
const SWITCHES: &str = "video_switches";
const STALLS: &str = "video_stalls";
const STALLED: &str = "video_stalled_ns";
const STARTUP: &str = "video_startup_ns";

/// Where there are videos, adds by workload: `workload_<n>_video_bitrate_bps`, the mean bitrate of the segments that
/// arrived, `_video_switches`, how often it changed from one to the next, `_video_stalls` and `_video_stalled_ns`, all of
/// segments requested in the measured interval, and `_video_startup_ns`, the mean of all flows that started to play.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let Some(segments) = video_segments::View::of(tables) else { return };
    let mut by_workload: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for row in 0..segments.rows() {
        by_workload.entry(segments.workload[row]).or_default().push(row);
    }
    for (workload, rows) in by_workload {
        let mut put = |name: &str, value: f64, unit: &'static str, meaning: &str| {
            let meaning = format!("{meaning} of videos of workload {workload}");
            put(scalars, &format!("workload_{workload}_{name}"), value, unit, &meaning);
        };
        let measured = || rows.iter().copied().filter(|&row| segments.measured[row] > 0);
        let arrived = measured().filter(|&row| !segments.arrived_ns[row].is_nan());
        let bitrates: Vec<f64> = arrived.map(|row| segments.bitrate_bps[row]).collect();
        if !bitrates.is_empty() {
            put(BITRATE, mean(&bitrates), "b/s", "bitrate, mean");
        }
        if measured().next().is_some() {
            // Rows are in order of flow and segment.
            let is_switch = |&row: &usize| {
                let before = row.checked_sub(1);
                before.is_some_and(|before| {
                    segments.flow[before] == segments.flow[row]
                        && segments.bitrate_bps[before] != segments.bitrate_bps[row]
                })
            };
            put(SWITCHES, measured().filter(is_switch).count() as f64, "", "changes of bitrate");
            let stalls: u64 = measured().map(|row| segments.stalls[row]).sum();
            put(STALLS, stalls as f64, "", "stalls");
            let stalled: f64 = measured().map(|row| segments.stalled_ns[row]).sum();
            put(STALLED, stalled, "ns", "time in stalls");
        }
        let startup = rows.iter().map(|&row| segments.startup_ns[row]);
        let startup: Vec<f64> = startup.filter(|time| !time.is_nan()).collect();
        if !startup.is_empty() {
            put(STARTUP, mean(&startup), "ns", "time to the start of playback, mean");
        }
    }
}

/// What some variant has of bitrates, in the order of workloads; and so on.
pub(crate) fn groups(summary: &Summary) -> [(&'static str, Vec<Shown>); 5] {
    [
        ("bitrate of videos, mean", BITRATE),
        ("stalls of videos", STALLS),
        ("time in stalls of videos", STALLED),
        ("changes of bitrate", SWITCHES),
        ("time to the start of playback, mean", STARTUP),
    ]
    .map(|(heading, name)| (heading, Shown::by_workload(summary, name)))
}

/// The mean bitrate of the first workload with videos, for an answer.
pub(crate) fn headline(summary: &Summary) -> Option<Shown> {
    let number = *numbers(summary, "workload_", &format!("_{BITRATE}")).first()?;
    let label = format!("bitrate of {}, mean", summary.workload_name(number));
    Some(Shown { key: format!("workload_{number}_{BITRATE}"), label })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::better::Better;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    /// Two flows of workload 1. The first one has a segment of the warm-up, three that arrived and one that did not; it
    /// changes its bitrate after the warm-up and then once more. The second one starts with another bitrate, which is no
    /// change.
    #[test]
    fn videos_by_hand() {
        let none = f64::NAN;
        let table = complete(
            Table::new("video_segments", "")
                .u64("workload", "", vec![1; 6])
                .u64("flow", "", vec![4, 4, 4, 4, 4, 7])
                .f64("bitrate_bps", "", vec![1e6, 2e6, 2e6, 4e6, 4e6, 1e6])
                .f64("arrived_ns", "", vec![1e9, 2e9, 3e9, 9e9, none, 2e9])
                .u64("stalls", "", vec![1, 0, 0, 1, 1, 0])
                .f64("stalled_ns", "", vec![5e8, 0.0, 0.0, 2e9, 1e9, 0.0])
                .f64("startup_ns", "", vec![1e9, none, none, none, none, 2e9])
                .u64("measured", "", vec![0, 1, 1, 1, 1, 1]),
        );
        let scalars = scalars(&[table]);
        let value = |name: &str| scalars[&format!("workload_1_video_{name}")].value;
        assert_eq!(value("bitrate_bps"), 9e6 / 4.0);
        assert_eq!((value("stalls"), value("stalled_ns")), (2.0, 3e9));
        assert_eq!((value("switches"), value("startup_ns")), (2.0, 1.5e9));
        assert_eq!(Better::of("workload_1_video_bitrate_bps"), Some(Better::More));
        for name in [STALLS, STALLED, SWITCHES, STARTUP] {
            assert_eq!(Better::of(&format!("workload_1_{name}")), Some(Better::Less));
        }
    }
}
