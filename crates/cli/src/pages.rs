//! Large pages for runs that need much memory: fewer of their loads wait for the translation of an address.

/// The variable in which the GNU C library takes settings.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const VARIABLE: &str = "GLIBC_TUNABLES";

/// With this setting, its allocator asks the system for large pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SETTING: &str = "glibc.malloc.hugetlb=1";

/// It says that the program has been started again. A program with more rights than who runs it loses the other variable.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const AGAIN: &str = "FLOODWAY_STARTED_AGAIN";

/// Where Linux says whether programs may have them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Memory of a run from which on large pages are worth another start, in bytes: a run of 12 MB gained nothing, one of 88 MB
/// a quarter of its time (docs/performance.md).
const MUCH: u64 = 30_000_000;

/// [`take_large_ones`] if a run needs so much memory.
pub fn take_large_ones_for(memory: u64) {
    if memory >= MUCH {
        take_large_ones();
    }
}

/// Starts the program again with large pages, in place of this process, if they can be had. The library reads the
/// setting once, at the start of a program. Nothing must have been done yet that would have to be repeated.
pub fn take_large_ones() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::os::unix::process::CommandExt;

        let enabled = std::fs::read_to_string(ENABLED).unwrap_or_default();
        let is_set = [VARIABLE, AGAIN].iter().any(|name| std::env::var_os(name).is_some());
        if are_there(is_set, &enabled) {
            let mut again = crate::program::again();
            again.args(crate::program::words().skip(1)).env(VARIABLE, SETTING).env(AGAIN, "1");
            // It returns only if it fails, and then the run has small pages.
            let _ = again.exec();
        }
    }
}

/// Whether to start again: not if somebody has set a variable, which may have been this function.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(dead_code))]
fn are_there(is_set: bool, enabled: &str) -> bool {
    !is_set && ["[always]", "[madvise]"].iter().any(|choice| enabled.contains(choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_taken_where_the_system_has_them() {
        let madvise = "always [madvise] never\n";
        assert!(are_there(false, madvise));
        assert!(are_there(false, "[always] madvise never\n"));
        assert!(!are_there(false, "always madvise [never]\n"));
        // A system without them.
        assert!(!are_there(false, ""));
        // Not twice, and not if somebody has chosen otherwise.
        assert!(!are_there(true, madvise));
    }
}
