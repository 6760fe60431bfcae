//! Infrastructures of [InfraGraph](https://infragraph.dev), in YAML or JSON: the messages are in `document`, the graph that
//! follows from them in `expand`, and the network of hosts and switches in `contract`.

mod contract;
mod document;
mod expand;

use std::sync::Arc;

use super::{Network, Rates, with_tiers};
use crate::text::{Place, Problem, Source};
use document::Infrastructure;

/// The deepest nesting of brackets in a file. The parser takes a time that grows with the square of it, and reads no deeper
/// than 128 itself.
const MOST_BRACKETS: u32 = 128;

/// Reads a network; `rates` are those of links by name.
pub fn read(source: &Arc<Source>, rates: &Rates) -> Result<Network, Problem> {
    if let Some(line) = too_deep(source.inner()) {
        let message = format!("more than {MOST_BRACKETS} brackets are open");
        let help = "an infrastructure of InfraGraph needs no more than six: close those that are not needed";
        return Err(Problem::error(Place::line(source, line), message, help));
    }
    let from: Infrastructure = serde_yaml_ng::from_str(source.inner()).map_err(|error| {
        let place = match error.location() {
            Some(at) => Place::line(source, at.line().max(1)),
            None => Place::whole(source),
        };
        let help = "the schema is that of InfraGraph 2 and 3; YAML and JSON are read, also as the package `infragraph` \
                    writes them with `serialize`";
        Problem::error(place, format!("this is no infrastructure of InfraGraph: {error}"), help)
    })?;
    let graph = expand::expand(&from).and_then(|expanded| contract::network(&expanded, rates));
    let graph = graph
        .map_err(|(message, help)| Problem::error(place_of(source, &message), message, help))?;
    Ok(Network { graph: with_tiers(graph, source)?, switch_latency: None })
}

/// The line at which too many brackets are open. Those in quotes and comments count as well: usually they are closed.
fn too_deep(text: &str) -> Option<usize> {
    let mut open = 0u32;
    for (line, text) in (1..).zip(text.lines()) {
        for letter in text.bytes() {
            match letter {
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > MOST_BRACKETS {
                return Some(line);
            }
        }
    }
    None
}

/// The line that a message is about: that in which something gets the name that the message has first, or else the first
/// one that has it; all of the file if none has.
fn place_of(source: &Arc<Source>, message: &str) -> Place {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    // What is before a name in a line, if the line has it as a word.
    let before = |line: &str, name: &str| {
        let words = line.match_indices(name);
        let mut whole = words.filter(|(at, _)| {
            let [left, right] = [&line[..*at], &line[at + name.len()..]];
            !left.ends_with(is_part) && !right.starts_with(is_part)
        });
        whole.next().map(|(at, _)| line[..at].trim_end_matches(['"', '\'', ' ', ':']).to_owned())
    };
    let names = message.split('`').skip(1).step_by(2).filter(|name| !name.is_empty());
    let line = names.clone().find_map(|name| {
        let all = (1..).zip(source.inner().lines());
        let mut lines = all.filter_map(|(line, text)| before(text, name).map(|left| (line, left)));
        let first = lines.next()?;
        let named = |left: &str| left.ends_with("name");
        if named(&first.1) {
            return Some(first.0);
        }
        Some(lines.find(|(_, left)| named(left)).unwrap_or(first).0)
    });
    line.map_or_else(|| Place::whole(source), |line| Place::line(source, line))
}

/// The numbers of nodes and edges of the graph of a file, for comparison with the package's own.
#[cfg(test)]
fn counted(text: &str) -> (usize, usize) {
    let from: Infrastructure = serde_yaml_ng::from_str(text).expect("it is an infrastructure");
    let graph = expand::expand(&from).expect("it can be expanded");
    (graph.nodes.len(), graph.edges.len())
}

#[cfg(test)]
mod tests;
