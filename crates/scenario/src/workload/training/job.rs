//! The nodes of every rank of an iteration, like those of traces.

use std::collections::BTreeMap;

use super::model::{Degrees, Held};
use super::order::{Pass, Pipeline};
use super::{Optimizer, Order, Schedule, Spec};
use crate::files::chakra::{End, Kind, Node, What};

/// Ranks by the name of the group.
type Groups = BTreeMap<Box<str>, Vec<u32>>;

/// Which ranks exchange something with each other.
#[derive(Clone, Copy)]
enum Group {
    /// Those that divide layers.
    Tensor,
    /// Those with the same parameters.
    Data,
    /// Those that divide the experts of a layer.
    Expert,
    /// Those with the same experts.
    ExpertData,
    /// The first and the last stage, which both have the embedding of tokens.
    Embedding,
}

/// The place of a rank by the three degrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    tensor: u32,
    data: u32,
    stage: u32,
}

impl Place {
    fn new(rank: u32, order: Order, degrees: Degrees) -> Self {
        let (tensor, rest) = (rank % degrees.tensor, rank / degrees.tensor);
        let [data, stage] = match order {
            Order::TensorDataPipeline => [rest % degrees.data, rest / degrees.data],
            Order::TensorPipelineData => [rest / degrees.pipeline, rest % degrees.pipeline],
        };
        Self { tensor, data, stage }
    }

    fn rank(self, order: Order, degrees: Degrees) -> u32 {
        let rest = match order {
            Order::TensorDataPipeline => self.data + degrees.data * self.stage,
            Order::TensorPipelineData => self.stage + degrees.pipeline * self.data,
        };
        self.tensor + degrees.tensor * rest
    }

    /// The name of a group of this rank.
    fn group(self, of: Group, degrees: Degrees) -> Box<str> {
        let Self { tensor, data, stage } = self;
        let (block, place) = (data / degrees.expert, data % degrees.expert);
        match of {
            Group::Tensor => format!("tensor of replica {data} and stage {stage}"),
            Group::Data => format!("data of part {tensor} and stage {stage}"),
            Group::Expert => format!("expert of part {tensor}, stage {stage} and block {block}"),
            Group::ExpertData => {
                format!("expert data of part {tensor}, stage {stage} and place {place}")
            }
            Group::Embedding => format!("embedding of part {tensor} and replica {data}"),
        }
        .into()
    }
}

/// The nodes of all ranks, and their groups; and of each rank, how many nodes there are up to the end of each iteration.
pub(super) fn nodes(spec: &Spec, degrees: Degrees) -> (Vec<Vec<Node>>, Groups, Vec<Vec<u32>>) {
    let mut groups = Groups::new();
    let mut rounds: Vec<Vec<u32>> = Vec::new();
    let ranks = 0..degrees.ranks() as u32;
    let all = ranks.map(|rank| {
        let at = Place::new(rank, spec.order, degrees);
        let ends = at.stage == 0 || at.stage + 1 == degrees.pipeline;
        let kinds = [Group::Tensor, Group::Data, Group::Expert, Group::ExpertData];
        let embedding = (ends && degrees.pipeline > 1).then_some(Group::Embedding);
        for of in kinds.into_iter().chain(embedding) {
            groups.entry(at.group(of, degrees)).or_default().push(rank);
        }
        let mut builder = Builder {
            spec,
            degrees,
            at,
            nodes: Vec::new(),
            last: Vec::new(),
            work: None,
            gradients: Vec::new(),
        };
        let iteration = |_| {
            builder.iteration();
            builder.nodes.len() as u32
        };
        rounds.push((0..spec.iterations).map(iteration).collect());
        builder.nodes
    });
    let all = all.collect();
    (all, groups, rounds)
}

/// Computation that nothing interrupts.
struct Work {
    operations: u128,
    pass: Pass,
    layers: [u32; 2],
}

