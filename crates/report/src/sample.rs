//! A sample of a study's runs, kept beside its text, so that anybody can run these again and see
//! whether the published results are those of the version at hand.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{self, Checksum};
use crate::study::README;

/// The file beside the text of a study.
pub const SAMPLE: &str = "sample.json";

/// Runs that a sample has at most.
const RUNS: usize = 12;
/// Packet-hops of a run that may be in a sample: about a second.
const HOPS_OF_RUN: u64 = 10_000_000;
/// Packet-hops of a whole sample.
const HOPS: u64 = 30_000_000;

/// What [`SAMPLE`] holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The study's name.
    pub study: String,
    /// How thorough it was.
    pub level: String,
    /// Settings that were changed for all experiments.
    pub settings: Vec<String>,
    /// The version of the program.
    pub floodway: String,
    /// The fingerprints of all runs of the study in one, which the text has too.
    pub fingerprint: String,
    /// Some of its runs.
    pub runs: Vec<Sampled>,
}

/// One run of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// The experiment of the study.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// The replication, counted from 0.
    pub replication: u32,
    /// Packet-hops.
    pub packet_hops: u64,
    /// The fingerprint of its tables, in hexadecimal.
    pub fingerprint: String,
}

/// Why a sample cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not there.
    #[error(
        "there is no `{SAMPLE}` in `{0}`, so no run can be compared; give the folder of published \
         results, or publish the study again: `floodway study` writes the file into `text`"
    )]
    Missing(PathBuf),
    /// It cannot be understood.
    #[error(
        "cannot read `{0}`: {1}; restore the file that was published, or publish the study again"
    )]
    Damaged(PathBuf, String),
}

/// The runs to keep of all runs of a study. Of runs of at most 10 million packet-hops, in the order of a
/// hash of their names: one of each experiment, then another of each, as long as they have at most 30
/// million packet-hops together and are at most twelve. Without any run so short, the shortest one.
/// The choice depends on nothing but the runs; those chosen are in the order of the study.
pub fn choose(runs: &[Sampled]) -> Vec<Sampled> {
    let mut short: Vec<_> =
        (0..runs.len()).filter(|&at| runs[at].packet_hops <= HOPS_OF_RUN).collect();
    short.sort_by_key(|&at| (hash(&runs[at]), at));
    // Of each experiment: how many come before it in this order.
    let mut before = BTreeMap::<&str, usize>::new();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for at in short {
        let round = before.entry(&runs[at].experiment).or_default();
        order.push((*round, at));
        *round += 1;
    }
    // Stable: within a round the order of the hash stays.
    order.sort_by_key(|&(round, _)| round);
    let (mut chosen, mut hops) = (Vec::new(), 0);
    for (_, at) in order {
        if chosen.len() < RUNS && hops + runs[at].packet_hops <= HOPS {
            hops += runs[at].packet_hops;
            chosen.push(at);
        }
    }
    if chosen.is_empty() {
        chosen.extend((0..runs.len()).min_by_key(|&at| (runs[at].packet_hops, at)));
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| runs[at].clone()).collect()
}

fn hash(run: &Sampled) -> u64 {
    let mut sum = Checksum::new();
    sum.add(format!("{} {} {}", run.replication, run.variant, run.experiment).as_bytes());
    sum.0
}

impl Sample {
    /// As [`SAMPLE`] has it: a line for each run.
    pub fn text(&self) -> String {
        let Self { study, level, settings, floodway, fingerprint, runs } = self;
        let runs: Vec<_> = runs.iter().map(|run| format!("    {}", json(run))).collect();
        format!(
            "{{\n  \"study\": {},\n  \"level\": {},\n  \"settings\": {},\n  \"floodway\": {},\n  \
             \"fingerprint\": {},\n  \"runs\": [\n{}\n  ]\n}}\n",
            json(study),
            json(level),
            json(settings),
            json(floodway),
            json(fingerprint),
            runs.join(",\n")
        )
    }

