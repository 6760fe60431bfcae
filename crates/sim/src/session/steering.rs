//! What another program changes in a session besides injecting flows with a size: it starts long-lived flows, stops
//! them, and exchanges the queue management of switches. Everything takes effect the host latency after it is asked for.

use std::sync::Arc;

use floodway_model::{FlowId, FlowSpec, Instant, NodeId};

use super::{Error, Session};
use crate::switch;
use crate::switch::change::{Change, Refusal};

impl Session {
    /// Starts a long-lived flow of any workload, with its transport, congestion control and DSCP. It starts the host
    /// latency after now, and sends until it is [stopped](Self::stop).
    pub fn start(&mut self, src: NodeId, dst: NodeId, workload: u16) -> Result<FlowId, Error> {
        self.check_ends(src, dst)?;
        self.check_steered(workload)?;
        if self.ordered.is_kernel(src) {
            return self.start_in_kernel((src, dst), workload);
        }
        let start = self.effective()?;
        let flow = FlowSpec {
            src,
            dst,
            bytes: FlowSpec::PERSISTENT,
            start,
            stop: Instant::NEVER,
            workload,
            in_turn: false,
        };
        Ok(self.wait(flow))
    }

    /// Stops a long-lived flow, of the session or of the scenario: the host latency after now it makes no new packets
    /// any more, although it still retransmits lost ones. Returns that time. A flow that stops earlier anyway stays as it
    /// is.
    pub fn stop(&mut self, flow: FlowId) -> Result<Instant, Error> {
        let known = self.rest.spec.flows.len();
        let all = known + self.waiting.len();
        let spec = match flow.index().checked_sub(known) {
            None => self.rest.spec.flows.get(flow.index()),
            Some(place) => self.waiting.get(place),
        };
        let Some(spec) = spec else { return Err(Error::UnknownFlow { flow, flows: all }) };
        if !spec.is_persistent() {
            return Err(Error::HasSize { flow });
        }
        let (src, workload, before) = (spec.src, spec.workload, spec.stop);
        self.check_steered(workload)?;
        let at = self.effective()?;
        if before <= at {
            return Ok(before);
        }
        if self.ordered.is_kernel(src) {
            return self.stop_in_kernel(flow, at);
        }
        match flow.index().checked_sub(known) {
            None => self.live.stop(flow, at, &mut self.rest),
            Some(place) => self.waiting[place].stop = at,
        }
        Ok(at)
    }

    /// Gives all switches other queue management, the host latency after now. Returns that time. What can change is in
    /// [`Change::check`].
    pub fn change(&mut self, switch: switch::Spec) -> Result<Instant, Error> {
        let refused = |Refusal { cause, remedy }| Error::Refused { cause, remedy };
        let spec = &self.rest.spec;
        Change::check(self.switch(), &switch, spec.departures).map_err(refused)?;
        let at = self.effective()?;
        self.live.change(at, &Arc::new(switch.clone()));
        self.rest.spec.changes.push(Change { at, switch });
        Ok(at)
    }

    /// The parameters of switches after all changes that have been asked for.
    pub fn switch(&self) -> &switch::Spec {
        let spec = &self.rest.spec;
        spec.changes.last().map_or(&spec.switch, |change| &change.switch)
    }

    /// The time at which what is asked for now takes effect.
    pub(super) fn effective(&self) -> Result<Instant, Error> {
        let at = self.now + self.latency;
        if at >= self.end {
            return Err(Error::TooLate { at: self.now, latency: self.latency, end: self.end });
        }
        if at < self.reached {
            return Err(Error::Simulated { start: at, reached: self.reached });
        }
        Ok(at)
    }

    /// Whether flows of a workload can be started and stopped.
    fn check_steered(&self, workload: u16) -> Result<(), Error> {
        let profiles = &self.rest.spec.profiles;
        match profiles.get(usize::from(workload)) {
            None => Err(Error::Refused {
                cause: "a flow needs a workload, and the scenario has no such one",
                remedy: "choose one of the scenario",
            }),
            Some(profile) if profile.application.is_some() => Err(Error::Refused {
                cause: "flows with an application have its state from the beginning",
                remedy: "choose a workload without `application`",
            }),
            Some(_) => Ok(()),
        }
    }
}
