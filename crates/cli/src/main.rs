//! The program `floodway`.

use std::env::{args_os, current_exe};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = args_os();
    let name = arguments.next().unwrap_or_default();
    let program = current_exe().map_or(name, Into::into);
    ExitCode::from(floodway_cli::main(vec![program], arguments.collect()))
}
