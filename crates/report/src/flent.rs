//! The data file of flent, format version 4 (`flent/resultset.py` of flent 2.3.0, by Toke Høiland-Jørgensen): JSON in
//! gzip, with metadata, series at common times (`x_values`, `results`), and the values as they were measured
//! (`raw_values`).
//!
//! flent's plots name the series that they draw, so a file has the name of one of its tests and the series of that:
//! `rrul` if the flows are of the four classes of that test, one in each direction and class, and otherwise
//! `rrul_be_nflows`, whose flows have numbers.

use std::collections::BTreeMap;
use std::fmt;

use floodway_model::Table;
use floodway_model::tables::{deliveries, flows};
use miniz_oxide::deflate::compress_to_vec;
use serde_json::{Map, Value, json};

use crate::directory::{self, Results};
use crate::manifest::Record;
use crate::pings::{Direction, Part, Pings};
use crate::shapes::deliveries as delivered;

/// The version of the form.
const VERSION: u32 = 4;

/// The classes of the test `rrul`.
const CLASSES: [&str; 4] = ["BE", "BK", "CS5", "EF"];

/// Why a run has no such file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There are no pings.
    NoPings,
    /// It was not sampled what flows deliver.
    NoSamples,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPings => {
                "the run has no pings, which flent plots beside what flows get; add [workload.ping] to the scenario, \
                 or begin with `floodway new rrul` (a run whose tables are only CSV has to be made again with \
                 `--format parquet`)"
            }
            Self::NoSamples => {
                "the run has no samples of what its flows deliver; write flow_samples = \"200ms\" in the scenario, and \
                 run it again"
            }
        })
    }
}

/// What a file says of its run beside the numbers.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The scenario and the variant, for the title.
    pub title: &'a str,
    /// By what it was made.
    pub note: &'a str,
    /// The names of the workloads.
    pub workloads: &'a [String],
    /// When it was run, UTC, RFC 3339 to the second.
    pub started: &'a str,
    /// The name of the file.
    pub file: &'a str,
}

/// A series: what was measured and when, in seconds.
struct Series {
    /// Its unit.
    unit: &'static str,
    /// What it is called in the scenario.
    name: String,
    points: Vec<(f64, f64)>,
}

/// A run as the JSON of such a file.
pub fn json(about: About<'_>, tables: &[Table]) -> Result<Value, Unfit> {
    let pings = Pings::of(tables).ok_or(Unfit::NoPings)?;
    let samples = deliveries::View::of(tables).filter(|samples| samples.rows() > 0);
    let samples = delivered(samples.ok_or(Unfit::NoSamples)?);
    let mut times: Vec<f64> = samples.values().flatten().map(|of| of.0 / 1e9).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let step = times.first().copied().unwrap_or(1.0);
    let mut all: BTreeMap<String, Series> = BTreeMap::new();
    let is_rrul = is_rrul(&pings, about.workloads);
    let mut streams: BTreeMap<Direction, u32> = BTreeMap::new();
    for (flow, of) in samples {
        let Some((workload, direction)) = pings.flows.get(&flow) else { continue };
        let number = streams.entry(*direction).and_modify(|number| *number += 1).or_insert(1);
        let name = called(about.workloads, *workload);
        let class = if is_rrul { class(&name).to_owned() } else { format!("BE::{number}") };
        let points = rates(&of, span(tables, flow));
        let series = Series { unit: "Mbits/s", name, points };
        all.insert(format!("TCP {} {class}", direction.key()), series);
    }
    let mut by_workload: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for ping in &pings.all {
        let time = ping.time(Part::RoundTrip);
        let points = by_workload.entry(ping.workload).or_default();
        if !time.is_nan() {
            points.push(((ping.sent_ns + time) / 1e9, time / 1e6));
        }
    }
    for (place, (workload, points)) in by_workload.into_iter().enumerate() {
        let name = called(about.workloads, workload);
        // The plots of the other test have a ping of this name only.
        let class = if is_rrul || place > 0 { class(&name) } else { "BE" };
        all.insert(format!("Ping (ms) UDP {class}"), Series { unit: "ms", name, points });
    }
    let results = results(&all, &times);
    let epoch = seconds(about.started).unwrap_or(0.0);
    let raw = |series: &Series| -> Vec<Value> {
        series
            .points
            .iter()
            .map(|(time, value)| json!({ "t": epoch + time, "val": value }))
            .collect()
    };
    let meta = |series: &Series| {
        let sum: f64 = series.points.iter().map(|point| point.1).sum();
        let mean = sum / series.points.len().max(1) as f64;
        json!({ "UNITS": series.unit, "ID": series.name, "MEAN_VALUE": mean })
    };
    let each = |of: &dyn Fn(&Series) -> Value| -> Map<String, Value> {
        all.iter().map(|(name, series)| (name.clone(), of(series))).collect()
    };
    let when = format!("{}.000000Z", about.started.get(..19).unwrap_or("1970-01-01T00:00:00"));
    let total = times.last().copied().unwrap_or(0.0);
    let load = pings.load.1.min(total * 1e9) - pings.load.0.max(0.0);
    let stream = |direction| streams.get(&direction).copied().unwrap_or(0).to_string();
    Ok(json!({
        "metadata": {
            "NAME": if is_rrul { "rrul" } else { "rrul_be_nflows" },
            "TITLE": about.title,
            "NOTE": about.note,
            "HOST": "floodway",
            "HOSTS": ["floodway"],
            "LOCAL_HOST": "floodway",
            "IP_VERSION": 4,
            "LENGTH": (load / 1e9).round(),
            "TOTAL_LENGTH": total,
            "STEP_SIZE": step,
            "TIME": when,
            "T0": when,
            "DATA_FILENAME": about.file,
            "TEST_PARAMETERS": {
                "download_streams": stream(Direction::Download),
                "upload_streams": stream(Direction::Upload),
            },
            "SERIES_META": each(&meta),
        },
        "version": VERSION,
        "x_values": times,
        "results": results,
        "raw_values": each(&|series| raw(series).into()),
    }))
}

