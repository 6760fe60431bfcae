//! Programs of ranks: which step begins when. Everything that decides it is known to the host: its own
//! sends, its own receives, and the ends of its computations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::program::{Action, On, SendEnd};
use floodway_model::{Duration, FlowId, Instant, Program, SharedList};
use serde::{Deserialize, Serialize};

use super::{Host, Shared};
use crate::context::Context;

/// Flows to start, by their index among the outgoing flows, and timers of programs, with their times.
pub type Timers = BinaryHeap<Reverse<(Instant, u32)>>;

/// Stands for no step.
const NONE: u32 = u32::MAX;

/// The programs of a host. Their steps are numbered one program after the other.
#[derive(Debug)]
pub struct Programs {
    all: SharedList<Program>,
    running: Vec<Running>,
    /// By step: its number of open dependencies. One more until its program begins, if it has none.
    open: Vec<u32>,
    /// By step: when it began and finished; [`Instant::NEVER`] until then.
    times: Vec<[Instant; 2]>,
    /// By event: the steps that depend on it.
    dependents: [Edges; 2],
    streams: Vec<Stream>,
    /// Steps that may begin, of streams that were idle when they were added. It has the lowest of those
    /// of each idle stream.
    ready: BinaryHeap<Reverse<u32>>,
    /// The step that sends a flow, by its index among the outgoing flows; [`NONE`] if none does.
    sends: Vec<u32>,
    /// The step that receives a flow, by its index among the incoming flows.
    receives: Vec<u32>,
    /// By index among the incoming flows: whether all of it has arrived.
    arrived: Vec<bool>,
}

/// A program of this host.
#[derive(Debug)]
struct Running {
    /// Its index among all programs.
    program: u32,
    /// Its first step and its first stream.
    step: u32,
    stream: u32,
    /// Whether the measured interval waits until it has finished.
    awaited: bool,
    /// The number of its first steps that the run waits for.
    until: u32,
    /// Of these, steps that have not finished.
    left: u32,
    /// Streams that compute.
    computing: u32,
    /// Since when at least one does, if one does.
    since: Instant,
    /// Time during which at least one stream computed, before that.
    computed: Duration,
}

/// A stream of a program.
#[derive(Debug, Default)]
struct Stream {
    /// Whether it computes, or is held.
    busy: bool,
    /// Steps that could begin if it were idle.
    waiting: BinaryHeap<Reverse<u32>>,
}

/// Dependencies by the step that comes first.
#[derive(Debug, Default)]
struct Edges {
    /// By step: index of its first dependent, with one more at the end; empty if there are none.
    first: Vec<u32>,
    to: Vec<u32>,
}

/// What a program did in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// Its index among all programs.
    pub program: u32,
    /// By step: when it began and finished; [`Instant::NEVER`] if it did not.
    pub times: Vec<[Instant; 2]>,
    /// Time during which at least one of its streams computed.
    pub computed: Duration,
}

/// What a step waits for besides other steps.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The outgoing flow with this index has been handed over.
    HandedOver(u32),
    /// All of the incoming flow with this index has arrived.
    Arrived(u32),
    /// A timer with this code is due.
    Timer(u32),
}

/// What the programs of a host have access to.
pub struct Around<'a> {
    /// Data shared by all hosts.
    pub shared: &'a Shared,
    /// Flows to start, by their index among the outgoing flows, and timers. Their codes follow the
    /// indices: first the steps that end then, then the programs that begin.
    pub timers: &'a mut Timers,
}

impl Edges {
    /// Dependencies among `steps` steps, as pairs.
    fn new(steps: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        if pairs.clone().next().is_none() {
            return Self::default();
        }
        let mut first = vec![0; steps + 1];
        pairs.clone().for_each(|(from, _)| first[from as usize + 1] += 1);
        (0..steps).for_each(|step| first[step + 1] += first[step]);
        let (mut next, mut to) = (first.clone(), vec![0; first[steps] as usize]);
        for (from, step) in pairs {
            to[next[from as usize] as usize] = step;
            next[from as usize] += 1;
        }
        Self { first, to }
    }

