//! What the decks leave open: ECN above its high threshold, and everything else.

use floodway_report::study::Section;

use crate::ci::plan::{OPEN, OPEN_CI};
use crate::ci::{ALL, CI, ELEPHANTS, LOCAL, MICE, WITHOUT, case};
use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{Comparison, moves, number, short, table};

fn pauses(facts: &Facts) -> f64 {
    facts.number("pause_frames")
}

/// Claims A1 and A2 under the other reading.
pub fn ecn(evidence: &Evidence) -> Section {
    let question = "Against which ECN is isolation measured?";
    let experiments = ["two-queues", "ecn-step"];
    let mut section = evidence.section("ecn", question, &["A1", "A2"], &experiments);
    if !evidence.has(case("ecn-step", CI)) {
        return section;
    }
    let change = |experiment, group| {
        moves(&evidence.fct_change(case(experiment, WITHOUT), case(experiment, CI), group))
    };
    let saved = evidence.change(case("two-queues", WITHOUT), case("ecn-step", WITHOUT), pauses);
    section.answer = format!(
        "Where ECN marks at most 1 % of packets the mean completion time of all flows \
         {}, and where it marks everything above 300 KB it {}.",
        change("two-queues", ALL),
        change("ecn-step", ALL)
    );
    section.text = vec![format!(
        "The decks say \"low 10 KB, high 300 KB, max probability 1 %\" and nothing of what happens \
         above 300 KB. By its word 1 % is the most that is ever marked, and a permanent incast is \
         slowed down by little else than pauses. In RED and DCQCN every packet above the high \
         threshold is marked: then, without isolation, the number of pause frames {}. Whoever quotes \
         a gain of isolation should say which of the two it is measured against.",
        moves(&saved)
    )];
    let of = |label, series, experiment| {
        Comparison::new(label, series, case(experiment, WITHOUT), case(experiment, CI))
    };
    let comparisons = [of("at most 1 %", 2, "two-queues"), of("all above 300 KB", 4, "ecn-step")];
    let caption = "How does ci change the mean completion time under both readings of ECN?";
    section.exhibits.push(evidence.changes("ecn", caption, "", &comparisons));
    let row = |(label, experiment, variant): &(&str, &'static str, &'static str)| {
        let of = case(experiment, variant);
        let count =
            |name: &'static str| number(&evidence.number(of, "", move |facts| facts.number(name)));
        let (left, all) = evidence.unfinished(of);
        vec![
            format!("{label}, {variant}"),
            count("pause_frames"),
            count("marked_packets"),
            count("cnps_sent"),
            number(&evidence.fct(of, ALL)),
            format!("{left} of {all}"),
        ]
    };
    let cases = [
        ("at most 1 %", "two-queues", WITHOUT),
        ("at most 1 %", "two-queues", CI),
        ("all above 300 KB", "ecn-step", WITHOUT),
        ("all above 300 KB", "ecn-step", CI),
    ];
    section.exhibits.push(table(
        "ecn-counts",
        "What switches and receivers do, per run",
        "",
        &["", "pause frames", "marked packets", "CNPs", "mean completion time", "unfinished"],
        cases.iter().map(row).collect(),
    ));
    section
}

/// Every other choice.
pub fn open(evidence: &Evidence) -> Section {
    let question = "Which open choices of the decks decide the result?";
    let names: Vec<&'static str> = OPEN.iter().chain(OPEN_CI).map(|row| row.0).collect();
    let mut section = evidence.section("open-choices", question, &["A1", "A2"], &names);
    let base = case("open-base", WITHOUT);
    if !evidence.has(base) {
        return section;
    }
    let cells = |from: Case, to: Case| -> Vec<String> {
        let fct = |group| short(&evidence.fct_change(from, to, group));
        let (left, _) = evidence.unfinished(to);
        let pauses = short(&evidence.change(from, to, pauses));
        vec![fct(MICE), fct(ELEPHANTS), fct(ALL), pauses, left.to_string()]
    };
    let mut rows = Vec::new();
    for (name, label, _) in OPEN {
        let without = case(name, WITHOUT);
        if !evidence.has(without) {
            continue;
        }
        let mut row = vec![(*label).to_owned(), evidence.unfinished(without).0.to_string()];
        row.extend(cells(without, case(name, CI)));
        row.extend(cells(without, case(name, LOCAL)));
        rows.push(row);
    }
    for (name, label, _) in OPEN_CI {
        if !evidence.has(case(name, CI)) {
            continue;
        }
        let mut row = vec![format!("ci: {label}"), evidence.unfinished(base).0.to_string()];
        row.extend(cells(base, case(name, CI)));
        row.extend(std::iter::repeat_n(String::new(), 5));
        rows.push(row);
    }
    let signs = |group| {
        let clear = |name: &&(&'static str, &str, &[&str])| {
            let of = evidence.fct_change(case(name.0, WITHOUT), case(name.0, CI), group);
            of.bounds().is_some_and(|(_, high)| high < 0.0)
        };
        let run = OPEN.iter().filter(|(name, ..)| evidence.has(case(name, CI)));
        (run.clone().filter(clear).count(), run.count())
    };
    let ((mice, of), (all, _), (elephants, _)) = (signs(MICE), signs(ALL), signs(ELEPHANTS));
    section.answer = format!(
        "Of {of} readings, mice gain clearly with ci in {mice}, all flows together in {all}, \
         elephants in {elephants}.",
    );
    section.text = vec![
        "Each row is another reading, in a shorter version of the main experiment (128 servers, five \
         replications). Changes of the mean completion time and of pause frames from without-ci, in \
         percent, with 95 % intervals; \"left\" counts flows that had not finished."
            .to_owned(),
    ];
    section.exhibits.push(table(
        "open-choices",
        "What each choice does to the gain of isolation",
        "",
        &[
            "",
            "left without",
            "ci: mice",
            ">10 MB",
            "all",
            "pauses",
            "left",
            "local: mice",
            ">10 MB",
            "all",
            "pauses",
            "left",
        ],
        rows,
    ));
    section
}
