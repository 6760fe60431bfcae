//! Studies in folders: numbers that can be computed by hand, and what is refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use floodway_study::readings::verdict::Outcome;
use floodway_study::{Built, CATALOGUE, Evidence, Experiment, Level, Study, folder, named};

use crate::synthetic::{self, Flow, add, near, tables};

const STUDY: &str = r#"
title = "Small"
question = "Is b sooner than a?"
answer = ["b changes small flows by {S1/mean}."]
set = ["seed=7"]

[level.quick]
replications = 2
[level.standard]
set = ["arrivals=200us"]
replications = 5

[flows.small]
below = "1KB"

[experiment.main]
scenario = "star.toml"

[experiment.sizes]
scenario = "star.toml"
variants = ["b"]
vary = { path = "switch.queue.size", values = ["1MB", "3MB"] }
from = "standard"

[[claim]]
id = "S1"
quotation = "b is sooner."
source = "page 1"
[[claim.number]]
part = "mean"
metric = "mean completion time of small flows"
claimed = "falls"
expected = "falls"
rule = { less = 5 }
measure = { fct = "mean", flows = "small", from = "main/a", to = "main/b" }
[[claim.number]]
part = "large"
metric = "difference of the largest completion times"
rule = "described"
measure = { sql = "SELECT max(fct_ns) FROM times", from = "main/a", to = "main/b", as = "difference", unit = "ns" }

[[claim]]
id = "S2"
quotation = "Half of all flows are small."
source = "page 2"
[[claim.number]]
metric = "share of small flows"
rule = { between = [40, 60] }
measure = { sql = "SELECT avg(bytes < 1000) FROM flows", scale = "share", unit = "% of flows", of = "main/b" }

[[check]]
metric = "flows"
rule = { exactly = 2 }
measure = { sql = "SELECT count(*) FROM flows", of = "main/a" }

[[section]]
name = "sizes"
heading = "Sizes"
claims = ["S1"]
[[section.chart]]
name = "curve"
caption = "Times by size"
kind = "curve"
x = { label = "size", unit = "bytes" }
y = { label = "time", unit = "ns" }
series = [
    { label = "b", measure = { fct = "mean", of = "sizes/b" } },
    { label = "paper", points = "points.csv" },
]
"#;

/// The scenario of these studies, with two variants.
pub fn scenario() -> String {
    format!("{}\n[variants.a]\n[variants.b]\nswitch.queue.size = \"2MB\"\n", synthetic::STAR)
}

/// A folder with the study, of which a part is replaced.
fn place(name: &str, from: &str, to: &str) -> PathBuf {
    let points = "size,time\n1e6,100\n3e6,90\n";
    let files = [("star.toml", &*scenario()), ("points.csv", points)];
    synthetic::place(name, STUDY, (from, to), &files)
}

fn study(name: &str) -> &'static Study {
    folder::load(&place(name, "title", "title")).unwrap_or_else(|error| panic!("{}", error.plain()))
}

#[test]
fn experiments_are_those_of_the_level() {
    let study = study("folder-plan");
    assert_eq!((study.entry.name, study.title), ("folder-plan", "Small"));
    let quick = (study.plan)(Level::Quick);
    assert_eq!(quick.len(), 1);
    assert_eq!(quick[0].set, ["seed=7", "replications=2"]);
    assert_eq!(quick[0].variants, Vec::<&str>::new(), "all of them");
    let standard = (study.plan)(Level::Standard);
    let names: Vec<&str> = standard.iter().map(|experiment| experiment.name).collect();
    assert_eq!(names, ["main", "sizes-1MB", "sizes-3MB"]);
    let set = ["seed=7", "switch.queue.size=3MB", "replications=5", "arrivals=200us"];
    assert_eq!(
        (&standard[2].variants, standard[2].set.as_slice()),
        (&vec!["b"], &set.map(str::to_owned)[..])
    );
}

