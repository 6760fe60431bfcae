//! Options of what takes results: why, export and compare.

use floodway_model::{Duration, Rate};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Which run of which results.
#[derive(Args, Debug)]
pub struct StoredRun {
    /// The results directory of `floodway run`, with tables as Parquet.
    pub results: PathBuf,
    /// The variant. Default the first one.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// The replication, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub replication: u32,
    /// The scenario file that was run. Default the one that the results name.
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
}

/// Which run of which results, and which completion times.
#[derive(Args, Debug)]
pub struct RunSelection {
    /// The run.
    #[command(flatten)]
    pub run: StoredRun,
    /// Where completion times end.
    #[arg(long, value_name = "WHERE", value_enum, default_value = "acked")]
    pub completion: Completion,
}

/// Where completion times end.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Completion {
    /// At the sender, when everything is acknowledged, as in the simulator (`acked_fct_ns`).
    Acked,
    /// At the receiver, when everything has arrived (`fct_ns`).
    Received,
}

/// Options of `floodway export`.
#[derive(Args, Debug)]
pub struct ExportOptions {
    /// Whose form it is.
    #[command(subcommand)]
    pub to: ExportTo,
}

/// Whose form a run is written in.
#[derive(Debug, Subcommand)]
pub enum ExportTo {
    /// The completion file of the simulator of HPCC's authors, fct.txt: a line for each flow that
    /// has completed, with addresses, ports, bytes, start, completion time and standalone time.
    Hpcc(ExportHpccOptions),
    /// What a changed scenario changes in the configurations from which it was imported, as JSON patches
    /// (RFC 6902) for CONFIG_DB of each switch.
    Sonic(ExportSonicOptions),
    /// The data file of flent, which draws it as it draws its own: latency under load and what flows get over time. The
    /// run needs pings and `flow_samples`.
    Flent(ExportFlentOptions),
}

/// Options of `floodway export sonic`.
#[derive(Args, Debug)]
pub struct ExportSonicOptions {
    /// The scenario with the values that the switches are to have.
    pub scenario: PathBuf,
    /// The configurations from which it was imported, as for `floodway import sonic`.
    #[arg(required = true, value_name = "DIR|FILE")]
    pub paths: Vec<PathBuf>,
    /// The variant with these values. Default the first one.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Speed of ports that have none in the table PORT, as at the import.
    #[arg(long, value_name = "RATE", default_value = "100Gbps")]
    pub rate: Rate,
    /// Directory for the patches, a file for each switch. Default: the changes are only shown.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long)]
    pub force: bool,
}

/// Options of `floodway export flent`.
#[derive(Args, Debug)]
pub struct ExportFlentOptions {
    /// The results directory of `floodway run`, with tables as Parquet.
    pub results: PathBuf,
    /// The variant. Default the first one.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// The replication, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub replication: u32,
    /// The file to write. Default SCENARIO-VARIANT.flent.gz.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace a file that is there already.
    #[arg(long)]
    pub force: bool,
}

/// Options of `floodway export hpcc`.
#[derive(Args, Debug)]
pub struct ExportHpccOptions {
    /// What to export.
    #[command(flatten)]
    pub run: RunSelection,
    /// The file to write. Default: standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace a file that is there already.
    #[arg(long)]
    pub force: bool,
}

/// Options of `floodway compare`.
#[derive(Args, Debug)]
pub struct CompareOptions {
    /// Whose results they are.
    #[command(subcommand)]
    pub with: CompareWith,
}

/// Whose results a run is compared with.
#[derive(Debug, Subcommand)]
pub enum CompareWith {
    /// The completion file of the simulator of HPCC's authors, fct.txt.
    Hpcc(CompareHpccOptions),
    /// Other results directories, side by side: all variants of all.
    Results(CompareResultsOptions),
}

/// Options of `floodway compare results`.
#[derive(Args, Debug)]
pub struct CompareResultsOptions {
    /// The results directories of `floodway run`, with tables as Parquet; the first variant of the first is the
    /// baseline. Changes are paired where seeds and flows are the same.
    #[arg(required = true, num_args = 2..)]
    pub results: Vec<PathBuf>,
    /// Write the report of the comparison to this file.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Lay the points of a file over a chart of that report, as in `--overlay slowdown-by-size=figure-5.csv` or
    /// `--overlay "slowdown-by-size/all flows=figure-5.csv"` for one part of it. The file has a line with the names of
    /// two columns, then two numbers a line with a comma between them, in the units of the chart's own
    /// comma-separated values (`floodway chart --format csv`).
    #[arg(long, value_name = "CHART=FILE", requires = "page", value_parser = crate::chart::overlay)]
    pub overlay: Vec<crate::chart::OverlayFile>,
    /// Print the numbers as JSON, as summary.json has them.
    #[arg(long)]
    pub json: bool,
}

/// Options of `floodway compare hpcc`.
#[derive(Args, Debug)]
pub struct CompareHpccOptions {
    /// What to compare.
    #[command(flatten)]
    pub run: RunSelection,
    /// The completion file, such as mix/fct.txt.
    pub file: PathBuf,
    /// How far apart the starts of a flow may be in run and file. Flows are the same if source,
    /// destination and bytes are.
    #[arg(long, value_name = "TIME", default_value = "1ns")]
    pub within: Duration,
    /// How many of the largest differences are shown.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub largest: usize,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}
