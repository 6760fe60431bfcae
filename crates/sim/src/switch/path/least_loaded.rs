//! The least loaded of a few ports, per packet: DRILL (Ghorbani et al., SIGCOMM 2017). For every
//! packet a switch compares the egress queues of some ports chosen at random with those that were
//! shortest the last time, and takes the shortest. It uses no information from other switches.
//!
//! Queue length is measured in time, so that ports of different rates can be compared: the rest of
//! the frame on the wire and everything queued behind it. The second part of DRILL, which
//! decomposes an asymmetric network into symmetric ones, is not implemented.

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use floodway_model::{Duration, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NextHops, PathChoice};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// d: number of different ports sampled at random for every packet. If there are no more ports
    /// than this, all are sampled. Default 2 (DRILL).
    pub choices: u16,
    /// m: number of shortest ports that are remembered and compared again for the next packet.
    /// Default 1 (DRILL).
    pub memory: u16,
}

impl Default for Spec {
    fn default() -> Self {
        Self { choices: 2, memory: 1 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "DRILL has 2; with 0 only remembered ports would be looked at";
        findings.range("choices", self.choices, 1.., why);
    }
}

/// State of one switch.
#[derive(Debug)]
pub struct State {
    choices: usize,
    memory: usize,
    rng: Stream,
    /// By set of next hops: the ports that were shortest.
    best: Vec<Vec<u16>>,
    /// Ports being compared, with their queue lengths.
    seen: Vec<(Duration, u16)>,
}

impl State {
    /// The port, one of `ports` in the set `group`, for a packet; `load` returns the queue length
    /// of a port.
    fn next(&mut self, group: u16, ports: &[u16], load: impl Fn(u16) -> Duration) -> u16 {
        let group = usize::from(group);
        if self.best.len() <= group {
            self.best.resize_with(group + 1, Vec::new);
        }
        self.seen.clear();
        self.draw(ports);
        for &port in &self.best[group] {
            if !self.seen.iter().any(|seen| seen.1 == port) {
                self.seen.push((Duration::ZERO, port));
            }
        }
        for (length, port) in &mut self.seen {
            *length = load(*port);
        }
        let shortest = self.seen.iter().map(|seen| seen.0).min().expect("there is a port");
        let equal = self.seen.iter().filter(|seen| seen.0 == shortest);
        // Ties are broken at random, not by port order.
        let which = match equal.clone().count() {
            1 => 0,
            several => self.rng.below(several as u64) as usize,
        };
        let chosen = equal.clone().nth(which).expect("it was counted").1;
        self.seen.sort_unstable_by_key(|&(length, port)| (length, port != chosen, port));
        let best = self.seen.iter().take(self.memory).map(|seen| seen.1);
        self.best[group].clear();
        self.best[group].extend(best);
        chosen
    }

    /// Draws as many different ports into `seen` as there are choices (Floyd's algorithm).
    fn draw(&mut self, ports: &[u16]) {
        if self.choices >= ports.len() {
            return self.seen.extend(ports.iter().map(|&port| (Duration::ZERO, port)));
        }
        for last in ports.len() - self.choices..ports.len() {
            let port = ports[self.rng.below(last as u64 + 1) as usize];
            let again = self.seen.iter().any(|seen| seen.1 == port);
            self.seen.push((Duration::ZERO, if again { ports[last] } else { port }));
        }
    }
}

impl PathChoice for State {
    type Spec = Spec;

    fn sprays(_: &Spec) -> bool {
        true
    }

    fn new(spec: &Spec, _: u8, rng: impl FnOnce() -> Stream) -> Self {
        let (choices, memory) = (spec.choices.into(), spec.memory.into());
        Self { choices, memory, rng: rng(), best: Vec::new(), seen: Vec::new() }
    }

    fn choose(&mut self, _: &Packet, hops: &NextHops<'_>, now: Instant) -> u16 {
        let load = |port: u16| hops.ports[usize::from(port)].time_to_drain(now);
        self.next(hops.group, hops.equal, load)
    }

    fn forget(&mut self) {
        self.best.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: [u16; 4] = [10, 11, 12, 13];

    fn state(choices: u16, memory: u16) -> State {
        State::new(&Spec { choices, memory }, 0, || Stream::from_seed(1))
    }

    #[test]
    fn of_all_ports_the_shortest() {
        let mut state = state(9, 1);
        for shortest in PORTS {
            let load = |port| Duration(if port == shortest { 3 } else { 4 });
            assert_eq!(state.next(0, &PORTS, load), shortest);
        }
    }

    #[test]
    fn one_choice_and_no_memory_is_spraying() {
        let mut state = state(1, 0);
        let mut count = [0; 4];
        for _ in 0..4_000 {
            let port = state.next(0, &PORTS, |port| Duration(port.into()));
            count[usize::from(port) - 10] += 1;
        }
        // Mean 1000, standard deviation 27.
        assert!(count.iter().all(|n| (863..1137).contains(n)), "{count:?}");
    }

    #[test]
    fn two_choices_without_memory() {
        // The shortest of two different ones among four: 3/6, 2/6, 1/6, and never the longest.
        let mut state = state(2, 0);
        let mut count = [0i32; 4];
        for _ in 0..6_000 {
            let port = state.next(0, &PORTS, |port| Duration(port.into()));
            count[usize::from(port) - 10] += 1;
        }
        // Standard deviation at most 39.
        let near = |count: i32, mean: i32| (count - mean).abs() < 195;
        assert!(near(count[0], 3_000) && near(count[1], 2_000) && near(count[2], 1_000));
        assert_eq!(count[3], 0);
    }

    #[test]
    fn the_best_is_looked_at_again() {
        let mut state = state(1, 1);
        let load = |port: u16| Duration(port.into());
        // Once the shortest port has been found it is not lost. Other sets of next hops have
        // separate memories.
        let taken: Vec<u16> = (0..100).map(|_| state.next(0, &PORTS, load)).collect();
        let found = taken.iter().position(|&port| port == 10).unwrap();
        assert!(taken[found..].iter().all(|&port| port == 10) && taken.is_sorted_by(|a, b| a >= b));
        let others: Vec<u16> = (0..100).map(|_| state.next(1, &[12, 13], load)).collect();
        assert!(others.contains(&12) && !others.contains(&10));
    }

    #[test]
    fn equally_short_ports_are_equally_likely() {
        for choices in [2, 3, 4] {
            let mut state = state(choices, 0);
            let mut count = [0; 4];
            for _ in 0..4_000 {
                let port = state.next(0, &PORTS, |_| Duration::ZERO);
                count[usize::from(port) - 10] += 1;
            }
            assert!(count.iter().all(|n| (863..1137).contains(n)), "{choices}: {count:?}");
        }
    }
}
