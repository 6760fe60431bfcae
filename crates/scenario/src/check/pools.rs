//! The pools of a shared buffer, switch by switch: `by_switch` gives some switches pools of their own.

use std::collections::BTreeMap;

use floodway_model::graph::Node;
use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};
use floodway_sim::switch::buffer::shared;

use super::links_to;
use super::pausing::{Measured, Pausing};
use crate::document::Document;

/// Switches with the same pools.
pub struct Pools<'a> {
    /// The buffer of each of them, without `by_switch`.
    pub memory: shared::Spec,
    /// The switches, at least one.
    pub switches: Vec<NodeId>,
    /// The field of `by_switch` with their ingress pool, if they have one of their own.
    pub own_ingress: Option<String>,
    /// The same of their egress pool.
    pub own_egress: Option<String>,
    /// The same of their pool of headroom.
    pub own_headroom: Option<String>,
    /// Whether other switches have other pools.
    apart: bool,
    graph: &'a Graph,
}

impl<'a> Pools<'a> {
    /// The switches of a network by their pools, those without an entry in `by_switch` first.
    pub fn of(memory: &shared::Spec, graph: &'a Graph) -> Vec<Self> {
        let mut entries = BTreeMap::new();
        for (number, of) in memory.by_switch.iter().enumerate() {
            for name in &of.switches {
                // The first one counts.
                entries.entry(name.as_str()).or_insert(number);
            }
        }
        let mut groups: BTreeMap<Option<usize>, Vec<NodeId>> = BTreeMap::new();
        for switch in graph.switches() {
            let entry = entries.get(graph.node(switch).name.as_str()).copied();
            groups.entry(entry).or_default().push(switch);
        }
        let apart = groups.len() > 1;
        let group = |(number, switches): (Option<usize>, _)| {
            let entry = number.map(|number| &memory.by_switch[number]);
            let own = |of: fn(&shared::OfSwitches) -> Option<Bytes>| entry.and_then(of);
            let [ingress, egress, headroom] =
                [own(|of| of.ingress_pool), own(|of| of.egress_pool), own(|of| of.headroom_pool)];
            let book = |of_all: &Option<shared::Pool>, own: Option<Bytes>| {
                let of_all = of_all.as_ref()?;
                Some(shared::Pool { pool: own.unwrap_or(of_all.pool), ..of_all.clone() })
            };
            let path = |field: &str| {
                let number = number.unwrap_or_default();
                format!("switch.buffer.shared.by_switch.{number}.{field}")
            };
            Self {
                memory: shared::Spec {
                    ingress: book(&memory.ingress, ingress),
                    egress: book(&memory.egress, egress),
                    headroom: memory.headroom,
                    headroom_pool: memory.headroom_pool.and(headroom.or(memory.headroom_pool)),
                    by_rate: memory.by_rate.clone(),
                    by_queue: memory.by_queue.clone(),
                    by_switch: Vec::new(),
                },
                switches,
                own_ingress: ingress.map(|_| path("ingress_pool")),
                own_egress: egress.map(|_| path("egress_pool")),
                own_headroom: headroom.map(|_| path("headroom_pool")),
                apart,
                graph,
            }
        };
        groups.into_iter().map(group).collect()
    }

    /// The name of a switch for a message about it, ` of leaf 0`, if not all have the same pools.
    pub fn of_switch(&self, name: &str) -> String {
        if self.apart { format!(" of {name}") } else { String::new() }
    }

    /// The name of the first of the switches.
    pub fn first(&self) -> &'a str {
        let graph = self.graph;
        self.switches.first().map_or("", |&switch| &graph.node(switch).name)
    }

    /// The switches as nodes of the network.
    pub fn nodes(&self) -> impl Iterator<Item = &'a Node> {
        let graph = self.graph;
        self.switches.iter().map(|&switch| graph.node(switch))
    }

    /// The kinds of links that end at these switches, each with one link: where it is from and to.
    pub fn links(&self) -> BTreeMap<(Rate, Duration), [&'a str; 2]> {
        links_to(self.graph, self.switches.iter().copied())
    }
}

