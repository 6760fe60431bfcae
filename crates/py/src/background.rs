//! Work that Python can watch and interrupt.
//!
//! It is done on a thread of its own, which never needs the interpreter. The thread that called waits
//! without holding the interpreter, and takes it now and then to look for signals and to report how far
//! the work is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How often it is looked for signals. People feel a tenth of a second as at once.
const POLL: Duration = Duration::from_millis(100);

/// What both threads see: the latest news.
pub struct Desk<N> {
    state: Mutex<State<N>>,
    changed: Condvar,
    /// The work is to end early.
    pub stop: AtomicBool,
}

struct State<N> {
    /// What has not been told yet.
    news: Option<N>,
    ended: bool,
}

/// Does the work to its end, or until a signal's handler or `tell` raises something, which is passed
/// on; `stop` of the desk is set then, and the work is waited for, but `tell` is not called again. The last progress is
/// reported after the work.
pub fn work<T: Send, N: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Desk<N>) -> T + Send,
    mut tell: impl FnMut(N) -> PyResult<()>,
) -> PyResult<T> {
    let desk = Desk {
        state: Mutex::new(State { news: None, ended: false }),
        changed: Condvar::new(),
        stop: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let product = work(&desk);
            desk.change(|state| state.ended = true);
            desk.changed.notify_one();
            product
        });
        let mut raised = None;
        // One that has panicked has finished, but does not say so.
        while !py.detach(|| desk.wait()) && !running.is_finished() {
            if raised.is_some() {
                continue;
            }
            let news = desk.change(|state| state.news.take());
            let told = py.check_signals().and_then(|()| news.map_or(Ok(()), &mut tell));
            if let Err(error) = told {
                desk.stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let product = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Short work has told nothing yet, and who counts along wants to see the end.
        let raised = match (raised, desk.change(|state| state.news.take())) {
            (None, Some(last)) => tell(last).err(),
            (raised, _) => raised,
        };
        raised.map_or(Ok(product), Err)
    })
}

impl<N> Desk<N> {
    fn change<T>(&self, change: impl FnOnce(&mut State<N>) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says how far it is; what was said before and not told yet is forgotten.
    pub fn say(&self, news: N) {
        self.change(|state| state.news = Some(news));
    }

    /// Waits for the end of the work, but not for long. Whether it has ended.
    fn wait(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(state, POLL, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

/// As many threads as were asked for, or one for each core.
pub fn threads(asked: Option<usize>) -> PyResult<usize> {
    match asked {
        Some(0) => Err(PyValueError::new_err("a run needs at least 1 thread")),
        Some(threads) => Ok(threads),
        None => Ok(floodway_lab::all_cores()),
    }
}
