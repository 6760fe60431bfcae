//! Numbers asked of the tables of a run in SQL, as SQLite understands it.
//!
//! All tables of a run can be asked, by their names and columns in the reference, and some that are made of them
//! (`made`). What scenarios say is asked in the same way ([`crate::facts`]). There are functions beside SQLite's own (`functions`).

mod functions;
mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use floodway_model::table::Values;
use floodway_model::{Table, tables};
use floodway_scenario::Variant;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, params_from_iter};

use crate::distribution::Distribution;
use crate::facts;

pub use functions::{Settings, settings};

/// After so many million steps of SQLite's machine a statement on empty tables is taken to have no end, as recursive ones
/// may: a second of work.
const MOST_WITHOUT_ROWS: u32 = 100;
/// The same on the tables of a run: minutes of work.
const MOST: u32 = 20_000;

/// What the answer to a question is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// One number.
    Number,
    /// Points: two columns, and a third if there is a line for each of its values.
    Points,
    /// Values, and how many each of them stands for: two columns.
    Distribution,
}

/// A question to a run: a statement that reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The statement.
    text: String,
    /// The tables that it names.
    tables: BTreeSet<String>,
    /// The experiments of which its answer is not wanted.
    not_of: BTreeSet<&'static str>,
    /// What its answer is.
    shape: Shape,
    /// How many columns that has.
    columns: usize,
}

/// All tables that a run may have, without rows.
static EVERY: LazyLock<Vec<Table>> = LazyLock::new(tables::all);

/// The answer to a question: up to three numbers in each row. What is empty, or no number, is NaN.
pub type Answer = Vec<[f64; 3]>;

/// The tables of a run that queries name, for asking.
#[derive(Debug)]
pub struct Asking {
    connection: Connection,
}

impl Query {
    /// Checks a statement against all tables that a run may have. Fails with what is wrong: syntax, an unknown table or
    /// column, a statement that does not read, or an answer that is not of this shape.
    pub fn new(text: &str, shape: Shape) -> Result<Self, String> {
        let words: BTreeSet<String> = words(text).collect();
        let made = words.iter().filter_map(|word| made::table(word, &EVERY, 0.0, &Settings::new()));
        let made: Vec<Table> =
            made.chain(facts::tables(&[], &|name| words.contains(name))).collect();
        Self::of(text, shape, EVERY.iter().chain(&made))
    }

    /// The same of a statement that asks these tables.
    pub fn of<'a>(
        text: &str,
        shape: Shape,
        every: impl IntoIterator<Item = &'a Table>,
    ) -> Result<Self, String> {
        let mut asking = Asking::empty(Arc::default()).map_err(|error| plain(&error))?;
        // A study has hundreds of statements, and there are dozens of tables.
        let words: BTreeSet<String> = words(text).collect();
        let mut tables = BTreeSet::new();
        for table in every.into_iter().filter(|table| words.contains(&*table.name)) {
            asking.create(table).map_err(|error| plain(&error))?;
            tables.insert(table.name.to_string());
        }
        asking.limit(MOST_WITHOUT_ROWS)?;
        let mut statement = asking.connection.prepare(text).map_err(|error| plain(&error))?;
        if !statement.readonly() {
            return Err("it changes tables, and may only read them".to_owned());
        }
        let columns = statement.column_count();
        let (fits, wanted) = match shape {
            Shape::Number => (columns == 1, "one column"),
            Shape::Points => ([2, 3].contains(&columns), "two columns, or three"),
            Shape::Distribution => (columns == 2, "two columns"),
        };
        if !fits {
            return Err(format!("its answer has {columns} columns, and should have {wanted}"));
        }
        let mut rows = statement.query([]).map_err(|error| plain(&error))?;
        if let Some(row) = rows.next().map_err(|error| plain(&error))? {
            for column in 0..columns {
                if matches!(row.get_ref(column), Ok(ValueRef::Text(_) | ValueRef::Blob(_))) {
                    return Err("its answer is text, and should be a number".to_owned());
                }
            }
        }
        Ok(Self { text: text.to_owned(), tables, not_of: BTreeSet::new(), shape, columns })
    }

    /// The statement.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same, which these experiments are not asked.
    pub fn not_of(self, experiments: BTreeSet<&'static str>) -> Self {
        Self { not_of: experiments, ..self }
    }

    /// Whether an experiment is asked for its answer.
    pub fn is_of(&self, experiment: &str) -> bool {
        !self.not_of.contains(experiment)
    }

    /// Whether it is this statement, for an answer of this shape.
    pub fn is(&self, text: &str, shape: Shape) -> bool {
        self.text == text && self.shape == shape
    }

    /// Whether it names a table.
    pub fn names(&self, table: &str) -> bool {
        self.tables.contains(table)
    }
}

