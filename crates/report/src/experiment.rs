//! Runs in, summary out.
//!
//! Tables are let go as soon as their numbers are taken. Completion times of single flows are
//! held only until every variant of their replication is there, because pairs need both sides.

mod caveats;

use std::collections::BTreeMap;

use crate::entries::Window;
use crate::links::Direction;
use crate::manifest::{Ending, MECHANISMS, Manifest, Record, Variant, combined};
use crate::metrics::{
    ClassMetrics, Distribution, FlowTimes, PairMetrics, Quantile, RunMetrics, SizeClasses,
};
use crate::pings::{Part, PingShapes};
use crate::recording::{self, Fabric, Recording};
use crate::sampling::Sampled;
use crate::shapes::{Depths, InUse, Point, Shapes, SizeBin, Sketch};
use crate::statistics::{Scale, least_values};
use crate::study::Claim;
use crate::summary::{
    Basis, ClassName, ClassSummary, Counter, Interval, Measure, Paired, Summary, VariantSummary,
};
use crate::why::Digest;
use crate::{INTERRUPTED, Run, answer, deadlock, host_ports, jobs, sampling};

/// The runs of an experiment as they come in, in any order.
#[derive(Clone, Debug)]
pub struct Experiment {
    manifest: Manifest,
    classes: SizeClasses,
    /// By variant and replication.
    runs: BTreeMap<(usize, u32), RunMetrics>,
    /// By variant and replication; against the first variant.
    pairs: BTreeMap<(usize, u32), Vec<PairMetrics>>,
    /// By replication and variant: flows that still wait for their other side.
    waiting: BTreeMap<u32, BTreeMap<usize, FlowTimes>>,
    /// By variant and replication.
    shapes: BTreeMap<(usize, u32), Shapes>,
    /// By variant and replication: the deadlocks that it ended in, in words.
    deadlocks: BTreeMap<(usize, u32), Vec<String>>,
    /// Likewise the jobs that were not finished when it ended.
    unfinished_jobs: BTreeMap<(usize, u32), Vec<String>>,
    /// Likewise the jobs whose rounds were sampled.
    sampled: BTreeMap<(usize, u32), Sampled>,
    /// What is claimed of them, and what came of it.
    claims: Vec<Claim>,
    /// Whether a network that was recorded is too large to be drawn.
    too_large_to_draw: bool,
    /// What each table is, from those that were seen.
    dictionary: crate::dictionary::Dictionary,
}

impl Experiment {
    /// An experiment without runs yet. The first variant of the manifest is the baseline.
    pub fn new(manifest: &Manifest) -> Self {
        Self {
            manifest: manifest.clone(),
            classes: SizeClasses::new(manifest.size_classes.clone()),
            runs: BTreeMap::new(),
            pairs: BTreeMap::new(),
            waiting: BTreeMap::new(),
            shapes: BTreeMap::new(),
            deadlocks: BTreeMap::new(),
            unfinished_jobs: BTreeMap::new(),
            sampled: BTreeMap::new(),
            claims: Vec::new(),
            too_large_to_draw: false,
            dictionary: crate::dictionary::Dictionary::default(),
        }
    }

    /// Takes the numbers of a run. Panics if its variant is not in the manifest.
    pub fn add_run(&mut self, run: &Run) {
        self.manifest.record(run, Vec::new());
        self.dictionary.learn(run.tables);
        let variant = self.manifest.place(run.variant);
        let key = (variant, run.replication);
        self.deadlocks.insert(key, deadlock::sentences(run.tables, run.simulated_ns));
        self.unfinished_jobs.insert(key, jobs::sentences(run.tables, run.simulated_ns));
        self.sampled.extend(sampling::sampled(run.tables).map(|of| (key, of)));
        if run.stop == INTERRUPTED {
            return;
        }
        let flows = FlowTimes::of(run.tables, run.simulated_ns);
        let metrics = RunMetrics::of(run.tables, &flows, &self.classes);
        self.runs.insert(key, metrics);
        let workloads = &self.manifest.workloads;
        let mut shapes = Shapes::of(run.tables, &flows, &self.classes, workloads, run.simulated_ns);
        self.keep_one_timeline(variant, run.replication, &mut shapes);
        self.too_large_to_draw |= recording::too_large(run.tables);
        self.shapes.insert(key, shapes);
        self.pair(variant, run.replication, flows);
    }

