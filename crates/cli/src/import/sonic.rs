//! `floodway import sonic`: writes the scenario, and says what became of every field of the configurations.
//! `floodway export sonic`: the way back, as patches of the configurations.

use floodway_model::check::count_of;
use floodway_scenario::device;
use floodway_scenario::import::sonic::patch::{Operation, Patches, patches};
use floodway_scenario::import::sonic::{self, Imported, Options, SCENARIO};
use floodway_scenario::{Overrides, Scenario};

use super::{fits, name, table, write};
use crate::failure::Failure;
use crate::options::{ExportSonicOptions, SonicOptions};
use crate::save::{is_taken, make_folder, save};
use crate::{output, selection};

/// Imports configurations.
pub fn import(options: &SonicOptions) -> Result<(), Failure> {
    let stem =
        || options.paths.first().and_then(|path| path.file_stem()).unwrap_or_default().into();
    let folder = options.out.clone().unwrap_or_else(stem);
    let profile = options.profile.as_deref().map(device::switch).transpose();
    let profile = profile.map_err(Failure::Unknown)?;
    let settings = Options { rate: options.rate, profile };
    let imported = sonic::import(&options.paths, &name(&folder, "fabric"), settings)?;
    let Imported { scenario, rows, warnings, inputs, .. } = &imported;
    warnings.iter().for_each(|warning| output::problem(&warning.plain()));
    imported.notes.iter().for_each(|note| output::note(note));
    let path = write(&folder, (SCENARIO, scenario), &[], inputs, options.force)?;
    selection::warn(Scenario::load(&path, &Overrides::default())?.warnings());
    let shown = output::path(&path);
    if !imported.findings.is_empty() {
        let found = crate::check::found(&imported.findings);
        output::note(&format!(
            "lint has {found} in the configurations: `floodway check` with their directory shows them"
        ));
    }
    output::print(&format!(
        "{}{} fields were read\n{shown}: run it with `floodway run {shown}`\n",
        table(rows),
        imported.fields
    ))
}

/// Shows and writes what a scenario changes.
pub fn export(options: &ExportSonicOptions) -> Result<(), Failure> {
    let scenario = Scenario::load(&options.scenario, &Overrides::default())?;
    let variant = match &options.variant {
        Some(name) => scenario.variant(name)?,
        None => &scenario.variants()[0],
    };
    let settings = Options { rate: options.rate, ..Options::default() };
    let found = patches(&variant.settings, &options.paths, settings)?;
    let mut text = String::new();
    let mut files = Vec::new();
    for (switch, operations) in &found.switches {
        text += &format!("{switch}: {}\n", count_of(operations.len() as u64, "change"));
        operations.iter().for_each(|operation| text += &line(operation));
        if let Some(folder) = options.out.as_ref().filter(|_| !operations.is_empty()) {
            let json = serde_json::to_string_pretty(operations).expect("it has only texts");
            let file: String = switch.chars().map(|c| if fits(c) { c } else { '-' }).collect();
            let path = folder.join(format!("{file}.patch.json"));
            if files.iter().any(|(other, _)| *other == path) {
                return Err(Failure::Unknown(format!(
                    "two switches would have the same file, {}; give one of them another `hostname`",
                    path.display()
                )));
            }
            if !options.force && is_taken(&path) {
                return Err(Failure::Unknown(format!(
                    "{} is there already; name another directory with --out, or replace it with --force",
                    path.display()
                )));
            }
            files.push((path, json + "\n"));
        }
    }
    text += &unsaid(&found);
    if let Some(folder) = options.out.as_ref().filter(|_| !files.is_empty()) {
        make_folder(folder)?;
        for (path, json) in &files {
            save(path, "the patch", json)?;
            let shown = output::path(path);
            text += &format!("{shown}: apply it with `config apply-patch`\n");
        }
    }
    output::print(&text)
}

fn line(operation: &Operation) -> String {
    let Operation { op, path, value, before } = operation;
    let new = match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    match before {
        Some(before) if !new.is_empty() => format!("  {op:7}  {path}  {before} -> {new}\n"),
        _ => format!("  {op:7}  {path}  {new}\n"),
    }
}

/// What is changed and cannot be written.
fn unsaid(found: &Patches) -> String {
    match found.unsaid.is_empty() {
        true => String::new(),
        false => format!(
            "Changed in the scenario, and not in the patch\n{}",
            found.unsaid.iter().map(|path| format!("  {path}\n")).collect::<String>()
        ),
    }
}
