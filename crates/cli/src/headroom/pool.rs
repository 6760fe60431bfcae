//! `floodway headroom --scenario`: how likely a pool of headroom overflows under the traffic of a scenario.

use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use floodway_lab::overflow::{
    Failed, Peaks, Replication, Risk, Size, peaks, replications, risk, safe_oversubscription,
};
use floodway_model::Bytes;
use floodway_report::statistics::{Proportion, Quotient};
use serde_json::{Value, json};

use super::{aligned, grouped};
use crate::failure::Failure;
use crate::options::Selection;
use crate::output;
use crate::selection::warn;

/// The pool of a scenario.
#[derive(Args, Debug)]
pub struct PoolOptions {
    /// Simulate a scenario instead, and estimate how likely a pool of headroom that all ports of a switch share
    /// overflows.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["table", "search", "save", "rate", "cable"])]
    pub scenario: Option<PathBuf>,
    /// Runs of the scenario, each with other traffic.
    #[arg(long, value_name = "N", default_value = "100", requires = "scenario", value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub replications: u32,
    /// Sizes of the pool in addition to those by N, separated by commas.
    #[arg(long, value_name = "SIZE", value_delimiter = ',', requires = "scenario")]
    pub pool: Vec<Bytes>,
    /// N of pools that are oversubscribed 1:N, separated by commas.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1,2,3,4,6,8,12,16",
        requires = "scenario"
    )]
    pub oversubscription: Vec<f64>,
    /// Only this variant. Default the first.
    #[arg(long, value_name = "NAME", requires = "scenario")]
    pub variant: Option<String>,
    /// Change a value of the scenario, as in `floodway run`; may be given several times.
    #[arg(long, value_name = "PATH=VALUE", requires = "scenario")]
    pub set: Vec<String>,
    /// The scaled-down version that the scenario's `[quick]` describes.
    #[arg(long, requires = "scenario")]
    pub quick: bool,
    /// Runs at the same time; results do not depend on it. Default one per core.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..), requires = "scenario")]
    pub threads: Option<u16>,
}

impl PoolOptions {
    /// Simulates the scenario of a file, and prints how likely pools overflow.
    pub fn run(&self, file: &Path, as_json: bool) -> Result<(), Failure> {
        if let Some(n) = self.oversubscription.iter().find(|n| !(1.0..=1e6).contains(*n)) {
            return Err(Failure::Unknown(format!(
                "a pool that is oversubscribed 1:{n}: write N from 1 to 1000000"
            )));
        }
        if self.pool.contains(&Bytes(0)) {
            let text = "a pool of 0B has no room for a frame: write a size above zero in --pool";
            return Err(Failure::Unknown(text.to_owned()));
        }
        let selection = Selection {
            file: file.to_owned(),
            set: self.set.clone(),
            variant: self.variant.iter().cloned().collect(),
            quick: self.quick,
        };
        let scenario = selection.load([])?;
        warn(scenario.warnings());
        let variant = selection.variants(&scenario)?[0];
        let seeds: Vec<u64> =
            (0..self.replications).map(|number| scenario.replication_seed(number)).collect();
        let threads = self.threads.map_or_else(floodway_lab::all_cores, usize::from);
        let all = replications(variant, &seeds, threads).map_err(|failed| match failed {
            Failed::NoHeadroom(why) => Failure::Unknown(format!("{}: {why}", output::path(file))),
            Failed::Violations(wrong) => Failure::Violations(wrong),
        })?;
        let has_own = all.iter().flat_map(|one| &one.switches).any(|of| of.pool_bytes.is_some());
        let own = has_own.then_some(Size::Own);
        let parts = self.oversubscription.iter().map(|&n| Size::Oversubscribed(n));
        let sizes = self.pool.iter().map(|size| Size::Bytes(size.0));
        let risks: Vec<Risk> =
            own.into_iter().chain(parts).chain(sizes).map(|size| risk(&all, size)).collect();
        let found = Found { all: &all, peaks: peaks(&all), risks: &risks };
        if as_json {
            let value = found.json(&scenario.name, &variant.name);
            return output::print_json(&value);
        }
        let name = match scenario.variants().len() {
            1 => scenario.name.clone(),
            _ => format!("{}, {}", scenario.name, variant.name),
        };
        output::print(&found.text(&name))
    }
}

/// What was found.
struct Found<'a> {
    all: &'a [Replication],
    peaks: Peaks,
    risks: &'a [Risk],
}

