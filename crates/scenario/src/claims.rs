//! Claims about results, and the numbers that decide whether they hold. Scenarios and the files of studies have them as
//! `[[claim]]`. The crate `floodway-study` judges them.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_model::{Bytes, Duration};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::text::{Entry, Error, Item, Place, Problem, Source, Table, Value, decode};

/// A claim: the words of its source, and the numbers that decide whether it holds.
#[derive(Clone, Debug, Deserialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// A short name of its own: `A1`.
    #[schemars(with = "String")]
    pub id: Spanned<String>,
    /// What is claimed, in the words of the source; in brackets what was added to them.
    pub quotation: String,
    /// Where it stands: a paper and its section, a standard, a slide; or who expects it.
    pub source: String,
    /// If each number is about another experiment: what these differ in. The claim is then judged over these experiments.
    /// Default none.
    #[serde(default)]
    pub parts_differ_in: Option<String>,
    /// In a study: lists of settings of which each combination has these numbers, with `{LIST}` for a setting in the names
    /// of cases and in texts. Default none.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub over: Vec<Spanned<String>>,
    /// In a study: settings of these lists that the claim is not about. Default none.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub except: Vec<Spanned<String>>,
    /// In a study: what was measured, in a sentence with numbers like those of its answer. Default none: the numbers of the
    /// claim, one after the other.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub result: Option<Spanned<String>>,
    /// The numbers that it is judged by.
    pub number: Vec<Number>,
}

/// A number that a claim is judged by.
#[derive(Clone, Debug, Deserialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Which part of the claim it is. Default empty, for a claim with one number.
    #[serde(default)]
    pub part: String,
    /// What the number is, in words: `mean completion time of mice, step vs. RED`.
    pub metric: String,
    /// What was claimed of it, in words: `-63 %`. Default empty.
    #[serde(default)]
    pub claimed: String,
    /// Where it stands, if that is not where the claim does. Default the claim's.
    #[serde(default)]
    pub source: Option<String>,
    /// The expected result and the reason, written before the runs. Default empty.
    #[serde(default)]
    pub expected: String,
    /// In a claim over lists of settings: the same for a setting, by its name. Default `expected`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub expected_of: BTreeMap<String, Spanned<String>>,
    /// What counts as reproduced, written before the runs.
    pub rule: Rule,
    /// How it is measured.
    #[schemars(with = "Measure")]
    pub measure: Spanned<Measure>,
}

/// What counts as reproduced. With most rules the 95 % interval decides, not the number alone.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The number lies between these two, and its interval excludes 0.
    Effect([f64; 2]),
    /// The interval lies below 0 and reaches minus this or further.
    Less(f64),
    /// The interval lies above 0 and reaches this or further.
    More(f64),
    /// The interval lies within this distance of 0.
    None(f64),
    /// The interval lies below this.
    NotAbove(f64),
    /// The number is at most this, whatever its interval.
    AtMost(f64),
    /// The number lies between these two, whatever its interval.
    Between([f64; 2]),
    /// The whole interval lies between these two.
    Within([f64; 2]),
    /// The number is this.
    Exactly(f64),
    /// The source says too little to judge by; the number is shown.
    Never,
    /// The number is shown beside those that the claim is judged by.
    Described,
}

