//! What a switch tells sources far away: source flow control messages, which are forwarded like
//! feedback, and what the source's edge switch makes of them. Kept out of line, so that switches
//! without them are not slower.

use floodway_model::packet::length;
use floodway_model::{Body, Class, Instant, Packet, PortIx, Tos};

use super::Switch;
use super::flow_control::pausing::Source;
use super::flow_control::source_flow_control::{Drain, Mode};
use crate::engine::Context;
use crate::routing::Hops;

impl Switch {
    /// A data packet has joined a queue: tell its source if the queue is too deep.
    #[inline(never)]
    pub(super) fn tell_source(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(spec) = &self.spec.flow_control.source_flow_control else { return };
        let Some(sfc) = self.sfc.as_mut().filter(|_| spec.covers(queue)) else { return };
        let port = &self.ports[egress];
        let backlog = port.queues[queue].congestion();
        let drain = || Drain {
            rate: port.tx.link().rate,
            share: self.spec.scheduler.share(queue, port.waiting, self.spec.queue.count),
        };
        let number = (egress * usize::from(self.spec.queue.count) + queue) as u32;
        let pause = sfc.on_enqueue(spec, packet, number, backlog, drain, now);
        if let Some(pause_ns) = pause {
            let message = self.message(packet, pause_ns);
            let way = self.relay(&message, now, context);
            self.emitted += u64::from(way == Some(true));
            if let Some(sfc) = &mut self.sfc {
                sfc.messages += u64::from(way.is_some());
            }
        }
    }

    /// A data packet came from a host of this switch: stop it if its destination is paused. Its flow
    /// begins in the class `home`.
    #[inline(never)]
    pub(super) fn remind(
        &mut self,
        packet: &Packet,
        home: usize,
        now: Instant,
        context: &mut Context,
    ) {
        let port = packet.ingress.index();
        let Some(spec) = &self.spec.flow_control.source_flow_control else { return };
        // On a link that is known to be down by now nobody would hear it.
        let hears = self.ports[port].to_host && !self.ports[port].tx.is_closed();
        let Some(sfc) = self.sfc.as_mut().filter(|_| hears) else { return };
        let Some(pause_ns) = sfc.remind(spec, packet, home as u8, now) else { return };
        match spec.mode {
            Mode::Proxy => {
                self.pause_for(Source::new(port, packet.class.index()), pause_ns, now, context)
            }
            Mode::Native => {
                let message = self.message(packet, pause_ns);
                self.emitted += 1;
                self.enqueue_control(port, &message, now, context);
            }
        }
    }

    /// To the source of `packet`: what goes where it goes, in the class in which its flow begins, is
    /// to wait. A switch on the way may have isolated it since, of which its source knows nothing.
    fn message(&self, packet: &Packet, pause_ns: u32) -> Packet {
        let class = Class(self.classify(packet) as u8);
        let body = Body::Sfc { towards: packet.dst, class, pause_ns };
        self.to_source(packet, length::SFC, body)
    }

    /// A frame from here to the source of `packet`, about its flow.
    pub(super) fn to_source(&self, packet: &Packet, bytes: u16, body: Body) -> Packet {
        Packet {
            flow: packet.flow,
            connection: 0,
            src: self.id,
            dst: packet.src,
            bytes,
            ingress: PortIx(0),
            class: Class(self.spec.queue.count),
            tos: Tos::default(),
            indicated: false,
            lane: 0,
            body,
        }
    }

    /// A message, from here or from elsewhere, goes on towards its source; at the source's edge it
    /// is remembered, and ends there if this switch is a proxy. Whether it goes on; `None` if there is
    /// no way.
    pub(super) fn relay(
        &mut self,
        message: &Packet,
        now: Instant,
        context: &mut Context,
    ) -> Option<bool> {
        let Body::Sfc { towards, class, pause_ns } = message.body else {
            unreachable!("only source flow control messages are relayed");
        };
        let egress = self.forward(message, now)?;
        if let Hops::Host(_) = self.routes.towards(message.dst)
            && let Some(spec) = &self.spec.flow_control.source_flow_control
            && let Some(sfc) = &mut self.sfc
        {
            sfc.learn(message.dst.0, towards.0, class.0, pause_ns, now);
            if spec.mode == Mode::Proxy {
                self.pause_for(Source::new(egress, class.index()), pause_ns, now, context);
                // A NIC that takes part in Congestion Isolation may send the flow in either class.
                if let Some(isolation) = &self.spec.flow_control.congestion_isolation
                    && isolation.hosts
                    && class.0 == isolation.monitored
                {
                    let congesting = Source::new(egress, isolation.congesting.into());
                    self.pause_for(congesting, pause_ns, now, context);
                }
                return Some(false);
            }
        }
        self.enqueue_control(egress, message, now, context);
        Some(true)
    }

    /// As a proxy: the host at that port is to be quiet in that class for this long.
    fn pause_for(&mut self, source: Source, pause_ns: u32, now: Instant, context: &mut Context) {
        let rate = self.ports[source.port()].tx.link().rate;
        let sfc = self.sfc.as_mut().expect("only source flow control pauses for others");
        let Some(quanta) = sfc.proxy(source, pause_ns, rate, now) else { return };
        // PFC's own pause lasts until it is taken back, and what is left then is said then.
        if self.pfc.as_ref().is_some_and(|pfc| pfc.ledger.holds(source)) {
            return;
        }
        self.send_proxied(source, quanta, now, context);
    }

    /// The link of a source works again, and the host has forgotten what it was told: says again what
    /// is left of it.
    pub(super) fn repeat_proxied(&mut self, source: Source, now: Instant, context: &mut Context) {
        let rate = self.ports[source.port()].tx.link().rate;
        let left = self.sfc.as_ref().map_or(0, |sfc| sfc.left(source, rate, now));
        if left > 0 {
            self.send_proxied(source, left, now, context);
        }
    }

    /// A PFC frame of a proxy, unless nobody would hear it.
    fn send_proxied(&mut self, source: Source, quanta: u16, now: Instant, context: &mut Context) {
        let open = !self.ports[source.port()].tx.is_closed();
        if let Some(sfc) = &mut self.sfc {
            sfc.proxy_pauses += u64::from(open);
        }
        self.send_pfc(source, quanta, now, context);
    }
}
