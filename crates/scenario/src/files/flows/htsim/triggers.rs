//! What connections of htsim wait for. There any connection can set off any other at once; here what
//! a flow waits for is known where it happens, so its own source must have sent or received it.

use std::collections::BTreeMap;

use super::super::{Flows, Wait};
use crate::files::{Line, Word, check_count};
use crate::text::{Problem, suggest};

/// What a connection waits for or sets off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It begins when the trigger is set off.
    Begins,
    /// It sets it off when its sender has everything acknowledged.
    Sent,
    /// It sets it off when its receiver has everything.
    Received,
}

impl Role {
    /// The one that a word of a connection stands for.
    pub fn of(key: &str) -> Option<Self> {
        match key {
            "trigger" => Some(Self::Begins),
            "send_done_trigger" => Some(Self::Sent),
            "recv_done_trigger" => Some(Self::Received),
            _ => None,
        }
    }
}

/// A connection that has to do with a trigger.
#[derive(Clone, Copy, Debug)]
struct Part<'a> {
    role: Role,
    /// Its place in the list.
    place: usize,
    /// What it is called: `0->1`.
    name: Word<'a>,
    /// Where the trigger's number stands.
    at: Word<'a>,
}

/// When a trigger that is set off lets connections begin.
#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    /// All of them the first time.
    Oneshot,
    /// One more each time.
    Multishot(Word<'a>),
    /// All of them when it has been set off so often.
    Barrier(Word<'a>, u64),
}

/// The triggers of a file.
#[derive(Debug, Default)]
pub struct Triggers<'a> {
    announced: Option<(Word<'a>, u64)>,
    kinds: BTreeMap<u64, Kind<'a>>,
    /// By number: who sets it off, and who waits for it.
    parts: BTreeMap<u64, [Vec<Part<'a>>; 2]>,
}

const TRIGGER: &str = "write it like trigger id 1 oneshot, or trigger id 2 barrier count 3";

impl<'a> Triggers<'a> {
    /// The header says how many there are.
    pub fn announce(&mut self, word: Word<'a>, count: u64) {
        self.announced = Some((word, count));
    }

    /// Reads the line of a trigger; `words` are those behind the first.
    pub fn declare(&mut self, line: Line<'a>, words: &[Word<'a>]) -> Result<(), Problem> {
        let (mut id, mut kind, mut count) = (None, None, None);
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let what = format!("`{}`", word.text);
            let twice = match word.text {
                "id" | "count" => {
                    let Some(&value) = words.next() else {
                        return Err(word.problem(format!("{what} has no number"), TRIGGER));
                    };
                    let number = (value, value.whole(&what)?);
                    let place = if word.text == "id" { &mut id } else { &mut count };
                    place.replace(number).is_some()
                }
                "oneshot" | "multishot" | "barrier" => kind.replace(word).is_some(),
                text => {
                    let known = ["id", "count", "oneshot", "multishot", "barrier"];
                    let help = suggest::remedy(text, "words", &known);
                    return Err(word.problem(format!("a trigger has no `{text}`"), help));
                }
            };
            if twice {
                return Err(word.problem("the trigger has that twice", TRIGGER));
            }
        }
        let (Some((at, id)), Some(word)) = (id, kind) else {
            let missing = if id.is_none() { "`id`" } else { "kind" };
            return Err(line.all.problem(format!("the trigger has no {missing}"), TRIGGER));
        };
        let kind = match (word.text, count) {
            ("barrier", Some((at, count))) => Kind::Barrier(at, count),
            ("barrier", None) => {
                return Err(word.problem("the barrier has no `count`", TRIGGER));
            }
            (_, Some((at, _))) => {
                return Err(at.problem("only a barrier has a `count`", TRIGGER));
            }
            ("oneshot", None) => Kind::Oneshot,
            _ => Kind::Multishot(word),
        };
        if id == 0 {
            return Err(at.problem("triggers have numbers from 1 on", "write id 1"));
        }
        if self.kinds.insert(id, kind).is_some() {
            return Err(at.problem(format!("there are two triggers {id}"), "remove one of them"));
        }
        Ok(())
    }

    /// A connection, called `name`, has a part in the trigger whose number stands at `at`.
    pub fn add(
        &mut self,
        role: Role,
        place: usize,
        name: Word<'a>,
        at: Word<'a>,
    ) -> Result<(), Problem> {
        let id = at.whole("the trigger's number")?;
        let parts = self.parts.entry(id).or_default();
        parts[usize::from(role == Role::Begins)].push(Part { role, place, name, at });
        Ok(())
    }

    /// Adds to the flows what they wait for.
    pub fn resolve(self, read: &mut Flows) -> Result<(), Problem> {
        let declared = self.kinds.len() as u64;
        if let Some((word, count)) = self.announced {
            check_count(word, count, declared, "triggers")?;
        }
        let mut early = Vec::new();
        for (id, [done, waiting]) in &self.parts {
            let Some(&kind) = self.kinds.get(id) else {
                let part = done.iter().chain(waiting).min_by_key(|part| part.at.range().start);
                let part = part.expect("an entry has a part");
                let help = format!("add the line: trigger id {id} oneshot");
                return Err(part.at.problem(format!("there is no trigger {id}"), help));
            };
            let Some(first) = waiting.first() else { continue };
            if done.is_empty() {
                return Err(first.at.problem(
                    format!("nothing sets off trigger {id}: {} would never begin", first.name.text),
                    format!("write recv_done_trigger {id} in the connection that it waits for"),
                ));
            }
            possible(*id, kind, done, waiting)?;
            for waits in waiting {
                for done in done {
                    known_there(done, waits, read)?;
                    read.waits.push(Wait { after: done.place as u32, begins: waits.place as u32 });
                }
            }
            let sent = done.iter().find(|done| done.role == Role::Sent);
            early.extend(sent.map(|sent| (sent.at, waiting.len())));
        }
        if let Some((at, _)) = early.iter().min_by_key(|(at, _)| at.range().start) {
            let count: usize = early.iter().map(|(_, count)| count).sum();
            read.warnings.push(at.warning(
                format!(
                    "`send_done_trigger` does not wait for acknowledgements, as it does in htsim, \
                     but until all has left the sender or arrived where the next flow begins \
                     (flows that wait so: {count})"
                ),
                "they begin up to a round trip earlier than there; where a receiver goes on, \
                 recv_done_trigger is the same in both",
            ));
        }
        let parts = self.parts.values().flat_map(|[_, waiting]| waiting);
        let waiting = parts.map(|part| (part.place, *part)).collect();
        cycles(&waiting, read)
    }
}

