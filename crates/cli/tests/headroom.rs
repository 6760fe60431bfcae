//! `floodway headroom`: sums, searches for the worst case, and tables of switch models.

use std::fs;

use serde_json::Value;

use crate::common::{floodway, json, place, word};

/// 100 Gb/s, 40 m: on the wire 9236 ahead of the pause frame of 84, 2 * 2500 on the cable and 25,216
/// of response (394 quanta of 64 bytes) are 39,536 bytes, in which 470 frames of 84 end; and the
/// longest frame takes 22 cells, twice.
const TOTAL: u64 = (470 + 44) * 420;

#[test]
fn a_headroom_is_the_sum_of_its_parts() {
    let found = json(&["headroom", "--cell", "420", "--classes", "1", "--json"]);
    let sum = &found[0]["sum"];
    assert_eq!((TOTAL, &sum["total"]), (215_880, &Value::from("215.88KB")));
    let said = floodway(&["headroom", "--cell", "420", "--classes", "1"]).out;
    let response = said.lines().find(|line| line.contains("the neighbor's response")).unwrap();
    let cells: Vec<&str> = response.split_whitespace().rev().take(3).collect();
    assert_eq!(cells, ["126,080", "25,216", "2017.28ns"]);
    let together = said.lines().find(|line| line.contains("together")).unwrap();
    assert!(together.ends_with("215,880"), "{together}");
    // 39,536 bytes are 470.67 frames, and the parts, each rounded, 280 bytes more than 470.
    let rows = said.lines().skip(3).take_while(|line| !line.contains("together"));
    let last = rows.filter_map(|row| row.split_whitespace().last()?.replace(',', "").parse().ok());
    let parts: Vec<i64> = last.collect();
    assert_eq!((parts.iter().sum::<i64>(), parts.last()), (215_880, Some(&-280)), "{said}");
}

/// 905 quanta of 64 bytes at this end are 57,920 bytes more on the wire: 375,160, in which 4,466 frames of 84 end. The parts
/// are 192, 625 and 88 quanta.
#[test]
fn mac_and_phy_of_this_end_are_terms() {
    let link =
        ["headroom", "--rate", "400Gbps", "--cable", "500m", "--cell", "420", "--classes", "1"];
    let said = floodway(&[&link[..], &["--phy", "standard"]].concat()).out;
    for (part, bytes) in [("MAC and MAC", "12,288"), ("PCS and", "40,000"), ("PMA and", "5,632")] {
        let row = said.lines().find(|line| line.trim_start().starts_with(part)).unwrap();
        assert!(row.contains(bytes), "{row}");
    }
    let together = said.lines().find(|line| line.contains("together")).unwrap();
    assert!(together.ends_with("1,894,200"), "{together}");
    assert_eq!((4_466 + 44) * 420, 1_894_200);
    let source = "assumed (delay constraints of IEEE 802.3 clause 116.4, 625 quanta, recalled).";
    assert!(said.contains(source), "{said}");
    // A gearbox of 84 bytes is one frame more, and a time takes the place of the bounds.
    let options = ["--phy", "1158.4ns", "--gearbox", "1.68ns", "--json"];
    let found = json(&[&link[..], &options].concat());
    assert_eq!(found[0]["sum"]["total"], "1894.62KB");
}

/// 6.1 us at 400 Gb/s are 305,000 bytes; with 9,236 and 84 they are 314,320, in which 3,741 frames end.
#[test]
fn a_measured_delay_takes_the_place_of_what_it_contains() {
    let link =
        ["headroom", "--rate", "400Gbps", "--cable", "500m", "--cell", "420", "--classes", "1"];
    let said = floodway(&[&link[..], &["--measured-delay", "6.1us"]].concat()).out;
    let together = said.lines().find(|line| line.contains("together")).unwrap();
    assert!(together.ends_with("1,589,700"), "{together}");
    assert_eq!((3_741 + 44) * 420, 1_589_700);
    assert!(said.contains("Without the measurement it is 1,894,200 bytes"), "{said}");
    assert!(said.contains("is 304,500 bytes, or 16.1 %, less."), "{said}");
    assert!(!said.contains("the cable, back"), "{said}");
    let long = floodway(&[&link[..], &["--measured-delay", "9us"]].concat()).out;
    assert!(long.contains("more: the cable is longer, or a delay is not within these bounds"));
}

#[test]
fn rates_and_cables_make_a_table() {
    let said = floodway(&["headroom", "--rate", "100Gbps,400Gbps", "--cable", "40m,500m"]).out;
    let rows: Vec<Vec<&str>> =
        (said.lines().skip(2).take(3)).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["40m", "500m"]);
    assert_eq!([rows[1][0], rows[2][0]], ["100Gbps", "400Gbps"]);
}

