//! A sweep as text: for each metric that is shown a table of points and variants.

use super::{Paint, Style, padded, paint, width, wrapped};
use crate::study::Exhibit;
use crate::sweep::Sweep;

/// More metrics than this are printed only on request.
const METRICS: usize = 3;
/// More points than this are in the files only.
const MOST: usize = 60;

/// The metrics that are shown, at every point, and what to know about them.
pub fn sweep(sweep: &Sweep, style: Style) -> String {
    let mut text = String::new();
    for violation in &sweep.violations {
        text += &wrapped(&format!("VIOLATION: {violation}"), style.width, style, Paint::Red);
    }
    for sentence in sweep.answer() {
        text += &paragraph(&sentence, style, Paint::Bold);
    }
    text.push('\n');
    let legend = sweep.legend();
    for line in &legend {
        text += &paragraph(line, style, Paint::Dim);
    }
    if !legend.is_empty() {
        text.push('\n');
    }
    let sections = sweep.sections();
    let many = if sweep.shown.is_empty() { METRICS } else { sections.len() };
    for (section, metric) in sections.iter().zip(sweep.shown()).take(many) {
        let Some(Exhibit::Table { head, rows, .. }) = section.exhibits.last() else { continue };
        text += &paint(&section.question, Some(Paint::Bold), style);
        text.push('\n');
        let is_first = |column: &usize| sweep.variants.contains(&head[*column]);
        let starts: Vec<usize> = (sweep.axes.len()..head.len()).filter(is_first).collect();
        text += &blocks(head, rows, &starts, style);
        if let Some(why) = sweep.refusals(metric) {
            text += &paragraph(&why, style, Paint::Dim);
        }
        text.push('\n');
    }
    if sections.len() > many {
        let more = format!(
            "{} more metrics are in the page, and all in points.csv",
            sections.len() - many
        );
        text += &wrapped(&more, style.width, style, Paint::Dim);
    }
    if sweep.points.len() > MOST {
        text += &wrapped(
            &format!("{} more points are in points.csv", sweep.points.len() - MOST),
            style.width,
            style,
            Paint::Dim,
        );
    }
    for caveat in &sweep.caveats {
        text += &paragraph(&format!("note: {caveat}"), style, Paint::Dim);
    }
    text += &wrapped(
        &format!("fingerprint {}", sweep.provenance.fingerprint),
        style.width,
        style,
        Paint::Dim,
    );
    text
}

/// A sentence in lines, of which none ends within a number with its unit or its interval.
fn paragraph(sentence: &str, style: Style, color: Paint) -> String {
    const GLUE: char = '\u{a0}';
    let letters: Vec<char> = sentence.chars().filter(|letter| *letter != '`').collect();
    let (mut glued, mut within) = (String::new(), false);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map_or(' ', |at| letters[at]);
        let after = letters.get(at + 1).copied().unwrap_or(' ');
        within = *letter == '[' || within && *letter != ']';
        let joins =
            within || after == '[' || before.is_ascii_digit() && "%µnmskKBMG".contains(after);
        glued.push(if *letter == ' ' && joins { GLUE } else { *letter });
    }
    wrapped(&glued, style.width, style, color).replace(GLUE, " ")
}

/// As many columns side by side as there is room for, each as wide as its widest cell. Those before
/// the first of `starts` name the row and are repeated; a group of columns, from one of `starts` to the
/// next, stays together if it can.
fn blocks(head: &[String], rows: &[Vec<String>], starts: &[usize], style: Style) -> String {
    let rows = &rows[..rows.len().min(MOST)];
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| width(&row[column]));
        cells.chain([width(&head[column])]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let names = starts.first().copied().unwrap_or(0);
    let mut text = String::new();
    let mut next = names;
    while next < head.len() {
        let mut shown: Vec<usize> = (0..names).collect();
        let room = |shown: &[usize], more: usize| {
            let columns = shown.iter().copied().chain(next..more);
            let taken: usize = columns.map(|column| widths[column] + 2).sum();
            taken <= style.width + 2
        };
        // Whole groups, or else as many columns of the first as there is room for, and at least one.
        let ends = starts.iter().copied().chain([head.len()]).filter(|end| *end > next);
        let whole = ends.take_while(|end| room(&shown, *end)).last();
        let fits = (next + 1..=head.len()).take_while(|end| room(&shown, *end)).last();
        let end = whole.or(fits).unwrap_or(next + 1);
        shown.extend(next..end);
        next = end;
        if !text.is_empty() {
            text.push('\n');
        }
        let line = |cells: &[String]| {
            let cells = shown.iter().map(|column| padded(&cells[*column], widths[*column]));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        text += &paint(&line(head), Some(Paint::Dim), style);
        text.push('\n');
        for row in rows {
            text += &line(row);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_broken() {
        let style = Style { width: 40, ..Style::default() };
        // 40 columns would end within the interval, or between the number and its unit.
        assert_eq!(
            paragraph(
                "It is lowest at `size=1MB`: 132 µs [94, 184], the reference.",
                style,
                Paint::Dim
            ),
            "It is lowest at size=1MB:\n    132 µs [94, 184], the reference.\n"
        );
    }

    #[test]
    fn columns_that_do_not_fit_stand_below() {
        let texts = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let head: Vec<String> = texts(&["size", "a", "b", "b vs. a"]);
        let rows: Vec<Vec<String>> = vec![
            texts(&["1MB", "255 µs [137, 372]", "240 µs [132, 348]", "-5.2 % [-8.5, -1.7]"]),
            texts(&["2MB", "1.00 ms", "-", "none"]),
        ];
        // The name takes 6 columns, a and b 17 and two between: 42 in all, and 63 with the change. In
        // 62 b and its change go below, and in 30 every column has a block of its own.
        let wide = Style { width: 63, ..Style::default() };
        let narrow = Style { width: 62, ..wide };
        assert_eq!(
            blocks(&head, &rows, &[1, 2], wide),
            "size  a                  b                  b vs. a\n\
             1MB   255 µs [137, 372]  240 µs [132, 348]  -5.2 % [-8.5, -1.7]\n\
             2MB   1.00 ms            -                  none\n"
        );
        assert_eq!(
            blocks(&head, &rows, &[1, 2], narrow),
            "size  a\n\
             1MB   255 µs [137, 372]\n\
             2MB   1.00 ms\n\
             \n\
             size  b                  b vs. a\n\
             1MB   240 µs [132, 348]  -5.2 % [-8.5, -1.7]\n\
             2MB   -                  none\n"
        );
        let text = blocks(&head, &rows, &[1, 2], Style { width: 30, ..wide });
        assert_eq!(text.matches("size").count(), 3);
        assert!(text.lines().all(|line| line.chars().count() <= 30), "{text}");
    }
}
