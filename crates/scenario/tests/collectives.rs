//! Collectives on an idle star of one frame or a few to a message, against closed forms. They are those of
//! Thakur, Rabenseifner and Gropp (2005) and of Patarasuk and Yuan (2009), with the time of a message worked
//! out frame by frame: [`way`] for the first, and [`wire`] for each one behind it.

use floodway_sim::Outcome;

use crate::patterns::{build, finishes, ps, run, way, wire};

/// A message of so many full frames from one host to another.
fn message(frames: u64) -> u64 {
    way(1_500) + (frames - 1) * wire(1_500)
}

/// Runs an operation of so many bytes.
fn collective(ranks: u64, operation: &str, bytes: u64, set: &[&str]) -> Outcome {
    let text = format!("[workload.collective]\noperation = \"{operation}\"\nbytes = \"{bytes}B\"");
    let set: Vec<String> = set.iter().map(|set| format!("workload.0.collective.{set}")).collect();
    run(ranks as u32, &text, &set.iter().map(|set| &**set).collect::<Vec<_>>())
}

/// The time of one round.
fn time(ranks: u64, operation: &str, bytes: u64, set: &[&str]) -> u64 {
    let finishes = finishes(&collective(ranks, operation, bytes, set));
    assert_eq!(finishes.len(), 1);
    finishes[0]
}

#[test]
fn a_ring_passes_on_shards() {
    for ranks in [2, 3, 8] {
        for frames in [1, 4] {
            let bytes = ranks * frames * 1_500;
            let steps = (ranks - 1) * message(frames);
            assert_eq!(time(ranks, "all_reduce", bytes, &[]), 2 * steps);
            assert_eq!(time(ranks, "reduce_scatter", bytes, &[]), steps);
            assert_eq!(time(ranks, "all_gather", bytes, &[]), steps);
        }
    }
}

/// With shards of k chunks, of a frame each: (2N - 3) max(k wire, way), for what a rank waits for is the
/// chunk or its own port, and the last shard.
#[test]
fn chunks_hide_the_latency_of_a_ring() {
    for ranks in [2, 5] {
        for chunks in [2, 8] {
            let bytes = ranks * chunks * 1_500;
            let set = format!("chunks={chunks}");
            let step = (chunks * wire(1_500)).max(way(1_500));
            let expected = (2 * ranks - 3) * step + message(chunks);
            assert_eq!(time(ranks, "all_reduce", bytes, &[&set]), expected);
        }
    }
}

#[test]
fn a_broadcast_goes_down_a_chain_chunk_after_chunk() {
    for (ranks, chunks) in [(2, 1), (5, 1), (5, 4)] {
        let set = format!("chunks={chunks}");
        let expected = (ranks - 1) * way(1_500) + (chunks - 1) * wire(1_500);
        assert_eq!(time(ranks, "broadcast", chunks * 1_500, &[&set]), expected);
    }
}

#[test]
fn direct_is_as_long_as_a_port_is_busy() {
    let direct = "algorithm=direct";
    for ranks in [2, 3, 8] {
        for frames in [1, 3] {
            let bytes = ranks * frames * 1_500;
            let all = message((ranks - 1) * frames);
            for operation in ["reduce_scatter", "all_gather", "all_to_all"] {
                assert_eq!(time(ranks, operation, bytes, &[direct]), all, "{operation}");
            }
            assert_eq!(time(ranks, "all_reduce", bytes, &[direct]), 2 * all);
            assert_eq!(time(ranks, "broadcast", frames * 1_500, &[direct]), all);
        }
    }
    // It is the only algorithm of all-to-all.
    assert_eq!(time(4, "all_to_all", 6_000, &[]), message(3));
}

#[test]
fn halving_and_doubling_is_the_sum_of_its_exchanges() {
    let halving = "algorithm=halving_doubling";
    for (ranks, parts) in [(2u64, &[1][..]), (8, &[4, 2, 1])] {
        let steps: u64 = parts.iter().map(|&frames| message(frames)).sum();
        let bytes = ranks * 1_500;
        assert_eq!(time(ranks, "all_reduce", bytes, &[halving]), 2 * steps);
        assert_eq!(time(ranks, "reduce_scatter", bytes, &[halving]), steps);
        assert_eq!(time(ranks, "all_gather", bytes, &[halving]), steps);
    }
}

#[test]
fn trees_take_their_depth() {
    let tree = "algorithm=tree";
    assert_eq!(time(2, "all_reduce", 1_500, &[tree]), 2 * way(1_500));
    // Of four: 1 and 3 below 2, and 2 below 0. What 1 and 3 send arrives through one port.
    assert_eq!(time(4, "broadcast", 1_500, &[tree]), 2 * way(1_500) + wire(1_500));
    assert_eq!(time(4, "all_reduce", 1_500, &[tree]), 4 * way(1_500) + 2 * wire(1_500));
    // The second tree is 0 and 2 below 1, and 1 below 3: twice the data in the same time.
    let double = "algorithm=double_binary_tree";
    assert_eq!(time(4, "all_reduce", 3_000, &[double]), 4 * way(1_500) + 2 * wire(1_500));
    assert_eq!(time(2, "all_reduce", 3_000, &[double]), 2 * way(1_500));
    // In chunks, a tree needs three times the time of all data on a port in the end, the double tree twice.
    let bytes = 400 * 1_500;
    let all = 400 * wire(1_500);
    let one = time(8, "all_reduce", bytes, &[tree, "chunks=400"]);
    let two = time(8, "all_reduce", bytes, &[double, "chunks=200"]);
    assert!(one > 3 * all && one < 4 * all, "{one} {all}");
    assert!(two > 2 * all && two < 3 * all, "{two} {all}");
}

