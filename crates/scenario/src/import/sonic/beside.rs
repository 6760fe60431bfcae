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
    let marks =
        |queue: &u8| ports.iter().any(|port| port.queues[usize::from(*queue)].curve.is_some());
    let unmarked: Vec<String> =
        plan.order.iter().filter(|queue| !marks(queue)).map(u8::to_string).collect();
    if plan.curve.is_some() && !unmarked.is_empty() {
        let meaning =
            format!("queues {} do not mark, and here all queues of a port do", unmarked.join(", "));
        add(Differs, "QUEUE wred_profile", "(none)".to_owned(), meaning);
    }
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
