//! A sweep as tables.

use floodway_model::Table;

use super::{Row, Sweep};
use crate::statistics::Change;

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
        table = table
            .f64(name.clone(), doc(&format!("{}: mean over replications", what.trim_end_matches('.'))), column(&|row| estimates[row].mean))
            .f64(
                format!("{name}_low"),
                "Lower end of the 95 % interval of that mean; empty of one replication.",
                column(&|row| estimates[row].low),
            )
            .f64(
                format!("{name}_high"),
                "Upper end of the 95 % interval of that mean; empty of one replication.",
                column(&|row| estimates[row].high),
            )
            .f64(
                format!("{name}_change_percent"),
                "Change from the first variant at this point in percent, paired by replication; empty for the first, and where that is 0.",
                column(&|row| changes[row].as_ref()?.percent),
            )
            .f64(
                format!("{name}_change_percent_low"),
                "Lower end of the 95 % interval of that change in percent; empty of one replication, and where a value is 0.",
                column(&|row| Some(changes[row].as_ref()?.low?)),
            )
            .f64(
                format!("{name}_change_percent_high"),
                "Upper end of the 95 % interval of that change in percent; empty of one replication, and where a value is 0.",
                column(&|row| Some(changes[row].as_ref()?.high?)),
            );
    }
    table
}

/// The change of a metric from the first variant, paired by replication; none for the first.
pub fn change(sweep: &Sweep, point: usize, variant: &str, metric: &str) -> Option<Change> {
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
    use super::super::tests::sweep;
    use super::*;

    #[test]
    fn rows_have_their_axes_and_numbers() {
        let [runs, points] = sweep().tables();
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
}
