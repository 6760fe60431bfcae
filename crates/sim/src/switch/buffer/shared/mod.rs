//! A shared buffer. The same bytes are counted at the ingress, by (port, class), and at the egress, by
//! (port, queue), each with a pool that is shared by dynamic thresholds. Above its ingress threshold,
//! a lossless class has headroom.
//!
//! Headroom is accounted separately. A departing frame is taken from the headroom first, so that the
//! headroom is empty when the neighbor resumes and may need it again. The HPCC authors' simulator
//! does the same (`SwitchMmu`). Ports and classes may share a pool of headroom, which limits them together
//! beside their own limits. The egress accounting counts bytes in the headroom like all others.

mod accounting;
mod headroom;
mod spec;

use floodway_model::check::Findings;
use floodway_model::id::CLASSES;
use floodway_model::{Bytes, Rate};

use super::{Holder, Limit, Place, Share, Sharing};
use crate::switch::QueueSpec;
use crate::switch::check::{CheckBeside, Facts};
use crate::switch::flow_control::pausing::Source;
use crate::switch::port::DropReason;
use accounting::Accounting;
pub use headroom::HeadroomPool;
pub use spec::{OfRate, OfSwitches, Pool, Spec};

/// State of the pools.
#[derive(Debug)]
pub struct State {
    ingress: Option<Accounting>,
    egress: Option<Accounting>,
    /// By source: bytes in its headroom.
    headroom: Vec<u64>,
    /// What they all share of it, if that is limited.
    headroom_pool: Option<HeadroomPool>,
    /// By port: its share of the ingress pool, and its headroom.
    shares: Vec<PortShare>,
    /// The share of every queue of the egress pool.
    egress_alpha: Option<f64>,
    /// Bit c: class c is lossless.
    lossless: u8,
}

#[derive(Clone, Copy, Debug)]
struct PortShare {
    alpha: Option<f64>,
    headroom: u64,
}

impl Sharing for State {
    type Spec = Spec;

    fn limit(_: &Spec, _: &QueueSpec) -> Limit {
        Limit { of: Holder::Switch, bytes: None, field: "switch.buffer.shared.egress.pool" }
    }

    fn pools(spec: &Spec) -> Option<&Spec> {
        Some(spec)
    }

    fn at(spec: &Spec, switch: &str) -> Option<super::Spec> {
        (!spec.by_switch.is_empty()).then(|| super::Spec::Shared(spec.at(switch)))
    }

    fn check_beside(spec: &Spec, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        spec.check_beside(facts, findings);
    }

    fn new(spec: &Spec, switch: &crate::switch::Spec, rates: &[Rate]) -> Self {
        let share = |&rate: &Rate| PortShare {
            alpha: spec.alpha_at(rate),
            headroom: spec.headroom_at(rate).0,
        };
        let lossless = switch.flow_control.lossless() & super::per_queue::of_data(switch);
        let classes = (0..switch.queue.count).filter(|class| lossless >> class & 1 != 0).count();
        let of_all = || {
            let of_ports = rates.iter().map(|&rate| spec.headroom_at(rate).0);
            of_ports.fold(0, u64::saturating_add).saturating_mul(classes as u64)
        };
        let pool = |size: Bytes| HeadroomPool::new(size.0, of_all());
        Self {
            ingress: spec.ingress.as_ref().map(Accounting::new),
            egress: spec.egress.as_ref().map(Accounting::new),
            headroom: vec![0; rates.len() * CLASSES],
            headroom_pool: spec.headroom_pool.map(pool),
            shares: rates.iter().map(share).collect(),
            egress_alpha: spec.egress.as_ref().and_then(|pool| pool.alpha),
            lossless,
        }
    }

    #[inline]
    fn admit(&self, place: Place<'_>, bytes: u64) -> Result<(), DropReason> {
        let Place { source, ingress, queue, .. } = place;
        self.accepts(source, ingress.held(source), queue.backlog(), bytes)
    }

