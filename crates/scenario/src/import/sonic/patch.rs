//! The way back: what a changed scenario would change in the configurations, as JSON patches (RFC 6902) for
//! CONFIG_DB.

use std::collections::BTreeMap;
use std::path::PathBuf;

use floodway_model::{Duration, Rate};
use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::{self, aqm, scheduler};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::config::{Entry, plain};
use super::files::read_all;
use super::network::Network;
use super::plan::{NO_POOL, Plan};
use super::scenario::UNLIMITED;
use super::switch::{From, Group, Port, Profile, Switch, Threshold};
use super::{Options, SCENARIO};
use crate::document::Document;
use crate::scenario::{Overrides, Scenario};
use crate::text::{Error, Problem};
use crate::topology;

/// An operation of a JSON patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// `add`, `replace` or `remove`.
    pub op: &'static str,
    /// Where, as a JSON pointer (RFC 6901).
    pub path: String,
    /// What is there then; none if it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What was there before, for people.
    #[serde(skip)]
    pub before: Option<String>,
}

/// The largest weight of a scheduler (sonic-scheduler.yang).
const LARGEST_WEIGHT: u32 = 100;

/// What a scenario changes.
#[derive(Clone, Debug)]
pub struct Patches {
    /// By switch: its name, and the operations in order.
    pub switches: Vec<(String, Vec<Operation>)>,
    /// Settings that differ and that CONFIG_DB does not have, or that cannot be written there.
    pub unsaid: Vec<String>,
    /// The files that were read.
    pub inputs: Vec<PathBuf>,
}

/// What `settings` change in the configurations from which a scenario was imported.
pub fn patches(settings: &Document, paths: &[PathBuf], options: Options) -> Result<Patches, Error> {
    let mut inputs = Vec::new();
    let switches = read_all(paths, options, &mut inputs)?.switches;
    let plan = Plan::of(&switches)?;
    let network = Network::of(&switches)?;
    let theirs = match &settings.topology {
        topology::Spec::Custom(custom) => &custom.switches[..],
        _ => &[],
    };
    if theirs != network.switches {
        return Err(Error::from(switches[0].config.problem(
            format!(
                "the scenario is not of these configurations: it has the switches {theirs:?}, and they are of {:?}",
                network.switches
            ),
            "name all configurations from which the scenario was imported, and only them; keep the switches' names",
        )));
    }
    let base = super::import(paths, "base", options)?.scenario;
    let base = Scenario::parse(&base, SCENARIO, &Overrides::default())?;
    let old = &base.variants()[0].settings.switch;
    let new = &settings.switch;
    let mut found = Vec::new();
    for (switch, shown) in switches.iter().zip(&network.switches) {
        let mut writer = Writer { switch, plan: &plan, shown, old, new, operations: Vec::new() };
        writer.all()?;
        found.push((switch.name.clone(), writer.operations));
    }
    Ok(Patches { switches: found, unsaid: unsaid(old, new), inputs })
}

/// The settings of switches that differ and are not written.
fn unsaid(old: &switch::Spec, new: &switch::Spec) -> Vec<String> {
    let mut rest = new.clone();
    if let (Some(own), Some(theirs)) = (pools(&mut rest.buffer), of_shared(old)) {
        *own = theirs.clone();
    }
    if let (aqm::Spec::Ramp(own), aqm::Spec::Ramp(theirs)) = (&mut rest.aqm, &old.aqm) {
        (own.kmin, own.kmax, own.pmax) = (theirs.kmin, theirs.kmax, theirs.pmax);
        own.by_rate.clone_from(&theirs.by_rate);
    }
    if let (scheduler::Spec::Drr(own), scheduler::Spec::Drr(theirs)) =
        (&mut rest.scheduler, &old.scheduler)
    {
        own.weights.clone_from(&theirs.weights);
    }
    if let (Some(own), Some(theirs)) = (&mut rest.flow_control.pfc, &old.flow_control.pfc) {
        own.xon_offset = theirs.xon_offset;
        own.lossless = theirs.lossless;
        if let (Some(dog), Some(other)) = (&mut own.watchdog, &theirs.watchdog) {
            dog.clone_from(other);
        }
    }
    let texts = [&rest, old].map(|spec| serde_json::to_value(spec).unwrap_or_default());
    let mut list = Vec::new();
    differences("switch", &texts[0], &texts[1], &mut list);
    list
}

fn pools(buffer: &mut buffer::Spec) -> Option<&mut shared::Spec> {
    match buffer {
        buffer::Spec::Shared(shared) => Some(shared),
        _ => None,
    }
}

fn of_shared(spec: &switch::Spec) -> Option<&shared::Spec> {
    spec.buffer.pools()
}

