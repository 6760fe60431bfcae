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

use crate::table::{Table, Values};

pub use counts::*;
pub use jobs::*;

pub use memory::*;
pub use ports::*;
pub use recording::*;
pub use traffic::*;
pub use why::*;

/// A value in a column.
pub trait Cell: Clone + Default {
    /// The type of the column in plain words: `whole numbers`.
    const TYPE: &'static str;

    /// Whether it has the same bits as the default.
    fn is_zero(&self) -> bool;

    /// Makes a column of these values.
    fn column(values: Vec<Self>) -> Values;

    /// The values of a column, if they are of this type.
    fn of(values: &Values) -> Option<&[Self]>;
}

macro_rules! cell {
    ($type:ty, $variant:ident, $words:literal, $is_zero:expr) => {
        impl Cell for $type {
            const TYPE: &'static str = $words;

            fn is_zero(&self) -> bool {
                $is_zero(self)
            }

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

cell!(u64, U64, "whole numbers", |value: &u64| *value == 0);
cell!(f64, F64, "real numbers", |value: &f64| value.to_bits() == 0);
cell!(String, Text, "text", String::is_empty);

/// Collects the values of a column. As long as all are zero they are only counted: of zeros that are asked for at once,
/// most systems provide memory when it is written to, so that a large column of zeros takes none.
#[derive(Debug, Default)]
struct Filling<T> {
    zeros: usize,
    values: Vec<T>,
}

impl<T: Cell> Filling<T> {
    fn push(&mut self, value: T, rows: usize) {
        if self.values.is_empty() {
            if value.is_zero() {
                self.zeros += 1;
                return;
            }
            self.values = vec![T::default(); self.zeros];
            self.values.reserve(rows.saturating_sub(self.zeros));
        }
        self.values.push(value);
    }

    fn column(self) -> Values {
        T::column(if self.values.is_empty() { vec![T::default(); self.zeros] } else { self.values })
    }
}

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
fn values<'a, T: Cell>(table: &'a Table, column: &str) -> Option<&'a [T]> {
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
                use crate::tables::{Filling, sentence, values};

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
                        $(let mut $column: Filling<$type> = Filling::default();)+
                        for row in rows {
                            $($column.push(row.$column, count);)+
                        }
                        let mut table = Table::new(NAME, sentence(&[$($doc),+]));
                        $(table = table.with(
                            stringify!($column),
                            sentence(&[$($meaning),+]),
                            $column.column(),
                        );)+
                        table
                    }
                }

                /// The columns of an existing table.
                #[derive(Clone, Copy, Debug)]
                pub struct View<'a> {
                    $($(#[doc = $meaning])+ pub $column: &'a [$type],)+
                }

                impl<'a> View<'a> {
                    /// View of the table with this name, if it is present and has all columns.
                    pub fn of(tables: &'a [Table]) -> Option<Self> {
                        Self::of_table(tables.iter().find(|table| table.name == NAME)?)
                    }

                    /// View of one table, if it has all columns.
                    pub fn of_table(table: &'a Table) -> Option<Self> {
                        Some(Self {
                            $($column: values(table, stringify!($column))?,)+
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
                        <$type as super::Cell>::column(vec![<$type>::default(); rows]),
                    );
                })+
            })+
            table
        }

        /// See [`all`](super::all).
        pub(super) fn all() -> Vec<crate::table::Table> {
            vec![$(std::iter::empty::<$table::Row>().collect()),+]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_counted_and_nothing_else() {
        let column = |values: &[f64]| {
            let mut filling = Filling::default();
            values.iter().for_each(|value| filling.push(*value, values.len()));
            let Values::F64(column) = filling.column() else { panic!("they are real") };
            column.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
        };
        for values in
            [&[][..], &[0.0], &[0.0, 0.0], &[0.0, -0.0, 0.0], &[f64::NAN, 0.0], &[0.0, 2.5]]
        {
            let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
            assert_eq!(column(values), bits, "{values:?}");
        }
    }
}
