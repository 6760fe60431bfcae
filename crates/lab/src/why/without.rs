//! A run repeated without the flows that are blamed for delays: what the others save, beside what the
//! explanation predicts.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::FlowId;
use floodway_model::tables::flows;
use floodway_report::why::{Explanation, Flow, Part};
use floodway_report::words;
use floodway_sim::Spec;
use floodway_sim::delays::Chosen;
use floodway_sim::simulation::Run;
use serde_json::{Value, json};

use super::simulate;
use crate::stored::Failure;

/// A flow with and without the causes. Times are in ps.
struct Saving {
    flow: u64,
    fct: u64,
    predicted: u64,
    /// Negative if it takes longer.
    observed: i64,
}

/// What the other flows of a run save without some of them.
pub(super) struct Comparison {
    removed: BTreeSet<u64>,
    savings: Vec<Saving>,
}

/// Runs the simulation without the flows that these causes name: `flow:N`, `workload:NAME`, `root:PORT`.
pub(super) fn without(
    causes: &[String],
    spec: Spec,
    explanation: &Explanation,
    how: &Run<'_>,
) -> Result<Comparison, Failure> {
    let mut removed = BTreeSet::new();
    for cause in causes {
        removed.extend(flows_of(cause, &spec, explanation)?);
    }
    let spec = spec.without(removed.iter().map(|flow| FlowId(*flow as u32)));
    let outcome = simulate(spec, Chosen::default(), how)?;
    let after: BTreeMap<u64, f64> = match flows::View::of(&outcome.tables) {
        Some(table) => table.flow.iter().zip(table.fct_ns.iter()).collect(),
        None => BTreeMap::new(),
    };
    let kept = explanation.flows.iter().filter(|flow| !removed.contains(&flow.number));
    let savings = kept
        .filter_map(|flow| {
            let after = *after.get(&flow.number).filter(|fct| fct.is_finite())?;
            Some(Saving {
                flow: flow.number,
                fct: flow.fct,
                predicted: predicted(flow, &removed),
                observed: flow.fct as i64 - (after * 1e3).round() as i64,
            })
        })
        .collect();
    Ok(Comparison { removed, savings })
}

impl Comparison {
    /// For programs. Times are in whole picoseconds.
    pub(super) fn json(&self, run: &str) -> Value {
        let flow = |saving: &Saving| {
            json!({
                "flow": saving.flow,
                "fct_ps": saving.fct,
                "predicted_ps": saving.predicted,
                "observed_ps": saving.observed,
            })
        };
        let flows: Vec<Value> = self.savings.iter().map(flow).collect();
        json!({ "run": run, "without": self.removed, "flows": flows })
    }

    /// For people.
    pub(super) fn text(&self, run: &str, explanation: &Explanation) -> String {
        text(run, &self.removed, &self.savings, explanation)
    }
}

/// The flows that a cause names.
fn flows_of(cause: &str, spec: &Spec, explanation: &Explanation) -> Result<Vec<u64>, Failure> {
    let (kind, which) = cause.split_once(':').unwrap_or((cause, ""));
    let unknown = |text: String| Err(Failure::Unknown(text));
    match kind {
        "flow" => match which.parse::<u64>() {
            Ok(flow) if (flow as usize) < spec.flows.len() => Ok(vec![flow]),
            _ => unknown(format!(
                "there is no flow `{which}`: the run has flows 0 to {}",
                spec.flows.len().saturating_sub(1)
            )),
        },
        "workload" => {
            let all = spec.flows.iter().enumerate();
            let of = all.filter(|(_, flow)| explanation.workload(flow.workload.into()) == which);
            let flows: Vec<u64> = of.map(|(number, _)| number as u64).collect();
            if flows.is_empty() {
                return unknown(format!(
                    "there is no flow of a workload `{which}`; a workload without a name is called \
                     `workload 0`, counted from 0"
                ));
            }
            Ok(flows)
        }
        "root" => {
            let roots = explanation.roots();
            let root = roots.iter().find(|root| root.port.to_string() == which);
            let flows = root.map_or_else(Vec::new, |root| fillers(&root.flows));
            if flows.is_empty() {
                return unknown(format!(
                    "`{which}` is not the root of a pause in this run; `floodway why` without options lists \
                     the roots"
                ));
            }
            Ok(flows)
        }
        _ => unknown(format!(
            "`{cause}` is no cause: write flow:NUMBER, workload:NAME or root:PORT, such as \
             `root:leaf 7 to host 57`"
        )),
    }
}

/// The flows that fill a queue: those with at least a hundredth of its bytes.
fn fillers(flows: &[(u64, u64)]) -> Vec<u64> {
    let all: f64 = flows.iter().map(|(_, time)| *time as f64).sum();
    let some = flows.iter().filter(|(_, time)| *time as f64 >= all / 100.0);
    some.map(|(flow, _)| *flow).collect()
}

/// What a flow saves according to its explanation: the parts that these flows cause.
fn predicted(flow: &Flow, removed: &BTreeSet<u64>) -> u64 {
    let parts = flow.parts.iter();
    let caused = parts.filter(|part| part.cause.is_some_and(|cause| removed.contains(&cause)));
    caused.map(Part::time).sum()
}

fn text(
    name: &str,
    removed: &BTreeSet<u64>,
    savings: &[Saving],
    explanation: &Explanation,
) -> String {
    let time = |ps: f64| words::time(ps / 1e3);
    let list: Vec<String> = removed.iter().take(5).map(|flow| explanation.name_of(*flow)).collect();
    let more = match removed.len() - list.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let compared = match savings.len() {
        1 => "1 other flow is compared".to_owned(),
        many => format!("{many} other flows are compared"),
    };
    let mut text =
        format!("{name}, with {}{more} reduced to one byte: {compared}\n\n", list.join(", "));
    if savings.is_empty() {
        return text;
    }
    for (label, is_delayed) in
        [("flows that the explanation says they delay", true), ("all other flows", false)]
    {
        let chosen: Vec<&Saving> =
            savings.iter().filter(|saving| (saving.predicted > 0) == is_delayed).collect();
        if chosen.is_empty() {
            continue;
        }
        let mean = |of: fn(&Saving) -> f64| {
            time(chosen.iter().map(|saving| of(saving)).sum::<f64>() / chosen.len() as f64)
        };
        text += &format!(
            "{label}: {}, which take {} on average; predicted saving {}, observed {}\n",
            chosen.len(),
            mean(|saving| saving.fct as f64),
            mean(|saving| saving.predicted as f64),
            mean(|saving| saving.observed as f64)
        );
    }
    // Errors as shares of the completion time.
    let mut errors: Vec<f64> = savings
        .iter()
        .filter(|saving| saving.predicted > 0)
        .map(|saving| (saving.observed - saving.predicted as i64) as f64 / saving.fct as f64)
        .collect();
    errors.sort_by(f64::total_cmp);
    if !errors.is_empty() {
        let at = |share: f64| 100.0 * errors[((errors.len() - 1) as f64 * share).round() as usize];
        text += &format!(
            "observed minus predicted, of the completion time: median {:+.1} %, 10th to 90th percentile {:+.1} to \
             {:+.1} %\n",
            at(0.5),
            at(0.1),
            at(0.9)
        );
    }
    text
}
