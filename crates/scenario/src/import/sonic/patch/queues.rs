//! Queues at the egress: their buffer, their curves and their weights.

use std::collections::BTreeMap;

use floodway_sim::switch::buffer::shared;
use floodway_sim::switch::{aqm, scheduler};
use serde_json::{Map, json};

use super::super::config::{Entry, plain};
use super::super::scenario::UNLIMITED;
use super::super::switch::Curve;
use super::apportion::{Users, Want};
use super::groups::{edits, moves, threshold};
use super::shares;
use super::writer::{EGRESS, WEIGHT, Writer};
use crate::text::Problem;

/// The largest weight of a scheduler (sonic-scheduler.yang).
const LARGEST_WEIGHT: u32 = 100;

impl Writer<'_> {
    /// The profiles of queues.
    pub fn egress(&mut self) -> Result<(), Problem> {
        let switch = self.switch;
        let mut wants = Vec::new();
        for port in &switch.ports {
            for (number, queue) in (0..).zip(&port.queues) {
                let Some((profile, class)) = queue.profile.as_ref().zip(self.plan.class(number))
                else {
                    continue;
                };
                // What the scenario has is not of ports that differ.
                let is_in = |(pool, ..): (&str, _, _)| pool == profile.pool;
                if !self.plan.is_alike(number, port)
                    || !self.plan.departure(class).is_some_and(is_in)
                {
                    continue;
                }
                let pool = |spec| shares(spec, self.shown, class)?.egress;
                let entry = switch.config.entry("BUFFER_PROFILE", &profile.name);
                let Some((entry, (old, new))) = entry.zip(pool(self.old).zip(pool(self.new)))
                else {
                    continue;
                };
                self.reached.insert((EGRESS, class));
                let mut wanted = profile.clone();
                let alpha = |pool: &shared::Pool| pool.alpha.filter(|alpha| *alpha < UNLIMITED);
                if alpha(&old) != alpha(&new) || moves(profile, old.pool.0, new.pool.0) {
                    wanted.threshold = Some(threshold(alpha(&new), new.pool.0, switch, "egress")?);
                }
                if old.guaranteed != new.guaranteed {
                    wanted.size = new.guaranteed.0;
                }
                wants.push(Want {
                    port: &port.name,
                    number,
                    profile: entry,
                    old: profile.clone(),
                    new: wanted,
                });
            }
        }
        self.apportion(Users { table: "BUFFER_QUEUE", field: "profile" }, &wants, edits)
    }

    /// The curves of queues that mark, and which of them do.
    pub fn curves(&mut self) -> Result<(), Problem> {
        let (aqm::Spec::Ramp(old), aqm::Spec::Ramp(new)) = (&self.old.aqm, &self.new.aqm) else {
            return Ok(());
        };
        let switch = self.switch;
        let mut wants = Vec::new();
        for port in &switch.ports {
            for entry in switch.of_port("QUEUE", &port.name) {
                for number in entry.ports()?.1 {
                    let Some(class) = self.plan.class(number) else { continue };
                    let [before, after] =
                        [old, new].map(|of| of.for_rate(port.rate).for_queue(class as u8));
                    let name = entry.get("wred_profile").map(plain);
                    let profile = name.and_then(|name| switch.config.entry("WRED_PROFILE", name));
                    let Some((profile, (before, after))) = profile.zip(before.zip(after)) else {
                        continue;
                    };
                    let Some(own) = port.queues[usize::from(number)].curve else { continue };
                    wants.push(Want {
                        port: &port.name,
                        number,
                        profile,
                        old: own,
                        new: curve(profile, own, &before, &after)?,
                    });
                }
            }
        }
        self.apportion(Users { table: "QUEUE", field: "wred_profile" }, &wants, |old, new| {
            let texts = |of: &Curve| [of.kmin, of.kmax, u64::from(of.percent)];
            let fields = ["green_min_threshold", "green_max_threshold", "green_drop_probability"];
            let of = fields.into_iter().zip(texts(old).into_iter().zip(texts(new)));
            of.filter(|(_, (old, new))| old != new)
                .map(|(field, (_, new))| (field, Some(new.to_string())))
                .collect()
        })
    }

    /// The weights of schedulers.
    pub fn weights(&mut self) -> Result<(), Problem> {
        let (scheduler::Spec::Drr(old), scheduler::Spec::Drr(new)) =
            (&self.old.scheduler, &self.new.scheduler)
        else {
            return Ok(());
        };
        if old.weights == new.weights {
            return Ok(());
        }
        let switch = self.switch;
        for entry in switch.config.table("QUEUE").filter(|of| of.get("scheduler").is_some()) {
            let reached = entry.ports()?.1.filter_map(|queue| self.plan.class(queue));
            self.reached.extend(reached.map(|class| (WEIGHT, class)));
        }
        let weight = |weights: &[u32], queue: u8| {
            let class = self.plan.class(queue)?;
            Some(weights.get(class).copied().unwrap_or(1))
        };
        // By scheduler: the weights of the queues that have it.
        let mut wanted: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for entry in switch.config.table("QUEUE") {
            let Some(name) = entry.get("scheduler").map(plain) else { continue };
            for queue in entry.ports()?.1 {
                wanted.entry(name).or_default().extend(weight(&new.weights, queue));
            }
        }
        for entry in switch.config.table("QUEUE") {
            let Some(name) = entry.get("scheduler").map(plain) else { continue };
            let Some(scheduler) = switch.config.entry("SCHEDULER", name) else { continue };
            let (_, queues) = entry.ports()?;
            let mut here: Vec<u32> =
                queues.clone().filter_map(|of| weight(&new.weights, of)).collect();
            here.dedup();
            let before: Vec<u32> = queues.filter_map(|of| weight(&old.weights, of)).collect();
            let unchanged = before.iter().all(|of| here == [*of]);
            if here.is_empty() || unchanged || scheduler.get("type") == Some("STRICT") {
                continue;
            }
            let [weight] = here[..] else {
                return Err(entry.problem(
                    "scheduler",
                    format!(
                        "`QUEUE|{}` has one scheduler, and its queues would have several weights",
                        entry.key
                    ),
                    "write an entry for each queue, and import again",
                ));
            };
            if weight > LARGEST_WEIGHT {
                return Err(entry.problem(
                    "scheduler",
                    format!("a weight is {weight}, and SONiC takes 1 to {LARGEST_WEIGHT}"),
                    "divide all weights by the same number",
                ));
            }
            if wanted.get(name).is_some_and(|all| all.iter().all(|other| *other == weight)) {
                self.set(scheduler, "weight", weight);
                continue;
            }
            let name = format!("floodway.{weight}");
            let mut fields = Map::new();
            fields.insert("type".to_owned(), json!(scheduler.get("type").unwrap_or("DWRR")));
            fields.insert("weight".to_owned(), json!(weight.to_string()));
            self.add("SCHEDULER", &name, fields);
            self.set(entry, "scheduler", name);
        }
        Ok(())
    }
}

/// A curve in which what was changed is changed.
fn curve(
    profile: &Entry,
    own: Curve,
    old: &aqm::ramp::Spec,
    new: &aqm::ramp::Spec,
) -> Result<Curve, Problem> {
    let mut changed = own;
    if (old.kmin, old.kmax, old.pmax) == (new.kmin, new.kmax, new.pmax) {
        return Ok(changed);
    }
    let percent = new.pmax * 100.0;
    if (percent - percent.round()).abs() > 1e-9 {
        return Err(profile.problem(
            "green_drop_probability",
            format!("`pmax` is {}, and CONFIG_DB has whole percent", new.pmax),
            format!("write {} or {}", percent.floor() / 100.0, percent.ceil() / 100.0),
        ));
    }
    (changed.kmin, changed.kmax) = (new.kmin.0, new.kmax.0);
    changed.percent = percent.round() as u32;
    Ok(changed)
}
