//! Adaptive video over TCP: a client requests a video from a server segment by segment, each at a
//! bitrate that it chooses then, and plays it.
//!
//! The application is at the server, which sends the flow. The client requests a segment when it has
//! all of the one before: its request comes with the acknowledgement of the last packet. What the
//! client knows then, the server knows too: the buffer of a client whose requests take a constant
//! time is that of a player at the server which gets segments when they are acknowledged. So the
//! server chooses the bitrate as the client would. If the client waits until its buffer has room,
//! the server waits instead; the request has come with the acknowledgement. The first segment is
//! requested when the connection is established.
//!
//! Bitrates are constant: all segments of a bitrate have the same size. There is one connection, and
//! no segment is abandoned.

pub mod abr;
pub mod playback;

use floodway_model::check::{Check, Findings, rough_bytes};
use floodway_model::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use playback::Playback;

/// Parameters of adaptive video.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Playing time of a segment. Default 4s (Huang et al., SIGCOMM 2014).
    pub segment: Duration,
    /// Bitrates of the video, increasing. Default 235Kbps, 375Kbps, 560Kbps, 750Kbps, 1050Kbps,
    /// 1750Kbps, 2350Kbps, 3000Kbps, 4300Kbps and 5800Kbps (Netflix, "Per-Title Encode
    /// Optimization", 2015: the fixed ladder before).
    pub ladder: Vec<Rate>,
    /// Content for which the client has room. It requests a segment when it has room for it. Default
    /// 240s (Huang et al., SIGCOMM 2014).
    pub buffer: Duration,
    /// Content at which playback starts. Default 4s (assumed).
    pub startup: Duration,
    /// Content at which playback goes on after the buffer ran dry. Default 4s (assumed).
    pub rebuffer: Duration,
    /// Payload of a request, at most one full segment of TCP. Default 350B (assumed, as for web
    /// pages).
    pub request: Bytes,
    /// How the client chooses bitrates. Default `throughput`.
    pub abr: abr::Spec,
}

impl Default for Spec {
    fn default() -> Self {
        let kbps = [235, 375, 560, 750, 1_050, 1_750, 2_350, 3_000, 4_300, 5_800];
        Self {
            segment: Duration::from_ms(4_000),
            ladder: kbps.map(|rate| Rate(1_000 * rate)).to_vec(),
            buffer: Duration::from_ms(240_000),
            startup: Duration::from_ms(4_000),
            rebuffer: Duration::from_ms(4_000),
            request: Bytes(350),
            abr: abr::Spec::default(),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        self.abr.check(&mut findings.within("abr"));
        findings.range("segment", self.segment, SHORTEST.., "usual are 2s to 10s");
        findings.within_a_run("segment", self.segment);
        findings.within_a_run("buffer", self.buffer);
        self.check_ladder(findings);
        if self.segment < SHORTEST {
            return;
        }
        let remedy = "raise `buffer`, or lower `segment`";
        findings.at_most(("segment", self.segment), ("buffer", self.buffer), remedy);
        if self.segment > self.buffer {
            return;
        }
        // The client has this much when there is no room for another segment.
        let whole = Duration(self.buffer.0 - self.buffer.0 % self.segment.0);
        for (field, threshold) in [("startup", self.startup), ("rebuffer", self.rebuffer)] {
            if threshold > whole {
                findings.error(
                    [field, "buffer", "segment"],
                    format!(
                        "playback would begin at {threshold}, and whole segments in the buffer are {whole}"
                    ),
                    format!("lower `{field}`, or raise `buffer`"),
                );
            }
        }
        let abr::Spec::Buffer(spec) = &self.abr else { return };
        let (end, most) = (spec.reservoir + spec.cushion, Duration(self.buffer.0 - self.segment.0));
        if end > most {
            findings.error(
                ["abr.buffer.reservoir", "abr.buffer.cushion", "buffer"],
                format!(
                    "reservoir and cushion end at {end}, and the client requests segments with up to {most} in its \
                     buffer of {}",
                    self.buffer
                ),
                "the highest bitrate might never be requested: lower `reservoir` or `cushion`, or raise `buffer`",
            );
        }
    }
}

/// No service has shorter ones, and a run would consist of requests.
const SHORTEST: Duration = Duration::from_ms(100);

/// Larger than any segment of a video; packets are numbered in 32 bits.
const LARGEST: Bytes = Bytes(1_000_000_000);

impl Spec {
    fn check_ladder(&self, findings: &mut Findings<'_>) {
        let Some(most) = self.ladder.last() else {
            let remedy =
                "write bitrates from the lowest to the highest, for example [\"1Mbps\", \"3Mbps\"]";
            findings.error("ladder", "the video has no bitrates", remedy);
            return;
        };
        if self.ladder[0] == Rate(0) {
            let remedy = "remove it, or write a rate like \"235Kbps\"";
            findings.error("ladder", "the lowest bitrate is zero", remedy);
        }
        if let Some(pair) = self.ladder.windows(2).find(|pair| pair[0] >= pair[1]) {
            findings.error(
                "ladder",
                format!("{} comes before {}, and bitrates must increase", pair[0], pair[1]),
                "write bitrates from the lowest to the highest, each once",
            );
        }
        let bytes = most.bytes_in(self.segment);
        if bytes > LARGEST {
            findings.error(
                ["ladder", "segment"],
                format!("at {most} a segment of {} has {}", self.segment, rough_bytes(bytes)),
                format!(
                    "segments have at most {}: lower the bitrate or `segment`",
                    rough_bytes(LARGEST)
                ),
            );
        }
    }
}

/// A segment that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Time at which its request was at the server.
    pub requested: Instant,
    /// Bitrate of the video in it.
    pub bitrate: Rate,
    /// Payload in bytes.
    pub bytes: u64,
    /// Number of its last packet.
    pub last: u32,
    /// Time at which the server had an acknowledgement of all of it.
    pub acknowledged: Option<Instant>,
}

