//! Link-level retry: frames with bit errors are sent again by the port that sent them (Ultra Ethernet specification
//! 1.0, section 5.1, as public notes have it).
//!
//! Frames are numbered, and the receiver of a link accepts them in order. When one arrives with an error, it
//! discards this one and everything after it, and asks for it with a NACK. The sender keeps frames in a replay
//! buffer until they are acknowledged, and goes back to the frame that it is asked for. Acknowledgements and NACKs
//! are ordered sets of the line code, for which the other direction has room at regular distances, also within
//! frames. So they are not queued, and when an answer arrives is known when a frame is sent: nothing but the sender
//! has a state.
//!
//! The same holds for errors, which the sender draws: it knows when it sends a frame for the first time how often
//! it will be sent, and when it will arrive at last ([`Retry::send`]). Until the NACK arrives it sends further
//! frames, which the receiver will discard. Their places in the series of replays are known then as well. From the
//! arrival of the NACK until the last of them has been sent again, the port takes no frame from its queues
//! ([`Retry::stalled`]).
//!
//! MAC control frames (pauses, credit, and others that end at the neighbor) are numbered apart and wait neither for
//! replays nor for room in the replay buffer, so that an error does not delay them unless it is their own.

use std::collections::VecDeque;

use floodway_model::units::ByteTime;
use floodway_model::{Bytes, Duration, Instant, NodeId, PortIx};
use serde::Serialize;

use crate::errors::{BitErrors, Counts, Errors};
use crate::failure::transmitter_name;
use crate::link::Link;

/// Bytes of an ordered set, which may have an error like frames.
const ORDERED_SET: u64 = 8;

/// Parameters of the retry of a link, both of its ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// Size of the replay buffer, in bytes of frames.
    pub buffer: Bytes,
    /// How often a frame is sent again before it is given up.
    pub count: u32,
    /// Time at both ends together, from the last bit of a frame to its answer in the line code and from there to
    /// the first bit of a replay.
    pub processing: Duration,
    /// How long after a frame the sender sends it again if it gets no answer.
    pub timer: Duration,
    /// Distance of ordered sets in the line code, in bytes.
    pub spacing: Bytes,
    /// Bytes that each of them takes from frames.
    pub overhead: Bytes,
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fate {
    /// The first bit of its last transmission is sent: that with which it arrives, or is given up.
    pub begins: Instant,
    /// The end of that transmission.
    pub ends: Instant,
    /// When the port may send the next frame: the end of the first transmission.
    pub free: Instant,
    /// Time of all transmissions on the wire.
    pub busy: Duration,
    /// Whether the frame is given up.
    pub is_lost: bool,
}

/// The state of the sending end of one direction.
#[derive(Debug)]
pub struct Retry {
    spec: Spec,
    errors: BitErrors,
    of_control: BitErrors,
    /// Errors of the ordered sets of the other direction.
    of_answers: BitErrors,
    byte_time: ByteTime,
    /// Propagation delay of the link.
    delay: Duration,
    /// Time between two ordered sets of the other direction.
    slot: Duration,
    /// Longest frame, in bytes.
    largest: u64,
    /// Bytes sent for the first time, with preamble and gap, of which ordered sets follow.
    sent: u64,
    /// When everything that was taken so far has been sent for the last time.
    done_at: Instant,
    /// The same of MAC control frames.
    control_done_at: Instant,
    /// When the first NACK arrives because of which frames are sent again until `done_at`.
    nack_at: Instant,
    /// Frames in the replay buffer: when they leave it, and their bytes.
    held: VecDeque<(Instant, u64)>,
    /// Their bytes.
    held_bytes: u64,
    /// When the replay buffer has room for the longest frame again.
    full_until: Instant,
    /// The latest time at which it was asked whether the port may send.
    asked_at: Instant,
    /// The fate of the last frame.
    pub last: Fate,
    /// Counters.
    pub counts: Counts,
}

impl Retry {
    /// What sends frames of this port again; `None` if nothing does.
    pub fn at(spec: &crate::Spec, end: (NodeId, PortIx), link: &Link) -> Option<Box<Self>> {
        Self::new(Errors::at(spec, end)?, link, spec.seed, &transmitter_name(&spec.graph, end))
    }

