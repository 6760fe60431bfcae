//! The readers of floodway, each as a function of bytes that must neither panic nor take long,
//! whatever the bytes are. What a reader accepts goes on to `check`, and what an import makes has to
//! be valid.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use floodway_lab::live::Log;
use floodway_lab::{Existing, How, What, execute};
use floodway_model::Table;
use floodway_report::format::{self, Sheet};
use floodway_report::manifest::Record;
use floodway_report::sample::{SAMPLE, Sample, Sampled};
use floodway_report::{Directory, Manifest, Store, terminal};
use floodway_scenario::device;
use floodway_scenario::fct;
use floodway_scenario::headroom::lookup;
use floodway_scenario::headroom::reading::Explanation;
use floodway_scenario::sweep::{Arguments, Spec, Sweep};
use floodway_scenario::{Error, Overrides, Scenario};

use crate::{captures, chakra, goal, imports};

/// A reader that is attacked.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, also that of its folder in the corpus.
    pub name: &'static str,
    /// Reads bytes.
    pub run: fn(&[u8]),
    /// Files to begin with, beside those of the corpus.
    seeds: fn() -> Vec<Vec<u8>>,
}

/// All readers.
pub const TARGETS: &[Target] = &[
    Target { name: "scenario", run: scenario, seeds: repository },
    Target { name: "sizes_csv", run: sizes_csv, seeds: Vec::new },
    Target { name: "flows_csv", run: flows_csv, seeds: Vec::new },
    Target { name: "flows_parquet", run: flows_parquet, seeds: flows_as_parquet },
    Target { name: "flows_hpcc", run: flows_hpcc, seeds: Vec::new },
    Target { name: "flows_htsim", run: flows_htsim, seeds: Vec::new },
    Target { name: "chakra", run: chakra::traces, seeds: chakra::seeds },
    Target { name: "chakra_groups", run: chakra::groups, seeds: Vec::new },
    Target { name: "goal", run: goal::job, seeds: goal::binary },
    Target { name: "network_hpcc", run: network_hpcc, seeds: Vec::new },
    Target { name: "network_htsim", run: network_htsim, seeds: Vec::new },
    Target { name: "network_infragraph", run: network_infragraph, seeds: Vec::new },
    Target { name: "import_hpcc", run: imports::import_hpcc, seeds: Vec::new },
    Target { name: "import_pcap", run: captures::import_pcap, seeds: captures::captures },
    Target { name: "import_sonic", run: imports::import_sonic, seeds: Vec::new },
    Target { name: "minigraph", run: imports::minigraph, seeds: Vec::new },
    Target { name: "lldp_json", run: imports::lldp_json, seeds: Vec::new },
    Target { name: "lldp_table", run: imports::lldp_table, seeds: Vec::new },
    Target { name: "frames", run: captures::frames, seeds: captures::one_of_each },
    Target { name: "fct_hpcc", run: fct_hpcc, seeds: Vec::new },
    Target { name: "device_profile", run: device_profile, seeds: profiles },
    Target { name: "headroom_table", run: headroom_table, seeds: Vec::new },
    Target {
        name: "manifest",
        run: manifest,
        seeds: || results(|sound| sound.file("manifest.json")),
    },
    Target { name: "summary", run: summary, seeds: || results(|sound| sound.file("summary.json")) },
    Target { name: "sample", run: sample, seeds: || vec![published().into_bytes()] },
    Target { name: "live_log", run: live_log, seeds: Vec::new },
    Target { name: "table", run: table, seeds: || results(Sound::tables) },
    Target { name: "stored_run", run: stored_run, seeds: || results(|sound| sound.file(CARD)) },
];

impl Target {
    /// The reader of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Sound files from which broken ones are made.
    pub fn corpus(&self) -> Vec<Vec<u8>> {
        let folder = corpus_folder().join(self.name);
        let own = sorted(&folder).into_iter().filter_map(|path| fs::read(path).ok());
        own.chain((self.seeds)()).collect()
    }
}

