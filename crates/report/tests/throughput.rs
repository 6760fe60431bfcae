//! An experiment whose flows have no size: what they get and how long packets wait.

use crate::check::{check, data, same};
use crate::synthetic::{self, Case, ending, manifest, run};
use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::html::page;
use floodway_report::terminal::{Style, table};
use floodway_report::{Experiment, Summary};

const CASE: Case = Case { replications: 2, flows: 0, unfinished: false, drops: false };

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_string()).collect()
}

/// Two flows for a second after a warm-up of one, at these rates in Mb/s, and a queue in which
/// packets wait for so many microseconds.
fn tables(mbps: [u64; 2], wait_us: u64) -> Vec<Table> {
    let bytes = |second: u64| mbps.map(|rate| second * rate * 125_000);
    let counters = [
        ("marked_packets", 40),
        ("dropped_packets", 100 - wait_us / 1_000),
        ("cnps_sent", 0),
        ("warmup_ns", 1_000_000_000),
        ("measured_ns", 1_000_000_000),
    ];
    vec![
        complete(
            Table::new("flows", "")
                .u64("flow", "", vec![0, 1])
                .u64("workload", "", vec![0, 1])
                .u64("bytes", "", vec![0, 0])
                .u64("measured", "", vec![0, 0])
                .f64("start_ns", "", vec![0.0; 2])
                .f64("ideal_fct_ns", "", vec![f64::NAN; 2])
                .f64("fct_ns", "", vec![f64::NAN; 2])
                .f64("slowdown", "", vec![f64::NAN; 2]),
        ),
        complete(
            Table::new("deliveries", "")
                .f64("time_ns", "", vec![1e9, 1e9, 2e9, 2e9])
                .u64("flow", "", vec![0, 1, 0, 1])
                .u64("delivered_bytes", "", [bytes(1), bytes(2)].concat()),
        ),
        complete(
            Table::new("sojourns", "")
                .text("node", "", texts(&["left switch"]))
                .u64("port", "", vec![20])
                .u64("queue", "", vec![0])
                .u64("departures", "", vec![3_000])
                .f64("mean_sojourn_ns", "", vec![wait_us as f64 * 1e3]),
        ),
        complete(
            Table::new("departures", "")
                .text("node", "", texts(&["left switch"; 2]))
                .u64("port", "", vec![20; 2])
                .u64("queue", "", vec![0; 2])
                .text("kind", "", texts(&["sojourn_ns"; 2]))
                .u64("up_to", "", vec![wait_us * 1_000, wait_us * 2_000])
                .u64("departures", "", vec![2_900, 100]),
        ),
        complete(
            Table::new("counters", "")
                .text("name", "", counters.iter().map(|row| row.0.to_string()).collect())
                .u64("value", "", counters.iter().map(|row| row.1).collect())
                .text("meaning", "", vec![String::new(); counters.len()]),
        ),
    ]
}

fn experiment() -> Experiment {
    let mut manifest = manifest(CASE);
    manifest.variants.truncate(2);
    let mut experiment = Experiment::new(&manifest);
    for (variant, mbps, wait) in [(0, [4, 36], 36_000), (1, [20, 20], 1_500)] {
        for replication in 0..2 {
            let tables = tables(mbps, wait + u64::from(replication));
            experiment.add_run(&run(&tables, variant, replication));
        }
    }
    experiment
}

fn summary() -> Summary {
    experiment().summary(&ending())
}

#[test]
fn the_terminal_shows_goodput_and_waiting_instead_of_completion() {
    let text = table(&summary(), Style::default());
    same(&text, "throughput.txt");
    // By hand: from 4 to 20 Mb/s, and from 36 to 1.5 ms.
    assert!(text.contains("+400 %") && text.contains("-95.8"), "{text}");
    assert!(!text.contains("completion time of"), "{text}");
    assert!(!text.contains("CNPs"), "there are none in either variant: {text}");
}

#[test]
fn where_flows_complete_the_answer_is_about_them() {
    let case = Case { replications: 2, flows: 100, ..CASE };
    let summary = synthetic::experiment(case, |_| {}).summary(&ending());
    assert!(summary.answer.iter().all(|sentence| sentence.contains("completion time")));
}

#[test]
fn what_was_not_measured_is_said_once() {
    let caveats = summary().caveats;
    assert_eq!(
        caveats.iter().filter(|caveat| caveat.contains("completion")).count(),
        0,
        "nobody asks"
    );
}

#[test]
fn the_page_has_a_table_of_them() {
    let experiment = experiment();
    let page = page(experiment.manifest(), &experiment.summary(&ending()), &experiment);
    check(&page);
    let heading = "<section id=\"goodput\">";
    let table = page.split_once(heading).unwrap().1.split_once("</table>").unwrap().0;
    for expected in ["4.00 Mb/s", "36.0 Mb/s", "20.0 Mb/s", "1.50 ms", "3.00 ms"] {
        let set = expected.replace(' ', "\u{a0}");
        assert!(table.contains(expected) || table.contains(&set), "{expected} {table}");
    }
    for missing in ["id=\"fct\"", "id=\"slowdown\"", "id=\"fct-distribution\""] {
        assert!(!page.contains(missing), "{missing}");
    }
    // What matters on an access line comes first; the fabric's maps are there for those who ask.
    let place = |id: &str| page.find(&format!("<section id=\"{id}\">")).unwrap();
    assert!(place("latency") < place("goodput") && place("goodput") < place("rates"));
    let folded = "<section id=\"counters\"><details>";
    assert!(page.contains(folded));
    // By hand: in each of two replications 2,900 of 3,000 packets waited 36 ms at most, in the second
    // one 1 us longer, and the others twice as long.
    let data = data(&page);
    let of = |name: &str| &data.iter().find(|(of, _)| *of == name).unwrap().1;
    let lines: Vec<&str> = of("queueing-delay").lines().collect();
    assert_eq!(lines[0], "chart,series,queueing delay [ns],packets [share]");
    assert!(lines[1].starts_with("queue 0,without-ci,36000000,0.4833"), "{}", lines[1]);
    assert!(lines[2].starts_with("queue 0,without-ci,36001000,0.9666"), "{}", lines[2]);
    assert!(lines[4].starts_with("queue 0,without-ci,72002000,1"), "{}", lines[4]);
    let headlines = page.split_once("<table class=\"headlines\">").unwrap().1;
    let headlines = headlines.split_once("</table>").unwrap().0;
    assert!(headlines.contains("<th>queueing delay, queue 0, mean</th>"), "{headlines}");
    assert!(headlines.contains("36.0\u{a0}ms") && headlines.contains("+400\u{a0}%"), "{headlines}");
}

