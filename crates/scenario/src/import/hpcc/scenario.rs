//! The scenario as text: tables of lines, each with where it comes from.

use std::fmt::Write;

/// A scenario file that is being written.
#[derive(Default)]
pub struct Scenario {
    tables: Vec<(String, Vec<Line>)>,
}

struct Line {
    text: String,
    from: String,
}

/// Where comments begin, if there is room.
const COLUMN: usize = 40;

impl Scenario {
    /// A new table, `[name]` or `[[name]]`; the first has no name.
    pub fn table(&mut self, name: &str) -> &mut Self {
        self.tables.push((name.to_owned(), Vec::new()));
        self
    }

    /// A value that TOML writes without quotes, and what it comes from.
    pub fn bare(
        &mut self,
        field: &str,
        value: impl ToString,
        from: impl Into<String>,
    ) -> &mut Self {
        let text = format!("{field} = {}", value.to_string());
        let (_, lines) = self.tables.last_mut().expect("a table was begun");
        lines.push(Line { text, from: from.into() });
        self
    }

    /// A text or a quantity.
    pub fn quoted(
        &mut self,
        field: &str,
        value: impl ToString,
        from: impl Into<String>,
    ) -> &mut Self {
        let value = value.to_string().replace('\\', "\\\\").replace('"', "\\\"");
        self.bare(field, format!("\"{value}\""), from)
    }

    /// The path of a field of the table that was begun last.
    pub fn place(&self, field: &str) -> String {
        let (name, _) = self.tables.last().expect("a table was begun");
        match name.trim_matches(['[', ']']) {
            "" => field.to_owned(),
            name => format!("{name}.{field}"),
        }
    }

    /// The file, with `head` above it.
    pub fn text(&self, head: &[String]) -> String {
        let mut text = String::new();
        for line in head {
            let _ = writeln!(text, "{}", format!("# {line}").trim_end());
        }
        for (name, lines) in &self.tables {
            text.push('\n');
            if !name.is_empty() {
                let _ = writeln!(text, "[{name}]");
            }
            for Line { text: line, from } in lines {
                if from.is_empty() {
                    let _ = writeln!(text, "{line}");
                } else {
                    let _ = writeln!(text, "{line:COLUMN$} # {from}");
                }
            }
        }
        text
    }
}
