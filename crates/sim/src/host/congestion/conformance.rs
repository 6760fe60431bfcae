//! Invariants that every congestion control must satisfy for any sequence of events. The list of
//! members comes from the family, so new members are tested automatically.

use floodway_model::{Bytes, Duration, EcnFeedback, Instant, NodeId, PortIx, Rate};
use proptest::prelude::*;

use super::{
    Ack, Answer, Congestion, Lost, Needs, Path, Phase, RateSample, Signal, Spec, State, Timeout,
    Trimmed,
};
use crate::csig;
use crate::telemetry::Hop;

/// An acknowledgement of one packet after this round-trip time.
pub fn ack(now: Instant, rtt: Duration) -> Ack {
    Ack {
        now,
        acked: 1,
        delivered: 1,
        marked: 0,
        rtt: Some(rtt),
        smoothed_rtt: rtt,
        min_rtt: rtt,
        prior_in_flight: 10,
        in_flight: 9,
        lost: 0,
        phase: Phase::Open,
        window_limited: true,
        round_begins: false,
        rate: None,
    }
}

/// An event of a flow.
#[derive(Clone, Debug)]
enum Event {
    Ack { delivered: u32, marked: u32, rtt: u64, limited: bool, round: bool },
    Answer { acked: u32, marked: bool, nak: bool, rtt: u64, backlog: u64 },
    Notification,
    Indication(u8),
    Message(u8),
    Mark,
    Loss,
    Timeout,
    Recovered,
    Undo,
    Restart,
    Send,
    Credit(u32),
}

fn event() -> impl Strategy<Value = Event> {
    let ack = (1..200u32, 0..200u32, 1..200_000_000_000u64, any::<bool>(), any::<bool>());
    let ack = ack.prop_map(|(delivered, marked, rtt, limited, round)| Event::Ack {
        delivered,
        marked: marked.min(delivered),
        rtt,
        limited,
        round,
    });
    let answer = (0..200u32, any::<bool>(), any::<bool>(), 1..200_000_000_000u64, 0..10_000_000u64);
    let answer = answer.prop_map(|(acked, marked, nak, rtt, backlog)| Event::Answer {
        acked,
        marked,
        nak,
        rtt,
        backlog,
    });
    prop_oneof![
        12 => ack,
        12 => answer,
        1 => Just(Event::Notification),
        1 => any::<u8>().prop_map(Event::Indication),
        1 => (1..64u8).prop_map(Event::Message),
        1 => Just(Event::Mark),
        1 => Just(Event::Loss),
        1 => Just(Event::Timeout),
        2 => Just(Event::Recovered),
        1 => Just(Event::Undo),
        1 => Just(Event::Restart),
        2 => Just(Event::Send),
        1 => any::<u32>().prop_map(Event::Credit),
    ]
}

/// A flow, and the state of its transport.
struct Flow<'a> {
    spec: &'a Spec,
    path: Path,
    control: State,
    now: Instant,
    phase: Phase,
    delivered: u64,
    min_rtt: Duration,
    /// Window before the last event, if that can be undone.
    undo: Option<u64>,
}

impl<'a> Flow<'a> {
    fn new(spec: &'a Spec, path: Path) -> Self {
        Self {
            spec,
            path,
            control: State::new(spec, &path),
            now: Instant::ZERO,
            phase: Phase::Open,
            delivered: 0,
            min_rtt: Duration(u64::MAX),
            undo: None,
        }
    }

    /// Checks the invariants of window and rate, and returns the window in bytes.
    fn window(&mut self) -> Result<u64, TestCaseError> {
        let window = self.control.window(self.spec, self.now).unwrap_or(u64::MAX);
        let without_credit = window == 0 && self.spec.has_receiver_half();
        prop_assert!(without_credit || window >= self.path.payload, "a window of {window} bytes");
        if let Some(rate) = self.control.rate(self.spec, self.now) {
            prop_assert!(rate.is_finite() && rate > 0.0, "a rate of {rate}");
        }
        Ok(window)
    }

    fn congestion(&mut self, signal: Signal) {
        let (now, in_flight) = (self.now, 10);
        if signal == Signal::Loss {
            let lost = Lost { now, in_flight_at_send: in_flight, lost: 1, app_limited: false };
            self.control.on_lost(self.spec, &lost);
        }
        self.control.on_congestion(self.spec, &Congestion { now, signal, in_flight });
    }

