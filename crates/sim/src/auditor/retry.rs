//! Links with a retry: frames arrive in the order in which they are sent, one after the other, and no more are sent
//! than the replay buffer holds.

use std::collections::VecDeque;
use std::sync::Mutex;

use floodway_model::{Duration, Instant, NodeId, PortIx};

use super::network::{ROUNDING, lock};
use super::{Log, time};
use crate::Spec;
use crate::errors::Errors;
use crate::retry;

/// One direction of such a link.
#[derive(Debug)]
pub struct Retried {
    spec: retry::Spec,
    /// Whether frames may have errors.
    has_errors: bool,
    sent: Mutex<Sent>,
}

/// What its port has sent.
#[derive(Debug, Default)]
struct Sent {
    /// The end of the last transmission of the last frame: of those from queues, and of MAC control frames.
    last: [Instant; 2],
    /// Frames from queues that cannot have been acknowledged yet: until when, and their bytes.
    open: VecDeque<(Instant, u64)>,
    /// Their bytes.
    bytes: u64,
}

/// A frame as its port reports it.
#[derive(Debug)]
pub struct Frame {
    /// Its bytes.
    pub bytes: u64,
    /// Whether it is a MAC control frame.
    pub is_control: bool,
    /// The end of its last transmission.
    pub until: Instant,
    /// Its time on the wire, without ordered sets.
    pub wire_time: Duration,
    /// The time of the ordered sets that may be in it.
    pub sets: Duration,
    /// Propagation delay of the link.
    pub delay: Duration,
    /// Whether it does not arrive.
    pub is_lost: bool,
    /// Whether the link was known to be down since the frame before it, and has forgotten what was sent then.
    pub is_after_failure: bool,
}

impl Retried {
    /// The direction that this port sends; `None` if it has no retry.
    pub fn of(spec: &Spec, from: (NodeId, PortIx)) -> Option<Self> {
        let errors = Errors::at(spec, from)?;
        let has_errors = errors.may_happen();
        errors.retry.map(|spec| Self { spec, has_errors, sent: Mutex::default() })
    }

    /// Its parameters.
    pub fn spec(&self) -> &retry::Spec {
        &self.spec
    }

    /// A frame is sent.
    pub fn sends(&self, frame: &Frame, port: usize, log: &mut Log) {
        let mut sent = lock(&self.sent);
        if frame.is_after_failure {
            *sent = Sent::default();
        }
        let now = log.now;
        let least = now.max(sent.last[usize::from(frame.is_control)]) + frame.wire_time;
        if frame.until < least {
            let (until, least) = (time(frame.until), time(least));
            log.port(port, format!("a frame ends at {until} that cannot before {least}"));
        }
        if !self.has_errors && frame.until > now + frame.wire_time + frame.sets + ROUNDING {
            log.port(port, "a frame is sent again on a link without errors");
        }
        sent.last[usize::from(frame.is_control)] = frame.until;
        if frame.is_control {
            return;
        }
        while let Some(&(_, bytes)) = sent.open.front().filter(|(until, _)| *until <= now) {
            sent.bytes -= bytes;
            sent.open.pop_front();
        }
        let back = frame.delay + frame.delay + self.spec.processing;
        let open_until = if frame.is_lost { now } else { frame.until + back };
        sent.open.push_back((open_until, frame.bytes));
        sent.bytes += frame.bytes;
        if sent.bytes > self.spec.buffer.0 {
            let (bytes, size) = (sent.bytes, self.spec.buffer.0);
            log.port(
                port,
                format!("{bytes} bytes wait for an answer in a replay buffer of {size}"),
            );
        }
    }
}
