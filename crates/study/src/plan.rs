//! What is run: scenario files with settings, more of them the more thorough a study is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use floodway_scenario::{Error, Overrides, Scenario};

use crate::Library;

/// How thorough a study is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Minutes: small networks, short runs, few replications.
    Quick,
    /// A coffee: small networks, enough replications to distinguish effects from noise.
    Standard,
    /// Most of an hour: the sizes of the sources too.
    Full,
}

impl Level {
    /// The option that asks for it, with a space before it; empty for the default.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Quick => " --quick",
            Self::Standard => "",
            Self::Full => " --full",
        }
    }

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }
}

/// A name that is put together, as those of the experiments of a grid are: `mix-3-10`. It is kept as
/// long as the program runs, and each only once, so that plans can be made again and again.
pub fn name(text: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(text) {
        return known;
    }
    let name: &'static str = Box::leak(text.into());
    names.insert(name);
    name
}

/// One experiment: a scenario, some of its variants, and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// A short name, fit for a directory; [`name`] makes one of a text.
    pub name: &'static str,
    /// The scenario file, one of the study's library.
    pub file: &'static str,
    /// The variants to run; all if empty.
    pub variants: Vec<&'static str>,
    /// Settings, as `--set` takes them.
    pub set: Vec<String>,
    /// Whether its scenario has no variants, so that settings of a variant are not for it.
    pub single: bool,
}

impl Experiment {
    /// All variants of a scenario as its file has it.
    pub fn new(name: &'static str, file: &'static str) -> Self {
        Self { name, file, variants: Vec::new(), set: Vec::new(), single: false }
    }

    /// With these settings more.
    pub fn set(mut self, settings: &[&str]) -> Self {
        self.set.extend(settings.iter().map(|setting| (*setting).to_owned()));
        self
    }

    /// Its own settings, and after them those of `more` that are for it.
    fn settings<'a>(&'a self, more: &'a [String]) -> impl Iterator<Item = &'a String> {
        let is_for_it = |setting: &&String| !(self.single && setting.starts_with("variants."));
        self.set.iter().chain(more.iter().filter(is_for_it))
    }

    /// The scenario, from a library, with `more` settings after its own.
    pub fn scenario(&self, library: &Library, more: &[String]) -> Result<Scenario, Error> {
        let set = self.settings(more).cloned().collect();
        let scenario = library.scenario(self.file, &Overrides { quick: false, set });
        scenario.map_err(|error| library.placed(&error, more))
    }

    /// Of what shape its command is: those of the same shape differ in values and in nothing else.
    fn shape<'a>(&'a self, more: &'a [String]) -> impl Ord + use<'a> {
        let paths: Vec<&str> = self.settings(more).map(|setting| path(setting)).collect();
        (self.file, &self.variants, self.single, paths)
    }

    /// The command that runs it by itself, with `more` settings after its own.
    pub fn command(&self, more: &[String]) -> String {
        let mut words = vec!["floodway run".to_owned(), self.file.to_owned()];
        words.extend(self.variants.iter().map(|name| format!("--variant {name}")));
        words.extend(self.settings(more).map(|setting| format!("--set {}", quoted(setting))));
        words.push(format!("--out results/{}", self.name));
        words.join(" ")
    }
}

/// The path of a setting.
fn path(setting: &str) -> &str {
    setting.split('=').next().unwrap_or(setting)
}

/// So many commands of the same shape are shown one by one.
const SHOWN: usize = 6;

/// The commands that run these experiments of a study by themselves, with `more` settings after
/// their own. Of many that differ only in values the first and the last stand for all, with `all`,
/// the command that shows all of them.
pub fn commands(experiments: &[&Experiment], more: &[String], all: &str) -> Vec<String> {
    let mut shapes: Vec<Vec<&Experiment>> = Vec::new();
    let mut places = BTreeMap::new();
    for experiment in experiments {
        let place = *places.entry(experiment.shape(more)).or_insert(shapes.len());
        if place == shapes.len() {
            shapes.push(Vec::new());
        }
        shapes[place].push(experiment);
    }
    let command = |experiment: &&Experiment| experiment.command(more);
    let mut commands = Vec::new();
    for alike in &shapes {
        if alike.len() <= SHOWN {
            commands.extend(alike.iter().map(command));
            continue;
        }
        let (first, last) = (alike[0], alike[alike.len() - 1]);
        let settings = first.set.iter().enumerate();
        let differing = settings
            .filter(|(at, setting)| alike.iter().any(|other| other.set[*at] != **setting))
            .map(|(_, setting)| path(setting));
        commands.extend([
            command(&first),
            format!(
                "# {} more, with other values of {}: {all}",
                alike.len() - 2,
                differing.collect::<Vec<_>>().join(", ")
            ),
            command(&last),
        ]);
    }
    commands
}

/// A word as a shell takes it for one.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,=/:+%@".contains(letter);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
