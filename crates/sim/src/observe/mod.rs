//! What happens in a run, and who wants to know it.
//!
//! Switches, hosts and links state facts ([`Fact`]), each where it happens, by [`Context::state`]. Observers are told
//! of the facts that they want, and make rows of tables from them. One observer is one file here and one row of
//! `observers!`; the [auditor](crate::auditor) is one too. Facts that nobody wants cost the test of one bit.
//!
//! Every thread has observers of its own, which see the facts of the nodes of that thread in their order. When the
//! run has ended they are merged, in an order that says nothing, so what an observer keeps must not depend on it:
//! numbers that are added, or rows by node, port or flow.
//!
//! [`Context::state`]: crate::context::Context::state

pub mod deliveries;
pub mod departures;
pub mod fact;
pub mod latencies;
pub mod record;
pub mod trace;
pub mod trims;

use std::sync::Arc;

use floodway_model::{Instant, NodeId};

use crate::Spec;
use crate::auditor::{Auditor, Network};
pub use fact::{Delivery, Departure, Fact, Kinds};
pub use trace::Sent;

/// Where and when a fact was stated.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// At which node.
    pub node: NodeId,
    /// When.
    pub now: Instant,
    /// Whether that moment belongs to the measured interval.
    pub is_measured: bool,
}

/// What observers of a thread are made from.
pub struct Setup<'a> {
    /// The simulation.
    pub spec: &'a Spec,
    /// The nodes of the thread.
    pub nodes: &'a [NodeId],
    /// What the auditor knows of the network; `None` without it.
    pub audited: Option<&'a Arc<Network>>,
    /// Whether every frame is recorded.
    pub traced: bool,
}

/// Somebody who is told of facts.
pub trait Observer: Sized {
    /// The facts that it wants.
    const WANTS: Kinds;

    /// The observer of the nodes of a thread; `None` if nobody has asked for what it makes.
    fn new(setup: &Setup<'_>) -> Option<Self>;

    /// One of these facts.
    fn on(&mut self, fact: &Fact<'_>, at: &At);

    /// The run has ended.
    fn finish(&mut self, _now: Instant) {}

    /// Adds what another thread's has seen.
    fn merge(&mut self, other: Self);
}

/// Makes [`Observers`] from one row for each.
macro_rules! observers {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty,)+) => {
        /// The observers of a thread or, in the end, of a run. `None` for those whose results nobody has asked for.
        #[derive(Debug, Default)]
        pub struct All {
            $($(#[doc = $doc])+ pub $name: Option<$type>,)+
        }

        impl All {
            fn new(setup: &Setup<'_>) -> (Self, Kinds) {
                let all = Self { $($name: <$type>::new(setup),)+ };
                let mut wanted = Kinds::NONE;
                $(if all.$name.is_some() {
                    wanted = wanted.and(<$type>::WANTS);
                })+
                (all, wanted)
            }

            fn on(&mut self, fact: &Fact<'_>, at: &At) {
                $(if let Some(observer) = self.$name.as_mut().filter(|_| <$type>::WANTS.has(fact.kind())) {
                    observer.on(fact, at);
                })+
            }

            fn finish(&mut self, now: Instant) {
                $(if let Some(observer) = &mut self.$name {
                    observer.finish(now);
                })+
            }

            fn merge(&mut self, other: Self) {
                $(match (&mut self.$name, other.$name) {
                    (Some(mine), Some(theirs)) => mine.merge(theirs),
                    (mine @ None, theirs) => *mine = theirs,
                    (Some(_), None) => {}
                })+
            }
        }
    };
}

observers! {
    /// Checks every event.
    auditor: Auditor,
    /// What flows without a size deliver over time.
    deliveries: deliveries::Deliveries,
    /// How long queues are, and how long packets have waited, when packets leave.
    departures: departures::Departures,
    /// How long packets take.
    latencies: latencies::Latencies,
    /// Ports over time, and pauses.
    record: record::Record,
    /// Every frame on every link.
    trace: trace::Trace,
    /// Packets that switches trim.
    trims: trims::Trims,
}

/// The observers, and what they want.
#[derive(Debug, Default)]
pub struct Observers {
    wanted: Kinds,
    all: Box<All>,
}

impl Observers {
    /// Those of a thread.
    pub fn new(setup: &Setup<'_>) -> Self {
        let (all, wanted) = All::new(setup);
        Self { wanted, all: Box::new(all) }
    }

    /// Whether somebody wants some of these facts.
    #[inline(always)]
    pub fn want(&self, kinds: Kinds) -> bool {
        self.wanted.has(kinds)
    }

    /// A fact.
    #[cold]
    #[inline(never)]
    pub fn on(&mut self, fact: &Fact<'_>, at: &At) {
        self.all.on(fact, at);
    }

    /// The frames that were put on links, if they were recorded.
    pub fn take_trace(&mut self) -> Vec<Sent> {
        self.all.trace.take().map(|trace| trace.frames).unwrap_or_default()
    }

    /// The run has ended.
    pub fn finish(&mut self, now: Instant) {
        self.all.finish(now);
    }

    /// Adds what those of another thread have seen.
    pub fn merge(&mut self, other: Self) {
        self.wanted = self.wanted.and(other.wanted);
        self.all.merge(*other.all);
    }
}

impl std::ops::Deref for Observers {
    type Target = All;

    fn deref(&self) -> &All {
        &self.all
    }
}
