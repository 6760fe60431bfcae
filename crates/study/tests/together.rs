//! Numbers of several settings taken together, and charts and readings over lists, in the file of a study.

use std::path::PathBuf;

use floodway_report::study::Exhibit;
use floodway_study::{Evidence, Level, Study, folder};

use crate::synthetic::{self, add, near, tables};

const STUDY: &str = r#"
title = "Sizes"
question = "How long by size?"
answer = ["It takes {longest s-2/base} with 2 MB."]

[view]
small = "SELECT * FROM times WHERE bytes < 1000"

[quantity]
longest = { sql = "SELECT max(fct_ns) FROM small", unit = "ns" }
multiple = { sql = "SELECT max(fct_ns) / 100 FROM small", scale = "ratio", unit = "x" }
plain = { quantity = "multiple", unit = "" }
power = { sql = "SELECT setting('switch.queue.size') / 1e6, max(fct_ns) FROM small" }

[values]
size = { names = ["1", "2", "4", "8"], labels = ["one", "two", "four", "eight"] }
paced = { names = ["p"], labels = ["paced"] }

[experiment."s-{size}"]
scenario = "star.toml"
over = ["size"]
set = ["switch.queue.size={size}MB"]

[experiment."{paced}-{size}"]
scenario = "star.toml"
over = ["paced", "size"]
except = ["p-8"]
set = ["switch.queue.size={size}MB"]

[[reading]]
[[reading]]
over = ["paced"]
stands_for = { "s-{size}" = "{paced}-{size}" }

[[claim]]
id = "S1"
quotation = "It grows."
source = "page 1"
number = [
    { part = "largest", metric = "m", rule = "described", measure = { quantity = "longest", over = ["size"], together = "largest", of = "s-{size}/base" } },
    { part = "farthest", metric = "m", rule = "described", measure = { quantity = "multiple", over = ["size"], together = "farthest", of = "s-{size}/base" } },
    { part = "within", metric = "m", rule = "described", measure = { quantity = "plain", over = ["size"], together = { within = 2 }, of = "s-{size}/base" } },
    { part = "mean", metric = "m", rule = "described", measure = { quantity = "plain", over = ["size"], of = "s-{size}/base" } },
    { part = "exponent", metric = "m", rule = "described", measure = { quantity = "power", over = ["size"], together = "exponent", of = "s-{size}/base" } },
    { part = "ratio", metric = "m", rule = "described", measure = { quantity = "longest", from = "s-1/base", to = "s-4/base", as = "ratio" } },
    { part = "every", metric = "m", rule = "described", measure = { quantity = "plain", over = ["size"], every = true, of = "s-{size}/base" } },
    { part = "shown", metric = "m", rule = "described", measure = { quantity = "plain", over = ["size"], every = true, shown_in_part = true, of = "s-{size}/base" } },
]

[chart.rows]
name = "rows-{size}"
caption = "Size {size}"
kind = "table"
row = [
    { label = "by column", of = "{paced}-{size}/base" },
    { label = "own", cell = [{ text = "a word" }, { measure = { quantity = "longest", of = "s-{size}/base" } }] },
]
column = [
    { label = "paced", with.paced = "p", measure = { quantity = "longest" } },
    { label = "over", measure = { quantity = "longest", over = ["paced"] } },
]

[[section]]
name = "charts"
heading = "Charts"
shared = [{ chart = "rows", with.size = "2" }]
[[section.chart]]
name = "curve"
caption = "By size"
kind = "curve"
x = { label = "size" }
y = { label = "time", marks = [{ at = 300, label = "limit" }] }
series = [
    { label = "measured", measure = { quantity = "power", over = ["size"], of = "s-{size}/base" } },
    { label = "law", law = { factor = 100, exponent = 1, between = [1.0, 8.0] } },
]
[[section.chart]]
name = "each-{paced}"
each = ["paced"]
caption = "Each: {paced}"
kind = "numbers"
x = { label = "time", unit = "ns" }
series = [{ label = "{paced}", measure = { quantity = "longest", of = "{paced}-1/base" } }]
"#;

fn place(name: &str, from: &str, to: &str) -> PathBuf {
    let star = format!("{}\n[switch.queue]\nsize = \"1MB\"\n", synthetic::STAR);
    synthetic::place(name, STUDY, (from, to), &[("star.toml", &*star)])
}

fn study(name: &str) -> &'static Study {
    folder::load(&place(name, "title", "title")).unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// A flow takes 100 ns for each MB, up to 4 MB; 8 MB was not run.
