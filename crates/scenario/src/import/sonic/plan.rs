//! What all switches together become: the settings of one scenario, chosen by majority where switches or
//! ports differ.

use std::collections::BTreeMap;

use floodway_model::Rate;
use floodway_sim::switch::cell::Cell;

use super::maps::ByDscp;
use super::shares::{Own, curves, own};
use super::switch::{Curve, From, Group, Port, QUEUES, Scheduler, Switch, Threshold, Watchdog};
use crate::text::Problem;

/// Data queues of a floodway switch.
const MOST: usize = 7;

/// Ethernet's usual longest frame.
const FRAME: u16 = 1_518;

/// The settings of the scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What a frame of Ethernet's usual length takes of the memory.
    pub frame: u64,
    /// By class: the number of the queue in the configurations.
    pub order: Vec<u8>,
    /// How many classes have strict priority.
    pub strict: usize,
    /// The weight of each class.
    pub weights: Vec<u32>,
    /// Lossless queues, by their numbers in the configurations.
    pub lossless: Vec<u8>,
    /// The queue of the first flows of the scenario, by that number. What it has is what all queues have that have
    /// nothing of their own.
    pub main: u8,
    /// The queue of each DSCP at most ports, by that number; none if no configuration says.
    pub dscps: Option<ByDscp>,
    /// The flows of the scenario.
    pub flows: Vec<Flows>,
    /// The ingress pool.
    pub ingress: Option<Pool>,
    /// The egress pool.
    pub egress: Option<Pool>,
    /// By switch: the size of the pool of headroom that its ports share; empty if none has one.
    pub headroom_pools: Vec<u64>,
    /// The share and the headroom of a lossless class, by the rate of the port.
    pub groups: BTreeMap<Rate, Share>,
    /// Of lossless classes.
    pub xon_offset: u64,
    /// What classes have of their own in the pools.
    pub own: Vec<Own>,
    /// The classes that mark.
    pub marks: Vec<usize>,
    /// Their curve at most ports.
    pub curve: Option<Curve>,
    /// Other curves, by the rate of the port.
    pub curves: BTreeMap<Rate, Curve>,
    /// Other curves, and the classes that have them at ports of all rates.
    pub own_curves: Vec<(Curve, Vec<usize>)>,
    /// The watchdog.
    pub watchdog: Option<Watchdog>,
}

/// Flows that stand for the traffic of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flows {
    /// Their queue, by the number in the configurations.
    pub queue: u8,
    /// Their DSCP; none without a map of DSCPs.
    pub dscp: Option<u8>,
    /// Whether their class is lossless.
    pub lossless: bool,
}

/// A pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// Its name; empty if no configuration says.
    pub name: String,
    /// By switch: its size.
    pub sizes: Vec<Size>,
    /// The threshold of most ports.
    pub threshold: Threshold,
    /// Bytes of their own.
    pub guaranteed: u64,
}

/// The size of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So many bytes.
    Written(u64),
    /// The switch computes it when it runs: so many bytes are the rest of its largest pool.
    Rest(u64),
    /// Nothing is known of it.
    Assumed,
}

/// What floodway has for the size of a pool of which nothing is known (`switch.buffer.shared.ingress.pool`).
const ASSUMED: u64 = 16_000_000;

impl Size {
    /// In bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Written(bytes) | Self::Rest(bytes) => bytes,
            Self::Assumed => ASSUMED,
        }
    }
}

impl Pool {
    /// `alpha` of the first switch's pool.
    pub fn alpha(&self) -> Option<f64> {
        self.threshold.alpha(self.size())
    }

    /// Its size at the first switch.
    pub fn size(&self) -> u64 {
        self.sizes.first().map_or(ASSUMED, |size| size.bytes())
    }
}

/// The share of a lossless class, and its headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// That of most ports of the rate.
    pub threshold: Threshold,
    /// The largest of all ports of the rate.
    pub headroom: u64,
    /// Whether it was computed here.
    pub computed: bool,
}

/// The value that is there most often; of several the least.
pub fn most<T: Ord + Clone>(all: impl IntoIterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    all.into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
    let best = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == best).map(|(value, _)| value)
}

