//! The top of the page: the question, the answer, what was simulated, and how sure the numbers are.

use maud::{Markup, PreEscaped, html};

use super::section::Section;
use super::sketch::sketch;
use super::tables::{self, key};
use super::r#type::{emphasized, raw, set};
use super::{Page, notice};
use crate::chart::{self, LOOKS};
use crate::summary::Measure;
use crate::throughput::{self, Shown};
use crate::{entries, latency, operations, pings};

/// Numbers that the answer has at most for each variant.
const MOST: usize = 5;

/// A number of the answer.
struct Headline<'a> {
    label: String,
    unit: &'a str,
    /// What each variant has, in their order.
    measures: Vec<Option<&'a Measure>>,
}

impl Page<'_> {
    pub(super) fn head(&self) -> Markup {
        let scenario = &self.manifest.scenario;
        let question =
            if scenario.question.is_empty() { &scenario.name } else { &scenario.question };
        let date = self.manifest.started.split('T').next().unwrap_or("");
        html! {
            header {
                p.eyebrow { (raw(&scenario.name)) " · " (raw(date)) " · floodway " (raw(&self.manifest.floodway)) }
                h1 { (set(question)) }
                (self.answer())
                (notice(false, "Before you rely on these numbers:", &self.summary.caveats))
                (self.simulated())
            }
        }
    }

    /// What is wrong with the results, the answer, and its numbers.
    pub(super) fn answer(&self) -> Markup {
        html! {
            (notice(
                true,
                "These results break a law that every sound run keeps. Do not use them; the program has a \
                 mistake.",
                &self.summary.violations,
            ))
            (notice(
                true,
                "Ports wait for each other in a cycle, and would for ever:",
                &self.summary.deadlocks,
            ))
            (notice(
                true,
                "Jobs were not finished when runs ended:",
                &self.summary.unfinished_jobs,
            ))
            ul.answer {
                @for (at, sentence) in self.summary.answer.iter().enumerate() {
                    @let name = &self.summary.order[at + 1];
                    li class={ "c" ((at + 1) % LOOKS) } {
                        strong { (raw(name)) }
                        (emphasized(sentence.strip_prefix(name.as_str()).unwrap_or(sentence))) "."
                    }
                }
            }
            (self.headlines())
        }
    }

    /// The few numbers that matter for this scenario, variant by variant.
    fn headlines(&self) -> Markup {
        let columns = self.columns();
        html! {
            @if !columns.is_empty() {
                div.scroll {
                    table.headlines {
                        thead {
                            tr { th {} @for column in &columns { th { (set(&column.label)) } } }
                        }
                        tbody {
                            @for (series, name) in self.summary.order.iter().enumerate() {
                                tr {
                                    td { (key(series, name)) }
                                    @for column in &columns {
                                        @match column.measures[series] {
                                            Some(measure) => (tables::cell_with_change(measure, column.unit)),
                                            None => td.muted { "–" },
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                @let measures = columns.iter().flat_map(|column| column.measures.iter().flatten());
                p.muted.small { (self.basis(measures.clone().any(|measure| measure.change.is_some()))) }
            }
        }
    }

    /// How sure the numbers of the answer are; `paired`: whether changes stand below them.
    fn basis(&self, paired: bool) -> Markup {
        let counts = self.summary.variants.values().map(|variant| variant.replications);
        let (least, most) = counts.fold((u64::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
        let replications = match (least, most) {
            (1, 1) => "One replication, without intervals".to_owned(),
            (least, most) if least == most => format!("Means over {most} replications"),
            (least, most) => format!("Means over {least} to {most} replications"),
        };
        let baseline = self.summary.baseline().unwrap_or("");
        html! {
            (replications)
            @if most > 1 && paired {
                "; below them the paired change from " (raw(baseline)) " with its 95 % confidence interval"
            }
            ". Counters: " (self.within()) "."
        }
    }

    fn columns(&self) -> Vec<Headline<'_>> {
        let summary = self.summary;
        let mut all = Vec::new();
        if summary.has_flows() {
            let classes: Vec<_> = summary.classes_with_flows().collect();
            let of = |key: &str, metric: fn(&crate::summary::ClassSummary) -> &Measure| {
                let of = |name: &String| summary.class(name, key).map(metric);
                summary.order.iter().map(of).collect::<Vec<_>>()
            };
            let (Some(first), Some(last)) = (classes.first(), classes.last()) else { return all };
            let mut put =
                |label: String, measures| all.push(Headline { label, unit: "ns", measures });
            put(format!("mean FCT, {}", first.label), of(&first.key, |class| &class.mean_ns));
            put(format!("p99 FCT, {}", first.label), of(&first.key, |class| &class.p99_ns));
            if first.key != last.key {
                put(format!("mean FCT, {}", last.label), of(&last.key, |class| &class.mean_ns));
            }
        }
        let counters = |shown: Vec<Shown>, what: &str| {
            let one = |shown: Shown| self.headline(&shown.key, &format!("{what}, {}", shown.label));
            shown.into_iter().filter_map(one).collect::<Vec<_>>()
        };
        all.extend(counters(operations::means_of(summary), "mean time"));
        let under_load = pings::headlines(summary);
        if !summary.has_flows() && !under_load.is_empty() {
            let one = |shown: Shown| self.headline(&shown.key, &shown.label);
            all.extend(under_load.into_iter().filter_map(one));
        } else if !summary.has_flows() {
            let waits = throughput::waits_of(summary).into_iter();
            let busiest = waits.take(2).collect();
            all.extend(counters(busiest, "queueing delay"));
            all.extend(counters(throughput::goodputs_of(summary), "goodput"));
            all.extend(counters(entries::mean_responses_of(summary), "response time"));
            all.extend(counters(latency::delivered(summary), "throughput"));
            all.extend(counters(latency::means(summary), "mean latency"));
        }
        let happened = |(key, label): (&str, &str)| {
            self.happens(key).then(|| self.headline(key, label)).flatten()
        };
        let events: Vec<Headline> =
            [("xoff_frames", "XOFF frames"), ("dropped_packets", "dropped packets")]
                .into_iter()
                .filter_map(happened)
                .collect();
        all.truncate(MOST - events.len());
        all.extend(events);
        all
    }

    fn headline(&self, name: &str, label: &str) -> Option<Headline<'_>> {
        let counters = self.summary.variants.values();
        let unit = &counters.into_iter().find_map(|variant| variant.counters.get(name))?.unit;
        let of = |variant: &String| Some(&self.summary.counter(variant, name)?.measure);
        let measures = self.summary.order.iter().map(of).collect();
        Some(Headline { label: label.to_owned(), unit, measures })
    }

    /// What was simulated: the network and the traffic, and in what each variant differs.
    fn simulated(&self) -> Markup {
        let order = self.summary.order.iter().enumerate();
        html! {
            section #simulated {
                h2 { "What was simulated" a.anchor href="#simulated" aria-label="Link to this section" { "#" } }
                @if let Some(drawn) = self.experiment.fabric().and_then(sketch) { (drawn) }
                dl.terms {
                    @for (noun, phrase) in &self.manifest.scenario.facts {
                        dt { (set(noun)) } dd { (set(phrase)) }
                    }
                    dt { "measured interval" } dd { (self.interval()) }
                    @for (at, name) in order {
                        dt { span.legend { (PreEscaped(chart::sample(at))) (raw(name)) } }
                        dd { (self.variant(at)) }
                    }
                    @let absent = self.absent();
                    @if !absent.is_empty() { dt { "did not happen" } dd { (set(&absent.join(", "))) } }
                }
            }
        }
    }

    fn variant(&self, at: usize) -> Markup {
        let of = &self.manifest.variants[at];
        html! {
            @if !of.summary.is_empty() { (set(&of.summary)) @if !of.summary.ends_with('.') { "." } " " }
            @if at == 0 { "The baseline." } @else if !of.differs.is_empty() {
                @for (at, setting) in of.differs.iter().enumerate() {
                    @if at > 0 { ", " }
                    code { (raw(setting)) }
                }
            }
        }
    }

    /// What a reader would look for and not find, because it happened in no variant.
    fn absent(&self) -> Vec<&'static str> {
        let mut absent = Vec::new();
        if (self.has("xoff_frames") || self.has("pause_frames"))
            && !self.happens("pause_frames")
            && !self.happens("xoff_frames")
        {
            absent.push("pauses");
        }
        if self.has("dropped_packets")
            && !self.happens("dropped_packets")
            && !self.happens("lost_on_links")
            && !self.happens("lost_to_errors")
        {
            absent.push("packet losses in the measured interval");
        }
        absent
    }

    pub(super) fn guide(&self) -> Section {
        let terms = [
            (
                "FCT, completion time",
                html! { "From a flow's start to the arrival of its last byte. Less is better." },
            ),
            (
                "slowdown",
                html! { "Completion time over that of the same flow on an idle network: 1 is ideal." },
            ),
            (
                "−63 % [−70, −55]",
                html! {
                    "The change from the baseline with its 95 % confidence interval. Replication " i { "r" }
                    " has the same traffic in every variant, so changes are taken within a replication (geometric \
                     mean of the ratios, Student's t on their logarithms). An interval that contains 0 leaves open \
                     whether there is a change."
                },
            ),
            (
                "unfinished",
                html! {
                    "Flows that had not completed when the run ended. They count with the time that they had taken by \
                     then, so means are restricted means; changes are over all flows."
                },
            ),
            ("≥", html! { "A lower bound: a percentile that lies among unfinished flows." }),
            (
                "needs 100 flows",
                html! {
                    "A percentile has no interval if a replication has fewer flows than it has parts. Other reasons: "
                    i { "all equal" } ", no variation over the replications; " i { "too varied" }
                    ", more replications are needed."
                },
            ),
            (
                "charts over axes",
                html! {
                    "Move the pointer over a chart to read its values. Drag to zoom, double-click to zoom out. Click a \
                     name in a legend to hide its series; in the list of contents, to hide a variant everywhere."
                },
            ),
        ];
        let mut section = Section::new("guide", "How to read this page").folded();
        section.text(html! {
            dl.terms { @for (name, meaning) in terms { dt { (name) } dd { (meaning) } } }
        });
        section
    }
}
