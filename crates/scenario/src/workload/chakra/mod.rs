//! Jobs from Chakra traces: every rank is a program that its host runs, and every message is a flow, also those
//! of collectives, whose schedules are those of the workload `collective`.

mod plan;
mod program;

use std::sync::Arc;

use floodway_model::check::{Check, Findings, count_of, rough_time};
use floodway_model::{CollectiveKind, Duration, FlowSpec, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::schedule::Algorithm;
use super::collective::{MOST_CHANNELS, MOST_CHUNKS, one};
use super::goal::Sends;
use super::{Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::{Problems, files};
use crate::document::Document;
use crate::files::chakra::{Counted, Job, Named, Node, What};
use plan::Planned;

/// Parameters. Every message is a flow of its own, with a congestion control that begins anew. Hosts
/// are named: none is taken from the order of placement, and flows may run on hosts of other
/// workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The traces, a file per rank: what their names have in common, like "step" for step.0.et, step.1.et
    /// and so on, or the folder that they are in. Relative to the scenario file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The traces in order of the ranks, instead of `path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The file with the ranks of the process groups, an object of JSON like {"1": [0, 2]}. Default those that
    /// the traces list themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// The hosts of the ranks, in order of their numbers, like "0-9" or "0, 4, 1, 5", by name, like
    /// "host 0-9", or "all", of which there may be more than ranks. Default all.
    #[serde(default = "Hosts::all")]
    pub ranks: Hosts,
    /// Which dependencies of a node must have finished before it begins. Default `both`.
    #[serde(default)]
    pub dependencies: Dependencies,
    /// What a rank does one after the other. Default `compute_and_communication`.
    #[serde(default)]
    pub streams: Streams,
    /// The unit of `duration_micros`; half of it makes all that has a duration twice as fast. Default 1us.
    #[serde(default = "microsecond")]
    pub unit: Duration,
    /// Peak performance of a GPU in 10^12 operations per second. With it, a computation with `num_ops` takes
    /// as long as its operations or its bytes need, whichever is longer, and not its duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_tflops: Option<f64>,
    /// Bandwidth of the memory of a GPU, which moves the `tensor_size` of computations with `num_ops`. Needs
    /// `peak_tflops`. Default unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bandwidth: Option<Rate>,
    /// How all-reduce is carried out. Default `ring`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_reduce: Option<Algorithm>,
    /// How reduce-scatter is carried out. Default `ring`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_scatter: Option<Algorithm>,
    /// How all-gather is carried out. Default `ring`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_gather: Option<Algorithm>,
    /// How broadcast is carried out, and reduce, which has the same messages in the other direction. Default
    /// `ring`, a chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Algorithm>,
    /// What `comm_size` of an all-gather is. Default `input`.
    #[serde(default)]
    pub all_gather_size: Gathered,
    /// Parts of the data of a collective that are carried side by side, each with flows of its own, which ECMP
    /// can send on different paths; one if it has fewer bytes. Default 1.
    #[serde(default = "one")]
    pub channels: u32,
    /// Chunks that each message of a ring or a tree is cut into and that follow each other; one if it has fewer
    /// bytes. Default 1.
    #[serde(default = "one")]
    pub chunks: u32,
    /// When a send is finished, so that what depends on it may begin. Default `handed_over`.
    #[serde(default)]
    pub sends: Sends,
    /// When all ranks begin, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
}

fn microsecond() -> Duration {
    Duration::from_us(1)
}

/// Which dependencies count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dependencies {
    /// Those of data and of control.
    #[default]
    Both,
    /// Those of data: for traces of PyTorch, whose control dependencies lead from the caller to what it calls and
    /// do not mean that the caller has ended.
    Data,
    /// Those of control.
    Control,
}

/// What a rank does one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Streams {
    /// Computations of the GPU, those of the CPU, and everything that a GPU transfers: collectives, sends, and
    /// accesses to memory.
    #[default]
    ComputeAndCommunication,
    /// Computations of the GPU, and those of the CPU.
    Compute,
    /// Nothing: a node begins when its dependencies have finished.
    None,
}

/// What the size of an all-gather is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gathered {
    /// What each rank gives.
    #[default]
    Input,
    /// What each rank has in the end.
    Output,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("unit", self.unit, "durations of Chakra are in microseconds: \"1us\"");
        findings.within_a_run("unit", self.unit);
        findings.positive("peak_tflops", self.peak_tflops, "an H100 has 989 for dense BF16");
        findings.positive("memory_bandwidth", self.memory_bandwidth, "an H100 has \"26.8Tbps\"");
        findings.range("channels", self.channels, 1..=MOST_CHANNELS, "NCCL has up to 32");
        findings.range("chunks", self.chunks, 1..=MOST_CHUNKS, "each is a flow of its own");
        if self.memory_bandwidth.is_some() && self.peak_tflops.is_none() {
            findings.error(
                "memory_bandwidth",
                "there is a memory bandwidth and no peak performance",
                "write `peak_tflops` too: computations take the longer of both times",
            );
        }
        match (self.path.is_empty(), self.files.is_empty()) {
            (true, true) => findings.error(
                ["path", ""],
                "nothing says where the traces are",
                "write path = \"step\" for step.0.et, step.1.et and so on",
            ),
            (false, false) => findings.error(
                ["files", "path"],
                "there are `path` and `files`",
                "write one of them",
            ),
            _ => {}
        }
        self.check_algorithms(findings);
    }
}

