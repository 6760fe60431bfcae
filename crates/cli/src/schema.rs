//! `floodway schema`: what editors have to know of scenario files.

use crate::failure::Failure;
use crate::output;

/// The name under which the guide has it saved.
pub const FILE_NAME: &str = "floodway.schema.json";

/// Prints the JSON Schema.
pub fn schema() -> Result<(), Failure> {
    output::print_json(&floodway_scenario::file_schema())
}
