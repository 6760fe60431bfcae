//! Pictures of windows over time.

use std::fmt::Write;

/// Size of a panel, and what surrounds it.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 110.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 30.0;
const GAP: f64 = 34.0;

const COLORS: [&str; 2] = ["#1f5fa8", "#d9622b"];

/// A panel for each pair of Linux's windows and floodway's, which are in packets, every 100 ms.
pub fn windows(panels: &[(String, [&[f64]; 2])]) -> String {
    let height = TOP + panels.len() as f64 * (HEIGHT + GAP) + 4.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<title>Congestion window of one flow over time, in Linux 6.12 and in floodway</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        width = LEFT + WIDTH + 14.0,
    );
    for (number, (name, color)) in ["Linux 6.12", "floodway"].iter().zip(COLORS).enumerate() {
        let x = LEFT + 110.0 * number as f64;
        writeln!(
            svg,
            "<path d=\"M{x} 12h24\" stroke=\"{color}\" stroke-width=\"2\"/><text x=\"{}\" y=\"16\">{name}</text>",
            x + 30.0
        )
        .unwrap();
    }
    for (number, (name, lines)) in panels.iter().enumerate() {
        let top = TOP + number as f64 * (HEIGHT + GAP);
        panel(&mut svg, top, name, lines);
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, top: f64, name: &str, lines: &[&[f64]; 2]) {
    let samples = lines[0].len();
    let seconds = (samples as f64 / 10.0).ceil();
    // From 2 s on, so that the start does not decide the scale.
    let most = lines.iter().flat_map(|line| &line[20..]).fold(0.0, |most: f64, &window| most.max(window));
    let step = [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
    let step = step.into_iter().find(|step| most / step <= 5.0).unwrap_or(1e3);
    let most = (most / step).ceil() * step;
    let (x, y) = (|time: f64| LEFT + time / seconds * WIDTH, |window: f64| top + 16.0 + HEIGHT * (1.0 - window / most));
    writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{name}: window in packets</text>", top + 9.0).unwrap();
    let mut at = 0.0;
    while at <= most {
        writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}h{WIDTH}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{at}</text>",
            LEFT - 6.0,
            y(at) + 4.0,
            y = y(at),
        )
        .unwrap();
        at += step;
    }
    for time in (0..=seconds as usize).step_by(5) {
        let x = x(time as f64);
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{time} s</text>", y(0.0) + 14.0).unwrap();
    }
    for (line, color) in lines.iter().zip(COLORS) {
        let points = line.iter().enumerate().filter(|(_, window)| window.is_finite());
        let points: Vec<String> = points
            .map(|(n, window)| format!("{:.1},{:.1}", x((n + 1) as f64 / 10.0), y(window.min(most))))
            .collect();
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.2\"/>",
            points.join(" ")
        )
        .unwrap();
    }
}
