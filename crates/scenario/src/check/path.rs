//! Whether the choice among equal ways can work, and whether what is sent can bear it.

use floodway_model::graph::NodeKind;
use floodway_model::{Graph, NodeId};
use floodway_sim::host::transport::Spec as Transport;
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::switch::path::{Spec, ecmp};

use super::Findings;
use super::inert::inert;
use crate::document::Document;

/// Entries of a flowlet table: ten bytes each, in every switch.
const MOST_ENTRIES: u32 = 1 << 24;

pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    let path = &settings.switch.path;
    match path {
        Spec::Ecmp(_) | Spec::Spray(_) | Spec::DModK(_) => {}
        Spec::Flowlet(spec) => {
            if !(1..=MOST_ENTRIES).contains(&spec.entries) {
                findings.error(
                    &["switch.path.flowlet.entries"],
                    format!("a flowlet table has {} entries", spec.entries),
                    format!("write 1 to {MOST_ENTRIES}; CONGA has 65536"),
                );
            }
        }
        Spec::LeastLoaded(spec) => {
            if spec.choices == 0 {
                findings.error(
                    &["switch.path.least_loaded.choices"],
                    "no port would be looked at but those remembered",
                    "write at least 1; DRILL has 2",
                );
            }
        }
    }
    let table = format!("switch.path.{}", path.name());
    let known = matches!(path, Spec::Ecmp(ecmp::Spec { weighted: false }));
    if settings.switch.flow_control.drc.is_some() && !known {
        findings.error(
            &[&table, "switch.path"],
            "with Directional Rate Control neighbours have to know by which port a switch will \
             send a packet on",
            "choose [switch.path.ecmp], without weights, or remove [switch.flow_control.drc]",
        );
    }
}

/// Checks what needs the topology.
pub fn check_on(settings: &Document, graph: &Graph, findings: &mut Findings<'_>) {
    // A tree.
    if graph.links().count() < graph.ids().count() {
        inert("switch.path", "there is only one path between any two nodes", findings);
        return;
    }
    let path = &settings.switch.path;
    if matches!(path, Spec::Ecmp(ecmp::Spec { weighted: true })) && has_equal_links(graph) {
        let why = "the links of every switch to other switches have the same rate";
        inert("switch.path.ecmp.weighted", why, findings);
    }
    if matches!(path, Spec::Spray(_) | Spec::LeastLoaded(_)) {
        check_transports(settings, &format!("switch.path.{}", path.name()), findings);
    }
}

/// Whether no switch has links of different rates to other switches: next hops have equal weights then.
fn has_equal_links(graph: &Graph) -> bool {
    let is_switch = |id: NodeId| graph.node(id).kind != NodeKind::Host;
    graph.switches().all(|switch| {
        let ports = graph.node(switch).ports.iter().filter(|port| is_switch(port.peer));
        let mut rates = ports.map(|port| port.rate);
        rates.next().is_none_or(|first| rates.all(|rate| rate == first))
    })
}

/// Every packet of a flow may take another way.
fn check_transports(settings: &Document, table: &str, findings: &mut Findings<'_>) {
    let profiles = settings.profiles();
    let recoveries = profiles.iter().filter_map(|profile| match &profile.transport {
        Transport::Rocev2(rocev2) => Some(&rocev2.recovery),
        _ => None,
    });
    for recovery in recoveries {
        let (what, help) = match recovery {
            recovery::Spec::GoBackN(_) => (
                "`go_back_n` drops packets that have overtaken others, and sends them again",
                "choose `rocev2.recovery.selective_repeat` with a `reordering` as long as the delays of paths \
                 can differ, for example \"20us\"",
            ),
            recovery::Spec::SelectiveRepeat(spec) if spec.reordering.0 == 0 => (
                "`selective_repeat` takes packets that others have overtaken for lost",
                "set its `reordering` to the time by which the delays of paths can differ, for example \
                 \"20us\"",
            ),
            recovery::Spec::SelectiveRepeat(_) => continue,
        };
        let message = format!("packets of a flow take different paths, and {what}");
        return findings.warn(&[table, "switch.path"], message, help);
    }
}
