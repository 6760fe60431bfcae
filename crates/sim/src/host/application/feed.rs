//! Applications on a host: they write data into their connections at scheduled times.

use floodway_model::{Duration, FlowId, Instant};

use super::interactive::Frame;
use super::{Application, Spec, State, entries};
use crate::host::Host;
use crate::host::transport::{self, tcp};

impl Host {
    /// Starts the application of a flow that has started in this slot, if it has one.
    pub(in crate::host) fn begin_application(&mut self, flow: FlowId, slot: u32, now: Instant) {
        let shared = &self.shared;
        let (spec, application) =
            (shared.flows.at(flow.index()), &shared.profile(flow).application);
        // The data of a message is available from the beginning.
        let Some(application) = application.as_ref().filter(|_| spec.is_persistent()) else {
            return;
        };
        let application = Application::new(application, (flow, &spec), shared.seed, now);
        let place = self.applications.len() as u32;
        let due = match &application.state {
            State::Interactive(state) => state.due(),
            // The client begins when the connection is established; until then only its end is
            // scheduled.
            State::Entries(state) => state.stop,
            State::Video(state) => state.stop,
        };
        if due != Instant::NEVER || matches!(application.state, State::Interactive(_)) {
            self.writes.push(due, place);
        }
        self.applications.push(application);
        if let Some(sender) = &mut self.senders[slot as usize] {
            sender.application = Some(place);
        }
    }

    /// Hands over the data that is due.
    pub(in crate::host) fn on_writes(&mut self, now: Instant) {
        while let Some((at, place)) = self.writes.pop_due(now) {
            let application = &mut self.applications[place as usize];
            let flow = application.flow;
            let slot = self.slots.of(self.shared.places.at(flow.index()).0);
            let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { continue };
            let tcp = connection(&mut sender.transport);
            let next = match (&mut application.state, &self.shared.profile(flow).application) {
                (State::Interactive(state), Some(Spec::Interactive(spec))) => {
                    if let Some(bytes) = state.make(spec, tcp.carries(), tcp.unsent_bytes()) {
                        let last = tcp.write(bytes);
                        state.frames.push(Frame { made: at, bytes, last });
                    }
                    let due = Some(state.due()).filter(|due| *due != Instant::NEVER);
                    if due.is_none() {
                        tcp.close();
                    }
                    due
                }
                (State::Entries(state), Some(Spec::Entries(_))) if at >= state.stop => {
                    tcp.close();
                    None
                }
                (State::Entries(state), Some(Spec::Entries(spec))) => {
                    state.request(spec, at, |bytes| tcp.write(bytes));
                    spec.interval.map(|interval| at + state.pause(interval))
                }
                (State::Video(state), Some(Spec::Video(_))) if at >= state.stop => {
                    tcp.close();
                    None
                }
                (State::Video(state), Some(Spec::Video(spec))) => {
                    state.request(spec, at, |bytes| tcp.write(bytes));
                    None
                }
                _ => unreachable!("an application is made from its own parameters"),
            };
            if let Some(next) = next {
                self.writes.push(next, place);
            }
            self.revisit(slot, now);
        }
    }

    /// The sender in this slot has received feedback, which may complete requests or segments of a
    /// video, and so lead to new ones.
    pub(in crate::host) fn complete_requests(&mut self, slot: u32, now: Instant) {
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let Some(place) = sender.application else { return };
        let tcp = connection(&mut sender.transport);
        if !tcp.is_established() {
            return;
        }
        let profile = self.shared.profile(sender.flow);
        let mut due = |at: Instant| self.writes.push(at, place);
        match (&mut self.applications[place as usize].state, &profile.application) {
            (State::Entries(state), Some(Spec::Entries(spec))) => {
                complete_entries(state, spec, tcp, now, due);
            }
            (State::Video(state), Some(Spec::Video(spec))) => {
                match state.acknowledge(spec, tcp.acknowledged(), now) {
                    Some(at) if at > now => due(at),
                    Some(_) => state.request(spec, now, |bytes| tcp.write(bytes)),
                    None => {}
                }
            }
            _ => {}
        }
    }
}

/// Requests may be complete, and so lead to new ones. Those of later are `due`.
fn complete_entries(
    state: &mut entries::State,
    spec: &entries::Spec,
    tcp: &mut tcp::Sender,
    now: Instant,
    mut due: impl FnMut(Instant),
) {
    if !state.has_begun() {
        let first = state.begin(spec);
        (0..first).for_each(|_| request(state, spec, tcp, now));
        if let Some(interval) = spec.interval {
            due(now + state.pause(interval));
        }
    }
    let completed = state.complete(tcp.acknowledged(), now);
    if spec.interval.is_some() {
        return;
    }
    for _ in 0..completed {
        match state.pause(spec.think.unwrap_or_default()) {
            Duration::ZERO => request(state, spec, tcp, now),
            pause => due(now + pause),
        }
    }
}

/// Hands over a request, unless the client has stopped.
fn request(state: &mut entries::State, spec: &entries::Spec, tcp: &mut tcp::Sender, now: Instant) {
    if now < state.stop {
        state.request(spec, now, |bytes| tcp.write(bytes));
    }
}

fn connection(transport: &mut transport::Sender) -> &mut tcp::Sender {
    let transport::Sender::Tcp(tcp) = transport else {
        unreachable!("an application writes to a TCP connection");
    };
    tcp
}
