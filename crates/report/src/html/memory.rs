//! How much memory data takes over time.

use super::network::panels;
use super::section::Section;
use super::{Figure, Legend, Page};
use crate::chart::{Axis, Line, Lines};
use crate::shapes::InUse;

impl Page<'_> {
    /// All data queues of all switches together at each sample.
    pub(super) fn memory(&self, section: &mut Section) {
        let variants = 0..self.summary.order.len();
        let series: Vec<(usize, &Vec<InUse>)> =
            variants.filter_map(|at| Some((at, self.experiment.memory(at)?))).collect();
        let all = || series.iter().flat_map(|(_, samples)| *samples);
        let most = all().map(|sample| sample.max_bytes).fold(0.0, f64::max);
        let end = all().map(|sample| sample.time_ns).fold(0.0, f64::max);
        if most == 0.0 {
            return;
        }
        let chart = |(at, samples): (usize, &Vec<InUse>)| {
            let line = |area: bool, tooltip: &str, value: fn(&InUse) -> f64| Line {
                series: at,
                points: samples.iter().map(|sample| (sample.time_ns, value(sample))).collect(),
                area,
                tooltip: tooltip.to_string(),
                ..Line::default()
            };
            let name = &self.summary.order[at];
            Lines {
                title: format!("Buffer in use over time, {name}"),
                heading: name.clone(),
                x: Axis::linear("simulated time", "ns").within(0.0, end),
                y: Axis::linear("buffer in use", "bytes").within(0.0, most),
                lines: vec![
                    line(true, "the most", |sample| sample.max_bytes),
                    line(false, "mean", |sample| sample.mean_bytes),
                ],
                height: 200.0,
                ..Lines::default()
            }
        };
        let charts: Vec<Lines> = series.into_iter().map(chart).collect();
        let legend = Legend::area_and_line("the most in an interval", "mean over it");
        let note = "First replication. All data queues of all switches together; with one switch this \
                    is its memory.";
        let caption = "Buffer in use over time";
        let figure =
            Figure::new("memory-over-time", caption).by_variant().legend(legend).note(note);
        section.figure(figure.lines(panels(&charts), charts));
    }
}
