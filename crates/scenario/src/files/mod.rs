//! Files of other tools that a scenario names: lists of flows, networks, jobs, and traces of links.
//!
//! A reader takes a text with its name and gives values or a [`Problem`] at the word that is wrong.
//! Nothing is guessed: what a format says and floodway does not do is refused, and what is ignored
//! is said where the format is described. Numbers are read exactly, whatever the tool that the
//! format comes from makes of them: times to the picosecond, sizes in 64 bits.

pub(crate) mod chakra;
mod cycle;
pub mod flows;
pub(crate) mod goal;
mod gzip;
pub mod networks;
pub mod traces;
mod words;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use floodway_machine::read;
pub use words::{Line, MARK, Unit, Word, lines};

use crate::text::{Problem, Source, nearby};

/// A file that decided what is simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Its path, that of the scenario's directory included.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its hash: FNV-1a of 128 bits, in hexadecimal.
    pub hash: String,
}

/// The files that a scenario names, each read once whatever the number of variants.
#[derive(Default)]
pub(crate) struct Files {
    read: RefCell<BTreeMap<PathBuf, Arc<[u8]>>>,
    /// Those that are part of the program, by path; all others are sought in the file system.
    library: BTreeMap<PathBuf, Arc<[u8]>>,
}

/// Memory that a byte of a file takes until its flows are in the simulation.
const MEMORY_PER_BYTE: u64 = 16;

/// Why a file cannot be read: what is wrong, and the remedy.
pub(crate) struct Unreadable {
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Files {
    /// With those of a library: pairs of path and text.
    pub(crate) fn of_library(library: &[(&str, &str)]) -> Self {
        let bytes = |text: &str| Arc::from(text.as_bytes());
        let each = library.iter().map(|(path, text)| (PathBuf::from(path), bytes(text)));
        Self { library: each.collect(), ..Self::default() }
    }

    /// The bytes of a file, its path relative to that of the scenario; and its path.
    pub(crate) fn bytes(
        &self,
        file: &str,
        scenario: &str,
    ) -> Result<(Arc<[u8]>, PathBuf), Unreadable> {
        let path = Path::new(scenario).parent().unwrap_or(Path::new("")).join(file);
        if let Some(bytes) = self.read.borrow().get(&path) {
            return Ok((Arc::clone(bytes), path));
        }
        if let Some(bytes) = self.library.get(&path) {
            self.read.borrow_mut().insert(path.clone(), Arc::clone(bytes));
            return Ok((Arc::clone(bytes), path));
        }
        let bytes: Arc<[u8]> = read::bytes(&path, read::limit(MEMORY_PER_BYTE))
            .map_err(|error| Unreadable {
                message: match error.kind() {
                    ErrorKind::NotFound => format!("there is no file `{file}`"),
                    ErrorKind::IsADirectory => format!("`{file}` is a directory"),
                    _ => format!("`{file}` cannot be read: {error}"),
                },
                help: match other(&path, scenario) {
                    Some(other) => format!("did you mean `{other}`?"),
                    None if error.kind() == ErrorKind::InvalidInput => {
                        "copy it to a file, and name that".to_owned()
                    }
                    None if error.kind() == ErrorKind::FileTooLarge => {
                        "keep fewer flows in it, or use a machine with more memory".to_owned()
                    }
                    None => format!(
                        "the path is relative to the scenario's directory: `{}` was sought",
                        path.display()
                    ),
                },
            })?
            .into();
        self.read.borrow_mut().insert(path.clone(), Arc::clone(&bytes));
        Ok((bytes, path))
    }

    /// The names of the files in a folder, in no particular order; none if it cannot be read.
    fn names(&self, folder: &Path) -> Vec<String> {
        let of_library = self.library.keys().filter(|path| path.parent() == Some(folder));
        let of_library = of_library.filter_map(|path| path.file_name()).map(OsStr::to_os_string);
        // The folder of a path of one word has no name.
        let here = if folder == Path::new("") { Path::new(".") } else { folder };
        let read = std::fs::read_dir(here).into_iter().flatten().flatten();
        let names = of_library.chain(read.map(|entry| entry.file_name()));
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// The text of a file, found likewise.
    pub(crate) fn text(&self, file: &str, scenario: &str) -> Result<Arc<Source>, Unreadable> {
        let (bytes, path) = self.bytes(file, scenario)?;
        match str::from_utf8(&bytes) {
            Ok(text) => {
                // Spreadsheets begin a CSV file with a byte order mark.
                let text = text.strip_prefix('\u{feff}').unwrap_or(text);
                Ok(Arc::new(Source::new(path.display().to_string(), text.to_owned())))
            }
            Err(_) => Err(Unreadable {
                message: format!("`{file}` is not text in UTF-8"),
                help: format!("check `{}`, or name its `format`", path.display()),
            }),
        }
    }

    /// What was read, in order of the paths.
    pub(crate) fn list(&self) -> Vec<InputFile> {
        let read = self.read.borrow();
        let each = read.iter().map(|(path, bytes)| InputFile {
            path: path.display().to_string(),
            bytes: bytes.len() as u64,
            hash: floodway_sim::hash(bytes),
        });
        each.collect()
    }
}

/// The file that is most likely meant by a path at which there is none, as a scenario writes it.
fn other(path: &Path, scenario: &str) -> Option<String> {
    if path.exists() {
        return None;
    }
    // Of the same kind: a network is no list of flows.
    let ending = extension(&path.display().to_string());
    let found = nearby::file(path, |name| extension(name) == ending)?;
    let folder = Path::new(scenario).parent().unwrap_or(Path::new(""));
    Some(found.strip_prefix(folder).unwrap_or(&found).display().to_string())
}

/// The end of a file's name after its last dot, in small letters.
fn extension(path: &str) -> String {
    Path::new(path).extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Whether the numbers of things that were announced and found agree; `announced` is the word.
fn check_count(announced: Word<'_>, count: u64, found: u64, what: &str) -> Result<(), Problem> {
    if count == found {
        return Ok(());
    }
    let message = format!("the number of {what} is {count}, and the file has {found}");
    Err(announced.problem(message, format!("write {found}, or complete the file")))
}
