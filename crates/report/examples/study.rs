//! Writes the forms of a made-up study, to look at what a study looks like:
//! `cargo run -p floodway-report --example study -- DIR [broken]`.

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
    std::fs::create_dir_all(path)?;
    std::fs::write(path.join("report.html"), html::study(&made_up))?;
    for (name, content) in study::files(&made_up) {
        std::fs::write(path.join(name), content)?;
    }
    for width in [100, 72] {
        println!("{}", terminal::claims(&made_up, Style { colour: true, width }));
    }
    Ok(())
}
