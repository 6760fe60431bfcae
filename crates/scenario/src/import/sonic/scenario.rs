//! The scenario as text.

use std::collections::BTreeMap;

use floodway_model::{Bytes, Marking};

use super::network::Network;
use super::plan::{Flows, NO_POOL, Plan, Pool};
use super::shares::written;
use super::switch::Switch;
use crate::device::{DeviceProfile, basis};
use crate::import::writer::Scenario;

/// Senders of the incast that stands for the traffic.
const SENDERS: usize = 8;

/// What the scenario is made of.
pub struct Parts<'a> {
    /// Its name.
    pub name: &'a str,
    /// The switches.
    pub switches: &'a [Switch],
    /// The settings.
    pub plan: &'a Plan,
    /// The network.
    pub network: &'a Network,
    /// Whether too little headroom is an error.
    pub lossless: bool,
    /// The model of the switches, if it is known.
    pub profile: Option<&'a DeviceProfile>,
}

/// What CONFIG_DB does not say of a switch, and profiles do.
const OF_MODEL: [&str; 2] = ["cell", "latency"];

/// Writes it.
pub fn text(parts: &Parts<'_>) -> String {
    let Parts { name, switches, plan, network, .. } = parts;
    let mut scenario = Scenario::default();
    let arrivals = "1ms";
    scenario
        .table("")
        .quoted("name", name, "")
        .quoted("question", "What do these switches do with this traffic?", "")
        .quoted("arrivals", arrivals, "")
        .quoted("limit", "100ms", "a run ends earlier, when all flows are complete")
        .quoted("sample_interval", "10us", "");
    if plan.flows.len() > 1 {
        scenario.bare("share_hosts", true, "so that the classes meet at one port");
    }
    topology(&mut scenario, network);
    switch(&mut scenario, parts);
    host(&mut scenario, plan);
    for flows in &plan.flows {
        traffic(&mut scenario, flows, plan, SENDERS.min(network.hosts.len() - 1));
    }
    let count = switches.len();
    let head = [
        format!(
            "Written by `floodway import sonic` from the configuration of {}.",
            if count == 1 { switches[0].name.clone() } else { format!("{count} switches") }
        ),
        "The configuration says nothing of hosts and traffic: replace [[workload]] and [host]."
            .to_owned(),
    ];
    scenario.text(&head, |_| None).0
}

fn topology(scenario: &mut Scenario, network: &Network) {
    let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
    for link in &network.links {
        *kinds.entry((link.rate, link.delay)).or_default() += 1;
    }
    let usual = kinds.iter().max_by_key(|(_, count)| **count).map(|(kind, _)| *kind);
    let list = |names: &[String]| format!("{names:?}");
    let table = scenario.table("topology.custom");
    table.bare("hosts", list(&network.hosts), "");
    table.bare("switches", list(&network.switches), "");
    let Some((rate, delay)) = usual else { return };
    table.quoted("rate", rate, "PORT speed").quoted("delay", delay, "CABLE_LENGTH, 5 ns a meter");
    let mut links = String::from("[\n");
    for link in &network.links {
        let ends = &link.ends;
        let mut more = String::new();
        if link.rate != rate {
            more += &format!(", rate = \"{}\"", link.rate);
        }
        if link.delay != delay {
            more += &format!(", delay = \"{}\"", link.delay);
        }
        links += &match more.is_empty() {
            true => format!("  \"{ends}\", # {}\n", link.from),
            false => format!("  {{ ends = \"{ends}\"{more} }}, # {}\n", link.from),
        };
    }
    links.push(']');
    table.bare("links", links, "");
}

