//! Jobs from Chakra traces: against arithmetic, against the same job in GOAL, and what is wrong with them.

mod write;
mod wrong;

use crate::patterns::{ps, way, wire};
use floodway_sim::{Outcome, Simulation};
use write::*;

#[test]
fn two_ranks_compute_reduce_and_compute() {
    let folder = Folder::new("exact");
    let rank = |first: u64| {
        vec![
            compute(0, first),
            collective(1, ALL_REDUCE, 2_000).data(&[0]),
            // Nodes of a file are in any order, and so are the numbers: the last one comes first.
            compute(9, 4).data(&[1]),
        ]
    };
    let mut second = rank(5);
    second.reverse();
    folder.traces(&[rank(3), second]);
    for (with, us) in [("", US), ("unit = \"500ns\"\n", US / 2)] {
        let outcome = folder.run(2, with);
        // A ring of two with shards of 1000 bytes. Rank 1 comes last, and its first shard is at rank 0 after
        // `way`, so that rank 0 sends the second. Rank 1 has had the first of rank 0 before, so its second
        // frame follows its first on the wire.
        let begins = 5 * us;
        let done = [begins + wire(1_000) + way(1_000), begins + 2 * way(1_000)];
        assert!(3 * us + way(1_000) < begins);
        assert_eq!(ends(&outcome), done.map(|at| at + 4 * us));
        let nodes = outcome.table("trace_nodes");
        assert_eq!(nodes.u64s("id"), [0, 1, 9, 0, 1, 9]);
        assert_eq!(nodes.texts("kind")[..3], ["compute", "all_reduce", "compute"]);
        let start = ps(&outcome, "trace_nodes", "start_ns");
        assert_eq!(start, [0, 3 * us, done[0], 0, begins, done[1]]);
        let finish = ps(&outcome, "trace_nodes", "finish_ns");
        assert_eq!([finish[1], finish[4]], done);
        let computed = [7 * us, 9 * us];
        assert_eq!(ps(&outcome, "ranks", "compute_ns"), computed);
        assert_eq!(ps(&outcome, "ranks", "exposed_ns"), [done[0] - 3 * us, done[1] - begins]);
    }
}

/// By sender and receiver, starts and completion times of all flows.
fn flows(outcome: &Outcome) -> Vec<(u64, u64, u64, u64, u64)> {
    let table = outcome.table("flows");
    let (start, fct) = (ps(outcome, "flows", "start_ns"), ps(outcome, "flows", "fct_ns"));
    let row = |row: usize| {
        (
            table.u64s("src")[row],
            table.u64s("dst")[row],
            start[row],
            fct[row],
            table.u64s("bytes")[row],
        )
    };
    let mut all: Vec<_> = (0..start.len()).map(row).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_job_is_the_same_in_goal() {
    let folder = Folder::new("goal");
    // Rank r computes for r + 1 us, takes part in a ring all-reduce of 4 shards of 20,000 bytes, then rank 0
    // sends 5,000 bytes to rank 3, which computes for 2 us when it has them.
    let (ranks, shard) = (4u64, 20_000u64);
    let job = |rank: u64| {
        let mut nodes =
            vec![compute(10, rank + 1), collective(11, ALL_REDUCE, ranks * shard).data(&[10])];
        match rank {
            0 => nodes.push(message(12, SEND, [0, 3], 5_000).data(&[11])),
            3 => nodes.extend([message(12, RECV, [0, 3], 5_000), compute(13, 2).data(&[12, 11])]),
            _ => {}
        }
        nodes
    };
    folder.traces(&(0..ranks).map(job).collect::<Vec<_>>());
    let mut goal = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        goal += &format!("rank {rank} {{\nwork: calc {}\n", (rank + 1) * 1_000);
        let steps = 2 * (ranks - 1);
        for step in 0..steps {
            goal += &format!(
                "s{step}: send {shard}b to {to} tag 1 cpu 3\nr{step}: recv {shard}b from {from} tag 1 cpu 3\n"
            );
            goal += &match step {
                0 => "s0 requires work\nr0 requires work\n".to_owned(),
                _ => format!(
                    "r{step} requires work\ns{step} requires r{0}\ns{step} requires s{0}\n",
                    step - 1
                ),
            };
        }
        let all = |name: &str| -> String {
            let of = |step| format!("{name} requires s{step}\n{name} requires r{step}\n");
            (0..steps).map(of).collect()
        };
        goal += &match rank {
            0 => format!("give: send 5000b to 3 tag 7 cpu 3\n{}", all("give")),
            3 => format!(
                "take: recv 5000b from 0 tag 7 cpu 3\nmore: calc 2000\nmore requires take\n{}",
                all("more")
            ),
            _ => String::new(),
        };
        goal += "}\n";
    }
    folder.file("job.goal", goal.as_bytes());
    let hosts = "ranks = \"2, 0, 4, 1\"\n";
    let one = folder.run(5, hosts);
    let other = run(folder.star(5, &format!("[workload.goal]\npath = \"job.goal\"\n{hosts}")));
    assert_eq!(flows(&one).len() as u64, 2 * ranks * (ranks - 1) + 1);
    assert_eq!(flows(&one), flows(&other));
    assert_eq!(ends(&one), ends(&other));
    for column in ["compute_ns", "exposed_ns"] {
        assert_eq!(ps(&one, "ranks", column), ps(&other, "ranks", column));
    }
}

