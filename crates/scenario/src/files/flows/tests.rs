use std::fmt::Write;

use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;

fn star(hosts: u32) -> Hosts {
    let network = format!(r#"{{ "star": {{ "hosts": {hosts} }} }}"#);
    Hosts::of(&serde_json::from_str(&network).unwrap())
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("flows", text.to_owned()))
}

/// A reader of a format in text.
type Reader = fn(&Arc<Source>, &Hosts, Duration) -> Result<Flows, Problem>;

fn flows(reader: Reader, text: &str, hosts: u32, origin: Duration) -> Vec<Flow> {
    let source = source(text);
    let read = match reader(&source, &star(hosts), origin) {
        Ok(read) => read,
        Err(problem) => panic!("{}", problem.plain()),
    };
    assert_eq!(read.flows.len(), read.starts.len());
    read.flows
}

/// Line, column, word and cause.
fn wrong(reader: Reader, text: &str) -> String {
    let problem = reader(&source(text), &star(4), Duration::ZERO).unwrap_err();
    assert!(!problem.help.is_empty());
    match problem.place.position() {
        Some(at) => {
            format!("{}:{} {}: {}", at.line, at.column, problem.place.word(), problem.message)
        }
        None => problem.message,
    }
}

fn flow(src: u32, dst: u32, bytes: u64, start_ps: u64) -> Flow {
    Flow { src, dst, start: Duration(start_ps), bytes: Some(Bytes(bytes)), stop: None }
}

#[test]
fn csv_by_hand() {
    let text = "# made by hand\n\
                start_ns, dst,src,color,bytes,stop_ns\n\
                0,1,0,red,1500,\n\
                \n\
                12.5,\"host 3\",host 2,\"a, b\",1e6,NaN\r\n\
                1000,0,3,,,2000\n";
    let endless = Flow {
        src: 3,
        dst: 0,
        start: Duration::from_us(1),
        bytes: None,
        stop: Some(Duration::from_us(2)),
    };
    let expected = [flow(0, 1, 1500, 0), flow(2, 3, 1_000_000, 12_500), endless];
    assert_eq!(flows(csv::read, text, 4, Duration::ZERO), expected);
}

#[test]
fn hpcc_by_hand() {
    // The simulator's files begin at 2 s; notes stand below the flows.
    let text = "2\n0 1 3 100 200000000 2\n3 1 3 101 5000000000 2.000000001500\n\nFirst line: # \n";
    let expected = [flow(0, 1, 200_000_000, 0), flow(3, 1, 5_000_000_000, 1_500)];
    assert_eq!(flows(hpcc::read, text, 4, Duration::from_ms(2_000)), expected);
    let at_two = flows(hpcc::read, text, 4, Duration::ZERO);
    assert_eq!(at_two[0], flow(0, 1, 200_000_000, 2_000_000_000_000));
}

#[test]
fn htsim_by_hand() {
    // A size above 2 GiB, and a start that a float of 32 bits does not hold.
    let text = "# three\nNodes 4\nConnections 3\nTriggers 0\n0->3 start 0 size 2000000\n\
                1->2 id 7 start 1000000033 size 3000000000 prio 1\n2->0 size 1 start 1.5e3\n";
    let expected =
        [flow(0, 3, 2_000_000, 0), flow(1, 2, 3_000_000_000, 1_000_000_033), flow(2, 0, 1, 1_500)];
    assert_eq!(flows(htsim::read, text, 4, Duration::ZERO), expected);
}

#[test]
fn a_table_without_flows_or_columns() {
    assert_eq!(wrong(csv::read, ""), "the file is empty");
    assert_eq!(wrong(csv::read, "src,dst,bytes,start_ns\n"), "the file has no flows");
    assert_eq!(
        wrong(csv::read, "src,dst,start_ns\n"),
        "1:1 src,dst,start_ns: there is no column `bytes`"
    );
    assert_eq!(
        wrong(csv::read, "src,dst,bytes,start_ns,stop\n"),
        "1:24 stop: there is no column `stop`"
    );
    assert_eq!(wrong(csv::read, "src,dst,src\n"), "1:9 src: the column `src` is there twice");
}

