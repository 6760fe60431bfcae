//! When a switch must pause a neighbor and when it must resume it: PFC and PAUSE with fixed thresholds.
//! Above XOFF, every neighbor that has bytes in the measured quantity, or adds to it, is paused until
//! the quantity has fallen to XON. The pause frame leaves before any packet that is sent later.
//!
//! Not checked: PFC with the dynamic threshold of the ingress pool; proxies of source flow control,
//! which pause on behalf of others; networks with failures, where pauses are discarded.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::id::CLASSES;
use floodway_model::{Body, Instant, Packet};

use super::network::Network;
use super::queues::{is_lossless, occupied, source};
use super::{Log, time};
use crate::errors::Errors;
use crate::switch::flow_control::source_flow_control::Mode;
use crate::switch::flow_control::{pause, pfc};

/// Quantities that a switch has measured, and the neighbors that it must pause.
#[derive(Debug)]
pub struct Thresholds {
    measured: Measured,
    xoff: u64,
    xon: u64,
    quanta: u16,
    /// Bytes by measured quantity.
    bytes: BTreeMap<usize, u64>,
    /// Number of packets by measured quantity and neighbor.
    packets: BTreeMap<(usize, usize), u64>,
    /// Quantities that have exceeded XOFF and not fallen to XON.
    over: BTreeSet<usize>,
    /// Neighbors, by port and class, that must be paused.
    paused: BTreeSet<(usize, usize)>,
    /// Neighbors that have not been sent the required frame yet, and since when.
    owed: BTreeMap<usize, Instant>,
}

/// Quantity that is compared with the thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measured {
    /// Bytes received on a port in a class.
    Class,
    /// An egress queue.
    Queue,
    /// Bytes received on a port.
    Port,
    /// The queues of an egress port.
    EgressPort,
    /// The whole buffer.
    Buffer,
}

impl Thresholds {
    /// The thresholds of a switch; `None` if there are none that can be checked.
    pub fn new(network: &Network) -> Option<Self> {
        let flow_control = &network.spec.switch.flow_control;
        let sfc = flow_control.source_flow_control.as_ref();
        let spec = &network.spec;
        let is_heard = spec.failures.is_empty()
            && spec.losses.is_empty()
            && !spec.errors.iter().any(Errors::may_happen);
        if !is_heard || sfc.is_some_and(|sfc| sfc.mode == Mode::Proxy) {
            return None;
        }
        let (measured, xoff, xon, quanta) = match (&flow_control.pfc, &flow_control.pause) {
            (Some(pfc), _) => {
                let measured = match pfc.measured_on {
                    pfc::MeasuredOn::Ingress => Measured::Class,
                    pfc::MeasuredOn::EgressQueue => Measured::Queue,
                    pfc::MeasuredOn::IngressPool => return None,
                };
                (measured, pfc.xoff, pfc.xon, pfc.quanta)
            }
            (None, Some(pause)) => {
                let measured = match pause.measured_on {
                    pause::MeasuredOn::Ingress => Measured::Port,
                    pause::MeasuredOn::EgressPort => Measured::EgressPort,
                    pause::MeasuredOn::Memory => Measured::Buffer,
                };
                (measured, pause.xoff, pause.xon, pause.quanta)
            }
            (None, None) => return None,
        };
        Some(Self {
            measured,
            xoff: xoff.0,
            xon: xon.0,
            quanta,
            bytes: BTreeMap::new(),
            packets: BTreeMap::new(),
            over: BTreeSet::new(),
            paused: BTreeSet::new(),
            owed: BTreeMap::new(),
        })
    }

    /// The quantity that a packet in this queue counts towards, the neighbor that it came from, and
    /// whether its class is lossless; `None` if it counts towards nothing.
    fn charge(
        &self,
        network: &Network,
        (port, queue): (usize, usize),
        packet: &Packet,
    ) -> Option<(usize, usize, bool)> {
        let lossless = is_lossless(&network.spec.switch, packet);
        let neighbor = packet.ingress.index() * CLASSES;
        let (group, neighbor) = match self.measured {
            Measured::Class if !lossless => return None,
            Measured::Class => (source(packet), source(packet)),
            Measured::Queue => (port * CLASSES + queue, source(packet)),
            Measured::Port => (neighbor, neighbor),
            Measured::EgressPort => (port, neighbor),
            Measured::Buffer => (0, neighbor),
        };
        Some((group, neighbor, lossless))
    }

    fn is_paused(&self, neighbor: usize) -> bool {
        self.paused.iter().any(|(_, paused)| *paused == neighbor)
    }

