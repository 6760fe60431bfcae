//! Numbers asked of the tables of a run in SQL, as SQLite understands it.
//!
//! All tables of a run can be asked, by their names and columns in the reference, and one more: `times` has the
//! measured flows with the time that those which had not completed had taken until the end of the run, as completion
//! times count in all studies; `numbers` has the counters and other numbers of the run, as `summary.json` does. What
//! scenarios say is asked in the same way ([`crate::facts`]). `quantile(x, p)` is an aggregate function beside SQLite's own: the same quantile as
//! in reports, by linear interpolation.

use std::collections::BTreeSet;

use floodway_model::table::Values;
use floodway_model::{Table, tables};
use floodway_report::metrics::flow_times;
use floodway_report::scalars::scalars;
use floodway_report::statistics;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

/// A question to a run: a statement that reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The statement.
    text: String,
    /// The tables that it names.
    tables: BTreeSet<String>,
    /// How many columns its answer has: 1 for a number, 2 for points.
    columns: usize,
}

/// The tables of a run that queries name, for asking.
#[derive(Debug)]
pub struct Asking {
    connection: Connection,
}

/// The measured flows, as [`flow_times`] has them.
const TIMES: &str = "times";
/// The numbers of a run, as [`scalars`] has them.
const NUMBERS: &str = "numbers";

impl Query {
    /// Checks a statement against all tables that a run may have. Fails with what is wrong: syntax, an unknown table or
    /// column, a statement that does not read, or an answer that is not of so many columns of numbers.
    pub fn new(text: &str, columns: usize) -> Result<Self, String> {
        let own = [times(&[], 0.0), numbers(&[])];
        Self::of(text, columns, &tables::all().into_iter().chain(own).collect::<Vec<_>>())
    }

    /// The same of a statement that asks these tables.
    pub fn of(text: &str, columns: usize, every: &[Table]) -> Result<Self, String> {
        let asking = Asking::empty().map_err(|error| plain(&error))?;
        for table in every {
            asking.create(table).map_err(|error| plain(&error))?;
        }
        let mut statement = asking.connection.prepare(text).map_err(|error| plain(&error))?;
        if !statement.readonly() {
            return Err("it changes tables, and may only read them".to_owned());
        }
        let found = statement.column_count();
        if found != columns {
            let wanted = if columns == 1 { "one column" } else { "two columns" };
            return Err(format!("its answer has {found} columns, and should have {wanted}"));
        }
        let mut rows = statement.query([]).map_err(|error| plain(&error))?;
        if let Some(row) = rows.next().map_err(|error| plain(&error))? {
            for column in 0..columns {
                if matches!(row.get_ref(column), Ok(ValueRef::Text(_) | ValueRef::Blob(_))) {
                    return Err("its answer is text, and should be a number".to_owned());
                }
            }
        }
        let words: BTreeSet<String> = words(text).collect();
        let is_named = |table: &&Table| words.contains(&*table.name);
        let tables = every.iter().filter(is_named).map(|table| table.name.to_string()).collect();
        Ok(Self { text: text.to_owned(), tables, columns })
    }

    /// The statement.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names a table.
    pub fn names(&self, table: &str) -> bool {
        self.tables.contains(table)
    }
}

/// The words of a statement, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    let letters = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    text.split(letters).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// What SQLite says, without its code.
fn plain(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::SqliteFailure(_, Some(text)) => text.clone(),
        other => other.to_string(),
    }
}

/// The measured flows of a run that ended at `end_ns`.
fn times(of: &[Table], end_ns: f64) -> Table {
    let flows = flow_times(of, end_ns);
    let column =
        |number: fn(&floodway_report::metrics::FlowTime) -> u64| flows.iter().map(number).collect();
    let real =
        |number: fn(&floodway_report::metrics::FlowTime) -> f64| flows.iter().map(number).collect();
    Table::new(TIMES, "")
        .u64("flow", "", column(|flow| flow.flow))
        .u64("workload", "", column(|flow| flow.workload))
        .u64("bytes", "", column(|flow| flow.bytes))
        .f64("fct_ns", "", real(|flow| flow.fct_ns))
        .f64("slowdown", "", real(|flow| flow.slowdown))
        .u64("finished", "", column(|flow| flow.finished.into()))
}

