//! The PFC watchdog of switches, as SONiC has it: a queue that has been paused for long without a
//! break, and has packets, is in a storm, and gets rid of its packets or stops obeying until the
//! pauses have ceased. It breaks deadlocks, and frees a network of a NIC that pauses for ever, at the
//! price of losses in a class that is to have none.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::check::{Check, Findings};
use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Source;
use crate::switch::check::{CheckBeside, Facts};

/// Parameters. Every lossless queue of every port is watched by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How long a queue with packets must have been paused without a break to be in a storm. Default
    /// 200ms (SONiC, `pfcwd`).
    pub detection: Duration,
    /// How long no pause must have come for the storm to be over. Default 200ms (SONiC, `pfcwd`).
    pub restoration: Duration,
    /// What happens to the queue in the meantime. Default `drop` (SONiC, `pfcwd`).
    pub action: Action,
}

/// What happens to a queue in a storm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Its packets are dropped, and so is what comes for it.
    #[default]
    Drop,
    /// Its pauses are not obeyed.
    Forward,
}

impl Default for Spec {
    fn default() -> Self {
        let ms_200 = Duration::from_ms(200);
        Self { detection: ms_200, restoration: ms_200, action: Action::Drop }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        for (field, time) in [("detection", self.detection), ("restoration", self.restoration)] {
            findings.positive(field, time, "SONiC has 200ms and more");
            findings.latency(field, time);
        }
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let flow_control = &facts.switch.flow_control;
        let parts = [
            (flow_control.bfc.is_some(), "physical queues of Backpressure Flow Control"),
            (flow_control.drc.is_some(), "directions of Directional Rate Control"),
            (
                flow_control.congestion_isolation.is_some(),
                "queues between which flows are isolated",
            ),
        ];
        if let Some((_, parts)) = parts.iter().find(|(are_there, _)| *are_there) {
            findings.error(
                "",
                format!("the watchdog of PFC empties whole queues, and there are {parts}"),
                "use one of the two: remove [switch.flow_control.pfc.watchdog], or the other",
            );
        }
        if self.detection >= facts.limit {
            findings.warn(
                ["detection", ""],
                format!(
                    "a storm is detected after {}, and the run ends at {} at the latest",
                    self.detection, facts.limit
                ),
                "the watchdog will never act: lower `detection`, or raise `limit`",
            );
        }
    }
}

/// A storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Egress port and queue.
    pub queue: Source,
    /// When it was detected.
    pub detected: Instant,
    /// When it was over; [`Instant::NEVER`] if it was not.
    pub restored: Instant,
    /// Packets dropped because of it.
    pub dropped: u64,
}

/// What becomes of a queue at a moment that was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It has been paused for long, if its pause has not been broken since then.
    Storm {
        /// Since when it was to be watched.
        since: Instant,
    },
    /// No pause has come for long.
    Over,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Calm,
    /// It waits in a pause, and is in a storm if that lasts until then.
    Waits { until: Instant },
    /// It is in this storm, which is over then unless another pause comes.
    Storm { event: usize, until: Instant },
}

/// The watchdog of one switch. Its queues are told by port and class like sources.
#[derive(Debug)]
pub struct Watchdog {
    spec: Spec,
    states: Vec<State>,
    /// Whether `due` has an entry of the queue: it may be too early, never too late.
    armed: Vec<bool>,
    due: BinaryHeap<Reverse<(Instant, Source)>>,
    /// All storms, in the order in which they were detected.
    pub events: Vec<Event>,
}

impl Watchdog {
    /// For a switch with this many ports.
    pub fn new(spec: &Spec, ports: usize) -> Self {
        let queues = ports * CLASSES;
        Self {
            spec: spec.clone(),
            states: vec![State::Calm; queues],
            armed: vec![false; queues],
            due: BinaryHeap::new(),
            events: Vec::new(),
        }
    }

    /// Whether nothing is known of the queue that would matter.
    pub fn is_calm(&self, queue: Source) -> bool {
        self.states[queue.index()] == State::Calm
    }

    /// Whether what comes for the queue is to be dropped.
    pub fn drops(&self, queue: Source) -> bool {
        self.spec.action == Action::Drop && self.in_storm(queue)
    }

    /// Whether the pauses of the queue are not to be obeyed.
    pub fn ignores(&self, queue: Source) -> bool {
        self.spec.action == Action::Forward && self.in_storm(queue)
    }

    fn in_storm(&self, queue: Source) -> bool {
        matches!(self.states[queue.index()], State::Storm { .. })
    }

