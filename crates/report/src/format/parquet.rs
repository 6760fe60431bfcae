//! Apache Parquet: one row group of Snappy-compressed columns. Whole numbers are unsigned 64-bit,
//! real numbers doubles (NaN where there is none), text is UTF-8; nothing is null. The meanings of
//! table and columns are in the file's key-value metadata.

use floodway_machine::damaged;
use floodway_model::table::Values;
use floodway_model::{Numbers, Table, tables};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, KeyValue};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Sheet;
use crate::files::{IoError, OUT, named};

/// How many values are converted at a time, so that a long column is never held twice.
const BATCH: usize = 16_384;

/// The columns that every file of a run begins with, before those of the table.
const LEADING: [&str; 2] = ["variant", "replication"];

/// The key of the table's meaning. With a dot and the name of a column it is the key of that
/// column's meaning.
const DOC: &str = "floodway.doc";

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// It is damaged, or something else.
    #[error(
        "`{path}` is not a whole table of floodway: {reason}; run the scenario again to replace it"
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Writes a table.
pub fn write(sheet: &Sheet, out: &mut (dyn Write + Send)) -> io::Result<()> {
    write_file(sheet, out).map_err(io_error)
}

fn write_file(sheet: &Sheet, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("floodway {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(docs(sheet.table)))
        .build();
    let mut file = SerializedFileWriter::new(out, schema(sheet)?, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let rows = sheet.table.rows();
    if let Some((variant, replication)) = sheet.run {
        texts(&mut group, rows, |_| variant)?;
        integers(&mut group, rows, |_| i64::from(replication))?;
    }
    for column in &sheet.table.columns {
        match &column.values {
            // The bits of an unsigned number, as the logical type says.
            Values::U64(values) => integers(&mut group, rows, |row| values.at(row).cast_signed())?,
            Values::Text(values) => texts(&mut group, rows, |row| &values[row])?,
            Values::F64(values) => column_of::<DoubleType>(&mut group, rows, |row| values.at(row))?,
        }
    }
    group.close()?;
    file.close()?;
    Ok(())
}

type Group<'a, 'b> = SerializedRowGroupWriter<'a, &'b mut (dyn Write + Send)>;
type Column<'a> = parquet::file::writer::SerializedColumnWriter<'a>;

fn next_column<'a>(group: &'a mut Group) -> Result<Column<'a>, ParquetError> {
    Ok(group.next_column()?.expect("the schema has a column for each that is written"))
}

fn integers(
    group: &mut Group,
    rows: usize,
    value: impl Fn(usize) -> i64,
) -> Result<(), ParquetError> {
    column_of::<Int64Type>(group, rows, value)
}

fn column_of<T: DataType>(
    group: &mut Group,
    rows: usize,
    value: impl Fn(usize) -> T::T,
) -> Result<(), ParquetError> {
    let mut writer = next_column(group)?;
    for start in (0..rows).step_by(BATCH) {
        let batch: Vec<T::T> = (start..rows.min(start + BATCH)).map(&value).collect();
        writer.typed::<T>().write_batch(&batch, None, None)?;
    }
    writer.close()
}

fn texts<'a>(
    group: &mut Group,
    rows: usize,
    value: impl Fn(usize) -> &'a str,
) -> Result<(), ParquetError> {
    column_of::<ByteArrayType>(group, rows, |row| ByteArray::from(value(row)))
}

fn schema(sheet: &Sheet) -> Result<TypePtr, ParquetError> {
    let field = |name: &str, physical: Physical, logical: Option<LogicalType>| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let text = |name: &str| field(name, Physical::BYTE_ARRAY, Some(LogicalType::String));
    let unsigned = |name: &str| field(name, Physical::INT64, Some(LogicalType::integer(64, false)));
    let mut fields = match sheet.run {
        Some(_) => vec![text(LEADING[0])?, unsigned(LEADING[1])?],
        None => Vec::new(),
    };
    for column in &sheet.table.columns {
        fields.push(match column.values {
            Values::U64(_) => unsigned(&column.name)?,
            Values::F64(_) => field(&column.name, Physical::DOUBLE, None)?,
            Values::Text(_) => text(&column.name)?,
        });
    }
    Ok(Arc::new(Type::group_type_builder(&sheet.table.name).with_fields(fields).build()?))
}

fn docs(table: &Table) -> Vec<KeyValue> {
    let column = |column: &floodway_model::table::Column| {
        KeyValue::new(format!("{DOC}.{}", column.name), column.doc.to_string())
    };
    let doc = KeyValue::new(DOC.to_owned(), table.doc.to_string());
    std::iter::once(doc).chain(table.columns.iter().map(column)).collect()
}

