//! Where the time goes in each variant of a results directory, as a chart.

use std::path::Path;

use floodway_model::Table;
use floodway_model::table::EXPLAINED;
use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_report::metrics::SizeClasses;
use floodway_report::why::{Digest, Explanation, chart};

use crate::failure::Failure;
use crate::output;
use crate::save::save;

/// Draws the runs whose delays were explained.
pub fn chart(results: &Results, file: &Path) -> Result<(), Failure> {
    let manifest = &results.manifest;
    let classes = SizeClasses::new(manifest.size_classes.clone());
    let is_explained = |run: &&Record| {
        run.tables.iter().any(|table| table.name == floodway_model::tables::explained::NAME)
    };
    let mut digests: Vec<(&str, Digest)> = Vec::new();
    for run in manifest.runs.iter().filter(is_explained) {
        let names = EXPLAINED.into_iter().chain(["flows"]);
        let tables: Vec<Table> =
            names.map(|name| results.table(run, name)).collect::<Result<_, _>>()?;
        if let Some(explanation) = Explanation::of(&tables, &manifest.workloads, &classes) {
            digests.push((&run.variant, Digest::of(&explanation)));
        }
    }
    if digests.is_empty() {
        return Err(Failure::Unknown(format!(
            "no run in {} has explained delays: run the scenario again with --why",
            results.path.display()
        )));
    }
    let labels: Vec<String> = (0..classes.count()).map(|class| classes.label(class)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let digests: Vec<(&str, &Digest)> =
        digests.iter().map(|(name, digest)| (*name, digest)).collect();
    let caption = format!("What flows spend their time on: {}", manifest.scenario.name);
    save(file, "the chart", &chart::file(&caption, &digests, &labels))?;
    output::note(&format!("{} is written", output::path(file)));
    Ok(())
}
