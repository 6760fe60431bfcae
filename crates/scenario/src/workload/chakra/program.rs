//! What the nodes of a trace are as steps of a program.
//!
//! A node that needs a resource for longer than it computes holds the stream of that, and so do collectives:
//! their first step takes the stream, their messages are sent and received on a stream that nothing occupies, and
//! their last step frees it.

use floodway_model::program::{Action, Edge, On, Program, SendEnd, Step, TraceNode};
use floodway_model::{Collective, Duration, FlowId, Instant, NodeId, Operation};

use super::plan::Exchange;
use super::{Placed, Sends, Streams, Surroundings, Traffic};
use crate::files::chakra::{Node, What, place};
use crate::workload::collective::schedule::{Plan, Schedule};

/// The stream of computations of the GPU.
const GPU: u8 = 0;
/// That of computations of the CPU.
const CPU: u8 = 1;
/// That of what a GPU transfers.
const TRANSFER: u8 = 2;
/// One that nothing occupies.
const FREE: u8 = 3;

/// The messages of a collective.
struct Messages {
    schedule: Schedule,
    /// By rank of the group, those that it sends or receives.
    of: Vec<Vec<u32>>,
}

impl Messages {
    fn new(exchange: &Exchange, ranks: usize) -> Self {
        let schedule = exchange.schedule();
        let mut of = vec![Vec::new(); ranks];
        for (number, message) in (0..).zip(&schedule.messages) {
            of[message.from as usize].push(number);
            of[message.to as usize].push(number);
        }
        Self { schedule, of }
    }
}

/// What a node has to do with other ranks.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// Nothing.
    None,
    /// It is one end of a message.
    Flow(FlowId),
    /// It is the part of a rank of a group in a collective, whose flows are numbered from one on.
    Collective(&'a Messages, usize, u32),
}

/// The flows of all messages, and the programs of all ranks.
pub(super) fn traffic(placed: &Placed, around: Surroundings<'_>) -> Traffic {
    let Placed { spec, job, planned, .. } = placed;
    let hosts = around.named(&placed.hosts);
    let mut traffic = Traffic::default();
    let mut parts: Vec<Vec<Part<'_>>> =
        job.ranks.iter().map(|nodes| vec![Part::None; nodes.len()]).collect();
    for message in &job.messages {
        let [from, to] = [message.from, message.to].map(|(rank, _)| hosts[rank as usize]);
        // A flow has at least a byte, which fits into the frame of a message without any.
        let flow = around.message(from, to, message.bytes.max(1), spec.start);
        let flow = traffic.then(flow, &[], Duration::ZERO);
        for (rank, node) in [message.from, message.to] {
            parts[rank as usize][node as usize] = Part::Flow(flow);
        }
    }
    // Collectives of the same size have the same messages.
    let mut known: Vec<(Exchange, Messages)> = Vec::new();
    let mut which: Vec<Option<usize>> = Vec::with_capacity(planned.exchanges.len());
    for (exchange, of) in planned.exchanges.iter().zip(&job.collectives) {
        which.push(exchange.as_ref().map(|exchange| {
            known.iter().position(|(other, _)| other == exchange).unwrap_or_else(|| {
                known.push((*exchange, Messages::new(exchange, of.members.len())));
                known.len() - 1
            })
        }));
    }
    // After the operation that is the job.
    let mut collectives: Vec<Operation> = Vec::new();
    for ((which, exchange), of) in which.into_iter().zip(&planned.exchanges).zip(&job.collectives) {
        let Some(messages) = which.map(|which| &known[which].1) else { continue };
        let first = traffic.flows.len() as u32;
        for message in &messages.schedule.messages {
            let host = |place: u32| hosts[of.members[place as usize].0 as usize];
            let (from, to) = (host(message.from), host(message.to));
            traffic.then(around.message(from, to, message.bytes, spec.start), &[], Duration::ZERO);
        }
        // Those whose bandwidth nccl-tests defines.
        if let Some(Exchange::Planned(Plan { kind, ranks, bytes, .. })) = exchange {
            let flows = (first..traffic.flows.len() as u32).map(FlowId).collect::<Box<[FlowId]>>();
            let collective = Some(Collective { kind: *kind, ranks: *ranks as u32, bytes: *bytes });
            let number = collectives.len() as u32 + 1;
            collectives.push(Operation {
                of_job: true,
                collective,
                ..Operation::of(number, flows)
            });
        }
        for (place, &(rank, node)) in of.members.iter().enumerate() {
            parts[rank as usize][node as usize] = Part::Collective(messages, place, first);
        }
    }
    for (rank, (nodes, parts)) in job.ranks.iter().zip(&parts).enumerate() {
        let at = (hosts[rank], around.number, rank as u32);
        traffic.programs.push(program(placed, nodes, parts, at));
    }
    let all: Vec<FlowId> = (0..traffic.flows.len() as u32).map(FlowId).collect();
    traffic.operations.push(Operation { job: true, ..Operation::of(0, all) });
    traffic.operations.append(&mut collectives);
    traffic
}

/// The steps of a rank, as they are made.
#[derive(Default)]
struct Steps {
    steps: Vec<Step>,
    edges: Vec<Edge>,
}

impl Steps {
    /// Adds a step that begins when these have finished.
    fn add(&mut self, action: Action, stream: u8, after: &[u32]) -> u32 {
        let to = self.steps.len() as u32;
        self.steps.push(Step { action, stream, line: 0 });
        self.edges.extend(after.iter().map(|&from| Edge { from, to, on: On::Finished }));
        to
    }

