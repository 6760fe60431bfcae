//! Where the time goes, as a chart.

use super::{Digest, Group, KINDS, kind};
use crate::chart::stack::{Stack, Stacks};
use crate::html::plain;
use crate::words;

/// What the parts of bars are called.
pub fn names() -> Vec<String> {
    KINDS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Mean completion times by size class and variant, divided by what they are spent on. `labels` are those
/// of the size classes.
pub fn stacks(title: &str, digests: &[(&str, &Digest)], labels: &[&str]) -> Stacks {
    let groups = labels.iter().enumerate().filter_map(|(class, label)| {
        let stacks: Vec<Stack> = digests
            .iter()
            .filter(|(_, digest)| digest.by_class[class].flows > 0)
            .map(|(name, digest)| stack(name, &digest.by_class[class]))
            .collect();
        (!stacks.is_empty()).then(|| (plain(label), stacks))
    });
    Stacks { title: title.to_owned(), names: names(), unit: "ns", groups: groups.collect() }
}

/// The mean of a group.
fn stack(name: &str, group: &Group) -> Stack {
    let mut parts = vec![0; KINDS.len()];
    for (delay, time) in &group.by_delay {
        parts[kind(*delay)] = time.saturating_add(parts[kind(*delay)]);
    }
    let mean = |ps: u64| group.mean(ps) / 1e3;
    let tooltip = |(part, ps): (usize, &u64)| {
        let share = 100.0 * *ps as f64 / group.total as f64;
        let (what, time) = (KINDS[part].0, words::time(mean(*ps)));
        plain(&format!(
            "{name}: {what}, {time} of {}, {share:.1} %",
            words::time(mean(group.total))
        ))
    };
    Stack {
        label: name.to_owned(),
        tooltips: parts.iter().enumerate().map(tooltip).collect(),
        parts: parts.iter().map(|ps| mean(*ps)).collect(),
        figures: plain(&words::time(mean(group.total))),
    }
}
