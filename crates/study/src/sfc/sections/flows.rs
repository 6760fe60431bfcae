//! Completion times of background and incasts, and the idle network.

use floodway_report::study::{Exhibit, Section};

use super::{VARIANTS, cases, change};
use crate::curves::{tail_chart, tail_line};
use crate::evidence::Evidence;
use crate::exhibit::{Comparison, moves, number, table};
use crate::flows::FlowGroup;
use crate::sfc::{
    BACKGROUND, IDLE, INCAST, LONG, MAIN, MEDIUM, NATIVE, PFC, PROXY, SHORT, SMALL, case, main,
};

/// Both modes compared with PFC.
fn against_pfc(evidence: &Evidence, experiment: &'static str) -> Vec<Comparison> {
    let of = |variant, series| {
        Comparison::new(variant, series, case(experiment, PFC), case(experiment, variant))
    };
    let all = [of(PROXY, 1), of(NATIVE, 2)];
    all.into_iter().filter(|comparison| evidence.has(comparison.to)).collect()
}

/// The tails of the completion times of groups.
fn tails(
    evidence: &Evidence,
    name: &str,
    caption: &str,
    groups: &[FlowGroup],
    columns: usize,
) -> Exhibit {
    let cases = cases(evidence, MAIN);
    let chart = |group: &FlowGroup| {
        let line = |(name, series, case): &(&'static str, usize, _)| {
            tail_line(*series, name, &evidence.times(*case, *group))
        };
        tail_chart(group.label, &[], cases.iter().map(line).collect())
    };
    Exhibit::Lines {
        name: name.to_owned(),
        caption: caption.to_owned(),
        legend: cases.iter().map(|(name, series, _)| (*series, (*name).to_owned())).collect(),
        charts: groups.iter().map(chart).collect(),
        columns,
        note: "All flows of all replications. A line crosses 1 % at its 99th percentile."
            .to_owned(),
    }
}

/// Claim E3.
pub fn background(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "Completion times of background messages";
    let mut section = evidence.section(
        "background",
        question,
        &["E3a", "E3b", "E3c", "S2", "S3"],
        &[SMALL, main],
    );
    section.answer = format!(
        "Compared with PFC, the mean completion time of messages below 10 KB {} with sfc-native, that of \
         10 KB to 1 MB {}, and that of longer ones {}. With sfc-proxy, they change as follows: below \
         10 KB it {}; from 10 KB to 1 MB it {}; above it {}.",
        moves(&change(evidence, NATIVE, SHORT)),
        moves(&change(evidence, NATIVE, MEDIUM)),
        moves(&change(evidence, NATIVE, LONG)),
        moves(&change(evidence, PROXY, SHORT)),
        moves(&change(evidence, PROXY, MEDIUM)),
        moves(&change(evidence, PROXY, LONG)),
    );
    section.text = vec![
        VARIANTS.to_owned(),
        format!(
            "{} hosts send each other Google RPCs at half of the capacity of their links. In addition, \
             120 of them at a time repeatedly send 256 KB each to one host. A run has too few messages \
             > 1 MB to judge their 99th percentile.",
            evidence.servers(main)
        ),
    ];
    let left =
        evidence.unfinished_in_words(&MAIN.iter().map(|(v, _)| case(main, v)).collect::<Vec<_>>());
    section.text.extend((!left.is_empty()).then_some(left));
    let caption =
        format!("Change of the mean completion time from PFC ({} hosts)", evidence.servers(main));
    let comparisons = against_pfc(evidence, main);
    section.exhibits.push(evidence.changes("background", &caption, "", &comparisons));
    if main != SMALL && evidence.has(case(SMALL, PFC)) {
        let caption = format!("The same with {} hosts", evidence.servers(SMALL));
        let comparisons = against_pfc(evidence, SMALL);
        section.exhibits.push(evidence.changes("background-small", &caption, "", &comparisons));
    }
    let caption = "Distribution of the completion times of background messages";
    section.exhibits.push(tails(evidence, "background-tails", caption, BACKGROUND, 3));
    for (name, group) in [("short", SHORT), ("medium", MEDIUM), ("long", LONG)] {
        let caption = format!("Completion times: {}", group.label);
        let name = format!("background-{name}");
        section.exhibits.push(evidence.quantiles(
            &name,
            &caption,
            "",
            group,
            &cases(evidence, MAIN),
        ));
    }
    section
}

/// Claim E4.
pub fn incasts(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "Completion times of incasts";
    let mut section = evidence.section("incasts", question, &["E4"], &[main]);
    section.answer = format!(
        "Compared with PFC, the mean completion time of incast messages {} with sfc-native and {} with \
         sfc-proxy.",
        moves(&change(evidence, NATIVE, INCAST)),
        moves(&change(evidence, PROXY, INCAST)),
    );
    section.text = vec![
        "With headers, preambles and gaps, 120 messages of 256 KB take 2.65 ms on a link of 100 Gb/s, and \
         the receiver gets other traffic too. The last message of an incast cannot arrive sooner with any \
         flow control. If all messages share the link evenly, their mean is nearly as long."
            .to_owned(),
    ];
    let caption = "Completion times of incast messages";
    let all = cases(evidence, MAIN);
    section.exhibits.push(evidence.quantiles("incast-times", caption, "", INCAST, &all));
    let caption = "Distribution of the completion times of incast messages";
    section.exhibits.push(tails(evidence, "incast-tails", caption, &[INCAST], 2));
    section
}

/// Claim E1.
pub fn set_up(evidence: &Evidence) -> Section {
    let question = "Round trip of the idle network";
    let mut section = evidence.section("idle", question, &["E1", "E8"], &[IDLE]);
    let of = case(IDLE, "base");
    if !evidence.has(of) {
        return section;
    }
    let (one, all) = (evidence.fct(of, SHORT), evidence.fct(of, MEDIUM));
    let trip = one.value.zip(all.value).map_or(f64::NAN, |(one, all)| (all - one) / 100.0 / 1e3);
    section.answer = format!("A round trip takes {trip:.3} µs.");
    section.text = vec![
        "The deck has links of 0.5 µs and a round trip of 12 µs. Twelve links take 6 µs, and the frames \
         286.08 ns. The rest is assumed to be the latency of ten switches, 571.392 ns each. A message of \
         one packet takes one one-way trip. A message of 101 packets, of which one at a time is in \
         flight, takes a hundred round trips more."
            .to_owned(),
        "The deck's authors saw comparable results with ns-3 (E8). Neither these nor the results of \
         Fabsim-X are published as numbers, so there is nothing to compare with. The idle network, \
         shown here, is the same in any simulator."
            .to_owned(),
    ];
    section.exhibits.push(table(
        "idle",
        "Messages in the idle network",
        "",
        &["", "completion time"],
        vec![
            vec!["1 packet".to_owned(), number(&one)],
            vec!["101 packets, one in flight".to_owned(), number(&all)],
        ],
    ));
    section
}