impl Plan {
    /// Chooses, for switches with such cells.
    pub fn of(switches: &[Switch], cell: Cell) -> Result<Self, Problem> {
        let ports: Vec<&Port> = switches.iter().flat_map(|switch| &switch.ports).collect();
        let mut lossless: Vec<u8> =
            ports.iter().flat_map(|port| port.lossless.keys()).copied().collect();
        let dscps = most(ports.iter().filter_map(|port| port.dscps).map(|of| of.queues));
        let mut flows = flows(switches, &lossless, dscps)?;
        let main = flows[0].queue;
        lossless.sort_unstable();
        lossless.dedup();
        if lossless.len() == MOST && flows[0].lossless {
            flows.retain(|of| of.lossless);
        }
        let lossy = flows.iter().filter(|of| !of.lossless).count();
        if lossless.len() + lossy > MOST {
            let lossless = match lossless.len() > MOST {
                true => "all eight priorities are lossless",
                false => "seven priorities are lossless and no DSCP leads to them",
            };
            return Err(switches[0].config.problem(
                format!("{lossless}, and a switch has seven queues for data here"),
                "leave the priority of control traffic, such as 7, out of `pfc_enable`",
            ));
        }
        let scheduler = |queue: u8| {
            most(ports.iter().filter_map(|port| port.queues[usize::from(queue)].scheduler))
        };
        let order = order(&ports, &lossless, (&flows, dscps), scheduler);
        let is_strict = |queue: &u8| scheduler(*queue).is_some_and(|found| found.strict);
        let strict = order.iter().take_while(|queue| is_strict(queue)).count();
        let weight = |queue: &u8| scheduler(*queue).map_or(1, |found| found.weight);
        let weights = order.iter().map(weight).collect();
        let curves = curves(&ports, &order, main);
        let groups: Vec<(&Port, &Group)> = ports
            .iter()
            .flat_map(|port| port.lossless.values().map(move |group| (*port, group)))
            .collect();
        let mut shares: BTreeMap<Rate, Share> = BTreeMap::new();
        for (port, _) in &groups {
            let same = || groups.iter().filter(|(other, _)| other.rate == port.rate);
            let threshold = most(same().filter_map(|(_, group)| group.profile.threshold));
            let largest = same().max_by_key(|(_, group)| group.profile.xoff);
            let Some((_, largest)) = largest else { continue };
            shares.insert(
                port.rate,
                Share {
                    threshold: threshold.unwrap_or(Threshold::Dynamic(0)),
                    headroom: largest.profile.xoff.unwrap_or(0),
                    computed: largest.from == From::Computed,
                },
            );
        }
        let ingress = ingress(switches, &ports, &groups)?;
        let headroom_pools = match (&ingress, groups.is_empty()) {
            (Some(pool), false) => headroom_pools(switches, &pool.name)?,
            _ => Vec::new(),
        };
        let offset = most(groups.iter().map(|(_, group)| group.profile.xon_offset));
        let mut plan = Self {
            frame: u64::from(cell.occupied(FRAME)),
            strict,
            weights,
            ingress,
            headroom_pools,
            egress: egress(switches, &ports_of(&ports, main, &lossless), main)?,
            groups: shares,
            xon_offset: offset.unwrap_or(0),
            own: Vec::new(),
            marks: curves.marks,
            curve: curves.curve,
            curves: curves.by_rate,
            own_curves: curves.own,
            watchdog: most(ports.iter().filter_map(|port| port.watchdog)),
            order,
            lossless,
            main,
            dscps,
            flows,
        };
        plan.own = own(&plan, switches, &ports)?;
        Ok(plan)
    }

    /// The class of a queue; none if it is left out.
    pub fn class(&self, queue: u8) -> Option<usize> {
        self.order.iter().position(|other| *other == queue)
    }

    /// A guarantee as floodway takes it: none if it would not take a frame.
    pub fn usable(&self, guaranteed: u64) -> u64 {
        if guaranteed < self.frame { 0 } else { guaranteed }
    }

    /// The class of packets whose DSCP no entry names: that of most DSCPs. None without a map of them.
    pub fn default_class(&self) -> Option<usize> {
        most(self.dscps?.into_iter().filter_map(|queue| self.class(queue)))
    }

    /// The DSCPs of a class, without those of queues that are left out.
    pub fn dscps_of(&self, class: usize) -> Vec<u8> {
        let queues = self.dscps.iter().flatten();
        let of = (0..).zip(queues).filter(|(_, queue)| self.class(**queue) == Some(class));
        of.map(|(dscp, _)| dscp).collect()
    }