/// Where the corpus is.
pub fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The files of a folder in order of their names.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The scenarios of the repository, sound and broken, where it is at hand.
fn repository() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("scenarios"), root.join("crates/scenario/tests/bad")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in sorted(&folder) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "toml" => files.extend(fs::read(path).ok()),
                _ => {}
            }
        }
    }
    files
}

/// Flows as the reader of Parquet takes them.
fn flows_as_parquet() -> Vec<Vec<u8>> {
    let table = Table::new("flows", "")
        .u64("src", "", vec![0, 1, 7])
        .u64("dst", "", vec![1, 0, 2])
        .f64("bytes", "", vec![1000.0, f64::NAN, 70_000.0])
        .f64("start_ns", "", vec![0.0, 100.5, 2000.0]);
    let parquet = format::named("parquet").expect("it is one of the formats");
    let mut bytes = Vec::new();
    (parquet.write)(&Sheet { run: None, table: &table }, &mut bytes).expect("it is written");
    vec![bytes]
}

/// Where temporary files of a process go: into memory where that is possible, because results are
/// synchronized to the disk, which is slow.
pub fn temporary(process: u32) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("floodway-attack-{process}"))
}

/// A folder of this thread, in which readers find their files.
pub fn scratch() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    let folder = temporary(std::process::id()).join(thread);
    fs::create_dir_all(&folder).expect("the folder for temporary files takes folders");
    folder
}

/// Writes a temporary file.
pub fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("the folder for temporary files takes files");
}

/// What begins a line that is for the reader and not for the file.
const DIRECTIVE: &str = "#: ";

/// A scenario file. Lines that begin with `#: ` say more: `#: set PATH=VALUE`, `#: vary PATH=VALUES`
/// and `#: quick` stand for the options of the command line, and after `#: file NAME` another file
/// begins, which the first may extend or name.
pub fn scenario(bytes: &[u8]) {
    let folder = scratch().join("scenario");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder for temporary files takes folders");
    let mut overrides = Overrides::default();
    let mut vary = Vec::new();
    let mut files = vec![("scenario.toml".to_owned(), Vec::new())];
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let text =
            str::from_utf8(line).ok().and_then(|line| line.trim_end().strip_prefix(DIRECTIVE));
        match text.and_then(|text| text.split_once(' ').or(Some((text, "")))) {
            Some(("set", setting)) => overrides.set.push(setting.to_owned()),
            Some(("vary", values)) => vary.push(values.to_owned()),
            Some(("quick", _)) => overrides.quick = true,
            Some(("file", name)) => files.push((name.to_owned(), Vec::new())),
            _ => files.last_mut().expect("there is one").1.extend_from_slice(line),
        }
    }
    for (name, bytes) in &files {
        // Nothing outside of the folder, whatever the bytes say.
        if let Some(name) = Path::new(name).file_name() {
            let _ = fs::write(folder.join(name), bytes);
        }
    }
    let path = folder.join("scenario.toml");
    let load = |overrides: &Overrides| Scenario::load(&path, overrides);
    let base = load(&overrides);
    checked(&base);
    let Ok(base) = base else { return };
    let spec: Spec = base.sweep.clone().unwrap_or_default();
    // As many points as there are settings: each is a scenario that is checked.
    if spec.vary.len() + vary.len() <= 2 {
        let arguments = Arguments { vary: &vary, ..Arguments::default() };
        let few = |overrides: &Overrides| {
            LOADS.with_borrow_mut(|loads| {
                *loads += 1;
                if *loads > 50 { Err(refusal()) } else { load(overrides) }
            })
        };
        LOADS.set(0);
        if let Err(error) = Sweep::new(&spec, arguments, &overrides, few) {
            explained(&error);
        }
    }
}

thread_local! {
    /// How many points of a sweep were loaded.
    static LOADS: RefCell<u32> = const { RefCell::new(0) };
}

/// An error that stands for "enough".
fn refusal() -> Error {
    Scenario::parse("", "enough", &Overrides::default()).expect_err("an empty file is refused")
}

