//! Headroom tables as SONiC keeps them for a switch model, `pg_profile_lookup.ini`: speed in Mb/s,
//! cable, and bytes.

use std::path::Path;
use std::sync::Arc;

use floodway_model::{Bytes, Rate};
use serde::Serialize;

use super::Cable;
use crate::files::{Line, Word, lines};
use crate::read;
use crate::text::{Error, Place, Problem, Source};

/// A headroom table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its lines, by speed and cable.
    pub entries: Vec<Entry>,
}

/// A line: what a lossless priority group gets at a speed and with a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Speed of the port.
    pub rate: Rate,
    /// Length of the cable.
    pub cable: Cable,
    /// Bytes that are reserved for the group.
    pub size: Bytes,
    /// Occupancy at which the neighbor goes on.
    pub xon: Bytes,
    /// Headroom: bytes that are taken after the pause is sent.
    pub xoff: Bytes,
    /// How far occupancy must fall below a dynamic threshold for the neighbor to go on; 0 if the
    /// table does not say.
    pub xon_offset: Bytes,
}

/// The columns that are needed, in order. Others may follow.
const COLUMNS: &str = "speed in Mb/s, cable, size, xon, xoff and threshold";

impl Table {
    /// Reads a table. An error shows the place in the file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = read::text_file(path, "headroom table", ".ini")?;
        Self::parse(&Arc::new(Source::new(path.display().to_string(), text)))
    }

    fn parse(source: &Arc<Source>) -> Result<Self, Error> {
        let rows = lines(source).filter(|line| !line.all.text.starts_with('#'));
        let mut entries: Vec<Entry> = Vec::new();
        let mut problems = Vec::new();
        for line in rows {
            match entry(line) {
                Err(problem) => problems.push(problem),
                Ok(found) => {
                    let same = |of: &Entry| (of.rate, of.cable) == (found.rate, found.cable);
                    if entries.iter().any(same) {
                        problems.push(line.all.problem(
                            format!(
                                "there is a line for {} and {} already",
                                found.rate, found.cable
                            ),
                            "remove one of them: it is not clear which counts",
                        ));
                    }
                    entries.push(found);
                }
            }
        }
        if entries.is_empty() && problems.is_empty() {
            problems.push(Problem::error(
                Place::whole(source),
                "the table has no lines",
                format!("each line has {COLUMNS}"),
            ));
        }
        entries.sort_by_key(|entry| (entry.rate, entry.cable));
        Error::of(problems).map_or(Ok(Self { entries }), Err)
    }

    /// The speeds, slowest first.
    pub fn rates(&self) -> Vec<Rate> {
        let mut rates: Vec<Rate> = self.entries.iter().map(|entry| entry.rate).collect();
        rates.dedup();
        rates
    }

    /// The lines of a speed.
    pub fn at(&self, rate: Rate) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.rate == rate)
    }

    /// The largest number of bytes of which all its numbers are multiples.
    pub fn unit(&self) -> u64 {
        fn divisor(a: u64, b: u64) -> u64 {
            if b == 0 { a } else { divisor(b, a % b) }
        }
        let numbers = |of: &Entry| [of.size, of.xon, of.xoff, of.xon_offset];
        self.entries.iter().flat_map(numbers).fold(0, |unit, number| divisor(unit, number.0))
    }
}

/// A line of the table.
fn entry(line: Line<'_>) -> Result<Entry, Problem> {
    let words: Vec<Word<'_>> = line.words().collect();
    let [speed, cable, size, xon, xoff, _, ref others @ ..] = *words else {
        let found = words.len();
        return Err(line.all.problem(
            format!("a line of a headroom table has 6 or 7 columns, and this one has {found}"),
            format!("write {COLUMNS}"),
        ));
    };
    let mbps = speed.whole("the speed")?;
    if !(1..=10_000_000).contains(&mbps) {
        return Err(speed.problem(
            format!("a speed of {mbps} Mb/s"),
            "write the speed of the port in Mb/s, for example 100000 for 100Gb/s",
        ));
    }
    let length = cable.text.parse().map_err(|why: String| {
        cable.problem(format!("the cable is `{}`: {why}", cable.text), "write it like 40m")
    })?;
    Ok(Entry {
        rate: Rate::from_mbps(mbps),
        cable: length,
        size: Bytes(size.whole("size")?),
        xon: Bytes(xon.whole("xon")?),
        xoff: Bytes(xoff.whole("xoff")?),
        xon_offset: match others {
            [] => Bytes(0),
            [offset, ..] => Bytes(offset.whole("xon_offset")?),
        },
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn parse(text: &str) -> Result<Table, String> {
        let source = Arc::new(Source::new("table.ini", text.to_owned()));
        Table::parse(&source).map_err(|error| error.plain())
    }

    #[test]
    fn a_table_is_read_whatever_its_blanks() {
        let table = parse("# speed cable size xon xoff threshold\n\n 100000\t 40m 1248 0 96096 0\n 50000 5m 1248 0 48048 0 2288\n").unwrap();
        let rows: Vec<_> = table.entries.iter().map(|of| (of.rate, of.cable, of.xoff.0)).collect();
        let (slow, fast) = (Rate::from_gbps(50), Rate::from_gbps(100));
        assert_eq!(rows, [(slow, Cable::meters(5), 48_048), (fast, Cable::meters(40), 96_096)]);
        assert_eq!((table.rates(), table.unit()), (vec![slow, fast], 208));
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_place() {
        for (text, expected) in [
            ("", "the table has no lines"),
            ("# nothing\n", "the table has no lines"),
            (
                "100000 40m 1 0 2\n",
                "a line of a headroom table has 6 or 7 columns, and this one has 5",
            ),
            ("fast 40m 1 0 2 0\n", "the speed is `fast`, not a whole number"),
            ("0 40m 1 0 2 0\n", "a speed of 0 Mb/s"),
            ("100000 40 1 0 2 0\n", "the cable is `40`: expected the length of a cable"),
            ("100000 40m 1 0 -2 0\n", "xoff is `-2`, not a whole number"),
            ("100000 40m 1 0 2 0 x\n", "xon_offset is `x`, not a whole number"),
            ("1000 5m 1 0 2 0\n1000 5m 1 0 3 0\n", "there is a line for 1Gbps and 5m already"),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(expected), "{text:?}: {said}");
            assert!(said.contains("table.ini"), "{said}");
        }
    }
}
