//! What a user asks of a headroom: the link, the switch and the neighbor, with limits on each.

use std::fmt;
use std::str::FromStr;

use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::flow_control::pausing::{Link, standard_response};
use serde::Serialize;

use super::lookup::Table;
use super::phy::{self, Delay};
use super::reading::{Explanation, METER, Reading};
use super::rest::{Explained, explain};
use super::{Cable, Sum, behind, measured};

/// Everything that a headroom depends on beside the rate and the cable.
#[derive(Clone, Debug)]
pub struct Question {
    /// The longest frame of any class, in bytes.
    pub largest_frame: u16,
    /// The shortest frame of the lossless class, in bytes.
    pub smallest_frame: u16,
    /// Bytes of a cell; 1 is byte by byte.
    pub cell: u16,
    /// Lossless classes that the switch may pause by separate frames at the same time.
    pub classes: u8,
    /// The time that the neighbor takes to obey; `None` is what IEEE 802.3 allows at the rate.
    pub response: Option<Duration>,
    /// The switch's own time from a frame's arrival until it is counted.
    pub latency: Duration,
    /// Propagation delay of a meter of cable.
    pub delay_per_meter: Duration,
    /// MAC and PHY of this end.
    pub phy: Phy,
    /// Gearboxes and retimers of this end, both directions together.
    pub gearbox: Duration,
    /// A measured round trip, which takes the place of cable, response, MAC and PHY.
    pub measured: Option<Duration>,
}

/// Delays of MAC and PHY at this end, sending and receiving together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phy {
    /// They are part of another term, or nothing.
    #[default]
    None,
    /// The most that IEEE 802.3 allows at the rate.
    Standard,
    /// As long as this.
    Time(Duration),
}

impl FromStr for Phy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "none" => Ok(Self::None),
            "standard" => Ok(Self::Standard),
            time => time.parse().map(Self::Time).map_err(|_| {
                format!("expected `none`, `standard` or a time such as 300ns, not `{text}`")
            }),
        }
    }
}

impl fmt::Display for Phy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Standard => f.write_str("standard"),
            Self::Time(time) => time.fmt(f),
        }
    }
}

impl Default for Question {
    fn default() -> Self {
        Self {
            largest_frame: 9_216,
            smallest_frame: SHORTEST_FRAME,
            cell: 1,
            classes: 2,
            response: None,
            latency: Duration::ZERO,
            delay_per_meter: METER,
            phy: Phy::None,
            gearbox: Duration::ZERO,
            measured: None,
        }
    }
}

/// A headroom from a measured round trip, beside what it would be without the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saved {
    /// The headroom of the same link by its cable, with the bounds of the standard for the response and, where they are
    /// known, for MAC and PHY.
    pub worst: Bytes,
    /// How much less the measured one is; negative if it is more.
    pub bytes: i64,
    /// The same in parts of the worst.
    pub share: f64,
}

/// A table with its explanation, and what this sum gives for its lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The explanation.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The sum of each line.
    pub computed: Computed,
    /// What does not depend on the cable, in parts; empty for readings that do not say it.
    pub rests: Vec<Explained>,
}

/// The sum for each line of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Computed {
    /// Bytes of a cell.
    pub cell: u16,
    /// By line.
    pub lines: Vec<Bytes>,
}

/// The cells of chips, in bytes.
const CELLS: std::ops::RangeInclusive<u64> = 48..=512;

/// The fastest link.
const FASTEST: Rate = Rate::from_gbps(10_000);

