//! `floodway export`.

use std::path::{Path, PathBuf};

use floodway_lab::stored;
use floodway_report::flent;
use floodway_scenario::fct;

use super::flows;
use crate::failure::Failure;
use crate::options::{ExportFlentOptions, ExportHpccOptions, ExportOptions, ExportTo};
use crate::output;
use crate::save::{is_taken, save, save_bytes};

/// Writes a run in the form of another simulator.
pub fn export(options: &ExportOptions) -> Result<(), Failure> {
    match &options.to {
        ExportTo::Hpcc(options) => hpcc(options),
        ExportTo::Sonic(options) => crate::import::sonic::export(options),
        ExportTo::Flent(options) => flent(options),
    }
}

/// Refuses to write over a file, unless that is asked for.
fn refuse_taken(path: &Path, force: bool) -> Result<(), Failure> {
    if force || !is_taken(path) {
        return Ok(());
    }
    Err(Failure::Unknown(format!(
        "{} is there already; name another file with --out, or replace it with --force",
        path.display()
    )))
}

fn flent(options: &ExportFlentOptions) -> Result<(), Failure> {
    let results = stored::open(&options.results)?;
    let record = stored::record(&results, options.variant.as_deref(), options.replication)?;
    let path = options.out.clone().unwrap_or_else(|| {
        PathBuf::from(format!("{}-{}.flent.gz", results.manifest.scenario.name, record.variant))
    });
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let json = flent::of_stored(&results, record, &name).map_err(|failed| match failed {
        flent::Failed::Tables(error) => Failure::Results(error),
        flent::Failed::Unfit(unfit) => Failure::Unknown(unfit.to_string()),
    })?;
    refuse_taken(&path, options.force)?;
    save_bytes(&path, "the data file", &flent::file(&json))?;
    let shown = output::path(&path);
    output::print(&format!(
        "wrote {shown}; plot it with: flent -i {shown} -p all_scaled -o all.png\n"
    ))
}

fn hpcc(options: &ExportHpccOptions) -> Result<(), Failure> {
    let flows = flows(&options.run)?;
    let mut lines: Vec<_> = flows.iter().filter_map(fct::Flow::completion).collect();
    // As they complete; of those at the same time in the order of their numbers.
    lines.sort_by_key(|line| line.start_ns + line.fct_ns);
    let text = fct::text(&lines);
    let Some(path) = &options.out else { return output::print(&text) };
    refuse_taken(path, options.force)?;
    save(path, "the completion file", &text)?;
    output::print(&format!(
        "{}: {} of {} flows have completed\n",
        output::path(path),
        lines.len(),
        flows.len()
    ))
}
