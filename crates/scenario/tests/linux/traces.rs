//! What was measured in Linux: the rows of a file in `oracle/traces`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bulk flows of one congestion control.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bulk {
    pub control: String,
    pub count: u64,
    pub ecn: bool,
}

/// A link, its queue, and flows.
#[derive(Clone, Debug)]
pub struct Situation {
    /// Its place in the file.
    pub place: usize,
    pub set: String,
    /// In Mb/s.
    pub rate: f64,
    pub rtt_ms: f64,
    pub qdisc: String,
    pub bulk: Vec<Bulk>,
    /// How long it takes, in seconds, and how much of that is not measured.
    pub seconds: u64,
    pub warmup: u64,
}

/// What is compared, as means over runs, by name: `goodput` in b/s, `share` of the first kind of flows, `marked`, `lost`
/// and `retransmitted` packets a second, and `delay`s in ns.
pub type Quantities = BTreeMap<&'static str, f64>;

pub const QUANTITIES: [&str; 10] = [
    "goodput",
    "share",
    "marked",
    "lost",
    "retransmitted",
    "delay",
    "delay_p10",
    "delay_p50",
    "delay_p90",
    "delay_p99",
];

/// With two queues, the delays of the first kind of flows, which are classic, and of the second.
pub const OF_QUEUES: [&str; 4] = ["classic_p50", "low_p50", "classic_p99", "low_p99"];

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracle")
}

/// The rows of a file with comments, by the names of the columns.
pub fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(','));
    let names: Vec<&str> = lines.next().unwrap().collect();
    lines
        .map(|values| {
            names.iter().map(|&name| name.to_owned()).zip(values.map(str::to_owned)).collect()
        })
        .collect()
}

fn bulk(text: &str) -> Vec<Bulk> {
    let kinds = text.split(" + ").map(|kind| {
        let words: Vec<&str> = kind.split(' ').collect();
        Bulk {
            control: words[0].to_owned(),
            count: words[1].parse().unwrap(),
            ecn: words.len() > 2,
        }
    });
    kinds.collect()
}

/// The situations of a file, each with the mean over its runs.
pub fn load(name: &str) -> Vec<(Situation, Quantities)> {
    let mut found: Vec<(Situation, Vec<Quantities>)> = Vec::new();
    let mut last = String::new();
    for row in rows(&folder().join("traces").join(name)) {
        let key = ["set", "rate", "rtt", "qdisc", "bulk"].map(|name| row[name].clone()).join(",");
        if key != last {
            found.push((situation(&row, found.len()), Vec::new()));
            last = key;
        }
        let (situation, runs) = found.last_mut().unwrap();
        runs.push(quantities(situation, &row));
    }
    found.into_iter().map(|(situation, runs)| (situation, mean(&runs))).collect()
}

/// The situations of a file of windows, each with the congestion windows of its only flow, in packets, and with the packets
/// that were sent and not acknowledged, every 100 ms.
pub fn windows(name: &str) -> Vec<(Situation, [Vec<f64>; 2])> {
    let rows = rows(&folder().join("traces").join(name));
    let each = rows.iter().enumerate().map(|(place, row)| {
        let series = |name: &str| row[name].split(' ').map(|each| each.parse().unwrap()).collect();
        (situation(row, place), ["windows", "in_flight"].map(series))
    });
    each.collect()
}

fn situation(row: &BTreeMap<String, String>, place: usize) -> Situation {
    Situation {
        place,
        set: row["set"].clone(),
        rate: row["rate"].parse().unwrap(),
        rtt_ms: row["rtt"].trim_end_matches("ms").parse().unwrap(),
        qdisc: row["qdisc"].clone(),
        bulk: bulk(&row["bulk"]),
        seconds: row["seconds"].parse().unwrap(),
        warmup: row["warmup"].parse().unwrap(),
    }
}

fn quantities(situation: &Situation, row: &BTreeMap<String, String>) -> Quantities {
    let number = |name: &str| -> f64 { row[name].parse().unwrap() };
    let kinds: Vec<f64> = row["rates"]
        .split(" + ")
        .map(|kind| kind.split(' ').map(|rate| rate.parse::<f64>().unwrap()).sum())
        .collect();
    let time = (situation.seconds - situation.warmup) as f64;
    let values = [
        number("bps"),
        kinds[0] / kinds.iter().sum::<f64>(),
        number("marked") / time,
        number("lost") / time,
        number("retransmitted") / time,
        number("mean_ns"),
        number("p10_ns"),
        number("p50_ns"),
        number("p90_ns"),
        number("p99_ns"),
    ];
    let mut found: Quantities = QUANTITIES.into_iter().zip(values).collect();
    if !row["p50s_ns"].is_empty() {
        let each =
            ["p50s_ns", "p99s_ns"].map(|name| row[name].split(" + ").map(|ns| ns.parse().unwrap()));
        found.extend(OF_QUEUES.into_iter().zip(each.into_iter().flatten()));
    }
    found
}

pub fn mean(runs: &[Quantities]) -> Quantities {
    let of = |name| runs.iter().map(|run| run[name]).sum::<f64>() / runs.len() as f64;
    runs[0].keys().map(|&name| (name, of(name))).collect()
}

/// The arguments of `tc` for the queue of a situation, as `oracle/matrix` writes them.
pub fn arguments(situation: &Situation) -> String {
    let disciplines = rows(&folder().join("disciplines.csv"));
    let row = disciplines.iter().find(|row| row["name"] == situation.qdisc);
    let mut text =
        row.unwrap_or_else(|| panic!("no discipline {}", situation.qdisc))["arguments"].clone();
    let amount = |ms: u64| (situation.rate * 125.0) as u64 * ms;
    for ms in [24, 50, 72, 250] {
        text = text.replace(&format!("{{{ms}ms}}"), &amount(ms).to_string());
    }
    let burst = ((2 * amount(24) + amount(72)) * 11).div_ceil(30_000);
    text.replace("{burst}", &burst.to_string())
        .replace("{rate}", &format!("{}mbit", situation.rate))
}