impl Question {
    /// Refuses what no link is.
    pub fn check(&self, rates: &[Rate]) -> Result<(), String> {
        let numbers = [
            ("the longest frame", self.largest_frame, 64..=16_384),
            ("the shortest frame", self.smallest_frame, 64..=16_384),
            ("a cell", self.cell, 1..=4_096),
            ("the number of classes", self.classes.into(), 1..=8),
        ];
        for (name, number, range) in numbers {
            if !range.contains(&number) {
                let (from, to) = range.into_inner();
                return Err(format!("{name} is {number}: write {from} to {to}"));
            }
        }
        if self.smallest_frame > self.largest_frame {
            return Err(format!(
                "the shortest frame ({}) is longer than the longest ({}): lower the shortest or raise the longest",
                self.smallest_frame, self.largest_frame
            ));
        }
        if !Cell::of(self.cell).holds(self.largest_frame) {
            return Err("a frame in whole cells has more than 64 KB: make cells smaller".into());
        }
        if let Some(rate) = rates.iter().find(|rate| rate.0 == 0 || **rate > FASTEST) {
            return Err(format!("a link of {rate}: write a rate above zero and up to {FASTEST}"));
        }
        let second = Duration::from_ms(1_000);
        let phy = if let Phy::Time(time) = self.phy { Some(time) } else { None };
        let times = [
            ("the response", self.response),
            ("the latency", Some(self.latency)),
            ("the delay of MAC and PHY", phy),
            ("the delay of gearboxes", Some(self.gearbox)),
            ("the measured round trip", self.measured),
        ];
        for (name, time) in times {
            if let Some(time) = time.filter(|time| *time > second) {
                return Err(format!("{name} is {time}: write at most {second}"));
            }
        }
        let most = Duration::from_us(1);
        if self.delay_per_meter > most {
            return Err(format!(
                "the delay of a meter is {}: write at most {most}; fiber has 5ns",
                self.delay_per_meter
            ));
        }
        if self.measured.is_some() && (self.phy != Phy::None || self.gearbox != Duration::ZERO) {
            return Err(
                "a measured round trip contains the delays of MAC, PHY and gearboxes: give one or the other"
                    .into(),
            );
        }
        Ok(())
    }

    fn link(&self, rate: Rate, cable: Cable) -> Link {
        Link {
            rate,
            delay: cable.delay(self.delay_per_meter),
            lossless_classes: self.classes,
            smallest_frame: self.smallest_frame,
            largest_frame: self.largest_frame,
            wire_overhead: 20,
            latency: self.latency,
            cell: Cell::of(self.cell),
        }
    }

    /// The time that the neighbor takes to obey.
    pub fn response(&self, rate: Rate) -> Duration {
        self.response.unwrap_or_else(|| standard_response(rate))
    }

    fn delays(&self, rate: Rate) -> Result<Vec<Delay>, String> {
        let mut delays = match self.phy {
            Phy::None => Vec::new(),
            Phy::Standard => phy::standard(rate)
                .map_err(|why| format!("{why}: give the time instead of `standard`"))?,
            Phy::Time(time) => vec![phy::given("MAC and PHY of this end", time)],
        };
        if self.gearbox > Duration::ZERO {
            delays.push(phy::given("gearboxes and retimers of this end", self.gearbox));
        }
        Ok(delays)
    }

    /// The headroom at a rate and with a cable.
    pub fn sum(&self, rate: Rate, cable: Cable) -> Result<Sum, String> {
        let link = self.link(rate, cable);
        let alone = cable.delay(self.delay_per_meter) * 2;
        if let Some(round_trip) = self.measured.filter(|measured| *measured < alone) {
            return Err(format!(
                "the measured round trip is {round_trip}, and {cable} of cable take {alone} both ways: check the \
                 measurement and the length of the cable"
            ));
        }
        Ok(match self.measured {
            Some(round_trip) => Sum::measured(&link, round_trip),
            None => Sum::with(&link, self.response(rate), &self.delays(rate)?),
        })
    }

    /// The link and the response that a simulation of it has.
    pub fn simulated(&self, rate: Rate, cable: Cable) -> Result<(Link, Duration), String> {
        let link = self.link(rate, cable);
        Ok(match self.measured {
            Some(round_trip) => (measured(&link), round_trip),
            None => (behind(&link, &self.delays(rate)?), self.response(rate)),
        })
    }

