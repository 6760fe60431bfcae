//! Lists of settings, and what is repeated for each combination of their settings.

use std::collections::{BTreeMap, BTreeSet};

use floodway_scenario::claims::Measure;
use floodway_scenario::suggest;
use toml::Spanned;

use super::Compiler;

/// The most combinations of settings: more are a mistake, and would take hours to check.
const MOST: usize = 10_000;

/// A setting of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name, as it stands in those of experiments.
    pub name: String,
    /// What it is called on the page.
    pub label: String,
    /// Which of the looks it has in charts.
    pub look: Option<usize>,
    /// Other names of it, for `{LIST.KEY}`.
    pub also: BTreeMap<String, String>,
}

/// A combination: a setting of each of some lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    /// Lists, the place of the setting in each, and the setting.
    of: Vec<(String, usize, Named)>,
}

impl Pick {
    /// A name that stands for `{LIST}`, although there is no such list.
    pub fn of(list: &str, name: &str) -> Self {
        let setting = Named {
            name: name.to_owned(),
            label: name.to_owned(),
            look: None,
            also: BTreeMap::new(),
        };
        Self { of: vec![(list.to_owned(), 0, setting)] }
    }

    /// The names of its settings with `-` between them: `dcqcn-shared`.
    pub fn name(&self) -> String {
        self.names().collect::<Vec<_>>().join("-")
    }

