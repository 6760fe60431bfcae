//! Whether a switch's queues, scheduler and AQM fit together.

use floodway_model::id::CLASSES;
use floodway_model::packet::length;
use floodway_model::{Bytes, Graph};
use floodway_sim::switch::aqm::{Spec as AqmSpec, ramp};
use floodway_sim::switch::buffer;
use floodway_sim::switch::classify::{self, mice_elephants};
use floodway_sim::switch::scheduler;

use super::pools::{Largest, largest_queues, places};
use super::{
    Findings, aqm, congestion_indication, coupled, discipline, overflow, source_flow_control,
};
use crate::document::Document;

/// One class is left for feedback and notifications.
pub const MOST_QUEUES: u8 = CLASSES as u8 - 1;

/// A queue's turn is counted in 32 bits.
const LARGEST_TURN: u64 = 1_000_000_000;

/// Checks what needs no topology.
pub fn check(settings: &Document, largest_frame: Option<u16>, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    findings.latency("switch.latency", switch.latency);
    if let Some(pfc) = &switch.flow_control.pfc {
        findings.latency("switch.flow_control.pfc.response", pfc.response.unwrap_or_default());
    }
    if let Some(pause) = &switch.flow_control.pause {
        findings.latency("switch.flow_control.pause.response", pause.response);
    }
    if let Some(spec) = &switch.flow_control.source_flow_control {
        source_flow_control::check(settings, spec, findings);
    }
    if let Some(spec) = &switch.congestion_indication {
        congestion_indication::check(settings, spec, findings);
    }
    queues(settings, largest_frame, findings);
    let count = switch.queue.count;
    if (1..=MOST_QUEUES).contains(&count) {
        check_classify(&switch.classify, count, findings);
        coupled::check(settings, findings);
    }
    check_aqm(settings, findings);
    aqm::check_times(settings, findings);
    discipline::check(settings, findings);
    overflow::check(settings, largest_frame, findings);
    check_scheduler(&switch.scheduler, count, findings);
}

fn check_aqm(settings: &Document, findings: &mut Findings<'_>) {
    match &settings.switch.aqm {
        AqmSpec::DropTail(_)
        | AqmSpec::Coupled(_)
        | AqmSpec::Pi2(_)
        | AqmSpec::DualQ(_)
        | AqmSpec::CurvyRed(_)
        | AqmSpec::DualPi2(_) => {}
        AqmSpec::Ramp(spec) => {
            check_ramp("switch.aqm.ramp", spec, findings);
        }
        AqmSpec::Step(_) => {}
        _ => aqm::check(settings, findings),
    }
}

/// Whether queues can become as deep as the thresholds of what observes them.
pub fn check_thresholds(settings: &Document, graph: &Graph, findings: &mut Findings<'_>) {
    const RAMP: &str = "switch.aqm.ramp";
    const STEP: &str = "switch.aqm.step";
    const BLUE: &str = "switch.aqm.blue";
    match &settings.switch.aqm {
        AqmSpec::Ramp(spec) => {
            let what = ("the high threshold", spec.high);
            above_queue(settings, graph, RAMP, "high", what, DROPS_FIRST, findings);
        }
        AqmSpec::Step(spec) => {
            let what = ("the threshold", spec.threshold);
            above_queue(settings, graph, STEP, "threshold", what, DROPS_FIRST, findings);
        }
        AqmSpec::Blue(spec) => {
            if let Some(above) = spec.above {
                let what = ("the threshold", above);
                above_queue(settings, graph, BLUE, "above", what, DROPS_FIRST, findings);
            }
        }
        AqmSpec::Red(spec) => aqm::check_red_threshold(settings, spec, graph, findings),
        _ => {}
    }
    overflow::check_threshold(settings, graph, findings);
    if let Some(spec) = &settings.switch.flow_control.source_flow_control {
        source_flow_control::check_trigger(settings, spec, graph, findings);
    }
}

