mod kernels;

use super::*;
use floodway_scenario::Overrides;

/// A link of 40 Mb/s between two pairs of hosts, without overhead on the wire, and packets of 1430 bytes in frames of 1500.
const BASE: &str = r#"
name = "steered"
arrivals = "20s"
limit = "20001ms"
wire_overhead = "0B"
topology.dumbbell = { left = 4, right = 4, host_rate = "1Gbps", host_delay = "1ms", bottleneck_rate = "40Mbps", bottleneck_delay = "1.831ms" }
[switch.queue]
size = "400KB"
[host.transport.tcp]
mss = "1430B"
[[workload]]
[workload.long_flows]
count = 1
from = "0-1"
to = "4-5"
[workload.congestion.cubic]
[[workload]]
name = "scalable"
[workload.long_flows]
count = 0
from = "2-3"
to = "6-7"
[workload.congestion.dctcp]
[variants.tail]
[variants.dualq.switch]
queue.count = 2
classify.ecn.low_latency = "ecn_capable"
scheduler = "strict"
aqm = "dualq"
"#;

const CHOICE: Choice = Choice {
    variant: None,
    replication: 0,
    end: Some(Duration::from_ms(20_000)),
    threads: 1,
    audit: false,
};

fn scenario(more: &str) -> Scenario {
    Scenario::parse(&format!("{BASE}{more}"), "steered.toml", &Overrides::default())
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn open(more: &str) -> Live {
    Live::open(&scenario(more), &CHOICE, None).unwrap_or_else(|error| panic!("{error}"))
}

fn flows(kind: &str, count: u32) -> Action {
    Action::Flows { kind: kind.to_owned(), count }
}

fn management(name: &str) -> Action {
    Action::Management(name.to_owned())
}

/// Advances by so many steps of 100 ms, and gives the samples of the bottleneck, the first port of the first switch that goes to
/// another switch.
fn steps(live: &mut Live, count: usize) -> Vec<Sample> {
    let port = live.ports().position(|name| !name.contains("host")).unwrap();
    (0..count).map(|_| live.advance(Duration::from_ms(100), port).unwrap()).collect()
}

/// Cubic alone fills a link of 40 Mb/s: 1430 of 1500 bytes are payload. Behind drop-tail it waits up to the time of the
/// whole queue, 400 KB at 40 Mb/s, which are 80 ms.
#[test]
fn a_flow_fills_the_link() {
    let mut live = open("");
    steps(&mut live, 30);
    assert!(!live.ports().nth(live.busiest().unwrap()).unwrap().contains("host"));
    for sample in steps(&mut live, 20) {
        assert_eq!(sample.flows[0].rates_mbps.len(), 1);
        assert!(sample.flows[1].rates_mbps.is_empty());
        // A frame of 0.3 ms more or less in 100 ms.
        assert!((sample.utilization - 1.0).abs() < 0.004, "{sample:?}");
        assert!((sample.flows[0].rates_mbps[0] - 40.0 * 1430.0 / 1500.0).abs() < 0.2, "{sample:?}");
        let (mean, p99) = (sample.queues[0].mean_ms.unwrap(), sample.queues[0].p99_ms.unwrap());
        assert!(mean > 20.0 && mean <= p99 && p99 < 80.1 * 1.016, "{sample:?}");
        assert_eq!(sample.queues[1].mean_ms, None);
    }
}

/// With DCTCP beside it, both in the queues of the deck: DCTCP waits less than a millisecond, and Cubic does not.
#[test]
fn queues_are_separate_once_they_are_switched() {
    let mut live = open("");
    live.act(&flows("scalable", 2)).unwrap();
    steps(&mut live, 30);
    live.act(&management("dualq")).unwrap();
    assert_eq!(live.managements()[live.management()].aqm, "dualq");
    steps(&mut live, 40);
    for sample in steps(&mut live, 20) {
        let [low, classic] = [0, 1].map(|queue| sample.queues[queue].mean_ms.unwrap());
        assert!(low < 1.0 && classic > 3.0, "{sample:?}");
        assert_eq!((sample.flows[0].rates_mbps.len(), sample.flows[1].rates_mbps.len()), (1, 2));
    }
    // All flows stop: after what is in flight, nothing comes.
    live.act(&flows("cubic", 0)).unwrap();
    live.act(&flows("scalable", 0)).unwrap();
    steps(&mut live, 10);
    let last = steps(&mut live, 1).remove(0);
    assert_eq!((last.utilization, last.queues[0].backlog_bytes), (0.0, 0));
    assert_eq!(live.busiest(), None);
    let Closed { outcome, log, .. } = live.close();
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(log.entries.len(), 4);
}

/// A run is repeated from its log, on any number of threads, and the log from its text.
#[test]
fn a_run_is_repeated_from_its_log() {
    let mut live = open("");
    steps(&mut live, 5);
    live.act(&flows("scalable", 3)).unwrap();
    live.act(&flows("cubic", 2)).unwrap();
    steps(&mut live, 7);
    live.act(&management("dualq")).unwrap();
    steps(&mut live, 3);
    live.act(&flows("scalable", 1)).unwrap();
    live.advance(Duration::from_ms(33), 0).unwrap();
    let Closed { outcome, log, .. } = live.close();
    let text = log.text();
    let read = Log::parse(&text).unwrap();
    assert_eq!(read, log);
    assert_eq!(
        text.lines().nth(1),
        Some(r#"{"at_ns":500000000,"action":{"flows":{"kind":"scalable","count":3}}}"#)
    );
    assert_eq!(
        text.lines().nth(3),
        Some(r#"{"at_ns":1200000000,"action":{"management":"dualq"}}"#)
    );
    for threads in [1, 3] {
        let again = Live::open(&scenario(""), &Choice { threads, ..CHOICE }, None).unwrap();
        let again = again.replay(&read, |_| true).unwrap().unwrap();
        assert_eq!(again.outcome.fingerprint, outcome.fingerprint);
    }
    // One flow more or less is another run.
    let mut other = read.clone();
    other.entries[1].action = flows("cubic", 1);
    let other = open("").replay(&other, |_| true).unwrap().unwrap();
    assert_ne!(other.outcome.fingerprint, outcome.fingerprint);
    assert!(open("").replay(&read, |_| false).unwrap().is_none());
}

/// A second data queue that nothing uses changes no time: a run of one queue is the same with two.
#[test]
fn an_unused_queue_changes_nothing() {
    let tables = |of: &str| {
        let text = BASE.split("[variants.tail]").next().unwrap();
        let scenario = Scenario::parse(&format!("{text}{of}"), "a.toml", &Overrides::default());
        let mut live = Live::open(&scenario.unwrap(), &CHOICE, None).unwrap();
        live.act(&flows("scalable", 1)).unwrap();
        steps(&mut live, 20);
        let outcome = live.close().outcome;
        let flows = outcome.table("flows");
        (flows.u64s("delivered_bytes").to_vec(), flows.u64s("packets_sent").to_vec())
    };
    let pie = "[variants.pie.switch.aqm.pie]\n";
    let dual = "[variants.b.switch]\nqueue.count = 2\nclassify.ecn.low_latency = \"ecn_capable\"\nscheduler = \"strict\"\naqm = \"dualq\"\n";
    assert_eq!(tables(pie), tables(&format!("{pie}{dual}")));
}

#[test]
fn what_is_impossible_is_refused() {
    let mut live = open(concat!(
        "[variants.slow]\ntopology.dumbbell.bottleneck_delay = \"2ms\"\n",
        "[variants.reno.host.congestion.reno]\n",
        "[variants.more.switch.queue]\ncount = 3\n",
        "[variants.small.switch.queue]\nsize = \"30KB\"\n",
    ));
    let mut says = |action: &Action| live.act(action).unwrap_err().to_string();
    assert_eq!(
        says(&flows("cubik", 1)),
        "there are no flows of kind `cubik`: did you mean `cubic`? The kinds of flows are: cubic, scalable"
    );
    assert_eq!(
        says(&flows("cubic", 201)),
        "201 flows of kind `cubic` are too many: at most 200 are possible"
    );
    assert_eq!(
        says(&management("dualk")),
        "there is no variant `dualk`: did you mean `dualq`? The variants are: tail, dualq, slow, reno, more, small"
    );
    assert_eq!(
        says(&management("small")),
        "switches cannot be those of `small`: switches differ in more than `aqm`, `classify` and `scheduler`: let all \
         other parameters be the same"
    );
    assert_eq!(
        says(&management("slow")),
        "switches cannot be those of `slow`: its links differ, and only queue management can change"
    );
    assert_eq!(
        says(&management("dualq")),
        "switches cannot be those of `dualq`: it has 2 data queues, and others have 3"
    );
    assert!(live.log().entries.is_empty());
    // The last millisecond.
    let end = live.end();
    live.session.advance(Instant(end.0 - 1_000_000)).unwrap();
    assert_eq!(
        live.act(&flows("cubic", 5)).unwrap_err().to_string(),
        "the run ends at 20s: start it again with a later `--until`"
    );
    let text = BASE
        .replace("[workload.long_flows]\ncount", "[workload.saturated]\nbytes = \"1MB\"\ncount");
    let none = text.split("[[workload]]").next().unwrap().to_owned()
        + "[[workload]]\npermutation.bytes = \"1KB\"\n[variants.a]\n";
    let scenario = Scenario::parse(&none, "a.toml", &Overrides::default()).unwrap();
    assert_eq!(
        Live::open(&scenario, &CHOICE, None).unwrap_err().to_string(),
        "no workload of variant `a` has long-lived flows that could come and go: add a [[workload]] with \
         [workload.long_flows], without an application, or `long_flows` in [workload.linux]"
    );
}

#[test]
fn a_damaged_log_is_refused_with_its_line() {
    let log = open("").log().text();
    let says = |more: &str| Log::parse(&format!("{log}{more}")).unwrap_err().to_string();
    assert_eq!(
        Log::parse("").unwrap_err().to_string(),
        "line 1: the log is empty: it begins with a line about the run"
    );
    assert!(
        Log::parse("{\"scenario\": 3}")
            .unwrap_err()
            .to_string()
            .starts_with("line 1: invalid type: integer `3`")
    );
    assert_eq!(
        says("{\"at_ns\":5,\"end\":null}\n{\"at_ns\":6,\"end\":null}\n"),
        "line 3: the run has ended before: remove this line, or the one with `end`"
    );
    assert_eq!(
        says("{\"at_ns\":5,\"action\":{\"management\":\"a\"}}\n{\"at_ns\":4,\"end\":null}\n"),
        "line 3: 4 ns is before the line above: times must ascend"
    );
    assert_eq!(says("{\"at_ns\":5}\n"), "line 2: expected either `action` or `end`");
    assert_eq!(
        says("{\"at_ns\":5,\"end\":\"x\"}\n"),
        "line 2: `x` is no fingerprint: expected 16 hexadecimal digits"
    );
    assert_eq!(
        says("{\"at_ns\":18446744073709551615,\"end\":null}\n"),
        "line 2: 18446744073709551615 ns is before the line above: times must ascend"
    );
    assert!(
        says("{\"at_ns\":5,\"action\":{\"reboot\":1}}\n")
            .starts_with("line 2: unknown variant `reboot`")
    );
    let read = Log::parse(&log).unwrap();
    let error = open("").replay(&read, |_| true).unwrap_err().to_string();
    assert!(error.starts_with("the log has no end"), "{error}");
    let mut other = read.clone();
    other.head.key = "0".to_owned();
    assert_eq!(
        open("").replay(&other, |_| true).unwrap_err().to_string(),
        "the log is of another version of the scenario or of floodway, with other results: use the same scenario, \
         settings, `--until` and program"
    );
    other.head.variant = "dualq".to_owned();
    assert_eq!(
        open("").replay(&other, |_| true).unwrap_err().to_string(),
        "the log is of variant `dualq`, and this is `tail`: choose the same variant"
    );
}
