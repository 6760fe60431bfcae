//! Where the time goes that flows save or lose in one variant against another: both carry the same flows, so the
//! parts of each flow are subtracted, pair by pair.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::Delay;
use serde_json::{Value, json};

use super::text::columns;
use super::{Explanation, Group, Port};
use crate::metrics::SizeClasses;
use crate::statistics::{Estimate, Scale};
use crate::words;

/// Roots of pauses that are shown of a group of flows.
const ROOTS: usize = 3;
/// The share of the completion time below which delays are short.
const BRIEF: f64 = 1e-3;

/// Totals by workload and size class.
type Groups = BTreeMap<(usize, usize), Group>;

/// A variant beside a baseline, over replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// The names of the baseline and of the variant.
    names: [String; 2],
    workloads: BTreeMap<usize, String>,
    classes: SizeClasses,
    /// Of each replication its number, the baseline and the variant.
    pairs: Vec<(u32, [Groups; 2])>,
}

/// What a group of flows spends time on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// All of its time.
    All,
    /// Serialization and propagation.
    Ideal,
    /// A delay.
    Delay(Delay),
    /// Pauses with this root.
    Root(Port),
    /// Several delays of which each is short.
    Rest(Vec<Delay>),
}

/// Mean times over flows, in ns: of the baseline, of the variant, and their difference with its interval.
struct Row {
    what: What,
    means: [f64; 2],
    difference: Estimate,
}

impl What {
    fn time(&self, of: &Group) -> u64 {
        match self {
            Self::All => of.total,
            Self::Ideal => of.ideal(),
            Self::Delay(delay) => of.by_delay.get(delay).copied().unwrap_or(0),
            Self::Root(port) => of.by_root.get(port).copied().unwrap_or(0),
            Self::Rest(delays) => delays
                .iter()
                .fold(0, |sum: u64, delay| sum.saturating_add(Self::Delay(*delay).time(of))),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::All => "completion time".to_owned(),
            Self::Ideal => "  ideal: serialization and propagation".to_owned(),
            Self::Delay(delay) => format!("  {}", delay.words()),
            Self::Root(port) => format!("    because of {port}"),
            Self::Rest(_) => "  all else".to_owned(),
        }
    }
}

impl Row {
    /// Over replications, each with the totals of the baseline and of the variant.
    fn new(what: What, pairs: &[[&Group; 2]]) -> Self {
        let count = pairs.len() as f64;
        let mean_of =
            |side: usize| pairs.iter().map(|pair| mean(pair[side], &what)).sum::<f64>() / count;
        let differences = pairs.iter().map(|[a, b]| mean(b, &what) - mean(a, &what));
        let difference = Estimate::of(differences, Scale::REAL);
        Self { means: [mean_of(0), mean_of(1)], difference, what }
    }

    fn largest(&self) -> f64 {
        self.means[0].max(self.means[1])
    }
}

/// The mean time of a flow, in ns.
fn mean(of: &Group, what: &What) -> f64 {
    what.time(of) as f64 / 1e3 / of.flows as f64
}

impl Against {
    /// A comparison without replications.
    pub fn new(baseline: &str, variant: &str, classes: &SizeClasses) -> Self {
        let names = [baseline.to_owned(), variant.to_owned()];
        let classes = classes.clone();
        Self { names, workloads: BTreeMap::new(), classes, pairs: Vec::new() }
    }

    /// Adds a replication. The sample of both explanations must be the same flows.
    pub fn add(&mut self, replication: u32, baseline: &Explanation, variant: &Explanation) {
        debug_assert_eq!(baseline.sample, variant.sample, "flows are paired");
        let groups = [baseline, variant].map(Explanation::groups);
        for (workload, _) in groups[0].keys() {
            self.workloads.entry(*workload).or_insert_with(|| baseline.workload(*workload));
        }
        self.pairs.push((replication, groups));
    }

    /// Whether no replication was added.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The replications in which there are such flows: the baseline's and the variant's totals of each.
    fn pairs_of(&self, which: (usize, usize)) -> Vec<[&Group; 2]> {
        let all = self.pairs.iter();
        all.filter_map(|(_, [a, b])| Some([a.get(&which)?, b.get(&which)?])).collect()
    }

