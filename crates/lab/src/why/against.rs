//! Where the time goes that flows save or lose in one variant against another. All replications that both have are
//! repeated with the same flows followed in each.

use floodway_model::Table;
use floodway_model::tables::flows;
use floodway_report::INTERRUPTED;
use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_report::metrics::SizeClasses;
use floodway_report::why::Against;
use floodway_scenario::Scenario;
use floodway_sim::simulation::Run;

use super::{Explained, Order, Plan, spread};
use crate::stored::{self, Failure};

/// Compares the variant of `record` with this baseline. At most `sample` flows of each replication are followed. Adds
/// the tables of the variant's first replication.
pub(super) fn against(
    (results, record, scenario): (&Results, &Record, &Scenario),
    baseline: &str,
    sample: usize,
    how: &Run<'_>,
) -> Result<(Against, Vec<Table>), Failure> {
    let variant = record.variant.as_str();
    // A baseline that is not there is refused with those that are.
    stored::record(results, Some(baseline), record.replication)?;
    if baseline == variant {
        return Err(Failure::Unknown(format!(
            "`{variant}` cannot be compared with itself: choose another variant with --variant"
        )));
    }
    let classes = SizeClasses::new(results.manifest.size_classes.clone());
    let mut compared = Against::new(baseline, variant, &classes);
    let mut tables = Vec::new();
    let runs = results.manifest.runs.iter();
    for run in runs.filter(|run| run.variant == variant && run.stop != INTERRUPTED) {
        let Ok(before) = stored::record(results, Some(baseline), run.replication) else { continue };
        if before.stop == INTERRUPTED {
            continue;
        }
        let common = common(&results.table(before, "flows")?, &results.table(run, "flows")?);
        let chosen = spread(sample, &common);
        if chosen.is_empty() {
            continue;
        }
        let explain = |record: &Record| {
            let order = Order { is_whole: true, ..Order::default() };
            let mut plan = Plan::new(results, record, scenario, &order)?;
            plan.sample = chosen.clone();
            plan.run(how)
        };
        let (before, after): (Explained, Explained) = (explain(before)?, explain(run)?);
        compared.add(run.replication, &before.explanation, &after.explanation);
        if tables.is_empty() {
            tables = after.tables;
        }
    }
    if compared.is_empty() {
        return Err(Failure::Unknown(format!(
            "no measured flow has completed in both `{baseline}` and `{variant}`, so there is nothing to compare"
        )));
    }
    Ok((compared, tables))
}

/// The measured flows that have completed in both runs and are the same there: size, source and destination.
fn common(before: &Table, after: &Table) -> Vec<u32> {
    let (Some(before), Some(after)) = (flows::View::of_table(before), flows::View::of_table(after))
    else {
        return Vec::new();
    };
    let done = |of: &flows::View<'_>, row: usize| {
        of.measured.at(row) != 0 && of.fct_ns.at(row).is_finite()
    };
    let mut common = Vec::new();
    let mut there = 0;
    for row in 0..before.rows() {
        // Both are in order of the flows' numbers.
        while there < after.rows() && after.flow.at(there) < before.flow.at(row) {
            there += 1;
        }
        if there == after.rows() || after.flow.at(there) != before.flow.at(row) {
            continue;
        }
        let of = |of: &flows::View<'_>, row: usize| {
            (of.workload.at(row), of.bytes.at(row), of.src.at(row), of.dst.at(row))
        };
        if done(&before, row) && done(&after, there) && of(&before, row) == of(&after, there) {
            common.push(before.flow.at(row) as u32);
        }
    }
    common
}
