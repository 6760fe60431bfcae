//! The command line. The help texts here are also the ones of the generated reference.

mod import;
mod live;
mod results;

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, value_parser};
use floodway_lab::capture;
use floodway_report::{format, trace};

use crate::bench;
use crate::chart::ChartOptions;
use crate::failure::Failure;
use crate::headroom::HeadroomOptions;
use crate::new::{TEMPLATES, Template};
use crate::profile::ProfileOptions;
use crate::program;
use crate::why::WhyOptions;
pub use import::*;
pub use live::*;
pub use results::*;

/// Simulates congestion management packet by packet, and compares mechanisms on the same traffic.
#[derive(Debug, Parser)]
#[command(name = "floodway", version, after_help = EXIT_STATUS)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the exit status says.
pub const EXIT_STATUS: &str = "\
Exit status:
  0    all went well
  1    a run failed or broke a rule that no sound run breaks, reading or writing failed, or a claim
       does not hold or cannot be judged (`--insist`)
  2    the command line, the scenario or the directory is refused; no results are written
  130  interrupted (Ctrl-C or SIGTERM); what was finished is kept. A second Ctrl-C kills";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario: every variant, as often as it says.
    #[command(after_help = EXIT_STATUS)]
    Run(RunOptions),
    /// Run a scenario some of whose hosts are Linux kernels, in its virtual time.
    #[command(after_help = EXIT_STATUS)]
    Emulate(EmulateOptions),
    /// Steer a run from a page in a browser: flows come and go, queue management is switched.
    #[command(after_help = EXIT_STATUS)]
    Live(LiveOptions),
    /// Run a whole study: its experiments, and what comes of each published claim.
    #[command(after_help = EXIT_STATUS)]
    Study(StudyOptions),
    /// Run a scenario at every point of a grid of settings.
    #[command(after_help = EXIT_STATUS)]
    Sweep(SweepOptions),
    /// Check a scenario and show the numbers that follow from it.
    Check(CheckOptions),
    /// List the mechanisms, topologies and workloads that scenarios can name.
    List(ListOptions),
    /// List profiles of models of switches and NICs, show one with evidence and sources, or copy one to edit.
    Profile(ProfileOptions),
    /// Begin a scenario of your own from a template.
    New(NewOptions),
    /// Turn an experiment of another simulator, or the traffic of a capture, into a scenario.
    Import(ImportOptions),
    /// Write a run in the form in which another simulator writes its results.
    Export(ExportOptions),
    /// Compare a run with the results of another simulator, flow by flow.
    Compare(CompareOptions),
    /// Explain completion times: what flows spent their time on, and who caused it.
    Why(WhyOptions),
    /// Write charts of results as pictures for a paper, as numbers or as Vega-Lite.
    Chart(ChartOptions),
    /// Show the headroom of a lossless link as a sum, or explain the headroom table of a switch.
    Headroom(HeadroomOptions),
    /// Measure how fast the simulator is on this machine.
    Bench(BenchOptions),
    /// Print the JSON Schema of scenario files, by which editors complete and check them.
    Schema,
    /// Print the script that makes a shell complete the command line.
    Completions(CompletionsOptions),
    /// Print the page of the manual, or write the pages of all commands.
    Man(ManOptions),
    /// Print the reference: options, scenario fields and result tables, as Markdown.
    #[command(hide = true)]
    Reference,
}

/// Which scenario, and what to change in it.
#[derive(Args, Debug)]
pub struct Selection {
    /// The scenario file.
    pub file: PathBuf,
    /// Change a value, as in `switch.queue.size=2MB` or `workload.0.many_to_many.load=0.5`; may be
    /// given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Only this variant; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// The scaled-down version that the scenario's `[quick]` describes.
    #[arg(long)]
    pub quick: bool,
}

