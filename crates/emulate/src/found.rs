//! Where the kernel is.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Programs in the directory of a kernel.
const PROGRAMS: [&str; 2] = ["linux", "endpoint"];
/// What the directories are called below the one in which kernels are kept.
const PREFIX: &str = "endpoint-";
const HOW: &str = "`oracle/build --endpoint linux-source-6.12` in the sources of floodway builds one and prints its \
                   directory (ten minutes, once); name another one with `--kernel DIR`";

/// The directory of the kernel: the one that was asked for, or the newest one.
///
/// # Errors
///
/// If there is none.
pub fn kernel(asked: Option<&Path>) -> Result<PathBuf, String> {
    let Some(path) = asked else {
        return newest(&cache()?);
    };
    match PROGRAMS.iter().find(|program| !path.join(program).is_file()) {
        Some(missing) => Err(format!("`{}` has no program `{missing}`; {HOW}", path.display())),
        None => path
            .canonicalize()
            .map_err(|error| format!("cannot find `{}`: {error}; {HOW}", path.display())),
    }
}

/// Where `oracle/build` keeps kernels.
fn cache() -> Result<PathBuf, String> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("FLOODWAY_ORACLE")
        .or_else(|| named("XDG_CACHE_HOME").map(|path| path.join("floodway/oracle")))
        .or_else(|| named("HOME").map(|path| path.join(".cache/floodway/oracle")))
        .ok_or_else(|| format!("there is no home directory in which a kernel could be; {HOW}"))
}

fn newest(cache: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_kernel = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(PREFIX))
            && PROGRAMS.iter().all(|program| path.join(program).is_file())
    };
    let made = |path: &PathBuf| {
        let made = path.metadata().and_then(|data| data.modified());
        (made.unwrap_or(SystemTime::UNIX_EPOCH), path.clone())
    };
    let newest = entries.filter(is_kernel).max_by_key(made);
    newest.ok_or_else(|| format!("there is no Linux kernel in `{}`; {HOW}", cache.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_is_missing_is_reported_with_the_command_that_makes_it() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let refused = kernel(Some(here)).unwrap_err();
        let expected = format!("`{}` has no program `linux`; {HOW}", here.display());
        assert_eq!(refused, expected);
        assert!(refused.contains("oracle/build --endpoint linux-source-6.12"));
        let refused = newest(&here.join("none")).unwrap_err();
        assert!(refused.starts_with("there is no Linux kernel in `"), "{refused}");
        assert!(refused.ends_with(HOW), "{refused}");
    }
}
