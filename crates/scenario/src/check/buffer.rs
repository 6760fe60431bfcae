//! Whether a shared memory has room for frames, and for what PFC does not stop in time.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};
use floodway_sim::switch::buffer::shared;

use super::pausing::{Measured, Pausing, sum};
use super::pools::{Pools, alone_at, places};
use super::{Problems, headroom_pool, links_to};
use crate::document::Document;
use crate::text::suggest;

const SHARED: &str = "switch.buffer.shared";
const INGRESS: &str = "switch.buffer.shared.ingress";
const EGRESS: &str = "switch.buffer.shared.egress";
const HEADROOM: &str = "switch.buffer.shared.headroom";

/// Whether the switches with pools of their own exist, and what they say of them makes sense.
pub fn check_names(
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Problems<'_>,
) {
    let Some(memory) = settings.switch.buffer.pools() else { return };
    let names: BTreeSet<&str> =
        graph.switches().map(|switch| graph.node(switch).name.as_str()).collect();
    let mut seen = BTreeSet::new();
    for (number, of) in memory.by_switch.iter().enumerate() {
        let path = format!("{SHARED}.by_switch.{number}");
        for (index, name) in of.switches.iter().enumerate() {
            let place = format!("{path}.switches.{index}");
            if !names.contains(name.as_str()) {
                let close = suggest::closest(name, names.iter().copied());
                let help = close.map_or_else(
                    || "write the name of a switch, as tables have it".to_owned(),
                    |close| format!("did you mean \"{close}\"?"),
                );
                findings.error(&[&place], format!("there is no switch `{name}`"), help);
            } else if !seen.insert(name.as_str()) {
                let help = "write each switch once";
                findings.error(&[&place], format!("`{name}` has two pools"), help);
            }
        }
        let pools = [
            ("ingress_pool", memory.ingress.is_some(), "[switch.buffer.shared.ingress]"),
            ("egress_pool", memory.egress.is_some(), "[switch.buffer.shared.egress]"),
            (
                "headroom_pool",
                memory.headroom_pool.is_some(),
                "`switch.buffer.shared.headroom_pool`",
            ),
        ];
        // A headroom that takes no frame is no error of its own.
        let books = [&memory.ingress, &memory.egress, &None];
        let fields = of.pools().into_iter().zip(pools).zip(books);
        for ((pool, (field, is_there, table)), book) in fields {
            let place = format!("{path}.{field}");
            match pool {
                Some(Bytes(0)) => findings.error(
                    &[&place],
                    format!("`{field}` is zero"),
                    "write the bytes that the switch shares",
                ),
                Some(_) if !is_there => findings.error(
                    &[&place],
                    format!("`{field}` is the size of a pool that is not there"),
                    format!("write {table}, or remove it"),
                ),
                Some(pool) => {
                    let book = book.iter().map(|book| shared::Pool { pool, ..book.clone() });
                    let too_small = book.filter_map(|book| book.takes_no_frame(largest_frame));
                    for most in too_small {
                        let name = of.switches.first().map_or("a switch", String::as_str);
                        findings.error(
                            &[&place],
                            format!(
                                "{name} would never take a frame of {largest_frame} bytes: nothing \
                                 is guaranteed, and {most}"
                            ),
                            "raise this pool or alpha, or guarantee at least one frame",
                        );
                    }
                }
                None => {}
            }
        }
    }
}

/// PFC that is measured on a pool which is not there.
pub fn no_pool(findings: &mut Problems<'_>) {
    findings.error(
        &["switch.flow_control.pfc.measured_on"],
        "PFC is measured on the ingress pool, but there is none",
        format!("write [{INGRESS}], or measure on `ingress` or `egress_queue`"),
    );
}

