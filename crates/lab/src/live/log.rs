//! The log of a run that is steered: one JSON object on a line. The first says which run it is, the last when it ended and what the
//! fingerprint of its results is, and each of the others is an action with its time.

use std::fmt;

use floodway_model::Instant;
use serde::{Deserialize, Serialize};

use super::Action;

/// Which run it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The name of the scenario.
    pub scenario: String,
    /// The variant at the beginning.
    pub variant: String,
    /// The replication.
    pub replication: u32,
    /// The key of the simulation at the beginning: a hash of all that decides its results, the program included.
    pub key: String,
    /// Which Linux kernel hosts were; `None` if all were simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

impl Head {
    /// Whether the log of this run is one of `other`; otherwise what differs, and what to do.
    pub(super) fn check(&self, other: &Self) -> Result<(), String> {
        let differs = |what: &str, here: &str, there: &str| {
            Err(format!(
                "the log is of {what} `{here}`, and this is `{there}`: choose the same {what}"
            ))
        };
        if self.scenario != other.scenario {
            return differs("scenario", &self.scenario, &other.scenario);
        }
        if self.variant != other.variant {
            return differs("variant", &self.variant, &other.variant);
        }
        if self.replication != other.replication {
            let numbers = [self.replication, other.replication].map(|number| number.to_string());
            return differs("replication", &numbers[0], &numbers[1]);
        }
        if self.kernel != other.kernel {
            let [here, there] = [&self.kernel, &other.kernel]
                .map(|kernel| kernel.as_deref().unwrap_or("none").to_owned());
            return Err(format!(
                "the log is of the Linux kernel `{here}`, and this is `{there}`, with other results: name the same one with \
                 `--kernel`"
            ));
        }
        if self.key != other.key {
            return Err("the log is of another version of the scenario or of floodway, with other results: use the \
                        same scenario, settings, `--until` and program"
                .to_owned());
        }
        Ok(())
    }
}

/// An action and when it was asked for. It takes effect a window later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The time.
    pub at: Instant,
    /// The action.
    pub action: Action,
}

/// The log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Which run it is.
    pub head: Head,
    /// What was done, in order of time.
    pub entries: Vec<Entry>,
    /// When it ended, and the fingerprint of its results if they were there; `None` if it has not ended.
    pub end: Option<(Instant, Option<u64>)>,
}

/// A line that is not the first. Times are whole nanoseconds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<Action>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    end: Option<Option<String>>,
}

/// A field that may be null is there if it is null.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// What is wrong with the text of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The line, counted from 1.
    pub line: usize,
    /// Cause and remedy.
    pub reason: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl Log {
    /// An empty log.
    pub(super) fn new(head: Head) -> Self {
        Self { head, entries: Vec::new(), end: None }
    }

    pub(super) fn add(&mut self, at: Instant, action: Action) {
        self.entries.push(Entry { at, action });
    }

    pub(super) fn finish(&mut self, at: Instant, fingerprint: u64) {
        self.end = Some((at, Some(fingerprint)));
    }

    /// Its text.
    pub fn text(&self) -> String {
        let mut text = json(&self.head);
        for Entry { at, action } in &self.entries {
            text += &json(&Line { at_ns: ns(*at), action: Some(action.clone()), end: None });
        }
        if let Some((at, fingerprint)) = self.end {
            let fingerprint = fingerprint.map(|of| format!("{of:016x}"));
            text += &json(&Line { at_ns: ns(at), action: None, end: Some(fingerprint) });
        }
        text
    }

    /// Reads the text of a log.
    pub fn parse(text: &str) -> Result<Self, Damaged> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
        let damaged = |line: usize, reason: String| Damaged { line, reason };
        let Some((number, first)) = lines.next() else {
            return Err(damaged(
                1,
                "the log is empty: it begins with a line about the run".to_owned(),
            ));
        };
        let head = serde_json::from_str(first).map_err(|error| {
            damaged(number, format!("{error}: expected the first line of a log of `floodway live`"))
        })?;
        let mut log = Self::new(head);
        let mut last = Instant::ZERO;
        for (number, text) in lines {
            let line: Line = serde_json::from_str(text).map_err(|error| {
                damaged(number, format!("{error}: expected `at_ns` with `action` or `end`"))
            })?;
            if log.end.is_some() {
                let reason = "the run has ended before: remove this line, or the one with `end`";
                return Err(damaged(number, reason.to_owned()));
            }
            let at = line.at_ns.checked_mul(1_000).map(Instant).filter(|at| *at >= last);
            let Some(at) = at else {
                let reason =
                    format!("{} ns is before the line above: times must ascend", line.at_ns);
                return Err(damaged(number, reason));
            };
            last = at;
            match (line.action, line.end) {
                (Some(action), None) => log.add(at, action),
                (None, Some(None)) => log.end = Some((at, None)),
                (None, Some(Some(hex))) => {
                    let fingerprint = u64::from_str_radix(&hex, 16).map_err(|_| {
                        damaged(
                            number,
                            format!("`{hex}` is no fingerprint: expected 16 hexadecimal digits"),
                        )
                    })?;
                    log.end = Some((at, Some(fingerprint)));
                }
                _ => {
                    let reason = "expected either `action` or `end`";
                    return Err(damaged(number, reason.to_owned()));
                }
            }
        }
        Ok(log)
    }
}

fn ns(at: Instant) -> u64 {
    at.0 / 1_000
}

/// A value on a line of its own. These values have text keys and plain numbers, which can always be written.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}
