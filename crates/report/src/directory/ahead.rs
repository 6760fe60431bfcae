//! Files that are listed before the runs to which they belong, and when the manifest is written.
//!
//! To write the manifest takes time in proportion to the runs that it lists. Written after every run,
//! it would take more time than the runs as soon as there are some hundred short ones.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Error;
use crate::Run;
use crate::manifest::{Listed, folder};
use crate::owned;

/// Files that are listed and not written yet.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// By variant: the names of the files that its runs have had so far.
    names: BTreeMap<String, BTreeSet<String>>,
    /// Those that no run has begun to write.
    open: Listed,
}

impl Ahead {
    /// A run is about to write these files. From now on they stay on the list. A file that somebody
    /// else has put there since its name was listed is refused.
    pub fn claim(&mut self, path: &Path, folder: &str, names: &[String]) -> Result<(), Error> {
        let Some(open) = self.open.get_mut(folder) else { return Ok(()) };
        let ours = names.iter().map(String::as_str).filter(|&name| open.contains(name));
        owned::refuse_taken(path, &Listed::new(), folder, ours)?;
        open.retain(|name| !names.contains(name));
        Ok(())
    }

    /// Lists the files of all variants for as many replications more as there have been, with the
    /// names that runs have had so far. What is there already is left out: if a run really writes
    /// it, that is refused then.
    pub fn extend(
        &mut self,
        path: &Path,
        listed: &mut Listed,
        run: &Run,
        names: Vec<String>,
        replications: u32,
    ) {
        self.names.entry(run.variant.to_owned()).or_default().extend(names);
        let until = (run.replication + 1).saturating_mul(2).min(replications);
        for (variant, names) in &self.names {
            for replication in run.replication..until {
                // The run itself is listed in full, and has no others.
                if *variant == run.variant && replication == run.replication {
                    continue;
                }
                let folder = folder(variant, replication);
                let known = listed.get(&folder);
                let is_new = |name: &&String| !known.is_some_and(|known| known.contains(*name));
                let is_free = |name: &&String| {
                    owned::refuse_taken(path, listed, &folder, [name.as_str()]).is_ok()
                };
                let new: Vec<_> = names.iter().filter(is_new).filter(is_free).cloned().collect();
                if !new.is_empty() {
                    listed.entry(folder.clone()).or_default().extend(new.iter().cloned());
                    self.open.entry(folder).or_default().extend(new);
                }
            }
        }
    }

    /// Takes those files off the list that no run has begun to write. Whether there are any.
    pub fn strike(&mut self, listed: &mut Listed) -> bool {
        let open = mem::take(&mut self.open);
        for (folder, names) in &open {
            if let Some(of) = listed.get_mut(folder) {
                of.retain(|name| !names.contains(name));
                if of.is_empty() {
                    listed.remove(folder);
                }
            }
        }
        !open.is_empty()
    }
}

/// When the manifest was written, and when it may be again.
#[derive(Debug)]
pub(super) struct Pace {
    ended: Instant,
    took: Duration,
    /// It is written again after this many times as long as it took.
    pub rest: u32,
}

impl Pace {
    /// Before the first time. Writing takes at most a tenth of the time, and a program that is killed
    /// loses no more than the runs of a few seconds, even if they are very many.
    pub fn new() -> Self {
        Self { ended: Instant::now(), took: Duration::ZERO, rest: 10 }
    }

    /// It was written from `begun` to `ended`.
    pub fn wrote(&mut self, begun: Instant, ended: Instant) {
        (self.ended, self.took) = (ended, ended - begun);
    }

    /// When it was written.
    #[cfg(test)]
    pub fn ended(&self) -> Instant {
        self.ended
    }

    /// Whether it may be written again.
    pub fn is_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.ended) >= self.took.saturating_mul(self.rest)
    }
}