/// Whether PFC or PAUSE stops neighbors before a shared memory has no room for them, in each switch by
/// its own pools.
pub fn check_pausing(
    settings: &Document,
    spec: &Pausing,
    memory: &shared::Spec,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Problems<'_>,
) {
    if spec.measured == Measured::IngressPool && memory.ingress.is_none() {
        return no_pool(findings);
    }
    let all = Pools::of(memory, graph);
    if !spec.lossless {
        return all.iter().for_each(|pools| check_lossy(spec, pools, findings));
    }
    if spec.measured == Measured::IngressPool
        && let Some(link) = Neediest::beyond(settings, spec, memory, graph)
    {
        findings.error(
            &[HEADROOM, SHARED],
            format!(
                "the headroom of a port and class is {}, but {} needs {}",
                memory.headroom_at(link.rate),
                link.name(),
                link.headroom
            ),
            format!(
                "raise `{HEADROOM}` to at least {} (frames have up to {largest_frame} bytes)",
                link.headroom
            ),
        );
        return;
    }
    if !spec.measured.is_ingress() && memory.ingress.is_some() {
        findings.warn(
            &[&spec.path("measured_on"), INGRESS],
            format!(
                "{} is measured on the {} and does not see what the ingress pool refuses",
                spec.name,
                spec.measured.name()
            ),
            format!(
                "frames of lossless classes may be lost: measure on {}, or leave the ingress pool \
                 out",
                spec.on_ingress()
            ),
        );
    }
    let mut fits = true;
    for pools in all.iter().filter(|_| spec.measured.is_ingress()) {
        headroom_pool::check(settings, spec, pools, findings);
    }
    for pools in &all {
        fits &= check_pools(settings, spec, pools, graph, findings);
    }
    if let (Measured::Ingress, Some(pool), true) = (spec.measured, &memory.ingress, fits) {
        sure_ingress(settings, spec, memory, pool, graph, largest_frame, findings);
    }
}

/// The same for switches with the same pools; false if it cannot work on the ingress.
fn check_pools(
    settings: &Document,
    spec: &Pausing,
    pools: &Pools<'_>,
    graph: &Graph,
    findings: &mut Problems<'_>,
) -> bool {
    let links = Neediest::all(settings, spec, pools.links());
    let Some(link) = links.max_by_key(|link| link.headroom) else { return true };
    if !spec.measured.is_ingress() {
        if let Some(pool) = &pools.memory.egress {
            static_egress(settings, spec, pools, pool, &link, graph, findings);
        }
        return true;
    }
    if spec.measured == Measured::Ingress
        && let Some(pool) = &pools.memory.ingress
        && !static_ingress(settings, spec, pools, pool, findings)
    {
        return false;
    }
    if let Some(egress) = &pools.memory.egress {
        egress_of_lossless(spec, pools, egress, &link, graph, findings);
    }
    true
}

/// Where losses are no fault: whether XOFF can be reached at all.
fn check_lossy(spec: &Pausing, pools: &Pools<'_>, findings: &mut Problems<'_>) {
    let memory = &pools.memory;
    let (own, path, holds, most) = match (spec.measured, &memory.ingress, &memory.egress) {
        // PAUSE counts all classes of a port together.
        (Measured::Ingress, Some(pool), _) if spec.by_class || spec.lossless_classes == 1 => {
            let rates = pools.links().into_keys().map(|(rate, _)| rate);
            let most = rates.map(|rate| alone_at(memory, pool, rate)).max();
            let most = most.unwrap_or_else(|| sum(pool.fair(1), memory.headroom));
            (&pools.own_ingress, INGRESS, "a port and class", most)
        }
        (Measured::EgressQueue, _, Some(pool)) => {
            (&pools.own_egress, EGRESS, "an egress queue", pool.fair(1))
        }
        _ => return,
    };
    if spec.xoff >= most {
        let raised = own.clone().unwrap_or_else(|| format!("{path}.pool"));
        let of = pools.of_switch(pools.first());
        findings.error(
            &places(own, &[&spec.path("xoff"), path]),
            format!("{holds}{of} may hold at most {most}, which is not above XOFF ({})", spec.xoff),
            format!("nobody would ever be paused: lower XOFF, or raise `{raised}`"),
        );
    }
}

/// The link to a switch that needs most headroom.
struct Neediest<'a> {
    rate: Rate,
    delay: Duration,
    headroom: Bytes,
    /// Where it is from and to.
    ends: [&'a str; 2],
}

