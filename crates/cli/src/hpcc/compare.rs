//! `floodway compare hpcc`.

use floodway_scenario::fct::{self, Comparison, Completion, Flow, Pair};
use serde_json::{Value, json};

use super::flows;
use crate::failure::Failure;
use crate::options::CompareHpccOptions;
use crate::output;

/// Compares a run with the results of another simulator.
pub fn compare(options: &CompareHpccOptions) -> Result<(), Failure> {
    let file = fct::load(&options.file)?;
    let flows = flows(&options.run)?;
    let found = fct::compare(&flows, &file, options.within);
    if found.pairs.is_empty()
        && found.unfinished.is_empty()
        && !file.is_empty()
        && !flows.is_empty()
    {
        return Err(Failure::Unknown(format!(
            "no flow of {} is one of the run: {} there and {} here; check that both are of the same \
             flows, that hosts have the same numbers, and that the scenario's `origin` is the time at \
             which they begin in the file",
            options.file.display(),
            first(&file[0]),
            first_of_run(&flows[0])
        )));
    }
    let most = options.largest;
    if options.json {
        return output::print_json(&as_json(&found, most));
    }
    output::print(&text(&found, most))
}

fn first(one: &Completion) -> String {
    let Completion { src, dst, bytes, start_ns, .. } = one;
    format!("the first is {src} to {dst}, {bytes} B at {start_ns} ns")
}

fn first_of_run(flow: &Flow) -> String {
    let Flow { src, dst, bytes, start_ps, .. } = flow;
    format!("{src} to {dst}, {bytes} B at {} ns", *start_ps as f64 / 1e3)
}

fn percent(part: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

/// By how much a ratio is above or below one.
fn change(ratio: f64) -> String {
    format!("{:+.2} %", (ratio - 1.0) * 100.0)
}

fn text(found: &Comparison, most: usize) -> String {
    let count = found.pairs.len();
    let mut text = format!("{count} flows have completed in both\n");
    for (number, what) in [
        (found.unfinished.len(), "have completed in the file only: they did not end in the run"),
        (found.only_in_file.len(), "are in the file only: the run has no such flow"),
        (found.only_in_run.len(), "have completed in the run only"),
    ] {
        if number > 0 {
            text += &format!("{number} flows {what}\n");
        }
    }
    let (Some(median), Some(farthest)) = (found.median(), found.farthest(1).first().copied())
    else {
        return text;
    };
    let quantile = |part| found.quantile(part).map_or(String::new(), change);
    text += "\nCompletion time in the run relative to the file\n";
    for (name, value) in [
        (
            "equal to 1 ns",
            format!("{} of {count}, {}", found.equal(), percent(found.equal(), count)),
        ),
        (
            "within 1 %",
            format!("{} of {count}, {}", found.within(0.01), percent(found.within(0.01), count)),
        ),
        ("median", change(median)),
        ("1st and 99th percentile", format!("{}, {}", quantile(0.01), quantile(0.99))),
        ("10th and 90th percentile", format!("{}, {}", quantile(0.1), quantile(0.9))),
        ("worst", change(farthest.ratio)),
    ] {
        text += &format!("  {name:<24}  {value}\n");
    }
    let far: Vec<&Pair> =
        found.farthest(most).into_iter().filter(|pair| !pair.is_equal()).collect();
    if far.is_empty() {
        return text;
    }
    text += "\nLargest differences\n";
    text += &format!(
        "  {:>8}  {:>6}  {:>6}  {:>12}  {:>16}  {:>14}  {:>14}  {:>10}\n",
        "flow", "source", "dest.", "bytes", "start ns", "run ns", "file ns", "change"
    );
    for pair in far {
        let Pair { run, file, ratio } = pair;
        text += &format!(
            "  {:>8}  {:>6}  {:>6}  {:>12}  {:>16}  {:>14.3}  {:>14}  {:>10}\n",
            run.number,
            run.src,
            run.dst,
            run.bytes,
            file.start_ns,
            run.fct_ns.unwrap_or(f64::NAN),
            file.fct_ns,
            change(*ratio)
        );
    }
    text
}

fn as_json(found: &Comparison, most: usize) -> Value {
    let largest = found.farthest(most).into_iter().map(|pair| {
        json!({
            "flow": pair.run.number,
            "src": pair.run.src,
            "dst": pair.run.dst,
            "bytes": pair.run.bytes,
            "start_ns": pair.file.start_ns,
            "run_fct_ns": pair.run.fct_ns,
            "file_fct_ns": pair.file.fct_ns,
            "ratio": pair.ratio,
        })
    });
    json!({
        "in_both": found.pairs.len(),
        "unfinished_in_run": found.unfinished.len(),
        "only_in_file": found.only_in_file.len(),
        "only_in_run": found.only_in_run.len(),
        "equal": found.equal(),
        "within_1_percent": found.within(0.01),
        "median_ratio": found.median(),
        "p01_ratio": found.quantile(0.01),
        "p10_ratio": found.quantile(0.1),
        "p90_ratio": found.quantile(0.9),
        "p99_ratio": found.quantile(0.99),
        "worst_ratio": found.farthest(1).first().map(|pair| pair.ratio),
        "largest": largest.collect::<Vec<_>>(),
    })
}
