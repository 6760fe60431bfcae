//! SVG, element by element.

use std::fmt::Write;

use floodway_machine::printable;

/// Text with the characters replaced that mean something in markup, and control characters written
/// out: they are not allowed in markup, and bidirectional ones would reorder what a page says.
pub(crate) fn escape(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    printable::text(&text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A coordinate with a tenth of a pixel, in as few characters as can be: pages hold thousands.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_string(),
        Some(whole) => whole.to_string(),
        None => text,
    }
}

/// A picture in the making.
pub(super) struct Svg {
    text: String,
}

impl Svg {
    /// Of this size; `title` tells those who cannot see it what it shows, and nothing if empty,
    /// for pictures that only repeat what stands beside them.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let (w, h) = (short(width), short(height));
        let mut text = format!("<svg viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\"");
        if title.is_empty() {
            text += " aria-hidden=\"true\">";
        } else {
            let title = escape(title);
            let _ = write!(text, " role=\"img\" aria-label=\"{title}\"><title>{title}</title>");
        }
        Self { text }
    }

    /// What stands inside another picture's markup, without an element around it.
    pub fn part() -> Self {
        Self { text: String::new() }
    }

    /// Says more about the picture, for those who cannot see it; stands first in it.
    pub fn describe(&mut self, text: &str) {
        let _ = write!(self.text, "<desc>{}</desc>", escape(text));
    }

    /// A whole picture at this place.
    pub fn place(&mut self, picture: &str, x: f64, y: f64) {
        let place = format!("<svg x=\"{}\" y=\"{}\" ", short(x), short(y));
        self.text += &picture.replacen("<svg ", &place, 1);
    }

    /// What [`Svg::part`] began.
    pub fn body(self) -> String {
        self.text
    }

    /// Opens a group with a class, and a text that a pointer resting on it brings up.
    pub fn open(&mut self, class: &str, tooltip: &str) {
        self.group(&format!("class=\"{class}\""), tooltip);
    }

    /// Opens a group in which a pixel has so many units, from this place on.
    pub fn fine(&mut self, x: f64, y: f64, units: f64, tooltip: &str) {
        let ([x, y], scale) = ([x, y].map(short), 1.0 / units);
        self.group(&format!("transform=\"translate({x} {y})scale({scale})\""), tooltip);
    }

    /// Opens a group whose strokes are so wide.
    pub fn stroked(&mut self, class: &str, width: f64, tooltip: &str) {
        self.group(&format!("class=\"{class}\" stroke-width=\"{}\"", short(width)), tooltip);
    }

    fn group(&mut self, attribute: &str, tooltip: &str) {
        let _ = write!(self.text, "<g {attribute}>");
        if !tooltip.is_empty() {
            let _ = write!(self.text, "<title>{}</title>", escape(tooltip));
        }
    }

    /// Closes a group.
    pub fn close(&mut self) {
        self.text += "</g>";
    }

    pub fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(short);
        let _ = write!(
            self.text,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        );
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height].map(short);
        let _ = write!(
            self.text,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }

    /// A path of this data: `M0 0H5`.
    pub fn path(&mut self, data: &str, class: &str) {
        let _ = write!(self.text, "<path class=\"{class}\" d=\"{data}\"/>");
    }

    /// Text whose `anchor` (`start`, `middle`, `end`) lies at this place.
    pub fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let [x, y] = [x, y].map(short);
        let _ = write!(
            self.text,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            escape(text)
        );
    }

    /// A diamond around this place, `r` from its middle to a corner.
    pub fn diamond(&mut self, x: f64, y: f64, r: f64, class: &str) {
        let [left, right, top, bottom] = [x - r, x + r, y - r, y + r].map(short);
        let [x, y] = [x, y].map(short);
        self.path(&format!("M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z"), class);
    }

    /// The marker of a series around this place.
    pub fn marker(&mut self, series: usize, x: f64, y: f64, r: f64) {
        let at = |dx: f64, dy: f64| format!("{} {}", short(x + dx * r), short(y + dy * r));
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> = corners.iter().map(|(dx, dy)| at(*dx, *dy)).collect();
            format!("M{}Z", corners.join("L"))
        };
        let data = match series % super::LOOKS {
            0 => {
                let r = short(r);
                format!("M{}a{r} {r} 0 1 0 0.01 0Z", at(0.0, -1.0))
            }
            1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            3 => polygon(&[(0.0, -1.15), (1.1, 0.9), (-1.1, 0.9)]),
            4 => polygon(&[(0.0, 1.15), (1.1, -0.9), (-1.1, -0.9)]),
            _ => polygon(&[
                (-0.4, -1.1),
                (0.4, -1.1),
                (0.4, -0.4),
                (1.1, -0.4),
                (1.1, 0.4),
                (0.4, 0.4),
                (0.4, 1.1),
                (-0.4, 1.1),
                (-0.4, 0.4),
                (-1.1, 0.4),
                (-1.1, -0.4),
                (-0.4, -0.4),
            ]),
        };
        self.path(&data, "marker");
    }

    /// The picture.
    pub fn finish(mut self) -> String {
        self.text += "</svg>\n";
        self.text
    }
}
