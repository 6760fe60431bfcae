//! Charts as specifications of Vega-Lite 5, with their numbers in them: for those who want to go on with a
//! chart in an editor, a notebook or a page of their own.

use serde_json::{Map, Value, json};

use super::stack::Stacks;
use super::{Axis, Line, Lines, Mark, Names, Rows, called};

/// The version that they are written in.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";

/// Several charts as one specification, so many in a row; none if there are none.
pub fn page(caption: &str, columns: usize, charts: Vec<Value>) -> Option<Value> {
    let mut charts = charts;
    let mut spec = match charts.len() {
        0 => return None,
        1 => charts.remove(0),
        _ => json!({ "concat": charts, "columns": columns.max(1) }),
    };
    let of = spec.as_object_mut().expect("a chart is an object");
    let heading = of.remove("title");
    let title = match heading {
        Some(heading) => json!({ "text": caption, "subtitle": heading }),
        None => json!(caption),
    };
    of.insert("$schema".to_owned(), json!(SCHEMA));
    of.insert("title".to_owned(), title);
    Some(spec)
}

/// An axis as a channel that shows a field.
fn channel(axis: &Axis, field: &str) -> Map<String, Value> {
    let label = axis.label.split([',', ';']).next().unwrap_or("").trim();
    let title = match axis.unit {
        "" => label.to_owned(),
        unit => format!("{label} [{unit}]"),
    };
    let mut scale = Map::new();
    if axis.log {
        scale.insert("type".to_owned(), json!("log"));
    }
    if let Some((low, high)) = axis.limits {
        scale.insert("domain".to_owned(), json!([low, high]));
        scale.insert("nice".to_owned(), json!(false));
    }
    let spec = json!({ "field": field, "type": "quantitative", "title": title, "scale": scale });
    spec.as_object().expect("an object").clone()
}

/// The end of an interval on a channel, and nothing else of it.
fn end(field: &str) -> Value {
    json!({ "field": field })
}

impl Lines {
    /// The chart; `legend` is what its series are called.
    pub fn vega(&self, legend: &Names) -> Value {
        let mut layers = Vec::new();
        let names = called(&self.lines, legend);
        let mut intervals = Vec::new();
        let mut kinds: Vec<(Value, Vec<Value>)> = Vec::new();
        for (line, name) in self.lines.iter().zip(&names) {
            let point = |(x, y): &(f64, f64)| json!({ "series": name, "x": x, "y": y });
            let points = line.points.iter().map(point);
            let mark = mark(line);
            match kinds.iter_mut().find(|(known, _)| *known == mark) {
                Some((_, values)) => values.extend(points),
                None => kinds.push((mark, points.collect())),
            }
            let interval = |(x, low, high): &(f64, f64, f64)| json!({ "series": name, "x": x, "low": low, "high": high });
            intervals.extend(line.intervals.iter().map(interval));
        }
        let color = json!({ "field": "series", "type": "nominal", "title": null, "sort": names });
        for (mark, values) in kinds {
            let mut encoding = json!({
                "x": channel(&self.x, "x"), "y": channel(&self.y, "y"), "color": color,
            });
            if mark["type"] == "line" {
                encoding["strokeDash"] = color.clone();
            }
            layers
                .push(json!({ "data": { "values": values }, "mark": mark, "encoding": encoding }));
        }
        if !intervals.is_empty() {
            layers.push(json!({
                "data": { "values": intervals },
                "mark": "rule",
                "encoding": {
                    "x": channel(&self.x, "x"), "y": channel(&self.y, "low"), "y2": end("high"), "color": color,
                },
            }));
        }
        let mut spec = json!({ "width": 320, "height": self.height, "layer": layers });
        if !self.heading.is_empty() {
            spec["title"] = json!(self.heading);
        }
        spec
    }
}

/// How a line is drawn.
fn mark(line: &Line) -> Value {
    match () {
        () if line.scatter => json!({ "type": "point", "filled": true }),
        () if line.area => json!({ "type": "area", "opacity": 0.3 }),
        () if line.steps => json!({ "type": "line", "interpolate": "step-after" }),
        () if line.markers => json!({ "type": "line", "point": true }),
        () => json!({ "type": "line" }),
    }
}

