//! What the file of a study says once for many numbers: quantities, lists of settings, readings, charts side by side; and
//! facts of its scenarios.

use std::path::PathBuf;

use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::study::{Exhibit, Verdict};
use floodway_study::{Evidence, Level, Study, folder};

use crate::synthetic::{self, add, near, tables};

const STUDY: &str = r#"
title = "Small"
question = "How does b compare with a?"
answer = ["{change} and {S1/time moves}; {#by-size falls} of {#by-size run} fall, {by-size at most -60}."]

[table]
linux = "linux.csv"

[quantity.dropped]
sql = "SELECT sum(packets) FROM drops"
unit = "packets"

[quantity.time]
fct = "mean"

[[settings.size]]
name = "1"
label = "1 MB"
at = 1e6
set = ["switch.queue.size=1MB"]
[[settings.size]]
name = "2"
label = "2 MB"
at = 2e6
[[settings.size]]
name = "3"
label = "3 MB"
set = ["switch.queue.size=3MB"]
at = 3e6

[experiment."star-{size}"]
scenario = "{size}-star.toml"
over = ["size"]
except = ["3"]
set = ["switch.queue.size=4MB"]
level.quick = { set = ["arrivals=50us"], replications = 3 }

[experiment."other-{size}"]
scenario = "1-star.toml"
over = ["size"]
except = ["2"]

[[reading]]
stands_for = { star-1 = "star-1", star-2 = "star-2" }
[[reading]]
over = ["size"]
except = ["2"]
stands_for = { star-1 = "other-{size}" }

[[claim]]
id = "S1"
quotation = "b is sooner."
source = "page 1"
result = "b is sooner: {S1/time moves}."
[[claim.number]]
part = "time"
metric = "mean completion time, b vs. a"
rule = { less = 5 }
measure = { quantity = "time", over = ["size"], except = ["3"], from = "star-{size}/a", to = "star-{size}/b" }

[[claim]]
id = "S2"
quotation = "b drops less."
source = "page 2"
[[claim.number]]
part = "all"
metric = "packets that b drops in all runs"
source = "page 3"
rule = { at_most = 100 }
measure = { quantity = "dropped", runs = "sum", over = ["size"], except = ["3"], every = true, of = "star-{size}/b" }
[[claim.number]]
part = "most"
metric = "packets that b drops in any run"
rule = { at_most = 100 }
measure = { quantity = "dropped", runs = "most", of = "star-1/b" }
[[claim.number]]
part = "share"
metric = "packets that b drops, as a share of those that a drops"
rule = { at_most = 50 }
measure = { quantity = "dropped", runs = "sum", as = "share", from = "star-1/a", to = "star-1/b" }
[[claim.number]]
part = "decrease"
metric = "decrease of the packets dropped"
rule = { more = 5 }
measure = { quantity = "dropped", as = "decrease", from = "star-1/a", to = "star-1/b" }
[[claim.number]]
part = "than"
metric = "drops compared with times"
rule = { less = 5 }
measure = { quantity = "dropped", from = "star-1/a", to = "star-1/b", than = { quantity = "time" } }
[[claim.number]]
part = "unpaired"
metric = "the same with 2 MB compared with 1 MB"
rule = "described"
measure = { quantity = "time", from = "star-2/a", to = "star-2/b", than = { from = "star-1/a", to = "star-1/b" }, unpaired = true }

[[claim.number]]
part = "of Linux"
metric = "packets dropped, as a multiple of those in Linux"
rule = "described"
measure = { of = "star-1/b", scale = "ratio", unit = "x", sql = """SELECT 1.0 * sum(drops.packets) / (SELECT packets
    FROM linux WHERE variant = (SELECT DISTINCT variant FROM settings)) FROM drops""" }

