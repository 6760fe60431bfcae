//! The scenarios that `bench/peers` compares with ns-3 are the work that they are said to be.

use crate::common::{json, place, word};

/// What comes out of a scenario of `scenarios/peers`: packet-hops, and counters by name.
fn run(name: &str) -> (u64, impl Fn(&str) -> u64) {
    let (file, out) = (format!("../../../../scenarios/peers/{name}.toml"), place(name));
    let summary = json(&["run", &file, "--threads", "1", "--json", "--out", word(&out)]);
    assert_eq!(summary["violations"], serde_json::json!([]));
    let counters = summary["variants"]["base"]["counters"].clone();
    let counter = move |name: &str| counters[name]["mean"].as_f64().expect(name) as u64;
    (summary["hops"].as_u64().unwrap(), counter)
}

#[test]
fn case_f_is_as_many_packets_and_hops_as_in_ns_3() {
    let (hops, counter) = run("case-f");
    // 128 hosts send at 0 and every 165 ns up to 999.9 us: 6061 packets each.
    assert_eq!(counter("data_packets_sent"), 128 * 6_061);
    assert_eq!((counter("dropped_packets"), counter("marked_packets")), (0, 0));
    // Four hops each, but for those that are still on their way. A hop takes 200 ns and the packet's
    // time, 83.7 ns at 100 Gb/s and 41.8 at 200, so the four begin after 0, 284, 526 and 767 ns, or
    // up to 42 ns later behind another packet at the uplink. Of the last packets, sent 100, 265, 430,
    // 595 and 760 ns before the end, 3, 3, 2, 1 and 1 hops are missing. ns-3 counts the same.
    assert_eq!(hops, 128 * (4 * 6_061 - (3 + 3 + 2 + 1 + 1)));
}

#[test]
fn the_flows_of_dctcp_are_those_of_the_file() {
    let (hops, counter) = run("dctcp");
    // Data over at most four links, and at least an acknowledgement for every second segment.
    let data = counter("data_packets_sent");
    assert!((2 * data..=8 * data).contains(&hops), "{hops} {data}");
    // Of senders that have 436 flows for a millisecond, about as much as in ns-3: 340.8 MB, 33,725
    // marks and no repetition. Segments are 1.5 % longer here, and the loss of an acknowledgement
    // slows no flow down.
    let (delivered, marks) = (counter("data_bytes_delivered"), counter("marked_packets"));
    assert!((307_000_000..375_000_000).contains(&delivered), "{delivered}");
    assert!((17_000..67_000).contains(&marks), "{marks}");
    assert_eq!((counter("timeouts"), counter("retransmitted_packets")), (0, 0));
}
