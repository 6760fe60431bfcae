//! Training of a transformer by its shape: what each rank computes and exchanges follows from the model, the GPU and
//! the degrees of parallelism. The formulas are in `model.rs`, the nodes that follow from them in `job.rs`; as
//! programs they are those of the workload `chakra`.

mod job;
mod model;
mod order;
mod placed;

use std::sync::Arc;

use floodway_model::Duration;
use floodway_model::check::{Check, Finding, Findings, Severity, count_of, rough_time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chakra::{self, Streams};
use super::collective::schedule::Algorithm;
use super::collective::{MOST_CHANNELS, MOST_CHUNKS, one};
use super::goal::Sends;
use super::{Hosts, Parameters, Ready, check};
use crate::check::Problems;
use crate::document::Document;
use crate::files::chakra::job as matched;
use crate::topology;
pub use model::{Degrees, Numbers};
use placed::Placed;

/// Parameters. A transformer with an inner size of four times the hidden size. Every message is a flow of its own, with
/// a congestion control that begins anew. Hosts are named: none is taken from the order of placement, and
/// flows may run on hosts of other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Layers of the model; a multiple of `pipeline_parallel`.
    pub layers: u32,
    /// Hidden size; a multiple of `tensor_parallel`.
    pub hidden: u32,
    /// Tokens of a sequence.
    pub sequence: u32,
    /// Tokens of the vocabulary. With it the model has embeddings of tokens and positions, and an output. Default 0.
    #[serde(default)]
    pub vocabulary: u32,
    /// Experts of a layer: perceptrons of which each token takes `experts_per_token`, all equally often. Default 1.
    #[serde(default = "one")]
    pub experts: u32,
    /// Experts that each token takes. Default 1.
    #[serde(default = "one")]
    pub experts_per_token: u32,
    /// Sequences of a micro-batch. Default 1.
    #[serde(default = "one")]
    pub micro_batch: u32,
    /// Micro-batches of each replica in an iteration.
    pub micro_batches: u32,
    /// Iterations, one after the other. Default 1.
    #[serde(default = "one")]
    pub iterations: u32,
    /// Ranks that divide each layer: every matrix of Megatron-LM by columns or rows. They are consecutive ranks. Default 1.
    #[serde(default = "one")]
    pub tensor_parallel: u32,
    /// Stages that the layers are divided into. Default 1.
    #[serde(default = "one")]
    pub pipeline_parallel: u32,
    /// Parts of the model in each stage, which each micro-batch passes one after the other: interleaved stages, which
    /// divide the bubble by this number (Narayanan et al. 2021). `micro_batches` is then a multiple of
    /// `pipeline_parallel`. Default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub virtual_stages: u32,
    /// In which order a stage takes micro-batches. Default `one_forward_one_backward`.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub schedule: Schedule,
    /// Replicas of the model. Default as many as there are hosts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_parallel: Option<u32>,
    /// Replicas that divide the experts of each layer; a divisor of `data_parallel` and `experts`. Default 1.
    #[serde(default = "one")]
    pub expert_parallel: u32,
    /// Whether the activations between layers are divided among the ranks of tensor parallelism: reduce-scatters and
    /// all-gathers take the place of its all-reduces. Default false.
    #[serde(default)]
    pub sequence_parallel: bool,
    /// Whether activations are not stored and every layer is computed again before its backward pass. Default false.
    #[serde(default)]
    pub recompute: bool,
    /// Which ranks follow each other. Default `tensor_data_pipeline`.
    #[serde(default)]
    pub order: Order,
    /// Bytes of a parameter and of an activation. Default 2.
    #[serde(default = "two")]
    pub bytes_per_element: u32,
    /// Bytes of a gradient. Default 2.
    #[serde(default = "two")]
    pub bytes_per_gradient: u32,
    /// Peak performance of a GPU in 10^12 operations per second.
    pub peak_tflops: f64,
    /// Part of the peak that computations reach. Default 0.5.
    #[serde(default = "half")]
    pub efficiency: f64,
    /// Who has the state of the optimizer, and so how gradients are added up. Default `replicated`.
    #[serde(default)]
    pub optimizer: Optimizer,
    /// Parts of the layers of a stage whose gradients are added up as soon as the last micro-batch has been backward
    /// through them, beside the computation of the other parts. Default 1: after all computation.
    #[serde(default = "one")]
    pub buckets: u32,
    /// The hosts of the ranks, in order of their numbers, like "0-9" or "0, 4, 1, 5", by name, like
    /// "host 0-9", or "all", of which there may be more than ranks. Default all.
    #[serde(default = "Hosts::all")]
    pub ranks: Hosts,
    /// How all-reduce is carried out. Default `ring`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_reduce: Option<Algorithm>,
    /// How reduce-scatter is carried out. Default `ring`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_scatter: Option<Algorithm>,
    /// How all-gather is carried out. Default `ring`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_gather: Option<Algorithm>,
    /// Parts of the data of a collective that are carried side by side, each with flows of its own, which ECMP
    /// can send on different paths; one if it has fewer bytes. Default 1.
    #[serde(default = "one")]
    pub channels: u32,
    /// Chunks that each message of a ring or a tree is cut into and that follow each other; one if it has fewer
    /// bytes. Default 1.
    #[serde(default = "one")]
    pub chunks: u32,
    /// When a send is finished. Default `handed_over`.
    #[serde(default)]
    pub sends: Sends,
    /// When all ranks begin, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
}

