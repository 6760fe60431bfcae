//! Observation of a run: facts and observers.
//!
//! Switches, hosts and links report facts ([`Fact`]) with [`Context::state`], each at the place
//! where the event occurs. Observers receive the facts that they subscribe to, and build rows of
//! tables from them. Each observer is one file in this folder and one row of `observers!`; the
//! [auditor](crate::auditor) is one of them. A fact that no observer wants costs the test of one
//! bit.
//!
//! Every thread has observers of its own, which see the facts of the nodes of that thread in their
//! order. After the run they are merged in arbitrary order, so the state of an observer must not
//! depend on that order: it consists of numbers that are added, or of rows by node, port or flow.
//!
//! [`Context::state`]: crate::context::Context::state

pub mod capture;
pub mod delays;
pub mod deliveries;
pub mod departures;
pub mod fact;
pub mod latencies;
pub mod octets;
pub mod record;
pub mod trace;
pub mod trims;
pub mod voice;

use std::sync::Arc;

use floodway_model::{FlowId, FlowSpec, Instant, NodeId};
use serde::{Deserialize, Serialize};

use crate::Spec;
use crate::auditor::{Auditor, Network};
use crate::kernel::Octets;
pub use fact::{Delivery, Departure, Fact, Kinds, OnWire};
pub use trace::Sent;

/// Where and when a fact was reported.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The node.
    pub node: NodeId,
    /// The time.
    pub now: Instant,
    /// Whether that time is in the measured interval.
    pub is_measured: bool,
}

/// What the observers of a thread are built from.
pub struct Setup<'a> {
    /// The simulation.
    pub spec: &'a Spec,
    /// The nodes of the thread.
    pub nodes: &'a [NodeId],
    /// Network information for the auditor; `None` if it is off.
    pub audited: Option<&'a Arc<Network>>,
    /// Whether every frame is recorded.
    pub traced: bool,
    /// What is captured; `None` for nothing.
    pub captured: Option<&'a capture::Wanted>,
    /// Octets of frames of kernels; `None` if no host is one.
    pub octets: Option<&'a Arc<Octets>>,
    /// Flows whose delays are explained.
    pub explained: &'a delays::Chosen,
}

/// A recipient of facts.
pub trait Observer: Sized {
    /// The kinds of facts that it subscribes to.
    const WANTS: Kinds;

    /// Those of them that it needs only of flows whose delays are explained.
    const OF_EXPLAINED: Kinds = Kinds::NONE;

