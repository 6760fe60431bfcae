use floodway_model::id::CLASSES;
use floodway_model::packet::length;
use floodway_model::units::ByteTime;
use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Occupancy above which the neighbour is paused; without meaning on `ingress_pool`. Default 750KB (Congestion Isolation decks).
    pub xoff: Bytes,
    /// Occupancy at or below which it may go on; without meaning on `ingress_pool`. Default 4KB
    /// (same decks).
    pub xon: Bytes,
    /// On `ingress_pool`, how far below the dynamic threshold the occupancy must be for the neighbour
    /// to go on. Default 3072B (the HPCC authors' simulator, `resume_offset`).
    pub xon_offset: Bytes,
    /// Which of the two books is compared with the thresholds, and which one `switch.queue.size`
    /// limits where the memory is not shared. Default `egress_queue`, the decks' reading: they plot egress queues against XOFF.
    pub measured_on: MeasuredOn,
    /// Length of a pause in quanta of 512 bit times, 1 to 65535. A pause that must last is
    /// refreshed when half of it has passed. Default 65535.
    pub quanta: u16,
    /// How long a port goes on as before after a pause frame has arrived, to stop or to go on. IEEE 802.3 clause
    /// 31B.3.7 allows up to 394 quanta at 100 Gb/s. Default 0ns (the decks name no delay).
    pub response: Duration,
    /// Lossless classes, by which the neighbour sends, counted from 0; empty means all. Default
    /// all.
    pub queues: Vec<u8>,
}

/// Where occupancy is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredOn {
    /// Bytes that came in by one port in one class, wherever they wait: what 802.1Q describes.
    /// Each (port, class) has `switch.queue.size` of memory and egress queues have no limit, or
    /// what `switch.buffer.shared` gives them.
    Ingress,
    /// The same bytes, with the dynamic threshold of `switch.buffer.shared.ingress` for XOFF: a
    /// port and class is paused when it holds more than the memory would now let it, or has
    /// headroom in use. Its headroom is `switch.buffer.shared.headroom`.
    IngressPool,
    /// Bytes in one egress queue. Above XOFF every port and class that has bytes in it is paused,
    /// until it falls to XON.
    #[default]
    EgressQueue,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            xoff: Bytes(750_000),
            xon: Bytes(4_000),
            xon_offset: Bytes(3 * 1_024),
            measured_on: MeasuredOn::EgressQueue,
            quanta: u16::MAX,
            response: Duration::ZERO,
            queues: Vec::new(),
        }
    }
}

impl Spec {
    /// Whether `class` is lossless.
    #[inline]
    pub fn covers(&self, class: u8) -> bool {
        self.queues.is_empty() || self.queues.contains(&class)
    }

    /// Bit c: class c is lossless.
    pub fn classes(&self) -> u8 {
        (0..CLASSES as u8).filter(|&class| self.covers(class)).fold(0, |set, c| set | 1 << c)
    }

    /// How long a pause of `quanta` lasts on a link of this rate.
    pub fn pause_time(quanta: u16, rate: Rate) -> Duration {
        ByteTime::at(rate).of(u64::from(quanta) * 64)
    }

    /// The bytes that one neighbour can still deliver in one class after the decision to pause it
    /// (IEEE 802.1Q annex N): the memory that must be free above XOFF for each of them.
    ///
    /// The decision is made when a frame has just arrived. Then pass: the longest frame that may
    /// be on the reverse wire, the pause frames of other classes that may wait before it, the pause
    /// frame itself, the way there, the response time, a frame
    /// that the neighbour had just begun, the way back, and the switch's own `latency` before a
    /// frame is counted. Whatever arrives until then comes in whole frames back to back.
    pub fn headroom(&self, link: &Link) -> Bytes {
        let wire = |bytes: u16| {
            link.rate.time_for(Bytes(u64::from(bytes) + u64::from(link.wire_overhead)))
        };
        let frame = wire(link.largest_frame);
        let pause = wire(length::SHORTEST_FRAME);
        let until_last = frame
            + pause * u64::from(link.lossless_classes)
            + link.delay
            + self.response
            + frame
            + link.delay
            + link.latency;
        // The frame that crosses XOFF overshoots it by up to its own length less one byte.
        let frames = until_last.0 / frame.0 + 1;
        Bytes(frames * u64::from(link.largest_frame))
    }
}

/// What the headroom of one lossless class on one link depends on.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// Classes that may be paused at the same time, this one included.
    pub lossless_classes: u8,
    /// The longest frame of any class, in bytes.
    pub largest_frame: u16,
    /// Preamble and gap, in bytes.
    pub wire_overhead: u16,
    /// Time from a frame's arrival to its place in the books.
    pub latency: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pause_at_100_gbps_is_335_us() {
        // 65535 * 512 bit at 100 Gb/s (mechanisms: 335.5 us).
        let full = Spec::pause_time(65_535, Rate::from_gbps(100));
        assert_eq!(full, Duration(335_539_200));
    }

    #[test]
    fn headroom_by_hand() {
        let link = Link {
            rate: Rate::from_gbps(100),
            delay: Duration::from_ns(200),
            lossless_classes: 1,
            largest_frame: 1086,
            wire_overhead: 20,
            latency: Duration::ZERO,
        };
        // 88.48 + 6.72 + 200 + 88.48 + 200 = 583.68 ns = 6.6 frames of 88.48 ns: six whole
        // frames, and one for the overshoot.
        assert_eq!(Spec::default().headroom(&link), Bytes(7 * 1086));
    }
}
