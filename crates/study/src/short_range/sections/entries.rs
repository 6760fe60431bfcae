//! Requests to databases over one switch: slides 13 to 15.

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
    let question = "Requests over TCP and one switch: L2 Congestion Indication";
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
        "L2 Congestion Indication changes the payload of completed requests by {} and the mean response \
         time by {} compared with no flow control, by {} and {} compared with 802.3x, and by {} and {} \
         compared with RED that drops. With 802.3x, compared with L2-CI, the payload of client 1 at the \
         idle server 2 {}, because server 1 stops the client.",
        change(NO_CONTROL, entered),
        change(NO_CONTROL, response),
        change(PAUSE, entered),
        change(PAUSE, response),
        change(RED, entered),
        change(RED, response),
        moves(&blocked),
    );
    section.text = vec![
        "Client 1 sends requests (database entries) to both servers, clients 2 and 3 to server 1. Each has \
         eight requests outstanding on a connection with a window of 64 KB; a new one begins when one is \
         complete. Three windows are more than the 150 KB of memory that all ports share. TCP is that of \
         2004: NewReno with SACK, three duplicate acknowledgements, and timeouts of at least 200 ms, a \
         thousand times as long as a round trip. These timeouts are the cost of losses."
            .to_owned(),
        "The switch marks Ethernet frames by the average use of its memory. The receiving node converts \
         the mark to ECN, to which the client responds as in RFC 3168. Packets that are not ECN-capable \
         pass, whereas a switch that marks ECN itself drops them. With RED on the memory of the whole \
         switch, these would be the acknowledgements that pass through ports without a queue, and with \
         them the servers' responses."
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
            "Throughput and largest response time over time",
            "The first replication, in windows of a hundredth of it.",
        ),
        &cases,
    ));
    section.exhibits.push(over_time::memory(
        evidence,
        (
            "entries-memory",
            "Shared memory in use over time",
            "The first replication; means of samples taken every millisecond. The memory has 150 KB.",
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
        "Throughput, response times and losses",
        "Means over replications from 0.1 s on; losses are counted from the beginning. \"Early\" losses are \
         those of the first 0.1 s.",
        &[
            "",
            "throughput",
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