/// Database entries of workload 1, one every 10 ms, of 1250 bytes, that take so many microseconds,
/// with one in the middle that takes ten times as long.
fn with_entries(response_us: u64) -> Vec<Table> {
    let requested: Vec<f64> = (100..200).map(|at| f64::from(at) * 1e7).collect();
    let time = |at: usize| response_us as f64 * if at == 50 { 1e4 } else { 1e3 };
    let completed = requested.iter().enumerate().map(|(at, from)| from + time(at)).collect();
    let mut tables = tables([4, 36], 1_000);
    tables.push(complete(
        Table::new("entries", "")
            .u64("flow", "", vec![1; 100])
            .f64("requested_ns", "", requested.clone())
            .u64("bytes", "", vec![1_250; 100])
            .f64("arrived_ns", "", requested)
            .f64("completed_ns", "", completed)
            .u64("measured", "", vec![1; 100]),
    ));
    tables
}

#[test]
fn response_times_are_shown_with_their_changes_and_over_time() {
    let mut manifest = manifest(CASE);
    manifest.variants.truncate(2);
    let mut experiment = Experiment::new(&manifest);
    for (variant, response) in [(0, 200), (1, 100)] {
        for replication in 0..2 {
            experiment.add_run(&run(&with_entries(response), variant, replication));
        }
    }
    let summary = experiment.summary(&ending());
    let text = table(&summary, Style::default());
    // By hand: the mean of 99 times 200 us and one of 2 ms is 218 us; the largest is 2 ms; 1250
    // bytes every 10 ms are 1 Mb/s.
    for expected in ["workload 1, mean", "218 µs", "2.00 ms", "1.00 Mb/s", "-50 %"] {
        assert!(text.contains(expected), "{expected} {text}");
    }
    assert!(summary.answer.iter().all(|said| said.contains("mean response time of workload 1")));
    let page = page(experiment.manifest(), &summary, &experiment);
    check(&page);
    for chart in ["mean response time", "largest response time", "entries completed"] {
        assert!(page.contains(&format!("{chart} over time, workload 1")), "{chart}");
    }
}

/// Two workloads whose packets took so many nanoseconds, and what they delivered in a second.
fn with_latencies(megabytes: u64, took_ns: [u64; 2]) -> Vec<Table> {
    let mut tables = tables([4, 36], 1_000);
    let counters = tables.pop().unwrap();
    let names = [counters.texts("name"), &texts(&["data_bytes_delivered"])].concat();
    let values = [counters.u64s("value"), &[megabytes * 1_000_000]].concat();
    let count = names.len();
    tables.push(complete(
        Table::new("counters", "").text("name", "", names).u64("value", "", values).text(
            "meaning",
            "",
            vec![String::new(); count],
        ),
    ));
    tables.push(complete(
        Table::new("latencies", "")
            .u64("workload", "", vec![0, 1])
            .u64("up_to_ns", "", took_ns.to_vec())
            .u64("packets", "", vec![30, 10])
            .f64("total_ns", "", vec![30.0 * took_ns[0] as f64, 10.0 * took_ns[1] as f64]),
    ));
    tables
}

#[test]
fn what_is_delivered_and_how_long_packets_take_is_shown_where_it_was_recorded() {
    let mut manifest = manifest(CASE);
    manifest.variants.truncate(2);
    let mut experiment = Experiment::new(&manifest);
    for (variant, megabytes, took) in [(0, 500, [1_000, 5_000]), (1, 1_000, [800, 3_200])] {
        for replication in 0..2 {
            experiment.add_run(&run(&with_latencies(megabytes, took), variant, replication));
        }
    }
    let summary = experiment.summary(&ending());
    let text = table(&summary, Style::default());
    // By hand: twice as much; means of 2 and 1.4 us over all packets.
    for expected in ["4.00 Gb/s", "8.00 Gb/s", "+100 %", "2.00 us", "1.40 us", "-30 %"] {
        assert!(
            text.contains(expected) || text.contains(&expected.replace("us", "µs")),
            "{expected}\n{text}"
        );
    }
    assert!(summary.answer[0].contains("throughput of all flows"), "{:?}", summary.answer);
    assert!(summary.answer[0].contains("mean latency of all packets"), "{:?}", summary.answer);
    let page = page(experiment.manifest(), &summary, &experiment);
    check(&page);
    let heading = "<section id=\"throughput\">";
    let table = page.split_once(heading).unwrap().1.split_once("</table>").unwrap().0;
    assert_eq!(table.matches("99.9th percentile").count(), 3, "all packets and two workloads");
}