fn evidence(study: &'static Study) -> Evidence {
    let mut evidence = Evidence::new(study, Level::Standard, &[]);
    for size in [1, 2, 4] {
        for (name, factor) in [(format!("s-{size}"), 1.0), (format!("p-{size}"), 3.0)] {
            synthetic::begin(&mut evidence, &name);
            let flows = [(500, 0, Some(factor * 100.0 * f64::from(size))), (5_000, 0, Some(1e5))];
            for replication in 0..2 {
                add(&mut evidence, &name, "base", replication, &tables(&flows));
            }
        }
    }
    evidence
}

#[test]
fn numbers_of_settings_are_taken_together() {
    let study = study("together");
    let evidence = evidence(study);
    let parts = synthetic::parts(study, &evidence);
    let measured = |part: &str| parts.iter().find(|of| of.part == part).unwrap().measured;
    near(measured("largest"), 400.0);
    near(measured("farthest"), 4.0);
    near(measured("within"), 200.0 / 3.0);
    near(measured("mean"), 2.0);
    near(measured("exponent"), 1.0);
    near(measured("ratio"), 4.0);
    assert_eq!(measured("every"), None);
    near(measured("shown"), 2.0);
    assert_eq!((study.answer)(&evidence), ["It takes 200 ns with 2 MB."]);
    // What is shown in part is no evidence.
    let row = study.all_rows().find(|row| row.part == "shown").unwrap();
    assert!(!evidence.measure(row).1.all_run());
}

#[test]
fn readings_are_over_lists_as_far_as_they_were_run() {
    let study = study("together-readings");
    let judged = (study.readings)(&evidence(study));
    assert_eq!((judged.readings.len(), &*judged.open[0].name), (2, "paced"));
    let main = ["s-1", "s-2", "s-4", "s-8"].map(|name| (name, name));
    assert_eq!(judged.readings[0].stands_for, main);
    let paced = [("s-1", "p-1"), ("s-2", "p-2"), ("s-4", "p-4")];
    assert_eq!(judged.readings[1].stands_for[..3], paced);
}

#[test]
fn charts_may_be_shared_repeated_and_compared_with_laws() {
    let study = study("together-charts");
    let sections = (study.sections)(&evidence(study));
    let [
        Exhibit::Table { name, caption, rows, .. },
        Exhibit::Lines { charts, legend, .. },
        Exhibit::Rows { name: each, chart, .. },
    ] = &sections[0].exhibits[..]
    else {
        panic!("a table, lines and rows")
    };
    assert_eq!((&**name, &**caption), ("rows-2", "Size two"));
    assert_eq!(rows[0], ["by column", "600 ns", "600 ns"]);
    assert_eq!(rows[1], ["own", "a word", "200 ns"]);
    assert_eq!(charts[0].lines[0].points, [(1.0, 100.0), (2.0, 200.0), (4.0, 400.0)]);
    assert!(charts[0].lines[0].markers && charts[0].lines[1].law);
    assert_eq!(charts[0].levels, [(300.0, "limit".to_owned())]);
    assert_eq!(legend, &[(0, "measured".to_owned())]);
    assert_eq!((&**each, &*chart.title), ("each-p", "Each: paced"));
}

#[test]
fn what_is_wrong_has_its_place_and_its_remedy() {
    let cases = [
        (
            "over = [\"size\"], together = \"largest\", ",
            "together = \"largest\", ",
            "`together` is for a number over settings",
            "name lists of settings in `over`",
        ),
        (
            "quantity = \"multiple\", unit",
            "quantity = \"plain\", unit",
            "is no quantity that says itself what it asks",
            "and that on no third",
        ),
        (
            "{ chart = \"rows\"",
            "{ chart = \"row\"",
            "there is no chart `row`",
            "did you mean `rows`",
        ),
        ("with.size = \"2\"", "with.size = \"3\"", "there is no setting `3`", "settings"),
        (
            "{ text = \"a word\" }, ",
            "",
            "has 1 cells, and there are 2 columns",
            "give each column a cell",
        ),
        (", of = \"{paced}-{size}/base\"", "", "the row `by column` is of no case", "write of = "),
        (
            "\"{paced}-{size}\" }",
            "\"{paced}x-{size}\" }",
            "there is no experiment `px-{size}`",
            "experiments",
        ),
        ("FROM small\", scale", "FROM smal\", scale", "no such table: smal", "tables and columns"),
    ];
    synthetic::are_refused("together", place, &cases);
}