/// Why a stored run has no such file.
#[derive(Debug)]
pub enum Failed {
    /// Its tables cannot be read.
    Tables(directory::Error),
    /// They are not enough.
    Unfit(Unfit),
}

/// The tables that a file is made from.
const TABLES: [&str; 3] = ["flows", "pings", "deliveries"];

/// A stored run as the JSON of a file of this name.
pub fn of_stored(results: &Results, record: &Record, file: &str) -> Result<Value, Failed> {
    let manifest = &results.manifest;
    // A run without pings has no such table in results of earlier versions.
    let has = |name: &&&str| record.tables.iter().any(|table| table.name == **name);
    let tables: Result<Vec<Table>, _> =
        TABLES.iter().filter(has).map(|name| results.table(record, name)).collect();
    let about = About {
        title: &format!("{}: {}", manifest.scenario.name, record.variant),
        note: &format!("simulated by floodway {}", manifest.floodway),
        workloads: &manifest.workloads,
        started: &manifest.started,
        file,
    };
    json(about, &tables.map_err(Failed::Tables)?).map_err(Failed::Unfit)
}

/// The file.
pub fn file(json: &Value) -> Vec<u8> {
    gzip(json.to_string().as_bytes())
}

/// Whether the flows are of the test `rrul`: at most one for each class and direction.
fn is_rrul(pings: &Pings, workloads: &[String]) -> bool {
    let mut seen = Vec::new();
    pings.flows.values().all(|(workload, direction)| {
        let name = called(workloads, *workload);
        let one = (class(&name).to_owned(), *direction);
        let fits = CLASSES.contains(&class(&name)) && !seen.contains(&one);
        seen.push(one);
        fits
    })
}

/// What a workload is called.
fn called(workloads: &[String], number: u64) -> String {
    let name = workloads.get(number as usize).filter(|name| !name.is_empty());
    name.cloned().unwrap_or_else(|| format!("workload {number}"))
}

/// The class in a name: of `download-BE` what follows the hyphen.
fn class(name: &str) -> &str {
    let kinds = ["download-", "upload-", "ping-"];
    kinds.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name)
}

/// From when to when a flow sends, in seconds.
fn span(tables: &[Table], flow: u64) -> (f64, f64) {
    let span = flows::View::of(tables).and_then(|flows| {
        let row = flows.flow.iter().position(|of| of == flow)?;
        Some((flows.start_ns.at(row) / 1e9, flows.stop_ns.at(row) / 1e9))
    });
    let (start, stop) = span.unwrap_or((0.0, f64::INFINITY));
    (start, if stop.is_nan() { f64::INFINITY } else { stop })
}

