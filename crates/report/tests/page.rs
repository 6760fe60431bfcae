//! The page: whole, self-contained, honest about what is missing.

use floodway_model::tables::complete;
use std::collections::BTreeSet;

use crate::check::{HOSTILE, SHOWN, check, data, offline, printable, scripts};
use crate::synthetic::{Case, ending, experiment, manifest, run, tables};
use floodway_model::Table;
use floodway_model::table::Values;
use floodway_report::html::page;
use floodway_report::{Experiment, InputFile, Manifest, Run};

const SOUND: Case = Case { replications: 3, flows: 1_000, unfinished: false, drops: false };
const LOSSY: Case = Case { replications: 1, flows: 1_000, unfinished: true, drops: true };

fn page_of(experiment: &Experiment) -> String {
    page(experiment.manifest(), &experiment.summary(&ending()), experiment)
}

#[test]
fn a_page_needs_nothing_but_itself() {
    for case in [SOUND, LOSSY] {
        let page = page_of(&experiment(case, |_| {}));
        check(&page);
        offline(&page);
        assert!(page.len() < 850_000, "{} bytes", page.len());
    }
}

#[test]
fn a_page_answers_its_question() {
    let page = page_of(&experiment(SOUND, |_| {}));
    assert!(page.contains("<h1>What does Congestion Isolation do to flows that are not to blame"));
    assert!(page.contains("<strong>ci</strong> vs. without-ci: mean completion time of mice"));
    for (id, heading) in [
        ("fct", "Flow completion time (FCT)"),
        ("fct-distribution", "FCT distribution (CDF and CCDF)"),
        ("rates", "Rates of flows over time"),
        ("utilization", "Link utilization"),
        ("pauses", "Pause frames and paused time"),
        ("queues", "Queue depth"),
        ("occupancy", "Buffer occupancy"),
        ("counters", "All counters"),
        ("guide", "How to read this page"),
        ("scenario", "Scenario"),
        ("provenance", "Provenance"),
    ] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
        assert!(
            page.contains(&format!("<h2>{heading}<a class=\"anchor\" href=\"#{id}\"")),
            "{heading}"
        );
        let entry = format!("<a href=\"#{id}\">{heading}</a>");
        assert_eq!(page.matches(&entry).count(), 1, "{heading} in the list of contents");
    }
    assert!(page.contains("Buffer in use over time"));
    assert!(
        page.contains("<dd>packet losses in the measured interval</dd>"),
        "what did not happen"
    );
    assert!(!page.contains("id=\"losses\""), "and there is no section about it");
    assert!(page.contains("hosts_per_leaf = 8"), "the scenario's text is there");
    assert!(page.contains("switch.queue.size=2MB"), "what the command line changed is there");
    assert!(page.contains("2026-03-14T09:26:53Z"));
}

#[test]
fn every_figure_has_its_data() {
    let page = page_of(&experiment(SOUND, |_| {}));
    let all = data(&page);
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), all.len(), "files of the same name would replace each other");
    assert_eq!(page.matches("<figure data-name=").count(), all.len());
    for (name, _) in &all {
        assert!(page.contains(&format!("id=\"figure-{name}\"")), "{name} has an anchor");
    }
    assert!(page.contains("<body data-name=\"ci-lossless\" "));
    let of = |name: &str| {
        let (_, data) = all.iter().find(|(of, _)| *of == name).unwrap();
        data.lines().map(str::to_string).collect::<Vec<_>>()
    };
    // Four size classes and all flows, of each two variants beside the baseline.
    let changes = of("mean-fct-change");
    assert_eq!(changes[0], "group,series,change [%],low,high");
    assert_eq!(changes.len(), 1 + 5 * 2);
    assert!(changes[1].starts_with("<100 KB,ci-local,-"), "{}", changes[1]);
    // The map of 24 switches, in each of three variants: to and from a host.
    let busy = of("links-busy");
    assert_eq!(busy[0], "chart,switch,direction,port,busy [share]");
    assert_eq!(busy.len(), 1 + 3 * 24 * 2);
    assert_eq!(
        busy[47..49],
        ["without-ci,leaf 23,to hosts,0,0.46", "without-ci,leaf 23,from hosts,0,0.1"]
    );
    // 1200 samples in 400 intervals of three, of which each has a largest and a mean.
    let depths = of("queue-0-over-time");
    assert_eq!(depths[0], "chart,series,simulated time [ns],backlog [bytes]");
    assert_eq!(depths.len(), 1 + 3 * 2 * 400);
    assert!(depths[1].starts_with("without-ci,largest of all ports,10000,"), "{}", depths[1]);
    assert!(depths[2].starts_with("without-ci,largest of all ports,40000,"), "{}", depths[2]);
    assert!(depths[401].starts_with("without-ci,mean over all ports,10000,"), "{}", depths[401]);
}

