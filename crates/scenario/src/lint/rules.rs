//! The rules: what is found in the facts of a network.

use floodway_model::check::{rough_bytes, rough_time};
use floodway_model::{Bytes, Duration, Rate};

use super::Finding;
use super::facts::{Buffer, Class, Curve, Facts, Marks, Name, Port, Switch, Xoff};
use crate::text::{Place, Problem};

/// Neighbors whose thresholds differ by this factor or more are told, even if only their pools differ.
const APART: u64 = 2;

/// Where something was written: of a kind of finding, the switch, its port and the class.
pub type Places<'a> = &'a dyn Fn(Name, usize, usize, u8) -> Place;

/// Applies all rules.
pub fn find(facts: &Facts, places: Places<'_>) -> Vec<Finding> {
    let mut found = Found::default();
    for (at, switch) in facts.switches.iter().enumerate() {
        if let Some(buffer) = &switch.buffer {
            check_buffer(at, buffer, &mut found);
        }
        for (port_at, port) in switch.ports.iter().enumerate() {
            for class in &port.classes {
                let here = (at, port_at, class.number);
                check_headroom(here, class, &mut found);
                check_marks(here, switch, port, class, &mut found);
            }
            check_watchdog((at, port_at), facts, port, &mut found);
            if let Some((peer, end)) = port.peer.filter(|(peer, _)| *peer > at) {
                let there = &facts.switches[peer];
                check_neighbors((at, port_at), port, (there, &there.ports[end]), &mut found);
            }
        }
    }
    found.findings(facts, places)
}

/// What is found so far: at ports that have the same, once.
#[derive(Default)]
struct Found {
    groups: Vec<Group>,
}

/// The same finding at some ports.
struct Group {
    name: Name,
    message: Message,
    help: String,
    /// Switch, port and class; of a switch as a whole, no port.
    at: Vec<(usize, Option<usize>, u8)>,
}

/// What is found: all of it, or what is before and after the name of the other end of a link. Links to several neighbors that
/// have the same are one finding, in which the first neighbor is named.
struct Message {
    parts: [String; 2],
    end: String,
}

impl From<String> for Message {
    fn from(all: String) -> Self {
        Self { parts: [all, String::new()], end: String::new() }
    }
}

impl Found {
    fn add(
        &mut self,
        name: Name,
        (switch, port, class): (usize, Option<usize>, u8),
        message: impl Into<Message>,
        help: String,
    ) {
        let message = message.into();
        let same = |group: &&mut Group| {
            group.name == name && group.message.parts == message.parts && group.help == help
        };
        let at = (switch, port, class);
        match self.groups.iter_mut().find(same) {
            Some(group) => group.at.push(at),
            None => self.groups.push(Group { name, message, help, at: vec![at] }),
        }
    }

    fn findings(self, facts: &Facts, places: Places<'_>) -> Vec<Finding> {
        let finding = |mut group: Group| {
            let (switch, port, class) = group.at[0];
            let place = places(group.name, switch, port.unwrap_or_default(), class);
            group.at.iter_mut().for_each(|(.., class)| *class = 0);
            group.at.dedup();
            let of = &facts.switches[switch];
            let noun = if port.is_some() { "port" } else { "switch" };
            let whose = port.map_or(String::new(), |port| format!("{} of ", of.ports[port].name));
            let more = match (group.at.len() as u64 - 1, noun) {
                (0, _) => String::new(),
                (1, "switch") => " and one more switch".to_owned(),
                (more, "switch") => format!(" and {more} more switches"),
                (1, _) => " and one more port".to_owned(),
                (more, _) => format!(" and {more} more ports"),
            };
            let Message { parts: [before, after], end } = group.message;
            let message = format!("{whose}{}{more}: {before}{end}{after}", of.name);
            Finding { name: group.name, problem: Problem::warning(place, message, group.help) }
        };
        self.groups.into_iter().map(finding).collect()
    }
}

/// A port and class.
type Here = (usize, usize, u8);

