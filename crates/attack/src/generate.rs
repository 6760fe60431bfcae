//! Random scenarios. Families, members, fields, types and defaults come from the schema; written by
//! hand is only what gives a scenario its scale (rates, time, number of hosts) and the texts that
//! name something else in it (hosts, links, sizes, files).

use std::cell::RefCell;

use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::{Overrides, Scenario};
use serde_json::{Map, Value, json};

use crate::repair;
use crate::schema::{self, Schema, Unit};

/// How often a scenario is repaired at most.
const REPAIRS: usize = 80;

/// Data that all hosts together can send until the limit of time, in packets of 1000 bytes.
const PACKETS: f64 = 6_000.0;

/// The most hosts of a scenario, and the most memory that it may need.
const MOST_HOSTS: u64 = 40;
const MOST_MEMORY: u64 = 300_000_000;

/// The most flows of a scenario.
const MOST_FLOWS: f64 = 4_000.0;

/// The most runs of a scenario.
const MOST_RUNS: u64 = 12;

/// How often one that is too large is made shorter.
const SHORTER: usize = 4;

/// What became of an attempt to make a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The text of a valid scenario.
    Valid(String),
    /// Still not valid after all repairs.
    GivenUp,
    /// Valid, and too large to be run quickly.
    TooLarge,
}

/// A scenario that is being made.
pub struct Draft<'a> {
    schema: &'a Schema,
    stream: Stream,
    /// The rate around which links are chosen, bits per second.
    rate: f64,
    /// The time limit, ps.
    limit: f64,
    /// The document so far.
    pub document: Value,
}

/// Scenario `index` of `seed`: the same on every machine. Files that it names are in the corpus.
pub fn scenario(schema: &Schema, seed: u64, index: u64, file_name: &str) -> Attempt {
    let mut draft = Draft::begin(schema, seed, index);
    let Some(valid) = repair::repair(&mut draft, file_name, REPAIRS) else {
        return Attempt::GivenUp;
    };
    // Links are known only now, and overlays need something to lie on.
    let plain = draft.document.clone();
    draft.add_failures(&valid);
    draft.add_line(&valid);
    draft.add_variants();
    draft.add_errors(&valid);
    let whole = repair::repair(&mut draft, file_name, REPAIRS);
    let mut valid = match whole {
        Some(valid) => valid,
        None => {
            draft.document = plain;
            valid
        }
    };
    for _ in 0..SHORTER {
        if is_small(&valid) {
            return Attempt::Valid(draft.text());
        }
        draft.shorten();
        match repair::repair(&mut draft, file_name, REPAIRS) {
            Some(shorter) => valid = shorter,
            None => break,
        }
    }
    Attempt::TooLarge
}

/// Whether a scenario is small by the numbers that follow from it.
pub fn is_small(scenario: &Scenario) -> bool {
    let runs = scenario.variants().len() as u64 * u64::from(scenario.replications);
    let derived = scenario.derived();
    runs <= MOST_RUNS
        && derived.variants.iter().all(|variant| {
            variant.hosts <= MOST_HOSTS
                && variant.memory.0 <= MOST_MEMORY
                && variant.expected_flows + variant.persistent_flows as f64 <= MOST_FLOWS
        })
}

