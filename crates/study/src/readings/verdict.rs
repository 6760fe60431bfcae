//! The verdict on a claim over all readings.

use std::collections::BTreeSet;

use floodway_report::study::{self, Comparison, Counted, Counts, Deciding, Part, Verdict};
use floodway_report::words;

use super::{Judged, Open, Reading};
use crate::claim::{Claim, Row, Rule};
use crate::evidence::Evidence;
use crate::exhibit::{moves, number};
use crate::{Measured, Study};

/// The verdict on a claim in one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// It cannot be judged there.
    Open,
}

impl Outcome {
    /// Of the numbers of a claim: it fails with any of them, and holds if all were measured well
    /// enough to say so. A size other than the claimed one is no failure. None if nothing was run
    /// that the claim is about, or nothing that an earlier reading does not have: a reading that
    /// changes nothing that a claim looks at is no further evidence for or against it.
    pub fn of(rows: &[&'static Row], evidence: &Evidence) -> Option<Self> {
        let judged = rows.iter().filter(|row| row.rule != Rule::Described);
        let measured = judged.map(|row| (row, evidence.measure(row)));
        let run: Vec<_> = measured.filter(|(_, (_, asked))| asked.all_run()).collect();
        let compared: Vec<Comparison> =
            run.iter().map(|(row, (measured, _))| row.rule.judge(measured)).collect();
        let any = |wanted| compared.contains(&wanted);
        match () {
            () if !run.iter().any(|(_, (_, asked))| asked.any_own()) => None,
            () if any(Comparison::NotReproduced) => Some(Self::Fails),
            () if any(Comparison::CannotJudge) => Some(Self::Open),
            () => Some(Self::Holds),
        }
    }
}

fn count(outcomes: impl Iterator<Item = Outcome>) -> Counts {
    outcomes.fold(Counts::default(), |mut counts, outcome| {
        match outcome {
            Outcome::Holds => counts.holds += 1,
            Outcome::Fails => counts.does_not += 1,
            Outcome::Open => counts.cannot_be_judged += 1,
        }
        counts
    })
}

/// Choices of one or two factors that separate the readings in which a claim holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Factors with their choices, by number.
    pub choices: Vec<(usize, usize)>,
    /// The readings that have these choices.
    pub with: Counts,
    /// All others.
    pub without: Counts,
}

/// The verdict over all readings: it holds, or not, in every reading that can be judged; or it
/// depends; or half of the readings or more cannot be judged. The condition is the one that divides
/// the readings best; there is none unless it depends.
pub fn over(readings: &[&Reading], outcomes: &[Outcome]) -> (Verdict, Counts, Option<Condition>) {
    let counts = count(outcomes.iter().copied());
    if counts.cannot_be_judged * 2 >= counts.all() {
        (Verdict::CannotBeJudged, counts, None)
    } else if counts.does_not == 0 {
        (Verdict::Holds, counts, None)
    } else if counts.holds == 0 {
        (Verdict::DoesNotHold, counts, None)
    } else {
        (Verdict::HoldsIf, counts, best(readings, outcomes))
    }
}

/// The condition that divides the readings best: it is right about most readings (they hold with it
/// and fail without it). Two choices only if they are right about more than one choice is. None if
/// no condition is right about more readings than none at all is.
fn best(readings: &[&Reading], outcomes: &[Outcome]) -> Option<Condition> {
    let choices: Vec<(usize, usize)> = (0..readings[0].choices.len())
        .flat_map(|factor| {
            let last = readings.iter().map(|of| of.choices[factor]).max().unwrap_or(0);
            (0..=last).map(move |choice| (factor, choice))
        })
        .collect();
    let single = choices.iter().map(|one| vec![*one]);
    let pairs = choices.iter().enumerate().flat_map(|(at, one)| {
        let others = choices[at + 1..].iter().filter(|other| other.0 != one.0);
        others.map(|other| vec![*one, *other])
    });
    let right = |of: &Condition| of.with.holds + of.without.does_not;
    let conditions = single.chain(pairs).map(|choices| divide(readings, outcomes, choices));
    // The first of equals: one choice before two, earlier factors before later ones.
    let better = |a: Condition, b: Condition| if right(&b) > right(&a) { b } else { a };
    let all = count(outcomes.iter().copied());
    conditions
        .filter(|of| of.with.judged() > 0 && of.without.judged() > 0)
        .reduce(better)
        .filter(|of| right(of) > all.holds.max(all.does_not))
}

