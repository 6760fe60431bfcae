//! Grids, heat maps and laws of the made-up study, as of mixes of two kinds of flows.

use floodway_report::chart::{Axis, Cell, Colors, Grid, HeatMap, Line, Lines, Matrix, Tile};
use floodway_report::study::Exhibit;

/// A number between 0 and 1 that looks like chance.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f64 / f64::from(1_u32 << 24)
}

fn sides(rows: usize, columns: usize) -> Matrix {
    let numbers = |many: usize| (0..many).map(|at| at.to_string()).collect();
    Matrix {
        across: "Cubic flows".to_string(),
        columns: numbers(columns),
        down: "DCTCP flows".to_string(),
        rows: numbers(rows),
    }
}

/// As many rows and columns of cells, but the first.
fn cells<T: Default>(rows: usize, columns: usize, cell: impl Fn(usize, usize) -> T) -> Vec<Vec<T>> {
    let one = |row, column| if row + column == 0 { T::default() } else { cell(row, column) };
    (0..rows).map(|row| (0..columns).map(|column| one(row, column)).collect()).collect()
}

fn kinds() -> Vec<(usize, String)> {
    vec![(2, "Cubic".to_string()), (1, "DCTCP".to_string())]
}

/// The rates of flows of two kinds over time.
pub fn shares(rows: usize, columns: usize) -> Exhibit {
    let cell = |row: usize, column: usize| {
        let fair = 40.0 / (row + column) as f64;
        let line = |at: usize| {
            let cubic = at < column;
            let (mean, spread) = if cubic { (0.9, 0.5) } else { (1.08, 0.16) };
            let seed = (row * columns + column) * 1_000 + at * 60;
            let mut rate = 1.0;
            let point = |of: usize| {
                rate = 0.6 * rate + 0.4 * (mean + spread * (noise(seed + of) - 0.5) * 2.0);
                (of as f64 * 250e9 / 50.0, (rate * fair * 100.0).round() / 100.0)
            };
            let series = if cubic { 2 } else { 1 };
            Line { series, points: (0..=50).map(point).collect(), ..Line::default() }
        };
        Cell {
            lines: (0..row + column).map(line).collect(),
            y: Some((0.0, 2.0 * fair)),
            level: Some(fair),
            text: String::new(),
            tooltip: format!("{column} Cubic, {row} DCTCP: fair share {fair:.1} Mb/s"),
        }
    };
    Exhibit::Grid {
        name: "shares".to_string(),
        caption: "What does every flow get of a link of 40 Mb/s?".to_string(),
        legend: kinds(),
        chart: Grid {
            title: "Throughput of every flow over time, by the number of flows of either kind"
                .to_string(),
            sides: sides(rows, columns),
            cells: cells(rows, columns, cell),
            x: Axis::linear("time", "ns").within(0.0, 250e9),
            y: Axis::linear("throughput, 0 to twice the fair share", ""),
            level: "fair share".to_string(),
        },
        note: "Means over 5 s.".to_string(),
    }
}

/// The distributions of the lengths of two queues.
pub fn queue_sizes(rows: usize, columns: usize) -> Exhibit {
    let cell = |row: usize, column: usize| {
        let bell = |series: usize, mean: f64, width: f64| Line {
            series,
            points: (0..60)
                .map(|at| {
                    let packets = at as f64 * 5.0;
                    let share = 2.0 / width * (-((packets - mean) / width).powi(2)).exp();
                    (packets, (share * 1e4).round() / 1e4)
                })
                .collect(),
            steps: true,
            area: series == 2,
            ..Line::default()
        };
        let mut lines = Vec::new();
        if column > 0 {
            lines.push(bell(2, 60.0 + 8.0 * (row + column) as f64, 22.0));
        }
        if row > 0 {
            lines.push(bell(1, 0.0, 9.0));
        }
        let text = format!("{:.0}", 60.0 + 8.0 * (row + column) as f64);
        Cell { lines, text, ..Cell::default() }
    };
    Exhibit::Grid {
        name: "queue-sizes".to_string(),
        caption: "How long is the queue that a packet leaves behind?".to_string(),
        legend: kinds(),
        chart: Grid {
            title: "Distribution of the length of the queue".to_string(),
            sides: sides(rows, columns),
            cells: cells(rows, columns, cell),
            x: Axis::linear("packets in the queue", "packets").within(0.0, 300.0),
            y: Axis::linear("share of packets, each cell on a scale of its own", "share"),
            level: String::new(),
        },
        note: "The number is the mean.".to_string(),
    }
}

