//! Settings that a scenario changes and that are in no patch.

use std::collections::BTreeSet;

use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::{self, aqm, classify, scheduler};
use serde_json::Value;

use super::writer::{EGRESS, INGRESS, WEIGHT};
use super::{of_shared, shares};

/// The settings of switches that differ and are not written. `main` is the class of which the shares are those of all
/// that have none of their own, and `reached` are the settings of classes that have a place in a configuration.
pub fn unsaid(
    old: &switch::Spec,
    new: &switch::Spec,
    main: usize,
    reached: &BTreeSet<(&'static str, usize)>,
) -> Vec<String> {
    let mut rest = new.clone();
    let mut list = Vec::new();
    if let (Some(own), Some(theirs)) = (pools(&mut rest.buffer), of_shared(old)) {
        if !(0..old.queue.count).all(|class| together(own, class) == together(theirs, class)) {
            list.push("switch.buffer.shared.by_queue.egress_pool".to_owned());
        }
        *own = theirs.clone();
    }
    if let (aqm::Spec::Ramp(own), aqm::Spec::Ramp(theirs)) = (&mut rest.aqm, &old.aqm) {
        (own.kmin, own.kmax, own.pmax) = (theirs.kmin, theirs.kmax, theirs.pmax);
        own.by_rate.clone_from(&theirs.by_rate);
        // Where the same queues mark, their curves are written.
        let marks = |ramp: &aqm::ramp::Spec| -> Vec<u8> {
            (0..old.queue.count).filter(|class| ramp.for_queue(*class).is_some()).collect()
        };
        if marks(own) == marks(theirs) {
            own.queues.clone_from(&theirs.queues);
            own.by_queue.clone_from(&theirs.by_queue);
        }
    }
    if let (classify::Spec::Dscp(own), classify::Spec::Dscp(theirs)) =
        (&mut rest.classify, &old.classify)
    {
        own.clone_from(theirs);
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
    differences("switch", &texts[0], &texts[1], &mut list);
    for class in 0..usize::from(old.queue.count) {
        for setting in [INGRESS, EGRESS, WEIGHT] {
            // Classes of which no configuration says anything have what all have, and a weight of one.
            let read = match setting == WEIGHT || class == main {
                true => of_class(setting, old, class),
                false => of_class(setting, new, NO_CLASS),
            };
            if !reached.contains(&(setting, class)) && of_class(setting, new, class) != read {
                list.push(format!("{setting} of queue {class}"));
            }
        }
    }
    list
}

/// A class that no entry names.
const NO_CLASS: usize = u8::MAX as usize;

/// What a class has of a setting.
fn of_class(setting: &str, spec: &switch::Spec, class: usize) -> Option<Value> {
    let value = match setting {
        INGRESS => {
            let shared = shares(spec, "", class)?;
            let ingress = shared.ingress.as_ref()?;
            let by_rate: Vec<f64> = shared.by_rate.iter().map(|of| of.alpha).collect();
            serde_json::to_value((ingress.alpha, ingress.guaranteed, by_rate))
        }
        EGRESS => {
            let egress = shares(spec, "", class)?.egress?;
            serde_json::to_value((egress.alpha, egress.guaranteed))
        }
        _ => {
            let scheduler::Spec::Drr(drr) = &spec.scheduler else { return None };
            if class < usize::from(drr.strict) {
                return None;
            }
            serde_json::to_value(drr.weights.get(class).copied().unwrap_or(1))
        }
    };
    value.ok()
}

/// The classes with which one has an egress pool alone.
fn together(shared: &shared::Spec, class: u8) -> Option<BTreeSet<u8>> {
    let of = shared.of_queue(class).filter(|of| of.egress_pool.is_some())?;
    Some(of.queues.iter().copied().collect())
}

fn pools(buffer: &mut buffer::Spec) -> Option<&mut shared::Spec> {
    match buffer {
        buffer::Spec::Shared(shared) => Some(shared),
        _ => None,
    }
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
