//! The evidence: a heading, an answer, and what it rests on, experiment by experiment.

use maud::{Markup, html};

use super::super::r#type::{raw, rich, set, with_code};
use super::super::{Drawn, Figure, Legend, slug};
use super::claims::mark;
use crate::chart::Lines;
use crate::evidence::{
    file_stem, is_numeric, typeset_grid, typeset_heat, typeset_lines, typeset_rows,
};
use crate::study::{Exhibit, Section, Study};

/// More links than this are shown only to those who ask.
const LINKS: usize = 12;

/// A section; `bears` is what it bears on.
pub(in super::super) fn section(bears: Markup, number: usize, section: &Section) -> Markup {
    let links = || {
        html! {
            @for (at, (label, path)) in section.links.iter().enumerate() {
                @if at > 0 { " · " }
                a href=(path) { (set(label)) }
            }
        }
    };
    html! {
        section id=(section.name) {
            h2 {
                span.nth { (number) } span { (with_code(&section.question)) }
                a.anchor href={ "#" (section.name) } aria-label="Link to this section" { "#" }
            }
            @if !section.answer.is_empty() { p.found { (rich(&section.answer)) } }
            (bears)
            @for paragraph in &section.text { p { (with_code(paragraph)) } }
            @for exhibit in &section.exhibits { (shown(section, exhibit)) }
            @match section.links.len() {
                0 => {},
                many if many > LINKS => {
                    details.small { summary { "In detail: " (many) " experiments" } p { (links()) } }
                },
                _ => p.small { "In detail: " (links()) },
            }
            @if !section.commands.is_empty() {
                details.small {
                    summary { "Commands that run these experiments alone" }
                    pre { (raw(&section.commands.join("\n"))) }
                }
            }
        }
    }
}

/// The claims that a section bears on, with their verdicts.
pub(super) fn bears_on(study: &Study, section: &Section) -> Markup {
    let claims = section.claims.iter().filter_map(|id| study.claims.iter().find(|of| of.id == *id));
    let claims: Vec<_> = claims.collect();
    html! {
        @if !claims.is_empty() {
            ul.bears {
                li { "evidence for or against" }
                @for claim in claims {
                    li {
                        a href={ "#claim-" (claim.id) } title=(claim.verdict.name()) {
                            (raw(&claim.id)) (mark(claim.verdict))
                        }
                    }
                }
            }
        }
    }
}

fn shown(section: &Section, exhibit: &Exhibit) -> Markup {
    match (drawn(section, exhibit), exhibit) {
        (Some(figure), _) => figure.html(),
        (None, Exhibit::Table { caption, head, rows, note, .. }) => {
            table(caption, head, rows, note)
        }
        (None, _) => html! {},
    }
}

/// A chart of a section; none of a table.
pub fn drawn(section: &Section, exhibit: &Exhibit) -> Option<Drawn> {
    let figure =
        |caption: &str, note: &str| Figure::new(slug(&name(section, exhibit)), caption).note(note);
    Some(match exhibit {
        Exhibit::Rows { caption, chart, note, .. } => {
            figure(caption, note).rows(typeset_rows(chart))
        }
        Exhibit::Lines { caption, legend, charts, columns, note, .. } => {
            let charts: Vec<Lines> = charts.iter().map(typeset_lines).collect();
            let figure = figure(caption, note).legend(Legend::samples(legend.clone()));
            figure.lines((*columns).clamp(1, 3), charts)
        }
        Exhibit::Grid { caption, legend, chart, note, .. } => {
            let figure = figure(caption, note).legend(Legend::strokes(legend.clone()));
            figure.grid(typeset_grid(chart))
        }
        Exhibit::HeatMap { caption, chart, note, .. } => {
            figure(caption, note).heat_map(typeset_heat(chart))
        }
        Exhibit::Table { .. } => return None,
    })
}

/// The name of a chart among all of the page, without the section's where it begins with that.
fn name(section: &Section, exhibit: &Exhibit) -> String {
    match exhibit.name().starts_with(&section.name) {
        true => exhibit.name().to_string(),
        false => file_stem(section, exhibit),
    }
}

/// A cell; the interval of a number stands below it, so that a table of many columns fits.
fn below(cell: &str, number: bool) -> Markup {
    match cell.split_once(" [").filter(|_| number) {
        Some((value, range)) => html! { (set(value)) span.range { (set(&format!("[{range}"))) } },
        None => with_code(cell),
    }
}

fn table(caption: &str, head: &[String], rows: &[Vec<String>], note: &str) -> Markup {
    let number = |column: usize| is_numeric(rows, column);
    html! {
        figure {
            figcaption { (set(caption)) }
            div.scroll {
                table.exhibit {
                    thead {
                        tr { @for (at, name) in head.iter().enumerate() { th.text[!number(at)] { (set(name)) } } }
                    }
                    tbody {
                        @for row in rows {
                            tr {
                                @for (at, cell) in row.iter().enumerate() {
                                    td.text[!number(at)] { (below(cell, number(at))) }
                                }
                            }
                        }
                    }
                }
            }
            @if !note.is_empty() { p { (set(note)) } }
        }
    }
}