/// The rate between each two samples while a flow sends: when the second was taken, and megabits per second.
fn rates(samples: &[(f64, u64)], (start, stop): (f64, f64)) -> Vec<(f64, f64)> {
    let mut before = (0.0, 0);
    let mut points = Vec::new();
    for &(ns, bytes) in samples {
        let (from, time) = (before.0, ns / 1e9);
        if time > start && from < stop && time > from {
            points.push((time, (bytes - before.1) as f64 * 8e-6 / (time - from)));
        }
        before = (time, bytes);
    }
    points
}

/// All series at these times, which are null before a series begins and after it ends; with the averages and sums
/// that flent computes.
fn results(all: &BTreeMap<String, Series>, times: &[f64]) -> Map<String, Value> {
    let mut results: BTreeMap<String, Vec<Option<f64>>> = all
        .iter()
        .map(|(name, series)| {
            let at = |time: &f64| interpolated(&series.points, *time);
            (name.clone(), times.iter().map(at).collect())
        })
        .collect();
    let groups = [
        ("TCP download ", Some("TCP download avg"), Some("TCP download sum")),
        ("TCP upload ", Some("TCP upload avg"), Some("TCP upload sum")),
        ("TCP ", None, Some("TCP totals")),
        ("Ping (ms) ", Some("Ping (ms) avg"), None),
    ];
    for (prefix, average, sum) in groups {
        let of: Vec<Vec<Option<f64>>> = all
            .keys()
            .filter(|name| name.starts_with(prefix))
            .map(|name| results[name].clone())
            .collect();
        let at = |place: usize| {
            let values: Vec<f64> = of.iter().filter_map(|series| series[place]).collect();
            (!values.is_empty()).then(|| (values.iter().sum::<f64>(), values.len() as f64))
        };
        let sums: Vec<Option<(f64, f64)>> = (0..times.len()).map(at).collect();
        if let Some(name) = average {
            let mean = |of: &Option<(f64, f64)>| of.map(|(sum, count)| sum / count);
            results.insert(name.to_owned(), sums.iter().map(mean).collect());
        }
        if let Some(name) = sum {
            results.insert(name.to_owned(), sums.iter().map(|of| of.map(|of| of.0)).collect());
        }
    }
    results.into_iter().map(|(name, values)| (name, json!(values))).collect()
}

/// A series at a time, between the two points around it, as flent interpolates.
fn interpolated(points: &[(f64, f64)], time: f64) -> Option<f64> {
    let after = points.partition_point(|point| point.0 < time);
    let (x, y) = *points.get(after)?;
    if x == time {
        return Some(y);
    }
    let (before, low) = *points.get(after.checked_sub(1)?)?;
    Some(low + (y - low) * (time - before) / (x - before))
}

/// Seconds since 1970 of a time in UTC like 2026-11-27T02:16:40Z.
fn seconds(text: &str) -> Option<f64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    // Years that begin in March, so that a leap day is the last day of one; 153 days are five months.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) as f64)
}

