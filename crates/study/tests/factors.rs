//! Readings of factors in the file of a study: effects of choices, numbers in all readings, and the search for the nearest
//! one. Numbers of the same flow in two runs, and of all replications together.

use std::path::PathBuf;

use floodway_report::study::{Exhibit, Section};
use floodway_study::{Evidence, Experiment, Level, Study, folder};

use crate::synthetic::{self, Flow, add, near, tables};

const STUDY: &str = r#"
title = "Factors"
question = "What decides?"
set = ["seed=7"]
scenarios = ["other.toml"]
answer = [
    "Flows clearly fall in {#everywhere falls} of {#everywhere run} readings.",
    "Of {closest tried}, {closest variant} is nearest with {closest reading}: {closest numbers}.",
    "By size: {by-variant moves}.",
]
readings_of = ["main", "other"]

[level.quick]
replications = 2
readings = { set = ["arrivals=50us"], replications = 3 }
[level.standard]
replications = 5

[experiment.main]
scenario = "star.toml"

[experiment.other]
scenario = "star.toml"
variants = ["plain", "marks"]
readings = { variants = ["marks"], from = "standard", without = ["switch.queue."] }

[experiment.later]
scenario = "star.toml"
over = ["late"]

[settings]
late = [{ name = "early" }, { name = "late", from = "full" }]
variant = [{ name = "marks" }, { name = "more" }]

[[factor]]
name = "queue"
choice = [
    { name = "1 MB", source = "page 3" },
    { name = "3 MB", source = "page 4", set = ["switch.queue.size=3MB"] },
]
[[factor]]
name = "threshold"
choice = [
    { name = "5 KB", source = "page 5" },
    { name = "7 KB", source = "page 6", set = ["variants.*.switch.aqm.ramp.kmin=7KB"] },
]
[[factor]]
name = "who marks"
choice = [
    { name = "one", source = "page 7" },
    { name = "both", source = "page 8", set = ["variants.more.switch.aqm=ramp"] },
]

[closest]
variants = ["marks", "more"]
most = 100
number = [{ label = "time", claimed = -50, measure = { fct = "mean", from = "main/plain", to = "main/{variant}" } }]

[measure.everywhere]
in_readings = true
measure = { fct = "mean", from = "main/plain", to = "main/marks" }
[measure.by-variant]
over = ["variant"]
measure = { fct = "mean", from = "main/plain", to = "main/{variant}" }

[[claim]]
id = "F1"
quotation = "The same flows are sooner."
source = "page 1"
[[claim.number]]
part = "median"
metric = "median of the same flow"
rule = { effect = [-1, 0] }
measure = { fct = "p50", as = "flow_by_flow", from = "main/plain", to = "main/marks" }
[[claim.number]]
part = "mean"
metric = "mean of the same flow"
rule = "described"
measure = { fct = "mean", as = "flow_by_flow", from = "main/plain", to = "main/marks" }
[[claim.number]]
part = "changed"
metric = "flows that are not the same"
rule = { at_most = 5 }
measure = { fct = "changed", as = "flow_by_flow", from = "main/plain", to = "main/marks" }
[[claim.number]]
part = "all changed"
metric = "the same, of both variants"
rule = { at_most = 5 }
measure = { fct = "changed", as = "flow_by_flow", over = ["variant"], every = true, from = "main/plain", to = "main/{variant}" }
[[claim.number]]
part = "pooled"
metric = "flows in all replications that take longer than the mean over all of them"
rule = { exactly = 3 }
measure = { sql = "SELECT fct_ns, 1 FROM times", pooled = "SELECT sum(b) FROM pool WHERE a > (SELECT avg(a) FROM pool)", of = "main/plain" }
[[claim.number]]
part = "ratio"
metric = "the longest time over the mean one"
rule = { none = 60 }
measure = { sql = "SELECT max(fct_ns) / avg(fct_ns) FROM times", scale = "ratio", as = "change", of = "main/plain" }