/// How a number is measured: exactly one of `fct`, `counter`, `fairness`, `sql` and, in a study, `quantity` and `fact`;
/// either `of` one case, or `from` one `to` another. In a scenario a case is one of its variants, in a study
/// `experiment/variant`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ClaimMeasure")]
pub struct Measure {
    /// A statistic of completion times: `mean`, `p50`, `p95`, `p99` or `p99.9`; or, flow by flow, `changed`. Default none.
    #[schemars(with = "Option<String>")]
    pub fct: Option<Spanned<String>>,
    /// The group of flows that completion times are of. Default all measured flows.
    #[schemars(with = "Option<String>")]
    pub flows: Option<Spanned<String>>,
    /// A counter of a run, by its name in `summary.json`. Default none.
    #[schemars(with = "Option<String>")]
    pub counter: Option<Spanned<String>>,
    /// Jain's fairness index of the flows with `flow_samples`, in windows of this length, averaged over those in which
    /// at least two flows are active from beginning to end. Default none.
    #[schemars(with = "Option<Duration>")]
    pub fairness: Option<Spanned<Duration>>,
    /// A statement of SQLite that asks the tables of a run for one number. Default none.
    #[schemars(with = "Option<String>")]
    pub sql: Option<Spanned<String>>,
    /// A statement of SQLite that is asked once for all replications of a case: of table `pool`, which has the rows that
    /// `sql` gives of each of them, with the columns `a`, `b` and `c`. Default none.
    #[schemars(with = "Option<String>")]
    pub pooled: Option<Spanned<String>>,
    /// In a study: the name of a `[quantity]`, which says what is measured. Default none.
    #[schemars(with = "Option<String>")]
    pub quantity: Option<Spanned<String>>,
    /// In a study: a statement of SQLite that asks its scenarios for one number. It has no case. Default none.
    #[schemars(with = "Option<String>")]
    pub fact: Option<Spanned<String>>,
    /// The case whose number it is. Default none: a change.
    #[schemars(with = "Option<String>")]
    pub of: Option<Spanned<String>>,
    /// The case that a change starts from. Default none.
    #[schemars(with = "Option<String>")]
    pub from: Option<Spanned<String>>,
    /// The case that it leads to. Default none.
    #[schemars(with = "Option<String>")]
    pub to: Option<Spanned<String>>,
    /// What is measured of two cases, paired by replication; `change` of one case is that of a ratio from 1. Default
    /// `change`.
    #[serde(rename = "as")]
    #[schemars(with = "Option<Kind>")]
    pub kind: Option<Spanned<Kind>>,
    /// What is made of the replications. Default `mean`.
    #[schemars(with = "Option<Runs>")]
    pub runs: Option<Spanned<Runs>>,
    /// In a study: lists of settings over which it is taken together, with `{LIST}` for a setting in the names of cases. Of
    /// a change, the geometric mean. Default none.
    #[schemars(with = "Vec<String>")]
    pub over: Vec<Spanned<String>>,
    /// Settings of these lists that it is not about. Default none.
    #[schemars(with = "Vec<String>")]
    pub except: Vec<Spanned<String>>,
    /// Whether there is a number only if all of these settings were run. Default false: it is of those that were.
    pub every: bool,
    /// With `every`: whether the number is shown all the same if only some of them were run. It is then no evidence in
    /// verdicts. Default false.
    pub shown_in_part: bool,
    /// How it is taken together over these lists: `mean`, `largest`, `farthest`, `exponent`, or `{ within = 1.25 }`. Default
    /// `mean`.
    #[schemars(with = "Option<Together>")]
    pub together: Option<Spanned<Together>>,
    /// Another change that this one is compared with: how much larger its ratio is, in percent. What it leaves out is as
    /// here. Default none.
    // The reference shows fields within fields, which of these would have no end.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub than: Option<Box<Spanned<Self>>>,
    /// Whether replications of both changes have different traffic, so that they are not paired. Default false.
    pub unpaired: bool,
    /// The unit of a counter or of SQL: `ns`, `bytes`, `Gb/s`. Default none, for a count.
    pub unit: Option<String>,
    /// How many of a counter, or of the answer of SQL, are one of this unit: 1e6 for milliseconds of nanoseconds. Default 1.
    pub per: Option<f64>,
    /// The scale on which intervals are formed. Default `amount`.
    pub scale: Option<Scale>,
}

/// What is measured of two cases.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The change in percent, of scores in points.
    #[default]
    Change,
    /// The same as a decrease: 5 if it is -5 %.
    Decrease,
    /// The rise from the smaller of both to the larger; over settings the largest of these.
    Apart,
    /// The difference.
    Difference,
    /// The second number as a multiple of the first, without an interval.
    Ratio,
    /// Of sums: the second in percent of the first.
    Share,
    /// Of a change compared with another: the size of the effect, whichever way each goes.
    Size,
    /// Of completion times: the statistic of the differences of the same flow, over those that completed in both cases.
    FlowByFlow,
}

/// What is made of the replications of a case.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Runs {
    /// Their mean, with its interval.
    #[default]
    Mean,
    /// Their sum, without an interval.
    Sum,
    /// The largest of them, likewise.
    Most,
}

/// How a number is taken together over settings.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Together {
    /// The mean, over replications that all of them have; on the scale `ratio` the geometric one.
    #[default]
    Mean,
    /// The largest of their numbers, without an interval.
    Largest,
    /// Of ratios: by which factor the one that is farthest from 1 is off, either way.
    Farthest,
    /// Of ratios: in how many of them, in percent, it is off by this factor at most.
    Within(f64),
    /// The exponent of the power law that fits best, by least squares in each replication. SQL has two columns: of what,
    /// and the number.
    Exponent,
}