    /// Range of the dependents of a step in `to`.
    fn of(&self, step: u32) -> std::ops::Range<usize> {
        match self.first.get(step as usize..step as usize + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        }
    }
}

impl Programs {
    /// The programs with these indices among `all`, of a host with so many outgoing and incoming flows.
    /// `None` if there are no programs. Sets the timers at which they begin.
    pub fn new(
        all: &SharedList<Program>,
        here: &[u32],
        [outgoing, incoming]: [usize; 2],
        shared: &Shared,
        timers: &mut Timers,
    ) -> Option<Box<Self>> {
        if here.is_empty() {
            return None;
        }
        let mut running: Vec<Running> = Vec::new();
        let (mut steps, mut streams) = (0, 0);
        let (mut sends, mut receives) = (vec![NONE; outgoing], vec![NONE; incoming]);
        for &index in here {
            let program = &all[index as usize];
            let (step, count) = (steps, program.steps.len() as u32);
            let until = shared.sampled.map_or(count, |sampled| sampled.steps(program));
            running.push(Running {
                program: index,
                step,
                stream: streams,
                awaited: shared.awaits_job(program.workload),
                until,
                left: until,
                computing: 0,
                since: Instant::NEVER,
                computed: Duration::ZERO,
            });
            for (number, flow) in program.sent() {
                sends[shared.places_at_host(flow).0 as usize] = step + number;
            }
            for (number, flow) in program.received() {
                receives[shared.places_at_host(flow).1 as usize] = step + number;
            }
            steps += count;
            streams += program.streams() as u32;
        }
        let pairs = |on: On| {
            running.iter().flat_map(move |of| {
                let edges = all[of.program as usize].edges.iter();
                let edges = edges.filter(move |edge| edge.on == on);
                edges.map(move |edge| (of.step + edge.from, of.step + edge.to))
            })
        };
        let mut open = vec![0; steps as usize];
        pairs(On::Finished)
            .chain(pairs(On::Begun))
            .for_each(|(_, step)| open[step as usize] += 1u32);
        open.iter_mut().filter(|open| **open == 0).for_each(|open| *open = 1);
        let dependents = [On::Finished, On::Begun].map(|on| Edges::new(steps as usize, pairs(on)));
        for (place, &index) in (0..).zip(here) {
            timers.push(Reverse((all[index as usize].start, outgoing as u32 + steps + place)));
        }
        Some(Box::new(Self {
            all: all.clone(),
            running,
            open,
            times: vec![[Instant::NEVER; 2]; steps as usize],
            dependents,
            streams: (0..streams).map(|_| Stream::default()).collect(),
            ready: BinaryHeap::new(),
            sends,
            receives,
            arrived: vec![false; incoming],
        }))
    }

    /// Something happened. Returns the number of programs that finished with it, and of these the number of
    /// awaited ones.
    pub fn on(&mut self, event: Event, now: Instant, around: &mut Around<'_>) -> [u32; 2] {
        let before = self.unfinished();
        let flows = self.sends.len() as u32;
        match event {
            Event::HandedOver(place) => {
                let step = self.sends[place as usize];
                if step != NONE && !self.waits_for_acknowledgement(step, around) {
                    self.finish(step, now);
                }
            }
            Event::Arrived(place) => {
                let step = self.receives[place as usize];
                self.arrived[place as usize] = true;
                // A flow that arrives before its receive is posted finishes that when it begins.
                if step != NONE && self.times[step as usize][0] < Instant::NEVER {
                    self.finish(step, now);
                }
            }
            Event::Timer(code) if code - flows < self.open.len() as u32 => {
                self.finish(code - flows, now);
            }
            Event::Timer(code) => {
                let place = (code - flows) as usize - self.open.len();
                self.begin_program(place);
            }
        }
        // Of timers that are due at the same time, all count before a step begins.
        let is_due = |&Reverse((at, code)): &Reverse<(Instant, u32)>| at <= now && code >= flows;
        if !around.timers.peek().is_some_and(is_due) {
            self.run(now, around);
        }
        let after = self.unfinished();
        [before[0] - after[0], before[1] - after[1]]
    }

