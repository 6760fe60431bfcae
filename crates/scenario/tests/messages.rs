//! Every way in which a scenario can be wrong, with the exact text that is shown.
//!
//! `tests/bad` holds scenarios that are refused, `tests/warned` those that run with a warning;
//! `expected.txt` in each has the texts, one section per file. A first line of
//! `# floodway check FILE --set ...` gives the arguments. After a deliberate change,
//! `BLESS=1 cargo test -p floodway-scenario messages` writes the texts anew; read them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use floodway_scenario::{Overrides, Problem, Scenario};

/// The files of a folder in alphabetical order.
fn scenarios(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

/// What the first line of a file says about arguments.
fn overrides(path: &Path) -> Overrides {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let first = text.lines().next().unwrap_or("");
    let mut overrides = Overrides::default();
    let mut arguments =
        first.strip_prefix("# floodway check FILE ").unwrap_or("").split_whitespace();
    while let Some(argument) = arguments.next() {
        match argument {
            "--quick" => overrides.quick = true,
            "--set" => overrides.set.push(arguments.next().unwrap().to_owned()),
            other => panic!("unknown argument {other}"),
        }
    }
    overrides
}

/// Compares with `expected.txt`, section by section.
fn compare(folder: &str, sections: &[(String, String)]) {
    let file = format!("{folder}/expected.txt");
    let mut all = String::new();
    for (name, text) in sections {
        writeln!(all, "=== {name}\n{}", text.trim_end()).unwrap();
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &all).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    let split = |text: &str| text.split("=== ").map(str::to_owned).collect::<Vec<_>>();
    for (ours, theirs) in split(&all).iter().zip(&split(&expected)) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(all, expected);
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn what_is_wrong_is_refused_with_place_cause_and_remedy() {
    let mut sections = Vec::new();
    let mut files = scenarios("tests/bad");
    assert!(files.len() > 100);
    files.push("tests/bad/syntax_key_twise.toml".into());
    files.push("tests/nowhere/sample.toml".into());
    files.push("tests/warned".into());
    files.push("tests".into());
    for path in files {
        let error = match Scenario::load(&path, &overrides(&path)) {
            Ok(_) => panic!("{} is valid", path.display()),
            Err(error) => error,
        };
        assert!(error.problems().iter().all(|problem| !problem.help.is_empty()));
        sections.push((name(&path), error.plain()));
    }
    compare("tests/bad", &sections);
}

#[test]
fn what_is_doubtful_runs_with_a_warning() {
    let mut sections = Vec::new();
    for path in scenarios("tests/warned") {
        let scenario = match Scenario::load(&path, &overrides(&path)) {
            Ok(scenario) => scenario,
            Err(error) => panic!("{}", error.plain()),
        };
        let texts: Vec<_> = scenario.warnings().iter().map(Problem::plain).collect();
        sections.push((name(&path), texts.join("\n")));
    }
    compare("tests/warned", &sections);
}

/// A setting that acts causes no warning.
#[test]
fn settings_that_act_are_not_warned_of() {
    let codel = "[switch.aqm.codel]\necn = true\nce_threshold = \"1ms\"\n";
    let single = "[switch.queue]\ncount = 2\n[switch.classify.single]\n[switch.scheduler.strict]\n";
    let cubic = "[host.transport.tcp]\nCODEPOINT\n[host.congestion.cubic]\n";
    let cubic = |codepoint: &str| cubic.replace("CODEPOINT", codepoint);
    let weighted = "[switch.path.ecmp]\nweighted = true\n";
    for (settings, of_workload, idle) in [
        // RoCEv2 is ECN-capable, and so is TCP with ECN.
        (codel.to_owned(), "", None),
        (codel.to_owned() + &cubic("ecn = \"classic\"\ncodepoint = \"ect1\""), "", None),
        (codel.to_owned() + &cubic(""), "", Some("switch.aqm.codel.ecn")),
        (cubic("codepoint = \"ect1\""), "", Some("host.transport.tcp.codepoint")),
        // The workload asks for marks of the transport of all.
        (
            format!("{codel}[host.transport.tcp]\ncodepoint = \"ect1\"\n"),
            "[workload.congestion.dctcp]\n",
            None,
        ),
        // Another queue has packets too.
        (single.to_owned(), "", Some("switch.scheduler")),
        (format!("{single}[switch.feedback]\nack = 1\n"), "", None),
        (format!("{single}[switch.flow_control.congestion_isolation]\ncongesting = 1\n"), "", None),
        (weighted.to_owned(), "", Some("switch.path.ecmp.weighted")),
        (
            format!(
                "{weighted}[[topology.clos.leaf]]\nleaves = [0, 1]\nfabric_rate = \"400Gbps\"\n"
            ),
            "",
            None,
        ),
    ] {
        let text = format!(
            "name = \"acts\"\narrivals = \"1ms\"\nlimit = \"5ms\"\n[topology.clos]\nleaves = 4\n\
             {settings}[[workload]]\n[workload.many_to_many]\nsizes = \"64KB\"\nclusters = 1\n\
             cluster_size = 4\nload = 0.3\n{of_workload}"
        );
        let scenario = Scenario::parse(&text, "acts.toml", &Overrides::default())
            .unwrap_or_else(|error| panic!("{}", error.plain()));
        let told = scenario.warnings().iter().filter(|of| of.message.contains("cannot act"));
        let told: Vec<_> = told.map(|problem| problem.message.as_str()).collect();
        match idle {
            None => assert!(told.is_empty(), "{text}\n{told:?}"),
            Some(path) => assert!(
                told.iter().any(|told| told.starts_with(&format!("`{path}` cannot act"))),
                "{text}\n{told:?}"
            ),
        }
    }
}

#[test]
fn memory_that_is_known_to_be_too_small_is_no_fault() {
    // What `check` says of XOFF and of lossless classes.
    let said = |file: &str, lossy: Option<&str>| {
        let set = lossy.map(|name| format!("switch.flow_control.{name}.lossless=false"));
        let overrides = Overrides { set: set.into_iter().collect(), ..Overrides::default() };
        let texts: Vec<String> = match Scenario::load(Path::new(file), &overrides) {
            Ok(scenario) => scenario.warnings().iter().map(Problem::plain).collect(),
            Err(error) => error.problems().iter().map(Problem::plain).collect(),
        };
        let about = |text: &String| {
            let first = text.lines().next().unwrap();
            ["XOFF", "headroom", "lossless", "ingress pool refuses", "last threshold"]
                .map(|it| first.contains(it))
        };
        texts.into_iter().filter(|text| about(text).contains(&true)).collect::<Vec<_>>()
    };
    for (name, file) in [
        ("pause", "tests/bad/pause_headroom_on_ingress.toml"),
        ("pause", "tests/bad/pause_headroom_on_egress_port.toml"),
        ("pause", "tests/bad/pause_above_egress_pool.toml"),
        ("pause", "tests/warned/pause_headroom_of_all_ports.toml"),
        ("pause", "tests/warned/pause_headroom_of_memory.toml"),
        ("pause", "tests/warned/pause_of_all_egress_ports.toml"),
        ("pause", "tests/warned/pause_egress_port_and_ingress.toml"),
        ("pause", "tests/warned/pause_above_guarantee.toml"),
        ("pfc", "tests/bad/pfc_headroom_on_ingress.toml"),
        ("pfc", "tests/bad/buffer_headroom_too_small.toml"),
        ("pfc", "tests/warned/headroom_of_all_ports.toml"),
        ("pfc", "tests/warned/buffer_egress_below_ingress.toml"),
        ("pfc", "tests/warned/buffer_egress_queue_and_ingress.toml"),
        ("drc", "tests/warned/drc_headroom_of_all_ports.toml"),
    ] {
        assert_eq!(said(file, None).len(), 1, "{file}");
        assert_eq!(said(file, Some(name)), Vec::<String>::new(), "{file}");
    }
}

#[test]
fn miette_shows_one_problem_as_itself_and_several_as_related() {
    let report = |file: &str| {
        let error = Scenario::load(Path::new(file), &Overrides::default()).unwrap_err();
        let mut text = String::new();
        miette::NarratableReportHandler::new().render_report(&mut text, &error).unwrap();
        text
    };
    let one = report("tests/bad/pfc_xon_above_xoff.toml");
    assert!(one.starts_with("`xon` (800KB) is not below `xoff` (750KB)\n"), "{one}");
    assert!(one.contains("label at line 9, columns 7 to 13"), "{one}");
    assert!(one.contains("diagnostic help: a paused neighbor"), "{one}");
    let several = report("tests/bad/several.toml");
    assert!(several.starts_with("the scenario has 4 problems\n"), "{several}");
    assert_eq!(several.matches("Begin snippet for tests/bad/several.toml").count(), 4, "{several}");
    // Places that a careless renderer could stumble over.
    for path in scenarios("tests/bad") {
        let Err(error) = Scenario::load(&path, &overrides(&path)) else { continue };
        let mut text = String::new();
        miette::NarratableReportHandler::new().render_report(&mut text, &error).unwrap();
        assert!(!text.contains("Failed to read contents"), "{text}");
    }
}
