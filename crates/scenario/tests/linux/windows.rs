//! Windows over time: packets of one flow that were sent and not acknowledged, in Linux, in `oracle/traces/windows-6.12.csv`,
//! and here. `oracle/distances/windows-6.12.csv` has how far apart they are, and `docs/linux.md` pictures of both.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use floodway_report::chart::{Axis, Line, Lines, Sheet};

use super::distance::short;
use super::measure;
use super::traces::{self, Situation};

const FILE: &str = "windows-6.12.csv";

/// Samples a second.
const PER_SECOND: usize = 10;

/// The part of a window by which it is smaller after a reduction at least. DCTCP has smaller ones, which are not counted.
const REDUCED: f64 = 0.15;

/// Packets in flight every 100 ms, and the congestion window of Linux.
struct Windows {
    situation: Situation,
    congestion: Vec<f64>,
    linux: Vec<f64>,
    floodway: Vec<f64>,
}

/// What is compared of them: the mean, the extremes that the window is beyond in a tenth of the time each, and the number of
/// reductions.
const QUANTITIES: [&str; 4] = ["mean", "p10", "p90", "reductions"];

fn all() -> Vec<Windows> {
    let both = traces::windows(FILE).into_iter().map(|(situation, [congestion, linux])| {
        let floodway = measure::in_flight(&situation);
        // At the very end Linux may have a sample less.
        assert!(linux.len() + 1 >= floodway.len(), "{situation:?}");
        Windows { situation, congestion, linux, floodway }
    });
    both.collect()
}

/// The quantities of the measured interval.
fn quantities(situation: &Situation, windows: &[f64]) -> [f64; 4] {
    let measured = &windows[situation.warmup as usize * PER_SECOND..];
    let mut sorted = measured.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    [mean, quantile(0.1), quantile(0.9), reductions(measured) as f64]
}

/// How often the window falls to less than its last highest value by the part that counts. A recovery in which the window is
/// smaller still for some samples is one reduction: the next one begins from where it has grown again.
fn reductions(windows: &[f64]) -> usize {
    let (mut highest, mut lowest, mut falls, mut count) = (windows[0], windows[0], false, 0);
    for &window in windows {
        if falls {
            lowest = lowest.min(window);
            if window > lowest / (1.0 - REDUCED) {
                (falls, highest) = (false, window);
            }
        } else {
            highest = highest.max(window);
            if window < (1.0 - REDUCED) * highest {
                (falls, lowest, count) = (true, window, count + 1);
            }
        }
    }
    count
}

/// The tolerance: 5 %, as of delays, but at least one packet, because Linux has whole ones, or one reduction, which may be at an
/// end of the measured interval.
fn tolerance(linux: f64) -> f64 {
    (0.05 * linux).max(1.0)
}

/// What is beyond the tolerance, by queue, congestion control and quantity; `docs/linux.md` says why.
const FAR: [[&str; 3]; 3] =
    [["fifo", "cubic", "reductions"], ["pie", "cubic", "p10"], ["pie", "cubic", "p90"]];

/// That nothing else in the list is beyond the tolerance.
#[test]
fn windows_are_within_the_tolerance() {
    let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
    let is_far = |row: &&BTreeMap<String, String>| {
        (number(row, "linux") - number(row, "floodway")).abs() > number(row, "tolerance")
    };
    let rows = traces::rows(&distances());
    let far = rows.iter().filter(is_far);
    let far: Vec<_> =
        far.map(|row| ["qdisc", "control", "quantity"].map(|name| row[name].as_str())).collect();
    assert_eq!((far, rows.len()), (FAR.to_vec(), 32));
}

fn list(all: &[Windows]) -> String {
    let mut text =
        "# Packets of one flow in flight in Linux and here, and how often they were reduced.\n\
                    # Made by: BLESS=1 cargo test -p floodway-scenario linux\n\
                    rate,rtt_ms,qdisc,control,quantity,linux,floodway,tolerance\n"
            .to_owned();
    for Windows { situation, linux, floodway, .. } in all {
        let Situation { rate, rtt_ms, qdisc, bulk, .. } = situation;
        let both = [linux, floodway].map(|windows| quantities(situation, windows));
        for (at, quantity) in QUANTITIES.iter().enumerate() {
            let [linux, floodway] = [both[0][at], both[1][at]];
            let [l, f, t] = [linux, floodway, tolerance(linux)].map(short);
            writeln!(text, "{rate},{rtt_ms},{qdisc},{},{quantity},{l},{f},{t}", bulk[0].control)
                .unwrap();
        }
    }
    text
}

