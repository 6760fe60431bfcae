//! Layout, sums, roots and bytes, by hand.

use super::*;
use floodway_model::tables::complete;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

/// Tables of a network of these switches, with their tiers, and links: port by port, as the graph of
/// a simulation has them.
fn network(switches: &[(&str, u64)], links: &[(&str, &str)]) -> Vec<Table> {
    let mut nodes: Vec<&str> = Vec::new();
    for name in links.iter().flat_map(|(a, b)| [*a, *b]) {
        if !nodes.contains(&name) {
            nodes.push(name);
        }
    }
    let mut rows: Vec<(String, u64, String)> = Vec::new();
    for node in nodes {
        let peers = links.iter().filter_map(|(a, b)| match node {
            _ if node == *a => Some(*b),
            _ if node == *b => Some(*a),
            _ => None,
        });
        rows.extend((0..).zip(peers).map(|(port, peer)| (node.into(), port, peer.into())));
    }
    vec![
        complete(
            Table::new("switches", "")
                .text("node", "", switches.iter().map(|(name, _)| name.to_string()).collect())
                .u64("tier", "", switches.iter().map(|(_, tier)| *tier).collect()),
        ),
        complete(
            Table::new("links", "")
                .text("node", "", rows.iter().map(|row| row.0.clone()).collect())
                .u64("port", "", rows.iter().map(|row| row.1).collect())
                .text("peer", "", rows.iter().map(|row| row.2.clone()).collect()),
        ),
    ]
}

