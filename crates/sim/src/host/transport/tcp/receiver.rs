//! The receiving side of one connection.

use floodway_model::packet::{EcnFeedback, length};
use floodway_model::{AckFlags, Body, Ecn, Instant, SackBlock, SegmentFlags};

use super::delayed_ack::Delay;
use super::sack::Blocks;
use super::{Acknowledgement, SYN_FRAME, Spec, segment_frame};
use crate::host::transport::numbers::Numbers;

/// Number of segments with CE after which accurate feedback is no longer delayed (RFC 9768, section
/// 3.2.2.5.1).
const MARKS_PER_ACK: u32 = 2;
/// Length of the accurate ECN option, padded.
const ACCURATE_OPTION: u16 = 12;

/// A frame back to the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// Its content: [`Body::SynAck`] or [`Body::TcpAck`].
    pub body: Body,
    /// Frame length in bytes, destination address to FCS.
    pub bytes: u16,
}

/// A segment that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Its number.
    pub psn: u32,
    /// Its flags.
    pub flags: SegmentFlags,
    /// Time at which it was sent.
    pub sent_at: Instant,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Payload in bytes.
    pub payload: u16,
}

/// Results of its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrived {
    /// Replies, in this order.
    pub replies: [Option<Reply>; 2],
    /// Whether the segment completes the message.
    pub completes: bool,
    /// Whether the application's answer exceeds the room beside the acknowledgement: see
    /// [`Receiver::next_answer`].
    pub more: bool,
}

/// The receiving side of one connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    pub(super) expected: u32,
    /// Number of the segment after the last one of the message; `None` if that is not known.
    pub(super) total: Option<u32>,
    /// Segments above `expected` that have arrived.
    held: Numbers,
    held_count: u32,
    blocks: Blocks,
    /// Bytes of payload in order.
    pub(super) delivered: u64,
    /// Of the held segments, those that are not full or end with PSH.
    odd: Vec<(u32, u16, bool)>,
    pub(super) feedback: EcnFeedback,
    /// With classic feedback: whether a mark has arrived and no CWR since. With DCTCP's and
    /// accurate feedback: whether the last segment had CE.
    echo: bool,
    /// Marks since the last acknowledgement.
    unreported: u32,
    delay: Delay,
    /// For each unit of data ending with PSH: the number of its last segment and the time when it
    /// had arrived in order; `None` if that is not recorded.
    pushes: Option<Vec<(u32, Instant)>>,
    /// The application's answers to data ending with PSH; `None` if it does not answer.
    answers: Option<Answers>,
    /// Time at which the message was complete.
    pub finished: Option<Instant>,
    /// Segments with CE.
    pub marked: u64,
    /// Segments that had arrived before.
    pub duplicates: u64,
    /// Segments that arrived, including duplicates.
    pub segments: u64,
    /// Segments that arrived after one that was sent later.
    pub reordered: u64,
    /// `sent_at` of the last segment.
    last_sent_at: Option<Instant>,
    /// Acknowledgements sent.
    pub acks: u64,
    /// Frame length of a full segment.
    largest: u16,
}

/// Answers of the application.
#[derive(Clone, Copy, Debug)]
struct Answers {
    /// Size of each answer in bytes.
    bytes: u64,
    /// Bytes of answers not sent yet.
    due: u64,
    /// Whether there is an answer of which nothing has been sent, of any size.
    any: bool,
}

impl Receiver {
    /// The receiver of a message of `total` segments, `None` for one without a size.
    pub fn new(spec: &Spec, total: Option<u32>) -> Self {
        Self {
            expected: 0,
            total,
            held: Numbers::default(),
            held_count: 0,
            blocks: Blocks::default(),
            delivered: 0,
            odd: Vec::new(),
            feedback: EcnFeedback::None,
            echo: false,
            unreported: 0,
            delay: Delay::new(spec),
            pushes: None,
            answers: None,
            largest: segment_frame(spec.mss.0 as u16),
            finished: None,
            marked: 0,
            duplicates: 0,
            segments: 0,
            reordered: 0,
            last_sent_at: None,
            acks: 0,
        }
    }