/// Ratios around one.
pub fn ratios(rows: usize, columns: usize) -> Exhibit {
    let tile = |row: usize, column: usize| {
        if row * column == 0 {
            return Tile { text: "–".to_string(), ..Tile::default() };
        }
        let ratio = 10_f64.powf(2.4 * (noise(row * columns + column) - 0.6));
        let text = if ratio < 0.095 { format!("{ratio:.2}") } else { format!("{ratio:.1}") };
        Tile { value: Some(ratio), tooltip: format!("{column} Cubic, {row} DCTCP: {text}"), text }
    };
    Exhibit::HeatMap {
        name: "ratios".to_string(),
        caption: "How much faster is a Cubic flow than a DCTCP flow?".to_string(),
        chart: HeatMap {
            title: "Ratio of throughputs by the number of flows".to_string(),
            sides: sides(rows, columns),
            cells: cells(rows, columns, tile),
            scale: Axis::log("Cubic ÷ DCTCP", "x").within(0.1, 10.0),
            colors: Colors::Diverging(1.0),
        },
        note: "Blue: DCTCP has more; orange: Cubic has more.".to_string(),
    }
}

/// Times from zero on.
pub fn delays(rows: usize, columns: usize) -> Exhibit {
    let tile = |row: usize, column: usize| {
        let delay = (row + column) as f64 * 7.0 + 5.0 * noise(row * columns + column);
        Tile { value: Some(delay * 1e6), text: format!("{delay:.0}"), ..Tile::default() }
    };
    Exhibit::HeatMap {
        name: "delays".to_string(),
        caption: "How long do packets wait?".to_string(),
        chart: HeatMap {
            title: "99th percentile of the waiting time in ms".to_string(),
            sides: sides(rows, columns),
            cells: cells(rows, columns, tile),
            scale: Axis::linear("p99 of the waiting time, in ms", "ns"),
            colors: Colors::Sequential,
        },
        note: String::new(),
    }
}

/// Rates against probabilities, measured and by law.
pub fn laws() -> Exhibit {
    let chart = |heading: &str, series: usize, of: fn(f64) -> f64| {
        let point = |at: usize| {
            let p = 10_f64.powf(-4.0 + 3.4 * noise(at));
            (p, of(p) * (0.7 + 0.6 * noise(at + 500)))
        };
        let points = (0..60).map(point).collect();
        let law = [1e-4, 1.0].map(|p| (p, of(p))).to_vec();
        Lines {
            title: format!("Window of {heading} by the probability"),
            heading: heading.to_string(),
            x: Axis::log("probability of a drop or mark", "share").within(1e-4, 1.0),
            y: Axis::log("window", "packets").within(1.0, 1e3),
            lines: vec![
                Line { series, scatter: true, points, ..Line::default() },
                Line { series, law: true, points: law, ..Line::default() },
            ],
            ..Lines::default()
        }
    };
    Exhibit::Lines {
        name: "laws".to_string(),
        caption: "Do rates follow the laws?".to_string(),
        legend: kinds(),
        charts: vec![chart("Cubic", 2, |p| 1.22 / p.sqrt()), chart("DCTCP", 1, |p| 2.0 / p)],
        columns: 2,
        note: "Points are runs; dashed are 1.22/√p and 2/p.".to_string(),
    }
}
