//! Free disk space.

use std::path::Path;

/// Number of bytes that the user may still write on the file system that contains, or will contain,
/// `path`; `None` if the system does not report it.
pub fn free(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|above| above.exists());
    statvfs(there.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

#[cfg(unix)]
fn statvfs(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn statvfs(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::free;
    use std::path::Path;

    #[test]
    #[cfg(unix)]
    fn a_directory_that_is_not_there_has_the_space_of_the_one_above() {
        assert!(free(Path::new("/a/b/c")).is_some());
        assert!(free(Path::new("not-there/b")).is_some());
    }
}