    /// The classes of the lossless queues.
    pub fn lossless_classes(&self) -> Vec<usize> {
        let mut classes: Vec<usize> =
            self.lossless.iter().filter_map(|queue| self.class(*queue)).collect();
        classes.sort_unstable();
        classes
    }
}

/// Flows of a lossless class and of a lossy one, as far as DSCPs lead to both; without a map of DSCPs, in one class.
fn flows(
    switches: &[Switch],
    lossless: &[u8],
    dscps: Option<ByDscp>,
) -> Result<Vec<Flows>, Problem> {
    let Some(dscps) = dscps else {
        let queue = match most(lossless.iter().copied()) {
            Some(queue) => queue,
            None => default_queue(switches)?,
        };
        return Ok(vec![Flows { queue, dscp: None, lossless: !lossless.is_empty() }]);
    };
    let flows = |queue: u8| {
        let dscp = (0..).zip(dscps).find(|(_, of)| *of == queue).map(|(dscp, _)| dscp);
        Flows { queue, dscp, lossless: lossless.contains(&queue) }
    };
    let reached = lossless.iter().copied().filter(|queue| dscps.contains(queue));
    let lossy = || dscps.into_iter().filter(|queue| !lossless.contains(queue));
    let best_effort = Some(dscps[0]).filter(|queue| !lossless.contains(queue));
    let queues = [most(reached), best_effort.or_else(|| most(lossy()))];
    Ok(queues.into_iter().flatten().map(flows).collect())
}

/// The queue of packets for networks without lossless classes and without a map of DSCPs: that of traffic class 0.
fn default_queue(switches: &[Switch]) -> Result<u8, Problem> {
    let (switch, port) = (&switches[0], &switches[0].ports[0]);
    let leads = |queue: &u8| Ok(switch.classes_of(&port.name, *queue)?.contains(&0));
    for queue in 0..QUEUES {
        if leads(&queue)? {
            return Ok(queue);
        }
    }
    Ok(0)
}

/// The queues in the order of classes: those with strict priority first, the highest number of them first,
/// as switches serve them; then the others. At most seven: one that nothing needs is left out.
fn order(
    ports: &[&Port],
    lossless: &[u8],
    (flows, dscps): (&[Flows], Option<ByDscp>),
    scheduler: impl Fn(u8) -> Option<Scheduler>,
) -> Vec<u8> {
    let is_reached = |queue: &u8| dscps.is_some_and(|dscps| dscps.contains(queue));
    let is_needed =
        |queue: &u8| lossless.contains(queue) || flows.iter().any(|of| of.queue == *queue);
    let is_used = |queue: &u8| {
        let of = |port: &&&Port| {
            let queue = &port.queues[usize::from(*queue)];
            queue.profile.is_some() || queue.scheduler.is_some() || queue.curve.is_some()
        };
        is_needed(queue) || is_reached(queue) || ports.iter().any(|port| of(&port))
    };
    let mut used: Vec<u8> = (0..QUEUES).filter(is_used).collect();
    while used.len() > MOST {
        let spare = || used.iter().rev().copied().filter(|queue| !is_needed(queue));
        let Some(left) = spare().find(|queue| !is_reached(queue)).or_else(|| spare().next()) else {
            break;
        };
        used.retain(|queue| *queue != left);
    }
    let strict = |queue: &u8| scheduler(*queue).is_some_and(|found| found.strict);
    let (mut first, others): (Vec<u8>, Vec<u8>) = used.into_iter().partition(strict);
    first.reverse();
    first.extend(others);
    first
}

