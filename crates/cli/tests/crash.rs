//! Commands that are killed, interrupted or out of disk or memory at any moment. What is listed is
//! whole all the time, files of others stay, and in the end results are those of a command that
//! nothing has disturbed.
//!
//! `FLOODWAY_CRASH_ROUNDS` says how often it is tried, 1 if it is not given, and
//! `FLOODWAY_CRASH_SEED` at which moments.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::common;
use crate::common::results::{assert_same, files_below, listed};
use crate::common::{Said, floodway, manifest, place, said, scenarios, send, word};
use floodway_model::random::Stream;
use floodway_report::{Directory, INTERRUPTED, Status, Store};

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("it is a number"))
}

fn rounds() -> u64 {
    number("FLOODWAY_CRASH_ROUNDS", 1)
}

/// Random numbers for a test.
fn random(name: &str) -> Stream {
    Stream::named(number("FLOODWAY_CRASH_SEED", 1), name)
}

/// What happens to a command.
#[derive(Clone, Copy, Debug)]
enum Blow {
    /// A signal at a random time.
    Signal(&'static str, Duration),
    /// No file may be larger, in units of 512 or 1024 bytes, by the shell; the process is killed.
    FileSizeKilled(u64),
    /// The same, but writing fails.
    FileSize(u64),
    /// It has only so much memory, in KiB.
    Memory(u64),
    /// The disk has only room for so many KiB.
    Disk(u64),
}

impl Blow {
    /// Any of them: a signal after at most this time, or a limit.
    fn any(random: &mut Stream, longest: Duration, disk: Option<&Disk>) -> Self {
        let pause = longest.mul_f64(random.unit());
        match random.below(if disk.is_some() { 10 } else { 9 }) {
            0..4 => Self::Signal("-KILL", pause),
            4 => Self::Signal("-TERM", pause),
            5 => Self::Signal("-INT", pause),
            6 => Self::FileSizeKilled(1 + random.below(60)),
            7 => Self::FileSize(1 + random.below(60)),
            8 => Self::Memory(20_000 + random.below(400_000)),
            _ => Self::Disk(100 + random.below(3_000)),
        }
    }

    /// Runs the program until it ends by itself or by this.
    fn strike(self, words: &[&str], disk: Option<&Disk>) -> Said {
        let limit = match self {
            Self::FileSizeKilled(size) => format!("ulimit -f {size}; "),
            Self::FileSize(size) => format!("trap '' XFSZ; ulimit -f {size}; "),
            Self::Memory(size) => format!("ulimit -v {size}; "),
            _ => String::new(),
        };
        if let (Self::Disk(size), Some(disk)) = (self, disk) {
            disk.resize(size);
        }
        let child = started(&limit, words);
        if let Self::Signal(signal, pause) = self {
            sleep(pause);
            send(signal, &child);
        }
        let said = said(child.wait_with_output().unwrap());
        if let (Self::Disk(_), Some(disk)) = (self, disk) {
            disk.resize(Disk::LARGE);
        }
        let error = match self {
            Self::FileSize(_) => "error: cannot write ",
            Self::Disk(_) => "the disk is full; free some space, or use another disk: ",
            _ => "",
        };
        if said.code == Some(1) {
            assert!(said.err.contains(error), "{self:?}: {}", said.err);
        }
        // With too little memory a command is refused before anything begins.
        let refused =
            matches!(self, Self::Memory(_)) && said.err.contains(" are left of the process");
        assert!(said.code != Some(2) || refused, "{self:?}: {}", said.err);
        said
    }
}

/// Starts the program after words of the shell, in the folder of the test scenarios.
fn started(before: &str, words: &[&str]) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{before}exec \"$@\""), "sh", common::program()]);
    shell.args(words).current_dir(scenarios()).stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A small disk, as far as somebody who may make one runs this.
struct Disk(PathBuf);

impl Disk {
    const LARGE: u64 = 200_000;

    fn new(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        mount(&["-t", "tmpfs", "-o", "size=200000k", "tmpfs", word(at)]).then(|| Self(at.into()))
    }

