//! A scenario in words, for the top of a report: the network, what is sent over it, and what each
//! variant is.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::document::Document;
use crate::line::AccessLine;
use crate::scenario::{Scenario, Variant};

/// Longer comments are no description of a variant in one line.
const LONGEST: usize = 240;
/// A variant that differs in more settings than these is described by their number.
const MOST: usize = 8;

impl Scenario {
    /// What the comment at a variant's table says of it, on the line of `[variants.NAME]` or right
    /// above it; empty without one.
    pub fn description(&self, variant: &str) -> String {
        comment_at(&self.text, variant).unwrap_or_default()
    }
}

impl Variant {
    /// The settings in which it differs from another variant, as paths with values:
    /// `switch.aqm.ramp.above_kmax = step`, `switch.isolation`, `without switch.flow_control.pfc`.
    pub fn differs_from(&self, other: &Self) -> Vec<String> {
        let value = |of: &Self| serde_json::to_value(&of.settings).expect("settings are JSON");
        let mut found = Vec::new();
        differences("", &value(other), &value(self), &mut found);
        if found.len() > MOST {
            let more = found.len() - MOST;
            found.truncate(MOST);
            found.push(format!("{more} more"));
        }
        found
    }

    /// Whether a table or a choice of this name is set anywhere in it: `pfc`, `watchdog`.
    pub fn has(&self, name: &str) -> bool {
        let value = serde_json::to_value(&self.settings).expect("settings are JSON");
        has(&value, name)
    }

    /// What it simulates, as pairs of a noun and a phrase: network, traffic, transport, switches.
    /// The seed is that of the placement.
    pub fn facts(&self, seed: u64) -> Vec<(String, String)> {
        let Self { settings, .. } = self;
        let value = serde_json::to_value(settings).expect("settings are JSON");
        let derived = self.derived(seed);
        let count = |many: u64, noun: &str| match many {
            1 => format!("1 {noun}"),
            _ => format!("{many} {noun}"),
        };
        let (slowest, fastest) = derived.link_rates;
        let rates = match slowest == fastest {
            true => slowest.to_string(),
            false => format!("{slowest} to {fastest}"),
        };
        let mut network = format!(
            "{}: {}, {}, {} of {rates}",
            member(&value["topology"]).unwrap_or("custom"),
            count(derived.hosts, if derived.hosts == 1 { "host" } else { "hosts" }),
            count(derived.switches, if derived.switches == 1 { "switch" } else { "switches" }),
            count(derived.links, if derived.links == 1 { "link" } else { "links" }),
        );
        if let Some(ratio) = derived.oversubscription {
            network += &format!(", oversubscription {ratio:.2}:1");
        }
        let path = format!(
            "round trip of a full packet in the empty network {}, bandwidth-delay product {:.1} KB",
            match derived.unloaded_rtt.as_secs() * 1e6 {
                us if us < 1e3 => format!("{us:.3} µs"),
                us => format!("{:.3} ms", us / 1e3),
            },
            derived.bdp.0 as f64 / 1e3
        );
        let mut facts = vec![("network".to_owned(), network), ("longest path".to_owned(), path)];
        let lines: Vec<String> = settings.line.iter().map(AccessLine::phrase).collect();
        if !lines.is_empty() {
            facts.push(("lines".to_owned(), lines.join("; ")));
        }
        let frame = derived.frame.0;
        let errors: Vec<String> = settings.errors.iter().map(|of| of.phrase(frame)).collect();
        if !errors.is_empty() {
            facts.push(("bit errors".to_owned(), errors.join("; ")));
        }
        let names = self.workload_names();
        for (at, entry) in settings.workload.iter().enumerate() {
            let noun = match settings.workload.len() {
                1 => "workload".to_owned(),
                _ => format!("workload {at}"),
            };
            let name = match names[at].as_str() {
                "" => String::new(),
                name => format!("{name}: "),
            };
            let traffic = serde_json::to_value(&entry.traffic).expect("settings are JSON");
            facts.push((noun, name + &choice(&traffic)));
        }
        let mut load = format!("busiest host {:.0} % (payload)", derived.host_load * 100.0);
        if let Some(spread) = derived.fabric_wire_load {
            load += &format!(
                ", links between switches {:.0} % on average, {:.0} % at most (with headers)",
                spread.mean * 100.0,
                spread.max * 100.0
            );
        }
        if derived.host_load > 0.0 {
            facts.push(("offered load".to_owned(), load));
        }
        facts.push(("transport".to_owned(), transport(settings)));
        facts.push(("switches".to_owned(), switches(&value["switch"])));
        if let Some(basis) = &self.basis {
            facts.push(("device profiles".to_owned(), basis.names()));
            facts.push(("evidence".to_owned(), basis.evidence()));
        }
        facts
    }
}

fn has(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(of) => {
            of.iter().any(|(key, value)| (key == name && !value.is_null()) || has(value, name))
        }
        Value::Array(of) => of.iter().any(|value| has(value, name)),
        _ => false,
    }
}