#[test]
fn what_is_wrong_with_a_row_of_a_table() {
    let row = |row: &str| wrong(csv::read, &format!("src,dst,bytes,start_ns,stop_ns\n{row}\n"));
    let four = "the network has 4 hosts";
    assert_eq!(row("0,4,1,0,"), format!("2:3 4: there is no host 4: {four}"));
    assert_eq!(row("host 9,1,1,0,"), format!("2:1 host 9: there is no host `host 9`: {four}"));
    assert_eq!(row("-1,1,1,0,"), format!("2:1 -1: there is no host `-1`: {four}"));
    assert_eq!(row("1,host 1,1,0,"), "2:3 host 1: host 1 would send to itself");
    assert_eq!(row("0,1,0,0,"), "2:5 0: the flow would have 0 bytes");
    assert_eq!(row("0,1,1.5,0,"), "2:5 1.5: the size is `1.5`, not a whole number");
    assert_eq!(row("0,1,1,-5,"), "2:7 -5: the start is `-5`, not a time");
    assert_eq!(row("0,1,1,,"), "2:7 : the start is ``, not a time");
    assert_eq!(row("0,1,1,5,9"), "2:9 9: the flow has a size and an end in time");
    assert_eq!(
        row("0,1,,5,5"),
        "2:8 5: the flow stops (5ns) before it sends anything (start: 5ns)"
    );
    assert_eq!(row("0,1,1,0"), "2:1 0,1,1,0: the line has 4 columns, and the header 5");
}

#[test]
fn what_is_wrong_with_a_list_of_hpcc() {
    let wrong = |text: &str| wrong(hpcc::read, text);
    assert_eq!(wrong("many"), "1:1 many: the number of flows is `many`, not a whole number");
    assert_eq!(
        wrong("1\n0 1 3 100 9\n"),
        "2:1 0 1 3 100 9: a flow has 6 numbers, and the line has 5"
    );
    assert_eq!(
        wrong("2\n0 1 3 100 9 0\n\n"),
        "1:1 2: the number of flows is 2, and the file has 1"
    );
    assert_eq!(
        wrong("1\n0 1 3 100 9 0\n1 0 3 100 9 0\n"),
        "3:1 1 0 3 100 9 0: there are more flows than the 1 that the first line says"
    );
    assert_eq!(
        wrong("2\n0 1 3 100 9 0.2\n1 0 3 100 9 0.1\n"),
        "3:13 0.1: the flow starts (100ms) before the one above it (200ms)"
    );
    assert_eq!(wrong("1\n0 1 x 100 9 0\n"), "2:5 x: the priority group is `x`, not a whole number");
    let late = hpcc::read(&source("1\n0 1 3 100 9 1\n"), &star(2), Duration::from_ms(2_000));
    assert_eq!(
        late.unwrap_err().message,
        "the flow starts (1s) before the run does, at `origin` (2s)"
    );
}

#[test]
fn what_is_wrong_with_a_matrix_of_htsim() {
    let of = |text: &str| wrong(htsim::read, &format!("Nodes 4\nConnections 1\n{text}\n"));
    let fails = "links that fail are not read from a connection matrix";
    assert_eq!(of("Failures 2"), format!("3:1 Failures: `Failures`: {fails}"));
    assert_eq!(of("0->1 size 9"), "3:1 0->1: the connection has no `start`");
    assert_eq!(of("0->1 start 0"), "3:1 0->1: the connection has no `size`");
    assert_eq!(of("0->1 start 0 start 1 size 9"), "3:14 start: `start` is there twice");
    assert_eq!(of("0->1 start 0 size"), "3:14 size: `size` has no number");
    assert_eq!(of("0->1 begin 0 size 9"), "3:6 begin: a connection has no `begin`");
    assert_eq!(of("0->4 start 0 size 9"), "3:4 4: there is no host 4: the file is for 4 hosts");
    assert_eq!(
        of("0-1 start 0"),
        "3:1 0-1: `0-1` is neither a connection nor a part of the header"
    );
    assert_eq!(of(""), "2:13 1: the number of connections is 1, and the file has 0");
    assert_eq!(
        wrong(htsim::read, "Nodes 8\n"),
        "1:7 8: the file is for 8 hosts, and the network has 4"
    );
    assert_eq!(wrong(htsim::read, "Nodes 4\n"), "the header has no `Connections`");
}