#[test]
fn channels_share_a_port() {
    // Two rings with half of the data each: a step is two frames on the port.
    let bytes = 4 * 2 * 1_500;
    let two = time(4, "all_reduce", bytes, &["channels=2"]);
    // The first frame of each step waits for none, the second for the one before it, from then on both
    // follow each other at a distance of one frame.
    assert_eq!(two, 6 * way(1_500) + wire(1_500));
}

#[test]
fn rounds_begin_when_a_rank_has_finished() {
    let rounds = ["rounds=3", "compute=7us", "start=2us"];
    for (operation, set, round) in [
        ("all_reduce", "algorithm=ring", 6 * way(1_500)),
        ("all_to_all", "algorithm=direct", message(3)),
        ("all_reduce", "algorithm=direct", 2 * message(3)),
        ("all_gather", "algorithm=halving_doubling", message(1) + message(2)),
    ] {
        let outcome = collective(4, operation, 6_000, &[&rounds[..], &[set]].concat());
        let begins = |n: u64| 2_000_000 + n * (round + 7_000_000);
        assert_eq!(ps(&outcome, "operations", "start_ns"), [0, 1, 2].map(begins), "{operation}");
        assert_eq!(finishes(&outcome), [0, 1, 2].map(|n| begins(n) + round), "{operation}");
    }
}

#[test]
fn a_ring_is_that_of_all_reduce() {
    let text = |workload: &str| {
        format!("[workload.{workload}\nbytes = \"10007B\"\nrounds = 3\ncompute = \"1us\"")
    };
    let old = run(5, &text("all_reduce]"), &[]);
    let new = run(5, &text("collective]\noperation = \"all_reduce\""), &[]);
    assert_eq!(new.fingerprint, old.fingerprint);
}

/// The factors of nccl-tests: 2 (N - 1) / N for all-reduce, 1 for broadcast, (N - 1) / N for the others.
#[test]
fn bus_bandwidth_is_that_of_nccl_tests() {
    let bytes = 8 * 100 * 1_500;
    for (operation, set, doubled_sevenths, messages) in [
        ("all_reduce", "algorithm=ring", 14.0, 14 * message(100)),
        ("reduce_scatter", "algorithm=ring", 7.0, 7 * message(100)),
        ("all_gather", "algorithm=ring", 7.0, 7 * message(100)),
        ("all_to_all", "algorithm=direct", 7.0, message(700)),
        ("broadcast", "algorithm=ring", 8.0, 7 * message(800)),
    ] {
        let outcome = collective(8, operation, bytes, &[set]);
        let table = outcome.table("collectives");
        assert_eq!(table.texts("kind"), [operation]);
        assert_eq!((table.u64s("ranks"), table.u64s("bytes")), (&[8][..], &[bytes][..]));
        assert_eq!(ps(&outcome, "collectives", "time_ns"), [messages]);
        let algorithm = bytes as f64 * 8e12 / messages as f64;
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(close(table.f64s("algorithm_bandwidth_bps")[0], algorithm));
        let bus = table.f64s("bus_bandwidth_bps")[0];
        assert!(close(bus, algorithm * doubled_sevenths / 8.0), "{operation} {bus}");
        // No more than what is payload at 100 Gb/s: 1500 of 1538 bytes.
        assert!(bus < 100e9 * 1_500.0 / 1_538.0, "{operation} {bus}");
    }
    // The other workloads have it too: eight messages a host, one of them to itself.
    let outcome = run(8, "[workload.all_to_all]\nbytes = \"150000B\"", &[]);
    assert_eq!(outcome.table("collectives").u64s("bytes"), [bytes]);
    let outcome = run(8, "[workload.all_reduce]\nbytes = \"1200000B\"", &[]);
    assert_eq!(outcome.table("collectives").texts("kind"), ["all_reduce"]);
    let outcome = run(4, "[workload.permutation]\nbytes = \"1KB\"", &[]);
    assert_eq!(outcome.table("collectives").rows(), 0);
}

#[test]
fn ranks_are_in_the_order_in_which_they_are_written() {
    let text =
        "[workload.collective]\noperation = \"broadcast\"\nranks = \"3, 0, 2\"\nbytes = \"30B\"";
    let spec = build(4, text, &[], 0);
    let mut pairs: Vec<_> = spec.flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(0, 2), (3, 0)]);
}
