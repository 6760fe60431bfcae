//! The configuration of one switch: tables, keys and fields, as CONFIG_DB has them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::json::Node;
use crate::text::{Place, Problem, Source};

/// What to do about characters that no name has.
const NAMES: &str = "write names and values of printable characters";

/// What a configuration looks like, for remedies.
const FORM: &str = "a configuration has tables, these have keys, and these have fields: \
                    {\"BUFFER_POOL\": {\"egress_lossy_pool\": {\"size\": \"9243812\"}}}";

/// The fields of one key of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The table.
    pub table: String,
    /// The key in it.
    pub key: String,
    /// The fields and what they say; lists with commas between their elements.
    pub fields: Vec<(String, String)>,
    /// The file.
    source: Arc<Source>,
}

/// The configuration of a switch, which may be in several files.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// In the order of the files.
    pub entries: Vec<Entry>,
    /// The files.
    pub sources: Vec<Arc<Source>>,
    by_table: BTreeMap<String, Vec<usize>>,
}

impl Config {
    /// Reads the tables of one file.
    pub fn read(source: &Arc<Source>, root: Node) -> Result<Self, Problem> {
        let wrong = |what: String| Problem::error(Place::whole(source), what, FORM);
        let Node::Object(tables) = root else {
            return Err(wrong("the file is not a JSON object of tables".to_owned()));
        };
        let mut config = Self { sources: vec![Arc::clone(source)], ..Self::default() };
        for (table, keys) in tables {
            let Node::Object(keys) = keys else {
                let place = find(source, &[&table]);
                return Err(Problem::error(
                    place,
                    format!("the table `{table}` has no keys"),
                    FORM,
                ));
            };
            config.by_table.entry(table.clone()).or_default();
            for (key, fields) in keys {
                // It would end a comment of the scenario, or be no TOML.
                if key.contains(char::is_control) {
                    let message = format!("a key of `{table}` has a control character: {key:?}");
                    return Err(Problem::error(find(source, &[&table]), message, NAMES));
                }
                let fields = match fields {
                    Node::Object(fields) => fields,
                    Node::List(list) if list.is_empty() => Vec::new(),
                    Node::Word(word) if word == "NULL" || word == "null" => Vec::new(),
                    _ => {
                        let message = format!("`{table}|{key}` has no fields");
                        return Err(Problem::error(find(source, &[&table, &key]), message, FORM));
                    }
                };
                let mut entry = Entry {
                    table: table.clone(),
                    key,
                    fields: Vec::new(),
                    source: Arc::clone(source),
                };
                for (field, value) in fields {
                    let Some(value) = words(value) else {
                        let message = format!(
                            "`{field}` of `{}|{}` is neither a text nor a list of texts",
                            entry.table, entry.key
                        );
                        return Err(Problem::error(entry.find(&field), message, FORM));
                    };
                    if value.contains(char::is_control) {
                        let message = format!(
                            "`{field}` of `{}|{}` has a control character: {value:?}",
                            entry.table, entry.key
                        );
                        return Err(Problem::error(entry.find(&field), message, NAMES));
                    }
                    entry.fields.push((field, value));
                }
                config.push(entry);
            }
        }
        Ok(config)
    }

    fn push(&mut self, entry: Entry) {
        self.by_table.entry(entry.table.clone()).or_default().push(self.entries.len());
        self.entries.push(entry);
    }

    /// Takes over the tables of another file of the same switch.
    pub fn add(&mut self, other: Self) {
        for table in other.by_table.into_keys() {
            self.by_table.entry(table).or_default();
        }
        self.sources.extend(other.sources);
        other.entries.into_iter().for_each(|entry| self.push(entry));
    }

    /// Whether this table is there.
    pub fn has(&self, table: &str) -> bool {
        self.by_table.contains_key(table)
    }

    /// The names of its tables.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.by_table.keys().map(String::as_str)
    }

    /// The entries of a table, in order.
    pub fn table(&self, table: &str) -> impl Iterator<Item = &Entry> {
        self.by_table.get(table).into_iter().flatten().map(|&at| &self.entries[at])
    }

    /// The entry with this key.
    pub fn entry(&self, table: &str, key: &str) -> Option<&Entry> {
        self.table(table).find(|entry| entry.key == key)
    }

    /// The entry that a field names, as `name` or, in older configurations, as `[TABLE|name]`. An error if
    /// it is not there.
    pub fn named<'a>(
        &'a self,
        table: &str,
        by: &Entry,
        field: &str,
    ) -> Result<Option<&'a Entry>, Problem> {
        let Some(name) = by.get(field).map(plain) else { return Ok(None) };
        let found = self.entry(table, name);
        if found.is_none() && !name.is_empty() {
            let keys: Vec<&str> = self.table(table).map(|entry| entry.key.as_str()).collect();
            let help = match keys.is_empty() {
                true => format!("give the file with the table `{table}` too"),
                false => crate::text::suggest::remedy(name, &format!("keys of `{table}`"), &keys),
            };
            return Err(by.problem(field, format!("there is no `{table}|{name}`"), help));
        }
        Ok(found)
    }

    /// An error about the whole configuration.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        let source = self.sources.first().cloned();
        let source = source.unwrap_or_else(|| Arc::new(Source::new("", String::new())));
        Problem::error(Place::whole(&source), message, help)
    }
}

