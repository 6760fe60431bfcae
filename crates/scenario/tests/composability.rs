//! Every flow control with every congestion control, fabric and switch memory: a combination either is
//! refused with a reason, or runs with consistent accounting and the same result on two threads. The axes come
//! from the catalogue, so that a new algorithm is combined with all others by itself. All combinations are
//! checked. Of those that are valid, some are run, such that any three members of different axes that go
//! together do so at least once; `make check-combinations` runs all of them.
//!
//! What is refused stands in `docs/composability.md`; `BLESS=1 cargo test -p floodway-scenario
//! composability` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use floodway_model::table;
use floodway_scenario::{Overrides, Scenario, catalogue};
use floodway_sim::Simulation;
use floodway_sim::host::congestion::Spec;
use floodway_sim::simulation::Run;

/// Six hosts on two leaves, an incast on one receiver after another, and flows of all sizes.
const NETWORK: &str = r#"
name = "tiny"
arrivals = "0.1ms"
limit = "3ms"
share_hosts = true

[topology.clos]
leaves = 2
spines = 2
hosts_per_leaf = 3

[switch.queue]
count = 2

[[workload]]
[workload.incast]
senders = 5
bytes = "200KB"

[[workload]]
[workload.many_to_many]
sizes = "web_search"
max_size = "300KB"
clusters = 1
cluster_size = 6
load = 0.6
"#;

/// What follows the table of a flow control: what it cannot do without.
fn needs(flow_control: &str) -> &'static str {
    match flow_control {
        "drc" => "buffer = \"1MB\"\n[host]\nbuffer = \"64KB\"\n",
        _ => "",
    }
}

/// Beside the members of the family: none, what is no flow control but does the same, and several
/// together, as lossless networks have them.
const MORE: [&str; 5] = [
    "none",
    "congestion_indication",
    "pfc + congestion_isolation",
    "pfc + source_flow_control",
    "pfc + qcn",
];

/// One combination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Combination {
    flow_control: &'static str,
    congestion: &'static str,
    fabric: &'static str,
    buffer: &'static str,
}

impl Combination {
    /// The scenario file.
    fn text(&self) -> String {
        let Self { flow_control, congestion, fabric, buffer } = self;
        let mut text = NETWORK.to_owned();
        let transport = transport_of(congestion);
        let mut table = |path: &str, name: &str| writeln!(text, "[{path}.{name}]").unwrap();
        table("switch.fabric", fabric);
        table("switch.buffer", buffer);
        if *buffer == "per_port" {
            // For two classes that are paused by themselves; `check` warns of less.
            text += "size = \"2MB\"\n";
        }
        let mut table = |path: &str, name: &str| writeln!(text, "[{path}.{name}]").unwrap();
        table("switch.aqm", "ramp");
        text += "at = \"arrival\"\n";
        let mut table = |path: &str, name: &str| writeln!(text, "[{path}.{name}]").unwrap();
        table("host.transport", transport);
        // Other transports repeat packets one by one in any case.
        if is_by_credit(congestion) && transport == "rocev2" {
            text += "recovery = \"selective_repeat\"\n";
        }
        let mut table = |path: &str, name: &str| writeln!(text, "[{path}.{name}]").unwrap();
        table("host.congestion", congestion);
        match *flow_control {
            "none" => {}
            "congestion_indication" => table("switch", "congestion_indication"),
            several => several.split(" + ").for_each(|one| table("switch.flow_control", one)),
        }
        text + needs(flow_control)
    }

    /// The scenario if it is valid; the reason if it is not.
    fn scenario(&self) -> Result<Scenario, String> {
        let text = self.text();
        Scenario::parse(&text, "tiny.toml", &Overrides::default()).map_err(|error| {
            let problem = &error.problems()[0];
            assert!(!problem.message.is_empty() && !problem.help.is_empty(), "{self:?}");
            format!("{}. {}.", sentence(&problem.message), sentence(&problem.help))
        })
    }

    /// Runs it.
    fn run(&self) {
        let scenario = self.scenario().expect("it is valid");
        let spec = scenario.build(&scenario.variants()[0], 0);
        assert!(spec.flows.len() > 10, "{self:?}");
        let fingerprints = [1, 2].map(|threads| {
            let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
            let outcome = Simulation::new(spec.clone()).run_with(&run);
            assert_eq!(outcome.violations, Vec::<String>::new(), "{self:?}");
            table::fingerprint(&outcome.tables)
        });
        assert_eq!(fingerprints[0], fingerprints[1], "{self:?} depends on threads");
    }

    /// Its members by axis, with one axis left out.
    fn triples(&self) -> [[&'static str; 4]; 4] {
        let Self { flow_control, congestion, fabric, buffer } = *self;
        std::array::from_fn(|left_out| {
            let mut triple = [flow_control, congestion, fabric, buffer];
            triple[left_out] = "";
            triple
        })
    }
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn by_name(congestion: &str) -> Spec {
    serde_json::from_value(serde_json::json!({ congestion: {} })).unwrap()
}

/// A transport that gives a congestion control what it needs.
fn transport_of(congestion: &str) -> &'static str {
    use floodway_sim::host::congestion::Needs;
    match by_name(congestion).needs() {
        Needs::Acknowledgements => "tcp",
        Needs::Arrivals => "uet",
        _ => "rocev2",
    }
}

/// Whether a receiver asks for packets, which are those to send again too.
fn is_by_credit(congestion: &str) -> bool {
    by_name(congestion).has_receiver_half()
}

/// The members of a family.
fn names(family: &str) -> Vec<&'static str> {
    let of_family = catalogue().filter(|entry| entry.family == family);
    let names: Vec<_> = of_family.map(|entry| entry.name).collect();
    assert!(!names.is_empty(), "{family} has no members");
    names
}