/// Time in ns, node, port, busy and paused in ns, and backlog.
type Row = (f64, &'static str, u64, f64, f64, u64);

fn with_record(mut tables: Vec<Table>, record: (u64, f64, f64), rows: &[Row]) -> Vec<Table> {
    let (samples, first, interval) = record;
    tables.push(complete(
        Table::new("record", "")
            .u64("recorded_samples", "", vec![samples])
            .f64("first_ns", "", vec![first])
            .f64("interval_ns", "", vec![interval]),
    ));
    tables.push(complete(
        Table::new("samples", "")
            .f64("time_ns", "", rows.iter().map(|row| row.0).collect())
            .text("node", "", rows.iter().map(|row| row.1.to_string()).collect())
            .u64("port", "", rows.iter().map(|row| row.2).collect())
            .f64("busy_ns", "", rows.iter().map(|row| row.3).collect())
            .f64("paused_ns", "", rows.iter().map(|row| row.4).collect())
            .u64("backlog_bytes", "", rows.iter().map(|row| row.5).collect()),
    ));
    tables
}

/// Two leaves with two hosts each below a spine.
fn clos() -> Vec<Table> {
    network(
        &[("leaf 0", 0), ("leaf 1", 0), ("spine 0", 1)],
        &[
            ("host 0", "leaf 0"),
            ("host 1", "leaf 0"),
            ("host 2", "leaf 1"),
            ("host 3", "leaf 1"),
            ("leaf 0", "spine 0"),
            ("leaf 1", "spine 0"),
        ],
    )
}

/// The end at this port.
fn end(fabric: &Fabric, node: &str, port: u64) -> usize {
    let here = |end: &End| fabric.nodes[end.node].name == node && end.port == port;
    fabric.ends.iter().position(here).unwrap()
}

#[test]
fn tiers_are_rows_and_hosts_stand_below_their_ports() {
    let (fabric, of_row) = Fabric::of(&clos()).unwrap();
    let node = |name: &str| fabric.nodes.iter().find(|node| node.name == name).unwrap();
    assert_eq!(["host 2", "leaf 1", "spine 0"].map(|name| node(name).row), [0, 1, 2]);
    assert_eq!(fabric.rows, ["hosts", "leaf", ""]);
    assert_eq!(["leaf 1", "spine 0"].map(|name| node(name).label.as_str()), ["1", "spine 0"]);
    assert_eq!(["leaf 0", "leaf 1", "spine 0"].map(|name| node(name).x), [0.25, 0.75, 0.5]);
    // Two ports below are the most: 0.03 and 0.014 for each.
    let width = 0.03 + 2.0 * 0.014;
    assert_eq!(node("leaf 1").width, width);
    assert_eq!((node("host 3").x, node("host 3").width), (0.75 + width / 4.0, 0.0));
    let down = &fabric.ends[end(&fabric, "leaf 1", 1)];
    assert_eq!((down.x, down.top, down.links), (0.75 + width / 4.0, false, 1));
    let up = &fabric.ends[end(&fabric, "leaf 1", 2)];
    assert_eq!((up.x, up.top), (0.75, true));
    assert_eq!(fabric.ends[up.back].node, up.peer);
    assert_eq!(fabric.ends[up.back].back, end(&fabric, "leaf 1", 2));
    assert_eq!(of_row, (0..12).collect::<Vec<_>>());
    assert!(!fabric.bundles());
}

#[test]
fn a_row_of_two_kinds_of_switches_has_both_names() {
    let switches = [("rail 0", 0), ("rail 1", 0), ("nvlink 0", 0), ("nvlink 1", 0), ("spine 0", 1)];
    let links = [
        ("host 0.0", "rail 0"),
        ("host 0.1", "nvlink 0"),
        ("host 1.0", "rail 1"),
        ("host 1.1", "nvlink 1"),
        ("rail 0", "spine 0"),
        ("rail 1", "spine 0"),
    ];
    let (fabric, _) = Fabric::of(&network(&switches, &links)).unwrap();
    assert_eq!(fabric.rows, ["hosts", "rail, nvlink", ""]);
    let label = |name: &str| &fabric.nodes.iter().find(|node| node.name == name).unwrap().label;
    assert_eq!(label("nvlink 1"), "nvlink 1");
}

#[test]
fn switches_stand_above_what_they_are_linked_to() {
    // The first aggregation belongs to the second pod.
    let switches = [("edge 0", 0), ("edge 1", 0), ("aggregation 0", 1), ("aggregation 1", 1)];
    let links = [
        ("host 0", "edge 0"),
        ("host 1", "edge 1"),
        ("edge 0", "aggregation 1"),
        ("edge 1", "aggregation 0"),
    ];
    let (fabric, _) = Fabric::of(&network(&switches, &links)).unwrap();
    assert_eq!(fabric.nodes[2].x, 0.75);
    assert_eq!(fabric.nodes[3].x, 0.25);
}

#[test]
fn parallel_links_and_links_in_a_row_have_their_ways_back() {
    let switches = [("a", 0), ("b", 0)];
    let (fabric, _) = Fabric::of(&network(&switches, &[("a", "b"), ("a", "b")])).unwrap();
    assert_eq!(fabric.rows, [""]);
    for (number, end) in fabric.ends.iter().enumerate() {
        let back = &fabric.ends[end.back];
        assert_eq!((back.back, back.node, back.port), (number, end.peer, end.port));
        assert!(end.top);
    }
}

#[test]
fn arcs_in_a_row_do_not_cross_at_their_ports() {
    // A ring of four: the first and the last are linked by the outermost arc.
    let switches = [("s 0", 0), ("s 1", 0), ("s 2", 0), ("s 3", 0)];
    let links = [("s 0", "s 1"), ("s 1", "s 2"), ("s 2", "s 3"), ("s 3", "s 0")];
    let (fabric, _) = Fabric::of(&network(&switches, &links)).unwrap();
    let towards = |node: &str, peer: &str| {
        let is = |at: usize, name: &str| fabric.nodes[at].name == name;
        fabric.ends.iter().find(|end| is(end.node, node) && is(end.peer, peer)).unwrap().x
    };
    assert!(towards("s 0", "s 3") < towards("s 0", "s 1"));
    assert!(towards("s 1", "s 0") < towards("s 1", "s 2"));
    assert!(towards("s 3", "s 2") < towards("s 3", "s 0"));
}

#[test]
fn many_hosts_are_bundles() {
    let names: Vec<String> = (0..300).map(|host| format!("host {host}")).collect();
    let links: Vec<(&str, &str)> = names
        .iter()
        .enumerate()
        .map(|(host, name)| (name.as_str(), if host == 0 { "leaf 0" } else { "leaf 1" }))
        .chain([("leaf 0", "leaf 1")])
        .collect();
    let tables = network(&[("leaf 0", 0), ("leaf 1", 0)], &links);
    let (fabric, of_row) = Fabric::of(&tables).unwrap();
    let bundles: Vec<_> = fabric.nodes[2..].iter().map(|node| (&*node.name, node.hosts)).collect();
    assert_eq!(bundles, [("host 0", 1), ("299 hosts of leaf 1", 299)]);
    let many: Vec<usize> = fabric.ends.iter().map(|end| end.links).collect();
    assert_eq!(many.iter().sum::<usize>(), 602);
    assert_eq!((many.len(), of_row.len()), (6, 602));
    // In the order of the table: from host 0, to host 0 and to leaf 1, from the bundle, and back.
    assert_eq!(many, [1, 1, 1, 299, 299, 1]);
    assert!(fabric.bundles());
}

#[test]
fn a_network_that_is_too_large_or_was_not_recorded_is_not_played_back() {
    assert_eq!(Recording::of(&clos()), None);
    let names: Vec<String> = (0..10_001).map(|host| format!("host {host}")).collect();
    let links: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "switch")).collect();
    let links = complete(
        Table::new("links", "")
            .text(
                "node",
                "",
                links.iter().flat_map(|(a, b)| [a.to_string(), b.to_string()]).collect(),
            )
            .u64("port", "", (0..20_002).collect())
            .text(
                "peer",
                "",
                links.iter().flat_map(|(a, b)| [b.to_string(), a.to_string()]).collect(),
            ),
    );
    let switches = complete(Table::new("switches", "").text("node", "", texts(&["switch"])).u64(
        "tier",
        "",
        vec![0],
    ));
    let record = complete(Table::new("record", "").u64("recorded_samples", "", vec![1]));
    assert!(!super::too_large(&clos()));
    assert!(
        super::too_large(&[links.clone(), record])
            && !super::too_large(std::slice::from_ref(&links))
    );
    assert_eq!(Fabric::of(&[links, switches]), None);
}