fn switch(scenario: &mut Scenario, parts: &Parts<'_>) {
    let Parts { switches, plan, network, .. } = parts;
    if let Some(profile) = parts.profile {
        let table = scenario.table("switch");
        for field in OF_MODEL {
            let path = format!("switch.{field}");
            for value in profile.values.iter().filter(|value| value.path == path) {
                let comment = format!("{}: {}", profile.name, value.evidence);
                table.quoted(field, basis::shown(&value.value), comment);
            }
        }
    }
    scenario.table("switch.queue").bare("count", plan.order.len(), classes(plan));
    classify(scenario, plan);
    let table = scenario.table("switch.scheduler.drr");
    table.quoted("quantum", "1538B", "").bare(
        "weights",
        format!("{:?}", plan.weights),
        "SCHEDULER weight",
    );
    if plan.strict > 0 {
        table.bare("strict", plan.strict, "SCHEDULER type STRICT");
    }
    let egress = plan.egress.as_ref().or(plan.ingress.is_none().then_some(&ASSUMED));
    let ingress = plan.ingress.as_ref();
    for (side, pool) in [("ingress", ingress), ("egress", egress)] {
        let Some(pool) = pool else { continue };
        let name = match pool.name.is_empty() {
            true => "assumed: no BUFFER_POOL".to_owned(),
            false => format!("BUFFER_POOL {} size", pool.name),
        };
        let size = pool.size();
        let table = scenario.table(&format!("switch.buffer.shared.{side}"));
        table.quoted("pool", exact(size), name);
        table.quoted("guaranteed", exact(plan.usable(pool.guaranteed)), "BUFFER_PROFILE size");
        if side == "ingress" && !alike(plan) {
            table.bare("alpha", 1, "not used: `by_rate` has every rate");
            continue;
        }
        table.bare(
            "alpha",
            pool.alpha().map_or("false".to_owned(), |alpha| alpha.to_string()),
            "2^dynamic_th; false is no threshold below the pool",
        );
    }
    shared(scenario, plan, switches, &network.switches);
    if !plan.lossless.is_empty() {
        pfc(scenario, parts);
    }
    if let Some(curve) = plan.curve {
        let table = scenario.table("switch.aqm.ramp");
        if plan.marks.len() < plan.order.len() {
            table.bare("queues", format!("{:?}", plan.marks), "QUEUE wred_profile");
        }
        table.quoted("kmin", exact(curve.kmin), "WRED_PROFILE green_min_threshold");
        table.quoted(
            "kmax",
            exact(curve.kmax.max(curve.kmin + 1)),
            "WRED_PROFILE green_max_threshold",
        );
        let pmax = f64::from(curve.percent) / 100.0;
        table.bare("pmax", pmax, "WRED_PROFILE green_drop_probability, in percent");
        for (rate, curve) in &plan.curves {
            scenario
                .table("[switch.aqm.ramp.by_rate]")
                .quoted("rate", rate, "")
                .quoted("kmin", exact(curve.kmin), "")
                .quoted("kmax", exact(curve.kmax), "")
                .bare("pmax", f64::from(curve.percent) / 100.0, "");
        }
        for (curve, classes) in &plan.own_curves {
            scenario
                .table("[switch.aqm.ramp.by_queue]")
                .bare("queues", format!("{classes:?}"), "QUEUE wred_profile")
                .quoted("kmin", exact(curve.kmin), "")
                .quoted("kmax", exact(curve.kmax), "")
                .bare("pmax", f64::from(curve.percent) / 100.0, "");
        }
    }
}

/// Which DSCPs go to which queue; one queue without a map of them.
fn classify(scenario: &mut Scenario, plan: &Plan) {
    let Some(default) = plan.default_class() else {
        let class = plan.class(plan.main).unwrap_or_default();
        let from = format!("queue {} of the switches", plan.main);
        scenario.table("switch.classify.single").bare("queue", class, from);
        return;
    };
    let table = scenario.table("switch.classify.dscp");
    table.bare("default", default, format!("queue {} of the switches", plan.order[default]));
    let mut queues = String::from("[\n");
    for (class, queue) in plan.order.iter().enumerate().filter(|(class, _)| *class != default) {
        let dscps: Vec<String> = plan.dscps_of(class).into_iter().map(dscp).collect();
        if !dscps.is_empty() {
            let dscps = dscps.join(", ");
            queues += &format!(
                "  {{ queue = {class}, dscp = [{dscps}] }}, # queue {queue} of the switches\n"
            );
        }
    }
    queues.push(']');
    table.bare("queues", queues, "");
}

