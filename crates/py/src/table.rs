//! Tables as Arrow, handed over by its PyCapsule interface: whoever reads one reads the memory into
//! which the simulation wrote it.

use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use floodway_model::table::{Column, Values};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

/// The key of a meaning in the metadata of a table and of a column, as in its Parquet file.
const DOC: &str = "floodway.doc";

/// The key of a column's unit.
const UNIT: &str = "floodway.unit";

/// The units that end a column's name.
const UNITS: [&str; 5] = ["ns", "bytes", "packets", "frames", "gbps"];

/// A table, in one piece for each run that it is of.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Table {
    name: String,
    schema: SchemaRef,
    pieces: Vec<RecordBatch>,
}

impl From<floodway_model::Table> for Table {
    fn from(table: floodway_model::Table) -> Self {
        Self::of_runs(vec![(Vec::new(), table)]).expect("one table is like itself")
    }
}

impl Table {
    /// The tables of some runs as one, each with the columns that say of which run it is.
    /// Otherwise the name of a table with other columns than the first.
    pub fn of_runs(tables: Vec<(Vec<Column>, floodway_model::Table)>) -> Result<Self, String> {
        let mut whole: Option<Self> = None;
        for (leading, table) in tables {
            let doc: HashMap<_, _> = [(DOC.to_owned(), table.doc.into_owned())].into();
            let (fields, arrays): (Vec<_>, Vec<_>) =
                leading.into_iter().chain(table.columns).map(column).unzip();
            let schema = Arc::new(Schema::new_with_metadata(fields, doc));
            let piece = RecordBatch::try_new(Arc::clone(&schema), arrays);
            let piece = piece.expect("columns are as long as each other and of their types");
            let name = table.name.into_owned();
            let whole =
                whole.get_or_insert_with(|| Self { name, schema: schema.clone(), pieces: vec![] });
            if whole.schema.fields() != schema.fields() {
                return Err(whole.name.clone());
            }
            whole.pieces.push(piece);
        }
        whole.ok_or_else(String::new)
    }

    /// The table as the simulation made it, of one that is of one run.
    pub fn of_one_run(&self) -> floodway_model::Table {
        let piece = &self.pieces[0];
        let columns = self.schema.fields().iter().zip(piece.columns()).map(|(field, array)| {
            let array = array.as_any();
            let values = if let Some(array) = array.downcast_ref::<UInt64Array>() {
                Values::U64(array.values().to_vec().into())
            } else if let Some(array) = array.downcast_ref::<Float64Array>() {
                Values::F64(array.values().to_vec().into())
            } else {
                let texts = array.downcast_ref::<StringArray>().expect("columns have three types");
                Values::Text(texts.iter().flatten().map(str::to_owned).collect())
            };
            Column { name: field.name().clone().into(), doc: "".into(), values }
        });
        floodway_model::Table {
            name: self.name.clone().into(),
            doc: "".into(),
            columns: columns.collect(),
        }
    }

    fn place(&self, column: &str) -> PyResult<usize> {
        let found = self.schema.index_of(column);
        found.map_err(|_| PyKeyError::new_err(column.to_owned()))
    }
}

/// The columns that say of which run a table of so many rows is, as in its Parquet file.
pub fn leading(variant: &str, replication: u32, rows: usize) -> Vec<Column> {
    let column = |name, doc, values| Column { name, doc, values };
    vec![
        column(
            "variant".into(),
            "What is compared: the variant's name.".into(),
            Values::Text(repeat_n(variant.to_owned(), rows).collect()),
        ),
        column(
            "replication".into(),
            "The replication, counted from 0.".into(),
            Values::U64(vec![replication.into(); rows].into()),
        ),
    ]
}

/// A column as Arrow has it. Numbers stay where they are. As in Parquet nothing is null, and NaN
/// stands for what is not there.
fn column(column: Column) -> (Field, ArrayRef) {
    let Column { name, doc, values } = column;
    let (kind, array): (DataType, ArrayRef) = match values {
        Values::U64(values) => (DataType::UInt64, Arc::new(UInt64Array::from(values.into_vec()))),
        Values::F64(values) => (DataType::Float64, Arc::new(Float64Array::from(values.into_vec()))),
        Values::Text(values) => (DataType::Utf8, Arc::new(StringArray::from_iter_values(values))),
    };
    let unit = name.rsplit_once('_').map(|(_, unit)| unit).filter(|unit| UNITS.contains(unit));
    let unit = unit.map(|unit| (UNIT.to_owned(), unit.to_owned()));
    let doc = (DOC.to_owned(), doc.into_owned());
    let metadata: HashMap<_, _> = unit.into_iter().chain([doc]).collect();
    (Field::new(name, kind, false).with_metadata(metadata), array)
}

/// A column as it is pickled: its name, its meaning, the type of its values, and these: numbers as
/// bytes, least significant first, and texts as a list.
type Pickled<'py> = (String, String, String, Bound<'py, PyAny>);

