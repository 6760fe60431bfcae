//! Where a word stands: the text it came from, and the bytes there.

use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

/// A text with its name: a file, or one `--set`.
pub type Source = NamedSource<String>;

/// A word in a source, or a source as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text.
    pub source: Arc<Source>,
    /// The bytes of the word; `None` for the whole text.
    pub range: Option<Range<usize>>,
}

impl Place {
    /// The whole of a text.
    pub fn whole(source: &Arc<Source>) -> Self {
        Self { source: Arc::clone(source), range: None }
    }

    /// Some bytes of a text.
    pub fn at(source: &Arc<Source>, range: Range<usize>) -> Self {
        let end = source.inner().len();
        let range = range.start.min(end)..range.end.min(end);
        Self { source: Arc::clone(source), range: Some(range) }
    }

    /// A line of a text, counted from 1.
    pub fn line(source: &Arc<Source>, number: usize) -> Self {
        let text = source.inner();
        let start: usize = text.split_inclusive('\n').take(number - 1).map(str::len).sum();
        let length = text[start..].lines().next().unwrap_or("").trim_end().len();
        Self::at(source, start..start + length)
    }

    /// The word itself.
    pub fn word(&self) -> &str {
        self.range.clone().and_then(|range| self.source.inner().get(range)).unwrap_or("")
    }

    /// Line and column, both from 1 and the column in characters, and that line's text.
    pub fn position(&self) -> Option<Position<'_>> {
        let range = self.range.clone()?;
        let text = self.source.inner();
        let start = (0..=range.start).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[line_start..].lines().next().unwrap_or("");
        let column = text[line_start..start].chars().count() + 1;
        let word = text.get(range).unwrap_or("").lines().next().unwrap_or("");
        Some(Position {
            line: text[..start].matches('\n').count() + 1,
            column,
            text: line,
            width: word.chars().count().max(1),
        })
    }
}

/// A place as a person finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line.
    pub text: &'a str,
    /// Characters of the word on that line, at least 1.
    pub width: usize,
}
