//! The PFC watchdog of switches, as in SONiC: a queue that has packets and has been paused without
//! interruption for too long is in a pause storm. Until the pauses cease, its packets are dropped
//! or its pauses are ignored. The watchdog breaks deadlocks, and protects the network from a NIC
//! that sends pauses forever, at the price of losses in a lossless class.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::check::{Check, Findings};
use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Source;
use crate::switch::check::{CheckBeside, Facts};

/// Parameters. Every lossless queue of every port is watched separately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Detection time: how long a queue with packets must be paused without interruption to be in a
    /// storm. Default 200ms (SONiC, `pfcwd`).
    pub detection: Duration,
    /// Restoration time: how long no pause must arrive for the storm to be over. Default 200ms
    /// (SONiC, `pfcwd`).
    pub restoration: Duration,
    /// What happens to the queue during a storm. Default `drop` (SONiC, `pfcwd`).
    pub action: Action,
}

/// What happens to a queue in a storm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Its packets are dropped, and so are packets that arrive for it.
    #[default]
    Drop,
    /// Its pauses are ignored.
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

/// A pause storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Egress port and queue.
    pub queue: Source,
    /// Time of detection.
    pub detected: Instant,
    /// End of the storm; [`Instant::NEVER`] if it did not end.
    pub restored: Instant,
    /// Packets dropped because of the storm.
    pub dropped: u64,
}

/// What a timer of a queue has detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The queue has been paused for the detection time, if the pause was not interrupted.
    Storm {
        /// Start of the detection time.
        since: Instant,
    },
    /// No pause has arrived for the restoration time.
    Over,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Calm,
    /// It is paused with packets queued, and is in a storm if that lasts until then.
    Waits { until: Instant },
    /// It is in this storm, which ends then unless another pause arrives.
    Storm { event: usize, until: Instant },
}

/// The watchdog of one switch. Its queues are identified by port and class, like sources.
#[derive(Debug)]
pub struct Watchdog {
    spec: Spec,
    states: Vec<State>,
    /// Whether `due` has an entry for the queue, which may be too early but never too late.
    armed: Vec<bool>,
    due: BinaryHeap<Reverse<(Instant, Source)>>,
    /// All storms, in the order in which they were detected.
    pub events: Vec<Event>,
}

impl Watchdog {
    /// Initial state for a switch with this many ports.
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

    /// Whether the queue is neither being timed nor in a storm.
    pub fn is_calm(&self, queue: Source) -> bool {
        self.states[queue.index()] == State::Calm
    }

    /// Whether packets that arrive for the queue must be dropped.
    pub fn drops(&self, queue: Source) -> bool {
        self.spec.action == Action::Drop && self.in_storm(queue)
    }

    /// Whether pauses of the queue must be ignored.
    pub fn ignores(&self, queue: Source) -> bool {
        self.spec.action == Action::Forward && self.in_storm(queue)
    }

    fn in_storm(&self, queue: Source) -> bool {
        matches!(self.states[queue.index()], State::Storm { .. })
    }

    /// From now on the queue is paused with packets queued, or no longer so.
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

    /// A frame that pauses the queue has arrived.
    pub fn hears_pause(&mut self, queue: Source, now: Instant) {
        if let State::Storm { until, .. } = &mut self.states[queue.index()] {
            *until = now + self.spec.restoration;
        }
    }

    /// A storm of a queue begins. Returns the action to take.
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

    /// When to call [`Watchdog::next_due`] again.
    pub fn wakes_at(&self) -> Instant {
        self.due.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at)
    }

    /// A queue whose timer has expired, if any; a storm that has ended is recorded as restored now.
    pub fn next_due(&mut self, now: Instant) -> Option<(Source, Due)> {
        while self.wakes_at() <= now {
            let Reverse((_, queue)) = self.due.pop().expect("there is a next one");
            self.armed[queue.index()] = false;
            match self.states[queue.index()] {
                State::Calm => {}
                // The queue was paused again after this entry was set.
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
        // Each queue has one entry, at its earliest time.
        assert_eq!((dog.wakes_at(), dog.next_due(Instant(300))), (Instant(300), None));
        let due = Due::Storm { since: Instant(260) };
        assert_eq!(
            (dog.wakes_at(), dog.next_due(Instant(360))),
            (Instant(360), Some((queue, due)))
        );
    }
}
