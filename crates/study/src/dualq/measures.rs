//! What is measured: rates by flow and their ratio, and how long packets wait at the bottleneck.

use floodway_report::statistics::Scale;
use floodway_sim::host::application;

use crate::claim::Rule;
use crate::departures::{Counts, Kind, Place};
use crate::evidence::{Case, Evidence, Facts};
use crate::measure::{Logs, Measured, estimate, geometric};
use crate::traffic::Traffic;

use super::{CLASSIC, DUALPI2, DUALQ, Mix, SCALABLE};

/// The payload of a full segment in all scenarios, in bytes.
pub const SEGMENT: f64 = 1_430.0;

/// The rate of the access link in Mb/s.
pub const LINK_MBPS: f64 = 40.0;

/// Equal rates: the whole interval of the ratio lies from 0.8 to 1.25. No source says how far from 1
/// is still equal. The band is that of bioequivalence, which has the same question (two averages are
/// equal for practical purposes if the interval of their ratio lies there; D. J. Schuirmann, Journal
/// of Pharmacokinetics and Biopharmaceutics 15, 1987, and the guidance of the FDA of 2001); its
/// intervals are of 90 % and ours of 95 %, which is stricter. On the axis of slide 28, three decades
/// long, it is the 1 with a thirtieth of the axis on either side.
pub const EQUAL: Rule = Rule::Within(0.8, 1.25);

/// The same of the case that is farthest off, by the factor.
pub const NOT_FARTHER: Rule = Rule::NotAbove(1.25);

/// The name of the switch in front of the bottleneck.
const BEFORE_THE_LINK: &str = "left switch";

/// The queues of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// That of classic packets.
    Classic,
    /// That of scalable packets; the same in queue management with a single queue.
    Scalable,
    /// All.
    Any,
}

/// Whether a variant has two queues.
pub fn is_dual(variant: &str) -> bool {
    [DUALQ, DUALPI2].contains(&variant)
}

impl Queue {
    /// Whether packets of this kind wait there.
    pub fn holds(self, variant: &str, place: &Place) -> bool {
        let number = if self == Self::Classic && is_dual(variant) { 1 } else { 0 };
        place.node == BEFORE_THE_LINK && (self == Self::Any || place.queue == number)
    }
}

/// What the packets of a run found that left one of the queues.
fn found(facts: &Facts, variant: &str, queue: Queue, kind: Kind) -> Counts {
    facts.departures.sum(kind, |place| queue.holds(variant, place))
}

/// The same of all runs of a case.
pub fn departures(evidence: &Evidence, case: Case, queue: Queue, kind: Kind) -> Counts {
    evidence.departures(case, kind, |place| queue.holds(case.variant, place))
}

/// A quantile of the time that packets wait, the mean over replications.
pub fn delay(evidence: &Evidence, case: Case, queue: Queue, p: f64) -> Measured {
    let of = |facts: &Facts| found(facts, case.variant, queue, Kind::Sojourn).quantile(p);
    evidence.on_scale(case, Kind::Sojourn.scale(), "ns", of)
}

/// The mean time that packets wait.
pub fn mean_delay(evidence: &Evidence, case: Case, queue: Queue) -> Measured {
    let of = |facts: &Facts| found(facts, case.variant, queue, Kind::Sojourn).mean();
    evidence.on_scale(case, Kind::Sojourn.scale(), "ns", of)
}

/// The mean number of packets that a packet finds when it leaves, itself included.
pub fn mean_length(evidence: &Evidence, case: Case, queue: Queue) -> Measured {
    let of = |facts: &Facts| found(facts, case.variant, queue, Kind::Packets).mean();
    evidence.number(case, "packets", of)
}

/// A quantile of the same.
pub fn length(evidence: &Evidence, case: Case, queue: Queue, p: f64) -> Measured {
    let of = |facts: &Facts| found(facts, case.variant, queue, Kind::Packets).quantile(p);
    evidence.number(case, "packets", of)
}

/// From its 5th to its 95th percentile.
pub fn spread(evidence: &Evidence, case: Case, queue: Queue) -> Measured {
    let of = |facts: &Facts| {
        let found = found(facts, case.variant, queue, Kind::Packets);
        found.quantile(0.95) - found.quantile(0.05)
    };
    evidence.number(case, "packets", of)
}

/// The rates of the flows of a workload in the measurement, in Mb/s of payload. One that gets
/// nothing counts with one segment, so that ratios stay numbers.
pub fn rates(evidence: &Evidence, experiment: &str, facts: &Facts, workload: u64) -> Vec<f64> {
    let measurement = evidence.measurement(experiment);
    let Some(((from, to), of)) = measurement.zip(facts.deliveries.as_ref()) else {
        return Vec::new();
    };
    let least = SEGMENT * 8.0 / (to - from) * 1e3;
    of.rates(workload, from, to).into_iter().map(|gbps| (gbps * 1e3).max(least)).collect()
}

