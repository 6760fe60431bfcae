//! Files that are listed beside the manifest while a command runs, and when the manifest is written.
//!
//! To write the manifest takes time in proportion to the runs that it lists. Written before every run,
//! it would take more time than the runs as soon as there are some hundred short ones. A line at the
//! end of a file takes the same time always.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Error;
use crate::files::{self, named};
use crate::manifest::Listed;
use crate::owned::{self, JOURNAL};

/// Files that are about to be written and that the manifest on the disk does not list: a line for
/// each run, in the form of the manifest's list. It is there only while it has lines.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    open: Option<File>,
}

impl Journal {
    /// That of a results directory, with no line yet.
    pub fn new(directory: &Path) -> Self {
        Self { path: directory.join(JOURNAL), open: None }
    }

    /// Refuses what is no regular file where the journal goes: no run could be written then.
    pub fn refuse_other(&self) -> Result<(), Error> {
        match self.path.symlink_metadata() {
            Ok(found) if !found.is_file() => Err(owned::Error::InTheWay(self.path.clone()).into()),
            _ => Ok(()),
        }
    }

    /// Lists files of a folder. They are on the disk as soon as this returns.
    pub fn list(&mut self, folder: &str, names: &[String]) -> Result<(), Error> {
        // A line that was cut off ends before the next begins.
        let line = format!("\n{}\n", json!({ folder: names }));
        let file = match self.open.take() {
            Some(file) => file,
            None => {
                let mut new = OpenOptions::new();
                let made = new.write(true).create_new(true).open(&self.path);
                let file = named(made, "make the list of new files", &self.path)?;
                self.path.parent().map_or(Ok(()), files::sync_folder)?;
                file
            }
        };
        let file = self.open.insert(file);
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
        Ok(named(written, "write the list of new files", &self.path)?)
    }

    /// Removes it, once the manifest lists what it lists.
    pub fn clear(&mut self) -> Result<(), Error> {
        if self.open.take().is_some() || is_file(&self.path) {
            owned::remove(&self.path)?;
        }
        Ok(())
    }
}

/// Adds the files that the journal of a directory lists, if it has one. A line that was cut off lists
/// nothing: no file of it was begun.
pub(super) fn read(directory: &Path, listed: &mut Listed) -> Result<(), Error> {
    let path = directory.join(JOURNAL);
    if !is_file(&path) {
        return Ok(());
    }
    let text = named(files::read(&path), "read the list of new files", &path)?;
    for line in text.split(|&byte| byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
        let more = owned::listed(directory, JOURNAL, &json!({ "files": line }))?;
        for (folder, names) in more.unwrap_or_default() {
            listed.entry(folder).or_default().extend(names);
        }
    }
    Ok(())
}

/// Whether it is a regular file, not a link to one.
fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
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