impl Rows {
    /// The chart.
    pub fn vega(&self) -> Value {
        let rows = self.groups.iter().flat_map(|group| {
            group.rows.iter().map(|row| {
                let (low, high) = row.interval.unzip();
                json!({
                    "group": group.label, "series": row.label, "value": row.value, "low": low, "high": high,
                    "claimed": row.claimed,
                })
            })
        });
        let y = json!({ "field": "series", "type": "nominal", "title": null, "sort": null });
        let color = json!({ "field": "series", "type": "nominal", "legend": null, "sort": null });
        let drawn = match self.mark {
            Mark::Bar => json!({ "type": "bar" }),
            Mark::Point => json!({ "type": "point", "filled": true }),
        };
        let mut layers = vec![
            json!({
                "mark": drawn,
                "encoding": { "x": channel(&self.axis, "value"), "y": y, "color": color },
            }),
            json!({
                "mark": "rule",
                "encoding": { "x": channel(&self.axis, "low"), "x2": end("high"), "y": y, "color": color },
            }),
        ];
        if self.groups.iter().flat_map(|group| &group.rows).any(|row| row.claimed.is_some()) {
            layers.push(json!({
                "mark": { "type": "point", "shape": "diamond", "color": "black" },
                "encoding": { "x": channel(&self.axis, "claimed"), "y": y },
            }));
        }
        json!({
            "data": { "values": rows.collect::<Vec<_>>() },
            "facet": { "row": { "field": "group", "type": "nominal", "title": null, "sort": null } },
            "spec": { "width": 420, "layer": layers },
        })
    }
}

impl Stacks {
    /// The chart: groups have scales of their own.
    pub fn vega(&self) -> Value {
        let bar = |(group, bars): &(String, Vec<super::stack::Stack>)| {
            let values = bars.iter().flat_map(|bar| {
                let parts = self.names.iter().zip(&bar.parts).enumerate();
                parts.map(move |(at, (part, value))| {
                    json!({ "series": bar.label, "part": part, "order": at, "value": value })
                })
            });
            json!({
                "title": group,
                "width": 420,
                "data": { "values": values.collect::<Vec<_>>() },
                "mark": "bar",
                "encoding": {
                    "x": { "field": "value", "type": "quantitative", "title": format!("time [{}]", self.unit) },
                    "y": { "field": "series", "type": "nominal", "title": null, "sort": null },
                    "color": { "field": "part", "type": "nominal", "title": null, "sort": self.names },
                    "order": { "field": "order", "type": "quantitative" },
                },
            })
        };
        json!({ "vconcat": self.groups.iter().map(bar).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Group, Row};

    #[test]
    fn lines_of_one_kind_share_a_layer() {
        let line = |series, points, steps| Line { series, points, steps, ..Line::default() };
        let chart = Lines {
            heading: "mice".to_owned(),
            x: Axis::log("FCT, logarithmic", "ns"),
            y: Axis::linear("flows", "share").within(0.0, 1.0),
            lines: vec![
                line(0, vec![(1.0, 0.5)], true),
                line(1, vec![(2.0, 0.5), (3.0, 1.0)], true),
                Line { intervals: vec![(4.0, 0.1, 0.2)], ..line(2, vec![(4.0, 0.15)], false) },
            ],
            ..Lines::default()
        };
        let names = [(0, "a".to_owned()), (1, "b".to_owned()), (2, "c".to_owned())];
        let spec = chart.vega(&names);
        let layers = spec["layer"].as_array().unwrap();
        assert_eq!(layers.len(), 3, "steps, a plain line, intervals");
        assert_eq!(layers[0]["data"]["values"].as_array().unwrap().len(), 3);
        assert_eq!(layers[0]["data"]["values"][1], json!({ "series": "b", "x": 2.0, "y": 0.5 }));
        assert_eq!(layers[0]["encoding"]["x"]["title"], "FCT [ns]");
        assert_eq!(layers[0]["encoding"]["x"]["scale"]["type"], "log");
        assert_eq!(layers[0]["encoding"]["y"]["scale"]["domain"], json!([0.0, 1.0]));
        assert_eq!(layers[2]["encoding"]["y2"]["field"], "high");
        let whole = page("FCT", 1, vec![spec]).unwrap();
        assert_eq!(whole["title"], json!({ "text": "FCT", "subtitle": "mice" }));
        assert_eq!(whole["$schema"], SCHEMA);
        assert!(page("FCT", 1, Vec::new()).is_none());
    }

    #[test]
    fn rows_are_faceted_by_group() {
        let row = Row { label: "ci".to_owned(), value: Some(-5.0), ..Row::default() };
        let chart = Rows {
            title: String::new(),
            axis: Axis::linear("change; left of 0 is sooner", "%"),
            mark: Mark::Point,
            groups: vec![Group { label: "mice".to_owned(), rows: vec![row] }],
        };
        let spec = chart.vega();
        assert_eq!(spec["data"]["values"][0]["value"], -5.0);
        assert_eq!(spec["spec"]["layer"][0]["encoding"]["x"]["title"], "change [%]");
        assert_eq!(spec["spec"]["layer"].as_array().unwrap().len(), 2, "nothing was claimed");
    }
}
