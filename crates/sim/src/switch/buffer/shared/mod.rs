//! A shared buffer. The same bytes are counted at the ingress, by (port, class), and at the egress, by
//! (port, queue), each with a pool that is shared by dynamic thresholds. Above its ingress threshold,
//! a lossless class has headroom.
//!
//! Headroom is accounted separately. A departing frame is taken from the headroom first, so that the
//! headroom is empty when the neighbor resumes and may need it again. The HPCC authors' simulator
//! does the same (`SwitchMmu`). Ports and classes may share a pool of headroom, which limits them together
//! beside their own limits. The egress accounting counts bytes in the headroom like all others.

mod accounting;
mod by_queue;
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
use accounting::{Accounting, Terms};
pub use by_queue::OfQueues;
pub use headroom::HeadroomPool;
pub use spec::{OfRate, OfSwitches, Pool, Spec};

/// State of the pools.
#[derive(Debug)]
pub struct State {
    ingress: Option<Accounting>,
    egress: Option<Accounting>,
    /// Egress pools of some queues alone (`by_queue`).
    own_egress: Vec<Accounting>,
    /// By source: bytes in its headroom.
    headroom: Vec<u64>,
    /// What they all share of it, if that is limited.
    headroom_pool: Option<HeadroomPool>,
    /// By source: its share of the ingress pool, and its headroom.
    shares: Vec<SourceShare>,
    /// By data queue: its share of an egress pool, and of which.
    of_queue: [QueueShare; CLASSES],
    /// Data queues of a port.
    queues: usize,
    /// Bit c: class c is lossless.
    lossless: u8,
}

#[derive(Clone, Copy, Debug)]
struct SourceShare {
    terms: Terms,
    headroom: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct QueueShare {
    terms: Terms,
    /// Which of `own_egress`; `None` is the pool of all other queues.
    own: Option<u8>,
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
        let share = |rate: Rate, class: usize| {
            let pool = spec.ingress_of(rate, class as u8);
            SourceShare { terms: terms(pool.as_ref()), headroom: spec.headroom_at(rate).0 }
        };
        let lossless = switch.flow_control.lossless() & super::per_queue::of_data(switch);
        let classes = (0..switch.queue.count).filter(|class| lossless >> class & 1 != 0).count();
        let of_all = || {
            let of_ports = rates.iter().map(|&rate| spec.headroom_at(rate).0);
            of_ports.fold(0, u64::saturating_add).saturating_mul(classes as u64)
        };
        let pool = |size: Bytes| HeadroomPool::new(size.0, of_all());
        let shares =
            rates.iter().flat_map(|&rate| (0..CLASSES).map(move |class| share(rate, class)));
        let mut own_egress = Vec::new();
        let mut of_queue = [QueueShare::default(); CLASSES];
        for (queue, of) in of_queue.iter_mut().enumerate() {
            of.terms = terms(spec.egress_of(queue as u8).as_ref());
        }
        for of in &spec.by_queue {
            let Some(pool) = of.egress_pool else { continue };
            for &queue in of.queues.iter().filter(|&&queue| usize::from(queue) < CLASSES) {
                of_queue[usize::from(queue)].own = Some(own_egress.len() as u8);
            }
            own_egress.push(Accounting::new(&Pool { pool, ..Pool::default() }));
        }
        Self {
            ingress: spec.ingress.as_ref().map(Accounting::new),
            egress: spec.egress.as_ref().map(Accounting::new),
            own_egress,
            headroom: vec![0; rates.len() * CLASSES],
            headroom_pool: spec.headroom_pool.map(pool),
            shares: shares.collect(),
            of_queue,
            queues: switch.queue.count.max(1).into(),
            lossless,
        }
    }

    #[inline]
    fn admit(&self, place: Place<'_>, bytes: u64) -> Result<(), DropReason> {
        let Place { source, ingress, queue, number, .. } = place;
        self.accepts(source, ingress.held(source), (number, queue.backlog()), bytes)
    }

