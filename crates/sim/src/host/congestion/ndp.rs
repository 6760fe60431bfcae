//! NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
//! performance", SIGCOMM 2017, section 3.2). A flow starts with a window at line rate, and after that sends
//! one packet for each pull of its receiver. The receiver pulls one packet for every packet or header that
//! arrives, for all flows together no faster than its link rate. Switches trim packets that find no room.
//!
//! Choices where the paper leaves details open or a simulator differs:
//!
//! - A pull that finds nothing to send is kept, because it may have overtaken the negative
//!   acknowledgement of a trimmed packet on another path. The authors' code then sends nothing.
//! - When the retransmission timer expires without credit, the flow may send one packet: its pulls
//!   may have been lost.
//! - Pulls are distributed round robin. The paper also has strict priorities among flows, which are
//!   not modeled.

use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Around, Network};
use super::{Arrival, Control, Credit, Needs, Path, Receiving};
use crate::host::transport;
use crate::host::transport::rocev2::recovery;

/// Parameters of NDP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Initial window: packets that a flow sends at line rate before its receiver has pulled any. Default none: the
    /// number that fills a round trip of the network without queueing, plus one, because the first pull follows an
    /// acknowledgement on its path back (NDP, section 3.2: the first window lasts a round trip at line rate). The
    /// number in flight stays the same as long as nothing is lost, so flows through queues need more: on random
    /// paths through queues of eight packets, about three times as many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "the receiver pulls a packet for each one that arrives; remove it for a round trip at line rate";
        findings.range("initial_window", self.initial_window, 1.., why);
    }
}

impl Spec {
    /// Packets of the initial window for this path.
    fn packets(&self, path: &Path) -> u32 {
        let of_round_trip = || {
            let bits = u128::from(path.line_rate.0) * u128::from(path.base_rtt.0);
            let packets = bits.div_ceil(8_000_000_000_000 * u128::from(path.wire.max(1)));
            u32::try_from(packets).unwrap_or(u32::MAX).saturating_add(1)
        };
        self.initial_window.unwrap_or_else(of_round_trip)
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    /// Number of packets that may be sent now.
    credit: u32,
    /// Highest pull number received.
    pulled: u32,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        Self { credit: spec.packets(path), pulled: 0 }
    }
}

impl Control for State {
    type Spec = Spec;

    fn needs(_: &Spec) -> Needs {
        Needs::Answers
    }

    fn initial_window(spec: &Spec, base_rtt: Duration) -> Option<Duration> {
        spec.initial_window.is_none().then_some(base_rtt)
    }

    fn check_signals(_: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        let switch = around.switch;
        let (message, remedy) = if switch.flow_control.must_not_lose() != 0 {
            (
                "`ndp` is for short queues that trim what finds no room, but packets of lossless classes are never trimmed",
                "they wait, and their ports are paused: remove the flow control, or write `lossless = false` in its table",
            )
        } else if switch.overflow.trims().is_none() {
            (
                "`ndp` relies on packet trimming, but switches drop what finds no room",
                "a packet that is lost without a trace is not pulled again, and may take a timeout: add [switch.overflow.trim]",
            )
        } else {
            return;
        };
        findings.warn("", message, remedy);
    }

    fn check_on(_: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        let around = network.around;
        let transport::Spec::Rocev2(rocev2) = around.transport else { return };
        if matches!(rocev2.recovery, recovery::Spec::GoBackN(_)) {
            findings.error(
                [&*around.of_transport("recovery"), ""],
                "`ndp` sends one packet for each pull, but `go_back_n` sends everything behind a lost packet again",
                format!("choose {}", around.other_transport("rocev2.recovery.selective_repeat")),
            );
        }
        if rocev2.ack_every > 1 {
            findings.warn(
                &around.of_transport("ack_every"),
                format!("`ndp` gets feedback about one packet in {}", rocev2.ack_every),
                "the sender learns late what has arrived, and may take packets for lost: write ack_every = 1, as published",
            );
        }
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        Some(if self.credit == 0 { 0 } else { u64::MAX })
    }

    #[inline]
    fn on_send(&mut self, _: &Spec, _: Instant, _: u64) {
        self.credit = self.credit.saturating_sub(1);
    }

    fn on_credit(&mut self, _: &Spec, _: Instant, number: u32) {
        self.credit = self.credit.saturating_add(number.saturating_sub(self.pulled));
        self.pulled = self.pulled.max(number);
    }

    fn on_retransmit_timeout(&mut self, _: &Spec, _: Instant) {
        self.credit = self.credit.max(1);
    }
}

/// Pull queue and pacer of a host.
#[derive(Debug)]
pub struct Pulls {
    /// Pull state of each flow, by index among the incoming flows.
    flows: Vec<Pulled>,
    /// Flows with pulls to send, in order of service; may include flows that have completed since.
    queue: VecDeque<u32>,
    /// Earliest time of the next pull: the packet that the last pull requested occupies the link until
    /// then.
    next_at: Instant,
}

/// Pull state of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct Pulled {
    /// Number of pulls to send.
    pending: u32,
    /// Number of pulls sent.
    sent: u32,
    /// Transmission time of a packet on the link.
    packet_time: Duration,
    /// Whether the flow is in the queue.
    queued: bool,
}

impl Receiving for Pulls {
    type Spec = Spec;

    fn new(flows: usize) -> Self {
        let flows = vec![Pulled::default(); flows];
        Self { flows, queue: VecDeque::new(), next_at: Instant::ZERO }
    }

