//! The critical path of flows that depend on each other. The run is repeated twice: who waited for whom is known
//! only at its end, and then the flows on the path are explained in full.

use floodway_lab::why::{Order, Plan};
use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_report::why::chain;
use floodway_scenario::Scenario;
use floodway_sim::simulation::Run;

use crate::failure::Failure;
use crate::output;

/// Explains the path to a flow, or to the measured flow that completes last.
pub fn path(
    (results, record, scenario): (&Results, &Record, &Scenario),
    last: Option<u32>,
    how: &Run<'_>,
) -> Result<(), Failure> {
    let explain = |flows: Vec<u64>, sample: usize| {
        let order = Order { is_whole: flows.is_empty(), flows, sample, ..Order::default() };
        Plan::new(results, record, scenario, &order)?.run(how)
    };
    let all = explain(last.map(u64::from).into_iter().collect(), usize::MAX)?.explanation;
    let end = all.flows.iter().max_by_key(|flow| flow.end()).map(|flow| flow.number);
    let Some(last) = last.map(u64::from).or(end) else { return Ok(()) };
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
    output::print(&format!(
        "{}\n\n{}",
        explained.name(),
        chain::chain(&explained.explanation, &links)
    ))
}
