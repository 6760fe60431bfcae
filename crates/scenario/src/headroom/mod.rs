//! Headroom as a sum of its parts, and the headroom tables of switch vendors.

pub mod lookup;
pub mod reading;

use floodway_model::units::PS_PER_S;
use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::switch::cell::worst_frame;
use floodway_sim::switch::flow_control::pausing::{Link, Part, carried};
use serde::Serialize;

/// A part of a headroom.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What it is.
    pub part: &'static str,
    /// How long it delays the end of the arrivals; zero for single frames.
    pub time: Duration,
    /// The bytes that the link carries in this time.
    pub on_wire: Bytes,
    /// The buffer space that they fill at most. Of parts with a time these are rounded.
    pub buffer: Bytes,
}

/// A headroom with its parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sum {
    /// The parts, in order of time.
    pub rows: Vec<Row>,
    /// The whole.
    pub total: Bytes,
    /// Length of the frame that takes most of the buffer for its time on the wire.
    pub worst_frame: Bytes,
    /// The buffer space that it takes.
    pub worst_occupied: Bytes,
}

impl Sum {
    /// The headroom of a link whose other end obeys after `response`.
    pub fn of(link: &Link, response: Duration) -> Self {
        let (smallest, largest) = (link.smallest_frame, link.largest_frame);
        let (cells, length) = worst_frame(link.cell, smallest, largest, link.wire_overhead);
        let worst_occupied = cells * link.cell.bytes();
        let on_wire = u64::from(length) + u64::from(link.wire_overhead);
        let single = |part: Part| Row {
            part: part.name(),
            time: Duration::ZERO,
            on_wire: Bytes(0),
            buffer: Bytes(link.cell.occupied(largest).into()),
        };
        let mut rows = vec![single(Part::Crossing)];
        rows.extend(link.times(response).into_iter().map(|(part, time)| {
            let wire = carried(time, link.rate);
            let buffer = u128::from(wire) * u128::from(worst_occupied) / u128::from(on_wire);
            let buffer = Bytes(u64::try_from(buffer).unwrap_or(u64::MAX));
            Row { part: part.name(), time, on_wire: Bytes(wire), buffer }
        }));
        rows.push(single(Part::Begun));
        Self {
            rows,
            total: link.headroom(response),
            worst_frame: Bytes(length.into()),
            worst_occupied: Bytes(worst_occupied),
        }
    }
}

/// The length of a cable, in millimeters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cable(u64);

impl Cable {
    /// A cable of this many meters.
    pub const fn meters(meters: u64) -> Self {
        Self(meters * 1_000)
    }

    /// Its length in meters.
    pub fn length(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Propagation delay, one way, at a delay of `meter` for each meter.
    pub fn delay(self, meter: Duration) -> Duration {
        let delay = u128::from(self.0) * u128::from(meter.0) / 1_000;
        Duration(u64::try_from(delay).unwrap_or(u64::MAX))
    }

    /// The bytes that it holds in both directions together.
    pub fn holds(self, rate: Rate, meter: Duration) -> f64 {
        2.0 * self.length() * meter.0 as f64 * rate.0 as f64 / (8.0 * PS_PER_S as f64)
    }
}

impl std::str::FromStr for Cable {
    type Err = String;

    /// Parses `40m`, `0.5m` or `2km`, up to 100 km.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let meters = match text.strip_suffix("km") {
            Some(kilometers) => number(kilometers).map(|length| length * 1e3),
            None => text.strip_suffix('m').and_then(number),
        };
        match meters {
            Some(meters) if (0.0..=1e5).contains(&meters) => {
                Ok(Self((meters * 1e3).round() as u64))
            }
            _ => Err("expected the length of a cable, up to 100km, like 40m or 2km".to_owned()),
        }
    }
}

impl std::fmt::Display for Cable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{}m", self.length()))
    }
}

impl Serialize for Cable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cables() {
        let parsed = |text: &str| text.parse::<Cable>();
        assert_eq!(parsed("40m"), Ok(Cable::meters(40)));
        assert_eq!(parsed("2km"), Ok(Cable::meters(2_000)));
        assert_eq!(parsed("0.5m").map(Cable::length), Ok(0.5));
        for wrong in ["40", "m", "-1m", "101km", "40ft", "nanm", "infm"] {
            let expected = "expected the length of a cable, up to 100km, like 40m or 2km";
            assert_eq!(parsed(wrong), Err(expected.to_owned()), "{wrong}");
        }
        // 500 m both ways at 400 Gb/s and 5 ns a meter: 5 us of 50 bytes each nanosecond.
        let holds = Cable::meters(500).holds(Rate::from_gbps(400), Duration::from_ns(5));
        assert!((holds - 250_000.0).abs() < 1e-6, "{holds}");
    }
}