fn distances() -> PathBuf {
    traces::folder().join("distances").join(FILE)
}

/// The table of the page.
pub fn table() -> String {
    let rows = traces::rows(&distances());
    let mut text =
        "| link | queue | flow | mean | 10th percentile | 90th percentile | reductions |\n\
                    | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for row in rows.chunks(QUANTITIES.len()) {
        let first = &row[0];
        let place = ["rate", "rtt_ms", "qdisc", "control"].map(|name| first[name].as_str());
        write!(text, "| {} Mb/s, {} ms | {} | {} |", place[0], place[1], place[2], place[3])
            .unwrap();
        for quantity in row {
            let [linux, floodway, tolerance] = ["linux", "floodway", "tolerance"]
                .map(|name| quantity[name].parse::<f64>().unwrap());
            let bold = if (linux - floodway).abs() <= tolerance { "" } else { "**" };
            let digits = usize::from(quantity["quantity"] != "reductions");
            write!(text, " {bold}{linux:.digits$} / {floodway:.digits$}{bold} |").unwrap();
        }
        text.push('\n');
    }
    text
}

/// A chart for each situation, two in a row.
fn picture(all: &[Windows]) -> String {
    let chart = |Windows { situation, congestion, linux, floodway }: &Windows| {
        let heading = format!(
            "{}, {}, {} Mb/s, {} ms",
            situation.bulk[0].control, situation.qdisc, situation.rate, situation.rtt_ms
        );
        let line = |series: usize, windows: &[f64]| {
            let time = |n: usize| (n + 1) as f64 / PER_SECOND as f64;
            let points = windows.iter().enumerate().map(|(n, window)| (time(n), *window));
            Line { series, points: points.collect(), ..Line::default() }
        };
        let measured = [congestion, linux, floodway]
            .into_iter()
            .flat_map(|windows| &windows[situation.warmup as usize * PER_SECOND..]);
        // Slow start is higher, and not shown in full.
        let highest = 1.1 * measured.copied().fold(0.0, f64::max);
        let lines = Lines {
            title: format!("Packets of one flow in flight over time: {heading}"),
            heading,
            x: Axis::linear("time", "s").within(0.0, situation.seconds as f64),
            y: Axis::linear("packets", "").within(0.0, highest),
            lines: vec![line(2, congestion), line(0, linux), line(1, floodway)],
            height: 190.0,
            ..Lines::default()
        };
        lines.svg(460.0)
    };
    let sheet = Sheet {
        caption: "Packets of one flow in flight, in Linux 6.12 and in floodway".to_owned(),
        legend: [
            (0, "Linux 6.12, in flight"),
            (1, "floodway, in flight"),
            (2, "Linux 6.12, congestion window"),
        ]
        .map(|(series, name)| (series, name.to_owned()))
        .to_vec(),
        charts: all.iter().map(chart).collect(),
        columns: 2,
        ..Sheet::default()
    };
    sheet.svg()
}

/// That the windows are those of the list and of the picture; with `BLESS`, these are written.
#[test]
fn windows_over_time() {
    let all = all();
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images/linux-windows.svg");
    for (path, text) in [(distances(), list(&all)), (image, picture(&all))] {
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == text, "{} is not what follows from the windows", path.display());
    }
}

/// 10 packets grow to 20 and are halved, three times, with a sample of 6 in one recovery and small swings in one ascent.
#[test]
fn reductions_by_hand() {
    let windows = [
        10.0, 13.0, 16.0, 20.0, 6.0, 10.0, 13.0, 16.0, 15.0, 18.0, 20.0, 10.0, 10.0, 15.0, 20.0,
        10.0,
    ];
    assert_eq!(reductions(&windows), 3);
    assert_eq!(reductions(&[10.0, 9.0, 8.6, 9.0, 10.0]), 0);
    assert_eq!(reductions(&[10.0, 8.4, 10.0]), 1);
}
