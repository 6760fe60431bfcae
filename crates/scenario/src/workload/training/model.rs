//! The arithmetic of a transformer: parameters, operations and bytes, and how degrees of parallelism divide them.
//!
//! Sources: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM" (SC
//! 2021): equation 2 for parameters, equation 3 for operations, section 3.2 for bytes. Shoeybi et al., "Megatron-LM"
//! (2019), for what tensor parallelism divides. Korthikanti et al., "Reducing Activation Recomputation in Large
//! Transformer Models" (2022), for sequence parallelism. Fedus et al., "Switch Transformers" (2021), for experts.
//! In the formulas h is the hidden size, s the length of a sequence, b the sequences of a micro-batch, V the
//! vocabulary, and t the degree of tensor parallelism.

use std::fmt;

use floodway_model::check::{rough_bytes, rough_time};
use floodway_model::{Bytes, Duration};
use serde::Serialize;

use super::{Optimizer, Spec};

/// Degrees of parallelism. Their product, without that of experts, is the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Degrees {
    /// Ranks that divide each layer.
    pub tensor: u32,
    /// Replicas of the model.
    pub data: u32,
    /// Stages of layers.
    pub pipeline: u32,
    /// Of the replicas, those that divide the experts of a layer.
    pub expert: u32,
}

impl Degrees {
    /// Number of ranks.
    pub fn ranks(self) -> u64 {
        u64::from(self.tensor) * u64::from(self.data) * u64::from(self.pipeline)
    }
}

/// Parameters of a rank by the group that adds up their gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Those that all replicas have.
    pub(super) dense: u128,
    /// Those of experts, which other replicas have too if they have the same experts.
    pub(super) experts: u128,
}

impl Spec {
    fn h(&self) -> u128 {
        self.hidden.into()
    }

    /// Tokens of a micro-batch: b s.
    fn tokens(&self) -> u128 {
        u128::from(self.micro_batch) * u128::from(self.sequence)
    }

    /// Parameters of a multilayer perceptron with an inner size of 4 h: 8 h^2 + 5 h.
    fn parameters_of_mlp(&self) -> u128 {
        8 * self.h() * self.h() + 5 * self.h()
    }

    /// Parameters of an embedding of tokens, V h.
    fn parameters_of_vocabulary(&self) -> u128 {
        u128::from(self.vocabulary) * self.h()
    }

    /// Parameters of the model: of each layer 4 h^2 + 4 h for attention, 4 h for two normalizations and 8 h^2 + 5 h for
    /// a multilayer perceptron, or one for each expert and h for its share of the router; V h + s h for the embeddings
    /// of tokens and positions. Without experts this is equation 2 of Narayanan et al. (2021).
    pub(super) fn parameters(&self) -> u128 {
        let router = if self.experts > 1 { self.h() * u128::from(self.experts) } else { 0 };
        let attention = 4 * self.h() * self.h() + 8 * self.h();
        let layer = attention + router + u128::from(self.experts) * self.parameters_of_mlp();
        let positions = if self.vocabulary > 0 { u128::from(self.sequence) * self.h() } else { 0 };
        u128::from(self.layers) * layer + self.parameters_of_vocabulary() + positions
    }

    /// Parameters of a layer in a rank. Tensor parallelism divides matrices and the biases of those that are divided by
    /// columns; the biases of the others (2 h), the normalizations (4 h) and the router are in every rank.
    pub(super) fn layer_of_rank(&self, degrees: Degrees) -> Held {
        let (h, t) = (self.h(), u128::from(degrees.tensor));
        let attention = (4 * h * h + 3 * h) / t + h + 4 * h;
        let mlp = (8 * h * h + 4 * h) / t + h;
        if self.experts == 1 {
            return Held { dense: attention + mlp, experts: 0 };
        }
        let experts = u128::from(self.experts / degrees.expert) * mlp;
        let dense = attention + h * u128::from(self.experts);
        match degrees.expert {
            // All replicas have all experts.
            1 => Held { dense: dense + experts, experts: 0 },
            _ => Held { dense, experts },
        }
    }

    /// Parameters of the embeddings of the first stage in a rank.
    pub(super) fn embeddings_of_rank(&self, degrees: Degrees) -> u128 {
        match self.vocabulary {
            0 => 0,
            _ => self.vocabulary_of_rank(degrees) + u128::from(self.sequence) * self.h(),
        }
    }

    /// Parameters of the embedding of tokens in a rank, which the last stage has again, for the output.
    pub(super) fn vocabulary_of_rank(&self, degrees: Degrees) -> u128 {
        self.parameters_of_vocabulary().div_ceil(degrees.tensor.into())
    }

