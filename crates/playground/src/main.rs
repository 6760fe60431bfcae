//! A request on standard input, the reply on standard output, and a line of JSON on standard error for
//! each report of progress. Every host of WebAssembly can offer that, and so can a terminal.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use floodway_playground::{answer, run};

fn main() -> ExitCode {
    let mut request = String::new();
    let done = io::stdin().read_to_string(&mut request).and_then(|_| {
        let reply = answer(&request, &watch);
        io::stdout().write_all(reply.as_bytes())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the request cannot be read or answered: {error}");
            ExitCode::FAILURE
        }
    }
}

fn watch(progress: run::Progress) {
    // A reader who is gone does not need it.
    let line = serde_json::to_string(&progress).expect("numbers are JSON");
    let _ = writeln!(io::stderr(), "{line}");
}
