//! What became of every field of the configurations.

mod buffers;
mod maps;

use std::collections::{BTreeMap, BTreeSet};

use super::Options;
use super::account::Account;
use super::beside::beside;
use super::config::{Entry, plain};
use super::maps::MAPS;
use super::neighbors::Unit;
use super::network::Network;
use super::plan::Plan;
use super::switch::{From, JUMBO, METER, Port, Profile, Switch};
use crate::import::account::{Fate, Row};

use Fate::{Differs, Kept, Nothing};

/// What became of a field.
type Said = (Fate, String);

fn said(fate: Fate, meaning: impl Into<String>) -> Said {
    (fate, meaning.into())
}

/// Kept if it is as the scenario has it, and otherwise what the scenario has.
fn compared(same: bool, path: &str, has: impl std::fmt::Display) -> Said {
    match same {
        true => said(Kept, path),
        false => said(
            Differs,
            format!("{path} is {has} for all ports: what most of them have, or the largest need"),
        ),
    }
}

/// All rows, and how many fields they are about.
pub fn rows(
    switches: &[Switch],
    plan: &Plan,
    network: &Network,
    units: &[Unit],
    options: Options,
) -> (Vec<Row>, usize) {
    let mut account = Account::default();
    for switch in switches {
        let view = View::new(switch, switches, plan);
        for entry in &switch.config.entries {
            if entry.fields.is_empty() {
                account.add(entry, "", "", view.empty(entry));
            }
            for (field, value) in &entry.fields {
                account.add(entry, field, value, view.field(entry, field, value));
            }
        }
    }
    for Unit { table, key, field, value, fate, meaning } in units {
        account.add_field((table, key, field), value, (*fate, meaning.clone()));
    }
    let fields = account.fields();
    let mut rows = account.rows();
    rows.extend(beside(switches, plan, network, options));
    (rows, fields)
}

/// One switch, with what is asked of it often.
struct View<'a> {
    switch: &'a Switch,
    plan: &'a Plan,
    others: BTreeSet<&'a str>,
    ports: BTreeMap<&'a str, &'a Port>,
    /// By table: the keys that some port has.
    used: BTreeMap<&'static str, BTreeSet<&'a str>>,
    /// Profiles of lossless groups: a port and the queue of a class that has it.
    lossless: BTreeMap<&'a str, (&'a Port, u8)>,
    /// Profiles of lossy groups, each with the profile that was read and the queues of which the packets arrive there.
    arrivals: Users<'a>,
    /// Profiles of queues, each with the profile that was read and the queues that have it.
    departures: Users<'a>,
}

