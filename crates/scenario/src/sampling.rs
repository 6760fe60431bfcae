//! Sampled rounds: a job of many rounds of which only the first are simulated.

use floodway_model::check::{Check, Findings, count_of};
use floodway_sim::rounds::SampledRounds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Problems;
use crate::document::Document;
use crate::workload;

/// Simulates only the first rounds of a job, and estimates its other rounds from them, with intervals. The run ends when
/// the last of these rounds is complete. Of jobs with several rounds: `[workload.collective]` and
/// `[workload.all_reduce]` with `rounds`, `[workload.training]` with `iterations`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// Rounds that are simulated, those of the warm-up included. As many as the job has simulate all of it.
    pub rounds: u32,
    /// Rounds at the beginning that estimates of later rounds leave out, because the network was empty before them.
    /// Default 1.
    #[serde(default = "one")]
    pub warmup_rounds: u32,
    /// The workload that is the job, by its number. Default the only one with several rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<u32>,
}

fn one() -> u32 {
    1
}

impl Check for Sampling {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("rounds", self.rounds, 2.., "4 of 200 rounds are usual");
        if self.rounds >= 2 && self.warmup_rounds >= self.rounds {
            findings.error(
                ["warmup_rounds", "rounds"],
                format!(
                    "all {} are of the warm-up, and none is left to estimate others from",
                    count_of(self.rounds, "round")
                ),
                "write fewer `warmup_rounds` than `rounds`",
            );
        }
    }
}

/// The rounds of a workload, and the field that says how many.
fn rounds(settings: &Document, workload: usize) -> Option<(u32, &'static str)> {
    settings.workload.get(workload)?.traffic.member().rounds()
}

impl Document {
    /// Which rounds of which workload are simulated, if not all are; `None` too if that is not possible.
    pub fn sampled(&self) -> Option<SampledRounds> {
        let Sampling { rounds: simulated, warmup_rounds, workload } = *self.sampling.as_ref()?;
        let several =
            |workload: &usize| rounds(self, *workload).is_some_and(|(rounds, _)| rounds > 1);
        let workload = match workload {
            Some(workload) => workload as usize,
            None => {
                let mut all = (0..self.workload.len()).filter(several);
                all.next().filter(|_| all.next().is_none())?
            }
        };
        let (of, _) = rounds(self, workload)?;
        Some(SampledRounds {
            workload: u16::try_from(workload).ok()?,
            simulated: simulated.min(of),
            warmup: warmup_rounds,
            of,
        })
    }

    /// Rounds of a workload that flows are made for, if these are fewer than it has: the simulated ones, and one in
    /// which ranks are that have finished the last of these before others.
    pub(crate) fn rounds_made(&self, workload: usize) -> Option<u32> {
        let sampled = self.sampled().filter(|of| usize::from(of.workload) == workload)?;
        (sampled.simulated < sampled.of).then(|| sampled.simulated + 1)
    }
}

/// Checks that there is a job whose rounds can stand for each other.
pub(crate) fn check(settings: &Document, findings: &mut Problems<'_>) {
    let Some(sampling) = &settings.sampling else { return };
    let findings = &mut findings.within("sampling");
    sampling.check(findings);
    let with_rounds: Vec<usize> =
        (0..settings.workload.len()).filter(|at| rounds(settings, *at).is_some()).collect();
    let several: Vec<String> = with_rounds
        .iter()
        .filter(|at| rounds(settings, **at).is_some_and(|(rounds, _)| rounds > 1))
        .map(|at| at.to_string())
        .collect();
    const JOBS: &str = "sample [workload.collective] or [workload.all_reduce] with `rounds`, or [workload.training] with \
                        `iterations`";
    match sampling.workload.map(|workload| workload as usize) {
        Some(workload) if workload >= settings.workload.len() => {
            let count = count_of(settings.workload.len() as u64, "workload");
            findings.error(
                "workload",
                format!("there is no workload {workload}: the scenario has {count}"),
                "they are numbered from 0",
            );
        }
        Some(workload) if rounds(settings, workload).is_none() => {
            let name = settings.workload[workload].traffic.name();
            findings.error(
                "workload",
                format!("workload {workload} is `{name}`, which has no rounds"),
                JOBS,
            );
        }
        Some(_) => {}
        None if several.is_empty() => match with_rounds.first() {
            Some(&workload) => {
                let (_, field) = rounds(settings, workload).unwrap_or((1, ""));
                let path = format!(
                    "/workload.{workload}.{}.{field}",
                    settings.workload[workload].traffic.name()
                );
                findings.error(
                    [path.as_str(), ""],
                    format!("workload {workload} has one round, of which none can be left out"),
                    format!("write how many it has: {field} = 200"),
                );
            }
            None => {
                findings.error("", "no workload has rounds of which some could be sampled", JOBS)
            }
        },
        None if several.len() > 1 => findings.error(
            "workload",
            format!(
                "workloads {} have rounds, and only those of one can be sampled",
                several.join(", ")
            ),
            "name the one whose rounds are sampled, for example: workload = 0",
        ),
        None => {}
    }
    let Some(sampled) = settings.sampled() else { return };
    if sampled.simulated == sampled.of {
        findings.idle("rounds", &format!("the job has {}", count_of(sampled.of, "round")));
    }
    check_exchangeable(settings, findings);
}

/// Finds what makes later rounds different from those that are simulated.
fn check_exchangeable(settings: &Document, findings: &mut Findings<'_>) {
    if !settings.failure.is_empty() {
        findings.error(
            ["/failure", ""],
            "a link fails during the run, so that rounds before and after are not alike",
            "remove [sampling] to simulate all rounds, or sample a scenario with and one without the link",
        );
    }
    if let Some(until) = &settings.measure_until {
        findings.error(
            ["/measure_until", ""],
            format!("`measure_until = \"{until}\"`, and with [sampling] the run ends after its last round"),
            "remove it: what is measured ends with the last sampled round",
        );
    }
    if !settings.claim.is_empty() {
        findings.warn(
            ["/claim", ""],
            "what is claimed is judged by simulated rounds alone, unless it is about a counter with `estimated` in its name",
            "remove [sampling] to judge all rounds, or claim something of an estimate, like \
             `workload_0_estimated_total_ns`",
        );
    }
    let persistent = settings.workload.iter().position(|entry| {
        !matches!(entry.traffic, workload::Spec::Linux(_))
            && !entry.traffic.member().all_have_sizes()
    });
    if let Some(workload) = persistent {
        findings.warn(
            [&*format!("/workload.{workload}"), ""],
            format!(
                "workload {workload} may have flows without an end; where networks have several paths, they take \
                 others than in the run of all rounds, all the time"
            ),
            "run several replications, whose mean is estimated without that bias, and use their interval",
        );
    }
}
