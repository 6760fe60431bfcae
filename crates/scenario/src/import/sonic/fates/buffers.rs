//! Pools, their profiles, and who has them.

use super::super::config::{Entry, plain};
use super::super::plan::{Plan, Pool};
use super::super::switch::{Profile, Threshold, is_null};
use super::maps::LEFT_OUT;
use super::{Said, View, compared, said};
use crate::import::account::Fate;

use Fate::{Differs, Kept, Nothing};

const XON: &str = "the neighbor goes on `xon_offset` below the dynamic threshold; SAI also lets it go on at `xon`, if that is higher";

/// What becomes of queues if that of the flows has no profile.
const NO_EGRESS: &str =
    "the queue of the scenario's flows has no profile, and here no queue has an egress pool";

/// One side of a switch.
#[derive(Clone, Copy)]
enum Side {
    Ingress,
    Egress,
}

/// What a class has on one side: its values, and whether each is its own.
struct Chosen<'a> {
    side: Side,
    pool: (&'a str, bool),
    size: u64,
    threshold: (Threshold, bool),
    guaranteed: (u64, bool),
}

impl Chosen<'_> {
    /// The field that has a value.
    fn path(&self, field: &str, is_own: bool) -> String {
        let side = match self.side {
            Side::Ingress => "ingress",
            Side::Egress => "egress",
        };
        match is_own {
            true => format!("`switch.buffer.shared.by_queue.{side}_{field}`"),
            false => format!("`switch.buffer.shared.{side}.{field}`"),
        }
    }
}

impl View<'_> {
    /// A field of `BUFFER_POOL`.
    pub fn pool(&self, entry: &Entry, field: &str) -> Said {
        let is = |pool: &Option<Pool>| pool.as_ref().is_some_and(|pool| pool.name == entry.key);
        let side = match (is(&self.plan.ingress), is(&self.plan.egress)) {
            (true, _) => "ingress",
            (_, true) => "egress",
            _ => return self.own_pool(entry, field),
        };
        match field {
            "size" => said(Kept, format!("`switch.buffer.shared.{side}.pool`")),
            "type" => said(Kept, format!("`switch.buffer.shared.{side}`")),
            "mode" => said(Kept, MODE),
            "xoff" if side == "ingress" && entry.get("xoff").map(plain) == Some("0") => {
                said(Nothing, "every lossless group has its headroom to itself")
            }
            "xoff" if side == "ingress" && !self.plan.headroom_pools.is_empty() => {
                said(Kept, "`switch.buffer.shared.headroom_pool`")
            }
            "xoff" => said(Nothing, "no lossless group has headroom of this pool"),
            _ => said(Nothing, "floodway does not read this field"),
        }
    }

    /// An egress pool that some classes have alone.
    fn own_pool(&self, entry: &Entry, field: &str) -> Said {
        let mut pools = self.plan.own.iter().filter_map(|own| own.pool.as_ref());
        let Some((_, size)) = pools.find(|(name, _)| *name == entry.key) else {
            return said(Nothing, "no class of the scenario takes from this pool");
        };
        let path = "`switch.buffer.shared.by_queue.egress_pool`";
        match field {
            "size" if entry.get("size").map(plain) != Some(&size.bytes().to_string()) => said(
                Differs,
                format!("{path} is {} at all switches: that of the first of them", size.bytes()),
            ),
            "size" | "type" => said(Kept, path),
            "mode" => said(Kept, MODE),
            _ => said(Nothing, "floodway does not read this field"),
        }
    }

    /// A field of `BUFFER_PROFILE`.
    pub fn profile(&self, entry: &Entry, field: &str) -> Said {
        let name = entry.key.as_str();
        if !self.is_used("BUFFER_PROFILE", name) {
            return said(Nothing, "no group and no queue has this profile");
        }
        let plan = self.plan;
        if let Some((port, queue)) = self.lossless.get(name) {
            let share = plan.groups.get(&port.rate);
            let group = port.lossless.get(queue).zip(plan.class(*queue));
            let Some((share, (group, class))) = share.zip(group) else {
                return said(Nothing, LEFT_OUT);
            };
            let profile = &group.profile;
            return match field {
                "xoff" => compared(
                    profile.xoff == Some(share.headroom),
                    "`switch.buffer.shared.headroom`",
                    share.headroom,
                ),
                "xon" if profile.xon == 0 => said(Kept, "none"),
                "xon" => said(Differs, XON),
                "xon_offset" => compared(
                    profile.xon_offset == plan.xon_offset,
                    "`switch.flow_control.pfc.xon_offset`",
                    plan.xon_offset,
                ),
                _ => self.arrival(class, port.rate).map_or_else(
                    || said(Differs, "there is no ingress pool"),
                    |chosen| side(plan, field, profile, profile.guaranteed(), &chosen),
                ),
            };
        }
        if let Some((profile, queues)) = self.departures.get(name) {
            if plan.egress.is_none() {
                return said(Differs, NO_EGRESS);
            }
            let chosen = queues.iter().filter_map(|queue| self.departure(plan.class(*queue)?));
            let fates = chosen.map(|chosen| side(plan, field, profile, profile.size, &chosen));
            return worst(fates).unwrap_or_else(|| said(Nothing, LEFT_OUT));
        }
        if let Some((profile, queues)) = self.arrivals.get(name) {
            let ports = &self.switch.ports;
            let chosen = queues.iter().flat_map(|queue| {
                let has = |port: &&super::Port| {
                    let arrival = port.queues[usize::from(*queue)].arrival.as_ref();
                    arrival.is_some_and(|of| of.name == name)
                };
                ports
                    .iter()
                    .filter(has)
                    .filter_map(|port| self.arrival(plan.class(*queue)?, port.rate))
            });
            let fates = chosen.map(|chosen| side(plan, field, profile, profile.size, &chosen));
            return worst(fates).unwrap_or_else(|| said(Nothing, LEFT_OUT));
        }
        said(Nothing, "no class of the scenario arrives in a group or waits in a queue that has it")
    }

    fn arrival(&self, class: usize, rate: floodway_model::Rate) -> Option<Chosen<'_>> {
        let pool = self.plan.ingress.as_ref()?;
        let terms = self.plan.own(class).map(|own| own.terms).unwrap_or_default();
        let (threshold, guaranteed) = self.plan.arrival(class, rate)?;
        Some(Chosen {
            side: Side::Ingress,
            pool: (&pool.name, false),
            size: pool.size(),
            threshold: (threshold, terms.ingress.is_some()),
            guaranteed: (guaranteed, terms.ingress_guaranteed.is_some()),
        })
    }

    fn departure(&self, class: usize) -> Option<Chosen<'_>> {
        let own = self.plan.own(class);
        let terms = own.map(|own| own.terms).unwrap_or_default();
        let alone = own.and_then(|own| own.pool.as_ref());
        let (pool, threshold, guaranteed) = self.plan.departure(class)?;
        let of_all = || self.plan.egress.as_ref().map_or(0, Pool::size);
        Some(Chosen {
            side: Side::Egress,
            pool: (pool, alone.is_some()),
            size: alone.map_or_else(of_all, |(_, size)| size.bytes()),
            threshold: (threshold, terms.egress.is_some()),
            guaranteed: (guaranteed, terms.egress_guaranteed.is_some()),
        })
    }

    /// A field of `BUFFER_PG`.
    pub fn group(&self, entry: &Entry, field: &str) -> Said {
        let (ports, numbers) = match entry.ports() {
            Ok(named) => named,
            Err(wrong) => return said(Nothing, wrong.message),
        };
        if let Some(left_out) = self.left_out(&ports) {
            return left_out;
        }
        if field != "profile" {
            return said(Nothing, "floodway does not read this field");
        }
        let port = ports.iter().find_map(|port| self.ports.get(port));
        let has = |number: u8| {
            port.is_some_and(|port| port.lossless.values().any(|group| group.number == number))
        };
        match (numbers.clone().any(has), is_null(entry)) {
            (true, true) => said(
                Differs,
                "the switch computes the profile when it runs: see `BUFFER_PG profile` below",
            ),
            (true, false) => said(Kept, "the share and the headroom of lossless classes"),
            (false, _) => said(Kept, "the share of lossy classes at the ingress"),
        }
    }

    /// The field `profile` of `BUFFER_QUEUE`.
    pub fn buffer(&self) -> Said {
        match self.plan.egress.is_some() {
            true => said(Kept, "the share of the egress pool"),
            false => said(Differs, NO_EGRESS),
        }
    }
}