/// Bytes in one member of gzip (RFC 1952), without a name or a time.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(compress_to_vec(bytes, 6));
    out.extend(crc32(bytes).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// The checksum of gzip (RFC 1952, section 8).
fn crc32(bytes: &[u8]) -> u32 {
    let shifted = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shifted(crc));
    !bytes.iter().fold(!0, byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    fn tables() -> Vec<Table> {
        vec![
            complete(
                Table::new("flows", "")
                    .u64("flow", "", vec![0, 1])
                    .u64("workload", "", vec![0, 1])
                    .u64("src", "", vec![3, 7])
                    .u64("dst", "", vec![7, 3])
                    .u64("bytes", "", vec![0, 0])
                    .f64("start_ns", "", vec![1e9, 1e9])
                    .f64("stop_ns", "", vec![3e9, f64::NAN]),
            ),
            complete(
                Table::new("deliveries", "")
                    .f64("time_ns", "", [1e9, 2e9, 3e9, 4e9].repeat(2))
                    .u64("flow", "", [[0; 4], [1; 4]].concat())
                    .u64(
                        "delivered_bytes",
                        "",
                        vec![0, 1_000_000, 3_000_000, 3_000_000, 0, 0, 500_000, 500_000],
                    ),
            ),
            complete(
                Table::new("pings", "")
                    .u64("workload", "", vec![2; 4])
                    .u64("ping", "", (0..4).collect())
                    .u64("client", "", vec![7; 4])
                    .u64("server", "", vec![3; 4])
                    .f64("sent_ns", "", vec![0.49e9, 1.49e9, 2.49e9, 3.48e9])
                    .f64("up_ns", "", vec![0.0; 4])
                    .f64("down_ns", "", vec![0.0; 4])
                    .f64("rtt_ns", "", vec![10e6, 10e6, f64::NAN, 20e6]),
            ),
        ]
    }

    fn of(workloads: [&str; 3]) -> Value {
        let workloads = workloads.map(str::to_owned);
        let about = About {
            title: "line: fifo",
            note: "by hand",
            workloads: &workloads,
            started: "2026-11-27T02:16:40Z",
            file: "x.flent.gz",
        };
        json(about, &tables()).unwrap()
    }

    #[test]
    fn series_by_hand() {
        let file = of(["download-BE", "upload-EF", "ping-BE"]);
        assert_eq!((&file["version"], &file["metadata"]["NAME"]), (&json!(4), &json!("rrul")));
        assert_eq!(file["x_values"], json!([1.0, 2.0, 3.0, 4.0]));
        let results = &file["results"];
        // A megabyte in a second is 8 Mb/s. What is sent last arrives when the flow has stopped.
        assert_eq!(results["TCP download BE"], json!([null, 8.0, 16.0, null]));
        assert_eq!(results["TCP upload EF"], json!([null, 0.0, 4.0, 0.0]));
        assert_eq!(results["TCP totals"], json!([null, 8.0, 20.0, 0.0]));
        assert_eq!(results["TCP upload avg"], results["TCP upload EF"]);
        // Echoes at 0.5, 1.5 and 3.5 s; at 2 s a quarter of the way from 10 to 20 ms.
        assert_eq!(results["Ping (ms) UDP BE"], json!([10.0, 12.5, 17.5, null]));
        assert_eq!(results["Ping (ms) avg"], results["Ping (ms) UDP BE"]);
        // 2026-11-27 is day 20784 after 1970-01-01.
        let epoch = 20_784.0 * 86_400.0 + 2.0 * 3_600.0 + 16.0 * 60.0 + 40.0;
        let raw = file["raw_values"]["Ping (ms) UDP BE"].as_array().unwrap();
        assert_eq!(raw.len(), 3);
        assert_eq!(raw[2], json!({ "t": epoch + 3.5, "val": 20.0 }));
        assert_eq!(file["metadata"]["T0"], "2026-11-27T02:16:40.000000Z");
    }

    #[test]
    fn other_flows_have_numbers() {
        let file = of(["film", "backup", ""]);
        assert_eq!(file["metadata"]["NAME"], "rrul_be_nflows");
        assert_eq!(file["results"]["TCP download BE::1"], json!([null, 8.0, 16.0, null]));
        assert_eq!(file["metadata"]["SERIES_META"]["TCP upload BE::1"]["ID"], "backup");
        assert_eq!(file["results"]["Ping (ms) UDP BE"], json!([10.0, 12.5, 17.5, null]));
        assert_eq!(file["metadata"]["TEST_PARAMETERS"]["upload_streams"], "1");
    }

    #[test]
    fn what_is_missing_is_named() {
        let about = About { title: "", note: "", workloads: &[], started: "", file: "" };
        assert_eq!(json(about, &tables()[..2]), Err(Unfit::NoPings));
        assert_eq!(json(about, &tables()[2..]), Err(Unfit::NoSamples));
    }

    /// The check value of the CRC's catalogs, and of the empty text; a file that unpacks to what was packed.
    #[test]
    fn files_are_gzip() {
        assert_eq!((crc32(b"123456789"), crc32(b"")), (0xcbf4_3926, 0));
        let text = b"flent ".repeat(1_000);
        let packed = gzip(&text);
        let deflated = &packed[10..packed.len() - 8];
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(deflated).unwrap(), text);
        assert_eq!(packed[packed.len() - 4..], 6_000u32.to_le_bytes());
    }
}
