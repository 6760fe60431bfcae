//! Jobs in GOAL: messages and computations of a few steps, against arithmetic, and a ring that a collective
//! does too.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::patterns::{ps, way};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation, Stop};

/// A folder for the files of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A scenario on a star at 100 Gb/s and 200 ns with Ethernet frames, which are not acknowledged. Its job is
    /// in the file `job.goal`, with these parameters besides.
    fn scenario(&self, hosts: u32, job: &str, with: &str) -> Result<Scenario, String> {
        std::fs::write(self.0.join("job.goal"), job).unwrap();
        let workload = format!("[workload.goal]\npath = \"job.goal\"\n{with}");
        self.with(hosts, &workload)
    }

    fn with(&self, hosts: u32, workload: &str) -> Result<Scenario, String> {
        let text = format!(
            "name = \"job\"\narrivals = \"1ms\"\nlimit = \"10ms\"\n[topology.star]\nhosts = {hosts}\n\
             [switch.queue]\nsize = \"100MB\"\n[host]\ntransport = \"ethernet\"\n[[workload]]\n{workload}"
        );
        let name = self.0.join("s.toml");
        let overrides = Overrides { quick: false, set: Vec::new() };
        Scenario::parse(&text, name.to_str().unwrap(), &overrides).map_err(|error| error.plain())
    }
}

fn run(scenario: Result<Scenario, String>) -> Outcome {
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

/// Two ranks that compute and send to each other.
const PING_PONG: &str = "num_ranks 2
rank 0 {
a: calc 1000
b: send 1000b to 1 tag 7
b requires a
c: recv 700b from 1 tag 8
d: calc 500 cpu 1
d requires c
}
rank 1 {
a: recv 1000b from 0 tag 7
b: calc 2000
b requires a
c: send 700b to 0 tag 8
c requires b
}
";

#[test]
fn ping_pong_is_exact() {
    let folder = Folder::new("ping-pong");
    for (unit, ps_of_unit) in [("1ns", 1_000), ("250ps", 250)] {
        let with = format!("ranks = \"2, 0\"\nunit = \"{unit}\"\nstart = \"3us\"\n");
        let outcome = run(folder.scenario(3, PING_PONG, &with));
        let begins = 3_000_000;
        let sent = begins + 1_000 * ps_of_unit;
        let arrived = sent + way(1_000);
        let answered = arrived + 2_000 * ps_of_unit;
        let back = answered + way(700);
        assert_eq!(outcome.stop, Stop::FlowsDone);
        // In order of the senders.
        assert_eq!(outcome.table("flows").u64s("src"), [0, 2]);
        assert_eq!(ps(&outcome, "flows", "start_ns"), [answered, sent]);
        let ends = [back + 500 * ps_of_unit, answered];
        assert_eq!(ps(&outcome, "ranks", "finish_ns"), ends);
        assert_eq!(outcome.table("ranks").u64s("node"), [2, 0]);
        let computed = [1_500 * ps_of_unit, 2_000 * ps_of_unit];
        assert_eq!(ps(&outcome, "ranks", "compute_ns"), computed);
        let exposed = [ends[0] - begins - computed[0], arrived - begins];
        assert_eq!(ps(&outcome, "ranks", "exposed_ns"), exposed);
        assert_eq!(ps(&outcome, "operations", "start_ns"), [begins]);
        assert_eq!(ps(&outcome, "operations", "finish_ns"), [ends[0]]);
        assert_eq!(outcome.table("steps").u64s("line"), [3, 4, 6, 7, 11, 12, 14]);
    }
}

#[test]
fn a_message_without_bytes_takes_a_frame() {
    let job = "num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n";
    let outcome = run(Folder::new("empty").scenario(2, job, ""));
    assert_eq!(ps(&outcome, "ranks", "finish_ns"), [0, way(0)]);
}

/// A ring all-reduce with shards of so many bytes: a rank sends when it has received and has sent before.
fn ring(ranks: u32, shard: u64) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        writeln!(text, "rank {rank} {{").unwrap();
        for step in 0..2 * (ranks - 1) {
            writeln!(text, "s{step}: send {shard}b to {to}\nr{step}: recv {shard}b from {from}")
                .unwrap();
            if step > 0 {
                let last = step - 1;
                writeln!(text, "s{step} requires r{last}\ns{step} requires s{last}").unwrap();
            }
        }
        text += "}\n";
    }
    text
}

