//! Profiles below a scenario.

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::{Graph, Rate};

use super::{Device, DeviceProfile, KEY, find, is_file};
use crate::files::{Files, Unreadable};
use crate::scenario::{Overrides, Scenario};
use crate::text::{Item, Place, Problem, Value, merge, normalize};

/// The profiles that a document names, and where.
pub type Named = Vec<(DeviceProfile, Place)>;

/// Takes the names of profiles out of a document, and reads the profiles.
pub fn named(document: &mut Item, files: &Files) -> Result<Named, Vec<Problem>> {
    let Some(entry) = document.take(KEY) else { return Ok(Named::new()) };
    let Value::List(names) = &entry.item.value else {
        let message = format!("`{KEY}` is {}, not a list of profiles", entry.item.noun());
        let help = format!("write it as {KEY} = [\"arista-7260cx3\", \"connectx-6-dx\"]");
        return Err(vec![Problem::error(entry.item.place.clone(), message, help)]);
    };
    let scenario = document.place.source.name().to_owned();
    let mut found = Named::new();
    for item in names {
        let place = item.place.clone();
        let Value::Text(name) = &item.value else {
            let message = format!("{} is no profile", item.noun());
            let help = "write the name of a profile, or of a file with one, in quotes";
            return Err(vec![Problem::error(place, message, help)]);
        };
        let profile = match is_file(name) {
            true => {
                let text =
                    files.text(name, &scenario).map_err(|Unreadable { message, help }| {
                        vec![Problem::error(place.clone(), message, help)]
                    })?;
                DeviceProfile::parse(name, &text).map_err(|error| error.problems().to_vec())?
            }
            false => find(name)
                .map_err(|(message, help)| vec![Problem::error(place.clone(), message, help)])?,
        };
        if let Some((other, _)) = found.iter().find(|(other, _)| other.device == profile.device) {
            let device = profile.device.name();
            let message = format!("`{}` and `{name}` are both profiles of a {device}", other.name);
            let help = "all switches of a scenario have the same settings, and so have all hosts: keep one";
            return Err(vec![Problem::error(place, message, help)]);
        }
        found.push((profile, place));
    }
    Ok(found)
}

/// Puts the values of profiles below those of a document.
pub fn lay_under(document: &mut Item, profiles: &Named) -> Result<(), Problem> {
    if profiles.is_empty() {
        return Ok(());
    }
    let mut below = Item::empty(document.place.clone());
    for (profile, _) in profiles {
        for (value, (path, item)) in profile.values.iter().zip(&profile.items) {
            let mut nested = item.clone();
            for key in value.path.split('.').rev() {
                nested = Item::nested(key, path.clone(), nested);
            }
            // Profiles have the names of today: those of scenarios before are refused there.
            normalize(&mut nested, &mut Vec::new());
            merge(&mut below, &nested)?;
        }
    }
    keep_transport(document, &mut below);
    merge(&mut below, document)?;
    below.place = document.place.clone();
    *document = below;
    Ok(())
}

/// What a scenario refuses of the values of a profile: a star at its slowest rate, over cables without a delay, where
/// least is needed.
pub fn refused(profile: &DeviceProfile) -> Vec<Problem> {
    const FILE: &str = "profile.toml";
    let slowest = profile.rates.iter().min().copied().unwrap_or(Rate::from_gbps(100));
    let text = format!(
        "name = \"star\"\nprofile = [\"{FILE}\"]\narrivals = \"1ms\"\nlimit = \"20ms\"\n[topology.star]\n\
         hosts = 3\nrate = \"{slowest}\"\ndelay = \"0ns\"\n[[workload]]\n[workload.incast]\nsenders = 2\n\
         bytes = \"10KB\"\n"
    );
    let library = [("star.toml", text.as_str()), (FILE, profile.text())];
    let checked = Scenario::of_library(&library, "star.toml", &Overrides::default());
    let problems = checked.err().map(|error| error.problems().to_vec()).unwrap_or_default();
    let of_profile = |problem: &Problem| problem.place.source.name() == FILE;
    let named = |problem: Problem| {
        let source = Arc::clone(&profile.text);
        Problem { place: Place { source, ..problem.place }, ..problem }
    };
    problems.into_iter().filter(of_profile).map(named).collect()
}

/// The transport that hosts have if nothing is written.
const USUAL: &str = "rocev2";

/// Removes a NIC's congestion control where the scenario chooses another transport: the two belong together.
fn keep_transport(document: &Item, below: &mut Item) {
    let member = |of: &Item| {
        let host = &of.table()?.get("host")?.item;
        let transport = &host.table()?.get("transport")?.item;
        Some(transport.table()?.entries.first()?.key.clone())
    };
    let Some(theirs) = member(document) else { return };
    if theirs != member(below).as_deref().unwrap_or(USUAL) {
        below.remove(&["host".to_owned(), "congestion".to_owned()]);
    }
}

/// Warns of links whose rate the ports of a device do not have.
pub fn check_rates(profiles: &Named, graph: &Graph) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (profile, place) in profiles {
        let nodes = graph.nodes.iter().filter(|node| match profile.device {
            Device::Switch => matches!(node.kind, NodeKind::Switch { .. }),
            Device::Nic => !matches!(node.kind, NodeKind::Switch { .. }),
        });
        let rates: BTreeSet<Rate> =
            nodes.flat_map(|node| &node.ports).map(|port| port.rate).collect();
        let others: Vec<String> = rates
            .iter()
            .filter(|rate| !profile.rates.contains(rate))
            .map(ToString::to_string)
            .collect();
        if others.is_empty() {
            continue;
        }
        let known: Vec<String> = profile.rates.iter().map(ToString::to_string).collect();
        problems.push(Problem::warning(
            place.clone(),
            format!(
                "{} has links of {}, and {} has ports of {}",
                profile.device.noun(),
                others.join(", "),
                profile.name,
                known.join(", ")
            ),
            "what the profile says by rate holds for other rates; name another profile, or a rate of its ports",
        ));
    }
    problems
}
