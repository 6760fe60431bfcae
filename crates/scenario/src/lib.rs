//! Scenario files: read, checked, expanded, and built into simulations.
//!
//! ```text
//! Scenario::load(path, overrides)  text -> variants, each complete and valid, or an Error
//!         .variants()              what is compared, the first being the baseline
//!         .derived()               numbers that follow, for `floodway check`
//!         .build(variant, n)       -> floodway_sim::Spec of replication n
//! ```
//!
//! What is not valid cannot be passed on: an [`Error`] lists every problem with its place, cause
//! and remedy. Variants of a scenario share seeds and therefore, unless they change the workload
//! or the network, their flows (common random numbers).
//!
//! A file's `[variants.NAME]` and `[quick]` are overlays on the rest of it, and so is each `--set`
//! of the command line; the stronger comes later: `[quick]`, the variant, `--set`. Tables are
//! merged key by key, everything else is replaced. Where exactly one member of a family is chosen,
//! `[variants.x.switch.aqm.ramp]`, another member replaces the one below; its name as text,
//! `switch.aqm=drop_tail`, chooses it with its defaults. `switch.flow_control.pfc=false` removes a
//! mechanism. Elements of a list have numbers: `workload.0.many_to_many.load=0.5`.
//!
//! - [`claims`]: what is said of results, and the numbers that it is judged by
//! - [`device`]: profiles of models of switches and NICs
//! - [`document`]: the file's fields with meanings and defaults
//! - [`topology`]: families of networks
//! - [`workload`]: families of traffic
//! - [`failure`]: links that fail
//! - [`fct`]: completion files of the HPCC simulator
//! - [`files`]: lists of flows and networks of other tools
//! - [`import`]: experiments of other tools as scenarios
//! - [`lint`]: valid settings that cause trouble in networks
//! - [`measured`]: over which part of a run counters are taken
//! - [`ports`]: which port of a host a flow takes
//! - [`presets`]: named sets of values
//! - [`schema`]: what can be written, for editors
//! - [`sweep`]: the same at every point of a grid
//! - [`derived`]: numbers that follow

mod check;
pub mod claims;
mod derive;
pub mod derived;
mod described;
pub mod device;
pub mod document;
pub mod errors;
pub mod failure;
pub mod fct;
pub mod files;
mod footprint;
pub mod headroom;
pub mod import;
pub mod line;
pub mod lint;
mod loads;
pub mod measured;
pub mod ports;
pub mod presets;
mod read;
mod renamed;
pub mod sampling;
mod scenario;
pub mod schema;
pub mod sweep;
mod text;
pub mod topology;
pub mod workload;

use floodway_model::family::Entry;

pub use document::Document;
pub use files::InputFile;
pub use measured::{MeasureUntil, Measured};
pub use read::bad_name;
pub use renamed::renamed;
pub use scenario::{Overrides, Scenario, Variant};
pub use schema::{file_schema, json_schema};
pub use sweep::Sweep;
pub use text::{Error, Place, Position, Problem, Source, suggest};

/// Every algorithm, topology and workload that scenarios can name.
pub fn catalogue() -> impl Iterator<Item = &'static Entry> {
    topology::CATALOGUE.iter().chain(workload::CATALOGUE).chain(floodway_sim::catalogue())
}
