//! Flowlet switching (Sinha, Kandula, Katabi, HotNets 2004) with random choices, as in LetFlow
//! (Vanini et al., NSDI 2017): after an idle gap of sufficient length a flow may continue on
//! another path, because its earlier packets have arrived by then. On congested paths gaps are
//! longer and more frequent, so flows tend to leave them.
//!
//! A switch stores the port of the last packet in a table indexed by a hash of the flow. Two flows
//! with the same hash share an entry: they use one port as long as either sends. LetFlow ages
//! entries in steps of the gap, so that it takes one to two gaps; here the time is exact.

use floodway_model::check::{Check, Findings};
use floodway_model::random::{Stream, mix};
use floodway_model::{Duration, FlowId, Instant, NodeId, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NextHops, PathChoice};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Idle time of a flow after which it may change its path. If it is shorter than the delay
    /// difference of two paths, packets are reordered. Default 500us (CONGA, SIGCOMM 2014, on which
    /// LetFlow is based).
    pub gap: Duration,
    /// Number of entries in the flowlet table of each switch. Default 65536 (CONGA).
    pub entries: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self { gap: Duration::from_us(500), entries: 65_536 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("entries", self.entries, 1..=MOST_ENTRIES, "CONGA has 65536");
    }
}

/// Maximum size of a flowlet table: ten bytes per entry, in every switch.
const MOST_ENTRIES: u32 = 1 << 24;

/// The table of one switch.
#[derive(Debug)]
pub struct State {
    gap: Duration,
    rng: Stream,
    /// By entry: the time from which a packet begins a new flowlet; 0 if the entry was never used.
    fresh_from: Vec<u64>,
    /// By entry: the port of the last packet.
    port: Vec<u16>,
}

impl State {
    /// The port, one of `ports`, for a packet of `flow` that arrives now. Feedback of the same flow
    /// travels in the opposite direction and is distinguished from data by `dst`.
    fn next(&mut self, (flow, dst): (FlowId, NodeId), ports: &[u16], now: Instant) -> u16 {
        let hash = mix(u64::from(dst.0) << 32 | u64::from(flow.0)) as u32;
        let entry = ((u64::from(hash) * self.port.len() as u64) >> 32) as usize;
        // Another flow with the same hash may have other next hops.
        let fresh = now.0 >= self.fresh_from[entry] || !ports.contains(&self.port[entry]);
        if fresh {
            self.port[entry] = ports[self.rng.below(ports.len() as u64) as usize];
        }
        self.fresh_from[entry] = (now + self.gap).0.saturating_add(1);
        self.port[entry]
    }
}

impl PathChoice for State {
    type Spec = Spec;

    fn new(spec: &Spec, _: u8, rng: impl FnOnce() -> Stream) -> Self {
        let entries = spec.entries as usize;
        Self { gap: spec.gap, rng: rng(), fresh_from: vec![0; entries], port: vec![0; entries] }
    }

    fn choose(&mut self, packet: &Packet, hops: &NextHops<'_>, now: Instant) -> u16 {
        self.next((packet.flow, packet.dst), hops.equal, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ports taken by packets of one flow that arrive at these times, in nanoseconds.
    fn ports(state: &mut State, flow: u32, times: &[u64]) -> Vec<u16> {
        let choose = |&ns: &u64| {
            let flow = (FlowId(flow), NodeId(9));
            state.next(flow, &[3, 5, 7, 8], Instant(ns * 1_000))
        };
        times.iter().map(choose).collect()
    }

    #[test]
    fn a_flow_changes_after_a_longer_gap_only() {
        let spec = Spec { gap: Duration::from_us(1), entries: 16 };
        let mut changes = 0;
        for seed in 0..1_000 {
            let mut state = State::new(&spec, 0, || Stream::from_seed(seed));
            // An idle time of 1000 ns is not longer than the gap; 1001 ns is.
            let taken = ports(&mut state, 1, &[0, 0, 1_000, 2_000, 3_001, 4_001]);
            assert_eq!((taken[0], taken[0], taken[0]), (taken[1], taken[2], taken[3]));
            assert_eq!(taken[4], taken[5]);
            changes += u32::from(taken[3] != taken[4]);
        }
        // Three quarters of them: 750, standard deviation 14.
        assert!((680..820).contains(&changes), "{changes}");
    }

    #[test]
    fn flows_with_one_hash_share_an_entry() {
        let spec = Spec { gap: Duration::from_us(1), entries: 1 };
        let mut state = State::new(&spec, 0, || Stream::from_seed(1));
        let first = ports(&mut state, 1, &[0]);
        for flow in 2..50 {
            assert_eq!(ports(&mut state, flow, &[500]), first);
        }
        // If that port is not a next hop, another one is used.
        let elsewhere: Vec<u16> =
            [3, 5, 7, 8].into_iter().filter(|&port| port != first[0]).collect();
        let taken = state.next((FlowId(60), NodeId(4)), &elsewhere, Instant(600_000));
        assert!(elsewhere.contains(&taken));
    }

    #[test]
    fn a_flow_and_its_feedback_are_two() {
        let spec = Spec::default();
        let mut together = 0;
        for seed in 0..400 {
            let mut state = State::new(&spec, 0, || Stream::from_seed(seed));
            let mut choose = |dst| state.next((FlowId(1), NodeId(dst)), &[0, 1], Instant::ZERO);
            together += u32::from(choose(1) == choose(2));
        }
        // Half of them, standard deviation 10.
        assert!((150..250).contains(&together), "{together}");
    }
}
