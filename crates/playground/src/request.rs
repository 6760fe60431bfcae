//! What the page asks for.

use serde::Deserialize;

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Request {
    /// The JSON Schema of scenarios, for completions.
    Schema,
    /// Whether the settings are valid, and the values of all parameters.
    Check(Experiment),
    /// The same, and the results.
    Run(Experiment),
}

/// One or two settings of a scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct Experiment {
    /// The text of the scenario file.
    pub text: String,
    /// The settings to compare, at least one; the first one is the baseline.
    pub sides: Vec<Side>,
}

/// One setting of a scenario.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Side {
    /// The variant; if there is none of this name, or no name, the first one. It is what the page
    /// remembers, and the text may have changed since.
    #[serde(default)]
    pub variant: Option<String>,
    /// Settings like those of `floodway run --set`, applied in order.
    #[serde(default)]
    pub set: Vec<String>,
}
