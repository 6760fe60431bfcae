//! Files written whole or not at all, and what to say when that fails.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use floodway_machine::read;

/// What a file operation was for, and why it failed.
#[derive(Debug)]
pub struct IoError {
    /// `write the manifest`.
    pub action: String,
    /// Where.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
    /// The option that names another place: [`OUT`] or [`CACHE`].
    pub elsewhere: &'static str,
}

/// How results go elsewhere.
pub(crate) const OUT: &str = "`--out DIR`";

/// How the cache goes elsewhere.
pub(crate) const CACHE: &str = "`--cache DIR`, or none at all: `--no-cache`";

impl IoError {
    /// The same of a file of the cache.
    pub(crate) fn of_cache(self) -> Self {
        Self { elsewhere: CACHE, ..self }
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (reason, remedy, with) = explain(&self.source);
        write!(f, "cannot {} at `{}`: {reason}; {remedy}", self.action, self.path.display())?;
        if with { write!(f, ": {}", self.elsewhere) } else { Ok(()) }
    }
}

impl std::error::Error for IoError {}

/// The reason, a remedy, and whether another place is one, whose option is to follow.
fn explain(error: &io::Error) -> (String, &'static str, bool) {
    use io::ErrorKind as Kind;
    let (reason, remedy) = match error.kind() {
        Kind::StorageFull => ("the disk is full", "free some space, or use another disk"),
        Kind::QuotaExceeded => {
            ("your disk quota is used up", "free some space, or use another disk")
        }
        Kind::PermissionDenied => {
            ("permission denied", "make the directory writable for you, or use another")
        }
        Kind::ReadOnlyFilesystem => ("the file system is read-only", "use a directory on another"),
        Kind::NotADirectory => (
            "a part of this path is a file, not a directory",
            "rename that file, or use another directory",
        ),
        Kind::IsADirectory | Kind::InvalidInput | Kind::FileTooLarge => {
            let remedy = "put the file back that floodway wrote, or use another directory";
            return (error.to_string(), remedy, true);
        }
        Kind::AlreadyExists => (
            "something else has this name: a file, or a symbolic link that leads nowhere",
            "rename or remove it, or use another directory",
        ),
        Kind::NotFound => return ("it does not exist".to_string(), "check the path", false),
        _ => return (error.to_string(), "see to the cause, or use another directory", true),
    };
    (reason.to_string(), remedy, true)
}

/// Names what an operation was for in its error.
pub(crate) fn named<T>(result: io::Result<T>, action: &str, path: &Path) -> Result<T, IoError> {
    result.map_err(|source| IoError {
        action: action.to_string(),
        path: path.into(),
        source,
        elsewhere: OUT,
    })
}

/// Writes a file whole: under another name first, which becomes the file when all is there and on
/// the disk. A reader sees the old file or the new one, and a failure leaves neither half. Returns
/// the file's checksum. Its name survives a power failure only after [`sync_folder`].
pub(crate) fn write(
    path: &Path,
    what: &str,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<Checksum, IoError> {
    write_with(path, what, fill, File::sync_all)
}

/// Like [`write`], but the file is on the disk only after [`sync`], which is faster for many.
pub(crate) fn write_unsynced(
    path: &Path,
    what: &str,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<Checksum, IoError> {
    write_with(path, what, fill, |_| Ok(()))
}

fn write_with(
    path: &Path,
    what: &str,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    sync: impl FnOnce(&File) -> io::Result<()>,
) -> Result<Checksum, IoError> {
    let action = format!("write {what}");
    let (file, part) = named(create(path), &action, path)?;
    let result = fill_file(file, fill)
        .and_then(|(file, sum)| sync(&file).map(|()| sum))
        .and_then(|sum| fs::rename(&part, path).map(|()| sum));
    if result.is_err() {
        // The first failure is the one to report; what is left of the file is of no use.
        let _ = fs::remove_file(&part);
    }
    named(result, &action, path)
}

/// Writes several files: all under other names first, on the disk, and then in the place of those that are
/// there. The last one is missing while the others get their names.
pub(crate) fn write_together(files: &[(PathBuf, &str)], what: &str) -> Result<(), IoError> {
    let Some(((last, _), _)) = files.split_last() else { return Ok(()) };
    let action = format!("write {what}");
    let mut parts = Vec::new();
    let result = (|| {
        for (path, text) in files {
            let (file, part) = named(create(path), &action, path)?;
            parts.push(part);
            let filled = fill_file(file, |out| out.write_all(text.as_bytes()));
            named(filled.and_then(|(file, _)| file.sync_all()), &action, path)?;
        }
        match fs::remove_file(last) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                named(Err(error), &action, last)?;
            }
            _ => {}
        }
        let mut names = files.iter().zip(&parts);
        names.try_for_each(|((path, _), part)| named(fs::rename(part, path), &action, path))
    })();
    if result.is_err() {
        // The first failure is the one to report; those that have their names are no parts any more.
        parts.iter().for_each(|part| drop(fs::remove_file(part)));
    }
    result
}

