//! The tables of `docs/linux.md`, which follow from the list of distances.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::distance::{self, Distance, Reasons, short};
use super::traces;

const BEGIN: &str = "<!-- from oracle/distances -->\n";
const END: &str = "<!-- end -->";

/// That the page has the tables; with `BLESS`, it gets them.
pub fn check() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/linux.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut parts = page.split(BEGIN);
    let mut text = parts.next().unwrap().to_owned();
    let listed = super::listed();
    let tables = [
        summary(&listed),
        reasons(&listed),
        super::windows::table(),
        changed(&listed, CHANGED[0]),
        changed(&listed, CHANGED[1]),
        situations(&listed),
    ];
    assert_eq!(
        page.matches(BEGIN).count(),
        tables.len(),
        "docs/linux.md has another number of tables"
    );
    for (table, part) in tables.iter().zip(parts) {
        let rest = part.split_once(END).unwrap().1;
        write!(text, "{BEGIN}{table}{END}{rest}").unwrap();
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let now = fs::read_to_string(&path).unwrap();
    assert!(
        now == text,
        "docs/linux.md does not have the tables that follow from oracle/distances"
    );
}

/// The congestion control, or controls, of a situation.
fn controls(distance: &Distance) -> String {
    let words =
        distance.bulk.split(' ').filter(|word| word.parse::<u64>().is_err() && *word != "+");
    let text = words.collect::<Vec<_>>().join(" + ");
    text.replace(" + ecn", " with ECN")
}

/// How many quantities are within the tolerance, by congestion control and queue.
fn summary(listed: &[Distance]) -> String {
    let mut cells: BTreeMap<(String, String), (u32, u32)> = BTreeMap::new();
    for distance in listed {
        let queue = distance.qdisc.trim_start_matches("deck-").to_owned();
        for key in [(controls(distance), queue.clone()), ("all".to_owned(), queue)] {
            let cell = cells.entry(key).or_default();
            cell.0 += u32::from(distance.is_near());
            cell.1 += 1;
        }
    }
    let queues = ["fifo", "red", "codel", "pie", "fq_codel", "cake", "dualpi2"];
    let mut rows: Vec<&String> = cells.keys().map(|(control, _)| control).collect();
    rows.dedup();
    let mut text =
        format!("| flows | {} |\n| --- |{}\n", queues.join(" | "), " --- |".repeat(queues.len()));
    for control in rows {
        let each = queues.map(|queue| {
            let cell = cells.get(&(control.clone(), queue.to_owned()));
            cell.map_or(String::new(), |(near, all)| format!("{near} of {all}"))
        });
        writeln!(text, "| {control} | {} |", each.join(" | ")).unwrap();
    }
    text
}

/// Both values of a quantity, in bold if they are too far apart.
fn pair(distances: &[&Distance], quantity: &str, unit: f64) -> String {
    let Some(distance) = distances.iter().find(|distance| distance.quantity == quantity) else {
        return String::new();
    };
    let text = |value: f64| {
        let value = value / unit;
        if value == 0.0 {
            "0".to_owned()
        } else if value < 10.0 {
            format!("{value:.2}")
        } else {
            format!("{value:.1}")
        }
    };
    let both = format!("{} / {}", text(distance.linux), text(distance.floodway));
    if distance.is_near() { both } else { format!("**{both}**") }
}

/// One row per situation, Linux / floodway.
fn situations(listed: &[Distance]) -> String {
    let mut text = "| set | queue | flows | goodput (Mb/s) | share (%) | marked (1/s) | lost (1/s) | \
                    delay p50 (ms) | delay p99 (ms) |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let same =
        |a: &&Distance, b: &&Distance| (&a.set, &a.qdisc, &a.bulk) == (&b.set, &b.qdisc, &b.bulk);
    let all: Vec<&Distance> = listed.iter().collect();
    for group in all.chunk_by(same) {
        let columns = [
            ("goodput", 1e6),
            ("share", 0.01),
            ("marked", 1.0),
            ("lost", 1.0),
            ("delay_p50", 1e6),
            ("delay_p99", 1e6),
        ];
        let each = columns.map(|(quantity, unit)| pair(group, quantity, unit));
        let first = group[0];
        writeln!(
            text,
            "| {} | {} | {} | {} |",
            first.set,
            first.qdisc,
            first.bulk,
            each.join(" | ")
        )
        .unwrap();
    }
    text
}