impl Segment {
    /// Bits per second from the request to the acknowledgement, which for the client are the bits per
    /// second from its request to the arrival; `None` before.
    pub fn throughput(&self) -> Option<f64> {
        let time = self.acknowledged?.since(self.requested).as_secs();
        (time > 0.0).then(|| self.bytes as f64 * 8.0 / time)
    }
}

/// State of one client, as its server knows it.
#[derive(Debug)]
pub struct State {
    /// The segments in order. All but the last one are acknowledged.
    pub segments: Vec<Segment>,
    /// Time from which no more segments are requested.
    pub stop: Instant,
    playback: Playback,
    has_begun: bool,
}

impl State {
    /// A client that begins now and requests no segments from `stop` on.
    pub fn new(now: Instant, stop: Instant) -> Self {
        Self { segments: Vec::new(), stop, playback: Playback::new(now), has_begun: false }
    }

    /// The connection is established, and all packets below `acknowledged` have arrived. Returns the
    /// time of the next request, if there is one now: the beginning or a complete segment.
    pub fn acknowledge(&mut self, spec: &Spec, acknowledged: u32, now: Instant) -> Option<Instant> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Some(now).filter(|now| *now < self.stop);
        }
        let is_complete =
            |segment: &&mut Segment| segment.acknowledged.is_none() && segment.last < acknowledged;
        self.segments.last_mut().filter(is_complete)?.acknowledged = Some(now);
        self.playback.advance(now);
        self.playback.arrive(spec);
        let full = self.playback.content() + spec.segment;
        let request = now + Duration(full.0.saturating_sub(spec.buffer.0));
        Some(request).filter(|request| *request < self.stop)
    }

    /// The next segment is requested. `write` gets its size in bytes and returns the number of its
    /// last packet.
    pub fn request(&mut self, spec: &Spec, now: Instant, write: impl FnOnce(u64) -> u32) {
        self.playback.advance(now);
        let (ladder, past) = (&*spec.ladder, &*self.segments);
        let view = abr::View { ladder, past, buffer: self.playback.content() };
        let bitrate = spec.abr.choose(view);
        let bytes = bitrate.bytes_in(spec.segment).0.max(1);
        let last = write(bytes);
        let segment = Segment { requested: now, bitrate, bytes, last, acknowledged: None };
        self.segments.push(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 4 s that take 1 s each, and a buffer of 10 s. The player has 4 s after 1 s, 7 s
    /// after 2 s, which is room for none: 1 s later it has 6 s, and requests the third.
    #[test]
    fn a_client_waits_for_room() {
        let at = |seconds: u64| Instant::ZERO + Duration::from_ms(1_000 * seconds);
        let spec = Spec {
            ladder: vec![Rate::from_mbps(1)],
            buffer: Duration::from_ms(10_000),
            ..Spec::default()
        };
        let mut state = State::new(at(0), at(9));
        assert_eq!(state.acknowledge(&spec, 0, at(0)), Some(at(0)));
        let mut next = 0;
        let mut request = |state: &mut State, now: Instant| {
            state.request(&spec, now, |bytes| {
                assert_eq!(bytes, 500_000);
                next += 1;
                next - 1
            });
        };
        request(&mut state, at(0));
        // An acknowledgement of only a part.
        assert_eq!(state.acknowledge(&spec, 0, at(1)), None);
        assert_eq!(state.acknowledge(&spec, 1, at(1)), Some(at(1)));
        request(&mut state, at(1));
        assert_eq!(state.acknowledge(&spec, 2, at(2)), Some(at(3)));
        request(&mut state, at(3));
        assert_eq!(state.acknowledge(&spec, 3, at(4)), Some(at(7)));
        request(&mut state, at(7));
        // The next one would be requested after 11 s, and the video stops after 9 s.
        assert_eq!(state.acknowledge(&spec, 4, at(8)), None);
        assert_eq!(state.segments.iter().filter_map(Segment::throughput).sum::<f64>(), 16e6);
    }
}
