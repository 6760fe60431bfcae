//! How much memory a scenario and its runs take: estimates, compared with what there is before
//! anything large is made.

use floodway_machine::memory::{self, Room};
use floodway_machine::read::size;

use crate::document::Document;
use crate::scenario::{Scenario, Variant};
use crate::text::{Place, Problem};
use crate::workload;

/// Memory that a byte of a scenario's text takes while it is read, with its tree (measured with
/// flows that are written out one by one).
const PER_BYTE_OF_TEXT: u64 = 24;

/// Memory of a variant without its network and lists: its settings (measured).
const PER_VARIANT: u64 = 8_000;

/// Refuses what takes more memory than there is. `what` is the subject of the message.
fn refuse(place: &Place, what: &str, bytes: u64, remedy: &str) -> Result<(), Problem> {
    match memory::room() {
        Some(room) => refuse_in(room, place, what, bytes, remedy),
        None => Ok(()),
    }
}

fn refuse_in(
    room: Room,
    place: &Place,
    what: &str,
    bytes: u64,
    remedy: &str,
) -> Result<(), Problem> {
    if bytes <= room.bytes {
        return Ok(());
    }
    let (needs, has) = (size(bytes), size(room.bytes));
    let message = format!("{what} roughly {needs} of memory, and {has} are left {}", room.limit);
    Err(Problem::error(place.clone(), message, remedy))
}

/// Refuses a text that takes too much memory to read.
pub(crate) fn refuse_text(place: &Place, text: &str) -> Result<(), Problem> {
    let bytes = text.len() as u64;
    let what = format!("to read the {} of this file takes", size(bytes));
    let remedy = "keep long lists of flows in a file of their own: `[workload.file]`";
    refuse(place, &what, bytes.saturating_mul(PER_BYTE_OF_TEXT), remedy)
}

/// Refuses more variants like this one than there is memory for.
pub(crate) fn refuse_variants(place: &Place, of: &Variant, count: usize) -> Result<(), Problem> {
    let bytes = of.footprint().saturating_mul(count as u64);
    refuse(place, &format!("{count} variants take"), bytes, "write fewer variants")
}

/// Refuses more points like this one than there is memory for.
pub(crate) fn refuse_points(place: &Place, of: &Scenario, count: usize) -> Result<(), Problem> {
    let bytes = of.footprint().saturating_mul(count as u64);
    refuse(place, &format!("{count} points take"), bytes, "vary less, or in fewer steps")
}

impl Variant {
    /// Memory that it takes, in bytes: its settings and lists, and its network.
    fn footprint(&self) -> u64 {
        const NODE: u64 = 150;
        const PORT: u64 = 60;
        const FLOW: u64 = 160;
        let ports: usize = self.graph.nodes.iter().map(|node| node.ports.len()).sum();
        let flows: usize = listed(&self.settings);
        PER_VARIANT
            + self.graph.nodes.len() as u64 * NODE
            + ports as u64 * PORT
            + flows as u64 * FLOW
    }
}

/// Flows that are written out.
fn listed(settings: &Document) -> usize {
    let of = |entry: &workload::Entry| match &entry.traffic {
        workload::Spec::List(list) => list.flow.len(),
        _ => 0,
    };
    settings.workload.iter().map(of).sum()
}

impl Scenario {
    /// Memory that it takes, in bytes, with all its variants and its text.
    fn footprint(&self) -> u64 {
        let variants: u64 = self.variants().iter().map(Variant::footprint).sum();
        variants + self.text.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Source;
    use floodway_machine::memory::Limit;
    use std::sync::Arc;

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let place = Place::whole(&Arc::new(Source::new("a.toml", String::new())));
        let room = Room { bytes: 1_500_000, limit: Limit::ControlGroup };
        assert!(refuse_in(room, &place, "2 variants take", 1_500_000, "-").is_ok());
        let problem = refuse_in(room, &place, "2 variants take", 3_000_000, "write fewer variants");
        assert_eq!(
            problem.unwrap_err().plain(),
            "error: 2 variants take roughly 3.00 MB of memory, and 1.50 MB are left of the control \
             group (the container)\n--> a.toml\n = help: write fewer variants\n"
        );
    }
}