/// Which flows begin after which others, by place, and what is warned of.
fn waits(text: &str) -> (Vec<(u32, u32)>, Vec<String>) {
    let read = htsim::read(&source(text), &star(4), Duration::from_us(1));
    let read = read.unwrap_or_else(|problem| panic!("{}", problem.plain()));
    let pairs = read.waits.iter().map(|wait| (wait.after, wait.begins)).collect();
    (pairs, read.warnings.into_iter().map(|problem| problem.message).collect())
}

#[test]
fn triggers_of_htsim_by_hand() {
    // A chain over three hosts, and an answer to two questions; triggers may stand anywhere.
    let text = "Nodes 4\nConnections 5\nTriggers 3\ntrigger id 7 oneshot\n\
                0->1 id 1 start 1000000 size 1000 recv_done_trigger 7\n\
                1->2 id 2 trigger 7 size 700 recv_done_trigger 2\n\
                2->3 id 3 trigger 2 size 1500 recv_done_trigger 9\n\
                0->3 id 4 start 2e6 size 500 recv_done_trigger 9\n\
                3->0 id 5 size 100 trigger 9\n\
                trigger oneshot id 2\ntrigger id 9 barrier count 2\n";
    assert_eq!(waits(text), (vec![(1, 2), (0, 1), (2, 4), (3, 4)], Vec::new()));
    // Those that wait have no start of their own, whatever the clock of the file.
    let flows = flows(htsim::read, text, 4, Duration::from_us(1));
    assert_eq!(flows.iter().map(|flow| flow.start.0).collect::<Vec<_>>(), [0, 0, 0, 1_000_000, 0]);
}

#[test]
fn what_was_sent_is_known_where_it_left_and_where_it_arrives() {
    let text = "Nodes 4\nConnections 4\nTriggers 2\n\
                0->1 start 1e6 size 9 send_done_trigger 1\n\
                1->2 trigger 1 size 9 send_done_trigger 2\n0->3 trigger 1 size 9\n\
                1->0 trigger 2 size 9\n\
                trigger id 1 oneshot\ntrigger id 2 multishot\n";
    let (pairs, warnings) = waits(text);
    assert_eq!(pairs, [(0, 1), (0, 2), (1, 3)]);
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(warning.ends_with("(flows that wait so: 3)"), "{warning}");
}

#[test]
fn what_is_wrong_with_triggers_of_htsim() {
    let of = |text: &str| {
        let connections = text.matches("->").count();
        wrong(htsim::read, &format!("Nodes 4\nConnections {connections}\n{text}\n"))
    };
    let first = "0->1 start 0 size 9";
    let one = "trigger id 1 oneshot";
    // What a source cannot know.
    assert_eq!(
        of(&format!("{first} recv_done_trigger 1\n2->3 trigger 1 size 9\n{one}")),
        "4:14 1: 2->3 waits for 0->1, which host 2 neither sends nor receives"
    );
    assert_eq!(
        of(&format!("{first} send_done_trigger 1\n2->3 trigger 1 size 9\n{one}")),
        "4:14 1: 2->3 waits for 0->1, which host 2 neither sends nor receives"
    );
    assert_eq!(
        of(&format!("{first} recv_done_trigger 1\n0->3 trigger 1 size 9\n{one}")),
        "4:14 1: 0->3 waits until 0->1 has arrived, and host 0 does not know that"
    );
    // What would never begin, or nobody knows after what.
    assert_eq!(
        of(&format!("0->1 trigger 1 size 9\n{one}")),
        "3:14 1: nothing sets off trigger 1: 0->1 would never begin"
    );
    let cycle = "0->1 trigger 1 size 9 recv_done_trigger 2\n\
                  1->0 trigger 2 size 9 recv_done_trigger 1\n1->3 trigger 2 size 9";
    assert_eq!(
        of(&format!("{cycle}\n{one}\ntrigger id 2 oneshot")),
        "3:14 1: 0->1 waits for itself, through what it waits for"
    );
    let two = format!("{first} recv_done_trigger 1\n2->1 start 0 size 9 recv_done_trigger 1");
    let answer = "1->0 trigger 1 size 9";
    assert_eq!(
        of(&format!("{two}\n{answer}\n{one}")),
        "4:39 1: 2 connections set off trigger 1, which is for one"
    );
    assert_eq!(
        of(&format!("{two}\n{answer}\ntrigger id 1 barrier count 3")),
        "6:28 3: the barrier counts 3, and 2 connections set it off"
    );
    assert_eq!(
        of(&format!("{two}\n{answer}\ntrigger id 1 multishot")),
        "6:14 multishot: which flow begins next would depend on which other is done first"
    );
    // Spelling.
    assert_eq!(of("0->1 trigger 1 size 9"), "3:14 1: there is no trigger 1");
    assert_eq!(
        of("0->1 start 0 trigger 1 size 9"),
        "3:14 trigger: the connection has a `start` and waits for a `trigger`"
    );
    assert_eq!(
        of("0->1 trigger x size 9"),
        "3:14 x: the trigger's number is `x`, not a whole number"
    );
    let of = |line: &str| of(&format!("{first}\n{line}"));
    assert_eq!(of("Triggers 1"), "4:10 1: the number of triggers is 1, and the file has 0");
    assert_eq!(of("trigger id 0 oneshot"), "4:12 0: triggers have numbers from 1 on");
    assert_eq!(of("trigger id 1"), "4:1 trigger id 1: the trigger has no kind");
    assert_eq!(of("trigger oneshot"), "4:1 trigger oneshot: the trigger has no `id`");
    assert_eq!(of("trigger id"), "4:9 id: `id` has no number");
    assert_eq!(of("trigger id 1 once"), "4:14 once: a trigger has no `once`");
    assert_eq!(of("trigger id 1 id 1"), "4:14 id: the trigger has that twice");
    assert_eq!(of("trigger id 1 barrier"), "4:14 barrier: the barrier has no `count`");
    assert_eq!(of("trigger id 1 oneshot count 1"), "4:28 1: only a barrier has a `count`");
    assert_eq!(of(&format!("{one}\n{one}")), "5:12 1: there are two triggers 1");
}

