//! The command line, as it explains itself.

use std::fmt::Write;

use clap::CommandFactory;

use crate::options::Options;

/// Columns of the help texts; whatever the terminal has.
const WIDTH: usize = 96;

/// The help text of the program and of each command.
pub fn section() -> String {
    let mut program = Options::command().term_width(WIDTH);
    // Gives each command its full name and the width.
    program.build();
    let mut text = String::from("## Command line\n\n");
    for command in program.get_subcommands_mut() {
        if command.is_hide_set() || command.get_name() == "help" {
            continue;
        }
        let name = command.get_name().to_owned();
        let help = command.render_help();
        let _ = write!(text, "### floodway {name}\n\n```text\n{help}```\n\n");
    }
    text.pop();
    text
}
