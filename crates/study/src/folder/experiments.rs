//! The experiments of a study: one for each value of a setting, or for each combination of settings of lists.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use floodway_scenario::{Error, Place, Problem, suggest};

use toml::Spanned;

use super::document::{self, AtLevel, Document, Rank, Setting, Vary};
use super::{FILE, Loading};
use crate::compile::lists::{Named, Pick};
use crate::compile::measure;
use crate::evidence::Case;
use crate::plan::{Experiment, Level, name};

/// The variant of a scenario that has none.
const SINGLE: &str = "base";

/// An experiment as it is run: several if a setting varies, or over lists of settings.
pub(super) struct Known {
    pub cells: Vec<Cell>,
}

/// One of them.
pub(super) struct Cell {
    pub name: &'static str,
    /// The path of its scenario.
    pub file: &'static str,
    /// Where it lies on an axis, if a setting varies.
    pub at: f64,
    /// The settings of lists.
    of_lists: Vec<String>,
    /// Which settings these are.
    pick: Pick,
    /// The variants that it runs at any level; none of a scenario without variants.
    pub variants: Vec<&'static str>,
    /// The setting that varies.
    vary: Option<String>,
    /// Whether it lies on the axes of a grid.
    on_an_axis: bool,
    /// The least thorough level of its settings.
    from: Level,
}

/// What differs between the parts of a grid: the experiment itself, or its axes.
struct Part<'a> {
    variants: &'a [Spanned<String>],
    replications: Option<u32>,
    from: Option<Rank>,
    level: &'a BTreeMap<Rank, AtLevel>,
}

