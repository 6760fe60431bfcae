//! Whether classifier, scheduler and AQM make a dual queue together, and the parameters of AQMs that
//! couple classic and scalable traffic.

use floodway_model::{Bytes, Duration};
use floodway_sim::switch::aqm::dualpi2::{self, low_latency};
use floodway_sim::switch::aqm::{self, coupled, curvy_red, dualq};
use floodway_sim::switch::classify::ecn::Scalable;
use floodway_sim::switch::{classify, scheduler};

use super::Findings;
use super::switch::there_are;
use crate::document::Document;

/// Checks what needs no topology.
pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    classifier(settings, findings);
    two_queue_scheduler(settings, findings);
    if settings.switch.aqm.is_for_two_queues() {
        dual_queue(settings, findings);
    }
    let table = format!("switch.aqm.{}", settings.switch.aqm.name());
    let path = |field: &str| format!("{table}.{field}");
    match &settings.switch.aqm {
        aqm::Spec::Coupled(spec) => check_coupled(spec, path, findings),
        aqm::Spec::DualQ(spec) => check_dualq(spec, path, findings),
        aqm::Spec::CurvyRed(spec) => check_curvy_red(spec, path, findings),
        aqm::Spec::Pi2(spec) => {
            controller(path, (spec.alpha, spec.beta), spec.update_interval, findings);
            coupling(path, spec.coupling, 1.0, findings);
        }
        aqm::Spec::DualPi2(spec) => check_dualpi2(spec, path, findings),
        _ => {}
    }
}

/// Below this, updates between two packets only cost time.
const SHORTEST_UPDATE: Duration = Duration::from_us(1);

/// The most bits by which a 32-bit number can be shifted.
const MOST_BITS: u8 = 31;

fn classifier(settings: &Document, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    let classify::Spec::Ecn(spec) = &switch.classify else { return };
    if switch.queue.count == 1 {
        findings.error(
            &["switch.classify.ecn", "switch.classify", "switch.queue.count"],
            "the ECN field distinguishes two kinds of packets, but there is one data queue (0)",
            "write `switch.queue.count` = 2: queue 0 is for low latency, queue 1 for classic packets",
        );
    }
    if spec.low_latency == Scalable::Ect1 && switch.flow_control.pfc.is_some() {
        findings.error(
            &["switch.flow_control.pfc", "switch.classify.ecn"],
            "a mark moves a classic packet to queue 0 of the next switch, so a pause of class 1 \
             would not stop what fills that queue",
            "remove [switch.flow_control.pfc], or write low_latency = \"ecn_capable\" in \
             [switch.classify.ecn]",
        );
    }
}

fn two_queue_scheduler(settings: &Document, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    let table = format!("switch.scheduler.{}", switch.scheduler.name());
    let count = switch.queue.count;
    match &switch.scheduler {
        scheduler::Spec::Strict(_) | scheduler::Spec::Drr(_) => return,
        scheduler::Spec::Wrr(spec) => {
            if !(1..=99).contains(&spec.classic_weight) {
                findings.error(
                    &[&format!("{table}.classic_weight")],
                    format!("the classic queue's weight is {} per cent", spec.classic_weight),
                    "write 1 to 99; with [switch.scheduler.strict] queue 0 has everything that it \
                     can use",
                );
            }
        }
        scheduler::Spec::TimeShifted(_) => {
            if switch.flow_control.bfc.is_some() {
                findings.error(
                    &[&table, "switch.scheduler", "switch.flow_control.bfc"],
                    format!(
                        "`{table}` asks how long heads have waited, and with Backpressure Flow \
                         Control no times are kept"
                    ),
                    "choose [switch.scheduler.wrr], or remove [switch.flow_control.bfc]",
                );
            }
        }
    }
    if count != 2 {
        findings.error(
            &[&table, "switch.scheduler", "switch.queue.count"],
            format!("`{table}` is for two queues, but {}", there_are(count)),
            "write `switch.queue.count` = 2, or choose [switch.scheduler.drr]",
        );
    }
}