impl Spec {
    /// The parameters of nodes that are not from files, whose durations have this unit. Sizes are those of nccl-tests.
    pub(super) fn of_nodes(unit: Duration, streams: Streams) -> Self {
        Self {
            path: String::new(),
            files: Vec::new(),
            groups: None,
            ranks: Hosts::all(),
            dependencies: Dependencies::Both,
            streams,
            unit,
            peak_tflops: None,
            memory_bandwidth: None,
            all_reduce: None,
            reduce_scatter: None,
            all_gather: None,
            broadcast: None,
            all_gather_size: Gathered::Output,
            channels: one(),
            chunks: one(),
            sends: Sends::HandedOver,
            start: Duration::ZERO,
        }
    }

    /// Whether the chosen algorithms carry out their collectives.
    pub(super) fn check_algorithms(&self, findings: &mut Findings<'_>) {
        for (field, kind, chosen) in self.algorithms() {
            let all: Vec<Algorithm> = offered(kind).collect();
            if let Some(algorithm) = chosen.filter(|chosen| !all.contains(chosen)) {
                let others: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
                findings.error(
                    field,
                    format!("there is no {} by {}", kind.name(), algorithm.name()),
                    format!("those of {} are: {}", kind.name(), others.join(", ")),
                );
            }
        }
    }

    /// The chosen algorithms, each with its field.
    fn algorithms(&self) -> [(&'static str, CollectiveKind, Option<Algorithm>); 4] {
        use CollectiveKind::{AllGather, AllReduce, Broadcast, ReduceScatter};
        [
            ("all_reduce", AllReduce, self.all_reduce),
            ("reduce_scatter", ReduceScatter, self.reduce_scatter),
            ("all_gather", AllGather, self.all_gather),
            ("broadcast", Broadcast, self.broadcast),
        ]
    }

    /// How a collective is carried out.
    fn algorithm(&self, kind: CollectiveKind) -> Algorithm {
        let chosen = self.algorithms().into_iter().find(|of| of.1 == kind).and_then(|of| of.2);
        chosen.unwrap_or(Algorithm::of(kind)[0])
    }

    fn counted(&self) -> Counted {
        Counted {
            data: self.dependencies != Dependencies::Control,
            control: self.dependencies != Dependencies::Data,
        }
    }

    /// The field that says where the traces are.
    fn traces(&self) -> &'static str {
        if self.files.is_empty() { "path" } else { "files" }
    }

    /// How long a node computes or accesses a memory; `None` if that is longer than any run. Nothing for other
    /// nodes.
    fn time(&self, node: &Node) -> Option<Duration> {
        let (micros, work) = match node.what {
            What::Memory { micros } => (micros, None),
            What::Compute { micros, operations, bytes } => {
                let on_gpu = operations.filter(|_| !node.on_cpu);
                (
                    micros,
                    on_gpu
                        .zip(self.peak_tflops)
                        .map(|(operations, peak)| (operations, peak, bytes)),
                )
            }
            _ => return Some(Duration::ZERO),
        };
        // So that times of a run cannot overflow.
        const MOST: u64 = u64::MAX / 4;
        let Some((operations, peak, bytes)) = work else {
            return micros.checked_mul(self.unit.0).filter(|&time| time < MOST).map(Duration);
        };
        // A roofline: 10^12 operations per second are one in a picosecond.
        let computes = operations as f64 / peak;
        let moves = self.memory_bandwidth.map_or(0.0, |rate| bytes as f64 * 8e12 / rate.0 as f64);
        let time = computes.max(moves).round();
        (time < MOST as f64).then_some(Duration(time as u64))
    }

