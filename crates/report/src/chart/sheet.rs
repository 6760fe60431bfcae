//! Charts in a file of their own: an SVG that brings its style with it. Where a page has
//! properties that the charts' colors come from, the file has the colors themselves, because
//! drawing programs and typesetters do not know properties; light and dark still follow the
//! reader's setting where there is one. It stands on a card, so that it can be read whatever is
//! behind it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::stack::swatch;
use super::svg::{Svg, escape, short};
use super::{LOOKS, STYLE, sample, stroke};

/// Charts side by side, with what a page would write above them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What they show; may be empty.
    pub caption: String,
    /// What each series is, by its look; may be empty.
    pub legend: Vec<(usize, String)>,
    /// Whether series have neither markers nor dashes, as in the cells of a grid.
    pub strokes: bool,
    /// Whether they are the parts of bars.
    pub parts: bool,
    /// The charts as drawn.
    pub charts: Vec<String>,
    /// How many stand in a row.
    pub columns: usize,
    /// How it is set in a paper; none of a picture that stands alone.
    pub paper: Option<Paper>,
}

/// How a picture is set in a paper: without card and caption, in black on nothing, in the size that it has
/// in print.
#[derive(Clone, Debug, PartialEq)]
pub struct Paper {
    /// How wide it is, in millimeters: 88 is a column of two, 180 both.
    pub width_mm: f64,
    /// The size of its text, in points.
    pub points: f64,
    /// Its font, as CSS names it.
    pub font: String,
}

impl Default for Paper {
    /// A column, 8 points, without serifs.
    fn default() -> Self {
        Self { width_mm: 88.0, points: 8.0, font: "Helvetica, Arial, sans-serif".to_string() }
    }
}

impl Paper {
    /// How wide a chart is drawn, in its pixels, of which 12 are the size of its text.
    pub fn pixels(&self) -> f64 {
        self.width_mm * TEXT / (self.points * MM_PER_POINT)
    }
}

/// The size of a chart's text, in pixels.
const TEXT: f64 = 12.0;
/// An inch has 25.4 mm and 72 points (CSS Values and Units Level 3, section 5.2).
const MM_PER_POINT: f64 = 25.4 / 72.0;
/// Around what stands in a paper: no label that reaches beyond its axis is cut off.
const EDGE: f64 = 10.0;

/// Around everything.
const PAD: f64 = 20.0;
/// Between charts.
const GAP: f64 = 20.0;
/// What a line of the caption and a row of the legend take.
const LINE: f64 = 21.0;

/// A drawn chart as a file.
pub fn standalone(chart: &str) -> String {
    Sheet { charts: vec![chart.to_string()], columns: 1, ..Sheet::default() }.svg()
}

impl Sheet {
    /// The file.
    pub fn svg(&self) -> String {
        let sizes: Vec<(f64, f64)> = self.charts.iter().map(|chart| size(chart)).collect();
        let cell = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
        let columns = self.columns.clamp(1, self.charts.len().max(1));
        let inner = cell * columns as f64 + GAP * (columns - 1) as f64;

        let mut body = Svg::part();
        let pad = if self.paper.is_some() { EDGE } else { PAD };
        let mut y = pad;
        if self.paper.is_none() && !self.caption.is_empty() {
            // Bold text of 14 pixels takes 8.4 a letter in the widest of the fonts.
            for line in lines(&self.caption, (inner / 8.4) as usize) {
                body.text(pad, y + 13.0, "start", "caption", &line);
                y += LINE;
            }
            y += 3.0;
        }
        let mut x = pad;
        for (series, label) in &self.legend {
            let width = 37.0 + label.chars().count() as f64 * 7.4;
            if x > pad && x + width > pad + inner {
                (x, y) = (pad, y + LINE);
            }
            let sample = match (self.strokes, self.parts) {
                (true, _) => stroke(*series),
                (_, true) => swatch(*series),
                _ => sample(*series),
            };
            body.place(&sample, x, y + 2.0);
            body.text(x + 37.0, y + 12.0, "start", "label", label);
            x += width + 22.0;
        }
        if !self.legend.is_empty() {
            y += LINE + 4.0;
        }
        for (charts, sizes) in self.charts.chunks(columns).zip(sizes.chunks(columns)) {
            for (at, chart) in charts.iter().enumerate() {
                body.place(chart, pad + at as f64 * (cell + GAP), y);
            }
            y += sizes.iter().map(|size| size.1).fold(0.0, f64::max) + GAP;
        }
        let (width, height) = (inner + 2.0 * pad, y - GAP + pad);
        let (printed, card) = match &self.paper {
            None => (
                [width, height].map(short),
                format!(
                    "\n<rect class=\"card\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
                    short(width),
                    short(height)
                ),
            ),
            Some(paper) => {
                let mm = |pixels: f64| format!("{:.2}mm", pixels * paper.width_mm / width);
                ([width, height].map(mm), String::new())
            }
        };
        let ([across, down], [width, height]) = (printed, [width, height].map(short));
        let title = escape(&self.caption);
        let named = match title.is_empty() {
            true => String::from(">"),
            false => format!(" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>"),
        };
        // Turned by an attribute, which all readers of SVG know.
        let body = body.body().replace("<g class=\"upright\">", "<g transform=\"rotate(-90)\">");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{across}\" height=\"{down}\"{named}\n<style>\n{}</style>{card}\n{body}</svg>\n",
            self.paper.as_ref().map_or_else(style, print)
        )
    }
}

