//! Flows as a table in text: a header, and a line for each flow.

use std::sync::Arc;

use floodway_model::Duration;

use super::{Flows, Hosts, Moment, Reading, Row};
use crate::files::{Line, Unit, Word, lines};
use crate::text::{Place, Problem, Source, suggest};

/// The columns, of which the last may be missing.
pub(super) const COLUMNS: [&str; 5] = ["src", "dst", "bytes", "start_ns", "stop_ns"];

const HEADER: &str = "the columns are: src, dst, bytes, start_ns and, if flows have no size but an \
                      end, stop_ns";

/// Reads a list. Empty lines and those that begin with `#` are skipped.
pub fn read(source: &Arc<Source>, hosts: &Hosts, origin: Duration) -> Result<Flows, Problem> {
    let mut lines = lines(source).filter(|line| !line.all.text.starts_with('#'));
    let Some(header) = lines.next() else {
        let help = "write a header and a line for each flow: src,dst,bytes,start_ns";
        return Err(Problem::error(Place::whole(source), "the file is empty", help));
    };
    let (columns, width) = columns(header)?;
    let mut reading = Reading::new(hosts, origin);
    let mut cells: Vec<Word<'_>> = Vec::new();
    for line in lines {
        cells.clear();
        cells.extend(line.cells());
        if cells.len() != width {
            let message = format!("the line has {} columns, and the header {width}", cells.len());
            return Err(line.all.problem(message, "write a value, which may be empty, for each"));
        }
        let cell = |column: usize| columns[column].map(|place| cells[place]);
        let filled = |column: usize| {
            cell(column)
                .filter(|cell| !cell.text.is_empty() && !cell.text.eq_ignore_ascii_case("nan"))
        };
        let needed = |column: usize| cell(column).expect("the header has it");
        reading.add(Row {
            src: needed(0),
            dst: needed(1),
            bytes: filled(2),
            start: Moment::start(needed(3), Unit::Nanoseconds)?,
            stop: filled(4).map(|word| Moment::stop(word, Unit::Nanoseconds)).transpose()?,
        })?;
    }
    reading.end(source)
}

/// Where each column is, and how many there are with those that are ignored.
fn columns(header: Line<'_>) -> Result<([Option<usize>; COLUMNS.len()], usize), Problem> {
    let mut places = [None; COLUMNS.len()];
    let mut unknown: Vec<Word<'_>> = Vec::new();
    let mut width = 0;
    for cell in header.cells() {
        match COLUMNS.iter().position(|&name| name == cell.text) {
            Some(column) if places[column].is_some() => {
                let message = format!("the column `{}` is there twice", cell.text);
                return Err(cell.problem(message, "remove one of them"));
            }
            Some(column) => places[column] = Some(width),
            None => unknown.push(cell),
        }
        width += 1;
    }
    let missing = |column: &usize| places[*column].is_none();
    let absent: Vec<&str> = (0..COLUMNS.len()).filter(missing).map(|at| COLUMNS[at]).collect();
    // A slip is not to be taken for a column that is none of ours.
    for cell in unknown {
        if let Some(name) = suggest::closest(cell.text, absent.iter().copied()) {
            let message = format!("there is no column `{}`", cell.text);
            return Err(cell.problem(message, format!("did you mean `{name}`? {HEADER}")));
        }
    }
    if let Some(name) = absent.first().filter(|&&name| name != "stop_ns") {
        return Err(header.all.problem(format!("there is no column `{name}`"), HEADER));
    }
    Ok((places, width))
}