/// Why a threshold is never reached.
pub const DROPS_FIRST: &str = "the full queue drops first";

/// Whether a queue can become as deep as a threshold, that is the field of a table; and if not,
/// what follows. Of switches with different pools, it is the one with the least that counts.
pub fn above_queue(
    settings: &Document,
    graph: &Graph,
    path: &str,
    field: &str,
    (what, threshold): (&str, Bytes),
    follows: &str,
    findings: &mut Findings<'_>,
) {
    let all = largest_queues(settings, graph).into_iter();
    let least = all.min_by_key(|largest| largest.bytes);
    let Some(Largest { bytes: largest, of, own, .. }) = least.filter(|at| threshold > at.bytes)
    else {
        return;
    };
    let (size, remedy) = match settings.switch.buffer {
        buffer::Spec::PerQueue(_) => ("the queue's size", "raise `switch.queue.size`"),
        buffer::Spec::PerPort(_) => ("the port's buffer", "raise `switch.buffer.per_port.size`"),
        buffer::Spec::Shared(_) => ("what the egress pool gives a queue", "raise the pool"),
    };
    findings.warn(
        &places(&own, &[&format!("{path}.{field}"), path]),
        format!("{what} ({threshold}) is above {size}{of} ({largest})"),
        format!("{follows}: lower `{field}` or {remedy}"),
    );
}

fn check_classify(classify: &classify::Spec, count: u8, findings: &mut Findings<'_>) {
    let mut exists = |field: &str, what: &str, queue: u8| {
        if queue >= count {
            findings.error(
                &[&format!("switch.classify.{}.{field}", classify.name())],
                format!("{what} goes to queue {queue}, but {}", there_are(count)),
                format!("name a queue from 0 to {}, or raise `switch.queue.count`", count - 1),
            );
        }
    };
    match classify {
        classify::Spec::Single(spec) => exists("queue", "data", spec.queue),
        classify::Spec::DestinationHash(_) | classify::Spec::Ecn(_) => {}
        classify::Spec::MiceElephants(spec) => {
            exists("mice", "the data of mice", spec.mice);
            if let Some(queue) = spec.elephants {
                exists("elephants", "the data of elephants", queue);
            }
            check_mice(spec, count, findings);
        }
    }
}

fn check_mice(spec: &mice_elephants::Spec, count: u8, findings: &mut Findings<'_>) {
    const MICE: &str = "switch.classify.mice_elephants.mice";
    const ELEPHANTS: &str = "switch.classify.mice_elephants.elephants";
    if spec.below == Bytes(0) {
        findings.error(
            &["switch.classify.mice_elephants.below"],
            "no flow has fewer than 0 bytes, so there are no mice",
            "write the size below which a flow is a mouse, for example \"100KB\"",
        );
    }
    if spec.elephants == Some(spec.mice) {
        findings.error(
            &[ELEPHANTS, MICE],
            format!("queue {} is that of the mice and that of the elephants", spec.mice),
            "name two different queues, or choose [switch.classify.single]",
        );
    }
    if spec.elephants.is_none() && count == 1 {
        findings.error(
            &["switch.queue.count", "switch.classify.mice_elephants"],
            "there is one data queue, that of the mice, and none for the elephants",
            "raise `switch.queue.count` to at least 2",
        );
    }
}

/// The thresholds and the probability of a ramp.
pub fn check_ramp(path: &str, spec: &ramp::Spec, findings: &mut Findings<'_>) {
    if spec.low >= spec.high {
        findings.error(
            &[&format!("{path}.low"), &format!("{path}.high"), path],
            format!("the low threshold ({}) is not below the high one ({})", spec.low, spec.high),
            format!("set `{path}.low` below `{path}.high`"),
        );
    }
    findings.probability(&format!("{path}.max_probability"), spec.max_probability);
    for (number, of) in spec.by_rate.iter().enumerate() {
        let field = |name: &str| format!("{path}.by_rate.{number}.{name}");
        // A single threshold is a ramp without width.
        if of.low > of.high {
            findings.error(
                &[&field("low"), &field("high")],
                format!(
                    "at {} the low threshold ({}) is above the high one ({})",
                    of.rate, of.low, of.high
                ),
                format!("set `{}` to at most `{}`", field("low"), field("high")),
            );
        }
        findings.probability(&field("max_probability"), of.max_probability);
        if spec.by_rate[..number].iter().any(|earlier| earlier.rate == of.rate) {
            findings.error(
                &[&field("rate")],
                format!("ports of {} have two curves", of.rate),
                "write every rate once",
            );
        }
    }
}

