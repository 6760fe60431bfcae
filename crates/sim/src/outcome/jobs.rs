//! The tables of jobs: ranks, their steps, and who waits for whom when the run ends.

use std::collections::BTreeMap;

use floodway_model::program::{Action, Step, TraceNode};
use floodway_model::table::Table;
use floodway_model::tables::{ranks, steps, trace_nodes, waits};
use floodway_model::{FlowId, Instant, Program};

use super::{FlowFacts, nanoseconds};
use crate::Spec;
use crate::host::programs::Ran;

/// A step: the index of its program, and its number there.
type At = (u32, u32);

/// Both ends of the messages of programs.
struct Ends {
    /// By flow: the step that sends it, and the one that receives it.
    of: BTreeMap<FlowId, [Option<At>; 2]>,
}

impl Ends {
    fn new(programs: &[Program]) -> Self {
        let mut of: BTreeMap<FlowId, [Option<At>; 2]> = BTreeMap::new();
        for (index, program) in (0..).zip(programs) {
            for (step, flow) in program.sent() {
                of.entry(flow).or_default()[0] = Some((index, step));
            }
            for (step, flow) in program.received() {
                of.entry(flow).or_default()[1] = Some((index, step));
            }
        }
        Self { of }
    }

    /// The flow of a step, with the step at its other end.
    fn other(&self, action: Action) -> Option<(FlowId, Option<At>)> {
        let (flow, end) = match action {
            Action::Send(flow) => (flow, 1),
            Action::Receive(flow) => (flow, 0),
            Action::Compute(_) | Action::Hold | Action::Release | Action::Elapse { .. } => {
                return None;
            }
        };
        Some((flow, self.of.get(&flow).and_then(|ends| ends[end])))
    }
}

fn kind(action: Action) -> String {
    let name = match action {
        Action::Compute(_) | Action::Elapse { computes: true, .. } => "compute",
        Action::Send(_) => "send",
        Action::Receive(_) => "receive",
        Action::Hold => "hold",
        Action::Release => "release",
        Action::Elapse { computes: false, .. } => "delay",
    };
    name.to_owned()
}

fn number(of: Option<u32>) -> f64 {
    of.map_or(f64::NAN, f64::from)
}

/// When a program was finished, if it was: without steps, as soon as it began.
fn finished(program: &Program, of: &Ran) -> Option<Instant> {
    let last = of.times.iter().map(|[_, finished]| *finished).max();
    Some(last.unwrap_or(program.start)).filter(|&at| at < Instant::NEVER)
}

/// When the job of each workload began, and when all of its ranks had finished, if they had.
pub(super) type Times = BTreeMap<u16, (Instant, Option<Instant>)>;

/// The times of jobs, by workload.
pub(super) fn times(spec: &Spec, ran: &[Ran]) -> Times {
    let mut times = Times::new();
    for of in ran {
        let program = &spec.programs[of.program as usize];
        let finished = finished(program, of);
        times
            .entry(program.workload)
            .and_modify(|(start, finish)| {
                *start = program.start.min(*start);
                *finish = finish.zip(finished).map(|(a, b)| a.max(b));
            })
            .or_insert((program.start, finished));
    }
    times
}

/// All tables of jobs; none without programs.
pub(super) fn tables(spec: &Spec, facts: &FlowFacts, ran: &[Ran], end: Instant) -> Vec<Table> {
    if spec.programs.is_empty() {
        return Vec::new();
    }
    let ends = Ends::new(&spec.programs);
    let mut tables = vec![
        ran.iter().map(|of| rank(spec, of, end)).collect::<Table>(),
        step_table(spec, &ends, ran),
        wait_table(spec, facts, &ends, ran),
    ];
    if spec.programs.iter().any(|program| !program.nodes.is_empty()) {
        tables.push(node_table(spec, ran));
    }
    tables
}

/// One row per node of a trace.
fn node_table(spec: &Spec, ran: &[Ran]) -> Table {
    let of_program = |of: &Ran| {
        let program = &spec.programs[of.program as usize];
        let row = |node: &TraceNode| {
            let times = &of.times[node.first as usize..][..node.steps as usize];
            let start = times.iter().map(|[began, _]| *began).min();
            let finish = times.iter().map(|[_, finished]| *finished).max();
            let time = |at: Option<Instant>| {
                at.filter(|&at| at < Instant::NEVER).map_or(f64::NAN, nanoseconds)
            };
            trace_nodes::Row {
                workload: program.workload.into(),
                rank: program.rank.into(),
                id: node.id,
                name: node.name.to_string(),
                kind: node.kind.to_owned(),
                first_step: node.first.into(),
                steps: node.steps.into(),
                start_ns: time(start),
                finish_ns: time(finish),
            }
        };
        program.nodes.iter().map(row).collect::<Vec<_>>()
    };
    ran.iter().flat_map(of_program).collect()
}

