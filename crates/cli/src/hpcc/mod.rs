//! `floodway export hpcc` and `floodway compare hpcc`: the flows of a run as the completion file of the
//! HPCC simulator, and beside one.

mod compare;
mod export;

use floodway_model::tables::flows;
use floodway_scenario::fct::{self, Completed, Flow};

use crate::failure::Failure;
use crate::options::{Completion, RunSelection};

pub use compare::compare;
pub use export::export;

/// The flows with a size of the run that was asked for.
fn flows(options: &RunSelection) -> Result<Vec<Flow>, Failure> {
    let results = options.run.open()?;
    let record = options.run.record(&results)?;
    let scenario = options.run.scenario(&results)?;
    let variant = scenario.variant(&record.variant)?;
    let table = results.table(record, "flows")?;
    let spec = variant.build_replication(record.replication, record.seed);
    let completed = match options.completion {
        Completion::Acked => Completed::Acked,
        Completion::Received => Completed::Received,
    };
    let flows = fct::of_run((&scenario, variant), &spec, &table, completed)
        .map_err(|unfit| Failure::Unknown(unfit.to_string()))?;
    let acknowledged = |flow: &Flow| flow.fct_ns.is_some();
    let received = flows::View::of_table(&table)
        .is_some_and(|flows| flows.fct_ns.iter().any(|time| time.is_finite()));
    if completed == Completed::Acked && received && !flows.iter().any(acknowledged) {
        return Err(Failure::Unknown(
            "no flow of this run has been acknowledged to its end; count completion at the receiver \
             with --completion received"
                .to_owned(),
        ));
    }
    Ok(flows)
}
