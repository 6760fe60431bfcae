//! The way back: what a changed scenario would change in the configurations, as JSON patches (RFC 6902) for
//! CONFIG_DB.

mod groups;
mod queues;
mod writer;

use std::path::PathBuf;

use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::{self, aqm, scheduler};
use serde::Serialize;
use serde_json::Value;

use super::network::Network;
use super::plan::Plan;
use super::{Options, SCENARIO, read_all};
use crate::document::Document;
use crate::scenario::{Overrides, Scenario};
use crate::text::Error;
use crate::topology;
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
    let switches = read_all(paths, options, &mut inputs)?;
    let plan = Plan::of(&switches, settings.switch.cell)?;
    let network = Network::of(&switches)?;
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
    let mut found = Vec::new();
    for (switch, shown) in switches.iter().zip(&network.switches) {
        let mut writer = Writer { switch, plan: &plan, shown, old, new, operations: Vec::new() };
        writer.all()?;
        found.push((switch.name.clone(), writer.operations));
    }
    Ok(Patches { switches: found, unsaid: unsaid(old, new), inputs })
}

/// The settings of switches that differ and are not written.
fn unsaid(old: &switch::Spec, new: &switch::Spec) -> Vec<String> {
    let mut rest = new.clone();
    if let (Some(own), Some(theirs)) = (pools(&mut rest.buffer), of_shared(old)) {
        *own = theirs.clone();
    }
    if let (aqm::Spec::Ramp(own), aqm::Spec::Ramp(theirs)) = (&mut rest.aqm, &old.aqm) {
        (own.kmin, own.kmax, own.pmax) = (theirs.kmin, theirs.kmax, theirs.pmax);
        own.by_rate.clone_from(&theirs.by_rate);
    }
    if let (scheduler::Spec::Drr(own), scheduler::Spec::Drr(theirs)) =
        (&mut rest.scheduler, &old.scheduler)
    {
        own.weights.clone_from(&theirs.weights);
    }
    if let (Some(own), Some(theirs)) = (&mut rest.flow_control.pfc, &old.flow_control.pfc) {
        own.xon_offset = theirs.xon_offset;
        own.lossless = theirs.lossless;
        if let (Some(dog), Some(other)) = (&mut own.watchdog, &theirs.watchdog) {
            dog.clone_from(other);
        }
    }
    let texts = [&rest, old].map(|spec| serde_json::to_value(spec).unwrap_or_default());
    let mut list = Vec::new();
    differences("switch", &texts[0], &texts[1], &mut list);
    list
}

fn pools(buffer: &mut buffer::Spec) -> Option<&mut shared::Spec> {
    match buffer {
        buffer::Spec::Shared(shared) => Some(shared),
        _ => None,
    }
}

fn of_shared(spec: &switch::Spec) -> Option<&shared::Spec> {
    spec.buffer.pools()
}

/// The paths at which two values differ.
fn differences(path: &str, one: &Value, other: &Value, list: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: std::collections::BTreeSet<&String> =
                one.keys().chain(other.keys()).collect();
            for key in keys {
                let [one, other] = [one, other].map(|of| of.get(key).unwrap_or(&Value::Null));
                differences(&format!("{path}.{key}"), one, other, list);
            }
        }
        _ if one != other => list.push(path.to_owned()),
        _ => {}
    }
}
