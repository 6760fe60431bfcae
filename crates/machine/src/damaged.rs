//! Guards against libraries that panic on damaged files: the panic becomes an error about the file.

use std::cell::Cell;
use std::panic::{self, UnwindSafe};

thread_local! {
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Result of `read`; `None` if it panics. The panic should not be shown to the user, so the panic hook
/// checks [`is_reading`] and prints nothing.
pub fn guarded<T>(read: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    READING.set(true);
    let result = panic::catch_unwind(read);
    READING.set(false);
    result.ok()
}

/// Whether this thread is inside [`guarded`].
pub fn is_reading() -> bool {
    READING.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_to_read() {
        assert_eq!(guarded(is_reading), Some(true));
        assert_eq!(
            guarded(|| -> u8 { panic!("column start and length should not be negative") }),
            None
        );
        assert!(!is_reading());
    }
}
