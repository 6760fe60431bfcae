//! The section about single flows over time.

use std::fmt::Write;

use super::network::panels;
use super::section::Section;
use super::{Figure, Legend, Page};
use crate::chart::{Axis, LOOKS, Line, Lines};

impl Page<'_> {
    /// How fast each flow is that has no size, if they were sampled.
    pub(super) fn rates(&self) -> Option<Section> {
        let variants = self.summary.order.iter().enumerate();
        let rates: Vec<_> = variants.map(|(at, name)| (name, self.experiment.rates(at))).collect();
        let mut flows: Vec<u64> =
            rates.iter().flat_map(|(_, rates)| rates.keys().copied()).collect();
        flows.sort_unstable();
        flows.dedup();
        if flows.is_empty() {
            return None;
        }
        let points = || rates.iter().flat_map(|(_, rates)| rates.values()).flatten();
        let most = points().map(|point| point.1 * 1e9).fold(0.0, f64::max);
        let end = points().map(|point| point.0).fold(0.0, f64::max);
        let line = |(flow, points): (&u64, &Vec<(f64, f64)>)| Line {
            series: flows.binary_search(flow).expect("every flow is among them"),
            points: points.iter().map(|(time, gbps)| (*time, gbps * 1e9)).collect(),
            tooltip: self.flow_name(*flow),
            ..Line::default()
        };
        let charts =
            rates.iter().filter(|(_, rates)| !rates.is_empty()).map(|(name, rates)| Lines {
                title: format!("Rate of each flow over time, {name}"),
                heading: (*name).clone(),
                x: Axis::linear("simulated time", "ns").within(0.0, end),
                y: Axis::linear("payload delivered", "b/s").within(0.0, most),
                lines: rates.iter().map(line).collect(),
                ..Lines::default()
            });
        let charts: Vec<Lines> = charts.collect();
        let names = flows.iter().map(|flow| self.flow_name(*flow)).enumerate();
        let legend = Legend::samples(names.collect());
        let mut note = String::from("First replication; flows that never end or are stopped.");
        if flows.len() > LOOKS {
            let _ = write!(
                note,
                " Colors begin again after {LOOKS} flows: a pointer that rests on a line names it."
            );
        }
        let mut section = Section::new("rates", "Rates of flows over time");
        let caption = "Goodput of each flow over time";
        let columns = if charts.len() == 1 { 1 } else { panels(&charts) };
        let figure = Figure::new("rates-over-time", caption).legend(legend).note(&note);
        section.figure(figure.lines(columns, charts));
        Some(section)
    }

    /// What a flow is called: by the name of its workload if it is the only one in it, else `download, flow 0`, or without
    /// such a name `flow 0`.
    fn flow_name(&self, flow: u64) -> String {
        let mut variants = 0..self.summary.order.len();
        let workload = variants.find_map(|at| self.experiment.workload_of(at, flow));
        let name = workload.and_then(|workload| self.summary.workloads.get(workload as usize));
        match name.filter(|name| !name.is_empty()) {
            // The only one of its workload.
            Some(name) if self.experiment.is_alone(flow) => name.clone(),
            Some(name) => format!("{name}, flow {flow}"),
            None => format!("flow {flow}"),
        }
    }
}