/// How many data queues there are, in words.
pub fn there_are(count: u8) -> String {
    match count {
        0 => "there is no data queue".to_owned(),
        1 => "there is one data queue (0)".to_owned(),
        _ => format!("there are {count} data queues (0 to {})", count - 1),
    }
}

fn queues(settings: &Document, largest_frame: Option<u16>, findings: &mut Findings<'_>) {
    let queue = &settings.switch.queue;
    if !(1..=MOST_QUEUES).contains(&queue.count) {
        findings.error(
            &["switch.queue.count"],
            format!("`switch.queue.count` is {}", queue.count),
            format!("write 1 to {MOST_QUEUES}: a link has {CLASSES} classes, one is for control"),
        );
    }
    let limits = matches!(settings.switch.buffer, buffer::Spec::PerQueue(_));
    if let Some(frame) = largest_frame.filter(|&frame| limits && queue.size.0 < u64::from(frame)) {
        findings.error(
            &["switch.queue.size"],
            format!("a queue of {} cannot hold one frame of {frame} bytes", queue.size),
            "raise `switch.queue.size`, for example to \"1MB\"",
        );
    }
    let qcn = settings.switch.flow_control.qcn.as_ref();
    let largest = qcn.map_or(0, |qcn| qcn.message_bytes(u16::MAX)).max(length::CIM);
    if queue.control_size.0 < u64::from(largest) {
        findings.error(
            &["switch.queue.control_size"],
            format!(
                "a control queue of {} cannot hold one message of {} bytes",
                queue.control_size, largest
            ),
            "raise `switch.queue.control_size`, for example to \"1MB\"",
        );
    }
}

fn check_scheduler(scheduler: &scheduler::Spec, count: u8, findings: &mut Findings<'_>) {
    const WEIGHTS: &str = "switch.scheduler.drr.weights";
    const QUANTUM: &str = "switch.scheduler.drr.quantum";
    let scheduler::Spec::Drr(spec) = scheduler else { return };
    if spec.quantum.0 == 0 {
        let help = "write the bytes of one round, for example \"1500B\"";
        findings.error(&[QUANTUM], format!("`{QUANTUM}` is zero"), help);
    }
    if spec.weights.len() > usize::from(count) {
        let message = format!("there are {} weights, but {}", spec.weights.len(), there_are(count));
        findings.error(&[WEIGHTS], message, "write one weight for each queue, or fewer");
    }
    if let Some(queue) = spec.weights.iter().position(|&weight| weight == 0) {
        findings.error(
            &[&format!("{WEIGHTS}.{queue}")],
            format!("the weight of queue {queue} is 0, so it would never send"),
            "write at least 1",
        );
    }
    if spec.strict > count {
        findings.error(
            &["switch.scheduler.drr.strict"],
            format!("{} queues have strict priority, but {}", spec.strict, there_are(count)),
            format!("write at most {count}, for strict priority among all"),
        );
    }
    let heaviest = spec.weights.iter().copied().max().unwrap_or(1);
    let turn = u128::from(spec.quantum.0) * u128::from(heaviest);
    if turn > u128::from(LARGEST_TURN) {
        findings.error(
            &[QUANTUM, WEIGHTS],
            format!("a quantum of {} times the weight {heaviest} is too long", spec.quantum),
            "keep quantum times weight below 1 GB; a frame's length is enough",
        );
    }
}
