//! Database requests: a client sends requests of random sizes to a server over a connection that
//! stays open, and the server answers each one as soon as it has arrived completely.
//!
//! The answer is sent at once, with the acknowledgement of the request's last segment. A request is
//! complete when the client has an acknowledgement that covers it; if the answer is lost, a later
//! one can do so. The response time is the time from handing the request to TCP until then. The
//! client begins when the connection is established, so no response time includes the handshake.

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowId, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the database application. Either a number of requests is `outstanding` at all
/// times (closed loop), or requests are generated at random times with mean `interval` (open loop).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Mean request size: the mean of the exponential distribution before it is truncated to the
    /// range from `least` to `most`. Default 8000B (deck of 2004: "Exponential (8000)").
    pub mean: Bytes,
    /// Smallest request size. Default 1B (deck of 2004).
    pub least: Bytes,
    /// Largest request size. Sizes are drawn from the exponential distribution conditional on the
    /// range from `least` to `most`. Default 85KB (deck of 2004: "~85KB").
    pub most: Bytes,
    /// Payload of the server's answer to a request, at most one full segment. Default 64B
    /// (assumed).
    pub answer: Bytes,
    /// Closed loop: number of outstanding requests per connection. When one completes, the next is
    /// handed to TCP. Default 1, without `interval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// Closed loop: mean time from the completion of a request to the next request, exponentially
    /// distributed. Default 0ns: the next request follows at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Duration>,
    /// Open loop: mean time between requests, exponentially distributed (a Poisson process) and
    /// independent of the number of outstanding requests. Requests wait in the client until TCP
    /// accepts them, and this wait is part of the response time. Default none: closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            mean: Bytes(8_000),
            least: Bytes(1),
            most: Bytes(85_000),
            answer: Bytes(64),
            outstanding: None,
            think: None,
            interval: None,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "it is that of the exponential distribution, for example \"8000B\"";
        findings.positive("mean", self.mean, why);
        findings.positive("least", self.least, "an entry of 0 bytes would never arrive");
        let remedy = "lower `least`, or raise `most`";
        findings.at_most(("least", self.least), ("most", self.most), remedy);
        findings.range("most", self.most, ..=LARGEST, "segments are numbered in 32 bits");
        findings.within_a_run("think", self.think);
        findings.within_a_run("interval", self.interval);
        findings.positive("interval", self.interval, "remove it for a closed loop");
        let why = "with `interval` instead they come by the clock";
        findings.range("outstanding", self.outstanding, 1..=MOST_OUTSTANDING, why);
        // The parameters of the closed loop and of the open loop exclude each other.
        for (field, is_there) in
            [("outstanding", self.outstanding.is_some()), ("think", self.think.is_some())]
        {
            if self.interval.is_some() && is_there {
                findings.error(
                    [field, "interval"],
                    format!("entries come every `interval`, whatever is under way, and `{field}` would wait"),
                    format!("keep `interval` for an open loop, or `{field}` for a closed one"),
                );
            }
        }
    }
}

/// Larger than any realistic request.
const LARGEST: Bytes = Bytes(1_000_000_000);

/// More requests than any connection has outstanding.
const MOST_OUTSTANDING: u32 = 1_000_000;

impl Spec {
    /// Draws a size by inversion of the truncated exponential distribution.
    fn size(&self, rng: &mut Stream) -> u64 {
        let (mean, range) = (self.mean.0 as f64, self.most.0.saturating_sub(self.least.0));
        let share = -libm::expm1(-(range as f64) / mean);
        let above = -mean * libm::log1p(-rng.unit() * share);
        self.least.0 + (libm::round(above) as u64).min(range)
    }

    /// Number of requests handed over when the connection is established.
    fn first(&self) -> u32 {
        if self.interval.is_some() { 0 } else { self.outstanding.unwrap_or(1) }
    }
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Time at which it was handed to TCP.
    pub requested: Instant,
    /// Payload in bytes.
    pub bytes: u64,
    /// Number of its last segment.
    pub last: u32,
    /// Time at which the client had an acknowledgement of all of it.
    pub completed: Option<Instant>,
}

/// Client side of one connection.
#[derive(Debug)]
pub struct State {
    /// The requests in order; they complete in this order.
    pub entries: Vec<Entry>,
    /// Time after which no more requests are handed over.
    pub stop: Instant,
    /// Whether the client has begun.
    begun: bool,
    completed: usize,
    sizes: Stream,
    times: Stream,
}