/// The comment at the first table of a variant.
fn comment_at(text: &str, variant: &str) -> Option<String> {
    let bare = format!("[variants.{variant}");
    let quoted = format!("[variants.\"{variant}\"");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_its = |line: &&str| {
        let rest = line.strip_prefix(&bare).or_else(|| line.strip_prefix(&quoted));
        rest.is_some_and(|rest| rest.starts_with([']', '.']))
    };
    let at = lines.iter().position(is_its)?;
    let words = |line: &str| line.trim_start_matches('#').trim().to_owned();
    let behind = lines[at].split_once(']').and_then(|(_, rest)| rest.split_once('#'));
    let comments: Vec<String> = match behind {
        Some((_, comment)) => vec![words(comment)],
        None => {
            let above = lines[..at].iter().rev().take_while(|line| line.starts_with('#'));
            let mut above: Vec<String> = above.map(|line| words(line)).collect();
            above.reverse();
            above
        }
    };
    // A comment goes on below as long as a line has nothing else; a commented table is no sentence.
    let said = comments.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    (!said.is_empty() && said.len() <= LONGEST && !said.starts_with('[')).then_some(said)
}

/// The one key of a chosen member, or the text that is its name.
fn member(value: &Value) -> Option<&str> {
    match value {
        Value::String(name) => Some(name),
        Value::Object(of) => of.keys().next().map(String::as_str),
        _ => None,
    }
}

/// A member with its parameters: `incast, senders 16, bytes 500KB`.
fn choice(value: &Value) -> String {
    let name = member(value).unwrap_or("");
    let mut parts = vec![name.to_owned()];
    if let Some(of) = value.get(name).and_then(Value::as_object) {
        // What is nothing says nothing.
        let nothing = |value: &Value| match value {
            Value::String(text) => ["0s", "0B"].contains(&text.as_str()),
            value => value.is_null(),
        };
        for (key, value) in of.iter().filter(|(_, value)| !nothing(value)) {
            match plain(value) {
                Some(shown) => parts.push(format!("{} {shown}", key.replace('_', " "))),
                None if value.is_array() => {
                    let many = value.as_array().map_or(0, Vec::len);
                    parts.push(format!("{many} {}", key.replace('_', " ")));
                }
                None => {}
            }
        }
    }
    parts.join(", ")
}

fn transport(settings: &Document) -> String {
    let of = |value: Value| member(&value).unwrap_or("").to_owned();
    let json = |value: Result<Value, _>| value.unwrap_or(Value::Null);
    let profiles = settings.profiles();
    let each: Vec<String> = profiles
        .iter()
        .map(|profile| {
            let transport = of(json(serde_json::to_value(&profile.transport)));
            let control = of(json(serde_json::to_value(&profile.congestion)));
            format!("{transport} with {control}")
        })
        .collect();
    let different: BTreeSet<&String> = each.iter().collect();
    if different.len() == 1 {
        return each[0].clone();
    }
    // Neighbors that are alike are said together.
    let mut parts: Vec<(usize, usize, &String)> = Vec::new();
    for (at, said) in each.iter().enumerate() {
        match parts.last_mut() {
            Some((_, last, before)) if *before == said => *last = at,
            _ => parts.push((at, at, said)),
        }
    }
    let parts = parts.into_iter().map(|(first, last, said)| match last - first {
        0 => format!("workload {first}: {said}"),
        1 => format!("workloads {first} and {last}: {said}"),
        _ => format!("workloads {first} to {last}: {said}"),
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// What of the switches is chosen, and which flow control there is.
fn switches(switch: &Value) -> String {
    let mut parts = Vec::new();
    for (key, noun) in [("aqm", "AQM"), ("scheduler", "scheduler"), ("buffer", "buffer")] {
        if let Some(name) = member(&switch[key]) {
            parts.push(format!("{noun} {name}"));
        }
    }
    let some = |(key, value): (&String, &Value)| (!value.is_null()).then(|| key.clone());
    let control = switch["flow_control"].as_object();
    let control: Vec<String> = control.into_iter().flatten().filter_map(some).collect();
    parts.push(match control.is_empty() {
        true => "no flow control".to_owned(),
        false => format!("flow control {}", control.join(", ")),
    });
    parts.join("; ")
}

/// A value on one line; none of tables and lists.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        // A chosen member without parameters of its own.
        Value::Object(of) if of.len() == 1 && of.values().all(Value::is_null) => {
            of.keys().next().cloned()
        }
        _ => None,
    }
}

/// Where two documents differ, as the later one has it.
fn differences(path: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let at = |key: &str| match path {
                "" => key.to_owned(),
                path => format!("{path}.{key}"),
            };
            // Another member of a family: its parameters and those of the one before are no pairs.
            if let (Some(old), Some(new)) = (only(before), only(after))
                && old != new
            {
                return found.push(format!("{} instead of {old}", at(new)));
            }
            let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for key in keys {
                let [old, new] = [before, after].map(|of| of.get(key).unwrap_or(&Value::Null));
                differences(&at(key), old, new, found);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (at, (old, new)) in before.iter().zip(after).enumerate() {
                differences(&format!("{path}.{at}"), old, new, found);
            }
        }
        (_, Value::Null) => found.push(format!("without {path}")),
        (_, after) => found.push(match (plain(after), after.as_object().and_then(only)) {
            (Some(shown), _) => format!("{path} = {shown}"),
            // A member of a family whose default is not written.
            (None, Some(member)) => format!("{path}.{member}"),
            (None, None) => path.to_owned(),
        }),
    }
}

