//! Sections of a page: what a reader looks for by its heading, in the list of contents or by its
//! anchor.

use maud::{Markup, html};

use super::figure::Drawn;
use super::r#type::{set, with_code};

/// A section with its figures and what stands between them.
pub struct Section {
    id: String,
    heading: String,
    parts: Vec<Part>,
    folded: bool,
}

enum Part {
    Text(Markup),
    Figure(Box<Drawn>),
}

impl Section {
    /// An empty one; its `id` is fit for an anchor and the only one of the page.
    pub fn new(id: &str, heading: &str) -> Self {
        let (id, heading) = (id.to_owned(), heading.to_owned());
        Self { id, heading, parts: Vec::new(), folded: false }
    }

    /// What it is known by.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What the list of contents has of it.
    pub fn entry(&self) -> (&str, &str, bool) {
        (&self.id, &self.heading, self.folded)
    }

    /// The same, shown only to those who ask.
    pub fn folded(self) -> Self {
        Self { folded: true, ..self }
    }

    /// Adds text.
    pub fn text(&mut self, text: Markup) {
        self.parts.push(Part::Text(text));
    }

    /// Adds a figure.
    pub fn figure(&mut self, figure: Drawn) {
        self.parts.push(Part::Figure(Box::new(figure)));
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its figures, to be changed.
    pub fn figures_mut(&mut self) -> impl Iterator<Item = &mut Drawn> {
        self.parts.iter_mut().filter_map(|part| match part {
            Part::Figure(figure) => Some(&mut **figure),
            Part::Text(_) => None,
        })
    }

    /// Its figures, without the rest.
    pub fn into_figures(self) -> Vec<Drawn> {
        let figure = |part| match part {
            Part::Figure(figure) => Some(*figure),
            Part::Text(_) => None,
        };
        self.parts.into_iter().filter_map(figure).collect()
    }

    /// On a page.
    pub fn html(&self) -> Markup {
        let heading = html! {
            h2 { (set(&self.heading)) a.anchor href={ "#" (self.id) } aria-label="Link to this section" { "#" } }
        };
        let body = html! {
            @for part in &self.parts {
                @match part {
                    Part::Text(text) => (text),
                    Part::Figure(figure) => (figure.html()),
                }
            }
        };
        html! {
            section id=(self.id) {
                @if self.folded {
                    details { summary { (heading) } (body) }
                } @else {
                    (heading) (body)
                }
            }
        }
    }
}

/// The list of contents, which stays in view where there is room beside the page: of each section its
/// anchor, its heading, and whether it is folded.
pub fn contents<'a>(sections: impl Iterator<Item = (&'a str, &'a str, bool)>) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            details open {
                summary { "Contents" }
                ol {
                    @for (id, heading, folded) in sections {
                        li.folded[folded] { a href={ "#" (id) } { (with_code(heading)) } }
                    }
                }
            }
        }
    }
}
