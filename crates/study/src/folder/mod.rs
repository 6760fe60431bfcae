//! Studies as folders: a file `study.toml`, scenarios, and points to lay over charts.
//!
//! - `document`: the file
//! - `files`: where it and its scenarios are
//! - `experiments`: experiments over lists of settings and values
//! - `readings`: readings of a design over factors, and the search among them
//! - `one_choice`: readings that make one other choice each
//! - `tables`: files that are tables in SQL
//! - `answer`: sentences with numbers in them
//! - `chart`: sections with charts
//!
//! Its claims and their numbers are checked by `compile`.
//!
//! A study is kept in memory until the program ends, because verdicts refer to it.

mod answer;
mod chart;
mod document;
mod experiments;
mod files;
mod one_choice;
mod readings;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use floodway_model::family::Entry;
use floodway_scenario::claims::Number;
use floodway_scenario::{Error, Place, Problem, Source};

use crate::Study;
use crate::claim::Row;
use crate::compile::{Cases, Compiler, all, kept, measure};
use crate::evidence::Evidence;
use crate::flows::FlowGroup;
use crate::plan::{Level, name};
use crate::readings::closest::Closest;
use crate::readings::{Judged, Readings};
use crate::sql::Query;

use answer::Numbers;
use document::Document;
use experiments::Known;
use files::Files;
use one_choice::OneChoice;

/// The file of a study.
pub const FILE: &str = "study.toml";

/// A study while it is checked.
struct Loading<'a> {
    files: Files<'a>,
    document: &'a Document,
    experiments: BTreeMap<&'a str, Known>,
    compiler: Compiler<'a>,
    first_run: &'static [(&'static str, Vec<&'static str>)],
    /// The readings of a design, if there are factors, and the search among them.
    readings: Option<&'static Readings>,
    closest: Option<&'static Closest>,
}

/// Reads the study of a folder. Fails with everything that is wrong with its file, or with the first scenario that cannot
/// run.
pub fn load(folder: &Path) -> Result<&'static Study, Error> {
    let own = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let label = own.file_name().map_or("study".into(), |name| name.to_string_lossy());
    read(Files::Folder(folder), &label)
}

/// A study of this name that is part of the program, by these files: pairs of path and text, of which its own are in this
/// folder. Panics if anything is wrong.
pub fn built(
    files: &'static [(&'static str, &'static str)],
    folder: &'static str,
    name: &str,
) -> &'static Study {
    let study = read(Files::Built(files, folder), name);
    study.unwrap_or_else(|error| panic!("the study {name} is wrong:\n{}", error.plain()))
}

/// What such a study is in a line, for which its scenarios are not read. Panics if its file is wrong.
pub fn entry(
    files: &'static [(&'static str, &'static str)],
    folder: &'static str,
    name: &str,
) -> Entry {
    let document = parsed(Files::Built(files, folder)).map(|(_, document)| document);
    let document = document.unwrap_or_else(|error| panic!("{name} is wrong:\n{}", error.plain()));
    document.entry(name)
}

/// The file of a study, as text and as what it says.
fn parsed(files: Files<'_>) -> Result<(Arc<Source>, Document), Error> {
    let path = files.path(FILE);
    let shown = path.display().to_string();
    let text = files.text(FILE).map_err(|error| {
        let place = Place::whole(&Arc::new(Source::new(&shown, String::new())));
        let help = format!(
            "a study is a folder with a file {FILE}; `floodway list study` shows those that are part of the program"
        );
        Error::from(Problem::error(place, format!("{shown} cannot be read: {error}"), help))
    })?;
    let source = Arc::new(Source::new(&shown, text));
    let document: Document = toml::from_str(source.inner()).map_err(|error| {
        let place = match error.span() {
            Some(range) => Place::at(&source, range),
            None => Place::whole(&source),
        };
        let help = "see docs/own-study.md for what a study can have";
        Error::from(Problem::error(place, error.message(), help))
    })?;
    Ok((source, document))
}

fn read(files: Files, label: &str) -> Result<&'static Study, Error> {
    let (source, document) = parsed(files)?;
    let document = document.with_values();
    let compiler = Compiler::new(&source, &document.flows, Cases::OfExperiments);
    let mut loading = Loading {
        files,
        document: &document,
        experiments: BTreeMap::new(),
        compiler,
        first_run: &[],
        readings: None,
        closest: None,
    };
    loading.lists();
    loading.experiments()?;
    loading.first_run();
    let study = loading.study(label);
    match Error::of(loading.compiler.problems) {
        Some(error) => Err(error),
        None => Ok(study),
    }
}

