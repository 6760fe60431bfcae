//! Tables on the page.

use maud::{Markup, html};

use super::Page;
use super::section::Section;
use super::r#type::{plain, raw, set};
use crate::chart::LOOKS;
use crate::entries;
use crate::jobs;
use crate::latency;
use crate::operations;
use crate::sampling;
use crate::statistics::NoInterval;
use crate::summary::{Counter, Measure};
use crate::throughput::{self, Shown};
use crate::voice;
use crate::words;

/// A variant's name with its color.
pub(super) fn key(series: usize, name: &str) -> Markup {
    html! { span class={ "key c" (series % LOOKS) } {} (raw(name)) }
}

/// A mean with its interval below, or with why it has none; `≥` before a lower bound.
pub(super) fn cell(measure: &Measure, unit: &str) -> Markup {
    let Some(mean) = measure.estimate.mean else { return html! { td.muted { "–" } } };
    let why = measure.estimate.no_interval.map(|why| format!("no interval: {why}"));
    let range = range(measure, unit);
    html! {
        td {
            @if measure.bound { "≥ " }
            (set(&words::quantity(mean, unit)))
            @if !range.is_empty() { span.range title=[why] { (set(&range)) } }
        }
    }
}

/// The interval of a measure, `[41.6, 43.4]`, or in brief why it has none; empty of one replication, which
/// the page says once.
pub(super) fn range(measure: &Measure, unit: &str) -> String {
    let estimate = &measure.estimate;
    match (estimate.mean.zip(estimate.interval()), estimate.no_interval) {
        (Some((mean, ends)), _) => plain(&words::range(mean, ends, unit)),
        (None, Some(NoInterval::OneReplication) | None) => String::new(),
        (None, Some(why)) => plain(&why.brief()),
    }
}

/// A mean alone, with its interval for a pointer that rests on it: for tables of many columns.
pub(super) fn cell_alone(measure: &Measure, unit: &str) -> Markup {
    let Some(mean) = measure.estimate.mean else { return html! { td.muted { "–" } } };
    html! {
        td title=(words::estimate(measure, unit)) {
            @if measure.bound { "≥ " }
            (set(&words::quantity(mean, unit)))
        }
    }
}

/// A mean with its change below.
pub(super) fn cell_with_change(measure: &Measure, unit: &str) -> Markup {
    let Some(mean) = measure.estimate.mean else { return html! { td.muted { "–" } } };
    let change = measure.change.map(|change| words::beside(&change));
    let change = change.filter(|change| change != "none");
    html! {
        td title=(words::estimate(measure, unit)) {
            @if measure.bound { "≥ " }
            (set(&words::quantity(mean, unit)))
            @if let Some(change) = change { span.range { (set(&change)) } }
        }
    }
}

