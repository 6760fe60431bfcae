//! Switches to which ports lead, and whose configurations were not read: hosts stand in their place, and lint compares
//! nothing with them.

use std::collections::BTreeMap;

use super::neighbors::shown;
use super::switch::Switch;
use crate::text::Place;

/// Most names in a note.
const MOST: usize = 6;

/// A note about all of them, if there are some.
pub fn note(switches: &[Switch], kinds: &BTreeMap<String, String>) -> Option<String> {
    // By name: the first port that leads there, and how many do.
    let mut absent: BTreeMap<&str, (String, &Place, usize)> = BTreeMap::new();
    for switch in switches {
        for port in &switch.ports {
            let Some(neighbor) = &port.neighbor else { continue };
            let is_here = switches.iter().any(|other| other.name == neighbor.name);
            let kind = kinds.get(&neighbor.name.to_ascii_lowercase()).map_or("", String::as_str);
            if is_here || !is_switch(kind, neighbor.port.as_deref().unwrap_or_default()) {
                continue;
            }
            let first = || (format!("{} of {}", port.name, switch.name), &neighbor.place, 0);
            absent.entry(&neighbor.name).or_insert_with(first).2 += 1;
        }
    }
    let (first, place, _) = absent.values().next()?;
    let links: usize = absent.values().map(|(.., count)| count).sum();
    let mut names: Vec<&str> = absent.keys().copied().take(MOST).collect();
    let more = format!("{} more", absent.len().saturating_sub(MOST));
    if absent.len() > MOST {
        names.push(&more);
    }
    let (noun, they) = match absent.len() {
        1 => ("the configuration", "is"),
        _ => ("the configurations", "are"),
    };
    let others = match links {
        1 => String::new(),
        2 => ", and one more link".to_owned(),
        links => format!(", and {} more links", links - 1),
    };
    Some(format!(
        "{noun} of {} {they} missing ({first} leads there: {}{others}); lint compares both ends of a link only where both \
         are read, and hosts stand in their place: add {}",
        names.join(", "),
        shown(place),
        if absent.len() == 1 { "it" } else { "them" }
    ))
}

/// Whether a neighbor is a switch: by its kind, as SONiC names kinds (`LeafRouter`, `Server`), or else by the name of
/// its port.
fn is_switch(kind: &str, port: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    if !kind.is_empty() {
        return ["router", "switch", "spine", "leaf"].iter().any(|word| kind.contains(word));
    }
    let numbered = |begin: &str| {
        let rest = port.strip_prefix(begin);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    // Of SONiC and its aliases, and of other systems of switches; servers have eth0, ens1f0, or an address.
    ["Ethernet", "etp", "swp", "Eth", "et-", "xe-"].iter().any(|begin| numbered(begin))
        || port.contains("GigE")
        || port.contains("GigabitEthernet")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_known_by_kind_or_by_their_ports() {
        for (kind, port, expected) in [
            ("LeafRouter", "", true),
            ("Server", "Ethernet0", false),
            ("", "Ethernet0", true),
            ("", "Ethernet1/3", true),
            ("", "fortyGigE0/4", true),
            ("", "etp3", true),
            ("", "eth0", false),
            ("", "ens1f0np0", false),
            ("", "0c:42:a1:00:00:01", false),
            ("", "", false),
        ] {
            assert_eq!(is_switch(kind, port), expected, "{kind} {port}");
        }
    }
}
