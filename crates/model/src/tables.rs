//! The result tables. Each is defined once, with the types and meanings of its columns. The definition generates the
//! rows that the simulator fills, the views for reading, the files, the data dictionary and the reference.
//!
//! Every table is a module with the table's name, which contains `Row` and `View`:
//!
//! ```
//! use floodway_model::Table;
//! use floodway_model::tables::nodes;
//!
//! let row = |(number, node): (u64, &str)| nodes::Row { number, node: node.to_owned() };
//! let tables = [[(0, "host 0"), (1, "leaf 0")].into_iter().map(row).collect::<Table>()];
//! let nodes = nodes::View::of(&tables).expect("there is such a table");
//! assert_eq!(nodes.node[1], "leaf 0");
//! ```

use std::marker::PhantomData;

use crate::numbers::Numbers;
use crate::table::{Table, Values};

pub use counts::*;
pub use jobs::*;

pub use memory::*;
pub use ports::*;
pub use recording::*;
pub use traffic::*;
pub use why::*;

/// What a column is declared to have: `u64`, `f64`, `String`, or [`Packed`] numbers.
pub trait Cell {
    /// A value.
    type Value: Clone + Default;
    /// The values of a column, for reading.
    type View<'a>;
    /// The values of a column that is being filled.
    type Filling: Default;

    /// The type of the column in plain words: `whole numbers`.
    const TYPE: &'static str;

    /// Whether it is packed if it is long.
    const PACKED: bool = false;

    /// Adds a value to a column that will have about so many.
    fn push(filling: &mut Self::Filling, value: Self::Value, rows: usize);

    /// Makes a column of these values.
    fn column(filling: Self::Filling) -> Values;

    /// The values of a column, if they are of this type.
    fn of(values: &Values) -> Option<Self::View<'_>>;

    /// A column of this many zeros or empty texts.
    fn zeros(rows: usize) -> Values {
        let mut filling = Self::Filling::default();
        (0..rows).for_each(|_| Self::push(&mut filling, Self::Value::default(), rows));
        Self::column(filling)
    }
}

/// Declares a column of a table that may be very long: it is packed ([`Numbers`]), and not read as a slice.
#[derive(Debug)]
pub struct Packed<T>(PhantomData<T>);

macro_rules! cell {
    ($type:ty, $variant:ident, $words:literal, $values:ident => $slice:expr) => {
        impl Cell for $type {
            type Value = Self;
            type View<'a> = &'a [Self];
            type Filling = Vec<Self>;

            const TYPE: &'static str = $words;

            fn push(filling: &mut Vec<Self>, value: Self, rows: usize) {
                if filling.capacity() == 0 {
                    filling.reserve(rows);
                }
                filling.push(value);
            }

            fn column(filling: Vec<Self>) -> Values {
                Values::$variant(filling.into())
            }

            fn of(values: &Values) -> Option<&[Self]> {
                match values {
                    Values::$variant($values) => $slice,
                    _ => None,
                }
            }
        }
    };
}

cell!(u64, U64, "whole numbers", values => values.slice());
cell!(f64, F64, "real numbers", values => values.slice());
cell!(String, Text, "text", values => Some(values.as_slice()));

macro_rules! packed {
    ($type:ty, $variant:ident) => {
        impl Cell for Packed<$type> {
            type Value = $type;
            type View<'a> = &'a Numbers<$type>;
            type Filling = Numbers<$type>;

            const TYPE: &'static str = <$type as Cell>::TYPE;
            const PACKED: bool = true;

            fn push(filling: &mut Numbers<$type>, value: $type, _: usize) {
                filling.push(value);
            }

            fn column(filling: Numbers<$type>) -> Values {
                Values::$variant(filling)
            }

            fn of(values: &Values) -> Option<&Numbers<$type>> {
                match values {
                    Values::$variant(values) => Some(values),
                    _ => None,
                }
            }
        }
    };
}

packed!(u64, U64);
packed!(f64, F64);

/// The first column that a table lacks, and its type in plain words, if this version has a table of the same name
/// with such a column. Tables written by earlier versions may lack columns.
pub fn missing(table: &Table) -> Option<(&'static str, &'static str)> {
    [
        counts::missing,
        jobs::missing,
        memory::missing,
        ports::missing,
        recording::missing,
        traffic::missing,
        why::missing,
    ]
    .into_iter()
    .find_map(|missing| missing(table))
}

/// All tables, without rows.
pub fn all() -> Vec<Table> {
    [counts::all, jobs::all, memory::all, ports::all, recording::all, traffic::all, why::all]
        .into_iter()
        .flat_map(|all| all())
        .collect()
}

