//! The numbers of charts as comma-separated values: a row for each point, first what it belongs to
//! in words, then its numbers.

use floodway_machine::printable;

use super::Axis;

/// The points of a chart, or of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// What the words and the numbers of a row are.
    words: Vec<String>,
    numbers: Vec<String>,
    rows: Vec<(Vec<String>, Vec<Option<f64>>)>,
}

impl Data {
    /// Of rows that say this in words and this in numbers; no two names of numbers may be equal.
    pub(super) fn new(words: &[&str], numbers: Vec<String>) -> Self {
        let words = words.iter().map(|word| word.to_string()).collect();
        Self { words, numbers, rows: Vec::new() }
    }

    /// Adds a point. Numbers that are not finite are left empty.
    pub(super) fn push(&mut self, words: &[&str], numbers: &[Option<f64>]) {
        let numbers = numbers.iter().map(|number| number.filter(|number| number.is_finite()));
        self.rows.push((words.iter().map(|word| word.to_string()).collect(), numbers.collect()));
    }

    /// Several charts in one, each with its heading in a first column; one without a heading is as
    /// it is. Where axes differ, every axis has its column.
    pub fn of_charts(charts: Vec<(String, Self)>) -> Self {
        let mut charts = charts;
        if let [(heading, _)] = charts.as_slice()
            && heading.is_empty()
        {
            return charts.remove(0).1;
        }
        let mut all = Self::default();
        for (heading, chart) in charts {
            if all.words.is_empty() {
                all.words = ["chart".to_string()].into_iter().chain(chart.words).collect();
            }
            let places: Vec<usize> =
                chart.numbers.into_iter().map(|name| all.column(name)).collect();
            for (words, numbers) in chart.rows {
                let mut row = vec![None; all.numbers.len()];
                places.iter().zip(numbers).for_each(|(place, number)| row[*place] = number);
                let words = [heading.clone()].into_iter().chain(words).collect();
                all.rows.push((words, row));
            }
        }
        all
    }

    /// The place of a column of numbers, which is added if there is none of this name.
    fn column(&mut self, name: String) -> usize {
        if let Some(place) = self.numbers.iter().position(|other| *other == name) {
            return place;
        }
        self.numbers.push(name);
        for (_, numbers) in &mut self.rows {
            numbers.push(None);
        }
        self.numbers.len() - 1
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As RFC 4180 has it, with a line for the names and plain line feeds. Numbers have the shortest
    /// form that reads back to the same bits; what there is of no point has no column.
    pub fn csv(&self) -> String {
        let used = |column: &usize| self.rows.iter().any(|(_, of)| of[*column].is_some());
        let columns: Vec<usize> = (0..self.numbers.len()).filter(used).collect();
        let names = columns.iter().map(|at| cell(&self.numbers[*at]));
        let mut text = line(&self.words, names);
        for (words, numbers) in &self.rows {
            let numbers = columns.iter().map(|at| numbers[*at].map_or_else(String::new, number));
            text += &line(words, numbers);
        }
        text
    }
}

fn line(words: &[String], numbers: impl Iterator<Item = String>) -> String {
    let cells = words.iter().map(|word| cell(word)).chain(numbers);
    cells.collect::<Vec<_>>().join(",") + "\n"
}

/// What an axis measures, with its unit and without how it is drawn: `completion time [ns]`.
pub(super) fn name(axis: &Axis, otherwise: &str) -> String {
    let label = axis.label.split([',', ';']).next().unwrap_or("").trim();
    let what = match (axis.name.as_str(), label) {
        ("", "" | "logarithmic") => otherwise,
        ("", label) => label,
        (name, _) => name,
    };
    match axis.unit {
        "" => what.to_string(),
        unit => format!("{what} [{unit}]"),
    }
}

/// The names of two axes, which differ.
pub(super) fn names(x: &Axis, y: &Axis) -> Vec<String> {
    let names = [name(x, "x"), name(y, "y")];
    match names[0] == names[1] {
        true => ["x", "y"].map(String::from).into(),
        false => names.into(),
    }
}

/// Text on one line, with plain spaces.
pub(super) fn one_line(text: &str) -> String {
    printable::line(&text.replace(['\u{a0}', '\t', '\n', '\r'], " ")).into_owned()
}

/// The same in quotes where a comma or a quote inside would mislead a reader.
fn cell(text: &str) -> String {
    let text = one_line(text);
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-5..1e16).contains(&size) => format!("{value}"),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Data {
        let x = Axis::log("completion time, logarithmic", "ns");
        let y = Axis::linear("flows", "share");
        let names = names(&x, &y).into_iter().chain(["low".to_string()]).collect();
        let mut data = Data::new(&["series"], names);
        data.push(&["ci"], &[Some(0.1), Some(1e-7), None]);
        data.push(&["ci"], &[Some(1e21), Some(f64::NAN), None]);
        data.push(&["a \"b\", c\td"], &[Some(-2.5), Some(1.0), None]);
        data
    }

    #[test]
    fn a_point_is_a_row() {
        assert_eq!(
            points().csv(),
            "series,completion time [ns],flows [share]\n\
             ci,0.1,1e-7\n\
             ci,1e21,\n\
             \"a \"\"b\"\", c d\",-2.5,1\n",
            "nothing has a lower end"
        );
    }

    #[test]
    fn every_axis_of_several_charts_has_its_column() {
        let chart = |y: &str, value: f64| {
            let mut data = Data::new(&["series"], vec!["time [ns]".to_string(), y.to_string()]);
            data.push(&["ci"], &[Some(1.0), Some(value)]);
            data
        };
        let charts = vec![
            ("mice".to_string(), chart("mean [ns]", 2.0)),
            ("mice".to_string(), chart("most [ns]", 3.0)),
            (String::new(), chart("mean [ns]", 4.0)),
        ];
        let all = Data::of_charts(charts);
        assert_eq!(all.len(), 3);
        assert_eq!(
            all.csv(),
            "chart,series,time [ns],mean [ns],most [ns]\n\
             mice,ci,1,2,\n\
             mice,ci,1,,3\n\
             ,ci,1,4,\n"
        );
        let one = Data::of_charts(vec![(String::new(), points())]);
        assert_eq!(one, points(), "without a heading nothing is added");
    }

    #[test]
    fn axes_are_named_by_what_they_measure() {
        assert_eq!(name(&Axis::linear("change; left of 0 is sooner", "%"), "x"), "change [%]");
        assert_eq!(name(&Axis::log("logarithmic", "bytes"), "y"), "y [bytes]");
        let named = Axis::linear("from 0 to 80 Mb/s over the flows", "").called("rate in Mb/s");
        assert_eq!(name(&named, "y"), "rate in Mb/s");
        let same = Axis::linear("", "");
        assert_eq!(names(&same, &same), ["x", "y"]);
        let same = Axis::linear("time", "ns");
        assert_eq!(names(&same, &same), ["x", "y"], "two columns of one name would be read as one");
    }
}
