//! Explains the delays of flows of a stored run: the run is repeated with the observer of delays. Runs are
//! deterministic, so the repeated run must have the fingerprint of the stored one.

mod against;
mod path;
mod without;

use floodway_model::table::{EXPLAINED, PACKETS};
use floodway_model::tables::flows;
use floodway_model::{FlowId, Table};
use floodway_report::INTERRUPTED;
use floodway_report::directory::Results;
use floodway_report::manifest::{Record, hex};
use floodway_report::metrics::SizeClasses;
use floodway_report::why::{self, Explanation};
use floodway_scenario::Scenario;
use floodway_sim::delays::Chosen;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};
use serde_json::{Value, json};

use crate::stored::Failure;

/// Which flows are explained.
#[derive(Clone, Debug, Default)]
struct Order {
    /// Numbers of flows that are explained one by one.
    pub flows: Vec<u64>,
    /// If there are none, so many with the largest slowdown are.
    pub slowest: usize,
    /// At most so many flows, spread evenly over all measured ones, are followed for the totals.
    pub sample: usize,
    /// Whether only the totals are wanted. Then no flow is explained by itself.
    pub is_whole: bool,
    /// Whether the packets of single flows are explained one by one.
    pub packets: bool,
    /// Whether all parts of every followed flow are kept, instead of those of single flows.
    pub all_parts: bool,
}

/// What is asked about a run.
#[derive(Clone, Debug)]
pub enum Question {
    /// What these flows spent their time on.
    Delays {
        /// Numbers of flows that are explained one by one.
        flows: Vec<u64>,
        /// If there are none, so many with the largest slowdown are.
        slowest: usize,
        /// Whether each of their packets is explained, too.
        packets: bool,
    },
    /// Which flows pauses delayed whose root is this port: `leaf 7 to host 57`.
    Root(String),
    /// What flows save without those that these causes name: `flow:N`, `workload:NAME`, `root:PORT`.
    Without(Vec<String>),
    /// Where the time goes that flows save or lose compared with this variant, in all replications that both have.
    Against(String),
    /// Which flows held each other up until this one, or the measured flow that completed last.
    Path(Option<u64>),
}

/// What explains a run.
#[derive(Clone, Debug)]
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs. Times are in whole picoseconds.
    pub json: Value,
    /// The tables of explained delays, in the order of [`EXPLAINED`], and [`PACKETS`].
    pub tables: Vec<Table>,
}

/// Repeats a stored run once or twice, or two runs of each replication, to answer a question. At most `sample` flows, spread evenly over all measured
/// ones, are followed for totals. Fails if a flow, a cause or a root is not there, if a flow has not completed, if no flow
/// held up another one on a path, if the run cannot be repeated or is another one than that stored, or if it is stopped.
pub fn answer(
    of: (&Results, &Record, &Scenario),
    question: &Question,
    sample: usize,
    how: &Run<'_>,
) -> Result<Answer, Failure> {
    if let Question::Path(last) = question {
        let (explained, text) = path::path(of, *last, how)?;
        return Ok(Answer { text, json: explained.json(), tables: explained.tables });
    }
    if let Question::Against(baseline) = question {
        let (compared, tables) = against::against(of, baseline, sample, how)?;
        return Ok(Answer { text: compared.text(), json: compared.json(), tables });
    }
    let mut order = Order { sample, is_whole: true, ..Order::default() };
    match question {
        Question::Delays { flows, slowest, packets } => {
            (order.flows, order.slowest, order.is_whole) = (flows.clone(), *slowest, false);
            order.packets = *packets;
        }
        Question::Without(_) => order.all_parts = true,
        Question::Root(_) | Question::Path(_) | Question::Against(_) => {}
    }
    let (results, record, scenario) = of;
    let plan = Plan::new(results, record, scenario, &order)?;
    let spec = matches!(question, Question::Without(_)).then(|| plan.spec.clone());
    let explained = plan.run(how)?;
    let (name, explanation) = (explained.name(), &explained.explanation);
    let (text, json) = match (question, spec) {
        (Question::Without(causes), Some(spec)) => {
            let compared = without::without(causes, spec, explanation, how)?;
            (compared.text(&name, explanation), compared.json(&name))
        }
        (Question::Root(port), _) => {
            let victims = why::victims(explanation, &root(port, explanation)?);
            (format!("{name}\n\n{victims}"), explained.json())
        }
        _ => (explained.text(), explained.json()),
    };
    Ok(Answer { text, json, tables: explained.tables })
}

