//! The standing attack: all attacks alternately, each in a process of its own with limits of memory and
//! time, for as long as asked. It goes on where it stopped, keeps what it finds, and writes a report.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Kind, catch};
use crate::generate::parse;
use crate::readers::{TARGETS, corpus_folder, temporary};
use crate::shrink::{self, Patience};
use crate::work::{Attack, Line, Maker, NOT_VALID, SCENARIOS, Verdict};

/// When one attack has taken so long it hangs.
const HANG: Duration = Duration::from_secs(120);

/// The same while a finding is shrunk.
const HANG_OF_ONE: Duration = Duration::from_secs(30);

/// How long a finding is shrunk, and by how many tries.
const SHRINKING: Duration = Duration::from_secs(180);
const TRIES: u32 = 2_000;

/// How long scenarios are attacked before files, and files of all readers together.
const ROUND: Duration = Duration::from_secs(60);

/// What to do.
#[derive(Clone, Debug)]
pub struct Order {
    /// How long.
    pub time: Duration,
    /// The seed of an attack that begins anew.
    pub seed: u64,
    /// Where its state, its findings and its report are.
    pub folder: PathBuf,
    /// Rounds of the test of crashes; 0 for none.
    pub crash_rounds: u32,
}

/// How far it has come: what `state.json` holds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    seed: u64,
    /// By attack: its next number, and what it came to.
    attacks: BTreeMap<String, Tally>,
    findings: Vec<Known>,
    seconds: f64,
    /// What the test of crashes came to, if it was run.
    crashes: Option<String>,
}

/// What an attack came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tally {
    next: u64,
    clean: u64,
    given_up: u64,
    too_large: u64,
    cut: u64,
    slow: u64,
    hops: u64,
    seconds: f64,
    found: BTreeMap<Kind, u64>,
}

/// A finding, and how often it came.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    attack: String,
    finding: Finding,
    times: u64,
    /// The file that shows it, and its number.
    file: String,
    number: u64,
}

/// Attacks until the time is over or `stop` is set. Returns whether anything was found, now or
/// before.
pub fn run(order: &Order, stop: &AtomicBool) -> io::Result<bool> {
    fs::create_dir_all(order.folder.join(FINDINGS))?;
    let mut standing = Standing { order, stop, state: State::read(order)? };
    let begun = Instant::now();
    let before = standing.state.seconds;
    let round = ROUND.min(order.time / 3);
    let over = |standing: &Standing| begun.elapsed() >= order.time || standing.stopped();
    'rounds: loop {
        for attack in Attack::all() {
            let left = order.time.saturating_sub(begun.elapsed());
            let share = match attack {
                Attack::Scenarios => round,
                Attack::Files(_) => round / TARGETS.len() as u32,
            };
            standing.batch(attack, share.min(left))?;
            standing.state.seconds = before + begun.elapsed().as_secs_f64();
            standing.write()?;
            if over(&standing) {
                break 'rounds;
            }
        }
    }
    if order.crash_rounds > 0 && !standing.stopped() {
        standing.state.crashes = Some(crashes(order.crash_rounds));
        standing.state.seconds = before + begun.elapsed().as_secs_f64();
        standing.write()?;
    }
    print!("{}", standing.state.report(&order.folder));
    Ok(!standing.state.findings.is_empty())
}

const FINDINGS: &str = "findings";
const STATE: &str = "state.json";

struct Standing<'a> {
    order: &'a Order,
    stop: &'a AtomicBool,
    state: State,
}