    /// Takes the verdicts on what is claimed of the runs.
    pub fn set_claims(&mut self, claims: Vec<Claim>) {
        self.claims = claims;
    }

    /// Only the first replication of each variant keeps its time series and its links. Of those that
    /// are there it is the first that has them.
    fn keep_one_timeline(&mut self, variant: usize, replication: u32, shapes: &mut Shapes) {
        let mut held = self.shapes.range_mut((variant, 0)..=(variant, u32::MAX));
        match held.next() {
            Some(((_, first), _)) if *first < replication => shapes.drop_timeline(),
            Some((_, first)) => first.drop_timeline(),
            None => {}
        }
    }

    fn pair(&mut self, variant: usize, replication: u32, flows: FlowTimes) {
        let waiting = self.waiting.entry(replication).or_default();
        waiting.insert(variant, flows);
        let Some(baseline) = waiting.remove(&0) else { return };
        for (variant, flows) in std::mem::take(waiting) {
            let pair = PairMetrics::by_class(&baseline, &flows, &self.classes);
            self.pairs.insert((variant, replication), pair);
        }
        let all = (1..self.manifest.variants.len())
            .all(|variant| self.pairs.contains_key(&(variant, replication)));
        if all {
            self.waiting.remove(&replication);
        } else {
            waiting.insert(0, baseline);
        }
    }

    /// The manifest with the runs so far.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The size classes.
    pub fn classes(&self) -> &SizeClasses {
        &self.classes
    }

    /// The data dictionary of the tables seen, as Markdown.
    pub fn dictionary(&self) -> String {
        self.dictionary.markdown(&self.manifest)
    }

    /// The completion times of a class in a variant, all replications as one.
    pub fn fct(&self, variant: usize, class: usize) -> Sketch {
        Sketch::pooled(self.shapes_of(variant).map(|shapes| &shapes.fct[class]))
    }

    /// The slowdowns of a variant by flow size, rising: the mean size of a bin of a factor of two, and its
    /// flows, all replications as one.
    pub fn slowdowns(&self, variant: usize) -> Vec<(f64, Sketch)> {
        let mut bins: BTreeMap<u32, Vec<&SizeBin>> = BTreeMap::new();
        for (power, bin) in self.shapes_of(variant).flat_map(|shapes| &shapes.slowdowns) {
            bins.entry(*power).or_default().push(bin);
        }
        bins.into_values().map(|bins| SizeBin::pooled(bins.into_iter())).collect()
    }

    /// How long packets of a variant waited, by queue, at the port at which they waited most in all, all
    /// replications as one; empty where departures were not recorded.
    pub fn waits(&self, variant: usize) -> BTreeMap<u64, Depths> {
        let waits = self.shapes_of(variant).flat_map(|shapes| &shapes.waits);
        added(waits.map(|(queue, times)| (*queue, times)))
    }

    /// Queueing delay over time in a variant, by queue, at the port at which packets waited most in all, from its first
    /// replication; empty where departures were not recorded.
    pub fn delays(&self, variant: usize) -> Option<&BTreeMap<u64, Vec<(f64, f64)>>> {
        self.shapes_of(variant).map(|shapes| &shapes.delays).find(|series| !series.is_empty())
    }

    /// The time series of a variant by queue, from its first replication.
    pub fn timeline(&self, variant: usize) -> Option<&BTreeMap<u64, Vec<Point>>> {
        self.shapes_of(variant).map(|shapes| &shapes.timeline).find(|series| !series.is_empty())
    }

    /// The time series of the memory in use in a variant, from its first replication.
    pub fn memory(&self, variant: usize) -> Option<&Vec<InUse>> {
        self.shapes_of(variant).map(|shapes| &shapes.memory).find(|series| !series.is_empty())
    }

