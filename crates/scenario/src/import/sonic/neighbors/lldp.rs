//! What a switch sees of its neighbors by LLDP (IEEE 802.1AB): the output of `lldpctl -f json` or `-f json0`, and of
//! SONiC's `show lldp table`.
//!
//! In `json0` every element is a list, whatever it has in it. In `json` a list with one element is that element, an
//! object with nothing but `value` is that value, and the `name` of an object is a key above it
//! (`src/client/json_writer.c` of lldpd/lldpd). The table is that of `scripts/lldpshow` of sonic-net/sonic-utilities.

use std::sync::Arc;

use super::super::json::Node;
use crate::text::{Place, Problem, Source};

/// The key of the neighbors in JSON.
const KEY: &str = "lldp";

/// What to do about a table that cannot be read.
pub const AGAIN: &str = "write it again with `show lldp table` or `lldpctl -f json`";

/// The columns of `show lldp table`.
const COLUMNS: [&str; 5] =
    ["LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"];

/// A neighbor at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The port of the switch that sees it.
    pub local: String,
    /// Its name, if it sends one.
    pub name: Option<String>,
    /// What it calls its port: of SONiC, the alias.
    pub port: String,
    /// How it describes its port: of SONiC, the name of the port or a description.
    pub described: Option<String>,
    /// The other fields: names and values.
    pub others: Vec<(String, String)>,
    /// Where it is.
    pub place: Place,
}

/// Whether JSON is what `lldpctl` prints.
pub fn is_lldp(node: &Node) -> bool {
    matches!(node, Node::Object(keys) if keys.len() == 1 && keys[0].0 == KEY)
}

/// Whether a text that is no JSON begins like what `lldpctl` prints.
pub fn is_begun(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('{').map(str::trim_start);
    inner.is_some_and(|inner| inner.starts_with(&format!("\"{KEY}\"")))
}

/// Reads what `lldpctl` prints as JSON.
pub fn from_json(source: &Arc<Source>, node: &Node) -> Result<Vec<Seen>, Problem> {
    let mut seen = Vec::new();
    let Node::Object(keys) = node else { return Ok(seen) };
    for part in keys.iter().flat_map(|(_, node)| listed(node)) {
        for interface in get(part, "interface").into_iter().flat_map(listed) {
            let Node::Object(fields) = interface else {
                let message = "an interface is no object";
                return Err(Problem::error(Place::whole(source), message, AGAIN));
            };
            match get(interface, "name").and_then(word) {
                Some(name) => seen.push(neighbor(source, name, interface)?),
                None => {
                    for (name, body) in fields {
                        // Several neighbors at one port may be a list.
                        for body in listed(body) {
                            seen.push(neighbor(source, name, body)?);
                        }
                    }
                }
            }
        }
    }
    Ok(seen)
}

/// Where a port is: as a key in `json`, and as a name in `json0`. Neighbors may have ports of the same name.
fn place(source: &Arc<Source>, local: &str) -> Place {
    let text = source.inner();
    let quoted = serde_json::to_string(local).unwrap_or_default();
    let is_own = |&at: &usize| {
        let before = text[..at].trim_end().strip_suffix(':').map(str::trim_end);
        text[at + quoted.len()..].trim_start().starts_with(':')
            || before.is_some_and(|before| before.ends_with("\"name\""))
    };
    let found = text.match_indices(&quoted).map(|(at, _)| at).find(is_own);
    found.map_or_else(|| Place::whole(source), |at| Place::at(source, at..at + quoted.len()))
}

fn neighbor(source: &Arc<Source>, local: &str, body: &Node) -> Result<Seen, Problem> {
    let place = place(source, local);
    let Some((chassis, port)) = get(body, "chassis").zip(get(body, "port")) else {
        let message = format!("the neighbor at {local} has no `chassis` or no `port`");
        return Err(Problem::error(place, message, AGAIN));
    };
    let (chassis, port) = (first(chassis), first(port));
    // In `json` the name is the key above the others.
    let (name, chassis) = match (get(chassis, "name").and_then(word), chassis) {
        (Some(name), _) => (Some(name), chassis),
        (None, Node::Object(keys)) if keys.len() == 1 && keys[0].0 != "id" => {
            (Some(keys[0].0.as_str()), &keys[0].1)
        }
        _ => (None, chassis),
    };
    let Some(id) = get(port, "id").and_then(word) else {
        let message = format!("the neighbor at {local} has a port without an `id`");
        return Err(Problem::error(place, message, AGAIN));
    };
    let mut others = Vec::new();
    for (part, of, used) in [
        ("", body, &["name", "chassis", "port"][..]),
        ("chassis ", chassis, &["name"]),
        ("port ", port, &["id", "descr"]),
    ] {
        let Node::Object(fields) = of else { continue };
        for (field, value) in fields.iter().filter(|(field, _)| !used.contains(&field.as_str())) {
            others.push((format!("{part}{field}"), word(value).unwrap_or("…").to_owned()));
        }
    }
    let text = |text: &str| text.trim().to_owned();
    let seen = Seen {
        local: text(local),
        name: name.map(text).filter(|name| !name.is_empty()),
        port: text(id),
        described: get(port, "descr").and_then(word).map(text).filter(|text| !text.is_empty()),
        others,
        place,
    };
    printable(seen)
}

