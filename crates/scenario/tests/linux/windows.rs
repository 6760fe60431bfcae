//! Congestion windows over time, laid over each other: those of one flow in Linux, in `oracle/traces/windows-6.12.csv`, and
//! here. `oracle/distances/windows.csv` has how far apart they are, and `docs/linux.md` two pictures.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::describe::{self, WINDOWS};
use super::distance::short;
use super::traces::{self, Situation};
use super::{measure, picture};

const TRACES: &str = "windows-6.12.csv";

/// Samples a second, and the first that are not compared: the start, in which Linux has HyStart and the RFCs HyStart++.
const PER_SECOND: usize = 10;
const START: usize = 5 * PER_SECOND;

/// Part of a window by which it is smaller in the next sample if it was reduced.
const REDUCED: f64 = 0.1;

/// Windows in packets, every 100 ms.
pub struct Windows {
    pub situation: Situation,
    pub linux: Vec<f64>,
    pub floodway: Vec<f64>,
}

/// How far they are apart.
struct Apart {
    means: [f64; 2],
    /// Mean difference of two samples of the same time, and of the same rank by size, as a part of Linux's mean.
    same_time: f64,
    same_rank: f64,
    reductions: [usize; 2],
}

fn all() -> Vec<Windows> {
    let both = traces::windows(TRACES).into_iter().map(|(situation, linux)| {
        let text = describe::scenario(&situation, &traces::arguments(&situation), &WINDOWS);
        let outcome = measure::run(&text, &[], 0);
        let windows = outcome.table("deliveries").f64s("window_bytes");
        let floodway: Vec<f64> = windows.iter().map(|bytes| bytes / 1_448.0).collect();
        // At the very end Linux may have a sample less.
        let count = linux.len().min(floodway.len());
        assert!(count >= situation.seconds as usize * PER_SECOND - 1, "{situation:?}");
        Windows { situation, linux: linux[..count].to_vec(), floodway: floodway[..count].to_vec() }
    });
    both.collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

fn difference(one: &[f64], other: &[f64]) -> f64 {
    mean(one.iter().zip(other).map(|(one, other)| (one - other).abs()))
        / mean(one.iter().copied())
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn apart(windows: &Windows) -> Apart {
    let [linux, floodway] = [&windows.linux, &windows.floodway].map(|all| &all[START..]);
    let reductions = |of: &[f64]| {
        of.windows(2).filter(|pair| pair[1] < (1.0 - REDUCED) * pair[0]).count()
    };
    Apart {
        means: [linux, floodway].map(|all| mean(all.iter().copied())),
        same_time: difference(linux, floodway),
        same_rank: difference(&sorted(linux), &sorted(floodway)),
        reductions: [linux, floodway].map(reductions),
    }
}

fn name(situation: &Situation) -> String {
    let flows = &situation.bulk[0];
    format!("{} Mb/s, {} ms, {}, {}", situation.rate, situation.rtt_ms, situation.qdisc, flows.control)
}

fn list(all: &[Windows]) -> String {
    let mut text = "# Congestion windows of one flow in Linux and here from 5 s on: means in packets, mean differences as part of\n\
                    # Linux's mean, and how often the window was reduced.\n\
                    # Made by: BLESS=1 cargo test -p floodway-scenario linux\n\
                    rate,rtt_ms,qdisc,control,linux,floodway,same_time,same_rank,reductions_linux,reductions_floodway\n"
        .to_owned();
    for windows in all {
        let Apart { means, same_time, same_rank, reductions } = apart(windows);
        let Situation { rate, rtt_ms, qdisc, bulk, .. } = &windows.situation;
        writeln!(
            text,
            "{rate},{rtt_ms},{qdisc},{},{},{},{same_time:.3},{same_rank:.3},{},{}",
            bulk[0].control,
            short(means[0]),
            short(means[1]),
            reductions[0],
            reductions[1]
        )
        .unwrap();
    }
    text
}

fn distances() -> PathBuf {
    traces::folder().join("distances/windows.csv")
}

/// The table of the page.
pub fn table() -> String {
    let mut text = "| link | queue | flow | mean window (packets) | difference at the same time (%) | of the same rank (%) | reductions |\n\
                    | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for row in traces::rows(&distances()) {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        writeln!(
            text,
            "| {} Mb/s, {} ms | {} | {} | {:.1} / {:.1} | {:.1} | {:.1} | {} / {} |",
            row["rate"],
            row["rtt_ms"],
            row["qdisc"],
            row["control"],
            number("linux"),
            number("floodway"),
            100.0 * number("same_time"),
            100.0 * number("same_rank"),
            row["reductions_linux"],
            row["reductions_floodway"]
        )
        .unwrap();
    }
    text
}

/// The two pictures, by the queue of their situations on the slowest link.
const PICTURES: [(&str, &str); 2] = [("fifo", "linux-windows-fifo.svg"), ("pie", "linux-windows-pie.svg")];

/// That the windows are those of the list and of the pictures; with `BLESS`, these are written.
#[test]
fn windows_over_time() {
    let all = all();
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    let mut files = vec![(distances(), list(&all))];
    for (queue, file) in PICTURES {
        let of = |windows: &&Windows| windows.situation.qdisc == queue && windows.situation.rate == 5.0;
        let panels: Vec<&Windows> = all.iter().filter(of).collect();
        let panels = panels.iter().map(|windows| {
            let lines = [windows.linux.as_slice(), &windows.floodway];
            (name(&windows.situation), lines)
        });
        files.push((images.join(file), picture::windows(&panels.collect::<Vec<_>>())));
    }
    for (path, text) in files {
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == text, "{} is not what follows from the windows", path.display());
    }
}
