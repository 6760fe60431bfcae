//! The flows of a run beside those of a file.

use std::collections::BTreeMap;

use floodway_model::Duration;

use super::{Completion, Flow};

/// A flow that has completed in both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// In the run.
    pub run: Flow,
    /// In the file.
    pub file: Completion,
    /// The completion time in the run over that in the file.
    pub ratio: f64,
}

impl Pair {
    /// By how much the completion time in the run is longer, in nanoseconds.
    pub fn difference_ns(&self) -> f64 {
        self.run.fct_ns.unwrap_or(f64::NAN) - self.file.fct_ns as f64
    }

    /// Whether they are the same but for what whole nanoseconds cut off.
    pub fn is_equal(&self) -> bool {
        self.difference_ns().abs() < 1.0
    }

    /// How far they are apart, as a factor of at least 1.
    pub fn factor(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }
}

/// What both have, and what one has alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Flows that have completed in both, in order of their numbers.
    pub pairs: Vec<Pair>,
    /// Flows of the file that have not completed in the run.
    pub unfinished: Vec<(Flow, Completion)>,
    /// Flows that have completed in the run and are not in the file.
    pub only_in_run: Vec<Flow>,
    /// Flows of the file that the run does not have at all, in order of the file.
    pub only_in_file: Vec<Completion>,
}

impl Comparison {
    /// The ratios of all pairs in order.
    fn ratios(&self) -> Vec<f64> {
        let mut ratios: Vec<f64> = self.pairs.iter().map(|pair| pair.ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    /// The ratio below which this part of the pairs is, the nearest; `None` without pairs.
    pub fn quantile(&self, part: f64) -> Option<f64> {
        let ratios = self.ratios();
        let place = (part * ratios.len() as f64).ceil() as usize;
        ratios.get(place.saturating_sub(1)).copied()
    }

    /// The median of the ratios: of an even number the geometric mean of the two in the middle.
    pub fn median(&self) -> Option<f64> {
        let ratios = self.ratios();
        let [low, high] = [(ratios.len().checked_sub(1)?) / 2, ratios.len() / 2];
        Some(if low == high { ratios[low] } else { (ratios[low] * ratios[high]).sqrt() })
    }

    /// How many pairs are equal.
    pub fn equal(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.is_equal()).count()
    }

    /// How many pairs are at most this part apart: 0.01 for 1 %.
    pub fn within(&self, part: f64) -> usize {
        self.pairs.iter().filter(|pair| pair.factor() <= 1.0 + part).count()
    }

    /// Those that are farthest apart, the farthest first; of equals that with the lower number.
    pub fn farthest(&self, count: usize) -> Vec<&Pair> {
        let mut pairs: Vec<&Pair> = self.pairs.iter().collect();
        pairs.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
        pairs.truncate(count);
        pairs
    }
}

/// Compares flows of the same source, destination and bytes whose starts are at most `within` apart,
/// each with the first one that is left.
pub fn compare(run: &[Flow], file: &[Completion], within: Duration) -> Comparison {
    type Which = (u32, u32, u64);
    let mut of_file: BTreeMap<Which, Vec<(usize, Completion)>> = BTreeMap::new();
    for (place, &one) in file.iter().enumerate() {
        of_file.entry((one.src, one.dst, one.bytes)).or_default().push((place, one));
    }
    // From the last, so that the first can be taken off the end.
    for all in of_file.values_mut() {
        all.sort_by_key(|&(place, one)| std::cmp::Reverse((one.start_ns, place)));
    }
    let mut flows: Vec<&Flow> = run.iter().collect();
    flows.sort_by_key(|flow| (flow.start_ps, flow.number));
    let mut comparison = Comparison::default();
    let mut only_in_file = Vec::new();
    for &flow in &flows {
        let left = of_file.entry((flow.src, flow.dst, flow.bytes)).or_default();
        let start = |one: &Completion| u128::from(one.start_ns) * 1_000;
        let (ours, within) = (u128::from(flow.start_ps), u128::from(within.0));
        // Those that are earlier than any flow that is left.
        while left.last().is_some_and(|(_, one)| start(one) + within < ours) {
            only_in_file.extend(left.pop());
        }
        let there = left.last().is_some_and(|(_, one)| start(one) <= ours + within);
        match left.pop_if(|_| there) {
            Some((_, one)) => match flow.fct_ns {
                Some(fct) => {
                    let ratio = fct / one.fct_ns as f64;
                    comparison.pairs.push(Pair { run: *flow, file: one, ratio });
                }
                None => comparison.unfinished.push((*flow, one)),
            },
            None if flow.fct_ns.is_some() => comparison.only_in_run.push(*flow),
            None => {}
        }
    }
    only_in_file.extend(of_file.into_values().flatten());
    only_in_file.sort_by_key(|&(place, _)| place);
    comparison.only_in_file = only_in_file.into_iter().map(|(_, one)| one).collect();
    comparison.pairs.sort_by_key(|pair| pair.run.number);
    comparison.unfinished.sort_by_key(|(flow, _)| flow.number);
    comparison.only_in_run.sort_by_key(|flow| flow.number);
    comparison
}