impl Loading<'_> {
    /// The lists of settings.
    pub(super) fn lists(&mut self) {
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
                let label = setting.label.clone().unwrap_or_else(|| name.clone());
                Named { label, name, look: setting.look, also: setting.also.clone() }
            };
            self.compiler.lists.insert(list.clone(), settings.iter().map(named).collect());
        }
    }

    /// Reads the scenarios, for their variants.
    pub(super) fn experiments(&mut self) -> Result<(), Error> {
        let document = self.document;
        let mut taken: BTreeSet<&'static str> = BTreeSet::new();
        for (label, of) in &document.experiment.0 {
            let Some(mut cells) = self.cells(label, of) else { continue };
            for cell in &cells {
                if !taken.insert(cell.name) {
                    let message = format!("there are two experiments `{}`", cell.name);
                    let help = "rename an experiment or a setting: each becomes a directory";
                    self.compiler.wrong(of.scenario.span(), message, help);
                }
            }
            let Some(first) = cells.first() else { continue };
            let set = first.set(document, of);
            let experiment = Experiment { set, ..Experiment::new(name(label), first.file) };
            let scenario = experiment.scenario(&self.files.library(), &[])?;
            let there: Vec<&'static str> =
                scenario.variants().iter().map(|variant| name(&variant.name)).collect();
            for cell in &mut cells {
                cell.variants = self.variants(of, cell, &there);
                let all = if cell.variants.is_empty() { &there } else { &cell.variants };
                let case = |variant: &&'static str| Case { experiment: cell.name, variant };
                let named = |case: Case| (format!("{}/{}", cell.name, case.variant), case);
                self.compiler.cases.extend(all.iter().map(case).map(named));
            }
            for cell in &cells {
                if !self.compiler.files.contains(&cell.file) {
                    self.compiler.files.push(cell.file);
                }
            }
            self.experiments.insert(label, Known { cells });
        }
        for of in &document.scenarios {
            let Some(file) = self.scenario(of) else { continue };
            let set = document.set.clone();
            let experiment = Experiment { set, ..Experiment::new("", file) };
            experiment.scenario(&self.files.library(), &[])?;
            self.compiler.files.push(file);
        }
        Ok(())
    }

    /// Names for the first of some experiments that was run; their variants are those of any.
    pub(super) fn first_run(&mut self) {
        let mut names = Vec::new();
        for (label, of) in &self.document.first_run {
            let label = name(label);
            let mut all = Vec::new();
            for wanted in of {
                let cells = self.experiments.values().flat_map(|of| &of.cells);
                let known: Vec<&'static str> = cells.map(|cell| cell.name).collect();
                match known.iter().find(|name| **name == wanted.get_ref().as_str()) {
                    Some(name) => all.push(*name),
                    None => {
                        let message = format!("there is no experiment `{}`", wanted.get_ref());
                        let help = suggest::remedy(wanted.get_ref(), "experiments", &known);
                        self.compiler.wrong(wanted.span(), message, help);
                    }
                }
            }
            let cases = self.compiler.cases.iter().map(|(_, case)| *case);
            let variants: BTreeSet<&'static str> = cases
                .filter(|case| all.contains(&case.experiment))
                .map(|case| case.variant)
                .collect();
            let cases = variants.into_iter().map(|variant| Case { experiment: label, variant });
            let named = cases.map(|case| (format!("{label}/{}", case.variant), case));
            self.compiler.cases.extend(named);
            names.push((label, all));
        }
        self.first_run = crate::compile::all(names);
    }

    /// The variants that an experiment runs at any level, of those that there are: all if it names none.
    fn variants(
        &mut self,
        of: &document::Experiment,
        cell: &Cell,
        there: &[&'static str],
    ) -> Vec<&'static str> {
        let axes = of.axes.iter().flat_map(|axes| {
            axes.variants.iter().chain(axes.level.values().flat_map(|of| &of.variants))
        });
        let levels = of.level.values().flat_map(|of| &of.variants);
        let mut variants = Vec::new();
        for wanted in of.variants.iter().chain(levels).chain(axes) {
            let wanted = cell.pick.case(wanted);
            match there.iter().find(|known| **known == wanted.get_ref().as_str()) {
                Some(known) if variants.contains(known) => {}
                Some(known) => variants.push(*known),
                None => {
                    let message = format!("{} has no variant `{}`", cell.file, wanted.get_ref());
                    let help = suggest::remedy(wanted.get_ref(), "variants", there);
                    let place = Place::at(self.compiler.source(), wanted.span());
                    let problem = Problem::error(place, message, help);
                    // It is found once for each combination.
                    if !self.compiler.problems.contains(&problem) {
                        self.compiler.problems.push(problem);
                    }
                }
            }
        }
        let is_single = there == [SINGLE];
        if of.variants.is_empty() && !is_single { there.to_vec() } else { variants }
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
            Some(vary) => {
                let file = self.scenario(&of.scenario)?;
                return Some(self.varied((label, file), vary.get_ref(), vary.span()));
            }
            None => {}
        }
        let picks = self.compiler.picks(&of.over, &of.except)?;
        let document = self.document;
        let mut cells = Vec::new();
        for pick in &picks {
            cells.push(Cell {
                name: name(&pick.names_in(label)),
                file: self.scenario(&pick.case(&of.scenario))?,
                at: 0.0,
                of_lists: pick
                    .places()
                    .flat_map(|(list, at)| document.settings[list][at].set.iter().cloned())
                    .collect(),
                pick: pick.clone(),
                variants: Vec::new(),
                vary: None,
                on_an_axis: pick.is_on_an_axis(),
                from: pick
                    .places()
                    .filter_map(|(list, at)| document.settings[list][at].from)
                    .map(Level::from)
                    .max()
                    .unwrap_or(Level::Quick),
            });
        }
        Some(cells)
    }

    /// The path of a scenario, which must be there.
    fn scenario(&mut self, file: &Spanned<String>) -> Option<&'static str> {
        let path = self.files.path(file.get_ref());
        if !self.files.has(file.get_ref()) {
            let message = format!("there is no file {}", path.display());
            let help = format!("scenarios are named from where {FILE} is");
            self.compiler.wrong(file.span(), message, help);
            return None;
        }
        Some(name(&path.display().to_string()))
    }

    /// The experiments of a setting with several values.
    fn varied(
        &mut self,
        (label, file): (&str, &'static str),
        vary: &Vary,
        range: Range<usize>,
    ) -> Vec<Cell> {
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
            file,
            at,
            of_lists: Vec::new(),
            pick: Pick::default(),
            variants: Vec::new(),
            vary: Some(format!("{}={}", vary.path, text(value))),
            on_an_axis: true,
            from: Level::Quick,
        };
        vary.values.iter().zip(at).map(cell).collect()
    }

    /// The experiments of a level.
    pub(super) fn plan(&self) -> impl Fn(Level) -> Vec<Experiment> + Sync + use<> {
        let mut all: Vec<(Level, Experiment)> = Vec::new();
        let at_level = self.at_level();
        for level in [Level::Quick, Level::Standard, Level::Full] {
            let (more, common) = at_level(level);
            for (label, of) in &self.document.experiment.0 {
                let Some(known) = self.experiments.get(label.as_str()) else { continue };
                for cell in &known.cells {
                    let part = Part::of(of, cell);
                    if part.from.map_or(Level::Quick, Level::from).max(cell.from) > level {
                        continue;
                    }
                    let own = part.level.iter().find(|(rank, _)| Level::from(**rank) == level);
                    let own = own.map(|(_, own)| own);
                    let only = own.map_or(&[][..], |own| &own.only);
                    if !only.is_empty() && !only.iter().any(|of| of.get_ref() == cell.name) {
                        continue;
                    }
                    let variants = own.map_or(&[][..], |own| &own.variants);
                    let variants = if variants.is_empty() { part.variants } else { variants };
                    let named =
                        |wanted: &Spanned<String>| name(&cell.pick.names_in(wanted.get_ref()));
                    let variants: Vec<&'static str> = variants.iter().map(named).collect();
                    let replications = own
                        .and_then(|own| own.replications)
                        .or(part.replications)
                        .or(common)
                        .map(|number| format!("replications={number}"));
                    let mut set = cell.set(self.document, of);
                    set.extend(replications);
                    set.extend(more.iter().cloned());
                    set.extend(own.into_iter().flat_map(|own| own.set.iter().cloned()));
                    let single = cell.variants.is_empty();
                    let experiment = Experiment::new(cell.name, cell.file);
                    let experiment = Experiment { variants, set, single, ..experiment };
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
    pub(super) fn at_level(&self) -> impl Fn(Level) -> (Vec<String>, Option<u32>) + Sync + use<> {
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
}

impl Cell {
    /// The settings of its experiment, without those of a level: what is for fewer runs comes later.
    fn set(&self, document: &Document, of: &document::Experiment) -> Vec<String> {
        let own = of.set.iter().map(|set| self.pick.names_in(set));
        let common = document.set.iter().cloned().chain(own);
        common.chain(self.of_lists.iter().cloned()).chain(self.vary.clone()).collect()
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
