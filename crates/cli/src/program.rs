//! How the program was started.

use std::ffi::OsString;
use std::iter::once;
use std::process::{Command, exit};
use std::sync::OnceLock;
use std::{io, thread};

/// Its name, whatever the file is called.
pub const NAME: &str = "floodway";

/// What starts it, and its arguments.
static STARTED: OnceLock<(Vec<OsString>, Vec<OsString>)> = OnceLock::new();

/// It has been started with these arguments; `start` does so again.
pub fn set(start: Vec<OsString>, arguments: Vec<OsString>) {
    let _ = STARTED.set((start, arguments));
}

/// The command line: its name and its arguments.
pub fn words() -> impl Iterator<Item = OsString> {
    let arguments = STARTED.get().map_or(&[][..], |(_, arguments)| arguments);
    once(OsString::from(NAME)).chain(arguments.iter().cloned())
}

/// Ends this process when its standard input ends. Whoever started it holds the other end, and lets go of it by ending, even
/// by a signal that cannot be caught.
pub fn end_with_standard_input() {
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        exit(0);
    });
}

/// The same program in another process, without arguments.
pub fn again() -> Command {
    let start = STARTED.get().map_or(&[][..], |(start, _)| start);
    let (program, before) = start.split_first().expect("the program has been started");
    let mut command = Command::new(program);
    command.args(before);
    command
}
