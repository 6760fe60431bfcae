//! Cross-checks of queue disciplines with mechanisms that depend on the order of packets.

use floodway_model::Graph;
use floodway_model::check::Findings;

use super::Spec;
use crate::switch::aqm;
use crate::switch::buffer::Holder;
use crate::switch::check::Facts;

impl Spec {
    /// Checks that the discipline fits the network. `findings` are about the family.
    pub fn check_on(&self, graph: &Graph, findings: &mut Findings<'_>) {
        if let Self::Cake(spec) = self {
            spec.check_on(graph, &mut findings.within("cake"));
        }
    }

    /// Reports mechanisms that are incompatible with queues that are not FIFO. `findings` are about
    /// the family.
    pub fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        if self.is_fifo() {
            return;
        }
        let (switch, name) = (facts.switch, self.name());
        if self.needs_sizes() && !facts.has_sizes {
            findings.warn(
                [name, ""],
                format!(
                    "`{name}` ranks packets by what is left of their flow, and no flow has a size"
                ),
                "all packets have the same rank: add a workload with sizes, or choose \
                 [switch.queue.discipline.fifo]",
            );
        }
        if let Self::Cake(cake) = self
            && cake.shapes()
            && switch.queue.count > 1
        {
            findings.error(
                [name, "", "/switch.queue.count"],
                format!(
                    "every data queue of a port would have a shaper of its own, and {} of them send as \
                     many times its rate",
                    switch.queue.count
                ),
                "write switch.queue.count = 1: CAKE has tins of its own for DiffServ classes",
            );
        }
        if let Self::Cake(cake) = self
            && let Some(memlimit) = cake.memlimit
            && switch.buffer.limit(&switch.queue).of == Holder::Queue
            && memlimit > switch.queue.size
        {
            let size = switch.queue.size;
            let why = format!("the queue has room for {size} (`switch.queue.size`), which is less");
            findings.idle(&format!("{name}.memlimit"), &why);
        }
        let mut clash = |path: &str, why: String, remedy: &str| {
            let or = if remedy.starts_with("choose [") { " or" } else { ", or choose" };
            let remedy = format!("{remedy}{or} [switch.queue.discipline.fifo]");
            findings.error([name, "", &format!("/{path}")], why, remedy);
        };
        let flow_control = &switch.flow_control;
        for (is_on, path, what) in [
            (flow_control.bfc.is_some(), "switch.flow_control.bfc", "Backpressure Flow Control"),
            (flow_control.drc.is_some(), "switch.flow_control.drc", "Directional Rate Control"),
        ] {
            if is_on {
                let why =
                    format!("`{name}` and {what} both decide on the order of the same packets");
                clash(path, why, &format!("remove [{path}]"));
            }
        }
        if flow_control.congestion_isolation.is_some() {
            clash(
                "switch.flow_control.congestion_isolation",
                format!(
                    "Congestion Isolation keeps a flow in order by counting what leaves the monitored \
                     queue, where packets overtake others with `{name}`"
                ),
                "remove [switch.flow_control.congestion_isolation]",
            );
        }
        if switch.fabric.lines().is_some() {
            clash(
                &format!("switch.fabric.{}", switch.fabric.name()),
                format!(
                    "with a crossbar data waits at the inputs, where `{name}` does not order it"
                ),
                "choose [switch.fabric.output_queued]",
            );
        }
        let aqm = switch.aqm.name();
        let aqm_path = format!("switch.aqm.{aqm}");
        if self.has_aqm() && !matches!(switch.aqm, aqm::Spec::DropTail(_)) {
            clash(
                &aqm_path,
                format!("`{name}` has an AQM of its own, and `{aqm}` decides on the same packets"),
                "choose [switch.aqm.drop_tail]",
            );
        } else if switch.aqm.needs_times() {
            clash(
                &aqm_path,
                format!(
                    "`{aqm}` takes how long the packet at the head has waited for the delay of the whole \
                     queue, and with `{name}` that is the delay of one flow"
                ),
                "choose an AQM that goes by the backlog, or [switch.queue.discipline.fq_codel] without one",
            );
        }
    }
}
