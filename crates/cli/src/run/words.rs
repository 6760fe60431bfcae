//! What a run says of itself.

use std::path::Path;

use floodway_model::Instant;
use floodway_report::manifest::hex;
use floodway_report::words::{large, time};
use floodway_sim::Outcome;

use super::Cost;
use super::queue::Job;

/// A moment in the unit of the tables.
pub fn nanoseconds(moment: Instant) -> f64 {
    moment.0 as f64 / 1e3
}

/// A line about a run that has ended.
pub fn finished(job: &Job, outcome: &Outcome) -> String {
    let seconds = outcome.wall.as_secs_f64();
    format!(
        "{} {}: {} simulated in {}, {} packet-hops a second, {}, fingerprint {}\n",
        job.variant.name,
        job.replication,
        time(nanoseconds(outcome.simulated)),
        time(seconds * 1e9),
        large(outcome.hops as f64 / seconds),
        outcome.stop.name(),
        hex(outcome.fingerprint),
    )
}

/// What follows the table: the cost in simulated time and cores, and where everything is.
pub fn closing(cost: &Cost, path: &Path) -> String {
    let mut text = String::new();
    if cost.runs > 0 {
        let runs = if cost.runs == 1 { "1 run".to_owned() } else { format!("{} runs", cost.runs) };
        text += &format!(
            "{runs} of {} simulated time in all; {} packet-hops a second and core\n",
            time(cost.simulated_ns),
            large(cost.hops as f64 / cost.thread_s),
        );
    }
    text + &format!(
        "results in {}; open {} in a browser\n",
        path.display(),
        path.join("report.html").display()
    )
}

/// What is left of an experiment that was cut short.
pub fn interrupted(whole: usize, of: usize, path: &Path) -> String {
    format!(
        "interrupted: {whole} of {of} runs ended by themselves; what there is is kept in {}, and \
         the same command with `--force` starts again",
        path.display()
    )
}