    /// How busy and how paused the links of a variant were, in its first replication; none of a network
    /// with fewer than two switches.
    pub fn links(&self, variant: usize) -> Option<&[Direction]> {
        let mut links = self.shapes_of(variant).map(|shapes| shapes.links.as_slice());
        links.find(|links| !links.is_empty())
    }

    /// The fabric over time in a variant, in its first replication; `None` without a record, and of a
    /// network that is too large to be drawn.
    pub fn recording(&self, variant: usize) -> Option<&Recording> {
        self.shapes_of(variant).find_map(|shapes| shapes.recording.as_ref())
    }

    /// What the flows of a variant spent their time on, in the first replication that was explained.
    pub fn why(&self, variant: usize) -> Option<&Digest> {
        self.shapes_of(variant).find_map(|shapes| shapes.why.as_ref())
    }

    /// The ports of the deadlocks that a variant ends in, in its first replication that does.
    pub fn deadlock(&self, variant: usize) -> &[deadlock::Member] {
        let mut all = self.shapes_of(variant).map(|shapes| shapes.deadlock.as_slice());
        all.find(|members| !members.is_empty()).unwrap_or_default()
    }

    /// The ranks of the jobs of a variant that finished last, in its first replication.
    pub fn ranks(&self, variant: usize) -> &[jobs::Rank] {
        let mut all = self.shapes_of(variant).map(|shapes| shapes.ranks.as_slice());
        all.next().unwrap_or_default()
    }

    /// What the ports of hosts with several carried in a variant, in its first replication.
    pub fn host_ports(&self, variant: usize) -> &[host_ports::Ports] {
        let mut all = self.shapes_of(variant).map(|shapes| shapes.host_ports.as_slice());
        all.next().unwrap_or_default()
    }

    /// Whether runs were recorded whose network is too large to be drawn.
    pub fn too_large_to_draw(&self) -> bool {
        self.too_large_to_draw
    }

    /// The rates over time of the flows of a variant that have no size, by flow, from its first
    /// replication; empty if they were not sampled or there are many.
    pub fn rates(&self, variant: usize) -> BTreeMap<u64, Vec<(f64, f64)>> {
        let mut rates = self.shapes_of(variant).map(|shapes| &shapes.rates);
        rates.find(|rates| !rates.is_empty()).cloned().unwrap_or_default()
    }

    /// The network of the first run that has one; `None` of a network that is too large to be drawn.
    pub fn fabric(&self) -> Option<&Fabric> {
        self.shapes.values().find_map(|shapes| shapes.fabric.as_ref())
    }

    /// The workload that a flow with rates over time belongs to.
    pub fn workload_of(&self, variant: usize, flow: u64) -> Option<u64> {
        self.shapes_of(variant).find_map(|shapes| shapes.workloads.get(&flow)).copied()
    }

    /// Whether a flow with rates over time is the only such flow of its workload.
    pub fn is_alone(&self, flow: u64) -> bool {
        let mut shapes = self.shapes.values();
        let of = shapes
            .find_map(|shapes| shapes.workloads.get_key_value(&flow).map(|of| (of.1, shapes)));
        of.is_some_and(|(workload, shapes)| {
            shapes.workloads.values().filter(|other| *other == workload).count() == 1
        })
    }

    /// The database entries of a variant over time, by workload, from its first replication; empty
    /// without such entries.
    pub fn responses(&self, variant: usize) -> BTreeMap<u64, Vec<Window>> {
        let mut all = self.shapes_of(variant).map(|shapes| &shapes.responses);
        all.find(|responses| !responses.is_empty()).cloned().unwrap_or_default()
    }

    /// The times of the pings of a variant by workload and part, all replications as one: under load, or before it.
    pub fn pings(&self, variant: usize, loaded: bool) -> BTreeMap<(u64, Part), Sketch> {
        let mut all: BTreeMap<(u64, Part), Vec<&Sketch>> = BTreeMap::new();
        for shapes in self.shapes_of(variant) {
            let of = if loaded { &shapes.pings.loaded } else { &shapes.pings.idle };
            of.iter().for_each(|(key, sketch)| all.entry(*key).or_default().push(sketch));
        }
        all.into_iter().map(|(key, of)| (key, Sketch::pooled(of.into_iter()))).collect()
    }