    /// The sender of an outgoing flow has an acknowledgement of everything: the timer that reports it to
    /// the program, if that waits for it.
    pub fn acknowledged(&self, place: u32) -> Option<u32> {
        let step = self.sends[place as usize];
        let waits = step != NONE && self.program(step).sends == SendEnd::Acknowledged;
        (waits && self.times[step as usize][1] == Instant::NEVER)
            .then(|| self.sends.len() as u32 + step)
    }

    /// What its programs have done until `now`, the end of the run.
    pub fn ran(&self, now: Instant) -> impl Iterator<Item = Ran> + '_ {
        self.running.iter().map(move |of| {
            let steps = self.all[of.program as usize].steps.len();
            let times = self.times[of.step as usize..][..steps].to_vec();
            Ran { program: of.program, times, computed: of.computed + now.since(of.since) }
        })
    }

    /// Programs that have not finished, and of these the awaited ones.
    fn unfinished(&self) -> [u32; 2] {
        let left = self.running.iter().filter(|of| of.left > 0);
        left.fold([0; 2], |[all, awaited], of| [all + 1, awaited + u32::from(of.awaited)])
    }

    /// Index among the programs here of the one that a step belongs to.
    fn owner(&self, step: u32) -> usize {
        self.running.partition_point(|of| of.step <= step) - 1
    }

    fn program(&self, step: u32) -> &Program {
        &self.all[self.running[self.owner(step)].program as usize]
    }

    /// What a step does, and its stream.
    fn step(&self, step: u32) -> (Action, usize) {
        let of = &self.running[self.owner(step)];
        let what = &self.all[of.program as usize].steps[(step - of.step) as usize];
        (what.action, of.stream as usize + usize::from(what.stream))
    }

    /// Whether a send is not finished when it is handed over.
    fn waits_for_acknowledgement(&self, step: u32, around: &Around<'_>) -> bool {
        let Action::Send(flow) = self.step(step).0 else { return false };
        self.program(step).sends == SendEnd::Acknowledged
            && around.shared.profile(flow).transport.repeats()
    }

    /// A program begins: its steps without dependencies may begin.
    fn begin_program(&mut self, place: usize) {
        let of = &self.running[place];
        let steps = of.step..of.step + self.all[of.program as usize].steps.len() as u32;
        let depends = {
            let mut depends = vec![false; steps.len()];
            let edges = &self.all[of.program as usize].edges;
            edges.iter().for_each(|edge| depends[edge.to as usize] = true);
            depends
        };
        for (step, depends) in steps.zip(depends) {
            if !depends {
                self.one_less(step);
            }
        }
    }

    /// A dependency of a step is satisfied.
    fn one_less(&mut self, step: u32) {
        let open = &mut self.open[step as usize];
        *open -= 1;
        if *open > 0 {
            return;
        }
        let (action, stream) = self.step(step);
        let stream = &mut self.streams[stream];
        let waits = stream.busy && action.needs_stream();
        if waits { &mut stream.waiting } else { &mut self.ready }.push(Reverse(step));
    }

    /// The steps that depend on this event of a step have one dependency less.
    fn satisfy(&mut self, step: u32, on: On) {
        let kind = usize::from(on == On::Begun);
        for at in self.dependents[kind].of(step) {
            self.one_less(self.dependents[kind].to[at]);
        }
    }

    /// Begins all steps that can begin, in order of their numbers.
    fn run(&mut self, now: Instant, around: &mut Around<'_>) {
        while let Some(Reverse(step)) = self.ready.pop() {
            let (action, stream) = self.step(step);
            if self.streams[stream].busy && action.needs_stream() {
                self.streams[stream].waiting.push(Reverse(step));
                continue;
            }
            self.begin(step, (action, stream), now, around);
            if !self.streams[stream].busy {
                self.next_of(stream);
            }
        }
    }

    /// Adds the lowest step that waits for a stream, which is idle, to those that may begin.
    fn next_of(&mut self, stream: usize) {
        if let Some(step) = self.streams[stream].waiting.pop() {
            self.ready.push(step);
        }
    }

    fn begin(
        &mut self,
        step: u32,
        (action, stream): (Action, usize),
        now: Instant,
        around: &mut Around<'_>,
    ) {
        self.times[step as usize][0] = now;
        match action {
            Action::Compute(time) if time > Duration::ZERO => {
                self.streams[stream].busy = true;
                self.computes(step, now);
                around.timers.push(Reverse((now + time, self.sends.len() as u32 + step)));
            }
            Action::Elapse { time, computes } if time > Duration::ZERO => {
                if computes {
                    self.computes(step, now);
                }
                around.timers.push(Reverse((now + time, self.sends.len() as u32 + step)));
            }
            Action::Compute(_) | Action::Elapse { .. } | Action::Release => self.finish(step, now),
            Action::Hold => {
                self.streams[stream].busy = true;
                self.finish(step, now);
            }
            Action::Send(flow) => {
                let place = around.shared.places_at_host(flow).0;
                around.timers.push(Reverse((now, place)));
            }
            Action::Receive(flow) => {
                let place = around.shared.places_at_host(flow).1;
                if self.arrived[place as usize] {
                    self.finish(step, now);
                }
            }
        }
        self.satisfy(step, On::Begun);
    }

    fn finish(&mut self, step: u32, now: Instant) {
        self.times[step as usize][1] = now;
        let owner = self.owner(step);
        let of = &mut self.running[owner];
        of.left -= u32::from(step - of.step < of.until);
        let (action, stream) = self.step(step);
        let (frees, computed) = match action {
            Action::Compute(time) => (time > Duration::ZERO, time > Duration::ZERO),
            Action::Elapse { time, computes } => (false, computes && time > Duration::ZERO),
            Action::Release => (true, false),
            Action::Send(_) | Action::Receive(_) | Action::Hold => (false, false),
        };
        if frees {
            self.streams[stream].busy = false;
            self.next_of(stream);
        }
        if computed {
            let of = &mut self.running[owner];
            of.computing -= 1;
            if of.computing == 0 {
                of.computed += now.since(of.since);
                of.since = Instant::NEVER;
            }
        }
        self.satisfy(step, On::Finished);
    }

    /// A step begins to compute.
    fn computes(&mut self, step: u32, now: Instant) {
        let owner = self.owner(step);
        let of = &mut self.running[owner];
        if of.computing == 0 {
            of.since = now;
        }
        of.computing += 1;
    }
}