    /// Enables recording of the arrival times of data that the application hands over at once.
    pub fn keep_pushes(&mut self) {
        self.pushes.get_or_insert_default();
    }

    /// From now on the application answers each unit of data that is handed over at once with
    /// `bytes`, as soon as it has arrived completely: the acknowledgement is not delayed and carries
    /// the answer.
    pub fn answer_pushes(&mut self, bytes: u64) {
        self.answers = Some(Answers { bytes, due: 0, any: false });
    }

    /// The next frame with answers that did not fit into previous frames.
    pub fn next_answer(&mut self) -> Option<Reply> {
        (self.answers?.due > 0).then(|| self.acknowledge(false))
    }

    /// For each unit of data that the application handed over at once: the number of its last
    /// segment, and the time when it and everything before had arrived.
    pub fn pushes(&self) -> &[(u32, Instant)] {
        self.pushes.as_deref().unwrap_or_default()
    }

    /// Payload bytes that have arrived in order, each counted once: the data that the application
    /// has.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A SYN has arrived, the first or a retransmission: the offer is accepted.
    pub fn on_syn(&mut self, feedback: EcnFeedback, now: Instant) -> Reply {
        self.feedback = feedback;
        self.delay.on_syn(now);
        Reply { body: Body::SynAck { feedback }, bytes: SYN_FRAME }
    }

