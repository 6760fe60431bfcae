//! Calls: how they are rated, and why.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::voice;

use crate::scalars::{Scalar, put};
use crate::statistics::mean;
use crate::summary::Summary;
use crate::throughput::{Shown, numbers};

/// The directions of a call, as the table and names of metrics have them.
const DIRECTIONS: [&str; 2] = ["up", "down"];

/// Where there are calls, adds `workload_<n>_mos`, which is the mean of the lower score of both directions of a call, and by
/// direction `workload_<n>_mos_<up|down>`, `workload_<n>_mouth_to_ear_<up|down>_ns` and
/// `workload_<n>_voice_missing_<up|down>`, the percentage of packets that were not played.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let Some(calls) = voice::View::of(tables) else { return };
    let mut by_workload: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for row in (0..calls.rows()).filter(|&row| calls.packets[row] > 0) {
        by_workload.entry(calls.workload[row]).or_default().push(row);
    }
    for (workload, rows) in by_workload {
        let mut put = |name: &str, values: &[f64], unit: &'static str, meaning: &str| {
            if !values.is_empty() {
                let meaning = format!("{meaning} of calls of workload {workload}");
                let name = format!("workload_{workload}_{name}");
                put(scalars, &name, mean(values), unit, &meaning);
            }
        };
        let mut lower: BTreeMap<u64, f64> = BTreeMap::new();
        for &row in &rows {
            let of_call = lower.entry(calls.call[row]).or_insert(f64::INFINITY);
            *of_call = of_call.min(calls.mos[row]);
        }
        let lower: Vec<f64> = lower.into_values().collect();
        let meaning = "mean opinion score (E-model), of the worse direction, mean";
        put("mos", &lower, "MOS", meaning);
        for direction in DIRECTIONS {
            let of_direction = || rows.iter().filter(|&&row| calls.direction[row] == direction);
            let scores: Vec<f64> = of_direction().map(|&row| calls.mos[row]).collect();
            let delays = of_direction().map(|&row| calls.mouth_to_ear_ns[row]);
            let delays: Vec<f64> = delays.filter(|delay| !delay.is_nan()).collect();
            let missing = |&row: &usize| {
                (calls.lost[row] + calls.late[row]) as f64 * 100.0 / calls.packets[row] as f64
            };
            let missing: Vec<f64> = of_direction().map(missing).collect();
            let meaning = format!("mean opinion score (E-model), {direction}, mean");
            put(&format!("mos_{direction}"), &scores, "MOS", &meaning);
            let meaning = format!("time from mouth to ear, {direction}, mean");
            put(&format!("mouth_to_ear_{direction}_ns"), &delays, "ns", &meaning);
            let meaning = format!("packets lost or late, {direction}, mean share");
            put(&format!("voice_missing_{direction}"), &missing, "%", &meaning);
        }
    }
}

/// What some variant has of the scores of calls by workload, in their order.
pub(crate) fn scores_of(summary: &Summary) -> Vec<Shown> {
    Shown::by_workload(summary, "mos")
}

/// The score of the first workload with calls, for an answer.
pub(crate) fn headline(summary: &Summary) -> Option<Shown> {
    let number = *numbers(summary, "workload_", "_mos").first()?;
    let label = format!("score of {}", summary.workload_name(number));
    Some(Shown { key: format!("workload_{number}_mos"), label })
}

/// The same by direction.
pub(crate) fn scores_by_direction(summary: &Summary) -> Vec<Shown> {
    by_direction(summary, |direction| format!("mos_{direction}"))
}

/// What some variant has of times from mouth to ear, in the order of workloads.
pub(crate) fn delays_of(summary: &Summary) -> Vec<Shown> {
    by_direction(summary, |direction| format!("mouth_to_ear_{direction}_ns"))
}

/// What some variant has of packets that were not played, in the same order.
pub(crate) fn missing_of(summary: &Summary) -> Vec<Shown> {
    by_direction(summary, |direction| format!("voice_missing_{direction}"))
}

fn by_direction(summary: &Summary, name: impl Fn(&str) -> String) -> Vec<Shown> {
    let of = |direction: &str| {
        let shown = Shown::by_workload(summary, &name(direction)).into_iter();
        let direction = direction.to_owned();
        shown.map(move |shown| Shown { label: format!("{}, {direction}", shown.label), ..shown })
    };
    DIRECTIONS.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::better::Better;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    /// Two calls of workload 3, of whose second direction nothing was measured in the second.
    fn calls() -> Table {
        let directions = ["up", "down", "up", "down"].map(str::to_owned).to_vec();
        complete(
            Table::new("voice", "")
                .u64("workload", "", vec![3; 4])
                .u64("call", "", vec![0, 0, 1, 1])
                .text("direction", "", directions)
                .u64("packets", "", vec![100, 100, 50, 0])
                .u64("lost", "", vec![1, 0, 0, 0])
                .u64("late", "", vec![2, 0, 1, 0])
                .f64("mouth_to_ear_ns", "", vec![100e6, 80e6, 200e6, f64::NAN])
                .f64("mos", "", vec![3.5, 4.4, 4.0, f64::NAN]),
        )
    }

    #[test]
    fn calls_by_hand() {
        let scalars = scalars(&[calls()]);
        let value = |name: &str| scalars[&format!("workload_3_{name}")].value;
        // The worse directions are both up.
        assert_eq!((value("mos"), value("mos_up"), value("mos_down")), (3.75, 3.75, 4.4));
        assert_eq!(value("mouth_to_ear_up_ns"), 150e6);
        assert_eq!(value("mouth_to_ear_down_ns"), 80e6);
        // 3 of 100 and 1 of 50 packets.
        assert_eq!((value("voice_missing_up"), value("voice_missing_down")), (2.5, 0.0));
        assert_eq!(Better::of("workload_3_mos"), Some(Better::More));
        assert_eq!(Better::of("workload_3_mos_down"), Some(Better::More));
        assert_eq!(Better::of("workload_3_voice_missing_up"), Some(Better::Less));
        assert_eq!(Better::of("workload_3_mouth_to_ear_up_ns"), Some(Better::Less));
    }
}