impl Entry {
    /// What a field says.
    pub fn get(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value.trim())
    }

    /// A whole number.
    pub fn whole(&self, field: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.get(field) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            self.problem(
                field,
                format!(
                    "`{field}` of `{}|{}` is {text:?}, not a whole number",
                    self.table, self.key
                ),
                "write a whole number, in quotes as CONFIG_DB has it",
            )
        })
    }

    /// A whole number that is not larger than `most`.
    pub fn at_most(&self, field: &str, most: u64) -> Result<Option<u64>, Problem> {
        let number = self.whole(field)?;
        match number {
            Some(number) if number > most => Err(self.problem(
                field,
                format!("`{field}` of `{}|{}` is {number}, above {most}", self.table, self.key),
                format!("write a number from 0 to {most}"),
            )),
            _ => Ok(number),
        }
    }

    /// The exponent of a dynamic threshold.
    pub fn exponent(&self, field: &str) -> Result<Option<i32>, Problem> {
        let Some(text) = self.get(field) else { return Ok(None) };
        let exponent = text.parse().ok().filter(|exponent| (-16..=16).contains(exponent));
        exponent.map(Some).ok_or_else(|| {
            self.problem(
                field,
                format!("`{field}` of `{}|{}` is {text:?}", self.table, self.key),
                "alpha is 2 to this power: write a whole number from -16 to 16; switches have -8 to 8",
            )
        })
    }

    /// An error about one of its fields, or its key.
    pub fn problem(
        &self,
        field: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        Problem::error(self.place(field), message, help)
    }

    /// Where a field is, or its key if it has no such field.
    pub fn place(&self, field: &str) -> Place {
        // Another entry after it may have such a field.
        self.find(if self.get(field).is_some() { field } else { "" })
    }

    fn find(&self, field: &str) -> Place {
        find(&self.source, &[&self.table, &self.key, field])
    }

    /// The ports and the numbers of groups or queues of a key such as `Ethernet0,Ethernet4|3-4`.
    pub fn ports(&self) -> Result<(Vec<&str>, std::ops::RangeInclusive<u8>), Problem> {
        let wrong = || {
            self.problem(
                "",
                format!("`{}` of `{}` names no ports and numbers", self.key, self.table),
                "write it like `Ethernet0|3` or `Ethernet0,Ethernet4|3-4`, with numbers from 0 to 7",
            )
        };
        let mut parts = self.key.rsplit('|');
        let (numbers, ports) = parts.next().zip(parts.next()).ok_or_else(wrong)?;
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        let ports: Vec<&str> = ports.split(',').map(str::trim).collect();
        if ports.contains(&"") {
            return Err(wrong());
        }
        let number = |text: &str| text.trim().parse::<u8>().ok().filter(|number| *number <= 7);
        match number(first).zip(number(last)).filter(|(first, last)| first <= last) {
            Some((first, last)) => Ok((ports, first..=last)),
            None => Err(self.problem(
                "",
                format!(
                    "`{}` of `{}` ends with {numbers:?}, which is neither a number from 0 to 7 nor a range of them",
                    self.key, self.table
                ),
                "write it like `Ethernet0|3` or `Ethernet0|3-4`",
            )),
        }
    }
}

/// Reads JSON.
pub fn json(source: &Arc<Source>) -> Result<Node, Problem> {
    serde_json::from_str::<Node>(source.inner()).map_err(|error| {
        let (place, message) = placed(source, &error);
        Problem::error(place, format!("this is not valid JSON: {message}"), FORM)
    })
}

/// The name in a reference: `[BUFFER_PROFILE|name]`, or `name`.
pub fn plain(reference: &str) -> &str {
    let inner = reference.trim();
    let Some(inner) = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) else {
        return inner;
    };
    inner.rsplit_once('|').map_or(inner, |(_, name)| name).trim()
}

/// A text, or the texts of a list.
fn words(node: Node) -> Option<String> {
    match node {
        Node::Word(word) => Some(word),
        Node::List(list) => {
            let word = |node| match node {
                Node::Word(word) => Some(word),
                Node::List(_) | Node::Object(_) => None,
            };
            let words: Option<Vec<String>> = list.into_iter().map(word).collect();
            Some(words?.join(","))
        }
        Node::Object(_) => None,
    }
}

