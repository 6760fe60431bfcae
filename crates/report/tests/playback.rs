//! The playback of a record on the page: what the script is given is what was recorded.

use crate::check::{check, offline, scripts};
use crate::synthetic::{Case, ending, experiment, manifest, run};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::html::page;
use floodway_report::{Experiment, Manifest};
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;

const CASE: Case = Case { replications: 1, flows: 100, unfinished: false, drops: false };

/// Two hosts on a leaf below a spine, with as many samples, a microsecond apart, at which everything
/// is the same: host 0 has a busy link, and the leaf holds it up half of the time because so much
/// waits for host 1.
fn recorded(samples: u64, backlog: u64) -> Vec<Table> {
    let texts = |texts: &[&str]| -> Vec<String> { texts.iter().map(|s| s.to_string()).collect() };
    let switches = complete(
        Table::new("switches", "").text("node", "", texts(&["leaf <b>0</b>", "spine 0"])).u64(
            "tier",
            "",
            vec![0, 1],
        ),
    );
    let leaf = "leaf <b>0</b>";
    let links = complete(
        Table::new("links", "")
            .text("node", "", texts(&["host 0", "host 1", leaf, leaf, leaf, "spine 0"]))
            .u64("port", "", vec![0, 0, 0, 1, 2, 0])
            .text("peer", "", texts(&[leaf, leaf, "host 0", "host 1", "spine 0", leaf]))
            .f64("utilization", "", vec![0.5; 6]),
    );
    let record = complete(
        Table::new("record", "")
            .u64("recorded_samples", "", vec![samples])
            .f64("first_ns", "", vec![1_000.0])
            .f64("interval_ns", "", vec![1_000.0]),
    );
    let rows = samples as usize;
    let each = |of: fn(u64) -> f64| (0..samples).flat_map(|at| [of(at); 2]).collect::<Vec<_>>();
    let samples = complete(
        Table::new("samples", "")
            .f64("time_ns", "", each(|at| 1_000.0 * (at + 1) as f64))
            .text("node", "", texts(&["host 0", leaf].repeat(rows)))
            .u64("port", "", [0, 1].repeat(rows))
            .f64("busy_ns", "", [1_000.0, 250.0].repeat(rows))
            .f64("paused_ns", "", [500.0, 0.0].repeat(rows))
            .u64("backlog_bytes", "", [0, backlog].repeat(rows)),
    );
    vec![switches, links, record, samples]
}

fn page_of(experiment: &Experiment) -> String {
    page(experiment.manifest(), &experiment.summary(&ending()), experiment)
}

/// A page of the first variants with these tables.
fn page_with(variants: &[Vec<Table>]) -> String {
    let mut manifest: Manifest = manifest(CASE);
    manifest.variants.truncate(variants.len());
    let mut experiment = Experiment::new(&manifest);
    for (variant, tables) in variants.iter().enumerate() {
        experiment.add_run(&run(tables, variant, 0));
    }
    page_of(&experiment)
}

/// What the templates of a class hold.
fn held(page: &str, class: &str) -> Vec<Vec<u8>> {
    let begin = format!("<template class=\"{class}\">");
    let texts = page.split(&begin).skip(1).map(|text| text.split('<').next().unwrap());
    texts
        .map(|text| decompress_to_vec_zlib(&BASE64_STANDARD.decode(text).unwrap()).unwrap())
        .collect()
}

fn scene(page: &str) -> Value {
    serde_json::from_slice(&held(page, "scene")[0]).unwrap()
}