/// The only key of a table.
fn only(of: &Map<String, Value>) -> Option<&String> {
    of.keys().next().filter(|_| of.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Overrides;

    const TEXT: &str = r#"
name = "a"
arrivals = "1ms"
limit = "2ms"
[topology.star]
hosts = 3
[switch.flow_control.pfc]
[[workload]]
name = "burst"
[workload.incast]
senders = 2
bytes = "50KB"

# Marks everything
# above 100 KB.
[variants.step.switch.aqm.step]
threshold = "100KB"

[variants.ramp]   # RED as DCQCN has it
switch.aqm = "ramp"
switch.flow_control.pfc = false

[variants.silent.switch]
queue.size = "2MB"
"#;

    fn scenario() -> Scenario {
        Scenario::parse(TEXT, "a.toml", &Overrides::default()).unwrap()
    }

    #[test]
    fn comments_at_a_table_describe_its_variant() {
        let scenario = scenario();
        let of = |name: &str| scenario.description(name);
        assert_eq!(of("step"), "Marks everything above 100 KB.");
        assert_eq!(of("ramp"), "RED as DCQCN has it");
        assert_eq!((of("silent"), of("ste"), of("none")), Default::default());
    }

    #[test]
    fn workloads_in_a_row_with_the_same_transport_are_named_together() {
        let text = "name = \"a\"\narrivals = \"1s\"\nlimit = \"2s\"\n[topology.dumbbell]\nleft = 1\nright = 1\n\
                    [host.transport.tcp]\n[host.congestion.cubic]\n[[workload]]\nping = {}\n[[workload]]\nvoice = {}\n\
                    [[workload]]\nlong_flows = { count = 1 }\n";
        let scenario = Scenario::parse(text, "a.toml", &Overrides::default()).unwrap();
        let facts = scenario.variants()[0].facts(0);
        let said = facts.into_iter().find(|(noun, _)| noun == "transport").unwrap().1;
        assert_eq!(said, "workloads 0 and 1: udp with constant_rate; workload 2: tcp with cubic");
    }

    #[test]
    fn differences_are_told_by_path() {
        let scenario = scenario();
        let [step, ramp, silent] = scenario.variants() else { panic!("three variants") };
        assert_eq!(
            ramp.differs_from(step),
            ["switch.aqm.ramp instead of step", "without switch.flow_control.pfc"]
        );
        assert!(silent.differs_from(step).contains(&"switch.queue.size = 2MB".to_owned()));
        assert!(step.differs_from(step).is_empty());
    }

    #[test]
    fn a_member_in_the_place_of_a_default_is_named() {
        let text = format!("{TEXT}\n[variants.fair.switch.queue.discipline.fq]\n");
        let scenario = Scenario::parse(&text, "a.toml", &Overrides::default()).unwrap();
        let [silent, fair] = ["silent", "fair"].map(|name| scenario.variant(name).unwrap());
        assert!(fair.differs_from(silent).contains(&"switch.queue.discipline.fq".to_owned()));
    }

    #[test]
    fn what_is_set_is_known_by_its_name() {
        let scenario = scenario();
        let [step, ramp, _] = scenario.variants() else { panic!("three variants") };
        assert!(step.has("pfc") && step.has("incast") && !step.has("bfc"));
        assert!(!ramp.has("pfc"), "it was removed");
    }

    #[test]
    fn facts_name_network_traffic_and_transport() {
        let scenario = scenario();
        let facts = scenario.variants()[0].facts(1);
        let of = |noun: &str| {
            let found = facts.iter().find(|(of, _)| of == noun);
            found.map(|(_, said)| said.as_str()).unwrap_or_else(|| panic!("{noun}: {facts:?}"))
        };
        assert!(of("network").starts_with("star: 3 hosts, 1 switch, 3 links of "), "{facts:?}");
        assert!(of("workload").starts_with("burst: incast, "), "{facts:?}");
        assert!(of("workload").contains("bytes 50KB"), "{facts:?}");
        assert_eq!(of("transport"), "rocev2 with dcqcn");
        assert!(
            of("switches").starts_with("AQM step; ")
                && of("switches").ends_with("flow control pfc")
        );
    }
}