/// The mean of these; NaN without flows.
fn mean_rate_of(evidence: &Evidence, case: Case, facts: &Facts, workload: u64) -> f64 {
    let rates = rates(evidence, case.experiment, facts, workload);
    rates.iter().sum::<f64>() / rates.len() as f64
}

/// The mean rate of a flow of a workload.
pub fn rate(evidence: &Evidence, case: Case, workload: u64) -> Measured {
    evidence.number(case, "Mb/s", |facts| mean_rate_of(evidence, case, facts, workload))
}

/// The logarithms of the ratios of the mean rate of a classic flow to that of a scalable one.
pub fn ratio_logs(evidence: &Evidence, case: Case) -> Logs {
    let rate = |facts, workload| mean_rate_of(evidence, case, facts, workload);
    let log = |(at, facts)| (at, libm::log(rate(facts, CLASSIC) / rate(facts, SCALABLE)));
    evidence.runs(case).map(log).filter(|(_, log)| log.is_finite()).collect()
}

/// The ratio itself: the geometric mean over replications.
pub fn ratio(evidence: &Evidence, case: Case) -> Measured {
    geometric(ratio_logs(evidence, case).into_values(), "x")
}

/// The largest ratio of any replication.
pub fn largest_ratio(evidence: &Evidence, case: Case) -> Measured {
    let largest = ratio_logs(evidence, case).into_values().reduce(f64::max);
    Measured { value: largest.map(libm::exp), unit: "x", ..Measured::default() }
}

/// The mean ratios of these cases, of those that were measured.
fn ratios(evidence: &Evidence, cases: impl IntoIterator<Item = Case>) -> Vec<f64> {
    cases.into_iter().filter_map(|case| ratio(evidence, case).value).collect()
}

/// The geometric mean of the ratios of many cases, of those that were measured, each of them counted
/// once. Every replication of all of them has a mean, and the interval is over these: the cases are
/// not a sample of others.
pub fn overall(evidence: &Evidence, cases: impl IntoIterator<Item = Case>) -> Measured {
    let all = cases.into_iter().map(|case| ratio_logs(evidence, case));
    let all: Vec<Logs> = all.filter(|logs| !logs.is_empty()).collect();
    let Some((first, others)) = all.split_first() else { return geometric([], "x") };
    let mean = |(at, log): (&u32, &f64)| {
        let sum = others.iter().try_fold(*log, |sum, logs| logs.get(at).map(|log| sum + log));
        sum.map(|sum| sum / all.len() as f64)
    };
    geometric(first.iter().filter_map(mean), "x")
}

/// By which factor the ratio of the case in which it is farthest from 1 is off, either way. Its
/// interval is above a number if that of any case is farther from 1, and below it if those of all
/// cases are nearer: whether all are within a factor is then decided as for each by itself.
pub fn worst(evidence: &Evidence, cases: impl IntoIterator<Item = Case>) -> Measured {
    let ratios: Vec<Measured> = cases.into_iter().map(|case| ratio(evidence, case)).collect();
    let off = |ratio: f64| ratio.max(1.0 / ratio);
    let least = |(low, high): (f64, f64)| {
        if low <= 1.0 && 1.0 <= high { 1.0 } else { off(low).min(off(high)) }
    };
    let known = || ratios.iter().filter(|of| of.value.is_some());
    let value = known().filter_map(|of| of.value.map(off)).reduce(f64::max);
    let bounds: Option<Vec<(f64, f64)>> = known().map(Measured::bounds).collect();
    let ends = bounds.unwrap_or_default().into_iter();
    let ends = ends.map(|of| (least(of), off(of.0).max(off(of.1))));
    let ends = ends.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
    let interval = ends.filter(|(low, high)| low < high);
    let without = known().find(|of| ends.is_some() || of.bounds().is_none());
    Measured {
        value,
        low: interval.map(|of| of.0),
        high: interval.map(|of| of.1),
        unit: "x",
        no_interval: without.filter(|_| interval.is_none()).and_then(|of| of.no_interval),
        certain: ends.is_some() && interval.is_none(),
        ..Measured::default()
    }
}

/// These cases; none of them unless all were run.
pub fn whole(evidence: &Evidence, cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
    let cases: Vec<Case> = cases.into_iter().collect();
    let run = cases.iter().all(|case| evidence.runs(*case).next().is_some());
    if run { cases } else { Vec::new() }
}

/// By which factor the flows of the kind with the higher rate are above the rate of all flows on
/// average: twice is the end of the vertical axis of slide 26, where n flows fill the link.
pub fn above_its_share(evidence: &Evidence, case: Case) -> Measured {
    let of = |facts: &Facts| {
        let rates = [CLASSIC, SCALABLE].map(|kind| rates(evidence, case.experiment, facts, kind));
        let means = rates.each_ref().map(|of| of.iter().sum::<f64>() / of.len() as f64);
        let all = rates.concat();
        means[0].max(means[1]) / (all.iter().sum::<f64>() / all.len() as f64)
    };
    evidence.number(case, "x", of)
}