#[test]
fn resources_are_used_one_after_the_other() {
    let folder = Folder::new("resources");
    // A ring of two with shards of one frame, when both begin together: the second message of a rank begins when
    // the first of the other has arrived.
    let frame = 1_500;
    let reduce = 2 * way(frame);
    let coll = |id: u64| collective(id, ALL_REDUCE, 2 * frame);
    let end = |nodes: &[Node], with: &str| {
        let outcome = folder.traces(&both(nodes)).run(2, with);
        let ends = ends(&outcome);
        assert_eq!(ends[0], ends[1]);
        ends[0]
    };
    // One stream of computations of the GPU, another of the CPU, and both beside a collective.
    assert_eq!(end(&[compute(0, 5), compute(1, 5), coll(2)], ""), 10 * US);
    assert_eq!(end(&[compute(0, 5), compute(1, 6).on_cpu(), coll(2)], ""), 6 * US);
    assert_eq!(end(&[compute(0, 5), compute(1, 6), coll(2)], "streams = \"none\"\n"), 6 * US);
    assert_eq!(end(&[compute(0, 1), coll(1)], ""), reduce);
    // Two collectives one after the other, and beside each other: the frames of a step share the wire.
    assert_eq!(end(&[coll(0), coll(1)], ""), 2 * reduce);
    for streams in ["compute", "none"] {
        let with = format!("streams = \"{streams}\"\n");
        assert_eq!(end(&[coll(0), coll(1)], &with), reduce + wire(frame), "{streams}");
    }
    // Which dependencies count.
    let chain = [coll(0), compute(1, 5).control(&[0]), compute(2, 3).data(&[0])];
    assert_eq!(end(&chain, ""), reduce + 8 * US);
    assert_eq!(end(&chain, "dependencies = \"data\"\n"), (reduce + 3 * US).max(8 * US));
    assert_eq!(end(&chain, "dependencies = \"control\"\n"), reduce.max(3 * US) + 5 * US);
    // An access to a memory occupies the stream of transfers, but computes nothing.
    let memory = [node(0, "load", MEM_LOAD).micros(7), coll(1)];
    assert_eq!(end(&memory, ""), 7 * US + reduce);
    assert_eq!(end(&memory, "streams = \"compute\"\n"), 7 * US);
    let outcome = folder.run(2, "");
    assert_eq!(ps(&outcome, "ranks", "compute_ns"), [0, 0]);
    // The lowest identifier that is ready begins first, and metadata take no time.
    let order = [compute(8, 1), compute(3, 2), node(1, "meta", METADATA), coll(9).data(&[1])];
    folder.traces(&both(&order));
    let outcome = folder.run(2, "");
    assert_eq!(outcome.table("trace_nodes").u64s("id")[..4], [1, 3, 8, 9]);
    assert_eq!(ps(&outcome, "trace_nodes", "start_ns")[..4], [0, 0, 2 * US, 0]);
}

