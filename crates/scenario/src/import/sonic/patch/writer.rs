//! The operations of one switch: its pools and its watchdog, and what all parts of the writer need.

use std::collections::BTreeSet;

use floodway_model::Duration;
use floodway_sim::switch;
use floodway_sim::switch::buffer::shared;
use serde_json::{Map, Value, json};

use super::super::config::Entry;
use super::super::plan::{NO_POOL, Plan};
use super::super::switch::Switch;
use super::{Operation, of_shared};
use crate::text::Problem;

/// Settings that classes have, as [`Writer::reached`] names them.
pub const INGRESS: &str = "switch.buffer.shared.ingress";
/// The same at the egress.
pub const EGRESS: &str = "switch.buffer.shared.egress";
/// The weight.
pub const WEIGHT: &str = "switch.scheduler.drr.weights";

/// Writes the operations of one switch.
pub struct Writer<'a> {
    /// The switch.
    pub switch: &'a Switch,
    /// What all switches became when they were imported.
    pub plan: &'a Plan,
    /// The name of the switch in scenarios.
    pub shown: &'a str,
    /// The settings that the configurations give.
    pub old: &'a switch::Spec,
    /// The settings that they are to give.
    pub new: &'a switch::Spec,
    /// What was written so far.
    pub operations: Vec<Operation>,
    /// Which settings of which classes have a place in this configuration.
    pub reached: BTreeSet<(&'static str, usize)>,
    /// Sizes of pools that have none.
    pub missing: Vec<String>,
}

impl Writer<'_> {
    /// Writes everything.
    pub fn all(&mut self) -> Result<(), Problem> {
        self.pool_sizes();
        self.groups()?;
        self.arrivals()?;
        self.egress()?;
        self.maps()?;
        self.curves()?;
        self.weights()?;
        self.watchdog()
    }

    /// Writes one field, if it says something else.
    pub fn set(&mut self, entry: &Entry, field: &str, value: impl ToString) {
        let value = value.to_string();
        let before = entry.get(field);
        if before == Some(&value) {
            return;
        }
        let operation = Operation {
            op: if before.is_some() { "replace" } else { "add" },
            path: pointer(&[&entry.table, &entry.key, field]),
            value: Some(Value::String(value)),
            before: before.map(str::to_owned),
        };
        // A profile is reached by every port that has it.
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }

    /// Removes a field.
    pub fn remove(&mut self, entry: &Entry, field: &str) {
        let Some(before) = entry.get(field) else { return };
        let path = pointer(&[&entry.table, &entry.key, field]);
        let before = Some(before.to_owned());
        let operation = Operation { op: "remove", path, value: None, before };
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }

    /// Adds a key, and its table if there is none.
    pub fn add(&mut self, table: &str, key: &str, fields: Map<String, Value>) {
        let first = pointer(&[table]);
        if !self.switch.config.has(table) && self.operations.iter().all(|of| of.path != first) {
            let (op, value) = ("add", Some(json!({})));
            self.operations.push(Operation { op, path: first, value, before: None });
        }
        let (path, value) = (pointer(&[table, key]), Some(Value::Object(fields)));
        let operation = Operation { op: "add", path, value, before: None };
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }

    /// The fields of a key that was added.
    pub fn added(&self, table: &str, key: &str) -> Option<&Map<String, Value>> {
        let path = pointer(&[table, key]);
        let operation = self.operations.iter().find(|of| of.op == "add" && of.path == path);
        operation?.value.as_ref()?.as_object()
    }

    fn pool_sizes(&mut self) {
        let name = self.shown;
        let [old, new] = [self.old, self.new].map(|spec| of_shared(spec).map(|of| of.at(name)));
        let Some((old, new)) = old.zip(new) else { return };
        let plan = self.plan;
        let headroom = [old.headroom_pool, new.headroom_pool];
        if let (Some(pool), [before, after]) = (&plan.ingress, headroom)
            && before != after
            && let Some(entry) = self.switch.config.entry("BUFFER_POOL", &pool.name)
        {
            // With 0 every group has its headroom to itself.
            let size = after.map_or(0, |bytes| bytes.0);
            self.set(entry, "xoff", if size == NO_POOL { 0 } else { size });
        }
        for own in &plan.own {
            let Some(((name, _), &class)) = own.pool.as_ref().zip(own.classes.first()) else {
                continue;
            };
            let size = |shared: &shared::Spec| shared.of_queue(class as u8)?.egress_pool;
            let Some(size) = size(&new).filter(|_| size(&old) != size(&new)) else { continue };
            if let Some(entry) = self.switch.config.entry("BUFFER_POOL", name) {
                self.set(entry, "size", size.0);
            }
        }
        let sides = [
            ("ingress", &plan.ingress, [old.ingress, new.ingress]),
            ("egress", &plan.egress, [old.egress, new.egress]),
        ];
        for (side, pool, [old, new]) in sides {
            let Some(((pool, old), new)) = pool.as_ref().zip(old).zip(new) else { continue };
            if old.pool == new.pool {
                continue;
            }
            match self.switch.config.entry("BUFFER_POOL", &pool.name) {
                Some(entry) => self.set(entry, "size", new.pool.0),
                None => self.missing.push(format!("switch.buffer.shared.{side}.pool of {name}")),
            }
        }
    }

    fn watchdog(&mut self) -> Result<(), Problem> {
        let dog = |spec: &switch::Spec| spec.flow_control.pfc.as_ref()?.watchdog.clone();
        let Some((old, new)) = dog(self.old).zip(dog(self.new)) else { return Ok(()) };
        if old == new {
            return Ok(());
        }
        let switch = self.switch;
        let action = match new.action {
            switch::flow_control::pfc::watchdog::Action::Drop => "drop",
            switch::flow_control::pfc::watchdog::Action::Forward => "forward",
        };
        for entry in
            switch.config.table("PFC_WD").filter(|entry| entry.get("detection_time").is_some())
        {
            for (field, time) in
                [("detection_time", new.detection), ("restoration_time", new.restoration)]
            {
                let ms = time.0 / Duration::from_ms(1).0;
                if ms == 0 || Duration::from_ms(ms) != time {
                    return Err(entry.problem(
                        field,
                        format!("`{field}` would be {time}, and CONFIG_DB has whole milliseconds"),
                        "write whole milliseconds, at least one",
                    ));
                }
                self.set(entry, field, ms);
            }
            self.set(entry, "action", action);
        }
        Ok(())
    }
}

/// A JSON pointer.
fn pointer(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}