fn divide(readings: &[&Reading], outcomes: &[Outcome], choices: Vec<(usize, usize)>) -> Condition {
    let has = |reading: &Reading| choices.iter().all(|of| reading.choices[of.0] == of.1);
    let counted = |wanted: bool| {
        let of = readings.iter().zip(outcomes).filter(|of| has(of.0) == wanted);
        count(of.map(|of| *of.1))
    };
    Condition { with: counted(true), without: counted(false), choices }
}

impl Study {
    /// The verdict on every claim, and the checks.
    pub fn judge(&self, evidence: &Evidence) -> (Vec<study::Claim>, Vec<Part>) {
        let judged = (self.readings)(evidence);
        let mut earlier = BTreeSet::new();
        let view = |reading| {
            let Reading { stands_for, .. }: &Reading = reading;
            let view = evidence.of_reading(stands_for).sharing(earlier.clone());
            earlier.extend(stands_for.iter().map(|(_, name)| *name));
            (reading, view)
        };
        let views: Vec<(&Reading, Evidence)> = judged.readings.iter().map(view).collect();
        let claims = self.claims.iter().map(|claim| self.claim(claim, evidence, &judged, &views));
        let checks = self.all_rows().filter(|row| row.is_check());
        (claims.collect(), checks.map(|row| row.judge(evidence)).collect())
    }

    fn claim(
        &self,
        claim: &Claim,
        evidence: &Evidence,
        judged: &Judged,
        views: &[(&Reading, Evidence)],
    ) -> study::Claim {
        let rows = self.rows_of(claim.id);
        let parts = claim.parts_differ_in.map(|what| of_parts(what, &rows, evidence));
        let open = parts.as_ref().map_or(&judged.open, |of| &of.0.open);
        let (mut readings, mut outcomes): (Vec<&Reading>, Vec<Outcome>) = views
            .iter()
            .filter_map(|(reading, view)| Some((*reading, Outcome::of(&rows, view)?)))
            .unzip();
        let main = Reading { choices: Vec::new(), stands_for: Vec::new() };
        if let Some((judged, of)) = &parts {
            (readings, outcomes) = (judged.readings.iter().collect(), of.clone());
        }
        if outcomes.is_empty() {
            // It was measured in the main reading only, if at all.
            readings.push(&main);
            outcomes.push(Outcome::of(&rows, evidence).unwrap_or(Outcome::Open));
        }
        let (verdict, counts, condition) = over(&readings, &outcomes);
        let share = (counts.judged() > 0).then(|| counts.holds as f64 / counts.judged() as f64);
        let result = match claim.result {
            Some(told) => told(evidence),
            None => in_words(&rows, evidence),
        };
        let of = match parts {
            Some(_) => Counted::Experiments,
            None => Counted::Readings,
        };
        study::Claim {
            id: claim.id.to_owned(),
            quotation: claim.quotation.to_owned(),
            source: rows.first().map_or("", |row| row.source).to_owned(),
            verdict,
            condition: match (&condition, verdict) {
                (Some(condition), _) => clause(condition, open, of),
                (None, Verdict::HoldsIf) => format!(
                    "no single choice and no pair of choices separates these {} from the others",
                    of.noun(2)
                ),
                (None, _) => String::new(),
            },
            result,
            readings: study::Readings {
                counts,
                share,
                deciding: condition.map_or_else(Vec::new, |of| {
                    let one =
                        |choice: &(usize, usize)| deciding(*choice, open, &readings, &outcomes);
                    of.choices.iter().map(one).collect()
                }),
                of,
            },
            parts: rows.iter().map(|row| row.judge(evidence)).collect(),
        }
    }
}

