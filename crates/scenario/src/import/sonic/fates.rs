//! What became of every field of the configurations.

use std::collections::{BTreeMap, BTreeSet};

use super::Options;
use super::account::Account;
use super::beside::beside;
use super::config::{Entry, plain};
use super::neighbors::Unit;
use super::network::Network;
use super::plan::{FRAME, Plan, Pool};
use super::switch::{From, METER, Port, Switch, Threshold, is_null};
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

const OTHERS: &str =
    "no flow of the scenario is in such a class; flows that you add have the settings of its class";

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
    /// Profiles of lossless groups, of lossy ones, and of the queue of the flows.
    lossless: BTreeMap<&'a str, &'a Port>,
    lossy: BTreeSet<&'a str>,
    main: BTreeSet<&'a str>,
    /// Traffic classes that become the queue of the flows, by name of the map.
    classes: BTreeSet<u8>,
}

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
        let main = usize::from(plan.main);
        let (mut lossless, mut lossy, mut main_names) =
            (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for port in &switch.ports {
            for group in port.lossless.values().filter(|group| group.from == From::Profile) {
                lossless.insert(group.profile.name.as_str(), port);
            }
            lossy.extend(port.lossy.iter().map(|profile| profile.name.as_str()));
            main_names.extend(port.queues[main].profile.iter().map(|of| of.name.as_str()));
        }
        let classes = switch.config.table("TC_TO_QUEUE_MAP").flat_map(|map| &map.fields);
        let classes = classes.filter(|(_, queue)| queue.parse() == Ok(plan.main));
        let mut classes: BTreeSet<u8> =
            classes.filter_map(|(class, _)| class.parse().ok()).collect();
        if !switch.config.has("TC_TO_QUEUE_MAP") {
            classes.insert(plan.main);
        }
        Self {
            switch,
            plan,
            others: switches.iter().map(|other| other.name.as_str()).collect(),
            ports: switch.ports.iter().map(|port| (port.name.as_str(), port)).collect(),
            used,
            lossless,
            lossy,
            main: main_names,
            classes,
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
                (true, "mtu") => {
                    said(Differs, "the longest frame of the headroom that is computed here")
                }
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

    fn pool(&self, entry: &Entry, field: &str) -> Said {
        let is = |pool: &Option<Pool>| pool.as_ref().is_some_and(|pool| pool.name == entry.key);
        let side = match (is(&self.plan.ingress), is(&self.plan.egress)) {
            (true, _) => "ingress",
            (_, true) => "egress",
            _ => return said(Nothing, "no flow of the scenario takes from this pool"),
        };
        match field {
            "size" => said(Kept, format!("`switch.buffer.shared.{side}.pool`")),
            "type" => said(Kept, format!("`switch.buffer.shared.{side}`")),
            "mode" => said(Kept, "profiles have dynamic or static thresholds"),
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

    fn profile(&self, entry: &Entry, field: &str) -> Said {
        let name = entry.key.as_str();
        if !self.is_used("BUFFER_PROFILE", name) {
            return said(Nothing, "no group and no queue has this profile");
        }
        let plan = self.plan;
        if let Some(port) = self.lossless.get(name) {
            let group = port.lossless.values().find(|group| group.profile.name == name);
            let (Some(share), Some(group)) = (plan.groups.get(&port.rate), group) else {
                return said(Differs, OTHERS);
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
                _ => side(
                    &plan.ingress,
                    "ingress",
                    entry,
                    field,
                    profile.threshold,
                    profile.guaranteed(),
                    share.threshold,
                ),
            };
        }
        let of_egress = self.main.contains(name);
        let of_ingress = plan.lossless.is_empty() && self.lossy.contains(name);
        let (pool, place) = match (of_egress, of_ingress) {
            (true, _) => (&plan.egress, "egress"),
            (_, true) => (&plan.ingress, "ingress"),
            _ => return said(Differs, OTHERS),
        };
        let Some(chosen) = pool else { return said(Differs, OTHERS) };
        let mut profiles = self.switch.ports.iter().flat_map(|port| {
            port.lossy.iter().chain(port.queues.iter().filter_map(|queue| queue.profile.as_ref()))
        });
        let Some(profile) = profiles.find(|profile| profile.name == name) else {
            return said(Differs, OTHERS);
        };
        side(pool, place, entry, field, profile.threshold, profile.size, chosen.threshold)
    }

    fn group(&self, entry: &Entry, field: &str) -> Said {
        let Ok((ports, numbers)) = entry.ports() else {
            return said(Nothing, "it names no port");
        };
        if let Some(left_out) = self.left_out(&ports) {
            return left_out;
        }
        if field != "profile" {
            return said(Nothing, "floodway does not read this field");
        }
        let first = ports.iter().find_map(|port| self.ports.get(port));
        let is_lossless = first
            .is_some_and(|port| numbers.clone().any(|number| port.lossless.contains_key(&number)));
        match (is_lossless, is_null(entry)) {
            (true, true) => said(
                Differs,
                "the switch computes the profile when it runs: see `BUFFER_PG profile` below",
            ),
            (true, false) => said(Kept, "the share and the headroom of lossless classes"),
            (false, _) if self.plan.lossless.is_empty() => {
                said(Kept, "the share of the ingress pool")
            }
            (false, _) => said(Differs, OTHERS),
        }
    }

    fn queue(&self, entry: &Entry, field: &str) -> Said {
        let Ok((ports, numbers)) = entry.ports() else {
            return said(Nothing, "it names no port");
        };
        if let Some(left_out) = self.left_out(&ports) {
            return left_out;
        }
        let plan = self.plan;
        let Some(port) = ports.iter().find_map(|port| self.ports.get(port)) else {
            return said(Nothing, "it names no port");
        };
        let has_main = numbers.clone().contains(&plan.main);
        if numbers.clone().all(|number| plan.class(number).is_none()) {
            return said(Nothing, "seven queues are for data here, and nothing is in this one");
        }
        match field {
            "profile" if has_main => said(Kept, "the share of the egress pool"),
            "profile" => said(Differs, OTHERS),
            "scheduler" => {
                let same = numbers.clone().all(|number| {
                    let own = port.queues[usize::from(number)].scheduler;
                    plan.class(number).is_none_or(|class| {
                        own.is_none_or(|own| {
                            own.strict == (class < plan.strict) && own.weight == plan.weights[class]
                        })
                    })
                });
                compared(same, "`switch.scheduler.drr`", "another one")
            }
            "wred_profile" => {
                let here = plan.curves.get(&port.rate).copied().or(plan.curve);
                let own = numbers.clone().map(|number| port.queues[usize::from(number)].curve);
                match own.flatten().next() {
                    None => {
                        said(Differs, "WRED that drops instead of marking is not in the scenario")
                    }
                    Some(own) => compared(Some(own) == here, "`switch.aqm.ramp`", "another curve"),
                }
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
        let marks = entry.get("ecn").is_some_and(|ecn| ecn == "ecn_all" || ecn.contains("green"));
        match field {
            _ if field.contains("yellow") || field.contains("red_") && !field.contains("green") => {
                said(Nothing, "all packets are green: no meter colors them")
            }
            "ecn" if marks => said(Kept, "`switch.aqm.ramp`"),
            _ if !marks => {
                said(Differs, "WRED that drops instead of marking is not in the scenario")
            }
            "wred_green_enable" => {
                said(Kept, "packets that are not ECN-capable are dropped instead of marked")
            }
            "green_min_threshold" => said(Kept, "`switch.aqm.ramp.kmin`"),
            "green_max_threshold" if entry.get("green_min_threshold") == entry.get(field) => {
                said(Differs, "`switch.aqm.ramp.kmax`, a byte above `kmin`")
            }
            "green_max_threshold" => said(Kept, "`switch.aqm.ramp.kmax`"),
            "green_drop_probability" => said(Kept, "`switch.aqm.ramp.pmax`, as a fraction"),
            _ => said(Nothing, "floodway does not read this field"),
        }
    }

    fn maps(&self, entry: &Entry, field: &str) -> Said {
        let ports: Vec<&str> = entry.key.split(',').map(str::trim).collect();
        let Some(port) = ports.iter().find_map(|port| self.ports.get(port)) else {
            return said(Nothing, "it names no port");
        };
        match field {
            "pfc_enable" => {
                let own: Vec<u8> = port.lossless.keys().copied().collect();
                let all: Vec<String> = self.plan.lossless.iter().map(u8::to_string).collect();
                let has = format!("for {}", all.join(", "));
                compared(own == self.plan.lossless, "`switch.flow_control.pfc.queues`", has)
            }
            "dscp_to_tc_map" | "tc_to_queue_map" | "pfc_to_queue_map" | "pfc_to_pg_map" => {
                said(Kept, "which classes are lossless, and where the flows are")
            }
            "tc_to_pg_map" => said(Kept, "the ingress is accounted by class"),
            "pfcwd_sw_enable" if port.watchdog.is_some() => {
                said(Kept, "`switch.flow_control.pfc.watchdog`")
            }
            "pfcwd_sw_enable" => said(Nothing, "the watchdog runs at ports that `PFC_WD` names"),
            "scheduler" => said(Nothing, "floodway has no shaper of ports"),
            _ => said(Nothing, "floodway does not read this field"),
        }
    }

    fn map(&self, entry: &Entry, field: &str, value: &str) -> Said {
        let table = entry.table.as_str();
        if self.switch.config.has("PORT_QOS_MAP") && !self.is_used(table, &entry.key) {
            return said(Nothing, "no port has this map");
        }
        let number = |text: &str| text.trim().parse::<u8>().ok();
        let of_flows = match table {
            "DSCP_TO_TC_MAP" => number(value).is_some_and(|class| self.classes.contains(&class)),
            "TC_TO_QUEUE_MAP" | "TC_TO_PRIORITY_GROUP_MAP" => {
                number(field).is_some_and(|class| self.classes.contains(&class))
            }
            _ => {
                let lossless = |queue: u8| self.plan.lossless.contains(&queue);
                return match number(value).is_some_and(lossless) {
                    true => said(Kept, "`switch.flow_control.pfc.queues`"),
                    false => said(Nothing, "PFC is not enabled for it"),
                };
            }
        };
        match of_flows {
            true => {
                said(Kept, format!("the class of the scenario's flows, queue {}", self.plan.main))
            }
            false => said(Nothing, "no flow of the scenario is in this class"),
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

const XON: &str = "the neighbor goes on `xon_offset` below the dynamic threshold; SAI also lets it go on at `xon`, if that is higher";

/// The maps that a port has, and their tables.
const MAPS: [(&str, &str); 5] = [
    ("dscp_to_tc_map", "DSCP_TO_TC_MAP"),
    ("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
    ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
    ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
    ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
];

fn port(field: &str) -> Said {
    match field {
        "speed" => said(Kept, "`rate` of the link"),
        "admin_status" => said(Kept, "ports that are down are left out"),
        "mtu" => said(Nothing, "frames are as long as the transports of the hosts make them"),
        _ => said(Nothing, "it says nothing of speed, buffers or queues"),
    }
}

/// A profile of a group or a queue, and what the scenario has for all of its kind.
fn side(
    pool: &Option<Pool>,
    place: &str,
    entry: &Entry,
    field: &str,
    own: Option<Threshold>,
    guaranteed: u64,
    chosen: Threshold,
) -> Said {
    let Some(pool) = pool else { return said(Differs, OTHERS) };
    let path = |field: &str| format!("`switch.buffer.shared.{place}.{field}`");
    match field {
        "pool" => {
            compared(entry.get("pool").map(plain) == Some(&pool.name), &path("pool"), "another one")
        }
        "size" if guaranteed != pool.guaranteed => {
            compared(false, &path("guaranteed"), pool.usable())
        }
        "size" if pool.usable() != guaranteed => said(
            Differs,
            format!(
                "{} is 0B: a guarantee takes a whole frame here, of {FRAME} bytes or more",
                path("guaranteed")
            ),
        ),
        "size" => said(Kept, path("guaranteed")),
        "dynamic_th" => compared(
            own == Some(chosen),
            &format!("{}, 2 to this power", path("alpha")),
            "another one",
        ),
        "static_th" if own != Some(chosen) => compared(false, &path("alpha"), "another one"),
        "static_th" => match pool.alpha() {
            None => said(Kept, format!("{} = false: no threshold below the pool", path("alpha"))),
            Some(alpha) => said(
                Differs,
                format!(
                    "{} = {alpha:.4}, with which one queue alone may hold as much",
                    path("alpha")
                ),
            ),
        },
        "xoff" | "xon" | "xon_offset" => said(Nothing, "only lossless groups have headroom"),
        _ => said(Nothing, "floodway does not read this field"),
    }
}
