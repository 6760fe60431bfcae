//! What arrived of single flows over time, and the rates that follow from it.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::{deliveries, flows};

use crate::fairness::mean_jain;

/// What arrived of one flow over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// Its number.
    pub flow: u64,
    /// The workload that it belongs to.
    pub workload: u64,
    /// When and how much: nanoseconds and bytes, both rising, from its start with nothing to its
    /// end with everything. What lies on a line between its neighbors is left out where nothing
    /// arrived.
    points: Vec<(f64, f64)>,
    /// Whether it finished or was stopped, after which nothing arrives.
    is_over: bool,
}

impl Delivery {
    /// From a start, an end if it finished or was stopped, and samples of what had arrived. A flow that did not
    /// finish ends at its last sample.
    fn new(
        (flow, workload): (u64, u64),
        start_ns: f64,
        end_ns: Option<f64>,
        samples: &[(f64, f64)],
    ) -> Self {
        let inside = |time: f64| time > start_ns && end_ns.is_none_or(|end_ns: f64| time < end_ns);
        let mut points = vec![(start_ns, 0.0)];
        let last = samples.iter().map(|sample| sample.1).fold(0.0, f64::max);
        let end = end_ns.map(|end_ns| (end_ns, last));
        for point in samples.iter().copied().filter(|sample| inside(sample.0)).chain(end) {
            if let [.., a, b] = points[..]
                && a.1 == point.1
                && b.1 == point.1
            {
                points.pop();
            }
            points.push(point);
        }
        // Hundreds of runs with twenty flows each are kept.
        points.shrink_to_fit();
        Self { flow, workload, points, is_over: end_ns.is_some() }
    }

    /// A time, or the last sample of a flow that was not over by then: what arrived afterwards is not known.
    pub fn known_until(&self, time_ns: f64) -> f64 {
        if self.is_over { time_ns } else { time_ns.min(self.end_ns()) }
    }

    /// When it starts, in nanoseconds.
    pub fn start_ns(&self) -> f64 {
        self.points[0].0
    }

    /// When it ends, or the last that is known of it, in nanoseconds.
    pub fn end_ns(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }

    /// How many bytes had arrived at a time, in nanoseconds; evenly between samples.
    fn by(&self, time_ns: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= time_ns);
        match (after.checked_sub(1).map(|before| self.points[before]), self.points.get(after)) {
            (None, _) => 0.0,
            (Some(before), None) => before.1,
            (Some(before), Some(after)) => {
                before.1 + (after.1 - before.1) * (time_ns - before.0) / (after.0 - before.0)
            }
        }
    }

    /// Its mean rate from one time to another in nanoseconds, in Gb/s.
    pub fn gbps(&self, from_ns: f64, to_ns: f64) -> f64 {
        (self.by(to_ns) - self.by(from_ns)) * 8.0 / (to_ns - from_ns)
    }

    /// Whether it is there the whole of the time.
    fn is_active(&self, from_ns: f64, to_ns: f64) -> bool {
        self.start_ns() <= from_ns && self.end_ns() >= to_ns
    }
}

/// What arrived of the flows that a run followed (table `deliveries`).
#[derive(Clone, Debug, PartialEq)]
pub struct Deliveries {
    /// The flows by number.
    pub flows: Vec<Delivery>,
}

