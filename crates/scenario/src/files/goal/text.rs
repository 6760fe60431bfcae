//! The text of GOAL.
//!
//! A statement ends with its line. Comments are those of C and C++; one over several lines ends each of
//! them. Options may stand in any order.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_model::program::{Edge, On};

use super::{ANY, Action, End, Rank, Step, Written};
use crate::files::{Line, Word, lines};
use crate::text::{Place, Problem, Source, suggest};

const RANK: &str =
    "write it like rank 0 { with its operations in lines of their own, and } at the end";

const OPERATION: &str =
    "write it like a: calc 100, b: send 4096b to 1 tag 7, c: recv 64b from 1, or b requires a";

/// A rank that is being read.
#[derive(Default)]
struct Open<'a> {
    labels: BTreeMap<&'a str, u32>,
    rank: Rank,
    written: Vec<Written>,
}

/// A text that is being read.
struct Reading<'a> {
    announced: Option<(Word<'a>, u64)>,
    ranks: Vec<Rank>,
    written: Vec<Vec<Written>>,
    /// The rank whose operations are being read, and where it begins.
    open: Option<(Word<'a>, Open<'a>)>,
}

/// Reads the ranks, and where their operations stand.
pub(super) fn read(source: &Arc<Source>) -> Result<(Vec<Rank>, Vec<Vec<Written>>), Problem> {
    let mut reading =
        Reading { announced: None, ranks: Vec::new(), written: Vec::new(), open: None };
    let mut comment = None;
    let mut numbers = Numbers { source, at: 0, line: 1 };
    for line in lines(source) {
        let words = words(line, &mut comment);
        let number = numbers.of(line.all);
        let mut rest = &words[..];
        while let Some(first) = rest.first() {
            let end = match first.text {
                "}" => 1,
                _ => rest
                    .iter()
                    .position(|word| matches!(word.text, "{" | "}"))
                    .map_or(rest.len(), |at| if rest[at].text == "{" { at + 1 } else { at }),
            };
            let (statement, after) = rest.split_at(end);
            reading.statement(statement, number)?;
            rest = after;
        }
    }
    if let Some(begun) = comment {
        return Err(begun.problem("the comment does not end", "end it with */"));
    }
    reading.end(source)
}

/// The numbers of lines, asked for in order.
struct Numbers<'a> {
    source: &'a Arc<Source>,
    at: usize,
    line: u32,
}

impl Numbers<'_> {
    fn of(&mut self, word: Word<'_>) -> u32 {
        let start = word.range().start;
        let passed = &self.source.inner().as_bytes()[self.at..start];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.at = start;
        self.line
    }
}

/// The words of a line without comments; `comment` is where one begins that has not ended. `:`, `{` and `}`
/// are words.
fn words<'a>(line: Line<'a>, comment: &mut Option<Word<'a>>) -> Vec<Word<'a>> {
    let text = line.all.text;
    let mut words = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if comment.is_some() {
            let Some(end) = rest.find("*/") else { break };
            (*comment, at) = (None, at + end + 2);
            continue;
        }
        if rest.starts_with("//") {
            break;
        }
        if rest.starts_with("/*") {
            *comment = Some(line.all.part(at, &rest[..2]));
            at += 2;
            continue;
        }
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let ends = |c: char| c.is_whitespace() || matches!(c, ':' | '{' | '}');
        let length = match rest.find(ends) {
            Some(0) => first,
            end => {
                let end = end.unwrap_or(rest.len());
                ["//", "/*"].iter().filter_map(|of| rest[..end].find(of)).fold(end, usize::min)
            }
        };
        let word = &rest[..length];
        if !word.trim().is_empty() {
            words.push(line.all.part(at, word));
        }
        at += length;
    }
    words
}

/// All of a statement, from its first word to its last.
fn whole<'a>(words: &[Word<'a>]) -> std::ops::Range<usize> {
    let last = words.last().map_or(0, |word| word.range().end);
    words.first().map_or(0..0, |word| word.range().start..last)
}

