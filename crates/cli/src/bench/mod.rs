//! `floodway bench`: how fast is the simulator on this machine?

mod cases;
mod curves;
mod measure;
mod neighbor;
mod page;

use std::process::Stdio;

use floodway_report::words::{bytes, large, time};

use crate::failure::Failure;
use crate::options::BenchOptions;
use crate::{output, program};
pub use cases::names;
use cases::{Case, Length};
use measure::Measurement;

/// Measures every case that was asked for with every number of threads.
pub fn bench(options: &BenchOptions) -> Result<(), Failure> {
    if options.be_neighbor {
        neighbor::be();
    }
    if options.until_input_ends {
        program::end_with_standard_input();
    }
    if options.curves {
        return curves::curves(options);
    }
    let threads = if options.threads.is_empty() { &[1, 2] } else { options.threads.as_slice() };
    let length = match options {
        BenchOptions { quick: true, .. } => Length::Quick,
        BenchOptions { brief: true, .. } => Length::Brief,
        _ => Length::Full,
    };
    let wanted = |case: &&Case| options.case.as_deref().is_none_or(|name| name == case.name);
    let cases: Vec<_> = cases::CASES.iter().filter(wanted).collect();
    let alone = cases.len() * threads.len() == 1;
    if !options.json {
        output::print(HEADLINE)?;
    }
    let mut all = Vec::new();
    for case in cases {
        for &threads in threads {
            let neighbor = options.neighbor;
            let task = Task { case, threads, length, set: &options.set, neighbor };
            let measurement = if alone { measure::measure(&task)? } else { task.apart()? };
            if !options.json {
                output::print(&row(&measurement))?;
            }
            all.push(measurement);
        }
    }
    if options.json {
        return output::print_json(&all);
    }
    let calibrations: Vec<_> = all.iter().filter_map(|one| one.calibration.as_ref()).collect();
    output::print(
        &measure::spoken("these runs", &calibrations)
            .map_or_else(String::new, |said| format!("\n{said}\n")),
    )
}

/// What to measure.
struct Task<'a> {
    case: &'a Case,
    threads: u16,
    length: Length,
    /// Further settings.
    set: &'a [String],
    /// Whether a neighbor walks through memory meanwhile.
    neighbor: bool,
}

impl Task<'_> {
    /// Its words on the command line.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["bench".to_owned(), self.case.name.to_owned()];
        words.extend(self.length.option().map(str::to_owned));
        words.extend(self.neighbor.then(|| "--neighbor".to_owned()));
        words.extend(["--threads".to_owned(), self.threads.to_string()]);
        words.extend(self.set.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
        words
    }

    /// Runs it in a process of its own, because memory that one leaves behind would help or
    /// hinder the next, and the peak would be that of the largest.
    fn apart(&self) -> Result<Measurement, Failure> {
        let failed = |error| Failure::System("start a process for a measurement", error);
        let mut command = program::again();
        command.args(self.words()).args(["--json", "--until-input-ends"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        // Closing this would end the process.
        let input = child.stdin.take();
        let output = child.wait_with_output().map_err(failed)?;
        drop(input);
        let found: Option<[Measurement; 1]> = serde_json::from_slice(&output.stdout).ok();
        match found {
            Some([measurement]) if output.status.success() => Ok(measurement),
            _ => Err(Failure::Measurement(format!(
                "the process that measured {} with {} threads failed ({}); what it said stands \
                 above",
                self.case.name, self.threads, output.status
            ))),
        }
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
