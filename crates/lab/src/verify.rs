//! Runs a published sample again, to check whether this version reproduces the published results.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use floodway_report::INTERRUPTED;
use floodway_report::manifest::hex;
use floodway_report::sample::{self, Error, SAMPLE, Sample, Sampled};
use floodway_scenario::Scenario;
use floodway_study::{Experiment, Level, Study};

use crate::board::Board;
use crate::queue::{self, Finished, Job, Queue, Taker};
use crate::study::{affordable, wanted};
use crate::{Existing, How};

/// Runs that were repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Number of runs.
    pub runs: usize,
    /// Their packet-hops.
    pub hops: u64,
}

/// Reason why published results are not verified.
#[derive(Debug)]
pub enum Failure {
    /// The sample cannot be read.
    Sample(Error),
    /// The sample refers to something that this program does not have; the message says what.
    Foreign(String),
    /// Its settings are wrong, or the machine is too small for its runs.
    Scenario(floodway_scenario::Error),
    /// The results are from another version; the message gives details.
    Differs(String),
    /// Verification was interrupted before all runs were compared.
    Interrupted,
}

/// Repeats the sample of a study from a folder of published results, on this number of threads.
pub fn verify(
    study: &'static Study,
    folder: &Path,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Verified, Failure> {
    let sample = Sample::load(folder).map_err(Failure::Sample)?;
    let level = of_study(study, folder, &sample)?;
    let published = Published { study, folder, sample: &sample, level };
    if !sample::is_of_text(folder, &sample.fingerprint).map_err(Failure::Sample)? {
        return Err(published.differs(&format!(
            "`{}` does not have the fingerprint of the sample, `{}`",
            folder.join("README.md").display(),
            sample.fingerprint
        )));
    }
    let plan = (study.plan)(level);
    // Each scenario is built once, however many runs of it there are.
    let mut scenarios: Vec<(&Experiment, Scenario)> = Vec::new();
    for run in &sample.runs {
        if scenarios.iter().any(|(experiment, _)| experiment.name == run.experiment) {
            continue;
        }
        let Some(experiment) = plan.iter().find(|known| known.name == run.experiment) else {
            return Err(published.has_no(run));
        };
        let scenario =
            experiment.scenario(&study.library, &sample.settings).map_err(Failure::Scenario)?;
        affordable(experiment, &scenario, threads).map_err(Failure::Scenario)?;
        scenarios.push((experiment, scenario));
    }
    let mut jobs = Vec::new();
    for (place, run) in sample.runs.iter().enumerate() {
        let of_run = |(experiment, _): &&(&Experiment, Scenario)| experiment.name == run.experiment;
        let (experiment, scenario) =
            scenarios.iter().find(of_run).expect("it was read for this run");
        let variants = wanted(experiment, scenario);
        let variant = variants.into_iter().find(|variant| variant.name == run.variant);
        let Some(variant) = variant.filter(|_| run.replication < scenario.replications) else {
            return Err(published.has_no(run));
        };
        let (replication, seed) = (run.replication, scenario.replication_seed(run.replication));
        jobs.push(Job { place, variant, replication, seed, threads: 1, traced: false });
    }
    let how = How {
        threads,
        stop,
        existing: Existing::Refuse,
        formats: &[],
        trace: None,
        capture: None,
        kernels: None,
        ranks: None,
        audit: false,
        command: &[],
    };
    let board = Board::new(jobs.len());
    let work = |job: &Job, place| queue::simulate(job, &how, &board, place);
    let mut compared = Compared { published: &published, done: Verified { runs: 0, hops: 0 } };
    Queue::new(jobs, threads).run(stop, &board, work, &mut compared)?;
    if compared.done.runs < sample.runs.len() {
        return Err(Failure::Interrupted);
    }
    Ok(compared.done)
}

/// The level of a sample, which must belong to this study.
fn of_study(study: &Study, folder: &Path, sample: &Sample) -> Result<Level, Failure> {
    let path = || folder.join(SAMPLE);
    if sample.study != study.entry.name {
        return Err(Failure::Foreign(format!(
            "`{}` is of the study `{}`, not of `{}`; name that study, or another folder",
            path().display(),
            sample.study,
            study.entry.name
        )));
    }
    let levels = [Level::Quick, Level::Standard, Level::Full];
    levels.into_iter().find(|level| level.name() == sample.level).ok_or_else(|| {
        Failure::Sample(Error::Damaged(
            path(),
            format!("the level is `{}`, and must be `quick`, `standard` or `full`", sample.level),
        ))
    })
}

/// Published results.
struct Published<'a> {
    study: &'static Study,
    folder: &'a Path,
    sample: &'a Sample,
    level: Level,
}

impl Published<'_> {
    fn path(&self) -> PathBuf {
        self.folder.join(SAMPLE)
    }

    fn name(run: &Sampled) -> String {
        let Sampled { experiment, variant, replication, .. } = run;
        format!("experiment `{experiment}`, variant `{variant}`, replication {replication}")
    }

    fn has_no(&self, run: &Sampled) -> Failure {
        self.differs(&format!(
            "`{}` lists a run that the study no longer has: {}",
            self.path().display(),
            Self::name(run)
        ))
    }

    /// The error for results of another version, with the difference and what to do.
    fn differs(&self, how: &str) -> Failure {
        let Self { study, folder, sample, level } = self;
        let settings = sample
            .settings
            .iter()
            .map(|setting| format!(" --set {}", floodway_study::plan::quoted(setting)));
        let command = format!(
            "floodway study {}{}{}",
            study.argument(),
            level.option(),
            settings.collect::<String>()
        );
        Failure::Differs(format!(
            "{how}. The results in `{}` were published by floodway {}, and this build of floodway {} does not \
             reproduce them: run `{command}` and replace them with the files that it writes into `text`",
            folder.display(),
            sample.floodway,
            env!("CARGO_PKG_VERSION")
        ))
    }
}

/// Runs that match their published results.
struct Compared<'a> {
    published: &'a Published<'a>,
    done: Verified,
}

impl<'a> Taker<'a> for Compared<'_> {
    type Product = Finished;
    type Error = Failure;

    fn take(&mut self, job: &Job<'a>, finished: Finished) -> Result<(), Failure> {
        let run = finished.run(job);
        if run.stop == INTERRUPTED {
            return Err(Failure::Interrupted);
        }
        let theirs = &self.published.sample.runs[job.place];
        let (fingerprint, hops) = (hex(run.fingerprint), run.hops);
        if (&fingerprint, hops) != (&theirs.fingerprint, theirs.packet_hops) {
            return Err(self.published.differs(&format!(
                "`{}`: {} was published with fingerprint `{}` ({} packet-hops), and now has `{fingerprint}` \
                 ({hops} packet-hops)",
                self.published.path().display(),
                Published::name(theirs),
                theirs.fingerprint,
                theirs.packet_hops,
            )));
        }
        self.done.runs += 1;
        self.done.hops += hops;
        Ok(())
    }

    fn look(&mut self, _: &Board, _: bool) {}
}