    /// At the start of a simulation with this seed; `name` is that of the transmitter. `None` if the link has no retry.
    pub fn new(errors: &Errors, link: &Link, seed: u64, name: &str) -> Option<Box<Self>> {
        let spec = errors.retry?;
        let of = |listed, what: &str| {
            BitErrors::new(errors.rate, listed, seed, &format!("{name}{what}"))
        };
        Some(Box::new(Self {
            spec,
            errors: of(&errors.frames, ""),
            of_control: of(&[], ", control"),
            of_answers: of(&[], ", answers"),
            byte_time: ByteTime::at(link.rate),
            delay: link.delay,
            slot: ByteTime::at(link.rate_back).of(spec.spacing.0),
            largest: link.largest_frame.into(),
            sent: 0,
            done_at: Instant::ZERO,
            control_done_at: Instant::ZERO,
            nack_at: Instant::NEVER,
            held: VecDeque::new(),
            held_bytes: 0,
            full_until: Instant::ZERO,
            asked_at: Instant::ZERO,
            last: Fate::default(),
            counts: Counts::default(),
        }))
    }

    /// When the answer to a frame arrives whose last bit was sent at `sent`: it takes the first ordered set of the
    /// other direction once the frame has arrived.
    fn answered(&self, sent: Instant) -> Instant {
        let ready = sent + self.delay + self.spec.processing;
        let leaves = match self.slot.0 {
            0 => ready,
            slot => Instant(ready.0.div_ceil(slot) * slot),
        };
        leaves + self.delay
    }

    /// When the sender goes back to a frame that had an error: when the NACK arrives or, if that has an error
    /// itself, when the timer expires.
    fn goes_back(&mut self, sent: Instant) -> Instant {
        match self.of_answers.hit(ORDERED_SET) {
            true => sent + self.spec.timer,
            false => self.answered(sent),
        }
    }

    /// A frame of `bytes`, `on_wire` with preamble and gap, is sent for the first time.
    pub fn send(&mut self, bytes: u16, on_wire: u64, is_control: bool, now: Instant) -> Fate {
        let before = self.sent;
        self.sent += on_wire;
        let sets = match self.spec.spacing.0 {
            0 => 0,
            spacing => self.sent / spacing - before / spacing,
        };
        let wire_time = self.byte_time.of(on_wire + sets * self.spec.overhead.0);
        let bytes = u64::from(bytes);
        let done_at = if is_control { self.control_done_at } else { self.done_at };
        // After an error the receiver discards this transmission.
        let is_discarded = done_at > now;
        let mut fate = Fate {
            begins: now.max(done_at),
            free: now + wire_time,
            busy: if is_discarded { wire_time } else { Duration::ZERO },
            ..Fate::default()
        };
        let (mut failed, mut first_nack) = (0, None);
        let done_at = loop {
            fate.busy += wire_time;
            fate.ends = fate.begins + wire_time;
            let is_hit = match is_control {
                true => self.of_control.hit(bytes),
                false => self.errors.hit_next(bytes),
            };
            if !is_hit {
                break fate.ends;
            }
            failed += 1;
            let back = self.goes_back(fate.ends);
            first_nack.get_or_insert(back);
            if failed > self.spec.count {
                fate.is_lost = true;
                break back;
            }
            fate.begins = back;
        };
        self.counts.corrupted += u64::from(failed);
        self.counts.replayed += u64::from(failed) + u64::from(is_discarded);
        if fate.is_lost {
            self.counts.lost += 1;
            self.counts.replayed -= 1;
        }
        if is_control {
            self.control_done_at = done_at;
        } else {
            self.keep(bytes, done_at, fate.is_lost, now);
            if !is_discarded {
                self.nack_at = first_nack.unwrap_or(Instant::NEVER);
            }
            self.done_at = done_at;
        }
        self.last = fate;
        fate
    }

    /// Keeps a frame in the replay buffer until it is acknowledged, or given up.
    fn keep(&mut self, bytes: u64, done_at: Instant, is_lost: bool, now: Instant) {
        while let Some((_, left)) = self.held.front().filter(|(until, _)| *until <= now) {
            self.held_bytes -= left;
            self.held.pop_front();
        }
        let until = if is_lost { done_at } else { self.answered(done_at) };
        self.held.push_back((until, bytes));
        self.held_bytes += bytes;
        let mut left = self.held_bytes;
        self.full_until = Instant::ZERO;
        for (until, bytes) in &self.held {
            if left + self.largest <= self.spec.buffer.0 {
                break;
            }
            left -= bytes;
            self.full_until = *until;
        }
    }

    /// Until when the port takes no frame from its queues now, because it sends others again or because the replay
    /// buffer has no room; a time that is over if it may.
    pub fn stalled(&mut self, now: Instant) -> Instant {
        self.asked_at = now;
        self.stalled_since(now)
    }

