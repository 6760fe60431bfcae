//! `floodway sweep`: a scenario at every point of a grid of settings.

use std::path::PathBuf;

use floodway_lab::execute::Existing;
use floodway_lab::sweep::{self, Failure as Why, Order};
use floodway_lab::{Budget, How};
use floodway_machine::printable;
use floodway_report::{Store, terminal};
use floodway_scenario::sweep::{Arguments, Spec, Sweep, Until};
use floodway_scenario::{Overrides, Scenario, suggest};

use crate::failure::Failure;
use crate::options::SweepOptions;
use crate::run::{Speaker, Talk, command, stop_on_signals, threads};
use crate::{output, pages, selection};

/// Runs a sweep.
pub fn sweep(options: &SweepOptions) -> Result<(), Failure> {
    let base = options.selection.load(settings(options))?;
    let sweep = grid(options, &base)?;
    let variants: Vec<String> =
        options.selection.variants(&base)?.iter().map(|variant| variant.name.clone()).collect();
    if options.plan {
        return plan(options, &sweep);
    }
    let budget = Budget::of_sweep(&sweep, &variants, threads(options.threads));
    pages::take_large_ones_for(budget.of_run);
    if !options.quiet {
        selection::warn(base.warnings().iter().chain(sweep.warnings()));
        let points = sweep.points.len();
        budget.check(&base.file_name)?;
        let runs = sweep::due(&sweep, &variants, &Default::default(), &Default::default()).len();
        output::note(&format!("{points} points and {} variants: {runs} runs", variants.len()));
        if base.claims.is_some() {
            output::note(
                "the claims of the scenario are not judged in a sweep; `floodway run` does that",
            );
        }
    }
    let path = out(options, &base);
    let store = (!options.no_cache).then(|| Store::new(&options.cache));
    let order = Order {
        sweep: &sweep,
        variants: &variants,
        store: store.as_ref(),
        path: &path,
        shown: &options.metric,
    };
    let how = How {
        threads: threads(options.threads),
        stop: &*stop_on_signals(false)?,
        existing: Existing::Resume,
        formats: &[],
        trace: None,
        capture: None,
        kernels: None,
        ranks: None,
        audit: false,
        command: &command(),
    };
    let swept = match sweep::run(&order, &how, &mut Speaker::new(talk(options))) {
        Err(Why::Interrupted(runs)) => {
            let next = match &store {
                Some(store) => format!(
                    "these are in {}, and the same command goes on from there",
                    store.path().display()
                ),
                None => "without the cache nothing is kept".to_owned(),
            };
            output::note(&format!("interrupted: {runs} runs ended by themselves; {next}"));
            return Err(Failure::Interrupted);
        }
        swept => swept?,
    };
    if options.json {
        output::print_json(&swept.result)?;
    } else if !options.quiet {
        let table = terminal::sweep(&swept.result, output::style());
        let reused = match swept.result.provenance.reused {
            0 => String::new(),
            some => format!(", {some} of them from the cache"),
        };
        output::print(&format!(
            "{table}{} runs{reused}\nresults in {}; open {} in a browser\n",
            swept.result.provenance.runs,
            output::path(&path),
            output::path(&swept.page)
        ))?;
    }
    match swept.result.violations {
        violations if violations.is_empty() => Ok(()),
        violations => Err(Failure::Violations(violations)),
    }
}

/// Options that stand for settings of the scenario.
fn settings(options: &SweepOptions) -> Vec<String> {
    let replications = options.replications.map(|number| format!("replications={number}"));
    let seed = options.seed.map(|seed| format!("seed={seed}"));
    replications.into_iter().chain(seed).collect()
}

fn grid(options: &SweepOptions, base: &Scenario) -> Result<Sweep, Failure> {
    let mut spec: Spec = base.sweep.clone().unwrap_or_default();
    if spec.vary.is_empty() && options.vary.is_empty() {
        return Err(Failure::Unknown(format!(
            "the scenario `{}` has no `[sweep]`, so nothing is varied; say what, as in `--vary \
             switch.queue.size=500KB,1MB`",
            base.name
        )));
    }
    if let Some(until) = &options.until {
        spec.until = Some(Until::parse(until)?);
    }
    match (&mut spec.until, options.at_most) {
        (Some(until), Some(at_most)) => until.at_most = at_most,
        (None, Some(_)) => {
            return Err(Failure::Unknown(
                "`--at-most` says how long to go on with `--until`, which is not given".to_owned(),
            ));
        }
        _ => {}
    }
    let load = |overrides: &Overrides| Scenario::load(&options.selection.file, overrides);
    let arguments = Arguments {
        vary: &options.vary,
        reference: &options.reference,
        variants: &options.selection.variant,
    };
    Ok(Sweep::new(&spec, arguments, &base.overrides, load)?)
}

/// Prints a command for each point.
fn plan(options: &SweepOptions, sweep: &Sweep) -> Result<(), Failure> {
    let mut text = String::new();
    for (number, point) in sweep.points.iter().enumerate() {
        let file = options.selection.file.to_string_lossy();
        text += &format!("floodway run {}", printable::line(&floodway_study::plan::quoted(&file)));
        if options.selection.quick {
            text += " --quick";
        }
        for setting in &point.scenario.overrides.set {
            text += &format!(" --set {}", printable::line(&floodway_study::plan::quoted(setting)));
        }
        for variant in &options.selection.variant {
            text += &format!(" --variant {variant}");
        }
        text += &format!(" --out results/point-{number}\n");
    }
    output::print(&text)
}

fn out(options: &SweepOptions, base: &Scenario) -> PathBuf {
    let name = format!("sweep-{}", base.name);
    options.out.clone().unwrap_or_else(|| PathBuf::from("results").join(name))
}

fn talk(options: &SweepOptions) -> Talk {
    match options {
        SweepOptions { quiet: true, .. } => Talk::Nothing,
        SweepOptions { verbose: true, .. } => Talk::Runs,
        _ => Talk::Progress,
    }
}

impl From<Why> for Failure {
    fn from(failure: Why) -> Self {
        match failure {
            Why::Results(error) => Self::Sweep(error),
            Why::Scenario(error) => Self::Scenario(error),
            Why::Locked(error) => Self::Results(error.into()),
            Why::Interrupted(_) => Self::Interrupted,
            Why::Metric { name, known } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let remedy = suggest::remedy(&name, "metrics", &known);
                Self::Unknown(format!("these runs have no metric `{name}`; {remedy}"))
            }
        }
    }
}
