//! Parameters under the names that they had in the last version.

use floodway_scenario::sweep::{Arguments, Spec as Sweep};
use floodway_scenario::{Error, Overrides, Scenario, renamed};

const BASE: &str = r#"
name = "renamed"
arrivals = "1ms"
limit = "5ms"

[topology.star]
hosts = 8
rate = "10Gbps"

[switch.aqm.ramp]
at = "arrival"
by_rate = [{ rate = "10Gbps", kmin = "10KB", kmax = "30KB", pmax = 0.1 }]

[[workload]]
[workload.incast]
senders = 4
bytes = "64KB"
"#;

/// What a parameter of Congestion Isolation needs.
const ISOLATION: &str = r#"
[switch.queue]
count = 2

[switch.flow_control.congestion_isolation.curve]
by_rate = [{ rate = "10Gbps", kmin = "10KB", kmax = "30KB", pmax = 0.1 }]
"#;

/// What a parameter of Directional Rate Control needs.
const DIRECTIONAL: &str = r#"
[switch.flow_control.drc]

[host]
buffer = "64KB"
"#;

/// A scenario with the table.
fn with(table: &str) -> String {
    let mechanism = match table {
        _ if table.contains("congestion_isolation") => ISOLATION,
        _ if table.contains("drc") => DIRECTIONAL,
        _ => "",
    };
    format!("{BASE}{mechanism}")
}

fn load(text: &str, set: &[String]) -> Result<Scenario, Error> {
    Scenario::parse(text, "renamed.toml", &Overrides { quick: false, set: set.to_vec() })
}

fn scenario(text: &str, set: &[String]) -> Scenario {
    load(text, set).unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn key(scenario: &Scenario) -> String {
    scenario.build(&scenario.variants()[0], 0).key()
}

fn warnings(scenario: &Scenario) -> Vec<&str> {
    let of_a_name = |text: &&str| text.contains("the old name");
    scenario.warnings().iter().map(|problem| &*problem.message).filter(of_a_name).collect()
}

/// A value that is neither the default nor written above.
fn value(parameter: &str) -> &'static str {
    match parameter {
        "kmin" => "\"20KB\"",
        "kmax" => "\"90KB\"",
        "pmax" => "0.3",
        "above_kmax" => "\"cap\"",
        "buffer" => "\"70KB\"",
        other => panic!("no value for {other}"),
    }
}

#[test]
fn an_old_name_is_accepted_and_means_the_same() {
    for (table, old, new) in renamed() {
        let (table, base) = (table.replace('*', "0"), with(table));
        let of = |name: &str| vec![format!("{table}.{name}={}", value(new))];
        let (before, now) = (scenario(&base, &of(old)), scenario(&base, &of(new)));
        assert_eq!(key(&before), key(&now), "{table}.{old}");
        assert_ne!(key(&now), key(&scenario(&base, &[])), "{table}.{new}");
        let warning = format!(
            "`{table}.{old}` is now `{new}`; the old name is accepted until the next version"
        );
        assert_eq!(warnings(&before), [warning.as_str()]);
        assert_eq!(warnings(&now), [""; 0]);
        // In a file it is a field, also of a variant.
        let before = format!("{base}\n[variants.a.{table}]\n{old} = {}\n", value(new));
        let before = scenario(&before, &[]);
        assert_eq!((key(&before), warnings(&before)), (key(&now), vec![warning.as_str()]));
    }
}

#[test]
fn an_old_name_beside_the_new_one_is_refused() {
    for (table, old, new) in renamed() {
        let (table, base) = (table.replace('*', "0"), with(table));
        let both = format!("{table}={{ {old} = {0}, {new} = {0} }}", value(new));
        let error = load(&base, &[both]).unwrap_err();
        let message = &error.problems()[0].message;
        assert_eq!(*message, format!("`{table}` has both `{old}` and its new name `{new}`"));
    }
    // A later setting replaces an earlier one, whatever it is called.
    let set = ["switch.aqm.ramp.kmin=1KB", "switch.aqm.ramp.low=2KB"].map(str::to_owned);
    assert_eq!(key(&scenario(BASE, &set)), key(&scenario(BASE, &set[1..])));
}

#[test]
fn a_path_of_a_sweep_may_have_an_old_name() {
    let sweep = |vary: &[&str]| {
        let vary: Vec<String> = vary.iter().map(|&vary| vary.to_owned()).collect();
        let arguments = Arguments { vary: &vary, ..Arguments::default() };
        let read = |overrides: &Overrides| Scenario::parse(BASE, "renamed.toml", overrides);
        floodway_scenario::Sweep::new(&Sweep::default(), arguments, &Overrides::default(), read)
    };
    let keys = |vary: &str| -> Vec<String> {
        sweep(&[vary]).unwrap().points.iter().map(|point| key(&point.scenario)).collect()
    };
    assert_eq!(keys("switch.aqm.ramp.high=50KB,90KB"), keys("switch.aqm.ramp.kmax=50KB,90KB"));
    let swept = sweep(&["switch.aqm.ramp.high=50KB,90KB"]).unwrap();
    assert_eq!(
        swept.warnings()[0].message,
        "`switch.aqm.ramp.high` is now `kmax`; the old name is accepted until the next version"
    );
    assert_eq!(swept.warnings().len(), 1);
    let twice = ["switch.aqm.ramp.low=1KB,2KB", "switch.aqm.ramp.kmin=3KB"];
    assert_eq!(
        sweep(&twice).unwrap_err().problems()[0].message,
        "`switch.aqm.ramp.low` and `switch.aqm.ramp.kmin` are the same, so it is varied twice"
    );
}
