//! One switch: what its configuration says of every port, with all references resolved.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::flow_control::pausing::{Link, standard_response};

use super::config::{Config, Entry, plain};
use super::maps::Dscps;
use super::neighbors::{Beside, Neighbor};
use crate::headroom::Cable;
use crate::headroom::lookup::Table;
use crate::text::Problem;

/// Priorities, queues and priority groups of a port.
pub const QUEUES: u8 = 8;

/// Propagation delay of a meter of cable.
pub const METER: Duration = Duration::from_ns(5);

/// The longest frame that SONiC's ports take by default (`PORT`, `mtu` 9100, with headers).
pub const JUMBO: u64 = 9_216;

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// Its configuration.
    pub config: Config,
    /// The headroom table of its model.
    pub headroom: Option<Table>,
    /// Its ports that carry traffic.
    pub ports: Vec<Port>,
    /// Other ports, and why they carry none.
    pub left_out: BTreeMap<String, &'static str>,
}

/// A port.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its speed.
    pub rate: Rate,
    /// Whether that is in the configuration.
    pub rate_is_known: bool,
    /// Its cable.
    pub cable: Option<Cable>,
    /// The settings of its lossless classes, by the number of their queue.
    pub lossless: BTreeMap<u8, Group>,
    /// The profile of its first lossy priority group.
    pub lossy: Option<Profile>,
    /// Where the packets of each DSCP go; none if it has no map of them.
    pub dscps: Option<Dscps>,
    /// By number.
    pub queues: [Queue; QUEUES as usize],
    /// The watchdog of its lossless queues.
    pub watchdog: Option<Watchdog>,
    /// What its cable leads to.
    pub neighbor: Option<Neighbor>,
}

/// The priority group of a lossless class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its number.
    pub number: u8,
    /// What it has.
    pub profile: Profile,
    /// Where that comes from.
    pub from: From,
}

/// Where the settings of a lossless class come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// A profile in the configuration.
    Profile,
    /// The line of the headroom table for this speed and cable, as SONiC's buffer manager takes it.
    Table,
    /// Neither: computed here from speed and cable.
    Computed,
}

/// A buffer profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Its name; empty if it is not in the configuration.
    pub name: String,
    /// The pool that it takes from.
    pub pool: String,
    /// How much of the pool.
    pub threshold: Option<Threshold>,
    /// Bytes of its own.
    pub size: u64,
    /// Bytes that arrive after the pause: headroom. Its presence makes a group lossless.
    pub xoff: Option<u64>,
    /// Bytes at which the neighbor goes on.
    pub xon: u64,
    /// Bytes below the threshold at which it goes on.
    pub xon_offset: u64,
}

impl Profile {
    /// Bytes of its own below XOFF. Some vendors count headroom and XON in `size`, others neither.
    pub fn guaranteed(&self) -> u64 {
        match self.xoff {
            Some(xoff) if self.size >= xoff.saturating_add(self.xon) => self.size - xoff,
            _ => self.size,
        }
    }
}

/// A threshold in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Threshold {
    /// Two to this power times the free bytes of the pool.
    Dynamic(i32),
    /// So many bytes.
    Static(u64),
}

impl Threshold {
    /// The `alpha` of floodway's pools of `pool` bytes; `None` is complete sharing. A static threshold below
    /// the pool becomes the alpha with which one queue alone may hold as much.
    pub fn alpha(self, pool: u64) -> Option<f64> {
        match self {
            Self::Dynamic(exponent) => Some(f64::from(exponent).exp2()),
            Self::Static(bytes) if bytes >= pool => None,
            Self::Static(bytes) => Some(bytes.max(1) as f64 / (pool - bytes.min(pool - 1)) as f64),
        }
    }
}

/// An egress queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Its buffer.
    pub profile: Option<Profile>,
    /// The profile of the lossy priority group in which its packets arrive.
    pub arrival: Option<Profile>,
    /// When it sends.
    pub scheduler: Option<Scheduler>,
    /// How it marks.
    pub curve: Option<Curve>,
}

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scheduler {
    /// Whether it has strict priority.
    pub strict: bool,
    /// Its weight otherwise.
    pub weight: u32,
}