[[check]]
metric = "hosts of a scenario that is not run"
rule = { exactly = 5 }
measure = { fact = "SELECT count(*) FROM network_nodes WHERE scenario = 'other.toml' AND variant = 'plain' AND kind = 'host'" }

[[section]]
name = "factors"
heading = "Factors"
[[section.chart]]
name = "effects"
caption = "Effects"
kind = "numbers"
rows_of = "choices"
x = { label = "effect", unit = "%" }
series = [{ label = "time", measure = { fct = "mean", from = "main/plain", to = "main/marks" } }]
[[section.chart]]
name = "table"
caption = "Effects"
kind = "table"
rows_of = "choices"
corner = "choice"
column = [
    { label = "time", short = true, measure = { fct = "mean", from = "main/plain", to = "main/marks" } },
    { label = "source", shows = "source" },
]
[[section.chart]]
name = "all"
caption = "Readings"
kind = "table"
rows_of = "readings"
column = [
    { label = "change", short = true, measure = { fct = "mean", from = "main/plain", to = "main/marks" } },
    { label = "plain", measure = { fct = "mean", of = "main/plain" } },
]

[[section]]
name = "nearest"
heading = "Nearest"
[[section.chart]]
name = "nearest"
caption = "Nearest"
kind = "table"
rows_of = "closest"

[[section]]
name = "rows"
heading = "Rows"
[[section.chart]]
name = "rows"
caption = "Changes"
kind = "table"
row = [
    { label = "plain", of = "main/plain" },
    { label = "marks", from = "main/plain", of = "main/marks" },
]
column = [
    { label = "change", change = true, short = true, measure = { fct = "mean" } },
    { label = "time", measure = { fct = "mean" } },
]
[[section.chart]]
name = "bars"
caption = "Bars"
kind = "numbers"
bars = true
over = ["variant"]
x = { label = "change", unit = "%" }
series = [{ label = "time", claimed_of = { more = -10 }, measure = { fct = "mean", from = "main/plain", to = "main/{variant}" } }]
[[section.chart]]
name = "panels"
caption = "Panels"
kind = "curve"
over = ["late"]
x = { label = "late", at_points = true }
y = { label = "time", unit = "ns" }
panel = [
    { heading = "mean", measure = { fct = "mean", of = "{late}/{who}" } },
    { heading = "largest", measure = { fct = "mean", of = "{late}/{who}" } },
]
series = [{ label = "marks", with.who = "marks" }]
"#;

/// The study, of which a part is replaced. Its curve is of experiments with names that places can be given to.
fn place(name: &str, from: &str, to: &str) -> PathBuf {
    let study = STUDY
        .replace("[experiment.later]", "[experiment.\"later-{late}\"]")
        .replace("{ name = \"early\" }", "{ name = \"early\", at = 1 }")
        .replace("{ name = \"late\", from", "{ name = \"late\", at = 2, from")
        .replace("\"{late}/{who}\"", "\"later-{late}/{who}\"");
    let variants =
        "\n[variants.plain]\n[variants.marks.switch.aqm.ramp]\nkmin = \"5KB\"\n[variants.more]\n";
    let star = format!("{}{variants}", synthetic::STAR);
    let other = star.replace("hosts = 4", "hosts = 5");
    synthetic::place(name, &study, (from, to), &[("star.toml", &star), ("other.toml", &other)])
}

fn study(name: &str) -> &'static Study {
    folder::load(&place(name, "title", "title")).unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// Takes three replications of an experiment: of two flows with `marks` and `more` these factors of 100 and 300 ns.
fn take(evidence: &mut Evidence, experiment: &Experiment, marks: f64, more: f64) {
    let scenario = experiment.scenario(&evidence.study.library, &[]).unwrap();
    evidence.begin(experiment.name, &scenario);
    for (variant, factor) in [("plain", 1.0), ("marks", marks), ("more", more)] {
        for replication in 0..3 {
            let noise = 1.0 + 0.01 * f64::from(replication);
            let flow = |ns: f64| (500, 0, Some(ns * factor * noise));
            let flows: [Flow; 2] = [flow(100.0), flow(300.0)];
            add(evidence, experiment.name, variant, replication, &tables(&flows));
        }
    }
}