impl Standing<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn write(&self) -> io::Result<()> {
        let folder = &self.order.folder;
        // Whole or not at all, so that it can always go on.
        let part = folder.join("state.part");
        fs::write(&part, serde_json::to_vec_pretty(&self.state)?)?;
        fs::rename(part, folder.join(STATE))?;
        fs::write(folder.join("report.md"), self.state.report(folder))
    }

    /// One attack for so long, in as many processes as it takes.
    fn batch(&mut self, attack: Attack, time: Duration) -> io::Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < time && !self.stopped() {
            let left = time.saturating_sub(begun.elapsed());
            let came_back = self.process(attack, left)?;
            if came_back {
                break;
            }
        }
        self.tally(attack).seconds += begun.elapsed().as_secs_f64();
        Ok(())
    }

    fn tally(&mut self, attack: Attack) -> &mut Tally {
        self.state.attacks.entry(attack.name().to_owned()).or_default()
    }

    /// One process. Whether it ended by itself.
    fn process(&mut self, attack: Attack, time: Duration) -> io::Result<bool> {
        let first = self.tally(attack).next;
        let words =
            ["work", attack.name(), "--seed", &self.state.seed.to_string()].map(str::to_owned);
        let times = [format!("--first={first}"), format!("--seconds={}", time.as_secs_f64())];
        let mut child = Command::new(std::env::current_exe()?)
            .args(words.iter().chain(&times))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().expect("it is piped");
        let (give, lines) = mpsc::channel();
        let reader = thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if give.send(line).is_err() {
                    break;
                }
            }
        });
        let mut at = None;
        let mut since = Instant::now();
        let hangs = loop {
            match lines.recv_timeout(Duration::from_millis(200)) {
                Ok(line) => {
                    since = Instant::now();
                    match serde_json::from_str(&line) {
                        Ok(Line::Begin(number)) => at = Some(number),
                        Ok(Line::End(number, verdict)) => {
                            at = None;
                            self.take(attack, number, verdict)?;
                            // Shrinking took some of it.
                            since = Instant::now();
                        }
                        Err(error) => eprintln!("not understood: {line}: {error}"),
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break false,
                Err(RecvTimeoutError::Timeout) if self.stopped() => break false,
                Err(RecvTimeoutError::Timeout) if since.elapsed() > HANG => break true,
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        if hangs || self.stopped() {
            let _ = child.kill();
        }
        let status = child.wait()?;
        let _ = reader.join();
        // What a killed process has left of temporary files.
        let _ = fs::remove_dir_all(temporary(child.id()));
        if self.stopped() {
            return Ok(true);
        }
        let Some(number) = at else { return Ok(status.success()) };
        let finding = match hangs {
            true => hang(),
            false => crash(status),
        };
        self.take(attack, number, Verdict::Found(finding))?;
        Ok(false)
    }

    /// Counts a verdict and keeps what was found.
    fn take(&mut self, attack: Attack, number: u64, verdict: Verdict) -> io::Result<()> {
        let tally = self.tally(attack);
        tally.next = number + 1;
        match verdict {
            Verdict::Clean { hops, cut, slow } => {
                tally.clean += 1;
                tally.hops += hops;
                tally.cut += u64::from(cut > 0);
                tally.slow += u64::from(slow > 0);
            }
            Verdict::GivenUp => tally.given_up += 1,
            Verdict::TooLarge => tally.too_large += 1,
            Verdict::Found(finding) => {
                *tally.found.entry(finding.kind).or_default() += 1;
                self.keep(attack, number, finding)?;
            }
        }
        Ok(())
    }

    /// Writes a finding, as small as it gets, if it is a new one.
    fn keep(&mut self, attack: Attack, number: u64, finding: Finding) -> io::Result<()> {
        let name = attack.name();
        let same = |known: &&mut Known| known.attack == name && known.finding.is_like(&finding);
        if let Some(known) = self.state.findings.iter_mut().find(same) {
            known.times += 1;
            return Ok(());
        }
        eprintln!("{name} {number}: {} {}", finding.kind.name(), finding.text);
        let folder = self.order.folder.join(FINDINGS);
        let ending = match attack {
            Attack::Scenarios => "toml",
            Attack::Files(_) => "bin",
        };
        let file =
            format!("{:03}-{}-{name}.{ending}", self.state.findings.len() + 1, finding.kind.name());
        let path = folder.join(&file);
        // One that hangs while it is made has no bytes: its number makes it again.
        if let Some(whole) = self.made(attack, number) {
            let small = self.smaller(attack, &whole, &finding, &folder)?;
            match attack {
                Attack::Scenarios => {
                    let words = finding.text.lines().map(|line| format!("# {line}\n"));
                    let head = words.collect::<String>() + &format!("# {}\n", again(attack, &path));
                    fs::write(&path, head + &String::from_utf8_lossy(&small))?;
                }
                Attack::Files(_) => fs::write(&path, small)?,
            }
        }
        let attack = name.to_owned();
        self.state.findings.push(Known { attack, finding, times: 1, file, number });
        self.write()
    }

    /// A number of an attack. Scenarios are made in another process, because that may be what fails.
    fn made(&self, attack: Attack, number: u64) -> Option<Vec<u8>> {
        let seed = self.state.seed;
        if matches!(attack, Attack::Files(_)) {
            return Maker::new(attack, seed).bytes(number).ok();
        }
        let words = ["make", SCENARIOS, &format!("--seed={seed}"), &format!("--number={number}")];
        let (status, out) = answer(&words)?;
        status.success().then_some(out)
    }

    fn smaller(
        &self,
        attack: Attack,
        whole: &[u8],
        finding: &Finding,
        folder: &Path,
    ) -> io::Result<Vec<u8>> {
        copy_named_files(whole, folder)?;
        let patience = Patience { until: Instant::now() + SHRINKING, tries: TRIES };
        let candidate = folder.join(match attack {
            Attack::Scenarios => "candidate.toml",
            Attack::Files(_) => "candidate.bin",
        });
        let mut fails = |bytes: &[u8]| {
            !self.stopped()
                && fs::write(&candidate, bytes).is_ok()
                && one_apart(attack, &candidate).is_some_and(|found| found.is_like(finding))
        };
        let small = match attack {
            Attack::Scenarios => {
                let text = String::from_utf8_lossy(whole);
                let name = candidate.display().to_string();
                // Most of what is left out makes it invalid, which needs no process to see, unless
                // that is what ends the process.
                let apart = matches!(finding.kind, Kind::Hang | Kind::Crash);
                let invalid =
                    |text: &str| !apart && catch(|| Ok(parse(text, &name).is_err())) == Ok(true);
                let mut fails = |text: &str| !invalid(text) && fails(text.as_bytes());
                shrink::scenario(&text, patience, &mut fails).into_bytes()
            }
            Attack::Files(_) => shrink::bytes(whole, patience, &mut fails),
        };
        let _ = fs::remove_file(&candidate);
        Ok(small)
    }
}

/// Copies the files of the corpus that a scenario names beside it.
fn copy_named_files(text: &[u8], folder: &Path) -> io::Result<()> {
    let text = String::from_utf8_lossy(text);
    for target in TARGETS {
        let from = corpus_folder().join(target.name);
        for entry in fs::read_dir(&from).into_iter().flatten().flatten() {
            let name = format!("{}/{}", target.name, entry.file_name().display());
            if text.contains(&name) {
                fs::create_dir_all(folder.join(target.name))?;
                fs::copy(entry.path(), folder.join(name))?;
            }
        }
    }
    Ok(())
}

/// What a process of this program prints, which has some seconds; `None` if it takes longer.
fn answer(words: &[&str]) -> Option<(ExitStatus, Vec<u8>)> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut out = child.stdout.take()?;
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| bytes)
    });
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break Some(status),
            None if begun.elapsed() > HANG_OF_ONE => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let _ = fs::remove_dir_all(temporary(child.id()));
    Some((status?, reader.join().ok()?.ok()?))
}

