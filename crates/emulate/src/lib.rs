//! Hosts of a simulated network that are real Linux kernels, in its virtual time: `floodway emulate`.
//!
//! Each kernel is User Mode Linux, a process. The simulation is its clock and its NIC:
//!
//! - `clock`: when it may run, by the protocol of `time-travel=ext` (`include/uapi/linux/um_timetravel.h`) with shared memory
//! - `nic`: the other side of its virtio-net device, by vhost-user with notifications in band
//! - `ring`, `memory`: its queues, in its memory
//! - `process`: the process, its directory and its end
//! - `script`: the first program that the kernel runs
//! - `control`: datagrams that ask a program in the kernel for long-lived flows, and its answers
//! - `frame`: what switches need to know of its frames
//! - `endpoint`: all of that as a [`Backend`](floodway_sim::kernel::Backend)
//!
//! Nothing here is `unsafe`: the memory that is shared with a kernel is a file, which is read and written as one
//! (docs/decisions/0074-a-kernel-is-a-node-with-a-backend.md).

#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod endpoint;
mod found;
mod frame;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod nic;
#[cfg(target_os = "linux")]
mod process;
mod report;
#[cfg(target_os = "linux")]
mod ring;
mod script;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use floodway_lab::{Kernels, Started};
use floodway_sim::Spec;

/// Starts kernels for runs.
#[derive(Debug)]
pub struct Emulation {
    /// The directory with the kernel and the program for traffic.
    kernel: PathBuf,
    trouble: Arc<Trouble>,
}

/// What has gone wrong in any kernel.
#[derive(Debug)]
struct Trouble {
    /// How long a kernel may compute without a word, in seconds: it computes in no simulated time, so one that never ends
    /// its computation stops the simulation.
    patience: u32,
    /// Ends all runs.
    stop: Arc<AtomicBool>,
    first: Mutex<Option<String>>,
}

impl Trouble {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends all runs because of this, unless they have ended already.
    fn report(&self, text: String) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(text);
        }
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Emulation {
    /// With the kernel in this directory, or the newest one that `oracle/build` has made. `stop` is set when a kernel
    /// fails, which it also does if it computes for longer than `patience`, in seconds.
    ///
    /// # Errors
    ///
    /// If there is no kernel: what is missing, and how to get it.
    pub fn new(
        kernel: Option<&Path>,
        patience: u32,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, String> {
        if !cfg!(target_os = "linux") {
            return Err("kernels run on Linux alone, and this is another system".to_owned());
        }
        let kernel = found::kernel(kernel)?;
        Ok(Self { kernel, trouble: Arc::new(Trouble { patience, stop, first: Mutex::default() }) })
    }

    /// What has gone wrong in a kernel, if anything has: cause and remedy.
    pub fn failure(&self) -> Option<String> {
        self.trouble.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Kernels for Emulation {
    /// The name of its directory, which has the version, and a hash of all that it was made of.
    fn name(&self) -> String {
        let name = self.kernel.file_name().unwrap_or(self.kernel.as_os_str());
        name.to_string_lossy().into_owned()
    }

    #[cfg(target_os = "linux")]
    fn start(&self, spec: &Spec) -> Started {
        match endpoint::start(&self.kernel, spec, &self.trouble) {
            Ok(started) => started,
            Err(text) => {
                self.trouble.report(text);
                Started::default()
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn start(&self, _spec: &Spec) -> Started {
        self.trouble.report(format!("{} needs Linux", self.kernel.display()));
        Started::default()
    }
}