impl<'a> Loading<'a> {
    fn study(&mut self, label: &str) -> &'static Study {
        let document = self.document;
        let groups: Vec<FlowGroup> = measure::groups(&document.flows);
        self.compiler.quantities.clone_from(&document.quantity);
        self.compiler.views.clone_from(&document.view);
        let tables = self.tables();
        self.compiler.views.extend(tables);
        let (mut claims, rows) = self.compiler.claims(&document.claim);
        let mut rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
        for (at, of) in document.check.iter().enumerate() {
            let id = of.id.clone().unwrap_or_else(|| format!("check {}", at + 1));
            let number = Number {
                part: of.part.clone(),
                metric: of.metric.clone(),
                claimed: of.claimed.clone(),
                source: None,
                expected: String::new(),
                expected_of: BTreeMap::new(),
                rule: of.rule,
                measure: of.measure.clone(),
            };
            let row = self.compiler.row(name(&id), &of.source, &number, Some(of.set_up));
            rows.extend(row.map(|(row, _)| row));
        }
        let readings = self.design();
        self.readings = readings;
        self.closest = self.closest();
        let one_at_a_time = self.one_at_a_time();
        let plan = self.plan();
        let plan = move |level: Level| {
            let mut all = plan(level);
            if let Some(readings) = readings {
                let of = |reading| readings.experiments(reading, level);
                all.extend(readings.all().iter().flat_map(of));
            }
            all
        };
        let rows = all(rows);
        let numbers = Numbers { rows, named: self.named() };
        for (claim, written) in claims.iter_mut().zip(&document.claim) {
            let Some(result) = &written.result else { continue };
            self.sentence(result, numbers);
            let result = result.get_ref().clone();
            claim.result = Some(kept(move |evidence: &Evidence| numbers.filled(&result, evidence)));
        }
        let answer = self.answer(numbers);
        let sections = self.sections(numbers);
        let judged = move |evidence: &Evidence| match (readings, one_at_a_time.split_first()) {
            (Some(readings), _) => readings.judged(evidence),
            (None, Some((main, others))) => one_choice::judged(main, others, evidence),
            (None, None) => Judged::main_only(evidence),
        };
        kept(Study {
            entry: document.entry(label),
            title: name(&document.title),
            question: name(&document.question),
            library: self.files.library(),
            groups: all(groups),
            keeps_flows: self.compiler.keeps_flows,
            queries: all(self.queries(one_at_a_time)),
            counters: all(std::mem::take(&mut self.compiler.counters).into_iter().collect()),
            first_run: self.first_run,
            plan: kept(plan),
            claims: all(claims),
            rows: all(vec![rows]),
            readings: kept(judged),
            closest: self.closest,
            answer: kept(answer),
            sections: kept(sections),
        })
    }

    /// The statements, each for those experiments alone whose answers are wanted, or which stand for one of those in a
    /// reading. What the file does not name itself is asked everything.
    fn queries(&mut self, readings: &[OneChoice]) -> Vec<Query> {
        let cells = self.experiments.values().flat_map(|of| &of.cells);
        let every: BTreeSet<&'static str> = cells.map(|cell| cell.name).collect();
        let queries = std::mem::take(&mut self.compiler.queries).into_iter();
        let asked_of = std::mem::take(&mut self.compiler.asked_of);
        let with_experiments = |(query, asked): (Query, BTreeSet<&'static str>)| {
            let first = self.first_run.iter().filter(|(name, _)| asked.contains(name));
            let asked: BTreeSet<&str> =
                first.flat_map(|(_, of)| of).chain(&asked).copied().collect();
            let pairs = readings.iter().flat_map(OneChoice::pairs);
            let stand = pairs.filter(|(of, _)| asked.contains(of)).map(|(_, is)| *is);
            let asked: BTreeSet<&str> = stand.chain(asked.iter().copied()).collect();
            query.not_of(every.iter().copied().filter(|name| !asked.contains(name)).collect())
        };
        queries.zip(asked_of).map(with_experiments).collect()
    }
}
