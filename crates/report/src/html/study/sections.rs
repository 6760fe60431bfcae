//! The evidence: a heading, an answer, and what it rests on, experiment by experiment.

use std::fmt::Write;

use super::super::r#type::{set, with_code};
use super::super::{Figure, Legend, slug};
use super::claims::mark;
use super::rich;
use crate::chart::{Lines, escape};
use crate::evidence::{
    file_stem, is_numeric, typeset_grid, typeset_heat, typeset_lines, typeset_rows,
};
use crate::study::{Exhibit, Section, Study};

/// More links than this are shown only to those who ask.
const LINKS: usize = 12;

/// The headings, with links.
pub(in super::super) fn contents(text: &mut String, heading: &str, sections: &[Section]) {
    if sections.is_empty() {
        return;
    }
    let _ = writeln!(text, "<h2>{}</h2>\n<ol class=\"contents\">", set(heading));
    for section in sections {
        let _ = writeln!(
            text,
            "<li><a href=\"#{}\">{}</a></li>",
            escape(&section.name),
            with_code(&section.question)
        );
    }
    *text += "</ol>\n";
}

/// A section; `bears` is what it bears on.
pub(in super::super) fn section(text: &mut String, bears: &str, number: usize, section: &Section) {
    let _ = write!(
        text,
        "<section id=\"{}\">\n<h2><span class=\"nth\">{number}</span><span>{}</span></h2>\n",
        escape(&section.name),
        with_code(&section.question)
    );
    if !section.answer.is_empty() {
        let _ = writeln!(text, "<p class=\"found\">{}</p>", rich(&section.answer));
    }
    *text += bears;
    for paragraph in &section.text {
        let _ = writeln!(text, "<p>{}</p>", with_code(paragraph));
    }
    for exhibit in &section.exhibits {
        shown(text, section, exhibit);
    }
    if !section.links.is_empty() {
        let link = |(label, path): &(String, String)| {
            format!("<a href=\"{}\">{}</a>", escape(path), set(label))
        };
        let links: Vec<String> = section.links.iter().map(link).collect();
        let (many, links) = (links.len(), links.join(" · "));
        let _ = match many > LINKS {
            true => writeln!(
                text,
                "<details class=\"small\"><summary>In detail: {many} experiments</summary>\
                 <p>{links}</p></details>"
            ),
            false => writeln!(text, "<p class=\"small\">In detail: {links}</p>"),
        };
    }
    if !section.commands.is_empty() {
        let _ = writeln!(
            text,
            "<details class=\"small\"><summary>Commands that run these experiments alone</summary><pre>{}</pre></details>",
            escape(&section.commands.join("\n"))
        );
    }
    *text += "</section>\n";
}

/// The claims that a section bears on, with their verdicts.
pub(super) fn bears_on(study: &Study, section: &Section) -> String {
    let links = section.claims.iter().filter_map(|id| {
        let claim = study.claims.iter().find(|of| of.id == *id)?;
        let id = escape(id);
        Some(format!(
            "<li><a href=\"#claim-{id}\" title=\"{}\">{id}{}</a></li>",
            claim.verdict.name(),
            mark(claim.verdict)
        ))
    });
    match links.collect::<String>() {
        links if links.is_empty() => links,
        links => format!("<ul class=\"bears\"><li>evidence for or against</li>{links}</ul>\n"),
    }
}

fn shown(text: &mut String, section: &Section, exhibit: &Exhibit) {
    let figure =
        |caption: &str, note: &str| Figure::new(slug(&name(section, exhibit)), caption).note(note);
    match exhibit {
        Exhibit::Rows { caption, chart, note, .. } => {
            *text += &figure(caption, note).rows(&typeset_rows(chart));
        }
        Exhibit::Lines { caption, legend, charts, columns, note, .. } => {
            let charts: Vec<Lines> = charts.iter().map(typeset_lines).collect();
            let figure = figure(caption, note).legend(Legend::samples(legend.clone()));
            *text += &figure.lines((*columns).clamp(1, 3), &charts);
        }
        Exhibit::Grid { caption, legend, chart, note, .. } => {
            let figure = figure(caption, note).legend(Legend::strokes(legend.clone()));
            *text += &figure.grid(&typeset_grid(chart));
        }
        Exhibit::HeatMap { caption, chart, note, .. } => {
            *text += &figure(caption, note).heat_map(&typeset_heat(chart));
        }
        Exhibit::Table { caption, head, rows, note, .. } => table(text, caption, head, rows, note),
    }
}

/// The name of a chart among all of the page, without the section's where it begins with that.
fn name(section: &Section, exhibit: &Exhibit) -> String {
    match exhibit.name().starts_with(&section.name) {
        true => exhibit.name().to_string(),
        false => file_stem(section, exhibit),
    }
}

/// A cell; the interval of a number stands below it, so that a table of many columns fits.
fn below(cell: &str, number: bool) -> String {
    match cell.split_once(" [").filter(|_| number) {
        Some((value, range)) => {
            format!("{}<span class=\"range\">{}</span>", set(value), set(&format!("[{range}")))
        }
        None => with_code(cell),
    }
}

fn table(text: &mut String, caption: &str, head: &[String], rows: &[Vec<String>], note: &str) {
    let class = |column: usize| match is_numeric(rows, column) {
        true => "",
        false => " class=\"text\"",
    };
    let _ = write!(
        text,
        "<figure>\n<figcaption>{}</figcaption>\n<div class=\"scroll\"><table class=\"exhibit\">\n\
         <thead><tr>",
        set(caption)
    );
    for (column, name) in head.iter().enumerate() {
        let _ = write!(text, "<th{}>{}</th>", class(column), set(name));
    }
    *text += "</tr></thead>\n<tbody>\n";
    for row in rows {
        *text += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let _ =
                write!(text, "<td{}>{}</td>", class(column), below(cell, is_numeric(rows, column)));
        }
        *text += "</tr>\n";
    }
    *text += "</tbody></table></div>";
    if !note.is_empty() {
        let _ = write!(text, "<p>{}</p>", set(note));
    }
    *text += "</figure>\n";
}
