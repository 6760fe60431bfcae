//! Source Flow Control in a switch: notifies the sources of packets that join a deep queue. An edge
//! switch caches the paused destinations of its hosts, and as a proxy pauses the hosts itself.

use floodway_model::id::CLASSES;
use floodway_model::packet::length;
use floodway_model::{Body, Class, FlowId, NodeId, Packet};

use super::{Drain, Mode, SourceFlowControl, Spec};
use crate::metric::Tally;
use crate::switch::flow_control::pausing::Source;
use crate::switch::mechanism::{
    Action, Actions, Arrived, Events, Fate, Joined, Mechanism, Site, Transit, View,
};

impl Mechanism for SourceFlowControl {
    type Spec = Spec;

    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        Some(Self::new(spec, site))
    }

    #[inline(always)]
    fn wants(&self) -> Events {
        Events::ARRIVED.and(Events::JOINED).and(Events::TRANSIT)
    }

    /// The destination may be paused without the knowledge of the source host.
    #[inline(always)]
    fn on_arrived(&mut self, arrived: &Arrived<'_>, view: &View<'_>, actions: &mut Actions) {
        let Arrived { home, packet, .. } = *arrived;
        let port = packet.ingress.index();
        // The host cannot be reached over a link that is down.
        if !view.ports[port].to_host || view.ports[port].tx.is_closed() {
            return;
        }
        let Some(pause_ns) = self.resend_notification(packet, home as u8, view.now) else { return };
        match self.spec.mode {
            Mode::Proxy => {
                let source = Source::new(port, packet.class.index());
                self.pause(source, pause_ns, (packet.dst, packet.flow), view, actions);
            }
            Mode::Native => {
                actions.push(Action::SendTo { port, frame: message(packet, pause_ns, view) });
            }
        }
    }

    #[inline(always)]
    fn on_joined(&mut self, joined: &Joined<'_>, view: &View<'_>, actions: &mut Actions) {
        let Joined { egress, queue, packet, .. } = *joined;
        if packet.is_control() || !self.spec.covers(queue) {
            return;
        }
        let (port, queues) = (&view.ports[egress], view.spec.queue.count);
        let drain = || Drain {
            rate: port.tx.link().rate,
            share: view.spec.scheduler.share(queue, port.waiting, queues),
        };
        let number = (egress * usize::from(queues) + queue) as u32;
        let backlog = port.queues[queue].congestion();
        let pause_ns = self.on_enqueue(packet, number, backlog, drain, view.now);
        actions.extend(
            pause_ns.map(|pause_ns| Action::Send {
                frame: message(packet, pause_ns, view),
                except: None,
            }),
        );
    }

    /// The edge switch of the source caches the message, and consumes it if it is a proxy.
    fn on_transit(
        &mut self,
        transit: &Transit<'_>,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> Fate {
        let Transit { frame, egress, own } = *transit;
        let Body::Sfc { towards, class, pause_ns } = frame.body else { return Fate::Forward };
        self.messages += u64::from(own);
        if !view.is_edge_of(frame.dst) {
            return Fate::Forward;
        }
        self.learn(frame.dst.0, towards.0, class.0, pause_ns, view.now);
        if self.spec.mode == Mode::Native {
            return Fate::Forward;
        }
        let cause = (towards, frame.flow);
        self.pause(Source::new(egress, class.index()), pause_ns, cause, view, actions);
        // A NIC that takes part in Congestion Isolation may send the flow in either class.
        if let Some(isolation) = &view.spec.flow_control.congestion_isolation
            && isolation.hosts
            && class.0 == isolation.monitored
        {
            let congesting = Source::new(egress, isolation.congesting.into());
            self.pause(congesting, pause_ns, cause, view, actions);
        }
        Fate::Consume
    }

    fn on_link_up(&mut self, port: usize, view: &View<'_>, actions: &mut Actions) {
        for source in (0..CLASSES).map(|class| Source::new(port, class)) {
            let quanta = self.left(source, view);
            if quanta > 0 && !view.holds(source) {
                self.send(source, quanta, None, view, actions);
            }
        }
    }

    fn left(&self, source: Source, view: &View<'_>) -> u16 {
        self.quanta_left(source, view.ports[source.port()].tx.link().rate_back, view.now)
    }

    fn count(&self, tally: &mut Tally) {
        tally.sfc_messages += self.messages;
        tally.sfc_reminders += self.reminders;
        tally.sfc_proxy_pauses += self.proxy_pauses;
    }
}

impl SourceFlowControl {
    /// As a proxy, pauses this class of the host at that port for this time, because of what leads to this
    /// destination and of this flow.
    fn pause(
        &mut self,
        source: Source,
        pause_ns: u32,
        cause: (NodeId, FlowId),
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let rate = view.ports[source.port()].tx.link().rate_back;
        let Some(quanta) = self.proxy(source, pause_ns, rate, view.now) else { return };
        // PFC pauses the class already. When it resumes the class, its frame carries the remainder
        // of this pause.
        if !view.holds(source) {
            self.send(source, quanta, Some(cause), view, actions);
        }
    }

    fn send(
        &mut self,
        source: Source,
        quanta: u16,
        cause: Option<(NodeId, FlowId)>,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        // The host cannot be reached over a link that is down.
        self.proxy_pauses += u64::from(!view.ports[source.port()].tx.is_closed());
        actions.push(Action::PauseFor { source, quanta, cause });
    }
}

/// A message to the source of `packet`: pause traffic to its destination in the class in which its
/// flow begins. A switch on the path may have isolated the flow since, which its source does not
/// know.
fn message(packet: &Packet, pause_ns: u32, view: &View<'_>) -> Packet {
    let class = Class(view.spec.data_queue(packet) as u8);
    view.to_source(packet, length::SFC, Body::Sfc { towards: packet.dst, class, pause_ns })
}
