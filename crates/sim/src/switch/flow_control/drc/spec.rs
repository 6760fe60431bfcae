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
    /// Parts of an output port's memory: when the data bytes that wait there reach the first, the
    /// second and the third, the severity of congestion in that direction becomes 1, 2 and 3.
    /// Default [0.25, 0.5, 0.75] (assumed; the two bits are the deck's).
    pub thresholds: [f64; 3],
    /// The memory of an output port, of which `thresholds` and `hysteresis` are parts. Default none:
    /// `switch.queue.size` for each data queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// How far below its threshold the memory in use must fall until a severity ends, as a part of
    /// the memory. Default 0.05 (assumed).
    pub hysteresis: f64,
    /// Time after which feedback is repeated although nothing has changed. Default 10us (assumed).
    pub interval: Duration,
    /// The least time from one feedback frame to the next on a link; a change that comes earlier
    /// waits for it. Default 1230ns (assumed: a full frame at 10 Gb/s).
    pub min_gap: Duration,
    /// By which feedback of severity 2 or 3 multiplies the rate factor of its direction. Default
    /// 0.5 (assumed; that there is such a factor is the patent's).
    pub decrease: f64,
    /// The least time from one decrease of a direction to its next. Default 10us (assumed).
    pub cut_interval: Duration,
    /// By which feedback of severity 0 multiplies the rate factor, before it adds `increment`, up
    /// to 1; at severity 1 the factor stays. Default 1.25 (assumed).
    pub increase: f64,
    /// What feedback of severity 0 adds to the rate factor. Default 0.01 (assumed).
    pub increment: f64,
    /// The least rate factor. Default 0.01 (assumed).
    pub min_factor: f64,
    /// Whether a direction of severity 3 is stopped, until feedback says less, and not only slowed
    /// down like one of severity 2. Default true (assumed: the deck loses no frame).
    pub stop: bool,
    /// Whether what it controls must not be lost, so that a loss is a fault that the run reports and
    /// too little memory above the last threshold one that `check` does. Default false: few ports
    /// have room for what all neighbours at once can send until they stop (assumed).
    pub lossless: bool,
    /// Classes that are controlled, by which the neighbour sends, counted from 0; empty means all.
    /// Others are never held back. Default all.
    pub classes: Vec<u8>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            thresholds: [0.25, 0.5, 0.75],
            memory: None,
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

    /// The memory of an output port with this many data queues of this size.
    pub fn memory(&self, queues: u8, size: Bytes) -> Bytes {
        self.memory.unwrap_or(Bytes(size.0.saturating_mul(u64::from(queues))))
    }

    /// At how many bytes each severity begins.
    pub fn rises(&self, memory: Bytes) -> [u64; 3] {
        self.thresholds.map(|part| part_of(memory, part))
    }

    /// Below how many bytes each severity ends.
    pub fn falls(&self, memory: Bytes) -> [u64; 3] {
        self.thresholds.map(|part| part_of(memory, part - self.hysteresis))
    }

    /// The bytes that one neighbour can still deliver in one direction after the decision to stop
    /// it: the memory that must be free above the last threshold for each of them.
    ///
    /// The decision is made when a frame has just arrived. Then pass: the gap after a feedback frame
    /// that has just left, and one more for each other group of directions whose turn is earlier;
    /// the longest frame, which may be on the reverse wire then; the feedback frame itself; the way
    /// there; a frame that the neighbour had just begun; the way back; and the switch's own latency
    /// before a frame is counted. See [`most_in`] for the most that arrives until then; the frame
    /// that crosses the threshold overshoots it by up to its own length less one byte.
    pub fn headroom(&self, hop: &Hop) -> Bytes {
        let wire =
            |bytes: u16| hop.rate.time_for(Bytes(u64::from(bytes) + u64::from(hop.wire_overhead)));
        let (frame, feedback) = (wire(hop.largest_frame), wire(length::SHORTEST_FRAME));
        // A gap shorter than the frame itself is none.
        let gaps = self.min_gap.max(feedback) * hop.ports.div_ceil(DIRECTIONS) as u64;
        let until_last = gaps + frame + feedback + hop.delay + frame + hop.delay + hop.latency;
        let on_the_way = most_in(until_last, hop.rate, hop.largest_frame, hop.wire_overhead);
        Bytes(u64::from(hop.largest_frame)) + on_the_way
    }
}

/// What the headroom for one neighbour of a switch depends on.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// The longest frame, in bytes.
    pub largest_frame: u16,
    /// Preamble and gap, in bytes.
    pub wire_overhead: u16,
    /// Ports of the switch, of which it tells.
    pub ports: usize,
    /// Time in the switch from a frame's arrival to its place in the books.
    pub latency: Duration,
}

/// At least a byte: severity 0 is what an empty port has.
fn part_of(memory: Bytes, part: f64) -> u64 {
    (memory.0 as f64 * part).round().max(1.0) as u64
}
