//! Adaptive bitrate (ABR): which bitrate a client requests next.

pub mod buffer;
pub mod throughput;

use floodway_model::{Duration, Rate};

use super::Segment;

floodway_model::family! {
    /// Adaptive bitrate: which bitrate the client requests next. Default `throughput`.
    "workload.application.video.abr":
    Throughput = "throughput" (throughput::Spec):
        "The highest bitrate below a fraction of the harmonic mean of recent throughputs (FESTIVE).",
    Buffer = "buffer" (buffer::Spec):
        "A bitrate by the playback buffer alone, which a line maps to bitrates (BBA-0).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Throughput(throughput::Spec::default())
    }
}

/// What a client knows when it requests a segment.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Bitrates from the lowest to the highest; at least one.
    pub ladder: &'a [Rate],
    /// The segments that it has, in order.
    pub past: &'a [Segment],
    /// Content in its playback buffer.
    pub buffer: Duration,
}

impl Spec {
    /// The bitrate of the next segment.
    pub fn choose(&self, view: View<'_>) -> Rate {
        match self {
            Self::Throughput(spec) => spec.choose(view),
            Self::Buffer(spec) => spec.choose(view),
        }
    }
}

impl View<'_> {
    /// The lowest bitrate.
    fn least(&self) -> Rate {
        self.ladder.first().copied().unwrap_or_default()
    }

    /// The highest bitrate.
    fn most(&self) -> Rate {
        self.ladder.last().copied().unwrap_or_default()
    }
}
