//! A short attack with a fixed seed: every reader gets some broken files, and some random scenarios
//! are run in every way that must give the same.

use std::time::Duration;

use floodway_attack::compare::Budget;
use floodway_attack::readers::TARGETS;
use floodway_attack::work::{Attack, Maker, Verdict, attack, clean, file_name};

/// Small enough for an unoptimized build.
const SMALL: Budget = Budget { hops: 30_000, time: Duration::from_secs(5) };

/// Attacks with the first numbers of a seed; how many came to an end, and how many did not begin.
fn numbers(of: Attack, count: u64) -> (u64, u64) {
    let maker = Maker::new(of, 43);
    let (mut ended, mut none) = (0, 0);
    for number in 0..count {
        let verdict = match maker.bytes(number) {
            Ok(bytes) => attack(of, &bytes, &file_name(), SMALL),
            Err(verdict) => verdict,
        };
        match verdict {
            Verdict::Clean { .. } => ended += 1,
            Verdict::GivenUp | Verdict::TooLarge => none += 1,
            Verdict::Found(finding) => {
                panic!("{} {number}: {:?}: {}", of.name(), finding.kind, finding.text)
            }
        }
    }
    (ended, none)
}

#[test]
fn scenarios_give_the_same_however_they_are_run() {
    let (valid, none) = numbers(Attack::Scenarios, 25);
    assert!(valid > 2 * none, "{valid} valid, {none} not");
    clean();
}

#[test]
fn broken_files_are_read_or_refused() {
    for target in TARGETS {
        // Readers of results have a directory copied for every file.
        let count = if ["manifest", "summary", "table"].contains(&target.name) { 10 } else { 60 };
        assert_eq!(numbers(Attack::Files(target), count), (count, 0));
    }
    clean();
}

#[test]
fn a_number_is_the_same_scenario_every_time() {
    let texts = || {
        let maker = Maker::new(Attack::Scenarios, 7);
        (0..8).map(|number| maker.bytes(number)).collect::<Vec<_>>()
    };
    assert_eq!(texts(), texts());
}
