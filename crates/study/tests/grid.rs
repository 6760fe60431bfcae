//! Grids: experiments, numbers and sentences over lists of settings.

use std::path::PathBuf;

use floodway_report::study::Exhibit;
use floodway_study::{Evidence, Level, folder};

use crate::synthetic::{self, add, tables};

/// A grid of two lists of settings, with the variants and the replications of its axes.
const GRID: &str = r#"
title = "Grid"
question = "Where is b sooner?"
answer = ["Sooner with {sizes falls}, later with {sizes rises}, open with {sizes open}; {#sizes run} were run, {#sizes known} known."]

[[settings.size]]
name = "s1"
label = "1 MB"
set = ["switch.queue.size=1MB"]
[[settings.size]]
name = "s3"
label = "3 MB"
set = ["switch.queue.size=3MB"]

[[settings.length]]
name = "short"
[[settings.length]]
name = "long"
set = ["arrivals=300us"]

[experiment."{size}-{length}"]
scenario = "star.toml"
over = ["size", "length"]
variants = ["a", "b"]
from = "standard"
[experiment."{size}-{length}".level.full]
replications = 7
[experiment."{size}-{length}".axes]
replications = 3
[experiment."{size}-{length}".axes.level.quick]
variants = ["b"]

[[claim]]
id = "G1"
quotation = "b is sooner with any buffer."
source = "page 1"
parts_differ_in = "buffer"
over = ["size"]
except = []
[[claim.number]]
part = "{size}"
metric = "mean completion time, b vs. a"
expected = "falls"
rule = { less = 5 }
measure = { fct = "mean", from = "{size}-short/a", to = "{size}-short/b" }
[claim.number.expected_of]
s3 = "rises"

[measure.sizes]
over = ["size"]
measure = { fct = "mean", from = "{size}-short/a", to = "{size}-short/b" }

[[section]]
name = "sizes"
heading = "Sizes"
claims = ["G1"]
answer = "It falls with {#sizes falls} of {#sizes run}."

[[section.chart]]
name = "bars"
caption = "Changes by size"
kind = "numbers"
over = ["size"]
x = { label = "change", unit = "%" }
series = [{ label = "all flows", look = 2, measure = { fct = "mean", from = "{size}-short/a", to = "{size}-short/b" } }]

[[section.chart]]
name = "counts"
caption = "Numbers by size"
kind = "table"
over = ["size"]
row = [{ label = "{size}, b", of = "{size}-short/b" }]
column = [
    { label = "mean", measure = { fct = "mean" } },
    { label = "pauses", measure = { counter = "pause_frames", per = 1e3, unit = "thousand" } },
    { label = "unfinished", shows = "unfinished" },
]

[[section]]
name = "map"
heading = "Sizes and lengths"
from = "standard"
[[section.chart]]
name = "map"
caption = "Changes"
kind = "heat_map"
over = ["size", "length"]
x = { label = "length" }
y = { label = "size" }
z = { label = "change", unit = "%" }
series = [{ label = "all flows", measure = { fct = "mean", from = "{size}-{length}/a", to = "{size}-{length}/b" } }]
"#;

/// A folder with that study, of which a part is replaced.
fn grid(name: &str, from: &str, to: &str) -> PathBuf {
    synthetic::place(name, GRID, (from, to), &[("star.toml", &*crate::folder::scenario())])
}

#[test]
fn a_grid_has_an_experiment_for_each_combination() {
    let study = folder::load(&grid("folder-grid", "title", "title"))
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let told = |level: Level| -> Vec<(&str, usize, Vec<String>)> {
        let plan = (study.plan)(level);
        plan.into_iter().map(|of| (of.name, of.variants.len(), of.set)).collect()
    };
    let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
    let (s1, s3) = ("switch.queue.size=1MB", "switch.queue.size=3MB");
    let (long, three) = ("arrivals=300us", "replications=3");
    assert_eq!(
        told(Level::Quick),
        [
            ("s1-short", 1, set(&[s1, three])),
            ("s1-long", 1, set(&[s1, long, three])),
            ("s3-short", 1, set(&[s3, three])),
        ]
    );
    let standard = told(Level::Standard);
    assert_eq!((standard.len(), standard[0].1), (4, 2));
    assert_eq!(standard[3], ("s3-long", 2, set(&[s3, long])));
    assert_eq!(told(Level::Full)[3], ("s3-long", 2, set(&[s3, long, "replications=7"])));
}

