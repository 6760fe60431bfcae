//! Flow starts: each flow gets a sender in a free slot, which joins the NIC.

use floodway_model::{Class, Duration, FlowId, Instant, random};

use super::Host;
use super::sender::{Header, Route, Sender};
use crate::context::Context;
use crate::observe::{Fact, Kinds};

impl Host {
    /// The flows before this index have started, or depend on others.
    pub(super) fn set_started(&mut self, place: usize) {
        self.started = place;
        self.next_start = if place < self.outgoing.len() {
            self.shared.flows.at(self.outgoing.at(place).index()).start
        } else {
            Instant::NEVER
        };
        self.schedule();
    }

    /// Starts the flows that are due and depend on no other.
    pub(super) fn start(&mut self, now: Instant, context: &mut Context) {
        while self.next_start <= now {
            let place = self.started;
            self.set_started(self.next_free(place + 1));
            self.begin(place, None, now, context);
        }
    }

    /// Starts the flow with this index; `after` is the flow whose event decided when.
    pub(super) fn begin(
        &mut self,
        place: usize,
        after: Option<FlowId>,
        now: Instant,
        context: &mut Context,
    ) {
        let flow = self.outgoing.at(place);
        let spec = self.shared.flows.at(flow.index());
        let switch = &self.shared.switch;
        let dscp = self.shared.dscp(flow, &spec);
        let connection = self.shared.places.at(flow.index()).1;
        let header = Header { connection, dscp };
        let profile = self.shared.profile(flow);
        let seed = random::mix(self.shared.seed ^ u64::from(flow.0));
        let trims = switch.overflow.trims().is_some();
        let route = match &self.shared.distances {
            None => Route { base_rtt: Duration::ZERO, hops: 0, trims, seed },
            Some(distances) => Route {
                base_rtt: distances.longest_round_trip,
                hops: distances.switches(spec.src, spec.dst),
                trims,
                seed,
            },
        };
        let link = self.nic.tx.link();
        let mut sender = Sender::new((flow, &spec), header, profile, link, route, now);
        if trims {
            sender.transport.expect_headers();
        }
        let queue = switch.classify.queue(dscp, sender.ecn(), spec.dst, switch.queue.count);
        let class = Class(queue);
        sender.begin_in(class);
        self.take_connection(&mut sender, now);
        if let Some(physical_queues) = &mut self.nic.physical_queues {
            sender.physical_queue = physical_queues.take(class, flow);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.senders.push(None);
            self.senders.len() as u32 - 1
        });
        if sender.timer_at != Instant::NEVER {
            self.timeouts.push(sender.timer_at, (slot, flow));
        }
        self.senders[slot as usize] = Some(Box::new(sender));
        self.slots.set(place, slot, self.outgoing.len());
        self.nic.make_ready(slot, class);
        self.begin_application(flow, slot, now);
        let on_wire = self.nic.tx.on_wire();
        context.state(Kinds::BEGAN, self.id, now, || Fact::Began { flow, class, after, on_wire });
    }
}
