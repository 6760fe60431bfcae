//! A sweep as text: for each metric that is shown a table of points and variants.

use super::{Paint, Style, padded, paint, width, wrapped};
use crate::study::Exhibit;
use crate::sweep::Sweep;

/// More metrics than this are told only if they are asked for.
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
        text += &wrapped(&sentence.replace('`', ""), style.width, style, Paint::Bold);
    }
    text.push('\n');
    let sections = sweep.sections();
    let many = if sweep.shown.is_empty() { METRICS } else { sections.len() };
    for section in sections.iter().take(many) {
        let Some(Exhibit::Table { head, rows, .. }) = section.exhibits.last() else { continue };
        text += &paint(&section.question, Some(Paint::Bold), style);
        text.push('\n');
        text += &block(head, rows, style);
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
        text += &wrapped(&format!("note: {caveat}"), style.width, style, Paint::Dim);
    }
    text += &wrapped(
        &format!("fingerprint {}", sweep.provenance.fingerprint),
        style.width,
        style,
        Paint::Dim,
    );
    text
}

/// Columns as wide as their widest cell.
fn block(head: &[String], rows: &[Vec<String>], style: Style) -> String {
    let rows = &rows[..rows.len().min(MOST)];
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| width(&row[column]));
        cells.chain([width(&head[column])]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| padded(cell, *width));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = paint(&line(head), Some(Paint::Dim), style);
    text.push('\n');
    for row in rows {
        text += &line(row);
        text.push('\n');
    }
    text
}
