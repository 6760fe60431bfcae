//! Shares that differ between queues and classes, as switches have a buffer profile for each queue and priority
//! group.

use floodway_model::check::Findings;
use floodway_model::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spec::{ALPHA, Pool, Spec};
use crate::switch::check::Facts;

/// What these queues may hold, and at the ingress the classes of the same numbers. What is left out is as for
/// other queues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OfQueues {
    /// Data queues, counted from 0.
    pub queues: Vec<u8>,
    /// `ingress.alpha` of these classes, at ports of all rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_alpha: Option<f64>,
    /// `ingress.guaranteed` of these classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_guaranteed: Option<Bytes>,
    /// `egress.alpha` of these queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_alpha: Option<f64>,
    /// `egress.guaranteed` of these queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_guaranteed: Option<Bytes>,
    /// The size of an egress pool that these queues of all ports share alone. Default none: they share
    /// `egress.pool` with all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_pool: Option<Bytes>,
}

impl OfQueues {
    /// The fields about one side, without the prefix, and whether they are there.
    fn of_side(&self, side: &str) -> Vec<String> {
        let ingress = [
            ("alpha", self.ingress_alpha.is_some()),
            ("guaranteed", self.ingress_guaranteed.is_some()),
            ("pool", false),
        ];
        let egress = [
            ("alpha", self.egress_alpha.is_some()),
            ("guaranteed", self.egress_guaranteed.is_some()),
            ("pool", self.egress_pool.is_some()),
        ];
        let fields = if side == "ingress" { ingress } else { egress };
        fields.iter().filter(|of| of.1).map(|of| format!("{side}_{}", of.0)).collect()
    }
}

/// What is wrong with the entries alone.
pub(super) fn check(spec: &Spec, findings: &mut Findings<'_>) {
    for (number, of) in spec.by_queue.iter().enumerate() {
        let findings = &mut findings.within(format!("by_queue.{number}"));
        let sides = [("ingress", spec.ingress.is_some()), ("egress", spec.egress.is_some())];
        let fields = sides.map(|(side, _)| of.of_side(side));
        if of.queues.is_empty() {
            findings.idle("", "it names no queue");
        } else if fields.iter().all(Vec::is_empty) {
            findings.idle("", "it has no share, no guarantee and no pool");
        }
        for ((side, is_there), fields) in sides.into_iter().zip(fields) {
            if let Some(field) = fields.first().filter(|_| !is_there) {
                findings.error(
                    field.as_str(),
                    format!("`{field}` is a share of the {side} pool, which is not there"),
                    format!("write [switch.buffer.shared.{side}], or remove `{field}`"),
                );
            }
        }
        for (field, alpha) in
            [("ingress_alpha", of.ingress_alpha), ("egress_alpha", of.egress_alpha)]
        {
            findings.positive(field, alpha, ALPHA);
        }
        let own = "remove it, and these queues share `egress.pool`";
        findings.positive("egress_pool", of.egress_pool, own);
        for (index, queue) in of.queues.iter().enumerate() {
            let earlier = spec.by_queue[..number].iter().any(|other| other.queues.contains(queue));
            if earlier || of.queues[..index].contains(queue) {
                findings.error(
                    &format!("queues.{index}"),
                    format!("queue {queue} has two shares"),
                    "write every queue once",
                );
            }
        }
    }
}

/// What is wrong with the entries beside the rest of the switch.
pub(super) fn check_beside(spec: &Spec, facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for (number, of) in spec.by_queue.iter().enumerate() {
        let place = format!("by_queue.{number}");
        facts.check_queues(&format!("{place}.queues"), &of.queues, findings);
        let (Some(frame), Some(&queue)) = (facts.largest_occupied(), of.queues.first()) else {
            continue;
        };
        let own = spec.for_queue(queue);
        for (side, pool) in [("ingress", &own.ingress), ("egress", &own.egress)] {
            let Some(pool) = pool.as_ref().filter(|_| !of.of_side(side).is_empty()) else {
                continue;
            };
            let least = Bytes(frame.into());
            let guaranteed = match side {
                "ingress" => of.ingress_guaranteed,
                _ => of.egress_guaranteed,
            };
            if let Some(bytes) = guaranteed.filter(|bytes| *bytes > Bytes(0) && *bytes < least) {
                findings.error(
                    &format!("{place}.{side}_guaranteed"),
                    format!("a guarantee of {bytes} cannot hold one frame of {frame} bytes"),
                    format!("write at least {least}, or 0B for none"),
                );
            } else if let Some(most) = pool.takes_no_frame(frame).filter(|_| pool.pool > Bytes(0)) {
                findings.error(
                    &place,
                    format!(
                        "no frame of {frame} bytes would ever be taken: nothing is guaranteed, and {most}"
                    ),
                    "raise the pool or alpha, or guarantee at least one frame",
                );
            }
        }
    }
}

impl Spec {
    /// The entry about a queue, if there is one.
    pub fn of_queue(&self, queue: u8) -> Option<&OfQueues> {
        self.by_queue.iter().find(|of| of.queues.contains(&queue))
    }

    /// As if all queues had what this one has.
    #[must_use]
    pub fn for_queue(&self, queue: u8) -> Self {
        let mut own = Self { by_queue: Vec::new(), ..self.clone() };
        let Some(of) = self.of_queue(queue) else { return own };
        if let Some(pool) = &mut own.ingress {
            pool.alpha = of.ingress_alpha.or(pool.alpha);
            pool.guaranteed = of.ingress_guaranteed.unwrap_or(pool.guaranteed);
        }
        if let Some(alpha) = of.ingress_alpha {
            own.by_rate.iter_mut().for_each(|of_rate| of_rate.alpha = alpha);
        }
        if let Some(pool) = &mut own.egress {
            pool.alpha = of.egress_alpha.or(pool.alpha);
            pool.guaranteed = of.egress_guaranteed.unwrap_or(pool.guaranteed);
            pool.pool = of.egress_pool.unwrap_or(pool.pool);
        }
        own
    }

    /// The ingress pool as a class at a port of this rate has it.
    pub(super) fn ingress_of(&self, rate: Rate, class: u8) -> Option<Pool> {
        let own = self.for_queue(class);
        let alpha = own.alpha_at(rate);
        own.ingress.map(|pool| Pool { alpha, ..pool })
    }

    /// The egress pool as a queue has it.
    pub(super) fn egress_of(&self, queue: u8) -> Option<Pool> {
        self.for_queue(queue).egress
    }
}