/// The curve of `WRED_PROFILE` for green packets, marking instead of dropping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Curve {
    /// Where marking begins.
    pub kmin: u64,
    /// Where its probability is at the maximum.
    pub kmax: u64,
    /// That maximum, in percent.
    pub percent: u32,
}

/// The watchdog of a port. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watchdog {
    /// Detection time.
    pub detection: u64,
    /// Restoration time.
    pub restoration: u64,
    /// Whether packets are forwarded in a storm instead of dropped.
    pub forwards: bool,
}

impl Switch {
    /// Resolves a configuration, with what other files say of its ports. `rate` is the speed of ports of which no
    /// speed is known.
    pub fn new(
        name: String,
        config: Config,
        headroom: Option<Table>,
        mut beside: Beside,
        rate: Rate,
    ) -> Result<Self, Problem> {
        let (ports, left_out) = ports(&config)?;
        if ports.is_empty() {
            let tables: Vec<&str> = config.tables().collect();
            return Err(config.problem(
                format!("the configuration of {name} names no port that carries traffic"),
                format!(
                    "it has the tables {}; give the file with `PORT`, `BUFFER_PG`, `BUFFER_QUEUE`, \
                     `QUEUE`, `PORT_QOS_MAP` or `CABLE_LENGTH` too",
                    tables.join(", ")
                ),
            ));
        }
        let mut switch = Self { name, config, headroom, ports: Vec::new(), left_out };
        for port in ports {
            let port = switch.port(&port, &mut beside, rate)?;
            switch.ports.push(port);
        }
        let ports = std::mem::take(&mut switch.ports);
        let (idle, ports): (Vec<_>, Vec<_>) =
            ports.into_iter().partition(|port| switch.takes_nothing(port));
        switch.ports = ports;
        let why = "its priority groups have no buffer";
        switch.left_out.extend(idle.into_iter().map(|port| (port.name, why)));
        if switch.ports.is_empty() {
            return Err(switch.config.problem(
                "no port has a buffer: all priority groups have profiles without bytes",
                "give profiles with bytes to the ports that carry traffic, in `BUFFER_PG`",
            ));
        }
        Ok(switch)
    }

    /// The size of a pool; none if there is no such pool, or if the switch computes it.
    pub fn pool(&self, name: &str) -> Result<Option<u64>, Problem> {
        match self.config.entry("BUFFER_POOL", name) {
            Some(pool) => pool.whole("size"),
            None => Ok(None),
        }
    }

    fn takes_nothing(&self, port: &Port) -> bool {
        let nothing = |profile: &Profile| {
            let pool = self.pool(&profile.pool).ok().flatten();
            profile.size == 0 && profile.xoff.is_none() && pool == Some(0)
        };
        port.lossless.is_empty() && port.lossy.as_ref().is_some_and(nothing)
    }

    /// The profile that a field names.
    pub fn profile(&self, by: &Entry) -> Result<Option<Profile>, Problem> {
        let Some(entry) = self.config.named("BUFFER_PROFILE", by, "profile")? else {
            return Ok(None);
        };
        let pool = entry.get("pool").map(plain).unwrap_or_default().to_owned();
        self.config.named("BUFFER_POOL", entry, "pool")?;
        let dynamic = entry.exponent("dynamic_th")?.map(Threshold::Dynamic);
        let fixed = entry.whole("static_th")?.map(Threshold::Static);
        Ok(Some(Profile {
            name: entry.key.clone(),
            pool,
            threshold: dynamic.or(fixed),
            size: entry.whole("size")?.unwrap_or(0),
            xoff: entry.whole("xoff")?,
            xon: entry.whole("xon")?.unwrap_or(0),
            xon_offset: entry.whole("xon_offset")?.unwrap_or(0),
        }))
    }