/// Attacks with one file in a process of its own.
fn one_apart(attack: Attack, path: &Path) -> Option<Finding> {
    let path = path.display().to_string();
    let Some((status, out)) = answer(&["one", "--json", "--reader", attack.name(), &path]) else {
        return Some(hang());
    };
    match serde_json::from_slice(&out) {
        Ok(Verdict::Found(finding)) if finding.place != NOT_VALID => Some(finding),
        Ok(_) => None,
        Err(_) => Some(crash(status)),
    }
}

fn hang() -> Finding {
    Finding::new(Kind::Hang, "no answer in time")
}

fn crash(status: ExitStatus) -> Finding {
    Finding::new(Kind::Crash, format!("the process ended without an answer: {status}"))
}

/// The command that shows a finding again.
fn again(attack: Attack, path: &Path) -> String {
    let reader = match attack {
        Attack::Scenarios => String::new(),
        Attack::Files(target) => format!("--reader {} ", target.name),
    };
    let program = "cargo run --profile attack --package floodway-attack --";
    format!("{program} one {reader}{}", path.display())
}

/// Runs the test that kills the program at random and goes on, if there is one.
fn crashes(rounds: u32) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join("crates/cli/tests/crash.rs").exists() {
        return "not run: there is no test of crashes, crates/cli/tests/crash.rs".to_owned();
    }
    let status = Command::new("cargo")
        .args(["test", "--package", "floodway-cli", "crash::"])
        .env("FLOODWAY_CRASH_ROUNDS", rounds.to_string())
        .current_dir(root)
        .status();
    match status {
        Ok(status) if status.success() => format!("{rounds} rounds, nothing found"),
        Ok(status) => format!("{rounds} rounds failed ({status}): the test's output says how"),
        Err(error) => format!("not run: {error}"),
    }
}