/// Options of `floodway run`.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// What to run.
    #[command(flatten)]
    pub selection: Selection,
    /// Runs of every variant, instead of the scenario's number.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub replications: Option<u32>,
    /// Threads, shared out over runs first; results do not depend on them. Default one per core.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Run over all processes that a launcher of MPI has started, as in `mpirun -n 8 floodway run FILE --mpi`:
    /// one run at a time, with the same results as on one thread (docs/mpi.md). Each process then has one thread
    /// unless `--threads` says otherwise.
    #[arg(long)]
    pub mpi: bool,
    /// The library of MPI: a libmpi_abi, which has the standard ABI of MPI 5. Default that of the launcher in the path,
    /// or of the system. The environment variable FLOODWAY_MPI_LIBRARY says the same.
    #[arg(long, value_name = "FILE", requires = "mpi")]
    pub mpi_library: Option<PathBuf>,
    /// The seed of all random choices, instead of the scenario's.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Directory for the results. Default `results/` and the scenario's name.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace results that are there already.
    #[arg(long)]
    pub force: bool,
    /// Go on with results that are there already: runs that this program has made from the same
    /// settings are not repeated, and all others are replaced.
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// A form for the tables; may be given several times.
    #[arg(long, value_name = "FORMAT", default_value = "parquet", value_parser = formats())]
    pub format: Vec<String>,
    /// Keep the first run of every variant as a trace too, queue by queue, pause by pause and flow by
    /// flow. Records it with 1000 samples where the scenario does not say how many (`record`).
    #[arg(long, value_name = "FORM", value_parser = traces())]
    pub trace: Option<String>,
    /// Keep the frames of ports in the first run of every variant too, in octets, as a file for Wireshark
    /// (capture.pcapng): of all ports of a node, as in `"host 3"`, of one, as in `"leaf 0:2"`, or of `all`; may be given
    /// several times.
    #[arg(long, value_name = "WHERE")]
    pub pcap: Vec<String>,
    /// The most frames that are kept of each port: its first ones.
    #[arg(long, value_name = "N", requires = "pcap", default_value_t = capture::FRAMES, value_parser = value_parser!(u32).range(1..))]
    pub pcap_frames: u32,
    /// Keep only frames of this flow, messages about it and control frames of links; may be given several times.
    #[arg(long, value_name = "FLOW", requires = "pcap")]
    pub pcap_flow: Vec<u32>,
    /// The most octets that are kept of a frame; 128 have all headers. Wireshark does not read packets of RoCEv2 that are
    /// cut off. Default everything.
    #[arg(long, value_name = "OCTETS", requires = "pcap", default_value_t = capture::OCTETS, hide_default_value = true, value_parser = value_parser!(u32).range(64..=65_535))]
    pub pcap_snaplen: u32,
    /// Explain the completion times of up to 1000 flows of the first run of every variant: what they spent
    /// their time on, and who caused it (as with `explained_flows = 1000`; of large flows a sample, see
    /// `explained_share`). That run takes one thread.
    #[arg(long)]
    pub why: bool,
    /// Check the invariants of every simulation at every event: buffers, pauses, links, marks,
    /// schedulers, rates, windows. What breaks one is reported as a violation; results are the same.
    #[arg(long)]
    pub audit: bool,
    /// Exit with status 1 unless every claim of the scenario holds, `[[claim]]`. Without it the verdicts have no
    /// effect on the exit status.
    #[arg(long)]
    pub insist: bool,
    /// Print one JSON object, the summary, and nothing else on standard output.
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
    /// Say more: derived numbers first, and a line for every run that ends.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// Options of `floodway emulate`.
#[derive(Args, Debug)]
pub struct EmulateOptions {
    /// The directory of a kernel, as `oracle/build --endpoint` prints it. Default the newest one that it has built.
    #[arg(long, value_name = "DIR")]
    pub kernel: Option<PathBuf>,
    /// How long programs of a kernel may compute at a time. That takes no simulated time, so that one which computes without
    /// end would stop the simulation.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u32).range(1..=86_400))]
    pub patience: u32,
    /// What to run, and how.
    #[command(flatten)]
    pub run: RunOptions,
}

