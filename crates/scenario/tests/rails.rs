//! Messages over several ports and over other GPUs, and rails without spines, against arithmetic.

use floodway_model::NodeId;
use floodway_sim::{Outcome, Simulation, Spec};

use crate::multiport::{frames, scenario};

fn spec(text: &str, set: &[&str]) -> Spec {
    let scenario = scenario(text, set);
    scenario.build(&scenario.variants()[0], 0)
}

fn run(text: &str, set: &[&str]) -> Outcome {
    let outcome = Simulation::new(spec(text, set)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    outcome
}

/// Time of the only operation, in picoseconds.
fn time(outcome: &Outcome) -> u64 {
    let [ns] = outcome.table("operations").f64s("finish_ns")[..] else { panic!("one operation") };
    (ns * 1e3).round() as u64
}

/// A full frame of 1500 bytes of payload at so many Gb/s, preamble and gap included.
fn wire(gbps: u64) -> u64 {
    1_538 * 8_000 / gbps
}

/// A broadcast of 400 frames from one host to another, and an all-reduce of 4 hosts whose messages have 40 frames.
#[test]
fn striping_divides_messages_by_the_number_of_ports() {
    let broadcast = "[topology.star]\nhosts = 4\nports = 4\n[[workload]]\n[workload.collective]\n\
                     operation = \"broadcast\"\nranks = \"0-1\"\nbytes = \"600000B\"\n";
    let alone = |frames: u64| (frames + 1) * wire(100) + 400_000;
    assert_eq!(time(&run(broadcast, &["host.ports=0"])), alone(400));
    assert_eq!(time(&run(broadcast, &["host.ports=stripe"])), alone(100));
    let ring = "[topology.star]\nhosts = 4\nports = 2\n[[workload]]\nports = \"stripe\"\n[workload.collective]\n\
                operation = \"all_reduce\"\nranks = \"0-3\"\nbytes = \"240000B\"\n";
    let outcome = run(ring, &[]);
    assert_eq!(time(&outcome), 6 * alone(20));
    // Each rank sends 6 messages of 60 kB, half of each by either port.
    assert_eq!(outcome.table("host_ports").u64s("sent_bytes"), [6 * 30_000; 8]);
    // Bus bandwidth counts the collective once: 1.5 times 240 kB in this time.
    let bandwidth = outcome.table("collectives").f64s("bus_bandwidth_bps")[0];
    let expected = 1.5 * 240_000.0 * 8.0 / (6.0 * alone(20) as f64 * 1e-12);
    assert!((bandwidth / expected - 1.0).abs() < 1e-9, "{bandwidth} {expected}");
}

#[test]
fn few_bytes_are_not_cut_into_more_parts_than_bytes() {
    let text = "[topology.star]\nhosts = 2\nports = 4\n[[workload]]\nports = \"stripe\"\n[workload.list]\nflow = [\n\
                { src = 0, dst = 1, bytes = \"3B\" }, { src = 0, dst = 1, bytes = \"10B\" } ]\n";
    let spec = spec(text, &[]);
    let sizes: Vec<u64> = spec.flows.iter().map(|flow| flow.bytes).collect();
    // In order of the ports: three parts of one byte, and 10 bytes in four parts.
    assert_eq!(sizes, [1, 3, 1, 3, 1, 2, 2]);
    let ports: Vec<u32> = spec.flows.iter().map(|flow| flow.src.0).collect();
    assert_eq!(ports, [0, 0, 1, 1, 2, 2, 3]);
}

/// Two servers of two GPUs, and a message of 20 frames from GPU 0 of the first to GPU 1 of the second.
const ACROSS: &str = "[topology.rails]\nservers = 2\ngpus = 2\nnvlink = { rate = \"1600Gbps\" }\n[[workload]]\n\
                      [workload.collective]\noperation = \"broadcast\"\nranks = \"0, 3\"\nbytes = \"30000B\"\n";

#[test]
fn pxn_goes_by_the_gpu_at_the_rail_of_the_destination() {
    // By its own rail, a spine and the other rail: four links.
    let outcome = run(ACROSS, &[]);
    assert_eq!(time(&outcome), 23 * wire(400) + 4 * 500_000);
    assert_eq!([frames(&outcome, "spine"), frames(&outcome, "nvlink")], [40, 0]);
    // All of the chunk by NVLink, and then all of it by the other rail.
    let outcome = run(ACROSS, &["workload.0.ports=pxn"]);
    let nvlink = 21 * wire(1_600) + 2 * 25_000;
    assert_eq!(time(&outcome), nvlink + 21 * wire(400) + 2 * 500_000);
    let crossed = ["spine", "nvlink", "rail 0", "rail 1"].map(|name| frames(&outcome, name));
    assert_eq!(crossed, [0, 40, 0, 40]);
    // Of two chunks, the second arrives by NVLink while the first leaves by the rail, and follows it there.
    let outcome = run(ACROSS, &["workload.0.ports=pxn", "host.pxn_chunk=15000B"]);
    let first = 11 * wire(1_600) + 2 * 25_000;
    assert_eq!(time(&outcome), first + 21 * wire(400) + 2 * 500_000);
    // Ends at one rail or in one server send directly.
    for (ranks, links) in [("0, 2", "rail 0"), ("0, 1", "nvlink")] {
        let set = ["workload.0.ports=pxn", &format!("workload.0.collective.ranks={ranks}")];
        let outcome = run(ACROSS, &set);
        assert_eq!((outcome.hops, frames(&outcome, links)), (40, 40), "{ranks}");
    }
}

/// The all-to-all of a rail-only network: nothing crosses a spine, because there is none, and NVLink carries what stays
/// in servers and what goes to another rail.
#[test]
fn rails_without_spines_are_joined_by_nvlink() {
    let text = "[topology.rails]\nservers = 3\ngpus = 2\nspines = 0\nnvlink = {}\n[[workload]]\nports = \"pxn\"\n\
                [workload.collective]\noperation = \"all_to_all\"\nbytes = \"90000B\"\n";
    let outcome = run(text, &[]);
    // 6 GPUs send messages of 10 frames to 5 others: by NVLink to 1 in the server and for 2 at the other rail, by a
    // rail to 4; each on two links.
    assert_eq!([frames(&outcome, "nvlink"), frames(&outcome, "rail")], [6 * 3 * 20, 6 * 4 * 20]);
    // Two tiers need no message between rails, and take as long as with spines.
    let two_tiers = "[topology.rails]\nservers = 2\ngpus = 4\nspines = 0\nnvlink = { rate = \"1600Gbps\" }\n\
                     [[workload]]\n[workload.collective]\noperation = \"all_reduce\"\nalgorithm = \"hierarchical\"\n\
                     per_server = 4\nbytes = \"120000B\"\n";
    let outcome = run(two_tiers, &[]);
    let (nvlink, rail) = (21 * wire(1_600) + 2 * 25_000, 11 * wire(400) + 2 * 500_000);
    assert_eq!(time(&outcome), 6 * nvlink + 2 * rail);
}

/// Two rings over four GPUs in two servers, each with half of the data in four shards of one frame. One leaves the
/// servers by the first rail and comes back by the second, the other the other way around, so that every GPU sends in
/// one ring by NVLink and in the other by its NIC. Of a chain of six messages, three take NVLink.
#[test]
fn channels_over_rails_use_all_nics() {
    let text = "[topology.rails]\nservers = 2\ngpus = 2\nspines = 0\nnvlink = { rate = \"1600Gbps\" }\n[[workload]]\n\
                [workload.collective]\noperation = \"all_reduce\"\nbytes = \"12000B\"\nchannels = 2\nper_server = 2\n";
    let outcome = run(text, &[]);
    let (nvlink, rail) = (2 * wire(1_600) + 2 * 25_000, 2 * wire(400) + 2 * 500_000);
    assert_eq!(time(&outcome), 3 * (nvlink + rail));
    assert_eq!(outcome.table("host_ports").u64s("sent_bytes"), [6 * 1_500; 8]);
}

#[test]
fn jobs_and_collectives_run_with_divided_messages() {
    let rails = "[topology.rails]\nservers = 2\ngpus = 4\nspines = 0\nnvlink = {}\n";
    let clos = "[topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\nports = 2\n";
    for (workload, text) in [
        ("all_reduce", "ranks = \"0-7\"\nbytes = \"80KB\""),
        ("all_to_all", "hosts = \"0-7\"\nbytes = \"30KB\""),
        ("goal", "path = \"../../scenarios/toolbox/training.goal\"\nranks = \"0, 5, 2, 7\""),
        (
            "training",
            "ranks = \"0-7\"\nlayers = 4\nhidden = 64\nsequence = 32\nmicro_batch = 1\nmicro_batches = 4\n\
             pipeline_parallel = 2\ntensor_parallel = 2\npeak_tflops = 1.0",
        ),
    ] {
        let text = format!("[[workload]]\n[workload.{workload}]\n{text}\n");
        for (network, rule) in [(rails, "pxn"), (clos, "stripe")] {
            let text = format!("{network}{text}");
            // A message is divided by different numbers, with and without acknowledgments.
            for transport in ["ethernet", "rocev2"] {
                let rule = format!("host.ports={rule}");
                let transport = format!("host.transport={transport}");
                let outcome = run(&text, &[&rule, &transport, "host.pxn_chunk=7KB"]);
                assert_eq!(outcome.table("operations").rows(), 1, "{workload} {rule}");
            }
        }
    }
}

/// Rank 0 computes, sends 400 frames, and computes again when they are handed over; rank 1 computes when it has
/// received all parts of them.
#[test]
fn steps_of_a_program_wait_for_all_parts_of_a_message() {
    let path = std::env::temp_dir().join(format!("floodway-stripe-{}.goal", std::process::id()));
    let goal = "num_ranks 2\nrank 0 {\nw: calc 1000\ns: send 600000b to 1 tag 7\ns requires w\nx: calc 500\n\
                x requires s\n}\nrank 1 {\nr: recv 600000b from 0 tag 7\ny: calc 2000\ny requires r\n}\n";
    std::fs::write(&path, goal).unwrap();
    let text = format!(
        "[topology.star]\nhosts = 2\nports = 2\n[[workload]]\nports = \"stripe\"\n[workload.goal]\npath = \"{}\"\n",
        path.display()
    );
    let outcome = run(&text, &[]);
    std::fs::remove_file(&path).unwrap();
    let ps = |column: &str| -> Vec<u64> {
        let values = outcome.table("steps").f64s(column);
        values.iter().map(|ns| (ns * 1e3).round() as u64).collect()
    };
    let arrived = 1_000_000 + 201 * wire(100) + 400_000;
    let handed_over = 1_000_000 + 199 * wire(100);
    let of_sender = [1_000_000, handed_over, handed_over, handed_over + 500_000];
    assert_eq!(
        ps("finish_ns"),
        [&of_sender[..], &[arrived, arrived, arrived + 2_000_000]].concat()
    );
}

#[test]
fn variants_that_divide_messages_otherwise_do_not_send_the_same_flows() {
    let text = "[topology.star]\nhosts = 2\nports = 2\n[[workload]]\n[workload.list]\nflow = [{ src = 0, dst = 1, \
                bytes = \"1KB\" }]\n[variants.hash]\n[variants.one.host]\nports = 1\n[variants.stripe.host]\n\
                ports = \"stripe\"\n[variants.too.workload.0]\nports = \"stripe\"\n";
    let scenario = scenario(text, &[]);
    let [hash, one, stripe, too] = scenario.variants() else { panic!("four variants") };
    assert!(hash.shares_traffic_with(one) && stripe.shares_traffic_with(too));
    assert!(!hash.shares_traffic_with(stripe) && !too.shares_traffic_with(one));
}

/// The names of nodes in the order of their first flow.
fn senders(spec: &Spec) -> Vec<&str> {
    let name = |node: NodeId| &*spec.graph.node(node).name;
    spec.flows.iter().map(|flow| name(flow.src)).collect()
}

#[test]
fn the_flows_of_others_keep_their_ports() {
    let text = "[topology.clos]\nleaves = 4\nspines = 1\nhosts_per_leaf = 2\nports = 2\n[[workload]]\n[workload.list]\n\
                flow = [{ src = 2, dst = 0, bytes = \"1KB\" }, { src = 3, dst = 0, bytes = \"1KB\" }]\n[[workload]]\n\
                ports = \"stripe\"\n[workload.list]\nflow = [{ src = 0, dst = 3, bytes = \"1KB\" }]\n";
    let spec = spec(text, &["workload.0.ports=1"]);
    assert_eq!(senders(&spec), ["host 0.0", "host 0.1", "host 2.1", "host 3.1"]);
}
