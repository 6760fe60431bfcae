//! The tables of pools of headroom.

use floodway_model::table::Table;
use floodway_model::tables::{headroom, headroom_episodes};

use super::name_of;
use crate::Spec;
use crate::run::Finished;
use crate::switch::Switch;
use crate::switch::buffer::shared::HeadroomPool;

/// One row per switch with a pool.
pub fn table(spec: &Spec, finished: &Finished) -> Table {
    let row = |(switch, pool): (&Switch, &HeadroomPool)| headroom::Row {
        node: name_of(spec, switch.id()),
        tier: switch.tier().into(),
        pool_bytes: pool.size(),
        of_all_bytes: pool.of_all(),
        max_bytes: pool.max(),
        episodes: pool.episodes().iter().map(|(_, episodes)| episodes).sum(),
    };
    pools(finished).map(row).collect()
}

/// How far episodes filled it.
pub fn episodes(spec: &Spec, finished: &Finished) -> Table {
    let rows = |(switch, pool): (&Switch, &HeadroomPool)| {
        let row = |(up_to_bytes, episodes)| headroom_episodes::Row {
            node: name_of(spec, switch.id()),
            tier: switch.tier().into(),
            up_to_bytes,
            episodes,
        };
        pool.episodes().into_iter().map(row).collect::<Vec<_>>()
    };
    pools(finished).flat_map(rows).collect()
}

fn pools(finished: &Finished) -> impl Iterator<Item = (&Switch, &HeadroomPool)> {
    finished.switches.iter().filter_map(|switch| Some((switch, switch.headroom_pool()?)))
}