/// The root of pauses at this port.
fn root(port: &str, explanation: &Explanation) -> Result<why::Root, Failure> {
    let mut roots = explanation.roots();
    if let Some(at) = roots.iter().position(|root| root.port.to_string() == port) {
        return Ok(roots.swap_remove(at));
    }
    let mut ports: Vec<String> =
        roots.iter().take(8).map(|root| format!("`{}`", root.port)).collect();
    if roots.len() > ports.len() {
        ports.push("others".to_owned());
    }
    Err(Failure::Unknown(match ports.is_empty() {
        true => "there is no pause in this run, so no port is the root of one".to_owned(),
        false => format!("`{port}` is not the root of a pause; these are: {}", ports.join(", ")),
    }))
}

/// A stored run that can be repeated.
#[derive(Debug)]
struct Plan {
    /// The simulation.
    pub spec: Spec,
    record: Record,
    /// The scenario's file.
    file: String,
    workloads: Vec<String>,
    classes: SizeClasses,
    flows: Vec<u32>,
    sample: Vec<u32>,
    all_parts: bool,
    packets: bool,
}

/// What explains a run.
#[derive(Clone, Debug)]
struct Explained {
    /// The variant.
    pub variant: String,
    /// The replication, counted from 0.
    pub replication: u32,
    /// The explanation. Its sample is that of the order.
    pub explanation: Explanation,
    /// The flows that are explained one by one.
    pub flows: Vec<u64>,
    /// The tables of explained delays, in the order of [`EXPLAINED`], and [`PACKETS`].
    pub tables: Vec<Table>,
}

impl Plan {
    /// Chooses flows of a run and builds its simulation. Fails if a flow is not there or has not completed, if
    /// no measured flow has completed and none is named, or if the run cannot be repeated.
    pub fn new(
        results: &Results,
        record: &Record,
        scenario: &Scenario,
        order: &Order,
    ) -> Result<Self, Failure> {
        if record.stop == INTERRUPTED {
            return Err(Failure::Unknown(format!(
                "run {} of `{}` was interrupted, so it cannot be repeated; run {} again to its end",
                record.replication, record.variant, scenario.file_name
            )));
        }
        let variant = scenario.variant(&record.variant)?;
        let spec = variant.build_replication(record.replication, record.seed);
        let all = completed(&results.table(record, "flows")?);
        let flows = if order.is_whole { Vec::new() } else { flows_of(order, &all, &spec)? };
        Ok(Self {
            record: record.clone(),
            file: scenario.file_name.clone(),
            workloads: variant.workload_names(),
            classes: SizeClasses::new(results.manifest.size_classes.clone()),
            sample: sample(order.sample, &all),
            all_parts: order.all_parts,
            packets: order.packets,
            flows,
            spec,
        })
    }

    /// Repeats the run. Fails if it is not sound or not the stored one, if it is stopped, or if there is
    /// nothing to explain.
    pub fn run(self, how: &Run<'_>) -> Result<Explained, Failure> {
        let mut followed: Vec<u32> = self.sample.iter().chain(&self.flows).copied().collect();
        followed.sort_unstable();
        followed.dedup();
        let detailed = if self.all_parts { &followed } else { &self.flows };
        let ids = |flows: &[u32]| flows.iter().copied().map(FlowId).collect();
        let (flows, detailed) = (ids(&followed), ids(detailed));
        let chosen = Chosen { flows, detailed, packets: self.packets, ..Chosen::default() };
        let mut outcome = simulate(self.spec, chosen, how)?;
        let fingerprint = hex(outcome.fingerprint);
        if fingerprint != self.record.fingerprint {
            return Err(Failure::Differs(differs(&self.record, &self.file, &fingerprint)));
        }
        let explanation = Explanation::of(&outcome.tables, &self.workloads, &self.classes);
        let mut explanation = explanation.ok_or_else(|| {
            Failure::Unknown(
                "no measured flow has completed in this run, so none is explained".to_owned(),
            )
        })?;
        explanation.sample = self.sample.into_iter().map(u64::from).collect();
        outcome.tables.retain(|table| EXPLAINED.contains(&&*table.name) || table.name == PACKETS);
        Ok(Explained {
            variant: self.record.variant,
            replication: self.record.replication,
            explanation,
            flows: self.flows.into_iter().map(u64::from).collect(),
            tables: outcome.tables,
        })
    }
}

