//! What a run says of itself.

use std::path::Path;

use floodway_lab::{Cost, Done, Existing, How, capture};
use floodway_report::Run;
use floodway_report::directory::READABLE;
use floodway_report::manifest::{folder, hex};
use floodway_report::trace;
use floodway_report::words::{large, time};

use crate::output;

/// A line about a run that has ended.
pub fn finished(run: &Run) -> String {
    format!(
        "{} {}: {} simulated in {}, {} packet-hops a second, {}, fingerprint {}\n",
        run.variant,
        run.replication,
        time(run.simulated_ns),
        time(run.wall_s * 1e9),
        large(run.hops as f64 / run.wall_s),
        run.stop,
        hex(run.fingerprint),
    )
}

/// A line about a run that was there.
pub fn reused(run: &Run) -> String {
    let (variant, replication) = (run.variant, run.replication);
    let fingerprint = hex(run.fingerprint);
    format!("{variant} {replication}: there already, {}, fingerprint {fingerprint}\n", run.stop)
}

/// How much of an experiment is there before it goes on.
pub fn there(kept: usize, of: usize, name: Option<&str>) -> String {
    let label = name.map_or(String::new(), |name| format!("{name}: "));
    format!("{label}{kept} of {of} runs are there already")
}

/// What follows the table: the cost in simulated time and cores, and where everything is.
pub fn closing(cost: &Cost, path: &Path, (trace, captured): (Option<&str>, bool)) -> String {
    let mut text = String::new();
    if cost.runs > 0 {
        let runs = if cost.runs == 1 { "1 run".to_owned() } else { format!("{} runs", cost.runs) };
        text += &format!(
            "{runs} of {} simulated time in all; {} packet-hops a second and core\n",
            time(cost.simulated_ns),
            large(cost.hops as f64 / cost.thread_s),
        );
    }
    text += &format!(
        "results in {}; open {} in a browser\n",
        output::path(path),
        output::path(&path.join("report.html"))
    );
    if let Some(form) = trace.and_then(trace::named) {
        let file = trace::file(path, form, "*", 0);
        text += &format!("traces in {}; {}\n", output::path(&file), form.opened_with);
    }
    if captured {
        let file = path.join(folder("*", 0)).join(capture::NAME);
        text += &format!("captures in {}; open them with Wireshark\n", output::path(&file));
    }
    text
}

/// What is left of an experiment that was cut short, and how to go on with it.
pub fn interrupted(done: &Done, path: &Path, how: &How) -> String {
    let readable = how.formats.iter().any(|name| name == READABLE);
    let next = match how.existing {
        _ if how.kernels.is_some() => "the same command with `--force` starts again",
        Existing::Resume => "the same command goes on from there",
        _ if !readable => "the same command with `--force` starts again",
        Existing::Refuse => "the same command with `--resume` goes on from there",
        Existing::Replace => "the same command with `--resume` for `--force` goes on from there",
    };
    format!(
        "interrupted: {} of {} runs ended by themselves and are kept in {}; {next}",
        done.reused + done.simulated,
        done.runs,
        path.display()
    )
}
