//! The tables of sampled rounds: what each simulated round took, what other traffic there was meanwhile, and what there
//! would be in the rounds that are not simulated.

use std::ops::Range;

use floodway_model::program::Action;
use floodway_model::table::Table;
use floodway_model::tables::{round_flows, round_loads, rounds};
use floodway_model::{Bytes, Collective, Duration, FlowId, FlowSpec, Instant, Program};

use super::{FlowFacts, nanoseconds, operations};
use crate::Spec;
use crate::host::programs::Ran;
use crate::rounds::{SampledRounds, forgets};
use crate::simulation::windows;

/// A complete round.
struct Round {
    /// From the end of the round before.
    whole: Range<Instant>,
    /// Its flows, in the same order in every round.
    flows: Vec<FlowId>,
    /// Begin and end of the steps of programs, in the same order in every round.
    steps: Vec<[Instant; 2]>,
    /// Of a collective, what it is, and from the first message to the last arrival.
    collective: Option<(Collective, Range<Instant>)>,
    /// Of a training, the time in which ranks computed and in which they did not, all ranks together.
    ranks: Option<[Duration; 2]>,
}

/// All tables of sampled rounds; none if no rounds are sampled.
pub(super) fn tables(spec: &Spec, facts: &FlowFacts, ran: &[Ran], end: Instant) -> Vec<Table> {
    let Some(sampled) = &spec.sampled else { return Vec::new() };
    let programs: Vec<(&Program, &Ran)> = ran
        .iter()
        .map(|of| (&spec.programs[of.program as usize], of))
        .filter(|(program, _)| program.workload == sampled.workload)
        .collect();
    let rounds = match programs.is_empty() {
        true => of_collectives(spec, facts, sampled),
        false => of_programs(&programs, facts, sampled),
    };
    let others = Others::of(spec, facts, sampled);
    vec![
        round_table(spec, facts, sampled, &rounds, programs.len()),
        others.table(&rounds, end),
        others.loads(spec, sampled, &rounds),
    ]
}

/// Rounds that are collectives, each an operation.
fn of_collectives(spec: &Spec, facts: &FlowFacts, sampled: &SampledRounds) -> Vec<Round> {
    let of = |flow: FlowId| spec.flows.at(flow.index()).workload;
    let all = spec.operations.iter().filter(|one| of(one.flows.at(0)) == sampled.workload);
    let mut rounds: Vec<Round> = Vec::new();
    for operation in all.take(sampled.simulated as usize) {
        let Some((start, Some(finish))) = operations::times(operation, facts) else { break };
        let begin = rounds.last().map_or(start, |before| before.whole.end);
        rounds.push(Round {
            // A round whose last message arrives before that of the round before ends with it.
            whole: begin..finish.max(begin),
            flows: operation.flows.each().collect(),
            steps: Vec::new(),
            collective: operation.collective.map(|what| (what, start..finish)),
            ranks: None,
        });
    }
    rounds
}

/// Rounds of ranks with programs.
fn of_programs(
    programs: &[(&Program, &Ran)],
    facts: &FlowFacts,
    sampled: &SampledRounds,
) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    let mut done: Vec<Instant> = programs.iter().map(|(program, _)| program.start).collect();
    let start = done.iter().copied().min().unwrap_or(Instant::ZERO);
    for number in 0..sampled.simulated as usize {
        let begin = rounds.last().map_or(start, |before| before.whole.end);
        let mut round = Round {
            whole: begin..begin,
            flows: Vec::new(),
            steps: Vec::new(),
            collective: None,
            ranks: Some([Duration::ZERO; 2]),
        };
        for ((program, of), done) in programs.iter().zip(&mut done) {
            let first = number.checked_sub(1).map_or(0, |before| program.rounds[before]) as usize;
            let steps = first..program.rounds[number] as usize;
            let times = &of.times[steps.clone()];
            let finish = times.iter().map(|[_, finish]| *finish).max().unwrap_or(*done).max(*done);
            let sent = program.steps[steps.clone()].iter().filter_map(|step| match step.action {
                Action::Send(flow) => Some(flow),
                _ => None,
            });
            round.flows.extend(sent);
            round.steps.extend(times);
            round.whole.end = finish.max(round.whole.end);
            if let Some([computed, exposed]) = &mut round.ranks {
                let busy = computing(program, of, steps);
                *computed += busy;
                *exposed += Duration(finish.since(*done).0.saturating_sub(busy.0));
            }
            *done = finish;
        }
        let arrived = |flow: &FlowId| facts.received(flow.index()).finished.is_some();
        if round.whole.end == Instant::NEVER || !round.flows.iter().all(arrived) {
            break;
        }
        rounds.push(round);
    }
    rounds
}

