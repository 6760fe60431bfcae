//! `floodway run --mpi`: every run over several processes. Rank 0 speaks and writes; the others work.

use floodway_lab::ranks::{self, Refused};
use floodway_mpi::World;
use floodway_report::words::{large, time};
use floodway_sim::Ranks;

use super::{refuse_kernels, run_with, settings, stop_on_signals};
use crate::failure::Failure;
use crate::options::RunOptions;
use crate::output;

/// Runs a scenario over all processes that were started together.
pub fn run(options: &RunOptions) -> Result<(), Failure> {
    let world = World::start(options.mpi_library.as_deref())
        .map_err(|error| Failure::Unknown(error.to_string()))?;
    let result = together(options, world);
    world.finish();
    result
}

fn together(options: &RunOptions, world: World) -> Result<(), Failure> {
    let everybody = Everybody(world);
    everybody.need(refuse(options))?;
    let scenario = everybody.need(options.selection.load(settings(options)))?;
    let variants = everybody.need(options.selection.variants(&scenario))?;
    everybody.need(refuse_kernels(&scenario, &variants))?;
    let refused = |refused: Refused| Failure::Unknown(refused.to_string());
    let traced = options.trace.is_some();
    everybody.need(ranks::agree(&scenario, &variants, traced, &world).map_err(refused))?;
    let stop = everybody.need(stop_on_signals(true))?;
    if world.rank() == 0 {
        let result = run_with(options, (&scenario, &variants), (&stop, Some(&world)), None);
        ranks::dismiss(&world);
        if options.verbose {
            output::note(&traffic(world));
        }
        return result;
    }
    ranks::follow(&scenario, &variants, traced, (&world, &stop));
    Ok(())
}

/// What rank 0 has exchanged.
fn traffic(world: World) -> String {
    let traffic = world.traffic();
    let [mine, all] = traffic.hops;
    format!(
        "{} ranks, {}: rank 0 sent {} octets in {} exchanges, and spent {} in them; of the packet-hops of the last \
         run, {:.1} % were its own, and {:.1} % would be an equal share",
        world.ranks(),
        world.version(),
        large(traffic.octets as f64),
        large(traffic.exchanges as f64),
        time(traffic.waited.as_secs_f64() * 1e9),
        100.0 * mine as f64 / all.max(1) as f64,
        100.0 / world.ranks() as f64,
    )
}

/// All ranks, each of which may have failed.
struct Everybody(World);

impl Everybody {
    /// The result of this rank if no rank has failed. Otherwise the first rank that has says why.
    fn need<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        let (world, rank) = (self.0, self.0.rank());
        match ranks::first(&world, result.is_err()) {
            None => result,
            Some(first) if first == rank => {
                if rank > 0 {
                    output::note(&format!("rank {rank} of {}:", world.ranks()));
                }
                result
            }
            Some(_) => Err(Failure::OfAnotherRank),
        }
    }
}

/// What cannot go over several processes yet.
fn refuse(options: &RunOptions) -> Result<(), Failure> {
    let asked = [
        ("--why", options.why, "an explanation follows packets from end to end"),
        ("--pcap", !options.pcap.is_empty(), "a capture is one file of one process"),
        ("--audit", options.audit, "the auditor compares both ends of every link at every event"),
    ];
    match asked.into_iter().find(|(_, asked, _)| *asked) {
        Some((option, _, reason)) => Err(Failure::Unknown(format!(
            "`{option}` does not work with `--mpi`, because {reason}: leave out one of them"
        ))),
        None => Ok(()),
    }
}
