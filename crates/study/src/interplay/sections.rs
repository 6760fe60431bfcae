//! The sections of the report: by congestion control, by memory, and both together.

use floodway_report::chart::{Axis, Colours, Mark};
use floodway_report::study::{Exhibit, Section};

use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{Entry, number, rows, table};
use crate::flows::{FlowGroup, Quantile};
use crate::matrix::{heat_map, sides};
use crate::measure::Measured;

use super::claims::{both, fct, on_memory, pause_frames, pauses, with_control};
use super::plan::{CONTROLS, FIRST, MEMORIES, Setting, pair};
use super::{ALL, ELEPHANTS, MICE};

type Cases = fn(usize) -> (Case, Case);

/// All sections in order.
pub fn sections(evidence: &Evidence) -> Vec<Section> {
    let sections = [controls(evidence), memories(evidence), together(evidence)];
    let shown = |section: &Section| !section.links.is_empty() && !section.exhibits.is_empty();
    sections.into_iter().filter(shown).collect()
}

/// The settings of an axis that were run, by their numbers.
fn run<'a>(
    evidence: &Evidence,
    settings: &'a [Setting],
    cases: Cases,
) -> Vec<(usize, &'a Setting)> {
    let all = settings.iter().enumerate();
    all.filter(|(number, _)| evidence.has(cases(*number).1)).collect()
}

/// The labels of those settings for which a change surely is below zero, surely above, and neither.
fn sorted(
    evidence: &Evidence,
    settings: &[Setting],
    cases: Cases,
    change: impl Fn((Case, Case)) -> Measured,
) -> [Vec<&'static str>; 3] {
    let mut sorted = [Vec::new(), Vec::new(), Vec::new()];
    for (number, setting) in run(evidence, settings, cases) {
        let place = match change(cases(number)).bounds() {
            Some((_, high)) if high < 0.0 => 0,
            Some((low, _)) if low > 0.0 => 1,
            _ => 2,
        };
        sorted[place].push(setting.label);
    }
    sorted
}

fn list(labels: &[&str]) -> String {
    match labels {
        [] => "none".to_owned(),
        some => some.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(", "),
    }
}

/// What the study answers.
pub fn answer(evidence: &Evidence) -> Vec<String> {
    let sentence = |settings: &[Setting], cases: Cases, group: FlowGroup, of: &str| {
        let [sooner, later, open] =
            sorted(evidence, settings, cases, |cases| fct(evidence, cases, group));
        format!(
            "{of}: with isolation, the mean completion time clearly falls with {}. It clearly rises with \
             {}. It does not clearly change with {}.",
            list(&sooner),
            list(&later),
            list(&open)
        )
    };
    [
        sentence(&CONTROLS, with_control, MICE, "Mice, by congestion control"),
        sentence(&CONTROLS, with_control, ALL, "All flows, by congestion control"),
        sentence(&MEMORIES, on_memory, MICE, "Mice, with DCQCN, by switch memory"),
        sentence(&MEMORIES, on_memory, ALL, "All flows, with DCQCN, by switch memory"),
    ]
    .into()
}

/// Changes by groups of flows, and of pauses.
fn changes(
    evidence: &Evidence,
    (name, caption): (&str, &str),
    settings: &[Setting],
    cases: Cases,
) -> Exhibit {
    let of = |label: &str, series: usize, change: &dyn Fn((Case, Case)) -> Measured| {
        let entries = run(evidence, settings, cases)
            .into_iter()
            .map(|(number, setting)| Entry::new(setting.label, series, change(cases(number))));
        let known = |entry: &Entry| entry.measured.value.is_some() && entry.measured.unit == "%";
        (label.to_owned(), entries.filter(known).collect())
    };
    let groups = vec![
        of("mice, below 100 KB", 1, &|cases| fct(evidence, cases, MICE)),
        of("above 10 MB", 3, &|cases| fct(evidence, cases, ELEPHANTS)),
        of("all flows", 0, &|cases| fct(evidence, cases, ALL)),
        of("pause frames", 2, &|cases| pauses(evidence, cases)),
    ];
    let axis = Axis::linear("change with isolation; left of 0 is sooner or fewer", "%");
    let note = "A change from zero has no percentage and is left out.";
    rows(name, caption, axis, Mark::Point, note, groups)
}

/// What happens in both variants.
fn what_happens(
    evidence: &Evidence,
    (name, caption): (&str, &str),
    settings: &[Setting],
    cases: Cases,
) -> Exhibit {
    let mut lines = Vec::new();
    for (at, setting) in run(evidence, settings, cases) {
        let (from, to) = cases(at);
        for (case, label) in [(from, setting.label), (to, "… with isolation")] {
            let count = |of: fn(&Facts) -> f64| number(&evidence.number(case, "", of));
            lines.push(vec![
                label.to_owned(),
                number(&evidence.fct(case, MICE)),
                number(&evidence.fct_quantile(case, MICE, Quantile::P99)),
                number(&evidence.fct(case, ELEPHANTS)),
                count(pause_frames),
                number(&evidence.number(case, "ms", |facts| facts.number("paused_ns") / 1e6)),
                count(|facts| facts.number("isolations")),
                evidence.unfinished_cell(case),
            ]);
        }
    }
    let head = [
        "",
        "mice, mean",
        "mice, p99",
        "above 10 MB, mean",
        "pause frames",
        "time paused",
        "isolations",
        "unfinished",
    ];
    table(
        name,
        caption,
        "Means per run; pause frames and paused time are summed over all ports.",
        &head,
        lines,
    )
}