/// The numbers of a run.
fn numbers(of: &[Table]) -> Table {
    let all = scalars(of);
    Table::new(NUMBERS, "").text("name", "", all.keys().cloned().collect()).f64(
        "value",
        "",
        all.values().map(|of| of.value).collect(),
    )
}

impl Asking {
    fn empty() -> Result<Self, rusqlite::Error> {
        let connection = Connection::open_in_memory()?;
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        connection.create_aggregate_function("quantile", 2, flags, Quantile)?;
        Ok(Self { connection })
    }

    fn create(&self, table: &Table) -> Result<(), rusqlite::Error> {
        let columns: Vec<String> =
            table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        let create = format!("CREATE TABLE \"{}\" ({})", table.name, columns.join(", "));
        self.connection.execute(&create, []).map(|_| ())
    }

    /// The tables of a run that these queries name. Those that the run does not have are there and empty.
    pub fn new(queries: &[Query], of: &[Table], end_ns: f64) -> Result<Self, String> {
        let is_named = |table: &str| queries.iter().any(|query| query.names(table));
        let asking = Self::empty().map_err(|error| plain(&error))?;
        for empty in tables::all().iter().filter(|table| is_named(&table.name)) {
            let full = of.iter().find(|table| table.name == empty.name);
            asking.take(full.unwrap_or(empty))?;
        }
        if is_named(TIMES) {
            asking.take(&times(of, end_ns))?;
        }
        if is_named(NUMBERS) {
            asking.take(&numbers(of))?;
        }
        Ok(asking)
    }

    /// These tables.
    pub fn of(tables: &[Table]) -> Result<Self, String> {
        let asking = Self::empty().map_err(|error| plain(&error))?;
        tables.iter().try_for_each(|table| asking.take(table))?;
        Ok(asking)
    }

    fn take(&self, table: &Table) -> Result<(), String> {
        self.fill(table).map_err(|error| plain(&error))
    }

    fn fill(&self, table: &Table) -> Result<(), rusqlite::Error> {
        self.create(table)?;
        let marks = vec!["?"; table.columns.len()].join(", ");
        let transaction = self.connection.unchecked_transaction()?;
        {
            let insert = format!("INSERT INTO \"{}\" VALUES ({marks})", table.name);
            let mut insert = self.connection.prepare(&insert)?;
            for row in 0..table.rows() {
                let cells = table.columns.iter().map(|column| cell(&column.values, row));
                insert.execute(params_from_iter(cells))?;
            }
        }
        transaction.commit()
    }

    /// The rows of an answer; what is empty, or no number, is NaN.
    pub fn ask(&self, query: &Query) -> Result<Vec<(f64, f64)>, String> {
        let number = |row: &rusqlite::Row<'_>, column: usize| match row.get_ref(column) {
            Ok(ValueRef::Integer(value)) => value as f64,
            Ok(ValueRef::Real(value)) => value,
            _ => f64::NAN,
        };
        let rows = |row: &rusqlite::Row<'_>| {
            let second = if query.columns > 1 { number(row, 1) } else { f64::NAN };
            Ok((number(row, 0), second))
        };
        let ask = || {
            self.connection
                .prepare(&query.text)?
                .query_map([], rows)?
                .collect::<Result<Vec<_>, _>>()
        };
        ask().map_err(|error: rusqlite::Error| plain(&error))
    }
}

fn cell(values: &Values, row: usize) -> Value {
    match values {
        // SQLite's whole numbers are signed; a larger one, such as the edge of a last bin, is a real number.
        Values::U64(values) => match i64::try_from(values[row]) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Real(values[row] as f64),
        },
        Values::F64(values) if values[row].is_nan() => Value::Null,
        Values::F64(values) => Value::Real(values[row]),
        Values::Text(values) => Value::Text(values[row].clone()),
    }
}

/// `quantile(x, p)`: of values that are not empty; empty if there is none.
struct Quantile;

impl Aggregate<(Vec<f64>, f64), Option<f64>> for Quantile {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<(Vec<f64>, f64)> {
        Ok((Vec::new(), 0.5))
    }

