//! How likely it is that a shared pool of headroom overflows under given traffic.
//!
//! Every replication is simulated once, with a pool that does not limit. Until its first loss a smaller
//! pool behaves in the same way, so it would have overflowed in exactly those replications whose largest use
//! is above its size: one run says it for all sizes. What follows the first loss is another
//! course of events, so frequencies within a run are those of a pool that loses nothing.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use floodway_model::tables::{drops, headroom, headroom_episodes, pauses};
use floodway_model::{Bytes, Instant};
use floodway_report::statistics::{Proportion, Quotient, quantile};
use floodway_scenario::Variant;
use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::port::DropReason;
use floodway_sim::{Outcome, Simulation, Spec};
use serde::Serialize;

/// What one replication shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replication {
    /// Its seed.
    pub seed: u64,
    /// How long it was simulated.
    pub simulated_ns: f64,
    /// Pauses that switches have sent, without refreshes.
    pub pauses: u64,
    /// Packets that were lost because a port and class had used up its own headroom.
    pub lost: u64,
    /// The pool of every switch.
    pub switches: Vec<Use>,
}

/// The use of the pool of a switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Use {
    /// Name of the switch.
    pub switch: String,
    /// Size of its pool in the scenario, if it has one.
    pub pool_bytes: Option<u64>,
    /// What all its ports and lossless classes may use together.
    pub of_all_bytes: u64,
    /// The most that was in use.
    pub max_bytes: u64,
    /// Episodes by the upper end of a range of 1.6 % that their largest use is in.
    pub episodes: Vec<(u64, u64)>,
}

/// The size of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// As in the scenario.
    Own,
    /// This part of what all ports and classes of the switch may use: N of 1:N.
    Oversubscribed(f64),
    /// So many bytes at every switch.
    Bytes(u64),
}

impl Size {
    fn at(self, of: &Use) -> u64 {
        match self {
            Self::Own => of.pool_bytes.unwrap_or(u64::MAX),
            // A pool of the exact quotient admits no byte more than its floor.
            Self::Oversubscribed(n) => (of.of_all_bytes as f64 / n) as u64,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// How likely a pool of one size overflows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Risk {
    /// The size.
    pub size: Size,
    /// The smallest pool of a switch.
    pub smallest_bytes: u64,
    /// The largest pool of a switch.
    pub largest_bytes: u64,
    /// The share of replications in which it overflows.
    pub replications: Proportion,
    /// Overflows per second of simulated time, all switches together.
    pub per_second: Quotient,
    /// Overflows per pause.
    pub per_pause: Quotient,
}

/// The largest use of all switches, over replications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peaks {
    /// In the middle replication.
    pub median_bytes: f64,
    /// In nine of ten replications at most.
    pub p90_bytes: f64,
    /// In all.
    pub max_bytes: f64,
}

/// Why there is no result.
#[derive(Debug)]
pub enum Failed {
    /// There is no headroom that could be shared: why, and the remedy.
    NoHeadroom(&'static str),
    /// Runs broke rules that no sound run breaks.
    Violations(Vec<String>),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeadroom(why) => f.write_str(why),
            Self::Violations(wrong) => f.write_str(&wrong.join("; ")),
        }
    }
}

