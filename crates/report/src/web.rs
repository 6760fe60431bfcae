//! Web pages: how long they take to load.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::pages;

use crate::scalars::{Scalar, put};
use crate::shapes::Sketch;
use crate::statistics::{mean, quantile};
use crate::summary::Summary;
use crate::throughput::{Shown, numbers};

const QUANTILES: [(&str, f64, &str); 3] =
    [("p50", 0.5, "median"), ("p95", 0.95, "95th percentile"), ("p99", 0.99, "99th percentile")];

/// Page load times of a run by workload, in nanoseconds: of navigations in the measured interval, NaN of a page that
/// was not complete when the run ended.
pub(crate) fn loads(tables: &[Table]) -> BTreeMap<u64, Vec<f64>> {
    let mut loads: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let Some(pages) = pages::View::of(tables) else { return loads };
    for row in (0..pages.rows()).filter(|&row| pages.measured[row] > 0) {
        loads.entry(pages.workload[row]).or_default().push(pages.load_ns[row]);
    }
    loads
}

/// The same as distributions.
pub(crate) fn sketches(tables: &[Table]) -> BTreeMap<u64, Sketch> {
    let sketch = |(workload, times): (u64, Vec<f64>)| (workload, Sketch::of(times.into_iter()));
    loads(tables).into_iter().map(sketch).collect()
}

/// Where there are pages, adds `workload_<n>_<mean|p50|p95|p99>_page_load_ns`, over the pages that were complete,
/// `workload_<n>_pages` and `workload_<n>_pages_incomplete`.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    for (workload, all) in loads(tables) {
        let mut put = |name: &str, value: f64, unit: &'static str, meaning: &str| {
            let meaning = format!("{meaning} of workload {workload}");
            put(scalars, &format!("workload_{workload}_{name}"), value, unit, &meaning);
        };
        let mut times: Vec<f64> = all.iter().copied().filter(|time| !time.is_nan()).collect();
        let incomplete = all.len() - times.len();
        put("pages", all.len() as f64, "", "navigations in the measured interval");
        let meaning = "pages that were not complete when the run ended";
        put("pages_incomplete", incomplete as f64, "", meaning);
        if times.is_empty() {
            continue;
        }
        times.sort_by(f64::total_cmp);
        put("mean_page_load_ns", mean(&times), "ns", "page load time, mean, of complete pages");
        for (name, p, label) in QUANTILES {
            let meaning = format!("page load time, {label}, of complete pages");
            put(&format!("{name}_page_load_ns"), quantile(&times, p), "ns", &meaning);
        }
    }
}

/// What some variant has of page load times, in the order of workloads.
pub(crate) fn times_of(summary: &Summary) -> Vec<Shown> {
    let names =
        [("mean", "mean")].into_iter().chain(QUANTILES.map(|(name, _, label)| (name, label)));
    let of = |(name, label): (&str, &str)| {
        let shown = Shown::by_workload(summary, &format!("{name}_page_load_ns")).into_iter();
        let label = label.to_owned();
        shown.map(move |shown| Shown { label: format!("{}, {label}", shown.label), ..shown })
    };
    names.flat_map(of).collect()
}

/// The median page load time of the first workload with pages, for an answer.
pub(crate) fn headline(summary: &Summary) -> Option<Shown> {
    let number = *numbers(summary, "workload_", "_p50_page_load_ns").first()?;
    let label = format!("page load of {}, median", summary.workload_name(number));
    Some(Shown { key: format!("workload_{number}_p50_page_load_ns"), label })
}

/// What some variant has of numbers of pages that were not complete.
pub(crate) fn incomplete_of(summary: &Summary) -> Vec<Shown> {
    Shown::by_workload(summary, "pages_incomplete")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::better::Better;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    /// Of workload 2: a page of the warm-up, three complete ones, and one that is not.
    #[test]
    fn page_load_times_by_hand() {
        let table = complete(
            Table::new("pages", "")
                .u64("workload", "", vec![2; 5])
                .f64("load_ns", "", vec![900.0, 100.0, 300.0, 200.0, f64::NAN])
                .u64("measured", "", vec![0, 1, 1, 1, 1]),
        );
        let scalars = scalars(&[table]);
        let value = |name: &str| scalars[&format!("workload_2_{name}")].value;
        assert_eq!((value("pages"), value("pages_incomplete")), (4.0, 1.0));
        assert_eq!((value("mean_page_load_ns"), value("p50_page_load_ns")), (200.0, 200.0));
        // Between the second and the third, at 0.9 of the way.
        assert_eq!(value("p95_page_load_ns"), 290.0);
        assert_eq!(Better::of("workload_2_p99_page_load_ns"), Some(Better::Less));
        assert_eq!(Better::of("workload_2_pages_incomplete"), Some(Better::Less));
    }
}
