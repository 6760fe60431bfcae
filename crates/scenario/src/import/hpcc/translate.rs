//! From a configuration to a scenario: name and times, network, switches, failures, flows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use floodway_model::{Bytes, Duration, Rate};

use super::config::{Config, seconds};
use super::network::{Network, RESERVE};
use super::{Fate, File, Imported, Row};
use crate::files::flows::{self, Hosts};
use crate::files::{Word, lines};
use crate::import::writer::Scenario;
use crate::text::{Place, Problem, Source};

/// When the simulator's own examples begin to send; `LINK_DOWN` counts from there.
const BEGIN: Duration = Duration::from_ms(2_000);

/// What is being translated.
pub struct Translation<'a> {
    pub(super) config: Config<'a>,
    pub(super) network: Network,
    pub(super) scenario: Scenario,
    rows: Vec<Row>,
}

/// The scenario of a configuration.
pub(super) fn translate(
    path: &Path,
    name: &str,
    config: Config<'_>,
    network: Network,
    [topology, flows]: [&File; 2],
) -> Result<Translated, Problem> {
    let mut translation =
        Translation { config, network, scenario: Scenario::default(), rows: Vec::new() };
    let times = translation.times(&flows.source)?;
    translation.begin(name, &times);
    translation.scenario.table("topology.file");
    translation.kept("TOPOLOGY_FILE", "", "path", &topology.name);
    translation.scenario.quoted("format", "hpcc", "");
    translation.marking()?;
    translation.memory()?;
    translation.feedback()?;
    translation.hosts()?;
    translation.failure(&times)?;
    translation.workload(&flows.name, &times);
    translation.output();
    translation.fixed()?;
    debug_assert!(
        translation.config.written().all(|key| translation.rows.iter().any(|row| row.key == key)),
        "every key has a row"
    );
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let (scenario, keys) = translation.scenario.text(&translation.head(&file), Config::key);
    let places = keys.iter().map(|&key| (key, translation.config.place(key))).collect();
    let Translation { config, mut rows, .. } = translation;
    let unknown = |(key, value): &(String, String)| Row {
        fate: Fate::Nothing,
        key: key.clone(),
        value: value.clone(),
        meaning: "not known, to the simulator either".to_owned(),
    };
    rows.extend(config.unknown.iter().map(unknown));
    // Stable: within a fate in the order of the scenario.
    rows.sort_by_key(|row| row.fate);
    let flow_text = times.flows.unwrap_or_else(|| flows.source.inner().clone());
    let files = vec![
        (topology.name.clone(), topology.source.inner().clone()),
        (flows.name.clone(), flow_text),
    ];
    let inputs = vec![path.to_owned(), topology.path.clone(), flows.path.clone()];
    let imported = Imported { scenario, files, rows, warnings: config.warnings, inputs };
    Ok(Translated { imported, places })
}

/// A scenario that is still to be checked.
pub(super) struct Translated {
    pub(super) imported: Imported,
    /// Of each of its lines, from which key it is, and where that stands.
    pub(super) places: Vec<(Option<&'static str>, Place)>,
}

/// Names as TOML writes a list of them.
fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

/// When things happen.
struct Times {
    /// Time zero of the scenario by the simulator's clock.
    origin: Duration,
    /// The end of the run by the scenario's.
    limit: Duration,
    /// Until when flows may start: just before that.
    arrivals: Duration,
    /// The flows that start before that, if there are others.
    flows: Option<String>,
    /// How many do not.
    late: usize,
    groups: BTreeSet<String>,
}

impl Translation<'_> {
    /// How a key was written, or `KEY not written` with the simulator's own value.
    pub(super) fn said(&self, key: &str, default: &str) -> String {
        match self.config.text(key) {
            Some(value) => format!("{key} {value}"),
            None => format!("{key} is not written, which means {default}"),
        }
    }

    fn row(&mut self, fate: Fate, key: &str, default: &str, meaning: impl Into<String>) {
        let value = self.config.text(key).unwrap_or_else(|| format!("({default})"));
        self.rows.push(Row { fate, key: key.to_owned(), value, meaning: meaning.into() });
    }

