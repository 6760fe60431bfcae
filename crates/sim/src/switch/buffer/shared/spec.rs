use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::by_queue::{self, OfQueues};
use crate::switch::check::{CheckBeside, Facts};

/// Parameters. A frame must be accepted by both pools, that of its ingress and that of its egress. A
/// pool that is not there accepts everything, so a buffer may be limited on one side only; `false`
/// removes one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The pool that accounts by ingress port and class. Default none: the ingress has no limit.
    pub ingress: Option<Pool>,
    /// The pool that accounts by egress port and queue, of lossless classes too. Default none: the
    /// egress has no limit.
    pub egress: Option<Pool>,
    /// The most bytes of each ingress port and lossless class above its threshold in the ingress
    /// pool, in memory of their own. Default 0B.
    pub headroom: Bytes,
    /// The most bytes of all ports and lossless classes together above their thresholds: a pool of headroom that
    /// they share, of which each may use up to `headroom`. Less than the sum of these is oversubscribed
    /// (SONiC: `xoff` of `BUFFER_POOL`). Default none: each has its headroom to itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom_pool: Option<Bytes>,
    /// Other shares for ingress ports of these rates, for example larger ones for faster ports. Default
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_rate: Vec<OfRate>,
    /// Other shares for these queues and classes, for example of lossy traffic beside lossless. Default
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_queue: Vec<OfQueues>,
    /// Other pools for switches of these names. Default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_switch: Vec<OfSwitches>,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        for (book, pool) in [("ingress", &self.ingress), ("egress", &self.egress)] {
            if let Some(pool) = pool {
                pool.check(&mut findings.within(book));
            }
        }
        if let Some(pool) = self.headroom_pool {
            findings.positive(
                "headroom_pool",
                pool,
                "leave it out for headroom that is not shared",
            );
        }
        for (number, of) in self.by_rate.iter().enumerate() {
            let findings = &mut findings.within(format!("by_rate.{number}"));
            findings.positive("alpha", of.alpha, ALPHA);
            if self.by_rate[..number].iter().any(|earlier| earlier.rate == of.rate) {
                findings.error(
                    "rate",
                    format!("ports of {} have two shares", of.rate),
                    "write every rate once",
                );
            }
        }
        by_queue::check(self, findings);
        if self.by_switch.is_empty() {
            findings.idle("by_switch", "it is empty");
        }
        for (number, of) in self.by_switch.iter().enumerate() {
            let findings = &mut findings.within(format!("by_switch.{number}"));
            if of.switches.is_empty() {
                findings.idle("", "it names no switch");
            } else if of.pools().iter().all(Option::is_none) {
                findings.idle("", "it has no `ingress_pool`, `egress_pool` or `headroom_pool`");
            }
        }
        if self.ingress.is_none() && self.egress.is_none() {
            findings.warn(
                "",
                "neither the ingress nor the egress limits the buffer, so it is infinite",
                "write [switch.buffer.shared.egress] or [switch.buffer.shared.ingress]",
            );
        }
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        if let Some(frame) = facts.largest_occupied() {
            for (book, pool) in [("ingress", &self.ingress), ("egress", &self.egress)] {
                if let Some(pool) = pool {
                    pool.check_frame(frame, &mut findings.within(book));
                }
            }
        }
        by_queue::check_beside(self, facts, findings);
        let control = &facts.switch.flow_control;
        let cause = match &self.ingress {
            None => "the ingress has no limit",
            Some(_) if control.pfc.is_none() && control.pause.is_none() => {
                "without PFC or PAUSE no class is lossless"
            }
            Some(_) => return,
        };
        if self.headroom > Bytes(0) {
            findings.warn(
                "headroom",
                format!("the headroom of {} is never used: {cause}", self.headroom),
                "headroom is for lossless classes that are above their threshold in the ingress pool: \
                 leave it out",
            );
        }
        if let Some(pool) = self.headroom_pool {
            findings.warn(
                "headroom_pool",
                format!("the headroom pool of {pool} is never used: {cause}"),
                "headroom is for lossless classes that are above their threshold in the ingress pool: \
                 leave it out",
            );
        }
    }
}

/// What a share of a pool is.
pub(super) const ALPHA: &str =
    "alpha times what is free is the most that one may hold of the pool; switches have 1/128 to 8";

impl Check for Pool {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("pool", self.pool, "remove the table for no such limit");
        findings.positive(
            "alpha",
            self.alpha,
            &format!("{ALPHA}, and false lets one hold all of it"),
        );
    }
}

