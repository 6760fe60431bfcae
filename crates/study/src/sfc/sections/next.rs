//! Larger networks, long round trips, TCP and UDP.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::{Exhibit, Section};

use super::queues::{nics_stopped, stopped};
use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{Entry, moves, number, rows, short, table_of_cases};
use crate::flows::FlowGroup;
use crate::measure::Measured;
use crate::sfc::next::claims::{arrived, lost_share};
use crate::sfc::next::{DISTANCES, MIXES, OVERLOAD, SIZES};
use crate::sfc::{ALL_VARIANTS, INCAST, LONG, MEDIUM, NATIVE, PFC, PROXY, SHORT, case};

/// Experiments that were run, each with a label.
type Run = Vec<(&'static str, String)>;

fn run(evidence: &Evidence, all: impl Iterator<Item = (&'static str, String)>) -> Run {
    all.filter(|(name, _)| evidence.has(case(name, PFC))).collect()
}

fn names(run: &Run) -> Vec<&'static str> {
    run.iter().map(|(name, _)| *name).collect()
}

fn change(evidence: &Evidence, name: &'static str, to: &'static str, of: FlowGroup) -> Measured {
    evidence.fct_change(case(name, PFC), case(name, to), of)
}

/// Both modes compared with PFC, by experiment, for groups of messages.
fn changes(
    evidence: &Evidence,
    (name, caption): (&str, &str),
    run: &Run,
    groups: &[(&str, FlowGroup)],
) -> Exhibit {
    let of = |(experiment, label): &(&'static str, String)| {
        let of = groups.iter().map(|(group, of)| {
            let entries = [(PROXY, 1), (NATIVE, 2)].map(|(variant, series)| {
                Entry::new(variant, series, change(evidence, experiment, variant, *of))
            });
            let known = entries.into_iter().filter(|entry| entry.measured.value.is_some());
            (format!("{label}: {group}"), known.collect())
        });
        of.collect::<Vec<_>>()
    };
    let axis =
        Axis::linear("change of the mean completion time from PFC; left of 0 is sooner", "%");
    rows(name, caption, axis, Mark::Point, "", run.iter().flat_map(of).collect())
}

/// The cases of experiments, each with a label, of the variants that were run.
fn cases(evidence: &Evidence, run: &Run) -> Vec<(String, Case)> {
    let of = |(name, label): &(&'static str, String)| {
        let cases = ALL_VARIANTS.iter().map(|(variant, _)| case(name, variant));
        let run = cases.filter(|case| evidence.has(*case));
        run.map(|case| (format!("{label}, {}", case.variant), case)).collect::<Vec<_>>()
    };
    run.iter().flat_map(of).collect()
}

fn kilobytes(evidence: &Evidence, case: Case, name: &'static str) -> String {
    number(&evidence.number(case, "KB", move |facts| facts.number(name) / 1e3))
}

/// Claims N1.
pub fn scale(evidence: &Evidence) -> Section {
    let run =
        run(evidence, SIZES.iter().map(|(name, pods)| (*name, format!("{} hosts", 64 * pods))));
    let question = "Gain by the size of the network, up to 1,024 hosts";
    let mut section = evidence.section("scale", question, &["N1a", "N1b", "N1c"], &names(&run));
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return section };
    section.answer = format!(
        "Compared with PFC and with {}, the mean completion time of messages below 10 KB {} with \
         sfc-native and {} with sfc-proxy. With {}, it {} with sfc-native and {} with sfc-proxy.",
        first.1,
        moves(&change(evidence, first.0, NATIVE, SHORT)),
        moves(&change(evidence, first.0, PROXY, SHORT)),
        last.1,
        moves(&change(evidence, last.0, NATIVE, SHORT)),
        moves(&change(evidence, last.0, PROXY, SHORT)),
    );
    section.text = vec![
        "The deck names larger networks as future work. These networks have more pods of the same kind \
         and the same load for each host, including the number of incasts of 120:1. Runs are short, \
         because a network of 1,024 hosts sends two million messages in a millisecond. PFC's pauses have \
         less time to spread than in the main experiment, so the sizes can be compared with each other \
         but not with the main experiment."
            .to_owned(),
    ];
    let caption = "Change of the mean completion time from PFC, by the size of the network";
    let groups = [("<10 KB", SHORT), ("10 KB–1 MB", MEDIUM), ("incast", INCAST)];
    section.exhibits.push(changes(evidence, ("scale", caption), &run, &groups));
    section.exhibits.push(table_of_cases(
        "scale",
        "Completion times, pauses and queues by the size of the network",
        "Means over replications; ports are those that lead to another switch.",
        &cases(evidence, &run),
        &[
            ("<10 KB", &evidence.fct_cell(SHORT)),
            ("10 KB–1 MB", &evidence.fct_cell(MEDIUM)),
            (">1 MB", &evidence.fct_cell(LONG)),
            ("incast", &evidence.fct_cell(INCAST)),
            ("ports stopped", &|of| number(&stopped(evidence, of, &[0, 1, 2]))),
            ("NICs stopped", &|of| number(&nics_stopped(evidence, of))),
            ("mean in a switch", &|of| kilobytes(evidence, of, "switch_mean_occupancy_bytes")),
            ("drops", &evidence.cell(Facts::all_drops)),
            ("unfinished", &|of| evidence.unfinished_cell(of)),
        ],
    ));
    section
}