/// Names become those of a scenario, which have no control characters.
fn printable(seen: Seen) -> Result<Seen, Problem> {
    let texts = [Some(&seen.local), seen.name.as_ref(), Some(&seen.port), seen.described.as_ref()];
    let wrong = texts.into_iter().flatten().find(|text| text.contains(char::is_control));
    if let Some(text) = wrong {
        let message = format!("{text:?} has a control character");
        return Err(Problem::error(seen.place, message, AGAIN));
    }
    Ok(seen)
}

/// The elements of a list, or the only one.
fn listed(node: &Node) -> &[Node] {
    match node {
        Node::List(list) => list,
        one => std::slice::from_ref(one),
    }
}

fn first(node: &Node) -> &Node {
    listed(node).first().unwrap_or(node)
}

fn get<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Node::Object(keys) = node else { return None };
    keys.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// A text: itself, or the `value` of an object, or the first of a list.
fn word(node: &Node) -> Option<&str> {
    match first(node) {
        Node::Word(word) => Some(word),
        object @ Node::Object(_) => match first(get(object, "value")?) {
            Node::Word(word) => Some(word),
            _ => None,
        },
        Node::List(_) => None,
    }
}

/// Reads what `show lldp table` prints.
pub fn from_table(source: &Arc<Source>) -> Result<Vec<Seen>, Problem> {
    let mut lines = source.inner().lines().zip(1..);
    let wrong =
        |line: usize, message: String| Problem::error(Place::line(source, line), message, AGAIN);
    let Some((header, at)) = lines.find(|(line, _)| line.trim_start().starts_with(COLUMNS[0]))
    else {
        let message = "the file has no table of LLDP neighbors: no line begins with LocalPort";
        return Err(Problem::error(Place::whole(source), message, AGAIN));
    };
    let titles: Vec<&str> = header.split_whitespace().collect();
    if titles != COLUMNS {
        let message = format!("the columns are {}, not {}", titles.join(", "), COLUMNS.join(", "));
        return Err(wrong(at, message));
    }
    // Each column is as wide as the dashes below its title.
    let dashes = lines.next().map(|(line, _)| line).unwrap_or_default();
    let starts: Vec<usize> = dashes
        .char_indices()
        .filter(|&(at, c)| c == '-' && !dashes[..at].ends_with('-'))
        .map(|(at, _)| at)
        .collect();
    if starts.len() != COLUMNS.len() || !dashes.chars().all(|c| matches!(c, '-' | ' ')) {
        return Err(wrong(at, "below the titles there is no line of dashes".to_owned()));
    }
    let mut seen = Vec::new();
    for (line, at) in lines {
        if let Some(total) = line.trim().strip_prefix("Total entries displayed:") {
            return match total.trim().parse::<usize>() {
                Ok(total) if total == seen.len() => Ok(seen),
                _ => {
                    let message =
                        format!("the table has {} neighbors, and says{total}", seen.len());
                    Err(wrong(at, message))
                }
            };
        }
        if line.trim().chars().all(|c| c == '-') {
            continue;
        }
        let symbols: Vec<char> = line.chars().collect();
        let cell = |number: usize| {
            let from = starts[number].min(symbols.len());
            let to = starts.get(number + 1).map_or(symbols.len(), |to| (*to).min(symbols.len()));
            symbols[from..to].iter().collect::<String>().trim().to_owned()
        };
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let (local, port) = (cell(0), cell(2));
        if local.is_empty() || port.is_empty() {
            return Err(wrong(
                at,
                "the line has no local port or no port of a neighbor".to_owned(),
            ));
        }
        seen.push(printable(Seen {
            local,
            name: some(cell(1)),
            port,
            described: some(cell(4)),
            others: vec![("Capability".to_owned(), cell(3))],
            place: Place::line(source, at),
        })?);
    }
    let message = "the table is cut: it does not end with the number of its entries";
    Err(Problem::error(Place::whole(source), message, AGAIN))
}
