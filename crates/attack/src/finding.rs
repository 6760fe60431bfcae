//! What an attack finds, and how panics become findings.

use std::any::Any;
use std::backtrace::Backtrace;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use floodway_machine::damaged;
use serde::{Deserialize, Serialize};

/// A fault of floodway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of fault; two findings of the same kind and `place` are taken for one.
    pub kind: Kind,
    /// Where: the line of a panic, or the words of a violation without its numbers.
    pub place: String,
    /// All that is known.
    pub text: String,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The program panicked.
    Panic,
    /// A run broke a rule that no sound run breaks.
    Violation,
    /// Two results differ that have to be the same.
    Difference,
    /// What was valid failed.
    Failure,
    /// The program ended without an answer: out of memory, or aborted.
    Crash,
    /// It did not come back in time.
    Hang,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Panic, Self::Violation, Self::Difference, Self::Failure, Self::Crash, Self::Hang];

    /// Its name, in the singular.
    pub fn name(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::Violation => "violation",
            Self::Difference => "difference",
            Self::Failure => "failure",
            Self::Crash => "crash",
            Self::Hang => "hang",
        }
    }
}

impl Finding {
    /// A finding whose place is its text without numbers.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        let text = text.into();
        let line = text.lines().next().unwrap_or("");
        let mut place = String::new();
        for letter in line.chars() {
            let letter = if letter.is_ascii_digit() { '#' } else { letter };
            if letter != '#' || !place.ends_with('#') {
                place.push(letter);
            }
        }
        Self { kind, place, text }
    }

    /// Whether it is the same fault as another, as far as that is known.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.kind, &self.place) == (other.kind, &other.place)
    }
}

/// The first panic since the last call of [`catch`]: its place and message.
static PANIC: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Keeps the places of panics instead of printing them. Call it once, at the start of a program.
pub fn watch_panics() {
    panic::set_hook(Box::new(|info| {
        // Not a fault: it becomes an error.
        if damaged::is_reading() {
            return;
        }
        let place = info.location().map_or_else(String::new, |location| {
            // Without the folder of the sources, which is another on every machine.
            let file = location.file();
            let start = ["crates/", "index.crates.io-"].iter().find_map(|part| file.find(part));
            let file = &file[start.unwrap_or(0)..];
            format!("{file}:{}", location.line())
        });
        // What is called from everywhere is no place: the caller is.
        let frames = frames(&Backtrace::force_capture().to_string());
        let caller = frames.iter().find(|frame| !frame.starts_with("crates/model/"));
        let place = match caller {
            Some(caller) if place.starts_with("crates/model/") => caller.clone(),
            _ => place,
        };
        let message = format!("{}\n{}", words(info.payload()), frames.join("\n"));
        let mut first = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert((place, message));
    }));
}

/// The calls inside of floodway, innermost first: file and line.
fn frames(backtrace: &str) -> Vec<String> {
    let file = |line: &str| {
        let at = line.trim_start().strip_prefix("at ")?;
        let at = &at[at.find("crates/")?..];
        // Without the column.
        Some(at.rsplit_once(':').map_or(at, |(place, _)| place).to_owned())
    };
    backtrace
        .lines()
        .filter_map(file)
        .filter(|it| !it.starts_with("crates/attack/"))
        .take(8)
        .collect()
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Does something and makes a finding of its panic.
pub fn catch<T>(work: impl FnOnce() -> Result<T, Finding>) -> Result<T, Finding> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let first = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (place, message) = first.unwrap_or_else(|| (String::new(), words(&*payload)));
        let text = format!("{place}: {message}");
        Err(Finding { kind: Kind::Panic, place, text })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_differ_by_their_words() {
        let violation = |text: &str| Finding::new(Kind::Violation, text);
        let one = violation("leaf 3: 17 packets out of order");
        assert!(one.is_like(&violation("leaf 12: 4 packets out of order")));
        assert!(!one.is_like(&violation("leaf 3: 17 bytes in no queue")));
        assert!(!one.is_like(&Finding::new(Kind::Difference, one.text.clone())));
    }

    #[test]
    fn a_panic_becomes_a_finding() {
        assert_eq!(catch(|| Ok(3)), Ok(3));
        let finding = catch(|| -> Result<(), _> { panic!("number {}", 7) }).unwrap_err();
        assert_eq!(finding.kind, Kind::Panic);
        assert!(finding.text.contains("number 7"), "{finding:?}");
    }
}