/// Makes a new file beside a path, in which it is written first. A name that is taken is left: it
/// may be that of a killed process with the same number, or a symbolic link.
fn create(path: &Path) -> io::Result<(File, PathBuf)> {
    loop {
        let part = part(path);
        match File::create_new(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (file, part)),
        }
    }
}

/// The bytes of a regular file of JSON, which takes some times as much memory when it is parsed.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    read::bytes(path, read::limit(16))
}

/// Brings files that were written to the disk, several at a time: the system then does not wait for
/// the disk once for each.
pub(crate) fn sync(paths: &[PathBuf]) -> Result<(), IoError> {
    const AT_A_TIME: usize = 8;
    let sync = |path: &PathBuf| {
        let file = File::options().write(true).open(path);
        named(file.and_then(|file| file.sync_all()), "write the file", path)
    };
    let share = paths.len().div_ceil(AT_A_TIME).max(1);
    thread::scope(|scope| {
        let part = |part: &[PathBuf]| part.iter().try_for_each(sync);
        let parts = paths.chunks(share).map(|chunk| scope.spawn(move || part(chunk)));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().try_for_each(|part| part.join().expect("it does not panic"))
    })
}

/// A name under which a file is written first, which nobody else uses who writes the same file.
fn part(path: &Path) -> PathBuf {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}-{number}.part", process::id()));
    path.with_file_name(name)
}

/// The name that a file would have got if it had been written to its end, of the name that it has
/// until then; none of other names.
pub(crate) fn part_of(name: &str) -> Option<&str> {
    let (of, number) = name.strip_suffix(".part")?.rsplit_once('.')?;
    let (process, count) = number.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (!of.is_empty() && digits(process) && digits(count)).then_some(of)
}

/// Makes names in a folder survive a power failure, where the system can.
pub(crate) fn sync_folder(path: &Path) -> Result<(), IoError> {
    if cfg!(unix) {
        named(File::open(path).and_then(|folder| folder.sync_all()), "write the folder", path)?;
    }
    Ok(())
}

