//! What is wrong with a scenario: the place, the cause, the remedy.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

use super::source::Place;
use floodway_machine::printable;

/// One thing that is wrong, or that should be known before the run.
///
/// Its [`Display`](fmt::Display) is the cause alone, as miette expects; [`Problem::plain`] adds
/// place, source line and remedy in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the scenario cannot run because of it.
    pub severity: Severity,
    /// The cause.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// Where it is, as well as that is known.
    pub place: Place,
    /// The variants that have it, if not all of them do.
    pub variants: Vec<String>,
    /// Of a setting that cannot act, its path: if the same line acts in another variant, nothing is wrong.
    /// One pointer, because problems are returned by value.
    pub idle: Option<Arc<String>>,
}

impl Problem {
    /// A reason not to run.
    pub fn error(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            help: help.into(),
            place,
            variants: Vec::new(),
            idle: None,
        }
    }

    /// A reason to think again.
    pub fn warning(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, message, help) }
    }

    /// Plain text without color, the same on every terminal:
    ///
    /// ```text
    /// error: XON (800KB) is not below XOFF (750KB)
    ///   --> lossless.toml:12:8
    ///    |
    /// 12 | xon = "800KB"
    ///    |       ^^^^^^^
    ///    = help: ...
    /// ```
    pub fn plain(&self) -> String {
        let kind = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "advice",
        };
        let mut text =
            format!("{kind}: {}\n", printable::line(&printable::sentence(&self.message)));
        let name = printable::line(self.place.source.name());
        let mut margin = String::new();
        match self.place.position() {
            Some(at) => {
                margin = " ".repeat(at.line.to_string().len());
                let (cut, line) = part(at.text, at.column - 1);
                let column = at.column - 1 - cut;
                // As wide as what is shown, in which control characters are written out.
                let before: String = line.chars().take(column).collect();
                let word: String = line.chars().skip(column).take(at.width).collect();
                let indent: String = printable::line(&before).chars().map(blank).collect();
                let width = printable::line(&word).chars().count().max(1);
                text += &format!("{margin}--> {name}:{}:{}\n", at.line, at.column);
                text += &format!("{margin} |\n{} | {}\n", at.line, printable::line(&line));
                text += &format!("{margin} | {indent}{}\n", "^".repeat(width));
            }
            None => text += &format!("--> {name}\n"),
        }
        if !self.variants.is_empty() {
            let shown = |name: &String| format!("`{}`", printable::line(name));
            let names: Vec<_> = self.variants.iter().map(shown).collect();
            let noun = if names.len() == 1 { "variant" } else { "variants" };
            text += &format!("{margin} = in {noun} {}\n", names.join(", "));
        }
        let help = printable::sentence(&self.help);
        text + &format!("{margin} = help: {}\n", printable::line(&help))
    }
}

/// Of a line that is too long to be read, what is around a column, counted from 0; and how many
/// characters are left out before it.
fn part(line: &str, column: usize) -> (usize, Cow<'_, str>) {
    const MOST: usize = 1_000;
    const BEFORE: usize = 60;
    const SHOWN: usize = 160;
    if line.chars().nth(MOST).is_none() {
        return (0, Cow::Borrowed(line));
    }
    let from = column.saturating_sub(BEFORE);
    let mut shown: String = line.chars().skip(from).take(SHOWN).collect();
    if line.chars().nth(from + SHOWN).is_some() {
        shown.push('…');
    }
    (from, Cow::Owned(shown))
}

/// What stands above a caret line in place of a character: tabs keep their width.
fn blank(character: char) -> char {
    if character == '\t' { '\t' } else { ' ' }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let variants = match self.variants.as_slice() {
            [] => String::new(),
            names => format!(" (in {})", names.join(", ")),
        };
        Some(Box::new(format!("{}{variants}", self.help)))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.place.source.as_ref())
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let range = self.place.range.clone()?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(range))))
    }
}

/// Why a scenario cannot run: at least one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    problems: Vec<Problem>,
}

impl Error {
    /// All that is wrong; `problems` must not be empty.
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        assert!(!problems.is_empty(), "an error says what is wrong");
        Self { problems }
    }

    /// All that is wrong; none if nothing is.
    pub fn of(problems: Vec<Problem>) -> Option<Self> {
        (!problems.is_empty()).then(|| Self::new(problems))
    }

    /// What is wrong, in the order of its places.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// All problems as plain text; see [`Problem::plain`].
    pub fn plain(&self) -> String {
        self.problems.iter().map(Problem::plain).collect::<Vec<_>>().join("\n")
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::new(vec![problem])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [one] => one.fmt(f),
            many => write!(f, "the scenario has {} problems", many.len()),
        }
    }
}

impl std::error::Error for Error {}

/// One problem shows itself; several are shown as related to a headline.
impl Diagnostic for Error {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Error)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.single()?.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.single()?.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.single()?.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.single().is_some() {
            return None;
        }
        Some(Box::new(self.problems.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}

impl Error {
    fn single(&self) -> Option<&Problem> {
        match self.problems.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }
}
