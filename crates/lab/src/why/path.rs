//! The critical path of flows that depend on each other. The run is repeated twice: who waited for whom is known
//! only at its end, and then the flows on the path are explained in full.

use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_report::why::chain;
use floodway_scenario::Scenario;
use floodway_sim::simulation::Run;

use super::{Explained, Order, Plan};
use crate::stored::Failure;

/// Explains the path to a flow, or to the measured flow that completes last: the flows on it, and the path as
/// text.
pub(super) fn path(
    (results, record, scenario): (&Results, &Record, &Scenario),
    last: Option<u64>,
    how: &Run<'_>,
) -> Result<(Explained, String), Failure> {
    let explain = |flows: Vec<u64>, sample: usize| {
        let order = Order { is_whole: flows.is_empty(), flows, sample, ..Order::default() };
        Plan::new(results, record, scenario, &order)?.run(how)
    };
    let all = explain(last.into_iter().collect(), usize::MAX)?.explanation;
    let end = all.flows.iter().max_by_key(|flow| flow.end()).map(|flow| flow.number);
    let none =
        || Failure::Unknown("no flow of this run is explained, so none has a path".to_owned());
    let last = last.or(end).ok_or_else(none)?;
    let flows = all.path(last);
    if flows.len() < 2 {
        return Err(Failure::Unknown(format!(
            "{} waited for no other flow; --path explains flows of a workload in which flows begin when others \
             have been sent or have arrived, such as a collective",
            all.name_of(last)
        )));
    }
    let explained = explain(flows, 0)?;
    let links = explained.explanation.chain(last).unwrap_or_default();
    let text = format!("{}\n\n{}", explained.name(), chain::chain(&explained.explanation, &links));
    Ok((explained, text))
}
