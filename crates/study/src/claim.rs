//! Claims, their numbers and the rules for them. A rule says before the runs what will count as
//! reproduced.

use std::fmt;

use floodway_report::study::{Comparison, Part};

use crate::evidence::Evidence;
use crate::measure::Measured;

/// A claim as its source words it. What it is judged by stands in the rows of its name.
pub struct Claim {
    /// Its name: `A1`.
    pub id: &'static str,
    /// The words of the source; in brackets what was added to them.
    pub quotation: &'static str,
    /// What was measured, in a sentence; none: its numbers, one after the other.
    pub result: Option<Of<String>>,
    /// If each of its numbers is of another reading: what these differ in.
    pub parts_differ_in: Option<&'static str>,
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.quotation)
    }
}

/// A function of the evidence. Those of a study in a folder know what its file says.
pub type Of<T> = &'static (dyn Fn(&Evidence) -> T + Sync);

/// A number that a claim is judged by, or a check.
pub struct Row {
    /// The claim's name: `A1`.
    pub id: &'static str,
    /// Which part of it; empty if there is only one.
    pub part: &'static str,
    /// What the number is.
    pub metric: &'static str,
    /// What was claimed, in words.
    pub claimed: &'static str,
    /// Where.
    pub source: &'static str,
    /// How it is judged.
    pub rule: Rule,
    /// What was expected to come out, and why; written before the runs.
    pub expected: &'static str,
    /// Measures it.
    pub measure: Of<Measured>,
}

/// What is expected of a row that checks the set-up: such rows are no results.
pub const SET_UP: &str = "a check of the scenario, not a result";

/// What is expected of a row that follows from a choice that was made here, or from arithmetic.
pub const GIVEN: &str = "a check: it follows from how the experiment is made";

/// What counts as reproduced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// An effect of a certain size: the value lies between these, and its interval does not hold
    /// zero. Otherwise the sign decides.
    Effect(f64, f64),
    /// Less than zero, whatever the size: the interval lies below zero and reaches further than the
    /// number; effects that are surely smaller are none.
    Less(f64),
    /// More than zero, likewise.
    More(f64),
    /// No effect: the interval lies within this distance of zero.
    None(f64),
    /// Not more, whatever less: the interval lies below this; what is surely above it is more.
    NotAbove(f64),
    /// At most this, in every replication.
    AtMost(f64),
    /// From here to there, whatever the interval.
    Between(f64, f64),
    /// From here to there, and the interval decides: the whole of it lies there. It is refuted if
    /// the whole interval lies elsewhere.
    Within(f64, f64),
    /// Exactly this.
    Exactly(f64),
    /// The sources do not say enough to judge by.
    Never,
    /// Shown beside the numbers that the claim is judged by; the verdict does not depend on it.
    Described,
}

