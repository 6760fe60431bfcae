//! Whether the parameters of queue management make sense, and whether the queues suit it.

use floodway_model::{Bytes, Duration, Graph};
use floodway_sim::switch::aqm::{MeasuredOn, Spec, blue, codel, pie, red};

use super::switch::{DROPS_FIRST, above_queue};
use super::{Findings, number};
use crate::document::Document;

/// Checks the algorithms that have files of their own to be checked by.
pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    match &settings.switch.aqm {
        Spec::Bernoulli(spec) => {
            findings.probability("switch.aqm.bernoulli.probability", spec.probability);
        }
        Spec::Blue(spec) => check_blue(spec, findings),
        Spec::Red(spec) => check_red(spec, findings),
        Spec::Codel(spec) => check_codel(spec, findings),
        Spec::Pie(spec) => check_pie(spec, findings),
        // They have files of their own, or nothing in them can be wrong.
        Spec::DropTail(_) | Spec::Regular(_) | Spec::Ramp(_) | Spec::Step(_) => {}
        Spec::Coupled(_) | Spec::Pi2(_) => {}
        Spec::DualQ(_) | Spec::CurvyRed(_) | Spec::DualPi2(_) => {}
    }
}

fn check_blue(spec: &blue::Spec, findings: &mut Findings<'_>) {
    let steps = [("increment", spec.increment, "0.02"), ("decrement", spec.decrement, "0.002")];
    for (field, step, usual) in steps {
        if !(step > 0.0 && step <= 1.0) {
            findings.error(
                &[&format!("switch.aqm.blue.{field}")],
                format!("the {field} of the probability is {}", number(step)),
                format!("write a number above 0 and at most 1; usual is {usual}"),
            );
        }
    }
}

/// All fields of RED beside `command`.
const RED_FIELDS: [&str; 9] =
    ["limit", "min", "max", "avpkt", "burst", "bandwidth", "probability", "ecn", "harddrop"];

const RED: &str = "switch.aqm.red";

/// Whether a queue can become so deep on average as RED's upper threshold.
pub fn check_red_threshold(
    settings: &Document,
    spec: &red::Spec,
    graph: &Graph,
    findings: &mut Findings<'_>,
) {
    // An average over several queues may be larger than the largest of them.
    if spec.measured_on == MeasuredOn::Queue
        && let Ok(tc) = spec.tc()
    {
        let what = ("the upper threshold of the average", Bytes(tc.max.into()));
        above_queue(settings, graph, RED, "max", what, DROPS_FIRST, findings);
    }
}

fn check_red(spec: &red::Spec, findings: &mut Findings<'_>) {
    let command = format!("{RED}.command");
    if spec.command.is_some() {
        for field in RED_FIELDS {
            let path = format!("{RED}.{field}");
            if findings.document.written(&path).is_some() {
                findings.error(
                    &[&path],
                    format!("`{field}` is written beside the command, which says everything"),
                    format!("say it in `command`, or remove `{command}`"),
                );
            }
        }
    }
    match spec.tc() {
        Ok(_) => {}
        Err(wrong) if spec.command.is_some() => {
            let help = "write it as for Linux: \"tc qdisc add dev eth2 root red limit 1600000 min 120000 max 360000 avpkt 1000 burst 220 ecn bandwidth 40Mbit\"";
            findings.error(&[&command], format!("the command for RED is wrong: {wrong}"), help);
        }
        Err(wrong) => {
            // The first field that the sentence names is where it begins.
            let named = RED_FIELDS.iter().filter_map(|field| {
                Some((wrong.find(&format!("`{field}`"))?, format!("{RED}.{field}")))
            });
            let place = named.min().map_or(RED.to_owned(), |(_, path)| path);
            let help = "compare with the defaults: min 120000B, max 360000B, avpkt 1000B, burst 220, probability 0.02";
            findings.error(&[&place, RED], wrong, help);
        }
    }
}

fn check_codel(spec: &codel::Spec, findings: &mut Findings<'_>) {
    findings.positive("switch.aqm.codel.target", spec.target);
    findings.positive("switch.aqm.codel.interval", spec.interval);
    if let Some(threshold) = spec.ce_threshold {
        findings.positive("switch.aqm.codel.ce_threshold", threshold);
    }
    if spec.interval > Duration::ZERO && spec.target >= spec.interval {
        findings.error(
            &["switch.aqm.codel.target", "switch.aqm.codel.interval"],
            format!("the target ({}) is not below the interval ({})", spec.target, spec.interval),
            "RFC 8289 recommends a target of 5 % of the interval, which is about a round trip time",
        );
    }
}

fn check_pie(spec: &pie::Spec, findings: &mut Findings<'_>) {
    findings.positive("switch.aqm.pie.target", spec.target);
    findings.positive("switch.aqm.pie.tupdate", spec.tupdate);
    findings.probability("switch.aqm.pie.mark_ecnth", spec.mark_ecnth);
    for (field, value) in [("alpha", spec.alpha), ("beta", spec.beta)] {
        if !(value > 0.0 && value.is_finite()) {
            findings.error(
                &[&format!("switch.aqm.pie.{field}")],
                format!("the weight `{field}` is {}", super::number(value)),
                "write a number above 0; RFC 8033 has alpha = 0.125 and beta = 1.25",
            );
        }
    }
}

/// What to do where packets cannot be judged when they leave: of a ramp there are both forms.
pub fn arrivals_only(aqm: &Spec, otherwise: &str) -> String {
    match aqm {
        Spec::Ramp(_) => "write `switch.aqm.ramp.at = \"arrival\"`".to_owned(),
        _ => otherwise.to_owned(),
    }
}

/// Whether queues are such that packets can be judged or recorded when they leave.
pub fn check_times(settings: &Document, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    let flow_control = &switch.flow_control;
    let path = format!("switch.aqm.{}", switch.aqm.name());
    if switch.aqm.judges_departures() {
        let judges = format!("`{path}` judges packets that leave");
        if flow_control.bfc.is_some() {
            findings.error(
                &["switch.flow_control.bfc", &path],
                format!("{judges}, and those of Backpressure Flow Control leave by physical queue"),
                arrivals_only(
                    &switch.aqm,
                    "choose an AQM that judges arrivals only, for example [switch.aqm.step]",
                ),
            );
        }
    }
    if settings.departures && flow_control.bfc.is_some() {
        findings.error(
            &["departures", "switch.flow_control.bfc"],
            "departures are recorded by queue, and with Backpressure Flow Control packets leave by physical queue",
            "remove `departures` or [switch.flow_control.bfc]",
        );
    }
}