/// Options of `floodway study`.
#[derive(Args, Debug)]
pub struct StudyOptions {
    /// The study, by its name (`floodway list study` shows all), or a folder with a study.toml.
    #[arg(value_parser = StudyName)]
    pub name: String,
    /// A few minutes: small networks, short runs.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Everything, the largest networks of the sources included.
    #[arg(long)]
    pub full: bool,
    /// Change a value in all experiments, as in `host.congestion.dcqcn.g=0.01`; may be given
    /// several times. The claims are then judged under it.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Search for the reading that comes nearest to all numbers of the source at once, after all
    /// else: from the nearest one on, one choice at a time. For studies with `[closest]`, such as `ci`.
    #[arg(long)]
    pub closest: bool,
    /// Only show the experiments, as commands that run them one by one.
    #[arg(long, conflicts_with_all = ["json", "force", "out", "threads", "closest"])]
    pub plan: bool,
    /// Run the sample of published results again (`sample.json` in their folder), and compare packet-hops
    /// and fingerprints. The exit status is 1 if a run differs: the results are then of another version.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["quick", "full", "set", "closest", "plan", "out", "force", "audit", "json"]
    )]
    pub verify: Option<PathBuf>,
    /// Threads, shared out over runs first; results do not depend on them. Default one per core.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Directory for the results; runs that are there already are not repeated. Default
    /// `results/study-` and the study's name, for a quick study with `-quick` after it.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Repeat runs that are there already, and replace a study with other settings.
    #[arg(long)]
    pub force: bool,
    /// Check the invariants of every simulation at every event: buffers, pauses, links, marks,
    /// schedulers, rates, windows. What breaks one is reported as a violation; results are the same.
    #[arg(long)]
    pub audit: bool,
    /// Exit with status 1 unless every claim holds. Claims of which the source says too little to judge do not count.
    /// Without it the verdicts have no effect on the exit status.
    #[arg(long, conflicts_with_all = ["plan", "verify"])]
    pub insist: bool,
    /// Print one JSON object, claims and verdicts, and nothing else on standard output.
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
    /// Say more: a line for every run that ends.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// Options of `floodway sweep`.
#[derive(Args, Debug)]
pub struct SweepOptions {
    /// What to run; its `[sweep]` says what is varied.
    #[command(flatten)]
    pub selection: Selection,
    /// A dimension of the grid, as a list, `switch.queue.size=500KB,1MB`, or a range with a number of
    /// values, `workload.0.many_to_many.load=0.2..0.8/4`, with `/4log` at equal ratios; may be given
    /// several times. It replaces one of the scenario with the same path.
    #[arg(long, value_name = "PATH=VALUES")]
    pub vary: Vec<String>,
    /// The point from which changes are counted, by the values of all varied paths or of some:
    /// `switch.queue.size=1MB`, with a comma between several; may be given several times. Default: the
    /// point with the scenario's own values, or if the grid has none the first.
    #[arg(long, value_name = "PATH=VALUE")]
    pub reference: Vec<String>,
    /// Repeat until the 95 % interval of this metric reaches at most this part of its mean to either
    /// side at every point and in every variant, as in `fct_p99_ns=0.05`.
    #[arg(long, value_name = "METRIC[=PART]")]
    pub until: Option<String>,
    /// The most replications of a point, with `--until`. Default 30.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..))]
    pub at_most: Option<u32>,
    /// Runs of every variant at every point, instead of the scenario's number.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub replications: Option<u32>,
    /// A metric to show in table and page, in place of those that usually matter; may be given
    /// several times.
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
    /// Threads, shared out over runs first; results do not depend on them. Default one per core.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// The seed of all random choices, instead of the scenario's.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Directory for the results. Default `results/sweep-` and the scenario's name.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Directory of the runs that any sweep can use again. It can be deleted at any time.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "results/cache",
        env = "FLOODWAY_CACHE",
        hide_env_values = true
    )]
    pub cache: PathBuf,
    /// Neither use runs again nor keep them.
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
    /// Only show the points, as commands that run them one by one.
    #[arg(long, conflicts_with_all = ["json", "out", "threads"])]
    pub plan: bool,
    /// Print one JSON object, every run with its numbers, and nothing else on standard output.
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
    /// Say more: a line for every run that ends.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// Options of `floodway check`.
#[derive(Args, Debug)]
pub struct CheckOptions {
    /// What to check.
    #[command(flatten)]
    pub selection: Selection,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// End with status 1 if there is a warning or a finding of lint.
    #[arg(long)]
    pub deny_findings: bool,
}

/// Options of `floodway list`.
#[derive(Args, Debug)]
pub struct ListOptions {
    /// Only this family, such as `switch.aqm`, or all families of a part, such as `switch`.
    pub family: Option<String>,
    /// Print a JSON array of objects with `family`, `name` and `summary`.
    #[arg(long)]
    pub json: bool,
}

