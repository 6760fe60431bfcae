//! `floodway completions`: what a shell has to know to complete the command line.

use clap::CommandFactory;

use crate::failure::Failure;
use crate::options::{CompletionsOptions, Options};
use crate::output;

/// Prints the script of a shell.
pub fn completions(options: &CompletionsOptions) -> Result<(), Failure> {
    let mut program = Options::command();
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut program, name, &mut script);
    output::print(&String::from_utf8(script).expect("scripts are text"))
}