impl State {
    /// The client of `flow`, which hands over no requests from `stop` on.
    pub fn new(flow: FlowId, stop: Instant, seed: u64) -> Self {
        // Sizes have a random number stream of their own, so the n-th request of a flow is the same
        // in all variants.
        let stream = |of: &str| Stream::named(seed, &format!("entries of flow {}: {of}", flow.0));
        Self {
            entries: Vec::new(),
            stop,
            begun: false,
            completed: 0,
            sizes: stream("sizes"),
            times: stream("times"),
        }
    }

    /// The connection is established. Returns the number of requests to hand over now; 0 if the
    /// client had begun already.
    pub fn begin(&mut self, spec: &Spec) -> u32 {
        if std::mem::replace(&mut self.begun, true) { 0 } else { spec.first() }
    }

    /// Whether the client has begun.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Records that a request is handed over now. `write` takes its size in bytes and returns the
    /// number of its last segment.
    pub fn request(&mut self, spec: &Spec, now: Instant, write: impl FnOnce(u64) -> u32) {
        let bytes = spec.size(&mut self.sizes);
        let last = write(bytes);
        self.entries.push(Entry { requested: now, bytes, last, completed: None });
    }

    /// All segments below `acknowledged` are known to have arrived. Returns the number of requests
    /// that this completes.
    pub fn complete(&mut self, acknowledged: u32, now: Instant) -> u32 {
        let open = &mut self.entries[self.completed..];
        let done = open.iter().take_while(|entry| entry.last < acknowledged).count();
        open[..done].iter_mut().for_each(|entry| entry.completed = Some(now));
        self.completed += done;
        done as u32
    }

    /// Draws a time from the exponential distribution with this mean.
    pub fn pause(&mut self, mean: Duration) -> Duration {
        if mean == Duration::ZERO {
            return Duration::ZERO;
        }
        Duration(self.times.exponential(mean.0 as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exponential distribution truncated to [`a`, `b`] has mean `a + m - L q / (1 - q)`, where
    /// `L = b - a` and `q = exp(-L / m)`.
    #[test]
    fn sizes_have_the_mean_of_the_closed_form() {
        let draws = 200_000;
        for (mean, least, most) in [(8_000, 1, 85_000), (8_000, 46, 8_000), (500, 1, 85_000)] {
            let spec = Spec {
                mean: Bytes(mean),
                least: Bytes(least),
                most: Bytes(most),
                ..Spec::default()
            };
            let mut rng = Stream::named(3, "sizes");
            let sizes: Vec<u64> = (0..draws).map(|_| spec.size(&mut rng)).collect();
            assert!(sizes.iter().all(|size| (least..=most).contains(size)));
            let (m, length) = (mean as f64, (most - least) as f64);
            let q = libm::exp(-length / m);
            let expected = least as f64 + m - length * q / (1.0 - q);
            let drawn = sizes.iter().sum::<u64>() as f64 / f64::from(draws);
            // A truncated exponential distribution has a standard deviation below its mean
            // parameter, so five standard errors are at most 5 m / sqrt(200000) = 0.0112 m.
            assert!((drawn - expected).abs() < 0.0112 * m, "{drawn} is not {expected}");
        }
    }

    #[test]
    fn a_range_of_one_size_is_that_size() {
        let spec = Spec { least: Bytes(777), most: Bytes(777), ..Spec::default() };
        let mut rng = Stream::named(3, "sizes");
        assert!((0..100).all(|_| spec.size(&mut rng) == 777));
    }

    #[test]
    fn entries_are_complete_in_order_when_all_of_them_is_acknowledged() {
        let spec = Spec { outstanding: Some(3), ..Spec::default() };
        let mut state = State::new(FlowId(0), Instant::NEVER, 1);
        assert_eq!((state.begin(&spec), state.begin(&spec)), (3, 0));
        for last in [2, 3, 9] {
            state.request(&spec, Instant(5), |_| last);
        }
        assert_eq!(state.complete(2, Instant(7)), 0);
        assert_eq!(state.complete(4, Instant(8)), 2);
        assert_eq!(state.complete(9, Instant(9)), 0);
        assert_eq!(state.complete(10, Instant(10)), 1);
        let times: Vec<_> = state.entries.iter().map(|entry| entry.completed).collect();
        assert_eq!(times, [8, 8, 10].map(|at| Some(Instant(at))));
        assert_eq!(Spec { interval: Some(Duration(1)), ..Spec::default() }.first(), 0);
    }
}
