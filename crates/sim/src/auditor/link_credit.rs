//! Credit-based flow control of links: a port sends no more of a class than the switch at the other end has announced, and
//! that switch announces no more than it has room for.

use floodway_model::graph::NodeKind;
use floodway_model::id::CLASSES;
use floodway_model::{Body, NodeId, Packet};

use super::Log;
use super::network::Network;
use super::queues::{Queues, source};
use crate::switch::flow_control::cbfc;

/// The parameters, if the frames of a data class need credit on the link at this port.
fn spec(network: &Network, (node, port): (NodeId, usize), class: usize) -> Option<&cbfc::Spec> {
    let (graph, switch) = (&network.spec.graph, &network.spec.switch);
    let peer = graph.node(graph.node(node).ports[port].peer);
    let spec = switch.flow_control.cbfc.as_ref()?;
    let needed = class < usize::from(switch.queue.count) && peer.kind != NodeKind::Host;
    needed.then_some(spec)
}

/// Credit of the classes of a sending port.
#[derive(Debug, Default)]
pub struct Credit {
    /// Bytes sent.
    sent: [u64; CLASSES],
    /// The highest limit that has arrived.
    announced: [u64; CLASSES],
}

impl Credit {
    fn left(&self, spec: &cbfc::Spec, class: usize) -> u64 {
        self.announced[class].max(spec.buffer.0).saturating_sub(self.sent[class])
    }

    /// A frame is sent. Returns whether its class lacks credit for the longest frame after it.
    pub fn sends(
        &mut self,
        network: &Network,
        port: usize,
        packet: &Packet,
        log: &mut Log,
    ) -> bool {
        let class = packet.class.index();
        let Some(spec) = spec(network, (log.node, port), class) else { return false };
        let (left, bytes) = (self.left(spec, class), u64::from(packet.bytes));
        if bytes > left {
            log.queue(port, class, format!("{bytes} bytes are sent with credit for {left}"));
        }
        self.sent[class] += bytes;
        self.left(spec, class) < longest(network)
    }

    /// A credit frame arrives. Returns whether its class has credit for the longest frame now.
    pub fn hears(
        &mut self,
        network: &Network,
        port: usize,
        (class, limit): (u8, u64),
        log: &mut Log,
    ) -> bool {
        let class = usize::from(class);
        let Some(spec) = spec(network, (log.node, port), class) else {
            log.queue(port, class, "credit arrives where none is needed");
            return false;
        };
        self.announced[class] = self.announced[class].max(limit);
        self.left(spec, class) >= longest(network)
    }
}

/// The longest frame of any flow.
fn longest(network: &Network) -> u64 {
    let frames = network.spec.profiles.iter().map(|profile| profile.transport.largest_frame());
    frames.max().unwrap_or(0).into()
}

/// What has arrived at a switch.
#[derive(Debug)]
pub struct Announced {
    /// Bytes by ingress port and class.
    arrived: Vec<u64>,
}

impl Announced {
    /// Of a switch with this many ports.
    pub fn new(ports: usize) -> Self {
        Self { arrived: vec![0; ports * CLASSES] }
    }

    /// A frame has arrived.
    pub fn arrives(&mut self, packet: &Packet) {
        self.arrived[source(packet)] += u64::from(packet.bytes);
    }

    /// A packet has joined a queue: the bytes of its source are no more than the buffer that has been announced.
    pub fn check_held(&self, network: &Network, packet: &Packet, queues: &Queues, log: &mut Log) {
        let (switch, held) = (&network.spec.switch, queues.held(source(packet)));
        let Some(spec) = switch.flow_control.cbfc.as_ref().filter(|spec| held > spec.buffer.0)
        else {
            return;
        };
        if packet.class.0 < switch.queue.count {
            let text = format!(
                "{held} bytes wait that came in by one port and class, beyond {}",
                spec.buffer
            );
            log.queue(packet.ingress.index(), packet.class.index(), text);
        }
    }

    /// A frame is sent: a credit frame announces no more than there is room for.
    pub fn sends(
        &self,
        network: &Network,
        port: usize,
        packet: &Packet,
        queues: &Queues,
        log: &mut Log,
    ) {
        let Body::LinkCredit { class, limit } = packet.body else { return };
        let Some(spec) = network.spec.switch.flow_control.cbfc.as_ref() else {
            return log.port(port, "a credit frame is sent without credit-based flow control");
        };
        let (class, buffer) = (usize::from(class), spec.buffer.0);
        let from = port * CLASSES + class;
        let (arrived, held) = (self.arrived[from], queues.held(from));
        if u64::from(packet.bytes) != spec.frame.0 {
            log.queue(
                port,
                class,
                format!("a credit frame has {} bytes, not {}", packet.bytes, spec.frame.0),
            );
        }
        if limit.saturating_add(held) > arrived.saturating_add(buffer) {
            let text = format!(
                "credit up to byte {limit} is announced after {arrived} bytes, of which {held} fill {buffer}"
            );
            log.queue(port, class, text);
        }
    }
}
