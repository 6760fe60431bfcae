//! Queues at the egress: their buffer, their curves and their weights.

use std::collections::BTreeMap;

use floodway_sim::switch::buffer::shared;
use floodway_sim::switch::{aqm, scheduler};
use serde_json::{Map, json};

use super::super::config::plain;
use super::super::switch::Threshold;
use super::groups::threshold;
use super::of_shared;
use super::writer::Writer;
use crate::text::Problem;

/// The largest weight of a scheduler (sonic-scheduler.yang).
const LARGEST_WEIGHT: u32 = 100;

impl Writer<'_> {
    /// The profile of the queue of the flows.
    pub fn egress(&mut self) -> Result<(), Problem> {
        let pool = |spec| of_shared(spec).and_then(|shared: &shared::Spec| shared.egress.clone());
        let Some((old, new)) = pool(self.old).zip(pool(self.new)) else { return Ok(()) };
        if (old.alpha, old.guaranteed, old.pool) == (new.alpha, new.guaranteed, new.pool) {
            return Ok(());
        }
        let switch = self.switch;
        let size = of_shared(self.new).and_then(|shared| shared.at(self.shown).egress);
        let size = size.map_or(0, |pool| pool.pool.0);
        let mut is_written = false;
        for port in &switch.ports {
            let profile = port.queues[usize::from(self.plan.main)].profile.as_ref();
            let entry = profile.and_then(|of| switch.config.entry("BUFFER_PROFILE", &of.name));
            let Some((profile, entry)) = profile.zip(entry) else { continue };
            let mut changed = profile.clone();
            // A static threshold is a part of the pool.
            let moves =
                old.pool != new.pool && matches!(profile.threshold, Some(Threshold::Static(_)));
            if old.alpha != new.alpha || moves {
                changed.threshold = Some(threshold(new.alpha, size, switch, "egress")?);
            }
            if old.guaranteed != new.guaranteed {
                changed.size = new.guaranteed.0;
            }
            self.write(entry, profile, &changed);
            is_written = true;
        }
        match is_written {
            true => Ok(()),
            false => Err(switch.config.problem(
                "`switch.buffer.shared.egress` has changed, and no queue has a profile that says so",
                "give the queues of the switch profiles in `BUFFER_QUEUE` first, and import again",
            )),
        }
    }

    /// The curves of queues that mark.
    pub fn curves(&mut self) -> Result<(), Problem> {
        let (aqm::Spec::Ramp(old), aqm::Spec::Ramp(new)) = (&self.old.aqm, &self.new.aqm) else {
            return Ok(());
        };
        let switch = self.switch;
        let mut written: BTreeMap<&str, aqm::ramp::Spec> = BTreeMap::new();
        for port in &switch.ports {
            let [old, new] = [old, new].map(|ramp| ramp.for_rate(port.rate));
            if (old.kmin, old.kmax, old.pmax) == (new.kmin, new.kmax, new.pmax) {
                continue;
            }
            for entry in switch.of_port("QUEUE", &port.name) {
                let Some(name) = entry.get("wred_profile").map(plain) else { continue };
                let Some(profile) = switch.config.entry("WRED_PROFILE", name) else { continue };
                if written.get(profile.key.as_str()).is_some_and(|other| *other != new) {
                    return Err(profile.problem(
                        "",
                        format!("ports of several rates share `WRED_PROFILE|{name}`, and would have different curves"),
                        "give ports of each rate a `WRED_PROFILE` of their own, and import again",
                    ));
                }
                let percent = new.pmax * 100.0;
                if (percent - percent.round()).abs() > 1e-9 {
                    return Err(profile.problem(
                        "green_drop_probability",
                        format!("`pmax` is {}, and CONFIG_DB has whole percent", new.pmax),
                        format!("write {} or {}", percent.floor() / 100.0, percent.ceil() / 100.0),
                    ));
                }
                self.set(profile, "green_min_threshold", new.kmin.0);
                self.set(profile, "green_max_threshold", new.kmax.0);
                self.set(profile, "green_drop_probability", percent.round());
                written.insert(&profile.key, new.clone());
            }
        }
        Ok(())
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