impl<'a> Reading<'a> {
    fn statement(&mut self, words: &[Word<'a>], line: u32) -> Result<(), Problem> {
        let first = words[0];
        if first.text == "}" {
            let Some((_, open)) = self.open.take() else {
                return Err(first.problem("no rank is open here", RANK));
            };
            self.ranks.push(open.rank);
            self.written.push(open.written);
            return Ok(());
        }
        if let Some((_, open)) = &mut self.open {
            return open.statement(words, line);
        }
        match (first.text, &words[1..]) {
            ("num_ranks", [number]) => {
                if self.announced.is_some() {
                    return Err(first.problem("`num_ranks` is there twice", "remove one of them"));
                }
                let count = number.whole("the number of ranks")?;
                if count == 0 {
                    return Err(number.problem("there are no ranks", "write num_ranks 2 or more"));
                }
                self.announced = Some((*number, count));
                Ok(())
            }
            ("rank", [number, brace]) if brace.text == "{" => self.begin(*number),
            ("num_ranks", _) => {
                Err(first.problem("`num_ranks` has one number", "write it like num_ranks 4"))
            }
            ("rank", _) => Err(first.problem("a rank begins with its number and `{`", RANK)),
            (other, _) => {
                let known = ["num_ranks", "rank"];
                let help = match suggest::closest(other, known) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => RANK.to_owned(),
                };
                Err(first.problem(format!("`{other}` stands outside of a rank"), help))
            }
        }
    }

    /// A rank begins: the next one.
    fn begin(&mut self, number: Word<'a>) -> Result<(), Problem> {
        let Some((_, count)) = self.announced else {
            return Err(
                number.problem("nothing says how many ranks there are", "begin with num_ranks 4")
            );
        };
        let (rank, next) = (number.whole("the rank")?, self.ranks.len() as u64);
        if rank >= count {
            let message = format!("there is no rank {rank}: `num_ranks` is {count}");
            return Err(
                number.problem(message, format!("write num_ranks {}", rank.saturating_add(1)))
            );
        }
        if rank != next {
            return Err(number.problem(
                format!("rank {rank} stands where rank {next} is missing"),
                "write all ranks in order from 0, without operations those that have none",
            ));
        }
        self.open = Some((number, Open::default()));
        Ok(())
    }

    fn end(self, source: &Arc<Source>) -> Result<(Vec<Rank>, Vec<Vec<Written>>), Problem> {
        if let Some((number, _)) = self.open {
            let message = format!("rank {} does not end", number.text);
            return Err(number.problem(message, "write } in a line behind its last operation"));
        }
        let Some((word, count)) = self.announced else {
            let place = Place::whole(source);
            return Err(Problem::error(
                place,
                "the file has no `num_ranks`",
                "begin with num_ranks 4",
            ));
        };
        let found = self.ranks.len() as u64;
        if found < count {
            return Err(word.problem(
                format!("`num_ranks` is {count}, and rank {found} is missing"),
                format!("write num_ranks {found}, or add the ranks up to {}", count - 1),
            ));
        }
        Ok((self.ranks, self.written))
    }
}

impl<'a> Open<'a> {
    /// Reads an operation or a dependency.
    fn statement(&mut self, words: &[Word<'a>], line: u32) -> Result<(), Problem> {
        if let [waits, how, first] = words
            && matches!(how.text, "requires" | "irequires")
        {
            let on = if how.text == "requires" { On::Finished } else { On::Begun };
            let (from, to) = (self.labeled(*first)?, self.labeled(*waits)?);
            self.rank.edges.push(Edge { from, to, on });
            return Ok(());
        }
        let (label, operation) = match words {
            [label, colon, rest @ ..] if colon.text == ":" => (Some(*label), rest),
            _ => (None, words),
        };
        let place = self.rank.steps.len() as u32;
        let Some(&kind) = operation.first() else {
            return Err(words[0].problem("the label has no operation", OPERATION));
        };
        let step = operation_of(kind, &operation[1..], line)?;
        let all = whole(operation);
        let written = match label {
            None => Written { label: all.start..all.start, all },
            Some(label) => {
                self.add(label, place)?;
                Written { label: label.range(), all }
            }
        };
        self.rank.steps.push(step);
        self.written.push(written);
        Ok(())
    }

    fn add(&mut self, label: Word<'a>, step: u32) -> Result<(), Problem> {
        let mut letters = label.text.bytes();
        let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
        if !begins || !letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            let message = format!("`{}` is no label", label.text);
            return Err(label
                .problem(message, "labels have letters, digits and _, and begin with a letter"));
        }
        if self.labels.insert(label.text, step).is_some() {
            let message = format!("there are two operations `{}` in this rank", label.text);
            return Err(label.problem(message, "give one of them another label"));
        }
        Ok(())
    }

