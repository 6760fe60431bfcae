//! Options of `floodway live`.

use std::path::PathBuf;

use clap::{Args, value_parser};
use floodway_model::Duration;

use super::Selection;

/// Options of `floodway live`.
#[derive(Args, Debug)]
pub struct LiveOptions {
    /// What to run. The run begins with the variant of `--variant`, or the first, and can be switched to the queue management of
    /// others.
    #[command(flatten)]
    pub selection: Selection,
    /// When the run ends by itself, in simulated time. `arrivals` and `limit` of the scenario follow from it.
    #[arg(long, value_name = "TIME", default_value = "600s")]
    pub until: Duration,
    /// The port of this machine on which the page is, which no other machine reaches; 0 for any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 8417)]
    pub port: u16,
    /// Simulated seconds in a second, from 0.01 to 1000, which the page can change; or `max`. Results do not depend on it.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed, conflicts_with = "replay")]
    pub speed: Speed,
    /// Simulated milliseconds between two points of the charts. Actions take effect at the end of such a step.
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = value_parser!(u16).range(1..=60_000), conflicts_with = "replay")]
    pub step: u16,
    /// Repeat a run from its log, the file actions.jsonl in its folder, without a page. Scenario, settings and `--until` must be
    /// the same; the results are then the same in every bit.
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Which replication, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub replication: u32,
    /// Threads; results do not depend on them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..))]
    pub threads: u16,
    /// The directory of a Linux kernel, for hosts that are kernels. Default the newest one that `oracle/build --endpoint` has
    /// built.
    #[arg(long, value_name = "DIR")]
    pub kernel: Option<PathBuf>,
    /// How long programs of a kernel may compute at a time, as with `floodway emulate`.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u32).range(1..=86_400))]
    pub patience: u32,
    /// Folder for the tables and the log. Default `results/live-` and the scenario's name, with `--replay`
    /// `results/replay-` and the name.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long)]
    pub force: bool,
    /// Check the invariants of the simulation at every event. What breaks one is reported as a violation; results are the
    /// same.
    #[arg(long)]
    pub audit: bool,
    /// Say nothing but errors and the address of the page.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Simulated seconds in a second; `None` for as many as possible.
pub type Speed = Option<f64>;

fn speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(None);
    }
    let speed: Option<f64> = text.parse().ok().filter(|speed| (0.01..=1_000.0).contains(speed));
    speed.map(Some).ok_or_else(|| "expected a number from 0.01 to 1000, or `max`".to_owned())
}