/// The table of this name without rows, if there is one.
pub fn empty(name: &str) -> Option<Table> {
    all().into_iter().find(|table| table.name == name)
}

/// Whether the columns of the table of this name are packed if they are long.
pub fn packed(name: &str) -> bool {
    [
        counts::packed,
        jobs::packed,
        memory::packed,
        ports::packed,
        recording::packed,
        traffic::packed,
        why::packed,
    ]
    .into_iter()
    .any(|packed| packed(name))
}

/// The table with all missing columns added, as zeros and empty texts. For tests of code that needs only some
/// columns.
pub fn complete(table: Table) -> Table {
    [
        counts::complete,
        jobs::complete,
        memory::complete,
        ports::complete,
        recording::complete,
        traffic::complete,
        why::complete,
    ]
    .into_iter()
    .fold(table, |table, complete| complete(table))
}

/// Joins the lines of a comment.
fn sentence(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The values of the column with this name, if it has this type.
fn values<'a, T: Cell>(table: &'a Table, column: &str) -> Option<T::View<'a>> {
    T::of(&table.column(column)?.values)
}

/// Defines tables. The doc comments document the tables and their columns in the reference.
macro_rules! tables {
    ($(
        $(#[doc = $doc:literal])+
        $table:ident {
            $($(#[doc = $meaning:literal])+ $column:ident: $type:ty,)+
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            pub mod $table {
                use crate::table::Table;
                #[allow(unused_imports, reason = "only some tables have packed columns")]
                use crate::tables::{Cell, Packed, sentence, values};

                /// The name of the table.
                pub const NAME: &str = stringify!($table);

                /// One row.
                #[derive(Clone, Debug, PartialEq)]
                pub struct Row {
                    $($(#[doc = $meaning])+ pub $column: <$type as Cell>::Value,)+
                }

                impl FromIterator<Row> for Table {
                    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
                        let rows = rows.into_iter();
                        let count = rows.size_hint().0;
                        $(let mut $column = <$type as Cell>::Filling::default();)+
                        for row in rows {
                            $(<$type as Cell>::push(&mut $column, row.$column, count);)+
                        }
                        let mut table = Table::new(NAME, sentence(&[$($doc),+]));
                        $(table = table.with(
                            stringify!($column),
                            sentence(&[$($meaning),+]),
                            <$type as Cell>::column($column),
                        );)+
                        table
                    }
                }

                /// The columns of an existing table.
                #[derive(Clone, Copy, Debug)]
                pub struct View<'a> {
                    $($(#[doc = $meaning])+ pub $column: <$type as Cell>::View<'a>,)+
                }

                impl<'a> View<'a> {
                    /// View of the table with this name, if it is present and has all columns.
                    pub fn of(tables: &'a [Table]) -> Option<Self> {
                        Self::of_table(tables.iter().find(|table| table.name == NAME)?)
                    }

                    /// View of one table, if it has all columns.
                    pub fn of_table(table: &'a Table) -> Option<Self> {
                        Some(Self {
                            $($column: values::<$type>(table, stringify!($column))?,)+
                        })
                    }

                    /// Number of rows.
                    pub fn rows(&self) -> usize {
                        [$(self.$column.len()),+][0]
                    }
                }
            }
        )+

        /// See [`complete`](super::complete).
        pub(super) fn complete(mut table: crate::table::Table) -> crate::table::Table {
            let rows = table.rows();
            $(if table.name == $table::NAME {
                $(if super::values::<$type>(&table, stringify!($column)).is_none() {
                    table = table.with(
                        stringify!($column),
                        "",
                        <$type as super::Cell>::zeros(rows),
                    );
                })+
            })+
            table
        }

        /// See [`all`](super::all).
        pub(super) fn all() -> Vec<crate::table::Table> {
            vec![$(std::iter::empty::<$table::Row>().collect()),+]
        }

        /// See [`packed`](super::packed).
        pub(super) fn packed(name: &str) -> bool {
            $((name == $table::NAME && [$(<$type as super::Cell>::PACKED),+].contains(&true)))||+
        }

        /// See [`missing`](super::missing).
        pub(super) fn missing(table: &crate::table::Table) -> Option<(&'static str, &'static str)> {
            $(if table.name == $table::NAME {
                $(if super::values::<$type>(table, stringify!($column)).is_none() {
                    return Some((stringify!($column), <$type as super::Cell>::TYPE));
                })+
            })+
            None
        }
    };
}

mod counts;
mod jobs;

mod memory;
mod ports;
mod recording;
mod traffic;
mod why;