fn of_port((switch, port, class): Here) -> (usize, Option<usize>, u8) {
    (switch, Some(port), class)
}

/// Headroom against what a neighbor may send after the decision to pause it.
fn check_headroom(here: Here, class: &Class, found: &mut Found) {
    let Some(headroom) = class.headroom.filter(|headroom| *headroom < class.needed) else { return };
    let message = format!("the headroom is {headroom}, and the link may need {}", class.needed);
    let help = format!(
        "raise it to {}, or shorten the cable; `floodway headroom` explains the sum",
        class.needed
    );
    found.add(Name::HeadroomBelowNeed, of_port(here), message, help);
}

/// XOFF against the curves of the queues that what comes in by the port may join.
fn check_marks(here: Here, switch: &Switch, port: &Port, class: &Class, found: &mut Found) {
    if class.marks == Marks::Nothing {
        let message = format!("nothing marks in lossless class {}", class.number);
        let help =
            "let its queue mark with ECN below XOFF, and let the senders react to marks (DCQCN)";
        found.add(Name::LosslessWithoutEcn, of_port(here), message, help.to_owned());
    }
    let mut seen: Vec<(Bytes, f64)> = Vec::new();
    for egress in &switch.ports {
        let is_itself = std::ptr::eq(egress, port);
        let of_queue = matches!(class.xoff, Xoff::EgressQueue(_));
        // A port sends nothing back; and a queue has its own curve.
        if is_itself != of_queue {
            continue;
        }
        let curve = egress.classes.iter().find(|other| other.number == class.number);
        let Some(Marks::Curve(curve)) = curve.map(|other| other.marks) else { continue };
        let share = match of_queue {
            true => 1.0,
            false => share_of(port.rate, egress.rate),
        };
        if seen.contains(&(curve.kmin, share)) {
            continue;
        }
        seen.push((curve.kmin, share));
        if !check_curve(here, (switch.ports.len() as u64, class), (&curve, share), found) {
            return;
        }
    }
}

/// The most of a growing queue that may have come in by a port of one rate if the queue leaves at another.
fn share_of(ingress: Rate, egress: Rate) -> f64 {
    (ingress.0 as f64 / egress.0 as f64).min(1.0)
}

/// XOFF of a port and class against one curve; false if something is found.
fn check_curve(
    here: Here,
    (ports, class): (u64, &Class),
    (curve, share): (&Curve, f64),
    found: &mut Found,
) -> bool {
    let part = |depth: Bytes| Bytes((depth.0 as f64 * share) as u64);
    let queue = |depth: Bytes| match share < 1.0 {
        true => format!("{depth} ({} of them from this port)", rough_bytes(part(depth))),
        false => depth.to_string(),
    };
    let xoff = |ports: u64| class.xoff.with(ports);
    let rough = rough_bytes;
    let Some(alone) = xoff(1) else { return true };
    let most = if class.xoff.is_dynamic() { ports } else { 1 };
    let before = |count: &u64| xoff(*count).is_some_and(|xoff| xoff <= part(curve.kmin));
    if let Some(count) = (1..=most).find(before) {
        let least = xoff(most).unwrap_or(alone);
        let when = match (count, class.xoff.is_dynamic()) {
            (_, false) => format!("XOFF is {}", rough(alone)),
            (1, true) => format!(
                "XOFF is {} if no other port is congested, and less if others are",
                rough(alone)
            ),
            (count, true) => format!(
                "XOFF is {} if no other port is congested, {} with {count} congested ports, and {} with all",
                rough(alone),
                rough(xoff(count).unwrap_or(alone)),
                rough(least)
            ),
        };
        let message = format!("ECN marks begin at {} of the queue, and {when}", queue(curve.kmin));
        let help = format!(
            "lower `kmin` below {}, or raise XOFF",
            rough_bytes(Bytes((least.0 as f64 / share) as u64))
        );
        found.add(Name::PausesBeforeMarks, of_port(here), message, help);
        return false;
    }
    if alone < part(curve.kmax) {
        let depth = Bytes((alone.0 as f64 / share) as u64);
        let message = format!(
            "the probability of ECN marks is {:.2} % when the port reaches XOFF ({}), and grows until {} of the queue",
            100.0 * curve.probability(depth),
            rough(alone),
            queue(curve.kmax)
        );
        let help = format!("lower `kmax` below {}, or raise XOFF", rough(depth));
        found.add(Name::PausesBeforeFullMarks, of_port(here), message, help);
        return false;
    }
    true
}