/// With 1 MB b takes half of the time of a, with 3 MB twice as long; combinations with `long` were not run.
#[test]
fn numbers_and_sentences_are_repeated_over_lists() {
    let study = folder::load(&grid("folder-grid-numbers", "title", "title")).unwrap();
    let mut evidence = Evidence::new(study, Level::Standard, &[]);
    for (name, factor) in [("s1-short", 0.5), ("s3-short", 2.0)] {
        synthetic::begin(&mut evidence, name);
        for (replication, time) in [(0, 100.0), (1, 200.0), (2, 300.0)] {
            let of = |time: f64| tables(&[(500, 0, Some(time))]);
            add(&mut evidence, name, "a", replication, &of(time));
            let longer = 1.0 + f64::from(replication) / 100.0;
            add(&mut evidence, name, "b", replication, &of(time * factor * longer));
        }
    }
    let (claims, _) = study.judge(&evidence);
    let parts: Vec<(&str, bool)> = claims[0]
        .parts
        .iter()
        .map(|part| (part.part.as_str(), part.measured.unwrap() < 0.0))
        .collect();
    assert_eq!(parts, [("1 MB", true), ("3 MB", false)]);
    assert!(claims[0].parts[1].expected.starts_with("rises; "), "{:?}", claims[0].parts[1]);
    assert_eq!(
        (study.answer)(&evidence),
        ["Sooner with \"1 MB\", later with \"3 MB\", open with none; 2 were run, 2 known."]
    );
    let sections = (study.sections)(&evidence);
    assert_eq!(sections[0].answer, "It falls with 1 of 2.");
    let Exhibit::Rows { chart, .. } = &sections[0].exhibits[0] else { panic!("bars") };
    assert_eq!((chart.groups.len(), chart.groups[0].rows.len()), (1, 2));
    assert_eq!((&*chart.groups[0].rows[1].label, chart.groups[0].rows[1].series), ("3 MB", 2));
    let Exhibit::Table { head, rows, .. } = &sections[0].exhibits[1] else { panic!("a table") };
    assert_eq!(head, &["", "mean", "pauses", "unfinished"]);
    assert_eq!(
        (&*rows[0][0], &*rows[0][2], &*rows[0][3]),
        ("1 MB, b", "0.0120 thousand", "0 of 3")
    );
    let Exhibit::HeatMap { chart, .. } = &sections[1].exhibits[0] else { panic!("a map") };
    let texts: Vec<Vec<&str>> =
        chart.cells.iter().map(|row| row.iter().map(|tile| &*tile.text).collect()).collect();
    // Nothing was run of the long ones.
    assert_eq!((&*chart.sides.rows[1], &*chart.sides.columns), ("s3", &["short".to_owned()][..]));
    assert!(texts[0][0].starts_with('-') && texts[1][0].starts_with("10"), "{texts:?}");
    // Nothing of a section was run, or it is for a more thorough level.
    let none = Evidence::new(study, Level::Standard, &[]);
    assert_eq!((study.sections)(&none), []);
}

#[test]
fn what_is_wrong_with_a_grid_has_its_place_and_its_remedy() {
    let cases = [
        (
            "over = [\"size\", \"length\"]\nvariants",
            "over = [\"size\", \"lenght\"]\nvariants",
            "there is no list of settings `lenght`",
            "did you mean `length`?",
        ),
        (
            "over = [\"size\", \"length\"]\nvariants",
            "over = [\"size\", \"size\"]\nvariants",
            "`size` is there twice",
            "name each list once",
        ),
        ("name = \"s3\"", "name = \"s1\"", "`size` has two settings `s1`", "a name of its own"),
        ("name = \"s3\"", "name = \"s 3\"", "the setting's name contains ' '", "letters, digits"),
        ("except = []", "except = [\"s4\"]", "there is no setting `s4`", "s1"),
        ("\ns3 = \"rises\"", "\ns4 = \"rises\"", "`expected_of` has `s4`", "s3"),
        (
            "{size}-short/a\", to",
            "{siz}-short/a\", to",
            "there is no case `{siz}-short/a`",
            "s1-short/a",
        ),
        (
            "{sizes falls}",
            "{sizes fall}",
            "`{sizes fall}` is no number of a claim",
            "did you mean `sizes falls`?",
        ),
        (
            "kind = \"heat_map\"\nover = [\"size\", \"length\"]",
            "kind = \"heat_map\"\nover = [\"size\"]",
            "`map` is over 1 lists",
            "name two lists of settings in `over`",
        ),
        (
            "kind = \"numbers\"",
            "kind = \"points\"",
            "`bars` is over lists of settings",
            "points have no settings",
        ),
        ("x = { label = \"change\", unit = \"%\" }\n", "", "`bars` has no axis", "write x = {"),
        (
            "measure = { fct = \"mean\" } }",
            "shows = \"nothing\" }",
            "unknown variant `nothing`",
            "own-study",
        ),
        (
            "{ label = \"mean\", measure = { fct = \"mean\" } }",
            "{ label = \"mean\" }",
            "the column `mean` has exactly one of `measure` and `shows`",
            "shows = \"unfinished\"",
        ),
        (
            "{ label = \"mean\", measure = { fct = \"mean\" } }",
            "{ label = \"mean\", measure = { fct = \"mean\", of = \"s1-short/a\" } }",
            "a column is of the cases of the rows",
            "leave `of`, `from` and `to` out",
        ),
        (
            "measure = { fct = \"mean\" } }",
            "measure = { fct = \"mean\", per = 2 } }",
            "`per` is for counters and SQL",
            "leave it out",
        ),
        (
            "from = \"standard\"\n[experiment",
            "from = \"standard\"\nvary = { path = \"seed\", values = [1] }\n[experiment",
            "`{size}-{length}` has both `vary` and `over`",
            "make a list of settings",
        ),
    ];
    synthetic::are_refused("folder-grid", grid, &cases);
}
