//! Database entries: a client sends requests of random sizes to a server on a connection that stays
//! open, and the server answers each as soon as all of it has arrived.
//!
//! The answer goes with the acknowledgement of the entry's last segment, at once. An entry is
//! complete when the client has an acknowledgement that covers it: if the answer is lost, the next
//! one that does. The response time is from handing the entry to TCP until then. The client begins
//! when the connection is established, so that no response time has the handshake in it.

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowId, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters. Either so many entries are `outstanding` (closed loop), or they come by the clock,
/// with `interval` (open loop).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Mean of the exponential distribution of sizes, before it is limited to `least` and `most`.
    /// Default 8000B (deck of 2004: "Exponential (8000)").
    pub mean: Bytes,
    /// The smallest entry. Default 1B (deck of 2004).
    pub least: Bytes,
    /// The largest entry: sizes are drawn from the exponential distribution on condition that they
    /// are from `least` to `most`. Default 85KB (deck of 2004: "~85KB").
    pub most: Bytes,
    /// Payload of the server's answer to an entry, at most a full segment. Default 64B (assumed).
    pub answer: Bytes,
    /// Closed loop: so many entries of a connection are under way at once, and when one is complete
    /// the next is handed to TCP. Default 1, without `interval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// Closed loop: time from the completion of an entry to the next, exponential with this mean.
    /// Default 0ns: at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Duration>,
    /// Open loop: entries come one after another in times that are exponential with this mean (a
    /// Poisson process), whatever is under way, and wait in the client until TCP takes them, which
    /// is part of their response times. Default none: closed loop.
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
        // Entries come in a closed loop or in an open one, and not in both.
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

/// More than any request.
const LARGEST: Bytes = Bytes(1_000_000_000);

/// More than any connection has under way.
const MOST_OUTSTANDING: u32 = 1_000_000;

impl Spec {
    /// A size: the exponential distribution is cut at both ends, and what is left is inverted.
    fn size(&self, rng: &mut Stream) -> u64 {
        let (mean, range) = (self.mean.0 as f64, self.most.0.saturating_sub(self.least.0));
        let share = -libm::expm1(-(range as f64) / mean);
        let above = -mean * libm::log1p(-rng.unit() * share);
        self.least.0 + (libm::round(above) as u64).min(range)
    }

    /// Entries that are handed over when the connection is established.
    fn first(&self) -> u32 {
        if self.interval.is_some() { 0 } else { self.outstanding.unwrap_or(1) }
    }
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// When it was handed to TCP.
    pub requested: Instant,
    /// Its payload in bytes.
    pub bytes: u64,
    /// The number of the segment with which it ends.
    pub last: u32,
    /// When the client had an acknowledgement of all of it.
    pub completed: Option<Instant>,
}

/// The client of one connection.
#[derive(Debug)]
pub struct State {
    /// The entries in order; they are completed in this order.
    pub entries: Vec<Entry>,
    /// From when on it hands over none.
    pub stop: Instant,
    /// It has begun.
    begun: bool,
    completed: usize,
    sizes: Stream,
    times: Stream,
}

impl State {
    /// The client of `flow`, which hands over nothing from `stop` on.
    pub fn new(flow: FlowId, stop: Instant, seed: u64) -> Self {
        // Sizes have a stream of their own: the n-th entry of a flow is the same in all variants.
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

    /// The connection is established: how many entries are handed over now, the first time.
    pub fn begin(&mut self, spec: &Spec) -> u32 {
        if std::mem::replace(&mut self.begun, true) { 0 } else { spec.first() }
    }

    /// Whether it has begun.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// An entry is handed over now, by `write`, which takes its bytes and gives the number of its
    /// last segment.
    pub fn request(&mut self, spec: &Spec, now: Instant, write: impl FnOnce(u64) -> u32) {
        let bytes = spec.size(&mut self.sizes);
        let last = write(bytes);
        self.entries.push(Entry { requested: now, bytes, last, completed: None });
    }

    /// Everything below the segment `acknowledged` is known to have arrived: how many entries are
    /// complete by that.
    pub fn complete(&mut self, acknowledged: u32, now: Instant) -> u32 {
        let open = &mut self.entries[self.completed..];
        let done = open.iter().take_while(|entry| entry.last < acknowledged).count();
        open[..done].iter_mut().for_each(|entry| entry.completed = Some(now));
        self.completed += done;
        done as u32
    }

    /// A time from the exponential distribution of this mean.
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

    /// Of an exponential distribution between `a` and `b` the mean is `a + m - L q / (1 - q)`, where
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
            // A cut exponential distribution has a standard deviation below its mean parameter:
            // five standard errors are at most 5 m / sqrt(200000) = 0.0112 m.
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
