//! Whole experiments, into results directories, and studies.

use std::error::Error;
use std::path::{Path, PathBuf};

use floodway_lab::capture::Choice;
use floodway_lab::study::{Failure, Order, run};
use floodway_lab::{Budget, Existing, How, Total, Watcher, What, words_of_others};
use floodway_report::html;
use floodway_report::study::Section;
use floodway_report::trace;
use floodway_scenario::suggest::remedy;
use floodway_scenario::{Scenario, Variant};
use floodway_sim::Ranks;
use floodway_study::{Built, CATALOGUE, Level, RunClaims};
use pyo3::prelude::*;

use crate::background::{self, Desk};
use crate::chart::Picture;
use crate::error;
use crate::ranks::Communicator;

/// How far an experiment has come: its name if it is one of several, and its runs.
pub type News = (Option<String>, Total);

/// Says on a desk how far an experiment is.
pub struct Teller<'a> {
    desk: &'a Desk<News>,
    name: Option<String>,
    /// Notes about files among the runs that floodway did not write.
    others: Vec<String>,
}

impl<'a> Teller<'a> {
    /// Says it there.
    pub fn new(desk: &'a Desk<News>) -> Self {
        Self { desk, name: None, others: Vec::new() }
    }
}

impl Watcher for Teller<'_> {
    fn begin(&mut self, name: Option<&str>, _kept: Option<usize>, _runs: usize) {
        self.name = name.map(str::to_owned);
    }

    fn others(&mut self, first: &Path, count: usize) {
        self.others.push(words_of_others(first, count));
    }

    fn look(&mut self, total: &Total, _stopping: bool) {
        self.desk.say((self.name.clone(), *total));
    }
}

/// Passes news on: the name, the part that is done, runs that have ended and all, simulated
/// nanoseconds, and packet-hops.
pub fn tell(watch: Option<&Bound<'_, PyAny>>, (name, total): News) -> PyResult<()> {
    let Some(watch) = watch else { return Ok(()) };
    let Total { runs, ended, part, simulated_ns, hops } = total;
    watch.call1((name, part, ended, runs, simulated_ns, hops)).map(|_| ())
}

/// What is to become of results that are there: `refuse`, `replace` or `resume`.
fn existing(word: &str) -> PyResult<Existing> {
    match word {
        "refuse" => Ok(Existing::Refuse),
        "replace" => Ok(Existing::Replace),
        "resume" => Ok(Existing::Resume),
        _ => {
            let remedy = remedy(word, "ways", &["refuse", "replace", "resume"]);
            Err(error::value(&format!("existing results cannot be `{word}`; {remedy}")))
        }
    }
}

/// The words of the provenance: what Python was started with.
pub fn command(py: Python<'_>) -> Vec<String> {
    let words = py.import("sys").and_then(|sys| sys.getattr("orig_argv")?.extract());
    words.unwrap_or_default()
}

/// Runs variants of a scenario, and calls `watch` as [`tell`] does. Notes about files of others.
pub fn execute(
    py: Python<'_>,
    (scenario, variants): (&Scenario, &[&Variant]),
    (path, existing): (&Path, &str),
    (trace, pcap): (Option<&str>, Vec<String>),
    (threads, ranks): (Option<usize>, Option<&Communicator>),
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let threads = match ranks {
        Some(_) => threads.unwrap_or(1),
        None => background::threads(threads)?,
    };
    let existing = self::existing(existing)?;
    let forms: Vec<&str> = trace::CATALOGUE.iter().map(|form| form.entry.name).collect();
    if let Some(unknown) = trace.filter(|name| !forms.contains(name)) {
        let remedy = remedy(unknown, "forms of traces", &forms);
        return Err(error::value(&format!("there is no trace `{unknown}`; {remedy}")));
    }
    let capture = (!pcap.is_empty()).then(|| Choice::of(pcap));
    let mut budget = Budget::of(scenario, variants, threads);
    if let Some(choice) = &capture {
        let seed = scenario.replication_seed(0);
        let checked = variants.iter().try_for_each(|variant| choice.check(variant, seed));
        checked.map_err(|problem| error::value(&problem))?;
        budget.add_capture(choice, variants);
    }
    if let Some(ranks) = ranks {
        budget.share(ranks.ranks());
    }
    budget.check(&scenario.file_name).map_err(|refused| error::scenario(py, &refused))?;
    let claims = RunClaims::of(scenario).map_err(|failed| error::scenario(py, &failed))?;
    let what = What { claims, ..What::new(scenario) };
    let (formats, command) = (vec!["parquet".to_owned()], command(py));
    let work = |desk: &Desk<News>| {
        let how = How {
            threads,
            stop: &desk.stop,
            existing,
            formats: &formats,
            trace,
            capture: capture.as_ref(),
            kernels: None,
            ranks: ranks.map(|ranks| ranks as &dyn Ranks),
            audit: false,
            command: &command,
        };
        let mut teller = Teller::new(desk);
        floodway_lab::execute(&what, variants, path, &how, &mut teller, |_| {})
            .map(|_| teller.others)
    };
    let done = background::work(py, work, |news| tell(watch, news))?;
    done.map_err(|failed| error::results(py, &failed))
}