    /// Parameters of a stage in a rank.
    pub(super) fn stage_of_rank(&self, degrees: Degrees, stage: u32) -> Held {
        let layer = self.layer_of_rank(degrees);
        let layers = u128::from(self.layers / degrees.pipeline);
        let mut held = Held { dense: layers * layer.dense, experts: layers * layer.experts };
        if stage == 0 {
            held.dense += self.embeddings_of_rank(degrees);
        } else if stage + 1 == degrees.pipeline {
            held.dense += self.vocabulary_of_rank(degrees);
        }
        held
    }

    /// Operations of the attention of a layer for a micro-batch, forward: 8 b s h^2 for its four matrices and 4 b s^2 h
    /// for scores and their sum.
    pub(super) fn operations_of_attention(&self) -> u128 {
        let h = self.h();
        self.tokens() * (8 * h * h + 4 * u128::from(self.sequence) * h)
    }

    /// Operations of the multilayer perceptron of a layer for a micro-batch, forward: 16 b s h^2, as often as a token
    /// has experts, and 2 b s h for each expert that the router rates.
    pub(super) fn operations_of_mlp(&self) -> u128 {
        let h = self.h();
        let router = if self.experts > 1 { 2 * h * u128::from(self.experts) } else { 0 };
        self.tokens() * (16 * h * h * u128::from(self.experts_per_token) + router)
    }

    /// Operations of the output of the last stage for a micro-batch, forward: 2 b s h V.
    pub(super) fn operations_of_output(&self) -> u128 {
        2 * self.tokens() * self.parameters_of_vocabulary()
    }

    /// Operations of an iteration of all ranks: three times those forward, four times with recomputation, for each
    /// micro-batch of each replica. With recomputation and without experts this is equation 3 of Narayanan et al. (2021).
    fn operations(&self, degrees: Degrees) -> u128 {
        let of_layer = self.operations_of_attention() + self.operations_of_mlp();
        let times = if self.recompute { 4 } else { 3 };
        let micro_batches = u128::from(self.micro_batches) * u128::from(degrees.data);
        micro_batches
            * (times * u128::from(self.layers) * of_layer + 3 * self.operations_of_output())
    }

    /// How long a rank computes so many operations, of which it does its share.
    pub(super) fn time(&self, operations: u128, degrees: Degrees) -> f64 {
        // 10^12 operations per second are one in a picosecond.
        operations as f64 / f64::from(degrees.tensor) / (self.peak_tflops * self.efficiency)
    }

    /// How long a stage computes for a micro-batch, forward and backward.
    fn times_of_stage(&self, degrees: Degrees, stage: u32) -> [f64; 2] {
        let of_layer = self.operations_of_attention() + self.operations_of_mlp();
        let layers = u128::from(self.layers / degrees.pipeline) * of_layer;
        let is_last = stage + 1 == degrees.pipeline;
        let output = if is_last { self.operations_of_output() } else { 0 };
        let backward = if self.recompute { 3 } else { 2 };
        [layers + output, backward * layers + 2 * output].map(|of| self.time(of, degrees))
    }

    /// Bytes of the activations between layers for a micro-batch: b s h elements.
    pub(super) fn activations(&self) -> u128 {
        self.tokens() * self.h() * u128::from(self.bytes_per_element)
    }

    /// Bytes of a message between stages: all activations from each rank, or with sequence parallelism its part.
    pub(super) fn between_stages(&self, degrees: Degrees) -> u128 {
        match self.sequence_parallel {
            true => self.activations() / u128::from(degrees.tensor),
            false => self.activations(),
        }
    }

    /// Bytes of the input of a rank to an all-to-all between experts: each of its tokens to `experts_per_token` of them.
    pub(super) fn between_experts(&self, degrees: Degrees) -> u128 {
        self.between_stages(degrees) * u128::from(self.experts_per_token)
    }

    /// Bytes of a tensor-parallel collective around the multilayer perceptron. Tokens have been sent to their experts
    /// before it, if these are divided.
    pub(super) fn around_mlp(&self, degrees: Degrees) -> u128 {
        match degrees.expert {
            1 => self.activations(),
            _ => self.activations() * u128::from(self.experts_per_token),
        }
    }