/// What was read is explained, or has numbers that follow from it and can be built.
pub fn checked(read: &Result<Scenario, Error>) {
    let scenario = match read {
        Ok(scenario) => scenario,
        Err(error) => return explained(error),
    };
    scenario.warnings().iter().for_each(|warning| assert!(!warning.plain().is_empty()));
    let derived = scenario.derived();
    assert!(!derived.to_string().is_empty());
    for (variant, numbers) in scenario.variants().iter().zip(&derived.variants) {
        let flows = numbers.expected_flows + numbers.persistent_flows as f64;
        if flows < 20_000.0 && numbers.hosts < 2_000 && numbers.memory.0 < 500_000_000 {
            scenario.build(variant, 0);
        }
    }
}

/// What is wrong has a cause and a remedy.
pub fn explained(error: &Error) {
    let problems = error.problems();
    assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.help.is_empty()));
    assert!(!error.plain().is_empty());
}

/// A network of eight hosts whose flows, sizes or links come from a file.
pub(crate) const STAR: &str = "[topology.star]\nhosts = 8\n";

/// Checks a scenario with such a file beside it, and these workloads.
pub(crate) fn beside(file: &str, bytes: &[u8], more: &str) {
    let folder = scratch();
    write(&folder.join(file), bytes);
    let text = format!("name = \"s\"\narrivals = \"1ms\"\nlimit = \"2ms\"\n{more}");
    let name = folder.join("scenario.toml").display().to_string();
    checked(&Scenario::parse(&text, &name, &Overrides::default()));
}

fn flows(file: &str, bytes: &[u8]) {
    let network = STAR;
    beside(file, bytes, &format!("{network}[[workload]]\n[workload.file]\npath = \"{file}\"\n"));
}

/// A table of flow sizes.
pub fn sizes_csv(bytes: &[u8]) {
    let workload = "[[workload]]\n[workload.poisson]\nfrom = \"0-3\"\nto = \"4-7\"\n\
                    flows_per_second = 100000\nsizes = \"sizes.csv\"\n";
    beside("sizes.csv", bytes, &format!("{STAR}{workload}"));
}

/// Flows as CSV.
pub fn flows_csv(bytes: &[u8]) {
    flows("flows.csv", bytes);
}

/// Flows as Parquet.
pub fn flows_parquet(bytes: &[u8]) {
    flows("flows.parquet", bytes);
}

/// Flows of the HPCC simulator.
pub fn flows_hpcc(bytes: &[u8]) {
    flows("flows.txt", bytes);
}

/// Flows of htsim, with triggers.
pub fn flows_htsim(bytes: &[u8]) {
    flows("flows.cm", bytes);
}

fn network(file: &str, bytes: &[u8]) {
    let workload = "[[workload]]\n[workload.permutation]\nbytes = \"1KB\"\n";
    beside(file, bytes, &format!("[topology.file]\npath = \"{file}\"\n{workload}"));
}

/// A network of the HPCC simulator.
pub fn network_hpcc(bytes: &[u8]) {
    network("network.txt", bytes);
}

/// A network of htsim.
pub fn network_htsim(bytes: &[u8]) {
    network("network.topo", bytes);
}

/// An infrastructure of InfraGraph.
pub fn network_infragraph(bytes: &[u8]) {
    network("network.yaml", bytes);
}

/// A completion file of the HPCC simulator: what is read is written again, and is equal to itself.
pub fn fct_hpcc(bytes: &[u8]) {
    let path = scratch().join("fct.txt");
    write(&path, bytes);
    match fct::load(&path) {
        Ok(read) => {
            write(&path, fct::text(&read).as_bytes());
            assert_eq!(fct::load(&path).expect("what was written is read"), read);
        }
        Err(error) => explained(&error),
    }
}

/// A headroom table; what is read is explained, too.
pub fn headroom_table(bytes: &[u8]) {
    let path = scratch().join("pg_profile_lookup.ini");
    write(&path, bytes);
    match lookup::Table::read(&path) {
        Ok(table) => {
            let explained = Explanation::of(&table, 9_216);
            assert_eq!(explained.lines.len(), table.entries.len());
        }
        Err(error) => explained(&error),
    }
}

