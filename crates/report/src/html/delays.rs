//! The section about what flows spend their time on.

use maud::{Markup, html};

use super::section::Section;
use super::r#type::{raw, set};
use super::{Figure, Legend, Page, tables};
use crate::chart::Axis;
use crate::chart::spans::{Span, Spans};
use crate::why::{Digest, Flow, chart, kind};
use crate::words;

fn time(ps: u64) -> String {
    words::time(ps as f64 / 1e3)
}

impl Page<'_> {
    fn digests(&self) -> Vec<(usize, &String, &Digest)> {
        let variants = self.summary.order.iter().enumerate();
        variants
            .filter_map(|(series, name)| Some((series, name, self.experiment.why(series)?)))
            .collect()
    }

    /// What flows spend their time on, if it was explained.
    pub(super) fn delays(&self) -> Option<Section> {
        let digests = self.digests();
        if digests.is_empty() {
            return None;
        }
        let about: Vec<String> = digests
            .iter()
            .map(|(_, name, digest)| match digest.flows {
                (some, all) if some >= all => format!("{name}: all {all} measured flows"),
                (some, all) => format!("{name}: {some} of {all} measured flows"),
            })
            .collect();
        let mut section = Section::new("delays", "Where the time goes");
        let caption = "Completion time by cause and flow size";
        let note = format!(
            "Mean completion time in the first replication, partitioned without gap or overlap. {}. Bars of one \
             size have one scale.",
            about.join("; ")
        );
        let figure =
            Figure::new("delays", caption).legend(Legend::swatches(&chart::names())).note(&note);
        let labels: Vec<&str> = self.summary.classes.iter().map(|class| &*class.label).collect();
        let of: Vec<(&str, &Digest)> =
            digests.iter().map(|(_, name, digest)| (name.as_str(), *digest)).collect();
        section.figure(figure.stacks(chart::stacks(caption, &of, &labels)));
        if digests.iter().any(|(_, _, digest)| !digest.roots.is_empty()) {
            section.text(self.roots(&digests));
        }
        let charts: Vec<Spans> =
            digests.iter().filter_map(|(_, name, digest)| slowest(name, digest)).collect();
        if !charts.is_empty() {
            let caption = "The slowest flow of each variant over time and ports";
            let note = "Of the explained flows, the one with the largest slowdown. Each row is an egress port on \
                        its path, from the source at the top; what happens while a window is full is shown where it \
                        happens, acknowledgements included.";
            let legend = Legend::swatches(&chart::names());
            section.figure(
                Figure::new("slowest-flow", caption).legend(legend).note(note).spans(charts),
            );
        }
        Some(section)
    }

    /// The queues because of which others are paused.
    fn roots(&self, digests: &[(usize, &String, &Digest)]) -> Markup {
        html! {
            h3 { "Roots of pauses" }
            p {
                "A queue that is paused itself passes the blame on to the queue that paused it. The root of a pause is \
                 the queue at the end of this chain."
            }
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "root" } th { "pauses" } th { "paused" br; "for" } th { "longest" br; "chain" }
                            th { "flows" br; "delayed" } th { "their time" br; "lost" }
                            th { "first" } th.text { "filled by" }
                        }
                    }
                    tbody {
                        @for (series, name, digest) in digests {
                            tr.group { td colspan="8" { (tables::key(*series, name)) } }
                            @for (root, flows) in &digest.roots {
                                tr {
                                    td { (raw(&root.port.to_string())) }
                                    td { (words::count(root.pauses as f64)) }
                                    td { (set(&time(root.total))) }
                                    td { (root.depth) }
                                    td { (root.victims.len()) }
                                    td { (set(&time(root.lost))) }
                                    td { (self.played(root.first)) }
                                    td.text.wrap { (raw(flows)) }
                                }
                            }
                            @let more = digest.all_roots - digest.roots.len();
                            @if more > 0 { tr { td.muted colspan="8" { "and " (more) " more" } } }
                            @if digest.roots.is_empty() { tr { td.muted colspan="8" { "nothing was paused" } } }
                        }
                    }
                }
            }
        }
    }

    /// A time, which the playback goes to where there is one.
    pub(super) fn played(&self, ps: u64) -> Markup {
        let ns = ps as f64 / 1e3;
        html! {
            @if self.plays() {
                a href="#playback" data-play-ns=(format!("{ns:.0}")) { (set(&words::time(ns))) }
            } @else { (set(&words::time(ns))) }
        }
    }
}

/// The slowest flow of a variant over time.
fn slowest(variant: &str, digest: &Digest) -> Option<Spans> {
    let (flow, name) = digest.slowest.as_ref()?;
    let ports = path(flow);
    let span = |part: &crate::why::Part| {
        let row = ports.iter().position(|port| *port == part.port.to_string())?;
        let ends = [part.from, part.to].map(|at| at.saturating_sub(flow.start) as f64 / 1e3);
        let length = words::time(part.time() as f64 / 1e3);
        let cause = match (&part.root, part.cause) {
            (Some(root), _) => format!(" because of {root}"),
            (None, Some(cause)) => format!(", flow {cause}"),
            (None, None) => String::new(),
        };
        let tooltip = super::plain(&format!("{}{cause}: {length}", part.delay.words()));
        Some(Span { row, ends: (ends[0], ends[1]), kind: kind(part.delay), tooltip })
    };
    Some(Spans {
        title: format!("The slowest explained flow of {variant} over time, by port"),
        heading: super::plain(&format!(
            "{variant}: {name}, {} to {}, {}, {:.1} times the ideal",
            flow.ends.0,
            flow.ends.1,
            words::bytes(flow.bytes as f64),
            flow.slowdown
        )),
        spans: flow.parts.iter().filter_map(span).collect(),
        rows: ports,
        names: chart::names(),
        axis: Axis::linear("time since its start", "ns").within(0.0, flow.fct as f64 / 1e3),
    })
}

/// The ports of a flow in the order in which they first occur, those that lead back to its source last.
fn path(flow: &Flow) -> Vec<String> {
    let mut ports: Vec<String> = Vec::new();
    for part in &flow.parts {
        let port = part.port.to_string();
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}