    #[inline(never)]
    fn join(&mut self, source: Source, held: u64, queue: (usize, u64), bytes: u64) {
        let (number, backlog) = queue;
        let QueueShare { terms, own } = self.of_queue[number];
        if let Some(egress) = self.egress_mut(own) {
            egress.add(terms, backlog, bytes);
        }
        if let Some(ingress) = &mut self.ingress {
            let in_headroom = &mut self.headroom[source.index()];
            let held = held - *in_headroom;
            let terms = self.shares[source.index()].terms;
            if ingress.accepts(terms, held, bytes) {
                ingress.add(terms, held, bytes);
            } else {
                *in_headroom += bytes;
                if let Some(pool) = &mut self.headroom_pool {
                    pool.add(bytes);
                }
            }
        }
    }

    #[inline(never)]
    fn leave(&mut self, source: Source, held: u64, queue: (usize, u64), bytes: u64) {
        let (number, backlog) = queue;
        let QueueShare { terms, own } = self.of_queue[number];
        if let Some(egress) = self.egress_mut(own) {
            egress.remove(terms, backlog, bytes);
        }
        if let Some(ingress) = &mut self.ingress {
            let in_headroom = &mut self.headroom[source.index()];
            let from_headroom = bytes.min(*in_headroom);
            let terms = self.shares[source.index()].terms;
            ingress.remove(terms, held - *in_headroom, bytes - from_headroom);
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
            if !ingress.accepts(self.shares[source.index()].terms, held, bytes) {
                pool.pass(bytes);
            }
        }
    }

    #[inline(never)]
    fn share(&self, source: Source, held: u64) -> Share {
        let terms = self.shares[source.index()].terms;
        let threshold = self.ingress.as_ref().map_or(f64::INFINITY, |pool| pool.threshold(terms));
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
        let shares = self.shares.iter().map(|share| share.terms);
        let beside = held.iter().zip(&self.headroom).map(|(held, headroom)| held - headroom);
        let mut check = |pool: &Accounting, name, holdings: &mut dyn Iterator<Item = _>| {
            wrong.extend(pool.audit(name, holdings));
        };
        if let Some(pool) = &self.ingress {
            check(pool, "ingress", &mut shares.zip(beside));
        }
        let numbered = backlogs.enumerate();
        let backlogs: Vec<(QueueShare, u64)> =
            numbered.map(|(at, bytes)| (self.of_queue[at % self.queues], bytes)).collect();
        let numbers = (0..self.own_egress.len()).map(|own| Some(own as u8));
        for own in numbers.chain([None]) {
            if let Some(pool) = self.egress(own) {
                let here = backlogs.iter().filter(|(share, _)| share.own == own);
                check(pool, "egress", &mut here.map(|(share, bytes)| (share.terms, *bytes)));
            }
        }
    }
}

/// What a holder has of its pool; nothing counts if there is none.
fn terms(pool: Option<&Pool>) -> Terms {
    pool.map_or(Terms::default(), |pool| Terms { alpha: pool.alpha, guaranteed: pool.guaranteed.0 })
}

impl State {
    #[inline]
    fn egress(&self, own: Option<u8>) -> Option<&Accounting> {
        match own {
            None => self.egress.as_ref(),
            Some(own) => self.own_egress.get(usize::from(own)),
        }
    }

    #[inline]
    fn egress_mut(&mut self, own: Option<u8>) -> Option<&mut Accounting> {
        match own {
            None => self.egress.as_mut(),
            Some(own) => self.own_egress.get_mut(usize::from(own)),
        }
    }

    /// The source holds `held` bytes, including headroom, and the data queue of this number holds
    /// `backlog` bytes.
    #[inline(never)]
    fn accepts(
        &self,
        source: Source,
        held: u64,
        (number, backlog): (usize, u64),
        bytes: u64,
    ) -> Result<(), DropReason> {
        let QueueShare { terms, own } = self.of_queue[number];
        if self.egress(own).is_some_and(|egress| !egress.accepts(terms, backlog, bytes)) {
            return Err(DropReason::EgressThreshold);
        }
        let Some(ingress) = &self.ingress else { return Ok(()) };
        let in_headroom = self.headroom[source.index()];
        let share = self.shares[source.index()];
        if ingress.accepts(share.terms, held - in_headroom, bytes) {
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