impl<'a> Neediest<'a> {
    /// Of those that need more than their ports have.
    fn beyond(
        settings: &Document,
        spec: &Pausing,
        memory: &shared::Spec,
        graph: &'a Graph,
    ) -> Option<Self> {
        let all = Self::all(settings, spec, links_to(graph, graph.switches()));
        all.filter(|link| memory.headroom_at(link.rate) < link.headroom)
            .max_by_key(|link| link.headroom)
    }

    fn all(
        settings: &Document,
        spec: &Pausing,
        links: BTreeMap<(Rate, Duration), [&'a str; 2]>,
    ) -> impl Iterator<Item = Self> {
        links.into_iter().map(|((rate, delay), ends)| Self {
            rate,
            delay,
            headroom: spec.headroom(settings, rate, delay),
            ends,
        })
    }

    fn name(&self) -> String {
        let [from, to] = self.ends;
        format!("a link of {} and {} ({from} to {to})", self.rate, self.delay)
    }
}

/// The link that lacks most above XOFF if ports may hold so much by their rates; what they may, and what
/// it needs.
fn worst<'a>(
    settings: &Document,
    spec: &Pausing,
    links: BTreeMap<(Rate, Duration), [&'a str; 2]>,
    holds: impl Fn(Rate) -> Bytes,
) -> Option<(Bytes, Bytes, Neediest<'a>)> {
    let links = Neediest::all(settings, spec, links);
    let with = links.map(|link| (holds(link.rate), sum(spec.xoff, link.headroom), link));
    with.max_by_key(|(holds, needed, _)| i128::from(needed.0) - i128::from(holds.0))
}

/// A static XOFF against the ingress book; false if it cannot work.
fn static_ingress(
    settings: &Document,
    spec: &Pausing,
    pools: &Pools<'_>,
    pool: &shared::Pool,
    findings: &mut Problems<'_>,
) -> bool {
    let alone = |rate| alone_at(&pools.memory, pool, rate);
    let worst = worst(settings, spec, pools.links(), alone);
    let Some((alone, needed, link)) = worst.filter(|(alone, needed, _)| alone < needed) else {
        return true;
    };
    let own = &pools.own_ingress;
    let raised = own.as_ref().map_or("the pool".to_owned(), |path| format!("`{path}`"));
    findings.error(
        &places(own, &[&spec.path("xoff"), INGRESS]),
        format!(
            "a port and class{} may hold at most {alone}, but XOFF ({}) and what then comes from {} \
             take {needed}",
            pools.of_switch(link.ends[1]),
            spec.xoff,
            link.name()
        ),
        if spec.by_class {
            format!(
                "lower XOFF, raise {raised}, alpha or `{HEADROOM}`, or measure on `ingress_pool`"
            )
        } else {
            format!("lower XOFF, or raise {raised}, alpha or `{HEADROOM}`")
        },
    );
    false
}

/// Whether a static XOFF is below what a port and class has whatever others take of the pool. Pools
/// do not count for that.
fn sure_ingress(
    settings: &Document,
    spec: &Pausing,
    memory: &shared::Spec,
    pool: &shared::Pool,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Problems<'_>,
) {
    let links = links_to(graph, graph.switches());
    let sure = |rate| sum(pool.guaranteed, memory.headroom_at(rate));
    let Some((sure, needed, link)) = worst(settings, spec, links, sure) else { return };
    // A frame that neither the guarantee nor the headroom can take whole.
    let needed = sum(needed, Bytes(largest_frame.into()));
    if sure < needed {
        findings.warn(
            &[&spec.path("xoff"), INGRESS],
            format!(
                "when others have taken the pool, a port and class has {sure}, but XOFF ({}) and what \
                 then comes from {} take {needed}",
                spec.xoff,
                link.name()
            ),
            format!(
                "frames may be lost before XOFF is reached: {}lower XOFF, or raise \
                 `{INGRESS}.guaranteed` or `{HEADROOM}`",
                if spec.by_class { "measure on `ingress_pool`, " } else { "" }
            ),
        );
    }
}

/// XOFF of an egress queue against what the pool lets it hold.
fn static_egress(
    settings: &Document,
    spec: &Pausing,
    pools: &Pools<'_>,
    pool: &shared::Pool,
    link: &Neediest<'_>,
    graph: &Graph,
    findings: &mut Problems<'_>,
) {
    let own = &pools.own_egress;
    let raised = own.clone().unwrap_or_else(|| format!("{EGRESS}.pool"));
    let xoff = spec.path("xoff");
    let places = places(own, &[&xoff, EGRESS]);
    let alone = pool.fair(1);
    let needed = sum(spec.xoff, link.headroom);
    if alone < needed {
        findings.error(
            &places,
            format!(
                "an egress queue{} may hold at most {alone}, but XOFF ({}) and what then comes from \
                 {} take {needed}",
                pools.of_switch(link.ends[1]),
                spec.xoff,
                link.name()
            ),
            format!("lower XOFF, or raise `{raised}` or `{EGRESS}.alpha`"),
        );
        return;
    }
    let switches = || pools.switches.iter().copied();
    let (of_all, ports, name) = spec.headroom_of_all_ports(settings, graph, switches());
    let all_ports = sum(spec.xoff, of_all);
    // Queues that can be at XOFF at the same time.
    let (most, largest) = most_ports(graph, switches());
    let queues = match spec.measured {
        Measured::EgressQueue => most * u64::from(settings.switch.queue.count),
        Measured::EgressPort => most,
        _ => 1,
    };
    let shared = pool.fair(queues);
    let message = if alone < all_ports {
        format!(
            "an egress queue{} may hold at most {alone}, but XOFF ({}) and what then comes from all \
             {ports} other ports of {name} take {all_ports}",
            pools.of_switch(name),
            spec.xoff
        )
    } else if shared < needed {
        let of = pools.of_switch(largest);
        format!(
            "if all {queues} {}s{} fill, each may hold {shared}, but XOFF ({}) and what \
             then comes from {} take {needed}",
            spec.measured.name(),
            if of.is_empty() { " of a switch" } else { &of },
            spec.xoff,
            link.name()
        )
    } else {
        return;
    };
    let help = format!(
        "frames may be lost: lower XOFF, raise `{raised}` or `{EGRESS}.alpha`, or measure on {}",
        spec.on_ingress()
    );
    findings.warn(&places, message, help);
}

/// Everything that the ingress lets lossless classes hold may be bound for one egress queue.
fn egress_of_lossless(
    spec: &Pausing,
    pools: &Pools<'_>,
    egress: &shared::Pool,
    link: &Neediest<'_>,
    graph: &Graph,
    findings: &mut Problems<'_>,
) {
    let (ports, name) = most_ports(graph, pools.switches.iter().copied());
    let of_each = |classes: u8, base: Bytes| {
        (ports * u64::from(classes)).saturating_mul(sum(base, link.headroom).0)
    };
    let guaranteed = |pool: &shared::Pool| of_each(spec.lossless_classes, pool.guaranteed);
    let ingress = pools.memory.ingress.as_ref();
    let by_pool = ingress.map(|pool| guaranteed(pool).saturating_add(pool.pool.0));
    let on_ingress = spec.measured == Measured::Ingress;
    let by_xoff = on_ingress.then(|| of_each(spec.told_classes, spec.xoff));
    let Some(most) = by_pool.into_iter().chain(by_xoff).min() else { return };
    let alone = egress.fair(1);
    if alone < Bytes(most) {
        let raised = pools.own_egress.clone().unwrap_or_else(|| format!("{EGRESS}.pool"));
        findings.warn(
            &places(&pools.own_egress, &[EGRESS]),
            format!(
                "lossless classes may hold {} in {name}, but one egress queue at most {alone}",
                Bytes(most)
            ),
            format!(
                "frames may be lost if all of it is for one port: raise `{raised}` or \
                 `{EGRESS}.alpha`, or leave the egress pool out"
            ),
        );
    }
}

/// The ports of the switch that has most of them, and its name.
fn most_ports(graph: &Graph, switches: impl Iterator<Item = NodeId>) -> (u64, &str) {
    let nodes = switches.map(|switch| graph.node(switch));
    let most = nodes.max_by_key(|node| node.ports.len());
    most.map_or((0, ""), |node| (node.ports.len() as u64, &node.name))
}