/// Where JSON is wrong, and what, without the place.
fn placed(source: &Arc<Source>, error: &serde_json::Error) -> (Place, String) {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default().to_owned();
    let place = match error.line() {
        0 => Place::whole(source),
        line => Place::line(source, line),
    };
    (place, message)
}

/// Where these keys stand within one another; of the last ones that are there.
fn find(source: &Arc<Source>, keys: &[&str]) -> Place {
    let text = source.inner();
    let (mut from, mut place) = (0, None);
    for key in keys.iter().filter(|key| !key.is_empty()) {
        let quoted = serde_json::to_string(key).unwrap_or_default();
        let mut at = from;
        let found = loop {
            let Some(next) = text.get(at..).and_then(|rest| rest.find(&quoted)) else { break None };
            let (start, end) = (at + next, at + next + quoted.len());
            // A value that says the same is no key.
            if text[end..].trim_start().starts_with(':') {
                break Some(start..end);
            }
            at = end;
        };
        let Some(found) = found else { break };
        from = found.end;
        place = Some(found);
    }
    place.map_or_else(|| Place::whole(source), |range| Place::at(source, range))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let source = Arc::new(Source::new("db.json", text.to_owned()));
        let config = json(&source).and_then(|root| Config::read(&source, root));
        config.map_err(|problem| problem.plain())
    }

    #[test]
    fn keys_name_ports_and_numbers() {
        let text = r#"{"QUEUE": {"Ethernet0,Ethernet4|3-4": {"scheduler": "[SCHEDULER|s]"},
                                 "host|asic0|Ethernet8|7": {}, "Ethernet0|4-3": {}, "x": {}, "Ethernet0|8": {}}}"#;
        let config = read(text).unwrap();
        let ports: Vec<_> = config.table("QUEUE").map(|entry| entry.ports().ok()).collect();
        let expected = [
            Some((vec!["Ethernet0", "Ethernet4"], 3..=4)),
            Some((vec!["Ethernet8"], 7..=7)),
            None,
            None,
            None,
        ];
        assert_eq!(ports, expected);
        let wrong = config.table("QUEUE").filter_map(|entry| Some(entry.ports().err()?.message));
        let no_number = "which is neither a number from 0 to 7 nor a range of them";
        let expected = [
            format!("`Ethernet0|4-3` of `QUEUE` ends with \"4-3\", {no_number}"),
            "`x` of `QUEUE` names no ports and numbers".to_owned(),
            format!("`Ethernet0|8` of `QUEUE` ends with \"8\", {no_number}"),
        ];
        assert_eq!(wrong.collect::<Vec<_>>(), expected);
        let first = config.table("QUEUE").next().unwrap();
        assert_eq!(first.get("scheduler").map(plain), Some("s"));
        let said = config.named("SCHEDULER", first, "scheduler").unwrap_err().plain();
        assert!(said.contains("there is no `SCHEDULER|s`"), "{said}");
        assert!(said.contains("give the file with the table `SCHEDULER` too"), "{said}");
        assert!(said.contains("db.json:1:40"), "{said}");
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_place() {
        for (text, expected) in [
            ("", "not valid JSON: EOF while parsing a value"),
            ("[]", "the file is not a JSON object of tables"),
            ("{\"A\": 1}", "the table `A` has no keys"),
            ("{\"A\": {\"b\": \"c\"}}", "`A|b` has no fields"),
            ("{\"A\": {\"b\": {\"c\": {}}}}", "`c` of `A|b` is neither a text nor a list of texts"),
            ("{\"A\": {},\n \"A\": {}}", "the key \"A\" is there twice"),
            ("{\"A\": {\"b\\n\": {}}}", "a key of `A` has a control character: \"b\\n\""),
            ("{\"A\": {\"b\": {\"c\": \"d\\u0001\"}}}", "`c` of `A|b` has a control character"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(expected) && said.contains("help: "), "{text:?}: {said}");
        }
        let config = read("{\"A\": {\"b\": {\"n\": \"-1\", \"e\": \"x\"}}}").unwrap();
        let entry = config.entry("A", "b").unwrap();
        assert!(entry.whole("n").unwrap_err().plain().contains("db.json:1:14"));
        assert!(entry.exponent("e").unwrap_err().message.contains("`e` of `A|b` is \"x\""));
        // The entry after it has the field.
        let config = read("{\"A\": {\"b\": {},\n\"c\": {\"n\": \"1\"}}}").unwrap();
        let said = config.entry("A", "b").unwrap().problem("n", "", "").plain();
        assert!(said.contains("db.json:1:8"), "{said}");
    }
}