fn combinations() -> Vec<Combination> {
    let mut all = Vec::new();
    let flow_controls = names("switch.flow_control").into_iter().chain(MORE);
    for flow_control in flow_controls {
        for congestion in names("host.congestion") {
            for fabric in names("switch.fabric") {
                for buffer in names("switch.buffer") {
                    all.push(Combination { flow_control, congestion, fabric, buffer });
                }
            }
        }
    }
    all
}

/// Calls a function with each of these, on two threads.
fn for_each<T: Sync>(all: &[T], call: impl Fn(&T) + Sync) {
    let next = Mutex::new(all.iter());
    let work = || {
        loop {
            let one = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(one) = one else { return };
            call(one);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
}

/// A selection that has any three members of different axes together that one of these combinations has: for each
/// flow control and congestion control a Latin square of fabrics and buffers, and more where that is refused.
fn covering(valid: &[Combination]) -> Vec<Combination> {
    let [flow_controls, congestions, fabrics, buffers] = AXES.map(|(_, axis)| {
        let members: BTreeSet<_> = valid.iter().map(axis).collect();
        members.into_iter().zip(0..).collect::<BTreeMap<_, usize>>()
    });
    let shift = |of: &Combination| {
        let pair = flow_controls[of.flow_control] + congestions[of.congestion];
        (pair + fabrics[of.fabric] + buffers[of.buffer]) % fabrics.len()
    };
    let mut ordered: Vec<_> = valid.iter().collect();
    ordered.sort_by_key(|of| shift(of));
    let mut covered = BTreeSet::new();
    ordered.retain(|of| of.triples().map(|triple| covered.insert(triple)).contains(&true));
    ordered.into_iter().cloned().collect()
}

/// The combinations that are valid, and those that are refused, by the reason.
fn checked(all: &[Combination]) -> (Vec<Combination>, BTreeMap<String, BTreeSet<Combination>>) {
    let refused: Mutex<BTreeMap<String, BTreeSet<Combination>>> = Mutex::default();
    for_each(all, |combination| {
        if let Err(reason) = combination.scenario() {
            let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.entry(reason).or_default().insert(combination.clone());
        }
    });
    let refused = refused.into_inner().unwrap();
    let is_valid = |one: &&Combination| !refused.values().any(|of| of.contains(one));
    (all.iter().filter(is_valid).cloned().collect(), refused)
}

#[test]
fn everything_goes_together_or_is_refused_with_a_reason() {
    let all = combinations();
    let (valid, refused) = checked(&all);
    assert!(valid.len() > all.len() / 2, "{} of {} are valid", valid.len(), all.len());
    let some = covering(&valid);
    let triples =
        |of: &[Combination]| -> BTreeSet<_> { of.iter().flat_map(Combination::triples).collect() };
    assert_eq!(triples(&some), triples(&valid));
    let page = page(&all, &refused, some.len());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/composability.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), page, "docs/composability.md is old");
    for_each(&some, Combination::run);
}

#[test]
#[ignore = "takes minutes; another test runs some of the combinations"]
fn all_valid_combinations_run() {
    let (valid, _) = checked(&combinations());
    for_each(&valid, Combination::run);
}

/// One part of a combination.
type Axis = fn(&Combination) -> &'static str;

/// All of them, as the page names them.
const AXES: [(&str, Axis); 4] = [
    ("flow control", |c| c.flow_control),
    ("congestion control", |c| c.congestion),
    ("fabric", |c| c.fabric),
    ("buffer", |c| c.buffer),
];

/// What is refused, and why; `some` is the number of those that are run.
fn page(
    all: &[Combination],
    refused: &BTreeMap<String, BTreeSet<Combination>>,
    some: usize,
) -> String {
    let values = |axis: Axis, of: &mut dyn Iterator<Item = &Combination>| {
        of.map(axis).collect::<BTreeSet<_>>()
    };
    let count: usize = refused.values().map(BTreeSet::len).sum();
    let mut page = format!(
        "# What goes together\n\n\
         Every flow control is combined with every congestion control on every switch memory, on a tiny\n\
         network under an incast: {} combinations. {} run, with consistent accounting and the same results\n\
         on one thread and on two. {count} are refused, for these reasons.\n\n\
         (`crates/scenario/tests/composability.rs` writes this page. `make check-combinations` runs all of\n\
         these, and `make test` {some} of them, such that any three members of different axes that go\n\
         together are in at least one.)\n",
        all.len(),
        all.len() - count,
    );
    for (reason, of) in refused {
        let plural = if of.len() == 1 { "" } else { "s" };
        write!(page, "\n## {} combination{plural}\n\n> {reason}\n\n", of.len()).unwrap();
        for (name, axis) in AXES {
            let (some, every) = (values(axis, &mut of.iter()), values(axis, &mut all.iter()));
            let list = some.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>();
            let list = if some == every { "any".to_owned() } else { list.join(", ") };
            writeln!(page, "- {name}: {list}").unwrap();
        }
    }
    page
}
