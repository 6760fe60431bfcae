//! Explicit congestion notification in the sender: which segments are ECN-capable, and the content
//! of the feedback.
//!
//! With classic feedback retransmissions are not ECN-capable (RFC 3168 section 6.1.5). With DCTCP's
//! and accurate feedback they are, as in Linux, so that a loss is not followed by another that a
//! queue could have avoided by marking. SYN, SYN/ACK and acknowledgements never are.

use floodway_model::{Ecn, EcnFeedback};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Acknowledgement;

/// How the receiver reports ECN marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// No feedback: segments are not ECN-capable.
    Off,
    /// ECE is set from a mark until the sender has responded with CWR (RFC 3168).
    Classic,
    /// ECE is the mark of the last segment (RFC 8257).
    Dctcp,
    /// Counters of marked segments (RFC 9768).
    Accurate,
}

impl From<Feedback> for EcnFeedback {
    fn from(feedback: Feedback) -> Self {
        match feedback {
            Feedback::Off => Self::None,
            Feedback::Classic => Self::Classic,
            Feedback::Dctcp => Self::Dctcp,
            Feedback::Accurate => Self::Accurate,
        }
    }
}

/// The ECN field of ECN-capable segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Codepoint {
    /// ECT(0).
    Ect0,
    /// ECT(1), which identifies scalable congestion control (RFC 9331).
    Ect1,
}

/// The ECN feedback of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Number of segments that have arrived with CE.
    pub count: u32,
    /// Whether there was any mark.
    pub any: bool,
}

/// ECN state of the sender.
#[derive(Debug)]
pub(super) struct Signals {
    pub feedback: EcnFeedback,
    codepoint: Ecn,
    /// With accurate feedback: number of marks reported so far.
    told: u16,
    /// With classic and DCTCP's feedback: the next new segment carries CWR, because the window was
    /// reduced (RFC 3168, section 6.1.2; RFC 8257, section 3.3).
    reduced: bool,
}

impl Signals {
    pub fn new(feedback: EcnFeedback, codepoint: Option<Codepoint>) -> Self {
        let codepoint = match codepoint {
            Some(Codepoint::Ect0) => Ecn::Ect0,
            Some(Codepoint::Ect1) => Ecn::Ect1,
            None if feedback == EcnFeedback::Accurate => Ecn::Ect1,
            None => Ecn::Ect0,
        };
        Self { feedback, codepoint, told: 0, reduced: false }
    }

    /// The ECN field of a segment.
    #[inline]
    pub fn field(&self, retransmission: bool) -> Ecn {
        match self.feedback {
            EcnFeedback::None => Ecn::NotEct,
            EcnFeedback::Classic if retransmission => Ecn::NotEct,
            _ => self.codepoint,
        }
    }

    /// With accurate feedback: number of marks reported so far, as the receiver counts them.
    pub fn told(&self) -> u16 {
        self.told
    }

    /// The window is being reduced, for any reason.
    pub fn on_reduction(&mut self) {
        self.reduced = matches!(self.feedback, EcnFeedback::Classic | EcnFeedback::Dctcp);
    }

    /// Whether the new segment that is sent now carries CWR.
    #[inline]
    pub fn take_reduced(&mut self) -> bool {
        std::mem::take(&mut self.reduced)
    }

    /// ECN feedback of an acknowledgement that newly reports `delivered` segments.
    #[inline]
    pub fn marks(&mut self, ack: &Acknowledgement, delivered: u32) -> Marks {
        match self.feedback {
            EcnFeedback::None => Marks::default(),
            EcnFeedback::Classic => Marks { count: 0, any: ack.flags.congestion() },
            EcnFeedback::Dctcp => {
                let any = ack.flags.congestion();
                Marks { count: if any { delivered } else { 0 }, any }
            }
            EcnFeedback::Accurate => {
                // An acknowledgement that was overtaken reports fewer marks than are known.
                let more = ack.marked.wrapping_sub(self.told) as i16;
                if more <= 0 {
                    return Marks::default();
                }
                self.told = ack.marked;
                Marks { count: more as u32, any: true }
            }
        }
    }
}
