//! What overlays do: variants, `[quick]` and `--set`, in this order of strength.

use floodway_model::{Bytes, Duration};
use floodway_scenario::{Overrides, Scenario, Variant, workload};
use floodway_sim::host::congestion;
use floodway_sim::switch::{aqm, classify, scheduler};

const BASE: &str = r#"
name = "sample"
arrivals = "1ms"
limit = "5ms"
seed = 3
replications = 4

[topology.clos]
leaves = 4

[switch.queue]
count = 2
size = "1MB"

[switch.aqm.ramp]
kmin = "20KB"
kmax = "200KB"

[switch.scheduler]
drr = { quantum = "3000B" }

[switch.flow_control.pfc]
xoff = "700KB"

[[workload]]
[workload.many_to_many]
sizes = "64KB"
clusters = 1
cluster_size = 4
load = 0.3

[[workload]]
incast = { senders = 3 }
"#;

fn scenario(more: &str, quick: bool, set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    let text = format!("{BASE}{more}");
    Scenario::parse(&text, "sample.toml", &Overrides { quick, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn only(more: &str, set: &[&str]) -> Variant {
    let scenario = scenario(more, false, set);
    scenario.variants().last().unwrap().clone()
}

fn ramp(variant: &Variant) -> aqm::ramp::Spec {
    match &variant.settings.switch.aqm {
        aqm::Spec::Ramp(spec) => spec.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_variants_there_is_one() {
    let scenario = scenario("", false, &[]);
    let names: Vec<_> = scenario.variants().iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["base"]);
    assert_eq!((scenario.seed, scenario.replications), (3, 4));
}

#[test]
fn variants_stand_in_order_of_appearance() {
    let scenario = scenario("[variants.z]\n[variants.a]\n[variants.m]\n", false, &[]);
    let names: Vec<_> = scenario.variants().iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["z", "a", "m"]);
    assert_eq!(scenario.variant("a").unwrap().name, "a");
    let error = scenario.variant("aa").unwrap_err().plain();
    let expected = "\
error: the scenario `sample` has no variant `aa`
 --> --variant:1:1
  |
1 | aa
  | ^^
  = help: did you mean `a`? The variants are: z, a, m
";
    assert_eq!(error, expected);
}

#[test]
fn tables_are_merged() {
    let variant = only("[variants.v.switch.aqm.ramp]\nhigh = \"300KB\"\n", &[]);
    let ramp = ramp(&variant);
    assert_eq!((ramp.kmin, ramp.kmax), (Bytes(20_000), Bytes(300_000)));
    assert_eq!(variant.settings.switch.queue.count, 2);
}

#[test]
fn another_member_replaces_the_one_below() {
    let variant = only("[variants.v.switch.aqm.drop_tail]\n", &[]);
    assert_eq!(variant.settings.switch.aqm.name(), "drop_tail");
    let variant = only("", &["switch.classify.single.queue=1"]);
    let classify::Spec::Single(single) = &variant.settings.switch.classify else { panic!() };
    assert_eq!(single.queue, 1);
    let variant = only("", &["topology.star.hosts=9"]);
    assert_eq!(variant.graph().hosts().count(), 9);
}

#[test]
fn a_member_can_be_named_alone() {
    let variant = only("", &["host.congestion=line_rate", "switch.aqm=drop_tail"]);
    assert!(matches!(variant.settings.host.congestion, Some(congestion::Spec::LineRate(_))));
    assert_eq!(variant.settings.switch.aqm.name(), "drop_tail");
    // The same member keeps its parameters.
    let variant = only("", &["switch.scheduler=drr"]);
    let scheduler::Spec::Drr(drr) = &variant.settings.switch.scheduler else { panic!() };
    assert_eq!(drr.quantum, Bytes(3_000));
}

#[test]
fn false_removes_a_mechanism_and_true_adds_it() {
    let variant = only("", &["switch.flow_control.pfc=false"]);
    assert_eq!(variant.settings.switch.flow_control.pfc, None);
    let kept = only("", &["switch.flow_control.pfc=true"]).settings.switch.flow_control.pfc;
    assert_eq!(kept.unwrap().xoff, Bytes(700_000));
    let again = only(
        "[variants.v.switch.flow_control]\npfc = false\n",
        &["switch.flow_control.pfc=true", "switch.flow_control.congestion_isolation=true"],
    );
    let flow_control = again.settings.switch.flow_control;
    assert_eq!(flow_control.pfc, Some(Default::default()));
    assert_eq!(flow_control.congestion_isolation, Some(Default::default()));
    // So does what takes the place of marks.
    let indicates = |set: &[&str]| {
        let set = [&["switch.aqm=step"], set].concat();
        only("[variants.v.switch]\ncongestion_indication = true\n", &set)
            .settings
            .switch
            .congestion_indication
    };
    assert_eq!(indicates(&[]), Some(Default::default()));
    assert_eq!(indicates(&["switch.congestion_indication=false"]), None);
    let both = indicates(&["switch.congestion_indication.backward=true"]).unwrap();
    assert!(both.forward && both.backward);
}

#[test]
fn quick_is_below_variants_and_set_above_all() {
    let more = "\
[quick]
arrivals = \"0.5ms\"
replications = 2
switch.latency = \"1us\"
switch.queue.size = \"2MB\"
[variants.v.switch]
latency = \"2us\"
[quick.variants.v.switch.aqm.ramp]
kmin = \"30KB\"
";
    let full = scenario(more, false, &[]);
    assert_eq!(full.replications, 4);
    assert_eq!(full.variants()[0].settings.switch.queue.size, Bytes(1_000_000));
    let quick = scenario(more, true, &["arrivals=0.25ms"]);
    let settings = &quick.variants()[0].settings;
    assert_eq!(quick.replications, 2);
    assert_eq!(settings.arrivals, Duration::from_us(250));
    assert_eq!(settings.switch.latency, Duration::from_us(2));
    assert_eq!(settings.switch.queue.size, Bytes(2_000_000));
    assert_eq!(ramp(&quick.variants()[0]).kmin, Bytes(30_000));
}

#[test]
fn set_takes_toml_or_a_bare_word() {
    let size = |set| only("", &[set]).settings.switch.queue.size;
    assert_eq!(size("switch.queue.size=2MB"), Bytes(2_000_000));
    assert_eq!(size("switch.queue.size = \"2MB\""), Bytes(2_000_000));
    let last = ["switch.queue.size=2MB", "switch.queue.size=3MB"];
    assert_eq!(only("", &last).settings.switch.queue.size, Bytes(3_000_000));
    let weights = only("", &["switch.scheduler.drr.weights=[3, 1]"]);
    let scheduler::Spec::Drr(drr) = &weights.settings.switch.scheduler else { panic!() };
    assert_eq!((drr.weights.as_slice(), drr.quantum), (&[3, 1][..], Bytes(3_000)));
    assert_eq!(scenario("", false, &["seed=9", "replications=2"]).seed, 9);
}

#[test]
fn set_addresses_workloads_and_variants() {
    let load = |variant: &Variant| variant.derived(1).host_load;
    let more = "[variants.a]\n[variants.b]\n";
    let all = scenario(more, false, &["workload.0.many_to_many.load=0.5"]);
    assert!(all.variants().iter().all(|variant| (load(variant) - 0.5).abs() < 1e-12));
    let set = ["variants.b.switch.latency=1us"];
    let one = scenario(more, false, &set);
    let latencies: Vec<_> =
        one.variants().iter().map(|v| v.settings.switch.latency.0 / 1_000_000).collect();
    assert_eq!(latencies, [0, 1]);
    let rest = scenario(more, false, &["variants.a=false"]);
    assert_eq!(rest.variants().iter().map(|v| &*v.name).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_member_of_a_workload_is_replaced_too() {
    let more = "[variants.v.workload.1.many_to_many]\n\
        sizes = \"1KB\"\nclusters = 1\ncluster_size = 2\nload = 0.1\n";
    let names: Vec<_> =
        only(more, &[]).settings.workload.iter().map(|w| w.traffic.name()).collect();
    assert_eq!(names, ["many_to_many", "many_to_many"]);
}

#[test]
fn the_settings_that_are_kept_read_back_as_they_are() {
    let variant = only("[variants.v.switch.aqm.ramp]\nhigh = \"300KB\"\n", &[]);
    let text = serde_json::to_string(&variant.settings).unwrap();
    let back: floodway_scenario::Document = serde_json::from_str(&text).unwrap();
    assert_eq!(back, variant.settings);
}

/// A scenario that extends another, both in a library.
fn extended(over: &str, quick: bool, set: &[&str]) -> Scenario {
    let base = format!(
        "{BASE}
[variants.plain]
[variants.marked]
switch.aqm.ramp.kmin = \"1KB\"
[quick]
replications = 2
"
    );
    let name = if over.contains("name") { "" } else { "name = \"over\"\n" };
    let over = format!("extends = \"base.toml\"\n{name}{over}");
    let library = [("dir/base.toml", base.as_str()), ("dir/over.toml", over.as_str())];
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    Scenario::of_library(&library, "dir/over.toml", &Overrides { quick, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn names(scenario: &Scenario) -> Vec<&str> {
    scenario.variants().iter().map(|variant| variant.name.as_str()).collect()
}

#[test]
fn an_extending_file_is_an_overlay_on_the_other() {
    let scenario = extended("name = \"other\"\nswitch.queue.size = \"2MB\"", false, &[]);
    assert_eq!((scenario.name.as_str(), scenario.replications), ("other", 4));
    assert_eq!(names(&scenario), ["plain", "marked"]);
    let settings = &scenario.variants()[0].settings;
    assert_eq!(settings.switch.queue.size, Bytes(2_000_000));
    assert_eq!(ramp(&scenario.variants()[1]).kmin, Bytes(1_000));
    // The text has everything that decides the results.
    assert!(scenario.text.starts_with("extends = \"base.toml\"\nname = \"other\""));
    assert!(scenario.text.contains("# ---- dir/base.toml ----\n\n\nname = \"sample\""));
}

#[test]
fn an_extending_file_changes_removes_and_adds_variants() {
    let over = "
variants.plain = false
[variants.marked]
switch.aqm.ramp.kmax = \"90KB\"
[variants.new]
switch.aqm = \"drop_tail\"
";
    let scenario = extended(over, false, &[]);
    assert_eq!(names(&scenario), ["marked", "new"]);
    let marked = ramp(&scenario.variants()[0]);
    assert_eq!((marked.kmin, marked.kmax), (Bytes(1_000), Bytes(90_000)));
    assert!(matches!(scenario.variants()[1].settings.switch.aqm, aqm::Spec::DropTail(_)));
}

#[test]
fn a_workload_is_addressed_by_its_name_wherever_it_is_by_its_number() {
    let loads = |scenario: &Scenario| -> Vec<String> {
        let traffic = scenario.variants().iter().map(|of| &of.settings.workload[0].traffic);
        let load = |of: &workload::Spec| match of {
            workload::Spec::ManyToMany(spec) => format!("{:?}", spec.load),
            other => panic!("{other:?}"),
        };
        traffic.map(load).collect()
    };
    let named = "[[workload]]\nname = \"two\"\nincast = { senders = 2 }\n\
        [variants.a]\nworkload.0.name = \"one\"\n\
        [variants.b]\nworkload.two.incast.senders = 1\nworkload.0.name = \"one\"\n\
        [quick]\nshare_hosts = true\n[quick.workload.two.incast]\nsenders = 3\n";
    let shared = "share_hosts=true";
    let changed = scenario(named, false, &[shared, "workload.one.many_to_many.load=0.5"]);
    let by_number = scenario(named, false, &[shared, "workload.0.many_to_many.load=0.5"]);
    assert_eq!(loads(&changed), ["0.5", "0.5"]);
    assert_eq!(changed.variants()[0].settings, by_number.variants()[0].settings);
    let of_one = [shared, "variants.b.workload.one.many_to_many.load=0.7"];
    assert_eq!(loads(&scenario(named, false, &of_one)), ["0.3", "0.7"]);
    let senders = |scenario: &Scenario, variant: usize| match &scenario.variants()[variant]
        .settings
        .workload[2]
        .traffic
    {
        workload::Spec::Incast(spec) => spec.senders,
        other => panic!("{other:?}"),
    };
    // A setting of one workload of a variant leaves what the variant says of another.
    assert_eq!(senders(&scenario(named, false, &of_one), 1), 1);
    assert_eq!([0, 1].map(|variant| senders(&changed, variant)), [2, 1]);
    assert_eq!(senders(&scenario(named, true, &[]), 0), 3);
}

#[test]
fn quick_and_settings_lie_above_both_files() {
    let over = "replications = 9\n[quick]\nseed = 8\n[workload.0.many_to_many]\nload = 0.2";
    let scenario = extended(over, true, &["switch.queue.size=3MB"]);
    assert_eq!((scenario.replications, scenario.seed), (2, 8));
    let variant = &scenario.variants()[0];
    assert_eq!(variant.settings.switch.queue.size, Bytes(3_000_000));
    assert_eq!(variant.settings.workload.len(), 2, "lists are changed element by element");
}

#[test]
fn a_quick_version_can_do_with_fewer_variants() {
    let over = "name = \"other\"\n[quick.variants]\nplain = false";
    assert_eq!(names(&extended(over, true, &[])), ["marked"]);
    assert_eq!(names(&extended(over, false, &[])), ["plain", "marked"]);
}
