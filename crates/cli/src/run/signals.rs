//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// Set by the first SIGINT or SIGTERM; the second one ends the program, unless it is a rank of several: a launcher may
/// send the same signal twice, and ends them itself. To be called once.
pub fn stop_on_signals(is_rank: bool) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order, because both are called for every signal.
        let second = match is_rank {
            true => Ok(()),
            false => flag::register_conditional_shutdown(signal, 130, stop.clone()).map(drop),
        };
        second
            .and_then(|()| flag::register(signal, stop.clone()).map(drop))
            .map_err(|error| Failure::System("listen for Ctrl-C", error))?;
    }
    Ok(stop)
}
