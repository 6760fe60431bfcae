//! The sending side of a flow: its transport and its rate control.

use floodway_model::{Ecn, FlowSpec, Instant, Rate};
use floodway_sim::host::transport::udp;
use floodway_sim::host::{Profile, congestion, transport};

use super::dcqcn::{Dcqcn, Timer};
use super::frame::Kind;
use super::go_back_n::GoBackN;

/// The timers of a sender that run, and when they expire.
pub type Timers = [Option<(Option<Timer>, Instant)>; 4];

#[derive(Debug)]
pub struct Sender {
    pub flow: u32,
    pub class: usize,
    /// Whether the NIC has it in its round or waits for its time.
    pub in_nic: bool,
    /// When its rate lets it send.
    pub eligible_at: Instant,
    /// The timers that are in the event heap.
    pub armed: Timers,
    transport: Transport,
    dcqcn: Option<Dcqcn>,
    line: Rate,
}

#[derive(Debug)]
enum Transport {
    Rocev2(GoBackN),
    Udp { sent: u64, packets: u64, bytes: u64, stop: Instant },
}

impl Sender {
    pub fn new(
        (number, flow): (u32, &FlowSpec),
        class: usize,
        profile: &Profile,
        line: Rate,
        now: Instant,
    ) -> Self {
        let transport = match &profile.transport {
            transport::Spec::Rocev2(spec) => Transport::Rocev2(GoBackN::new(spec, flow, now)),
            transport::Spec::Udp(spec) => {
                let endless = flow.is_persistent();
                let packets = if endless { u64::MAX } else { flow.bytes.div_ceil(spec.payload.0) };
                let stop = if endless { flow.stop } else { Instant::NEVER };
                Transport::Udp { sent: 0, packets, bytes: flow.bytes, stop }
            }
            _ => unreachable!("`known::check` refuses it"),
        };
        let dcqcn = match &profile.congestion {
            congestion::Spec::Dcqcn(spec) => Some(Dcqcn::new(line, spec)),
            congestion::Spec::LineRate(_) | congestion::Spec::ConstantRate(_) => None,
            _ => unreachable!("`known::check` refuses it"),
        };
        let mut sender = Self {
            flow: number,
            class,
            in_nic: true,
            eligible_at: now,
            armed: [None; 4],
            transport,
            dcqcn,
            line,
        };
        sender.renew_window(profile);
        sender
    }

    pub fn is_done(&self) -> bool {
        match &self.transport {
            Transport::Rocev2(message) => message.is_done(),
            Transport::Udp { sent, packets, .. } => sent == packets,
        }
    }

    pub fn has_more(&self) -> bool {
        match &self.transport {
            Transport::Rocev2(message) => message.has_more(),
            Transport::Udp { .. } => !self.is_done(),
        }
    }

    /// Number, frame length and ECN field of the next packet.
    pub fn take(&mut self, profile: &Profile, now: Instant) -> Option<(u32, u16, Ecn)> {
        match (&mut self.transport, &profile.transport) {
            (Transport::Rocev2(message), transport::Spec::Rocev2(spec)) => {
                let (psn, payload) = message.take(spec, now)?;
                let bytes = (payload + spec.overhead.0).max(spec.shortest.0);
                Some((psn as u32, bytes as u16, Ecn::Ect0))
            }
            (Transport::Udp { sent, packets, bytes, stop }, transport::Spec::Udp(spec)) => {
                if now >= *stop {
                    *packets = *sent;
                }
                if sent == packets {
                    return None;
                }
                let payload = spec.payload.0.min(*bytes - *sent * spec.payload.0);
                *sent += 1;
                let ecn = match spec.ecn {
                    udp::Field::NotEct => Ecn::NotEct,
                    udp::Field::Ect0 => Ecn::Ect0,
                    udp::Field::Ect1 => Ecn::Ect1,
                };
                // Ethernet 14 and 4, IPv4 20, UDP 8; at least the 64 bytes of Ethernet.
                Some(((*sent - 1) as u32, (payload + 46).max(64) as u16, ecn))
            }
            _ => unreachable!("a sender is made from its profile"),
        }
    }

