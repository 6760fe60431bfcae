//! Flow control: mechanisms by which a switch pauses its neighbors or remote sources. A scenario
//! may combine several; those that implement [`Mechanism`] are called in the order of the fields of
//! [`Spec`].

pub mod bfc;
pub mod cbfc;
pub mod congestion_isolation;
pub mod drc;
pub mod pause;
pub mod pausing;
pub mod pfc;
pub mod qcn;
pub mod source_flow_control;

use floodway_model::check::{Check, Findings};
use floodway_model::family::Entry;
use floodway_model::{Body, Bytes, Graph, Instant, Packet};
use pausing::{Held, Paused, Source};
use pfc::watchdog::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Switch;
use super::buffer::Buffer;
use super::check::{CheckBeside, Facts};
use super::discipline::Discipline;
use super::mechanism::{
    Arrived, Dropped, Events, Fate, Joined, Left, Mechanism, Moved, Site, Transit, View, view,
};
use super::port::{DropReason, Port};
use crate::allowance::Allowance;
use crate::context::Context;
use crate::link::Link;
use crate::metric::Tally;

/// Generates [`Spec`], [`CATALOGUE`], [`Mechanisms`] and the code that calls each mechanism, from
/// one row per mechanism: the name of its module, which is also the name of its table in scenarios;
/// a summary; and the type that runs in a switch, if any.
macro_rules! mechanisms {
    ($($module:ident: $summary:literal $(, $half:ty)?;)+) => {
        /// The flow-control mechanisms in use. Each is enabled by the presence of its table.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Spec {
            $(
                #[doc = $summary]
                pub $module: Option<$module::Spec>,
            )+
        }

        impl Check for Spec {
            fn check(&self, findings: &mut Findings<'_>) {
                $(if let Some(spec) = &self.$module {
                    spec.check(&mut findings.within(stringify!($module)));
                })+
            }
        }

        impl Spec {
            /// [Depths](CheckBeside::threshold) that queues must be able to reach, each with the name of the mechanism.
            pub fn thresholds(&self) -> Vec<(&'static str, (&'static str, Bytes, &'static str))> {
                let all = [$(
                    self.$module.as_ref().and_then(|spec| Some((stringify!($module), CheckBeside::threshold(spec)?))),
                )+];
                all.into_iter().flatten().collect()
            }
        }

        impl Spec {
            /// The [allowance](Mechanism::allowance) of a transmitter on this link to a switch.
            pub fn allowance(&self, link: &Link, queues: u8) -> Option<Allowance> {
                None$($(.or_else(|| <$half as Mechanism>::allowance(self.$module.as_ref()?, link, queues)))?)+
            }
        }

        impl CheckBeside for Spec {
            fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
                $(if let Some(spec) = &self.$module {
                    spec.check_beside(facts, &mut findings.within(stringify!($module)));
                })+
            }

            fn check_on(&self, facts: &Facts<'_>, graph: &Graph, findings: &mut Findings<'_>) {
                $(if let Some(spec) = &self.$module {
                    spec.check_on(facts, graph, &mut findings.within(stringify!($module)));
                })+
            }
        }

        /// The members of the family.
        pub const CATALOGUE: &[Entry] = &[
            $(Entry {
                family: "switch.flow_control",
                name: stringify!($module),
                summary: $summary,
            },)+
        ];

        /// The mechanisms of one switch.
        #[derive(Debug, Default)]
        pub struct Mechanisms {
            wants: Events,
            $($($module: Option<Box<$half>>,)?)+
        }

        impl Mechanisms {
            /// Builds the mechanisms that run in a switch.
            pub fn new(spec: &Spec, site: &Site<'_>) -> Self {
                let mut all = Self::default();
                $($(
                    all.$module = spec.$module.as_ref().and_then(|spec| <$half as Mechanism>::build(spec, site)).map(Box::new);
                    all.wants = all.wants.and(all.$module.as_ref().map_or(Events::NONE, |one| one.wants()));
                )?)+
                all
            }

            /// Adds events that the switch itself needs.
            pub fn want(&mut self, events: Events) {
                self.wants = self.wants.and(events);
            }

            /// The queue discipline of data queue `queue` at a port, if a mechanism brings one.
            pub fn discipline(
                &self,
                site: &Site<'_>,
                port: usize,
                queue: usize,
            ) -> Option<Box<dyn Discipline>> {
                None$($(.or_else(|| {
                    let one: &$half = self.$module.as_ref()?;
                    one.discipline(site, port, queue)
                }))?)+
            }

            /// The events to which any mechanism subscribes.
            #[inline(always)]
            pub fn wants(&self) -> Events {
                self.wants
            }

            /// Whether a data packet may be moved from its home queue.
            #[inline(always)]
            pub fn may_move(&self, egress: usize, home: usize, ports: &[Port]) -> bool {
                self.wants.has(Events::PLACED)
                    && (false $($(|| self.$module.as_ref().is_some_and(|one: &Box<$half>| {
                        one.wants().has(Events::PLACED) && one.may_move(egress, home, ports)
                    }))?)+)
            }

            /// Whether a mechanism may do something about a packet that has joined a data queue.
            #[inline(always)]
            pub fn mind_joined(&self, joined: &Joined<'_>, ports: &[Port], buffer: &Buffer) -> bool {
                self.wants.has(Events::JOINED)
                    && (false $($(|| self.$module.as_ref().is_some_and(|one: &Box<$half>| {
                        one.wants().has(Events::JOINED) && one.minds_joined(joined, ports, buffer)
                    }))?)+)
            }

            /// The same about a packet that has left a data queue.
            #[inline(always)]
            pub fn mind_left(&self, left: &Left<'_>, ports: &[Port], buffer: &Buffer) -> bool {
                self.wants.has(Events::LEFT)
                    && (false $($(|| self.$module.as_ref().is_some_and(|one: &Box<$half>| {
                        one.wants().has(Events::LEFT) && one.minds_left(left, ports, buffer)
                    }))?)+)
            }

            /// The most quanta that remain of a pause of this class of a neighbor.
            pub fn left(&self, source: Source, view: &View<'_>) -> u16 {
                let all: &[u16] = &[
                    $($(self.$module.as_ref().map_or(0, |one: &Box<$half>| one.left(source, view)),)?)+
                ];
                all.iter().copied().max().unwrap_or(0)
            }

            /// The pauses sent to the neighbor at `port` for a class (with PAUSE, class 0 stands
            /// for all); `None` if no mechanism pauses neighbors.
            pub fn pauses_sent(&self, port: usize, class: usize) -> Option<&Paused> {
                None$($(.or_else(|| self.$module.as_ref().and_then(|one: &Box<$half>| one.pauses_sent(port, class))))?)+
            }

            /// What must leave before this source is resumed; `None` if it has not been paused.
            pub fn held(&self, source: Source, buffer: &Buffer) -> Option<Held> {
                None$($(.or_else(|| self.$module.as_ref().and_then(|one: &Box<$half>| one.held(source, buffer))))?)+
            }

            /// Whether a source may send no more, as far as its credit has arrived there for sure.
            pub fn has_no_credit(&self, source: Source) -> bool {
                false $($(|| self.$module.as_ref().is_some_and(|one: &Box<$half>| one.has_no_credit(source)))?)+
            }

            /// Whether neighbors are paused with PAUSE, all classes at once.
            pub fn stops_ports(&self) -> bool {
                false $($(|| self.$module.as_ref().is_some_and(|one: &Box<$half>| one.stops_ports()))?)+
            }

            /// The pause storms that were detected.
            pub fn storms(&self) -> impl Iterator<Item = &Event> {
                let all: &[&[Event]] = &[$($(self.$module.as_ref().map_or(&[], |one: &Box<$half>| one.storms()),)?)+];
                all.to_vec().into_iter().flatten()
            }

            /// When the next timer of a mechanism expires.
            pub fn next_wake(&self) -> Instant {
                let mut next = Instant::NEVER;
                $($(next = next.min(self.$module.as_ref().map_or(Instant::NEVER, |one: &Box<$half>| one.next_wake()));)?)+
                next
            }

            /// Whether a packet for this queue may join it.
            pub fn admit(&mut self, egress: usize, queue: usize) -> Result<(), DropReason> {
                $($(if let Some(one) = &mut self.$module {
                    <$half as Mechanism>::admits(one, egress, queue)?;
                })?)+
                Ok(())
            }

            /// The queue behind which moved packets are held to preserve order.
            pub fn keeps_behind(&self) -> Option<u8> {
                None$($(.or_else(|| self.$module.as_ref().and_then(|one: &Box<$half>| one.keeps_behind())))?)+
            }

            /// Bit q: the AQM marks nothing in data queue q.
            pub fn unmarked(&self) -> u8 {
                0 $($(| self.$module.as_ref().map_or(0, |one: &Box<$half>| one.unmarked()))?)+
            }

            /// Adds the counters of all mechanisms.
            pub fn count(&self, tally: &mut Tally) {
                $($(
                    if let Some(one) = &self.$module {
                        <$half as Mechanism>::count(one, tally);
                    }
                )?)+
            }
        }

        impl Switch {
            /// The queue for a data packet, if a mechanism moves it from its home queue.
            #[inline(never)]
            pub(in crate::switch) fn ask_moves(&mut self, arrived: &Arrived<'_>, now: Instant) -> Option<Moved> {
                $($(if let Some(one) = &mut self.mechanisms.$module
                    && one.wants().has(Events::PLACED)
                {
                    let one: &mut $half = one;
                    let moved = one.moves(arrived, &view!(self, now), &mut self.rng);
                    if moved.is_some() {
                        return moved;
                    }
                })?)+
                None
            }

            /// A data packet has arrived: calls the subscribed mechanisms.
            #[inline(never)]
            pub(in crate::switch) fn ask_arrived(&mut self, arrived: &Arrived<'_>, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, ARRIVED, now, context, |one, view, actions| {
                    one.on_arrived(arrived, view, actions)
                });)?)+
            }

            /// A packet has joined the queue to which a mechanism moved it: calls that mechanism.
            #[inline(never)]
            pub(in crate::switch) fn ask_moved(&mut self, joined: &Joined<'_>, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, MOVED, now, context, |one, view, actions| {
                    one.on_moved(joined, view, actions)
                });)?)+
            }

            /// A packet has joined a data queue: calls the subscribed mechanisms.
            #[inline(never)]
            pub(in crate::switch) fn ask_joined(&mut self, joined: &Joined<'_>, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, JOINED, now, context, |one, view, actions| {
                    one.on_joined(joined, view, actions)
                });)?)+
            }

            /// A link control frame is about to leave. Returns its up-to-date content.
            #[inline(never)]
            pub(in crate::switch) fn ask_link_control(&mut self, port: usize, mut body: Body, now: Instant) -> Body {
                $($(if let Some(one) = &mut self.mechanisms.$module {
                    body = <$half as Mechanism>::on_link_control(one, port, body, now);
                })?)+
                self.set_timer();
                body
            }

            /// A packet has left a data queue: calls the subscribed mechanisms.
            #[inline(never)]
            pub(in crate::switch) fn ask_left(&mut self, left: &Left<'_>, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, LEFT, now, context, |one, view, actions| {
                    one.on_left(left, view, actions)
                });)?)+
            }

            /// A packet is dropped: calls the subscribed mechanisms.
            #[inline(never)]
            pub(in crate::switch) fn ask_dropped(&mut self, dropped: &Dropped<'_>, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, DROPPED, now, context, |one, view, actions| {
                    one.on_dropped(dropped, view, actions)
                });)?)+
            }

            /// A frame from the neighbor at `port` pauses or resumes classes.
            #[inline(never)]
            pub(in crate::switch) fn ask_paused(
                &mut self,
                port: usize,
                (classes, quanta): (u8, u16),
                now: Instant,
                context: &mut Context,
            ) {
                let mut obeyed = classes;
                $($(if let Some(one) = &mut self.mechanisms.$module {
                    obeyed &= !<$half as Mechanism>::disobeys(one, port, classes, quanta, &view!(self, now));
                })?)+
                self.ports[port].tx.pause(obeyed, quanta, now, context);
                $($(ask!(self, $module: $half, PAUSED, now, context, |one, view, actions| {
                    one.on_paused(port, classes, view, actions)
                });)?)+
            }

            /// A congestion isolation message for this switch has arrived at `port`.
            #[inline(never)]
            pub(in crate::switch) fn ask_frame(&mut self, port: usize, frame: &Packet, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, FRAME, now, context, |one, view, actions| {
                    one.on_frame(port, frame, view, actions)
                });)?)+
            }

            /// The timer of a mechanism has expired.
            pub(in crate::switch) fn ask_timer(&mut self, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, TIMER, now, context, |one, view, actions| {
                    one.on_timer(view, actions)
                });)?)+
            }

            /// A message from a switch to a host is about to leave: calls the subscribed
            /// mechanisms.
            #[inline(never)]
            pub(in crate::switch) fn ask_transit(
                &mut self,
                transit: &Transit<'_>,
                now: Instant,
                context: &mut Context,
            ) -> Fate {
                let mut fate = Fate::Forward;
                $($(ask!(self, $module: $half, TRANSIT, now, context, |one, view, actions| {
                    if one.on_transit(transit, view, actions) == Fate::Consume {
                        fate = Fate::Consume;
                    }
                });)?)+
                fate
            }

            /// A link is up again, and its other end has lost all pause state: repeats the pauses
            /// that still apply.
            pub(in crate::switch) fn ask_link_up(&mut self, port: usize, now: Instant, context: &mut Context) {
                $($(ask!(self, $module: $half, ALL, now, context, |one, view, actions| {
                    one.on_link_up(port, view, actions)
                });)?)+
            }
        }
    };
}

