//! What becomes of settings that no field of a configuration has.

use super::Options;
use super::network::Network;
use super::plan::{Plan, Size};
use super::switch::{From, Port, Switch};
use crate::import::account::{Fate, Row};

use Fate::{Differs, Kept, Nothing};

/// What no field says.
pub fn beside(switches: &[Switch], plan: &Plan, network: &Network, options: Options) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |fate, key: &str, value: String, meaning: String| {
        rows.push(Row { fate, key: key.to_owned(), value, meaning });
    };
    let ports: Vec<&Port> = switches.iter().flat_map(|switch| &switch.ports).collect();
    let all = ports.len();
    let unknown = ports.iter().filter(|port| !port.rate_is_known).count();
    if unknown > 0 {
        let meaning =
            format!("{unknown} of {all} ports have no speed in `PORT`: `--rate`, or its default");
        add(Differs, "PORT speed", format!("({})", options.rate), meaning);
    }
    let bare = ports.iter().filter(|port| port.cable.is_none()).count();
    if bare > 0 {
        let meaning = format!("{bare} of {all} ports have no cable: no delay");
        add(Differs, "CABLE_LENGTH", "(0m)".to_owned(), meaning);
    }
    let groups = || ports.iter().flat_map(|port| port.lossless.values());
    let from = |from: From| groups().filter(|group| group.from == from).count();
    if from(From::Table) > 0 {
        let meaning = format!(
            "headroom, size and XON of {} lossless groups, by speed and cable as the buffer manager of SONiC \
             takes them",
            from(From::Table)
        );
        add(Kept, "pg_profile_lookup.ini", String::new(), meaning);
    }
    for (rate, share) in &plan.groups {
        let here =
            ports.iter().filter(|port| port.rate == *rate).flat_map(|port| port.lossless.values());
        let least = here.filter_map(|group| group.profile.xoff).min().unwrap_or(0);
        if least < share.headroom {
            let meaning = format!(
                "ports of {rate} have from {least} to {} bytes by their cables and switches, and here all have the \
                 most",
                share.headroom
            );
            add(Differs, "headroom", String::new(), meaning);
        }
    }
    if from(From::Computed) > 0 {
        let meaning = format!(
            "{} lossless groups have no profile, and no line of a headroom table has their speed and cable: the \
             headroom is what `floodway headroom` computes",
            from(From::Computed)
        );
        add(Differs, "BUFFER_PG profile", "(computed)".to_owned(), meaning);
    }
    for (side, pool) in [("ingress", &plan.ingress), ("egress", &plan.egress)] {
        for size in pool.iter().flat_map(|pool| pool.sizes.iter().take(1)) {
            let meaning = match size {
                Size::Written(_) => continue,
                Size::Rest(_) => format!(
                    "the switch computes the {side} pool when it runs: the largest pool less what ports have of \
                     their own"
                ),
                Size::Assumed => format!("no size of an {side} pool is known: assumed"),
            };
            add(Differs, "BUFFER_POOL size", format!("({})", size.bytes()), meaning);
        }
    }
    if plan.lossless.is_empty() {
        let meaning = "no class is lossless: no `pfc_enable`, and no priority group with `xoff`";
        add(Nothing, "PFC", String::new(), meaning.to_owned());
    }
    for (class, queue) in plan.order.iter().enumerate() {
        let of = |port: &&&Port| port.queues[usize::from(*queue)].curve.is_none();
        let unmarked = ports.iter().filter(of).count();
        if plan.marks.contains(&class) && unmarked > 0 {
            let meaning = format!(
                "queue {queue} does not mark at {unmarked} of {all} ports, and here it marks at all"
            );
            add(Differs, "QUEUE wred_profile", "(none)".to_owned(), meaning);
        }
    }
    classes(&ports, plan, &mut add);
    for (written, name) in &network.renamed {
        add(Differs, "name", written.clone(), format!("is called {name} here"));
    }
    let hosts = network.hosts.len();
    let meaning = format!(
        "{hosts} hosts, one at each port that leads to no switch of this import; of {} a neighbor is known",
        network.named
    );
    add(Nothing, "hosts and traffic", String::new(), meaning);
    rows
}

/// What no map says, and what there is no queue or pool for.
fn classes(ports: &[&Port], plan: &Plan, add: &mut impl FnMut(Fate, &str, String, String)) {
    let all = ports.len();
    let Some(dscps) = plan.dscps else {
        let meaning = format!(
            "no port has a map of DSCPs: all flows are in queue {} of the switches",
            plan.main
        );
        add(Differs, "DSCP_TO_TC_MAP", "(none)".to_owned(), meaning);
        return;
    };
    let bare = ports.iter().filter(|port| port.dscps.is_none()).count();
    if bare > 0 {
        let meaning = format!("{bare} of {all} ports have no map of DSCPs, and here all have one");
        add(Differs, "DSCP_TO_TC_MAP", "(none)".to_owned(), meaning);
    }
    let unreached: Vec<String> =
        plan.lossless.iter().filter(|of| !dscps.contains(of)).map(u8::to_string).collect();
    if !unreached.is_empty() {
        let meaning = format!("no DSCP leads to the lossless queues {}", unreached.join(", "));
        add(Nothing, "DSCP_TO_TC_MAP", "(none)".to_owned(), meaning);
    }
    for (name, size) in plan.own.iter().filter_map(|own| own.pool.as_ref()) {
        if !matches!(size, Size::Written(_)) {
            let meaning = format!(
                "the switch computes the size of {name} when it runs: here it is that of the largest pool"
            );
            add(Differs, "BUFFER_POOL size", format!("({})", size.bytes()), meaning);
        }
    }
}