impl Rule {
    /// Why nothing could ever meet it; none if something can.
    pub fn cannot_be_met(&self) -> Option<&'static str> {
        let limits = match *self {
            Self::Effect(low, high) | Self::Between(low, high) | Self::Within(low, high) => {
                [low, high]
            }
            Self::Less(limit)
            | Self::More(limit)
            | Self::None(limit)
            | Self::NotAbove(limit)
            | Self::AtMost(limit)
            | Self::Exactly(limit) => [limit; 2],
            Self::Never | Self::Described => return None,
        };
        match limits {
            [low, high] if low.is_nan() || high.is_nan() => {
                Some("has a limit that is not a number")
            }
            [low, high] if low > high => Some("has its lower limit above the upper one"),
            _ => None,
        }
    }

    /// In a sentence.
    pub fn words(&self, unit: &str) -> String {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        match *self {
            Self::Effect(low, high) => {
                format!("reproduced if it is {low} to {high}{unit} and the interval excludes 0")
            }
            Self::Less(0.0) => "reproduced if the interval lies below 0".to_owned(),
            Self::More(0.0) => "reproduced if the interval lies above 0".to_owned(),
            Self::Less(least) => format!(
                "reproduced if the interval lies below 0 and reaches -{least}{unit} or less"
            ),
            Self::More(least) => {
                format!("reproduced if the interval lies above 0 and reaches {least}{unit} or more")
            }
            Self::None(within) => {
                format!("reproduced if the interval lies within {within}{unit} of 0")
            }
            Self::NotAbove(most) => {
                format!("reproduced if the interval lies below {most}{unit}")
            }
            Self::AtMost(most) => format!("reproduced if it is at most {most}{unit}"),
            Self::Between(low, high) => format!("reproduced if it is {low} to {high}{unit}"),
            Self::Exactly(value) => format!("reproduced if it is {value}{unit}"),
            Self::Within(low, high) => format!(
                "reproduced if the whole interval lies between {low} and {high}{unit}, not reproduced if \
                 all of it lies outside"
            ),
            Self::Never => "cannot be judged".to_owned(),
            Self::Described => "shown, not judged".to_owned(),
        }
    }

    /// Whether the number alone does not decide.
    fn needs_interval(&self) -> bool {
        match self {
            Self::Effect(..)
            | Self::Less(_)
            | Self::More(_)
            | Self::None(_)
            | Self::NotAbove(_)
            | Self::Within(..) => true,
            Self::AtMost(_)
            | Self::Between(..)
            | Self::Exactly(_)
            | Self::Never
            | Self::Described => false,
        }
    }

    /// The verdict on a number. One that is certain counts as an interval of no width.
    pub fn judge(&self, measured: &Measured) -> Comparison {
        let Some(value) = measured.value.filter(|value| value.is_finite()) else {
            return Comparison::CannotJudge;
        };
        match *self {
            Self::Never | Self::Described => Comparison::CannotJudge,
            Self::Exactly(wanted) => reproduced((value - wanted).abs() <= 1e-9 * wanted.abs()),
            Self::AtMost(most) => reproduced(value <= most),
            Self::Between(low, high) => reproduced((low..=high).contains(&value)),
            Self::None(within) => match measured.bounds() {
                None => Comparison::CannotJudge,
                Some((low, high)) if -within <= low && high <= within => Comparison::Reproduced,
                Some((low, high)) if low > 0.0 || high < 0.0 => Comparison::NotReproduced,
                Some(_) => Comparison::CannotJudge,
            },
            Self::NotAbove(most) => match measured.bounds() {
                Some((_, high)) if high <= most => Comparison::Reproduced,
                Some((low, _)) if low > most => Comparison::NotReproduced,
                _ => Comparison::CannotJudge,
            },
            Self::Within(least, most) => match measured.bounds() {
                Some((low, high)) if least <= low && high <= most => Comparison::Reproduced,
                Some((low, high)) if high < least || low > most => Comparison::NotReproduced,
                _ => Comparison::CannotJudge,
            },
            Self::Less(least) => side(measured, -1.0, [least; 2], |_| true, value),
            Self::More(least) => side(measured, 1.0, [least; 2], |_| true, value),
            Self::Effect(low, high) => {
                let least = low.abs().min(high.abs());
                let sign = if low + high < 0.0 { -1.0 } else { 1.0 };
                // What is no percentage, because it was zero before, has no size to compare. And a
                // bound is not a size.
                let has_size = !measured.unit.is_empty() && measured.unfinished.is_none();
                let within = (low..=high).contains(&value);
                match side(measured, sign, [least, least / 10.0], |_| within, value) {
                    Comparison::Reproduced if !has_size => Comparison::CannotJudge,
                    verdict => verdict,
                }
            }
        }
    }
}

fn reproduced(is: bool) -> Comparison {
    if is { Comparison::Reproduced } else { Comparison::NotReproduced }
}

