//! Checks that the other mechanisms of a switch are compatible with input queues.

use floodway_model::Bytes;
use floodway_model::check::Findings;

use super::{CongestionAt, Spec};
use crate::switch::check::Facts;

impl Spec {
    /// Checks that it is compatible with the rest of the scenario, and that egress queues have room
    /// for a frame.
    pub fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let Some(lines) = self.lines() else { return };
        check_switch(facts, findings);
        let Some(frame) = facts.largest_frame else { return };
        if let Some(room) = lines.egress_queue.filter(|room| room.0 < u64::from(frame)) {
            findings.error(
                "egress_queue",
                format!("an egress queue of {room} has no room for one frame of {frame} bytes"),
                format!("nothing would ever cross: write at least {frame}B, or leave it out"),
            );
        }
        if lines.congestion_at == CongestionAt::Egress {
            out_of_reach(facts, lines.egress_queue(frame), findings);
        }
    }
}

/// Warns if congestion is measured only behind the crossbar, where thresholds are never reached.
fn out_of_reach(facts: &Facts<'_>, room: Bytes, findings: &mut Findings<'_>) {
    let all = facts.switch.flow_control.thresholds().into_iter();
    for (table, (field, threshold, _)) in all.filter(|(_, (_, threshold, _))| *threshold > room) {
        findings.warn(
            [&format!("/switch.flow_control.{table}.{field}"), "congestion_at"],
            format!(
                "`{field}` ({threshold}) is above what may wait behind the crossbar ({room}), where \
                 congestion is looked for"
            ),
            format!(
                "sources are hardly ever notified: write congestion_at = \"virtual_output\", lower \
                 `{field}`, or raise `{}`",
                findings.path("egress_queue")
            ),
        );
    }
}

/// Rejects mechanisms that are incompatible with input queues.
fn check_switch(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let switch = facts.switch;
    let mut clash = |place: &str, why: &str, instead: &str| {
        findings.error(
            [&format!("/{place}"), ""],
            why,
            format!("{instead}, or choose [switch.fabric.output_queued]"),
        );
    };
    if switch.flow_control.bfc.is_some() {
        clash(
            "switch.flow_control.bfc",
            "with a crossbar data waits at the inputs, where Backpressure Flow Control has no physical \
             queues",
            "remove [switch.flow_control.bfc]",
        );
    }
    if switch.flow_control.drc.is_some() {
        clash(
            "switch.flow_control.drc",
            "with a crossbar data waits at the inputs, where Directional Rate Control does not hold back \
             directions",
            "remove [switch.flow_control.drc]",
        );
    }
    if switch.aqm.decides_on_departure() {
        let name = switch.aqm.name();
        clash(
            &format!("switch.aqm.{name}"),
            &format!(
                "`{name}` judges by what leaves the egress queue, and with a crossbar most data waits \
                 before it"
            ),
            switch
                .aqm
                .on_arrival_instead()
                .unwrap_or("choose queue management that judges by the backlog, such as `step`"),
        );
    }
    if switch.scheduler.needs_times() {
        let name = switch.scheduler.name();
        clash(
            &format!("switch.scheduler.{name}"),
            &format!(
                "`{name}` compares how long heads of queues have waited, and with a crossbar those that \
                 have waited longest may be at the inputs"
            ),
            "choose another scheduler",
        );
    }
}
