//! `floodway compare`: a run with that of another simulator, and results with other results.

use floodway_lab::stored;
use floodway_report::together::Together;
use floodway_report::{html, terminal};

use crate::failure::Failure;
use crate::options::{CompareOptions, CompareResultsOptions, CompareWith};
use crate::save::save;
use crate::{hpcc, output};

/// Compares what the command line names.
pub fn compare(options: &CompareOptions) -> Result<(), Failure> {
    match &options.with {
        CompareWith::Hpcc(options) => hpcc::compare(options),
        CompareWith::Results(options) => results(options),
    }
}

/// Results directories side by side.
fn results(options: &CompareResultsOptions) -> Result<(), Failure> {
    let all = options.results.iter().map(|path| stored::open(path));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    // The last part of a path, unless two are the same.
    let last = |at: usize| all[at].path.file_name().map(|name| name.to_string_lossy().into_owned());
    let labels: Vec<String> = (0..all.len())
        .map(|at| match last(at) {
            Some(name)
                if (0..all.len())
                    .all(|other| other == at || last(other).as_ref() != Some(&name)) =>
            {
                name
            }
            _ => all[at].path.display().to_string(),
        })
        .collect();
    if let Some(at) = (0..labels.len()).find(|at| labels[..*at].contains(&labels[*at])) {
        return Err(Failure::Unknown(format!(
            "{} is there twice: name different results directories",
            all[at].path.display()
        )));
    }
    let named: Vec<_> = labels.into_iter().zip(&all).collect();
    let together = Together::of(&named).map_err(Failure::Results)?;
    if let Some(path) = &options.page {
        let page = html::page(&together.manifest, &together.summary, &together.experiment);
        save(path, "the report", &page)?;
        output::note(&format!("{} is written", output::path(path)));
    }
    if options.json {
        return output::print_json(&together.summary.json());
    }
    output::print(&terminal::table(&together.summary, output::style()))
}
