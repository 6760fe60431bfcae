//! What classes have at the ingress: thresholds and guarantees of all, and headroom of lossless ones.

use std::collections::BTreeMap;

use floodway_model::Rate;
use floodway_sim::switch;
use serde_json::{Map, Value};

use super::super::scenario::UNLIMITED;
use super::super::switch::{From, Group, Port, Profile, Switch, Threshold};
use super::apportion::{Edit, Users, Want};
use super::shares;
use super::writer::{INGRESS, Writer};
use crate::text::Problem;

/// Where groups have their profiles.
const GROUPS: Users = Users { table: "BUFFER_PG", field: "profile" };

/// What a class has at the ingress, at ports of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    alpha: Option<f64>,
    headroom: u64,
    guaranteed: u64,
    xon_offset: u64,
    pool: u64,
}

impl Wanted {
    fn of(spec: &switch::Spec, shown: &str, rate: Rate, class: usize) -> Option<Self> {
        let shared = shares(spec, shown, class)?;
        let pfc = spec.flow_control.pfc.as_ref();
        let ingress = shared.ingress.as_ref()?;
        Some(Self {
            alpha: shared.alpha_at(rate).filter(|alpha| *alpha < UNLIMITED),
            headroom: shared.headroom_at(rate).0,
            guaranteed: ingress.guaranteed.0,
            xon_offset: pfc.map_or(0, |pfc| pfc.xon_offset.0),
            pool: ingress.pool.0,
        })
    }
}

impl Writer<'_> {
    /// Lossless groups.
    pub fn groups(&mut self) -> Result<(), Problem> {
        let switch = self.switch;
        let (mut wants, mut made) = (Vec::new(), Vec::new());
        for port in &switch.ports {
            for (queue, group) in &port.lossless {
                let Some((old, new)) = self.wanted(port, *queue) else { continue };
                let profile = match old == new {
                    true => group.profile.clone(),
                    false => changed(&group.profile, old, new, switch)?,
                };
                let entry = switch.config.entry("BUFFER_PROFILE", &group.profile.name);
                match entry.filter(|_| group.from == From::Profile) {
                    Some(entry) => wants.push(Want {
                        port: &port.name,
                        number: group.number,
                        profile: entry,
                        old: group.profile.clone(),
                        new: profile,
                    }),
                    None => made.push((port, group, profile)),
                }
            }
        }
        self.apportion(GROUPS, &wants, edits)?;
        self.made(&made)
    }

    /// Profiles of lossless groups that have none: the buffer manager would make them.
    fn made(&mut self, made: &[(&Port, &Group, Profile)]) -> Result<(), Problem> {
        let switch = self.switch;
        let by_entry = |port: &Port, number: u8| {
            switch.config.table("BUFFER_PG").find(|entry| {
                let covers = |ports: Vec<&str>| ports.contains(&port.name.as_str());
                entry
                    .ports()
                    .is_ok_and(|(ports, numbers)| covers(ports) && numbers.contains(&number))
            })
        };
        // By entry: the profile of its first group, and whether others have other ones, and whether any is changed.
        let mut named: BTreeMap<&str, (&Profile, bool, bool)> = BTreeMap::new();
        for (port, group, profile) in made {
            let Some(entry) = by_entry(port, group.number) else { continue };
            let (first, differs, is_changed) =
                named.entry(&entry.key).or_insert((profile, false, false));
            *differs |= *first != profile;
            *is_changed |= *profile != group.profile;
            // Groups that stay as they are have what the switch gives each of them.
            if *differs && *is_changed {
                return Err(entry.problem(
                    "profile",
                    format!("the groups of `BUFFER_PG|{}` would have several profiles", entry.key),
                    "write an entry for each group and port, and import again",
                ));
            }
        }
        for (port, group, profile) in made {
            let entry = by_entry(port, group.number);
            if *profile == group.profile {
                continue;
            }
            let cable = port.cable.map_or(String::new(), |cable| format!("_{cable}"));
            let mut name = format!("pg_lossless_{}{cable}_floodway", port.rate.0 / 1_000_000);
            let fields = fields(profile);
            // Classes may differ.
            if self.added("BUFFER_PROFILE", &name).is_some_and(|other| *other != fields) {
                name = format!("{name}_{}", group.number);
            }
            self.add("BUFFER_PROFILE", &name, fields);
            match entry {
                Some(entry) => self.set(entry, "profile", name),
                None => {
                    let mut fields = Map::new();
                    fields.insert("profile".to_owned(), Value::String(name));
                    self.add("BUFFER_PG", &format!("{}|{}", port.name, group.number), fields);
                }
            }
        }
        Ok(())
    }

    /// The priority groups of lossy classes.
    pub fn arrivals(&mut self) -> Result<(), Problem> {
        let switch = self.switch;
        let mut wants = Vec::new();
        for port in &switch.ports {
            for (number, queue) in (0..).zip(&port.queues) {
                let Some(profile) = queue.arrival.as_ref().filter(|_| !self.is_lossless(number))
                else {
                    continue;
                };
                let entry = switch.config.entry("BUFFER_PROFILE", &profile.name);
                let Some((entry, (old, new))) = entry.zip(self.wanted(port, number)) else {
                    continue;
                };
                let mut wanted = profile.clone();
                if old.alpha != new.alpha || moves(profile, old.pool, new.pool) {
                    wanted.threshold = Some(threshold(new.alpha, new.pool, switch, "ingress")?);
                }
                if old.guaranteed != new.guaranteed {
                    wanted.size = new.guaranteed;
                }
                let class = switch.classes_of(&port.name, number)?.first().copied();
                wants.push(Want {
                    port: &port.name,
                    number: class.map_or(Ok(0), |class| switch.group_of(&port.name, class))?,
                    profile: entry,
                    old: profile.clone(),
                    new: wanted,
                });
            }
        }
        self.apportion(GROUPS, &wants, edits)
    }

    fn is_lossless(&self, queue: u8) -> bool {
        self.plan.lossless.contains(&queue)
    }

    /// What the class of a queue has at a port, and what it is to have.
    fn wanted(&mut self, port: &Port, queue: u8) -> Option<(Wanted, Wanted)> {
        let class = self.plan.class(queue)?;
        let of = |spec| Wanted::of(spec, self.shown, port.rate, class);
        let wanted = of(self.old).zip(of(self.new))?;
        self.reached.insert((INGRESS, class));
        Some(wanted)
    }
}