[[check]]
metric = "packets that Linux drops"
rule = { exactly = 12 }
measure = { fact = "SELECT sum(packets) FROM linux" }
[[check]]
id = "C1"
part = "hosts"
source = "page 4"
metric = "hosts and ports of b"
rule = { exactly = 4 }
measure = { fact = "SELECT count(*) FROM network_nodes JOIN network_links USING (scenario, variant, node) WHERE variant = 'b' AND kind = 'host' AND scenario = '2-star.toml'" }
[[check]]
metric = "values of the source"
rule = { exactly = 3 }
measure = { fact = """SELECT count(*) FROM settings WHERE (scenario, variant, path, value) IN (VALUES
    ('1-star.toml', 'a', 'switch.queue.size', '2MB'), ('1-star.toml', 'b', 'topology.star.rate', '100Gbps'),
    ('1-star.toml', 'a', 'topology.star.hosts', '4'), ('1-star.toml', 'a', 'topology.star.hosts', '5'))""" }
[[check]]
metric = "rate of the links, as a setting and as `floodway check` has it"
rule = { exactly = 2e11 }
measure = { unit = "b/s", fact = """SELECT sum(number) FROM (SELECT number FROM settings WHERE path = 'topology.star.rate'
    AND variant = 'a' AND scenario = '1-star.toml' UNION ALL SELECT number FROM derived WHERE path = 'link_rates.0'
    AND variant = 'a' AND scenario = '1-star.toml')""" }

[measure.change]
measure = { quantity = "time", from = "star-2/a", to = "star-2/b" }
[measure.by-size]
over = ["size"]
except = ["3"]
measure = { quantity = "time", from = "star-{size}/a", to = "star-{size}/b" }

[[section]]
name = "sizes"
heading = "Sizes"
claims = ["S1", "C1"]
text = ["It {change moves}."]

[[section.chart]]
name = "curves"
caption = "Times and drops"
kind = "curve"
over = ["size"]
except = ["3"]
x = { label = "size", unit = "bytes" }
height = 260
panel = [
    { heading = "times", y = { label = "time", unit = "ns" }, measure = { quantity = "time" } },
    { heading = "drops", title = "Drops by size", measure = { quantity = "dropped" } },
]
series = [
    { label = "a", measure = { of = "star-{size}/a" } },
    { label = "b", look = 4, measure = { of = "star-{size}/b" } },
]

[[section.chart]]
name = "rows"
caption = "Numbers"
kind = "table"
over = ["size"]
except = ["3"]
row = [{ label = "{size}", of = "star-{size}" }]
column = [
    { label = "b", measure = { quantity = "time", of = "b" } },
    { label = "change", short = true, measure = { quantity = "time", from = "a", to = "b" } },
]
"#;

fn place(name: &str, from: &str, to: &str) -> PathBuf {
    let star = format!(
        "{}\n[switch.queue]\nsize = \"2MB\"\n[variants.a]\n[variants.b]\n",
        synthetic::STAR
    );
    let linux = "# kernel 6.12\nvariant,packets\na,8\nb,4\n";
    let files = [("1-star.toml", &*star), ("2-star.toml", &*star), ("linux.csv", linux)];
    synthetic::place(name, STUDY, (from, to), &files)
}

fn study(name: &str) -> &'static Study {
    folder::load(&place(name, "title", "title")).unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// A run with one flow of this time, which drops so many packets.
fn run(time: f64, drops: u64) -> Vec<Table> {
    let mut tables = tables(&[(500, 0, Some(time))]);
    tables.retain(|table| table.name != "drops");
    tables.push(complete(
        Table::new("drops", "").text("reason", "", vec!["queue_full".to_owned()]).u64(
            "packets",
            "",
            vec![drops],
        ),
    ));
    tables
}

