//! Prints the coverage of the intervals as Markdown, the page `docs/statistics/coverage.md`:
//! `cargo run --release -p floodway-report --example coverage -- [EXPERIMENTS]`.

#[path = "../tests/coverage/mod.rs"]
mod coverage;

use coverage::{Cell, REPLICATIONS, Row, measure};
use floodway_report::words;

fn main() {
    let experiments = std::env::args()
        .nth(1)
        .map_or(10_000, |word| word.parse().expect("the number of experiments is a whole number"));
    let rows = measure(experiments);
    println!("# Coverage of the intervals\n");
    println!(
        "Share of {} synthetic experiments whose 95 % interval contains the true value, in percent, \
         by number of replications `n`. The numbers in bold are those for which \
         [93 to 97 % are promised](../statistics.md#coverage). `make coverage` writes this page.\n",
        words::count(experiments as f64)
    );
    println!(
        "Deviation is the standard deviation of the replications: divided by the mean for times, \
         counts and slowdowns (of what is above 1), and by `p (1 − p)` for a share `p`. Skewness is \
         that of logarithms, logits, differences, or logarithms of ratios.\n"
    );
    let outside: usize = rows.iter().flat_map(|row| &row.cells).map(|cell| cell.outside).sum();
    assert_eq!(outside, 0, "intervals leave the domain of their quantity");
    let none = |_: &Row| None;
    table(&rows, none, |cell| match cell {
        Cell { printed: 0.0, .. } => "–".to_owned(),
        Cell { promised: true, coverage, .. } => format!("**{:.1}**", coverage * 100.0),
        Cell { coverage, .. } => format!("{:.1}", coverage * 100.0),
    });
    println!("\n## Experiments with an interval\n");
    println!(
        "In percent, and why the others have none. Rows in which all have one are left out.\n"
    );
    let incomplete = |row: &&Row| row.cells.iter().any(|cell| cell.printed < 1.0);
    let reasons = |row: &Row| {
        let mut all: Vec<String> = Vec::new();
        for reason in row.cells.iter().flat_map(|cell| &cell.reasons).map(ToString::to_string) {
            if !all.contains(&reason) {
                all.push(reason);
            }
        }
        Some(all.join("; "))
    };
    let rows_without: Vec<Row> = rows.iter().filter(incomplete).cloned().collect();
    table(&rows_without, reasons, |cell| format!("{:.1}", cell.printed * 100.0));
    println!("\n## Width\n");
    println!(
        "The median distance between both ends, divided by the magnitude of the true value.\n"
    );
    table(&rows, none, |cell| match cell.width {
        width if width.is_nan() => "–".to_owned(),
        width if width >= 100.0 => ">100".to_owned(),
        width if width >= 10.0 => format!("{width:.0}"),
        width => format!("{width:.2}"),
    });
}

/// A row of values for each quantity, and a remark if it has one.
fn table(rows: &[Row], remark: impl Fn(&Row) -> Option<String>, text: impl Fn(&Cell) -> String) {
    let mut heads = REPLICATIONS.map(|n| format!("n = {n}")).join(" | ");
    let mut rule = " --: |".repeat(REPLICATIONS.len());
    if rows.iter().any(|row| remark(row).is_some()) {
        heads += " | no interval";
        rule += " --- |";
    }
    println!("| metric | values of replications | deviation | skewness | {heads} |");
    println!("| --- | --- | --: | --: |{rule}");
    for row in rows {
        let deviation = row.spread.deviation.map_or("–".to_owned(), |of| format!("{of:.2}"));
        // -0.00 is 0.00.
        let skewness = libm::round(row.spread.skewness * 100.0) / 100.0 + 0.0;
        let spread = format!("{deviation} | {skewness:.2}");
        let cells: Vec<String> = row.cells.iter().map(&text).chain(remark(row)).collect();
        println!("| {} | {} | {spread} | {} |", row.metric, row.distribution, cells.join(" | "));
    }
}
