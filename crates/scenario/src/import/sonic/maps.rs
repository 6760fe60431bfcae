//! The maps of a port: from DSCP to traffic class, from there to queue and priority group, and from the priorities
//! of PFC to both.

use std::collections::BTreeSet;

use floodway_model::marking::DSCPS;

use super::config::Entry;
use super::switch::{QUEUES, Switch, is_null};
use crate::text::Problem;

/// The fields of `PORT_QOS_MAP` that name maps, and their tables.
pub const MAPS: [(&str, &str); 5] = [
    ("dscp_to_tc_map", "DSCP_TO_TC_MAP"),
    ("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
    ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
    ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
    ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
];

/// Traffic classes (sonic-types.yang, `tc_type`).
pub const TRAFFIC_CLASSES: u8 = 16;

/// A value for each DSCP.
pub type ByDscp = [u8; DSCPS as usize];

/// What a port does with each DSCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dscps {
    /// The queue.
    pub queues: ByDscp,
    /// The traffic class.
    pub classes: ByDscp,
}

impl Switch {
    /// The map that a port has, or that all ports have. An error if it is named and not there.
    pub fn map(&self, port: &str, field: &str) -> Result<Option<&Entry>, Problem> {
        let Some((_, table)) = MAPS.iter().find(|(name, _)| *name == field) else {
            return Ok(None);
        };
        let entries = || self.config.table("PORT_QOS_MAP").filter(|of| of.get(field).is_some());
        let names = |of: &&Entry| of.key.split(',').any(|name| name.trim() == port);
        let by = entries().find(names).or_else(|| entries().find(|of| of.key == "global"));
        by.map_or(Ok(None), |by| self.config.named(table, by, field))
    }

    /// The queue and the traffic class of each DSCP; none if the port has no map of DSCPs, or none of queues beside
    /// ports that have one.
    pub fn dscps(&self, port: &str) -> Result<Option<Dscps>, Problem> {
        let Some(map) = self.map(port, "dscp_to_tc_map")? else { return Ok(None) };
        let to_queue = self.map(port, "tc_to_queue_map")?;
        if to_queue.is_none() && self.config.has("TC_TO_QUEUE_MAP") {
            // The map of DSCPs is that of all ports (`global`), and nothing is said of queues.
            return Ok(None);
        }
        // A port puts what no entry has into traffic class 0 (SAI, default class of a port).
        let rest = to_queue.map(|to_queue| number(to_queue, "0", QUEUES)).transpose()?.flatten();
        let mut of =
            Dscps { queues: [rest.unwrap_or(0); DSCPS as usize], classes: [0; DSCPS as usize] };
        for (field, _) in &map.fields {
            let dscp = field.trim().parse().ok().filter(|dscp: &u8| *dscp < DSCPS);
            let dscp = dscp.ok_or_else(|| {
                let message =
                    format!("`{}|{}` has {field:?}, which is no DSCP", map.table, map.key);
                map.problem(field, message, "write numbers from 0 to 63, like \"46\"")
            })?;
            let class = number(map, field, TRAFFIC_CLASSES)?.unwrap_or(0);
            let queue = match to_queue {
                Some(to_queue) => number(to_queue, &class.to_string(), QUEUES)?,
                None => Some(class).filter(|class| *class < QUEUES),
            };
            let Some(queue) = queue else {
                let (message, help) = match to_queue {
                    Some(to) => (
                        format!(
                            "DSCP {dscp} is in traffic class {class}, and `{}|{}` has no queue for it",
                            to.table, to.key
                        ),
                        format!(
                            "write its queue there, like \"{class}\": \"0\", or another traffic class here"
                        ),
                    ),
                    None => (
                        format!(
                            "DSCP {dscp} is in traffic class {class}, and {port} has no `tc_to_queue_map`: a class \
                             without one is in the queue of its number, from 0 to 7"
                        ),
                        "name a map in `PORT_QOS_MAP`, or write a traffic class from 0 to 7"
                            .to_owned(),
                    ),
                };
                return Err(map.problem(field, message, help));
            };
            of.queues[usize::from(dscp)] = queue;
            of.classes[usize::from(dscp)] = class;
        }
        Ok(Some(of))
    }