    /// The sample in a folder of published results, which has at least one run.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(SAMPLE);
        let bytes = match files::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Missing(folder.into()));
            }
            read => read.map_err(|error| Error::Damaged(path.clone(), error.to_string()))?,
        };
        let sample: Self = serde_json::from_slice(&bytes)
            .map_err(|error| Error::Damaged(path.clone(), error.to_string()))?;
        if sample.runs.is_empty() {
            return Err(Error::Damaged(path, "it lists no run".to_owned()));
        }
        Ok(sample)
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is text and numbers")
}

/// Whether the text in a folder of published results is of the study with this fingerprint.
pub fn is_of_text(folder: &Path, fingerprint: &str) -> Result<bool, Error> {
    let path = folder.join(README);
    let bytes =
        files::read(&path).map_err(|error| Error::Damaged(path.clone(), error.to_string()))?;
    let line = format!("- fingerprint: `{fingerprint}`");
    Ok(String::from_utf8_lossy(&bytes).lines().any(|found| found == line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(experiment: &str, replication: u32, packet_hops: u64) -> Sampled {
        Sampled {
            experiment: experiment.to_owned(),
            variant: "ci".to_owned(),
            replication,
            packet_hops,
            fingerprint: format!("{replication:016x}"),
        }
    }

    fn names(runs: &[Sampled]) -> Vec<(&str, u32)> {
        runs.iter().map(|run| (run.experiment.as_str(), run.replication)).collect()
    }

    #[test]
    fn every_experiment_has_a_run_before_any_has_two() {
        let mut runs: Vec<_> = (0..100).map(|replication| run("a", replication, 1_000)).collect();
        runs.extend((0..2).map(|replication| run("b", replication, 1_000)));
        runs.push(run("c", 0, 1_000));
        let chosen = choose(&runs);
        assert_eq!(chosen.len(), 12);
        let of = |name: &str| chosen.iter().filter(|run| run.experiment == name).count();
        assert_eq!((of("a"), of("b"), of("c")), (9, 2, 1));
        assert_ne!(names(&chosen)[..9], names(&runs)[..9], "by hash, and not the first");
        // Results do not depend on the order, but for that of the list.
        let mut reversed = runs.clone();
        reversed.reverse();
        let mut again = choose(&reversed);
        again.reverse();
        assert_eq!(again, chosen);
    }

    #[test]
    fn a_sample_is_cheap() {
        let at_limit = [run("a", 0, 10_000_000), run("b", 0, 10_000_001), run("c", 0, 5_000_000)];
        assert_eq!(names(&choose(&at_limit)), [("a", 0), ("c", 0)]);
        let many: Vec<_> = (0..9).map(|replication| run("a", replication, 7_000_000)).collect();
        // Four of them have 28 million.
        assert_eq!(choose(&many).len(), 4);
        let long = [run("a", 0, 90_000_000), run("b", 0, 80_000_000), run("c", 0, 80_000_000)];
        assert_eq!(names(&choose(&long)), [("b", 0)]);
        assert!(choose(&[]).is_empty());
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = std::env::temp_dir().join(format!("floodway-sample-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let sample = Sample {
            study: "ci".to_owned(),
            level: "quick".to_owned(),
            settings: vec!["a=\"b\"".to_owned()],
            floodway: "0.1.0".to_owned(),
            fingerprint: "dbab3ed8d29d96b7".to_owned(),
            runs: vec![run("a", 0, 7), run("b", 1, u64::MAX)],
        };
        assert_eq!(sample.text().lines().filter(|line| line.contains("packet_hops")).count(), 2);
        std::fs::write(folder.join(SAMPLE), sample.text()).unwrap();
        assert_eq!(Sample::load(&folder).unwrap(), sample);
        std::fs::write(folder.join(README), "text\n- fingerprint: `dbab3ed8d29d96b7`\n").unwrap();
        assert!(is_of_text(&folder, "dbab3ed8d29d96b7").unwrap());
        assert!(!is_of_text(&folder, "dbab3ed8d29d96b").unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
