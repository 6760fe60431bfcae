//! What the rules look at: every port of every switch, with what its lossless classes have.

use std::fmt;

use floodway_model::{Bytes, Duration, Rate};

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// There is less headroom than a neighbor may send after a pause.
    HeadroomBelowNeed,
    /// The headroom of all ports is more than the pool that they share.
    HeadroomPoolOvercommitted,
    /// Two neighbors have different lossless classes.
    LosslessClassesDiffer,
    /// A lossless class in which nothing marks.
    LosslessWithoutEcn,
    /// A cycle of buffers, each of which may wait for the next.
    PauseCycle,
    /// PFC pauses before ECN marks.
    PausesBeforeMarks,
    /// PFC pauses before ECN marks with its largest probability.
    PausesBeforeFullMarks,
    /// Guarantees and headroom of all ports are more than the buffer.
    PoolOvercommitted,
    /// Two neighbors have different thresholds.
    ThresholdsDiffer,
    /// A watchdog that takes legitimate pauses for a storm.
    WatchdogTooShort,
}

impl Name {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::HeadroomBelowNeed,
        Self::HeadroomPoolOvercommitted,
        Self::LosslessClassesDiffer,
        Self::LosslessWithoutEcn,
        Self::PauseCycle,
        Self::PausesBeforeMarks,
        Self::PausesBeforeFullMarks,
        Self::PoolOvercommitted,
        Self::ThresholdsDiffer,
        Self::WatchdogTooShort,
    ];

    /// As it is written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::HeadroomBelowNeed => "headroom-below-need",
            Self::HeadroomPoolOvercommitted => "headroom-pool-overcommitted",
            Self::LosslessClassesDiffer => "lossless-classes-differ",
            Self::LosslessWithoutEcn => "lossless-without-ecn",
            Self::PauseCycle => "pause-cycle",
            Self::PausesBeforeMarks => "pauses-before-marks",
            Self::PausesBeforeFullMarks => "pauses-before-full-marks",
            Self::PoolOvercommitted => "pool-overcommitted",
            Self::ThresholdsDiffer => "thresholds-differ",
            Self::WatchdogTooShort => "watchdog-too-short",
        }
    }

    /// Why it matters.
    pub const fn why(self) -> &'static str {
        match self {
            Self::HeadroomBelowNeed => {
                "what the neighbor sends until it obeys a pause finds no room: a lossless class loses frames"
            }
            Self::HeadroomPoolOvercommitted => {
                "when more ports pause at once than the pool has room for, a lossless class loses frames"
            }
            Self::LosslessClassesDiffer => {
                "one side drops what the other takes for lossless, and pauses for a class that the other does not stop \
                 have no effect"
            }
            Self::LosslessWithoutEcn => {
                "only pauses slow the senders, and pauses stop the traffic to all other destinations on the link too"
            }
            Self::PauseCycle => {
                "if all ports of the cycle pause each other, none of them ever sends again (a deadlock)"
            }
            Self::PausesBeforeMarks => {
                "senders are not slowed before the link is paused, and a pause stops the traffic to all other \
                 destinations on the link too"
            }
            Self::PausesBeforeFullMarks => {
                "marks are still too rare to slow the senders when the link is paused, and a pause stops the traffic \
                 to all other destinations on the link too"
            }
            Self::PoolOvercommitted => {
                "ports do not have what is reserved for them when all of them are in use: frames are lost"
            }
            Self::ThresholdsDiffer => {
                "the switch with the lower threshold absorbs less and passes the pause on to its neighbors earlier"
            }
            Self::WatchdogTooShort => {
                "the watchdog takes a queue behind a congested port for a pause storm and drops its packets"
            }
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The switches of a network.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// In order.
    pub switches: Vec<Switch>,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// Its ports.
    pub ports: Vec<Port>,
    /// What ports have of its buffer, as far as it is known.
    pub buffer: Option<Buffer>,
}