/// What an AQM for two queues needs around it.
fn dual_queue(settings: &Document, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    let table = format!("switch.aqm.{}", switch.aqm.name());
    let what = format!("`{table}` is for two queues, 0 for low latency and 1 for classic packets");
    let count = switch.queue.count;
    if count != 2 {
        findings.error(
            &["switch.queue.count", &table, "switch.aqm"],
            format!("{what}, but {}", there_are(count)),
            "write `switch.queue.count` = 2",
        );
    }
    if !matches!(switch.classify, classify::Spec::Ecn(_)) {
        findings.error(
            &["switch.classify", &table, "switch.aqm"],
            format!("{what}, but `{}` assigns packets otherwise", switch.classify.name()),
            "choose [switch.classify.ecn]",
        );
    }
    if let scheduler::Spec::Drr(_) = &switch.scheduler
        && count == 2
    {
        let (share, all) = switch.scheduler.share(0, 0b11, count);
        if 2 * share <= all {
            findings.error(
                &["switch.scheduler", &table, "switch.aqm"],
                format!("{what}, but `drr` gives the low latency queue no priority"),
                "choose [switch.scheduler.strict], [switch.scheduler.wrr] or \
                 [switch.scheduler.time_shifted]",
            );
        }
    }
}

fn check_coupled(spec: &coupled::Spec, path: impl Fn(&str) -> String, findings: &mut Findings<'_>) {
    if spec.full_size == Bytes(0) {
        findings.error(
            &[&path("full_size")],
            "the full scale is 0 bytes",
            "write the backlog at which every scalable packet is marked, for example \"1650KB\"",
        );
    }
    findings.positive(&path("full_time"), spec.full_time);
    coupling(path, spec.coupling, 0.0, findings);
}

fn check_dualq(spec: &dualq::Spec, path: impl Fn(&str) -> String, findings: &mut Findings<'_>) {
    if spec.s_r > MOST_BITS {
        findings.error(
            &[&path("s_r")],
            format!("a slope of {} bits leaves nothing of a 32-bit number", spec.s_r),
            format!("write 0 to {MOST_BITS}; each bit doubles the probability"),
        );
    } else if spec.slope_low_latency() > MOST_BITS {
        findings.error(
            &[&path("s_d"), &path("s_r")],
            format!(
                "the slope for low latency packets is {} bits, which leaves nothing of a 32-bit \
                 number",
                spec.slope_low_latency()
            ),
            format!("write 0 to {MOST_BITS} for `s_d`, which is `s_r` + 3 if it is not written"),
        );
    }
}

fn check_curvy_red(
    spec: &curvy_red::Spec,
    path: impl Fn(&str) -> String,
    findings: &mut Findings<'_>,
) {
    let ranges = [
        ("s_c", i32::from(spec.s_c), -20..=10, "-1 is a full scale of 500 ms"),
        ("curviness", i32::from(spec.curviness), 1..=8, "1 is a square for classic packets"),
        ("f_c", i32::from(spec.f_c), 0..=30, "5 is a weight of 1/32"),
        ("k0", i32::from(spec.k0), 0..=10, "1 is a coupling of 2"),
    ];
    for (field, value, range, example) in ranges {
        if !range.contains(&value) {
            findings.error(
                &[&path(field)],
                format!("`{field}` is {value}"),
                format!("write {} to {}; {example}", range.start(), range.end()),
            );
        }
    }
}

fn check_dualpi2(spec: &dualpi2::Spec, path: impl Fn(&str) -> String, findings: &mut Findings<'_>) {
    controller(&path, (spec.alpha, spec.beta), spec.update_interval, findings);
    coupling(&path, spec.coupling, 1.0, findings);
    if let low_latency::Spec::Ramp(ramp) = &spec.low_latency {
        findings.positive(&path("low_latency.ramp.range"), ramp.range);
    }
}

/// The parameters of a proportional-integral controller.
fn controller(
    path: impl Fn(&str) -> String,
    (alpha, beta): (f64, f64),
    interval: Duration,
    findings: &mut Findings<'_>,
) {
    for (field, gain) in [("alpha", alpha), ("beta", beta)] {
        if !(gain >= 0.0 && gain.is_finite()) {
            findings.error(
                &[&path(field)],
                format!("the gain `{field}` is {gain}"),
                "write 0 or more: with less, a longer queue would lower the probability",
            );
        }
    }
    if interval < SHORTEST_UPDATE {
        findings.error(
            &[&path("update_interval")],
            format!("the time between two updates is {interval}"),
            format!("write at least \"{SHORTEST_UPDATE}\"; 16ms is usual"),
        );
    }
}

/// The coupling of probabilities, which must be above 0 and at least `least`.
fn coupling(path: impl Fn(&str) -> String, coupling: f64, least: f64, findings: &mut Findings<'_>) {
    if coupling > 0.0 && coupling >= least && coupling.is_finite() {
        return;
    }
    let range = if least > 0.0 { format!("of at least {least}") } else { "above 0".to_owned() };
    findings.error(
        &[&path("coupling")],
        format!("the coupling is {coupling}"),
        format!("write a number {range}; 2 is usual"),
    );
}