    /// A packet of so many bytes, on the wire, is sent: the time to the next, in picoseconds, if the
    /// NIC is not slower.
    pub fn on_sent(&mut self, profile: &Profile, on_wire: u64) -> u64 {
        let rate = match (&mut self.dcqcn, &profile.congestion) {
            (Some(dcqcn), congestion::Spec::Dcqcn(spec)) => {
                // The byte counter first: an increase concerns the gap behind this packet already.
                dcqcn.on_send(spec, on_wire);
                dcqcn.rate()
            }
            (_, congestion::Spec::ConstantRate(spec)) => Some(spec.rate.0 as f64),
            _ => None,
        };
        self.renew_window(profile);
        rate.map_or(0, |rate| (on_wire as f64 * 8e12 / rate) as u64)
    }

    /// As much may be in flight as transport and rate control allow now, at least a packet.
    fn renew_window(&mut self, profile: &Profile) {
        let (Transport::Rocev2(message), transport::Spec::Rocev2(spec)) =
            (&mut self.transport, &profile.transport)
        else {
            return;
        };
        message.window = spec.in_flight.map_or(u64::MAX, |bytes| bytes.0 / spec.mtu.0);
        if let (Some(dcqcn), congestion::Spec::Dcqcn(control)) = (&self.dcqcn, &profile.congestion)
            && let Some(time) = control.window
        {
            let full = self.line.bytes_in(time).0;
            let share =
                if control.window_follows_rate { dcqcn.current / self.line.0 as f64 } else { 1.0 };
            let packets = (full as f64 * share) as u64 / spec.mtu.0;
            message.window = message.window.min(packets.max(1));
        }
    }

    /// An acknowledgement, a NAK or a CNP has come.
    pub fn on_answer(&mut self, profile: &Profile, answer: &Kind, now: Instant) {
        let Transport::Rocev2(message) = &mut self.transport else { return };
        let (notifies, marked) = match answer {
            Kind::Ack { psn, marked } => {
                message.on_ack(u64::from(*psn), now);
                (false, *marked)
            }
            Kind::Nak { psn, marked } => {
                message.on_nak(u64::from(*psn), now);
                (false, *marked)
            }
            Kind::Cnp => (true, false),
            Kind::Data { .. } | Kind::Pause { .. } => unreachable!("no answers"),
        };
        if let (Some(dcqcn), congestion::Spec::Dcqcn(spec)) = (&mut self.dcqcn, &profile.congestion)
        {
            let by_acks = spec.notification == congestion::dcqcn::Notification::Ack;
            if notifies || by_acks && marked {
                dcqcn.on_cnp(spec, now);
            }
        }
        self.renew_window(profile);
    }

    /// When it has waited too long.
    pub fn deadline(&self, profile: &Profile) -> Option<Instant> {
        match (&self.transport, &profile.transport) {
            (Transport::Rocev2(message), transport::Spec::Rocev2(spec)) => message.deadline(spec),
            _ => None,
        }
    }

    pub fn on_timeout(&mut self, profile: &Profile, now: Instant) {
        if let Transport::Rocev2(message) = &mut self.transport {
            message.on_timeout(now);
        }
        self.renew_window(profile);
    }

    pub fn on_rate_timer(&mut self, profile: &Profile, timer: Timer, now: Instant) {
        if let (Some(dcqcn), congestion::Spec::Dcqcn(spec)) = (&mut self.dcqcn, &profile.congestion)
        {
            dcqcn.on_timer(timer, spec, now);
        }
    }

    /// When its timers expire, those that run: of its rate control, and `None` for that of its
    /// transport.
    pub fn timers(&self, profile: &Profile) -> Timers {
        let [alpha, cut, increase] = self.dcqcn.as_ref().map_or([None; 3], |dcqcn| dcqcn.timers());
        let timeout = self.deadline(profile).map(|at| (None, at));
        [alpha, cut, increase, timeout]
    }
}
