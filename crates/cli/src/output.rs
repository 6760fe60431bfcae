//! Standard output and standard error: all that the program prints goes through here, and control
//! characters in it are written out ([`printable`]), wherever they are from. Writing never panics: a
//! full device is an error, and a reader that has gone away (`| head`) is none.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use floodway_machine::printable;
use floodway_report::terminal::Style;

use crate::failure::Failure;

/// Colors of the words that begin a message.
#[derive(Clone, Copy)]
pub enum Paint {
    /// Errors.
    Red,
    /// Warnings.
    Yellow,
    /// Remedies and notes.
    Cyan,
}

impl Paint {
    const fn code(self) -> u8 {
        match self {
            Self::Red => 31,
            Self::Yellow => 33,
            Self::Cyan => 36,
        }
    }
}

/// Writes text to standard output. Colors that [`style`] allows remain.
pub fn print(text: &str) -> Result<(), Failure> {
    let colored = has_colors(&io::stdout());
    write(&if colored { printable::colored(text) } else { printable::text(text) })
}

fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes a JSON value to standard output, indented.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("it has text keys and plain values");
    write(&printable::json(&(text + "\n")))
}

/// Writes text to standard error. What cannot be said there cannot be said at all.
pub fn say(text: &str) {
    say_painted(&printable::text(text));
}

/// The same of text that is printable, with colors.
fn say_painted(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Says something with the word for what it is before it.
pub fn told(paint: Paint, word: &str, text: &str) {
    say_painted(&format!("{}: {}\n", painted(paint, word), printable::text(text)));
}

/// Says something that is no problem, on one line.
pub fn note(text: &str) {
    told(Paint::Cyan, "note", &printable::line(text));
}

/// A path within a line: line feeds in it are written out too, so that it cannot forge another line.
pub fn path(path: &Path) -> String {
    printable::line(&path.to_string_lossy()).into_owned()
}

/// Says what is wrong with a scenario, in the plain form of its problems, with colors if standard
/// error has them.
pub fn problem(plain: &str) {
    let words = [(Paint::Red, "error:"), (Paint::Yellow, "warning:")];
    let mut text = String::new();
    for line in printable::text(plain).lines() {
        let begin = words.iter().find(|(_, word)| line.starts_with(word));
        text += &match (begin, line.split_once("= help:")) {
            (Some((paint, word)), _) => painted(*paint, word) + &line[word.len()..],
            (None, Some((margin, help))) if margin.trim().is_empty() => {
                format!("{margin}= {}{help}", painted(Paint::Cyan, "help:"))
            }
            _ => line.to_owned(),
        };
        text.push('\n');
    }
    say_painted(&text);
}

fn painted(paint: Paint, word: &str) -> String {
    if has_colors(&io::stderr()) {
        format!("\x1b[1;{}m{word}\x1b[0m", paint.code())
    } else {
        word.to_owned()
    }
}

/// How a table may look on standard output.
pub fn style() -> Style {
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let columns = columns.filter(|_| io::stdout().is_terminal());
    Style {
        color: has_colors(&io::stdout()),
        // Wider lines are hard to follow, narrower ones cannot hold a number and its interval.
        width: columns.map_or(Style::default().width, |columns| columns.clamp(60, 120)),
    }
}

/// Whether it is a terminal with colors and no variable forbids them, or one forces them: by the variables
/// `NO_COLOR` (no-color.org), `CLICOLOR_FORCE` and `CLICOLOR` (bixense.com/clicolors), the same as in
/// the help texts.
fn has_colors(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}
