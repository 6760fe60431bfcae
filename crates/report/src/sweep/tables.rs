//! A sweep as tables.

use floodway_model::Table;

use super::{Cell, Row, Sweep};
use crate::statistics::{Change, Domain, NoInterval};

/// A row for every run.
pub fn runs(sweep: &Sweep) -> Table {
    let rows = &sweep.runs;
    let text = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).to_owned()).collect();
    let table = Table::new(
        "runs",
        "One row per run, by point of the grid, variant and replication, with its numbers.",
    )
    .u64(
        "point",
        "The point of the grid, counted from 0.",
        rows.iter().map(|row| row.point as u64).collect(),
    );
    let mut table = with_axes(table, sweep, &rows.iter().map(|row| row.point).collect::<Vec<_>>())
        .text("variant", "The variant.", text(|row| &row.variant))
        .u64("replication", "The replication, counted from 0; its seed is the same at all points and in all variants.", rows.iter().map(|row| row.replication.into()).collect())
        .u64("seed", "Its seed.", rows.iter().map(|row| row.seed).collect())
        .text("stop", "Why it ended.", text(|row| &row.stop))
        .text("fingerprint", "The fingerprint of its tables.", text(|row| &row.fingerprint))
        .text("key", "What simulation it is: a hash of all parameters and of the program that ran it.", text(|row| &row.key));
    for (name, meaning) in &sweep.metrics {
        let value = |row: &Row| row.numbers.get(name).copied().unwrap_or(f64::NAN);
        let doc = doc(&meaning.meaning);
        table = table.f64(name.clone(), doc, rows.iter().map(value).collect());
    }
    table
}

/// A row for every point and variant.
pub fn points(sweep: &Sweep) -> Table {
    let cells: Vec<(usize, &str)> = (0..sweep.points.len())
        .flat_map(|point| sweep.variants.iter().map(move |variant| (point, variant.as_str())))
        .collect();
    let table = Table::new(
        "points",
        "One row per point of the grid and variant: means over replications with their 95 % confidence intervals, and changes from the first variant, paired by replication.",
    )
    .u64("point", "The point of the grid, counted from 0.", cells.iter().map(|cell| cell.0 as u64).collect());
    let mut table = with_axes(table, sweep, &cells.iter().map(|cell| cell.0).collect::<Vec<_>>())
        .text("variant", "The variant.", cells.iter().map(|cell| cell.1.to_owned()).collect())
        .u64(
            "replications",
            "Runs that count.",
            cells
                .iter()
                .map(|(point, variant)| sweep.runs_of(*point, variant).count() as u64)
                .collect(),
        );
    for (name, meaning) in &sweep.metrics {
        let estimates: Vec<_> =
            cells.iter().map(|(point, variant)| sweep.estimate(*point, variant, name)).collect();
        let column = |of: &dyn Fn(usize) -> Option<f64>| -> Vec<f64> {
            (0..cells.len()).map(|row| of(row).unwrap_or(f64::NAN)).collect()
        };
        let changes: Vec<_> =
            cells.iter().map(|(point, variant)| change(sweep, *point, variant, name)).collect();
        let what = &meaning.meaning;
        let unit = if meaning.scale().domain == Domain::Score { "points" } else { "percent" };
        table = table
            .f64(name.clone(), doc(&format!("{}: mean over replications", what.trim_end_matches('.'))), column(&|row| estimates[row].mean))
            .f64(
                format!("{name}_low"),
                "Lower end of the 95 % interval of that mean; NaN without one.",
                column(&|row| estimates[row].low),
            )
            .f64(
                format!("{name}_high"),
                "Upper end of the 95 % interval of that mean; NaN without one.",
                column(&|row| estimates[row].high),
            )
            .f64(
                format!("{name}_change_{unit}"),
                doc(&format!("Change from the first variant at this point in {unit}, paired by replication; NaN for the first, and where that is 0.")),
                column(&|row| changes[row].as_ref()?.size()),
            )
            .f64(
                format!("{name}_change_{unit}_low"),
                "Lower end of the 95 % interval of that change, in the same; NaN without one.",
                column(&|row| changes[row].as_ref()?.ends()[0]),
            )
            .f64(
                format!("{name}_change_{unit}_high"),
                "Upper end of the 95 % interval of that change, in the same; NaN without one.",
                column(&|row| changes[row].as_ref()?.ends()[1]),
            );
    }
    table
}

