//! Random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking, 1993) as Linux
//! computes it: `tc` makes numbers of what it is told ([`Tc`], iproute2 `q_red.c` and `tc_red.c`),
//! and the kernel computes with these in whole numbers ([`State`], `net/red.h` and `sch_red.c`).
//!
//! - On every arrival the average becomes `avg + w (backlog - avg)`, with the backlog in bytes
//!   before the packet joins, or decays if queue and wire have been idle.
//! - Below `min` nothing happens, from `max` on every packet is congested. In between the probability
//!   rises from 0 to `probability`, and marks are spread evenly: their distance is uniform from 1 to
//!   1/p packets, not geometric.
//! - Above `limit` everything is dropped.
//!
//! The backlog is that of the queue that the packet would join, or, unlike in Linux, of all data
//! queues of its port or of the whole switch ([`MeasuredOn`]), of which there is then one average.

mod tc;
#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Instant, Packet, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};
pub use tc::Tc;

/// Parameters: either `command`, or the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// What Linux would be told, `tc qdisc add dev eth2 root red limit 1600000 min 120000 ...`, in
    /// the units of `tc` (1kb is 1024 bytes); what comes before `red` is not looked at. It takes
    /// the place of all the fields below, with the defaults of `tc`. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The most bytes that may wait. Default 1600000B (Data Center to the Home deck).
    pub limit: Bytes,
    /// Average up to which nothing is marked. Default 120000B (same deck: 24 ms at 40 Mb/s).
    pub min: Bytes,
    /// Average from which everything is marked. Default 360000B (same deck: 72 ms).
    pub max: Bytes,
    /// Length of an average packet. Default 1000B (same deck).
    pub avpkt: Bytes,
    /// Packets in a burst that is let pass; decides the weight of the average, 1/128 with the
    /// deck's numbers. Default 220 (same deck).
    pub burst: u32,
    /// Rate of the link, for the decay of the average in idle time. Default 40Mbps (same deck).
    pub bandwidth: Rate,
    /// Probability just below `max`, 0 to 1. Default 0.02 (`tc`).
    pub probability: f64,
    /// Whether ECN-capable packets are marked instead of dropped. Default true (same deck; `tc`:
    /// false).
    pub ecn: bool,
    /// Whether they are dropped all the same when the average is above `max`. Default false (`tc`).
    pub harddrop: bool,
    /// What is averaged, and what `limit` is about; may stand beside `command`. Default `queue`
    /// (Linux).
    pub measured_on: MeasuredOn,
}

/// Which backlog it is that is averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredOn {
    /// That of the queue that the packet would join.
    #[default]
    Queue,
    /// That of all data queues of its port: one average for each port.
    Port,
    /// That of all data queues of the switch: one average for all ports, which decays while the
    /// memory is empty.
    Memory,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            command: None,
            limit: Bytes(1_600_000),
            min: Bytes(120_000),
            max: Bytes(360_000),
            avpkt: Bytes(1_000),
            burst: 220,
            bandwidth: Rate(40_000_000),
            probability: 0.02,
            ecn: true,
            harddrop: false,
            measured_on: MeasuredOn::Queue,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        match self.tc() {
            Ok(_) => {}
            Err(wrong) if self.command.is_some() => {
                let remedy = "write it as for Linux: \"tc qdisc add dev eth2 root red limit 1600000 min 120000 max 360000 avpkt 1000 burst 220 ecn bandwidth 40Mbit\"";
                findings.error("command", format!("the command for RED is wrong: {wrong}"), remedy);
            }
            Err(wrong) => {
                // The first field that the sentence names is where it begins.
                let named = FIELDS
                    .iter()
                    .filter_map(|field| Some((wrong.find(&format!("`{field}`"))?, *field)));
                let place = named.min().map_or("", |(_, field)| field);
                let remedy = "compare with the defaults: min 120000B, max 360000B, avpkt 1000B, burst 220, probability 0.02";
                findings.error([place, ""], wrong, remedy);
            }
        }
    }
}

/// All fields beside `command` of which it takes the place.
pub const FIELDS: [&str; 9] =
    ["limit", "min", "max", "avpkt", "burst", "bandwidth", "probability", "ecn", "harddrop"];

impl Spec {
    /// What `tc` makes of it, or what is wrong with it, in one sentence without its end.
    pub fn tc(&self) -> Result<Tc, String> {
        match &self.command {
            Some(command) => Tc::of_command(command),
            None => Tc::of_fields(self),
        }
    }
}

/// What RED remembers of one queue.
#[derive(Clone, Debug)]
struct Average {
    /// The average backlog in bytes, times 2^`wlog`.
    avg: u64,
    /// Packets since the last mark; -1 when the average was not between the thresholds.
    count: i64,
    /// A random number, at first and from each mark on, that `count` times the excess of the average
    /// has to reach for the next mark.
    goal: u32,
}

/// RED in all data queues of a port, each by itself or together, or in those of a switch.
#[derive(Clone, Debug)]
pub struct State {
    tc: Tc,
    measured_on: MeasuredOn,
    /// By queue; if it is not queues that are measured, the only one.
    averages: Vec<Average>,
    /// When the last packet left the memory.
    empty_since: Instant,
}

/// What the average says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    None,
    /// Between the thresholds, by chance.
    Mark,
    /// Above the upper one.
    HardMark,
}

