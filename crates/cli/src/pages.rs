//! Large pages for runs that need much memory: fewer of their loads wait for the translation of an address.

/// The variable in which the GNU C library takes settings.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const VARIABLE: &str = "GLIBC_TUNABLES";

/// With this one, its allocator asks the system for large pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SETTING: &str = "glibc.malloc.hugetlb=1";

/// It says that the program has been started again. A program with more rights than who runs it loses the other variable.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const AGAIN: &str = "FLOODWAY_STARTED_AGAIN";

/// Where Linux says whether programs may have them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Memory of a run from which on large pages are worth another start, in bytes.
const MUCH: u64 = 200_000_000;

/// Starts the program again with large pages, in place of this process, if a run needs so much memory and large
/// pages can be had. The library reads the setting once, at the start of a program. Nothing must have been done
/// yet that would have to be repeated.
pub fn take_large_ones(memory: u64) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::os::unix::process::CommandExt;

        let enabled = std::fs::read_to_string(ENABLED).unwrap_or_default();
        let is_set = [VARIABLE, AGAIN].iter().any(|name| std::env::var_os(name).is_some());
        if is_worth_it(memory, is_set, &enabled) {
            let mut again = crate::program::again();
            again.args(crate::program::words().skip(1)).env(VARIABLE, SETTING).env(AGAIN, "1");
            // It returns only if it fails, and then the run has small pages.
            let _ = again.exec();
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = memory;
}

/// Whether to start again: not if somebody has set a variable, which may have been this function.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(dead_code))]
fn is_worth_it(memory: u64, is_set: bool, enabled: &str) -> bool {
    let may_have_them = ["[always]", "[madvise]"].iter().any(|choice| enabled.contains(choice));
    memory >= MUCH && !is_set && may_have_them
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_for_large_runs_where_the_system_has_them() {
        let madvise = "always [madvise] never\n";
        assert!(is_worth_it(MUCH, false, madvise));
        assert!(is_worth_it(MUCH, false, "[always] madvise never\n"));
        assert!(!is_worth_it(MUCH - 1, false, madvise));
        assert!(!is_worth_it(MUCH, false, "always madvise [never]\n"));
        // A system without them.
        assert!(!is_worth_it(MUCH, false, ""));
        // Not twice, and not if somebody has chosen otherwise.
        assert!(!is_worth_it(MUCH, true, madvise));
    }
}