    fn add_flow(&mut self) {
        self.flows.push(Pulled::default());
    }

    fn on_arrival(&mut self, _: &Spec, arrival: &Arrival) {
        let flow = &mut self.flows[arrival.place as usize];
        flow.pending += 1;
        flow.packet_time = arrival.packet_time;
        if !flow.queued {
            flow.queued = true;
            self.queue.push_back(arrival.place);
        }
    }

    fn on_end(&mut self, _: &Spec, place: u32, _: Instant) {
        self.flows[place as usize].pending = 0;
    }

    fn next_wake(&self) -> Instant {
        if self.queue.is_empty() { Instant::NEVER } else { self.next_at }
    }

    fn next_credit(&mut self, now: Instant) -> Option<Credit> {
        if now < self.next_at {
            return None;
        }
        while let Some(place) = self.queue.pop_front() {
            let flow = &mut self.flows[place as usize];
            flow.queued = flow.pending > 1;
            if flow.queued {
                self.queue.push_back(place);
            }
            if flow.pending > 0 {
                flow.pending -= 1;
                flow.sent += 1;
                self.next_at = now + flow.packet_time;
                return Some(Credit { place, number: flow.sent });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Rate;

    const NS_88: Duration = Duration(88_480);

    fn flow(initial_window: Option<u32>) -> (Spec, State) {
        let spec = Spec { initial_window };
        // 1106 bytes take 88.48 ns at 100 Gb/s; slightly more than ten times that is rounded up to
        // eleven packets.
        let (wire, base_rtt) = (1_106, Duration(884_801));
        let path = Path { wire, base_rtt, ..Path::at(Rate::from_gbps(100)) };
        let state = State::new(&spec, &path);
        (spec, state)
    }

    /// Number of packets that may be sent before the window is zero.
    fn sendable(spec: &Spec, state: &mut State) -> u32 {
        let may_send = |state: &mut State| state.window(spec, Instant::ZERO) > Some(0);
        let mut count = 0;
        while may_send(state) {
            state.on_send(spec, Instant::ZERO, 1_106);
            count += 1;
        }
        count
    }

    #[test]
    fn the_first_window_is_a_round_trip_and_one_packet() {
        let (spec, mut state) = flow(None);
        assert_eq!(sendable(&spec, &mut state), 12);
        let (spec, mut state) = flow(Some(3));
        assert_eq!(sendable(&spec, &mut state), 3);
    }

    #[test]
    fn pulls_are_cumulative() {
        let (spec, mut state) = flow(Some(1));
        assert_eq!(sendable(&spec, &mut state), 1);
        state.on_credit(&spec, Instant::ZERO, 1);
        assert_eq!(sendable(&spec, &mut state), 1);
        // Pulls 2 and 3 are lost or late.
        state.on_credit(&spec, Instant::ZERO, 4);
        assert_eq!(sendable(&spec, &mut state), 3);
        state.on_credit(&spec, Instant::ZERO, 3);
        assert_eq!(sendable(&spec, &mut state), 0);
        // Two pulls that find nothing to send are kept; a timeout adds nothing to them.
        state.on_credit(&spec, Instant::ZERO, 6);
        state.on_retransmit_timeout(&spec, Instant::ZERO);
        assert_eq!(sendable(&spec, &mut state), 2);
        state.on_retransmit_timeout(&spec, Instant::ZERO);
        assert_eq!(sendable(&spec, &mut state), 1);
    }

    fn arrives(pulls: &mut Pulls, place: u32, now: Instant) {
        let arrival = Arrival { now, packet_time: NS_88, ..Arrival::of(place) };
        pulls.on_arrival(&Spec::default(), &arrival);
    }

    /// Three packets of flow 0 arrive, then two of flow 1 and one of flow 2, all at the same time.
    #[test]
    fn pulls_are_paced_and_take_turns_among_flows() {
        let mut pulls = Pulls::new(3);
        assert_eq!(pulls.next_wake(), Instant::NEVER);
        let start = Instant(1_000);
        [0, 0, 0, 1, 1, 2].iter().for_each(|&place| arrives(&mut pulls, place, start));
        let (mut sent, mut now) = (Vec::new(), start);
        while let Some(credit) = pulls.next_credit(now) {
            assert_eq!(pulls.next_credit(now), None);
            assert_eq!(pulls.next_credit(Instant(now.0 + NS_88.0 - 1)), None);
            sent.push((credit.place, credit.number));
            now += NS_88;
            let wake = if sent.len() < 6 { now } else { Instant::NEVER };
            assert_eq!(pulls.next_wake(), wake);
        }
        assert_eq!(sent, [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (0, 3)]);
    }

    #[test]
    fn a_complete_flow_is_pulled_no_more() {
        let mut pulls = Pulls::new(2);
        [0, 0, 1, 1].iter().for_each(|&place| arrives(&mut pulls, place, Instant::ZERO));
        assert_eq!(pulls.next_credit(Instant::ZERO), Some(Credit { place: 0, number: 1 }));
        pulls.on_end(&Spec::default(), 0, Instant::ZERO);
        let next = |pulls: &mut Pulls, n| pulls.next_credit(Instant(n * NS_88.0));
        assert_eq!(next(&mut pulls, 1), Some(Credit { place: 1, number: 1 }));
        assert_eq!(next(&mut pulls, 2), Some(Credit { place: 1, number: 2 }));
        assert_eq!((next(&mut pulls, 3), pulls.next_wake()), (None, Instant::NEVER));
    }
}
