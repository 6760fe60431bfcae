//! Several results directories as one experiment, so that what compares variants compares them too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use floodway_model::Table;
use floodway_model::tables::flows;

use crate::directory::{Error, Results};
use crate::manifest::{Manifest, Scenario, Variant};
use crate::{Ending, Experiment, Run, Status, Summary};

/// Replications of other traffic are other replications: they get numbers beyond all others.
const APART: u32 = 1_000_000;

/// Results side by side.
#[derive(Clone, Debug)]
pub struct Together {
    /// What was run: all variants of all directories, named after both.
    pub manifest: Manifest,
    /// The runs.
    pub experiment: Experiment,
    /// The numbers.
    pub summary: Summary,
}

/// The flows of a run that decide whether another one sends the same: number, size and workload.
type Sent = BTreeSet<(u64, u64, u64)>;

fn sent(tables: &[Table]) -> Sent {
    let Some(flows) = flows::View::of(tables) else { return Sent::new() };
    let both = flows.flow.iter().zip(flows.bytes.iter()).zip(flows.workload.iter());
    both.map(|((flow, bytes), workload)| (flow, bytes, workload)).collect()
}

/// Names for results directories: the last part of each path, or the whole path of those whose last part another
/// has too. Fails with a path that is there twice.
pub fn labels<'a>(all: &[&'a Results]) -> Result<Vec<String>, &'a Path> {
    let last = |of: &Results| of.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let label = |of: &&Results| match last(of) {
        Some(name)
            if all.iter().filter(|other| last(other).as_ref() == Some(&name)).count() == 1 =>
        {
            name
        }
        _ => of.path.display().to_string(),
    };
    let labels: Vec<String> = all.iter().map(label).collect();
    match (0..labels.len()).find(|at| labels[..*at].contains(&labels[*at])) {
        Some(at) => Err(&all[at].path),
        None => Ok(labels),
    }
}

impl Together {
    /// All runs of these results, each with a name for people. The first variant of the first is the
    /// baseline. Changes are paired by replication where a directory has the seeds and the flows of the
    /// first one; otherwise there are none, and a caveat says so. Fails if tables cannot be read back.
    pub fn of(all: &[(String, &Results)]) -> Result<Self, Error> {
        let one = all.iter().all(|(_, of)| of.manifest.variants.len() == 1);
        let name = |label: &str, variant: &str| match one {
            true => label.to_owned(),
            false => format!("{label}: {variant}"),
        };
        let variants = all.iter().flat_map(|(label, of)| {
            of.manifest.variants.iter().map(move |variant| Variant {
                name: name(label, &variant.name),
                differs: Vec::new(),
                ..variant.clone()
            })
        });
        let first = &all[0].1.manifest;
        let labels: Vec<&str> = all.iter().map(|(label, _)| label.as_str()).collect();
        let same_facts =
            all.iter().all(|(_, of)| of.manifest.scenario.facts == first.scenario.facts);
        let scenario = Scenario {
            name: labels.join(", "),
            question: format!("How do {} compare?", labels.join(" and ")),
            facts: if same_facts { first.scenario.facts.clone() } else { Vec::new() },
            ..Scenario::default()
        };
        let replications = all.iter().map(|(_, of)| of.manifest.replications).min().unwrap_or(1);
        let manifest = Manifest {
            replications,
            workloads: first.workloads.clone(),
            size_classes: first.size_classes.clone(),
            threads: first.threads,
            wall_s: all.iter().map(|(_, of)| of.manifest.wall_s).sum(),
            ..Manifest::new(scenario, variants.collect())
        };
        let mut experiment = Experiment::new(&manifest);
        // Of the first directory, by replication: seed and flows.
        let mut baseline: BTreeMap<u32, (u64, Sent)> = BTreeMap::new();
        let mut apart = Vec::new();
        for (at, (label, of)) in all.iter().enumerate() {
            let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
            for record in &of.manifest.runs {
                let loaded = of.load(record)?;
                let run = loaded.run();
                let replication = run.replication;
                let number = *numbers.entry(replication).or_insert_with(|| {
                    let mine = (run.seed, sent(run.tables));
                    match (at, baseline.get(&replication)) {
                        (0, None) => {
                            baseline.insert(replication, mine);
                            replication
                        }
                        (0, Some(_)) => replication,
                        (_, Some(theirs)) if *theirs == mine => replication,
                        _ => at as u32 * APART + replication,
                    }
                });
                let variant = name(label, run.variant);
                experiment.add_run(&Run { variant: &variant, replication: number, ..run });
            }
            if numbers.iter().any(|(replication, number)| replication != number) {
                apart.push(label.as_str());
            }
        }
        let ending =
            Ending { status: Status::Complete, wall_s: manifest.wall_s, peak_rss_bytes: None };
        let mut summary = experiment.summary(&ending);
        if !apart.is_empty() {
            let caveat = format!(
                "{}: not the seeds and flows of {}, in some replications or all, so means stand beside each \
                 other there and changes are not paired.",
                apart.join(", "),
                labels[0]
            );
            summary.caveats.insert(0, caveat);
        }
        Ok(Self { manifest: experiment.manifest().clone(), experiment, summary })
    }
}
