//! Whether layer 2 has congestion to tell of, and anybody to tell.

use floodway_model::Duration;
use floodway_sim::switch::congestion_indication::Spec;

use super::Findings;
use super::host::no_congestion;
use crate::document::Document;

const TABLE: &str = "switch.congestion_indication";

/// Checks what needs no topology.
pub fn check(settings: &Document, spec: &Spec, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    if !spec.forward && !spec.backward {
        findings.error(
            &["switch.congestion_indication.forward", TABLE],
            "congestion is signalled neither forward nor backward: marks are off, and nothing takes \
             their place",
            "write forward = true or backward = true, or remove [switch.congestion_indication]",
        );
    }
    if let Some(place) = no_congestion(&switch.aqm) {
        findings.error(
            &[TABLE, place],
            format!(
                "layer 2 signals what queue management finds congested, and `{}` marks nothing",
                switch.aqm.name()
            ),
            if place.ends_with(".aqm") {
                "choose an AQM that marks, for example [switch.aqm.red]"
            } else {
                "let it mark, with `ecn`: then the indication takes the place of the mark"
            },
        );
    }
    if switch.flow_control.congestion_isolation.is_some() {
        findings.error(
            &[TABLE, "switch.flow_control.congestion_isolation"],
            "layer 2 congestion indication takes the place of marks, and Congestion Isolation marks \
             by itself",
            "remove one of the two, for example with \
             `switch.flow_control.congestion_isolation = false`",
        );
    }
    let gap = "switch.congestion_indication.gap";
    findings.latency(gap, spec.gap);
    if spec.backward && spec.gap == Duration::ZERO {
        findings.warn(
            &[gap],
            "without a gap every congested packet makes a frame to its source",
            "write about a round trip, for example \"50us\"",
        );
    }
}
