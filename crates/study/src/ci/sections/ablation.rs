//! What isolation itself does, and against which ECN it is measured.

use floodway_report::study::Section;

use crate::ci::claims::pauses;
use crate::ci::{ALL, CI, ELEPHANTS, MICE, WITHOUT, case};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{Comparison, moves, number, short, table};

/// Isolation without more marks, and more marks without isolation.
pub fn ablation(evidence: &Evidence) -> Section {
    let question = "What of the gain is isolation, and what is marking?";
    let capped = case("two-queues", WITHOUT);
    let step = case("ecn-step", WITHOUT);
    let experiments = [
        "two-queues",
        "ecn-step",
        "by-aqm",
        "ecn-step-by-aqm",
        "ecn-step-beside",
        "one-queue",
        "ecn-step-one-queue",
    ];
    let mut section = evidence.section("ablation", question, &["A1", "A2"], &experiments);
    if !evidence.has(case("by-aqm", CI)) || !evidence.has(step) {
        return section;
    }
    let change = |from, to, group| moves(&evidence.fct_change(from, to, group));
    section.answer = format!(
        "Isolation that adds no marks: the mean completion time of all flows {} where ECN marks at \
         most 1 %, and {} where it marks everything above 300 KB. Marking everything above 300 KB \
         without isolation: it {}.",
        change(capped, case("by-aqm", CI), ALL),
        change(step, case("ecn-step-by-aqm", CI), ALL),
        change(capped, step, ALL),
    );
    section.text = vec![
        "The decks compare ECN that marks at most one packet in a hundred with isolation that marks \
         every packet of a flow that a switch has found congesting. That changes two things at once. \
         Here they are taken apart, at 128 servers and on the same traffic: who marks, and whether \
         there is a second queue for congesting flows. Changes are from the first row of each half; \
         marks and pauses are those of a run."
            .to_owned(),
    ];
    let row = |(label, from, of): (&str, Case, Case)| {
        let counter =
            |name: &'static str| number(&evidence.number(of, "", move |facts| facts.number(name)));
        let change = |group| match of == from {
            true => "–".to_owned(),
            false => short(&evidence.fct_change(from, of, group)),
        };
        vec![
            label.to_owned(),
            change(MICE),
            change(ELEPHANTS),
            change(ALL),
            number(&evidence.fct(of, ALL)),
            counter("pause_frames"),
            counter("marked_packets"),
            evidence.unfinished(of).0.to_string(),
        ]
    };
    let cases = [
        ("ECN at most 1 %: two queues by hash", capped, capped),
        ("one queue", capped, case("one-queue", WITHOUT)),
        ("isolation, marks by the AQM only", capped, case("by-aqm", CI)),
        ("isolation, marks as in the decks", capped, case("two-queues", CI)),
        ("ECN all above 300 KB: two queues by hash", step, step),
        ("one queue", step, case("ecn-step-one-queue", WITHOUT)),
        ("isolation, marks by the AQM only", step, case("ecn-step-by-aqm", CI)),
        ("isolation, marks as in the decks", step, case("ecn-step", CI)),
        ("isolation, marks of both", step, case("ecn-step-beside", CI)),
    ];
    section.exhibits.push(table(
        "ablation",
        "Marks and queues taken apart",
        "Changes of mean completion times in percent, with 95 % intervals.",
        &["", "mice", ">10 MB", "all", "mean, all", "pause frames", "marks", "unfinished"],
        cases.into_iter().map(row).collect(),
    ));
    section
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
    section
}
