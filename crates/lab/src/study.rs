//! Runs the experiments of a study one after another, and evaluates its claims.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use floodway_report::sample::{self, Sampled};
use floodway_report::study::{self as results, Provenance};
use floodway_report::{Lock, Run, directory, manifest};
use floodway_scenario::{Scenario, Variant};
use floodway_study::{Evidence, Experiment, Level, Study};

use crate::{Budget, Existing, How, Watcher, What, execute};

/// The parameters of the request.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The study.
    pub study: &'static Study,
    /// Level of thoroughness.
    pub level: Level,
    /// Whether to search, after everything else, for the interpretation that comes closest to the
    /// numbers of the sources. Only for studies that have such numbers.
    pub closest: bool,
    /// Settings for all experiments, as `path=value`. The claims are then evaluated under these
    /// settings.
    pub set: &'a [String],
    /// Results directory; existing runs in it are not repeated.
    pub path: &'a Path,
}

/// Reason why a study has no result.
#[derive(Debug)]
pub enum Failure {
    /// A setting is wrong.
    Scenario(floodway_scenario::Error),
    /// Runs cannot be stored.
    Results(directory::Error),
    /// The results of the study cannot be stored.
    Study(results::Error),
    /// The study was interrupted in this experiment; finished runs are kept.
    Interrupted(&'static str),
}

/// Result of a study, and its page.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Claims, verdicts and sections.
    pub result: results::Study,
    /// The page.
    pub page: PathBuf,
}

/// The experiments of a study with their scenarios. All are built, so that an error in a setting is reported at once and
/// not at the last experiment.
pub fn plan(
    study: &Study,
    level: Level,
    set: &[String],
) -> Result<(Vec<Experiment>, Vec<Scenario>), floodway_scenario::Error> {
    let plan = (study.plan)(level);
    let scenarios = plan.iter().map(|experiment| experiment.scenario(&study.library, set));
    let scenarios = scenarios.collect::<Result<_, _>>()?;
    Ok((plan, scenarios))
}

/// Runs a study. `how.existing` says whether existing results are kept ([`Existing::Resume`]) or
/// not.
pub fn run(order: &Order, how: &How, watcher: &mut dyn Watcher) -> Result<Judged, Failure> {
    let Order { study, level, set, path, .. } = *order;
    let (plan, scenarios) = plan(study, level, set)?;

    for (experiment, scenario) in plan.iter().zip(&scenarios) {
        affordable(experiment, scenario, how.threads)?;
    }

    let experiments: Vec<&str> = plan.iter().map(|experiment| experiment.name).collect();
    let design = results::Design {
        study: study.entry.name,
        level: level.name(),
        settings: set,
        experiments: &experiments,
    };
    let force = how.existing == Existing::Replace;
    // Checked before the directory is locked: if it holds anything else, nothing may be written
    // there, not even a lock.
    results::may_hold(path, &design, force)?;
    let _lock = Lock::take(path, how.command).map_err(results::Error::from)?;
    results::begin(path, &design, force)?;
    let mut session = Session {
        order,
        how,
        evidence: Evidence::new(study, level, set),
        caveats: caveats(order),
        warnings: BTreeMap::new(),
        violations: Vec::new(),
        provenance: Provenance {
            floodway: env!("CARGO_PKG_VERSION").to_owned(),
            command: how.command.to_vec(),
            started: manifest::now(),
            threads: how.threads,
            ..Provenance::default()
        },
        fingerprints: Vec::new(),
        runs: Vec::new(),
    };
    for (experiment, scenario) in plan.iter().zip(&scenarios) {
        session.run(experiment, scenario, watcher)?;
    }
    // The runs of a search depend on the results of all others, so none of them can be repeated
    // alone; they are not in the sample.
    let sample = sample::choose(&session.runs);
    if let Some(closest) = study.closest.filter(|_| order.closest) {
        loop {
            let next = closest.next(&session.evidence, level);
            if next.is_empty() {
                break;
            }
            for experiment in &next {
                let scenario = experiment.scenario(&study.library, set)?;
                affordable(experiment, &scenario, how.threads)?;
                session.run(experiment, &scenario, watcher)?;
            }
        }
    }
    session.finish(sample)
}

/// Refuses an experiment that needs more memory than the machine has available.
pub(crate) fn affordable(
    experiment: &Experiment,
    scenario: &Scenario,
    threads: usize,
) -> Result<(), floodway_scenario::Error> {
    let budget = Budget::of(scenario, &wanted(experiment, scenario), threads);
    budget.check(&scenario.file_name)
}

/// The variants that an experiment runs.
pub(crate) fn wanted<'a>(experiment: &Experiment, scenario: &'a Scenario) -> Vec<&'a Variant> {
    let wanted = |variant: &&Variant| {
        experiment.variants.is_empty() || experiment.variants.contains(&&*variant.name)
    };
    scenario.variants().iter().filter(wanted).collect()
}

