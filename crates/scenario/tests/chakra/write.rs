//! Traces as the tests write them, and scenarios with them.

use std::path::PathBuf;

use crate::patterns::ps;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation, Stop};

/// Types of nodes.
pub(super) const METADATA: u64 = 1;
pub(super) const MEM_LOAD: u64 = 2;
pub(super) const COMP: u64 = 4;
pub(super) const SEND: u64 = 5;
pub(super) const RECV: u64 = 6;
pub(super) const COLL: u64 = 7;

/// Types of collectives.
pub(super) const ALL_REDUCE: u64 = 0;
pub(super) const ALL_GATHER: u64 = 2;

/// A microsecond in picoseconds.
pub(super) const US: u64 = 1_000_000;

pub(super) fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// A field of protobuf that is a number.
pub(super) fn number(field: u64, value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(field << 3, &mut bytes);
    varint(value, &mut bytes);
    bytes
}

/// One that is a text or a message.
pub(super) fn octets(field: u64, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(field << 3 | 2, &mut bytes);
    varint(value.len() as u64, &mut bytes);
    bytes.extend(value);
    bytes
}

/// A node of a trace, as the tests write it.
#[derive(Clone)]
pub(super) struct Node(pub(super) Vec<u8>);

pub(super) fn node(id: u64, name: &str, kind: u64) -> Node {
    Node([number(1, id), octets(2, name.as_bytes()), number(3, kind)].concat())
}

impl Node {
    pub(super) fn with(mut self, field: Vec<u8>) -> Self {
        self.0.extend(field);
        self
    }

    /// Identifiers in packed form, as protobuf writes them.
    pub(super) fn after(self, field: u64, ids: &[u64]) -> Self {
        let mut packed = Vec::new();
        ids.iter().for_each(|&id| varint(id, &mut packed));
        self.with(octets(field, &packed))
    }

    pub(super) fn data(self, ids: &[u64]) -> Self {
        self.after(5, ids)
    }

    pub(super) fn control(self, ids: &[u64]) -> Self {
        self.after(4, ids)
    }

    pub(super) fn micros(self, micros: u64) -> Self {
        self.with(number(7, micros))
    }

    /// An attribute of kind int64.
    pub(super) fn whole(self, name: &str, value: u64) -> Self {
        self.with(octets(10, &[octets(1, name.as_bytes()), number(9, value)].concat()))
    }

    pub(super) fn text(self, name: &str, value: &str) -> Self {
        self.with(octets(10, &[octets(1, name.as_bytes()), octets(29, value.as_bytes())].concat()))
    }

    pub(super) fn on_cpu(self) -> Self {
        self.with(octets(10, &[octets(1, b"is_cpu_op"), number(27, 1)].concat()))
    }
}

pub(super) fn compute(id: u64, micros: u64) -> Node {
    node(id, "work", COMP).micros(micros)
}

pub(super) fn collective(id: u64, kind: u64, bytes: u64) -> Node {
    node(id, "gradients", COLL).whole("comm_type", kind).whole("comm_size", bytes)
}

pub(super) fn message(id: u64, kind: u64, [from, to]: [u64; 2], bytes: u64) -> Node {
    let of = node(id, "message", kind).whole("comm_size", bytes).whole("comm_tag", 7);
    of.whole("comm_src", from).whole("comm_dst", to)
}

/// A file.
pub(super) fn trace(version: &str, nodes: &[Node]) -> Vec<u8> {
    let first = octets(1, version.as_bytes());
    let mut bytes = Vec::new();
    for message in std::iter::once(&first).chain(nodes.iter().map(|node| &node.0)) {
        varint(message.len() as u64, &mut bytes);
        bytes.extend(message);
    }
    bytes
}

/// A folder for the files of a test.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("chakra").join(name);
        // Traces of an earlier run of the test may be of more ranks.
        std::fs::remove_dir_all(&path).ok();
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn file(&self, name: &str, bytes: &[u8]) -> &Self {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self
    }

    /// Writes the traces of the ranks, instead of those of earlier ones.
    pub(super) fn traces(&self, ranks: &[Vec<Node>]) -> &Self {
        for rank in ranks.len()..9 {
            std::fs::remove_file(self.0.join(format!("job.{rank}.et"))).ok();
        }
        for (rank, nodes) in ranks.iter().enumerate() {
            self.file(&format!("job.{rank}.et"), &trace("1.0.0", nodes));
        }
        self
    }

    /// A scenario on a star at 100 Gb/s and 200 ns with Ethernet frames, which are not acknowledged.
    pub(super) fn star(&self, hosts: u32, workload: &str) -> Result<Scenario, String> {
        let text = format!(
            "name = \"job\"\narrivals = \"1ms\"\nlimit = \"10ms\"\n[topology.star]\nhosts = {hosts}\n\
             [switch.queue]\nsize = \"100MB\"\n[host]\ntransport = \"ethernet\"\n[[workload]]\n{workload}"
        );
        self.parse(&text)
    }

    pub(super) fn parse(&self, text: &str) -> Result<Scenario, String> {
        let name = self.0.join("s.toml");
        let overrides = Overrides { quick: false, set: Vec::new() };
        Scenario::parse(text, name.to_str().unwrap(), &overrides).map_err(|error| error.plain())
    }

    /// The job of its traces with these parameters besides.
    pub(super) fn scenario(&self, hosts: u32, with: &str) -> Result<Scenario, String> {
        self.star(hosts, &format!("[workload.chakra]\npath = \"job\"\n{with}"))
    }

    pub(super) fn run(&self, hosts: u32, with: &str) -> Outcome {
        run(self.scenario(hosts, with))
    }

    /// What is wrong, and the remedy.
    pub(super) fn wrong(&self, hosts: u32, with: &str) -> [String; 2] {
        let text = self.scenario(hosts, with).expect_err("it is wrong");
        let text = text.replace(&format!("{}/", self.0.display()), "");
        let line = |begins: &str| {
            let found = text.lines().find_map(|line| line.trim().strip_prefix(begins));
            found.unwrap_or_else(|| panic!("{text}")).to_owned()
        };
        [line("error: "), line("= help: ")]
    }
}

pub(super) fn run(scenario: Result<Scenario, String>) -> Outcome {
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(outcome.stop, Stop::FlowsDone);
    outcome
}

/// When each rank finished.
pub(super) fn ends(outcome: &Outcome) -> Vec<u64> {
    ps(outcome, "ranks", "finish_ns")
}

/// Two ranks with the same nodes, of which rank 1 has the other end of every message.
pub(super) fn both(nodes: &[Node]) -> [Vec<Node>; 2] {
    [nodes.to_vec(), nodes.to_vec()]
}