/// The table of rows that a statement gives of several runs.
pub fn pool(rows: &[[f64; 3]]) -> Table {
    let column = |at: usize| rows.iter().map(|row| row[at]).collect();
    Table::new("pool", "").f64("a", "", column(0)).f64("b", "", column(1)).f64("c", "", column(2))
}

/// The words of a statement, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    let letters = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    text.split(letters).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// A statement in which names of other statements stand for tables: `WITH NAME AS (…)` before it, for those that it names,
/// or that they name.
pub fn with_views(text: &str, views: &BTreeMap<String, String>) -> String {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut texts = vec![text];
    while let Some(text) = texts.pop() {
        let words: BTreeSet<String> = words(text).collect();
        for (name, view) in views.iter().filter(|(name, _)| words.contains(*name)) {
            if named.insert(name) {
                texts.push(view);
            }
        }
    }
    let with: Vec<String> =
        named.into_iter().map(|name| format!("\"{name}\" AS ({})", views[name])).collect();
    if with.is_empty() { text.to_owned() } else { format!("WITH {} {text}", with.join(", ")) }
}

/// What SQLite says, without its code.
fn plain(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::SqliteFailure(of, _) if of.code == ErrorCode::OperationInterrupted => {
            "it does not come to an end".to_owned()
        }
        rusqlite::Error::SqliteFailure(_, Some(text)) => text.clone(),
        other => other.to_string(),
    }
}

impl Asking {
    fn empty(settings: Arc<Settings>) -> Result<Self, rusqlite::Error> {
        let connection = Connection::open_in_memory()?;
        functions::add(&connection, settings)?;
        Ok(Self { connection })
    }

    fn create(&self, table: &Table) -> Result<(), rusqlite::Error> {
        let columns: Vec<String> =
            table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        let create = format!("CREATE TABLE \"{}\" ({})", table.name, columns.join(", "));
        self.connection.execute(&create, []).map(|_| ())
    }

    /// The tables of a run that these queries name, and the settings and facts of its variant. Tables that the run does not
    /// have are there and empty.
    pub fn new(
        queries: &[&Query],
        of: &[Table],
        end_ns: f64,
        variant: Option<&Variant>,
    ) -> Result<Self, String> {
        let known = variant.map(settings).unwrap_or_default();
        let variant: Vec<(&str, &Variant)> = variant.into_iter().map(|of| ("", of)).collect();
        let is_named = |name: &str| queries.iter().any(|query| query.names(name));
        Self::with(queries, of, end_ns, (known, facts::tables(&variant, &is_named)))
    }

    fn with(
        queries: &[&Query],
        of: &[Table],
        end_ns: f64,
        (settings, facts): (Settings, Vec<Table>),
    ) -> Result<Self, String> {
        let named: BTreeSet<&str> =
            queries.iter().flat_map(|query| &query.tables).map(String::as_str).collect();
        let settings = Arc::new(settings);
        let asking = Self::empty(Arc::clone(&settings)).map_err(|error| plain(&error))?;
        for name in named {
            let is_it = |table: &&Table| table.name == name;
            let all = of.iter().chain(&*EVERY).chain(&facts);
            match { all }.find(is_it) {
                Some(table) => asking.take(table)?,
                None => made::table(name, of, end_ns, &settings)
                    .map_or(Ok(()), |table| asking.take(&table))?,
            }
        }
        Ok(asking)
    }

