//! Whether links with a framing or with loss are there, and go together with the rest of the scenario.

use std::collections::BTreeSet;

use floodway_model::Graph;
use floodway_model::check::Check;

use super::{Problems, failure};
use crate::document::Document;
use crate::failure::ports_of;

/// All lines, in the order of the scenario.
pub fn check(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let mut known = BTreeSet::new();
    for (number, entry) in settings.line.iter().enumerate() {
        let path = format!("line.{number}");
        entry.check(&mut findings.within(&path));
        failure::check_link(&path, (&entry.link, entry.number), graph, findings);
        if entry.counting().is_none() && !entry.loses() {
            findings.error(
                &[&path],
                "the line has neither a framing nor loss",
                "write its `kind`, like \"pppoe_ptm\", or `loss`, or leave it out",
            );
        }
        let ends = ports_of(&entry.link, entry.number, graph).into_iter().map(|(node, port)| {
            let end = &graph.node(node).ports[port.index()];
            (node, port).min((end.peer, end.peer_port))
        });
        let mut twice = false;
        for end in ends {
            twice |= !known.insert(end);
        }
        if twice {
            let [a, b] = &entry.link;
            findings.error(
                &[&format!("{path}.link"), &path],
                format!("the link of `{a}` and `{b}` is described twice"),
                "write everything about it in one [[line]]",
            );
        }
    }
    goes_together(settings, graph, findings);
}

/// What waits for a neighbor needs headroom, which is computed for frames of Ethernet that are not lost, and for one rate
/// in both directions.
fn goes_together(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let flow_control = &settings.switch.flow_control;
    let hop_by_hop = [
        (flow_control.pfc.is_some(), "pfc"),
        (flow_control.pause.is_some(), "pause"),
        (flow_control.bfc.is_some(), "bfc"),
        (flow_control.cbfc.is_some(), "cbfc"),
        (flow_control.drc.is_some(), "drc"),
    ];
    let Some((_, name)) = hop_by_hop.into_iter().find(|(is_on, _)| *is_on) else { return };
    let field = format!("switch.flow_control.{name}");
    if !settings.line.is_empty() {
        findings.error(
            &["line.0", &field],
            format!("`{field}` stops neighbours, and its buffers are computed for Ethernet that loses nothing"),
            format!("leave out [[line]], or switch `{field}` off"),
        );
    }
    if !graph.is_symmetric() {
        findings.error(
            &[&field, "topology"],
            format!(
                "`{field}` stops neighbours, and its buffers are computed for links with one rate, but a link has \
                 another rate back"
            ),
            format!("give links the same rate in both directions, or switch `{field}` off"),
        );
    }
}