    /// The key became a field of the table that was begun last.
    pub(super) fn kept(&mut self, key: &str, default: &str, field: &str, value: impl ToString) {
        let value = value.to_string();
        self.scenario.quoted(field, &value, self.said(key, default));
        let place = self.scenario.place(field);
        self.row(Fate::Kept, key, default, format!("{place} = {value}"));
    }

    /// The same with a number or a truth value.
    pub(super) fn kept_bare(
        &mut self,
        key: &str,
        default: &str,
        field: &str,
        value: impl ToString,
    ) {
        let value = value.to_string();
        self.scenario.bare(field, &value, self.said(key, default));
        let place = self.scenario.place(field);
        self.row(Fate::Kept, key, default, format!("{place} = {value}"));
    }

    /// What it says holds without a field of its own.
    pub(super) fn note_kept(&mut self, key: &str, default: &str, meaning: &str) {
        self.row(Fate::Kept, key, default, meaning);
    }

    /// What it says does not quite hold.
    pub(super) fn differs(&mut self, key: &str, default: &str, meaning: &str) {
        self.row(Fate::Differs, key, default, meaning);
    }

    /// There is nothing that it would become. Keys that are not written need no mention then.
    pub(super) fn nothing(&mut self, key: &str, default: &str, meaning: &str) {
        if self.config.word(key).is_some() {
            self.row(Fate::Nothing, key, default, meaning);
        }
    }

    fn times(&self, source: &Arc<Source>) -> Result<Times, Problem> {
        const STOP: &str = "SIMULATOR_STOP_TIME";
        let hosts = Hosts::of(&self.network.topology);
        let read = flows::hpcc::read(source, &hosts, Duration::ZERO)?.flows;
        let stop = match self.config.word(STOP) {
            Some(word) => seconds(word, STOP)?,
            None => Duration::from_ms(3_010),
        };
        let first = read.iter().map(|flow| flow.start).min().unwrap_or_default();
        let origin = if first >= BEGIN { BEGIN } else { Duration::ZERO };
        let last = read.iter().map(|flow| flow.start).filter(|&start| start < stop).max();
        let in_time = read.iter().filter(|flow| flow.start < stop).count();
        if stop <= origin || in_time == 0 {
            let message =
                format!("the run would stop ({stop}) before the first flow starts ({first})");
            let help = "raise SIMULATOR_STOP_TIME, in seconds";
            return Err(self.config.problem(STOP, message, help));
        }
        let mut groups = BTreeSet::new();
        let mut kept = format!("{in_time}\n");
        for line in lines(source).skip(1).take(in_time) {
            let words: Vec<Word<'_>> = line.words().collect();
            groups.insert(words[2].text.to_owned());
            kept += &format!("{}\n", line.all.text);
        }
        let payload = self.config.whole("PACKET_PAYLOAD_SIZE", 1_000)?.max(1);
        for line in lines(source).skip(1).take(in_time) {
            let bytes = line.words().nth(4);
            let packets = bytes.map_or(Ok(0), |bytes| bytes.whole("the size"))?.div_ceil(payload);
            if let (Some(bytes), true) = (bytes, packets >= u32::MAX.into()) {
                let message = format!("the flow has {packets} packets");
                let help = format!("fewer than {} can be numbered: make it smaller", u32::MAX);
                return Err(bytes.problem(message, help));
            }
        }
        let late = read.len() - in_time;
        let flows = (late > 0).then_some(kept);
        let limit = Duration(stop.0 - origin.0);
        let last = Duration(last.unwrap_or_default().0 - origin.0);
        let arrivals = Duration(limit.0.saturating_sub(1_000)).max(Duration(last.0 + 1));
        Ok(Times { origin, limit, arrivals, flows, late, groups })
    }

