//! Whether the measured interval holds what it is to measure.

use floodway_model::{Bytes, Duration, Graph, IntervalEnd, Program};

use super::{Problems, rough_time, wire_factor};
use crate::document::Document;
use crate::measured::{MeasureUntil, Measured};
use crate::ports;
use crate::workload::{self, Ready};

/// Of more flows than this it is not worked out how long they take at least.
pub(super) const MOST_FLOWS: f64 = 2e6;

/// Checks a time that is written.
pub fn check(settings: &Document, findings: &mut Problems<'_>) {
    let Document { warmup, limit, measure_until, .. } = *settings;
    let Some(MeasureUntil::Time(until)) = measure_until else { return };
    if until <= warmup {
        findings.error(
            &["measure_until"],
            format!(
                "the measured interval is empty: it would end ({until}) before the warm-up does \
                 ({warmup})"
            ),
            "set `measure_until` above `warmup`, or shorten the warm-up",
        );
    } else if until > limit {
        findings.error(
            &["measure_until"],
            format!("the measured interval ends ({until}) after the run stops ({limit})"),
            "set `measure_until` to at most `limit`, or raise `limit`",
        );
    }
}

/// Checks what needs the network.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) {
    let order = workload::order(settings, graph, settings.seed);
    let shares = || workload::surroundings(workloads, settings, graph, &order, settings.seed);
    let sized = || shares().map(|(of, around)| of.expected_flows(around)).sum::<f64>();
    if settings.measure_until == Some(MeasureUntil::Completion) && sized() == 0.0 {
        findings.error(
            &["measure_until"],
            "the measured interval would last until all flows have completed, and no flow has a size",
            "write `measure_until = \"arrivals\"`, or a time",
        );
        return;
    }
    let finite = || shares().filter(|(of, _)| of.is_finite());
    let flows: f64 = finite().map(|(of, around)| ports::flows((&**of, around), settings)).sum();
    if flows == 0.0 || flows > MOST_FLOWS {
        return;
    }
    let profiles = settings.profiles();
    // Per host, of what it sends and of what it receives: the first start, and the time on the wire.
    let mut busy = vec![[(Duration(u64::MAX), 0.0); 2]; graph.nodes.len()];
    let mut measured = false;
    for (of, around) in finite() {
        let factor = wire_factor(settings, &profiles[usize::from(around.number)]);
        let mut traffic = of.traffic(around);
        ports::carry(&mut traffic, settings, graph);
        let workload::Traffic { mut flows, triggers, reuses, programs, .. } = traffic;
        ports::assign((&mut flows[..], &reuses[..]), settings, graph, settings.seed);
        let mut waits: Vec<bool> = flows.iter().map(|flow| flow.in_turn).collect();
        triggers.iter().for_each(|trigger| waits[trigger.begins.index()] = true);
        let sent = programs.iter().flat_map(Program::sent);
        sent.for_each(|(_, flow)| waits[flow.index()] = true);
        for (flow, waits) in flows.iter().zip(waits).filter(|(flow, _)| !flow.is_persistent()) {
            measured |= waits || flow.start.0 >= settings.warmup.0;
            for (side, host) in [flow.src, flow.dst].into_iter().enumerate() {
                let (first, time) = &mut busy[host.index()][side];
                *first = Duration(flow.start.0).min(*first);
                let end = &graph.node(host).ports[0];
                let rate = if side == 0 { end.rate } else { graph.rate_to(end) };
                *time += rate.time_for(Bytes(1_000)).as_secs() * flow.bytes as f64 / 1e3 * factor;
            }
        }
    }
    let interval = Measured::of(settings, workloads);
    if !measured && interval.end == IntervalEnd::Completion {
        findings.error(
            &["warmup", "measure_until"],
            format!(
                "the measured interval is empty: every flow starts during the warm-up ({})",
                settings.warmup
            ),
            "shorten the warm-up, or start flows after it",
        );
        return;
    }
    let used = busy.iter().flatten().filter(|(_, time)| *time > 0.0);
    let done = used.map(|(first, time)| first.as_secs() + time).fold(0.0, f64::max);
    warn(settings, &interval, Duration((done * 1e12) as u64), findings);
}

/// Warns if work that is given in bytes takes until `done` even on an idle network, and the interval or
/// the run is shorter, or the interval goes on after the arrivals have ended.
fn warn(settings: &Document, interval: &Measured, done: Duration, findings: &mut Problems<'_>) {
    let least = rough_time(done);
    match interval.end {
        IntervalEnd::Arrivals | IntervalEnd::Time if done > interval.until => findings.warn(
            &["measure_until"],
            format!(
                "the measured interval ends at {}, and the flows need until {least} even on an idle \
                 network: counters leave out what happens later",
                interval.until
            ),
            "remove `measure_until`, or write `measure_until = \"completion\"`",
        ),
        IntervalEnd::Completion | IntervalEnd::Later if done > settings.limit => findings.warn(
            &["limit"],
            format!(
                "the run stops at {}, and the flows need until {least} even on an idle network",
                settings.limit
            ),
            "raise `limit`",
        ),
        IntervalEnd::Later if done > interval.until => findings.warn(
            &["measure_until", "arrivals"],
            format!(
                "the measured interval lasts until the flows with a given size have completed, at \
                 {least} or later, and the other traffic ends its arrivals at {}: counters mix time \
                 with and without load",
                interval.until
            ),
            "raise `arrivals`, or write `measure_until = \"arrivals\"` to count under load only",
        ),
        _ => {}
    }
}