/// Small flows take 100 and 200 ns with a, and half of it with b; the large one 1,000 ns, and 100 ns longer with b.
#[test]
fn numbers_are_measured_as_the_file_says() {
    let study = study("folder-numbers");
    let mut evidence = Evidence::new(study, Level::Standard, &[]);
    synthetic::begin(&mut evidence, "main");
    for (variant, replication, small, large) in [
        ("a", 0, 100.0, 1_000.0),
        ("a", 1, 200.0, 1_000.0),
        ("b", 0, 50.0, 1_100.0),
        ("b", 1, 100.0, 1_100.0),
    ] {
        let flows: [Flow; 2] = [(500, 0, Some(small)), (5_000, 0, Some(large))];
        add(&mut evidence, "main", variant, replication, &tables(&flows));
    }
    for (name, variant, time) in [("sizes-1MB", "b", 80.0), ("sizes-3MB", "b", 60.0)] {
        synthetic::begin(&mut evidence, name);
        add(&mut evidence, name, variant, 0, &tables(&[(500, 0, Some(time))]));
    }
    let (claims, checks) = study.judge(&evidence);
    let parts = &claims[0].parts;
    near(parts[0].measured, -50.0);
    near(parts[1].measured, 100.0);
    assert_eq!(parts[1].unit, "ns");
    near(claims[1].parts[0].measured, 50.0);
    near(checks[0].measured, 2.0);
    assert_eq!(Outcome::of(&study.rows_of("S1"), &evidence), Some(Outcome::Holds));
    assert_eq!((study.answer)(&evidence), ["b changes small flows by -50 %."]);
    let sections = (study.sections)(&evidence);
    let floodway_report::study::Exhibit::Lines { charts, legend, .. } = &sections[0].exhibits[0]
    else {
        panic!("a curve is a chart of lines")
    };
    assert_eq!(charts[0].lines[0].points, [(1e6, 80.0), (3e6, 60.0)]);
    assert_eq!(charts[0].lines[1].points, [(1e6, 100.0), (3e6, 90.0)]);
    assert_eq!(legend[1], (1, "paper".to_owned()));
    let command = sections[0].commands.join("\n");
    assert!(command.contains("--set switch.queue.size=1MB"), "{command}");
}

/// A change from 0 to 0 would be none, and hold.
#[test]
fn a_counter_that_no_run_has_is_no_number() {
    let by_time = "measure = { fct = \"mean\", flows = \"small\", from";
    let by_counter = "measure = { counter = \"pause_framez\", from";
    let folder = place("folder-counter", by_time, by_counter);
    let study = folder::load(&folder).unwrap_or_else(|error| panic!("{}", error.plain()));
    let mut evidence = Evidence::new(study, Level::Standard, &[]);
    synthetic::begin(&mut evidence, "main");
    for variant in ["a", "b"] {
        add(&mut evidence, "main", variant, 0, &tables(&[(500, 0, Some(100.0))]));
    }
    let (claims, _) = study.judge(&evidence);
    assert_eq!(claims[0].parts[0].measured, None);
    assert_eq!(
        evidence.unknown_counters(),
        ["No run has the counter `pause_framez`, so what asks for it is not measured. Did you \
             mean `pause_frames`?"]
    );
}

#[test]
fn readings_are_choices_of_factors() {
    let factor = r#"readings_of = ["main"]
[[factor]]
name = "size"
choice = [
    { name = "1 MB", source = "page 3" },
    { name = "3 MB", source = "page 4", set = ["switch.queue.size=3MB"] },
]
[level.quick]"#;
    let folder = place("folder-readings", "[level.quick]", factor);
    let study = folder::load(&folder).unwrap_or_else(|error| panic!("{}", error.plain()));
    let plan = (study.plan)(Level::Quick);
    let names: Vec<&str> = plan.iter().map(|experiment| experiment.name).collect();
    assert_eq!(names, ["main", "reading-00", "reading-01"]);
    assert_eq!(plan[2].set, ["seed=7", "replications=2", "switch.queue.size=3MB"]);
}

