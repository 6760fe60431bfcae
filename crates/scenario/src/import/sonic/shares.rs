//! What classes may hold and how they mark, where that differs from the settings of all classes.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::Rate;

use super::plan::{Plan, Size, most, ports_of, sizes};
use super::scenario::UNLIMITED;
use super::switch::{Curve, Port, Profile, QUEUES, Switch, Threshold};
use crate::text::Problem;

/// What some classes have instead of what all have.
#[derive(Clone, Debug, PartialEq)]
pub struct Own {
    /// The classes.
    pub classes: Vec<usize>,
    /// What differs.
    pub terms: Terms,
    /// The egress pool that they share alone: its name, and its size at the first switch that says.
    pub pool: Option<(String, Size)>,
}

/// What one class has instead of what all have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Terms {
    /// In the ingress pool.
    pub ingress: Option<Threshold>,
    /// At the ingress.
    pub ingress_guaranteed: Option<u64>,
    /// In the egress pool.
    pub egress: Option<Threshold>,
    /// At the egress.
    pub egress_guaranteed: Option<u64>,
}

/// What a class has on one side of a switch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    pool: String,
    threshold: Threshold,
    guaranteed: u64,
}

impl Side {
    fn of(profile: &Profile) -> Self {
        let threshold = profile.threshold.unwrap_or(Threshold::Dynamic(0));
        Self { pool: profile.pool.clone(), threshold, guaranteed: profile.size }
    }
}

/// The share as scenarios have it in an entry, in which complete sharing is a share that no pool limits.
pub fn written(threshold: Threshold, pool: u64) -> f64 {
    threshold.alpha(pool).unwrap_or(UNLIMITED)
}

impl Plan {
    /// Whether a queue of a port is lossless, or lossy, as it is in the scenario.
    pub fn is_alike(&self, queue: u8, port: &Port) -> bool {
        !self.lossless.contains(&queue) || port.lossless.contains_key(&queue)
    }

    /// What a class has instead of what all have.
    pub fn own(&self, class: usize) -> Option<&Own> {
        self.own.iter().find(|own| own.classes.contains(&class))
    }

    /// The threshold in the ingress pool of classes without one of their own, at ports of a rate.
    fn of_rate(&self, rate: Rate) -> Option<Threshold> {
        let of_all = self.ingress.as_ref().map(|pool| pool.threshold);
        self.groups.get(&rate).map(|share| share.threshold).or(of_all)
    }

    /// The threshold and the guarantee of a class at the ingress, at ports of a rate.
    pub fn arrival(&self, class: usize, rate: Rate) -> Option<(Threshold, u64)> {
        let terms = self.own(class).map(|own| own.terms).unwrap_or_default();
        let pool = self.ingress.as_ref()?;
        let threshold = terms.ingress.or(self.of_rate(rate))?;
        Some((threshold, terms.ingress_guaranteed.unwrap_or(pool.guaranteed)))
    }

    /// The pool, the threshold and the guarantee of a class at the egress.
    pub fn departure(&self, class: usize) -> Option<(&str, Threshold, u64)> {
        let own = self.own(class);
        let terms = own.map(|own| own.terms).unwrap_or_default();
        let pool = self.egress.as_ref()?;
        let name = own.and_then(|own| own.pool.as_ref()).map_or(&pool.name, |(name, _)| name);
        Some((
            name,
            terms.egress.unwrap_or(pool.threshold),
            terms.egress_guaranteed.unwrap_or(pool.guaranteed),
        ))
    }

    /// The curve of a class at ports of a rate.
    pub fn curve_at(&self, class: usize, rate: Rate) -> Option<Curve> {
        if !self.marks.contains(&class) {
            return None;
        }
        let own = self.own_curves.iter().find(|(_, classes)| classes.contains(&class));
        own.map(|(curve, _)| *curve).or(self.curves.get(&rate).copied()).or(self.curve)
    }
}

/// Finds what classes have of their own. The pools and the shares of all are chosen before.
pub fn own(plan: &Plan, switches: &[Switch], ports: &[&Port]) -> Result<Vec<Own>, Problem> {
    // By egress pool, none being that of all: what each class in it has.
    let mut pools: BTreeMap<Option<String>, Vec<(usize, Terms)>> = BTreeMap::new();
    let mut of_pools: BTreeMap<String, Size> = BTreeMap::new();
    for (class, queue) in plan.order.iter().enumerate() {
        let (ingress, ingress_guaranteed) = arrival(plan, ports, *queue);
        let mut terms = Terms { ingress, ingress_guaranteed, ..Terms::default() };
        let own = ports_of(ports, *queue, &plan.lossless);
        let profiles = own.iter().filter_map(|of| of.queues[usize::from(*queue)].profile.as_ref());
        let mut name = None;
        if let Some((of_all, side)) = plan.egress.as_ref().zip(most(profiles.map(Side::of))) {
            let mut size = of_all.size();
            if side.pool != of_all.name {
                let found = pool_size(switches, &side.pool)?;
                size = found.bytes();
                of_pools.insert(side.pool.clone(), found);
                name = Some(side.pool);
            }
            let alike = side.threshold.alpha(size) == of_all.alpha();
            terms.egress = Some(side.threshold).filter(|_| !alike);
            let alike = plan.usable(side.guaranteed) == plan.usable(of_all.guaranteed);
            terms.egress_guaranteed = Some(side.guaranteed).filter(|_| !alike);
        }
        pools.entry(name).or_default().push((class, terms));
    }
    let mut all = Vec::new();
    for (name, classes) in pools {
        let Some(name) = name else {
            let mut alike: BTreeMap<Terms, Vec<usize>> = BTreeMap::new();
            classes.into_iter().for_each(|(class, of)| alike.entry(of).or_default().push(class));
            alike.remove(&Terms::default());
            let own = alike.into_iter().map(|(terms, classes)| Own { classes, terms, pool: None });
            all.extend(own);
            continue;
        };
        // They share the pool only if they are in one entry.
        let terms = most(classes.iter().map(|(_, terms)| *terms)).unwrap_or_default();
        let size = of_pools.get(&name).copied().unwrap_or(Size::Assumed);
        let classes = classes.into_iter().map(|(class, _)| class).collect();
        all.push(Own { classes, terms, pool: Some((name, size)) });
    }
    all.sort_by_key(|own| own.classes.first().copied());
    Ok(all)
}