#[test]
fn every_chart_can_be_named_without_seeing_it() {
    let page = page_of(&experiment(SOUND, |_| {}));
    let charts = page.split("<svg").skip(1);
    assert!(charts.clone().count() > 20);
    for chart in charts {
        let tag = &chart[..chart.find('>').unwrap()];
        let named = tag.contains("role=\"img\" aria-label=\"") && chart.contains("<title>");
        assert!(named || tag.contains("aria-hidden=\"true\""), "{tag}");
    }
}

#[test]
fn unfinished_flows_stand_beside_every_mean() {
    let page = page_of(&experiment(LOSSY, |_| {}));
    assert!(page.contains("</strong> unfinished"));
    assert!(page.contains(">≥ "), "lower bounds are marked");
    assert!(!page.contains("Only flows that began in both variants are compared"));
    assert!(page.contains("had not completed when their run ended"));
    assert!(page.contains("One replication: there are no intervals"));
    assert!(page.contains("Dropped packets by reason"));
}

#[test]
fn violations_are_in_the_way() {
    let mut experiment = Experiment::new(&manifest(SOUND));
    let tables = tables(SOUND, 0, 0);
    let violations = ["leaf 0: class 3 lost 2 packets".to_string()];
    experiment.add_run(&Run { violations: &violations, ..run(&tables, 0, 0) });
    let page = page_of(&experiment);
    check(&page);
    let (alarm, answer) =
        (page.find("role=\"alert\"").unwrap(), page.find("class=\"answer\"").unwrap());
    assert!(alarm < answer);
    assert!(page.contains("<li>without-ci replication 0: leaf 0: class 3 lost 2 packets</li>"));
}

#[test]
fn what_people_write_is_text_and_not_markup() {
    let mut manifest: Manifest = manifest(LOSSY);
    manifest.scenario.name = "<script>alert(1)</script>".to_string();
    manifest.scenario.question = "a < b & \"c\"?".to_string();
    manifest.scenario.text = "</pre><b>".to_string();
    manifest.variants[0].summary = "<i>".to_string();
    let page = page_of(&Experiment::new(&manifest));
    check(&page);
    assert_eq!(scripts(&page), scripts(&page_of(&experiment(SOUND, |_| {}))));
    assert!(
        !page.contains("<i>alert") && page.contains("<body data-name=\"script-alert-1-script\" ")
    );
    assert!(page.contains("<h1>a &lt; b &amp; &quot;c&quot;?</h1>"));
    assert!(page.contains("&lt;/pre&gt;&lt;b&gt;"));
}

/// Nothing that others write reaches a page or the dictionary as control characters.
#[test]
fn control_characters_are_written_out() {
    let mut hostile: Manifest = manifest(LOSSY);
    let of = &mut hostile.scenario;
    for text in [&mut of.name, &mut of.question, &mut of.file, &mut of.text] {
        *text = HOSTILE.to_string();
    }
    of.overrides = vec![HOSTILE.to_string()];
    of.files = vec![InputFile { path: HOSTILE.to_string(), ..InputFile::default() }];
    hostile.variants.iter_mut().for_each(|variant| variant.summary = HOSTILE.to_string());
    hostile.variants[1].name = HOSTILE.to_string();
    hostile.workloads = vec![HOSTILE.to_string()];
    for text in [&mut hostile.started, &mut hostile.floodway] {
        *text = HOSTILE.to_string();
    }
    hostile.command = vec!["floodway".to_string(), HOSTILE.to_string()];
    let mut experiment = Experiment::new(&hostile);
    let violations = [HOSTILE.to_string()];
    for variant in 0..hostile.variants.len() {
        let mut tables = tables(LOSSY, variant, 0);
        for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
            if let Values::Text(texts) = &mut column.values {
                texts.iter_mut().for_each(|text| text.push_str(HOSTILE));
            }
        }
        let run = run(&tables, variant, 0);
        let variant = &hostile.variants[variant].name;
        experiment.add_run(&Run { variant, violations: &violations, ..run });
    }
    let page = page_of(&experiment);
    printable(&page);
    assert!(page.contains(&format!("<h1>{SHOWN}</h1>")));
    data(&page).iter().for_each(|(_, numbers)| printable(numbers));
    let dictionary = experiment.dictionary();
    printable(&dictionary);
    assert!(dictionary.contains(&format!("Results of scenario `{SHOWN}`, floodway {SHOWN}")));
}

#[test]
fn little_makes_a_page_too() {
    // No run at all, a run without tables, one variant only, no flow, nothing paused.
    check(&page_of(&Experiment::new(&manifest(SOUND))));
    let mut empty = Experiment::new(&manifest(SOUND));
    empty.add_run(&run(&[], 0, 0));
    check(&page_of(&empty));
    let mut alone = manifest(SOUND);
    alone.variants.truncate(1);
    let mut alone = Experiment::new(&alone);
    let tables = tables(Case { flows: 0, ..SOUND }, 0, 0);
    alone.add_run(&run(&tables, 0, 0));
    let page = page_of(&alone);
    check(&page);
    assert!(page.contains("No completion time was measured"));
    assert!(!page.contains("change from without-ci by"), "there is nothing to compare");
}

