//! The receiving side of a message: of RoCEv2 with go-back-N and the notification point of DCQCN, and
//! of datagrams.

use floodway_model::{Duration, FlowSpec, Instant};
use floodway_sim::host::congestion::{self, dcqcn};
use floodway_sim::host::transport::rocev2::{Spec, recovery};
use floodway_sim::host::{Profile, transport};

use super::frame::Kind;

#[derive(Debug)]
pub struct Receiver {
    packets: u64,
    /// Of RoCEv2 the next packet in order; of datagrams how many have come.
    expected: u64,
    /// Packets in order since the last acknowledgement.
    since_ack: u32,
    /// The packet last asked for by a NAK, and when.
    asked: Option<(u64, Instant)>,
    last_cnp: Option<Instant>,
}

impl Receiver {
    pub fn new(profile: &Profile, flow: &FlowSpec) -> Self {
        let payload = match &profile.transport {
            transport::Spec::Rocev2(spec) => spec.mtu.0,
            transport::Spec::Udp(spec) => spec.payload.0,
            _ => unreachable!("`known::check` refuses it"),
        };
        let packets = if flow.is_persistent() { u64::MAX } else { flow.bytes.div_ceil(payload) };
        Self { packets, expected: 0, since_ack: 0, asked: None, last_cnp: None }
    }

    pub fn is_complete(&self) -> bool {
        self.expected == self.packets
    }

    /// A packet has come: the answers, in their order.
    pub fn on_data(
        &mut self,
        profile: &Profile,
        psn: u32,
        marked: bool,
        now: Instant,
    ) -> Vec<Kind> {
        let transport::Spec::Rocev2(spec) = &profile.transport else {
            self.expected += 1;
            return Vec::new();
        };
        let mut answers = Vec::new();
        if marked && self.notifies(&profile.congestion, now) {
            answers.push(Kind::Cnp);
        }
        answers.extend(self.answer(spec, psn.into(), marked, now));
        answers
    }

    /// Whether a CNP is due for a marked packet.
    fn notifies(&mut self, congestion: &congestion::Spec, now: Instant) -> bool {
        let congestion::Spec::Dcqcn(spec) = congestion else { return false };
        let rested = is_past(self.last_cnp, spec.cnp_interval, now);
        let notifies = spec.notification == dcqcn::Notification::Cnp && rested;
        if notifies {
            self.last_cnp = Some(now);
        }
        notifies
    }

    fn answer(&mut self, spec: &Spec, psn: u64, marked: bool, now: Instant) -> Option<Kind> {
        let recovery::Spec::GoBackN(go_back_n) = &spec.recovery else {
            unreachable!("`known::check` refuses it")
        };
        if psn > self.expected {
            // Once for each missing packet, and again after a while.
            let last = self.asked.filter(|(asked, _)| *asked == self.expected).map(|(_, at)| at);
            let asks = is_past(last, go_back_n.nak_interval, now);
            if asks {
                self.asked = Some((self.expected, now));
            }
            return asks.then_some(Kind::Nak { psn: self.expected as u32, marked });
        }
        if psn == self.expected {
            self.expected += 1;
            self.since_ack += 1;
            if self.since_ack < spec.ack_every && !self.is_complete() {
                return None;
            }
            self.since_ack = 0;
        }
        Some(Kind::Ack { psn: self.expected as u32, marked })
    }
}

/// Whether so much time has passed since then, if there was one.
fn is_past(last: Option<Instant>, interval: Duration, now: Instant) -> bool {
    last.is_none_or(|last| now.0 - last.0 >= interval.0)
}
