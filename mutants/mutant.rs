//! Part of the mutated copy of the sources only (`mutants/run.py`): which mutant is on.
//!
//! `MUTANT` has its name, or `reach`: then the names of all mutants whose place is reached are
//! appended to the file that `MUTANT_REACH` names.

use std::collections::BTreeSet;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

/// What `MUTANT` says; empty for none.
pub static NAME: LazyLock<String> = LazyLock::new(|| env::var("MUTANT").unwrap_or_default());

const NONE: usize = usize::MAX;
const REACH: usize = usize::MAX - 1;

static BUG: LazyLock<usize> = LazyLock::new(|| match NAME.as_str() {
    "reach" => REACH,
    name => name.strip_prefix("bug:").map_or(NONE, |n| n.parse().expect("a number")),
});

static REACHED: [AtomicBool; 1024] = [const { AtomicBool::new(false) }; 1024];

/// Whether this bug is on.
#[inline]
pub fn on(bug: usize) -> bool {
    let active = *BUG;
    if active == REACH && !REACHED[bug].load(Ordering::Relaxed) {
        REACHED[bug].store(true, Ordering::Relaxed);
        reached(&format!("bug:{bug}"));
    }
    active == bug
}

/// Notes that the place of a mutant was reached.
pub fn reached(name: &str) {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if NOTED.lock().expect("no panic here").insert(name.to_owned()) {
        let file = env::var("MUTANT_REACH").expect("a file");
        let mut file = OpenOptions::new().create(true).append(true).open(file).expect("it opens");
        file.write_all(format!("{name}\n").as_bytes()).expect("it can be written");
    }
}