fn rank(spec: &Spec, of: &Ran, end: Instant) -> ranks::Row {
    let program = &spec.programs[of.program as usize];
    let finished = finished(program, of);
    let whole = finished.unwrap_or(end).since(program.start);
    let begun = program.sent().filter(|(step, _)| of.times[*step as usize][0] < Instant::NEVER);
    ranks::Row {
        workload: program.workload.into(),
        rank: program.rank.into(),
        node: program.host.0.into(),
        steps: program.steps.len() as u64,
        steps_done: of.times.iter().filter(|[_, at]| *at < Instant::NEVER).count() as u64,
        start_ns: nanoseconds(program.start),
        finish_ns: finished.map_or(f64::NAN, nanoseconds),
        compute_ns: of.computed.as_ns(),
        exposed_ns: (whole.0.saturating_sub(of.computed.0)) as f64 / 1e3,
        sent_bytes: begun.map(|(_, flow)| spec.flows.at(flow.index()).bytes).sum(),
    }
}

/// The steps that have begun.
fn begun<'a>(
    spec: &'a Spec,
    ran: &'a [Ran],
) -> impl Iterator<Item = (&'a Program, usize, &'a Step, [Instant; 2])> {
    ran.iter().flat_map(|of| {
        let program = &spec.programs[of.program as usize];
        let steps = program.steps.iter().zip(&of.times).enumerate();
        let begun = steps.filter(|(_, (_, times))| times[0] < Instant::NEVER);
        begun.map(move |(number, (step, times))| (program, number, step, *times))
    })
}

fn step_table(spec: &Spec, ends: &Ends, ran: &[Ran]) -> Table {
    let row = |(program, number_of, step, times): (&Program, usize, &Step, [Instant; 2])| {
        let [began, finished] = times;
        let other = ends.other(step.action);
        let peer = other.and_then(|(_, other)| other).map(|(program, _)| program);
        steps::Row {
            workload: program.workload.into(),
            rank: program.rank.into(),
            step: number_of as u64,
            line: step.line.into(),
            kind: kind(step.action),
            stream: step.stream.into(),
            flow: number(other.map(|(flow, _)| flow.0)),
            peer: number(peer.map(|peer| spec.programs[peer as usize].rank)),
            bytes: other.map_or(0, |(flow, _)| spec.flows.at(flow.index()).bytes),
            start_ns: nanoseconds(began),
            finish_ns: if finished == Instant::NEVER { f64::NAN } else { nanoseconds(finished) },
        }
    };
    begun(spec, ran).map(row).collect()
}

fn wait_table(spec: &Spec, facts: &FlowFacts, ends: &Ends, ran: &[Ran]) -> Table {
    let row = |(program, number_of, step, [began, _]): (&Program, usize, &Step, [Instant; 2])| {
        let other = ends.other(step.action);
        let (flow, peer) = other.unzip();
        let peer = peer.flatten().map(|(index, step)| {
            let program = &spec.programs[index as usize];
            (program, step, program.steps[step as usize].line)
        });
        waits::Row {
            workload: program.workload.into(),
            rank: program.rank.into(),
            node: program.host.0.into(),
            step: number_of as u64,
            line: step.line.into(),
            kind: kind(step.action),
            since_ns: nanoseconds(began),
            peer: number(peer.map(|(program, ..)| program.rank)),
            peer_node: number(peer.map(|(program, ..)| program.host.0)),
            peer_step: number(peer.map(|(_, step, _)| step)),
            peer_line: peer.map_or(0, |(.., line)| line.into()),
            flow: number(flow.map(|flow| flow.0)),
            bytes: flow.map_or(0, |flow| spec.flows.at(flow.index()).bytes),
            delivered_bytes: flow.map_or(0, |flow| facts.received(flow.index()).delivered),
            sent: flow.map_or(0, |flow| (facts.start(flow.index()) < Instant::NEVER).into()),
        }
    };
    begun(spec, ran).filter(|(.., times)| times[1] == Instant::NEVER).map(row).collect()
}
