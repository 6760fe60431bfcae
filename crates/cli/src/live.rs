//! `floodway live`: a run that is steered from a page in a browser while it goes on.

mod desk;
mod pace;
mod server;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration as Wall;

use floodway_emulate::Emulation;
use floodway_lab::Kernels;
use floodway_lab::live::{Choice, Closed, Live, Log};
use floodway_lab::session::{self, write_tables};
use floodway_model::{Duration, Instant};
use floodway_scenario::{Scenario, Variant};
use floodway_sim::Outcome;

use crate::failure::Failure;
use crate::options::LiveOptions;
use crate::output;
use crate::run::stop_on_signals;

use desk::{Asked, Command, Desk, Fixed, Now, Told};
use pace::Pace;
use server::Server;

/// Where the log of a run is, in the folder of its results.
const LOG: &str = "actions.jsonl";

/// How long the server answers after the end, so that pages learn of it.
const FAREWELL: Wall = Wall::from_millis(700);

/// Runs a scenario that is steered, or repeats such a run from its log.
pub fn live(options: &LiveOptions) -> Result<(), Failure> {
    let log = options.replay.as_deref().map(read_log).transpose()?;
    let until = options.until;
    // A limit has to be above the arrivals.
    let settings = [format!("arrivals={until}"), format!("limit={}", until + Duration::from_ms(1))];
    let scenario = options.selection.load(settings)?;
    let variant = match options.selection.variant.as_slice() {
        [] => log.as_ref().map(|log| log.head.variant.clone()),
        [one] => Some(one.clone()),
        _ => {
            return Err(Failure::Unknown(
                "a run begins with one variant, and the page switches to others; give `--variant` once".to_owned(),
            ));
        }
    };
    let choice = Choice {
        variant,
        replication: options.replication,
        end: Some(until),
        threads: usize::from(options.threads),
        audit: options.audit,
    };
    let out = options.out.clone().unwrap_or_else(|| {
        let kind = if log.is_some() { "replay" } else { "live" };
        PathBuf::from("results").join(format!("{kind}-{}", scenario.name))
    });
    refuse_existing(&out, options.force)?;
    let stop = stop_on_signals(false)?;
    let emulation = emulation(&scenario, options, &stop)?;
    let kernels = emulation.as_ref().map(|emulation| emulation as &dyn Kernels);
    let done = match (Live::open(&scenario, &choice, kernels), log) {
        (Err(error), _) => Err(refused(error)),
        (Ok(live), Some(log)) => replay(live, &log, (&stop, options.quiet), &out),
        (Ok(live), None) => {
            let trouble = || emulation.as_ref().and_then(Emulation::failure);
            steer(live, &scenario, (options, &trouble), &stop, &out)
        }
    };
    match emulation.and_then(|emulation| emulation.failure()) {
        Some(text) => Err(Failure::Kernel(text)),
        None => done,
    }
}

/// What starts the hosts that are Linux kernels; `None` if all are simulated.
fn emulation(
    scenario: &Scenario,
    options: &LiveOptions,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Emulation>, Failure> {
    if !scenario.variants().iter().any(Variant::has_kernels) {
        return match &options.kernel {
            Some(_) => Err(Failure::Unknown(
                "no host of the scenario is a Linux kernel; add [workload.linux] to a [[workload]], or leave `--kernel` out"
                    .to_owned(),
            )),
            None => Ok(None),
        };
    }
    let emulation = Emulation::new(options.kernel.as_deref(), options.patience, Arc::clone(stop));
    emulation.map(Some).map_err(Failure::Unknown)
}

/// An error about the choice of a run. Those about scenarios are printed as for other commands.
fn refused(error: session::Error) -> Failure {
    match error {
        session::Error::Scenario(error) => Failure::Scenario(error),
        other => Failure::Unknown(other.to_string()),
    }
}

fn read_log(path: &Path) -> Result<Log, Failure> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::Unknown(format!("cannot read `{shown}`: {error}; choose the {LOG} of a run"))
    })?;
    Log::parse(&text).map_err(|error| Failure::Unknown(format!("`{shown}`, {error}")))
}

/// Refuses a folder with something in it.
fn refuse_existing(out: &Path, force: bool) -> Result<(), Failure> {
    let is_there = fs::read_dir(out).is_ok_and(|mut files| files.next().is_some());
    if is_there && !force {
        return Err(Failure::Unknown(format!(
            "`{}` has files already; choose another folder with `--out`, or replace them with `--force`",
            out.display()
        )));
    }
    Ok(())
}

/// Repeats a run from its log.
fn replay(
    live: Live,
    log: &Log,
    (stop, quiet): (&AtomicBool, bool),
    out: &Path,
) -> Result<(), Failure> {
    let begun = std::time::Instant::now();
    let closed = live.replay(log, |_| !stop.load(Ordering::Relaxed)).map_err(refused)?;
    let Some(Closed { outcome, files, .. }) = closed else { return Err(Failure::Interrupted) };
    let closed = Closed { outcome, files, log: log.clone() };
    keep(&closed, out)?;
    let outcome = closed.outcome;
    let fingerprint = outcome.fingerprint;
    if !quiet {
        let (actions, wall) = (log.entries.len(), begun.elapsed().as_secs_f64());
        output::note(&format!(
            "repeated {actions} actions in {wall:.1} s; fingerprint {fingerprint:016x}, tables in {}",
            out.display()
        ));
    }
    if let Some((_, Some(expected))) = log.end
        && expected != fingerprint
    {
        return Err(Failure::Outdated(format!(
            "the run had the fingerprint {expected:016x}, and its repetition has {fingerprint:016x}: the log has been \
             changed, or this is a fault of floodway"
        )));
    }
    sound(outcome)
}