/// Profiles by name, and the queues that use them.
type Users<'a> = BTreeMap<&'a str, (&'a Profile, BTreeSet<u8>)>;

impl<'a> View<'a> {
    fn new(switch: &'a Switch, switches: &'a [Switch], plan: &'a Plan) -> Self {
        let mut used: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
        let mut use_of = |table: &'static str, by: &'a Entry, field: &str| {
            if let Some(name) = by.get(field) {
                used.entry(table).or_default().insert(plain(name));
            }
        };
        for entry in switch.config.table("QUEUE") {
            use_of("SCHEDULER", entry, "scheduler");
            use_of("WRED_PROFILE", entry, "wred_profile");
        }
        for table in ["BUFFER_PG", "BUFFER_QUEUE"] {
            switch.config.table(table).for_each(|entry| use_of("BUFFER_PROFILE", entry, "profile"));
        }
        for entry in switch.config.table("PORT_QOS_MAP") {
            for (field, table) in MAPS {
                use_of(table, entry, field);
            }
        }
        let (mut arrivals, mut departures) = (Users::new(), Users::new());
        let mut lossless = BTreeMap::new();
        for port in &switch.ports {
            for (queue, group) in &port.lossless {
                if group.from == From::Profile {
                    lossless.insert(group.profile.name.as_str(), (port, *queue));
                }
            }
            for (number, queue) in (0..).zip(&port.queues) {
                let arrival = queue.arrival.as_ref().filter(|_| !plan.lossless.contains(&number));
                let departure = queue.profile.as_ref().filter(|_| plan.is_alike(number, port));
                for (users, of) in [(&mut arrivals, arrival), (&mut departures, departure)] {
                    // A queue that is nowhere here uses none.
                    if let Some(of) = of.filter(|_| plan.class(number).is_some()) {
                        let own = users.entry(&of.name).or_insert_with(|| (of, BTreeSet::new()));
                        own.1.insert(number);
                    }
                }
            }
        }
        Self {
            switch,
            plan,
            others: switches.iter().map(|other| other.name.as_str()).collect(),
            ports: switch.ports.iter().map(|port| (port.name.as_str(), port)).collect(),
            used,
            lossless,
            arrivals,
            departures,
        }
    }

    fn is_used(&self, table: &str, key: &str) -> bool {
        self.used.get(table).is_some_and(|keys| keys.contains(key))
    }

    /// Why ports carry no traffic, if none of them does.
    fn left_out(&self, ports: &[&str]) -> Option<Said> {
        if ports.iter().any(|port| self.ports.contains_key(port)) {
            return None;
        }
        let why = ports.iter().find_map(|port| self.switch.left_out.get(*port));
        let why = why.copied().unwrap_or("it is not in `PORT`");
        Some(said(Nothing, format!("the port is left out: {why}")))
    }

    /// A key without fields.
    fn empty(&self, entry: &Entry) -> Said {
        match entry.table.as_str() {
            "PORT" => self.left_out(&[&entry.key]).unwrap_or_else(|| said(Kept, "a link")),
            _ => said(Nothing, "it has no fields"),
        }
    }

    fn field(&self, entry: &Entry, field: &str, value: &str) -> Said {
        let by_port = || self.left_out(&entry.key.split(',').map(str::trim).collect::<Vec<_>>());
        match entry.table.as_str() {
            "PORT" => by_port().unwrap_or_else(|| port(field)),
            "CABLE_LENGTH" => self
                .left_out(&[field])
                .unwrap_or_else(|| said(Kept, format!("`delay` of the link, {METER} a meter"))),
            "BUFFER_POOL" => self.pool(entry, field),
            "BUFFER_PROFILE" => self.profile(entry, field),
            "BUFFER_PG" => self.group(entry, field),
            "BUFFER_QUEUE" | "QUEUE" => self.queue(entry, field),
            "BUFFER_PORT_INGRESS_PROFILE_LIST" | "BUFFER_PORT_EGRESS_PROFILE_LIST" => by_port()
                .unwrap_or_else(|| {
                    said(Nothing, "floodway has no limit of a port as a whole in a shared buffer")
                }),
            "SCHEDULER" => self.scheduler(entry, field),
            "WRED_PROFILE" => self.curve(entry, field),
            "PORT_QOS_MAP" if entry.key == "global" => {
                said(Kept, "the map of ports without their own")
            }
            "PORT_QOS_MAP" => by_port().unwrap_or_else(|| self.maps(entry, field)),
            "DSCP_TO_TC_MAP"
            | "TC_TO_QUEUE_MAP"
            | "TC_TO_PRIORITY_GROUP_MAP"
            | "MAP_PFC_PRIORITY_TO_QUEUE"
            | "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" => self.map(entry, field, value),
            "PFC_WD" => self.watchdog(entry, field, value),
            "DEVICE_NEIGHBOR" => self.left_out(&[&entry.key]).unwrap_or_else(|| {
                let own =
                    self.ports.get(entry.key.as_str()).and_then(|port| port.neighbor.as_ref());
                // Without one it was left out.
                if own.map_or(entry.get("name").is_some(), |neighbor| neighbor.overruled) {
                    return said(Differs, "LLDP sees another neighbor there: see the warning");
                }
                let is_switch = own.is_some_and(|own| self.others.contains(own.name.as_str()));
                match (field, is_switch) {
                    ("name" | "port", true) => said(Kept, "a link between two switches"),
                    ("name", false) => said(Kept, "the name of a host"),
                    _ => said(Nothing, "a host has one port"),
                }
            }),
            "DEVICE_NEIGHBOR_METADATA" if field == "type" => {
                said(Kept, "which neighbors are switches, for what is missing here")
            }
            "DEVICE_METADATA" if field == "hostname" => said(Kept, "the name of the switch"),
            "DEFAULT_LOSSLESS_BUFFER_PARAMETER" => self.default_parameter(field),
            "LOSSLESS_TRAFFIC_PATTERN" => match (self.has(&From::Computed), field) {
                (true, "mtu") => said(
                    Differs,
                    format!(
                        "the longest lossless frame of the headroom that is computed here; a pause waits for a frame \
                         of {JUMBO} bytes of any class"
                    ),
                ),
                (true, _) => {
                    said(Differs, "the headroom that is computed here is that of the worst case")
                }
                (false, _) => said(Nothing, "no headroom is computed"),
            },
            _ => said(Nothing, "floodway does not read this table"),
        }
    }

    fn has(&self, from: &From) -> bool {
        let mut groups = self.switch.ports.iter().flat_map(|port| port.lossless.values());
        groups.any(|group| group.from == *from)
    }

    fn default_parameter(&self, field: &str) -> Said {
        match field {
            "default_dynamic_th" if self.has(&From::Computed) || self.has(&From::Table) => {
                said(Kept, "`alpha` of lossless classes is 2 to this power")
            }
            "over_subscribe_ratio" => {
                said(Nothing, "the size of the headroom pool is `xoff` of `BUFFER_POOL`")
            }
            _ => said(Nothing, "all lossless groups have profiles of their own"),
        }
    }

    /// A field of `QUEUE` or `BUFFER_QUEUE`.
    fn queue(&self, entry: &Entry, field: &str) -> Said {
        let (ports, numbers) = match entry.ports() {
            Ok(named) => named,
            Err(wrong) => return said(Nothing, wrong.message),
        };
        if let Some(left_out) = self.left_out(&ports) {
            return left_out;
        }
        let plan = self.plan;
        let Some(port) = ports.iter().find_map(|port| self.ports.get(port)) else {
            return said(Nothing, "it names no port");
        };
        let queues = || {
            let of = |number: u8| Some((plan.class(number)?, &port.queues[usize::from(number)]));
            numbers.clone().filter_map(of)
        };
        if queues().next().is_none() {
            return said(Nothing, maps::LEFT_OUT);
        }
        match field {
            "profile" => match queues().find(|(class, _)| !plan.is_alike(plan.order[*class], port))
            {
                Some((class, _)) => said(
                    Differs,
                    format!(
                        "queue {} is lossless at other ports, and has here what it has there",
                        plan.order[class]
                    ),
                ),
                None => self.buffer(),
            },
            "scheduler" => {
                let same = queues().all(|(class, queue)| {
                    queue.scheduler.is_none_or(|own| {
                        own.strict == (class < plan.strict) && own.weight == plan.weights[class]
                    })
                });
                compared(same, "`switch.scheduler.drr`", "another one")
            }
            "wred_profile" => {
                let mut own = queues().filter(|(_, queue)| queue.curve.is_some()).peekable();
                if own.peek().is_none() {
                    return said(
                        Differs,
                        "WRED that drops instead of marking is not in the scenario",
                    );
                }
                let same = own.all(|(class, of)| of.curve == plan.curve_at(class, port.rate));
                compared(same, "`switch.aqm.ramp`", "another curve")
            }
            _ => said(Nothing, "floodway does not read this field"),
        }
    }

    fn scheduler(&self, entry: &Entry, field: &str) -> Said {
        if !self.is_used("SCHEDULER", &entry.key) {
            return said(Nothing, "no queue has this scheduler");
        }
        match field {
            "type" if entry.get("type") == Some("WRR") => {
                said(Differs, "weights count bytes here, not packets: `switch.scheduler.drr`")
            }
            "type" => said(Kept, "`switch.scheduler.drr`"),
            "weight" if entry.get("type") == Some("STRICT") => {
                said(Nothing, "strict priority has no weight")
            }
            "weight" => said(Kept, "`switch.scheduler.drr.weights`"),
            _ => said(Nothing, "floodway has no shaper of queues"),
        }
    }

    fn curve(&self, entry: &Entry, field: &str) -> Said {
        if !self.is_used("WRED_PROFILE", &entry.key) {
            return said(Nothing, "no queue has this profile");
        }
        let number = |field: &str| entry.whole(field).ok().flatten();
        let own = self.plan.own_curves.iter().any(|(own, _)| {
            let thresholds = [number("green_min_threshold"), number("green_max_threshold")];
            let percent = number("green_drop_probability").unwrap_or(100);
            thresholds == [Some(own.kmin), Some(own.kmax)] && percent == u64::from(own.percent)
        });
        let path = if own { "switch.aqm.ramp.by_queue" } else { "switch.aqm.ramp" };
        let marks = entry.get("ecn").is_some_and(|ecn| ecn == "ecn_all" || ecn.contains("green"));
        match field {
            _ if field.contains("yellow") || field.contains("red_") && !field.contains("green") => {
                said(Nothing, "all packets are green: no meter colors them")
            }
            "ecn" if marks => said(Kept, format!("`{path}`")),
            _ if !marks => {
                said(Differs, "WRED that drops instead of marking is not in the scenario")
            }
            "wred_green_enable" => {
                said(Kept, "packets that are not ECN-capable are dropped instead of marked")
            }
            "green_min_threshold" => said(Kept, format!("`{path}.kmin`")),
            "green_max_threshold"
                if !own && entry.get("green_min_threshold") == entry.get(field) =>
            {
                said(Differs, "`switch.aqm.ramp.kmax`, a byte above `kmin`")
            }
            "green_max_threshold" => said(Kept, format!("`{path}.kmax`")),
            "green_drop_probability" => said(Kept, format!("`{path}.pmax`, as a fraction")),
            _ => said(Nothing, "floodway does not read this field"),
        }
    }

    fn watchdog(&self, entry: &Entry, field: &str, value: &str) -> Said {
        if entry.key == "GLOBAL" {
            return said(
                Differs,
                "a storm is seen when it has lasted for the detection time, not at the next poll",
            );
        }
        let ports: Vec<&str> = entry.key.split(',').map(str::trim).collect();
        if let Some(left_out) = self.left_out(&ports) {
            return left_out;
        }
        let path = "`switch.flow_control.pfc.watchdog`";
        if field == "action" && value == "alert" {
            return said(Differs, "it only reports, and the scenario has no watchdog for that");
        }
        let Some(plan) = self.plan.watchdog else { return said(Nothing, "no watchdog acts") };
        let same = match field {
            "detection_time" => value.parse() == Ok(plan.detection),
            "restoration_time" => value.parse() == Ok(plan.restoration),
            "action" => (value == "forward") == plan.forwards,
            _ => return said(Nothing, "floodway does not read this field"),
        };
        compared(same, path, "another one")
    }
}

fn port(field: &str) -> Said {
    match field {
        "speed" => said(Kept, "`rate` of the link"),
        "admin_status" => said(Kept, "ports that are down are left out"),
        "mtu" => said(Nothing, "frames are as long as the transports of the hosts make them"),
        _ => said(Nothing, "it says nothing of speed, buffers or queues"),
    }
}
