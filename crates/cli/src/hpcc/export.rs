//! `floodway export`.

use floodway_scenario::fct;

use super::flows;
use crate::failure::Failure;
use crate::options::{ExportHpccOptions, ExportOptions, ExportTo};
use crate::output;
use crate::save::{is_taken, save};

/// Writes a run in the form of another simulator.
pub fn export(options: &ExportOptions) -> Result<(), Failure> {
    match &options.to {
        ExportTo::Hpcc(options) => hpcc(options),
        ExportTo::Sonic(options) => crate::import::sonic::export(options),
    }
}

fn hpcc(options: &ExportHpccOptions) -> Result<(), Failure> {
    let flows = flows(&options.run)?;
    let mut lines: Vec<_> = flows.iter().filter_map(fct::Flow::completion).collect();
    // As they complete; of those at the same time in the order of their numbers.
    lines.sort_by_key(|line| line.start_ns + line.fct_ns);
    let text = fct::text(&lines);
    let Some(path) = &options.out else { return output::print(&text) };
    if !options.force && is_taken(path) {
        return Err(Failure::Unknown(format!(
            "{} is there already; name another file with --out, or replace it with --force",
            path.display()
        )));
    }
    save(path, "the completion file", &text)?;
    output::print(&format!(
        "{}: {} of {} flows have completed\n",
        output::path(path),
        lines.len(),
        flows.len()
    ))
}