/// The numbers of a claim each as a reading, with what came of it in each that was run.
fn of_parts(what: &str, rows: &[&'static Row], evidence: &Evidence) -> (Judged, Vec<Outcome>) {
    let choices = rows.iter().map(|row| (row.part.to_owned(), row.source.to_owned())).collect();
    let open = vec![Open { name: what.to_owned(), choices }];
    let outcome = |(at, row): (usize, &&'static Row)| {
        let reading = Reading { choices: vec![at], stands_for: Vec::new() };
        Some((reading, Outcome::of(&[*row], evidence)?))
    };
    let (readings, outcomes) = rows.iter().enumerate().filter_map(outcome).unzip();
    (Judged { open, readings }, outcomes)
}

/// A choice by itself.
fn deciding(
    choice: (usize, usize),
    open: &[Open],
    readings: &[&Reading],
    outcomes: &[Outcome],
) -> Deciding {
    let Condition { with, without, .. } = divide(readings, outcomes, vec![choice]);
    let factor = &open[choice.0];
    let (name, source) = factor.choices[choice.1].clone();
    Deciding { factor: factor.name.clone(), choice: name, source, with, without }
}

/// A condition in words: `if ECN: capped – in 15 of 16 readings with this choice; otherwise in 1 of 16
/// readings`.
fn clause(condition: &Condition, open: &[Open], of: Counted) -> String {
    let choice = |(factor, choice): &(usize, usize)| {
        let factor = &open[*factor];
        match factor.choices[*choice].0.as_str() {
            "yes" => format!("\"{}\"", factor.name),
            "no" => format!("not \"{}\"", factor.name),
            choice => format!("{}: {choice}", factor.name),
        }
    };
    let choices: Vec<String> = condition.choices.iter().map(choice).collect();
    let with = match (of, choices.len()) {
        // An experiment is such a choice by itself.
        (Counted::Experiments, _) => "",
        (Counted::Readings, 1) => " with this choice",
        (Counted::Readings, _) => " with both choices",
    };
    format!(
        "if {} – in {}{with}; otherwise in {}",
        choices.join(", and "),
        condition.with.words(of),
        condition.without.words(of)
    )
}

/// What was measured, one number after the other. Numbers of the same kind have their parts in
/// parentheses, and changes between the same cases share a sentence.
fn in_words(rows: &[&'static Row], evidence: &Evidence) -> String {
    let measured = rows.iter().map(|row| (*row, (row.measure)(evidence)));
    let known: Vec<_> = measured.filter(|(_, of)| of.value.is_some()).collect();
    let alike = |a: &(&Row, Measured), b: &(&Row, Measured)| {
        a.0.metric == b.0.metric && a.1.unit == b.1.unit
    };
    let results = known.chunk_by(alike).map(|same| {
        let is_change = same[0].1.unit == "%";
        let of = |(row, measured): &(&Row, Measured)| {
            let number = if is_change { moves(measured) } else { number(measured) };
            match (same.len(), number.strip_suffix(')')) {
                (1, _) => number,
                (_, Some(number)) => format!("{number}; {})", row.part),
                (_, None) => format!("{number} ({})", row.part),
            }
        };
        let numbers: Vec<String> = same.iter().map(of).collect();
        (same[0].0.metric, is_change, words::list(&numbers))
    });
    let results: Vec<_> = results.collect();
    match results.is_empty() {
        true => "Not measured.".to_owned(),
        false => sentences(&results),
    }
}

/// A metric, whether the numbers say how it changes, and these numbers.
type InWords = (&'static str, bool, String);

/// Sentences of what metrics do, or are. A metric of two cases names them at its end: of `completion
/// time of mice, with isolation vs. without` it is "With isolation, the completion time of mice falls by
/// 63 %".
fn sentences(results: &[InWords]) -> String {
    /// What changes, to which case, and from which.
    fn cases(metric: &'static str) -> Option<(&'static str, &'static str, &'static str)> {
        let (first, from) = metric.rsplit_once(" vs. ")?;
        let (what, to) = first.rsplit_once(", ")?;
        Some((what, to, from))
    }
    let between = |of: &InWords| cases(of.0).filter(|_| of.1).map(|(_, to, from)| (to, from));
    let alike = |a: &InWords, b: &InWords| between(a).is_some() && between(a) == between(b);
    let sentence = |same: &[InWords]| {
        let clause = |(metric, is_change, numbers): &InWords| match is_change {
            true => format!("the {} {numbers}", cases(metric).map_or(*metric, |of| of.0)),
            false => format!("{metric}: {numbers}"),
        };
        let clauses: Vec<String> = same.iter().map(clause).collect();
        let text = match clauses.as_slice() {
            [one] => one.clone(),
            [some @ .., last] => format!("{}, and {last}", some.join(", ")),
            [] => String::new(),
        };
        let text = match between(&same[0]) {
            Some((to, "without")) => format!("{to}, {text}"),
            Some((to, from)) => format!("{to}, compared with {from}, {text}"),
            None => text,
        };
        let mut letters = text.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str() + "."
    };
    results.chunk_by(alike).map(sentence).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::design::resolution_iv;

    fn readings() -> Vec<Reading> {
        let row = |row: Vec<bool>| Reading {
            choices: row.into_iter().map(usize::from).collect(),
            stands_for: Vec::new(),
        };
        resolution_iv(4).into_iter().map(row).collect()
    }

    fn judged(holds: impl Fn(&[usize]) -> Outcome) -> (Verdict, Counts, Option<Condition>) {
        let readings = readings();
        let outcomes: Vec<Outcome> = readings.iter().map(|of| holds(&of.choices)).collect();
        over(&readings.iter().collect::<Vec<_>>(), &outcomes)
    }

    fn when(holds: bool) -> Outcome {
        if holds { Outcome::Holds } else { Outcome::Fails }
    }

    #[test]
    fn all_or_none_or_too_few() {
        let counts =
            |holds, does_not, cannot_be_judged| Counts { holds, does_not, cannot_be_judged };
        assert_eq!(judged(|_| Outcome::Holds), (Verdict::Holds, counts(8, 0, 0), None));
        assert_eq!(judged(|_| Outcome::Fails), (Verdict::DoesNotHold, counts(0, 8, 0), None));
        let some = |of: &[usize]| {
            if of[0] == 0 && of[1] == 0 { Outcome::Open } else { Outcome::Holds }
        };
        assert_eq!(judged(some), (Verdict::Holds, counts(6, 0, 2), None));
        let half = |of: &[usize]| if of[2] == 0 { Outcome::Open } else { Outcome::Fails };
        assert_eq!(judged(half), (Verdict::CannotBeJudged, counts(0, 4, 4), None));
    }

    #[test]
    fn one_choice_or_two_decide() {
        let (Verdict::HoldsIf, _, Some(of)) = judged(|of| when(of[2] == 1)) else { panic!() };
        assert_eq!(of.choices, [(2, 1)]);
        assert_eq!((of.with.holds, of.with.does_not, of.without.holds), (4, 0, 0));
        let both = judged(|of| when(of[1] == 0 && of[3] == 1));
        let (Verdict::HoldsIf, counts, Some(of)) = both else { panic!() };
        assert_eq!(of.choices, [(1, 0), (3, 1)]);
        assert_eq!((counts.holds, of.with.holds, of.with.does_not, of.without.holds), (2, 2, 0, 0));
    }

    #[test]
    fn a_condition_may_be_wrong_about_some() {
        // Where the first choice is made, but once.
        let rule = |of: &[usize]| when(of[0] == 0 && of != [0, 1, 1, 0]);
        let (Verdict::HoldsIf, _, Some(of)) = judged(rule) else { panic!() };
        assert_eq!(of.choices, [(0, 0)]);
        assert_eq!((of.with.holds, of.with.does_not, of.without.does_not), (3, 1, 4));
    }

    /// One of eight readings is none that one choice, or two, single out: of four factors two choices
    /// leave two readings.
    #[test]
    fn a_condition_is_better_than_none() {
        let (verdict, counts, of) = judged(|of| when(of == [0, 0, 0, 0]));
        assert_eq!((verdict, counts.holds), (Verdict::HoldsIf, 1));
        assert_eq!(of, None);
    }

    #[test]
    fn changes_between_the_same_cases_are_a_sentence() {
        let falls = || "falls by 66 %".to_owned();
        assert_eq!(
            sentences(&[
                ("loss rate, with isolation vs. without", true, falls()),
                (
                    "number of pauses, with isolation vs. without",
                    true,
                    "does not change".to_owned()
                ),
                ("number of pauses, with 250 KB vs. 1 MB", true, falls()),
                ("mean delay of DCTCP, DualQ", false, "0.4 ms".to_owned()),
                ("mean delay, 1 ms vs. 0", false, "0.7 ms".to_owned()),
            ]),
            "With isolation, the loss rate falls by 66 %, and the number of pauses does not change. With \
             250 KB, compared with 1 MB, the number of pauses falls by 66 %. Mean delay of DCTCP, DualQ: \
             0.4 ms. Mean delay, 1 ms vs. 0: 0.7 ms."
        );
    }

    #[test]
    fn a_condition_is_told_with_its_counts() {
        let open = |name: &str| Open {
            name: name.to_owned(),
            choices: vec![
                ("a".to_owned(), "deck".to_owned()),
                ("b".to_owned(), "paper".to_owned()),
            ],
        };
        let counts =
            |holds, does_not, cannot_be_judged| Counts { holds, does_not, cannot_be_judged };
        let condition = Condition {
            choices: vec![(0, 0), (1, 1)],
            with: counts(3, 1, 0),
            without: counts(0, 3, 1),
        };
        assert_eq!(
            clause(&condition, &[open("ECN"), open("load")], Counted::Readings),
            "if ECN: a, and load: b – in 3 of 4 readings with both choices; otherwise in 0 of 3 readings \
             (1 more cannot be judged)"
        );
    }
}