    /// These tables.
    pub fn of(tables: &[Table]) -> Result<Self, String> {
        let asking = Self::empty(Arc::default()).map_err(|error| plain(&error))?;
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

    /// Stops what comes next after so many million steps.
    fn limit(&mut self, millions: u32) -> Result<(), String> {
        let mut left = millions;
        let stop = move || {
            left = left.saturating_sub(1);
            left == 0
        };
        self.connection.progress_handler(1_000_000, Some(stop)).map_err(|error| plain(&error))
    }

    /// The rows of an answer; of a distribution with equal values as one.
    pub fn ask(&mut self, query: &Query) -> Result<Answer, String> {
        let number = |row: &rusqlite::Row<'_>, column: usize| match row.get_ref(column) {
            Ok(ValueRef::Integer(value)) if column < query.columns => value as f64,
            Ok(ValueRef::Real(value)) if column < query.columns => value,
            _ => f64::NAN,
        };
        self.limit(MOST)?;
        let rows = |row: &rusqlite::Row<'_>| Ok([0, 1, 2].map(|column| number(row, column)));
        let ask =
            || self.connection.prepare(&query.text)?.query_map([], rows)?.collect::<Result<_, _>>();
        let answer: Answer = ask().map_err(|error: rusqlite::Error| plain(&error))?;
        Ok(match query.shape {
            Shape::Distribution => Distribution::of(&answer).rows(),
            _ => answer,
        })
    }
}

