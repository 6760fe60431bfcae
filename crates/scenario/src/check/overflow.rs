//! Whether packets that find no room can be trimmed, and whether anybody understands what is left of them.

use floodway_model::packet::length;
use floodway_model::{Bytes, Graph};
use floodway_sim::switch::fabric;
use floodway_sim::switch::overflow::{Spec, trim};

use super::Findings;
use super::switch::above_queue;
use crate::document::Document;

const OVERFLOW: &str = "switch.overflow";
const TRIM: &str = "switch.overflow.trim";
const SIZE: &str = "switch.overflow.trim.size";
const THRESHOLD: &str = "switch.overflow.trim.threshold";
const LAST: &str = "switch.overflow.trim.last";

/// Checks what needs no topology.
pub fn check(settings: &Document, largest_frame: Option<u16>, findings: &mut Findings<'_>) {
    match &settings.switch.overflow {
        Spec::Drop(_) => {}
        Spec::Trim(spec) => {
            numbers(settings, spec, largest_frame, findings);
            beside(settings, spec, findings);
            understood(settings, findings);
        }
    }
}

/// Whether a queue can become as deep as the threshold.
pub fn check_threshold(settings: &Document, graph: &Graph, findings: &mut Findings<'_>) {
    if let Spec::Trim(trim::Spec { threshold: Some(threshold), .. }) = &settings.switch.overflow {
        let what = ("the threshold", *threshold);
        const FULL_FIRST: &str = "packets are trimmed when the queue is full, before they reach it";
        above_queue(settings, graph, TRIM, "threshold", what, FULL_FIRST, findings);
    }
}

fn numbers(
    settings: &Document,
    spec: &trim::Spec,
    largest_frame: Option<u16>,
    findings: &mut Findings<'_>,
) {
    let shortest = Bytes(length::SHORTEST_FRAME.into());
    if spec.size < shortest {
        findings.error(
            &[SIZE],
            format!("a trimmed packet of {} is shorter than an Ethernet frame", spec.size),
            format!("write at least {shortest}"),
        );
    }
    findings.probability(LAST, spec.last);
    let control = settings.switch.queue.control_size;
    if settings.switch.feedback.trimmed.is_none() && control < spec.size {
        findings.error(
            &["switch.queue.control_size", SIZE, TRIM],
            format!("a control queue of {control} cannot hold one trimmed packet of {}", spec.size),
            "raise `switch.queue.control_size`, for example to \"1MB\"",
        );
    }
    let Some(frame) = largest_frame.map(u64::from) else { return };
    if spec.size.0 >= frame {
        findings.error(
            &[SIZE],
            format!("no packet is longer than {}: the longest frame has {frame} bytes", spec.size),
            format!("write less than {frame}B, for example \"64B\""),
        );
    }
    if let Some(threshold) = spec.threshold.filter(|threshold| threshold.0 < frame) {
        findings.error(
            &[THRESHOLD],
            format!("a threshold of {threshold} trims every packet of {frame} bytes"),
            format!("write at least {frame}B, or remove `threshold`"),
        );
    }
}

/// What does not go with trimming.
fn beside(settings: &Document, spec: &trim::Spec, findings: &mut Findings<'_>) {
    const INDICATION: &str = "switch.congestion_indication";
    let switch = &settings.switch;
    if switch.congestion_indication.is_some() {
        findings.error(
            &[TRIM, OVERFLOW, INDICATION],
            "with layer 2 congestion indication switches do not look into IP headers, which trimming \
             leaves and changes",
            format!("remove [{INDICATION}], or choose [{OVERFLOW}.drop]"),
        );
    }
    let data = u8::MAX >> (8 - switch.queue.count.clamp(1, 8));
    if switch.flow_control.must_not_lose() & data == data {
        findings.error(
            &[TRIM, OVERFLOW],
            "flow control keeps all classes of data lossless, and packets of such a class are not trimmed",
            format!(
                "pause fewer classes, write `lossless = false` in its table, or choose [{OVERFLOW}.drop]"
            ),
        );
    }
    if spec.last == 0.0 {
        return;
    }
    let (bfc, drc) = (&switch.flow_control.bfc, &switch.flow_control.drc);
    for (is_on, place, what) in [
        (bfc.is_some(), "switch.flow_control.bfc", "Backpressure Flow Control"),
        (drc.is_some(), "switch.flow_control.drc", "Directional Rate Control"),
        (!matches!(switch.fabric, fabric::Spec::OutputQueued(_)), "switch.fabric", "a crossbar"),
        (!switch.queue.discipline.is_fifo(), "switch.queue.discipline", "a queue discipline"),
    ] {
        if is_on {
            findings.error(
                &[LAST, TRIM, place],
                format!("with {what} a queue is not first in, first out, and has no last packet"),
                format!(
                    "remove `last`, so that the packet that came is trimmed, or remove [{place}]"
                ),
            );
        }
    }
}

/// Whether any transport understands trimmed packets.
fn understood(settings: &Document, findings: &mut Findings<'_>) {
    let profiles = settings.profiles();
    if profiles.is_empty() || profiles.iter().any(|one| one.transport.understands_trimming()) {
        return;
    }
    findings.error(
        &[TRIM, OVERFLOW],
        "no workload uses a transport that understands trimmed packets, so all are dropped",
        format!(
            "choose [host.transport.rocev2.recovery.selective_repeat], or [{OVERFLOW}.drop] if dropping \
             is meant"
        ),
    );
}
