//! Comma-separated values, RFC 4180 with plain line feeds. Real numbers have the shortest form
//! that reads back to the same bits; one that does not exist is `NaN`.

use floodway_machine::printable;
use floodway_model::table::Values;
use std::borrow::Cow;
use std::io::{self, Write};

use super::Sheet;

/// Writes a table with its header line.
pub fn write(sheet: &Sheet, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let names = sheet.table.columns.iter().map(|column| quoted(&column.name).into_owned());
    let leading = sheet.run.map(|_| "variant,replication".to_owned());
    writeln!(out, "{}", leading.into_iter().chain(names).collect::<Vec<_>>().join(","))?;
    let leading =
        sheet.run.map(|(variant, replication)| format!("{},{replication}", quoted(variant)));
    for row in 0..sheet.table.rows() {
        let mut comma = "";
        if let Some(leading) = &leading {
            write!(out, "{leading}")?;
            comma = ",";
        }
        for column in &sheet.table.columns {
            match &column.values {
                Values::U64(values) => write!(out, "{comma}{}", values.at(row))?,
                Values::F64(values) => write!(out, "{comma}{}", values.at(row))?,
                Values::Text(values) => write!(out, "{comma}{}", quoted(&values[row]))?,
            }
            comma = ",";
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Text in quotes where a comma, a quote or the end of a line inside would mislead a reader. Control
/// characters but tabs and line feeds are written out: tables of this form are printed.
fn quoted(text: &str) -> Cow<'_, str> {
    let text = printable::text(text);
    if text.contains([',', '"', '\n']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Table;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(quoted("leaf\x1b[2J\u{202e}0"), r"leaf\u{1b}[2J\u{202e}0");
        assert_eq!(quoted("a\r\nb"), "\"a\\u{d}\nb\"");
    }

    #[test]
    fn text_is_quoted_and_numbers_are_exact() {
        let table = Table::new("drops", "")
            .text("node", "", vec!["leaf 0".into(), "a,b".into(), "say \"no\"\n".into()])
            .u64("bytes", "", vec![0, u64::MAX, 7])
            .f64("fct_ns", "", vec![0.1, f64::NAN, 1e21]);
        let mut out = Vec::new();
        let sheet = Sheet { run: Some(("ci", 3)), table: &table };
        write(&sheet, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "variant,replication,node,bytes,fct_ns\n\
             ci,3,leaf 0,0,0.1\n\
             ci,3,\"a,b\",18446744073709551615,NaN\n\
             ci,3,\"say \"\"no\"\"\n\",7,1000000000000000000000\n"
        );
        let mut out = Vec::new();
        let table = Table::new("points", "").f64("load", "", vec![0.5]).u64("n", "", vec![2]);
        write(&Sheet { run: None, table: &table }, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "load,n\n0.5,2\n");
    }
}