    /// The observer for the nodes of a thread; `None` if its results are not requested.
    fn new(setup: &Setup<'_>) -> Option<Self>;

    /// Handles one of these facts.
    fn on(&mut self, fact: &Fact<'_>, at: &At);

    /// The run has ended.
    fn finish(&mut self, _now: Instant) {}

    /// Adds the observations of another thread's observer.
    fn merge(&mut self, other: Self);
}

/// Generates [`Observers`] from one row per observer.
macro_rules! observers {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty,)+) => {
        /// The observers of a thread or, at the end, of a run. `None` for those whose results are
        /// not requested.
        #[derive(Debug, Default)]
        pub struct All {
            $($(#[doc = $doc])+ pub $name: Option<$type>,)+
        }

        impl All {
            /// The observers, the kinds of facts that they want, and those that they want of all flows.
            fn new(setup: &Setup<'_>) -> (Self, Kinds, Kinds) {
                let all = Self { $($name: <$type>::new(setup),)+ };
                let (mut wanted, mut of_all) = (Kinds::NONE, Kinds::NONE);
                $(if all.$name.is_some() {
                    wanted = wanted.and(<$type>::WANTS);
                    of_all = of_all.and(<$type>::WANTS.without(<$type>::OF_EXPLAINED));
                })+
                (all, wanted, of_all)
            }

            // Inlined, so that the first test disappears where the kind of the fact is a constant.
            #[inline(always)]
            fn on(&mut self, fact: &Fact<'_>, at: &At) {
                let kind = fact.kind();
                $(if <$type>::WANTS.has(kind)
                    && let Some(observer) = &mut self.$name
                {
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
    /// Frames at chosen ports.
    capture: capture::Capture,
    /// Delays of chosen flows, by cause.
    delays: delays::Delays,
    /// Bytes that long-lived flows deliver over time.
    deliveries: deliveries::Deliveries,
    /// Queue lengths and sojourn times of departing packets.
    departures: departures::Departures,
    /// Packet latencies.
    latencies: latencies::Latencies,
    /// Octets of frames that are dropped. After the capture, which copies them.
    octets: octets::Dropped,
    /// Ports over time, and pauses.
    record: record::Record,
    /// Every frame on every link.
    trace: trace::Trace,
    /// Packets trimmed by switches.
    trims: trims::Trims,
    /// Packets of calls.
    voice: voice::Calls,
}

/// The observers, and the kinds of facts that they want.
#[derive(Debug, Default)]
pub struct Observers {
    wanted: Kinds,
    /// Of these, the kinds that are wanted of all flows.
    of_all: Kinds,
    /// The flows whose delays are explained, a bit for each.
    explained: Box<[u64]>,
    all: Box<All>,
}

impl Observers {
    /// Builds the observers of a thread.
    pub fn new(setup: &Setup<'_>) -> Self {
        let (all, wanted, of_all) = All::new(setup);
        let mut explained = Vec::new();
        if all.delays.is_some() {
            explained.resize(setup.spec.flows.len().div_ceil(64), 0);
            for flow in setup.explained.flows.iter().map(|flow| flow.index()) {
                if let Some(word) = explained.get_mut(flow / 64) {
                    *word |= 1_u64 << (flow % 64);
                }
            }
        }
        Self { wanted, of_all, explained: explained.into(), all: Box::new(all) }
    }

    /// Whether an observer wants facts of this kind about all flows.
    #[inline(always)]
    pub fn want_of_all(&self, kind: Kinds) -> bool {
        self.of_all.has(kind)
    }

    /// Whether an observer wants facts of this kind about a flow.
    #[inline(always)]
    pub fn want_of(&self, kind: Kinds, flow: FlowId) -> bool {
        let explains = || {
            let word = self.explained.get(flow.index() / 64);
            word.is_some_and(|word| word >> (flow.index() % 64) & 1 == 1)
        };
        self.wanted.has(kind) && (self.of_all.has(kind) || explains())
    }

    /// Whether an observer wants some of these facts.
    #[inline(always)]
    pub fn want(&self, kinds: Kinds) -> bool {
        self.wanted.has(kinds)
    }

    /// A flow is added during a run; `is_here`: its receiver is on this thread. Explanations are of flows that were known
    /// before.
    pub fn add_flow(&mut self, id: FlowId, flow: &FlowSpec, is_here: bool) {
        if let Some(latencies) = &mut self.all.latencies {
            latencies.add_flow(flow.workload);
        }
        if let Some(deliveries) = &mut self.all.deliveries
            && is_here
            && flow.is_persistent()
        {
            deliveries.add_flow(id);
        }
    }

    /// Passes a fact to the observers that want it.
    #[inline(always)]
    pub fn on(&mut self, fact: &Fact<'_>, at: &At) {
        self.all.on(fact, at);
    }

    /// The recorded frames, if frames were recorded.
    pub fn take_trace(&mut self) -> Vec<Sent> {
        self.all.trace.take().map(|trace| trace.frames).unwrap_or_default()
    }

    /// What the captured ports have seen, if some were to be captured.
    pub fn take_captured(&mut self) -> Option<Vec<capture::Port>> {
        self.all.capture.take().map(capture::Capture::into_ports)
    }

    /// The explanations, if flows were to be explained.
    pub fn take_explained(&mut self) -> Option<delays::Explained> {
        self.all.delays.take().map(delays::Delays::into_explained)
    }

    /// The run has ended.
    pub fn finish(&mut self, now: Instant) {
        self.all.finish(now);
    }

    /// Adds the observations of another thread.
    pub fn merge(&mut self, other: Self) {
        self.wanted = self.wanted.and(other.wanted);
        self.of_all = self.of_all.and(other.of_all);
        self.all.merge(*other.all);
    }
}

/// Observations that can go to another process.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Packed {
    deliveries: Option<deliveries::Deliveries>,
    departures: Option<departures::Departures>,
    latencies: Option<latencies::Latencies>,
    record: Option<record::Record>,
    trims: Option<trims::Trims>,
    voice: Option<voice::Calls>,
}

impl Observers {
    /// Takes the observations, to send them to another process. Panics if there are any that cannot be sent:
    /// those of the auditor, captures, traces, octets of kernels and explained delays, which see both ends of a link or the whole
    /// path of a packet.
    pub fn pack(&mut self) -> Packed {
        let All {
            auditor,
            capture,
            delays,
            deliveries,
            departures,
            latencies,
            octets,
            record,
            trace,
            trims,
            voice,
        } = std::mem::take(&mut *self.all);
        let stays = [
            auditor.is_some(),
            capture.is_some(),
            delays.is_some(),
            octets.is_some(),
            trace.is_some(),
        ];
        assert!(!stays.contains(&true), "observers that cannot go over several processes");
        Packed { deliveries, departures, latencies, record, trims, voice }
    }

    /// Adds the observations of another process.
    pub fn merge_packed(&mut self, packed: Packed) {
        let Packed { deliveries, departures, latencies, record, trims, voice } = packed;
        let defaults = All::default();
        self.all.merge(All { deliveries, departures, latencies, record, trims, voice, ..defaults });
    }
}

impl std::ops::Deref for Observers {
    type Target = All;

    fn deref(&self) -> &All {
        &self.all
    }
}