    /// Gives it so many KiB, or as little as what is on it allows.
    fn resize(&self, size: u64) {
        mount(&["-o", &format!("remount,size={size}k"), word(&self.0)]);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn mount(words: &[&str]) -> bool {
    let done = Command::new("mount").args(words).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

/// Files of somebody else, which nothing may touch.
struct Others(Vec<PathBuf>);

impl Others {
    fn put(places: impl IntoIterator<Item = PathBuf>) -> Self {
        let places: Vec<_> = places.into_iter().collect();
        for place in &places {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, "mine").unwrap();
        }
        Self(places)
    }

    /// All are as they were; removes them.
    fn take(self) {
        for place in self.0 {
            assert_eq!(fs::read_to_string(&place).unwrap(), "mine", "{}", place.display());
            fs::remove_file(&place).unwrap();
            let _ = fs::remove_dir(place.parent().unwrap());
        }
    }
}

/// Whether a file is one that is written until it is renamed, a lock, or the list of new files.
fn passes(name: &str) -> bool {
    [".part", ".floodway.lock", ".floodway.files"].iter().any(|end| name.ends_with(end))
}

/// Looks at a results directory as a reader would: all runs that it lists are whole, and all of its
/// files are listed. How many runs there are.
fn read_run(out: &Path, is_other: impl Fn(&str) -> bool) -> usize {
    let files = files_below(out);
    if !out.join("manifest.json").exists() {
        assert!(files.iter().all(|name| passes(name) || is_other(name)), "{files:?}");
        return 0;
    }
    let results = Directory::open(out).unwrap();
    for run in &results.manifest.runs {
        for table in &run.tables {
            results.table(run, &table.name).unwrap();
        }
    }
    let listed = listed(out, "manifest.json");
    let known = |name: &String| listed.contains(name) || passes(name) || is_other(name);
    let stranger = files.iter().find(|name| !known(name));
    assert_eq!(stranger, None, "{} does not list it", out.display());
    if results.manifest.status == Status::Complete {
        assert!(listed.iter().all(|name| out.join(name).is_file()), "{listed:?}");
    }
    results.manifest.runs.iter().filter(|run| run.stop != INTERRUPTED).count()
}

/// Looks at the directory of a sweep, or of a study beside its experiments, as a reader would: if it
/// says that it is whole, which it does by a field, then all its files are there.
fn read_marked(out: &Path, marker: &str, whole: &str) {
    let Ok(text) = fs::read_to_string(out.join(marker)) else { return };
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    if value.get(whole).is_some() {
        let files = listed(out, marker);
        assert!(files.iter().all(|name| out.join(name).is_file()), "{files:?}");
    }
}

/// Looks at a cache as a reader would: all its runs are whole.
fn read_cache(cache: &Path) {
    let names = files_below(cache);
    let keys = names.iter().filter_map(|name| match name.split('/').collect::<Vec<_>>()[..] {
        [shard, key, _] if !shard.starts_with("part-") => Some(key),
        _ => None,
    });
    for key in keys.collect::<BTreeSet<_>>() {
        assert!(Store::new(cache).find(key).is_some(), "{key}");
    }
}

/// Makes folders of a cache that killed programs were writing as old as those that are removed.
fn age_parts(cache: &Path) {
    let Ok(entries) = fs::read_dir(cache) else { return };
    for entry in entries.map(Result::unwrap) {
        if entry.file_name().to_str().unwrap().starts_with("part-") {
            let old = SystemTime::now() - Duration::from_secs(7 * 86_400);
            File::open(entry.path()).unwrap().set_modified(old).unwrap();
        }
    }
}

/// Nothing is left of what was being written.
fn assert_no_parts(folder: &Path) {
    let files = files_below(folder);
    let left = files.iter().find(|name| passes(name) || name.contains("part-"));
    assert_eq!(left, None, "in {}", folder.display());
}

/// Runs the program to a good end. How long it took.
fn straight(words: &[&str]) -> Duration {
    let begun = Instant::now();
    let said = floodway(words);
    assert_eq!(said.code, Some(0), "{}", said.err);
    begun.elapsed()
}

/// The blows until a command has come to its end by itself, but at most this many.
const BLOWS: u64 = 8;

#[test]
fn an_experiment_survives_everything() {
    let (calm, folder) = (place("crash-run-calm"), place("crash-run"));
    let words = ["run", "tiny.toml", "--replications", "30", "--threads", "2", "-q", "--out"];
    let calm_words = [&words[..], &[word(&calm)]].concat();
    let longest = straight(&calm_words).mul_f64(0.2);
    let disk = Disk::new(&folder);
    let out = folder.join("out");
    let words = [&words[..], &[word(&out)]].concat();
    let mut random = random("run");
    let mut blows = 0;
    for round in 0..rounds() {
        // Every other time over results that are there, of another seed.
        let mut option = "--resume";
        if round % 2 == 1 {
            straight(&[&words[..], &["--seed", "7", "--force"]].concat());
            option = "--force";
        } else {
            let _ = fs::remove_dir_all(&out);
        }
        let own = ["notes.txt", "runs/mine.parquet", "runs/mine/flows.parquet", "runs/ci/0/a.csv"];
        let is_own = |name: &str| own.contains(&name);
        let (mut others, mut last) = (None, 0);
        for _ in 0..BLOWS {
            let blow = Blow::any(&mut random, longest, disk.as_ref());
            let said = blow.strike(&[&words[..], &[option]].concat(), disk.as_ref());
            blows += 1;
            let there = read_run(&out, is_own);
            assert!(there >= last || option == "--force", "{last} runs were there, now {there}");
            last = there;
            if out.join("manifest.json").exists() {
                others.get_or_insert_with(|| Others::put(own.map(|name| out.join(name))));
                // It began, or still has what there was before it was to be replaced.
                let begun = manifest(&out).unwrap()["seed"] != 7;
                option = if begun { "--resume" } else { "--force" };
            }
            if said.code == Some(0) {
                break;
            }
        }
        straight(&[&words[..], &[option]].concat());
        read_run(&out, is_own);
        others.into_iter().for_each(Others::take);
        assert_no_parts(&out);
        assert_same(&calm, &out);
    }
    println!("{blows} blows");
}

#[test]
fn a_sweep_survives_everything() {
    let (calm, folder) = (place("crash-sweep-calm"), place("crash-sweep"));
    let words = ["sweep", "swept.toml", "--replications", "6", "--threads", "2", "-q", "--out"];
    let calm_words = [&words[..], &[word(&calm), "--no-cache"]].concat();
    let longest = straight(&calm_words).mul_f64(0.5);
    let disk = Disk::new(&folder);
    let mut random = random("sweep");
    let mut blows = 0;
    let names = ["out", "beside", "cache"];
    let [out, beside_out, cache] = names.map(|name| folder.join(name));
    let into = |out| [&words[..], &[word(out), "--cache", word(&cache)]].concat();
    let (words, beside) = (into(&out), into(&beside_out));
    for round in 0..rounds() {
        // Every other time over a sweep that is there, with a new cache.
        if round % 2 == 0 {
            let _ = fs::remove_dir_all(&out);
        }
        for old in [&beside_out, &cache] {
            let _ = fs::remove_dir_all(old);
        }
        let mut others = None;
        for number in 0..BLOWS {
            // Once there is another one with the same cache, which nothing disturbs.
            let other = (number == 1).then(|| started("", &beside));
            let blow = match other {
                // A full disk would be full for both.
                Some(_) => Blow::Signal("-KILL", longest.mul_f64(random.unit())),
                None => Blow::any(&mut random, longest, disk.as_ref()),
            };
            let said = blow.strike(&words, disk.as_ref());
            blows += 1;
            if let Some(other) = other {
                let said = common::said(other.wait_with_output().unwrap());
                assert_eq!(said.code, Some(0), "{}", said.err);
                assert_same(&calm, &beside_out);
            }
            read_marked(&out, "sweep.json", "points");
            read_cache(&cache);
            if out.join("sweep.json").exists() {
                let own = ["notes.txt", "mine/points.csv", "points.csv.part"];
                others.get_or_insert_with(|| Others::put(own.map(|name| out.join(name))));
            }
            if said.code == Some(0) {
                break;
            }
        }
        age_parts(&cache);
        straight(&words);
        others.into_iter().for_each(Others::take);
        for folder in [&out, &cache] {
            assert_no_parts(folder);
        }
        read_cache(&cache);
        assert_same(&calm, &out);
    }
    println!("{blows} blows");
}

/// The runs of a study are experiments; what it adds are the files beside them.
#[test]
fn a_study_survives_everything() {
    let (calm, folder) = (place("crash-study-calm"), place("crash-study"));
    let words = ["study", "../studies/tiny-study", "--quick", "--threads", "2", "-q", "--out"];
    let longest = straight(&[&words[..], &[word(&calm)]].concat());
    let disk = Disk::new(&folder);
    let out = folder.join("out");
    let words = [&words[..], &[word(&out)]].concat();
    let mut random = random("study");
    let mut blows = 0;
    for _ in 0..rounds() {
        let _ = fs::remove_dir_all(&out);
        let mut others = None;
        for _ in 0..BLOWS {
            let blow = Blow::any(&mut random, longest.mul_f64(0.5), disk.as_ref());
            let said = blow.strike(&words, disk.as_ref());
            blows += 1;
            read_marked(&out, "study.json", "claims");
            for entry in fs::read_dir(&out).into_iter().flatten().map(Result::unwrap) {
                if entry.path().is_dir() && entry.file_name() != "text" {
                    read_run(&entry.path(), |_| false);
                }
            }
            if out.join("study.json").exists() {
                let own = ["notes.txt", "text/mine.svg"];
                others.get_or_insert_with(|| Others::put(own.map(|name| out.join(name))));
            }
            if said.code == Some(0) {
                break;
            }
        }
        straight(&words);
        others.into_iter().for_each(Others::take);
        assert_no_parts(&out);
        assert_same(&calm, &out);
    }
    println!("{blows} blows");
}