/// The share of cases whose ratio is at most this factor off, in percent.
pub fn within(evidence: &Evidence, cases: impl IntoIterator<Item = Case>, factor: f64) -> Measured {
    let of = ratios(evidence, cases);
    let near = of.iter().filter(|ratio| ratio.max(1.0 / **ratio) <= factor).count();
    let share = (!of.is_empty()).then(|| 100.0 * near as f64 / of.len() as f64);
    Measured { value: share, unit: "% of mixes", ..Measured::default() }
}

/// The largest of a number over cases.
pub fn largest(of: impl IntoIterator<Item = Measured>) -> Measured {
    let by_value = |a: &Measured, b: &Measured| a.value.partial_cmp(&b.value);
    let known = of.into_iter().filter(|of| of.value.is_some());
    let largest = known.max_by(|a, b| by_value(a, b).expect("numbers are finite"));
    largest.map_or_else(Measured::default, Measured::alone)
}

/// How many of these seconds the rates of flows are looked at over.
const WINDOW_NS: f64 = 1e9;

/// Of the seconds of all flows, the share in which a flow has more than twice its fair share: above
/// what the deck's charts show.
pub fn above_the_chart(evidence: &Evidence, case: Case, (cubic, dctcp): Mix) -> Measured {
    let most = 2.0 * LINK_MBPS / (cubic + dctcp) as f64;
    let measurement = evidence.measurement(case.experiment);
    let share = |facts: &Facts| {
        let Some(((from, _), of)) = measurement.zip(facts.deliveries.as_ref()) else {
            return f64::NAN;
        };
        let windows = of.windows(WINDOW_NS).into_iter().filter(|window| window.0 >= from);
        let rates = windows
            .flat_map(|(from, to)| of.flows.iter().map(move |flow| flow.gbps(from, to) * 1e3));
        let rates: Vec<f64> = rates.collect();
        rates.iter().filter(|rate| **rate > most).count() as f64 / rates.len() as f64
    };
    evidence.share(case, "% of seconds", share)
}

/// The share of the packets of a workload that were marked or dropped.
pub fn signalled(evidence: &Evidence, case: Case, workload: u64) -> Measured {
    let share = |facts: &Facts| facts.of_workload(workload, Traffic::signalled);
    evidence.on_scale(case, Scale::SHARE, "", share)
}

/// Packets of these workloads that were dropped, over all replications.
pub fn lost(evidence: &Evidence, case: Case, workloads: &[u64]) -> Measured {
    let of = |facts: &Facts| -> u64 {
        workloads.iter().filter_map(|workload| facts.traffic.get(workload)).map(|of| of.lost).sum()
    };
    let lost: u64 = evidence.runs(case).map(|(_, facts)| of(facts)).sum();
    let value = evidence.has(case).then_some(lost as f64);
    Measured { value, unit: "packets", ..Measured::default() }
}

/// The payload that arrived, of what full segments could carry on a link of this rate, in percent.
pub fn utilisation(evidence: &Evidence, case: Case, link_mbps: f64) -> Measured {
    let of = |facts: &Facts| {
        let bits = facts.known("data_bytes_delivered") * 8.0;
        bits / facts.known("measured_ns") * 1e3 / (link_mbps * SEGMENT / 1_500.0) * 100.0
    };
    evidence.number(case, "% of the link", of)
}

/// A quantile of the latencies of the frames of the interactive application.
pub fn frame_latency(evidence: &Evidence, case: Case, p: f64) -> Measured {
    let measurement = evidence.measurement(case.experiment);
    evidence.number(case, "ns", |facts| {
        measurement.map_or(f64::NAN, |(from, to)| facts.frames.made(from, to).latency(p))
    })
}

/// How many frames it made, of those that were due, and the rate of those in Mb/s.
pub fn frames(evidence: &Evidence, case: Case) -> (Measured, Measured) {
    let measurement = evidence.measurement(case.experiment);
    let interval = evidence.scenario(case.experiment).and_then(|scenario| {
        let application = scenario.variants()[0].settings.workload.last()?.application.as_ref()?;
        match application {
            application::Spec::Interactive(spec) => Some(spec.frame_interval.0 as f64 / 1e3),
            application::Spec::Entries(_) => None,
        }
    });
    let of = |facts: &Facts| {
        let ((from, to), interval) = measurement.zip(interval)?;
        let made = facts.frames.made(from, to);
        let rate = made.bytes() as f64 * 8.0 / (to - from) * 1e3;
        Some((100.0 * made.count() as f64 * interval / (to - from), rate))
    };
    let all: Vec<(f64, f64)> = evidence.runs(case).filter_map(|(_, facts)| of(facts)).collect();
    // Not a share: the first frame may be due just before the measurement.
    let made = estimate(all.iter().map(|of| of.0), Scale::NON_NEGATIVE, "% of all");
    (made, estimate(all.iter().map(|of| of.1), Scale::NON_NEGATIVE, "Mb/s"))
}
