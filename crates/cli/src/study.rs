//! `floodway study`: the experiments of a study one after another, and the verdict on its claims.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use floodway_report::study::{self, Provenance};
use floodway_report::{Run, manifest, terminal};
use floodway_scenario::Scenario;
use floodway_study::{Evidence, Experiment, Level, Study};

use crate::failure::Failure;
use crate::options::StudyOptions;
use crate::output;
use crate::run::{Existing, How, Talk, execute, stop_on_signals, threads};

/// Runs a study.
pub fn study(options: &StudyOptions) -> Result<(), Failure> {
    let known = floodway_study::CATALOGUE.iter().find(|study| study.entry.name == options.name);
    let study = known.expect("the command line takes only known names");
    let level = level(options);
    let plan = (study.plan)(level);
    if options.plan {
        let commands = plan.iter().map(|experiment| experiment.command(&options.set) + "\n");
        return output::print(&commands.collect::<String>());
    }
    // All of them first: a mistake in a setting should not wait for the last experiment.
    let scenario = |experiment: &Experiment| experiment.scenario(study.library, &options.set);
    let scenarios: Vec<Scenario> = plan.iter().map(scenario).collect::<Result<_, _>>()?;

    let path = out(options, level);
    let experiments: Vec<&str> = plan.iter().map(|experiment| experiment.name).collect();
    let design = study::Design {
        study: study.entry.name,
        level: level.name(),
        settings: &options.set,
        experiments: &experiments,
    };
    study::begin(&path, &design, options.force)?;
    let mut session = Session {
        options,
        path: &path,
        stop: &*stop_on_signals()?,
        evidence: Evidence::new(study, level, &options.set),
        caveats: caveats(options, level),
        violations: Vec::new(),
        provenance: Provenance {
            floodway: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            started: manifest::now(),
            threads: threads(options.threads),
            ..Provenance::default()
        },
        fingerprints: Vec::new(),
    };
    for (experiment, scenario) in plan.iter().zip(&scenarios) {
        session.run(experiment, scenario)?;
    }
    session.finish(study)
}

fn level(options: &StudyOptions) -> Level {
    match options {
        StudyOptions { quick: true, .. } => Level::Quick,
        StudyOptions { full: true, .. } => Level::Full,
        _ => Level::Standard,
    }
}

/// Where results go. The larger levels share a directory, because the one has the runs of the
/// other.
fn out(options: &StudyOptions, level: Level) -> PathBuf {
    let end = if level == Level::Quick { "-quick" } else { "" };
    let default = || PathBuf::from("results").join(format!("study-{}{end}", options.name));
    options.out.clone().unwrap_or_else(default)
}

/// What is known before it starts.
fn caveats(options: &StudyOptions, level: Level) -> Vec<String> {
    let mut caveats = Vec::new();
    if level == Level::Quick {
        caveats.push(
            "This is the quick version: small networks, short runs and few replications. It shows \
             directions; sizes of effects are to be taken from the whole study."
                .to_owned(),
        );
    }
    if !options.set.is_empty() {
        caveats.push(format!(
            "All experiments ran with {}: the verdicts are about the claims under these settings.",
            options.set.join(", ")
        ));
    }
    caveats
}

/// A study under way.
struct Session<'a> {
    options: &'a StudyOptions,
    path: &'a Path,
    stop: &'a AtomicBool,
    evidence: Evidence,
    caveats: Vec<String>,
    violations: Vec<String>,
    provenance: Provenance,
    fingerprints: Vec<String>,
}

impl Session<'_> {
    /// Runs an experiment, or what is missing of it.
    fn run(&mut self, experiment: &Experiment, scenario: &Scenario) -> Result<(), Failure> {
        for warning in scenario.warnings() {
            let text = format!("{}: {}.", experiment.name, warning.message);
            self.caveats.push(text);
        }
        let wanted =
            |name: &str| experiment.variants.is_empty() || experiment.variants.contains(&name);
        let variants: Vec<_> =
            scenario.variants().iter().filter(|variant| wanted(&variant.name)).collect();
        let how = How {
            threads: self.provenance.threads,
            stop: self.stop,
            existing: if self.options.force { Existing::Replace } else { Existing::Resume },
            formats: &["parquet".to_owned()],
            talk: self.talk(),
            label: experiment.name,
        };
        self.evidence.begin(experiment.name, scenario);
        let (evidence, provenance) = (&mut self.evidence, &mut self.provenance);
        let take = |run: &Run| {
            provenance.hops += run.hops;
            provenance.run_s += run.wall_s;
            evidence.add(experiment.name, run);
        };
        let done = execute(scenario, &variants, &self.path.join(experiment.name), &how, take)?;
        if done.interrupted() {
            output::note(&format!(
                "interrupted in the experiment `{}`; what was finished is kept in {}, and the same \
                 command goes on from there",
                experiment.name,
                self.path.display()
            ));
            return Err(Failure::Interrupted);
        }
        self.provenance.runs += done.runs;
        self.provenance.reused += done.reused;
        let violation = |text: &String| format!("{}: {text}", experiment.name);
        self.violations.extend(done.summary.violations.iter().map(violation));
        self.fingerprints.push(done.summary.fingerprint);
        Ok(())
    }

    fn talk(&self) -> Talk {
        match self.options {
            StudyOptions { quiet: true, .. } => Talk::Nothing,
            StudyOptions { verbose: true, .. } => Talk::Runs,
            _ => Talk::Progress,
        }
    }

    /// Judges, writes and shows.
    fn finish(self, study: &Study) -> Result<(), Failure> {
        let Self { options, evidence, provenance, .. } = self;
        let fingerprint = manifest::together(self.fingerprints.iter().map(String::as_str));
        let result = study::Study {
            study: study.entry.name.to_owned(),
            title: study.title.to_owned(),
            question: study.question.to_owned(),
            answer: (study.answer)(&evidence),
            level: evidence.level.name().to_owned(),
            settings: options.set.clone(),
            claims: study.judge(&evidence),
            caveats: self.caveats,
            violations: self.violations,
            sections: (study.sections)(&evidence),
            provenance: Provenance { fingerprint, ..provenance },
        };
        let page = study::finish(self.path, &result)?;
        if options.json {
            output::print_json(&result)?;
        } else if !options.quiet {
            let table = terminal::claims(&result, output::style());
            output::print(&format!("{table}open {} in a browser\n", page.display()))?;
        }
        match result.violations {
            violations if violations.is_empty() => Ok(()),
            violations => Err(Failure::Violations(violations)),
        }
    }
}
