//! What is written is read back by the same messages; that Perfetto reads it is tested with its own
//! schema, from Python.

use floodway_model::Table;
use floodway_model::tables::{backlogs, complete, pause_intervals};
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