/// The width and the height that a chart says it has.
fn size(chart: &str) -> (f64, f64) {
    let value = |name: &str| {
        let start = chart.find(name)? + name.len();
        chart[start..].split('"').next()?.parse().ok()
    };
    (value(" width=\"").unwrap_or(0.0), value(" height=\"").unwrap_or(0.0))
}

/// A text in lines of at most so many letters, where its words allow it.
fn lines(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// The style of a file for print: the light colors, and the font of the paper.
fn print(paper: &Paper) -> String {
    let (properties, rules) = STYLE.split_once("*/").expect("a comment stands before the rules");
    let (light, _) = properties.split_once("@media").expect("light stands before dark");
    let mut light = declared(light);
    // Text and what is next to it stand on the paper, which is white.
    light.extend([("--page", "#fff"), ("--ink", "#000"), ("--muted", "#000")]);
    let mut text = format!("svg {{ font-family: {}; overflow: visible; }}\n", escape(&paper.font));
    for rule in rules.lines().filter(|rule| !rule.is_empty() && !rule.contains("upright")) {
        resolve(rule, &light, &mut text);
    }
    text
}

/// The style of a file: the charts' rules with colors in the place of properties, light first, then
/// dark.
pub fn style() -> String {
    let (properties, rules) = STYLE.split_once("*/").expect("a comment stands before the rules");
    let (light, dark) = properties.split_once("@media").expect("light stands before dark");
    let (light, dark) = (declared(light), declared(dark));
    let mut text = String::from(
        "svg { font-family: system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", \
         Arial, \"Liberation Sans\", sans-serif; font-variant-numeric: tabular-nums; overflow: \
         visible; }\n",
    );
    let rules: Vec<&str> =
        ["svg .card { fill: var(--page); }", "svg .caption { font-size: 14px; font-weight: 600; }"]
            .into_iter()
            .chain(rules.lines().filter(|rule| !rule.is_empty() && !rule.contains("upright")))
            .collect();
    for rule in &rules {
        resolve(rule, &light, &mut text);
    }
    text += "@media screen and (prefers-color-scheme: dark) {\n";
    for rule in rules.iter().filter(|rule| rule.contains("var(")) {
        resolve(rule, &dark, &mut text);
    }
    text + "}\n"
}

/// The properties that a block declares, with their values.
fn declared(block: &str) -> BTreeMap<&str, &str> {
    let declarations = block.split([';', '{', '}']).filter_map(|part| part.split_once(':'));
    let declarations = declarations.map(|(name, value)| (name.trim(), value.trim()));
    declarations.filter(|(name, _)| name.starts_with("--")).collect()
}

/// A rule with the values of its properties; one in a series' color becomes one for each look.
fn resolve(rule: &str, values: &BTreeMap<&str, &str>, text: &mut String) {
    if rule.contains("var(--c)") {
        for look in 0..LOOKS {
            let rule = rule.replacen("svg .", &format!("svg .c{look} ."), 1);
            resolve(&rule.replace("var(--c)", &format!("var(--s{look})")), values, text);
        }
        return;
    }
    let resolved = values
        .iter()
        .fold(rule.to_string(), |rule, (name, value)| rule.replace(&format!("var({name})"), value));
    let _ = writeln!(text, "{resolved}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_colors_and_no_properties() {
        let style = style();
        assert!(!style.contains("var(") && !style.contains("--"), "{style}");
        assert!(style.contains("svg .c1 .line { fill: none; stroke: #0067a8; "));
        let (light, dark) = style.split_once("@media").unwrap();
        assert!(light.contains("svg text { font-size: 12px; fill: #1d2024; }"));
        assert!(dark.contains("svg text { font-size: 12px; fill: #e4e6e8; }"));
        assert!(dark.contains("svg .c2 .bar { fill: #f59459; opacity: .82; }"));
        assert!(!dark.contains("stroke-dasharray: 14 4"), "what has no color is said once");
        // Dark repeats the looks' lines; those of cells stay thin because their rule says more.
        assert!(dark.contains("svg .c1 .line { ") && light.contains("svg .cells g .line { "));
    }

    #[test]
    fn a_chart_stands_on_its_card() {
        let file = standalone("<svg viewBox=\"0 0 100 50\" width=\"100\" height=\"50\"></svg>\n");
        let head = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 140 90\" \
                    width=\"140\" height=\"90\">\n<style>";
        assert!(file.starts_with(head), "{file}");
        assert!(file.ends_with(
            "<rect class=\"card\" width=\"140\" height=\"90\" rx=\"8\"/>\n\
             <svg x=\"20\" y=\"20\" viewBox=\"0 0 100 50\" width=\"100\" height=\"50\"></svg>\n</svg>\n"
        ));
    }

    #[test]
    fn in_a_paper_a_picture_has_its_size_and_no_card() {
        let chart = "<svg viewBox=\"0 0 374 200\" width=\"374\" height=\"200\"></svg>\n";
        let paper = Paper { font: "Times, serif".to_string(), ..Paper::default() };
        // 88 mm are 249.4 points, in which 8 points stand 31.18 times; a chart has 12 pixels for each.
        assert!((paper.pixels() - 374.17).abs() < 0.01, "{}", paper.pixels());
        let sheet = Sheet {
            caption: "a".to_string(),
            charts: vec![chart.to_string()],
            columns: 1,
            paper: Some(paper),
            ..Sheet::default()
        };
        let file = sheet.svg();
        assert!(
            file.contains("viewBox=\"0 0 394 220\" width=\"88.00mm\" height=\"49.14mm\""),
            "{file}"
        );
        assert!(file.contains("svg { font-family: Times, serif;") && !file.contains("@media"));
        assert!(!file.contains("class=\"card\"") && !file.contains("class=\"caption\""));
    }

    #[test]
    fn charts_stand_in_rows_below_caption_and_legend() {
        let chart = "<svg viewBox=\"0 0 370 200\" width=\"370\" height=\"200\"></svg>\n";
        let sheet = Sheet {
            caption: "a < b".to_string(),
            legend: vec![(0, "one".to_string()), (1, "two".to_string())],
            charts: vec![chart.to_string(); 3],
            columns: 2,
            ..Sheet::default()
        };
        let file = sheet.svg();
        // 20 + 2 × 370 + 20 between + 20; 20 + caption 24 + legend 25 + two rows with 20 between + 20.
        assert!(file.contains("width=\"800\" height=\"509\" role=\"img\" aria-label=\"a &lt; b\""));
        for place in ["x=\"20\" y=\"69\"", "x=\"410\" y=\"69\"", "x=\"20\" y=\"289\""] {
            assert!(file.contains(&format!("<svg {place} viewBox=\"0 0 370")), "{place} in {file}");
        }
        assert_eq!(lines("to be or not to be", 8), ["to be or", "not to", "be"]);
    }
}
