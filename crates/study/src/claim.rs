//! Rules and verdicts. A rule says before the runs what will count as reproduced.

use floodway_report::study::{Claim, Verdict};

use crate::evidence::Evidence;
use crate::measure::Measured;

/// One claim, or one part of a claim that has several numbers.
#[derive(Debug)]
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
    pub measure: fn(&Evidence) -> Measured,
}

/// What is expected of a row that checks the set-up: such rows are counted apart.
pub const SET_UP: &str = "a check of the scenario, not a result";

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
    /// Exactly this.
    Exactly(f64),
    /// The sources do not say enough to judge by.
    Never,
}

impl Rule {
    /// In a sentence.
    pub fn words(&self, unit: &str) -> String {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        match *self {
            Self::Effect(low, high) => {
                format!("reproduced from {low} to {high}{unit}, if the interval excludes 0")
            }
            Self::Less(least) => format!(
                "reproduced if the interval lies below 0 and not within {least}{unit} of it"
            ),
            Self::More(least) => format!(
                "reproduced if the interval lies above 0 and not within {least}{unit} of it"
            ),
            Self::None(within) => {
                format!("reproduced if the interval lies within {within}{unit} of 0")
            }
            Self::NotAbove(most) => {
                format!("reproduced if the interval lies below {most}{unit}")
            }
            Self::AtMost(most) => format!("reproduced up to {most}{unit}"),
            Self::Between(low, high) => format!("reproduced from {low} to {high}{unit}"),
            Self::Exactly(value) => format!("reproduced if it is {value}{unit}"),
            Self::Never => "cannot be judged".to_owned(),
        }
    }

    /// Whether the number alone does not decide.
    fn needs_interval(&self) -> bool {
        match self {
            Self::Effect(..)
            | Self::Less(_)
            | Self::More(_)
            | Self::None(_)
            | Self::NotAbove(_) => true,
            Self::AtMost(_) | Self::Between(..) | Self::Exactly(_) | Self::Never => false,
        }
    }

    /// The verdict on a number. One that is certain counts as an interval of no width.
    pub fn judge(&self, measured: &Measured) -> Verdict {
        let Some(value) = measured.value.filter(|value| value.is_finite()) else {
            return Verdict::CannotJudge;
        };
        match *self {
            Self::Never => Verdict::CannotJudge,
            Self::Exactly(wanted) => reproduced((value - wanted).abs() <= 1e-9 * wanted.abs()),
            Self::AtMost(most) => reproduced(value <= most),
            Self::Between(low, high) => reproduced((low..=high).contains(&value)),
            Self::None(within) => match measured.bounds() {
                None => Verdict::CannotJudge,
                Some((low, high)) if -within <= low && high <= within => Verdict::Reproduced,
                Some((low, high)) if low > 0.0 || high < 0.0 => Verdict::NotReproduced,
                Some(_) => Verdict::CannotJudge,
            },
            Self::NotAbove(most) => match measured.bounds() {
                Some((_, high)) if high <= most => Verdict::Reproduced,
                Some((low, _)) if low > most => Verdict::NotReproduced,
                _ => Verdict::CannotJudge,
            },
            Self::Less(least) => side(measured, -1.0, least, |_| true, value),
            Self::More(least) => side(measured, 1.0, least, |_| true, value),
            Self::Effect(low, high) => {
                let least = low.abs().min(high.abs());
                let sign = if low + high < 0.0 { -1.0 } else { 1.0 };
                // What is no percentage, because it was zero before, has no size to compare. And a
                // bound is not a size.
                let has_size = !measured.unit.is_empty() && measured.unfinished.is_none();
                let within = (low..=high).contains(&value);
                match side(measured, sign, least, |_| within, value) {
                    Verdict::Reproduced if !has_size => Verdict::CannotJudge,
                    verdict => verdict,
                }
            }
        }
    }
}

