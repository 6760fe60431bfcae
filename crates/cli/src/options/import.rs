//! Options of what reads files of others.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use floodway_model::Duration;

/// Options of `floodway import`.
#[derive(Args, Debug)]
pub struct ImportOptions {
    /// Whose experiment it is.
    #[command(subcommand)]
    pub from: ImportFrom,
}

/// Whose experiment is imported.
#[derive(Debug, Subcommand)]
pub enum ImportFrom {
    /// The simulator of HPCC's authors (alibaba-edu/High-Precision-Congestion-Control, ns-3): its
    /// configuration, and the topology and the flows that it names.
    Hpcc(HpccOptions),
    /// A capture of a network, pcap or pcapng: who sent how much to whom, and when.
    Pcap(PcapOptions),
}

/// Options of `floodway import pcap`.
#[derive(Args, Debug)]
pub struct PcapOptions {
    /// The capture, as Wireshark or tcpdump writes it.
    pub file: PathBuf,
    /// Directory for the scenario and its flows. Default the capture's name without its ending.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A connection that sends nothing for so long begins a new flow with what it sends next.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub idle: Duration,
    /// Replace files that are there already.
    #[arg(long)]
    pub force: bool,
}

/// Options of `floodway import hpcc`.
#[derive(Args, Debug)]
pub struct HpccOptions {
    /// The configuration, such as mix/config.txt.
    pub config: PathBuf,
    /// Directory for the scenario and the files that it needs. Default the configuration's name
    /// without its ending.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long)]
    pub force: bool,
}
