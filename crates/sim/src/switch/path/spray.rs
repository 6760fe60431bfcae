//! Packet spraying (Dixit et al., INFOCOM 2013): every packet may take any of the equal-cost paths,
//! whatever its flow. Links are loaded evenly; packets arrive out of order where path delays
//! differ.

use floodway_model::check::Check;
use floodway_model::random::Stream;
use floodway_model::{Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NextHops, PathChoice};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How the next port is chosen. Default `random` (Dixit et al.).
    pub order: Order,
}

impl Check for Spec {}

/// How packets are spread over the ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each port is equally likely, for every packet.
    #[default]
    Random,
    /// Round robin over the ports, shared by destinations with the same next hops. Each switch
    /// starts with a random port, so that switches are not synchronized.
    RoundRobin,
}

/// State of one switch.
#[derive(Debug)]
pub struct State {
    order: Order,
    rng: Stream,
    /// By set of next hops: the index of the next port, once one has been used.
    next: Vec<Option<u16>>,
}

impl State {
    /// The port, one of `ports` in the set `group`, for the next packet.
    fn next(&mut self, group: u16, ports: &[u16]) -> u16 {
        let count = ports.len() as u64;
        if self.order == Order::Random {
            return ports[self.rng.below(count) as usize];
        }
        let group = usize::from(group);
        if self.next.len() <= group {
            self.next.resize(group + 1, None);
        }
        let place = self.next[group].unwrap_or_else(|| self.rng.below(count) as u16);
        self.next[group] = Some((place + 1) % ports.len() as u16);
        ports[usize::from(place)]
    }
}

impl PathChoice for State {
    type Spec = Spec;

    fn sprays(_: &Spec) -> bool {
        true
    }

    fn new(spec: &Spec, _: u8, rng: impl FnOnce() -> Stream) -> Self {
        Self { order: spec.order, rng: rng(), next: Vec::new() }
    }

    fn choose(&mut self, _: &Packet, hops: &NextHops<'_>, _: Instant) -> u16 {
        self.next(hops.group, hops.equal)
    }

    fn forget(&mut self) {
        self.next.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_take_turns_by_next_hops() {
        let spec = Spec { order: Order::RoundRobin };
        let mut state = State::new(&spec, 0, || Stream::from_seed(1));
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..6 {
            first.push(state.next(0, &[4, 5, 6]));
            second.push(state.next(2, &[4, 9]));
        }
        // Whichever port comes first: any three, or two, consecutive ones are different and repeat.
        let mut turn = first[..3].to_vec();
        turn.sort_unstable();
        assert_eq!((turn, &first[..3]), (vec![4, 5, 6], &first[3..]));
        assert_eq!(
            (second[0] + second[1], &second[..2], &second[..2]),
            (13, &second[2..4], &second[4..])
        );
    }

    #[test]
    fn switches_are_not_in_step() {
        let spec = Spec { order: Order::RoundRobin };
        let begins = |seed| State::new(&spec, 0, || Stream::from_seed(seed)).next(0, &[0, 1, 2, 3]);
        let mut count = [0; 4];
        (0..4_000).for_each(|seed| count[usize::from(begins(seed))] += 1);
        // Mean 1000, standard deviation 27.
        assert!(count.iter().all(|n| (863..1137).contains(n)), "{count:?}");
    }

    #[test]
    fn random_ports_are_equally_likely() {
        let mut state = State::new(&Spec::default(), 0, || Stream::from_seed(1));
        let mut count = [0; 4];
        for _ in 0..4_000 {
            count[usize::from(state.next(0, &[0, 1, 2, 3]))] += 1;
        }
        assert!(count.iter().all(|n| (863..1137).contains(n)), "{count:?}");
    }
}