    /// The traffic classes that lead to each queue of a port, the lowest first.
    pub fn classes_of(&self, port: &str, queue: u8) -> Result<Vec<u8>, Problem> {
        let Some(map) = self.map(port, "tc_to_queue_map")? else { return Ok(vec![queue]) };
        let mut classes = Vec::new();
        for (class, _) in &map.fields {
            let class_of = class.trim().parse().ok().filter(|class: &u8| *class < TRAFFIC_CLASSES);
            let class_of = class_of.ok_or_else(|| {
                let message =
                    format!("`{}|{}` has {class:?}, which is no traffic class", map.table, map.key);
                map.problem(class, message, "write numbers from 0 to 15, like \"3\"")
            })?;
            if number(map, class, QUEUES)? == Some(queue) {
                classes.push(class_of);
            }
        }
        classes.sort_unstable();
        Ok(classes)
    }

    /// The priority group of a traffic class: 0 if no map has it (SAI).
    pub fn group_of(&self, port: &str, class: u8) -> Result<u8, Problem> {
        let Some(map) = self.map(port, "tc_to_pg_map")? else { return Ok(0) };
        Ok(number(map, &class.to_string(), QUEUES)?.unwrap_or(0))
    }

    /// The lossless classes of a port: the queue and the priority group of each.
    pub fn lossless(&self, port: &str) -> Result<Vec<(u8, u8)>, Problem> {
        let mut classes = BTreeSet::new();
        if self.config.has("PORT_QOS_MAP") {
            let entries = self.config.table("PORT_QOS_MAP");
            let names = |entry: &&Entry| entry.key.split(',').any(|name| name.trim() == port);
            for entry in entries.filter(names) {
                let list = entry.get("pfc_enable").unwrap_or_default();
                for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    let priority = word.parse().ok().filter(|priority| *priority < QUEUES);
                    let priority = priority.ok_or_else(|| {
                        let message = format!("PFC of {port} is for {word:?}");
                        entry.problem(
                            "pfc_enable",
                            message,
                            "write priorities from 0 to 7, like 3,4",
                        )
                    })?;
                    let of = |field: &str| self.of_priority(port, field, entry, priority);
                    classes.insert((of("pfc_to_queue_map")?, of("pfc_to_pg_map")?));
                }
            }
        } else {
            for entry in self.of_port("BUFFER_PG", port) {
                let has_headroom =
                    || Ok(self.profile(entry)?.is_some_and(|profile| profile.xoff.is_some()));
                if is_null(entry) || has_headroom()? {
                    classes.extend(entry.ports()?.1.map(|number| (number, number)));
                }
            }
        }
        Ok(classes.into_iter().collect())
    }

    /// The queue or the priority group of a lossless priority: the same number if the port has no map.
    fn of_priority(
        &self,
        port: &str,
        field: &str,
        by: &Entry,
        priority: u8,
    ) -> Result<u8, Problem> {
        let Some(map) = self.map(port, field)? else { return Ok(priority) };
        number(map, &priority.to_string(), QUEUES)?.ok_or_else(|| {
            by.problem(
                "pfc_enable",
                format!(
                    "priority {priority} of {port} is lossless, and `{}|{}` does not have it",
                    map.table, map.key
                ),
                format!("add \"{priority}\" to that map, or leave it out of `pfc_enable`"),
            )
        })
    }
}

/// What a map says of a key, below `end`.
fn number(map: &Entry, field: &str, end: u8) -> Result<Option<u8>, Problem> {
    Ok(map.at_most(field, u64::from(end - 1))?.map(|number| number as u8))
}
