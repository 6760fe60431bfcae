//! Whether lossless means lossless.

use floodway_model::{Duration, Graph};
use floodway_sim::switch::flow_control::bfc;
use floodway_sim::switch::flow_control::pausing::pause_time;
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::flow_control::source_flow_control::Mode;

use super::pausing::Pausing;
use super::switch::there_are;
use super::{Findings, drc, isolation, qcn};
use crate::document::Document;

/// Checks every mechanism that is there.
pub fn check(settings: &Document, graph: &Graph, largest_frame: u16, findings: &mut Findings<'_>) {
    let flow_control = &settings.switch.flow_control;
    if let Some(spec) = &flow_control.pfc {
        check_pfc(settings, spec, findings);
        check_watchdog(settings, spec, graph, findings);
    }
    if flow_control.pause.is_some() {
        check_pause(settings, findings);
    }
    if let Some(spec) = Pausing::of(settings) {
        spec.check(settings, graph, largest_frame, findings);
    }
    if let Some(spec) = &flow_control.bfc {
        check_bfc(settings, spec, findings);
    }
    if let Some(spec) = &flow_control.drc {
        drc::check(settings, spec, graph, findings);
    }
    if let Some(spec) = &flow_control.qcn {
        qcn::check(settings, spec, graph, findings);
    }
    if let Some(spec) = &flow_control.congestion_isolation {
        isolation::check(settings, spec, graph, findings);
    }
}

/// Of PFC, what PAUSE does not have.
fn check_pfc(settings: &Document, spec: &pfc::Spec, findings: &mut Findings<'_>) {
    let count = settings.switch.queue.count;
    if let Some(index) = spec.queues.iter().position(|&number| number >= count) {
        findings.error(
            &[&format!("switch.flow_control.pfc.queues.{index}")],
            format!("queue {} is to be lossless, but {}", spec.queues[index], there_are(count)),
            "name queues that there are, or none to make all lossless",
        );
    }
    if let Some(part) = spec.xon_of_xoff.filter(|part| !(*part > 0.0 && *part < 1.0)) {
        findings.error(
            &["switch.flow_control.pfc.xon_of_xoff"],
            format!("XON is {part} times XOFF"),
            "write a number above 0 and below 1: 0.5 lets the neighbour go on at half of XOFF",
        );
    }
    let sfc = settings.switch.flow_control.source_flow_control.as_ref();
    if !spec.refresh && sfc.is_some_and(|sfc| sfc.mode == Mode::Proxy) {
        findings.error(
            &["switch.flow_control.pfc.refresh"],
            "pauses last until a frame ends them, but proxies of source flow control send pauses that \
             end by themselves",
            "remove `refresh`, or write mode = \"native\" in source flow control",
        );
    }
}

