//! The sides of a TCP connection as a host uses them: with the profile of their flow.

use floodway_model::{Duration, Ecn, FlowSpec, Instant};

use super::{Out, Receiver, Rules, Sender, Spec, Supply};
use crate::host::Profile;
use crate::host::congestion::{self, Path};
use crate::host::transport::{self, Allowance, Frame, ReceivingSide, SendingSide, Sent};

/// The parameters of TCP and of the congestion control in the profile of a flow of TCP.
#[inline]
pub fn rules(profile: &Profile) -> Rules<'_> {
    let transport::Spec::Tcp(tcp) = &profile.transport else {
        unreachable!("a sender or receiver is built from its own parameters");
    };
    Rules { tcp, congestion: &profile.congestion }
}

impl SendingSide for Sender {
    type Parameters = Spec;

    fn new(
        tcp: &Spec,
        flow: &FlowSpec,
        profile: &Profile,
        control: congestion::State,
        path: &Path,
        now: Instant,
    ) -> Self {
        let supply = match &profile.application {
            Some(_) if flow.is_persistent() => Supply::Written,
            _ if flow.is_persistent() => Supply::Endless(flow.stop),
            _ => Supply::Message(flow.bytes),
        };
        let rules = Rules { tcp, congestion: &profile.congestion };
        Self::new(rules, control, path, supply, now)
    }

    #[inline]
    fn control(&mut self) -> &mut congestion::State {
        &mut self.control
    }

    fn ecn(&self) -> Ecn {
        self.ecn()
    }

    fn sent(&self) -> Sent {
        let (sum, count) = self.rtt_sum();
        Sent {
            packets: self.sent.packets,
            retransmitted: self.sent.retransmitted,
            timeouts: self.sent.timeouts as u32,
            rtts: count as u32,
            rtt_sum: Duration(sum as u64),
            acknowledged: None,
            ..Sent::default()
        }
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

    fn stop_at(&mut self, at: Instant) {
        self.stop_at(at);
    }

    #[inline]
    fn next_frame(&mut self, profile: &Profile, now: Instant) -> Option<Frame> {
        let Out { body, bytes, ecn, .. } = self.next(rules(profile), now)?;
        Some(Frame { body, bytes, ecn })
    }

    #[inline]
    fn on_sent(&mut self, profile: &Profile, bytes: u64, now: Instant) -> Option<f64> {
        self.control.on_send(&profile.congestion, now, bytes);
        self.rate(rules(profile), now)
    }

    fn allowance(&mut self, profile: &Profile, now: Instant) -> Allowance {
        Allowance {
            rate: self.rate(rules(profile), now),
            window: self.window(),
            probes: self.sent.probes,
        }
    }

    fn on_indication(&mut self, _: u8, profile: &Profile, now: Instant) {
        self.on_indication(rules(profile), now);
    }

    #[inline]
    fn deadline(&self, _: &Profile) -> Instant {
        self.deadline()
    }

    #[inline]
    fn sets_timer_on_sending(&self) -> bool {
        true
    }

    fn on_timer(&mut self, profile: &Profile, now: Instant) {
        self.on_timer(rules(profile), now);
    }
}

impl ReceivingSide for Receiver {
    type Parameters = Spec;

    fn new(parameters: &Spec, flow: &FlowSpec, profile: &Profile) -> Self {
        let segments = (!flow.is_persistent()).then(|| parameters.segments(flow.bytes));
        let mut receiver = Self::new(parameters, segments);
        if let Some(application) = &profile.application {
            receiver.keep_pushes();
            if let Some(bytes) = application.answer() {
                receiver.answer_pushes(bytes);
            }
        }
        receiver
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.deadline()
    }

    fn pushed(&self) -> &[(u32, Instant)] {
        self.pushes()
    }

    fn delivered(&self) -> u64 {
        self.delivered()
    }
}
