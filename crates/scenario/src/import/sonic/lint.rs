//! The facts of configurations for lint: what every port of every switch has, not what most of them have.

use floodway_model::{Bytes, Duration};

use super::network::other;
use super::plan::Plan;
use super::switch::{Port as OwnPort, Switch as Own, Threshold};
use crate::lint::facts::{Buffer, Class, Curve, Facts, Marks, Name, Port, Switch, Xoff};
use crate::lint::{Finding, rules};
use crate::text::{Place, Problem};

/// What is found in the configurations.
pub fn find(switches: &[Own], plan: &Plan) -> Result<Vec<Finding>, Problem> {
    let facts = facts(switches, plan)?;
    let places = |name: Name, switch: usize, port: usize, class: u8| {
        let switch = &switches[switch];
        place(name, switch, &switch.ports[port], class)
            .unwrap_or_else(|| switch.config.problem("", "").place)
    };
    Ok(rules::find(&facts, &places))
}

fn facts(switches: &[Own], plan: &Plan) -> Result<Facts, Problem> {
    let mut facts = Facts::default();
    for (number, switch) in switches.iter().enumerate() {
        let mut ports = Vec::new();
        for port in &switch.ports {
            let end = other(switches, number, port)?;
            let peer = end.and_then(|(at, end)| {
                let place = switches[at].ports.iter().position(|other| other.name == end.name);
                Some((at, place?))
            });
            ports.push(Port {
                name: port.name.clone(),
                rate: port.rate,
                peer,
                watchdog: port.watchdog.map(|dog| Duration::from_ms(dog.detection)),
                classes: classes((number, switch), port, plan)?,
            });
        }
        let buffer = buffer(switch)?;
        facts.switches.push(Switch { name: switch.name.clone(), ports, buffer });
    }
    Ok(facts)
}

fn classes(
    (number, switch): (usize, &Own),
    port: &OwnPort,
    plan: &Plan,
) -> Result<Vec<Class>, Problem> {
    let needed = switch.need(port, port.lossless.len())?;
    let mut classes = Vec::new();
    for (&queue, group) in &port.lossless {
        let profile = &group.profile;
        let rest = || plan.ingress.as_ref().map_or(0, |pool| pool.sizes[number].bytes());
        let pool = Bytes(switch.pool(&profile.pool)?.unwrap_or_else(rest));
        let guaranteed = Bytes(profile.guaranteed());
        let xoff = match profile.threshold.unwrap_or(Threshold::Dynamic(0)) {
            Threshold::Dynamic(exponent) => {
                Xoff::Dynamic { alpha: Some(f64::from(exponent).exp2()), pool, guaranteed }
            }
            Threshold::Static(bytes) => Xoff::Ingress(Bytes(bytes)),
        };
        let curve = port.queues[usize::from(queue)].curve;
        let marks = curve.map_or(Marks::Nothing, |curve| {
            Marks::Curve(Curve {
                kmin: Bytes(curve.kmin),
                kmax: Bytes(curve.kmax),
                pmax: f64::from(curve.percent) / 100.0,
            })
        });
        classes.push(Class {
            number: queue,
            xoff,
            xon: Bytes(0),
            headroom: profile.xoff.map(Bytes),
            needed,
            marks,
        });
    }
    Ok(classes)
}

/// The buffer, as far as pools say how large it is: the largest of them.
fn buffer(switch: &Own) -> Result<Option<Buffer>, Problem> {
    let (mut size, mut headroom_pool) = (None, None);
    for pool in switch.config.table("BUFFER_POOL") {
        let shared = pool.whole("xoff")?;
        if let Some(own) = pool.whole("size")? {
            size = size.max(Some(own.saturating_add(shared.unwrap_or(0))));
        }
        headroom_pool = headroom_pool.max(shared.filter(|shared| *shared > 0));
    }
    let groups = || switch.ports.iter().flat_map(|port| port.lossless.values());
    let lossy = switch.ports.iter().filter_map(|port| port.lossy.as_ref());
    let own = groups().map(|group| group.profile.guaranteed());
    let guaranteed = own.chain(lossy.map(|profile| profile.size)).fold(0, u64::saturating_add);
    let headroom = groups().filter_map(|group| group.profile.xoff).fold(0, u64::saturating_add);
    Ok(size.map(|size| Buffer {
        size: Some(Bytes(size)),
        guaranteed: Bytes(guaranteed),
        headroom: Bytes(headroom),
        headroom_pool: headroom_pool.map(Bytes),
    }))
}

/// Where something is written.
fn place(name: Name, switch: &Own, port: &OwnPort, class: u8) -> Option<Place> {
    let config = &switch.config;
    let profile = |field: &str| {
        let group = port.lossless.get(&class)?;
        Some(config.entry("BUFFER_PROFILE", &group.profile.name)?.place(field))
    };
    let named = |table: &str, field: &str| {
        let mut entries = config.table(table);
        let entry = entries.find(|entry| entry.key.split(',').any(|key| key.trim() == port.name));
        Some(entry?.place(field))
    };
    let queue = |field: &str| {
        let mut entries = switch.of_port("QUEUE", &port.name);
        let holds = |numbers: std::ops::RangeInclusive<u8>| numbers.contains(&class);
        let entry = entries.find(|entry| entry.ports().is_ok_and(|(_, numbers)| holds(numbers)));
        Some(entry?.place(field))
    };
    match name {
        Name::HeadroomBelowNeed => profile("xoff"),
        Name::ThresholdsDiffer => profile("dynamic_th"),
        Name::PausesBeforeMarks | Name::PausesBeforeFullMarks | Name::LosslessWithoutEcn => {
            queue("wred_profile")
        }
        Name::LosslessClassesDiffer => named("PORT_QOS_MAP", "pfc_enable"),
        Name::WatchdogTooShort => named("PFC_WD", "detection_time"),
        Name::HeadroomPoolOvercommitted | Name::PoolOvercommitted => {
            let mut pools = config.table("BUFFER_POOL");
            Some(pools.find(|pool| pool.get("xoff").is_some())?.place("xoff"))
        }
        Name::PauseCycle => None,
    }
}
