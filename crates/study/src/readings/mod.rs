//! Readings of a source: what it leaves open, as factors with named choices.
//!
//! A claim is judged in every reading of a design ([`design`]), and the verdict is over all of them
//! ([`verdict`]). How far a choice moves a number is its main effect ([`effects`]). [`closest`] is the
//! search for the reading that comes nearest to the numbers of the source.

pub mod closest;
pub mod design;
pub mod effects;
pub mod verdict;

use std::collections::BTreeSet;
use std::fmt;

use crate::evidence::Evidence;
use crate::plan::{Experiment, Level, name};

/// One choice for a factor.
#[derive(Debug)]
pub struct Choice {
    /// In a word or two: `capped`.
    pub name: &'static str,
    /// Who chooses so: the source's words, a standard, a paper, a product.
    pub source: &'static str,
    /// The settings that make it.
    pub set: &'static [&'static str],
}

/// Something that a source leaves open.
#[derive(Debug)]
pub struct Factor {
    /// In a few words: `ECN above its high threshold`.
    pub name: &'static str,
    /// The choices, two or four; the first is that of the main reading.
    pub choices: &'static [Choice],
}

/// An experiment that is run in every reading.
#[derive(Debug)]
pub struct Network {
    /// The experiment of the main reading that it stands for.
    pub stands_for: &'static str,
    /// The scenario file.
    pub file: &'static str,
    /// The variants that are run.
    pub variants: &'static [&'static str],
    /// Tables of settings, and the variants that have them: settings of choices that begin with `variants.*.` are for those.
    pub having: &'static [(&'static str, &'static [&'static str])],
    /// Settings of choices that begin with one of these mean nothing in it.
    pub without: &'static [&'static str],
    /// The least thorough level at which it is run.
    pub from: Level,
}

/// The readings of a source: an experiment for each row of a design over its factors.
pub struct Readings {
    /// What is left open.
    pub factors: &'static [Factor],
    /// What is run in each.
    pub networks: &'static [Network],
    /// What all of them have, before the choices: their length, and how often they are run.
    pub common: &'static (dyn Fn(Level) -> Vec<String> + Sync),
}

/// One reading: a choice for every factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// By factor, the number of the choice.
    pub choices: Vec<usize>,
    /// Which experiment stands in it for which of the main reading: (`two-queues`, `reading-07`).
    pub stands_for: Vec<(&'static str, &'static str)>,
}

/// A setting that begins so is for those variants only that have the table that it is in: as a setting of all variants it
/// would give one to those without.
pub const OF_EACH: &str = "variants.*.";

/// The table that such a setting is in, and its path.
pub fn of_each(setting: &str) -> Option<(&str, &str)> {
    let path = setting.strip_prefix(OF_EACH)?.split('=').next()?;
    path.rsplit_once('.').map(|(table, _)| (table, path))
}

impl fmt::Debug for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.factors).finish()
    }
}