/// A Parquet table of the columns of flows: hosts by name, and nothing where there is no size.
fn as_parquet(flows: &[Flow]) -> Vec<u8> {
    let schema = "message flows {
        required binary src (UTF8); required int64 dst; required double start_ns;
        optional int64 bytes; optional double stop_ns; required boolean ignored; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties =
        WriterProperties::builder().set_compression(::parquet::basic::Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let names = flows.iter().map(|flow| ByteArray::from(format!("host {}", flow.src).as_str()));
    column::<ByteArrayType>(&mut group, &names.collect::<Vec<_>>(), None);
    let receivers: Vec<i64> = flows.iter().map(|flow| flow.dst.into()).collect();
    column::<Int64Type>(&mut group, &receivers, None);
    let starts: Vec<f64> = flows.iter().map(|flow| flow.start.as_ns()).collect();
    column::<DoubleType>(&mut group, &starts, None);
    let sizes: Vec<i64> = flows.iter().filter_map(|flow| Some(flow.bytes?.0 as i64)).collect();
    let there: Vec<i16> = flows.iter().map(|flow| flow.bytes.is_some().into()).collect();
    column::<Int64Type>(&mut group, &sizes, Some(&there));
    let stops: Vec<f64> = flows.iter().filter_map(|flow| Some(flow.stop?.as_ns())).collect();
    let there: Vec<i16> = flows.iter().map(|flow| flow.stop.is_some().into()).collect();
    column::<DoubleType>(&mut group, &stops, Some(&there));
    column::<::parquet::data_type::BoolType>(&mut group, &vec![true; flows.len()], None);
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: &[T::T],
    there: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, there, None).unwrap();
    column.close().unwrap();
}

#[test]
fn what_is_wrong_with_a_parquet_file() {
    let problem = parquet::as_csv(b"src,dst", "flows.parquet").unwrap_err();
    assert!(problem.message.starts_with("the file cannot be read as Parquet: "));
    // A wrong row is shown as text.
    let text = parquet::as_csv(&as_parquet(&[flow(0, 0, 9, 1_500)]), "flows.parquet").unwrap();
    assert_eq!(text.inner().as_str(), "src,dst,start_ns,bytes,stop_ns\n\"host 0\",0,1.5,9,\n");
    let problem = csv::read(&text, &star(2), Duration::ZERO).unwrap_err();
    assert_eq!(
        problem.plain(),
        "error: host 0 would send to itself\n\
         \x20--> flows.parquet (as CSV):2:10\n\
         \x20 |\n\
         2 | \"host 0\",0,1.5,9,\n\
         \x20 |          ^\n\
         \x20 = help: write two different hosts, or leave the flow out\n"
    );
}

