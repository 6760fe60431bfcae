//! The numbers as `floodway check` prints them: a row for each, a column for each variant.

use std::fmt;

use floodway_model::{Bytes, Duration};

use super::{Derived, DerivedVariant, FrameErrors};
use crate::workload::training::Numbers;

impl fmt::Display for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
        let mut row = |label, value: &dyn Fn(&DerivedVariant) -> String| {
            rows.push((label, self.variants.iter().map(value).collect()));
        };
        row("", &|v| v.name.clone());
        row("hosts", &|v| v.hosts.to_string());
        row("switches", &|v| v.switches.to_string());
        row("links", &|v| v.links.to_string());
        row("link rates", &|v| match v.link_rates {
            (slowest, fastest) if slowest == fastest => slowest.to_string(),
            (slowest, fastest) => format!("{slowest} to {fastest}"),
        });
        let ratio = |x| format!("{x:.2}:1");
        row("oversubscription", &|v| optional(v.oversubscription, ratio));
        row("of the aggregations", &|v| optional(v.aggregation_oversubscription, ratio));
        row("measured interval", &|v| v.measured.to_string());
        row("unloaded round trip", &|v| microseconds(v.unloaded_rtt));
        row("bandwidth x delay", &|v| kilobytes(v.bdp));
        row("initial window", &|v| optional(v.congestion_window, kilobytes));
        row("XOFF", &|v| optional(v.thresholds, |(xoff, _)| kilobytes(xoff)));
        row("XON", &|v| optional(v.thresholds, |(_, xon)| kilobytes(xon)));
        row("headroom available", &|v| optional(v.headroom.and_then(|h| h.available), kilobytes));
        row("headroom of one link", &|v| optional(v.headroom, |h| kilobytes(h.one_link)));
        row("headroom of all ports", &|v| optional(v.headroom, |h| kilobytes(h.all_ports)));
        row("headroom pool", &|v| optional(v.headroom_pool, |h| kilobytes(h.pool)));
        row("all ports paused at once", &|v| optional(v.headroom_pool, |h| kilobytes(h.at_once)));
        row("pool oversubscribed", &|v| {
            optional(v.headroom_pool, |h| format!("1:{:.2}", h.oversubscription))
        });
        let most = |v: &DerivedVariant, of: fn(&FrameErrors) -> f64| {
            v.errors.iter().map(of).reduce(f64::max)
        };
        row("full frames with errors", &|v| optional(most(v, |of| of.error_rate), rare));
        row("of these lost", &|v| optional(most(v, |of| of.loss), rare));
        row("replay buffer", &|v| {
            optional(v.errors.iter().filter_map(|of| of.replay_buffer).max(), kilobytes)
        });
        row("host load, payload", &|v| percent(v.host_load));
        row("host load, wire", &|v| percent(v.host_wire_load));
        row("fabric load, wire, mean", &|v| optional(v.fabric_wire_load, |l| percent(l.mean)));
        row("fabric load, wire, max", &|v| optional(v.fabric_wire_load, |l| percent(l.max)));
        row("flows expected", &|v| format!("{:.0}", v.expected_flows));
        row("of these measured", &|v| format!("{:.0}", v.expected_measured_flows));
        row("flows without size", &|v| v.persistent_flows.to_string());
        row("memory, roughly", &|v| format!("{:.1} MB", v.memory.0 as f64 / 1e6));

        // What no variant has says nothing.
        rows.retain(|(_, cells)| cells.iter().any(|cell| cell != NOTHING));

        let runs = self.replications as usize * self.variants.len();
        writeln!(
            f,
            "{}: {} x {} = {}",
            self.scenario,
            counted(self.variants.len(), "variant"),
            counted(self.replications as usize, "replication"),
            counted(runs, "run")
        )?;
        let label_width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.variants.len())
            .map(|column| rows.iter().map(|(_, cells)| cells[column].len()).max().unwrap_or(0))
            .collect();
        for (label, cells) in &rows {
            write!(f, "{label:label_width$}")?;
            for (cell, width) in cells.iter().zip(&widths) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
        }
        self.of_variants(f, |variant| {
            variant.training.iter().map(Numbers::to_string).collect::<String>()
        })?;
        self.bases(f)
    }
}

impl Derived {
    /// On what the variants rest.
    fn bases(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of_variants(f, |variant| {
            variant.basis.as_ref().map_or(String::new(), |basis| {
                format!(
                    "device profiles: {}\nevidence: {}\nassumed: {}\n",
                    basis.names(),
                    basis.evidence(),
                    basis.assumptions()
                )
            })
        })
    }

    /// Texts of variants that are not empty, each once.
    fn of_variants(
        &self,
        f: &mut fmt::Formatter<'_>,
        text: impl Fn(&DerivedVariant) -> String,
    ) -> fmt::Result {
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for variant in &self.variants {
            let text = text(variant);
            if text.is_empty() {
                continue;
            }
            match said.iter_mut().find(|(other, _)| *other == text) {
                Some((_, names)) => names.push(&variant.name),
                None => said.push((text, vec![&variant.name])),
            }
        }
        for (text, names) in said {
            if names.len() < self.variants.len() {
                writeln!(f, "of {}:", names.join(", "))?;
            }
            write!(f, "{text}")?;
        }
        Ok(())
    }
}

/// What a variant does not have.
const NOTHING: &str = "-";

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn optional<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or(NOTHING.to_owned(), show)
}

fn microseconds(time: Duration) -> String {
    format!("{:.3} us", time.as_secs() * 1e6)
}

fn kilobytes(bytes: Bytes) -> String {
    format!("{:.1} KB", bytes.0 as f64 / 1e3)
}

/// A probability of something rare.
fn rare(probability: f64) -> String {
    if probability == 0.0 { "0".to_owned() } else { format!("{probability:.2e}") }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}