fn two() -> u32 {
    2
}

fn half() -> f64 {
    0.5
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_usual(schedule: &Schedule) -> bool {
    *schedule == Schedule::OneForwardOneBackward
}

/// In which order a stage takes micro-batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Alternately forward and backward as soon as that is possible, which holds few activations (Narayanan et al.
    /// 2021, figure 4).
    #[default]
    OneForwardOneBackward,
    /// All forward, then all backward (GPipe, Huang et al. 2019).
    Gpipe,
}

/// Which ranks follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Those that divide layers, then replicas, then stages, as in Megatron-LM.
    #[default]
    TensorDataPipeline,
    /// Those that divide layers, then stages, then replicas.
    TensorPipelineData,
}

/// Who has the state of the optimizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Optimizer {
    /// Every replica: gradients are added up by all-reduces.
    #[default]
    Replicated,
    /// Each replica its part: gradients are added up by reduce-scatters, and after the last one parameters are
    /// exchanged by an all-gather (Rajbhandari et al. 2020, ZeRO stage 1).
    Sharded,
}

/// So that numbers of bytes and operations cannot overflow, far above any model.
const MOST_LAYERS: u32 = 65_536;
const MOST_HIDDEN: u32 = 1 << 20;
const MOST_SEQUENCE: u32 = 1 << 24;
const MOST_BATCHES: u32 = 65_536;
const MOST_BYTES: u32 = 16;
/// In 10^12 operations per second, more than a thousand of the fastest GPUs: probably another unit was meant.
const FASTEST_GPU: f64 = 1e7;

/// Nodes of all ranks that can be made.
const MOST_NODES: u64 = 5_000_000;

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("layers", self.layers, 1..=MOST_LAYERS, "GPT-3 has 96");
        findings.range("hidden", self.hidden, 1..=MOST_HIDDEN, "GPT-3 has 12288");
        findings.range("sequence", self.sequence, 1..=MOST_SEQUENCE, "GPT-3 has 2048");
        findings.range("experts", self.experts, 1..=MOST_LAYERS, "1 is a model without experts");
        findings.range("micro_batch", self.micro_batch, 1..=MOST_BATCHES, "usual is 1 to 8");
        findings.range("micro_batches", self.micro_batches, 1..=MOST_BATCHES, "");
        findings.range("iterations", self.iterations, 1..=MOST_BATCHES, "or remove the workload");
        findings.range("bytes_per_element", self.bytes_per_element, 1..=MOST_BYTES, "BF16 has 2");
        let gradient = self.bytes_per_gradient;
        findings.range("bytes_per_gradient", gradient, 1..=MOST_BYTES, "FP32 has 4");
        findings.positive("peak_tflops", self.peak_tflops, "an H100 has 989 for dense BF16");
        findings.weight(
            "efficiency",
            self.efficiency,
            "Narayanan et al. (2021) reach 0.44 to 0.52",
        );
        findings.range("channels", self.channels, 1..=MOST_CHANNELS, "NCCL has up to 32");
        findings.range("chunks", self.chunks, 1..=MOST_CHUNKS, "each is a flow of its own");
        for (field, degree) in self.degrees_written() {
            findings.range(field, degree, 1.., "1 divides nothing");
        }
        self.check_divisors(findings);
        self.as_trace().check_algorithms(findings);
    }
}