impl State {
    /// That of a port with this many queues, or of all ports if it is the memory that is measured.
    fn of(tc: Tc, measured_on: MeasuredOn, queues: usize) -> Self {
        let count = if measured_on == MeasuredOn::Queue { queues } else { 1 };
        let averages = vec![Average { avg: 0, count: -1, goal: 0 }; count];
        Self { tc, measured_on, averages, empty_since: Instant::ZERO }
    }

    /// The average backlog of a queue, or of whatever is measured, in bytes.
    pub fn average(&self, queue: usize) -> f64 {
        let number = if self.measured_on == MeasuredOn::Queue { queue } else { 0 };
        self.averages[number].avg as f64 / f64::from(1u32 << self.tc.wlog)
    }

    /// For a packet that would join `queue`: the number of the average, the backlog that goes into
    /// it, and how long there has been none, if there is none.
    fn measured(&self, queue: usize, view: &View<'_>) -> (usize, u64, Option<Duration>) {
        let (number, backlog, free) = match self.measured_on {
            MeasuredOn::Queue => (queue, view.backlog(queue), view.tx.queues_idle_from()),
            MeasuredOn::Port => (0, view.total_backlog(), view.tx.queues_idle_from()),
            MeasuredOn::Memory => (0, view.memory, self.empty_since),
        };
        (number, backlog, idle(backlog, free, view.now))
    }
}

impl Average {
    /// A packet arrives at a queue of `backlog` bytes that has been idle for `idle`, if it has. Whole
    /// numbers as in `red_calc_qavg`.
    fn update(&mut self, tc: &Tc, backlog: u64, idle: Option<Duration>) {
        let Some(idle) = idle else {
            self.avg = self.avg + backlog - (self.avg >> tc.wlog);
            return;
        };
        let us = (idle.0 / 1_000_000).min(255 << tc.scell_log);
        let shift = tc.stab[(us >> tc.scell_log) as usize & 255];
        self.avg = if shift > 0 {
            self.avg >> shift
        } else {
            // The table is too coarse for short times: linear, but by half at most.
            let less = ((u128::from(self.avg) * u128::from(us)) >> tc.scell_log) as u64;
            let half = self.avg >> 1;
            if less < half { self.avg - less } else { half }
        };
    }

    /// What follows from the average: `red_action`. `random` gives 32 random bits.
    fn action(&mut self, tc: &Tc, mut random: impl FnMut() -> u32) -> Action {
        let (low, high) = (u64::from(tc.min) << tc.wlog, u64::from(tc.max) << tc.wlog);
        if self.avg < low {
            self.count = -1;
            return Action::None;
        }
        if self.avg >= high {
            self.count = -1;
            return Action::HardMark;
        }
        self.count += 1;
        if self.count == 0 {
            self.goal = random() / tc.slope;
        } else if ((self.avg - low) >> tc.wlog) * self.count as u64 >= u64::from(self.goal) {
            self.count = 0;
            self.goal = random() / tc.slope;
            return Action::Mark;
        }
        Action::None
    }
}

impl Aqm for State {
    type Spec = Spec;

    fn no_marks(spec: &Spec) -> Option<&'static str> {
        spec.tc().is_ok_and(|tc| !tc.ecn).then_some("switch.aqm.red")
    }

    fn needs_ecn(spec: &Spec) -> &'static [&'static str] {
        if spec.command.is_none() && spec.ecn { &["ecn"] } else { &[] }
    }

    fn threshold(spec: &Spec) -> Option<(&'static str, Bytes)> {
        // An average over several queues may be larger than the largest of them.
        let tc = spec.tc().ok().filter(|_| spec.measured_on == MeasuredOn::Queue)?;
        Some(("max", Bytes(tc.max.into())))
    }

    /// Panics if the spec is not valid.
    fn new(spec: &Spec, queues: usize) -> Self {
        let tc = spec.tc().unwrap_or_else(|wrong| panic!("RED: {wrong}"));
        Self::of(tc, spec.measured_on, queues)
    }

    fn measured_on(spec: &Spec) -> MeasuredOn {
        spec.measured_on
    }

    fn on_empty(&mut self, now: Instant) {
        self.empty_since = now;
    }

    #[inline(never)]
    fn on_arrival(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let (number, backlog, idle) = self.measured(queue, view);
        let (tc, average) = (&self.tc, &mut self.averages[number]);
        average.update(tc, backlog, idle);
        let action = average.action(tc, || (view.rng.bits() >> 32) as u32);
        let verdict = match action {
            Action::None => Verdict::Pass,
            Action::HardMark if tc.harddrop => Verdict::Drop,
            Action::Mark | Action::HardMark if tc.ecn => Verdict::Congested,
            Action::Mark | Action::HardMark => Verdict::Drop,
        };
        // The queue inside RED, which is asked last.
        if backlog + u64::from(packet.bytes) > u64::from(tc.limit) {
            Verdict::Drop
        } else {
            verdict
        }
    }
}

/// How long an empty queue has been idle: since the wire has been `free`, as Linux finds when it
/// asks for the next packet and there is none; MAC control frames are none of its packets. `None` as
/// long as the wire is busy. An empty memory
/// is idle at once: it has several wires.
fn idle(backlog: u64, free: Instant, now: Instant) -> Option<Duration> {
    (backlog == 0 && free <= now).then(|| now.since(free))
}
