//! The configurations of switches with SONiC, tables of CONFIG_DB as JSON, as a scenario that means what the
//! switches do.
//!
//! All switches of a scenario have the same settings, but for the sizes of their pools and for what differs by
//! the rate of a port. Where configurations differ otherwise, most ports decide, and the account says so.
//! Nothing is dropped silently: every field of every table is in a [`Row`].

mod absent;
mod account;
mod beside;
mod config;
mod fates;
mod files;
mod json;
mod lint;
mod maps;
mod neighbors;
mod network;
pub mod patch;
mod plan;
mod scenario;
mod shares;
mod switch;

use std::path::PathBuf;

use floodway_model::Rate;
use floodway_sim::switch::cell::Cell;

pub use super::account::{Fate, Row};
use crate::device::DeviceProfile;
use crate::lint::{Finding, pause_cycle};
use crate::scenario::{Overrides, Scenario};
use crate::text::{Error, Problem};
use files::Read;
pub use files::is_configuration;
use network::Network;
use plan::Plan;
use scenario::Parts;

/// The name of the scenario's file, in errors about it too.
pub const SCENARIO: &str = "scenario.toml";

/// A scenario, and what it was made of.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario file.
    pub scenario: String,
    /// What became of every field.
    pub rows: Vec<Row>,
    /// How many fields the configurations have.
    pub fields: usize,
    /// How many of them the rows account for.
    pub accounted: usize,
    /// What is doubtful.
    pub warnings: Vec<Problem>,
    /// What is missing among the files.
    pub notes: Vec<String>,
    /// What lint finds in the configurations of all switches.
    pub findings: Vec<Finding>,
    /// The files that were read: nothing may be written over one of them.
    pub inputs: Vec<PathBuf>,
}

/// What a configuration does not say.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The speed of ports without one in `PORT`.
    pub rate: Rate,
    /// The model of the switches: cells and latency are not in CONFIG_DB.
    pub profile: Option<&'static DeviceProfile>,
}

impl Default for Options {
    fn default() -> Self {
        Self { rate: Rate::from_gbps(100), profile: None }
    }
}

/// Reads directories and files: each directory is a switch, or has directories that are one each; files that
/// have no table in common are one switch, and otherwise each file is one. Minigraphs and LLDP tables may be beside
/// them. `name` is that of the scenario.
pub fn import(paths: &[PathBuf], name: &str, options: Options) -> Result<Imported, Error> {
    let mut values = options.profile.iter().flat_map(|profile| &profile.values);
    let cell = values.rfind(|value| value.path == "switch.cell");
    let cell = cell.and_then(|value| serde_json::from_value(value.value.clone()).ok());
    import_with(paths, name, options, cell.unwrap_or_default())
}

/// The same, for switches with such cells.
fn import_with(
    paths: &[PathBuf],
    name: &str,
    options: Options,
    cell: Cell,
) -> Result<Imported, Error> {
    let mut inputs = Vec::new();
    let Read { switches, units, mut warnings, overruled, kinds } =
        files::read_all(paths, options, &mut inputs)?;
    let plan = Plan::of(&switches, cell)?;
    let network = Network::of(&switches, &overruled)?;
    let mut parts = Parts {
        name,
        switches: &switches,
        plan: &plan,
        network: &network,
        lossless: true,
        profile: options.profile,
    };
    let check =
        |text: &str| Scenario::of_library(&[(SCENARIO, text)], SCENARIO, &Overrides::default());
    let mut text = scenario::text(&parts);
    let mut checked = check(&text);
    if let Err(error) = &checked {
        let error = error.clone();
        // Headroom below the worst case is common, and no reason not to read the configuration.
        parts.lossless = false;
        text = scenario::text(&parts);
        checked = Ok(check(&text).map_err(|_| error.clone())?);
        warnings.extend(error.problems().iter().map(|problem| {
            Problem::warning(
                problem.place.clone(),
                format!("the switches may lose lossless traffic: {}", problem.message),
                format!("the scenario has `lossless = false`, so losses are counted and are no error; {}", problem.help),
            )
        }));
    }
    let mut findings = lint::find(&switches, &plan)?;
    let place = switches[0].config.problem("", "").place;
    findings.extend(pause_cycle(&checked?.variants()[0], place));
    let (rows, accounted) = fates::rows(&switches, &plan, &network, &units, options);
    let fields = switches.iter().flat_map(|switch| &switch.config.entries);
    let fields: usize = fields.map(|entry| entry.fields.len().max(1)).sum();
    let fields = fields + units.len();
    let notes = absent::note(&switches, &kinds).into_iter().collect();
    Ok(Imported { scenario: text, rows, fields, accounted, warnings, notes, findings, inputs })
}
