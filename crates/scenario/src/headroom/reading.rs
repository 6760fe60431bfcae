//! How the numbers of a headroom table may have been computed. A reading is a formula with its
//! constants; it explains a line if it gives the line's number. Of many readings that are tried, the
//! one that explains most lines is reported, with the number of those that explain as many.

use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration, Rate};
use floodway_sim::switch::flow_control::pausing::standard_response;
use serde::Serialize;

use super::Cable;
use super::lookup::{Entry, Table};

/// Preamble and interframe gap.
const OVERHEAD: u64 = 20;

/// The bytes that a shortest frame takes on the wire.
pub(super) const SMALLEST_ON_WIRE: u64 = SHORTEST_FRAME as u64 + OVERHEAD;

/// How the numbers of a table may have been computed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Whole cells, each filled by a shortest frame: those that the cable holds, and a number that
    /// depends only on the speed.
    Cells(Cells),
    /// The formula by which SONiC computes headrooms at run time (`buffer_headroom_mellanox.lua`).
    Sonic(Sonic),
}

/// See [`Reading::Cells`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cells {
    /// Bytes of a cell.
    pub cell: u64,
    /// Propagation delay of a meter.
    pub meter: Duration,
    /// What does not depend on the cable.
    pub rests: Vec<Rest>,
}

/// What a headroom has at a speed in addition to what the cable holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rest {
    /// The speed.
    pub rate: Rate,
    /// The speed for which the lines are computed, which may be a faster one.
    pub computed_for: Rate,
    /// Number of cells.
    pub cells: f64,
}

/// See [`Reading::Sonic`]. The smallest frame is 64 bytes, and numbers are rounded up to 1024 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sonic {
    /// Bytes of a cell.
    pub cell: u64,
    /// Percentage of frames that are taken for the worst.
    pub small_frames: u64,
    /// MTU of the port.
    pub mtu: u64,
    /// MTU of the lossless traffic.
    pub lossless_mtu: u64,
    /// Whether the neighbor's response depends on the speed, as in IEEE 802.3; otherwise it is a
    /// constant of 3.8 KiB.
    pub standard_response: bool,
}

/// A line with its explanation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The line.
    #[serde(flatten)]
    pub entry: Entry,
    /// The bytes that the cable holds in both directions.
    pub cable_holds: Bytes,
    /// What the reading gives for it.
    pub reading: Option<Bytes>,
    /// Whether it is half of that, rounded up to 1024 bytes: as for a pool of headroom that two
    /// share.
    pub is_half: bool,
    /// Whether it is less than the cable holds: a line that is full of long frames overflows it.
    pub too_small: bool,
}

/// The explanation of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Its lines.
    pub lines: Vec<Line>,
    /// The largest number of bytes of which all its numbers are multiples.
    pub unit: Bytes,
    /// Growth for each meter of cable, in multiples of what the cable holds: by speed.
    pub growth: Vec<(Rate, f64)>,
    /// The reading that explains most lines, if any explains more than half.
    pub reading: Option<Reading>,
    /// How many lines it explains, not counting those that are half of it.
    pub explained: usize,
    /// How many readings were tried.
    pub tried: usize,
    /// How many of them explain as many lines as the one that is reported, which comes first.
    pub as_good: usize,
}

/// Propagation delay of a meter, if nothing else is said: 5 ns, for fiber and copper alike.
pub const METER: Duration = Duration::from_ns(5);

impl Explanation {
    /// Explains a table. `largest` is the longest frame, in bytes.
    pub fn of(table: &Table, largest: u16) -> Self {
        let explains = |reading: &Reading| {
            let right = |of: &&Entry| reading.headroom(of) == Some(of.xoff);
            table.entries.iter().filter(right).count()
        };
        let readings: Vec<(usize, Reading)> =
            readings(table).into_iter().map(|reading| (explains(&reading), reading)).collect();
        let most = readings.iter().map(|(explained, _)| *explained).max().unwrap_or(0);
        let as_good = readings.iter().filter(|(explained, _)| *explained == most).count();
        let best = readings.iter().find(|(explained, _)| *explained == most);
        let best = best.filter(|_| 2 * most > table.entries.len()).map(|(_, best)| best.clone());
        let line = |entry: &Entry| {
            let holds = entry.cable.holds(entry.rate, METER);
            let reading = best.as_ref().and_then(|reading| reading.headroom(entry));
            let half = reading.map(|of| Bytes((of.0 / 2).next_multiple_of(1_024)));
            let frames = f64::from(largest) / (f64::from(largest) + OVERHEAD as f64);
            Line {
                entry: *entry,
                cable_holds: Bytes(holds as u64),
                reading,
                is_half: half == Some(entry.xoff),
                too_small: (entry.xoff.0 as f64) < holds * frames,
            }
        };
        Self {
            lines: table.entries.iter().map(line).collect(),
            unit: Bytes(table.unit()),
            growth: table.rates().into_iter().filter_map(|rate| growth(table, rate)).collect(),
            explained: if best.is_some() { most } else { 0 },
            reading: best,
            tried: readings.len(),
            as_good,
        }
    }
}