    fn port(&self, name: &str, beside: &mut Beside, rate: Rate) -> Result<Port, Problem> {
        let own = self.config.entry("PORT", name);
        let speed = own.map(|port| port.at_most("speed", 10_000_000)).transpose()?.flatten();
        if let (Some(0), Some(port)) = (speed, own) {
            let help = "write the speed in Mb/s, like \"100000\" for 100Gb/s";
            return Err(port.problem("speed", format!("`PORT|{name}` has a speed of 0"), help));
        }
        let known = speed.map(Rate::from_mbps).or_else(|| beside.speeds.get(name).copied());
        let rate = known.unwrap_or(rate);
        let mut cable = beside.cables.get(name).copied();
        for lengths in self.config.table("CABLE_LENGTH") {
            let Some(text) = lengths.get(name) else { continue };
            let length: Cable = text.parse().map_err(|why: String| {
                let message = format!("the cable of {name} is {text:?}: {why}");
                lengths.problem(name, message, "write it like 40m")
            })?;
            cable = cable.max(Some(length));
        }
        let mut queues: [Queue; QUEUES as usize] = Default::default();
        for entry in self.of_port("BUFFER_QUEUE", name) {
            let (_, numbers) = entry.ports()?;
            let profile = self.profile(entry)?;
            numbers.for_each(|number| queues[usize::from(number)].profile.clone_from(&profile));
        }
        for entry in self.of_port("QUEUE", name) {
            let (_, numbers) = entry.ports()?;
            let (scheduler, curve) = (self.scheduler(entry)?, self.curve(entry)?);
            for number in numbers {
                let queue = &mut queues[usize::from(number)];
                queue.scheduler = scheduler.or(queue.scheduler);
                queue.curve = curve.or(queue.curve);
            }
        }
        let mut lossy: BTreeMap<u8, Profile> = BTreeMap::new();
        let mut first = None;
        for entry in self.of_port("BUFFER_PG", name) {
            if is_null(entry) {
                continue;
            }
            if let Some(profile) = self.profile(entry)?.filter(|profile| profile.xoff.is_none()) {
                lossy.extend(entry.ports()?.1.map(|number| (number, profile.clone())));
                first.get_or_insert(profile);
            }
        }
        for (number, queue) in (0..).zip(&mut queues) {
            // Of several classes the first: their packets are not told apart at the ingress.
            let class = self.classes_of(name, number)?.first().copied();
            let group = class.map_or(Ok(0), |class| self.group_of(name, class))?;
            queue.arrival = lossy.get(&group).or(first.as_ref()).cloned();
        }
        let mut port = Port {
            name: name.to_owned(),
            rate,
            rate_is_known: known.is_some(),
            cable,
            lossless: BTreeMap::new(),
            lossy: first,
            dscps: self.dscps(name)?,
            queues,
            watchdog: self.watchdog(name)?,
            neighbor: beside.neighbors.remove(name),
        };
        let classes = self.lossless(name)?;
        for &(queue, group) in &classes {
            let group = self.group(&port, group, classes.len())?;
            port.lossless.insert(queue, group);
        }
        Ok(port)
    }