/// The values of a column that was pickled.
fn unpickled(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<Values> {
    let words = || -> PyResult<Vec<[u8; 8]>> {
        let bytes = values.cast::<PyBytes>()?.as_bytes();
        let words = bytes.chunks_exact(8);
        Ok(words.map(|word| word.try_into().expect("it has 8 bytes")).collect())
    };
    match kind {
        "u64" => Ok(Values::U64(words()?.into_iter().map(u64::from_le_bytes).collect())),
        "f64" => Ok(Values::F64(words()?.into_iter().map(f64::from_le_bytes).collect())),
        "text" => Ok(Values::Text(values.extract()?)),
        _ => Err(PyValueError::new_err(format!("columns have no values of type `{kind}`"))),
    }
}

#[pymethods]
impl Table {
    /// The table that was pickled, in one piece.
    #[new]
    fn new(name: String, doc: String, columns: Vec<Pickled<'_>>) -> PyResult<Self> {
        let read = |(name, doc, kind, values): Pickled<'_>| -> PyResult<Column> {
            let values = unpickled(&kind, &values)?;
            Ok(Column { name: name.into(), doc: doc.into(), values })
        };
        let columns = columns.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
        if columns.windows(2).any(|pair| pair[0].values.len() != pair[1].values.len()) {
            return Err(PyValueError::new_err("columns are not as long as each other"));
        }
        Ok(Self::from(floodway_model::Table { name: name.into(), doc: doc.into(), columns }))
    }

    /// What [`Self::new`] takes: for pickling, which copies all of it.
    fn __getnewargs__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(String, String, Vec<Pickled<'py>>)> {
        let bytes = |place: usize| {
            let mut bytes = Vec::new();
            for array in self.pieces.iter().map(|piece| piece.column(place).as_any()) {
                if let Some(array) = array.downcast_ref::<UInt64Array>() {
                    bytes.extend(array.values().iter().flat_map(|value| value.to_le_bytes()));
                } else if let Some(array) = array.downcast_ref::<Float64Array>() {
                    bytes.extend(array.values().iter().flat_map(|value| value.to_le_bytes()));
                }
            }
            PyBytes::new(py, &bytes).into_any()
        };
        let mut columns = Vec::new();
        for (place, field) in self.schema.fields().iter().enumerate() {
            let (kind, values) = match field.data_type() {
                DataType::UInt64 => ("u64", bytes(place)),
                DataType::Float64 => ("f64", bytes(place)),
                _ => ("text", self.to_list(py, field.name(), 0, self.__len__())?.into_any()),
            };
            let doc = field.metadata().get(DOC).cloned().unwrap_or_default();
            columns.push((field.name().clone(), doc, kind.to_owned(), values));
        }
        Ok((self.name.clone(), self.doc().cloned().unwrap_or_default(), columns))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn doc(&self) -> Option<&String> {
        self.schema.metadata().get(DOC)
    }

    #[getter]
    fn columns(&self) -> Vec<&String> {
        self.schema.fields().iter().map(|field| field.name()).collect()
    }

    fn column_doc(&self, column: &str) -> PyResult<Option<&String>> {
        Ok(self.schema.field(self.place(column)?).metadata().get(DOC))
    }

    fn column_unit(&self, column: &str) -> PyResult<Option<&String>> {
        Ok(self.schema.field(self.place(column)?).metadata().get(UNIT))
    }

    fn __len__(&self) -> usize {
        self.pieces.iter().map(RecordBatch::num_rows).sum()
    }

    /// The same with these columns only.
    fn select(&self, columns: Vec<String>) -> PyResult<Self> {
        let places: Vec<_> =
            columns.iter().map(|column| self.place(column)).collect::<PyResult<_>>()?;
        let schema = self.schema.project(&places).map_err(arrow_error)?;
        let pieces = self.pieces.iter().map(|piece| piece.project(&places));
        Ok(Self {
            name: self.name.clone(),
            schema: Arc::new(schema),
            pieces: pieces.collect::<Result<_, _>>().map_err(arrow_error)?,
        })
    }

    /// The values of a column as objects of Python, from row `start` to before row `end`.
    fn to_list<'py>(
        &self,
        py: Python<'py>,
        column: &str,
        start: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let (place, list) = (self.place(column)?, PyList::empty(py));
        let mut before = 0;
        for piece in &self.pieces {
            let array = piece.column(place);
            let rows = start.max(before)..end.min(before + array.len());
            for row in rows.map(|row| row - before) {
                if let Some(array) = array.as_any().downcast_ref::<UInt64Array>() {
                    list.append(array.value(row))?;
                } else if let Some(array) = array.as_any().downcast_ref::<Float64Array>() {
                    list.append(array.value(row))?;
                } else if let Some(array) = array.as_any().downcast_ref::<StringArray>() {
                    list.append(array.value(row))?;
                }
            }
            before += array.len();
        }
        Ok(list)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(arrow_error)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The interface allows to hand over the table as it is, whatever schema is asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let pieces = self.pieces.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(pieces, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

fn arrow_error(error: arrow_schema::ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
