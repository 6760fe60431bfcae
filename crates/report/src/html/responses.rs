//! The section about database entries over time.

use std::collections::BTreeMap;

use super::network::panels;
use super::section::Section;
use super::{Figure, Page};
use crate::chart::{Axis, Line, Lines};
use crate::entries::Window;

/// One thing that is drawn of every window.
struct Drawn {
    /// What it is.
    what: &'static str,
    unit: &'static str,
    value: fn(&Window) -> f64,
}

const TIMES: [Drawn; 2] = [
    Drawn { what: "mean response time", unit: "ns", value: |window| window.mean_ns },
    Drawn { what: "largest response time", unit: "ns", value: |window| window.max_ns },
];
const THROUGHPUT: [Drawn; 1] =
    [Drawn { what: "entries completed", unit: "b/s", value: |window| window.throughput_bps }];

impl Page<'_> {
    /// How long database entries take, and how much of them is completed, over time.
    pub(super) fn responses(&self) -> Option<Section> {
        let variants = 0..self.summary.order.len();
        let windows: Vec<_> = variants.map(|at| self.experiment.responses(at)).collect();
        let mut workloads: Vec<u64> = windows.iter().flat_map(|of| of.keys().copied()).collect();
        workloads.sort_unstable();
        workloads.dedup();
        if workloads.is_empty() {
            return None;
        }
        let mut section = Section::new("responses", "Response time of database entries");
        let note = "First replication, by when entries were completed, those of the warm-up too; \
                    a response time is from handing an entry to TCP until the client has the \
                    acknowledgement of all of it.";
        for (name, caption, drawn) in [
            ("response-times", "Response time over time", &TIMES[..]),
            ("entries-over-time", "Entries completed over time", &THROUGHPUT[..]),
        ] {
            let charts: Vec<Lines> = workloads
                .iter()
                .flat_map(|workload| {
                    drawn.iter().map(|drawn| self.chart(*workload, drawn, &windows))
                })
                .collect();
            let columns = if charts.len() == 1 { 1 } else { panels(&charts) };
            let figure = Figure::new(name, caption).legend(self.legend()).note(note);
            section.figure(figure.lines(columns, charts));
        }
        Some(section)
    }

    fn chart(&self, workload: u64, drawn: &Drawn, windows: &[BTreeMap<u64, Vec<Window>>]) -> Lines {
        let line = |(series, of): (usize, &BTreeMap<u64, Vec<Window>>)| {
            let points = of.get(&workload)?.iter();
            let points = points.map(|window| (window.time_ns, (drawn.value)(window)));
            Some(Line {
                series,
                points: points.filter(|point| !point.1.is_nan()).collect(),
                tooltip: self.summary.order[series].clone(),
                ..Line::default()
            })
        };
        let lines: Vec<Line> = windows.iter().enumerate().filter_map(line).collect();
        let points = || lines.iter().flat_map(|line| &line.points);
        let end = points().map(|point| point.0).fold(0.0, f64::max);
        let most = points().map(|point| point.1).fold(0.0, f64::max);
        let of = self.summary.workload(workload);
        let heading = format!("{of}, {}", drawn.what);
        Lines {
            title: format!("{} over time, {of}", drawn.what),
            heading,
            x: Axis::linear("simulated time", "ns").within(0.0, end),
            y: Axis::linear(drawn.what, drawn.unit).within(0.0, most),
            lines,
            ..Lines::default()
        }
    }
}
