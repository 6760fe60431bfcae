//! Writes a results directory from made-up tables, to look at what a report looks like:
//! `cargo run -p floodway-report --example synthetic -- DIR [REPLICATIONS] [lossy]`.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use floodway_report::terminal::{self, Style};
use floodway_report::{Directory, directory};
use std::path::Path;

fn main() -> Result<(), directory::Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let path = words.first().expect("give a directory to write to");
    let replications = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(5);
    let lossy = words.iter().any(|word| word == "lossy");
    let case = synthetic::Case { replications, flows: 4_000, unfinished: lossy, drops: lossy };
    let mut directory = Directory::create(Path::new(path), true, &synthetic::manifest(case))?;
    let mut kept = Ok(());
    let experiment = synthetic::experiment(case, |run| {
        if kept.is_ok() {
            kept = directory.add_run(run);
        }
    });
    kept?;
    let summary = directory.finish(&experiment, &synthetic::ending())?;
    print!("{}", terminal::table(&summary, Style { color: true, width: 100 }));
    Ok(())
}
