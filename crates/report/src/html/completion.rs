//! The sections about flow completion.

use maud::{Markup, html};

use super::figure::Drawn;
use super::section::Section;
use super::tables::{self, cell};
use super::r#type::{plain, set};
use super::{Figure, Page};
use crate::chart::{Axis, Group, Line, Lines, Mark, Row, Rows};
use crate::statistics::NoInterval;
use crate::summary::{ClassSummary, Measure};
use crate::words;

/// So many flows have a 99.9th percentile that is not their slowest.
const ENOUGH: u64 = 1_000;

type Metric = fn(&ClassSummary) -> &Measure;

impl Page<'_> {
    /// How long flows take, and by how much the variants differ from the baseline.
    pub(super) fn times(&self) -> Option<Section> {
        let mut section = Section::new("fct", "Flow completion time (FCT)");
        self.changes(&mut section);
        self.means(&mut section);
        section.text(self.times_table());
        Some(section)
    }

    /// By how much the variants differ from the baseline.
    fn changes(&self, section: &mut Section) {
        if self.summary.order.len() < 2 {
            return;
        }
        let baseline = &self.summary.order[0];
        if !self.compares_flows() {
            section.text(
                html! { p { "No flow began both in " (set(baseline)) " and in another variant." } },
            );
            return;
        }
        let paired: Vec<String> = self
            .summary
            .order
            .iter()
            .skip(1)
            .filter_map(|name| {
                let all = self.summary.class(name, &self.summary.classes.last()?.key)?;
                let paired = all.paired.filter(|paired| !paired.is_all())?;
                let [flows, of] = [paired.flows, paired.of].map(|flows| words::count(flows as f64));
                Some(format!("{name}: {flows} of {of} flows"))
            })
            .collect();
        let note = if paired.is_empty() {
            String::new()
        } else {
            format!("Only flows that began in both variants are compared ({}).", paired.join("; "))
        };
        let metrics: [(&str, &str, Metric); 2] = [
            ("mean", "Mean FCT", |class| &class.mean_ns),
            ("p99", "99th percentile of FCT", |class| &class.p99_ns),
        ];
        for (name, label, metric) in metrics {
            let caption = format!("{label}: change from {baseline} by flow size");
            let chart = self.change_chart(&caption, metric);
            section.figure(
                Figure::new(format!("{name}-fct-change"), caption)
                    .note(&note)
                    .by_variant()
                    .rows(chart),
            );
        }
    }

    /// Whether some flow began in the baseline and in another variant.
    fn compares_flows(&self) -> bool {
        let all = self.summary.classes.last();
        let of = |name: &String| self.summary.class(name, &all?.key)?.paired;
        self.summary.order.iter().skip(1).filter_map(of).any(|paired| paired.flows > 0)
    }

    fn change_chart(&self, caption: &str, metric: Metric) -> Rows {
        let groups = self.summary.classes_with_flows().map(|class| {
            let variants = self.summary.order.iter().enumerate().skip(1);
            let rows = variants.filter_map(|(series, name)| {
                let measure = metric(self.summary.class(name, &class.key)?);
                Some(change_row(name, series, measure, "ns"))
            });
            Group { label: plain(&class.label), rows: rows.collect() }
        });
        Rows {
            title: caption.to_string(),
            axis: Axis::linear("change; left of 0 is sooner", "%"),
            mark: Mark::Point,
            groups: groups.collect(),
        }
    }

    /// The means themselves.
    fn means(&self, section: &mut Section) {
        let groups = self.summary.classes_with_flows().map(|class| {
            let variants = self.summary.order.iter().enumerate();
            let rows = variants.filter_map(|(series, name)| {
                let of = self.summary.class(name, &class.key)?;
                Some(Row {
                    figures: match of.mean_ns.estimate.mean {
                        Some(_) if of.mean_ns.bound => {
                            "≥ ".to_string() + &plain(&words::mean(&of.mean_ns, "ns"))
                        }
                        Some(_) => plain(&words::mean(&of.mean_ns, "ns")),
                        None => "–".to_string(),
                    },
                    tooltip: plain(&format!("{name}, {}: {}", class.label, quantiles(of))),
                    ..mean_row(name, series, &of.mean_ns, "ns")
                })
            });
            Group { label: plain(&class.label), rows: rows.collect() }
        });
        let caption = "Mean FCT by flow size";
        let chart = Rows {
            title: caption.to_string(),
            axis: Axis::log("mean FCT, logarithmic", "ns"),
            mark: Mark::Point,
            groups: groups.collect(),
        };
        section.figure(Figure::new("mean-fct", caption).by_variant().rows(chart));
    }

    fn times_table(&self) -> Markup {
        let columns: [(&str, &str, Metric); 7] = [
            ("mean", "ns", |class| &class.mean_ns),
            ("p50", "ns", |class| &class.p50_ns),
            ("p95", "ns", |class| &class.p95_ns),
            ("p99", "ns", |class| &class.p99_ns),
            ("p99.9", "ns", |class| &class.p999_ns),
            ("mean slowdown", "x", |class| &class.mean_slowdown),
            ("p99 slowdown", "x", |class| &class.p99_slowdown),
        ];
        let flows = |of: &ClassSummary| words::count((of.finished + of.unfinished) as f64);
        html! {
            div.scroll {
                table {
                    thead {
                        tr {
                            th {} th { "flows" }
                            @for (name, ..) in columns {
                                @match name.split_once(' ') {
                                    Some((first, rest)) => th { (first) br; (rest) },
                                    None => th { (name) },
                                }
                            }
                        }
                    }
                    tbody {
                        @for class in self.summary.classes_with_flows() {
                            tr.group { td colspan=(columns.len() + 2) { (set(&class.label)) } }
                            @for (series, name) in self.summary.order.iter().enumerate() {
                                @if let Some(of) = self.summary.class(name, &class.key) {
                                    tr {
                                        td { (tables::key(series, name)) }
                                        td {
                                            (flows(of))
                                            span.range {
                                                @if of.unfinished == 0 { "0" }
                                                @else { strong { (words::count(of.unfinished as f64)) } }
                                                " unfinished"
                                            }
                                        }
                                        @for (_, unit, metric) in columns { (cell(metric(of), unit)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            p.muted.small {
                "Flows are counted over all replications. Times and slowdowns are means over replications of the value                  in each, with their 95 % confidence intervals; unfinished flows count with the time that they had taken."
            }
        }
    }

    /// The whole distributions.
    pub(super) fn distributions(&self) -> Option<Section> {
        let classes = self.experiment.classes();
        let mut charts = Vec::new();
        for class in 0..classes.count() {
            let lines = self.cdfs(class, false);
            if lines.iter().all(|line| line.points.is_empty()) {
                continue;
            }
            let label = plain(&classes.label(class));
            charts.push(Lines {
                title: format!("Share of flows of size class {label} that finish within a time"),
                heading: label,
                x: Axis::log("FCT, logarithmic", "ns"),
                y: Axis::linear("flows finished", "share").within(0.0, 1.0),
                lines,
                ..Lines::default()
            });
        }
        if charts.is_empty() {
            return None;
        }
        let unfinished = self
            .summary
            .variants
            .values()
            .any(|variant| variant.fct.values().any(|class| class.unfinished > 0));
        let note = if unfinished {
            "All replications pooled. Unfinished flows count as flows that never finish, so a curve \
             with such flows ends below 100 %."
        } else {
            "All replications pooled."
        };
        let mut section = Section::new("fct-distribution", "FCT distribution (CDF and CCDF)");
        let figure = Figure::new("fct-cdf", "FCT (CDF)").legend(self.legend()).note(note);
        section.figure(figure.choice("flow size").lines(2, charts));
        section.figure(self.tails());
        Some(section)
    }

    /// The slowest flows of the sizes that have enough of them for a 99.9th percentile, or else of
    /// all sizes.
    fn tails(&self) -> Drawn {
        let all = self.experiment.classes().all();
        let variants = 0..self.summary.order.len();
        let enough = |class: &usize| {
            let many = |variant| self.experiment.fct(variant, *class).count();
            *class == all || variants.clone().any(|variant| many(variant) >= ENOUGH)
        };
        let shown: Vec<usize> = (0..=all).filter(enough).collect();
        let charts: Vec<Lines> = shown.iter().map(|class| self.tail(*class)).collect();
        let figure = Figure::new("fct-ccdf", "FCT of the slowest flows (CCDF)");
        let figure =
            figure.legend(self.legend()).note("All replications pooled.").choice("flow size");
        figure.lines(if charts.len() == 1 { 1 } else { 2 }, charts)
    }

    fn tail(&self, class: usize) -> Lines {
        let lines = self.cdfs(class, true);
        let least = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
        let least = least.filter(|share| *share > 0.0).fold(0.1, f64::min);
        let least = least / 1.3;
        let many = (0..self.summary.order.len()).map(|at| self.experiment.fct(at, class).count());
        let (least, levels) = match many.max() >= Some(ENOUGH) {
            true => (least.min(5e-4), vec![(1e-3, "0.1 %".to_string())]),
            false => (least, Vec::new()),
        };
        let label = plain(&self.experiment.classes().label(class));
        Lines {
            title: format!("Share of flows of size class {label} that take longer than a time"),
            heading: label,
            x: Axis::log("FCT, logarithmic", "ns"),
            y: Axis::log("flows that take longer", "share").within(least, 1.0),
            lines,
            levels,
            ..Lines::default()
        }
    }

    /// The distribution functions of a class, or what they leave to 1.
    fn cdfs(&self, class: usize, tail: bool) -> Vec<Line> {
        let lines = self.summary.order.iter().enumerate().map(|(series, name)| {
            let sketch = self.experiment.fct(series, class);
            let all = sketch.count() as f64;
            let mut seen = 0;
            let mut points = Vec::new();
            for (value, many) in &sketch.steps {
                if points.is_empty() {
                    points.push((*value, if tail { 1.0 } else { 0.0 }));
                }
                seen += many;
                // To far less than a flow: more digits would only make the page longer.
                let share = libm::round(seen as f64 / all * 1e9) / 1e9;
                points.push((
                    *value,
                    if tail { libm::round((1.0 - share) * 1e9) / 1e9 } else { share },
                ));
            }
            if tail && sketch.unfinished == 0 {
                // Nothing takes longer than the slowest flow, and a logarithm has no place for it.
                points.pop();
            }
            let tooltip = plain(&format!("{name}: {} flows", words::count(all)));
            Line { series, points, steps: true, tooltip, ..Line::default() }
        });
        lines.collect()
    }
}

fn quantiles(class: &ClassSummary) -> String {
    format!(
        "median {}, p99 {}, p99.9 {}, {} unfinished",
        words::mean(&class.p50_ns, "ns"),
        words::mean(&class.p99_ns, "ns"),
        words::mean(&class.p999_ns, "ns"),
        words::count(class.unfinished as f64)
    )
}

/// A row that shows a mean.
pub(super) fn mean_row(name: &str, series: usize, measure: &Measure, unit: &str) -> Row {
    Row {
        label: name.to_string(),
        series,
        value: measure.estimate.mean,
        interval: measure.estimate.interval(),
        figures: plain(&words::mean(measure, unit)),
        range: tables::range(measure, unit),
        tooltip: plain(&format!("{name}: {}", words::estimate(measure, unit))),
        ..Row::default()
    }
}

/// A row that shows a change.
pub(super) fn change_row(name: &str, series: usize, measure: &Measure, unit: &str) -> Row {
    let empty =
        Row { label: name.to_string(), series, figures: "–".to_string(), ..Row::default() };
    let Some(change) = measure.change else { return empty };
    let said = plain(&words::change(&change, unit));
    let (figures, range) = match said.split_once(" [") {
        Some((figures, range)) => (figures.to_string(), format!("[{range}")),
        None => (said.clone(), String::new()),
    };
    let known = change.no_interval != Some(NoInterval::Bound);
    let (value, interval) = (change.percent.filter(|_| known), change.interval());
    let tooltip = format!("{name}: {said}, {} replications", change.n);
    Row { figures, range, value, interval, tooltip, ..empty }
}
