//! A results directory belongs to one command at a time.
//!
//! Who writes there holds an advisory lock on the file [`FILE`] in it, which says who that is. The
//! system releases the lock when the process ends, however it ends; a file that is left has no owner.
//! Readers need no lock: files are replaced whole.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;

use serde::{Deserialize, Serialize};

use crate::files::{IoError, named};
use crate::manifest::now;

/// The file that is locked.
pub const FILE: &str = ".floodway.lock";

/// Why a directory cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Another command has it.
    #[error(
        "`{0}` is in use by another floodway command{1}; wait until it has ended, or choose another \
         directory: `--out DIR`"
    )]
    Held(PathBuf, Holder),
    /// A symbolic link stands where the lock goes.
    #[error(
        "`{0}` is a symbolic link, and floodway does not write through one; remove the link, or \
         choose another directory: `--out DIR`"
    )]
    Link(PathBuf),
    /// Something else stands where the lock goes.
    #[error(
        "`{0}` is no regular file, so the directory cannot be locked with it; remove it, or choose \
         another directory: `--out DIR`"
    )]
    NoFile(PathBuf),
    /// A file of somebody else stands where the lock goes.
    #[error(
        "`{0}` is in the way: floodway did not write it and does not replace it; move it elsewhere, \
         or choose another directory: `--out DIR`"
    )]
    InTheWay(PathBuf),
}

impl Error {
    /// Whether the system refused to read or write, and not floodway to replace or go on with what is there.
    pub fn is_of_system(&self) -> bool {
        matches!(self, Self::Io(_))
    }
}

/// Who has a directory, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder(Option<Command>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Command {
    process: u32,
    command: String,
    started: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Some(Command { process, command, started }) = &self.0 else { return Ok(()) };
        // It comes from a file: nothing in it should reach a terminal as a command.
        let plain = |text: &str| text.replace(char::is_control, "?");
        write!(f, ": process {process}, `{}`, since {}", plain(command), plain(started))
    }
}

/// A results directory that nobody else writes to as long as this lives.
#[derive(Debug)]
pub struct Lock {
    file: File,
    folder: PathBuf,
    /// Whether the directory was not there before.
    made: bool,
}

impl Lock {
    /// Locks a results directory, which is made if need be, for a command. Fails at once if it is
    /// locked.
    pub fn take(folder: &Path, command: &[String]) -> Result<Self, Error> {
        let made = !folder.exists();
        named(fs::create_dir_all(folder), "make the results directory", folder)?;
        let path = folder.join(FILE);
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => return Err(Error::Link(path)),
            Ok(found) if !found.is_file() => return Err(Error::NoFile(path)),
            _ => {}
        }
        let action = "lock the results directory";
        let mut file = loop {
            let open =
                File::options().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = named(open, action, &path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Held(folder.into(), holder(&mut file)));
                }
                Err(TryLockError::Error(error)) => named(Err(error), action, &path)?,
                // The process that had it has just removed the file, and others may have made a new one.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) if !named(is_ours(&mut file), action, &path)? => {
                    return Err(Error::InTheWay(path));
                }
                // Its other name may be somebody else's, who would find it changed.
                Ok(()) if has_other_names(&file) => {
                    named(fs::remove_file(&path), action, &path)?;
                }
                Ok(()) => break file,
            }
        };
        let holder = Command { process: process::id(), command: command.join(" "), started: now() };
        let text = serde_json::to_string(&holder).expect("it has text keys") + "\n";
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        named(written, action, &path)?;
        Ok(Self { file, folder: folder.into(), made })
    }
}

/// Whether a lock file is one that a command left: what it wrote, the beginning of that, or nothing.
/// After a power failure there may be zeros in place of what was written.
fn is_ours(file: &mut File) -> io::Result<bool> {
    const BEGIN: &[u8] = b"{\"process\":";
    let mut bytes = Vec::new();
    Read::by_ref(file).take(1 << 20).read_to_end(&mut bytes)?;
    file.rewind()?;
    Ok(bytes.iter().all(|&byte| byte == 0) || bytes.starts_with(BEGIN) || BEGIN.starts_with(&bytes))
}

/// Whether a file has names beside the one by which it was opened.
#[cfg(unix)]
fn has_other_names(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|found| found.nlink() > 1)
}

/// Nothing is known of that on other systems.
#[cfg(not(unix))]
fn has_other_names(_file: &File) -> bool {
    false
}

/// Who has a lock, by its file.
fn holder(file: &mut File) -> Holder {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(1 << 20).read_to_string(&mut text));
    Holder(read.ok().and_then(|_| serde_json::from_str(&text).ok()))
}

/// Whether a file is still the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().is_ok_and(|ours| fs::metadata(path).is_ok_and(|there| same(ours, there)))
}