fn cell(values: &Values, row: usize) -> Value {
    match values {
        // SQLite's whole numbers are signed; a larger one, such as the edge of a last bin, is a real number.
        Values::U64(values) => match i64::try_from(values.at(row)) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Real(values.at(row) as f64),
        },
        Values::F64(values) if values.at(row).is_nan() => Value::Null,
        Values::F64(values) => Value::Real(values.at(row)),
        Values::Text(values) => Value::Text(values[row].clone()),
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

    /// Two flows of 1000 bytes in the first 100 ns, and then of 1000 and 500 in the next.
    fn deliveries() -> Table {
        complete(
            Table::new("deliveries", "")
                .f64("time_ns", "", vec![100.0, 100.0, 200.0, 200.0])
                .u64("flow", "", vec![0, 1, 0, 1])
                .u64("delivered_bytes", "", vec![1_000, 1_000, 2_000, 1_500]),
        )
    }

    fn ask(text: &str, shape: Shape) -> Answer {
        ask_of(&[flows()], text, shape)
    }

    fn ask_of(tables: &[Table], text: &str, shape: Shape) -> Answer {
        let query = Query::new(text, shape).unwrap();
        let values = [("warmup", 100.0), ("arrivals", 200.0), ("switch.queue.count", 2.0)];
        let settings = values.map(|(path, value)| (path.to_owned(), Value::Real(value)));
        let settings = settings.into_iter().collect();
        let asking = Asking::with(&[&query], tables, 1_000.0, (settings, Vec::new()));
        asking.unwrap().ask(&query).unwrap()
    }

    fn number(text: &str) -> f64 {
        ask(text, Shape::Number)[0][0]
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
        let pauses = "SELECT value FROM numbers WHERE name = 'pause_frames'";
        assert!(ask(pauses, Shape::Number).is_empty());
        let drops = complete(
            Table::new("drops", "").text("reason", "", vec!["queue_full".to_owned()]).u64(
                "packets",
                "",
                vec![7],
            ),
        );
        let drops_of = "SELECT value FROM numbers WHERE name = 'dropped_packets_queue_full'";
        assert_eq!(ask_of(&[flows(), drops], drops_of, Shape::Number)[0][0], 7.0);
        let points = "SELECT bytes, fct_ns, 7 FROM flows WHERE flow < 2 ORDER BY bytes";
        assert_eq!(ask(points, Shape::Points), [[10.0, 100.0, 7.0], [20.0, 300.0, 7.0]]);
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

    /// The measurement begins at 100 ns: 1000 and 500 bytes in 100 ns are 80 and 40 Gb/s.
    #[test]
    fn rates_are_of_the_measurement_or_of_windows() {
        let endless = complete(
            Table::new("flows", "")
                .u64("flow", "", vec![0, 1])
                .f64("fct_ns", "", vec![f64::NAN; 2])
                .f64("stop_ns", "", vec![f64::NAN; 2]),
        );
        let tables = [endless, deliveries()];
        let ask = |text| ask_of(&tables, text, Shape::Points);
        let rates = "SELECT flow, bps FROM rates ORDER BY flow";
        assert_eq!(ask(rates).iter().map(|of| of[1]).collect::<Vec<_>>(), [80e9, 40e9]);
        let windows = "SELECT from_ns, bps, flow FROM rates_100ns WHERE to_ns < 300 ORDER BY 1, 3";
        let first = [[0.0, 80e9, 0.0], [0.0, 80e9, 1.0]];
        assert_eq!(ask(windows), [first[0], first[1], [100.0, 80e9, 0.0], [100.0, 40e9, 1.0]]);
        assert_eq!(
            Query::new("SELECT * FROM rates_0ns", Shape::Points).unwrap_err(),
            "no such table: rates_0ns"
        );
    }

    #[test]
    fn settings_and_functions_are_there() {
        assert_eq!(number("SELECT setting('switch.queue.count') - 1"), 1.0);
        assert!(number("SELECT setting('switch.queue.size')").is_nan());
        assert_eq!(number("SELECT pow(4, 0.5)"), 2.0);
        // Ten rows, of which the fifth is a 2.
        let counts = "SELECT quantile(column1, 0.5, column2) FROM (VALUES (1, 4), (3, 5), (2, 1))";
        assert_eq!(number(counts), 2.0);
        assert_eq!(number(&counts.replace("0.5", "0.51")), 3.0);
    }

    #[test]
    fn a_view_stands_for_a_table() {
        let views = [
            ("long", "SELECT * FROM measured WHERE fct_ns > 200"),
            ("measured", "SELECT * FROM times"),
        ];
        let views = views.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let text = with_views("SELECT count(*) FROM long", &views);
        assert_eq!(number(&text), 2.0);
        assert_eq!(with_views("SELECT 1", &views), "SELECT 1");
    }

    #[test]
    fn a_distribution_has_each_value_once() {
        let of = ask("SELECT bytes / 20, 1 FROM flows WHERE bytes < 99", Shape::Distribution);
        assert_eq!(
            of.iter().map(|row| (row[0], row[1])).collect::<Vec<_>>(),
            [(0.0, 1.0), (1.0, 2.0)]
        );
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let refused = |text, shape| Query::new(text, shape).unwrap_err();
        let number = Shape::Number;
        assert_eq!(refused("SELECT avg(fct) FROM flows", number), "no such column: fct");
        assert_eq!(refused("SELECT 1 FROM flow", number), "no such table: flow");
        assert!(refused("SELEC 1", number).contains("syntax error"));
        assert!(refused("DELETE FROM flows", number).contains("may only read"));
        let two = "SELECT bytes, fct_ns FROM flows";
        assert!(refused(two, number).contains("has 2 columns, and should have one column"));
        assert!(refused("SELECT 1", Shape::Points).contains("two columns, or three"));
        assert!(refused("SELECT 1, 2, 3", Shape::Distribution).contains("should have two columns"));
        assert!(refused("SELECT 'a'", number).contains("is text"));
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
        assert_eq!(refused(endless, number), "it does not come to an end");
    }
}
