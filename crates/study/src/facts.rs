//! Facts of scenarios, for checks of the set-up: asked in SQL, as runs are ([`crate::sql`]).
//!
//! | table | a row for each | columns |
//! | --- | --- | --- |
//! | `settings` | setting of a variant | `path`, `value` as text, `number` |
//! | `derived` | number that follows from them, as `floodway check` has them | likewise |
//! | `network_nodes` | host and switch | `node`, `kind`, `tier`, `ports` |
//! | `network_links` | port | `node`, `port`, `to_node`, `rate_bps`, `delay_ns` |
//! | `workloads` | workload | `workload`, `hosts`, `persistent_flows` |
//!
//! All have the columns `scenario`, the name of the file, and `variant`. Scenarios are taken as their files have them,
//! with the settings that were changed for all experiments.

use std::path::Path;

use floodway_model::Table;
use floodway_model::graph::NodeKind;
use floodway_scenario::{Overrides, Scenario, Variant};
use serde_json::Value;

use crate::compile::measure::position;
use crate::evidence::Evidence;
use crate::leaves::leaves;
use crate::measure::Measured;
use crate::sql::{Asking, Query, Shape};

/// A question to the scenarios of a study.
#[derive(Debug)]
pub struct Fact {
    query: Query,
    /// The files of the scenarios that it is about.
    files: Vec<&'static str>,
    unit: &'static str,
}

/// The variants of scenarios, with the name of the file of each.
pub type Variants<'a> = &'a [(&'a str, &'a Variant)];

impl Fact {
    /// Checks a statement about scenarios, which are in these files: it is about those that it names, or about all. Fails
    /// with what is wrong with it.
    pub fn new(text: &str, files: &[&'static str], unit: &'static str) -> Result<Self, String> {
        let query = Query::of(text, Shape::Number, &tables(&[], &|_| true))?;
        let named: Vec<&str> =
            files.iter().copied().filter(|file| text.contains(short(file))).collect();
        let files = if named.is_empty() { files.to_vec() } else { named };
        Ok(Self { query, files, unit })
    }

    /// The answer; none if a scenario cannot run with the settings that were changed for all experiments.
    pub fn measure(&self, evidence: &Evidence) -> Measured {
        let overrides = Overrides { quick: false, set: evidence.settings.clone() };
        let read = |file: &&str| evidence.study.library.scenario(file, &overrides).ok();
        let Some(scenarios) = self.files.iter().map(read).collect::<Option<Vec<Scenario>>>() else {
            return Measured::default();
        };
        let both = self.files.iter().zip(&scenarios);
        let variants: Vec<(&str, &Variant)> =
            both.flat_map(|(file, of)| of.variants().iter().map(|of| (short(file), of))).collect();
        let asking = Asking::of(&tables(&variants, &|table| self.query.names(table)));
        let answer = asking.and_then(|mut asking| asking.ask(&self.query)).unwrap_or_default();
        let known = answer.first().map(|[number, ..]| *number).filter(|number| number.is_finite());
        known.map_or_else(Measured::default, |number| Measured::exactly(number, self.unit))
    }
}

/// The name of a file without its folder.
fn short(file: &str) -> &str {
    Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file)
}

/// The tables that are wanted.
pub fn tables(of: Variants, wanted: &dyn Fn(&str) -> bool) -> Vec<Table> {
    let settings = |variant: &Variant| serde_json::to_value(&variant.settings);
    let derived = |variant: &Variant| serde_json::to_value(variant.derived(variant.settings.seed));
    let makers: [(&str, &dyn Fn() -> Table); 5] = [
        ("settings", &|| values(of, "settings", settings)),
        ("derived", &|| values(of, "derived", derived)),
        ("network_nodes", &|| nodes(of)),
        ("network_links", &|| links(of)),
        ("workloads", &|| workloads(of)),
    ];
    makers.into_iter().filter(|(name, _)| wanted(name)).map(|(_, table)| table()).collect()
}

/// A table with the columns that all have, of rows that begin with those.
fn table<T>(name: &'static str, rows: &[(&str, &Variant, T)]) -> Table {
    Table::new(name, "")
        .text("scenario", "", rows.iter().map(|row| row.0.to_owned()).collect())
        .text("variant", "", rows.iter().map(|row| row.1.name.clone()).collect())
}

/// For each variant the rows that it has.
fn rows<'a, T>(
    of: Variants<'a>,
    rows: impl Fn(&'a Variant) -> Vec<T>,
) -> Vec<(&'a str, &'a Variant, T)> {
    let each = |(file, variant): &(&'a str, &'a Variant)| {
        let (file, variant) = (*file, *variant);
        rows(variant).into_iter().map(move |row| (file, variant, row)).collect::<Vec<_>>()
    };
    of.iter().flat_map(each).collect()
}

/// Values by their paths.
fn values(
    of: Variants,
    name: &'static str,
    all: impl Fn(&Variant) -> serde_json::Result<Value>,
) -> Table {
    let rows = rows(of, |variant| {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let all = all(variant).expect("they are text");
        leaves(&all).into_iter().map(|(path, value)| (path, text(value))).collect()
    });
    table(name, &rows)
        .text("path", "", rows.iter().map(|row| row.2.0.clone()).collect())
        .text("value", "", rows.iter().map(|row| row.2.1.clone()).collect())
        .f64("number", "", rows.iter().map(|row| position(&row.2.1).unwrap_or(f64::NAN)).collect())
}

fn nodes(of: Variants) -> Table {
    let rows = rows(of, |variant| variant.graph().nodes.iter().enumerate().collect());
    let tier = |kind| match kind {
        NodeKind::Host => ("host", f64::NAN),
        NodeKind::Switch { tier } => ("switch", f64::from(tier)),
    };
    table("network_nodes", &rows)
        .u64("node", "", rows.iter().map(|row| row.2.0 as u64).collect())
        .text("kind", "", rows.iter().map(|row| tier(row.2.1.kind).0.to_owned()).collect())
        .f64("tier", "", rows.iter().map(|row| tier(row.2.1.kind).1).collect())
        .u64("ports", "", rows.iter().map(|row| row.2.1.ports.len() as u64).collect())
}

fn links(of: Variants) -> Table {
    let rows = rows(of, |variant| {
        let nodes = variant.graph().nodes.iter().enumerate();
        let ports = nodes.flat_map(|(node, of)| {
            of.ports.iter().enumerate().map(move |(port, end)| (node, port, end))
        });
        ports.collect()
    });
    table("network_links", &rows)
        .u64("node", "", rows.iter().map(|row| row.2.0 as u64).collect())
        .u64("port", "", rows.iter().map(|row| row.2.1 as u64).collect())
        .u64("to_node", "", rows.iter().map(|row| row.2.2.peer.index() as u64).collect())
        .f64("rate_bps", "", rows.iter().map(|row| row.2.2.rate.0 as f64).collect())
        .f64("delay_ns", "", rows.iter().map(|row| row.2.2.delay.as_ns()).collect())
}

fn workloads(of: Variants) -> Table {
    let rows = rows(of, |variant| variant.workloads().iter().enumerate().collect());
    table("workloads", &rows)
        .u64("workload", "", rows.iter().map(|row| row.2.0 as u64).collect())
        .u64("hosts", "", rows.iter().map(|row| row.2.1.hosts()).collect())
        .u64("persistent_flows", "", rows.iter().map(|row| row.2.1.persistent_flows()).collect())
}