    /// The rows of a group of flows: all of the time, and its parts. A root of pauses has a row if it is one in every
    /// replication: only then do replications say how much its pauses vary. In a brief list, delays that are short in
    /// both variants are one row.
    fn rows(pairs: &[[&Group; 2]], is_brief: bool) -> Vec<Row> {
        let row = |what: What| Row::new(what, pairs);
        let all = row(What::All);
        let least = if is_brief { BRIEF * all.largest() } else { 0.0 };
        let delays: BTreeSet<Delay> =
            pairs.iter().flatten().flat_map(|group| group.by_delay.keys().copied()).collect();
        let delays = delays.into_iter().filter(|delay| !delay.is_ideal());
        let (long, short): (Vec<Row>, Vec<Row>) =
            delays.map(|delay| row(What::Delay(delay))).partition(|row| row.largest() >= least);
        let mut rows = vec![all, row(What::Ideal)];
        for delay in long {
            let is_paused = delay.what == What::Delay(Delay::Paused);
            rows.push(delay);
            if is_paused {
                rows.extend(Self::roots(pairs));
            }
        }
        let short: Vec<Delay> = short
            .into_iter()
            .filter_map(|row| if let What::Delay(delay) = row.what { Some(delay) } else { None })
            .collect();
        if !short.is_empty() {
            rows.push(row(What::Rest(short)));
        }
        rows
    }

    /// The roots of pauses that cost most, of those that are roots in every replication.
    fn roots(pairs: &[[&Group; 2]]) -> Vec<Row> {
        let is_root = |port: &&Port| {
            pairs.iter().all(|pair| pair.iter().any(|group| group.by_root.contains_key(*port)))
        };
        let first = pairs.first().into_iter().flatten();
        let ports: BTreeSet<&Port> =
            first.flat_map(|group| group.by_root.keys()).filter(is_root).collect();
        let mut rows: Vec<Row> =
            ports.into_iter().map(|port| Row::new(What::Root(port.clone()), pairs)).collect();
        rows.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
        rows.truncate(ROOTS);
        rows
    }

    /// The groups of flows, with their rows.
    fn groups(&self, is_brief: bool) -> Vec<((usize, usize), usize, Vec<Row>)> {
        let keys: BTreeSet<(usize, usize)> =
            self.pairs.iter().flat_map(|(_, [baseline, _])| baseline.keys().copied()).collect();
        let group = |which: (usize, usize)| {
            let pairs = self.pairs_of(which);
            let flows = pairs.iter().map(|[baseline, _]| baseline.flows).sum();
            (which, flows, Self::rows(&pairs, is_brief))
        };
        keys.into_iter().map(group).filter(|(_, flows, _)| *flows > 0).collect()
    }

    fn name(&self, (workload, class): (usize, usize)) -> String {
        format!("{}, {}", self.workloads[&workload], self.classes.label(class))
    }

    /// For people.
    pub fn text(&self) -> String {
        let [baseline, variant] = &self.names;
        let replications: Vec<String> =
            self.pairs.iter().map(|(replication, _)| replication.to_string()).collect();
        let mut text = match replications.len() {
            1 => format!("{variant} against {baseline}, replication {}", replications[0]),
            _ => {
                format!("{variant} against {baseline}, replications {}", words::list(&replications))
            }
        };
        text += ": mean times of flows that completed in both\n";
        for (which, flows, rows) in self.groups(true) {
            let flows = words::count(flows as f64);
            let head =
                [&format!("{} ({flows} flows)", self.name(which)), baseline, variant, "difference"];
            let cells = rows.iter().map(|row| {
                let [a, b] = row.means.map(|mean| words::quantity(mean, "ns"));
                vec![row.what.words(), a, b, signed(&row.difference)]
            });
            let head: Vec<String> = head.into_iter().map(|word| word.to_string()).collect();
            text += &columns(&std::iter::once(head).chain(cells).collect::<Vec<_>>());
        }
        match replications.len() {
            1 => text + "\nThere is one replication, so no interval is known.\n",
            _ => text + "\nIn brackets: 95 % intervals over replications.\n",
        }
    }

    /// For programs. Times are means over flows, in ns; the sum of the parts is the completion time.
    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            let mut value = json!({
                "baseline_ns": row.means[0],
                "variant_ns": row.means[1],
                "difference_ns": row.difference.mean,
                "low_ns": row.difference.low,
                "high_ns": row.difference.high,
                "replications": row.difference.n,
            });
            match &row.what {
                What::All => value["part"] = "completion".into(),
                What::Ideal => value["part"] = "ideal".into(),
                What::Delay(delay) => value["part"] = delay.name().into(),
                // Only brief lists have it.
                What::Rest(_) => value["part"] = "rest".into(),
                What::Root(port) => {
                    value["part"] = Delay::Paused.name().into();
                    value["root"] = port.to_string().into();
                }
            }
            value
        };
        let groups = self.groups(false);
        let groups = groups.iter().map(|((workload, class), flows, rows)| {
            json!({
                "workload": self.workloads[workload],
                "size_class": self.classes.key(*class),
                "flows": flows,
                "parts": rows.iter().map(row).collect::<Vec<_>>(),
            })
        });
        let replications: Vec<u32> = self.pairs.iter().map(|(number, _)| *number).collect();
        json!({
            "baseline": self.names[0],
            "variant": self.names[1],
            "replications": replications,
            "groups": groups.collect::<Vec<_>>(),
        })
    }
}