/// The growth between the shortest and the longest cable of a speed, in multiples of what the cable
/// holds.
fn growth(table: &Table, rate: Rate) -> Option<(Rate, f64)> {
    let (first, last) = (table.at(rate).next()?, table.at(rate).last()?);
    let held = |of: &Entry| of.cable.holds(rate, METER);
    let longer = held(last) - held(first);
    let more = last.xoff.0 as f64 - first.xoff.0 as f64;
    (longer > 0.0).then(|| (rate, more / longer))
}

/// All readings that are tried.
fn readings(table: &Table) -> Vec<Reading> {
    let meters = [METER, SONIC_METER];
    let cells = meters.iter().filter_map(|meter| Cells::of(table, *meter)).map(Reading::Cells);
    cells.chain(Sonic::all().map(Reading::Sonic)).collect()
}

impl Reading {
    /// The headroom of a line; `None` if the reading says nothing about it.
    pub fn headroom(&self, entry: &Entry) -> Option<Bytes> {
        match self {
            Self::Cells(cells) => cells.headroom(entry),
            Self::Sonic(sonic) => Some(sonic.headroom(entry.rate, entry.cable)),
        }
    }
}

impl Cells {
    /// The reading of this table, if its numbers can be whole cells and depend on the cable.
    fn of(table: &Table, meter: Duration) -> Option<Self> {
        let cell = table.unit();
        // Chips have cells of 48 to 512 bytes.
        let depends = table.rates().into_iter().filter_map(|rate| growth(table, rate));
        if !(48..=512).contains(&cell) || depends.map(|(_, growth)| growth).all(|of| of == 0.0) {
            return None;
        }
        let rates = table.rates();
        let rest = |&rate: &Rate| {
            let faster = rates.iter().filter(|other| **other >= rate);
            let fits = faster.map(|&computed_for| {
                let (lines, cells) = most_common(table.at(rate).map(|entry| {
                    let most = entry.xoff.0 as f64 / cell as f64;
                    most - on_cable(entry.cable, computed_for, meter)
                }));
                (lines, Rest { rate, computed_for, cells })
            });
            // The first of those that explain most: the speed itself, if it does.
            fits.reduce(|best, fit| if fit.0 > best.0 { fit } else { best }).map(|(_, rest)| rest)
        };
        Some(Self { cell, meter, rests: rates.iter().filter_map(rest).collect() })
    }

    fn headroom(&self, entry: &Entry) -> Option<Bytes> {
        let rest = self.rests.iter().find(|rest| rest.rate == entry.rate)?;
        let cells = rest.cells + on_cable(entry.cable, rest.computed_for, self.meter);
        Some(Bytes(cells.ceil() as u64 * self.cell))
    }
}

/// Shortest frames on a cable, both ways.
fn on_cable(cable: Cable, rate: Rate, meter: Duration) -> f64 {
    cable.holds(rate, meter) / SMALLEST_ON_WIRE as f64
}

/// The number that is at most each of these, and less than one below, for as many of them as possible: how many, and
/// the largest such number.
fn most_common(most: impl Iterator<Item = f64>) -> (usize, f64) {
    let most: Vec<f64> = most.collect();
    let holds =
        |number: f64| most.iter().filter(|of| (0.0..1.0).contains(&(**of - number))).count();
    let counted = most.iter().map(|&number| (holds(number), number));
    counted.reduce(|best, one| if one.0 > best.0 { one } else { best }).unwrap_or((0, 0.0))
}

/// The delay of a meter at 198,000 km/s.
const SONIC_METER: Duration = Duration(5_051);

impl Sonic {
    /// The constants of the formula that are tried: cells of the chips of which tables are public,
    /// and what configurations have.
    fn all() -> impl Iterator<Item = Self> {
        let responses = [true, false].into_iter();
        responses.flat_map(|standard_response| {
            [96, 144, 192, 254, 256].into_iter().flat_map(move |cell| {
                [100, 50, 0].into_iter().flat_map(move |small_frames| {
                    [9_216, 9_100, 1_518].into_iter().flat_map(move |mtu| {
                        [1_024, 1_500].into_iter().map(move |lossless_mtu| Self {
                            cell,
                            small_frames,
                            mtu,
                            lossless_mtu,
                            standard_response,
                        })
                    })
                })
            })
        })
    }

