//! Tables as files. Each format is a file here and a row below.
//!
//! Every file of a run begins with the columns `variant` and `replication`, so that the files of all
//! runs can be read as one table.

pub mod csv;
pub mod parquet;

use floodway_model::Table;
use floodway_model::family::Entry;
use std::io;

/// A table, of one run or of many.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// Of one run: the variant's name, and the replication, counted from 0.
    pub run: Option<(&'a str, u32)>,
    /// The table.
    pub table: &'a Table,
}

/// What writes a sheet.
pub type Write = fn(&Sheet, &mut (dyn io::Write + Send)) -> io::Result<()>;

/// A format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name, which is also the end of its files' names, and what it is good for.
    pub entry: Entry,
    /// What writes it.
    pub write: Write,
}

const fn row(name: &'static str, summary: &'static str, write: Write) -> Format {
    Format { entry: Entry { family: "format", name, summary }, write }
}

/// The formats.
pub const CATALOGUE: &[Format] = &[
    row("parquet", "compressed columns with types, for polars, DuckDB, pandas", parquet::write),
    row("csv", "text with a header line, for everything else", csv::write),
];

/// The format of this name.
pub fn named(name: &str) -> Option<&'static Format> {
    CATALOGUE.iter().find(|format| format.entry.name == name)
}