/// A difference of times with its sign, and its interval in the same unit.
fn signed(difference: &Estimate) -> String {
    let mean = difference.mean.unwrap_or(0.0);
    let sign = if mean > 0.0 { "+" } else { "" };
    let mut text = format!("{sign}{}", words::quantity(mean, "ns"));
    if let Some(interval) = difference.interval() {
        text += &format!(" {}", words::range(mean, interval, "ns"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(flows: usize, paused: u64, rate: u64, root: &str) -> Group {
        let port = Port { node: root.to_owned(), port: 0, peer: "host 1".to_owned() };
        Group {
            flows,
            stand_for: flows as f64,
            total: 10_000 + paused + rate,
            by_delay: BTreeMap::from([
                (Delay::Serialization, 10_000),
                (Delay::Paused, paused),
                (Delay::Rate, rate),
            ]),
            by_root: BTreeMap::from([(port, paused)]),
        }
    }

    fn against(pairs: Vec<[Group; 2]>) -> Against {
        let mut against = Against::new("pfc", "ci", &SizeClasses::default());
        against.workloads.insert(0, "web".to_owned());
        for (replication, pair) in pairs.into_iter().enumerate() {
            let pair = pair.map(|group| BTreeMap::from([((0, 0), group)]));
            against.pairs.push((replication as u32, pair));
        }
        against
    }

    /// Pauses take 40 and 60 ns of each of two flows before, and nothing after; the rate costs 5 and 15 ns more. The
    /// differences of the completion times are -35 and -45: mean -40, s = 7.07, t(1) = 12.706, half 12.706 · 7.07/√2.
    #[test]
    fn differences_are_paired_by_replication() {
        let of = against(vec![
            [group(2, 80_000, 0, "leaf 0"), group(2, 0, 10_000, "leaf 0")],
            [group(2, 120_000, 0, "leaf 0"), group(2, 0, 30_000, "leaf 0")],
        ]);
        let value = of.json();
        let parts = value["groups"][0]["parts"].as_array().unwrap();
        let completion = &parts[0];
        assert_eq!(
            (&completion["part"], &completion["baseline_ns"]),
            (&"completion".into(), &55.0.into())
        );
        assert_eq!(completion["difference_ns"], -40.0);
        let high = completion["high_ns"].as_f64().unwrap();
        assert!((high - (-40.0 + 12.7062 * 5.0)).abs() < 1e-3, "{high}");
        let of_part = |name: &str| {
            let own = parts.iter().filter(|part| part["part"] == name && part["root"].is_null());
            own.map(|part| part["difference_ns"].as_f64().unwrap()).sum::<f64>()
        };
        assert_eq!((of_part("paused"), of_part("rate"), of_part("ideal")), (-50.0, 10.0, 0.0));
        assert!(parts.iter().any(|part| part["root"] == "leaf 0 to host 1"));
        let text = of.text();
        for words in [
            "ci against pfc, replications 0 and 1",
            "web, ",
            "(4 flows)",
            "because of leaf 0 to host 1",
            "-50.0 ns [",
            "+10.0 ns [",
        ] {
            assert!(text.contains(words), "{words}:\n{text}");
        }
    }

    #[test]
    fn a_root_of_some_replications_has_no_row() {
        let of = against(vec![
            [group(1, 80_000, 0, "leaf 0"), group(1, 0, 0, "leaf 0")],
            [group(1, 80_000, 0, "leaf 1"), group(1, 0, 0, "leaf 1")],
        ]);
        assert!(!of.text().contains("because of"), "{}", of.text());
    }

    #[test]
    fn one_replication_has_no_interval() {
        let of = against(vec![[group(1, 80_000, 3, "leaf 0"), group(1, 0, 3, "leaf 0")]]);
        let text = of.text();
        assert!(text.contains("-80.0 ns\n"), "{text}");
        assert!(text.contains("There is one replication, so no interval is known."), "{text}");
        // Three picoseconds of 90 ns have no row of their own.
        assert!(text.contains("all else") && !text.contains("congestion control"), "{text}");
    }
}