/// By congestion control.
fn controls(evidence: &Evidence) -> Section {
    let names: Vec<_> = CONTROLS.iter().map(|of| pair(of, &MEMORIES[FIRST])).collect();
    let question = "Effects of isolation by congestion control";
    let mut section = evidence.section("controls", question, &["I1", "I2", "I3"], &names);
    let mice = |cases| fct(evidence, cases, MICE);
    let [sooner, later, open] = sorted(evidence, &CONTROLS, with_control, mice);
    section.answer = format!(
        "With isolation, mice clearly finish sooner with {} of {} congestion controls and clearly later \
         with {}; with {} there is no clear change.",
        sooner.len(),
        sooner.len() + later.len() + open.len(),
        later.len(),
        open.len()
    );
    section.text = vec![
        "The traffic, the network and isolation are those of the study of Congestion Isolation: \
         clusters that send flows of a data-mining workload, and a permanent incast of 20 to 1. Only \
         the congestion control differs. Isolation marks the packets of isolated flows. HPCC, TIMELY, \
         Swift, BBR and QCN do not use these marks, so for them isolation is a separate queue and \
         nothing else. Without isolation, ECN marks as each congestion control requires: at most 1 % of \
         packets, or all above 300 KB (\"as a step\"), or all above 100 KB for DCTCP. \"25 KB in flight\" \
         has no congestion control, and at most 25 KB of a flow in flight."
            .to_owned(),
    ];
    let caption = "Changes with isolation, by congestion control";
    section.exhibits.push(changes(evidence, ("controls", caption), &CONTROLS, with_control));
    let caption = "Completion times, pauses and isolations without isolation and with it";
    let counts = ("control-counts", caption);
    section.exhibits.push(what_happens(evidence, counts, &CONTROLS, with_control));
    section
}

/// By memory.
fn memories(evidence: &Evidence) -> Section {
    let names: Vec<_> = MEMORIES.iter().map(|of| pair(&CONTROLS[FIRST], of)).collect();
    let question = "Effects of isolation by switch memory";
    let mut section = evidence.section("memories", question, &["I4", "I5", "I6"], &names);
    let mice = |cases| fct(evidence, cases, MICE);
    let [sooner, later, open] = sorted(evidence, &MEMORIES, on_memory, mice);
    section.answer = format!(
        "With isolation, mice clearly finish sooner with {} of {} switch memories and clearly later with \
         {}; with {} there is no clear change.",
        sooner.len(),
        sooner.len() + later.len() + open.len(),
        later.len(),
        open.len()
    );
    section.text = vec![
        "The congestion control is DCQCN with ECN that marks at most 1 % of packets, where isolation has \
         the largest effect. Output queues have 1 MB each, as in the deck. The shared memory has 16 MB \
         with dynamic thresholds for each input port and class; the static one has 2 MB for each input \
         port. With these two and with input queues, PFC is measured where frames come in; otherwise at \
         the queue in which they wait. Input queues are first in, first out in each class. Virtual output \
         queues (VOQ) are matched by iSLIP. Isolation monitors all data that waits for an output, \
         wherever it waits; with \"egress only\" it monitors the queue at the egress alone."
            .to_owned(),
    ];
    let caption = "Changes with isolation, by switch memory";
    section.exhibits.push(changes(evidence, ("memories", caption), &MEMORIES, on_memory));
    let caption = "Completion times, pauses and isolations without isolation and with it";
    let counts = ("memory-counts", caption);
    section.exhibits.push(what_happens(evidence, counts, &MEMORIES, on_memory));
    section
}

/// Every congestion control on every memory.
fn together(evidence: &Evidence) -> Section {
    let pairs = CONTROLS
        .iter()
        .flat_map(|control| MEMORIES.iter().map(move |memory| pair(control, memory)));
    let names: Vec<_> = pairs.collect();
    let question = "Effects of isolation by congestion control and switch memory";
    let mut section = evidence.section("together", question, &[], &names);
    // Beyond the two axes.
    if !evidence.has(both(&CONTROLS[1], &MEMORIES[1]).1) {
        section.exhibits.clear();
        section.links.clear();
        return section;
    }
    let map = |name: &str, caption: &str, group: FlowGroup| {
        let labels = |settings: &'static [Setting]| settings.iter().map(|of| of.name);
        let sides = sides(("memory", labels(&MEMORIES)), ("congestion control", labels(&CONTROLS)));
        let axis = Axis::linear("change of the mean completion time by isolation", "%");
        let note = "In percent; below zero, flows finish sooner with isolation.";
        heat_map(
            (name, caption, note),
            (axis, Colours::Diverging(0.0), 1.0),
            sides,
            |row, column| fct(evidence, both(&CONTROLS[row], &MEMORIES[column]), group),
        )
    };
    let clear = |group| {
        let all = CONTROLS.iter().flat_map(|control| MEMORIES.iter().map(move |of| (control, of)));
        let changes = all.map(|(control, memory)| fct(evidence, both(control, memory), group));
        let known: Vec<_> = changes.filter_map(|change| change.bounds()).collect();
        (known.iter().filter(|(_, high)| *high < 0.0).count(), known.len())
    };
    let ((mice, of), (all, _)) = (clear(MICE), clear(ALL));
    section.answer = format!(
        "With isolation, the mean completion time of mice clearly falls in {mice} of {of} combinations, and \
         that of all flows in {all}."
    );
    section.exhibits = vec![
        map("mice-map", "Change of the mean completion time of mice with isolation", MICE),
        map("all-map", "Change of the mean completion time of all flows with isolation", ALL),
    ];
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interplay::{CI, WITHOUT};

    #[test]
    fn the_axes_meet_at_the_decks_own_model() {
        assert_eq!(with_control(FIRST), on_memory(FIRST));
        assert_eq!(with_control(FIRST).0.variant, WITHOUT);
        assert_eq!(with_control(FIRST).1.variant, CI);
    }
}
