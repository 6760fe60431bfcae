//! Distributions over all replications, rates of flows over time, and fairness, in the file of a study.

use std::path::PathBuf;

use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::chart::Line;
use floodway_report::study::Exhibit;
use floodway_study::{Evidence, Level, Study, folder};

use crate::synthetic::{self, add, near, tables};

const STUDY: &str = r#"
title = "Shares"
question = "Who has how much?"

[experiment.main]
scenario = "star.toml"

[[claim]]
id = "S1"
quotation = "All are equal."
source = "page 1"
[[claim.number]]
part = "fairness"
metric = "Jain's index"
rule = { at_most = 1 }
measure = { fairness = "100ns", of = "main/base" }
[[claim.number]]
part = "rate"
metric = "rate after the warm-up, of the link"
rule = { at_most = 1 }
measure = { sql = "SELECT sum(bps) / setting('topology.star.rate') FROM rates", of = "main/base" }

[[section]]
name = "charts"
heading = "Charts"

[[section.chart]]
name = "tail"
caption = "Sizes"
kind = "tail"
x = { label = "size", unit = "bytes" }
y = { label = "share of larger ones" }
series = [{ label = "flows", measure = { sql = "SELECT bytes, 1 FROM flows", of = "main/base" } }]

[[section.chart]]
name = "shares"
caption = "Sizes"
kind = "shares"
bins = 2
x = { label = "size", unit = "bytes", limits = [0.0, 400.0] }
y = { label = "share" }
series = [{ label = "flows", measure = { sql = "SELECT bytes, 1 FROM flows", of = "main/base" } }]

[[section.chart]]
name = "rates"
caption = "Rates"
kind = "points"
x = { label = "time", unit = "ns" }
y = { label = "rate", unit = "b/s" }
series = [{ label = "flow", measure = { sql = "SELECT from_ns, bps, flow FROM rates_100ns ORDER BY from_ns", of = "main/base" } }]
"#;

fn place(name: &str, from: &str, to: &str) -> PathBuf {
    let star =
        synthetic::STAR.replace("100us\"", "300ns\"\nwarmup = \"100ns\"").replace("0us", "150ns");
    let star = star.replace("replications = 2\n", "");
    synthetic::place(name, STUDY, (from, to), &[("star.toml", &star)])
}

/// Flows that deliver this many bytes by 100, 200 and 300 ns.
fn deliveries(of: [[u64; 3]; 2]) -> Table {
    let rows = || [0, 1, 2].into_iter().flat_map(|at| [0, 1].map(|flow| (at, flow)));
    complete(
        Table::new("deliveries", "")
            .f64("time_ns", "", rows().map(|(at, _)| (at as f64 + 1.0) * 100.0).collect())
            .u64("flow", "", rows().map(|(_, flow)| flow as u64).collect())
            .u64("delivered_bytes", "", rows().map(|(at, flow)| of[flow][at]).collect()),
    )
}

fn evidence(study: &'static Study) -> Evidence {
    let mut evidence = Evidence::new(study, Level::Standard, &[]);
    synthetic::begin(&mut evidence, "main");
    for (replication, large) in [(0, 200), (1, 400)] {
        let mut tables = tables(&[(100, 0, None), (large, 0, None)]);
        tables.push(deliveries([[100, 200, 300], [100, 200, 200]]));
        add(&mut evidence, "main", "base", replication, &tables);
    }
    evidence
}

#[test]
fn distributions_are_over_all_replications() {
    let study = folder::load(&place("distributions", "title", "title"));
    let study = study.unwrap_or_else(|error| panic!("{}", error.plain()));
    let evidence = evidence(study);
    let parts = synthetic::parts(study, &evidence);
    // Two windows with equal rates, and one in which a flow has all.
    near(parts[0].measured, (1.0 + 1.0 + 0.5) / 3.0);
    // 200 and 100 bytes in 200 ns, of 100 Gb/s.
    near(parts[1].measured, 0.12);
    let exhibits = &(study.sections)(&evidence)[0].exhibits;
    let lines = |at: usize| -> &[Line] {
        let Exhibit::Lines { charts, .. } = &exhibits[at] else { panic!("it is of lines") };
        &charts[0].lines
    };
    assert_eq!(lines(0)[0].points, [(100.0, 0.5), (200.0, 0.25)]);
    // 100, 100 and 200 bytes; then one of 400.
    assert_eq!(lines(1)[0].points, [(0.0, 0.0), (0.0, 0.75), (200.0, 0.25), (400.0, 0.0)]);
    assert!(lines(1)[0].steps);
    // A line for each flow, of the first replication.
    assert_eq!(lines(2)[0].points, [(0.0, 8e9), (100.0, 8e9), (200.0, 8e9)]);
    assert_eq!(lines(2)[1].points, [(0.0, 8e9), (100.0, 8e9), (200.0, 0.0)]);
}

#[test]
fn what_has_no_width_is_refused() {
    let refused = |name: &str, from: &str, to: &str| {
        folder::load(&place(name, from, to)).expect_err(to).plain()
    };
    let text = refused("distributions-window", "fairness = \"100ns\"", "fairness = \"0ns\"");
    assert!(text.contains("the windows of `fairness` have no length"), "{text}");
    let text = refused("distributions-end", ", limits = [0.0, 400.0]", "");
    assert!(text.contains("the horizontal axis of `shares` has no end"), "{text}");
    assert!(text.contains("write limits = [0.0, …]"), "{text}");
    let text = refused("distributions-columns", "SELECT bytes, 1", "SELECT bytes");
    assert!(text.contains("has 1 columns, and should have two columns"), "{text}");
}