    /// The numbers that follow from the parameters.
    pub(super) fn numbers(&self, degrees: Degrees, workload: String) -> Numbers {
        let stages = || 0..degrees.pipeline;
        let held = stages().map(|stage| self.stage_of_rank(degrees, stage));
        let largest = held.max_by_key(|of| of.dense + of.experts).unwrap_or_default();
        let times = stages().map(|stage| self.times_of_stage(degrees, stage));
        let [forward, backward] = times
            .max_by(|a, b| a[0].total_cmp(&b[0]))
            .unwrap_or_default()
            .map(|time| Duration(time.round() as u64));
        let bytes = |of: u128| Bytes(u64::try_from(of).unwrap_or(u64::MAX));
        let some = |is: bool, of: u128| is.then(|| bytes(of));
        let gradients = |of: u128| of * u128::from(self.bytes_per_gradient);
        let parts = self.virtual_stages.max(1);
        let slots =
            u128::from(self.micro_batches) * u128::from(parts) + u128::from(degrees.pipeline) - 1;
        let without_network = u128::from(forward.0 + backward.0) * slots / u128::from(parts);
        Numbers {
            workload,
            degrees,
            ranks: degrees.ranks(),
            parameters: self.parameters() as f64,
            parameters_of_rank: (largest.dense + largest.experts) as f64,
            operations: self.operations(degrees) as f64,
            sequences: u64::from(self.micro_batches)
                * u64::from(self.micro_batch)
                * u64::from(degrees.data),
            forward,
            backward,
            tensor_bytes: some(degrees.tensor > 1, self.activations()),
            pipeline_bytes: some(degrees.pipeline > 1, self.between_stages(degrees)),
            expert_bytes: some(degrees.expert > 1, self.between_experts(degrees)),
            data_bytes: some(degrees.data > 1, gradients(largest.dense)),
            expert_data_bytes: some(
                degrees.data > degrees.expert && largest.experts > 0,
                gradients(largest.experts),
            ),
            parameter_bytes: some(
                degrees.data > 1 && self.optimizer == Optimizer::Sharded,
                largest.dense * u128::from(self.bytes_per_element),
            ),
            bubble: f64::from(degrees.pipeline - 1)
                / f64::from(parts)
                / f64::from(self.micro_batches),
            without_network: Duration(u64::try_from(without_network).unwrap_or(u64::MAX)),
        }
    }
}

/// What follows from the shape of a model and the degrees of parallelism. Of stages that differ, it is that of the
/// largest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// The name of the workload, or its number.
    pub workload: String,
    /// Degrees of parallelism.
    pub degrees: Degrees,
    /// Number of ranks.
    pub ranks: u64,
    /// Parameters of the model.
    pub parameters: f64,
    /// Parameters in a rank.
    pub parameters_of_rank: f64,
    /// Floating point operations of an iteration, of all ranks.
    pub operations: f64,
    /// Sequences of an iteration: the global batch.
    pub sequences: u64,
    /// Computation of a stage for a micro-batch, forward.
    pub forward: Duration,
    /// The same backward, with recomputation if there is.
    pub backward: Duration,
    /// Size of each collective of tensor parallelism.
    pub tensor_bytes: Option<Bytes>,
    /// Size of a message between stages.
    pub pipeline_bytes: Option<Bytes>,
    /// Size of each all-to-all between experts.
    pub expert_bytes: Option<Bytes>,
    /// Size of the gradients that all replicas add up.
    pub data_bytes: Option<Bytes>,
    /// Size of the gradients of experts.
    pub expert_data_bytes: Option<Bytes>,
    /// Size of the all-gather of parameters.
    pub parameter_bytes: Option<Bytes>,
    /// Idle time of the pipeline as a part of the computation of all micro-batches: (p - 1) / (v m).
    pub bubble: f64,
    /// Computation of an iteration and the bubble, without any communication: (m + (p - 1) / v) times forward and
    /// backward.
    pub without_network: Duration,
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Degrees { tensor, data, pipeline, expert } = self.degrees;
        write!(f, "{}: tensor {tensor} x data {data} x pipeline {pipeline}", self.workload)?;
        if expert > 1 {
            write!(f, ", experts over {expert}")?;
        }
        let ranks = self.ranks;
        writeln!(f, " = {ranks} ranks, {} sequences an iteration", self.sequences)?;
        writeln!(
            f,
            "  parameters: {}, {} in a rank; operations of an iteration: {}",
            scaled(self.parameters),
            scaled(self.parameters_of_rank),
            scaled(self.operations)
        )?;
        writeln!(
            f,
            "  micro-batch in a stage: {} forward, {} backward; iteration without network: {}, bubble {:.1} %",
            rough_time(self.forward),
            rough_time(self.backward),
            rough_time(self.without_network),
            self.bubble * 100.0
        )?;
        let sizes = [
            ("tensor collective", self.tensor_bytes),
            ("message between stages", self.pipeline_bytes),
            ("all-to-all of experts", self.expert_bytes),
            ("gradients", self.data_bytes),
            ("gradients of experts", self.expert_data_bytes),
            ("all-gather of parameters", self.parameter_bytes),
        ];
        let shown: Vec<String> = sizes
            .iter()
            .filter_map(|(name, bytes)| Some(format!("{name} {}", rough_bytes((*bytes)?))))
            .collect();
        writeln!(f, "  {}", shown.join(", "))
    }
}

/// A large number with four digits.
fn scaled(value: f64) -> String {
    let units = [
        (1e24, "e24"),
        (1e21, "e21"),
        (1e18, "e18"),
        (1e15, "e15"),
        (1e12, "e12"),
        (1e9, "e9"),
        (1e6, "e6"),
    ];
    match units.iter().find(|(of, _)| value >= *of) {
        Some((of, name)) => format!("{:.1}{name}", value / of),
        None => format!("{value:.0}"),
    }
}