impl Deliveries {
    /// From the tables of a run, `deliveries` and `flows`. None if no flow was followed.
    pub fn of(tables: &[Table]) -> Option<Self> {
        let (deliveries, flows) = (deliveries::View::of(tables)?, flows::View::of(tables)?);
        let mut samples: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        let (times, bytes) = (deliveries.time_ns, deliveries.delivered_bytes);
        for (at, flow) in deliveries.flow.iter().enumerate() {
            samples.entry(*flow).or_default().push((times[at], bytes[at] as f64));
        }
        let (starts, fct) = (flows.start_ns, flows.fct_ns);
        let (stops, workloads) = (flows.stop_ns, flows.workload);
        let numbers = flows.flow.iter().enumerate();
        let places: BTreeMap<u64, usize> = numbers
            .filter(|(_, flow)| samples.contains_key(flow))
            .map(|(at, flow)| (flow, at))
            .collect();
        let one = |(flow, mut samples): (u64, Vec<(f64, f64)>)| {
            let at = *places.get(&flow)?;
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            let finished = Some(starts.at(at) + fct.at(at)).filter(|end| end.is_finite());
            // What was on its way when a flow was stopped is not a rate of its any more.
            let stop = Some(stops.at(at)).filter(|stop| stop.is_finite() && finished.is_none());
            samples.retain(|sample| stop.is_none_or(|stop| sample.0 <= stop));
            let end = finished.or(stop);
            Some(Delivery::new((flow, workloads.at(at)), starts.at(at), end, &samples))
        };
        let flows: Vec<Delivery> = samples.into_iter().filter_map(one).collect();
        (!flows.is_empty()).then_some(Self { flows })
    }

    /// From the first start to the last end, in pieces of the same length in nanoseconds; what is
    /// left over at the end is no whole piece and is left out.
    pub fn windows(&self, length_ns: f64) -> Vec<(f64, f64)> {
        let start = self.flows.iter().map(Delivery::start_ns).fold(f64::INFINITY, f64::min);
        let end = self.flows.iter().map(Delivery::end_ns).fold(f64::NEG_INFINITY, f64::max);
        let many = libm::floor((end - start) / length_ns * (1.0 + 1e-12)).max(0.0) as usize;
        let edge = |at: usize| start + at as f64 * length_ns;
        (0..many).map(|at| (edge(at), edge(at + 1))).collect()
    }

