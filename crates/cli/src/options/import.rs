//! Options of what reads files of others.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use floodway_model::{Duration, Rate};

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
    /// Switches with SONiC: their configurations (CONFIG_DB as JSON), headroom tables, minigraphs and LLDP tables.
    Sonic(SonicOptions),
}

/// Options of `floodway import sonic`.
#[derive(Args, Debug)]
pub struct SonicOptions {
    /// Configurations: directories, each of which is a switch or has a directory for each; or files, such as
    /// config_db.json and pg_profile_lookup.ini. Files that have no table in common are one switch. Which ports are
    /// joined is read from DEVICE_NEIGHBOR, from minigraphs (in a directory *minigraph*.xml), and from what switches see
    /// by LLDP: the output of `lldpctl -f json` (any .json) or of `show lldp table` (*lldp*.txt), in the directory of
    /// the switch or with its name, like leaf-1.lldp.json.
    #[arg(required = true, value_name = "DIR|FILE")]
    pub paths: Vec<PathBuf>,
    /// Directory for the scenario. Default the name of the first of them without its ending.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Speed of ports that have none in the table PORT.
    #[arg(long, value_name = "RATE", default_value = "100Gbps")]
    pub rate: Rate,
    /// The model of the switches, a profile that `floodway profile` lists: its cells and its latency, which are not in
    /// CONFIG_DB.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Replace files that are there already.
    #[arg(long)]
    pub force: bool,
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
