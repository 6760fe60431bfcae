//! The claims of a scenario: numbers that can be computed by hand.

use floodway_report::study::{Claim, Comparison, Verdict};
use floodway_scenario::{Overrides, Scenario};
use floodway_study::{Evidence, RunClaims};

use crate::synthetic::{Flow, add, near, tables};

const SCENARIO: &str = r#"
name = "star"
arrivals = "100us"
limit = "1ms"
replications = 2

[topology.star]
hosts = 4

[[workload]]
incast = { senders = 2 }

[variants.a]
[variants.b]
switch.queue.size = "2MB"

[flows.small]
below = "1KB"

[[claim]]
id = "C1"
quotation = "b is sooner."
source = "page 1"
[[claim.number]]
part = "small"
metric = "mean completion time of small flows, b vs. a"
claimed = "falls by half"
rule = { effect = [-55, -45] }
measure = { fct = "mean", flows = "small", from = "a", to = "b" }
[[claim.number]]
part = "pauses"
metric = "pause frames"
rule = { exactly = 12 }
measure = { counter = "pause_frames", of = "a" }

[[claim]]
id = "C2"
quotation = "Flows of b are large."
source = "page 2"
[[claim.number]]
metric = "smallest flow"
rule = { between = [1e6, 1e9] }
measure = { sql = "SELECT min(bytes) FROM flows", of = "b", unit = "bytes" }

[[claim]]
id = "C3"
quotation = "Nobody says how many there are."
source = "page 3"
[[claim.number]]
metric = "flows"
rule = "never"
measure = { sql = "SELECT count(*) FROM flows", of = "a" }
"#;

fn claims(text: &str) -> Result<RunClaims, String> {
    let scenario = Scenario::parse(text, "star.toml", &Overrides::default())
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    RunClaims::of(&scenario)
        .map(|claims| claims.expect("it has claims"))
        .map_err(|error| error.plain())
}

/// Small flows take 100 and 200 ns with a, and half of it with b.
fn judged(variants: &[&str]) -> (RunClaims, Vec<Claim>) {
    let claims = claims(SCENARIO).unwrap();
    let mut evidence: Evidence = claims.evidence();
    for (variant, replication, time) in
        [("a", 0, 100.0), ("a", 1, 200.0), ("b", 0, 50.0), ("b", 1, 100.0)]
    {
        if variants.contains(&variant) {
            let flows: [Flow; 2] = [(500, 0, Some(time)), (5_000, 0, Some(1_000.0))];
            add(&mut evidence, "", variant, replication, &tables(&flows));
        }
    }
    let judged = claims.judge(&evidence);
    (claims, judged)
}

#[test]
fn they_are_judged_as_those_of_a_study() {
    let (of, claims) = judged(&["a", "b"]);
    assert_eq!(of.names().collect::<Vec<_>>(), ["C1", "C2", "C3"]);
    near(claims[0].parts[0].measured, -50.0);
    assert_eq!(claims[0].parts[0].verdict, Comparison::Reproduced);
    near(claims[0].parts[1].measured, 12.0);
    near(claims[1].parts[0].measured, 500.0);
    let verdicts: Vec<Verdict> = claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::DoesNotHold, Verdict::CannotBeJudged]);
    // Nobody can insist on what the source does not say.
    assert_eq!(of.not_held(&claims), ["claim C2 does not hold: Smallest flow: 500 B"]);
}

#[test]
fn variants_that_were_not_run_leave_a_claim_open() {
    let (of, claims) = judged(&["a"]);
    assert_eq!(claims[0].verdict, Verdict::CannotBeJudged);
    assert_eq!(claims[0].parts[0].remark, "not judged: variant `b` was not run");
    assert_eq!(claims[0].parts[1].verdict, Comparison::Reproduced);
    assert_eq!(claims[1].result, "Not judged: variant `b` was not run.");
    let insisted = of.not_held(&claims);
    assert_eq!(insisted.len(), 2, "{insisted:?}");
    assert_eq!(insisted[1], "claim C2 cannot be judged: Not judged: variant `b` was not run");
    let (_, claims) = judged(&[]);
    assert_eq!(claims[0].parts[0].remark, "not judged: variants `a` and `b` were not run");
}

#[test]
fn what_is_wrong_has_its_place_and_its_remedy() {
    let cases = [
        (
            "of = \"b\"",
            "of = \"c\"",
            "error: the scenario has no variant `c`\n  --> star.toml:43:56\n",
            "did you mean `a`? The variants are: a, b",
        ),
        (
            "min(bytes)",
            "min(size)",
            "error: this SQL cannot be asked: no such column: size\n  --> star.toml:43:19\n",
            "docs/own-study.md",
        ),
        (
            "fct = \"mean\"",
            "fct = \"p42\"",
            "error: `p42` is no statistic of completion times\n  --> star.toml:29:19\n",
            "p99.9",
        ),
        ("id = \"C2\"", "id = \"C1\"", "there are two claims `C1`", "name of its own"),
        (
            "of = \"b\"",
            "of = \"b\", as = \"difference\"",
            "`as` says what is measured of two cases, and there is one",
            "leave it out",
        ),
        (
            "source = \"page 2\"",
            "source = \"page 2\"\nover = [\"size\"]",
            "there is no list of settings `size`",
            "lists stand in the file of a study: [[settings.NAME]]",
        ),
        (
            "counter = \"pause_frames\", ",
            "",
            "a measure has exactly one of `fct`, `counter`, `fairness` and `sql`",
            "for example fct = \"mean\"",
        ),
    ];
    for (from, to, cause, remedy) in cases {
        assert!(SCENARIO.contains(from), "{from}");
        let text = claims(&SCENARIO.replacen(from, to, 1)).unwrap_err();
        assert!(text.contains(cause) && text.contains("star.toml:"), "{to}:\n{text}");
        assert!(text.contains(remedy), "{to}:\n{text}");
    }
}

/// A file that extends another has the claims that it writes itself.
#[test]
fn a_scenario_without_claims_has_none() {
    let end = SCENARIO.find("[flows.small]").unwrap();
    let scenario = Scenario::parse(&SCENARIO[..end], "star.toml", &Overrides::default()).unwrap();
    assert!(RunClaims::of(&scenario).unwrap().is_none());
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("claims-extended");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("star.toml"), SCENARIO).unwrap();
    let file = folder.join("other.toml");
    std::fs::write(&file, "extends = \"star.toml\"\nname = \"other\"\n").unwrap();
    let scenario = Scenario::load(&file, &Overrides::default()).unwrap();
    assert_eq!(scenario.variants().len(), 2);
    assert!(RunClaims::of(&scenario).unwrap().is_none());
}
