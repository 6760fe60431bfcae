//! The pool of headroom that the ports and lossless classes of a switch share: what it would need if all of
//! them were paused at once, and how much it is oversubscribed.

use std::collections::BTreeMap;

use floodway_model::check::count_of;
use floodway_model::{Bytes, Graph};

use super::Problems;
use super::pausing::Pausing;
use super::pools::{Pools, places};
use crate::derived::HeadroomPool;
use crate::document::Document;

const POOL: &str = "switch.buffer.shared.headroom_pool";

/// The pool of the switch that is oversubscribed most.
pub fn headroom_pool(settings: &Document, spec: &Pausing, graph: &Graph) -> Option<HeadroomPool> {
    let memory = settings.switch.buffer.pools()?;
    let all = Pools::of(memory, graph);
    let of_switches = all.iter().filter_map(|pools| Some(most(settings, spec, pools)?.0));
    of_switches.max_by(|a, b| a.oversubscription.total_cmp(&b.oversubscription))
}

/// Of switches with the same pools, the one whose ports may use most of it; its name and ports.
fn most<'a>(
    settings: &Document,
    spec: &Pausing,
    pools: &Pools<'a>,
) -> Option<(HeadroomPool, &'a str, usize)> {
    let memory = &pools.memory;
    let pool = memory.headroom_pool.filter(|_| memory.ingress.is_some())?;
    let mut kinds = BTreeMap::new();
    let of = |node: &'a floodway_model::graph::Node| {
        let (mut at_once, mut of_all) = (0_u64, 0_u64);
        for end in &node.ports {
            let (needed, may) = *kinds.entry((end.rate, end.delay)).or_insert_with(|| {
                // All classes that have a headroom, which PAUSE stops together.
                let own = memory.headroom_at(end.rate).0;
                let may = own.saturating_mul(spec.lossless_classes.into());
                let needed = spec.headroom(settings, end.rate, end.delay).0;
                (needed.saturating_mul(spec.told_classes.into()).min(may), may)
            });
            at_once = at_once.saturating_add(needed);
            of_all = of_all.saturating_add(may);
        }
        let found = HeadroomPool {
            pool,
            at_once: Bytes(at_once),
            of_all: Bytes(of_all),
            oversubscription: of_all as f64 / pool.0.max(1) as f64,
        };
        (found, &*node.name, node.ports.len())
    };
    pools.nodes().map(of).max_by_key(|(found, ..)| found.at_once)
}

/// Whether a pool has room for one link, and for all at once.
pub fn check(settings: &Document, spec: &Pausing, pools: &Pools<'_>, findings: &mut Problems<'_>) {
    let Some((found, name, ports)) = most(settings, spec, pools) else { return };
    let pool = found.pool;
    let of = pools.of_switch(name);
    let raised = pools.own_headroom.clone().unwrap_or_else(|| POOL.to_owned());
    let places = places(&pools.own_headroom, &[POOL]);
    let links = pools.links().into_iter();
    let needs = links
        .map(|((rate, delay), ends)| (spec.headroom(settings, rate, delay), rate, delay, ends));
    if let Some((needed, rate, delay, [from, to])) =
        needs.max_by_key(|(needed, ..)| *needed).filter(|(needed, ..)| pool < *needed)
    {
        findings.error(
            &places,
            format!(
                "the headroom pool{of} is {pool}, but a link of {rate} and {delay} ({from} to {to}) \
                 alone needs {needed}"
            ),
            format!("raise `{raised}` to at least {needed}"),
        );
    } else if pool < found.at_once {
        findings.warn(
            &places,
            format!(
                "the headroom pool{of} is {pool}, but {} of {name} with {} take {} of it if all are paused \
                 at once (oversubscribed 1:{:.2})",
                count_of(ports as u64, "port"),
                count_of(spec.told_classes, "lossless class"),
                found.at_once,
                found.oversubscription
            ),
            format!(
                "frames may be lost: raise `{raised}`, or estimate how likely that is with `floodway \
                 headroom --scenario`"
            ),
        );
    }
}
