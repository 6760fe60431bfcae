//! The section about web pages.

use super::section::Section;
use super::{Figure, Page};
use crate::chart::Lines;
use crate::web;

impl Page<'_> {
    /// How long web pages take to load.
    pub(super) fn web_pages(&self) -> Option<Section> {
        let mut section = self.groups(
            ("web-pages", "Web pages"),
            [
                ("page load time", web::times_of(self.summary)),
                ("pages not complete at the end", web::incomplete_of(self.summary)),
            ],
            "From the navigation to the last byte of the last object, of navigations in the measured interval. Times are \
             those of complete pages.",
        )?;
        let variants = 0..self.summary.order.len();
        let all: Vec<_> = variants.map(|at| self.experiment.pages(at)).collect();
        let mut workloads: Vec<u64> = all.iter().flat_map(|of| of.keys().copied()).collect();
        workloads.sort_unstable();
        workloads.dedup();
        let chart = |workload: &u64| {
            let of = self.summary.workload(*workload);
            let title = format!("Share of pages that take at most as long, {of}");
            let sketches = all.iter().map(|of| of.get(workload).cloned().unwrap_or_default());
            self.cdf_chart(title, &of, "pages", sketches.collect())
        };
        let charts: Vec<Lines> = workloads.iter().filter_map(chart).collect();
        if !charts.is_empty() {
            let note = "All replications pooled. The line of a variant ends below 1 by the share of pages that were not \
                        complete.";
            let columns = charts.len().min(2);
            let figure = Figure::new("page-load-cdf", "Page load time (CDF)").legend(self.legend());
            section.figure(figure.note(note).lines(columns, charts));
        }
        Some(section)
    }
}
