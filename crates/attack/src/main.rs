//! The program `attack`: random valid scenarios and broken files against floodway, for as long as
//! asked.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{Parser, Subcommand};
use floodway_attack::compare::Budget;
use floodway_attack::finding::watch_panics;
use floodway_attack::readers::TARGETS;
use floodway_attack::standing::{self, Order};
use floodway_attack::work::{self, Attack, Maker, SCENARIOS, Verdict};
use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Attacks floodway with random valid scenarios and broken files.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// All attacks alternately; goes on where it stopped
    Run {
        /// How long, in minutes
        #[arg(long, default_value_t = 60.0)]
        minutes: f64,
        /// The seed of an attack that begins anew
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Where state, findings and report are
        #[arg(long, default_value = "target/attacked")]
        folder: PathBuf,
        /// Rounds of the test of crashes at the end
        #[arg(long, default_value_t = 3)]
        crash_rounds: u32,
    },
    /// Attack with one file
    One {
        /// A scenario, or a file of the reader
        file: PathBuf,
        /// Which reader; default: the file is a valid scenario that is run
        #[arg(long, default_value = SCENARIOS)]
        reader: String,
        /// Print the verdict as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a number of an attack: a scenario, or a broken file
    Make {
        /// The attack
        attack: String,
        /// The seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number
        #[arg(long)]
        number: u64,
    },
    /// Write what broken files are made from into folders by reader, for other fuzzers
    Corpus {
        /// The folder
        folder: PathBuf,
    },
    /// One attack in this process; what `run` starts
    #[command(hide = true)]
    Work {
        attack: String,
        #[arg(long)]
        seed: u64,
        #[arg(long)]
        first: u64,
        #[arg(long)]
        seconds: f64,
    },
}

/// The most address space of a process that attacks, in bytes.
const MEMORY: u64 = 4 << 30;

fn main() -> ExitCode {
    match run(Options::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether nothing was found.
fn run(command: Command) -> Result<bool, Box<dyn Error>> {
    match command {
        Command::Run { minutes, seed, folder, crash_rounds } => {
            if !(minutes > 0.0 && minutes < 1e6) {
                return Err(format!("--minutes is {minutes}: it must be above 0").into());
            }
            let stop = Arc::new(AtomicBool::new(false));
            for signal in [SIGINT, SIGTERM] {
                signal_hook::flag::register(signal, Arc::clone(&stop))?;
            }
            watch_panics();
            let time = Duration::from_secs_f64(minutes * 60.0);
            let found = standing::run(&Order { time, seed, folder, crash_rounds }, &stop)?;
            work::clean();
            Ok(!found)
        }
        Command::One { file, reader, json } => {
            let bytes =
                fs::read(&file).map_err(|error| format!("`{}`: {error}", file.display()))?;
            limit_memory()?;
            watch_panics();
            let name = file.display().to_string();
            let verdict = work::attack(attack(&reader)?, &bytes, &name, Budget::default());
            work::clean();
            if json {
                println!("{}", serde_json::to_string(&verdict)?);
                return Ok(true);
            }
            match verdict {
                Verdict::Found(finding) => {
                    println!("{}: {}", finding.kind.name(), finding.text);
                    Ok(false)
                }
                _ => {
                    println!("nothing found");
                    Ok(true)
                }
            }
        }
        Command::Make { attack: name, seed, number } => {
            watch_panics();
            let made = Maker::new(attack(&name)?, seed).bytes(number);
            work::clean();
            match made {
                Ok(bytes) => std::io::stdout().write_all(&bytes)?,
                Err(verdict) => return Err(format!("number {number} is {verdict:?}").into()),
            }
            Ok(true)
        }
        Command::Corpus { folder } => {
            for target in TARGETS {
                let folder = folder.join(target.name);
                fs::create_dir_all(&folder)?;
                for (number, bytes) in target.corpus().iter().enumerate() {
                    fs::write(folder.join(format!("{number:04}")), bytes)?;
                }
            }
            work::clean();
            Ok(true)
        }
        Command::Work { attack: name, seed, first, seconds } => {
            limit_memory()?;
            watch_panics();
            work::work(attack(&name)?, seed, first, Duration::from_secs_f64(seconds))?;
            Ok(true)
        }
    }
}

fn attack(name: &str) -> Result<Attack, String> {
    Attack::named(name).ok_or_else(|| {
        let names: Vec<_> = Attack::all().map(Attack::name).collect();
        format!("there is no attack `{name}`: choose one of {}", names.join(", "))
    })
}

/// A reader that takes memory without bound ends here and not with the machine.
fn limit_memory() -> std::io::Result<()> {
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    Ok(setrlimit(Resource::As, limit)?)
}
