//! `floodway import hpcc`: writes the scenario and the files beside it, and says what became of every
//! key of the configuration.

use floodway_scenario::import::hpcc::{self, Imported};
use floodway_scenario::{Overrides, Scenario};

use super::{name, table, write};
use crate::failure::Failure;
use crate::options::HpccOptions;
use crate::output;
use crate::selection;

/// The name of the scenario file.
const SCENARIO: &str = "scenario.toml";

/// Imports a configuration.
pub fn import(options: &HpccOptions) -> Result<(), Failure> {
    let stem = || options.config.file_stem().unwrap_or_default().into();
    let folder = options.out.clone().unwrap_or_else(stem);
    let Imported { scenario, files, rows, warnings, inputs } =
        hpcc::import(&options.config, &name(&folder, "hpcc"))?;
    warnings.iter().for_each(|warning| output::problem(&warning.plain()));
    let path = write(&folder, (SCENARIO, &scenario), &files, &inputs, options.force)?;
    selection::warn(Scenario::load(&path, &Overrides::default())?.warnings());
    let shown = output::path(&path);
    output::print(&format!("{}{shown}: run it with `floodway run {shown}`\n", table(&rows)))
}
