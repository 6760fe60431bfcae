//! The effect of isolation apart from that of marking, and of the ECN that it is compared with.

use floodway_report::study::Section;

use crate::ci::claims::pauses;
use crate::ci::{ALL, CI, ELEPHANTS, MICE, WITHOUT, case};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{Comparison, moves, number, short, table};

/// Isolation without more marks, and more marks without isolation.
pub fn ablation(evidence: &Evidence) -> Section {
    let question = "Effects of isolation and of marking, separated";
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
        "With isolation that adds no marks, the mean completion time of all flows {} if ECN marks at \
         most 1 %, and {} if ECN marks everything above 300 KB. With ECN that marks everything above \
         300 KB instead of at most 1 %, and without isolation, it {}.",
        change(capped, case("by-aqm", CI), ALL),
        change(step, case("ecn-step-by-aqm", CI), ALL),
        change(capped, step, ALL),
    );
    section.text = vec![
        "The decks compare ECN that marks at most one packet in a hundred with isolation that marks \
         every packet of a flow that a switch has found congesting. That changes two things at once: \
         which packets are marked, and whether congesting flows have a queue of their own. Here they \
         are changed separately, with 128 servers and on the same traffic. Changes are relative to \
         two queues by hash with the same ECN. Marks and pause frames are means per run."
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
        "Effects of marks and of queues, separated",
        "Changes of mean completion times in percent, with 95 % intervals; larger ones as factors.",
        &["", "mice", ">10 MB", "all", "mean, all", "pause frames", "marks", "unfinished"],
        cases.into_iter().map(row).collect(),
    ));
    section
}

/// Claims A1 and A2 under the other reading.
pub fn ecn(evidence: &Evidence) -> Section {
    let question = "Gain of isolation by the ECN that it is compared with";
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
        "With isolation, the mean completion time of all flows {} compared with ECN that marks at most \
         1 % of packets, and {} compared with ECN that marks everything above 300 KB.",
        change("two-queues", ALL),
        change("ecn-step", ALL)
    );
    section.text = vec![format!(
        "The decks say \"low 10 KB, high 300 KB, max probability 1 %\", but not what happens above \
         300 KB. Taken literally, at most 1 % of packets is ever marked, and hardly anything but pauses \
         slows down a permanent incast. In RED and DCQCN, every packet above the high threshold is \
         marked. With that ECN instead, and without isolation, the number of pause frames {}. A gain of \
         isolation should be quoted together with the ECN that it is compared with.",
        moves(&saved)
    )];
    let of = |label, series, experiment| {
        Comparison::new(label, series, case(experiment, WITHOUT), case(experiment, CI))
    };
    let comparisons = [of("at most 1 %", 2, "two-queues"), of("all above 300 KB", 4, "ecn-step")];
    let caption = "Change of the mean completion time with isolation, by the reading of ECN";
    section.exhibits.push(evidence.changes("ecn", caption, "", &comparisons));
    section
}