    /// The headroom of a port: the lossless MTU, and for all that comes in meanwhile the buffer space that
    /// it takes by the share of small frames.
    pub fn headroom(&self, rate: Rate, cable: Cable) -> Bytes {
        const KIB: f64 = 1_024.0;
        let smallest = f64::from(SHORTEST_FRAME);
        let cell = self.cell as f64;
        // Small frames take a cell each, or two if that is worse.
        let worst = if cell > 2.0 * smallest { cell / smallest } else { 2.0 * cell / (1.0 + cell) };
        let small = self.small_frames as f64 / 100.0;
        let occupancy = 1.0 - small + small * worst;
        let response = match self.standard_response {
            true => standard_response(rate).as_secs() * rate.0 as f64 / 8.0,
            false => 3.8 * KIB,
        };
        let on_cable = 2.0 * cable.length() * rate.0 as f64 / 8.0 / 198e6;
        let mac_and_phy = 0.8 * KIB;
        let arriving = self.mtu as f64 + on_cable + mac_and_phy + response;
        let bytes = self.lossless_mtu as f64 + arriving * occupancy;
        Bytes((bytes / KIB).ceil() as u64 * 1_024)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lookup::tests::parse;
    use super::*;

    /// A table in the form of real ones: cells of 200 bytes, a rest of 100 cells at 100 Gb/s and of
    /// 300 at 400 Gb/s. 84 m of cable hold 10,500 bytes at 100 Gb/s, both ways, or 125 frames of 84;
    /// 42 m hold 62.5, so that there are 163 cells. Ports of 50 Gb/s have the lines of 100 Gb/s.
    #[test]
    fn cells_are_found() {
        let table = parse(
            "50000 84m 0 0 45000 0\n50000 168m 0 0 70000 0\n100000 42m 0 0 32600 0\n\
             100000 84m 0 0 45000 0\n100000 168m 0 0 70000 0\n\
             400000 84m 0 0 160000 0\n400000 168m 0 0 260000 0\n",
        );
        let explained = Explanation::of(&table.unwrap(), 9_216);
        let Some(Reading::Cells(cells)) = &explained.reading else { panic!("{explained:?}") };
        let rest = |rate, computed_for, cells| {
            let (rate, computed_for) = (Rate::from_gbps(rate), Rate::from_gbps(computed_for));
            Rest { rate, computed_for, cells }
        };
        let rests = vec![rest(50, 100, 100.0), rest(100, 100, 100.0), rest(400, 400, 300.0)];
        assert_eq!(*cells, Cells { cell: 200, meter: METER, rests });
        assert_eq!(explained.explained, 7);
        let grown: Vec<f64> = explained.growth.iter().map(|(_, growth)| *growth).collect();
        // 200 bytes for 84, and twice that where the line is computed for twice the speed.
        assert!((grown[0] - 2.0 * 200.0 / 84.0).abs() < 1e-6, "{grown:?}");
        assert!((grown[2] - 200.0 / 84.0).abs() < 1e-6, "{grown:?}");
    }

    /// 25,216 bytes of response at 100 Gb/s, 505 on 4 m of cable, 9216 and 819.2, times 1.625, and 1024: 59,128, or 58 KiB
    /// rounded up. By hand, with cells of 144 bytes and half of the frames small.
    #[test]
    fn the_formula_by_hand() {
        let sonic = Sonic {
            cell: 144,
            small_frames: 50,
            mtu: 9_216,
            lossless_mtu: 1_024,
            standard_response: true,
        };
        let headroom = sonic.headroom(Rate::from_gbps(100), Cable::meters(4));
        assert_eq!(headroom, Bytes(59_392));
    }

    #[test]
    fn a_number_that_no_reading_gives_is_not_explained() {
        let table = parse("100000 5m 0 0 300990 0\n200000 40m 0 0 300990 0\n").unwrap();
        let explained = Explanation::of(&table, 9_216);
        assert_eq!((explained.reading, explained.explained), (None, 0));
        assert!(explained.lines.iter().all(|line| line.reading.is_none() && !line.too_small));
    }

    /// By the formula 50 Gb/s over 40 m are 36,864 and over 300 m 63,488 bytes; half of the formula for 2
    /// km, 238,592, is 119,296, and rounded up 119,808.
    #[test]
    fn half_of_a_reading_is_seen() {
        let table =
            parse("50000 40m 0 0 36864 0\n50000 300m 0 0 63488 0\n50000 2000m 0 0 119808 0\n");
        let explained = Explanation::of(&table.unwrap(), 9_216);
        let halves: Vec<bool> = explained.lines.iter().map(|line| line.is_half).collect();
        assert_eq!((explained.explained, halves), (2, vec![false, false, true]));
        assert_eq!(explained.lines[2].reading, Some(Bytes(238_592)));
        assert!(explained.lines[2].too_small);
    }

    /// 2 km at 100 Gb/s hold 250,000 bytes.
    #[test]
    fn less_than_the_cable_holds_is_too_small() {
        let table = parse("100000 2000m 0 0 249000 0\n100000 1000m 0 0 249000 0\n").unwrap();
        let lines = Explanation::of(&table, 9_216).lines;
        assert_eq!(lines.iter().map(|line| line.too_small).collect::<Vec<_>>(), [false, true]);
        assert_eq!(lines[1].cable_holds, Bytes(250_000));
    }
}
