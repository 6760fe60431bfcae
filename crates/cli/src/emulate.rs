//! `floodway emulate`: like `floodway run`, with hosts that are Linux kernels.

use floodway_emulate::Emulation;

use crate::failure::Failure;
use crate::options::{EmulateOptions, RunOptions};
use crate::run::{self, stop_on_signals};

/// Runs a scenario with kernels.
pub fn emulate(options: &EmulateOptions) -> Result<(), Failure> {
    let EmulateOptions { kernel, patience, run: RunOptions { selection, resume, .. } } = options;
    let scenario = selection.load(run::settings(&options.run))?;
    let variants = selection.variants(&scenario)?;
    if let Some(variant) = variants.iter().find(|variant| !variant.has_kernels()) {
        return Err(Failure::Unknown(format!(
            "no host of variant `{}` is a Linux kernel; add [workload.linux] to a [[workload]], or simulate it with \
             `floodway run {}`",
            variant.name, scenario.file_name
        )));
    }
    if options.run.mpi {
        return Err(Failure::Unknown(
            "`--mpi` is for simulated hosts: kernels and their clock are processes of one machine; leave it out"
                .to_owned(),
        ));
    }
    if *resume {
        return Err(Failure::Unknown(
            "`--resume` keeps runs whose settings have not changed, and what kernels do depends on files of this \
             machine too; replace all with `--force`"
                .to_owned(),
        ));
    }
    let stop = stop_on_signals(false)?;
    let emulation =
        Emulation::new(kernel.as_deref(), *patience, stop.clone()).map_err(Failure::Unknown)?;
    let done = run::run_with(&options.run, (&scenario, &variants), (&stop, None), Some(&emulation));
    match emulation.failure() {
        Some(text) => Err(Failure::Kernel(text)),
        None => done,
    }
}
