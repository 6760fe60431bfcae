//! Queue management that changes during a run: which packets join which queue, which queue sends, and the AQM. Queued
//! packets stay where they are. Kept out of line, in the timer of a switch, so that nothing is tested for each packet.

use std::sync::Arc;

use floodway_model::Instant;
use serde::Serialize;

use super::aqm::MeasuredOn;
use super::{Spec, Switch, aqm, flow_control, scheduler};
use crate::context::Context;
use crate::observe::{Fact, Kinds};
use crate::routing::Routes;

/// All switches have other queue management from a time on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// When.
    pub at: Instant,
    /// The parameters from then on. They differ from those before only in `aqm`, `classify` and `scheduler`
    /// ([`check`](Change::check)).
    pub switch: Spec,
}

/// Why queue management cannot change so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub cause: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

impl Change {
    /// Whether switches with parameters `now` can have parameters `then` later. `departures`: whether every packet joins its
    /// queue, with its time of arrival ([`Spec::departures`](crate::Spec::departures)).
    pub fn check(now: &Spec, then: &Spec, departures: bool) -> Result<(), Refusal> {
        let refused = |cause, remedy| Err(Refusal { cause, remedy });
        if !departures {
            return refused(
                "queues have no arrival times, which another AQM may need",
                "set `departures = true`",
            );
        }
        let rest = Spec {
            aqm: now.aqm.clone(),
            classify: now.classify.clone(),
            scheduler: now.scheduler.clone(),
            ..then.clone()
        };
        if rest != *now {
            return refused(
                "switches differ in more than `aqm`, `classify` and `scheduler`",
                "let all other parameters be the same",
            );
        }
        if now.queue.discipline.has_aqm() {
            return refused(
                "a queue discipline with an AQM of its own has state for each packet",
                "choose [switch.queue.discipline.fifo]",
            );
        }
        if now.fabric.lines().is_some() {
            return refused(
                "packets of a crossbar are queued at its inputs",
                "choose [switch.fabric.output_queued]",
            );
        }
        if [now, then].iter().any(|spec| spec.aqm.measured_on() == MeasuredOn::Memory) {
            return refused(
                "the AQM is one for all ports, because it measures the buffer of the switch",
                "let it measure a queue or a port",
            );
        }
        let queues_differ = (&now.classify, &now.scheduler) != (&then.classify, &then.scheduler);
        if queues_differ && now.flow_control != flow_control::Spec::default() {
            return refused(
                "flow control counts packets by class, and packets would change their class",
                "let `classify` and `scheduler` be the same, or remove [switch.flow_control]",
            );
        }
        Ok(())
    }
}

/// What changes in a switch at a known time.
#[derive(Clone, Debug)]
pub enum Epoch {
    /// A link failure or a repair has become known: the routes from then on.
    Routes(Routes),
    /// Queue management.
    Queues(Arc<Spec>),
}

impl Switch {
    /// Its queue management changes at a time that is not before now.
    pub fn change_at(&mut self, at: Instant, spec: Arc<Spec>) {
        let place = self.epochs.partition_point(|(other, _)| *other <= at);
        self.epochs.insert(place, (at, Epoch::Queues(spec)));
        self.set_timer();
    }

    /// Installs other queue management. Queued packets stay in their queues, and the new AQM finds them there.
    #[cold]
    pub(super) fn manage_by(&mut self, spec: Arc<Spec>, now: Instant, context: &mut Context) {
        context.state(Kinds::CHANGED, self.id, now, || Fact::Changed { switch: &spec });
        self.decides_on_arrival = spec.aqm.decides_on_arrival();
        self.decides_on_departure = spec.aqm.decides_on_departure();
        for port in &mut self.ports {
            let link = *port.tx.link();
            let aqm = spec.aqm.for_rate(link.rate);
            port.aqm = aqm::State::new(&aqm, usize::from(spec.queue.count));
            port.aqm.start_at(now);
            port.scheduler = scheduler::State::new(&spec.scheduler, &link);
        }
        self.spec = spec;
    }
}