/// Fails if a run was not sound.
fn sound(outcome: Outcome) -> Result<(), Failure> {
    if outcome.violations.is_empty() {
        Ok(())
    } else {
        Err(Failure::Violations(outcome.violations))
    }
}

/// Writes the results of a run.
fn keep(closed: &Closed, out: &Path) -> Result<(), Failure> {
    let Closed { outcome, log, files } = closed;
    let mut written = write_tables(outcome, out);
    written = written.and_then(|()| fs::write(out.join(LOG), log.text()));
    for file in files {
        written = written.and_then(|()| fs::write(out.join(file.name), &file.octets));
    }
    written.map_err(|error| Failure::System("write the results of the run", error))
}

/// Lets pages steer a run until it ends.
fn steer(
    live: Live,
    scenario: &Scenario,
    (options, trouble): (&LiveOptions, &dyn Fn() -> Option<String>),
    stop: &AtomicBool,
    out: &Path,
) -> Result<(), Failure> {
    let server = Server::bind(options.port).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::Unknown(format!(
            "port {} of this machine is in use; choose another one with `--port`, or any that is free with `--port 0`",
            options.port
        )),
        _ => Failure::System("listen on a port of this machine", error),
    })?;
    let url = server.url();
    let step = Duration::from_ms(u64::from(options.step));
    let question = scenario.question.as_str();
    let fixed = Fixed::of(&live, (&scenario.name, question), step.as_secs());
    let (desk, commands) = Desk::new(fixed);
    let mut run =
        Run { live, desk: desk.clone(), step, pace: Pace::new(options.speed), port: None };
    run.say(None);
    server.serve(move |request| desk.answer(request));
    // Standard output has only this, so that a script can read it.
    output::print(&format!("{url}\n"))?;
    if !options.quiet {
        output::note("open this page in a browser; Ctrl-C ends the run");
    }
    let ended = run.go_on(&commands, stop)?;
    if ended == Ended::Interrupted && !options.quiet && trouble().is_none() {
        output::note("the run ends here");
    }
    run.say(Some(trouble().unwrap_or_default()));
    std::thread::sleep(FAREWELL);
    let now = run.live.now();
    let closed = run.live.close();
    keep(&closed, out)?;
    let Closed { outcome, log, .. } = closed;
    if !options.quiet && trouble().is_none() {
        let (actions, path) = (log.entries.len(), out.join(LOG));
        output::note(&format!(
            "{now} were simulated, with {actions} actions; tables and log are in {}. To repeat the run, give the same \
             options and `--replay {}`",
            out.display(),
            path.display()
        ));
    }
    sound(outcome)
}

/// Why a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Its time limit.
    Limit,
    /// A page.
    Asked,
    /// A signal.
    Interrupted,
}

/// A run that is steered.
struct Run {
    live: Live,
    desk: Desk,
    step: Duration,
    pace: Pace,
    /// The port that is looked at: the first that was the busiest, until somebody chooses one. `None` before something is sent.
    port: Option<usize>,
}

impl Run {
    /// Takes commands and advances, until the run ends.
    fn go_on(&mut self, commands: &Receiver<Asked>, stop: &AtomicBool) -> Result<Ended, Failure> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(Ended::Interrupted);
            }
            match commands.recv_timeout(self.pace.wait(self.live.now(), self.step)) {
                Ok((command, reply)) => {
                    let done = self.take(&command);
                    let ends = command == Command::End(());
                    self.say(ends.then(String::new));
                    // A page that has gone away needs no answer.
                    let _ = reply.try_send(done);
                    if ends {
                        return Ok(Ended::Asked);
                    }
                    // Further commands come before the next step, because they were given before it.
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The server lives as long as the process.
                Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Interrupted),
            }
            if self.pace.is_due(self.live.now(), self.step) {
                let sample = self.live.advance(self.step, self.port()).map_err(refused)?;
                self.port = self.port.or(self.live.busiest());
                self.pace.advanced(self.live.now());
                self.desk.add(sample);
                self.say(None);
            }
            if self.live.now() >= self.live.end() {
                return Ok(Ended::Limit);
            }
        }
    }

    /// Carries out a command.
    fn take(&mut self, command: &Command) -> Result<(), String> {
        if let Some(action) = command.action() {
            let at = self.live.act(&action).map_err(|refused| refused.to_string())?;
            self.desk.tell(Told { time_s: seconds(at), action });
            return Ok(());
        }
        match *command {
            Command::Speed(Some(speed)) if !(0.01..=1_000.0).contains(&speed) => {
                return Err(format!("the speed is {speed}: it must be from 0.01 to 1000"));
            }
            Command::Speed(speed) => self.pace.set_speed(speed, self.live.now()),
            Command::Pause(paused) => self.pace.pause(paused, self.live.now()),
            Command::Port(port) => {
                let ports = self.live.ports().count();
                if port >= ports {
                    return Err(format!(
                        "there is no port {port}: there are {ports}, counted from 0"
                    ));
                }
                self.port = Some(port);
            }
            _ => {}
        }
        Ok(())
    }

    fn port(&self) -> usize {
        self.port.unwrap_or(0)
    }

    /// Says how things are. If the run has ended, `ended` is what has gone wrong; empty if nothing has.
    fn say(&self, ended: Option<String>) {
        self.desk.set(Now {
            time_s: seconds(self.live.now()),
            speed: self.pace.speed(),
            pace: self.pace.reached(),
            paused: self.pace.is_paused(),
            ended: ended.is_some(),
            trouble: ended.unwrap_or_default(),
            port: self.port(),
            management: self.live.management(),
            flows: self.live.kinds().iter().map(|kind| kind.count()).collect(),
        });
    }
}

fn seconds(at: Instant) -> f64 {
    at.0 as f64 / 1e12
}
