//! What belongs together: sends and receives, and the nodes of a collective; and whether every node can begin.

use std::collections::BTreeMap;

use super::decode::Wrong;
use super::groups::{Groups, key, undefined};
use super::{Counted, End, Job, Kind, Node, What, place};
use crate::files::cycle;

/// A send with its receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The sending rank and the place of its node.
    pub from: (u32, u32),
    /// The receiving rank and the place of its node.
    pub to: (u32, u32),
    /// Bytes.
    pub bytes: u64,
}

/// A collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What it is.
    pub kind: Kind,
    /// Its bytes, as the traces have them.
    pub bytes: u64,
    /// The ranks in the order of their group, each with the place of its node.
    pub members: Vec<(u32, u32)>,
}

/// A job of these ranks. Messages between the same ranks with the same tag are matched in ascending order of
/// the identifiers at each end, and so are the collectives of a group.
pub(super) fn matched(
    ranks: Vec<Vec<Node>>,
    groups: &Groups,
    counted: Counted,
) -> Result<Job, Wrong> {
    for (rank, nodes) in (0..).zip(&ranks) {
        dependencies(rank, nodes, counted)?;
    }
    let messages = messages(&ranks)?;
    let collectives = collectives(&ranks, groups)?;
    let job = Job { ranks, messages, collectives };
    match waiting(&job, counted) {
        None => Ok(job),
        Some(cycle) => {
            Err(cycle::sentence(&cycle, "node", |&(rank, node)| called(&job.ranks, rank, node)))
        }
    }
}

/// What a node is called in messages.
fn called(ranks: &[Vec<Node>], rank: u32, node: u32) -> String {
    format!("{} of rank {rank}", ranks[rank as usize][node as usize].text())
}

/// Whether the nodes exist on which others depend.
fn dependencies(rank: u32, nodes: &[Node], counted: Counted) -> Result<(), Wrong> {
    for node in nodes {
        if let Some(id) = node.after(counted).find(|&id| place(nodes, id).is_none()) {
            return Err((
                format!(
                    "{} of rank {rank} depends on node {id}, which its trace does not have",
                    node.text()
                ),
                "complete the trace, or remove the dependency".to_owned(),
            ));
        }
    }
    Ok(())
}

/// Sender, receiver and tag.
type Key = (u32, u32, i128);

/// Of one key: sends, and receives, each as the place of its node and its size.
type Sides = [Vec<(u32, u64)>; 2];

fn messages(ranks: &[Vec<Node>]) -> Result<Vec<Message>, Wrong> {
    let mut sides: BTreeMap<Key, Sides> = BTreeMap::new();
    for (rank, nodes) in (0..).zip(ranks) {
        for (number, node) in (0..).zip(nodes) {
            let (End { peer, bytes, tag }, side) = match node.what {
                What::Send(end) => (end, 0),
                What::Receive(end) => (end, 1),
                _ => continue,
            };
            let does = ["sends to", "receives from"][side];
            if peer as usize >= ranks.len() {
                return Err((
                    format!(
                        "{} of rank {rank} {does} rank {peer}, and there are {} ranks",
                        node.text(),
                        ranks.len()
                    ),
                    format!("ranks are numbered from 0 to {}", ranks.len() - 1),
                ));
            }
            if peer == rank {
                return Err((
                    format!("{} of rank {rank} {does} its own rank", node.text()),
                    "write another rank, or a COMP_NODE of the time that it takes".to_owned(),
                ));
            }
            let key = if side == 0 { (rank, peer, tag) } else { (peer, rank, tag) };
            sides.entry(key).or_default()[side].push((number, bytes));
        }
    }
    let mut messages = Vec::new();
    for (&(from, to, tag), [sends, receives]) in &sides {
        for (&(send, bytes), &(receive, expected)) in sends.iter().zip(receives) {
            if bytes != expected {
                return Err((
                    format!(
                        "{} receives {expected} bytes, and {} sends {bytes}",
                        called(ranks, to, receive),
                        called(ranks, from, send)
                    ),
                    format!(
                        "write the same comm_size in both; messages from rank {from} to rank {to} with tag \
                         {tag} are matched in the order of their nodes"
                    ),
                ));
            }
            messages.push(Message { from: (from, send), to: (to, receive), bytes });
        }
        if let Some(&(send, _)) = sends.get(receives.len()) {
            return Err((
                format!(
                    "{} sends to rank {to} with tag {tag}, which does not receive it",
                    called(ranks, from, send)
                ),
                other_tag(&sides, (from, to, tag), 1).map_or_else(
                    || format!("add a COMM_RECV_NODE to rank {to}, or remove the send"),
                    |other| {
                        format!(
                            "rank {to} receives one with tag {other}: write the same tag in both"
                        )
                    },
                ),
            ));
        }
        if let Some(&(receive, _)) = receives.get(sends.len()) {
            return Err((
                format!(
                    "{} receives from rank {from} with tag {tag}, which does not send it",
                    called(ranks, to, receive)
                ),
                other_tag(&sides, (from, to, tag), 0).map_or_else(
                    || format!("add a COMM_SEND_NODE to rank {from}, or remove the receive"),
                    |other| {
                        format!(
                            "rank {from} sends one with tag {other}: write the same tag in both"
                        )
                    },
                ),
            ));
        }
    }
    messages.sort_unstable();
    Ok(messages)
}

/// Another tag with which a message between the same ranks lacks the end that this one has.
fn other_tag(sides: &BTreeMap<Key, Sides>, (from, to, _): Key, side: usize) -> Option<i128> {
    let between = sides.range((from, to, i128::MIN)..=(from, to, i128::MAX));
    between
        .filter(|(_, of)| of[side].len() > of[1 - side].len())
        .map(|((_, _, tag), _)| *tag)
        .next()
}

