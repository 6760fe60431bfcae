//! Cores on which threads begin that work together.
//!
//! Threads that wait for each other by spinning are slow on one core, and the operating system may leave them there for
//! some hundredths of a second, because none of them ever sleeps. So a thread that begins on a core on which another one
//! has begun is moved to one on which none has. From then on the system moves it as it likes.

use std::sync::{Mutex, PoisonError};

/// The cores on which the threads of a run have begun.
#[derive(Debug, Default)]
pub struct Cores {
    taken: Mutex<Vec<usize>>,
}

impl Cores {
    /// The calling thread works from now on, and no other one yet.
    pub fn begin(&self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.clear();
        taken.extend(system::here());
    }

    /// The calling thread works from now on beside those that do. If it has the core of one of them, and may run on one
    /// on which none of them has begun, it is there afterwards. It may move nowhere if the system does not say where it
    /// runs, or does not let it move.
    pub fn join(&self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(here) = system::here() else { return };
        let free = free_core(here, &taken, &system::allowed());
        taken.push(free.filter(|core| system::go_to(*core)).unwrap_or(here));
    }
}

/// The core to move to: the first one after `here` that none has taken. `None` if nobody else is here, or if there is no
/// such core.
fn free_core(here: usize, taken: &[usize], allowed: &[usize]) -> Option<usize> {
    if !taken.contains(&here) {
        return None;
    }
    let after = allowed.partition_point(|core| *core <= here);
    let (before, after) = allowed.split_at(after);
    after.iter().chain(before).copied().find(|core| !taken.contains(core))
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The core that the calling thread runs on. `sched_getcpu` of rustix asks the vDSO, which valgrind hides, and
    /// ends the process there.
    pub fn here() -> Option<usize> {
        of_stat(&fs::read_to_string("/proc/thread-self/stat").ok()?)
    }

    /// Field 39 of the status of a thread (proc_pid_stat(5)). Field 2 is its name in parentheses, which may have
    /// spaces and parentheses in it.
    pub fn of_stat(line: &str) -> Option<usize> {
        let from_third = line.rsplit_once(')')?.1;
        from_third.split_whitespace().nth(39 - 3)?.parse().ok()
    }

    /// The cores that it may run on, ascending.
    pub fn allowed() -> Vec<usize> {
        let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
        (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect()
    }

    /// Moves the calling thread there, and then lets it run wherever it was allowed to. Returns whether it did.
    pub fn go_to(core: usize) -> bool {
        let Ok(allowed) = sched_getaffinity(None) else { return false };
        let mut only = CpuSet::new();
        only.set(core);
        let moved = sched_setaffinity(None, &only).is_ok();
        moved && sched_setaffinity(None, &allowed).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn here() -> Option<usize> {
        None
    }

    pub fn allowed() -> Vec<usize> {
        Vec::new()
    }

    pub fn go_to(_core: usize) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_moves_only_from_a_core_that_is_taken_to_one_that_is_free() {
        let allowed = [1, 3, 4, 9];
        for (here, taken, expected) in [
            (1, &[][..], None),
            (1, &[3], None),
            (1, &[1], Some(3)),
            (3, &[3, 4], Some(9)),
            (9, &[9], Some(1)),
            (4, &[1, 4, 9], Some(3)),
            (4, &[1, 3, 4, 9], None),
            // It may have been moved to other cores in the meantime.
            (6, &[6], Some(9)),
        ] {
            assert_eq!(free_core(here, taken, &allowed), expected, "{here} {taken:?}");
        }
        assert_eq!(free_core(1, &[1], &[]), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_core_is_the_39th_field() {
        let others: Vec<String> = (4..=38).map(|field| field.to_string()).collect();
        let line = format!("7 (a) (b c)) R {} 5 40 41\n", others.join(" "));
        assert_eq!(system::of_stat(&line), Some(5));
        assert_eq!(system::of_stat("7 (a) R 4 5\n"), None);
        assert!(system::allowed().contains(&system::here().unwrap()));
    }

    /// Two threads that begin one after the other on the same core: the second is elsewhere afterwards, may run on
    /// every core that it could before, and has taken another one.
    #[cfg(target_os = "linux")]
    #[test]
    fn two_threads_begin_on_two_cores() {
        let allowed = system::allowed();
        if allowed.len() < 2 {
            return;
        }
        let cores = Cores::default();
        cores.begin();
        // It stands for a thread that has begun wherever this one is.
        *cores.taken.lock().unwrap() = allowed[1..].to_vec();
        assert!(system::go_to(allowed[1]));
        cores.join();
        assert_eq!(system::allowed(), allowed);
        let taken = cores.taken.lock().unwrap().clone();
        // The system may have moved this thread before it joined.
        assert!(taken.len() == allowed.len() && taken.contains(&allowed[0]), "{taken:?}");
        drop(taken);
        cores.begin();
        assert_eq!(cores.taken.lock().unwrap().len(), 1);
    }
}