/// The buffer of a switch and what is reserved of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The whole; none if nothing says it, as in scenarios, where headroom and guarantees are beside the pools.
    pub size: Option<Bytes>,
    /// The sum of the guarantees.
    pub guaranteed: Bytes,
    /// The sum of the headroom of all ports and classes.
    pub headroom: Bytes,
    /// The pool that headroom is taken from, if ports share one.
    pub headroom_pool: Option<Bytes>,
}

/// A port.
#[derive(Clone, Debug)]
pub struct Port {
    /// What it is called, such as `Ethernet0` or `the port to host 3`.
    pub name: String,
    /// The rate at which it sends.
    pub rate: Rate,
    /// The switch at the other end and its port, if it is one of these.
    pub peer: Option<(usize, usize)>,
    /// Detection time of the watchdog.
    pub watchdog: Option<Duration>,
    /// Its lossless classes.
    pub classes: Vec<Class>,
}

/// A lossless class of a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Its number.
    pub number: u8,
    /// When it pauses the neighbor.
    pub xoff: Xoff,
    /// How far below that the neighbor goes on; with static thresholds, the occupancy at which it does.
    pub xon: Bytes,
    /// Room above XOFF; none if there is no limit.
    pub headroom: Option<Bytes>,
    /// What the neighbor may send after the decision to pause it.
    pub needed: Bytes,
    /// What marks in its queue.
    pub marks: Marks,
}

/// A threshold of PFC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Xoff {
    /// Of what came in by one port in one class: `alpha` times the free bytes of a pool, beside a guarantee.
    /// Without `alpha` one may take all of the pool.
    Dynamic {
        /// The factor.
        alpha: Option<f64>,
        /// The size of the pool.
        pool: Bytes,
        /// Bytes beside it.
        guaranteed: Bytes,
    },
    /// Of what came in by one port in one class: so many bytes.
    Ingress(Bytes),
    /// Of one egress queue: so many bytes.
    EgressQueue(Bytes),
    /// Of something else, about which the rules say nothing.
    Other,
}

impl Xoff {
    /// The threshold when so many ports are congested at once and hold all that they may; none if it is not known.
    pub fn with(self, ports: u64) -> Option<Bytes> {
        match self {
            Self::Dynamic { alpha, pool, guaranteed } => {
                let (size, ports) = (pool.0 as f64, ports as f64);
                let share = match alpha {
                    Some(alpha) => alpha * size / (1.0 + alpha * ports),
                    None => size / ports,
                };
                Some(Bytes(guaranteed.0.saturating_add(share as u64)))
            }
            Self::Ingress(bytes) | Self::EgressQueue(bytes) => Some(bytes),
            Self::Other => None,
        }
    }

    /// Whether it depends on what others hold.
    pub fn is_dynamic(self) -> bool {
        matches!(self, Self::Dynamic { .. })
    }

    /// Whether another one is written in the same way, whatever the size of the pool.
    pub fn is_set_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::Dynamic { alpha, .. }, Self::Dynamic { alpha: other, .. }) => alpha == other,
            _ => self == other,
        }
    }
}

/// What marks in a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marks {
    /// Nothing, and nothing else slows the senders.
    Nothing,
    /// A curve over the depth of the queue.
    Curve(Curve),
    /// Something about which the rules say nothing.
    Other,
}

/// A curve of ECN marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Depth above which marks begin.
    pub kmin: Bytes,
    /// Depth from which the probability is largest.
    pub kmax: Bytes,
    /// Probability just below `kmax`.
    pub pmax: f64,
}

impl Curve {
    /// The probability at this depth.
    pub fn probability(&self, depth: Bytes) -> f64 {
        if depth <= self.kmin {
            0.0
        } else if depth >= self.kmax {
            1.0
        } else {
            self.pmax * (depth - self.kmin).0 as f64 / (self.kmax - self.kmin).0 as f64
        }
    }
}
