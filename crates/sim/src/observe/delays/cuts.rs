//! What lowered the rate or the window of a flow, and when.

use std::collections::VecDeque;

use floodway_model::{Instant, NodeId};

use super::port::Place;

/// A reduction of what congestion control allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The first packet that the sender generates afterwards.
    pub at: Instant,
    /// What is reduced.
    pub limit: Limit,
    /// Before: bits per second of a rate, bytes of a window.
    pub before: f64,
    /// After.
    pub after: f64,
    /// The reason.
    pub reason: Reason,
}

/// What congestion control allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A rate.
    Rate,
    /// A window.
    Window,
}

impl Limit {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Window => "window",
        }
    }
}

/// Why it is reduced: what the sender has learned since the packet before. If it has learned several things, the last in
/// this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Nothing but acknowledgements without marks: delays, telemetry or rates that it has measured.
    Measured,
    /// A notification from this switch.
    Notified(NodeId),
    /// A packet was marked at this port.
    Marked(Place),
    /// A loss.
    Lost,
}

impl Reason {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Notified(_) => "notification",
            Self::Marked(_) => "mark",
            Self::Lost => "loss",
        }
    }
}

/// Cuts that are kept of a flow: the first ones.
const MOST: usize = 2_000;

/// What congestion control allows a flow, and what it has learned.
#[derive(Debug)]
pub struct Cuts {
    /// Rate of the link, which applies without a limit.
    line: f64,
    rate: f64,
    window: Option<u64>,
    learned: Option<Reason>,
    /// Where packets were marked of which the receiver has notified the sender, by notifications that are on their way.
    notifications: VecDeque<Option<Place>>,
    /// The reductions.
    pub all: Vec<Cut>,
}

impl Cuts {
    /// Of a flow that begins on a link of this rate.
    pub fn new(line: f64) -> Self {
        let notifications = VecDeque::new();
        Self { line, rate: line, window: None, learned: None, notifications, all: Vec::new() }
    }

    /// The receiver sends a notification about a packet that was marked at this port.
    pub fn notifies(&mut self, marked_at: Option<Place>) {
        self.notifications.push_back(marked_at);
    }

    /// That notification has arrived.
    pub fn on_notified(&mut self) {
        if let Some(place) = self.notifications.pop_front().flatten() {
            self.learn(Reason::Marked(place));
        }
    }

    /// The sender learns this.
    pub fn learn(&mut self, reason: Reason) {
        self.learned = self.learned.max(Some(reason));
    }

    /// The sender generates a packet, with this rate and window.
    pub fn on_departed(&mut self, at: Instant, rate: Option<f64>, window: Option<u64>) {
        let reason = self.learned.take().unwrap_or(Reason::Measured);
        let rate = rate.map_or(self.line, |rate| rate.min(self.line));
        let mut cut = |limit, before: f64, after: f64| {
            if after < before && self.all.len() < MOST {
                self.all.push(Cut { at, limit, before, after, reason });
            }
        };
        cut(Limit::Rate, self.rate, rate);
        if let (Some(before), Some(after)) = (self.window, window) {
            cut(Limit::Window, before as f64, after as f64);
        }
        (self.rate, self.window) = (rate, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_has_the_reason_that_was_learned_before_it() {
        let (mut cuts, place) = (Cuts::new(100.0), (NodeId(4), 2));
        cuts.on_departed(Instant(1), None, None);
        cuts.notifies(Some(place));
        cuts.on_departed(Instant(2), Some(100.0), None);
        cuts.on_notified();
        cuts.on_departed(Instant(3), Some(50.0), None);
        cuts.on_departed(Instant(4), Some(60.0), Some(10));
        cuts.learn(Reason::Lost);
        cuts.learn(Reason::Notified(NodeId(5)));
        cuts.on_departed(Instant(5), Some(60.0), Some(9));
        cuts.on_departed(Instant(6), Some(59.0), Some(9));
        let found = cuts.all.iter().map(|cut| (cut.at.0, cut.limit, cut.after, cut.reason));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                (3, Limit::Rate, 50.0, Reason::Marked(place)),
                (5, Limit::Window, 9.0, Reason::Lost),
                (6, Limit::Rate, 59.0, Reason::Measured),
            ]
        );
    }
}
