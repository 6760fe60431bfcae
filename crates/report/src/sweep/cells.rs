//! A metric at every point and in every variant: its mean, how it changes from the reference point and
//! from the first variant, and which points are the best. Everything that is shown, written or said of a
//! sweep comes from here.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Sweep;
use crate::better::Better;
use crate::statistics::{CONFIDENCE, Change, Estimate, NoInterval, holm};

/// A metric of a variant at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The metric.
    pub metric: String,
    /// The point of the grid, counted from 0.
    pub point: usize,
    /// The variant.
    pub variant: String,
    /// The mean over replications.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Whether that is only a lower bound.
    pub bound: bool,
    /// The change from the reference point; none at that point, and without replications in common.
    pub vs_reference: Option<Change>,
    /// Whether its runs are those of the reference point to the bit; false at that point.
    pub same_as_reference: bool,
    /// The change from the first variant at this point; none for that variant.
    pub vs_variant: Option<Change>,
    /// Whether its runs are those of the first variant to the bit; false for that variant.
    pub same_as_variant: bool,
    /// Its place among the points with the same traffic; none of a metric of which neither less nor
    /// more is better, and if no other point has this traffic.
    pub place: Option<Place>,
}

/// The place of a point among those that send the same flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// 1 for the best mean.
    pub rank: usize,
    /// The point with the best mean.
    pub best: usize,
    /// The change from that point; none at it.
    pub vs_best: Option<Change>,
    /// The probability of a change at least as large if there were none, adjusted for all points that
    /// are compared with the best; none at the best, and where it is not known.
    pub p: Option<f64>,
    /// Whether it belongs to the best set: the best mean, and the points that cannot be distinguished from
    /// it. None if that is not known.
    pub in_best_set: Option<bool>,
}

impl Cell {
    /// Why there is no interval of the mean or of the change from the reference.
    pub fn refusal(&self) -> Option<NoInterval> {
        let change = self.vs_reference.filter(|change| !change.is_none());
        self.estimate.no_interval.or_else(|| change?.no_interval)
    }
}

/// The cells of a metric, by point and then by variant.
pub fn cells(sweep: &Sweep, metric: &str) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    let first = sweep.variants.first();
    let reference = sweep.reference.point;
    for point in 0..sweep.points.len() {
        for variant in &sweep.variants {
            let here = (point, variant.as_str());
            let home = (point != reference).then_some((reference, variant.as_str()));
            let other = first.filter(|first| *first != variant).map(|first| (point, &**first));
            let change = |from: Option<(usize, &str)>| sweep.change(from?, here, metric);
            let same = |from: Option<(usize, &str)>| {
                from.is_some_and(|from| sweep.are_same_runs(from, here))
            };
            cells.push(Cell {
                metric: metric.to_owned(),
                point,
                variant: variant.clone(),
                estimate: sweep.estimate(point, variant, metric),
                bound: sweep.basis(&[here], metric).bound,
                vs_reference: change(home),
                same_as_reference: same(home),
                vs_variant: change(other),
                same_as_variant: same(other),
                place: None,
            });
        }
    }
    if let Some(better) = Better::of(metric) {
        for variant in 0..sweep.variants.len() {
            let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for point in 0..sweep.points.len() {
                let at = point * sweep.variants.len() + variant;
                if cells[at].estimate.mean.is_some() {
                    groups.entry(sweep.traffic_of(point, variant)).or_default().push(at);
                }
            }
            // If of the best mean only a lower bound is known, another may be the best.
            let mean = |at: usize| cells[at].estimate.mean.unwrap_or(f64::NAN);
            let known = |group: &Vec<usize>| {
                let best = group.iter().min_by(|a, b| better.compare(mean(**a), mean(**b)));
                best.is_some_and(|best| !cells[*best].bound)
            };
            let groups: Vec<_> = groups.into_values().filter(known).collect();
            for group in groups.into_iter().filter(|group| group.len() > 1) {
                rank(sweep, &mut cells, group, better);
            }
        }
    }
    cells
}