fn fill_file(
    file: File,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<(File, Checksum)> {
    let mut out = BufWriter::with_capacity(1 << 16, Summed { file, sum: Checksum::new() });
    fill(&mut out)?;
    let Summed { file, sum } = out.into_inner().map_err(|error| error.into_error())?;
    Ok((file, sum))
}

/// The checksum of a file as it is.
pub(crate) fn checksum(path: &Path) -> Result<Checksum, IoError> {
    let bytes = named(read::bytes(path, read::limit(2)), "read a table", path)?;
    let mut sum = Checksum::new();
    sum.add(&bytes);
    Ok(sum)
}

/// A 64-bit FNV-1a (Fowler, Noll and Vo), which detects damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum(pub u64);

impl Checksum {
    /// Of no bytes.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes in bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// A file that sums up what is written to it.
struct Summed {
    file: File,
    sum: Checksum,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Table;

    #[test]
    fn every_failure_names_place_cause_and_remedy() {
        let text = |kind: io::ErrorKind| {
            IoError {
                action: "write the manifest".into(),
                path: "out/manifest.json".into(),
                source: kind.into(),
                elsewhere: OUT,
            }
            .to_string()
        };
        assert_eq!(
            text(io::ErrorKind::PermissionDenied),
            "cannot write the manifest at `out/manifest.json`: permission denied; make the \
             directory writable for you, or use another: `--out DIR`"
        );
        assert_eq!(
            text(io::ErrorKind::ReadOnlyFilesystem),
            "cannot write the manifest at `out/manifest.json`: the file system is read-only; use a \
             directory on another: `--out DIR`"
        );
        assert_eq!(
            text(io::ErrorKind::AlreadyExists),
            "cannot write the manifest at `out/manifest.json`: something else has this name: a file, \
             or a symbolic link that leads nowhere; rename or remove it, or use another directory: \
             `--out DIR`"
        );
        assert_eq!(
            text(io::ErrorKind::BrokenPipe),
            "cannot write the manifest at `out/manifest.json`: broken pipe; see to the cause, or \
             use another directory: `--out DIR`"
        );
    }

    /// A device that is always full, where the system has one.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_in_every_format() {
        let table = Table::new("flows", "").u64("flow", "", (0..100_000).collect());
        let sheet = crate::format::Sheet { run: Some(("ci", 0)), table: &table };
        for format in crate::format::CATALOGUE {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let error = fill_file(full, |out| (format.write)(&sheet, out)).unwrap_err();
            let error = named::<()>(Err(error), "write table `flows`", Path::new("out/x"));
            assert_eq!(
                error.unwrap_err().to_string(),
                "cannot write table `flows` at `out/x`: the disk is full; free some space, or use \
                 another disk: `--out DIR`",
                "{}",
                format.entry.name
            );
        }
    }

    #[test]
    fn partial_files_are_recognized_by_their_names() {
        let half = part(Path::new("out/summary.json"));
        assert_eq!(half.parent(), Some(Path::new("out")));
        assert_eq!(part_of(half.file_name().unwrap().to_str().unwrap()), Some("summary.json"));
        assert_ne!(half, part(Path::new("out/summary.json")), "each writer has its own");
        assert_eq!(part_of("a.csv.17-3.part"), Some("a.csv"));
        for other in ["a.csv", "a.csv.part", "a.csv.mine.part", "a.csv.1-x.part", ".1-2.part"] {
            assert_eq!(part_of(other), None, "{other}");
        }
    }

    #[test]
    fn fnv_published_vector() {
        let mut sum = Checksum::new();
        sum.add(b"foo");
        sum.add(b"bar");
        assert_eq!(sum.0, 0x8594_4171_f739_67e8);
    }

    #[test]
    fn files_that_belong_together_are_replaced_together() {
        let folder = std::env::temp_dir().join(format!("floodway-together-{}", std::process::id()));
        fs::create_dir_all(folder.join("in-the-way/below")).unwrap();
        let [flows, scenario] = ["flows", "scenario"].map(|name| folder.join(name));
        let write = |texts: &[(PathBuf, &str)]| write_together(texts, "the scenario");
        write(&[(flows.clone(), "old"), (scenario.clone(), "old")]).unwrap();
        // A folder cannot be made within a file.
        let below = flows.join("below");
        write(&[(flows.clone(), "new"), (below, "new"), (scenario.clone(), "new")]).unwrap_err();
        assert_eq!(fs::read(&flows).unwrap(), b"old");
        assert_eq!(fs::read(&scenario).unwrap(), b"old");
        // What is found out only when names are given: then nothing looks whole.
        let taken = folder.join("in-the-way");
        write(&[(flows.clone(), "new"), (taken, "new"), (scenario.clone(), "new")]).unwrap_err();
        assert_eq!(fs::read(&flows).unwrap(), b"new");
        assert!(!scenario.exists());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no part is left");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_part() {
        let folder = std::env::temp_dir().join(format!("floodway-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.json");
        let sum = write(&path, "a", |out| out.write_all(b"old")).unwrap();
        assert_eq!(checksum(&path).unwrap(), sum);
        let failed = write(&path, "a", |out| {
            out.write_all(b"new")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