#[test]
fn readings_have_what_their_choices_and_their_levels_say() {
    let study = study("factors-plan");
    let plan = (study.plan)(Level::Quick);
    let names: Vec<&str> = plan.iter().map(|of| of.name).collect();
    assert_eq!(names[..3], ["main", "other", "later-early"]);
    assert_eq!(names[3..].len(), 8);
    let main = ["seed=7", "arrivals=50us", "replications=3"];
    assert_eq!(plan[3].set, main.map(str::to_owned));
    // Variants that have the table are given the setting, and so are those to which a choice gives it.
    let of = |queue: usize, threshold: usize, who: usize| {
        let readings = study.closest.unwrap().readings.all();
        let at = readings.iter().position(|of| of.choices == [queue, threshold, who]).unwrap();
        plan[3 + at].set[3..].to_vec()
    };
    assert_eq!(of(0, 1, 0), ["variants.marks.switch.aqm.ramp.kmin=7KB"]);
    let both = ["variants.more.switch.aqm=ramp", "variants.marks.switch.aqm.ramp.kmin=7KB"];
    let both = [both[0], both[1], "variants.more.switch.aqm.ramp.kmin=7KB"];
    assert_eq!(of(0, 1, 1), both);
    assert_eq!(of(1, 0, 0), ["switch.queue.size=3MB"]);
    // At the next level another experiment is run in readings, with one variant and without one factor.
    let plan = (study.plan)(Level::Standard);
    let other = plan.iter().find(|of| of.name == "reading-07-other").unwrap();
    assert_eq!(other.variants, ["marks"]);
    let set = ["seed=7", "replications=5", "variants.marks.switch.aqm.ramp.kmin=7KB"];
    let has_all = set.iter().all(|set| other.set.iter().any(|own| own == set));
    assert!(
        has_all && other.set.iter().all(|set| !set.starts_with("switch.queue")),
        "{:?}",
        other.set
    );
    let is_late = |level| (study.plan)(level).iter().any(|of| of.name == "later-late");
    assert_eq!([Level::Standard, Level::Full].map(is_late), [false, true]);
}

/// With marks, flows take half of their time with the first queue and all of it with the other; with more, 0.8 of it.
fn evidence(study: &'static Study) -> Evidence {
    let mut evidence = Evidence::new(study, Level::Quick, &[]);
    let readings = study.closest.unwrap().readings;
    for reading in readings.all() {
        for experiment in readings.experiments(&reading, Level::Quick) {
            take(&mut evidence, &experiment, if reading.choices[0] == 0 { 0.4 } else { 1.0 }, 0.8);
        }
    }
    evidence
}

