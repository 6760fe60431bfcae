//! Studies that are no part of the program: a folder with `study.toml`, its scenarios, and points to lay over.
//!
//! - `document`: the file
//! - `chart`: sections with charts
//!
//! Its claims and their numbers are checked by `compile`.
//!
//! A study that is loaded is kept as long as the program runs, like those that are part of it.

mod chart;
mod document;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use floodway_model::family::Entry;
use floodway_scenario::{Error, Place, Problem, Source, suggest};

use crate::claim::Row;
use crate::compile::lists::{Named, Pick};
use crate::compile::measure::Compiled;
use crate::compile::{Cases, Compiler, all, kept, measure};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{moves, number};
use crate::flows::FlowGroup;
use crate::plan::{Experiment, Level, name};
use crate::readings::{Choice, Factor, Judged, Network, Readings};
use crate::{Library, Study};

use document::{AtLevel, Document, Rank, Setting, Vary};

/// The file of a study.
pub const FILE: &str = "study.toml";

/// An experiment as it is run: several if a setting varies, or over lists of settings.
struct Known {
    cells: Vec<Cell>,
    /// The variants that it runs at any level.
    variants: Vec<&'static str>,
    /// The path of its scenario.
    file: &'static str,
}

/// One of them.
struct Cell {
    name: &'static str,
    /// Where it lies on an axis, if a setting varies.
    at: f64,
    /// The settings of lists.
    of_lists: Vec<String>,
    /// The setting that varies.
    vary: Option<String>,
    /// Whether it lies on the axes of a grid.
    on_an_axis: bool,
}

/// What differs between the parts of a grid: the experiment itself, or its axes.
struct Part<'a> {
    variants: &'a [toml::Spanned<String>],
    replications: Option<u32>,
    from: Option<Rank>,
    level: &'a BTreeMap<Rank, AtLevel>,
}

/// Where the files of a study are.
#[derive(Clone, Copy)]
enum Files<'a> {
    /// In this folder.
    Folder(&'a Path),
    /// In the program: pairs of path and text, and the folder of the study among these paths.
    Built(&'static [(&'static str, &'static str)], &'static str),
}

impl Files<'_> {
    /// The path of a file that is named from where the study is.
    fn path(self, file: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(file),
            // Of these there are no links, so that a folder and `..` after it are nothing.
            Self::Built(_, folder) => {
                let mut path = PathBuf::new();
                for part in Path::new(folder).join(file).components() {
                    match part {
                        Component::ParentDir => drop(path.pop()),
                        part => path.push(part),
                    }
                }
                path
            }
        }
    }

    /// The text of such a file.
    fn text(self, file: &str) -> io::Result<String> {
        let path = self.path(file);
        match self {
            Self::Folder(_) => std::fs::read_to_string(path),
            Self::Built(files, _) => {
                let found = files.iter().find(|(name, _)| Path::new(name) == path);
                found.map(|(_, text)| (*text).to_owned()).ok_or(io::ErrorKind::NotFound.into())
            }
        }
    }

    /// Whether there is such a file.
    fn has(self, file: &str) -> bool {
        match self {
            Self::Folder(_) => self.path(file).is_file(),
            Self::Built(..) => self.text(file).is_ok(),
        }
    }

    fn library(self) -> Library {
        match self {
            Self::Folder(folder) => Library::Folder(name(&folder.display().to_string())),
            Self::Built(files, _) => Library::Built(files),
        }
    }
}

/// A study while it is checked.
struct Loading<'a> {
    files: Files<'a>,
    document: &'a Document,
    experiments: BTreeMap<&'a str, Known>,
    compiler: Compiler<'a>,
}

/// Reads the study of a folder. Fails with everything that is wrong with its file, or with the first scenario that cannot
/// run.
pub fn load(folder: &Path) -> Result<&'static Study, Error> {
    let own = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let label = own.file_name().map_or("study".into(), |name| name.to_string_lossy());
    read(Files::Folder(folder), &label)
}

