//! What the readings of the decks decide, and which of them comes nearest to its numbers.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::{Exhibit, Section};

use crate::ci::claims::pauses;
use crate::ci::readings::{CLOSEST, FACTORS, READINGS, fct, pauses as pause_frames};
use crate::ci::{ALL, CI, ELEPHANTS, LOCAL, MICE, WITHOUT, case};
use crate::evidence::Evidence;
use crate::exhibit::{Entry, number, rows, short, table};
use crate::measure::{Logs, Measured, percent_of_logs};
use crate::readings::Reading;
use crate::readings::closest::Tried;
use crate::readings::effects::main_effect;

/// A number of which the readings tell something: its name, the variant it is of, and its logarithms.
type Number = (&'static str, &'static str, fn(&Evidence, &'static str) -> Logs);

const NUMBERS: &[Number] = &[
    ("mice", CI, |e, variant| fct(e, variant, MICE)),
    (">10 MB", CI, |e, variant| fct(e, variant, ELEPHANTS)),
    ("all flows", CI, |e, variant| fct(e, variant, ALL)),
    ("pause frames", CI, pause_frames),
    ("all flows, local", LOCAL, |e, variant| fct(e, variant, ALL)),
];

/// The readings and their factors.
pub fn readings(evidence: &Evidence) -> Section {
    let question = "Which open choices of the decks decide the result?";
    let judged = READINGS.judged(evidence);
    let names: Vec<&'static str> =
        judged.readings.iter().flat_map(|of| of.stands_for.iter().map(|pair| pair.1)).collect();
    let mut section = evidence.section("readings", question, &["A1", "A2"], &names);
    let views: Vec<Evidence> =
        judged.readings.iter().map(|of| evidence.of_reading(&of.stands_for)).collect();
    if views.len() < 2 || !views.iter().all(|view| view.has(case("two-queues", CI))) {
        return section;
    }
    let gains = |(_, variant, logs): &Number| {
        let clear = |view: &&Evidence, sign: f64| {
            let of = percent_of_logs(logs(view, variant).into_values());
            of.bounds().is_some_and(|(low, high)| if sign < 0.0 { high < 0.0 } else { low > 0.0 })
        };
        let count = |sign| views.iter().filter(|view| clear(view, sign)).count();
        (count(-1.0), count(1.0))
    };
    let words = NUMBERS.iter().map(|number| {
        let (falls, rises) = gains(number);
        format!("{} fall clearly in {falls} and rise in {rises}", number.0)
    });
    section.answer =
        format!("Of {} readings: {}.", views.len(), words.collect::<Vec<_>>().join("; "));
    section.text = vec![
        format!(
            "The decks leave {} things open that may decide what they find. Each has two or four \
             choices, every one with somebody who makes it. All combinations would be {} networks; \
             the {} here are a fractional factorial design, of resolution IV in its columns (Box and \
             Hunter 1961). Every choice is in as many readings as its alternatives. Among choices with \
             one alternative no effect is mixed up with that of another or of two others together. \
             ECN and marks of isolated packets are not separated: each kind of ECN is run with two of \
             the four kinds of marking.",
            FACTORS.len(),
            FACTORS.iter().map(|factor| factor.choices.len() as u64).product::<u64>(),
            views.len(),
        ),
        "The main effect of a choice is by how much the ratio of completion times, with isolation to \
         without, is larger in the readings with that choice than in all others. Above 0 the choice \
         costs isolation its gain. Intervals of 95 % are over \
         replications, each with its own traffic in all readings."
            .to_owned(),
    ];
    let logs: Vec<Vec<Logs>> = NUMBERS
        .iter()
        .map(|(_, variant, logs)| views.iter().map(|view| logs(view, variant)).collect())
        .collect();
    section.exhibits.push(chart(&judged.readings, &logs));
    section.exhibits.push(effects(&judged.readings, &logs));
    section.exhibits.push(list(&judged.readings, &views));
    section
}

/// The effect of a choice beside the first one of its factor.
fn effect(readings: &[Reading], logs: &[Logs], factor: usize, choice: usize) -> Measured {
    let (some, their): (Vec<Reading>, Vec<Logs>) = readings
        .iter()
        .zip(logs)
        .filter(|(reading, _)| [0, choice].contains(&reading.choices[factor]))
        .map(|(reading, logs)| (reading.clone(), logs.clone()))
        .unzip();
    main_effect(&some, &their, factor, choice)
}

/// All choices but the first of each factor, with their numbers.
fn choices() -> impl Iterator<Item = (usize, usize, String)> {
    FACTORS.iter().enumerate().flat_map(|(at, factor)| {
        let others = factor.choices.iter().enumerate().skip(1);
        others.map(move |(choice, of)| (at, choice, format!("{}: {}", factor.name, of.name)))
    })
}

fn chart(readings: &[Reading], logs: &[Vec<Logs>]) -> Exhibit {
    let groups = choices().map(|(factor, choice, label)| {
        let shown = [0, 1, 2];
        let entry =
            |of: usize| Entry::new(NUMBERS[of].0, of, effect(readings, &logs[of], factor, choice));
        (label, shown.map(entry).to_vec())
    });
    rows(
        "effects",
        "What does each choice do to the gain of isolation?",
        Axis::linear("main effect on the ratio of completion times; right of 0 costs gain", "%"),
        Mark::Point,
        "",
        groups.collect(),
    )
}

fn effects(readings: &[Reading], logs: &[Vec<Logs>]) -> Exhibit {
    let row = |(factor, choice, label): (usize, usize, String)| {
        let of = logs.iter().map(|logs| short(&effect(readings, logs, factor, choice)));
        let first = FACTORS[factor].choices[0].name;
        let source = FACTORS[factor].choices[choice].source;
        let mut row = vec![format!("{label}, and not {first}")];
        row.extend(of);
        row.push(source.to_owned());
        row
    };
    let mut head = vec!["choice"];
    head.extend(NUMBERS.iter().map(|number| number.0));
    head.push("who chooses so");
    let note = "Percent, with 95 % intervals. Of pause frames, half a frame more in both.";
    let caption = "Main effects of the choices on what isolation changes";
    table("main-effects", caption, note, &head, choices().map(row).collect())
}

/// What a reading does otherwise than the main one.
fn in_words(reading: &Reading) -> String {
    let words = FACTORS.iter().zip(&reading.choices).filter(|(_, choice)| **choice > 0);
    let words = words.map(|(of, choice)| format!("{}: {}", of.name, of.choices[*choice].name));
    match words.collect::<Vec<_>>() {
        words if words.is_empty() => "as in the main reading".to_owned(),
        words => words.join("; "),
    }
}

/// The numbers of the deck as a reading has them.
fn numbers(evidence: &Evidence, tried: &Tried) -> Vec<Measured> {
    let view = evidence.of_reading(&tried.reading.stands_for);
    let numbers = CLOSEST.numbers.iter();
    let of =
        numbers.map(|number| percent_of_logs((number.logs)(&view, tried.variant).into_values()));
    of.collect()
}

/// The readings that come nearest to the deck.
pub fn closest(evidence: &Evidence) -> Section {
    const SHOWN: usize = 12;
    let question = "Which reading comes nearest to all numbers of the deck at once?";
    let tried = CLOSEST.tried(evidence);
    let shown = &tried[..tried.len().min(SHOWN)];
    let names: Vec<&'static str> = shown.iter().map(|of| of.reading.stands_for[0].1).collect();
    let mut section = evidence.section("closest", question, &["A1", "A2"], &names);
    let [best, ..] = shown else { return section };
    let told = CLOSEST.numbers.iter().zip(numbers(evidence, best)).map(|(number, measured)| {
        format!("{} {} % where the deck has {} %", number.name, short(&measured), number.claimed)
    });
    section.answer = format!(
        "Of {} readings, with messages and without, the nearest is {} with {}: {}.",
        tried.len() / CLOSEST.variants.len(),
        best.variant,
        in_words(&best.reading),
        told.collect::<Vec<_>>().join(", ")
    );
    section.text = vec![
        "A lead to what the deck may have done, and no reproduction: whoever searches among many \
         readings finds one that is near by chance. The distance is the root of the mean square, over \
         the four numbers, of the logarithm of the measured ratio over the deck's; 0.1 is about 10 % \
         off in each. `floodway study ci --closest` goes on from the nearest reading, one choice at a \
         time, until no single choice brings it nearer."
            .to_owned(),
    ];
    let row = |of: &Tried| {
        let mut row = vec![in_words(&of.reading), of.variant.to_owned()];
        row.push(format!("{:.2}", of.distance));
        row.extend(numbers(evidence, of).iter().map(short));
        row
    };
    let mut head = vec!["reading: what is not as in the main one", "variant", "distance"];
    head.extend(CLOSEST.numbers.iter().map(|number| number.name));
    let note = "Changes in percent, with 95 % intervals. The deck: -63, -23, -38, -84.";
    let caption = "The nearest readings";
    section.exhibits.push(table("closest", caption, note, &head, shown.iter().map(row).collect()));
    section
}

/// Every reading with what it comes to.
fn list(readings: &[Reading], views: &[Evidence]) -> Exhibit {
    let row = |(reading, view): (&Reading, &Evidence)| {
        let (from, to) = (case("two-queues", WITHOUT), case("two-queues", CI));
        let fct = |group| short(&view.fct_change(from, to, group));
        vec![
            in_words(reading),
            fct(MICE),
            fct(ELEPHANTS),
            fct(ALL),
            short(&view.change(from, to, pauses)),
            number(&view.number(from, "", pauses)),
            view.unfinished(from).0.to_string(),
            view.unfinished(to).0.to_string(),
        ]
    };
    let head = [
        "reading: what is not as in the main one",
        "mice",
        ">10 MB",
        "all",
        "pauses",
        "pauses without",
        "unfinished without",
        "with",
    ];
    let rows = readings.iter().zip(views).map(row).collect();
    let note = "Changes from without-ci to ci, in percent with 95 % intervals.";
    table("all-readings", "All readings", note, &head, rows)
}
