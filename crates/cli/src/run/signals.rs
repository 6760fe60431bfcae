//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// Set by the first SIGINT or SIGTERM; the second one ends the program. To be called once.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order, because both are called for every signal.
        flag::register_conditional_shutdown(signal, 130, stop.clone())
            .and_then(|_| flag::register(signal, stop.clone()))
            .map_err(|error| Failure::System("listen for Ctrl-C", error))?;
    }
    Ok(stop)
}
