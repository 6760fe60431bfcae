//! Flows as a Parquet table. Its columns become the text of [`csv`](super::csv), so that both are
//! checked and shown alike.

use std::fmt::Write;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row};
use ::parquet::schema::types::Type;
use floodway_machine::damaged;

use super::csv::COLUMNS;
use crate::text::{Place, Problem, Source};

/// The columns of flows of a table as text.
pub fn as_csv(bytes: &[u8], path: &str) -> Result<Arc<Source>, Problem> {
    damaged::guarded(|| columns_as_csv(bytes, path)).unwrap_or_else(|| {
        let place = Place::whole(&Arc::new(Source::new(path, String::new())));
        let message = "the file cannot be read as Parquet: it is damaged";
        Err(Problem::error(place, message, "check it, or its `format`"))
    })
}

fn columns_as_csv(bytes: &[u8], path: &str) -> Result<Arc<Source>, Problem> {
    let whole = |message: String, help: &str| {
        let source = Arc::new(Source::new(path, String::new()));
        Problem::error(Place::whole(&source), message, help)
    };
    let damaged = |error: ParquetError| {
        whole(format!("the file cannot be read as Parquet: {error}"), "check it, or its `format`")
    };
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    let reader = SerializedFileReader::new(bytes).map_err(damaged)?;
    for column in reader.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        let compression = column.compression();
        if !matches!(compression, Compression::UNCOMPRESSED | Compression::SNAPPY) {
            return Err(whole(
                format!("the file is compressed with {compression}"),
                "write it with Snappy or without compression: \
                 `write_parquet(..., compression=\"snappy\")` in polars",
            ));
        }
    }
    let schema = reader.metadata().file_metadata().schema();
    let ours: Vec<_> = schema
        .get_fields()
        .iter()
        .filter(|field| COLUMNS.contains(&field.name()) || is_slip(field.name(), schema))
        .cloned()
        .collect();
    let names: Vec<_> = ours.iter().map(|field| field.name().to_owned()).collect();
    let mut text = names.join(",") + "\n";
    let projection = Type::group_type_builder(schema.name()).with_fields(ours).build();
    let rows = reader.get_row_iter(Some(projection.map_err(damaged)?)).map_err(damaged)?;
    for row in rows {
        let row: Row = row.map_err(damaged)?;
        for (number, (name, field)) in row.get_column_iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            let written = match field {
                Field::Null => Ok(()),
                Field::Byte(value) => write!(text, "{value}"),
                Field::Short(value) => write!(text, "{value}"),
                Field::Int(value) => write!(text, "{value}"),
                Field::Long(value) => write!(text, "{value}"),
                Field::UByte(value) => write!(text, "{value}"),
                Field::UShort(value) => write!(text, "{value}"),
                Field::UInt(value) => write!(text, "{value}"),
                Field::ULong(value) => write!(text, "{value}"),
                Field::Float(value) => write!(text, "{value}"),
                Field::Double(value) => write!(text, "{value}"),
                Field::Str(value) if value.contains(['"', '\n']) => {
                    return Err(whole(
                        format!("{value:?} in the column `{name}` is no host and no number"),
                        "write numbers or names of hosts",
                    ));
                }
                Field::Str(value) => write!(text, "\"{value}\""),
                other => {
                    return Err(whole(
                        format!("the column `{name}` has {other}, neither number nor text"),
                        "write whole or real numbers, and hosts by number or name",
                    ));
                }
            };
            written.expect("text takes everything");
        }
        text.push('\n');
    }
    Ok(Arc::new(Source::new(format!("{path} (as CSV)"), text)))
}

/// Whether a column could be meant for one that is missing: it is shown as wrong in the header.
fn is_slip(name: &str, schema: &Type) -> bool {
    let has = |column: &str| schema.get_fields().iter().any(|field| field.name() == column);
    let missing = COLUMNS.into_iter().filter(|&column| !has(column));
    crate::text::suggest::closest(name, missing).is_some()
}
