//! The claims of a scenario, judged by its runs: the experiment is the scenario, and cases are its variants.

use floodway_model::family::Entry;
use floodway_report::study::{self, Counts, Verdict};
use floodway_report::words;
use floodway_scenario::{Error, Scenario};

use crate::claim::Rule;
use crate::compile::{Cases, Compiler, all, kept, measure};
use crate::evidence::{Case, Evidence};
use crate::plan::{Level, name};
use crate::readings::Judged;
use crate::{Library, Study};

/// The only experiment.
const EXPERIMENT: &str = "";

/// The claims of a scenario, checked.
#[derive(Clone, Copy, Debug)]
pub struct RunClaims {
    study: &'static Study,
    /// The variants that each number is of, in the order of the numbers.
    variants: &'static [Vec<&'static str>],
}

impl RunClaims {
    /// Those of a scenario; none if it claims nothing. Fails with all that is wrong with them.
    pub fn of(scenario: &Scenario) -> Result<Option<Self>, Error> {
        let Some(written) = &scenario.claims else { return Ok(None) };
        let mut compiler = Compiler::new(&written.source, &written.flows, Cases::Variants);
        compiler.cases = scenario
            .variants()
            .iter()
            .map(|variant| {
                let case = Case { experiment: EXPERIMENT, variant: name(&variant.name) };
                (variant.name.clone(), case)
            })
            .collect();
        let (claims, rows) = compiler.claims(&written.claim);
        if let Some(error) = Error::of(compiler.problems) {
            return Err(error);
        }
        let (rows, cases): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let variants = |cases: Vec<Case>| cases.iter().map(|case| case.variant).collect();
        let entry = Entry {
            family: "study",
            name: name(&scenario.name),
            summary: name(&scenario.question),
        };
        let study = Study {
            entry,
            title: name(&scenario.name),
            question: name(&scenario.question),
            library: Library::Folder(EXPERIMENT),
            groups: all(measure::groups(&written.flows)),
            keeps_flows: compiler.keeps_flows,
            queries: all(compiler.queries),
            counters: all(compiler.counters.into_iter().collect()),
            first_run: &[],
            plan: &|_| Vec::new(),
            claims: all(claims),
            rows: all(vec![all(rows)]),
            readings: &Judged::main_only,
            closest: None,
            answer: &|_| Vec::new(),
            sections: &|_| Vec::new(),
        };
        let variants = all(cases.into_iter().map(variants).collect());
        Ok(Some(Self { study: kept(study), variants }))
    }

    /// The names of the claims.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.study.claims.iter().map(|claim| claim.id)
    }

    /// See [`Study::not_held`].
    pub fn not_held(&self, claims: &[study::Claim]) -> Vec<String> {
        self.study.not_held(claims)
    }

    /// What takes the runs, by [`Evidence::add`] with an empty name of the experiment.
    pub fn evidence(&self) -> Evidence {
        Evidence::new(self.study, Level::Full, &[])
    }

    /// The verdicts. What is about a variant of which there is no run is not judged, and says so.
    pub fn judge(&self, evidence: &Evidence) -> Vec<study::Claim> {
        let (mut claims, _) = self.study.judge(evidence);
        let mut variants = self.variants.iter();
        for claim in &mut claims {
            let mut not_run: Vec<&str> = Vec::new();
            for part in &mut claim.parts {
                let of = variants.next().map_or(&[][..], Vec::as_slice);
                let is_missing = |variant: &&&'static str| {
                    !evidence.has(Case { experiment: EXPERIMENT, variant })
                };
                let missing: Vec<&str> = of.iter().filter(is_missing).copied().collect();
                match (missing.is_empty(), part.measured) {
                    (false, _) => part.remark = format!("not judged: {}", not_run_words(&missing)),
                    (true, None) => {
                        part.remark = match evidence.unknown_counters().as_slice() {
                            [] => "nothing of the kind happened in the runs".to_owned(),
                            unknown => unknown.join(" "),
                        };
                    }
                    (true, Some(_)) => {}
                }
                not_run.extend(missing);
            }
            not_run.sort_unstable();
            not_run.dedup();
            if not_run.is_empty() {
                continue;
            }
            if claim.parts.iter().all(|part| part.measured.is_none()) {
                claim.result = format!("Not judged: {}.", not_run_words(&not_run));
            }
            // The numbers that are there may still refute it.
            if claim.verdict == Verdict::Holds {
                claim.verdict = Verdict::CannotBeJudged;
                claim.readings.counts = Counts { cannot_be_judged: 1, ..Counts::default() };
                claim.readings.share = None;
            }
        }
        claims
    }
}

/// Why something is not judged.
fn not_run_words(variants: &[&str]) -> String {
    let names: Vec<String> = variants.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [one] => format!("variant {one} was not run"),
        many => format!("variants {} were not run", words::list(many)),
    }
}

impl Study {
    /// What `--insist` asks for: the claims that do not hold, each in a sentence. A claim whose numbers are only shown, and
    /// not judged, is not among them.
    pub fn not_held(&self, claims: &[study::Claim]) -> Vec<String> {
        let is_judged = |claim: &&study::Claim| {
            let rows = self.rows_of(&claim.id);
            rows.iter().any(|row| !matches!(row.rule, Rule::Never | Rule::Described))
        };
        let sentence = |claim: &study::Claim| {
            let condition = match claim.condition.as_str() {
                "" => String::new(),
                condition => format!(" ({condition})"),
            };
            format!(
                "claim {} {}{condition}: {}",
                claim.id,
                claim.verdict.name(),
                claim.result.trim_end_matches('.')
            )
        };
        let open = claims.iter().filter(|claim| claim.verdict != Verdict::Holds);
        open.filter(is_judged).map(sentence).collect()
    }
}