/// Two flows of 64 KB each, which were measured or not.
fn two_flows(measured: u64) -> Table {
    let fct = vec![10e3, 20e3];
    complete(
        Table::new("flows", "flows")
            .u64("flow", "number", vec![0, 1])
            .u64("workload", "workload", vec![0, 0])
            .u64("bytes", "size", vec![64_000; 2])
            .f64("start_ns", "start", vec![2e6; 2])
            .f64("slowdown", "slowdown", fct.iter().map(|time| time / 5e3).collect())
            .f64("fct_ns", "completion time", fct)
            .f64("ideal_fct_ns", "ideal", vec![5e3; 2])
            .u64("delivered_bytes", "delivered", vec![64_000; 2])
            .u64("measured", "measured", vec![measured; 2]),
    )
}

#[test]
fn sizes_without_flows_and_changes_without_pairs_are_not_in_the_way() {
    let page_with = |measured: [u64; 2]| {
        let mut manifest = manifest(SOUND);
        manifest.variants.truncate(2);
        let mut experiment = Experiment::new(&manifest);
        for (variant, measured) in measured.into_iter().enumerate() {
            experiment.add_run(&run(&[two_flows(measured)], variant, 0));
        }
        let page = page_of(&experiment);
        check(&page);
        page
    };
    let (both, one) = (page_with([1, 1]), page_with([0, 1]));
    for page in [&both, &one] {
        assert!(page.contains("&lt;100") && page.contains(">all flows<"));
        assert!(!page.contains("&gt;10"), "no flow is as large");
    }
    assert!(both.contains("Mean FCT: change from without-ci by flow size"));
    assert!(!one.contains("Mean FCT: change from"));
    assert!(one.contains("<p>No flow began both in without-ci and in another variant.</p>"));
}

/// Slowdowns of 200 flows of 64 KB, 1 to 200, and of one flow of 3 MB.
#[test]
fn slowdown_is_by_size() {
    let slowdowns: Vec<f64> = (1..=200).chain([7]).map(f64::from).collect();
    let bytes: Vec<u64> = std::iter::repeat_n(64_000, 200).chain([3_000_000]).collect();
    let table = complete(
        Table::new("flows", "flows")
            .u64("flow", "number", (0..201).collect())
            .u64("workload", "workload", vec![0; 201])
            .u64("bytes", "size", bytes.clone())
            .f64("start_ns", "start", vec![2e6; 201])
            .f64("slowdown", "slowdown", slowdowns.clone())
            .f64("fct_ns", "completion time", slowdowns.iter().map(|of| of * 5e3).collect())
            .f64("ideal_fct_ns", "ideal", vec![5e3; 201])
            .u64("delivered_bytes", "delivered", bytes)
            .u64("measured", "measured", vec![1; 201]),
    );
    let mut manifest = manifest(SOUND);
    manifest.variants.truncate(1);
    let mut experiment = Experiment::new(&manifest);
    experiment.add_run(&run(&[table], 0, 0));
    let page = page_of(&experiment);
    let all = data(&page);
    let (_, numbers) = all.iter().find(|(name, _)| *name == "slowdown-by-size").unwrap();
    // Of 200 the 198th, the 190th and the 100th; one flow alone has no percentile.
    assert_eq!(
        numbers,
        "chart,series,flow size [bytes],slowdown\n\
         99th percentile,without-ci,64000,198\n\
         95th percentile,without-ci,64000,190\n\
         median,without-ci,64000,100\n"
    );
}

#[test]
fn what_failed_links_lose_is_lost_too() {
    let counters = |lost: u64| {
        let names = ["measured_ns", "dropped_packets", "lost_on_links"].map(String::from).to_vec();
        complete(
            Table::new("counters", "counters")
                .text("name", "name", names.clone())
                .u64("value", "value", vec![1_000_000, 0, lost])
                .text("meaning", "meaning", names),
        )
    };
    let experiment_with = |lost: u64| {
        let mut manifest = manifest(SOUND);
        manifest.variants.truncate(1);
        let mut experiment = Experiment::new(&manifest);
        experiment.add_run(&run(&[two_flows(1), counters(lost)], 0, 0));
        experiment
    };
    let (none, some) = (experiment_with(0), experiment_with(7));
    let text = |experiment: &Experiment| {
        floodway_report::terminal::table(&experiment.summary(&ending()), Default::default())
    };
    assert!(page_of(&none).contains("<dd>packet losses in the measured interval</dd>"));
    assert!(!text(&none).contains("lost on links"));
    assert!(page_of(&some).contains("lost on links"));
    assert!(!page_of(&some).contains("packet losses in the measured interval"));
    let told = text(&some);
    let row = told.lines().find(|line| line.starts_with("  lost on links")).unwrap();
    assert!(row.ends_with(" 7"), "{row}");
}