    /// The entries of a table that are about a port.
    pub fn of_port<'a>(
        &'a self,
        table: &'static str,
        port: &'a str,
    ) -> impl Iterator<Item = &'a Entry> {
        let names =
            move |entry: &&Entry| entry.ports().is_ok_and(|(ports, _)| ports.contains(&port));
        self.config.table(table).filter(names)
    }

    /// The settings of a lossless priority group.
    fn group(&self, port: &Port, number: u8, classes: usize) -> Result<Group, Problem> {
        for entry in self.of_port("BUFFER_PG", &port.name) {
            if !entry.ports()?.1.contains(&number) || is_null(entry) {
                continue;
            }
            let name = entry.get("profile").map(plain).unwrap_or_default();
            // The buffer manager writes such profiles when it runs.
            let is_made = name.starts_with("pg_lossless_") && self.headroom.is_some();
            if is_made && self.config.entry("BUFFER_PROFILE", name).is_none() {
                continue;
            }
            if let Some(profile) = self.profile(entry)?.filter(|profile| profile.xoff.is_some()) {
                return Ok(Group { number, profile, from: From::Profile });
            }
        }
        let pool = self.lossless_pool();
        let default = self.config.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER").next();
        let exponent = default.map(|entry| entry.exponent("default_dynamic_th")).transpose()?;
        let threshold = Some(Threshold::Dynamic(exponent.flatten().unwrap_or(0)));
        let line = self
            .headroom
            .as_ref()
            .and_then(|table| table.at(port.rate).find(|line| port.cable == Some(line.cable)));
        if let Some(line) = line {
            let profile = Profile {
                name: String::new(),
                pool,
                threshold,
                size: line.size.0,
                xoff: Some(line.xoff.0),
                xon: line.xon.0,
                xon_offset: line.xon_offset.0,
            };
            return Ok(Group { number, profile, from: From::Table });
        }
        let Bytes(headroom) = self.need(port, classes)?;
        let profile = Profile { pool, threshold, xoff: Some(headroom), ..Profile::default() };
        Ok(Group { number, profile, from: From::Computed })
    }

    /// The headroom that a lossless class of a port needs if so many classes pause by themselves. `mtu` of
    /// `LOSSLESS_TRAFFIC_PATTERN` is the longest frame of lossless classes only: a pause may wait for a frame of any
    /// class, as in SONiC's own formula, which has both (`buffer_headroom_mellanox.lua` of sonic-net/sonic-swss).
    pub fn need(&self, port: &Port, classes: usize) -> Result<Bytes, Problem> {
        let cable = port.cable.unwrap_or(Cable::meters(0));
        let traffic = self.config.table("LOSSLESS_TRAFFIC_PATTERN").next();
        let pattern = traffic.map(|entry| entry.at_most("mtu", JUMBO)).transpose()?.flatten();
        let lossless = pattern.unwrap_or(JUMBO).max(u64::from(length::SHORTEST_FRAME));
        let link = Link {
            rate: port.rate,
            delay: cable.delay(METER),
            lossless_classes: classes as u8,
            smallest_frame: length::SHORTEST_FRAME,
            largest_frame: lossless as u16,
            wire_overhead: length::PREAMBLE_AND_GAP,
            latency: Duration::ZERO,
            cell: Cell::default(),
        };
        let longer = port.rate.time_for(Bytes(JUMBO - lossless));
        Ok(link.headroom(standard_response(port.rate) + longer))
    }

    /// The ingress pool of lossless classes: the one with shared headroom, or else the one with `lossless` in
    /// its name, as SONiC's buffer manager calls it.
    fn lossless_pool(&self) -> String {
        let pools: Vec<&Entry> = self.config.table("BUFFER_POOL").collect();
        let ingress = |pool: &&&Entry| pool.get("type") != Some("egress");
        let mut found = pools.iter().filter(ingress).filter(|pool| pool.key.contains("lossless"));
        let with_headroom = pools.iter().filter(ingress).find(|pool| pool.get("xoff").is_some());
        let pool = with_headroom.or_else(|| found.next());
        pool.or_else(|| pools.iter().find(ingress)).map_or(String::new(), |pool| pool.key.clone())
    }

    fn scheduler(&self, queue: &Entry) -> Result<Option<Scheduler>, Problem> {
        let Some(entry) = self.config.named("SCHEDULER", queue, "scheduler")? else {
            return Ok(None);
        };
        let strict = match entry.get("type") {
            Some("STRICT") => true,
            Some("DWRR" | "WRR") | None => false,
            Some(other) => {
                let message = format!("the type of `SCHEDULER|{}` is {other:?}", entry.key);
                return Err(entry.problem("type", message, "write STRICT, DWRR or WRR"));
            }
        };
        let weight = entry.at_most("weight", 10_000)?.unwrap_or(1);
        if weight == 0 && !strict {
            let message = format!("the weight of `SCHEDULER|{}` is 0", entry.key);
            return Err(entry.problem("weight", message, "write at least 1: it would never send"));
        }
        Ok(Some(Scheduler { strict, weight: weight.max(1) as u32 }))
    }

    /// The curve of a queue, if it marks.
    fn curve(&self, queue: &Entry) -> Result<Option<Curve>, Problem> {
        let Some(entry) = self.config.named("WRED_PROFILE", queue, "wred_profile")? else {
            return Ok(None);
        };
        let marks = entry.get("ecn").is_some_and(|ecn| ecn == "ecn_all" || ecn.contains("green"));
        if !marks {
            return Ok(None);
        }
        let Some((kmin, kmax)) =
            entry.whole("green_min_threshold")?.zip(entry.whole("green_max_threshold")?)
        else {
            let message =
                format!("`WRED_PROFILE|{}` marks green packets, without thresholds", entry.key);
            let help = "write `green_min_threshold` and `green_max_threshold`, in bytes";
            return Err(entry.problem("ecn", message, help));
        };
        if kmin > kmax {
            let message =
                format!("`green_min_threshold` ({kmin}) is above `green_max_threshold` ({kmax})");
            let help = "marking begins at the lower one: exchange them";
            return Err(entry.problem("green_min_threshold", message, help));
        }
        let percent = entry.at_most("green_drop_probability", 100)?.unwrap_or(100) as u32;
        Ok(Some(Curve { kmin, kmax, percent }))
    }

    fn watchdog(&self, port: &str) -> Result<Option<Watchdog>, Problem> {
        let names = |entry: &&Entry| entry.key.split(',').any(|name| name.trim() == port);
        let Some(entry) = self.config.table("PFC_WD").find(names) else { return Ok(None) };
        let day = 86_400_000;
        let Some(detection) = entry.at_most("detection_time", day)?.filter(|time| *time > 0) else {
            return Ok(None);
        };
        let restoration = entry.at_most("restoration_time", day)?.filter(|time| *time > 0);
        // SONiC restores after twice the detection time if nothing is written (`pfcwd`).
        let restoration = restoration.unwrap_or(2 * detection);
        match entry.get("action").unwrap_or("drop") {
            "alert" => Ok(None),
            action @ ("drop" | "forward") => {
                Ok(Some(Watchdog { detection, restoration, forwards: action == "forward" }))
            }
            other => {
                let message = format!("the action of `PFC_WD|{}` is {other:?}", entry.key);
                Err(entry.problem("action", message, "write drop, forward or alert"))
            }
        }
    }
}

