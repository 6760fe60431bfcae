//! Whether a crossbar can move frames, and whether what is chosen beside it knows that data waits
//! before it.

use floodway_model::Bytes;
use floodway_sim::switch::fabric::{CongestionAt, Lines, Spec};

use super::Findings;
use super::aqm::arrivals_only;
use crate::document::Document;

/// A crossbar this much faster than its ports is output queueing in all but name, and its slots are
/// still longer than a picosecond.
const FASTEST: f64 = 64.0;

/// Cells up to the longest frames that there are.
const LARGEST_CELL: Bytes = Bytes(65_535);

/// Checks what needs no topology.
pub fn check(settings: &Document, largest_frame: Option<u16>, findings: &mut Findings<'_>) {
    let fabric = &settings.switch.fabric;
    let Some(lines) = fabric.lines() else { return };
    let table = format!("switch.fabric.{}", fabric.name());
    let path = |field: &str| format!("{table}.{field}");
    numbers(&lines, largest_frame, path, findings);
    if let Spec::Voq(spec) = fabric
        && spec.iterations == 0
    {
        findings.error(
            &[&path("iterations")],
            "iSLIP with 0 iterations matches nothing",
            "write at least 1; about log2 of the ports are enough",
        );
    }
    beside(settings, &table, findings);
    if let (CongestionAt::Egress, Some(frame)) = (lines.congestion_at, largest_frame) {
        out_of_reach(settings, &table, lines.egress_queue(frame), findings);
    }
}

/// Whether sources are ever told of congestion if it is looked for only behind the crossbar.
fn out_of_reach(settings: &Document, table: &str, room: Bytes, findings: &mut Findings<'_>) {
    let control = &settings.switch.flow_control;
    let q_eq = control.qcn.as_ref().map(|qcn| ("qcn.q_eq", "Q_eq", qcn.q_eq));
    let sfc = control.source_flow_control.as_ref();
    let trigger = sfc.map(|sfc| ("source_flow_control.trigger", "the trigger", sfc.trigger));
    for (field, what, threshold) in [q_eq, trigger].into_iter().flatten() {
        if threshold <= room {
            continue;
        }
        let field = format!("switch.flow_control.{field}");
        let name = field.rsplit('.').next().unwrap_or(&field);
        findings.warn(
            &[&field, &format!("{table}.congestion_at")],
            format!(
                "{what} ({threshold}) is above what may wait behind the crossbar ({room}), where \
                 congestion is looked for"
            ),
            format!(
                "sources are hardly ever notified: write congestion_at = \"virtual_output\", lower \
                 `{name}`, or raise `{table}.egress_queue`"
            ),
        );
    }
}

fn numbers(
    lines: &Lines,
    largest_frame: Option<u16>,
    path: impl Fn(&str) -> String,
    findings: &mut Findings<'_>,
) {
    if !(1.0..=FASTEST).contains(&lines.speedup) {
        findings.error(
            &[&path("speedup")],
            format!("the speedup is {}", lines.speedup),
            format!("write a number from 1 to {FASTEST}; 1 is a line as fast as the fastest port"),
        );
    }
    if lines.cell == Bytes(0) || lines.cell > LARGEST_CELL {
        findings.error(
            &[&path("cell")],
            format!("a cell has {}", lines.cell),
            format!("write what crosses in a slot, 1B to {LARGEST_CELL}; 64B is common"),
        );
    }
    if let Some(frame) = largest_frame
        && let Some(room) = lines.egress_queue.filter(|room| room.0 < u64::from(frame))
    {
        findings.error(
            &[&path("egress_queue")],
            format!("an egress queue of {room} has no room for one frame of {frame} bytes"),
            format!("nothing would ever cross: write at least {frame}B, or leave it out"),
        );
    }
}

/// What does not go with queues at the inputs.
fn beside(settings: &Document, table: &str, findings: &mut Findings<'_>) {
    const FABRIC: &str = "switch.fabric";
    let remedy = |instead: &str| format!("{instead}, or choose [switch.fabric.output_queued]");
    let switch = &settings.switch;
    if switch.flow_control.bfc.is_some() {
        findings.error(
            &["switch.flow_control.bfc", table, FABRIC],
            "with a crossbar data waits at the inputs, where Backpressure Flow Control has no \
             physical queues",
            remedy("remove [switch.flow_control.bfc]"),
        );
    }
    if switch.flow_control.drc.is_some() {
        findings.error(
            &["switch.flow_control.drc", table, FABRIC],
            "with a crossbar data waits at the inputs, where Directional Rate Control does not \
             hold back directions",
            remedy("remove [switch.flow_control.drc]"),
        );
    }
    if switch.aqm.judges_departures() {
        let name = switch.aqm.name();
        findings.error(
            &[&format!("switch.aqm.{name}"), "switch.aqm", table],
            format!(
                "`{name}` judges by what leaves the egress queue, and with a crossbar most data \
                 waits before it"
            ),
            remedy(&arrivals_only(
                &switch.aqm,
                "choose queue management that judges by the backlog, such as `step`",
            )),
        );
    }
    if switch.scheduler.needs_times() {
        let name = switch.scheduler.name();
        findings.error(
            &[&format!("switch.scheduler.{name}"), "switch.scheduler", table],
            format!(
                "`{name}` compares how long heads of queues have waited, and with a crossbar those \
                 that have waited longest may be at the inputs"
            ),
            remedy("choose another scheduler"),
        );
    }
}