#[test]
fn a_ring_is_as_long_as_that_of_a_collective() {
    let folder = Folder::new("ring");
    for (ranks, shard) in [(2u32, 1_500u64), (4, 1_000), (5, 20_000)] {
        let job = run(folder.scenario(ranks, &ring(ranks, shard), ""));
        let bytes = u64::from(ranks) * shard;
        let collective = run(folder.with(
            ranks,
            &format!("[workload.collective]\noperation = \"all_reduce\"\nbytes = \"{bytes}B\"\n"),
        ));
        // Flow by flow, from sender to receiver and in order of start.
        let flows = |outcome: &Outcome| {
            let table = outcome.table("flows");
            let ends = table.u64s("src").iter().zip(table.u64s("dst"));
            let times =
                ps(outcome, "flows", "start_ns").into_iter().zip(ps(outcome, "flows", "fct_ns"));
            let mut all: Vec<_> = ends.map(|(src, dst)| (*src, *dst)).zip(times).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(flows(&job), flows(&collective), "{ranks} ranks");
        assert_eq!(ps(&job, "operations", "finish_ns"), ps(&collective, "operations", "finish_ns"));
    }
}

/// A job on two leaves and two spines with other traffic, over any number of threads.
#[test]
fn threads_do_not_change_a_job() {
    let folder = Folder::new("threads");
    std::fs::write(folder.0.join("job.goal"), ring(8, 50_000)).unwrap();
    let text = "name = \"job\"\narrivals = \"200us\"\nlimit = \"500ms\"\nshare_hosts = true\n\
                [topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
                [switch.queue]\nsize = \"100KB\"\n[[workload]]\n[workload.goal]\npath = \"job.goal\"\n\
                ranks = \"0, 4, 8, 12, 1, 5, 9, 13\"\nsends = \"acknowledged\"\n\
                [[workload]]\n[workload.permutation]\nbytes = \"200KB\"\n";
    let name = folder.0.join("s.toml");
    let overrides = Overrides { quick: false, set: Vec::new() };
    let scenario = Scenario::parse(text, name.to_str().unwrap(), &overrides)
        .unwrap_or_else(|error| panic!("{}", error.plain()));
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

/// What is wrong with a scenario, without the path of the folder.
fn wrong(folder: &Folder, hosts: u32, job: &str, with: &str) -> String {
    let text = folder.scenario(hosts, job, with).unwrap_err();
    text.replace(&format!("{}/", folder.0.display()), "")
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_the_remedy() {
    let folder = Folder::new("wrong");
    assert_eq!(
        wrong(&folder, 2, &PING_PONG.replace("700b to 0 tag 8", "700b to 0 tag 9"), ""),
        "error: `c` of rank 0 receives from rank 1 with tag 8, which does not send it\n \
         --> job.goal:6:4\n  |\n6 | c: recv 700b from 1 tag 8\n  |    ^^^^^^^^^^^^^^^^^^^^^^\n  \
         = help: rank 1 sends one with tag 9: write the same tag in both\n"
    );
    assert_eq!(
        wrong(&folder, 2, &PING_PONG.replace("d requires c", "b requires c"), ""),
        "error: `b` of rank 0 waits for `c` of rank 0, which waits for `c` of rank 1, which waits for `b` of \
         rank 1, which waits for `a` of rank 1, which waits for `b` of rank 0\n --> job.goal:4:4\n  |\n\
         4 | b: send 1000b to 1 tag 7\n  |    ^^^^^^^^^^^^^^^^^^^^^\n  = help: none of this cycle of 5 \
         operations can ever finish: remove one of the dependencies, or send before receiving\n"
    );
    let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let of = |hosts: u32, job: &str, with: &str| first(wrong(&folder, hosts, job, with));
    let named = "ranks = \"0-2\"\n";
    assert_eq!(of(4, PING_PONG, named), "error: the job has 2 ranks and 3 hosts");
    let one = "ranks = \"1\"\n";
    assert_eq!(of(4, PING_PONG, one), "error: the job has 2 ranks and 1 host");
    let alone = "num_ranks 1\nrank 0 {\ncalc 5\n}\n";
    assert_eq!(of(2, alone, ""), "error: the job has 1 rank and no message");
    let acknowledged = "sends = \"acknowledged\"\n";
    assert_eq!(of(2, PING_PONG, acknowledged), "error: `ethernet` acknowledges nothing");
    let long = PING_PONG.replace("calc 1000", "calc 18446744073709551615");
    assert_eq!(of(2, &long, ""), "error: rank 0 computes for longer than any run");
    let broken = [&4_223u64.to_le_bytes()[..], &[2, 0, 0, 0, 0, 0]].concat();
    let broken = String::from_utf8(broken).unwrap();
    assert_eq!(of(2, &broken, ""), "error: `job.goal`: it has 14 bytes, which are no 2 ranks");
}

#[test]
fn what_is_doubtful_is_a_warning() {
    let folder = Folder::new("doubtful");
    let job = PING_PONG.replace("tag 7", "tag 7 nic 3").replace("calc 2000", "calc 20000000");
    let scenario = folder.scenario(2, &job, "").unwrap_or_else(|error| panic!("{error}"));
    let warnings: Vec<&str> = scenario.warnings().iter().map(|of| &*of.message).collect();
    assert_eq!(
        warnings,
        [
            "cpu 0 of rank 1 computes for 20 ms, and the run ends 10 ms after the start of the job",
            "messages wait for others to arrive, and `ethernet` does not repeat what is lost",
            "an operation has nic 3, which does not choose a port",
        ]
    );
}