/// Where to place what is wrong: first at the pool that is only of some switches.
pub fn places<'p>(own: &'p Option<String>, others: &[&'p str]) -> Vec<&'p str> {
    own.as_deref().into_iter().chain(others.iter().copied()).collect()
}

/// The bytes of the pools of all switches together: of the ingress if it has any.
pub fn shared_bytes(memory: &shared::Spec, graph: &Graph) -> f64 {
    let of = |pools: &Pools<'_>| {
        let pool = pools.memory.ingress.as_ref().or(pools.memory.egress.as_ref());
        pool.map_or(0.0, |pool| pools.switches.len() as f64 * pool.pool.0 as f64)
    };
    Pools::of(memory, graph).iter().map(of).sum()
}

/// The most that a port of this rate and a class can hold in a switch that is otherwise empty.
pub fn alone_at(memory: &shared::Spec, pool: &shared::Pool, rate: Rate) -> Bytes {
    let pool = shared::Pool { alpha: memory.alpha_at(rate), ..pool.clone() };
    Bytes(pool.fair(1).0.saturating_add(memory.headroom_at(rate).0))
}

/// The most that an egress queue of some switches can hold, whatever PFC or PAUSE does.
pub struct Largest {
    /// So many bytes.
    pub bytes: Bytes,
    /// These switches, at least one.
    pub switches: Vec<NodeId>,
    /// ` of leaf 0` if those of other switches hold something else.
    pub of: String,
    /// The field of `by_switch` that says so, if one does.
    pub own: Option<String>,
}

/// For all switches the most that an egress queue can hold; without those where it has no limit, for
/// some class at least.
pub fn largest_queues(settings: &Document, graph: &Graph) -> Vec<Largest> {
    let by_ingress =
        Pausing::of(settings).is_some_and(|pausing| pausing.measured == Measured::Ingress);
    let everywhere = |bytes| {
        vec![Largest { bytes, switches: graph.switches().collect(), of: String::new(), own: None }]
    };
    let buffer = &settings.switch.buffer;
    let Some(memory) = buffer.pools() else {
        // Measured on the ingress, that has the limit.
        let limit = buffer.limit(&settings.switch.queue).bytes.filter(|_| !by_ingress);
        return limit.map_or(Vec::new(), everywhere);
    };
    let limit = |pools: Pools<'_>| {
        let bytes = pools.memory.egress.as_ref()?.fair(1);
        let of = pools.of_switch(pools.first());
        Some(Largest { bytes, of, switches: pools.switches, own: pools.own_egress })
    };
    Pools::of(memory, graph).into_iter().filter_map(limit).collect()
}

/// For every kind of link to a switch: the buffer above XOFF for what comes in by it, in a switch that
/// is otherwise empty, `None` if it has no limit; and what it needs of that. With pools by switch, for
/// every kind of link to every kind of switch.
pub fn above_xoff(
    settings: &Document,
    spec: &Pausing,
    graph: &Graph,
) -> Vec<(Option<Bytes>, Bytes)> {
    let above = |limit: Bytes| Bytes(limit.0.saturating_sub(spec.xoff.0));
    let needed = |rate, delay| spec.headroom(settings, rate, delay);
    let buffer = &settings.switch.buffer;
    let Some(memory) = buffer.pools() else {
        let available = buffer.limit(&settings.switch.queue).bytes.map(above);
        let kinds = links_to(graph, graph.switches()).into_keys();
        return kinds.map(|(rate, delay)| (available, needed(rate, delay))).collect();
    };
    let available = |memory: &shared::Spec, rate| match spec.measured {
        Measured::IngressPool => Some(memory.headroom_at(rate)),
        Measured::Ingress => {
            let pool = memory.ingress.as_ref()?;
            Some(above(alone_at(memory, pool, rate)))
        }
        _ => Some(above(memory.egress.as_ref()?.fair(1))),
    };
    let all = Pools::of(memory, graph);
    let links = all.iter().flat_map(|pools| {
        let kinds = pools.links().into_keys();
        kinds.map(|(rate, delay)| (available(&pools.memory, rate), needed(rate, delay)))
    });
    links.collect()
}