    /// The same at the earliest time at which the port may ask, if that is when its wire is free, or the last at
    /// which it did.
    pub fn stalled_later(&self, free: Instant) -> Instant {
        self.stalled_since(free.max(self.asked_at))
    }

    fn stalled_since(&self, now: Instant) -> Instant {
        match self.nack_at <= now {
            true => self.full_until.max(self.done_at),
            false => self.full_until,
        }
    }

    /// The link is down: what the replay buffer holds has been lost with it, and frames are numbered anew.
    pub fn reset(&mut self) {
        self.held.clear();
        self.held_bytes = 0;
        (self.full_until, self.nack_at) = (Instant::ZERO, Instant::NEVER);
        (self.done_at, self.control_done_at) = (Instant::ZERO, Instant::ZERO);
    }

    /// Time of frames that are sent again after `now`.
    pub fn unfinished(&self, now: Instant) -> Duration {
        self.done_at.since(now.max(self.nack_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Duration;

    const NS: u64 = 1_000;

    /// A link of 100 Gb/s with 200 ns, whose listed transmissions have errors.
    fn retry(listed: &[u64]) -> Box<Retry> {
        let spec = Spec {
            buffer: Bytes(10_000),
            count: 3,
            processing: Duration::ZERO,
            timer: Duration(2_000 * NS),
            spacing: Bytes(0),
            overhead: Bytes(0),
        };
        let errors = Errors {
            node: NodeId(0),
            port: PortIx(0),
            rate: 0.0,
            frames: listed.to_vec(),
            retry: Some(spec),
        };
        let link = Link { delay: Duration(200 * NS), ..Link::PLAIN };
        Retry::new(&errors, &link, 1, "a test").unwrap()
    }

    /// A frame of 1230 bytes takes 100 ns.
    fn send(retry: &mut Retry, at: u64) -> (u64, u64) {
        let fate = retry.send(1_230, 1_250, false, Instant(at * NS));
        (fate.begins.0 / NS, fate.ends.0 / NS)
    }

    /// The NACK of a frame that ended at 100 ns would arrive at 500 ns. It has an error, so that the frame is sent
    /// again when the timer expires, at 2100 ns.
    #[test]
    fn a_timer_is_for_a_nack_with_an_error() {
        let mut retry = retry(&[0]);
        retry.of_answers = BitErrors::new(1.0, &[], 1, "a test");
        assert_eq!(send(&mut retry, 0), (2_100, 2_200));
        // The port may send until then, and not before everything has been sent again.
        assert_eq!(retry.stalled(Instant(2_099 * NS)), Instant::ZERO);
        assert_eq!(send(&mut retry, 2_050), (2_200, 2_300));
        assert_eq!(retry.stalled(Instant(2_150 * NS)), Instant(2_300 * NS));
        assert_eq!(retry.stalled(Instant(2_300 * NS)), Instant(2_300 * NS));
    }

    /// While data is sent again, a MAC control frame goes out at once. One with an error is repeated after a loop of
    /// its own, and the next one waits for it: a pause does not overtake the one before.
    #[test]
    fn control_frames_have_an_order_of_their_own() {
        let mut retry = retry(&[0]);
        assert_eq!(send(&mut retry, 0), (500, 600));
        let control = |retry: &mut Retry, at: u64| {
            let fate = retry.send(64, 84, true, Instant(at * NS));
            (fate.begins.0, fate.ends.0)
        };
        assert_eq!(control(&mut retry, 100), (100 * NS, 100 * NS + 6_720));
        retry.of_control = BitErrors::new(1.0, &[], 1, "a test");
        retry.spec.count = 1;
        // It is given up after its replay, at 2 (6.72 ns + 400 ns) after its start.
        assert_eq!(control(&mut retry, 200).0, 200 * NS + 406_720);
        retry.of_control = BitErrors::new(0.0, &[], 1, "a test");
        assert_eq!(control(&mut retry, 300).0, 200 * NS + 2 * 406_720);
        // Data does not wait for them.
        assert_eq!(send(&mut retry, 700), (700, 800));
        assert_eq!((retry.counts.corrupted, retry.counts.lost), (3, 1));
    }

    /// After a failure, nothing of before is left.
    #[test]
    fn a_reset_forgets_replays() {
        let mut retry = retry(&[0]);
        for at in 0..5 {
            send(&mut retry, at * 100);
        }
        assert!(retry.stalled(Instant(500 * NS)) > Instant(500 * NS));
        retry.reset();
        assert_eq!(retry.stalled(Instant(500 * NS)), Instant::ZERO);
        assert_eq!(send(&mut retry, 500), (500, 600));
    }
}
