//! Whether a shared memory has room for frames, and for what PFC does not stop in time.

use std::collections::BTreeSet;

use floodway_model::{Bytes, Graph, Rate};
use floodway_sim::switch::buffer::{self, shared};

use super::pausing::{Measured, Pausing};
use super::{Findings, links_to_switches};
use crate::document::Document;
use crate::text::suggest;

const SHARED: &str = "switch.buffer.shared";
const INGRESS: &str = "switch.buffer.shared.ingress";
const EGRESS: &str = "switch.buffer.shared.egress";
const HEADROOM: &str = "switch.buffer.shared.headroom";

/// Checks what needs no topology.
pub fn check(settings: &Document, largest_frame: Option<u16>, findings: &mut Findings<'_>) {
    if let (buffer::Spec::PerPort(spec), Some(frame)) = (&settings.switch.buffer, largest_frame)
        && spec.size.0 < u64::from(frame)
    {
        findings.error(
            &["switch.buffer.per_port.size"],
            format!("a port with {} of memory cannot hold one frame of {frame} bytes", spec.size),
            "raise `switch.buffer.per_port.size`, for example to \"800KB\"",
        );
    }
    let buffer::Spec::Shared(spec) = &settings.switch.buffer else { return };
    for (path, pool) in [(INGRESS, &spec.ingress), (EGRESS, &spec.egress)] {
        if let Some(pool) = pool {
            check_pool(path, pool, largest_frame, findings);
        }
    }
    for (number, of) in spec.by_rate.iter().enumerate() {
        let path = format!("{SHARED}.by_rate.{number}");
        if !(of.alpha > 0.0 && of.alpha.is_finite()) {
            findings.error(
                &[&format!("{path}.alpha")],
                format!("alpha at {} is {}, not a number above zero", of.rate, of.alpha),
                "alpha times what is free is the most that one may hold of the pool",
            );
        }
        if spec.by_rate[..number].iter().any(|earlier| earlier.rate == of.rate) {
            findings.error(
                &[&format!("{path}.rate")],
                format!("ports of {} have two shares", of.rate),
                "write every rate once",
            );
        }
    }
    if spec.ingress.is_none() && spec.egress.is_none() {
        findings.warn(
            &[SHARED],
            "neither the ingress nor the egress limits the memory, so it never ends",
            format!("write [{EGRESS}] or [{INGRESS}]"),
        );
    }
    if spec.headroom > Bytes(0) {
        let cause = match (&spec.ingress, Pausing::of(settings)) {
            (None, _) => "the ingress has no limit",
            (_, None) => "without PFC or PAUSE no class is lossless",
            _ => return,
        };
        findings.warn(
            &[HEADROOM],
            format!("the headroom of {} is never used: {cause}", spec.headroom),
            "headroom is for lossless classes that are above their threshold in the ingress book: \
             leave it out",
        );
    }
}

fn check_pool(
    path: &str,
    pool: &shared::Pool,
    largest_frame: Option<u16>,
    findings: &mut Findings<'_>,
) {
    let field = |name: &str| format!("{path}.{name}");
    if pool.pool == Bytes(0) {
        findings.error(
            &[&field("pool")],
            format!("`{path}.pool` is zero"),
            format!("write the bytes that are shared; without [{path}] there is no such limit"),
        );
        return;
    }
    if let Some(alpha) = pool.alpha.filter(|alpha| !(*alpha > 0.0 && alpha.is_finite())) {
        findings.error(
            &[&field("alpha")],
            format!("`{path}.alpha` is {alpha}, not a number above zero"),
            "alpha times what is free is the most that one may hold of the pool; switches have \
             1/128 to 8, and false lets one hold all of it",
        );
        return;
    }
    let Some(frame) = largest_frame else { return };
    let least = u64::from(frame);
    if pool.guaranteed.0 >= least {
        return;
    }
    if pool.guaranteed > Bytes(0) {
        findings.error(
            &[&field("guaranteed")],
            format!("a guarantee of {} cannot hold one frame of {frame} bytes", pool.guaranteed),
            format!("write at least {}, or 0B for none", Bytes(least)),
        );
        return;
    }
    let part = pool.alpha.map_or(1.0, |alpha| alpha.min(1.0));
    if part * (pool.pool.0 as f64) < least as f64 {
        let most = match pool.alpha {
            Some(alpha) => format!("alpha {alpha} of a pool of {} is less", pool.pool),
            None => format!("the pool of {} is less", pool.pool),
        };
        findings.error(
            &[&field("pool"), &field("alpha")],
            format!(
                "no frame of {frame} bytes would ever be taken: nothing is guaranteed, and {most}"
            ),
            "raise the pool or alpha, or guarantee at least one frame",
        );
    }
}