    /// Adds a step that lasts for a time and occupies no stream.
    fn elapse(&mut self, time: Duration, computes: bool, after: &[u32]) {
        self.add(Action::Elapse { time, computes }, FREE, after);
    }

    /// Adds what is made by `inner`, which is given the step that it comes after, and a stream for as long as it
    /// lasts, if there is one. `inner` returns its last steps.
    fn during(&mut self, stream: Option<u8>, inner: impl FnOnce(&mut Self, u32) -> Vec<u32>) {
        let nothing = Action::Elapse { time: Duration::ZERO, computes: false };
        let first = match stream {
            Some(stream) => self.add(Action::Hold, stream, &[]),
            None => self.add(nothing, FREE, &[]),
        };
        let mut last = inner(self, first);
        if last.is_empty() {
            last.push(first);
        }
        match stream {
            Some(stream) => self.add(Action::Release, stream, &last),
            None => self.add(nothing, FREE, &last),
        };
    }

    /// Adds the part of a rank in a collective after a step. Returns its messages.
    fn collective(&mut self, messages: &Messages, rank: usize, flows: u32, begin: u32) -> Vec<u32> {
        let (own, first) = (&messages.of[rank], self.steps.len() as u32);
        let step = |message: u32| {
            let found = own.binary_search(&message).ok();
            found.map(|place| first + place as u32)
        };
        for &number in own {
            let flow = FlowId(flows + number);
            if messages.schedule.messages[number as usize].to as usize == rank {
                self.add(Action::Receive(flow), FREE, &[begin]);
                continue;
            }
            // Each of these has been sent or received here.
            let after = messages.schedule.after(number).iter().filter_map(|&before| step(before));
            let mut after: Vec<u32> = after.collect();
            if after.is_empty() {
                after.push(begin);
            }
            self.add(Action::Send(flow), FREE, &after);
        }
        (first..self.steps.len() as u32).collect()
    }
}

/// What a node does, as it is called in tables.
fn kind(node: &Node) -> &'static str {
    match &node.what {
        What::Metadata => "metadata",
        What::Memory { .. } => "memory",
        What::Compute { .. } => "compute",
        What::Send(_) => "send",
        What::Receive(_) => "receive",
        What::Collective { kind, .. } => kind.name(),
    }
}

/// The program of a rank.
fn program(
    placed: &Placed,
    nodes: &[Node],
    parts: &[Part<'_>],
    (host, workload, rank): (NodeId, u16, u32),
) -> Program {
    let spec = &placed.spec;
    let (transfers, computes) = match spec.streams {
        Streams::ComputeAndCommunication => (Some(TRANSFER), true),
        Streams::Compute => (None, true),
        Streams::None => (None, false),
    };
    let mut steps = Steps::default();
    let mut made: Vec<TraceNode> = Vec::with_capacity(nodes.len());
    for (node, part) in nodes.iter().zip(parts) {
        let first = steps.steps.len() as u32;
        let time = spec.time(node).unwrap_or(Duration::ZERO);
        match (&node.what, *part) {
            (What::Compute { .. }, _) if computes => {
                steps.add(Action::Compute(time), if node.on_cpu { CPU } else { GPU }, &[]);
            }
            (What::Compute { .. }, _) => steps.elapse(time, true, &[]),
            (What::Memory { .. }, _) if time > Duration::ZERO => {
                let stream = if node.on_cpu { computes.then_some(CPU) } else { transfers };
                steps.during(stream, |steps, begin| {
                    steps.elapse(time, false, &[begin]);
                    vec![begin + 1]
                });
            }
            (What::Send(_), Part::Flow(flow)) => match transfers {
                None => {
                    steps.add(Action::Send(flow), FREE, &[]);
                }
                stream => steps.during(stream, |steps, begin| {
                    vec![steps.add(Action::Send(flow), FREE, &[begin])]
                }),
            },
            (What::Receive(_), Part::Flow(flow)) => {
                steps.add(Action::Receive(flow), FREE, &[]);
            }
            (What::Collective { .. }, Part::Collective(messages, place, flows)) => steps
                .during(transfers, |steps, begin| steps.collective(messages, place, flows, begin)),
            _ => steps.elapse(Duration::ZERO, false, &[]),
        }
        let count = steps.steps.len() as u32 - first;
        let (id, name) = (node.id, node.name.clone());
        made.push(TraceNode { id, name, kind: kind(node), first, steps: count });
    }
    let counted = spec.counted();
    for (node, of) in nodes.iter().zip(&made) {
        let before =
            node.after(counted).filter_map(|id| place(nodes, id)).map(|place| &made[place]);
        steps.edges.extend(before.map(|before| Edge {
            from: before.first + before.steps - 1,
            to: of.first,
            on: On::Finished,
        }));
    }
    let ends = placed.rounds.get(rank as usize).into_iter().flatten();
    let end = |&nodes: &u32| {
        let last = (nodes as usize).checked_sub(1).map(|last| &made[last]);
        last.map_or(0, |last| last.first + last.steps)
    };
    let rounds = ends.map(end).collect();
    Program {
        host,
        workload,
        rank,
        start: Instant::ZERO + spec.start,
        sends: match spec.sends {
            Sends::HandedOver => SendEnd::HandedOver,
            Sends::Acknowledged => SendEnd::Acknowledged,
        },
        steps: steps.steps.into(),
        edges: steps.edges.into(),
        rounds,
        nodes: made.into(),
    }
}
