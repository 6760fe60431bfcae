//! Tables written as Parquet and read back: the same to the bit, or refused.

use floodway_model::Table;
use floodway_model::table::{Values, fingerprint};
use floodway_model::tables::flows;
use floodway_report::format::{self, Sheet, parquet};
use std::fs;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("floodway-{name}-{}.parquet", std::process::id()))
}

fn write(table: &Table, path: &Path) {
    let sheet = Sheet { run: Some(("ci", 1)), table };
    parquet::write(&sheet, &mut fs::File::create(path).unwrap()).unwrap();
}

/// Equal to the bit: by value NaN differs from itself, and 0 does not differ from -0.
fn assert_same(one: &Table, other: &Table) {
    assert_eq!((&one.name, &one.doc), (&other.name, &other.doc));
    assert_eq!(one.columns.len(), other.columns.len());
    for (one, other) in one.columns.iter().zip(&other.columns) {
        assert_eq!((&one.name, &one.doc), (&other.name, &other.doc));
        match (&one.values, &other.values) {
            (Values::F64(one), Values::F64(other)) => {
                assert!(one.iter().map(f64::to_bits).eq(other.iter().map(f64::to_bits)));
            }
            (one, other) => assert_eq!(one, other),
        }
    }
    let print = |table| fingerprint(std::slice::from_ref(table));
    assert_eq!(print(one), print(other));
}

#[test]
fn what_was_written_is_read_to_the_bit() {
    let path = path("round");
    // Around the 16384 values that are converted at a time, and past the 20000 of a page.
    for rows in [0, 1, 16_383, 16_384, 16_385, 50_000_u64] {
        let odd_nan = f64::from_bits(0x7ff8_0000_dead_beef);
        let reals = [0.0, -0.0, f64::NAN, odd_nan, f64::INFINITY, f64::MIN_POSITIVE / 2.0, 0.1];
        let texts = ["", "leaf 0", "µ, \"x\"\n", "\0"];
        let table = Table::new("queues", "One row per queue; \"every\" queue, µ.")
            .u64("bytes", "All bits.", (0..rows).map(|row| u64::MAX - row).collect())
            .u64("zero", "", vec![0; rows as usize])
            .f64("odd_ns", "Odd.", (0..rows).map(|row| reals[row as usize % 7]).collect())
            .f64("real_ns", "Never twice.", (0..rows).map(|row| row as f64 / 7.0).collect())
            .text("node", "", (0..rows).map(|row| texts[row as usize % 4].to_owned()).collect());
        write(&table, &path);
        assert_same(&parquet::read(&path).unwrap(), &table);
    }
    let table = Table::new("nothing", "No columns.");
    write(&table, &path);
    assert_same(&parquet::read(&path).unwrap(), &table);
    fs::remove_file(&path).unwrap();
}

/// A long table of flows, whose columns are packed, and the same with columns that are not.
fn flows() -> [Table; 2] {
    let row = |flow: u64| flows::Row {
        flow,
        workload: 0,
        src: flow / 200,
        dst: flow * 7 % 251,
        bytes: 4_096,
        start_ns: (flow * flow % 1_000_003) as f64 / 1e3,
        stop_ns: f64::NAN,
        fct_ns: if flow.is_multiple_of(5) { f64::NAN } else { (flow * 31 % 65_537) as f64 / 1e3 },
        acked_fct_ns: -0.0,
        ideal_fct_ns: 812.5,
        slowdown: (flow + 1) as f64 / 7.0,
        delivered_bytes: u64::MAX - flow,
        packets_sent: 1,
        retransmitted_packets: 0,
        lost_packets: flow % 2,
        mean_rtt_ns: f64::INFINITY,
        marked_packets: flow % 3,
        measured: 1,
    };
    let packed: Table = (0..50_000).map(row).collect();
    let mut plain = packed.clone();
    for column in &mut plain.columns {
        match &mut column.values {
            Values::U64(values) => *values = std::mem::take(values).into_vec().into(),
            Values::F64(values) => *values = std::mem::take(values).into_vec().into(),
            Values::Text(_) => {}
        }
    }
    [packed, plain]
}

