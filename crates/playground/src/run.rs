//! Runs one or two settings of a scenario on the same traffic, one after the other on one thread.

use std::sync::atomic::AtomicBool;

use floodway_machine::memory;
use floodway_machine::read::size;
use floodway_report::manifest::hex;
use floodway_report::{Ending, Experiment as Runs, Manifest, Status, html};
use floodway_scenario::{Overrides, Scenario, Variant};
use floodway_sim::{Simulation, simulation};
use serde::Serialize;

use crate::reply::{Described, Diagnostic, Ran, Reply, Results, Settings};
use crate::request::{Experiment, Side};

/// Name of the scenario's text in messages.
const FILE: &str = "scenario.toml";

/// Samples of the playback if the scenario does not specify them.
const SAMPLES: u32 = 300;

/// Largest number of runs for one request.
const MOST_RUNS: u64 = 100;

/// Progress of a request.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// The run, from 0.
    pub run: usize,
    /// Number of runs.
    pub runs: usize,
    /// Simulated time of this run, in nanoseconds.
    pub now_ns: f64,
    /// Latest end of this run, in nanoseconds.
    pub end_ns: f64,
    /// Part of this run that is done: of its flows if all have an end, otherwise of its time.
    pub done: f64,
}

/// One valid side.
struct Checked {
    scenario: Scenario,
    /// Names of all variants of the text.
    variants: Vec<String>,
    /// Index of its variant in the scenario.
    variant: usize,
    /// Name in the results: that of the variant, or of the side if both have the same variant.
    name: String,
}

impl Checked {
    fn variant(&self) -> &Variant {
        &self.scenario.variants()[self.variant]
    }

    fn footprint(&self) -> (u64, f64) {
        let (bytes, flows) = self.variant().footprint_of_run(self.scenario.replication_seed(0));
        (bytes.0, flows)
    }
}

/// Whether all sides are valid, and what they are.
pub fn check(experiment: &Experiment) -> Reply {
    sides(experiment).1
}

/// The results of all sides.
pub fn run(experiment: &Experiment, watch: &(dyn Fn(Progress) + Sync)) -> Reply {
    let (sides, mut reply) = sides(experiment);
    if reply.refused.is_none() && !reply.has_errors() {
        reply.results = Some(simulate(&sides, watch));
    }
    reply
}

/// The valid sides, all of them unless the reply has errors.
fn sides(experiment: &Experiment) -> (Vec<Checked>, Reply) {
    let mut reply = Reply::default();
    let mut sides: Vec<Checked> = Vec::new();
    if experiment.sides.is_empty() {
        return (sides, Reply::refused("there is nothing to run".to_owned()));
    }
    for side in &experiment.sides {
        let found = load(&experiment.text, side);
        let problems = match &found {
            Ok(checked) => checked.scenario.warnings(),
            Err(error) => error.problems(),
        };
        for diagnostic in problems.iter().map(Diagnostic::from) {
            // Both sides have what is wrong with the text.
            if !reply.problems.contains(&diagnostic) {
                reply.problems.push(diagnostic);
            }
        }
        sides.extend(found);
    }
    if reply.has_errors() {
        return (sides, reply);
    }
    if let [first, second] = &mut sides[..]
        && first.name == second.name
    {
        first.name += "-A";
        second.name += "-B";
    }
    reply.refused = too_large(&sides);
    reply.scenario = Some(described(&sides));
    (sides, reply)
}

fn load(text: &str, side: &Side) -> Result<Checked, floodway_scenario::Error> {
    let parse = |set: &[String]| {
        Scenario::parse(text, FILE, &Overrides { quick: false, set: set.to_vec() })
    };
    let names = |of: &Scenario| -> Vec<String> {
        of.variants().iter().map(|variant| variant.name.clone()).collect()
    };
    let place = |all: &[String]| {
        all.iter().position(|name| side.variant.as_ref() == Some(name)).unwrap_or(0)
    };
    let (scenario, variants) = match parse(&side.set) {
        Ok(scenario) => {
            let variants = names(&scenario);
            (scenario, variants)
        }
        // If a setting does not go with another variant only, this side is without that variant.
        Err(error) => {
            let variants = names(&parse(&[])?);
            if variants.len() == 1 {
                return Err(error);
            }
            let chosen = place(&variants);
            let others = variants.iter().enumerate().filter(|(at, _)| *at != chosen);
            let others = others.map(|(_, name)| format!("variants.{name}=false"));
            (parse(&others.chain(side.set.iter().cloned()).collect::<Vec<_>>())?, variants)
        }
    };
    let variant = place(&names(&scenario));
    let name = scenario.variants()[variant].name.clone();
    Ok(Checked { scenario, variants, variant, name })
}

