//! Which send belongs to which receive, and whether every operation can begin.

use std::collections::BTreeMap;

use floodway_model::program::On;

use crate::files::cycle;

use super::{ANY, Action, End, Fault, Job, Places, Rank};

/// A send with its receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The sending rank and its step.
    pub from: (u32, u32),
    /// The receiving rank and its step.
    pub to: (u32, u32),
    /// Bytes.
    pub bytes: u64,
}

/// Sender, receiver and tag.
type Key = (u32, u32, u32);

/// Of one key: sends, and receives, each as its step and size.
type Sides = [Vec<(u32, u64)>; 2];

/// A job of these ranks. Messages between the same ranks with the same tag are matched in the order of the
/// file.
pub(super) fn matched(ranks: Vec<Rank>, places: &Places) -> Result<Job, Fault> {
    let mut sides: BTreeMap<Key, Sides> = BTreeMap::new();
    for (rank, of) in (0..).zip(&ranks) {
        for (step, operation) in (0..).zip(&of.steps) {
            let (end, side) = match operation.action {
                Action::Compute(_) => continue,
                Action::Send(end) => (end, 0),
                Action::Receive(end) => (end, 1),
            };
            possible((rank, step), (end, side), ranks.len(), places)?;
            let key = match side {
                0 => (rank, end.peer, end.tag),
                _ => (end.peer, rank, end.tag),
            };
            sides.entry(key).or_default()[side].push((step, end.bytes));
        }
    }
    let mut messages = Vec::new();
    for (key, [sends, receives]) in &sides {
        let &(from, to, tag) = key;
        for (&(send, bytes), &(receive, expected)) in sends.iter().zip(receives) {
            if bytes != expected {
                return Err(Fault {
                    rank: to,
                    step: receive,
                    message: format!(
                        "{} receives {expected} bytes, and {} sends {bytes}",
                        places.name(to, receive),
                        places.name(from, send)
                    ),
                    help: format!(
                        "write the same size in both; messages from rank {from} to rank {to} with \
                         tag {tag} are matched in the order of the file"
                    ),
                });
            }
            messages.push(Message { from: (from, send), to: (to, receive), bytes });
        }
        if sends.len() != receives.len() {
            return Err(alone(*key, [sends, receives], &sides, places));
        }
    }
    messages.sort_unstable();
    let job = Job { ranks, messages };
    match waiting(&job) {
        None => Ok(job),
        Some(cycle) => Err(never(&cycle, places)),
    }
}

/// Whether an operation of a rank names another rank, and a tag.
fn possible(
    (rank, step): (u32, u32),
    (end, side): (End, usize),
    ranks: usize,
    places: &Places,
) -> Result<(), Fault> {
    let End { peer, tag, .. } = end;
    let name = || places.name(rank, step);
    let (message, help) = if peer == ANY || tag == ANY {
        let what = if peer == ANY { "any rank" } else { "any tag" };
        (
            format!("{} matches {what}", name()),
            "sends and receives are matched before the run: write the rank and the tag".to_owned(),
        )
    } else if peer as usize >= ranks {
        let does = ["sends to", "receives from"][side];
        (
            format!("{} {does} rank {peer}, and there are {ranks} ranks", name()),
            format!("ranks are numbered from 0 to {}", ranks - 1),
        )
    } else if peer == rank {
        let does = ["sends to", "receives from"][side];
        (
            format!("{} {does} its own rank", name()),
            "write another rank, or a calc of the time that it takes".to_owned(),
        )
    } else {
        return Ok(());
    };
    Err(Fault { rank, step, message, help })
}

/// The first end of these messages that has no other.
fn alone(
    (from, to, tag): Key,
    [sends, receives]: [&[(u32, u64)]; 2],
    sides: &BTreeMap<Key, Sides>,
    places: &Places,
) -> Fault {
    let (side, step) = match sends.get(receives.len()) {
        Some((step, _)) => (0, *step),
        None => (1, receives[sends.len()].0),
    };
    // Perhaps it has another tag at the other end.
    let between = sides.range((from, to, 0)..=(from, to, ANY));
    let other = between
        .filter(|(_, of)| of[1 - side].len() > of[side].len())
        .map(|((_, _, tag), _)| *tag)
        .next();
    let rank = [from, to][side];
    let name = places.name(rank, step);
    let (message, missing) = match side {
        0 => (
            format!("{name} sends to rank {to} with tag {tag}, which does not receive it"),
            format!("add a recv from {from} with tag {tag} to rank {to}, or remove the send"),
        ),
        _ => (
            format!("{name} receives from rank {from} with tag {tag}, which does not send it"),
            format!("add a send to {to} with tag {tag} to rank {from}, or remove the recv"),
        ),
    };
    let help = match other {
        Some(other) if side == 0 => {
            format!("rank {to} receives one with tag {other}: write the same tag in both")
        }
        Some(other) => {
            format!("rank {from} sends one with tag {other}: write the same tag in both")
        }
        None => missing,
    };
    Fault { rank, step, message, help }
}

/// An operation: its rank, and its step.
type At = (u32, u32);

/// Operations that wait for each other in a cycle, each for the one after it and the last for the first.
/// `None` if all can begin and finish.
///
/// An operation has two events, its beginning and its end; `2 n` and `2 n + 1` for the n-th of all.
fn waiting(job: &Job) -> Option<Vec<At>> {
    let mut first = Vec::with_capacity(job.ranks.len() + 1);
    let mut count = 0usize;
    for rank in &job.ranks {
        first.push(count);
        count += rank.steps.len();
    }
    let at = |(rank, step): At| first[rank as usize] + step as usize;
    let events = 2 * count;
    let edges = || {
        let own = (0..count).map(|step| (2 * step, 2 * step + 1));
        let within = first.iter().zip(&job.ranks).flat_map(|(&first, rank)| {
            rank.edges.iter().map(move |edge| {
                let from = 2 * (first + edge.from as usize);
                (from + usize::from(edge.on == On::Finished), 2 * (first + edge.to as usize))
            })
        });
        let messages =
            job.messages.iter().map(|message| (2 * at(message.from), 2 * at(message.to) + 1));
        own.chain(within).chain(messages)
    };
    let cycle = cycle::find(events, edges)?;
    // Of an operation name one event.
    let steps = cycle::named_once(cycle.into_iter().map(|event| event / 2));
    let of = |step: usize| {
        // Ranks without operations have the same first one as the rank after them.
        let rank = first.partition_point(|&first| first <= step) - 1;
        (rank as u32, (step - first[rank]) as u32)
    };
    Some(steps.into_iter().map(of).collect())
}

/// What is said of a cycle.
fn never(cycle: &[At], places: &Places) -> Fault {
    let (rank, step) = cycle[0];
    let (message, help) =
        cycle::sentence(cycle, "operation", |&(rank, step)| places.name(rank, step));
    Fault { rank, step, message, help }
}