#[test]
fn what_is_wrong_has_its_place_and_its_remedy() {
    let refused = |case: usize, from: &str, to: &str| {
        let folder = place(&format!("folder-refused-{case}"), from, to);
        folder::load(&folder).expect_err(to).plain()
    };
    let cases = [
        (
            "kind = \"curve\"",
            "kind = \"curve\"\nheight = 1e300",
            "a chart is 50 to 2000 pixels high, and not 1000",
        ),
        (
            "kind = \"curve\"",
            "kind = \"curve\"\nbins = 0",
            "a chart has 1 to 10000 bins, and not 0",
        ),
        (
            "unit = \"bytes\" }",
            "unit = \"bytes\", limits = [5.0, 1.0] }",
            "5 is not less than 1: the lesser value comes first",
        ),
        (
            "unit = \"bytes\" }",
            "unit = \"bytes\", log = true, limits = [0.0, 5.0] }",
            "the logarithmic axis `size` begins at zero or below",
        ),
        (
            "unit = \"bytes\" }",
            "unit = \"bytes\", marks = [{ at = nan, label = \"none\" }] }",
            "NaN is no number that can be drawn",
        ),
        ("title = ", "titel = ", "unknown field `titel`"),
        ("\"main/a\", to", "\"main/c\", to", "there is no case `main/c`; a case is an experiment"),
        ("variants = [\"b\"]", "variants = [\"c\"]", "has no variant `c`"),
        ("scenario = \"star.toml\"", "scenario = \"stars.toml\"", "there is no file"),
        ("max(fct_ns) FROM times", "max(fct) FROM times", "cannot be asked: no such column: fct"),
        ("id = \"S2\"", "id = \"S1\"", "there are two claims `S1`"),
        (
            "[[check]]",
            "[[claim]]\nid = \"S3\"\nquotation = \"\"\nsource = \"\"\nnumber = []\n[[check]]",
            "`S3` has no numbers",
        ),
        ("[40, 60]", "[60, 40]", "the rule of this number has its lower limit above the upper one"),
        ("{ less = 5 }", "{ less = nan }", "has a limit that is not a number"),
        (
            "SELECT count(*) FROM flows",
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
            "this SQL cannot be asked: it does not come to an end",
        ),
        ("{S1/mean}.", "{S1/mean.", "a brace of this sentence is not closed"),
        (
            "fct = \"mean\", flows",
            "fct = \"p42\", flows",
            "`p42` is no statistic of completion times",
        ),
        ("flows = \"small\"", "flows = \"smal\"", "did you mean `small`"),
        ("{S1/mean}", "{S1}", "`{S1}` is no number of a claim"),
        (
            "of = \"sizes/b\"",
            "of = \"main/b\"",
            "a curve is of an experiment in which a setting varies",
        ),
        ("points.csv", "point.csv", "cannot be read"),
        ("claims = [\"S1\"]", "claims = [\"S3\"]", "there is no claim `S3`"),
        ("from = \"main/a\", to = \"main/b\" }", "from = \"main/a\" }", "both from and to"),
        ("of = \"main/a\"", "of = \"main/a\", as = \"difference\"", "and there is one"),
        (
            "path = \"switch.queue.size\", values = [\"1MB\", \"3MB\"]",
            "path = \"switch.aqm\", values = [\"drop_tail\"]",
            "`drop_tail` has no place on an axis",
        ),
    ];
    for (case, (from, to, message)) in cases.into_iter().enumerate() {
        let text = refused(case, from, to);
        assert!(text.contains(message), "{to}:\n{text}");
        assert!(text.contains("study.toml:") && text.contains("= help: "), "{text}");
    }
    // A scenario that cannot run is an error of its own.
    let folder = place("folder-scenario", "title", "title");
    fs::write(folder.join("star.toml"), scenario().replace("hosts = 4", "hosts = 0")).unwrap();
    let text = folder::load(&folder).unwrap_err().plain();
    assert!(text.contains("star.toml:"), "{text}");
    let text = folder::load(&folder.join("nowhere")).unwrap_err().plain();
    assert!(text.contains("a study is a folder with a file study.toml"), "{text}");
}

/// A score of 4.0 with a in both replications, of 4.4 and 4.2 with b: 0.3 points more, and Student's t of one degree of
/// freedom, 12.71, times 0.1 in either direction. No score is above 4.5, which is 0.5 more.
#[test]
fn scores_change_by_points() {
    let score = "scale = \"score\", per = 250.0";
    let folder = place("folder-scores", "as = \"difference\", unit = \"ns\"", score);
    let study = folder::load(&folder).unwrap_or_else(|error| panic!("{}", error.plain()));
    let mut evidence = Evidence::new(study, Level::Quick, &[]);
    synthetic::begin(&mut evidence, "main");
    for (variant, replication, large) in
        [("a", 0, 1_000.0), ("a", 1, 1_000.0), ("b", 0, 1_100.0), ("b", 1, 1_050.0)]
    {
        let flows: [Flow; 2] = [(500, 0, Some(100.0)), (5_000, 0, Some(large))];
        add(&mut evidence, "main", variant, replication, &tables(&flows));
    }
    let part = &study.judge(&evidence).0[0].parts[1];
    near(part.measured, 0.3);
    assert_eq!(part.unit, "points");
    near(part.low, 0.3 - 12.706_205 * 0.1);
    near(part.high, 0.5);
    let ratio = "scale = \"score\", as = \"ratio\"";
    let folder = place("folder-score-ratio", "as = \"difference\", unit = \"ns\"", ratio);
    let text = folder::load(&folder).unwrap_err().plain();
    assert!(text.contains("scores have no ratio: their changes are in points"), "{text}");
}

