//! Headroom as a sum of its parts, and the headroom tables of switch vendors.

pub mod lookup;
pub mod phy;
pub mod question;
pub mod reading;
pub mod rest;

use floodway_model::units::PS_PER_S;
use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::switch::cell::worst_frame;
use floodway_sim::switch::flow_control::pausing::{Link, Part, carried};
use serde::Serialize;

use crate::device::Evidence;
use phy::Delay;

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
    /// How the time is known, if it is neither computed nor one of the inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// And from where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
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
        Self::with(link, response, &[])
    }

    /// The same with these delays at this end of the link.
    pub fn with(link: &Link, response: Duration, delays: &[Delay]) -> Self {
        let mut terms: Vec<Term> = link.times(response).into_iter().map(Term::of).collect();
        let latency = terms.len() - 1;
        terms.splice(latency..latency, delays.iter().map(Term::at_this_end));
        Self::add(&behind(link, delays), response, terms)
    }

    /// The headroom of a link of which the round trip was measured, from this MAC to the neighbor's and back with
    /// the neighbor's response and the delays of MAC and PHY in it (the subject of IEEE P802.1Qdt). Neither the
    /// cable nor the response has to be known. The error of the measurement has to be in it.
    pub fn measured(link: &Link, round_trip: Duration) -> Self {
        let link = measured(link);
        let terms = link.times(round_trip).into_iter().filter_map(|(part, time)| match part {
            Part::Forth | Part::Back => None,
            Part::Response => {
                Some(Term { part: "the round trip, as measured", ..Term::of((part, time)) })
            }
            _ => Some(Term::of((part, time))),
        });
        Self::add(&link, round_trip, terms.collect())
    }

    fn add(link: &Link, response: Duration, terms: Vec<Term>) -> Self {
        let (smallest, largest) = (link.smallest_frame, link.largest_frame);
        let (cells, length) = worst_frame(link.cell, smallest, largest, link.wire_overhead);
        let worst_occupied = cells * link.cell.bytes();
        let on_wire = u64::from(length) + u64::from(link.wire_overhead);
        let single = |part: Part| Row {
            part: part.name(),
            time: Duration::ZERO,
            on_wire: Bytes(0),
            buffer: Bytes(link.cell.occupied(largest).into()),
            evidence: None,
            source: None,
        };
        let mut rows = vec![single(Part::Crossing)];
        rows.extend(terms.into_iter().map(|Term { part, time, evidence, source }| {
            let wire = carried(time, link.rate);
            let buffer = u128::from(wire) * u128::from(worst_occupied) / u128::from(on_wire);
            let buffer = Bytes(u64::try_from(buffer).unwrap_or(u64::MAX));
            Row { part, time, on_wire: Bytes(wire), buffer, evidence, source }
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

/// A link as a simulation has it, in which the delays at this end are part of the switch's latency.
pub fn behind(link: &Link, delays: &[Delay]) -> Link {
    Link { latency: link.latency + phy::together(delays), ..*link }
}

/// A link whose measured round trip takes the place of its cable and of the neighbor's response.
pub fn measured(link: &Link) -> Link {
    Link { delay: Duration::ZERO, ..*link }
}

/// A part with a time.
struct Term {
    part: &'static str,
    time: Duration,
    evidence: Option<Evidence>,
    source: Option<String>,
}

impl Term {
    fn of((part, time): (Part, Duration)) -> Self {
        Self { part: part.name(), time, evidence: None, source: None }
    }

    fn at_this_end(delay: &Delay) -> Self {
        let Delay { part, time, evidence, source } = delay.clone();
        Self { part, time, evidence: Some(evidence), source: Some(source) }
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
    use floodway_sim::switch::cell::Cell;

    fn link() -> Link {
        Link {
            rate: Rate::from_gbps(400),
            delay: Duration::from_ns(2_500),
            lossless_classes: 1,
            smallest_frame: 64,
            largest_frame: 9_216,
            wire_overhead: 20,
            latency: Duration::ZERO,
            cell: Cell::of(420),
        }
    }

    /// 905 quanta of 64 bytes at this end are 57,920 bytes in addition to 9,236 ahead, the pause frame of 84, the cable of
    /// 250,000 and the response of 57,920: 375,160, in which 4,466 frames of 84 end. The longest frame takes 22 cells,
    /// twice.
    #[test]
    fn delays_at_this_end_by_hand() {
        let response = Duration(1_158_400);
        let delays = phy::standard(link().rate).unwrap();
        let sum = Sum::with(&link(), response, &delays);
        assert_eq!(sum.total, Bytes((4_466 + 44) * 420));
        let mine: Vec<&Row> = sum.rows.iter().filter(|row| row.evidence.is_some()).collect();
        let on_wire: Vec<u64> = mine.iter().map(|row| row.on_wire.0).collect();
        assert_eq!(on_wire, [192 * 64, 625 * 64, 88 * 64]);
        assert!(mine.iter().all(|row| row.source.as_ref().unwrap().contains("clause 116.4")));
        // The latency comes after them, and without them the sum is the same as ever.
        assert_eq!(sum.rows[sum.rows.len() - 2].part, Part::Latency.name());
        assert_eq!(Sum::with(&link(), response, &[]), Sum::of(&link(), response));
    }

    /// 6.1 us at 400 Gb/s are 305,000 bytes; with 9,236 ahead and the pause frame of 84 they are 314,320, in which 3,741
    /// frames of 84 end. The cable is not counted again.
    #[test]
    fn a_measured_round_trip_by_hand() {
        let measured = Sum::measured(&link(), Duration::from_ns(6_100));
        assert_eq!(measured.total, Bytes((3_741 + 44) * 420));
        let parts: Vec<&str> = measured.rows.iter().map(|row| row.part).collect();
        assert!(parts.contains(&"the round trip, as measured"), "{parts:?}");
        assert!(!parts.contains(&Part::Forth.name()) && !parts.contains(&Part::Back.name()));
        // If the measurement finds what was assumed, the sum is the same.
        let (response, delays) = (Duration(1_158_400), phy::standard(link().rate).unwrap());
        let all = response + phy::together(&delays) + link().delay * 2;
        let worst = Sum::with(&link(), response, &delays);
        assert_eq!(Sum::measured(&link(), all).total, worst.total);
    }

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
