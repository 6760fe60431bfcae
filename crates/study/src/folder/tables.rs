//! Files beside a study that are tables in its SQL: what somebody else has measured.
//!
//! A file has comma-separated values (RFC 4180): a line with the names of the columns, then a row in each line. Lines that
//! begin with `#` are left out. A value is a number if it reads as one, NULL if it is empty, and text otherwise.

use std::collections::{BTreeMap, BTreeSet};

use csv::{ErrorKind, ReaderBuilder, StringRecord};
use toml::Spanned;

use super::Loading;
use crate::sql::{Query, Shape};

impl Loading<'_> {
    /// The tables of files, by their names, as statements that give their rows.
    pub(super) fn tables(&mut self) -> BTreeMap<String, String> {
        let document = self.document;
        document
            .table
            .iter()
            .filter_map(|(name, file)| Some((name.clone(), self.rows_of_file(name, file)?)))
            .collect()
    }

    fn rows_of_file(&mut self, name: &str, file: &Spanned<String>) -> Option<String> {
        let simple = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let problem = if !name.chars().all(simple) {
            Some(("is no name of a table", "write letters, digits and `_`"))
        } else if self.document.view.contains_key(name) {
            Some(("is a view, too", "give one of them another name"))
        } else if Query::new(&format!("SELECT count(*) FROM {name}"), Shape::Number).is_ok() {
            Some(("is a table of every run", "give it another name"))
        } else {
            None
        };
        if let Some((problem, help)) = problem {
            self.compiler.wrong(file.span(), format!("`{name}` {problem}"), help);
            return None;
        }
        let path = self.files.path(file.get_ref());
        let text = match self.files.text(file.get_ref()) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("{} cannot be read: {error}", path.display());
                self.compiler.wrong(file.span(), message, "tables are in files beside study.toml");
                return None;
            }
        };
        match statement(&text) {
            Ok(statement) => Some(statement),
            Err((line, message)) => {
                let message = format!("{}:{line}: {message}", path.display());
                let help = "the first line has the names of the columns, and every other one as many values with commas \
                            between them";
                self.compiler.wrong(file.span(), message, help);
                None
            }
        }
    }
}

/// The statement that gives the rows of a file. Fails with the line that is wrong.
fn statement(text: &str) -> Result<String, (u64, String)> {
    let mut reader = ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| of_line(&error))?.clone();
    let line = 1 + text.lines().take_while(|line| line.starts_with('#')).count() as u64;
    let mut known = BTreeSet::new();
    if let Some(name) = names.iter().find(|name| name.trim().is_empty() || !known.insert(*name)) {
        let problem = if name.trim().is_empty() { "has no name" } else { "is there twice" };
        return Err((line, format!("the column `{name}` {problem}")));
    }
    let rows: Vec<StringRecord> =
        reader.records().collect::<Result<_, _>>().map_err(|error| of_line(&error))?;
    if rows.is_empty() {
        return Err((line, "there are no rows".to_owned()));
    }
    let columns: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| format!("column{} AS \"{}\"", at + 1, name.replace('"', "\"\"")))
        .collect();
    let row =
        |row: &StringRecord| format!("({})", row.iter().map(value).collect::<Vec<_>>().join(", "));
    let rows: Vec<String> = rows.iter().map(row).collect();
    Ok(format!("SELECT {} FROM (VALUES {})", columns.join(", "), rows.join(", ")))
}

/// A value as SQL writes it.
fn value(text: &str) -> String {
    match text.trim() {
        "" => "NULL".to_owned(),
        number if number.parse().is_ok_and(f64::is_finite) => number.to_owned(),
        text => format!("'{}'", text.replace('\'', "''")),
    }
}

fn of_line(error: &csv::Error) -> (u64, String) {
    let line = error.position().map_or(1, csv::Position::line);
    match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            (line, format!("there are {len} values, and {expected_len} columns"))
        }
        _ => (line, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::statement;

    #[test]
    fn values_are_numbers_text_or_nothing() {
        let text = "# a source\nline,\"a \"\"b\"\"\",x\nd's,1e3,\n\"5, 6\", 7 ,inf\n";
        let wanted = "SELECT column1 AS \"line\", column2 AS \"a \"\"b\"\"\", column3 AS \"x\" FROM \
                      (VALUES ('d''s', 1e3, NULL), ('5, 6', 7, 'inf'))";
        assert_eq!(statement(text).unwrap(), wanted);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let wrong = |text: &str| statement(text).unwrap_err();
        assert_eq!(wrong("a,b\n1,2\n3\n"), (3, "there are 1 values, and 2 columns".to_owned()));
        assert_eq!(wrong("a,a\n1,2\n"), (1, "the column `a` is there twice".to_owned()));
        assert_eq!(wrong("a,\n1,2\n"), (1, "the column `` has no name".to_owned()));
        assert_eq!(wrong("# of somebody\na,b\n"), (2, "there are no rows".to_owned()));
    }
}
