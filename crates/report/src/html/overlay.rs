//! Points of others laid over a chart: digitised from a figure of a paper, or measured in a testbed.

use super::figure::Drawn;

/// Points that are laid over a chart of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    /// The name of the chart.
    pub chart: String,
    /// Of a chart with several parts the heading of one; all parts otherwise.
    pub part: Option<String>,
    /// What the legend calls them.
    pub label: String,
    /// Their values on both axes, in the units of the chart's numbers as comma-separated values.
    pub points: Vec<(f64, f64)>,
}

/// Lays points over these charts. Fails with what is wrong: an unknown chart or part, or a chart without lines.
pub fn lay_over(charts: &mut [&mut Drawn], of: &Overlay) -> Result<(), String> {
    let names: Vec<String> = charts.iter().map(|chart| format!("`{}`", chart.name())).collect();
    let Some(chart) = charts.iter_mut().find(|chart| chart.name() == of.chart) else {
        return Err(format!("there is no chart `{}`; there are {}", of.chart, names.join(", ")));
    };
    let headings = chart.headings();
    if let Some(part) = &of.part
        && !headings.contains(part)
    {
        let there: Vec<String> = headings.iter().map(|heading| format!("`{heading}`")).collect();
        let there = match there.as_slice() {
            [] => "it has one part".to_owned(),
            some => format!("it has {}", some.join(", ")),
        };
        return Err(format!("the chart `{}` has no part `{part}`; {there}", of.chart));
    }
    match chart.add_points(of.part.as_deref(), &of.label, &of.points) {
        true => Ok(()),
        false => Err(format!(
            "points cannot be laid over the chart `{}`, which has no lines over two axes",
            of.chart
        )),
    }
}

/// Reads points from comma-separated values: a line with the names of two columns, then two numbers a line. Empty
/// lines and those that begin with `#` are skipped. Fails with the number of a line and what is wrong with it.
pub fn read_points(text: &str) -> Result<Vec<(f64, f64)>, (usize, String)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let names = lines.next().map(|(at, line)| (at, line.split(',').count(), numbers(line)));
    match names {
        None => return Err((1, "there are no points".to_owned())),
        Some((at, 2, None)) => at,
        Some((at, ..)) => {
            let message =
                "the first line should have the names of two columns, such as `bytes,slowdown`";
            return Err((at, message.to_owned()));
        }
    };
    let point = |(at, line): (usize, &str)| {
        numbers(line)
            .ok_or_else(|| (at, format!("`{line}` is not two numbers with a comma between them")))
    };
    let points: Vec<(f64, f64)> = lines.map(point).collect::<Result<_, _>>()?;
    match points.is_empty() {
        true => Err((1, "there are no points".to_owned())),
        false => Ok(points),
    }
}

/// Two numbers with a comma between them.
fn numbers(line: &str) -> Option<(f64, f64)> {
    let (x, y) = line.split_once(',')?;
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    Some((number(x)?, number(y)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_two_numbers_a_line() {
        let read = read_points("# figure 5\nbytes, slowdown\n1e3, 1.5\n\n2000,2\n");
        assert_eq!(read, Ok(vec![(1e3, 1.5), (2e3, 2.0)]));
        let wrong = |text: &str| read_points(text).unwrap_err();
        assert_eq!(wrong("").1, "there are no points");
        assert_eq!(wrong("a,b\n").1, "there are no points");
        assert!(wrong("1,2\n3,4\n").1.starts_with("the first line should have the names"));
        assert!(wrong("a,b,c\n3,4\n").1.starts_with("the first line should have the names"));
        let (line, message) = wrong("a,b\n1,2\n3;4\n");
        assert_eq!((line, &*message), (3, "`3;4` is not two numbers with a comma between them"));
        assert_eq!(wrong("a,b\n1,nan\n").0, 2);
    }
}