/// Flows between eight hosts, in order of start.
fn any_flows(sized: bool) -> impl Strategy<Value = Vec<Flow>> {
    let one = (0u32..8, 1u32..8, 1u64..(1 << 40), 0u64..(1 << 44), any::<bool>(), 0u64..1 << 40)
        .prop_map(move |(src, step, bytes, start, endless, lasts)| {
            let endless = endless && !sized;
            Flow {
                src,
                dst: (src + step) % 8,
                start: Duration(start),
                bytes: (!endless).then_some(Bytes(bytes)),
                stop: (endless && lasts > 1 << 39).then_some(Duration(start + lasts)),
            }
        });
    proptest::collection::vec(one, 1..20).prop_map(|mut flows| {
        flows.sort_by_key(|flow| flow.start);
        flows
    })
}

fn ps(time: Duration, unit: u64, digits: usize) -> String {
    format!("{}.{:0digits$}", time.0 / unit, time.0 % unit)
}

proptest! {
    #[test]
    fn tables_read_back_as_written(flows in any_flows(false)) {
        let mut text = "src,dst,bytes,start_ns,stop_ns\n".to_owned();
        for flow in &flows {
            let bytes = flow.bytes.map_or(String::new(), |bytes| bytes.0.to_string());
            let stop = flow.stop.map_or(String::new(), |stop| ps(stop, 1_000, 3));
            let start = ps(flow.start, 1_000, 3);
            writeln!(text, "{},host {},{bytes},{start},{stop}", flow.src, flow.dst).unwrap();
        }
        prop_assert_eq!(&self::flows(csv::read, &text, 8, Duration::ZERO), &flows);
        // Doubles hold picoseconds below 2^53.
        let text = parquet::as_csv(&as_parquet(&flows), "flows.parquet").unwrap();
        let read = csv::read(&text, &star(8), Duration::ZERO).unwrap();
        prop_assert_eq!(&read.flows, &flows);
        // The words of starts are where they are said to be.
        for (word, flow) in read.starts.iter().zip(&flows) {
            prop_assert_eq!(text.inner()[word.clone()].parse::<f64>().unwrap(), flow.start.as_ns());
        }
    }

    #[test]
    fn lists_of_simulators_read_back_as_written(flows in any_flows(true), origin in 0u64..1 << 44) {
        let (mut hpcc, mut htsim) =
            (format!("{}\n", flows.len()), format!("Nodes 8\nConnections {}\n", flows.len()));
        for (id, Flow { src, dst, start, bytes, .. }) in (1..).zip(&flows) {
            let (bytes, start) = (bytes.unwrap().0, Duration(start.0 + origin));
            let seconds = ps(start, 1_000_000_000_000, 12);
            writeln!(hpcc, "{src} {dst} 3 100 {bytes} {seconds}").unwrap();
            writeln!(htsim, "{src}->{dst} id {id} start {} size {bytes}", start.0).unwrap();
        }
        let origin = Duration(origin);
        prop_assert_eq!(&self::flows(hpcc::read, &hpcc, 8, origin), &flows);
        prop_assert_eq!(&self::flows(htsim::read, &htsim, 8, origin), &flows);
    }
}

/// The library panics at some of them.
#[test]
fn a_damaged_parquet_file_is_an_error() {
    let whole = as_parquet(&[flow(0, 1, 9, 1_500), flow(1, 0, 9, 2_500)]);
    let mut panicked = 0;
    for (place, mask) in (0..whole.len()).flat_map(|place| [1, 8, 255].map(|mask| (place, mask))) {
        let mut damaged = whole.clone();
        damaged[place] ^= mask;
        if let Err(problem) = parquet::as_csv(&damaged, "flows.parquet") {
            panicked += u32::from(problem.message.ends_with("Parquet: it is damaged"));
        }
    }
    assert!(panicked > 0 && !floodway_machine::damaged::is_reading());
}