/// Claims N2.
pub fn distance(evidence: &Evidence) -> Section {
    let run = run(evidence, DISTANCES.iter().map(|of| (of.name, of.label.to_owned())));
    let question = "Long round trips";
    let mut section =
        evidence.section("round-trips", question, &["N2a", "N2b", "N2c", "N2d"], &names(&run));
    if run.is_empty() {
        return section;
    }
    let lossless = |variant| {
        let none = |(name, _): &&(&'static str, String)| {
            evidence.most(case(name, variant), "", Facts::all_drops).value == Some(0.0)
        };
        let which: Vec<&str> = run.iter().filter(none).map(|(_, label)| label.as_str()).collect();
        if which.is_empty() { "none".to_owned() } else { which.join("; ") }
    };
    let from: Vec<String> = run
        .iter()
        .map(|(name, label)| format!("{} ({label})", moves(&change(evidence, name, NATIVE, SHORT))))
        .collect();
    section.answer = format!(
        "With sfc-native, compared with PFC, the mean completion time of messages below 10 KB changes as \
         follows: {}. With sfc-native, nothing is dropped in: {}.",
        from.join("; "),
        lossless(NATIVE)
    );
    section.text = vec![
        "The hosts of two buildings, 64 in each, send each other the background of the main experiment. \
         Sixteen hosts of one building send 2 MB each to one host of the other at the same time: 1.6 Tb/s \
         for its link of 100 Gb/s. PFC reserves room at each port for all data that is on a long link \
         when it stops the other end: 5.1 MB for 10 km. Source Flow Control shares 16 MB in each switch."
            .to_owned(),
        "A calculation by hand: the queue grows by 184 KB per microsecond for one round trip, until the \
         first message has reached the sources and the data sent before has arrived. This is 1.7 MB with \
         10 µs, 5.2 MB with 29 µs, 19.9 MB with 109 µs, and all of the messages with 209 µs. Dynamic \
         thresholds allow one port 8.05 MB. More is dropped, and no setting of Source Flow Control can \
         prevent it, because the trigger is passed after half a microsecond. The window of the senders \
         can. The deck's 15 µs are 1.25 of its round trips. The windows here are 1.25 of the longer round \
         trips, so that one sender can fill its link; with \"window 15 µs\" they are as in the deck. With \
         \"thresholds by RTT\", the trigger, the target, the suppression period and the ECN threshold are \
         the same fractions of a round trip as in the deck."
            .to_owned(),
    ];
    let caption = "Change of the mean completion time from PFC, by round trip";
    let groups = [("<10 KB", SHORT), ("10 KB–1 MB", MEDIUM), ("incast", INCAST)];
    section.exhibits.push(changes(evidence, ("round-trips", caption), &run, &groups));
    section.exhibits.push(table_of_cases(
        "round-trips",
        "Buffer occupancy, drops and stopped ports by round trip",
        "Means over replications. The most in a switch and drops are those of whole runs.",
        &cases(evidence, &run),
        &[
            ("<10 KB", &evidence.fct_cell(SHORT)),
            ("incast", &evidence.fct_cell(INCAST)),
            ("mean in a switch", &|of| kilobytes(evidence, of, "switch_mean_occupancy_bytes")),
            ("most", &|of| kilobytes(evidence, of, "switch_max_occupancy_bytes")),
            ("drops", &evidence.cell(Facts::all_drops)),
            ("retransmitted", &evidence.cell(|facts| facts.number("retransmitted_packets"))),
            ("ports stopped", &|of| number(&stopped(evidence, of, &[0, 1]))),
            ("NICs stopped", &|of| number(&nics_stopped(evidence, of))),
            ("SFC messages", &evidence.cell(|facts| facts.number("sfc_messages"))),
            ("unfinished", &|of| evidence.unfinished_cell(of)),
        ],
    ));
    section
}