/// A study that is part of the program, by these files: pairs of path and text, of which its own are in this folder. Its
/// name is that of the folder. Panics if anything is wrong.
pub fn built(
    files: &'static [(&'static str, &'static str)],
    folder: &'static str,
) -> &'static Study {
    let label = folder.rsplit('/').next().unwrap_or(folder);
    let study = read(Files::Built(files, folder), label);
    study.unwrap_or_else(|error| panic!("the study {label} is wrong:\n{}", error.plain()))
}

fn read(files: Files, label: &str) -> Result<&'static Study, Error> {
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
    let compiler = Compiler::new(&source, &document.flows, Cases::OfExperiments);
    let mut loading =
        Loading { files, document: &document, experiments: BTreeMap::new(), compiler };
    loading.lists();
    loading.experiments()?;
    let study = loading.study(label);
    match Error::of(loading.compiler.problems) {
        Some(error) => Err(error),
        None => Ok(study),
    }
}

impl<'a> Loading<'a> {
    /// The lists of settings.
    fn lists(&mut self) {
        for (list, settings) in &self.document.settings {
            let mut names = BTreeSet::new();
            for setting in settings {
                let own = setting.name.get_ref();
                if let Some(cause) = floodway_scenario::bad_name(own) {
                    let help = "name it with letters, digits, `-`, `_` and `.`: it becomes a part of a directory";
                    let message = format!("the setting's name {cause}");
                    self.compiler.wrong(setting.name.span(), message, help);
                }
                if !names.insert(own) {
                    let message = format!("`{list}` has two settings `{own}`");
                    let help = "each setting of a list has a name of its own";
                    self.compiler.wrong(setting.name.span(), message, help);
                }
            }
            let named = |setting: &Setting| {
                let name = setting.name.get_ref().clone();
                Named { label: setting.label.clone().unwrap_or_else(|| name.clone()), name }
            };
            self.compiler.lists.insert(list.clone(), settings.iter().map(named).collect());
        }
    }

    /// Reads the scenarios, for their variants.
    fn experiments(&mut self) -> Result<(), Error> {
        let document = self.document;
        let mut taken: BTreeSet<&'static str> = BTreeSet::new();
        for (label, of) in &document.experiment {
            let path = self.files.path(of.scenario.get_ref());
            let file = name(&path.display().to_string());
            if !self.files.has(of.scenario.get_ref()) {
                let message = format!("there is no file {}", path.display());
                self.compiler.wrong(
                    of.scenario.span(),
                    message,
                    format!("scenarios are named from where {FILE} is"),
                );
                continue;
            }
            let Some(cells) = self.cells(label, of) else { continue };
            for cell in &cells {
                if !taken.insert(cell.name) {
                    let message = format!("there are two experiments `{}`", cell.name);
                    let help = "rename an experiment or a setting: each becomes a directory";
                    self.compiler.wrong(of.scenario.span(), message, help);
                }
            }
            let Some(first) = cells.first() else { continue };
            let set = first.set(document, of);
            let experiment = Experiment { set, ..Experiment::new(name(label), file) };
            let scenario = experiment.scenario(&self.files.library(), &[])?;
            let there: Vec<&'static str> =
                scenario.variants().iter().map(|variant| name(&variant.name)).collect();
            let axes = of.axes.iter().flat_map(|axes| {
                axes.variants.iter().chain(axes.level.values().flat_map(|of| &of.variants))
            });
            let levels = of.level.values().flat_map(|of| &of.variants);
            let mut variants = Vec::new();
            for wanted in of.variants.iter().chain(levels).chain(axes) {
                match there.iter().find(|known| **known == wanted.get_ref().as_str()) {
                    Some(known) if variants.contains(known) => {}
                    Some(known) => variants.push(*known),
                    None => {
                        let message = format!("{file} has no variant `{}`", wanted.get_ref());
                        self.compiler.wrong(
                            wanted.span(),
                            message,
                            suggest::remedy(wanted.get_ref(), "variants", &there),
                        );
                    }
                }
            }
            if of.variants.is_empty() {
                variants = there;
            }
            for cell in &cells {
                let case = |variant: &&'static str| Case { experiment: cell.name, variant };
                let named = |case: Case| (format!("{}/{}", cell.name, case.variant), case);
                self.compiler.cases.extend(variants.iter().map(case).map(named));
            }
            self.experiments.insert(label, Known { cells, variants, file });
        }
        Ok(())
    }