impl Readings {
    /// All readings. The first is the main one.
    pub fn all(&self) -> Vec<Reading> {
        let choices: Vec<usize> = self.factors.iter().map(|factor| factor.choices.len()).collect();
        let mut rows = design::design(&choices);
        // With fewer than three factors a design has rows more than once.
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert(row.clone()));
        let rows = rows.into_iter().enumerate();
        rows.map(|(number, row)| self.reading(&format!("reading-{number:02}"), row)).collect()
    }

    /// A reading whose experiments have names that begin with this one.
    fn reading(&self, prefix: &str, choices: Vec<usize>) -> Reading {
        let names = self.networks.iter().enumerate().map(|(at, network)| match at {
            0 => (network.stands_for, name(prefix)),
            _ => (network.stands_for, name(&format!("{prefix}-{}", network.stands_for))),
        });
        Reading { stands_for: names.collect(), choices }
    }

    /// The experiments of a reading at a level.
    pub fn experiments(&self, reading: &Reading, level: Level) -> Vec<Experiment> {
        let networks = self.networks.iter().zip(&reading.stands_for);
        let networks = networks.filter(|(network, _)| level >= network.from);
        let experiment = |(network, (_, name)): (&Network, &(&str, &'static str))| {
            let common = (self.common)(level);
            let variants = network.variants.to_vec();
            let mut of = Experiment { variants, ..Experiment::new(name, network.file) };
            of.set.extend(common);
            for setting in self.settings(reading) {
                let is_of_it = !network.without.iter().any(|path| setting.starts_with(path));
                if is_of_it && !setting.starts_with(OF_EACH) {
                    of.set.push(setting.to_owned());
                }
            }
            for setting in self.settings(reading) {
                let Some((table, _)) = of_each(setting) else { continue };
                let mut having = network.having.iter().filter(|(known, _)| *known == table);
                let having = having.next().map_or(&[][..], |(_, variants)| *variants);
                for variant in network.variants {
                    // A choice may have given it to others.
                    let given = table.rsplit_once('.').map(|(of, kind)| format!("{of}={kind}"));
                    let given = given.map(|given| format!("variants.{variant}.{given}"));
                    let is_given = given.is_some_and(|given| of.set.contains(&given));
                    if having.contains(variant) || is_given {
                        let rest = setting.trim_start_matches(OF_EACH);
                        of.set.push(format!("variants.{variant}.{rest}"));
                    }
                }
            }
            // What is said of a variant that is not run says nothing.
            of.set.retain(|setting| match setting.strip_prefix("variants.") {
                Some(rest) => {
                    rest.split('.').next().is_some_and(|of| network.variants.contains(&of))
                }
                None => true,
            });
            of
        };
        networks.map(experiment).collect()
    }

    /// What the choices of a reading set.
    fn settings(&self, reading: &Reading) -> impl Iterator<Item = &'static str> {
        let chosen = self.factors.iter().zip(&reading.choices);
        chosen.flat_map(|(factor, choice)| factor.choices[*choice].set).copied()
    }

    /// What claims are judged over.
    pub fn judged(&self, evidence: &Evidence) -> Judged {
        let open = |factor: &Factor| Open {
            name: factor.name.to_owned(),
            choices: factor
                .choices
                .iter()
                .map(|choice| (choice.name.to_owned(), choice.source.to_owned()))
                .collect(),
        };
        Judged { open: self.factors.iter().map(open).collect(), readings: self.all() }
            .that_were_run(evidence)
    }
}

impl Reading {
    /// How it differs from the main one, in words.
    pub fn in_words(&self, factors: &[Factor]) -> String {
        let words = factors.iter().zip(&self.choices).filter(|(_, choice)| **choice > 0);
        let words = words.map(|(of, choice)| format!("{}: {}", of.name, of.choices[*choice].name));
        match words.collect::<Vec<_>>() {
            words if words.is_empty() => "as in the main reading".to_owned(),
            words => words.join("; "),
        }
    }
}

/// Something left open, in words, with its choices and who chooses so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// What.
    pub name: String,
    /// Names of the choices, each with its source.
    pub choices: Vec<(String, String)>,
}

/// The readings that were run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// What they differ in.
    pub open: Vec<Open>,
    /// The readings.
    pub readings: Vec<Reading>,
}

impl Judged {
    /// Only the main reading.
    pub fn main_only(_: &Evidence) -> Self {
        Self::default()
    }

    /// A main reading, and readings each of which makes one other choice: its words, and which
    /// experiments stand for which. Variants that one of these lacks are those of the main reading,
    /// and a claim that looks at no others is not judged by it ([`verdict`]); experiments that it does
    /// not change are not part of it. So no claim is judged twice by the same runs.
    pub fn one_at_a_time(
        main: Vec<(&'static str, &'static str)>,
        others: impl IntoIterator<Item = (String, Vec<(&'static str, &'static str)>)>,
    ) -> Self {
        let others: Vec<_> = others.into_iter().collect();
        let open = |(words, _): &(String, _)| Open {
            name: words.clone(),
            choices: ["no", "yes"].map(|choice| (choice.to_owned(), String::new())).to_vec(),
        };
        let open = others.iter().map(open).collect();
        let none = vec![0; others.len()];
        let mut readings = vec![Reading { choices: none.clone(), stands_for: main.clone() }];
        for (at, (_, mut stands_for)) in others.into_iter().enumerate() {
            let mut choices = none.clone();
            choices[at] = 1;
            let changed: Vec<&str> = stands_for.iter().map(|(of, _)| *of).collect();
            stands_for.extend(main.iter().filter(|(of, _)| changed.contains(of)));
            readings.push(Reading { choices, stands_for });
        }
        Self { open, readings }
    }