/// Whether it is certain who waits for whom.
fn possible(
    id: u64,
    kind: Kind<'_>,
    done: &[Part<'_>],
    waiting: &[Part<'_>],
) -> Result<(), Problem> {
    let many = done.len();
    match kind {
        Kind::Oneshot if many > 1 => Err(done[1].at.problem(
            format!("{many} connections set off trigger {id}, which is for one"),
            format!("to wait for all of them write trigger id {id} barrier count {many}"),
        )),
        Kind::Barrier(at, count) if count != many as u64 => {
            let message = format!("the barrier counts {count}, and {many} connections set it off");
            Err(at.problem(message, format!("write count {many}")))
        }
        Kind::Multishot(at) if many > 1 || waiting.len() > 1 => Err(at.problem(
            "which flow begins next would depend on which other is done first",
            "a flow waits for certain others: give each a trigger of its own, oneshot or barrier",
        )),
        _ => Ok(()),
    }
}

/// Whether the source of the one that waits knows when the other is done.
fn known_there(done: &Part<'_>, waits: &Part<'_>, read: &Flows) -> Result<(), Problem> {
    let (after, begins) = (&read.flows[done.place], &read.flows[waits.place]);
    let here = begins.src;
    if after.dst == here || (after.src == here && done.role == Role::Sent) {
        return Ok(());
    }
    let (other, name) = (done.name.text, waits.name.text);
    let (src, _) = name.split_once("->").unwrap_or((name, ""));
    Err(if after.src == here {
        waits.at.problem(
            format!("{name} waits until {other} has arrived, and host {src} does not know that"),
            format!("write send_done_trigger in {other}, or wait for what host {src} receives"),
        )
    } else {
        waits.at.problem(
            format!("{name} waits for {other}, which host {src} neither sends nor receives"),
            format!("wait for a flow from or to host {src}, or write a `start`"),
        )
    })
}

/// Whether every flow can begin.
fn cycles(waiting: &BTreeMap<usize, Part<'_>>, read: &Flows) -> Result<(), Problem> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); read.flows.len()];
    let mut left = vec![0u32; read.flows.len()];
    for wait in &read.waits {
        followers[wait.after as usize].push(wait.begins as usize);
        left[wait.begins as usize] += 1;
    }
    let mut begun: Vec<usize> = (0..left.len()).filter(|&flow| left[flow] == 0).collect();
    while let Some(flow) = begun.pop() {
        for &next in &followers[flow] {
            left[next] -= 1;
            if left[next] == 0 {
                begun.push(next);
            }
        }
    }
    // One that never begins waits for another such, so many steps back are in a cycle, and as many
    // go round it.
    let Some(mut flow) = left.iter().position(|&left| left > 0) else { return Ok(()) };
    let stuck = read.waits.iter().filter(|wait| left[wait.after as usize] > 0);
    let before: BTreeMap<usize, usize> =
        stuck.map(|wait| (wait.begins as usize, wait.after as usize)).collect();
    let mut first = flow;
    for step in 0..2 * left.len() {
        flow = before.get(&flow).copied().unwrap_or(flow);
        first = if step < left.len() { flow } else { first.min(flow) };
    }
    let Some(part) = waiting.get(&first) else { return Ok(()) };
    let message = format!("{} waits for itself, through what it waits for", part.name.text);
    Err(part.at.problem(message, "let one of the cycle begin with a `start`"))
}
