//! Safe display of foreign text on a terminal: control characters are escaped, so that a file, a
//! path or an argument cannot move the cursor, set the title, hide lines or forge messages.

use std::borrow::Cow;

/// Escapes every control character except line feed and tab, as in `\u{1b}`: those of C0 and C1,
/// DEL, and the bidirectional controls of Unicode, which reorder displayed text (Boucher and
/// Anderson, Trojan Source, 2021).
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_control(c) && !matches!(c, '\n' | '\t'))
}

/// Like [`text`], for text on one line, such as a name or a path: line feeds are escaped too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_control(c) && c != '\t')
}

/// Like [`text`], for text that the program has colored itself: its own sequences (SGR with one of
/// these parameters) remain.
pub fn colored(text: &str) -> Cow<'_, str> {
    const OWN: [&str; 8] = ["0", "1", "2", "4", "31", "32", "33", "36"];
    if !text.contains('\x1b') {
        return self::text(text);
    }
    let mut parts = text.split('\x1b');
    let mut out = self::text(parts.next().unwrap_or("")).into_owned();
    for part in parts {
        let code = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        match code {
            Some((code, rest)) if code.split(';').all(|code| OWN.contains(&code)) => {
                out += &format!("\x1b[{code}m{}", self::text(rest));
            }
            _ => out += &format!("{}{}", '\x1b'.escape_unicode(), self::text(part)),
        }
    }
    Cow::Owned(out)
}

/// Escapes JSON. Such characters can occur only inside strings there, so JSON's own escapes are
/// used.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_control(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let one = |c: char| match c {
        '\n' => c.to_string(),
        c if is_control(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    Cow::Owned(text.chars().map(one).collect())
}

/// The beginning of a word that may be megabytes long, with its length.
pub fn short(word: &str) -> Cow<'_, str> {
    const MOST: usize = 80;
    match word.char_indices().nth(MOST) {
        None => Cow::Borrowed(word),
        Some((end, _)) => {
            Cow::Owned(format!("{}… ({} characters)", &word[..end], word.chars().count()))
        }
    }
}

/// A sentence, with its middle removed if it is too long to read.
pub fn sentence(text: &str) -> Cow<'_, str> {
    const MOST: usize = 4_000;
    const ENDS: usize = 500;
    let count = text.chars().count();
    if count <= MOST {
        return Cow::Borrowed(text);
    }
    let first: String = text.chars().take(ENDS).collect();
    let last: String = text.chars().skip(count - ENDS).collect();
    Cow::Owned(format!("{first} … ({} characters) … {last}", count - 2 * ENDS))
}

/// Whether a terminal may do anything other than display the character.
fn is_control(c: char) -> bool {
    c.is_control()
        // A byte order mark is invisible; some editors put it at the beginning of files.
        || c == '\u{feff}'
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        let hostile = "a\x1b]0;t\x07\r\x7f\u{9b}31m\u{202e}b\u{2066}\u{2069}\0";
        let shown = r"a\u{1b}]0;t\u{7}\u{d}\u{7f}\u{9b}31m\u{202e}b\u{2066}\u{2069}\u{0}";
        assert_eq!(text(hostile), shown);
        assert_eq!(colored(hostile), shown);
        assert_eq!(text("a\n\tä€ 😀"), "a\n\tä€ 😀");
        assert_eq!(line("a\nb\tc"), "a\\u{a}b\tc");
    }

    #[test]
    fn long_words_and_sentences_are_shortened() {
        assert_eq!(short("ü".repeat(80).as_str()), "ü".repeat(80));
        let shown = format!("{}… (81 characters)", "ü".repeat(80));
        assert_eq!(short("ü".repeat(81).as_str()), shown);
        assert_eq!(sentence("a".repeat(4_000).as_str()), "a".repeat(4_000));
        let long = "a".repeat(500) + &"ü".repeat(3_001) + &"b".repeat(500);
        let shown = format!("{} … (3001 characters) … {}", "a".repeat(500), "b".repeat(500));
        assert_eq!(sentence(&long), shown);
    }

    #[test]
    fn own_colors_remain_and_no_other_sequences() {
        assert_eq!(colored("\x1b[1;31merror\x1b[0m: a\n"), "\x1b[1;31merror\x1b[0m: a\n");
        // Concealed text, a color the program does not use, a truncated sequence, a cursor
        // movement.
        assert_eq!(
            colored("\x1b[8ma\x1b[31;8mb\x1b[3\x1b[2Jc\x1b"),
            r"\u{1b}[8ma\u{1b}[31;8mb\u{1b}[3\u{1b}[2Jc\u{1b}"
        );
    }

    #[test]
    fn json_stays_json() {
        assert_eq!(
            json("{\n\"a\": \"\u{9b}\u{202e}\x7fé\"}"),
            "{\n\"a\": \"\\u009b\\u202e\\u007fé\"}"
        );
    }
}