/// The log of a run that was steered. What is read is the same when it is written and read again.
pub fn live_log(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Log::parse(&text) {
        Ok(log) => assert_eq!(Log::parse(&log.text()).expect("what was written is read"), log),
        Err(error) => assert!(error.line > 0 && !error.reason.is_empty()),
    }
}

/// A device profile, below a scenario.
pub fn device_profile(bytes: &[u8]) {
    write(&scratch().join("device.toml"), bytes);
    let file = scratch().join("with_profile.toml");
    let text = "name = \"x\"\nprofile = [\"device.toml\"]\narrivals = \"1us\"\nlimit = \"1ms\"\n\
                [topology.star]\nhosts = 3\n[[workload]]\n[workload.incast]\nsenders = 2\nbytes = \"1KB\"\n";
    match Scenario::parse(text, &file.display().to_string(), &Overrides::default()) {
        Ok(scenario) => {
            let basis = scenario.variants()[0].basis.as_ref().expect("it names a profile");
            assert!(!basis.evidence().is_empty() && !basis.assumptions().is_empty());
        }
        Err(error) => explained(&error),
    }
}

/// The profiles of the program, as files.
fn profiles() -> Vec<Vec<u8>> {
    device::shipped().iter().map(|profile| profile.text().as_bytes().to_vec()).collect()
}

/// A sample of the runs of a study.
fn published() -> String {
    let run = |replication| Sampled {
        experiment: "two-queues".to_owned(),
        variant: "ci".to_owned(),
        replication,
        packet_hops: 1_234_567,
        fingerprint: "0123456789abcdef".to_owned(),
    };
    let sample = Sample {
        study: "ci".to_owned(),
        level: "quick".to_owned(),
        settings: vec!["switch.queue.size=2MB".to_owned()],
        floodway: "0.1.0".to_owned(),
        fingerprint: "fedcba9876543210".to_owned(),
        runs: vec![run(0), run(1)],
    };
    sample.text()
}

