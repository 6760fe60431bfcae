//! Queueing delay: how long packets wait at the port at which they wait most, as a distribution and over time.

use std::collections::BTreeMap;

use super::section::Section;
use super::{Figure, Page};
use crate::chart::{Axis, Line, Lines};
use crate::shapes::Depths;

impl Page<'_> {
    /// Distributions of queueing delay, where departures were recorded.
    pub(super) fn waits(&self) -> Option<Section> {
        let variants = 0..self.summary.order.len();
        let waits: Vec<_> = variants.map(|at| self.experiment.waits(at)).collect();
        let mut queues: Vec<u64> = waits.iter().flat_map(|of| of.keys().copied()).collect();
        queues.sort_unstable();
        queues.dedup();
        let charts = |tail: bool| -> Vec<Lines> {
            let of = |queue: &u64| self.wait_chart(*queue, tail, &waits);
            queues.iter().filter_map(of).collect()
        };
        let note = "Time from the arrival of a packet in the queue to the beginning of its transmission, at the port \
                    at which packets wait most in all; all replications pooled, bins of 1.6 % width.";
        let mut section = Section::new("latency", "Queueing delay (latency under load)");
        for (name, caption, tail) in [
            ("queueing-delay", "Queueing delay (CDF)", false),
            ("queueing-delay-tail", "Queueing delay (CCDF)", true),
        ] {
            let charts = charts(tail);
            if !charts.is_empty() {
                let figure = Figure::new(name, caption).legend(self.legend()).note(note);
                section.figure(figure.lines(if charts.len() == 1 { 1 } else { 2 }, charts));
            }
        }
        let over_time: Vec<Lines> =
            queues.iter().filter_map(|queue| self.delay_chart(*queue)).collect();
        if !over_time.is_empty() {
            let note = "Mean over the packets that leave in an interval of the measurement, at the same port, in the \
                        first replication.";
            let figure = Figure::new("queueing-delay-over-time", "Queueing delay over time");
            section.figure(figure.legend(self.legend()).note(note).lines(1, over_time));
        }
        Some(section)
    }

    fn delay_chart(&self, queue: u64) -> Option<Lines> {
        let line = |series: usize| {
            let points = self.experiment.delays(series)?.get(&queue)?.clone();
            let tooltip = self.summary.order[series].clone();
            Some(Line { series, points, tooltip, ..Line::default() })
        };
        let lines: Vec<Line> = (0..self.summary.order.len()).filter_map(line).collect();
        let points = || lines.iter().flat_map(|line| &line.points);
        points().next()?;
        let begin = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let end = points().map(|point| point.0).fold(0.0, f64::max);
        Some(Lines {
            title: format!("Mean queueing delay of queue {queue} over time"),
            heading: format!("queue {queue}"),
            x: Axis::linear("simulated time", "ns").within(begin, end),
            y: Axis::linear("mean queueing delay", "ns"),
            lines,
            height: 200.0,
            ..Lines::default()
        })
    }

    fn wait_chart(&self, queue: u64, tail: bool, waits: &[BTreeMap<u64, Depths>]) -> Option<Lines> {
        let line = |(series, of): (usize, &BTreeMap<u64, Depths>)| {
            let bins = of.get(&queue)?;
            let all: u64 = bins.values().sum();
            let mut seen = 0;
            let mut points = vec![];
            for (edge, many) in bins {
                seen += many;
                let share = seen as f64 / all as f64;
                // Packets that did not wait at all have no place on a logarithmic axis.
                points.push(((*edge as f64).max(SHORTEST), if tail { 1.0 - share } else { share }));
            }
            if tail {
                points.retain(|point| point.1 > 0.0);
            }
            let tooltip = self.summary.order[series].clone();
            Some(Line { series, points, steps: true, tooltip, ..Line::default() })
        };
        let lines: Vec<Line> = waits.iter().enumerate().filter_map(line).collect();
        let points = || lines.iter().flat_map(|line| &line.points);
        points().next()?;
        let most = points().map(|point| point.0).fold(10.0 * SHORTEST, f64::max);
        // The few packets that find an empty queue would take decades of the axis.
        let first = |line: &Line| {
            let some = |point: &&(f64, f64)| if tail { point.1 < 0.99 } else { point.1 > 0.01 };
            line.points.iter().find(some).map(|point| point.0)
        };
        let shortest = lines.iter().filter_map(first).fold(most, f64::min) / 1.5;
        let shortest = shortest.clamp(SHORTEST, most / 10.0);
        let least = points().map(|point| point.1).fold(0.1, f64::min);
        let x = Axis::log("queueing delay, logarithmic", "ns").within(shortest, most);
        let (what, y) = match tail {
            true => {
                ("longer", Axis::log("packets that wait longer", "share").within(least / 1.3, 1.0))
            }
            false => ("at most as long", Axis::linear("packets", "share").within(0.0, 1.0)),
        };
        Some(Lines {
            title: format!("Share of packets that wait {what} in queue {queue}"),
            heading: format!("queue {queue}"),
            x,
            y,
            lines,
            ..Lines::default()
        })
    }
}

/// Shorter waiting times lie at the end of the axis.
const SHORTEST: f64 = 100.0;