/// In `star-1` b takes a half of the time and drops a tenth of the packets of a, in `star-2` a quarter of the time and
/// half of the packets. Each time the second run has twice of everything.
fn evidence(study: &'static Study, experiments: &[&str]) -> Evidence {
    let mut evidence = Evidence::new(study, Level::Standard, &[]);
    for name in experiments {
        synthetic::begin(&mut evidence, name);
        for replication in 0..2 {
            let factor = u64::from(replication + 1);
            let time = factor as f64 * 1_000.0;
            add(&mut evidence, name, "a", replication, &run(time, 20 * factor));
            let b = if *name == "star-1" {
                run(time / 2.0, 2 * factor)
            } else {
                run(time / 4.0, 10 * factor)
            };
            add(&mut evidence, name, "b", replication, &b);
        }
    }
    evidence
}

#[test]
fn experiments_are_named_by_a_pattern_and_keep_the_order_of_the_file() {
    let study = study("quantities-plan");
    let plan = (study.plan)(Level::Quick);
    let names: Vec<&str> = plan.iter().map(|of| of.name).collect();
    assert_eq!(names, ["star-1", "star-2", "other-1", "other-3"]);
    // What is for fewer runs comes later.
    let set = ["switch.queue.size=4MB", "switch.queue.size=1MB", "replications=3", "arrivals=50us"];
    assert_eq!(plan[0].set, set);
    assert!(plan[0].file.ends_with("1-star.toml") && plan[1].file.ends_with("2-star.toml"));
}

#[test]
fn numbers_over_settings_and_runs() {
    let study = study("quantities-numbers");
    let evidence = evidence(study, &["star-1", "star-2"]);
    let parts = synthetic::parts(study, &evidence);
    let of = |id, part| synthetic::claim(&parts, id, part).measured;
    // The geometric mean of 1/2 and 1/4.
    near(of("S1", "time"), 100.0 * (0.125_f64.sqrt() - 1.0));
    near(of("S2", "all"), 2.0 + 4.0 + 10.0 + 20.0);
    near(of("S2", "most"), 4.0);
    near(of("S2", "share"), 10.0);
    near(of("S2", "decrease"), 90.0);
    // A tenth compared with a half, and a quarter with a half.
    near(of("S2", "than"), -80.0);
    near(of("S2", "unpaired"), -50.0);
    // b drops 2 and 4 packets, and Linux 4: the geometric mean of a half and 1.
    near(of("S2", "of Linux"), 0.5_f64.sqrt());
    assert_eq!(synthetic::claim(&parts, "S2", "all").source, "page 3");
    let (claims, checks) = study.judge(&evidence);
    assert_eq!(claims[0].result, "b is sooner: falls by 65 % (the same in all replications).");
    assert_eq!((checks[1].id.as_str(), checks[2].id.as_str()), ("C1", "check 3"));
    let values: Vec<Option<f64>> = checks.iter().map(|check| check.measured).collect();
    assert_eq!(values, [Some(12.0), Some(4.0), Some(3.0), Some(2e11)]);
    assert!(checks[1].expected.starts_with("a check of the scenario, not a result; "));
    assert_eq!(
        (study.answer)(&evidence),
        ["-75 % and falls by 65 % (the same in all replications); 2 of 2 fall, \"2 MB\"."]
    );
}

/// `every` asks for all settings; otherwise those count that were run.
#[test]
fn settings_that_were_not_run_are_left_out_unless_all_are_asked_for() {
    let study = study("quantities-not-run");
    let parts = synthetic::parts(study, &evidence(study, &["star-1"]));
    near(synthetic::claim(&parts, "S1", "time").measured, -50.0);
    assert_eq!(synthetic::claim(&parts, "S2", "all").measured, None);
}

/// The main reading and two others, in each of which another experiment stands for `star-1`.
#[test]
fn readings_are_experiments_of_their_own() {
    let study = study("quantities-readings");
    let evidence = evidence(study, &["star-1", "star-2", "other-1", "other-3"]);
    let judged = (study.readings)(&evidence);
    let names: Vec<&str> = judged.open.iter().map(|open| open.name.as_str()).collect();
    assert_eq!(names, ["1 MB", "3 MB"]);
    assert_eq!(judged.readings[2].stands_for, [("star-1", "other-3"), ("star-1", "star-1")]);
    let (claims, _) = study.judge(&evidence);
    assert_eq!((claims[0].verdict, claims[0].readings.counts.holds), (Verdict::Holds, 3));
}