    /// The page load times of a variant by workload, all replications as one.
    pub fn pages(&self, variant: usize) -> BTreeMap<u64, Sketch> {
        let mut all: BTreeMap<u64, Vec<&Sketch>> = BTreeMap::new();
        let pages = self.shapes_of(variant).flat_map(|shapes| &shapes.pages);
        pages.for_each(|(workload, sketch)| all.entry(*workload).or_default().push(sketch));
        all.into_iter().map(|(workload, of)| (workload, Sketch::pooled(of.into_iter()))).collect()
    }

    /// What pings measured over time in a variant, in its first replication; `None` without pings.
    pub fn pings_over_time(&self, variant: usize) -> Option<&PingShapes> {
        let mut all = self.shapes_of(variant).map(|shapes| &shapes.pings);
        all.find(|pings| !pings.over_time.is_empty())
    }

    /// The distribution of a variant's sampled backlogs by queue, all replications as one.
    pub fn depths(&self, variant: usize) -> BTreeMap<u64, Depths> {
        let depths = self.shapes_of(variant).flat_map(|shapes| &shapes.depths);
        added(depths.map(|(queue, depths)| (*queue, depths)))
    }

    /// The distribution of what data takes of the memory of a `port` and of a `switch` in a variant,
    /// all replications as one.
    pub fn occupancy(&self, variant: usize) -> BTreeMap<String, Depths> {
        let occupancy = self.shapes_of(variant).flat_map(|shapes| &shapes.occupancy);
        added(occupancy.map(|(scope, depths)| (scope.clone(), depths)))
    }

    fn shapes_of(&self, variant: usize) -> impl Iterator<Item = &Shapes> {
        self.shapes.range((variant, 0)..=(variant, u32::MAX)).map(|(_, shapes)| shapes)
    }

    /// The numbers over all runs so far.
    pub fn summary(&self, ending: &Ending) -> Summary {
        let mut manifest = self.manifest.clone();
        manifest.end(ending);
        let names = manifest.variants.iter().enumerate();
        let mut summary = Summary {
            schema: manifest.schema,
            scenario: manifest.scenario.name.clone(),
            question: manifest.scenario.question.clone(),
            answer: Vec::new(),
            fingerprint: combined(&manifest.runs),
            hops: manifest.hops,
            hops_per_second: manifest.hops_per_second,
            peak_rss_bytes: ending.peak_rss_bytes,
            wall_s: ending.wall_s,
            order: manifest.variants.iter().map(|variant| variant.name.clone()).collect(),
            workloads: manifest.workloads.clone(),
            classes: (0..self.classes.count())
                .map(|class| ClassName {
                    key: self.classes.key(class),
                    label: self.classes.label(class),
                })
                .collect(),
            caveats: Vec::new(),
            deadlocks: self.of_first(&self.deadlocks),
            unfinished_jobs: self.of_first(&self.unfinished_jobs),
            claims: self.claims.clone(),
            violations: manifest.violations(),
            variants: names.map(|(at, variant)| (variant.name.clone(), self.variant(at))).collect(),
        };
        self.drop_absent(&mut summary);
        summary.answer = answer::sentences(&summary);
        summary.caveats = self.caveats(&summary);
        summary
    }

    /// Leaves out the counters of mechanisms that no variant has, which are 0.
    fn drop_absent(&self, summary: &mut Summary) {
        let absent = |name: &str| {
            let lacks = |of: &Variant| {
                of.mechanisms.as_ref().is_some_and(|has| !has.iter().any(|has| has == name))
            };
            self.manifest.variants.iter().all(lacks)
        };
        let gone = MECHANISMS.iter().filter(|(name, _)| absent(name));
        let gone: Vec<&str> = gone.flat_map(|(_, counters)| counters.iter().copied()).collect();
        for variant in summary.variants.values_mut() {
            variant.counters.retain(|name, counter| {
                let zero = counter.measure.estimate.mean.is_none_or(|mean| mean == 0.0);
                !(zero && gone.iter().any(|begin| name.starts_with(begin)))
            });
        }
    }

