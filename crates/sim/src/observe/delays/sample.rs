//! Which flows are followed.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::flow::numbered;
use floodway_model::{FlowId, FlowSpec, Instant, Program};
use serde::{Deserialize, Serialize};

use crate::Spec;

/// Measured flows to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// At most so many.
    pub flows: u32,
    /// Their share of the bytes of all measured flows, about. In a small network it is more.
    pub share: f64,
}

/// Which flows are explained.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// The flows that are followed.
    pub flows: Vec<FlowId>,
    /// Of each of them, the number of measured flows that it stands for; 1 if the list is shorter.
    pub stands_for: Vec<f64>,
    /// Those of them whose parts are all kept.
    pub detailed: Vec<FlowId>,
    /// Besides, so many with the largest slowdown.
    pub slowest: usize,
    /// Whether the packets of those that are detailed by name are explained one by one, too.
    pub packets: bool,
}

/// Flows that are detailed in a run that explains delays.
const SLOWEST: usize = 10;

/// So many bytes are followed in any case: a fraction of a second.
const FREE: f64 = 20e6;

/// Flows of one workload whose sizes are between two powers of two.
struct Stratum {
    flows: Vec<FlowId>,
    bytes: u64,
}

impl Stratum {
    fn count(&self) -> f64 {
        self.flows.len() as f64
    }

    /// How many of its flows are followed, if each may cost this many bytes on average.
    fn followed(&self, cost: f64) -> f64 {
        let mean = self.bytes as f64 / self.count();
        self.count() * (cost / mean).min(1.0)
    }
}

impl Chosen {
    /// A stratified sample: of flows of the same workload and of similar size the same fraction is followed, evenly
    /// spread over their numbers. To follow a flow costs time in proportion to its size, so of large flows it is a
    /// smaller fraction, in inverse proportion to the size.
    pub fn sample(spec: &Spec, sample: Sample) -> Self {
        let mut strata = strata(spec);
        if strata.len() > sample.flows as usize {
            // Not one of each: all flows are alike then.
            let mut flows: Vec<FlowId> = strata.iter().flat_map(|of| &of.flows).copied().collect();
            flows.sort_unstable();
            strata = vec![Stratum { flows, bytes: strata.iter().map(|of| of.bytes).sum() }];
        }
        let all: f64 = strata.iter().map(|stratum| stratum.bytes as f64).sum();
        let cost = cost(&strata, (sample.share * all).max(FREE));
        let wanted: f64 = strata.iter().map(|stratum| stratum.followed(cost)).sum();
        let fraction = (f64::from(sample.flows) / wanted).min(1.0);
        let mut chosen: Vec<(FlowId, f64)> = Vec::new();
        for stratum in &strata {
            // The cost is known up to rounding.
            let count = (stratum.followed(cost) * fraction * (1.0 + 1e-9)).floor().max(1.0);
            let at = |place: f64| stratum.flows[(place * stratum.count() / count) as usize];
            let one = |place: u32| (at(place.into()), stratum.count() / count);
            chosen.extend((0..count as u32).map(one));
        }
        chosen.sort_by_key(|(flow, _)| *flow);
        let (flows, stands_for) = chosen.into_iter().unzip();
        Self { flows, stands_for, slowest: SLOWEST, ..Self::default() }
    }
}

/// The measured flows with a size.
fn strata(spec: &Spec) -> Vec<Stratum> {
    let mut begins: BTreeSet<FlowId> = spec.triggers.iter().map(|trigger| trigger.begins).collect();
    begins.extend(spec.programs.iter().flat_map(Program::sent).map(|(_, flow)| flow));
    let depends = |id: FlowId, flow: &FlowSpec| flow.in_turn || begins.contains(&id);
    let mut strata: BTreeMap<(u32, u32), Stratum> = BTreeMap::new();
    for (id, flow) in numbered(&spec.flows) {
        let is_late = flow.start >= Instant(spec.warmup.0) || depends(id, flow);
        if is_late && !flow.is_persistent() {
            let key = (flow.workload.into(), flow.bytes.max(1).ilog2());
            let empty = Stratum { flows: Vec::new(), bytes: 0 };
            let stratum = strata.entry(key).or_insert(empty);
            stratum.flows.push(id);
            stratum.bytes += flow.bytes.max(1);
        }
    }
    strata.into_values().collect()
}

/// The largest cost of a flow with which all that are followed have at most so many bytes; infinite if there are
/// not so many.
fn cost(strata: &[Stratum], bytes: f64) -> f64 {
    let total = |cost: f64| -> f64 {
        let of =
            |stratum: &Stratum| stratum.followed(cost) * stratum.bytes as f64 / stratum.count();
        strata.iter().map(of).sum()
    };
    if total(f64::INFINITY) <= bytes {
        return f64::INFINITY;
    }
    // The total rises with the cost, and flows have below 2^64 bytes.
    let (mut low, mut high) = (0.0, u64::MAX as f64);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if total(middle) <= bytes { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small;
    use floodway_model::Duration;

    /// 1,000 flows of 1 MB and ten of 10 GB, all of which are measured.
    fn spec() -> Spec {
        let size = |number| if number % 101 == 0 { 10_000_000_000 } else { 1_000_000 };
        let flows = (0..1_010).map(|number| small::flow(0, 1, size(number), 0)).collect();
        small::spec(small::star(2), flows, Duration::from_ms(1))
    }

    /// The followed flows by size, with what they stand for in all.
    fn chosen(flows: u32, share: f64) -> [(usize, f64); 2] {
        let spec = spec();
        let chosen = Chosen::sample(&spec, Sample { flows, share });
        assert!(chosen.flows.is_sorted());
        let of = |bytes: u64| {
            let all = chosen.flows.iter().zip(&chosen.stands_for);
            let of = all.filter(|(flow, _)| spec.flows[flow.index()].bytes == bytes);
            of.fold((0, 0.0), |(count, sum), (_, stands_for)| (count + 1, sum + stands_for))
        };
        [of(1_000_000), of(10_000_000_000)]
    }

    #[test]
    fn large_flows_are_sampled_and_stand_for_others() {
        assert_eq!(chosen(10_000, 1.0), [(1_000, 1_000.0), (10, 10.0)]);
        // 32 of 101 GB: all small flows (1 GB), and one of the large ones for each 10 GB that are left.
        assert_eq!(chosen(10_000, 0.32), [(1_000, 1_000.0), (3, 10.0)]);
        // At least one.
        assert_eq!(chosen(10_000, 0.001), [(100, 1_000.0), (1, 10.0)]);
        // Fewer than there are sizes: any.
        assert_eq!(chosen(1, 1.0), [(0, 0.0), (1, 1_010.0)]);
        // Both by the number: a tenth of each.
        assert_eq!(chosen(101, 1.0), [(100, 1_000.0), (1, 10.0)]);
    }
}