/// Why a study keeps no results. Its argument for `--force` is not that of experiments.
fn refused(py: Python<'_>, failed: &dyn Error) -> PyErr {
    error::results_text(py, failed.to_string().replace("`--force`", "`replace=True`"))
}

/// The charts of sections.
pub fn pictures(sections: &[Section]) -> Vec<Picture> {
    let exhibits = sections
        .iter()
        .flat_map(|section| section.exhibits.iter().filter_map(|of| html::drawn(section, of)));
    exhibits.map(Picture).collect()
}

/// What a study came to, as JSON, its page, its charts, and notes about files of others.
type Judged = (String, PathBuf, Vec<Picture>, Vec<String>);

/// Runs a study, and calls `watch` as [`tell`] does.
#[pyfunction]
pub fn study(
    py: Python<'_>,
    name: &str,
    level: &str,
    set: Vec<String>,
    place: (PathBuf, bool),
    threads: Option<usize>,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<Judged> {
    let (path, replace) = place;
    let Some(study) = floodway_study::named(name) else {
        let names: Vec<&str> = CATALOGUE.iter().map(Built::name).collect();
        let remedy = remedy(name, "studies", &names);
        let folder = "or name a folder with a study.toml";
        return Err(error::value(&format!("there is no study `{name}`; {remedy}, {folder}")));
    };
    let study = study.map_err(|failed| error::scenario(py, &failed))?;
    let levels = [Level::Quick, Level::Standard, Level::Full];
    let Some(level) = levels.into_iter().find(|known| known.name() == level) else {
        let remedy = remedy(level, "levels", &levels.map(Level::name));
        return Err(error::value(&format!("there is no level `{level}`; {remedy}")));
    };
    let (threads, command) = (background::threads(threads)?, command(py));
    let formats = vec!["parquet".to_owned()];
    let existing = if replace { Existing::Replace } else { Existing::Resume };
    let work = |desk: &Desk<News>| {
        let how = How {
            threads,
            stop: &desk.stop,
            existing,
            formats: &formats,
            trace: None,
            capture: None,
            kernels: None,
            ranks: None,
            audit: false,
            command: &command,
        };
        let mut teller = Teller::new(desk);
        let judged =
            run(&Order { study, level, closest: false, set: &set, path: &path }, &how, &mut teller);
        judged.map(|judged| (judged, teller.others))
    };
    let judged = background::work(py, work, |news| tell(watch.as_ref(), news))?;
    let (judged, others) = judged.map_err(|failure| match failure {
        Failure::Scenario(failed) => error::scenario(py, &failed),
        Failure::Results(failed) => refused(py, &failed),
        Failure::Study(failed) => refused(py, &failed),
        Failure::Interrupted(name) => {
            error::results_text(py, format!("the study was interrupted in `{name}`"))
        }
    })?;
    let text = serde_json::to_string(&judged.result).expect("a study is JSON");
    Ok((text, judged.page, pictures(&judged.result.sections), others))
}
