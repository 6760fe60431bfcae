//! The sides of a RoCEv2 connection as a host uses them: with the profile of their flow, and with its
//! congestion control.

use floodway_model::{Body, Duration, Echo, Ecn, FlowSpec, Instant, Packet};

use super::{Receiver, Sender, Spec};
use crate::host::Profile;
use crate::host::congestion::{self, Control, Path};
use crate::host::transport::{
    self, Allowance, Arrived, Frame, HeaderReply, Progress, ReceivingSide, SendingSide, Sent,
};

/// The parameters of RoCEv2 in the profile of one of its flows.
#[inline]
fn spec(profile: &Profile) -> &Spec {
    let transport::Spec::Rocev2(spec) = &profile.transport else {
        unreachable!("a sender or receiver is built from its own parameters");
    };
    spec
}

impl SendingSide for Sender {
    type Parameters = Spec;

    fn new(
        parameters: &Spec,
        flow: &FlowSpec,
        _: &Profile,
        control: congestion::State,
        _: &Path,
        now: Instant,
    ) -> Self {
        Self::new(flow, control, parameters, now)
    }

    #[inline]
    fn control(&mut self) -> &mut congestion::State {
        &mut self.control
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn sent(&self) -> Sent {
        self.sent
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn is_handed_over(&self) -> bool {
        self.is_handed_over()
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.has_more()
    }

    fn expect_headers(&mut self) {
        self.expect_headers();
    }

    fn stop_at(&mut self, at: Instant) {
        self.stop_at(at);
    }

    #[inline(always)]
    fn next_frame(&mut self, profile: &Profile, now: Instant) -> Option<Frame> {
        self.next_frame(spec(profile), now)
    }

    #[inline(always)]
    fn on_sent(&mut self, profile: &Profile, bytes: u64, now: Instant) -> Option<f64> {
        // DCQCN is by far the most frequent: it is called without the dispatch over all others, so
        // that it can be inlined.
        let (rate, window) = match (&mut self.control, &profile.congestion) {
            (congestion::State::Dcqcn(state), congestion::Spec::Dcqcn(control)) => {
                state.after_send(control, now, bytes)
            }
            (state, control) => state.after_send(control, now, bytes),
        };
        self.limit(window, spec(profile));
        rate
    }

    fn allowance(&mut self, profile: &Profile, now: Instant) -> Allowance {
        let control = &profile.congestion;
        Allowance {
            rate: self.control.rate(control, now),
            window: self.control.window(control, now),
            probes: self.sent.timeouts.into(),
        }
    }

    #[inline(always)]
    fn renew_window(&mut self, profile: &Profile, now: Instant) {
        let window = match (&mut self.control, &profile.congestion) {
            (congestion::State::Dcqcn(state), congestion::Spec::Dcqcn(control)) => {
                state.window(control, now)
            }
            (state, control) => state.window(control, now),
        };
        self.limit(window, spec(profile));
    }

    #[inline(always)]
    fn on_feedback(&mut self, body: &Body, now: Instant) -> Option<Progress> {
        let (before, ..) = self.progress();
        match *body {
            Body::Ack { psn, .. } => self.on_ack(psn, now),
            Body::Nak { psn, arrived, .. } => self.on_nak(psn, arrived, now),
            Body::TrimNak { psn, sent_at, .. } => self.on_trimmed(psn, sent_at, now),
            _ => unreachable!("it is neither an acknowledgement nor a NAK"),
        }
        let (acknowledged, next, fresh) = self.progress();
        let delivered = acknowledged - before;
        Some(Progress { before, acknowledged, next, fresh, delivered, rtt: None })
    }

    fn measure(&mut self, rtt: Duration) {
        self.sent.measure(rtt);
    }

    fn on_credit(&mut self, number: u32, profile: &Profile, now: Instant) {
        self.control.on_credit(&profile.congestion, now, number);
        self.on_credit(now);
        self.renew_window(profile, now);
    }

    #[inline]
    fn deadline(&self, profile: &Profile) -> Instant {
        self.deadline(spec(profile))
    }

    fn on_timer(&mut self, profile: &Profile, now: Instant) {
        let before = self.sent.timeouts;
        self.on_timer(now, spec(profile));
        if self.sent.timeouts > before {
            self.control.on_retransmit_timeout(&profile.congestion, now);
            self.renew_window(profile, now);
        }
    }
}

impl ReceivingSide for Receiver {
    type Parameters = Spec;

    fn new(parameters: &Spec, flow: &FlowSpec, _: &Profile) -> Self {
        Self::new(flow, parameters)
    }

    #[inline]
    fn on_data(&mut self, packet: &Packet, psn: u32, profile: &Profile, now: Instant) -> Arrived {
        let interval = profile.congestion.cnp_interval();
        let notify = packet.ecn() == Ecn::Ce && self.may_notify(interval, now);
        Arrived { notify, ..self.on_data(spec(profile), psn, now) }
    }

    fn on_header(
        &mut self,
        packet: &Packet,
        (psn, sent_at): (u32, Instant),
        profile: &Profile,
        now: Instant,
    ) -> HeaderReply {
        let marked = packet.ecn() == Ecn::Ce;
        let notify = marked && self.may_notify(profile.congestion.cnp_interval(), now);
        let body = match self.has(psn) {
            false => Body::TrimNak { echo: Echo::of(0, marked), psn, sent_at },
            true => {
                let echo = Echo::default().answering(packet.ecn());
                Body::Nak { echo, psn: self.expected(), arrived: psn }
            }
        };
        HeaderReply { body, notify }
    }

    fn delivered(&self) -> u64 {
        self.delivered()
    }
}