/// Whether the watchdog knows queues that it can empty, and has time to.
fn check_watchdog(
    settings: &Document,
    spec: &pfc::Spec,
    graph: &Graph,
    findings: &mut Findings<'_>,
) {
    const WATCHDOG: &str = "switch.flow_control.pfc.watchdog";
    let Some(watchdog) = &spec.watchdog else { return };
    let [detection, restoration] =
        ["detection", "restoration"].map(|field| format!("{WATCHDOG}.{field}"));
    for (path, time) in [(&detection, watchdog.detection), (&restoration, watchdog.restoration)] {
        findings.positive(path, time);
        findings.latency(path, time);
    }
    let flow_control = &settings.switch.flow_control;
    let parts = [
        (flow_control.bfc.is_some(), "physical queues of Backpressure Flow Control"),
        (flow_control.drc.is_some(), "directions of Directional Rate Control"),
        (flow_control.congestion_isolation.is_some(), "queues between which flows are isolated"),
    ];
    if let Some((_, parts)) = parts.iter().find(|(are_there, _)| *are_there) {
        findings.error(
            &[WATCHDOG],
            format!("the watchdog of PFC empties whole queues, and there are {parts}"),
            "use one of the two: remove [switch.flow_control.pfc.watchdog], or the other",
        );
    }
    if watchdog.detection >= settings.limit {
        findings.warn(
            &[&detection, WATCHDOG],
            format!(
                "a storm is detected after {}, and the run ends at {} at the latest",
                watchdog.detection, settings.limit
            ),
            "the watchdog will never act: lower `detection`, or raise `limit`",
        );
    }
    if !spec.refresh {
        findings.warn(
            &[&restoration, WATCHDOG],
            format!(
                "a storm is over when no pause has come for {}, and with `refresh = false` a pause is \
                 sent only once",
                watchdog.restoration
            ),
            "storms end while the neighbour still pauses: write refresh = true, or remove the watchdog",
        );
        return;
    }
    // A neighbour that goes on pausing says so again when half a pause has passed.
    let slowest = graph.links().map(|(_, _, end)| end.rate).min().unwrap_or_default();
    if slowest.0 == 0 {
        return;
    }
    let again = Duration(pause_time(spec.quanta, slowest).0 / 2);
    if watchdog.restoration <= again {
        findings.warn(
            &[&restoration, WATCHDOG],
            format!(
                "a storm is over when no pause has come for {}, and a pause of {} quanta is said \
                 again only every {again} at {slowest}",
                watchdog.restoration, spec.quanta
            ),
            "storms end while the neighbour still pauses: raise `restoration`, or lower \
             `switch.flow_control.pfc.quanta`",
        );
    }
}

/// Whether nothing else tells the neighbours of a switch with PAUSE when to stop.
fn check_pause(settings: &Document, findings: &mut Findings<'_>) {
    const PAUSE: &str = "switch.flow_control.pause";
    const MODE: &str = "switch.flow_control.source_flow_control.mode";
    let flow_control = &settings.switch.flow_control;
    if flow_control.pfc.is_some() {
        findings.error(
            &[PAUSE],
            "PAUSE and PFC are both on",
            "a port obeys one of the two: remove the other, for example with \
             `switch.flow_control.pfc = false`",
        );
    }
    let sfc = flow_control.source_flow_control.as_ref();
    if sfc.is_some_and(|sfc| sfc.mode == Mode::Proxy) {
        findings.error(
            &[MODE, "switch.flow_control.source_flow_control", PAUSE],
            "edge switches pause hosts by PFC, and PAUSE is on",
            "a port obeys one of the two: write mode = \"native\", or remove \
             [switch.flow_control.pause]",
        );
    }
}

/// The most entries of a flow table for each physical queue: every port has such a table.
const LARGEST_TABLE: u16 = 10_000;

fn check_bfc(settings: &Document, spec: &bfc::Spec, findings: &mut Findings<'_>) {
    const BFC: &str = "switch.flow_control.bfc";
    const TABLE: &str = "switch.flow_control.bfc.table";
    const TAU: &str = "switch.flow_control.bfc.tau";
    const HOP_RTT: &str = "switch.flow_control.bfc.hop_rtt";
    if spec.queues == 0 {
        findings.error(
            &["switch.flow_control.bfc.queues"],
            "there are no physical queues to put packets into",
            "write 1 to 255; the paper has 32",
        );
    }
    if !(1..=LARGEST_TABLE).contains(&spec.table) {
        findings.error(
            &[TABLE],
            format!("a flow table has {} entries for each physical queue", spec.table),
            format!("write 1 to {LARGEST_TABLE}; the paper has 100"),
        );
    }
    findings.positive(TAU, spec.tau);
    findings.latency(TAU, spec.tau);
    if let Some(hop_rtt) = spec.hop_rtt {
        findings.positive(HOP_RTT, hop_rtt);
        findings.latency(HOP_RTT, hop_rtt);
    }
    if settings.switch.flow_control.congestion_isolation.is_some() {
        findings.error(
            &[BFC],
            "Backpressure Flow Control and Congestion Isolation are both on",
            "each decides in which queue a flow waits: remove one of the two, for example with \
             `switch.flow_control.congestion_isolation = false`",
        );
    }
}
