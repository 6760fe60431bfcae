//! What the page gets.

use floodway_scenario::{Document, Problem};
use miette::Severity;
use serde::Serialize;
use serde_json::Value;

/// A reply. What was not asked for, or cannot be given, is left out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reply {
    /// Why the request is refused, if it is not because of the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What is wrong with the scenario, and warnings.
    pub problems: Vec<Diagnostic>,
    /// The scenario, if it is valid on all sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Described>,
    /// The results, if it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Results>,
    /// The JSON Schema of scenarios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl Reply {
    /// A request that cannot be fulfilled.
    pub fn refused(why: String) -> Self {
        Self { refused: Some(why), ..Self::default() }
    }

    /// Whether an error is among the problems.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == "error")
    }
}

/// A problem with its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnostic {
    /// `error`, `warning` or `advice`.
    pub severity: &'static str,
    /// The cause.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// The text it is in: the scenario's file name, or `--set`.
    pub file: String,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// Characters of the word.
    pub width: Option<usize>,
    /// All of it as the terminal shows it.
    pub plain: String,
}

impl From<&Problem> for Diagnostic {
    fn from(problem: &Problem) -> Self {
        let at = problem.place.position();
        Self {
            severity: match problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Advice => "advice",
            },
            message: problem.message.clone(),
            help: problem.help.clone(),
            file: problem.place.source.name().to_owned(),
            line: at.as_ref().map(|at| at.line),
            column: at.as_ref().map(|at| at.column),
            width: at.as_ref().map(|at| at.width),
            plain: problem.plain(),
        }
    }
}

/// A valid scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// All variants.
    pub variants: Vec<String>,
    /// Whether both sides send the same flows.
    pub same_traffic: bool,
    /// The values of all parameters, by side.
    pub sides: Vec<Settings>,
}

/// One side of a valid scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The variant.
    pub variant: String,
    /// The settings with which the program has the same.
    pub set: Vec<String>,
    /// The values of all parameters.
    pub settings: Document,
    /// Memory that one run takes, estimated, in bytes.
    pub memory: u64,
    /// Flows of one run, estimated.
    pub flows: f64,
}

/// The results of a run of all sides.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The runs, by replication, and within it by side.
    pub runs: Vec<Ran>,
    /// The sentences of the answer.
    pub answer: Vec<String>,
    /// The page of results, as HTML.
    pub page: String,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Ran {
    /// The side.
    pub side: usize,
    /// The variant.
    pub variant: String,
    /// The replication, from 0.
    pub replication: u32,
    /// The fingerprint of its tables.
    pub fingerprint: String,
    /// Packet-hops.
    pub hops: u64,
    /// Time on the clock of the wall, in seconds.
    pub wall_s: f64,
    /// Simulated time, in nanoseconds.
    pub simulated_ns: f64,
    /// Violations of what holds in every sound run.
    pub violations: Vec<String>,
}
