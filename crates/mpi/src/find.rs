//! Where the library of MPI is.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment variable with the path of the library.
pub const VARIABLE: &str = "FLOODWAY_MPI_LIBRARY";

/// Names of the library, by system.
const NAMES: [&str; 2] = match cfg!(target_os = "macos") {
    true => ["libmpi_abi.1.dylib", "libmpi_abi.dylib"],
    false => ["libmpi_abi.so.1", "libmpi_abi.so"],
};

/// Launchers, beside whose folder the library of the same installation is.
const LAUNCHERS: [&str; 3] = ["mpiexec", "mpirun", "srun"];

/// Libraries to try, in order: the one that was asked for and no other; or those of the installations whose
/// launcher is in the path, and what the loader finds by name.
pub fn candidates(asked: Option<&Path>) -> Vec<PathBuf> {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    match asked.map(Path::to_owned).or(named.map(PathBuf::from)) {
        Some(path) => vec![path],
        None => beside_launchers(env::var_os("PATH").as_deref()),
    }
}

fn beside_launchers(path: Option<&OsStr>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in path.map(env::split_paths).into_iter().flatten() {
        for launcher in
            LAUNCHERS.map(|name| folder.join(name)).into_iter().filter(|one| one.is_file())
        {
            // As it is in the path, and where a link leads.
            let real = launcher.canonicalize().unwrap_or_else(|_| launcher.clone());
            for program in [launcher, real] {
                let root = program.parent().and_then(Path::parent);
                let names = NAMES.iter().filter_map(|name| Some(root?.join("lib").join(name)));
                found.extend(names.filter(|library| library.is_file()));
            }
        }
    }
    found.extend(NAMES.map(PathBuf::from));
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|library| seen.insert(library.clone()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_the_only_candidate() {
        assert_eq!(candidates(Some(Path::new("a/b.so"))), [PathBuf::from("a/b.so")]);
    }

    #[test]
    fn the_library_of_the_launcher_comes_before_that_of_the_loader() {
        let root = env::temp_dir().join(format!("floodway-mpi-{}", std::process::id()));
        for folder in ["bin", "lib"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("bin/mpiexec"), "").unwrap();
        std::fs::write(root.join("lib").join(NAMES[0]), "").unwrap();
        let found = beside_launchers(Some(root.join("bin").as_os_str()));
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(found.first(), Some(&root.join("lib").join(NAMES[0])));
        assert!(found.ends_with(&NAMES.map(PathBuf::from)));
        assert_eq!(beside_launchers(None), NAMES.map(PathBuf::from));
    }
}
