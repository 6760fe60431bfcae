//! Flows of the HPCC simulator (`flow.txt`; Li et al., SIGCOMM 2019): their number, then a line for
//! each.

use std::sync::Arc;

use floodway_model::Duration;

use super::{Flows, Hosts, Moment, Reading, Row};
use crate::files::{Unit, Word, check_count, lines};
use crate::text::{Place, Problem, Source};

const LINE: &str =
    "write source, destination, priority group, port, bytes and start in seconds: 0 1 3 100 1000 2";

/// Reads a list.
pub fn read(source: &Arc<Source>, hosts: &Hosts, origin: Duration) -> Result<Flows, Problem> {
    let mut lines = lines(source);
    let Some(first) = lines.next() else {
        let help = "write the number of flows, and below it a line for each";
        return Err(Problem::error(Place::whole(source), "the file is empty", help));
    };
    let announced = first.all;
    let count = announced.whole("the number of flows")?;
    let mut reading = Reading::new(hosts, origin);
    let mut latest = Duration::ZERO;
    let mut rest = lines.peekable();
    while reading.count() < count {
        let Some(line) = rest.next() else { break };
        let words: Vec<Word<'_>> = line.words().collect();
        let &[src, dst, group, port, bytes, start] = words.as_slice() else {
            let message = format!("a flow has 6 numbers, and the line has {}", words.len());
            return Err(line.all.problem(message, LINE));
        };
        group.whole("the priority group")?;
        port.whole("the port")?;
        let start = Moment::start(start, Unit::Seconds)?;
        if start.at < latest {
            let message =
                format!("the flow starts ({}) before the one above it ({latest})", start.at);
            let help = "sort the flows by start: the HPCC simulator would start it late";
            return Err(start.word.problem(message, help));
        }
        latest = start.at;
        reading.add(Row { src, dst, bytes: Some(bytes), start, stop: None })?;
    }
    check_count(announced, count, reading.count(), "flows")?;
    // Notes may stand below, as in the example that comes with the simulator.
    if let Some(line) = rest.find(|line| line.all.text.starts_with(|c: char| c.is_ascii_digit())) {
        let message = format!("there are more flows than the {count} that the first line says");
        let help = "the HPCC simulator ignores them: raise the number, or remove them";
        return Err(line.all.problem(message, help));
    }
    reading.end(source)
}

/// Source, destination and bytes of each flow with the port that it names, in the order of the file,
/// which was read before: what is not a flow is passed over.
pub fn ports(source: &Arc<Source>) -> impl Iterator<Item = (u32, u32, u64, u64)> {
    lines(source).skip(1).filter_map(|line| {
        let words: Vec<Word<'_>> = line.words().collect();
        let &[src, dst, _, port, bytes, _] = words.as_slice() else { return None };
        let node = |word: Word<'_>| u32::try_from(word.whole("").ok()?).ok();
        Some((node(src)?, node(dst)?, bytes.whole("").ok()?, port.whole("").ok()?))
    })
}