    fn ack(&mut self, delivered: u32, marked: u32, rtt: Duration, limited: bool, round: bool) {
        self.min_rtt = self.min_rtt.min(rtt);
        let prior_delivered = self.delivered;
        self.delivered += u64::from(delivered);
        let sample = RateSample {
            delivered,
            marked,
            lost: 0,
            interval: rtt,
            prior_delivered,
            in_flight_at_send: delivered,
            app_limited: !limited,
        };
        let ack = Ack {
            acked: delivered,
            delivered,
            marked,
            min_rtt: self.min_rtt,
            prior_in_flight: delivered + 10,
            in_flight: 10,
            phase: self.phase,
            window_limited: limited,
            round_begins: round,
            rate: Some(sample),
            ..ack(self.now, rtt)
        };
        self.control.on_ack(self.spec, &ack);
    }

    /// A RoCEv2 acknowledgement with the telemetry of one hop, whose link has a tenth of the NIC's
    /// rate and this backlog.
    fn answer(&mut self, acked: u32, marked: bool, rtt: Option<Duration>, backlog: u64) {
        if self.spec.needs().is_about_answers() {
            // The reaction to it is not undone.
            self.undo = None;
        }
        self.delivered += u64::from(acked);
        let ack = self.delivered as u32;
        let rate = Rate(self.path.line_rate.0 / 10);
        let at = Instant(self.now.0.saturating_sub(1_000_000));
        let hops = [Hop { rate, tx_bytes: rate.bytes_in(Duration(at.0)).0, backlog, at }];
        let (now, nak, sent) = (self.now, rtt.is_none(), ack.wrapping_add(10));
        let trimmed = nak.then_some(Trimmed::InFabric);
        let (in_flight, hops) = (10, hops.as_slice());
        let mut tag = csig::Spec::default().tag();
        tag.pass((NodeId(0), PortIx(0)), rate.time_for(Bytes(backlog)));
        let tag = Some(tag);
        let answer =
            Answer { now, ack, acked, sent, in_flight, rtt, marked, nak, trimmed, hops, tag };
        self.control.on_answer(self.spec, &answer);
    }

