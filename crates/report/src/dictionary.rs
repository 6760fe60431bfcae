//! The data dictionary: what every table and column of the results means, from the code that
//! fills them.

use floodway_machine::printable;
use floodway_model::Table;
use floodway_model::table::{Values, Words};
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::manifest::Manifest;
use crate::markdown::code;

/// The tables of the runs, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    tables: BTreeMap<Words, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Whether it has rows in any run.
    has_rows: bool,
    doc: Words,
    /// Name, kind and meaning.
    columns: Vec<(Words, &'static str, Words)>,
}

impl Dictionary {
    /// Adds the tables of a run.
    pub fn learn(&mut self, tables: &[Table]) {
        for table in tables {
            let entry = self.tables.entry(table.name.clone()).or_insert_with(|| Entry {
                has_rows: false,
                doc: table.doc.clone(),
                columns: table
                    .columns
                    .iter()
                    .map(|column| (column.name.clone(), kind(&column.values), column.doc.clone()))
                    .collect(),
            });
            entry.has_rows |= table.rows() > 0;
        }
    }

    /// As a page of Markdown.
    pub fn markdown(&self, manifest: &Manifest) -> String {
        let empty: Vec<String> =
            self.tables.iter().filter(|(_, of)| !of.has_rows).map(|(name, _)| code(name)).collect();
        let empty =
            if empty.is_empty() { "here every table has rows".into() } else { empty.join(", ") };
        let mut text = format!(
            "# What the tables hold\n\n\
             Results of scenario {}, floodway {}, schema {}. Each run has its tables in \
             `runs/<variant>/<replication>/`. All files of one table have the same columns, so \
             that a pattern reads them as one: `runs/*/*/flows.parquet`. A table without rows \
             has no file: {empty}.\n\n\
             A column's unit is the end of its name. Where a meaning speaks of an empty value, it \
             is NaN, not null, so that an average over unfinished flows shows itself instead of \
             passing \
             silently. Nodes are numbers in `flows` and names elsewhere; replications count from \
             0, and replication *r* has the same traffic in every variant.\n",
            code(&manifest.scenario.name),
            printable::line(&manifest.floodway),
            manifest.schema
        );
        for (name, entry) in &self.tables {
            let _ = write!(text, "\n## {name}\n\n{}\n\n", sentence(&entry.doc));
            text.push_str("| column | type | meaning |\n| --- | --- | --- |\n");
            text.push_str("| `variant` | text | What is compared: the variant's name. |\n");
            text.push_str("| `replication` | whole number | The replication, counted from 0. |\n");
            for (column, kind, doc) in &entry.columns {
                let doc = sentence(doc).replace('|', "\\|");
                let _ = writeln!(text, "| `{column}` | {kind} | {doc} |");
            }
        }
        text
    }
}

fn kind(values: &Values) -> &'static str {
    match values {
        Values::U64(_) => "whole number",
        Values::F64(_) => "real number",
        Values::Text(_) => "text",
    }
}

/// A doc as a sentence: a capital first, a full stop last.
fn sentence(doc: &str) -> String {
    let mut letters = doc.chars();
    let Some(first) = letters.next() else { return String::new() };
    let text: String = first.to_uppercase().chain(letters).collect();
    if text.ends_with(['.', '!', '?']) { text } else { text + "." }
}
