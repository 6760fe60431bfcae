//! Random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking, 1993) as Linux
//! computes it: `tc` converts its options to integers ([`Tc`], iproute2 `q_red.c` and `tc_red.c`),
//! and the kernel computes with these ([`State`], `net/red.h` and `sch_red.c`).
//!
//! - On every arrival the average becomes `avg + w (backlog - avg)`, with the backlog in bytes
//!   before the packet joins. After the queue and the wire have been idle, it decays instead.
//! - Below `min` nothing happens; from `max` on, every packet is congested. In between, the
//!   probability rises from 0 to `probability`, and marks are spread evenly: their distance is
//!   uniform from 1 to 1/p packets, not geometric.
//! - Above `limit` everything is dropped.
//!
//! The backlog is that of the queue that the packet would join or, unlike in Linux, of all data
//! queues of its port or of the whole switch ([`MeasuredOn`]), which then share one average.

mod tc;
#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Instant, Packet, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};
pub use tc::Tc;

/// Parameters: either `command`, or the other fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// RED parameters as a Linux command, such as `tc qdisc add dev eth2 root red limit 1600000 min
    /// 120000 ...`, in the units of `tc` (1kb is 1024 bytes); everything before `red` is ignored.
    /// It replaces all the fields below except `measured_on`, with the defaults of `tc`. Default
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Maximum backlog in bytes; above it everything is dropped. Default 1600000B (Data Center to
    /// the Home deck).
    pub limit: Bytes,
    /// Average backlog up to which nothing is marked, in bytes. Default 120000B (same deck: 24 ms
    /// at 40 Mb/s).
    pub min: Bytes,
    /// Average backlog from which every packet is marked, in bytes. Default 360000B (same deck: 72
    /// ms).
    pub max: Bytes,
    /// Average packet size, in bytes. Default 1000B (same deck).
    pub avpkt: Bytes,
    /// Length of a burst that passes without marks, in packets; determines the weight of the
    /// average, 1/128 with the numbers of the deck. Default 220 (same deck).
    pub burst: u32,
    /// Link rate, used for the decay of the average during idle time. Default 40Mbps (same deck).
    pub bandwidth: Rate,
    /// Marking probability just below `max`, 0 to 1. Default 0.02 (`tc`).
    pub probability: f64,
    /// Whether ECN-capable packets are marked instead of dropped. Default true (same deck; `tc`:
    /// false).
    pub ecn: bool,
    /// Whether ECN-capable packets are dropped too when the average is above `max`. Default false
    /// (`tc`).
    pub harddrop: bool,
    /// The backlog to which the average and `limit` apply; may be combined with `command`. Default
    /// `queue` (Linux).
    pub measured_on: MeasuredOn,
}

/// The backlog that is averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredOn {
    /// The queue that the packet would join.
    #[default]
    Queue,
    /// All data queues of the port: one average per port.
    Port,
    /// All data queues of the switch: one average for all ports, which decays while the buffer is
    /// empty.
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
                // The error is reported at the first field that the message names.
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

/// All fields that `command` replaces.
pub const FIELDS: [&str; 9] =
    ["limit", "min", "max", "avpkt", "burst", "bandwidth", "probability", "ecn", "harddrop"];

impl Spec {
    /// The parameters that `tc` derives, or a description of the error: one sentence without its
    /// full stop.
    pub fn tc(&self) -> Result<Tc, String> {
        match &self.command {
            Some(command) => Tc::of_command(command),
            None => Tc::of_fields(self),
        }
    }
}

/// RED state of one average.
#[derive(Clone, Debug)]
struct Average {
    /// The average backlog in bytes, times 2^`wlog`.
    avg: u64,
    /// Packets since the last mark; -1 if the average was not between the thresholds.
    count: i64,
    /// A random number, drawn initially and at each mark. The next mark is due when `count` times
    /// the excess of the average reaches it.
    goal: u32,
}

/// RED on all data queues of a port, one average per queue or one for all, or on those of a switch.
#[derive(Clone, Debug)]
pub struct State {
    tc: Tc,
    measured_on: MeasuredOn,
    /// By queue; a single one if ports or the switch are measured.
    averages: Vec<Average>,
    /// When the last packet left the buffer.
    empty_since: Instant,
}

/// The decision that follows from the average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    None,
    /// Between the thresholds, at random.
    Mark,
    /// Above the upper threshold.
    HardMark,
}

impl State {
    /// Initial state for a port with this many queues, or for all ports if the buffer of the switch
    /// is measured.
    fn of(tc: Tc, measured_on: MeasuredOn, queues: usize) -> Self {
        let count = if measured_on == MeasuredOn::Queue { queues } else { 1 };
        let averages = vec![Average { avg: 0, count: -1, goal: 0 }; count];
        Self { tc, measured_on, averages, empty_since: Instant::ZERO }
    }

    /// The average backlog of a queue, or of the port or switch that is measured, in bytes.
    pub fn average(&self, queue: usize) -> f64 {
        let number = if self.measured_on == MeasuredOn::Queue { queue } else { 0 };
        self.averages[number].avg as f64 / f64::from(1u32 << self.tc.wlog)
    }

    /// For a packet that would join `queue`: the index of the average, the backlog to be averaged,
    /// and the idle time if there is no backlog.
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
    /// Updates the average for a packet that arrives at `backlog` bytes, after an idle time of
    /// `idle` if there was one. Integer arithmetic as in `red_calc_qavg`.
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
            // The table is too coarse for short times: the decay is linear there, limited to one
            // half.
            let less = ((u128::from(self.avg) * u128::from(us)) >> tc.scell_log) as u64;
            let half = self.avg >> 1;
            if less < half { self.avg - less } else { half }
        };
    }

    /// The decision that follows from the average: `red_action`. `random` returns 32 random bits.
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
        // An average over several queues may exceed the size of the largest of them.
        let tc = spec.tc().ok().filter(|_| spec.measured_on == MeasuredOn::Queue)?;
        Some(("max", Bytes(tc.max.into())))
    }

    /// Panics if the spec is invalid.
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
        // The limit of the queue inside RED, which is checked last.
        if backlog + view.occupied(packet) > u64::from(tc.limit) { Verdict::Drop } else { verdict }
    }
}

/// Idle time of an empty queue: since the wire became `free`, when Linux asks for the next packet
/// and finds none. MAC control frames are not packets of this queue. `None` while the wire is busy.
/// An empty switch buffer is idle at once, because it has several wires.
fn idle(backlog: u64, free: Instant, now: Instant) -> Option<Duration> {
    (backlog == 0 && free <= now).then(|| now.since(free))
}