/// The threshold and the guarantee of a queue's class at the ingress, where they are not those of all.
fn arrival(plan: &Plan, ports: &[&Port], queue: u8) -> (Option<Threshold>, Option<u64>) {
    let Some(pool) = &plan.ingress else { return (None, None) };
    let size = pool.size();
    let rates: BTreeSet<Rate> = ports.iter().map(|port| port.rate).collect();
    let as_all = |rate: Rate, threshold: Threshold| {
        plan.of_rate(rate).is_some_and(|of_all| of_all.alpha(size) == threshold.alpha(size))
    };
    let (threshold, guaranteed) = if plan.lossless.contains(&queue) {
        let groups = |rate: Option<Rate>| {
            let of = move |port: &&&Port| rate.is_none_or(|rate| port.rate == rate);
            ports.iter().filter(of).filter_map(move |port| port.lossless.get(&queue))
        };
        let at = |rate: Rate| {
            Some((rate, most(groups(Some(rate)).filter_map(|group| group.profile.threshold))?))
        };
        let found: Vec<(Rate, Threshold)> = rates.iter().filter_map(|rate| at(*rate)).collect();
        let differs = found.iter().any(|(rate, threshold)| !as_all(*rate, *threshold));
        let one = found.first().filter(|first| found.iter().all(|other| other.1 == first.1));
        // An entry is for ports of all rates.
        let threshold = one.filter(|_| differs).map(|(_, threshold)| *threshold);
        (threshold, most(groups(None).map(|group| group.profile.guaranteed())))
    } else {
        let profiles = ports.iter().filter_map(|of| of.queues[usize::from(queue)].arrival.as_ref());
        let side = most(profiles.map(Side::of));
        let threshold = side.as_ref().map(|side| side.threshold);
        let differs = |of: &Threshold| rates.iter().any(|rate| !as_all(*rate, *of));
        (threshold.filter(differs), side.map(|side| side.guaranteed))
    };
    (threshold, guaranteed.filter(|bytes| plan.usable(*bytes) != plan.usable(pool.guaranteed)))
}

/// The size of an egress pool at the first switch that has it.
fn pool_size(switches: &[Switch], name: &str) -> Result<Size, Problem> {
    let all = sizes(switches, name, |switch| {
        switch.config.table("BUFFER_POOL").filter_map(|pool| pool.whole("size").ok()?).max()
    })?;
    let written = all.iter().find(|size| matches!(size, Size::Written(_)));
    Ok(written.or(all.first()).copied().unwrap_or(Size::Assumed))
}

/// How the classes mark.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    /// The classes that mark.
    pub marks: Vec<usize>,
    /// The curve of the queue of the flows, or of the first one that marks, at most ports.
    pub curve: Option<Curve>,
    /// Other curves of that queue, by the rate of the port.
    pub by_rate: BTreeMap<Rate, Curve>,
    /// Other curves at ports of all rates, and the classes that have them.
    pub own: Vec<(Curve, Vec<usize>)>,
}

/// The curves of queues, which are in the order of classes.
pub fn curves(ports: &[&Port], order: &[u8], main: u8) -> Curves {
    let at = |queue: u8, rate: Option<Rate>| {
        let of = |port: &&&Port| rate.is_none_or(|rate| port.rate == rate);
        let curve = |port: &&Port| port.queues[usize::from(queue)].curve;
        most(ports.iter().filter(of).filter_map(curve))
    };
    let marks: Vec<usize> =
        (0..order.len()).filter(|class| at(order[*class], None).is_some()).collect();
    let first = marks.first().map(|class| order[*class]);
    let Some(base) = (0..QUEUES).find(|of| *of == main && at(*of, None).is_some()).or(first) else {
        return Curves::default();
    };
    let rates: BTreeSet<Rate> = ports.iter().map(|port| port.rate).collect();
    let curve = at(base, None);
    let others = rates.iter().filter_map(|rate| Some((*rate, at(base, Some(*rate))?)));
    let by_rate: BTreeMap<Rate, Curve> = others.filter(|of| Some(of.1) != curve).collect();
    let mut own: BTreeMap<Curve, Vec<usize>> = BTreeMap::new();
    for class in &marks {
        let queue = order[*class];
        let as_all = |rate: &Rate| {
            let here = at(queue, Some(*rate));
            here.is_none_or(|here| by_rate.get(rate).copied().or(curve) == Some(here))
        };
        if let Some(curve) = at(queue, None).filter(|_| !rates.iter().all(as_all)) {
            own.entry(curve).or_default().push(*class);
        }
    }
    Curves { marks, curve, by_rate, own: own.into_iter().collect() }
}
