//! Whether a queue discipline fits to what else looks at the order of packets.

use floodway_model::Bytes;
use floodway_sim::switch::discipline::{Spec, fq};
use floodway_sim::switch::fabric;

use super::Findings;
use crate::document::Document;
use crate::workload;

const DISCIPLINE: &str = "switch.queue.discipline";
const QUANTUM: &str = "switch.queue.discipline.fq.quantum";
const QUEUES: &str = "switch.queue.discipline.fq.queues";

/// A turn is counted in whole frames; more than this is no turn.
const LARGEST_QUANTUM: Bytes = Bytes(1_000_000_000);

pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    let discipline = &settings.switch.queue.discipline;
    match discipline {
        Spec::Fifo(_) => return,
        Spec::Fq(spec) => check_fq(spec, findings),
        Spec::Srpt(_) => check_srpt(settings, findings),
    }
    beside(settings, discipline.name(), findings);
}

fn check_fq(spec: &fq::Spec, findings: &mut Findings<'_>) {
    if spec.quantum == Bytes(0) || spec.quantum > LARGEST_QUANTUM {
        findings.error(
            &[QUANTUM],
            format!("a flow sends {} in a round", spec.quantum),
            format!("write 1B to {LARGEST_QUANTUM}; a full frame, 1514B, is usual"),
        );
    }
    if spec.queues == Some(0) {
        findings.error(
            &[QUEUES],
            "there is no queue to put flows into",
            "write at least 1, or leave it out, so that every flow has a queue of its own",
        );
    }
}

fn check_srpt(settings: &Document, findings: &mut Findings<'_>) {
    let endless = |entry: &workload::Entry| matches!(entry.traffic, workload::Spec::LongFlows(_));
    let mut entries = settings.workload.iter();
    if !settings.workload.is_empty() && entries.all(endless) {
        findings.warn(
            &["switch.queue.discipline.srpt", DISCIPLINE],
            "`srpt` ranks packets by what is left of their flow, and no flow has a size",
            "all packets have the same rank: add a workload with sizes, or choose [switch.queue.discipline.fifo]",
        );
    }
}

/// What does not go with queues that are not first in, first out.
fn beside(settings: &Document, name: &str, findings: &mut Findings<'_>) {
    let table = format!("{DISCIPLINE}.{name}");
    let switch = &settings.switch;
    let mut clash = |path: &str, why: String, remedy: &str| {
        let fifo = format!("[{DISCIPLINE}.fifo]");
        let remedy = match remedy.starts_with("choose [") {
            true => format!("{remedy} or {fifo}"),
            false => format!("{remedy}, or choose {fifo}"),
        };
        findings.error(&[&table, DISCIPLINE, path], why, remedy);
    };
    let flow_control = &switch.flow_control;
    for (is_on, path, what) in [
        (flow_control.bfc.is_some(), "switch.flow_control.bfc", "Backpressure Flow Control"),
        (flow_control.drc.is_some(), "switch.flow_control.drc", "Directional Rate Control"),
    ] {
        if is_on {
            clash(
                path,
                format!("`{name}` and {what} both decide on the order of the same packets"),
                &format!("remove [{path}]"),
            );
        }
    }
    if flow_control.congestion_isolation.is_some() {
        const ISOLATION: &str = "switch.flow_control.congestion_isolation";
        clash(
            ISOLATION,
            format!(
                "Congestion Isolation keeps a flow in order by counting what leaves the monitored \
                 queue, where packets overtake others with `{name}`"
            ),
            &format!("remove [{ISOLATION}]"),
        );
    }
    if !matches!(switch.fabric, fabric::Spec::OutputQueued(_)) {
        let fabric = format!("switch.fabric.{}", switch.fabric.name());
        clash(
            &fabric,
            format!("with a crossbar data waits at the inputs, where `{name}` does not order it"),
            "choose [switch.fabric.output_queued]",
        );
    }
    if switch.aqm.needs_times() {
        let aqm = format!("switch.aqm.{}", switch.aqm.name());
        clash(
            &aqm,
            format!(
                "`{}` looks at how long packets have waited, which `{name}` does not keep",
                switch.aqm.name()
            ),
            "choose an AQM that goes by the backlog",
        );
    }
    if switch.scheduler.needs_times() {
        let scheduler = format!("switch.scheduler.{}", switch.scheduler.name());
        clash(
            &scheduler,
            format!(
                "`{}` compares how long packets have waited, which `{name}` does not keep",
                switch.scheduler.name()
            ),
            "use another scheduler",
        );
    }
    if settings.departures {
        clash(
            "departures",
            format!(
                "departures are recorded with how long packets have waited, which `{name}` does not keep"
            ),
            "remove `departures`",
        );
    }
}
