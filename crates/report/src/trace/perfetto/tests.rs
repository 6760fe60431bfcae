//! What is written is read back by the same messages; that Perfetto reads it is tested with its own
//! schema, from Python.

use floodway_model::Table;
use floodway_model::tables::{backlogs, complete, delay_parts, pause_causes, pause_intervals};
use prost::Message;

use super::message::{Event, Kind, Packet};

/// Perfetto's `Trace`.
#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

/// What a trace holds, track by track: the path of its names, and what happens on it.
fn read(tables: &[Table]) -> Vec<(String, Vec<(u64, Event)>)> {
    let mut bytes = Vec::new();
    super::write(tables, &mut bytes).unwrap();
    let trace = Trace::decode(&bytes[..]).unwrap();
    let mut tracks: Vec<(String, Vec<(u64, Event)>)> = Vec::new();
    for packet in trace.packet {
        assert_eq!(packet.trusted_packet_sequence_id, 1);
        assert_eq!(packet.sequence_flags, tracks.is_empty().then_some(1));
        if let Some(track) = packet.track_descriptor {
            assert_eq!(track.uuid as usize, tracks.len() + 1, "numbers rise");
            let path = match track.parent_uuid {
                Some(parent) => format!("{}/{}", tracks[parent as usize - 1].0, track.name),
                None => track.name,
            };
            tracks.push((path, Vec::new()));
        } else {
            let event = packet.track_event.unwrap();
            let events = &mut tracks[event.track_uuid as usize - 1].1;
            events.push((packet.timestamp.unwrap(), event));
        }
    }
    tracks
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// A host with one link, to a switch with one.
fn fabric() -> Vec<Table> {
    vec![
        complete(Table::new("nodes", "").u64("number", "", vec![5, 7]).text(
            "node",
            "",
            texts(&["leaf0", "h0"]),
        )),
        complete(
            Table::new("links", "")
                .text("node", "", texts(&["leaf0", "h0"]))
                .u64("port", "", vec![3, 0])
                .text("peer", "", texts(&["h0", "leaf0"])),
        ),
        complete(Table::new("pauses", "").text("node", "", texts(&["leaf0", "h0"])).u64(
            "tier",
            "",
            vec![0, 255],
        )),
    ]
}

fn samples() -> Table {
    complete(
        Table::new("samples", "")
            .f64("time_ns", "", vec![0.0, 2_000.0, 4_000.0, 4_000.0])
            .f64("interval_ns", "", vec![0.0, 1_000.0, 1_000.0, 1_000.0])
            .text("node", "", texts(&["leaf0", "leaf0", "leaf0", "h0"]))
            .u64("port", "", vec![3, 3, 3, 0])
            .f64("busy_ns", "", vec![0.0, 1_000.0, 500.0, 0.0]),
    )
}

#[test]
fn links_are_counters_and_idle_between_their_rows() {
    let tracks = read(&[fabric(), vec![samples()]].concat());
    let names: Vec<_> = tracks.iter().map(|track| track.0.as_str()).collect();
    let port = "switches next to hosts (tier 0)/leaf0/port 3 → h0";
    // The port of the host was never busy, and has no counter.
    let host = ["hosts", "hosts/h0", "hosts/h0/port 0 → leaf0"];
    let tier = "switches next to hosts (tier 0)";
    let switch = format!("{tier}/leaf0");
    let busy = format!("{port}/busy");
    assert_eq!(names, [&[tier, &switch, port, &busy][..], &host].concat());
    // The rows are of 1 to 2 us and 3 to 4 us; the one of the beginning is of no time at all.
    let values: Vec<_> = tracks[3]
        .1
        .iter()
        .map(|(at, event)| (*at, event.double_counter_value.unwrap(), event.kind))
        .collect();
    let value = i32::from(Kind::Value);
    let expected = [(0, 0.0), (1_000, 100.0), (2_000, 0.0), (3_000, 50.0), (4_000, 0.0)];
    assert_eq!(values, expected.map(|(at, rate)| (at, rate, value)));
}

#[test]
fn queues_are_counters_and_pauses_slices() {
    let backlog = |(time_ns, backlog_bytes)| backlogs::Row {
        time_ns,
        node: "leaf0".to_owned(),
        port: 3,
        queue: 1,
        backlog_bytes,
    };
    let backlogs = [(2_000.0, 4_500), (3_000.0, 0)].map(backlog).into_iter().collect();
    let interval = |(from_ns, until_ns)| pause_intervals::Row {
        node: "leaf0".to_owned(),
        port: 3,
        class: 0,
        from_ns,
        until_ns,
    };
    let pause_intervals = [(10.4, 20.0), (20.0, 31.6)].map(interval).into_iter().collect();
    let tracks = read(&[fabric(), vec![backlogs, pause_intervals]].concat());
    let [.., queue, paused] = &tracks[..] else { panic!("{tracks:?}") };
    assert!(queue.0.ends_with("leaf0/port 3 → h0/queue 1"), "{}", queue.0);
    let values: Vec<_> =
        queue.1.iter().map(|(at, event)| (*at, event.counter_value.unwrap())).collect();
    assert_eq!(values, [(2_000, 4_500), (3_000, 0)]);
    assert!(paused.0.ends_with("leaf0/port 3 → h0/paused 0"), "{}", paused.0);
    let edges: Vec<_> = paused.1.iter().map(|(at, event)| (*at, event.kind)).collect();
    let (begin, end) = (Kind::Begin.into(), Kind::End.into());
    // One ends where the next begins, and the order says so.
    assert_eq!(edges, [(10, begin), (20, end), (20, begin), (32, end)]);
}

#[test]
fn flows_that_overlap_have_tracks_of_their_own() {
    // The second begins while the first is under way; the third when that has ended; the last never
    // ends, so it lasts as long as anything is known.
    let whole = |value| vec![value; 4];
    let flows = complete(
        Table::new("flows", "")
            .u64("flow", "", vec![0, 1, 2, 3])
            .u64("workload", "", whole(0))
            .u64("src", "", whole(7))
            .u64("dst", "", vec![5, 5, 5, 9])
            .u64("bytes", "", vec![1_000, 2_000_000, 3_000, 0])
            .u64("delivered_bytes", "", whole(0))
            .u64("retransmitted_packets", "", whole(0))
            .u64("lost_packets", "", whole(0))
            .u64("marked_packets", "", whole(0))
            .f64("start_ns", "", vec![0.0, 50.0, 100.0, 90.0])
            .f64("fct_ns", "", vec![100.0, 500.0, 10.0, f64::NAN])
            .f64("slowdown", "", vec![1.5, 2.5, 1.0, f64::NAN]),
    );
    let tracks = read(&[fabric(), vec![flows, samples()]].concat());
    let lanes: Vec<_> = tracks.iter().filter(|track| track.0 == "flows/h0/flows").collect();
    let slices = |lane: usize| -> Vec<_> {
        lanes[lane].1.iter().map(|(at, event)| (*at, event.name.clone())).collect()
    };
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(lanes.len(), 3);
    let first =
        [(0, named("1.00 KB → leaf0")), (100, None), (100, named("3.00 KB → leaf0")), (110, None)];
    assert_eq!(slices(0), first);
    assert_eq!(slices(1), [(50, named("2.00 MB → leaf0")), (550, None)]);
    assert_eq!(slices(2), [(90, named("no size → node 9")), (4_000, None)]);
    let facts = |lane: usize| &lanes[lane].1[0].1.debug_annotations;
    let slowdown = |lane| facts(lane).iter().find(|fact| fact.name == "slowdown").unwrap();
    assert_eq!(slowdown(1).double_value, Some(2.5));
    assert_eq!(slowdown(2).string_value.as_deref(), Some("did not end"));
}

/// A flow from h0 by leaf0 and spine0 to h9. The port of spine0 to h9 fills up, so spine0 pauses leaf0, and leaf0
/// pauses h0. The tables are as a run leaves them.
fn explained() -> Vec<Table> {
    let flows = complete(
        Table::new("flows", "").u64("flow", "", vec![7]).u64("bytes", "", vec![5_000]).f64(
            "slowdown",
            "",
            vec![12.3],
        ),
    );
    let explained = complete(
        Table::new("explained", "")
            .u64("flow", "", vec![7])
            .f64("stands_for", "", vec![1.0])
            .text("src", "", texts(&["h0"]))
            .text("dst", "", texts(&["h9"])),
    );
    // From, to, part, port, whether the window is full, the flow that causes it, and the root.
    type Spent =
        (u64, u64, &'static str, (&'static str, u64, &'static str), u64, Option<u64>, bool);
    let part = |(from_ps, to_ps, part, place, in_window, cause, root): Spent| delay_parts::Row {
        flow: 7,
        from_ps,
        to_ps,
        part: part.to_owned(),
        node: place.0.to_owned(),
        port: place.1,
        peer: place.2.to_owned(),
        in_window,
        has_cause: cause.is_some().into(),
        cause: cause.unwrap_or_default(),
        root: if root { "spine0" } else { "" }.to_owned(),
        root_port: root.into(),
        root_peer: if root { "h9" } else { "" }.to_owned(),
    };
    let (nic, leaf) = (("h0", 0, "leaf0"), ("leaf0", 3, "spine0"));
    let parts: [Spent; 4] = [
        (9_000_000, 10_500_400, "serialization", nic, 0, None, false),
        (10_500_400, 31_000_000, "paused", nic, 0, Some(4), true),
        (31_000_000, 31_500_000, "other_flows", leaf, 1, Some(4), false),
        // No pause is known there, so no arrow leads to it.
        (31_500_000, 32_000_000, "paused", leaf, 0, None, true),
    ];
    let pause = |(place, span, depth): ((&str, u64, &str), (u64, u64), u64)| pause_causes::Row {
        node: place.0.to_owned(),
        port: place.1,
        peer: place.2.to_owned(),
        class: 0,
        from_ps: span.0,
        until_ps: span.1,
        cause_port: if depth == 1 { 1 } else { 3 },
        root: "spine0".to_owned(),
        root_port: 1,
        root_peer: "h9".to_owned(),
        root_class: 0,
        root_flow: 4,
        depth,
    };
    let causes = [
        (leaf, (5_000_000, 30_000_000), 1),
        (nic, (10_000_000, 31_000_000), 2),
        (nic, (40_000_000, 41_000_000), 1),
    ];
    let interval = |(place, span, _): ((&str, u64, &str), (u64, u64), u64)| pause_intervals::Row {
        node: place.0.to_owned(),
        port: place.1,
        class: 0,
        from_ns: span.0 as f64 / 1e3,
        until_ns: span.1 as f64 / 1e3,
    };
    vec![
        flows,
        explained,
        complete(Table::new("delays", "").u64("flow", "", vec![])),
        parts.map(part).into_iter().collect(),
        causes.map(pause).into_iter().collect(),
        causes.map(interval).into_iter().collect(),
        complete(
            Table::new("links", "")
                .text("node", "", texts(&["h0", "leaf0"]))
                .u64("port", "", vec![0, 3])
                .text("peer", "", texts(&["leaf0", "spine0"])),
        ),
        complete(Table::new("pauses", "").text("node", "", texts(&["h0", "leaf0"])).u64(
            "tier",
            "",
            vec![255, 0],
        )),
    ]
}

#[test]
fn explained_flows_are_slices_by_hop_with_arrows_from_the_root() {
    let tracks = read(&explained());
    let flow = "explained flows/flow 7: 5.00 KB from h0 to h9, 12.30 times the ideal";
    let slices = |path: &str| -> Vec<_> {
        let track = tracks.iter().find(|track| track.0 == path).unwrap_or_else(|| panic!("{path}"));
        let begins = track.1.iter().filter(|(_, event)| event.kind == i32::from(Kind::Begin));
        begins
            .map(|(at, event)| (*at, event.name.clone().unwrap(), event.flow_ids.clone()))
            .collect()
    };
    let slice = |at, name: &str, links: &[u64]| (at, name.to_owned(), links.to_vec());
    assert_eq!(
        slices(&format!("{flow}/h0 to leaf0")),
        [slice(9_000, "serialization", &[]), slice(10_500, "paused: spine0 to h9", &[1])]
    );
    assert_eq!(
        slices(&format!("{flow}/leaf0 to spine0")),
        [
            slice(31_000, "other flows: flow 4, while the window is full", &[]),
            slice(31_500, "paused: spine0 to h9", &[]),
        ]
    );
    // Arrow 2 leads from the pause next to the root to the pause of the host, and arrow 1 from there to the flow.
    let host = "hosts/h0/port 0 → leaf0/paused 0";
    assert_eq!(slices(host), [slice(10_000, "paused 0", &[1, 2]), slice(40_000, "paused 0", &[])]);
    let leaf = "switches next to hosts (tier 0)/leaf0/port 3 → spine0/paused 0";
    assert_eq!(slices(leaf), [slice(5_000, "paused 0", &[2])]);
    let paused = tracks.iter().find(|track| track.0.ends_with("/h0 to leaf0")).unwrap();
    let facts = &paused.1[2].1.debug_annotations;
    let fact = |name: &str| facts.iter().find(|fact| fact.name == name).unwrap();
    assert_eq!(fact("due_to").string_value.as_deref(), Some("pauses"));
    assert_eq!((fact("time_ps").uint_value, fact("cause").uint_value), (Some(20_499_600), Some(4)));
    assert_eq!(fact("root").string_value.as_deref(), Some("spine0 to h9"));
    // Pauses come first, so that no arrow is turned around where both slices begin at once.
    let place = |path: &str| tracks.iter().position(|track| track.0.starts_with(path)).unwrap();
    assert!(place("explained flows") > place("hosts"));
}

/// Two jobs: nodes of a trace, of which two overlap, one has not finished and one has not begun; and steps of GOAL.
#[test]
fn ranks_have_tracks_for_what_they_do() {
    let tables = [
        complete(Table::new("nodes", "").u64("number", "", vec![7, 9]).text(
            "node",
            "",
            texts(&["h0", "h1"]),
        )),
        complete(
            Table::new("ranks", "")
                .u64("workload", "", vec![0, 1])
                .u64("rank", "", vec![0, 3])
                .u64("node", "", vec![7, 9]),
        ),
        complete(
            Table::new("trace_nodes", "")
                .u64("workload", "", vec![0; 6])
                .u64("rank", "", vec![0; 6])
                .u64("id", "", vec![1, 2, 3, 4, 5, 6])
                .text("name", "", texts(&["forward", "sum a", "", "late", "later", "none"]))
                .text(
                    "kind",
                    "",
                    texts(&["compute", "all_reduce", "all_gather", "receive", "send", "metadata"]),
                )
                .f64("start_ns", "", vec![0.0, 5_000.0, 6_000.0, 7_000.0, f64::NAN, 0.0])
                .f64("finish_ns", "", vec![5_000.0, 9_000.0, 8_000.0, f64::NAN, f64::NAN, 0.0]),
        ),
        complete(
            Table::new("steps", "")
                .u64("workload", "", vec![0, 1, 1])
                .u64("rank", "", vec![0, 3, 3])
                .u64("line", "", vec![0, 4, 5])
                .text("kind", "", texts(&["compute", "compute", "send"]))
                .u64("stream", "", vec![0, 2, 0])
                .f64("peer", "", vec![f64::NAN, f64::NAN, 1.0])
                .u64("bytes", "", vec![0, 0, 2_000])
                .f64("start_ns", "", vec![0.0, 100.0, 400.0])
                .f64("finish_ns", "", vec![5_000.0, 400.0, 600.0]),
        ),
    ];
    let spans =
        read(&tables).into_iter().filter(|track| !track.1.is_empty()).map(|(path, events)| {
            let name = events[0].1.name.clone().unwrap();
            (path, name, events[0].0, events[1].0)
        });
    let mut spans: Vec<_> = spans.collect();
    spans.sort();
    let of = |path: &str, name: &str, from, until| {
        (format!("jobs/{path}"), name.to_owned(), from, until)
    };
    let (first, second) = ("workload 0, rank 0 on h0", "workload 1, rank 3 on h1");
    assert_eq!(
        spans,
        [
            of(&format!("{first}/collectives"), "all_gather 3", 6_000, 8_000),
            of(&format!("{first}/collectives"), "sum a", 5_000, 9_000),
            of(&format!("{first}/computation"), "forward", 0, 5_000),
            // Until the last thing that is known.
            of(&format!("{first}/receives"), "late", 7_000, 9_000),
            of(&format!("{second}/cpu 2"), "calc", 100, 400),
            of(&format!("{second}/sends"), "2.00 KB → rank 1", 400, 600),
        ]
    );
    assert!(read(&tables[..1]).is_empty());
}

#[test]
fn a_run_without_explanations_has_no_tracks_of_them() {
    let left = |table: &Table| table.name != "explained";
    let tables: Vec<Table> = explained().into_iter().filter(left).collect();
    assert!(read(&tables).iter().all(|track| !track.0.starts_with("explained")));
    assert!(tables.len() > 6);
}