/// Of one of these.
fn is_packed(table: &Table) -> bool {
    table.columns.iter().all(|column| match &column.values {
        Values::U64(values) => values.slice().is_none(),
        Values::F64(values) => values.slice().is_none(),
        Values::Text(_) => false,
    })
}

#[test]
fn a_packed_table_is_written_and_read_as_any_other() {
    let path = path("packed");
    let [packed, plain] = flows();
    assert!(is_packed(&packed) && !is_packed(&plain));
    assert_same(&packed, &plain);
    let octets = |write: format::Write, table: &Table| {
        let mut octets = Vec::new();
        write(&Sheet { run: Some(("ci", 1)), table }, &mut octets).unwrap();
        octets
    };
    for format in format::CATALOGUE {
        let of = |table| octets(format.write, table);
        assert!(of(&packed) == of(&plain), "{}", format.entry.name);
    }
    write(&packed, &path);
    let read = parquet::read(&path).unwrap();
    assert!(is_packed(&read));
    assert_same(&read, &plain);
    assert_eq!(flows::View::of_table(&read).unwrap().dst.at(40_000), 40_000 * 7 % 251);
    fs::remove_file(&path).unwrap();
}

#[test]
fn what_is_no_table_is_refused_with_place_cause_and_remedy() {
    let path = path("foreign");
    let error = || parquet::read(&path).unwrap_err().to_string();
    let place = path.display().to_string();
    assert_eq!(
        error(),
        format!("cannot read a table at `{place}`: it does not exist; check the path")
    );
    let refused = |reason: &str| {
        format!(
            "`{place}` is not a whole table of floodway: {reason}; run the scenario again to \
             replace it"
        )
    };
    fs::write(&path, "flow,bytes\n1,2\n").unwrap();
    assert_eq!(error(), refused("Parquet error: Invalid Parquet file. Corrupt footer"));
    fs::write(&path, "").unwrap();
    assert_eq!(error(), refused("EOF: Parquet file too small. Size is 0 but need 8"));
    fs::remove_file(&path).unwrap();
}

/// The library panics at some of them.
#[test]
fn a_file_with_other_bytes_in_it_is_refused_or_read() {
    let path = path("damaged");
    write(&several(), &path);
    let whole = fs::read(&path).unwrap();
    let mut damaged_ones = 0;
    for (place, mask) in (0..whole.len()).flat_map(|place| [1, 8, 255].map(|mask| (place, mask))) {
        let mut damaged = whole.clone();
        damaged[place] ^= mask;
        fs::write(&path, &damaged).unwrap();
        if let Err(error) = parquet::read(&path) {
            damaged_ones += u32::from(error.to_string().contains("it is damaged"));
        }
    }
    assert!(damaged_ones > 0, "the library panics no more");
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_that_ends_too_early_is_refused() {
    let path = path("short");
    let table = several();
    write(&table, &path);
    let whole = fs::read(&path).unwrap();
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        assert!(parquet::read(&path).is_err(), "whole at {end} of {} bytes", whole.len());
    }
    fs::remove_file(&path).unwrap();
}

/// Columns of every type.
fn several() -> Table {
    Table::new("queues", "Rows.")
        .u64("bytes", "Bytes.", vec![3, 1, 4, 1])
        .f64("mean_ns", "Mean.", vec![0.5, f64::NAN, 1e9, 7.0])
        .text(
            "node",
            "Node.",
            ["leaf 0", "leaf 1"].repeat(2).iter().map(|t| t.to_string()).collect(),
        )
}

/// Another program's file of Parquet.
#[test]
fn a_table_of_others_is_refused() {
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    let path = path("others");
    for (schema, reason) in [
        (
            "message a { required int64 id; }",
            "it does not begin with the columns variant, replication",
        ),
        (
            "message a { required binary variant; required int64 replication; required int64 id; }",
            "there is no floodway.doc in its metadata",
        ),
    ] {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let file = fs::File::create(&path).unwrap();
        SerializedFileWriter::new(file, schema, properties).unwrap().close().unwrap();
        assert_eq!(
            parquet::read(&path).unwrap_err().to_string(),
            format!(
                "`{}` is not a whole table of floodway: Parquet error: {reason}; run the scenario \
                 again to replace it",
                path.display()
            )
        );
    }
    fs::remove_file(&path).unwrap();
}
