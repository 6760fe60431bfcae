//! How much memory the program has held.

/// The largest resident set so far, in bytes; `None` where the system does not tell.
pub fn peak() -> Option<u64> {
    high_water_mark(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The line `VmHWM:     1234 kB` of Linux's status of a process (proc(5)); its kB are of 1024.
fn high_water_mark(status: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::high_water_mark;

    #[test]
    fn the_line_is_found_and_scaled() {
        let status = "Name:\tfloodway\nVmPeak:\t  200 kB\nVmHWM:\t    3 kB\nVmRSS:\t    2 kB\n";
        assert_eq!(high_water_mark(status), Some(3072));
        assert_eq!(high_water_mark("Name:\tfloodway\n"), None);
        assert_eq!(high_water_mark("VmHWM:\t3 pages\n"), None);
    }
}
