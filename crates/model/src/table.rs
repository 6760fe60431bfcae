//! Tables: the form of every result. A column knows its unit and its meaning, so the data
//! dictionary that stands beside the results is made from the code that fills them.

/// A named set of columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What a row is, in the plural: `flows`, `queues`.
    pub name: &'static str,
    /// One sentence: what a row stands for.
    pub doc: &'static str,
    /// The columns in order.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, ending in its unit where it has one: `fct_ns`.
    pub name: &'static str,
    /// What a value means, with what an empty one means if there can be one.
    pub doc: &'static str,
    /// The values.
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Real numbers; NaN means that there is none.
    F64(Vec<f64>),
    /// Text.
    Text(Vec<String>),
}

impl Values {
    /// How many rows.
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
    pub fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, columns: Vec::new() }
    }

    /// The same with a column of whole numbers more.
    pub fn u64(self, name: &'static str, doc: &'static str, values: Vec<u64>) -> Self {
        self.with(Column { name, doc, values: Values::U64(values) })
    }

    /// The same with a column of real numbers more.
    pub fn f64(self, name: &'static str, doc: &'static str, values: Vec<f64>) -> Self {
        self.with(Column { name, doc, values: Values::F64(values) })
    }

    /// The same with a column of text more.
    pub fn text(self, name: &'static str, doc: &'static str, values: Vec<String>) -> Self {
        self.with(Column { name, doc, values: Values::Text(values) })
    }

    fn with(mut self, column: Column) -> Self {
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

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The whole numbers of the column of this name; panics if there is no such column, because
    /// names are fixed by the code that made the table.
    pub fn u64s(&self, name: &str) -> &[u64] {
        match self.column(name).map(|column| &column.values) {
            Some(Values::U64(values)) => values,
            _ => panic!("table {} has no column {name} of whole numbers", self.name),
        }
    }

    /// The real numbers of the column of this name; panics like [`Table::u64s`].
    pub fn f64s(&self, name: &str) -> &[f64] {
        match self.column(name).map(|column| &column.values) {
            Some(Values::F64(values)) => values,
            _ => panic!("table {} has no column {name} of real numbers", self.name),
        }
    }

    /// The texts of the column of this name; panics like [`Table::u64s`].
    pub fn texts(&self, name: &str) -> &[String] {
        match self.column(name).map(|column| &column.values) {
            Some(Values::Text(values)) => values,
            _ => panic!("table {} has no column {name} of text", self.name),
        }
    }
}