impl Explained {
    /// Which run it is: `pfc, replication 0`.
    pub fn name(&self) -> String {
        format!("{}, replication {}", self.variant, self.replication)
    }

    /// The explanation for people: of the sample, and of the single flows.
    pub fn text(&self) -> String {
        format!("{}: {}", self.name(), why::text(&self.explanation, &self.flows))
    }

    /// The same for programs, with every part of the single flows. Times are in whole picoseconds.
    pub fn json(&self) -> Value {
        let mut value = why::json(&self.explanation, &self.flows);
        value["variant"] = json!(self.variant);
        value["replication"] = json!(self.replication);
        value
    }
}

/// Runs a simulation and explains the delays of these flows. Fails if it is not sound, or is stopped.
fn simulate(spec: Spec, chosen: Chosen, how: &Run<'_>) -> Result<Outcome, Failure> {
    let outcome = Simulation::new(spec).explaining(chosen).run_with(how);
    if outcome.stop.name() == INTERRUPTED {
        return Err(Failure::Interrupted);
    }
    if outcome.violations.is_empty() {
        Ok(outcome)
    } else {
        Err(Failure::Violations(outcome.violations))
    }
}

/// A flow that has completed.
struct Completed {
    number: u32,
    slowdown: f64,
    is_measured: bool,
}

/// The flows that have completed, in order of their numbers.
fn completed(table: &Table) -> Vec<Completed> {
    let Some(flows) = flows::View::of_table(table) else { return Vec::new() };
    let flow = |row: usize| Completed {
        number: flows.flow.at(row) as u32,
        slowdown: flows.slowdown.at(row),
        is_measured: flows.measured.at(row) != 0,
    };
    let done = (0..flows.flow.len()).filter(|row| flows.fct_ns.at(*row).is_finite());
    done.map(flow).collect()
}

/// The flows that are explained one by one.
fn flows_of(order: &Order, all: &[Completed], spec: &Spec) -> Result<Vec<u32>, Failure> {
    for &number in &order.flows {
        if number >= spec.flows.len() as u64 {
            return Err(Failure::Unknown(format!(
                "there is no flow {number}: the run has flows 0 to {}; their numbers are in the table flows",
                spec.flows.len().saturating_sub(1)
            )));
        }
        if all.binary_search_by_key(&number, |flow| flow.number.into()).is_err() {
            return Err(Failure::Unknown(format!(
                "flow {number} has not completed in this run, so there is no completion time to explain; \
                 choose a flow with an `fct_ns` in the table flows"
            )));
        }
    }
    if !order.flows.is_empty() {
        return Ok(order.flows.iter().map(|number| *number as u32).collect());
    }
    let mut measured: Vec<&Completed> = all.iter().filter(|flow| flow.is_measured).collect();
    if measured.is_empty() {
        return Err(Failure::Unknown(
            "no measured flow has completed in this run; name one of the others with --flow"
                .to_owned(),
        ));
    }
    measured.sort_by(|a, b| b.slowdown.total_cmp(&a.slowdown).then(a.number.cmp(&b.number)));
    Ok(measured.iter().take(order.slowest).map(|flow| flow.number).collect())
}

/// At most so many of the measured flows, evenly spread over their numbers.
fn sample(most: usize, all: &[Completed]) -> Vec<u32> {
    let measured: Vec<u32> =
        all.iter().filter(|flow| flow.is_measured).map(|flow| flow.number).collect();
    spread(most, &measured)
}

/// At most so many of these, evenly spread.
fn spread(most: usize, all: &[u32]) -> Vec<u32> {
    let count = most.min(all.len());
    (0..count).map(|at| all[at * all.len() / count]).collect()
}

fn differs(record: &Record, file: &str, fingerprint: &str) -> String {
    format!(
        "run {} of `{}` has the fingerprint {} in these results and {fingerprint} now: they are of another \
         version of floodway; run {file} again",
        record.replication, record.variant, record.fingerprint
    )
}