    /// What a measured round trip saves; none if nothing was measured.
    pub fn saved(&self, rate: Rate, cable: Cable) -> Result<Option<Saved>, String> {
        if self.measured.is_none() {
            return Ok(None);
        }
        let has_bound = phy::standard(rate).is_ok();
        let phy = if has_bound { Phy::Standard } else { Phy::None };
        let worst = Self { measured: None, phy, ..self.clone() };
        let (worst, mine) = (worst.sum(rate, cable)?.total, self.sum(rate, cable)?.total);
        let bytes = worst.0 as i64 - mine.0 as i64;
        Ok(Some(Saved { worst, bytes, share: bytes as f64 / worst.0 as f64 }))
    }

    /// Explains the lines of a vendor's table.
    pub fn explain(&self, table: &Table) -> Result<Answer, String> {
        let explanation = Explanation::of(table, self.largest_frame);
        let cell = match &explanation.reading {
            _ if self.cell != 1 => self.cell,
            Some(Reading::Cells(of)) => of.cell as u16,
            Some(Reading::Sonic(of)) => of.cell as u16,
            // All numbers are multiples of it, so it may be the cell.
            None if CELLS.contains(&explanation.unit.0) => explanation.unit.0 as u16,
            None => self.cell,
        };
        let own = Self { cell, measured: None, ..self.clone() };
        let sums = explanation.lines.iter().map(|line| own.sum(line.entry.rate, line.entry.cable));
        let lines: Result<Vec<Bytes>, String> = sums.map(|sum| sum.map(|sum| sum.total)).collect();
        let rests = match &explanation.reading {
            Some(Reading::Cells(cells)) => explain(cells, |rest| {
                let rate = rest.computed_for;
                (own.link(rate, Cable::meters(0)), own.response(rate))
            }),
            _ => Vec::new(),
        };
        Ok(Answer { explanation, computed: Computed { cell, lines: lines? }, rests })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> Rate {
        Rate::from_gbps(400)
    }

    /// 500 m at 400 Gb/s with cells of 420 bytes: 4,466 and 44 cells by the bounds (see `Sum`), and a frame of the
    /// second class is one more. 6.1 us are 3,741 and 44, and with the second class 3,742 and 44.
    #[test]
    fn a_measurement_saves_the_difference_to_the_bounds() {
        let asked =
            Question { cell: 420, measured: Some(Duration(6_100_000)), ..Question::default() };
        let cable = Cable::meters(500);
        let saved = asked.saved(rate(), cable).unwrap().unwrap();
        assert_eq!((saved.worst, saved.bytes), (Bytes(4_511 * 420), (4_511 - 3_786) * 420));
        assert!((saved.share - 725.0 / 4_511.0).abs() < 1e-12);
        assert_eq!(Question::default().saved(rate(), cable), Ok(None));
    }

    #[test]
    fn what_no_link_is_is_refused() {
        let asked = Question::default;
        let (long, measured) = (Duration::from_ms(2_000), Some(Duration::from_us(6)));
        for (question, expected) in [
            (
                Question { phy: Phy::Time(long), ..asked() },
                "the delay of MAC and PHY is 2s: write at most 1s",
            ),
            (Question { gearbox: long, ..asked() }, "the delay of gearboxes is 2s"),
            (
                Question { measured, phy: Phy::Standard, ..asked() },
                "a measured round trip contains the delays of MAC, PHY and gearboxes",
            ),
            (Question { delay_per_meter: long, ..asked() }, "the delay of a meter is 2s"),
        ] {
            let said = question.check(&[rate()]).unwrap_err();
            assert!(said.starts_with(expected), "{said}");
        }
        assert_eq!(asked().check(&[rate()]), Ok(()));
        let odd = Question { phy: Phy::Standard, ..asked() };
        let said = odd.sum(Rate::from_gbps(30), Cable::meters(1)).unwrap_err();
        assert!(said.ends_with("not at 30Gbps: give the time instead of `standard`"), "{said}");
        let wrong = "fast".parse::<Phy>().unwrap_err();
        assert_eq!(wrong, "expected `none`, `standard` or a time such as 300ns, not `fast`");
    }
}