/// A part in a collective: the place of its node, what it is, and its bytes.
type Part = (u32, Kind, u64);

fn collectives(ranks: &[Vec<Node>], groups: &Groups) -> Result<Vec<Collective>, Wrong> {
    // By group and rank.
    let mut parts: BTreeMap<&str, BTreeMap<u32, Vec<Part>>> = BTreeMap::new();
    for (rank, nodes) in (0..).zip(ranks) {
        for (number, node) in (0..).zip(nodes) {
            let What::Collective { kind, bytes, group } = &node.what else { continue };
            let Some(members) = groups.get(key(group)) else {
                return Err(undefined((node.id, &node.name), rank, group, groups));
            };
            if !members.contains(&rank) {
                return Err((
                    format!(
                        "{} of rank {rank} is in group `{group}`, to which the rank does not belong",
                        node.text()
                    ),
                    format!("its ranks are: {}", numbers(members)),
                ));
            }
            parts
                .entry(key(group))
                .or_default()
                .entry(rank)
                .or_default()
                .push((number, *kind, *bytes));
        }
    }
    let mut collectives = Vec::new();
    for (group, of) in &parts {
        let members = &groups[*group];
        let empty = Vec::new();
        let of = |rank: u32| of.get(&rank).unwrap_or(&empty);
        let most = members.iter().map(|&rank| of(rank).len()).max().unwrap_or(0);
        for number in 0..most {
            let mut taking = Vec::with_capacity(members.len());
            let mut first: Option<(u32, Part)> = None;
            // One that takes part, to name its node if another does not.
            let one = members.iter().find_map(|&rank| Some((rank, *of(rank).get(number)?)));
            for &rank in members {
                let Some(&part) = of(rank).get(number) else {
                    let Some((other, (node, ..))) = one else { continue };
                    return Err((
                        format!(
                            "{} is collective {} of group `{group}`, in which rank {rank} has {}",
                            called(ranks, other, node),
                            number + 1,
                            of(rank).len()
                        ),
                        format!(
                            "all of its ranks ({}) must take part: add a COMM_COLL_NODE to rank {rank}",
                            numbers(members)
                        ),
                    ));
                };
                let (other, (node, kind, bytes)) = *first.get_or_insert((rank, part));
                if (kind, bytes) != (part.1, part.2) {
                    let what = |kind: Kind, bytes: u64| match kind {
                        Kind::Barrier => kind.name().to_owned(),
                        kind => format!("{} of {bytes} bytes", kind.name()),
                    };
                    return Err((
                        format!(
                            "{} is {}, and {} is {}",
                            called(ranks, rank, part.0),
                            what(part.1, part.2),
                            called(ranks, other, node),
                            what(kind, bytes)
                        ),
                        format!(
                            "both are collective {} of group `{group}`, which must be the same: collectives \
                             are matched in the order of their nodes",
                            number + 1
                        ),
                    ));
                }
                taking.push((rank, part.0));
            }
            let Some((_, (_, kind, bytes))) = first else { continue };
            collectives.push(Collective { kind, bytes, members: taking });
        }
    }
    Ok(collectives)
}

/// Some numbers, of which the first few are shown.
fn numbers(of: &[u32]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = of.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if of.len() > SHOWN { ", …" } else { "" };
    shown.join(", ") + more
}

/// Nodes that wait for each other in a cycle, each for the one after it and the last for the first. `None` if
/// all can begin and finish.
///
/// A node has two events, its beginning and its end: `2 n` and `2 n + 1` for the n-th of all. A collective in
/// which each rank waits for all has one more, which is when all have begun.
fn waiting(job: &Job, counted: Counted) -> Option<Vec<(u32, u32)>> {
    let mut first = Vec::with_capacity(job.ranks.len());
    let mut count = 0usize;
    for nodes in &job.ranks {
        first.push(count);
        count += nodes.len();
    }
    let at = |(rank, node): (u32, u32)| 2 * (first[rank as usize] + node as usize);
    let edges = || {
        let own = (0..count).map(|node| (2 * node, 2 * node + 1));
        let within = first.iter().zip(&job.ranks).flat_map(move |(&first, nodes)| {
            (first..).zip(nodes).flat_map(move |(to, node)| {
                let before = node.after(counted).filter_map(|id| place(nodes, id));
                before.map(move |from| (2 * (first + from) + 1, 2 * to))
            })
        });
        let messages = job.messages.iter().map(|message| (at(message.from), at(message.to) + 1));
        let collectives = job.collectives.iter().enumerate().flat_map(|(number, of)| {
            let hub = 2 * count + number;
            of.members.iter().enumerate().flat_map(move |(place, &member)| {
                let (gives, takes) = match of.kind {
                    Kind::Broadcast | Kind::Scatter => (place == 0, place > 0),
                    Kind::Reduce | Kind::Gather => (place > 0, place == 0),
                    _ => (true, true),
                };
                let gives = gives.then(|| (at(member), hub));
                let takes = takes.then(|| (hub, at(member) + 1));
                gives.into_iter().chain(takes)
            })
        });
        own.chain(within).chain(messages).chain(collectives)
    };
    let cycle = cycle::find(2 * count + job.collectives.len(), edges)?;
    let nodes = cycle.into_iter().filter(|&event| event < 2 * count).map(|event| event / 2);
    let of = |node: usize| {
        // Ranks without nodes have the same first one as the rank after them.
        let rank = first.partition_point(|&first| first <= node) - 1;
        (rank as u32, (node - first[rank]) as u32)
    };
    Some(cycle::named_once(nodes).into_iter().map(of).collect())
}
