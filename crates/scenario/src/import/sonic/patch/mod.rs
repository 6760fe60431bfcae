//! The way back: what a changed scenario would change in the configurations, as JSON patches (RFC 6902) for
//! CONFIG_DB.

mod apportion;
mod groups;
mod maps;
mod queues;
mod unsaid;
mod writer;

use std::collections::BTreeSet;
use std::path::PathBuf;

use floodway_sim::switch;
use floodway_sim::switch::buffer::shared;
use serde::Serialize;
use serde_json::Value;

use super::files::{Read, read_all};
use super::network::Network;
use super::plan::Plan;
use super::{Options, SCENARIO};
use crate::document::Document;
use crate::scenario::{Overrides, Scenario};
use crate::text::Error;
use crate::topology;
use unsaid::unsaid;
use writer::Writer;

/// An operation of a JSON patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// `add`, `replace` or `remove`.
    pub op: &'static str,
    /// Where, as a JSON pointer (RFC 6901).
    pub path: String,
    /// What is there then; none if it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What was there before, for people.
    #[serde(skip)]
    pub before: Option<String>,
}

/// What a scenario changes.
#[derive(Clone, Debug)]
pub struct Patches {
    /// By switch: its name, and the operations in order.
    pub switches: Vec<(String, Vec<Operation>)>,
    /// Settings that differ and that CONFIG_DB does not have, or that cannot be written there.
    pub unsaid: Vec<String>,
    /// The files that were read.
    pub inputs: Vec<PathBuf>,
}

/// What `settings` change in the configurations from which a scenario was imported.
pub fn patches(settings: &Document, paths: &[PathBuf], options: Options) -> Result<Patches, Error> {
    let mut inputs = Vec::new();
    let Read { switches, overruled, .. } = read_all(paths, options, &mut inputs)?;
    let plan = Plan::of(&switches, settings.switch.cell)?;
    let network = Network::of(&switches, &overruled)?;
    let theirs = match &settings.topology {
        topology::Spec::Custom(custom) => &custom.switches[..],
        _ => &[],
    };
    if theirs != network.switches {
        return Err(Error::from(switches[0].config.problem(
            format!(
                "the scenario is not of these configurations: it has the switches {theirs:?}, and they are of {:?}",
                network.switches
            ),
            "name all configurations from which the scenario was imported, and only them; keep the switches' names",
        )));
    }
    let base = super::import_with(paths, "base", options, settings.switch.cell)?.scenario;
    let base = Scenario::parse(&base, SCENARIO, &Overrides::default())?;
    let old = &base.variants()[0].settings.switch;
    let new = &settings.switch;
    let (mut found, mut reached, mut missing) = (Vec::new(), BTreeSet::new(), Vec::new());
    for (switch, shown) in switches.iter().zip(&network.switches) {
        let mut writer = Writer {
            switch,
            plan: &plan,
            shown,
            old,
            new,
            operations: Vec::new(),
            reached: BTreeSet::new(),
            missing: Vec::new(),
        };
        writer.all()?;
        reached.extend(writer.reached);
        missing.extend(writer.missing);
        found.push((switch.name.clone(), writer.operations));
    }
    missing.extend(unsaid(old, new, plan.class(plan.main).unwrap_or_default(), &reached));
    Ok(Patches { switches: found, unsaid: missing, inputs })
}

fn of_shared(spec: &switch::Spec) -> Option<&shared::Spec> {
    spec.buffer.pools()
}

/// The pools as a class of a switch has them.
fn shares(spec: &switch::Spec, shown: &str, class: usize) -> Option<shared::Spec> {
    of_shared(spec).map(|shared| shared.at(shown).for_queue(class as u8))
}