impl Page<'_> {
    /// What the network delivers and how long packets take.
    pub(super) fn throughput(&self) -> Option<Section> {
        self.groups(
            ("throughput", "Throughput and packet latency"),
            [
                ("throughput", latency::delivered(self.summary)),
                ("latency from memory to memory", latency::all(self.summary)),
            ],
            "Latencies are from leaving the memory of the source with the first byte to the last byte in that of the \
             destination; percentiles are up to 1.6 % high.",
        )
    }

    /// How long calls, collectives and jobs take.
    pub(super) fn operations(&self) -> Option<Section> {
        self.groups(
            ("operations", "Calls, collectives and jobs"),
            [
                ("time", operations::times_of(self.summary)),
                ("estimated for all rounds", sampling::estimates_of(self.summary)),
                ("ranks of jobs", jobs::times_of(self.summary)),
                ("completed", operations::rates_of(self.summary)),
                ("mean bandwidth of collectives", operations::bandwidths_of(self.summary)),
            ],
            "A call is complete when its response has arrived, a collective when all of its messages have, and a job when \
             all of its ranks have finished; times are of those that began after the warm-up. Exposed communication \
             is the time in which a rank computes nothing because it waits for messages. Bandwidths of collectives are as nccl-tests defines them: size by \
             time (algorithm), and what the port of a rank must carry at least (bus).",
        )
    }

    /// How calls are rated.
    pub(super) fn voice(&self) -> Option<Section> {
        self.groups(
            ("voice", "Voice calls"),
            [
                ("mean opinion score, worse direction", voice::scores_of(self.summary)),
                ("by direction", voice::scores_by_direction(self.summary)),
                ("mouth to ear", voice::delays_of(self.summary)),
                ("packets lost or late", voice::missing_of(self.summary)),
            ],
            "Scores of the E-model (ITU-T G.107): 4.4 at best, 4.0 satisfies most users, 3.6 many, below 3.1 nearly all are \
             dissatisfied (G.109). Packets that are sent in the measured interval count, and those of the warm-up before it \
             do not; up is from the host that calls.",
        )
    }

    /// What flows without a size get, and how long packets wait.
    pub(super) fn goodput(&self) -> Option<Section> {
        self.groups(
            ("goodput", "Goodput and delay"),
            [
                ("queueing delay", throughput::waits_of(self.summary)),
                ("mean goodput per flow", throughput::goodputs_of(self.summary)),
                ("response time of database entries", entries::responses_of(self.summary)),
                ("throughput of database entries", entries::throughputs_of(self.summary)),
            ],
            "Queueing delays are those of the port at which packets wait most in all.",
        )
    }

    /// A table of such numbers in groups, if there are any.
    pub(super) fn groups<const N: usize>(
        &self,
        (id, heading): (&str, &str),
        groups: [(&str, Vec<Shown>); N],
        note: &str,
    ) -> Option<Section> {
        if groups.iter().all(|(_, shown)| shown.is_empty()) {
            return None;
        }
        let mut section = Section::new(id, heading);
        section.text(self.grouped(groups, note));
        Some(section)
    }

    /// The same as a table.
    pub(super) fn grouped<const N: usize>(
        &self,
        groups: [(&str, Vec<Shown>); N],
        note: &str,
    ) -> Markup {
        html! {
            div.scroll {
                table {
                    thead { tr { th {} (self.heads()) } }
                    tbody {
                        @for (label, shown) in groups.into_iter().filter(|(_, shown)| !shown.is_empty()) {
                            tr.group { td colspan=(self.summary.order.len() + 1) { (label) } }
                            @for shown in shown {
                                tr {
                                    td { (set(&shown.label)) }
                                    @for variant in &self.summary.order { (self.counter_cell(variant, &shown.key)) }
                                }
                            }
                        }
                    }
                }
            }
            p.muted.small {
                "Means over replications, " (self.within()) "; below them the change from the baseline. " (set(note))
            }
        }
    }

    /// The variants as the heads of columns.
    fn heads(&self) -> Markup {
        html! { @for (series, name) in self.summary.order.iter().enumerate() { th { (key(series, name)) } } }
    }

    /// Over which interval counters are taken, in words.
    pub(super) fn within(&self) -> String {
        match self.summary.interval() {
            Some(_) => format!("measured interval {}", self.interval()),
            None => format!("measured intervals {}", self.interval()),
        }
    }

    /// The measured interval, or those of all variants.
    pub(super) fn interval(&self) -> String {
        let of = |name: &String| {
            let interval = self.summary.variants.get(name)?.interval?;
            Some(format!("{} of {name}", words::interval(&interval)))
        };
        let all = || self.summary.order.iter().filter_map(of).collect::<Vec<_>>().join(", ");
        plain(&self.summary.interval().unwrap_or_else(all))
    }

    fn counter_cell(&self, variant: &str, name: &str) -> Markup {
        match self.summary.counter(variant, name) {
            Some(counter) => cell_with_change(&counter.measure, &counter.unit),
            None => html! { td.muted { "–" } },
        }
    }

    /// Every number about whole runs; of those that are 0 everywhere the names.
    pub(super) fn counters(&self) -> Option<Section> {
        let mut names: Vec<(&String, &Counter)> =
            self.summary.variants.values().flat_map(|variant| &variant.counters).collect();
        names.sort_by_key(|(name, _)| *name);
        names.dedup_by_key(|(name, _)| *name);
        if names.is_empty() {
            return None;
        }
        let nothing = |(name, _): &(&String, &Counter)| {
            let mean = |of: &String| self.summary.counter(of, name)?.measure.estimate.mean;
            self.summary.order.iter().filter_map(mean).all(|mean| mean == 0.0)
        };
        let (nothing, names): (Vec<_>, Vec<_>) = names.into_iter().partition(nothing);
        let mut section = Section::new("counters", "All counters");
        section.text(html! {
            p.muted.small {
                "Means over replications, " (self.within()) "; below them the change from the baseline with its 95 % \
                 confidence interval."
            }
            div.scroll {
                table {
                    thead { tr { th { "per run" } (self.heads()) } }
                    tbody {
                        @for (name, counter) in names {
                            tr {
                                td.wrap { code { (raw(name)) } span.range.meaning { (set(&counter.meaning)) } }
                                @for variant in &self.summary.order { (self.counter_cell(variant, name)) }
                            }
                        }
                    }
                }
            }
            @if !nothing.is_empty() {
                details.small {
                    summary { (nothing.len()) " more that are 0 in every variant" }
                    p {
                        @for (at, (name, _)) in nothing.iter().enumerate() {
                            @if at > 0 { ", " }
                            code { (raw(name)) }
                        }
                    }
                }
            }
        });
        Some(section)
    }
}
