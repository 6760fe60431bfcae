//! The measured flows of a run, in little memory: there may be millions of them, and those of a baseline are kept until
//! all other variants of its replication have been compared with it.

use floodway_model::tables::flows;
use floodway_model::{Numbers, Table};

/// One measured flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowTime {
    /// Its number, the same in every variant.
    pub flow: u64,
    /// Its size.
    pub bytes: u64,
    /// Which workload of the scenario made it, counted from 0.
    pub workload: u64,
    /// Its completion time; of a flow that had not completed when the run ended, the time that it had
    /// taken until then.
    pub fct_ns: f64,
    /// That time over the completion time in an idle network, of a flow that had not completed at least 1;
    /// NaN where it is not known.
    pub slowdown: f64,
    /// Whether it completed.
    pub finished: bool,
}

/// The measured flows of a run (table `flows`) that ended at `end_ns`, by number. Those that had not
/// completed count with the time that they had taken by then: their means are restricted means
/// (Royston and Parmar, "Restricted mean survival time", BMC Medical Research Methodology 13, 2013).
pub fn flow_times(tables: &[Table], end_ns: f64) -> Vec<FlowTime> {
    let Some(flows) = flows::View::of(tables) else { return Vec::new() };
    let mut times: Vec<FlowTime> = measured(flows, end_ns).collect();
    times.sort_by_key(|time| time.flow);
    times
}

/// The measured flows, in order of row.
fn measured(flows: flows::View<'_>, end_ns: f64) -> impl Iterator<Item = FlowTime> {
    let row = move |at: usize| {
        let (fct_ns, ideal) = (flows.fct_ns.at(at), flows.ideal_fct_ns.at(at));
        let finished = !fct_ns.is_nan();
        let fct_ns = if finished { fct_ns } else { end_ns - flows.start_ns.at(at) };
        FlowTime {
            flow: flows.flow.at(at),
            bytes: flows.bytes.at(at),
            workload: flows.workload.at(at),
            fct_ns,
            // No flow is faster than the network allows, however short the time so far.
            slowdown: if finished || ideal.is_nan() {
                fct_ns / ideal
            } else {
                (fct_ns / ideal).max(1.0)
            },
            finished,
        }
    };
    (0..flows.rows()).filter(move |at| flows.measured.at(*at) == 1).map(row)
}

/// The measured flows of a run by number, packed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowTimes {
    flows: Numbers<u64>,
    bytes: Numbers<u64>,
    workloads: Numbers<u64>,
    fct_ns: Numbers<f64>,
    slowdowns: Numbers<f64>,
    finished: Numbers<u64>,
}

impl FlowTimes {
    /// Those that [`flow_times`] has.
    pub fn of(tables: &[Table], end_ns: f64) -> Self {
        match flows::View::of(tables) {
            Some(flows) if flows.flow.iter().is_sorted() => measured(flows, end_ns).collect(),
            _ => flow_times(tables, end_ns).into_iter().collect(),
        }
    }

    /// Adds a flow, with a larger number than all others.
    pub fn push(&mut self, time: FlowTime) {
        self.flows.push(time.flow);
        self.bytes.push(time.bytes);
        self.workloads.push(time.workload);
        self.fct_ns.push(time.fct_ns);
        self.slowdowns.push(time.slowdown);
        self.finished.push(time.finished.into());
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = FlowTime> + Clone + '_ {
        (0..self.flows.len()).map(|at| FlowTime {
            flow: self.flows.at(at),
            bytes: self.bytes.at(at),
            workload: self.workloads.at(at),
            fct_ns: self.fct_ns.at(at),
            slowdown: self.slowdowns.at(at),
            finished: self.finished.at(at) == 1,
        })
    }

    /// Their sizes.
    pub fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.bytes.iter()
    }
}

impl FromIterator<FlowTime> for FlowTimes {
    fn from_iter<I: IntoIterator<Item = FlowTime>>(times: I) -> Self {
        let mut all = Self::default();
        times.into_iter().for_each(|time| all.push(time));
        all
    }
}
