//! Presets: named sets of values that stand below those that are written, `preset = "2004"` in
//! `[host.transport.tcp]`. They are filled in before anything else looks at a scenario, so that
//! its settings say what is used.

mod dcqcn;

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_model::family;
use floodway_sim::host::congestion;

use crate::text::suggest;
use crate::text::{Entry, Item, Problem, Source, Value, parse_value};

/// The key that names a preset.
pub const KEY: &str = "preset";

/// What the key means, for the reference.
pub const MEANING: &str = "A named set of values below those that are written here, see \
                           [presets](#presets); `false` for none. Default none.";

/// Makes a congestion control.
type Control = fn() -> congestion::Spec;

/// One preset.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name, and what it is in one line.
    pub entry: family::Entry,
    /// Fields, their values as a scenario file has them, and where those are from.
    pub values: &'static [(&'static str, &'static str, &'static str)],
    /// The congestion control where none is written, and where that is from; none for presets of
    /// congestion controls.
    congestion: Option<(Control, &'static str)>,
}

impl Preset {
    /// The table that it is for: `host.transport.tcp`.
    pub fn table(&self) -> &'static str {
        self.entry.family.strip_suffix(".preset").unwrap_or(self.entry.family)
    }

    /// The congestion control where none is written.
    pub fn congestion(&self) -> Option<congestion::Spec> {
        self.congestion.map(|(control, _)| control())
    }

    /// Where that is from.
    pub fn congestion_source(&self) -> Option<&'static str> {
        self.congestion.map(|(_, source)| source)
    }
}

/// All presets, those of one table together.
pub const CATALOGUE: &[Preset] =
    &[TCP_2004, dcqcn::PAPER, dcqcn::NVIDIA, dcqcn::HPCC, dcqcn::HPCC_PAPER];

const TCP_2004: Preset = Preset {
    entry: family::Entry {
        family: "host.transport.tcp.preset",
        name: "2004",
        summary: "TCP of 2004: NewReno with SACK, three duplicate acknowledgements, 64 KB without scaling.",
    },
    values: &[
        (
            "mss",
            "\"1448B\"",
            "1500 bytes of IP packet with timestamps (RFC 1323), which Linux had on (assumed)",
        ),
        ("initial_window", "3", "RFC 3390: 4380 bytes in full segments"),
        (
            "receive_window",
            "\"65535B\"",
            "RFC 793, without the window scaling of RFC 1323; the deck has 64 KB",
        ),
        ("min_rto", "\"200ms\"", "Linux 2.6 (assumed); RFC 2988 requires 1 s"),
        ("max_rto", "\"120s\"", "Linux 2.6 (assumed); RFC 2988: at least 60 s"),
        ("initial_rto", "\"3s\"", "RFC 2988, section 2.1"),
        ("delayed_ack", "\"40ms\"", "Linux 2.6, least (assumed); RFC 1122: below 500 ms"),
        ("ack_every", "2", "RFC 2581, section 4.2"),
        ("quick_acks", "16", "Linux 2.6 (assumed)"),
        ("ack_reductions", "false", "in Linux since 2018"),
        ("pacing", "false", "no system paced (assumed)"),
        ("idle_restart", "\"halve\"", "RFC 2861, as in Linux 2.6 (assumed)"),
        ("loss_detection", "\"dup_acks\"", "RFC 3517, limited transmit RFC 3042"),
    ],
    congestion: Some((
        || congestion::Spec::Reno(Default::default()),
        "RFC 2581 and 3782 (NewReno)",
    )),
};

/// Whether a table takes a preset, by its path: that of `host`, or the same of a workload.
pub fn takes_preset(path: &[String]) -> bool {
    of_table(path).next().is_some()
}

fn of_table(path: &[String]) -> impl Iterator<Item = &'static Preset> {
    let path = match path {
        [first, _index, rest @ ..] if first == "workload" => format!("host.{}", rest.join(".")),
        path => path.join("."),
    };
    CATALOGUE.iter().filter(move |preset| preset.table() == path)
}

/// The presets that a document names: of all hosts, and of workloads.
#[derive(Debug, Default)]
pub struct Applied {
    host: Option<&'static Preset>,
    workloads: BTreeMap<usize, &'static Preset>,
}

impl Applied {
    /// The congestion control of all hosts where none is written; `None` without a preset.
    pub fn of_host(&self) -> Option<congestion::Spec> {
        self.host.and_then(Preset::congestion)
    }

    /// That of a workload with a transport of its own, likewise.
    pub fn of_workload(&self, number: usize) -> Option<congestion::Spec> {
        self.workloads.get(&number).and_then(|preset| preset.congestion())
    }
}

/// Fills in the values of the presets that a document names.
pub fn apply(document: &mut Item) -> Result<Applied, Problem> {
    let mut applied = Applied::default();
    let mut tables: Vec<&str> = CATALOGUE.iter().map(Preset::table).collect();
    tables.dedup();
    for table in tables {
        let path: Vec<String> = table.split('.').map(str::to_owned).collect();
        let of_transport = |preset: &&'static Preset| preset.congestion.is_some();
        applied.host = fill(document, &path)?.filter(of_transport).or(applied.host);
        let workloads = match document.at_mut(&["workload".to_owned()]).map(|item| &item.value) {
            Some(Value::List(workloads)) => workloads.len(),
            _ => 0,
        };
        for number in 0..workloads {
            let place = ["workload".to_owned(), number.to_string()];
            let preset = fill(document, &[&place, &path[1..]].concat())?;
            if let Some(preset) = preset.filter(of_transport) {
                applied.workloads.insert(number, preset);
            }
        }
    }
    Ok(applied)
}

/// Fills in the values of the preset that a table names.
fn fill(document: &mut Item, path: &[String]) -> Result<Option<&'static Preset>, Problem> {
    let Some(table) = document.at_mut(path) else { return Ok(None) };
    let Some(named) = table.take(KEY) else { return Ok(None) };
    let name = match &named.item.value {
        Value::Text(name) => name.clone(),
        // A year without its quotes, as on the command line.
        Value::Whole(number) => number.to_string(),
        Value::Truth(false) => return Ok(None),
        _ => {
            let owner = path.join(".");
            let message = format!("`{owner}.{KEY}` is {}, not a name", named.item.noun());
            let help = "write the name of a preset in quotes, or remove it";
            return Err(Problem::error(named.item.place, message, help));
        }
    };
    let Some(preset) = of_table(path).find(|preset| preset.entry.name == name) else {
        let names: Vec<_> = of_table(path).map(|preset| preset.entry.name).collect();
        let message = format!("`{}` has no preset `{name}`", path.join("."));
        let help = suggest::remedy(&name, "presets", &names);
        return Err(Problem::error(named.item.place, message, help));
    };
    let Value::Table(table) = &mut table.value else { return Ok(None) };
    for (key, value, _) in preset.values {
        if table.get(key).is_some() {
            continue;
        }
        let source = Arc::new(Source::new(preset.entry.name, (*value).to_owned()));
        // What is wrong with it is said where the preset is named.
        let item = Item { place: named.item.place.clone(), ..parse_value(&source, 0) };
        let key_place = named.key_place.clone();
        table.entries.push(Entry { key: (*key).to_owned(), key_place, item });
    }
    Ok(Some(preset))
}