/// Simulates a replication for each seed, on so many threads. The results are in the order of the seeds.
pub fn replications(
    variant: &Variant,
    seeds: &[u64],
    threads: usize,
) -> Result<Vec<Replication>, Failed> {
    if variant.has_kernels() {
        return Err(Failed::NoHeadroom("its hosts are Linux kernels: write a scenario without"));
    }
    let switch = &variant.settings.switch;
    let pools = switch.buffer.pools().filter(|pools| pools.ingress.is_some());
    let has_headroom = |pools: &shared::Spec| {
        pools.by_rate.iter().any(|of| of.headroom.0 > 0) || pools.headroom.0 > 0
    };
    if !pools.is_some_and(has_headroom) {
        return Err(Failed::NoHeadroom(
            "its switches have no headroom that ports could share: write `headroom` in \
             [switch.buffer.shared], and a [switch.buffer.shared.ingress]",
        ));
    }
    if switch.flow_control.pfc.is_none() && switch.flow_control.pause.is_none() {
        return Err(Failed::NoHeadroom(
            "no class is lossless, so no headroom is used: write [switch.flow_control.pfc]",
        ));
    }
    let (next, (send, receive)) = (AtomicUsize::new(0), mpsc::channel());
    let mut all: Vec<Option<Replication>> = vec![None; seeds.len()];
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, seeds.len().max(1)) {
            let (next, send) = (&next, send.clone());
            scope.spawn(move || {
                while let Some((place, &seed)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    seeds.get(place).map(|seed| (place, seed))
                } {
                    if send.send((place, replication(variant, seed))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (place, result) in receive {
            match result {
                Ok(replication) => all[place] = Some(replication),
                Err(failed) => {
                    // Nobody begins another one.
                    next.store(seeds.len(), Ordering::Relaxed);
                    return Err(failed);
                }
            }
        }
        Ok(())
    })?;
    Ok(all.into_iter().flatten().collect())
}

fn replication(variant: &Variant, seed: u64) -> Result<Replication, Failed> {
    let mut spec = variant.build(seed);
    let sizes = unlimited(&mut spec);
    let outcome = Simulation::new(spec).run();
    if !outcome.violations.is_empty() {
        return Err(Failed::Violations(outcome.violations));
    }
    Ok(of(&outcome, seed, &sizes))
}

/// Gives the pools of all switches a size that does not limit; returns their sizes before. Losses by the
/// headroom of a port are counted instead of being errors.
fn unlimited(spec: &mut Spec) -> impl Fn(&str) -> Option<Bytes> + use<> {
    let before = spec.switch.buffer.pools().cloned();
    if let buffer::Spec::Shared(pools) = &mut spec.switch.buffer {
        pools.headroom_pool = Some(Bytes(u64::MAX / 2));
        pools.by_switch.iter_mut().for_each(|of| of.headroom_pool = None);
    }
    let flow_control = &mut spec.switch.flow_control;
    flow_control.pfc.iter_mut().for_each(|pfc| pfc.lossless = false);
    flow_control.pause.iter_mut().for_each(|pause| pause.lossless = false);
    move |switch| before.as_ref()?.at(switch).headroom_pool
}

fn of(outcome: &Outcome, seed: u64, size: &dyn Fn(&str) -> Option<Bytes>) -> Replication {
    let view = "every run has this table";
    let pools = headroom::View::of(&outcome.tables).expect(view);
    let episodes = headroom_episodes::View::of(&outcome.tables).expect(view);
    let drops = drops::View::of(&outcome.tables).expect(view);
    let pauses = pauses::View::of(&outcome.tables).expect(view);
    let of_switch = |row: usize| {
        let switch = &pools.node[row];
        let places = (0..episodes.rows()).filter(|place| episodes.node[*place] == *switch);
        Use {
            switch: switch.clone(),
            pool_bytes: size(switch).map(|size| size.0),
            of_all_bytes: pools.of_all_bytes[row],
            max_bytes: pools.max_bytes[row],
            episodes: places
                .map(|place| (episodes.up_to_bytes[place], episodes.episodes[place]))
                .collect(),
        }
    };
    let by_headroom = |row: &usize| drops.reason[*row] == DropReason::HeadroomExceeded.name();
    Replication {
        seed,
        simulated_ns: (outcome.simulated - Instant::ZERO).as_ns(),
        pauses: pauses.xoff_frames.iter().sum(),
        lost: (0..drops.rows()).filter(by_headroom).map(|row| drops.packets[row]).sum(),
        switches: (0..pools.rows()).map(of_switch).collect(),
    }
}

/// How likely a pool of this size overflows, from at least one replication.
pub fn risk(replications: &[Replication], size: Size) -> Risk {
    let overflows = |of: &Use| of.max_bytes > size.at(of);
    let count = replications.iter().filter(|one| one.switches.iter().any(overflows)).count();
    let events = |one: &Replication| {
        let of_switch = |of: &Use| {
            let most = size.at(of);
            let above = of.episodes.iter().filter(|(up_to, _)| *up_to > most);
            // All of the bin counts that the size is in, if there was any that large.
            above.map(|(_, episodes)| episodes).sum::<u64>() * u64::from(of.max_bytes > most)
        };
        one.switches.iter().map(of_switch).sum::<u64>() as f64
    };
    let quotient = |units: fn(&Replication) -> f64| {
        let pairs: Vec<_> = replications.iter().map(|one| (events(one), units(one))).collect();
        Quotient::of(&pairs)
    };
    let sizes = || replications.iter().flat_map(|one| &one.switches).map(|of| size.at(of));
    Risk {
        size,
        smallest_bytes: sizes().min().unwrap_or(0),
        largest_bytes: sizes().max().unwrap_or(0),
        replications: Proportion::of(count as u64, replications.len() as u64),
        per_second: quotient(|one| one.simulated_ns / 1e9),
        per_pause: quotient(|one| one.pauses as f64),
    }
}

/// The largest use of all switches, over replications.
pub fn peaks(replications: &[Replication]) -> Peaks {
    let most =
        |one: &Replication| one.switches.iter().map(|of| of.max_bytes).max().unwrap_or(0) as f64;
    let mut all: Vec<f64> = replications.iter().map(most).collect();
    all.sort_by(f64::total_cmp);
    Peaks {
        median_bytes: quantile(&all, 0.5),
        p90_bytes: quantile(&all, 0.9),
        max_bytes: quantile(&all, 1.0),
    }
}

/// The largest N for which no pool of 1:N had overflowed; none if no headroom was used at all.
pub fn safe_oversubscription(replications: &[Replication]) -> Option<f64> {
    let all = replications.iter().flat_map(|one| &one.switches);
    let used = all.filter(|of| of.max_bytes > 0);
    used.map(|of| of.of_all_bytes as f64 / of.max_bytes as f64).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests;
