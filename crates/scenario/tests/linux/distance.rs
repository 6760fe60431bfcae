//! How far apart the two are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::traces::{self, OF_QUEUES, QUANTITIES, Quantities, Situation};

const HEADER: &str = "set,qdisc,bulk,quantity,linux,floodway,tolerance";

/// One quantity of one situation.
#[derive(Clone, Debug)]
pub struct Distance {
    pub set: String,
    pub qdisc: String,
    pub bulk: String,
    pub quantity: String,
    pub linux: f64,
    pub floodway: f64,
    /// How far apart they may be.
    pub tolerance: f64,
}

impl Distance {
    pub fn is_near(&self) -> bool {
        (self.floodway - self.linux).abs() <= self.tolerance
    }

    pub fn row(&self) -> String {
        let [linux, floodway, tolerance] = [self.linux, self.floodway, self.tolerance].map(short);
        format!(
            "{},{},{},{},{linux},{floodway},{tolerance}",
            self.set, self.qdisc, self.bulk, self.quantity
        )
    }
}

/// Five significant digits.
pub fn short(value: f64) -> String {
    let text = format!("{value:.4e}");
    text.parse::<f64>().unwrap().to_string()
}

/// The tolerance of a quantity: 3 % of goodput, and shares within 3 % of the link; 5 % of marks, drops, retransmissions
/// and delays. Beyond that, packets that are drawn at random may differ by twice the standard deviation of such counts, and
/// delays by the time of a frame, because queues have whole frames.
fn tolerance(situation: &Situation, quantity: &str, linux: f64, here: f64) -> f64 {
    let seconds = (situation.seconds - situation.warmup) as f64;
    match quantity {
        "goodput" => 0.03 * linux,
        "share" => 0.03,
        "marked" | "lost" | "retransmitted" => {
            // Two runs in Linux and two here; less than one packet a run is none.
            let deviation = (linux / seconds / 2.0 + here / seconds / 2.0).sqrt();
            (0.05 * linux).max(2.0 * deviation).max(1.0 / seconds)
        }
        _ => (0.05 * linux).max(1_518.0 * 8e3 / situation.rate),
    }
}

/// All quantities of a situation.
pub fn of(situation: &Situation, linux: &Quantities, here: &Quantities) -> Vec<Distance> {
    let bulk: Vec<String> = situation
        .bulk
        .iter()
        .map(|flows| {
            format!("{} {}{}", flows.control, flows.count, if flows.ecn { " ecn" } else { "" })
        })
        .collect();
    let names = QUANTITIES.iter().chain(&OF_QUEUES).filter(|name| linux.contains_key(*name));
    let each = names.map(|&name| Distance {
        set: situation.set.clone(),
        qdisc: situation.qdisc.clone(),
        bulk: bulk.join(" + "),
        quantity: name.to_owned(),
        linux: linux[name],
        floodway: here[name],
        tolerance: tolerance(situation, name, linux[name], here[name]),
    });
    // With one kind of flows there is nothing to share.
    each.filter(|distance| distance.quantity != "share" || situation.bulk.len() > 1).collect()
}

/// The same quantity with another value here.
pub fn between(situation: &Situation, distance: &Distance, floodway: f64) -> Distance {
    let tolerance = tolerance(situation, &distance.quantity, distance.linux, floodway);
    Distance { floodway, tolerance, ..distance.clone() }
}

pub fn save(distances: &[Distance]) -> String {
    let mut text = format!(
        "# Distances to Linux: goodput in b/s, share of the first flows, packets a second, delays in ns.\n\
         # Made by: BLESS=1 cargo test -p floodway-scenario linux -- --include-ignored\n{HEADER}\n"
    );
    for distance in distances {
        writeln!(text, "{}", distance.row()).unwrap();
    }
    text
}

/// The rows of a list.
pub fn load(path: &Path) -> BTreeSet<String> {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

pub fn parse(path: &Path) -> Vec<Distance> {
    let each = traces::rows(path).into_iter().map(|row| {
        let number = |name: &str| -> f64 { row[name].parse().unwrap() };
        let text = |name: &str| row[name].clone();
        Distance {
            set: text("set"),
            qdisc: text("qdisc"),
            bulk: text("bulk"),
            quantity: text("quantity"),
            linux: number("linux"),
            floodway: number("floodway"),
            tolerance: number("tolerance"),
        }
    });
    each.collect()
}

/// Why distances are larger than they should be.
pub struct Reasons(Vec<BTreeMap<String, String>>);

impl Reasons {
    pub fn load() -> Self {
        Self(traces::rows(&traces::folder().join("reasons.csv")))
    }

    /// The first reason whose set, discipline, flows and quantities are those of a distance; `*` is any.
    pub fn of(&self, distance: &Distance) -> Option<&str> {
        let row = self.0.iter().find(|row| explains(row, distance));
        row.map(|row| row["reason"].as_str())
    }

    /// Reasons that explain nothing.
    pub fn unused(&self, distances: &[Distance]) -> Vec<String> {
        let far: Vec<&Distance> = distances.iter().filter(|distance| !distance.is_near()).collect();
        let first = |distance: &&Distance| self.0.iter().position(|row| explains(row, distance));
        let used: BTreeSet<usize> = far.iter().filter_map(first).collect();
        let unused = self.0.iter().enumerate().filter(|(number, _)| !used.contains(number));
        unused.map(|(_, row)| format!("{row:?}")).collect()
    }
}

fn explains(row: &BTreeMap<String, String>, distance: &Distance) -> bool {
    let matches = |name: &str, value: &str| {
        row[name] == "*" || row[name].split(' ').any(|word| value == word)
    };
    let of_flows = row["flows"] == "*" || distance.bulk.split(' ').any(|word| row["flows"] == word);
    of_flows
        && matches("set", &distance.set)
        && matches("qdisc", &distance.qdisc)
        && matches("quantity", &distance.quantity)
}