#[test]
fn charts_stand_side_by_side_and_rows_may_be_experiments() {
    let study = study("quantities-charts");
    let evidence = evidence(study, &["star-1", "star-2"]);
    let sections = (study.sections)(&evidence);
    assert_eq!(sections[0].text, ["It falls by 75 % (the same in all replications)."]);
    let Exhibit::Lines { legend, charts, columns, .. } = &sections[0].exhibits[0] else {
        panic!("lines")
    };
    assert_eq!((charts.len(), *columns, charts[0].height), (2, 2, 260.0));
    assert_eq!(legend[1], (4, "b".to_owned()));
    assert_eq!((&*charts[0].title, &*charts[1].title), ("Times and drops: times", "Drops by size"));
    assert_eq!(charts[0].lines[1].points, [(1e6, 750.0), (2e6, 375.0)]);
    assert_eq!(charts[1].lines[0].points, [(1e6, 30.0), (2e6, 30.0)]);
    let Exhibit::Table { rows, .. } = &sections[0].exhibits[1] else { panic!("a table") };
    let last: Vec<&str> = rows.iter().map(|row| row[2].as_str()).collect();
    assert_eq!((rows[0][0].as_str(), last), ("1 MB", vec!["-50", "-75"]));
}

#[test]
fn what_is_wrong_has_its_place_and_its_remedy() {
    let cases = [
        (
            "rule = { less = 5 }\nmeasure = { quantity = \"time\"",
            "rule = { less = 5 }\nmeasure = { quantity = \"tim\"",
            "there is no quantity `tim`",
            "did you mean `time`?",
        ),
        (
            "rule = { less = 5 }\nmeasure = { quantity = \"time\"",
            "rule = { less = 5 }\nmeasure = { counter = \"x\", quantity = \"time\"",
            "a measure has exactly one of `fct`",
            "for example",
        ),
        (
            "runs = \"most\"",
            "as = \"share\"",
            "`as` says what is measured of two cases",
            "leave it",
        ),
        ("runs = \"sum\", as = \"share\"", "as = \"share\"", "a share is one of sums", "runs ="),
        ("as = \"decrease\"", "runs = \"sum\"", "sums of two cases are a share", "as = \"share\""),
        ("than = { quantity = \"time\" }", "unpaired = true", "no other change", "write than ="),
        ("as = \"decrease\"", "as = \"size\"", "no other change", "write than ="),
        (
            "measure = { fact = \"SELECT count(*)",
            "measure = { of = \"star-1/a\", fact = \"SELECT count(*)",
            "a fact is of scenarios, not of a case",
            "leave `of`",
        ),
        (
            "measure = { fact = \"SELECT count(*) FROM network_nodes",
            "measure = { fact = \"SELECT count(*) FROM network_node",
            "no such table: network_node",
            "settings, derived, network_nodes",
        ),
        (
            "linux = \"linux.csv\"",
            "linux = \"lnux.csv\"",
            "lnux.csv cannot be read",
            "beside study.toml",
        ),
        ("linux = \"linux.csv\"", "linux = \"1-star.toml\"", "1-star.toml:", "as many values"),
        (
            "linux = \"linux.csv\"",
            "flows = \"linux.csv\"",
            "`flows` is a table of every run",
            "another name",
        ),
        ("except = [\"3\"]\nset", "except = [\"4\"]\nset", "there is no setting `4`", "1"),
        ("\"other-{size}\" }", "\"oter-{size}\" }", "there is no experiment `oter-1`", "other-1"),
        ("{change} and", "{chang} and", "`{chang}` is no number", "change"),
        (
            "over = [\"size\"]\nexcept = [\"3\"]\nx =",
            "over = [\"size\", \"size\"]\nx =",
            "`size` is there twice",
            "once",
        ),
    ];
    synthetic::are_refused("quantities", place, &cases);
}