    /// The names of its settings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.of.iter().map(|(.., setting)| setting.name.as_str())
    }

    /// What it is called.
    pub fn label(&self) -> String {
        self.of.iter().map(|(.., setting)| setting.label.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The name of one of its settings, or the label.
    pub fn called(&self, at: usize, by_label: bool) -> String {
        let setting = self.of.get(at).map(|(.., setting)| setting);
        let called = |of: &Named| if by_label { of.label.clone() } else { of.name.clone() };
        setting.map_or_else(String::new, called)
    }

    /// The places of its settings in their lists.
    pub fn places(&self) -> impl Iterator<Item = (&str, usize)> {
        self.of.iter().map(|(list, at, _)| (list.as_str(), *at))
    }

    /// Which of its settings a label names, and that label with what they are called.
    pub fn group(&self, label: &str) -> (Vec<usize>, String) {
        let named = self.of.iter().filter(|(list, ..)| names(label, list));
        (named.map(|(_, at, _)| *at).collect(), self.labels(label))
    }

    /// What its settings are called that a label does not name.
    pub fn label_beside(&self, label: &str) -> String {
        let others = self.of.iter().filter(|(list, ..)| !names(label, list));
        others.map(|(.., setting)| setting.label.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The look that one of its settings has.
    pub fn look(&self) -> Option<usize> {
        self.of.iter().find_map(|(.., setting)| setting.look)
    }

    /// Whether at most one of its settings is not the first of its list.
    pub fn is_on_an_axis(&self) -> bool {
        self.of.iter().filter(|(_, at, _)| *at > 0).count() <= 1
    }

    /// Whether it is left out: it is called so, or has a setting or several in a row that are.
    fn is_among(&self, names: &[Spanned<String>]) -> bool {
        let own: Vec<&str> = self.names().collect();
        let parts =
            (0..own.len()).flat_map(|from| (from + 1..=own.len()).map(move |to| (from, to)));
        let parts: BTreeSet<String> = parts.map(|(from, to)| own[from..to].join("-")).collect();
        names.iter().any(|name| parts.contains(name.get_ref()))
    }

    /// A text with what settings are called in place of `{LIST}`.
    pub fn labels(&self, text: &str) -> String {
        self.filled(text, |setting| &setting.label)
    }

    /// The name of a case with the names of settings in place of `{LIST}`.
    pub fn case(&self, of: &Spanned<String>) -> Spanned<String> {
        Spanned::new(of.span(), self.names_in(of.get_ref()))
    }

    /// A text with the names of settings in place of `{LIST}`, and their labels in place of `{LIST.label}`.
    pub fn names_in(&self, text: &str) -> String {
        let fill = |text: String, (list, _, setting): &(String, usize, Named)| {
            text.replace(&format!("{{{list}.label}}"), &setting.label)
        };
        self.of.iter().fold(self.filled(text, |setting| &setting.name), fill)
    }

    /// A measure of these settings: their names stand in the names of cases, and in what is asked.
    pub fn measure(&self, of: &Spanned<Measure>) -> Spanned<Measure> {
        let case = |case: &Option<Spanned<String>>| case.as_ref().map(|case| self.case(case));
        let Measure {
            of: one, from, to, flows, counter, sql, pooled, quantity, over, than, ..
        } = of.get_ref();
        let filled = Measure {
            of: case(one),
            from: case(from),
            to: case(to),
            flows: case(flows),
            counter: case(counter),
            sql: case(sql),
            pooled: case(pooled),
            quantity: case(quantity),
            over: over.iter().map(|list| self.case(list)).collect(),
            than: than.as_ref().map(|than| Box::new(self.measure(than))),
            ..of.get_ref().clone()
        };
        Spanned::new(of.span(), filled)
    }

    fn filled(&self, text: &str, with: impl Fn(&Named) -> &String) -> String {
        let fill = |text: String, (list, _, setting): &(String, usize, Named)| {
            let also = |text: String, (key, word): (&String, &String)| {
                text.replace(&format!("{{{list}.{key}}}"), word)
            };
            let text = setting.also.iter().fold(text, also);
            text.replace(&format!("{{{list}}}"), with(setting))
        };
        self.of.iter().fold(text.to_owned(), fill)
    }
}

/// Whether a text names a list.
fn names(text: &str, list: &str) -> bool {
    text.contains(&format!("{{{list}}}")) || text.contains(&format!("{{{list}."))
}

/// What stands in braces.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

impl Compiler<'_> {
    /// The lists of settings of which names stand in these texts.
    pub fn lists_in(&self, texts: &[&Spanned<String>]) -> Vec<Spanned<String>> {
        let named = |text: &&Spanned<String>| {
            let found =
                placeholders(text.get_ref()).map(|of| of.trim_end_matches(".label").to_owned());
            found.map(|list| Spanned::new(text.span(), list)).collect::<Vec<_>>()
        };
        let mut seen = BTreeSet::new();
        let lists = texts.iter().flat_map(named);
        let lists = lists.filter(|list| self.lists.contains_key(list.get_ref()));
        lists.filter(|list| seen.insert(list.get_ref().clone())).collect()
    }

    /// All combinations of the settings of these lists, the last list fastest, without those left out by the name of a
    /// setting or of the whole; a single one without any list. None if a list or a setting is not there.
    pub fn picks(
        &mut self,
        over: &[Spanned<String>],
        except: &[Spanned<String>],
    ) -> Option<Vec<Pick>> {
        let mut picks = vec![Pick::default()];
        let mut seen = BTreeSet::new();
        for list in over {
            let name = list.get_ref();
            let Some(settings) = self.lists.get(name).cloned() else {
                let names: Vec<&str> = self.lists.keys().map(String::as_str).collect();
                let help = match names.as_slice() {
                    [] => "lists stand in the file of a study: [[settings.NAME]]".to_owned(),
                    names => suggest::remedy(name, "lists", names),
                };
                self.wrong(list.span(), format!("there is no list of settings `{name}`"), help);
                return None;
            };
            if !seen.insert(name.clone()) {
                self.wrong(list.span(), format!("`{name}` is there twice"), "name each list once");
                return None;
            }
            let with = |pick: &Pick| -> Vec<Pick> {
                let more = settings.iter().enumerate().map(|(at, setting)| {
                    let mut pick = pick.clone();
                    pick.of.push((name.clone(), at, setting.clone()));
                    pick
                });
                more.collect()
            };
            if picks.len() * settings.len() > MOST {
                let message = format!("these lists have more than {MOST} combinations");
                self.wrong(list.span(), message, "take fewer lists together, or fewer settings");
                return None;
            }
            picks = picks.iter().flat_map(with).collect();
        }
        for name in except {
            if !picks.iter().any(|pick| pick.is_among(std::slice::from_ref(name))) {
                let known: BTreeSet<&str> = picks.iter().flat_map(Pick::names).collect();
                let names: Vec<&str> = known.iter().copied().collect();
                let message = format!("there is no setting `{}`", name.get_ref());
                self.wrong(
                    name.span(),
                    message,
                    suggest::remedy(name.get_ref(), "settings", &names),
                );
                return None;
            }
        }
        picks.retain(|pick| !pick.is_among(except));
        Some(picks)
    }
}
