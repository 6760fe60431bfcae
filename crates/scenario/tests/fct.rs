//! Completion files of the HPCC authors' simulator, by arithmetic on paper.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use floodway_model::{Duration, Table};
use floodway_scenario::fct::{self, Completed, Completion, Flow, compare, of_run, read, text};
use floodway_scenario::import::hpcc;
use floodway_scenario::{Overrides, Scenario, Source};
use floodway_sim::{Simulation, Spec};

const CONFIG: &str = include_str!("fct/config.txt");
const TOPOLOGY: &str = include_str!("fct/topology.txt");

/// Alone on the network, one after the other: 1000 B, 5000 B, 1000 B the other way.
const FLOWS: &str = "3\n0 1 3 100 1000 2\n0 1 3 200 5000 2.0001\n1 0 3 100 1000 2.0002\n";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The experiment, imported and run: scenario, simulation and the table of flows.
fn run(name: &str) -> (Scenario, Spec, Table) {
    let folder = folder(name);
    for (name, text) in [("config.txt", CONFIG), ("topology.txt", TOPOLOGY), ("flow.txt", FLOWS)] {
        fs::write(folder.join(name), text).unwrap();
    }
    let imported = hpcc::import(&folder.join("config.txt"), name);
    let imported = imported.unwrap_or_else(|error| panic!("{}", error.plain()));
    let path = folder.join("scenario.toml");
    fs::write(&path, imported.scenario).unwrap();
    let scenario = Scenario::load(&path, &Overrides::default()).unwrap();
    let spec = scenario.build(&scenario.variants()[0], 0);
    let outcome = Simulation::new(spec.clone()).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let table = outcome.table("flows").clone();
    (scenario, spec, table)
}

fn flows(name: &str, completed: Completed) -> Vec<Flow> {
    let (scenario, spec, table) = run(name);
    of_run((&scenario, &scenario.variants()[0]), &spec, &table, completed).unwrap()
}

fn lines(flows: &[Flow]) -> String {
    text(&flows.iter().filter_map(Flow::completion).collect::<Vec<_>>())
}

/// A packet of 1000 B is a frame of 1048 B and takes 83.84 ns on a link of 100 Gb/s, an
/// acknowledgement of 60 B 4.8 ns; a link has 1000 ns of delay.
///
/// - One packet: twice 1083.84 ns there, twice 1004.8 ns back, 4177.28 ns. Alone by the formula:
///   four delays, two payloads of 80 ns, and 1048 B at 100 Gb/s, which are 83 whole nanoseconds.
/// - Five packets: the last one leaves after 419.2 ns, and 4 · 83.84 ns later than one packet is
///   acknowledged: 4512.64 ns. Alone: 4160 ns and 5240 B, which take 419.2 ns.
#[test]
fn the_file_of_a_run_by_hand() {
    let expected = "\
0b000001 0b000101 10000 100 1000 2000000000 4177 4243
0b000001 0b000101 10001 200 5000 2000100000 4512 4579
0b000101 0b000001 10000 100 1000 2000200000 4177 4243
";
    assert_eq!(lines(&flows("fct-by-hand", Completed::Acked)), expected);
    // At the receiver it ends with the last byte: 2167.68 and 2503.04 ns.
    let expected = "\
0b000001 0b000101 10000 100 1000 2000000000 2167 4243
0b000001 0b000101 10001 200 5000 2000100000 2503 4579
0b000101 0b000001 10000 100 1000 2000200000 2167 4243
";
    assert_eq!(lines(&flows("fct-received", Completed::Received)), expected);
}

#[test]
fn a_run_is_equal_to_its_own_file() {
    let flows = flows("fct-equal", Completed::Acked);
    let file = read(&source(&lines(&flows))).unwrap();
    let found = compare(&flows, &file, Duration::ZERO);
    assert_eq!((found.pairs.len(), found.equal(), found.within(0.01)), (3, 3, 3));
    assert!(found.unfinished.is_empty() && found.only_in_run.is_empty());
    assert!(found.only_in_file.is_empty());
}

#[test]
fn a_table_of_other_flows_is_refused() {
    let (scenario, mut spec, table) = run("fct-other");
    spec.flows[1].bytes += 1;
    let unfit = of_run((&scenario, &scenario.variants()[0]), &spec, &table, Completed::Acked);
    assert_eq!(
        unfit.unwrap_err().to_string(),
        "flow 1 of the results is no flow of the scenario as it is now; run it again, or name the \
         scenario that was run with --scenario"
    );
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("fct.txt", text.to_owned()))
}

