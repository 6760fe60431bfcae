//! The scenarios that the page begins with.
//!
//! Each is a scenario file with a list of controls beside it, which the page reads; here is only what tests
//! need to know of them.

use serde::Deserialize;

/// A scenario of the page.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// The scenario.
    pub text: &'static str,
    /// Its controls, as JSON.
    pub controls: &'static str,
}

macro_rules! preset {
    ($name:literal) => {
        Preset {
            name: $name,
            text: include_str!(concat!("../presets/", $name, ".toml")),
            controls: include_str!(concat!("../presets/", $name, ".json")),
        }
    };
}

/// All of them; the first one is the default.
pub const PRESETS: [Preset; 4] =
    [preset!("incast"), preset!("dualq"), preset!("deadlock"), preset!("trimming")];

/// What stands beside a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Its name in the list.
    pub title: String,
    /// The two variants that the page begins with.
    pub sides: [String; 2],
    /// The controls, in order.
    pub controls: Vec<Control>,
}

/// A control: which setting it changes, and how. It is shown if the setting exists.
#[derive(Clone, Debug, Deserialize)]
pub struct Control {
    /// What it is called.
    pub label: String,
    /// The path of the setting, as `--set` takes it.
    pub path: String,
    /// Whether the sides share it, because it is part of their traffic or of their network.
    #[serde(default)]
    pub shared: bool,
    /// How it is changed.
    #[serde(flatten)]
    pub kind: Kind,
}

/// How a setting is changed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A number between two others.
    Range {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
        /// The difference between neighbors.
        step: f64,
        /// The unit, as scenarios have it; empty for none.
        #[serde(default)]
        unit: String,
    },
    /// A mechanism that may be absent. What is written here is its setting when it is present.
    Mechanism(String),
    /// A member of a family, by name.
    Member(Vec<String>),
}