#[test]
fn a_send_occupies_the_stream_of_transfers_and_a_receive_does_not() {
    let folder = Folder::new("sends");
    let frame = 1_500;
    let coll = |id: u64| collective(id, ALL_REDUCE, 2 * frame);
    // Rank 0 sends 10 frames before its part of the all-reduce; rank 1 receives them beside its own.
    let bytes = 10 * frame;
    folder.traces(&[
        vec![message(0, SEND, [0, 1], bytes), coll(1)],
        vec![message(0, RECV, [0, 1], bytes), coll(1)],
    ]);
    let outcome = folder.run(2, "");
    let start = ps(&outcome, "trace_nodes", "start_ns");
    // The last frame is handed over when those before it have been sent.
    assert_eq!(start, [0, 9 * wire(frame), 0, 0]);
    let outcome = folder.run(2, "streams = \"compute\"\n");
    assert_eq!(ps(&outcome, "trace_nodes", "start_ns"), [0; 4]);
}

#[test]
fn a_roofline_takes_the_longer_of_both_times() {
    let folder = Folder::new("roofline");
    let work = |id: u64, operations: u64, bytes: u64| {
        node(id, "gemm", COMP).whole("num_ops", operations).whole("tensor_size", bytes)
    };
    let coll = collective(9, ALL_REDUCE, 3_000);
    // 4e6 operations at 2e12 a second are 2 us, and 1e6 bytes at 2 Tb/s are 4 us.
    let nodes = [work(0, 4_000_000, 0), work(1, 4_000_000, 1_000_000), compute(2, 3), coll];
    folder.traces(&both(&nodes));
    let outcome = folder.run(2, "peak_tflops = 2.0\nmemory_bandwidth = \"2Tbps\"\n");
    assert_eq!(ps(&outcome, "ranks", "compute_ns"), [9 * US; 2]);
    let outcome = folder.run(2, "peak_tflops = 2.0\n");
    assert_eq!(ps(&outcome, "ranks", "compute_ns"), [7 * US; 2]);
    assert_eq!(
        folder.wrong(2, ""),
        [
            "node 0 \"gemm\" of rank 0 has 4000000 operations (num_ops) and no duration",
            "write how fast a GPU is: `peak_tflops`, and `memory_bandwidth` for its tensor_size",
        ]
    );
    folder.traces(&both(&[collective(9, ALL_REDUCE, 3_000)]));
    let [message, _] = folder.wrong(2, "memory_bandwidth = \"2Tbps\"\n");
    assert_eq!(message, "there is a memory bandwidth and no peak performance");
}