    /// Without the readings of which nothing was run.
    pub fn that_were_run(mut self, evidence: &Evidence) -> Self {
        self.readings.retain(|reading| {
            reading.stands_for.first().is_some_and(|(_, name)| evidence.scenario(name).is_some())
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn choice(name: &'static str, set: &'static [&'static str]) -> Choice {
        Choice { name, source: "", set }
    }

    static READINGS: Readings = Readings {
        factors: &[
            Factor { name: "two", choices: &[choice("a", &["t=a"]), choice("b", &["t=b"])] },
            Factor {
                name: "four",
                choices: &[
                    choice("a", &[]),
                    choice("b", &["f=b"]),
                    choice("c", &["f=c"]),
                    choice("d", &["f=d", "variants.x.g=d", "variants.z.g=d"]),
                ],
            },
        ],
        networks: &[
            Network {
                stands_for: "main",
                file: "a.toml",
                variants: &["x", "y"],
                having: &[],
                without: &[],
                from: Level::Quick,
            },
            Network {
                stands_for: "small",
                file: "b.toml",
                variants: &["y"],
                having: &[],
                without: &["t"],
                from: Level::Full,
            },
        ],
        common: &|_| vec!["seed=2".to_owned()],
    };

    #[test]
    fn every_pair_of_choices_is_equally_frequent() {
        let all = READINGS.all();
        assert_eq!(all.len(), 8);
        for two in 0..2 {
            for four in 0..4 {
                let alike = all.iter().filter(|reading| reading.choices == [two, four]);
                assert_eq!(alike.count(), 1);
            }
        }
        assert_eq!(all[0].choices, [0, 0]);
        assert_eq!(all[0].stands_for, [("main", "reading-00"), ("small", "reading-00-small")]);
    }

    #[test]
    fn a_reading_sets_what_its_choices_set() {
        let reading = READINGS.reading("r", vec![1, 3]);
        let experiments = READINGS.experiments(&reading, Level::Standard);
        assert_eq!(experiments.len(), 1);
        assert_eq!((experiments[0].name, experiments[0].file), ("r", "a.toml"));
        assert_eq!(experiments[0].set, ["seed=2", "t=b", "f=d", "variants.x.g=d"]);
        assert_eq!(experiments[0].variants, ["x", "y"]);
        let experiments = READINGS.experiments(&reading, Level::Full);
        assert_eq!((experiments[1].name, experiments[1].file), ("r-small", "b.toml"));
        assert_eq!(experiments[1].set, ["seed=2", "f=d"]);
    }

    #[test]
    fn settings_of_each_variant_are_for_those_that_have_the_table() {
        static RAMPS: Readings = Readings {
            factors: &[
                Factor {
                    name: "ramp",
                    choices: &[choice("a", &["variants.*.switch.aqm.ramp.kmin=1KB", "t=a"])],
                },
                Factor {
                    name: "marks",
                    choices: &[choice("a", &[]), choice("b", &["variants.y.switch.aqm=ramp"])],
                },
            ],
            networks: &[Network {
                stands_for: "main",
                file: "a.toml",
                variants: &["x", "y", "z"],
                having: &[("switch.aqm.ramp", &["x"])],
                without: &[],
                from: Level::Quick,
            }],
            common: &|_| Vec::new(),
        };
        let set = |marks| {
            let reading = RAMPS.reading("r", vec![0, marks]);
            RAMPS.experiments(&reading, Level::Quick).remove(0).set
        };
        assert_eq!(set(0), ["t=a", "variants.x.switch.aqm.ramp.kmin=1KB"]);
        let of_y = ["variants.y.switch.aqm=ramp", "variants.y.switch.aqm.ramp.kmin=1KB"];
        assert_eq!(set(1), ["t=a", of_y[0], "variants.x.switch.aqm.ramp.kmin=1KB", of_y[1]]);
    }

    #[test]
    fn one_at_a_time_leaves_all_else() {
        let main = vec![("main", "base"), ("small", "base-small")];
        let others = vec![
            ("first".to_owned(), vec![("main", "first")]),
            ("second".to_owned(), vec![("main", "second"), ("small", "second-small")]),
        ];
        let Judged { open, readings } = Judged::one_at_a_time(main, others);
        assert_eq!(open[1].name, "second");
        let choices: Vec<_> = readings.iter().map(|reading| reading.choices.clone()).collect();
        assert_eq!(choices, [[0, 0], [1, 0], [0, 1]]);
        assert_eq!(readings[0].stands_for, [("main", "base"), ("small", "base-small")]);
        assert_eq!(readings[1].stands_for, [("main", "first"), ("main", "base")]);
    }
}