/// Whether the switches with pools of their own exist, and what they say of them makes sense.
pub fn check_names(settings: &Document, graph: &Graph, findings: &mut Findings<'_>) {
    let buffer::Spec::Shared(memory) = &settings.switch.buffer else { return };
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
            ("ingress_pool", of.ingress_pool, memory.ingress.is_some()),
            ("egress_pool", of.egress_pool, memory.egress.is_some()),
        ];
        for (field, pool, is_there) in pools {
            let place = format!("{path}.{field}");
            match pool {
                Some(Bytes(0)) => findings.error(
                    &[&place],
                    format!("`{field}` is zero"),
                    "write the bytes that the switch shares",
                ),
                Some(_) if !is_there => findings.error(
                    &[&place],
                    format!("`{field}` is the pool of a book that is not there"),
                    format!("write [{SHARED}.{}], or remove it", field.trim_end_matches("_pool")),
                ),
                _ => {}
            }
        }
    }
}

/// PFC that is measured on a pool which is not there.
pub fn no_pool(findings: &mut Findings<'_>) {
    findings.error(
        &["switch.flow_control.pfc.measured_on"],
        "PFC is measured on the ingress pool, but there is none",
        format!("write [{INGRESS}], or measure on `ingress` or `egress_queue`"),
    );
}

/// Whether PFC or PAUSE stops neighbours before a shared memory has no room for them.
pub fn check_pausing(
    settings: &Document,
    spec: &Pausing,
    memory: &shared::Spec,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    if !spec.lossless {
        return check_lossy(spec, memory, findings);
    }
    let Some(link) = Neediest::of(settings, spec, graph) else { return };
    match (spec.measured, &memory.ingress) {
        (Measured::IngressPool, None) => return no_pool(findings),
        (Measured::IngressPool, Some(_)) => {
            if let Some(link) = Neediest::beyond(settings, spec, memory, graph) {
                findings.error(
                    &[HEADROOM, SHARED],
                    format!(
                        "the headroom of a port and class is {}, but {} needs {}",
                        memory.headroom_at(link.rate),
                        link.name,
                        link.headroom
                    ),
                    format!(
                        "raise `{HEADROOM}` to at least {} (frames have up to {largest_frame} \
                         bytes)",
                        link.headroom
                    ),
                );
                return;
            }
        }
        (Measured::Ingress, Some(pool)) => {
            if !static_ingress(spec, pool, memory.headroom, &link, largest_frame, findings) {
                return;
            }
        }
        (Measured::Ingress, None) => {}
        (measured, ingress) => {
            if ingress.is_some() {
                findings.warn(
                    &[&spec.path("measured_on"), INGRESS],
                    format!(
                        "{} is measured on the {} and does not see what the ingress book refuses",
                        spec.name,
                        measured.name()
                    ),
                    format!(
                        "frames of lossless classes may be lost: measure on {}, or leave the \
                         ingress book out",
                        spec.on_ingress()
                    ),
                );
            }
            if let Some(pool) = &memory.egress {
                static_egress(settings, spec, pool, &link, graph, findings);
            }
            return;
        }
    }
    if let Some(egress) = &memory.egress {
        egress_of_lossless(spec, memory, egress, &link, graph, findings);
    }
}

/// Where losses are no fault: whether XOFF can be reached at all.
fn check_lossy(spec: &Pausing, memory: &shared::Spec, findings: &mut Findings<'_>) {
    let (path, holds, most) = match (spec.measured, &memory.ingress, &memory.egress) {
        (Measured::IngressPool, None, _) => return no_pool(findings),
        // PAUSE counts all classes of a port together.
        (Measured::Ingress, Some(pool), _) if spec.by_class || spec.lossless_classes == 1 => {
            (INGRESS, "a port and class", sum(pool.fair(1), memory.headroom))
        }
        (Measured::EgressQueue, _, Some(pool)) => (EGRESS, "an egress queue", pool.fair(1)),
        _ => return,
    };
    if spec.xoff >= most {
        findings.error(
            &[&spec.path("xoff"), path],
            format!("{holds} may hold at most {most}, which is not above XOFF ({})", spec.xoff),
            format!("nobody would ever be paused: lower XOFF, or raise `{path}.pool`"),
        );
    }
}

