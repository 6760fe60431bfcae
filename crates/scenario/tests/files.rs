//! Networks and flows that scenarios read from files of other tools.

use std::path::{Path, PathBuf};

use floodway_model::{FlowSpec, Instant};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Simulation, Spec};

/// A file beside the scenarios that come with the program.
fn shipped(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox").join(file)
}

fn load(path: &Path) -> Scenario {
    Scenario::load(path, &Overrides::default()).unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn build(scenario: &Scenario) -> Spec {
    scenario.build(&scenario.variants()[0], 0)
}

/// Sender and receiver by name, bytes and nanoseconds of every flow.
fn flows(spec: &Spec) -> Vec<(&str, &str, u64, u64)> {
    let name = |id| spec.graph.node(id).name.as_str();
    let flow = |flow: &FlowSpec| {
        assert_eq!(flow.stop, Instant::NEVER);
        assert!(!flow.in_turn);
        assert_eq!(flow.start.0 % 1_000, 0);
        (name(flow.src), name(flow.dst), flow.bytes, flow.start.0 / 1_000)
    };
    let mut flows: Vec<_> = spec.flows.iter().map(flow).collect();
    flows.sort_by_key(|flow| (flow.3, flow.0));
    flows
}

fn runs_soundly(spec: Spec) {
    let outcome = Simulation::new(spec).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let flows = outcome.tables.iter().find(|table| table.name == "flows").unwrap();
    assert!(flows.f64s("fct_ns").iter().all(|fct| fct.is_finite()));
}

#[test]
fn an_experiment_of_the_hpcc_simulator() {
    let scenario = load(&shipped("hpcc-files.toml"));
    let spec = build(&scenario);
    assert_eq!(spec.graph.hosts().count(), 6);
    let expected = [
        ("host 0", "host 3", 1_000_000, 0),
        ("host 1", "host 3", 1_000_000, 0),
        ("host 2", "host 3", 1_000_000, 10_000),
        ("host 4", "host 0", 64_000, 20_000),
        ("host 5", "host 1", 64_000, 20_000),
        ("host 3", "host 2", 500_000, 50_000),
    ];
    assert_eq!(flows(&spec), expected);
    runs_soundly(spec);
}

#[test]
fn an_experiment_of_htsim() {
    let spec = build(&load(&shipped("htsim-files.toml")));
    assert_eq!((spec.graph.hosts().count(), spec.graph.switches().count()), (16, 6));
    let expected = [
        ("host 12", "host 0", 500_000, 0),
        ("host 4", "host 0", 500_000, 0),
        ("host 8", "host 0", 500_000, 0),
        ("host 5", "host 9", 2_000_000, 1_000),
        ("host 0", "host 15", 64_000, 50_000),
    ];
    assert_eq!(flows(&spec), expected);
    runs_soundly(spec);
}

#[test]
fn a_chain_of_htsim_begins_when_what_it_waits_for_is_there() {
    let scenario = STAR.replace("[topology", "[host]\ntransport = \"ethernet\"\n\n[topology")
        + "[workload.file]\npath = \"chain.cm\"\n";
    let chain = "Nodes 4\nConnections 5\nTriggers 4\n\
                 0->1 id 1 start 1e6 size 3000 recv_done_trigger 1 send_done_trigger 3\n\
                 1->2 id 2 trigger 1 size 700 send_done_trigger 2\n\
                 2->3 id 3 trigger 2 size 1500 recv_done_trigger 4\n\
                 0->3 id 4 trigger 3 size 500 recv_done_trigger 4\n\
                 3->0 id 5 trigger 4 size 100\n\
                 trigger id 1 oneshot\ntrigger id 2 oneshot\ntrigger id 3 oneshot\n\
                 trigger id 4 barrier count 2\n";
    let path = folder("chain", &[("scenario.toml", &scenario), ("chain.cm", chain)]);
    // A frame at 100 Gb/s in picoseconds, and its way over two links of 200 ns.
    let wire = |payload: u64| ((payload + 18).max(64) + 20) * 80;
    let way = |payload: u64| 2 * wire(payload) + 400_000;
    let outcome = Simulation::new(build(&load(&path))).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let flows = outcome.tables.iter().find(|table| table.name == "flows").unwrap();
    let start = |bytes: u64| {
        let place = flows.u64s("bytes").iter().position(|&of| of == bytes).unwrap();
        (flows.f64s("start_ns")[place] * 1e3).round() as u64
    };
    assert_eq!(start(3_000), 1_000_000);
    assert_eq!(start(700), 1_000_000 + wire(1_500) + way(1_500));
    assert_eq!(start(1_500), start(700) + way(700));
    // When the second frame goes to the wire.
    assert_eq!(start(500), 1_000_000 + wire(1_500));
    assert_eq!(start(100), start(1_500) + way(1_500));

    // Jitter is how much later they begin than what they wait for, not than the beginning.
    let scenario = scenario + "jitter = \"3us\"\n";
    let path = folder("chain", &[("scenario.toml", &scenario)]);
    let spec = build(&load(&path));
    assert_eq!(spec.triggers.len(), 5);
    for trigger in &spec.triggers {
        assert_eq!(spec.flows[trigger.begins.index()].start, Instant::ZERO);
        assert!(trigger.delay <= floodway_model::Duration::from_us(3));
    }
    assert!(spec.triggers.iter().any(|trigger| trigger.delay.0 > 0));
}

/// A folder of its own for a test.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder.join("scenario.toml")
}