    /// Whether every computation, and all of a rank, is possible.
    fn check_times(
        &self,
        job: &Job,
        settings: &Document,
        findings: &mut Findings<'_>,
    ) -> Option<()> {
        let mut longest: Option<(Duration, usize, &str)> = None;
        for (rank, nodes) in job.ranks.iter().enumerate() {
            // Of the GPU and of the CPU.
            let mut sums = [0u64; 2];
            for node in nodes {
                let sum = &mut sums[usize::from(node.on_cpu)];
                let time = self.time(node).and_then(|time| sum.checked_add(time.0));
                let Some(time) = time.filter(|&time| time < u64::MAX / 4) else {
                    findings.error(
                        ["unit", "peak_tflops", self.traces()],
                        format!("rank {rank} computes for longer than any run"),
                        "shorten its nodes, or make `unit` smaller",
                    );
                    return None;
                };
                *sum = time;
                if let What::Compute { micros: 0, operations: Some(operations), .. } = node.what
                    && self.peak_tflops.is_none()
                {
                    findings.error(
                        ["peak_tflops", self.traces()],
                        format!(
                            "{} of rank {rank} has {operations} operations (num_ops) and no duration",
                            node.text()
                        ),
                        "write how fast a GPU is: `peak_tflops`, and `memory_bandwidth` for its tensor_size",
                    );
                    return None;
                }
            }
            for (time, of) in sums.into_iter().zip(["GPU", "CPU"]) {
                if longest.is_none_or(|(most, ..)| Duration(time) > most) {
                    longest = Some((Duration(time), rank, of));
                }
            }
        }
        let left = Duration(settings.limit.0.saturating_sub(self.start.0));
        if let Some((time, rank, of)) =
            longest.filter(|(time, ..)| *time > left && self.streams != Streams::None)
        {
            findings.warn(
                ["/limit", "unit"],
                format!(
                    "the {of} of rank {rank} is busy for {}, and the run ends {} after the start of the job",
                    rough_time(time),
                    rough_time(left)
                ),
                "the job will not finish: raise `limit`",
            );
        }
        let memory = job.ranks.iter().enumerate().find_map(|(rank, nodes)| {
            let node = nodes.iter().find(|node| node.what == What::Memory { micros: 0 })?;
            Some((rank, node))
        });
        if let Some((rank, node)) = memory {
            findings.warn(
                self.traces(),
                format!("{} of rank {rank} accesses a memory and has no duration", node.text()),
                "it takes no time here: write its duration_micros",
            );
        }
        Some(())
    }
}

/// The algorithms of a collective. Traces do not say which ranks are in one server, so there is none in two tiers.
fn offered(kind: CollectiveKind) -> impl Iterator<Item = Algorithm> {
    Algorithm::of(kind).iter().copied().filter(|of| *of != Algorithm::Hierarchical)
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        // What is wrong with parameters is reported with all of them.
        let cuts = (1..=MOST_CHANNELS).contains(&self.channels)
            && (1..=MOST_CHUNKS).contains(&self.chunks);
        let known = self.algorithms().iter().all(|(_, kind, chosen)| {
            chosen.is_none_or(|chosen| offered(*kind).any(|offered| offered == chosen))
        });
        if self.path.is_empty() == self.files.is_empty() || !cuts || !known {
            return None;
        }
        let named = Named {
            path: &self.path,
            files: &self.files,
            groups: self.groups.as_deref(),
            counted: self.counted(),
        };
        let job = files::read_chakra(&format!("{path}.{}", self.traces()), named, findings);
        let findings = &mut findings.within(path);
        // What begins later may be measured.
        check::starts(self.start, false, settings, findings);
        let Some(job) = job else {
            check::numbers("ranks", &self.ranks, settings, findings);
            return None;
        };
        let ranks = job.ranks.len();
        let hosts = check::hosts_of_ranks(ranks, &self.ranks, self.traces(), settings, findings)?;
        self.check_times(&job, settings, findings)?;
        let placed = Placed::new(self.clone(), job, hosts, self.traces(), findings)?;
        Some(Arc::new(placed))
    }
}

/// With its files read and its hosts found.
#[derive(Debug)]
pub(super) struct Placed {
    spec: Spec,
    job: Job,
    planned: Planned,
    hosts: Vec<u32>,
    /// By rank, how many nodes it has up to the end of each round; empty if the job has no rounds.
    rounds: Vec<Vec<u32>>,
}

impl Placed {
    /// A job on its hosts, if its messages can be; `field` is the one that says what the job is.
    pub(super) fn new(
        spec: Spec,
        job: Job,
        hosts: Vec<u32>,
        field: &str,
        findings: &mut Findings<'_>,
    ) -> Option<Self> {
        let planned = match Planned::new(&spec, &job) {
            Ok(planned) => planned,
            Err((of, message, help)) => {
                findings.error([of, field], message, help);
                return None;
            }
        };
        if planned.messages == 0 {
            let count = count_of(job.ranks.len() as u64, "rank");
            findings.error(
                field,
                format!("the job has {count} and no message"),
                "take a job with collectives, or with sends and receives",
            );
            return None;
        }
        // Each message has a step at both ends, which are numbered in 32 bits.
        if planned.messages > u64::from(u32::MAX) / 4 {
            findings.error(
                field,
                format!("the job has {} messages", planned.messages),
                "at most 1e9 are possible: make `chunks` and `channels` smaller, or take a shorter job",
            );
            return None;
        }
        Some(Self { spec, job, planned, hosts, rounds: Vec::new() })
    }

    /// The same job, whose ranks have so many nodes up to the end of each round.
    pub(super) fn in_rounds(self, rounds: Vec<Vec<u32>>) -> Self {
        Self { rounds, ..self }
    }
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        program::traffic(self, around)
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        self.planned.messages as f64
    }

    fn waits_for_arrivals(&self) -> bool {
        true
    }

    fn waits_for_acknowledgements(&self) -> Option<&'static str> {
        (self.spec.sends == Sends::Acknowledged).then_some("sends")
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn largest_flow(&self) -> u64 {
        self.planned.largest
    }

    fn size_fields(&self) -> Vec<String> {
        vec![self.spec.traces().to_owned()]
    }
}