/// The reasons, with the number of quantities that each explains, of those that were measured in a changed Linux too how
/// many are within the tolerance there, and the largest of the differences.
fn reasons(listed: &[Distance]) -> String {
    let all = Reasons::load();
    let changed: Vec<_> = CHANGED.iter().flat_map(|of| with_changed(listed, *of)).collect();
    let theirs = |distance: &Distance| {
        let mut of = changed.iter().filter(|(_, was, _)| std::ptr::eq(*was, distance));
        of.next().map(|(.., now)| now.is_near())
    };
    let mut by_reason: BTreeMap<&str, Vec<&Distance>> = BTreeMap::new();
    for distance in listed.iter().filter(|distance| !distance.is_near()) {
        by_reason.entry(all.of(distance).unwrap_or("unexplained")).or_default().push(distance);
    }
    let mut rows: Vec<_> = by_reason.into_iter().collect();
    rows.sort_by_key(|(reason, distances)| (usize::MAX - distances.len(), *reason));
    let mut text =
        "| quantities | reason | within the tolerance of a changed Linux | for example (Linux / floodway) |\n\
         | --- | --- | --- | --- |\n"
            .to_owned();
    for (reason, distances) in rows {
        let excess =
            |distance: &&&Distance| (distance.floodway - distance.linux).abs() / distance.tolerance;
        let worst = distances.iter().max_by(|a, b| excess(a).total_cmp(&excess(b))).unwrap();
        let example = format!(
            "{} {}, {}: {} {} / {}",
            worst.set,
            worst.qdisc,
            worst.bulk,
            worst.quantity,
            short(worst.linux),
            short(worst.floodway)
        );
        let measured: Vec<bool> =
            distances.iter().filter_map(|distance| theirs(distance)).collect();
        let shown = match measured.len() {
            0 => "not measured".to_owned(),
            of => format!("{} of {of}", measured.iter().filter(|near| **near).count()),
        };
        writeln!(text, "| {} | {reason} | {shown} | {example} |", distances.len()).unwrap();
    }
    text
}

/// Traces of a Linux that was changed by patches in `oracle/what-if`, and the flows that they concern.
const CHANGED: [(&str, &[&str]); 2] =
    [("linux-6.12-rfc.csv", &["cubic", "dctcp"]), ("linux-6.12-bbr.csv", &["bbr"])];

/// Distances to Linux as it is, with the name of the flows and the distance to a Linux that was changed.
fn with_changed<'a>(
    listed: &'a [Distance],
    (file, concerned): (&str, &[&str]),
) -> Vec<(String, &'a Distance, Distance)> {
    let mut all = Vec::new();
    for (situation, linux) in traces::load(file) {
        // Others are not changed.
        if !situation.bulk.iter().any(|flows| concerned.contains(&flows.control.as_str())) {
            continue;
        }
        for now in distance::of(&situation, &linux, &linux) {
            let same = |was: &&Distance| {
                (&was.set, &was.qdisc, &was.bulk, &was.quantity)
                    == (&now.set, &now.qdisc, &now.bulk, &now.quantity)
            };
            if let Some(was) = listed.iter().find(same) {
                all.push((controls(&now), was, distance::between(&situation, &now, was.floodway)));
            }
        }
    }
    all
}

/// How many quantities are within the tolerance, with Linux as it is and with a Linux that was changed.
fn changed(listed: &[Distance], of: (&str, &[&str])) -> String {
    let mut rows: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    for (controls, was, now) in with_changed(listed, of) {
        let row = rows.entry(controls).or_default();
        row[0] += u32::from(was.is_near());
        row[1] += u32::from(now.is_near());
        row[2] += 1;
    }
    let mut text = "| flows | Linux as it is | changed Linux |\n| --- | --- | --- |\n".to_owned();
    for (control, [before, after, all]) in rows {
        writeln!(text, "| {control} | {before} of {all} | {after} of {all} |").unwrap();
    }
    text
}