    /// Time at which [`Receiver::on_timer`] must be called; [`Instant::NEVER`] if no timer is set.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.delay.timer_at
    }

    /// Called at [`Receiver::deadline`] or later.
    pub fn on_timer(&mut self, now: Instant) -> Option<Reply> {
        (self.delay.timer_at <= now).then(|| self.acknowledge(false))
    }

    /// A segment has arrived.
    #[inline]
    pub fn on_segment(&mut self, spec: &Spec, segment: &Segment, now: Instant) -> Arrived {
        let psn = segment.psn;
        let mut arrived = Arrived::default();
        if self.segments == 0 {
            self.delay.on_first(now);
        }
        self.segments += 1;
        self.reordered += u64::from(self.last_sent_at >= Some(segment.sent_at));
        self.last_sent_at = Some(segment.sent_at);
        let (before, mut at_once) = self.on_ecn(spec, segment);
        arrived.replies[0] = before;
        let duplicate = psn < self.expected || self.held.contains(psn);
        if duplicate {
            self.duplicates += 1;
            at_once = true;
        } else if psn > self.expected {
            if self.delay.holds_back() && self.blocks.moves_out(psn) {
                // Otherwise the sender would not hear of that block.
                arrived.replies[0] = Some(self.acknowledge(false));
            }
            self.hold(spec, segment);
            at_once = at_once || self.delay.on_gap(spec, self.expected, now);
        } else {
            // A segment that fills a gap is acknowledged at once, because the sender waits for it
            // (RFC 5681, section 4.2).
            let fills = self.held_count > 0;
            self.deliver(spec, segment, now);
            if self.held_count > 0 && self.expected == psn + 1 && !at_once {
                // Only the gap has moved, and this is its first report.
                self.delay.on_gap(spec, self.expected, now);
            }
            at_once |= fills;
            at_once |= self.delay.on_segment(spec, segment.payload.into(), now);
            at_once |= self.answers.is_some_and(|answers| answers.any);
            if self.total == Some(self.expected) {
                self.finished = Some(now);
                arrived.completes = true;
                at_once = true;
            }
        }
        if at_once {
            arrived.replies[1] = Some(self.acknowledge(duplicate));
            arrived.more = self.answers.is_some_and(|answers| answers.due > 0);
        }
        arrived
    }

    /// Effects of the ECN field of a segment: an acknowledgement of the segments before it, and
    /// whether it is acknowledged at once.
    #[inline]
    fn on_ecn(&mut self, spec: &Spec, segment: &Segment) -> (Option<Reply>, bool) {
        let marked = segment.ecn == Ecn::Ce;
        self.marked += u64::from(marked);
        match self.feedback {
            EcnFeedback::None => (None, false),
            EcnFeedback::Classic => {
                // The sender has reduced its window, possibly so much that it waits for this
                // acknowledgement.
                let answered = segment.flags.window_reduced;
                self.echo &= !answered;
                if marked && !self.echo {
                    self.echo = true;
                    self.delay.hurry(2);
                }
                (None, answered)
            }
            EcnFeedback::Dctcp => {
                if marked == self.echo {
                    return (None, spec.ack_reductions && segment.flags.window_reduced);
                }
                let before = self.delay.is_pending().then(|| self.acknowledge(false));
                self.echo = marked;
                (before, true)
            }
            EcnFeedback::Accurate => {
                self.unreported += u32::from(marked);
                let begins = marked && !self.echo;
                self.echo = marked;
                (None, begins || self.unreported >= MARKS_PER_ACK)
            }
        }
    }

    /// Stores a segment that arrives before the expected one.
    fn hold(&mut self, spec: &Spec, segment: &Segment) {
        let Segment { psn, payload, flags, .. } = *segment;
        self.held.insert(psn);
        self.held_count += 1;
        if flags.push || u64::from(payload) != spec.mss.0 {
            self.odd.push((psn, payload, flags.push));
        }
        self.blocks.on_held(&self.held, psn);
    }

    /// The expected segment has arrived: delivers it with those held behind it.
    #[inline]
    fn deliver(&mut self, spec: &Spec, segment: &Segment, now: Instant) {
        self.expected += 1;
        self.delivered += u64::from(segment.payload);
        if segment.flags.push {
            self.push(segment.psn, now);
        }
        if self.held_count > 0 {
            self.deliver_held(spec, now);
        }
    }

    fn deliver_held(&mut self, spec: &Spec, now: Instant) {
        let first = self.expected;
        self.expected = self.held.next_absent(first);
        self.held.forget_below(self.expected);
        self.blocks.forget_below(self.expected);
        let count = self.expected - first;
        self.held_count -= count;
        let mut payload = u64::from(count) * spec.mss.0;
        let mut odd = std::mem::take(&mut self.odd);
        odd.sort_unstable();
        odd.retain(|&(psn, bytes, push)| {
            if psn >= self.expected {
                return true;
            }
            payload -= spec.mss.0 - u64::from(bytes);
            if push {
                self.push(psn, now);
            }
            false
        });
        self.odd = odd;
        self.delivered += payload;
    }

    fn push(&mut self, psn: u32, now: Instant) {
        if let Some(pushes) = &mut self.pushes {
            pushes.push((psn, now));
        }
        if let Some(answers) = &mut self.answers {
            answers.due += answers.bytes;
            answers.any = true;
        }
    }

    /// Payload of answers to carry in a frame that has this length without them.
    fn take_answers(&mut self, bytes: u16) -> u16 {
        // With very small segments the options alone fill a frame.
        let room = self.largest.saturating_sub(bytes).max(1);
        let Some(answers) = &mut self.answers else { return 0 };
        let taken = answers.due.min(room.into());
        answers.due -= taken;
        answers.any = false;
        taken as u16
    }

    fn acknowledge(&mut self, duplicate: bool) -> Reply {
        self.delay.on_ack();
        self.unreported = 0;
        self.acks += 1;
        // A duplicate is reported in place of a block (RFC 2883).
        let sack = self.blocks.told(self.expected, if duplicate { 1 } else { 2 });
        let told = sack.iter().filter(|block| **block != SackBlock::default()).count();
        let blocks = told as u16 + u16::from(duplicate);
        let accurate = self.feedback == EcnFeedback::Accurate;
        let congestion = self.echo && !accurate;
        let acknowledgement = Acknowledgement {
            flags: AckFlags::new(congestion, duplicate),
            marked: if accurate { self.marked as u16 } else { 0 },
            ack: self.expected,
            sack,
        };
        let sack_option = if blocks == 0 { 0 } else { 4 + 8 * blocks };
        let option = if accurate { ACCURATE_OPTION } else { 0 };
        let bytes = length::TCP_OVERHEAD + sack_option + option;
        Reply { body: acknowledgement.body(), bytes: bytes + self.take_answers(bytes) }
    }
}