/// The time in which at least one of these steps of a rank computes.
fn computing(program: &Program, of: &Ran, steps: Range<usize>) -> Duration {
    let computes = |action: Action| {
        matches!(action, Action::Compute(_) | Action::Elapse { computes: true, .. })
    };
    let of_steps = program.steps[steps.clone()].iter().zip(&of.times[steps]);
    let mut spans: Vec<[Instant; 2]> =
        of_steps.filter(|(step, _)| computes(step.action)).map(|(_, times)| *times).collect();
    spans.sort_unstable();
    let (mut sum, mut until) = (Duration::ZERO, Instant::ZERO);
    for [begin, end] in spans.into_iter().filter(|[_, end]| *end < Instant::NEVER) {
        sum += end.since(begin.max(until));
        until = until.max(end);
    }
    sum
}

fn round_table(
    spec: &Spec,
    facts: &FlowFacts,
    sampled: &SampledRounds,
    rounds: &[Round],
    ranks: usize,
) -> Table {
    let forgets = forgets(spec, sampled);
    // Longer than any frame is on its way that has nothing to wait for.
    let tiers = spec.graph.switches().count().min(8) as u64;
    let margin = windows(spec).1 * (2 * tiers + 2);
    let mut acknowledged = Instant::ZERO;
    let mut rows = Vec::with_capacity(rounds.len());
    for (number, round) in rounds.iter().enumerate() {
        let first = round.flows.iter().map(|flow| facts.start(flow.index())).min();
        let at_rest = number > 0
            && forgets
            && first.is_some_and(|first| {
                acknowledged < Instant::NEVER
                    && first.since(Instant::ZERO) > acknowledged.since(Instant::ZERO) + margin
            });
        for flow in &round.flows {
            let (sent, received) = (facts.sent(flow.index()), facts.received(flow.index()));
            let repeats = spec.profiles[usize::from(sampled.workload)].transport.repeats();
            let end = if repeats { sent.acknowledged } else { received.finished };
            acknowledged = acknowledged.max(end.unwrap_or(Instant::NEVER));
        }
        let before = number.checked_sub(1).map(|before| &rounds[before]);
        let mean = |sum: Duration| sum.as_ns() / ranks as f64;
        let operation = round.collective.as_ref().map(|(what, span)| {
            let time = span.end.since(span.start).as_ns();
            (time, what.bytes as f64 * 8e9 / time * what.bus_factor())
        });
        rows.push(rounds::Row {
            workload: sampled.workload.into(),
            round: number as u64,
            of: sampled.of.into(),
            warmup: u64::from((number as u32) < sampled.warmup),
            begin_ns: nanoseconds(round.whole.start),
            finish_ns: nanoseconds(round.whole.end),
            time_ns: round.whole.end.since(round.whole.start).as_ns(),
            operation_ns: operation.map_or(f64::NAN, |(time, _)| time),
            bus_bandwidth_bps: operation.map_or(f64::NAN, |(_, bus)| bus),
            exposed_ns: round.ranks.map_or(f64::NAN, |[_, exposed]| mean(exposed)),
            compute_ns: round.ranks.map_or(f64::NAN, |[computed, _]| mean(computed)),
            repeats: u64::from(before.is_some_and(|before| repeats(before, round, facts))),
            at_rest: u64::from(at_rest),
        });
    }
    rows.into_iter().collect()
}

/// Whether the flows and steps of a round have the same times from its beginning as those of another, and the same
/// packets, losses and marks.
fn repeats(before: &Round, round: &Round, facts: &FlowFacts) -> bool {
    let from = |at: Instant, round: &Round| i128::from(at.0) - i128::from(round.whole.start.0);
    let of_flow = |flow: &FlowId, round: &Round| {
        let (sent, received) = (facts.sent(flow.index()), facts.received(flow.index()));
        let at = |at: Option<Instant>| at.map(|at| from(at, round));
        let counts = (sent.packets, sent.retransmitted, sent.timeouts, sent.rtts, sent.rtt_sum);
        let times =
            (from(facts.start(flow.index()), round), at(received.finished), at(sent.acknowledged));
        (times, counts, received.marked, facts.lost(flow.index()))
    };
    let flows =
        |round: &Round| round.flows.iter().map(|flow| of_flow(flow, round)).collect::<Vec<_>>();
    let steps = |round: &Round| {
        let of_step = |step: &[Instant; 2]| step.map(|at| from(at, round));
        round.steps.iter().map(of_step).collect::<Vec<_>>()
    };
    let length = |round: &Round| round.whole.end.since(round.whole.start);
    length(before) == length(round)
        && before.flows.len() == round.flows.len()
        && flows(before) == flows(round)
        && steps(before) == steps(round)
}

/// A flow of another workload.
struct Other {
    spec: FlowSpec,
    /// Whether its start is known before the run.
    planned: bool,
    start: Instant,
    finish: Instant,
}