/// The file is not removed on other systems.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before the lock is released, so that the file of no other process is removed. If it fails the file
        // stays, which does no harm.
        if cfg!(unix) {
            let _ = fs::remove_file(self.folder.join(FILE));
            if self.made {
                // Only if it is empty.
                let _ = fs::remove_dir(&self.folder);
            }
        }
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_folder(name: &str, test: impl Fn(&Path)) {
        let path = std::env::temp_dir().join(format!("floodway-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        test(&path);
        let _ = fs::remove_dir_all(&path);
    }

    #[test]
    fn the_second_is_refused_until_the_first_ends() {
        with_folder("lock", |folder| {
            let command = ["floodway", "run", "a\u{1b}.toml"].map(str::to_owned);
            let lock = Lock::take(folder, &command).unwrap();
            let text = Lock::take(folder, &command).unwrap_err().to_string();
            let (begin, since) = text.split_once(", since ").unwrap();
            assert_eq!(
                begin,
                format!(
                    "`{}` is in use by another floodway command: process {}, `floodway run a?.toml`",
                    folder.display(),
                    process::id()
                )
            );
            let (_, remedy) = since.split_once("; ").unwrap();
            assert_eq!(remedy, "wait until it has ended, or choose another directory: `--out DIR`");
            // What a file says that is not whole is not repeated.
            fs::write(folder.join(FILE), "{").unwrap();
            let text = Lock::take(folder, &command).unwrap_err().to_string();
            assert!(text.contains("by another floodway command; wait until"), "{text}");
            drop(lock);
            assert!(!folder.exists(), "nothing was written there");
            // A file that a killed command left.
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(FILE), "{\"process\":1}").unwrap();
            drop(Lock::take(folder, &command).unwrap());
            assert!(folder.exists() && !folder.join(FILE).exists());
        });
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_not_written_through() {
        with_folder("lock-link", |folder| {
            fs::create_dir_all(folder).unwrap();
            let (victim, link) = (folder.join("victim"), folder.join(FILE));
            fs::write(&victim, "mine").unwrap();
            std::os::unix::fs::symlink(&victim, &link).unwrap();
            let text = Lock::take(folder, &[]).unwrap_err().to_string();
            let begin = format!("`{}` is a symbolic link, and floodway does not", link.display());
            assert!(text.starts_with(&begin), "{text}");
            assert_eq!(fs::read(&victim).unwrap(), b"mine");
            // Nor is anything else opened that is no file.
            fs::remove_file(&link).unwrap();
            fs::create_dir(&link).unwrap();
            let text = Lock::take(folder, &[]).unwrap_err().to_string();
            let expected = format!(
                "`{}` is no regular file, so the directory cannot be locked with it; remove it, or \
                 choose another directory: `--out DIR`",
                link.display()
            );
            assert_eq!(text, expected);
        });
    }

    #[test]
    fn files_of_others_are_neither_emptied_nor_removed() {
        with_folder("lock-others", |folder| {
            fs::create_dir_all(folder).unwrap();
            let path = folder.join(FILE);
            fs::write(&path, "my notes").unwrap();
            let text = Lock::take(folder, &[]).unwrap_err().to_string();
            let expected = format!(
                "`{}` is in the way: floodway did not write it and does not replace it; move it \
                 elsewhere, or choose another directory: `--out DIR`",
                path.display()
            );
            assert_eq!(text, expected);
            assert_eq!(fs::read(&path).unwrap(), b"my notes");
            // What a command left that was killed, or whose machine lost its power.
            for left in ["", "{\"pro", "{\"process\":1}\n", "\0\0\0"] {
                fs::write(&path, left).unwrap();
                drop(Lock::take(folder, &[]).unwrap());
                assert!(!path.exists(), "{left:?}");
            }
        });
    }

    /// As a copy by hard links has it.
    #[test]
    #[cfg(unix)]
    fn other_names_of_a_lock_keep_what_they_have() {
        with_folder("lock-names", |folder| {
            fs::create_dir_all(folder).unwrap();
            let (path, other) = (folder.join(FILE), folder.join("other"));
            for text in ["my notes", "{\"process\":1}\n"] {
                fs::write(&other, text).unwrap();
                fs::hard_link(&other, &path).unwrap();
                let lock = Lock::take(folder, &[]);
                assert_eq!(lock.is_ok(), text != "my notes");
                assert!(lock.is_err() || Lock::take(folder, &[]).is_err(), "it is locked");
                drop(lock);
                assert_eq!(fs::read_to_string(&other).unwrap(), text);
                let _ = fs::remove_file(&path);
            }
        });
    }

    /// Of many that try at once each has it alone.
    #[test]
    fn nobody_shares_a_lock() {
        use std::sync::atomic::{AtomicU32, Ordering};
        with_folder("lock-many", |folder| {
            let (inside, had) = (AtomicU32::new(0), AtomicU32::new(0));
            let work = || {
                for _ in 0..200 {
                    if let Ok(lock) = Lock::take(folder, &[]) {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        had.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                }
            };
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
            assert!(had.load(Ordering::SeqCst) > 0);
        });
    }
}