/// What the system said, if it was the system that failed: the library wraps it.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

/// Reads a table that [`write()`] wrote, without the columns that identify the run.
///
/// A file with other bytes in it is refused, or read as another table: where that can be, compare a
/// checksum first.
pub fn read(path: &Path) -> Result<Table, Error> {
    let file = named(File::open(path), "read a table", path)?;
    let read = damaged::guarded(|| read_file(file));
    let read = read.unwrap_or_else(|| Err(ParquetError::General("it is damaged".to_owned())));
    read.map_err(|error| match io_error(error) {
        source if source.raw_os_error().is_some() => {
            IoError { action: "read a table".to_owned(), path: path.into(), source, elsewhere: OUT }
                .into()
        }
        error => Error::Malformed { path: path.into(), reason: error.to_string() },
    })
}

fn read_file(file: File) -> Result<Table, ParquetError> {
    let foreign = |what: String| ParquetError::General(what);
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let fields = metadata.schema().get_fields();
    if !fields.iter().map(|field| field.name()).take(LEADING.len()).eq(LEADING) {
        return Err(foreign(format!("it does not begin with the columns {}", LEADING.join(", "))));
    }
    let name = metadata.schema().name().to_owned();
    let mut table = Table::new(name, doc(metadata, DOC)?);
    for (place, field) in fields.iter().enumerate().skip(LEADING.len()) {
        let doc = doc(metadata, &format!("{DOC}.{}", field.name()))?;
        let values = column(&reader, place)?;
        let rows = usize::try_from(metadata.num_rows()).ok();
        if rows != Some(values.len()) {
            let (name, has, rows) = (field.name(), values.len(), metadata.num_rows());
            return Err(foreign(format!("column {name} has {has} of {rows} values")));
        }
        table = table.with(field.name().to_owned(), doc, values);
    }
    Ok(table)
}

/// The meaning that stands under a key.
fn doc(metadata: &FileMetaData, key: &str) -> Result<String, ParquetError> {
    let pairs = metadata.key_value_metadata().into_iter().flatten();
    let value = pairs.filter(|pair| pair.key == key).find_map(|pair| pair.value.clone());
    value.ok_or_else(|| ParquetError::General(format!("there is no {key} in its metadata")))
}

/// All values of a column.
fn column(reader: &SerializedFileReader<File>, place: usize) -> Result<Values, ParquetError> {
    let column = reader.metadata().file_metadata().schema_descr().column(place);
    if column.max_def_level() > 0 || column.max_rep_level() > 0 {
        return Err(ParquetError::General(format!("column {} may be null", column.name())));
    }
    let (mut integers, mut reals, mut texts) = (Numbers::default(), Numbers::default(), Vec::new());
    let packed = tables::packed(reader.metadata().file_metadata().schema().name());
    for group in 0..reader.num_row_groups() {
        match reader.get_row_group(group)?.get_column_reader(place)? {
            ColumnReader::Int64ColumnReader(column) => {
                batches(column, |batch| {
                    let batch = batch.iter().map(|number| number.cast_unsigned());
                    match packed {
                        true => batch.for_each(|number| integers.push(number)),
                        false => integers.extend_unpacked(batch),
                    }
                })?;
            }
            ColumnReader::DoubleColumnReader(column) => {
                batches(column, |batch| match packed {
                    true => batch.iter().for_each(|&number| reals.push(number)),
                    false => reals.extend_unpacked(batch.iter().copied()),
                })?;
            }
            ColumnReader::ByteArrayColumnReader(column) => {
                batches(column, |batch| {
                    texts.extend(batch.iter().map(|text| text.as_utf8().map(str::to_owned)))
                })?;
            }
            _ => {
                let kind = column.physical_type();
                return Err(ParquetError::General(format!(
                    "column {} is of type {kind}",
                    column.name()
                )));
            }
        }
    }
    Ok(match column.physical_type() {
        Physical::INT64 => Values::U64(integers),
        Physical::DOUBLE => Values::F64(reals),
        _ => Values::Text(texts.into_iter().collect::<Result<_, _>>()?),
    })
}

/// Hands on the values of a column chunk, a batch at a time.
fn batches<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    mut take: impl FnMut(&[T::T]),
) -> Result<(), ParquetError> {
    let mut batch = Vec::new();
    while column.read_records(BATCH, None, None, &mut batch)?.0 > 0 {
        take(&batch);
        batch.clear();
    }
    Ok(())
}
