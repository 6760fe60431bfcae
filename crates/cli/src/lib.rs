//! The program `floodway`: what does a congestion-management mechanism do to my traffic, and why?
//!
//! It is a library so that the Python package has the command, too; [`main`] is all that there is to call.

mod bench;
mod chart;
mod check;
mod compare;
mod completions;
mod emulate;
mod failure;
mod headroom;
mod hpcc;
mod import;
mod list;
mod live;
mod man;
mod new;
mod options;
mod output;
mod pages;
mod profile;
mod program;
mod reference;
mod run;
mod save;
mod schema;
mod selection;
mod stored;
mod study;
mod sweep;
mod why;

use std::ffi::OsString;

use failure::Failure;
use options::Command;

/// Runs the program with these arguments, without its name. Returns the exit status. `start` is what starts the same program
/// again: an executable, and the words before the arguments. To be called once in a process, on its main thread, because it
/// handles signals and panics.
pub fn main(start: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    program::set(start, arguments);
    std::panic::set_hook(Box::new(failure::on_panic));
    match run() {
        Ok(()) => 0,
        Err(failure) => {
            failure.tell();
            failure.code()
        }
    }
}

fn run() -> Result<(), Failure> {
    match options::parse()?.command {
        Command::Run(options) => run::run(&options),
        Command::Emulate(options) => emulate::emulate(&options),
        Command::Live(options) => live::live(&options),
        Command::Study(options) => study::study(&options),
        Command::Sweep(options) => sweep::sweep(&options),
        Command::Check(options) => check::check(&options),
        Command::List(options) => list::list(&options),
        Command::Profile(options) => profile::profile(&options),
        Command::Import(options) => import::import(&options),
        Command::Export(options) => hpcc::export(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::Why(options) => why::why(&options),
        Command::Chart(options) => chart::chart(&options),
        Command::Headroom(options) => headroom::headroom(&options),
        Command::Bench(options) => bench::bench(&options),
        Command::New(options) => new::new(&options),
        Command::Schema => schema::schema(),
        Command::Completions(options) => completions::completions(&options),
        Command::Man(options) => man::man(&options),
        Command::Reference => reference::reference(),
    }
}
