use floodway_model::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters. A frame must be accepted by both books. A book that is not there accepts everything,
/// which is how memory that only one side limits is written; `false` removes one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The book by ingress port and class. Default none: the ingress has no limit.
    pub ingress: Option<Pool>,
    /// The book by egress port and queue, of lossless classes too. Default none: the egress has no
    /// limit.
    pub egress: Option<Pool>,
    /// The most bytes of each ingress port and lossless class above its threshold in the ingress
    /// book, in memory of their own. Default 0B.
    pub headroom: Bytes,
    /// Other shares for ingress ports of these rates, for example larger ones for faster ports. Default
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_rate: Vec<OfRate>,
    /// Other pools for switches of these names. Default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_switch: Vec<OfSwitches>,
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

    /// `alpha` in the ingress book for a port of this rate; `None` is complete sharing.
    pub fn alpha_at(&self, rate: Rate) -> Option<f64> {
        let of_all = self.ingress.as_ref().and_then(|pool| pool.alpha);
        self.of_rate(rate).map_or(of_all, |of| Some(of.alpha))
    }
}

/// One book of a shared memory. A port and class, or a port and queue, that holds q bytes may take a
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
