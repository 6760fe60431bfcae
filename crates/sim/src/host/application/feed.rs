//! Applications on a host: they write frames into their connections when the time comes.

use std::cmp::Reverse;

use floodway_model::{FlowId, Instant};

use super::{Application, Frame};
use crate::host::{Host, sender};

impl Host {
    /// A flow has started: if an application writes its data, that begins too.
    pub(in crate::host) fn begin_application(&mut self, flow: FlowId, now: Instant) {
        let spec = &self.shared.flows[flow.index()];
        let application = &self.shared.profile(flow).application;
        // A message is there from the beginning.
        let Some(application) = application.as_ref().filter(|_| spec.is_persistent()) else {
            return;
        };
        let application = Application::new(application, flow, now, spec.stop);
        let place = self.applications.len() as u32;
        self.frames.push(Reverse((application.due(), place)));
        self.applications.push(application);
    }

    /// The frames that are due are made.
    pub(in crate::host) fn on_frames(&mut self, now: Instant) {
        while let Some(&Reverse((at, place))) = self.frames.peek() {
            if at > now {
                return;
            }
            self.frames.pop();
            let application = &mut self.applications[place as usize];
            let flow = application.flow;
            let slot = self.slots[self.shared.places[flow.index()].0 as usize];
            let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { continue };
            let profile = self.shared.profile(flow);
            let (Some(spec), sender::Transport::Tcp(tcp)) =
                (&profile.application, &mut sender.transport)
            else {
                unreachable!("an application writes into a connection of TCP");
            };
            if let Some(bytes) = application.make(spec, tcp.carries(), tcp.unsent_bytes()) {
                let last = tcp.write(bytes);
                application.frames.push(Frame { made: at, bytes, last });
            }
            match application.due() {
                Instant::NEVER => tcp.close(),
                due => self.frames.push(Reverse((due, place))),
            }
            self.revisit(slot);
        }
    }
}