/// A DSCP as TOML has it: by its name, if it has one.
fn dscp(number: u8) -> String {
    match Marking::new(number).map(|marking| marking.to_string()) {
        Some(name) if name.parse::<u8>().is_err() => format!("\"{name}\""),
        _ => number.to_string(),
    }
}

/// The egress pool if nothing is known of any pool.
static ASSUMED: Pool = Pool {
    name: String::new(),
    sizes: Vec::new(),
    threshold: super::switch::Threshold::Dynamic(0),
    guaranteed: 0,
};

/// Whether lossless classes have the same at ports of all rates.
fn alike(plan: &Plan) -> bool {
    let first = plan.groups.values().next();
    plan.groups.values().all(|share| Some(share) == first)
}

/// The headroom, and what differs by rate or by switch.
fn shared(scenario: &mut Scenario, plan: &Plan, switches: &[Switch], names: &[String]) {
    let first = plan.groups.values().next();
    let size = plan.ingress.as_ref().and_then(|pool| pool.sizes.first());
    let pool = plan.headroom_pools.first();
    let of_all = first.filter(|_| alike(plan));
    if of_all.is_some() || pool.is_some() {
        let table = scenario.table("switch.buffer.shared");
        if let Some(share) = of_all {
            let from = if share.computed { "computed here: no table" } else { "xoff" };
            table.quoted("headroom", exact(share.headroom), from);
        }
        if let Some(&pool) = pool {
            table.quoted("headroom_pool", exact(pool), from_pool(pool));
        }
    }
    if of_all.is_none() {
        for (rate, share) in &plan.groups {
            let alpha = share.threshold.alpha(size.map_or(0, |size| size.bytes()));
            let from = if share.computed { "computed here: no table" } else { "xoff" };
            scenario
                .table("[switch.buffer.shared.by_rate]")
                .quoted("rate", rate, "")
                .bare("alpha", alpha.unwrap_or(UNLIMITED), "")
                .quoted("headroom", exact(share.headroom), from);
        }
    }
    own(scenario, plan);
    let pools = [&plan.ingress, &plan.egress];
    for at in 1..switches.len() {
        let own = pools.map(|pool| {
            let sizes = &pool.as_ref()?.sizes;
            (sizes[at] != sizes[0]).then_some(sizes[at])
        });
        let headroom = plan.headroom_pools.get(at).filter(|pool| **pool != plan.headroom_pools[0]);
        if own == [None, None] && headroom.is_none() {
            continue;
        }
        let table = scenario.table("[switch.buffer.shared.by_switch]");
        table.bare("switches", format!("{:?}", [&names[at]]), "");
        for (field, size) in ["ingress_pool", "egress_pool"].into_iter().zip(own) {
            if let Some(size) = size {
                table.quoted(field, exact(size.bytes()), "BUFFER_POOL size");
            }
        }
        if let Some(&pool) = headroom {
            table.quoted("headroom_pool", exact(pool), from_pool(pool));
        }
    }
}

fn from_pool(pool: u64) -> &'static str {
    if pool == NO_POOL { "no limit: BUFFER_POOL has no xoff" } else { "BUFFER_POOL xoff" }
}

