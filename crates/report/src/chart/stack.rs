//! Bars that are divided into parts, in groups: what the whole consists of. The bars of a group have one
//! scale; groups have scales of their own, so that small and large wholes can stand below each other.

use super::data::Data;
use super::svg::Svg;

/// A bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// What it belongs to: a variant's name.
    pub label: String,
    /// Its parts from left to right, as many as the chart has names.
    pub parts: Vec<f64>,
    /// Its length in figures.
    pub figures: String,
    /// The parts in words, for a pointer resting on them.
    pub tooltips: Vec<String>,
}

/// The chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stacks {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// What the parts are called, and their unit.
    pub names: Vec<String>,
    /// The unit.
    pub unit: &'static str,
    /// The groups from top to bottom, with their headings.
    pub groups: Vec<(String, Vec<Stack>)>,
}

/// How many colors there are for parts.
pub const COLORS: usize = 8;

const ROW: f64 = 26.0;
const HEADING: f64 = 30.0;
/// A part this wide has its share in figures.
const ROOM: f64 = 34.0;

/// The class that gives a part its color.
pub fn color(part: usize) -> String {
    format!("k{}", part % COLORS)
}

/// The sample of a part in a legend.
pub fn swatch(part: usize) -> String {
    let mut svg = Svg::new(14.0, 12.0, "");
    svg.rect(0.0, 0.0, 14.0, 12.0, &color(part));
    svg.finish()
}

impl Stacks {
    /// The parts of each bar.
    pub fn data(&self) -> Data {
        let numbers = self.names.iter().map(|name| format!("{name} [{}]", self.unit));
        let mut data = Data::new(&["group", "series"], numbers.collect());
        for (group, stacks) in &self.groups {
            for stack in stacks {
                let parts: Vec<Option<f64>> = stack.parts.iter().copied().map(Some).collect();
                data.push(&[group, &stack.label], &parts);
            }
        }
        data
    }

    /// Draws it this wide.
    pub fn svg(&self, width: f64) -> String {
        let stacks = || self.groups.iter().flat_map(|(_, stacks)| stacks);
        let widest = |of: fn(&Stack) -> &str| {
            stacks().map(|stack| super::letters(of(stack)) + 12.0).fold(0.0, f64::max)
        };
        let left = widest(|stack| &stack.label).clamp(40.0, width * 0.26);
        let right = width - widest(|stack| &stack.figures);
        let height = self.groups.len() as f64 * HEADING + stacks().count() as f64 * ROW + 4.0;
        let mut svg = Svg::new(width, height, &self.title);
        let mut y = 0.0;
        for (heading, stacks) in &self.groups {
            svg.text(0.0, y + HEADING - 9.0, "start", "heading", heading);
            y += HEADING;
            let whole = |stack: &Stack| stack.parts.iter().sum::<f64>();
            let most = stacks.iter().map(whole).fold(0.0, f64::max);
            for stack in stacks {
                let room = ((left - 4.0) / 6.4) as usize;
                svg.text(0.0, y + 17.0, "start", "label", &shortened(&stack.label, room));
                let mut x = left;
                for (part, value) in stack.parts.iter().enumerate() {
                    let length = if most > 0.0 { (right - left) * value / most } else { 0.0 };
                    if length > 0.0 {
                        svg.open("", stack.tooltips.get(part).map_or("", String::as_str));
                        svg.rect(x, y + 3.0, length.max(0.4), ROW - 6.0, &color(part));
                        if length > ROOM {
                            let share = format!("{:.0} %", 100.0 * value / whole(stack));
                            let class = if part == 0 { "small" } else { "small over" };
                            svg.text(x + length / 2.0, y + 16.5, "middle", class, &share);
                        }
                        svg.close();
                    }
                    x += length;
                }
                svg.text(x + 8.0, y + 17.0, "start", "figure", &stack.figures);
                y += ROW;
            }
        }
        svg.finish()
    }
}

/// A text with so many letters at most.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Stacks {
        let stack = |label: &str, parts: [f64; 2]| Stack {
            label: label.to_owned(),
            parts: parts.to_vec(),
            figures: "5 µs".to_owned(),
            tooltips: vec![String::new(); 2],
        };
        Stacks {
            title: "Time".to_owned(),
            names: ["ideal", "paused"].map(String::from).to_vec(),
            unit: "ns",
            groups: vec![(
                "<100 KB".to_owned(),
                vec![stack("without", [1.0, 3.0]), stack("with", [1.0, 0.0])],
            )],
        }
    }

    #[test]
    fn bars_of_a_group_have_one_scale() {
        let svg = chart().svg(400.0);
        let lengths: Vec<f64> = svg
            .split("<rect")
            .skip(1)
            .map(|rect| {
                let from = rect.find(" width=\"").unwrap() + 8;
                rect[from..].split('"').next().unwrap().parse().unwrap()
            })
            .collect();
        // A part of zero is not drawn; the others are in proportion, to a tenth of a pixel.
        assert_eq!(lengths.len(), 3);
        assert!((lengths[1] - 3.0 * lengths[0]).abs() < 0.3, "{lengths:?}");
        assert_eq!(lengths[0], lengths[2]);
        assert!(svg.contains(">75 %<"));
    }

    #[test]
    fn its_data_has_a_row_for_each_bar() {
        assert_eq!(
            chart().data().csv(),
            "group,series,ideal [ns],paused [ns]\n<100 KB,without,1,3\n<100 KB,with,1,0\n"
        );
    }
}
