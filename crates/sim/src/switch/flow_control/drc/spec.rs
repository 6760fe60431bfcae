use floodway_model::id::CLASSES;
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DIRECTIONS;
use crate::switch::flow_control::pausing::most_in;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Buffer thresholds of an output port, as fractions of `buffer`. When the queued data bytes
    /// reach the first, second and third threshold, the severity of congestion in that direction
    /// becomes 1, 2 and 3. Default [0.25, 0.5, 0.75] (assumed; the deck has the two bits).
    pub thresholds: [f64; 3],
    /// Buffer size of an output port in bytes, to which `thresholds` and `hysteresis` refer.
    /// Default none: `switch.queue.size` times the number of data queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// How far below its threshold the buffer occupancy must fall for a severity to end, as a
    /// fraction of `buffer`. Default 0.05 (assumed).
    pub hysteresis: f64,
    /// Interval at which feedback is repeated even if nothing has changed. Default 10us (assumed).
    pub interval: Duration,
    /// Minimum interval between two feedback frames on a link; a change that comes earlier is
    /// delayed. Default 1230ns (assumed: a full frame at 10 Gb/s).
    pub min_gap: Duration,
    /// Factor by which feedback of severity 2 or 3 multiplies the rate factor of its direction.
    /// Default 0.5 (assumed; the existence of such a factor is from the patent).
    pub decrease: f64,
    /// Minimum interval between two decreases of a direction. Default 10us (assumed).
    pub cut_interval: Duration,
    /// Factor by which feedback of severity 0 multiplies the rate factor before it adds
    /// `increment`, up to 1. At severity 1 the rate factor does not change. Default 1.25 (assumed).
    pub increase: f64,
    /// Amount that feedback of severity 0 adds to the rate factor. Default 0.01 (assumed).
    pub increment: f64,
    /// Minimum of the rate factor. Default 0.01 (assumed).
    pub min_factor: f64,
    /// Whether a direction of severity 3 is stopped until feedback reports a lower severity,
    /// instead of only slowed down as at severity 2. Default true (assumed: the deck loses no
    /// frame).
    pub stop: bool,
    /// Whether the controlled classes are lossless: then a loss is an error that the run reports,
    /// and too little buffer above the last threshold is an error that `check` reports. Default
    /// false: few ports have room for what all neighbors can send at once before they stop
    /// (assumed).
    pub lossless: bool,
    /// Controlled classes, as used by the neighbor, counted from 0; empty means all. Other classes
    /// are never rate-limited. Default all.
    pub classes: Vec<u8>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            thresholds: [0.25, 0.5, 0.75],
            buffer: None,
            hysteresis: 0.05,
            interval: Duration::from_us(10),
            min_gap: Duration::from_ns(1_230),
            decrease: 0.5,
            cut_interval: Duration::from_us(10),
            increase: 1.25,
            increment: 0.01,
            min_factor: 0.01,
            stop: true,
            lossless: false,
            classes: Vec::new(),
        }
    }
}

impl Spec {
    /// Bit c: class c is controlled.
    pub fn mask(&self) -> u8 {
        let covers = |class: &u8| self.classes.is_empty() || self.classes.contains(class);
        (0..CLASSES as u8).filter(covers).fold(0, |mask, class| mask | 1 << class)
    }

    /// Buffer size of an output port with this many data queues of this size.
    pub fn buffer(&self, queues: u8, size: Bytes) -> Bytes {
        self.buffer.unwrap_or(Bytes(size.0.saturating_mul(u64::from(queues))))
    }

    /// The backlog in bytes at which each severity begins.
    pub fn rises(&self, buffer: Bytes) -> [u64; 3] {
        self.thresholds.map(|part| part_of(buffer, part))
    }

    /// The backlog in bytes below which each severity ends.
    pub fn falls(&self, buffer: Bytes) -> [u64; 3] {
        self.thresholds.map(|part| part_of(buffer, part - self.hysteresis))
    }

    /// The bytes that one neighbor can still deliver in one direction after the decision to stop
    /// it. This is the buffer space needed above the last threshold for each neighbor.
    ///
    /// The decision is made when a frame has just arrived. The delay until the neighbor's last
    /// frame is counted consists of: the gap after a feedback frame that has just left, and one
    /// more for each other group of directions that is reported earlier; the longest frame, which
    /// may occupy the reverse wire; the feedback frame itself; propagation to the neighbor; a frame
    /// that the neighbor had just begun; propagation back; and the switch's own latency before a
    /// frame is counted. See [`most_in`] for the most that arrives in that time. The frame that
    /// crosses the threshold overshoots it by up to its own length minus one byte.
    pub fn headroom(&self, hop: &Hop) -> Bytes {
        let wire =
            |bytes: u16| hop.rate.time_for(Bytes(u64::from(bytes) + u64::from(hop.wire_overhead)));
        let (frame, feedback) = (wire(hop.largest_frame), wire(length::SHORTEST_FRAME));
        // The gap includes the frame, so a gap shorter than the frame has no effect.
        let gaps = self.min_gap.max(feedback) * hop.ports.div_ceil(DIRECTIONS) as u64;
        let until_last = gaps + frame + feedback + hop.delay + frame + hop.delay + hop.latency;
        let on_the_way = most_in(until_last, hop.rate, hop.largest_frame, hop.wire_overhead);
        Bytes(u64::from(hop.largest_frame)) + on_the_way
    }
}

/// Inputs of the headroom for one neighbor of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// The longest frame, in bytes.
    pub largest_frame: u16,
    /// Preamble and interframe gap, in bytes.
    pub wire_overhead: u16,
    /// Number of ports of the switch, which it reports on.
    pub ports: usize,
    /// Time in the switch from a frame's arrival until it is counted.
    pub latency: Duration,
}

/// At least one byte: an empty port has severity 0.
fn part_of(buffer: Bytes, part: f64) -> u64 {
    (buffer.0 as f64 * part).round().max(1.0) as u64
}
