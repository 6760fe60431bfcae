//! The reaction of a transmitter to feedback: a rate factor or a stop for each direction of its
//! peer.

use std::sync::Arc;

use floodway_model::{Duration, FlowId, Instant, NodeId};

use crate::metric::Tally;

use super::{DIRECTIONS, Peer, Spec, Statuses};

/// One direction.
#[derive(Clone, Copy, Debug)]
struct Direction {
    severity: u8,
    factor: f64,
    /// Earliest time of the next decrease of the factor.
    next_cut: Instant,
    /// Since when it has been stopped; `None` if it is not stopped.
    stopped: Option<Instant>,
}

/// The directions of one transmitter.
#[derive(Debug)]
pub struct Regulator {
    peer: Arc<Peer>,
    law: Spec,
    /// Bit c: class c is controlled, as last reported by the peer.
    mask: u8,
    directions: Vec<Direction>,
    /// Number of decreases of a factor.
    pub cuts: u64,
    /// Total duration of the stops that have ended.
    stopped: Duration,
}

impl Regulator {
    /// Initial state of a transmitter whose peer has this many ports: no rate is limited.
    pub fn new(spec: &Spec, ports: usize, peer: Arc<Peer>) -> Self {
        let free = Direction { severity: 0, factor: 1.0, next_cut: Instant::ZERO, stopped: None };
        Self {
            peer,
            law: spec.clone(),
            mask: 0,
            directions: vec![free; ports],
            cuts: 0,
            stopped: Duration::ZERO,
        }
    }

    /// The direction of a packet of `flow` to `dst`.
    #[inline]
    pub fn direction(&self, dst: NodeId, flow: FlowId) -> u16 {
        self.peer.direction(dst, flow)
    }

    /// Number of directions.
    pub fn directions(&self) -> usize {
        self.directions.len()
    }

    /// Feedback about the directions of `group` has arrived.
    pub fn on_feedback(&mut self, group: u16, mask: u8, statuses: Statuses, now: Instant) {
        self.mask = mask;
        let of_group = self.directions.iter_mut().skip(usize::from(group) * DIRECTIONS);
        for (place, direction) in of_group.take(DIRECTIONS).enumerate() {
            direction.severity = statuses.severity(place);
            match direction.severity {
                0 => {
                    let more = direction.factor * self.law.increase + self.law.increment;
                    direction.factor = more.min(1.0);
                }
                1 => {}
                _ if now >= direction.next_cut => {
                    let less = direction.factor * self.law.decrease;
                    direction.factor = less.max(self.law.min_factor);
                    direction.next_cut = now + self.law.cut_interval;
                    self.cuts += 1;
                }
                _ => {}
            }
            let stop = self.law.stop && direction.severity == 3;
            match direction.stopped {
                None if stop => direction.stopped = Some(now),
                Some(since) if !stop => {
                    direction.stopped = None;
                    self.stopped += now.since(since);
                }
                _ => {}
            }
        }
    }

    /// Whether frames of this class are controlled.
    #[inline]
    pub fn controls(&self, class: usize) -> bool {
        self.mask >> class & 1 != 0
    }

    /// Whether a direction is stopped, for controlled classes.
    #[inline]
    pub fn stops(&self, direction: u16) -> bool {
        self.directions[usize::from(direction)].stopped.is_some()
    }

    /// Whether a direction is stopped or limited to less than the full rate, for controlled
    /// classes.
    #[inline]
    pub fn holds_back(&self, direction: u16) -> bool {
        self.stops(direction) || self.factor(direction) < 1.0
    }

    /// How many directions of a class are held back.
    pub fn held(&self, class: usize) -> u64 {
        let held = (0..self.directions() as u16).filter(|direction| self.holds_back(*direction));
        if self.controls(class) { held.count() as u64 } else { 0 }
    }

    /// The rate factor of a direction, above 0 and at most 1.
    pub fn factor(&self, direction: u16) -> f64 {
        self.directions[usize::from(direction)].factor
    }

    /// The severity of a direction, 0 to 3, as last reported by the peer.
    pub fn severity(&self, direction: u16) -> u8 {
        self.directions[usize::from(direction)].severity
    }

    /// Time from the first bit of a frame until its queue may be arbitrated again, if the frame
    /// takes `wire_time` and its class is controlled.
    #[inline]
    pub fn spacing(&self, direction: u16, wire_time: Duration) -> Duration {
        let factor = self.factor(direction);
        if factor == 1.0 {
            return wire_time;
        }
        Duration((wire_time.0 as f64 / factor).round() as u64)
    }

    /// Adds its counters as of `now`.
    pub fn count(&self, now: Instant, tally: &mut Tally) {
        tally.drc_cuts += self.cuts;
        tally.drc_stopped_ns += self.stopped_at(now).0 / 1_000;
    }

    /// Total time that directions were stopped until `now`, summed over directions.
    pub fn stopped_at(&self, now: Instant) -> Duration {
        let running = self.directions.iter().filter_map(|direction| direction.stopped);
        running.fold(self.stopped, |total, since| total + now.since(since))
    }
}