impl Spec {
    /// The degrees as they are written.
    fn degrees_written(&self) -> [(&'static str, u32); 4] {
        [
            ("tensor_parallel", self.tensor_parallel),
            ("pipeline_parallel", self.pipeline_parallel),
            ("data_parallel", self.data_parallel.unwrap_or(1)),
            ("expert_parallel", self.expert_parallel),
        ]
    }

    /// Whether what is to be divided can be.
    fn check_divisors(&self, findings: &mut Findings<'_>) {
        let Self { layers, hidden, sequence, experts, .. } = *self;
        let (tensor, pipeline, expert) =
            (self.tensor_parallel, self.pipeline_parallel, self.expert_parallel);
        let divides = |of: u32, by: u32| by == 0 || of.is_multiple_of(by);
        if !divides(layers, pipeline) {
            findings.error(
                ["pipeline_parallel", "layers"],
                format!(
                    "{layers} layers cannot be divided into {pipeline} stages of the same size"
                ),
                format!("write a divisor of {layers}"),
            );
        } else if pipeline > 0 && layers > 0 {
            let most = layers / pipeline;
            findings.range(
                "buckets",
                self.buckets,
                1..=most,
                "a bucket has at least a layer of a stage",
            );
        }
        self.check_parts(findings);
        if !divides(hidden, tensor) {
            findings.error(
                ["tensor_parallel", "hidden"],
                format!("a hidden size of {hidden} cannot be divided by {tensor}"),
                format!("write a divisor of {hidden}"),
            );
        }
        if self.sequence_parallel && !divides(sequence, tensor) {
            findings.error(
                ["sequence_parallel", "sequence"],
                format!("sequences of {sequence} tokens cannot be divided by {tensor}"),
                format!("make `sequence` a multiple of {tensor}, or remove `sequence_parallel`"),
            );
        }
        if self.sequence_parallel && tensor == 1 {
            findings.idle("sequence_parallel", "`tensor_parallel` is 1");
        }
        if self.experts_per_token == 0 || self.experts_per_token > experts {
            findings.error(
                ["experts_per_token", "experts"],
                format!("a token cannot take {} of {experts} experts", self.experts_per_token),
                "write at least 1 and at most `experts`",
            );
        }
        if !divides(experts, expert) {
            findings.error(
                ["expert_parallel", "experts"],
                format!("{} cannot be divided over {expert} replicas", count_of(experts, "expert")),
                match experts {
                    1 => "write `experts`: how many a layer has".to_owned(),
                    _ => format!("write a divisor of {experts}"),
                },
            );
        } else if expert > 1 && tensor > 1 && !self.sequence_parallel {
            findings.error(
                ["expert_parallel", "tensor_parallel"],
                "experts are divided, and all ranks of tensor parallelism have the same tokens",
                "add sequence_parallel = true, as Megatron-LM requires, so that each rank sends its part of \
                 them",
            );
        }
    }

    /// Whether stages can have several parts.
    fn check_parts(&self, findings: &mut Findings<'_>) {
        const FIELD: &str = "virtual_stages";
        let (parts, pipeline, batches) =
            (self.virtual_stages, self.pipeline_parallel, self.micro_batches);
        findings.range(FIELD, parts, 1..=MOST_LAYERS, "1 has no interleaved stages");
        if parts <= 1 || pipeline == 0 || batches == 0 {
            return;
        }
        if pipeline == 1 {
            findings.error(
                [FIELD, "pipeline_parallel"],
                format!(
                    "one stage alone has {parts} parts, which follow each other without a bubble"
                ),
                "remove `virtual_stages`, or write `pipeline_parallel` of at least 2",
            );
            return;
        }
        if self.schedule == Schedule::Gpipe {
            findings.error(
                ["schedule", FIELD],
                "`gpipe` has no interleaved stages",
                "remove `virtual_stages`, or write schedule = \"one_forward_one_backward\"",
            );
        }
        if !batches.is_multiple_of(pipeline) {
            let next = u64::from(batches).next_multiple_of(pipeline.into());
            findings.error(
                ["micro_batches", FIELD],
                format!(
                    "`micro_batches` of {batches} cannot be interleaved over {pipeline} stages: as many as there are \
                     stages pass a part together"
                ),
                format!("write a multiple of {pipeline}, like {next}, or remove `virtual_stages`"),
            );
        }
        let all = u64::from(parts) * u64::from(pipeline);
        if self.layers.is_multiple_of(pipeline) && !u64::from(self.layers).is_multiple_of(all) {
            let of_stage = self.layers / pipeline;
            findings.error(
                [FIELD, "layers"],
                format!("{of_stage} layers of a stage cannot be divided into {parts} parts of the same size"),
                format!("write a divisor of {of_stage}"),
            );
        }
    }

    /// What the workload `chakra` needs to carry out nodes with times in picoseconds.
    fn as_trace(&self) -> chakra::Spec {
        chakra::Spec {
            all_reduce: self.all_reduce,
            reduce_scatter: self.reduce_scatter,
            all_gather: self.all_gather,
            channels: self.channels,
            chunks: self.chunks,
            sends: self.sends,
            start: self.start,
            ranks: self.ranks.clone(),
            ..chakra::Spec::of_nodes(Duration(1), Streams::Compute)
        }
    }

    /// The degrees for so many hosts, which are all of the network unless `ranks` names some.
    fn degrees(&self, hosts: u64, findings: &mut Findings<'_>) -> Option<Degrees> {
        let (tensor, pipeline, expert) =
            (self.tensor_parallel, self.pipeline_parallel, self.expert_parallel);
        let replica = u64::from(tensor) * u64::from(pipeline);
        let remedy = match self.ranks {
            Hosts::All => "change the size of the network, or name the hosts in `ranks`",
            _ => "change the number of hosts in `ranks`",
        };
        let data = match self.data_parallel {
            Some(data) => data,
            None if hosts.is_multiple_of(replica) => u32::try_from(hosts / replica).ok()?,
            None => {
                findings.error(
                    ["tensor_parallel", "pipeline_parallel", "ranks", ""],
                    format!(
                        "{hosts} hosts cannot be divided into replicas of tensor {tensor} x pipeline {pipeline} = \
                         {} ranks",
                        replica
                    ),
                    format!("{remedy}, or write how many replicas there are: `data_parallel`"),
                );
                return None;
            }
        };
        let ranks = replica.saturating_mul(data.into());
        if ranks > hosts || (ranks < hosts && self.ranks != Hosts::All) {
            findings.error(
                ["data_parallel", "tensor_parallel", "ranks", ""],
                format!(
                    "tensor {tensor} x data {data} x pipeline {pipeline} are {}, and there are {hosts} hosts",
                    count_of(ranks, "rank")
                ),
                remedy,
            );
            return None;
        }
        if ranks < 2 {
            findings.error(
                ["tensor_parallel", "data_parallel", "ranks", ""],
                "one rank alone has nobody to send to",
                "make a degree of parallelism larger than 1",
            );
            return None;
        }
        if !data.is_multiple_of(expert) {
            findings.error(
                ["expert_parallel", "data_parallel"],
                format!(
                    "{data} replicas cannot be divided into groups of {expert} that share experts"
                ),
                format!("write a divisor of {data}"),
            );
            return None;
        }
        Some(Degrees { tensor, data, pipeline, expert })
    }

    /// Whether there are not too many nodes, and none of them is too large.
    fn check_sizes(
        &self,
        degrees: Degrees,
        settings: &Document,
        findings: &mut Findings<'_>,
    ) -> Option<()> {
        let layers = u64::from(self.layers / degrees.pipeline);
        // A collective before and after both halves of a layer forward, again, and backward, and the computations.
        let of_batch = if degrees.tensor > 1 || degrees.expert > 1 { 24 * layers } else { 6 };
        let of_batch = of_batch.max(6 * u64::from(self.virtual_stages));
        let nodes = u64::from(self.micro_batches)
            .saturating_mul(of_batch)
            .saturating_add(layers)
            .saturating_mul(self.iterations.into())
            .saturating_mul(degrees.ranks());
        if nodes > MOST_NODES {
            findings.error(
                ["micro_batches", "iterations", ""],
                format!("the job has about {nodes} computations and collectives"),
                format!("at most {MOST_NODES} are possible: fewer iterations or micro-batches show the same"),
            );
            return None;
        }
        let largest = [
            self.around_mlp(degrees),
            self.between_experts(degrees),
            self.stage_of_rank(degrees, 0).dense * u128::from(self.bytes_per_gradient),
            self.stage_of_rank(degrees, 0).experts * u128::from(self.bytes_per_gradient),
        ];
        const MOST: u128 = 1 << 50;
        if let Some(bytes) = largest.into_iter().find(|&bytes| bytes > MOST) {
            findings.error(
                ["hidden", "layers"],
                format!("a collective has {:.1} PB", bytes as f64 / 1e15),
                "make `hidden`, `layers` or `sequence` smaller",
            );
            return None;
        }
        let numbers = self.numbers(degrees, String::new());
        let computes = (numbers.forward.0 as f64 + numbers.backward.0 as f64)
            * f64::from(self.micro_batches)
            * f64::from(self.iterations);
        if computes > (u64::MAX / 4) as f64 {
            findings.error(
                ["peak_tflops", "micro_batches"],
                "a rank computes for longer than any run",
                "make `peak_tflops` larger, or the model smaller",
            );
            return None;
        }
        if self.peak_tflops > FASTEST_GPU {
            findings.warn(
                ["peak_tflops"],
                format!("a GPU makes {:e} x 10^12 operations per second", self.peak_tflops),
                "write 989.0 for 989e12 operations per second, those of an H100 for dense BF16",
            );
        }
        let left = Duration(settings.limit.0.saturating_sub(self.start.0));
        if computes > left.0 as f64 {
            findings.warn(
                ["/limit", "micro_batches"],
                format!(
                    "a rank computes for {}, and the run ends {} after the start of the job",
                    rough_time(Duration(computes as u64)),
                    rough_time(left)
                ),
                "the job will not finish: raise `limit`",
            );
        }
        Some(())
    }

    /// Whether tensor parallelism stays in servers, where the network has some.
    fn check_servers(&self, hosts: &[u32], settings: &Document, findings: &mut Findings<'_>) {
        let topology::Spec::Rails(rails) = &settings.topology else { return };
        let tensor = self.tensor_parallel as usize;
        let server = |host: u32| host / rails.gpus.max(1);
        let crosses = |group: &[u32]| group.iter().any(|&host| server(host) != server(group[0]));
        if rails.nvlink.is_some() && tensor > 1 && hosts.chunks(tensor).any(crosses) {
            findings.warn(
                ["tensor_parallel", ""],
                format!(
                    "a group of {tensor} ranks that divide layers is in several servers of {} GPUs",
                    rails.gpus
                ),
                "its collectives do not stay on NVLink: write a divisor of the GPUs of a server, or another order of \
                 `ranks`",
            );
        }
    }
}

impl Parameters for Spec {
    fn rounds(&self) -> Option<(u32, &'static str)> {
        Some((self.iterations, "iterations"))
    }

