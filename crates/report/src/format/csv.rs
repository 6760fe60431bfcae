//! Comma-separated values, RFC 4180 with plain line feeds. Real numbers have the shortest form
//! that reads back to the same bits; one that does not exist is `NaN`.

use floodway_model::table::Values;
use std::borrow::Cow;
use std::io::{self, Write};

use super::Sheet;

/// Writes a table with its header line.
pub fn write(sheet: &Sheet, out: &mut (dyn Write + Send)) -> io::Result<()> {
    write!(out, "variant,replication")?;
    for column in &sheet.table.columns {
        write!(out, ",{}", quoted(&column.name))?;
    }
    writeln!(out)?;
    let variant = quoted(sheet.variant);
    for row in 0..sheet.table.rows() {
        write!(out, "{variant},{}", sheet.replication)?;
        for column in &sheet.table.columns {
            match &column.values {
                Values::U64(values) => write!(out, ",{}", values[row])?,
                Values::F64(values) => write!(out, ",{}", values[row])?,
                Values::Text(values) => write!(out, ",{}", quoted(&values[row]))?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Text in quotes where a comma, a quote or the end of a line inside would mislead a reader.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Table;

    #[test]
    fn text_is_quoted_and_numbers_are_exact() {
        let table = Table::new("drops", "")
            .text("node", "", vec!["leaf 0".into(), "a,b".into(), "say \"no\"\n".into()])
            .u64("bytes", "", vec![0, u64::MAX, 7])
            .f64("fct_ns", "", vec![0.1, f64::NAN, 1e21]);
        let mut out = Vec::new();
        let sheet = Sheet { variant: "ci", replication: 3, table: &table };
        write(&sheet, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "variant,replication,node,bytes,fct_ns\n\
             ci,3,leaf 0,0,0.1\n\
             ci,3,\"a,b\",18446744073709551615,NaN\n\
             ci,3,\"say \"\"no\"\"\n\",7,1000000000000000000000\n"
        );
    }
}
