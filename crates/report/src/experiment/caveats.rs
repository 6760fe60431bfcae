//! What a reader has to know before the numbers of an experiment are used.

use floodway_model::IntervalEnd;

use super::Experiment;
use crate::manifest::Record;
use crate::summary::Summary;
use crate::{INTERRUPTED, profiles};

impl Experiment {
    /// What a reader must know before using the numbers.
    pub(super) fn caveats(&self, summary: &Summary) -> Vec<String> {
        let mut caveats = Vec::new();
        let asked = u64::from(self.manifest.replications);
        if self.runs.keys().all(|(_, replication)| *replication == 0) && !self.runs.is_empty() {
            caveats.push(
                "One replication: there are no intervals, and a difference between variants may \
                 be chance. Run several (`--replications 5`) before you rely on it."
                    .to_string(),
            );
        }
        for (at, name) in summary.order.iter().enumerate() {
            let of = self.sampled.range((at, 0)..=(at, u32::MAX)).next();
            caveats.extend(of.map(|(_, of)| of.caveat(name)));
        }
        caveats.extend(profiles::caveat(&self.manifest.scenario.profile_values));
        let stopped = |run: &&Record| run.stop == INTERRUPTED;
        for run in self.manifest.runs.iter().filter(stopped) {
            caveats.push(format!(
                "{} replication {} was interrupted at {} of simulated time: its tables are kept, \
                 but its numbers are not in the statistics.",
                run.variant,
                run.replication,
                crate::words::time(run.simulated_ns)
            ));
        }
        for name in &summary.order {
            let have = summary.variant(name).replications;
            if have < asked {
                caveats.push(format!("{name}: {have} of {asked} replications are there."));
            }
        }
        for (variant, name) in self.manifest.variants.iter().zip(&summary.order) {
            let Some(interval) = summary.variant(name).interval else { continue };
            let arrivals = variant.arrivals_ns as f64;
            if interval.end == IntervalEnd::Later && interval.last_end_ns > arrivals {
                caveats.push(format!(
                    "{name}: the measured interval ({}) lasts until the flows with a given size had \
                     completed, past the end of arrivals at {}: counters and rates cover time in which \
                     no other flow started. `measure_until = \"arrivals\"` counts under load only.",
                    crate::words::interval(&interval),
                    crate::words::time(arrivals)
                ));
            }
        }
        for name in &summary.order {
            let interval = summary.variant(name).interval;
            if interval.is_some_and(|interval| interval.first_end_ns <= interval.from_ns) {
                caveats.push(format!(
                    "{name}: the measured interval is empty, because all flows had completed by the end \
                     of the warm-up: its counters, depths and rates are of nothing. Shorten `warmup`."
                ));
            }
        }
        let all = self.classes.key(self.classes.all());
        let mut without = Vec::new();
        for name in &summary.order {
            let Some(flows) = summary.class(name, &all) else { continue };
            if flows.unfinished > 0 {
                caveats.push(format!(
                    "{name}: {} of {} measured flows had not completed when their run ended. They \
                     count with the time that they had taken by then, so means are restricted means; \
                     a percentile that lies among them is a lower bound (≥).",
                    crate::words::count(flows.unfinished as f64),
                    crate::words::count((flows.finished + flows.unfinished) as f64),
                ));
            } else if flows.finished == 0 && summary.variant(name).replications > 0 {
                without.push(name.as_str());
            }
        }
        // Where no flow has a size, nobody looks for completion times.
        let goodputs = crate::throughput::goodputs_of(summary);
        let waits = crate::throughput::mean_waits_of(summary);
        let expected =
            goodputs.is_empty() && waits.is_empty() || without.len() < summary.order.len();
        if !without.is_empty() && expected {
            let names = without.join(", ");
            let who = if without.len() == summary.order.len() { "" } else { &names };
            caveats.push(no_flows(who));
        }
        caveats
    }
}

/// Said of the variants of these names, or of all if it is empty.
fn no_flows(names: &str) -> String {
    let (of, no) = if names.is_empty() { ("", "No") } else { (names, ": no") };
    format!(
        "{of}{no} completion time was measured: only flows with a size that start after the \
         warm-up have one."
    )
}