    fn pause(&mut self, group: usize, neighbor: usize, now: Instant) {
        if !self.is_paused(neighbor) {
            self.owed.insert(neighbor, now);
        }
        self.paused.insert((group, neighbor));
    }

    /// A data packet has joined a queue.
    pub fn joins(
        &mut self,
        network: &Network,
        place: (usize, usize),
        packet: &Packet,
        now: Instant,
    ) {
        let Some((group, neighbor, lossless)) = self.charge(network, place, packet) else { return };
        let bytes = self.bytes.entry(group).or_default();
        *bytes += occupied(packet, network.spec.switch.cell.bytes());
        let passes = *bytes > self.xoff;
        if lossless {
            *self.packets.entry((group, neighbor)).or_default() += 1;
        }
        if self.over.contains(&group) {
            if lossless {
                self.pause(group, neighbor, now);
            }
        } else if passes {
            self.over.insert(group);
            let here = self.packets.range((group, 0)..(group + 1, 0));
            let here: Vec<usize> = here.map(|((_, neighbor), _)| *neighbor).collect();
            here.into_iter().for_each(|neighbor| self.pause(group, neighbor, now));
        }
    }

    /// A data packet has left a queue.
    pub fn leaves(
        &mut self,
        network: &Network,
        place: (usize, usize),
        packet: &Packet,
        now: Instant,
    ) {
        let Some((group, neighbor, lossless)) = self.charge(network, place, packet) else { return };
        let bytes = self.bytes.entry(group).or_default();
        *bytes -= occupied(packet, network.spec.switch.cell.bytes());
        let falls = *bytes <= self.xon;
        if let Some(packets) = self.packets.get_mut(&(group, neighbor)).filter(|_| lossless) {
            *packets -= 1;
            if *packets == 0 {
                self.packets.remove(&(group, neighbor));
            }
        }
        if falls && self.over.remove(&group) {
            let here = self.paused.range((group, 0)..(group + 1, 0));
            let here: Vec<(usize, usize)> = here.copied().collect();
            for pause in here {
                self.paused.remove(&pause);
                if !self.is_paused(pause.1) {
                    self.owed.insert(pause.1, now);
                }
            }
        }
    }

    /// A frame is sent by a port.
    pub fn sent(&mut self, port: usize, packet: &Packet, log: &mut Log) {
        let (classes, quanta, resumed) = match packet.body {
            Body::Pfc { classes, quanta, resumed } => (classes, quanta, resumed),
            Body::Pause { quanta } => (1, quanta, 0),
            // Other link control frames are sent in the order in which they were made.
            Body::Bfc { .. } | Body::Drc { .. } | Body::LinkCredit { .. } => return,
            _ => return self.check_owed(port, log),
        };
        for class in (0..CLASSES).filter(|class| (classes | resumed) >> class & 1 != 0) {
            let quanta = if resumed >> class & 1 != 0 { 0 } else { quanta };
            let neighbor = port * CLASSES + class;
            self.owed.remove(&neighbor);
            let (wanted, xoff, xon) = (self.is_paused(neighbor), self.xoff, self.xon);
            match (wanted, quanta) {
                (true, 0) => {
                    let groups = self.paused.iter().filter(|(_, paused)| *paused == neighbor);
                    let most = groups.map(|(group, _)| self.bytes[group]).max().unwrap_or(0);
                    let text = format!(
                        "the neighbor is resumed while {most} bytes wait that have passed XOFF \
                         ({xoff} bytes) and not fallen to XON ({xon} bytes)"
                    );
                    log.queue(port, class, text);
                }
                (true, quanta) if quanta != self.quanta => {
                    let due = self.quanta;
                    log.queue(port, class, format!("a pause is {quanta} quanta, not {due}"));
                }
                (false, 1..) => {
                    let text =
                        format!("the neighbor is paused, and nothing is above XOFF ({xoff} bytes)");
                    log.queue(port, class, text);
                }
                _ => {}
            }
        }
    }

    /// Checks whether a neighbor should have been paused or resumed before now.
    pub fn check_owed(&mut self, port: usize, log: &mut Log) {
        let of_port = port * CLASSES..(port + 1) * CLASSES;
        let owed = self.owed.range(of_port).find(|(_, since)| **since < log.now);
        if let Some((&neighbor, &since)) = owed {
            self.owed.remove(&neighbor);
            let what = if self.is_paused(neighbor) { "paused" } else { "resumed" };
            let text = format!("the neighbor is to be {what} since {}, and is not", time(since));
            log.queue(port, neighbor % CLASSES, text);
        }
    }
}