impl Pool {
    /// Whether it takes frames of this length.
    pub(super) fn check_frame(&self, frame: u16, findings: &mut Findings<'_>) {
        let least = Bytes(frame.into());
        if self.guaranteed > Bytes(0) && self.guaranteed < least {
            findings.error(
                "guaranteed",
                format!(
                    "a guarantee of {} cannot hold one frame of {frame} bytes",
                    self.guaranteed
                ),
                format!("write at least {least}, or 0B for none"),
            );
        } else if let Some(most) = self.takes_no_frame(frame).filter(|_| self.is_possible()) {
            findings.error(
                ["pool", "alpha"],
                format!(
                    "no frame of {frame} bytes would ever be taken: nothing is guaranteed, and {most}"
                ),
                "raise the pool or alpha, or guarantee at least one frame",
            );
        }
    }

    fn is_possible(&self) -> bool {
        self.pool > Bytes(0) && self.alpha.is_none_or(|alpha| alpha > 0.0)
    }

    /// Why it takes no frame of this length, if it takes none.
    pub fn takes_no_frame(&self, frame: u16) -> Option<String> {
        let part = self.alpha.map_or(1.0, |alpha| alpha.min(1.0));
        let least = u64::from(frame);
        if self.guaranteed.0 >= least || part * (self.pool.0 as f64) >= least as f64 {
            return None;
        }
        Some(match self.alpha {
            Some(alpha) => format!("alpha {alpha} of a pool of {} is less", self.pool),
            None => format!("the pool of {} is less", self.pool),
        })
    }
}

/// The pools of some switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSwitches {
    /// Their names.
    pub switches: Vec<String>,
    /// `ingress.pool` there. Default as elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress_pool: Option<Bytes>,
    /// `egress.pool` there. Default as elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress_pool: Option<Bytes>,
    /// `headroom_pool` there. Default as elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom_pool: Option<Bytes>,
}

impl OfSwitches {
    /// The sizes that it gives: of the ingress pool, of the egress pool and of the headroom pool.
    pub fn pools(&self) -> [Option<Bytes>; 3] {
        [self.ingress_pool, self.egress_pool, self.headroom_pool]
    }
}

/// What ingress ports of one rate may hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfRate {
    /// The rate of the port.
    pub rate: Rate,
    /// `ingress.alpha` there.
    pub alpha: f64,
    /// `headroom` there.
    pub headroom: Bytes,
}

impl Spec {
    /// With the pools of the switch of this name.
    pub fn at(&self, name: &str) -> Self {
        let mut own = self.clone();
        let is_named = |of: &&OfSwitches| of.switches.iter().any(|switch| switch == name);
        if let Some(of) = self.by_switch.iter().find(is_named) {
            for (book, pool) in
                [(&mut own.ingress, of.ingress_pool), (&mut own.egress, of.egress_pool)]
            {
                if let (Some(book), Some(pool)) = (book, pool) {
                    book.pool = pool;
                }
            }
            own.headroom_pool = own.headroom_pool.and(of.headroom_pool.or(own.headroom_pool));
        }
        own
    }

    fn of_rate(&self, rate: Rate) -> Option<&OfRate> {
        self.by_rate.iter().find(|of| of.rate == rate)
    }

    /// The headroom of a port and lossless class behind a link of this rate.
    pub fn headroom_at(&self, rate: Rate) -> Bytes {
        self.of_rate(rate).map_or(self.headroom, |of| of.headroom)
    }

    /// `alpha` in the ingress pool for a port of this rate; `None` is complete sharing.
    pub fn alpha_at(&self, rate: Rate) -> Option<f64> {
        let of_all = self.ingress.as_ref().and_then(|pool| pool.alpha);
        self.of_rate(rate).map_or(of_all, |of| Some(of.alpha))
    }
}

/// One pool of a shared buffer. A port and class, or a port and queue, that holds q bytes may take a
/// frame of n bytes if q + n is at most `guaranteed`; or else if what q is above `guaranteed`, plus
/// n, is at most `alpha` times the free bytes of the pool, and the pool has room (Choudhury and
/// Hahne, IEEE/ACM ToN 1998).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pool {
    /// Bytes that are shared. Default 16MB (Source Flow Control deck, egress).
    pub pool: Bytes,
    /// Bytes that each has of its own, beside the pool. Default 50KB (same deck: per port, with one
    /// data queue).
    pub guaranteed: Bytes,
    /// How many times the free bytes of the pool one may hold of it, above 0. With n that want all
    /// they can get, each has alpha / (1 + alpha n) of the pool. `false` is complete sharing: the pool
    /// is the only limit, and one may take all of it. Default 1 (same deck).
    pub alpha: Option<f64>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { pool: Bytes(16_000_000), guaranteed: Bytes(50_000), alpha: Some(1.0) }
    }
}

impl Pool {
    /// The most that each of `count` can hold if all of them want all that they can get, to a frame.
    pub fn fair(&self, count: u64) -> Bytes {
        let pool = self.pool.0 as f64;
        let share = match self.alpha {
            Some(alpha) => alpha * pool / (1.0 + alpha * count as f64),
            None => pool / count as f64,
        };
        Bytes(self.guaranteed.0.saturating_add(share as u64))
    }
}