/// The link to a switch that needs most headroom.
struct Neediest {
    rate: Rate,
    headroom: Bytes,
    name: String,
}

impl Neediest {
    fn of(settings: &Document, spec: &Pausing, graph: &Graph) -> Option<Self> {
        Self::all(settings, spec, graph).max_by_key(|link| link.headroom)
    }

    /// Of those that need more than their ports have.
    fn beyond(
        settings: &Document,
        spec: &Pausing,
        memory: &shared::Spec,
        graph: &Graph,
    ) -> Option<Self> {
        let all = Self::all(settings, spec, graph);
        all.filter(|link| memory.headroom_at(link.rate) < link.headroom)
            .max_by_key(|link| link.headroom)
    }

    fn all(settings: &Document, spec: &Pausing, graph: &Graph) -> impl Iterator<Item = Self> {
        links_to_switches(graph).into_iter().map(|((rate, delay), between)| Self {
            rate,
            headroom: spec.headroom(settings, rate, delay),
            name: format!("a link of {rate} and {delay} ({between})"),
        })
    }
}

/// A static XOFF against the ingress book; false if it cannot work.
fn static_ingress(
    spec: &Pausing,
    pool: &shared::Pool,
    headroom: Bytes,
    link: &Neediest,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) -> bool {
    let alone = sum(pool.fair(1), headroom);
    let needed = sum(spec.xoff, link.headroom);
    let too_little = |holds: String, needed: Bytes| {
        format!(
            "{holds}, but XOFF ({}) and what then comes from {} take {needed}",
            spec.xoff, link.name
        )
    };
    if alone < needed {
        findings.error(
            &[&spec.path("xoff"), INGRESS],
            too_little(format!("a port and class may hold at most {alone}"), needed),
            if spec.by_class {
                format!(
                    "lower XOFF, raise the pool, alpha or `{HEADROOM}`, or measure on \
                     `ingress_pool`"
                )
            } else {
                format!("lower XOFF, or raise the pool, alpha or `{HEADROOM}`")
            },
        );
        return false;
    }
    // A frame that neither the guarantee nor the headroom can take whole.
    let needed = sum(needed, Bytes(largest_frame.into()));
    let sure = sum(pool.guaranteed, headroom);
    if sure < needed {
        findings.warn(
            &[&spec.path("xoff"), INGRESS],
            too_little(
                format!("when others have taken the pool, a port and class has {sure}"),
                needed,
            ),
            format!(
                "frames may be lost before XOFF is reached: {}lower XOFF, or raise \
                 `{INGRESS}.guaranteed` or `{HEADROOM}`",
                if spec.by_class { "measure on `ingress_pool`, " } else { "" }
            ),
        );
    }
    true
}

/// XOFF of an egress queue against what the pool lets it hold.
fn static_egress(
    settings: &Document,
    spec: &Pausing,
    pool: &shared::Pool,
    link: &Neediest,
    graph: &Graph,
    findings: &mut Findings<'_>,
) {
    let alone = pool.fair(1);
    let needed = sum(spec.xoff, link.headroom);
    if alone < needed {
        findings.error(
            &[&spec.path("xoff"), EGRESS],
            format!(
                "an egress queue may hold at most {alone}, but XOFF ({}) and what then comes from \
                 {} take {needed}",
                spec.xoff, link.name
            ),
            format!("lower XOFF, or raise `{EGRESS}.pool` or `{EGRESS}.alpha`"),
        );
        return;
    }
    let (of_all, ports, name) = spec.headroom_of_all_ports(settings, graph);
    let all_ports = sum(spec.xoff, of_all);
    // Queues that can be at XOFF at the same time.
    let queues = match spec.measured {
        Measured::EgressQueue => most_ports(graph).0 * u64::from(settings.switch.queue.count),
        Measured::EgressPort => most_ports(graph).0,
        _ => 1,
    };
    let shared = pool.fair(queues);
    let message = if alone < all_ports {
        format!(
            "an egress queue may hold at most {alone}, but XOFF ({}) and what then comes from all \
             {ports} other ports of {name} take {all_ports}",
            spec.xoff
        )
    } else if shared < needed {
        format!(
            "if all {queues} {}s of a switch fill, each may hold {shared}, but XOFF ({}) and what \
             then comes from {} take {needed}",
            spec.measured.name(),
            spec.xoff,
            link.name
        )
    } else {
        return;
    };
    let help = format!(
        "frames may be lost: lower XOFF, raise `{EGRESS}.pool` or `{EGRESS}.alpha`, or measure on {}",
        spec.on_ingress()
    );
    findings.warn(&[&spec.path("xoff"), EGRESS], message, help);
}