/// Caveats that are known before the study starts.
fn caveats(order: &Order) -> Vec<String> {
    let mut caveats = Vec::new();
    if order.level == Level::Quick {
        caveats.push(
            "This is the quick version: small networks, short runs and few replications. It shows \
             directions; sizes of effects are to be taken from the whole study."
                .to_owned(),
        );
    }
    if !order.set.is_empty() {
        caveats.push(format!(
            "All experiments ran with {}: the verdicts are about the claims under these settings.",
            order.set.join(", ")
        ));
    }
    caveats
}

/// A study in progress.
struct Session<'a> {
    order: &'a Order<'a>,
    how: &'a How<'a>,
    evidence: Evidence,
    caveats: Vec<String>,
    /// Warnings about the scenarios, with the experiments they apply to.
    warnings: BTreeMap<String, Vec<&'static str>>,
    violations: Vec<String>,
    provenance: Provenance,
    fingerprints: Vec<String>,
    /// All runs, some of which are published as a sample.
    runs: Vec<Sampled>,
}

impl Session<'_> {
    /// Runs an experiment, or the part of it that is missing.
    fn run(
        &mut self,
        experiment: &Experiment,
        scenario: &Scenario,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Failure> {
        let variants = wanted(experiment, scenario);
        for warning in scenario.warnings() {
            let runs = |of: &&String| variants.iter().any(|variant| variant.name == **of);
            let of: Vec<&str> = warning.variants.iter().filter(runs).map(String::as_str).collect();
            let text = match (warning.variants.is_empty(), of.is_empty()) {
                (true, _) => warning.message.clone(),
                (false, false) => format!("{} (in {})", warning.message, of.join(", ")),
                // Of variants that are not run.
                (false, true) => continue,
            };
            self.warnings.entry(text).or_default().push(experiment.name);
        }
        self.evidence.begin(experiment.name, scenario);
        let Self { evidence, provenance, runs, .. } = self;
        let take = |run: &Run| {
            provenance.hops += run.hops;
            provenance.run_s += run.wall_s;
            runs.push(Sampled {
                experiment: experiment.name.to_owned(),
                variant: run.variant.to_owned(),
                replication: run.replication,
                packet_hops: run.hops,
                fingerprint: manifest::hex(run.fingerprint),
            });
            evidence.add(experiment.name, run);
        };
        let path = self.order.path.join(experiment.name);
        // The claims of the study are judged, not those of its scenarios.
        let what = What { name: Some(experiment.name), ..What::new(scenario) };
        let done = execute(&what, &variants, &path, self.how, watcher, take)?;
        if done.interrupted() {
            return Err(Failure::Interrupted(experiment.name));
        }
        self.provenance.runs += done.runs;
        self.provenance.reused += done.reused;
        let violation = |text: &String| format!("{}: {text}", experiment.name);
        self.violations.extend(done.summary.violations.iter().map(violation));
        self.fingerprints.push(done.summary.fingerprint);
        Ok(())
    }

    /// Evaluates the claims, and writes the page.
    fn finish(self, sample: Vec<Sampled>) -> Result<Judged, Failure> {
        let Self { order, evidence, provenance, .. } = self;
        let study = order.study;
        let (claims, checks) = study.judge(&evidence);
        let warnings = self.warnings.iter().map(|(text, of)| match of.as_slice() {
            [one] => format!("{one}: {text}."),
            [one, others @ ..] => format!("{one} and {} more: {text}.", others.len()),
            [] => unreachable!("a warning is of an experiment"),
        });
        let unknown = evidence.unknown_counters();
        let fingerprint = manifest::together(self.fingerprints.iter().map(String::as_str));
        let mut sections = (study.sections)(&evidence);
        for section in &mut sections {
            // A run can be too short to measure the content of a chart.
            section.exhibits.retain(|exhibit| !exhibit.is_empty());
        }
        let result = results::Study {
            study: study.entry.name.to_owned(),
            title: study.title.to_owned(),
            question: study.question.to_owned(),
            answer: (study.answer)(&evidence),
            level: evidence.level.name().to_owned(),
            settings: order.set.to_vec(),
            claims,
            checks,
            caveats: self.caveats.into_iter().chain(unknown).chain(warnings).collect(),
            violations: self.violations,
            sections,
            provenance: Provenance { fingerprint, ..provenance },
            sample,
        };
        let page = results::finish(order.path, &result)?;
        Ok(Judged { result, page })
    }
}

impl From<floodway_scenario::Error> for Failure {
    fn from(error: floodway_scenario::Error) -> Self {
        Self::Scenario(error)
    }
}

impl From<directory::Error> for Failure {
    fn from(error: directory::Error) -> Self {
        Self::Results(error)
    }
}

impl From<results::Error> for Failure {
    fn from(error: results::Error) -> Self {
        Self::Study(error)
    }
}