    fn variant(&self, variant: usize) -> VariantSummary {
        let classes = 0..self.classes.count();
        VariantSummary {
            summary: self.manifest.variants[variant].summary.clone(),
            same_as: self.same_as(variant),
            interval: self.interval(variant),
            replications: self.runs_of(variant).count() as u64,
            fct: classes
                .map(|class| (self.classes.key(class), self.class(variant, class)))
                .collect(),
            counters: self.counters(variant),
        }
    }

    fn runs_of(&self, variant: usize) -> impl Iterator<Item = (u32, &RunMetrics)> {
        self.runs.range((variant, 0)..=(variant, u32::MAX)).map(|((_, at), run)| (*at, run))
    }

    fn class(&self, variant: usize, class: usize) -> ClassSummary {
        let runs: Vec<&ClassMetrics> =
            self.runs_of(variant).map(|(_, run)| &run.classes[class]).collect();
        let pairs: Vec<&PairMetrics> = self
            .pairs
            .range((variant, 0)..=(variant, u32::MAX))
            .map(|(_, pair)| &pair[class])
            .collect();
        let measure = |of: fn(&ClassMetrics) -> &Distribution, quantile: Option<Quantile>, unit| {
            let value = |run: &ClassMetrics| match quantile {
                Some(quantile) => quantile.of(of(run)),
                None => of(run).mean,
            };
            let sides = || pairs.iter().flat_map(|pair| [&pair.from, &pair.to]);
            let basis = |runs: &[&ClassMetrics]| {
                // Of flows of which none completed the mean, too, is only known to be larger.
                let open = |run: &&ClassMetrics| run.fct.count > 0 && run.finished() == 0;
                let bound = |run: &&ClassMetrics| match quantile {
                    Some(quantile) => of(run).is_bound(quantile),
                    None => open(run),
                };
                Basis {
                    bound: runs.iter().any(bound),
                    needed: quantile.map_or(0, |quantile| least_values(quantile.share())),
                    least: runs.iter().map(|run| of(run).count).min().unwrap_or(0),
                }
            };
            let basis = (basis(&runs), basis(&sides().collect::<Vec<_>>()));
            Measure::of(
                runs.iter().map(|run| value(run)),
                pairs.iter().map(|pair| (value(&pair.from), value(&pair.to))),
                Scale::of_unit(unit),
                basis,
            )
        };
        let fct = |quantile| measure(|class| &class.fct, quantile, "ns");
        let slowdown = |quantile| measure(|class| &class.slowdown, quantile, "x");
        ClassSummary {
            finished: runs.iter().map(|run| run.finished()).sum(),
            unfinished: runs.iter().map(|run| run.unfinished).sum(),
            paired: (!pairs.is_empty()).then(|| Paired {
                flows: pairs.iter().map(|pair| pair.flows).sum(),
                of: pairs.iter().map(|pair| pair.of).sum(),
            }),
            mean_ns: fct(None),
            p50_ns: fct(Some(Quantile::P50)),
            p95_ns: fct(Some(Quantile::P95)),
            p99_ns: fct(Some(Quantile::P99)),
            p999_ns: fct(Some(Quantile::P999)),
            mean_slowdown: slowdown(None),
            p99_slowdown: slowdown(Some(Quantile::P99)),
        }
    }

    /// The measured interval of a variant.
    fn interval(&self, variant: usize) -> Option<Interval> {
        let value = |run: &RunMetrics, name: &str| run.scalars.get(name).map(|scalar| scalar.value);
        let ends = self.runs_of(variant).filter_map(|(_, run)| {
            let from = value(run, "warmup_ns")?;
            Some((from, from + value(run, "measured_ns")?))
        });
        let end = self.manifest.variants[variant].interval_end;
        let one = |(from_ns, until): (f64, f64)| Interval {
            from_ns,
            first_end_ns: until,
            last_end_ns: until,
            end,
        };
        ends.map(one).reduce(|a, b| Interval {
            first_end_ns: a.first_end_ns.min(b.first_end_ns),
            last_end_ns: a.last_end_ns.max(b.last_end_ns),
            ..a
        })
    }

