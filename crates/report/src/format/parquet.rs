//! Apache Parquet: one row group of Snappy-compressed columns. Whole numbers are unsigned 64-bit,
//! real numbers doubles (NaN where there is none), text is UTF-8; nothing is null.

use floodway_model::table::Values;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

use super::Sheet;

/// How many values are converted at a time, so that a long column is never held twice.
const BATCH: usize = 16_384;

/// Writes a table.
pub fn write(sheet: &Sheet, out: &mut (dyn Write + Send)) -> io::Result<()> {
    write_file(sheet, out).map_err(io_error)
}

fn write_file(sheet: &Sheet, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("floodway {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut file = SerializedFileWriter::new(out, schema(sheet)?, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let rows = sheet.table.rows();
    texts(&mut group, rows, |_| sheet.variant)?;
    integers(&mut group, rows, |_| i64::from(sheet.replication))?;
    for column in &sheet.table.columns {
        match &column.values {
            // The bits of an unsigned number, as the logical type says.
            Values::U64(values) => integers(&mut group, rows, |row| values[row].cast_signed())?,
            Values::Text(values) => texts(&mut group, rows, |row| &values[row])?,
            Values::F64(values) => {
                let mut writer = next_column(&mut group)?;
                writer.typed::<DoubleType>().write_batch(values, None, None)?;
                writer.close()?;
            }
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
    let mut writer = next_column(group)?;
    for start in (0..rows).step_by(BATCH) {
        let batch: Vec<i64> = (start..rows.min(start + BATCH)).map(&value).collect();
        writer.typed::<Int64Type>().write_batch(&batch, None, None)?;
    }
    writer.close()
}

fn texts<'a>(
    group: &mut Group,
    rows: usize,
    value: impl Fn(usize) -> &'a str,
) -> Result<(), ParquetError> {
    let mut writer = next_column(group)?;
    for start in (0..rows).step_by(BATCH) {
        let range = start..rows.min(start + BATCH);
        let batch: Vec<ByteArray> = range.map(|row| ByteArray::from(value(row))).collect();
        writer.typed::<ByteArrayType>().write_batch(&batch, None, None)?;
    }
    writer.close()
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
    let mut fields = vec![text("variant")?, unsigned("replication")?];
    for column in &sheet.table.columns {
        fields.push(match column.values {
            Values::U64(_) => unsigned(column.name)?,
            Values::F64(_) => field(column.name, Physical::DOUBLE, None)?,
            Values::Text(_) => text(column.name)?,
        });
    }
    Ok(Arc::new(Type::group_type_builder(sheet.table.name).with_fields(fields).build()?))
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
