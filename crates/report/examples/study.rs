//! Writes the forms of a made-up study, to look at what a study looks like:
//! `cargo run -p floodway-report --example study -- DIR [broken] [large]`.

#[path = "../tests/specimen/mod.rs"]
mod specimen;

use std::path::Path;

use floodway_report::terminal::{self, Style};
use floodway_report::{html, study};

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let path = Path::new(words.first().expect("give a directory to write to"));
    let mut made_up = specimen::study();
    if words.iter().any(|word| word == "broken") {
        made_up.violations = vec!["`two-queues`: leaf 0: class 3 lost 2 packets".to_string()];
    }
    if words.iter().any(|word| word == "large") {
        // Grids of the size that a study of eleven by eleven mixes has.
        let mixes = made_up.sections.iter_mut().find(|section| section.name == "mixes");
        let exhibits = [specimen::shares, specimen::queue_sizes, specimen::ratios];
        mixes.expect("the specimen has grids").exhibits = exhibits.map(|of| of(11, 11)).into();
    }
    std::fs::create_dir_all(path)?;
    std::fs::write(path.join("report.html"), html::study(&made_up))?;
    for (name, content) in study::files(&made_up) {
        std::fs::write(path.join(name), content)?;
    }
    for width in [100, 72] {
        println!("{}", terminal::claims(&made_up, Style { color: true, width }));
    }
    Ok(())
}
