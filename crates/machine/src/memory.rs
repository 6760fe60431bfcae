//! Memory that the process holds, and that is still available to it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Peak resident set size in bytes; `None` if the system does not report it.
pub fn peak() -> Option<u64> {
    of_status("VmHWM")
}

/// Current resident set size in bytes; `None` if the system does not report it.
pub fn held() -> Option<u64> {
    of_status("VmRSS")
}

fn of_status(field: &str) -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, field)
}

/// Parses a line such as `VmHWM:     1234 kB` of Linux's status of a process or of its memory
/// (proc(5)); one kB there is 1024 bytes.
fn kibibytes(text: &str, field: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Memory available to the process, and the limiting factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Available memory in bytes.
    pub bytes: u64,
    /// The limiting factor.
    pub limit: Limit,
}

/// The factor that limits the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The memory of the machine that is available now.
    Machine,
    /// The limit of a control group, as used by containers.
    ControlGroup,
    /// A limit on the address space or on the data of a process, `ulimit -v` or `ulimit -d`.
    Process,
    /// What a page in a browser should take.
    Page,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "of the machine",
            Self::ControlGroup => "of the control group (the container)",
            Self::Process => "of the process (`ulimit -v` or `ulimit -d`)",
            Self::Page => "of what a page in a browser may take",
        })
    }
}

/// The smallest amount that the machine, the control groups and the process limits leave; `None` if
/// the system reports none of them.
pub fn room() -> Option<Room> {
    let info = fs::read_to_string("/proc/meminfo").ok();
    let machine = info.and_then(|info| kibibytes(&info, "MemAvailable"));
    let all = [
        (machine, Limit::Machine),
        (of_groups(Path::new("/sys/fs/cgroup")), Limit::ControlGroup),
        (of_process(), Limit::Process),
        (of_page(), Limit::Page),
    ];
    let known = all.into_iter().filter_map(|(bytes, limit)| Some(Room { bytes: bytes?, limit }));
    known.min_by_key(|room| room.bytes)
}

/// Memory that the process limits on address space and data segment leave.
#[cfg(unix)]
fn of_process() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    let left = |resource, field| {
        let limit = getrlimit(resource).current?;
        Some(limit.saturating_sub(of_status(field).unwrap_or(0)))
    };
    [left(Resource::As, "VmSize"), left(Resource::Data, "VmData")].into_iter().flatten().min()
}

#[cfg(not(unix))]
fn of_process() -> Option<u64> {
    None
}

/// What is left of the memory that a page in a browser should take: browsers end pages before they reach
/// the 4 GiB of 32-bit WebAssembly.
#[cfg(target_family = "wasm")]
fn of_page() -> Option<u64> {
    const MOST: u64 = 1_500_000_000;
    const PAGE: u64 = 65_536;
    let held = core::arch::wasm32::memory_size(0) as u64 * PAGE;
    Some(MOST.saturating_sub(held))
}

#[cfg(not(target_family = "wasm"))]
fn of_page() -> Option<u64> {
    None
}

/// Memory that the control groups of the process leave, in versions 2 and 1 (Linux, cgroups(7));
/// `None` without a limit.
fn of_groups(mount: &Path) -> Option<u64> {
    of_groups_in(mount, &fs::read_to_string("/proc/self/cgroup").ok()?)
}

fn of_groups_in(mount: &Path, groups: &str) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (mount, names) = match controllers {
            "" => (mount.to_owned(), ["memory.max", "memory.current", "inactive_file"]),
            _ if controllers.split(',').any(|name| name == "memory") => (
                mount.join("memory"),
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
            ),
            _ => return None,
        };
        // In a container the path may be that of the host; then only the mount itself exists.
        let group = mount.join(path.trim_start_matches('/'));
        let above = group.ancestors().take_while(|above| above.starts_with(&mount));
        above.filter_map(|group| left_in(group, names)).min()
    };
    groups.lines().filter_map(of_line).min()
}

/// Memory that one group leaves: its limit minus its usage, except for page cache, which can be
/// reclaimed.
fn left_in(group: &Path, [limit, used, cache]: [&str; 3]) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(group.join(name)).ok()?.trim().parse().ok()
    };
    let limit = number(limit)?;
    let statistics = fs::read_to_string(group.join(PathBuf::from("memory.stat"))).ok();
    let cache = statistics.and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok())
    });
    // Version 1 expresses "no limit" as a number near the largest.
    let is_limit = limit < 1 << 60;
    let used = number(used).unwrap_or(0).saturating_sub(cache.unwrap_or(0));
    is_limit.then(|| limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_scaled() {
        let status = "Name:\tfloodway\nVmPeak:\t  200 kB\nVmHWM:\t    3 kB\nVmRSS:\t    2 kB\n";
        assert_eq!(kibibytes(status, "VmHWM"), Some(3072));
        assert_eq!(kibibytes("Name:\tfloodway\n", "VmHWM"), None);
        assert_eq!(kibibytes("VmHWM:\t3 pages\n", "VmHWM"), None);
    }

    #[test]
    fn the_tightest_group_counts_with_its_reclaimable_cache() {
        let mount = std::env::temp_dir().join(format!("floodway-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = mount.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 400\nactive_file 100\ninactive_file 200\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "600\n");
        write("memory/c/memory.usage_in_bytes", "150\n");
        write("memory/d/memory.limit_in_bytes", "9223372036854771712\n");
        // 1000 minus 700, of which 200 can be reclaimed; the inner group has no limit.
        assert_eq!(of_groups_in(&mount, "0::/a/b\n"), Some(500));
        assert_eq!(of_groups_in(&mount, "3:cpu,memory:/c\n0::/other\n"), Some(450));
        assert_eq!(of_groups_in(&mount, "3:memory:/d\n"), None);
        assert_eq!(of_groups_in(&mount, "3:cpu:/c\n"), None);
        fs::remove_dir_all(&mount).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn there_is_room_and_something_is_held() {
        assert!(room().unwrap().bytes > 0);
        assert!(held().unwrap() <= peak().unwrap());
    }
}