/// The ingress pool of lossless classes, or else that of lossy ones.
fn ingress(
    switches: &[Switch],
    ports: &[&Port],
    groups: &[(&Port, &Group)],
) -> Result<Option<Pool>, Problem> {
    let lossy = || ports.iter().filter_map(|port| port.lossy.as_ref());
    let (name, threshold, guaranteed) = match groups {
        [] => {
            let Some(name) = most(lossy().map(|profile| profile.pool.clone())) else {
                return Ok(None);
            };
            (name, most(lossy().filter_map(|of| of.threshold)), most(lossy().map(|of| of.size)))
        }
        groups => {
            let name = most(groups.iter().map(|(_, group)| group.profile.pool.clone()));
            let threshold = most(groups.iter().filter_map(|(_, group)| group.profile.threshold));
            let guaranteed = most(groups.iter().map(|(_, group)| group.profile.guaranteed()));
            (name.unwrap_or_default(), threshold, guaranteed)
        }
    };
    let sizes = sizes(switches, &name, |switch| {
        // What the pool of the egress leaves beside headroom and guarantees.
        let largest =
            switch.config.table("BUFFER_POOL").filter_map(|pool| pool.whole("size").ok()?);
        let own = switch.ports.iter().flat_map(|port| port.lossless.values());
        let own = own.map(|group| {
            group.profile.guaranteed().saturating_add(group.profile.xoff.unwrap_or(0))
        });
        let own = own.fold(0, u64::saturating_add);
        largest.max().map(|largest| largest.saturating_sub(own))
    })?;
    let threshold = threshold.unwrap_or(Threshold::Dynamic(0));
    Ok(Some(Pool { name, sizes, threshold, guaranteed: guaranteed.unwrap_or(0) }))
}

/// The ports that say what a queue has: those at which it is lossless, if it is lossless at some.
pub fn ports_of<'a>(ports: &[&'a Port], queue: u8, lossless: &[u8]) -> Vec<&'a Port> {
    let is_lossless = |port: &&&Port| port.lossless.contains_key(&queue);
    match lossless.contains(&queue) {
        true => ports.iter().filter(is_lossless).copied().collect(),
        false => ports.to_vec(),
    }
}

/// The egress pool of the queue of the flows.
fn egress(switches: &[Switch], ports: &[&Port], main: u8) -> Result<Option<Pool>, Problem> {
    let profiles =
        || ports.iter().filter_map(|port| port.queues[usize::from(main)].profile.as_ref());
    let Some(name) = most(profiles().map(|profile| profile.pool.clone())) else { return Ok(None) };
    let sizes = sizes(switches, &name, |switch| {
        switch.config.table("BUFFER_POOL").filter_map(|pool| pool.whole("size").ok()?).max()
    })?;
    let threshold = most(profiles().filter_map(|profile| profile.threshold));
    let guaranteed = most(profiles().map(|profile| profile.size)).unwrap_or(0);
    Ok(Some(Pool {
        name,
        sizes,
        threshold: threshold.unwrap_or(Threshold::Dynamic(0)),
        guaranteed,
    }))
}

/// The size of a pool of headroom at switches without one: it limits nothing.
pub const NO_POOL: u64 = 1_000_000_000;

/// The pools of headroom at all switches: `xoff` of the ingress pool. Without it, or with 0, every group has its
/// headroom to itself, as in a pool for all of them.
fn headroom_pools(switches: &[Switch], name: &str) -> Result<Vec<u64>, Problem> {
    let written = |switch: &Switch| match switch.config.entry("BUFFER_POOL", name) {
        Some(pool) => Ok(pool.whole("xoff")?.filter(|bytes| *bytes > 0)),
        None => Ok(None),
    };
    let written = switches.iter().map(written).collect::<Result<Vec<_>, Problem>>()?;
    Ok(match written.iter().all(Option::is_none) {
        true => Vec::new(),
        false => written.into_iter().map(|size| size.unwrap_or(NO_POOL)).collect(),
    })
}

/// The sizes of a pool at all switches.
pub fn sizes(
    switches: &[Switch],
    name: &str,
    rest: impl Fn(&Switch) -> Option<u64>,
) -> Result<Vec<Size>, Problem> {
    let of = |switch: &Switch| {
        Ok(match switch.pool(name)? {
            Some(bytes) => Size::Written(bytes),
            None => rest(switch).map_or(Size::Assumed, Size::Rest),
        })
    };
    switches.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_threshold_becomes_the_alpha_of_one_queue_alone() {
        // alpha / (1 + alpha) of the pool: 1/3 of 3 MB is 1 MB for alpha 1/2.
        assert_eq!(Threshold::Static(1_000_000).alpha(3_000_000), Some(0.5));
        assert_eq!(Threshold::Static(3_000_000).alpha(3_000_000), None);
        assert_eq!(Threshold::Dynamic(-2).alpha(3_000_000), Some(0.25));
        assert_eq!(Threshold::Dynamic(3).alpha(0), Some(8.0));
    }

    #[test]
    fn the_most_frequent_counts() {
        assert_eq!(most([3, 1, 2, 2]), Some(2));
        assert_eq!(most([3, 1]), Some(1));
        assert_eq!(most::<u8>([]), None);
    }
}