/// Options of `floodway new`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct NewOptions {
    /// What to write in place of a scenario.
    #[command(subcommand)]
    pub what: Option<NewWhat>,
    /// The name of the scenario: letters, digits, `-`, `_` and `.`.
    #[arg(required = true)]
    pub name: Option<String>,
    /// What to begin with. Default the template of the same name as the scenario, as in `floodway new rrul`, otherwise
    /// clos.
    #[arg(long, value_name = "TEMPLATE", value_parser = templates())]
    pub template: Option<String>,
    /// The file to write. Default the name with `.toml` after it.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace a file that is there already.
    #[arg(long)]
    pub force: bool,
}

/// What `floodway new` writes in place of a scenario.
#[derive(Debug, Subcommand)]
pub enum NewWhat {
    /// A new member of a family, in a checkout of floodway: its file, its row, a broken scenario and a test that
    /// fails until it has an expected value.
    Algorithm(AlgorithmOptions),
}

/// Options of `floodway new algorithm`.
#[derive(Args, Debug)]
pub struct AlgorithmOptions {
    /// The family, as `floodway list` names it: `switch.aqm`.
    pub family: String,
    /// The name in scenarios, in snake_case.
    pub name: String,
}

/// Options of `floodway completions`.
#[derive(Args, Debug)]
pub struct CompletionsOptions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Options of `floodway man`.
#[derive(Args, Debug)]
pub struct ManOptions {
    /// Directory for a page for each command, `floodway-run.1` and so on, which are written anew.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Options of `floodway bench`.
#[derive(Args, Debug)]
pub struct BenchOptions {
    /// Only this case.
    #[arg(value_parser = PossibleValuesParser::new(bench::names()))]
    pub case: Option<String>,
    /// A number of threads; may be given several times. Default 1 and 2.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Vec<u16>,
    /// Change a value in the case, as in `workload.0.many_to_many.load=0.9`; may be given several
    /// times.
    #[arg(long, value_name = "PATH=VALUE", requires = "case")]
    pub set: Vec<String>,
    /// Shorter runs: enough to see that all is well, not to compare speeds.
    #[arg(long)]
    pub quick: bool,
    /// Measure beside a process that walks through 256 MiB of memory, and so takes shared caches
    /// and memory bandwidth from the run. Needs two cores.
    #[arg(long)]
    pub neighbor: bool,
    /// Be that process.
    #[arg(long, hide = true, exclusive = true)]
    pub be_neighbor: bool,
    /// End when standard input does, as the process of one measurement does.
    #[arg(long, hide = true)]
    pub until_input_ends: bool,
    /// The shortest runs: for counting instructions, not for times.
    #[arg(long, conflicts_with_all = ["quick", "neighbor"])]
    pub brief: bool,
    /// Print a JSON array of objects, one for each case and number of threads.
    #[arg(long)]
    pub json: bool,
    /// Measure how the cost of a packet-hop grows with hosts (with and without `--neighbor`), load,
    /// flows and threads, and write numbers, charts and a page.
    #[arg(long, conflicts_with_all = ["case", "threads", "brief", "json", "neighbor"])]
    pub curves: bool,
    /// Measure every point of the curves so often, and take the shortest time. Default 5, with
    /// `--quick` 2.
    #[arg(long, value_name = "N", requires = "curves", value_parser = value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Directory for the curves. Default `results/curves`.
    #[arg(long, value_name = "DIR", requires = "curves")]
    pub out: Option<PathBuf>,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(format::CATALOGUE.iter().map(|format| format.entry.name))
}

fn traces() -> PossibleValuesParser {
    let value = |form: &trace::Form| PossibleValue::new(form.entry.name).help(form.entry.summary);
    PossibleValuesParser::new(trace::CATALOGUE.iter().map(value))
}

/// The name of a study, which shells complete, or a folder.
#[derive(Clone, Debug)]
struct StudyName;

impl TypedValueParser for StudyName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = floodway_study::CATALOGUE.iter().map(floodway_study::Built::name);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

fn templates() -> PossibleValuesParser {
    let value = |template: &Template| PossibleValue::new(template.name).help(template.summary);
    PossibleValuesParser::new(TEMPLATES.iter().map(value))
}

/// The command line of this process.
pub fn parse() -> Result<Options, Failure> {
    Ok(Options::try_parse_from(program::words())?)
}
