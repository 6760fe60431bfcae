//! Whether links with a framing, with loss or with a pace are there, and go together with the rest of the scenario.

use std::collections::BTreeSet;

use floodway_model::check::Check;
use floodway_model::{Graph, Rate};
use floodway_sim::pace::By;

use super::{Problems, failure};
use crate::document::Document;
use crate::failure::ports_of;
use crate::line::AccessLine;

/// All lines, in the order of the scenario.
pub fn check(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let mut known = BTreeSet::new();
    for (number, entry) in settings.line.iter().enumerate() {
        let path = format!("line.{number}");
        entry.check(&mut findings.within(&path));
        failure::check_link(&path, (&entry.link, entry.number), graph, findings);
        if entry.counting().is_none() && !entry.loses() && !entry.holds() {
            findings.error(
                &[&path],
                "the line has no framing, no loss, no trace, no shaper and no grants",
                "write its `kind`, like \"pppoe_ptm\", or `loss`, `trace`, `shaper` or `grants`, or leave it out",
            );
        }
        check_paces(&path, entry, graph, findings);
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

/// Whether traces, shapers and grants hold back anything, and whether there is only one of them in each direction.
fn check_paces(path: &str, entry: &AccessLine, graph: &Graph, findings: &mut Problems<'_>) {
    let files =
        entry.files().into_iter().filter(|(_, file)| file.is_some()).map(|(field, _)| field);
    let shapers = entry.shapers().map(|(field, _)| field);
    let grants = entry.grants().map(|(field, _)| field);
    let fields: Vec<&str> = files.chain(shapers).chain(grants).collect();
    for back in [false, true] {
        let mut of = fields.iter().filter(|field| field.ends_with("_back") == back);
        if let (Some(one), Some(other)) = (of.next(), of.next()) {
            findings.error(
                &[&format!("{path}.{other}"), &format!("{path}.{one}")],
                format!("`{one}` and `{other}` hold back the same port"),
                match other.starts_with("shaper") {
                    true => "leave out one of them, or shape at a node before it",
                    false => "leave out one of them, or write it at a node before it",
                },
            );
        }
    }
    let mut said = BTreeSet::new();
    for (field, pace) in entry.paces(graph) {
        let link = graph.node(pace.node).ports[pace.port.index()].rate;
        match &pace.by {
            By::Shaper { rate, .. } if *rate > link && said.insert(field) => findings.error(
                &[&format!("{path}.{field}.rate"), &format!("{path}.{field}")],
                format!("the rate of the shaper ({rate}) is above that of its link ({link})"),
                "lower it, or remove the shaper: the link is the limit anyway",
            ),
            By::Grants(grants) if grants.interval == grants.proactive && said.insert(field) => findings.warn(
                &[&format!("{path}.{field}.proactive"), &format!("{path}.{field}")],
                format!("all of the link ({link}) is granted without a request"),
                "lower `proactive` below the rate of the link, or remove the grants: nothing ever waits for one",
            ),
            By::Trace(trace) if trace.mean_rate() > link.0 as f64 && said.insert(field) => {
                let mean = Rate(trace.mean_rate() as u64);
                findings.warn(
                    &[&format!("{path}.{field}")],
                    format!(
                        "the trace carries more on average ({mean}) than its link ({link}), which is the limit then"
                    ),
                    "raise the rate of the link to the highest that the trace should reach",
                );
            }
            _ => {}
        }
    }
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
            format!("`{field}` stops neighbors, and its buffers are computed for Ethernet that loses nothing"),
            format!("leave out [[line]], or switch `{field}` off"),
        );
    }
    if !graph.is_symmetric() {
        findings.error(
            &[&field, "topology"],
            format!(
                "`{field}` stops neighbors, and its buffers are computed for links with one rate, but a link has \
                 another rate back"
            ),
            format!("give links the same rate in both directions, or switch `{field}` off"),
        );
    }
}
