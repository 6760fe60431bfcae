//! Directions as a transmitter knows them: the output port by which its peer will forward a packet.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_model::{FlowId, NodeId};

use super::Regulator;
use super::spec::Spec;
use crate::Spec as Whole;
use crate::routing::{Hops, Routes};
use crate::switch::path;

/// The forwarding of a switch, as known to its neighbors. They read its table directly, which is
/// equivalent to having learned the direction of every destination from it (assumed: neither the
/// deck nor the patent says how the transmitter knows).
#[derive(Debug)]
pub struct Peer {
    id: NodeId,
    routes: Routes,
    path: path::Spec,
}

impl Peer {
    /// The switch `id`.
    pub fn new(id: NodeId, routes: Routes, path: path::Spec) -> Self {
        Self { id, routes, path }
    }

    /// The output port by which the peer will forward a packet of `flow` to `dst`.
    #[inline]
    pub fn direction(&self, dst: NodeId, flow: FlowId) -> u16 {
        match self.routes.towards(dst) {
            Hops::Host(port) => port,
            Hops::Equal([port]) => *port,
            Hops::Equal(ports) => {
                let choice = self.path.by_flow(flow, 0, self.id, ports.len());
                ports[choice.expect("checked: the neighbors of a switch know its choices")]
            }
        }
    }
}

/// The forwarding of all switches, as known to their neighbors; empty without Directional Rate
/// Control.
#[derive(Debug, Default)]
pub struct Peers {
    spec: Option<Spec>,
    peers: BTreeMap<NodeId, (usize, Arc<Peer>)>,
}

impl Peers {
    /// The empty value.
    #[cfg(test)]
    pub const NONE: Self = Self { spec: None, peers: BTreeMap::new() };

    /// Builds it for the switches of a simulation; `tables` are their routes, ordered by switch
    /// identifier.
    pub fn of(whole: &Whole, tables: &[Routes]) -> Self {
        let Some(spec) = &whole.switch.flow_control.drc else { return Self::default() };
        let peer = |(id, routes): (NodeId, &Routes)| {
            let peer = Arc::new(Peer::new(id, routes.clone(), whole.switch.path.clone()));
            (id, (whole.graph.node(id).ports.len(), peer))
        };
        let peers = whole.graph.switches().zip(tables).map(peer).collect();
        Self { spec: Some(spec.clone()), peers }
    }

    /// The regulator of a transmitter whose link leads to `peer`. `None` without Directional Rate
    /// Control, and if the peer is a host, which is a single direction.
    pub fn regulator(&self, peer: NodeId) -> Option<Box<Regulator>> {
        let (ports, peer) = self.peers.get(&peer)?;
        Some(Box::new(Regulator::new(self.spec.as_ref()?, *ports, peer.clone())))
    }
}