    #[inline(never)]
    fn join(&mut self, source: Source, held: u64, backlog: u64, bytes: u64) {
        if let Some(egress) = &mut self.egress {
            egress.add(backlog, bytes);
        }
        if let Some(ingress) = &mut self.ingress {
            let in_headroom = &mut self.headroom[source.index()];
            let held = held - *in_headroom;
            if ingress.accepts(self.shares[source.port()].alpha, held, bytes) {
                ingress.add(held, bytes);
            } else {
                *in_headroom += bytes;
                if let Some(pool) = &mut self.headroom_pool {
                    pool.add(bytes);
                }
            }
        }
    }

    #[inline(never)]
    fn leave(&mut self, source: Source, held: u64, backlog: u64, bytes: u64) {
        if let Some(egress) = &mut self.egress {
            egress.remove(backlog, bytes);
        }
        if let Some(ingress) = &mut self.ingress {
            let in_headroom = &mut self.headroom[source.index()];
            let from_headroom = bytes.min(*in_headroom);
            ingress.remove(held - *in_headroom, bytes - from_headroom);
            *in_headroom -= from_headroom;
            if let Some(pool) = &mut self.headroom_pool {
                pool.remove(from_headroom);
            }
        }
    }

    #[inline]
    fn pass(&mut self, source: Source, held: u64, bytes: u64) {
        if let (Some(pool), Some(ingress)) = (&mut self.headroom_pool, &self.ingress) {
            let held = held - self.headroom[source.index()];
            if !ingress.accepts(self.shares[source.port()].alpha, held, bytes) {
                pool.pass(bytes);
            }
        }
    }

    #[inline(never)]
    fn share(&self, source: Source, held: u64) -> Share {
        let alpha = self.shares[source.port()].alpha;
        let threshold = self.ingress.as_ref().map_or(f64::INFINITY, |pool| pool.threshold(alpha));
        Share { held, in_headroom: self.headroom[source.index()], threshold }
    }

    fn headroom_pool(&self) -> Option<&HeadroomPool> {
        self.headroom_pool.as_ref()
    }

    fn audit(&self, held: &[u64], backlogs: impl Iterator<Item = u64>, wrong: &mut Vec<String>) {
        let over = |(held, headroom): (&u64, &u64)| headroom > held;
        if held.iter().zip(&self.headroom).any(over) {
            wrong.push("more bytes are in the headroom than were let in".to_owned());
            return;
        }
        let in_headroom = self.headroom.iter().sum();
        wrong.extend(self.headroom_pool.as_ref().and_then(|pool| pool.audit(in_headroom)));
        let beside = held.iter().zip(&self.headroom).map(|(held, headroom)| held - headroom);
        let mut check =
            |pool: &Option<Accounting>, name, holdings: &mut dyn Iterator<Item = u64>| {
                wrong.extend(pool.as_ref().and_then(|pool| pool.audit(name, holdings)));
            };
        check(&self.ingress, "ingress", &mut { beside });
        check(&self.egress, "egress", &mut { backlogs });
    }
}

impl State {
    /// The source holds `held` bytes, including headroom, and the queue holds `backlog` bytes.
    #[inline(never)]
    fn accepts(
        &self,
        source: Source,
        held: u64,
        backlog: u64,
        bytes: u64,
    ) -> Result<(), DropReason> {
        if self
            .egress
            .as_ref()
            .is_some_and(|egress| !egress.accepts(self.egress_alpha, backlog, bytes))
        {
            return Err(DropReason::EgressThreshold);
        }
        let Some(ingress) = &self.ingress else { return Ok(()) };
        let in_headroom = self.headroom[source.index()];
        let share = self.shares[source.port()];
        if ingress.accepts(share.alpha, held - in_headroom, bytes) {
            Ok(())
        } else if self.lossless >> source.class() & 1 == 0 {
            Err(DropReason::IngressThreshold)
        } else if in_headroom + bytes <= share.headroom
            && self.headroom_pool.as_ref().is_none_or(|pool| pool.has_room(bytes))
        {
            Ok(())
        } else {
            Err(DropReason::HeadroomExceeded)
        }
    }
}

#[cfg(test)]
mod tests;
