//! The flow sizes that a workload names.

use std::str::FromStr;

use floodway_model::Bytes;

use super::Problems;
use crate::files::{Files, Unreadable};
use crate::text::{Place, Problem, suggest};
use crate::workload::exponential::{self, Exponential};
use crate::workload::{Distribution, Sampling, builtin};

/// The distribution that a workload names in `name`, its sizes above `max_size` cut.
pub fn check(
    path: &str,
    name: &str,
    written: &str,
    sampling: Option<Sampling>,
    max_size: Option<Bytes>,
    findings: &mut Problems<'_>,
) -> Option<Distribution> {
    let field = |name: &str| format!("{path}.{name}");
    if max_size == Some(Bytes(0)) {
        let help = "write the largest flow, for example \"30MB\", or remove it";
        findings.error(&[&field("max_size")], "all flows would be cut to 0 bytes", help);
        return None;
    }
    let scenario = findings.source_name();
    let sizes = match sizes(written, sampling, &scenario, findings.files) {
        Ok(sizes) => sizes,
        Err(SizesError::Name { message, help }) => {
            findings.error(&[&field(name)], message, help);
            return None;
        }
        Err(SizesError::Table(problem)) => {
            findings.problems.push(*problem);
            return None;
        }
    };
    Some(match max_size {
        Some(most) => sizes.capped(most.0),
        None => sizes,
    })
}

/// Why there is no distribution.
enum SizesError {
    /// The name stands for nothing.
    Name {
        /// What is wrong.
        message: String,
        /// The remedy.
        help: String,
    },
    /// The file is not a table.
    Table(Box<Problem>),
}

/// The distribution that `text` names: a built-in one, one size, an exponential one, or a file
/// beside the scenario.
fn sizes(
    text: &str,
    rule: Option<Sampling>,
    scenario: &str,
    files: &Files,
) -> Result<Distribution, SizesError> {
    if let Some(builtin) = builtin::find(text) {
        return Ok(builtin.distribution(rule));
    }
    if text.to_ascii_lowercase().ends_with(".csv") {
        return table(text, rule.unwrap_or_default(), scenario, files);
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return match Bytes::from_str(text) {
            Ok(Bytes(0)) => Err(SizesError::Name {
                message: "flows would have 0 bytes".to_owned(),
                help: "write at least \"1B\"".to_owned(),
            }),
            Ok(bytes) => Ok(Distribution::fixed(bytes.0)),
            Err(error) => Err(SizesError::Name {
                message: error.to_string(),
                help: "write one size like \"64KB\", or a distribution's name".to_owned(),
            }),
        };
    }
    if text.starts_with(exponential::NAME) {
        let exponential = Exponential::from_str(text);
        return exponential
            .map(Distribution::from)
            .map_err(|error| SizesError::Name { message: error.cause, help: error.remedy });
    }
    let names: Vec<_> = builtin::BUILTINS.iter().map(|builtin| builtin.name).collect();
    Err(SizesError::Name {
        message: format!("there is no flow-size distribution `{text}`"),
        help: format!(
            "{}; or write one size (\"64KB\"), \"exponential(8KB, 1B, 1MB)\" or a file (\"sizes.csv\")",
            suggest::remedy(text, "distributions", &names)
        ),
    })
}

fn table(
    file: &str,
    rule: Sampling,
    scenario: &str,
    files: &Files,
) -> Result<Distribution, SizesError> {
    let source = files
        .text(file, scenario)
        .map_err(|Unreadable { message, help }| SizesError::Name { message, help })?;
    Distribution::from_csv(source.inner(), rule).map_err(|error| {
        let place = Place::line(&source, error.line);
        SizesError::Table(Box::new(Problem::error(place, error.cause, error.remedy)))
    })
}