/// Gives the cells of a group their places.
fn rank(sweep: &Sweep, cells: &mut [Cell], mut group: Vec<usize>, better: Better) {
    let mean = |at: usize| cells[at].estimate.mean.unwrap_or(f64::NAN);
    group.sort_by(|a, b| better.compare(mean(*a), mean(*b)));
    let (best, variant) = (cells[group[0]].point, cells[group[0]].variant.clone());
    let metric = cells[group[0]].metric.clone();
    let changes: Vec<Option<Change>> = group[1..]
        .iter()
        .map(|&at| {
            let (from, to) = ((best, variant.as_str()), (cells[at].point, variant.as_str()));
            // What is worse by its lower bound is worse.
            let basis = sweep.basis(&[from, to], &metric);
            match cells[at].bound && basis.least >= basis.needed {
                true => sweep.paired(from, to, &metric),
                false => sweep.change(from, to, &metric),
            }
        })
        .collect();
    let known: Vec<f64> = changes.iter().filter_map(|change| change.as_ref()?.p).collect();
    let mut adjusted = holm(&known).into_iter();
    let any = (!known.is_empty()).then_some(true);
    cells[group[0]].place = Some(Place { rank: 1, best, vs_best: None, p: None, in_best_set: any });
    for (rank, (&at, change)) in (2..).zip(group[1..].iter().zip(changes)) {
        let p = change.as_ref().and_then(|change| change.p).and_then(|_| adjusted.next());
        let worse = |change: &Change| {
            let (to, from) = match change.size() {
                Some(size) => (size, 0.0),
                None => (change.to, change.from),
            };
            better.compare(to, from).is_gt()
        };
        let worse = change.as_ref().is_some_and(worse);
        let in_best_set = p.map(|p| !(worse && p <= 1.0 - CONFIDENCE));
        cells[at].place = Some(Place { rank, best, vs_best: change, p, in_best_set });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::super::tests::tuned;
    use super::*;

    /// Rank, whether it is in the best set, and the adjusted probability.
    type Standing = (usize, Option<bool>, Option<f64>);

    /// By point.
    fn places(sweep: &Sweep, metric: &str) -> Vec<Option<Standing>> {
        let place = |cell: Cell| cell.place.map(|place| (place.rank, place.in_best_set, place.p));
        cells(sweep, metric).into_iter().map(place).collect()
    }

    #[test]
    fn points_are_compared_in_pairs() {
        // Replications differ by a factor of 2, points hardly: unpaired nothing could be said.
        let sweep = tuned();
        let cells = cells(&sweep, "fct_mean_ns");
        // The reference is the second point. The first has 1.1 times its value in every replication.
        let change = cells[0].vs_reference.unwrap();
        assert!((change.percent.unwrap() - 10.0).abs() < 1e-9, "{change:?}");
        assert_eq!((cells[1].vs_reference, change.is_clear()), (None, Some(true)));
        // ln 1.01, ln 1.03 and ln 1.02 have the mean 0.019771 and s = 0.009804: t(2) s / √3 = 4.3027 ·
        // 0.009804 / 1.7321 = 0.024354.
        let change = cells[2].vs_reference.unwrap();
        let (low, high) = change.interval().unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 2e-3;
        assert!(near(low, 100.0 * libm::expm1(0.019_771 - 0.024_354)), "{low}");
        assert!(near(high, 100.0 * libm::expm1(0.019_771 + 0.024_354)), "{high}");
        let own = cells[2].estimate.interval().unwrap();
        assert!(own.0 < cells[1].estimate.mean.unwrap() && own.0 > 0.0, "{own:?}");
    }

    #[test]
    fn the_best_set_is_what_cannot_be_told_apart_from_the_best() {
        let sweep = tuned();
        let places = places(&sweep, "fct_mean_ns");
        let of = |point: usize| places[point].unwrap();
        assert_eq!([0, 1, 2].map(|point| of(point).0), [3, 1, 2]);
        assert_eq!([0, 1, 2].map(|point| of(point).1), [Some(false), Some(true), Some(true)]);
        // The first is 10 % more in every replication: p is 0, twice that too. The third has
        // t = 0.019771 / 0.005660 = 3.493 and two degrees of freedom: p = 1 - t / √(t² + 2) = 0.0731,
        // the larger of the two, which is not multiplied.
        assert_eq!(of(0).2, Some(0.0));
        let p = of(2).2.unwrap();
        assert!((p - 0.0731).abs() < 2e-4, "{p}");
        assert_eq!(of(1).2, None);
    }

    #[test]
    fn more_of_some_metrics_is_better_and_of_others_neither() {
        let mut sweep = tuned();
        for name in ["throughput_bps", "marked_packets"] {
            for row in &mut sweep.runs {
                let value = row.numbers["fct_mean_ns"];
                row.numbers.insert(name.to_owned(), value);
            }
        }
        let ranks = places(&sweep, "throughput_bps");
        assert_eq!([0, 1, 2].map(|point| ranks[point].unwrap().0), [1, 3, 2]);
        assert_eq!(places(&sweep, "marked_packets"), [None; 3]);
        let cells = cells(&sweep, "marked_packets");
        assert!(cells[0].vs_reference.is_some());
    }

    #[test]
    fn points_of_other_traffic_are_not_ranked_together() {
        let mut sweep = tuned();
        sweep.traffic = vec![vec![0], vec![1], vec![2]];
        assert_eq!(places(&sweep, "fct_mean_ns"), [None; 3]);
        assert!(cells(&sweep, "fct_mean_ns")[0].vs_reference.is_some());
        sweep.traffic = vec![vec![0], vec![1], vec![0]];
        let of_two = places(&sweep, "fct_mean_ns");
        assert_eq!(of_two.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!((of_two[0].unwrap().0, of_two[2].unwrap().0), (2, 1));
    }

    #[test]
    fn one_replication_names_no_set() {
        let mut sweep = tuned();
        sweep.runs.retain(|row| row.replication == 0);
        for place in places(&sweep, "fct_mean_ns") {
            let (_, in_best_set, p) = place.unwrap();
            assert_eq!((in_best_set, p), (None, None));
        }
        let cells = cells(&sweep, "fct_mean_ns");
        assert_eq!(cells[0].refusal(), Some(NoInterval::OneReplication));
    }

    #[test]
    fn runs_with_other_seeds_are_no_pairs() {
        let mut sweep = tuned();
        let other = |row: &Row| Row { seed: 100 + row.seed, ..row.clone() };
        for row in sweep.runs.iter_mut().filter(|row| row.point == 2) {
            *row = other(row);
        }
        assert_eq!(cells(&sweep, "fct_mean_ns")[2].vs_reference, None);
    }

    #[test]
    fn the_same_runs_are_known() {
        let mut sweep = tuned();
        for row in &mut sweep.runs {
            row.fingerprint = format!("{}", row.replication);
        }
        sweep.runs.last_mut().unwrap().fingerprint = "other".to_owned();
        let same: Vec<bool> =
            cells(&sweep, "fct_mean_ns").iter().map(|cell| cell.same_as_reference).collect();
        assert_eq!(same, [true, false, false]);
    }

    #[test]
    fn no_interval_has_values_that_cannot_be() {
        // Values of which Student's interval would go below zero, and below a slowdown of one.
        let mut sweep = tuned();
        let unit =
            |unit: &str| super::super::Meaning { unit: unit.to_owned(), ..Default::default() };
        sweep.metrics.insert("slowdown_p99".to_owned(), unit("x"));
        sweep.metrics.insert("lost".to_owned(), unit("share"));
        for row in &mut sweep.runs {
            let wild = [1.01, 9.0, 1.3][row.replication as usize];
            row.numbers.insert("slowdown_p99".to_owned(), wild + row.point as f64);
            row.numbers.insert("fct_p99_ns".to_owned(), wild * wild * wild);
            row.numbers.insert("lost".to_owned(), 0.9 / wild);
        }
        for (metric, floor, ceiling) in [
            ("slowdown_p99", 1.0, f64::INFINITY),
            ("fct_p99_ns", 0.0, f64::INFINITY),
            ("lost", 0.0, 1.0),
        ] {
            for cell in cells(&sweep, metric) {
                let (low, high) = cell.estimate.interval().unwrap();
                assert!(low > floor && high < ceiling && low < high, "{metric} {low} {high}");
                if let Some((low, _)) = cell.vs_reference.and_then(|change| change.interval()) {
                    assert!(low > -100.0);
                }
            }
        }
    }
}
