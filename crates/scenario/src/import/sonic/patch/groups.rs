//! Lossless priority groups: their thresholds, guarantees and headroom.

use floodway_model::Rate;
use floodway_sim::switch;
use serde_json::{Map, Value};

use super::super::scenario::UNLIMITED;
use super::super::switch::{From, Group, Port, Profile, Switch, Threshold};
use super::of_shared;
use super::writer::Writer;
use crate::text::Problem;

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
    /// Lossless groups.
    pub fn groups(&mut self) -> Result<(), Problem> {
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
