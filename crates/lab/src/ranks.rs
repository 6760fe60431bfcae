//! One run at a time over several processes (ranks): rank 0 goes through the experiment as if it were alone and
//! writes the results, and says to the others what to run with it.

use std::fmt;
use std::sync::atomic::AtomicBool;

use floodway_scenario::{Scenario, Variant};
use floodway_sim::over::{Share, most_ranks};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Ranks, Spec, Totals};

use crate::queue::{Job, jobs};

/// Why an experiment cannot go over these ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A variant that explains delays.
    Explains(String),
    /// A variant with fewer switches than there are ranks: the variant, its switches, the ranks.
    TooSmall(String, usize, usize),
    /// This rank has something else to run than rank 0.
    Differs(usize),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Explains(variant) => write!(
                f,
                "variant `{variant}` explains delays (`explained_flows`), which one process has to see from end to end: \
                 add `--set explained_flows=0`, or run it without `--mpi`"
            ),
            Self::TooSmall(variant, 1, ranks) => write!(
                f,
                "variant `{variant}` cannot go over {ranks} processes: each needs a switch, with its hosts, and there \
                 is one; run it without `--mpi`"
            ),
            Self::TooSmall(variant, switches, ranks) => write!(
                f,
                "variant `{variant}` cannot go over {ranks} processes: each needs a switch, with its hosts, and there \
                 are {switches}; start at most {switches}"
            ),
            Self::Differs(rank) => write!(
                f,
                "rank {rank} has another scenario, other options or another build of floodway than rank 0, and all must \
                 have the same: give all ranks one command line, and the same files and program on every machine"
            ),
        }
    }
}

/// Checks that an experiment can go over the ranks, and that all of them have the same. All ranks call it, and
/// all fail if one does, with the same error. `traced` is whether a trace is made of first runs.
pub fn agree(
    scenario: &Scenario,
    variants: &[&Variant],
    traced: bool,
    ranks: &dyn Ranks,
) -> Result<(), Refused> {
    let mut about = scenario.replications.to_le_bytes().to_vec();
    about.push(traced.into());
    let mut fits = Ok(());
    for variant in variants {
        let spec = variant.build_replication(0, scenario.replication_seed(0));
        about.extend(variant.name.bytes().chain(self::about(&spec)));
        fits = fits.and(self::fits(&variant.name, &spec, ranks.ranks()));
    }
    same(&about, ranks)?;
    fits
}

/// Whether all ranks have the octets of rank 0.
fn same(octets: &[u8], ranks: &dyn Ranks) -> Result<(), Refused> {
    let theirs = ranks.broadcast(octets.to_owned());
    first(ranks, theirs != octets).map_or(Ok(()), |rank| Err(Refused::Differs(rank)))
}

/// The first of the ranks that say so; `None` if none does. All must call it.
pub fn first(ranks: &dyn Ranks, so: bool) -> Option<usize> {
    let rank = if so { ranks.rank() as u64 } else { u64::MAX };
    let all = ranks.exchange(Totals { next_window: rank, ..Totals::NONE }, &mut []);
    usize::try_from(all.next_window).ok().filter(|_| all.next_window < u64::MAX)
}

/// One run of a variant over the ranks, on so many threads of each; rank 0 has the outcome. All ranks call it, and all
/// fail if one has something else to run.
pub fn one(
    (variant, spec): (&str, Spec),
    ranks: &dyn Ranks,
    run: &Run,
) -> Result<Option<Outcome>, Refused> {
    same(&about(&spec), ranks)?;
    fits(variant, &spec, ranks.ranks())?;
    Ok(share(spec, run.threads, ranks).run(run))
}

/// What must be the same on all ranks. Keys do not say what is recorded and explained, and all ranks must record
/// the same, and refuse the same.
fn about(spec: &Spec) -> Vec<u8> {
    format!("{:?}{}{}", spec.record, spec.explained.is_some(), spec.key()).into_bytes()
}

fn fits(name: &str, spec: &Spec, ranks: usize) -> Result<(), Refused> {
    let parts = most_ranks(spec);
    if spec.explained.is_some() {
        return Err(Refused::Explains(name.to_owned()));
    }
    if ranks > parts {
        return Err(Refused::TooSmall(name.to_owned(), parts, ranks));
    }
    Ok(())
}

/// On rank 0: runs a job together with the others, with so many threads on each rank.
pub(crate) fn lead(job: &Job, (spec, key): (Spec, &str), ranks: &dyn Ranks, run: &Run) -> Outcome {
    ranks.broadcast(Order { place: job.place, threads: run.threads, key: key.to_owned() }.octets());
    share(spec, run.threads, ranks).run(run).expect("rank 0 has the outcome")
}

/// On rank 0: there are no more jobs.
pub fn dismiss(ranks: &dyn Ranks) {
    ranks.broadcast(Vec::new());
}

/// On all other ranks: runs what rank 0 says until it says that there is no more. `traced` is whether a trace is made
/// of first runs.
pub fn follow(
    scenario: &Scenario,
    variants: &[&Variant],
    traced: bool,
    (ranks, stop): (&dyn Ranks, &AtomicBool),
) {
    let jobs = jobs(scenario, variants, traced);
    while let Some(order) = Order::read(&ranks.broadcast(Vec::new())) {
        let spec = jobs[order.place].spec();
        // The first runs were compared before, and all others follow from them.
        assert_eq!(spec.key(), order.key, "rank {} has another run", ranks.rank());
        let run = Run { threads: order.threads, stop, watch: &|_| {} };
        share(spec, order.threads, ranks).run(&run);
    }
}

fn share(spec: Spec, threads: usize, ranks: &dyn Ranks) -> Share<'_> {
    // What was refused here was not checked before.
    Share::new(spec, threads, ranks).expect("as many switches as ranks")
}

/// What to run.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    place: usize,
    threads: usize,
    key: String,
}

impl Order {
    fn octets(&self) -> Vec<u8> {
        let numbers = [self.place, self.threads].map(|number| (number as u64).to_le_bytes());
        [&numbers.concat(), self.key.as_bytes()].concat()
    }

    /// `None` if there is nothing to run.
    fn read(octets: &[u8]) -> Option<Self> {
        let (place, rest) = octets.split_first_chunk()?;
        let (threads, key) = rest.split_first_chunk()?;
        let [place, threads] = [place, threads].map(|octets| u64::from_le_bytes(*octets) as usize);
        Some(Self { place, threads, key: String::from_utf8_lossy(key).into_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_names_a_remedy() {
        let texts = [
            Refused::Explains("ecn".into()),
            Refused::TooSmall("ecn".into(), 1, 2),
            Refused::TooSmall("ecn".into(), 6, 8),
            Refused::Differs(3),
        ]
        .map(|refused| refused.to_string());
        assert_eq!(
            texts,
            [
                "variant `ecn` explains delays (`explained_flows`), which one process has to see from end to end: add \
                 `--set explained_flows=0`, or run it without `--mpi`",
                "variant `ecn` cannot go over 2 processes: each needs a switch, with its hosts, and there is one; run \
                 it without `--mpi`",
                "variant `ecn` cannot go over 8 processes: each needs a switch, with its hosts, and there are 6; start at \
                 most 6",
                "rank 3 has another scenario, other options or another build of floodway than rank 0, and all must have \
                 the same: give all ranks one command line, and the same files and program on every machine",
            ]
        );
    }

    #[test]
    fn orders_are_read_as_they_were_written() {
        let order = Order { place: 7, threads: 3, key: "0123abcd".into() };
        assert_eq!(Order::read(&order.octets()), Some(order));
        assert_eq!(Order::read(&[]), None);
    }
}