/// The verdict on an effect of this sign that must have a certain size. If its interval holds zero
/// and nothing as large as `least[0]`, there is none; if its sign is clear, it must not be surely
/// smaller than `least[1]`.
fn side(
    measured: &Measured,
    sign: f64,
    least: [f64; 2],
    fits: impl Fn(f64) -> bool,
    value: f64,
) -> Comparison {
    let Some((low, high)) = measured.bounds() else { return Comparison::CannotJudge };
    let clear = low > 0.0 || high < 0.0;
    let least = least[usize::from(clear)];
    match value * sign > 0.0 {
        _ if low > -least && high < least => Comparison::NotReproduced,
        _ if !clear => Comparison::CannotJudge,
        true if fits(value) => Comparison::Reproduced,
        true => Comparison::SameDirection,
        false => Comparison::NotReproduced,
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.id, self.part, self.metric)
    }
}

impl Row {
    /// Whether it cannot fail, or says nothing about a mechanism.
    pub fn is_check(&self) -> bool {
        [SET_UP, GIVEN].contains(&self.expected)
    }

    /// The number, and how it compares with what was claimed.
    pub fn judge(&self, evidence: &Evidence) -> Part {
        let measured = (self.measure)(evidence);
        let verdict = self.rule.judge(&measured);
        Part {
            id: self.id.to_owned(),
            part: self.part.to_owned(),
            metric: self.metric.to_owned(),
            claimed: self.claimed.to_owned(),
            source: self.source.to_owned(),
            expected: format!("{}; {}", self.expected, self.rule.words(measured.unit)),
            measured: measured.value,
            low: measured.low,
            high: measured.high,
            unit: measured.unit.to_owned(),
            verdict,
            remark: self.remark(&measured, verdict),
        }
    }