    /// The queue is paused and has packets from now on, or not any more.
    pub fn waits(&mut self, queue: Source, waits: bool, now: Instant) {
        if self.in_storm(queue) {
            return;
        }
        self.states[queue.index()] = State::Calm;
        if waits {
            let until = now + self.spec.detection;
            self.states[queue.index()] = State::Waits { until };
            self.arm(queue, until);
        }
    }

    /// A frame that pauses the queue has come.
    pub fn hears_pause(&mut self, queue: Source, now: Instant) {
        if let State::Storm { until, .. } = &mut self.states[queue.index()] {
            *until = now + self.spec.restoration;
        }
    }

    /// The storm of a queue begins. Gives what is done about it.
    pub fn begins(&mut self, queue: Source, now: Instant) -> Action {
        let until = now + self.spec.restoration;
        self.states[queue.index()] = State::Storm { event: self.events.len(), until };
        self.arm(queue, until);
        self.events.push(Event { queue, detected: now, restored: Instant::NEVER, dropped: 0 });
        self.spec.action
    }

    /// A packet of a queue in a storm is dropped.
    pub fn count_drop(&mut self, queue: Source) {
        if let State::Storm { event, .. } = self.states[queue.index()] {
            self.events[event].dropped += 1;
        }
    }

    fn arm(&mut self, queue: Source, at: Instant) {
        if !std::mem::replace(&mut self.armed[queue.index()], true) {
            self.due.push(Reverse((at, queue)));
        }
    }

    /// When to ask [`Watchdog::next_due`] again.
    pub fn wakes_at(&self) -> Instant {
        self.due.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at)
    }

    /// A queue whose moment has come; a storm that is over is so from now on.
    pub fn next_due(&mut self, now: Instant) -> Option<(Source, Due)> {
        while self.wakes_at() <= now {
            let Reverse((_, queue)) = self.due.pop().expect("there is a next one");
            self.armed[queue.index()] = false;
            match self.states[queue.index()] {
                State::Calm => {}
                // It has begun to wait, or was paused, later than when this was set.
                State::Waits { until } | State::Storm { until, .. } if until > now => {
                    self.arm(queue, until);
                }
                State::Waits { until } => {
                    self.states[queue.index()] = State::Calm;
                    let since = Instant(until.0 - self.spec.detection.0);
                    return Some((queue, Due::Storm { since }));
                }
                State::Storm { event, .. } => {
                    self.states[queue.index()] = State::Calm;
                    self.events[event].restored = now;
                    return Some((queue, Due::Over));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: usize = 2;

    fn watchdog() -> (Watchdog, Source) {
        let spec =
            Spec { detection: Duration(100), restoration: Duration(30), action: Action::default() };
        (Watchdog::new(&spec, 4), Source::new(QUEUE, 1))
    }

    #[test]
    fn a_storm_begins_after_detection_and_ends_a_restoration_after_the_last_pause() {
        let (mut dog, queue) = watchdog();
        dog.waits(queue, true, Instant(1_000));
        assert_eq!((dog.wakes_at(), dog.next_due(Instant(1_099))), (Instant(1_100), None));
        let due = Due::Storm { since: Instant(1_000) };
        assert_eq!(dog.next_due(Instant(1_100)), Some((queue, due)));
        assert_eq!(dog.begins(queue, Instant(1_100)), Action::Drop);
        assert!(dog.drops(queue) && !dog.ignores(queue));
        dog.count_drop(queue);
        dog.hears_pause(queue, Instant(1_120));
        assert_eq!(dog.next_due(Instant(1_130)), None);
        assert_eq!(dog.wakes_at(), Instant(1_150));
        assert_eq!(dog.next_due(Instant(1_150)), Some((queue, Due::Over)));
        assert!(!dog.drops(queue) && dog.is_calm(queue));
        let (detected, restored) = (Instant(1_100), Instant(1_150));
        assert_eq!(dog.events, [Event { queue, detected, restored, dropped: 1 }]);
    }

    #[test]
    fn a_queue_that_moves_in_between_is_watched_from_there() {
        let (mut dog, queue) = watchdog();
        dog.waits(queue, true, Instant(0));
        dog.waits(queue, false, Instant(50));
        assert_eq!(dog.next_due(Instant(100)), None);
        dog.waits(queue, true, Instant(200));
        dog.waits(queue, true, Instant(260));
        // One entry is kept of each queue, at the earliest time.
        assert_eq!((dog.wakes_at(), dog.next_due(Instant(300))), (Instant(300), None));
        let due = Due::Storm { since: Instant(260) };
        assert_eq!(
            (dog.wakes_at(), dog.next_due(Instant(360))),
            (Instant(360), Some((queue, due)))
        );
    }
}
