//! Congestion Isolation in a switch: moves flows of the stream table to the congesting queue,
//! notifies the neighbors that send them, and receives notifications from others.

use floodway_model::graph::NodeKind;
use floodway_model::packet::length;
use floodway_model::random::Stream;
use floodway_model::{Body, Packet};

use super::table::{Isolation, Place, Port};
use super::{Mark, Spec};
use crate::metric::Tally;
use crate::switch::buffer::Buffer;
use crate::switch::mechanism::{
    Action, Actions, Arrived, Events, Joined, Left, Mechanism, Moved, Site, View,
};
use crate::switch::port;

/// Congestion Isolation state of one switch.
#[derive(Debug)]
pub struct Isolating {
    spec: Spec,
    /// Stream tables, by egress port.
    tables: Box<[Isolation]>,
    /// By egress port: [`Isolation::quiet_below`], beside each other so that most packets need nothing else.
    quiet_below: Box<[u32]>,
    /// By port: whether the node at the other end accepts congestion isolation messages.
    peers: Box<[bool]>,
    /// The table entry of the flow whose packet is being moved.
    moved: Option<Place>,
}

impl Isolating {
    #[inline(always)]
    fn port<'a>(&self, port: &'a port::Port, view: &View<'_>) -> Port<'a> {
        let congesting = usize::from(self.spec.congesting);
        Port {
            monitored: &port.queues[usize::from(self.spec.monitored)],
            congesting: &port.queues[congesting],
            paused: port.tx.paused(view.now) >> congesting & 1 != 0,
        }
    }
}

impl Mechanism for Isolating {
    type Spec = Spec;

    /// Runs only in switches of a participating tier.
    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        let accepts = |kind| match kind {
            NodeKind::Host => spec.hosts,
            NodeKind::Switch { tier } => spec.is_at(tier),
        };
        if !spec.is_at(site.tier) {
            return None;
        }
        let tables: Box<[Isolation]> =
            site.ports.iter().map(|port| Isolation::new(spec, port.link.rate)).collect();
        Some(Self {
            spec: spec.clone(),
            quiet_below: tables.iter().map(Isolation::quiet_below).collect(),
            tables,
            peers: site.ports.iter().map(|port| accepts(port.peer)).collect(),
            moved: None,
        })
    }

    #[inline(always)]
    fn wants(&self) -> Events {
        Events::PLACED.and(Events::MOVED).and(Events::LEFT).and(Events::FRAME)
    }

    #[inline(always)]
    fn may_move(&self, egress: usize, home: usize, ports: &[port::Port]) -> bool {
        home == usize::from(self.spec.monitored)
            && ports[egress].queues[home].congestion() >= self.quiet_below[egress].into()
    }

    fn moves(&mut self, arrived: &Arrived<'_>, view: &View<'_>, rng: &mut Stream) -> Option<Moved> {
        let Arrived { egress, home, packet } = *arrived;
        if home != usize::from(self.spec.monitored) {
            return None;
        }
        let (port, now) = (self.port(&view.ports[egress], view), view.now);
        let table = &mut self.tables[egress];
        let place = table.place(&self.spec, packet.flow, port, now, rng);
        self.quiet_below[egress] = table.quiet_below();
        let place = place?;
        self.moved = Some(place);
        Some(Moved {
            queue: self.spec.congesting.into(),
            not_before: table.not_before(place),
            marks: table.marks(&self.spec, place),
        })
    }

    fn on_moved(&mut self, joined: &Joined<'_>, view: &View<'_>, actions: &mut Actions) {
        let Some(place) = self.moved.take() else { return };
        let Joined { egress, packet, .. } = *joined;
        let still_monitored = packet.class.0 == self.spec.monitored;
        let upstream = packet.ingress.index();
        let backlog = view.ports[egress].queues[usize::from(self.spec.congesting)].congestion();
        let table = &mut self.tables[egress];
        table.on_join();
        if self.peers[upstream]
            && table.signals(&self.spec, place, backlog, still_monitored, view.now)
        {
            let frame = view.to_neighbor(packet.flow, upstream, length::CIM, Body::Cim);
            actions.push(Action::SendTo { port: upstream, frame });
        }
    }

    #[inline(always)]
    fn minds_left(&self, left: &Left<'_>, ports: &[port::Port], _: &Buffer) -> bool {
        let Left { egress, queue, .. } = *left;
        queue == usize::from(self.spec.congesting) && ports[egress].queues[queue].is_empty()
    }

    fn on_left(&mut self, left: &Left<'_>, view: &View<'_>, _: &mut Actions) {
        if self.minds_left(left, view.ports, view.buffer) {
            self.tables[left.egress].on_empty(view.now);
        }
    }

    /// The neighbor at `port` reports a congesting flow that this switch sends to it.
    fn on_frame(&mut self, port: usize, frame: &Packet, view: &View<'_>, _: &mut Actions) {
        if matches!(frame.body, Body::Cim) {
            let here = self.port(&view.ports[port], view);
            self.tables[port].on_cim(&self.spec, frame.flow, here, view.now);
            self.quiet_below[port] = self.tables[port].quiet_below();
        }
    }

    fn keeps_behind(&self) -> Option<u8> {
        Some(self.spec.monitored)
    }

    fn unmarked(&self) -> u8 {
        if self.spec.mark == Mark::None { 1 << self.spec.congesting } else { 0 }
    }

    fn count(&self, tally: &mut Tally) {
        for table in &self.tables {
            tally.isolations += table.isolations;
            tally.isolations_refused += table.refused;
            tally.isolations_evicted += table.evicted;
            tally.cims_sent += table.cims_sent;
            tally.cims_received += table.cims_received;
        }
    }
}
