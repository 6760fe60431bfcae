//! The effects of the choices that the decks leave open, and the reading nearest to their numbers.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::{Exhibit, Section};

use crate::ci::claims::pauses;
use crate::ci::readings::{CLOSEST, FACTORS, READINGS, fct, pauses as pause_frames};
use crate::ci::{ALL, CI, ELEPHANTS, LOCAL, MICE, WITHOUT, case};
use crate::evidence::Evidence;
use crate::exhibit::{self, Entry, number, rows, short, table};
use crate::measure::{Logs, Measured, percent_of_logs};
use crate::readings::Reading;
use crate::readings::closest::Tried;
use crate::readings::effects::main_effect;

/// A number that is compared over the readings: its name, the variant it is of, and its logarithms.
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
    let question = "Effects of the choices that the decks leave open";
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
        let what = match number.0 {
            "pause frames" => "the number of pause frames".to_owned(),
            "all flows, local" => {
                "the mean completion time of all flows with local isolation".to_owned()
            }
            "mice" => "the mean completion time of mice".to_owned(),
            group => {
                format!("that of {}{group}", if group.starts_with('>') { "flows " } else { "" })
            }
        };
        format!("{what} clearly falls in {falls} and clearly rises in {rises}")
    });
    section.answer = format!(
        "With isolation, over {} readings: {}.",
        views.len(),
        words.collect::<Vec<_>>().join("; ")
    );
    section.text = vec![
        format!(
            "The decks leave {} things open that may affect their results. Each of these factors has two or \
             four choices, and each choice has a source or is marked as assumed. All combinations would \
             be {} networks. The {} readings here are a fractional factorial design (Box and Hunter 1961; \
             Addelman 1962 for four choices): the choices of a factor occur equally often, and so does \
             every pair of choices of two factors. The effect of a choice therefore does not contain the \
             effect of a choice of another factor. Interactions of two choices are confounded with \
             interactions of other pairs, and with effects of the factors that have four choices.",
            FACTORS.len(),
            FACTORS.iter().map(|factor| factor.choices.len() as u64).product::<u64>(),
            views.len(),
        ),
        "The ratio of completion times with isolation to without shows the gain of isolation. The main \
         effect of a choice is the change of this ratio from the readings with the first choice of the \
         factor to those with this choice, averaged over the other factors. Above 0, the choice reduces \
         the gain of isolation. The 95 % intervals are over replications, each of which has the same \
         traffic in all readings."
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

/// The effect of a choice compared with the first one of its factor.
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
        "Effect of each choice on the gain of isolation",
        Axis::linear(
            "main effect on the ratio of completion times; right of 0 the gain is smaller",
            "%",
        ),
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
        let mut row = vec![format!("{label} (instead of {first})")];
        row.extend(of);
        row.push(source.to_owned());
        row
    };
    let mut head = vec!["choice"];
    head.extend(NUMBERS.iter().map(|number| number.0));
    head.push("source of the choice");
    let note = "In percent, with 95 % intervals; larger effects as factors. For pause frames, half a frame is added to \
                both counts, as some are zero.";
    let caption = "Main effects of the choices on the ratios with isolation to without";
    table("main-effects", caption, note, &head, choices().map(row).collect())
}

/// How a reading differs from the main one.
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

/// The readings nearest to the deck.
pub fn closest(evidence: &Evidence) -> Section {
    const SHOWN: usize = 12;
    let question = "Reading nearest to all numbers of the deck at once";
    let tried = CLOSEST.tried(evidence);
    let shown = &tried[..tried.len().min(SHOWN)];
    let names: Vec<&'static str> = shown.iter().map(|of| of.reading.stands_for[0].1).collect();
    let mut section = evidence.section("closest", question, &["A1", "A2"], &names);
    let [best, ..] = shown else { return section };
    let told = CLOSEST.numbers.iter().zip(numbers(evidence, best)).map(|(number, measured)| {
        format!("{} {} (deck: {} %)", number.name, exhibit::number(&measured), number.claimed)
    });
    section.answer = format!(
        "Of {} readings, each with messages and without, the nearest is `{}` in this reading: {}. Changes \
         there: {}.",
        tried.len() / CLOSEST.variants.len(),
        best.variant,
        in_words(&best.reading),
        told.collect::<Vec<_>>().join(", ")
    );
    section.text = vec![
        "This is a hint at what the deck may have done, not a reproduction: a search among many readings \
         finds a near one by chance. The distance is the root mean square, over the four numbers, of the \
         logarithm of the measured ratio over the deck's ratio. A distance of 0.1 means that each number \
         is off by about 10 %. `floodway study ci --closest` continues from the nearest reading and \
         changes one choice at a time, until no single change comes nearer."
            .to_owned(),
    ];
    let row = |of: &Tried| {
        let mut row = vec![in_words(&of.reading), of.variant.to_owned()];
        row.push(format!("{:.2}", of.distance));
        row.extend(numbers(evidence, of).iter().map(short));
        row
    };
    let mut head = vec!["reading: differences from the main one", "variant", "distance"];
    head.extend(CLOSEST.numbers.iter().map(|number| number.name));
    let note = "Changes in percent, with 95 % intervals; larger ones as factors. The deck: -63, -23, -38, -84.";
    let caption = "Nearest readings";
    section.exhibits.push(table("closest", caption, note, &head, shown.iter().map(row).collect()));
    section
}

/// Every reading with its results.
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
        "reading: differences from the main one",
        "mice",
        ">10 MB",
        "all",
        "pauses",
        "pauses without",
        "unfinished without",
        "with",
    ];
    let rows = readings.iter().zip(views).map(row).collect();
    let note =
        "Changes from without-ci to ci, in percent with 95 % intervals; larger ones as factors.";
    table("all-readings", "All readings", note, &head, rows)
}
