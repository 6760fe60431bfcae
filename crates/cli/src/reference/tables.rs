//! The tables of results, from those of the smallest run that has them all.

use floodway_model::tables::{
    self, counters, ranks, round_flows, round_loads, rounds, steps, trace_nodes, waits,
};
use floodway_report::{Experiment, Manifest};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation};

use crate::failure::Failure;

/// Two hosts and one message.
const SMALLEST: &str = r#"
name = "smallest"
arrivals = "1us"
limit = "100us"
record = 2

[topology.star]
hosts = 2

[[workload]]
[workload.incast]
senders = 1
bytes = "1KB"
"#;

/// Every table with its columns.
pub fn section() -> Result<String, Failure> {
    let scenario = Scenario::parse(SMALLEST, "smallest.toml", &Overrides::default())?;
    let variant = &scenario.variants()[0];
    let mut outcome = Simulation::new(scenario.build(variant, 0)).run();
    // Those of jobs, which it has none of.
    let of_jobs = [ranks::NAME, steps::NAME, trace_nodes::NAME, waits::NAME];
    // And of sampled rounds.
    let of_rounds = [rounds::NAME, round_flows::NAME, round_loads::NAME];
    outcome.tables.extend(of_jobs.into_iter().chain(of_rounds).filter_map(tables::empty));
    let name = variant.name.clone();
    let manifest = Manifest::new(
        floodway_report::Scenario::default(),
        vec![floodway_report::Variant { name, ..Default::default() }],
    );
    let mut experiment = Experiment::new(&manifest);
    experiment.add_run(&floodway_describe::run(&variant.name, (0, scenario.seed), "", &outcome));
    // Of the dictionary that stands beside results, what is not about those of one scenario.
    let dictionary = experiment.dictionary();
    let described = dictionary.find("\n## ").map_or("", |start| &dictionary[start..]);
    Ok(INTRODUCTION.to_owned() + &described.replace("\n## ", "\n### ") + &counters(&outcome))
}

/// The rows that the table `counters` always has.
fn counters(outcome: &Outcome) -> String {
    let table = counters::View::of(&outcome.tables).expect("every run has counters");
    let mut text = String::from(COUNTERS);
    for (name, meaning) in table.name.iter().zip(table.meaning) {
        text += &format!("| `{name}` | {meaning} |\n");
    }
    text
}

const COUNTERS: &str = "
### Rows of `counters`

| name | meaning |
| --- | --- |
";

const INTRODUCTION: &str = "\
## Result tables

A run leaves its tables in `runs/<variant>/<replication>/` of the results directory, one file
each. All files of one table have the same columns, so that a pattern reads them as one:
`runs/*/*/flows.parquet`. A column's unit is the end of its name. A real number that does not
exist is NaN. A table without rows has no file; Python, `floodway compare` and studies read it as
an empty table.
";