impl Found<'_> {
    fn json(&self, scenario: &str, variant: &str) -> Value {
        json!({
            "scenario": scenario,
            "variant": variant,
            "peaks": self.peaks,
            "safe_oversubscription": safe_oversubscription(self.all),
            "risks": self.risks,
            "replications": self.all,
        })
    }

    fn text(&self, name: &str) -> String {
        let Self { all, peaks, risks } = self;
        let of_all = || all.iter().flat_map(|one| &one.switches).map(|of| of.of_all_bytes);
        let (least, most) = (of_all().min().unwrap_or(0), of_all().max().unwrap_or(0));
        let time: f64 = all.iter().map(|one| one.simulated_ns).sum();
        let pauses: u64 = all.iter().map(|one| one.pauses).sum();
        let mut text = format!(
            "Pool of headroom, {name}: {} of {} on average, {} pauses\n\n\
             Ports and lossless classes of a switch may use {} bytes together. The largest use of a pool was\n\
             {} bytes in the middle replication, {} at most in nine of ten, and {} in all.\n",
            floodway_model::check::count_of(all.len() as u64, "replication"),
            milliseconds(time / all.len() as f64),
            grouped(pauses),
            range(least, most),
            grouped(peaks.median_bytes as u64),
            grouped(peaks.p90_bytes as u64),
            grouped(peaks.max_bytes as u64),
        );
        match safe_oversubscription(all) {
            Some(n) => text += &format!("None would have overflowed with 1:{}.\n", down(n)),
            None => {
                text +=
                    "No headroom was used, so nothing is known of the pool: is anybody paused?\n"
            }
        }
        let are_alike = all.iter().all(|one| one.switches == all[0].switches);
        if all.len() > 1 && are_alike && peaks.max_bytes > 0.0 {
            text += "All replications used the pool in the same way. If their traffic does not differ, they are one\n\
                     observation: the intervals below count them as independent and are then too narrow.\n";
        }
        let lost: u64 = all.iter().map(|one| one.lost).sum();
        if lost > 0 {
            let were = if lost == 1 { "was" } else { "were" };
            text += &format!(
                "Apart from the pool, {} {were} lost because `headroom` of their port is too small.\n",
                floodway_model::check::count_of(lost, "packet")
            );
        }
        let mut rows = vec![
            ["pool", "bytes", "overflows in", "probability", "per second", "per 1000 pauses"]
                .map(str::to_owned),
        ];
        for risk in *risks {
            let pool = match risk.size {
                Size::Own => "scenario".to_owned(),
                Size::Oversubscribed(n) => format!("1:{n}"),
                Size::Bytes(_) => "size".to_owned(),
            };
            rows.push([
                pool,
                range(risk.smallest_bytes, risk.largest_bytes),
                format!("{} of {}", risk.replications.count, risk.replications.of),
                probability(&risk.replications),
                frequency(&risk.per_second, 1.0),
                frequency(&risk.per_pause, 1000.0),
            ]);
        }
        text += &format!(
            "\n{}\nIntervals have 95 %. The probability is that of at least one overflow in a replication, and exact. The other\n\
             columns count overflows of a pool that loses nothing: after the first loss of a replication, they are\n\
             an approximation.\n",
            aligned(&rows)
        );
        text
    }
}

/// One number if both are the same.
fn range(least: u64, most: u64) -> String {
    if least == most { grouped(least) } else { format!("{} to {}", grouped(least), grouped(most)) }
}

fn milliseconds(ns: f64) -> String {
    format!("{} ms", digits(ns / 1e6))
}

fn probability(of: &Proportion) -> String {
    let percent = |share: f64| digits(share * 100.0);
    match of.count {
        0 => format!("at most {} %", percent(of.high)),
        count if count == of.of => format!("at least {} %", percent(of.low)),
        _ => format!("{} % ({} to {})", percent(of.share()), percent(of.low), percent(of.high)),
    }
}

fn frequency(of: &Quotient, times: f64) -> String {
    let show = |value: f64| digits(value * times);
    match (of.value, of.low.zip(of.high)) {
        (None, _) => "-".to_owned(),
        (Some(0.0), Some((_, high))) => format!("at most {}", show(high)),
        (Some(value), Some((low, high))) => {
            format!("{} ({} to {})", show(value), show(low), show(high))
        }
        (Some(value), None) => show(value),
    }
}

/// Two digits, or all before the point.
fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = value.abs().log10().floor() as i32;
    format!("{value:.*}", (1 - before).clamp(0, 12) as usize)
}

/// Rounded down to two decimals, so that it is not too much.
fn down(value: f64) -> String {
    format!("{:.2}", (value * 100.0).floor() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_digits() {
        let shown = [0.0, 0.00123, 0.0987, 1.0, 12.34, 123.4].map(digits);
        assert_eq!(shown, ["0", "0.0012", "0.099", "1.0", "12", "123"]);
        assert_eq!([down(2.999), down(16.0)], ["2.99", "16.00"]);
    }
}