/// Calls one mechanism about an event, if the mechanism runs here and is subscribed, and executes
/// its actions.
macro_rules! ask {
    (
        $switch:ident, $module:ident: $half:ty, $event:ident, $now:ident, $context:ident,
        |$one:ident, $view:ident, $actions:ident| $question:expr
    ) => {
        if let Some($one) = &mut $switch.mechanisms.$module
            && $one.wants().has(Events::$event)
        {
            let $one: &mut $half = $one;
            let ($view, $actions) = (&view!($switch, $now), &mut $switch.actions);
            $question;
            if !$actions.is_empty() {
                $switch.carry_out($now, $context);
            }
        }
    };
}

mechanisms! {
    bfc:
        "Backpressure Flow Control: pauses physical queues of the neighbor, nearly per flow.",
        bfc::Bfc;
    congestion_isolation:
        "Moves congesting flows to a queue of their own, here and upstream (802.1Qcz).",
        congestion_isolation::Isolating;
    drc:
        "Directional Rate Control: the neighbor slows or stops what goes to a congested port.",
        drc::Drc;
    source_flow_control:
        "Tells sources directly how long to pause; NIC or edge switch obeys (P802.1Qdw).",
        source_flow_control::SourceFlowControl;
    qcn:
        "Quantized congestion notification: samples queues and notifies the sources of frames (802.1Qau).",
        qcn::Qcn;
    pfc: "Priority-based flow control: pauses a class of the neighbor (802.1Qbb).", pfc::Pfc;
    pause: "PAUSE: stops all that the neighbor sends (802.3x).", pause::Pause;
    cbfc: "Credit-based flow control: neighbors send what there is room for (InfiniBand, UE).", cbfc::Cbfc;
}