    fn begin(&mut self, name: &str, times: &Times) {
        let Times { origin, limit, arrivals, .. } = *times;
        self.scenario.table("").quoted("name", name, "");
        let question = "What does this experiment of the HPCC authors' simulator give here?";
        self.scenario.quoted("question", question, "");
        let from = self.said("SIMULATOR_STOP_TIME", "3.01");
        let from = if origin == Duration::ZERO { from } else { format!("{from}, less {origin}") };
        self.scenario.quoted("arrivals", arrivals, "until the stop");
        self.scenario.quoted("limit", limit, format!("{from}; what is not done then is not"));
        self.scenario.quoted("wire_overhead", "0B", "its links have neither preamble nor gap");
        let meaning = format!("limit = {limit}: the run stops there, whatever is still to be sent");
        self.row(Fate::Kept, "SIMULATOR_STOP_TIME", "3.01", meaning);
    }

    /// Thresholds of marking, by rate.
    fn marking(&mut self) -> Result<(), Problem> {
        const MAPS: [&str; 3] = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"];
        if !self.config.flag("ENABLE_QCN", true)? {
            let from = self.said("ENABLE_QCN", "1");
            self.scenario.table("switch").quoted("aqm", "drop_tail", from);
            self.note_kept("ENABLE_QCN", "1", "switch.aqm = drop_tail: nothing is marked");
            MAPS.iter().for_each(|map| self.nothing(map, "", "without effect: nothing is marked"));
            return Ok(());
        }
        let rates: Vec<Rate> = self.network.ports.keys().copied().collect();
        let mut curves = Vec::new();
        for &rate in &rates {
            let bytes = |word: Word<'_>| {
                let kilobytes = word.whole("a threshold in kilobytes")?;
                kilobytes.checked_mul(1_000).ok_or_else(|| {
                    let message = format!("a threshold of {kilobytes} KB is too large");
                    word.problem(message, "write kilobytes, like 400")
                })
            };
            let [low, high, most] = MAPS;
            let low_word = self.of_rate(low, rate)?;
            let (low, high) = (bytes(low_word)?, bytes(self.of_rate(high, rate)?)?);
            let most_word = self.of_rate(most, rate)?;
            let most = most_word.real("a probability")?;
            if !(0.0..=1.0).contains(&most) {
                let message = format!("at {rate} the probability of marking is {most}");
                return Err(most_word.problem(message, "write a number from 0 to 1, like 0.2"));
            }
            if low > high {
                let (low, high) = (low / 1_000, high / 1_000);
                let message = format!("at {rate} Kmin ({low} KB) is above Kmax ({high} KB)");
                return Err(low_word.problem(message, "lower it, or raise the one in KMAX_MAP"));
            }
            curves.push((rate, low, high, most));
        }
        // A ramp of its own must rise; a step in the simulator has Kmin = Kmax.
        self.scenario.table("switch.aqm.ramp");
        self.kept("ENABLE_QCN", "1", "at", "departure");
        let first = curves[0];
        let high = first.2.max(first.1 + 1);
        self.scenario.quoted(
            "kmin",
            Bytes(first.1),
            format!("KMIN_MAP at {}; its KB is 1000 B", first.0),
        );
        self.scenario.quoted("kmax", Bytes(high), format!("KMAX_MAP at {}", first.0));
        let from = format!("PMAX_MAP at {}", first.0);
        self.scenario.bare("pmax", format!("{:?}", first.3), from);
        for (rate, low, high, most) in &curves[1..] {
            self.scenario.table("[switch.aqm.ramp.by_rate]");
            self.scenario.quoted("rate", rate, "");
            self.scenario.quoted("kmin", Bytes(*low), "KMIN_MAP");
            self.scenario.quoted("kmax", Bytes(*high), "KMAX_MAP");
            self.scenario.bare("pmax", format!("{most:?}"), "PMAX_MAP");
        }
        for (map, field) in MAPS.iter().zip(["kmin", "kmax", "pmax"]) {
            self.note_kept(map, "", &format!("switch.aqm.ramp.{field} and .by_rate"));
        }
        Ok(())
    }

    /// The value of a map at a rate that switches have.
    fn of_rate(&self, map: &'static str, rate: Rate) -> Result<Word<'_>, Problem> {
        let count = self.config.required(map, "write the thresholds of every rate")?;
        let words: BTreeMap<u64, Word<'_>> = self.config.map(map)?;
        words.get(&rate.0).copied().ok_or_else(|| {
            let help = format!("raise the number of pairs, and add {} and a value", rate.0);
            count.problem(format!("`{map}` says nothing of {rate}, which switches have"), help)
        })
    }

    /// The class of acknowledgements. In switches they wait with the data whatever the key says, which the
    /// simulator hands to hosts only.
    fn feedback(&mut self) -> Result<(), Problem> {
        let high = self.config.flag("ACK_HIGH_PRIO", false)?;
        self.scenario.table("switch.feedback");
        self.scenario.bare(
            "ack",
            0,
            "in its switches they wait with the data, also with ACK_HIGH_PRIO 1",
        );
        if high {
            self.scenario.table("host");
            self.kept_bare("ACK_HIGH_PRIO", "0", "pause_feedback", false);
        } else {
            let meaning = "host.pause_feedback: pauses stop acknowledgements in NICs too";
            self.note_kept("ACK_HIGH_PRIO", "0", meaning);
        }
        Ok(())
    }

    /// The memory of a switch, and PFC on it.
    fn memory(&mut self) -> Result<(), Problem> {
        self.scenario.table("switch.queue");
        self.scenario.quoted("control_size", "1GB", "its queues have no limits of their own");
        let megabytes = self.config.whole("BUFFER_SIZE", 16)?;
        let memory = megabytes.saturating_mul(1_024 * 1_024);
        let pools = self.network.pools(memory).map(|pools| {
            let named = |(pool, names): (Bytes, Vec<&str>)| (pool, list(&names));
            pools.into_iter().map(named).collect::<Vec<_>>()
        });
        let Some(((least, _), others)) = pools.as_deref().and_then(<[_]>::split_first) else {
            let message = format!("headroom and reserves of ports take all of {megabytes} MiB");
            let help = "raise BUFFER_SIZE: three times what is on each link is headroom";
            return Err(self.config.problem("BUFFER_SIZE", message, help));
        };
        let from = self.said("BUFFER_SIZE", "16");
        self.scenario.table("switch.buffer.shared.ingress");
        self.scenario.quoted(
            "pool",
            format!("{}B", least.0),
            format!("{from}, in MiB, less headroom and reserves"),
        );
        self.scenario.quoted("guaranteed", format!("{RESERVE}B"), "its reserve of a port");
        let rates: Vec<Rate> = self.network.ports.keys().copied().collect();
        let base = rates[0];
        let alpha = |translation: &Self, rate| format!("{:?}", translation.network.alpha(rate));
        let of_base = alpha(self, base);
        self.scenario.bare("alpha", of_base, format!("its shift at {base}"));
        self.scenario.table("switch.buffer.shared");
        let headroom = self.network.headroom_at(base);
        let from = format!("3 times what is on a link of {base}");
        self.scenario.quoted("headroom", headroom, from);
        for &rate in &rates[1..] {
            let (alpha, headroom) = (alpha(self, rate), self.network.headroom_at(rate));
            self.scenario.table("[switch.buffer.shared.by_rate]");
            self.scenario.quoted("rate", rate, "").bare("alpha", alpha, "");
            self.scenario.quoted("headroom", headroom, "");
        }
        for (pool, names) in others {
            self.scenario.table("[switch.buffer.shared.by_switch]");
            self.scenario.bare("switches", names, "");
            let from = "with less headroom and reserves";
            self.scenario.quoted("ingress_pool", format!("{}B", pool.0), from);
        }
        if others.is_empty() {
            let meaning = format!("switch.buffer.shared.ingress.pool = {least}");
            self.row(Fate::Kept, "BUFFER_SIZE", "16", meaning);
        } else {
            let meaning = format!(
                "switch.buffer.shared.ingress.pool = {least}, and .by_switch where headroom and reserves \
                 take less"
            );
            self.row(Fate::Kept, "BUFFER_SIZE", "16", meaning);
        }
        if self.network.ports.values().any(|delays| delays.len() > 1) {
            self.about(
                Fate::Differs,
                "headroom",
                "ports of one rate have that of the longest link, in the simulator each that of its own",
            );
        }
        let (overhead, _) = self.mode()?.lengths();
        let frame = self.config.whole("PACKET_PAYLOAD_SIZE", 1_000)?.saturating_add(overhead);
        if frame > RESERVE {
            let message = format!(
                "frames would have {frame} bytes, and a port reserves {RESERVE}, which cannot hold one"
            );
            let help = format!("write at most {}", RESERVE.saturating_sub(overhead));
            return Err(self.config.problem("PACKET_PAYLOAD_SIZE", message, &help));
        }
        let lossless = self.network.is_lossless(u16::try_from(frame).unwrap_or(u16::MAX));
        self.scenario.table("switch.flow_control.pfc");
        self.scenario.quoted("measured_on", "ingress_pool", "its dynamic threshold");
        self.scenario.quoted("xon_offset", "3072B", "its resume_offset");
        self.scenario.bare("refresh", false, "its pauses last until a frame ends them");
        self.scenario.quoted("response", "0ns", "it obeys a pause at once");
        let why = if lossless {
            "its headroom is enough on every link"
        } else {
            "its headroom is too small, so it may lose packets"
        };
        self.scenario.bare("lossless", lossless, why);
        self.about(Fate::Kept, "PFC", "switch.flow_control.pfc: it is always on");
        self.nothing(
            "USE_DYNAMIC_PFC_THRESHOLD",
            "1",
            "without effect: the simulator reads it, and its threshold is always dynamic",
        );
        self.nothing(
            "PAUSE_TIME",
            "5",
            "without effect: a pause lasts until a frame ends it, in the simulator and here",
        );
        Ok(())
    }

    fn failure(&mut self, times: &Times) -> Result<(), Problem> {
        let Some(&[at, a, b]) = self.config.words("LINK_DOWN") else { return Ok(()) };
        let after = at.whole("the time in `LINK_DOWN`")?;
        if after == 0 {
            self.note_kept("LINK_DOWN", "0 0 0", "no link fails");
            return Ok(());
        }
        let fails = Duration(after.saturating_mul(1_000_000).saturating_add(BEGIN.0));
        let fails = Duration(fails.0 - times.origin.0);
        let mut names = Vec::new();
        for node in [a, b] {
            let number = node.whole("the node in `LINK_DOWN`")?;
            let help = "write the number of a node of the topology file";
            let name = self.network.name(number);
            names.push(name.ok_or_else(|| node.problem("there is no such node", help))?.to_owned());
        }
        if fails >= times.limit {
            self.note_kept("LINK_DOWN", "0 0 0", "no link fails before the run stops");
            return Ok(());
        }
        let link = format!("[\"{}\", \"{}\"]", names[0], names[1]);
        let from = self.said("LINK_DOWN", "");
        self.scenario.table("[failure]").bare("link", &link, from);
        self.scenario.quoted("at", fails, "in microseconds after 2 s");
        self.scenario.quoted("detection", "0ns", "routes change at once");
        self.note_kept("LINK_DOWN", "0 0 0", &format!("failure: {link} at {fails}"));
        Ok(())
    }

    fn workload(&mut self, file: &str, times: &Times) {
        self.scenario.table("[workload]").table("workload.file");
        self.kept("FLOW_FILE", "", "path", file);
        self.scenario.quoted("format", "hpcc", "");
        self.scenario.bare("keep_order", true, "flows are numbered as in the file");
        if times.origin > Duration::ZERO {
            self.scenario.quoted("origin", times.origin, "when its flows begin is 0 here");
            let meaning = format!("workload.0.file.origin: {} there is 0 here", times.origin);
            self.about(Fate::Kept, "clock", &meaning);
        }
        if times.late > 0 {
            let meaning =
                format!("{} flows that would start after the stop are left out", times.late);
            self.about(Fate::Differs, "flows", &meaning);
        }
        if times.groups.len() > 1 {
            let groups: Vec<&str> = times.groups.iter().map(String::as_str).collect();
            let meaning = format!(
                "priority groups {} share one queue and one class; in the simulator they are served round robin",
                groups.join(", ")
            );
            self.about(Fate::Differs, "flows", &meaning);
        }
    }

    fn output(&mut self) {
        for (key, meaning) in [
            ("TRACE_FILE", "events of single packets are not written; tables have what nodes did"),
            ("TRACE_OUTPUT_FILE", "as TRACE_FILE"),
            ("ENABLE_TRACE", "as TRACE_FILE"),
            (
                "FCT_OUTPUT_FILE",
                "`floodway export hpcc` writes it from the results, `compare hpcc` reads it",
            ),
            ("PFC_OUTPUT_FILE", "pauses are in the table `pauses`"),
            (
                "QLEN_MON_FILE",
                "depths of queues are in the tables of queues, sampled over the whole run",
            ),
            ("QLEN_MON_START", "as QLEN_MON_FILE"),
            ("QLEN_MON_END", "as QLEN_MON_FILE"),
            ("DATA_RATE", "without effect: the simulator reads it, and rates are in the topology"),
            (
                "LINK_DELAY",
                "without effect: the simulator reads it, and delays are in the topology",
            ),
        ] {
            self.nothing(key, "", meaning);
        }
    }

    /// What no key says, and what is refused.
    fn fixed(&mut self) -> Result<(), Problem> {
        if let Some(word) = self.config.word("ERROR_RATE_PER_LINK") {
            if word.real("`ERROR_RATE_PER_LINK`")? > 0.0 {
                let help = "write 0, and let a link fail with LINK_DOWN if packets have to be lost";
                return Err(word.problem("links of floodway lose nothing at random", help));
            }
            self.note_kept("ERROR_RATE_PER_LINK", "0", "links lose nothing");
        }
        self.about(
            Fate::Kept,
            "NIC",
            "flows are served round robin by packet, after acknowledgements",
        );
        self.about(
            Fate::Differs,
            "completion",
            "`fct_ns` ends when the last byte arrives, `acked_fct_ns` as in the simulator when that is acknowledged",
        );
        self.about(Fate::Differs, "paths", "by another hash, so flows meet on other links");
        self.about(Fate::Differs, "chance", "marks are drawn by another generator");
        self.about(Fate::Differs, "pauses", "pause frames have 64 bytes, in the simulator 43");
        Ok(())
    }

    /// A row that is about no key.
    fn about(&mut self, fate: Fate, what: &str, meaning: &str) {
        let (key, meaning) = (what.to_owned(), meaning.to_owned());
        self.rows.push(Row { fate, key, value: String::new(), meaning });
    }

    /// What stands above the scenario: where it is from, and what it does not say.
    fn head(&self, file: &str) -> Vec<String> {
        let mut head = vec![
            format!("Imported from {file}, a configuration of the HPCC authors' simulator, by"),
            format!(
                "`floodway import hpcc {file}`. Behind each setting stands the key that it comes from."
            ),
        ];
        for (fate, title) in [
            (Fate::Differs, "What differs:"),
            (Fate::Nothing, "What has no counterpart:"),
            (Fate::Kept, "What holds without a setting of its own:"),
        ] {
            let rows = self.rows.iter().filter(|row| row.fate == fate);
            // Those with a setting say so there.
            let rows = rows.filter(|row| fate != Fate::Kept || !row.meaning.contains(" = "));
            let rows: Vec<&Row> = rows.collect();
            if !rows.is_empty() {
                head.extend([String::new(), title.to_owned()]);
            }
            for Row { key, value, meaning, .. } in rows {
                let key = [key.as_str(), value].join(" ");
                head.push(format!("- {}: {meaning}", key.trim()));
            }
        }
        head
    }
}