#[test]
fn the_script_is_given_what_was_recorded() {
    let page = page_with(&[recorded(3, 64), recorded(2, 128_000)]);
    check(&page);
    offline(&page);
    assert!(page.contains("<section id=\"congestion\">"));
    let scene = scene(&page);
    assert_eq!(scene["fabrics"].as_array().unwrap().len(), 1, "both have the same");
    let fabric = &scene["fabrics"][0];
    assert_eq!(fabric["ends"].as_array().unwrap().len(), 6);
    // The end of the leaf towards host 1: its node, port and peer, the end back, and one link.
    let end = &fabric["ends"][3];
    assert_eq!([&end[0], &end[1], &end[2], &end[3], &end[6]], [0, 1, 3, 1, 1]);
    let variants = scene["variants"].as_array().unwrap();
    let numbers = |variant: usize, key: &str| variants[variant][key].clone();
    assert_eq!(numbers(0, "name"), "without-ci");
    assert_eq!(numbers(0, "samples"), 3);
    assert_eq!(numbers(0, "paused"), serde_json::json!([1, 1, 1]));
    assert_eq!(numbers(1, "roots"), serde_json::json!([1, 1]));
    assert_eq!(numbers(1, "backlog"), serde_json::json!([128_000, 128_000]));
    // The second waits for more, at its first sample already.
    assert_eq!((&scene["worst"], &numbers(1, "worst")), (&1.into(), &0.into()));

    // Four kinds of bytes, six ports, and three samples of each.
    let cells = held(&page, "cells");
    assert_eq!((cells.len(), cells[0].len(), cells[1].len()), (2, 4 * 6 * 3, 4 * 6 * 2));
    let of = |kind: usize, port: usize| &cells[0][(kind * 6 + port) * 3..][..3];
    let (busy, depth, paused) = (0, 1, 2);
    assert_eq!((of(busy, 0), of(busy, 3)), (&[200; 3][..], &[50; 3][..]));
    assert_eq!((of(depth, 0), of(depth, 3)), (&[0; 3][..], &[1; 3][..]));
    // Half of the time; and the port from which that comes.
    assert_eq!((of(paused, 0), of(paused, 3)), (&[100; 3][..], &[255; 3][..]));
    // 64 bytes 2000 times are 10.97 doublings.
    assert_eq!(scene["deepest"], 89);
}

#[test]
fn the_picture_without_a_script_shows_the_worst_sample() {
    let page = page_with(&[recorded(3, 64), recorded(2, 128_000)]);
    let still = page.split("<figure class=\"still\">").nth(1).unwrap();
    let still = still.split("</figure>").next().unwrap();
    assert!(
        still.contains("ci-local at 1.00\u{a0}µs, the sample at which most is paused"),
        "{still}"
    );
    assert!(still.contains("<p>1 port paused, 1 root of pauses, 128\u{a0}KB waiting.</p>"));
    for class in ["busy b7", "paused p2", "node pauses", "queue", "root"] {
        assert_eq!(still.matches(&format!("class=\"{class}\"")).count(), 1, "{class}");
    }
    // Nothing is paused any more: where most waits.
    let mut calm = recorded(2, 500);
    let samples = calm.last_mut().unwrap();
    samples.columns.retain(|column| column.name != "paused_ns");
    let rows = samples.rows();
    calm.last_mut().unwrap().columns.push(floodway_model::table::Column {
        name: "paused_ns".into(),
        doc: "".into(),
        values: floodway_model::table::Values::F64(vec![0.0; rows].into()),
    });
    let page = page_with(&[calm]);
    assert!(page.contains("the sample at which most waits"));
    assert!(page.contains("<p>no port paused, 500\u{a0}B waiting.</p>"));
    assert!(!page.contains("switch that pauses a neighbor"), "nothing is said of pauses");
}

#[test]
fn names_are_text_and_not_markup() {
    let page = page_with(&[recorded(2, 64)]);
    assert!(!page.contains("<b>0</b>"));
    assert_eq!(scene(&page)["fabrics"][0]["nodes"][0][0], "leaf <b>0</b>");
}

#[test]
fn it_says_what_was_left_out() {
    let page = page_with(&[recorded(401, 64)]);
    assert_eq!(scene(&page)["variants"][0]["samples"], 134);
    assert!(page.contains("Every third sample of the record is shown, 134 of at most 200"));
    let page = page_with(&[recorded(200, 64)]);
    assert!(!page.contains("sample of the record is shown"));
}

#[test]
fn a_page_without_a_record_has_nothing_of_it() {
    let page = page_of(&experiment(CASE, |_| {}));
    assert_eq!(scripts(&page).len(), 3);
    assert!(!page.contains("playback") && !page.contains("Congestion over time"));
}