/// The sample of published results: what is read is written again, and is equal to itself.
pub fn sample(bytes: &[u8]) {
    let folder = scratch();
    write(&folder.join(SAMPLE), bytes);
    match Sample::load(&folder) {
        Ok(read) => {
            write(&folder.join(SAMPLE), read.text().as_bytes());
            assert_eq!(Sample::load(&folder).expect("what was written is read"), read);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A small experiment whose results are read back.
const EXPERIMENT: &str = "name = \"sound\"\narrivals = \"10us\"\nlimit = \"200us\"\n\
                          sample_interval = \"20us\"\n[topology.star]\nhosts = 3\n\
                          [[workload]]\n[workload.incast]\nsenders = 2\nbytes = \"3KB\"\n";

/// The place of a run's card in the store.
const CARD: &str = "cache/card.json";

/// Results that are sound, made once by this process.
struct Sound {
    scenario: Scenario,
    folder: PathBuf,
    manifest: Manifest,
    /// The run's key in the store.
    key: String,
}

thread_local! {
    static SOUND: Sound = Sound::new();
}

fn results(seeds: fn(&Sound) -> Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    SOUND.with(seeds)
}

impl Sound {
    fn new() -> Self {
        let parsed = Scenario::parse(EXPERIMENT, "sound.toml", &Overrides::default());
        let scenario = parsed.expect("the experiment is valid");
        let folder = scratch().join("sound");
        let _ = fs::remove_dir_all(&folder);
        let store = Store::new(&scratch().join("cache"));
        let run = |path: &Path, existing| {
            execute_into(&scenario, path, existing, |run| store.put(run).expect("it is kept"))
        };
        run(&folder, Existing::Refuse).expect("sound results are kept");
        let manifest = Directory::open(&folder).expect("sound results are read").manifest;
        let key = manifest.runs[0].key.clone();
        Self { scenario, folder, manifest, key }
    }

    /// The folder of the run in the store.
    fn stored(&self) -> PathBuf {
        scratch().join("cache").join(&self.key[..2]).join(&self.key)
    }

    fn file(&self, name: &str) -> Vec<Vec<u8>> {
        let path =
            if name == CARD { self.stored().join("run.json") } else { self.folder.join(name) };
        vec![fs::read(path).expect("sound results are there")]
    }

    fn record(&self) -> &Record {
        &self.manifest.runs[0]
    }

    /// The tables of its run.
    fn tables(&self) -> Vec<Vec<u8>> {
        let names = ["flows", "queues", "counters"];
        let folder = self.folder.join(&self.record().folder);
        names
            .iter()
            .filter_map(|name| fs::read(folder.join(format!("{name}.parquet"))).ok())
            .collect()
    }

    /// A copy of it, in which something is to be broken.
    fn copy(&self) -> PathBuf {
        let copy = scratch().join("broken");
        let _ = fs::remove_dir_all(&copy);
        copy_folder(&self.folder, &copy);
        copy
    }

    /// Looks at results and goes on with them: both may be refused.
    fn read(&self, folder: &Path) {
        if let Ok(results) = Directory::open(folder) {
            for run in &results.manifest.runs {
                for table in &run.tables {
                    let _ = results.table(run, &table.name);
                }
            }
            if let Some(summary) = &results.summary {
                assert!(summary.json().is_object());
                terminal::table(summary, terminal::Style::default());
            }
        }
        let _ = execute_into(&self.scenario, folder, Existing::Resume, |_| {});
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder for temporary files takes folders");
    for path in sorted(from) {
        let name = path.file_name().expect("it has a name");
        if path.is_dir() {
            copy_folder(&path, &to.join(name))
        } else {
            fs::copy(&path, to.join(name)).expect("the folder for temporary files takes files");
        }
    }
}

fn execute_into(
    scenario: &Scenario,
    path: &Path,
    existing: Existing,
    take: impl FnMut(&floodway_report::Run),
) -> Result<floodway_lab::Done, floodway_report::directory::Error> {
    let stop = AtomicBool::new(false);
    let formats = ["parquet".to_owned()];
    let how = How {
        threads: 1,
        stop: &stop,
        existing,
        formats: &formats,
        trace: None,
        capture: None,
        kernels: None,
        ranks: None,
        command: &[],
        audit: true,
    };
    let variants: Vec<_> = scenario.variants().iter().collect();
    let done = execute(&What::new(scenario), &variants, path, &how, &mut (), take);
    assert!(done.is_err() || !stop.load(Ordering::Relaxed));
    done
}

/// The manifest of a results directory.
pub fn manifest(bytes: &[u8]) {
    SOUND.with(|sound| {
        let folder = sound.copy();
        write(&folder.join("manifest.json"), bytes);
        sound.read(&folder);
    });
}

/// The summary of a results directory.
pub fn summary(bytes: &[u8]) {
    SOUND.with(|sound| {
        let folder = sound.copy();
        write(&folder.join("summary.json"), bytes);
        sound.read(&folder);
    });
}

/// A table of a run, with a checksum that fits, so that it is read.
pub fn table(bytes: &[u8]) {
    SOUND.with(|sound| {
        let folder = sound.copy();
        let mut manifest = sound.manifest.clone();
        let run = &mut manifest.runs[0];
        let name = "flows";
        write(&folder.join(&run.folder).join(format!("{name}.parquet")), bytes);
        let table = run.tables.iter_mut().find(|table| table.name == name);
        table.expect("there are flows").checksum = Some(format!("{:016x}", fnv(bytes)));
        let text = serde_json::to_vec(&manifest).expect("a manifest can be written");
        write(&folder.join("manifest.json"), &text);
        sound.read(&folder);
    });
}

/// The card of a run in the store.
pub fn stored_run(bytes: &[u8]) {
    SOUND.with(|sound| {
        let card = sound.stored().join("run.json");
        let whole = fs::read(&card).expect("the run is in the store");
        write(&card, bytes);
        let store = Store::new(&scratch().join("cache"));
        let _ = store.find(&sound.key);
        write(&card, &whole);
    });
}

/// FNV-1a of 64 bits, the checksum of tables.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_has_something_to_begin_with() {
        for target in TARGETS {
            let corpus = target.corpus();
            assert!(!corpus.is_empty(), "{}", target.name);
            corpus.iter().take(3).for_each(|bytes| (target.run)(bytes));
        }
    }
}
