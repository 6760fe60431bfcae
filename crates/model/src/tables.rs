//! The tables of results, each defined once: its columns with their types and meanings, from which come the rows that the
//! simulator fills, the views that others read, the files, the data dictionary and the reference.
//!
//! Every table is a module of its name, with `Row` and `View`:
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

use crate::table::{Table, Values};

pub use counts::*;
pub use memory::*;
pub use ports::*;
pub use recording::*;
pub use traffic::*;

/// A value of a column.
pub trait Cell: Sized {
    /// The type of the column in words: `whole numbers`.
    const TYPE: &'static str;

    /// A column of these values.
    fn column(values: Vec<Self>) -> Values;

    /// The values of a column, if they are of this type.
    fn of(values: &Values) -> Option<&[Self]>;
}

macro_rules! cell {
    ($type:ty, $variant:ident, $words:literal) => {
        impl Cell for $type {
            const TYPE: &'static str = $words;

            fn column(values: Vec<Self>) -> Values {
                Values::$variant(values)
            }

            fn of(values: &Values) -> Option<&[Self]> {
                match values {
                    Values::$variant(values) => Some(values),
                    _ => None,
                }
            }
        }
    };
}

cell!(u64, U64, "whole numbers");
cell!(f64, F64, "real numbers");
cell!(String, Text, "text");

/// The first column that a table lacks, and its type in words, if this version has a table of that name with such a
/// column: one that an earlier version wrote.
pub fn missing(table: &Table) -> Option<(&'static str, &'static str)> {
    [counts::missing, memory::missing, ports::missing, recording::missing, traffic::missing]
        .into_iter()
        .find_map(|missing| missing(table))
}

/// The same with all columns that it lacks, of zeros and empty texts: for tests of what needs some columns only.
pub fn complete(table: Table) -> Table {
    [counts::complete, memory::complete, ports::complete, recording::complete, traffic::complete]
        .into_iter()
        .fold(table, |table, complete| complete(table))
}

/// One sentence from the lines of a comment.
fn sentence(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The values of a column, if there is one of this name and type.
fn values<'a, T: Cell>(table: &'a Table, column: &str) -> Option<&'a [T]> {
    T::of(&table.column(column)?.values)
}

/// Defines tables. The comments are their documentation, and that of their columns.
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
                use crate::tables::{Cell, sentence, values};

                /// The name of the table.
                pub const NAME: &str = stringify!($table);

                /// One row.
                #[derive(Clone, Debug, PartialEq)]
                pub struct Row {
                    $($(#[doc = $meaning])+ pub $column: $type,)+
                }

                impl FromIterator<Row> for Table {
                    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
                        let rows = rows.into_iter();
                        let count = rows.size_hint().0;
                        $(let mut $column: Vec<$type> = Vec::with_capacity(count);)+
                        for row in rows {
                            $($column.push(row.$column);)+
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

                /// The columns of a table that has been made or read.
                #[derive(Clone, Copy, Debug)]
                pub struct View<'a> {
                    $($(#[doc = $meaning])+ pub $column: &'a [$type],)+
                }

                impl<'a> View<'a> {
                    /// That of the table of this name, if it is one of these and has all columns.
                    pub fn of(tables: &'a [Table]) -> Option<Self> {
                        Self::of_table(tables.iter().find(|table| table.name == NAME)?)
                    }

                    /// That of one table, if it has all columns.
                    pub fn of_table(table: &'a Table) -> Option<Self> {
                        Some(Self {
                            $($column: values(table, stringify!($column))?,)+
                        })
                    }

                    /// How many rows.
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
                        <$type as super::Cell>::column(vec![<$type>::default(); rows]),
                    );
                })+
            })+
            table
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
mod memory;
mod ports;
mod recording;
mod traffic;
