//! `floodway profile`: device profiles, their values with evidence and source, and copies to edit.

use std::path::PathBuf;

use clap::Args;
use floodway_scenario::device::{self, Device, DeviceProfile, Evidence, basis};

use crate::failure::Failure;
use crate::output;
use crate::save::{is_taken, save};

/// Options of `floodway profile`.
#[derive(Args, Debug)]
pub struct ProfileOptions {
    /// A profile, or a file with one. Default all that are part of the program.
    pub name: Option<String>,
    /// Write the profile to a file, as a profile of your own.
    #[arg(long, value_name = "FILE", requires = "name")]
    pub save: Option<PathBuf>,
    /// Replace the file if it is there already.
    #[arg(long, requires = "save")]
    pub force: bool,
    /// Print JSON and nothing else on standard output.
    #[arg(long, conflicts_with = "save")]
    pub json: bool,
}

/// Lists profiles, or shows or saves one.
pub fn profile(options: &ProfileOptions) -> Result<(), Failure> {
    let Some(name) = &options.name else {
        return match options.json {
            true => output::print_json(&device::shipped()),
            false => output::print(&list()),
        };
    };
    let profile = DeviceProfile::load(name)?;
    if options.json {
        return output::print_json(&profile);
    }
    let Some(path) = &options.save else { return output::print(&table(&profile)) };
    if path.extension().is_none_or(|ending| ending != "toml") {
        return Err(Failure::Unknown(format!(
            "a scenario finds a profile of your own by a name that ends in .toml; write --save {}.toml",
            output::path(path)
        )));
    }
    if !options.force && is_taken(path) {
        return Err(Failure::Unknown(format!(
            "{} is there already; name another file, or replace it with --force",
            path.display()
        )));
    }
    save(path, "the profile", profile.text())?;
    let shown = output::path(path);
    output::print(&format!("{shown}: name it in a scenario, as in profile = [\"{shown}\"]\n"))
}

/// All profiles, with the number of their values and of those that are assumed.
fn list() -> String {
    let mut text = String::new();
    let width = device::shipped().iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    for (device, noun) in [(Device::Switch, "switches"), (Device::Nic, "NICs")] {
        let gap = if text.is_empty() { "" } else { "\n" };
        text += &format!("{gap}{noun}\n");
        for profile in device::shipped().iter().filter(|profile| profile.device == device) {
            let assumed =
                profile.values.iter().filter(|value| value.evidence == Evidence::Assumed).count();
            text += &format!(
                "  {:width$}  {}; {assumed} of {} values assumed\n",
                profile.name,
                profile.summary,
                profile.values.len()
            );
        }
    }
    text
}

/// The values of a profile.
fn table(profile: &DeviceProfile) -> String {
    let mut text = format!("{}: {}\n", profile.model, profile.summary);
    let rates: Vec<String> = profile.rates.iter().map(ToString::to_string).collect();
    text += &format!("rates of ports: {}\n", rates.join(", "));
    let facts =
        profile.facts.iter().map(|of| (&of.name, of.value.clone(), of.evidence, &of.source));
    let values = profile
        .values
        .iter()
        .map(|of| (&of.path, basis::shown(&of.value), of.evidence, &of.source));
    for (title, rows) in [("known", facts.collect::<Vec<_>>()), ("settings", values.collect())] {
        if rows.is_empty() {
            continue;
        }
        text += &format!("\n{title}\n");
        for (name, value, evidence, source) in rows {
            text += &format!("  {name} = {value}\n      {evidence}: {source}\n");
        }
    }
    text
}