/// A row for every point, variant and metric.
pub fn points_long(sweep: &Sweep) -> Table {
    let cells: Vec<Cell> = sweep.metrics.keys().flat_map(|metric| sweep.cells(metric)).collect();
    let texts = |of: &dyn Fn(&Cell) -> String| -> Vec<String> { cells.iter().map(of).collect() };
    let flags = |of: &dyn Fn(&Cell) -> bool| -> Vec<u64> {
        cells.iter().map(|cell| u64::from(of(cell))).collect()
    };
    let column = |of: &dyn Fn(&Cell) -> Option<f64>| -> Vec<f64> {
        cells.iter().map(|cell| of(cell).unwrap_or(f64::NAN)).collect()
    };
    let reason = |why: Option<NoInterval>| why.map_or_else(String::new, |why| why.to_string());
    let unit = |cell: &Cell| sweep.metrics.get(&cell.metric).map_or("", |of| &of.unit).to_owned();
    let table = Table::new(
        "points_long",
        "One row per metric, point of the grid and variant: the mean over replications with its 95 % confidence interval, and its changes from the reference point, from the first variant and from the best point, paired by replication. The same as points, in another form.",
    )
    .u64("point", "The point of the grid, counted from 0.", cells.iter().map(|cell| cell.point as u64).collect());
    let table = with_axes(table, sweep, &cells.iter().map(|cell| cell.point).collect::<Vec<_>>())
        .text("variant", "The variant.", texts(&|cell| cell.variant.clone()))
        .text("metric", "The metric.", texts(&|cell| cell.metric.clone()))
        .text("unit", "Its unit; empty of a count, x of a factor.", texts(&unit))
        .u64("n", "Replications that have it.", cells.iter().map(|cell| cell.estimate.n).collect())
        .f64("mean", "The mean over them.", column(&|cell| cell.estimate.mean))
        .f64(
            "low",
            "Lower end of its 95 % interval; NaN without one.",
            column(&|cell| cell.estimate.low),
        )
        .f64(
            "high",
            "Upper end of its 95 % interval; NaN without one.",
            column(&|cell| cell.estimate.high),
        )
        .u64(
            "bound",
            "1 if the mean is only a lower bound, because flows had not completed.",
            flags(&|cell| cell.bound),
        )
        .text(
            "no_interval",
            "Why there is no interval; empty if there is one.",
            texts(&|cell| reason(cell.estimate.no_interval)),
        )
        .u64(
            "reference",
            "1 at the reference point.",
            flags(&|cell| cell.point == sweep.reference.point),
        );
    let change = |table: Table, whose: &str, from: &str, of: &dyn Fn(&Cell) -> Option<Change>| {
        table
            .f64(
                format!("{whose}_change_percent"),
                format!("Change from {from} in percent; NaN for that itself, where it is 0, and of scores."),
                column(&|cell| of(cell)?.percent),
            )
            .f64(
                format!("{whose}_change_percent_low"),
                "Lower end of its 95 % interval; NaN without one.",
                column(&|cell| of(cell)?.low),
            )
            .f64(
                format!("{whose}_change_percent_high"),
                "Upper end of its 95 % interval; NaN without one.",
                column(&|cell| of(cell)?.high),
            )
            .f64(
                format!("{whose}_change_points"),
                format!("Change of a score from {from} in points; NaN for that itself, and of all other metrics."),
                column(&|cell| Some(of(cell)?.points?.value)),
            )
            .f64(
                format!("{whose}_change_points_low"),
                "Lower end of its 95 % interval; NaN without one.",
                column(&|cell| of(cell)?.points?.low),
            )
            .f64(
                format!("{whose}_change_points_high"),
                "Upper end of its 95 % interval; NaN without one.",
                column(&|cell| of(cell)?.points?.high),
            )
    };
    let p = "The probability of a change at least as large if there were none, for this comparison alone; NaN of one replication.";
    let table = change(table, "reference", "the reference point", &|cell| cell.vs_reference)
        .f64("reference_change_p", p, column(&|cell| cell.vs_reference?.p))
        .u64(
            "reference_same_runs",
            "1 if its runs are those of the reference point to the bit.",
            flags(&|cell| cell.same_as_reference),
        );
    let table =
        change(table, "variant", "the first variant at this point", &|cell| cell.vs_variant)
            .f64("variant_change_p", p, column(&|cell| cell.vs_variant?.p))
            .u64(
                "variant_same_runs",
                "1 if its runs are those of the first variant to the bit.",
                flags(&|cell| cell.same_as_variant),
            );
    let table = table.f64(
        "rank",
        "1 for the best mean among the points with the same traffic; NaN if neither less nor more is better, or no other point has this traffic.",
        column(&|cell| Some(cell.place.as_ref()?.rank as f64)),
    );
    let best = |cell: &Cell| cell.place.as_ref()?.vs_best;
    change(table, "best", "the point of rank 1", &best)
        .f64("best_change_p", "The probability of a change from the point of rank 1 at least as large if there were none, adjusted by Holm's method for all points that are compared with it; NaN of one replication.", column(&|cell| cell.place.as_ref()?.p))
        .text("best_set", "yes: the point of rank 1, and those that cannot be distinguished from it (adjusted p above 0.05); no: the others; empty where that is not known.", texts(&|cell| {
            let known = cell.place.as_ref().and_then(|place| place.in_best_set);
            known.map_or("", |yes| if yes { "yes" } else { "no" }).to_owned()
        }))
}

/// The change of a metric from the first variant, paired by replication; none for the first.
fn change(sweep: &Sweep, point: usize, variant: &str, metric: &str) -> Option<Change> {
    let baseline = sweep.variants.first().filter(|first| *first != variant)?;
    sweep.change((point, baseline), (point, variant), metric)
}

