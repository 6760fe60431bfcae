//! The scenario as text: tables of lines, each with where it comes from.

use std::fmt::Write;

use floodway_machine::printable;

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
        let mut text = String::from('"');
        for c in value.to_string().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                c if c.is_control() => text += &format!("\\u{:04x}", u32::from(c)),
                c => text.push(c),
            }
        }
        text.push('"');
        self.bare(field, text, from)
    }

    /// The path of a field of the table that was begun last.
    pub fn place(&self, field: &str) -> String {
        let (name, _) = self.tables.last().expect("a table was begun");
        match name.trim_matches(['[', ']']) {
            "" => field.to_owned(),
            name => format!("{name}.{field}"),
        }
    }

    /// The file, with `head` above it; and of each of its lines, from which key it is, if it is from one
    /// or stands below one in its table; `key` knows the keys.
    pub fn text(
        &self,
        head: &[String],
        key: impl Fn(&str) -> Option<&'static str>,
    ) -> (String, Vec<Option<&'static str>>) {
        let (mut text, mut keys) = (String::new(), Vec::new());
        for line in head {
            // Comments take no control characters, and what is written may have some.
            let line = format!("# {}", printable::text(line).replace('\n', " "));
            let _ = writeln!(text, "{}", line.trim_end());
            keys.push(None);
        }
        for (name, lines) in &self.tables {
            text.push('\n');
            keys.push(None);
            if !name.is_empty() {
                let _ = writeln!(text, "[{name}]");
                keys.push(None);
            }
            let mut last = None;
            for Line { text: line, from } in lines {
                if from.is_empty() {
                    let _ = writeln!(text, "{line}");
                } else {
                    let from = printable::line(from);
                    let _ = writeln!(text, "{line:COLUMN$} # {from}");
                }
                last = from.split(' ').next().and_then(&key).or(last);
                keys.push(last);
            }
        }
        (text, keys)
    }
}
