//! `floodway import sonic`: writes the scenario, and says what became of every field of the configurations.

use floodway_scenario::import::sonic::{self, Imported, Options, SCENARIO};
use floodway_scenario::{Overrides, Scenario};

use super::{name, table, write};
use crate::failure::Failure;
use crate::options::SonicOptions;
use crate::{output, selection};

/// Imports configurations.
pub fn import(options: &SonicOptions) -> Result<(), Failure> {
    let stem = || options.paths.first().and_then(|path| path.file_stem()).unwrap_or_default().into();
    let folder = options.out.clone().unwrap_or_else(stem);
    let settings = Options { rate: options.rate };
    let imported = sonic::import(&options.paths, &name(&folder, "fabric"), settings)?;
    let Imported { scenario, rows, warnings, inputs, .. } = &imported;
    warnings.iter().for_each(|warning| output::problem(&warning.plain()));
    let path = write(&folder, (SCENARIO, scenario), &[], inputs, options.force)?;
    selection::warn(Scenario::load(&path, &Overrides::default())?.warnings());
    let shown = output::path(&path);
    output::print(&format!(
        "{}{} fields were read\n{shown}: run it with `floodway run {shown}`\n",
        table(rows),
        imported.fields
    ))
}
