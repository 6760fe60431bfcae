//! Maps of DSCPs, traffic classes and priorities.

use super::super::config::Entry;
use super::super::maps::Dscps;
use super::super::switch::Port;
use super::{Said, View, compared, said};
use crate::import::account::Fate;

use Fate::{Differs, Kept, Nothing};

/// What becomes of a class that has no queue here.
pub const LEFT_OUT: &str = "seven queues are for data here, and this one is left out: its DSCPs are in the default queue of \
                            `switch.classify.dscp`";

impl View<'_> {
    /// A field of `PORT_QOS_MAP`.
    pub fn maps(&self, entry: &Entry, field: &str) -> Said {
        let ports: Vec<&str> = entry.key.split(',').map(str::trim).collect();
        let Some(port) = ports.iter().find_map(|port| self.ports.get(port)) else {
            return said(Nothing, "it names no port");
        };
        let plan = self.plan;
        match field {
            "pfc_enable" => {
                let own: Vec<u8> = port.lossless.keys().copied().collect();
                let all: Vec<String> = plan.lossless.iter().map(u8::to_string).collect();
                let has = format!("for {}", all.join(", "));
                compared(own == plan.lossless, "`switch.flow_control.pfc.queues`", has)
            }
            "dscp_to_tc_map" | "tc_to_queue_map" => match (&port.dscps, plan.dscps) {
                (Some(own), Some(all)) => {
                    compared(own.queues == all, "`switch.classify.dscp`", "another map")
                }
                _ => said(Kept, "the queue of the scenario's flows"),
            },
            "pfc_to_queue_map" | "pfc_to_pg_map" => said(Kept, "which classes are lossless"),
            "tc_to_pg_map" => said(Kept, "the share of a class at the ingress"),
            "pfcwd_sw_enable" if port.watchdog.is_some() => {
                said(Kept, "`switch.flow_control.pfc.watchdog`")
            }
            "pfcwd_sw_enable" => said(Nothing, "the watchdog runs at ports that `PFC_WD` names"),
            "scheduler" => said(Nothing, "floodway has no shaper of ports"),
            _ => said(Nothing, "floodway does not read this field"),
        }
    }

    /// A field of a map.
    pub fn map(&self, entry: &Entry, field: &str, value: &str) -> Said {
        let Some(port) = self.port_with(entry) else {
            return said(Nothing, "no port has this map");
        };
        let number = |text: &str| text.trim().parse::<u8>().ok();
        let (Some(key), Some(value)) = (number(field), number(value)) else {
            return said(Nothing, "floodway does not read this field");
        };
        let dscps = port.dscps.zip(self.plan.dscps);
        match (entry.table.as_str(), dscps) {
            ("DSCP_TO_TC_MAP", Some((own, all))) => {
                let dscp = usize::from(key);
                let (own, all) = own.queues.get(dscp).zip(all.get(dscp)).unwrap_or((&0, &0));
                self.class(*own, own == all)
            }
            ("DSCP_TO_TC_MAP", None) => said(Nothing, ONE_CLASS),
            ("TC_TO_QUEUE_MAP", Some((own, all))) => self.queue_of_class(key, value, (&own, &all)),
            ("TC_TO_QUEUE_MAP", None) if value == self.plan.main => {
                said(Kept, format!("the class of the scenario's flows, queue {value}"))
            }
            ("TC_TO_QUEUE_MAP", None) => said(Nothing, ONE_CLASS),
            ("TC_TO_PRIORITY_GROUP_MAP", _) => self.group_of_class(port, entry, key, value),
            _ if self.plan.lossless.contains(&value) => {
                said(Kept, "`switch.flow_control.pfc.queues`")
            }
            _ => said(Nothing, "PFC is not enabled for it"),
        }
    }

    /// A DSCP or a traffic class that a port puts into a queue, and whether most ports do.
    fn class(&self, queue: u8, same: bool) -> Said {
        match (same, self.plan.class(queue)) {
            (true, Some(_)) => {
                said(Kept, format!("`switch.classify.dscp`, queue {queue} of the switches"))
            }
            (true, None) => said(Differs, LEFT_OUT),
            (false, _) => said(
                Differs,
                "most ports put it into another queue, and here all do: `switch.classify.dscp`",
            ),
        }
    }

    fn queue_of_class(&self, class: u8, queue: u8, (own, all): (&Dscps, &[u8])) -> Said {
        let dscps: Vec<usize> = (0..all.len()).filter(|dscp| own.classes[*dscp] == class).collect();
        match dscps.is_empty() {
            true => said(Nothing, "no DSCP leads to this traffic class"),
            false => self.class(queue, dscps.iter().all(|dscp| own.queues[*dscp] == all[*dscp])),
        }
    }

    /// A traffic class, and the priority group in which its packets arrive.
    fn group_of_class(&self, port: &Port, map: &Entry, class: u8, group: u8) -> Said {
        let queue_of = |class: u8| {
            let leads = |queue: &u8| {
                let classes = self.switch.classes_of(&port.name, *queue);
                classes.is_ok_and(|classes| classes.contains(&class))
            };
            (0..8).find(leads)
        };
        let Some(queue) = queue_of(class) else {
            return said(Nothing, "no queue is for this traffic class");
        };
        if let Some(lossless) = port.lossless.get(&queue) {
            return match lossless.number == group {
                true => said(Kept, format!("the priority group of lossless queue {queue}")),
                false => said(
                    Differs,
                    format!(
                        "its packets are counted in a group that PFC does not watch, and here those of queue {queue} are \
                         lossless"
                    ),
                ),
            };
        }
        let others = map.fields.iter().filter(|(_, of)| of.trim().parse() == Ok(group));
        let mut others = others.filter_map(|(class, _)| queue_of(class.trim().parse().ok()?));
        match others.any(|other| other != queue) {
            true => said(
                Differs,
                "classes of one priority group share a threshold, and here each class has one",
            ),
            false => said(Kept, "the share of its class at the ingress"),
        }
    }

    /// A port that has this map.
    fn port_with(&self, map: &Entry) -> Option<&Port> {
        let (field, _) = super::MAPS.iter().find(|(_, table)| *table == map.table)?;
        let has = |port: &&Port| {
            let own = self.switch.map(&port.name, field).ok().flatten();
            own.is_some_and(|own| own.key == map.key)
        };
        self.switch.ports.iter().find(has)
    }
}

/// What a map does if no map has DSCPs.
const ONE_CLASS: &str = "without `DSCP_TO_TC_MAP` all flows of the scenario are in one class";