impl State {
    fn read(order: &Order) -> io::Result<Self> {
        match fs::read(order.folder.join(STATE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                let path = order.folder.join(STATE);
                io::Error::other(format!(
                    "`{}` is not the state of an attack ({error}): remove it to begin anew",
                    path.display()
                ))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { seed: order.seed, ..Self::default() })
            }
            Err(error) => Err(error),
        }
    }

    /// The report, as Markdown.
    fn report(&self, folder: &Path) -> String {
        let mut text = format!(
            "# Attack\n\nSeed {}, {:.0} minutes in all.\n\n",
            self.seed,
            self.seconds / 60.0
        );
        let none = Tally::default();
        let scenarios = self.attacks.get(SCENARIOS).unwrap_or(&none);
        let valid = scenarios.clean + scenarios.found.values().sum::<u64>();
        let _ = writeln!(
            text,
            "Scenarios: {valid} valid ({} cut short as too large, {} of these slow), {} given up, {} \
             too large to run; {} packet-hops; {:.0} minutes.\n",
            scenarios.cut,
            scenarios.slow,
            scenarios.given_up,
            scenarios.too_large,
            scenarios.hops,
            scenarios.seconds / 60.0
        );
        let kinds = Kind::ALL.map(|kind| kind.name()).join(" | ");
        let _ = writeln!(text, "| attack | number | {kinds} |");
        let _ = writeln!(text, "| --- | ---: |{}", " ---: |".repeat(Kind::ALL.len()));
        for attack in Attack::all() {
            let tally = self.attacks.get(attack.name()).unwrap_or(&none);
            let counts =
                Kind::ALL.map(|kind| tally.found.get(&kind).copied().unwrap_or(0).to_string());
            let _ =
                writeln!(text, "| {} | {} | {} |", attack.name(), tally.next, counts.join(" | "));
        }
        if let Some(crashes) = &self.crashes {
            let _ = writeln!(text, "\nCrashes: {crashes}.");
        }
        let _ = writeln!(text, "\n## Findings\n");
        if self.findings.is_empty() {
            let _ = writeln!(text, "None.");
        }
        for Known { attack, finding, times, file, number } in &self.findings {
            let path = folder.join(FINDINGS).join(file);
            let attack = Attack::named(attack).map_or(String::new(), |attack| again(attack, &path));
            let _ = writeln!(
                text,
                "### {} in {}, {times} times, first number {number}\n\n```text\n{}\n{attack}\n```\n",
                finding.kind.name(),
                file,
                finding.text.trim_end()
            );
        }
        text
    }
}