/// The flows of other workloads that have a size and are measured.
struct Others(Vec<Other>);

impl Others {
    fn of(spec: &Spec, facts: &FlowFacts, sampled: &SampledRounds) -> Self {
        let apart = operations::apart(spec);
        let mut planned: Vec<bool> = spec.flows.each().map(|flow| !flow.in_turn).collect();
        spec.triggers.each().for_each(|trigger| planned[trigger.begins.index()] = false);
        let sent = spec.programs.iter().flat_map(Program::sent);
        sent.for_each(|(_, flow)| planned[flow.index()] = false);
        let other = |(place, flow): (usize, FlowSpec)| {
            let counts = flow.workload != sampled.workload
                && !flow.is_persistent()
                && !apart.get(place).is_some_and(|&is| is);
            counts.then(|| Other {
                spec: flow,
                planned: planned[place],
                start: facts.start(place),
                finish: facts.received(place).finished.unwrap_or(Instant::NEVER),
            })
        };
        Self(spec.flows.each().enumerate().filter_map(other).collect())
    }

    /// One row per round and workload.
    fn table(&self, rounds: &[Round], end: Instant) -> Table {
        let mut workloads: Vec<u16> = self.0.iter().map(|flow| flow.spec.workload).collect();
        workloads.sort_unstable();
        workloads.dedup();
        let mut rows: Vec<round_flows::Row> = Vec::new();
        for &workload in &workloads {
            rows.extend((0..rounds.len() as u64).map(|round| round_flows::Row {
                workload: workload.into(),
                round,
                begun: 0,
                active_ns: 0.0,
                completed: 0,
                fct_ns: 0.0,
            }));
        }
        let place = |workload: u16| workloads.iter().position(|other| *other == workload);
        for flow in self.0.iter().filter(|flow| flow.start < Instant::NEVER) {
            let Some(of) = place(flow.spec.workload) else { continue };
            let first = rounds.partition_point(|round| round.whole.end <= flow.start);
            for (number, round) in rounds.iter().enumerate().skip(first) {
                if round.whole.start >= flow.finish {
                    break;
                }
                let row = &mut rows[of * rounds.len() + number];
                if round.whole.contains(&flow.start) {
                    row.begun += 1;
                    if flow.finish < Instant::NEVER {
                        row.completed += 1;
                        row.fct_ns += flow.finish.since(flow.start).as_ns();
                    }
                }
                let span =
                    flow.start.max(round.whole.start)..flow.finish.min(round.whole.end).min(end);
                row.active_ns += span.end.since(span.start).as_ns();
            }
        }
        rows.into_iter().collect()
    }

    /// One row per round of the whole job.
    fn loads(&self, spec: &Spec, sampled: &SampledRounds, rounds: &[Round]) -> Table {
        let steady = rounds.get(sampled.warmup as usize..).unwrap_or_default();
        let (Some(first), Some(last)) = (steady.first(), steady.last()) else {
            return Vec::<round_loads::Row>::new().into_iter().collect();
        };
        let mean = last.whole.end.since(first.whole.start).0 / steady.len() as u64;
        let mut begins: Vec<Instant> = rounds.iter().map(|round| round.whole.start).collect();
        let mut at = last.whole.end;
        while begins.len() < sampled.of as usize {
            begins.push(at);
            at += Duration(mean);
        }
        begins.push(at);
        let on_link = |flow: &Other| {
            let rate = spec.graph.node(flow.spec.src).ports[0].rate;
            rate.time_for(Bytes(flow.spec.bytes)).0 as f64
        };
        // How many times as long as on its link a flow took, by bytes.
        let done = || self.0.iter().filter(|flow| flow.finish < Instant::NEVER);
        let took: f64 = done().map(|flow| flow.finish.since(flow.start).0 as f64).sum();
        let least: f64 = done().map(on_link).sum();
        let stretch = if least > 0.0 { (took / least).max(1.0) } else { 1.0 };
        let mut bytes = vec![0.0; sampled.of as usize];
        for flow in self.0.iter().filter(|flow| flow.planned) {
            let start = flow.spec.start.0 as f64;
            let time = (on_link(flow) * stretch).max(1.0);
            let round = begins.partition_point(|begin| *begin <= flow.spec.start);
            for (number, round) in begins.windows(2).enumerate().skip(round.saturating_sub(1)) {
                let [begin, end] = [round[0].0 as f64, round[1].0 as f64];
                if begin >= start + time {
                    break;
                }
                let share = (end.min(start + time) - begin.max(start)).max(0.0) / time;
                bytes[number] += share * flow.spec.bytes as f64;
            }
        }
        let row = |(round, bytes): (usize, f64)| round_loads::Row {
            round: round as u64,
            begin_ns: nanoseconds(begins[round]),
            bytes,
        };
        bytes.into_iter().enumerate().map(row).collect()
    }
}