/// Two lines as the simulator writes them: of node 300 and of node 3.
#[test]
fn addresses_are_those_of_nodes() {
    let text = "0b012c01 0b000301 10000 100 70000 2000001512 12345 11111\n\
                0b000301 0b012c01 10007 200 1 2000000000 4200 4177\n";
    let read = read(&source(text)).unwrap();
    let nodes: Vec<_> = read.iter().map(|line| (line.src, line.dst)).collect();
    assert_eq!(nodes, [(300, 3), (3, 300)]);
    assert_eq!(fct::text(&read), text);
    // Nothing has completed.
    assert_eq!(fct::read(&source("")).unwrap(), []);
    assert_eq!(fct::read(&source("\n")).unwrap(), []);
}

#[test]
fn what_is_wrong_with_a_file() {
    let wrong = |text: &str| {
        let problem = read(&source(text)).unwrap_err();
        let at = problem.place.position().map_or(String::new(), |at| {
            format!("{}:{} {}: ", at.line, at.column, problem.place.word())
        });
        format!("{at}{}", problem.message)
    };
    let good = "0b000001 0b000101 10000 100 1000 2000000000 4177 4243\n";
    assert_eq!(
        wrong(&format!("{good}0b000001 0b000101 10000 100 1000\n")),
        "2:1 0b000001 0b000101 10000 100 1000: a completion has 8 numbers, and the line has 5"
    );
    assert_eq!(
        wrong(&good.replace("0b000001", "1")),
        "1:1 1: the source is `1`, not the address of a node"
    );
    // What no node has: another last octet.
    assert_eq!(
        wrong(&good.replace("0b000101", "0b000102")),
        "1:10 0b000102: the destination is `0b000102`, not the address of a node"
    );
    assert_eq!(
        wrong(&good.replace("4177", "4177.5")),
        "1:45 4177.5: the completion time is `4177.5`, not a whole number"
    );
    assert_eq!(wrong(&good.replace("4177", "0")), "1:45 0: the completion time is 0");
    assert_eq!(
        wrong(&good.replace("4177", "18446744073709551615")),
        "1:45 18446744073709551615: the end of the flow is beyond 2^64 ns"
    );
    assert_eq!(wrong(&format!("{good}{}", good.trim_end())).split(": ").last().unwrap(), {
        "the last line has no end, so it may have been cut"
    });
}

fn flow(number: u64, src: u32, start_ps: u64, fct_ns: Option<f64>) -> Flow {
    let (src_port, dst_port, bytes, standalone_ns) = (10_000, 100, 1_000, 4_243);
    Flow { number, src, dst: 9, src_port, dst_port, bytes, start_ps, fct_ns, standalone_ns }
}

fn line(src: u32, start_ns: u64, fct_ns: u64) -> Completion {
    let (src_port, dst_port, bytes, standalone_ns) = (10_000, 100, 1_000, 4_243);
    Completion { src, dst: 9, src_port, dst_port, bytes, start_ns, fct_ns, standalone_ns }
}

#[test]
fn flows_are_found_by_hosts_bytes_and_start() {
    let run = [
        // Its clock is finer: the file has cut 0.9 ns off.
        flow(0, 1, 5_900, Some(1_000.0)),
        // Of one pair of hosts, the second before the first in the file.
        flow(1, 2, 10_000, Some(110.0)),
        flow(2, 2, 20_000, Some(200.0)),
        flow(3, 3, 0, None),
        flow(4, 4, 0, Some(7.0)),
        // Too far from 30 ns.
        flow(5, 5, 32_001, Some(9.0)),
    ];
    let file =
        [line(2, 20, 100), line(1, 5, 1_000), line(2, 10, 100), line(3, 0, 50), line(5, 30, 9)];
    let found = compare(&run, &file, Duration::from_ns(1));
    let pairs: Vec<_> = found.pairs.iter().map(|pair| (pair.run.number, pair.ratio)).collect();
    assert_eq!(pairs, [(0, 1.0), (1, 1.1), (2, 2.0)]);
    assert_eq!((found.equal(), found.within(0.01), found.within(0.1001)), (1, 1, 2));
    assert_eq!((found.median(), found.quantile(0.01), found.quantile(0.99)), {
        (Some(1.1), Some(1.0), Some(2.0))
    });
    let farthest: Vec<_> = found.farthest(2).iter().map(|pair| pair.run.number).collect();
    assert_eq!(farthest, [2, 1]);
    assert_eq!(found.unfinished, [(run[3], file[3])]);
    assert_eq!(found.only_in_run, [run[4], run[5]]);
    assert_eq!(found.only_in_file, [file[4]]);
    // With more room it is the same flow.
    let found = compare(&run, &file, Duration::from_ns(3));
    assert_eq!((found.pairs.len(), found.only_in_file.len()), (4, 0));
}