/// The scale of a number.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Zero or more: intervals are those of factors.
    #[default]
    Amount,
    /// Above zero, as a multiple of something: means are geometric.
    Ratio,
    /// Zero or more, read from the bins of table `departures`: intervals are not narrower than a bin of its times.
    Binned,
    /// From zero to one: intervals are those of odds, and numbers are shown in percent.
    Share,
    /// Any number: intervals are symmetric.
    Real,
    /// An opinion score from 1 to 4.5 (ITU-T G.107): intervals stay within, and changes are differences in points.
    Score,
}

impl Measure {
    /// Whether it says what is asked.
    pub fn asks(&self) -> bool {
        self.fct.is_some()
            || self.counter.is_some()
            || self.fairness.is_some()
            || self.sql.is_some()
            || self.quantity.is_some()
            || self.fact.is_some()
    }

    /// The same, with what it leaves out taken from another: what is asked, as a whole, and everything else.
    pub fn or(&self, other: &Self) -> Self {
        let own = self.clone();
        let asks = own.asks();
        let asked = if asks { &own } else { other }.clone();
        let has_cases = own.of.is_some() || own.from.is_some() || own.to.is_some();
        let cases = if has_cases { &own } else { other }.clone();
        Self {
            fct: asked.fct,
            counter: asked.counter,
            fairness: asked.fairness,
            sql: asked.sql,
            pooled: asked.pooled,
            quantity: asked.quantity,
            fact: asked.fact,
            flows: own.flows.or(if asks { None } else { other.flows.clone() }),
            of: cases.of,
            from: cases.from,
            to: cases.to,
            kind: own.kind.or(other.kind.clone()),
            runs: own.runs.or(other.runs.clone()),
            over: if own.over.is_empty() { other.over.clone() } else { own.over },
            except: if own.except.is_empty() { other.except.clone() } else { own.except },
            every: own.every || other.every,
            shown_in_part: own.shown_in_part || other.shown_in_part,
            together: own.together.or(other.together.clone()),
            than: own.than.or(other.than.clone()),
            unpaired: own.unpaired || other.unpaired,
            unit: own.unit.or(other.unit.clone()),
            per: own.per.or(other.per),
            scale: own.scale.or(other.scale),
        }
    }
}

/// A group of flows, for claims about completion times.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flows {
    /// Only flows of at least this size. Default 0B.
    #[serde(default)]
    pub from: Option<Bytes>,
    /// Only flows of less than this size. Default none: of any size.
    #[serde(default)]
    pub below: Option<Bytes>,
    /// Only flows of this workload, counted from 0. Default none: of all workloads.
    #[serde(default)]
    pub workload: Option<u64>,
}

/// The claims of a scenario. Ranges of words are those of its own file: a file that extends another has the claims that
/// it writes itself.
#[derive(Clone, Debug)]
pub struct Claims {
    /// The file.
    pub source: Arc<Source>,
    /// The claims in order; at least one.
    pub claim: Vec<Claim>,
    /// Groups of flows by name.
    pub flows: BTreeMap<String, Flows>,
}

/// The keys of a scenario that claims consist of.
pub(crate) const KEYS: [&str; 2] = ["claim", "flows"];

/// What the two keys hold.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    claim: Vec<Claim>,
    #[serde(default)]
    flows: BTreeMap<String, Flows>,
}

impl Claims {
    /// What a file says of its claims; none if it has no such keys.
    pub(crate) fn read(source: &Arc<Source>, entries: &[Entry]) -> Result<Option<Self>, Error> {
        let Some(first) = entries.first() else { return Ok(None) };
        let table = Value::Table(Table { entries: entries.to_vec() });
        let item = Item { value: table, place: Place::whole(source) };
        let Written { claim, flows } = decode(&item).map_err(Error::new)?;
        if claim.is_empty() {
            let message = format!("`{}` is there without a claim", first.key);
            let help = "groups of flows are for claims: add a [[claim]], or remove the groups";
            return Err(Problem::error(first.key_place.clone(), message, help).into());
        }
        Ok(Some(Self { source: Arc::clone(source), claim, flows }))
    }
}