#[test]
fn every_collective_moves_what_it_must() {
    let folder = Folder::new("kinds");
    // Bytes of all messages of n ranks with a size of d.
    let (n, d) = (4u64, 8_000u64);
    let all: [(u64, &str, u64); 10] = [
        (0, "all_reduce", 2 * (n - 1) * d),
        (1, "reduce", (n - 1) * d),
        // The size is what each rank gives.
        (2, "all_gather", (n - 1) * n * d),
        (3, "gather", (n - 1) * d),
        (4, "scatter", (n - 1) * d / n),
        (5, "broadcast", (n - 1) * d),
        (6, "all_to_all", (n - 1) * d),
        (7, "reduce_scatter", (n - 1) * d),
        (8, "reduce_scatter_block", (n - 1) * d),
        // Two steps of a byte per rank.
        (9, "barrier", 2 * n),
    ];
    for (number, name, bytes) in all {
        let nodes = match name {
            // A barrier has no size.
            "barrier" => vec![node(0, "", COLL).whole("comm_type", number)],
            _ => vec![collective(0, number, d)],
        };
        folder.traces(&vec![nodes; n as usize]);
        let outcome = folder.run(4, "");
        let sum: u64 = outcome.table("flows").u64s("bytes").iter().sum();
        assert_eq!(sum, bytes, "{name}");
        assert_eq!(outcome.table("trace_nodes").texts("kind"), [name; 4]);
    }
    // A size of what each rank has in the end.
    folder.traces(&vec![vec![collective(0, ALL_GATHER, d)]; n as usize]);
    let outcome = folder.run(4, "all_gather_size = \"output\"\n");
    assert_eq!(outcome.table("flows").u64s("bytes").iter().sum::<u64>(), (n - 1) * d);
    // A loss of 4 bytes is not cut into chunks, and has a byte in each message.
    folder.traces(&vec![vec![collective(0, ALL_REDUCE, 4)]; n as usize]);
    let outcome = folder.run(4, "chunks = 8\nchannels = 2\n");
    assert_eq!(outcome.table("flows").u64s("bytes"), [1; 24]);
}

#[test]
fn collectives_are_those_of_the_workload_collective() {
    let folder = Folder::new("algorithms");
    let with = "channels = 2\nchunks = 3\n";
    for (field, number, algorithms) in [
        ("all_reduce", 0, &["ring", "tree", "double_binary_tree"][..]),
        ("broadcast", 5, &["ring", "tree"]),
    ] {
        folder.traces(&vec![vec![collective(0, number, 48_000)]; 4]);
        for algorithm in algorithms {
            let one = folder.run(4, &format!("{field} = \"{algorithm}\"\n{with}"));
            let other = run(folder.star(
                4,
                &format!(
                    "[workload.collective]\noperation = \"{field}\"\nbytes = \"48KB\"\n\
                     algorithm = \"{algorithm}\"\n{with}"
                ),
            ));
            assert_eq!(flows(&one), flows(&other), "{field} by {algorithm}");
        }
    }
}

#[test]
fn groups_come_from_a_file_or_from_metadata() {
    let folder = Folder::new("groups");
    let coll = |id: u64, group: &str| collective(id, ALL_REDUCE, 2_000).text("pg_name", group);
    // Pairs 0 and 2, and 1 and 3; then everybody, by the name "0" or none.
    let rank = |rank: usize| {
        let all = collective(2, ALL_REDUCE, 4_000);
        let all = if rank == 0 { all } else { all.text("pg_name", "0") };
        vec![coll(1, ["even", "odd"][rank % 2]), all]
    };
    let mut ranks: Vec<Vec<Node>> = (0..4).map(rank).collect();
    folder.traces(&ranks).file("groups.json", b"{\"even\": [0, 2], \"odd\": [3, 1]}");
    let one = folder.run(4, "groups = \"groups.json\"\n");
    let ends: Vec<(u64, u64)> =
        flows(&one).iter().filter(|flow| flow.2 == 0).map(|flow| (flow.0, flow.1)).collect();
    assert_eq!(ends, [(0, 2), (1, 3), (2, 0), (3, 1)]);
    // PyTorch lists them in a node.
    let values = "['[{\"pg_name\": \"even\", \"ranks\": [0, 2], \"group_count\": 3}, \
                  {\"pg_name\": \"odd\", \"ranks\": [3, 1]}, {\"pg_name\": \"0\", \"ranks\": []}]']";
    let lists = node(0, "## process_group:init ##", METADATA)
        .with(octets(8, &octets(1, values.as_bytes())));
    ranks.iter_mut().for_each(|nodes| nodes.insert(0, lists.clone()));
    folder.traces(&ranks);
    assert_eq!(flows(&folder.run(4, "")), flows(&one));
    // What is written in the file counts.
    folder.file("groups.json", b"{\"even\": [2, 0, 1]}");
    let [message, help] = folder.wrong(4, "groups = \"groups.json\"\n");
    assert_eq!(
        message,
        "node 1 \"gradients\" of rank 2 is collective 1 of group `even`, in which rank 1 has 0"
    );
    assert_eq!(help, "all of its ranks (2, 0, 1) must take part: add a COMM_COLL_NODE to rank 1");
}

