//! Where the files of a study are: in a folder, or in the program.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::Library;
use crate::plan::name;

/// Where the files of a study are.
#[derive(Clone, Copy)]
pub(super) enum Files<'a> {
    /// In this folder.
    Folder(&'a Path),
    /// In the program: pairs of path and text, and the folder of the study among these paths.
    Built(&'static [(&'static str, &'static str)], &'static str),
}

impl Files<'_> {
    /// The path of a file that is named from where the study is.
    pub fn path(self, file: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(file),
            // Of these there are no links, so that a folder and `..` after it are nothing.
            Self::Built(_, folder) => {
                let mut path = PathBuf::new();
                for part in Path::new(folder).join(file).components() {
                    match part {
                        Component::ParentDir => drop(path.pop()),
                        part => path.push(part),
                    }
                }
                path
            }
        }
    }

    /// The text of such a file.
    pub fn text(self, file: &str) -> io::Result<String> {
        let path = self.path(file);
        match self {
            Self::Folder(_) => std::fs::read_to_string(path),
            Self::Built(files, _) => {
                let found = files.iter().find(|(name, _)| Path::new(name) == path);
                found.map(|(_, text)| (*text).to_owned()).ok_or(io::ErrorKind::NotFound.into())
            }
        }
    }

    /// Whether there is such a file.
    pub fn has(self, file: &str) -> bool {
        match self {
            Self::Folder(_) => self.path(file).is_file(),
            Self::Built(..) => self.text(file).is_ok(),
        }
    }

    /// The library of its scenarios.
    pub fn library(self) -> Library {
        match self {
            Self::Folder(folder) => Library::Folder(name(&folder.display().to_string())),
            Self::Built(files, _) => Library::Built(files),
        }
    }
}
