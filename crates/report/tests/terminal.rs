//! The text that a run ends with, letter by letter.

use crate::check::same;
use crate::synthetic::{Case, VARIANTS, ending, experiment, manifest, run, tables};
use floodway_report::terminal::{Style, table};
use floodway_report::{Experiment, Summary};

const SOUND: Case = Case { replications: 5, flows: 2_000, unfinished: false, drops: false };
const LOSSY: Case = Case { replications: 1, flows: 2_000, unfinished: true, drops: true };

fn summary(case: Case) -> Summary {
    experiment(case, |_| {}).summary(&ending())
}

#[test]
fn several_replications_have_intervals() {
    let text = table(&summary(SOUND), Style::default());
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    same(&text, "sound.txt");
}

#[test]
fn one_replication_and_unfinished_flows_say_so() {
    same(&table(&summary(LOSSY), Style::default()), "lossy.txt");
}

#[test]
fn a_narrow_terminal_gets_blocks_with_the_baseline_in_each() {
    let text = table(&summary(SOUND), Style { color: false, width: 72 });
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    same(&text, "narrow.txt");
}

#[test]
fn color_is_escape_sequences_and_nothing_else() {
    let plain = table(&summary(SOUND), Style::default());
    let mut colored = table(&summary(SOUND), Style { color: true, ..Style::default() });
    assert!(!plain.contains('\x1b'));
    assert!(colored.contains("\x1b[32m-"), "a clear gain is green");
    for code in ["0", "1", "2", "31", "32"] {
        colored = colored.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(colored, plain);
}

#[test]
fn violations_come_first() {
    let mut experiment = Experiment::new(&manifest(LOSSY));
    let tables = tables(LOSSY, 0, 0);
    let violations = ["leaf 0 port 1: 3 frames came in and 2 went out or stayed".to_string()];
    experiment.add_run(&floodway_report::Run { violations: &violations, ..run(&tables, 0, 0) });
    let text = table(&experiment.summary(&ending()), Style::default());
    let first = "VIOLATION: without-ci replication 0: leaf 0 port 1: 3 frames came in and 2 went out or \
                 stayed\n";
    assert!(text.starts_with(first), "{text}");
    // The two variants that did not run have nothing to show, and that is said.
    assert!(text.contains("ci vs. without-ci: nothing to compare\n"), "{text}");
    assert!(text.contains("note: ci: 0 of 1 replications are there.\n"), "{text}");
}

#[test]
fn one_variant_is_not_compared() {
    let mut manifest = manifest(LOSSY);
    manifest.variants.truncate(1);
    let mut experiment = Experiment::new(&manifest);
    let tables = tables(SOUND, 0, 0);
    experiment.add_run(&run(&tables, 0, 0));
    let text = table(&experiment.summary(&ending()), Style::default());
    assert!(
        text.starts_with("\nOne replication.\n\nmean completion time    without-ci\n"),
        "{text}"
    );
    assert!(!text.contains('%'), "{text}");
    assert_eq!(VARIANTS[0], "without-ci");
}
