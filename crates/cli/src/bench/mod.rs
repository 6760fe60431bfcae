//! `floodway bench`: how fast is the simulator on this machine?

mod cases;
mod measure;

use std::process::{Command, Stdio};

use floodway_report::words::{bytes, large, time};

use crate::failure::Failure;
use crate::options::BenchOptions;
use crate::output;
use cases::Case;
pub use cases::names;
use measure::Measurement;

/// Measures every case that was asked for with every number of threads.
pub fn bench(options: &BenchOptions) -> Result<(), Failure> {
    let threads = if options.threads.is_empty() { &[1, 2] } else { options.threads.as_slice() };
    let wanted = |case: &&Case| options.case.as_deref().is_none_or(|name| name == case.name);
    let cases: Vec<_> = cases::CASES.iter().filter(wanted).collect();
    let alone = cases.len() * threads.len() == 1;
    if !options.json {
        output::print(HEADLINE)?;
    }
    let mut all = Vec::new();
    for case in cases {
        for &threads in threads {
            let measurement = if alone {
                measure::measure(case, threads, options.quick)?
            } else {
                measured_apart(case, threads, options.quick)?
            };
            if !options.json {
                output::print(&row(&measurement))?;
            }
            all.push(measurement);
        }
    }
    if options.json { output::print_json(&all) } else { Ok(()) }
}

/// Runs a case in a process of its own, because memory that one leaves behind would help or
/// hinder the next, and the peak would be that of the largest.
fn measured_apart(case: &Case, threads: u16, quick: bool) -> Result<Measurement, Failure> {
    let failed = |error| Failure::System("start a process for a measurement", error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.args(["bench", case.name, "--json", "--threads", &threads.to_string()]);
    if quick {
        command.arg("--quick");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(failed)?;
    let found: Option<[Measurement; 1]> = serde_json::from_slice(&output.stdout).ok();
    match found {
        Some([measurement]) if output.status.success() => Ok(measurement),
        _ => Err(Failure::Measurement(format!(
            "the process that measured {} with {threads} threads failed ({}); what it said stands \
             above",
            case.name, output.status
        ))),
    }
}

const HEADLINE: &str = "\
case         threads    packet-hops  a second    a second and core  set-up    memory    simulated\n";

fn row(measurement: &Measurement) -> String {
    let Measurement { hops, hops_per_second, threads, .. } = measurement;
    format!(
        "{:12} {threads:>7}  {:>13}  {:10}  {:17}  {:8}  {:8}  {} in {}\n",
        measurement.case,
        large(*hops as f64),
        large(*hops_per_second),
        large(hops_per_second / f64::from(*threads)),
        time(measurement.setup_s * 1e9),
        measurement.peak_rss_bytes.map_or("-".to_owned(), |peak| bytes(peak as f64)),
        time(measurement.simulated_ns),
        time(measurement.wall_s * 1e9),
    )
}
