//! Cross-checks of path selection with the transports and the network.

use floodway_model::check::Findings;
use floodway_model::graph::NodeKind;
use floodway_model::{Graph, NodeId};

use super::{Spec, ecmp};
use crate::host::transport::rocev2::recovery;
use crate::switch::check::Facts;

impl Spec {
    /// Checks that neighbors can compute the path, if a mechanism requires it. `findings` are about
    /// the member.
    pub fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let is_known = matches!(self, Self::Ecmp(ecmp::Spec { weighted: false }));
        if facts.switch.flow_control.drc.is_some() && !is_known {
            findings.error(
                "",
                "with Directional Rate Control neighbors have to know by which port a switch will \
                 send a packet on",
                "choose [switch.path.ecmp], without weights, or remove [switch.flow_control.drc]",
            );
        }
        let sprays = facts.profiles.iter().any(|profile| profile.transport.entropies() > 1);
        if facts.switch.flow_control.drc.is_some() && sprays {
            findings.error(
                ["/switch.flow_control.drc", ""],
                "with Directional Rate Control neighbors have to know by which port a switch will send a \
                 packet on, and senders of `uet` choose another path for each packet by its entropy",
                "write `values = 1` in [host.transport.uet.entropy], or remove [switch.flow_control.drc]",
            );
        }
    }

    /// Checks that the network has several paths, and that transports tolerate packets that take
    /// different ones. `findings` are about the family.
    pub fn check_on(&self, facts: &Facts<'_>, graph: &Graph, findings: &mut Findings<'_>) {
        // A tree has only one path between two nodes.
        if graph.links().count() < graph.ids().count() {
            findings.idle("", "there is only one path between any two nodes");
            return;
        }
        if matches!(self, Self::Ecmp(ecmp::Spec { weighted: true })) && has_equal_links(graph) {
            let why = "the links of every switch to other switches have the same rate";
            findings.idle("ecmp.weighted", why);
        }
        let entropies = facts.profiles.iter().map(|profile| profile.transport.entropies()).max();
        if entropies.is_some_and(|values| values > 1) && !matches!(self, Self::Ecmp(_)) {
            findings.warn(
                [self.name(), ""],
                format!(
                    "`{}` does not look at the entropy by which senders of `uet` choose paths",
                    self.name()
                ),
                "choose [switch.path.ecmp], which hashes over it, if senders are to choose",
            );
        }
        let recoveries = facts.profiles.iter().filter_map(|profile| profile.transport.recovery());
        for recovery in recoveries.filter(|_| self.sprays()) {
            let (what, remedy) = match recovery {
                recovery::Spec::GoBackN(_) => (
                    "`go_back_n` drops packets that have overtaken others, and sends them again",
                    "choose `rocev2.recovery.selective_repeat` with a `reordering` as long as the delays of \
                     paths can differ, for example \"20us\"",
                ),
                recovery::Spec::SelectiveRepeat(spec) if spec.reordering.0 == 0 => (
                    "`selective_repeat` takes packets that others have overtaken for lost",
                    "set its `reordering` to the time by which the delays of paths can differ, for example \
                     \"20us\"",
                ),
                recovery::Spec::SelectiveRepeat(_) => continue,
            };
            let message = format!("packets of a flow take different paths, and {what}");
            return findings.warn([self.name(), ""], message, remedy);
        }
    }
}

/// Whether all links between switches have, at each switch, the same rate: next hops then have
/// equal weights.
fn has_equal_links(graph: &Graph) -> bool {
    let is_switch = |id: NodeId| graph.node(id).kind != NodeKind::Host;
    graph.switches().all(|switch| {
        let ports = graph.node(switch).ports.iter().filter(|port| is_switch(port.peer));
        let mut rates = ports.map(|port| port.rate);
        rates.next().is_none_or(|first| rates.all(|rate| rate == first))
    })
}