    fn step(
        &self,
        of: &mut Context<'_>,
        (values, p): &mut (Vec<f64>, f64),
    ) -> rusqlite::Result<()> {
        *p = of.get(1)?;
        values.extend(of.get::<Option<f64>>(0)?);
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        all: Option<(Vec<f64>, f64)>,
    ) -> rusqlite::Result<Option<f64>> {
        let Some((mut values, p)) = all else { return Ok(None) };
        values.sort_unstable_by(f64::total_cmp);
        Ok((!values.is_empty()).then(|| statistics::quantile(&values, p)))
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::tables::complete;

    use super::*;

    fn flows() -> Table {
        complete(
            Table::new("flows", "")
                .u64("flow", "", vec![0, 1, 2, 3])
                .u64("bytes", "", vec![10, 20, 30, u64::MAX])
                .f64("fct_ns", "", vec![100.0, 300.0, f64::NAN, 900.0])
                .f64("start_ns", "", vec![0.0, 0.0, 400.0, 0.0])
                .f64("ideal_fct_ns", "", vec![50.0; 4])
                .u64("measured", "", vec![1, 1, 1, 0]),
        )
    }

    fn ask(text: &str, columns: usize) -> Vec<(f64, f64)> {
        let query = Query::new(text, columns).unwrap();
        Asking::new(std::slice::from_ref(&query), &[flows()], 1_000.0).unwrap().ask(&query).unwrap()
    }

    fn number(text: &str) -> f64 {
        ask(text, 1)[0].0
    }

    #[test]
    fn numbers_are_asked_of_tables() {
        assert_eq!(number("SELECT count(*) FROM flows WHERE fct_ns IS NULL"), 1.0);
        assert_eq!(number("SELECT avg(fct_ns) FROM flows WHERE measured"), 200.0);
        assert_eq!(number("SELECT max(bytes) FROM flows"), u64::MAX as f64);
        // A run without a table has it empty.
        assert_eq!(number("SELECT count(*) FROM drops"), 0.0);
        assert!(number("SELECT sum(packets) FROM drops").is_nan());
        // Numbers are those of summary.json.
        assert!(ask("SELECT value FROM numbers WHERE name = 'pause_frames'", 1).is_empty());
        let drops = complete(
            Table::new("drops", "").text("reason", "", vec!["queue_full".to_owned()]).u64(
                "packets",
                "",
                vec![7],
            ),
        );
        let query = "SELECT value FROM numbers WHERE name = 'dropped_packets_queue_full'";
        let query = Query::new(query, 1).unwrap();
        let asking = Asking::new(std::slice::from_ref(&query), &[flows(), drops], 1.0).unwrap();
        assert_eq!(asking.ask(&query).unwrap()[0].0, 7.0);
        let points = ask("SELECT bytes, fct_ns FROM flows WHERE flow < 2 ORDER BY bytes", 2);
        assert_eq!(points, [(10.0, 100.0), (20.0, 300.0)]);
    }

    /// The third flow started at 400 ns and had taken 600 when the run ended; the fourth is not measured.
    #[test]
    fn times_has_what_unfinished_flows_had_taken() {
        assert_eq!(number("SELECT max(fct_ns) FROM times"), 600.0);
        assert_eq!(number("SELECT count(*) FROM times WHERE NOT finished"), 1.0);
        assert_eq!(number("SELECT quantile(fct_ns, 0.5) FROM times"), 300.0);
        // Between 300 and 600, three quarters of the way from the first to the last.
        assert_eq!(number("SELECT quantile(fct_ns, 0.75) FROM times"), 450.0);
        assert!(number("SELECT quantile(fct_ns, 0.5) FROM times WHERE bytes > 99").is_nan());
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let refused = |text, columns| Query::new(text, columns).unwrap_err();
        assert_eq!(refused("SELECT avg(fct) FROM flows", 1), "no such column: fct");
        assert_eq!(refused("SELECT 1 FROM flow", 1), "no such table: flow");
        assert!(refused("SELEC 1", 1).contains("syntax error"));
        assert!(refused("DELETE FROM flows", 1).contains("may only read"));
        assert!(refused("SELECT bytes, fct_ns FROM flows", 1).contains("has 2 columns"));
        assert!(refused("SELECT 'a'", 1).contains("is text"));
    }
}