/// The watchdog of a port against the longest pause that a congested port of its neighbor causes.
fn check_watchdog((at, port_at): (usize, usize), facts: &Facts, port: &Port, found: &mut Found) {
    let (Some(detection), Some((peer, end))) = (port.watchdog, port.peer) else { return };
    let there = &facts.switches[peer];
    let longest = there.ports[end]
        .classes
        .iter()
        .filter_map(|class| Some((longest_pause(there, end, class)?, class.number)));
    let Some((pause, class)) = longest.max_by_key(|(pause, _)| pause.time) else { return };
    if detection >= pause.time {
        return;
    }
    let message = format!(
        "the watchdog acts after {detection}, and a pause behind an incast at {} may last {}: {} at {}",
        there.name,
        rough_time(pause.time),
        rough_bytes(pause.bytes),
        pause.rate
    );
    let help = format!(
        "raise the detection time above {}, or lower XOFF; SONiC has 200 ms and more",
        rough_time(pause.time)
    );
    found.add(Name::WatchdogTooShort, (at, Some(port_at), class), message, help);
}

/// A pause behind a congested port.
struct Pause {
    time: Duration,
    /// What has to leave before it ends.
    bytes: Bytes,
    /// The rate at which it leaves.
    rate: Rate,
}

/// The longest pause that a switch may send by one of its ports when all others of its ports send to the slowest: the
/// packets of a queue leave in the order of their arrival, so it ends at the latest when all that the queue held at the
/// beginning has left, down to XON.
fn longest_pause(switch: &Switch, port: usize, class: &Class) -> Option<Pause> {
    let others = || switch.ports.iter().enumerate().filter(move |(at, _)| *at != port);
    let (slowest, rate) =
        others().map(|(at, port)| (at, port.rate)).min_by_key(|(_, rate)| *rate)?;
    let senders: Vec<&Class> = switch
        .ports
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != slowest)
        .filter_map(|(_, port)| port.classes.iter().find(|of| of.number == class.number))
        .collect();
    let count = senders.len() as u64;
    let above = |of: &Class| of.headroom.unwrap_or(of.needed).min(of.needed);
    let all_above: Bytes = senders.iter().map(|of| above(of)).sum();
    let bytes = match class.xoff {
        Xoff::Other => return None,
        Xoff::EgressQueue(xoff) => Bytes((xoff + all_above).0.saturating_sub(class.xon.0)),
        Xoff::Ingress(_) => {
            let below: Bytes = senders.iter().filter_map(|of| of.xoff.with(1)).sum();
            Bytes((below + all_above).0.saturating_sub(class.xon.0))
        }
        Xoff::Dynamic { .. } => {
            let below: Bytes = senders.iter().filter_map(|of| of.xoff.with(count)).sum();
            below + all_above
        }
    };
    Some(Pause { time: rate.time_for(bytes), bytes, rate })
}

