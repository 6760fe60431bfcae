//! `floodway compare`: a run with that of another simulator, and results with other results.

use floodway_lab::stored;
use floodway_report::together::{self, Together};
use floodway_report::{html, terminal};

use crate::chart::OverlayFile;
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
    let labels = together::labels(&all.iter().collect::<Vec<_>>()).map_err(|path| {
        let shown = output::path(path);
        Failure::Unknown(format!("{shown} is there twice: name different results directories"))
    })?;
    let named: Vec<_> = labels.into_iter().zip(&all).collect();
    let together = Together::of(&named).map_err(Failure::Results)?;
    if let Some(path) = &options.page {
        let points =
            options.overlay.iter().map(OverlayFile::read).collect::<Result<Vec<_>, _>>()?;
        let Together { manifest, summary, experiment } = &together;
        let page = html::page_with(manifest, summary, experiment, &points);
        let page = page.map_err(Failure::Unknown)?;
        save(path, "the report", &page)?;
        output::note(&format!("{} is written", output::path(path)));
    }
    if options.json {
        return output::print_json(&together.summary.json());
    }
    output::print(&terminal::table(&together.summary, output::style()))
}
