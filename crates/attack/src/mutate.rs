//! Broken files from sound ones: numbers at limits, lines doubled, dropped and swapped, words and
//! bytes replaced, cuts, and parts of other files.

use floodway_model::random::Stream;

/// The most that a file may grow to, in bytes.
const LONGEST: usize = 100_000;

/// What takes the place of a number.
const LIMITS: [&str; 24] = [
    "0",
    "1",
    "2",
    "-1",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "0.5",
    "",
    "0x7f",
    "1_0",
];

/// What takes the place of a word.
const WORDS: [&str; 32] = [
    "true",
    "false",
    "null",
    "all",
    "left",
    "right",
    "0ns",
    "1ps",
    "18446744s",
    "0B",
    "1B",
    "18446744TB",
    "0bps",
    "1bps",
    "18446744Tbps",
    "\"",
    "''",
    "[]",
    "{}",
    "=",
    "[",
    "]",
    "->",
    "--",
    ",",
    ".",
    "host 1",
    "0-4294967295",
    "0-3",
    "\u{e9}\u{1f980}",
    "\u{feff}",
    "\0",
];

/// A file made of one of a corpus, which must not be empty.
pub fn mutate(stream: &mut Stream, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = pick(stream, corpus).clone();
    for _ in 0..1 + stream.below(4) {
        change(stream, corpus, &mut bytes);
        bytes.truncate(LONGEST);
    }
    bytes
}

fn pick<'a, T>(stream: &mut Stream, of: &'a [T]) -> &'a T {
    &of[stream.below(of.len() as u64) as usize]
}

fn change(stream: &mut Stream, corpus: &[Vec<u8>], bytes: &mut Vec<u8>) {
    let at = stream.below(bytes.len() as u64 + 1) as usize;
    match stream.below(12) {
        0..3 => replace(stream, bytes, |byte| byte.is_ascii_digit(), &LIMITS),
        3 => replace(stream, bytes, |byte| byte.is_ascii_alphanumeric() || byte == b'_', &WORDS),
        // A word of another place of the corpus.
        4 => {
            let other = pick(stream, corpus);
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.\"".contains(&byte);
            let words = parts(other, is_word);
            if !words.is_empty() {
                let word = other[pick(stream, &words).clone()].to_vec();
                put(stream, bytes, is_word, &word);
            }
        }
        5..8 => lines(stream, bytes),
        8 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = match stream.below(3) {
                    0 => *byte ^ (1 << stream.below(8)),
                    1 => stream.bits() as u8,
                    _ => *pick(stream, b"\n\t \"'[]{}=,.-0#"),
                };
            }
        }
        9 => {
            let end = (at + 1 + stream.below(40) as usize).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        10 => bytes.truncate(at),
        _ => {
            let other = pick(stream, corpus);
            let start = stream.below(other.len() as u64 + 1) as usize;
            let end = (start + 1 + stream.below(400) as usize).min(other.len());
            bytes.splice(at..at, other[start..end].iter().copied());
        }
    }
}

/// The longest runs of equal bytes.
fn parts(bytes: &[u8], like: impl Fn(u8) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, byte) in bytes.iter().copied().chain([b' ']).enumerate() {
        match (like(byte) && at < bytes.len(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn replace(stream: &mut Stream, bytes: &mut Vec<u8>, like: impl Fn(u8) -> bool, with: &[&str]) {
    let new = pick(stream, with).as_bytes();
    put(stream, bytes, like, new);
}

fn put(stream: &mut Stream, bytes: &mut Vec<u8>, like: impl Fn(u8) -> bool, new: &[u8]) {
    let parts = parts(bytes, like);
    if !parts.is_empty() {
        let part = pick(stream, &parts).clone();
        bytes.splice(part, new.iter().copied());
    }
}

/// Doubles, drops, swaps or repeats a line.
fn lines(stream: &mut Stream, bytes: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (one, other) = (stream.below(lines.len() as u64), stream.below(lines.len() as u64));
    let (one, other) = (one as usize, other as usize);
    match stream.below(4) {
        0 => lines.insert(other, lines[one].clone()),
        1 => drop(lines.remove(one)),
        2 => lines.swap(one, other),
        _ => {
            let line = lines[one].clone();
            let times = 1 + stream.below(30) as usize;
            lines.splice(one..one, std::iter::repeat_n(line, times));
        }
    }
    *bytes = lines.concat();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_file_and_others_make_others() {
        let corpus = [b"a = 1\nb = \"2KB\"\n".to_vec(), b"c = true\n".to_vec()];
        let file = |seed| mutate(&mut Stream::named(seed, "file"), &corpus);
        assert_eq!(file(3), file(3));
        let different: std::collections::BTreeSet<_> = (0..200).map(file).collect();
        assert!(different.len() > 100, "{}", different.len());
    }

    #[test]
    fn numbers_are_found() {
        assert_eq!(parts(b"a12 3", |byte| byte.is_ascii_digit()), [1..3, 4..5]);
    }
}