/// Both ends of a link between switches.
fn check_neighbors(
    (at, port_at): (usize, usize),
    port: &Port,
    (switch, end): (&Switch, &Port),
    found: &mut Found,
) {
    let numbers = |port: &Port| port.classes.iter().map(|class| class.number).collect::<Vec<_>>();
    let (ours, theirs) = (numbers(port), numbers(end));
    if ours != theirs {
        let list = |classes: &[u8]| match classes {
            [] => "none".to_owned(),
            some => some.iter().map(u8::to_string).collect::<Vec<_>>().join(", "),
        };
        let differs = ours.iter().chain(&theirs);
        let differs =
            differs.copied().find(|class| !(ours.contains(class) && theirs.contains(class)));
        let message = Message {
            parts: [
                format!("the lossless classes are {}, and at ", list(&ours)),
                format!(", the other end of the cable, {}", list(&theirs)),
            ],
            end: format!("{} of {}", end.name, switch.name),
        };
        let help =
            "give both ends the same `pfc_enable` and maps, and lossless priority groups for it";
        let here = (at, Some(port_at), differs.unwrap_or_default());
        found.add(Name::LosslessClassesDiffer, here, message, help.to_owned());
    }
    for class in &port.classes {
        let Some(other) = end.classes.iter().find(|other| other.number == class.number) else {
            continue;
        };
        let here = (at, Some(port_at), class.number);
        let (Some(ours), Some(theirs)) = (class.xoff.with(1), other.xoff.with(1)) else { continue };
        let apart = ours.max(theirs).0 >= APART.saturating_mul(ours.min(theirs).0);
        if apart || !class.xoff.is_set_like(other.xoff) {
            let ours = written(class.xoff, ours);
            let message = Message {
                parts: [
                    format!("one port alone may hold {ours} before it is paused, and at "),
                    format!(", the other end of the link, {}", written(other.xoff, theirs)),
                ],
                end: switch.name.clone(),
            };
            let help = "give both the same thresholds, so that each absorbs its part of a burst";
            found.add(Name::ThresholdsDiffer, here, message, help.to_owned());
        }
        if let (Marks::Curve(ours), Marks::Curve(theirs)) = (class.marks, other.marks)
            && ours != theirs
        {
            let curve = |curve: Curve| {
                format!("{} to {} with up to {:.1} %", curve.kmin, curve.kmax, 100.0 * curve.pmax)
            };
            let message = Message {
                parts: [
                    format!("ECN marks from {}, and at ", curve(ours)),
                    format!(", the other end of the link, from {}", curve(theirs)),
                ],
                end: switch.name.clone(),
            };
            let help = "give ports of the same speed the same curve";
            found.add(Name::ThresholdsDiffer, here, message, help.to_owned());
        }
    }
}

/// A threshold for a message: its value, and how it is set.
fn written(xoff: Xoff, alone: Bytes) -> String {
    match xoff {
        Xoff::Dynamic { alpha: Some(alpha), pool, .. } => {
            format!("{} (alpha {alpha} of {pool})", rough_bytes(alone))
        }
        Xoff::Dynamic { alpha: None, pool, .. } => format!("{alone} (all of {pool})"),
        _ => alone.to_string(),
    }
}

/// Whether what is reserved fits into the buffer.
fn check_buffer(at: usize, buffer: &Buffer, found: &mut Found) {
    let Buffer { size, guaranteed, headroom, headroom_pool } = *buffer;
    if let Some(pool) = headroom_pool.filter(|pool| *pool < headroom) {
        let message = format!(
            "the headroom of all ports and lossless classes is {headroom}, and they share {pool} ({:.1} : 1)",
            headroom.0 as f64 / pool.0.max(1) as f64
        );
        let help = "raise the pool of headroom (in configurations `xoff` of the ingress pool), or be sure that fewer ports \
                    pause at the same time: `floodway headroom --scenario` estimates how likely it overflows";
        found.add(Name::HeadroomPoolOvercommitted, (at, None, 0), message, help.to_owned());
    }
    let own = headroom_pool.map_or(headroom, |pool| pool.min(headroom));
    let reserved = Bytes(guaranteed.0.saturating_add(own.0));
    if let Some(size) = size.filter(|size| *size < reserved) {
        let message = format!(
            "guarantees ({guaranteed}) and headroom ({own}) of all ports are {reserved}, and the buffer has {size}"
        );
        let help = "lower `size` or `xoff` of the profiles, or leave unused ports without buffers";
        found.add(Name::PoolOvercommitted, (at, None, 0), message, help.to_owned());
    }
}