/// The study of interplay is one of these folders, and part of the program.
#[test]
fn a_folder_may_be_part_of_the_program() {
    let built = named("interplay").unwrap().unwrap();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../studies/interplay");
    let here = folder::load(&folder).unwrap_or_else(|error| panic!("{}", error.plain()));
    for (level, experiments) in [(Level::Quick, 17), (Level::Standard, 77), (Level::Full, 77)] {
        let (mine, theirs) = ((built.plan)(level), (here.plan)(level));
        assert_eq!(mine.len(), experiments);
        for (mine, theirs) in mine.iter().zip(&theirs) {
            assert_eq!((mine.name, &mine.set), (theirs.name, &theirs.set));
            assert_eq!(mine.file, "scenarios/ci/lossless.toml");
        }
    }
    assert_eq!(built.argument(), "interplay");
    assert_eq!(built.all_rows().count(), 3 * (11 + 6));
}

/// The folders that come with floodway: each can be loaded, and each of its scenarios runs at every level.
#[test]
fn shipped_studies_can_be_run() {
    let studies = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let folders = fs::read_dir(studies).unwrap().map(|entry| entry.unwrap().path());
    let folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    assert!(folders.iter().any(|folder| folder.ends_with("dctcp")));
    for folder in folders {
        let study = folder::load(&folder).unwrap_or_else(|error| panic!("{}", error.plain()));
        let built = CATALOGUE.iter().find(|of| of.name() == study.entry.name).map(Built::study);
        let mut tried = BTreeSet::new();
        for level in [Level::Quick, Level::Standard, Level::Full] {
            let plan = (study.plan)(level);
            // Those of the program have the same experiments there, and `plan` tries all of them.
            if let Some(built) = built {
                let settings = |of: Experiment| (of.name, of.variants, of.set, of.single);
                let there = (built.plan)(level).into_iter().map(settings);
                assert!(plan.into_iter().map(settings).eq(there), "{}", study.entry.name);
                continue;
            }
            for experiment in plan {
                if tried.insert((experiment.file, experiment.set.clone(), experiment.single)) {
                    let scenario = experiment.scenario(&study.library, &[]);
                    scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
                }
            }
        }
        // Rules are written before the runs, and so is what was expected.
        for row in study.all_rows() {
            assert!(!row.expected.is_empty(), "{row:?}");
        }
    }
}

#[test]
fn the_study_of_dctcp_has_the_numbers_of_its_paper() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../studies/dctcp");
    let study = folder::load(&folder).unwrap();
    let quick: Vec<&str> = (study.plan)(Level::Quick).iter().map(|of| of.name).collect();
    let readings = ["reading-00", "reading-01", "reading-02", "reading-03"];
    assert_eq!(quick, [&["multi-hop", "two-flows"], &readings[..]].concat());
    let claimed: Vec<&str> = study.rows_of("F1").iter().map(|row| row.claimed).collect();
    assert_eq!(claimed, ["46 Mb/s", "475 Mb/s", "54 Mb/s"]);
    // The points that are laid over have the mean of a group for each of its flows.
    let points = fs::read_to_string(folder.join("paper.csv")).unwrap();
    let rates: Vec<&str> =
        points.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
    assert_eq!(rates, [["46"; 10], ["475"; 10], ["475"; 10], ["54"; 10]].concat());
}

/// A wrong setting has its place in the file of the study, if it is written there; one that was given for this run keeps the
/// place where it was given.
#[test]
fn wrong_settings_are_shown_where_they_are_written() {
    let folder = place("folder-setting", r#"set = ["seed=7"]"#, r#"set = ["seed=7", "warm=1us"]"#);
    let own = folder::load(&folder).expect_err("no such field").plain();
    assert!(own.contains("no field `warm`") && own.contains("study.toml:5:19\n"), "{own}");
    assert!(own.contains("  |                   ^^^^\n"), "{own}");
    let study = study("folder-setting-given");
    let given = (study.plan)(Level::Quick)[0].scenario(&study.library, &["warm=1us".to_owned()]);
    let given = given.expect_err("no such field").plain();
    assert!(given.contains("--> --set:1:1"), "{given}");
}