    fn with_rounds(&self, rounds: u32) -> Option<Box<dyn Parameters>> {
        Some(Box::new(Self { iterations: rounds, ..self.clone() }))
    }

    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        // What begins later may be measured.
        check::starts(self.start, false, settings, findings);
        let mut hosts = check::numbers("ranks", &self.ranks, settings, findings)?;
        // What is wrong with parameters is reported with all of them.
        if !self.is_possible() {
            return None;
        }
        let degrees = self.degrees(hosts.len() as u64, findings)?;
        self.check_sizes(degrees, settings, findings)?;
        hosts.truncate(degrees.ranks() as usize);
        self.check_servers(&hosts, settings, findings);
        let (nodes, groups, ends) = job::nodes(self, degrees);
        let job = match matched(nodes, groups) {
            Ok(job) => job,
            Err((message, help)) => {
                findings.error("", message, help);
                return None;
            }
        };
        let as_trace = self.as_trace();
        let placed = chakra::Placed::new(as_trace, job, hosts, "micro_batches", findings)?;
        let placed = placed.in_rounds(ends);
        Some(Arc::new(Placed { spec: self.clone(), degrees, placed }))
    }
}

impl Spec {
    /// Whether the numbers by themselves are possible, so that others can be computed from them.
    fn is_possible(&self) -> bool {
        let mut found: Vec<Finding> = Vec::new();
        self.check(&mut Findings::new("", &mut found));
        found.iter().all(|finding| finding.severity != Severity::Error)
    }
}