    /// What an experiment is run as.
    fn cells(&mut self, label: &str, of: &document::Experiment) -> Option<Vec<Cell>> {
        match &of.vary {
            Some(vary) if !of.over.is_empty() => {
                let message = format!("`{label}` has both `vary` and `over`");
                self.compiler.wrong(
                    vary.span(),
                    message,
                    "make a list of settings of the values, and name it in `over`",
                );
                return None;
            }
            Some(vary) => return Some(self.varied(label, vary.get_ref(), vary.span())),
            None => {}
        }
        let picks = self.compiler.picks(&of.over)?;
        let document = self.document;
        let cell = |pick: &Pick| Cell {
            name: if of.over.is_empty() { name(label) } else { name(&pick.name()) },
            at: 0.0,
            of_lists: pick
                .places()
                .flat_map(|(list, at)| document.settings[list][at].set.iter().cloned())
                .collect(),
            vary: None,
            on_an_axis: pick.is_on_an_axis(),
        };
        Some(picks.iter().map(cell).collect())
    }

    /// The experiments of a setting with several values.
    fn varied(&mut self, label: &str, vary: &Vary, range: Range<usize>) -> Vec<Cell> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Float(value) => value.to_string(),
            toml::Value::Integer(value) => value.to_string(),
            other => format!("{other:?}"),
        };
        let mut at = Vec::new();
        for (place, value) in vary.values.iter().enumerate() {
            let given = vary.at.as_ref().map(|at| at.get(place).copied());
            match given.unwrap_or_else(|| measure::position(&text(value))) {
                Some(value) => at.push(value),
                None => {
                    let message = format!("`{}` has no place on an axis", text(value));
                    self.compiler.wrong(
                        range.clone(),
                        message,
                        "give a number for each value in `at`",
                    );
                    at.push(0.0);
                }
            }
        }
        let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
        let slug = |text: String| -> String {
            text.chars().map(|letter| if plain(letter) { letter } else { '-' }).collect()
        };
        let cell = |(value, at): (&toml::Value, f64)| Cell {
            name: name(&format!("{label}-{}", slug(text(value)))),
            at,
            of_lists: Vec::new(),
            vary: Some(format!("{}={}", vary.path, text(value))),
            on_an_axis: true,
        };
        vary.values.iter().zip(at).map(cell).collect()
    }

    /// The experiments of a level.
    fn plan(&self) -> impl Fn(Level) -> Vec<Experiment> + Sync + use<> {
        let mut all: Vec<(Level, Experiment)> = Vec::new();
        let at_level = self.at_level();
        for level in [Level::Quick, Level::Standard, Level::Full] {
            let (more, common) = at_level(level);
            for (label, of) in &self.document.experiment {
                let Some(known) = self.experiments.get(label.as_str()) else { continue };
                for cell in &known.cells {
                    let part = Part::of(of, cell);
                    if part.from.map_or(Level::Quick, Level::from) > level {
                        continue;
                    }
                    let own = part.level.iter().find(|(rank, _)| Level::from(**rank) == level);
                    let own = own.map(|(_, own)| own);
                    let variants = own.map_or(&[][..], |own| &own.variants);
                    let variants = if variants.is_empty() { part.variants } else { variants };
                    let named = |wanted: &toml::Spanned<String>| name(wanted.get_ref());
                    let variants: Vec<&'static str> = variants.iter().map(named).collect();
                    let replications = own
                        .and_then(|own| own.replications)
                        .or(part.replications)
                        .or(common)
                        .map(|number| format!("replications={number}"));
                    let mut set = cell.set(self.document, of);
                    set.extend(replications);
                    set.extend(more.iter().cloned());
                    let variants =
                        if variants.is_empty() { known.variants.clone() } else { variants };
                    let experiment =
                        Experiment { variants, set, ..Experiment::new(cell.name, known.file) };
                    all.push((level, experiment));
                }
            }
        }
        move |level| {
            let of_level = all.iter().filter(|(of, _)| *of == level);
            of_level.map(|(_, experiment)| experiment.clone()).collect()
        }
    }

    /// The settings and the replications of a level.
    fn at_level(&self) -> impl Fn(Level) -> (Vec<String>, Option<u32>) + Sync + use<> {
        let levels: Vec<(Level, Vec<String>, Option<u32>)> = self
            .document
            .level
            .iter()
            .map(|(rank, of)| ((*rank).into(), of.set.clone(), of.replications))
            .collect();
        move |level| {
            let of = levels.iter().find(|(of, ..)| *of == level);
            of.map_or((Vec::new(), None), |(_, set, replications)| (set.clone(), *replications))
        }
    }

    fn study(&mut self, label: &str) -> &'static Study {
        let document = self.document;
        let groups: Vec<FlowGroup> = measure::groups(&document.flows);
        let (claims, rows) = self.compiler.claims(&document.claim);
        let mut rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
        for (at, of) in document.check.iter().enumerate() {
            let id = name(&format!("check {}", at + 1));
            rows.extend(self.compiler.row(id, "", of, true).map(|(row, _)| row));
        }
        let readings = self.readings();
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
        let changes = self.changes();
        let answer = self.answer(rows, changes);
        let sections = self.sections(rows, changes);
        let judged = move |evidence: &Evidence| match readings {
            Some(readings) => readings.judged(evidence),
            None => Judged::main_only(evidence),
        };
        let summary = document.summary.as_ref().unwrap_or(&document.question);
        kept(Study {
            entry: Entry { family: "study", name: name(label), summary: name(summary) },
            title: name(&document.title),
            question: name(&document.question),
            library: self.files.library(),
            groups: all(groups),
            keeps_flows: false,
            queries: all(std::mem::take(&mut self.compiler.queries)),
            plan: kept(plan),
            claims: all(claims),
            rows: all(vec![rows]),
            readings: kept(judged),
            closest: None,
            answer: kept(answer),
            sections: kept(sections),
        })
    }

    /// The readings, if anything is left open.
    fn readings(&mut self) -> Option<&'static Readings> {
        let document = self.document;
        let mut factors = Vec::new();
        for factor in &document.factor {
            let choices = factor.choice.get_ref();
            if ![2, 4].contains(&choices.len()) {
                let message = format!("`{}` has {} choices", factor.name, choices.len());
                let help = "a factor has two or four: so every pair of choices of two factors is run equally often";
                self.compiler.wrong(factor.choice.span(), message, help);
            }
            let choice = |of: &document::Choice| Choice {
                name: name(&of.name),
                source: name(&of.source),
                set: all(of.set.iter().map(|set| name(set)).collect()),
            };
            factors.push(Factor {
                name: name(&factor.name),
                choices: all(choices.iter().map(choice).collect()),
            });
        }
        let mut networks = Vec::new();
        for wanted in &document.readings_of {
            let names: Vec<&str> = self.experiments.keys().copied().collect();
            let Some(known) = self.experiments.get(wanted.get_ref().as_str()) else {
                let message = format!("there is no experiment `{}`", wanted.get_ref());
                self.compiler.wrong(
                    wanted.span(),
                    message,
                    suggest::remedy(wanted.get_ref(), "experiments", &names),
                );
                continue;
            };
            let of = &document.experiment[wanted.get_ref()];
            let network = Network {
                stands_for: known.cells[0].name,
                file: known.file,
                variants: all(known.variants.clone()),
                with_ramp: &[],
                without: &[],
                from: of.from.map_or(Level::Quick, Level::from),
            };
            if of.vary.is_some() || !of.over.is_empty() || !of.set.is_empty() {
                let message = format!("`{}` has settings of its own", wanted.get_ref());
                let help = "an experiment that is run in every reading is as its scenario has it: move its settings there";
                self.compiler.wrong(wanted.span(), message, help);
            }
            networks.push(network);
        }
        if factors.is_empty() && networks.is_empty() {
            return None;
        }
        if networks.is_empty() || factors.is_empty() {
            let range = 0..0;
            let message = "`factor` and `readings_of` go together, and one of them is missing";
            self.compiler.wrong(range, message, "name the experiments that are run in every reading, as in readings_of = [\"main\"]");
            return None;
        }
        if !self.compiler.problems.is_empty() {
            return None;
        }
        let (set, at_level) = (document.set.clone(), self.at_level());
        let common = move |level: Level| {
            let (more, replications) = at_level(level);
            let number = replications.map(|number| format!("replications={number}"));
            set.iter().cloned().chain(more).chain(number).collect()
        };
        Some(kept(Readings {
            factors: all(factors),
            networks: all(networks),
            common: kept(common),
        }))
    }

    /// The changes of which sentences say with which settings they fall and rise.
    fn changes(&mut self) -> &'static [Change] {
        let document = self.document;
        let mut changes = Vec::new();
        for (label, of) in &document.change {
            let Some(picks) = self.compiler.picks(&of.over) else { continue };
            let mut measures = Vec::new();
            for pick in picks {
                let Some(measure) = self.compiler.measure(&pick.measure(&of.measure)) else {
                    break;
                };
                if !measure.is_of_two() {
                    let message = format!("`{label}` is of one case, and a change is of two");
                    let help = "write `from` and `to` in place of `of`";
                    self.compiler.wrong(of.measure.span(), message, help);
                    break;
                }
                measures.push((pick.label(), measure));
            }
            changes.push(Change { name: label.clone(), measures });
        }
        all(changes)
    }

    /// Checks what stands in the braces of a sentence.
    fn sentence(
        &mut self,
        sentence: &toml::Spanned<String>,
        rows: &'static [Row],
        changes: &'static [Change],
    ) {
        let of_changes = changes.iter().flat_map(Change::words);
        let known: Vec<String> = rows.iter().map(row_name).chain(of_changes).collect();
        for used in placeholders(sentence.get_ref()) {
            if !known.iter().any(|name| name == used) && self.compiler.problems.is_empty() {
                let names: Vec<&str> = known.iter().map(String::as_str).collect();
                let message = format!("`{{{used}}}` is no number of a claim");
                self.compiler.wrong(
                    sentence.span(),
                    message,
                    suggest::remedy(used, "numbers", &names),
                );
            }
        }
    }

    /// The sentences of the answer, with numbers in them; by default what became of each number.
    fn answer(
        &mut self,
        rows: &'static [Row],
        changes: &'static [Change],
    ) -> impl Fn(&Evidence) -> Vec<String> + Sync + use<> {
        let document = self.document;
        for sentence in &document.answer {
            self.sentence(sentence, rows, changes);
        }
        let sentences: Vec<String> =
            document.answer.iter().map(|sentence| sentence.get_ref().clone()).collect();
        move |evidence| {
            if sentences.is_empty() {
                let judged = rows.iter().filter(|row| !row.is_check());
                let of = judged.map(|row| (row, (row.measure)(evidence)));
                let told = |(row, measured): (&Row, crate::Measured)| match measured.unit {
                    "%" => format!("{}: {} {}.", row_name(row), row.metric, moves(&measured)),
                    _ => format!("{}: {}: {}.", row_name(row), row.metric, number(&measured)),
                };
                return of.map(told).collect();
            }
            sentences.iter().map(|sentence| filled(sentence, rows, changes, evidence)).collect()
        }
    }
}