    fn labeled(&self, label: Word<'a>) -> Result<u32, Problem> {
        self.labels.get(label.text).copied().ok_or_else(|| {
            let message = format!("there is no operation `{}` above in this rank", label.text);
            // Of many, the closest would be found too slowly.
            let known = self.labels.keys().copied().take(1_000);
            let help = match suggest::closest(label.text, known) {
                Some(name) => format!("did you mean `{name}`?"),
                None => {
                    "labels are those of the same rank, and stand before what uses them".to_owned()
                }
            };
            label.problem(message, help)
        })
    }
}

/// Reads an operation of this kind; `words` are those behind.
fn operation_of(kind: Word<'_>, words: &[Word<'_>], line: u32) -> Result<Step, Problem> {
    let (fixed, preposition) = match kind.text {
        "calc" => (1, ""),
        "send" => (3, "to"),
        "recv" => (3, "from"),
        other => {
            let known = ["calc", "send", "recv"];
            let help = match suggest::closest(other, known) {
                Some(name) => format!("did you mean `{name}`?"),
                None => OPERATION.to_owned(),
            };
            return Err(kind.problem(format!("`{other}` is no operation"), help));
        }
    };
    if words.len() < fixed || (fixed > 1 && words[1].text != preposition) {
        let message = format!("`{}` is not complete", kind.text);
        return Err(kind.problem(message, OPERATION));
    }
    let (fixed, options) = words.split_at(fixed);
    let Options { tag, cpu, nic } = Options::read(kind, options)?;
    let end = || -> Result<End, Problem> {
        Ok(End { peer: number_or_any(fixed[2], "the rank")?, bytes: size(fixed[0])?, tag })
    };
    let action = match kind.text {
        "calc" => Action::Compute(fixed[0].whole("the time")?),
        "send" => Action::Send(end()?),
        _ => Action::Receive(end()?),
    };
    Ok(Step { action, cpu, nic, line })
}

/// What may stand behind an operation.
#[derive(Default)]
struct Options {
    tag: u32,
    cpu: u8,
    nic: u8,
}

impl Options {
    fn read(kind: Word<'_>, words: &[Word<'_>]) -> Result<Self, Problem> {
        let all: &[&str] = if kind.text == "calc" { &["cpu"] } else { &["tag", "cpu", "nic"] };
        let (mut options, mut seen) = (Self::default(), Vec::new());
        for pair in words.chunks(2) {
            let key = pair[0];
            if !all.contains(&key.text) {
                let message = format!("`{}` has no `{}`", kind.text, key.text);
                return Err(key.problem(message, suggest::remedy(key.text, "options", all)));
            }
            if seen.contains(&key.text) {
                let message = format!("`{}` is there twice", key.text);
                return Err(key.problem(message, "remove one of them"));
            }
            seen.push(key.text);
            let Some(&value) = pair.get(1) else {
                let message = format!("`{}` has no number", key.text);
                return Err(key.problem(message, format!("write {} 0", key.text)));
            };
            match key.text {
                "tag" => options.tag = number_or_any(value, "the tag")?,
                "cpu" => options.cpu = small(value, "cpu")?,
                _ => options.nic = small(value, "nic")?,
            }
        }
        Ok(options)
    }
}

/// A number of 32 bits, or -1 for any.
fn number_or_any(word: Word<'_>, what: &str) -> Result<u32, Problem> {
    if word.text == "-1" {
        return Ok(ANY);
    }
    let number = word.whole(what)?;
    u32::try_from(number).ok().filter(|&number| number < ANY).ok_or_else(|| {
        let message = format!("{what} is {number}");
        word.problem(message, format!("write a whole number from 0 to {}", ANY - 1))
    })
}

/// A number of 8 bits.
fn small(word: Word<'_>, what: &str) -> Result<u8, Problem> {
    let number = word.whole(&format!("`{what}`"))?;
    u8::try_from(number).map_err(|_| {
        let message = format!("`{what}` is {number}");
        word.problem(message, "write a whole number from 0 to 255")
    })
}

/// A size in bytes: `4096b`.
fn size(word: Word<'_>) -> Result<u64, Problem> {
    match word.text.strip_suffix('b') {
        Some(number) => word.part(0, number).whole("the size"),
        None => {
            let message = format!("the size is `{}`", word.text);
            Err(word.problem(message, "write the number of bytes with a b behind, like 4096b"))
        }
    }
}
