//! The page that explains the results: one file that opens offline.

use crate::{Experiment, Manifest, Summary};

/// The page.
pub fn page(manifest: &Manifest, summary: &Summary, experiment: &Experiment) -> String {
    let _ = experiment;
    format!(
        "<!doctype html><meta charset=utf-8><title>{0}</title><h1>{0}</h1><pre>{1}</pre>",
        manifest.scenario.name,
        crate::terminal::table(summary, crate::terminal::Style::default())
    )
}