    /// What must be known of the number, and why it does not decide where it does not.
    fn remark(&self, measured: &Measured, verdict: Comparison) -> String {
        let mut remark = Vec::new();
        if let Some((before, after)) = measured.unfinished {
            remark.push(format!(
                "some flows had not finished when their runs ended ({before} in the case compared with, \
                 {after} in the other); they count with the time until then"
            ));
        }
        let no_interval = measured.no_interval.map(|why| format!("no interval: {why}"));
        match (self.rule, measured.value, measured.bounds()) {
            (Rule::Never, ..) => {
                remark.push("the source gives too little to compare with".to_owned());
            }
            (Rule::Described, Some(_), _) => {
                remark.push("shown, not judged".to_owned());
            }
            (_, None, _) => {
                remark.push("not run at this level, or nothing of the kind happened".to_owned());
            }
            (rule, Some(_), None) if rule.needs_interval() => {
                remark.push(no_interval.unwrap_or_else(|| "the number has no interval".to_owned()));
            }
            (rule, Some(_), Some((low, high))) if rule.needs_interval() => {
                remark.extend(no_interval);
                if verdict == Comparison::CannotJudge {
                    let sized = matches!(rule, Rule::Effect(..)) && (low > 0.0 || high < 0.0);
                    let why = match sized {
                        true => "the number is a bound or a count, so its size cannot be compared",
                        false => "the interval is too wide to decide",
                    };
                    remark.push(why.to_owned());
                }
            }
            _ => {}
        }
        remark.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_report::statistics::NoInterval;

    fn of(value: f64, low: f64, high: f64) -> Measured {
        let (low, high) = (Some(low), Some(high));
        Measured { value: Some(value), low, high, unit: "%", ..Measured::default() }
    }

    #[test]
    fn an_effect_is_judged_by_its_size_then_by_its_sign() {
        let rule = Rule::Effect(-73.0, -53.0);
        assert_eq!(rule.judge(&of(-60.0, -80.0, -10.0)), Comparison::Reproduced);
        assert_eq!(rule.judge(&of(-90.0, -95.0, -80.0)), Comparison::SameDirection);
        assert_eq!(rule.judge(&of(20.0, 10.0, 30.0)), Comparison::NotReproduced);
        // -60 would be inside, but so could be nothing at all.
        assert_eq!(rule.judge(&of(-60.0, -90.0, 40.0)), Comparison::CannotJudge);
        // An effect of 53 would have been seen.
        assert_eq!(rule.judge(&of(-1.0, -12.0, 11.0)), Comparison::NotReproduced);
        // Small and clear is the claimed direction; next to nothing is not.
        assert_eq!(rule.judge(&of(-22.0, -33.0, -14.0)), Comparison::SameDirection);
        assert_eq!(rule.judge(&of(-3.0, -4.0, -2.0)), Comparison::NotReproduced);
        assert_eq!(rule.judge(&Measured::exactly(-60.0, "%")), Comparison::CannotJudge);
        assert_eq!(rule.judge(&Measured::default()), Comparison::CannotJudge);
        // With flows that never finished, -60 is only a bound; -90 is beyond in any case.
        let bound = |measured| Measured { unfinished: Some((7, 0)), ..measured };
        assert_eq!(rule.judge(&bound(of(-60.0, -80.0, -10.0))), Comparison::CannotJudge);
        assert_eq!(rule.judge(&bound(of(-90.0, -95.0, -80.0))), Comparison::SameDirection);
    }

    #[test]
    fn a_direction_is_judged_by_the_whole_interval() {
        assert_eq!(Rule::Less(5.0).judge(&of(-3.0, -5.0, -1.0)), Comparison::Reproduced);
        assert_eq!(Rule::Less(5.0).judge(&of(-3.0, -9.0, 1.0)), Comparison::CannotJudge);
        assert_eq!(Rule::Less(5.0).judge(&of(-1.0, -3.0, 1.0)), Comparison::NotReproduced);
        assert_eq!(Rule::Less(5.0).judge(&of(3.0, 1.0, 5.0)), Comparison::NotReproduced);
        assert_eq!(Rule::More(5.0).judge(&of(3.0, 1.0, 5.0)), Comparison::Reproduced);
        // Clear of zero, and too small to matter.
        assert_eq!(Rule::Less(5.0).judge(&of(-3.0, -4.0, -1.0)), Comparison::NotReproduced);
    }

    #[test]
    fn no_effect_must_be_known_to_be_none() {
        assert_eq!(Rule::None(2.0).judge(&of(0.1, -1.0, 1.5)), Comparison::Reproduced);
        assert_eq!(Rule::None(2.0).judge(&of(0.1, -3.0, 3.0)), Comparison::CannotJudge);
        assert_eq!(Rule::None(2.0).judge(&of(1.0, 0.5, 3.0)), Comparison::NotReproduced);
    }

    #[test]
    fn not_more_may_be_less() {
        let rule = Rule::NotAbove(5.0);
        assert_eq!(rule.judge(&of(-30.0, -40.0, -20.0)), Comparison::Reproduced);
        assert_eq!(rule.judge(&of(1.0, -3.0, 4.0)), Comparison::Reproduced);
        assert_eq!(rule.judge(&of(1.0, -3.0, 6.0)), Comparison::CannotJudge);
        assert_eq!(rule.judge(&of(9.0, 6.0, 12.0)), Comparison::NotReproduced);
        assert_eq!(rule.judge(&Measured::exactly(1.0, "%")), Comparison::CannotJudge);
    }

    #[test]
    fn what_is_certain_needs_no_interval() {
        let same = Measured {
            no_interval: Some(NoInterval::AllEqual),
            certain: true,
            ..Measured::exactly(-100.0, "%")
        };
        assert_eq!(Rule::Less(5.0).judge(&same), Comparison::Reproduced);
        assert_eq!(Rule::Effect(-100.0, -80.0).judge(&same), Comparison::Reproduced);
        assert_eq!(Rule::More(5.0).judge(&same), Comparison::NotReproduced);
        assert_eq!(
            Rule::None(5.0).judge(&Measured { value: Some(0.0), ..same }),
            Comparison::Reproduced
        );
        assert_eq!(Rule::NotAbove(-99.0).judge(&same), Comparison::Reproduced);
        // Without being certain it decides nothing.
        let open = Measured { no_interval: Some(NoInterval::NoRatio), certain: false, ..same };
        assert_eq!(Rule::Less(5.0).judge(&open), Comparison::CannotJudge);
    }

    #[test]
    fn a_remark_is_the_reason_for_no_interval() {
        let row = |rule| Row {
            id: "",
            part: "",
            metric: "",
            claimed: "",
            source: "",
            rule,
            expected: "",
            measure: &|_| Measured::default(),
        };
        let remark = |rule, measured: Measured| {
            let row: Row = row(rule);
            row.remark(&measured, rule.judge(&measured))
        };
        let without = |why| Measured { no_interval: Some(why), ..Measured::exactly(-60.0, "%") };
        let one = without(NoInterval::OneReplication);
        assert_eq!(remark(Rule::Less(5.0), one), "no interval: one replication");
        let few = without(NoInterval::FewFlows { needed: 1_000, least: 214 });
        assert_eq!(
            remark(Rule::Effect(-70.0, -50.0), few),
            "no interval: needs at least 1000 flows in every replication; one has 214"
        );
        let same = Measured { certain: true, ..without(NoInterval::AllEqual) };
        assert_eq!(remark(Rule::Less(5.0), same), "no interval: the same in all replications");
        // A rule that does not ask for the interval does not say that there is none.
        assert_eq!(remark(Rule::AtMost(5.0), one), "");
        assert_eq!(remark(Rule::Less(5.0), of(-3.0, -5.0, -1.0)), "");
        let wide = remark(Rule::Less(5.0), of(-3.0, -9.0, 1.0));
        assert_eq!(wide, "the interval is too wide to decide");
        assert_eq!(
            remark(Rule::Less(5.0), Measured::exactly(1.0, "")),
            "the number has no interval"
        );
    }

    /// Rates from 0.8 to 1.25 count as equal. Only an interval that lies there says so, and only one
    /// that lies elsewhere says the contrary.
    #[test]
    fn a_band_holds_the_whole_interval_or_none_of_it() {
        let rule = Rule::Within(0.8, 1.25);
        assert_eq!(rule.judge(&of(1.05, 1.01, 1.09)), Comparison::Reproduced);
        assert_eq!(rule.judge(&of(1.0, 0.8, 1.25)), Comparison::Reproduced);
        // The number is inside, its interval is not; and the other way about.
        assert_eq!(rule.judge(&of(1.2, 1.1, 1.3)), Comparison::CannotJudge);
        assert_eq!(rule.judge(&of(1.4, 1.2, 1.6)), Comparison::CannotJudge);
        assert_eq!(rule.judge(&of(1.0, 0.5, 2.0)), Comparison::CannotJudge);
        // A factor of 2 is not "about equal".
        assert_eq!(rule.judge(&of(1.99, 1.93, 2.05)), Comparison::NotReproduced);
        assert_eq!(rule.judge(&of(0.41, 0.40, 0.42)), Comparison::NotReproduced);
        assert_eq!(rule.judge(&Measured::exactly(1.0, "x")), Comparison::CannotJudge);
    }

    #[test]
    fn what_is_described_is_not_judged() {
        assert_eq!(Rule::Described.judge(&of(1.0, 0.9, 1.1)), Comparison::CannotJudge);
        assert_eq!(Rule::Described.words("% of mixes"), "shown, not judged");
    }

    #[test]
    fn limits_hold_or_not() {
        let at = |value| Measured::exactly(value, "KB");
        assert_eq!(Rule::AtMost(750.0).judge(&at(750.0)), Comparison::Reproduced);
        assert_eq!(Rule::AtMost(750.0).judge(&at(750.1)), Comparison::NotReproduced);
        assert_eq!(Rule::Exactly(0.0).judge(&at(0.0)), Comparison::Reproduced);
        assert_eq!(Rule::Exactly(0.0).judge(&at(1e-12)), Comparison::NotReproduced);
        assert_eq!(Rule::Exactly(1152.0).judge(&at(1152.0)), Comparison::Reproduced);
        assert_eq!(Rule::Between(1.0, 2.0).judge(&at(1.5)), Comparison::Reproduced);
        assert_eq!(Rule::Between(1.0, 2.0).judge(&at(2.5)), Comparison::NotReproduced);
        assert_eq!(Rule::Never.judge(&at(1.0)), Comparison::CannotJudge);
    }
}