/// The worst case that is found is below the bound, and within a longest frame of it. The scenario
/// that is written has it again, and no loss.
#[test]
fn the_bound_is_reached_to_within_a_frame() {
    let folder = place("headroom-search");
    fs::create_dir_all(&folder).unwrap();
    for (cell, largest) in [("420", 9_240u64), ("144", 9_216), ("1", 9_216)] {
        let file = folder.join(format!("worst-{cell}.toml"));
        let search =
            ["headroom", "--classes", "1", "--search", "--save", word(&file), "--cell", cell];
        let found = json(&[&search[..], &["--json"]].concat());
        let bytes = |value: &Value| {
            let text = value.as_str().unwrap();
            let (number, factor) = match text.strip_suffix("KB") {
                Some(number) => (number, 1e3),
                None => (text.strip_suffix('B').unwrap(), 1.0),
            };
            (number.parse::<f64>().unwrap() * factor).round() as u64
        };
        let (worst, bound) = (bytes(&found["found"]), bytes(&found["sum"]["total"]));
        assert!(worst <= bound && bound < worst + largest, "{cell}: {worst} of {bound}");

        let out = folder.join(format!("results-{cell}"));
        let run = ["run", word(&file), "--format", "csv", "--out", word(&out), "--quiet"];
        let said = floodway(&run);
        assert_eq!(said.code, Some(0), "{}", said.err);
        let queues = fs::read_to_string(out.join("runs/base/0/queues.csv")).unwrap();
        let head: Vec<&str> = queues.lines().next().unwrap().split(',').collect();
        let column = |name: &str| head.iter().position(|of| *of == name).unwrap();
        let rows: Vec<Vec<&str>> =
            queues.lines().skip(1).map(|row| row.split(',').collect()).collect();
        let to_sink =
            rows.iter().find(|row| (row[column("port")], row[column("queue")]) == ("2", "0"));
        let backlog: u64 = to_sink.unwrap()[column("max_backlog_bytes")].parse().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let xoff = text.lines().find_map(|line| line.strip_prefix("xoff = \"")).unwrap();
        let xoff: u64 = xoff.strip_suffix("B\"").unwrap().parse().unwrap();
        assert_eq!(backlog - xoff, worst, "{cell}");
    }
    // What is there already is not replaced.
    let taken = folder.join("worst-1.toml");
    let again = floodway(&["headroom", "--classes", "1", "--search", "--save", word(&taken)]);
    assert_eq!(again.code, Some(2));
    assert!(
        again.err.contains("is there already: remove it, or name another file"),
        "{}",
        again.err
    );
}

/// A table in the form of real ones: see the tests of its reading.
#[test]
fn a_table_is_explained_line_by_line() {
    let folder = place("headroom-table");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("pg_profile_lookup.ini");
    let lines = "# speed cable size xon xoff threshold xon_offset\n\
                 100000 42m 600 0 32600 0 400\n100000 84m 600 0 45000 0 400\n\
                 100000 168m 600 0 70000 0 400\n400000 84m 600 0 160000 0 400\n\
                 400000 168m 600 0 260000 0 400\n400000 2000m 600 0 900000 0 400\n";
    fs::write(&file, lines).unwrap();
    let said = floodway(&["headroom", "--table", word(&file)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for expected in [
        "5 of 6 lines are what this reading gives.",
        "Cells of 200 bytes, each filled by a frame of 64 bytes",
        "100Gbps  100 cells, 20,000 bytes",
        "400Gbps  300 cells, 60,000 bytes",
        "1 line is less than the cable holds",
        "`computed` is for cells of 200 bytes",
        // 100 Gb/s: 9236 ahead, two pauses of 84 and 25,216 are 34,620 bytes, or 412 frames; 47 cells twice. With
        // 25,216 more for this end they are 712. 20,000 bytes of the table are 706 cells fewer, which take 84 bytes each.
        "100Gbps             20,000   101,200       60,000  -141,200    -4744ns",
    ] {
        assert!(said.out.contains(expected), "{expected}: {}", said.out);
    }
    // 2 km hold 1,000,000 bytes at 400 Gb/s.
    let last = said.out.lines().find(|line| line.contains("2000m")).unwrap();
    assert!(last.contains("1,000,000") && last.ends_with("less than the cable holds"), "{last}");
}

#[test]
fn what_cannot_be_computed_is_refused() {
    for (words, expected) in [
        (
            &["--smallest-frame", "1500", "--largest-frame", "1000"][..],
            "is longer than the longest (1000)",
        ),
        (&["--search"], "a search is for one rate, one cable and one class: add --classes 1"),
        (&["--cable", "40"], "expected the length of a cable, up to 100km, like 40m or 2km"),
        (&["--cell", "5000"], "5000 is not in 1..=4096"),
        (&["--phy", "slow"], "expected `none`, `standard` or a time such as 300ns, not `slow`"),
        (&["--phy", "-1ns"], "expected `none`, `standard` or a time such as 300ns, not `-1ns`"),
        (&["--phy", "standard", "--rate", "30Gbps"], "give the time instead of `standard`"),
        (&["--measured-delay", "1us", "--response", "1us"], "cannot be used with"),
        (&["--measured-delay", "2s"], "the measured round trip is 2s: write at most 1s"),
        (
            &["--measured-delay", "1us", "--cable", "5m,40m"],
            "a measured round trip is that of one link: give one rate and one cable",
        ),
        (&["--save", "x.toml"], "--search"),
        (&["--table", "nothing.ini"], "there is no such file"),
        (&["--table", "x.ini", "--rate", "1Gbps"], "cannot be used with"),
    ] {
        let said = floodway(&[&["headroom"], words].concat());
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.err);
        let err = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(expected), "{words:?}: {err}");
    }
}

