//! Text set in type.

use floodway_machine::printable;
use maud::{Markup, PreEscaped, html};

use crate::chart::escape;

/// The units before which no line may break.
const UNITS: [&str; 14] = [
    "%", "ns", "µs", "ms", "s", "B", "KB", "MB", "GB", "Gb/s", "Mb/s", "million", "billion",
    "trillion",
];

/// A text as the page shows it: real minus signs, and no break between a number and its unit or
/// what stands before it: `< 100 KB`.
/// What means something in markup is escaped.
pub(super) fn set(text: &str) -> Markup {
    PreEscaped(escape(&typeset(text)))
}

/// The same as a tooltip or a label of a chart, which escapes by itself.
pub(crate) fn plain(text: &str) -> String {
    printable::text(&typeset(text)).into_owned()
}

/// What is to be read as it stands, with control characters written out.
pub(super) fn raw(text: &str) -> Markup {
    PreEscaped(escape(text))
}

fn typeset(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, letter)) = letters.next() {
        let digit_next = letters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        let rest = &text[at + letter.len_utf8()..];
        let unit_next = || {
            let word = rest.split([' ', ',', ';', ']', ')', '.', ':', '?']).next().unwrap_or("");
            UNITS.contains(&word)
        };
        let set = match letter {
            '-' if digit_next && (before == ' ' || before == '[' || before == '(') => '−',
            ' ' if before.is_ascii_digit() && unit_next() => '\u{a0}',
            ' ' if digit_next && "<>≤≥±".contains(before) => '\u{a0}',
            other => other,
        };
        out.push(set);
        before = letter;
    }
    out
}

/// A text for people, with `code` in backquotes.
pub(super) fn with_code(text: &str) -> Markup {
    coded(text, set)
}

/// The same with its numbers in bold and its intervals held back.
pub(super) fn rich(text: &str) -> Markup {
    coded(text, emphasized)
}

fn coded(text: &str, other: fn(&str) -> Markup) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 0 { (other(part)) } @else { code { (raw(part)) } }
        }
    }
}

/// A sentence of the answer with its numbers in bold and its intervals held back.
pub(super) fn emphasized(text: &str) -> Markup {
    let mut rest = text;
    let mut parts = Vec::new();
    while let Some(start) = rest.find('[') {
        let end = rest[start..].find(']').map_or(rest.len(), |end| start + end + 1);
        parts.push((&rest[..start], &rest[start..end]));
        rest = &rest[end..];
    }
    html! {
        @for (before, range) in parts {
            (bold_percents(before)) span.range { (set(range)) }
        }
        (bold_percents(rest))
    }
}

/// Every `-63 %` in bold.
fn bold_percents(text: &str) -> Markup {
    let mut rest = text;
    let mut parts = Vec::new();
    while let Some(end) = rest.find(" %") {
        let number = |letter: char| letter.is_ascii_digit() || "+-.".contains(letter);
        let start = rest[..end]
            .rfind(|letter| !number(letter))
            .map_or(0, |before| before + rest[before..].chars().next().map_or(1, char::len_utf8));
        parts.push((&rest[..start], &rest[start..end + 2]));
        rest = &rest[end + 2..];
    }
    html! {
        @for (before, number) in parts { (set(before)) span.number { (set(number)) } }
        (set(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_signs_and_units_are_set() {
        let set = |text| set(text).0;
        assert_eq!(set("ci-2: -63 % [-70, -55]"), "ci-2: −63\u{a0}% [−70, −55]");
        assert_eq!(set("12 µs, 5 runs, 3 ms."), "12\u{a0}µs, 5 runs, 3\u{a0}ms.");
        assert_eq!(set("<100 KB & \"more\""), "&lt;100\u{a0}KB &amp; &quot;more&quot;");
        assert_eq!(set("flows > 10 MB"), "flows &gt;\u{a0}10\u{a0}MB");
        assert_eq!(plain("<100 KB"), "<100\u{a0}KB");
    }

    #[test]
    fn code_is_left_as_it_is() {
        assert_eq!(with_code("run `a -5 <b>` now").0, "run <code>a -5 &lt;b&gt;</code> now");
    }

    #[test]
    fn the_answer_is_emphasized() {
        assert_eq!(
            emphasized("ci: mice -63 % [-70, -55], 0 to 3").0,
            "ci: mice <span class=\"number\">−63\u{a0}%</span> \
             <span class=\"range\">[−70, −55]</span>, 0 to 3"
        );
    }
}
