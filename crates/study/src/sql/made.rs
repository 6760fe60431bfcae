//! Tables that are made of those of a run: what reports compute too, and SQL hardly can.

use floodway_model::{Duration, Table};
use floodway_report::metrics::{FlowTime, flow_times};
use floodway_report::scalars::scalars;
use rusqlite::types::Value;

use super::functions::Settings;
use crate::deliveries::{Deliveries, Delivery};

/// The measured flows, with the time that those which had not completed had taken, as [`flow_times`] has them.
const TIMES: &str = "times";
/// The numbers of a run, as [`scalars`] has them.
const NUMBERS: &str = "numbers";
/// The mean rates of the flows that the run followed, over the measurement. `rates_LENGTH`, as `rates_10ms`: those in
/// windows of this length.
const RATES: &str = "rates";

/// The table of this name, of the tables of a run that ended at `end_ns`; none if no table has this name.
pub fn table(name: &str, of: &[Table], end_ns: f64, settings: &Settings) -> Option<Table> {
    if name == TIMES {
        return Some(times(&flow_times(of, end_ns)));
    }
    if name == NUMBERS {
        return Some(numbers(of));
    }
    if name == RATES {
        return Some(rates(name, of, measurement(settings).into_iter().collect(), |_| true));
    }
    let length: Duration = name.strip_prefix(RATES)?.strip_prefix('_')?.parse().ok()?;
    let length_ns = length.0 as f64 / 1e3;
    let windows = |of: Deliveries| of.windows(length_ns);
    let windows = Deliveries::of(of).map(windows).unwrap_or_default();
    (length_ns > 0.0).then(|| {
        rates(name, of, windows, |(flow, (from, to))| {
            flow.start_ns() < *to && flow.end_ns() > *from
        })
    })
}

/// From the warm-up to the end of arrivals, in nanoseconds.
fn measurement(settings: &Settings) -> Option<(f64, f64)> {
    let number = |path: &str| match settings.get(path) {
        Some(Value::Real(value)) => Some(*value),
        _ => None,
    };
    number("warmup").zip(number("arrivals"))
}

fn times(flows: &[FlowTime]) -> Table {
    let column = |number: fn(&FlowTime) -> u64| flows.iter().map(number).collect();
    let real = |number: fn(&FlowTime) -> f64| flows.iter().map(number).collect();
    Table::new(TIMES, "")
        .u64("flow", "", column(|flow| flow.flow))
        .u64("workload", "", column(|flow| flow.workload))
        .u64("bytes", "", column(|flow| flow.bytes))
        .f64("fct_ns", "", real(|flow| flow.fct_ns))
        .f64("slowdown", "", real(|flow| flow.slowdown))
        .u64("finished", "", column(|flow| flow.finished.into()))
}

fn numbers(of: &[Table]) -> Table {
    let all = scalars(of);
    let values = all.values().map(|of| of.value).collect();
    Table::new(NUMBERS, "").text("name", "", all.keys().cloned().collect()).f64("value", "", values)
}

/// The rates of flows from one time to another, as far as they are wanted.
fn rates(
    name: &str,
    of: &[Table],
    windows: Vec<(f64, f64)>,
    wanted: impl Fn(&(&Delivery, (f64, f64))) -> bool,
) -> Table {
    let deliveries = Deliveries::of(of);
    let flows = deliveries.iter().flat_map(|of| &of.flows);
    let known = |flow: &Delivery, (from, to): (f64, f64)| match flow.known_until(to) {
        until if until > from => (from, until),
        _ => (from, to),
    };
    let rows = flows.flat_map(|flow| windows.iter().map(move |of| (flow, known(flow, *of))));
    let rows: Vec<_> = rows.filter(wanted).collect();
    let number = |of: fn(&Delivery) -> u64| rows.iter().map(|(flow, _)| of(flow)).collect();
    let table = Table::new(RATES, "")
        .u64("flow", "", number(|flow| flow.flow))
        .u64("workload", "", number(|flow| flow.workload))
        .f64("from_ns", "", rows.iter().map(|(_, (from, _))| *from).collect())
        .f64("to_ns", "", rows.iter().map(|(_, (_, to))| *to).collect())
        .f64(
            "bps",
            "",
            rows.iter().map(|(flow, (from, to))| flow.gbps(*from, *to) * 1e9).collect(),
        );
    Table { name: name.to_owned().into(), ..table }
}