/// The nodes of a rank, as they are made.
struct Builder<'a> {
    spec: &'a Spec,
    degrees: Degrees,
    at: Place,
    nodes: Vec<Node>,
    /// What the next node waits for.
    last: Vec<u64>,
    /// Computation that is to be the next node.
    work: Option<Work>,
    /// The last collective of gradients. Those follow each other, beside computation.
    gradients: Vec<u64>,
}

/// What a pass is called.
fn called(pass: Pass) -> String {
    match pass {
        Pass::Forward { batch, .. } => format!("forward {batch}"),
        Pass::Backward { batch, .. } => format!("backward {batch}"),
    }
}

impl Builder<'_> {
    fn add(&mut self, name: String, what: What, after: Vec<u64>) -> u64 {
        let id = self.nodes.len() as u64;
        let name = name.into();
        self.nodes.push(Node { id, name, what, on_cpu: false, data: after, control: Vec::new() });
        id
    }

    /// Layers of a part of a stage, which is all of it without interleaving.
    fn layers(&self) -> u32 {
        self.spec.layers / self.degrees.pipeline / self.spec.virtual_stages
    }

    /// The place of a part of this stage among all parts, in the order in which activations pass them.
    fn place(&self, pass: Pass) -> u32 {
        pass.part() * self.degrees.pipeline + self.at.stage
    }

    /// The number of a layer that is counted in the part.
    fn layer(&self, pass: Pass, layer: u32) -> u32 {
        layer + self.place(pass) * self.layers()
    }

    fn is_last_stage(&self) -> bool {
        self.at.stage + 1 == self.degrees.pipeline
    }

    fn is_last_part(&self, pass: Pass) -> bool {
        self.place(pass) + 1 == self.degrees.pipeline * self.spec.virtual_stages
    }

    /// Computes for a layer, counted in the part.
    fn compute(&mut self, operations: u128, pass: Pass, layer: u32) {
        if operations == 0 {
            return;
        }
        let layer = self.layer(pass, layer);
        let work = self.work.get_or_insert(Work { operations: 0, pass, layers: [layer; 2] });
        work.operations += operations;
        work.layers = [work.layers[0].min(layer), work.layers[1].max(layer)];
    }

    /// Makes a node of the computation so far.
    fn flush(&mut self) {
        let Some(Work { operations, pass, layers: [first, last] }) = self.work.take() else {
            return;
        };
        let name = match first == last {
            true => format!("{} layer {first}", called(pass)),
            false => format!("{} layers {first}-{last}", called(pass)),
        };
        // The unit of the job is a picosecond.
        let micros = self.spec.time(operations, self.degrees).round() as u64;
        let after = std::mem::take(&mut self.last);
        let id = self.add(name, What::Compute { micros, operations: None, bytes: 0 }, after);
        self.last = vec![id];
    }

    fn taking_part(&self, of: Group, kind: Kind, bytes: u128) -> What {
        What::Collective { kind, bytes: bytes as u64, group: self.at.group(of, self.degrees) }
    }

    /// A collective that the next computation waits for.
    fn exchange(&mut self, of: Group, kind: Kind, bytes: u128, (pass, layer): (Pass, u32)) {
        self.flush();
        let group = match of {
            Group::Expert => "expert",
            _ => "tensor",
        };
        let layer = self.layer(pass, layer);
        let what = self.taking_part(of, kind, bytes);
        let after = std::mem::take(&mut self.last);
        let id = self.add(format!("{group} {} layer {layer}", called(pass)), what, after);
        self.last = vec![id];
    }

    /// What precedes the computation of a part of a layer, with so many bytes, if tensor parallelism divides it.
    fn before(&mut self, bytes: u128, at: (Pass, u32)) {
        if self.degrees.tensor > 1 && self.spec.sequence_parallel {
            self.exchange(Group::Tensor, Kind::AllGather, bytes, at);
        }
    }

    /// What follows it.
    fn after(&mut self, bytes: u128, at: (Pass, u32)) {
        let kind = match self.spec.sequence_parallel {
            true => Kind::ReduceScatter,
            false => Kind::AllReduce,
        };
        if self.degrees.tensor > 1 {
            self.exchange(Group::Tensor, kind, bytes, at);
        }
    }

    /// Tokens to their experts, or back.
    fn route(&mut self, at: (Pass, u32)) {
        if self.degrees.expert > 1 {
            let bytes = self.spec.between_experts(self.degrees);
            self.exchange(Group::Expert, Kind::AllToAll, bytes, at);
        }
    }

    /// The attention of a layer; backward takes `times` the operations of forward.
    fn attention(&mut self, times: u128, at: (Pass, u32)) {
        let bytes = self.spec.activations();
        self.before(bytes, at);
        self.compute(times * self.spec.operations_of_attention(), at.0, at.1);
        self.after(bytes, at);
    }

    /// The multilayer perceptron of a layer, or its experts.
    fn perceptron(&mut self, times: u128, at: (Pass, u32)) {
        let bytes = self.spec.around_mlp(self.degrees);
        self.route(at);
        self.before(bytes, at);
        self.compute(times * self.spec.operations_of_mlp(), at.0, at.1);
        self.after(bytes, at);
        self.route(at);
    }

    /// A message from or to a part, whose direction is its tag.
    fn end(&self, part: u32, tag: i128) -> End {
        let stage = part % self.degrees.pipeline;
        let peer = Place { stage, ..self.at }.rank(self.spec.order, self.degrees);
        End { peer, bytes: self.spec.between_stages(self.degrees) as u64, tag }
    }

    fn receive(&mut self, part: u32, tag: i128, pass: Pass) {
        self.flush();
        let what = What::Receive(self.end(part, tag));
        let id = self.add(format!("input of {}", called(pass)), what, self.last.clone());
        self.last.push(id);
    }

    /// The next computation does not wait for it.
    fn send(&mut self, part: u32, tag: i128, pass: Pass) {
        self.flush();
        let what = What::Send(self.end(part, tag));
        self.add(format!("output of {}", called(pass)), what, self.last.clone());
    }

    fn forward(&mut self, pass: Pass) {
        let place = self.place(pass);
        if place > 0 {
            self.receive(place - 1, 0, pass);
        }
        for layer in 0..self.layers() {
            self.attention(1, (pass, layer));
            self.perceptron(1, (pass, layer));
        }
        if self.is_last_part(pass) {
            self.compute(self.spec.operations_of_output(), pass, self.layers() - 1);
            self.flush();
        } else {
            self.send(place + 1, 0, pass);
        }
    }

    fn backward(&mut self, pass: Pass, is_last: bool) {
        let place = self.place(pass);
        if self.is_last_part(pass) {
            self.compute(2 * self.spec.operations_of_output(), pass, self.layers() - 1);
        } else {
            self.receive(place + 1, 1, pass);
        }
        let before = (self.spec.virtual_stages - 1 - pass.part()) * self.layers();
        for done in 0..self.layers() {
            let layer = self.layers() - 1 - done;
            if self.spec.recompute {
                self.attention(1, (pass, layer));
                self.perceptron(1, (pass, layer));
            }
            self.perceptron(2, (pass, layer));
            self.attention(2, (pass, layer));
            if is_last {
                self.bucket(before + done);
            }
        }
        if place > 0 {
            self.send(place - 1, 1, pass);
        }
        self.flush();
    }

    /// After the last gradients of so many layers and one more: if that ends a bucket, they are added up.
    fn bucket(&mut self, done: u32) {
        let layers = self.spec.layers / self.degrees.pipeline;
        let buckets = self.spec.buckets;
        // The bucket of a layer, both counted from 0 in the order of the backward pass.
        let bucket = |layer: u32| u64::from(layer) * u64::from(buckets) / u64::from(layers);
        let number = bucket(done);
        if number == bucket(done + 1) {
            return;
        }
        let first = (number * u64::from(layers)).div_ceil(buckets.into());
        let of_bucket = u128::from(u64::from(done) + 1 - first);
        let layer = self.spec.layer_of_rank(self.degrees);
        let mut held = Held { dense: of_bucket * layer.dense, experts: of_bucket * layer.experts };
        if self.at.stage == 0 && done + 1 == layers {
            held.dense += self.spec.embeddings_of_rank(self.degrees);
        } else if self.at.stage > 0 && self.is_last_stage() && number == 0 {
            held.dense += self.spec.vocabulary_of_rank(self.degrees);
        }
        let kind = match self.spec.optimizer {
            Optimizer::Replicated => Kind::AllReduce,
            Optimizer::Sharded => Kind::ReduceScatter,
        };
        let size = |of: u128| of * u128::from(self.spec.bytes_per_gradient);
        let name = format!("gradients {number}");
        self.among_replicas(
            name,
            kind,
            Held { dense: size(held.dense), experts: size(held.experts) },
        );
    }

    /// Collectives of so many bytes among the replicas, which computation does not wait for.
    fn among_replicas(&mut self, name: String, kind: Kind, bytes: Held) {
        let Degrees { data, expert, .. } = self.degrees;
        let of = [
            (Group::Data, "data", bytes.dense, data > 1),
            (Group::ExpertData, "expert data", bytes.experts, data > expert),
        ];
        for (group, label, bytes, several) in of {
            if several && bytes > 0 {
                self.aside(format!("{label} {name}"), self.taking_part(group, kind, bytes));
            }
        }
    }

    /// Something after the computation so far and after the gradients before it.
    fn aside(&mut self, name: String, what: What) {
        self.flush();
        let after = self.last.iter().chain(&self.gradients).copied().collect();
        self.gradients = vec![self.add(name, what, after)];
    }

    fn iteration(&mut self) {
        let (stage, stages) = (self.at.stage, self.degrees.pipeline);
        let (parts, micro_batches) = (self.spec.virtual_stages, self.spec.micro_batches);
        let pipeline = Pipeline { stages, parts, micro_batches };
        let passes = match self.spec.schedule {
            Schedule::OneForwardOneBackward => pipeline.one_forward_one_backward(stage),
            Schedule::Gpipe => pipeline.all_forward_all_backward(),
        };
        for pass in passes {
            match pass {
                Pass::Forward { .. } => self.forward(pass),
                Pass::Backward { batch, .. } => self.backward(pass, batch + 1 == micro_batches),
            }
        }
        if self.spec.vocabulary > 0 && stages > 1 && (stage == 0 || self.is_last_stage()) {
            let bytes = self.spec.vocabulary_of_rank(self.degrees)
                * u128::from(self.spec.bytes_per_gradient);
            let what = self.taking_part(Group::Embedding, Kind::AllReduce, bytes);
            self.aside("embedding gradients".to_owned(), what);
        }
        if self.spec.optimizer == Optimizer::Sharded {
            let held = self.spec.stage_of_rank(self.degrees, stage);
            let size = |of: u128| of * u128::from(self.spec.bytes_per_element);
            let bytes = Held { dense: size(held.dense), experts: size(held.experts) };
            self.among_replicas("parameters".to_owned(), Kind::AllGather, bytes);
        }
        // The next iteration waits for them.
        self.last.append(&mut self.gradients);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranks_are_inverse() {
        let degrees = Degrees { tensor: 2, data: 3, pipeline: 4, expert: 1 };
        for order in [Order::TensorDataPipeline, Order::TensorPipelineData] {
            for rank in 0..24 {
                assert_eq!(Place::new(rank, order, degrees).rank(order, degrees), rank);
            }
        }
        // Megatron-LM's order: replicas before stages.
        let place = |order| Place::new(2, order, degrees);
        assert_eq!(place(Order::TensorDataPipeline), Place { tensor: 0, data: 1, stage: 0 });
        assert_eq!(place(Order::TensorPipelineData), Place { tensor: 0, data: 0, stage: 1 });
    }
}
