//! Text set in type.

use crate::chart::escape;

/// The units before which no line may break.
const UNITS: [&str; 14] = [
    "%", "ns", "µs", "ms", "s", "B", "KB", "MB", "GB", "Gb/s", "Mb/s", "million", "billion",
    "trillion",
];

/// A text as the page shows it: real minus signs, and no break between a number and its unit or
/// what stands before it: `< 100 KB`.
/// What means something in markup is escaped.
pub(super) fn set(text: &str) -> String {
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
    escape(&out)
}

/// The same for text with `code` in backquotes.
pub(super) fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => set(part),
        _ => format!("<code>{}</code>", escape(part)),
    });
    parts.collect()
}

/// The same as a tooltip or a label of a chart, which escapes by itself.
pub(crate) fn plain(text: &str) -> String {
    set(text)
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

/// A sentence of the answer with its numbers in bold and its intervals held back.
pub(super) fn emphasised(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let end = rest[start..].find(']').map_or(rest.len(), |end| start + end + 1);
        out += &bold_percents(&rest[..start]);
        out += &format!("<span class=\"range\">{}</span>", set(&rest[start..end]));
        rest = &rest[end..];
    }
    out + &bold_percents(rest)
}

/// Every `-63 %` in bold.
fn bold_percents(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(end) = rest.find(" %") {
        let number = |letter: char| letter.is_ascii_digit() || "+-.".contains(letter);
        let start = rest[..end]
            .rfind(|letter| !number(letter))
            .map_or(0, |before| before + rest[before..].chars().next().map_or(1, char::len_utf8));
        out += &set(&rest[..start]);
        out += &format!("<span class=\"number\">{}</span>", set(&rest[start..end + 2]));
        rest = &rest[end + 2..];
    }
    out + &set(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_signs_and_units_are_set() {
        assert_eq!(set("ci-2: -63 % [-70, -55]"), "ci-2: −63\u{a0}% [−70, −55]");
        assert_eq!(set("12 µs, 5 runs, 3 ms."), "12\u{a0}µs, 5 runs, 3\u{a0}ms.");
        assert_eq!(set("<100 KB & \"more\""), "&lt;100\u{a0}KB &amp; &quot;more&quot;");
        assert_eq!(set("flows > 10 MB"), "flows &gt;\u{a0}10\u{a0}MB");
        assert_eq!(plain("<100 KB"), "<100\u{a0}KB");
    }

    #[test]
    fn code_is_left_as_it_is() {
        assert_eq!(with_code("run `a -5 <b>` now"), "run <code>a -5 &lt;b&gt;</code> now");
    }

    #[test]
    fn the_answer_is_emphasised() {
        assert_eq!(
            emphasised("ci: mice -63 % [-70, -55], 0 to 3"),
            "ci: mice <span class=\"number\">−63\u{a0}%</span> \
             <span class=\"range\">[−70, −55]</span>, 0 to 3"
        );
    }
}