fn section(study: &Study, evidence: &Evidence, name: &str) -> Section {
    let sections = (study.sections)(evidence);
    sections.into_iter().find(|of| of.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn rows(of: &Exhibit) -> Vec<Vec<String>> {
    match of {
        Exhibit::Table { rows, .. } => rows.clone(),
        other => panic!("{other:?} is no table"),
    }
}

#[test]
fn effects_of_choices_are_those_on_the_ratio() {
    let study = study("factors-effects");
    let evidence = evidence(study);
    let of = section(study, &evidence, "factors");
    let Exhibit::Rows { chart, .. } = &of.exhibits[0] else { panic!("it is a chart of rows") };
    let effects: Vec<_> = chart.groups.iter().map(|of| (&*of.label, of.rows[0].value)).collect();
    assert_eq!(effects[0].0, "queue: 3 MB");
    // 1 in place of 0.4 is 150 % more.
    near(effects[0].1, 150.0);
    assert!(effects[1..].iter().all(|of| of.1.unwrap().abs() < 1e-9), "{effects:?}");
    let table = rows(&of.exhibits[1]);
    assert_eq!(table[0], ["queue: 3 MB (instead of 1 MB)", "150", "page 4"]);
    assert_eq!(table.len(), 3);
    let all = rows(&of.exhibits[2]);
    assert_eq!(all.len(), 8);
    assert_eq!(all[0][..2], ["as in the main reading", "-60"]);
    assert!(all.iter().any(|row| row[0] == "queue: 3 MB; threshold: 7 KB" && row[1] == "0"));
    assert!(of.links.iter().any(|(name, _)| name == "reading-05"), "{:?}", of.links);
}

#[test]
fn sentences_say_in_how_many_readings_and_which_is_nearest() {
    let study = study("factors-sentences");
    let evidence = evidence(study);
    let answer = (study.answer)(&evidence);
    assert_eq!(answer[0], "Flows clearly fall in 4 of 8 readings.");
    // 0.4 is nearer to one half than 0.8 is: the logarithm of 0.8 against that of 1.6.
    assert!(
        answer[1].starts_with("Of 8, marks is nearest with as in the main reading: time -60 %"),
        "{}",
        answer[1]
    );
    assert!(answer[1].ends_with("(claimed: -50 %)."), "{}", answer[1]);
    let of = section(study, &evidence, "nearest");
    let nearest = rows(&of.exhibits[0]);
    assert_eq!((nearest.len(), &*nearest[0][1], &*nearest[0][2]), (12, "marks", "0.22"));
    // The search goes on from there: each other choice was run already.
    assert!(study.closest.unwrap().next(&evidence, Level::Quick).is_empty());
}

#[test]
fn the_same_flows_and_all_replications_are_compared() {
    let study = study("factors-flows");
    let mut evidence = Evidence::new(study, Level::Quick, &[]);
    let plan = (study.plan)(Level::Quick);
    take(&mut evidence, &plan[0], 0.5, 1.0);
    let parts = synthetic::parts(study, &evidence);
    let of = |part: &str| synthetic::claim(&parts, "F1", part).measured;
    // Times are 100 and 300 ns, and 1 and 2 % more: half of the mean of both, and of their median, is 101 ns less.
    near(of("median"), -0.101);
    near(of("mean"), -0.101);
    assert_eq!((of("changed"), of("all changed")), (Some(6.0), Some(6.0)));
    assert_eq!(of("pooled"), Some(3.0));
    near(of("ratio"), 50.0);
    assert!(synthetic::claim(&parts, "check 1", "").measured == Some(5.0));
    let of = section(study, &evidence, "rows");
    let table = rows(&of.exhibits[0]);
    assert_eq!((&*table[0][1], &*table[1][1]), ("–", "-50"));
    let Exhibit::Rows { chart, .. } = &of.exhibits[1] else { panic!("it is a chart of rows") };
    let claimed: Vec<_> = chart.groups[0].rows.iter().map(|row| row.claimed).collect();
    assert_eq!(claimed, [None, Some(-10.0)]);
    assert_eq!(of.exhibits.len(), 2, "nothing was run that panels show");
    take(&mut evidence, &plan[2], 0.5, 1.0);
    let of = section(study, &evidence, "rows");
    let Exhibit::Lines { charts, .. } = &of.exhibits[2] else { panic!("it is a chart of lines") };
    assert_eq!((charts.len(), &*charts[0].x.labels), (2, &[1.0][..]));
    near(Some(charts[0].lines[0].points[0].1), 101.0);
    let answer = (study.answer)(&evidence);
    assert!(answer.iter().any(|of| of.starts_with("By size: marks: falls by 50 %")), "{answer:?}");
}

#[test]
fn what_is_wrong_has_its_place_and_its_remedy() {
    let other = "readings = { variants = [\"marks\"]";
    synthetic::are_refused(
        "factors",
        place,
        &[
            (other, "readings = { variants = [\"mark\"]", "`other` does not run `mark`", "`marks`"),
            (
                "readings_of = [\"main\", \"other\"]",
                "readings_of = [\"main\", \"main\"]",
                "`main` is there twice",
                "name each experiment once",
            ),
            (
                ", set = [\"switch.queue.size=3MB\"]",
                "",
                "the choice `3 MB` of `queue` sets nothing",
                "only the first choice",
            ),
            (
                "name = \"3 MB\"",
                "name = \"1 MB\"",
                "a choice `1 MB` of `queue` has no name of its own",
                "give each choice another name",
            ),
            (
                "name = \"threshold\"",
                "name = \"queue\"",
                "the factor `queue` has no name of its own",
                "give each factor another name",
            ),
            (
                "variants.more.switch.aqm=ramp",
                "variants.mre.switch.aqm=ramp",
                "`who marks` sets something for `mre`, which is no variant",
                "did you mean `more`?",
            ),
            (
                "most = ",
                "most = 0 # ",
                "the search for the nearest reading runs no experiment",
                "`most` is 1 or more",
            ),
            (
                "claimed = -50, measure",
                "claimed = -100, measure",
                "a change in percent is above -100, and not -100",
                "docs/own-study.md",
            ),
            (
                "variants.*.switch.aqm.ramp",
                "variants.*.switch.aqm.red",
                "no variant has `switch.aqm.red`",
                "have the table",
            ),
            (
                "variants = [\"marks\", \"more\"]\nmost",
                "variants = []\nmost",
                "has nothing to search for",
                "`variants` that the source may mean",
            ),
            (
                "from = \"main/plain\", to = \"main/{variant}\" } }]\n\n[measure",
                "of = \"main/{variant}\" } }]\n\n[measure",
                "`time` is no change",
                "write `from` and `to`",
            ),
            (
                "in_readings = true",
                "in_readings = true\nover = [\"late\"]",
                "`everywhere` is measured in readings",
                "leave `over` out",
            ),
            (
                "rows_of = \"choices\"\nx",
                "rows_of = \"readings\"\nx",
                "rows of readings or choices are those of a table",
                "kind = \"table\"",
            ),
            (
                "column = [\n    { label = \"change\", short = true, measure = { fct = \"mean\", from = \"main/plain\", to = \"main/marks\" } },\n    { label = \"plain\"",
                "column = [\n    { label = \"change\", shows = \"source\" },\n    { label = \"plain\"",
                "`change` says nothing about readings",
                "how it is measured",
            ),
            (
                "series = [{ label = \"time\", measure = { fct = \"mean\", from = \"main/plain\", to = \"main/marks\" }",
                "series = [{ label = \"time\", measure = { fct = \"mean\", of = \"main/marks\" }",
                "`time` is no change, and has no effects",
                "`from` and `to`",
            ),
            ("claimed_of = { more", "claimed_of = { most", "`claimed_of` has `most`", "`more`"),
            (
                "fct = \"changed\", as = \"flow_by_flow\", from",
                "fct = \"changed\", from",
                "`changed` compares the same flows",
                "as = \"flow_by_flow\"",
            ),
            (
                "fct = \"p50\", as",
                "sql = \"SELECT 1\", as",
                "flow by flow there are completion times",
                "fct = \"p50\"",
            ),
            (
                "sql = \"SELECT fct_ns, 1 FROM times\", pooled",
                "counter = \"x\", pooled",
                "`pooled` asks the rows",
                "as `sql`",
            ),
            (
                "WHERE a > (",
                "WHERE d > (",
                "this SQL cannot be asked: no such column: d",
                "a, b and c",
            ),
            (
                "FROM pool)\", of = \"main/plain\"",
                "FROM pool)\", runs = \"sum\", of = \"main/plain\"",
                "rows of all replications are those of one case",
                "leave `over` and `runs` out",
            ),
            (
                "scale = \"ratio\", as = \"change\"",
                "as = \"change\"",
                "`as` says what is measured of two cases",
                "leave it out",
            ),
            (
                "scenarios = [\"other.toml\"]",
                "scenarios = [\"others.toml\"]",
                "there is no file",
                "named from where",
            ),
        ],
    );
}
