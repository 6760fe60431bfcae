//! The sections about the network: pauses, queues, drops.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::completion::mean_row;
use super::section::Section;
use super::r#type::{emphasized, plain, raw};
use super::{Figure, Legend, Page};
use crate::chart::{Axis, Group, Line, Lines, Mark, Rows};
use crate::scalars::{HOSTS, tier_key, tier_label};
use crate::shapes::{Depths, Point};
use crate::words;

/// Backlogs below this many bytes lie on the floor of a logarithmic axis.
const FLOOR: f64 = 100.0;

impl Page<'_> {
    /// Who is paused, and for how long.
    pub(super) fn pauses(&self) -> Option<Section> {
        if !self.happens("pause_frames") && !self.happens("xoff_frames") {
            return None;
        }
        let mut section = Section::new("pauses", "Pause frames and paused time");
        section
            .text(self.verdicts(&[("xoff_frames", "XOFF frames"), ("paused_ns", "paused time")]));
        let within = self.within();
        for (name, caption, axis, counter, note) in [
            (
                "pause-frames",
                "XOFF frames by sender",
                Axis::linear("frames", ""),
                "xoff_frames",
                format!(
                    "Per replication, {within}; frames that only refresh a pause are not counted."
                ),
            ),
            (
                "paused-time",
                "Paused time by the port that may not send",
                Axis::linear("paused time", "ns"),
                "paused_ns",
                format!("Per replication, {within}, summed over ports and traffic classes."),
            ),
        ] {
            let figure = Figure::new(name, caption).note(&note).by_variant();
            section.figure(figure.rows(self.by_tier(caption, axis, counter)));
        }
        let charts = self.paused_ports();
        if !charts.is_empty() {
            let note =
                "First replication; ports of switches and hosts, summed over traffic classes.";
            let figure =
                Figure::new("paused-ports", "Paused ports over time").by_variant().note(note);
            section.figure(figure.lines(panels(&charts), charts));
        }
        self.paused_links(&mut section);
        Some(section)
    }

    fn by_tier(&self, caption: &str, axis: Axis, what: &str) -> Rows {
        let tiers =
            (0..=HOSTS).map(|tier| (tier_label(tier), format!("{}_{what}", tier_key(tier))));
        let groups = [("all ports".to_string(), what.to_string())]
            .into_iter()
            .chain(tiers)
            .filter(|(_, key)| self.has(key) && (key == what || self.happens(key)))
            .map(|(label, key)| self.group(label, &key));
        Rows { title: caption.to_string(), axis, mark: Mark::Bar, groups: groups.collect() }
    }

    fn group(&self, label: String, key: &str) -> Group {
        let rows = self.summary.order.iter().enumerate().filter_map(|(series, name)| {
            let counter = self.summary.counter(name, key)?;
            Some(mean_row(name, series, &counter.measure, &counter.unit))
        });
        Group { label: plain(&label), rows: rows.collect() }
    }

    fn paused_ports(&self) -> Vec<Lines> {
        let mut all = Vec::new();
        for (series, name) in self.summary.order.iter().enumerate() {
            let Some(timeline) = self.experiment.timeline(series) else { continue };
            let mut sum: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
            for point in timeline.values().flatten() {
                let entry = sum.entry(point.time_ns.to_bits()).or_insert((point.time_ns, 0));
                entry.1 += point.paused_ports;
            }
            let points = sum.values().map(|(time, ports)| (*time, *ports as f64)).collect();
            all.push((series, name, points));
        }
        let points = || all.iter().flat_map(|(_, _, points): &(_, _, Vec<(f64, f64)>)| points);
        let most = points().map(|point| point.1).fold(0.0, f64::max);
        let end = points().map(|point| point.0).fold(0.0, f64::max);
        if most == 0.0 {
            return Vec::new();
        }
        let chart = |(series, name, points): (usize, &String, Vec<(f64, f64)>)| Lines {
            title: format!("Paused ports over time, {name}"),
            heading: name.clone(),
            x: Axis::linear("simulated time", "ns").within(0.0, end),
            y: Axis::linear("paused ports", "").within(0.0, most),
            lines: vec![Line {
                series,
                points,
                steps: true,
                area: true,
                tooltip: name.clone(),
                ..Line::default()
            }],
            height: 180.0,
            ..Lines::default()
        };
        all.into_iter().map(chart).collect()
    }

    /// How deep queues are, over time and in distribution.
    pub(super) fn queues(&self) -> Option<Section> {
        let variants = 0..self.summary.order.len();
        let depths: Vec<_> = variants.clone().map(|at| self.experiment.depths(at)).collect();
        let control = self.control_queue();
        let mut queues: Vec<u64> = depths
            .iter()
            .flat_map(|depths| depths.keys().copied())
            .chain(
                variants
                    .filter_map(|at| self.experiment.timeline(at))
                    .flat_map(|series| series.keys().copied()),
            )
            .filter(|queue| Some(*queue) != control)
            .collect();
        queues.sort_unstable();
        queues.dedup();
        if queues.is_empty() {
            return None;
        }
        let mut section = Section::new("queues", "Queue depth");
        let mut charts = Vec::new();
        for queue in &queues {
            let what = format!("queue {queue}");
            let title = format!("Share of samples in which {what} is deeper than a backlog");
            charts.extend(self.depth_chart(&title, &what, |series| depths[series].get(queue)));
        }
        if !charts.is_empty() {
            let caption = "Queue depth (CCDF)";
            let note = "All ports of the fabric and all replications, sampled at regular intervals. \
                        The queue of control frames is left out.";
            let figure = Figure::new("queue-depths", caption).legend(self.legend()).note(note);
            section.figure(figure.lines(2, charts));
        }
        for queue in queues {
            let charts = self.depth_series(queue);
            if charts.is_empty() {
                continue;
            }
            let caption = format!("Depth of queue {queue} over time");
            let legend = Legend::area_and_line("largest of all ports", "mean over all ports");
            let note = format!(
                "First replication. Backlogs of {} and less lie on the axis.",
                words::bytes(FLOOR)
            );
            let figure = Figure::new(format!("queue-{queue}-over-time"), caption).by_variant();
            section.figure(figure.legend(legend).note(&note).lines(panels(&charts), charts));
        }
        Some(section)
    }

    /// How much memory data takes in ports and in switches.
    pub(super) fn occupancy(&self) -> Option<Section> {
        let variants = 0..self.summary.order.len();
        let occupancy: Vec<_> = variants.map(|at| self.experiment.occupancy(at)).collect();
        let scopes = [("port", "one port"), ("switch", "one switch")];
        let charts: Vec<Lines> = scopes
            .iter()
            .filter_map(|(scope, heading)| {
                let title = format!("Share of samples in which data takes more of {heading}");
                self.depth_chart(&title, heading, |series| occupancy[series].get(*scope))
            })
            .collect();
        if charts.is_empty() {
            return None;
        }
        let mut section = Section::new("occupancy", "Buffer occupancy");
        let caption = "Buffer occupancy (CCDF)";
        let note = "All data queues of a port together, and all those of a switch; every port and \
                    every switch of the fabric and all replications, sampled at regular intervals.";
        let figure = Figure::new("buffer-occupancy", caption).legend(self.legend()).note(note);
        section.figure(figure.lines(2, charts));
        let caption = "Buffer occupancy of a switch";
        let rows = [
            ("mean", "mean"),
            ("99th percentile", "p99"),
            ("99.9th percentile", "p999"),
            ("the most in any switch", "max"),
        ];
        let groups = rows
            .map(|(label, name)| (label, format!("switch_{name}_occupancy_bytes")))
            .into_iter()
            .filter(|(_, key)| self.has(key))
            .map(|(label, key)| self.group(label.to_string(), &key));
        let chart = Rows {
            title: caption.to_string(),
            axis: Axis::linear("occupancy", "bytes"),
            mark: Mark::Bar,
            groups: groups.collect(),
        };
        let note = "Over time and switches, during the measurement; percentiles are the upper ends of \
                    ranges, up to 19 % high. The most is of the whole run.";
        section
            .figure(Figure::new("switch-occupancy", caption).by_variant().note(note).rows(chart));
        self.headroom_pool(&mut section);
        self.memory(&mut section);
        Some(section)
    }

    /// How far a pool of headroom that ports share was filled, if there is one.
    fn headroom_pool(&self, section: &mut Section) {
        let key = "headroom_pool_max_bytes";
        if !self.has(key) {
            return;
        }
        let caption = "Largest use of a headroom pool";
        let chart = Rows {
            title: caption.to_string(),
            axis: Axis::linear("headroom in use", "bytes"),
            mark: Mark::Bar,
            groups: vec![self.group("the most in any switch".to_string(), key)],
        };
        let note = "All ports and lossless classes of a switch together, over the whole run. A smaller pool would \
                    have lost something.";
        section.figure(Figure::new("headroom-pool", caption).by_variant().note(note).rows(chart));
    }

    /// The queue of control frames: the last of a port.
    fn control_queue(&self) -> Option<u64> {
        let names = self.summary.variants.values().flat_map(|variant| variant.counters.keys());
        let number = |name: &String| {
            name.strip_prefix("queue_")?.strip_suffix("_max_backlog_bytes")?.parse().ok()
        };
        names.filter_map(number).max()
    }

    /// The share of samples above each value, of each variant that has a distribution.
    fn depth_chart<'a>(
        &self,
        title: &str,
        heading: &str,
        depths: impl Fn(usize) -> Option<&'a Depths>,
    ) -> Option<Lines> {
        let lines: Vec<Line> = (0..self.summary.order.len())
            .filter_map(|series| {
                let bins = depths(series)?;
                let all: u64 = bins.values().sum();
                let mut above = all;
                let mut points = Vec::new();
                for (edge, samples) in bins {
                    above -= samples;
                    points.push(((*edge as f64).max(FLOOR), above as f64 / all as f64));
                }
                points.retain(|point| point.1 > 0.0);
                let tooltip = self.summary.order[series].clone();
                Some(Line { series, points, tooltip, ..Line::default() })
            })
            .collect();
        let points = || lines.iter().flat_map(|line| &line.points);
        let least = points().map(|point| point.1).fold(0.1, f64::min);
        let most = points().map(|point| point.0).fold(10.0 * FLOOR, f64::max);
        points().next()?;
        Some(Lines {
            title: title.to_string(),
            heading: heading.to_string(),
            x: Axis::log("backlog, logarithmic", "bytes").within(FLOOR, most),
            y: Axis::log("samples above it", "share").within(decade(least), 1.0),
            lines,
            ..Lines::default()
        })
    }

    fn depth_series(&self, queue: u64) -> Vec<Lines> {
        let series: Vec<(usize, &Vec<Point>)> = (0..self.summary.order.len())
            .filter_map(|at| Some((at, self.experiment.timeline(at)?.get(&queue)?)))
            .collect();
        let all = || series.iter().flat_map(|(_, points)| *points);
        let most = all().map(|point| point.max_backlog_bytes as f64).fold(10.0 * FLOOR, f64::max);
        let end = all().map(|point| point.time_ns).fold(0.0, f64::max);
        let chart = |(at, points): (usize, &Vec<Point>)| {
            let line = |area: bool, value: fn(&Point) -> f64| Line {
                series: at,
                points: points.iter().map(|point| (point.time_ns, value(point))).collect(),
                area,
                tooltip: if area { "largest of all ports" } else { "mean over all ports" }
                    .to_string(),
                ..Line::default()
            };
            let name = &self.summary.order[at];
            Lines {
                title: format!("Backlog of queue {queue} over time, {name}"),
                heading: name.clone(),
                x: Axis::linear("simulated time", "ns").within(0.0, end),
                y: Axis::log("backlog, logarithmic", "bytes").within(FLOOR, most),
                lines: vec![
                    line(true, |point| point.max_backlog_bytes as f64),
                    line(false, |point| point.mean_backlog_bytes),
                ],
                height: 200.0,
                ..Lines::default()
            }
        };
        series.into_iter().map(chart).collect()
    }

    /// What was lost, and why.
    pub(super) fn drops(&self) -> Option<Section> {
        let counted = [
            ("dropped_packets", "dropped packets"),
            ("lost_on_links", "lost on links"),
            ("lost_to_errors", "lost to bit errors"),
        ];
        let happened: Vec<_> = counted.into_iter().filter(|(key, _)| self.happens(key)).collect();
        if happened.is_empty() {
            return None;
        }
        let mut section = Section::new("losses", "Packet losses");
        section.text(self.verdicts(&happened));
        let prefix = "dropped_packets_";
        let on_links = ["dropped_packets_lost_on_link", "dropped_packets_corrupted"];
        let mut reasons: Vec<&String> = self
            .summary
            .variants
            .values()
            .flat_map(|variant| variant.counters.keys())
            // What links lost is a counter of its own, with the frames of hosts.
            .filter(|name| name.starts_with(prefix) && !on_links.contains(&name.as_str()))
            .collect();
        reasons.sort();
        reasons.dedup();
        let reasons =
            reasons.into_iter().map(|key| (key[prefix.len()..].replace('_', " "), key.clone()));
        let all = happened.iter().map(|(key, label)| match *key {
            "dropped_packets" => ("for whatever reason".to_string(), (*key).to_string()),
            _ => ((*label).to_string(), (*key).to_string()),
        });
        let groups = all.chain(reasons).map(|(label, key)| self.group(label, &key));
        let caption = "Dropped packets by reason";
        let note = "All together, and what links lost, during the measurement; reasons in the \
                    whole run, so that they may add up to more.";
        let chart = Rows {
            title: caption.to_string(),
            axis: Axis::linear("packets per run", ""),
            mark: Mark::Bar,
            groups: groups.collect(),
        };
        section.figure(Figure::new("drops", caption).by_variant().note(note).rows(chart));
        Some(section)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.summary.variants.values().any(|variant| variant.counters.contains_key(key))
    }

    /// Whether a counter is above zero anywhere.
    pub(super) fn happens(&self, key: &str) -> bool {
        let mean = |name: &String| self.summary.counter(name, key)?.measure.estimate.mean;
        self.summary.order.iter().filter_map(mean).any(|mean| mean > 0.0)
    }

    /// What became of these counters, in a sentence for each variant.
    fn verdicts(&self, counters: &[(&str, &str)]) -> Markup {
        let changes = |name: &String| {
            let parts = counters.iter().filter_map(|(key, label)| {
                let counter = self.summary.counter(name, key)?;
                let change = words::change(&counter.measure.change?, &counter.unit);
                Some(format!("{label} {change}"))
            });
            parts.collect::<Vec<_>>().join(", ")
        };
        html! {
            @for name in self.summary.order.iter().skip(1) {
                @let changes = changes(name);
                @if !changes.is_empty() { p { strong { (raw(name)) } ": " (emphasized(&changes)) "." } }
            }
        }
    }
}

/// How many panels, one for each variant, stand in a row.
pub(super) fn panels(charts: &[Lines]) -> usize {
    panels_of(charts.len())
}

/// The same of so many charts of any kind.
pub(super) fn panels_of(charts: usize) -> usize {
    if charts == 3 || charts > 4 { 3 } else { 2 }
}

/// The power of ten at or below this.
fn decade(value: f64) -> f64 {
    libm::pow(10.0, libm::floor(libm::log10(value) + 1e-9))
}
