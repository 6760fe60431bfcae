//! Tables: the format of every result. A column carries its unit and its meaning, so the data
//! dictionary beside the results is generated from the code that fills them, or from files that
//! this code has written.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::numbers::Numbers;
use crate::random::mix;

/// A name or a description, from the code or from a file.
pub type Words = Cow<'static, str>;

/// A named set of columns of equal length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Plural noun for the rows: `flows`, `queues`.
    pub name: Words,
    /// What a row represents, in one sentence.
    pub doc: Words,
    /// The columns in order.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name, with the unit as suffix if it has one: `fct_ns`.
    pub name: Words,
    /// Meaning of a value, and of an empty value if there can be one.
    pub doc: Words,
    /// The values.
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Values {
    /// Whole numbers.
    U64(Numbers<u64>),
    /// Real numbers; NaN stands for an empty value.
    F64(Numbers<f64>),
    /// Text.
    Text(Vec<String>),
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// A table without columns.
    pub fn new(name: impl Into<Words>, doc: impl Into<Words>) -> Self {
        Self { name: name.into(), doc: doc.into(), columns: Vec::new() }
    }

    /// Adds a column of whole numbers.
    pub fn u64(self, name: impl Into<Words>, doc: impl Into<Words>, values: Vec<u64>) -> Self {
        self.with(name, doc, Values::U64(values.into()))
    }

    /// Adds a column of real numbers.
    pub fn f64(self, name: impl Into<Words>, doc: impl Into<Words>, values: Vec<f64>) -> Self {
        self.with(name, doc, Values::F64(values.into()))
    }

    /// Adds a column of text.
    pub fn text(self, name: impl Into<Words>, doc: impl Into<Words>, values: Vec<String>) -> Self {
        self.with(name, doc, Values::Text(values))
    }

    /// Adds a column. Panics if its length differs from the other columns'.
    pub fn with(mut self, name: impl Into<Words>, doc: impl Into<Words>, values: Values) -> Self {
        let column = Column { name: name.into(), doc: doc.into(), values };
        if let Some(first) = self.columns.first() {
            assert_eq!(
                first.values.len(),
                column.values.len(),
                "columns {} and {} of table {} differ in length",
                first.name,
                column.name,
                self.name
            );
        }
        self.columns.push(column);
        self
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The whole numbers of the column with this name, for tests; panics if there is no such column. Expands a column
    /// that is packed. Other code uses a view, see [`tables`](crate::tables).
    pub fn u64s(&self, name: &str) -> &[u64] {
        match self.column(name).map(|column| &column.values) {
            Some(Values::U64(values)) => values.expanded(),
            _ => panic!("table {} has no column {name} of whole numbers", self.name),
        }
    }

    /// The real numbers of the column with this name; panics like [`Table::u64s`].
    pub fn f64s(&self, name: &str) -> &[f64] {
        match self.column(name).map(|column| &column.values) {
            Some(Values::F64(values)) => values.expanded(),
            _ => panic!("table {} has no column {name} of real numbers", self.name),
        }
    }

    /// The texts of the column with this name; panics like [`Table::u64s`].
    pub fn texts(&self, name: &str) -> &[String] {
        match self.column(name).map(|column| &column.values) {
            Some(Values::Text(values)) => values,
            _ => panic!("table {} has no column {name} of text", self.name),
        }
    }
}

/// The tables of the recording of a run. Recording, at any resolution, changes no result.
pub const RECORD: [&str; 5] = ["record", "nodes", "samples", "backlogs", "pause_intervals"];

/// The tables of explained delays. To explain delays changes no result either.
pub const EXPLAINED: [&str; 8] = [
    "explained",
    "delays",
    "delay_parts",
    "delay_losses",
    "delay_marks",
    "delay_cuts",
    "root_flows",
    "pause_causes",
];

/// The table of the packets of explained flows, which is made only if it is asked for.
pub const PACKETS: &str = "packet_parts";

/// The table of sojourn times over time, which other tables sum up.
pub const SERIES: &str = "sojourn_series";

/// The table of the bandwidths of collectives, which follow from the table of operations.
pub const COLLECTIVES: &str = "collectives";

/// The table of calls, which sums up that of their packets.
pub const VOICE: &str = "voice";

/// A hash of all values of all tables, which identifies results. The tables of the recording, of
/// explained delays, of sojourn times over time, of the bandwidths of collectives and of calls are left out, so that a
/// run has the same fingerprint with and without them.
pub fn fingerprint(tables: &[Table]) -> u64 {
    let mut hash = 0;
    let mut add = |value: u64| hash = mix(hash ^ mix(value)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let results = tables.iter().filter(|table| {
        ![&RECORD[..], &EXPLAINED, &[PACKETS, SERIES, COLLECTIVES, VOICE]]
            .concat()
            .contains(&&*table.name)
    });
    for column in results.flat_map(|table| &table.columns) {
        match &column.values {
            Values::U64(values) => values.iter().for_each(&mut add),
            Values::F64(values) => values.iter().for_each(|value| add(value.to_bits())),
            Values::Text(values) => {
                values.iter().for_each(|value| value.bytes().for_each(|byte| add(byte.into())))
            }
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_sees_every_bit_and_the_order() {
        let of = |reals: [f64; 2], text: &str| {
            let table = Table::new("a", "").f64("b", "", reals.to_vec());
            fingerprint(&[table.text("c", "", vec![text.to_owned(), String::new()])])
        };
        let prints = [
            of([0.0, 1.0], "x"),
            of([-0.0, 1.0], "x"),
            of([1.0, 0.0], "x"),
            of([f64::NAN, 1.0], "x"),
            of([f64::from_bits(0x7ff8_0000_0000_0001), 1.0], "x"),
            of([0.0, 1.0], "y"),
        ];
        let different: std::collections::BTreeSet<_> = prints.iter().collect();
        assert_eq!(different.len(), prints.len());
        assert_eq!(prints[0], of([0.0, 1.0], "x"));
    }
}
