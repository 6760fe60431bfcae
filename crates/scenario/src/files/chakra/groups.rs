//! Process groups: which ranks take part in a collective, and in which order.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::decode::{Trace, Wrong, name};

/// Ranks by the name of the group.
pub(super) type Groups = BTreeMap<Box<str>, Vec<u32>>;

/// The groups of a file as ASTRA-sim takes it: an object with the ranks of each name.
pub(super) fn written(bytes: &[u8]) -> Result<Groups, Wrong> {
    let Listed(listed) = serde_json::from_slice(bytes).map_err(|error| {
        (
            format!("it lists no groups: {error}"),
            "write an object with the ranks of every group: {\"1\": [0, 1], \"2\": [2, 3]}"
                .to_owned(),
        )
    })?;
    let mut groups = Groups::new();
    for (name, ranks) in listed {
        if groups.insert(name.clone(), ranks).is_some() {
            return Err((
                format!("it lists group `{name}` twice"),
                "list every group once, with all of its ranks".to_owned(),
            ));
        }
    }
    Ok(groups)
}

/// What is in a file, in its order.
struct Listed(Vec<(Box<str>, Vec<u32>)>);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Listed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listed, A::Error> {
                let mut listed = Vec::new();
                while let Some(group) = map.next_entry()? {
                    listed.push(group);
                }
                Ok(Listed(listed))
            }
        }
        from.deserialize_map(Object)
    }
}

/// These groups, those that traces list, and the one of all ranks, which has no name or the name 0. What is
/// written in a file is taken instead of what a trace says.
pub(super) fn all(written: Groups, traces: &[Trace]) -> Result<Groups, Wrong> {
    let ranks = traces.len() as u32;
    let everybody: Vec<u32> = (0..ranks).collect();
    let mut groups = written;
    let mut listed: BTreeMap<Box<str>, (u32, Vec<u32>)> = BTreeMap::new();
    for (rank, trace) in (0..).zip(traces) {
        for (id, group) in &trace.groups {
            let name: Box<str> = group.pg_name.as_str().into();
            let of = if group.ranks.is_empty() { &everybody } else { &group.ranks };
            let (first, other) = listed.entry(name).or_insert_with(|| (rank, of.clone()));
            if other != of {
                return Err((
                    format!(
                        "rank {rank} lists other ranks of group `{}` (node {id}) than rank {first}",
                        group.pg_name
                    ),
                    "write the groups to a file, and name it in `groups`".to_owned(),
                ));
            }
        }
    }
    for (name, (_, of)) in listed {
        groups.entry(name).or_insert(of);
    }
    groups.entry("0".into()).or_insert_with(|| everybody.clone());
    for (name, of) in &groups {
        let mut sorted = of.clone();
        sorted.sort_unstable();
        if let Some(rank) = sorted.iter().find(|&&rank| rank >= ranks) {
            return Err((
                format!("group `{name}` has rank {rank}, and there are traces of {ranks} ranks"),
                format!("ranks are numbered from 0 to {}", i64::from(ranks) - 1),
            ));
        }
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err((
                format!("group `{name}` has rank {} twice", pair[0]),
                "name every rank of a group once".to_owned(),
            ));
        }
        if sorted.is_empty() {
            return Err((
                format!("group `{name}` has no ranks"),
                "name some, or remove it".to_owned(),
            ));
        }
    }
    Ok(groups)
}

/// The name of a group as it is looked up.
pub(super) fn key(group: &str) -> &str {
    if group.is_empty() { "0" } else { group }
}

/// The remedy for a group that nothing defines.
pub(super) fn undefined(node: (u64, &str), rank: u32, group: &str, groups: &Groups) -> Wrong {
    let known: Vec<&str> = groups.keys().map(|name| &**name).collect();
    (
        format!(
            "{} of rank {rank} is in group `{group}`, which is not defined",
            name(node.0, node.1)
        ),
        format!(
            "name a file in `groups` that has its ranks, like {{\"{group}\": [0, 1]}}; the groups are: {}",
            known.join(", ")
        ),
    )
}