/// Why a page cannot run this, if it cannot.
fn too_large(sides: &[Checked]) -> Option<String> {
    let runs: u64 = sides.iter().map(|side| u64::from(side.scenario.replications)).sum();
    if runs > MOST_RUNS {
        return Some(format!(
            "these are {runs} runs, and a page makes at most {MOST_RUNS}: ask for fewer replications, or \
             run the scenario with the program, `floodway run`"
        ));
    }
    let needed = sides.iter().map(|side| side.footprint().0).max().unwrap_or(0);
    let room = memory::room()?;
    (needed > room.bytes).then(|| {
        format!(
            "one run needs roughly {} of memory, and {} are left {}: make it smaller, with fewer flows, \
             hosts or samples, or run it with the program, `floodway run`",
            size(needed),
            size(room.bytes),
            room.limit
        )
    })
}

fn described(sides: &[Checked]) -> Described {
    let first = &sides[0];
    let settings = |side: &Checked| {
        let (memory, flows) = side.footprint();
        let variant = side.variant();
        let settings = variant.settings.clone();
        let set = side.scenario.overrides.set.clone();
        Settings { variant: variant.name.clone(), set, settings, memory, flows }
    };
    Described {
        name: first.scenario.name.clone(),
        question: first.scenario.question.clone(),
        variants: first.variants.clone(),
        same_traffic: sides.iter().all(|side| side.variant().shares_traffic_with(first.variant())),
        sides: sides.iter().map(settings).collect(),
    }
}

fn simulate(sides: &[Checked], watch: &(dyn Fn(Progress) + Sync)) -> Results {
    let manifest = manifest(sides);
    let mut runs = Runs::new(&manifest);
    let replications = sides.iter().map(|side| side.scenario.replications).max().unwrap_or(0);
    let pairs =
        (0..replications).flat_map(|number| sides.iter().enumerate().map(move |at| (number, at)));
    let pairs = pairs.filter(|(number, (_, side))| *number < side.scenario.replications);
    let all = sides.iter().map(|side| side.scenario.replications as usize).sum();
    let (mut ran, mut wall_s) = (Vec::new(), 0.0);
    for (place, (replication, (at, side))) in pairs.enumerate() {
        let seed = side.scenario.replication_seed(replication);
        let report = |progress| watch(reached(place, all, &progress));
        let outcome = outcome(side.variant(), replication, seed, &report);
        wall_s += outcome.wall.as_secs_f64();
        let run = floodway_describe::run(&side.name, (replication, seed), "", &outcome);
        runs.add_run(&run);
        ran.push(Ran {
            side: at,
            variant: side.variant().name.clone(),
            replication,
            fingerprint: hex(run.fingerprint),
            hops: run.hops,
            wall_s: run.wall_s,
            simulated_ns: run.simulated_ns,
            violations: outcome.violations.clone(),
        });
    }
    let ending = Ending { status: Status::Complete, wall_s, peak_rss_bytes: None };
    let summary = runs.summary(&ending);
    let page = html::embedded(runs.manifest(), &summary, &runs);
    Results { runs: ran, answer: summary.answer, page }
}

/// One run on this thread. The first replication is recorded for the playback.
fn outcome(
    variant: &Variant,
    replication: u32,
    seed: u64,
    watch: &(dyn Fn(floodway_sim::Progress) + Sync),
) -> floodway_sim::Outcome {
    let mut spec = variant.build_replication(replication, seed);
    if replication == 0 {
        spec.record = spec.record.or(Some(SAMPLES.min(variant.most_samples()).max(2)));
    }
    // There is nobody to set it: the page ends a run with its worker.
    let stop = AtomicBool::new(false);
    Simulation::new(spec).audited(false).run_with(&simulation::Run {
        threads: 1,
        stop: &stop,
        watch,
    })
}

fn reached(run: usize, runs: usize, progress: &floodway_sim::Progress) -> Progress {
    let ns = |at: floodway_model::Instant| at.0 as f64 / 1e3;
    let part = |done: f64, all: f64| if all > 0.0 { done / all } else { 0.0 };
    let (now_ns, end_ns) = (ns(progress.now), ns(progress.end));
    let flows = part(progress.flows.0 as f64, progress.flows.1 as f64);
    Progress { run, runs, now_ns, end_ns, done: flows.max(part(now_ns, end_ns)).min(1.0) }
}

fn manifest(sides: &[Checked]) -> Manifest {
    let (first, baseline) = (&sides[0].scenario, sides[0].variant());
    let variant = |side: &Checked| {
        floodway_describe::variant(&side.name, &side.scenario, side.variant(), baseline)
    };
    Manifest {
        replications: first.replications,
        seed: first.seed,
        workloads: baseline.workload_names(),
        ..Manifest::new(
            floodway_describe::scenario(first, Some(baseline)),
            sides.iter().map(variant).collect(),
        )
    }
}