/// Claims N3.
pub fn transports(evidence: &Evidence) -> Section {
    let run = run(evidence, MIXES.iter().map(|(name, label, _)| (*name, (*label).to_owned())));
    let question = "Source Flow Control with TCP and UDP";
    let mut section =
        evidence.section("transports", question, &["N3a", "N3b", "N3c", "N3d"], &names(&run));
    let mixes: Run = run.iter().filter(|(name, _)| *name != OVERLOAD).cloned().collect();
    if mixes.is_empty() {
        return section;
    }
    let sentence = |(name, label): &(&'static str, String)| {
        let of = |variant| moves(&change(evidence, name, variant, SHORT));
        format!("{} with sfc-native and {} with sfc-proxy ({label})", of(NATIVE), of(PROXY))
    };
    let lost =
        |variant| number(&evidence.share(case(OVERLOAD, variant), "% of datagrams", lost_share));
    section.answer = format!(
        "Compared with PFC, the mean completion time of TCP messages below 10 KB changes as follows: {}. \
         Of UDP flows that offer more than a link carries, {} are dropped with sfc-native, {} with \
         sfc-proxy and {} without flow control.",
        mixes.iter().map(sentence).collect::<Vec<_>>().join("; "),
        lost(NATIVE),
        lost(PROXY),
        lost("lossy"),
    );
    section.text = vec![
        "With sfc-native, a NIC holds back all data to a destination, of any transport. The pause of \
         sfc-proxy stops a class, and all transports are in the same class. The background is TCP here \
         (Google RPCs, one connection each, at 45 % of the capacity). Incasts are RoCEv2 as in the main \
         experiment, or TCP as well, and 64 UDP flows have a constant 10 Gb/s each. With DCTCP, queues \
         mark from 50 KB on. SYNs and acknowledgements of TCP are not ECN-capable and are dropped there, \
         as RFC 3168 prescribes, with and without flow control. With Cubic, queues do not mark and drop \
         only when the memory is full, and RoCEv2 is limited by its window alone."
            .to_owned(),
        "A UDP flow that is held back or paused does not catch up: it continues at its rate, so fewer \
         datagrams arrive. In the overload, 16 UDP flows go to one host, 160 Gb/s for its link of 100 \
         Gb/s. They do not respond to congestion, so only flow control can prevent drops."
            .to_owned(),
    ];
    let caption = "Change of the mean completion time from PFC, by transport";
    let groups = [("<10 KB", SHORT), ("10 KB–1 MB", MEDIUM), ("incast", INCAST)];
    section.exhibits.push(changes(evidence, ("transports", caption), &mixes, &groups));
    section.exhibits.push(table_of_cases(
        "transports",
        "TCP, RoCEv2 and UDP through the same queues",
        "Means over replications. \"UDP arrived\" is the change from PFC, in percent. Drops are those of whole \
         runs and of all transports, by full memory and by the threshold of ECN. Flows that had not \
         finished count with the time that they had taken until the end of the run.",
        &cases(evidence, &run),
        &[
            ("TCP <10 KB", &evidence.fct_cell(SHORT)),
            ("10 KB–1 MB", &evidence.fct_cell(MEDIUM)),
            ("incast", &evidence.fct_cell(INCAST)),
            (
                "UDP arrived",
                &|of| short(&evidence.change(case(of.experiment, PFC), of, arrived)),
            ),
            ("UDP dropped", &|of| number(&evidence.share(of, "% of datagrams", lost_share))),
            ("drops", &evidence.cell(Facts::all_drops)),
            ("retransmitted", &evidence.cell(|facts| facts.number("retransmitted_packets"))),
            ("pause frames", &evidence.cell(|facts| facts.number("pause_frames"))),
            ("SFC messages", &evidence.cell(|facts| facts.number("sfc_messages"))),
            ("unfinished", &|of| evidence.unfinished_cell(of)),
        ],
    ));
    section
}
