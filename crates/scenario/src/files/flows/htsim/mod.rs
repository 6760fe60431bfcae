//! Connection matrices of htsim (`.cm`): a header, then a line for each connection and trigger.

mod triggers;

use std::sync::Arc;

use floodway_model::Duration;

use self::triggers::{Role, Triggers};
use super::{Flows, Hosts, Moment, Reading, Row};
use crate::files::{Unit, Word, check_count, lines};
use crate::text::{Place, Problem, Source, suggest};

const HEADER: [&str; 4] = ["Nodes", "Connections", "Triggers", "Failures"];

const KEYS: [&str; 7] =
    ["start", "size", "id", "prio", "trigger", "send_done_trigger", "recv_done_trigger"];

const CONNECTION: &str = "write it like 0->1 start 0 size 2000000";

/// Reads a list. Empty lines and those that begin with `#` are skipped.
pub fn read(source: &Arc<Source>, hosts: &Hosts, origin: Duration) -> Result<Flows, Problem> {
    let mut reading = Reading::new(hosts, origin);
    let mut triggers = Triggers::default();
    let mut nodes = None;
    let mut connections: Option<(Word<'_>, u64)> = None;
    for line in lines(source).filter(|line| !line.all.text.starts_with('#')) {
        let mut words = line.words();
        let first = words.next().expect("the line is not empty");
        let words: Vec<Word<'_>> = words.collect();
        if let Some(at) = first.text.find("->") {
            let ends =
                [first.part(0, &first.text[..at]), first.part(at + 2, &first.text[at + 2..])];
            connection(&mut reading, &mut triggers, first, ends, &words, nodes)?;
            continue;
        }
        if first.text == "trigger" {
            triggers.declare(line, &words)?;
            continue;
        }
        if first.text == "failure" {
            return Err(fails(first));
        }
        if !HEADER.contains(&first.text) {
            let message =
                format!("`{}` is neither a connection nor a part of the header", first.text);
            let help = match suggest::closest(first.text, HEADER) {
                Some(name) => format!("did you mean `{name}`?"),
                None => CONNECTION.to_owned(),
            };
            return Err(first.problem(message, help));
        }
        let &[number] = words.as_slice() else {
            let message = format!("`{}` has {} numbers", first.text, words.len());
            return Err(line.all.problem(message, format!("write one, like {} 16", first.text)));
        };
        let count = number.whole(&format!("`{}`", first.text))?;
        match first.text {
            "Nodes" if count > reading.hosts().count() => {
                let hosts = reading.hosts().count();
                let message = format!("the file is for {count} hosts, and the network has {hosts}");
                return Err(
                    number.problem(message, "make the network larger, or take another file")
                );
            }
            "Nodes" => nodes = Some(count),
            "Connections" => connections = Some((number, count)),
            "Triggers" => triggers.announce(number, count),
            _ if count > 0 => return Err(fails(first)),
            _ => {}
        }
    }
    match (nodes, connections) {
        (Some(_), Some((word, count))) => {
            check_count(word, count, reading.count(), "connections")?;
        }
        (nodes, _) => {
            let missing = if nodes.is_none() { "Nodes" } else { "Connections" };
            let message = format!("the header has no `{missing}`");
            let help = "begin with the lines Nodes 16 and Connections 1, with the right numbers";
            return Err(Problem::error(Place::whole(source), message, help));
        }
    }
    let mut read = reading.end(source)?;
    triggers.resolve(&mut read)?;
    Ok(read)
}

/// Reads what stands behind `src->dst`.
fn connection<'a>(
    reading: &mut Reading<'_>,
    triggers: &mut Triggers<'a>,
    first: Word<'a>,
    [src, dst]: [Word<'a>; 2],
    words: &[Word<'a>],
    nodes: Option<u64>,
) -> Result<(), Problem> {
    for end in [src, dst] {
        let number = end.whole("the host")?;
        if let Some(nodes) = nodes.filter(|&nodes| number >= nodes) {
            let message = format!("there is no host {number}: the file is for {nodes} hosts");
            return Err(end.problem(message, "raise `Nodes`, or take another host"));
        }
    }
    let place = reading.count() as usize;
    let (mut start, mut size, mut waits, mut seen) = (None, None, None, Vec::new());
    for pair in words.chunks(2) {
        let key = pair[0];
        if !KEYS.contains(&key.text) {
            let message = format!("a connection has no `{}`", key.text);
            return Err(key.problem(message, suggest::remedy(key.text, "words", &KEYS)));
        }
        if seen.contains(&key.text) {
            let message = format!("`{}` is there twice", key.text);
            return Err(key.problem(message, "remove one of them"));
        }
        seen.push(key.text);
        let Some(&value) = pair.get(1) else {
            let message = format!("`{}` has no number", key.text);
            return Err(key.problem(message, CONNECTION));
        };
        match key.text {
            "start" => start = Some(Moment::start(value, Unit::Picoseconds)?),
            "size" => size = Some(value),
            other => match Role::of(other) {
                Some(role) => {
                    triggers.add(role, place, first, value)?;
                    waits = waits.or((role == Role::Begins).then_some((key, value)));
                }
                None => {
                    value.whole(&format!("`{other}`"))?;
                }
            },
        }
    }
    let missing = |what: &str| first.problem(format!("the connection has no `{what}`"), CONNECTION);
    let start = match (start, waits) {
        (Some(_), Some((key, _))) => {
            let message = "the connection has a `start` and waits for a `trigger`";
            return Err(key.problem(message, "remove one of them"));
        }
        (Some(start), None) => start,
        (None, Some((_, word))) => reading.beginning(word),
        (None, None) => return Err(missing("start")),
    };
    let bytes = Some(size.ok_or_else(|| missing("size"))?);
    reading.add(Row { src, dst, bytes, start, stop: None })
}

/// What the format has and a list of flows has not.
fn fails(word: Word<'_>) -> Problem {
    let message = format!("`{}`: links that fail are not read from a connection matrix", word.text);
    word.problem(message, "remove them from the file, and write [[failure]] in the scenario")
}
