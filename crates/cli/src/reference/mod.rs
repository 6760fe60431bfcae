//! `floodway reference`: what can be written and what is written, from the code that reads and
//! writes it. The output is kept as `docs/reference.md`.

mod commands;
mod fields;
mod tables;

use crate::failure::Failure;
use crate::output;

/// Prints the reference as Markdown.
pub fn reference() -> Result<(), Failure> {
    let parts = [commands::section(), fields::section(), tables::section()?];
    output::print(&(HEADING.to_owned() + &parts.join("\n")))
}

const HEADING: &str = "\
# Reference

Made by the program from its own code (`make docs`): do not edit. It has three parts: the
[command line](#command-line), the [scenario file](#scenario-file) and the
[result tables](#result-tables).

";