/// What classes have of their own.
fn own(scenario: &mut Scenario, plan: &Plan) {
    let ingress = plan.ingress.as_ref().map_or(0, Pool::size);
    for own in &plan.own {
        let table = scenario.table("[switch.buffer.shared.by_queue]");
        let numbers: Vec<String> =
            own.classes.iter().map(|class| plan.order[*class].to_string()).collect();
        let from = format!("queues {} of the switches", numbers.join(", "));
        table.bare("queues", format!("{:?}", own.classes), from);
        let terms = &own.terms;
        if let Some(threshold) = terms.ingress {
            table.bare("ingress_alpha", written(threshold, ingress), "BUFFER_PG profile");
        }
        if let Some(bytes) = terms.ingress_guaranteed {
            table.quoted("ingress_guaranteed", exact(plan.usable(bytes)), "BUFFER_PROFILE size");
        }
        let egress = match &own.pool {
            Some((_, size)) => size.bytes(),
            None => plan.egress.as_ref().map_or(0, Pool::size),
        };
        if let Some(threshold) = terms.egress {
            table.bare("egress_alpha", written(threshold, egress), "BUFFER_QUEUE profile");
        }
        if let Some(bytes) = terms.egress_guaranteed {
            table.quoted("egress_guaranteed", exact(plan.usable(bytes)), "BUFFER_PROFILE size");
        }
        if let Some((name, size)) = &own.pool {
            table.quoted("egress_pool", exact(size.bytes()), format!("BUFFER_POOL {name} size"));
        }
    }
}

/// Where every port has a share, complete sharing is a share that no pool limits.
pub const UNLIMITED: f64 = 65_536.0;

fn pfc(scenario: &mut Scenario, parts: &Parts<'_>) {
    let plan = parts.plan;
    let table = scenario.table("switch.flow_control.pfc");
    table
        .quoted("measured_on", "ingress_pool", "")
        .quoted("xon_offset", exact(plan.xon_offset), "xon_offset")
        .bare("queues", format!("{:?}", plan.lossless_classes()), "PORT_QOS_MAP pfc_enable");
    if !parts.lossless {
        table.bare("lossless", false, "the headroom is less than the worst case: see the warnings");
    }
    if let Some(dog) = plan.watchdog {
        let table = scenario.table("switch.flow_control.pfc.watchdog");
        table
            .quoted("detection", format!("{}ms", dog.detection), "PFC_WD detection_time")
            .quoted("restoration", format!("{}ms", dog.restoration), "PFC_WD restoration_time")
            .quoted("action", if dog.forwards { "forward" } else { "drop" }, "PFC_WD action");
    }
}

fn host(scenario: &mut Scenario, plan: &Plan) {
    let Some(first) = plan.flows.first().filter(|of| of.lossless) else {
        scenario.table("host.transport.tcp");
        return;
    };
    scenario.table("host.transport.rocev2");
    let marks = plan.class(first.queue).is_some_and(|class| plan.marks.contains(&class));
    scenario.table(if marks { "host.congestion.dcqcn" } else { "host.congestion.line_rate" });
}

/// Flows of one class: an incast, over RoCEv2 if the class is lossless and otherwise over TCP.
fn traffic(scenario: &mut Scenario, flows: &Flows, plan: &Plan, senders: usize) {
    let name = match (flows.dscp, flows.lossless) {
        (None, _) => "incast",
        (Some(_), true) => "lossless",
        (Some(_), false) => "lossy",
    };
    scenario.table("[workload]").quoted("name", name, "replace it by your traffic");
    if let Some(number) = flows.dscp {
        let from = format!("queue {} of the switches", flows.queue);
        scenario.bare("dscp", dscp(number), from);
    }
    scenario.table("workload.incast").bare("senders", senders, "").quoted("bytes", "1MB", "");
    if !flows.lossless && plan.flows[0].lossless {
        scenario.table("workload.transport.tcp");
        scenario.table("workload.congestion.cubic");
    }
}

/// Which queue is which class.
fn classes(plan: &Plan) -> String {
    let is_same = plan.order.iter().enumerate().all(|(class, queue)| class == usize::from(*queue));
    if is_same {
        return String::new();
    }
    let list: Vec<String> = plan.order.iter().map(u8::to_string).collect();
    format!("these queues of the switches: {}", list.join(", "))
}

/// Bytes to the byte.
pub fn exact(bytes: u64) -> String {
    format!("{}B", Bytes(bytes).0)
}