    fn happen(&mut self, event: &Event) -> Result<(), TestCaseError> {
        let before = self.window()?;
        match *event {
            Event::Ack { delivered, marked, rtt, limited, round } => {
                self.now.0 += rtt / 50;
                self.ack(delivered, marked, Duration(rtt), limited, round);
            }
            Event::Answer { acked, marked, nak, rtt, backlog } => {
                self.now.0 += rtt / 50;
                self.answer(acked, marked, (!nak).then_some(Duration(rtt)), backlog);
            }
            Event::Notification => self.control.on_cnp(self.spec, self.now),
            Event::Indication(severity) => {
                let rate = self.control.rate(self.spec, self.now).unwrap_or(f64::INFINITY);
                self.control.on_indication(self.spec, self.now, severity);
                let after = self.control.rate(self.spec, self.now).unwrap_or(f64::INFINITY);
                prop_assert!(after <= rate, "an indication makes the rate grow");
            }
            Event::Message(feedback) => {
                let rate = self.control.rate(self.spec, self.now).unwrap_or(f64::INFINITY);
                self.control.on_cnm(self.spec, self.now, feedback);
                let after = self.control.rate(self.spec, self.now).unwrap_or(f64::INFINITY);
                prop_assert!(after <= rate, "a message makes the rate grow");
            }
            Event::Mark if self.phase == Phase::Open => {
                self.phase = Phase::Reducing;
                self.undo = None;
                self.congestion(Signal::Mark);
                prop_assert!(self.window()? <= before, "a mark makes the window grow");
            }
            Event::Loss if self.phase == Phase::Open => {
                self.phase = Phase::Recovery;
                self.undo = Some(before);
                self.congestion(Signal::Loss);
                prop_assert!(self.window()? <= before, "a loss makes the window grow");
            }
            Event::Timeout => {
                let again = self.phase == Phase::Loss;
                self.phase = Phase::Loss;
                self.undo = Some(before);
                let timeout = Timeout { now: self.now, in_flight: 10, again };
                self.control.on_timeout(self.spec, &timeout);
                prop_assert!(self.window()? <= before, "a timeout makes the window grow");
            }
            Event::Recovered if self.phase != Phase::Open => {
                self.phase = Phase::Open;
                self.control.on_recovered(self.spec, self.now);
            }
            Event::Undo => {
                if let Some(window) = self.undo.take() {
                    self.phase = Phase::Open;
                    self.control.on_undo(self.spec, self.now);
                    // A control that owns its recovery leaves recovery with the next
                    // acknowledgement.
                    let restored = self.window()? >= window;
                    let later = self.control.owns_recovery(self.spec);
                    let by_credit = self.spec.has_receiver_half();
                    prop_assert!(
                        restored || later || by_credit,
                        "undoing does not restore the window"
                    );
                }
            }
            Event::Restart => {
                self.now.0 += Duration::from_ms(50).0;
                self.control.on_restart(self.spec, self.now, u32::MAX);
            }
            Event::Send => {
                self.control.on_send(self.spec, self.now, self.path.wire);
                // What is sent uses credit up, which undoing does not bring back.
                self.undo = self.undo.filter(|_| !self.spec.has_receiver_half());
            }
            Event::Credit(number) => {
                // The first one may end a first window.
                self.control.on_credit(self.spec, self.now, 0);
                let before = self.window()?;
                self.control.on_credit(self.spec, self.now, number);
                prop_assert!(self.window()? >= before, "credit makes the window shrink");
                self.undo = self.undo.filter(|_| !self.spec.has_receiver_half());
            }
            Event::Mark | Event::Loss | Event::Recovered => {}
        }
        self.window().map(|_| ())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn windows_and_rates_stay_sane(
        events in prop::collection::vec(event(), 1..300),
        line_rate in prop_oneof![Just(Rate(1_000_000)), Just(Rate::from_gbps(400))],
        initial_window in 0..20u32,
    ) {
        for spec in Spec::all() {
            let path = Path { initial_window, ..Path::at(line_rate) };
            let mut flow = Flow::new(&spec, path);
            for (n, event) in events.iter().enumerate() {
                flow.happen(event).map_err(|error| {
                    TestCaseError::fail(format!("{}, event {n}: {error}", spec.name()))
                })?;
            }
        }
    }
}

#[test]
fn the_list_is_the_catalogue() {
    let names: Vec<_> = Spec::all().iter().map(Spec::name).collect();
    let catalogue: Vec<_> = super::CATALOGUE.iter().map(|entry| entry.name).collect();
    assert_eq!(names, catalogue);
}

/// A control that receives acknowledgements has a window, and only such a control can ask for ECN
/// feedback.
#[test]
fn needs_tell_who_has_a_window() {
    for spec in Spec::all() {
        let mut state = State::new(&spec, &Path::at(Rate::from_gbps(1)));
        let window = state.window(&spec, Instant::ZERO);
        if spec.needs().is_about_answers() {
            continue;
        }
        let acknowledged = spec.needs() == Needs::Acknowledgements;
        assert_eq!(window, acknowledged.then_some(10 * 1_448), "{}", spec.name());
        assert!(acknowledged || spec.feedback() == EcnFeedback::None, "{}", spec.name());
    }
}

#[test]
fn a_window_of_billions_does_not_overflow() {
    for spec in Spec::all() {
        let mut flow = Flow::new(&spec, Path::at(Rate::from_gbps(400)));
        for _ in 0..64 {
            flow.now.0 += 1_000_000;
            flow.ack(u32::MAX / 4, 0, Duration::from_us(10), true, true);
            assert!(flow.window().is_ok());
        }
        flow.happen(&Event::Loss).unwrap();
        flow.happen(&Event::Recovered).unwrap();
        flow.ack(u32::MAX / 4, 0, Duration::from_us(10), true, true);
        assert!(flow.window().is_ok());
    }
}

/// RoCEv2 flows store the state inline with the data needed for every packet.
#[test]
fn no_state_makes_those_of_rocev2_larger() {
    let dcqcn = size_of::<super::dcqcn::State>();
    assert!(size_of::<State>() <= dcqcn + 8, "{} and {dcqcn}", size_of::<State>());
}
