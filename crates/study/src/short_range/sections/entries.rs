//! Database entries over one switch: slides 13 to 15.

use floodway_report::study::Section;

use super::over_time;
use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{moves, number, table};
use crate::short_range::measures::{
    early_drops, entered, entered_by, largest_response, memory, response,
};
use crate::short_range::{
    ENTRIES, L2CI, NO_CONTROL, OVER_ENTRIES, PAUSE, RED, TO_SERVER_1, TO_SERVER_2, case,
};

/// Claims B4 and B5.
pub fn entries(evidence: &Evidence) -> Section {
    let question = "What does L2 Congestion Indication do for requests over TCP?";
    let mut section = evidence.section("entries", question, &["B4", "B5"], &[ENTRIES]);
    if !evidence.has(case(ENTRIES, NO_CONTROL)) {
        return section;
    }
    let change = |from, of: fn(&Facts) -> f64| {
        number(&evidence.change(case(ENTRIES, from), case(ENTRIES, L2CI), of))
    };
    let to_server_2 = |facts: &Facts| entered_by(facts, TO_SERVER_2);
    let blocked = evidence.change(case(ENTRIES, L2CI), case(ENTRIES, PAUSE), to_server_2);
    section.answer = format!(
        "L2 Congestion Indication changes what clients enter by {} against no flow control, {} against \
         802.3x and {} against RED that drops, and the mean response time by {}, {} and {}. With 802.3x \
         what client 1 enters at the idle server 2 {} against L2-CI, because server 1 stops it.",
        change(NO_CONTROL, entered),
        change(PAUSE, entered),
        change(RED, entered),
        change(NO_CONTROL, response),
        change(PAUSE, response),
        change(RED, response),
        moves(&blocked),
    );
    section.text = vec![
        "Client 1 enters records at both servers, clients 2 and 3 at server 1, each with eight entries \
         under way on a connection whose window is 64 KB; a new one begins when one is complete. Three \
         windows are more than the 150 KB of memory that all ports share. TCP is that of 2004: \
         NewReno with SACK, three duplicate acknowledgements, and timeouts of at least 200 ms, a \
         thousand times as long as a round trip. That is what the losses cost."
            .to_owned(),
        "The switch marks in the Ethernet frame by the average of its memory, and the receiving node \
         makes ECN of it, which the client answers like RFC 3168. Packets that are not ECN-capable pass, \
         where a switch that marks ECN itself drops them; with RED on the memory of the whole \
         switch these are the acknowledgements on their way through ports where nothing waits, and \
         with them the servers' answers."
            .to_owned(),
    ];
    let cases: Vec<(Case, &str, usize)> = OVER_ENTRIES
        .iter()
        .map(|(variant, label, look)| (case(ENTRIES, variant), *label, *look))
        .collect();
    section.exhibits.push(over_time::exhibit(
        evidence,
        (
            "entries-over-time",
            "How much is entered, and how long do entries take?",
            "The first replication, in windows of a hundredth of it.",
        ),
        &cases,
    ));
    section.exhibits.push(over_time::memory(
        evidence,
        (
            "entries-memory",
            "How much of the shared memory is in use?",
            "The first replication, means of samples every millisecond. The memory has 150 KB.",
        ),
        &cases,
    ));
    let row = |(of, label, _): &(Case, &str, usize)| {
        let gbps = |facts: fn(&Facts) -> f64| number(&evidence.number(*of, "Gb/s", facts));
        let ns = |facts: fn(&Facts) -> f64| number(&evidence.number(*of, "ns", facts));
        let count = |facts: fn(&Facts) -> f64| number(&evidence.number(*of, "packets", facts));
        vec![
            (*label).to_owned(),
            gbps(entered),
            gbps(|facts| entered_by(facts, TO_SERVER_1)),
            gbps(|facts| entered_by(facts, TO_SERVER_2)),
            ns(response),
            ns(largest_response),
            count(Facts::all_drops),
            count(early_drops),
            number(&evidence.number(*of, "bytes", memory)),
        ]
    };
    section.exhibits.push(table(
        "entries-numbers",
        "The same in numbers",
        "Means over replications, from 0.1 s on; losses from the beginning, \"early\" those of the \
         first 0.1 s.",
        &[
            "",
            "entered",
            "client 1 at server 1",
            "client 1 at server 2",
            "mean response",
            "largest",
            "lost",
            "early",
            "memory in use",
        ],
        cases.iter().map(row).collect(),
    ));
    section
}