/// The paths at which two values differ.
fn differences(path: &str, one: &Value, other: &Value, list: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: std::collections::BTreeSet<&String> =
                one.keys().chain(other.keys()).collect();
            for key in keys {
                let [one, other] = [one, other].map(|of| of.get(key).unwrap_or(&Value::Null));
                differences(&format!("{path}.{key}"), one, other, list);
            }
        }
        _ if one != other => list.push(path.to_owned()),
        _ => {}
    }
}

/// Writes the operations of one switch.
struct Writer<'a> {
    switch: &'a Switch,
    plan: &'a Plan,
    /// The name of the switch in scenarios.
    shown: &'a str,
    old: &'a switch::Spec,
    new: &'a switch::Spec,
    operations: Vec<Operation>,
}

/// What a lossless class has at ports of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wanted {
    alpha: Option<f64>,
    headroom: u64,
    guaranteed: u64,
    xon_offset: u64,
}

impl Wanted {
    fn of(spec: &switch::Spec, rate: Rate) -> Option<Self> {
        let shared = of_shared(spec)?;
        Some(Self {
            alpha: shared.alpha_at(rate).filter(|alpha| *alpha < UNLIMITED),
            headroom: shared.headroom_at(rate).0,
            guaranteed: shared.ingress.as_ref()?.guaranteed.0,
            xon_offset: spec.flow_control.pfc.as_ref()?.xon_offset.0,
        })
    }
}