#[test]
fn files_are_named_by_prefix_by_folder_or_one_by_one() {
    let folder = Folder::new("files");
    let nodes = [compute(0, 1), collective(1, ALL_REDUCE, 2_000)];
    let file = trace("0.0.4", &nodes);
    folder.file("a.0.et", &file).file("a.1.et", &file).file("b.et", &file).file("a.01.et", b"?");
    std::fs::create_dir_all(folder.0.join("traces")).unwrap();
    folder.file("traces/x.0.et", &file).file("traces/x.1.et", &file).file("traces/notes.txt", b"?");
    let one = |how: &str| flows(&run(folder.star(2, &format!("[workload.chakra]\n{how}\n"))));
    let expected = one("path = \"a\"");
    assert_eq!(one("path = \"traces\""), expected);
    assert_eq!(one("path = \"traces/x\""), expected);
    assert_eq!(one("files = [\"b.et\", \"a.0.et\"]"), expected);
    let first = |how: &str| {
        let error = folder.star(2, &format!("[workload.chakra]\n{how}\n")).unwrap_err();
        error.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(first("path = \"c\""), "error: there is no trace `c.0.et`");
    assert_eq!(first(""), "error: nothing says where the traces are");
    let two = "path = \"a\"\nfiles = [\"b.et\"]";
    assert_eq!(first(two), "error: there are `path` and `files`");
    folder.file("a.3.et", &file);
    assert_eq!(
        first("path = \"a\""),
        "error: there is no trace of rank 2, and `a.3.et` is of rank 3"
    );
    folder.file("traces/y.1.et", &file);
    assert!(first("path = \"traces\"").starts_with("error: `traces` has two traces of rank 1: "));
}

#[test]
fn threads_do_not_change_a_job() {
    let folder = Folder::new("threads");
    let rank = |rank: u64| {
        let pair = ["even", "odd"][rank as usize % 2];
        vec![
            compute(0, 2 + rank),
            collective(1, ALL_REDUCE, 400_000).text("pg_name", pair).data(&[0]),
            compute(2, 3).data(&[0]),
            collective(3, 6, 200_000).data(&[2]),
            collective(4, 9, 0).data(&[1, 3]),
            compute(5, 1).data(&[4]),
        ]
    };
    folder.traces(&(0..8).map(rank).collect::<Vec<_>>());
    folder.file("groups.json", b"{\"even\": [0, 2, 4, 6], \"odd\": [1, 3, 5, 7]}");
    let text = "name = \"job\"\narrivals = \"200us\"\nlimit = \"500ms\"\nshare_hosts = true\n\
                [topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
                [switch.queue]\nsize = \"100KB\"\n[[workload]]\n[workload.chakra]\npath = \"job\"\n\
                groups = \"groups.json\"\nranks = \"0, 4, 8, 12, 1, 5, 9, 13\"\nsends = \"acknowledged\"\n\
                [[workload]]\n[workload.permutation]\nbytes = \"200KB\"\n";
    let scenario = folder.parse(text).unwrap_or_else(|error| panic!("{error}"));
    let spec = scenario.build(&scenario.variants()[0], 0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let on = |threads| {
        let run = floodway_sim::simulation::Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(spec.clone()).run_with(&run)
    };
    let one = on(1);
    assert_eq!(one.violations, Vec::<String>::new());
    assert_eq!(one.table("waits").rows(), 0);
    assert_eq!([on(2).fingerprint, on(3).fingerprint], [one.fingerprint; 2]);
}