impl Cell {
    /// The settings of its experiment, without those of a level.
    fn set(&self, document: &Document, of: &document::Experiment) -> Vec<String> {
        let lists = self.of_lists.iter();
        lists.chain(&document.set).chain(&of.set).chain(&self.vary).cloned().collect()
    }
}

impl<'a> Part<'a> {
    /// The one that an experiment belongs to.
    fn of(experiment: &'a document::Experiment, cell: &Cell) -> Self {
        let document::Experiment { variants, replications, from, level, .. } = experiment;
        match &experiment.axes {
            Some(axes) if cell.on_an_axis => Self {
                variants: if axes.variants.is_empty() { variants } else { &axes.variants },
                replications: axes.replications.or(*replications),
                from: axes.from,
                level: &axes.level,
            },
            _ => Self { variants, replications: *replications, from: *from, level },
        }
    }
}

/// A change over lists of settings.
struct Change {
    name: String,
    /// With what the settings are called.
    measures: Vec<(String, Compiled)>,
}

/// What a sentence may say of a change: with which settings it clearly falls, clearly rises, does neither, which were
/// run, and for which there is an interval.
const WORDS: [&str; 5] = ["falls", "rises", "open", "run", "known"];

impl Change {
    /// What stands in braces for it: `mice falls`, and with `#` how many.
    fn words(&self) -> impl Iterator<Item = String> {
        let of = |word: &&str| [format!("{} {word}", self.name), format!("#{} {word}", self.name)];
        WORDS.iter().flat_map(of)
    }

