//! Slowdown against flow size: the chart by which transports for data centers are compared (as in
//! pFabric, SIGCOMM 2013, and HPCC, SIGCOMM 2019).

use super::section::Section;
use super::{Figure, Page};
use crate::chart::{Axis, Line, Lines};
use crate::shapes::Sketch;
use crate::words;

/// Percentiles that are drawn, with the least number of flows that a point rests on.
const PERCENTILES: [(f64, &str, u64); 3] =
    [(0.99, "99th percentile", 100), (0.95, "95th percentile", 20), (0.5, "median", 2)];

impl Page<'_> {
    /// Median and tail of slowdown by flow size.
    pub(super) fn slowdown(&self) -> Option<Section> {
        let variants = 0..self.summary.order.len();
        let sizes: Vec<Vec<(f64, Sketch)>> =
            variants.map(|at| self.experiment.slowdowns(at)).collect();
        let chart = |(p, label, needed): &(f64, &str, u64)| -> Option<Lines> {
            let lines: Vec<Line> = sizes
                .iter()
                .enumerate()
                .map(|(series, sizes)| {
                    let enough = sizes.iter().filter(|(_, flows)| flows.count() >= *needed);
                    let point = |(bytes, flows): &(f64, Sketch)| (*bytes, flows.quantile(*p));
                    let points = enough.map(point).filter(|point| point.1.is_finite()).collect();
                    let tooltip = self.summary.order[series].clone();
                    Line { series, points, markers: true, tooltip, ..Line::default() }
                })
                .collect();
            let most =
                lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max);
            (most > 0.0).then(|| Lines {
                title: format!("{label} of slowdown against flow size"),
                heading: (*label).to_owned(),
                x: Axis::log("flow size, logarithmic", "bytes"),
                y: Axis::log("slowdown, logarithmic", "").within(1.0, most.max(2.0) * 1.1),
                lines,
                ..Lines::default()
            })
        };
        let charts: Vec<Lines> = PERCENTILES.iter().filter_map(chart).collect();
        if charts.is_empty() {
            return None;
        }
        let needed: Vec<String> = PERCENTILES
            .iter()
            .map(|(_, label, needed)| {
                format!("{} flows for the {label}", words::count(*needed as f64))
            })
            .collect();
        let note = format!(
            "Completion time over that of the same flow on an idle network. Sizes in bins of a factor of two, each \
             drawn at the mean size of its flows; all replications pooled, flows that had not completed counted with \
             the time that they had taken, so that a percentile among them is a lower bound. A point needs {}.",
            needed.join(", ")
        );
        let caption = "Slowdown by percentile and flow size";
        let figure = Figure::new("slowdown-by-size", caption).legend(self.legend()).note(&note);
        let mut section = Section::new("slowdown", "Slowdown against flow size");
        let columns = charts.len();
        section.figure(figure.choice("percentile").lines(columns, charts));
        Some(section)
    }
}
