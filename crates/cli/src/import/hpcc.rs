//! `floodway import hpcc`: writes the scenario and the files beside it, and says what became of every
//! key of the configuration.

use floodway_scenario::import::hpcc::{self, Fate, Imported, Row};
use floodway_scenario::{Overrides, Scenario};

use super::{name, write};
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

/// What became of the keys, by fate.
fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for (fate, title) in [
        (Fate::Kept, "Taken over"),
        (Fate::Differs, "Differs"),
        (Fate::Nothing, "Has no counterpart, or no effect"),
    ] {
        let of_fate: Vec<&Row> = rows.iter().filter(|row| row.fate == fate).collect();
        if of_fate.is_empty() {
            continue;
        }
        text += &format!("{title}\n");
        let written = |row: &Row| format!("{} {}", row.key, row.value).trim_end().to_owned();
        // Maps and paths may be long: they have a line of their own.
        let width = of_fate.iter().map(|row| written(row).chars().count());
        let width = width.filter(|&width| width <= 36).max().unwrap_or(0);
        for row in of_fate {
            let key = written(row);
            if key.chars().count() > width {
                text += &format!("  {key}\n  {:width$}  {}\n", "", row.meaning);
            } else {
                text += &format!("  {key:width$}  {}\n", row.meaning);
            }
        }
        text.push('\n');
    }
    text
}