    /// The settings of which a word holds.
    fn with(&self, word: &str, evidence: &Evidence) -> Vec<&str> {
        let run = self.measures.iter().filter(|(_, measure)| measure.was_run(evidence));
        let holds = |(_, measure): &&(String, Compiled)| {
            let bounds = measure.measure(evidence).bounds();
            let (falls, rises) =
                bounds.map_or((false, false), |(low, high)| (high < 0.0, low > 0.0));
            match word {
                "falls" => falls,
                "rises" => rises,
                "open" => !falls && !rises,
                "known" => bounds.is_some(),
                _ => true,
            }
        };
        run.filter(holds).map(|(label, _)| label.as_str()).collect()
    }

    /// The same in words: names in quotes, or how many.
    fn in_words(&self, word: &str, evidence: &Evidence, counted: bool) -> String {
        let with = self.with(word, evidence);
        match with.as_slice() {
            with if counted => with.len().to_string(),
            [] => "none".to_owned(),
            with => with.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(", "),
        }
    }
}

/// What a number is called in braces.
fn row_name(row: &Row) -> String {
    match row.part {
        "" => row.id.to_owned(),
        part => format!("{}/{part}", row.id),
    }
}

/// A sentence with numbers in place of names.
fn filled(sentence: &str, rows: &[Row], changes: &[Change], evidence: &Evidence) -> String {
    let mut text = sentence.to_owned();
    for row in rows {
        let place = format!("{{{}}}", row_name(row));
        if text.contains(&place) {
            text = text.replace(&place, &number(&(row.measure)(evidence)));
        }
    }
    for change in changes {
        for word in WORDS {
            for (mark, counted) in [("", false), ("#", true)] {
                let place = format!("{{{mark}{} {word}}}", change.name);
                if text.contains(&place) {
                    text = text.replace(&place, &change.in_words(word, evidence, counted));
                }
            }
        }
    }
    text
}

/// What stands in braces.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}