impl Host {
    /// Passes an event to its programs, if it has any.
    pub(super) fn run_programs(&mut self, event: Event, now: Instant, context: &mut Context) {
        let Some(dependencies) = &mut self.dependencies else { return };
        let (programs, timers) = dependencies.programs();
        let Some(programs) = programs else { return };
        let mut around = Around { shared: &self.shared, timers };
        let [done, awaited] = programs.on(event, now, &mut around);
        // A rank that finishes counts as a flow that completes, so that the run goes on until then.
        (0..done).for_each(|number| context.metrics.count_flow_done(number < awaited));
    }

    /// What its programs have done until `now`, the end of the run.
    pub(crate) fn ran(&self, now: Instant) -> Vec<Ran> {
        let programs = self.dependencies.as_ref().and_then(|of| of.programs.as_ref());
        programs.map_or_else(Vec::new, |programs| programs.ran(now).collect())
    }

    /// All of an outgoing flow has been acknowledged: sets a timer for the program that waits for it, if
    /// one does.
    pub(super) fn on_acknowledged(&mut self, flow: FlowId, now: Instant) {
        let place = self.shared.places_at_host(flow).0;
        let Some(dependencies) = &mut self.dependencies else { return };
        let (programs, timers) = dependencies.programs();
        let code = programs.and_then(|programs| programs.acknowledged(place));
        timers.extend(code.map(|code| Reverse((now, code))));
    }
}
