//! Hosts of a run that are kernels. What they are and how they run is the matter of another crate, `floodway-emulate`.

use std::fmt;

use floodway_sim::Spec;
use floodway_sim::kernel::Backend;

/// Starts kernels.
pub trait Kernels: fmt::Debug + Sync {
    /// Starts those of a simulation. If that fails, it says so elsewhere, and ends the run.
    fn start(&self, spec: &Spec) -> Started;

    /// Which kernel it is: what it does depends on its version and configuration.
    fn name(&self) -> String;
}

/// Kernels of a run.
pub struct Started {
    /// Their backends, in the order of [`Spec::kernels`].
    pub backends: Vec<Box<dyn Backend>>,
    /// What is kept of them when the simulation has ended and its backends are gone.
    pub files: Box<dyn FnOnce() -> Vec<Kept>>,
}

impl Default for Started {
    /// None.
    fn default() -> Self {
        Self { backends: Vec::new(), files: Box::new(Vec::new) }
    }
}

/// A file that is kept in the folder of a run.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name.
    pub name: &'static str,
    /// What it is, in messages: `the console of a kernel`.
    pub what: &'static str,
    /// Its content.
    pub octets: Vec<u8>,
}
