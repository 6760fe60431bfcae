//! The section about latency under load: pings beside flows that send as fast as they may.

use maud::{Markup, html};

use super::network::panels;
use super::section::Section;
use super::tables::{cell_alone, key};
use super::{Figure, Page};
use crate::chart::{Axis, Line, Lines};
use crate::pings::{Direction, Part, round_trips};
use crate::shapes::Sketch;
use crate::throughput::{Shown, goodputs_of};

/// A column of a table: how it is headed, and the number in it.
type Column = (&'static str, &'static str, &'static str);

/// The columns about latency.
const LATENCY: [Column; 9] = [
    ("idle", "median", "ping_idle_p50_rtt_ns"),
    ("under load", "median", "ping_loaded_p50_rtt_ns"),
    ("under load", "p95", "ping_loaded_p95_rtt_ns"),
    ("under load", "p99", "ping_loaded_p99_rtt_ns"),
    ("up", "median", "ping_loaded_p50_up_ns"),
    ("up", "p99", "ping_loaded_p99_up_ns"),
    ("down", "median", "ping_loaded_p50_down_ns"),
    ("down", "p99", "ping_loaded_p99_down_ns"),
    ("pings", "lost", "pings_lost"),
];

/// The columns about what the load gets.
const LOAD: [Column; 4] = [
    ("download", "goodput", "download_goodput_bps"),
    ("upload", "goodput", "upload_goodput_bps"),
    ("packets", "marked", "marked_packets"),
    ("packets", "dropped", "dropped_packets"),
];

impl Page<'_> {
    /// How long pings take under load, and what the flows beside them get.
    pub(super) fn latency_under_load(&self) -> Option<Section> {
        if !self.has("pings_loaded") {
            return None;
        }
        let mut section = Section::new("latency-under-load", "Latency under load");
        section.text(self.load_table(
            &LATENCY,
            "Round-trip times of pings, and of these the requests (up) and the echoes (down) alone. Idle: back before \
             the first long-lived flow begins; under load: sent while such flows send, in the measured interval.",
        ));
        section.text(self.load_table(
            &LOAD,
            "Goodput is the sum over all flows in a direction. Marks and drops are those of all packets.",
        ));
        self.ping_distributions(&mut section);
        self.pings_over_time(&mut section);
        self.goodput_by_direction(&mut section);
        section.text(self.by_name());
        Some(section)
    }

    fn load_table(&self, columns: &[Column], note: &str) -> Markup {
        let columns: Vec<&Column> = columns.iter().filter(|(.., key)| self.has(key)).collect();
        html! {
            div.scroll {
                table {
                    thead {
                        tr { th {} @for (group, name, _) in &columns { th { (group) br; (name) } } }
                    }
                    tbody {
                        @for (series, name) in self.summary.order.iter().enumerate() {
                            tr {
                                td { (key(series, name)) }
                                @for (.., counter) in &columns {
                                    @match self.summary.counter(name, counter) {
                                        Some(counter) => (cell_alone(&counter.measure, &counter.unit)),
                                        None => td.muted { "–" },
                                    }
                                }
                            }
                        }
                    }
                }
            }
            p.muted.small {
                (note) " Means over replications, " (self.within()) "; a pointer that rests on one shows its interval."
            }
        }
    }

    /// The distribution of the times of all pings under load, by part; and if there are several workloads with pings, of
    /// round trips by workload.
    fn ping_distributions(&self, section: &mut Section) {
        let variants = 0..self.summary.order.len();
        let loaded: Vec<_> = variants.map(|at| self.experiment.pings(at, true)).collect();
        let chart = |what: &str, is: &dyn Fn(u64, Part) -> bool| {
            let pooled = loaded.iter().map(|of| {
                let those = of.iter().filter(|((workload, part), _)| is(*workload, *part));
                Sketch::pooled(those.map(|(_, sketch)| sketch))
            });
            let title = format!("Share of pings under load that take at most as long, {what}");
            self.cdf_chart(title, what, "pings", pooled.collect())
        };
        let note = "Pings under load, all replications pooled. A lost ping has no time, so the line of a variant ends \
                    below 1 by the share that it loses.";
        let parts = Part::ALL.into_iter();
        let charts: Vec<Lines> =
            parts.filter_map(|part| chart(part.label(), &move |_, other| other == part)).collect();
        if !charts.is_empty() {
            let figure = Figure::new("ping-cdf", "Latency under load (CDF)");
            section.figure(figure.legend(self.legend()).note(note).lines(3, charts));
        }
        let workloads = self.ping_workloads();
        if workloads.len() > 1 {
            let one = |workload: &u64| {
                let is = |of: u64, part: Part| of == *workload && part == Part::RoundTrip;
                chart(&self.summary.workload_name(*workload), &is)
            };
            let charts: Vec<Lines> = workloads.iter().filter_map(one).collect();
            let figure =
                Figure::new("ping-cdf-by-class", "Round-trip time under load by ping (CDF)");
            section.figure(figure.legend(self.legend()).note(note).lines(2, charts));
        }
    }

    /// All workloads with pings.
    fn ping_workloads(&self) -> Vec<u64> {
        let variants = 0..self.summary.order.len();
        let of = |at| self.experiment.pings(at, true).into_keys().map(|(workload, _)| workload);
        let mut workloads: Vec<u64> = variants.flat_map(of).collect();
        workloads.sort_unstable();
        workloads.dedup();
        workloads
    }

    /// Distributions of times, one for each variant; `None` if all are empty.
    pub(super) fn cdf_chart(
        &self,
        title: String,
        heading: &str,
        things: &str,
        sketches: Vec<Sketch>,
    ) -> Option<Lines> {
        let line = |(series, sketch): (usize, Sketch)| {
            let all = sketch.count() as f64;
            let mut seen = 0;
            let point = |(value, many): &(f64, u64)| {
                seen += many;
                (*value, seen as f64 / all)
            };
            let points = sketch.steps.iter().map(point).collect();
            let tooltip = self.summary.order[series].clone();
            Line { series, points, steps: true, tooltip, ..Line::default() }
        };
        let some = sketches.into_iter().enumerate().filter(|(_, sketch)| sketch.finished() > 0);
        let lines: Vec<Line> = some.map(line).collect();
        let times = || lines.iter().flat_map(|line| &line.points).map(|point| point.0);
        times().next()?;
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let lowest = least / 1.1;
        Some(Lines {
            title,
            heading: heading.to_owned(),
            x: Axis::log("time, logarithmic", "ns").within(lowest, most.max(lowest * 2.0)),
            y: Axis::linear(things, "share").within(0.0, 1.0),
            lines,
            ..Lines::default()
        })
    }

    fn pings_over_time(&self, section: &mut Section) {
        let variants = self.summary.order.iter().enumerate();
        let all: Vec<_> = variants
            .filter_map(|(at, name)| Some((at, name, self.experiment.pings_over_time(at)?)))
            .collect();
        let mut workloads: Vec<u64> =
            all.iter().flat_map(|(.., pings)| pings.over_time.keys().copied()).collect();
        workloads.sort_unstable();
        workloads.dedup();
        let times = || all.iter().flat_map(|(.., of)| of.over_time.values()).flatten();
        let least = times().map(|point| point.1).fold(f64::INFINITY, f64::min) / 1.1;
        let most = times().map(|point| point.1).fold(0.0, f64::max).max(2.0 * least);
        let end = times().map(|point| point.0).fold(0.0, f64::max);
        let chart = |workload: &u64| {
            let of = self.summary.workload_name(*workload);
            let line = |(series, name, pings): &(usize, &String, &crate::pings::PingShapes)| {
                let points = pings.over_time.get(workload)?.clone();
                Some(Line { series: *series, points, tooltip: (*name).clone(), ..Line::default() })
            };
            Lines {
                title: format!("Round-trip time over time, {of}"),
                heading: of,
                x: Axis::linear("simulated time", "ns").within(0.0, end),
                y: Axis::log("round-trip time", "ns").within(least, most),
                lines: all.iter().filter_map(line).collect(),
                height: 220.0,
                ..Lines::default()
            }
        };
        let charts: Vec<Lines> = workloads.iter().map(chart).collect();
        if charts.is_empty() {
            return;
        }
        let note = "First replication, by when a ping was sent; lost ones are left out.";
        let figure = Figure::new("pings-over-time", "Round-trip time over time");
        let columns = if charts.len() == 1 { 1 } else { 2 };
        section.figure(figure.legend(self.legend()).note(note).lines(columns, charts));
    }

    fn goodput_by_direction(&self, section: &mut Section) {
        let variants = self.summary.order.iter().enumerate();
        let all: Vec<_> = variants
            .filter_map(|(at, name)| Some((at, name, self.experiment.pings_over_time(at)?)))
            .collect();
        let chart = |direction: Direction| {
            let line = |(series, name, pings): &(usize, &String, &crate::pings::PingShapes)| {
                let points = pings.goodput.get(&direction)?.clone();
                Some(Line { series: *series, points, tooltip: (*name).clone(), ..Line::default() })
            };
            let lines: Vec<Line> = all.iter().filter_map(line).collect();
            let points = || lines.iter().flat_map(|line| &line.points);
            points().next()?;
            let end = points().map(|point| point.0).fold(0.0, f64::max);
            let most = points().map(|point| point.1).fold(0.0, f64::max);
            Some(Lines {
                title: format!("Goodput over time, all flows of the {}", direction.key()),
                heading: direction.key().to_owned(),
                x: Axis::linear("simulated time", "ns").within(0.0, end),
                y: Axis::linear("payload delivered", "b/s").within(0.0, most),
                lines,
                height: 220.0,
                ..Lines::default()
            })
        };
        let charts: Vec<Lines> = Direction::ALL.into_iter().filter_map(chart).collect();
        if !charts.is_empty() {
            let note = "First replication, the sum over all long-lived flows in a direction.";
            let figure = Figure::new("goodput-by-direction", "Goodput over time by direction");
            section.figure(figure.legend(self.legend()).note(note).lines(panels(&charts), charts));
        }
    }

    /// Round trips by ping, and goodput by flow, by their names.
    fn by_name(&self) -> Markup {
        let variants = 0..self.summary.order.len();
        let shapes: Vec<_> =
            variants.filter_map(|at| self.experiment.pings_over_time(at)).collect();
        let in_direction = |direction: Direction| -> Vec<Shown> {
            let number = |shown: &Shown| shown.key.split('_').nth(1)?.parse::<u64>().ok();
            let is = |shown: &Shown| {
                let of = |number: u64| shapes.iter().find_map(|of| of.directions.get(&number));
                number(shown).and_then(of) == Some(&direction)
            };
            let named = |shown: Shown| Shown {
                label: number(&shown)
                    .map_or(shown.label, |number| self.summary.workload_name(number)),
                ..shown
            };
            goodputs_of(self.summary).into_iter().filter(is).map(named).collect()
        };
        let groups = [
            ("round-trip time", round_trips(self.summary)),
            ("mean goodput per flow, download", in_direction(Direction::Download)),
            ("mean goodput per flow, upload", in_direction(Direction::Upload)),
        ];
        self.grouped(groups, "Lost pings have no time and count for no percentile.")
    }
}
