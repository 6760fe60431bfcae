//! The sides of a packet delivery context as a host uses them: with the profile of their flow, and with
//! its congestion control.

use floodway_model::packet::Entropy;
use floodway_model::{Body, Duration, Echo, Ecn, FlowSpec, Instant, Packet};

use super::{Receiver, Sender, Spec, sleek};
use crate::host::Profile;
use crate::host::congestion::{self, Demand, Path};
use crate::host::transport::{
    self, Allowance, Arrived, Frame, HeaderReply, Progress, ReceivingSide, SendingSide, Sent,
};

/// Distinguishes the random numbers of entropy from those of congestion control.
const OF_ENTROPY: u64 = 0x7565_742d_7061_7468;

/// The parameters of the transport in the profile of one of its flows.
fn spec(profile: &Profile) -> &Spec {
    let transport::Spec::Uet(spec) = &profile.transport else {
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
        path: &Path,
        _: Instant,
    ) -> Self {
        let mut sender = Self::new(flow, control, parameters, path.seed ^ OF_ENTROPY);
        sender.requests.begin(path.base_rtt);
        let sleek = parameters.sleek.as_ref();
        sender.sleek = sleek.map(|sleek| Box::new(sleek::State::new(sleek, path)));
        sender
    }

    fn control(&mut self) -> &mut congestion::State {
        &mut self.control
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn sent(&self) -> Sent {
        self.sent
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn is_handed_over(&self) -> bool {
        self.is_handed_over()
    }

    fn has_more(&self) -> bool {
        self.has_more()
    }

    fn stop_at(&mut self, at: Instant) {
        self.stop_at(at);
    }

    fn next_frame(&mut self, profile: &Profile, now: Instant) -> Option<Frame> {
        let mut frame = self.next_frame(spec(profile), now)?;
        let Body::Data { echo, .. } = &mut frame.body else { return Some(frame) };
        if let Some(entropy) = echo.entropy() {
            self.requests.on_packet(entropy.wants_ack);
            if profile.congestion.has_receiver_half() {
                *echo = Echo::of_entropy(self.with_target(entropy, profile));
            }
        }
        Some(frame)
    }

    fn on_sent(&mut self, profile: &Profile, bytes: u64, now: Instant) -> Option<f64> {
        let (rate, window) = self.control.after_send(&profile.congestion, now, bytes);
        self.limit(window, spec(profile));
        self.schedule_request(spec(profile), now);
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

    fn renew_window(&mut self, profile: &Profile, now: Instant) {
        let window = self.control.window(&profile.congestion, now);
        self.limit(window, spec(profile));
        self.schedule_request(spec(profile), now);
    }

    fn on_feedback(&mut self, body: &Body, now: Instant) -> Option<Progress> {
        let progress = match *body {
            Body::UetAck { received, about, ack, bitmap } => {
                self.on_ack((received, about), (ack, bitmap), now)
            }
            Body::TrimNak { echo, psn, sent_at } => self.on_trimmed(echo, psn, sent_at),
            _ => unreachable!("it is no acknowledgement of Ultra Ethernet"),
        };
        self.requests.on_answer(progress.rtt);
        Some(progress)
    }

    fn measure(&mut self, rtt: Duration) {
        self.sent.measure(rtt);
    }

    fn on_credit(&mut self, number: u32, profile: &Profile, now: Instant) {
        self.control.on_credit(&profile.congestion, now, number);
        self.renew_window(profile, now);
    }

    fn share_nic(&mut self, contexts: u32) {
        self.requests.contexts = contexts;
    }

    /// What was asked for is on its way, unless it is due.
    fn request(&mut self, profile: &Profile, now: Instant) -> Option<Frame> {
        let (spec, control) = (spec(profile), &profile.congestion);
        self.schedule_request(spec, now);
        let is_news = self.lacks_credit() && !self.control.awaits_credit(control);
        let is_due = self.is_blocked(spec) && (is_news || self.requests.is_due);
        if !self.takes_probe(now) && !is_due {
            return None;
        }
        self.sent.requests += 1;
        self.requests.is_due = false;
        self.requests.due = Instant::NEVER;
        self.schedule_request(spec, now);
        let target = self.control.credit_target(control, self.demand(false));
        let body = Body::Request { target: target.bytes };
        Some(Frame { body, bytes: profile.transport.credit_frame(), ecn: Ecn::NotEct })
    }

    fn deadline(&self, _: &Profile) -> Instant {
        let probe_at = self.sleek.as_ref().map_or(Instant::NEVER, |sleek| sleek.probe_at);
        self.deadline().min(self.requests.due).min(probe_at)
    }

    /// Without packets in flight there is no timer.
    fn sets_timer_on_sending(&self) -> bool {
        true
    }

    fn on_timer(&mut self, profile: &Profile, now: Instant) {
        for _ in 0..self.on_timer(now) {
            self.control.on_retransmit_timeout(&profile.congestion, now);
        }
        self.requests.on_timer(now);
        if let Some(sleek) = &mut self.sleek {
            sleek.on_timer(now);
        }
        self.renew_window(profile, now);
    }
}

impl Sender {
    fn demand(&self, sends: bool) -> Demand {
        Demand { backlog: self.backlog(), contexts: self.requests.contexts, sends }
    }

    /// With the credit that the sender asks for in a packet.
    fn with_target(&mut self, entropy: Entropy, profile: &Profile) -> Entropy {
        let target = self.control.credit_target(&profile.congestion, self.demand(true));
        Entropy { target: Some(target.packets), ..entropy }
    }
}

impl ReceivingSide for Receiver {
    type Parameters = Spec;

    fn new(parameters: &Spec, flow: &FlowSpec, _: &Profile) -> Self {
        Self::new(flow, parameters)
    }

    fn on_data(&mut self, packet: &Packet, psn: u32, profile: &Profile, _: Instant) -> Arrived {
        self.on_data(spec(profile), packet, psn)
    }

    fn on_request(&mut self) -> Option<Body> {
        Some(self.on_request())
    }

    fn acknowledgement(
        &self,
        packet: &Packet,
        (echo, psn, _): (Echo, u32, Instant),
        _ack: u32,
    ) -> Body {
        self.acknowledgement(psn, echo, packet.ecn())
    }

    fn on_header(
        &mut self,
        packet: &Packet,
        (psn, sent_at): (u32, Instant),
        _: &Profile,
        _: Instant,
    ) -> HeaderReply {
        let Body::Trimmed { echo, .. } = packet.body else { unreachable!("it is a header") };
        let body = match self.has(psn) {
            false => Body::TrimNak { echo: echo.answering(packet.ecn()), psn, sent_at },
            true => self.acknowledgement(psn, echo, packet.ecn()),
        };
        HeaderReply { body, notify: false }
    }

    fn delivered(&self) -> u64 {
        self.delivered()
    }
}