    /// Jain's fairness index in windows of this length in nanoseconds, averaged over those in which
    /// at least two flows are there from beginning to end; none if there is no such window. A window
    /// should hold many packets of each flow: the shorter, the less fair is what is fair on average.
    pub fn fairness(&self, length_ns: f64) -> Option<f64> {
        let rates = |(from, to): &(f64, f64)| -> Vec<f64> {
            let active = self.flows.iter().filter(|flow| flow.is_active(*from, *to));
            active.map(|flow| flow.gbps(*from, *to)).collect()
        };
        let rates: Vec<Vec<f64>> = self.windows(length_ns).iter().map(rates).collect();
        mean_jain(rates.iter().map(|rates| (length_ns, rates.as_slice())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    /// Two flows of 1000 bytes: the first from 0 to 200 ns, the second from 100 to 200 ns; a third
    /// never ends and starves.
    fn tables() -> (Table, Table) {
        let flows = complete(
            Table::new("flows", "")
                .u64("flow", "", vec![4, 5, 6, 7])
                .u64("workload", "", vec![0, 0, 1, 1])
                .f64("start_ns", "", vec![0.0, 100.0, 100.0, 0.0])
                .f64("fct_ns", "", vec![200.0, 100.0, f64::NAN, 1.0])
                .f64("stop_ns", "", vec![f64::NAN; 4]),
        );
        // Sampled every 50 ns; the first flow has 600 bytes in the first half.
        let rows = [
            (50.0, 4, 300),
            (100.0, 4, 600),
            (150.0, 4, 800),
            (150.0, 5, 500),
            (150.0, 6, 0),
            (200.0, 4, 1_000),
            (200.0, 5, 1_000),
            (200.0, 6, 0),
            (250.0, 4, 1_000),
            (250.0, 5, 1_000),
            (250.0, 6, 0),
            (300.0, 6, 0),
        ];
        let deliveries = complete(
            Table::new("deliveries", "")
                .f64("time_ns", "", rows.iter().map(|row| row.0).collect())
                .u64("flow", "", rows.iter().map(|row| row.1).collect())
                .u64("delivered_bytes", "", rows.iter().map(|row| row.2).collect()),
        );
        (deliveries, flows)
    }

    fn example() -> Deliveries {
        let (deliveries, flows) = tables();
        Deliveries::of(&[deliveries, flows]).unwrap()
    }

    #[test]
    fn rates_are_differences_of_what_arrived() {
        let of = example();
        let flows: Vec<_> = of.flows.iter().map(|flow| (flow.flow, flow.workload)).collect();
        assert_eq!(flows, [(4, 0), (5, 0), (6, 1)]);
        let ends = of.flows.iter().map(|flow| (flow.start_ns(), flow.end_ns()));
        assert_eq!(ends.collect::<Vec<_>>(), [(0.0, 200.0), (100.0, 200.0), (100.0, 300.0)]);
        // 600 bytes in 100 ns are 48 Gb/s.
        assert_eq!(of.flows[0].gbps(0.0, 100.0), 48.0);
        assert_eq!(of.flows[0].gbps(100.0, 200.0), 32.0);
        // Half of the samples' distance, evenly: 150 bytes in 25 ns.
        assert_eq!(of.flows[0].gbps(25.0, 50.0), 48.0);
        assert_eq!(of.flows[1].gbps(0.0, 100.0), 0.0);
        assert_eq!(of.flows[1].gbps(50.0, 250.0), 40.0, "1000 bytes in 200 ns");
        assert_eq!(of.flows[2].gbps(100.0, 300.0), 0.0);
        // The third was not over at its last sample, and the first was.
        assert_eq!(of.flows[2].known_until(350.0), 300.0);
        assert_eq!(of.flows[0].known_until(350.0), 350.0);
        // Of the third's five points its start and its end are kept.
        assert_eq!(of.flows[2].points, [(100.0, 0.0), (300.0, 0.0)]);
    }

    #[test]
    fn only_whole_windows_with_company_are_fair_or_not() {
        let of = example();
        assert_eq!(of.windows(100.0), [(0.0, 100.0), (100.0, 200.0), (200.0, 300.0)]);
        assert_eq!(of.windows(130.0).len(), 2);
        // Alone; then rates of 32, 80 and 0 Gb/s: 112² / (3 · (1024 + 6400)); then alone.
        let index = of.fairness(100.0).unwrap();
        assert!((index - 12_544.0 / 22_272.0).abs() < 1e-12, "{index}");
        assert_eq!(of.fairness(1_000.0), None);
    }

    #[test]
    fn without_samples_there_is_nothing() {
        let (_, flows) = tables();
        let empty = complete(
            Table::new("deliveries", "").f64("time_ns", "", vec![]).u64("flow", "", vec![]).u64(
                "delivered_bytes",
                "",
                vec![],
            ),
        );
        assert_eq!(Deliveries::of(&[empty, flows]), None);
    }

    #[test]
    fn a_flow_that_was_stopped_ends_there() {
        let flows = complete(
            Table::new("flows", "")
                .u64("flow", "", vec![0, 1])
                .u64("workload", "", vec![0, 0])
                .f64("start_ns", "", vec![0.0, 0.0])
                .f64("stop_ns", "", vec![100.0, f64::NAN])
                .f64("fct_ns", "", vec![f64::NAN; 2]),
        );
        let deliveries = complete(
            Table::new("deliveries", "")
                .f64("time_ns", "", vec![100.0, 100.0, 200.0, 200.0])
                .u64("flow", "", vec![0, 1, 0, 1])
                .u64("delivered_bytes", "", vec![500, 500, 510, 1_500]),
        );
        let of = Deliveries::of(&[deliveries, flows]).unwrap();
        assert_eq!(of.flows[0].end_ns(), 100.0);
        // Equal shares while both are there; afterwards there is one only, and nothing to share.
        assert_eq!(of.fairness(100.0), Some(1.0));
    }
}