thread_local! {
    /// The text that was read last.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The text that this thread has given to [`parse`] last: the one that a panic is about.
pub fn last_text() -> String {
    LAST.take()
}

/// Reads a scenario whose files are beside `file_name`.
pub fn parse(text: &str, file_name: &str) -> Result<Scenario, floodway_scenario::Error> {
    LAST.set(text.to_owned());
    Scenario::parse(text, file_name, &Overrides::default())
}

impl<'a> Draft<'a> {
    fn begin(schema: &'a Schema, seed: u64, index: u64) -> Self {
        let mut stream = Stream::named(seed, &format!("scenario {index}"));
        let rates = [1e11, 1e11, 4e11, 2.5e10, 1e10, 1e9, 1e8];
        let rate = rates[stream.below(rates.len() as u64) as usize];
        // In packets of 8000 bits of up to 16 hosts.
        let limit = PACKETS / 8.0 * 8000.0 / rate * 1e12 * 4f64.powf(stream.unit() - 0.5);
        let mut draft = Self { schema, stream, rate, limit, document: json!({}) };
        draft.fill(index);
        draft
    }

    /// The document as TOML.
    pub fn text(&self) -> String {
        toml::to_string(&self.document).expect("a document has no value that TOML cannot write")
    }

    /// The schema by which it is made.
    pub fn schema(&self) -> &'a Schema {
        self.schema
    }

    fn fill(&mut self, index: u64) {
        let mut document = Map::new();
        let fields = self.schema.scenario()["properties"].as_object().expect("it has fields");
        for (key, field) in fields {
            let value = match key.as_str() {
                "name" => format!("s{index}").into(),
                "limit" => Duration(self.limit as u64).to_string().into(),
                "arrivals" => self.share_of_limit().into(),
                "seed" => self.below(1000).into(),
                "record" | "replications" if self.chance(0.7) => continue,
                "record" => (2 + self.below(100)).into(),
                "replications" => (1 + self.below(3)).into(),
                "workload" => {
                    let count = 1 + self.below(3);
                    let path = |number: u64| vec!["workload".to_owned(), number.to_string()];
                    let entry = &self.schema.resolve(field)["items"];
                    (0..count).map(|number| self.value(entry, &path(number))).collect()
                }
                "topology" => self.value(field, std::slice::from_ref(key)),
                // Overlays, failures and lines follow when it is valid.
                "extends" | "profile" | "variants" | "quick" | "sweep" | "failure" | "line"
                | "errors" | "question" => {
                    continue;
                }
                "switch" | "host" => self.value(field, std::slice::from_ref(key)),
                _ if self.chance(0.25) => self.value(field, std::slice::from_ref(key)),
                _ => continue,
            };
            document.insert(key.clone(), value);
        }
        self.document = document.into();
    }

    /// An eighth of the time, and one replication.
    fn shorten(&mut self) {
        self.limit /= 8.0;
        for key in ["limit", "arrivals"] {
            let time = self.document[key].as_str().and_then(|text| text.parse::<Duration>().ok());
            if let Some(time) = time {
                self.document[key] = Duration(time.0 / 8).to_string().into();
            }
        }
        self.document["replications"] = 1.into();
    }

    /// A random value of a schema at a path.
    pub fn value(&mut self, schema: &Value, path: &[String]) -> Value {
        let own = schema.get("default").filter(|default| !default.is_null()).cloned();
        let schema = self.schema.resolve(schema);
        let default = own.or_else(|| schema.get("default").filter(|it| !it.is_null()).cloned());
        if let Some(text) = self.by_hand(schema, path) {
            return text;
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[self.below(values.len() as u64) as usize].clone();
        }
        let is_table = schema["properties"].is_object();
        let choices: Vec<_> = schema::choices(schema).filter(|_| !is_table).collect();
        if !choices.is_empty() {
            // `false` for what may be absent is the same as nothing: seldom. A mechanism alone is
            // `true` with its defaults.
            let plain: Vec<_> = choices
                .iter()
                .copied()
                .filter(|choice| schema::type_of(choice) != "boolean")
                .collect();
            let from = if plain.is_empty() || self.chance(0.05) { choices } else { plain };
            let choice = from[self.below(from.len() as u64) as usize].clone();
            return self.with_default(&choice, default, path);
        }
        match schema::type_of(schema) {
            "object" => self.table(schema, path),
            "array" => self.list(schema, path),
            "boolean" => self.chance(0.5).into(),
            "integer" => self.whole(schema, default.as_ref(), path).into(),
            "number" => self.real(default.as_ref()).into(),
            "string" => self.text_of(schema, default.as_ref(), path).into(),
            _ => self.below(4).into(),
        }
    }

    fn with_default(&mut self, schema: &Value, default: Option<Value>, path: &[String]) -> Value {
        let mut schema = schema.clone();
        if let (Some(default), Value::Object(fields)) = (default, &mut schema) {
            fields.entry("default").or_insert(default);
        }
        self.value(&schema, path)
    }

    fn table(&mut self, schema: &Value, path: &[String]) -> Value {
        let mut table = Map::new();
        let required: Vec<_> = schema::names(schema, "required").collect();
        for (key, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = &[path, std::slice::from_ref(key)].concat()[..];
            if required.contains(&key.as_str()) || self.chance(self.share(field, path)) {
                table.insert(key.clone(), self.value(field, path));
            }
        }
        // A workload: one member beside what all have. Only `floodway emulate` runs kernels.
        let is_kernel =
            |member: &&Value| schema::names(member, "required").any(|key| key == "linux");
        let members: Vec<_> = schema::choices(schema).filter(|member| !is_kernel(member)).collect();
        if !members.is_empty() {
            let member = members[self.below(members.len() as u64) as usize];
            if let Value::Object(member) = self.table(member, path) {
                table.extend(member);
            }
        }
        table.into()
    }

    /// How likely a field is written.
    fn share(&self, field: &Value, path: &[String]) -> f64 {
        let reference = self.schema.resolve(field);
        let is_table =
            schema::choices(reference).next().is_some() || reference["properties"].is_object();
        match path {
            [first, second, _] if first == "switch" && second == "flow_control" => 0.15,
            [first, _, _] if first == "workload" => 0.25,
            _ if is_table => 0.5,
            _ => 0.25,
        }
    }

    fn list(&mut self, schema: &Value, path: &[String]) -> Value {
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let most = schema["maxItems"].as_u64().unwrap_or(4);
        let count = least + self.below(most - least + 1);
        let path = |number: u64| [path, &[number.to_string()]].concat();
        (0..count).map(|number| self.value(&schema["items"], &path(number))).collect()
    }

    fn whole(&mut self, schema: &Value, default: Option<&Value>, path: &[String]) -> u64 {
        let most = schema["maximum"].as_u64().unwrap_or(u64::MAX).min(i64::MAX as u64);
        // Large networks and lists of flows would only be refused as too large.
        let counts_things = ["topology", "workload"].contains(&path[0].as_str());
        let value = match (self.below(24), default.and_then(Value::as_u64)) {
            (0, _) => 0,
            (1, _) => 1,
            (2, _) if !counts_things => most,
            (3, _) => self.below(300),
            (_, Some(default)) if !counts_things => self.scaled(default as f64) as u64,
            _ => 1 + self.below(8),
        };
        value.min(most)
    }

    fn real(&mut self, default: Option<&Value>) -> f64 {
        match (self.below(16), default.and_then(Value::as_f64)) {
            (0, _) => 0.0,
            (1, _) => 1.0,
            (2, _) => self.stream.unit(),
            (3, _) => -1.0,
            (_, Some(default)) => self.scaled(default),
            _ => self.stream.unit(),
        }
    }

    /// A value times 2^-5 to 2^5, mostly near itself.
    fn scaled(&mut self, value: f64) -> f64 {
        let span = if self.chance(0.5) { 2.0 } else { 10.0 };
        value * ((self.stream.unit() - 0.5) * span).exp2()
    }

    fn text_of(&mut self, schema: &Value, default: Option<&Value>, path: &[String]) -> String {
        let default = default.and_then(Value::as_str);
        let odd = self.below(24);
        match schema::unit(schema) {
            Some(Unit::Time) => {
                let known = default.and_then(|text| text.parse::<Duration>().ok());
                let value = match (odd, known) {
                    (0, _) => 0.0,
                    (1, _) => 1.0,
                    (2, _) => u64::MAX as f64,
                    (3..8, _) | (_, None) => self.limit * self.stream.unit().powi(3),
                    (_, Some(known)) => self.scaled(known.0 as f64),
                };
                Duration(value as u64).to_string()
            }
            Some(Unit::Bytes) => {
                let known = default.and_then(|text| text.parse::<Bytes>().ok());
                let value = match (odd, known) {
                    (0, _) => 0.0,
                    (1, _) => 1.0,
                    (2, _) => u64::MAX as f64,
                    (_, Some(known)) if known.0 > 0 => self.scaled(known.0 as f64),
                    _ => (self.stream.unit() * 19.0).exp2(),
                };
                Bytes(value as u64).to_string()
            }
            Some(Unit::Rate) => {
                let known = default.and_then(|text| text.parse::<Rate>().ok());
                let value = match (odd, known) {
                    (0, _) => 0.0,
                    (1, _) => 1.0,
                    (2, _) => u64::MAX as f64,
                    (_, Some(known)) if path[0] != "topology" && odd < 16 => {
                        self.scaled(known.0 as f64)
                    }
                    (3..10, _) => self.scaled(self.rate),
                    _ => self.rate,
                };
                Rate(value as u64).to_string()
            }
            None => default.unwrap_or("x").to_owned(),
        }
    }

    /// What names something else in the scenario, and what makes sense as a whole only.
    fn by_hand(&mut self, schema: &Value, path: &[String]) -> Option<Value> {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        match words[..] {
            ["topology", "custom"] => return Some(self.custom_network()),
            ["measure_until"] => {
                let time = self.share_of_limit();
                return Some(self.pick(&["arrivals", "completion", &time]).into());
            }
            ["warmup" | "sample_interval" | "flow_samples"] if self.chance(0.9) => {
                return Some(self.share_of_limit().into());
            }
            _ => {}
        }
        let last = *words.last()?;
        if !matches!(schema::type_of(schema), "string") || schema::unit(schema).is_some() {
            return None;
        }
        let text = match last {
            "from" | "to" | "hosts" | "ranks" | "clients" | "servers" => {
                self.pick(&["all", "all", "left", "right", "0-1", "0-3", "1, 3", "2", "host 1"])
            }
            "sizes" | "request" | "response" => self.pick(&[
                "web_search",
                "google_all_rpc",
                "facebook_key_value",
                "1B",
                "1KB",
                "20KB",
                "1MB",
                "exponential(8000B, 46B, 64KB)",
                "sizes_csv/small.csv",
            ]),
            "path" if words[0] == "topology" => {
                self.pick(&["network_hpcc/small.txt", "network_htsim/small.topo"])
            }
            "path" if words.contains(&"chakra") => self.pick(&["chakra/small"]),
            "files" if words.contains(&"chakra") => self.pick(&["chakra/small.0.et"]),
            "groups" if words.contains(&"chakra") => self.pick(&["chakra/groups.json"]),
            "path" if words.contains(&"goal") => self.pick(&["goal/small.goal"]),
            "path" => {
                self.pick(&["flows_csv/small.csv", "flows_hpcc/small.txt", "flows_htsim/small.cm"])
            }
            "name" => self.pick(&["a", "b", "training"]),
            _ => return None,
        };
        Some(text.into())
    }

    /// A tree of switches with some links more.
    fn custom_network(&mut self) -> Value {
        let switches = 1 + self.below(5);
        let hosts = 2 + self.below(8);
        let mut links = Vec::new();
        for host in 0..hosts {
            let switch = self.below(switches);
            links.push(self.link(format!("h {host} -- s {switch}")));
        }
        for switch in 1..switches {
            let other = self.below(switch);
            links.push(self.link(format!("s {other} -- s {switch}")));
        }
        for _ in 0..if switches > 1 { self.below(4) } else { 0 } {
            let (one, other) = (self.below(switches), self.below(switches));
            links.push(self.link(format!("s {one} -- s {other}")));
        }
        let list = |name: &str, count: u64| -> Value {
            (0..count).map(|number| Value::from(format!("{name} {number}"))).collect()
        };
        json!({
            "hosts": list("h", hosts),
            "switches": list("s", switches),
            "links": links,
            "rate": Rate(self.rate as u64).to_string(),
        })
    }

    fn link(&mut self, ends: String) -> Value {
        if self.chance(0.5) {
            return ends.into();
        }
        let mut link = json!({ "ends": ends });
        if self.chance(0.5) {
            link["rate"] = Rate(self.scaled(self.rate).max(1.0) as u64).to_string().into();
        }
        if self.chance(0.25) {
            let rate = Rate(self.scaled(self.rate).max(1.0) as u64);
            link["rate_back"] = rate.to_string().into();
        }
        if self.chance(0.5) {
            link["delay"] = Duration(self.scaled(1e6) as u64).to_string().into();
        }
        if self.chance(0.2) {
            link["count"] = (1 + self.below(3)).into();
        }
        link
    }

    /// Some links that exist fail.
    fn add_failures(&mut self, valid: &Scenario) {
        if !self.chance(0.25) {
            return;
        }
        let graph = valid.variants()[0].graph();
        let links: Vec<_> = graph.links().map(|(node, _, end)| (node, end.peer)).collect();
        let mut failures = Vec::new();
        for number in 0..1 + self.below(2) {
            let (node, peer) = links[self.below(links.len() as u64) as usize];
            let path = ["failure".to_owned(), number.to_string()];
            let schema =
                self.schema.find(self.schema.scenario(), &path).expect("there are failures");
            let mut failure = self.value(schema, &path);
            failure["link"] = json!([graph.node(node).name, graph.node(peer).name]);
            failure["at"] = self.share_of_limit().into();
            failures.push(failure);
        }
        self.document["failure"] = failures.into();
    }

    /// A link that exists has a framing, or loses frames.
    fn add_line(&mut self, valid: &Scenario) {
        if !self.chance(0.15) {
            return;
        }
        let graph = valid.variants()[0].graph();
        let links: Vec<_> = graph.links().map(|(node, _, end)| (node, end.peer)).collect();
        let (node, peer) = links[self.below(links.len() as u64) as usize];
        let mut line = json!({ "link": [graph.node(node).name, graph.node(peer).name] });
        let kinds = ["ethernet", "docsis", "pppoe_ptm", "pppoe_llcsnap", "ipoa_vcmux"];
        line["kind"] = kinds[self.below(kinds.len() as u64) as usize].into();
        if self.chance(0.5) {
            line["loss"] = 0.01.into();
        }
        if self.chance(0.25) {
            line["bursts"] = json!({ "p": 0.01, "r": 0.25 });
        }
        self.document["line"] = [line].to_vec().into();
    }

    /// Links that exist, or all, have bit errors and perhaps a retry.
    fn add_errors(&mut self, valid: &Scenario) {
        if !self.chance(0.2) {
            return;
        }
        let graph = valid.variants()[0].graph();
        let links: Vec<_> = graph.links().map(|(node, _, end)| (node, end.peer)).collect();
        let path = ["errors".to_owned(), "0".to_owned()];
        let schema = self.schema.find(self.schema.scenario(), &path).expect("there are errors");
        let mut errors = self.value(schema, &path);
        let table = errors.as_object_mut().expect("a table");
        for key in ["link", "number", "frames"] {
            table.remove(key);
        }
        errors["bit_error_rate"] = 10f64.powi(-4 - self.below(6) as i32).into();
        if self.chance(0.5) {
            let (node, peer) = links[self.below(links.len() as u64) as usize];
            errors["link"] = json!([graph.node(node).name, graph.node(peer).name]);
            errors["frames"] = json!([0, 1, 5]);
        }
        self.document["errors"] = [errors].to_vec().into();
    }

    /// Variants that lie over switches or hosts.
    fn add_variants(&mut self) {
        if !self.chance(0.35) {
            return;
        }
        let mut variants = Map::new();
        for number in 0..1 + self.below(3) {
            let mut variant = Map::new();
            for key in ["switch", "host", "latencies", "departures"] {
                if self.chance(0.4) {
                    let field = &self.schema.scenario()["properties"][key];
                    variant.insert(key.to_owned(), self.value(field, &[key.to_owned()]));
                }
            }
            variants.insert(format!("v{number}"), variant.into());
        }
        self.document["variants"] = variants.into();
    }

    fn share_of_limit(&mut self) -> String {
        Duration((self.limit * self.stream.unit()) as u64).to_string()
    }

    fn pick(&mut self, words: &[&str]) -> String {
        words[self.below(words.len() as u64) as usize].to_owned()
    }

    /// A whole number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.stream.below(bound)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.stream.bernoulli(probability)
    }
}