impl Spec {
    /// Bit c: class c is lossless, because neighbors stop before its buffer is full.
    pub fn lossless(&self) -> u8 {
        match (&self.pause, &self.pfc) {
            _ if self.cbfc.is_some() => u8::MAX,
            (Some(_), _) => u8::MAX,
            (None, Some(pfc)) => pfc.classes(),
            (None, None) => 0,
        }
    }

    /// Bit c: the memory of class c is that of an ingress port and class, and not of an egress queue.
    pub fn by_ingress(&self) -> u8 {
        let on_ingress = |pfc: &&pfc::Spec| pfc.measured_on == pfc::MeasuredOn::Ingress;
        match self.pfc.as_ref().filter(on_ingress) {
            _ if self.cbfc.is_some() => u8::MAX,
            Some(pfc) => pfc.classes(),
            None => 0,
        }
    }

    /// Whether a pause lasts until a frame ends it: with PFC that is not refreshed.
    pub fn pauses_are_endless(&self) -> bool {
        self.pfc.as_ref().is_some_and(|pfc| !pfc.refresh)
    }

    /// The same of the classes whose losses are faults.
    pub fn must_not_lose(&self) -> u8 {
        let pause = self.pause.as_ref().is_none_or(|pause| pause.lossless);
        let pfc = self.pfc.as_ref().is_none_or(|pfc| pfc.lossless);
        let paused = if pause && pfc { self.lossless() } else { 0 };
        let drc = self.drc.as_ref().filter(|drc| drc.lossless).map_or(0, |drc| drc.mask());
        paused | drc
    }
}