/// The fields of a new profile.
fn fields(profile: &Profile) -> Map<String, Value> {
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
    fields
}

/// The fields in which a profile differs from another.
pub fn edits(old: &Profile, new: &Profile) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for (field, old, new) in [
        ("size", Some(old.size), Some(new.size)),
        ("xoff", old.xoff, new.xoff),
        ("xon_offset", Some(old.xon_offset), Some(new.xon_offset)),
    ] {
        if let Some(new) = new.filter(|_| old != new) {
            edits.push((field, Some(new.to_string())));
        }
    }
    if old.threshold != new.threshold {
        match new.threshold {
            Some(Threshold::Dynamic(exponent)) => {
                edits.push(("static_th", None));
                edits.push(("dynamic_th", Some(exponent.to_string())));
            }
            Some(Threshold::Static(bytes)) => {
                edits.push(("dynamic_th", None));
                edits.push(("static_th", Some(bytes.to_string())));
            }
            None => {}
        }
    }
    edits
}

/// Whether a threshold must be written again because its pool has another size: a static one is a part of it.
pub fn moves(profile: &Profile, old: u64, new: u64) -> bool {
    old != new && matches!(profile.threshold, Some(Threshold::Static(_)))
}

/// A profile in which what was changed is changed.
fn changed(
    profile: &Profile,
    old: Wanted,
    new: Wanted,
    switch: &Switch,
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
    if old.alpha != new.alpha || moves(profile, old.pool, new.pool) {
        changed.threshold = Some(threshold(new.alpha, new.pool, switch, "ingress")?);
    }
    Ok(changed)
}

/// The threshold that is read as this `alpha`.
pub fn threshold(
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