/// Everything that the ingress lets lossless classes hold may be bound for one egress queue.
fn egress_of_lossless(
    spec: &Pausing,
    memory: &shared::Spec,
    egress: &shared::Pool,
    link: &Neediest,
    graph: &Graph,
    findings: &mut Findings<'_>,
) {
    let (ports, name) = most_ports(graph);
    let of_each = |classes: u8, base: Bytes| {
        (ports * u64::from(classes)).saturating_mul(sum(base, link.headroom).0)
    };
    let guaranteed = |pool: &shared::Pool| of_each(spec.lossless_classes, pool.guaranteed);
    let by_pool = memory.ingress.as_ref().map(|pool| guaranteed(pool).saturating_add(pool.pool.0));
    let on_ingress = spec.measured == Measured::Ingress;
    let by_xoff = on_ingress.then(|| of_each(spec.told_classes, spec.xoff));
    let Some(most) = by_pool.into_iter().chain(by_xoff).min() else { return };
    let alone = egress.fair(1);
    if alone < Bytes(most) {
        findings.warn(
            &[EGRESS],
            format!(
                "lossless classes may hold {} in {name}, but one egress queue at most {alone}",
                Bytes(most)
            ),
            format!(
                "frames may be lost if all of it is for one port: raise `{EGRESS}.pool` or \
                 `{EGRESS}.alpha`, or leave the egress book out"
            ),
        );
    }
}

/// The ports of the switch that has most of them, and its name.
fn most_ports(graph: &Graph) -> (u64, &str) {
    let nodes = graph.switches().map(|switch| graph.node(switch));
    let most = nodes.max_by_key(|node| node.ports.len());
    most.map_or((0, ""), |node| (node.ports.len() as u64, &node.name))
}

/// The most that an egress queue can hold, whatever PFC or PAUSE does; `None` if it has no limit, for some
/// class at least.
pub fn largest_queue(settings: &Document) -> Option<Bytes> {
    let by_ingress =
        Pausing::of(settings).is_some_and(|pausing| pausing.measured == Measured::Ingress);
    match &settings.switch.buffer {
        // Then the ingress has the limit.
        buffer::Spec::PerQueue(_) | buffer::Spec::PerPort(_) if by_ingress => None,
        buffer::Spec::PerQueue(_) => Some(settings.switch.queue.size),
        buffer::Spec::PerPort(port) => Some(port.size),
        buffer::Spec::Shared(memory) => memory.egress.as_ref().map(|pool| pool.fair(1)),
    }
}

/// The buffer above XOFF for what comes in by a link of this rate, in a switch that is otherwise empty;
/// `None` if it has no limit.
pub fn above_xoff(settings: &Document, spec: &Pausing, rate: Rate) -> Option<Bytes> {
    let limit = match (&settings.switch.buffer, spec.measured) {
        (buffer::Spec::PerQueue(_), _) => Some(settings.switch.queue.size),
        (buffer::Spec::PerPort(port), _) => Some(port.size),
        (buffer::Spec::Shared(memory), Measured::IngressPool) => {
            return Some(memory.headroom_at(rate));
        }
        (buffer::Spec::Shared(memory), Measured::Ingress) => {
            memory.ingress.as_ref().map(|pool| sum(pool.fair(1), memory.headroom_at(rate)))
        }
        (buffer::Spec::Shared(_), _) => largest_queue(settings),
    };
    limit.map(|limit| Bytes(limit.0.saturating_sub(spec.xoff.0)))
}

/// A sum for a message, which need not be possible.
fn sum(a: Bytes, b: Bytes) -> Bytes {
    Bytes(a.0.saturating_add(b.0))
}