    /// The first variant before this one whose runs are the same to the bit.
    fn same_as(&self, variant: usize) -> Option<String> {
        let of = |name: &str| -> BTreeMap<u32, &str> {
            let counts = |run: &&Record| run.variant == name && run.stop != INTERRUPTED;
            let runs = self.manifest.runs.iter().filter(counts);
            runs.map(|run| (run.replication, run.fingerprint.as_str())).collect()
        };
        let names: Vec<&str> = self.manifest.variants.iter().map(|of| of.name.as_str()).collect();
        let mine = of(names[variant]);
        let same = |other: &&&str| !mine.is_empty() && of(other) == mine;
        names[..variant].iter().find(same).map(|name| (*name).to_string())
    }

    fn counters(&self, variant: usize) -> BTreeMap<String, Counter> {
        // A reason for drops that a run does not name dropped nothing in it, even if only another
        // variant names it. Any other number that is missing is missing: a queue that this variant
        // does not have has no backlog.
        let names = self.runs.iter().flat_map(|((of, _), run)| {
            let known = move |name: &&String| *of == variant || name.starts_with("dropped_packets");
            run.scalars.iter().filter(move |(name, _)| known(name))
        });
        let sample: BTreeMap<&String, _> = names.collect();
        let value = |run: &RunMetrics, name: &str| match run.scalars.get(name) {
            Some(scalar) => scalar.value,
            None if name.starts_with("dropped_packets") => 0.0,
            None => f64::NAN,
        };
        let mut counters = BTreeMap::new();
        if self.runs_of(variant).next().is_none() {
            return counters;
        }
        for (name, scalar) in sample {
            let pair = |(at, run): (u32, &RunMetrics)| {
                let baseline = self.runs.get(&(0, at)).filter(|_| variant > 0)?;
                Some((value(baseline, name), value(run, name)))
            };
            let mut measure = Measure::of(
                self.runs_of(variant).map(|(_, run)| value(run, name)),
                self.runs_of(variant).filter_map(pair),
                scalar.scale(),
                <(Basis, Basis)>::default(),
            );
            // One run has an interval of its own only if it is an estimate.
            let alone = self.runs_of(variant).count() == 1;
            let only = self.runs_of(variant).next().and_then(|(_, run)| run.scalars.get(name));
            if let Some(interval) = only.filter(|_| alone).and_then(|scalar| scalar.interval) {
                measure.estimate = measure.estimate.of_one_run(interval);
            }
            counters.insert(
                name.clone(),
                Counter { unit: scalar.unit.to_string(), meaning: scalar.meaning.clone(), measure },
            );
        }
        counters
    }

    /// Of every variant with such sentences those of its first replication that has any, and how many
    /// have.
    fn of_first(&self, sentences: &BTreeMap<(usize, u32), Vec<String>>) -> Vec<String> {
        let mut told = Vec::new();
        for (at, variant) in self.manifest.variants.iter().enumerate() {
            let runs = || sentences.range((at, 0)..=(at, u32::MAX));
            let with = runs().filter(|(_, found)| !found.is_empty()).count();
            let Some(((_, replication), found)) = runs().find(|(_, found)| !found.is_empty())
            else {
                continue;
            };
            let from = match runs().count() {
                1 => variant.name.clone(),
                all => format!(
                    "{}, in {with} of {all} replications, for example {replication}",
                    variant.name
                ),
            };
            told.extend(found.iter().map(|sentence| format!("{from}: {sentence}")));
        }
        told
    }
}

/// Distributions by a key, those of one key as one.
fn added<'a, K: Ord>(all: impl Iterator<Item = (K, &'a Depths)>) -> BTreeMap<K, Depths> {
    let mut sum: BTreeMap<K, Depths> = BTreeMap::new();
    for (key, depths) in all {
        let of_key = sum.entry(key).or_default();
        depths.iter().for_each(|(edge, many)| *of_key.entry(*edge).or_default() += many);
    }
    sum
}