const STAR: &str = r#"
name = "files"
arrivals = "1ms"
limit = "5ms"
replications = 2

[topology.star]
hosts = 4

[[workload]]
"#;

#[test]
fn a_file_is_the_same_as_a_list() {
    let list = STAR.to_owned()
        + "[workload.list]\njitter = \"2us\"\n\
           [[workload.list.flow]]\nsrc = 3\ndst = 0\nbytes = \"10KB\"\n\
           [[workload.list.flow]]\nsrc = 1\ndst = 2\nstart = \"1.5us\"\nstop = \"20us\"\n";
    let file = STAR.to_owned() + "[workload.file]\njitter = \"2us\"\npath = \"flows.csv\"\n";
    let table = "src,dst,bytes,start_ns,stop_ns\nhost 3,0,10000,0,\n1,2,,1500,20000\n";
    let path = folder("list", &[("scenario.toml", &file), ("flows.csv", table)]);
    let read = load(&path);
    let list = Scenario::parse(&list, "list.toml", &Overrides::default()).unwrap();
    for replication in 0..2 {
        let of = |scenario: &Scenario| scenario.build(&scenario.variants()[0], replication);
        assert_eq!(of(&read).flows, of(&list).flows);
        assert_eq!(of(&read).key(), of(&list).key());
    }
}

#[test]
fn what_a_file_says_is_part_of_the_key_and_its_hash_of_the_results() {
    let file = STAR.to_owned()
        + "[workload.file]\npath = \"flows.csv\"\n\n[variants.a]\n\
           [variants.b.switch.queue]\nsize = \"100KB\"\n";
    let tables = [
        "src,dst,bytes,start_ns\n0,1,1000,0\n",
        "src,dst,bytes,start_ns\n0,1,1001,0\n",
        // Written otherwise, and the same flows as the first.
        "dst,src,bytes,start_ns\n1,0,1e3,0\n",
    ];
    let read = tables.map(|table| {
        let path = folder("key", &[("scenario.toml", &file), ("flows.csv", table)]);
        load(&path)
    });
    let keys = read.each_ref().map(|scenario| build(scenario).key());
    assert_ne!(keys[0], keys[1]);
    assert_eq!(keys[0], keys[2]);
    for scenario in &read {
        assert!(scenario.variants()[1].shares_traffic_with(&scenario.variants()[0]));
    }
    let hashes = read.each_ref().map(|scenario| {
        // Once, although there are two variants.
        let [file] = scenario.files.as_slice() else { panic!("{:?}", scenario.files) };
        assert!(file.path.ends_with("flows.csv"));
        (file.bytes, file.hash.clone())
    });
    assert_eq!(hashes.each_ref().map(|file| file.0), tables.map(|table| table.len() as u64));
    assert!(hashes[0].1 != hashes[1].1 && hashes[0].1 != hashes[2].1);
}

#[test]
fn hosts_of_a_network_from_a_file_have_its_numbers() {
    // Node 0 is the switch.
    let network = "3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 10Gbps 1us 0\n";
    let scenario = r#"
        name = "files"
        arrivals = "1ms"
        limit = "5ms"
        [topology.file]
        path = "net.txt"
        [[workload]]
        [workload.file]
        path = "flows.txt"
        [[workload]]
        [workload.long_flows]
        count = 1
        from = "host 2"
        to = "host 1"
        stop = "10us"
    "#;
    let files = [
        ("scenario.toml", scenario),
        ("net.txt", network),
        ("flows.txt", "1\n1 2 3 100 1000 0.000001\n"),
    ];
    let scenario = load(&folder("numbers", &files));
    assert_eq!(scenario.files.len(), 2);
    let spec = build(&scenario);
    let names = |flow: &FlowSpec| [flow.src, flow.dst].map(|id| &*spec.graph.node(id).name);
    assert_eq!(
        spec.flows.iter().map(names).collect::<Vec<_>>(),
        [["host 2", "host 1"], ["host 1", "host 2"]]
    );
    // Four times a link of 1 us, and frames on them.
    let derived = &scenario.derived().variants[0];
    assert_eq!((derived.hosts, derived.switches, derived.links), (2, 1, 2));
    assert!(derived.unloaded_rtt > floodway_model::Duration::from_us(4));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_word() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let csv = "\u{feff}src,dst,bytes,start_ns\n0,1,1000,0\n";
    std::fs::write(directory.join("with_mark.csv"), csv).unwrap();
    let text = "name = \"mark\"\narrivals = \"1us\"\nlimit = \"1ms\"\n\
                [topology.star]\nhosts = 2\n\
                [[workload]]\n[workload.file]\npath = \"with_mark.csv\"\n";
    let path = directory.join("with_mark.toml");
    std::fs::write(&path, text).unwrap();
    assert_eq!(flows(&build(&load(&path))), [("host 0", "host 1", 1_000, 0)]);
}