const MODE: &str = "profiles have dynamic or static thresholds";

/// What differs of several, or else the first.
fn worst(mut fates: impl Iterator<Item = Said>) -> Option<Said> {
    let first = fates.next()?;
    if first.0 == Differs {
        return Some(first);
    }
    Some(fates.find(|(fate, _)| *fate == Differs).unwrap_or(first))
}

/// A field of a profile of a group or a queue, and what the scenario has for its class.
fn side(plan: &Plan, field: &str, own: &Profile, bytes: u64, chosen: &Chosen<'_>) -> Said {
    let (pool, threshold, guaranteed) = (chosen.pool, chosen.threshold, chosen.guaranteed);
    match field {
        "pool" if own.pool != pool.0 && matches!(chosen.side, Side::Ingress) => said(
            Differs,
            format!(
                "{}: at the ingress there is one pool for all classes",
                chosen.path("pool", false)
            ),
        ),
        "pool" => compared(own.pool == pool.0, &chosen.path("pool", pool.1), "another one"),
        "size" if plan.usable(bytes) != plan.usable(guaranteed.0) => {
            let path = chosen.path("guaranteed", guaranteed.1);
            compared(false, &path, plan.usable(guaranteed.0))
        }
        "size" if plan.usable(bytes) != bytes => said(
            Differs,
            format!(
                "{} is 0B: a guarantee takes a whole frame here, of {} bytes or more",
                chosen.path("guaranteed", guaranteed.1),
                plan.frame
            ),
        ),
        "size" => said(Kept, chosen.path("guaranteed", guaranteed.1)),
        "dynamic_th" => {
            let path = format!("{}, 2 to this power", chosen.path("alpha", threshold.1));
            compared(own.threshold == Some(threshold.0), &path, "another one")
        }
        "static_th"
            if own.threshold.map(|of| of.alpha(chosen.size))
                != Some(threshold.0.alpha(chosen.size)) =>
        {
            compared(false, &chosen.path("alpha", threshold.1), "another one")
        }
        "static_th" => {
            let path = chosen.path("alpha", threshold.1);
            match (threshold.0.alpha(chosen.size), threshold.1) {
                (None, false) => said(Kept, format!("{path} = false: no threshold below the pool")),
                (None, true) => {
                    said(Kept, format!("{path}, so large that only the pool is a threshold"))
                }
                (Some(alpha), _) => said(
                    Differs,
                    format!("{path} = {alpha:.4}, with which one queue alone may hold as much"),
                ),
            }
        }
        "xoff" | "xon" | "xon_offset" => said(Nothing, "only lossless groups have headroom"),
        _ => said(Nothing, "floodway does not read this field"),
    }
}