/// Whether the switch computes the profile when it runs.
pub fn is_null(entry: &Entry) -> bool {
    entry.get("profile").is_some_and(|profile| plain(profile) == "NULL")
}

/// The ports that carry traffic, by number, and the others with the reason.
pub type Ports = (Vec<String>, BTreeMap<String, &'static str>);

pub fn ports(config: &Config) -> Result<Ports, Problem> {
    let mut left_out = BTreeMap::new();
    let mut found = BTreeSet::new();
    let by_number = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        (stem.to_owned(), name[stem.len()..].parse::<u64>().unwrap_or(0), name.to_owned())
    };
    let says_up = config.table("PORT").any(|port| port.get("admin_status") == Some("up"));
    for port in config.table("PORT") {
        match port.get("admin_status") {
            Some("up") => {}
            None if !says_up => {}
            _ => {
                left_out.insert(port.key.clone(), "it is down");
                continue;
            }
        }
        found.insert(by_number(&port.key));
    }
    if !config.has("PORT") {
        for table in ["BUFFER_PG", "BUFFER_QUEUE", "QUEUE"] {
            for entry in config.table(table) {
                found.extend(entry.ports()?.0.into_iter().map(by_number));
            }
        }
        let maps = config.table("PORT_QOS_MAP").flat_map(|entry| entry.key.split(','));
        found.extend(maps.map(str::trim).filter(|name| *name != "global").map(by_number));
        let cables = config.table("CABLE_LENGTH").flat_map(|entry| &entry.fields);
        for (name, _) in cables {
            if found.iter().all(|(.., known)| known != name) {
                left_out.insert(name.clone(), "no buffers, queues or maps are configured for it");
            }
        }
        if found.is_empty() {
            found = std::mem::take(&mut left_out).keys().map(|name| by_number(name)).collect();
        }
    }
    Ok((found.into_iter().map(|(.., name)| name).collect(), left_out))
}