/// The values of all axes at these points, as text, and as numbers where they are.
fn with_axes(mut table: Table, sweep: &Sweep, points: &[usize]) -> Table {
    for (number, axis) in sweep.axes.iter().enumerate() {
        let at = |point: &usize| sweep.points[*point][number];
        let name = axis.path.clone();
        match &axis.numbers {
            Some(numbers) => {
                let unit = match axis.unit.as_str() {
                    "" => String::new(),
                    unit => format!(" in {unit}"),
                };
                let values = points.iter().map(|point| numbers[at(point)]).collect();
                table = table.f64(name, format!("What is varied{unit}."), values);
            }
            None => {
                let values = points.iter().map(|point| axis.values[at(point)].clone()).collect();
                table = table.text(name, "What is varied.", values);
            }
        }
    }
    table
}

/// A sentence.
fn doc(meaning: &str) -> String {
    let mut letters = meaning.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sweep, tuned};
    use super::*;

    #[test]
    fn rows_have_their_axes_and_numbers() {
        let [runs, points, _] = sweep().tables();
        assert_eq!((runs.rows(), points.rows()), (8, 4));
        assert_eq!(runs.f64s("load"), [0.2, 0.2, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4]);
        assert_eq!(points.f64s("fct_mean_ns"), [101.0, 50.5, 210.0, 130.0]);
        assert_eq!(points.u64s("replications"), [2, 2, 2, 2]);
        let changes = points.f64s("fct_mean_ns_change_percent");
        assert!(changes[0].is_nan() && (changes[1] + 50.0).abs() < 1e-9);
        // The geometric mean of 150/200 and 110/220.
        assert!((changes[3] - 100.0 * ((0.75f64 * 0.5).sqrt() - 1.0)).abs() < 1e-9);
        // Their logarithms are ± 12.706 · ln(0.75 / 0.5) / 2 from its own.
        let factor = (12.706_204_7 * 1.5f64.ln() / 2.0).exp();
        let middle = (0.75f64 * 0.5).sqrt();
        for (column, end) in [("low", middle / factor), ("high", middle * factor)] {
            let ends = points.f64s(&format!("fct_mean_ns_change_percent_{column}"));
            assert!(ends[0].is_nan() && (ends[3] - 100.0 * (end - 1.0)).abs() < 1e-4, "{ends:?}");
        }
        // Nothing is dropped, so there is no ratio and no interval in percent.
        assert!(points.f64s("dropped_packets_change_percent_low")[3].is_nan());
        assert_eq!(doc("mean of it"), "Mean of it.");
    }
    #[test]
    fn the_long_table_has_what_the_wide_one_has() {
        let sweep = sweep();
        let [_, points, long] = sweep.tables();
        // Two metrics, two points, two variants; metrics in alphabetical order.
        assert_eq!(long.rows(), 8);
        assert_eq!(long.texts("metric")[4..], ["fct_mean_ns"; 4]);
        assert_eq!(long.texts("unit")[4..], ["ns"; 4]);
        assert_eq!(long.f64s("load"), [0.2, 0.2, 0.4, 0.4, 0.2, 0.2, 0.4, 0.4]);
        assert_eq!(long.f64s("mean")[4..], *points.f64s("fct_mean_ns"));
        assert_eq!(long.u64s("n"), [2; 8]);
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        for (short, wide) in [
            ("low", "fct_mean_ns_low"),
            ("high", "fct_mean_ns_high"),
            ("variant_change_percent", "fct_mean_ns_change_percent"),
            ("variant_change_percent_low", "fct_mean_ns_change_percent_low"),
            ("variant_change_percent_high", "fct_mean_ns_change_percent_high"),
        ] {
            assert!(same(&long.f64s(short)[4..], points.f64s(wide)), "{short}");
        }
        // Nothing is ever dropped.
        assert_eq!(long.texts("no_interval")[..4], ["the same in all replications"; 4]);
        // Points of other traffic have no ranks.
        assert!(long.f64s("rank").iter().all(|rank| rank.is_nan()));
        assert_eq!(long.texts("best_set"), [""; 8]);
    }

    #[test]
    fn the_long_table_has_ranks_and_the_best_set() {
        let [.., long] = tuned().tables();
        let of = |name: &str| long.f64s(name)[3..].to_vec();
        assert_eq!(long.texts("metric")[3..], ["fct_mean_ns"; 3]);
        assert_eq!(long.u64s("reference")[3..], [0, 1, 0]);
        assert_eq!(of("rank"), [3.0, 1.0, 2.0]);
        assert_eq!(long.texts("best_set")[3..], ["no", "yes", "yes"]);
        let change = of("reference_change_percent");
        assert!((change[0] - 10.0).abs() < 1e-9 && change[1].is_nan(), "{change:?}");
        // The reference is the best, so both changes are the same.
        assert_eq!(change[2], of("best_change_percent")[2]);
        assert_eq!(of("best_change_p")[0], 0.0);
        assert!(of("variant_change_percent").iter().all(|change| change.is_nan()));
        for column in &long.columns {
            assert!(column.doc.ends_with('.') && column.doc.len() > 10, "{}", column.name);
        }
    }
}