/// A star in which the pauses of seven senders need more than a sixteenth of the headroom.
const POOL: &str = r#"
name = "pool"
arrivals = "200us"
limit = "3ms"
[topology.star]
hosts = 8
[switch.buffer.shared]
headroom = "auto"
headroom_pool = "2 * headroom"
[switch.buffer.shared.ingress]
pool = "200KB"
guaranteed = "4KB"
alpha = 0.125
[switch.flow_control.pfc]
measured_on = "ingress_pool"
[host.congestion.line_rate]
[[workload]]
[workload.many_to_many]
sizes = "30KB"
clusters = 1
cluster_size = 8
load = 0.7
"#;

#[test]
fn a_pool_is_more_likely_to_overflow_the_smaller_it_is() {
    let folder = place("headroom-pool");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("pool.toml");
    fs::write(&file, POOL).unwrap();
    let command = ["headroom", "--scenario", word(&file), "--replications", "8"];
    let found = json(&[&command[..], &["--oversubscription", "1,4,64", "--json"]].concat());
    // That of the scenario is first, then one that does not limit, and smaller ones. Eight ports.
    let risks = found["risks"].as_array().unwrap();
    let count = |risk: &Value| risk["replications"]["count"].as_u64().unwrap();
    assert_eq!((risks.len(), count(&risks[1]), count(&risks[3])), (4, 0, 8));
    // 1:4 of eight headrooms is two of them, as in the scenario.
    assert_eq!(risks[0]["smallest_bytes"], risks[2]["smallest_bytes"]);
    assert_eq!(count(&risks[0]), count(&risks[2]));
    let none = &risks[1]["replications"];
    // 1 - 0.05^(1/8)
    assert!((none["high"].as_f64().unwrap() - 0.312_344).abs() < 1e-6, "{none}");
    let said = floodway(&command).out;
    let row = said.lines().find(|line| line.trim_start().starts_with("1:1 ")).unwrap();
    assert!(row.contains("0 of 8") && row.contains("at most 31 %"), "{said}");
    assert_eq!(said, floodway(&[&command[..], &["--threads", "1"]].concat()).out);

    assert!(!said.contains("in the same way"), "{said}");

    // Without anything random, eight replications are one observation.
    let traffic = POOL.find("[workload.many_to_many]").unwrap();
    let incast = "[workload.incast]\nsenders = 7\nbytes = \"300KB\"\n";
    let same = folder.join("same.toml");
    fs::write(&same, POOL[..traffic].to_owned() + incast).unwrap();
    let said = floodway(&["headroom", "--scenario", word(&same), "--replications", "8"]).out;
    assert!(said.contains("All replications used the pool in the same way."), "{said}");

    for (words, why) in [
        (["--pool", "0B"], "a pool of 0B has no room for a frame"),
        (
            ["--save", "x.toml"],
            "the argument '--scenario <FILE>' cannot be used with '--save <FILE>'",
        ),
    ] {
        let refused = floodway(&[&command[..], &words].concat());
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains(why), "{}", refused.err);
    }
    let refused = floodway(&[&command[..], &["--oversubscription", "0.5"]].concat());
    assert!(
        refused.err.contains("oversubscribed 1:0.5: write N from 1 to 1000000"),
        "{}",
        refused.err
    );
}

/// The page, the metrics and the table have the same largest use of the pool.
#[test]
fn the_page_has_the_largest_use_of_the_pool() {
    let folder = place("headroom-page");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("pool.toml");
    fs::write(&file, POOL).unwrap();
    let out = folder.join("results");
    let run = ["run", word(&file), "--format", "csv", "--out", word(&out), "--quiet"];
    assert_eq!(floodway(&run).code, Some(0));
    let table = fs::read_to_string(out.join("runs/base/0/headroom.csv")).unwrap();
    let mut lines = table.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == "max_bytes").unwrap();
    let most: u64 =
        lines.map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).max().unwrap();
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    let found = &summary["variants"]["base"]["counters"]["headroom_pool_max_bytes"];
    assert!(most > 0);
    assert_eq!(found["mean"].as_f64(), Some(most as f64), "{found}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Largest use of a headroom pool"));
}
