//! TCP as in a current Linux kernel, packet by packet.
//!
//! A message is cut into segments of the MSS, and segments are numbered instead of bytes. The model
//! includes a handshake with ECN negotiation (`handshake`), selective acknowledgement (`scoreboard`),
//! loss detection by time (RACK) with a tail loss probe (TLP; both RFC 8985) or by duplicate
//! acknowledgements (RFC 6675), the retransmission timeout of RFC 6298 with F-RTO, proportional rate
//! reduction (RFC 6937), delivery-rate samples, delayed acknowledgements, and all forms of ECN
//! feedback (`ecn`). A reduction that turns out to be spurious is undone, based on duplicates that
//! the receiver reports (DSACK, RFC 3708) or on F-RTO (RFC 5682). The size of the window is
//! determined by [`congestion`].
//!
//! Both ends are plain state machines: they get the frames that arrive, with the time, and return the
//! frames to send and the time of their next timer. They have no access to network or clock.
//!
//! Simplifications: there is no teardown (no FIN; a connection is over when everything is
//! acknowledged), no Nagle algorithm, and no timestamp echo (round-trip times are measured from
//! segments that were sent once, by Karn's algorithm; the 12 bytes of the option are on the wire).
//! Acknowledgements are not ECN-capable, and a lost SYN/ACK is recovered by the sender's next SYN.

mod acks;
mod delayed_ack;
mod dup_acks;
mod ecn;
mod handshake;
mod idle;
mod loss;
mod prr;
mod rack;
mod rate;
mod receiver;
mod reuse;
mod rtt;
mod sack;
mod scoreboard;
mod sender;
mod sides;
mod spec;
mod supply;
#[cfg(test)]
mod tests;
mod timers;
mod usage;

use floodway_model::packet::length;
use floodway_model::{AckFlags, Body, Ecn, SackBlock};

pub use ecn::{Codepoint, Feedback};
pub use idle::IdleRestart;
pub use loss::LossDetection;
pub use receiver::{Arrived, Receiver, Reply, Segment};
pub use sender::{Sender, Sent};
pub use sides::rules;
pub use spec::Spec;
pub use supply::Supply;

use crate::host::congestion::{self, Control};

/// The parameters of a flow's transport and of its congestion control.
#[derive(Debug)]
pub struct Rules<'a, C: Control = congestion::State> {
    /// Parameters of TCP.
    pub tcp: &'a Spec,
    /// Parameters of the congestion control.
    pub congestion: &'a C::Spec,
}

impl<C: Control> Clone for Rules<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Control> Copy for Rules<'_, C> {}

/// A frame to be sent by a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Out {
    /// Its content: [`Body::Syn`] or [`Body::Segment`].
    pub body: Body,
    /// Frame length in bytes, destination address to FCS.
    pub bytes: u16,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Whether it is a retransmission.
    pub retransmission: bool,
}

/// Content of a TCP acknowledgement: the fields of [`Body::TcpAck`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Flags.
    pub flags: AckFlags,
    /// Number of segments that have arrived with CE, modulo 65,536.
    pub marked: u16,
    /// Everything below has arrived.
    pub ack: u32,
    /// Selective acknowledgements.
    pub sack: [SackBlock; 2],
}

impl Acknowledgement {
    /// Extracted from a frame; `None` if that is not an acknowledgement.
    pub fn of(body: &Body) -> Option<Self> {
        match *body {
            Body::TcpAck { flags, marked, ack, sack } => Some(Self { flags, marked, ack, sack }),
            _ => None,
        }
    }

    /// As the content of a frame.
    pub fn body(self) -> Body {
        let Self { flags, marked, ack, sack } = self;
        Body::TcpAck { flags, marked, ack, sack }
    }
}

/// Length of a SYN or SYN/ACK: Ethernet 14, IPv4 20, TCP 20 with 20 bytes of options (MSS, SACK
/// permitted, timestamps, window scale), FCS 4.
pub const SYN_FRAME: u16 = 78;

/// Length of a frame with `payload` bytes.
pub const fn segment_frame(payload: u16) -> u16 {
    payload + length::TCP_OVERHEAD
}