impl Writer<'_> {
    fn all(&mut self) -> Result<(), Problem> {
        self.pool_sizes();
        self.groups()?;
        self.egress()?;
        self.curves()?;
        self.weights()?;
        self.watchdog()
    }

    /// Writes one field, if it says something else.
    fn set(&mut self, entry: &Entry, field: &str, value: impl ToString) {
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

    fn remove(&mut self, entry: &Entry, field: &str) {
        let Some(before) = entry.get(field) else { return };
        let path = pointer(&[&entry.table, &entry.key, field]);
        let before = Some(before.to_owned());
        let operation = Operation { op: "remove", path, value: None, before };
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }

    /// Adds a key, and its table if there is none.
    fn add(&mut self, table: &str, key: &str, fields: Map<String, Value>) {
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
        for (pool, [old, new]) in
            [(&plan.ingress, [old.ingress, new.ingress]), (&plan.egress, [old.egress, new.egress])]
        {
            let Some(((pool, old), new)) = pool.as_ref().zip(old).zip(new) else { continue };
            if old.pool == new.pool {
                continue;
            }
            if let Some(entry) = self.switch.config.entry("BUFFER_POOL", &pool.name) {
                self.set(entry, "size", new.pool.0);
            }
        }
    }

    /// Lossless groups.
    fn groups(&mut self) -> Result<(), Problem> {
        let switch = self.switch;
        for port in &switch.ports {
            let wanted = [self.old, self.new].map(|spec| Wanted::of(spec, port.rate));
            let [Some(old), Some(new)] = wanted else { continue };
            if old == new {
                continue;
            }
            for (queue, group) in &port.lossless {
                self.group(port, *queue, group, old, new)?;
            }
        }
        Ok(())
    }

    fn group(
        &mut self,
        port: &Port,
        queue: u8,
        group: &Group,
        old: Wanted,
        new: Wanted,
    ) -> Result<(), Problem> {
        let profile = changed(&group.profile, old, new, self.switch, self.pool_size())?;
        let shown = port.rate.0 / 1_000_000;
        if group.from == From::Profile {
            let Some(entry) = self.switch.config.entry("BUFFER_PROFILE", &group.profile.name)
            else {
                return Ok(());
            };
            let others = self.switch.ports.iter().filter(|other| {
                other.lossless.values().any(|of| of.profile.name == group.profile.name)
            });
            let rates: std::collections::BTreeSet<Rate> = others.map(|other| other.rate).collect();
            let alike = rates.iter().all(|rate| {
                Wanted::of(self.new, *rate)
                    .map(|of| changed(&group.profile, old, of, self.switch, self.pool_size()).ok())
                    == Some(Some(profile.clone()))
            });
            if alike {
                self.write(entry, &group.profile, &profile);
                return Ok(());
            }
        }
        // The buffer manager would have made the profile, or others need what it has.
        let cable = port.cable.map_or(String::new(), |cable| format!("_{cable}"));
        let name = format!("pg_lossless_{shown}{cable}_floodway");
        let mut fields = Map::new();
        let mut field = |name: &str, value: String| {
            fields.insert(name.to_owned(), Value::String(value));
        };
        field("pool", profile.pool.clone());
        field("size", profile.size.to_string());
        field("xon", profile.xon.to_string());
        field("xon_offset", profile.xon_offset.to_string());
        field("xoff", profile.xoff.unwrap_or(0).to_string());
        match profile.threshold {
            Some(Threshold::Static(bytes)) => field("static_th", bytes.to_string()),
            Some(Threshold::Dynamic(exponent)) => field("dynamic_th", exponent.to_string()),
            None => field("dynamic_th", "0".to_owned()),
        }
        self.add("BUFFER_PROFILE", &name, fields);
        let config = &self.switch.config;
        let entry = config.table("BUFFER_PG").find(|entry| {
            let covers = |ports: Vec<&str>| ports.contains(&port.name.as_str());
            entry.ports().is_ok_and(|(ports, numbers)| covers(ports) && numbers.contains(&queue))
        });
        match entry {
            Some(entry) => self.set(entry, "profile", name),
            None => {
                let mut fields = Map::new();
                fields.insert("profile".to_owned(), Value::String(name));
                self.add("BUFFER_PG", &format!("{}|{queue}", port.name), fields);
            }
        }
        Ok(())
    }

    fn pool_size(&self) -> u64 {
        let shared = of_shared(self.new).map(|shared| shared.at(self.shown));
        shared.and_then(|shared| shared.ingress).map_or(0, |pool| pool.pool.0)
    }

    /// Changes a profile where it differs from another.
    fn write(&mut self, entry: &Entry, old: &Profile, new: &Profile) {
        for (field, old, new) in [
            ("size", Some(old.size), Some(new.size)),
            ("xoff", old.xoff, new.xoff),
            ("xon_offset", Some(old.xon_offset), Some(new.xon_offset)),
        ] {
            if let Some(new) = new.filter(|_| old != new) {
                self.set(entry, field, new);
            }
        }
        if old.threshold != new.threshold {
            match new.threshold {
                Some(Threshold::Dynamic(exponent)) => {
                    self.remove(entry, "static_th");
                    self.set(entry, "dynamic_th", exponent);
                }
                Some(Threshold::Static(bytes)) => {
                    self.remove(entry, "dynamic_th");
                    self.set(entry, "static_th", bytes);
                }
                None => {}
            }
        }
    }

    /// The profile of the queue of the flows.
    fn egress(&mut self) -> Result<(), Problem> {
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

    fn curves(&mut self) -> Result<(), Problem> {
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

    fn weights(&mut self) -> Result<(), Problem> {
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

/// A profile in which what was changed is changed.
fn changed(
    profile: &Profile,
    old: Wanted,
    new: Wanted,
    switch: &Switch,
    pool: u64,
) -> Result<Profile, Problem> {
    let mut changed = profile.clone();
    let includes = profile.size != profile.guaranteed();
    if old.headroom != new.headroom {
        changed.xoff = Some(new.headroom);
    }
    if old.xon_offset != new.xon_offset {
        changed.xon_offset = new.xon_offset;
    }
    let guaranteed = match old.guaranteed == new.guaranteed {
        true => profile.guaranteed(),
        false => new.guaranteed,
    };
    changed.size = guaranteed + if includes { changed.xoff.unwrap_or(0) } else { 0 };
    if changed.guaranteed() != guaranteed {
        return Err(switch.config.problem(
            format!(
                "a guarantee of {guaranteed} bytes with a headroom of {} would be read as one that contains the \
                 headroom",
                changed.xoff.unwrap_or(0)
            ),
            "lower `switch.buffer.shared.ingress.guaranteed` below the headroom",
        ));
    }
    if old.alpha != new.alpha {
        changed.threshold = Some(threshold(new.alpha, pool, switch, "ingress")?);
    }
    Ok(changed)
}

/// The threshold that is read as this `alpha`.
fn threshold(
    alpha: Option<f64>,
    pool: u64,
    switch: &Switch,
    side: &str,
) -> Result<Threshold, Problem> {
    let Some(alpha) = alpha else { return Ok(Threshold::Static(pool)) };
    let exponent = alpha.log2().round();
    if (exponent.exp2() - alpha).abs() > 1e-12 * alpha || !(-16.0..=16.0).contains(&exponent) {
        let near = alpha.log2().clamp(-8.0, 8.0);
        return Err(switch.config.problem(
            format!(
                "`switch.buffer.shared.{side}.alpha` is {alpha}, and switches have powers of two"
            ),
            format!("write {} or {}", near.floor().exp2(), near.ceil().exp2()),
        ));
    }
    Ok(Threshold::Dynamic(exponent as i32))
}

/// A JSON pointer.
fn pointer(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}