fn reproduced(is: bool) -> Verdict {
    if is { Verdict::Reproduced } else { Verdict::NotReproduced }
}

/// The verdict on an effect of this sign that must have a certain size; effects smaller than
/// `least` would be none.
fn side(
    measured: &Measured,
    sign: f64,
    least: f64,
    fits: impl Fn(f64) -> bool,
    value: f64,
) -> Verdict {
    let Some((low, high)) = measured.bounds() else { return Verdict::CannotJudge };
    if low > -least && high < least {
        // An effect that matters would have been seen.
        return Verdict::NotReproduced;
    }
    if low <= 0.0 && high >= 0.0 {
        return Verdict::CannotJudge;
    }
    match value * sign > 0.0 {
        true if fits(value) => Verdict::Reproduced,
        true => Verdict::SameDirection,
        false => Verdict::NotReproduced,
    }
}

impl Row {
    /// The verdict on it.
    pub fn judge(&self, evidence: &Evidence) -> Claim {
        let measured = (self.measure)(evidence);
        let verdict = self.rule.judge(&measured);
        Claim {
            id: self.id.to_owned(),
            set_up: self.expected == SET_UP,
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
    fn remark(&self, measured: &Measured, verdict: Verdict) -> String {
        let mut remark = Vec::new();
        if let Some((before, after)) = measured.unfinished {
            remark.push(format!(
                "{before} flows before and {after} after had not finished and count with the time that \
                 they had taken"
            ));
        }
        let no_interval = measured.no_interval.map(|why| format!("no interval: {why}"));
        match (self.rule, measured.value, measured.bounds()) {
            (Rule::Never, ..) => {
                remark.push("the source gives too little to compare with".to_owned());
            }
            (_, None, _) => {
                remark
                    .push("not measured at this level, or nothing of the kind happened".to_owned());
            }
            (rule, Some(_), None) if rule.needs_interval() => {
                remark.push(no_interval.unwrap_or_else(|| "the number has no interval".to_owned()));
            }
            (rule, Some(_), Some((low, high))) if rule.needs_interval() => {
                remark.extend(no_interval);
                if verdict == Verdict::CannotJudge {
                    let sized = matches!(rule, Rule::Effect(..)) && (low > 0.0 || high < 0.0);
                    let why = match sized {
                        true => "the number is a bound or a count, and has no size to compare",
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
        assert_eq!(rule.judge(&of(-60.0, -80.0, -10.0)), Verdict::Reproduced);
        assert_eq!(rule.judge(&of(-90.0, -95.0, -80.0)), Verdict::SameDirection);
        assert_eq!(rule.judge(&of(20.0, 10.0, 30.0)), Verdict::NotReproduced);
        // -60 would be inside, but so could be nothing at all.
        assert_eq!(rule.judge(&of(-60.0, -90.0, 40.0)), Verdict::CannotJudge);
        // An effect of 53 would have been seen.
        assert_eq!(rule.judge(&of(-1.0, -12.0, 11.0)), Verdict::NotReproduced);
        assert_eq!(rule.judge(&Measured::exactly(-60.0, "%")), Verdict::CannotJudge);
        assert_eq!(rule.judge(&Measured::default()), Verdict::CannotJudge);
        // With flows that never finished, -60 is only a bound; -90 is beyond in any case.
        let bound = |measured| Measured { unfinished: Some((7, 0)), ..measured };
        assert_eq!(rule.judge(&bound(of(-60.0, -80.0, -10.0))), Verdict::CannotJudge);
        assert_eq!(rule.judge(&bound(of(-90.0, -95.0, -80.0))), Verdict::SameDirection);
    }

    #[test]
    fn a_direction_is_judged_by_the_whole_interval() {
        assert_eq!(Rule::Less(5.0).judge(&of(-3.0, -5.0, -1.0)), Verdict::Reproduced);
        assert_eq!(Rule::Less(5.0).judge(&of(-3.0, -9.0, 1.0)), Verdict::CannotJudge);
        assert_eq!(Rule::Less(5.0).judge(&of(-1.0, -3.0, 1.0)), Verdict::NotReproduced);
        assert_eq!(Rule::Less(5.0).judge(&of(3.0, 1.0, 5.0)), Verdict::NotReproduced);
        assert_eq!(Rule::More(5.0).judge(&of(3.0, 1.0, 5.0)), Verdict::Reproduced);
        // Clear of zero, and too small to matter.
        assert_eq!(Rule::Less(5.0).judge(&of(-3.0, -4.0, -1.0)), Verdict::NotReproduced);
    }

    #[test]
    fn no_effect_must_be_known_to_be_none() {
        assert_eq!(Rule::None(2.0).judge(&of(0.1, -1.0, 1.5)), Verdict::Reproduced);
        assert_eq!(Rule::None(2.0).judge(&of(0.1, -3.0, 3.0)), Verdict::CannotJudge);
        assert_eq!(Rule::None(2.0).judge(&of(1.0, 0.5, 3.0)), Verdict::NotReproduced);
    }

    #[test]
    fn not_more_may_be_less() {
        let rule = Rule::NotAbove(5.0);
        assert_eq!(rule.judge(&of(-30.0, -40.0, -20.0)), Verdict::Reproduced);
        assert_eq!(rule.judge(&of(1.0, -3.0, 4.0)), Verdict::Reproduced);
        assert_eq!(rule.judge(&of(1.0, -3.0, 6.0)), Verdict::CannotJudge);
        assert_eq!(rule.judge(&of(9.0, 6.0, 12.0)), Verdict::NotReproduced);
        assert_eq!(rule.judge(&Measured::exactly(1.0, "%")), Verdict::CannotJudge);
    }

    #[test]
    fn what_is_certain_needs_no_interval() {
        let same = Measured {
            no_interval: Some(NoInterval::AllEqual),
            certain: true,
            ..Measured::exactly(-100.0, "%")
        };
        assert_eq!(Rule::Less(5.0).judge(&same), Verdict::Reproduced);
        assert_eq!(Rule::Effect(-100.0, -80.0).judge(&same), Verdict::Reproduced);
        assert_eq!(Rule::More(5.0).judge(&same), Verdict::NotReproduced);
        assert_eq!(
            Rule::None(5.0).judge(&Measured { value: Some(0.0), ..same }),
            Verdict::Reproduced
        );
        assert_eq!(Rule::NotAbove(-99.0).judge(&same), Verdict::Reproduced);
        // Without being certain it decides nothing.
        let open = Measured { no_interval: Some(NoInterval::NoRatio), certain: false, ..same };
        assert_eq!(Rule::Less(5.0).judge(&open), Verdict::CannotJudge);
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
            measure: |_| Measured::default(),
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

    #[test]
    fn limits_hold_or_not() {
        let at = |value| Measured::exactly(value, "KB");
        assert_eq!(Rule::AtMost(750.0).judge(&at(750.0)), Verdict::Reproduced);
        assert_eq!(Rule::AtMost(750.0).judge(&at(750.1)), Verdict::NotReproduced);
        assert_eq!(Rule::Exactly(0.0).judge(&at(0.0)), Verdict::Reproduced);
        assert_eq!(Rule::Exactly(0.0).judge(&at(1e-12)), Verdict::NotReproduced);
        assert_eq!(Rule::Exactly(1152.0).judge(&at(1152.0)), Verdict::Reproduced);
        assert_eq!(Rule::Between(1.0, 2.0).judge(&at(1.5)), Verdict::Reproduced);
        assert_eq!(Rule::Between(1.0, 2.0).judge(&at(2.5)), Verdict::NotReproduced);
        assert_eq!(Rule::Never.judge(&at(1.0)), Verdict::CannotJudge);
    }
}