#[test]
fn shares_are_of_the_time_since_the_sample_before() {
    // A warm-up of 4 us, then a sample every microsecond.
    let rows = [
        (4_000.0, "host 0", 0, 1_000.0, 0.0, 0),
        (5_000.0, "host 0", 0, 1_000.0, 0.0, 0),
        (5_000.0, "leaf 0", 2, 0.0, 250.0, 6_400),
    ];
    let recording = Recording::of(&with_record(clos(), (3, 4_000.0, 1_000.0), &rows)).unwrap();
    assert_eq!((recording.samples, recording.every), (3, 1));
    assert_eq!([0, 2].map(|sample| recording.time_ns(sample)), [4_000.0, 6_000.0]);
    let at = |sample, node, port| recording.cell(sample, end(&recording.fabric, node, port));
    assert_eq!([0, 1, 2].map(|sample| at(sample, "host 0", 0).busy), [50, 200, 0]);
    let up = at(1, "leaf 0", 2);
    assert_eq!((up.busy, up.paused), (0, 50));
    // 6400 bytes are 100 times the smallest: 6.64 doublings.
    assert_eq!(up.depth, 54);
    let total = Total { paused: 1, roots: 0, backlog: 6_400, paused_shares: 0.25 };
    assert_eq!(recording.totals, [Total::default(), total, Total::default()]);
    assert_eq!(recording.worst(), (1, (0.25, 6_400)));
}

#[test]
fn of_too_many_samples_every_second_is_played_back_and_has_what_was_between() {
    let node = |number: u64| (1_000.0 * number as f64, "leaf 0", 2, 300.0, 100.0, 64 * number);
    let rows: Vec<Row> = (0..250).map(node).collect();
    let recording = Recording::of(&with_record(clos(), (250, 0.0, 1_000.0), &rows)).unwrap();
    assert_eq!((recording.samples, recording.every, recording.interval_ns), (125, 2, 2_000.0));
    let up = end(&recording.fabric, "leaf 0", 2);
    let cells: Vec<Cell> = (0..125).map(|sample| recording.cell(sample, up)).collect();
    // The first sample has no time; number 248 has 600 of 2000 ns, and its own backlog.
    assert_eq!((cells[0].busy, cells[124].busy, cells[124].paused), (0, 60, 20));
    assert_eq!(recording.totals[124].backlog, 64 * 248);
}

#[test]
fn pauses_spread_from_where_most_waits_and_may_send() {
    // Host 0 is sent too much: leaf 0 pauses the spine, which pauses leaf 1, which pauses host 3.
    let rows = [
        (1_000.0, "leaf 0", 0, 1_000.0, 0.0, 500_000),
        (1_000.0, "leaf 0", 1, 500.0, 0.0, 2_000),
        (1_000.0, "spine 0", 0, 100.0, 750.0, 400_000),
        (1_000.0, "spine 0", 1, 900.0, 0.0, 3_000),
        (1_000.0, "leaf 1", 2, 100.0, 500.0, 300_000),
        (1_000.0, "host 3", 0, 100.0, 250.0, 0),
        // It waits there too, but leaf 1 pauses nobody because of it.
        (1_000.0, "leaf 1", 0, 100.0, 0.0, 1_000),
    ];
    let recording = Recording::of(&with_record(clos(), (2, 0.0, 1_000.0), &rows)).unwrap();
    let roots: Vec<(&str, u64)> = (0..recording.fabric.ends.len())
        .filter(|&end| recording.cell(1, end).is_root())
        .map(|end| &recording.fabric.ends[end])
        .map(|end| (recording.fabric.nodes[end.node].name.as_str(), end.port))
        .collect();
    assert_eq!(roots, [("leaf 0", 0)]);
    assert_eq!((recording.totals[1].roots, recording.totals[1].paused), (1, 3));
    assert_eq!(recording.worst(), (1, (1.5, 1_206_000)));
}

#[test]
fn bytes_stand_kind_by_kind_and_port_by_port() {
    let rows = [
        (1_000.0, "host 0", 0, 500.0, 0.0, 0),
        (1_000.0, "leaf 1", 2, 0.0, 1_000.0, 64),
        (2_000.0, "leaf 1", 2, 1_000.0, 0.0, 128),
    ];
    let recording = Recording::of(&with_record(clos(), (3, 0.0, 1_000.0), &rows)).unwrap();
    let (bytes, ends) = (recording.bytes(), recording.fabric.ends.len());
    assert_eq!((ends, bytes.len()), (12, 4 * 12 * 3));
    for kind in 0..4 {
        for end in 0..ends {
            for sample in 0..3 {
                let cell = recording.cell(sample, end);
                let byte = [cell.busy, cell.depth, cell.paused, cell.held][kind];
                assert_eq!(bytes[(kind * ends + end) * 3 + sample], byte);
            }
        }
    }
    let some: Vec<_> = bytes.iter().copied().filter(|&byte| byte > 0).collect();
    // Busy: host 0, then leaf 1 at the last sample; depths; then the pause.
    assert_eq!(some, [100, 200, 1, 9, 200]);
}
